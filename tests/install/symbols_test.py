#!/usr/bin/env python3
"""What libmishap-program.a asks of other libraries: nothing of the mathematics library, which mishap.pc does not name. And what it defines, once.

A compiler may put in floor() and trunc() itself, or call them: gcc does the one and clang the other. A linker takes the first of two
functions with the same name from an archive, and does not say so.
Speaks TAP. The argument is the library.
"""
import collections
import subprocess
import sys

MATHEMATICS = {"ceil", "exp", "floor", "fmod", "log", "log10", "lround", "pow", "rint", "round", "trunc"}

listed = subprocess.run(["nm", "-u", sys.argv[1]], capture_output=True, text=True, check=True).stdout
wanted = {line.split()[-1] for line in listed.splitlines() if line.strip()}
found = sorted(wanted & MATHEMATICS)
listed = subprocess.run(["nm", "-g", "--defined-only", sys.argv[1]], capture_output=True, text=True, check=True).stdout
defined = collections.Counter(line.split()[2] for line in listed.splitlines() if len(line.split()) == 3 and line.split()[1] in "TDBR")
twice = sorted(name for name, count in defined.items() if count > 1)
print("1..2")
if "strlen" not in wanted:
    print("# nm lists nothing that can be right")
print(f"{'not ' if found or 'strlen' not in wanted else ''}ok 1 - the_library_needs_no_mathematics", *found)
print(f"{'not ' if twice or 'mishap_raise_at' not in defined else ''}ok 2 - no_name_is_defined_twice", *twice)
sys.exit(1 if found or "strlen" not in wanted or twice or "mishap_raise_at" not in defined else 0)
