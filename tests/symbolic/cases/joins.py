#: check f = verified
#: branches f = complete 7:TF 9:TF 11:TF 13:TF 15:TF 17:TF 19:TF 21:TF 23:TF 25:TF 27:TF 29:TF 31:TF 33:TF 35:TF 37:TF cc 17
def f(a: int, b: int, c: int, d: int, e: int, g: int, h: int, i: int, j: int, k: int, l: int, n: int, o: int, p: int, q: int, r: int):
    """
    post: len(_) <= 16
    post: all(x > 0 for x in _)
    """
    out = []
    if a > 0:
        out.append(a)
    if b > 0:
        out.append(b)
    if c > 0:
        out.append(c)
    if d > 0:
        out.append(d)
    if e > 0:
        out.append(e)
    if g > 0:
        out.append(g)
    if h > 0:
        out.append(h)
    if i > 0:
        out.append(i)
    if j > 0:
        out.append(j)
    if k > 0:
        out.append(k)
    if l > 0:
        out.append(l)
    if n > 0:
        out.append(n)
    if o > 0:
        out.append(o)
    if p > 0:
        out.append(p)
    if q > 0:
        out.append(q)
    if r > 0:
        out.append(r)
    return out

#: check f = counterexample
def f(a: int, b: int, c: int, d: int, e: int, g: int, h: int, i: int, j: int, k: int, l: int, n: int):
    """
    post: len(_) != 11 or _[-1] != 7
    """
    out = []
    if a > 0:
        out.append(a)
    if b > 0:
        out.append(b)
    if c > 0:
        out.append(c)
    if d > 0:
        out.append(d)
    if e > 0:
        out.append(e)
    if g > 0:
        out.append(g)
    if h > 0:
        out.append(h)
    if i > 0:
        out.append(i)
    if j > 0:
        out.append(j)
    if k > 0:
        out.append(k)
    if l > 0:
        out.append(l)
    if n > 0:
        out.append(n)
    return out

#: check f = verified
def f(name: bool, mail: bool, age: int, city: bool, zip: bool, phone: bool, terms: bool, news: bool, tax: bool, vat: bool) -> list:
    """
    post: (len(_) == 0) == (name and mail and 0 <= age < 150 and city and zip and phone and terms and news and tax and vat)
    post: "age" not in _ or age < 0 or age > 149
    """
    errors = []
    if not name:
        errors.append("name")
    if not mail:
        errors.append("mail")
    if age < 0 or age > 149:
        errors.append("age")
    if not city:
        errors.append("city")
    if not zip:
        errors.append("zip")
    if not phone:
        errors.append("phone")
    if not terms:
        errors.append("terms")
    if not news:
        errors.append("news")
    if not tax:
        errors.append("tax")
    if not vat:
        errors.append("vat")
    return errors

#: check f = verified
def f(a: int, b: int, c: int, d: int, e: int, g: int):
    """
    post: sum(_.values()) <= 6 and len(_) <= 2
    """
    seen = {}
    for x in (a, b, c, d, e, g):
        if x < 0:
            seen["negative"] = seen.get("negative", 0) + 1
        elif x == 0:
            continue
        else:
            seen["positive"] = seen.get("positive", 0) + 1
    return seen

#: check f = verified
def f(a: int, b: int, c: int):
    """
    post: _ == (1 if a > 0 else 0) + (1 if b > 0 else 0) + (1 if c > 0 else 0)
    """
    xs = []
    ys = xs
    if a > 0:
        xs.append(1)
    if b > 0:
        ys.append(2)
    if c > 0:
        xs = ys
        xs.append(3)
    return len(ys)

#: check f = counterexample
def f(a: int, b: int):
    """
    post: len(_) < 3
    """
    xs = []
    ys = [1]
    if a > 0:
        ys = xs
    if b > 0:
        xs.append(2)
    ys.append(3)
    return xs + ys

#: check f = counterexample UnboundLocalError
def f(a: int, b: int):
    if a > 0:
        word = 1
    if b > 5:
        return word
    return 0

#: check f = verified
def f(a: int, b: int):
    if a > 0:
        word = 1
    if b > 5 and a > 0:
        return word
    return 0

#: check f = counterexample IndexError
def f(a: int, b: int, c: int) -> int:
    stack = []
    if a > 0:
        stack.append(a)
    if b > 0:
        stack.append(b)
    if c > 0:
        stack.pop()
    return len(stack)

#: check f = verified
def f(a: int, b: int, c: int) -> int:
    """
    post: _ >= 0
    """
    stack = []
    if a > 0:
        stack.append(a)
    if b > 0:
        stack.append(b)
    if c > 0 and stack:
        return stack.pop()
    return len(stack)

#: check f = verified
class Account:
    def __init__(self):
        self.log = []
        self.total = 0

    def put(self, n):
        if n <= 0:
            return False
        self.log.append(n)
        self.total += n
        return True

def f(a: int, b: int, c: int, d: int, e: int, g: int, h: int, i: int):
    """
    post: _[0] == sum(_[1])
    """
    account = Account()
    for n in (a, b, c, d, e, g, h, i):
        account.put(n)
    return account.total, account.log

#: branches f = complete 3:TF 5:TF 9:-F 10:-- dead 10,11 cc 5
def f(a: int, b: int, c: int):
    out = []
    if a > 0:
        out.append(1)
        if b > 0:
            out.append(2)
    else:
        out.append(3)
    if len(out) > 2:
        if c > 0:
            out.append(4)
    return out

#: compare f g = equivalent
def f(a: int, b: int, c: int, d: int, e: int, h: int, i: int, j: int):
    out = []
    for x in (a, b, c, d, e, h, i, j):
        if x % 2:
            continue
        out.append(x)
    return out

def g(a: int, b: int, c: int, d: int, e: int, h: int, i: int, j: int):
    return [x for x in [a, b, c, d, e, h, i, j] if x % 2 == 0]

#: compare f g = different
def f(a: int, b: int, c: int, d: int, e: int, h: int, i: int, j: int):
    return [x for x in [a, b, c, d, e, h, i, j] if x % 2 == 0]

def g(a: int, b: int, c: int, d: int, e: int, h: int, i: int, j: int):
    return [x for x in [a, b, c, d, e, h, i, j] if x % 2 == 0 and x != 4322]

#: check f = verified
def f(a: int, b: int, c: int, d: int, e: int, g: int, h: int, i: int):
    """
    post: _ <= 8
    """
    seen = set()
    for x in (a, b, c, d, e, g, h, i):
        seen.add(x)
    return len(seen)

#: check f = verified
def f(a: int, b: int, c: int, d: int):
    """
    post: len(_) <= 12
    """
    words = ""
    if a > 0:
        words += "abc"
    if b > 0:
        words += "def"
    if c > 0:
        words += "ghi"
    if d > 0:
        words += "jkl"
    return words
