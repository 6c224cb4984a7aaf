#: check f = verified
from collections import Counter

def f(a: list[int], b: list[int]) -> bool:
    """
    pre: len(a) <= 2 and len(b) <= 2
    post: _ == (sorted(a) == sorted(b))
    """
    return Counter(a) == Counter(b)

#: check f = counterexample IndexError
import collections

def f(xs: list[int]) -> int:
    """
    pre: len(xs) <= 3
    """
    return collections.Counter(xs).most_common(1)[0][0]

#: check f = verified
import collections

def f(xs: list[int]) -> int:
    """
    pre: 1 <= len(xs) <= 3
    post: xs.count(_) >= 1
    post: all(xs.count(_) >= xs.count(x) for x in xs)
    """
    return collections.Counter(xs).most_common(1)[0][0]

#: check f = verified
from collections import Counter

def f(xs: list[int]) -> int:
    """
    pre: len(xs) <= 2
    post: _ == 0
    """
    c = Counter(xs)
    c["missing"]
    return c["missing"] + len(c) - len(set(xs))

#: check f = verified
from collections import defaultdict

def f(xs: list[int]) -> dict[int, list[int]]:
    """
    pre: len(xs) <= 3
    post: sum(len(v) for v in _.values()) == len(xs)
    """
    groups = defaultdict(list)
    for x in xs:
        groups[x % 3].append(x)
    return groups

#: check f = counterexample
from collections import defaultdict

def f(xs: list[int], k: int) -> bool:
    """
    pre: len(xs) <= 2
    post: not _
    """
    d = defaultdict(int)
    for x in xs:
        d[x] += 1
    if d[k] > 5:
        return False
    return k in d

#: check f = counterexample KeyError
from collections import defaultdict

def f(k: int) -> int:
    return defaultdict(None, {1: 2})[k]

#: branches f = complete 5:-F dead 6 cc 2
from collections import Counter

def f(s: str) -> int:
    """pre: len(s) <= 2"""
    if Counter(s)["a"] > len(s):
        return 1
    return 0

#: check f = verified
from bisect import bisect_left, insort

def f(xs: list[int], x: int) -> list[int]:
    """
    pre: len(xs) <= 3
    pre: all(xs[i] <= xs[i + 1] for i in range(len(xs) - 1))
    post: all(_[i] <= _[i + 1] for i in range(len(_) - 1))
    """
    insort(xs, x)
    return xs

#: check f = counterexample IndexError
import bisect

def f(xs: list[int], x: int) -> bool:
    """
    pre: len(xs) <= 3
    pre: all(xs[i] <= xs[i + 1] for i in range(len(xs) - 1))
    """
    return xs[bisect.bisect_left(xs, x)] == x

#: check f = counterexample TypeError
from functools import reduce

def f(xs: list[int]) -> int:
    """pre: len(xs) <= 3"""
    return reduce(lambda a, b: a * b, xs)

#: check f = verified
from functools import reduce
import operator

def f(xs: list[int]) -> int:
    """
    pre: len(xs) <= 3
    post: _ == sum(xs)
    """
    return reduce(operator.add, xs, 0)

#: check f = verified
from functools import lru_cache

@lru_cache(maxsize=None)
def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def f(n: int) -> int:
    """
    pre: 0 <= n <= 25
    post: _ >= n - 1
    """
    return fib(n)

#: compare f g = equivalent
import functools

@functools.cache
def half(n: int) -> int:
    return n // 2

def f(n: int) -> int:
    return half(n) + half(n)

def g(n: int) -> int:
    return n - n % 2

#: check f = verified
import heapq

def f(xs: list[int]) -> list[int]:
    """
    pre: len(xs) <= 3
    post: _ == sorted(xs)
    """
    heap = []
    for x in xs:
        heapq.heappush(heap, x)
    return [heapq.heappop(heap) for _ in range(len(xs))]

#: check f = verified
from collections import deque

def f(n: int) -> int:
    """
    pre: 0 <= n <= 4
    post: _ == n + 1
    """
    todo, seen = deque([0]), set()
    while todo:
        x = todo.popleft()
        if x not in seen:
            seen.add(x)
            if x < n:
                todo.append(x + 1)
    return len(seen)

#: check f = counterexample RuntimeError
from collections import deque

def f(xs: list[int]) -> int:
    """pre: len(xs) <= 2"""
    q = deque(xs)
    for x in q:
        q.append(x)
    return len(q)

#: check f = error
from collections import OrderedDict

def f(n: int) -> str:
    return repr(OrderedDict({n: 1}))

#: check f = error
import functools

@functools.cache
def g(n: int) -> list[int]:
    return [n]

def f(n: int) -> int:
    return len(g(n))

#: check f = counterexample ValueError 6)
from bisect import insort

def f(xs: list[int], n: int) -> int:
    """pre: len(xs) <= 1"""
    if n > 5:
        insort(xs, n, -1)
    return n

#: check f = verified
from collections import Counter

def len(x):
    return 7

def f(s: str) -> int:
    """
    pre: s == "aab"
    post: _ == 2
    """
    return Counter(s)["a"]

#: check f = verified
from datetime import date, timedelta

def f(d: date) -> int:
    """
    pre: d < date.max
    post: _ == 1
    """
    return (d + timedelta(days=1) - d).days

#: check f = counterexample OverflowError
from datetime import date, timedelta

def f(d: date, n: int) -> date:
    """pre: 0 <= n <= 30"""
    return d + timedelta(days=n)

#: check f = counterexample ValueError 5)
import datetime

def f(d: datetime.date) -> datetime.date:
    """pre: d.year < 9999"""
    return d.replace(year=d.year + 1)

#: check f = verified
import datetime as dt

def f(born: dt.date, today: dt.date) -> int:
    """
    pre: born <= today
    post: 0 <= _ <= today.year - born.year
    """
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))

#: check f = verified
from datetime import date

def f(n: int) -> bool:
    """
    pre: 600000 <= n <= 900000
    post: _
    """
    d = date.fromordinal(n)
    return date(d.year, d.month, d.day).toordinal() == n

#: check f = verified
from datetime import date, timedelta

def f(d: date) -> date:
    """
    pre: d.year < 9999
    post: _.weekday() < 5 and _ > d
    """
    day = d + timedelta(days=1)
    while day.weekday() >= 5:
        day += timedelta(days=1)
    return day

#: compare f g = equivalent
from datetime import date

def f(d: date) -> bool:
    return d.weekday() >= 5

def g(d: date) -> bool:
    return d.isoweekday() in (6, 7)

#: check f = counterexample
from datetime import date

def f(year: int) -> bool:
    """
    pre: 1 <= year <= 9999
    post: _ == (year % 4 == 0)
    """
    try:
        date(year, 2, 29)
        return True
    except ValueError:
        return False

#: check f = error datetime.datetime
from datetime import datetime

def f(n: int) -> int:
    return datetime(2024, 1, 1).day + n

#: check f = error today
from datetime import date

def f(n: int) -> bool:
    """post: True"""
    return date.today().year > n or True

#: check f = counterexample
import re

def f(text: str) -> bool:
    """post: not _ or len(text) == 1"""
    return re.match(r"^a$", text) is not None

#: check f = verified
import re

def f(n: int) -> str:
    """post: _ == "hello-world" """
    return re.sub(r"[^a-z0-9]+", "-", "hello, world")

#: check f = error look
import re

def f(s: str) -> bool:
    return re.match(r"(?=a)b", s) is not None

#: check f = verified
import math

def f(total: int) -> int:
    """
    pre: 0 <= total <= 10**9
    post: _ == (total + 19) // 20
    """
    return math.ceil(total / 20)

#: check f = verified
from itertools import accumulate

def f(xs: list[int]) -> list[int]:
    """
    pre: len(xs) <= 3
    post: len(_) == len(xs) and (not xs or _[-1] == sum(xs))
    """
    return list(accumulate(xs))

#: check f = verified
from itertools import groupby

def f(xs: list[int]) -> int:
    """
    pre: len(xs) <= 3
    post: _ == len(xs)
    """
    return sum(len(list(group)) for _, group in groupby(xs))

#: check f = verified
from itertools import chain, pairwise

def f(xs: list[int]) -> bool:
    """
    pre: len(xs) <= 3
    post: _ == (sorted(xs) == xs)
    """
    return all(x <= y for x, y in pairwise(chain(xs)))

#: check f = counterexample StopIteration
import itertools

def f(xs: list[int]) -> int:
    """pre: len(xs) <= 2"""
    return next(itertools.dropwhile(lambda x: x < 0, xs))

#: check f = verified
import re

def f(text: str) -> bool:
    """post: _ == ("@" in text)"""
    return bool(re.search("@", text))

#: check f = error cents
from decimal import Decimal

def f(n: int) -> bool:
    """post: True"""
    return Decimal(n) == n

#: check f = verified
from collections import Counter

def f(n: int) -> tuple:
    """
    pre: -2 <= n <= 4 and n != 1
    post: _ == ([1] * max(n, 0) + [2], n > 0)
    """
    counts = Counter({1: n, 2: 1, 3: -1})
    return list(counts.elements()), 1 in counts.elements()

#: check f = verified
from datetime import timedelta

def f(n: int) -> tuple:
    """
    pre: 0 <= n < 50
    post: _ == (n // 7, n % 7)
    """
    whole, rest = divmod(timedelta(hours=n), timedelta(hours=7))
    return whole, rest // timedelta(hours=1)

#: check f = counterexample AttributeError
import math

def f(n: int) -> bool:
    return math.no_such_name is None

#: check f = counterexample AttributeError
import re

def f(n: int) -> int:
    m = re.match("a", "a")
    m.seen = n
    return m.seen

#: check f = counterexample AttributeError
import re

def f(n: int) -> bool:
    return re.match("a", "ab")._spans is None

#: check f = counterexample TypeError
from collections import deque

def f(n: int) -> int:
    deque.seen = n
    return deque.seen

#: check f = error a slice of a type
from collections import Counter

def f(n: int) -> bool:
    """
    post: _
    """
    try:
        Counter[0:1]
    except TypeError:
        return False
    return True

#: check f = error pow() of an object with a modulus
class Three:
    def __pow__(self, exponent, modulus=None):
        return exponent

def f(n: int) -> int:
    """
    post: _ == n
    """
    return pow(Three(), n, 5)

#: check f = error islice() of a number that is a member of an Enum
from enum import IntEnum
from itertools import islice

class Size(IntEnum):
    SMALL = 1

def f(n: int) -> bool:
    """
    post: _
    """
    try:
        return len(list(islice([n, 2], Size.SMALL))) == 1
    except ValueError:
        return True
