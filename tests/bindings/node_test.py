#!/usr/bin/env python3
"""Run a test in JavaScript, which speaks TAP, on Node: node_test.py FILE [PART-OF-A-NAME]. All versions of Node that are there run it."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "mcp"))
from node import node  # noqa: E402


def versions():
    """The programs, one for each version: the system's and that of npm."""
    found = {}
    for program in (shutil.which("node"), node()):
        if program:
            done = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode == 0 and int(re.match(r"v(\d+)", done.stdout)[1]) >= 18:
                found.setdefault(done.stdout.strip(), program)
    return found


def main():
    programs = versions()
    if not programs:
        print("1..0 # SKIP there is no Node")
        return 0
    more = ["--expose-gc"]
    # The addon of a build with sanitizers needs their library in the process from its start. What Node leaves behind is not looked at,
    # and what was freed is soon given back, since one case measures memory.
    preload = os.environ.get("MISHAP_PRELOAD")
    options = [os.environ.get("ASAN_OPTIONS", ""), "detect_leaks=0", "detect_stack_use_after_return=0", "quarantine_size_mb=4",
               "thread_local_quarantine_size_kb=64"]
    env = dict(os.environ, LD_PRELOAD=preload, ASAN_OPTIONS=":".join(options)) if preload else None
    if preload:
        programs = dict(list(programs.items())[:1])
    number, failed, lines = 0, False, []
    for version, program in programs.items():
        done = subprocess.run([program, *more, *sys.argv[1:]], stdout=subprocess.PIPE, text=True, check=False, env=env)
        failed |= done.returncode != 0
        for line in done.stdout.splitlines():
            counted = re.match(r"(ok|not ok) \d+ - (.*)", line)
            if counted:
                number += 1
                lines.append("%s %d - %s: %s" % (counted[1], number, version, counted[2]))
            elif line.startswith("#"):
                lines.append(line)
        if not re.search(r"^(not )?ok", done.stdout, re.M):
            number += 1
            lines.append("not ok %d - %s: it ended with %d" % (number, version, done.returncode))
    print("1..%d" % number)
    print("\n".join(lines))
    return int(failed)


sys.exit(main())
