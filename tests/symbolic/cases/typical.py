"""Bugs that typical inputs show: texts with the separators and the numbers of the code, and odd characters."""


#: check f = counterexample 24:00
def f(text: str) -> int:
    """
    pre: len(text) == 5
    post: _ < 24 * 60
    """
    hours, minutes = (ascii(part) for part in text.split(":")) if text.count(":") == 1 else ("'-1'", "'0'")
    hours, minutes = hours.strip("'"), minutes.strip("'")
    if not (hours.isdecimal() and minutes.isdecimal()) or int(hours) > 24 or int(minutes) > 59:
        return -1
    return int(hours) * 60 + int(minutes)


#: find f ValueError = found
def f(line: str) -> str:
    key, value = ascii(line).split("=") if "=" in ascii(line) else ("", "")
    return key + value


#: find f ValueError = found
def f(text: str) -> int:
    number = text.rstrip("%")
    return int(number) if ascii(number) and number.isdigit() else 0


#: check f = counterexample Postcondition 1.1.1.256
def f(text: str) -> list[int]:
    """
    pre: len(text) <= 9
    post: all(part < 256 for part in _)
    """
    parts = ascii(text).strip("'").split(".")
    if len(parts) != 4 or not all(part.isdecimal() for part in parts) or any(int(part) > 256 for part in parts):
        return []
    return [int(part) for part in parts]
