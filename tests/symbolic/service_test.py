"""The symbolic service from outside: its five tools over HTTP, for agents and on the command line; every way to fail.

    MISHAP_PROGRAM=… SYMBOLIC_STAND_IN=… python3 tests/symbolic/service_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("cli", "http", "mcp"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
import leaks  # noqa: E402
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from exchange import Session, call, message, raw  # noqa: E402
from server import FOLDER, PROGRAM, all_ended_in_order, name_of, processes, wait_for  # noqa: E402

STAND_IN = os.environ["SYMBOLIC_STAND_IN"]
TYPES = {"ValueError", "SyntaxError", "ValidationError", "ImportError", "TimeoutError", "RuntimeError"}
BLANK = {
    "check": {"counterexamples": [], "paths_explored": 0, "paths_verified": 0, "time_seconds": float, "coverage_estimate": 0.0},
    "find": {"triggering_inputs": [], "paths_to_exception": 0, "total_paths_explored": 0, "time_seconds": float},
    "compare": {"distinguishing_input": None, "paths_compared": 0, "confidence": "none", "time_seconds": float},
    "branches": {"branches": [], "total_branches": 0, "reachable_branches": 0, "dead_code_lines": [], "cyclomatic_complexity": int,
                 "time_seconds": float},
    "health": {"version": "", "python_version": "", "z3_version": "", "cvc5_version": "", "platform": "", "memory_usage_mb": 0},
}
TOOLS = {"check": "symbolic_check", "find": "find_path_to_exception", "compare": "compare_functions", "branches": "analyze_branches",
         "health": "health_check"}
CODE = '''def divide(a: int, b: int) -> int:
    return a // b

def safe(a: int, b: int) -> int:
    """
    pre: b != 0
    post: _ * b <= a or b < 0
    """
    return a // b

def classify(n: int) -> str:
    if n > 10:
        return "big"
    if n > 20:
        return "dead"
    return "small"

def twice(n: int) -> int:
    return n + n

def double(n: int) -> int:
    return 2 * n

def wrong(n: int) -> int:
    return 2 * n if n != 77 else 0
'''
ENDLESS = "def f(n: int):\n    while True:\n        n += 1\n"
GIVEN = {
    "check": {"code": CODE, "function_name": "divide"},
    "find": {"code": CODE, "function_name": "divide", "exception_type": "ZeroDivisionError"},
    "compare": {"code": CODE, "function_a": "twice", "function_b": "wrong"},
    "branches": {"code": CODE, "function_name": "classify"},
    "health": {},
}


def shared():
    return server.server("symbolic", "--workers", "1", "--handlers", "2")


def check_blank(tool, answer):
    """A failure has the members of its tool, with nothing in them."""
    for name, blank in BLANK[tool].items():
        expect(name in answer, "no", name, "in", answer)
        if isinstance(blank, type):
            expect(isinstance(answer[name], (int, float)) and answer[name] >= 0, name, "of", answer)
        else:
            equal(answer[name], blank, name)


def check_failure(tool, answer):
    equal(list(answer)[:3], ["status", "error_type", "message"], "the first members")
    expect(answer["error_type"] in TYPES, "a type that there is not:", answer)
    late = answer["error_type"] == "TimeoutError" and tool == "check"
    equal(answer["status"], "timeout" if late else "error", "the status of %s" % answer)
    expect(not re.search(r"z3|cvc5|sat\b|/work|/usr|/tmp|0x", json.dumps(answer).lower().replace('"z3_version"', "").replace(
        '"cvc5_version"', "").replace("libz3-dev, libcvc5-dev", "").replace("z3 or cvc5", "")), "something internal in", answer)


def http(found, tool, given, connection=None):
    """(status, answer) over HTTP."""
    where = connection or found
    asked = where.ask("GET", "/symbolic/health", checked=False) if tool == "health" and not given else \
        where.ask("POST", "/symbolic/" + tool, given, checked=False)
    server.check_for_leaks(asked)
    answer = asked.json
    if asked.status != 200:
        check_failure(tool, answer)
        expect(set(BLANK[tool]) <= set(answer), "members of", answer)
        if answer["error_type"] not in ("TimeoutError", "RuntimeError"):  # of which something may be known
            check_blank(tool, answer)
    return asked.status, answer


def mcp(session, tool, given):
    result = session.post(call(TOOLS.get(tool, tool), given)).json["result"]
    answer = result["structuredContent"]
    equal(json.loads(result["content"][0]["text"]), answer, "the text")
    expect(result.get("isError", False) == (answer["status"] in ("error", "timeout")), "isError of", result)
    if result.get("isError"):
        check_failure(tool, {name: answer[name] for name in answer})
    return answer


def command(*words, stdin=b"", program=None):
    found = run_program(program or PROGRAM, "symbolic", *words, "--output", "json", stdin=stdin)
    leaks.check(found.out.decode())
    return found.status, parsed(found.out)


# ---- What they answer ----------------------------------------------------------------------------


def verdict(tool, answer):
    if tool == "check":
        one = answer["counterexamples"][0]
        equal(one["actual_result"], "ZeroDivisionError: integer division or modulo by zero", "the result")
        equal(set(one), {"args", "kwargs", "call", "violation", "actual_result", "path_condition"}, "a counterexample")
        equal((answer["status"], one["args"]["b"], one["kwargs"]), ("counterexample", 0, {}), "the verdict")
        found = one["path_condition"]  # of the path, or of the input if a call of typical inputs came first
        equal(found in ("b == 0", "a == %d and b == 0" % one["args"]["a"]), True, "the condition %s" % found)
    elif tool == "find":
        one = answer["triggering_inputs"][0]
        equal((answer["status"], one["line"], one["args"]["b"]), ("found", 2, 0), "the verdict")
    elif tool == "compare":
        one = answer["distinguishing_input"]
        equal((answer["status"], one["args"], one["result_a"], one["result_b"]), ("different", {"n": 77}, "154", "0"), "the verdict")
    elif tool == "branches":
        equal((answer["status"], answer["dead_code_lines"], answer["total_branches"]), ("complete", [15], 2), "the verdict")
        equal(answer["branches"][1]["true_reachable"], False, "the dead side")
        expect(answer["branches"][0]["true_example"]["n"] > 10, "the example of", answer)
    else:
        equal(answer["status"], "healthy", "the verdict")
        expect(all(re.match(r"\d+\.\d+", answer[name]) for name in ("version", "python_version", "z3_version", "cvc5_version")), answer)
        expect(answer["memory_usage_mb"] > 1 and answer["platform"].startswith("Linux"), answer)
    expect(set(BLANK[tool]) <= set(answer), "members of", answer)


@tests_of({tool: tool for tool in TOOLS})
def a_tool_answers_the_same_everywhere(tool):
    status, over_http = http(shared(), tool, GIVEN[tool])
    equal(status, 200, "the status of %s" % over_http)
    verdict(tool, over_http)
    verdict(tool, mcp(Session(shared()), tool, GIVEN[tool]))
    words = [word for name, value in GIVEN[tool].items() for word in ("--" + name.replace("_", "-"), "@-" if name == "code" else value)]
    path = os.path.join(FOLDER, "code.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CODE)
    status, envelope = command(tool, *["@" + path if word == "@-" else word for word in words])
    equal((status, envelope["ok"]), (0, True), "the exit with %s" % envelope)
    verdict(tool, envelope["data"])


@test
def what_is_proven_is_said_so():
    for tool, given, status in [("check", {"code": CODE, "function_name": "safe"}, "verified"),
                                ("find", dict(GIVEN["find"], exception_type="KeyError"), "unreachable"),
                                ("compare", {"code": CODE, "function_a": "twice", "function_b": "double"}, "equivalent")]:
        equal(http(shared(), tool, given)[1]["status"], status, tool)


@test
def an_address_is_not_told():
    code = "def f(n: int):\n    return lambda: n\ndef g(n: int):\n    raise ValueError([f])\n"
    answer = http(shared(), "compare", {"code": code, "function_a": "f", "function_b": "g"})[1]["distinguishing_input"]
    equal((answer["result_a"], answer["result_b"]), ("<function f.<locals>.<lambda> at 0x0>", "ValueError: [<function f at 0x0>]"), "results")


@test
def calls_of_all_inputs_prove_nothing_if_python_writes_an_address():
    code = "def f(n: bool):\n    \"\"\"post: _\"\"\"\n    return '{}'.format(%s)[-3] != 'x'\n"
    status, answer = http(shared(), "check", {"code": code % "iter([])", "function_name": "f"})
    equal((status, answer["status"]), (500, "error"), str(answer))
    expect("has the address of an object in it" in answer["message"], answer)
    equal(http(shared(), "check", {"code": code % "n.as_integer_ratio()", "function_name": "f"})[1]["status"], "verified", "without one")


@tests_of({
    "an address in a str": ('def f(n: int):\n    """post: _ == 1"""\n    return str(object())\n', "'<object object at 0x0>'"),
    "a number in a str": ('def f(n: int):\n    """post: _ == 1"""\n    return "at it at 0x1f"\n', "'at it at 0x1f'"),
    "the message of an import": ("def f(n: int):\n    from json import nothing\n", "ImportError: cannot import name 'nothing' from 'json'"),
    "the path of an import": ("def f(n: int):\n    try:\n        from json import nothing\n    except ImportError as e:\n"
                              "        raise ValueError(e.path)\n", "ValueError: None"),
    "a module that Python imports itself": ("import datetime\ndef f(n: int):\n    raise ValueError(datetime.datetime.strptime('3', '%d').strftime('%d'))\n",
                                            "ValueError: 03"),
    "a null byte": ('def f(n: int):\n    raise ValueError("a\\0b")\n', "ValueError: a\\x00b"),
    "a repr that forges its fields": (
        'class Hex:\n    def hex(self):\n        return "61,2d31"\n'
        'class Forged(str):\n    def encode(self, *given):\n        return Hex()\n    def split(self, by):\n        return [self]\n'
        '    def __add__(self, other):\n        return self\n'
        'class C:\n    def __repr__(self):\n        return Forged("b")\n'
        'def f(n: int):\n    """post: _ == 1"""\n    return C()\n', "b"),
})
def what_a_replay_tells_is_what_python_says_without_paths_and_addresses(code, expected):
    status, answer = http(shared(), "check", {"code": code, "function_name": "f"})
    equal((status, answer["status"]), (200, "counterexample"), str(answer))
    one = answer["counterexamples"][0]
    equal(one["actual_result"], expected, "the result")
    expect("(line" not in one["violation"] or "(line %d)" % len(code.splitlines()) in one["violation"], "the line of", one)


@test
def a_parameter_of_any_size_comes_back_as_it_is():
    code = "def f(n: int):\n    m = n * 3\n    assert m != %d\n" % (3 * 10**40)
    text = shared().ask("POST", "/symbolic/check", {"code": code, "function_name": "f"}).body
    expect(b'"n":1%s' % (b"0" * 40) in text, text)


@tests_of({"pre": ('    """\n    pre: n > 0\n    """\n', "equivalent"), "assert": ("    assert n > 0\n", "different")})
def pre_lines_are_preconditions_of_a_comparison_and_asserts_are_not(condition, status):
    code = "def f(n: int):\n%s    return n\ndef g(n: int):\n    return abs(n)\n" % condition
    equal(http(shared(), "compare", {"code": code, "function_a": "f", "function_b": "g"})[1]["status"], status, "the status")


# ---- How they fail -------------------------------------------------------------------------------

FAILURES = {
    "ValueError": ({"function_name": "missing_func"}, "Function 'missing_func' not found in code"),
    "SyntaxError": ({"code": "x = 1\n\n\n\ndef f(:\n"}, r"Syntax error: invalid syntax \(line 5\)"),
    "ValidationError": ({"code": "def divide(a):\n    return eval(a)\n"}, "Blocked function call: eval"),
    "ImportError": ({"code": "from math import nothing\ndef divide(a): return a\n"}, "Cannot import name 'nothing' from 'math'.*"),
    "TimeoutError": ({"code": ENDLESS.replace("f(", "divide("), "timeout_seconds": 0.15}, "The time was over.*|Not every path.*"),
    "RuntimeError": ({"code": "import json\ndef divide(a: int):\n    json.dumps(a)\n    if a > 3:\n        return 0\n"}, "Unsupported construct at line 3: .*"),
}


def arguments_of(tool, more):
    given = dict(GIVEN[tool], **more)
    if tool == "compare" and "function_name" in given:
        given["function_a"] = given.pop("function_name")
    elif tool == "compare" and "code" in more:
        given.update(function_a="divide", function_b="divide")
    elif "code" in more:
        given["function_name"] = "divide"
    return given


@tests_of({"%s, %s" % (kind, tool): (kind, tool) for kind in FAILURES for tool in ("check", "find", "compare", "branches")})
def each_type_of_error_is_told_with_the_members_of_the_tool(kind, tool):
    more, words = FAILURES[kind]
    given = arguments_of(tool, more)
    status, answer = http(shared(), tool, given)
    expect(status in (422, 500, 504), "the status", status)
    expect(answer["error_type"] == kind and re.fullmatch(words, answer["message"]), answer)
    expect(set(BLANK[tool]) <= set(answer), "members of", answer)
    for _ in range(5):  # which branches are reached is known by calls of inputs, for which a busy machine may have no time
        told = mcp(Session(shared()), tool, given)
        same = [name for name in answer if name not in ("time_seconds", "incident") and kind != "TimeoutError"]
        if kind != "RuntimeError" or all(told[name] == answer[name] for name in same):
            break
        status, answer = http(shared(), tool, given)
    equal({name: told[name] for name in same}, {name: answer[name] for name in same}, "for agents")
    equal((told["error_type"], told["status"]), (kind, answer["status"]), "for agents")


CLASSES = "class Account:\n    def draw(self): pass\nclass Overdrawn(Exception): pass\ndef f(n: int):\n    return n\n"
SUGGESTIONS = {
    "a misspelt function": ("check", [CODE, "divdie"], "Did you mean `divide`? The code has these functions: divide, safe, classify, twice, double, wrong."),
    "the second of two functions": ("compare", [CODE, "divide", "divdie"], "Did you mean `divide`? The code has these functions: divide, safe, classify, twice, double, wrong."),
    "many functions": ("branches", ["".join("def f%d(): pass\n" % i for i in range(20)), "g"],
                       "The code has these functions: f0, f1, f2, f3, f4, f5, f6, f7 and more."),
    "a method": ("check", [CLASSES, "Account.draw"], "The code has these functions: f. Methods of a class cannot be named."),
    "no function": ("check", ["x = 1", "f"], "The code must define the function with `def` at the beginning of a line."),
    "a file without @": ("check", ["shop.py", "f"], "The code is `shop.py`, which looks like the name of a file. On a command line, `@shop.py` "
                         "stands for the content of the file."),
    "a misspelt exception": ("find", [CODE, "divide", "ZeroDivisonError"], "Did you mean `ZeroDivisionError`? Name an exception of Python, such as "
                             "ValueError, or a class of the code. Upper and lower case matter."),
    "a misspelt class": ("find", [CLASSES, "f", "overdrawn"], "Did you mean `Overdrawn`? Name an exception of Python, such as ValueError, or a class of the code: Account, "
                         "Overdrawn. Upper and lower case matter."),
    "an exception that is like none": ("find", [CODE, "divide", "Trouble"], "Name an exception of Python, such as ValueError, or a class of the "
                                       "code. Upper and lower case matter."),
    "blocked code": ("check", ["import os\ndef f(): pass", "f"], "Change or remove line 1: all of the code is checked. The rules are in "
                     "config://security; `mishap symbolic security` prints them."),
    "too little time": ("check", [ENDLESS, "f", "--timeout-seconds", "0.3"], "Narrow the inputs with `pre:` lines, analyse a smaller function, or "
                        "allow more time with timeout_seconds."),
}


@tests_of(SUGGESTIONS)
def a_failure_says_what_to_do(tool, given, suggestion):
    status, envelope = command(tool, *given)
    expect(status in (2, 10), "the exit code", status)
    equal(envelope["error"]["suggestion"], suggestion, "the suggestion")


@tests_of({"syntax": ("def f(x):\n    return (\n", "SyntaxError"), "an import": ("from math import nothing\ndef f(x: int):\n    return x\n", "ImportError"),
           "a rule": ("import os\ndef f(x: int):\n    return x\n", "ValidationError"), "a name": ("def g(x: int):\n    return x\n", "ValueError")})
def a_mistake_of_the_caller_is_no_incident(code, kind):
    status, answer = http(shared(), "check", {"code": code, "function_name": "f"})
    equal((status, answer["error_type"], "incident" in answer), (422, kind, False), "over HTTP")
    told = mcp(Session(shared()), "check", {"code": code, "function_name": "f"})
    equal((told["error_type"], "incident" in told), (kind, False), "for agents")


@test
def a_command_tells_the_members_as_context():
    status, envelope = command("check", CODE, "missing_func")
    equal((status, envelope["error"]["code"], envelope["error"]["message"]), (2, "INVALID_ARGUMENT", "Function 'missing_func' not found in code"), "it")
    check_blank("check", envelope["error"]["context"])
    shown = run_program(PROGRAM, "symbolic", "check", CODE, "missing_func", "--dialect", "tool-result")
    answer = parsed(shown.out)
    check_failure("check", answer)
    check_blank("check", answer)
    late = parsed(run_program(PROGRAM, "symbolic", "check", ENDLESS, "f", "--timeout-seconds", "0.3", "--dialect", "tool-result").out)
    equal((late["status"], late["error_type"]), ("timeout", "TimeoutError"), "a timeout")


@tests_of({tool: tool for tool in TOOLS})
def a_wrong_argument_is_a_value_error_with_the_members_of_the_tool(tool):
    given = {"timeout_seconds": -1} if tool != "health" else {"x": 1}
    told = mcp(Session(shared()), tool, given)
    equal((told["error_type"], told["code"]), ("ValueError", "VALIDATION_ERROR"), "for agents")
    check_blank(tool, told)
    if tool == "health":
        return
    status, answer = http(shared(), tool, given)
    equal((status, answer["error_type"], {field["field"] for field in answer["fields"]} >= {"code", "timeout_seconds"}),
          (422, "ValueError", True), "over HTTP")
    check_blank(tool, answer)
    malformed = shared().ask("POST", "/symbolic/" + tool, b"{", checked=False)
    equal((malformed.status, malformed.json["error_type"]), (400, "ValueError"), "what is no JSON")
    check_blank(tool, malformed.json)
    large = shared().ask("POST", "/symbolic/" + tool, dict(GIVEN[tool], code="#" * 65537), checked=False)
    equal((large.status, large.json["error_type"], large.json["message"]),
          (422, "ValueError", "The code has 65537 characters; at most 65536 are allowed."), "more than 64 KB")
    check_blank(tool, large.json)
    told = mcp(Session(shared()), tool, dict(GIVEN[tool], code="\u20ac" * 30000))
    equal((told["error_type"], told["message"]), ("ValidationError", "Code has 90000 bytes; at most 65536 are allowed"), "more in bytes")


@tests_of({tool: tool for tool in TOOLS if tool != "health"})
def half_a_surrogate_pair_is_told_with_the_members_of_the_tool(tool):
    given = dict(GIVEN[tool], code="x = '\ud800'\n" + CODE)
    told = mcp(Session(shared()), tool, given)
    equal((told["error_type"], told["message"]), ("ValueError", "A string contains half of a surrogate pair, which is no character."), "for agents")
    check_blank(tool, told)
    status, answer = http(shared(), tool, given)
    equal((status, answer["error_type"]), (400, "ValueError"), "over HTTP")
    check_blank(tool, answer)


@test
def a_timeout_of_null_is_the_default():
    equal(http(shared(), "check", dict(GIVEN["check"], timeout_seconds=None))[1]["status"], "counterexample", "the status")
    help_of = [tool for tool in Session(shared()).post(message("tools/list")).json["result"]["tools"] if tool["name"] == "symbolic_check"]
    expect("null is the default" in json.dumps(help_of), "it is not documented", help_of)


# ---- Hostile code, and what takes long -----------------------------------------------------------

HOSTILE = {
    "a loop without end": ENDLESS,
    "exponential paths": "def f(%s):\n%s    return 0\n" % (
        ", ".join("p%d: int" % i for i in range(12)),
        "    xs = []\n" + "".join("    if p%d > p%d: xs.append(p%d)\n" % (i, (i + 1) % 12, i) for i in range(12)) +
        "    while len(xs) < 30:\n        xs.append(p0 * p1)\n        if xs[-1] == p2 * p3 * p4: return\n"),
    "a power": "def f(n: int):\n    return 10 ** 10 ** 10 + n\n",
    "a power of the module": "x = 10 ** 10 ** 10\ndef f(n: int):\n    return x + n\n",
    "a list of 2 GB": "def f(n: int):\n    return ([0] * 2 ** 31)[n]\n",
    "a text of 4 GB": "x = 'a' * 2 ** 32\ndef f(n: int):\n    return x[n]\n",
    "recursion": "def f(n: int):\n    return f(n + 1)\n",
    "deep nesting": "def f(n: int):\n    return " + "(" * 20000 + "n" + ")" * 20000 + "\n",
    "a hard equation": "def f(a: int, b: int, c: int):\n    d = 0\n    assert not (a > 0 and b > 0 and c > 0 and a ** 3 + b ** 3 == c ** 3)\n",
}


LONG = HOSTILE["exponential paths"]


@test
def hostile_code_ends_in_time_with_a_structured_failure():
    answers = {}

    def ask(name, code):
        begun = time.monotonic()
        answers[name] = (*http(shared(), "check", {"code": code, "function_name": "f", "timeout_seconds": 1}), time.monotonic() - begun)
    threads = [threading.Thread(target=ask, args=row) for row in HOSTILE.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(set(answers), set(HOSTILE), "who was answered")
    for name, (status, answer, _) in answers.items():
        expect(answer["status"] in ("counterexample", "error", "timeout"), name, answer)
        expect(status == 200 or answer["error_type"] in TYPES, name, answer)
    equal(answers["a loop without end"][1]["status"], "timeout", "a loop without end")
    equal(shared().process.poll(), None, "the server")
    verdict("check", http(shared(), "check", GIVEN["check"])[1])


@test
def a_replay_that_never_ends_does_not_end_the_analysis():
    # The engine gives up after some turns of the loop and has CPython call it, which never comes back.
    code = "def f(n: int):\n    i = n\n    while i == n or n * n != 3:\n        i = n\n    return 1 // n\n"
    status, answer = http(shared(), "find", {"code": code, "function_name": "f", "exception_type": "ZeroDivisionError", "timeout_seconds": 1})
    equal((status, answer["error_type"]), (504, "TimeoutError"), answer)
    verdict("find", http(shared(), "find", GIVEN["find"])[1])


def below(pid, name):
    """The processes of this name that a process has started, directly or not."""
    parents = dict(processes())

    def is_below(one):
        while one and one != pid:
            one = parents.get(one, 0)
        return one == pid
    return [one for one in parents if name_of(one) == name and is_below(one)]


def processor_time(pid):
    with contextlib.suppress(OSError), open("/proc/%d/stat" % pid, encoding="latin-1") as file:
        return int(file.read().rpartition(")")[2].split()[11])
    return 0


def engine_at_work(found):
    """The engine of a server with one handler, once it has worked for a while since this was asked."""
    before = {pid: processor_time(pid) for pid in below(found.process.pid, "mishap-symbolic")}

    def working():
        return [pid for pid in below(found.process.pid, "mishap-symbolic") if processor_time(pid) > before.get(pid, 0) + 5]
    at_work = wait_for(working)
    expect(at_work, "the engine does not work")
    return at_work[0]


@test
def an_engine_waits_before_the_first_call():
    with server.Server("--workers", "1", "--handlers", "1") as found:
        waiting = wait_for(lambda: below(found.process.pid, "mishap-symbolic"))
        expect(waiting, "no engine has been started")
        verdict("check", http(found, "check", GIVEN["check"])[1])
        expect(waiting[0] in below(found.process.pid, "mishap-symbolic"), "another engine has answered")


@test
def an_engine_that_is_killed_fails_its_call_and_the_next_one_works():
    with server.Server("--workers", "1", "--handlers", "1") as found:
        verdict("check", http(found, "check", GIVEN["check"])[1])
        answers = []
        thread = threading.Thread(target=lambda: answers.append(http(found, "check", {"code": LONG, "function_name": "f"})))
        thread.start()
        os.kill(engine_at_work(found), signal.SIGKILL)
        thread.join()
        status, answer = answers[0]
        equal((status, answer["status"], answer["error_type"], answer["message"]),
              (500, "error", "RuntimeError", "The analysis ended unexpectedly"), "the call")
        if answer["paths_explored"] == 0:  # otherwise the engine has told how far it had come, after half a second
            check_blank("check", answer)
        expect(answer["counterexamples"] == [] and answer["coverage_estimate"] < 1, "the members of", answer)
        verdict("check", http(found, "check", GIVEN["check"])[1])


@test
def a_call_that_nobody_waits_for_is_given_up():
    with server.Server("--workers", "1", "--handlers", "1") as found:
        verdict("check", http(found, "check", GIVEN["check"])[1])
        begun = time.monotonic()
        with found.connect() as connection:
            connection.send(server.request("POST", "/symbolic/check", {"code": LONG, "function_name": "f", "timeout_seconds": 300}))
            engine_at_work(found)
        session = Session(found)
        verdict("check", mcp(session, "check", GIVEN["check"]))
        asked = call("symbolic_check", {"code": LONG, "function_name": "f", "timeout_seconds": 300}, id=77)
        with found.connect() as connection:
            connection.send(raw("POST", asked, session.fields))
            engine_at_work(found)
            session.post(message("notifications/cancelled", {"requestId": 77}, id=None))
            verdict("check", http(found, "check", GIVEN["check"])[1])
        expect(time.monotonic() - begun < 250, "it took", time.monotonic() - begun)


# ---- Processes that stand in for the real ones ---------------------------------------------------


def stage(name, *stand_ins):
    """A folder with the program and the two that it starts, of which some are replaced or left out."""
    folder = os.path.join(FOLDER, name)
    server.secrets.add(folder)
    for room, program in (("symbolic", "mishap-symbolic"), ("python", "mishap-python")):
        os.makedirs(os.path.join(folder, "services", room))
        source = os.path.join(os.path.dirname(PROGRAM), "services", room, program)
        if "no " + room not in stand_ins:
            shutil.copy(STAND_IN if room in stand_ins else source, os.path.join(folder, "services", room, program))
    shutil.copy(PROGRAM, os.path.join(folder, "mishap"))
    return os.path.join(folder, "mishap")


@test
def what_is_told_is_what_the_second_process_said():
    program = stage("forged", "python")
    equal(command("find", CODE, "divide", "ZeroDivisionError", program=program)[1]["data"]["triggering_inputs"][0]["exception"],
          "ForgedError: by the second process (line 7)", "the exception")
    with server.Server("--workers", "1", program=program) as found:
        answer = http(found, "check", GIVEN["check"])[1]
        equal(answer["counterexamples"][0]["actual_result"], "ForgedError: by the second process", "the result")
        for way in ("die", "babble", "hang", "memory"):
            code = "def %s(a: int, b: int) -> int:\n    return a // b\n" % way
            for seconds in (3, 20, 100) if way == "hang" else (100,):  # a busy machine may find no input so soon
                status, answer = http(found, "check", {"code": code, "function_name": way, "timeout_seconds": seconds})
                if answer["error_type"] != "TimeoutError":
                    break
            equal((status, answer["error_type"]), (500, "RuntimeError"), way)
            expect(answer["message"].startswith("An input was found, but its call in real Python gave no answer ("), way, answer)
        equal(len(http(found, "check", GIVEN["check"])[1]["counterexamples"]), 1, "afterwards")


@test
def an_input_that_python_does_not_confirm_is_an_incident_with_the_reason():
    code = "def contradicted(a: int, b: int) -> int:\n    secret_name = a // b\n    return secret_name\n"
    with server.Server("--workers", "1", program=stage("contradicting", "python")) as found:
        status, answer = http(found, "check", {"code": code, "function_name": "contradicted"})
        equal((status, answer["error_type"], answer["paths_verified"]), (500, "RuntimeError", 0), answer)
        expect("real Python does not confirm (contradicted(0, 0))" in answer["message"] and "engine expected" not in str(answer), answer)

        def noted():
            log = found.read(found.log)
            return all(words in log for words in (answer["incident"].encode(), b'severity = "critical"', b"the engine expected that it raises "
                                                  b"ZeroDivisionError", b"secret_name"))
        expect(wait_for(noted), "the incident", found.read(found.log))


@test
def a_replay_that_fails_like_the_engine_leaves_no_engine_that_waits_for_it():
    code = "def lie(a: int, b: int) -> int:\n    return a // b\n"
    with server.Server("--workers", "1", "--handlers", "1", program=stage("lying", "python")) as found:
        for _ in range(2):
            status, answer = http(found, "check", {"code": code, "function_name": "lie"})
            equal((status, answer["error_type"], answer["message"]), (503, "RuntimeError", "A lie"), "the failure of the replay")
            status, answer = http(found, "check", GIVEN["check"])
            equal((status, len(answer.get("counterexamples", ()))), (200, 1), "the call after it: %s" % answer)


@test
def an_engine_that_fails_in_any_way_is_a_runtime_error_without_its_words():
    with server.Server("--workers", "1", program=stage("broken", "symbolic")) as found:
        for way, code, words in [("die", 500, "The analysis ended unexpectedly"), ("babble", 500, "The analysis ended unexpectedly"),
                                 ("other", 500, "The analysis ended unexpectedly"),
                                 ("memory", 500, "The analysis needs more than the 2048 MB that it may have"),
                                 ("hang", 504, "The time was over, and the analysis did not stop")]:
            for tool in ("check", "find")[:1 if way == "hang" else 2]:
                given = {"code": "def %s(): pass" % way, "function_name": "f", "timeout_seconds": 0.2 if way == "hang" else 60}
                given.update({"exception_type": "ValueError"} if tool == "find" else {})
                status, answer = http(found, tool, given)
                equal((status, answer["message"]), (code, words), "%s of %s" % (way, tool))
                check_blank(tool, answer)
        expect(wait_for(lambda: b"marker-private-of-the-process" in found.read(found.log)), "the operator was not told")


@test
def an_engine_that_does_not_stop_in_time_has_told_what_it_found_out():
    with server.Server("--workers", "1", program=stage("stuck", "symbolic")) as found:
        def said_in_time(tool, word, is_known):
            """On a busy machine the time may be over before the engine has said anything."""
            for seconds in 0.2, 5, 60:
                status, answer = http(found, tool, {"code": "def %s(): pass" % word, "function_name": "f", "timeout_seconds": seconds})
                if is_known(status, answer):
                    break
            expect(answer["time_seconds"] >= seconds, "the time of", answer)
            return status, answer

        status, answer = said_in_time("check", "stuck", lambda status, answer: answer["paths_explored"])
        equal((status, answer["status"], answer["message"]), (504, "timeout", "The time was over, and the analysis did not stop"), answer)
        equal((answer["paths_explored"], answer["paths_verified"], answer["coverage_estimate"]), (7, 3, 0.5), "what it said")
        status, answer = said_in_time("check", "found", lambda status, answer: status == 200)
        equal((status, answer["status"], answer["paths_explored"], answer["method"]), (200, "counterexample", 7, "paths"), "what it had found")
        expect("message" not in answer, "the answer", answer)
        status, answer = said_in_time("branches", "part", lambda status, answer: answer["total_branches"])
        equal((status, answer["status"], answer["error_type"]), (504, "error", "TimeoutError"), answer)
        equal((answer["total_branches"], answer["reachable_branches"], answer["cyclomatic_complexity"]), (4, 2, 5), "the branches so far")


@test
def an_engine_that_cannot_be_started_names_the_libraries_that_it_needs():
    program = stage("unstartable", "no symbolic")
    path = os.path.join(os.path.dirname(program), "services", "symbolic", "mishap-symbolic")
    with open(path, "wb") as file:
        file.write(b"\x7fELF, but no more of it")
    os.chmod(path, 0o755)
    status, envelope = command("check", CODE, "divide", program=program)
    equal((status, envelope["error"]["code"]), (78, "NOT_CONFIGURED"), "the failure %s" % envelope)
    expect(all(name in envelope["error"]["message"] for name in ("libpython3", "libz3-4", "libcvc5-1")), envelope)
    check_blank("check", envelope["error"]["context"])


@tests_of({"the engine": ("no symbolic",), "Python": ("no python",)})
def without_its_programs_it_says_which_packages_are_missing(which):
    program = stage("without " + which, which)
    with server.Server("--workers", "1", program=program) as found:
        for tool in TOOLS:
            told = mcp(Session(found), tool, GIVEN[tool])
            equal((told["error_type"], told["code"]), ("RuntimeError", "NOT_CONFIGURED"), tool)
            check_blank(tool, told)
            for package in ("python3-dev", "libz3-dev", "libcvc5-dev"):
                expect(package in told["message"] and package in told["suggestion"], package, "is not in", told)
        equal(http(found, "check", GIVEN["check"])[0], 503, "the status")
        equal(found.ask("GET", "/todos").status, 200, "all else")
        health = found.ask("GET", "/health").json["services"]["symbolic"]
        equal({"engine": health["engine"], "python": health["python"]}["python" if "python" in which else "engine"], "missing", "/health")
    equal(command("check", CODE, "divide", program=program)[0], 78, "the exit of the command")


# ---- Resources and prompts -----------------------------------------------------------------------


def read(session, address):
    return json.loads(session.post(message("resources/read", {"uri": address})).json["result"]["contents"][0]["text"])


@test
def the_rules_for_code_are_those_that_hold():
    session = Session(shared())
    rules = read(session, "config://security")
    equal((len(rules["allowed_modules"]), len(rules["blocked_modules"]), len(rules["blocked_builtins"])), (21, 28, 21), "how many")
    equal(rules["limits"], {"code_bytes": 65536, "memory_mb": 2048, "timeout_seconds": 300}, "limits")

    def refused(code):
        return http(shared(), "check", {"code": code + "\ndef f(n: int): return n\n", "function_name": "f"})[1].get("message", "")
    for name in rules["blocked_modules"]:
        equal(refused("import " + name), "Blocked module: " + name, name)
    for name in rules["blocked_builtins"]:
        equal(refused("x = " + name), "Blocked builtin: " + name, name)
    for name in rules["blocked_attributes"] + rules["blocked_names"]:
        equal(refused("x = (1).%s" % name), "Blocked attribute: " + name, name)
    for name in rules["blocked_names"]:
        equal(refused("x = %s" % name), "Blocked name: " + name, name)
    for name in rules["blocked_members"]:
        equal(refused("import random\nx = random.%s" % name), "Blocked attribute: " + name, name)
    for name in rules["allowed_dunder_names"]:
        equal(refused("def g(x): return x.%s" % name), "", name)
    equal(refused("def g(x): return x.__dict__"), "Blocked attribute: __dict__", "any other with two underscores")
    with open(os.path.join(os.path.dirname(os.path.dirname(HERE)), "services", "symbolic", "engine", "tree", "rules.c"), encoding="utf-8") as file:
        lists = re.findall(r"\*const validate_\w+\[\] = \{(.*?)\};", file.read(), re.S)
    equal(sorted(len(re.findall('"', words)) // 2 for words in lists), sorted(len(rules[name]) for name in rules if isinstance(rules[name], list)),
          "lists that are not told")
    for name in rules["allowed_modules"]:
        expect(refused("import " + name) in ("", "No module named 'typing_extensions' (line 1)"), name, refused("import " + name))
    equal(refused("import zlib"), "Module not allowed: zlib", "any other")


@test
def the_server_and_what_it_can_do_are_described():
    session = Session(shared())
    about = read(session, "config://server")
    equal({tool["tool"]: tool.get("timeout_seconds") for tool in about["tools"]},
          {"symbolic_check": 30, "find_path_to_exception": 30, "compare_functions": 60, "analyze_branches": 30, "health_check": None}, "tools")
    expect("contracts" in read(session, "info://capabilities"), "capabilities")
    listed = session.post(message("resources/list")).json["result"]["resources"]
    expect({"config://security", "config://server", "info://capabilities"} <= {one["uri"] for one in listed}, listed)
    tools = {tool["name"] for tool in session.post(message("tools/list")).json["result"]["tools"]}
    expect(set(TOOLS.values()) <= tools and not {name for name in tools if name.startswith("symbolic_")} - {"symbolic_check"}, tools)


@test
def four_prompts_show_the_code_and_name_the_tool():
    session = Session(shared())
    for prompt, tool, given in [("verify_function", "check", {"function_name": "divide"}),
                                ("find_failing_inputs", "find", {"function_name": "divide"}),
                                ("check_refactoring", "compare", {"function_a": "twice", "function_b": "double"}),
                                ("explain_branches", "branches", {"function_name": "classify"})]:
        told = session.post(message("prompts/get", {"name": prompt, "arguments": dict(given, code=CODE + "# ```\n")})).json["result"]
        text = told["messages"][0]["content"]["text"]
        expect(TOOLS[tool] in text and "````python\n" + CODE in text and "%" not in text.split("````")[0], text)
        for name in given.values():
            expect("`%s`" % name in text, name, "is not in", text)


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
