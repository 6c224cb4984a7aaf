"""Rows of the table in operations.py: modules of Python's library. A module that a body names is imported by the program."""

MODULES = ["bisect", "collections", "datetime", "functools", "heapq", "itertools", "operator", "re", "string"]


def add_rows(row):
    add_counter(row)
    add_dicts(row)
    add_deque(row)
    add_functions(row)
    add_dates(row)
    add_itertools(row)
    add_patterns(row)
    add_math(row)


def add_counter(row):
    C = "collections.Counter"
    for kind in ("list", "str", "strs", "dict", "names", "tuples", "pairs", "bools", "none", "int", "set", "lists"):
        row(C, kind, "dict(%s(a))" % C, "list(%s(a).items())" % C)
    row(C, "str", "%s(a)['a']" % C, "c = %s(a)\nreturn (c['z'], len(c), 'z' in c)" % C, "sorted(%s(a))" % C, "max(%s(a).values(), default=0)" % C,
        "[k for k, v in %s(a).items() if v > 1]" % C, "%s(a)" % C, "repr(%s(a))" % C, "str(%s(a))" % C, "bool(%s(a))" % C, "%s(a, a=2)['a']" % C,
        "isinstance(%s(a), dict)" % C, "type(%s(a)) == dict" % C, "type(%s(a)) == %s" % (C, C), "max(%s(a), key=%s(a).get, default='')" % (C, C),
        "len(set(%s(a).values())) <= 1" % C, "%s(a).copy() == %s(a)" % (C, C), "c = %s(a)\nd = c.copy()\nd['a'] += 1\nreturn c['a']" % C,
        "%s(a).get('a')" % C, "%s(a).pop('a', 0)" % C, "%s(a).foo" % C, "{**%s(a)}" % C, "f'{%s(a)}'" % C, "sum(%s(a).values())" % C,
        "%s(a) == dict(%s(a))" % (C, C), "dict(%s(a)) == %s(a)" % (C, C), "%s(a)[['x']]" % C, "%s(a, a)" % C, "%s(iterable=a)" % C,
        "%s(a).setdefault('a', 5)" % C, "for k in %s(a):\n    pass\nreturn 1" % C, "c = %s(a)\nfor k in c:\n    c[k + 'x'] += 1\nreturn c" % C,
        "c = %s(a)\nfor k in c:\n    c[k + 'x']\nreturn len(c)" % C, "hash(%s(a))" % C, "{%s(a): 1}" % C)
    row(C, "list", "c = %s()\nfor x in a:\n    c[x] += 1\nreturn list(c.items())" % C, "c = %s(a)\nc[7] -= 1\nreturn list(c.items())" % C)
    row(C, "dict", "c = %s(a)\na[9] = 9\nreturn list(c.items())" % C, "%s(**{'x': 1})['x'] + len(a)" % C, "%s({'a': 'b'})['a']" % C)
    for n in ("None", "0", "1", "2", "-1", "True"):
        row("Counter.most_common", "str", "%s(a).most_common(%s)" % (C, n))
    row("Counter.most_common", "dict", "%s(a).most_common()" % C, "%s(a).most_common(1)" % C)
    row("Counter.most_common", "str place", "%s(a).most_common(b)" % C)
    row("Counter.most_common", "names", "%s(a).most_common(n=1)" % C, "%s(a, x='y').most_common()" % C, "%s(a).most_common(1.5)" % C, "%s(a).most_common('x')" % C)
    row("Counter.total", "dict", "%s(a).total()" % C, "%s(a).total(1)" % C)
    row("Counter.elements", "dict", "list(%s(a).elements())" % C, "c = %s(a)\ne = c.elements()\nc[7] = 1\nreturn list(e)" % C, "next(%s(a).elements(), None)" % C, "%s(a).elements(1)" % C)
    row("Counter.elements", "str", "sorted(%s(a).elements())" % C, "list(%s({a: 2.5, 'b': 1}).elements())" % C, "list(%s({a: True}).elements())" % C)
    for name in ("update", "subtract"):
        row("Counter." + name, "str str", "c = %s(a)\nd = c.%s(b)\nreturn (d, list(c.items()))" % (C, name))
        row("Counter." + name, "dict dict", "c = %s(a)\nc.%s(b)\nreturn list(c.items())" % (C, name), "c = %s(a)\nc.%s(%s(b))\nreturn list(c.items())" % (C, name, C),
            "c = %s(a)\nc.%s(c)\nreturn list(c.items())" % (C, name))
        row("Counter." + name, "names", "c = %s(a)\nc.%s(a=2, b=3)\nreturn list(c.items())" % (C, name), "c = %s(a)\nc.%s()\nreturn list(c.items())" % (C, name),
            "c = %s(a)\nc.%s(None)\nreturn list(c.items())" % (C, name), "c = %s(a)\nc.%s(5)\nreturn c" % (C, name), "c = %s(a)\nc.%s({'a': 'x'})\nreturn c" % (C, name))
    for sign in ("+", "-", "&", "|"):
        row("Counter " + sign, "dict dict", "list((%s(a) %s %s(b)).items())" % (C, sign, C), "c = %s(a)\nd = c\nc %s= %s(b)\nreturn (list(c.items()), c is d)" % (C, sign, C),
            "c = %s(a)\nc %s= b\nreturn list(c.items())" % (C, sign), "%s(a) %s b" % (C, sign), "b %s %s(a)" % (sign, C))
        row("Counter " + sign, "str str", "list((%s(a) %s %s(b)).items())" % (C, sign, C))
        row("Counter " + sign, "str int", "%s(a) %s b" % (C, sign), "b %s %s(a)" % (sign, C))
    for sign in ("==", "!=", "<", "<=", ">", ">="):
        row("Counter " + sign, "dict dict", "%s(a) %s %s(b)" % (C, sign, C), "%s(a) %s b" % (C, sign))
        row("Counter " + sign, "str str", "%s(a) %s %s(b)" % (C, sign, C))
        row("Counter " + sign, "names int", "%s(a) %s b" % (C, sign))
    row("Counter *", "names int", "%s(a) * b" % C, "%s(a) @ b" % C, "~%s(a)" % C, "%s(a) ^ %s(a)" % (C, C))
    row("unary of Counter", "dict", "list((+%s(a)).items())" % C, "list((-%s(a)).items())" % C, "not %s(a)" % C)
    row("del of Counter", "dict int", "c = %s(a)\ndel c[b]\nreturn list(c.items())" % C)


def add_dicts(row):
    D = "collections.defaultdict"
    for factory in ("int", "list", "set", "str", "lambda: 7", "None"):
        row(D, "dict int", "d = %s(%s, a)\nv = d[b]\nreturn (v, list(d.items()))" % (D, factory), "d = %s(%s, a)\nreturn (d.get(b), b in d, len(d))" % (D, factory))
    row(D, "list", "d = %s(int)\nfor x in a:\n    d[x] += 1\nreturn list(d.items())" % D, "d = %s(list)\nfor x in a:\n    d[x %% 2].append(x)\nreturn list(d.items())" % D,
        "d = %s(set)\nfor x in a:\n    d[x %% 2].add(x)\nreturn [(k, len(v)) for k, v in d.items()]" % D, "d = %s(lambda: %s(int))\nfor x in a:\n    d[x][x] += 1\nreturn [(k, list(v.items())) for k, v in d.items()]" % (D, D),
        "d = %s(list)\nfor x in a:\n    d[x].append(x)\nreturn d" % D, "d = %s(list)\nfor x in a:\n    d[x].append(x)\nreturn dict(d)" % D,
        "d = %s(int)\nfor x in a:\n    d[x]\nfor k in d:\n    d[k + 1]\nreturn d" % D, "d = %s(int)\nd[a]\nreturn d" % D, "d = %s(int, a)\nreturn d" % D,
        "d = %s(int)\nd.update({1: 2})\nreturn d[1] + len(a)" % D, "d = %s(lambda: len(d))\nreturn [d[x] for x in a]" % D, "d = %s(lambda: 1 // len(a))\ntry:\n    return d[1]\nexcept ZeroDivisionError:\n    return len(d)" % D,
        "d = %s(lambda: d.update({5: 5}) or 6)\nd[5]\nreturn list(d.items())" % D)
    row(D, "dict", "%s(int, a) == a" % D, "a == %s(int, a)" % D, "%s(int, a) == %s(list, a)" % (D, D), "repr(%s(int, a))" % D, "repr(%s(None, a))" % D, "str(%s(list, a))" % D,
        "isinstance(%s(int), dict)" % D, "type(%s(int)) == dict" % D, "%s(int, a).default_factory == int" % D, "%s(5, a)" % D, "%s(int, a, a)" % D, "%s(int, x=1)['x']" % D,
        "%s(default_factory=int)['default_factory']" % D, "c = %s(int, a)\nd = c.copy()\nd[77]\nreturn (len(c), len(d))" % D, "%s(int, a).foo" % D, "%s(int, a) < a" % D, "%s(int, a) | a" % D,
        "c = %s(int, a)\nc |= {5: 6}\nreturn (list(c.items()), c[99])" % D, "%s()[1]" % D, "%s(int, a).pop(1)" % D, "%s(int, a).setdefault(1, 5)" % D, "c = %s(int, a)\ndel c[1]\nreturn len(c)" % D,
        "%s(int, a)[[]]" % D, "bool(%s(int, a))" % D, "sorted(%s(int, a))" % D, "{**%s(int, a)}" % D, "match %s(int, a):\n    case {1: x}:\n        return x\n    case _:\n        return 0" % D)
    row(D, "pairs", "d = %s(list)\nfor k, v in a:\n    d[k].append(v)\nreturn list(d.items())" % D, "%s(int, a)" % D)
    O = "collections.OrderedDict"
    row(O, "pairs", "list(%s(a).items())" % O, "%s(a) == dict(a)" % O, "%s(a) == %s(reversed(a))" % (O, O), "%s(a) == %s(a)" % (O, O), "%s(a)" % O)
    row(O, "dict", "d = %s(a)\nreturn (d.popitem(), list(d))" % O, "d = %s(a)\nreturn (d.popitem(last=False), list(d))" % O, "d = %s(a)\nd[5] = 5\nd.move_to_end(1)\nreturn list(d.items())" % O,
        "d = %s(a)\nd[5] = 5\nd.move_to_end(5, last=False)\nreturn list(d.items())" % O, "repr(%s(a))" % O, "%s(a)[1]" % O, "%s(a).copy() == a" % O, "d = %s(a)\nd[7] = 1\ndel d[7]\nreturn list(d)" % O, "%s(a, x=1)['x']" % O,
        "%s(a).move_to_end(True)" % O, "d = %s(a)\nd[1] = 0\nd[2] = 0\nd.move_to_end(True)\nreturn [type(k) == int for k in d]" % O, "isinstance(%s(a), dict)" % O, "%s(a) | a" % O)


def add_deque(row):
    Q = "collections.deque"
    row(Q, "list", "list(%s(a))" % Q, "len(%s(a))" % Q, "bool(%s(a))" % Q, "%s(a)" % Q, "repr(%s(a))" % Q, "repr(%s(a, 2))" % Q, "list(%s(a, 1))" % Q, "list(%s(a, maxlen=2))" % Q, "%s(a, maxlen=-1)" % Q, "%s(a, maxlen=0).maxlen" % Q,
        "%s(a).maxlen" % Q, "%s(a) == a" % Q, "%s(a) == %s(a)" % (Q, Q), "%s(a) < %s([1])" % (Q, Q), "%s(a) < [1]" % Q, "%s(a)[0:1]" % Q, "%s(a) + a" % Q, "isinstance(%s(a), list)" % Q, "isinstance(%s(a), %s)" % (Q, Q),
        "q = %s(a)\nout = []\nwhile q:\n    out.append(q.popleft())\nreturn out" % Q, "q = %s(a)\nfor x in q:\n    q.append(x)\nreturn 1" % Q, "q = %s(a)\nfor x in q:\n    q[0] = 5\nreturn list(q)" % Q,
        "q = %s(a)\ni = iter(q)\nlist(i)\nq.append(1)\nreturn next(i, None)" % Q, "q = %s(a)\nq += [1, 2]\nreturn list(q)" % Q, "q = %s(a)\nq += q\nreturn list(q)" % Q, "sorted(%s(a))" % Q, "sum(%s(a))" % Q, "%s(a).sort()" % Q, "{%s(a)}" % Q,
        "q = %s(a)\nb, *c = q\nreturn (b, c)" % Q, "[x + 1 for x in %s(a)]" % Q, "match %s(a):\n    case [x]:\n        return x\n    case _:\n        return 0" % Q, "q = %s(a)\nreturn list(zip(q, q))" % Q, "list(reversed(%s(a)))" % Q,
        "%s(a).foo" % Q, "%s(a, a)" % Q, "%s(iterable=a, maxlen=1)[0]" % Q, "q = %s(a)\nfor x in q:\n    q.pop()\nreturn 1" % Q)
    row(Q, "list int", "b in %s(a)" % Q)
    row(Q, "list place", "%s(a)[b]" % Q, "q = %s(a)\nq[b] = 9\nreturn list(q)" % Q, "q = %s(a)\ndel q[b]\nreturn list(q)" % Q, "q = %s(a)\nq.rotate(b)\nreturn list(q)" % Q, "q = %s(a)\nq.insert(b, 9)\nreturn list(q)" % Q,
        "q = %s(a, 2)\nq.insert(b, 9)\nreturn list(q)" % Q)
    row(Q, "int", "%s(a)" % Q)
    row(Q, "str", "list(%s(a))" % Q, "q = %s()\nfor x in a:\n    q.appendleft(x)\nreturn ''.join(q)" % Q)
    for name in ("append", "appendleft", "remove", "count", "index"):
        row("deque." + name, "list int", "q = %s(a)\nr = q.%s(b)\nreturn (r, list(q))" % (Q, name), "q = %s(a, 2)\nr = q.%s(b)\nreturn (r, list(q))" % (Q, name))
    for name in ("extend", "extendleft"):
        row("deque." + name, "list list", "q = %s(a)\nr = q.%s(b)\nreturn (r, list(q))" % (Q, name), "q = %s(a, 2)\nq.%s(b)\nreturn list(q)" % (Q, name), "q = %s(a)\nq.%s(q)\nreturn list(q)" % (Q, name),
            "q = %s(a)\ntry:\n    q.%s(10 // x for x in b)\nexcept ZeroDivisionError:\n    pass\nreturn list(q)" % (Q, name))
    for name in ("pop", "popleft", "clear", "copy", "reverse", "rotate"):
        row("deque." + name, "list", "q = %s(a)\nr = q.%s()\nreturn (r if type(r) == int else 0, list(q))" % (Q, name), "q = %s(a)\nq.%s(1, 2)\nreturn list(q)" % (Q, name))
    row("deque.copy", "list", "q = %s(a, 2)\nr = q.copy()\nr.append(5)\nreturn (list(q), list(r), r.maxlen)" % Q)
    row("deque.rotate", "list", "q = %s(a)\nq.rotate('x')\nreturn q" % Q, "q = %s(a)\nq.rotate(-1)\nreturn list(q)" % Q)


def add_functions(row):
    for name in ("bisect_left", "bisect_right", "bisect"):
        row("bisect." + name, "list int", "bisect.%s(a, b)" % name, "bisect.%s(a, -b, key=lambda x: -x)" % name, "bisect.%s(a, b, 1)" % name, "bisect.%s(a, b, lo=1, hi=2)" % name, "bisect.%s(a, b, hi=-1)" % name)
        row("bisect." + name, "list place place", "bisect.%s(a, 1, b, c)" % name)
        row("bisect." + name, "list str", "bisect.%s(a, b)" % name)
        row("bisect." + name, "strs str", "bisect.%s(a, b)" % name)
        row("bisect." + name, "tuples int", "bisect.%s(a, b)" % name, "bisect.%s(a, b, key=5)" % name)
        row("bisect." + name, "str str", "bisect.%s(a, b)" % name)
        row("bisect." + name, "dict int", "bisect.%s(a, b)" % name)
        row("bisect." + name, "floats float", "bisect.%s(a, b)" % name)
        row("bisect." + name, "list", "bisect.%s(a)" % name, "bisect.%s(a, 1, 1.5)" % name, "bisect.%s(a, 1, None)" % name, "bisect.%s(a=a, x=1)" % name)
    row("insort of what is no list", "int int", "bisect.insort(a, b)", "bisect.insort_left(a, b)")
    row("insort of what is no list", "dict int", "bisect.insort(a, b)")
    for name in ("insort_left", "insort_right", "insort"):
        row("bisect." + name, "list int", "(bisect.%s(a, b), a)" % name, "(bisect.%s(a, b, key=lambda x: -x), a)" % name)
        row("bisect." + name, "tuples int", "(bisect.%s(a, b), a)" % name)
    row("functools.reduce", "list", "functools.reduce(lambda x, y: x * 2 + y, a)", "functools.reduce(lambda x, y: x - y, a, 5)", "functools.reduce(max, a)", "functools.reduce(lambda x, y: x + [y], a, [])",
        "functools.reduce(5, a)", "functools.reduce(lambda x: x, a)", "functools.reduce(max)", "functools.reduce(max, a, 1, 2)", "functools.reduce(max, a, initial=1)", "functools.reduce(function=max, iterable=a)",
        "functools.reduce(lambda x, y: x // y, a)", "i = iter(a)\nreturn (functools.reduce(max, i, 0), list(i))", "functools.reduce(operator.add, a, 0)", "functools.reduce(lambda x, y: next(iter([])), a)")
    row("functools.reduce", "int", "functools.reduce(max, a)")
    row("functools.reduce", "str", "functools.reduce(lambda x, y: y + x, a, '')", "functools.reduce(max, a, None)")
    row("functools.reduce", "dict", "functools.reduce(max, a, 0)")
    row("functools.partial", "int int", "functools.partial(lambda x, y: x - y, a)(b)", "functools.partial(lambda x, y: x - y, y=a)(b)", "functools.partial(lambda x, y=1: x - y, y=a)(b, y=2)", "functools.partial(a)", "functools.partial(max, a, b)()",
        "functools.partial(lambda x: x)(a, b)", "functools.partial()", "functools.partial(int, base=2)('101') + a")
    cached = "@functools.%s\ndef g(n, k=0):\n    t.append(n)\n    return n + k\n"
    for name in ("cache", "lru_cache", "lru_cache(maxsize=None)", "lru_cache(None)", "lru_cache(maxsize=2)", "lru_cache()", "lru_cache(maxsize=0)", "lru_cache(typed=True)"):
        row("functools." + name.partition("(")[0], "int int", "t = []\n" + cached % name + "return (g(a), g(b), g(a), t)", "t = []\n" + cached % name + "return (g(a, 1), g(b, 1), g(b), g(b, k=1), t)",
            "t = []\n" + cached % name + "return (g(a), g(True), g(1.0), g(1), t)")
    row("functools.cache", "list", "t = []\n" + cached % "cache" + "return g(a)", "@functools.cache\ndef g(n):\n    return [n]\nreturn [g(x) for x in a]", "@functools.cache\ndef g(n):\n    return 10 // n\nr = []\nfor x in a + a:\n    try:\n        r.append(g(x))\n    except ZeroDivisionError:\n        r.append(None)\nreturn r",
        "@functools.cache\ndef g(n):\n    return n if n < 2 else g(n - 1) + g(n - 2)\nreturn [g(x) for x in a if x < 9]", "functools.cache(len)(a)", "@functools.cache\ndef g(n):\n    return n\nreturn g.cache_info()", "@functools.cache\ndef g(*n):\n    return n\nreturn [g(x, x) for x in a]")
    H = "import heapq\n"
    row("heapq.heappush", "list int", "(heapq.heappush(a, b), a)", "c = []\nfor x in a:\n    heapq.heappush(c, x)\nreturn c")
    row("heapq.heappop", "list", "(heapq.heappop(a), a)", "heapq.heapify(a)\nreturn [heapq.heappop(a) for _ in range(len(a))]", "heapq.heappop(a, 1)")
    row("heapq.heapify", "list", "(heapq.heapify(a), a)")
    row("heapq.heapify", "tuples", "(heapq.heapify(a), a)")
    row("heapq.heapify", "strs", "(heapq.heapify(a), a)")
    row("heapq.heapreplace", "list int", "(heapq.heapreplace(a, b), a)")
    row("heapq.heappushpop", "list int", "(heapq.heappushpop(a, b), a)")
    row("heapq.heappush", "list str", "try:\n    heapq.heappush(a, b)\nexcept TypeError:\n    return len(a)\nreturn a")
    row("heapq.heapreplace", "list str", "try:\n    heapq.heapreplace(a, b)\nexcept TypeError:\n    return [type(x) == int for x in a]\nreturn a")
    row("heapq.heappop", "list", "a.insert(0, 'x')\na.append(5)\ntry:\n    heapq.heappop(a)\nexcept TypeError:\n    return [type(x) == int for x in a]\nreturn a")
    for name in ("nlargest", "nsmallest"):
        row("heapq." + name, "small list", "heapq.%s(a, b)" % name, "heapq.%s(a, b, key=lambda x: x %% 2)" % name, "i = iter(b)\nreturn (heapq.%s(a, i), list(i))" % name)
        row("heapq." + name, "list", "heapq.%s(1.5, a)" % name, "heapq.%s(2, 5)" % name, "heapq.%s(0, 5)" % name)
    for name in "add sub mul floordiv mod lt le eq ne gt ge and_ or_ xor".split():
        row("operator." + name, "int small", "operator.%s(a, b)" % name)
        row("operator." + name, "str", "operator.%s(a, 1)" % name, "operator.%s(a)" % name)
    row("operator.pow", "int small", "operator.pow(a, b)")
    row("operator.lshift", "small small", "operator.lshift(a, b)")
    row("operator.rshift", "int small", "operator.rshift(a, b)")
    row("operator.truediv", "small small", "operator.truediv(a, b)")
    for name in "neg pos inv invert not_ truth".split():
        row("operator." + name, "int", "operator.%s(a)" % name)
        row("operator." + name, "list", "operator.%s(a)" % name)
    row("operator.concat", "list list", "operator.concat(a, b)")
    row("operator.concat", "int int", "operator.concat(a, b)")
    row("operator.is_", "none none", "operator.is_(a, b)", "operator.is_not(a, b)")
    row("operator.is_not", "bool none", "operator.is_not(a, b)")
    row("operator.contains", "list int", "operator.contains(a, b)")
    row("operator.countOf", "list int", "operator.countOf(a, b)")
    row("operator.getitem", "list place", "operator.getitem(a, b)")
    row("operator.getitem", "dict int", "operator.getitem(a, b)")
    row("operator.setitem", "list place", "(operator.setitem(a, b, 9), a)")
    row("operator.delitem", "dict int", "(operator.delitem(a, b), a)")
    row("operator.itemgetter", "pairs", "sorted(a, key=operator.itemgetter(1))", "sorted(a, key=operator.itemgetter(1, 0))", "[operator.itemgetter(0)(x) for x in a]", "max(a, key=operator.itemgetter(0), default=None)", "operator.itemgetter()")
    row("operator.itemgetter", "list place", "operator.itemgetter(b)(a)", "operator.itemgetter(0, b)(a)", "operator.itemgetter(b)(obj=a)")
    row("operator.itemgetter", "dict int", "operator.itemgetter(b)(a)")
    for name in "ascii_lowercase ascii_uppercase ascii_letters digits hexdigits octdigits punctuation printable whitespace".split():
        row("string." + name, "str", "a in string.%s" % name, "string.%s + a" % name)
    row("string", "str", "all(c in string.digits for c in a)", "string.foo", "string.capwords(a)")


def add_dates(row):
    D, T = "datetime.date", "datetime.timedelta"
    row("divmod of timedeltas", "delta delta", "divmod(a, b)", "divmod(a, b)[0]")
    row("divmod of timedeltas", "delta int", "divmod(a, b)", "divmod(b, a)", "divmod(a, 1.5)")
    row("datetime.date", "year month day", D + "(a, b, c)", "d = %s(a, b, c)\nreturn (d.year, d.month, d.day)" % D, D + "(day=c, month=b, year=a).toordinal()", D + "(a, b, c).weekday()")
    row("datetime.date", "int", D + "(a, 1)", D + "(a)", D + "(a, 1, 1, 1)", D + "(2024, a, day=1)", D + "(2024, 1, 1, day=a)", D + "(2024, 1, 1, x=a)", D + "(a, True, True).month")
    row("datetime.date", "float", D + "(2024, 1, a)")
    row("datetime.date", "str", D + "(a, 1, 1)", D + "(2024, a, 1)")
    row("datetime.date", "none", D + "(2024, a, 1)")
    row("datetime.date", "date", "(a.year, a.month, a.day)", "a.weekday()", "a.isoweekday()", "a.toordinal()", "a.isoformat()", "str(a)", "repr(a)", "f'{a}'", "bool(a)", "a", "a.hour", "a.foo", "a.year = 1\nreturn a", "a.weekday(1)",
        "a.strftime('%Y')", "a.isocalendar()[1]", "a.timetuple()[0]", "isinstance(a, datetime.date)", "isinstance(a, int)", "type(a) == datetime.date", "isinstance(a, datetime.timedelta)", "len(a)", "-a", "a[0]", "a()", "{a: 1}[a]", "a in [a]", "hash(a) == hash(a)",
        "a == 5", "a != None", "a < 5", "a is None", "a + 1", "a - 1", "1 + a", "a * 2", "a + a", "sorted([a, datetime.date(2024, 1, 1)])", "max(a, datetime.date(2024, 1, 1))", "a - datetime.date(2024, 1, 1)",
        "a == datetime.date.fromordinal(a.toordinal())", "d = datetime.date.fromordinal(a.toordinal())\nreturn (d.year, d.month, d.day)", "datetime.date.fromisoformat(a.isoformat()) == a", "print(a)", "a.day > 28 and a.month == 2")
    for sign in ("==", "!=", "<", "<=", ">", ">="):
        row("date " + sign, "date date", "a %s b" % sign, "a + datetime.timedelta(1) %s b" % sign)
        row("timedelta " + sign, "delta delta", "a %s b" % sign)
        row("date " + sign, "date delta", "a %s b" % sign)
    row("date -", "date date", "a - b", "(a - b).days", "abs(a - b).days", "abs((a - b).days)", "(a - b).total_seconds()", "b + (a - b) == a", "min(a, b)", "(a.month, a.day) < (b.month, b.day)", "a.year - b.year - ((a.month, a.day) < (b.month, b.day))")
    for sign in ("+", "-"):
        row("date " + sign, "date delta", "a %s b" % sign, "d = a %s b\nreturn (d.year, d.month, d.day)" % sign, "b %s a" % sign, "(a %s b).weekday()" % sign, "c = a\nc %s= b\nreturn (c, a)" % sign)
        row("timedelta " + sign, "delta delta", "a %s b" % sign, "(a %s b).days" % sign)
    row("date +", "date int", "a + datetime.timedelta(days=b)", "d = a + datetime.timedelta(weeks=b)\nreturn (d.month, d.day)", "a + datetime.timedelta(hours=b)")
    row("date.replace", "date year", "a.replace(a.year, b)", "a.replace(year=b)", "a.replace(b)", "a.replace()", "a.replace(None)", "a.replace(1, 1, 1, 1)", "a.replace(x=b)")
    row("date.replace", "date day", "a.replace(day=b)", "a.replace(month=b)", "a.replace(2024, b)", "a.replace('x')")
    row("date.fromordinal", "int", D + ".fromordinal(a)", "d = %s.fromordinal(a)\nreturn (d.year, d.month, d.day)" % D)
    row("date.fromordinal", "str", D + ".fromordinal(a)", D + ".fromordinal()")
    row("date.fromisoformat", "isodate", D + ".fromisoformat(a)", "d = %s.fromisoformat(a)\nreturn (d.year, d.month, d.day)" % D)
    row("date.fromisoformat", "int", D + ".fromisoformat(a)")
    row("date.fromisoformat", "str", D + ".fromisoformat(a)")
    row("date.min", "date", D + ".min <= a <= " + D + ".max", D + ".resolution.days", D + ".foo", "datetime.MINYEAR", "datetime.MAXYEAR", D + ".today()", "datetime.foo")
    for unit in ("days", "weeks", "hours", "minutes", "seconds", "milliseconds", "microseconds"):
        row("datetime.timedelta", "int", "t = %s(%s=a)\nreturn (t.days, t.seconds, t.microseconds)" % (T, unit))
    row("datetime.timedelta", "int int", T + "(a, b)", T + "(a, days=b)", T + "(days=a, hours=b).days", T + "(a, b, 1, 2, 3, 4, 5)", T + "(1, 2, 3, 4, 5, 6, 7, a)", T + "(x=a)", T + "()")
    row("datetime.timedelta", "float", T + "(a)")
    row("datetime.timedelta", "str", T + "(a)", T + "(hours=a)")
    row("datetime.timedelta", "delta", "a.days", "a.seconds", "a.microseconds", "a.total_seconds()", "bool(a)", "-a", "+a", "abs(a)", "~a", "not a", "a", "str(a)", "a.hours", "{a: 1}[a]", "a == 0", "a // datetime.timedelta(1)", "a / datetime.timedelta(1)", "a % datetime.timedelta(7)",
        "a * 1.5", "a / 2", "divmod(a, datetime.timedelta(1))", "isinstance(a, datetime.timedelta)", "type(a) == datetime.timedelta", "sum([a, a], datetime.timedelta())", "a + 1", "a - datetime.date(2024, 1, 1)", "max([a], default=None)", "a is None")
    row("datetime.timedelta", "int", "datetime.timedelta(days='x', seconds=a)", "datetime.timedelta(a, 'x')", "datetime.timedelta(days=a, seconds=float('nan'))",
        "try:\n    return datetime.timedelta(days='x', seconds=float('nan'))\nexcept TypeError:\n    return 1\nexcept ValueError:\n    return 2")
    row("timedelta *", "delta int", "a * b", "b * a", "a // b", "b // a", "a ** b", "a % b")
    row("timedelta //", "delta delta", "a // b", "a / b", "a % b", "a * b", "a & b")
    row("dates in a list", "dates", "sorted(a)", "max(a, default=None)", "len(set(a))", "[d.year for d in a]", "a[0]", "sum((d - datetime.date(2023, 1, 1) for d in a), datetime.timedelta()).days")


def add_itertools(row):
    for call in ("chain(a, b)", "chain(a, [7], b)", "chain.from_iterable([a, b])", "zip_longest(a, b)", "zip_longest(a, b, fillvalue=7)", "product(a, b)", "compress(a, b)"):
        row("itertools." + call.partition("(")[0].partition(".")[0], "list list", "list(itertools.%s)" % call, "c = itertools.%s\na.append(9)\nreturn list(c)" % call, "c = itertools.%s\nreturn (next(c, None), list(c), list(c))" % call,
            "list(itertools.%s)" % call.replace("b", "(10 // x for x in b)", 1) if "from" not in call else "list(itertools.chain.from_iterable(a))")
    for call in ("accumulate(a)", "accumulate(a, max)", "accumulate(a, lambda x, y: x * 2 + y)", "accumulate(a, initial=5)", "accumulate(a, lambda x, y: x // y)", "pairwise(a)", "islice(a, 1)", "islice(a, 1, None)", "islice(a, 0, 3, 2)", "islice(a, 2, 1)",
                 "islice(a, None)", "islice(a, -1)", "islice(a, 'x')", "islice(a)", "islice(a, 1, 2, 0)", "islice(a, 2**63)", "takewhile(lambda x: x > 0, a)", "dropwhile(lambda x: x > 0, a)", "filterfalse(lambda x: x > 0, a)", "filterfalse(None, a)",
                 "takewhile(lambda x: 10 // x > 1, a)", "starmap(max, zip(a, a))", "starmap(max, a)", "product(a)", "product(a, repeat=2)", "product(a, repeat=0)", "product(a, repeat=-1)", "combinations(a, 2)", "combinations(a, 0)", "combinations(a, -1)", "combinations(a, r=1)",
                 "combinations_with_replacement(a, 2)", "permutations(a)", "permutations(a, 2)", "permutations(a, 0)", "permutations(a, 'x')", "zip_longest(a)", "zip_longest()", "product()", "chain()", "repeat(1, len(a))", "repeat(a, -1)", "islice(itertools.count(3), len(a))",
                 "islice(itertools.count(1, -2), len(a))", "islice(itertools.cycle(a), 5)", "islice(itertools.repeat(2), len(a))", "zip_longest(a, (10 // x for x in a))", "tee(a)"):
        row("itertools." + call.partition("(")[0], "list", "list(itertools.%s)" % call, "c = itertools.%s\nr = []\nfor _ in range(7):\n    try:\n        r.append(next(c))\n    except StopIteration:\n        r.append('end')\n    except ArithmeticError:\n        r.append('error')\nreturn r" % call)
        row("itertools." + call.partition("(")[0], "int", "list(itertools.%s)" % call, "bool(itertools.%s)" % call)
    for call in ("groupby(a)", "groupby(a, lambda x: x % 2)", "groupby(a, key=lambda x: 10 // x)"):
        row("itertools.groupby", "list", "[(k, list(g)) for k, g in itertools.%s]" % call, "[k for k, g in itertools.%s]" % call, "[(k, next(g)) for k, g in itertools.%s]" % call, "c = list(itertools.%s)\nreturn [(k, list(g)) for k, g in c]" % call,
            "c = itertools.%s\nk, g = next(c)\nm = list(c)\nreturn (k, list(g))" % call)
    row("itertools.groupby", "str", "[(k, len(list(g))) for k, g in itertools.groupby(a)]", "''.join(k for k, _ in itertools.groupby(a))")
    row("itertools.count", "int", "c = itertools.count(a)\nreturn (next(c), next(c))", "next(itertools.count(a, 0))", "next(itertools.count('x'))", "for i in itertools.count():\n    if i > 2:\n        return i + a")
    row("itertools.cycle", "list", "c = itertools.cycle(a)\nreturn [next(c) for _ in range(3)]")
    row("itertools.chain", "str", "list(itertools.chain(a, a))", "''.join(itertools.chain.from_iterable([a, a]))")


def add_patterns(row):
    patterns = ["a", "[ab]+", "a|b", "^a$", "a*", "[^a]", ".", "a?b", "(a)(b)", "(a+)(b)", "(a|b)(A)?", "\\d", "\\d+", "\\w", "\\s", "\\S+", "a{2}", "a{1,2}", "^", "$", "a\\Z", "\\Aa", "(?:ab)+", "[a-c]b", "a$", "(?P<x>a)b", "", "\\.", "[0-9]{2}", "a.b", "(?i)a", "(?=a)",
                "(a)\\1", "\\b", "a+?", "[^\\d]", "\\D", "^a|b$", "(?s).", "(?a)\\d", "\\n", "X"]
    for pattern in patterns:
        for how in ("match", "fullmatch", "search"):
            row("re." + how, "str", "re.%s(r'%s', a) is None" % (how, pattern))
    for pattern in ("(a)(b)", "(a+)(b)", "([a-b])", "(?P<x>a)(.)", "(a)|(b)", "(a)?b", "a", "x=(.*)", "(.)\\n?", "^(a)$", "(?P<k>[a-z]+)=(?P<v>[0-9])"):
        for how in ("match", "fullmatch", "search"):
            row("re." + how, "str", "m = re.%s(r'%s', a)\nreturn m.groups() if m else None" % (how, pattern), "m = re.%s(r'%s', a)\nreturn (m.group(), m.span(), m.start(), m.end()) if m else None" % (how, pattern),
                "m = re.%s(r'%s', a)\nreturn m.group(1) if m else None" % (how, pattern))
    row("re.compile", "str", "re.compile('a+').fullmatch(a) is not None", "p = re.compile('[ab]')\nreturn bool(p.match(a)) and bool(p.search(a))", "re.compile('a').pattern + a", "re.match(re.compile('a'), a) is None", "re.compile('a', re.ASCII).match(a) is None",
        "re.match(re.compile('a'), a, re.ASCII)", "re.compile('a', re.IGNORECASE).match(a) is None", "re.match('a', a, re.DOTALL).foo", "re.match('a', 5)", "re.match(5, a)", "re.match('a')", "re.compile('(a)').match(a).group(2)", "re.match('(?P<x>a)', a).group('x')", "re.match('(?P<x>a)', a).group('y')",
        "re.match('(?P<x>a)', a).groupdict()", "re.match('(a)(.)', a)[2]", "re.match('(a)', a)[5]", "re.match('(?P<x>a)', a)['x']", "if m := re.match('a', a):\n    return m.string\nreturn None")
    row("re.Pattern", "str", "re.Pattern(a, 0)", "re.Pattern()")
    row("re.Match", "str", "re.Match(a, 0, 0)", "re.Match()")
    row("re.sub", "str", "re.sub('a', 'x', a)", "re.sub('a', 'x', 'banana') + a", "re.compile('a').sub('x', 'banana', 1)", "re.sub('a', lambda m: 'x', a)")
    row("re.split", "str", "re.split('X', a)", "re.split('n', 'banana')")
    row("re.findall", "str", "re.findall('a', a)", "re.findall('a(.)', 'banana')")


def add_math(row):
    for name in ("floor", "ceil", "trunc"):
        row("math." + name, "int int", "math.%s(a / b)" % name)
        row("math." + name, "small small", "math.%s(a / b)" % name, "math.%s((a + b) / 2)" % name, "math.%s(a / 1)" % name)
    row("math.prod", "list int", "math.prod(a, start=b)", "math.prod(x + b for x in a)", "math.prod(a, b)", "math.prod(b)", "math.prod(10 // x for x in a)")
    row("math.prod", "floats", "math.prod(a)", "math.prod(a, start=2)")
    row("math.prod", "strs", "math.prod(a)")
    row("math.prod", "", "math.prod([2.0, 3])", "math.prod([])", "math.prod([1], start='a')")
    row("math.factorial", "int", "math.factorial(a if a < 20 else 20)")
    row("math.comb", "", "math.comb(5, 2)", "math.comb(2, 5)", "math.comb(-1, 2)", "math.factorial(301) > 0")
