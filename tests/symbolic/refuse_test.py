#!/usr/bin/env python3
"""Code that tries to get out: each attempt is a structured failure before anything runs."""
import importlib
import os
import pkgutil
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine  # noqa: E402

FUNCTION = "def f(x: int) -> int:\n    return x\n"


def body(line):
    return "def f(x: int) -> int:\n    %s\n    return x\n" % line


def both(line):
    """Its inputs can all be called, so what is not modelled is decided, too."""
    return body(line).replace("int", "bool")


BLOCKED = "os sys subprocess shutil pathlib socket http urllib requests ftplib pickle shelve marshal ctypes multiprocessing importlib " \
          "runpy code codeop pty tty termios threading signal fcntl resource syslog getpass".split()
BUILTINS = "eval exec compile __import__ open globals locals vars dir".split()

# What is tried, and words of the message.
ATTEMPTS = {}
for module in BLOCKED:
    ATTEMPTS["import " + module] = ("import %s\n" % module + FUNCTION, "Blocked module: " + module)
for name in BUILTINS:
    ATTEMPTS["call of " + name] = (body("%s('1')" % name), "Blocked function call: " + name)
    ATTEMPTS["bare " + name] = (body("y = %s" % name), name)
ATTEMPTS.update({
    "import in a list": ("import math, os\n" + FUNCTION, "Blocked module: os"),
    "import with an alias": ("import os as math\n" + FUNCTION, "Blocked module: os"),
    "import of a submodule": ("import os.path\n" + FUNCTION, "Blocked module: os"),
    "from import": ("from os import system\n" + FUNCTION, "Blocked module: os"),
    "from submodule": ("from urllib.request import urlopen\n" + FUNCTION, "Blocked module: urllib"),
    "relative import": ("from . import os\n" + FUNCTION, "not allowed"),
    "unknown module": ("import numpy\n" + FUNCTION, "Module not allowed: numpy"),
    "io": ("import io\n" + FUNCTION, "Module not allowed: io"),
    "import *": ("from math import *\n" + FUNCTION, "Blocked import"),
    "module inside a module": ("from dataclasses import sys\n" + FUNCTION, "Blocked module: sys"),
    "module inside a module, private": ("from random import _os\n" + FUNCTION, "Blocked attribute: _os"),
    "module as an attribute": ("import typing\n" + body("typing.sys.exit()"), "Blocked module: sys"),
    "private module as an attribute": ("import random\n" + body("random._os.system('id')"), "_os"),
    "module by two steps": ("import re\n" + body("re.enum.sys.exit()"), "Blocked"),
    "allowed module taken out of another": ("from re import enum\n" + body("enum.sys.exit()"), "Blocked attribute: enum"),
    "builtins of a module": ("import json\n" + body("json.codecs.open('x')"), "Blocked"),
    "module in a variable": ("import typing\n" + body("m = typing\n    m.sys.exit()"), "module.name only"),
    "module in a list": ("import typing\n" + body("[typing][0].sys.exit()"), "module.name only"),
    "module as an argument": ("import typing\n" + body("print(typing)"), "module.name only"),
    "alias of eval": (body("e = eval\n    e('1')"), "eval"),
    "eval in a list": (body("[eval][0]('1')"), "eval"),
    "eval as a default": ("def f(x: int, e=eval) -> int:\n    return x\n", "eval"),
    "eval as a decorator": ("@eval\ndef f(x: int) -> int:\n    return x\n", "eval"),
    "eval in a lambda": (body("(lambda: eval)()('1')"), "eval"),
    "eval in a comprehension": (body("[eval(c) for c in '1']"), "eval"),
    "eval in an annotation": ("def f(x: eval('int')) -> int:\n    return x\n", "eval"),
    "eval in a string annotation": ("def f(x: \"eval('1')\") -> int:\n    return x\n", "Blocked"),
    "eval in an f-string": (body("s = f\"{eval('1')}\""), "eval"),
    "eval in a format spec": (body("s = f\"{x:{eval('1')}}\""), "eval"),
    "eval in a nested function": (body("def g():\n        def h():\n            return eval('1')\n        return h"), "eval"),
    "eval in a class body": ("class C:\n    y = eval('1')\n" + FUNCTION, "eval"),
    "eval in a match guard": (body("match x:\n        case _ if eval('1'):\n            pass"), "eval"),
    "eval in a with statement": (body("with eval('1'):\n        pass"), "eval"),
    "open in a with statement": (body("with open('/etc/passwd') as p:\n        pass"), "Blocked function call: open"),
    "eval in a default of a lambda": (body("g = lambda e=eval: e"), "eval"),
    "eval with full-width letters": (body("\uff45\uff56\uff41\uff4c('1')"), "Blocked function call: eval"),
    "eval in an async function": ("async def g():\n    return eval('1')\n" + FUNCTION, "eval"),
    "eval behind yield": ("def g():\n    yield eval('1')\n" + FUNCTION, "eval"),
    "eval after a semicolon": (body("y = 1; eval('1')"), "eval"),
    "eval as a keyword's value": (body("print(end=eval)"), "eval"),
    "eval deleted": (body("del eval"), "eval"),
    "global eval": (body("global eval"), "eval"),
    # Names of the code may hide a builtin; where Python could still find the builtin it is refused.
    "a builtin as the default of a parameter that hides it": ("def f(x: int, dir=dir) -> int:\n    return x\n", "Blocked builtin: dir"),
    "a builtin before the module hides it": ("y = dir(1)\ndef dir(x): return x\n" + FUNCTION, "Blocked function call: dir"),
    "a builtin in a function that is called before the module hides it": ("def g(): return open('x')\ny = g()\ndef open(x): return x\n" + FUNCTION,
                                                                        "Blocked function call: open"),
    "a builtin that the module may hide": ("if False:\n    dir = 1\n" + body("return dir(x)"), "Blocked function call: dir"),
    "a builtin that a loop may hide": ("for dir in []: pass\n" + body("return dir(x)"), "Blocked function call: dir"),
    "a builtin that is hidden and found again": ("dir = 1\ndel dir\n" + body("return dir(x)"), "dir"),
    "a builtin that an async function inside hides": (body("async def g():\n        dir = 1\n    return dir(x)"), "Blocked function call: dir"),
    "a builtin that a lambda inside hides": (body("y = lambda dir: (vars := dir)\n    return vars(x)"), "Blocked function call: vars"),
    "a builtin that a handler hides for a while": ("vars = 1\ntry:\n    1 // 0\nexcept ZeroDivisionError as vars:\n    pass\n" + body("return vars()"),
                                                   "Blocked function call: vars"),
    "a builtin that a method does not hide": ("class C:\n    def open(self): return open('x')\n" + FUNCTION, "Blocked function call: open"),
    "a builtin in the body of a class that hides it": ("class C:\n    y = dir(1)\n    dir = 2\n" + FUNCTION, "Blocked function call: dir"),
    "a builtin that is declared and not hidden": ("def g():\n    global dir\n    return dir(1)\ndir = 1\n" + FUNCTION, "dir"),
    "a builtin as what a comprehension begins with": (body("return [vars for vars in vars()]"), "Blocked function call: vars"),
    "a builtin that a comprehension hid": (body("y = [dir for dir in (1, 2)]\n    return dir(x)"), "Blocked function call: dir"),
    "a builtin of a decorator that is hidden by it": ("def g(h): return h\n@g\ndef dir(n): return dir(n)\n" + FUNCTION, "Blocked function call: dir"),
    "a builtin that only an annotation seems to hide": ("dir: int\n" + body("return dir(x)"), "Blocked function call: dir"),
    "a builtin in a contract, hidden by a local name": ('def f(x: int) -> int:\n    """post: dir(1) == []"""\n    dir = 1\n    return x\n',
                                                        "Blocked function call: dir"),
    "getattr with a blocked name": (body("getattr(x, '__class__')"), "__class__"),
    "getattr with a name that is computed": (body("getattr(x, '__cl' + 'ass__')"), "Blocked function call: getattr"),
    "getattr under another name": (body("g = getattr\n    g(x, 'real')"), "getattr"),
    "getattr through map": (body("list(map(getattr, [x], ['real']))"), "getattr"),
    "setattr": (body("setattr(x, 'a', 1)"), "setattr"),
    "format with an attribute": (body("'{0.__class__}'.format(x)"), "__class__"),
    "format of a text that is computed": (body("('{0.__cl' + 'ass__}').format(x)"), "format"),
    "format under another name": (body("s = '{}'\n    s.format(x)"), "format"),
    "str.format": (body("str.format('{0}', x)"), "format"),
    "format_map": (body("'{x}'.format_map({'x': x})"), "format_map"),
    "string.Formatter": ("import string\n" + body("string.Formatter().vformat('{0}', (x,), {})"), "Blocked"),
    "attrgetter": ("from operator import attrgetter\n" + FUNCTION, "attrgetter"),
    "operator.methodcaller": ("import operator\n" + body("operator.methodcaller('x')"), "methodcaller"),
    "__class__": (body("x.__class__"), "Blocked attribute: __class__"),
    "__subclasses__": (body("object.__subclasses__()"), "Blocked attribute: __subclasses__"),
    "__bases__": (body("int.__bases__"), "Blocked attribute: __bases__"),
    "__mro__": (body("int.__mro__"), "Blocked attribute: __mro__"),
    "mro()": (body("type(x).mro()"), "mro"),
    "__globals__": (body("f.__globals__"), "Blocked attribute: __globals__"),
    "__code__": (body("f.__code__"), "Blocked attribute: __code__"),
    "__builtins__": (body("y = __builtins__"), "__builtins__"),
    "__builtins__ as an attribute": (body("x.__builtins__"), "__builtins__"),
    "__dict__": (body("x.__dict__"), "__dict__"),
    "__getattribute__": (body("x.__getattribute__('real')"), "__getattribute__"),
    "__reduce_ex__": (body("x.__reduce_ex__(2)"), "__reduce_ex__"),
    "__loader__": (body("y = __loader__"), "__loader__"),
    "__spec__": (body("y = __spec__"), "__spec__"),
    "frame of a generator": (body("(i for i in [1]).gi_frame.f_globals"), "Blocked attribute"),
    "frame of a traceback": (body("try:\n        1 // 0\n    except Exception as e:\n        e.__traceback__.tb_frame"), "Blocked attribute"),
    "match on a blocked attribute": (body("match x:\n        case int(__class__=c):\n            pass"), "__class__"),
    "type hints that are evaluated": ("from typing import get_type_hints\n" + FUNCTION, "get_type_hints"),
    "ForwardRef": ("import typing\n" + body("typing.ForwardRef('eval')"), "ForwardRef"),
    "metaclass": ("class M(type):\n    def __prepare__(a, b):\n        return {}\nclass C(metaclass=M):\n    pass\n" + FUNCTION, "__prepare__"),
    "type with three arguments": (body("type('C', (), {})"), "type"),
    "breakpoint": (body("breakpoint()"), "breakpoint"),
    "input": (body("input()"), "input"),
    "make_dataclass": ("from dataclasses import make_dataclass\n" + FUNCTION, "make_dataclass"),
    "a contract with eval": ('def f(x: int) -> int:\n    """\n    post: eval("1")\n    """\n    return x\n', "eval"),
    "module in a class": ("class C:\n    import random\n" + body("C.random._os.getpid()"), "Blocked import: in a class"),
    "module in a class, behind an if": ("class C:\n    if True:\n        import random as r\n" + body("C().r._os.getpid()"), "Blocked import"),
    "abc in a class": ("class C:\n    from collections import abc\n" + body("C.abc.sys"), "Blocked import"),
    "module of an exception": ("import random\n" + body("try:\n        random.no\n    except AttributeError as e:\n        e.obj._os"),
                               "Blocked attribute: obj"),
    "module of an exception, matched": ("import random\n" + body("match x:\n        case AttributeError(obj=m):\n            m._os"),
                                        "Blocked attribute: obj"),
    "collections.abc in a variable": ("import collections.abc\n" + body("m = collections.abc"), "module.name only: abc"),
    "collections.abc as text": ("import collections\n" + body("s = f'{collections.abc}'"), "module.name only: abc"),
    "getattr with arguments that are unpacked": (body("getattr(*[x, '__cl' + 'ass__'], 'real')"), "Blocked function call: getattr"),
    "type with arguments that are unpacked": (body("type(*['C', (), {}])"), "type"),
    "format with a name of two underscores": (body("'{0.__dict__}'.format(f)"), "Blocked attribute: __dict__"),
    "format with a frame": (body("'{0[}].gi_frame}'.format(x)"), "Blocked attribute: gi_frame"),
    "format through getattr": (body("getattr('{0.__di' + 'ct__}', 'format')(f)"), "Blocked attribute: format"),
    "format through match": (body("match '{0.__di' + 'ct__}':\n        case str(format=g):\n            g(f)"), "Blocked attribute: format"),
    "a contract with format": ('def f(x: int) -> int:\n    """\n    post: "{0.__dict__}".format(f)\n    """\n    return x\n', "__dict__"),
    "annotations that are evaluated": ("from functools import singledispatch\n" + FUNCTION, "singledispatch"),
    "deep parentheses": (body("y = " + "(" * 190 + "1" + ")" * 190), ""),
    "deeper parentheses": (body("y = " + "(" * 2000 + "1" + ")" * 2000), "too deeply"),
    "classmethod as a function": (body("g = classmethod(len)"), "classmethod"),
    "classmethod above another decorator": ("class C:\n    @classmethod\n    @property\n    def g(cls):\n        return 1\n" + FUNCTION, "classmethod"),
    "namedtuple with names that are computed": ("from collections import namedtuple\n" + body("namedtuple('P', 'x' + 'y')"), "namedtuple"),
    "namedtuple under another name": ("from collections import namedtuple as n\n" + FUNCTION, "namedtuple"),
    "namedtuple in a variable": ("from collections import namedtuple\n" + body("n = namedtuple"), "namedtuple"),
    "namedtuple of a module in a variable": ("import collections\n" + body("n = collections.namedtuple"), "namedtuple"),
    "namedtuple with a module": ("from collections import namedtuple\n" + body("namedtuple('P', 'x', module='os')"), "namedtuple"),
    "deep lists": (body("y = " + "[" * 150 + "]" * 150), "too deeply"),
    "deep nots": (body("y = " + "not " * 5000 + "x"), "too deeply"),
    "long sums": (body("y = " + "+".join(["x"] * 5000)), "too deeply"),
    "deep attributes": (body("y = x" + ".real" * 3000), "too deeply"),
    "deep lambdas": (body("y = " + "lambda: " * 500 + "1"), "too deeply"),
    "deep blocks": ("".join("%sif x:\n" % (" " * i) for i in range(99)) + " " * 99 + "pass\n" + FUNCTION, "too deeply"),
    "64 KB and one byte": (FUNCTION + "#" * (65537 - len(FUNCTION)), "65537 bytes"),
    "a null byte": (FUNCTION + "\0", "null"),
    "a syntax error": ("def f(x):\n    return x\n\n\nclass\n", "line 5"),
})
# Modules that this Python's modules have as attributes: none can be had through another.
for name in "math random string collections itertools functools operator typing re json datetime decimal fractions statistics dataclasses " \
            "enum copy heapq bisect abc".split():
    module = importlib.import_module(name)
    for inner in sorted(n for n in vars(module) if isinstance(getattr(module, n), types.ModuleType)):
        if (name, inner) != ("collections", "abc"):
            ATTEMPTS["%s of %s" % (inner, name)] = ("import %s\n" % name + body("%s.%s.x" % (name, inner)), "Blocked")
            ATTEMPTS["%s from %s" % (inner, name)] = ("from %s import %s\n" % (name, inner) + FUNCTION, "Blocked")
    # Modules inside of it: whether one is bound depends on what the process has imported.
    for inner in [m.name for m in pkgutil.iter_modules(getattr(module, "__path__", ()))]:
        if (name, inner) != ("collections", "abc"):
            ATTEMPTS["%s inside of %s" % (inner, name)] = ("import %s\n" % name + body("%s.%s.x" % (name, inner)), "Blocked")
            ATTEMPTS["%s from inside of %s" % (inner, name)] = ("from %s import %s\n" % (name, inner) + FUNCTION, "Blocked")
UNBOUND = "Used before it is imported; write `import collections.abc` above: collections.abc"
ABC = "return isinstance([x], collections.abc.Sequence)"
for name, code in {
    "that is not imported": "import collections\n" + body(ABC),
    "of another name": "import collections as c\n" + body("return isinstance([x], c.abc.Sequence)"),
    "that other modules import": "import collections, typing, dataclasses, decimal, fractions, statistics\n" + body(ABC),
    "that is imported later": "import collections\n" + body(ABC) + "import collections.abc\n",
    "as a default": "import collections\ndef f(x: int = len([collections.abc.Sequence])) -> int:\n    import collections.abc\n    return x\n",
    "as an annotation": "import collections\ndef f(x: collections.abc.Sequence[int]) -> int:\n    return len(x)\n",
    "that another function imports": "import collections\ndef g():\n    import collections.abc\n" + body(ABC),
    "that a branch imports": "import collections\n" + body("if x:\n        import collections.abc\n    " + ABC),
    "that a handler imports": "import collections\ntry:\n    1 // 0\n    import collections.abc\nexcept ZeroDivisionError:\n    pass\n" + body(ABC),
    "in a contract": "import collections\ndef f(x: int) -> int:\n    '''\n    post: isinstance([_], collections.abc.Sequence)\n    '''\n"
                     "    import collections.abc\n    return x\n",
}.items():
    ATTEMPTS["collections.abc " + name] = (code, UNBOUND)
# Parentheses leave no trace in the tree: that many are no failure.
del ATTEMPTS["deep parentheses"]

ALLOWED = {
    "all allowed modules": "".join("import %s\n" % m for m in "math random string collections itertools functools operator typing re json "
                                   "datetime decimal fractions statistics dataclasses enum copy heapq bisect abc".split()) + FUNCTION,
    "members that are named as their module": "from datetime import datetime\nfrom random import random\nfrom copy import copy\n"
                                              "from collections.abc import Sequence\nimport collections.abc\n" + FUNCTION,
    "collections.abc that is imported": "import collections.abc\n" + both(ABC),
    "collections.abc that is imported beside it": "import collections\nfrom collections.abc import Mapping\n" + both(ABC),
    "collections.abc that is imported from collections": "import collections\nfrom collections import abc\n" + both(ABC),
    "collections.abc that is imported by another name": "import collections\nimport collections.abc as c\n" + both(ABC),
    "collections.abc that the function imports": "import collections\n" + both("import collections.abc\n    def g():\n        " + ABC + "\n    return g()"),
    "collections.abc in a contract": "import collections\ndef f(x: bool) -> bool:\n    '''\n    post: isinstance([_], collections.abc.Sequence)\n    '''\n"
                                     "    return x\nimport collections.abc\n",
    "64 KB": FUNCTION + "#" * (65536 - len(FUNCTION)),
    "variables that are named as what is refused elsewhere": "import math\nobj = 1\ndef g(abc):\n    global obj\n    obj = 2\n"
                                                             "    return 'a.b {}'.format(abc)\n" + FUNCTION,
    "a variable named as a builtin": body("dir = x\n    return dir + 0"),
    "a parameter named as a builtin": "def f(dir: int, *, input: int = 3) -> int:\n    return dir + input\n",
    "a method and an attribute named as builtins": "class Door:\n    def __init__(self): self.vars = 1\n    def open(self): return self.vars\n"
                                                   + body("return Door().open()"),
    "a function of the module named as a builtin": "def open(n):\n    return open(n - 1) if n > 0 else 0\n" + body("return open(2)"),
    "a constant of the module named as a builtin": "license = 'MIT'\n" + body("return len(license)"),
    "names of loops, comprehensions, handlers and patterns": body(
        "for dir in (1, 2):\n        x = dir\n    y = [vars for vars in (1, 2) if vars]\n    z = {k: dir for k, dir in ((1, 2),)}\n"
        "    try:\n        x = 1\n    except ValueError as exec:\n        raise exec\n    match x:\n        case compile: y = compile\n"
        "    (lambda eval: eval)(1)\n    if (open := 3): y = open"),
    "a name that a function inside reads": body("dir = 1\n    def g():\n        nonlocal dir\n        dir = 2\n        return dir\n    g()"),
    "an argument by a name that is a builtin": "def g(dir): return dir\n" + body("return g(dir=x)"),
    "a contract about a parameter that is named as a builtin": 'def f(x: int, dir: int) -> int:\n    """\n    pre: dir > 0\n    post: _ == dir\n    """\n'
                                                               "    return dir\n",
    "a class method": "class C:\n    @classmethod\n    def g(cls):\n        return 1\n" + body("return C.g()"),
    "named tuples": "from collections import namedtuple\nimport collections\nP = namedtuple('P', ['x', 'y'], defaults=[0])\n"
                    "Q = collections.namedtuple('Q', 'a b')\n" + body("return P(x).x + Q(1, 2).b"),
    "190 parentheses": body("y = " + "(" * 190 + "1" + ")" * 190),
}


def main():
    engine = Engine()
    good, number = True, 0
    print("1..%d" % (len(ATTEMPTS) + len(ALLOWED) + 1))

    def tell(passed, name, why=""):
        nonlocal good, number
        number += 1
        good = good and passed
        print("%sok %d %s" % ("" if passed else "not ", number, name.replace("#", "")), flush=True)
        if not passed:
            print("# " + str(why)[:500], flush=True)
    for name, (code, words) in ATTEMPTS.items():
        answers = [engine.call("check", code=code, function_name="f"),
                   engine.call("find", code=code, function_name="f", exception_type="ValueError"),
                   engine.call("compare", code=code, function_a="f", function_b="f"),
                   engine.call("branches", code=code, function_name="f")]
        bad = [a for a in answers if a["status"] != "error" or a["error_type"] not in ("ValidationError", "SyntaxError")
               or words not in a["message"]]
        tell(not bad, "%s is refused" % name, bad)
    for name, code in ALLOWED.items():
        answer = engine.call("check", code=code, function_name="f")
        tell(answer["status"] == "verified", "%s are allowed" % name, answer)
    answer = engine.call("check", code=ATTEMPTS["call of eval"][0], function_name="f")
    members = {"status", "counterexamples", "paths_explored", "paths_verified", "time_seconds", "coverage_estimate"}
    tell(members <= set(answer) and answer["message"] == "Blocked function call: eval", "an error has the members of its tool", answer)
    engine.close()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
