"""A program behind a process that keeps its input: python3 tee.py FILE PROGRAM ARGUMENT…"""
import subprocess
import sys

with open(sys.argv[1], "wb") as kept, subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE) as program:
    for line in sys.stdin.buffer:
        kept.write(line)
        kept.flush()
        program.stdin.write(line)
        program.stdin.flush()
    program.stdin.close()
