#: check rebound = error Unsupported name Key again
#: check called = error Unsupported name Key again
#: check undone = error Unsupported name Key again
#: check deleted = error Unsupported name Key again
#: check target = error Unsupported name Key again
#: check derived = error Unsupported name Key again
#: check wrong = counterexample
class Key:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Key) and self.x == other.x

    def __hash__(self):
        return hash(self.x)

class Other:
    def __init__(self, x):
        self.x = x

class Derived(Key):
    pass

def rebound(n: int) -> bool:
    """
    post: not _
    """
    global Key
    keys = {Key(n)}
    Key = Other
    return Other(n) in keys

def bind():
    global Key
    Key = Other

def called(n: int) -> int:
    """
    post: _ == 0
    """
    keys = {Key(n): 1}
    bind()
    return keys.get(Other(n), 0)

def undone(n: int) -> bool:
    """
    post: not _
    """
    global Key
    first, key = Key, Key("a")
    keys = {key}
    Key = Other
    key.x = "b"
    Key = first
    return Key("b") in keys

def deleted(n: int) -> bool:
    """
    post: not _
    """
    global Key
    keys = {Key(n)}
    del Key
    return Other(n) in keys

def target(n: int) -> bool:
    """
    post: not _
    """
    global Key
    keys = {Key(n)}
    for Key in [Other]:
        return Other(n) in keys
    return False

def derived(n: int) -> int:
    """
    post: _ == 2
    """
    keys = frozenset([Derived(n)])
    bind()
    return len(keys | {Other(n)})

def wrong(n: int) -> bool:
    """
    post: _
    """
    keys = {Key(n)}
    bind()
    return Other(n) in keys

#: check f = error Unsupported name isinstance again
#: check g = error Unsupported __hash__
class Key:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Key) and self.x == other.x

    def __hash__(self):
        return hash(self.x)

class Other:
    def __init__(self, x):
        self.x = x

def f(n: int) -> bool:
    """
    post: not _
    """
    global isinstance
    keys = {Key(n)}
    isinstance = lambda value, of: True
    return Other(n) in keys

def g(n: int) -> int:
    """
    post: _ == 1
    """
    def made(hash):
        class Key:
            def __init__(self, x):
                self.x = x

            def __eq__(self, other):
                return isinstance(other, Key) and self.x == other.x

            def __hash__(self):
                return hash(self.x)
        return Key
    return len({made(len)("ab")})

#: check f = error Unsupported __hash__
def hash(x):
    return 5

class Key:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Key) and self.x == other.x

    def __hash__(self):
        return hash(self.x)

def f(n: int) -> int:
    """
    post: _ == 1
    """
    return len({Key([n]), Key([n])})

#: find g NameError = found
#: find g TypeError = error Unsupported name hash again
def g(n: int) -> int:
    class Local:
        def __init__(self, x):
            self.x = x

        def __eq__(self, other):
            return isinstance(other, Local) and self.x == other.x

        def __hash__(self):
            return hash(self.x)
    count = len({Local(n)})
    hash = 5
    return count

#: check turned = error Unsupported name Key again
#: check nested = error Unsupported __hash__
#: check made = verified
def turned(n: int) -> int:
    """
    post: _ == 2
    """
    keys = set()
    for i in range(2):
        class Key:
            def __init__(self, x):
                self.x = x

            if i == 0:
                def __eq__(self, other):
                    return isinstance(other, Key) and self.x == other.x

                def __hash__(self):
                    return hash(self.x)
        keys.add(Key(n))
    return len(keys)

class Outer:
    class Inner:
        def __init__(self, x):
            self.x = x

        def __eq__(self, other):
            return isinstance(other, Inner) and self.x == other.x

        def __hash__(self):
            return hash(self.x)

def nested(n: int) -> int:
    """
    post: _ == 2
    """
    return len({Outer.Inner("a"), Outer.Inner("b")})

def make():
    class Point:
        def __init__(self, x):
            self.x = x

        def __eq__(self, other):
            return isinstance(other, Point) and self.x == other.x

        def __hash__(self):
            return hash(self.x)
    return Point

def made(n: int) -> int:
    """
    post: _ == 2
    """
    A, B = make(), make()
    return len({A(n), B(n), A(n)})

#: check f = error Unsupported set on a class
class Key:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Key) and self.x == other.x

    def __hash__(self):
        return hash(self.x)

class Same:
    @property
    def x(self):
        return 7

def f(n: int) -> bool:
    """
    post: not _
    """
    keys, other = {Key("a")}, Key("b")
    Key.x = Same.x
    return other in keys

#: check methods = verified
#: check functions = verified
#: check classes = verified
#: check caught = verified
#: check yielded = verified
#: find imported UnboundLocalError = found
#: find imported NameError = found
import collections

class C:
    n = 0

    def m(self):
        return 1

class D(C):
    pass

class Error(Exception):
    pass

error = 5

def g():
    return 1

def bind():
    global g
    g = lambda: 2

def methods(n: int) -> tuple:
    """
    post: _ == (1, 2, 5, 2, 10, 10, 3)
    """
    c, d = C(), D()
    before = c.m()
    C.m = lambda self: 2
    d.m = lambda: 5
    C.n += 10
    c.n = 3
    return before, c.m(), d.m(), D().m(), C.n, D.n, c.n

def functions(n: int) -> tuple:
    """
    post: _ == (1, 2)
    """
    before = g()
    bind()
    return before, g()

def classes(n: int) -> tuple:
    """
    post: _ == (False, True, 1, False)
    """
    global C
    c, old = C(), C
    class C:
        pass
    return isinstance(c, C), isinstance(D(), old), c.m(), issubclass(D, C)

def caught(n: int) -> str:
    """
    post: _ == "gone"
    """
    global error
    try:
        raise Error
    except Error as error:
        pass
    try:
        return error
    except NameError:
        return "gone"

def values():
    global error
    try:
        raise Error
    except Error as error:
        yield 1
    yield 2

def yielded(n: int) -> str:
    """
    post: _ == "gone"
    """
    assert list(values()) == [1, 2]
    try:
        return error
    except NameError:
        return "gone"

def imported(n: int) -> int:
    if n > 0:
        return len(collections.Counter())
    import collections.abc
    return n

#: check f = error Unsupported annotation
#: find g Bad = error Bad more than once
#: check g = error Bad more than once
Num = int
Bad = ValueError
Bad = KeyError

def bind():
    global Num
    Num = str

bind()

def f(n: Num) -> bool:
    """
    post: _
    """
    return isinstance(n, int)

def g(n: int) -> int:
    """
    raises: Bad
    """
    if n > 3:
        raise Bad
    return n

#: check f = error may depend on
class C:
    pass

def f(n: int) -> bool:
    """
    pre: 1 <= n <= 5
    post: not _
    """
    global C
    C = n * 1000
    return n * 1000 is C

#: check method = error address
#: check member = error address
#: check own = error address
#: check based = error address
class A:
    def __repr__(self):
        return "none"

class B:
    def __repr__(self):
        return "none"
    del __repr__

def dataclass(c):
    return c

@dataclass
class C:
    pass

Enum = B

class D(Enum):
    pass

def method(n: int) -> bool:
    """
    pre: 0 <= n <= 3
    post: _
    """
    del A.__repr__
    return repr(A())[-3] != "x"

def member(n: int) -> bool:
    """
    pre: 0 <= n <= 3
    post: _
    """
    return repr(B())[-3] != "x"

def own(n: int) -> bool:
    """
    pre: 0 <= n <= 3
    post: _
    """
    return repr(C())[-3] != "x"

def based(n: int) -> bool:
    """
    pre: 0 <= n <= 3
    post: _
    """
    return repr(D())[-3] != "x"

#: check f = error may depend on
#: check g = error may depend on
class A:
    pass

def f(n: int) -> bool:
    """
    pre: 1 <= n <= 5
    post: not _
    """
    A = n * 1000
    return n * 1000 is A

def g(n: int) -> bool:
    """
    pre: 1 <= n <= 5
    post: not _
    """
    return (lambda A: n * 1000 is A)(n * 1000)

#: check own = error Unsupported
#: check plain = verified
from dataclasses import dataclass
from typing import ClassVar

class Optional:
    pass

@dataclass
class P:
    x: ClassVar = 3
    y: int = 4

def own(n: "Optional[int]") -> int:
    """
    post: _ == 1
    """
    return 1

def plain(n: int) -> bool:
    """
    post: _
    """
    return P(n) == P(n) and P.x == 3

#: check f = error Unsupported
from dataclasses import dataclass

ClassVar = int

@dataclass
class P:
    x: ClassVar = 3
    y: int = 4

def f(n: int) -> bool:
    """
    post: _
    """
    return P(7, 8) == P(7, 8)

#: check f = error Unsupported
#: check g = counterexample TypeError
from dataclasses import dataclass
from typing import ClassVar as Shared

@dataclass
class P:
    x: Shared[int] = 3
    y: int = 4

def f(n: int) -> bool:
    """
    post: _
    """
    return P(n).y == n

def g(n: int) -> bool:
    return P(7, 8) == P(7, 8)

#: check member = error Unsupported annotation
#: check field = error Unsupported annotation
#: check named = error Unsupported annotation
#: check new = error Unsupported annotation
class Enum:
    pass

class Colour(Enum):
    RED = 1

def dataclass(c):
    return c

@dataclass
class P:
    x: int = 1

class NamedTuple:
    pass

class Q(NamedTuple):
    x: int = 1

def NewType(name, of):
    return str

Id = NewType("Id", int)

def member(c: Colour) -> bool:
    """
    post: _
    """
    return isinstance(c, Colour)

def field(p: P) -> bool:
    """
    post: _
    """
    return p.x == 1

def named(q: Q) -> bool:
    """
    post: _
    """
    return isinstance(q, tuple)

def new(i: Id) -> bool:
    """
    post: _
    """
    return isinstance(i, int)
