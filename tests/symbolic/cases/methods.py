"""Methods of strs that are not known, and int() of them."""


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: len(_) == len(s)
    """
    return s[::-1]


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: s != 'abc' or not _
    """
    return s == s[::-1]


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 4
    post: len(_) == (len(s) + 1) // 2
    """
    return s[::2]


#: check f = counterexample Postcondition
def f(s: str):
    """
    pre: len(s) <= 3
    post: _ == s
    """
    return s.strip()


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: not _.startswith('x')
    """
    return s.lstrip('xy')


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: len(_) <= 2
    """
    return s.split()


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 4
    post: len(_) <= 2
    """
    return s.split(',', 1)


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: 'a' not in _
    """
    return s.replace('a', 'b')


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: len(_) >= len(s)
    """
    return s.replace('a', 'aa')


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: 0 <= _ <= len(s)
    """
    return s.count('a')


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: _ <= 1
    """
    return s.count('aa')


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 3
    post: _[0] + _[1] + _[2] == s
    """
    return s.partition('=')


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 2
    post: not _ or len(s) > 0
    """
    return s.isdigit()


#: check f = verified
def f(s: str):
    """
    pre: len(s) == 1 and s.isascii()
    post: _ == ('0' <= s <= '9')
    """
    return s.isdigit()


#: check f = verified
def f(s: str):
    """
    pre: len(s) <= 2
    raises: ValueError
    """
    return int(s)


#: check f = verified
def f(n: int):
    """
    pre: 0 <= n <= 99
    post: _ == n
    """
    return int(str(n))


#: find f ValueError = found
def f(s: str):
    """pre: len(s) <= 3"""
    key, value = s.split('=')
    return key
