#!/usr/bin/env python3
"""What libmishap.a asks of other libraries: nothing of the mathematics library, which mishap.pc does not name.

A compiler may put in floor() and trunc() itself, or call them: gcc does the one and clang the other.
Speaks TAP. The argument is the library.
"""
import subprocess
import sys

MATHEMATICS = {"ceil", "exp", "floor", "fmod", "log", "log10", "lround", "pow", "rint", "round", "trunc"}

listed = subprocess.run(["nm", "-u", sys.argv[1]], capture_output=True, text=True, check=True).stdout
wanted = {line.split()[-1] for line in listed.splitlines() if line.strip()}
found = sorted(wanted & MATHEMATICS)
print("1..1")
if "strlen" not in wanted:
    print("# nm lists nothing that can be right")
print(f"{'not ' if found or 'strlen' not in wanted else ''}ok 1 - the_library_needs_no_mathematics", *found)
sys.exit(1 if found or "strlen" not in wanted else 0)
