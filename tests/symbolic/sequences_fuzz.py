#!/usr/bin/env python3
"""A differential fuzzer: a few operations in a row on one list, dict and set, and on iterators over them, with ints at the
boundaries of an index.

    sequences_fuzz.py [--programs 100 | --seconds 60] [--seed 1]

Iterators live while what they iterate over changes: that is what one operation at a time cannot show. Each program is asked two
ways. On known arguments the interpreter must do what CPython does. Then `check` is asked with a postcondition that says what
CPython does for three values of a parameter, which must not have a counterexample, and with one that denies it for one of them,
which must not be verified. The program of a difference is printed, with its seed.
"""
import argparse
import os
import random
import resource
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, loaded, shape  # noqa: E402

NUMBERS = ["0", "1", "2", "3", "-1", "-2", "5", "2**63", "2**63-1", "-2**63", "-2**63-1", "10**30", "-10**30", "n"]
VALUES = ["0", "1", "2", "3", "-1", "-2", "2**63", "-2**63-1", "10**30", "2**63-1"]
SMALL = ["0", "1", "2", "3", "-1", "n"]
STEPS = ["1", "-1", "3", "2**62"]
# N a number, M a small one, T a step, S what can be iterated over, I an iterator (a list, until there is one).
SOURCES = ["xs", "ys", "d", "d.keys()", "d.values()", "d.items()", "one", "range(N)", "range(N, N, T)", "'ab'", "(1, 2, 3)", "I"]
ITERATORS = ["reversed(xs)", "reversed(ys)", "reversed((1, 2))", "reversed('abc')", "reversed(range(N))", "reversed(range(N, N, T))",
             "iter(S)", "enumerate(S, N)", "zip(S, S)", "map(lambda v: (v, len(xs)), S)", "filter(None, S)", "(v for v in S if v not in ys)",
             "map(lambda v: xs.append(v) or v, S)", "map(lambda v: xs.pop(), S)"]
OPERATIONS = [
    "xs.append(M)", "xs.pop(N)", "xs.pop()", "xs.insert(N, M)", "xs.clear()", "xs.reverse()", "xs.sort()", "xs.extend(S)", "xs.remove(M)",
    "xs.index(M)", "xs.count(M)", "xs.sort(key=lambda v: (len(xs), -v))", "d.update([(M, 1)])", "d.pop(M, None)", "d.setdefault(M, 5)",
    "d.update((v, len(d)) for v in S)", "len(d.keys())", "M in d.values()", "one.add(1)", "one.discard(1)", "one.update(S)",
    "xs[N]", "xs[N:N]", "xs[N:N:N]", "'abc'[N:N:N]", "'abc'[N]", "xs * N", "'ab' * N", "() * N", "'' * N",
    "'a-b-c'.split('-', N)", "'aaa'.replace('a', 'b', N)", "'abc'.find('b', N)", "'abc'.count('b', 0, N)", "round(1.25, N)", "0 << N",
    "range(N)[N]", "bool(range(N, N, T))", "len(range(N))", "N in range(N, N, T)", "range(N, N, T) == range(N, N, T)",
    "max(S)", "min(S, default=9)", "sum(S)", "sum(S, 0.5)", "max(S, key=lambda v: len([xs.append(1)]))", "max(xs, key=lambda v: -xs.pop())",
    "sorted(xs)", "sorted(I)", "{1, 2}.isdisjoint(S)", "{1, 2, 0}.issuperset(S)", "{1, 2}.issubset(I)", "any(S)", "all(S)", "tuple(S)",
    "list(S)", "[*S]", "dict(zip(S, S))", "','.join(str(v) for v in S)"]
CHANGES = ["xs.append(v)", "xs.pop()", "pass", "xs.clear()", "d[7] = 1", "xs.insert(0, 1)", "one.add(1)", "one.add(2)"]
EXCEPTIONS = ["IndexError", "OverflowError", "KeyError", "ValueError", "TypeError", "RuntimeError", "StopIteration"]
NAME = "def name(error):\n" + "".join("    if isinstance(error, %s):\n        return %r\n" % (e, e) for e in EXCEPTIONS) + "    raise error\n"


class Writer:
    """One random program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.iterators = []

    def filled(self, words):
        out = ""
        for i, c in enumerate(words):
            alone = not (words[i - 1:i].isalnum() or words[i + 1:i + 2].isalnum())
            pick = self.random.choice
            if c == "S" and alone:
                out += self.filled(pick(SOURCES))
            elif c == "I" and alone:
                out += pick(self.iterators or ["xs", "ys"])
            else:
                out += pick({"N": NUMBERS, "M": SMALL, "T": STEPS}[c]) if c in "NMT" and alone else c
        return out

    def line(self):
        chance = self.random.random()
        if chance < 0.3:
            words = self.filled(self.random.choice(ITERATORS))
            self.iterators.append("i%d" % len(self.iterators))
            return "%s = %s" % (self.iterators[-1], words)
        if chance < 0.5 and self.iterators:
            return "out.append(next(%s, 'end'))" % self.random.choice(self.iterators)
        if chance < 0.6:
            return ("for v in %s:\n            out.append(v)\n            if len(out) > 6:\n                break\n            %s"
                    % (self.filled(self.random.choice(SOURCES)), self.random.choice(CHANGES)))
        return "out.append(%s)" % self.filled(self.random.choice(OPERATIONS))

    def program(self):
        lines = [self.line() for _ in range(self.random.randint(2, 7))]
        body = "".join("    try:\n        %s\n    except Exception as error:\n        out.append(name(error))\n" % line for line in lines)
        first = "    %sxs = " + self.random.choice(["[0, 1, 2]", "[]", "[5]", "[2, n]"]) + "\n"
        first += "    out, ys, d, one = [], [3, 1, 2], {1: 10, 2: n}, {4}\n"
        for i in range(len(self.iterators)):
            first += "    i%d = []\n" % i
        return NAME + "def f(n: int):\n" + first + body + "    return out, xs, d, len(one)\n"


def by_python(code, number):
    """What f returns, as (shape, repr); None: it took too long, too much memory, or something else. In a child, since a loop
    over a great range is one in C that no signal ends. The limit is one of processor time."""
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.setitimer(signal.ITIMER_PROF, 0.5)
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            result = loaded(code)["f"](eval(number))
            os.write(ends[1], repr((shape(result, ()), repr(result))).encode())
        finally:
            os._exit(0)
    os.close(ends[1])
    with os.fdopen(ends[0], "rb") as file:
        said = file.read()
    os.waitpid(child, 0)
    return eval(said) if said else None


def ask(engine, tool, counts, **arguments):
    answer = engine.call(tool, function_name="f", timeout_seconds=10, **arguments)
    key = "%s %s" % (tool, answer["status"])
    counts[key] = counts.get(key, 0) + 1
    if "withdrawn" in answer or "confirm" in answer.get("message", "") or "contradict" in answer.get("message", ""):
        raise AssertionError(answer)
    return answer


def try_program(engine, seed, counts):
    writer = Writer(seed)
    code = writer.program()
    numbers = writer.random.sample(VALUES, 3)
    expected = [by_python(code % "", number) for number in numbers]
    known = ask(engine, "run", counts, code=code % "", arguments="(%s,)" % numbers[0]) if expected[0] else {"status": "error"}
    if known["status"] != "error":
        assert known["status"] == "returned" and shape(eval(known["result"]), ()) == expected[0][0], (numbers[0], known, expected[0])
    # What has no literal, and is not equal to itself, can be in no postcondition.
    if not all(expected) or any(word in each[1] for word in ("<", "inf", "nan") for each in expected):
        return code
    denied = writer.random.randrange(3)
    for wrong in (None, denied):
        posts = ["    post: n != %s or _ %s %s\n" % (numbers[i], "!=" if i == wrong else "==", each[1]) for i, each in enumerate(expected)]
        words = '"""\n    pre: n in (%s)\n%s    """\n    ' % (", ".join(numbers), "".join(posts))
        answer = ask(engine, "check", counts, code=code % words)
        assert answer["status"] != ("counterexample" if wrong is None else "verified"), (words, answer)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    engine = Engine(None, "--replay", "here")
    end = time.monotonic() + options.seconds if options.seconds else None
    seed, counts, bad = options.seed, {}, False
    while not bad and (time.monotonic() < end if end else seed < options.seed + options.programs):
        try:
            try_program(engine, seed, counts)
        except (AssertionError, EOFError) as difference:
            bad = True
            print("# seed %d: %s" % (seed, difference))
            print("\n".join("#   " + line for line in (Writer(seed).program() % "").splitlines()), flush=True)
        seed += 1
    print("# %d programs from seed %d on: %s" % (seed - options.seed, options.seed,
                                                 ", ".join("%s %d" % each for each in sorted(counts.items()))))
    print("1..1\n%sok 1 operations_in_a_row_do_what_python_does_and_verdicts_say_so" % ("not " if bad else ""))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
