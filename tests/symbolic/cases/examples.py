"""Examples of both sides of a branch, each of which real Python confirms."""


#: branches f = complete 2:TF 4:TF 6:TF 8:TF cc 6
def f(a: int, s: str):
    if a > 5 and s:
        a += 1
    elif (n := a * 2) == 8:
        return n
    while a > 3:
        a -= 2
        if a == 5:
            return 2
    return 3


#: branches f = complete 2:TF 4:TF cc 3
def f(a: int, b: int):
    if b == 0:
        return 0
    if a / b > 2.5:
        return 1
    return 2


#: branches f = complete 2:TF 4:T- dead 6 cc 3
def f(x: int):
    if x > 10:
        x = 10
    if x <= 10:
        return x
    return 11


#: branches f = complete 2:TF 3:TF cc 4
def f(x: int | None, flag: bool):
    if x is not None:
        if (flag
                and x == 2 ** 70):
            return 1
    return 0


#: branches f = complete 5:TF 8:TF cc 3
def f(a: int):
    """
    pre: a != 7
    """
    if a > 6:
        return 1
    try:
        if 1 // a > 0:
            return 2
    except ZeroDivisionError:
        return 3
    return 4
