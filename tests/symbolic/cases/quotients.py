"""Quotients of ints, and ints beside floats: compared exactly, although the result is rounded."""


#: check f = verified
def f(total: int, n: int):
    """raises: OverflowError"""
    if n == 0:
        return 0.0
    return total / n


#: check f = counterexample OverflowError
def f(total: int, n: int):
    if n == 0:
        return 0.0
    return total / n


#: check f = verified
def f(a: int, b: int):
    """
    pre: 0 <= a <= 1000 and 1 <= b <= 1000
    post: 0 <= _ <= 1000
    """
    return a / b


#: check f = verified
def f(a: int, b: int):
    """
    pre: 0 <= a <= b <= 10**9 and b > 0
    post: 0.0 <= _ <= 1.0
    """
    return a / b


#: check f = verified
def f(a: int):
    """
    pre: -10**6 <= a <= 10**6
    post: _ == (a > 5)
    """
    return a / 2 > 2.5


#: check f = verified
def f(a: int):
    """
    pre: -10**6 <= a <= 10**6
    post: not _
    """
    return a / 3 == 0.1


#: check f = counterexample Postcondition
def f(a: int):
    """
    pre: 0 <= a <= 10**6
    post: not _
    """
    return a / 10 == 0.7


#: check f = verified
def f(xs: list[int]):
    """
    pre: 1 <= len(xs) <= 3 and all(-1000 <= x <= 1000 for x in xs)
    post: min(xs) <= _ <= max(xs)
    """
    return sum(xs) / len(xs)


#: check f = verified
def f(x: int):
    """post: _ == (x >= 1)"""
    return x > 0.5


#: check f = verified
def f(x: int):
    """post: not _"""
    return x == 0.5


#: check f = counterexample Postcondition
def f(x: int):
    """post: not _"""
    return x > 1e300


#: check f = counterexample OverflowError
def f(x: int):
    """post: not _ or x >= 2**53"""
    return float(x) == 9007199254740992.0


#: check f = counterexample Postcondition
def f(x: int):
    """
    pre: x <= 2**53 + 2
    post: _ <= 9007199254740992.0
    raises: OverflowError
    """
    return float(x)


#: check f = verified
def f(x: int):
    """
    pre: x <= 2**53 + 1
    post: _ <= 9007199254740992.0
    raises: OverflowError
    """
    return float(x)


#: check f = verified
def f(a: int, b: int):
    """
    pre: 1 <= b <= 10**6 and 0 <= a <= 10**6
    post: not _
    """
    q = a / b
    return q != q


#: check f = verified
def f(price: int, percent: int):
    """
    pre: 0 <= price <= 10**6 and 0 <= percent <= 100
    post: 0 <= _
    """
    return price * percent / 100


#: check f = counterexample Postcondition
def f(a: int, b: int):
    """
    pre: b != 0
    post: _ != 0.0 or a == 0
    """
    try:
        return a / b
    except OverflowError:
        return 1.0


#: find f ZeroDivisionError = found
def f(a: int, b: int):
    return a / (b - 3)


#: compare f g = equivalent
def f(a: int, b: int):
    return a / b
def g(a: int, b: int):
    if b == 0:
        raise ZeroDivisionError
    return a / b


#: check f = verified
def f(a: int):
    """
    pre: -50 <= a <= 50
    post: _ == (a % 2 == 0)
    """
    return a / 2 == a // 2


#: check f = verified
def f(x: int):
    """post: _ == (x != 0)"""
    return bool(x / 1) if abs(x) < 10**9 else x != 0


#: check f = verified
import math
def f(a: int):
    """
    pre: 1 <= a <= 100000
    post: not math.isnan(_) and not math.isinf(_)
    """
    return 10 / a


#: check f = counterexample Postcondition
def f(b: int):
    """
    pre: b < 0
    post: str(_) == '0.0' or _ != 0
    """
    return 0 / b


#: check f = verified
from dataclasses import dataclass
@dataclass(frozen=True)
class P:
    x: int
def f(p: P):
    """raises: AttributeError"""
    p.x += 3


#: check f = counterexample FrozenInstanceError
from dataclasses import dataclass
@dataclass(frozen=True)
class P:
    x: int
def f(p: P):
    p.x = 3


#: check f = verified
class A:
    n = 0
    def __init__(self, v):
        self.v = v
    def up(self):
        self.n += 1
        return self.n
class B(A):
    def up(self):
        return A.up(self) + 10
def f(a: int):
    """post: _ == (11, 12, 0, a)"""
    b = B(a)
    return b.up(), b.up(), A.n, b.v


#: check f = verified
class A:
    items = []
    def add(self, v):
        self.items.append(v)
def f(a: int):
    """post: _ == 2"""
    A().add(a)
    A().add(a)
    return len(A.items)


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 2
    post: _ == ('a' in s)
    """
    return s.count('a') > 0


#: check f = counterexample Postcondition
def f(s: str):
    """
    pre: len(s) <= 2
    post: _ != ['', '']
    """
    return s.split(',')


#: check f = counterexample ValueError
def f(s: str):
    """
    pre: len(s) <= 3
    post: True
    """
    a, b = s.split('=', 1)
    return a


#: check f = verified
def f(a: int):
    """post: _ == [1, 2, 3]"""
    xs = [3, 1, 2]
    xs.sort()
    return xs


#: check f = verified
def f(a: int, b: int):
    """post: _ in (a, b) and not isinstance(_, bool)"""
    return max(a, b)


#: check f = verified
def f(a: int, b: bool):
    """post: type(_) is int or a < b or a == b"""
    return max(b, a)


#: check f = verified
def f(x: float):
    """post: _ == -0.0 or _ != 0"""
    return abs(x)


#: check f = verified
def f(n: int):
    """
    pre: 0 <= n <= 3
    post: _ == n
    """
    k = 0
    it = (i for i in range(n))
    for _i in it:
        k += 1
    for _i in it:
        k += 100
    return k


#: check f = verified
def f(n: int):
    """post: _ == [0, 1]"""
    def gen(k, acc=None):
        acc = acc or []
        acc.append(k)
        return acc
    return gen(0) + gen(1)


#: check f = verified
def f(d: dict[str, int]):
    """
    pre: len(d) <= 2
    """
    for k, v in d.items():
        d[k] = v + 1
    return d


#: check f = verified
def f(x: int, y: int = 5, *, z: bool = True):
    """post: isinstance(_, int)"""
    return x + y + z


#: check f = verified
def f(x: str = None):
    """post: _ == 0 or x is not None"""
    return 0 if not x else len(x)


#: check f = error Unsupported
def f(a: int):
    """post: _"""
    return (a / 1 == a) if abs(a) <= 2**53 else True


#: check f = error Unsupported
def f(a: int):
    """post: _"""
    try:
        return a / 1 == a
    except OverflowError:
        return True


#: check f = verified
def f(x: bool):
    """post: _ in (0.5, 1.0)"""
    return (x + 1) / 2


#: check f = verified
def f(x: int):
    """
    pre: abs(x) <= 100000
    post: isinstance(_, float) and _ == x
    """
    return float(x)


#: check f = verified
def f(x: int):
    """
    pre: abs(x) <= 100000
    post: -1.0 <= _ <= 1.0
    """
    return x / (abs(x) + 1)


#: find f OverflowError = found
def f(x: int):
    return x / 3


#: find f OverflowError = unreachable
def f(x: int):
    """pre: abs(x) < 10**300"""
    return x / 3


#: compare f g = equivalent
def f(x: int):
    return x > 2.5
def g(x: int):
    return x >= 3


#: compare f g = different
def f(x: int):
    return x / 2 > 10
def g(x: int):
    return x > 20


#: compare f g = different
def f(x: int, y: int):
    return x / y > 1 if y > 0 else False
def g(x: int, y: int):
    return x > y if y > 0 else False
