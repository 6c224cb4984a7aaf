"""Records and the rules for them: dataclasses, enums, named tuples and state machines, each with a planted bug."""


#: check merge_contact = counterexample
#: from made("Contact", pick(["", "ann"]), pick(["", "1"])), made("Contact", pick(["", "ann"]), pick(["", "1"]))
#: shown by Contact("ann", ""), Contact("", "1")
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Contact:
    name: str
    phone: str


def merge_contact(old: Contact, new: Contact) -> Contact:
    """What the new one has counts; what it has not stays.

    pre: len(old.name) <= 3 and len(old.phone) <= 3 and len(new.name) <= 3 and len(new.phone) <= 3
    post: _.name == (new.name or old.name) and _.phone == (new.phone or old.phone)
    """
    if new.name or new.phone:
        return replace(old, name=new.name, phone=new.phone)
    return old


#: check append_tag = counterexample
#: from pick(["a", "b"]), pick(["a", "b"])
#: shown by "a", "b"
from dataclasses import dataclass, field


@dataclass
class Note:
    text: str
    tags: list[str] = field(default_factory=list)

    def copy(self) -> "Note":
        return Note(self.text, self.tags)


def append_tag(first: str, second: str) -> list[str]:
    """A copy of a note has tags of its own.

    pre: len(first) <= 2 and len(second) <= 2
    post: _ == [first]
    """
    note = Note("n", [first])
    other = note.copy()
    other.tags.append(second)
    return note.tags


#: check ticket = counterexample
#: from lists(members("Event"), 0, 4)
#: shown by [Event.CLOSE, Event.REOPEN, Event.ASSIGN]
from enum import Enum


class Event(Enum):
    ASSIGN = "assign"
    CLOSE = "close"
    REOPEN = "reopen"


def ticket(events: list[Event]) -> str:
    """Only an open ticket can be assigned.

    pre: len(events) <= 3
    post: _ in ("open", "assigned", "closed")
    """
    state = "open"
    for event in events:
        if event is Event.ASSIGN and state == "open":
            state = "assigned"
        elif event is Event.CLOSE:
            state = "closed"
        elif event is Event.REOPEN and state == "closed":
            state = "reopened"
    return state


#: check vending = counterexample
#: from lists(pick([5, 10, 25]), 0, 5)
#: shown by [25, 25, 5]
def vending(coins: list[int]) -> tuple[int, int]:
    """A can is 40 cents. It gives (cans, change).

    pre: len(coins) <= 4 and all(c in (5, 10, 25) for c in coins)
    post: _[0] * 40 + _[1] == sum(coins)
    """
    paid = cans = 0
    for coin in coins:
        paid += coin
        if paid >= 40:
            cans += 1
            paid = 0
    return cans, paid


#: check version_key = counterexample
#: from made("Version", ints(0, 3), ints(0, 3), ints(0, 3)), made("Version", ints(0, 3), ints(0, 3), ints(0, 3))
#: shown by Version(1, 2, 0), Version(1, 1, 5)
from typing import NamedTuple


class Version(NamedTuple):
    major: int
    minor: int
    patch: int


def version_key(a: Version, b: Version) -> bool:
    """
    post: _ == (a > b)
    """
    return a.major > b.major or (a.major == b.major and a.minor >= b.minor and a.patch > b.patch)


#: check account = counterexample
#: from lists(ints(-30, 30), 0, 4)
#: shown by [-21]
class Overdrawn(Exception):
    pass


class Account:
    LIMIT = 20

    def __init__(self):
        self.balance = 0
        self.refused = 0

    def book(self, amount: int) -> None:
        self.balance += amount
        if self.balance < -self.LIMIT:
            raise Overdrawn()


def account(amounts: list[int]) -> int:
    """What was refused changes nothing.

    pre: len(amounts) <= 3 and all(-30 <= a <= 30 for a in amounts)
    post: _ >= -20
    """
    mine = Account()
    for amount in amounts:
        try:
            mine.book(amount)
        except Overdrawn:
            mine.refused += 1
    return mine.balance


#: check same_money = counterexample
#: not yet the annotation of parameter 'a'
#: from made("Money", ints(0, 9), pick(["EUR", "USD"])), made("Money", ints(0, 9), pick(["EUR", "USD"]))
#: shown by Money(1, "EUR"), Money(1, "USD")
class Money:
    def __init__(self, cents: int, currency: str):
        self.cents = cents
        self.currency = currency

    def __eq__(self, other):
        return isinstance(other, Money) and self.cents == other.cents

    def __hash__(self):
        return hash(self.cents)


def same_money(a: Money, b: Money) -> bool:
    """
    pre: len(a.currency) == 3 and len(b.currency) == 3
    post: not _ or a.currency == b.currency
    """
    return a == b


#: check permissions = counterexample
#: from ints(0, 7), ints(0, 7)
#: shown by 1, 1
from enum import IntEnum


class Right(IntEnum):
    READ = 1
    WRITE = 2
    OWN = 4


def permissions(mask: int, taken: int) -> int:
    """Take rights away.

    pre: 0 <= mask <= 7 and 0 <= taken <= 7
    post: all(not _ & right for right in (Right.READ, Right.WRITE, Right.OWN) if taken & right) and _ <= mask
    """
    if taken & Right.OWN:
        return mask & ~taken & 7
    return mask & ~(taken << 1) & 7


#: check elapsed = counterexample
#: from made("Clock", ints(0, 23), ints(0, 59)), made("Clock", ints(0, 23), ints(0, 59))
#: shown by Clock(23, 30), Clock(0, 15)
from dataclasses import dataclass


@dataclass(order=True)
class Clock:
    hour: int
    minute: int

    def minutes(self) -> int:
        return 60 * self.hour + self.minute


def elapsed(begin: Clock, end: Clock) -> int:
    """From one time of day to the next such time.

    pre: 0 <= begin.hour < 24 and 0 <= begin.minute < 60 and 0 <= end.hour < 24 and 0 <= end.minute < 60
    post: 0 <= _ < 1440
    """
    return end.minutes() - begin.minutes()


#: compare upgrade upgrade_table = different
#: from pick(["free", "team", "pro", "gone"]), ints(0, 30)
#: shown by "team", 10
def upgrade(plan: str, seats: int) -> str:
    """
    pre: 0 <= seats <= 30
    """
    if plan == "free" and seats > 3:
        return "team"
    if plan == "team" and seats > 10:
        return "pro"
    return plan


LIMITS = {"free": (3, "team"), "team": (9, "pro")}


def upgrade_table(plan: str, seats: int) -> str:
    most, following = LIMITS.get(plan, (seats, plan))
    return following if seats > most else plan


#: find describe AttributeError = found
#: from members("Shape"), ints(0, 9)
#: shown by Shape.POINT, 1
from enum import Enum


class Shape(Enum):
    CIRCLE = "circle"
    SQUARE = "square"
    POINT = None


def describe(shape: Shape, size: int) -> str:
    """
    pre: 0 <= size <= 9
    """
    return shape.value.upper() if size else "nothing"


#: check ring = counterexample
#: from lists(ints(0, 9), 0, 6)
#: shown by [1, 2, 3, 4]
class Ring:
    def __init__(self, size: int):
        self.size = size
        self.items = [0] * size
        self.at = 0
        self.count = 0

    def put(self, item: int) -> None:
        self.items[self.at] = item
        self.at = (self.at + 1) % self.size
        self.count += 1

    def all(self) -> list[int]:
        """From the oldest to the newest."""
        return self.items[:min(self.count, self.size)]


def ring(items: list[int]) -> list[int]:
    """
    pre: len(items) <= 5
    post: _ == items[-3:]
    """
    kept = Ring(3)
    for item in items:
        kept.put(item)
    return kept.all()


#: check lights = counterexample
#: from ints(0, 300)
#: shown by 30
PHASES = [("green", 30), ("yellow", 5), ("red", 25)]


def lights(second: int) -> str:
    """
    pre: 0 <= second <= 300
    post: _ == ("green" if second % 60 < 30 else "yellow" if second % 60 < 35 else "red")
    """
    left = second % 60
    for name, length in PHASES:
        if left <= length:
            return name
        left -= length
    return "red"
