#!/usr/bin/env python3
"""How long analyses take: bench.py [--rounds 5]

Every case of the corpus in a worker that waits (each once to warm up, then the median of its rounds), the same as a command,
and functions with 1, 4, 8 and 12 branches in a row. With CROSSHAIR=PROGRAM, the checks that it can take, side by side.
"""
import argparse
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from cases_test import blocks  # noqa: E402
from engine import Engine, PROGRAM  # noqa: E402


def arguments(code, question):
    asked = question.split(" = ")[0].split()
    given = {"code": code, "timeout_seconds": 10}
    if asked[0] == "compare":
        given.update(function_a=asked[1], function_b=asked[2])
    else:
        given["function_name"] = asked[1]
    if asked[0] == "find":
        given["exception_type"] = asked[2]
    return asked[0], given


def timed(function, *given, **more):
    begun = time.perf_counter()
    answer = function(*given, **more)
    return time.perf_counter() - begun, answer


def branches(count):
    names = ["p%d" % i for i in range(count)]
    lines = "".join("    if %s > %d:\n        r += %d\n" % (name, i, 2 ** i) for i, name in enumerate(names))
    return "def f(%s):\n    r = 0\n%s    assert 0 <= r < %d\n    return r\n" % (", ".join(n + ": int" for n in names), lines, 2 ** count)


def split_branches(count):
    """The sides do not meet again: containers are changed."""
    lines = "".join("    if x > %d:\n        xs.append(%d)\n" % (i * 10, i) for i in range(count))
    return "def f(x: int):\n    xs = []\n%s    assert len(xs) <= %d\n    return xs\n" % (lines, count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    engine = Engine()
    rows = []
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))):
        for line, questions, code in blocks(path):
            for question in questions:
                tool, given = arguments(code, question)
                timed(engine.call, tool, **given)
                times = [timed(engine.call, tool, **given)[0] for _ in range(options.rounds)]
                rows.append((statistics.median(times), os.path.basename(path), line, question))
    plain = [row for row in rows if row[1] != "floats.py" and "timeout" not in row[3]]
    print("warm worker: %d cases, median %.1f ms, 90 %% within %.1f ms, slowest %.2f s (%s:%d)" % (
        len(plain), 1000 * statistics.median(r[0] for r in plain), 1000 * sorted(r[0] for r in plain)[len(plain) * 9 // 10],
        *max(plain)[:3]))
    floats = [row[0] for row in rows if row[1] == "floats.py"]
    print("floats: median %.1f ms, slowest %.2f s" % (1000 * statistics.median(floats), max(floats)))
    late = [row for row in plain if row[0] > 2]
    print("beyond 2 s: %s" % (", ".join("%s:%d" % row[1:3] for row in late) or "none"))
    for title, make in (("joined", branches), ("not joined", split_branches)):
        print("branches, %s: %s" % (title, ", ".join("%d: %.1f ms (%d paths)" % (
            count, 1000 * statistics.median(timed(engine.call, "check", code=make(count), function_name="f")[0] for _ in range(options.rounds)),
            engine.call("check", code=make(count), function_name="f")["paths_explored"]) for count in (1, 4, 8, 12))))
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(branches(2))
        file.flush()
        command = [PROGRAM, "check", file.name, "--function-name", "f"]
        times = [timed(subprocess.run, command, capture_output=True, check=True)[0] for _ in range(4 * options.rounds)]
        print("as a command: median %.0f ms" % (1000 * statistics.median(times)))
        other = os.environ.get("CROSSHAIR")
        if other:
            times = [timed(subprocess.run, [other, "check", "--analysis_kind=asserts", file.name], capture_output=True, check=False)[0]
                     for _ in range(options.rounds)]
            print("CrossHair as a command: median %.0f ms" % (1000 * statistics.median(times)))
    engine.close()


if __name__ == "__main__":
    main()
