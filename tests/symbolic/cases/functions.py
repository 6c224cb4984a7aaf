#: check f = verified
def g(x: int) -> int:
    return x * 2

def f(x: int) -> int:
    """
    post: _ == 2 * x + 1
    """
    return g(x) + 1

#: check f = verified
def fact(n: int) -> int:
    if n <= 1:
        return 1
    return n * fact(n - 1)

def f(n: int) -> int:
    """
    pre: 0 <= n <= 6
    post: _ >= n
    """
    return fact(n)

#: check f = counterexample
def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def f(n: int) -> int:
    """
    pre: n < 8
    post: _ != 13
    """
    return fib(n)

#: check f = verified
def f(x: int, y: int = 3) -> int:
    """
    post: _ == x + y
    """
    return add(x, b=y)

def add(a, b=1, *rest, c=0, **more):
    return a + b + c + len(rest) + len(more)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x + 10
    """
    return add(x, 2, 0, 0, c=3, d=1, e=2, k=1)

def add(a, b=1, *rest, c=0, **more):
    return a + b + c + len(rest) + len(more)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x + 3
    """
    args = (1, 2)
    return add(x, *args, **{"c": 0})

def add(a, b, d, c):
    return a + b + d + c

#: check f = counterexample TypeError
def g(a, b):
    return a

def f(x: int) -> int:
    if x == 3:
        return g(x)
    return 0

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x + 1
    """
    add = lambda a, b=1: a + b
    return add(x)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 3 * x
    """
    def inner(k):
        return k * x
    return inner(3)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x + 2
    """
    n = x
    def bump():
        nonlocal n
        n += 1
    bump()
    bump()
    return n

#: check f = verified
total = 5

def f(x: int) -> int:
    """
    post: _ == x + 5
    """
    global total
    total += x
    return total

#: check f = verified
LIMIT = 10
NAMES = {"a": 1}

def f(x: int) -> int:
    """
    post: _ <= 10
    """
    return min(x, LIMIT) if "a" in NAMES else 0

#: check f = verified
def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

def f(n: int) -> bool:
    """
    pre: 0 <= n <= 6
    post: _ == (n % 2 == 0)
    """
    return even(n)

#: check f = timeout
def down(n: int) -> int:
    return 0 if n <= 0 else down(n - 1)

def f(n: int) -> int:
    """
    pre: n < 900
    post: _ == 0
    """
    return down(n)

#: check f = verified
def gen(n):
    yield n

def f(n: int) -> int:
    return list(gen(n))[0]

#: check f = error Unsupported decorator
import functools

@functools.lru_cache(typed=True)
def f(n: int) -> int:
    return n

#: check missing = error ValueError Function 'missing' not found in code
def f(n: int) -> int:
    return n

#: compare f g = equivalent
def f(x: int, y: int) -> int:
    return (x + y) * 2

def g(x: int, y: int) -> int:
    return 2 * x + 2 * y

#: compare f g = different
def f(x: int) -> int:
    return x * x

def g(x: int) -> int:
    return x * abs(x)

#: compare f g = equivalent
def f(x: int, y: int) -> int:
    return x // y

def g(x: int, y: int) -> int:
    if y == 0:
        raise ZeroDivisionError("none")
    return x // y

#: compare f g = different
def f(x: int, y: int) -> int:
    return x // y

def g(x: int, y: int) -> int:
    if y == 0:
        raise ValueError("none")
    return x // y

#: compare f g = equivalent
def f(a: bool, b: bool, c: bool) -> bool:
    return (a and b) or (a and c)

def g(a: bool, b: bool, c: bool) -> bool:
    return a and (b or c)

#: compare f g = different
def f(x: int) -> int:
    return 0 if x == 123456 else 1

def g(x: int) -> int:
    return 1

#: compare f g = error not found
def f(x: int) -> int:
    return 0

#: compare f h = different
def f(x: int) -> int:
    return x

def h(x: int, y: int) -> int:
    return x

#: check f = verified
def f(xs: list[int], n: int = 0, *, flag: bool = False) -> int:
    """
    post: _ in (0, 1)
    """
    return 1 if flag else 0

#: check f = error Unsupported annotation
def f(*args: complex) -> int:
    return len(args)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 2
    """
    acc = []
    def add(v, to=acc):
        to.append(v)
        return len(to)
    add(1)
    return add(2)

#: check f = verified
def f(x: int) -> bool:
    """
    post: _
    """
    fs = [lambda: i for i in range(3)]
    return fs[0]() == 2 and fs[2]() == 2

#: compare f g = different
seen = [0]

def f(x: int) -> int:
    seen.append(1)
    return len(seen)

def g(x: int) -> int:
    return len(seen)

#: compare f g = different
last = 0

def f(x: int) -> int:
    global last
    last = x
    return x

def g(x: int) -> int:
    return last

#: compare f g = different
def first(x, kept=[]):
    kept.append(x)
    return kept[0]

def f(x: int) -> int:
    return first(x)

def g(x: int) -> int:
    return first(x + 1)

#: compare f g = different
class Box:
    pass

box = Box()
box.kept = 0

def f(x: int) -> int:
    if x > 3:
        box.kept = x
    return x

def g(x: int) -> int:
    return box.kept if x > 3 else x

#: compare f g = error outlives the call
count = 0

def f(x: int) -> int:
    global count
    count += 1
    return count

def g(x: int) -> int:
    global count
    count += 1
    return count

#: compare f g = error outlives the call
flag = [False]

def f(x: int) -> bool:
    flag[0] = True
    return True

def g(x: int) -> int:
    return 0 if flag[0] else 1

#: compare f g = equivalent
table = [1, 2]

def f(x: int, given: list[int]) -> list[int]:
    own = list(table)
    own.append(x)
    given.append(x)
    return own

def g(x: int, given: list[int]) -> list[int]:
    return table + [x]
