#!/usr/bin/env python3
"""How long analyses take: bench.py [--rounds 5]

Every case of the corpus in a worker that waits (each once to warm up, then the median of its rounds), the same as a command,
and functions with 1, 4, 8, 12 and 16 branches in a row. With MISHAP_PROGRAM=PROGRAM the same cases through a server, whose findings are
replayed in a process of their own, and as commands of that program; in turn with the engine alone and with the start of python3; and
findings of the pool of inputs, and the first call of a server. With CROSSHAIR=PROGRAM, the checks with a postcondition by both, side by
side: how many they solve, how many wrongly, and how long they take. CPU is that of all processes of the server, the engine and the
replays included. An answer that differs from the verdict of its case ends the benchmark: something else would be measured.
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

CALL_MS, COMMAND_MS, FOUND_MS, FIRST_MS, JOINED_MS, IN_VAIN_MS = 15, 80, 10, 15, 100, 10  # at most

# What the paths do not settle, and a typical input does: a construct that is not modelled, and questions that no solver answers soon.
FOUND = {
    "not modelled": ("ValueError", "def f(n: int, m: int) -> int:\n    if n.as_integer_ratio()[0] > 3 and m == 0:\n        raise ValueError\n    return n\n"),
    "a constant": ("ValueError", "def f(s: str) -> bytes:\n    if s.encode('utf-16') == b'' or s == 'per cent':\n        raise ValueError\n    return s.encode('utf-16')\n"),
    "cubes": ("ZeroDivisionError", "def f(a: int, b: int, c: int) -> int:\n    if a ** 3 + b ** 3 + c ** 3 == 33 and a * b * c != 0:\n        return 1\n"
              "    return 1 // (a - 4711)\n"),
    "a loop": ("IndexError", "def f(xs: list[int], n: int) -> int:\n    n = n.as_integer_ratio()[0]\n    while n > 1:\n"
               "        n = n // 2 if n % 2 == 0 else 3 * n + 1\n    return xs[n + 3]\n"),
    "a dict": ("KeyError", "def f(d: dict[str, int], s: str) -> int:\n    return d[s.casefold()].as_integer_ratio()[0]\n"),
}


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


# Nothing to be found, and more than the paths settle at a glance: what the pool costs here, it costs in vain.
IN_VAIN = {
    "ints": "def f(a: int, b: int) -> int:\n    k = 0\n    for i in range(400):\n        k = (k * 3 + i) % 1009\n    return a + b * k\n",
    "strs": "def f(s: str, n: int) -> str:\n    k = 0\n    for i in range(400):\n        k = (k * 3 + i) % 1009\n    return s + 'x' if n > k else s\n",
    "objects": "from dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: int\n    y: int\n\ndef f(p: P, q: P) -> int:\n    k = 0\n    for i in range(400):\n"
               "        k = (k * 3 + i) % 1009\n    return p.x * k + q.y\n",
}


def measure_pool(rounds):
    """What it costs to call the inputs of the pool where there is nothing to be found."""
    first, late, more = Engine(pool="first"), Engine(), []
    for name, code in IN_VAIN.items():
        pairs = []
        for _ in range(2 * rounds):
            times = [timed(engine.call, "check", code=code, function_name="f") for engine in (first, late)]
            if any(answer.get("status") != "verified" for _, answer in times):
                raise Void("%s are answered with %s" % (name, times))
            pairs.append(times[0][0] - times[1][0])
        more.append(statistics.median(pairs))
    first.close()
    late.close()
    row("inputs of the pool that are called in vain", max(1000 * statistics.median(more), 0.001), "ms", at_most=IN_VAIN_MS)


def verdict_of_crosshair(said):
    """What CrossHair says of a function: None if it does not know."""
    if re.search(r": error: ", said):
        return "counterexample"
    return "verified" if "Confirmed over all paths" in said else None


def against(crosshair, engine, cases):
    """(solved, wrong, median in ms) of both, on checks whose verdict is known."""
    ours, theirs = [0, 0, []], [0, 0, []]

    def count(of, found, truth, took):
        of[0] += found == truth
        of[1] += found in ("verified", "counterexample") and found != truth
        of[2].append(took)
    for code, name, truth in cases:
        took, answer = timed(engine.call, "check", code=code, function_name=name, timeout_seconds=10)
        count(ours, answer["status"], truth, took)
        line = next(i for i, text in enumerate(code.splitlines(), 1) if text.startswith("def %s(" % name))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(code)
            words = [crosshair, "check", "--analysis_kind=PEP316", "--report_all", "--per_condition_timeout=10", "%s:%d" % (path, line)]
            took, ended = timed(subprocess.run, words, capture_output=True, check=False, text=True)
        if ended.returncode not in (0, 1, 2):
            raise Void("%s ended with %d: %s" % (crosshair, ended.returncode, ended.stderr[-300:]))
        count(theirs, verdict_of_crosshair(ended.stdout), truth, took)
    return [(solved, wrong, median_ms(times)) for solved, wrong, times in (ours, theirs)]


def compare_with_crosshair(crosshair, every):
    cases = [(code, question.split()[1], verdict(question)) for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py")))
             for _, questions, code in blocks(path) for question in questions
             if question.startswith("check ") and verdict(question) in ("verified", "counterexample") and "post:" in code][::every]
    engine = Engine(pool="first")
    print("\nBeside CrossHair, each %s check with a postcondition: %d of them" % (ordinal(every), len(cases)))
    for name, (solved, wrong, took) in zip(("the engine", "CrossHair"), against(crosshair, engine, cases)):
        print("%-12s solved %d, wrong %d, median %.1f ms" % (name, solved, wrong, took), flush=True)
    engine.close()


def program_of(pid):
    try:
        with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


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

    def waits(self):
        """Wait until both programs have started, and do nothing any more."""
        before = None
        for _ in range(600):
            started = [pid for pid in processes.family(self.process.pid) if program_of(pid) in ("mishap-symbolic", "mishap-python")]
            now = len(started) >= 2 and (started, processes.own_ns(started))
            if now and now == before:
                return
            before = now
            time.sleep(0.1)
        raise Void("no engine waits for a first call")

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
    service, engine = Service(program), Engine(pool="first")
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
    row("a call with its replay, median", median_ms(served), "ms", at_most=CALL_MS)
    row("… the engine alone", median_ms(alone), "ms")
    row("… CPU of all processes of the server, mean", figures.figure("CPU of the server", cpu) / calls / 1e6, "ms")
    row("a call that has one, median", median_ms(replayed), "ms")
    row("… the engine alone, with the replay in a child", median_ms(replayed_alone), "ms")
    found = []
    for name, (error, code) in FOUND.items():
        times = []
        for _ in range(2 * rounds):
            time.sleep(0.05)
            took, answer = timed(service.call, "find", code=code, function_name="f", exception_type=error)
            if answer.get("status") != "found":
                raise Void("%s is answered with %s" % (name, json.dumps(answer)[:500]))
            times += [took] if answer["method"] == "enumeration" else []
        found += [statistics.median(times)] if times else []  # one that the paths have found is no measurement of the pool
    figures.figures("exceptions that the pool of inputs finds", found)
    row("an exception that the pool of inputs finds", median_ms(found), "ms", at_most=FOUND_MS)
    service.close()
    engine.close()
    firsts = []
    for _ in range(rounds):
        service = Service(program)
        service.waits()
        took, answer = timed(service.call, "check", code=branches(2), function_name="f")
        if answer.get("status") != "verified":
            raise Void("the first call is answered with %s" % json.dumps(answer)[:500])
        firsts.append(took)
        service.close()
    row("the first call of a server", median_ms(firsts), "ms", at_most=FIRST_MS)
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
    engine = Engine(pool="first")
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
    measure_pool(options.rounds)
    late = [r for r in plain if r[0] > 2]
    print("beyond 2 s: %s" % (", ".join("%s:%d" % r[1:3] for r in late) or "none"))
    for title, make in (("joined", branches), ("not joined", split_branches)):
        print("branches, %s: %s" % (title, ", ".join("%d: %.1f ms (%d paths)" % (
            count, 1000 * statistics.median(timed(engine.call, "check", code=make(count), function_name="f")[0] for _ in range(options.rounds)),
            engine.call("check", code=make(count), function_name="f")["paths_explored"]) for count in (1, 4, 8, 12))))
    took, answer = timed(engine.call, "check", code=split_branches(16), function_name="f", timeout_seconds=10)
    times = [took] + [timed(engine.call, "check", code=split_branches(16), function_name="f")[0] for _ in range(options.rounds)
                      if answer["status"] == "verified"]
    row("16 branches that append (%s)" % answer["status"], median_ms(times), "ms", at_most=JOINED_MS)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(branches(2))
        file.flush()
        command = [PROGRAM, "check", file.name, "--function-name", "f"]
        times = [timed(subprocess.run, command, capture_output=True, check=True)[0] for _ in range(4 * options.rounds)]
        row("the engine as a command, median", median_ms(times), "ms")
    engine.close()
    if os.environ.get("CROSSHAIR"):
        compare_with_crosshair(os.environ["CROSSHAIR"], options.every)
    if os.environ.get("MISHAP_PROGRAM"):
        cases = [(*arguments(code, question), question) for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))) if "floats" not in path
                 for _, questions, code in blocks(path) for question in questions if "timeout" not in question]
        measure_service(os.environ["MISHAP_PROGRAM"], cases[::options.every], options.rounds, options.every)


if __name__ == "__main__":
    figures.run(main)
