#: check f = counterexample IndexError
def f(xs: list[int]) -> int:
    return xs[0]

#: check f = verified
def f(xs: list[int]) -> int:
    if len(xs) == 0:
        return 0
    return xs[0]

#: check f = verified
def f(xs: list[int]) -> int:
    """
    pre: len(xs) > 0
    """
    return xs[-1]

#: check f = counterexample IndexError
def f(xs: list[int], i: int) -> int:
    if i < len(xs):
        return xs[i]
    return 0

#: check f = verified
def f(xs: list[int], i: int) -> int:
    if 0 <= i < len(xs):
        return xs[i]
    return 0

#: check f = verified
def f(xs: list[int], v: int) -> int:
    """
    post: _ == v
    """
    xs.append(v)
    return xs[-1]

#: check f = verified
def f(xs: list[int], v: int) -> int:
    """
    post: _ == len(__old__.xs) + 1
    """
    xs.append(v)
    return len(xs)

#: check f = verified
def f(xs: list[int]) -> int:
    """
    pre: len(xs) <= 3
    post: all(_ >= x for x in xs)
    """
    best = 0
    for x in xs:
        if x > best:
            best = x
    return best

#: check f = counterexample
def f(xs: list[int]) -> int:
    """
    post: _ != 17
    """
    return sum(xs)

#: check f = verified
def f(xs: list[int]) -> list[int]:
    """
    pre: len(xs) <= 3
    post: all(_[i] <= _[i + 1] for i in range(len(_) - 1))
    """
    return sorted(xs)

#: check f = verified
def f(xs: list[int]) -> int:
    """
    pre: len(xs) == 3
    post: _ == sorted(xs)[2]
    """
    return max(xs)

#: check f = counterexample ValueError
def f(xs: list[int]) -> int:
    return max(xs)

#: check f = verified
def f(xs: list[int]) -> int:
    """
    pre: len(xs) <= 3
    """
    return max(xs, default=0)

#: check f = verified
def f(a: int, b: int) -> tuple:
    """
    post: _ == (b, a)
    """
    a, b = b, a
    return a, b

#: check f = counterexample ValueError
def f(t: tuple[int, int]) -> int:
    a, b, c = t
    return a

#: check f = verified
def f(t: tuple[int, int]) -> int:
    """
    post: _ == t[0] + t[1]
    """
    a, b = t
    return a + b

#: check f = verified
def f(t: tuple[int, bool]) -> int:
    first, *rest = t
    return first if rest[0] else 0

#: check f = counterexample
def f(t: tuple[int, ...]) -> int:
    """
    post: _ < 2
    """
    return len(t)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == x + 2
    """
    d = {"a": x, "b": 2}
    return d["a"] + d["b"]

#: check f = counterexample KeyError
def f(x: int) -> int:
    d = {1: 10, 2: 20}
    return d[x]

#: check f = verified
def f(x: int) -> int:
    """
    post: _ in (10, 20, -1)
    """
    d = {1: 10, 2: 20}
    return d.get(x, -1)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == (1 if x == 5 else 2)
    """
    d = {5: 0}
    d[x] = 1
    return len(d)

#: check f = verified
def f(x: int, y: int) -> int:
    """
    post: _ == (1 if x == y else 2)
    """
    return len({x, y})

#: check f = counterexample KeyError
def f(d: dict[str, int]) -> int:
    return d["key"]

#: check f = counterexample
def f(d: dict[int, int]) -> int:
    """
    post: _ == 0
    """
    return sum(d.values())

#: check f = verified
def f(d: dict[int, int]) -> int:
    """
    pre: len(d) <= 2
    post: _ == len(d)
    """
    n = 0
    for k, v in d.items():
        n += 1
    return n

#: check f = counterexample
def f(s: set[int]) -> bool:
    """
    post: not _
    """
    return 7 in s

#: check f = verified
def f(x: int) -> bool:
    """
    post: _
    """
    s = {1, 2, 3} | {x}
    return x in s and s >= {1, 2, 3}

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [x, x + 1, x + 2]
    """
    return [x + i for i in range(3)]

#: check f = verified
def f(x: int) -> dict:
    """
    post: _ == {0: x, 1: x + 1}
    """
    return {i: x + i for i in range(2)}

#: check f = verified
def f(a: int, b: int, c: int) -> list:
    """
    post: len(_) <= 3
    post: all(x > 0 for x in _)
    """
    return [x for x in [a, b, c] if x > 0]

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [2, 3]
    """
    xs = [1, 2, 3, 4]
    return xs[1:3]

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [4, 2]
    """
    return [1, 2, 3, 4][::-2]

#: check f = verified
def f(i: int) -> int:
    """
    post: _ <= 3
    """
    return len([1, 2, 3][i:])

#: check f = counterexample IndexError
def f(x: int) -> int:
    xs = [1, 2]
    xs.pop()
    if x > 0:
        xs.pop()
    return xs.pop()

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [x, 1, 9, 2]
    """
    xs = [1, 2]
    xs.insert(0, x)
    xs.insert(2, 9)
    return xs

#: check f = counterexample ValueError
def f(x: int) -> list:
    xs = [1, 2, 3]
    xs.remove(x)
    return xs

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [3, 2, 1, x, x]
    """
    xs = [1, 2, 3]
    xs.reverse()
    xs.extend([x] * 2)
    return xs

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == (1 if x == 1 else 0) + 2
    """
    return [x, 1, 1].count(1)

#: check f = verified
def f(x: int) -> bool:
    """
    post: _ == (x == 1 or x == 2)
    """
    return x in [1, 2]

#: check f = verified
def f(xs: list[int]) -> bool:
    """
    post: _
    """
    ys = xs
    return ys is xs and ys == xs

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [[1, 2], [1, 2]]
    """
    a = [1]
    b = [a, a]
    a.append(2)
    return b

#: check f = counterexample
def f(grid: list[list[int]]) -> int:
    """
    post: _ != 3
    """
    return sum(len(row) for row in grid)

#: check f = verified
def f(x: int) -> bool:
    """
    post: _
    """
    return (1, x) < (2, 0) and [x] < [x, 1] and not (x, 1) < (x, 1)

#: check f = counterexample TypeError
def f(x: int) -> int:
    return x[0]

#: check f = counterexample TypeError
def f(x: int) -> set:
    return {[x]}

#: check f = error Unsupported set
def f(x: int) -> int:
    r = 0
    for y in {x, x + 1}:
        r = r * 2 + y
    return r

#: check f = verified
def f(x: int) -> tuple:
    """
    post: _ == ([1, 3], [2])
    """
    return list(filter(lambda v: v % 2, [1, 2, 3])), [v for v in map(lambda v: v + 0, [1, 2, 3]) if v == 2]

#: check f = verified
def f(a: int, b: int, c: int) -> list:
    """
    post: _[0] >= _[1] >= _[2]
    """
    xs = [a, b, c]
    xs.sort(reverse=True)
    return xs

#: check f = verified
def f(a: int, b: int) -> list:
    """
    post: abs(_[0]) <= abs(_[1])
    """
    return sorted([a, b], key=abs)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 3
    """
    d = {"a": 1}
    d.setdefault("b", 2)
    d.update({"a": 5})
    del d["a"]
    d["c"] = 3
    return len(d) + d.pop("b") - 1

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == ["a", "b"]
    """
    return [k for k in {"a": 1, "b": x}]

#: check f = verified
def f(xs: list[int], i: int, v: int) -> int:
    """
    pre: 0 <= i < len(xs)
    post: _ == v
    """
    xs[i] = v
    return xs[i]

#: check f = counterexample
def f(xs: list[int], i: int, j: int) -> int:
    """
    pre: 0 <= i < len(xs) and 0 <= j < len(xs)
    post: _ == __old__.xs[j]
    """
    xs[i] = 5
    return xs[j]

#: check f = verified
def f(xs: list[bool]) -> bool:
    """
    pre: len(xs) == 2
    post: _ == (xs[0] and xs[1])
    """
    return all(xs)

#: check f = verified
def f(x: int) -> bool:
    """
    post: _ == (x > 3)
    """
    return any(x > y for y in [3, 4, 5])

#: check f = verified
def f(hours: dict[str, int]) -> int:
    """
    pre: len(hours) <= 3 and all(n >= 0 for n in hours.values())
    post: _ >= 0
    """
    return sum(hours.values())

#: check f = counterexample
from collections import Counter

def f(n: int) -> bool:
    """
    post: _
    """
    try:
        return len({1: n}.keys() - Counter()) == 5
    except TypeError:
        return True

#: check f = counterexample
from itertools import islice

def f(n: int) -> bool:
    """
    post: _
    """
    try:
        return len(islice([1, 2], 2) & {1: n}.keys()) == 5
    except TypeError:
        return True

#: check f = counterexample
class A:
    pass

def f(n: int) -> bool:
    """
    post: _
    """
    try:
        return (None | A) is None
    except TypeError:
        return True

#: check dicts = counterexample
#: check nested = counterexample
#: check second = counterexample
#: check ranges = counterexample
#: check objects = counterexample
#: check ordered = counterexample
#: check smallest = counterexample
#: check in_order = counterexample
#: check tuples = verified
from dataclasses import dataclass

@dataclass
class Plain:
    size: int

@dataclass(order=True)
class Ordered:
    sizes: dict

def dicts(n: int) -> bool:
    """
    raises: TypeError
    post: False
    """
    return [{1: n}] < [{1: 1}]

def nested(n: int) -> bool:
    """
    raises: TypeError
    post: False
    """
    return [[{1: n}]] >= [[{1: 1}]]

def second(n: int) -> bool:
    """
    pre: n > 0
    raises: TypeError
    post: False
    """
    return (n, {1: n}) < (1, {1: 1})

def ranges(n: int) -> bool:
    """
    raises: TypeError
    post: False
    """
    return [range(n)] > [range(2)]

def objects(n: int) -> bool:
    """
    raises: TypeError
    post: False
    """
    return [Plain(n)] <= [Plain(1)]

def ordered(n: int) -> bool:
    """
    raises: TypeError
    post: False
    """
    return Ordered({1: n}) < Ordered({1: 2})

def smallest(n: int) -> int:
    """
    raises: TypeError
    post: False
    """
    return min([({1: n}, 2), ({1: 1}, 3)])[1]

def in_order(n: int) -> int:
    """
    raises: TypeError
    post: False
    """
    return sorted([({1: n}, 2), ({1: 1}, 3)])[0][1]

def tuples(a: int, b: int, c: int) -> bool:
    """
    post: _ == (a < b or (a == b and c < 7))
    """
    return ((a, "x"), c) < ((b, "x"), 7)
