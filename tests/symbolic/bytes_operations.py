"""Rows of the table in operations.py: bytes, the `with` statement, and what is passed on by *args and **kwargs."""


def add_rows(row):
    add_functions(row)
    add_methods(row)
    add_numbers(row)
    add_codecs(row)
    add_with(row)


def add_functions(row):
    row("bytes", "list", "bytes(a)", "bytes(tuple(a))", "bytes(x for x in a)", "bytes(iter(a))", "len(bytes(a))")
    row("bytes", "bytes", "bytes(a)", "bytes(a, 'ascii')", "bytes(list(a)) == a", "bytes(reversed(a))", "bytes([x ^ 255 for x in a])", "bytes(a) is a")
    row("bytes", "times", "bytes(a)", "len(bytes(a))", "bytes([a])", "bytes((a, 1))", "bytes([1, a, 'x'])")
    row("bytes", "small", "bytes(a)", "bytes(range(a))", "bytes([255 + a])", "bytes([a, 'x'])", "bytes(['x', a])", "bytes([None])", "bytes(2.5)", "bytes(None)")
    row("bytes", "byte", "bytes([a])", "bytes([a, a])[1]", "bytes([a]) + b'x'", "bytes((a, 255 - a))", "bytes([a])[0] == a", "b'%d' % a", "bytes([a]).hex()")
    row("bytes", "str", "bytes(a)", "bytes(a, 'utf-8')", "bytes(a, 'ascii')", "bytes(a, 'latin-1')", "bytes(a, 5)")
    row("bytes", "", "bytes()", "b''", "b'\\x00\\xff'", "bytes(3)", "bytes(bytes(2))", "type(b'') == bytes", "b'a' b'b'")
    row("bytes", "bool", "bytes([a])", "bytes(a)")
    row("bytes", "dict", "bytes(a)")
    row("bytes items", "bytes", "a[0]", "a[-1]", "a[1]", "a[0] + a[-1]", "[x for x in a]", "list(a)", "tuple(a)", "sum(a)", "max(a, default=-1)", "min(a)",
        "sorted(a)", "list(reversed(a))", "list(enumerate(a))", "list(zip(a, a))", "any(a)", "all(a)", "len(set(a))", "a[True]", "a['x']", "a[None]",
        "n = 0\nfor x in a:\n    n ^= x\nreturn n", "n = 0\nfor x in a:\n    n = (n << 8) | x\nreturn n", "a[0] = 1\nreturn a", "del a[0]\nreturn a",
        "x, y = a\nreturn (y, x)", "x, *y = a\nreturn y", "[*a]", "sum(a[::2])", "list(map(chr, a))", "next(iter(a))", "'%s' % a", "str(a)", "repr(a)",
        "f'{a}'", "hash(a) == hash(a)", "{a: 1}[a]", "a in {a}", "{b'a': 1}.get(a, 0)", "a in (b'', b'a')", "ord(a)", "int(a)", "float(a)", "chr(a[0])",
        "a or b'z'", "not a", "a and a[0]", "a += b'x'\nreturn a", "a *= 2\nreturn a", "match a:\n    case b'a':\n        return 1\n    case bytes():\n        return 2\nreturn 3",
        "match a:\n    case [x]:\n        return 1\n    case bytes(x):\n        return x\nreturn 3", "isinstance(a, (bytes, bytearray))", "isinstance(a, str)",
        "type(a) == bytes", "type(a) is str", "sum([a], b'')", "a.x", "a % ()", "[a] * 2", "a == 'a'", "a != 97", "a == [97]", "x = a\nif a:\n    x = a[1:]\nreturn x",
        "x = b''\nfor c in a:\n    x = bytes([c]) + x\nreturn x", "x = b'q' if a[:1] == b'a' else b'z'\nreturn x", "len(a) * 2", "print(a)", "a[0:1][0]")
    row("bytes items", "bytes place", "a[b]", "a[b:]", "a[:b]", "a[b:b + 2]", "a[-1:b]", "a[::b]", "a[b] = 1\nreturn a", "a * b if b < 4 else 0")
    row("bytes items", "bytes maybe", "a[b:]", "a[:b]", "a[::b]")
    row("bytes items", "bytes small", "a[b]", "a[b:]", "a[:b]", "b in a", "b not in a", "a * b", "b * a", "a.find(b)", "a.count(b)", "a + b")
    row("bytes items", "bytes byte", "b in a", "a + bytes([b])", "a.find(b)", "a.index(b)", "a.rfind(b)", "a.count(b)", "bytes([b]) in a", "[x & b for x in a]", "[x ^ b for x in a]")
    row("bytes items", "bytes times", "b in a", "a * b", "a.find(b)")
    row("bytes items", "bytes bytes", "a + b", "a == b", "a < b", "a <= b", "a > b", "a >= b", "a != b", "a in b", "b not in a", "a is b", "max(a, b)", "sorted([a, b])",
        "[a, b].index(b)", "a[:1] == b[:1]", "a + b == b + a", "(a + b)[1]", "(a + b)[1:3]", "len(a + b)", "b'-'.join([a, b])", "{a, b} == {a}", "{a: 1, b: 2}[a]",
        "x = a if len(a) > len(b) else b\nreturn x", "(a, b) < (b, a)", "a.startswith(b) and a[:len(b)] == b")
    row("bytes items", "bytes str", "a == b", "a < b", "a in b", "b in a", "a + b", "b + a", "a.find(b)", "a.startswith(b)", "a.split(b)", "a.replace(b, a)", "b.join([a])", "a.join([b])")
    row("ascii", "bytes", "ascii(a)", "ascii([a])", "f'{a!a}'")
    row("ascii", "str", "ascii(a)")
    row("bytes and re", "bytes", "re.match(b'a', a) is None", "re.match('a', a)", "re.sub(b'a', b'b', a)", "re.compile(b'a').match(a) is None", "re.split(b'a', a)", "re.fullmatch(a, 'a')",
        "re.findall('a', a)", "try:\n    return re.match(b'a', a) is None\nexcept TypeError:\n    return 5")
    row("bytes and others", "bytes", "dict([a])", "collections.Counter(a)[97]", "list(itertools.chain(a, a))", "math.prod(a)", "{1}.union(a) == {1}", "[1] + a", "x = [1]\nx += a\nreturn x", "x = [1]\nx.extend(a)\nreturn x",
        "set(a) & {97}", "list(collections.deque(a))", "''.join(map(chr, a))", "''.join(a)", "operator.concat(a, a)", "bisect.bisect(a, 97)", "heapq.nlargest(1, a)", "functools.reduce(lambda x, y: x ^ y, a, 0)",
        "'%d' % a", "f'{a:>5}'", "f'{a!r}'", "'{}'.format(a)", "range(a)", "a @ a", "-a", "abs(a)", "divmod(a, 2)", "callable(a)", "datetime.date.fromisoformat(a)", "max([a, b'z'])", "dict.fromkeys(a)",
        "def g(*p, **k):\n    return (p, k)\nreturn g(*a)", "def g(**k):\n    return k\nreturn g(**{a: 1})", "lambda: a\nreturn a", "x = {a: 1}\nx[a] += 1\nreturn x[a]", "[x for x in a if x > 97]", "{x: 1 for x in a}.get(97)",
        "n = 0\nfor i in range(len(a)):\n    n += a[i] << 8 * i\nreturn n", "while a:\n    a = a[1:]\nreturn a", "out = []\nfor x in a:\n    if x < 128:\n        out.append(x)\nreturn bytes(out)", "a.split(b',')[0]", "a, b = a[:1], a[1:]\nreturn b + a")
    row("bytes items", "blobs", "b''.join(a)", "b','.join(a)", "sorted(a)", "len(a)", "[x[:1] for x in a]", "a[0]", "max(a, key=len, default=b'')", "b'a' in a", "a.count(b'a')", "sum(len(x) for x in a)")


def add_methods(row):
    for name in ("find", "rfind", "index", "rindex", "count", "startswith", "endswith"):
        row("bytes." + name, "bytes bytes", "a.%s(b)" % name)
        row("bytes." + name, "bytes", "a.%s(b'a')" % name, "a.%s(b'')" % name, "a.%s(b'ab')" % name, "a.%s()" % name, "a.%s('a')" % name, "a.%s(None)" % name, "a.%s(b'a', 1)" % name,
            "a.%s(b'a', -1)" % name, "a.%s(b'a', 0, 1)" % name, "a.%s(b'', 5)" % name, "a.%s(b'b', None, 2)" % name, "a.%s(256)" % name, "a.%s(97)" % name, "a.%s(-1)" % name, "a.%s(True)" % name)
        row("bytes." + name, "bytes place", "a.%s(b'a', b)" % name, "a.%s(b'', b)" % name, "a.%s(b'b', 0, b)" % name)
    for name in ("startswith", "endswith"):
        row("bytes." + name, "bytes", "a.%s((b'a', b'b'))" % name, "a.%s(())" % name, "a.%s((b'x', 'b'))" % name, "a.%s([b'a'])" % name)
    for name in ("split", "rsplit"):
        row("bytes." + name, "bytes", "a.%s()" % name, "a.%s(b'a')" % name, "a.%s(b',')" % name, "a.%s(b'a', 1)" % name, "a.%s(b'')" % name, "a.%s(None)" % name, "a.%s(sep=b'a')" % name, "a.%s('a')" % name)
        row("bytes." + name, "bytes bytes", "a.%s(b)" % name)
        row("bytes." + name, "bytes place", "a.%s(b'a', b)" % name)
    for name in ("partition", "rpartition"):
        row("bytes." + name, "bytes", "a.%s(b'a')" % name, "a.%s(b'')" % name, "a.%s(b'ab')" % name, "a.%s('a')" % name)
    for name in ("strip", "lstrip", "rstrip"):
        row("bytes." + name, "bytes", "a.%s()" % name, "a.%s(b'a')" % name, "a.%s(b'ab')" % name, "a.%s(None)" % name, "a.%s(b'')" % name, "a.%s('a')" % name, "a.%s(b'\\xff\\x00')" % name)
    row("bytes.replace", "bytes", "a.replace(b'a', b'xy')", "a.replace(b'a', b'')", "a.replace(b'', b'-')", "a.replace(b'a', b'b', 1)", "a.replace('a', b'b')", "a.replace(b'a', 'b')", "a.replace(b'a')")
    row("bytes.removeprefix", "bytes", "a.removeprefix(b'a')", "a.removeprefix('a')", "a.removeprefix(b'')")
    row("bytes.removesuffix", "bytes", "a.removesuffix(b'b')", "a.removesuffix('a')", "a.removesuffix(b'')")
    row("bytes.join", "bytes", "a.join([b'1', b'2'])", "a.join([])", "a.join([b'1'])", "a.join('ab')", "a.join([1])", "a.join(a)", "a.join((b'x', a))", "a.join(x for x in [b'1', b'2'])", "a.join(None)")
    row("bytes.zfill", "bytes", "a.zfill(3)", "a.zfill(0)", "a.zfill(-1)", "a.zfill('x')")
    for name in ("ljust", "rjust", "center"):
        row("bytes." + name, "bytes", "a.%s(3)" % name, "a.%s(3, b'-')" % name)
    for name in ("upper", "lower", "title", "capitalize", "swapcase", "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "istitle", "isascii", "splitlines", "expandtabs", "hex"):
        row("bytes." + name, "bytes", "a.%s()" % name, "a.%s(1)" % name if name not in ("splitlines", "expandtabs") else "a.%s(True)" % name)
    row("bytes.hex", "bytes", "a.hex(':')", "a.hex('-', 2)", "len(a.hex())", "a.hex()[:2]", "bytes.fromhex(a.hex())", "int(a.hex() or '0', 16)")
    row("bytes.hex", "byte", "bytes([a]).hex()", "bytes([a]).hex() == '%02x' % a")
    row("bytes.fromhex", "", "bytes.fromhex('00ff')", "bytes.fromhex('0 0')", "bytes.fromhex(' 0a 0B ')", "bytes.fromhex('x')", "bytes.fromhex('')", "bytes.fromhex(1)", "b''.fromhex('00')")
    row("bytes.fromhex", "str", "bytes.fromhex(a)")
    row("bytes.maketrans", "bytes", "bytes.maketrans(a, a)")
    row("bytes.translate", "bytes", "a.translate(None, b'a')")


def add_numbers(row):
    I = "int.from_bytes"
    row(I, "bytes", "%s(a, 'big')" % I, "%s(a, 'little')" % I, "%s(a)" % I, "%s(a, 'big', signed=True)" % I, "%s(a, 'little', signed=True)" % I, "%s(a, byteorder='little')" % I,
        "%s(a, 'x')" % I, "%s(a, 1)" % I, "%s(a, None)" % I, "%s(a[:2], 'big') + 1" % I, "%s(a[:1], 'big', signed=True)" % I, "%s()" % I, "%s(a, 'big', True)" % I, "%s(a[1:3])" % I)
    row(I, "list", "%s(a, 'big')" % I, "%s(a, 'little', signed=True)" % I)
    row(I, "int", "%s(a, 'big')" % I, "%s([a], 'big')" % I)
    row(I, "str", "%s(a, 'big')" % I, "%s(b'ab', a)" % I)
    row(I, "byte byte", "%s(bytes([a, b]), 'big')" % I, "%s(bytes([a, b]), 'little', signed=True)" % I, "%s([a, b])" % I)
    T = "int.to_bytes"
    row(T, "int", "a.to_bytes(2, 'big')", "a.to_bytes(8, 'little')", "a.to_bytes(8, 'big', signed=True)", "a.to_bytes(1, 'big')", "a.to_bytes()", "a.to_bytes(9, 'little', signed=True)",
        "a.to_bytes(0, 'big')", "a.to_bytes(-1, 'big')", "a.to_bytes(2, 'x')", "a.to_bytes('x', 'big')", "a.to_bytes(2, 1)", "a.to_bytes(length=2, byteorder='big')", "a.to_bytes(2, byteorder='little', signed=True)",
        "a.to_bytes(0, 'big', signed=True)", "a.to_bytes(1, 'big', signed=True)", "a.to_bytes(2, length=2)", "a.to_bytes(10**30, 'big')", "a.to_bytes(None, 'big')", "a.to_bytes(-1, 'x')")
    row(T, "byte", "a.to_bytes(1, 'big')", "a.to_bytes(1, 'big', signed=True)", "a.to_bytes(3, 'little')[0]", "int.from_bytes(a.to_bytes(2, 'big'), 'big') == a", "(a * 257).to_bytes(2, 'big')")
    row(T, "small", "a.to_bytes(1, 'big', signed=True)", "a.to_bytes(2, 'little', signed=True)", "a.to_bytes(1, 'big')", "int.from_bytes(a.to_bytes(1, 'big', signed=True), 'big', signed=True)", "(5).to_bytes(a, 'big')")
    row("bool.to_bytes", "bool", "a.to_bytes(1, 'big')", "a.to_bytes(2, 'little')")


def add_codecs(row):
    row("bytes.decode", "bytes", "a.decode()", "a.decode('ascii')", "a.decode('utf-8')", "a.decode('latin-1')", "a.decode('UTF8')", "a.decode('utf-16')", "a.decode('x')", "a.decode(1)",
        "a.decode('ascii', 'ignore')", "a.decode('ascii', 'strict')", "a.decode(encoding='ascii')", "a.decode(errors='strict')", "str(a, 'ascii')", "str(a, 'utf-8')", "len(a.decode())",
        "a.decode()[0]", "ord(a.decode())", "a[:1].decode()", "a[:2].decode('utf-8')", "try:\n    return a.decode()\nexcept UnicodeDecodeError:\n    return 'no'",
        "try:\n    return a.decode('ascii')\nexcept ValueError:\n    return a.hex()", "str(a, 'latin-1').encode('latin-1')", "a.decode('ascii', 'strict', 1)", "a.decode('ascii', encoding='ascii')")
    row("bytes.decode", "byte byte", "bytes([a, b]).decode()", "bytes([a, b]).decode('ascii')", "bytes([195, a]).decode()", "bytes([237, a, b]).decode()", "bytes([224, a, b]).decode()", "bytes([240, a, b, 128]).decode()")
    row("str.encode", "str", "a.encode()", "a.encode('ascii')", "a.encode('utf-8')", "a.encode('latin-1')", "a.encode('x')", "a.encode(1)", "len(a.encode())", "a.encode()[0]", "list(a.encode())",
        "a.encode('ascii', 'ignore')", "a.encode(encoding='utf-8')", "a.encode().decode()", "a[:1].encode()", "sum(a.encode()) % 256", "str.encode(a)",
        "try:\n    return a.encode()\nexcept UnicodeEncodeError:\n    return b'no'", "a.encode('utf-8', 'strict')", "a.encode('utf_8')", "a.encode().hex()")


MANAGER = """class M:
    def __init__(self, log, how=0):
        self.log, self.how = log, how
    def __enter__(self):
        self.log.append('in')
        if self.how == 3:
            raise KeyError('in')
        return self.log
    def __exit__(self, kind, error, trace):
        self.log.append(kind is None)
        if self.how == 4:
            raise LookupError('out')
        if self.how == 5:
            raise
        return self.how
"""


def add_with(row):
    bodies = ["with M(log, a) as x:\n    x.append(1)\nreturn log",
              "with M(log, a):\n    return log",
              "with M(log, a):\n    raise ValueError(1)\nreturn log",
              "try:\n    with M(log, a):\n        raise ValueError(1)\nexcept Exception as e:\n    log.append(type(e) == ValueError)\nreturn log",
              "with M(log, a) as x, M(log, 0) as y:\n    y.append(x is y)\n    [][a]\nreturn log",
              "with M(log, 0), M(log, a):\n    1 // a\nreturn log",
              "for i in range(3):\n    with M(log, a):\n        if i == 1:\n            continue\n        if i == 2:\n            break\n        log.append(i)\nelse:\n    log.append('end')\nreturn log",
              "while True:\n    with M(log, a):\n        break\nreturn log",
              "def g():\n    with M(log, a):\n        return len(log)\nreturn (g(), log)",
              "def g():\n    try:\n        with M(log, a):\n            return 1 // 0\n    finally:\n        log.append('f')\nreturn (g(), log)",
              "with M(log, a) as (x, y):\n    log.append(5)\nreturn log",
              "with M(log, a) as log[0]:\n    pass\nreturn len(log)",
              "with (M(log, a) as x, M(log) as y):\n    x.append(2)\nreturn y",
              "with a:\n    return 1",
              "with M:\n    return 1",
              "with M(log, a) as x:\n    x = 3\nreturn (x, log)",
              "with M(log, a) as q:\n    raise KeyError(a)\nreturn q",
              "try:\n    with M(log, a):\n        assert a == 2\n        return log\nexcept (AssertionError, LookupError):\n    return ('caught', log)",
              "with M(log, a):\n    with M(log, 1):\n        raise ValueError\n    log.append('between')\nreturn log",
              "with M(log, a):\n    x = 1\n    if a > 1:\n        x = 2\nreturn (x, log)",
              "with M(log, a) as x:\n    yielded = [i for i in x]\nreturn yielded",
              "try:\n    raise OSError\nexcept OSError:\n    with M(log, a):\n        log.append(1)\nreturn log",
              "try:\n    raise OSError\nexcept OSError:\n    with M(log, a):\n        raise\nreturn log"]
    row("with", "small", *(MANAGER + "log = []\n" + body for body in bodies))
    row("with", "int", "class N:\n    def __enter__(self):\n        return 1\nwith N():\n    return a", "class N:\n    def __exit__(self, *x):\n        return 1\nwith N():\n    return a",
        "class N:\n    def __enter__(self):\n        return a\n    def __exit__(self, *x):\n        return [x[0] is None]\nwith N() as y:\n    1 // a\nreturn y",
        "class N:\n    def __enter__(self):\n        return a\n    def __exit__(self, *x):\n        return []\nwith N() as y:\n    1 // a\nreturn y",
        "class N:\n    __enter__ = None\n    def __exit__(self, *x):\n        pass\nwith N() as y:\n    return y",
        "class N:\n    def __enter__(self):\n        return a\n    def __exit__(self, kind, error):\n        return 1\nwith N() as y:\n    return y",
        "class N:\n    def __enter__(self):\n        return a\n    def __exit__(self, kind, error, trace):\n        return isinstance(error, ZeroDivisionError) and trace is not None\nwith N() as y:\n    return 1 // a\nreturn 'zero'",
        "class N:\n    def __enter__(self):\n        return a\n    def __exit__(self, kind, error, trace):\n        return kind is not None and issubclass(kind, ArithmeticError)\nwith N() as y:\n    return 1 // a\nreturn 'zero'",
        "class B:\n    def __enter__(self):\n        return a\n    def __exit__(self, *x):\n        return kind(self)\nclass N(B):\n    pass\ndef kind(n):\n    return type(n) == N\nwith N() as y:\n    return 1 // a\nreturn 'zero'",
        "class N:\n    def __enter__(self):\n        return a\n    def __exit__(self, kind, error, trace):\n        trace.tb_lineno\nwith N() as y:\n    return 1 // a",
        "class N:\n    def __enter__(self):\n        return a\n    def __exit__(self, kind, error, trace):\n        raise ValueError from error\ntry:\n    with N():\n        1 // a\nexcept ValueError:\n    return 1")
    row("issubclass", "int", "issubclass(ValueError, Exception)", "issubclass(KeyError, (ValueError, LookupError))", "issubclass(int, int)", "issubclass(ValueError, ())", "issubclass(ValueError, a)",
        "issubclass(a, ValueError)", "class A:\n    pass\nclass B(A):\n    pass\nreturn (issubclass(B, A), issubclass(A, B), issubclass(B, (int, A)))", "try:\n    return 1 // a\nexcept Exception as e:\n    return issubclass(type(e), ArithmeticError)",
        "class E(ValueError, KeyError):\n    pass\nreturn issubclass(E, LookupError)", "issubclass(ValueError, object)", "issubclass(ValueError, (KeyError, a))")
    row("with", "list", MANAGER + "with M(a) as x:\n    x.append(9)\nreturn a", MANAGER + "with M(a, 1) as x:\n    x[3]\nreturn a", MANAGER + "n = 0\nfor x in a:\n    with M([], 1):\n        n += 10 // x\nreturn n")
    row("keywords that are passed on", "names", "def g(**kw):\n    return sorted(kw.items())\nreturn g(**a)", "def g(x=1, **kw):\n    return (x, len(kw))\nreturn g(**a)", "def g(x=1):\n    return x\nreturn g(**a)",
        "def g(*, a, **kw):\n    return (a, kw)\nreturn g(**a)", "dict(**a)", "dict(a=5, **a)", "def g(**kw):\n    return kw\nreturn g(a=1, **a)", "def g(**kw):\n    return kw\nreturn g(**a, **a)",
        "def g(a, /, **kw):\n    return (a, kw)\nreturn g(1, **a)", "class C:\n    def m(self, **kw):\n        return len(kw)\nreturn C().m(**a)", "def g(**kw):\n    kw['zz'] = 0\n    return len(kw)\nreturn (g(**a), len(a))",
        "class C:\n    def m(self, **kw):\n        return len(kw)\nreturn C().m(self=1, **a)", "'{a}'.format(**a)")
