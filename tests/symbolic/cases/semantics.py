"""What is easily modelled wrongly: order of sets, iteration under change, identity, names, evaluation order."""


#: check f = error Unsupported
def f(a: int, b: int):
    """post: _ in (a, b)"""
    return min({a, b}, key=lambda x: 0) if a != b else a


#: check f = counterexample Postcondition
def f(a: int):
    """post: not _"""
    d = {a: 1}
    return d.keys() == {a}


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == 'TypeError'"""
    d = {a: 1}
    try:
        return d.keys() <= {a}
    except TypeError:
        return 'TypeError'


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == a"""
    class P:
        pass
    try:
        "%s" % P()
        return a + 1
    except TypeError:
        return a


#: check f = counterexample TypeError
def f(a: int):
    """post: _ == [1.5]"""
    return [i for i, x in enumerate([a], 1.5)]


#: check f = counterexample RuntimeError
def f(d: dict[int, int]):
    """
    pre: len(d) == 2
    post: True
    """
    return [d.pop(k) for k in d]


#: check f = counterexample RuntimeError
def f(d: dict[int, int]):
    """
    pre: len(d) == 1
    post: True
    """
    n = 0
    for k in d:
        del d[k]
        d[k + 1] = 1
        n += 1
        if n > 3:
            break
    return n


#: check f = counterexample Postcondition
def f(xs: list[int]):
    """
    pre: len(xs) == 2
    post: _ == 0
    """
    ys = []
    try:
        ys.extend(1 // x for x in xs)
    except ZeroDivisionError:
        return len(ys)
    return 0


#: check f = counterexample AssertionError
def f(xs: list[int]):
    """
    pre: len(xs) == 1
    """
    e = enumerate(xs)
    list(e)
    xs.append(1)
    xs.append(2)
    xs.append(3)
    assert len(list(e)) == 2


#: compare f g = different
c = 0
def f(a: int):
    global c
    c += 1
    return 1
def g(a: int):
    return c


#: check f = counterexample TypeError
def f(x: int = None):
    return x + 1


#: check f = verified
def f(a: int):
    def k():
        if False:
            global q
        q = a
        return q
    k()
    q2 = 0
    return q


#: check f = error Unsupported
def f(xs: list[float]):
    """
    pre: len(xs) == 1
    """
    return xs.index(xs[0])


#: check f = counterexample Postcondition
def f(x: float):
    """post: _"""
    return (x ** 1,) == (x,)


#: check f = counterexample Postcondition
def f(a: int):
    """post: not _"""
    return isinstance(int, type)


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == 0"""
    try:
        return len({[]: 1, 1 // 0: 2})
    except TypeError:
        return 0
    except ZeroDivisionError:
        return 1


#: check f = verified
def f(a: int):
    """post: _ == [a]"""
    def stop(x):
        raise StopIteration
    return [a] + list(map(stop, [1, 2]))


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == 1"""
    def stop(x):
        raise StopIteration
    try:
        list(stop(x) for x in [a])
    except StopIteration:
        return 1
    except RuntimeError:
        return 2


#: check f = counterexample Postcondition
def f(a: int, b: int):
    """post: _"""
    try:
        max(a, b, default=3)
        return True
    except TypeError:
        return False


#: check f = counterexample
def f(s: str):
    """post: _ == 0"""
    try:
        s.startswith(("a", 1))
        return 1
    except TypeError:
        return 0


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == 'int'"""
    s = {1} & {True}
    for x in s:
        return type(x).__name__


#: check f = error SyntaxError
def f(a: int):
    """post: _ == '\\u{61}'"""
    x = "\\u{61}" if a > 0 else "\\u{61}"
    return x


#: check f = verified
def f(s: str):
    """
    pre: s == "\\\\u{61}"
    post: len(_) == 6
    """
    return s


#: check f = verified
def f(s: str):
    """post: s != "\\\\u{61}" or len(s) == 6"""
    return s


#: check f = verified
def f(a: int, n: int):
    """
    pre: 0 <= n < 3
    """
    t = 0
    for i in range(a, a + n * 4611686018427387904, 4611686018427387904):
        t = i
        assert i >= a
    return t


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == [1]"""
    xs = [1]
    for x in xs:
        if len(xs) < 3:
            xs.append(x + a)
    return xs


#: check f = counterexample TypeError
def dataclass(c):
    return 5

@dataclass
class P:
    x: int

def f(a: int):
    """post: _ == a"""
    return P(a).x


#: check f = error Unsupported
int = str
def f(a: int):
    """post: _ == a + 0"""
    return a


#: check f = counterexample TypeError
from dataclasses import dataclass
@dataclass(frozen=True)
class P:
    x: list
def f(a: int):
    """post: _ == 1"""
    return len({P([a]): 1})


#: check f = counterexample Postcondition
class A:
    pass
class B:
    def __gt__(self, o):
        return True
def f(a: int):
    """post: _ == 0"""
    try:
        return 1 if A() < B() else 2
    except TypeError:
        return 0


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == str([1, 3])"""
    s = {3, 1}
    s.discard(9)
    return str([s])


#: check f = error ValidationError
class I:
    def __index__(self):
        return 0
def f(a: int):
    """post: _ == 0"""
    try:
        [1][I()]
        return 1
    except TypeError:
        return 0


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == 1"""
    class S:
        def __str__(self):
            return 1
    try:
        str(S())
        return 1
    except TypeError:
        return 0


#: check f = error Unsupported
def f(a: int) -> Foo:
    return a


#: check f = counterexample Postcondition
def f(a: int):
    """post: _ == ((), (2,))"""
    s = {(2,), (1,)}
    return sum(s, ())


#: check f = error Unsupported
def f(a: int, b: int):
    """post: _ in (frozenset([a]), frozenset([b]))"""
    return max({frozenset([a]), frozenset([b])})


#: check f = error Unsupported
def f(x: float):
    """post: _ == [1.0, 2.0] or _ == [2.0, 1.0]"""
    return sorted([2.0, 1.0], key=lambda v: v + x)


#: check f = error Unsupported
def f(x: float, y: float, z: float):
    """post: _[0] <= _[1] or _[1] != _[1] or _[0] != _[0]"""
    return [t[0] for t in sorted([(x,), (y,), (z,)])]


#: check f = verified
def f(a: int):
    """post: _ == 2"""
    def outer():
        def inner():
            nonlocal v
            v = 2
        inner()
        v2 = v
        v = 1
        return v2
    return outer()


#: check f = verified
def f(a: int):
    """post: _ == 3"""
    x = 0
    def outer():
        if a > 10**9:
            x = 1
        def inner():
            nonlocal x
            x = 3
        inner()
        return x
    return outer()


#: check f = verified
def f(a: int):
    """post: _ == 1"""
    d = {1: 1}
    e = enumerate(d)
    d[2] = a
    try:
        next(e)
        return 0
    except RuntimeError:
        return 1


#: check f = verified
class S:
    def __str__(self):
        raise ValueError
def f(a: int):
    """raises: ValueError"""
    print(S())
    assert False
