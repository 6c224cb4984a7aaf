# Where CPython makes an index of an int: one beyond 64 bits raises OverflowError, raises IndexError, or is clamped.

#: check inserted = counterexample OverflowError
#: find inserted OverflowError = found
#: find inserted IndexError = unreachable
#: compare inserted by_slices = different
#: branches inserted = complete 6:TF cc 2
def inserted(i: int):
    xs = [1, 2]
    try:
        xs.insert(i, 9)
    except OverflowError:
        if i > 0:
            raise
        raise
    return xs
def by_slices(i: int):
    xs = [1, 2]
    return xs[:i] + [9] + xs[i:]

#: check insert_known = verified
#: find insert_known OverflowError = found
def insert_known(n: int):
    """
    raises: OverflowError
    post: False
    """
    [1].insert(10 ** 30 if n > 0 else -10 ** 30, 9)

#: check insert_within = verified
def insert_within(i: int):
    """
    pre: -2 ** 63 <= i < 2 ** 63
    post: len(_) == 3
    """
    xs = [1, 2]
    xs.insert(i, 9)
    return xs

#: check insert_at_the_edge = verified
def insert_at_the_edge(n: int):
    """
    post: _ == [8, 1, 9]
    """
    xs = [1]
    xs.insert(2 ** 63 - 1, 9)
    xs.insert(-2 ** 63, 8)
    return xs

#: check popped = verified
#: find popped OverflowError = found
#: find popped IndexError = found
#: compare popped by_index = different
#: branches popped = complete 7:TF cc 2
def popped(i: int):
    """
    raises: OverflowError, IndexError
    post: _ == (5 if i in (0, -2) else 6)
    """
    xs = [5, 6]
    if i > 2 ** 63:
        return xs.pop(i)
    return xs.pop(i)
def by_index(i: int):
    return [5, 6][i]

#: check pop_of_nothing = verified
def pop_of_nothing(n: int):
    """
    post: _ == ("OverflowError", "IndexError")
    """
    seen = []
    for i in (2 ** 63, 2 ** 63 - 1):
        try:
            [].pop(i)
        except OverflowError:
            seen.append("OverflowError")
        except IndexError:
            seen.append("IndexError")
    return tuple(seen)

#: check item = verified
#: find item OverflowError = unreachable
#: branches item = complete 7:TF cc 2
def item(i: int):
    """
    raises: IndexError
    post: i in (0, -1) and _ == 1
    """
    xs = [1]
    if i > 10 ** 30:
        return (1,)[i]
    return xs[i]

#: check item_of_text = verified
#: find item_of_text OverflowError = unreachable
def item_of_text(s: str, i: int):
    """
    raises: IndexError
    post: -len(s) <= i < len(s)
    """
    return s[i]

#: check set_and_deleted = verified
#: find set_and_deleted OverflowError = unreachable
def set_and_deleted(n: int):
    """
    raises: IndexError
    post: False
    """
    xs = [1]
    if n > 0:
        xs[10 ** 30] = 1
    del xs[-10 ** 30]

#: check sliced = verified
#: compare sliced all_of_it = equivalent
#: branches sliced = complete 6:TF cc 2
def sliced(n: int):
    """
    post: _ == [1, 2, 3]
    """
    xs = [1, 2, 3]
    if n < 0:
        return xs[-10 ** 30:10 ** 30]
    return xs[-2 ** 63 - 1::1]
def all_of_it(n: int):
    return [1, 2, 3]

#: check slice_steps = verified
def slice_steps(n: int):
    """
    post: _ == ([1], [3], "a", "c", [], [3, 2, 1])
    """
    xs = [1, 2, 3]
    return xs[::10 ** 30], xs[::-10 ** 30], "abc"[::2 ** 63], "abc"[::-2 ** 64], xs[:10 ** 30:-1], xs[10 ** 30:-10 ** 30:-1]

#: check sliced_anywhere = verified
def sliced_anywhere(i: int, j: int):
    """
    post: len(_) <= 2
    """
    return [1, 2][i:j]

#: check text_sliced = verified
#: find text_sliced OverflowError = unreachable
def text_sliced(s: str, i: int):
    """
    pre: i > 2 ** 63 and len(s) < 4
    post: _ == (s, "")
    """
    return s[:i], s[i:]

#: check repeated = verified
#: find repeated OverflowError = found
#: compare repeated repeated_clamped = different
#: branches repeated = complete 6:TF cc 2
def repeated(n: int):
    """
    raises: OverflowError
    post: _ == []
    """
    if n > 0:
        return [] * n
    return [1, 2] * n
def repeated_clamped(n: int):
    return []

#: check repeat_raises = verified
def repeat_raises(n: int):
    """
    pre: n >= 2 ** 63 or n < -2 ** 63
    raises: OverflowError
    post: False
    """
    kind = n % 5
    if kind == 0:
        return [] * n
    if kind == 1:
        return n * ()
    if kind == 2:
        return "" * n
    if kind == 3:
        return "ab" * n
    xs = [1]
    xs *= n
    return xs

#: check nothing_often = verified
def nothing_often(n: int):
    """
    post: _ == ([], "", ())
    """
    return [] * (2 ** 63 - 1), "" * 2 ** 62, 2 ** 62 * ()

#: check repeated_text = verified
def repeated_text(s: str, n: int):
    """
    pre: n <= 0
    pre: n >= -2 ** 63
    post: _ == ""
    """
    return s * n

#: check split_at_most = verified
#: find split_at_most OverflowError = found
#: compare split_at_most split_at_all = different
#: branches split_at_most = complete 7:TF cc 3
def split_at_most(s: str, n: int):
    """
    pre: len(s) <= 2
    raises: OverflowError
    post: len(_) >= 1
    """
    if n < 0 or n >= 2 ** 63:
        return s.split("-", n)
    return s.split("-")
def split_at_all(s: str, n: int):
    return s.split("-")

#: check split_raises = verified
#: find split_raises TypeError = unreachable
#: find split_raises ValueError = unreachable
def split_raises(s: str, n: int):
    """
    pre: n >= 2 ** 63 or n < -2 ** 63
    raises: OverflowError
    post: False
    """
    if n % 3 == 0:
        return s.split("", n)
    if n % 3 == 1:
        return s.split("a", n)
    return s.replace("a", "b", n)

#: check replaced_at_most = verified
def replaced_at_most(s: str, n: int):
    """
    pre: len(s) <= 2
    pre: -3 <= n <= 1
    post: _ == s if n == 0 else len(_) == len(s)
    """
    return s.replace("a", "b", n)

#: check known_texts = verified
def known_texts(n: int):
    """
    post: _ == (1, -1, 1, True, ["a", "b"])
    """
    far = 10 ** 30
    return "ab".find("b", -far), "ab".find("b", far), "ab".count("a", 0, far), "ab".startswith("a", -far), "a b".split(" ", 5)

#: check known_text_raises = verified
#: find known_text_raises OverflowError = found
def known_text_raises(n: int):
    """
    raises: OverflowError, ValueError
    post: False
    """
    if n == 0:
        return "a b".split(" ", 10 ** 30)
    if n == 1:
        return "a b".rsplit(None, 2 ** 63)
    if n == 2:
        return chr(10 ** 30)
    return "ab".replace("a", "b", -2 ** 63 - 1)

#: check rounded = verified
def rounded(n: int):
    """
    post: _ == (1.5, 0.0, 5)
    """
    return round(1.5, 10 ** 30), round(1.5, -10 ** 30), round(5, 10 ** 30)

#: check rounded_away = timeout size
def rounded_away(n: int):
    return round(5, -10 ** 30)

#: check shifted = verified
#: find shifted OverflowError = unreachable
def shifted(n: int):
    """
    raises: ValueError
    post: _ == 0 and n >= 0
    """
    return 0 << n

#: check counted_from = verified
def counted_from(n: int):
    """
    post: _ == [(10 ** 30, 5), (10 ** 30 + 1, 6)]
    """
    return list(enumerate([5, 6], 10 ** 30))
