# The module datetime, as the engine runs it: methods of dates.py's values. `date_name` is a method of a date, `date_class_name` an
# attribute of the class.
MINYEAR = 1
MAXYEAR = 9999

date_class_min = date(1, 1, 1)
date_class_max = date(9999, 12, 31)
date_class_resolution = timedelta(days=1)
timedelta_class_resolution = timedelta(microseconds=1)
timedelta_class_min = timedelta(days=-999999999)
timedelta_class_max = timedelta(days=999999999, hours=23, minutes=59, seconds=59, microseconds=999999)


def padded(n, digits):
    text = str(n)
    if digits == 2:
        return "0" + text if n < 10 else text
    return "000" + text if n < 10 else "00" + text if n < 100 else "0" + text if n < 1000 else text


def date_isoformat(self, /):
    return padded(self.year, 4) + "-" + padded(self.month, 2) + "-" + padded(self.day, 2)


def repr_of_date(self):
    return "datetime.date(" + str(self.year) + ", " + str(self.month) + ", " + str(self.day) + ")"


def date_toordinal(self, /):
    return ordinal(self)


def date_weekday(self, /):
    return (ordinal(self) + 6) % 7


def date_isoweekday(self, /):
    return (ordinal(self) + 6) % 7 + 1


left_out = []


def date_replace(self, /, year=left_out, month=left_out, day=left_out):
    year = self.year if year is left_out else year
    month = self.month if month is left_out else month
    return date(year, month, self.day if day is left_out else day)


def date_class_fromordinal(n, /):
    return from_ordinal(n)


def number(text, first, last):
    found = [digit(text[i]) for i in range(first, last)]
    if not all([d >= 0 for d in found]):
        raise ValueError
    value = 0
    for d in found:
        value = 10 * value + d
    return value


def date_of_week(year, week, day):
    if year < 1 or week < 1 or week > 53 or day < 1 or day > 7:
        raise ValueError
    first = ordinal(date(year, 1, 1))
    weekday = (first + 6) % 7
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if week == 53 and weekday != 3 and not (weekday == 2 and leap):
        raise ValueError
    monday = first - weekday + (7 if weekday > 3 else 0)
    return from_ordinal(monday + (week - 1) * 7 + day - 1)


def date_class_fromisoformat(text, /):
    if kind(text) != "str":
        raise TypeError
    if len(text) == 10:
        if text[4] != "-":
            number(text, 0, 4)
            refuse("date.fromisoformat() of ten characters without a -, which versions of Python read differently", "look at text[4] first")
        if text[5] == "W":
            if text[8] != "-":
                raise ValueError
            return date_of_week(number(text, 0, 4), number(text, 6, 8), number(text, 9, 10))
        if text[7] != "-":
            raise ValueError
        return date(number(text, 0, 4), number(text, 5, 7), number(text, 8, 10))
    if len(text) == 8:
        if text[4] == "-":
            if text[5] != "W":
                raise ValueError
            return date_of_week(number(text, 0, 4), number(text, 6, 8), 1)
        if text[4] == "W":
            return date_of_week(number(text, 0, 4), number(text, 5, 7), number(text, 7, 8))
        return date(number(text, 0, 4), number(text, 4, 6), number(text, 6, 8))
    if len(text) == 7 and text[4] == "W":
        return date_of_week(number(text, 0, 4), number(text, 5, 7), 1)
    raise ValueError


def timedelta_total_seconds(self, /):
    return total(self) / 1000000
