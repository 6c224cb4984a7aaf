"""Text: names, words, layout, ciphers."""


#: check slugify = verified
#: from texts("aB -", 0, 5)
import re


def slugify(title: str) -> str:
    """
    pre: len(title) <= 5
    post: " " not in _ and not _.startswith("-")
    """
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower())
    return slug.strip("-")


#: check slug = counterexample
#: from texts("aB -!", 0, 5)
#: shown by "a!"
def slug(title: str) -> str:
    """
    pre: len(title) <= 4
    post: "!" not in _
    """
    return "-".join(title.lower().split())


#: check truncate = verified
#: from texts("abc", 0, 8), ints(3, 8)
def truncate(text: str, width: int) -> str:
    """
    pre: len(text) <= 8 and width >= 3
    post: len(_) <= width
    """
    if len(text) <= width:
        return text
    return text[:width - 3] + "..."


#: check shorten = counterexample
#: from texts("abc", 0, 8), ints(0, 8)
#: shown by "abc", 1
def shorten(text: str, width: int) -> str:
    """
    pre: len(text) <= 8 and width >= 0
    post: len(_) <= max(width, 3)
    """
    if len(text) <= width:
        return text
    return text[:width - 3] + "..." if width != 3 else text[:4]


#: check caesar = verified
#: from texts("abyz", 0, 4), ints(-30, 30)
def caesar(text: str, shift: int) -> str:
    """
    pre: len(text) <= 3 and all(c in "abcdefghijklmnopqrstuvwxyz" for c in text)
    pre: -26 <= shift <= 26
    post: len(_) == len(text) and all("a" <= c <= "z" for c in _)
    """
    return "".join(chr((ord(c) - ord("a") + shift) % 26 + ord("a")) for c in text)


#: check rot13 = counterexample
#: from texts("abnz", 0, 4)
#: shown by "z"
def rot13(text: str) -> str:
    """
    pre: len(text) <= 3 and all(c in "abcdefghijklmnopqrstuvwxyz" for c in text)
    post: all(c.isalpha() for c in _)
    """
    result = ""
    for c in text:
        result += chr(ord(c) + 13) if c <= "n" else chr(ord(c) - 12 + 1 * (c == "z") * 13)
    return result


#: check is_palindrome = verified
#: from texts("aB ", 0, 5)
def is_palindrome(text: str) -> bool:
    """
    pre: len(text) <= 4
    post: not _ or len(text) == 0 or text[0] == text[-1]
    """
    i, j = 0, len(text) - 1
    while i < j:
        if text[i] != text[j]:
            return False
        i, j = i + 1, j - 1
    return True


#: compare palindrome palindrome_half = different
#: from texts("ab", 0, 5)
#: shown by "aab"
def palindrome(text: str) -> bool:
    """
    pre: len(text) <= 4
    """
    return text == text[::-1]


def palindrome_half(text: str) -> bool:
    return all(text[i] == text[-1 - i] for i in range(len(text) // 2 - 1)) if len(text) > 3 else text[:1] == text[1:2] or len(text) < 2


#: check count_vowels = verified
#: from texts("aEbc", 0, 5)
def count_vowels(text: str) -> int:
    """
    pre: len(text) <= 5
    post: 0 <= _ <= len(text)
    """
    return sum(1 for c in text if c in "aeiouAEIOU")


#: check to_snake = verified
#: from texts("aBC", 0, 4)
def to_snake(name: str) -> str:
    """
    pre: len(name) <= 4 and name.isascii()
    post: _ == _.lower()
    """
    result = []
    for i, c in enumerate(name):
        if c.isupper() and i > 0:
            result.append("_")
        result.append(c.lower())
    return "".join(result)


#: check to_camel = counterexample
#: from texts("ab_", 0, 5)
#: shown by "_a"
def to_camel(name: str) -> str:
    """
    pre: 1 <= len(name) <= 4
    pre: all(c in "abc_" for c in name)
    pre: name[-1] != "_"
    post: _[0].islower()
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


#: check initials = verified
#: from texts("ab ", 0, 5)
def initials(name: str) -> str:
    """
    pre: len(name) <= 5
    post: len(_) <= 3
    """
    return "".join(word[0] for word in name.split())


#: find acronym IndexError = found
#: from texts("ab ", 0, 5)
#: shown by "a  b"
def acronym(name: str) -> str:
    """
    pre: len(name) <= 4
    """
    return "".join(word[0] for word in name.split(" "))


#: check longest_word = verified
#: from texts("ab ", 0, 6)
def longest_word(text: str) -> str:
    """
    pre: len(text) <= 5
    post: " " not in _
    """
    return max(text.split(), key=len, default="")


#: check common_prefix = verified
#: not yet The time was over
#: from lists(texts("ab", 0, 3), 0, 3)
def common_prefix(words: list[str]) -> str:
    """
    pre: len(words) <= 3 and all(len(word) <= 3 for word in words)
    post: all(word.startswith(_) for word in words)
    """
    if not words:
        return ""
    shortest = min(words, key=len)
    for i, c in enumerate(shortest):
        if any(word[i] != c for word in words):
            return shortest[:i]
    return shortest


#: check prefix_of = counterexample IndexError
#: from texts("ab", 0, 3), texts("ab", 0, 3)
#: shown by "ab", "a"
def prefix_of(a: str, b: str) -> str:
    """
    pre: len(a) <= 3 and len(b) <= 3
    """
    i = 0
    while i < len(a) and a[i] == b[i]:
        i += 1
    return a[:i]


#: check anagram = verified
#: from texts("abc", 0, 4), texts("abc", 0, 4)
def anagram(a: str, b: str) -> bool:
    """
    pre: len(a) <= 3 and len(b) <= 3
    post: not _ or len(a) == len(b)
    """
    return sorted(a) == sorted(b)


#: check same_letters = counterexample
#: from texts("ab", 0, 4), texts("ab", 0, 4)
#: shown by "a", "aa"
def same_letters(a: str, b: str) -> bool:
    """
    pre: len(a) <= 3 and len(b) <= 3
    post: _ == (sorted(a) == sorted(b))
    """
    return set(a) == set(b)


#: check plural = verified
#: from ints(-3, 10), texts("ab", 1, 3)
def plural(count: int, noun: str) -> str:
    """
    pre: 0 <= count <= 1000 and 1 <= len(noun) <= 4
    post: _.endswith("s") or count == 1
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


#: check ordinal = verified
#: from ints(0, 130)
def ordinal(n: int) -> str:
    """
    pre: 0 <= n <= 1000
    post: _[-2:] in ("st", "nd", "rd", "th")
    """
    if n % 100 in (11, 12, 13):
        suffix = "th"
    else:
        suffix = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return str(n) + suffix


#: check ordinal_short = counterexample
#: from ints(0, 130)
#: shown by 11
def ordinal_short(n: int) -> str:
    """
    pre: 0 <= n <= 200
    post: n % 100 != 11 or _.endswith("th")
    """
    suffixes = ["th", "st", "nd", "rd"] + ["th"] * 6
    return f"{n}{suffixes[n % 10]}"


#: check censor = verified
#: from texts("abc", 0, 6)
def censor(text: str) -> str:
    """
    pre: len(text) <= 6
    post: "bad" not in _
    """
    return text.replace("bad", "***")


#: check remove_double_spaces = counterexample
#: from texts("a ", 0, 6)
#: shown by "   "
def remove_double_spaces(text: str) -> str:
    """
    pre: len(text) <= 4
    post: "  " not in _
    """
    return text.replace("  ", " ")


#: check reverse_words = verified
#: from texts("ab ", 0, 5)
def reverse_words(text: str) -> str:
    """
    pre: len(text) <= 5
    post: len(_) <= len(text)
    """
    return " ".join(reversed(text.split()))


#: check center = counterexample
#: from texts("ab", 0, 5), ints(0, 9)
#: shown by "a", 4
def center(text: str, width: int) -> str:
    """
    pre: len(text) <= 4 and 0 <= width <= 8
    post: len(_) == max(len(text), width)
    """
    padding = (width - len(text)) // 2
    return " " * padding + text + " " * padding


#: check hamming = verified
#: from texts("ab", 0, 4), texts("ab", 0, 4)
def hamming(a: str, b: str) -> int:
    """
    pre: len(a) == len(b) <= 4
    post: (_ == 0) == (a == b)
    """
    return sum(x != y for x, y in zip(a, b))


#: check distance = counterexample
#: from texts("ab", 0, 4), texts("ab", 0, 4)
#: shown by "a", "ab"
def distance(a: str, b: str) -> int:
    """
    pre: len(a) <= 3 and len(b) <= 3
    post: (_ == 0) == (a == b)
    """
    return len([1 for x, y in zip(a, b) if x != y])


#: check edit_distance = verified
#: from texts("ab", 0, 2), texts("ab", 0, 2)
def edit_distance(a: str, b: str) -> int:
    """
    pre: len(a) <= 2 and len(b) <= 2
    post: abs(len(a) - len(b)) <= _ <= max(len(a), len(b))
    """
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


#: check isogram = verified
#: from texts("abA", 0, 4)
def isogram(word: str) -> bool:
    """
    pre: len(word) <= 3
    post: not _ or len(set(word)) == len(word)
    """
    return len(set(word)) == len(word)


#: check quote = counterexample
#: from texts('a"', 0, 4)
#: shown by '"'
def quote(text: str) -> str:
    """
    pre: len(text) <= 4
    post: '"' not in _[1:-1]
    """
    if '"' in text and len(text) > 1:
        text = text.replace('"', "'")
    return '"' + text + '"'


#: check indent = verified
#: from lists(texts("ab", 0, 3), 0, 3), ints(0, 4)
def indent(lines: list[str], depth: int) -> list[str]:
    """
    pre: len(lines) <= 3 and 0 <= depth <= 4
    post: all(line == "" or line.startswith(" " * depth) for line in _)
    """
    return [" " * depth + line if line else line for line in lines]


#: compare title_case title_case_loop = equivalent
#: from texts("ab ", 0, 5)
def title_case(text: str) -> str:
    """
    pre: len(text) <= 3
    pre: all(c in "ab " for c in text)
    """
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


def title_case_loop(text: str) -> str:
    result, start = "", True
    for c in text:
        result += c.upper() if start else c
        start = c == " "
    return result


#: branches greeting = 5:TF 7:TF
#: from texts("ab", 0, 3), pick(["en", "de", "fr"])
#: reached by "a", "de"; "a", "en"; "", "en"
def greeting(name: str, language: str) -> str:
    """
    pre: len(name) <= 3
    """
    if not name:
        name = "you"
    if language == "de":
        return f"Hallo {name}"
    return f"Hello {name}"
