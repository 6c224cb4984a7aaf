"""What the fuzzer of single operations found (tests/symbolic/operations_fuzz.py)."""


#: branches k = complete 2:TF cc 2
def k(a: int):
    if a == 3:
        return 4
    return 5


#: branches a = complete 2:TF cc 2
def a(k: int):
    if k == 3:
        return 4
    return 5


#: branches f = complete dead 5 cc 1
def f(a: int):
    try:
        return 10 // a
    except ValueError:
        return 1
    except ZeroDivisionError:
        return 2


#: check f = counterexample Postcondition
#: find f TypeError = unreachable
#: check g = counterexample Postcondition
def f(a: str):
    """
    pre: a == 'aXbXc'
    post: _ != 'AXBXC'
    """
    return a.upper()


def g(a: str):
    """
    pre: len(a) == 1 and a.isascii()
    post: _ == a
    """
    return a.lower()


#: check f = verified
#: check g = counterexample Postcondition
from dataclasses import dataclass


@dataclass
class P:
    x: int
    y: int = 0


def f(a: P):
    """post: _ == P(a.x, a.y)"""
    a.new = 1
    return a


def g(a: P):
    """post: _ != P(1, 2)"""
    a.new = 1
    return a


#: check f = verified
#: check g = counterexample AttributeError
from dataclasses import dataclass


@dataclass
class P:
    x: int
    y: int

    def __init__(self, x: int):
        if x > 0:
            self.x = x
            self.y = -x
        else:
            self.y = -x
            self.x = x


@dataclass
class Q:
    x: int

    def __init__(self):
        pass


def f(a: int):
    """
    pre: a != 0
    post: not _
    """
    return P(a) == P(-a)


def g(a: int):
    """post: _"""
    return Q() == Q()


#: check f = verified
#: find f TypeError = unreachable
from dataclasses import dataclass


@dataclass
class P:
    x: int


class Q(P):
    pass


def f(a: int):
    """post: _ == a"""
    return Q(a).x


#: check f = counterexample TypeError
def f(a: int):
    """post: _ == a + 2"""
    return sum([a], 1, start=2)


#: check f = counterexample TypeError
def f(a: int):
    """post: _ == [(2, a)]"""
    return list(enumerate([a], 1, start=2))


#: check f = verified
#: find g TypeError = found
def f(a: int):
    """post: _ == [(2, a)]"""
    return list(enumerate(iterable=[a], start=2))


def g(a: int):
    return list(enumerate([a], iterable=[a]))


#: check f = error Unsupported
def f(a: int):
    """post: _ == '1'"""
    if a != 1:
        return '1'
    return str(object=a)


#: check f = counterexample TypeError
#: check g = verified
def f(a: int):
    """post: _ is None"""
    return print(a, end=1) if a < 0 else print(a, other=1)


def g(a: int):
    """post: _ is None"""
    return print("#", sep=", ", end="\n", flush=True)


#: find f ValueError = error Unsupported
#: check g = verified
def f(a: int):
    return sorted([a, 1], reverse="")


def g(a: int):
    """post: _ == [max(a, 1), min(a, 1)]"""
    return sorted([a, 1], reverse=1)


#: find f TypeError = error Unsupported
def f(a: set[int]):
    """pre: len(a) <= 1"""
    return a.union([1], [2])


#: find f TypeError = error Unsupported
def f(a: dict[int, int]):
    """pre: len(a) <= 1"""
    a |= [(1, 2)]
    return a


#: check f = error Unsupported
#: check g = error Unsupported
def f(a: int):
    """post: _ == a"""
    class C:
        def __init__(self, x):
            self.__x = x
    return C(a)._C__x


def g(a: int):
    """post: _ == a"""
    __b = a

    class C:
        def get(self):
            return __b
    try:
        return C().get()
    except NameError:
        return a


#: check f = error Unsupported
#: check g = error Unsupported
#: check h = error Unsupported
#: check k = verified
def f(a: int):
    """post: True"""
    b = [a]
    b.append(b)
    return len(sorted([b, b]))


def g(a: int):
    """
    post: _
    raises: RecursionError
    """
    b, c = {}, {}
    b[1], c[1] = b, c
    return b == c


def h(a: int):
    """
    post: _
    raises: RecursionError
    """
    b, c = [a], [a]
    b.append(b)
    c.append(c)
    return b == c


def k(a: int):
    """post: _ == 1"""
    b = {}
    b[a] = b
    return len(b | b)
