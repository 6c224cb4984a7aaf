"""Numbers: arithmetic, bits, sequences."""


#: check gcd = verified
#: from ints(0, 30), ints(0, 30)
def gcd(a: int, b: int) -> int:
    """
    pre: 0 <= a <= 30 and 0 <= b <= 30
    pre: a + b > 0
    post: _ >= 1 and a % _ == 0 and b % _ == 0
    """
    while b:
        a, b = b, a % b
    return a


#: check lcm = counterexample ZeroDivisionError
#: from ints(0, 20), ints(0, 20)
#: shown by 0, 0
import math


def lcm(a: int, b: int) -> int:
    """
    pre: 0 <= a <= 20 and 0 <= b <= 20
    """
    return a * b // math.gcd(a, b)


#: check is_prime = verified
#: from ints(0, 120)
def is_prime(n: int) -> bool:
    """
    pre: 0 <= n <= 120
    post: not (_ and n > 2) or n % 2 == 1
    """
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


#: check prime = counterexample
#: from ints(0, 120)
#: shown by 9
def prime(n: int) -> bool:
    """
    pre: 2 <= n <= 120
    post: not _ or n == 3 or n % 3 != 0
    """
    return all(n % i for i in range(2, int(n ** 0.5)))


#: check popcount = verified
#: from ints(0, 255)
def popcount(n: int) -> int:
    """
    pre: 0 <= n <= 255
    post: _ == bin(n).count("1")
    """
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


#: check is_power_of_two = counterexample
#: from ints(-5, 300)
#: shown by 0
def is_power_of_two(n: int) -> bool:
    """
    pre: 0 <= n <= 300
    post: not _ or n >= 1
    """
    return n & (n - 1) == 0


#: check to_base = verified
#: from ints(0, 200), ints(2, 16)
def to_base(n: int, base: int) -> str:
    """
    pre: 0 <= n <= 200 and 2 <= base <= 16
    post: int(_, base) == n
    """
    digits = "0123456789abcdef"
    if n == 0:
        return "0"
    result = ""
    while n:
        n, digit = divmod(n, base)
        result = digits[digit] + result
    return result


#: check to_binary = counterexample
#: from ints(0, 200)
#: shown by 0
def to_binary(n: int) -> str:
    """
    pre: 0 <= n <= 200
    post: int(_, 2) == n
    """
    bits = []
    while n > 0:
        bits.append(str(n % 2))
        n //= 2
    return "".join(bits[::-1])


#: check digit_sum = verified
#: from ints(0, 9999)
def digit_sum(n: int) -> int:
    """
    pre: 0 <= n <= 9999
    post: _ % 9 == n % 9
    """
    return sum(int(d) for d in str(n))


#: check digital_root = verified
#: from ints(0, 9999)
def digital_root(n: int) -> int:
    """
    pre: 0 <= n <= 9999
    post: 0 <= _ <= 9
    """
    while n > 9:
        n = sum(map(int, str(n)))
    return n


#: check collatz = verified
#: from ints(1, 30)
def collatz(n: int) -> int:
    """
    pre: 1 <= n <= 30
    post: _ <= 111
    """
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


#: check fibonacci = verified
#: from ints(0, 30)
from functools import lru_cache


@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def fibonacci(n: int) -> int:
    """
    pre: 0 <= n <= 25
    post: _ <= 2 ** n
    """
    return fib(n)


#: compare fib_loop fib_recursive = different
#: from ints(0, 12)
#: shown by 0
def fib_loop(n: int) -> int:
    """
    pre: 0 <= n <= 12
    """
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def fib_recursive(n: int) -> int:
    if n <= 2:
        return 1
    return fib_recursive(n - 1) + fib_recursive(n - 2)


#: check clamp = verified
#: from ints(-20, 20), ints(-20, 20), ints(-20, 20)
def clamp(value: int, low: int, high: int) -> int:
    """
    pre: low <= high
    post: low <= _ <= high
    """
    return max(low, min(value, high))


#: check limited = counterexample
#: from ints(-20, 20), ints(-20, 20), ints(-20, 20)
#: shown by 5, 3, 1
def limited(value: int, low: int, high: int) -> int:
    """
    post: low <= _ <= high
    """
    if value < low:
        return low
    if value > high:
        return high
    return value


#: check isqrt = verified
#: from ints(0, 400)
def isqrt(n: int) -> int:
    """
    pre: 0 <= n <= 400
    post: _ * _ <= n < (_ + 1) * (_ + 1)
    """
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        if middle * middle <= n:
            low = middle
        else:
            high = middle
    return low


#: check root = counterexample
#: from ints(0, 400)
#: shown by 2
def root(n: int) -> int:
    """
    pre: 0 <= n <= 400
    post: _ * _ <= n
    """
    return round(n ** 0.5 + 0.4)


#: check sign = verified
#: from ints(-5, 5)
def sign(n: int) -> int:
    """
    post: _ * n == abs(n)
    """
    return (n > 0) - (n < 0)


#: check fizzbuzz = verified
#: from ints(1, 200)
def fizzbuzz(n: int) -> str:
    """
    pre: n >= 1
    post: (_ == "FizzBuzz") == (n % 15 == 0)
    """
    if n % 15 == 0:
        return "FizzBuzz"
    if n % 5 == 0:
        return "Buzz"
    if n % 3 == 0:
        return "Fizz"
    return str(n)


#: branches fizz = 5:TF 7:TF 9:-F
#: from ints(1, 60)
#: reached by 3; 5; 7
def fizz(n: int) -> str:
    """
    pre: n >= 1
    """
    if n % 3 == 0:
        return "Fizz"
    elif n % 5 == 0:
        return "Buzz"
    elif n % 15 == 0:
        return "FizzBuzz"
    return str(n)


#: check gray_code = verified
#: from ints(0, 255)
def gray_code(n: int) -> int:
    """
    pre: 0 <= n < 255
    post: bin(_ ^ ((n + 1) ^ ((n + 1) >> 1))).count("1") == 1
    """
    return n ^ (n >> 1)


#: check reverse_bits = verified
#: from ints(0, 255)
def reverse_bits(byte: int) -> int:
    """
    pre: 0 <= byte <= 255
    post: 0 <= _ <= 255
    """
    result = 0
    for _ in range(8):
        result = (result << 1) | (byte & 1)
        byte >>= 1
    return result


#: check pack = verified
#: from ints(0, 255), ints(0, 255)
def pack(high: int, low: int) -> int:
    """
    pre: 0 <= high <= 255 and 0 <= low <= 255
    post: _ >> 8 == high and _ & 0xFF == low
    """
    return high << 8 | low


#: check pack_signed = counterexample
#: from ints(-128, 127), ints(-128, 127)
#: shown by 0, -1
def pack_signed(high: int, low: int) -> int:
    """
    pre: -128 <= high <= 127 and -128 <= low <= 127
    post: _ >> 8 == high
    """
    return high << 8 | low


#: check binomial = verified
#: from ints(0, 12), ints(0, 12)
def binomial(n: int, k: int) -> int:
    """
    pre: 0 <= k <= n <= 12
    post: _ >= 1
    """
    result = 1
    for i in range(1, k + 1):
        result = result * (n - k + i) // i
    return result


#: check perfect = counterexample
#: from ints(1, 60)
#: shown by 1
def perfect(n: int) -> bool:
    """
    pre: 1 <= n <= 60
    post: _ == (n in (6, 28))
    """
    return sum(d for d in range(1, n // 2 + 2) if n % d == 0) == n


#: check median = verified
#: from ints(-5, 5), ints(-5, 5), ints(-5, 5)
def median(a: int, b: int, c: int) -> int:
    """
    post: min(a, b, c) <= _ <= max(a, b, c)
    """
    return sorted([a, b, c])[1]


#: compare max_of_three max_nested = different
#: from ints(-5, 5), ints(-5, 5), ints(-5, 5)
#: shown by 0, 0, 1
def max_of_three(a: int, b: int, c: int) -> int:
    return max(a, b, c)


def max_nested(a: int, b: int, c: int) -> int:
    if a > b and a > c:
        return a
    if b > c:
        return b
    if c > b:
        return c - (a == b)
    return a


#: check mod_inverse = verified
#: from ints(1, 10)
def mod_inverse(a: int) -> int:
    """
    pre: 1 <= a <= 10
    post: a * _ % 11 == 1
    """
    return pow(a, -1, 11)


#: check power_mod = verified
#: from ints(0, 20), ints(0, 20)
def power_mod(base: int, exponent: int) -> int:
    """
    pre: 0 <= base <= 20 and 0 <= exponent <= 20
    post: _ == pow(base, exponent, 7)
    """
    result, base = 1, base % 7
    while exponent:
        if exponent & 1:
            result = result * base % 7
        base = base * base % 7
        exponent >>= 1
    return result


#: check triangular = verified
#: not yet The time was over
#: from ints(0, 50)
def triangular(n: int) -> int:
    """
    pre: n >= 0
    post: 2 * _ == n * (n + 1)
    """
    return n * (n + 1) // 2


#: check sum_to = counterexample
#: from ints(0, 30)
#: shown by 1
def sum_to(n: int) -> int:
    """
    pre: 0 <= n <= 30
    post: 2 * _ == n * (n + 1)
    """
    total = 0
    for i in range(n):
        total += i
    return total


#: check mean = verified
#: from lists(ints(0, 100), 1, 4)
def mean(numbers: list[int]) -> float:
    """
    pre: 1 <= len(numbers) <= 3 and all(0 <= n <= 100 for n in numbers)
    post: 0 <= _ <= 100
    """
    return sum(numbers) / len(numbers)


#: check celsius = verified
#: from floats()
def celsius(fahrenheit: float) -> float:
    """
    pre: -1000.0 <= fahrenheit <= 1000.0
    post: _ < 600
    """
    return (fahrenheit - 32) * 5 / 9


#: find ratio ZeroDivisionError = found
#: from ints(-5, 5), ints(-5, 5)
#: shown by 2, 2
def ratio(a: int, b: int) -> float:
    """
    pre: -1000 <= a <= 1000 and -1000 <= b <= 1000
    """
    return (a + b) / (a - b)


#: find safe_ratio ZeroDivisionError = unreachable
#: from ints(-5, 5), ints(-5, 5)
def safe_ratio(a: int, b: int) -> float:
    """
    pre: -1000 <= a <= 1000 and -1000 <= b <= 1000
    """
    try:
        return a / b
    except ZeroDivisionError:
        return 0.0


#: check round_half = counterexample
#: from ints(-10, 10)
#: shown by 5
def round_half(tenths: int) -> int:
    """Halves go up.

    pre: 0 <= tenths <= 100
    post: _ == (tenths + 5) // 10
    """
    return round(tenths / 10)
