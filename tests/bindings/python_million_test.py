#!/usr/bin/env python3
"""A million failures do not use up memory; and valgrind finds nothing. In `make test-all` alone.

    MISHAP_EXTENSION=… python3 tests/bindings/python_million_test.py
"""
import os
import shutil
import subprocess

from package import EXTENSION, PATIENCE, PYTHON, Skipped, environment, equal, expect, main, python, test

FAILURES = """
import os, sys
import mishap
from mishap import Mishap

def kilobytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024

def fail(count):
    for number in range(count):
        try:
            raise Mishap("NOT_FOUND", f"There is no user {number}.", context={f"user{number}": number, "tags": [f"a{number}", {"b": 1}]},
                         fields=[{"field": f"id{number}", "actual": number}])
        except Mishap as failure:
            document = failure.render()
        if number % 10 == 0:
            mishap.parse(document); mishap.translate(document, "problem", "json-api"); mishap.guard(document); mishap.verify(document)
            try: Mishap("NOT_FUND")
            except TypeError: pass
            try: mishap.parse(document[:-1])
            except mishap.ParseError: pass

count = int(sys.argv[1])
fail(count // 10)
before = kilobytes()
fail(count)
print(kilobytes() - before)
"""


@test
def a_million_failures_do_not_use_up_memory():
    grown = int(python(FAILURES, os.environ.get("MISHAP_FAILURES", "1000000")))
    print("# grown by", grown, "KB")
    expect(grown < 1024, grown)


@test
def valgrind_finds_nothing():
    if not shutil.which("valgrind"):
        raise Skipped("valgrind is not installed")
    done = subprocess.run(["valgrind", "--error-exitcode=7", "--leak-check=no", "-q", PYTHON, "-c", FAILURES, "300"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=4 * PATIENCE, check=False,
                          env=environment(PYTHONMALLOC="malloc"))
    ours = [line for line in done.stderr.splitlines() if "_mishap" in line]
    equal((done.returncode, ours), (0, []), done.stderr[-3000:])


@test
def valgrind_finds_no_leak_of_the_extension():
    if not shutil.which("valgrind"):
        raise Skipped("valgrind is not installed")
    done = subprocess.run(["valgrind", "--leak-check=full", "--show-leak-kinds=definite", PYTHON, "-c", FAILURES, "100"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=4 * PATIENCE, check=False,
                          env=environment(PYTHONMALLOC="malloc"))
    blocks = [block for block in done.stderr.split("\n==") if "definitely lost in" in block]
    expect(not any(os.path.basename(EXTENSION) in block for block in blocks), done.stderr[-3000:])


main()
