#: check gcd = verified
def gcd(a: int, b: int) -> int:
    """
    pre: 0 <= a <= 30 and 0 <= b <= 30
    post: _ == 0 if a == b == 0 else _ > 0 and a % _ == 0 and b % _ == 0
    """
    while b:
        a, b = b, a % b
    return a

#: check gcd = counterexample
def gcd(a: int, b: int) -> int:
    """
    pre: 0 <= a <= 30 and 0 <= b <= 30
    post: _ == 0 if a == b == 0 else _ > 0 and a % _ == 0 and b % _ == 0
    """
    while b > 1:
        a, b = b, a % b
    return a

#: check is_luhn = verified
def is_luhn(number: str) -> bool:
    """
    pre: 1 <= len(number) <= 4 and all(c in "0123456789" for c in number)
    post: _ == ((sum(int(c) for c in number[-1::-2]) + sum(sum(divmod(2 * int(c), 10)) for c in number[-2::-2])) % 10 == 0)
    """
    total = 0
    for i, ch in enumerate(reversed(number)):
        d = int(ch)
        if i % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0

#: check is_luhn = counterexample
def is_luhn(number: str) -> bool:
    """
    pre: 1 <= len(number) <= 4 and all(c in "0123456789" for c in number)
    post: _ == ((sum(int(c) for c in number[-1::-2]) + sum(sum(divmod(2 * int(c), 10)) for c in number[-2::-2])) % 10 == 0)
    """
    total = 0
    for i, ch in enumerate(number):
        d = int(ch)
        if i % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0

#: check is_ipv4 = verified
def is_ipv4(s: str) -> bool:
    """
    pre: len(s) <= 8 and all(c in "0.1" for c in s)
    post: not _ or s.count(".") == 3
    """
    parts = s.split(".")
    if len(parts) != 4:
        return False
    for part in parts:
        if not part.isdigit():
            return False
        if len(part) > 1 and part[0] == "0":
            return False
        if int(part) > 255:
            return False
    return True

#: check is_ipv4 = counterexample ValueError
def is_ipv4(s: str) -> bool:
    """
    pre: len(s) <= 8 and all(c in "0.1" for c in s)
    """
    parts = s.split(".")
    if len(parts) != 4:
        return False
    for part in parts:
        if int(part) > 255:
            return False
    return True

#: check is_ipv4 = verified
def is_ipv4(octets: list[int]) -> bool:
    """
    pre: len(octets) <= 5
    post: _ == (len(octets) == 4 and all(0 <= o <= 255 for o in octets))
    """
    if len(octets) != 4:
        return False
    for octet in octets:
        if octet < 0 or octet > 255:
            return False
    return True

#: check is_balanced = verified
def is_balanced(s: str) -> bool:
    """
    pre: len(s) <= 6 and all(c in "()[]" for c in s)
    post: not _ or (s.count("(") == s.count(")") and s.count("[") == s.count("]"))
    """
    pairs = {")": "(", "]": "["}
    stack = []
    for c in s:
        if c in "([":
            stack.append(c)
        elif not stack or stack.pop() != pairs[c]:
            return False
    return not stack

#: check is_balanced = counterexample
def is_balanced(s: str) -> bool:
    """
    pre: len(s) <= 6 and all(c in "()[]" for c in s)
    post: not _ or (s.count("(") == s.count(")") and s.count("[") == s.count("]"))
    """
    pairs = {")": "(", "]": "["}
    stack = []
    for c in s:
        if c in "([":
            stack.append(c)
        elif not stack or stack.pop() != pairs[c]:
            return False
    return True

#: check is_balanced = verified
def is_balanced(tokens: list[int]) -> bool:
    """
    pre: len(tokens) <= 5
    post: not _ or sum(1 for t in tokens if t > 0) == sum(1 for t in tokens if t < 0)
    """
    stack = []
    for t in tokens:
        if t > 0:
            stack.append(t)
        elif t < 0:
            if not stack:
                return False
            stack.pop()
    return not stack

#: check is_balanced = counterexample IndexError
def is_balanced(tokens: list[int]) -> bool:
    """
    pre: len(tokens) <= 5
    """
    stack = []
    for t in tokens:
        if t > 0:
            stack.append(t)
        elif t < 0:
            stack.pop()
    return not stack

#: check are_anagrams = verified
def are_anagrams(a: str, b: str) -> bool:
    """
    pre: len(a) <= 3 and len(b) <= 3 and all(c in "abc" for c in a) and all(c in "abc" for c in b)
    post: _ == (sorted(a) == sorted(b))
    """
    if len(a) != len(b):
        return False
    counts = {}
    for ch in a:
        counts[ch] = counts.get(ch, 0) + 1
    for ch in b:
        if counts.get(ch, 0) == 0:
            return False
        counts[ch] -= 1
    return True

#: check are_anagrams = counterexample
def are_anagrams(a: str, b: str) -> bool:
    """
    pre: len(a) <= 3 and len(b) <= 3 and all(c in "abc" for c in a) and all(c in "abc" for c in b)
    post: _ == (sorted(a) == sorted(b))
    """
    counts = {}
    for ch in a:
        counts[ch] = counts.get(ch, 0) + 1
    for ch in b:
        if counts.get(ch, 0) == 0:
            return False
        counts[ch] -= 1
    return True

#: check fizzbuzz = verified
def fizzbuzz(n: int) -> list:
    """
    pre: 1 <= n <= 30
    post: len(_) == n
    post: all(word == "FizzBuzz" for word in _[14::15])
    """
    out = []
    for i in range(1, n + 1):
        if i % 15 == 0:
            out.append("FizzBuzz")
        elif i % 3 == 0:
            out.append("Fizz")
        elif i % 5 == 0:
            out.append("Buzz")
        else:
            out.append(str(i))
    return out

#: check fizzbuzz = counterexample
def fizzbuzz(n: int) -> list:
    """
    pre: 1 <= n <= 30
    post: len(_) == n
    post: all(word == "FizzBuzz" for word in _[14::15])
    """
    out = []
    for i in range(1, n + 1):
        if i % 3 == 0:
            out.append("Fizz")
        elif i % 5 == 0:
            out.append("Buzz")
        elif i % 15 == 0:
            out.append("FizzBuzz")
        else:
            out.append(str(i))
    return out
