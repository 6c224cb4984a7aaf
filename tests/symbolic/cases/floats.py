#: check f = counterexample ZeroDivisionError
def f(x: float, y: float) -> float:
    return x / y

#: check f = counterexample nan
def f(x: float) -> bool:
    """
    post: _
    """
    return x == x

#: check f = verified
def f(x: float, y: float) -> bool:
    """
    pre: x == x and y == y
    pre: abs(x) < 1e100 and abs(y) < 1e100
    post: _
    """
    return x + y == y + x

#: check f = counterexample
def f(x: float) -> bool:
    """
    pre: 0.0 < x < 1.0
    post: _
    """
    return x + 1.0 - 1.0 == x

#: check f = verified
def f(x: float) -> float:
    """
    pre: x == x
    post: _ >= 0.0
    """
    return abs(x)

#: check f = counterexample
def f(x: float) -> float:
    """
    post: _ >= 0.0
    """
    return abs(x)

#: check f = verified
def f(x: float) -> float:
    """
    pre: 0.0 <= x <= 1.0
    post: 0.0 <= _ <= 2.0
    """
    return x * 2

#: check f = counterexample ValueError
import math

def f(x: float) -> float:
    return math.sqrt(x)

#: check f = verified
import math

def f(x: float) -> float:
    if math.isnan(x) or math.isinf(x):
        return 0.0
    if x >= 0:
        return math.sqrt(x)
    return -1.0

#: check f = verified
def f(x: int) -> bool:
    """
    post: _
    """
    return 0.1 + 0.2 != 0.3 and 7.5 // 2 == 3.0 and -7.5 % 2 == 0.5 and 2 ** -1 == 0.5

#: check f = counterexample OverflowError
def f(x: int, y: float) -> float:
    return x * y

#: check f = verified
def f(x: float) -> int:
    """
    post: _ in (0, 1, 2)
    """
    if x < 0:
        return 0
    if x >= 0:
        return 1
    return 2

#: branches f = complete 2:TF 4:TF cc 3
def f(x: float) -> int:
    if x < 0:
        return 0
    if x >= 0:
        return 1
    return 2

#: check f = verified
from math import pi, floor

def f(x: int) -> int:
    """
    post: _ == 3
    """
    return floor(pi)

#: check f = verified
def f(a: float, b: float) -> float:
    """
    pre: a == a and b == b
    post: _ >= a and _ >= b
    """
    return max(a, b)

#: check f = counterexample
def f(a: float, b: float) -> float:
    """
    post: _ >= a and _ >= b
    """
    return max(a, b)

#: compare f g = equivalent
def f(x: float) -> float:
    return x * 2.0

def g(x: float) -> float:
    return x + x

#: compare f g = different
def f(x: float) -> float:
    return x + 1.0 - 1.0

def g(x: float) -> float:
    return x

#: check f = verified
def f(x: bool) -> float:
    """
    post: _ == 1.5 or _ == 0.5
    """
    return x + 0.5

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == "1e+16 0.1 inf -0.0 3.0"
    """
    return f"{1e16} {0.1} {1e308 * 10} {-0.0} {3.0}"

#: check f = error Unsupported
def f(x: float) -> bool:
    """
    post: _ or not _
    """
    return x > 9007199254740993

#: check f = error Unsupported
def f(x: float) -> bool:
    return x < 123456789012345678901234567890

#: check f = error Unsupported
def f(x: int) -> bool:
    return x ** 123456789012345678901234567890 > 0

#: check f = verified
def f(x: float) -> float:
    """
    pre: 0.0 <= x <= 1e9
    post: 0 <= _ < 360
    """
    return x % 360.0

#: check f = counterexample
def f(x: float) -> float:
    """
    pre: -1000.0 <= x <= 1000.0
    post: _ != 360.0
    """
    return x % 360.0

#: check f = counterexample ZeroDivisionError
def f(x: float, y: float) -> float:
    return x % y

#: check f = counterexample nan
def f(x: float) -> float:
    """
    post: _ == _
    """
    return x // 2.0

#: check f = verified
def f(x: float) -> float:
    """
    pre: -1e300 < x < 1e300
    post: -0.5 <= _ <= 0
    """
    return x % -0.5

#: check f = verified
def f(n: int) -> float:
    """
    pre: -1000000 <= n <= 1000000
    post: _ == n % 7
    """
    return float(n) % 7

#: check f = counterexample
def f(n: int) -> float:
    """
    pre: -1000000 <= n <= 1000000
    post: _ == int(n / 2)
    """
    return n // 2.0

#: find f ValueError = found
import math

def f(x: float) -> float:
    return math.fmod(x, 10.0)

#: check f = verified
import math

def f(x: float) -> bool:
    """
    pre: x == x
    post: _
    """
    return math.isclose(x, x)

#: check f = counterexample ValueError
import math

def f(x: float, t: float) -> bool:
    return math.isclose(x, x, abs_tol=t)

#: check f = verified
def f(x: float) -> float:
    """
    pre: 0.0 <= x <= 99.5
    post: 0 <= _ <= 100
    """
    return round(x, 2)

#: check f = counterexample OverflowError
def f(x: float) -> float:
    return x ** 2

#: check f = verified
def f(x: float) -> float:
    """
    pre: -1e6 < x < 1e6
    post: _ >= 0
    """
    return x ** 2

#: check f = counterexample
def f(x: float) -> bool:
    """
    post: not _
    """
    return x.is_integer() and x > 3.0
