#: check f = verified
def f(x: int) -> int:
    assert x > 0
    y = x + 1
    assert y > 1
    return y

#: check f = counterexample AssertionError
def f(x: int) -> int:
    assert x > 0
    y = x - 1
    assert y > 0
    return y

#: check f = verified
def f(x: int) -> int:
    """Doc.

    pre: x > 5
    pre: x < 7
    post: _ == 6
    post: __return__ == 6
    """
    return x

#: check f = counterexample Postcondition
def f(x: int) -> int:
    """
    pre: True
    post: _ > x
    """
    return x

#: check f = verified
def f(xs: list[int]) -> None:
    """
    pre: len(xs) == 2
    post: xs[0] == __old__.xs[0] + 1
    """
    xs[0] += 1

#: check f = counterexample
def f(xs: list[int]) -> None:
    """
    pre: len(xs) == 2
    post: xs == __old__.xs
    """
    xs[0] += 1

#: check f = verified
#: find f ValueError = found
def f(x: int) -> int:
    """
    raises: ValueError
    """
    if x < 0:
        raise ValueError
    return x

#: check f = counterexample KeyError
def f(x: int) -> int:
    """
    raises: ValueError, TypeError
    """
    if x < 0:
        raise ValueError
    if x == 9:
        raise KeyError(x)
    return x

#: check f = verified
def f(x: int) -> int:
    """
    raises: LookupError
    """
    if x == 9:
        raise KeyError(x)
    return x

#: check f = error SyntaxError contract
def f(x: int) -> int:
    """
    post: _ >
    """
    return x

#: check f = error ValidationError eval
def f(x: int) -> int:
    """
    post: eval("1")
    """
    return x

#: check f = verified
def f(x: int) -> int:
    """
    pre: x > 0 and x < 0
    post: False
    """
    return x

#: check f = verified
def f(x: int) -> int:
    """
    pre: 10 // x > 3
    post: 0 < _ < 3
    """
    return x

#: check f = counterexample raised
def f(x: int) -> int:
    """
    post: 10 // _ < 100
    """
    return x

#: check f = verified
def f(x: int) -> int:
    """
    pre: x >= 0
    post: _ == double(x)
    """
    return x + x

def double(x):
    return 2 * x

#: check f = error outlives the call
seen = [0]

def f(x: int) -> int:
    """
    pre: seen.append(1) is None
    """
    n = len(seen)
    assert n == 1
    return n

#: check f = counterexample f([0])
def f(given: list[int]) -> int:
    """
    pre: given.append(1) is None
    """
    n = len(given)
    assert n != 1
    return n

#: check f = counterexample ZeroDivisionError
def f(xs: list[int], n: int):
    """
    pre: len(xs) == 2 and all(x > n for x in xs) and [x for x in xs if x < n] == []
    """
    return 1 // (xs[0] - n - 1)

#: check f = verified
def f(accounts: dict[str, int], amount: int) -> None:
    """
    pre: "a" in accounts and "b" in accounts and len(accounts) == 2
    post: sum(accounts.values()) == sum(__old__.accounts.values())
    """
    accounts["a"] -= amount
    accounts["b"] += amount

#: check f = verified
def f(pairs: list[tuple[int, int]], xs: list[int]) -> int:
    """
    pre: all(x > 0 for x in xs) and all(low <= high for low, high in pairs)
    pre: len(pairs) <= 2 and 3 > len(xs)
    post: _ >= 0
    """
    return sum(xs) + sum(high - low for low, high in pairs)

#: check f = counterexample
def f(xs: list[int]) -> int:
    """
    pre: all(x > 0 for x in xs)
    pre: len(xs) <= 2 or xs[0] == 7
    post: _ < 7
    """
    return sum(xs)

#: check f = timeout loop 0 <= n <= 100
#: find f ValueError = error TimeoutError 0 <= n <= 100
def f(n: int) -> int:
    """
    pre: n >= 0
    post: _ == 0
    """
    while n > 0:
        n -= 1
    return n

#: check f = timeout items len(rows) <= 3
def f(rows: list[list[int]]) -> int:
    """post: _ >= 0"""
    return sum(len(row) for row in rows)

#: check f = timeout items len(rows) <= 4
def f(rows: list[list[int]]) -> int:
    """
    pre: len(rows) < 9
    post: _ >= 0
    """
    return sum(len(row) for row in rows)
