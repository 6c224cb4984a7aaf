# The module collections, as the engine runs it. A class with the base `dict` is made of dicts of the engine; what it does not define
# is what a dict does, and defaultdict's missing keys are those of item_get().


class Counter(dict):
    def __init__(self, iterable=None, /, **kwds):
        self.update(iterable, **kwds)

    def update(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, dict):
                if len(self) == 0:
                    dict_update(self, iterable)
                else:
                    for elem, count in iterable.items():
                        self[elem] = count + self.get(elem, 0)
            else:
                for elem in iterable:
                    self[elem] = self.get(elem, 0) + 1
        if kwds:
            self.update(kwds)

    def subtract(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, dict):
                for elem, count in iterable.items():
                    self[elem] = self.get(elem, 0) - count
            else:
                for elem in iterable:
                    self[elem] = self.get(elem, 0) - 1
        if kwds:
            self.subtract(kwds)

    def most_common(self, n=None):
        if n is None:
            return sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        if not isinstance(n, int):
            refuse("most_common() of a number that is no int", "use an int")
        if n <= 0:
            return []
        return sorted(self.items(), key=lambda pair: pair[1], reverse=True)[:n]

    def elements(self):
        return repeated(iter(self.items()))  # which notices from now on when keys are added

    def total(self):
        return sum(self.values())

    def copy(self):
        return Counter(self)

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def __delitem__(self, elem):
        if elem in self:
            self.pop(elem)

    def __eq__(self, other):
        return all([self[elem] == other[elem] for elem in self] + [self[elem] == other[elem] for elem in other])

    def __le__(self, other):
        for elem in self:
            if not self[elem] <= other[elem]:
                return False
        for elem in other:
            if not self[elem] <= other[elem]:
                return False
        return True

    def __lt__(self, other):
        return self <= other and self != other

    def __ge__(self, other):
        for elem in self:
            if not self[elem] >= other[elem]:
                return False
        for elem in other:
            if not self[elem] >= other[elem]:
                return False
        return True

    def __gt__(self, other):
        return self >= other and self != other

    def __add__(self, other):
        result = Counter()
        for elem, count in self.items():
            newcount = count + other[elem]
            if newcount > 0:
                result[elem] = newcount
        for elem, count in other.items():
            if elem not in self and count > 0:
                result[elem] = count
        return result

    def __sub__(self, other):
        result = Counter()
        for elem, count in self.items():
            newcount = count - other[elem]
            if newcount > 0:
                result[elem] = newcount
        for elem, count in other.items():
            if elem not in self and count < 0:
                result[elem] = 0 - count
        return result

    def __or__(self, other):
        result = Counter()
        for elem, count in self.items():
            theirs = other[elem]
            newcount = theirs if count < theirs else count
            if newcount > 0:
                result[elem] = newcount
        for elem, count in other.items():
            if elem not in self and count > 0:
                result[elem] = count
        return result

    def __and__(self, other):
        result = Counter()
        for elem, count in self.items():
            theirs = other[elem]
            newcount = count if count < theirs else theirs
            if newcount > 0:
                result[elem] = newcount
        return result

    def __pos__(self):
        result = Counter()
        for elem, count in self.items():
            if count > 0:
                result[elem] = count
        return result

    def __neg__(self):
        result = Counter()
        for elem, count in self.items():
            if count < 0:
                result[elem] = 0 - count
        return result

    def __iadd__(self, other):
        for elem, count in other.items():
            self[elem] += count
        return keep_positive(self)

    def __isub__(self, other):
        for elem, count in other.items():
            self[elem] -= count
        return keep_positive(self)

    def __ior__(self, other):
        for elem, theirs in other.items():
            count = self[elem]
            if theirs > count:
                self[elem] = theirs
        return keep_positive(self)

    def __iand__(self, other):
        for elem, count in self.items():
            theirs = other[elem]
            if theirs < count:
                self[elem] = theirs
        return keep_positive(self)

    def __repr__(self):
        if not self:
            return "Counter()"
        try:
            shown = dict(self.most_common())
        except TypeError:
            shown = dict(self)
        return "Counter(" + repr(shown) + ")"


def repeated(items):
    for elem, count in items:
        left = as_index(count)
        while left > 0:
            yield elem
            left -= 1


def keep_positive(counter):
    gone = [elem for elem, count in counter.items() if not count > 0]
    for elem in gone:
        counter.pop(elem)
    return counter


class defaultdict(dict):
    def __init__(self, default_factory=None, /, *args, **kwds):
        set_factory(self, default_factory)
        dict_update(self, *args, **kwds)

    def copy(self):
        return defaultdict(self.default_factory, self)

    @classmethod
    def fromkeys(cls, iterable, value=None, /):
        return defaultdict(None, dict.fromkeys(iterable, value))

    def __repr__(self):
        return "defaultdict(" + factory_words(self) + ", " + repr(dict(self)) + ")"


class OrderedDict(dict):
    def __init__(self, *args, **kwds):
        dict_update(self, *args, **kwds)

    def copy(self):
        return OrderedDict(self)

    @classmethod
    def fromkeys(cls, iterable, value=None):
        return OrderedDict(dict.fromkeys(iterable, value))

    def popitem(self, last=True):
        keys = list(self)
        if not keys:
            raise KeyError("dictionary is empty")
        key = keys[-1] if last else keys[0]
        return key, self.pop(key)

    def move_to_end(self, key, last=True):
        if key not in self:
            raise KeyError(key)
        own = [k for k in self if k == key][0]
        moved = self.pop(own)
        if last:
            self[own] = moved
            return
        rest = list(self.items())
        self.clear()
        self[own] = moved
        for k, v in rest:
            self[k] = v

    def __eq__(self, other):
        return list(self.items()) == list(other.items())

    def __repr__(self):
        refuse("the text of an OrderedDict, which differs between versions of Python", "make a dict of it")


class deque(list):
    def __init__(self, iterable=(), maxlen=None):
        set_maxlen(self, maxlen)
        self.extend(iterable)

    def __repr__(self):
        limit = "" if self.maxlen is None else ", maxlen=" + repr(self.maxlen)
        return "deque(" + repr(list(self)) + limit + ")"
