#: check f = verified
def f(a: int, b: int) -> int:
    try:
        return a // b
    except ZeroDivisionError:
        return 0

#: check f = verified
def f(a: int, b: int) -> int:
    try:
        return a // b
    except ArithmeticError:
        return 0

#: check f = counterexample ZeroDivisionError
def f(a: int, b: int) -> int:
    try:
        return a // b
    except ValueError:
        return 0

#: check f = verified
def f(a: int, b: int) -> int:
    """
    post: _ == 5
    """
    try:
        a // b
    except (KeyError, ZeroDivisionError) as e:
        pass
    finally:
        return 5

#: check f = verified
def f(a: int) -> int:
    """
    post: _ == (1 if a > 0 else 12)
    """
    r = 0
    try:
        if a <= 0:
            raise ValueError("no")
    except ValueError:
        r += 10
        a = 2
    else:
        return 1
    finally:
        r += a
    return r

#: check f = counterexample KeyError
def f(a: int) -> int:
    try:
        if a == 3:
            raise ValueError("x")
    except ValueError as e:
        raise KeyError("y") from e
    return a

#: check f = counterexample ValueError
def f(a: int) -> int:
    try:
        if a == 3:
            raise ValueError("x")
    except ValueError:
        raise
    return a

#: check f = counterexample RuntimeError
def f(a: int) -> int:
    if a == 3:
        raise
    return a

#: find f MyError = found
#: find f ValueError = found
#: find f OtherError = unreachable
#: find f KeyError = unreachable
#: find f Missing = error Unknown
class MyError(ValueError):
    pass

class OtherError(MyError):
    pass

def f(x: int) -> int:
    if x * x == 49:
        raise MyError("seven")
    return x

#: check f = verified
class MyError(Exception):
    def __init__(self, code):
        self.code = code

def f(x: int) -> int:
    """
    post: _ == x
    """
    try:
        raise MyError(x)
    except MyError as e:
        return e.code

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == "bad"
    """
    try:
        raise ValueError("bad")
    except ValueError as e:
        return str(e)

#: check f = counterexample UnboundLocalError
def f(x: int) -> int:
    e = 1
    try:
        if x == 5:
            raise ValueError
    except ValueError as e:
        pass
    return e

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 3
    """
    n = 0
    for i in range(3):
        try:
            continue
        finally:
            n += 1
    return n

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 1
    """
    while True:
        try:
            break
        finally:
            x = 1
    return x

#: check f = counterexample TypeError
def f(x: int) -> int:
    if x == 4:
        raise 5
    return x

#: find f SystemExit = found
def f(x: int) -> int:
    if x == 4:
        raise SystemExit
    return x

#: check f = counterexample AssertionError
def f(x: int) -> int:
    y = x + 1
    assert y != 100, "hundred"
    return y

#: check f = error Unsupported text
def f(x: int) -> str:
    try:
        return str(1 // x)
    except ZeroDivisionError as e:
        return str(e)

#: find f RecursionError = found
def f(x: int) -> int:
    return f(x)

#: find f FileNotFoundError = found
def f(x: int) -> int:
    raise OSError(2, "none")

#: find f PermissionError = found
def f(x: int) -> int:
    raise OSError(x, "none")

#: find f TypeError = found
def f(x: int) -> int:
    raise UnicodeDecodeError("none")

#: find f TypeError = found
def f(x: int) -> int:
    raise UnicodeEncodeError

#: find f TypeError = found
def f(x: int) -> int:
    raise SyntaxError("none", 3)

#: find f ImportError = found
def f(x: int) -> int:
    raise ImportError("none", name="x")

#: find f NameError = found
def f(x: int) -> int:
    raise NameError("none", name="x")

#: find f TypeError = found
def f(x: int) -> int:
    raise ValueError(name="x")
