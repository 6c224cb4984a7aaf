#!/usr/bin/env python3
"""How long analyses take: bench.py [--rounds 5]

Every case of the corpus in a worker that waits (each once to warm up, then the median of its rounds), the same as a command,
and functions with 1, 4, 8 and 12 branches in a row. With MISHAP_PROGRAM=PROGRAM the same cases through a server, whose findings are
replayed in a process of their own, and as commands of that program; in turn with the engine alone and with the start of python3. With
CROSSHAIR=PROGRAM, the checks that it can take, side by side. CPU is that of all processes of the server, the engine and the replays
included. An answer that differs from the verdict of its case ends the benchmark: something else would be measured.
"""
import argparse
import atexit
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
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "bench")]
import figures  # noqa: E402
import processes  # noqa: E402
from figures import Void, row  # noqa: E402
from cases_test import blocks  # noqa: E402
from engine import Engine, PROGRAM  # noqa: E402

CALL_MS, COMMAND_MS = 15, 80  # at most


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


def verdict(question):
    return question.split(" = ", 1)[1].split()[0]


def verified(answer, question, by):
    """The answer, if it has the verdict of the case."""
    if answer.get("status") != verdict(question):
        raise Void("%s answers %s with %s" % (by, question, json.dumps(answer)[:500]))
    return answer


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
        atexit.register(self.process.terminate)  # also after a measurement that is void
        found = next(filter(None, (re.search(r"listening on http://(\S+)", line) for line in self.process.stderr)), None)
        if not found:
            raise Void("%s does not listen" % program)
        self.connection = http.client.HTTPConnection(found[1])

    def call(self, tool, **given):
        self.connection.request("POST", "/symbolic/" + tool, json.dumps(given), {"Content-Type": "application/json"})
        return json.load(self.connection.getresponse())

    def close(self):
        self.connection.close()
        self.process.terminate()
        self.process.communicate()
        self.data.cleanup()


def median_ms(times):
    return 1000 * figures.median("the time of a call", times)


def ordinal(number):
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(number, "%dth" % number)


def was_replayed(answer):
    return any(answer.get(name) for name in ("counterexamples", "triggering_inputs", "distinguishing_input"))


def measure_service(program, cases, rounds, every):
    """A call of each kind in turn, so that a machine that is busy is so for all of them."""
    service, engine = Service(program), Engine()
    served, alone, replayed, replayed_alone, cpu, calls = [], [], [], [], 0, 0
    for tool, given, question in cases:
        answer = verified(service.call(tool, **given), question, "the server")
        verified(engine.call(tool, **given), question, "the engine")
        pairs = []
        for _ in range(rounds):
            time.sleep(0.05)  # the next process for a replay starts meanwhile, as it does where calls do not follow each other at once
            before = processes.cpu_ns(service.process.pid)
            took, again = timed(service.call, tool, **given)
            cpu, calls = cpu + processes.cpu_ns(service.process.pid) - before, calls + 1
            verified(again, question, "the server")
            pairs.append((took, timed(engine.call, tool, **given)[0]))
        through, direct = (statistics.median(times) for times in zip(*pairs))
        served.append(through)
        alone.append(direct)
        if was_replayed(answer):
            replayed.append(through)
            replayed_alone.append(direct)
    print("\nThrough a server, each %s case: %d of them, %d with a replay" % (ordinal(every), len(served), len(replayed)))
    row("a call, median", median_ms(served), "ms")
    row("… the engine alone", median_ms(alone), "ms")
    row("… CPU of all processes of the server, mean", figures.figure("CPU of the server", cpu) / calls / 1e6, "ms")
    row("a call with a replay, median", median_ms(replayed), "ms")
    row("… the engine alone, with the replay in a child", median_ms(replayed_alone), "ms")
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
        print("\nAs a command")
        row("mishap symbolic check with a replay, median", ours, "ms", at_most=COMMAND_MS)
        row("… the engine alone", direct, "ms")
        row("python3 -c 1", python, "ms")
        row("mishap symbolic check against python3 -c 1", ours / python, "×")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=4, metavar="N", help="each N-th case goes through the server")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("there is no measurement without a round")
    engine = Engine()
    rows = []
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))):
        for line, questions, code in blocks(path):
            for question in questions:
                tool, given = arguments(code, question)
                verified(engine.call(tool, **given), question, "the engine")
                times = [timed(engine.call, tool, **given)[0] for _ in range(options.rounds)]
                rows.append((figures.median(question, times), os.path.basename(path), line, question))
    plain = [r for r in rows if r[1] != "floats.py" and "timeout" not in r[3]]
    floats = [r[0] for r in rows if r[1] == "floats.py"]
    figures.figures("cases of the corpus", [len(plain), len(floats)])
    print("A worker that waits: %d cases, and %d of floats" % (len(plain), len(floats)))
    row("a call, median", median_ms([r[0] for r in plain]), "ms", at_most=CALL_MS)
    row("… 90 % within", 1000 * sorted(r[0] for r in plain)[len(plain) * 9 // 10], "ms")
    row("… the slowest, %s:%d" % max(plain)[1:3], max(plain)[0], "s")
    row("floats, median", median_ms(floats), "ms")
    row("… the slowest", max(floats), "s")
    late = [r for r in plain if r[0] > 2]
    print("beyond 2 s: %s" % (", ".join("%s:%d" % r[1:3] for r in late) or "none"))
    for title, make in (("joined", branches), ("not joined", split_branches)):
        print("branches, %s: %s" % (title, ", ".join("%d: %.1f ms (%d paths)" % (
            count, 1000 * statistics.median(timed(engine.call, "check", code=make(count), function_name="f")[0] for _ in range(options.rounds)),
            engine.call("check", code=make(count), function_name="f")["paths_explored"]) for count in (1, 4, 8, 12))))
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(branches(2))
        file.flush()
        command = [PROGRAM, "check", file.name, "--function-name", "f"]
        times = [timed(subprocess.run, command, capture_output=True, check=True)[0] for _ in range(4 * options.rounds)]
        row("the engine as a command, median", median_ms(times), "ms")
        other = os.environ.get("CROSSHAIR")
        if other:
            times = [timed(subprocess.run, [other, "check", "--analysis_kind=asserts", file.name], capture_output=True, check=False)[0]
                     for _ in range(options.rounds)]
            row("CrossHair as a command, median", median_ms(times), "ms")
    engine.close()
    if os.environ.get("MISHAP_PROGRAM"):
        cases = [(*arguments(code, question), question) for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))) if "floats" not in path
                 for _, questions, code in blocks(path) for question in questions if "timeout" not in question]
        measure_service(os.environ["MISHAP_PROGRAM"], cases[::options.every], options.rounds, options.every)


if __name__ == "__main__":
    figures.run(main)
