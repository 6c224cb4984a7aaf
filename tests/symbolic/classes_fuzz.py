#!/usr/bin/env python3
"""A differential fuzzer of classes and generators: random hierarchies with several bases, super(), properties, class attributes and
special methods, and random generator functions, each with a function f(n) that notes what happens.

    classes_fuzz.py [--programs 60 | --minutes 10] [--seed 1]

CPython runs f for a few numbers. The engine must do the same for each of them (run), prove a table of all of them, and not prove one
with a wrong entry. The precondition has no bounds that are plain to see, so that the paths have to tell. A refusal with a reason is counted.
"""
import argparse
import collections
import os
import random
import re
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, Slow, loaded  # noqa: E402

NUMBERS = range(-2, 4)
NAMES = ["p", "q", "r"]


class Writer:
    def __init__(self, picker):
        self.picker, self.lines, self.classes, self.size = picker, [], [], 0

    def pick(self, *choices):
        return self.picker.choice(choices)

    # ---- Classes ----

    def method(self, name, has_base):
        body = self.pick("return self.k + {0}", "self.k += 1\n        return {0}", "return [{0}, self.k]", "raise ValueError({0})", "return self.{1}()", "return len(self)", "return self == other_of(self)",
                         "return type(self).n", "return self.size").format(self.picker.randrange(5), self.pick(*NAMES))
        if has_base and self.picker.random() < 0.5:
            body = self.pick("return ['%s', super().%s()]" % (name, name), "x = super().%s()\n        return (x, self.k)" % name, "return super().%s()" % self.pick(*NAMES))
        return "    def %s(self):\n        %s" % (name, body)

    def special(self, is_dataclass):
        return self.pick("    def __eq__(self, o):\n        return isinstance(o, Root) and self.k == o.k", "    def __eq__(self, o):\n        return NotImplemented", "    def __lt__(self, o):\n        return self.k < o.k" if not is_dataclass else "",
                         "    def __len__(self):\n        return self.k", "    def __bool__(self):\n        return self.k > 1", "    def __contains__(self, x):\n        return x == self.k", "    def __getitem__(self, i):\n        return [self.k, 7][i]",
                         "    def __iter__(self):\n        yield self.k\n        yield 1", "    def __iter__(self):\n        return iter([self.k])", "    def __add__(self, o):\n        return self.k + (o.k if isinstance(o, Root) else o)",
                         "    def __radd__(self, o):\n        return ['radd', o]", "    def __gt__(self, o):\n        return NotImplemented", "    def __str__(self):\n        return 's' + str(self.k)", "    def __repr__(self):\n        return 'r'", "    def __call__(self, x=2):\n        return x - self.k",
                         "    def __neg__(self):\n        return -self.k", "    def __ne__(self, o):\n        return 'ne'", "    def __le__(self, o):\n        return self.k <= o.k" if not is_dataclass else "", "    def __add__(self, o):\n        return NotImplemented")

    def a_class(self):
        name = "ABCDE"[len(self.classes)]
        count = self.picker.randrange(3) if self.classes else 0
        bases = self.picker.sample(self.classes, min(count, len(self.classes))) or ["Root"]
        is_dataclass = self.picker.random() < 0.25
        parts = []
        if is_dataclass:
            self.lines.append("@dataclass%s" % self.pick("", "", "(order=True)", "(eq=False)"))
            parts.append("    %s: int = %d" % (self.pick("k", "d"), self.picker.randrange(3)))
        for each in self.picker.sample(NAMES, self.picker.randrange(1, 4)):
            kind = self.picker.random()
            if kind < 0.15:
                parts.append("    @classmethod\n    def %s(cls):\n        return [cls.n, '%s']" % (each, name))
            elif kind < 0.25:
                parts.append("    @staticmethod\n    def %s():\n        return '%s'" % (each, name))
            else:
                parts.append(self.method(each, True))
        if self.picker.random() < 0.4:
            parts.append("    n = %d" % self.picker.randrange(9))
        if self.picker.random() < 0.4:
            parts.append("    @property\n    def size(self):\n        return self.k * %d" % self.picker.randrange(3))
            if self.picker.random() < 0.5:
                parts.append("    @size.setter\n    def size(self, v):\n        self.k = v + 1")
        if self.picker.random() < 0.3 and not is_dataclass:
            parts.append("    def __init__(self, k):\n        super().__init__(k)\n        self.k %s= %d" % (self.pick("+", "-", "*"), self.picker.randrange(3)))
        special = {part.split("(")[0]: part for part in (self.special(is_dataclass) for _ in range(self.picker.randrange(4))) if part}
        parts += special.values()
        self.lines.append("class %s(%s):\n%s" % (name, ", ".join(bases), "\n".join(parts)))
        self.classes.append(name)

    def use(self):
        x, y = self.pick("a", "b", "c"), self.pick("a", "b", "c")
        return self.pick("{x}.p()", "{x}.q()", "{x}.r()", "{x} == {y}", "{x} != {y}", "{x} < {y}", "{x} > {y}", "{x} <= {y}", "{x} in [{y}]", "len({x})", "bool({x})", "not {x}", "n in {x}", "{x}[n]", "list({x})", "{x} + {y}", "{x} + n", "n + {x}", "sum([{x}])",
                         "str({x})", "repr([{x}])", "f'{{{x}}}'", "{x}(n)", "-{x}", "{x}.size", "setter({x}, n)", "{x}.n", "type({x}).n", "isinstance({x}, A)", "type({x}) is type({y})", "max({x}, {y}) is {x}", "len({{{x}}})", "[v for v in {x}]", "({x}, 1) == ({y}, 1)", "[{x}, {y}].index({y})",
                         "[{x}] < [{y}]", "{x} or 5", "all([{x}, {y}])", "sorted([{x}, {y}])[0] is {x}", "{x}.missing", "{x}.k", "count({x})", "tuple({x})", "1 in {x}", "[*{x}]").format(x=x, y=y)

    def with_classes(self):
        self.lines += ["from dataclasses import dataclass, field", "class Root:\n    n = 3\n    def __init__(self, k):\n        self.k = k\n    def p(self):\n        return 'p'\n    def q(self):\n        return ['q', self.k]\n    def r(self):\n        return self.n",
                       "def other_of(x):\n    return Root(1)", "def setter(x, v):\n    x.size = v\n    return x.k", "def count(x):\n    type(x).n += 1\n    return x.n"]
        for _ in range(self.picker.randrange(1, 5)):
            self.a_class()
        made = ", ".join("%s(%s)" % (self.pick("Root", *self.classes), self.pick("n", "1", "n + 1")) for _ in range(3))
        return ["a, b, c = " + made, *("out.append(%s)" % self.use() for _ in range(self.picker.randrange(2, 7)))]

    # ---- Generators ----

    def block(self, depth, names, in_loop):
        lines = []
        for _ in range(self.picker.randrange(1, 4)):
            self.size += 1
            kind = self.picker.random()
            name = self.pick(*names)
            if kind < 0.4 or depth > 2 or self.size > 14:
                lines.append(self.pick("yield %s" % name, "yield %s + 1" % name, "x = yield %s" % name, "out.append(%s)" % name, "yield from [%s, 9]" % name, "%s += 1" % name, "yield 6 // %s" % name, "x = 4", "y = yield from h(%s)" % name, "raise ValueError(%s)" % name if self.picker.random() < 0.4 else "yield 0",
                                       self.pick("break", "continue") if in_loop and self.picker.random() < 0.6 else "yield 5", "return %s" % name if self.picker.random() < 0.3 else "yield 8", "yield next(it)"))
            elif kind < 0.6:
                lines += ["if %s %s %d:" % (name, self.pick(">", "==", "<"), self.picker.randrange(3)), *self.indented(self.block(depth + 1, names, in_loop))]
                if self.picker.random() < 0.5:
                    lines += ["else:", *self.indented(self.block(depth + 1, names, in_loop))]
            elif kind < 0.75:
                lines += ["for x in %s:" % self.pick("range(%s)" % name, "[1, 2]", "h(2)", "it"), *self.indented(self.block(depth + 1, names, True))]
                if self.picker.random() < 0.3:
                    lines += ["else:", *self.indented(self.block(depth + 1, names, in_loop))]
            elif kind < 0.85:
                lines += ["w = 0", "while w < 2:", "    w += 1", *self.indented(self.block(depth + 1, names, True))]
            else:
                lines += ["try:", *self.indented(self.block(depth + 1, names, in_loop)), "except %s:" % self.pick("ValueError", "ZeroDivisionError", "ValueError as e", "(ValueError, ZeroDivisionError)"), *self.indented(self.block(depth + 1, names, in_loop))]
                if self.picker.random() < 0.4:
                    lines += ["else:", *self.indented(self.block(depth + 1, names, in_loop))]
        return lines

    @staticmethod
    def indented(lines):
        return ["    " + line for line in lines]

    def with_generators(self):
        self.lines += ["def h(k):\n    yield k\n    if k > 0:\n        yield k * 2\n    return k + 5"]
        body = ["x = y = 0", "it = iter([3, n])", *self.block(0, ["n", "x", "y"], False), "yield 'end'"]
        return ["def g():", "    nonlocal n", *self.indented(body), *self.pick(
            ["out.append(list(g()))"], ["i = g()", "out.append(next(i, 'none'))", "out.append(next(i, 'none'))", "out.append(list(i))", "out.append(next(i, 'none'))"], ["for v in g():", "    out.append(v)", "    if v == 9:", "        break"],
            ["u, v = g()", "out.append([v, u])"], ["i = g()", "try:", "    out.append([next(i), next(i), next(i)])", "except (ValueError, StopIteration, RuntimeError) as e:", "    out.append(type(e).__name__)", "out.append(next(i, 'ended'))"],
            ["out.append(3 in g())"], ["out.append(list(zip(g(), g())))"], ["i = g()", "out.append([v for v in i if v != 2])", "out.append(list(i))"])]

    def program(self):
        body = self.with_classes() if self.picker.random() < 0.5 else self.with_generators()
        return "\n".join([*self.lines, "def f(n: int) -> list:", "    out = []", *self.indented(body), "    return out", ""])


def shown(v):
    return type(v) in (int, str, bool, type(None)) or (type(v) in (list, tuple) and all(map(shown, v)))


def outcome(code, n):
    try:
        result = loaded(code)["f"](n)
        return repr(result) if shown(result) else None
    except Slow:
        raise
    except Exception as error:
        return repr("raised " + type(error).__name__)


class Different(Exception):
    pass


def judge(engine, code, counts):
    """Ask about one program; a Different says what is wrong."""
    table = {n: outcome(code, n) for n in NUMBERS}
    if None in table.values():
        counts["left out"] += 1
        return
    for n, expected in table.items():
        answer = engine.call("run", code=code, function_name="f", arguments="(%d,)" % n, timeout_seconds=2)
        if "result" not in answer:
            counts["refused"] += 1
            counts[re.sub(r" at line \d+", "", answer["message"].partition(";")[0])[:90]] += 1
            return
        got = answer["result"] if answer["status"] == "returned" else repr("raised " + answer["result"])
        if got != expected:
            raise Different("f(%d) is %s, not %s" % (n, got, expected))
    wrapper = "\ndef g(n: int):\n    r'''\n    pre: (n + 2) * (n - 3) <= 0\n    post: repr(_) == %s[n]\n    '''\n    try:\n        return f(n)\n    except Exception as e:\n        return 'raised ' + type(e).__name__\n"
    answer = engine.call("check", code=code + wrapper % table, function_name="g", timeout_seconds=4)
    counts["check " + answer["status"]] += 1
    if answer["status"] == "counterexample" or "withdrawn" in answer or "confirm" in answer.get("message", ""):
        raise Different("check: %s" % answer)
    wrong = dict(table)
    wrong[sorted(table)[len(code) % len(table)]] = "'other'"
    answer = engine.call("check", code=code + wrapper % wrong, function_name="g", timeout_seconds=4)
    counts["denied " + answer["status"]] += 1
    if answer["status"] == "verified" or "withdrawn" in answer or "confirm" in answer.get("message", ""):
        raise Different("a wrong table: %s" % answer)
    counts["asked"] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def slow(number, frame):
        raise Slow

    signal.signal(signal.SIGALRM, slow)
    engine, counts, bad = Engine(None, "--replay", "here"), collections.Counter(), 0
    begun, seed = time.monotonic(), options.seed
    while time.monotonic() - begun < 60 * options.minutes if options.minutes else seed < options.seed + options.programs:
        code = Writer(random.Random(seed)).program()
        seed += 1
        signal.setitimer(signal.ITIMER_REAL, 60)
        try:
            compile(code, "<code>", "exec")
            judge(engine, code, counts)
        except (SyntaxError, Slow) as error:
            counts[type(error).__name__] += 1
            if isinstance(error, Slow):
                engine.process.kill()
                engine = Engine(None, "--replay", "here")
        except (Different, EOFError) as error:
            bad += 1
            print("# seed %d: %s\n%s" % (seed - 1, str(error)[:600], "\n".join("#   " + line for line in code.splitlines())), flush=True)
            if isinstance(error, EOFError):
                engine = Engine(None, "--replay", "here")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    for words, count in counts.most_common(40):
        print("# %5d %s" % (count, words))
    print("# %d programs, %d differences, %d s" % (seed - options.seed, bad, time.monotonic() - begun))
    good = not bad and counts["asked"] > 0
    print("1..1\n%sok 1 no_program_of_classes_or_generators_does_what_python_does_not" % ("" if good else "not "), flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
