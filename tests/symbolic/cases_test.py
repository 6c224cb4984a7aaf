#!/usr/bin/env python3
"""The engine on cases in plain files. Each verdict is checked against Python itself: a witness by a call of our own, a proof
by brute force over a small domain.

A case is a block of code after lines that say what is asked and what the answer is:

    #: check divide = counterexample ZeroDivisionError
    #: find divide ValueError = unreachable
    #: compare f g = equivalent
    #: branches f = complete 4 dead 7,8
    def divide(a: int, b: int): …

What follows the verdict must be found in the answer. A block ends where the next one begins.
"""
import ast
import glob
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, called, domain, maker, outcome, parameters, same, sample, violated  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120
SECONDS = {"classics.py": 10}  # of the processor, in the files whose questions have an answer that soon
engine = None
seconds = PATIENCE


def blocks(path):
    """(number of the line, questions, code) of each block of a file."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, questions, code, begun = [], [], [], 0
    for number, line in enumerate(lines, 1):
        if line.startswith("#:"):
            if code and any(part.strip() for part in code):
                found.append((begun, questions, "\n".join(code) + "\n"))
                questions, code = [], []
            elif not questions:
                code = []
            begun = begun if questions else number
            questions.append(line[2:].strip())
        else:
            code.append(line)
    if questions:
        found.append((begun, questions, "\n".join(code) + "\n"))
    return found


def call_of(witness):
    return re.match(r"\w+\((.*)\)$", witness["call"], re.S).group(1)


def asked(tool, verdict, **arguments):
    """Most questions take a tenth of a second. A busy machine changes no verdict."""
    if verdict == "timeout":
        return engine.call(tool, timeout_seconds=20, **arguments)
    return engine.patient(tool, seconds, **arguments)


def check(code, words, verdict, rest):
    answer = asked("check", verdict, code=code, function_name=words[0])
    assert answer["status"] == verdict, answer
    if verdict == "counterexample":
        for witness in answer["counterexamples"]:
            assert violated(code, words[0], maker(call_of(witness))), witness
            holds(code, words[0], witness)
        assert all(word in json.dumps(answer["counterexamples"]) for word in rest), answer
    elif verdict == "verified":
        for call in domain(code, words[0]) or []:
            broken = violated(code, words[0], maker(call))
            assert not broken, "%s(%s) is %s" % (words[0], call, broken)
        assert answer["coverage_estimate"] == 1.0 and answer["paths_explored"] == answer["paths_verified"], answer
    else:
        assert all(word in answer["message"] + answer["error_type"] for word in rest), answer


def find(code, words, verdict, rest):
    answer = asked("find", verdict, code=code, function_name=words[0], exception_type=words[1])
    assert answer["status"] == verdict, answer
    if verdict == "found":
        for witness in answer["triggering_inputs"]:
            got = outcome(code, words[0], maker(call_of(witness)))
            assert got[0] == "raised" and words[1] in got[2], (witness, got)
            holds(code, words[0], witness)
        assert all(word in json.dumps(answer["triggering_inputs"]) for word in rest), answer
    elif verdict == "unreachable":
        for call in domain(code, words[0]) or []:
            if violated(code, words[0], maker(call)) is None:
                continue
            got = outcome(code, words[0], maker(call))
            assert got[0] == "returned" or words[1] not in got[2], call
    else:
        assert all(word in answer["message"] + answer["error_type"] for word in rest), answer


def compare(code, words, verdict, rest):
    answer = asked("compare", verdict, code=code, function_a=words[0], function_b=words[1])
    assert answer["status"] == verdict, answer
    if verdict == "different":
        make = maker(call_of(answer["distinguishing_input"]))
        assert same(outcome(code, words[0], make), outcome(code, words[1], make)) is False, answer
        shown = answer["distinguishing_input"]
        assert shown["result_a"] != shown["result_b"], answer
    elif verdict == "equivalent":
        for call in domain(code, words[0]) or []:
            make = maker(call)
            assert same(outcome(code, words[0], make), outcome(code, words[1], make)) is True, call
    else:
        assert all(word in answer["message"] + answer["error_type"] for word in rest), answer


def branches(code, words, verdict, rest):
    answer = asked("branches", verdict, code=code, function_name=words[0])
    assert answer["status"] == verdict, answer
    if verdict != "complete":
        assert all(word in answer["message"] + answer["error_type"] for word in rest), answer
        return
    shown = " ".join("%d:%s%s" % (b["line"], "T" if b["true_reachable"] else "-", "F" if b["false_reachable"] else "-")
                     for b in answer["branches"])
    dead = ",".join(str(line) for line in answer["dead_code_lines"])
    expected = " ".join(rest)
    got = (shown + (" dead " + dead if dead else "") + " cc %d" % answer["cyclomatic_complexity"]).strip()
    assert got == expected, got
    for branch in answer["branches"]:
        for way, name in ((True, "true"), (False, "false")):
            example = branch[name + "_example"]
            assert not branch[name + "_reachable"] or example is not None, branch
            assert example is None or (branch["line"], way) in passed(code, words[0], example), (name, branch)


class Noting(ast.NodeTransformer):
    """Each condition of the function, with a note of how it turned out."""

    def visit_If(self, node):
        self.generic_visit(node)
        call = ast.Call(ast.Name("note", ast.Load()), [ast.Constant(node.lineno), node.test], [])
        node.test = ast.copy_location(call, node.test)
        return node

    visit_While = visit_If


def passed(code, name, example):
    """(line, way) of each condition that a call with these arguments passes."""
    seen = set()

    def note(line, value):
        seen.add((line, bool(value)))
        return value
    space = {"__name__": "__case__", "note": note}
    exec(compile(ast.fix_missing_locations(Noting().visit(ast.parse(code))), "<code>", "exec"), space)
    try:
        called(space[name], [spelled(example[key], space) for key in parameters(space[name])])
    except Exception:
        pass
    return seen


def spelled(value, space):
    """What JSON has no form for is written as Python does."""
    if isinstance(value, str) and re.match(r"(float|set|frozenset|tuple|[A-Z]\w*)\(|[({]|b['\"]", value):
        return eval(value, space)
    return value


def holds(code, name, witness):
    """The condition of the path is true for the witness."""
    from engine import loaded, named
    space = loaded(code)
    known = named(space[name], maker(call_of(witness))(space))
    assert eval(witness["path_condition"], {**space, **known}), witness


TOOLS = {"check": check, "find": find, "compare": compare, "branches": branches}


def one(code, question):
    """A path with a construct that is not supported is tried in CPython, for half a second at most. On a busy machine that may be
    too short: the engine then says that it does not support the construct, and is asked again. No other answer is forgiven."""
    asked, answered = question.split(" = ", 1)
    tool, *words = asked.split()
    verdict, *rest = answered.split()
    for last in (False,) * 9 + (True,):
        try:
            return TOOLS[tool](code, words, verdict, rest)
        except AssertionError as error:
            if last or verdict == "error" or "'message': 'Unsupported construct" not in str(error):
                raise


def run_file(path):
    global seconds
    seconds = SECONDS.get(os.path.basename(path), PATIENCE)
    failed, rows = [], sample([(line, question, code) for line, questions, code in blocks(path) for question in questions])
    for line, question, code in rows:
        begun = time.monotonic()
        try:
            one(code, question)
        except Exception as error:
            failed.append("%s:%d: %s: %s: %s" % (os.path.basename(path), line, question, type(error).__name__, str(error)[:600]))
        if time.monotonic() - begun > 2:
            print("# %s:%d: %s took %.1f s" % (os.path.basename(path), line, question, time.monotonic() - begun), flush=True)
    assert not failed, "%d of %d failed\n%s" % (len(failed), len(rows), "\n".join(failed))
    return len(rows)


def tests():
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))):
        name = os.path.splitext(os.path.basename(path))[0]
        yield "cases_of_%s_have_the_verdicts_that_python_confirms" % name, path


if __name__ == "__main__":
    engine = Engine()
    wanted = sys.argv[1:]
    good, number = True, 0
    every = [(name, path) for name, path in tests() if not wanted or any(word in path for word in wanted)]
    print("1..%d" % len(every))
    for name, path in every:
        number += 1
        try:
            count = run_file(path)
            print("ok %d %s (%d cases)" % (number, name, count), flush=True)
        except AssertionError as error:
            good = False
            print("not ok %d %s" % (number, name), flush=True)
            print("\n".join("# " + line for line in str(error).splitlines()), flush=True)
    engine.close()
    sys.exit(0 if good else 1)
