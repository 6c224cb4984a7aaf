"""Functions that parse text."""


#: check parse_pair = verified
#: from texts("ab=1 ", 0, 6)
def parse_pair(line: str) -> tuple[str, str]:
    """
    pre: len(line) <= 6
    post: '=' not in _[0]
    """
    if "=" not in line:
        return line, ""
    key, value = line.split("=", 1)
    return key, value


#: check parse_pair_strictly = counterexample ValueError
#: from texts("ab=1 ", 0, 6)
#: shown by "a=b=c"
def parse_pair_strictly(line: str) -> tuple[str, str]:
    if "=" not in line:
        return line, ""
    key, value = line.split("=")
    return key.strip(), value.strip()


#: check parse_version = verified
#: from texts("0123456789.", 0, 6)
def parse_version(text: str) -> tuple[int, ...]:
    """
    pre: len(text) <= 5
    post: len(_) == 3
    raises: ValueError
    """
    parts = text.split(".")
    if len(parts) > 3:
        raise ValueError("too many parts")
    numbers = [int(part) for part in parts]
    while len(numbers) < 3:
        numbers.append(0)
    return tuple(numbers)


#: find newer ValueError = found
#: from texts("0123456789.b", 0, 6), texts("0123456789.b", 0, 6)
#: shown by "1.0", "1.0b"
def newer(current: str, offered: str) -> bool:
    return [int(x) for x in offered.split(".")] > [int(x) for x in current.split(".")]


#: check is_newer = counterexample
#: from texts("0123456789.", 3, 4), texts("0123456789.", 3, 4)
#: shown by "1.9", "1.10"
def is_newer(current: str, offered: str) -> bool:
    """
    pre: current == "1.9"
    pre: offered in ("1.8", "1.9", "1.10", "2.0")
    post: _ == (offered in ("1.10", "2.0"))
    """
    return offered > current


#: check parse_duration = verified
#: from texts("0123456789hms", 0, 4)
import re


def parse_duration(text: str) -> int:
    """Seconds of "90s", "15m" or "2h".

    pre: len(text) <= 4
    post: _ >= 0
    raises: ValueError
    """
    match = re.fullmatch(r"([0-9]+)([smh])", text)
    if match is None:
        raise ValueError(f"not a duration: {text!r}")
    return int(match.group(1)) * {"s": 1, "m": 60, "h": 3600}[match.group(2)]


#: check parse_delay = counterexample KeyError
#: from texts("0123456789hmsd", 0, 4)
#: shown by "1d"
import re


def parse_delay(text: str) -> int:
    """
    raises: ValueError
    """
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if match is None:
        raise ValueError(text)
    units = {"s": 1, "m": 60, "h": 3600}
    return int(match.group(1)) * units[match.group(2)]


#: check parse_hex_color = verified
#: from joined(pick("#"), texts("0123456789abcdef", 6, 6))
def parse_hex_color(text: str) -> tuple[int, int, int]:
    """
    pre: len(text) == 7 and text[0] == "#"
    pre: all(c in "0123456789abcdef" for c in text[1:])
    post: all(0 <= channel <= 255 for channel in _)
    """
    digits = text.lstrip("#")
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


#: find parse_color ValueError = found
#: from texts("#0123456789abcdefg", 7, 7)
#: shown by "#00g000"
def parse_color(text: str) -> int:
    """
    pre: len(text) == 7
    """
    if not text.startswith("#"):
        return 0
    return int(text[1:], 16)


#: check parse_ipv4 = verified
#: from texts("0123456789.", 7, 8)
def parse_ipv4(text: str):
    """
    pre: 7 <= len(text) <= 8
    post: _ is None or (len(_) == 4 and max(_) <= 255)
    """
    parts = text.split(".")
    if len(parts) != 4:
        return None
    octets = []
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            return None
        number = int(part)
        if number > 255:
            return None
        octets.append(number)
    return octets


#: check read_ipv4 = counterexample
#: from texts("0123456789.", 7, 9)
#: shown by "1.1.1.256"
def read_ipv4(text: str):
    """
    pre: len(text) <= 9
    post: _ is None or all(0 <= octet < 256 for octet in _)
    """
    parts = text.split(".")
    if len(parts) != 4 or not all(p.isdecimal() for p in parts):
        return None
    octets = [int(p) for p in parts]
    if any(o > 256 for o in octets):
        return None
    return octets


#: check parse_query = verified
#: from texts("ab=&", 0, 5)
def parse_query(query: str) -> dict[str, str]:
    """
    pre: len(query) <= 5
    post: "" not in _
    """
    result = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name:
            result[name] = value
    return result


#: check parse_flags = counterexample
#: from texts("ab=&", 0, 5)
#: shown by "a=1&a=2"
def parse_flags(query: str) -> dict[str, list[str]]:
    """
    pre: query in ("", "a=1", "a=1&b=2", "a=1&a=2")
    post: sum(len(values) for values in _.values()) == query.count("=")
    """
    result = {}
    for part in query.split("&"):
        if "=" not in part:
            continue
        name, value = part.split("=")
        result[name] = [value]
    return result


#: check parse_time = verified
#: from texts("0123456789:", 5, 5)
def parse_time(text: str) -> int:
    """Minutes since midnight of "HH:MM".

    pre: len(text) == 5
    post: -1 <= _ < 24 * 60
    """
    if text[2] != ":":
        return -1
    hours, minutes = text[:2], text[3:]
    if not (hours.isdecimal() and minutes.isdecimal()):
        return -1
    h, m = int(hours), int(minutes)
    if h > 23 or m > 59:
        return -1
    return h * 60 + m


#: check minutes_of = counterexample
#: from texts("0123456789:", 5, 5)
#: shown by "24:00"
def minutes_of(text: str) -> int:
    """
    pre: len(text) == 5
    post: _ < 24 * 60
    """
    try:
        hours, minutes = map(int, text.split(":"))
    except ValueError:
        return -1
    if hours > 24 or minutes >= 60 or hours < 0 or minutes < 0:
        return -1
    return hours * 60 + minutes


#: check parse_bool = verified
#: from texts("yesnotruf10", 0, 5)
def parse_bool(text: str) -> bool:
    """
    pre: len(text) <= 5
    post: not _ or text.lower() in ("yes", "true", "1", "on")
    raises: ValueError
    """
    word = text.strip().lower()
    if word in {"yes", "true", "1", "on"} and word == text.lower():
        return True
    if word in {"no", "false", "0", "off"}:
        return False
    raise ValueError(f"not a boolean: {text}")


#: compare truthy truthy_short = different
#: from texts("yesnotruf10", 0, 4)
#: shown by "on"
def truthy(text: str) -> bool:
    """
    pre: len(text) <= 4
    """
    return text in ("yes", "true", "1", "on")


def truthy_short(text: str) -> bool:
    return text in ("yes", "true", "1") or text == "on " or text == "ON"


#: check parse_range = verified
#: from texts("0123456789-", 0, 5)
def parse_range(text: str) -> range:
    """
    pre: len(text) <= 3
    pre: all(c in "0123456789-" for c in text)
    post: len(_) >= 1
    raises: ValueError
    """
    first, dash, last = text.partition("-")
    if not dash:
        return range(int(first), int(first) + 1)
    low, high = int(first), int(last)
    if low > high:
        raise ValueError("the range is empty")
    return range(low, high + 1)


#: check expand_pages = counterexample
#: from texts("0123456789-,", 0, 5)
#: shown by "1-3"
def expand_pages(spec: str) -> list[int]:
    """
    pre: spec in ("1", "1,2", "1-3", "2-2")
    post: len(_) == {"1": 1, "1,2": 2, "1-3": 3, "2-2": 1}[spec]
    """
    pages = []
    for piece in spec.split(","):
        if "-" in piece:
            start, stop = piece.split("-")
            pages.extend(range(int(start), int(stop)))
        else:
            pages.append(int(piece))
    return pages


#: check tokenize = verified
#: from texts("ab+1 ", 0, 5)
def tokenize(text: str) -> list[str]:
    """
    pre: len(text) <= 4
    post: "".join(_) == text.replace(" ", "")
    """
    tokens, current = [], ""
    for c in text:
        if c == " ":
            if current:
                tokens.append(current)
            current = ""
        elif c in "+-*/":
            if current:
                tokens.append(current)
            tokens.append(c)
            current = ""
        else:
            current += c
    if current:
        tokens.append(current)
    return tokens


#: check split_words = counterexample
#: from texts("ab ", 0, 4)
#: shown by "ab"
def split_words(text: str) -> list[str]:
    """
    pre: len(text) <= 4
    post: "".join(_) == text.replace(" ", "")
    """
    words = []
    current = ""
    for c in text:
        if c == " ":
            if current:
                words.append(current)
            current = ""
        else:
            current += c
    return words


#: check balanced = verified
#: not yet The time was over
#: from texts("()[]", 0, 6)
def balanced(text: str) -> bool:
    """
    pre: len(text) <= 6
    post: not _ or text.count("(") == text.count(")")
    """
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for c in text:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return not stack


#: find is_balanced IndexError = found
#: from texts("()", 0, 6)
#: shown by ")"
def is_balanced(text: str) -> bool:
    """
    pre: len(text) <= 5
    """
    stack = []
    for c in text:
        if c == "(":
            stack.append(c)
        elif c == ")":
            stack.pop()
    return len(stack) == 0


#: branches log_level = 5:TF 7:TF 9:TF
#: from texts("DEBUGINFOWARN", 0, 5)
#: reached by "DEBUG"; "INFO"; "WARN"; "x"
def log_level(name: str) -> int:
    """
    pre: len(name) <= 5
    """
    if name == "DEBUG":
        return 10
    if name == "INFO":
        return 20
    if name.startswith("WARN"):
        return 30
    return 40


#: check parse_header = verified
#: from texts("aB: 1", 0, 5)
def parse_header(line: str) -> tuple[str, str]:
    """
    pre: len(line) <= 5
    post: ":" not in _[0] and not _[1].startswith(" ")
    raises: ValueError
    """
    index = line.find(":")
    if index < 1:
        raise ValueError("no name")
    name = line[:index].strip().lower()
    return name, line[index + 1:].lstrip()


#: check header_value = counterexample
#: from texts("aB: 1", 0, 5)
#: shown by "ab"
def header_value(line: str) -> str:
    """
    pre: len(line) <= 5
    post: ":" in line or _ == ""
    """
    index = line.find(":")
    return line[index + 1:].strip()


#: check parse_square = verified
#: from texts("abcdefghi0123456789", 0, 3)
def parse_square(square: str) -> tuple[int, int]:
    """
    pre: len(square) == 2
    pre: square[0] in "abcdefgh" and square[1] in "12345678"
    post: 0 <= _[0] <= 7 and 0 <= _[1] <= 7
    """
    column = ord(square[0]) - ord("a")
    row = int(square[1]) - 1
    return column, row


#: check square_color = counterexample
#: from pick("abcdefgh"), ints(1, 8)
#: shown by "a", 1
def square_color(column: str, row: int) -> str:
    """
    pre: column in ("a", "b", "c", "d", "e", "f", "g", "h")
    pre: 1 <= row <= 8
    post: not (column == "a" and row == 1) or _ == "dark"
    """
    number = "abcdefgh".index(column)
    return "light" if (number + row) % 2 == 1 else "dark"


#: check roman = verified
#: from texts("IVXLCDM", 0, 5)
def roman(text: str) -> int:
    """
    pre: 1 <= len(text) <= 4
    pre: all(c in "IVX" for c in text)
    post: 0 <= _ <= 40
    """
    values = {"I": 1, "V": 5, "X": 10}
    total = 0
    largest = 0
    for c in reversed(text):
        value = values[c]
        if value < largest:
            total -= value
        else:
            largest = value
            total += value
    return total if total > 0 else 0


#: check to_roman = counterexample
#: from ints(1, 50)
#: shown by 4
def to_roman(n: int) -> str:
    """
    pre: 1 <= n <= 49
    post: "IIII" not in _
    """
    parts = []
    for value, sign in ((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (1, "I")):
        while n >= value:
            parts.append(sign)
            n -= value
    return "".join(parts)


#: find parse_percent ValueError = unreachable
#: from texts("0123456789%", 0, 4)
def parse_percent(text: str) -> int:
    """
    pre: len(text) <= 4
    """
    number = text.rstrip("%")
    if not number.isdecimal():
        return 0
    return min(int(number), 100)


#: find percent ValueError = found
#: from texts("0123456789%\u00b2", 0, 3)
#: shown by "\u00b2%"
def percent(text: str) -> int:
    """
    pre: len(text) <= 3
    """
    number = text.rstrip("%")
    if number.isdigit():
        return int(number)
    return 0


#: compare csv_fields csv_fields_again = equivalent
#: from texts("a,b", 0, 5)
def csv_fields(line: str) -> list[str]:
    """
    pre: len(line) <= 4
    """
    return [field.strip() for field in line.split(",")]


def csv_fields_again(line: str) -> list[str]:
    fields = []
    for field in line.split(","):
        fields.append(field.strip())
    return fields


#: check parse_ini = verified
#: from lists(texts("a=;", 0, 3), 0, 3)
def parse_ini(lines: list[str]) -> dict[str, str]:
    """
    pre: len(lines) <= 2
    pre: all(len(line) <= 3 for line in lines)
    post: len(_) <= len(lines)
    """
    settings = {}
    for line in lines:
        line = line.strip()
        if not line or line.startswith(";"):
            continue
        if "=" in line:
            key, value = line.split("=", 1)
            settings[key.strip()] = value.strip()
    return settings


#: check read_lengths = counterexample ValueError
#: from lists(texts("0123456789 ", 0, 2), 0, 3)
#: shown by [""]
def read_lengths(words: list[str]) -> int:
    """
    pre: len(words) <= 3
    pre: all(c in "0123456789" for word in words for c in word)
    """
    return sum(int(word) for word in words)


#: compare key_of key_of_upper = different
#: from texts("aB: ", 0, 4)
#: shown by ":a"
def key_of(line: str) -> str:
    """
    pre: len(line) <= 4
    """
    return line.partition(":")[0].strip()


def key_of_upper(line: str) -> str:
    name, colon, value = line.partition(":")
    return name.strip() or value.strip()


#: check parse_numbers = verified
#: from texts("0123456789, ", 0, 5)
def parse_numbers(text: str) -> list[int]:
    """
    pre: len(text) <= 4
    post: all(number >= 0 for number in _)
    """
    numbers = []
    for piece in text.split(","):
        piece = piece.strip()
        try:
            number = int(piece)
        except ValueError:
            continue
        if number < 0:
            continue
        numbers.append(number)
    return numbers
