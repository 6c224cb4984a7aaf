#!/usr/bin/env python3
"""A differential fuzzer of small domains: does the engine know all inputs that the preconditions leave?

    domains_fuzz.py [--programs 150 | --minutes 60] [--seed 1]

A function has parameters with random preconditions, and a body that only CPython can run (the engine has no model of `copy`), so that calling all inputs is the one way
to an answer. CPython finds an input that satisfies the preconditions. A postcondition that denies this input must have a
counterexample wherever the engine has called all inputs; one that holds must have none, and no more inputs may satisfy the
preconditions than the engine has called. The last lines are TAP.
"""
import argparse
import itertools
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, maker, violated  # noqa: E402

SIZES = ["len(p) <= 2", "len(p) == 1", "1 <= len(p) < 3", "3 > len(p)", "len(p) in (0, 2)", "len(p) in range(3)", "len(p) < 2 and len(p) >= 0", "len(p) == 0",
         "0 < len(p) <= 2", "not len(p) > 2"]
INTS = ["0 <= p <= 3", "p in (1, 5, -2)", "p in range(-1, 3)", "p == 2", "3 > p >= -3", "0 <= p and p < 4", "p in [0, 1]", "p in (1, True, 2.0)", "p in {7}",
        "-2 <= p <= 1 or p == 9", "p <= 3", "p >= -3", "p in ()", "p in range(4)", "p != 2", "2 == p"]
LETTERS = ["all(c in 'ab0' for c in p)", "all(c in ('a', 'b', 'ab', 3) for c in p)", "all([c == 'a' for c in p])", "all(c in '' for c in p)", "all(c == 'ab' for c in p)",
           "all(c in 'aab' and c != 'b' for c in p)", "all(c in 'ab' for c in p if c != '0')", "all(c in 'ab' for c in p[1:])", "all(c not in 'ab' for c in p)",
           "all(p in 'ab' for p in p)", "any(c in 'ab' for c in p)", "not all(c in 'ab' for c in p)"]
STRS = ["p in ('a', 'ab', 3, None)", "p in 'ab0'", "p == 'a'", "'ab' == p", "p in ('a',) or p == 'b'", "p in ['', '0', '\\u00e9']", "p == 3", "p != 'a'", "p in ''"]
ITEMS = ["all(0 <= x <= 2 for x in p)", "all(x in (0, 5) for x in p)", "all([x == 1 for x in p])", "all(0 <= x and x < 3 for x in p)", "all(x > 0 for x in p if x)",
         "all(x >= 0 for x in p) and all(x <= 2 for x in p)", "all(p[0] <= x <= 2 for x in p)", "all(x in range(2) for x in p)", "all(-1 <= y <= 1 for y in p)"]
WORDS = ["all(x in ('a', 'ab') for x in p)", "all(x == 'b' for x in p)", "all(x in 'ab' for x in p)", "all(x in ['', 'a', 2] for x in p)"]
SOME_INTS = [-3, -2, -1, 0, 1, 2, 3, 5, 7, 9]
SOME_STRS = ["".join(c) for size in range(4) for c in itertools.product("ab0\u00e9", repeat=size)]


def rows(items, most):
    return [list(each) for size in range(most + 1) for each in itertools.product(items, repeat=size)]


# the annotation, values of CPython's pool, conditions of which some are taken
KINDS = [
    ("int", SOME_INTS, [INTS, INTS]),
    ("str", SOME_STRS, [STRS]),
    ("str", SOME_STRS, [SIZES, LETTERS]),
    ("list[int]", rows([-1, 0, 1, 2, 5], 3), [SIZES, ITEMS]),
    ("list[str]", rows(["", "a", "b", "ab"], 2), [SIZES, WORDS]),
    ("list[bool]", rows([False, True], 3), [SIZES]),
    ("tuple[int, int]", [tuple(each) for each in rows([-1, 0, 1, 2, 5], 2) if len(each) == 2], [ITEMS]),
    ("tuple[int, ...]", [tuple(each) for each in rows([-1, 0, 1, 2], 3)], [SIZES, ITEMS]),
    ("Literal[1, 'a', None]", [1, "a", None], []),
]
CODE = "import copy\nfrom typing import Literal\ndef f(%s):\n    r'''\n%s    post: %s\n    '''\n    return copy.copy([%s])\n"


def program(picker):
    """The code with a place for its postcondition, the names, and inputs that satisfy the preconditions."""
    names = "pqr"[:picker.choice([1, 1, 2])]
    kinds = [picker.choice(KINDS) for _ in names]
    conditions = [picker.choice(some).replace("p", name) if name != "p" else picker.choice(some) for name, kind in zip(names, kinds) for some in kind[2]]
    lines = "".join("    pre: %s\n" % each for each in conditions)
    head = ", ".join("%s: %s" % (name, kind[0]) for name, kind in zip(names, kinds))
    space = {}

    def fits(given):
        try:
            return all(eval(each, space, dict(zip(names, given))) for each in conditions)
        except Exception:
            return False
    # A generator expression sees its own names and what is global.
    inputs = []
    for given in itertools.islice(itertools.product(*(picker.sample(kind[1], len(kind[1])) for kind in kinds)), 4000):
        space.update(zip(names, given))
        if fits(given):
            inputs.append(given)
    return CODE % (head, lines, "%s", ", ".join(names)), names, inputs


def contradiction(answer):
    """Where real Python contradicted the engine: what it says of that. The model is wrong then, whatever the verdict."""
    message = answer.get("message", "")
    return answer.get("withdrawn") or (message if "confirm" in message or "contradict" in message else None)


def differences(engine, code, names, inputs, picker):
    """(question, what is wrong) of a program; and whether all inputs were called."""
    answer = engine.call("check", code=code % "True", function_name="f", timeout_seconds=240)
    if contradiction(answer):
        return [(code % "True", contradiction(answer))], True
    if answer["status"] == "counterexample":
        call = answer["counterexamples"][0]["call"]
        return [(code % "True", "a counterexample of what holds: %s" % call)], True
    if answer["status"] != "verified":
        return [], False
    found = []
    if answer.get("inputs_called", 0) < len(inputs):
        found.append((code % "True", "%d inputs are there, and %s were called" % (len(inputs), answer.get("inputs_called"))))
    for given in picker.sample(inputs, min(2, len(inputs))):
        words = "not (%s)" % " and ".join("%s == %s" % (name, ascii(value)) for name, value in zip(names, given))
        answer = engine.call("check", code=code % words, function_name="f", timeout_seconds=240)
        if contradiction(answer):
            found.append((code % words, contradiction(answer)))
        elif answer["status"] != "counterexample":
            found.append((code % words, "%s has no counterexample: %s" % (given, str(answer)[:300])))
        elif not violated(code % words, "f", maker(answer["counterexamples"][0]["call"][2:-1])):
            found.append((code % words, "%s is no counterexample" % answer["counterexamples"][0]["call"]))
    return found, True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=150)
    parser.add_argument("--minutes", type=float, default=0, help="go on for that long, in place of --programs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    engine = Engine(None, "--replay", "here")
    bad, proven, programs = 0, 0, 0
    print("1..2")
    until = time.monotonic() + 60 * options.minutes
    for number in itertools.count():
        if time.monotonic() >= until if options.minutes else number >= options.programs:
            break
        programs += 1
        picker = random.Random(options.seed * 1000003 + number)
        code, names, inputs = program(picker)
        found, all_called = differences(engine, code, names, inputs, picker)
        proven += all_called
        for question, words in found:
            bad += 1
            print("# program %d: %s\n%s" % (number, words, "".join("#   %s\n" % line for line in question.splitlines())), flush=True)
    engine.close()
    print("# %d programs, %d of them by all inputs, %d differences" % (programs, proven, bad))
    print("%s 1 small_domains_have_every_input_of_the_preconditions" % ("not ok" if bad else "ok"))
    enough = 3 * proven >= programs
    print("%s 2 a_third_of_the_programs_have_small_domains" % ("ok" if enough else "not ok"))
    sys.exit(1 if bad or not enough else 0)


if __name__ == "__main__":
    main()
