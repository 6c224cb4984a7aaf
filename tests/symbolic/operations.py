"""The operations that the symbolic engine models: the table of the one-operation fuzzer (operations_fuzz.py).

A row is an operation, the kinds of its parameters a, b, c, and a function of one operation: an expression, or statements with a
`return`. A method that changes its object returns it too: `(a.append(b), a)`. Operators are rows for each pair of kinds that
Python has them for. A new operation of the engine needs a row here; a test fails until it has one.
"""
import collections
import itertools

import bytes_operations
import class_operations
import library_operations
import text_operations

Kind = collections.namedtuple("Kind", "annotation values needs", defaults=[""])
Row = collections.namedtuple("Row", "operation kinds body")

BIG = ["2**31", "-2**31", "2**63", "-2**63", "2**63 - 1", "-2**63 - 1", "10**30", "-10**30"]
ODD = ["''", "'a'", "'b'", "'ab'", "'aba'", "'A'", "' '", "' a\\t'", "'0'", "'12'", "'-1'", "'+7'", "'1_0'", "'\\n'", "'a\\r\\nb'", "'\\x1c'",
       "'\\x00'", "'\\xe9'", "'e\\u0301'", "'\\xdf'", "'\\u0130'", "'\\u01c6'", "'\\u0663'", "'\\xb2'", "'\\u2028'", "'\\ud800'",
       "'\\udc00\\ud800'", "'\\U0001f600'", "'\\U0010ffff'", "'x=1'", "'aXbXc'", "'%s'", "'True'"]

POINT = """from dataclasses import dataclass

@dataclass
class P:
    x: int
    y: int = 0
"""
FROZEN = """from dataclasses import dataclass

@dataclass(frozen=True, order=True)
class F:
    x: int
    s: str
"""

COLOR = """from enum import Enum

class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = (3, 'x')
    ROUGE = 1

    @property
    def first(self):
        return self.name[0]

    def is_red(self):
        return self is Color.RED
"""
LEVEL = """from enum import IntEnum, auto

class Level(IntEnum):
    LOW = auto()
    MID = 5
    HIGH = auto()
    NONE = 0
"""
WORD = """from enum import Enum

class Word(str, Enum):
    A = 'a'
    AB = 'ab'
    EMPTY = ''
"""
PAIR = """from typing import NamedTuple

class T(NamedTuple):
    x: int
    s: str = 'd'

    def twice(self):
        return self.x * 2

    @property
    def size(self):
        return len(self.s)
"""
CHILD = """from dataclasses import dataclass, field

@dataclass
class Base:
    x: int
    tags: list[int] = field(default_factory=list)

    def name(self):
        return 'base'

@dataclass
class Child(Base):
    y: int = 3

    def name(self):
        return 'child of ' + super().name()
"""

# The kinds of parameters: how one is annotated, what it can be, and what the module needs for it. Those that limit a size leave out
# what only takes memory.
KINDS = {
    "int": Kind("int", ["0", "1", "-1", "2", "3", "-7", *BIG]),
    "small": Kind("int", ["0", "1", "-1", "2", "3", "-2", "5", "-6"]),
    "byte": Kind("int", ["0", "1", "2", "127", "128", "255", "85"]),
    "times": Kind("int", ["0", "1", "-1", "2", "3", "-2**31", "-2**63", "-10**30", "2**63", "10**30"]),
    "place": Kind("int", ["0", "1", "-1", "2", "-2", "3", "-4", *BIG]),
    "code": Kind("int", ["0", "65", "-1", "55296", "1114111", "1114112", "2**31", "2**63", "10**30", "-10**30"]),
    "bool": Kind("bool", ["False", "True"]),
    "float": Kind("float", ["0.0", "-0.0", "1.0", "-1.0", "0.5", "-2.5", "1e16", "2.0**53", "2.0**63", "1e308", "5e-324", "1e999", "-1e999",
                            "(1e999 - 1e999)"]),
    "angle": Kind("float", ["0.0", "-0.0", "359.9", "360.0", "-360.0", "720.5", "-90.0", "-1e-20", "1e-320", "1e16", "-1e300", "0.3", "2.5", "3.5", "0.125", "1e999", "(1e999 - 1e999)"]),
    "str": Kind("str", ODD),
    "letters": Kind("str", ["''", "'a'", "'A'", "':'", "'aB'", "'a b'", "'\\xe9'", "'\\xc9z'", "'\\xdf'", "'a\\xdf'", "'\\xdfa'", "'\\xdf\\xdf'", "'\\u0130'", "'i\\u0130'", "'\\u0131'", "'\\u017f'", "'\\u0178'", "'\\u212a'", "'\\u212b.'",
                            "'\\u1e9e'", "'\\u03a3'", "'a\\u03a3'", "'\\u03a3a'", "'a\\u03a3a'", "'a\\u03a3\\u0307'", "'\\u03c2'", "'\\u01c4'", "'\\u01c5'", "'\\u01c6x'", "'\\u0149'", "'a\\u0149'", "'\\ufb01'", "'a\\ufb03'", "'\\ufb03b'", "'\\u1f80'", "'a\\u1f80'",
                            "'\\u0345'", "'\\u10d0'", "'\\u1c90'", "'\\uab70'", "'\\u13a0'", "'\\U00010400'", "'\\U0001e921'", "'\\U0010ffff'", "'\\ud800'", "'\\u0390'", "'\\xb5'", "'\\xff'", "'\\xaa'", "'\\u2160'", "'\\u24b6'"]),
    "chars": Kind("str", ["''", "'a'", "'b'", "'ab'", "'ba'", "'aa'", "'aab'", "'aba'", "'abX'", "'a,b'", "'a; b'", "'k=1'", "'=7'", "'12'", "'1a2'", "' a '", "'a\\n'", "'\\n'", "'a\\nb'", "'\\xe9a'", "'\\u0663'", "'a_b'", "'A-b'", "'\\\\'", "'\\ud800'", "'\\u4e00a'", "'\\U0010ffff'", "'ac'", "'0f'", "'\\x1ca'"]),
    "bytes": Kind("bytes", ["b''", "b'a'", "b'b'", "b'ab'", "b'aba'", "b'A'", "b' a\\t'", "b'\\x00'", "b'\\xff'", "b'\\x80a'", "b'12'", "b'-1'", "b'\\xc3\\xa9'",
                            "b'\\xed\\xa0\\x80'", "b'a,b'", "b'\\n'", "b'\\x1c\\x85'", "b'Zz\\xe9'", "b'\\xf0\\x9f\\x98\\x80'", "b'7'"]),
    "blobs": Kind("list[bytes]", ["[]", "[b'']", "[b'a']", "[b'b', b'a']", "[b'a', b'a']", "[b'\\xff', b'ab']"]),
    "none": Kind("None", ["None"]),
    "maybe": Kind("int | None", ["None", "0", "1", "-1", "2**63"]),
    "mixed": Kind("int | str", ["0", "1", "-1", "''", "'a'", "'1'"]),
    "list": Kind("list[int]", ["[]", "[0]", "[1]", "[-1]", "[1, 2]", "[2, 1]", "[1, 1]", "[0, -1, 2]", "[10**30]", "[3, 1, 2]"]),
    "floats": Kind("list[float]", ["[]", "[0.0]", "[-0.0]", "[1.0]", "[(1e999 - 1e999)]", "[1.0, (1e999 - 1e999)]", "[0.0, -0.0]", "[2.0, 1.0]"]),
    "strs": Kind("list[str]", ["[]", "['']", "['a']", "['b', 'a']", "['a', 'a']", "['\\ud800']", "['e\\u0301', 'e']"]),
    "bools": Kind("list[bool]", ["[]", "[True]", "[False]", "[False, True]", "[True, True]"]),
    "lists": Kind("list[list[int]]", ["[]", "[[]]", "[[1]]", "[[1], [1]]", "[[2, 1], []]"]),
    "pairs": Kind("list[tuple[int, int]]", ["[]", "[(0, 1)]", "[(1, 1), (1, 2)]", "[(2, 0), (1, 5)]"]),
    "tuple": Kind("tuple[int, int]", ["(0, 0)", "(1, 2)", "(2, 1)", "(-1, 10**30)"]),
    "tuples": Kind("tuple[int, ...]", ["()", "(0,)", "(1, 2)", "(1, 1)", "(2, 1, 0)"]),
    "dict": Kind("dict[int, int]", ["{}", "{0: 0}", "{1: 2}", "{1: 2, 2: 1}", "{10**30: -1}"]),
    "names": Kind("dict[str, int]", ["{}", "{'a': 1}", "{'': 0, 'a': 2}", "{'\\ud800': 1}"]),
    "set": Kind("set[int]", ["set()", "{0}", "{1}", "{1, 2}", "{-1, 10**30}"]),
    "frozenset": Kind("frozenset[int]", ["frozenset()", "frozenset([0])", "frozenset([1, 2])"]),
    "default": Kind("int = None", ["None", "0", "1", "-1", "2**63"]),
    "literal": Kind("Literal[0, 1, 'a', True, None]", ["0", "1", "'a'", "True", "None"], "from typing import Literal\n"),
    "point": Kind("P", ["P(0, 0)", "P(1)", "P(1, 2)", "P(-1, 10**30)"], POINT),
    "date": Kind("datetime.date", ["datetime.date(2024, 2, 29)", "datetime.date(2023, 12, 31)", "datetime.date(2024, 1, 1)", "datetime.date(1900, 3, 1)", "datetime.date(2000, 2, 28)",
                                   "datetime.date(1, 1, 1)", "datetime.date(9999, 12, 31)", "datetime.date(2023, 3, 31)"], "import datetime\n"),
    "delta": Kind("datetime.timedelta", ["datetime.timedelta(0)", "datetime.timedelta(1)", "datetime.timedelta(-1)", "datetime.timedelta(31, 3600)", "datetime.timedelta(0, 1, 1)",
                                         "datetime.timedelta(-1, 86399)", "datetime.timedelta(999999999)", "datetime.timedelta(-999999999)", "datetime.timedelta(366)"], "import datetime\n"),
    "dates": Kind("list[datetime.date]", ["[]", "[datetime.date(2024, 2, 29)]", "[datetime.date(2024, 2, 29), datetime.date(2023, 12, 31)]"], "import datetime\n"),
    "year": Kind("int", ["1", "0", "-1", "4", "100", "400", "1900", "2000", "2023", "2024", "9999", "10000", "2**31", "2**63", "-10**30"]),
    "month": Kind("int", ["0", "1", "2", "12", "13", "-1", "4", "2**31", "10**30"]),
    "day": Kind("int", ["0", "1", "28", "29", "30", "31", "32", "-1", "-2**31 - 1"]),
    "isodate": Kind("str", ["'2024-02-29'", "'2023-02-29'", "'2024-W01-1'", "'2020-W53-7'", "'2021-W53-1'", "'20240229'", "'2024W011'", "'2024-W01'", "'2024W01'", "'2024-1-1'", "'2024-13-01'", "''", "'0000-01-01'",
                            "'9999-W52-7'", "'2024-01-0x'", "'2024/01/01'", "'2024-011'", "'\\u0662024-01-1'", "'\\ud800'", "'2024-01-01T00'", "'20240101xx'", "'2024-W1-11'"]),
    "color": Kind("Color", ["Color.RED", "Color.GREEN", "Color.BLUE"], COLOR),
    "level": Kind("Level", ["Level.LOW", "Level.MID", "Level.HIGH", "Level.NONE"], LEVEL),
    "word": Kind("Word", ["Word.A", "Word.AB", "Word.EMPTY"], WORD),
    "pair": Kind("T", ["T(0)", "T(1, '')", "T(1, 'ab')", "T(-2**63, 'd')"], PAIR),
    "child": Kind("Child", ["Child(0)", "Child(1, [], 2)", "Child(1, [1])", "Child(10**30, [2, 1], 3)"], CHILD),
    "newtype": Kind("Id", ["0", "1", "-1", "2**63"], "from typing import NewType\nId = NewType('Id', int)\n"),
    "alias": Kind("Vec", ["[]", "[1]", "[1, 2]"], "Vec = list[int]\n"),
    "aliased": Kind("Maybe", ["None", "0", "7"], "from typing import Optional, TypeAlias\nMaybe: TypeAlias = Optional[int]\n"),
    "frozen": Kind("F", ["F(0, '')", "F(1, 'a')", "F(1, 'b')", "F(2**63, '\\ud800')"], FROZEN),
}

# What a parameter of a kind is bounded by in questions about all inputs, so that every path can be explored.
BOUNDS = {"bytes": "len({0}) <= 2", "blobs": "len({0}) <= 1 and all(len(x) <= 1 for x in {0})", "small": "-6 <= {0} <= 5", "byte": "0 <= {0} <= 255", "times": "{0} <= 3 or {0} >= 2**63", "str": "len({0}) <= 2", "letters": "len({0}) <= 2", "chars": "len({0}) <= 2", "list": "len({0}) <= 2", "floats": "len({0}) <= 1", "strs": "len({0}) <= 1",
          "bools": "len({0}) <= 2", "lists": "len({0}) <= 1 and all(len(x) <= 1 for x in {0})", "pairs": "len({0}) <= 1", "tuples": "len({0}) <= 2",
          "dict": "len({0}) <= 1", "names": "len({0}) <= 1", "set": "len({0}) <= 1", "frozenset": "len({0}) <= 1",
          "dates": "len({0}) <= 1", "isodate": "len({0}) <= 10", "pair": "len({0}.s) <= 2",
          "child": "len({0}.tags) <= 1", "alias": "len({0}) <= 2"}

ROWS = []


def row(operation, kinds, *bodies):
    ROWS.extend(Row(operation, tuple(kinds.split()), body) for body in bodies)


# ---- Operators: each pair of kinds for which Python has a result ----------------------------------------------------------

UNARY = ["+", "-", "~", "not "]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "|", "^", "&", "@"]
COMPARED = ["==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"]
OPERANDS = ["int", "bool", "float", "str", "bytes", "none", "list", "floats", "lists", "tuple", "tuples", "dict", "set", "frozenset", "mixed"]
# A product, a power and a shift of a big number only take memory.
NARROW = {"*": ("int", {"str": "times", "bytes": "times", "list": "times", "floats": "times", "lists": "times", "tuple": "times", "tuples": "times"}),
          "**": ("int", {"int": "small", "bool": "small", "float": "int"}), "<<": ("int", {"int": "small", "bool": "small"})}


def has_result(expression, kinds):
    """Is it no TypeError for each pair? The first and the last values of a kind show it."""
    for given in itertools.product(*(KINDS[kind].values[:3] + KINDS[kind].values[-3:] for kind in kinds)):
        try:
            eval(expression, {}, dict(zip("abc", map(eval, given))))
            return True
        except TypeError:
            pass
        except Exception:
            return True
    return False


def operands(sign, left, right):
    """The kinds of both, with an int that may not be big narrowed."""
    of, narrow = NARROW.get(sign, (None, {}))
    if right == of and left in narrow:
        right = narrow[left]
    elif left == of and right in narrow and sign == "*":
        left = narrow[right]
    return left, right


def add_operators():
    for sign in UNARY:
        for kind in OPERANDS:
            row("unary " + sign.strip(), kind, sign + "a")
    refused = []
    for sign in BINARY:
        for left, right in itertools.product(OPERANDS, repeat=2):
            kinds = operands(sign, left, right)
            if sign == "%" and left == "str":
                kinds = ("str", right)
            if has_result("a %s b" % sign, kinds):
                row("operator " + sign, " ".join(kinds), "a %s b" % sign)
            else:
                refused.append((sign, kinds))
    for sign in COMPARED:
        for left, right in itertools.product(OPERANDS, repeat=2):
            if has_result("a %s b" % sign, (left, right)) and (left == right or sign not in ("is", "is not") or "none" in (left, right)):
                row("comparison " + sign, "%s %s" % (left, right), "a %s b" % sign)
            else:
                refused.append((sign, (left, right)))
    for sign, kinds in refused[::7]:  # a TypeError: one in seven is enough, the signs are in turn
        row("TypeError of an operator", " ".join(kinds), "a %s b" % sign)
    for sign in BINARY[:-1]:
        row("augmented " + sign + "=", "int small", "a %s= b\nreturn a" % sign)
    for kinds, sign in [("list list", "+"), ("list tuples", "+"), ("list str", "+"), ("list times", "*"), ("set set", "|"), ("set set", "&"),
                        ("set set", "-"), ("set set", "^"), ("dict dict", "|"), ("dict pairs", "|"), ("dict list", "|"), ("dict none", "|"), ("set list", "|"), ("set frozenset", "&"), ("str str", "+"), ("tuples tuples", "+"), ("frozenset set", "|"),
                        ("float float", "/"), ("lists list", "+"), ("str times", "*"), ("tuples times", "*")]:
        row("augmented " + sign + "=", kinds, "c = a\na %s= b\nreturn (a, c)" % sign)


add_operators()

# ---- Functions of Python's own --------------------------------------------------------------------------------------------

row("abs", "int", "abs(a)")
row("abs", "bool", "abs(a)")
row("abs", "float", "abs(a)")
row("all", "list", "all(a)", "all(x > 0 for x in a)")
row("all", "bools", "all(a)")
row("all", "str", "all(a)")
row("all", "dict", "all(a)", "all(a.values())")
row("all", "set", "all(a)")
row("any", "list", "any(a)", "any(x < 0 for x in a)")
row("any", "floats", "any(a)")
row("any", "strs", "any(a)")
row("any", "lists", "any(a)")
for kind in OPERANDS:
    row("bool", kind, "bool(a)")
    row("str", kind, "str(a)")
    row("repr", kind, "repr(a)")
    row("ascii", kind, "ascii(a)")
    row("len", kind, "len(a)")
    row("isinstance", kind, "isinstance(a, int)", "isinstance(a, (str, list))", "isinstance(a, float)")
    row("type", kind, "type(a) == int", "type(a) is bool")
    row("print", kind, "print(a)")
row("callable", "int", "callable(a)", "callable(len)")
row("dict", "pairs", "dict(a)")
row("dict", "dict", "dict(a)", "dict(a, b=1)")
row("dict", "list", "dict(a)")
row("dict", "tuple", "dict([a])", "dict(x=a)")
row("divmod", "int int", "divmod(a, b)")
row("divmod", "float int", "divmod(a, b)")
row("divmod", "bool int", "divmod(a, b)")
row("enumerate", "list", "list(enumerate(a))")
row("enumerate", "str int", "list(enumerate(a, b))")
row("enumerate", "dict int", "list(enumerate(a, start=b))")
row("filter", "list", "list(filter(None, a))", "list(filter(lambda x: x > 0, a))")
row("filter", "str", "list(filter(str.isdigit, a))", "list(filter(lambda x: x != 'a', a))")
for kind in ("int", "bool", "float", "str", "none", "list"):
    row("float", kind, "float(a)")
    row("int", kind, "int(a)")
row("float", "", "float()")
row("int", "", "int()")
row("int", "str small", "int(a, b)")
row("int", "small", "int('11', a)", "int('zz', a)", "int(' 7 ', a)", "int('', a)", "int('0x1f', a)", "int(str(a), 16)", "'%d' % int('101', a)")
row("int", "str", "int(a, 16)", "int(a, 0)")
for kind in ("list", "str", "tuples", "dict", "set", "frozenset", "none", "floats", "lists"):
    for name in ("list", "tuple", "set", "frozenset"):
        row(name, kind, "%s(a)" % name)
    row("sorted", kind, "sorted(a)")
    row("reversed", kind, "list(reversed(a))")
    row("min", kind, "min(a)")
    row("max", kind, "max(a)")
    row("sum", kind, "sum(a)")
    row("iter", kind, "list(iter(a))")
row("map", "list", "list(map(lambda x: x + 1, a))", "list(map(abs, a))", "list(map(str, a))")
row("map", "strs", "list(map(len, a))", "list(map(int, a))")
row("map", "list list", "list(map(lambda x, y: x - y, a, b))")
row("max", "int int", "max(a, b)", "max(a, b, key=lambda x: -x)", "max([a], default=b)")
row("max", "float float", "max(a, b)")
row("max", "float int", "max(a, b)")
row("max", "str str", "max(a, b)")
row("max", "bool int", "max(a, b)")
row("max", "list int", "max(a, default=b)", "max(a, key=lambda x: x % 2)")
row("min", "int int", "min(a, b)", "min(a, b, key=abs)")
row("min", "float float", "min(a, b)")
row("min", "float int", "min(a, b)", "min(b, a)")
row("min", "list int", "min(a, default=b)", "min(a, key=lambda x: x % 2)")
row("min", "tuple tuple", "min(a, b)")
row("next", "list int", "next(reversed(a), b)", "next(map(abs, a), b)", "next((x for x in a), b)", "next(enumerate(a))")
row("object", "int", "isinstance(a, object)")
row("pow", "int small", "pow(a, b)")
row("pow", "small small int", "pow(a, b, c)")
row("pow", "float float", "pow(a, b)")
row("range", "small", "list(range(a))", "range(a)[1]", "range(a)[-1]", "[x for x in range(a)]")
row("range", "int", "len(range(a))", "bool(range(a))", "not range(a)", "range(a)[0]", "range(a)[-1]", "a in range(a)", "next((x for x in range(a)), None)")
row("range", "int int", "len(range(a, b))", "bool(range(a, b))", "range(a, b)[0]", "range(a, b)[-1]", "range(a, b, -1)[0]", "range(b)[a]",
    "a in range(b)", "len(range(0, a, b))", "bool(range(a, b, 2**63))")
row("range", "int int int", "len(range(a, b, c))", "a in range(b, c)", "a in range(b, c, -3)", "a in range(0, b, c)", "range(a, b)[c]",
    "bool(range(a, b, c))")
row("range", "small small small", "list(range(a, b, c))", "[x for x in range(a, b, c)]", "range(a, b, c)[0]")
row("range", "small small", "range(a) == range(b)", "list(range(5)[a:b])", "list(reversed(range(a, b)))")
row("range", "float", "list(range(a))")
row("range", "bool", "list(range(a))")
row("reversed", "tuple", "list(reversed(a))")
row("reversed", "list", "for i, v in enumerate(reversed(a)):\n    a[i] = v\nreturn a", "r = reversed(a)\na.append(9)\nreturn list(r)",
    "r = reversed(a)\na.clear()\nreturn list(r)", "for v in reversed(a):\n    a.insert(0, v)\n    if len(a) > 8:\n        break\nreturn a")
row("round", "int", "round(a)")
row("round", "int small", "round(a, b)")
row("round", "float", "round(a)")
row("round", "float small", "round(a, b)")
row("round", "float", "round(a, 2)", "round(a, 1)", "round(a, 0)", "round(a, 0) == a", "round(a, 22)")
row("round", "angle", "round(a, 1)", "round(a, 0)", "0 <= round(a, 2) <= 1")
row("rest of floats", "angle", "a % 360.0", "a % 360", "a % -360.0", "a % 1.0", "a % 0.25", "a % 0.1", "a % -0.5", "0 <= a % 360 < 360", "a % 1 == 0", "720.5 % a", "a % (1e999)", "a % (-1e999)", "a % 7")
row("floor of floats", "angle", "a // 360.0", "a // 360", "a // -360.0", "a // 1.0", "a // 0.25", "a // 0.1", "a // -0.5", "a // 90 < 4", "720.5 // a", "a // (1e999)", "a // (-1e999)", "a // 7")
row("divmod", "angle", "divmod(a, 360.0)", "divmod(a, 2)", "divmod(a, -1.0)", "divmod(a, 0.1)")
row("divmod", "float float", "divmod(a, b)")
row("rest of floats", "int", "a % 2.0", "a % -3.0", "a // 2.0", "a // -3.0", "float(a) % 7", "float(a) // 7", "a % 2.5", "a // 2.5", "a / 4 % 1", "a / 4 // 1", "7.0 % a", "7.0 // a", "2.5 % a", "-0.0 // a")
row("rest of floats", "small small", "float(a) % b", "a // float(b)", "float(a) % float(b)", "divmod(float(a), b)", "a / 2 % b")
row("power of floats", "float", "a ** 2", "a ** 0", "a ** 1", "a ** 3", "a ** 4.0", "a ** -1", "a ** 0.5", "a ** 2 >= 0", "pow(a, 2)", "pow(a, 3) < 0")
row("power of floats", "angle", "a ** 2", "a ** 3", "a ** 2 == a * a", "a ** 3 > 0")
row("power of floats", "small", "1.5 ** a", "0.0 ** a", "(-2.0) ** a", "2 ** -a", "(a / 2) ** 2")
row("float.is_integer", "angle", "a.is_integer()", "a.is_integer() == (a % 1 == 0)", "(a / 2).is_integer()", "a.is_integer(1)")
row("float.is_integer", "int", "(a / 2).is_integer()", "(a / 1).is_integer()", "float(a).is_integer()", "(a / 3).is_integer()")
row("round", "bool", "round(a)")
row("sorted", "list", "sorted(a, reverse=True)", "sorted(a, key=lambda x: -x)", "sorted(a, key=lambda x: x % 2, reverse=True)")
row("sorted", "strs", "sorted(a)", "sorted(a, key=len)")
row("sorted", "pairs", "sorted(a)", "sorted(a, key=lambda x: x[0])")
row("sorted", "bools", "sorted(a)")
row("sum", "list int", "sum(a, b)", "sum(a, start=b)")
row("sum", "bools", "sum(a)")
row("sum", "lists list", "sum(a, b)")
row("sum", "floats float", "sum(a, b)")
row("sum", "strs str", "sum(a, b)")
row("zip", "list list", "list(zip(a, b))", "dict(zip(a, b))")
row("zip", "list str", "list(zip(a, b))", "list(zip(b, a))", "list(zip(a))")
row("zip", "list", "list(zip())", "list(zip(a, a, strict=True))")
row("chr", "code", "chr(a)")
row("ord", "str", "ord(a)")
row("bin", "int", "bin(a)")
row("hex", "int", "hex(a)")
row("oct", "int", "oct(a)")
row("format", "int", "format(a)", "format(a, '')", "format(a, 'd')", "format(a, '5')", "format(a, '05d')", "format(a, ',')", "format(a, '+_d')", "format(a, 'x')",
    "format(a, '>4X')", "format(a, '*^6')", "format(a, '<4')", "format(a, '=+6')", "format(a, '08b')", "format(a, '_b')", "format(a, '.2f')", "format(a, '.0%')", "format(a, '.2')",
    "format(a, 's')", "format(a, 'q')", "format(a, ' d')", "format(a, '#x')", "format(a, 'c')", "format(a, 'e')", "format(a, a)", "format(a, '07.1f')")
row("format", "small", "format(a / 4, '.1f')", "format(a / 100, '.2f')", "format(a / -8, '.2f')", "format(a / 3, '.3f')", "format(a / 8, '.1%')", "format(a / 2, '.0f')", "format(a / 1000, '7.2f')",
    "format(a / 7, '+.1f')", "format(-a / 5, '.0%')")
row("format", "str", "format(a)", "format(a, '4')", "format(a, '>4')", "format(a, '*^5')", "format(a, '.1')", "format(a, '05')", "format(a, '=5')", "format(a, 'd')", "format(a, '-^3s')")
row("format", "bool", "format(a)", "format(a, '3')", "format(a, 'd')", "format(a, 's')")
row("format", "none", "format(a)", "format(a, '3')")
row("format", "list", "format(a)", "format(a, '3')")
row("format", "float", "format(a)", "format(a, '.2f')", "format(a, '8')")
row("text in base", "small", "int(str(a))", "int(bin(a), 2)", "int(hex(a), 16)", "str(a)[0]", "str(a)[-1]", "len(str(a))", "str(a).zfill(3)", "[c for c in str(a)]", "str(a).count('1')", "str(a)[::-1]")
row("bits of two ints", "small small", "a & b", "a | b", "a ^ b", "(a ^ b) ^ b", "~(a & b)")
row("bits of two ints", "byte byte", "a & b", "a | b", "a ^ b", "(a & b) + (a | b)", "(a << 1) ^ b")
row("bits of two ints", "byte byte", "a << 8 | b", "a | b << 8", "(a << 8) ^ b", "(a << 8) & b", "(a << 7) | b", "-a << 8 | b", "(a << 9) + (b & 1) | b", "a * 256 | b % 256")
row("bits of two ints", "small small", "a << 4 | b", "(a << 4) & (b % 16)", "a * 16 ^ b % 16", "a * 8 ^ b % 16")
row("bit_length", "small", "a.bit_length()", "a.bit_count()", "(a * a).bit_length()")
row("bit_length", "byte", "a.bit_length()", "a.bit_count()", "bin(a).count('1')")
row("rounding of quotients", "small small", "int(a / b)", "round(a / b)", "math.floor(a / b)", "math.ceil(a / b)", "math.trunc(a / b)")
row("rounding of quotients", "small", "round(a / 4, 1)", "round(a / 8, 2)", "round(a / 3, 2)", "round(a / 2)", "round(a / -2)", "round(a / 3, 0)", "int(a / 3) * 3", "round(a * 25, -1)", "round(a, -1)",
    "round(a / 4, 12)", "f'{round(a / 3, 1):.1f}'")
row("rounding of floats", "float", "int(a)", "math.floor(a)", "math.ceil(a)", "math.trunc(a)", "round(a)", "int(a) > 0", "round(a) == 0")
row("pow with a modulus", "small small", "pow(a, 3, b)", "pow(2, b, 7)", "pow(a, b, -5)", "pow(a, 2, None)", "pow(a, b, 0)", "pow(a, 2, 1.5)")
row("template", "int", "'%d' % a", "'%5d|' % a", "'%-5d|' % a", "'%05d' % a", "'%+d' % a", "'%x' % a", "'%s' % a", "'%.1f' % a", "'%d %d' % (a, a)", "'%d %d' % (a,)", "'%d' % (a, a)", "'%%%d' % a",
    "'%r' % a", "'%c' % a", "'%' % a", "'%5' % a", "'x' % a", "'% d' % a", "'%i' % a", "'%(x)d' % a")
row("template", "str", "'%s' % a", "'%5s|' % a", "'%-3s|' % a", "'%.1s' % a", "'%d' % a", "'%s=%s' % (a, a)", "'{}'.format(a)", "'{0}{0}'.format(a)", "'{:>4}'.format(a)", "'{x}'.format(x=a)", "'{!s:3}'.format(a)",
    "'{}'.format()", "'{1}'.format(a)", "'{y}'.format(x=a)", "'{{{}}}'.format(a)", "'{0}{}'.format(a, a)", "'{}{0}'.format(a, a)", "'{:d}'.format(a)", "'{'.format(a)", "'}'.format(a)", "'{.x}'.format(a)",
    "'{[0]}'.format(a)")
row("template", "small str", "'{:03d}-{}'.format(a, b)", "'%s-%03d' % (b, a)", "'{:{}}'.format(b, a)", "'{0:>{1}}'.format(b, a)")
row("unbound method", "strs", "list(map(str.upper, a))", "sorted(a, key=str.lower)", "list(map(str.strip, a))", "str.upper(a)", "list(filter(str.isdigit, a))", "str.join('-', a)", "str.upper()")
row("case twice", "str", "a.upper().upper() == a.upper()", "a.lower().upper()", "a.swapcase().swapcase()", "a.upper() == a", "a.lower() in ('a', 'b')", "a.title().lower()", "(a + 'x').upper()")
row("characters of a str", "str", "[ord(c) for c in a]", "''.join(chr(ord(c)) for c in a)", "a[::-1] == a", "sorted(a)", "a[0].isdigit()", "[c in 'abc0' for c in a]", "max(a)", "a[0] < 'b'",
    "''.join(sorted(a))", "[c.upper() for c in a]", "len(set(a))", "''.join(c for c in a if c.isalnum())", "a[0] + a[-1]", "[int(c) for c in a]", "a.strip().lower()", "a.replace('a', 'b').replace('b', 'c')")

row("arguments of a function", "int", "str(object=a)", "enumerate(iterable=[a])", "list(enumerate([a], 1, start=2))", "sum([a], 1, start=2)", "print(a, sep='')",
    "print(a, sep=1)", "print(a, other=1)", "print(a, end=None)", "print(a, sep=', ', end='')", "print(a, flush=True)", "print(a, file=None)", "len()", "len([a], 1)", "abs(x=a)", "sorted([a, 1], reverse=None)", "sorted([a, 1], reverse=1.5)",
    "sorted([a, 1], reverse=2)", "sorted([a, 1], 1)", "sorted(iterable=[a])", "max()", "max(a)", "max(a, 1, default=2)", "max([], key=abs)", "min([], default=a)",
    "round(a, None)", "round(a, ndigits=1)", "pow(base=a, exp=2)", "divmod(a)", "range()", "range(1, 2, 3, 4)", "list([a], [a])", "list(iterable=[a])", "tuple(a, a)",
    "set(x=a)", "dict(a=a, **{'b': 1})", "dict({}, {})", "bool(a, a)", "bool(x=a)", "int(a, 10)", "int(x=a)", "float(a, a)", "isinstance(a)", "isinstance(a, 5)",
    "isinstance(a, (int, 5))", "isinstance(a, ())", "zip(a)", "map(abs)", "map(a, [1])", "list(map(a, [1]))", "filter(abs)", "next([a])", "next()", "all()", "all([a], [a])",
    "any(a)", "type()", "repr()", "chr('a')", "chr()", "ord(a)", "bin('a')", "reversed(a)", "reversed([a], [a])", "enumerate(a)", "enumerate([a], 'b')", "sum(a)", "sum([a], '')",
    "sum([[a]])", "sorted(a)", "max([a, 'b'])", "frozenset(a)", "f(a, a)", "a()", "len(len)")
row("consumed iterator", "list", "m = map(abs, a)\nlist(m)\nreturn list(m)", "e = enumerate(a)\nnext(e, None)\nreturn list(e)", "z = zip(a, a)\nany(z)\nreturn list(z)",
    "g = (x for x in a)\nreturn list(zip(g, g))", "g = (x for x in a)\nany(g)\nreturn list(g)", "g = (x for x in a)\nreturn (sum(g), sum(g))",
    "r = reversed(a)\nnext(r, None)\nreturn list(r)", "b, *c = map(abs, a)\nreturn (b, c)", "m = filter(None, a)\nreturn (max(m, default=0), list(m))", "g = (x for x in a)\nreturn 1 in g",
    "e = enumerate(a)\na.append(7)\nreturn list(e)", "z = zip(a, [1, 2, 3, 4])\na.append(7)\nreturn list(z)", "m = map(abs, a)\na.append(-7)\nreturn list(m)",
    "m = filter(None, a)\na.append(7)\nreturn list(m)", "m = map(a.append, [8, 9])\nreturn (list(m), a)", "e = enumerate(a)\nlist(e)\na.append(7)\nreturn list(e)",
    "g = (a.pop() for x in a)\nreturn list(g)", "g = (10 // x for x in a)\ntry:\n    return list(g)\nexcept ZeroDivisionError:\n    return list(g)", "for x in (y for y in a):\n    a.clear()\nreturn a")
row("order of evaluation", "int", *("t = []\ndef g(x):\n    t.append(x)\n    return x\n%s\nreturn t" % words for words in (
    "[0, 1][g(a) and 1] + g(2)", "d = {}\nd[g(1)] = g(2)", "d = {g(1): g(2), g(3): g(4)}", "g(1) < g(a) < g(3)", "g(a) and g(2)", "g(a) or g(2)", "g(1) if g(a) else g(2)",
    "max(g(2), *[g(1)], key=lambda x: g(x))", "sorted([2, 1], key=g)", "x = y = g(a)", "b = [0]\nb[g(0)] += g(1)", "x, y = g(1), g(2)", "[g(x) for x in (1, 2) if g(x + 5)]",
    "list(map(g, [1, a]))", "any(g(x) for x in (0, a, 2))", "all([g(0), g(1)])", "f'{g(1)}{g(2)}'", "b = [1, 2, 3]\nb[g(0):g(2)]", "(g(x) for x in [1])", "g(1) in [g(2)]")))
row("name", "int", "if a > 0:\n    b = 1\nreturn b", "return b", "if a > 0:\n    return b\nb = 1\nreturn 2", "for b in range(a if a < 3 else 3):\n    pass\nreturn b", "def g():\n    return b\nb = a\nreturn g()",
    "def g():\n    return b\nc = g()\nb = a\nreturn c", "len = a\nreturn len", "[b for b in [a]]\nreturn b", "class C:\n    b = a\n    c = [b for x in [1]]\nreturn C.c",
    "class C:\n    b = a\n    def g(self):\n        return b\nreturn C().g()", "match a:\n    case b if b > 5:\n        pass\nreturn b", "match [a, 1]:\n    case [b, 2]:\n        pass\n    case [c, 1]:\n        return c\nreturn b",
    "try:\n    pass\nexcept ValueError as b:\n    pass\nreturn b", "import math as m\nreturn m.floor(a)", "lambda: b", "(lambda: b)()", "b += a\nreturn b")
row("attribute", "int", "class C:\n    def __init__(self, x):\n        self.__x = x\nreturn C(a)._C__x", "class C:\n    __x = 1\nreturn C._C__x", "__b = a\nclass C:\n    def g(self):\n        return __b\nreturn C().g()", "class C:\n    def __g(self):\n        return 1\nreturn C()._C__g()",
    "class C:\n    x = 1\nc = C()\nc.x += a\nreturn (c.x, C.x)", "class C:\n    x = []\nC().x.append(a)\nreturn C().x", "class C:\n    x = 1\nC.x = a\nreturn C().x", "class C:\n    def g(self):\n        return a\nc = C()\nc.g = 5\nreturn c.g",
    "class C:\n    def g(self):\n        return a\nh = C().g\nreturn h()", "class C:\n    def g(self):\n        return a\nreturn C.g(1)", "class C:\n    def g():\n        return a\nreturn C().g()", "class C:\n    x = abs\nreturn C().x(a)",
    "class C:\n    x = lambda self: a\nreturn C().x()", "b = [].append\nreturn b(a)", "b = []\nc = b.append\nc(a)\nreturn b", "a.real", "a.x", "a.x = 1\nreturn a", "None.x", "[].x", "len.__name__", "class B:\n    x = 1\nclass C(B):\n    pass\nB.x = a\nreturn C.x",
    "class B:\n    x = 1\nclass C(B):\n    x = 2\nreturn C().x + a", "class C:\n    pass\nreturn isinstance(C(), C)", "class B:\n    pass\nclass C(B):\n    pass\nreturn (isinstance(C(), B), isinstance(B(), C))",
    "class C:\n    def __init__(self):\n        return 1\nreturn C()", "class C:\n    def __init__(self, x):\n        self.x = x\nreturn C()", "class C:\n    pass\nreturn C(a)", "class C:\n    def __call__(self):\n        return a\nreturn C()()",
    "class C:\n    def __len__(self):\n        return a\nreturn len(C())", "class C:\n    def __eq__(self, o):\n        return True\nreturn C() == a", "class C:\n    def __getitem__(self, i):\n        return i\nreturn C()[a]",
    "class C:\n    def __contains__(self, i):\n        return True\nreturn a in C()", "class C:\n    def __bool__(self):\n        return False\nreturn 1 if C() else 2", "class C:\n    def __iter__(self):\n        return iter([1])\nreturn list(C())",
    "class C:\n    def __radd__(self, o):\n        return o\nreturn a + C()", "class C:\n    def __str__(self):\n        return 'c'\nreturn str(C())", "class C:\n    def __repr__(self):\n        return 'c'\nreturn str(C())",
    "class C:\n    def __hash__(self):\n        return 1\nreturn len({C(), C()})", "class C:\n    def __neg__(self):\n        return a\nreturn -C()", "class C:\n    def __lt__(self, o):\n        return True\nreturn C() > C()",
    "class C:\n    @property\n    def x(self):\n        return a\nreturn C().x", "class C:\n    @classmethod\n    def g(cls):\n        return a\nreturn C.g()", "class E(Exception):\n    def __init__(self, x):\n        self.x = x\ntry:\n    raise E(a)\nexcept E as e:\n    return e.x",
    "class E(Exception):\n    def __init__(self, x):\n        self.x = x\nraise E", "class E(Exception):\n    pass\nreturn str(E(a))", "str(ValueError(a))", "str(KeyError(a))", "ValueError(a, 1).args", "str(ValueError())", "str(ValueError(a, 1))",
    "class C:\n    x: int = 5\nreturn C.x + a", "class C:\n    x: int\nreturn C.x", "class C:\n    def __add__(self, o):\n        return NotImplemented\nreturn C() + a", "class C:\n    def __iadd__(self, o):\n        return 7\nc = C()\nc += a\nreturn c")
row("default of a parameter", "default", "a", "a is None", "a or 5", "a == 0", "a + 1", "type(a) == int")

# ---- Methods --------------------------------------------------------------------------------------------------------------

row("list.append", "list int", "(a.append(b), a)", "c = a\nc.append(b)\nreturn a", "a.append(b)\nreturn len(a)")
row("list.append", "lists list", "(a.append(b), b.append(7), a)")
row("list.append", "list", "a.append(a)\nreturn len(a)", "a.append(a)\nreturn a[-1] is a", "a.append(a)\nreturn a in a", "a.append(a)\nreturn a == a",
    "b = []\nb.append(b)\na.append(a)\nreturn a == b", "a.append(a)\nreturn repr(a)", "a.append(a)\na.extend(a)\nreturn len(a)",
    "a.append(a)\nreturn bool(a)", "a.append(a)\nreturn a[-1][0] == a[0]", "a.append(a)\nb = a.copy()\nreturn len(b[-1])",
    "for x in a:\n    a.append(x)\n    if len(a) > 7:\n        break\nreturn a")
row("list.clear", "list", "(a.clear(), a)", "for x in a:\n    a.clear()\nreturn a")
row("list.copy", "list", "b = a.copy()\nb.append(1)\nreturn (a, b)")
row("list.copy", "lists", "b = a.copy()\nif b:\n    b[0].append(1)\nreturn (a, b)")
row("list.count", "list int", "a.count(b)")
row("list.count", "floats float", "a.count(b)")
row("list.count", "list float", "a.count(b)")
row("list.count", "bools int", "a.count(b)")
row("list.extend", "list list", "(a.extend(b), a)", "(a.extend(a), a)", "a.extend(x for x in b)\nreturn a")
row("list.extend", "list str", "(a.extend(b), a)")
row("list.extend", "list int", "(a.extend(b), a)")
row("list.index", "list int", "a.index(b)")
row("list.index", "floats float", "a.index(b)")
row("list.index", "list int", "a.index(b, start=0)", "a.index(b, 0, stop=1)")
row("list.index", "list place place", "a.index(1, b, c)")
row("list.index", "list place", "a.index(1, b)")
row("list.insert", "list place int", "(a.insert(b, c), a)")
row("list.insert", "list bool", "(a.insert(b, 7), a)")
row("list.insert", "list float", "(a.insert(b, 7), a)")
row("list.pop", "list", "(a.pop(), a)")
row("list.pop", "list place", "(a.pop(b), a)")
row("list.pop", "list bool", "(a.pop(b), a)")
row("list.pop", "list", "(a.pop(10**30), a)", "(a.pop(-2**63), a)", "(a.pop(-2**63 - 1), a)", "(a.pop(2**63), a)", "(a.pop(0), a)", "(a.pop(-1), a)")
row("list.remove", "list int", "(a.remove(b), a)")
row("list.remove", "floats float", "(a.remove(b), len(a))")
row("list.reverse", "list", "(a.reverse(), a)", "b = reversed(a)\na.reverse()\nreturn list(b)")
row("list.sort", "list", "(a.sort(), a)", "(a.sort(reverse=True), a)", "(a.sort(key=lambda x: -x), a)", "(a.sort(key=lambda x: x % 2), a)",
    "(a.sort(key=lambda x: len(a)), a)")
row("list.sort", "list", "(a.sort(reverse=None), a)", "(a.sort(reverse=2), a)", "(a.sort(key=None), a)", "(a.sort(abs), a)", "(a.sort(key=1), a)", "(a.sort(other=1), a)")
row("list.sort", "strs", "(a.sort(), a)", "(a.sort(key=len), a)")
row("list.sort", "pairs", "(a.sort(key=lambda x: x[0]), a)")
row("list.sort", "floats", "(a.sort(), a)")
row("tuple.count", "tuples int", "a.count(b)")
row("tuple.index", "tuples int", "a.index(b)")
row("tuple.index", "tuples place", "a.index(1, b)")
row("tuple.index", "tuples int", "a.index(b, start=0)")
row("int", "list small", "int(a, b)", "int(a, 10)", "int(a, 1)", "int(a, None)")
row("dict.clear", "dict", "(a.clear(), a)", "for x in a:\n    a.clear()\nreturn a")
row("dict.copy", "dict", "b = a.copy()\nb[7] = 1\nreturn (a, b)")
row("dict.get", "dict int", "a.get(b)", "a.get(b, 7)")
row("dict.get", "dict float", "a.get(b)")
row("dict.get", "dict bool", "a.get(b)")
row("dict.get", "dict list", "a.get(b)")
row("dict.get", "names str", "a.get(b)")
row("dict.items", "dict", "list(a.items())", "len(a.items())", "[k * v for k, v in a.items()]", "v = a.items()\na[9] = 9\nreturn list(v)")
row("dict.items", "dict tuple", "b in a.items()")
row("dict.keys", "dict", "list(a.keys())", "bool(a.keys())", "v = a.keys()\na.clear()\nreturn list(v)", "sorted(a.keys())")
row("dict.keys", "dict dict", "a.keys() == b.keys()", "a.keys() & b.keys()")
row("dict.keys", "dict int", "b in a.keys()")
row("dict.pop", "dict int", "(a.pop(b), a)", "(a.pop(b, 7), a)")
row("dict.popitem", "dict", "(a.popitem(), a)")
row("dict.setdefault", "dict int", "(a.setdefault(b), a)", "(a.setdefault(b, 7), a)")
row("dict.setdefault", "dict list", "(a.setdefault(b, 7), a)")
row("dict.update", "dict dict", "(a.update(b), a)", "(a.update(b, x=1), a)", "(a.update(a), a)")
row("dict.update", "dict pairs", "(a.update(b), a)")
row("dict.update", "dict int", "(a.update(b), a)")
row("dict.values", "dict", "list(a.values())", "sum(a.values())", "a.values() == a.values()", "max(a.values(), default=7)")
row("dict.values", "dict int", "b in a.values()")
for name in ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"):
    row("set." + name, "set set", "a.%s(b)" % name)
    row("set." + name, "set list", "a.%s(b)" % name)
    row("frozenset." + name, "frozenset set", "a.%s(b)" % name)
    row("set." + name, "set", "a.%s()" % name)
    row("set." + name, "set set list", "a.%s(b, c)" % name)
row("set.update", "set set list", "(a.update(b, c), a)", "(a.update(), a)")
row("set.update", "set list", "(a.update(b), a)")
row("set.update", "set set", "(a.update(b), a)", "(a.update(a), a)")
row("set.update", "set int", "(a.update(b), a)")
for name in ("intersection_update", "difference_update", "symmetric_difference_update"):
    row("set." + name, "set set", "(a.%s(b), a)" % name)
row("set.add", "set int", "(a.add(b), a)")
row("set.add", "set list", "(a.add(b), a)")
row("set.add", "set bool", "(a.add(b), len(a))")
row("set.remove", "set int", "(a.remove(b), a)")
row("set.discard", "set int", "(a.discard(b), a)")
row("set.discard", "set list", "(a.discard(b), a)")
row("set.discard", "set set", "c = {frozenset(b), 1}\nc.discard(a)\nreturn (len(c), a in c, a not in {frozenset(b)})", "(a.discard(b), a)")
row("set.remove", "set set", "c = {frozenset(b), 1}\nc.remove(a)\nreturn len(c)", "(a.remove(b), a)")
row("in", "set dict", "a in b")
row("in", "frozenset set", "a in {frozenset(b)}", "b in {a, 1}", "(b,) in {a, 1}")
row("set.pop", "set", "(a.pop(), len(a))")
row("set.clear", "set", "(a.clear(), a)")
row("set.copy", "set", "b = a.copy()\nb.add(7)\nreturn (a, b)")
row("frozenset.copy", "frozenset", "a.copy()")
for name in ("upper", "lower", "title", "capitalize", "swapcase", "casefold", "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower",
             "istitle", "isnumeric", "isdecimal", "isidentifier", "isascii", "isprintable", "split", "rsplit", "splitlines", "strip",
             "lstrip", "rstrip"):
    row("str." + name, "str", "a.%s()" % name)
for name in ("split", "rsplit", "strip", "lstrip", "rstrip", "partition", "rpartition", "count", "find", "rfind", "index", "rindex", "startswith",
             "endswith", "removeprefix", "removesuffix"):
    row("str." + name, "str str", "a.%s(b)" % name)
    row("str." + name, "str int", "a.%s(b)" % name)
row("str.splitlines", "str bool", "a.splitlines(b)")
for name in ("split", "rsplit"):
    row("str." + name, "str place", "a.%s('X', b)" % name, "a.%s(None, b)" % name, "a.%s('X', maxsplit=b)" % name)
    row("str." + name, "str", "a.%s('X', 2**63)" % name, "a.%s('X', -10**30)" % name, "a.%s('X', 1)" % name, "a.%s(None, 1)" % name, "a.%s('')" % name)
for name in ("count", "find", "rfind", "index", "rindex", "startswith", "endswith"):
    row("str." + name, "str place place", "a.%s('a', b, c)" % name)
    row("str." + name, "str place", "a.%s('', b)" % name)
row("str.startswith", "str str", "a.startswith((b, 'x'))", "a.startswith(())")
row("str.endswith", "str str", "a.endswith((b, 'x'))", "a.endswith(('x', 1))")
row("str.replace", "str str", "a.replace(b, 'zz')", "a.replace('a', b)", "a.replace('a', b, 1)")
row("str.replace", "str place", "a.replace('a', 'c', b)")
row("str.replace", "str", "a.replace('a', 'c', 2**63)", "a.replace('', '-')", "a.replace('a', 'c', -2**63)", "a.replace('a', '', 0)")
row("str.join", "str strs", "a.join(b)")
row("str.join", "str str", "a.join(b)")
row("str.join", "str list", "a.join(b)", "a.join(map(str, b))")
for name in ("zfill", "ljust", "rjust", "center", "expandtabs"):
    row("str." + name, "str small", "a.%s(b)" % name)
row("str.encode", "str", "a.encode()")
row("str.format", "str int", "a.format(b)")
row("str.translate", "str", "a.translate({97: 98})")
row("str.maketrans", "str", "str.maketrans(a, a)")
row("str.format_map", "str names", "a.format_map(b)")
for name in ("bit_length", "bit_count", "conjugate", "is_integer", "as_integer_ratio"):
    row("int." + name, "int", "a.%s()" % name, "(5).%s()" % name, "(-2**63).%s()" % name)
    row("bool." + name, "bool", "a.%s()" % name, "True.%s()" % name)
for name in ("conjugate", "is_integer", "as_integer_ratio", "hex"):
    row("float." + name, "float", "a.%s()" % name, "(2.5).%s()" % name)
row("range.count", "small int", "range(a).count(b)")
row("range.index", "small int", "range(a).index(b)")

# ---- The module math ------------------------------------------------------------------------------------------------------

MATH_ONE = ("acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor frexp gamma isfinite isinf isnan isqrt "
            "lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh trunc ulp").split()
MATH_TWO = "atan2 copysign fmod gcd hypot isclose lcm ldexp log nextafter pow remainder".split()
for name in MATH_ONE:
    row("math." + name, "float", "math.%s(a)" % name)
    row("math." + name, "int", "math.%s(a)" % name)
    row("math." + name, "small", "math.%s(a)" % name)
    row("math." + name, "bool", "math.%s(a)" % name)
    row("math." + name, "", "(%s)" % ", ".join("math.%s(%s)" % (name, x) for x in ("1", "2.0")))
for name in MATH_TWO:
    row("math." + name, "float float", "math.%s(a, b)" % name)
    row("math." + name, "small small", "math.%s(a, b)" % name)
    row("math." + name, "", "math.%s(3, 2)" % name)
row("math.isclose", "float float", "math.isclose(a, b, rel_tol=0.5)", "math.isclose(a, b, abs_tol=1.0)", "math.isclose(a, 1.0, rel_tol=b)", "math.isclose(a, 1, abs_tol=0.25)")
row("math.fmod", "float", "math.fmod(a, 2.0)", "math.fmod(a, -0.75)", "math.fmod(a, 360)", "math.fmod(7.5, a)")
row("math.fmod", "angle", "math.fmod(a, 360.0)", "math.fmod(a, 0.1)")
row("math.fmod", "int float", "math.fmod(a, b)", "math.fmod(b, a)")
row("math.copysign", "float int", "math.copysign(b, a)", "math.copysign(2.5, a)", "math.copysign(a, b)")
row("math.factorial", "small", "math.factorial(a)")
row("math.comb", "small small", "math.comb(a, b)")
row("math.perm", "small small", "math.perm(a, b)")
row("math.dist", "", "math.dist((0, 0), (3, 4))")
row("math.dist", "tuple tuple", "math.dist(a, b)")
row("math.fsum", "floats", "math.fsum(a)")
row("math.fsum", "", "math.fsum([0.1, 0.2])")
row("math.prod", "list", "math.prod(a)")
row("math.prod", "", "math.prod([2, 3])")
row("math.sumprod", "", "math.sumprod([1, 2], [3, 4])")
row("math.fma", "", "math.fma(2.0, 3.0, 1.0)")
row("math.fma", "float float float", "math.fma(a, b, c)")
for name in ("pi", "e", "tau", "inf", "nan"):
    row("math." + name, "float", "a > math." + name, "a == math." + name)

# ---- Subscripts -----------------------------------------------------------------------------------------------------------

for kind in ("list", "tuples", "str", "tuple", "floats", "lists"):
    row("index", kind + " place", "a[b]")
    row("index", kind + " bool", "a[b]")
    row("index", kind, "a[10**30]", "a[-2**63]", "a[0]", "a[-1]")
    row("slice", kind + " place place", "a[b:c]")
    row("slice", kind + " place", "a[b:]", "a[:b]", "a[b::2]", "a[:b:-1]", "a[b::-2]")
    row("slice", kind + " maybe", "a[b:]", "a[:b]")
    row("slice", kind + " small", "a[::b]")
    row("slice", kind, "a[::-1]", "a[10**30:]", "a[:-10**30]", "a[::2**63]", "a[::-2**63]", "a[::-10**30]", "a[1:2**63:2]", "a[2**63::-1]", "a[::0]")
row("index", "list float", "a[b]")
row("index", "dict int", "a[b]")
row("index", "dict bool", "a[b]")
row("index", "dict float", "a[b]")
row("index", "dict list", "a[b]")
row("index", "names str", "a[b]")
row("index", "set int", "a[b]")
row("index", "none int", "a[b]")
row("index assignment", "list place int", "a[b] = c\nreturn a")
row("index assignment", "dict int int", "a[b] = c\nreturn a")
row("index assignment", "dict bool int", "a[b] = c\nreturn list(a.items())")
row("index assignment", "tuples int int", "a[b] = c\nreturn a")
row("index assignment", "str int", "a[b] = 'x'\nreturn a")
row("index assignment", "list place", "a[b] += 1\nreturn a", "a[b] = a\nreturn len(a)")
row("index assignment", "int", "t = ([],)\ntry:\n    t[0] += [a]\nexcept TypeError:\n    pass\nreturn t", "b = [1, 2]\nb[a == 0] = 5\nreturn b")
row("index assignment", "lists", "b = [a[0], a[0]] if a else []\nfor x in b:\n    x.append(1)\nreturn a")
row("slice assignment", "list list", "a[:1] = b\nreturn a")
row("index deletion", "list place", "del a[b]\nreturn a")
row("index deletion", "dict int", "del a[b]\nreturn a")
row("index deletion", "dict list", "del a[b]\nreturn a")
row("index deletion", "str int", "del a[b]\nreturn a")
row("index deletion", "int", "b = (1, 2)\ndel b[a]\nreturn b", "b = {1}\ndel b[a]\nreturn b", "b = range(3)\ndel b[a]\nreturn 1", "b = {1: 2}.keys()\ndel b[a]\nreturn 1", "b = 1.5\ndel b[a]\nreturn 1")
row("index assignment", "int", "b = (1, 2)\nb[a] = 1\nreturn b", "b = {1}\nb[a] = 1\nreturn b", "b = range(3)\nb[a] = 1\nreturn 1", "b = 'ab'\nb[a] = 'c'\nreturn b")
row("slice deletion", "list place", "del a[b:]\nreturn a")

# ---- Statements and expressions -------------------------------------------------------------------------------------------

row("if", "int", "if a:\n    return 1\nelif a is None:\n    return 2\nelse:\n    return 3")
row("if", "float", "if a:\n    return 1\nreturn 2", "if a > 0:\n    b = 1\nelse:\n    b = -1\nreturn b")
row("if", "maybe", "if a:\n    return a\nreturn -1")
row("if", "list", "if not a:\n    a.append(1)\nreturn a")
row("while", "small", "n = 0\nwhile a > 0:\n    a -= 1\n    n += 1\nelse:\n    n += 10\nreturn n",
    "while True:\n    a += 2\n    if a > 3:\n        break\n    continue\nelse:\n    a = 100\nreturn a")
row("while", "list", "n = 0\nwhile a:\n    n += a.pop()\nreturn n")
row("for", "list", "n = 0\nfor x in a:\n    n += x\nreturn n", "for x in a:\n    if x > 1:\n        break\nelse:\n    return -1\nreturn x",
    "for x in a:\n    pass\nreturn x", "n = 0\nfor x in a:\n    if x < 1:\n        continue\n    n += 1\nreturn n",
    "for x in a:\n    a.remove(x)\nreturn a", "for i, x in enumerate(a):\n    a[i] = -x\nreturn a")
row("for", "str", "n = 0\nfor x in a:\n    n += len(x)\nreturn n")
row("for", "dict", "n = 0\nfor x in a:\n    n += a[x]\nreturn n", "for x in a:\n    a[x] = 0\nreturn a", "for x in a:\n    a[x + 1] = 0\nreturn a",
    "for x in list(a):\n    del a[x]\nreturn a")
row("for", "set", "for x in a:\n    return x\nreturn None", "for x in a:\n    a.add(x + 1)\nreturn 0")
row("for", "pairs", "n = 0\nfor x, y in a:\n    n += x * y\nreturn n")
row("for", "int", "for x in a:\n    pass\nreturn a", "n = 0\nfor x in range(a, a + 2):\n    n += x\nreturn n", "for x in range(a, a - 3, -2):\n    pass\nreturn x")
row("for", "none", "for x in a:\n    pass\nreturn a")
row("try", "int", "try:\n    return 10 // a\nexcept ZeroDivisionError:\n    return 'zero'", "try:\n    return [1, 2][a]\nexcept (KeyError, IndexError) as e:\n    return 'index'",
    "try:\n    return {1: 2}[a]\nexcept LookupError:\n    return 'lookup'\nelse:\n    return 'else'\nfinally:\n    a = 0",
    "try:\n    b = 1 // a\nexcept ArithmeticError:\n    b = 'raised'\nelse:\n    b = 'else'\nfinally:\n    b = (b, a)\nreturn b",
    "try:\n    1 // a\nfinally:\n    if a == 0:\n        return 'swallowed'\nreturn a",
    "try:\n    try:\n        return 1 // a\n    except ZeroDivisionError as e:\n        raise ValueError('x') from e\nexcept ValueError:\n    return 'value'",
    "for i in range(2):\n    try:\n        if a:\n            continue\n        break\n    finally:\n        a += 1\nreturn a",
    "try:\n    raise KeyError(a)\nexcept KeyError as e:\n    return e.args[0]", "try:\n    e = 1\n    1 // a\nexcept ZeroDivisionError as e:\n    pass\nreturn e")
row("raise", "int", "if a == 1:\n    raise ValueError('one')\nif a == 2:\n    raise KeyError\nreturn a", "raise", "raise a", "raise ValueError from None",
    "class E(ValueError):\n    pass\nif a > 0:\n    raise E(a)\nreturn a", "if a:\n    raise StopIteration\nreturn a")
row("assert", "int", "b = a\nassert b, 1 // a\nreturn 1", "b = a\nassert (b, 'always')\nreturn 1", "b = a\nassert b != 1, 'one'\nreturn a", "b = a + 1\nassert b\nreturn b")
row("match", "int", "match a:\n    case 0:\n        return 'zero'\n    case 1 | 2:\n        return 'few'\n    case x if x < 0:\n        return -x\n    case _:\n        return 'many'",
    "match a:\n    case True:\n        return 'true'\n    case int():\n        return 'int'", "match a:\n    case int(x):\n        return x\nreturn None",
    "match a:\n    case None:\n        return 0\n    case -1:\n        return 1\n    case 1.0:\n        return 2\nreturn 3")
row("match", "maybe", "match a:\n    case None:\n        return 'none'\n    case 0 | -1 as x:\n        return x\nreturn 'other'")
row("match", "list", "match a:\n    case []:\n        return 0\n    case [x]:\n        return x\n    case [x, *rest]:\n        return (x, rest)",
    "match a:\n    case [*_, 1]:\n        return True\nreturn False", "match a:\n    case (1, x):\n        return x\n    case list():\n        return 'list'\nreturn None")
row("match", "str", "match a:\n    case '':\n        return 0\n    case 'a' | 'b' as x:\n        return x\n    case [x]:\n        return 'sequence'\n    case str():\n        return 'str'")
row("match", "dict", "match a:\n    case {1: x}:\n        return x\n    case {0: 0, **rest}:\n        return rest\n    case {}:\n        return 'dict'")
row("match", "tuple", "match a:\n    case (0, 0):\n        return 'origin'\n    case (x, y) if x < y:\n        return y\nreturn None")
row("match", "float", "match a:\n    case 0:\n        return 'zero'\n    case 1.0:\n        return 'one'\n    case float(x):\n        return 'float'")
row("match", "bool", "match a:\n    case 1:\n        return 'one'\n    case False:\n        return 'no'")
row("match", "mixed", "match a:\n    case int():\n        return 'int'\n    case str(x):\n        return x")
row("match", "small small", "class P:\n    __match_args__ = ('x', 'y')\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n"
    "match P(a, b):\n    case P(0, y):\n        return y\n    case P(x=1):\n        return 'one'\nreturn None")
row("return", "int", "return", "return a, a", "pass")
row("assignment", "int int", "a, b = b, a\nreturn (a, b)", "c = d = a\nreturn c + d", "c: int = a\nreturn c", "(c, d), e = (a, b), 1\nreturn c - d")
row("assignment", "list", "b, c = a\nreturn b", "b, *c = a\nreturn (b, c)", "*b, c = a\nreturn (b, c)", "[b] = a\nreturn b", "b = a\nb.append(1)\nreturn a is b",
    "b = [a, a]\nb[0].append(5)\nreturn b")
row("assignment", "str", "b, c = a\nreturn c", "b, *c = a\nreturn c")
row("assignment", "int", "b, c = a\nreturn b", "(b := a)\nreturn b", "class C:\n    pass\nc = C()\nc.x = a\nc.x += 1\nreturn c.x", "c.x = a\nreturn c")
row("assignment", "dict", "b, *c = a\nreturn b")
row("deletion", "int", "b = a\ndel b\nreturn b", "del a\nreturn 1")
row("global", "int", "global total\ntotal = a\nreturn total + 1")
row("nonlocal", "int", "b = a\ndef inner():\n    nonlocal b\n    b += 1\n    return b\ninner()\nreturn b")
row("import", "int", "import math\nreturn math.floor(a)", "from math import floor as below\nreturn below(a)")
row("function", "int", "def inner(x, y=2, *z, k=3, **w):\n    return x - y + k\nreturn inner(a)", "def inner(x, *, k):\n    return x - k\nreturn inner(a, k=1)",
    "def inner(x, /, y):\n    return x - y\nreturn inner(a, y=1)", "def inner(*z):\n    return len(z)\nreturn inner(*[a, a])",
    "def inner(**w):\n    return w\nreturn inner(**{'x': a})", "def inner(x):\n    return x\nreturn inner()", "def inner(x):\n    return x\nreturn inner(y=a)",
    "def inner(n):\n    return 0 if n <= 0 else 1 + inner(n - 1)\nreturn inner(min(a, 3))",
    "def inner(x, seen=[]):\n    seen.append(x)\n    return seen\ninner(a)\nreturn inner(a)")
row("lambda", "int", "(lambda x, y=1: x + y)(a)", "[f() for f in [lambda: i for i in range(2)]]", "(lambda *x: len(x))(a, a)")
row("class", "int", "class C:\n    n = 1\n    def __init__(self, x):\n        self.x = x\n    def more(self, y):\n        return self.x + y\nreturn C(a).more(C.n)",
    "class B:\n    def g(self):\n        return 1\nclass C(B):\n    def h(self):\n        return self.g() + a\nreturn C().h()",
    "class C:\n    @staticmethod\n    def g(x):\n        return x\nreturn C.g(a)", "class C:\n    def __add__(self, o):\n        return o\nreturn C() + a",
    "class C:\n    pass\nreturn C().x")
row("dataclass", "point point", "a == b", "a != b", "a is b", "a in [b]", "a < b", "(a, 1) == (b, 1)", "P(a.x, b.y)", "a.x + b.y", "b.x = a.x\nreturn b",
    "c = a\nc.x += 1\nreturn (a, b)", "{a: 1}", "[a, b].index(b)", "[a, b].count(b)")
row("dataclass", "point", "P(y=a.x, x=1)", "P()", "P(1, 2, 3)", "P(1, z=2)", "a.z", "repr(a)", "isinstance(a, P)", "type(a) == P", "bool(a)",
    "match a:\n    case P(0, y):\n        return y\n    case P(x=1):\n        return 'one'\n    case P():\n        return 'other'", "x, y = a\nreturn x", "a[0]", "len(a)",
    "a + 1", "del a.x\nreturn a", "a.new = 1\nreturn a.new", "sorted([a, P(0)], key=lambda p: p.x)", "f'{a}'", "hash(a)", "-a", "max(a, P(0))")
row("dataclass", "point", "class Q(P):\n    pass\nreturn Q(1, 2).x", "class Q(P):\n    pass\nreturn Q(1) == Q(1)", "a.new = 1\nreturn a == P(a.x, a.y)", "match a:\n    case P(x, y, z):\n        return 1\nreturn 2",
    "b = P(1)\nb.new = 3\nreturn a == b", "P.y")
row("dataclass", "frozen frozen", "a == b", "a < b", "a <= b", "a > b", "a >= b", "len({a, b})", "{a: 1}.get(b)", "sorted([a, b])", "max(a, b)", "a.x = 1\nreturn a",
    "[a] < [b]", "a in {b}", "min(a, b).s")

class_operations.add_rows(row)

# ---- Operators and displays ------------------------------------------------------------------------------------------------

row("and, or", "int int", "a and b", "a or b", "a or b and 7", "not a or b")
row("and, or", "float int", "a and b", "a or b")
row("and, or", "str list", "a and b", "a or b")
row("and, or", "list int", "a and a[0] == b", "not a or a[-1]")
row("conditional expression", "int int", "a if b else -1", "1 if a > b else 'less'")
row("conditional expression", "float float", "a if a > b else b")
row("conditional expression", "maybe", "0 if a is None else a + 1")
row("chain of comparisons", "int int int", "a < b < c", "a <= b == c", "a != b != c")
row("chain of comparisons", "float float", "0 < a <= b", "a == a == b")
row("chain of comparisons", "int list", "a < 3 in b", "0 <= a < len(b)")
row("order of what has none", "int int", "[{1: a}] < [{1: b}]", "((a, {1: a}), 2) > ((b, {1: 1}), 3)", "[range(a)] <= [range(b)]", "[a, {a: 1}] >= [b, {1: 1}]",
    "max([({1: a}, 1), ({1: b}, 2)])", "sorted([[{0: a}], [{0: b}]])")
row("order of what has none", "point point", "[a] < [b]", "[a, 1] <= [b, 2]", "((a,), 1) > ((b,), 0)", "min([(a, 1), (b, 2)])[1]")
row("named expression", "int", "(b := a + 1) * b", "[y for x in [a] if (y := x + 1)]")
row("list display", "int list", "[a, *b]", "[*b, *b]", "[a] + b")
row("tuple display", "int list", "(a, *b)", "(a,)")
row("set display", "int int", "{a, b}", "len({a, b, 1})", "{a, True}", "1 in {a, b}")
row("set display", "float float", "len({a, b})", "a in {a, b}")
row("set display", "list", "{a}", "{*a}")
row("set display", "str str", "len({a, b})")
row("dict display", "int int", "{a: 1, b: 2}", "{a: 1, True: 2}", "list({a: 1, b: 2}.items())")
row("dict display", "float float", "len({a: 1, b: 2})", "{a: 1, b: 2}[a]", "{a: 1}[b]")
row("dict display", "dict dict", "{**a, **b}", "{1: 0, **a}")
row("dict display", "list", "{a: 1}", "{**a}")
row("list comprehension", "list", "[x * 2 for x in a]", "[x for x in a if x > 0]", "[(x, y) for x in a for y in a if x < y]")
row("list comprehension", "str", "[x for x in a]", "[x + a for x in a]")
row("set comprehension", "list", "{x % 2 for x in a}", "len({abs(x) for x in a})")
row("dict comprehension", "list", "{x: x + 1 for x in a}", "{x % 2: x for x in a}")
row("generator expression", "list", "sum(x * x for x in a)", "list(x for x in a if x)", "g = (x for x in a)\na.append(7)\nreturn list(g)",
    "g = (x for x in a)\nlist(g)\nreturn list(g)")
row("f-string", "int", "f'{a=}'", "f'{a!r:>5}'", "f'{a:{3}}'", "f'{a!a}'", "f'{a}'", "f'<{a!r}>'", "f'{a:d}'", "f'{a:>5}'", "f'{a}{a}'")
row("f-string", "str", "f'{a}'", "f'{a!r}'", "f'{a!s}-'", "f'{a:>3}'", "f'{{}}{a}'")
row("f-string", "float", "f'{a}'", "f'{a:.2f}'")
row("f-string", "bool", "f'{a}'")
row("f-string", "list", "f'{a}'")
row("starred argument", "list", "max(*a)", "print(*a)", "max(*a, *a, 0)")
row("constant", "int", "None", "...", "-0.0", "1e999", "'\\ud800'", "10**30", "1_000", "0x10", "b''", "1j")
row("NaN in a container", "floats", "a == a", "a[0] == a[0]", "a[0] in a", "a == [a[0]]", "a == list(a)", "a.index(a[0])", "(a, 1) == (a, 1)", "set(a) == set(a)",
    "{a[0]: 1} == {a[0]: 1}", "a[0] in {a[0]}", "a < a", "a <= a", "tuple(a) == tuple(a)", "a.count(a[0])", "[x for x in a] == a", "max(a)", "min(a)",
    "a != a[:]")
row("NaN in a container", "float", "[a] == [a]", "(a,) == (a,)", "a in [a]", "[a].count(a)", "{a: 1} == {a: 1}", "{a} == {a}", "[a] < [a]", "[a]", "(a, 1)",
    "{1: a}", "[a, a].index(a)", "[a] == [a + 0]", "(a, 1) == (a * 1, 1)", "{a}", "[[a]]", "max([a, 1.0])", "min(1.0, a)", "[a] == [float(a)]")
row("self-containing dict", "dict", "a[1] = a\nreturn len(a)", "a[1] = a\nreturn a == a", "a[1] = a\nreturn repr(a)", "b = {}\nb[1] = b\na[1] = a\nreturn a == b",
    "a[1] = a\nreturn str(a)", "a[1] = a\nreturn a[1][1] is a", "a[1] = a\nreturn len(a | a)", "a[1] = a\nreturn len({**a})", "a[1] = a\na |= a\nreturn len(a)",
    "a[1] = a\nreturn a", "a[1] = a\nreturn a in [a]", "a[1] = a\nprint(a)\nreturn 1", "a[1] = a\nreturn '%s' % a", "a[1] = a\nreturn len(dict(a))", "a[1] = a\nreturn len(a.copy())")
row("self-containing list", "int", "b = [a]\nb.append(b)\nreturn b == [a, b]", "b = [a]\nb.append(b)\nreturn b < b", "b = [a]\nb.append(b)\nreturn sorted([b, b])",
    "b = [a]\nb.append(b)\nreturn b.index(b)", "b = [a]\nb.append((b,))\nreturn f'{b}'", "b = [a]\nb.append(b)\nreturn b.count(b)", "b = [a]\nb.append(b)\nreturn hash(b)",
    "b = [a]\nb.append(b)\nreturn {1: b} == {1: b}", "b = [a]\nb.append(b)\nc = [a]\nc.append(c)\nreturn b != c", "b = [a]\nb.append(b)\nc = [a]\nc.append(c)\nreturn b < c",
    "b = [a]\nb.append(b)\nreturn b", "b = [a]\nb.append(b)\nreturn max(b, b)", "b = [a]\nb.append(b)\nreturn '%s' % b", "b = [a]\nb.append(b)\nreturn len(b * 2)", "b = [a]\nb.append(b)\nreturn set(b)",
    "b = [a]\nb.append(b)\nreturn (b,) == (b,)", "b = [a]\nt = (b,)\nb.append(t)\nreturn {t: 1}", "b = [a]\nb.append(b)\nreturn all(b)", "b = [a]\nb.append(b)\nreturn len(b + b)", "b = [a]\nb.append(b)\nmatch b:\n    case [x, [y, *z]]:\n        return y\nreturn 0",
    "b = [a]\nb.append(b)\nreturn b[1][1][1][0]", "b = [a]\nb.append(b)\nreturn sum(b)", "b = [a]\nb.append(b)\ntry:\n    raise ValueError(b)\nexcept ValueError as e:\n    return len(e.args)",
    "class C:\n    pass\nc = C()\nc.c = c\nreturn c.c.c is c", "b = [a]\nb.append(b)\nif a > 0:\n    c = b\nelse:\n    c = [b]\nreturn len(c)", "b = [a]\nb.append(b)\nreturn f'{b!r}'", "b = [a]\nb.append(b)\nb.sort()\nreturn b", "b = [a]\nb.append(b)\nb.remove(b)\nreturn b", "b = [a]\nb.append(b)\nprint(b)\nreturn a")
row("aliased parameters", "list list", "a is b", "b = a\nb += [1]\nreturn a", "b = a\nb = b + [1]\nreturn a", "a.extend(b)\nb.append(9)\nreturn a")
row("aliased parameters", "lists", "b = a * 2\nfor x in b:\n    x.append(1)\nreturn b", "b = a[:]\nfor x in b:\n    x.append(1)\nreturn a")

library_operations.add_rows(row)
text_operations.add_rows(row)
bytes_operations.add_rows(row)
