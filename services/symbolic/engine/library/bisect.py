# The module bisect, as the engine runs it.


def places(a, lo, hi):
    if kind(a) not in ("list", "tuple", "str", "range"):
        refuse("bisect of what is no list", "give a list")
    lo = as_index(lo)
    hi = -1 if hi is None else as_index(hi)
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi == -1 else hi


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    settle(a)
    lo, hi = places(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        if x < (a[mid] if key is None else key(a[mid])):
            hi = mid
        else:
            lo = mid + 1
    return lo


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    settle(a)
    lo, hi = places(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        if (a[mid] if key is None else key(a[mid])) < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def insort_right(a, x, lo=0, hi=None, *, key=None):
    place = bisect_right(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(place, x)


def insort_left(a, x, lo=0, hi=None, *, key=None):
    place = bisect_left(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(place, x)


bisect = bisect_right
insort = insort_right
