#!/usr/bin/env python3
"""Inputs that are called before the solver is asked: which of them are findings, and which must not be; what is told of an analysis
that has not come to its end. `as_integer_ratio` is what the engine does not model: the paths settle nothing there."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, loaded, sample  # noqa: E402
from process_cases import DETERMINED, HIDES, RESTS, SHOWS, WRITES  # noqa: E402

engine = None
HARD = "    if a ** 3 + b ** 3 + c ** 3 == 33 and a * b * c != 0:\n        return 1 // 0\n"


def asked(tool, code, **more):
    names = {"function_a": "f", "function_b": "g"} if tool == "compare" else {"function_name": "f"}
    if tool == "find":
        more.setdefault("exception_type", "ValueError")
    if "timeout_seconds" in more:
        return engine.call(tool, code=code, **{**names, **more})
    return engine.patient(tool, 60, code=code, **{**names, **more})


def confirmed(tool, code, member, **more):
    """The answer with a finding. Other processes have to confirm it, for which a busy machine may be too slow: then the question is asked again."""
    for _ in range(10):
        answer = asked(tool, code, **more)
        if answer.get(member):
            break
    return answer


def raising(condition, head="", pre="", kind="ValueError"):
    return "%sdef f(n: int, m: int):\n%s    k = n.as_integer_ratio()[0]\n    if %s:\n        raise %s\n    return k\n" % (head, pre, condition, kind)


def nothing_is_found(code, **more):
    for tool in ("find", "check"):
        answer = asked(tool, code, **more)
        assert "vacuous" in answer or (answer["status"] == "error" and "Unsupported" in answer["message"]), (tool, answer)
        assert answer["status"] not in ("found", "counterexample") and not answer.get("triggering_inputs") and not answer.get("counterexamples"), (tool, answer)


def typical_inputs_and_constants_are_called_first():
    for condition, call in (("k == 10 and m == 1", "f(10, 1)"), ("k > 4000 and m == 0", "f(4001, 0)"), ("k == -1 and m == 100", "f(-1, 100)")):
        answer = asked("find", raising(condition))
        assert (answer["status"], answer["method"], answer["triggering_inputs"][0]["call"]) == ("found", "enumeration", call), answer
        assert answer["total_paths_explored"] == 0 and answer["triggering_inputs"][0]["exception"] == "ValueError (line 4)", answer
        answer = asked("check", raising(condition))
        assert (answer["status"], answer["counterexamples"][0]["call"]) == ("counterexample", call), answer
    code = "def f(n: int):\n    return n.as_integer_ratio()\n\ndef g(n: int):\n    return n.as_integer_ratio() if n != 77 else 0\n"
    answer = asked("compare", code)
    assert (answer["status"], answer["distinguishing_input"]["call"]) == ("different", "f(77)"), answer
    assert (answer["distinguishing_input"]["result_a"], answer["distinguishing_input"]["result_b"]) == ("(77, 1)", "0"), answer


def a_finding_is_told_though_the_solver_would_get_stuck():
    code = "def f(a: int, b: int, c: int):\n" + HARD + "    return 2 // (a - 4711)\n"
    for tool, name in (("check", "counterexamples"), ("find", "triggering_inputs")):
        answer = asked(tool, code, timeout_seconds=300, **({"exception_type": "ZeroDivisionError"} if tool == "find" else {}))
        assert answer["method"] == "enumeration" and answer[name][0]["args"]["a"] == 4711, answer
        assert answer["time_seconds"] < 200, answer


def what_the_preconditions_exclude_is_no_finding():
    for pre in ("n > 5", "n > 5 and m not in (0, 1)", "n.as_integer_ratio()[0] > 5", "m.no", "1 // 0"):
        nothing_is_found(raising("k <= 5", pre='    """pre: %s"""\n' % pre))
    # … nor what a precondition leaves behind, or the call of another input.
    head = "seen = []\ndef note(n):\n    seen.append(n)\n    return True\n\n"
    nothing_is_found(raising("seen", head, '    """pre: note(n)"""\n'))
    nothing_is_found(raising("len(seen) > 1 or (seen.append(n) and False)", "seen = []\n\n"))
    nothing_is_found(raising("count() > 1", "def count(seen=[]):\n    seen.append(1)\n    return len(seen)\n\n"))
    nothing_is_found("class C:\n    n = 0\n\n" + raising("C.n", "", "    C.n += 1\n").replace("C.n:", "C.n > 1:"))


def asserts_at_the_beginning_are_preconditions_of_check_alone():
    code = "def f(n: int):\n    assert n > 5\n    return n.as_integer_ratio()\n"
    assert asked("check", code)["status"] == "error", asked("check", code)
    assert asked("find", code, exception_type="AssertionError")["status"] == "found"


def what_rests_on_chance_or_the_process_is_no_finding():
    for head, condition in (("import random\n\n", "random.random() < 2"), ("import random\n\n", "random.randint(1, 2) < 3"),
                            ("from random import shuffle\n\ndef mixed():\n    xs = [1, 2]\n    shuffle(xs)\n    return xs\n\n", "mixed()"),
                            ("from datetime import datetime\n\n", "datetime.now().year > 2000"),
                            ("import random\nseed = random.random()\n\n", "seed < 2")):
        nothing_is_found(raising(condition, head))
    # Replays have the seed 0: what is true with it is not true with others.
    letters = "{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}"
    said = subprocess.run([sys.executable, "-c", "print(list(%s), hash('a'))" % letters], env={"PYTHONHASHSEED": "0"}, capture_output=True, check=True)
    order, number = said.stdout.decode().strip().rsplit(" ", 1)
    nothing_is_found(raising("list(%s) == %s" % (letters, order)))
    nothing_is_found(raising("k == 10 and list(%s) == %s" % (letters, order)))
    nothing_is_found(raising("hash('a') == %s" % number))
    # … and what is true with each of them is a finding.
    assert asked("find", raising("k == 10 and len(set('abca')) == 3"))["triggering_inputs"][0]["args"]["n"] == 10


def of_bool(head, body):
    return head + "def f(x: bool) -> bool:\n    '''post: _'''\n" + "".join("    %s\n" % line for line in body.split("\n"))


def calls_of_all_inputs_prove_nothing_where_an_address_may_show():
    for head, body in sample(SHOWS):
        answer = asked("check", of_bool(head, body))
        assert answer["status"] == "error" and "prove nothing" in answer["message"], (head, body, answer)
    for head, body in sample(WRITES):
        answer = asked("check", of_bool(head, body))
        says = ("prove nothing", "has the address of an object in it")
        assert answer["status"] == "error" and any(words in answer["message"] for words in says), (head, body, answer)
    # So does a postcondition.
    answer = asked("check", "def f(x: bool):\n    \"\"\"post: str(next(iter([]), iter([])))[-3] != 'x'\"\"\"\n    return x.as_integer_ratio()\n")
    assert answer["status"] == "error" and "has the address of an object in it" in answer["message"], answer
    for tool, code, more in (("find", "def f(x: bool):\n    if %s:\n        raise KeyError\n", {"exception_type": "KeyError"}),
                             ("compare", "def f(x: bool):\n    return %s\n\ndef g(x: bool):\n    return False\n", {}),
                             ("branches", "def f(x: bool):\n    if %s:\n        return 1\n    return 2\n", {})):
        answer = asked(tool, code % "str(lambda: 1)[-3] == 'x'", **more)
        assert answer["status"] == "error" and (tool == "branches" or "line 2 makes may have the address of an object" in answer["message"]), answer
    # A finding that other processes confirm is one.
    code = "def f(x: bool):\n    '''post: not _'''\n    return str(lambda: 1)[-1] == '>'\n\ndef g(x: bool):\n    return False\n"
    assert confirmed("check", code, "counterexamples")["counterexamples"][0]["call"] == "f(False)"
    assert confirmed("compare", code, "distinguishing_input")["distinguishing_input"]["result_a"] == "True"
    code = "def f(x: bool):\n    if repr(object())[-1] == '>':\n        raise KeyError\n"
    assert confirmed("find", code, "triggering_inputs", exception_type="KeyError")["status"] == "found"


def calls_of_all_inputs_prove_nothing_of_what_rests_on_the_process():
    for head, body, words in sample(RESTS):
        answer = asked("check", of_bool(head, "x.as_integer_ratio()\n" + body))
        assert answer["status"] == "error" and "prove nothing" in answer["message"] and words in answer["message"], (head, body, answer)
    for body in ("datetime.now().year > 2000", "datetime.today().year > 2000", "datetime.utcnow().year > 2000"):
        answer = asked("check", of_bool("from datetime import datetime\n", "x.as_integer_ratio()\nreturn " + body))
        assert answer["status"] == "error", (body, answer)
    for module in ("os", "time", "secrets", "uuid", "sys"):
        assert asked("check", of_bool("import %s\n" % module, "return True"))["error_type"] == "ValidationError", module


def calls_that_lacked_memory_prove_nothing():
    # Another machine may have more.
    for body in ("y = False\ntry:\n    bytes(3_000_000_000)\n    y = True\nfinally:\n    return not y",
                 "try:\n    bytes(3_000_000_000)\nexcept Exception:\n    return True\nreturn False",
                 "try:\n    bytes(3_000_000_000)\nexcept:\n    return False\nreturn True"):
        answer = asked("check", of_bool("", "x.as_integer_ratio()\n" + body))
        assert answer["status"] == "error" and "it needs more memory than it may have" in answer["message"], (body, answer)
    # A size that no machine has is the same everywhere.
    body = "try:\n    'a' * 2 ** 62\nexcept Exception:\n    return x.as_integer_ratio()[1] == 1\nreturn False"
    assert asked("check", of_bool("", body))["status"] == "verified"


def calls_of_all_inputs_prove_what_rests_on_the_inputs_alone():
    for head, body in sample(HIDES + DETERMINED):
        answer = asked("check", of_bool(head, body))
        assert (answer["status"], answer.get("inputs_called")) == ("verified", 2), (head, body, answer)
    code = "def f(x: bool):\n    return str(x.as_integer_ratio())\n\ndef g(x: bool):\n    return '(%d, 1)' % x\n"
    assert (asked("compare", code)["status"], asked("compare", code)["method"]) == ("equivalent", "enumeration")


def find_knows_exceptions_of_functions_classes_and_modules():
    inner = "def f(n: int):\n    class Bad(ValueError):\n        pass\n    if n > 5:\n        raise Bad(n)\n    return n\n"
    deep = "def g(n):\n    class Bad(Exception):\n        pass\n    raise Bad\n\ndef f(n: int):\n    if n == 7:\n        g(n)\n"
    nested = "class Outer:\n    class Bad(Exception):\n        pass\n\ndef f(n: int):\n    if n == 7:\n        raise Outer.Bad\n"
    derived = "class Base(Exception):\n    pass\n\ndef f(n: int):\n    class Bad(Base):\n        pass\n    n.as_integer_ratio()\n    if n == 7:\n        raise Bad\n"
    other = "Bad = ValueError\n\ndef f(n: int):\n    if n == 3:\n        raise Bad\n"
    read = "from json import JSONDecodeError as Bad, loads\n\ndef f(s: str):\n    return loads(s)\n"
    made = "import decimal\n\ndef f(s: str):\n    return decimal.Decimal(s)\n"
    part = "from decimal import Decimal\n\ndef f(s: str):\n    return Decimal(s)\n"
    frozen = "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass P:\n    x: int\n\ndef f(n: int):\n    P(n).x = 1\n"
    for code, name, said in ((deep, "Bad", "Bad (line 4)"), (nested, "Bad", "Bad (line 7)"),
                             (nested, "Outer.Bad", "Bad (line 7)"), (derived, "Bad", "Bad (line 9)"), (derived, "Base", "Bad (line 9)"), (other, "Bad", "ValueError (line 5)"),
                             (read, "Bad", "JSONDecodeError: "), (read, "JSONDecodeError", "JSONDecodeError: "), (made, "InvalidOperation", "InvalidOperation: "),
                             (made, "decimal.InvalidOperation", "InvalidOperation: "), (part, "InvalidOperation", "InvalidOperation: "),
                             (frozen, "FrozenInstanceError", "FrozenInstanceError: "), (frozen, "dataclasses.FrozenInstanceError", "FrozenInstanceError: ")):
        answer = asked("find", code, exception_type=name)
        assert answer["status"] == "found" and answer["triggering_inputs"][0]["exception"].startswith(said), (code, name, answer)
    for name in ("Bad", "ValueError"):  # by a path it is 6, and on a slow machine a typical input
        answer = asked("find", inner, exception_type=name)
        found = answer["triggering_inputs"][0]
        assert found["args"]["n"] > 5 and found["exception"] == "Bad: %d (line 5)" % found["args"]["n"], answer
    unused = "def f(n: int):\n    class Bad(Exception):\n        pass\n    return n\n"
    assert asked("find", unused, exception_type="Bad")["status"] == "unreachable"
    for code, name in ((unused, "Worse"), (unused.replace("(Exception)", ""), "Bad"), ("Bad = 1\n\n" + unused.replace("Bad", "C"), "Bad"), (made, "Context"), (part, "Decimal"), (frozen, "JSONDecodeError")):
        answer = asked("find", code, exception_type=name)
        assert (answer["status"], answer["error_type"]) == ("error", "ValueError") and "Unknown exception" in answer["message"], (code, name, answer)
    # The same names are allowed in contracts.
    for code, name in ((inner, "Bad"), (deep, "Bad"), (nested, "Outer.Bad"), (other, "Bad")):
        contract = code.replace("(n: int):\n", "(n: int):\n    '''raises: %s'''\n" % name)
        assert asked("check", contract)["status"] == "verified", (contract, asked("check", contract))


def heaps_that_a_comparison_changes_are_as_in_python():
    head = "import heapq\n\nclass C:\n    def __init__(self, n, h):\n        self.n = n\n        self.h = h\n\n" \
           "    def __lt__(self, o):\n        %s\n        return self.n < o.n\n\ndef f(x: int):\n    '''\n    pre: 0 <= x <= 4\n    post: _ == %s[x]\n    '''\n" \
           "    h = []\n    h += [C(1, h), C(x, h), C(3, h)]\n    try:\n        %s\n        return [c.n for c in h]\n" \
           "    except RuntimeError:\n        return [99]\n    except IndexError:\n        return [98]\n"
    for change in ("self.h.clear()", "self.h.append(self)", "self.h.pop()", "self.h[0] = o", "self.n += 2", "pass"):
        for call in ("heapq.heappush(h, C(x, h))", "heapq.heappop(h)", "heapq.heapify(h)", "heapq.heapreplace(h, C(x, h))", "heapq.heappushpop(h, C(x, h))"):
            function = loaded(head % (change, "0", call))["f"]
            answer = asked("check", head % (change, [function(x) for x in range(5)], call))
            assert (answer["status"], answer["method"]) == ("verified", "paths"), (change, call, answer)


def an_input_that_takes_too_long_does_not_hide_the_others():
    for loop in ("while n < 0 or n == 3:", "for i in iter(int, n < 0 or n == 3):", "while n < 0 and [x for x in range(9)]:"):
        code = "def f(n: int):\n    %s\n        pass\n    if n.as_integer_ratio()[0] == 100:\n        raise ValueError\n" % loop
        answer = asked("find", code)
        assert (answer["status"], answer["triggering_inputs"][0]["call"]) == ("found", "f(100)"), answer
    # What catches everything catches the end of a row as well.
    code = "def f(n: int):\n    while n.as_integer_ratio()[0] < 0:\n        try:\n            n -= 1\n        except:\n            pass\n    return n\n"
    answer = asked("find", code, timeout_seconds=3)
    assert answer["status"] == "error", answer


def what_is_told_is_what_the_call_does():
    """Each finding of the pool, called here once more."""
    codes = [raising("k == m"), raising("k == 2 or 1 // m"), raising("str(k) in 'a-1b'"), "from enum import Enum\n\nclass E(Enum):\n    A = 1\n    B = 2\n\n"
             "def f(e: E, n: int):\n    n.as_integer_ratio()\n    if e is E.B and n == 10:\n        raise ValueError\n",
             "def f(xs: list[int], d: dict[str, int], t: tuple[int, str]):\n    return xs[t[0].as_integer_ratio()[0]] + d[t[1]]\n",
             "def f(s: str, x: float, *, k: bool):\n    x.as_integer_ratio()\n    return s.encode('ascii')[3 if k else 0]\n",
             "from dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: int\n    y: float\n\ndef f(p: P):\n    return p.x.as_integer_ratio()[0] // p.y\n"]
    for code in codes:
        answer = asked("find", code, exception_type="Exception")
        assert answer["status"] == "found", (code, answer)
        for told in answer["triggering_inputs"]:
            try:
                eval(told["call"], loaded(code))
                raised = "nothing"
            except Exception as error:
                raised = "%s: %s" % (type(error).__name__, error) if str(error) else type(error).__name__
            assert told["exception"] == "%s (line %d)" % (raised, told["line"]), (code, told, raised)


def an_engine_that_replays_itself_goes_on_after_the_pool():
    """After a trace CPython 3.11.2 looped for ever in the next code that the engine had it run."""
    here = Engine(None, "--replay", "here", pool="first")
    code = "def f(a: tuple[int, ...]):\n    return a[::2**63]\n\ndef g(a: tuple[int, ...]):\n    return a[::2**63]\n"
    for _ in range(3):
        assert here.call("check", code=code, function_name="f", timeout_seconds=20)["status"] == "timeout"
        assert here.call("compare", code=code, function_a="f", function_b="g", timeout_seconds=20)["status"] == "error"
    assert here.call("find", code=raising("k > 4000 and m == 0"), function_name="f", exception_type="ValueError")["status"] == "found"
    here.close()


def print_calls_what_it_prints():
    code = "class S:\n    def __str__(self):\n        raise ValueError\n\ndef f(n: int):\n    n.as_integer_ratio()\n    print(S())\n"
    assert asked("find", code)["status"] == "found"
    code = "def f(n: int):\n    n.as_integer_ratio()\n    print(n, end=1)\n"
    assert asked("find", code, exception_type="TypeError")["triggering_inputs"][0]["exception"].startswith("TypeError: end must be None or a string")


# ---- What is told before the end -----------------------------------------------------------------

STUCK = "def f(a: int, b: int, c: int):\n    if a > 70:\n        return 1\n" + HARD + "    return 2\n"


def branches_have_what_was_found_so_far():
    for seconds in 2, 10, 40:  # a busy machine finds less
        answer = asked("branches", STUCK, timeout_seconds=seconds)
        if answer["reachable_branches"] == 2:
            break
    assert (answer["status"], answer["error_type"], answer["total_branches"]) == ("error", "TimeoutError", 2), answer
    first, second = answer["branches"]
    assert (first["true_reachable"], first["false_reachable"]) == (True, True) and first["true_example"]["a"] > 70 >= first["false_example"]["a"], answer
    assert (second["true_reachable"], second["true_example"]) == (None, None), answer
    assert (second["false_reachable"], answer["dead_code_lines"]) == (True, []), answer
    assert answer["time_seconds"] >= 1.5 and answer["cyclomatic_complexity"] == 4 and answer["reachable_branches"] == 2, answer
    answer = asked("branches", "def f(n: int):\n    if n.as_integer_ratio()[0] > 7:\n        return 1\n    return 2\n")
    assert answer["status"] == "error" and [b["true_reachable"] for b in answer["branches"]] == [True], answer
    answer = asked("branches", "def f(n: int):\n    if n > 7:\n        return 1\n    return 2\n", symbolic_reachability=False)
    assert (answer["status"], answer["branches"][0]["true_reachable"]) == ("complete", None), answer
    answer = asked("branches", 'def f(n: int):\n    """pre: n < 5"""\n    if n.as_integer_ratio()[0] > 7:\n        return 1\n    return 2\n')
    assert [b["true_reachable"] for b in answer["branches"]] == [None], answer  # inputs that are excluded go no way


def what_a_call_changes_of_a_module_is_not_seen_by_the_next():
    for head, value, change, first, later in (
            ("from decimal import Decimal, getcontext", "len(str(Decimal(1) / 3))", "getcontext().prec = 5", "30", "7"),
            ("import decimal", "decimal.getcontext().flags[decimal.Inexact]", "decimal.Decimal(1) / 3", "False", "True"),
            ("import decimal", "decimal.DefaultContext.prec", "decimal.DefaultContext.prec = 5", "28", "5"),
            ("import string", "len(string.digits)", "string.digits = 'x'", "10", "1"),
            ("import operator", "operator.add is max", "k, operator.add = 1, max", "False", "True"),
            ("from collections import abc", "abc.Mapping is None", "abc.Mapping = None", "False", "True"),
            ("import collections.abc", "collections.abc.Mapping is None", "collections.abc.Mapping = None", "False", "True"),
            ("from json import JSONEncoder, dumps", "dumps([1, 2])", "JSONEncoder.item_separator = ','", "'[1, 2]'", "'[1,2]'"),
            ("from collections import Counter, OrderedDict", "Counter.pop is OrderedDict.pop", "type(Counter()).pop = OrderedDict.pop", "False", "True")):
        code = "%s\n\ndef f(n: int):\n    r'''\n    pre: 0 <= n <= 3\n    post: _ == (%s)\n    '''\n    ascii(n)\n    was = %s\n    %s\n    return was\n"
        answer = asked("check", code % (head, first, value, change))
        assert (answer["status"], answer["method"]) == ("verified", "enumeration"), (change, answer)
        answer = asked("check", code % (head, "%s if n == 0 else %s" % (first, later), value, change))
        assert (answer["status"], answer["counterexamples"][0]["call"]) == ("counterexample", "f(1)"), (change, answer)
    code = "import decimal\ndecimal.getcontext().prec = 3\n\ndef changed():\n    decimal.getcontext().prec = 7\n    return True\n\n" \
           "def f(n: int):\n    '''\n    pre: 0 <= n <= 3 and changed()\n    post: _ == '0.333'\n    '''\n    return str(decimal.Decimal(1) / 3)\n"
    assert asked("check", code)["status"] == "verified", asked("check", code)


def a_submodule_that_a_call_imports_stays_bound():
    for first in ("import collections.abc", "from collections import abc", "from typing import Mapping"):
        for tool, wanted in (("check", "verified"), ("find", "unreachable")):
            code = "import collections\n\ndef f(n: int):\n    '''pre: 0 <= n <= 3'''\n    if n == 0:\n        %s\n        return 0\n" \
                   "    from typing import NamedTuple\n    return len(ascii(n))\n" % first
            for options in ((), ("--replay", "here")):
                asking = Engine(None, *options, pool="first")
                for _ in range(2):  # the second one in a process that has loaded them
                    answer = asking.call(tool, code=code, function_name="f", timeout_seconds=60, **({"exception_type": "AttributeError"} if tool == "find" else {}))
                    assert answer["status"] == wanted, (first, options, answer)
                asking.close()


def a_module_that_is_missing_may_be_installed_elsewhere():
    for name in [n for n in ("typing_extensions",) if asked("check", "import %s\n\ndef f(n: int):\n    return n\n" % n)["status"] == "error"]:
        attempt = "try:\n{0}    import %s\n{0}    V = 1\n{0}except ImportError:\n{0}    V = 0\n" % name
        for code in (attempt.format("") + "\ndef f(n: bool):\n    '''post: _ == 0'''\n    %s\n    return V\n",
                     "def f(n: bool):\n    '''post: _ == 0'''\n    %s\n    " + attempt.format("    ") + "    return V\n",
                     "def f(n: bool):\n    '''post: _ == 0'''\n    %s\n    " + attempt.format("    ").replace("import " + name, "from %s import Self" % name) + "    return V\n",
                     "def f(n: bool):\n    '''post: _ == 0'''\n    %s\n    import " + name + "\n    return 1\n"):
            for unknown in ("ascii(n)", "pass"):  # by calls, and by paths
                for tool, more in (("check", {}), ("find", {"exception_type": "ImportError"}), ("branches", {})):
                    answer = asked(tool, code % unknown, **more)
                    assert answer["status"] == "error" and "not installed" in answer["message"], (tool, code % unknown, answer)
        # One that is not reached is none.
        code = "try:\n    from typing import Optional\nexcept ImportError:\n    from %s import Optional\n\ndef f(n: bool):\n    '''post: _'''\n    %%s\n    return True\n" % name
        assert [asked("check", code % unknown)["status"] for unknown in ("ascii(n)", "pass")] == ["verified", "verified"], code


def a_module_has_the_text_that_it_has_in_a_fresh_interpreter():
    for head, text in (("", "None"), ("'''Some words.'''\n", "'Some words.'"), ("__doc__ = 'Others.'\n", "'Others.'")):
        code = head + "\ndef f(n: int):\n    '''\n    pre: 0 <= n <= 3\n    post: _ == %s\n    '''\n    ascii(n)\n    return __doc__\n"
        assert asked("check", code % text)["status"] == "verified", (head, asked("check", code % text))
        assert asked("check", code % "'no'")["counterexamples"][0]["actual_result"] == text, (head, asked("check", code % "'no'"))


def all_tools_tell_their_seconds_and_paths():
    both = STUCK + STUCK.replace("f(", "g(").replace("a ** 3 + b ** 3", "b ** 3 + a * a * a")
    for tool, count in (("check", "paths_explored"), ("find", "total_paths_explored"), ("compare", "paths_compared"), ("branches", None)):
        for seconds in 2, 10, 40:
            answer = asked(tool, both, timeout_seconds=seconds, **({"exception_type": "ZeroDivisionError"} if tool == "find" else {}))
            assert answer["error_type"] == "TimeoutError" and 0.75 * seconds <= answer["time_seconds"] < seconds + 60, (tool, answer)
            if not count or answer[count]:
                break
        assert not count or answer[count] >= 1, (tool, answer)


def findings_are_told_while_the_analysis_goes_on():
    asking = Engine(None, "--replay", "asked", pool="first")
    code = "def f(a: int, b: int, c: int):\n    k = 0\n    for i in range(3000):\n        k = (k * 3 + i) % 1009\n" \
           "    if a == 123456 + b and b == 98765 * c and c == 4321:\n        raise KeyError\n" + HARD + "    return 2\n"

    def told(tool, seconds):
        """What is told of an analysis before its end."""
        kept = []
        asking.id += 1
        asking.send({"id": asking.id, "operation": "symbolic." + tool, "arguments": {"code": code, "function_name": "f", "timeout_seconds": seconds}})
        while True:
            answer = asking.read().get("answer", {})
            if "so_far" not in answer and "replay" not in answer:
                return kept
            said = {"why": "its time was over"}
            if "replay" in answer and answer["replay"]["arguments"][-1] == "None" and tool == "check":
                fields = ("ran", "yes", "raised", "KeyError", ",KeyError,Exception,", "", "6", "", "-1", "")
                said = {"result": "'%s'" % ",".join(field.encode().hex() for field in fields)}
            kept += [answer["so_far"]] if "so_far" in answer else []
            asking.id += 1
            asking.send({"id": asking.id, "operation": "engine.replayed", "arguments": said})

    for seconds in 4, 20, 100:  # a busy machine has nothing to tell so soon
        kept = told("check", seconds)
        found = [k for k in kept if k.get("status") == "counterexample"]
        if found:
            break
    assert found and found[0]["counterexamples"][0]["violation"] == "KeyError (line 6)" and found[0]["method"] == "paths", json.dumps(kept)
    for seconds in 4, 20, 100:
        kept = told("branches", seconds)
        if kept:
            break
    asking.close()
    assert any(k.get("total_branches") == 2 for k in kept), json.dumps(kept)


def main():
    global engine
    engine = Engine(pool="first")
    tests = [(name, test) for name, test in globals().items() if name.count("_") > 2 and getattr(test, "__module__", "") == "__main__" and callable(test)]
    tests = [(name, test) for name, test in tests if all(word in name for word in sys.argv[1:])]
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
