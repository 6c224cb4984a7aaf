#: check f = verified
def f(*numbers: int) -> int:
    """
    pre: len(numbers) <= 3
    post: _ == len(numbers)
    """
    count = 0
    for n in numbers:
        count += 1
    return count

#: check f = counterexample IndexError f()
def f(*numbers: int) -> int:
    return numbers[0]

#: check f = counterexample
#: find f ValueError = found f(0, 7)
def f(first: int, *rest: int) -> int:
    """
    post: _ >= first
    raises: ValueError
    """
    if 7 in rest:
        raise ValueError
    return first + sum(rest)

#: check f = counterexample limit=
def f(value: int, **options: int) -> int:
    """
    pre: len(options) <= 2
    post: _ <= 100
    """
    return min(value, options.get("limit", 100))

#: find f ValueError = unreachable
#: check f = verified
def f(value: int, *, scale: int = 1, **options: int) -> bool:
    """A keyword that is the name of a parameter is never one of the others.

    pre: len(options) <= 2
    post: not _
    """
    if "value" in options:
        raise ValueError
    return "scale" in options

#: check f = counterexample KeyError
def f(value: int, /, **options: int) -> int:
    """
    pre: len(options) <= 1
    """
    if "value" in options:
        raise KeyError
    return value

#: check f = verified
def f(**options: int) -> int:
    """What is done to the dict is not seen outside of the call.

    pre: len(options) <= 2
    post: "extra" not in options or "extra" in __old__.options
    """
    options["extra"] = 1
    return len(options)

#: check f = verified
def total(*numbers, **named):
    return sum(numbers) + sum(named.values())

def f(*numbers: int, **named: int) -> int:
    """
    pre: len(numbers) <= 2 and len(named) <= 2
    post: _ == sum(numbers) + sum(named.values())
    """
    return total(*numbers, **named)

#: check f = counterexample TypeError
def scaled(value, factor=1):
    return value * factor

def f(value: int, **options: int) -> int:
    """
    pre: len(options) <= 1
    """
    return scaled(value, **options)

#: compare f g = equivalent
def f(*parts: str) -> str:
    """
    pre: len(parts) <= 2
    """
    return "".join(parts)

def g(*parts: str) -> str:
    made = ""
    for part in parts:
        made = made + part
    return made

#: compare f g = different f(
def f(*numbers: int) -> int:
    return sum(numbers)

def g(*numbers: int) -> int:
    return sum(numbers[1:], 0) + (numbers[0] if numbers and numbers[0] != 1234 else 0)

#: branches f = complete 5:TF 7:TF cc 3
def f(*flags: bool, **named: bool) -> int:
    """
    pre: len(flags) <= 2 and len(named) <= 1
    """
    if all(flags):
        return 1
    if any(named.values()):
        return 2
    return 3

#: check f = verified assumptions
def f(*args, **kwargs):
    """
    pre: len(args) <= 2 and len(kwargs) <= 2
    post: _ == len(args) + len(kwargs)
    """
    return len(args) + len(kwargs)

#: check f = counterexample
def f(*lists: list[int]) -> int:
    """
    pre: len(lists) <= 2
    post: all(x[-1:] != [9] for x in lists)
    """
    for one in lists:
        one.append(len(one) + 8)
    return 0

#: check f = verified
def f(data: bytes) -> int:
    """
    pre: len(data) <= 3
    post: 0 <= _ <= 255
    """
    value = 0
    for byte in data:
        value ^= byte
    return value

#: check f = counterexample IndexError
def f(data: bytes) -> int:
    """
    pre: data.startswith(b"PK")
    """
    return data[2]

#: check f = verified
def f(data: bytes) -> int:
    """
    post: 0 <= _ <= 256
    """
    return data[0] if data else 256

#: check f = counterexample \xff
def f(data: bytes) -> int:
    """
    post: _ != 255
    """
    return data[0] if data else 0

#: check f = verified
def f(n: int) -> bytes:
    """
    pre: 0 <= n < 65536
    post: len(_) == 2 and int.from_bytes(_, "big") == n
    """
    return n.to_bytes(2, "big")

#: check f = counterexample OverflowError
def f(n: int) -> bytes:
    return n.to_bytes(2, "big", signed=True)

#: check f = verified
def f(data: bytes) -> str:
    """
    pre: len(data) <= 3
    post: _.encode() == data
    raises: UnicodeDecodeError
    """
    return data.decode()

#: find f UnicodeDecodeError = found
def f(data: bytes) -> str:
    """
    pre: len(data) == 2 and data[0] == 0xC3
    """
    return data.decode("utf-8")

#: check f = verified
def f(data: bytes) -> str:
    """
    pre: len(data) <= 2
    post: len(_) == 2 * len(data) and all(c in "0123456789abcdef" for c in _)
    """
    return data.hex()

#: compare f g = equivalent
def f(data: bytes) -> int:
    """
    pre: len(data) <= 3
    """
    return int.from_bytes(data, "little")

def g(data: bytes) -> int:
    return int.from_bytes(data[::-1], "big")

#: compare f g = different
def f(data: bytes) -> bytes:
    """
    pre: len(data) <= 2
    """
    return data.upper()

def g(data: bytes) -> bytes:
    return bytes(b - 32 if 97 <= b <= 122 and b != 113 else b for b in data)

#: check f = verified
def f(data: bytes | str) -> bool:
    """What is not known of a str is not taken from bytes of the same name.

    pre: len(data) == 1
    post: not _
    """
    return isinstance(data, bytes) and ord(data) > 255

#: find f ValueError = found
def f(data: bytes | str) -> None:
    """
    pre: len(data) == 1
    """
    if isinstance(data, str) and ord(data) > 300:
        raise ValueError

#: branches f = complete 5:TF 7:TF 9:-F dead 10 cc 4
def f(data: bytes) -> int:
    """
    pre: len(data) <= 2
    """
    if data[:1] == b"a":
        return 1
    if b"\x00" in data:
        return 2
    if any(b > 255 for b in data):
        return 3
    return 4

#: check f = verified enumeration
def f(data: bytes) -> int:
    """
    pre: len(data) <= 4 and all(b < 4 for b in data)
    post: 0 <= _ <= 255
    """
    value = 0
    for byte in data:
        value = value * 4 | byte
    return bytearray([value])[0]

#: check f = error Unsupported bytearray
def f(data: bytes) -> int:
    """
    pre: len(data) <= 3
    """
    return len(bytearray(data))

#: check f = verified
class Log:
    def __init__(self):
        self.events = []

    def __enter__(self):
        self.events.append("in")
        return self.events

    def __exit__(self, kind, error, trace):
        self.events.append("out" if kind is None else kind.__name__)
        return kind is ValueError

def f(n: int) -> list[str]:
    """
    post: _ == ["in", "ValueError" if n == 1 else "out"]
    """
    log = Log()
    with log as events:
        if n == 1:
            raise ValueError(n)
        if n == 2:
            return events
    return log.events

#: check f = counterexample KeyError
#: find f ValueError = unreachable
class Quiet:
    def __enter__(self):
        return 1

    def __exit__(self, kind, error, trace):
        return isinstance(error, ValueError)

def f(n: int) -> int:
    with Quiet() as one:
        if n > 5:
            raise ValueError(n)
        if n == 3:
            raise KeyError(n)
    return one

#: check f = verified
class Step:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(self.name)
        return self

    def __exit__(self, *error):
        self.log.append(self.name.upper())

def f(n: int) -> list[str]:
    """
    post: _ == ["a", "b", "B", "A"]
    """
    log = []
    for i in range(2):
        with Step(log, "a"), Step(log, "b"):
            if n > 0:
                break
            log.clear()
            log += ["a", "b"]
            continue
    return log

#: check f = counterexample TypeError
class Half:
    def __enter__(self):
        return 1

def f(n: int) -> int:
    with Half() as x:
        return x

#: branches f = complete 10:TF dead 12 cc 2
class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True

def f(n: int) -> int:
    with Swallow():
        if n > 0:
            raise ValueError
            n = 1
        return 1
    return 2

#: check f = verified
from typing import Annotated

Digit = Annotated[int, range(10)]

def f(first: Digit, *rest: Digit, **named: Digit) -> int:
    """Bounds of an alias hold, and those of *rest and **named for each item.

    pre: len(rest) <= 2 and len(named) <= 1
    post: 0 <= _ <= 36
    """
    return first + sum(rest) + sum(named.values())

#: check f = counterexample
from enum import Enum
from typing import Literal

class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3

def f(color: Literal[Color.RED, Color.GREEN], how: Literal[Literal["a", "b"], 3]) -> int:
    """
    post: _ != 5 and color is not Color.BLUE
    """
    return color.value + (3 if how == 3 else 0)

#: check f = verified
def f(n: int, /, **named: int) -> int:
    """
    pre: n == 3 and len(named) <= 1
    post: _ == 3
    """
    return n

#: check f = counterexample f(3, n=
def f(n: int, /, **named: int) -> int:
    """A keyword may have the name of a parameter that has a place only.

    pre: n == 3 and len(named) == 1 and "n" in named
    post: _ == 4
    """
    return n
