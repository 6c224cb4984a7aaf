#!/usr/bin/env python3
"""A differential fuzzer: regular expressions on texts that are not known, against CPython's own matcher.

    patterns_fuzz.py [--minutes 5 | --patterns 40] [--seed 1]

A pattern is made by chance from what the engine supports. A function calls a function of re with it; its precondition leaves a few
texts, and its postcondition says what CPython does with each of them. The engine must prove it, or refuse the pattern. One answer
that is wrong for one text must not be proven. The last lines are TAP.
"""
import argparse
import collections
import os
import random
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine  # noqa: E402

TEXTS = 5  # of a question
LETTERS = "aaabbc1 \n_-\xe9\u0663\u4e00"
ATOMS = ["a", "b", "c", ".", "[ab]", "[^a]", "[a-c1]", r"\d", r"\s", r"\S", r"\w", r"\W", r"[\w-]", r"[^\s]", "ab", "1"]
REPEATED = ["*", "+", "?", "{2}", "{1,2}", "{0,1}", "*?", "+?", "??", "{1,2}?", "", "", "", ""]
CALLS = ["re.sub(P, '<>', s)", "re.findall(P, s)", "re.split(P, s)", "[m.span() for m in re.finditer(P, s)]", "re.subn(P, '', s, 1)", "re.split(P, s, 1)",
         "[m.groups() for m in re.finditer(P, s)]", "(lambda m: m and (m.span(), m.groups()))(re.match(P, s))", "(lambda m: m and (m.span(), m.groups()))(re.search(P, s))",
         "(lambda m: m and (m.span(), m.groups()))(re.fullmatch(P, s))", "re.sub(P, lambda m: str(m.end()), s)"]


def part(chance, depth):
    """A pattern; a group has no repetition but `?`, since others are refused."""
    what = chance.random()
    if depth == 0 or what < 0.45:
        return chance.choice(ATOMS[:-2]) + chance.choice(REPEATED)
    if what < 0.6:
        return "(" + either(chance, depth - 1) + ")" + chance.choice(["", "", "?", "??"])
    if what < 0.75:
        return "(?:" + either(chance, depth - 1) + ")" + chance.choice(REPEATED)
    return part(chance, depth - 1) + part(chance, depth - 1)


def either(chance, depth):
    ways = [part(chance, depth) for _ in range(chance.choice([1, 1, 2, 2, 3]))]
    if chance.random() < 0.08:
        ways.append("")
    return "|".join(ways)


def pattern(chance):
    made = either(chance, 2)
    if chance.random() < 0.1 and "|" not in made:
        made = "^" + made
    if chance.random() < 0.15 and "|" not in made:
        made += chance.choice(["$", r"\Z"])
    return made


def texts(chance):
    return ["".join(chance.choice(LETTERS) for _ in range(chance.randrange(5))) for _ in range(TEXTS)]


def question(call, made, inputs, results, wrong):
    table = {text: result for text, result in zip(inputs, results)}
    if wrong is not None:
        table[inputs[wrong]] = "another"
    body = call.replace("P", ascii(made))
    few = " or ".join("s == " + ascii(text) for text in inputs)  # which CPython does not enumerate
    doc = 'r"""\n    pre: len(s) <= 4\n    pre: %s\n    post: _ == T[s]\n    """' % few
    return "import re\nT = %s\n\ndef f(s: str):\n    %s\n    return %s\n" % (ascii(table), doc, body)


def ask(engine, chance, counts):
    """A difference in words; None: there is none."""
    call, made, inputs = chance.choice(CALLS), pattern(chance), texts(chance)
    try:
        results = [eval(call.replace("P", repr(made)), {"re": re, "s": text}) for text in inputs]
    except re.error:
        return None
    wrong = chance.randrange(TEXTS) if chance.random() < 0.3 else None
    code = question(call, made, inputs, results, wrong)
    try:
        answer = engine.call("check", code=code, function_name="f", timeout_seconds=60)
    except EOFError:
        return "the engine ended:\n" + code
    status = answer["status"]
    counts[status] += 1
    counts["by " + answer.get("method", "none")] += 1
    if status in ("error", "timeout"):
        message = answer["message"]
        counts[message.partition(";")[0][:90]] += 1
        return message + "\n" + code if "confirm" in message or "contradict" in message else None
    if "withdrawn" in answer:
        return answer["withdrawn"] + "\n" + code
    right = "verified" if wrong is None else "counterexample"
    return None if status == right else "%s, not %s\n%s" % (status, right, code)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--patterns", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, counts, found, asked = random.Random(options.seed), collections.Counter(), [], 0
    engine, end = Engine(None, "--replay", "here"), time.monotonic() + 60 * (options.minutes or 0)
    while time.monotonic() < end if options.minutes else asked < options.patterns:
        asked += 1
        difference = ask(engine, chance, counts)
        if difference:
            found.append(difference)
            print("# " + difference.replace("\n", "\n#   "), flush=True)
            if difference.startswith("the engine ended"):
                engine = Engine(None, "--replay", "here")
    engine.close()
    print("# %d patterns, %d differences" % (asked, len(found)))
    for what, count in counts.most_common():
        print("# %5d %s" % (count, what))
    answered = counts["verified"] + counts["counterexample"]
    print("1..2\n%sok 1 no_answer_about_a_pattern_is_another_than_that_of_python" % ("not " if found else ""))
    print("%sok 2 most_patterns_have_an_answer" % ("" if 2 * answered > asked else "not "))
    sys.exit(bool(found) or 2 * answered <= asked)


if __name__ == "__main__":
    main()
