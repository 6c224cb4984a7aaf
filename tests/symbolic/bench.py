#!/usr/bin/env python3
"""How long analyses take: bench.py [--rounds 5]

Every case of the corpus in a worker that waits (each once to warm up, then the median of its rounds), the same as a command,
and functions with 1, 4, 8 and 12 branches in a row. With MISHAP_PROGRAM=PROGRAM the same cases through a server, whose findings are
replayed in a process of their own, and as commands of that program; in turn with the engine alone and with the start of python3. With
CROSSHAIR=PROGRAM, the checks that it can take, side by side.
"""
import argparse
import glob
import http.client
import json
import os
import re
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


class Service:
    """A server with one loop, and calls of its tools on one connection."""

    def __init__(self, program):
        self.data = tempfile.TemporaryDirectory()
        environment = dict(os.environ, HOME=self.data.name, MISHAP_LOG=os.path.join(self.data.name, "log"))
        self.process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--workers", "1", "--data", self.data.name],
                                        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, text=True)
        self.connection = http.client.HTTPConnection(re.search(r"http://(\S+)", self.process.stderr.readline())[1])

    def call(self, tool, **given):
        self.connection.request("POST", "/symbolic/" + tool, json.dumps(given), {"Content-Type": "application/json"})
        return json.load(self.connection.getresponse())

    def close(self):
        self.connection.close()
        self.process.terminate()
        self.process.communicate()
        self.data.cleanup()


def median_ms(times):
    return 1000 * statistics.median(times)


def was_replayed(answer):
    return any(answer.get(name) for name in ("counterexamples", "triggering_inputs", "distinguishing_input"))


def measure_service(program, cases, rounds):
    """A call of each kind in turn, so that a machine that is busy is so for all of them."""
    service, engine = Service(program), Engine()
    served, alone, replayed, replayed_alone = [], [], [], []
    for tool, given in cases:
        answer = service.call(tool, **given)
        engine.call(tool, **given)
        pairs = []
        for _ in range(rounds):
            time.sleep(0.05)  # the next process for a replay starts meanwhile, as it does where calls do not follow each other at once
            pairs.append((timed(service.call, tool, **given)[0], timed(engine.call, tool, **given)[0]))
        through, direct = (statistics.median(times) for times in zip(*pairs))
        served.append(through)
        alone.append(direct)
        if was_replayed(answer):
            replayed.append(through)
            replayed_alone.append(direct)
    print("through a server: %d cases, median %.1f ms (the engine alone %.1f ms)" % (len(served), median_ms(served), median_ms(alone)))
    print("… of these with a replay: %d cases, median %.1f ms (the engine alone, replay in a child: %.1f ms)" % (
        len(replayed), median_ms(replayed), median_ms(replayed_alone)))
    service.close()
    engine.close()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write("def divide(a: int, b: int) -> int:\n    return a // b\n")
        file.flush()
        ours = [program, "symbolic", "check", "--code", "@" + file.name, "--function-name", "divide"]
        direct = [PROGRAM, "check", file.name, "--function-name", "divide"]
        times = [[timed(subprocess.run, words, capture_output=True, check=True)[0] for words in (ours, direct, ["/usr/bin/python3", "-c", "1"])]
                 for _ in range(4 * rounds)]
        ours, direct, python = (median_ms(row) for row in zip(*times))
        print("mishap symbolic check with a replay: median %.0f ms; the engine alone as a command %.0f ms; python3 -c 1 %.0f ms: %.1f times that" % (
            ours, direct, python, ours / python))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=4, metavar="N", help="each N-th case goes through the server")
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
    if os.environ.get("MISHAP_PROGRAM"):
        cases = [arguments(code, question) for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))) if "floats" not in path
                 for _, questions, code in blocks(path) for question in questions if "timeout" not in question]
        measure_service(os.environ["MISHAP_PROGRAM"], cases[::options.every], options.rounds)


if __name__ == "__main__":
    main()
