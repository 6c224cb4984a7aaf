#!/usr/bin/env python3
"""The engine on functions as people write them: tests/symbolic/ordinary, about half of them with a planted bug.

    ordinary_test.py [--truth] [--short] [--others] [--only WORDS] [--inputs 400] [--table FILE] [--every-seconds N]

A block of a file is one question with its true answer, and then the code:

    #: check discount = counterexample KeyError     (check, find, compare or branches, as in cases_test.py)
    #: from ints(0, 9), texts("ab=", 0, 5)           inputs that CPython runs, see INPUTS below
    #: shown by 3, "a"                               an input that shows the bug
    #: not yet REASON                                the engine does not decide this; the reason is a part of what it says

The first pass, without the engine, holds each true answer against CPython: a bug is shown by its input, and what is right survives
many inputs of its preconditions, random ones and those at a boundary. The second pass asks the engine. No answer may be wrong, and
each function without `not yet` must be answered. A missing answer must say what to change. --short asks a part of the questions, those that need little time. The table of
the answers that are missing is printed, by their reasons. --others asks the other questions about each function instead: which exceptions
there are, whether it is the same as itself, which lines and branches are reached. What CPython does for a sample of inputs must not
contradict an answer.
"""
import argparse
import ast
import collections
import copy
import datetime
import glob
import json
import os
import random
import re
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases_test  # noqa: E402
from cases_test import blocks, call_of  # noqa: E402
from engine import Engine, Given, Slow, called, contract, loaded, maker, outcome, parameters, same, violated  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ordinary")
PATIENCE = 120  # seconds of processor time for a question that the engine answers in a few
BRIEF = 5  # … for one that it does not answer yet


# ---- Inputs ------------------------------------------------------------------------------------------------------------

class Inputs:
    """The words of a `from` line: each gives a function of a random generator."""

    def __init__(self, space):
        self.space = space

    def names(self):
        return {name: getattr(self, name) for name in dir(self) if name[0] != "_" and name not in ("names", "space")}

    def ints(self, low, high):
        edges = [low, high, low - 1, high + 1, 0, 1, -1]
        far = [2 ** 31, 2 ** 63, -2 ** 63, 10 ** 30, -10 ** 30]
        return lambda r: r.randint(low, high) if r.random() < 0.8 else r.choice(edges if r.random() < 0.8 else far)

    def bools(self):
        return lambda r: r.random() < 0.5

    def floats(self):
        edges = [0.0, -0.0, 1.0, -1.0, 90.0, -90.0, 180.0, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")]
        return lambda r: r.choice(edges) if r.random() < 0.5 else r.uniform(-2000, 2000)

    def pick(self, values):
        return lambda r: r.choice(list(values))

    def texts(self, letters, low, high):
        odd = "\u00b2\u0661\u00e9\u00df\u0130\ud800\u3000\x00 \nZ"

        def draw(r):
            some = letters if r.random() < 0.85 else letters + odd
            return "".join(r.choice(some) for _ in range(r.randint(low, high) if r.random() < 0.9 else r.randint(0, high + 2)))
        return draw

    def joined(self, *of):
        return lambda r: "".join(each(r) for each in of)

    def bytestrings(self, low, high):
        return lambda r: bytes(r.choice([0, 1, 127, 128, 255, r.randint(0, 255)]) for _ in range(r.randint(low, high)))

    def lists(self, of, low, high):
        return lambda r: [of(r) for _ in range(r.randint(low, high))]

    def ordered(self, of, low, high):
        return lambda r: sorted(of(r) for _ in range(r.randint(low, high)))

    def tuples(self, *of):
        return lambda r: tuple(each(r) for each in of)

    def dicts(self, keys, values, low, high):
        return lambda r: {keys(r): values(r) for _ in range(r.randint(low, high))}

    def dates(self, low, high):
        first, last = datetime.date(low, 1, 1), datetime.date(high, 12, 31)
        return lambda r: first + datetime.timedelta(days=r.randint(0, (last - first).days))

    def members(self, name):
        return lambda r: r.choice(list(self.space[name]))

    def made(self, name, *of):
        return lambda r: self.space[name](*(each(r) for each in of))


class Case:
    def __init__(self, path, line, directives, code):
        self.file, self.line, self.code = os.path.basename(path), line, code
        self.inputs, self.shown, self.reached, self.not_yet = None, None, [], None
        for words in directives:
            if words.startswith("from "):
                self.inputs = words[5:]
            elif words.startswith("shown by "):
                self.shown = words[9:]
            elif words.startswith("reached by "):
                self.reached = [each.strip() for each in words[11:].split(";")]
            elif words.startswith("not yet"):
                self.not_yet = words[7:].strip()
            else:
                asked, self.answer = words.split(" = ", 1)
                self.tool, *self.words = asked.split()
        self.verdict, *self.rest = self.answer.split()
        if self.tool == "branches":
            self.verdict, self.rest = "complete", self.answer.split()

    @property
    def name(self):
        return "%s:%d %s" % (self.file, self.line, self.words[0])

    @property
    def has_bug(self):
        return self.verdict in ("counterexample", "found", "different") or (self.tool == "branches" and "-" in self.answer)


def cases(only):
    for path in sorted(glob.glob(os.path.join(HERE, "*.py"))):
        for line, directives, code in blocks(path):
            if not directives:
                continue
            case = Case(path, line, directives, code)
            if only in case.name:
                yield case


# ---- The truth ---------------------------------------------------------------------------------------------------------

def too_slow(number, frame):
    raise Slow()


def drawn(case, count, least=20):
    """Inputs of a case that fulfil its preconditions: a list of arguments each. The code is loaded once."""
    space = loaded(case.code)
    function = space[case.words[0]]
    names = parameters(function)
    conditions = [compile(words, "<pre>", "eval") for words in contract(function)["pre"]]
    kinds = eval("[%s]" % case.inputs, {**space, **Inputs(space).names()})
    assert len(kinds) == len(names), "the `from` line has another number of parameters than the function"
    picker = random.Random(len(case.code))
    found = 0
    for _ in range(60 * count):
        given = [kind(picker) for kind in kinds]
        try:
            if not all(eval(each, {**space, **dict(zip(names, copy.deepcopy(given)))}) for each in conditions):
                continue
        except Exception:
            continue
        found += 1
        yield given
        if found == count:
            return
    assert found >= min(count, least), "only %d inputs fulfil the preconditions" % found


def shows(case, make):
    """What this input shows; None: nothing."""
    if case.tool == "check":
        return violated(case.code, case.words[0], make)
    got = outcome(case.code, case.words[0], make)
    if case.tool == "find":
        return got[1] if got[0] == "raised" and case.words[1] in got[2] else None
    return "different" if not same(got, outcome(case.code, case.words[1], make)) else None


def true_sides(case, count):
    """The sides of branches that CPython takes, as the answer of a case says them, and the lines of all conditions."""
    seen = set()
    names = parameters(loaded(case.code)[case.words[0]])
    for given in [eval("[%s]" % words) for words in case.reached] + list(drawn(case, count)):
        seen |= cases_test.passed(case.code, case.words[0], dict(zip(names, given)))
    lines = sorted(n.lineno for n in ast.walk(ast.parse(case.code)) if isinstance(n, (ast.If, ast.While)))
    return " ".join("%d:%s%s" % (line, "T" if (line, True) in seen else "-", "F" if (line, False) in seen else "-") for line in lines)


def check_truth(case, count):
    if case.tool == "branches":
        got = true_sides(case, count)
        assert got == case.answer, "CPython takes " + got
        return
    if case.shown is not None:
        assert case.has_bug, "an input shows a bug, and the answer is %s" % case.verdict
        got = shows(case, maker(case.shown))
        assert got, "%s shows nothing" % case.shown
        assert not case.rest or got == case.rest[0], "it shows %s" % got
        return
    assert not case.has_bug, "no input shows the bug"
    for given in drawn(case, count):
        assert not shows(case, lambda space, given=given: of_space(given, space)), "%s shows that this is wrong" % given


def of_space(given, space):
    """Fresh arguments; objects of classes of the code are of the classes of this space."""
    def made(value):
        kind = type(value)
        if isinstance(value, list):
            return [made(each) for each in value]
        if kind is tuple:
            return tuple(made(each) for each in value)
        if isinstance(value, dict):
            return {made(key): made(each) for key, each in value.items()}
        if kind.__module__ != "__case__":
            return value
        ours = space[kind.__name__]
        if isinstance(value, tuple):
            return ours(*map(made, value))
        return ours[value.name] if hasattr(ours, "__members__") else ours(*map(made, vars(value).values()))
    return [made(each) for each in given]


# ---- The engine --------------------------------------------------------------------------------------------------------

def ask(engine, case, seconds):
    more = {"function_name": case.words[0]}
    if case.tool == "find":
        more["exception_type"] = case.words[1]
    elif case.tool == "compare":
        more = {"function_a": case.words[0], "function_b": case.words[1]}
    if case.not_yet is not None or seconds < PATIENCE:
        return engine.call(case.tool, code=case.code, timeout_seconds=seconds, **more)
    return engine.patient(case.tool, seconds, code=case.code, **more)


DECIDED = {"check": ("verified", "counterexample"), "find": ("unreachable", "found"), "compare": ("equivalent", "different"), "branches": ("complete",)}


def wrong(case, answer):
    """Why an answer is wrong; None: it is right, or none."""
    if contradicted(answer):
        return contradicted(answer)
    if answer["status"] not in DECIDED[case.tool]:
        return None
    if case.tool == "branches":
        sides = " ".join("%d:%s%s" % (b["line"], "T" if b["true_reachable"] else "-", "F" if b["false_reachable"] else "-") for b in answer["branches"])
        return None if sides == case.answer else "the sides are %s" % case.answer
    if answer["status"] != case.verdict:
        return "the truth is %s" % case.verdict
    every = answer.get("counterexamples") or answer.get("triggering_inputs") or [answer.get("distinguishing_input")]
    for witness in every:
        if witness is not None and not shows(case, maker(call_of(witness))):
            return "%s shows nothing" % witness["call"]
    return None


def reason(answer):
    """The message without what differs from function to function."""
    words = answer.get("message", "")
    words = re.sub(r"after [0-9.]+ seconds|\d+ paths|at least \d+|\d+ of the paths|; \d+ were explored", "…", words)
    return re.sub(r" at line \d+", "", words)


Row = collections.namedtuple("Row", "case kind why seconds")


def answered(engine, case, seconds):
    begun = time.monotonic()
    answer = ask(engine, case, seconds)
    took = time.monotonic() - begun
    why = wrong(case, answer)
    if why:
        return Row(case, "wrong", "%s: %s" % (why, json.dumps(answer)[:700]), took)
    if answer["status"] in DECIDED[case.tool]:
        return Row(case, "right", "", took)
    return Row(case, "undecided" if answer.get("error_type") == "TimeoutError" else "refused", "%s: %s" % (answer.get("error_type"), reason(answer)), took)


def table(rows):
    """What is missing, by its reason; the reason of most functions first."""
    by = collections.defaultdict(list)
    for row in rows:
        if row.kind in ("undecided", "refused"):
            by[re.split("; (?:try this|use )", row.why)[0]].append(row.case.name)
    for why, names in sorted(by.items(), key=lambda each: -len(each[1])):
        yield "%d  %s" % (len(names), why)
        for name in names:
            yield "       " + name


def says_what_to_change(why):
    return "try this: " in why or "; use " in why


def counted(rows):
    for bug in (False, True):
        some = [row for row in rows if row.case.has_bug == bug]
        kinds = collections.Counter(row.kind for row in some)
        yield "%d functions %s a bug: %d right, %d undecided, %d refused, %d wrong" % (
            len(some), "with" if bug else "without", kinds["right"], kinds["undecided"], kinds["refused"], kinds["wrong"])


# ---- Other questions ----------------------------------------------------------------------------------------------------

class Watched:
    """What CPython does for a sample of the inputs of a case: exceptions, lines, sides of branches."""

    def __init__(self, case, count):
        self.raised, self.lines, self.sides = set(), set(), set()
        tree = ast.fix_missing_locations(cases_test.Noting().visit(ast.parse(case.code)))
        space = {"__name__": "__case__", "note": self.note}
        exec(compile(tree, "<watched>", "exec"), space)
        shown = [maker(words)(space) for words in [case.shown] if words]
        for given in shown + list(drawn(case, count, 0)):
            sys.settrace(self.trace)
            try:
                called(space[case.words[0]], given if isinstance(given, Given) else of_space(given, space))
            except Exception as error:
                sys.settrace(None)
                self.raised |= {c.__name__ for c in type(error).__mro__}
            finally:
                sys.settrace(None)

    def note(self, line, value):
        self.sides.add((line, bool(value)))
        return value

    def trace(self, frame, event, argument):
        if frame.f_code.co_filename == "<watched>":
            self.lines.add(frame.f_lineno)
            return self.trace


EXCEPTIONS = ["ValueError", "TypeError", "IndexError", "KeyError", "ZeroDivisionError", "AttributeError", "OverflowError", "LookupError"]


def other_questions(engine, case, seconds):
    """(question, why its answer is wrong, or None; whether there is an answer)"""
    seen = Watched(case, 150)
    name = case.words[0]
    wanted = sorted(seen.raised & {*EXCEPTIONS, "StopIteration"}) + [e for e in EXCEPTIONS if e not in seen.raised][:2]
    for exception in wanted:
        answer = engine.call("find", code=case.code, function_name=name, exception_type=exception, timeout_seconds=seconds)
        why = "CPython raises it" if answer["status"] == "unreachable" and exception in seen.raised else None
        if answer["status"] == "found":
            for witness in answer["triggering_inputs"]:
                got = outcome(case.code, name, maker(call_of(witness)))
                if got[0] != "raised" or exception not in got[2]:
                    why = "%s does not raise it" % witness["call"]
        yield "find %s" % exception, why or contradicted(answer), answer["status"] in DECIDED["find"]
    answer = engine.call("compare", code=case.code, function_a=name, function_b=name, timeout_seconds=seconds)
    yield "compare", "it is different from itself" if answer["status"] == "different" else contradicted(answer), answer["status"] == "equivalent"
    answer = engine.call("branches", code=case.code, function_name=name, timeout_seconds=seconds)
    why = None
    if answer["status"] == "complete":
        dead = sorted(seen.lines & set(answer["dead_code_lines"]))
        why = "CPython runs the lines %s" % dead if dead else None
        for branch in answer["branches"]:
            for side in (True, False):
                if (branch["line"], side) in seen.sides and not branch["true_reachable" if side else "false_reachable"]:
                    why = "CPython takes the side %s of line %d" % (side, branch["line"])
    yield "branches", why or contradicted(answer), answer["status"] == "complete"


def contradicted(answer):
    told = json.dumps(answer)
    return "the engine contradicts CPython" if "withdrawn" in answer or "real Python does not confirm" in told or "contradict" in told else None


def ask_others(every, seconds):
    engine, asked, decided, bad = Engine(), 0, 0, 0
    for case in every:
        try:
            for question, why, is_decided in other_questions(engine, case, seconds):
                asked += 1
                decided += is_decided
                if why:
                    bad += 1
                    print("# wrong: %s: %s: %s" % (case.name, question, why), flush=True)
        except EOFError:
            bad += 1
            print("# wrong: %s: the engine ended with %s" % (case.name, engine.process.wait()), flush=True)
            engine = Engine()
    engine.close()
    print("# %d functions, %d questions, %d answers, %d wrong" % (len(every), asked, decided, bad))
    print("%s 1 no_answer_about_ordinary_functions_contradicts_what_cpython_does" % ("not ok" if bad else "ok"), flush=True)
    return bad


# ---- Both as a test ----------------------------------------------------------------------------------------------------

def truths_hold(every, count):
    bad = []
    for case in every:
        signal.setitimer(signal.ITIMER_PROF, 60)  # of processor time
        try:
            check_truth(case, count)
        except (Exception, Slow) as error:
            bad.append("%s: %s: %s" % (case.name, type(error).__name__, str(error)[:300]))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return bad


def is_enough(every):
    """Are there as many functions as the engine is to be measured with? All but those that are marked are answered."""
    planted = sum(case.has_bug for case in every)
    marked = sum(case.not_yet is not None for case in every)
    return len(every) >= 200 and 0.4 < planted / len(every) < 0.6 and marked / len(every) <= 0.15


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--truth", action="store_true", help="the first pass only")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--others", action="store_true", help="the other questions about each function")
    parser.add_argument("--only", default="")
    parser.add_argument("--inputs", type=int, default=400)
    parser.add_argument("--table")
    parser.add_argument("--every-seconds", type=float, help="the time of each question; nothing is asserted but that no answer is wrong")
    options = parser.parse_args()
    signal.signal(signal.SIGPROF, too_slow)
    every = list(cases(options.only))
    enough = options.only or is_enough(every)
    if options.short:
        every = [case for i, case in enumerate(every) if i % 6 == 0 and case.not_yet is None]
    print("1..%d" % (1 if options.truth or options.others else 5))
    if options.others:
        sys.exit(1 if ask_others(every, options.every_seconds or BRIEF) else 0)
    bad = truths_hold(every, options.inputs)
    print("%s 1 the_true_answers_of_%d_functions_are_what_cpython_does" % ("not ok" if bad else "ok", len(every)), flush=True)
    for words in bad:
        print("# " + words, flush=True)
    if options.truth:
        sys.exit(1 if bad else 0)
    rows = []
    engine = Engine()
    for case in every:
        seconds = options.every_seconds or (PATIENCE if case.not_yet is None else BRIEF)
        try:
            row = answered(engine, case, seconds)
            for _ in range(0 if case.not_yet is not None or options.every_seconds else 9):
                if row.kind == "refused":  # calls of all inputs have half a second for each, which a busy machine may not have
                    row = answered(engine, case, seconds)
        except EOFError:
            row = Row(case, "wrong", "the engine ended with %s" % engine.process.wait(), 0)
            engine = Engine()
        rows.append(row)
        if row.kind == "wrong" or (row.kind != "right" and case.not_yet is None):
            print("# %s %s (%.1f s): %s" % (row.kind, case.name, row.seconds, row.why), flush=True)
        elif row.kind == "right" and case.not_yet is not None:
            print("# %s is right now: its `not yet` can go (%.1f s)" % (case.name, row.seconds), flush=True)
        elif row.seconds > 3:
            print("# %s took %.1f s" % (case.name, row.seconds), flush=True)
    engine.close()
    lines = [*counted(rows), *table(rows)]
    if options.table:
        with open(options.table, "w") as file:
            file.write("\n".join(lines) + "\n")
    for line in lines:
        print("# " + line)
    no_wrong = not any(row.kind == "wrong" for row in rows)
    all_right = options.every_seconds is not None or all(row.kind == "right" for row in rows if row.case.not_yet is None)
    print("%s 2 no_answer_about_ordinary_functions_is_wrong" % ("ok" if no_wrong else "not ok"))
    print("%s 3 functions_that_the_engine_knows_are_answered" % ("ok" if all_right else "not ok"))
    silent = [row for row in rows if row.kind in ("undecided", "refused") and not says_what_to_change(row.why)]
    print("%s 4 a_missing_answer_says_what_to_change" % ("not ok" if silent else "ok"), flush=True)
    for row in silent:
        print("# %s: %s" % (row.case.name, row.why), flush=True)
    print("%s 5 they_are_200_or_more_half_of_them_wrong_and_85_percent_of_them_decided" % ("ok" if enough else "not ok"), flush=True)
    sys.exit(0 if no_wrong and all_right and not bad and not silent and enough else 1)


if __name__ == "__main__":
    main()
