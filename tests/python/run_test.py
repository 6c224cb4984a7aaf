"""What mishap-python answers, each call in a process of its own: results, failures of every kind, limits, values of a replay.

    PYTHON_HOST=… python3 tests/python/run_test.py [PART-OF-A-NAME]

Without a sandbox, which escape_test.py is about. Speaks TAP.
"""
import contextlib
import json
import pathlib
import select
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from blackbox import equal, expect, main, test, tests_of  # noqa: E402
from host import Died, Host, once  # noqa: E402

NOTHING_INTERNAL = ("/usr/", "/lib/", "mishap", "host/", "Traceback", " at 0x7", " at 0x5")


def run(code, args="[]", timeout=60, **more):
    """The time is not the usual one: on a slow machine an import may take longer than that."""
    answer = once("run", code=code, args=args, timeout=timeout, **more)
    equal((answer["id"], answer["last"]), (7, True), "the id, and that it is the last")
    for word in NOTHING_INTERNAL:
        expect(word not in json.dumps(answer), word, "is in", answer)
    return answer


def returned(expression, args="[]"):
    return run("def run(*args):\n    return " + expression, args)


def failure(code, args="[]", **more):
    answer = run(code, args, **more)
    expect("failure" in answer, "no failure:", answer)
    found = answer["failure"]
    return found["code"], found["context"]["kind"], found.get("type"), found["message"], found["context"].get("line")


# ---- Results -------------------------------------------------------------------------------------

@tests_of({
    "None": ("None", None), "booleans": ("[True, False]", [True, False]), "an int": ("-7", -7),
    "an int beyond 64 bits": ("2**200", 2**200), "a float": ("[0.1, 1e300, -0.0, 3.0]", [0.1, 1e300, -0.0, 3.0]),
    "text": ("'\"\\\\\\n\\t\\0\\x7fä€😀'", '"\\\n\t\0\x7fä€😀'), "a tuple is an array": ("(1, (2,))", [1, [2]]),
    "a dict": ("{'b': 1, 'a': {'': []}}", {"b": 1, "a": {"": []}}),
    "what subclasses are made of": ("__import__('collections').OrderedDict(a=__import__('http').HTTPStatus.OK)", {"a": 200}),
    "a subclass whose methods lie": ("type('T', (int,), {'__str__': lambda s: '\"', '__repr__': lambda s: '}'})(5)", 5),
    "100 levels": ("eval('[' * 99 + ']' * 99)", json.loads("[" * 99 + "]" * 99)),
    "a million characters": ("'x' * 1000000", "x" * 1000000),
})
def a_result_is_json(expression, expected):
    answer = returned(expression)["answer"]
    equal((answer["result"], json.dumps(answer["result"])), (expected, json.dumps(expected)), "the result")


@tests_of({
    "each type": "[null, true, -1, 1.5, \"ä\\u0000\", [], {\"a\": [1]}]",
    "an int beyond 64 bits": "[%d, -%d]" % (3**100, 3**100), "a large float": "[1e308, 5e-324]",
    "none": "[]", "nested": "[" * 50 + "]" * 50,
})
def arguments_arrive_as_json_has_them(args):
    equal(returned("list(args)", args)["answer"]["result"], json.loads(args), "the arguments")


@tests_of({
    "an object": ("object()", "a value of type object"), "a set": ("{1}", "a value of type set"), "bytes": ("b''", "a value of type bytes"),
    "a function": ("run", "a value of type function"), "a type of its own": ("type('Mine', (), {})()", "a value of type Mine"),
    "inside of a list": ("[1, [object()]]", "a value of type object"), "a key": ("{1: 2}", "a dict with a key of type int"),
    "a key of a subclass": ("{type('S', (str,), {})('a'): 1}", "a dict with a key of type S"),
    "nan": ("float('nan')", "the float nan"), "inf": ("[-float('inf')]", "the float inf"),
    "half a surrogate pair": ("'\\ud800'", "half a surrogate pair"), "itself": ("(lambda x: x.append(x) or x)([])", "contains itself"),
    "too long": ("'x' * 2000000", "more than 1 MiB"), "too long in pieces": ("[['x' * 1000] * 1000] * 1000", "more than 1 MiB"),
    "too many digits": ("10**5000", "too long"), "a generator": ("(x for x in [])", "a value of type generator"),
})
def a_result_that_is_no_json_names_its_type(expression, words):
    code = "def run():\n    return " + expression
    found = failure(code)
    equal(found[:3], ("RUNTIME_ERROR", "result", "TypeError"), "the failure")
    expect(found[3].startswith("The function run returned ") and words in found[3], found[3])


# ---- Failures ------------------------------------------------------------------------------------

@tests_of({
    "a colon that is missing": ("def run()\n    pass", "SyntaxError", "expected ':'", 1),
    "in the third line": ("a = 1\nb = 2\nc = = 3", "SyntaxError", "invalid syntax", 3),
    "indentation": ("def run():\npass", "IndentationError", "expected an indented block after function definition on line 1", 2),
    "tabs and blanks": ("if 1:\n        a\n\tb", "TabError", "inconsistent use of tabs and spaces in indentation", 3),
    "a string without an end": ("x = 'abc", "SyntaxError", "unterminated string literal (detected at line 1)", 1),
    "return outside": ("\nreturn 1", "SyntaxError", "'return' outside function", 2),
    "null bytes": ("a = 1\0", None, "source code cannot contain null bytes", None),
    "too many parentheses": ("(" * 1000, "SyntaxError", "too many nested parentheses", 1),
})
def a_syntax_error_has_the_words_and_the_line_of_python(code, kind, words, line):
    equal(failure(code), ("SYNTAX_ERROR", "syntax", kind, words, line), "the failure")


@test
def code_that_is_nested_too_deep_is_a_syntax_error():
    equal(failure("x = " + "-" * 100000 + "1")[:2], ("SYNTAX_ERROR", "syntax"), "the failure")


@tests_of({
    "an exception": ("def run():\n    return 1 / 0", "ZeroDivisionError", "division by zero", 2),
    "in a function that is called": ("def f(x):\n    return x['a']\n\ndef run():\n    return f({})", "KeyError", "'a'", 2),
    "in the module": ("import math\nmath.sqrt(-1)\ndef run(): pass", "ValueError", "math domain error", 2),
    "inside of the library": ("import json\ndef run():\n    return json.loads('{')", "JSONDecodeError",
                              "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)", 3),
    "a class of its own": ("class Odd(Exception): pass\ndef run():\n    raise Odd('ä\"')", "Odd", 'ä"', 3),
    "without words": ("def run():\n    raise ValueError", "ValueError", "ValueError", 2),
    "too few arguments": ("def run(a): pass", "TypeError", "run() missing 1 required positional argument: 'a'", None),
    "SystemExit": ("import sys\ndef run(): sys.exit(3)", "SystemExit", "3", 2),
    "KeyboardInterrupt": ("def run(): raise KeyboardInterrupt", "KeyboardInterrupt", "KeyboardInterrupt", 1),
    "GeneratorExit": ("def run(): raise GeneratorExit('x')", "GeneratorExit", "x", 1),
    "a base of its own": ("class B(BaseException): pass\ndef run(): raise B(1)", "B", "1", 2),
    "a group": ("def run(): raise ExceptionGroup('several', [ValueError()])", "ExceptionGroup", "several (1 sub-exception)", 1),
    "recursion": ("def f(): return f()\ndef run():\n    return f()", "RecursionError", "maximum recursion depth exceeded", 1),
    "what is no text": ("class E(Exception):\n    def __str__(self): return 5\ndef run(): raise E", "E", "<exception str() failed>", 3),
    "words that fail": ("class E(Exception):\n    def __str__(self): raise self\ndef run(): raise E", "E", "<exception str() failed>", 3),
    "words that are no characters": ("def run(): raise ValueError('\\ud800\\0')", "ValueError", "\ufffd\0", 1),
    "an address": ("def run(): raise ValueError(object())", "ValueError", "<object object at 0x0>", 1),
    "a path of the library": ("from json import nothing", "ImportError", "cannot import name 'nothing' from 'json' (json/__init__.py)", 1),
    "a syntax error while it runs": ("def run():\n    exec('1+')", "SyntaxError", "invalid syntax (<string>, line 1)", 2),
    "a name that is no name": ("def run(): raise type('a\\n\"b', (Exception,), {})('x')", 'a\n"b', "x", 1),
    "after removing everything": ("import sys, builtins\ndef run():\n    sys.modules.clear()\n    builtins.__dict__.clear()\n    1 / 0",
                                  "ZeroDivisionError", "division by zero", 5),
})
def a_runtime_error_has_its_class_its_words_and_the_line(code, kind, words, line):
    equal(failure(code), ("RUNTIME_ERROR", "runtime", kind, words, line), "the failure")


@test
def a_long_message_is_cut():
    found = failure("def run(): raise ValueError('x' * 100000)")
    equal(found[3], "x" * 2000 + "…", "the message")


@test
def the_frames_are_those_of_the_code_and_the_innermost_first():
    code = "import re\n\nclass C:\n    def m(self):\n        return re.sub('a', self.f, 'a')\n\n    def f(self, m):\n        raise ValueError\n\n" \
           "def run():\n    return C().m()"
    found = run(code)["failure"]
    equal(found["backtrace"], ["C.f, line 8: raise ValueError", "C.m, line 5: return re.sub('a', self.f, 'a')",
                               "run, line 11: return C().m()"], "the frames")
    equal(found["context"]["bases"], ["ValueError", "Exception", "BaseException", "object"], "the bases")


@test
def of_a_deep_recursion_there_are_20_frames():
    found = run("def f(n): return f(n + 1)\ndef run(): return f(0)")["failure"]
    equal(found["backtrace"], ["f, line 1: def f(n): return f(n + 1)"] * 20, "the frames")


@tests_of({
    "no function": ("x = 1", "The code does not define a function run."),
    "nothing at all": ("# nothing", "The code does not define a function run."),
    "a number": ("run = 5", "The name run is no function: it has the type int."),
    "deleted": ("def run(): pass\ndel run", "The code does not define a function run."),
})
def code_without_run_says_so(code, words):
    equal(failure(code), ("RUNTIME_ERROR", "missing", "NameError", words, None), "the failure")


@tests_of({"no array": '{"a":1}', "no JSON": "[1,", "text": "x", "too deep": "[" * 300 + "]" * 300, "too many digits": "[" + "9" * 5000 + "]"})
def arguments_that_are_none_are_refused_before_the_code_runs(args):
    found = failure("print('it ran')\ndef run(*a): return 1", args)
    equal(found[:2], ("INVALID_ARGUMENT", "argument"), "the failure")


# ---- Output --------------------------------------------------------------------------------------

@tests_of({
    "print": ("print('ä', 1)", "ä 1\n"), "flush": ("print('x', end='', flush=True)", "x"), "bytes": ("sys.stdout.buffer.write(b'a\\xff')", "a\ufffd"),
    "lines": ("sys.stdout.writelines(['a', 'b'])", "ab"), "not descriptor 1": ("os.write(1, b'x')", ""),
    "another place": ("import io, contextlib\n    with contextlib.redirect_stdout(io.StringIO()): print('x')", ""),
    "the first one again": ("sys.stdout = None\n    print('lost')\n    sys.stdout = sys.__stdout__\n    print('x')", "x\n"),
    "control characters": ("print('\\0\\x1b\\x7f', end='')", "\0\x1b\x7f"),
})
def what_is_printed_is_in_the_answer(code, expected):
    answer = run("import os, sys\ndef run():\n    " + code)["answer"]
    equal((answer["stdout"], answer.get("cut")), (expected, None), "the output")


@test
def output_before_a_failure_is_told_with_it():
    equal(run("def run():\n    print('before')\n    1 / 0")["failure"]["stdout"], "before\n", "the output")


@test
def standard_error_is_apart():
    answer = run("import sys\ndef run():\n    print('e', file=sys.stderr)\n    print('o')")["answer"]
    equal((answer["stdout"], answer["stderr"]), ("o\n", "e\n"), "the output")


@test
def of_much_output_the_first_64_kb_are_kept():
    answer = run("def run():\n    for i in range(200000): print('ä' * 10)\n    return 1", timeout=300)["answer"]
    equal((len(answer["stdout"].encode()), answer["cut"], answer["result"]), (65536 - 65536 % 21 + 65536 % 21 // 2 * 2, True, 1), "the output")


@test
def reading_finds_the_end():
    equal(failure("def run(): return input()")[2:4], ("EOFError", "EOF when reading a line"), "the failure")


# ---- Limits --------------------------------------------------------------------------------------

@tests_of({
    "a loop": "while True: pass", "a loop that catches everything": "while True:\n        try:\n            while True: pass\n"
    "        except BaseException: pass", "one operation": "return 10**10**10", "a sleep": "import time\n    time.sleep(600)",
    "a lock": "import threading\n    threading.Lock().acquire() and threading.Event().wait()",
    "a regular expression": "import re\n    re.match('(a+)+$', 'a' * 50 + 'b')", "a sum": "return sum(range(10**12))",
    "words of an exception": "raise type('E', (Exception,), {'__str__': lambda s: [0 for i in iter(int, 1)]})",
    "threads": "import threading\n    for i in range(3): threading.Thread(target=lambda: [0 for i in iter(int, 1)]).start()\n    [0 for i in iter(int, 1)]",
    "a trace function": "import sys\n    sys.settrace(lambda *a: [0 for i in iter(int, 1)])\n    (lambda: 1)()",
    "signal handlers": "import signal\n    for i in range(1, 65):\n        try: signal.signal(i, signal.SIG_IGN)\n        except (OSError, ValueError): pass\n"
    "    signal.signal(signal.SIGRTMAX - 1, signal.SIG_DFL)\n    while True: pass",
})
def what_does_not_end_in_time_is_a_timeout(code):
    for limit in 0.15, 2, 20:  # on a busy machine its time may be over before it has begun
        begun = time.monotonic()
        try:
            answer = run("def run():\n    print('begun')\n    " + code, timeout=limit, **({"grace": 1} if "signal" in code else {}))
        except Died as death:
            expect("signal" in code, "died:", death.status)  # it has removed the handler, so that the parent kills it
            return
        found = answer["failure"]
        if found.get("stdout"):
            break
    equal((found["code"], found["message"], found["context"], found["stdout"]),
          ("TIMEOUT", "The code was not finished in time.", {"kind": "timeout"}, "begun\n"), "the failure")
    expect(time.monotonic() - begun < 60, "it took", time.monotonic() - begun)


@test
def the_limit_of_the_parent_counts_as_well():
    equal(failure("def run():\n    while True: pass", timeout=50, limit_ms=100)[:2], ("TIMEOUT", "timeout"), "the failure")


@test
def output_of_any_kind_comes_with_a_timeout():
    for limit in 0.3, 3, 30:
        found = run("def run():\n    print('\\\\\"\\n\\0ä😀' * 20000)\n    while True: pass", timeout=limit)["failure"]
        if found.get("stdout"):
            break
    expect(found["stdout"].startswith('\\"\n\0ä😀' * 100) and found["stdout"][-1] in '\\"\n\0ä😀', found["stdout"][-20:])


@test
def a_call_that_is_interrupted_before_its_time_is_cancelled():
    with Host() as host:
        host.begin("run", code="import sys\ndef run():\n    while True: pass", timeout=60)
        while True:  # it may not have begun yet
            time.sleep(0.05)
            host.interrupt()
            if select.select([host.ours], [], [], 0.3)[0]:
                found = host.receive()
                break
    equal((found["failure"]["code"], found["failure"]["context"]["kind"]), ("CANCELLED", "cancelled"), "the failure")


@tests_of({
    "small objects": "x = []\n    while True: x.append([x])", "large objects": "x = []\n    while True: x.append(bytearray(1000000))",
    "one object": "return len(bytearray(10**9))", "a list": "return [0] * 10**8", "text": "return 'x' * 10**9", "an int": "return 1 << 10**10",
    "text that doubles": "x = 'x'\n    while True: x += x", "a dict": "return {i: str(i) for i in range(10**7)}",
    "ctypes": "import ctypes\n    return len(ctypes.create_string_buffer(10**9))",
})
def what_needs_too_much_memory_fails_with_its_line(code):
    found = failure("def run():\n    " + code, memory_mb=32, timeout=50)
    equal(found[:3] + found[4:], ("RUNTIME_ERROR", "memory", "MemoryError", 3 if "\n" in code else 2), "the failure")


@test
def memory_that_is_given_back_can_be_taken_again():
    equal(run("def run():\n    for i in range(100): x = bytearray(10000000)\n    return len(x)", memory_mb=32, timeout=300)["answer"]["result"], 10000000, "the result")


@test
def code_that_catches_the_lack_of_memory_goes_on():
    code = "def run():\n    try:\n        x = bytearray(10**9)\n    except MemoryError:\n        return 'less'"
    equal(run(code, memory_mb=32)["answer"]["result"], "less", "the result")


@test
def threads_and_exit_functions_that_are_left_do_nothing():
    code = "import atexit, threading, time\natexit.register(print, 'late')\n" \
           "def run():\n    for i in range(5): threading.Thread(target=time.sleep, args=(600,)).start()\n    return 'done'"
    with Host() as host:
        equal(host.call("run", code=code)["answer"], {"result": "done", "stdout": ""}, "the answer")
        equal(host.process.wait(120), 0, "how the process ended")


# ---- What the code finds -------------------------------------------------------------------------

@tests_of({
    "no environment": ("{k for k in __import__('os').environ if k != 'PWD'} == set()", True), "no arguments": ("__import__('sys').argv", [""]),
    "no program": ("__import__('sys').executable", ""), "a fixed hash": ("hash('a') == hash('a') and __import__('sys').flags.hash_randomization", 0),
    "its module": ("__name__", "user_code"), "its module in sys.modules": ("__import__('sys').modules[__name__].run is run", True),
    "UTF-8": ("__import__('sys').getfilesystemencoding()", "utf-8"), "no site packages": ("[p for p in __import__('sys').path if 'packages' in p]", []),
    "dataclasses": ("__import__('dataclasses').asdict(__import__('dataclasses').make_dataclass('D', ['x'])(1))", {"x": 1}),
    "strptime": ("__import__('time').strptime('2026-02-01', '%Y-%m-%d').tm_yday", 32), "a codec": ("'ä'.encode('cp1252')[0]", 228),
    "decimal": ("str(__import__('decimal').Decimal(1) / 3)", "0." + "3" * 28), "no byte code is written": ("__import__('sys').dont_write_bytecode", True),
})
def the_code_finds_real_python(expression, expected):
    answer = once("run", code="def run():\n    return " + expression)["answer"]
    equal(answer["result"], expected, "the result")


# ---- Replays -------------------------------------------------------------------------------------

LITERALS = ["0", "-17", "1" + "0" * 5000, "1.5", "-0.0", "nan", "inf", "-inf", "'ä\\n\\x00'", "b'\\xff'", "None", "True", "()", "(1,)", "[]",
            "[1, [2.5, 'x']]", "{}", "{'a': (None, {1: 2})}", "set()", "{1, 2, 3}", "frozenset({1})", "(1+2j)", "[nan, -inf, {'x': inf}]",
            "'\\ud800'"]


@test
def literals_come_back_as_they_were():
    for given in LITERALS:
        answer = once("call", code="def f(x): return x", function="f", args=[given])["answer"]
        equal((answer["outcome"], answer["result"], answer["literal"]), ("returned", given, True), given[:30])


@tests_of({
    "a value": ("return a // b", ["7"], {"b": "2"}, {"outcome": "returned", "result": "3", "type": "int", "literal": True, "stdout": ""}),
    "a set in its order": ("return {'x', 'y', 'z'} | {a}", ["'w'"], {},
                           {"outcome": "returned", "result": None, "type": "set", "literal": True, "stdout": ""}),
    "an object": ("return [object()]", ["1"], {},
                  {"outcome": "returned", "result": "[<object object at 0x0>]", "type": "list", "literal": False, "stdout": ""}),
    "text with an address": ("return 'object at 0x7f00'", ["1"], {},
                             {"outcome": "returned", "result": "'object at 0x7f00'", "type": "str", "literal": True, "stdout": ""}),
    "an exception": ("return a // b", ["7"], {"b": "0"},
                     {"outcome": "raised", "exception": "ZeroDivisionError", "message": "integer division or modulo by zero", "line": 3,
                      "bases": ["ZeroDivisionError", "ArithmeticError", "Exception", "BaseException", "object"],
                      "backtrace": ["f, line 3: return a // b"], "stdout": ""}),
    "one of its own": ("raise E('x')", ["7"], {},
                       {"outcome": "raised", "exception": "E", "message": "x", "line": 3, "bases": ["E", "KeyError", "LookupError", "Exception",
                                                                                                   "BaseException", "object"],
                        "backtrace": ["f, line 3: raise E('x')"], "stdout": ""}),
    "without words": ("assert a == 1", ["2"], {},
                      {"outcome": "raised", "exception": "AssertionError", "message": "", "line": 3,
                       "bases": ["AssertionError", "Exception", "BaseException", "object"], "backtrace": ["f, line 3: assert a == 1"], "stdout": ""}),
    "too many digits": ("return int('9' * 5000)", ["1"], {},
                        {"outcome": "raised", "exception": "ValueError", "line": 3, "message": None, "stdout": "",
                         "bases": ["ValueError", "Exception", "BaseException", "object"], "backtrace": ["f, line 3: return int('9' * 5000)"]}),
    "arguments that do not fit": ("pass", [], {},
                                  {"outcome": "raised", "exception": "TypeError", "message": "f() missing 1 required positional argument: 'a'", "line": 0,
                                   "bases": ["TypeError", "Exception", "BaseException", "object"], "backtrace": [], "stdout": ""}),
    "a repr that fails": ("return type('T', (), {'__repr__': lambda s: 1 / 0})()", ["1"], {},
                          {"outcome": "raised", "exception": "ZeroDivisionError", "message": "division by zero", "line": 3, "stdout": "",
                           "bases": ["ZeroDivisionError", "ArithmeticError", "Exception", "BaseException", "object"], "backtrace": None}),
})
def a_replay_tells_its_outcome(body, args, kwargs, expected):
    code = "class E(KeyError): __str__ = lambda self: self.args[0]\ndef f(a, b=1):\n    " + body
    answers = [once("call", code=code, function="f", args=args, kwargs=kwargs)["answer"] for _ in range(2)]
    equal(answers[0], answers[1], "another process answers")
    for name, value in expected.items():
        if value is not None:
            equal(answers[0][name], value, name)
    equal(set(answers[0]), set(expected), "the members")


@tests_of({
    "no literal": (["x"], {}, "The argument 1 is not a Python literal."), "a call": (["1", "print(1)"], {}, "The argument 2 is not a Python literal."),
    "a statement": (["x = 1"], {}, "The argument 1 is not a Python literal."), "an import": (["__import__('os')"], {}, "The argument 1 is not a Python literal."),
    "an attribute": (["().__class__"], {}, "The argument 1 is not a Python literal."), "a lambda": (["(lambda: 1)()"], {}, "The argument 1 is not a Python literal."),
    "a name that it sets": (["(set := 5)", "(x := 5)"], {}, "The argument 2 is not a Python literal."),
    "code in a comprehension": (["[c.mro() for c in (set,)]"], {}, "The argument 1 is not a Python literal."),
    "by name": ([], {"b": "("}, "The argument b is not a Python literal."), "no text": ([], {"b": 5}, "The argument b is not a Python literal."),
})
def arguments_of_a_replay_are_literals(args, kwargs, words):
    with Host() as host:
        found = host.call("call", code="def f(*a, **b): return 1", function="f", args=args, kwargs=kwargs)["failure"]
        equal((found["code"], found["context"]["kind"], found["message"]), ("INVALID_ARGUMENT", "argument", words), "the failure")
        equal(host.began, False, "whether code has begun")


@tests_of({
    "code that runs": ("run", {"code": "def run(): return 1"}, True), "a function that is called": ("call", {"code": "def f(): return 1", "function": "f"}, True),
    "a module that fails": ("run", {"code": "1 / 0"}, True), "code that ends its process": ("run", {"code": "import os\nos._exit(70)"}, True),
    "code that cannot be parsed": ("run", {"code": "def run(:"}, False), "arguments that are none": ("run", {"code": "1 / 0", "args": "{}"}, False),
})
def that_code_begins_is_said_before_it_does(operation, arguments, begins):
    with Host() as host:
        with contextlib.suppress(Died):
            host.call(operation, **arguments)
        equal(host.began, begins, "whether it was said")


@tests_of({
    "the module fails": ("1 / 0", "RUNTIME_ERROR", "runtime"), "syntax": ("def f(:", "SYNTAX_ERROR", "syntax"), "no function": ("g = 1", "RUNTIME_ERROR", "missing"),
    "memory": ("def f(): return bytearray(10**9)", "RUNTIME_ERROR", "memory"), "time": ("def f():\n    while True: pass", "TIMEOUT", "timeout"),
    "a result that is too long": ("def f(): return 'x' * 2000000", "RUNTIME_ERROR", "result"),
})
def what_is_no_outcome_of_the_function_is_a_failure(code, name, kind):
    found = once("call", code=code, function="f", timeout=0.5 if kind == "timeout" else 50)["failure"]
    equal((found["code"], found["context"]["kind"]), (name, kind), "the failure")


# ---- The protocol --------------------------------------------------------------------------------

@test
def it_says_that_it_is_ready_and_ends_when_nobody_is_there():
    with Host() as host:
        equal(host.ready, {"ready": 1}, "the first message")
        host.ours.shutdown(1)
        equal(host.process.wait(120), 0, "how it ended")


@test
def a_signal_before_its_call_does_not_matter():
    with Host() as host:
        host.interrupt()
        equal(host.call("run", code="def run(): return 1")["answer"]["result"], 1, "the result")


@test
def a_call_in_many_packets_is_put_together():
    with Host() as host:
        host.ours.send(b"<what is not finished")
        equal(host.call("run", code="#" + "ä" * 200000 + "\ndef run(x): return len(x)", args=json.dumps(["€" * 100000]))["answer"]["result"], 100000, "the result")


@tests_of({"no JSON": b"{", "no object": b"[]", "nothing": b"{}", "no code": b'{"id":7,"operation":"python.run","arguments":{}}',
           "code that is no text": b'{"id":7,"operation":"python.run","arguments":{"code":5}}',
           "another operation": b'{"id":7,"operation":"python.other","arguments":{"code":"x"}}',
           "numbers that are none": b'{"id":7,"operation":"python.run","arguments":{"code":"x","timeout":"a","memory_mb":-1}}'})
def a_message_that_is_no_call_ends_it_in_order(message):
    with Host() as host:
        host.send(message)
        try:
            answer = host.receive()
            expect("failure" in answer, answer)
        except Died as death:
            equal(death.status, 70 if message == b"{" else 0, "how it ended: what cannot be read is a failure of its own")


if __name__ == "__main__":
    main()
