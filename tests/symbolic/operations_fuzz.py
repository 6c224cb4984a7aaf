#!/usr/bin/env python3
"""A differential fuzzer: one operation at a time, over small values and those at a boundary.

    operations_fuzz.py [--minutes 60 | --rounds 1] [--seed 1] [--only WORDS] [--rows] [--keep-going]

A function of one operation is made of each row of operations.py. CPython runs it on a sample of its inputs, so what it does is known.
Then the tools are asked:

    run       the operation on known arguments must do what CPython does
    check     a postcondition that says for a few inputs what CPython does; one that denies it for one input must not be verified
    find      an exception that CPython raises must not be unreachable
    compare   the function is no other than itself; one that differs for one input is not equivalent
    branches  a line that CPython runs is not dead, and a side that it takes is reachable

A proof that an input of the sample breaks is a difference. So is a witness that CPython does not confirm, and an answer that says
that there was one. A refusal with a reason is none; it is counted. Without --minutes each row is asked in a few rounds, and what is
found must be what KNOWN says; the engine is also asked for operations that no row has. The last lines are TAP.
"""
import argparse
import ast
import builtins
import collections
import enum
import importlib
import io
import itertools
import math
import os
import random
import re
import resource
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, Slow, lines_of, loaded, maker, outcome, same, violated  # noqa: E402
from library_operations import MODULES  # noqa: E402
from operations import BOUNDS, KINDS, ROWS  # noqa: E402

SAMPLE = 24  # inputs of a program that CPython runs
PINNED = 4  # inputs of one question; the solvers take long for floats, so there it is one
SECONDS = 1  # for an answer
PATIENCE = 60  # … for one that must be there, however busy the machine
SHOWN = 2  # differences of a program, after which there are no more questions about it
SLOW = 2  # questions about a program without an answer in this time, after which there are no more
# Differences that are known: the operation ("": each), a part of its body, a part of what is said, and the reason. Each must occur, so
# an entry goes when its reason is mended.
Known = collections.namedtuple("Known", "operation body says reason")
KNOWN = []
AGAIN = 6  # programs of an operation that has an entry


say = print


def print_nothing(*words, file=None, **options):
    """print() of these words is taken to succeed; its options are those of Python."""
    say(file=io.StringIO(), **options)


builtins.print = print_nothing


class Difference(Exception):
    pass


def engine_of_ours():
    return Engine(None, "--replay", "here")


# ---- What CPython does, in words of a contract -----------------------------------------------------------------------------

def is_value(place, value, depth=0):
    """A condition that only this value fulfils at this place, of Python's and of the engine's; None: there is none."""
    kind = type(value)
    if depth > 4:
        return None
    if value is None:
        return "%s is None" % place
    if kind is float:
        if value != value:
            return "(type(%s) == float and %s != %s)" % (place, place, place)
        return "(type(%s) == float and %s == %s)" % (place, place, "1e999" if value == math.inf else "-1e999" if value == -math.inf else repr(value))
    if kind in (bool, int):
        return "(type(%s) == %s and %s == %r)" % (place, kind.__name__, place, value)
    if kind in (str, bytes):
        return "%s == %s" % (place, ascii(value))
    if kind in (list, tuple):
        parts = [is_value("%s[%d]" % (place, i), item, depth + 1) for i, item in enumerate(value)]
        words = ["type(%s) == %s" % (place, kind.__name__), "len(%s) == %d" % (place, len(value)), *parts]
        return None if None in parts else "(%s)" % " and ".join(words)
    if isinstance(value, enum.Enum):
        return "%s is %s.%s" % (place, kind.__name__, value.name)
    if kind.__name__ in ("P", "F", "Child"):  # the dataclasses of operations.py
        return "%s == %s" % (place, ascii(value))
    if kind.__name__ in ("date", "timedelta"):
        return "(type(%s) == datetime.%s and %s == %s)" % (place, kind.__name__, place, ascii(value))
    if kind.__name__ == "T":
        return "(type(%s) == T and %s == %s)" % (place, place, ascii(value))
    plain = (set, frozenset, dict)
    if kind in plain and all(type(x) in (int, str) for x in (*value, *(value.values() if kind is dict else ()))):
        words = "frozenset(%s)" % ascii(sorted(value, key=repr)) if kind is frozenset else ascii(value)
        order = " and list(%s) == %s" % (place, ascii(list(value))) if kind is dict else ""
        return "(type(%s) == %s and %s == %s%s)" % (place, kind.__name__, place, words, order) if kind is not frozenset else "%s == %s" % (place, words)
    return None


def is_input(name, value):
    """A condition that a parameter has this value, or one that is equal to it."""
    has_float = type(value) is float or (type(value) is list and any(type(item) is float for item in value))
    if has_float or value is None or type(value) is frozenset or isinstance(value, enum.Enum):
        return is_value(name, value)
    return "%s == %s" % (name, ascii(value))


def statements(body):
    """The lines of a body: an expression is returned."""
    lines = body.split("\n")
    return lines if len(lines) > 1 or re.match(r"(return|raise|pass)\b", body) else ["return " + body]


class Program:
    """A function f of one operation, its inputs, and what CPython does with them."""

    def __init__(self, row, picker, seconds=5):
        self.row = row
        self.names = "abc"[:len(row.kinds)]
        self.at_once = 1 if {"float", "floats"} & {*row.kinds} else PINNED
        head = ", ".join("%s: %s" % (name, KINDS[kind].annotation) for name, kind in zip(self.names, row.kinds))
        self.head, self.lines = head, statements(row.body)
        every = [KINDS[kind].values for kind in row.kinds]
        total = math.prod(len(values) for values in every)
        if total <= SAMPLE:
            self.inputs = [", ".join(given) for given in itertools.product(*every)]
        else:
            self.inputs = sorted({", ".join(picker.choice(values) for values in every) for _ in range(SAMPLE)})
            picker.shuffle(self.inputs)
        used = ["import %s\n" % module for module in MODULES if module + "." in row.body]
        self.needs = "import math\n" + "".join(used) + "\n".join(sorted({KINDS[kind].needs for kind in row.kinds})) + "\n"
        self.code = self.needs + self.function("f")
        self.outcomes = {}
        for words in list(self.inputs):
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                self.outcomes[words] = outcome(self.code, "f", maker(words))
            except Slow:
                self.inputs.remove(words)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        self.raised = sorted({got[1] for got in self.outcomes.values() if got[0] == "raised"})

    def function(self, name, contract=(), before=()):
        doc = ['    r"""', *("    " + line for line in contract), '    """'] if contract else []
        return "\n".join(["def %s(%s):" % (name, self.head), *doc, *("    " + line for line in (*before, *self.lines))]) + "\n"

    def values(self, words):
        return maker(words)(loaded(self.needs))

    def sizes(self):
        """What a parameter is not longer than, as preconditions: the engine explores a container up to a size only."""
        every = zip(self.names, ([self.values(words)[0] for words in KINDS[kind].values] for kind in self.row.kinds))
        return ["pre: len(%s) <= %d" % (name, max(map(len, values))) for name, values in every if all(hasattr(value, "__len__") for value in values)]

    def pin(self, words):
        return " and ".join(map(is_input, self.names, self.values(words))) or "True"

    def result(self, words, place="_"):
        """What the operation returns for an input, as a condition; None: it raises, or that cannot be said."""
        got = self.outcomes[words]
        try:
            return is_value(place, got[1]) if got[0] == "returned" else None
        except (RecursionError, AttributeError, MemoryError, ValueError):  # of an object without an attribute; of what has no room; of long numbers
            return None

    def region(self, picker):
        """A precondition, and the inputs that fulfil it: a few inputs, or all within bounds."""
        if picker.random() < 0.7:
            few = picker.sample(self.inputs, min(self.at_once, len(self.inputs)))
            return [*self.sizes(), "pre: " + " or ".join("(%s)" % self.pin(words) for words in few)], few
        bounds = [BOUNDS[kind].format(name) for name, kind in zip(self.names, self.row.kinds) if kind in BOUNDS]
        inside = [words for words in self.inputs if all(eval(bound, {}, dict(zip(self.names, self.values(words)))) for bound in bounds)]
        return ["pre: " + bound for bound in bounds], inside

    def wrapped(self, contract=()):
        """The function g returns the name of an exception that f raises."""
        doc = ['    r"""', *("    " + line for line in contract), '    """'] if contract else []
        clauses = [line for name in self.raised if hasattr(builtins, name)
                   for line in ("    except %s:" % name, "        return 'raised %s'" % name)]
        return "\n".join(["def g(%s):" % self.head, *doc, "    try:", "        return f(%s)" % ", ".join(self.names), *clauses,
                          "    except Exception:", "        return 'raised'"]) + "\n"

    def does(self, words):
        """A condition on the result of g."""
        got = self.outcomes[words]
        return "_ == 'raised %s'" % got[1] if got[0] == "raised" else self.result(words)


# ---- Questions -------------------------------------------------------------------------------------------------------------

class Asker:
    def __init__(self):
        self.engine = engine_of_ours()
        self.counts = collections.Counter()
        self.refusals = collections.Counter()
        self.late = 0  # answers about this program that said so
        self.reasons = collections.Counter()

    def ask(self, row, tool, **arguments):
        begun = time.monotonic()
        try:
            answer = self.engine.call(tool, timeout_seconds=SECONDS, **arguments)
        except EOFError as error:
            self.engine = engine_of_ours()
            raise Difference("%s: %s" % (tool, error)) from None
        finally:
            if time.monotonic() - begun > 10 * SECONDS:  # no difference: the machine may be busy
                say("# %s took %.0f s of %d: %s of %s: %s" % (tool, time.monotonic() - begun, SECONDS, row.operation, ", ".join(row.kinds), row.body), flush=True)
        self.counts[tool + " " + answer["status"]] += 1
        if "withdrawn" in answer:  # real Python contradicted the engine
            raise Difference("%s: %s" % (tool, answer["withdrawn"]))
        if answer["status"] in ("error", "timeout"):
            message = answer["message"]
            if "confirm" in message or "contradict" in message or answer["error_type"] in ("SyntaxError", "ValueError"):
                raise Difference("%s: %s" % (tool, message))
            if "for a reason of the engine" in message:  # no difference, but the reason should be found
                say("# %s: %s" % (tool, message), flush=True)
            self.refusals[row.operation] += 1
            self.late += "The time was over" in message
            self.reasons[re.sub(r" at line \d+|\d+", "", message.partition(";")[0])] += 1
        return answer

    # Each of these raises a Difference.

    def run(self, program, words):
        if "global" in program.row.body:
            return
        answer = self.ask(program.row, "run", code=program.code, function_name="f", arguments="(%s)" % (words + "," if words else ""))
        got = program.outcomes[words]
        if "result" not in answer:
            return
        if answer["status"] != got[0] or (got[0] == "raised" and answer["result"] != got[1]):
            raise Difference("f(%s) %s %s, not %s" % (words, answer["status"], answer["result"], got[:2]))
        if got[0] == "returned" and program.result(words):
            result = eval(answer["result"], {**loaded(program.needs), "nan": math.nan, "inf": math.inf})
            if repr(result) != repr(got[1]) and not (type(result) in (set, frozenset) and result == got[1]):
                raise Difference("f(%s) is %r, not %r" % (words, result, got[1]))

    def check(self, program, code, name):
        answer = self.ask(program.row, "check", code=code, function_name=name)
        for witness in answer["counterexamples"]:
            call = witness["call"][len(name) + 1:-1]
            if not violated(code, name, maker(call)):
                raise Difference("check: no counterexample: %s" % witness["call"])
        if answer["status"] == "verified":
            for words in program.inputs:
                broken = violated(code, name, maker(words))
                if broken:
                    raise Difference("check: verified, but f(%s) is %s" % (words, broken))
        return answer

    def true_table(self, program, picker):
        """What CPython does for a few inputs, as one postcondition."""
        few = [words for words in program.inputs if program.does(words)]
        few = picker.sample(few, min(program.at_once, len(few)))
        if not few:
            return
        pre = " or ".join("(%s)" % program.pin(words) for words in few)
        post = " or ".join("(%s and %s)" % (program.pin(words), program.does(words)) for words in few)
        self.check(program, program.code + program.wrapped([*program.sizes(), "pre: " + pre, "post: " + post]), "g")

    def false_claim(self, program, words, pre):
        """For this input the operation does not do what it does."""
        got, result = program.outcomes[words], program.result(words)
        if got[0] == "raised":
            post = ["raises: " + ", ".join(name for name in program.raised if name != got[1])] if len(program.raised) > 1 else []
            contract = [*pre, *post, "post: True"]
        elif result:
            contract = [*pre, "post: not (%s and %s)" % (program.pin(words), result)]
            contract += ["raises: Exception"] if program.raised else []
        else:
            return
        code = program.needs + program.function("f", contract)
        self.check(program, code, "f")

    def find(self, program, wanted, region):
        pre, inside = region
        code = program.needs + program.function("f", pre)
        answer = self.ask(program.row, "find", code=code, function_name="f", exception_type=wanted)
        for witness in answer["triggering_inputs"]:
            got = outcome(code, "f", maker(witness["call"][2:-1]))
            if got[0] == "returned" or wanted not in got[2]:
                raise Difference("find: no %s by %s: %s" % (wanted, witness["call"], got[:2]))
        if answer["status"] == "unreachable":
            for words in inside:
                got = program.outcomes[words]
                if got[0] == "raised" and wanted in got[2]:
                    raise Difference("find: %s is not unreachable: f(%s)" % (wanted, words))

    def compare_itself(self, program, region, wrapped):
        code = program.needs + program.function("f", region[0])
        code += "\ndef g(%s):\n    return f(%s)\n" % (program.head, ", ".join(program.names)) if wrapped else ""
        answer = self.ask(program.row, "compare", code=code, function_a="f", function_b="g" if wrapped else "f")
        if answer["status"] == "different":
            shown = answer["distinguishing_input"]
            raise Difference("compare: not itself for %s: %s and %s" % (shown["call"], shown["result_a"], shown["result_b"]))

    def compare_other(self, program, region, words):
        before = ["if %s:" % program.pin(words), "    return 'another'"]
        code = program.needs + program.function("f", region[0]) + "\n" + program.function("g", (), before)
        got = program.outcomes[words]
        if got[0] == "returned" and got[1] == "another":
            return
        answer = self.ask(program.row, "compare", code=code, function_a="f", function_b="g")
        if answer["status"] == "equivalent":
            raise Difference("compare: equivalent, but not for (%s)" % words)
        if answer["status"] == "different":
            make = maker(answer["distinguishing_input"]["call"][2:-1])
            if same(outcome(code, "f", make), outcome(code, "g", make)):
                raise Difference("compare: no difference: %s" % answer["distinguishing_input"])

    def branches(self, program, region, words):
        pre, inside = region
        condition = program.result(words, "r") or "r is None"
        doc = ['    r"""', *("    " + line for line in pre), '    """'] if pre else []
        clauses = [line for name in program.raised if hasattr(builtins, name) for line in ("    except %s:" % name, "        n += 1")]
        code = "\n".join([program.code, "def h(%s):" % program.head, *doc, "    n = 0", "    try:", "        r = f(%s)" % ", ".join(program.names),
                          *clauses, "    except Exception:", "        n += 2", "    else:", "        if %s:" % condition, "            n += 3",
                          "        else:", "            n += 4", "    return n"]) + "\n"
        answer = self.ask(program.row, "branches", code=code, function_name="h")
        if answer["status"] != "complete":
            return
        for given in inside:
            ran = lines_of(code, "h", maker(given))
            dead = sorted(ran & set(answer["dead_code_lines"]))
            if dead:
                raise Difference("branches: line %d (%s) is not dead: h(%s)" % (dead[0], code.splitlines()[dead[0] - 1].strip(), given))
            for branch in answer["branches"]:
                for way, place in (("true", branch["line"] + 1), ("false", branch["line"] + 3)):
                    if place in ran and not branch[way + "_reachable"]:
                        raise Difference("branches: %s can be %s: h(%s)" % (branch["condition"], way, given))


def questions_of(asker, program, picker):
    """The questions about a program, as functions."""
    inputs = program.inputs
    for words in inputs:
        yield lambda words=words: asker.run(program, words)
    yield lambda: asker.true_table(program, picker)
    for words in picker.sample(inputs, min(2, len(inputs))):
        yield lambda words=words: asker.false_claim(program, words, [*program.sizes(), "pre: " + program.pin(words)])
    pre, inside = program.region(picker)
    if inside:
        yield lambda: asker.false_claim(program, picker.choice(inside), pre)
    for wanted in sorted({*program.raised, picker.choice(["TypeError", "ValueError", "OverflowError", "Exception"])}):
        yield lambda wanted=wanted: asker.find(program, wanted, program.region(picker))
    yield lambda: asker.compare_itself(program, program.region(picker), False)
    yield lambda: asker.compare_itself(program, program.region(picker), True)
    region = program.region(picker)
    if region[1]:
        yield lambda: asker.compare_other(program, region, picker.choice(region[1]))
        yield lambda: asker.branches(program, region, picker.choice(region[1]))


# ---- What the engine models, and no row has --------------------------------------------------------------------------------

TYPES = {"int": "5", "bool": "True", "float": "2.5", "str": "'ab'", "bytes": "b'ab'", "list": "[1, 2]", "tuple": "(1, 2)", "dict": "{1: 2}", "set": "{1}",
         "frozenset": "frozenset([1])", "range": "range(3)"}
TRIED = ["", "1", "'a'", "[1]", "{1}", "{1: 2}", "2.5", "1, 2", "'a', 'b'", "1, 1, 1", "[1], 1", "[1], [2]", "2.0, 3.0, 1.0", "{}, {}", "(0, 0), (3, 4)"]
# Syntax that the engine refuses: Python's class of it, and a function body.
REFUSED = {
    "AsyncFunctionDef": "async def g():\n    pass\nreturn 1",
    "AsyncFor": "async def g():\n    async for x in a:\n        pass\nreturn 1", "AsyncWith": "async def g():\n    async with a:\n        pass\nreturn 1",
    "Await": "async def g():\n    await a\nreturn 1",
    "TryStar": "try:\n    1 // a\nexcept* ValueError:\n    pass\nreturn 1", "TypeAlias": "type X = int\nreturn 1", "TypeVar": "def g[T](x: T):\n    return x\nreturn g(a)",
    "ParamSpec": "def g[**P](x):\n    return x\nreturn g(a)", "TypeVarTuple": "def g[*P](x):\n    return x\nreturn g(a)",
    "TemplateStr": "return t'{a}'", "Interpolation": "return t'{a}'",
}
# Of no account: what holds others, contexts, and what Python's parser no longer makes.
HOLDERS = set("AST mod stmt expr expr_context boolop operator unaryop cmpop excepthandler pattern type_param type_ignore TypeIgnore slice Module "
              "Interactive Expression FunctionType Load Store Del AugLoad AugStore Param Suite Index ExtSlice Num Str Bytes NameConstant Ellipsis _ast_Ellipsis "
              "arguments arg keyword alias".split())


def is_refused(answer):
    return answer["status"] == "error" and answer["error_type"] != "TimeoutError"


def without_row(engine):
    """Functions, methods and syntax that the engine does not refuse, and that no row of the table has."""
    have, missing = {row.operation for row in ROWS}, []

    def models(expression):
        used = "".join("import %s\n" % module for module in MODULES if module + "." in expression)
        code = "import math\n%s\ndef f():\n    return %s\n" % (used, expression)
        return not is_refused(engine.call("run", code=code, function_name="f", arguments="()", timeout_seconds=PATIENCE))

    def look(operation, call):
        if operation not in have and any(models(call % given) for given in TRIED):
            missing.append(operation)
    for kind, example in TYPES.items():
        for name in dir(getattr(builtins, kind)):
            if not name.startswith("_"):
                look("%s.%s" % (kind, name), "(%s).%s(%%s)" % (example, name))
    for name in dir(math):
        if not name.startswith("_"):
            look("math." + name, "math.%s(%%s)" % name)
            if "math." + name not in have and models("math." + name + " > 0"):
                missing.append("math." + name)
    for module in MODULES:
        for name in dir(importlib.import_module(module)):
            if not name.startswith("_") and callable(getattr(importlib.import_module(module), name)):
                look("%s.%s" % (module, name), "%s.%s(%%s)" % (module, name))
    for name, what in vars(builtins).items():
        if not name.startswith("_") and callable(what) and not (isinstance(what, type) and issubclass(what, BaseException)):
            look(name, name + "(%s)")
    seen = {type(node).__name__ for row in ROWS for node in ast.walk(ast.parse("def f():\n" + "\n".join("    " + x for x in statements(row.body))))}
    for name, what in vars(ast).items():
        if isinstance(what, type) and issubclass(what, ast.AST) and name not in HOLDERS and name not in seen:
            if name not in REFUSED:
                missing.append("syntax " + name)
                continue
            code = "def f(a: int):\n" + "\n".join("    " + line for line in REFUSED[name].split("\n")) + "\n"
            if not is_refused(engine.call("run", code=code, function_name="f", arguments="(1,)", timeout_seconds=PATIENCE)):
                missing.append("syntax " + name)
    return missing


# ---- The runs --------------------------------------------------------------------------------------------------------------

class Report:
    def __init__(self, asker):
        self.asker, self.begun = asker, time.monotonic()
        self.programs, self.questions, self.found = 0, 0, []
        self.met = set()

    def line(self):
        return "%d operations, %d programs, %d questions, %d refusals, %d differences, %d s" % (
            len({row.operation for row in ROWS}), self.programs, self.questions, sum(self.asker.refusals.values()), len(self.found),
            time.monotonic() - self.begun)

    def difference(self, program, words):
        for known in KNOWN:
            if known.operation in ("", program.row.operation) and known.body in program.row.body and known.says in words:
                self.met.add(known)
                return False
        self.found.append((program.row, words))
        say("# %s of %s: %s\n%s" % (program.row.operation, ", ".join(program.row.kinds) or "nothing", words,
                                      "\n".join("#   " + line for line in program.function("f").splitlines())), flush=True)
        return True


def ask_all(report, program, picker, runs, brief=False):
    """Every question about a program. One that takes too long is given up, with its engine."""
    asker = report.asker
    report.programs += 1
    asker.late = different = 0
    if not program.inputs:
        return
    for number, question in enumerate(questions_of(asker, program, picker)):
        if runs <= number < len(program.inputs):
            continue
        if brief and number > len(program.inputs):
            break
        if asker.late == SLOW or different == SHOWN:
            break
        before = sum(asker.counts.values())
        signal.setitimer(signal.ITIMER_REAL, 120)
        try:
            question()
        except Slow:
            asker.engine.process.kill()
            asker.engine = engine_of_ours()
            asker.refusals[program.row.operation] += 1
            asker.reasons["no answer within 120 s"] += 1
        except Difference as difference:
            different += report.difference(program, str(difference))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        report.questions += sum(asker.counts.values()) - before


def chosen(words, most, picker):
    """Rows with these words; at most so many of one operation."""
    groups = collections.defaultdict(list)
    for row in ROWS:
        if not words or words in row.operation or words in row.body or words in row.kinds:
            groups[row.operation].append(row)
    for operation, rows in groups.items():
        entries = [known.body for known in KNOWN if known.operation == operation]
        if most is not None and entries:
            rows = [row for row in rows if any(body in row.body for body in entries)]
            yield from picker.sample(rows, min(len(rows), max(most, AGAIN)))
        else:
            yield from rows if most is None or len(rows) <= most else picker.sample(rows, most)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--most", type=int, default=4, help="programs of an operation, without --minutes")
    parser.add_argument("--runs", type=int, default=4, help="known inputs of a program, without --minutes")
    parser.add_argument("--brief", action="store_true", help="of a program only what it does on known inputs, and one question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", action="store_true", help="print the table with its counts")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))

    def slow(number, frame):
        raise Slow

    signal.signal(signal.SIGALRM, slow)
    asker = Asker()
    report = Report(asker)
    covered = collections.Counter()
    picker = random.Random(options.seed)
    told = time.monotonic()
    if options.minutes is None:
        for row in chosen(options.only, options.most, picker):
            before = report.questions
            runs = SAMPLE if any(known.operation == row.operation for known in KNOWN) else options.runs
            ask_all(report, Program(row, picker), picker, runs, options.brief)
            covered[row.operation] += report.questions - before
    else:
        rows, left, end = list(chosen(options.only, None, picker)), [], time.monotonic() + 60 * options.minutes
        while time.monotonic() < end:
            left = left or picker.sample(rows, len(rows))  # each row once before any row comes again
            row = left.pop()
            before = report.questions
            ask_all(report, Program(row, picker), picker, SAMPLE)
            covered[row.operation] += report.questions - before
            if time.monotonic() - told > 60:
                told = time.monotonic()
                say("# " + report.line(), flush=True)
    if options.rows:
        for operation in sorted({row.operation for row in ROWS}):
            say("# %-30s %4d rows, %6d questions, %5d refused" % (operation, sum(row.operation == operation for row in ROWS), covered[operation],
                                                                    asker.refusals[operation]))
    say("# " + report.line())
    say("# answers: " + ", ".join("%s %d" % each for each in sorted(asker.counts.items())))
    for reason, count in asker.reasons.most_common(12):
        say("# refused %d times: %s" % (count, reason))
    tests = [("no_verdict_on_one_operation_is_one_that_python_breaks", not report.found)]
    if not options.only:
        missing = without_row(asker.engine) if options.minutes is None else []
        for operation in missing:
            say("# the engine models %s, and no row of operations.py has it" % operation)
        asked = {row.operation for row in ROWS} == set(covered) or options.minutes is not None
        tests.append(("each_operation_that_the_engine_models_has_a_row_and_is_asked", not missing and asked))
        stale = [known for known in KNOWN if known not in report.met] if options.minutes is None and not options.brief else []
        for known in stale:
            say("# a known difference did not occur, so its entry must go: %s, %s" % (known.operation, known.body))
        if KNOWN:
            tests.append(("each_known_difference_still_occurs", not stale))
    asker.engine.close()
    say("1..%d" % len(tests))
    for number, (name, good) in enumerate(tests, 1):
        say("%sok %d %s" % ("" if good else "not ", number, name))
    sys.exit(0 if all(good for _, good in tests) else 1)


if __name__ == "__main__":
    main()
