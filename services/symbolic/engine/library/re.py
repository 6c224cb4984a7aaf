# The module re, as the engine runs it: patterns that are regular, on text that is not known. What is known is matched by Python itself.
# `regex` gives None, the spans of all groups if the text is known, or the parts of the pattern if the text matches.
A = ASCII = 256
S = DOTALL = 16
X = VERBOSE = 64
U = UNICODE = 32
I = IGNORECASE = 2
M = MULTILINE = 8


NOTHING = []


def refuse_bounds(pos, endpos):
    if pos is not NOTHING or endpos is not NOTHING:
        refuse("a match between bounds", "slice the text")


class Pattern:  # Python code cannot make one, nor a Match: _ours is for this file
    def __init__(self, pattern, flags, *, _ours):
        self.pattern = pattern
        self._flags = flags

    def fullmatch(self, string, pos=NOTHING, endpos=NOTHING):
        refuse_bounds(pos, endpos)
        return matched("fullmatch", self, string, 0)

    def match(self, string, pos=NOTHING, endpos=NOTHING):
        refuse_bounds(pos, endpos)
        return matched("match", self, string, 0)

    def search(self, string, pos=NOTHING, endpos=NOTHING):
        refuse_bounds(pos, endpos)
        return matched("search", self, string, 0)

    def sub(self, repl, string, count=0):
        return sub(self, repl, string, count)

    def subn(self, repl, string, count=0):
        return subn(self, repl, string, count)

    def split(self, string, maxsplit=0):
        return split(self, string, maxsplit)

    def findall(self, string, pos=NOTHING, endpos=NOTHING):
        refuse_bounds(pos, endpos)
        return findall(self, string)

    def finditer(self, string, pos=NOTHING, endpos=NOTHING):
        refuse_bounds(pos, endpos)
        return finditer(self, string)


class Match:
    def __init__(self, string, parts, spans, *, _ours):
        self.string = string
        self._parts = parts
        self._spans = spans

    def span(self, group=0, /):
        return span_of(self, number_of(self, group))

    def start(self, group=0, /):
        return span_of(self, number_of(self, group))[0]

    def end(self, group=0, /):
        return span_of(self, number_of(self, group))[1]

    def group(self, *groups):
        found = [text_of(self, number_of(self, g)) for g in groups]
        return text_of(self, 0) if not found else found[0] if len(found) == 1 else tuple(found)

    def __getitem__(self, group):
        return text_of(self, number_of(self, group))

    def groups(self, default=None):
        found = [text_of(self, i) for i in range(1, self._parts[1] + 1)]
        return tuple([default if text is None else text for text in found])

    def groupdict(self, default=None):
        found = [(name, text_of(self, i)) for name, i in self._parts[2]]
        return {name: default if text is None else text for name, text in found}


def number_of(match, group):
    if kind(group) == "str":
        for name, i in match._parts[2]:
            if name == group:
                return i
        raise IndexError("no such group")
    if kind(group) != "int":
        refuse("a group that is neither an int nor a str", "give its number")
    if group < 0 or group > match._parts[1]:
        raise IndexError("no such group")
    return settled(group, match._parts[1])


def settled(group, most):
    for i in range(most):
        if group == i:
            return i
    return most


def span_of(match, group):
    if match._spans is not None:
        return match._spans[group]
    found = match._parts[3][group]
    if found is None:
        refuse("the place of a group that depends on more than the length of the text", "split the text, or use one part of unknown length")
    left, right, width = found
    first = left if left is not None else len(match.string) - right - width
    return first, first + width if width is not None else len(match.string) - right


def text_of(match, group):
    first, end = span_of(match, group)
    return None if first == -1 else match.string[first:end]


def matched(how, pattern, string, flags):
    pattern, flags = known(pattern, flags)
    if kind(string) != "str":
        raise TypeError("expected string or bytes-like object")
    found = regex(how, pattern, string, flags)
    return None if found is None else Match(string, found[0], found[1], _ours=True)


def known(pattern, flags):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern.pattern, pattern._flags
    if kind(pattern) == "bytes":
        refuse("a pattern of bytes", "decode the bytes, and use a pattern of str")
    if kind(pattern) != "str":
        raise TypeError("first argument must be string or compiled pattern")
    regex_check(pattern, flags)
    return pattern, flags


def compile(pattern, flags=0):
    pattern, flags = known(pattern, flags)
    return Pattern(pattern, flags, _ours=True)


def fullmatch(pattern, string, flags=0):
    return matched("fullmatch", pattern, string, flags)


def match(pattern, string, flags=0):
    return matched("match", pattern, string, flags)


def search(pattern, string, flags=0):
    return matched("search", pattern, string, flags)


def places(pattern, string, flags):
    if kind(string) != "str":
        raise TypeError("expected string or bytes-like object")
    return regex_all(pattern, string, flags)


def words_at(string, span):
    return None if span[0] == -1 else string[span[0]:span[1]]


def sub(pattern, repl, string, count=0, flags=0):
    return subn(pattern, repl, string, count, flags)[0]


def subn(pattern, repl, string, count=0, flags=0):
    pattern, flags = known(pattern, flags)
    made = regex_call("subn", pattern, string, flags, repl, count)
    if made is not None:
        return made
    count = as_index(count)
    literal = kind(repl) == "str"
    if not literal:
        need_callable(repl)
    head, found = places(pattern, string, flags)
    parts = [repl]
    if literal and "\\" in repl:
        parts = regex_template(pattern, repl, flags)
    out, last, n = [], 0, 0
    for spans in found:
        if count != 0 and n >= count:
            break
        first, end = spans[0]
        out.append(string[last:first])
        if literal:
            for part in parts:
                out.append(part if kind(part) == "str" else words_at(string, spans[part]) or "")
        else:
            item = repl(Match(string, head, spans, _ours=True))
            if item is not None:
                out.append(item)
        last, n = end, n + 1
    out.append(string[last:])
    return "".join(out), n


def split(pattern, string, maxsplit=0, flags=0):
    pattern, flags = known(pattern, flags)
    made = regex_call("split", pattern, string, flags, "", maxsplit)
    if made is not None:
        return made
    maxsplit = as_index(maxsplit)
    out, last, n = [], 0, 0
    for spans in places(pattern, string, flags)[1]:
        if maxsplit != 0 and n >= maxsplit:
            break
        out.append(string[last:spans[0][0]])
        for span in spans[1:]:
            out.append(words_at(string, span))
        last, n = spans[0][1], n + 1
    out.append(string[last:])
    return out


def findall(pattern, string, flags=0):
    pattern, flags = known(pattern, flags)
    made = regex_call("findall", pattern, string, flags, "", 0)
    if made is not None:
        return made
    out = []
    for spans in places(pattern, string, flags)[1]:
        texts = [words_at(string, span) or "" for span in (spans[1:] or spans)]
        out.append(texts[0] if len(texts) == 1 else tuple(texts))
    return out


def finditer(pattern, string, flags=0):
    pattern, flags = known(pattern, flags)
    head, found = places(pattern, string, flags)
    return iter([Match(string, head, spans, _ours=True) for spans in found])
