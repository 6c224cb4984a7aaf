#!/usr/bin/env python3
"""The Python package with hostile values, without memory, in threads, after a fork, in other interpreters.

    MISHAP_EXTENSION=… MISHAP_PROGRAM=… python3 tests/bindings/python_hostile_test.py [PART-OF-A-NAME]
"""
import gc
import json
import os
import sys
import threading
import time

from package import SANITIZED, Skipped, equal, expect, inside, main, python, test, tests_of

inside()
import mishap  # noqa: E402
from mishap import Mishap, ParseError  # noqa: E402


def told(value):
    """What a value of the context becomes."""
    return json.loads(Mishap("CONFLICT", context={"value": value}).render())["context"]["value"]


class Loud:
    def __str__(self):
        raise ValueError("no text")


class Spoken:
    def __str__(self):
        return "spoken \ud800"


class Number(int):
    pass


def cycle():
    inner = {"list": []}
    inner["list"].append(inner)
    return inner


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


@tests_of({
    "null": (None, None), "true": (True, True), "an int": (-7, -7), "2**63": (2**63, 2**63), "10**40": (10**40, 10**40), "a subclass": (Number(3), 3),
    "a float": (0.1, 0.1), "infinity": (float("inf"), None), "text": ("ä😀", "ä😀"), "NUL": ("a\0b", "a\ufffdb"), "%n": ("%n%s%p", "%n%s%p"),
    "half a pair": ("a\ud800b", "a\ufffdb"), "a whole pair": ("\ud83d\ude00", "😀"), "no UTF-8": (b"a\xff\xfeb", "a\ufffd\ufffdb"),
    "a bytearray": (bytearray(b"x"), "x"), "quotes": ('"\\\n\t\x01', '"\\\n\t\x01'), "a dict": ({"a": {"b": [1, 2.5, None]}}, {"a": {"b": [1, 2.5, None]}}),
    "keys": ({1: 2, None: 3, ("x",): 4, b"k\xff": 5}, {"1": 2, "None": 3, "[tuple]": 4, "k\ufffd": 5}), "a tuple": ((1, "x"), [1, "x"]),
    "a set": (frozenset([1]), [1]), "no text": (object(), "[object]"), "a text that fails": (Loud(), "[Loud]"), "own text": (Spoken(), "spoken \ufffd"),
    "nested bytes": ([b"\xff", bytearray(b"y"), "\0"], ["\ufffd", "y", "\ufffd"]), "nested numbers": ([float("nan"), 2**70, Number(4)], [None, 2**70, 4]),
    "nested objects": ([object(), Loud()], ["[object]", "[Loud]"]), "a secret": ({"password": "x"}, {"password": "[redacted]"}),
    "a cycle": (cycle(), {"list": ["[circular]"]}), "an exception": (KeyError("x"), "'x'"),
    "a large array": ([["x" * 1000] * 1000] * 20, "[too large]"), "a huge int": (10**5000, "[int]") if hasattr(sys, "set_int_max_str_digits") else (1, 1)})
def a_value_of_the_context_becomes(value, expected):
    equal(told(value), expected)


def named(name):
    """An object whose type says this is its name, or fails to say it."""
    def say(_):
        return name() if callable(name) else name
    return type("Meta", (type,), {"__name__": property(say)})("Odd", (), {})()


class OddSet(set):
    def __iter__(self):
        raise ValueError


class OddList(list):
    def __len__(self):
        raise ValueError

    __iter__ = __getitem__ = __len__


class OddNumber(int):
    """Between 0 and 1e9 when it is first asked, and then not."""
    asked = 0

    def __float__(self):
        OddNumber.asked += 1
        return 1.0 if OddNumber.asked == 1 else 1e300


@tests_of({"bytes": (b"A" * 100, "[object]"), "None": (None, "[object]"), "a number": (7, "[object]"), "an exception": (lambda: 1 / 0, "[object]"),
           "a text": ("Fine", "[Fine]")})
def a_type_may_have_any_name(name, expected):
    equal(told(named(name)), expected)
    equal(told([named(name)]), [expected])
    equal(told({named(name): 1}), {expected: 1})
    for refused in (lambda: Mishap("CONFLICT", named(name)), lambda: Mishap("CONFLICT", fields=named(name)), lambda: Mishap(named(name)),
                    lambda: mishap.parse(named(name)), lambda: mishap.guard("x", known=[named(name)])):
        try:
            refused()
        except TypeError:
            continue
        raise AssertionError("it was accepted")
    failure = RuntimeError()
    failure.__cause__ = type("Meta", (type(Exception),), {"__name__": property(lambda _: 1 / 0)})("Odd", (Exception,), {})()
    equal(mishap.answer(failure).status, 500)


@test
def subclasses_of_containers_and_numbers_are_read_without_their_code():
    equal(told(OddSet([1])), [1])
    equal(told(OddList([1])), [1])
    failure = Mishap("CONFLICT", fields=OddList([{"field": "a"}]))
    equal([field["field"] for field in json.loads(failure.render())["errors"]], ["a"])
    failure = Mishap("CONFLICT", retry_after=OddNumber(1))
    try:
        failure.render()
        raise AssertionError("it was rendered")
    except ValueError as refusal:
        expect("retry_after" in str(refusal))


@test
def a_part_that_is_removed_while_it_is_checked_stays():
    class Key(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            parts.clear()
            gc.collect()
            return str(self) == other
    for _ in range(10):
        parts = {"fields": [{Key("field"): "a" * 50}]}
        failure = Mishap("CONFLICT")
        failure.__setstate__((parts, {}))
        equal(json.loads(failure.render())["errors"][0]["field"], "a" * 50)
    try:
        failure.__setstate__(({7: 1}, {}))
        raise AssertionError("it was accepted")
    except TypeError:
        pass


@test
def deep_values_are_cut():
    value, levels = told(deep(100_000)), 0
    while isinstance(value, list):
        value, levels = value[0], levels + 1
    equal((value, levels), ("[too deep]", 64))
    equal(told(deep(60)), deep(60))


@tests_of({"%n": "%n%n%s%10000000d", "NUL": "a\0b", "half a pair": "a\udc80b", "bytes": b"\xff%n", "escapes": "\x1b[31mred", "empty": "", "spaces": "   "})
def any_message_can_be_rendered(message):
    failure = Mishap("CONFLICT", message, suggestion=message, reason=message, docs=message)
    for dialect in mishap.dialects:
        text = failure.render(dialect)
        expect("\0" not in text, dialect)
        equal([finding for finding in mishap.verify(text, dialect) if finding.severity == "fatal"], [])
    made = mishap.answer(failure)
    equal(json.loads(made.body)["status"], 409)


@test
def ten_megabytes_are_rendered_read_and_guarded():
    large = "ä" * 5_000_000
    document = Mishap("CONFLICT", large, context={"x": large}).render()
    equal(json.loads(document)["detail"], large)
    equal(mishap.parse(document).message, large)
    expect(large in mishap.translate(document, "problem", "canonical"))
    expect(mishap.guard(large) is large)
    equal(mishap.verify(document), [])


@test
def a_hundred_thousand_keys_do_not_hang():
    def seconds(count):
        context = {f"key{number}": number for number in range(count)}
        begun = time.process_time()
        failure = Mishap("CONFLICT", context=context, notes=context)
        equal(len(json.loads(mishap.answer(failure).body)["context"]), count)
        equal(len(mishap.parse(failure.render()).context), count)
        return time.process_time() - begun
    few, many = (min(seconds(count) for _ in range(3)) for count in (5_000, 100_000))
    expect(many < few * 100, few, many)  # 20 times as many; if it grew with the square it would be 400 times


@test
def the_text_of_a_value_may_change_everything():
    class Changing:
        def __str__(self):
            context.clear()
            failure.context = {}
            fields.clear()
            failure.message = None
            gc.collect()
            return "done"
    fields = [{"field": "a", "message": Changing()}, {"field": "b"}]
    context = {"a": Changing(), "b": [Changing()], "c": {Changing(): 1}}
    failure = Mishap("CONFLICT", "x" * 1000, context=context, fields=fields)
    for _ in range(3):
        json.loads(failure.render())
        context.update(a=Changing(), b=[Changing()])
        failure.context = context
        fields.extend([{"field": "a", "actual": Changing(), "min": Changing()}, 7, None])
        failure.fields[:] = fields


@test
def documents_that_are_garbage_are_refused():
    for document in (b"", b"\xff\xfe", b"\0" * 100, b"[" * 100_000, b'{"a":1}' * 2, "\ud800", b'{"code":"\\ud800"}', b'{"a":1,"a":2}'):
        for dialect in mishap.dialects:
            try:
                mishap.parse(document, dialect).render()
            except ParseError as failure:
                expect(failure.findings, dialect, document[:20])
            mishap.verify(document, dialect, strict=True)


@test
def a_long_chain_of_causes_is_freed():
    top = Mishap("CONFLICT")
    for _ in range(200_000):
        above = Mishap("CONFLICT")
        above.__cause__, top = top, above
    equal(len(__import__("mishap._answer")._answer.causes_of(top)), 20)
    del top, above
    cyclic = Mishap("CONFLICT", context={})
    cyclic.context["me"] = cyclic
    cyclic.__cause__ = cyclic
    expect(cyclic.render() and mishap.answer(cyclic).status == 409)
    del cyclic
    gc.collect()


# -- memory --------------------------------------------------------------------------------------------------

def kilobytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def fail_once(number):
    try:
        # Keys and texts are made anew: one that is held by mistake must not be the same object each time.
        raise Mishap("NOT_FOUND", f"There is no user {number}.", context={f"user{number}": number, "tags": [f"a{number}", {f"b{number}": 1}]},
                     fields=[{"field": f"id{number}", "error": f"invalid_{number}", "message": f"No {number}.", "actual": f"x{number}"}],
                     suggestion=f"Try {number}.", reason=f"It is {number}.", notes={f"n{number}": 1})
    except Mishap as failure:
        document = failure.render()
        mishap.parse(document)
        mishap.translate(document, "problem", "json-api")
    if number % 10 == 0:
        fail_otherwise(number, document)


def fail_otherwise(number, document):
    for call in (lambda: Mishap(f"NOT_FUND{number}"), lambda: Mishap("NOT_FOUND", **{f"odd{number}": 1}), lambda: mishap.parse(document[:-1]),
                 lambda: mishap.parse("{}"), lambda: mishap.guard(7), lambda: Mishap("NOT_FOUND").render(f"dialect{number}")):
        try:
            call()
            raise AssertionError("it was accepted")
        except (TypeError, ValueError):  # a ParseError is a ValueError
            pass
    mishap.verify(f'{{"status":"{number}"}}')
    mishap.guard(f"no {number} postgres://ada:hunter22@db7/users", known=[f"text {number}"])
    mishap.parse(document.replace("NOT_FOUND", "CODE_OF_ANOTHER")).render()
    mishap.describe("NOT_FOUND")
    mishap.answer(Mishap("CONFLICT", f"It is {number}."), known=lambda: [f"text {number}"])


@test
def failures_do_not_use_up_memory():
    count = 5_000 if SANITIZED else int(os.environ.get("MISHAP_FAILURES", "100000"))
    for number in range(count // 10):
        fail_once(number)
    before = kilobytes()
    for number in range(count):
        fail_once(number)
    grown = kilobytes() - before
    expect(SANITIZED or grown < 1024, f"{count} failures have taken {grown} KB")


@test
def every_allocation_of_the_core_may_fail():
    fail_after = mishap._mishap._fail_after
    failure = Mishap("CONFLICT", "It is taken.", context={"a": [1, "x" * 5000], "b": "y" * 5000}, fields=[{"field": "n", "actual": 3}])
    document = failure.render()
    calls = {"render": failure.render, "answer": lambda: mishap.answer(failure).body, "parse": lambda: mishap.parse(document).render(),
             "translate": lambda: mishap.translate(document, "problem", "canonical"), "verify": lambda: mishap.verify(document),
             "guard": lambda: mishap.guard("x" * 10000)}
    try:
        for name, call in calls.items():
            for allowed in range(40):
                fail_after(allowed)
                try:
                    got = call()
                    expect(got is not None and (name in ("verify", "guard") or json.loads(got)), name, allowed)
                except (MemoryError, Mishap) as refusal:
                    expect(isinstance(refusal, MemoryError) or json.loads(refusal.render()), name)
    finally:
        fail_after(-1)
    equal(failure.render(), document)


@test
def every_allocation_of_python_may_fail():
    try:
        from _testcapi import remove_mem_hooks, set_nomemory
    except ImportError as missing:
        raise Skipped("this Python has no _testcapi") from missing
    failure = Mishap("CONFLICT", "It is taken \ud800.", context={"a": [1, {"b": b"\xff"}], 2: 10**30}, fields=[{"field": "n"}])
    document = failure.render()
    failed = 0
    for call in (failure.render, lambda: mishap.parse(document), lambda: mishap.verify("{}"), lambda: Mishap("NOT_FOUND", "x", context={"a": 1}),
                 lambda: mishap.describe("NOT_FOUND"), lambda: mishap.guard("x", known=["y"]), lambda: failure._answer("problem", None, False, ("k",))):
        for allowed in range(40):
            set_nomemory(allowed, allowed + 1)
            try:
                call()
            except (MemoryError, SystemError, ParseError):
                failed += 1
            finally:
                remove_mem_hooks()
    expect(failed > 20, failed)
    equal(failure.render(), document)


# -- threads, processes, interpreters --------------------------------------------------------------------------

@test
def another_thread_goes_on_while_a_large_one_is_rendered():
    large = Mishap("CONFLICT", "ä" * 4_000_000)
    turns, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            turns.append(time.monotonic())
            time.sleep(0.0001)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # only a lock that is released lets the other thread run
    thread = threading.Thread(target=count)
    try:
        thread.start()
        while not turns:
            time.sleep(0.001)
        for _ in range(200):  # on a busy machine the other thread may have no processor meanwhile
            begun = time.monotonic()
            large.render()
            ended = time.monotonic()
            met = any(begun < moment < ended for moment in turns)
            if met:
                break
        stop.set()
    finally:
        sys.setswitchinterval(switch)
    thread.join()
    expect(met, "the other thread waited", ended - begun)


@test
def many_threads_fail_at_once():
    wrong = []

    def work(number):
        for turn in range(300):
            failure = Mishap("CONFLICT", f"{number}-{turn}", context={"n": number, "large": "x" * (40_000 if turn % 50 == 0 else 10)})
            document = json.loads(failure.render())
            if document["detail"] != f"{number}-{turn}" or document["context"]["n"] != number:
                wrong.append(document)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(wrong, [])


@test
def a_forked_process_has_ids_of_its_own():
    mishap.new_incident()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, (mishap.new_incident() + Mishap("NOT_FOUND").render()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        said = file.read().decode()
    equal(os.waitpid(child, 0)[1], 0)
    ours = mishap.new_incident()
    equal(json.loads(said[36:])["status"], 404)
    expect(said[:36] != ours and said[24:36] != ours[24:])


@test
def a_sub_interpreter_is_refused_cleanly():
    said = python("""
import sys, mishap
try:
    import _interpreters as other
    make = lambda: other.create("legacy")
except ImportError:
    import _xxsubinterpreters as other
    make = other.create
number = make()
code = '''
try:
    import mishap
    print("imported")
except ImportError as refusal:
    print(refusal)
'''
if hasattr(other, "run_string"): other.run_string(number, code)
else: other.exec(number, code)
sys.stdout.flush()
other.destroy(number)
print(mishap.Mishap("NOT_FOUND").status)
""")
    refusal, status = said.split("\n")[:2]
    expect(refusal in ("mishap works in the main interpreter alone, not in a sub-interpreter.",
                       "module mishap._mishap does not support loading in subinterpreters"), said)  # the second is Python's own, from 3.12 on
    equal(status, "404")


@test
def a_second_import_of_the_extension_is_refused():
    said = python("""
import sys, mishap
del sys.modules["mishap._mishap"], sys.modules["mishap"]
try:
    import mishap
except ImportError as refusal:
    print(refusal)
""")
    expect("imported before" in said, said)


main()
