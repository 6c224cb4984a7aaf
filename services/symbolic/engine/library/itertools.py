# The module itertools, as the engine runs it. Those that take items one by one are classes with __next__, so that an exception leaves them
# where they are; a call of such a class gives an iterator (iterate.c). Those that make tuples of their arguments at once give an iterator
# over a list.
nothing = []


def at_once(items):
    return iter(items)


class chain:
    def __init__(self, *iterables):
        one = len(iterables) == 2 and iterables[0] is nothing
        self._from, self._now = iter(iterables[1] if one else iterables), nothing

    @staticmethod
    def from_iterable(iterable, /):
        return chain(nothing, iterable)

    def __next__(self):
        while self._from is not nothing:
            if self._now is nothing:
                source = self._from
                self._from = nothing
                self._now = iter(next(source))
                self._from = source
            try:
                return next(self._now)
            except StopIteration:
                self._now = nothing
        raise StopIteration


class accumulate:
    def __init__(self, iterable, func=None, *, initial=None):
        self._items = iter(iterable)
        self._function = func
        self._total = nothing
        self._initial = initial

    def __next__(self):
        if self._initial is not None:
            self._total = self._initial
            self._initial = None
            return self._total
        item = next(self._items)
        if self._total is nothing:
            self._total = item
        elif self._function is None:
            self._total = self._total + item
        else:
            self._total = self._function(self._total, item)
        return self._total


class pairwise:
    def __init__(self, iterable, /):
        self._items, self._old = iter(iterable), nothing

    def __next__(self):
        items = self._items
        if items is nothing:
            raise StopIteration
        self._items = nothing
        old = next(items) if self._old is nothing else self._old
        self._old = next(items)
        self._items = items
        return old, self._old


class islice:
    def __init__(self, iterable, /, *bounds):
        if not 1 <= len(bounds) <= 3:
            raise TypeError
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else bounds
        for n in (start, stop, step):
            if n is not None and kind(n) not in ("int", "bool"):
                if isinstance(n, int):
                    refuse("islice() of a number that is a member of an Enum", "take its value")
                raise ValueError
        start = 0 if start is None else start
        step = 1 if step is None else step
        if start < 0 or start >= 2**63 or step < 1 or step >= 2**63 or (stop is not None and (stop < 0 or stop >= 2**63)):
            raise ValueError
        self._items = iter(iterable)
        self._next, self._stop, self._step, self._turn = start, stop, step, 0

    def __next__(self):
        items, stop = self._items, self._stop
        if items is nothing:
            raise StopIteration
        self._items = nothing
        while self._turn < self._next:
            next(items)
            self._turn += 1
        if stop is not None and self._turn >= stop:
            raise StopIteration
        item = next(items)
        self._items = items
        self._turn += 1
        self._next += self._step
        if stop is not None and self._next > stop:
            self._next = stop
        return item


class takewhile:
    def __init__(self, predicate, iterable, /):
        self._function, self._items = predicate, iter(iterable)

    def __next__(self):
        if self._items is nothing:
            raise StopIteration
        item = next(self._items)
        if self._function(item):
            return item
        self._items = nothing
        raise StopIteration


class dropwhile:
    def __init__(self, predicate, iterable, /):
        self._function, self._items, self._begun = predicate, iter(iterable), False

    def __next__(self):
        item = next(self._items)
        while not self._begun:
            if not self._function(item):
                self._begun = True
                return item
            item = next(self._items)
        return item


class filterfalse:
    def __init__(self, predicate, iterable, /):
        self._function, self._items = predicate, iter(iterable)

    def __next__(self):
        while True:
            item = next(self._items)
            if not (item if self._function is None else self._function(item)):
                return item


class starmap:
    def __init__(self, function, iterable, /):
        self._function, self._items = function, iter(iterable)

    def __next__(self):
        return self._function(*next(self._items))


class compress:
    def __init__(self, data, selectors):
        self._items, self._wanted = iter(data), iter(selectors)

    def __next__(self):
        while True:
            item = next(self._items)
            if next(self._wanted):
                return item


class count:
    def __init__(self, start=0, step=1):
        if kind(start) not in ("int", "bool") or kind(step) not in ("int", "bool"):
            refuse("itertools.count() of what are no ints", "use ints")
        self._now, self._step = start, step

    def __next__(self):
        item = self._now
        self._now = item + self._step
        return item


class repeat:
    def __init__(self, object, times=nothing):
        self._item, self._left = object, None
        if times is not nothing:
            times = as_index(times)
            self._left = 0 if times < 0 else times

    def __next__(self):
        if self._left is not None:
            if self._left == 0:
                raise StopIteration
            self._left -= 1
        return self._item


class cycle:
    def __init__(self, iterable, /):
        self._items, self._kept, self._at = iter(iterable), [], 0

    def __next__(self):
        if self._items is not nothing:
            try:
                item = next(self._items)
            except StopIteration:
                self._items = nothing
            else:
                self._kept.append(item)
                return item
        if not self._kept:
            raise StopIteration
        item = self._kept[self._at]
        self._at = (self._at + 1) % len(self._kept)
        return item


class zip_longest:
    def __init__(self, *iterables, fillvalue=None):
        self._from, self._fill, self._left = [iter(i) for i in iterables], fillvalue, len(iterables)

    def __next__(self):
        left = self._left
        if left == 0:
            raise StopIteration
        self._left = 0
        items = []
        for i in range(len(self._from)):
            item = self._fill
            if self._from[i] is not nothing:
                try:
                    item = next(self._from[i])
                except StopIteration:
                    left -= 1
                    self._from[i] = nothing
                    if left == 0:
                        raise
            items.append(item)
        self._left = left
        return tuple(items)


class groupby:
    def __init__(self, iterable, key=None):
        self._items, self._function = iter(iterable), key
        self._target = self._key = self._value = self._group = nothing

    def __next__(self):
        self._group = nothing
        while self._key is nothing or (self._target is not nothing and [self._target] == [self._key]):
            take(self)
        self._target = self._key
        self._group = [self._target]
        return self._key, grouper(self, self._target, self._group)


class grouper:
    def __init__(self, parent, target, group):
        self._parent, self._target, self._group = parent, target, group

    def __next__(self):
        parent = self._parent
        if parent._group is not self._group:
            raise StopIteration
        if parent._value is nothing:
            take(parent)
        if not [self._target] == [parent._key]:
            raise StopIteration
        item = parent._value
        parent._value = parent._key = nothing
        return item


def take(groups):
    value = next(groups._items)
    key = value if groups._function is None else groups._function(value)
    groups._value, groups._key = value, key


def size_of(r):
    r = as_index(r)
    if r < 0:
        raise ValueError
    for i in range(8):
        if r == i:
            return i
    refuse("more than 7 items of a combination", "use loops")


def product(*iterables, repeat=1):
    repeat = as_index(repeat)
    if repeat < 0:
        raise ValueError
    times = size_of(repeat)
    pools = [tuple(i) for i in iterables] if times else []
    made = [()]
    for _ in range(times):
        for pool in pools:
            made = [(*before, item) for before in made for item in pool]
    return at_once(made)


def chosen(pool, r, first, again):
    if r == 0:
        return [()]
    made = []
    for i in range(first, len(pool)):
        made = made + [(pool[i], *rest) for rest in chosen(pool, r - 1, i if again else i + 1, again)]
    return made


def combinations(iterable, r):
    pool = tuple(iterable)
    return at_once(chosen(pool, size_of(r), 0, False))


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    return at_once(chosen(pool, size_of(r), 0, True))


def arranged(pool, r, used):
    if r == 0:
        return [()]
    made = []
    for i in range(len(pool)):
        if i not in used:
            made = made + [(pool[i], *rest) for rest in arranged(pool, r - 1, used + [i])]
    return made


def permutations(iterable, r=None):
    pool = tuple(iterable)
    if r is None:
        return at_once(arranged(pool, len(pool), []))
    return at_once(arranged(pool, size_of(r), []))
