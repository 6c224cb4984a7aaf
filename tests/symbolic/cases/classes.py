#: check label = verified
#: check number = counterexample ZeroDivisionError Color.GREEN
#: compare number number = equivalent
#: compare label number = different
from enum import Enum

class Color(Enum):
    RED = 1
    GREEN = 2
    ROUGE = 1

    @property
    def short(self):
        return self.name[0]

def label(c: Color, n: int) -> str:
    """
    post: _ in ("R", "G")
    """
    assert c in (Color.RED, Color.GREEN)
    return c.short

def number(c: Color, n: int) -> int:
    return n // (c.value - 2)

#: check found = verified
#: check lost = counterexample ValueError
#: find lost KeyError = unreachable
from enum import Enum

class Color(Enum):
    RED = 1
    GREEN = 2

def found(n: int) -> Color:
    """
    raises: ValueError
    post: _.value == n and _ in list(Color)
    """
    return Color(n)

def lost(n: int) -> Color:
    return Color(n)

#: check rank = verified
#: check wrong = counterexample
from enum import IntEnum, auto

class Level(IntEnum):
    LOW = auto()
    HIGH = auto()

def rank(a: Level, n: int) -> int:
    """
    post: _ == n + a.value and isinstance(_, int)
    """
    return n + a if a < Level.HIGH else a + n

def wrong(a: Level) -> str:
    """
    post: _ == "Level.LOW"
    """
    return str(a)

#: check f = verified
#: branches f = complete 18:TF cc 2
from enum import Enum

class State(Enum):
    OPEN = "open"
    CLOSED = "closed"

def turn(s: State) -> State:
    match s:
        case State.OPEN:
            return State.CLOSED
        case State.CLOSED:
            return State.OPEN

def f(s: State, n: int) -> State:
    """
    post: _ is not s or n > 0
    """
    if n > 0:
        return turn(turn(s))
    return turn(s)

#: check area = verified
#: check resized = counterexample
class Box:
    def __init__(self, w, h):
        self.w, self.h = w, h

    @property
    def area(self):
        return self.w * self.h

    @property
    def width(self):
        return self.w

    @width.setter
    def width(self, w):
        if w < 0:
            raise ValueError(w)
        self.w = w

def area(w: int, h: int) -> int:
    """
    post: _ == w * h
    """
    return Box(w, h).area

def resized(w: int) -> int:
    b = Box(1, 2)
    b.width = w
    return b.area

#: check f = counterexample AttributeError
class Box:
    @property
    def area(self):
        return 1

def f(w: int) -> int:
    b = Box()
    b.area = w
    return w

#: check f = verified
#: check g = counterexample
from typing import NamedTuple

class Span(NamedTuple):
    start: int
    end: int = 0

    def length(self):
        return self.end - self.start

def f(s: Span) -> int:
    """
    post: _ == s[1] - s.start and s == (s.start, s.end)
    """
    start, end = s
    assert len(s) == 2 and s._replace(end=start).length() == 0
    return s.length()

def g(s: Span) -> bool:
    """
    post: not _
    """
    return s == (3, 4)

#: check f = verified
from collections import namedtuple

Pair = namedtuple("Pair", "left right", defaults=[0])

def f(a: int, b: int) -> int:
    """
    post: _ == a - b
    """
    p = Pair(a, right=b)
    return p.left - p[1] + Pair(1).right

#: check f = verified
#: check shared = verified
#: compare f f = equivalent
from dataclasses import dataclass, field

@dataclass
class Base:
    name: str
    tags: list[int] = field(default_factory=list)

    def who(self):
        return "base"

@dataclass
class Child(Base):
    size: int = 3

    def who(self):
        return "child of " + super().who()

def f(c: Child) -> str:
    """
    post: _ == "child of base"
    """
    assert c == Child(c.name, c.tags, c.size)
    assert c != Base(c.name, c.tags)
    return c.who()

def shared(n: int) -> list[int]:
    """
    post: _ == []
    """
    Child("a").tags.append(n)
    return Child("b").tags

#: compare f g = equivalent
#: compare f h = different
from dataclasses import dataclass, field

@dataclass
class Item:
    x: int
    note: str = field(default="", compare=False)

def f(n: int) -> Item:
    return Item(n)

def g(n: int) -> Item:
    i = Item(n, "other")
    i.extra = n
    return i

def h(n: int) -> Item:
    return Item(n + 1 if n == 9 else n)

#: check f = counterexample FrozenInstanceError
#: find f FrozenInstanceError = found
#: find f AttributeError = found
#: find g FrozenInstanceError = unreachable
#: find g JSONDecodeError = error Unknown ValueError
#: check g = verified
from dataclasses import dataclass

@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0

def f(v: Version) -> int:
    v.major = 3
    return v.major

def g(a: Version, b: Version) -> bool:
    """
    post: _ == ((a.major, a.minor) < (b.major, b.minor))
    """
    return a < b and len({a, b}) == 2

#: check f = verified
class A:
    def name(self):
        return "A"

class B(A):
    def name(self):
        return "B" + super().name()

class C(A):
    def name(self):
        return "C" + super().name()

class D(B, C):
    def name(self):
        return "D" + super().name()

def f(n: int) -> str:
    """
    post: _ == "DBCA"
    """
    return D().name()

#: check f = error Unsupported TypeError loaded
class A:
    pass

class B(A):
    pass

class C(A, B):
    pass

def f(n: int) -> int:
    return n

#: check same = verified
#: check unhashable = counterexample TypeError
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.cents == other.cents

    def __lt__(self, other):
        return self.cents < other.cents

    def __add__(self, other):
        return Money(self.cents + other.cents)

    def __bool__(self):
        return self.cents != 0

def same(a: int, b: int) -> bool:
    """
    post: _ == (a == b)
    """
    assert (Money(a) == 1) is False
    assert (Money(a) < Money(b)) == (a < b)
    assert bool(Money(a) + Money(b)) == (a != -b)
    return Money(a) == Money(b)

def unhashable(a: int) -> int:
    return len({Money(a)})

#: check f = verified
class Stack:
    def __init__(self):
        self.items = []

    def __len__(self):
        return len(self.items)

    def __contains__(self, x):
        return x in self.items

    def __getitem__(self, i):
        return self.items[i]

    def __iter__(self):
        return iter(self.items)

def f(a: int, b: int) -> list[int]:
    """
    post: _ == [a, b]
    """
    s = Stack()
    assert not s
    s.items.append(a)
    s.items.append(b)
    assert len(s) == 2 and a in s and s[-1] == b
    return [x for x in s]

#: check f = verified
class Temperature:
    count = 0

    def __init__(self, degrees):
        self.degrees = degrees
        Temperature.count += 1

    @classmethod
    def zero(cls):
        return cls(0)

    @staticmethod
    def valid(n):
        return n >= -273

def f(n: int) -> int:
    """
    post: _ == 2
    """
    t = Temperature.zero()
    assert t.degrees == 0 and Temperature.valid(t.degrees)
    return Temperature(n).count

#: check f = counterexample TypeError
#: find f AttributeError = unreachable
from abc import ABC, abstractmethod

class Shape(ABC):
    @abstractmethod
    def area(self):
        ...

class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side

def f(n: int) -> int:
    """
    post: _ >= 0
    """
    return Square(n).area() if n != 5 else Shape().area()

#: check f = verified
class AppError(Exception):
    def __init__(self, code):
        super().__init__("code " + str(code))
        self.code = code

def f(n: int) -> str:
    """
    post: _ == "code 4"
    """
    try:
        raise AppError(4)
    except AppError as e:
        assert e.args == ("code 4",) and e.code == 4
        return str(e)

#: check f = verified
#: check g = verified
from typing import NewType, Optional, TypeAlias

UserId = NewType("UserId", int)
Vector = list[int]
Maybe: TypeAlias = Optional[int]

def f(user: UserId, v: Vector) -> int:
    """
    post: _ == user + len(v)
    """
    return UserId(user) + len(v)

def g(x: Maybe) -> int:
    """
    post: x is None or _ == x
    """
    return 0 if x is None else x

#: check f = verified
def twice(function):
    def inner(*args, **options):
        return function(*args, **options) * 2
    return inner

@twice
def number(a, b=1):
    return a + b

def f(n: int) -> int:
    """
    post: _ == 2 * (n + 3)
    """
    return number(n, b=3)

#: check f = verified
#: check g = counterexample
#: check h = error Unsupported set again
class Key:
    def __init__(self, x, y=0):
        self.x, self.y = x, y

    def __eq__(self, other):
        if not isinstance(other, Key):
            return NotImplemented
        return (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

def f(n: int, m: int) -> int:
    """
    post: _ == (1 if n == m else 2)
    """
    return len({Key(n), Key(m), Key(n)})

def g(n: int, m: int) -> bool:
    """
    post: not _
    """
    seen = {Key(n, 1): "first"}
    return Key(m - 7, 1) in seen

def h(n: int) -> bool:
    """
    post: _
    """
    key = Key(n)
    seen = {key}
    key.x = n
    return key in seen

#: check f = error Unsupported __hash__
#: check g = error Unsupported contains itself
from dataclasses import dataclass

class Base:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Base) and self.x == other.x

    def __hash__(self):
        return hash(self.x)

@dataclass(frozen=True)
class Child(Base):
    x: int

def f(n: int) -> int:
    """
    post: _ != 3
    """
    return len({Child(n), Base(n)})

def g(n: int) -> bool:
    """
    raises: RecursionError
    post: _
    """
    key = Base(n)
    key.x = key
    return key in {1: 2}

#: check f = error Unsupported __hash__
class Key:
    def __init__(self, x):
        self.x = x

    def __eq__(self, o):
        return self.x == o.x

    def __hash__(self):
        return hash(self.x)

def f(n: int) -> int:
    """
    post: _ == 1
    """
    return len({Key(n), Key(n)})

#: compare f f = error Unsupported text
class Thing:
    def __str__(self):
        return "thing"

def f(n: int) -> str:
    return str([Thing()])

#: check f = error Unsupported mapping
class Settings:
    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        return 5

def taken(**options):
    return options

def f(n: int) -> int:
    """
    post: _ == 5
    """
    return taken(**Settings())["a"]

#: check f = verified
from functools import partial

def less(a, b):
    return a - b

class C:
    from_five = partial(less, 5)

    @staticmethod
    def more(x):
        return x + 1

    three = more(2)

def f(n: int) -> int:
    """
    post: _ == 5 - n
    """
    assert C.three == 3
    return C().from_five(n)

#: check f = error Unsupported TypeError
import re
from enum import Enum

class Word(str, Enum):
    A = "a"

def f(n: int) -> bool:
    """
    post: _
    """
    return re.match("a", Word.A) is not None

#: check f = verified
from dataclasses import dataclass

@dataclass
class A:
    a: int

@dataclass
class B:
    b: int

@dataclass
class C(A, B):
    c: int = 0

def f(n: int) -> tuple:
    """
    post: _ == ("b", 5) if n == 1 else _ == ("a", 5)
    """
    match C(n, 5):
        case B(1):
            return "b", 5
        case A(x):
            return "a", x

#: check f = counterexample TypeError
from dataclasses import dataclass

@dataclass
class A:
    a: int

@dataclass
class B(A):
    b: int = 0

def f(n: int) -> int:
    match B(n, 1):
        case A(x, y):
            return x + y
    return 0

#: check f = counterexample TypeError
from dataclasses import dataclass

@dataclass
class A:
    a: int

def f(n: int) -> int:
    match A(n):
        case A(1, a=1):
            return 1
    return 0

#: check f = verified
class Pair:
    def __init__(self):
        self.asked = []

    @property
    def x(self) -> int:
        self.asked.append("x")
        return 1

    @property
    def y(self) -> int:
        self.asked.append("y")
        return 2

def f(n: int) -> list:
    """
    post: _ == ["x", "y"]
    """
    pair = Pair()
    match pair:
        case Pair(x=2, y=2):
            return []
    return pair.asked

#: check f = counterexample ValueError
class Key:
    ONE = 1

def f(n: int) -> int:
    match {1: n, 2: 0}:
        case {1: a, 2: b, 3: c, 4: Key.ONE}:
            return a + b + c
        case {1: a, Key.ONE: b}:
            return a + b
    return 0

#: check f = verified
#: check g = counterexample TypeError
def f(n: int) -> tuple:
    """
    pre: n not in (3, 4)
    post: _ == (n == 1, False, True, 1)
    """
    s = {frozenset({n}), 2}
    found = {1} in s
    there = {3} in s
    s.discard({4})
    s.remove({n})
    return found, there, set() in {frozenset()}, len(s)

def g(n: int) -> bool:
    return {1} in {2: n}
