"""Validation of input, and checksums."""


#: check valid_username = verified
#: from texts("ab1_-", 0, 6)
import re


def valid_username(name: str) -> bool:
    """
    pre: len(name) <= 6
    post: not _ or 3 <= len(name) <= 6
    """
    return re.fullmatch(r"[a-z][a-z0-9_]{2,15}", name) is not None


#: check username_ok = counterexample
#: from texts("ab1_ ", 0, 6)
#: shown by "abc d"
import re


def username_ok(name: str) -> bool:
    """
    pre: len(name) <= 6
    post: not _ or " " not in name
    """
    return bool(re.match(r"[a-z][a-z0-9_]{2,15}", name))


#: check looks_like_email = verified
#: from texts("ab@.", 0, 6)
def looks_like_email(address: str) -> bool:
    """
    pre: len(address) <= 6
    post: not _ or "@" in address[1:-1]
    """
    user, at, host = address.partition("@")
    if not at or not user or not host:
        return False
    if "@" in host or " " in address:
        return False
    return "." in host and not host.startswith(".") and not host.endswith(".")


#: check email_domain = counterexample IndexError
#: from texts("ab@.", 0, 5)
#: shown by "ab"
def email_domain(address: str) -> str:
    return address.split("@")[1].lower()


#: check strong_password = verified
#: from texts("aA1!", 0, 6)
def strong_password(password: str) -> bool:
    """
    pre: len(password) <= 5
    post: not _ or len(password) >= 4
    """
    has_upper = any(c.isupper() for c in password)
    has_digit = any(c.isdigit() for c in password)
    return len(password) >= 4 and has_upper and has_digit


#: check password_problems = counterexample
#: from texts("aA1!", 0, 9)
#: shown by "aaaaaaaa"
def password_problems(password: str) -> list[str]:
    """
    pre: len(password) in (0, 4, 8)
    post: _ or any(c.isdigit() for c in password)
    """
    problems = []
    if len(password) < 8:
        problems.append("too short")
    if password.isdigit():
        problems.append("only digits")
    if not password:
        problems.append("empty")
    return problems


#: check luhn_valid = verified
#: from texts("0123456789", 4, 4)
def luhn_valid(number: str) -> bool:
    """
    pre: len(number) == 4
    pre: all(c in "0123456789" for c in number)
    post: not (_ and number[:3] == "000") or number[3] == "0"
    """
    total = 0
    for i, c in enumerate(reversed(number)):
        digit = int(c)
        if i % 2 == 1:
            digit *= 2
            if digit > 9:
                digit -= 9
        total += digit
    return total % 10 == 0


#: compare luhn_sum luhn_total = different
#: from lists(ints(0, 9), 0, 4)
#: shown by [6, 0]
def luhn_sum(digits: list[int]) -> int:
    """
    pre: len(digits) <= 3
    pre: all(0 <= d <= 9 for d in digits)
    """
    total = 0
    for i, d in enumerate(reversed(digits)):
        if i % 2:
            d = d * 2
            if d > 9:
                d -= 9
        total += d
    return total


def luhn_total(digits: list[int]) -> int:
    return sum(d if i % 2 == 0 else d * 2 % 10 for i, d in enumerate(digits[::-1]))


#: check isbn10_digit = verified
#: from lists(ints(0, 9), 9, 9)
def isbn10_digit(digits: tuple[int, int, int, int, int, int, int, int, int]) -> str:
    """
    pre: all(0 <= d <= 9 for d in digits)
    post: _ == "X" or 0 <= int(_) <= 9
    """
    total = sum((10 - i) * d for i, d in enumerate(digits))
    check = (11 - total % 11) % 11
    return "X" if check == 10 else str(check)


#: check isbn_check = counterexample
#: from lists(ints(0, 9), 3, 3)
#: shown by [0, 0, 0]
def isbn_check(digits: list[int]) -> str:
    """
    pre: len(digits) == 3
    pre: all(0 <= d <= 9 for d in digits)
    post: len(_) == 1
    """
    total = sum(weight * d for weight, d in zip((4, 3, 2), digits))
    check = 11 - total % 11
    return "X" if check == 10 else str(check)


#: check ean_digit = verified
#: from lists(ints(0, 9), 4, 4)
def ean_digit(digits: list[int]) -> int:
    """
    pre: len(digits) == 4
    pre: all(0 <= d <= 9 for d in digits)
    post: (sum(digits[0::2]) + 3 * sum(digits[1::2]) + _) % 10 == 0
    """
    odd = sum(digits[0::2])
    even = sum(digits[1::2])
    return (10 - (odd + 3 * even) % 10) % 10


#: check ean_check = counterexample
#: from lists(ints(0, 9), 4, 4)
#: shown by [0, 0, 0, 0]
def ean_check(digits: list[int]) -> int:
    """
    pre: len(digits) == 4
    pre: all(0 <= d <= 9 for d in digits)
    post: 0 <= _ <= 9
    """
    weighted = sum(d * (3 if i % 2 else 1) for i, d in enumerate(digits))
    return 10 - weighted % 10


#: check valid_port = verified
#: from texts("0123456789 -", 0, 6)
def valid_port(text: str) -> int:
    """
    pre: len(text) <= 6
    post: _ is None or 1 <= _ <= 65535
    """
    try:
        port = int(text)
    except ValueError:
        return None
    if not 1 <= port <= 65535:
        return None
    return port


#: branches port_kind = 5:TF 7:TF 9:T-
#: from ints(-10, 70000)
#: reached by -1; 80; 8080
def port_kind(port: int) -> str:
    """
    pre: port <= 65535
    """
    if port < 0:
        return "invalid"
    if port < 1024:
        return "system"
    if port <= 65535:
        return "user"
    return "too large"


#: check mask_card = verified
#: from texts("0123456789", 4, 8)
def mask_card(number: str) -> str:
    """
    pre: 4 <= len(number) <= 8
    post: len(_) == len(number) and _.endswith(number[-4:])
    """
    return "*" * (len(number) - 4) + number[-4:]


#: check mask_secret = counterexample
#: from texts("ab", 0, 6)
#: shown by "ababab"
def mask_secret(secret: str) -> str:
    """
    pre: len(secret) <= 6
    post: len(_) == len(secret)
    """
    return "*" * (len(secret) - 4) + secret[4:]


#: check valid_rgb = verified
#: from ints(-5, 300), ints(-5, 300), ints(-5, 300)
def valid_rgb(red: int, green: int, blue: int) -> str:
    """
    post: len(_) == 7
    raises: ValueError
    """
    for channel in (red, green, blue):
        if not 0 <= channel <= 255:
            raise ValueError(f"channel out of range: {channel}")
    return f"#{red:02x}{green:02x}{blue:02x}"


#: check rgb_hex = counterexample
#: from ints(0, 255), ints(0, 255), ints(0, 255)
#: shown by 0, 0, 0
def rgb_hex(red: int, green: int, blue: int) -> str:
    """
    pre: 0 <= red <= 255 and 0 <= green <= 255 and 0 <= blue <= 255
    post: len(_) == 7
    """
    return f"#{red:x}{green:x}{blue:x}"


#: check check_role = verified
#: from members("Role"), bools()
from enum import Enum


class Role(Enum):
    GUEST = 0
    USER = 1
    ADMIN = 2


def check_role(role: Role, owner: bool) -> bool:
    """
    post: _ == (role is Role.ADMIN or (role is Role.USER and owner))
    """
    if role == Role.ADMIN:
        return True
    if role == Role.GUEST:
        return False
    return owner


#: check may_edit = counterexample
#: from members("Role"), bools()
#: shown by Role.GUEST, True
from enum import Enum


class Role(Enum):
    GUEST = "guest"
    USER = "user"
    ADMIN = "admin"


def may_edit(role: Role, owner: bool) -> bool:
    """
    post: not _ or role is not Role.GUEST
    """
    return role is Role.ADMIN or owner


#: check unique_ids = verified
#: from lists(ints(0, 3), 0, 5)
def unique_ids(ids: list[int]) -> bool:
    """
    pre: len(ids) <= 4
    post: _ == all(ids.count(i) == 1 for i in ids)
    """
    return len(set(ids)) == len(ids)


#: check has_duplicates = counterexample
#: from lists(ints(0, 3), 0, 5)
#: shown by [1, 2, 1]
def has_duplicates(items: list[int]) -> bool:
    """
    pre: len(items) <= 4
    post: _ == (len(set(items)) < len(items))
    """
    for left, right in zip(items, items[1:]):
        if left == right:
            return True
    return False


#: check valid_row = verified
#: from lists(ints(0, 5), 4, 4)
def valid_row(row: list[int]) -> bool:
    """
    pre: len(row) == 4
    post: not _ or sum(row) == 10
    """
    return sorted(row) == [1, 2, 3, 4]


#: check row_complete = counterexample
#: from lists(ints(0, 5), 4, 4)
#: shown by [1, 1, 4, 4]
def row_complete(row: list[int]) -> bool:
    """
    pre: len(row) == 4
    post: not _ or len(set(row)) == 4
    """
    return sum(row) == 10 and min(row) >= 1 and max(row) == 4


#: check fletcher = verified
#: from lists(ints(0, 255), 0, 4)
def fletcher(data: list[int]) -> int:
    """
    pre: len(data) <= 4
    pre: all(0 <= b <= 255 for b in data)
    post: 0 <= _ < 2 ** 16
    """
    low = high = 0
    for byte in data:
        low = (low + byte) % 255
        high = (high + low) % 255
    return (high << 8) | low


#: check adler = counterexample
#: from lists(ints(0, 255), 0, 4)
#: shown by []
def adler(data: list[int]) -> int:
    """
    pre: len(data) <= 4
    pre: all(0 <= b <= 255 for b in data)
    post: data or _ == 1
    """
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b * 65536 + a + (0 if data else 1)


#: check crc8 = verified
#: from ints(0, 255), ints(0, 255)
def crc8(crc: int, byte: int) -> int:
    """
    pre: 0 <= crc <= 255 and 0 <= byte <= 255
    post: 0 <= _ <= 255
    """
    crc ^= byte
    for _ in range(8):
        if crc & 0x80:
            crc = ((crc << 1) ^ 0x07) & 0xFF
        else:
            crc = (crc << 1) & 0xFF
    return crc


#: check crc8_step = counterexample
#: from ints(0, 255)
#: shown by 128
def crc8_step(crc: int) -> int:
    """
    pre: 0 <= crc <= 255
    post: 0 <= _ <= 255
    """
    if crc & 0x80:
        return (crc << 1) ^ 0x07
    return crc << 1


#: check xor_checksum = verified
#: from bytestrings(0, 4)
def xor_checksum(data: bytes) -> int:
    """
    pre: len(data) <= 3
    post: 0 <= _ <= 255
    """
    value = 0
    for byte in data:
        value ^= byte
    return value


#: check parity_bit = verified
#: from ints(0, 255)
def parity_bit(byte: int) -> int:
    """
    pre: 0 <= byte <= 255
    post: (bin(byte).count("1") + _) % 2 == 0
    """
    byte ^= byte >> 4
    byte ^= byte >> 2
    byte ^= byte >> 1
    return byte & 1


#: check parity = counterexample
#: from ints(0, 255)
#: shown by 16
def parity(byte: int) -> int:
    """
    pre: 0 <= byte <= 255
    post: (bin(byte).count("1") + _) % 2 == 0
    """
    byte ^= byte >> 2
    byte ^= byte >> 1
    return byte & 1


#: check coordinates = verified
#: from floats(), floats()
def coordinates(latitude: float, longitude: float) -> tuple[float, float]:
    """
    post: -90 <= _[0] <= 90 and -180 <= _[1] <= 180
    raises: ValueError
    """
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise ValueError("off the map")
    return latitude, longitude


#: check on_the_map = counterexample
#: from floats(), floats()
#: shown by float("nan"), 0.0
def on_the_map(latitude: float, longitude: float) -> bool:
    """
    post: not _ or abs(latitude) <= 90
    """
    if latitude < -90 or latitude > 90:
        return False
    return not (longitude < -180 or longitude > 180)


#: check postcode = verified
#: from texts("AB12 ", 0, 6)
import re

POSTCODE = re.compile(r"\d{5}(-\d{4})?")


def postcode(text: str) -> bool:
    """
    pre: len(text) <= 6
    post: not _ or len(text) == 5
    """
    return POSTCODE.fullmatch(text) is not None


#: check zip_code = counterexample
#: from texts("012\u0661", 5, 5)
#: shown by "0000\u0661"
import re


def zip_code(text: str) -> bool:
    """
    pre: len(text) == 5
    post: not _ or all(c in "0123456789" for c in text)
    """
    return re.fullmatch(r"\d{5}", text) is not None


#: find require_age TypeError = unreachable
#: from ints(-5, 200)
def require_age(age: int) -> str:
    if age < 0:
        raise ValueError(f"age must not be negative: {age}")
    if age > 150:
        raise ValueError("age is too large: " + str(age))
    return "minor" if age < 18 else "adult"


#: find describe_age TypeError = found
#: from ints(-5, 200)
#: shown by 151
def describe_age(age: int) -> str:
    if age < 0:
        raise ValueError(f"age must not be negative: {age}")
    if age > 150:
        raise ValueError("age is too large: " + age)
    return "minor" if age < 18 else "adult"
