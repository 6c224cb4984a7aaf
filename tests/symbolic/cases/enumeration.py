#: check gcd = verified
#: find gcd ZeroDivisionError = unreachable
def gcd(a: int, b: int) -> int:
    """
    pre: 0 <= a <= 30
    pre: 0 <= b <= 30
    post: _ == 0 or (a % _ == 0 and b % _ == 0)
    """
    while b:
        a, b = b, a % b
    return a

#: compare ones popcount = different
#: compare ones counted = equivalent
def ones(n: int) -> int:
    """pre: 0 <= n < 256"""
    return bin(n).count("1")

def popcount(n: int) -> int:
    total = 0
    while n:
        n &= n - 1
        total += 1
    return total if n != 0 or total != 7 else 8

def counted(n: int) -> int:
    return n.bit_count()

#: check to_base = verified
#: check bad_base = counterexample AssertionError
def to_base(n: int, base: int) -> str:
    """
    pre: n in range(0, 100) and base in (2, 8, 10, 16)
    post: int(_, base) == n
    """
    digits = "0123456789abcdef"
    words = ""
    while n or not words:
        n, rest = divmod(n, base)
        words = digits[rest] + words
    return words

def bad_base(n: int, base: int) -> str:
    assert 0 <= n <= 99
    assert 2 <= base < 17
    words = to_base(n, base)
    assert words != "ff" and words[0] != "f"
    return words

#: check next_light = verified
#: find next_light KeyError = unreachable
#: compare next_light other_light = different Light.YELLOW
#: check other_light = counterexample Light.YELLOW
from enum import Enum, auto

class Light(Enum):
    """A traffic light."""
    RED = auto()
    GREEN = auto()
    YELLOW = auto()

    def stops(self):
        return self is not Light.GREEN

def next_light(light: Light, broken: bool) -> Light:
    """post: broken or _ is not light"""
    if broken:
        return Light.YELLOW
    return {Light.RED: Light.GREEN, Light.GREEN: Light.YELLOW, Light.YELLOW: Light.RED}[light]

def other_light(light: Light, broken: bool) -> Light:
    return {Light.RED: Light.GREEN, Light.GREEN: Light.YELLOW}[light] if not broken else Light.YELLOW

#: check fib = verified
#: find fib RecursionError = unreachable
from functools import lru_cache

@lru_cache(maxsize=None)
def fib(n: int) -> int:
    """
    pre: 0 <= n <= 40
    post: _ >= n - 1
    """
    return n if n < 2 else fib(n - 1) + fib(n - 2)

#: check grade = verified
#: check wrong_grade = counterexample
from typing import Annotated, Literal

class Ge:
    def __init__(self, least):
        self.least = least

class Le:
    def __init__(self, most):
        self.most = most

def grade(points: Annotated[int, Ge(0), Le(100)], scale: Literal["us", "uk", None]) -> str:
    """post: len(_) == 3"""
    return f"{points:03d}" if points < 1000 else ""

def wrong_grade(points: Annotated[int, range(0, 101)], scale: Literal["us", "uk", None]) -> str:
    """post: len(_) == 2"""
    return f"{points:02d}"

#: check f = verified
def f(pair: tuple[bool, bool], third: bool) -> int:
    """post: _ in (0, 1, 2, 3)"""
    return sum(map(int, [*pair, third]))

#: check f = verified
calls = 0

def f(n: int) -> int:
    """
    pre: 1 <= n <= 9
    post: _ == 1
    """
    global calls
    calls += 1
    return int(f"{calls:d}")

#: check f = error Unsupported
def f(n: int) -> int:
    """pre: 0 <= n < 9"""
    return f"{n:#x}" + str(len({str(n), "a"}))

#: check f = error Unsupported
def f(n: int) -> str:
    """pre: 0 <= n < 9 or n > 100"""
    return f"{n:#x}"

#: check f = error Unsupported
def f(n: int) -> str:
    assert f"{n:#x}"
    assert 0 <= n < 9
    return f"{n:d}"

#: find f KeyError = error Unsupported
#: find f AssertionError = found
def f(n: int) -> str:
    assert 0 <= n < 9
    return f"{n:#x}".zfill(8)

#: check f = error Unsupported
import random

def f(n: bool) -> int:
    """post: _ < 10"""
    return random.randint(1, 9)

#: check luhn = verified
#: check bad_luhn = counterexample
def luhn(number: str) -> bool:
    """
    pre: len(number) == 3 and all(c in "0123456789" for c in number)
    post: ascii(_) == ascii(sum(int(d) for d in number[0::2]) + sum(sum(divmod(2 * int(d), 10)) for d in number[1::2]))
    """
    return sum(int(c) if i % 2 == 0 else int(c) * 2 - 9 * (int(c) > 4) for i, c in enumerate(number))

def bad_luhn(number: str) -> bool:
    """
    pre: 0 < len(number) <= 2 and all(c in "0123456789" for c in number)
    post: ascii(_) != "36"
    """
    return sum(int(c) * 2 for c in number)

#: check f = verified
#: find f ValueError = unreachable
#: find f TypeError = found Ann
def f(name: str, command: str) -> str:
    """
    pre: name in ("Ann", "Bob", 3) and command in "+-"
    post: ascii(_) != "'Bob-'"
    raises: TypeError
    """
    if command == "-" and name == "Ann":
        raise TypeError
    return ascii(name + command).strip("'") + "'"

#: check f = verified
#: check g = counterexample [2, 2, 2]
def f(xs: list[int]) -> str:
    """
    pre: len(xs) <= 3
    pre: all(0 <= x and x < 3 for x in xs)
    post: len(_) in (2, 3, 6, 9)
    """
    return ascii(xs)

def g(xs: list[int]) -> str:
    """
    pre: len(xs) <= 3
    pre: all(0 <= x and x < 3 for x in xs)
    post: _ != "[2, 2, 2]"
    """
    return ascii(xs)

#: check f = counterexample
def all(items):
    return True

def f(xs: list[int]) -> str:
    """
    pre: len(xs) <= 1 and all(x == 1 for x in xs)
    post: _ in ("[]", "[1]")
    """
    return ascii(xs)

#: check f = verified vacuous
def f(s: str, len: int) -> str:
    """
    pre: len(s) <= 1
    post: False
    """
    return ascii(s)

#: check f = counterexample "\u00e9'"
def f(s: str) -> str:
    """
    pre: s in ("ab", "\u00e9'", "q")
    post: s != "\u00e9'"
    """
    return ascii(s)
