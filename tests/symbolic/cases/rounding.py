#: check xor16 = verified
def xor16(a: int, b: int) -> int:
    """
    pre: 0 <= a < 2**16 and 0 <= b < 2**16
    post: 0 <= _ < 2**16
    """
    return a ^ b

#: check signed = verified
def signed(a: int, b: int) -> int:
    """
    pre: -128 <= a < 128 and -128 <= b < 128
    post: _ <= a or _ <= b
    """
    return a & b

#: check pw = verified
def pw(a: int, n: int) -> int:
    """
    pre: 0 <= a < 7 and 0 <= n < 5
    post: 0 <= _ < 7
    """
    return pow(a, n, 7)

#: check rnd = verified
def rnd(n: int) -> int:
    """
    post: abs(_ - n) <= 50 and _ % 100 == 0
    """
    return round(n, -2)

#: check half = verified
def half(n: int) -> int:
    """
    pre: 0 <= n <= 1000000
    post: _ == n // 2
    """
    return int(n / 2)

#: check ratio = verified
def ratio(a: int, b: int) -> float:
    """
    pre: 0 <= a <= 1000 and 1 <= b <= 1000
    post: 0 <= _ <= 1000
    """
    return round(a / 3, 2)

#: check length = verified
def length(n: int) -> int:
    """
    pre: 0 < n < 2**20
    post: 2 ** (_ - 1) <= n
    """
    return n.bit_length()

#: check ones = verified
def ones(n: int) -> int:
    """
    pre: 0 <= n < 2**16
    post: 0 <= _ <= 16
    """
    return n.bit_count()

#: check toint = counterexample OverflowError
def toint(x: float) -> int:
    return int(x)

#: check ceil = verified
def ceil(a: int, b: int) -> int:
    """
    pre: 0 <= a <= 10000 and 1 <= b <= 100
    post: _ * b >= a
    """
    import math
    return math.ceil(a / b)

#: check tmpl = verified
def tmpl(a: int, b: str) -> str:
    """
    pre: 0 <= a < 100 and len(b) < 4
    post: _ == f"{a:03d}-{b:>4}"
    """
    return "%03d-%4s" % (a, b)

#: check tmpl2 = verified
def tmpl2(a: int, b: str) -> str:
    """
    pre: 0 <= a < 100 and len(b) < 4
    post: _ == f"{a:03d}-{b:>4}"
    """
    return "{:03d}-{x:>4}".format(a, x=b)

#: check checksum = verified
def checksum(s: str) -> int:
    """
    pre: len(s) == 4 and s.isascii()
    post: 0 <= _ < 256
    """
    total = 0
    for c in s:
        total ^= ord(c)
    return total

#: check crc = verified
def crc(data: list[int]) -> int:
    """
    pre: len(data) <= 2 and all(0 <= x < 256 for x in data)
    post: 0 <= _ < 256
    """
    crc = 0
    for b in data:
        crc ^= b
        for _ in range(8):
            if crc & 0x80:
                crc = ((crc << 1) ^ 0x07) & 0xff
            else:
                crc = (crc << 1) & 0xff
    return crc
