"""What each part of the language means: numbers, text, names, exceptions, arguments, containers, patterns, assignment."""


#: check f = verified
def f(a: int, b: int):
    """
    pre: b != 0
    post: _ == a and (b > 0 and 0 <= a % b < b or b < 0 and b < a % b <= 0)
    """
    return (a // b) * b + a % b


#: check f = verified
def f(a: int, b: int):
    """
    pre: b != 0
    post: _[0] == a // b and _[1] == a % b
    """
    return divmod(a, b)


#: check f = verified
def f(p: bool, q: bool):
    """post: _ in (0, 1, 2) and isinstance(_, int) and not isinstance(_, bool)"""
    return p + q


#: check f = verified
def f(p: bool, q: bool):
    """post: isinstance(_, bool)"""
    return p & q | p ^ q


#: check f = verified
def f(p: bool):
    """post: _ in (-1, -2)"""
    return ~p


#: check f = verified
def f(a: int):
    """post: _ == [1, 2] or _ == [1]"""
    log = []
    def k(v):
        log.append(v)
        return v
    k(1) < a < k(2)
    return log


#: check f = verified
def f(a: int):
    """post: True"""
    log = []
    def k(v):
        log.append(v)
        return v
    r = k(1) < a < k(2)
    assert len(log) == (2 if a > 1 else 1)
    return r


#: check f = counterexample Postcondition
def f(x: float):
    """post: _"""
    return x == x


#: check f = counterexample Postcondition
def f(x: float):
    """post: _ == 0.0"""
    return x - x


#: check f = counterexample
def f(x: float):
    """post: _ != 0 or str(_) == '0.0'"""
    return x * 0.0


#: check f = error Unsupported
def f(x: float):
    """
    pre: x == 9007199254740993
    """
    assert False


#: check f = verified
def f(x: float):
    """
    pre: x == 2**53
    """
    assert x + 1 == x


#: check f = verified
def f(s: str):
    """
    pre: len(s) >= 1
    post: _ == s[len(s) - 1]
    """
    return s[-1]


#: check f = verified
def f(s: str):
    """
    pre: len(s) == 3
    post: _ == s[2] + s[1] + s[0]
    """
    return s[::-1]


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 4
    post: len(_) <= 2
    """
    return s[::2]


#: check f = verified
def f(s: str, i: int):
    """post: len(_) <= 1"""
    return s[i:i+1]


#: check f = counterexample Postcondition
def f(s: str):
    """post: not (_ and len(s) == 1)"""
    return s > "\U0001F600"


#: check f = verified
def f(s: str):
    """post: _"""
    return "" in s and s in s


#: check f = verified
def f(s: str, t: str):
    """post: not _ or len(s) <= len(t)"""
    return s in t


#: check f = verified
def f(xs: list[int]):
    """
    pre: len(xs) == 2
    post: _ == xs[0]
    """
    ys = xs
    ys[0] = 5
    return xs[0]


#: check f = verified
def k(a, acc=[]):
    acc.append(a)
    return len(acc)
def f(a: int):
    """post: _ == 2"""
    k(a)
    return k(a)


#: check f = verified
def f(a: int):
    """post: _ == [2, 2, 2]"""
    fs = [lambda: i for i in range(3)]
    return [g() for g in fs]


#: check f = verified
def f(a: int):
    """post: _ == [0, 1, 2]"""
    fs = [lambda i=i: i for i in range(3)]
    return [g() for g in fs]


#: check f = verified
def f(a: int):
    """post: _ == a + 2"""
    n = a
    def inc():
        nonlocal n
        n += 1
    inc()
    inc()
    return n


#: check f = counterexample Postcondition
g0 = 10
def f(a: int):
    """post: _ == 10"""
    global g0
    if a > 5:
        g0 = g0 + 1
    return g0


#: check f = verified
def f(a: int):
    """post: _ == 2"""
    try:
        return 1
    finally:
        return 2


#: check f = verified
def f(a: int):
    """post: _ == 3"""
    while True:
        try:
            1 // a
        except ZeroDivisionError:
            return 3
        finally:
            break
    return 3


#: check f = verified
def f(a: int):
    """raises: KeyError"""
    try:
        1 // a
    finally:
        if a == 0:
            raise KeyError(1)


#: check f = counterexample KeyError
def f(a: int):
    """raises: ZeroDivisionError"""
    try:
        1 // a
    finally:
        if a == 0:
            raise KeyError(1)


#: check f = verified
def f(xs: list[int]):
    """
    pre: len(xs) <= 3
    post: _ == (5 not in xs)
    """
    for x in xs:
        if x == 5:
            break
    else:
        return True
    return False


#: check f = verified
def f(n: int):
    """
    pre: 0 <= n <= 4
    post: _ == 'end'
    """
    while n > 0:
        n -= 1
        if n == 7:
            break
    else:
        return 'end'


#: check f = verified
def f(a: int):
    """post: _ == a"""
    x = a
    [x for x in range(3)]
    return x


#: check f = verified
def f(a: int):
    """post: _ == 2"""
    [y := i for i in range(3)]
    return y


#: check f = verified
def f(a: int, b: int):
    """post: _ == (a, (b,), 3, {'z': 4})"""
    def k(x, *r, y, **kw):
        return x, r, y, kw
    return k(*[a, b], y=3, **{'z': 4})


#: check f = verified
def f(a: int):
    """raises: TypeError"""
    def k(x, *, y):
        return x
    return k(a, 1)


#: check f = verified
def f(a: int):
    """post: _ == ({1: 'c'}, [1])"""
    d = {1: 'a', True: 'b', 1.0: 'c'}
    return d, list(d)


#: check f = verified
def f(a: int, b: int):
    """post: list(_) == ([a, b] if a != b else [a])"""
    d = {}
    d[a] = 1
    d[b] = 2
    d[a] = 3
    return d


#: check f = verified
def f(a: int, b: int):
    """post: _ == [b, a] or a == b"""
    d = {a: 1, b: 2}
    v = d.pop(a)
    d[a] = v
    return list(d)


#: check f = verified
def f(xs: list[int]):
    """
    pre: len(xs) <= 3
    post: len(_) <= len(xs)
    """
    return set(xs)


#: check f = verified
def f(a: int, b: int):
    """post: _ == [(b, 'y'), (a, 'x')] or a <= b"""
    return sorted([(a, 'x'), (b, 'y')], key=lambda t: t[0])


#: check f = verified
def f(a: int, b: int, c: int):
    """post: _ == sorted([a, b, c])[::-1]"""
    return sorted([a, b, c], reverse=True)


#: check f = verified
def f(a: int):
    """post: _ == ['x', 'y', 'z']"""
    return [t[1] for t in sorted([(1, 'x'), (1, 'y'), (1, 'z')], key=lambda t: t[0], reverse=True)]


#: check f = verified
def f(xs: list[int]):
    """
    pre: len(xs) <= 2
    post: _ == 7 or _ in xs
    """
    return max(xs, default=7)


#: check f = verified
def f(a: int, b: int):
    """post: abs(_) >= abs(a) and abs(_) >= abs(b)"""
    return max(a, b, key=abs)


#: check f = verified
def f(a: int, b: int):
    """post: _ == a or abs(a) > abs(b)"""
    return min([a, b], key=abs)


#: check f = verified
def f(xs: list[int]):
    """
    pre: len(xs) <= 3
    post: _ == 10 + sum(xs)
    """
    return sum(xs, 10)


#: check f = verified
def f(a: int):
    """post: _ == (a == 0)"""
    try:
        return any([a == 0, 1 // a > 5][i] for i in range(1))
    except ZeroDivisionError:
        return True


#: check f = verified
def f(a: int):
    """raises: ZeroDivisionError"""
    return any(x for x in (a, 1 // a))


#: check f = verified
def f(a: int):
    """post: True"""
    return any(1 // x for x in (1, a))


#: check f = verified
def f(x: int | bool | str | None):
    """post: _ == (x is not None and not isinstance(x, str))"""
    return isinstance(x, (int, float))


#: check f = counterexample Postcondition
def f(x: int | str | tuple[int, int] | None):
    """post: isinstance(_, str)"""
    match x:
        case None:
            return "none"
        case int(n) if n > 5:
            return "big"
        case int():
            return "int"
        case str():
            return x
        case (a, b) if a < b:
            return "lt"
        case (a, _):
            return a


#: check f = verified
from dataclasses import dataclass
@dataclass
class P:
    x: int
    y: int = 0
def f(p: P):
    """post: _ in ('origin', 'x', 'other')"""
    match p:
        case P(0, 0):
            return 'origin'
        case P(x=n, y=0):
            return 'x'
        case P():
            return 'other'


#: check f = verified
from dataclasses import dataclass
@dataclass(order=True, frozen=True)
class P:
    x: int
    y: int = 0
def f(p: P, q: P):
    """post: _ == (p.x < q.x or p.x == q.x and p.y < q.y)"""
    return p < q


#: check f = verified
from dataclasses import dataclass
@dataclass(frozen=True)
class P:
    x: int
def f(p: P):
    """raises: AttributeError"""
    p.x = 3


#: check f = verified
class E1(ValueError):
    pass
class E2(E1):
    pass
def f(a: int):
    """post: _ in (0, 1, 2)"""
    try:
        if a == 1:
            raise E2("x")
        if a == 2:
            raise ValueError from KeyError(1)
    except E1:
        return 1
    except ValueError as e:
        return 2
    return 0


#: check f = verified
def f(a: int):
    """post: _ == 'm5' or a >= 0"""
    try:
        assert a >= 0, "m" + str(5)
    except AssertionError as e:
        return str(e)


#: check f = verified
def f(a: int):
    """post: _ == (12, 10, -5, 255)"""
    return int("1_2"), int(" 10\n"), int("-5"), int("ff", 16)


#: check f = verified
def f(a: int):
    """post: len(_) >= 3"""
    return f"<{a}>"


#: check f = verified
def f(a: int):
    """post: _ == '<  7|0x1f|1,000|3.14|7    >'"""
    return f"<{7:3}|{31:#x}|{1000:,}|{3.14159:.2f}|{7:<5}>"


#: check f = verified
def f(a: int):
    """post: _ == a * 8"""
    return a << 3


#: check f = verified
def f(a: int):
    """post: _ == a // 4"""
    return a >> 2


#: check f = verified
def f(a: int, n: int):
    """
    pre: -3 <= n <= 3
    raises: ValueError
    post: n >= 0
    """
    return a << n


#: check f = verified
def f(a: int):
    """post: _ == a - (a & 3)"""
    return a & ~3


#: check f = error Unsupported
def f(a: int):
    """post: _ == -1"""
    return a | ~a


#: check f = counterexample ZeroDivisionError
def f(a: int):
    """post: _ == 0.5 or a != 2"""
    return a ** -1


#: check f = verified
def f(n: int):
    """
    pre: -2 <= n <= 2
    raises: ZeroDivisionError
    post: isinstance(_, float) == (n < 0)
    """
    return 2 ** n


#: check f = verified
def f(a: int, xs: list[int]):
    """
    pre: len(xs) == 1
    post: _ == (2 if a > 0 else 1)
    """
    if a > 0:
        xs.append(a)
    return len(xs)


#: check f = verified
def f(xs: list[int]):
    """
    pre: len(xs) <= 3
    post: len(__old__.xs) + 1 == len(xs)
    """
    xs.append(0)


#: check f = verified
def f(a: int):
    """
    pre: 10 // a > 2
    post: _ > 0
    """
    return a


#: check f = counterexample Postcondition
def f(a: int = 3, *, k: str = 'x'):
    """post: len(_) >= 2"""
    return str(a) + k


#: check f = verified
def f(d: dict[str, int]):
    """
    pre: len(d) <= 2
    post: sorted(_) == sorted(d.items())
    """
    return list(d.items())


#: check f = verified
def f(x: float, y: float):
    """post: not (x < y) or _ == x"""
    return min(x, y)


#: check f = counterexample Postcondition
def f(x: float, y: float):
    """post: _ <= x and _ <= y"""
    return min(x, y)


#: check f = verified
def f(a: int):
    """post: _"""
    return [a] == [a] and (a,) == (a,) and {a} == {a} and not ([a] == (a,))


#: check f = verified
def f(a: int, b: int):
    """post: _ == (a, b)"""
    a, b = b, a
    return b, a


#: check f = verified
def f(xs: list[int]):
    """
    pre: 1 <= len(xs) <= 3
    post: [_[0]] + _[1] == xs
    """
    h, *t = xs
    return h, t


#: check f = verified
def f(a: int):
    """post: True"""
    x = y = [a]
    x.append(1)
    assert y == [a, 1]
    x += [2]
    assert len(y) == 3
    x = x + [3]
    assert len(y) == 3


#: check f = verified
def f(a: int):
    """post: True"""
    t = ([],)
    try:
        t[0] += [a]
    except TypeError:
        pass
    assert t == ([a],)


#: check f = verified
def f(a: int):
    """post: _ == 1"""
    m = [[0] * 2] * 2
    m[0][0] = 1
    return m[1][0]


#: check f = verified
def f(a: int):
    """raises: UnboundLocalError"""
    if a > 0:
        x = 1
    return x


#: check f = counterexample UnboundLocalError
x = 1
def f(a: int):
    """post: _ == 1"""
    if a > 0:
        return x
    x = 2
    return x


#: check f = verified
def f(a: int):
    """post: _ is True or _ is False"""
    return not a


#: check f = verified
def f(a: int, b: int):
    """post: _ == (a if a else b)"""
    return a or b


#: check f = timeout TimeoutError
def f(a: int):
    """raises: RecursionError"""
    return f(a + 1)


#: check f = verified
def f(n: int):
    """
    pre: 0 <= n <= 5
    post: _ >= 1
    """
    return 1 if n == 0 else n * f(n - 1)
