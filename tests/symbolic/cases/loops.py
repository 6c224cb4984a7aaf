#: check f = verified
def f(n: int) -> int:
    """
    pre: 0 <= n <= 8
    post: _ == n * (n + 1) // 2
    """
    s = 0
    for i in range(n + 1):
        s += i
    return s

#: check f = timeout loop
def f(n: int) -> int:
    """
    pre: n >= 0
    post: _ == n * (n + 1) // 2
    """
    s = 0
    for i in range(n + 1):
        s += i
    return s

#: check f = counterexample
def f(n: int) -> int:
    """
    post: _ != 15
    """
    s = 0
    for i in range(n + 1):
        s += i
    return s

#: check f = verified
def f(n: int) -> int:
    """
    pre: 0 <= n < 10
    post: _ == n
    """
    i = 0
    while i < n:
        i += 1
    return i

#: check f = counterexample
def f(n: int) -> int:
    """
    post: _ < 5
    """
    i = 0
    while i < n:
        i += 1
        if i == 7:
            break
    return i

#: check f = verified
def f(n: int) -> int:
    """
    post: _ == 25
    """
    s = 0
    for i in range(10):
        if i % 2 == 0:
            continue
        s += i
    return s

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == (0 if 0 <= x < 5 else 1)
    """
    for i in range(5):
        if i == x:
            r = 0
            break
    else:
        r = 1
    return r

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 9
    """
    i = 0
    while i < 3:
        i += 1
    else:
        i = 9
    return i

#: check f = verified
def f(a: int, b: int, c: int) -> int:
    """
    post: 0 <= _ <= 3
    """
    n = 0
    for x in [a, b, c]:
        if x > 0:
            n += 1
    return n

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 10
    """
    n = 0
    for i in range(10, 0, -1):
        n += 1
    return n

#: check f = counterexample ValueError
def f(x: int) -> int:
    n = 0
    for i in range(0, 10, x - 3 if x == 3 else 1):
        n += 1
    return n

#: check f = timeout
#: find f ValueError = error TimeoutError
def f(x: int) -> int:
    while True:
        pass

#: branches f = complete 3:TF 4:TF cc 3
def f(n: int) -> int:
    i = 0
    while i < n:
        if i == 2:
            return 7
        i += 1
    return i

#: check f = verified
def f(a: int, b: int) -> int:
    """
    pre: 0 < a <= 6 and 0 < b <= 6
    post: _ > 0
    post: a % _ == 0
    """
    x, y = a, b
    while y:
        x, y = y, x % y
    return x

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 6
    """
    n = 0
    for i in range(3):
        for j in range(3):
            if j == 2:
                break
            n += 1
    return n

#: check f = verified
def f(x: int) -> list:
    """
    post: _ == [(0, 5), (1, 6)]
    """
    return [(i, v) for i, v in enumerate([5, 6])]

#: check f = verified
def f(x: int) -> int:
    """
    post: _ == 5 * x + 4
    """
    return sum(a * b for a, b in zip([1, 2, 3], (x, x + 0, 1 + x - 1))) - x + 4 if x != 3 else 19
