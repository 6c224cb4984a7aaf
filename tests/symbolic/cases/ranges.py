# Ranges with more items than len() can say: only len(), and what asks for a length, raises.

#: check second = counterexample IndexError
#: find second OverflowError = unreachable
#: find second IndexError = found
#: compare second one_or_none = different
#: branches second = complete 2:TF cc 2
def second(n: int):
    if n < 2:
        return range(n)[1]
    return range(n)[1]
def one_or_none(n: int):
    return 1

#: check second_of_many = verified
#: compare second_of_many always_one = equivalent
def second_of_many(n: int):
    """
    post: _ == 1
    """
    return range(n)[1] if n >= 2 else 1
def always_one(n: int):
    return 1

#: check emptiness = verified
#: find emptiness OverflowError = unreachable
#: compare emptiness not_positive = equivalent
#: branches emptiness = complete 5:TF cc 2
def emptiness(n: int) -> bool:
    """
    post: _ == (n <= 0)
    """
    if not range(n):
        return True
    return False
def not_positive(n: int) -> bool:
    return n <= 0

#: check emptiness_down = verified
def emptiness_down(a: int, b: int) -> bool:
    """
    post: _ == (a > b)
    """
    return bool(range(a, b, -2))

#: check length = counterexample OverflowError
#: find length OverflowError = found
def length(n: int) -> int:
    return len(range(n))

#: check length_of_few = verified
def length_of_few(n: int) -> int:
    """
    pre: n < 2 ** 63
    post: _ == max(n, 0)
    """
    return len(range(n))

#: check last = verified
#: find last IndexError = unreachable
def last(n: int):
    """
    pre: n > 0
    post: _ == n - 1
    """
    return range(n)[-1]

#: check far_index = verified
def far_index(i: int):
    """
    raises: IndexError
    post: _ == 10 ** 30 + i
    """
    if i < 0:
        raise IndexError
    return range(10 ** 30, 10 ** 40)[i]

#: check holds = verified
def holds(n: int):
    """
    post: _ == (n > 5)
    """
    return 5 in range(n)

#: check first_two = verified
#: compare first_two zero_and_one = equivalent
def first_two(n: int):
    """
    post: _ == [0, 1]
    """
    if n < 2 ** 64:
        return [0, 1]
    seen = []
    for i in range(n):
        if i == 2:
            break
        seen.append(i)
    return seen
def zero_and_one(n: int):
    return [0, 1]

#: check paired = verified
def paired(n: int):
    """
    pre: n >= 2
    post: _ == [(0, 7), (1, 8)]
    """
    return list(zip(range(n), [7, 8]))

#: check from_the_end = verified
#: find from_the_end OverflowError = unreachable
def from_the_end(n: int):
    """
    pre: n > 0
    post: _ == n - 1
    """
    return next(reversed(range(n)))

#: check turned_by_step = verified
def turned_by_step(a: int):
    """
    post: _ == [a + 6, a + 3, a]
    """
    return list(reversed(range(a, a + 8, 3)))

#: check no_end = verified
def no_end(n: int):
    """
    pre: n <= 0
    post: _ == []
    """
    return list(reversed(range(n)))

#: check listed = counterexample OverflowError
#: find listed OverflowError = found
def listed(n: int):
    """
    pre: n > 2 ** 63
    """
    return list(range(n))

#: check all_listed = verified
def all_listed(n: int):
    """
    pre: n > 2 ** 63
    raises: OverflowError
    post: False
    """
    kind = n % 6
    r = range(n)
    if kind == 0:
        return list(r)
    if kind == 1:
        return tuple(r)
    if kind == 2:
        return [*r]
    if kind == 3:
        [].extend(r)
    if kind == 4:
        return sorted(r)
    return list(reversed(r))

#: check great_strides = verified
def great_strides(n: int):
    """
    post: _ == [-2 ** 63, -2 ** 62, 0, 2 ** 62]
    """
    return [i for i in range(-2 ** 63, 2 ** 63 - 1, 2 ** 62)]

#: check compared = verified
#: compare compared both_empty = different
def compared(a: int, b: int):
    """
    post: _ == ((a == b) or (a <= 0 and b <= 0))
    """
    return range(a) == range(b) and not range(a) != range(b)
def both_empty(a: int, b: int):
    return a <= 0 and b <= 0

#: check of_one_item = verified
def of_one_item(a: int, b: int):
    """
    pre: a > 0 and b > 0
    post: _ == (True, True, a != b)
    """
    return range(5, 6, 7) == range(5, 7, 3), range(a, a, 5) == range(0), range(a, b + a * 2) != range(b, b + a * 2)

#: check f = verified
#: find f ValueError = found
def f(n: int, step: int):
    """
    pre: 0 <= n <= 4 and -2 <= step <= 3
    post: len(_) == (0 if step < 0 else -(-n // step))
    raises: ValueError
    """
    return [x for x in range(0, n, step)]

#: check f = counterexample Postcondition
def f(xs: list[int], size: int):
    """
    pre: len(xs) <= 4 and 1 <= size <= 3
    post: all(len(part) == size for part in _)
    """
    return [xs[i:i + size] for i in range(0, len(xs), size)]

#: check f = error step
def f(n: int, step: int):
    """pre: step > 0 and n < 100"""
    return list(range(0, n, step))

#: check f = verified
def f(n: int, step: int):
    """
    pre: 1 <= step <= 3 and 0 <= n <= 3
    post: _ == (2 if step == 2 and n == 3 else 0)
    """
    r = range(0, n, step)
    found = 0
    if step == 2:
        found = len(r)
    if n < 3:
        found = 0
    return found
