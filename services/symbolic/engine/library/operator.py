# The module operator, as the engine runs it.


def itemgetter(item, /, *items):
    if not items:
        return lambda obj, /: obj[item]
    every = (item, *items)
    return lambda obj, /: tuple([obj[i] for i in every])


def add(a, b, /):
    return a + b


def sub(a, b, /):
    return a - b


def mul(a, b, /):
    return a * b


def truediv(a, b, /):
    return a / b


def floordiv(a, b, /):
    return a // b


def mod(a, b, /):
    return a % b


def pow(a, b, /):
    return a**b


def and_(a, b, /):
    return a & b


def or_(a, b, /):
    return a | b


def xor(a, b, /):
    return a ^ b


def lshift(a, b, /):
    return a << b


def rshift(a, b, /):
    return a >> b


def concat(a, b, /):
    if kind(a) not in ("list", "tuple", "str"):
        refuse("operator.concat() of what is no list, tuple or str", "use +")
    return a + b


def neg(a, /):
    return -a


def pos(a, /):
    return +a


def inv(a, /):
    return ~a


def invert(a, /):
    return ~a


def not_(a, /):
    return not a


def truth(a, /):
    return bool(a)


def is_(a, b, /):
    return a is b


def is_not(a, b, /):
    return a is not b


def eq(a, b, /):
    return a == b


def ne(a, b, /):
    return a != b


def lt(a, b, /):
    return a < b


def le(a, b, /):
    return a <= b


def gt(a, b, /):
    return a > b


def ge(a, b, /):
    return a >= b


def contains(a, b, /):
    return b in a


def getitem(a, b, /):
    return a[b]


def setitem(a, b, c, /):
    a[b] = c


def delitem(a, b, /):
    del a[b]


def countOf(a, b, /):
    return list(a).count(b)
