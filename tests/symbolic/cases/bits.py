#: check f = verified
def f(x: int) -> int:
    """
    post: 0 <= _ <= 15
    post: (_ - x) % 16 == 0
    """
    return x & 15

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x * 8
    """
    return x << 3

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x // 4
    """
    return x >> 2

#: check f = counterexample
def f(x: int) -> int:
    """
    pre: 0 <= x < 256
    post: _ != 90
    """
    return x ^ 0xFF

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x
    """
    return (x ^ 5) ^ 5

#: check f = verified
def f(x: int) -> bool:
    """
    post: _ == (x % 2 == 1)
    """
    return x & 1 == 1

#: check f = counterexample ValueError
def f(x: int) -> int:
    return 1 << (x if x < 0 else 2)

#: check f = verified
def f(x: int, y: int) -> int:
    """
    pre: 0 <= x < 8 and 0 <= y < 8
    post: _ <= x and _ <= y
    """
    return x & y

#: check f = error Unsupported bits
def f(x: int, y: int) -> int:
    """
    post: _ == y & x
    """
    return x & y

#: check f = verified
def f(a: bool, b: bool) -> bool:
    """
    post: _ == (a != b)
    """
    return a ^ b

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 1267650600228229401496703205376
    """
    return 1 << 100

#: check f = verified
def f(x: int) -> int:
    """
    post: _ & 6 == 6
    """
    return x | 6

#: compare f g = equivalent
def f(x: int) -> bool:
    return x & 3 == 0

def g(x: int) -> bool:
    return x % 4 == 0
