#!/usr/bin/env python3
"""The engine as a worker: code that never ends or takes all memory is a structured failure in time, and the process lives on."""
import ctypes
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine  # noqa: E402

SLOW = float(os.environ.get("SYMBOLIC_SLOW", "60"))  # what a busy machine may add, in seconds
engine = None


def asked(code, seconds=2, tool="check", **more):
    begun = time.monotonic()
    answer = engine.call(tool, code=code, function_name="f", timeout_seconds=seconds, **more)
    took = time.monotonic() - begun
    assert took < seconds + SLOW, took
    assert engine.call("check", code="def f(x: int):\n    return x\n", function_name="f")["status"] == "verified"
    return answer


def a_loop_that_never_ends_is_a_timeout():
    answer = asked("def f(x: int):\n    while True:\n        x += 1\n", 1)
    assert answer["status"] == "timeout" and answer["error_type"] == "TimeoutError", answer


def a_loop_that_never_ends_is_no_unreachable_exception():
    answer = asked("def f(x: int):\n    while x == x:\n        x += 1\n    raise ValueError\n", 1, "find", exception_type="ValueError")
    assert answer["status"] == "error" and answer["error_type"] == "TimeoutError", answer


def a_search_for_a_hard_number_ends_at_its_deadline():
    answer = asked("def f(x: int, y: int, z: int):\n    if x ** 3 + y ** 3 + z ** 3 == 33 and x * y * z != 0:\n        raise ValueError\n", 1)
    assert answer["status"] == "timeout", answer
    assert "paths" in answer["message"], answer


def exponentially_many_paths_end_at_the_deadline():
    # Sides with a `try` do not join.
    lines = "".join("    if (x * %d) %% %d == 1:\n        try:\n            xs.append(x)\n        except ValueError:\n            pass\n" % (i, i + 3)
                    for i in range(1, 30))
    answer = asked("def f(x: int):\n    xs = []\n" + lines + "    assert len(xs) != 28\n", 1)
    assert answer["status"] in ("timeout", "counterexample"), answer
    assert answer["coverage_estimate"] < 1 or answer["status"] == "counterexample", answer


def a_huge_power_is_a_failure():
    for words in ("10 ** 10 ** 10", "1 << 10 ** 12"):
        answer = asked("def f(x: int):\n    return %s\n" % words)
        assert answer["status"] in ("timeout", "error") and "limit" in answer["message"], answer


def a_huge_list_is_a_failure():
    for words in ("[0] * (2 * 10 ** 9)", "'a' * 10 ** 12", "list(range(10 ** 10))"):
        answer = asked("def f(x: int):\n    return len(%s)\n" % words, 4)
        assert answer["status"] in ("timeout", "error"), answer


def a_huge_list_at_the_top_of_the_module_is_a_failure():
    answer = asked("big = [0] * (2 * 10 ** 9)\n\ndef f(x: int):\n    return big[0]\n", 4)
    assert answer["status"] in ("timeout", "error"), answer


def memory_that_grows_in_a_loop_ends_at_a_limit():
    answer = asked("def f(x: int):\n    s = 'ab'\n    while True:\n        s = s + s\n", 4)
    assert answer["status"] == "timeout", answer


def a_recursion_without_end_is_found_and_ends():
    answer = asked("def f(x: int):\n    return f(x + 1)\n", 4)
    assert answer["status"] == "counterexample" and "RecursionError" in json.dumps(answer), answer


def a_replay_that_hangs_does_not_end_the_analysis():
    # The interpreter does not know this method, so real Python is asked, and does not answer in time.
    answer = asked("import re\n\ndef f(x: int):\n    return re.match('(a+)+$', 'a' * 60 + 'b')\n", 3)
    assert answer["status"] == "error" and "Unsupported" in answer["message"], answer


def a_witness_can_be_replayed_where_there_are_no_children():
    here = Engine(None, "--replay", "here")
    answer = here.call("check", code="def f(x: int):\n    y = x\n    assert y != 7\n", function_name="f")
    assert answer["counterexamples"][0]["args"] == {"x": 7}, answer
    begun = time.monotonic()
    answer = here.call("check", code="def g():\n    while True:\n        try:\n            h()\n        except Exception:\n            pass\n\n"
                       "def h():\n    return 'a'.encode('utf-16')\n\ndef f(x: int):\n    return g()\n", function_name="f", timeout_seconds=5)
    assert answer["status"] in ("error", "timeout") and time.monotonic() - begun < 5 + SLOW, answer
    assert here.call("find", code="def f(x: int):\n    return 1 // x\n", function_name="f", exception_type="ArithmeticError")["status"] == "found"
    here.close()


def random_numbers_and_the_time_are_not_supported():
    for words in ("import random\n\ndef f(x: int):\n    return random.random()\n",
                  "from datetime import datetime\n\ndef f(x: int):\n    return datetime.now()\n",
                  "import random\n\ndef f(x: int):\n    raise ValueError(random.randint(1, 9))\n",
                  "import datetime\n\ndef f(x: int):\n    n = datetime.date.today().year\n    assert n < 2000\n",
                  "from random import choice\n\ndef f(x: int):\n    try:\n        choice([1])\n    finally:\n        return 1 // x\n"):
        answer = asked(words)
        assert answer["status"] == "error" and "Unsupported construct at line" in answer["message"], answer


def processor_time():
    with open("/proc/%d/stat" % engine.process.pid, encoding="latin-1") as file:
        return int(file.read().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")


def an_interrupted_call_fails_and_the_next_one_works():
    engine.id += 1
    engine.send({"id": engine.id, "operation": "symbolic.check", "arguments": {
        "code": "def f(x: int, y: int, z: int):\n    assert x ** 3 + y ** 3 + z ** 3 != 42\n    return 1\n\n"
                "def g(x: int, y: int, z: int):\n    r = 1\n    assert x ** 3 + y ** 3 + z ** 3 != 42 or x * y * z == 0\n    return r\n",
        "function_name": "g", "timeout_seconds": 300}})
    until, begun = processor_time() + 0.5, time.monotonic()
    while processor_time() < until and time.monotonic() < begun + 120:  # the analysis has begun
        time.sleep(0.05)
    begun = time.monotonic()
    os.kill(engine.process.pid, signal.SIGINT)
    reply = engine.read()
    assert reply["failure"]["code"] == "TIMEOUT" and time.monotonic() - begun < SLOW, reply
    os.kill(engine.process.pid, signal.SIGINT)
    assert engine.call("check", code="def f(x: int):\n    return x\n", function_name="f")["status"] == "verified"


def the_limit_of_a_call_counts_too():
    engine.id += 1
    begun = time.monotonic()
    engine.send({"id": engine.id, "operation": "symbolic.check", "limit_ms": 1500, "arguments": {
        "code": "def g(x: int, y: int, z: int):\n    r = 1\n    assert x ** 3 + y ** 3 + z ** 3 != 42 or x * y * z == 0\n    return r\n",
        "function_name": "g", "timeout_seconds": 100}})
    assert engine.read()["failure"]["type"] == "TimeoutError"
    assert time.monotonic() - begun < 1.5 + SLOW


def health_names_both_solvers():
    answer = engine.call("health")
    assert answer["status"] == "healthy" and all(answer[name][0].isdigit() for name in ("z3_version", "cvc5_version", "python_version")), answer


def a_failure_names_no_path_of_the_machine():
    for code in ("def f(x):\n  return (\n", "import nothing\n", "async def f(x: int):\n    pass\n"):
        answer = engine.call("check", code=code, function_name="f")
        assert "/" not in answer["message"].replace("and/or", "") and "Traceback" not in answer["message"], answer


def what_a_path_leaves_is_not_seen_by_the_next():
    answer = asked("seen = []\n\ndef f(x: int):\n    seen.append(x)\n    if x > 0:\n        seen.append(1)\n    assert len(seen) <= 2\n")
    assert answer["status"] == "verified", answer


def one_worker_answers_many_calls():
    for i in range(40): # more than one context of the solver takes
        answer = engine.call("check", code="def f(x: int):\n    assert x != %d\n    return x\n" % i, function_name="f")
        assert answer["status"] == "verified", answer
        answer = engine.call("find", code="def f(x: int):\n    y = x\n    assert y != %d\n" % i, function_name="f", exception_type="AssertionError")
        assert answer["triggering_inputs"][0]["args"]["x"] == i, answer


def a_fault_inside_of_a_solver_is_told_as_such():
    """A signal hits the thread that works, again and again in new processes, until one was inside of Z3."""
    hard = "def f(x: int, y: int, z: int):\n    if x ** 3 + y ** 3 + z ** 3 == 33 and x * y * z != 0:\n        raise ValueError\n"

    def hit(process, after):
        time.sleep(after)
        for thread in os.listdir("/proc/%d/task" % process.pid):
            if int(thread) != process.pid:
                ctypes.CDLL(None).tgkill(process.pid, int(thread), signal.SIGSEGV)

    for attempt in range(20):
        own = Engine()
        hitting = threading.Thread(target=hit, args=(own.process, 0.5 + attempt / 4))
        hitting.start()
        try:
            answer = own.call("check", code=hard, function_name="f", timeout_seconds=30)
            assert answer["message"] == "A solver ended the engine.", answer
            return
        except EOFError as error:
            assert "-11" in str(error), error  # told or not, the signal ends the process
        finally:
            hitting.join()
            own.process.kill()
            own.close()
    raise AssertionError("Z3 was never hit")


class Scripted(Engine):
    """Stands in for an engine: the answers that it gives, and how much of the time by the clock it has the processor."""

    def __init__(self, share, *messages):
        self.share, self.messages, self.used, self.waits = share, list(messages), 0, []

    def processor_seconds(self):
        return self.used

    def call(self, tool, timeout_seconds, **arguments):
        self.waits.append(timeout_seconds)
        self.used += self.share * timeout_seconds
        message = self.messages.pop(0)
        return {"status": "timeout", "error_type": "TimeoutError", "message": message} if message else {"status": "verified"}


def a_question_is_asked_again_if_the_engine_did_not_get_its_processor_time():
    over = "The time was over after 1.0 seconds; 0 paths were explored"
    busy = Scripted(0.1, over, over, "")
    assert busy.patient("check", 10)["status"] == "verified" and len(busy.waits) == 3 and busy.waits[1] > busy.waits[0] == 10, busy.waits
    # With its processor time it is not asked again, nor at another limit; and not for ever.
    for share, messages, times in ((0.95, [over], 1), (0.1, ["Not every path was explored"], 1), (0.01, 9 * [over], 4)):
        asking = Scripted(share, *messages)
        assert asking.patient("check", 10)["message"] == messages[0] and len(asking.waits) == times, asking.waits


def main():
    global engine
    engine = Engine()
    tests = [(name, test) for name, test in globals().items() if name.count("_") > 1 and getattr(test, "__module__", "") == "__main__" and callable(test)]
    good = True
    print("1..%d" % len(tests))
    for number, (name, test) in enumerate(tests, 1):
        begun = time.monotonic()
        try:
            test()
            print("ok %d %s # %.1f s" % (number, name, time.monotonic() - begun), flush=True)
        except (AssertionError, EOFError) as error:
            good = False
            print("not ok %d %s\n# %s" % (number, name, str(error)[:1000]), flush=True)
            if isinstance(error, EOFError):
                engine = Engine()
    engine.close()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
