"""Classes, dataclasses, generators and nested functions."""


#: check distance = verified
#: from made("Point", ints(-5, 5), ints(-5, 5)), made("Point", ints(-5, 5), ints(-5, 5))
from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: int
    y: int

    def __sub__(self, other: "Point") -> "Point":
        return Point(self.x - other.x, self.y - other.y)

    def length(self) -> int:
        return abs(self.x) + abs(self.y)


def distance(a: Point, b: Point) -> int:
    """
    post: _ >= 0 and (_ == 0) == (a == b)
    """
    return (a - b).length()


#: check area = verified
#: from ints(-3, 9), ints(-3, 9)
class Rectangle:
    def __init__(self, width: int, height: int):
        if width <= 0 or height <= 0:
            raise ValueError("empty")
        self._width = width
        self._height = height

    @property
    def area(self) -> int:
        return self._width * self._height


class Square(Rectangle):
    def __init__(self, side: int):
        super().__init__(side, side)


def area(width: int, height: int) -> int:
    """
    post: _ > 0
    raises: ValueError
    """
    shape = Square(width) if width == height else Rectangle(width, height)
    return shape.area


#: check temperature = counterexample
#: from ints(-400, 400)
#: shown by -300
class Temperature:
    def __init__(self, degrees: int):
        self._degrees = degrees

    @property
    def degrees(self) -> int:
        return self._degrees

    @degrees.setter
    def degrees(self, value: int) -> None:
        if value < -273:
            raise ValueError("too cold")
        self._degrees = value


def temperature(start: int) -> int:
    """
    pre: -400 <= start <= 400
    post: _ >= -273
    raises: ValueError
    """
    t = Temperature(start)
    return t.degrees


#: check stack = verified
#: from lists(ints(-3, 3), 0, 5)
class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def pop(self):
        return self._items.pop()

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return bool(self._items)


def stack(items: list[int]) -> list[int]:
    """
    pre: len(items) <= 4
    post: _ == items[::-1]
    """
    s = Stack()
    for item in items:
        s.push(item)
    result = []
    while s:
        result.append(s.pop())
    return result


#: check countdown = verified
#: from ints(0, 8)
def countdown(start: int) -> list[int]:
    """
    pre: 0 <= start <= 8
    post: len(_) == start
    """
    def down(n):
        while n > 0:
            yield n
            n -= 1
    return list(down(start))


#: check evens = counterexample
#: from ints(0, 9)
#: shown by 2
def even_numbers(limit):
    n = 0
    while n <= limit:
        yield n
        n += 2


def evens(limit: int) -> list[int]:
    """
    pre: 0 <= limit <= 9
    post: len(_) == (limit + 1) // 2
    """
    return [n for n in even_numbers(limit)]


#: check first_match = verified
#: from lists(ints(-3, 9), 0, 5), ints(0, 5)
def first_match(numbers: list[int], limit: int) -> int | None:
    """
    pre: len(numbers) <= 4
    post: _ is None or (_ in numbers and _ > limit)
    """
    return next((n for n in numbers if n > limit), None)


#: find first_large StopIteration = found
#: from lists(ints(-3, 9), 0, 4), ints(0, 5)
#: shown by [], 0
def first_large(numbers: list[int], limit: int) -> int:
    """
    pre: len(numbers) <= 3
    """
    return next(n for n in numbers if n > limit)


#: check counter_closure = verified
#: from ints(0, 6)
def counter_closure(times: int) -> int:
    """
    pre: 0 <= times <= 6
    post: _ == times
    """
    count = 0

    def bump():
        nonlocal count
        count += 1
        return count
    for _ in range(times):
        bump()
    return count


#: check late_binding = counterexample
#: from ints(0, 2)
#: shown by 0
def late_binding(which: int) -> int:
    """
    pre: 0 <= which <= 2
    post: _ == which * 10
    """
    functions = [lambda: i * 10 for i in range(3)]
    return functions[which]()


#: check shared_default = counterexample
#: from ints(0, 5), ints(0, 5)
#: shown by 1, 2
def collect(item, into=[]):
    into.append(item)
    return into


def shared_default(a: int, b: int) -> list[int]:
    """
    post: len(_) == 1
    """
    collect(a)
    return collect(b)


#: check sort_people = verified
#: from lists(made("Person", pick(["ann", "bob"]), ints(0, 99)), 0, 3)
from dataclasses import dataclass


@dataclass(order=True)
class Person:
    name: str
    age: int


def sort_people(people: list[Person]) -> list[Person]:
    """
    pre: len(people) <= 3
    post: all(a.age <= b.age for a, b in zip(_, _[1:]))
    """
    return sorted(people, key=lambda person: person.age)


#: check oldest = counterexample
#: from lists(made("Person", pick(["ann", "bob"]), ints(0, 99)), 1, 3)
#: shown by [Person("bob", 1), Person("ann", 2)]
from dataclasses import dataclass


@dataclass(order=True)
class Person:
    name: str
    age: int


def oldest(people: list[Person]) -> int:
    """
    pre: 1 <= len(people) <= 2
    post: all(person.age <= _ for person in people)
    """
    return max(people).age


#: check inventory = verified
#: from lists(tuples(pick(["nut", "bolt"]), ints(-3, 5)), 0, 4)
from dataclasses import dataclass, field


@dataclass
class Inventory:
    stock: dict[str, int] = field(default_factory=dict)

    def change(self, name: str, by: int) -> None:
        new = self.stock.get(name, 0) + by
        if new < 0:
            raise ValueError("not in stock")
        self.stock[name] = new


def inventory(changes: list[tuple[str, int]]) -> dict[str, int]:
    """
    pre: len(changes) <= 3
    post: all(count >= 0 for count in _.values())
    """
    inventory = Inventory()
    for name, by in changes:
        try:
            inventory.change(name, by)
        except ValueError:
            continue
    return inventory.stock


#: check contains = verified
#: from ints(-5, 9), ints(-5, 9), ints(-5, 9)
class Interval:
    def __init__(self, low, high):
        self.low, self.high = min(low, high), max(low, high)

    def __contains__(self, value):
        return self.low <= value <= self.high

    def __eq__(self, other):
        return isinstance(other, Interval) and (self.low, self.high) == (other.low, other.high)

    def __hash__(self):
        return hash((self.low, self.high))


def contains(a: int, b: int, value: int) -> bool:
    """
    post: _ == (min(a, b) <= value <= max(a, b))
    """
    return value in Interval(a, b) and Interval(a, b) == Interval(b, a)


#: check add_fractions = verified
#: from ints(-5, 5), ints(1, 5), ints(-5, 5), ints(1, 5)
from fractions import Fraction


def add_fractions(a: int, b: int, c: int, d: int) -> bool:
    """
    pre: -3 <= a <= 3 and 1 <= b <= 4 and -3 <= c <= 3 and 1 <= d <= 4
    post: _
    """
    total = Fraction(a, b) + Fraction(c, d)
    return total * (b * d) == a * d + c * b


#: check linked_list = verified
#: from lists(ints(-3, 3), 0, 4)
class Node:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


def linked_list(values: list[int]) -> list[int]:
    """
    pre: len(values) <= 4
    post: _ == values[::-1]
    """
    head = None
    for value in values:
        head = Node(value, head)
    result = []
    while head is not None:
        result.append(head.value)
        head = head.following
    return result


#: check tree_depth = verified
#: from lists(ints(0, 9), 0, 4)
class Tree:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None

    def add(self, value):
        if value < self.value:
            if self.left is None:
                self.left = Tree(value)
            else:
                self.left.add(value)
        elif self.right is None:
            self.right = Tree(value)
        else:
            self.right.add(value)

    def walk(self):
        left = self.left.walk() if self.left else []
        right = self.right.walk() if self.right else []
        return left + [self.value] + right


def tree_depth(values: list[int]) -> list[int]:
    """
    pre: 1 <= len(values) <= 3
    post: _ == sorted(values)
    """
    tree = Tree(values[0])
    for value in values[1:]:
        tree.add(value)
    return tree.walk()


#: find close_twice AttributeError = found
#: from bools()
#: shown by True
class Connection:
    def __init__(self):
        self.session = {"open": True}

    def close(self):
        self.session.clear()
        self.session = None


def close_twice(again: bool) -> None:
    connection = Connection()
    connection.close()
    if again:
        connection.close()


#: check run_with = verified
#: from ints(-5, 5), pick(["add", "sub", "mul", "div"])
import operator

OPERATIONS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


def run_with(a: int, name: str) -> int:
    """
    post: name not in ("add", "sub", "mul") or _ in (a + 2, a - 2, a * 2)
    raises: ValueError
    """
    try:
        return OPERATIONS[name](a, 2)
    except KeyError:
        raise ValueError(f"no operation {name!r}") from None


#: check context = verified
#: from lists(ints(-3, 3), 0, 3)
class Recording:
    def __init__(self):
        self.events = []

    def __enter__(self):
        self.events.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.events.append("exit")
        return False


def context(numbers: list[int]) -> list[str]:
    """
    pre: len(numbers) <= 2
    post: _[0] == "enter" and _[-1] == "exit"
    """
    recording = Recording()
    with recording as r:
        for n in numbers:
            if n < 0:
                return r.events
            r.events.append("work")
    return recording.events


#: check variadic = verified
#: from ints(-5, 5), ints(-5, 5)
def total(*numbers, start=0):
    for n in numbers:
        start += n
    return start


def variadic(a: int, b: int) -> int:
    """
    post: _ == a + b + 10
    """
    return total(a, b, start=10)


#: check generator_total = counterexample
#: from lists(ints(0, 5), 0, 4)
#: shown by [1]
def generator_total(numbers: list[int]) -> int:
    """
    pre: len(numbers) <= 3
    post: _ == 2 * sum(numbers)
    """
    values = (n for n in numbers)
    return sum(values) + sum(values)


#: check zip_ages = counterexample
#: from lists(pick(["ann", "bob"]), 0, 3), lists(ints(0, 9), 0, 3)
#: shown by ["ann"], []
def zip_ages(names: list[str], ages: list[int]) -> dict[str, int]:
    """
    pre: len(names) <= 2 and len(ages) <= 2
    post: all(name in _ for name in names)
    """
    return dict(zip(names, ages))


#: check sort_versions = verified
#: from lists(tuples(ints(0, 3), ints(0, 3)), 0, 3)
def sort_versions(versions: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    pre: len(versions) <= 3
    post: not _ or _[0] == max(versions)
    """
    return sorted(versions, reverse=True)


#: check swap_case_pairs = counterexample
#: from lists(tuples(ints(0, 3), ints(0, 3)), 0, 3)
#: shown by [(0, 1)]
def swap_case_pairs(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    pre: len(pairs) <= 2
    post: all((b, a) in _ for a, b in pairs)
    """
    result = []
    for a, b in pairs:
        a = b
        b = a
        result.append((a, b))
    return result


#: check memo_paths = verified
#: from ints(1, 5), ints(1, 5)
from functools import cache


@cache
def paths(rows, columns):
    if rows == 1 or columns == 1:
        return 1
    return paths(rows - 1, columns) + paths(rows, columns - 1)


def memo_paths(rows: int, columns: int) -> int:
    """
    pre: 1 <= rows <= 6 and 1 <= columns <= 6
    post: _ == paths(columns, rows)
    """
    return paths(rows, columns)
