# Iterators look at what they iterate over when they are asked, not when they are made.

#: check turned = counterexample
#: branches turned = complete 2:TF 7:TF cc 4
def turned(xs: list[int]) -> bool:
    if not 2 <= len(xs) <= 3:
        return True
    old = list(xs)
    for i, v in enumerate(reversed(xs)):
        xs[i] = v
    if xs == old[::-1]:
        return True
    assert False

#: check turned_three = verified
#: compare turned_three copied_three = different
def turned_three(a: int, b: int, c: int):
    """
    post: _ == [c, b, c]
    """
    xs = [a, b, c]
    for i, v in enumerate(reversed(xs)):
        xs[i] = v
    return xs
def copied_three(a: int, b: int, c: int):
    xs = [a, b, c]
    for i, v in enumerate(list(reversed(xs))):
        xs[i] = v
    return xs

#: check popping = verified
#: find popping IndexError = unreachable
def popping(a: int, b: int, c: int):
    """
    post: _ == ([c], [a])
    """
    xs, seen = [a, b, c], []
    for v in reversed(xs):
        seen.append(v)
        xs.pop()
        if len(seen) == 1:
            xs.pop()
    return seen, xs

#: check shrunk = verified
#: branches shrunk = complete 7:TF cc 2
def shrunk(n: int):
    """
    post: _ == (3 if n > 0 else None)
    """
    xs = [1, 2, 3]
    it = reversed(xs)
    if n > 0:
        return next(it)
    xs.clear()
    return next(it, None)

#: check ended_for_good = verified
def ended_for_good(a: int):
    """
    post: _ == [a, None, None]
    """
    xs = [a]
    it = reversed(xs)
    seen = [next(it, None), next(it, None)]
    xs.append(1)
    seen.append(next(it, None))
    return seen

#: check appended = verified
def appended(xs: list[int]):
    """
    pre: len(xs) <= 4
    post: _ == __old__.xs[::-1]
    """
    it = reversed(xs)
    xs.append(7)
    return list(it)

#: check doubled = verified
#: compare doubled doubled_by_slice = equivalent
def doubled(xs: list[int]):
    """
    pre: len(xs) <= 4
    post: _ == __old__.xs + __old__.xs[::-1]
    """
    xs.extend(reversed(xs))
    return xs
def doubled_by_slice(xs: list[int]):
    return xs + xs[::-1]

#: check written = counterexample
#: find written ValueError = found
def written(xs: list[int]):
    """
    pre: len(xs) == 2
    """
    it = reversed(xs)
    xs[1] = 5
    if next(it) == 5:
        raise ValueError("seen")

#: check by_iter = verified
#: branches by_iter = complete 7:TF cc 2
def by_iter(a: int, b: int):
    """
    post: _ == [a, 9] or _ == [a, b, 9]
    """
    xs = [a, b]
    it = iter(xs)
    if a > b:
        xs.pop()
    xs.append(9)
    return list(it)

#: check by_zip = verified
def by_zip(a: int, b: int):
    """
    post: _ == [(a, 5), (b, 6)]
    """
    xs = [a, b]
    seen = []
    ys = [1, 2]
    both = zip(xs, ys)
    ys[0] = 5
    for x, y in both:
        seen.append((x, y))
        ys[1] = 6
    return seen

#: check by_map = verified
def by_map(a: int):
    """
    post: _ == [2 * a, 6]
    """
    xs = [a, 1]
    seen = map(lambda x: 2 * x, xs)
    xs[1] = 3
    return list(seen)

#: check by_generator = verified
def by_generator(a: int):
    """
    post: _ == [a, 4]
    """
    xs = [a]
    seen = (x for x in xs)
    xs.append(4)
    return list(seen)

#: check greatest_pops = verified
def greatest_pops(a: int):
    """
    post: _ == ([a, 2], a)
    """
    xs = [a, 2, 3, 4]
    best = max(xs, key=lambda x: -len([xs.pop()]))
    return xs, best

#: check greatest_raises_first = verified
#: find greatest_raises_first ValueError = unreachable
def greatest_raises_first(n: int):
    """
    raises: TypeError
    """
    def make(i: int):
        if i == 2:
            raise ValueError(i)
        return i if i == 0 else "text"
    return max(make(i) for i in range(3))

#: check rest_is_left = verified
def rest_is_left(n: int):
    """
    post: _ == [n]
    """
    it = iter([0, "text", n])
    try:
        sum(it)
    except TypeError:
        pass
    return list(it)

#: check sorted_while_empty = verified
def sorted_while_empty(a: int, b: int):
    """
    post: _ == [min(a, b), max(a, b)]
    """
    xs = [a, b]
    xs.sort(key=lambda x: -x if xs else x)
    return xs

#: check sort_that_changes = error changes
def sort_that_changes(a: int, b: int):
    xs = [a, b]
    try:
        xs.sort(key=lambda x: xs.append(x) or x)
    except ValueError:
        pass
    return xs

#: check update_looks = verified
def update_looks(a: int):
    """
    post: _ == {a}
    """
    seen = set()
    seen.update(x for x in [a, a] if x not in seen)
    return seen

#: check update_counts = verified
def update_counts(a: int):
    """
    post: _ == {1: 0, 2: 1, 3: 2}
    """
    d = {}
    d.update((k, len(d)) for k in [1, 2, 3])
    return d

#: check update_raises = verified
def update_raises(a: int):
    """
    post: _ == {a: 1}
    """
    d = {}
    try:
        d.update([(a, 1), (1, 2, 3)])
    except ValueError:
        pass
    return d

#: check stops_early = verified
def stops_early(n: int):
    """
    post: _ == (False, [n], False, [n])
    """
    a, b = iter([1, n]), iter([5, n])
    return {1}.isdisjoint(a), list(a), {1}.issuperset(b), list(b)

#: check view_is_live = verified
def view_is_live(a: int):
    """
    post: _ == ([1, a], 2, True)
    """
    d = {1: 1}
    values, keys = d.values(), d.keys()
    d[2] = a
    return list(values), len(keys), 2 in keys

#: check grows_by_itself = verified
def grows_by_itself(n: int):
    """
    raises: RuntimeError
    """
    d = {1: 1}
    d.update((k + 1, v) for k, v in d.items())

#: check merged_in_place = counterexample
def merged_in_place(n: int):
    d = {n: 1}
    d |= [(n, 2)]
    assert d == {n: 1}

#: check f = error a list that changes while its items are compared
class Clears:
    def __init__(self, xs: list):
        self.xs = xs

    def __eq__(self, other):
        self.xs.clear()
        return True

def f(n: int) -> list:
    xs = [n]
    xs.append(Clears(xs))
    xs.remove(None)
    return xs

#: check f = error a list that changes while its items are compared
class Grows:
    def __init__(self, xs: list, n: int):
        self.xs = xs
        self.n = n

    def __eq__(self, other):
        if self.n > 0:
            self.xs.append(5)
        else:
            self.xs.pop()
        return False

def f(n: int) -> int:
    """
    post: _ >= 0
    """
    xs = []
    xs.append(Grows(xs, n))
    xs.append(Grows(xs, n))
    return xs.count(9) + (9 in xs) + (xs == [1, 2])

#: check f = counterexample ValueError: list modified during sort
def f(n: int) -> list:
    """
    post: len(_) == 3
    """
    xs = [3, 1, 2]
    def key(v: int) -> int:
        if n > 0:
            xs.append(v)
        return v
    xs.sort(key=key)
    return xs

#: check f = error a list that changes while its items are compared or written
class Shown:
    def __init__(self, xs: list):
        self.xs = xs

    def __repr__(self):
        self.xs.clear()
        return "?"

def f(n: int) -> str:
    """
    post: len(_) > 1
    """
    xs = [n]
    xs.append(Shown(xs))
    xs.append(n)
    return repr(xs)

#: check f = verified
class Counts:
    def __init__(self, xs: list, k: int):
        self.xs = xs
        self.k = k

    def __eq__(self, other):
        self.xs.append(self.k)
        return self.k == other

def f(n: int) -> tuple:
    """
    post: _ == ("both", 4) if n == 2 else _ == ("neither", 3)
    """
    xs = []
    xs.append(Counts(xs, n))
    xs.append(Counts(xs, 1))
    match xs:
        case [2, 1]:
            return "both", len(xs)
    return "neither", len(xs)
