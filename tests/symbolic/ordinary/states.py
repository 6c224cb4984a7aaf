"""State machines, classes that change, and games."""


#: check next_light = verified
#: from members("Light")
from enum import Enum, auto


class Light(Enum):
    RED = auto()
    GREEN = auto()
    YELLOW = auto()


def next_light(light: Light) -> Light:
    """
    post: _ is not light
    """
    order = [Light.RED, Light.GREEN, Light.YELLOW]
    return order[(order.index(light) + 1) % len(order)]


#: check after_light = counterexample KeyError
#: from members("Light")
#: shown by Light.YELLOW
from enum import Enum


class Light(Enum):
    RED = "red"
    GREEN = "green"
    YELLOW = "yellow"


def after_light(light: Light) -> Light:
    return {Light.RED: Light.GREEN, Light.GREEN: Light.YELLOW}[light]


#: check advance_order = verified
#: from pick(["new", "paid", "sent", "x"]), pick(["pay", "ship", "cancel", "y"])
TRANSITIONS = {
    ("new", "pay"): "paid",
    ("new", "cancel"): "cancelled",
    ("paid", "ship"): "sent",
    ("paid", "cancel"): "refunded",
}


def advance_order(state: str, event: str) -> str:
    """
    post: _ != "sent" or (state, event) == ("paid", "ship") or state == "sent"
    """
    return TRANSITIONS.get((state, event), state)


#: check order_event = counterexample
#: from pick(["new", "paid", "sent", "done"]), pick(["pay", "ship", "cancel"])
#: shown by "sent", "cancel"
def order_event(state: str, event: str) -> str:
    """
    pre: state in ("new", "paid", "sent", "done")
    pre: event in ("pay", "ship", "cancel")
    post: not (state == "sent" and _ == "cancelled")
    """
    match state, event:
        case "new", "pay":
            return "paid"
        case "paid", "ship":
            return "sent"
        case "done", _:
            return "done"
        case _, "cancel":
            return "cancelled"
        case _:
            return state


#: check turnstile = verified
#: from lists(pick(["coin", "push"]), 0, 5)
def turnstile(events: list[str]) -> int:
    """
    pre: len(events) <= 4
    post: _ <= events.count("coin")
    """
    locked, passed = True, 0
    for event in events:
        if event == "coin":
            locked = False
        elif event == "push" and not locked:
            passed += 1
            locked = True
    return passed


#: check gate = counterexample
#: from lists(pick(["coin", "push"]), 0, 5)
#: shown by ["coin", "push", "push"]
def gate(events: list[str]) -> int:
    """
    pre: len(events) <= 3
    post: _ <= events.count("coin")
    """
    locked, passed = True, 0
    for event in events:
        if event == "coin":
            locked = False
        elif event == "push" and not locked:
            passed += 1
    return passed


#: check vend = verified
#: from lists(pick([5, 10, 20]), 0, 5), ints(0, 60)
def vend(coins: list[int], price: int) -> tuple[bool, int]:
    """
    pre: len(coins) <= 4
    pre: all(coin in (5, 10, 20, 50) for coin in coins)
    pre: price > 0
    post: _[1] >= 0
    """
    paid = 0
    for coin in coins:
        paid += coin
        if paid >= price:
            return True, paid - price
    return False, paid


#: check elevator = verified
#: from ints(0, 9), lists(ints(0, 9), 0, 4)
def elevator(floor: int, calls: list[int]) -> int:
    """
    pre: 0 <= floor <= 9
    pre: len(calls) <= 3 and all(0 <= call <= 9 for call in calls)
    post: _ <= 27
    """
    travelled = 0
    for call in calls:
        travelled += abs(call - floor)
        floor = call
    return travelled


#: check lock = verified
#: from lists(ints(0, 9), 0, 5)
class Lock:
    def __init__(self, code):
        self.code = code
        self.entered = []
        self.open = False

    def press(self, digit):
        self.entered.append(digit)
        if self.entered[-len(self.code):] == self.code:
            self.open = True


def lock(digits: list[int]) -> bool:
    """
    pre: len(digits) <= 4
    post: not _ or 3 in digits
    """
    device = Lock([1, 3])
    for digit in digits:
        device.press(digit)
    return device.open


#: check robot = verified
#: from texts("LRF", 0, 5)
def robot(moves: str) -> tuple[int, int]:
    """
    pre: len(moves) <= 4
    post: abs(_[0]) + abs(_[1]) <= len(moves)
    """
    x, y = 0, 0
    dx, dy = 0, 1
    for move in moves:
        if move == "L":
            dx, dy = -dy, dx
        elif move == "R":
            dx, dy = dy, -dx
        elif move == "F":
            x, y = x + dx, y + dy
    return x, y


#: check robot_home = counterexample
#: from texts("NSEW", 0, 5)
#: shown by "NE"
def robot_home(moves: str) -> bool:
    """
    pre: len(moves) <= 4
    post: not _ or (moves.count("N") == moves.count("S"))
    """
    steps = {"N": 1, "S": -1, "E": -1, "W": 1}
    return sum(steps.get(move, 0) for move in moves) == 0


#: check undo_stack = verified
#: from lists(ints(-2, 5), 0, 5)
class History:
    def __init__(self):
        self.done = []
        self.undone = []

    def do(self, action):
        self.done.append(action)
        self.undone.clear()

    def undo(self):
        if self.done:
            self.undone.append(self.done.pop())


def undo_stack(actions: list[int]) -> int:
    """
    pre: len(actions) <= 4
    post: 0 <= _ <= len(actions)
    """
    history = History()
    for action in actions:
        if action < 0:
            history.undo()
        else:
            history.do(action)
    return len(history.done)


#: find undo_all IndexError = found
#: from lists(ints(-2, 5), 0, 5)
#: shown by [-1]
def undo_all(actions: list[int]) -> list[int]:
    """
    pre: len(actions) <= 4
    """
    done = []
    for action in actions:
        if action == -1:
            done.pop()
        else:
            done.append(action)
    return done


#: check breaker = verified
#: from lists(bools(), 0, 5)
from dataclasses import dataclass


@dataclass
class Breaker:
    limit: int
    failures: int = 0

    @property
    def is_open(self) -> bool:
        return self.failures >= self.limit

    def record(self, ok: bool) -> None:
        self.failures = 0 if ok else self.failures + 1


def breaker(results: list[bool]) -> bool:
    """
    pre: len(results) <= 5
    post: not _ or results.count(False) >= 3
    """
    circuit = Breaker(limit=3)
    for ok in results:
        if circuit.is_open:
            break
        circuit.record(ok)
    return circuit.is_open


#: check breaker_state = counterexample
#: from ints(0, 10), ints(0, 10)
#: shown by 3, 3
def breaker_state(failures: int, limit: int) -> str:
    """
    pre: failures >= 0 and limit > 0
    post: _ == ("open" if failures >= limit else "closed")
    """
    if failures > limit:
        return "open"
    return "closed"


#: check rate_limit = verified
#: from lists(ints(0, 20), 0, 5)
from collections import deque


def rate_limit(times: list[int]) -> int:
    """
    pre: len(times) <= 4
    pre: all(t >= 0 for t in times) and times == sorted(times)
    post: 0 <= _ <= len(times)
    """
    window = deque()
    allowed = 0
    for now in times:
        while window and window[0] <= now - 10:
            window.popleft()
        if len(window) < 2:
            window.append(now)
            allowed += 1
    return allowed


#: check token_bucket = counterexample
#: from ints(0, 10), ints(0, 100)
#: shown by 9, 3
def token_bucket(tokens: int, elapsed: int) -> int:
    """
    pre: 0 <= tokens <= 10 and elapsed >= 0
    post: _ <= 10
    """
    if tokens < 10:
        tokens += elapsed // 1
    return tokens


#: check tennis = verified
#: from ints(0, 6), ints(0, 6)
def tennis(a: int, b: int) -> str:
    """
    pre: 0 <= a <= 10 and 0 <= b <= 10
    post: _ != "deuce" or a == b
    """
    names = ["love", "fifteen", "thirty", "forty"]
    if a >= 3 and b >= 3:
        if a == b:
            return "deuce"
        if abs(a - b) == 1:
            return "advantage " + ("a" if a > b else "b")
    if max(a, b) >= 4 and abs(a - b) >= 2:
        return "game " + ("a" if a > b else "b")
    return names[min(a, 3)] + " " + names[min(b, 3)]


#: check tennis_score = counterexample IndexError
#: from ints(0, 6), ints(0, 6)
#: shown by 4, 3
def tennis_score(a: int, b: int) -> str:
    """
    pre: 0 <= a <= 5 and 0 <= b <= 5
    """
    if a == b and a >= 3:
        return "deuce"
    if max(a, b) >= 4 and abs(a - b) >= 2:
        return "game"
    return f"{('love', '15', '30', '40')[a]}-{('love', '15', '30', '40')[b]}"


#: check bowling_frame = verified
#: from ints(0, 10), ints(0, 10)
def bowling_frame(first: int, second: int) -> str:
    """
    pre: 0 <= first <= 10 and 0 <= second <= 10 - first
    post: _ in ("X", "/", "open")
    """
    if first == 10:
        return "X"
    return "/" if first + second == 10 else "open"


#: check live_cell = verified
#: from bools(), ints(0, 8)
def live_cell(alive: bool, neighbours: int) -> bool:
    """
    pre: 0 <= neighbours <= 8
    post: _ == (neighbours == 3 or (alive and neighbours == 2))
    """
    if alive:
        return neighbours in (2, 3)
    return neighbours == 3


#: compare cell cell_again = different
#: from bools(), ints(0, 8)
#: shown by False, 2
def cell(alive: bool, neighbours: int) -> bool:
    """
    pre: 0 <= neighbours <= 8
    """
    return neighbours == 3 or (alive and neighbours == 2)


def cell_again(alive: bool, neighbours: int) -> bool:
    return neighbours == 3 or alive and neighbours < 2 or neighbours == 2


#: check retry = verified
#: from ints(1, 10)
def retry(attempt: int) -> int:
    """
    pre: 0 <= attempt <= 20
    post: 1 <= _ <= 60
    """
    return min(2 ** attempt, 60)


#: check backoff = counterexample
#: from ints(0, 20)
#: shown by 7
def backoff(attempt: int) -> int:
    """
    pre: 0 <= attempt <= 20
    post: _ <= 60
    """
    delay = 1 << attempt
    if attempt > 10:
        delay = 60
    return delay


#: check strip_comments = verified
#: from texts("a#\n", 0, 5)
def strip_comments(text: str) -> str:
    """
    pre: len(text) <= 5
    post: "#" not in _
    """
    kept, skipping = [], False
    for c in text:
        if c == "\n":
            skipping = False
        elif c == "#":
            skipping = True
        if not skipping:
            kept.append(c)
    return "".join(kept)


#: branches door = 7:TF 9:TF 12:TF
#: from pick(["open", "closed", "locked"]), pick(["close", "lock", "unlock", "open"])
#: reached by "open", "close"; "closed", "lock"; "closed", "open"; "locked", "unlock"; "closed", "close"
def door(state: str, action: str) -> str:
    """
    pre: state in ("open", "closed", "locked")
    pre: action in ("open", "close", "lock", "unlock")
    """

    if state == "open" and action == "close":
        return "closed"
    if state == "closed":
        return {"open": "open", "lock": "locked"}.get(action, state)

    if state == "locked" and action == "unlock":
        return "closed"
    return state


#: check parking = counterexample
#: from ints(1, 3), lists(pick(["in", "out"]), 0, 5)
#: shown by 1, ["out"]
def parking(places: int, events: list[str]) -> int:
    """
    pre: 1 <= places <= 3
    pre: len(events) <= 3
    pre: all(event in ("in", "out") for event in events)
    post: 0 <= _ <= places
    """
    free = places
    for event in events:
        if event == "in" and free > 0:
            free -= 1
        elif event == "out":
            free += 1
    return free
