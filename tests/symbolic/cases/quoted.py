#: check message = verified
def message(s: str) -> int:
    """
    raises: ValueError
    """
    if s == "1":
        return 1
    raise ValueError(f"not a number: {s!r} of {[s, None]}")

#: check quotes = verified
def quotes(s: str) -> str:
    r"""
    pre: len(s) <= 2
    post: _[0] == _[-1] and _[0] in "'\"" and len(_) >= len(s) + 2
    """
    return repr(s)

#: check double = counterexample "'"
def double(s: str) -> str:
    """
    pre: len(s) <= 2
    post: _[0] == "'"
    """
    return repr(s)

#: check newline = counterexample
def newline(s: str) -> str:
    r"""
    pre: len(s) <= 1
    post: len(_) != 4 or s == "\\"
    """
    return f"{s!r}"

#: check surrogate = counterexample
def surrogate(s: str) -> str:
    r"""
    pre: len(s) == 1 and "\ud800" <= s <= "\udfff"
    post: len(_) != 8
    """
    return repr(s)

#: check plain = verified
def plain(s: str) -> str:
    """
    pre: len(s) <= 3 and s.isascii() and s.isalnum()
    post: _ == "'" + s + "'"
    """
    return "%r" % s

#: check ascii_only = verified
def ascii_only(s: str) -> str:
    """
    pre: len(s) <= 2
    post: _.isascii()
    """
    return ascii(s)

#: check in_list = counterexample
def in_list(s: str) -> str:
    """
    pre: len(s) <= 2
    post: _ != "['a', {'a': 1}]"
    """
    return str([s, {s: 1}])

#: compare two_ways another = equivalent
def two_ways(s: str) -> str:
    """
    pre: len(s) <= 2
    """
    return f"<{s!r}>"

def another(s: str) -> str:
    return "<" + repr(s) + ">"

#: check of_two_lengths = verified
def of_two_lengths(n: int) -> list[str]:
    """
    pre: 32 <= n <= 126
    post: len(_[0] + _[1]) == 3
    """
    return sorted([chr(n), "ab"])

#: check header = verified
def header(line: str) -> str:
    """
    pre: len(line) <= 3 and ":" not in line
    post: ":" not in _
    """
    return line.lower()

#: check kelvin = counterexample \u212a
def kelvin(s: str) -> str:
    """
    pre: len(s) == 1 and not s.isascii()
    post: _ != "k"
    """
    return s.lower()

#: check sharp = counterexample
def sharp(s: str) -> str:
    """
    pre: len(s) <= 2 and "\xdf" in s
    post: len(_) == len(s)
    """
    return s.upper()

#: check sharp_in_a_word = counterexample
def sharp_in_a_word(s: str) -> str:
    """
    pre: len(s) == 2 and s[0] in "abc" and s[1] == "\xdf"
    post: len(_) == 3
    """
    return s.title()

#: check dotted = counterexample \u0130
def dotted(s: str) -> str:
    """
    pre: len(s) <= 2 and not s.isascii() and s[0] == "a"
    post: "i" not in _
    """
    return s.lower()

#: check unique = verified
def unique(items: list[int]) -> list[int]:
    """
    pre: len(items) <= 3
    post: len(_) == len(set(items)) and all(x in _ for x in items)
    """
    return list(dict.fromkeys(items))

#: check shared = counterexample
def shared(items: list[int]) -> dict[int, list[int]]:
    """
    pre: len(items) == 2
    post: all(len(x) <= 1 for x in _.values())
    """
    made = dict.fromkeys(items, [])
    for x in made:
        made[x].append(x)
    return made

#: check slug = verified
import re

def slug(s: str) -> str:
    """
    pre: len(s) <= 3
    post: all(c in "abcdefghijklmnopqrstuvwxyz-" for c in _) and "--" not in _
    """
    return re.sub("[^a-z]+", "-", s)

#: check swapped = counterexample
import re

def swapped(s: str) -> str:
    """
    pre: len(s) <= 3
    post: _ != "b=a"
    """
    return re.sub("(.)=(.)", r"\2=\1", s)

#: check numbers = verified
import re

def numbers(s: str) -> list[int]:
    """
    pre: len(s) <= 3
    post: all(0 <= x <= 999 for x in _)
    """
    return [int(x) for x in re.findall("[0-9]+", s)]

#: check empties = counterexample
import re

def empties(s: str) -> list[str]:
    """
    pre: len(s) <= 2
    post: len(_) <= 3
    """
    return re.split("a*", s)

#: check greedy = counterexample
import re

def greedy(s: str) -> str:
    """
    pre: len(s) <= 3
    post: _ in ("", "a")
    """
    m = re.match("(a|ab)(b?)", s)
    return m.group(1) + m.group(2) if m else ""

#: check callback = verified
import re

def callback(s: str) -> str:
    """
    pre: len(s) <= 2
    post: len(_) == len(s) and "a" not in _
    """
    return re.sub("a", lambda m: str(m.start()), s)

#: check between = error bounds
import re

def between(s: str) -> bool:
    """
    pre: len(s) <= 2
    """
    return re.compile("a").match(s, 1) is None

#: check loops = error repetition
import re

def loops(s: str) -> list[str]:
    """
    pre: 1 <= len(s) <= 2
    post: _ != ["zz"]
    """
    return re.findall("(?:a*)*", s)
