#: check f = counterexample TypeError
from typing import Optional

def f(x: Optional[int]) -> int:
    return x + 1

#: check f = verified
from typing import Optional

def f(x: Optional[int]) -> int:
    if x is None:
        return 0
    return x + 1

#: check f = verified
def f(x: int | None) -> int:
    """
    post: isinstance(_, int)
    """
    return 0 if x is None else x

#: check f = counterexample
from typing import Union

def f(x: Union[int, str]) -> int:
    """
    post: _ != 5
    """
    if isinstance(x, str):
        return len(x)
    return 0

#: check f = counterexample AttributeError
def f(x: str | None) -> bool:
    return x.startswith("a")

#: check f = verified
from typing import Literal

def f(mode: Literal["r", "w"]) -> int:
    """
    post: _ in (1, 2)
    """
    if mode == "r":
        return 1
    elif mode == "w":
        return 2
    raise ValueError(mode)

#: check f = counterexample ValueError
from typing import Literal

def f(mode: Literal[1, 2, 3]) -> int:
    if mode == 3:
        raise ValueError(mode)
    return mode

#: check f = verified
def f(x):
    """
    post: _ == x + x
    """
    return 2 * x

#: check f = counterexample
def f(s):
    """
    post: _ < 4
    """
    return len(s)

#: check f = verified
def f(x: "int") -> int:
    """
    post: _ > x
    """
    return x + 1

#: check f = verified
def f(x: bool) -> bool:
    """
    post: isinstance(_, bool) and isinstance(_, int)
    """
    return not x

#: check f = verified
def f(x: int | str | None) -> str:
    """
    post: _ in ("int", "str", "none")
    """
    if x is None:
        return "none"
    return type(x).__name__

#: check f = verified
def f(x: int | bool) -> int:
    """
    post: (_ == 1) == (type(x) is bool)
    """
    return 1 if isinstance(x, bool) else 2

#: check f = error Unsupported annotation
def f(x: complex) -> int:
    return 1

#: check f = verified
from dataclasses import dataclass

@dataclass
class Point:
    x: int
    y: int = 0

def f(p: Point) -> int:
    """
    post: _ == p.x + p.y
    """
    q = Point(p.x)
    q.y = p.y
    assert q == p
    return q.x + q.y

#: check f = counterexample
from dataclasses import dataclass

@dataclass(frozen=True)
class Account:
    balance: int
    limit: int

def f(a: Account, amount: int) -> int:
    """
    pre: amount > 0
    post: _ >= 0
    """
    if amount <= a.balance + a.limit:
        return a.balance - amount
    return a.balance

#: check f = counterexample TypeError
from dataclasses import dataclass

@dataclass
class P:
    x: int

def f(n: int) -> int:
    return P(n, n).x if n == 4 else P(x=n).x

#: check f = verified
class Counter:
    step = 2

    def __init__(self, start):
        self.n = start

    def bump(self, by=1):
        self.n += by * self.step
        return self

def f(x: int) -> int:
    """
    post: _ == x + 6
    """
    return Counter(x).bump().bump(2).n

#: check f = counterexample AttributeError
class C:
    pass

def f(x: int) -> int:
    c = C()
    if x > 3:
        c.v = x
    return c.v

#: check f = verified
class Animal:
    def sound(self):
        return "?"

    def twice(self):
        return self.sound() + self.sound()

class Dog(Animal):
    def sound(self):
        return "w"

def f(x: int) -> str:
    """
    post: _ == "ww" or _ == "??"
    """
    a = Dog() if x > 0 else Animal()
    assert isinstance(a, Animal)
    return a.twice()

#: check f = verified
class V:
    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        return V(self.a + other.a)

def f(x: int) -> int:
    """
    post: _ == x + 1
    """
    return (V(x) + V(1)).a

#: check f = verified
def f(x: int) -> int:
    """
    post: _ in (0, 1, 2, 3)
    """
    match x:
        case 0:
            return 0
        case 1 | 2:
            return 1
        case n if n < 0:
            return 2
        case _:
            return 3

#: check f = counterexample
def f(t: tuple[int, int]) -> str:
    """
    post: _ != "diag 5"
    """
    match t:
        case (0, y):
            return f"y {y}"
        case (x, 0):
            return f"x {x}"
        case (x, y) if x == y:
            return f"diag {x}"
    return "no"

#: check f = verified
def f(x: int | str | None) -> int:
    """
    post: _ in (1, 2, 3)
    """
    match x:
        case None:
            return 1
        case str():
            return 2
        case int(n):
            return 3

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x
    """
    match [1, x, 3]:
        case [a, *rest]:
            return rest[0]

#: check f = verified
from dataclasses import dataclass

@dataclass
class P:
    x: int
    y: int

def f(p: P) -> int:
    """
    post: _ >= 0
    """
    match p:
        case P(0, y=b):
            return abs(b)
        case P(x=a):
            return abs(a)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 7
    """
    match {"k": 7, "j": x}:
        case {"z": v}:
            return v
        case {"k": v}:
            return v

#: check f = counterexample
#: find f KeyError = found
#: compare f g = different
from typing import Literal

def f(s: Literal["a", "b", "c"] | None, n: int | Literal["x", "y"]):
    """
    post: _ != "c"
    """
    if n == "y" and s is None:
        raise KeyError(s)
    return s

def g(s: Literal["a", "b", "c"] | None, n: int | Literal["x", "y"]):
    if n == "y" and s is None:
        raise KeyError(s)
    return s if s != "c" else "b"
