#: check f = counterexample ZeroDivisionError
#: find f ZeroDivisionError = found
#: find f ArithmeticError = found
#: find f ValueError = unreachable
#: find f Zero = error Unknown ValueError
def f(a: int, b: int) -> int:
    return a // b

#: check f = verified
def f(a: int, b: int) -> int:
    """
    pre: b != 0
    post: _ * b + a % b == a
    """
    return a // b

#: check f = verified
def f(a: int) -> int:
    """post: 0 <= _ < 7"""
    return a % 7

#: check f = verified
def f(a: int) -> int:
    """
    post: -7 < _ <= 0
    """
    return a % -7

#: check f = counterexample
def f(a: int) -> int:
    """
    post: _ >= 0
    """
    return a // 3

#: check f = verified
def f(a: int, b: int) -> int:
    """
    post: _ == a * a + 2 * a * b + b * b
    """
    return (a + b) * (a + b)

#: check f = verified
def f(a: int) -> int:
    """
    post: _ == a * a * a
    """
    return a ** 3

#: check f = counterexample
def f(a: int) -> int:
    """
    post: _ != 12345678901234567890123
    """
    return a + 12345678901234567890000

#: check f = verified
def f(a: int, b: int) -> int:
    """
    post: _ == a - b
    """
    return -(b - a)

#: check f = verified
def f(a: int) -> int:
    """
    post: _ == -a - 1
    """
    return ~a

#: check f = verified
def f(a: int) -> bool:
    """
    post: _ == True
    """
    return +a == a

#: check f = verified
def f(a: int) -> int:
    """
    post: _ >= 0
    post: _ == a or _ == -a
    """
    return abs(a)

#: check f = counterexample
def f(a: int, b: int) -> int:
    """
    post: _ > 0
    """
    x, y = divmod(a, 5)
    return x * 5 + y - b

#: check f = verified
def f(a: int) -> int:
    """
    post: _ == a
    """
    x, y = divmod(a, 5)
    return x * 5 + y

#: check f = verified
def f(x: bool, y: bool) -> int:
    """
    post: 0 <= _ <= 2
    """
    return x + y

#: check f = counterexample
def f(x: bool, y: int) -> int:
    """
    post: _ != 3
    """
    return x + y * 2

#: check f = counterexample TypeError
def f(x: int, y: str) -> int:
    return x + y

#: check f = counterexample OverflowError
def f(a: int, b: int) -> float:
    return a / (b * b + 1)

#: check f = counterexample ZeroDivisionError
def f(a: int, b: int) -> float:
    return a / b

#: check f = verified
def f() -> float:
    """
    post: _ == 3.5
    """
    return 7 / 2

#: check f = counterexample
def f(a: int) -> int:
    """
    post: _ < 10 ** 30
    """
    return a

#: check f = verified
def f(a: int) -> int:
    """
    pre: 0 <= a <= 10
    post: _ <= 1000
    """
    return a ** 3

#: check f = error Unsupported exponent
def f(a: int) -> int:
    return 2 ** a

#: check f = verified
def f(a: int) -> int:
    """
    post: _ == round(_)
    """
    return round(a)

#: check f = counterexample
def f(a: int, b: int) -> int:
    """
    post: _ != 0
    """
    return a * a - 2 * a * b + b * b - 25

#: check f = verified
def f(a: int) -> int:
    """
    pre: -8 <= a <= 8
    post: _ % 2 == 0
    """
    return a * (a + 1)

#: check f = verified
import math

def f(n: int) -> bool:
    """
    pre: 0 <= n <= 30
    post: _ == (n in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29))
    """
    if n < 2:
        return False
    for i in range(2, int(math.sqrt(n)) + 1):
        if n % i == 0:
            return False
    return True

#: check f = verified
def f(a: int, b: int) -> float:
    """
    pre: 0 <= a <= 5 and 1 <= b <= 3
    post: 0 <= _ <= 5
    """
    return a / b

#: check f = counterexample
def f(a: int) -> float:
    """
    pre: 0 <= a <= 9
    post: _ != 3.5
    """
    return a * 0.5

#: check f = verified
def f(a: int) -> int:
    """
    pre: 0 <= a <= 6
    post: _ == 1 << a
    """
    return 2 ** a

#: check f = verified
def f(a: int) -> str:
    """
    pre: -1 <= a <= 3
    post: len(_) == max(a, 0)
    """
    return "x" * a
