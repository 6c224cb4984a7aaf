"""Rows of operations.py for strs: repr() and ascii(), the case of characters, patterns that cut a text."""


def add_quoted(row):
    for call in ("repr(a)", "f'{a!r}'", "'{!r}'.format(a)", "'%r' % a", "'%r' % (a,)", "ascii(a)", "f'{a!a}'", "'{!a:>8}'.format(a)", "'%a' % a", "f'{a!r:>6}'", "'%-6r|' % a", "f'<{a!r}>'"):
        row("repr of a str", "str", call)
    row("repr of a str", "str", "repr(a)[0]", "repr(a)[1:-1] == a", "len(repr(a))", "len(f'{a!r}{a}')", "repr(a) == repr(a + '')", "repr(repr(a))", "ascii(repr(a))", "repr(a) + a == a", "'x' in repr(a)", "repr(a).upper()", "bool(repr(a))",
        "[c for c in repr(a)]", "repr(a) < 'b'", "repr(a).strip(\"'\")", "repr(a) * 2", "repr(a).isascii()", "{repr(a): 1}", "repr(a) in {\"''\": 1}", "sorted([repr(a), 'a'])", "int(repr(a)[1:-1])", "repr(a) if a else 'no'", "hash(repr(a)) == hash(repr(a))",
        "x = repr(a)\nif x == \"'a'\":\n    return 1\nreturn x", "x = 'p' if len(a) > 1 else repr(a)\nreturn x", "try:\n    raise ValueError(f'bad {a!r}')\nexcept ValueError as e:\n    return str(e)", "x = ''\nfor c in a:\n    x += repr(c)\nreturn x", "'-'.join([repr(a), a])",
        "print(repr(a))", "print(f'{a!r}')", "repr(a).encode()", "max(repr(a), a)", "repr(a)[::-1]", "a.isprintable()", "a.isprintable() == (repr(a)[1:-1] == a)")
    row("repr of a str", "str str", "repr(a) == repr(b)", "f'{a!r}{b!r}'", "repr(a) + repr(b) == repr(a + b)", "f'{a}={b!r}'", "repr(a) == b", "b in repr(a)", "repr((a, b))")
    for made in ("[a]", "(a,)", "(a, 1)", "{a: 1}", "{1: a}", "{a}", "[a, [a]]", "[]", "()", "{}", "[None, a]", "{a: [a]}", "frozenset([a])", "[{a}]"):
        row("repr of what has a str", "str", "repr(%s)" % made, "str(%s)" % made, "f'{%s}'" % made.replace("{", "({").replace("}", "})") if "{" in made else "f'{%s}'" % made, "ascii(%s)" % made)
    row("ascii", "str", "ascii(a)", "ascii(a) == repr(a)", "ascii(a)[1:-1]", "ascii([a])", "len(ascii(a))")
    row("ascii", "int", "ascii(a)", "ascii()", "ascii(a, a)", "ascii(None)", "ascii('\\xe9') + str(a)")
    row("repr of what has a str", "strs", "repr(a)", "str(a)", "str(tuple(a))", "ascii(a)", "len(str(a))", "str(a) == '[]'")
    row("repr of what has a str", "names", "repr(a)", "str(a)", "str(list(a.items()))", "f'{a}'", "ascii(a)")
    row("repr of what has a str", "dict", "repr(a)", "str(a)", "f'{a}'", "'%s' % a", "str([a])", "str({1: a})")
    row("repr of what has a str", "set", "repr(a)", "str(a)", "f'{a}'", "str([a])")
    row("repr of what has a str", "frozenset", "repr(a)", "str(a)")
    row("repr of what has a str", "int", "repr({a})", "repr({a: a})", "repr({a: {}})", "repr({a, 1})", "ascii(a)", "ascii([a])", "ascii({a: None})", "ascii()", "ascii(a, a)", "ascii(x=a)", "d = {a: 1}\nd[2] = d\nreturn repr(d)", "class C:\n    def __repr__(self):\n        return 5\nreturn repr({a: C()})",
        "class C:\n    def __repr__(self):\n        raise KeyError\nreturn repr([C(), a])", "class C:\n    def __repr__(self):\n        return '\\xe9'\nreturn ascii([C(), a])")
    row("repr of what has a str", "frozen", "repr(a)", "f'{a!r}'", "ascii(a)", "str([a])")
    row("repr of what has a str", "pair", "repr(a)", "f'{a}'", "ascii(a)", "str([a])", "str({1: a})")
    row("repr of what has a str", "color", "repr(a)", "ascii(a)", "str({a: 1})")
    row("repr of what has a str", "mixed", "repr(a)", "ascii(a)", "repr([a])", "f'{a!r}'")
    row("repr of what has a str", "maybe", "repr(a)", "ascii(a)", "repr({1: a})")


def add_case(row):
    for name in ("lower", "upper", "casefold", "title", "capitalize", "swapcase"):
        row("str." + name, "letters", "a.%s()" % name, "[c.%s() for c in a]" % name, "len(a.%s())" % name, "a.%s() == a" % name, "':' in a.%s()" % name, "a.%s().isascii()" % name, "('x' + a).%s()" % name, "(a + 'x').%s()" % name, "a.strip().%s()" % name,
            "''.join(c.%s() for c in a) == a.%s()" % (name, name), "a.%s().%s() == a.%s()" % (name, name, name), "'k' in a.%s()" % name, "a.%s().lower()" % name, "(a + '\\u03a3').%s()" % name, "('\\xdf' + a).%s()" % name)
    row("str.lower", "letters letters", "a.lower() == b.lower()", "(a + b).lower() == a.lower() + b.lower()", "a.casefold() == b.casefold()", "a.upper() == b.upper()", "(a + ' ' + b).title()")


def add_patterns(row):
    patterns = ["a", "[ab]+", "[^a]+", "a|b", "a*", "a*?", "a+?", "b?", "", "^a", "a$", "^", "$", "a\\Z", ".", "(?s).", "\\d+", "\\s", "\\S+", "\\w+", "\\W", "[\\w-]+", "(a)", "(a)|(b)", "(a)?b", "(a|ab)(b?)", "(a*)b", "((a)b)?", "a{2}", "a{1,2}?", "(?:ab)+", "ab|a", "a|ab",
                "(a+)(a)", "(.)(.)", "(?P<x>a)b?", "(?P<k>[a-z]*)=(?P<v>\\d*)", "(?a)\\w", "[^\\d]", "X", "\\n", "(?:a|b)*X", "[,;]\\s*", "a??b", "(a)b|ac", "(?:(a)b|a)", "(?i)a", "(?=a)", "(a)+", "(a*)*", "\\b", "(a)\\1"]
    for pattern in patterns:
        for call in ("re.sub(r'%s', '-', a)", "re.findall(r'%s', a)", "re.split(r'%s', a)", "[m.span() for m in re.finditer(r'%s', a)]", "re.subn(r'%s', 'zz', a, 1)"):
            row(call[:call.index("(")].replace("[m.span", "re.finditer"), "chars", call % pattern)
        for how in ("match", "fullmatch", "search"):
            row("re." + how, "chars", "m = re.%s(r'%s', a)\nreturn (m.span(), m.group(), m.groups()) if m else None" % (how, pattern))
    for call in ("re.sub('a', b, a)", "re.sub('a', '', a)", "re.sub('(a)(b)?', r'\\2\\1', a)", "re.sub('(?P<x>.)', r'<\\g<x>>', a)", "re.sub('a', r'\\\\', a)", "re.sub('a', r'\\n', a)", "re.sub('a', r'\\1', a)", "re.sub('(a)', r'\\g<1>0', a)", "re.sub('a', lambda m: m.group().upper(), a)",
                 "re.sub('a', lambda m: None, a)", "re.sub('a', lambda m: 5, a)", "re.sub('a', 5, a)", "re.sub('a', None, a)", "re.sub('a', str, a)", "re.sub('.', lambda m: str(m.start()), a)", "re.sub('a', 'x', a, -1)", "re.sub('a', 'x', a, 1)", "re.sub('a', 'x', a, count=2)", "re.sub('a', 'x', a, 2**63)",
                 "re.sub('a', 'x', a, 'y')", "re.sub('a', 'x', a, flags=re.DOTALL)", "re.sub('a', 'x', 5)", "re.sub('a', 'x')", "re.sub(a, 'x', 'ab')", "re.compile('a').sub('x', a)", "re.compile('a').sub(repl='x', string=a, count=1)", "re.compile('[ab]').subn('x', a)"):
        row("re.sub", "chars str" if call == "re.sub('a', b, a)" else "chars", call)
    row("re.split", "chars", "re.split('a', a, 1)", "re.split('a', a, maxsplit=-1)", "re.split('(a)|b', a)", "re.compile('[ab]').split(a, 1)", "re.split('a', a, 10**30)", "re.split('a', None)")
    row("re.findall", "chars", "re.compile('(a)(b)?').findall(a)", "re.findall('a', 5)", "len(re.findall('[ab]', a))", "re.compile('a').findall(a, 1)", "re.compile('a').match(a, 1)")
    row("re.finditer", "chars", "[m.group() for m in re.finditer('[ab]+', a)]", "{m.group(1): m.group('v') for m in re.finditer('(?P<k>.)=(?P<v>.)', a)}", "list(re.compile('a').finditer(a)) == []", "i = re.finditer('a', a)\nnext(i, None)\nreturn [m.start() for m in i]",
        "sum(1 for m in re.finditer('b', a))", "len(re.finditer('b', a))")
    row("re.sub", "chars small", "re.sub('a', 'x', a, b)", "re.split('a', a, b)", "re.sub('a', '-' * b, a)")
    row("int", "chars", "int(re.sub('[^0-9]', '', a))", "int(a) if re.fullmatch('[0-9]+', a) else -1", "int(a, 16) if re.fullmatch('[0-9a-f]+', a) else -1", "int(a, 8) if re.fullmatch('[0-7]+', a) else -1", "int(a) if a.isascii() and a.isdigit() else 0")


def add_fromkeys(row):
    for kind in ("list", "str", "strs", "floats", "lists", "tuples", "dict", "set", "none", "bools"):
        row("dict.fromkeys", kind, "dict.fromkeys(a)", "dict.fromkeys(a, 1)", "{}.fromkeys(a, 0)", "list(dict.fromkeys(a))", "len(dict.fromkeys(a))", "dict.fromkeys(x for x in a)")
    row("dict.fromkeys", "list", "d = dict.fromkeys(a, [])\nfor x in d:\n    d[x].append(x)\nreturn d", "dict.fromkeys()", "dict.fromkeys(a, 1, 2)", "dict.fromkeys(a, value=1)", "dict.fromkeys(iterable=a)", "{5: 6}.fromkeys(a)", "dict.fromkeys(zip(a, a))", "dict.fromkeys(reversed(a))", "dict.fromkeys(a, a)",
        "f = dict.fromkeys\nreturn f(a)", "list(map(dict.fromkeys, [a]))", "dict.fromkeys(range(len(a)))", "dict.fromkeys(a) == dict.fromkeys(set(a))", "a == list(dict.fromkeys(a))", "dict.fromkeys(a).get(1, 7)", "dict.fromkeys([a])", "list(dict.fromkeys(a)).count(1)", "dict.fromkeys(10 // x for x in a)")
    for name in ("OrderedDict", "defaultdict", "Counter"):
        row("collections." + name, "list", "collections.%s.fromkeys(a)" % name, "collections.%s().fromkeys(a, 5)" % name, "type(collections.%s.fromkeys(a)) is collections.%s" % (name, name), "len(collections.%s.fromkeys(a))" % name, "collections.%s.fromkeys()" % name,
            "list(collections.%s.fromkeys(a, 1).items())" % name, "collections.%s.fromkeys(a, value=2)" % name, "collections.%s.fromkeys(5)" % name, "collections.%s.fromkeys(a)[99]" % name)
    row("collections.defaultdict", "list", "collections.defaultdict(int).fromkeys(a).default_factory")
    row("dict.fromkeys", "dict list", "a.fromkeys(b)", "a.fromkeys(b, a)")
    row("dict.fromkeys", "int", "dict.fromkeys(a)", "dict.fromkeys([a, 1, True])", "dict.fromkeys([a, 1.0], a)")


def add_rows(row):
    add_quoted(row)
    add_case(row)
    add_patterns(row)
    add_fromkeys(row)
