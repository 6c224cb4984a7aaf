"""Figures of benchmarks (bench/figures.py, bench/measure.h): what is refused, and that a verdict follows from what is printed.

    OUTCOME_PROGRAM=… python3 tests/bench/figures_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import io
import os
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parent.parent / "bench"
sys.path[:0] = [str(HERE.parent / "cli"), str(BENCH)]
import figures  # noqa: E402
from blackbox import equal, expect, main, run_program, test, tests_of  # noqa: E402

OUTCOME = os.environ["OUTCOME_PROGRAM"]
ROW = re.compile(r"(?P<what>.*?) +(?P<value>[\d,.]+) ?(?P<unit>\S*) {3}at (?P<side>most|least) (?P<target>[\d,.e+]+) ?(?P=unit) +(?P<verdict>\S+)\n")


def printed(*given, **more):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        figures.row(*given, **more)
    return out.getvalue()


def program(code, others="0"):
    return run_program(sys.executable, "-c", "import sys\nsys.path.insert(0, %r)\nimport figures\n%s" % (str(BENCH), code), env={"BENCH_OTHERS": others})


def refused(done, *words):
    """It ends with 1 and one sentence, and prints no figure."""
    equal((done.status, done.out), (1, b""), done.err)
    text = done.err.decode()
    expect(text.startswith("mishap: void: ") and text.count("\n") == 1 and all(word in text for word in words), text)


@tests_of({"zero": ("0", "is 0"), "zero of a float": ("0.0", "is 0.0"), "less than zero": ("-1.5", "is -1.5"),
           "not a number": ("float('nan')", "is nan"), "infinity": ("float('inf')", "is inf"), "nothing": ("None", "is None")})
def a_benchmark_exits_with_1_instead_of_printing(value, words):
    refused(program("figures.run(lambda: figures.row('CPU a call', %s, 'µs', at_most=3))" % value), "CPU a call", words, "nothing was measured")


@tests_of({
    "no measurements": "figures.median('CPU', [])",
    "fewer rounds than were asked for": "figures.median('CPU', [1.0, 2.0], 3)",
    "one of them zero": "figures.median('CPU', [1.0, 0, 2.0])",
    "one of them NaN": "figures.median('CPU', [1.0, float('nan'), 2.0])",
    "more rounds on one side": "figures.ratios('CPU', [1.0, 2.0], [1.0])",
    "a ratio to zero": "figures.ratios('CPU', [1.0], [0.0])",
    "no calls": "figures.answered('CPU', 0, 0)",
    "fewer calls than were asked for": "figures.answered('CPU', 99, 100)",
    "a connection failed": "figures.answered('CPU', 100, 100, wrong=1)",
    "a call was refused": "figures.answered('CPU', 100, 100, refused=1)",
    "a call that should be refused was not": "figures.answered('CPU', 100, 100, refused=99, expected=100)"})
def a_benchmark_exits_with_1(code):
    refused(program("figures.run(lambda: %s)" % code), "CPU")


@test
def a_missed_target_is_printed_and_exits_with_0():
    done = program("figures.run(lambda: figures.row('CPU a call', 3.01, 'µs', at_most=3))")
    equal((done.status, done.err), (0, b""))
    found = ROW.fullmatch(done.out.decode())
    expect(found and found["verdict"] == "MISSED", done.out)


@tests_of({"of this machine": ("0.11", "unsure"), "as much as is allowed": ("0.1", "met")})
def a_verdict_depends_on_other_programs(others, verdict):
    done = program("figures.run(lambda: figures.row('CPU a call', 2.99, 'µs', at_most=3))", others)
    equal((done.status, done.out.decode().split("\n")[0].split()[-1]), (0, verdict), done.err)


@tests_of({
    "at most, below": (2.99, {"at_most": 3}, "met"),
    "at most, the same": (3.0, {"at_most": 3}, "met"),
    "at most, the same as printed": (3.001, {"at_most": 3}, "met"),
    "at most, above": (3.01, {"at_most": 3}, "MISSED"),
    "at least, above": (8.1, {"at_least": 8}, "met"),
    "at least, the same": (8, {"at_least": 8}, "met"),
    "at least, below": (7.98, {"at_least": 8}, "MISSED"),
    "a busy machine": (2.99, {"at_most": 3, "sure": False}, "unsure"),
    "a small figure": (0.000123, {"at_most": 0.0001}, "MISSED"),
    "a large figure": (1234567, {"at_most": 1300000}, "met")})
def a_verdict(value, target, verdict):
    found = ROW.fullmatch(printed("a row", value, "µs", **target))
    expect(found and found["verdict"] == verdict, printed("a row", value, "µs", **target))


@test
def verdicts_follow_from_the_figures_that_are_printed():
    chance = random.Random(19)
    for _ in range(2000):
        target = chance.choice([0.7, 1.05, 1.5, 3, 5, 20, 80, 300, 1500])
        value = target * chance.choice([chance.uniform(0.001, 1000), chance.uniform(0.99, 1.01), 1])
        side = chance.choice(["most", "least"])
        text = printed("a row", value, chance.choice(["×", "ms", "µs"]), **{"at_" + side: target})
        found = ROW.fullmatch(text)
        expect(found and found["side"] == side, text)
        shown, goal = (float(found[name].replace(",", "")) for name in ("value", "target"))
        expect(shown > 0 and goal == target, text)
        equal(found["verdict"], "met" if (shown <= goal if side == "most" else shown >= goal) else "MISSED", text)


# ---- The same in C -------------------------------------------------------------------------------------------------------


@tests_of({"below": ("2.99", "2", "3", "2.99 met"), "the same": ("3", "2", "3", "3.00 met"),
           "the same as printed": ("3.004", "2", "3", "3.00 met"), "above": ("3.006", "2", "3", "3.01 MISSED"),
           "without decimal places": ("1500.4", "0", "1500", "1500 met")})
def a_verdict_in_c(value, places, target, words):
    equal(run_program(OUTCOME, value, places, target), (0, words.encode() + b"\n", b""))


@tests_of({"zero": "0", "less than zero": "-1", "not a number": "nan", "infinity": "inf"})
def a_program_in_c_exits_with_1_instead_of_printing(value):
    refused(run_program(OUTCOME, value, "2", "3"), "a figure", "nothing was measured")


main()
