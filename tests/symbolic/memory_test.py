#!/usr/bin/env python3
"""The engine's own Python gets no memory, or is interrupted, at each moment of a question: the answer is the right one, or says that
nothing was decided. It never is an exception of the code, a wrong verdict, or an incident."""
import mmap
import os
import signal
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine  # noqa: E402

EVER = 1 << 60
PLAN = tempfile.NamedTemporaryFile()
PLAN.write(struct.pack("4q", 0, EVER, EVER, 0))
PLAN.flush()
PAGE = mmap.mmap(PLAN.fileno(), 32)
TYPED = "def f(a: int):\n    from typing import NamedTuple, ClassVar\n    import statistics\n    class V(NamedTuple):\n        x: int\n    return V(a).x\n"
TEXT = "def f(a: str):\n    \"\"\"\n    pre: len(a) < 3\n    post: _ != 'Ab'\n    raises: ValueError, IndexError\n    \"\"\"\n    return a.title() + a.upper()[2:]\n"
MANY = ("import math\n\ndef f(a: int):\n    xs = [str(i) for i in range(4)]\n    d = dict(zip(xs, 'abcd'))\n    if a == 2:\n        return math.isqrt(len(xs)) + len('-'.join(xs).split('-'))\n"
        "    return sum(int(k) for k in sorted(d, reverse=True)) + int(f'{1234567:x}', 16)\n")
PATTERN = "import re\n\ndef f(a: str):\n    \"\"\"\n    pre: len(a) < 4\n    post: not _\n    \"\"\"\n    return bool(re.fullmatch(r'[a-c]+x', a))\n"
FROZEN = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n\ndef f(a: int):\n    P(a).x = 1\n"
MISSING = "def f(a: int):\n    if a > 3:\n        from math import nothing_has_this_name\n    return undefined_name\n"
# A tool, what it is asked, whether a fresh engine is needed each time, and what it says with memory.
QUESTIONS = [
    ("run", TYPED, {"arguments": "(7,)"}, True),
    ("run", MANY, {"arguments": "(2,)"}, False),
    ("run", MANY, {"arguments": "(3,)"}, False),
    ("run", MISSING, {"arguments": "(4,)"}, False),
    ("run", MISSING, {"arguments": "(1,)"}, False),
    ("check", TYPED, {}, True),
    ("check", TEXT, {}, True),
    ("check", PATTERN, {}, True),
    ("find", FROZEN, {"exception_type": "FrozenInstanceError"}, True),
    ("find", MISSING, {"exception_type": "ImportError"}, False),
]
SAMPLES = int(os.environ.get("SYMBOLIC_SAMPLES", "3"))  # moments of a question; 0: each allocation


def engine_of_ours():
    os.environ["LD_PRELOAD"], os.environ["SYMBOLIC_FAIL"] = os.environ["SYMBOLIC_FAIL_PYTHON"], PLAN.name
    plan(EVER, EVER)
    try:
        return Engine()
    finally:
        del os.environ["LD_PRELOAD"]


def plan(begin, end, interrupts=0):
    PAGE[8:32] = struct.pack("3q", begin, end, interrupts)


def counted():
    return struct.unpack("q", PAGE[:8])[0]


def asked(engine, tool, code, more):
    return engine.call(tool, code=code, function_name="f", timeout_seconds=120, **more)


def told(answer):
    """What counts in an answer."""
    found = answer.get("counterexamples", answer.get("triggering_inputs", answer.get("result")))
    return answer["status"], found if isinstance(found, str) else bool(found)


def is_undecided(answer):
    return (answer["status"] in ("error", "timeout") and answer["error_type"] in ("TimeoutError", "RuntimeError", "ValidationError")
            and "withdrawn" not in answer and "confirm" not in answer["message"] and "contradict" not in answer["message"])


def moments(total):
    step = max(1, total // SAMPLES) if SAMPLES else 1
    return range(step // 2, total, step)


def ask_without(tool, code, more, fresh, wanted, total, length, interrupts):
    """Ask at each moment; returns the number of answers that decided nothing."""
    undecided, engine = 0, engine_of_ours()
    for moment in moments(total):
        if fresh:
            engine.close()
            engine = engine_of_ours()
        begin = counted() + moment
        plan(begin, min(begin + length, EVER), interrupts)
        try:
            answer = asked(engine, tool, code, more)
        except EOFError:
            # CPython's own parser and compiler may dereference what they did not get. A process that died has decided nothing.
            assert engine.process.returncode in (-signal.SIGSEGV, -signal.SIGABRT), engine.process.returncode
            engine.socket.close()
            engine = engine_of_ours()
            undecided += 1
            continue
        finally:
            plan(EVER, EVER)
        where = (tool, more, "allocation %d of %d, %d" % (moment, total, length), answer)
        assert told(answer) == wanted or is_undecided(answer), where
        undecided += told(answer) != wanted
    assert told(asked(engine, tool, code, more)) == wanted, "it does not work afterwards"
    engine.close()
    return undecided


def all_ways(length, interrupts):
    undecided = 0
    for tool, code, more, fresh in QUESTIONS:
        engine = engine_of_ours()
        if not fresh:
            asked(engine, tool, code, more)
        before = counted()
        wanted = told(asked(engine, tool, code, more))
        total = counted() - before
        engine.close()
        assert total > 100 and wanted[0] not in ("error", "timeout"), (tool, more, total, wanted)
        undecided += ask_without(tool, code, more, fresh, wanted, total, length, interrupts)
    assert undecided, "no allocation failed"


def one_allocation_that_fails_is_no_verdict():
    all_ways(1, 0)


def many_that_fail_are_no_verdict():
    all_ways(40, 0)


def an_interrupt_is_no_verdict():
    all_ways(1, 1)


TESTS = [one_allocation_that_fails_is_no_verdict, many_that_fail_are_no_verdict, an_interrupt_is_no_verdict]
print("1..%d" % len(TESTS))
failures = 0
for number, test in enumerate(TESTS, 1):
    try:
        test()
        print("ok %d %s" % (number, test.__name__), flush=True)
    except (AssertionError, EOFError) as error:
        failures += 1
        print("# %s" % str(error)[:2000].replace("\n", "\n# "))
        print("not ok %d %s" % (number, test.__name__), flush=True)
sys.exit(failures > 0)
