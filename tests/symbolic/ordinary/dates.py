"""Dates, times and durations."""


#: check is_leap = verified
#: from ints(1, 4000)
def is_leap(year: int) -> bool:
    """
    pre: 1 <= year <= 3000
    post: not _ or year % 4 == 0
    """
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


#: compare leap leap_simple = different
#: from ints(1, 3000)
#: shown by 1900
def leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def leap_simple(year: int) -> bool:
    if year % 400 == 0:
        return True
    return year % 4 == 0 and year % 1000 != 0


#: check days_in_month = verified
#: from ints(1, 3000), ints(1, 12)
def days_in_month(year: int, month: int) -> int:
    """
    pre: 1 <= month <= 12
    post: 28 <= _ <= 31
    """
    days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        return 29
    return days[month - 1]


#: check month_length = counterexample IndexError
#: from ints(1, 12)
#: shown by 12
def month_length(month: int) -> int:
    """
    pre: 1 <= month <= 12
    """
    return [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]


#: check day_of_year = verified
#: from ints(1, 12), ints(1, 28)
from itertools import accumulate

LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def day_of_year(month: int, day: int) -> int:
    """
    pre: 1 <= month <= 12 and 1 <= day <= 28
    post: 1 <= _ <= 365
    """
    before = [0, *accumulate(LENGTHS)]
    return before[month - 1] + day


#: check quarter = verified
#: from ints(1, 12)
def quarter(month: int) -> int:
    """
    pre: 1 <= month <= 12
    post: 1 <= _ <= 4
    """
    return (month - 1) // 3 + 1


#: check quarter_of = counterexample
#: from ints(1, 12)
#: shown by 12
def quarter_of(month: int) -> int:
    """
    pre: 1 <= month <= 12
    post: 1 <= _ <= 4
    """
    return month // 3 + 1


#: check tomorrow = verified
#: from ints(2020, 2030), ints(1, 12), ints(1, 28)
from datetime import date, timedelta


def tomorrow(year: int, month: int, day: int) -> date:
    """
    pre: 2020 <= year <= 2030
    pre: 1 <= month <= 12 and 1 <= day <= 28
    post: _ > date(year, month, day)
    """
    return date(year, month, day) + timedelta(days=1)


#: check make_date = counterexample ValueError
#: from ints(2000, 2030), ints(1, 12), ints(1, 31)
#: shown by 2001, 2, 29
from datetime import date


def make_date(year: int, month: int, day: int) -> date:
    """
    pre: 2000 <= year <= 2030
    pre: 1 <= month <= 12 and 1 <= day <= 31
    pre: not (month in (4, 6, 9, 11) and day == 31)
    pre: not (month == 2 and day > 29)
    """
    return date(year, month, day)


#: check next_weekday = verified
#: from dates(2000, 2030), ints(0, 6)
from datetime import date, timedelta


def next_weekday(day: date, weekday: int) -> date:
    """
    pre: 0 <= weekday <= 6
    pre: 2000 <= day.year <= 2100
    post: _.weekday() == weekday
    """
    ahead = (weekday - day.weekday()) % 7
    return day + timedelta(days=ahead)


#: check following_weekday = counterexample
#: from dates(2000, 2030), ints(0, 6)
#: shown by __import__("datetime").date(2024, 1, 1), 0
import datetime


def following_weekday(day: datetime.date, weekday: int) -> datetime.date:
    """
    pre: 0 <= weekday <= 6
    pre: 2000 <= day.year <= 2100
    post: _ > day
    """
    ahead = (weekday - day.weekday()) % 7
    return day + datetime.timedelta(days=ahead)


#: check add_months = verified
#: from ints(1990, 2040), ints(1, 12), ints(0, 48)
def add_months(year: int, month: int, months: int) -> tuple[int, int]:
    """
    pre: 1 <= month <= 12 and months >= 0
    post: 1 <= _[1] <= 12
    post: _[0] * 12 + _[1] == year * 12 + month + months
    """
    index = year * 12 + (month - 1) + months
    return index // 12, index % 12 + 1


#: check later_month = counterexample
#: from ints(1990, 2040), ints(1, 12), ints(0, 48)
#: shown by 2000, 12, 12
def later_month(year: int, month: int, months: int) -> tuple[int, int]:
    """
    pre: 1 <= month <= 12 and 0 <= months <= 48
    post: 1 <= _[1] <= 12
    """
    month += months
    if month > 12:
        year += month // 12
        month = month % 12
    return year, month


#: check format_hms = verified
#: from ints(0, 90000)
def format_hms(seconds: int) -> str:
    """
    pre: 0 <= seconds < 86400
    post: len(_) == 8
    """
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}"


#: check clock = counterexample
#: from ints(0, 86399)
#: shown by 3600
def clock(seconds: int) -> str:
    """
    pre: 0 <= seconds < 86400
    post: len(_) == 5
    """
    minutes = seconds // 60
    hours = minutes // 60
    return str(hours) + ":" + str(minutes % 60).zfill(2) if hours < 10 else f"{hours}:{minutes % 60:02}"


#: check overlaps = verified
#: from ints(0, 9), ints(0, 9), ints(0, 9), ints(0, 9)
def overlaps(start_a: int, end_a: int, start_b: int, end_b: int) -> bool:
    """
    pre: start_a < end_a and start_b < end_b
    post: _ == (max(start_a, start_b) < min(end_a, end_b))
    """
    return start_a < end_b and start_b < end_a


#: check meet = counterexample
#: from ints(0, 9), ints(0, 9), ints(0, 9), ints(0, 9)
#: shown by 1, 2, 0, 3
def meet(start_a: int, end_a: int, start_b: int, end_b: int) -> bool:
    """
    pre: start_a < end_a and start_b < end_b
    post: _ == (max(start_a, start_b) < min(end_a, end_b))
    """
    return start_a <= start_b < end_a or start_a < end_b <= end_a


#: check age_on = verified
#: from dates(1950, 2020), dates(1950, 2030)
from datetime import date


def age_on(born: date, today: date) -> int:
    """
    pre: born <= today
    post: _ >= 0
    """
    age = today.year - born.year
    if (today.month, today.day) < (born.month, born.day):
        age -= 1
    return age


#: check age_at = counterexample
#: from dates(1990, 1992), dates(1990, 1993)
#: shown by __import__("datetime").date(1990, 5, 20), __import__("datetime").date(1991, 6, 10)
from datetime import date


def age_at(born: date, today: date) -> int:
    """
    pre: born <= today
    post: _ == today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    """
    age = today.year - born.year
    if today.month < born.month or today.day < born.day:
        age -= 1
    return age


#: check to_12_hours = verified
#: from ints(0, 23)
def to_12_hours(hour: int) -> str:
    """
    pre: 0 <= hour <= 23
    post: not _.startswith("0")
    """
    suffix = "am" if hour < 12 else "pm"
    hour = hour % 12
    if hour == 0:
        hour = 12
    return f"{hour} {suffix}"


#: check to_24_hours = counterexample
#: from ints(1, 12), bools()
#: shown by 12, True
def to_24_hours(hour: int, pm: bool) -> int:
    """
    pre: 1 <= hour <= 12
    post: 0 <= _ <= 23
    """
    return hour + 12 if pm else hour


#: branches season = 5:TF 7:TF 9:TF 11:-F
#: from ints(1, 12)
#: reached by 1; 4; 7; 10
def season(month: int) -> str:
    """
    pre: 1 <= month <= 12
    """
    if month in (12, 1, 2):
        return "winter"
    elif 3 <= month <= 5:
        return "spring"
    elif 6 <= month <= 8:
        return "summer"
    elif month < 9:
        return "never"
    return "autumn"


#: check business_days = verified
#: from ints(0, 6), ints(0, 14)
def business_days(first: int, count: int) -> int:
    """
    pre: 0 <= first <= 6 and 0 <= count <= 14
    post: 0 <= _ <= count
    """
    return sum(1 for i in range(count) if (first + i) % 7 < 5)


#: compare working_days working_days_fast = different
#: from ints(0, 6), ints(0, 21)
#: shown by 5, 1
def working_days(first: int, count: int) -> int:
    """
    pre: 0 <= first <= 6
    pre: 0 <= count <= 21
    """
    days = 0
    for offset in range(count):
        if (first + offset) % 7 not in (5, 6):
            days += 1
    return days


def working_days_fast(first: int, count: int) -> int:
    weeks, rest = divmod(count, 7)
    return weeks * 5 + min(rest, 5)


#: check timestamp_parts = verified
#: from ints(0, 10 ** 6)
def timestamp_parts(seconds: int) -> dict[str, int]:
    """
    pre: seconds >= 0
    post: ((_["d"] * 24 + _["h"]) * 60 + _["m"]) * 60 + _["s"] == seconds
    """
    days, seconds = divmod(seconds, 86400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    return {"d": days, "h": hours, "m": minutes, "s": seconds}


#: check parse_iso = verified
#: not yet The time was over
#: from texts("0123456789-", 8, 10)
from datetime import date


def parse_iso(text: str) -> date:
    """
    pre: len(text) == 10
    post: _ is None or 1 <= _.month <= 12
    """
    try:
        year, month, day = text.split("-")
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


#: find weekday_name IndexError = found
#: from ints(0, 8)
#: shown by 7
def weekday_name(number: int) -> str:
    """
    pre: 1 <= number <= 7
    """
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return names[number]


#: check rota = verified
#: from ints(0, 30), lists(pick(["ann", "bob", "eve"]), 1, 3)
def rota(day: int, people: list[str]) -> str:
    """
    pre: 1 <= len(people) <= 3
    pre: day >= 0
    post: _ in people
    """
    return people[day % len(people)]


#: check fiscal_year = counterexample
#: from ints(2000, 2030), ints(1, 12)
#: shown by 2020, 4
def fiscal_year(year: int, month: int) -> int:
    """The fiscal year begins in April.

    pre: 1 <= month <= 12
    post: _ == (year if month >= 4 else year - 1)
    """
    return year if month > 4 else year - 1
