#: check up = verified
def up(a: str) -> str:
    """
    pre: len(a) <= 8
    pre: a.isascii()
    post: a.upper().upper() == a.upper()
    """
    return a

#: check up2 = verified
def up2(a: str) -> str:
    """
    pre: len(a) <= 6
    post: len(_) <= 3 * len(a)
    """
    return a.upper()

#: check low = timeout characters
def low(a: str) -> bool:
    """
    post: True
    """
    return a.lower() in ("yes", "no", "true")

#: check digits = verified
def digits(s: str) -> int:
    """
    pre: len(s) == 6
    pre: all('0' <= c <= '9' for c in s)
    post: 0 <= _ <= 54
    """
    return sum(int(c) for c in s)

#: check luhn = verified
def luhn(s: str) -> bool:
    """
    pre: len(s) == 6
    pre: s.isdigit() and s.isascii()
    """
    total = 0
    for i, c in enumerate(reversed(s)):
        d = int(c)
        if i % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0

#: check caesar = verified
def caesar(s: str) -> str:
    """
    pre: len(s) <= 5
    pre: all('a' <= c <= 'z' for c in s)
    post: all('a' <= c <= 'z' for c in _)
    """
    return "".join(chr((ord(c) - 97 + 3) % 26 + 97) for c in s)

#: check digit_bug = counterexample ValueError
def digit_bug(s: str) -> int:
    """
    pre: len(s) == 2
    """
    if s.isdigit():
        return int(s)
    return 0

#: check hexval = verified
def hexval(s: str) -> int:
    """
    pre: len(s) == 4
    pre: all(c in "0123456789abcdef" for c in s)
    post: 0 <= _ < 65536
    """
    return int(s, 16)

#: check palin = verified
def palin(s: str) -> bool:
    """
    pre: len(s) <= 6
    post: _ == (s == s[::-1])
    """
    i, j = 0, len(s) - 1
    while i < j:
        if s[i] != s[j]:
            return False
        i += 1
        j -= 1
    return True

#: check fmt = verified
def fmt(h: int, m: int) -> str:
    """
    pre: 0 <= h < 24 and 0 <= m < 60
    post: len(_) == 5 and _[2] == ":"
    """
    return f"{h:02d}:{m:02d}"

#: check money = verified
def money(cents: int) -> str:
    """
    pre: 0 <= cents <= 1000000
    post: _[-3] == "." and int(_.replace(".", "")) == cents
    """
    return f"{cents / 100:.2f}"

#: check thousands = verified
def thousands(n: int) -> str:
    """
    pre: 0 <= n < 10000000
    post: int(_.replace(",", "")) == n
    """
    return f"{n:,}"

#: check hexs = verified
def hexs(n: int) -> str:
    """
    pre: 0 <= n < 65536
    post: int(_, 16) == n
    """
    return hex(n)

#: check hex2 = verified
def hex2(n: int) -> str:
    """
    pre: 0 <= n < 256
    post: len(_) == 2
    """
    return f"{n:02x}"

#: check binlen = verified
def binlen(n: int) -> int:
    """
    pre: 0 < n < 1024
    post: 2 ** (_ - 1) <= n < 2 ** _
    """
    return len(bin(n)) - 2

#: check clock = counterexample Postcondition
def clock(s: str) -> int:
    """
    pre: len(s) == 5
    raises: ValueError
    post: 0 <= _ < 1440
    """
    h, m = s.split(":")
    h, m = int(h), int(m)
    if h > 23 or m > 59:
        raise ValueError
    return h * 60 + m

#: check clock2 = verified
def clock2(s: str) -> int:
    """
    pre: len(s) == 5
    raises: ValueError
    post: 0 <= _ < 1440
    """
    h, m = s.split(":")
    if not (h.isdigit() and m.isdigit() and h.isascii() and m.isascii()):
        raise ValueError
    h, m = int(h), int(m)
    if h > 23 or m > 59:
        raise ValueError
    return h * 60 + m

#: check center = verified
def center(s: str) -> str:
    """
    pre: len(s) <= 6
    post: len(_) == 6 and s in _
    """
    return s.center(6, "*")

#: check slug = verified
def slug(s: str) -> str:
    """
    pre: len(s) <= 5 and s.isascii()
    post: " " not in _ and _ == _.lower()
    """
    return s.strip().lower().replace(" ", "-")

#: check ext = verified
def ext(s: str) -> str:
    """
    pre: len(s) <= 8
    post: "." not in _
    """
    i = s.rfind(".")
    return s[i + 1:] if i >= 0 else ""

#: check capwords = verified
def capwords(s: str) -> str:
    """
    pre: len(s) <= 5 and s.isascii()
    post: len(_) == len(s)
    """
    return s.title()

#: check rle = verified
def rle(s: str) -> str:
    """
    pre: len(s) <= 4 and s.isalpha() and s.isascii()
    post: len(_) <= 2 * len(s)
    """
    out = ""
    i = 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out += s[i] + str(j - i)
        i = j
    return out

#: check email = verified
def email(s: str) -> bool:
    """
    pre: len(s) <= 8
    post: not _ or "@" in s
    """
    if s.count("@") != 1:
        return False
    local, _, domain = s.partition("@")
    return bool(local) and "." in domain and not domain.startswith(".")

#: check pad = verified
def pad(n: int) -> str:
    """
    pre: 0 <= n <= 99999
    post: len(_) == 5
    """
    return str(n).zfill(5)

#: check pct = verified
def pct(a: int, b: int) -> str:
    """
    pre: 0 <= a <= 100
    post: _.endswith("%")
    """
    return f"{a / 100:.1%}"

#: check isbn = verified
def isbn(s: str) -> bool:
    """
    pre: len(s) == 10
    """
    total = 0
    for i, c in enumerate(s):
        if c == "X" and i == 9:
            total += 10
        elif c.isdecimal():
            total += (10 - i) * int(c)
        else:
            return False
    return total % 11 == 0

#: check ipv4 = counterexample ValueError
def ipv4(s: str) -> bool:
    """
    pre: len(s) <= 7
    """
    parts = s.split(".")
    if len(parts) != 4:
        return False
    for p in parts:
        if not p.isdigit() or int(p) > 255:
            return False
    return True

#: check f = error beyond U+2FF00
import re

def f(s: str) -> bool:
    """
    post: not _
    """
    return bool(re.search("[^\u0000-\U0002ffff]", s))

#: check f = counterexample
import re

def f(s: str) -> bool:
    """
    post: not _
    """
    return bool(re.fullmatch("a\U0002ffff", s))

#: check f = verified
import re

def f(s: str) -> bool:
    """
    post: not _
    """
    return bool(re.search("[^\u0000-\U0010ffff]", s))
