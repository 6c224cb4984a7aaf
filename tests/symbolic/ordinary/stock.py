"""Inventories, caches, schedules and queues, each with a planted bug."""


#: check reserve = counterexample
#: from dicts(pick(["a", "b"]), ints(0, 5), 1, 2), pick(["a", "b"]), ints(0, 6)
#: shown by {"a": 2}, "a", 3
def reserve(stock: dict[str, int], item: str, wanted: int) -> dict[str, int]:
    """Take what is wanted out of the stock; a stock never gets negative.

    pre: len(stock) <= 2 and all(n >= 0 for n in stock.values()) and 0 <= wanted <= 100 and item in stock
    post: all(n >= 0 for n in _.values())
    """
    left = dict(stock)
    left[item] -= wanted
    if left[item] == 0:
        del left[item]
    return left


#: check reorder = counterexample
#: from ints(0, 50), ints(0, 50), ints(1, 12)
#: shown by 7, 12, 3
def reorder(on_hand: int, minimum: int, pack: int) -> int:
    """How many packs to order so that there is at least the minimum again.

    pre: 0 <= on_hand <= 1000 and 0 <= minimum <= 1000 and 1 <= pack <= 12
    post: on_hand + _ * pack >= minimum
    """
    if on_hand > minimum:
        return 0
    return (minimum - on_hand) // pack or 0


#: check move_stock = counterexample
#: from lists(ints(0, 5), 2, 3), ints(0, 2), ints(0, 2), ints(0, 5)
#: shown by [3, 0], 0, 0, 2
def move_stock(shelves: list[int], source: int, target: int, count: int) -> list[int]:
    """
    pre: 2 <= len(shelves) <= 3 and 0 <= source < len(shelves) and 0 <= target < len(shelves) and 0 <= count
    post: sum(_) == sum(shelves)
    """
    result = list(shelves)
    taken = min(count, result[source])
    at_target = result[target]
    result[source] -= taken
    result[target] = at_target + taken
    return result


#: check lru_get = counterexample
#: from lists(ints(0, 4), 0, 6)
#: shown by [1, 2, 1, 3, 1]
from collections import OrderedDict


class LeastRecent:
    def __init__(self, room: int):
        self.room = room
        self.items: OrderedDict = OrderedDict()

    def get(self, key: int) -> bool:
        """Was it there? It is afterwards."""
        if key in self.items:
            return True
        if len(self.items) == self.room:
            self.items.popitem(last=False)
        self.items[key] = True
        return False


def lru_get(keys: list[int]) -> list[bool]:
    """A key that was asked for among the last two different ones is there.

    pre: len(keys) <= 5 and all(0 <= k <= 3 for k in keys)
    post: all(_[i] for i in range(2, len(keys)) if keys[i] == keys[i - 2])
    """
    cache = LeastRecent(2)
    return [cache.get(key) for key in keys]


#: check cached_price = counterexample
#: from ints(0, 200), ints(0, 200), ints(0, 300)
#: shown by 5, 6, 0
def cached_price(first: int, second: int, now: int) -> list[int]:
    """
    pre: 0 <= first <= 200 and 0 <= second <= 200 and 0 <= now <= 300
    post: _ == [first * 2, second * 2]
    """
    cache: dict[bool, int] = {}

    def price(units: int) -> int:
        key = units > 100
        if key not in cache:
            cache[key] = units * 2
        return cache[key]

    return [price(first), price(second)]


#: check expired = counterexample
#: from ints(0, 100), ints(0, 100), ints(0, 100)
#: shown by 0, 10, 10
def expired(stored: int, lifetime: int, now: int) -> bool:
    """An entry lives for `lifetime` seconds, and not at the end of the last of them.

    pre: 0 <= stored <= now <= 10000 and 0 <= lifetime <= 10000
    post: _ == (now - stored >= lifetime)
    """
    return now > stored + lifetime


#: check free_slot = counterexample
#: from lists(tuples(ints(0, 20), ints(0, 24)), 0, 3), ints(1, 5)
#: shown by [(0, 10), (2, 4)], 1
def free_slot(taken: list[tuple[int, int]], length: int) -> int:
    """The first hour from which on nothing is booked for so long; bookings may overlap.

    pre: len(taken) <= 2 and 1 <= length <= 5 and all(0 <= a < b <= 24 for a, b in taken)
    post: all(_ + length <= a or b <= _ for a, b in taken)
    """
    at = 0
    for begin, end in sorted(taken):
        if begin - at >= length:
            return at
        at = end
    return at


#: check overlap_hours = counterexample
#: from ints(0, 24), ints(0, 24), ints(0, 24), ints(0, 24)
#: shown by 0, 1, 2, 3
def overlap_hours(a: int, b: int, c: int, d: int) -> int:
    """How many hours two shifts have in common.

    pre: 0 <= a <= b <= 24 and 0 <= c <= d <= 24
    post: _ >= 0
    """
    return min(b, d) - max(a, c)


#: check next_run = counterexample
#: from ints(0, 59), pick([5, 10, 15, 20])
#: shown by 15, 15
def next_run(minute: int, every: int) -> int:
    """The next minute of the hour or beyond at which a job runs, after this one.

    pre: 0 <= minute <= 59 and every in (5, 10, 15, 20)
    post: _ > minute and _ % every == 0 and _ - minute <= every
    """
    return -(-minute // every) * every


#: check round_robin = counterexample
#: from lists(ints(0, 9), 0, 6), ints(1, 3)
#: shown by [1, 2, 3], 2
def round_robin(jobs: list[int], workers: int) -> list[list[int]]:
    """
    pre: len(jobs) <= 4 and 1 <= workers <= 3
    post: sorted(sum(_, [])) == sorted(jobs)
    """
    size = len(jobs) // workers
    return [jobs[i * size:(i + 1) * size] for i in range(workers)]


#: check critical_path = counterexample
#: from dicts(pick(["a", "b", "c"]), ints(0, 9), 1, 3)
#: shown by {"a": 3, "b": 4, "c": 1}
AFTER = {"a": [], "b": ["a"], "c": ["a", "b"]}


def critical_path(hours: dict[str, int]) -> int:
    """
    pre: len(hours) <= 3 and all(name in AFTER and 0 <= n <= 9 for name, n in hours.items())
    post: all(_ >= n for n in hours.values()) and (len(hours) < 3 or _ == sum(hours.values()))
    """
    done: dict[str, int] = {}
    for name in ("a", "b", "c"):
        before = [done[other] for other in AFTER[name][:1] if other in done]
        done[name] = max(before, default=0) + hours.get(name, 0)
    return max(done.values())


#: check priority = counterexample
#: from lists(tuples(ints(0, 3), pick(["x", "y"])), 0, 3)
#: shown by [(1, "y"), (1, "x")]
import heapq


def priority(jobs: list[tuple[int, str]]) -> list[str]:
    """Jobs of one priority keep their order.

    pre: len(jobs) <= 2 and all(name in ("x", "y") for _, name in jobs)
    post: len(jobs) != 2 or jobs[0][0] != jobs[1][0] or _ == [jobs[0][1], jobs[1][1]]
    """
    heap: list[tuple[int, str]] = []
    for job in jobs:
        heapq.heappush(heap, job)
    return [heapq.heappop(heap)[1] for _ in range(len(heap))]


#: find pick_order KeyError = found
#: from dicts(pick(["nut", "bolt"]), ints(0, 4), 0, 2), lists(pick(["nut", "bolt"]), 0, 3)
#: shown by {"nut": 1}, ["nut", "nut"]
def pick_order(stock: dict[str, int], order: list[str]) -> int:
    """
    pre: len(stock) <= 2 and len(order) <= 2 and all(name in stock for name in order) and all(n > 0 for n in stock.values())
    """
    picked = 0
    for name in order:
        stock[name] -= 1
        picked += 1
        if stock[name] == 0:
            del stock[name]
    return picked


#: check wait_time = counterexample
#: from lists(ints(1, 9), 0, 4), ints(1, 2)
#: shown by [1, 5, 1], 2
def wait_time(customers: list[int], counters: int) -> int:
    """The time until all are served: each goes to the counter that is free first.

    pre: len(customers) <= 3 and 1 <= counters <= 2 and all(1 <= c <= 9 for c in customers)
    post: len(customers) == 0 or _ >= max(customers)
    """
    free = [0] * counters
    for time in customers:
        at = free.index(min(free))
        free[at] += time
    return min(free) if counters > 1 else free[0]
