#: check f = verified
#: check first = counterexample StopIteration
#: check first_or = verified
def below(n):
    i = 0
    while i < n:
        yield i
        i += 1

def f(n: int) -> int:
    """
    pre: 0 <= n <= 4
    post: _ == n * (n - 1) // 2
    """
    return sum(below(n))

def first(n: int) -> int:
    """
    pre: n < 3
    """
    return next(below(n))

def first_or(n: int) -> int:
    """
    pre: n < 3
    post: _ == (0 if n > 0 else -1)
    """
    return next(below(n), -1)

#: check f = verified
def noted(out):
    out.append("begun")
    yield 1
    out.append("done")

def f(n: int) -> list[str]:
    """
    post: _ == ["made", "begun", "got", "done"]
    """
    out = []
    g = noted(out)
    out.append("made")
    next(g)
    out.append("got")
    assert next(g, None) is None
    return out

#: check f = counterexample RuntimeError
#: find f StopIteration = unreachable
def g(n):
    yield n
    raise StopIteration

def f(n: int) -> list[int]:
    return list(g(n))

#: check f = verified
def g(n):
    yield 1 // n

def f(n: int) -> str:
    """
    post: _ == "lazy"
    """
    g(n)
    return "lazy"

#: check f = verified
def inner(n):
    yield n
    return n + 1

def outer(n):
    more = yield from inner(n)
    yield more
    yield from [7, 8]

def f(n: int) -> list[int]:
    """
    post: _ == [n, n + 1, 7, 8]
    """
    return list(outer(n))

#: check f = verified
def parts(n):
    for i in range(3):
        try:
            if i == n:
                raise ValueError(i)
            yield i
        except ValueError:
            yield "bad"

def f(n: int) -> list:
    """
    post: len(_) == 3 and ("bad" in _) == (0 <= n < 3)
    """
    return list(parts(n))

#: check f = error Unsupported finally
def g(out):
    try:
        yield 1
    finally:
        out.append(2)

def f(n: int) -> int:
    """
    post: _ == 1
    """
    out = []
    for x in g(out):
        break
    return len(out)

#: compare f g = equivalent
#: compare f h = different
def evens(xs):
    for x in xs:
        if x % 2 == 0:
            yield x

def f(n: int):
    return evens([n, n + 1])

def g(n: int):
    return (x for x in [n, n + 1] if x % 2 == 0)

def h(n: int):
    return evens([n, n + 2])

#: check f = verified
class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n

def f(n: int) -> list[int]:
    """
    pre: n <= 3
    post: len(_) == max(n, 0) and (n <= 0 or _[-1] == 0)
    """
    return list(Countdown(n))

#: check f = counterexample ValueError
def g(n):
    yield n
    yield n

def f(n: int) -> int:
    a, b = g(n)
    c, = g(n)
    return a + b + c
