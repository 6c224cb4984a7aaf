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
