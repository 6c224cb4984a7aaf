# compare: what counts as the same result. Nothing is different from itself; what cannot be compared is reported as such.

#: compare plain plain = equivalent
#: compare plain other = different
#: check plain = verified
#: find plain AttributeError = unreachable
#: branches plain = complete 7:TF cc 2
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y
def plain(n: int):
    p = Point(n, 1)
    if n > 5:
        p.y = 2
    return p
def other(n: int):
    return Point(n, 1)

#: compare given_in_turn given_in_order = equivalent
class Box:
    pass
def given_in_turn(n: int):
    b = Box()
    b.x = n
    b.y = 1
    return b
def given_in_order(n: int):
    b = Box()
    b.y = 1
    b.x = n
    return b

#: compare one another = different
class A:
    pass
class B:
    pass
def one(n: int):
    return A()
def another(n: int):
    return B() if n == 77 else A()

#: compare local local = equivalent
#: compare local local_again = different
def local(n: int):
    class C:
        pass
    c = C()
    c.n = n
    return c
def local_again(n: int):
    class C:
        pass
    c = C()
    c.n = n
    return c

#: compare chained chained = equivalent
#: compare chained longer = different
class Node:
    def __init__(self, value, next):
        self.value = value
        self.next = next
def chained(n: int):
    return Node(n, Node(n + 1, None))
def longer(n: int):
    return Node(n, Node(n + 1, Node(1, None))) if n == 9 else Node(n, Node(n + 1, None))

#: compare around around = equivalent
class Ring:
    pass
def around(n: int):
    r = Ring()
    r.self, r.n = r, n
    return r

#: compare lazily lazily = equivalent
#: compare lazily mapped = equivalent
#: compare lazily shorter = different
def lazily(n: int):
    return (i + n for i in [1, 2, 3])
def mapped(n: int):
    return map(lambda i: i + n, (1, 2, 3))
def shorter(n: int):
    return (i + n for i in [1, 2, 3] if n != 12 or i < 3)

#: compare raises_late raises_late = equivalent
#: compare raises_late raises_other = different
def raises_late(n: int):
    return (1 // (n - i) for i in range(3))
def raises_other(n: int):
    return (1 // (n - i) if i != n else [][0] for i in range(3))

#: compare zipped zipped = equivalent
#: compare reversing reversing = equivalent
#: compare enumerated enumerated = equivalent
#: compare filtered filtered = equivalent
def zipped(xs: list[int]):
    """
    pre: len(xs) <= 2
    """
    return zip(xs, xs)
def reversing(xs: list[int]):
    """
    pre: len(xs) <= 2
    """
    return reversed(xs)
def enumerated(n: int):
    return enumerate([n, 2])
def filtered(n: int):
    return filter(None, [n, 2])

#: compare listed iterated = different
def listed(n: int):
    return [n]
def iterated(n: int):
    return iter([n])

#: compare closure closure = equivalent
#: compare closure closure_again = error not comparable
#: compare closure by_default = error not comparable
def closure(n: int):
    return lambda x: x + n
def closure_again(n: int):
    return lambda x: n + x
def by_default(n: int):
    return lambda x, n=n: x + n

#: compare inner inner = equivalent
def inner(n: int):
    def g(x, *, y=1):
        return g(x - 1) if x > n else y
    return g

#: compare maybe_closure maybe_closure = equivalent
#: compare maybe_closure as_number = different
def maybe_closure(n: int):
    return (lambda: n) if n > 0 else n
def as_number(n: int):
    return n

#: compare shared shared = equivalent
def helper(x):
    return x
def shared(n: int):
    return helper, len, int, Exception

#: compare bound bound = equivalent
#: compare bound bound_to_other = error not comparable
class Counter:
    def __init__(self, n):
        self.n = n
    def get(self):
        return self.n
def bound(n: int):
    return Counter(n).get
def bound_to_other(n: int):
    return Counter(n + 1).get

#: compare an_exception an_exception = equivalent
#: compare an_exception another_exception = different
#: compare an_exception other_message = different
def an_exception(n: int):
    return ValueError("bad", n)
def another_exception(n: int):
    return KeyError("bad", n) if n == 5 else ValueError("bad", n)
def other_message(n: int):
    return ValueError("bad", n + (n == 8))

#: compare caught caught = error not comparable
def caught(n: int):
    try:
        return 1 // n
    except ZeroDivisionError as e:
        return e

#: compare own_error own_error = equivalent
#: compare own_error own_error_twice = different
class Bad(Exception):
    def __init__(self, code):
        self.code = code
def own_error(n: int):
    return Bad(n)
def own_error_twice(n: int):
    return Bad(n if n != 3 else 4)

#: compare raises_local raises_local = equivalent
def raises_local(n: int):
    class Stop(Exception):
        pass
    if n > 3:
        raise Stop(n)
    return n

#: compare of_objects of_objects = equivalent
#: compare of_objects of_other_objects = different
class Item:
    def __init__(self, n):
        self.n = n
def of_objects(n: int):
    return [Item(n)], {"a": Item(1)}, (Item(2), (i for i in [n]))
def of_other_objects(n: int):
    return [Item(n)], {"a": Item(1 if n != 6 else 2)}, (Item(2), (i for i in [n]))

#: compare a_set a_set = equivalent
#: compare two_in_a_set two_in_a_set = equivalent
#: compare two_in_a_set turned_in_a_set = error not comparable
class Thing:
    def __init__(self, n):
        self.n = n
def a_set(n: int):
    return {Thing(n), 1}
def two_in_a_set(n: int):
    return {Thing(n), Thing(1)}
def turned_in_a_set(n: int):
    return {Thing(1), Thing(n)}

#: compare a_range a_range = equivalent
#: compare a_range same_range = equivalent
#: compare a_range next_range = different
def a_range(n: int):
    return range(0, n, 2)
def same_range(n: int):
    return range(0, n + n % 2, 2)
def next_range(n: int):
    return range(0, n + 1, 2)

#: compare views views = equivalent
#: compare views other_views = different
def views(n: int):
    d = {1: n, 2: 3}
    return d.keys(), d.values(), d.items()
def other_views(n: int):
    d = {1: n, 2: 3 if n != 4 else 5}
    return d.keys(), d.values(), d.items()

#: compare record record = equivalent
#: compare record turned_record = equivalent
from dataclasses import dataclass
@dataclass
class Pair:
    a: float
    b: list
def record(x: float):
    return Pair(x, [x])
def turned_record(x: float):
    p = Pair(0.0, [])
    p.b = [x]
    p.a = x
    return p

# NaN is the same as NaN, at the top and inside of what is returned.

#: compare nan_alone nan_alone = equivalent
#: compare nan_in_list nan_in_list = equivalent
#: compare nan_in_dict nan_in_dict = equivalent
#: compare nan_in_tuple nan_from_zero = equivalent
#: compare nan_in_object nan_in_object = equivalent
#: compare nan_in_iterator nan_in_iterator = equivalent
#: compare nan_in_list nan_in_tuple = different
class Holder:
    def __init__(self, x):
        self.x = x
def nan_alone(x: float):
    return x - x
def nan_in_list(x: float):
    return [x - x, 1]
def nan_in_dict(x: float):
    return {"x": [x - x]}
def nan_in_tuple(x: float):
    return (x - x, 1)
def nan_from_zero(x: float):
    return (0.0 if x - x == 0.0 else float("nan"), 1)
def nan_in_object(x: float):
    return Holder(x - x)
def nan_in_iterator(x: float):
    return iter([x - x])

#: compare floats floats = equivalent
#: compare floats added = different
def floats(xs: list[float]):
    return xs
def added(xs: list[float]):
    return [x + 1.0 for x in xs]

#: compare kept kept = equivalent
#: compare kept kept_in_part = different
def kept(s: tuple[float, float], d: dict[str, float]):
    """
    pre: len(d) <= 2
    """
    return s, d
def kept_in_part(s: tuple[float, float], d: dict[str, float]):
    """
    pre: len(d) <= 2
    """
    return s, {k: v for k, v in d.items() if k != "x"}

#: check joined_floats = counterexample
def joined_floats(x: float, p: bool):
    """
    post: _
    """
    a, b = x + 1.0, x + 1.0
    c = a if p else b
    return [c] == [a]

#: compare never_equal never_equal = error
class Never:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return False
def never_equal(n: int):
    return Never(n)

#: compare counts_globally counts_globally = error global
#: compare counts_globally counts_more = different
#: compare counts_not counts_beside = equivalent
SEEN = []
def counts_globally(n: int):
    return (SEEN.append(i) or len(SEEN) for i in [1, 2])
def counts_more(n: int):
    return (SEEN.append(i) or len(SEEN) + 1 for i in [1, 2])
def counts_not(n: int):
    return n
def counts_beside(n: int):
    SEEN.append(n)
    return n

#: compare keeps_all keeps_all = error outlives
#: compare keeps_all keeps_last = error outlives
ALL = []
def keeps_all(n: int):
    ALL.append(n)
    return ALL
def keeps_last(n: int):
    ALL.clear()
    ALL.append(n)
    return ALL

# Each of two functions has a class E: a caller can name neither.
#: compare raises_its_own raises_its_own = equivalent
#: compare raises_its_own raises_its_own_again = error not comparable
#: compare raises_its_own raises_another = different
def raises_its_own(n: int):
    class E(ValueError):
        pass
    if n > 7:
        raise E(n)
    return n
def raises_its_own_again(n: int):
    class E(ValueError):
        pass
    if n > 7:
        raise E(n)
    return n
def raises_another(n: int):
    class F(ValueError):
        pass
    if n > 7:
        raise F(n)
    return n

#: compare yields_its_own yields_its_own = equivalent
#: compare yields_its_own yields_its_own_again = error not comparable
def yields_its_own(n: int):
    class E(Exception):
        pass
    yield n
    raise E(n)
def yields_its_own_again(n: int):
    class E(Exception):
        pass
    yield n
    raise E(n)
