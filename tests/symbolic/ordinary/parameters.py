#: check largest = verified
#: from ints(-9, 9), lists(ints(-9, 9), 0, 3)
def largest(first: int, *others: int) -> int:
    """
    pre: len(others) <= 3
    post: _ >= first and all(_ >= o for o in others)
    """
    best = first
    for other in others:
        if other > best:
            best = other
    return best


#: check final_price = counterexample post
#: from ints(0, 1000), lists(ints(0, 100), 0, 2)
#: shown by 100, 60, 60
def final_price(price: int, *percents: int) -> int:
    """
    pre: 0 <= price <= 1000 and len(percents) <= 2 and all(0 <= p <= 100 for p in percents)
    post: 0 <= _ <= price
    """
    return price - price * sum(percents) // 100


#: check join_path = counterexample post
#: from lists(texts("a/", 0, 2), 0, 2)
#: shown by "a/", "/b"
def join_path(*parts: str) -> str:
    """
    pre: len(parts) <= 2 and all(len(p) <= 2 for p in parts)
    post: "//" not in _
    """
    return "/".join(part.removesuffix("/") for part in parts)


#: check setting = verified
#: from texts("ab", 0, 2), dicts(texts("ab", 1, 2), ints(0, 9), 0, 2)
def setting(key: str, /, **options: int) -> int:
    """
    pre: len(options) <= 2
    post: _ == -1 or key in options
    """
    if key not in options:
        return -1
    return options[key]


#: check area = counterexample KeyError
#: from dicts(pick(["width", "height"]), ints(0, 9), 0, 2)
#: shown by height=2
def area(**size: int) -> int:
    """
    pre: 1 <= len(size) <= 2
    raises: ValueError
    """
    if any(n < 0 for n in size.values()):
        raise ValueError("negative")
    return size["width"] * size.get("height", size["width"])


#: find connect TypeError = found
#: from ints(1, 9), dicts(pick(["timeout", "retries", "proxy"]), ints(1, 9), 0, 2)
#: shown by 1, proxy=2
def open_with(port, timeout=30, retries=3):
    return (port, timeout, retries)


def connect(port: int, **options: int) -> tuple[int, int, int]:
    """
    pre: len(options) <= 1
    """
    return open_with(port, **options)


#: check with_checksum = verified
#: from bytestrings(0, 3)
def with_checksum(data: bytes) -> bytes:
    """
    pre: len(data) <= 3
    post: sum(_) % 256 == 0 and _[:-1] == data
    """
    return data + bytes([-sum(data) % 256])


#: check with_checksum = counterexample ValueError
#: from bytestrings(0, 3)
#: shown by b"\x80\x80"
def with_checksum(data: bytes) -> bytes:
    """
    pre: 0 < len(data) <= 3
    post: sum(_) % 256 == 0
    """
    return data + bytes([256 - sum(data) % 256])


#: check parse_header = counterexample IndexError
#: from bytestrings(0, 6)
#: shown by b"\x7fELF"
def parse_header(data: bytes) -> int:
    """
    raises: ValueError
    """
    if len(data) < 4 or data[:4] != b"\x7fELF":
        raise ValueError("no ELF file")
    return 64 if data[4] == 2 else 32


#: check parse_record = verified
#: from bytestrings(0, 5)
def parse_record(data: bytes) -> bytes:
    """
    pre: len(data) <= 5
    post: len(_) == data[0]
    raises: ValueError
    """
    if not data:
        raise ValueError("empty")
    size, rest = data[0], data[1:]
    if len(rest) < size:
        raise ValueError("cut off")
    return rest[:size]


#: check expand = counterexample IndexError
#: from bytestrings(0, 4)
#: shown by b"\x01\x02\x03"
def expand(data: bytes) -> bytes:
    """
    pre: len(data) <= 4 and all(b <= 3 for b in data)
    """
    out = b""
    for i in range(0, len(data), 2):
        out += bytes([data[i + 1]]) * data[i]
    return out


#: compare is_png is_png_by_parts = equivalent
#: from bytestrings(0, 5)
def is_png(data: bytes) -> bool:
    return data.startswith(b"\x89PNG")


def is_png_by_parts(data: bytes) -> bool:
    return len(data) >= 4 and data[0] == 0x89 and data[1:4] == b"PNG"


#: compare swapped reversed_bytes = different
#: from ints(0, 65535)
#: shown by 1
def swapped(n: int) -> int:
    """
    pre: 0 <= n < 65536
    """
    return (n & 255) << 8 | n >> 8


def reversed_bytes(n: int) -> int:
    return int.from_bytes(n.to_bytes(2, "big"), "big")


#: check ascii_name = verified
#: from bytestrings(0, 3)
def ascii_name(raw: bytes) -> str:
    """
    pre: len(raw) <= 3
    post: len(_) <= 3 and (_ == "?" or _.isascii())
    """
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError:
        return "?"


#: check transfer = verified
#: from ints(0, 20), ints(-5, 25)
class Rollback:
    def __init__(self, account):
        self.account = account

    def __enter__(self):
        self.before = dict(self.account)
        return self.account

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.account.update(self.before)
        return kind is ValueError


def transfer(balance: int, amount: int) -> dict[str, int]:
    """
    pre: balance >= 0
    post: _["from"] + _["to"] == balance and _["from"] >= 0
    """
    account = {"from": balance, "to": 0}
    with Rollback(account) as a:
        a["from"] -= amount
        if a["from"] < 0:
            raise ValueError("not enough")
        a["to"] += amount
    return account


#: check guarded = counterexample post
#: from ints(-5, 5)
#: shown by 0
class Ignore:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return isinstance(error, self.kinds)


def guarded(n: int) -> int:
    """
    post: _ > 0 or n < 0
    """
    result = 0
    with Ignore(ZeroDivisionError, KeyError):
        result = 10 // n if n <= 10 else 1
    return result
