#: check f = counterexample
def f(s: str) -> bool:
    """
    post: not _
    """
    return s == "secret"

#: check f = verified
def f(s: str) -> int:
    """
    post: _ >= 0
    """
    return len(s)

#: check f = counterexample IndexError
def f(s: str) -> str:
    return s[0]

#: check f = verified
def f(s: str) -> str:
    if s:
        return s[0]
    return ""

#: check f = verified
def f(a: str, b: str) -> str:
    """
    post: len(_) == len(a) + len(b)
    post: _.startswith(a)
    post: _.endswith(b)
    """
    return a + b

#: check f = counterexample
def f(a: str, b: str) -> bool:
    """
    post: _
    """
    return a + b == b + a

#: check f = counterexample ValueError
def f(s: str) -> str:
    if s.startswith("ab") and s.endswith("yz") and len(s) == 5:
        raise ValueError(s)
    return s

#: check f = verified
def f(s: str) -> bool:
    """
    post: _
    """
    return s in s

#: check f = counterexample
def f(s: str) -> bool:
    """
    post: not _
    """
    return "@" in s and "." in s

#: check f = verified
def f(s: str) -> str:
    """
    post: len(_) <= 3
    """
    return s[:3]

#: check f = counterexample
def f(s: str) -> str:
    """
    post: _ != "bc"
    """
    return s[1:-1]

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == "HELLO"
    """
    return "hello".upper()

#: check f = counterexample Postcondition
def f(s: str) -> str:
    """
    pre: len(s) <= 1
    post: len(_) == len(s)
    """
    return s.upper()

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == ["a", "b", "c"]
    """
    return "a,b,c".split(",")

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == "1-2-3"
    """
    return "-".join(str(i) for i in [1, 2, 3])

#: check f = counterexample
def f(x: int) -> str:
    """
    post: _ != "x=42!"
    """
    return f"x={x}!"

#: check f = verified
def f(x: bool) -> str:
    """
    post: _ == "True" or _ == "False"
    """
    return str(x)

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == "00042|3.14|'q'"
    """
    return f"{42:05d}|{3.14159:.2f}|{'q'!r}"

#: check f = verified
def f(s: str, t: str) -> int:
    """
    post: _ >= -1
    """
    return s.find(t)

#: check f = counterexample ValueError
def f(s: str) -> int:
    return s.index("x")

#: check f = verified
def f(a: str, b: str) -> bool:
    """
    post: _ == (not b <= a)
    """
    return a < b

#: check f = counterexample TypeError
def f(s: str) -> str:
    return s + 1

#: check f = verified
def f(s: str) -> str:
    """
    post: _ == s + s + s
    """
    return s * 3

#: check f = counterexample
def f(s: str) -> str:
    """
    post: _ != "aaaa"
    """
    return s * 2

#: check f = counterexample
def f(s: str) -> int:
    """
    post: _ < 2
    """
    n = 0
    for c in s:
        if c == "a":
            n += 1
    return n

#: check f = verified
def f(s: str) -> bool:
    """
    pre: len(s) <= 2
    post: _ == (s == s[::1])
    """
    return True

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 45
    """
    return int("42") + int("11", 2)

#: check f = counterexample ValueError
def f(x: int) -> int:
    return int("4x" if x == 2 else "4")

#: check f = counterexample ValueError
def f(s: str) -> int:
    if s == "12":
        return int(s) - 12
    return int(s)

#: check f = verified
def f(s: str) -> int:
    """
    pre: len(s) <= 1
    raises: ValueError
    """
    return int(s)

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 97
    """
    return ord("a")

#: check f = verified
def f(s: str) -> int:
    if len(s) == 1:
        return ord(s)
    return 0

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == "abc"
    """
    return "a" "b" + chr(99)

#: check f = verified
def f(s: str) -> str:
    """
    pre: s.startswith("x-")
    post: "x-" + _ == s
    """
    return s.removeprefix("x-")

#: compare f g = different
def f(s: str) -> bool:
    return s.startswith("a")

def g(s: str) -> bool:
    return "a" in s

#: compare f g = equivalent
def f(s: str) -> bool:
    return len(s) == 0

def g(s: str) -> bool:
    return not s

#: find f KeyError = unreachable
def f(s: str) -> str:
    if s == "a" and s == "b":
        raise KeyError(s)
    return s

#: check f = counterexample
def f(s: str) -> str:
    """
    post: _ != "\u00e9\\n"
    """
    return s

#: check f = verified
def f(x: int) -> str:
    """
    post: _ == "[1, 'a', None, (2,), {'k': 1.5}]"
    """
    return str([1, 'a', None, (2,), {'k': 1.5}])

#: check f = verified
def f(n: int) -> str:
    """
    pre: 0 <= n <= 99
    post: 1 <= len(_) <= 2
    """
    return str(n)
