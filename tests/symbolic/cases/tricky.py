#: check f = verified
def f(x: int) -> list:
    """
    post: _ == ([1, 2] if x > 0 else [1])
    """
    xs = [1]
    ys = xs
    if x > 0:
        ys.append(2)
    return xs

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == ([1, 9] if x > 0 else [1])
    """
    xs = [1]
    if x > 0:
        xs += [9]
    return xs

#: check f = verified
def f(x: int) -> tuple:
    """
    post: _ == (1, 5) if x > 0 else _ == (0, 0)
    """
    n = 0
    m = 0
    def bump():
        nonlocal n
        n += 1
        return 5
    if x > 0:
        m = bump()
    return n, m

#: check f = verified
state = {"n": 0}

def f(x: int) -> int:
    """
    post: _ == (1 if x > 0 else 0)
    """
    r = 0
    if x > 0:
        state["n"] += 1
    r = state["n"]
    return r

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == (2 if x > 3 else 1)
    """
    it = iter_of([1, 2, 3])
    a = next(it)
    if x > 3:
        a = next(it)
    return a

def iter_of(xs):
    return (y for y in xs)

#: check f = counterexample StopIteration
def f(x: int) -> int:
    g = (y for y in [1, 2] if y > x)
    return next(g) + next(g)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == (3 if x > 0 else 7)
    """
    y = 1 if x > 0 else 2
    z = [3, 5, 7][y - 1] if y == 1 else [0, 7][y - 1]
    return z

#: check f = counterexample ZeroDivisionError
def f(x: int) -> int:
    r = 0
    if x > 5:
        r = 10 // (x - 8)
    return r

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == (x if x in (1, 2) else 0)
    """
    r = 0
    if x == 1:
        r = x
    elif x == 2:
        r = 2
    else:
        pass
    return r

#: check f = verified
def f(x: int, y: int) -> bool:
    """
    post: _ == (x != 0 and (10 // x > y or y > 3))
    """
    return bool(x and (10 // x > y or y > 3))

#: check f = counterexample TypeError
def f(x: int) -> int:
    y = None
    if x > 2:
        y = 5
    return y + 1

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == ("5" if x > 2 else "None")
    """
    y = None
    if x > 2:
        y = 5
    return str(y)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 1
    """
    def g(acc=[]):
        acc.append(x)
        return len(acc)
    def h():
        def g2(acc=[]):
            acc.append(x)
            return len(acc)
        return g2()
    h()
    return h()

#: check f = verified
def f(a: int, b: int) -> list:
    """
    post: _[0] <= _[1]
    """
    xs = [a, b]
    if xs[0] > xs[1]:
        xs[0], xs[1] = xs[1], xs[0]
    return xs

#: check f = verified
def f(n: int) -> int:
    """
    pre: 0 <= n <= 4
    post: _ == n * 10
    """
    total = 0
    for i in range(n):
        for j in range(10):
            total += 1
    return total

#: check f = verified
def f(x: int) -> bool:
    """
    post: _ == (x == 0)
    """
    try:
        return bool(1 // x) and False
    except ZeroDivisionError:
        return True
    finally:
        x = 5

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 3
    """
    try:
        raise ValueError
    except ValueError:
        try:
            return help_(x)
        except ValueError:
            return 3

def help_(x):
    raise

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [0, 1, 2]
    """
    out = []
    for i in range(3):
        out.append(i)
        i = 100
    return out

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [1, 3]
    """
    xs = [1, 2, 3]
    for y in xs:
        if y == 2:
            xs.remove(y)
    return xs

#: check f = verified
def f(x: bool, y: bool) -> int:
    """
    post: _ == (2 if x and y else 1 if x or y else 0)
    """
    return sum([x, y])

#: check f = verified
def f(x: int) -> bool:
    """
    post: _
    """
    return (x < 3) == (not x >= 3) and (x == 1) + (x != 1) == 1

#: check f = verified
def f(x: int, y: int) -> int:
    """
    post: _ == max(x, y) - min(x, y)
    """
    lo, hi = sorted((x, y))
    return hi - lo

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == (4 if x == 1 else 6)
    """
    d = {1: 4, True: 5} if x != 1 else {1: 4}
    return d.get(1) + (1 if x != 1 else 0)

#: check f = counterexample
def f(x: int) -> int:
    """
    post: _ != 1
    """
    d = {x: 0}
    d[3] = 1
    d[x] = 2
    return d[3] + len(d) - 2

#: check f = verified
def f(s: str) -> str:
    """
    post: _ == s or (len(s) > 2 and len(_) == 2)
    """
    return s if len(s) <= 2 else s[-2:]

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x
    """
    return int(str(5)) - 5 + x if x else 0

#: check f = verified
def f(x: int) -> tuple:
    """
    post: _ == (0, [1, 2], 3)
    """
    a, *b, c = range(4)
    return a, b, c

#: check f = counterexample AttributeError
def f(x: int) -> int:
    if x == 5:
        return x.foo
    return 0

#: check f = error Unsupported real
def f(x: int) -> int:
    return x.real

#: check f = counterexample ZeroDivisionError
def f(x: int) -> int:
    try:
        return 1 // x
    except IOError:
        return 0
    except EncodingWarning:
        return 1

#: check f = error Unsupported name
def f(x: int) -> int:
    """
    pre: z > 0
    """
    return x

#: check f = counterexample AttributeError
class C:
    __slots__ = ("a",)

def f(x: int) -> int:
    c = C()
    c.b = x
    return 1

#: check f = error Unsupported line
from dataclasses import dataclass

@dataclass
class C:
    xs: list = []

def f(x: int) -> int:
    return len(C().xs)

#: check f = counterexample OverflowError
def f(n: int) -> int:
    return len(range(n))

#: compare f g = different
def f(x: int) -> float:
    return x if x > 5 else 1

def g(x: int) -> float:
    return x if x >= 5 else 1.0

#: compare f g = equivalent
def f(x: int) -> int:
    return 1

def g(x: int) -> bool:
    return True

#: branches f = complete 3:TF 6:T- dead 9 cc 3
def f(x: int) -> int:
    r = 0
    if x > 3:
        r = 1
    y = r + 1
    if y <= 2:
        return 1
    else:
        return 2

#: branches f = error TimeoutError
def f(x: int) -> int:
    n = 0
    while n < x:
        n += 1
    if n == 12345678:
        return 1
    return 0

#: check f = error ImportError nothing
from math import nothing

def f(x: int) -> int:
    return x

#: check f = verified
from typing import List, Optional
from collections import OrderedDict
import functools

def f(x: int) -> int:
    return x

#: check f = counterexample ImportError
def f(x: int) -> int:
    if x == 4:
        from math import nothing
    return x

#: check f = timeout memory
#: find f MemoryError = error memory
#: compare f g = error memory
def f(x: int) -> str:
    return f"{3:1000000000000000d}"

def g(x: int) -> str:
    return f"{3:1000000000000001d}"

#: check f = counterexample MemoryError
def f(x: int) -> int:
    if x == 3:
        raise MemoryError("of its own")
    return x

#: check f = error does not load in real Python: ValueError: mutable default
#: find f KeyError = error does not load
from dataclasses import dataclass

@dataclass
class Unused:
    y: list = []

def f(x: int) -> int:
    return x

#: check f = error does not load in real Python: JSONDecodeError
import json

unused = json.loads("[1")

def f(x: int) -> int:
    return x

#: check f = verified
import json

unused = json.loads("[1]")

def f(x: int) -> int:
    return x

#: check f = verified
import random

unused = random.random()

def f(x: int) -> int:
    return x


# The index of an empty list is always outside, also where the solver cannot tell what the index is.
#: find f IndexError = found
def f(a: str):
    """
    pre: len(a) <= 2
    """
    return [][int(a)]
