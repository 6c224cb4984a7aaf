"""Text that is laid out or taken apart, and numbers that check it, each with a planted bug."""


#: check wrap = counterexample
#: from texts("ab ", 0, 8), ints(2, 5)
#: shown by "aaa", 2
def wrap(text: str, width: int) -> list[str]:
    """Lines of words that are never wider than that; long words are split.

    pre: len(text) <= 4 and all(c in "ab " for c in text) and 2 <= width <= 4
    post: all(len(line) <= width for line in _)
    """
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] = (lines[-1] + " " + word).strip()
        else:
            lines.append(word)
    return [line for line in lines if line]


#: check column = counterexample
#: from lists(texts("ab", 0, 4), 0, 3), ints(0, 5)
#: shown by ["abc"], 2
def column(cells: list[str], width: int) -> list[str]:
    """
    pre: len(cells) <= 2 and all(len(c) <= 4 for c in cells) and 1 <= width <= 4
    post: all(len(c) == width for c in _)
    """
    return [cell.ljust(width) for cell in cells]


#: check ellipsis = counterexample
#: from texts("abc", 0, 8), ints(0, 6)
#: shown by "abcd", 2
def ellipsis(text: str, width: int) -> str:
    """
    pre: len(text) <= 8 and 1 <= width <= 6
    post: len(_) <= width
    """
    if len(text) <= width:
        return text
    return text[:width - 3] + "..."


#: check tab_stops = counterexample
#: from texts("a\t", 0, 6)
#: shown by "aaaa\t"
def tab_stops(line: str) -> str:
    """A tab goes to the next place that 4 divides, at least one further.

    pre: len(line) <= 5 and all(c in "a\\t" for c in line)
    post: not line.endswith("\\t") or (len(_) % 4 == 0 and len(_) > len(line.rstrip("\\t")))
    """
    out = ""
    for c in line:
        if c == "\t":
            out += " " * (-len(out) % 4)
        else:
            out += c
    return out


#: check menu = counterexample
#: from lists(texts("abc", 1, 3), 0, 4), ints(-1, 4)
#: shown by ["a", "b"], 1
def menu(entries: list[str], chosen: int) -> list[str]:
    """The entry that is chosen is marked.

    pre: 1 <= len(entries) <= 3 and 0 <= chosen < len(entries) and all(len(e) <= 2 for e in entries)
    post: _[chosen].startswith("> ") and sum(1 for line in _ if line.startswith("> ")) == 1
    """
    lines = []
    for i, entry in enumerate(entries, start=1):
        mark = "> " if i == chosen else "  "
        lines.append(mark + entry)
    return lines


#: find breadcrumb IndexError = found
#: from texts("a/", 0, 6)
#: shown by "/"
def breadcrumb(path: str) -> str:
    """
    pre: len(path) <= 5 and all(c in "a/" for c in path)
    """
    parts = [part for part in path.split("/") if part]
    return parts[0] + " > ... > " + parts[-1] if len(parts) != 1 else parts[0]


#: check strip_quotes = counterexample
#: from texts("'a", 0, 4)
#: shown by "'"
def strip_quotes(text: str) -> str:
    """What is between two quotes; other text as it is.

    pre: len(text) <= 4
    post: _ == text or len(_) == len(text) - 2
    """
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1]
    return text


#: check key_value = counterexample ValueError
#: from texts("a=1", 0, 5)
#: shown by "a=1=1"
def key_value(line: str) -> tuple[str, str]:
    """
    pre: len(line) <= 5 and "=" in line
    """
    key, value = line.split("=")
    return key, value


#: check unit_bytes = counterexample
#: from ints(0, 9000)
#: shown by 1024
def unit_bytes(size: int) -> str:
    """
    pre: 0 <= size <= 5000
    post: _.endswith("KB") == (size >= 1024)
    """
    if size > 1024:
        return f"{size // 1024} KB"
    return f"{size} B"


#: check signed_text = counterexample
#: from ints(-200, 200)
#: shown by 0
def signed_text(change: int) -> str:
    """
    pre: -999 <= change <= 999
    post: _[0] in "+-" and int(_) == change
    """
    return f"+{change}" if change > 0 else str(change)


#: check check_letter = counterexample
#: from ints(0, 99999)
#: shown by 23
LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def check_letter(number: int) -> str:
    """
    pre: 0 <= number <= 99999
    post: _ == LETTERS[number % 23]
    """
    return LETTERS[number % 22] if number > 22 else LETTERS[number]


#: check swapped_digits = counterexample
#: from lists(ints(0, 9), 2, 2)
#: shown by [1, 6]
def swapped_digits(digits: list[int]) -> bool:
    """Does the check sum tell two digits from the same ones in the other order?

    pre: len(digits) == 2 and all(0 <= d <= 9 for d in digits)
    post: _ == (digits[0] != digits[1])
    """

    def check_sum(row: list[int]) -> int:
        return sum(digit * (3 if i % 2 else 1) for i, digit in enumerate(row)) % 10

    return check_sum(digits) != check_sum(digits[::-1])


#: check crc_table = counterexample
#: from ints(0, 255), ints(0, 255)
#: shown by 128, 0
def crc_table(crc: int, byte: int) -> int:
    """
    pre: 0 <= crc <= 255 and 0 <= byte <= 255
    post: 0 <= _ <= 255
    """
    crc ^= byte
    for _ in range(2):
        crc = (crc << 1) ^ 0x07 if crc & 0x80 else crc << 1
    return crc


#: check last_page = counterexample
#: from ints(0, 40), ints(1, 9)
#: shown by 10, 5
def last_page(items: int, size: int) -> tuple[int, int]:
    """The first and the last place on the last page.

    pre: 1 <= items <= 1000 and 1 <= size <= 50
    post: _[0] <= _[1] == items - 1 and _[1] - _[0] < size
    """
    page = items // size
    return page * size, items - 1


#: check page_window = counterexample
#: from ints(1, 12), ints(1, 12)
#: shown by 12, 12
def page_window(page: int, pages: int) -> list[int]:
    """Links to the pages around this one.

    pre: 1 <= page <= pages <= 100
    post: all(1 <= n <= pages for n in _) and page in _
    """
    first = max(1, page - 2)
    return list(range(first, first + 5))


#: compare month_end month_end_rule = different
#: from ints(1, 12), ints(1900, 2100)
#: shown by 2, 1900
def month_end(month: int, year: int) -> int:
    """
    pre: 1 <= month <= 12 and 1800 <= year <= 2200
    """
    if month == 2:
        return 29 if year % 4 == 0 else 28
    return 30 if month in (4, 6, 9, 11) else 31


def month_end_rule(month: int, year: int) -> int:
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 28 + leap
    return 31 - (month - 1) % 7 % 2


#: check due_date = counterexample
#: from dates(2023, 2024), ints(0, 40)
#: shown by datetime.date(2024, 1, 5), 1
import datetime


def due_date(invoice: datetime.date, days: int) -> datetime.date:
    """A payment is never due at a weekend.

    pre: invoice.year in (2023, 2024) and 0 <= days <= 40
    post: _.weekday() < 5
    """
    due = invoice + datetime.timedelta(days=days)
    if due.weekday() == 6:
        due += datetime.timedelta(days=1)
    return due


#: check rent = counterexample
#: from dates(2023, 2024), dates(2023, 2024)
#: shown by datetime.date(2024, 3, 1), datetime.date(2024, 3, 1)
import datetime


def rent(first: datetime.date, last: datetime.date) -> int:
    """Both days count: 20 a day.

    pre: first <= last and first.year >= 2023 and last.year <= 2024
    post: _ >= 20
    """
    return (last - first).days * 20


#: check installments = counterexample
#: from ints(0, 1000), ints(1, 12)
#: shown by 100, 3
def installments(cents: int, months: int) -> list[int]:
    """
    pre: 0 <= cents <= 100000 and 1 <= months <= 6
    post: sum(_) == cents
    """
    each = round(cents / months)
    return [each] * months


#: check vat = counterexample
#: from ints(0, 1000)
#: shown by 1
def vat(net: int) -> tuple[int, int]:
    """The net price and the tax of 19 percent make the gross price.

    pre: 0 <= net <= 100000
    post: _[0] == net + _[1]
    """
    gross = net * 119 // 100
    tax = (net * 19 + 99) // 100
    return gross, tax


#: check loyalty = counterexample
#: from ints(0, 5000), ints(0, 50)
#: shown by 1000, 10
def loyalty(cents: int, visits: int) -> int:
    """10 visits give 5 percent, 20 give 10.

    pre: 0 <= cents <= 100000 and 0 <= visits <= 100
    post: _ == cents - cents * (10 if visits >= 20 else 5 if visits >= 10 else 0) // 100
    """
    percent = 0
    if visits > 10:
        percent = 5
    elif visits > 20:
        percent = 10
    return cents - cents * percent // 100
