#!/usr/bin/env python3
"""What a verdict rests on, and what is left of it when real Python contradicts the engine. The test stands in for real Python:
with `--replay asked` the engine asks it what a call does."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine  # noqa: E402

engine = None
DIVIDE = "def f(a: int, b: int):\n    return a // b\n"


def asked(tool, code, **more):
    names = {"function_a": "f", "function_b": "g"} if tool == "compare" else {"function_name": "f"}
    if tool == "find":
        more.setdefault("exception_type", "ZeroDivisionError")
    return engine.call(tool, code=code, timeout_seconds=240, **names, **more)


# ---- What is taken for granted -------------------------------------------------------------------


def the_type_that_was_taken_is_told():
    for annotation, taken in ((": Any", "int"), ("", "int"), (": object", "int"), (": list", "list[int]"), (": dict[str, Any]", "dict[str, int]"),
                              (": Optional[Any]", "int | None"), (": tuple", "tuple[int, ...]")):
        code = "from typing import Any, Optional\n\ndef f(a%s):\n    return a\n" % annotation
        assert asked("check", code)["assumptions"] == "a is taken as " + taken, (annotation, asked("check", code))
    answer = asked("check", "from typing import Any\n\ndef f(a: Any):\n    return a.startswith('x')\n")
    assert (answer["status"], answer["assumptions"]) == ("verified", "a is taken as str"), answer
    assert "assumptions" not in asked("check", "def f(a: int):\n    return a\n")


def functions_that_declare_different_types_are_compared_with_a_word():
    answer = asked("compare", "def f(a: int):\n    return a\n\ndef g(a: str):\n    return a\n")
    assert answer["status"] == "equivalent", answer
    assert answer["assumptions"] == "a is taken as int, as f declares it, though g declares str", answer
    answer = asked("compare", "def f(*, k: int, a: bool):\n    return a\n\ndef g(*, a: bool, k: float):\n    return a\n")
    assert answer["assumptions"] == "k is taken as int, as f declares it, though g declares float", answer
    answer = asked("compare", "class C:\n    pass\n\ndef f(a: int):\n    return a\n\ndef g(a: C):\n    return a\n")
    assert answer["assumptions"] == "a is taken as int, as f declares it, though g declares C", answer
    for other in ("a", "a: int", "b: int = 3", "a: 'int'"):
        answer = asked("compare", "def f(a: int):\n    return a\n\ndef g(%s):\n    return %s\n" % (other, other[0]))
        assert answer["status"] == "equivalent" and "assumptions" not in answer, (other, answer)


def a_type_that_only_the_second_function_declares_is_taken():
    answer = asked("compare", "def f(a):\n    return a + a\n\ndef g(a: str):\n    return a * 2\n")
    assert (answer["status"], answer["assumptions"]) == ("equivalent", "a is taken as str, as g declares it"), answer


def a_precondition_that_nothing_satisfies_is_told():
    for condition in ('    """pre: a > 1 and a < 1"""\n', '    """\n    pre: a > 1\n    pre: a < 1\n    """\n', '    """pre: a.no"""\n'):
        code = "def f(a: int):\n%s    return 1 // a\n\ndef g(a: int):\n    return 2\n" % condition
        for tool, status in (("check", "verified"), ("find", "unreachable"), ("compare", "equivalent"), ("branches", "complete")):
            answer = asked(tool, code)
            assert answer["status"] == status and answer["vacuous"] is True, (tool, answer)
            assert "no input satisfies the preconditions" in answer["assumptions"], (tool, answer)
    assert asked("check", "def f(a: int):\n    assert a != a\n    return a\n")["vacuous"] is True
    assert "vacuous" not in asked("check", 'def f(a: int):\n    """pre: a > 1"""\n    return 1 // a\n')


def a_precondition_that_a_guessed_type_cannot_satisfy_asks_for_another_type():
    answer = asked("check", 'def f(a):\n    """pre: len(a) > 1"""\n    return a[0]\n')
    assert (answer["status"], answer["assumptions"], "vacuous" in answer) == ("verified", "a is taken as str", False), answer


def an_except_line_that_runs_is_not_dead():
    code = "def f(a: int):\n    try:\n        return 1 // a\n    except KeyError:\n        return 1\n    except ZeroDivisionError:\n" \
           "        return 2\n    except ValueError:\n        return 3\n"
    assert asked("branches", code)["dead_code_lines"] == [5, 8, 9], asked("branches", code)


# ---- Real Python says something else -------------------------------------------------------------


def spelled(*fields):
    return "'%s'" % ",".join(field.encode().hex() for field in fields)


RETURNED = spelled("ran", "yes", "returned", "", "", "", "0", "5", "-1", "")
SAME = spelled("ran", "yes", "returned", "", "", "", "0", "5", "-1", "", "returned", "", "", "5", "same")
REFUSED = spelled("ran", "no")
RAISED = spelled("ran", "yes", "raised", "ZeroDivisionError", ",ZeroDivisionError,ArithmeticError,Exception,", "by zero", "2", "", "-1", "")


def played(tool, code, *results, **more):
    """(messages before the last, the last message) of an engine whose replays end like this, the last of them for all that follow;
    None: a replay gives no answer."""
    names = {"function_a": "f", "function_b": "g"} if tool == "compare" else {"function_name": "f"}
    if tool == "find":
        more.setdefault("exception_type", "ZeroDivisionError")
    asking = Engine(None, "--replay", "asked")
    asking.send({"id": 1, "operation": "symbolic." + tool, "arguments": {"code": code, "timeout_seconds": 60, **names, **more}})
    number, messages = 1, []
    while True:
        message = asking.read()
        assert message["id"] == number, message
        if "so_far" in message.get("answer", {}):
            messages.append(message["answer"])
            number += 1
            asking.send({"id": number, "operation": "engine.replayed", "arguments": {}})
            continue
        if "replay" not in message.get("answer", {}):
            if "log" not in message:
                break
            messages.append(message)
            continue
        result = results[min(number, len(results)) - 1]
        number += 1
        asking.send({"id": number, "operation": "engine.replayed", "arguments": {"result": result} if result else {"why": "its time was over"}})
    asking.close()
    return messages, message


def an_input_that_python_does_not_confirm_withdraws_every_verdict():
    both = DIVIDE + "\ndef g(a: int, b: int):\n    return a // b if b else 0\n"
    noted = "def f(a: int, b: int):\n    if a > 3:\n        return 1\n    return 2\n"
    for tool, code, result in (("check", DIVIDE, RETURNED), ("check", DIVIDE, REFUSED), ("find", DIVIDE, RETURNED), ("compare", both, SAME),
                               ("branches", noted, spelled("ran", "yes", "returned", "", "", "", "0", "'0'", "-1", ""))):
        messages, last = played(tool, code, result)
        failure, notes = last["failure"], last["notes"]
        assert (failure["code"], failure["type"], messages) == ("RUNTIME_ERROR", "RuntimeError", []), last
        assert "real Python does not confirm" in failure["message"] and "no path of it counts as verified" in failure["message"], failure
        assert failure["context"].get("paths_verified", 0) == 0 and failure["context"].get("coverage_estimate", 0.0) == 0.0, failure
        assert notes["severity"] == "critical" and notes["tool"] == tool and notes["function"] == "f" and notes["code"] == code, notes
        assert "the engine expected" in notes["contradiction"] and "engine expected" not in str(failure), notes


def what_python_did_confirm_is_told_with_a_word_and_the_operator_is_told_more():
    code = DIVIDE.replace("    return", "    if a == 7:\n        return 1 % b\n    return")
    for _ in range(30):  # after a finding a fifth of a second is left for the next path, which a busy machine may not have
        messages, last = played("check", code, RAISED, RETURNED)
        answer = last["answer"]
        assert (answer["status"], len(answer["counterexamples"])) == ("counterexample", 1), answer
        if "withdrawn" in answer:
            break
    assert (answer["paths_verified"], answer["coverage_estimate"]) == (0, 0.0), answer
    assert "real Python does not confirm" in answer["withdrawn"], answer
    assert [m["log"] for m in messages] == ["operator"] and "the engine expected" in messages[0]["words"] and code in messages[0]["words"], messages
    assert "engine expected" not in str(answer), answer


def a_replay_without_an_answer_is_no_contradiction():
    messages, last = played("check", DIVIDE, None)
    assert last["failure"]["type"] == "RuntimeError" and "notes" not in last, last
    assert last["failure"]["message"] == "An input was found, but its call in real Python gave no answer (its time was over), so it is not reported"
    full = spelled("ran", "yes", "raised", "MemoryError", ",MemoryError,Exception,", "", "2", "", "-1", "")
    assert "notes" not in played("find", DIVIDE, full)[1]


# ---- All inputs ----------------------------------------------------------------------------------

FEW = 'def f(n: int):\n    """\n    pre: 0 <= n <= 9\n    post: _ >= %s\n    """\n    return %s\n'


def settled(method, tool, code, **more):
    """The paths beside the calls have half a second, which a busy machine may not have: then it is asked again."""
    for _ in range(30):
        answer = asked(tool, code, **more)
        if answer.get("method") == method:
            break
        assert method == "both" and answer["method"] == "enumeration", answer
    return answer


def the_answer_says_how_it_was_found():
    for code, method, called in ((FEW % (0, "n + 1"), "both", 10), (FEW % (0, "len(f'{n:#x}')"), "enumeration", 10),
                                 (FEW.replace("<= 9", "<= 999999") % (0, "n + 1"), "paths", None)):
        answer = settled(method, "check", code)
        assert (answer["status"], answer["method"], answer.get("inputs_called")) == ("verified", method, called), answer
        assert answer["coverage_estimate"] == 1.0, answer
        answer = settled(method, "find", code, exception_type="KeyError")
        assert (answer["status"], answer["method"]) == ("unreachable", method), answer
        answer = settled(method, "compare", code + code.replace("f(n", "g(n"))
        assert (answer["status"], answer["method"]) == ("equivalent", method), answer
    answer = asked("check", FEW % (1, "int(f'{n - 5:#x}'[-1] != '0')"))
    assert (answer["status"], answer["method"], len(answer["counterexamples"])) == ("counterexample", "enumeration", 1), answer
    assert answer["counterexamples"][0]["args"] == {"n": 5} and answer["counterexamples"][0]["path_condition"] == "n == 5", answer
    assert asked("branches", FEW % (0, "n"))["method"] == "paths"


def up_to_20000_inputs_are_called():
    for most, status in ((141, "verified"), (142, "error")):
        code = 'def f(a: int, b: int):\n    """pre: 1 <= a <= %d and 1 <= b <= %d"""\n    return f"{a:#x}{b:#x}"\n' % (most, 141)
        answer = asked("check", code)
        assert answer["status"] == status, (most, answer)
    assert "inputs_called" not in answer, answer


def each_call_is_the_first_one():
    code = 'seen = []\n\ndef f(n: bool):\n    """post: _ == 1"""\n    seen.append(n)\n    return int(f"{len(seen):d}")\n'
    assert asked("check", code)["status"] == "verified", asked("check", code)
    answer = asked("compare", code + "\ndef g(n: bool):\n    return int(f'{1:d}')\n")
    assert answer["status"] == "error" and "Unsupported" in answer["message"], answer  # what f leaves behind, g does not


def every(calls, held, found, *fields):
    return spelled("every", str(calls), str(held), found, *fields)


def a_finding_among_all_inputs_that_no_path_has_contradicts_the_paths():
    broken = "ran", "yes", "returned", "", "", "", "0", "-1", "0", "False"
    messages, last = played("check", FEW % (0, "n + 1"), every(10, 10, "7", *broken))
    answer = last["answer"]
    assert (answer["status"], answer["method"], answer["paths_verified"]) == ("counterexample", "enumeration", 0), answer
    assert answer["counterexamples"][0]["call"] == "f(7)" and "f(7)" in answer["withdrawn"], answer
    assert [m["log"] for m in messages] == ["operator"], messages


def only_calls_of_all_inputs_are_a_proof():
    odd = FEW % (0, "len(f'{n:#x}')")
    for result in (every(9, 9, ""), every(11, 11, ""), spelled("every", "10", "10"), None, spelled("load", "its time was over"),
                   every(10, 10, "7"), every(10, 10, "", "ran"), every(10, 10, "7", *["ran"] * 9), every(10, 10, "1 2", *["ran"] * 15)):
        _, last = played("check", odd, result, None)
        assert last["failure"]["type"] == "RuntimeError" and "Unsupported" in last["failure"]["message"], (result, last)
    assert played("check", odd, every(10, 10, ""))[1]["answer"]["status"] == "verified"
    answer = played("check", odd, every(10, 0, ""))[1]["answer"]
    assert (answer["status"], answer["vacuous"]) == ("verified", True), answer


def a_bound_of_an_annotation_is_a_precondition():
    code = "from typing import Annotated\n\ndef f(n: Annotated[int, %s]):\n    return 1 // n\n"
    for said, status in (("range(1, 5)", "verified"), ("range(5)", "counterexample"), ("'any'", "counterexample")):
        assert asked("check", code % said)["status"] == status, said
    for said in ("Ge(1)", "Gt(0)", "Lt(0)", "Le(-1)", "Interval(gt=0, le=3)"):
        classes = "class %s:\n    def __init__(self, *n, **k): pass\n\n" % said.split("(")[0]
        assert asked("check", classes + code % said)["status"] == "verified", said


# ---- Some inputs ---------------------------------------------------------------------------------

HARD = "    if a ** 3 + b ** 3 + c ** 3 == 33 and a * b * c != 0:\n        return 1\n"


def a_call_of_typical_inputs_finds_what_the_solver_does_not_get_to():
    head = "def f(a: int, b: int, c: int):\n"
    for body, tool, told in (("    return 1 // (a - 4711)\n", "check", "counterexamples"), ("    return 1 // (b + 77)\n", "find", "triggering_inputs")):
        answer = asked(tool, head + HARD + body)
        assert answer["method"] == "enumeration" and "ZeroDivisionError" in str(answer[told]), answer
        assert eval(answer[told][0]["path_condition"], {}, answer[told][0]["args"]), answer
    answer = asked("compare", head + HARD + "    return 0\n\ndef g(a: int, b: int, c: int):\n" + HARD + "    return a == 99\n")
    assert (answer["status"], answer["method"], answer["distinguishing_input"]["args"]["a"]) == ("different", "enumeration", 99), answer


def constants_of_the_code_are_among_the_inputs():
    for code, args in (("def f(s: str):\n    if s.encode('utf-16') == b'x' or s == 'per cent':\n        raise ValueError\n", {"s": "per cent"}),
                       ("def f(xs: list[int]):\n    if f'{sum(xs):d}' == '12':\n        raise ValueError\n    return 12\n", {"xs": [12]}),
                       ("def f(x: float):\n    if x.hex() == (3.0).hex():\n        return 1 // 0\n    return 2\n", {"x": "float(3)"})):
        answer = asked("check", code)
        assert answer["status"] == "counterexample" and answer["counterexamples"][0]["args"] == args, answer


def what_is_known_so_far_is_told_before_the_analysis_is_over():
    code = "def f(a: int, b: int, c: int):\n    if a == 5:\n        return 1\n" + HARD.replace("return 1", "return 1 // 0") + "    return 2\n"
    for seconds in 3, 15, 60:  # a busy machine has nothing to tell so soon
        messages, last = played("check", code, None, timeout_seconds=seconds)
        assert last["failure"]["type"] == "TimeoutError" and last["failure"]["context"]["time_seconds"] >= 2, last
        told = [m["so_far"] for m in messages if "so_far" in m]
        if told:
            break
    assert told and set(told[0]) == {"paths_explored", "paths_verified", "coverage_estimate"}, messages
    for seconds in 3, 15, 60:
        messages, last = played("find", code, None, timeout_seconds=seconds)
        if any("so_far" in m for m in messages):
            break
    assert any("total_paths_explored" in m.get("so_far", ()) for m in messages), messages


def main():
    global engine
    engine = Engine()
    tests = [(name, test) for name, test in globals().items() if name.count("_") > 2 and getattr(test, "__module__", "") == "__main__" and callable(test)]
    good = True
    print("1..%d" % len(tests))
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print("ok %d %s" % (number, name), flush=True)
        except (AssertionError, EOFError, KeyError) as error:
            good = False
            print("not ok %d %s\n# %r" % (number, name, error), flush=True)
    engine.close()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
