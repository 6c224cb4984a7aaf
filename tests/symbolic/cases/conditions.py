#: check f = verified
def f(x: int) -> int:
    """
    post: _ >= 0
    """
    if x < 0:
        return -x
    return x

#: check f = counterexample
def f(x: int) -> str:
    """
    post: _ != "b"
    """
    if x > 10:
        return "a"
    elif x > 5:
        return "b"
    else:
        return "c"

#: check f = verified
#: branches f = complete 5:TF 7:TF cc 3
def f(x: int, lo: int, hi: int) -> int:
    """
    pre: lo <= hi
    post: lo <= _ <= hi"""
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x

#: check f = counterexample
def f(x: int, lo: int, hi: int) -> int:
    """
    post: lo <= _ <= hi
    """
    return max(lo, min(x, hi))

#: branches f = complete 2:TF 3:-F dead 4 cc 3
def f(x: int) -> int:
    if x > 10:
        if x < 5:
            return 1
        return 2
    return 3

#: branches f = complete 2:TF 4:T- dead 6 cc 3
def f(x: int) -> int:
    if x > 0:
        return 1
    if x <= 0:
        return 2
    return 3

#: check f = verified
def f(a: bool, b: bool) -> bool:
    """
    post: _ == (not (not a or not b))
    """
    return a and b

#: check f = verified
def f(x: int, y: int) -> int:
    """
    post: _ == (x if x else y)
    """
    return x or y

#: check f = counterexample
def f(x: int) -> bool:
    """
    post: _
    """
    return not (3 < x <= 7) or x == 5

#: check f = verified
def f(x: int) -> bool:
    """
    post: _ == (1 < x and x < 5)
    """
    return 1 < x < 5

#: check f = counterexample ValueError (x=7)
def f(x: int) -> int:
    if 1 < x < 10 and x % 7 == 0:
        raise ValueError("(x=7)")
    return x

#: check f = verified
def f(x: int) -> int:
    """
    post: _ in (1, 2)
    """
    return 1 if x > 3 else 2

#: check f = verified
def f(x: int) -> int:
    """
    post: _ != 0
    """
    return x if x != 0 else 1

#: check f = counterexample ZeroDivisionError
def f(x: int, y: int) -> bool:
    return x > 0 and 10 // y > 2

#: check f = verified
def f(x: int, y: int) -> bool:
    return y != 0 and 10 // y > 2

#: check f = verified
def f(x: int, y: int) -> bool:
    return y == 0 or 10 // y > 2

#: check f = verified
def f(x: int) -> int:
    """
    post: _ > 0
    """
    y = 0
    if x > 0:
        y = x
    else:
        y = 1 - x
    return y

#: check f = verified
def f(a: int, b: int, c: int, d: int, e: int, g: int, h: int, i: int, j: int, k: int, l: int, m: int) -> int:
    """
    post: 0 <= _ <= 12
    """
    r = 0
    if a > 0:
        r += 1
    if b > 0:
        r += 1
    if c > 0:
        r += 1
    if d > 0:
        r += 1
    if e > 0:
        r += 1
    if g > 0:
        r += 1
    if h > 0:
        r += 1
    if i > 0:
        r += 1
    if j > 0:
        r += 1
    if k > 0:
        r += 1
    if l > 0:
        r += 1
    if m > 0:
        r += 1
    return r

#: check f = counterexample
def f(a: int, b: int, c: int) -> int:
    """
    post: _ != 7
    """
    r = 0
    if a > 10:
        r += 1
    if b > a:
        r += 2
    if c > b:
        r += 4
    return r

#: check f = counterexample UnboundLocalError
def f(x: int) -> int:
    if x > 3:
        y = 1
    return y

#: check f = verified
def f(x: int) -> int:
    if x > 3:
        y = 1
    if x > 3:
        return y
    return 0

#: check f = counterexample NameError
def f(x: int) -> int:
    if x == 77:
        return nothing
    return x

#: check f = verified
def f(x: int) -> int:
    """
    post: _ is None or _ > 0
    """
    if x > 0:
        return x

#: check f = counterexample
def f(x: int) -> int:
    """
    post: _ is not None
    """
    if x > 0:
        return x

#: check f = verified
def f(x: int) -> int:
    if (y := x * x) < 0:
        raise ValueError("never")
    return y
