#!/usr/bin/env python3
"""A differential fuzzer: random programs of the supported subset.

    fuzz.py [--seconds 5] [--seed 1] [--inputs 300]

Each program is asked three ways. On known arguments the interpreter must do what CPython does. A verdict `verified`,
`unreachable` or `equivalent` and a line that is called dead must survive random inputs. A witness must be one. An input that real Python does not confirm is a
difference, too, whatever else was found: it shows a value that is not modelled as it is. The program of a difference is printed, with its seed.
"""
import argparse
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, Slow, contract, lines_of, loaded, maker, outcome, ran_out_of_time, same, violated  # noqa: E402

NAMES = ["a", "b", "c"]


class Writer:
    """One random program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kinds = {}
        self.depth = 0
        self.loops = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def known(self, kind):
        return [name for name, has in self.kinds.items() if has == kind]

    def number(self):
        return str(self.pick(-7, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 10, 13, 100))

    def value(self, kind, depth=0):
        return getattr(self, "of_" + kind)(depth)

    def leaf(self, kind):
        known = self.known(kind)
        if known and self.random.random() < 0.75:
            return self.random.choice(known)
        return {"int": self.number(), "bool": self.pick("True", "False"), "str": repr(self.pick("", "a", "b", "ab", "ba", "x1")),
                "list": self.pick("[]", "[1]", "[2, -1]", "[0, 3, 5]"), "float": self.pick("0.0", "-0.0", "1.5", "-2.25", "1e10", "0.5"),
                "tuple": self.pick("(0, 1)", "(2, -3)", "(5, 5)"), "dict": self.pick("{}", "{1: 2}", "{0: 0, 3: -1}")}[kind]

    def of_int(self, depth):
        if depth > 2 or self.random.random() < 0.3:
            return self.leaf("int")
        v = self.value
        d = depth + 1
        return self.random.choice([
            lambda: "(%s %s %s)" % (v("int", d), self.pick("+", "-", "*"), v("int", d)),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("//", "%"), v("int", d)),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("//", "%"), self.pick("2", "3", "-3", "7")),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("&", "|", "^"), self.pick("1", "3", "6", "-2", "255")),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("<<", ">>"), self.pick("0", "1", "3")),
            lambda: "(%s%s)" % (self.pick("-", "+", "~"), v("int", d)),
            lambda: "(%s if %s else %s)" % (v("int", d), v("bool", d), v("int", d)),
            lambda: "%s(%s)" % (self.pick("abs", "int"), v("int", d)),
            lambda: "%s(%s, %s)" % (self.pick("min", "max"), v("int", d), v("int", d)),
            lambda: "len(%s)" % v("list", d),
            lambda: "len(%s)" % v("str", d),
            lambda: "%s[%s]" % (v("list", d), v("int", d)),
            lambda: "sum(%s)" % v("list", d),
            lambda: "(%s + %s)" % (v("bool", d), v("int", d)),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("or", "and"), v("int", d)),
            lambda: "(%s, %s)[%s]" % (v("int", d), v("int", d), self.pick("0", "1", "-1")),
            lambda: "{1: %s, 2: %s}.get(%s, %s)" % (v("int", d), v("int", d), v("int", d), v("int", d)),
            lambda: "%s.find(%s)" % (v("str", d), v("str", d)),
            lambda: "(%s) ** 2" % v("int", d),
            lambda: "helper(%s, %s)" % (v("int", d), v("int", d)),
            lambda: "len({%s, %s, %s})" % (v("int", d), v("int", d), v("int", d)),
            lambda: "{%s: %s, %s: %s}[%s]" % (v("int", d), v("int", d), v("int", d), v("int", d), v("int", d)),
            lambda: "sum(i * x for i, x in enumerate(%s))" % v("list", d),
            lambda: "sum(x - y for x, y in zip(%s, %s))" % (v("list", d), v("list", d)),
            lambda: "max(%s, key=lambda x: x %% 3, default=%s)" % (v("list", d), v("int", d)),
            lambda: "(lambda p, q=%s: p - q)(%s)" % (v("int", d), v("int", d)),
            lambda: "%s.count(%s)" % (v("list", d), v("int", d)),
            lambda: "%s.index(%s)" % (v("list", d), v("int", d)),
            lambda: "divmod(%s, %s)[%s]" % (v("int", d), v("int", d), self.pick("0", "1")),
            lambda: "Pair(%s, %s).%s" % (v("int", d), v("int", d), self.pick("p", "q", "swap().p", "z")),
            lambda: "%s[%s]" % (v("tuple", d), self.pick("0", "1", "-1", "2")),
            lambda: "%s[%s]" % (v("dict", d), v("int", d)),
            lambda: "%s.get(%s, %s)" % (v("dict", d), v("int", d), v("int", d)),
            lambda: "len(%s)" % v("dict", d),
            lambda: "sum(%s.%s())" % (v("dict", d), self.pick("values", "keys")),
            lambda: "%s({%s, %s, %s})" % (self.pick("min", "max", "len", "sum"), v("int", d), v("int", d), v("int", d)),
            lambda: "len(set(%s))" % v("list", d),
            lambda: "star(*%s, k=%s)" % (v(self.pick("list", "tuple"), d), v("int", d)),
            lambda: "star(%s, %s, **{'k': %s, 'w': 1})" % (v("int", d), v("int", d), v("int", d)),
            lambda: "next((x for x in %s if x > %s), %s)" % (v("list", d), v("int", d), v("int", d)),
            lambda: "counted(%s)" % v("int", d),
            lambda: "(%s + int(%s))" % (v("int", d), v("bool", d)),
            lambda: "%s.%s(%s)" % (v("str", d), self.pick("index", "count", "find"), repr(self.pick("a", "b", "ab", "x"))),
            lambda: "len(%s.split(%s))" % (v("str", d), repr(self.pick("a", "-", "ab"))),
            lambda: "int(%s)" % v("str", d),
            lambda: "round(%s)" % v("int", d),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("<<", ">>", "**"), self.pick("-1", "2", v("bool", d))),
        ])()

    def of_bool(self, depth):
        if depth > 2 or self.random.random() < 0.2:
            return self.leaf("bool")
        v = self.value
        d = depth + 1
        kind = self.pick("int", "int", "int", "str")
        return self.random.choice([
            lambda: "(%s %s %s)" % (v(kind, d), self.pick("<", "<=", ">", ">=", "==", "!="), v(kind, d)),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("<", "<=", ">", ">=", "==", "!="), v("int", d)),
            lambda: "(%s < %s <= %s)" % (v("int", d), v("int", d), v("int", d)),
            lambda: "(%s %s %s)" % (v("bool", d), self.pick("and", "or"), v("bool", d)),
            lambda: "(not %s)" % v("bool", d),
            lambda: "(%s in %s)" % (v("int", d), v("list", d)),
            lambda: "(%s in (%s, %s))" % (v("int", d), v("int", d), v("int", d)),
            lambda: "(%s in %s)" % (v("str", d), v("str", d)),
            lambda: "%s.%s(%s)" % (v("str", d), self.pick("startswith", "endswith"), v("str", d)),
            lambda: "bool(%s)" % v(self.pick("int", "str", "list"), d),
            lambda: "(%s == %s)" % (v("list", d), v("list", d)),
            lambda: "%s(x > %s for x in %s)" % (self.pick("any", "all"), v("int", d), v("list", d)),
            lambda: "isinstance(%s, %s)" % (v(self.pick("int", "bool", "str"), d), self.pick("int", "bool", "str", "(int, str)")),
            lambda: "(%s is None)" % v("int", d),
            lambda: "((%s, %s) %s (%s, %s))" % (v("int", d), v("int", d), self.pick("<", "==", ">=", "!="), v("int", d), v("int", d)),
            lambda: "(%s %s %s)" % (v("list", d), self.pick("<", ">=", "!="), v("list", d)),
            lambda: "({%s, %s} %s {%s, 1, 2})" % (v("int", d), v("int", d), self.pick("<=", "==", ">"), v("int", d)),
            lambda: "(Pair(%s, %s) == Pair(%s, %s))" % (v("int", d), v("int", d), v("int", d), v("int", d)),
            lambda: "(%s in {%s: 1, 2: 3})" % (v("int", d), v("int", d)),
            lambda: "(%s in range(%s, %s))" % (v("int", d), v("int", d), v("int", d)),
            lambda: "(not %s.%s())" % (repr(self.pick("a1", "B", "", " x")), self.pick("isdigit", "isalpha", "isupper", "isspace")),
            lambda: "(%s %s %s)" % (v("float", d), self.pick("<", "<=", "==", "!=", ">"), v("float", d)),
            lambda: "(%s %s %s)" % (v("int", d), self.pick("<", "<=", "==", "!=", ">"), self.pick("0.5", "-1.0", "2.0", "1e300")),
            lambda: "(%s / %s %s %s)" % (v("int", d), v("int", d), self.pick("<", "<=", "==", ">"), self.pick("0.5", "-1.0", "2", "0", "0.1")),
            lambda: "(%s %s %s)" % (v("tuple", d), self.pick("==", "!=", "<", ">="), v("tuple", d)),
            lambda: "(%s == %s)" % (v("dict", d), v("dict", d)),
            lambda: "(%s in %s)" % (v("int", d), v("dict", d)),
            lambda: "(list(%s) == %s)" % (v("dict", d), v("list", d)),
            lambda: "(%s is %s)" % (v("bool", d), self.pick("True", "False")),
            lambda: "isinstance(%s, %s)" % (v(self.pick("float", "tuple", "dict", "list"), d), self.pick("float", "tuple", "(dict, list)", "int", "object")),
            lambda: "any(%s for x in %s)" % (self.pick("x", "10 // x", "x == 1"), v("list", d)),
            lambda: "({%s, %s} & {%s, 2} == {2})" % (v("int", d), v("int", d), v("int", d)),
            lambda: "(%s == %s.strip())" % (v("str", d), v("str", d)),
            lambda: "(%s == %s[::-1])" % (v("str", d), v("str", d)),
            lambda: "(%s.%s(%s, %s) == %s)" % (v("str", d), "replace", repr(self.pick("a", "b", "ab")), v("str", d), v("str", d)),
            lambda: "%s.%s()" % (v("str", d), self.pick("isdigit", "isalpha", "isspace")),
        ])()

    def of_str(self, depth):
        if depth > 1 or self.random.random() < 0.4:
            return self.leaf("str")
        v = self.value
        d = depth + 1
        return self.random.choice([
            lambda: "(%s + %s)" % (v("str", d), v("str", d)),
            lambda: "%s[%s:%s]" % (v("str", d), self.pick("", "1", "-1", "0"), self.pick("", "1", "2", "-1")),
            lambda: "%s[%s]" % (v("str", d), self.pick("0", "-1", "1")),
            lambda: "str(%s)" % v("int", d),
            lambda: "f'{(%s)}-{(%s)}'" % (v("int", d).replace("'", '"'), v("bool", d).replace("'", '"')),
            lambda: "(%s * %s)" % (v("str", d), self.pick("0", "1", "2")),
        ])()

    def of_list(self, depth):
        if depth > 1 or self.random.random() < 0.4:
            return self.leaf("list")
        v = self.value
        d = depth + 1
        return self.random.choice([
            lambda: "[%s]" % ", ".join(v("int", d) for _ in range(self.random.randrange(4))),
            lambda: "(%s + %s)" % (v("list", d), v("list", d)),
            lambda: "%s[%s:%s]" % (v("list", d), self.pick("", "1", "-1"), self.pick("", "1", "2", "-1")),
            lambda: "[x %s %s for x in %s]" % (self.pick("+", "*", "-"), v("int", d), v("list", d)),
            lambda: "[x for x in %s if x %s %s]" % (v("list", d), self.pick(">", "<", "!="), v("int", d)),
            lambda: "sorted(%s)" % v("list", d),
            lambda: "list(range(%s))" % self.pick("0", "2", "3"),
            lambda: "%s[::-1]" % v("list", d),
            lambda: "sorted(%s, key=lambda x: -x)" % v("list", d),
            lambda: "sorted({%s, %s})" % (v("int", d), v("int", d)),
            lambda: "list(map(lambda x: x + 1, %s))" % v("list", d),
            lambda: "list(filter(lambda x: x > %s, %s))" % (v("int", d), v("list", d)),
            lambda: "[*%s, %s]" % (v("list", d), v("int", d)),
            lambda: "[y for x in %s for y in (x, %s)]" % (v("list", d), v("int", d)),
            lambda: "(%s if %s else %s)" % (v("list", d), v("bool", d), v("list", d)),
            lambda: "(%s or %s)" % (v("list", d), v("list", d)),
        ])()

    def of_float(self, depth):
        if depth > 1 or self.random.random() < 0.4:
            return self.leaf("float")
        v = self.value
        d = depth + 1
        return self.random.choice([
            lambda: "(%s %s %s)" % (v("float", d), self.pick("+", "-", "*", "/"), v("float", d)),
            lambda: "(%s / %s)" % (v("int", d), v("int", d)),
            lambda: "float(%s)" % v(self.pick("int", "bool"), d),
            lambda: "abs(-%s)" % v("float", d),
            lambda: "%s(%s, %s)" % (self.pick("min", "max"), v("float", d), v("float", d)),
            lambda: "(%s if %s else %s)" % (v("float", d), v("bool", d), v("float", d)),
        ])()

    def of_tuple(self, depth):
        if depth > 1 or self.random.random() < 0.4:
            return self.leaf("tuple")
        v = self.value
        d = depth + 1
        return self.random.choice([
            lambda: "(%s, %s)" % (v("int", d), v("int", d)),
            lambda: "divmod(%s, %s)" % (v("int", d), v("int", d)),
            lambda: "(%s if %s else %s)" % (v("tuple", d), v("bool", d), v("tuple", d)),
            lambda: "tuple(%s)" % v("list", d),
            lambda: "(%s + %s)[1:3]" % (v("tuple", d), v("tuple", d)),
            lambda: "max(%s, %s)" % (v("tuple", d), v("tuple", d)),
        ])()

    def of_dict(self, depth):
        if depth > 1 or self.random.random() < 0.4:
            return self.leaf("dict")
        v = self.value
        d = depth + 1
        return self.random.choice([
            lambda: "{%s: %s, %s: %s}" % (v("int", d), v("int", d), v("int", d), v("int", d)),
            lambda: "{**%s, %s: %s}" % (v("dict", d), v("int", d), v("int", d)),
            lambda: "{x: x * 2 for x in %s}" % v("list", d),
            lambda: "(%s | %s)" % (v("dict", d), v("dict", d)),
            lambda: "dict(zip(%s, %s))" % (v("list", d), v("list", d)),
            lambda: "dict([%s])" % v("tuple", d),
        ])()

    # ---- statements

    def block(self, indent, room):
        lines = []
        for _ in range(self.random.randrange(1, room + 1)):
            lines += self.statement(indent, room)
        return lines or [indent + "pass"]

    def statement(self, indent, room):
        inner = indent + "    "
        roll = self.random.random()
        if room <= 1 or roll < 0.35:
            kind = self.pick("int", "int", "bool", "str", "list", "tuple", "dict", self.pick("int", "float"))
            name = self.pick("u", "v", "w", "a", "b")
            words = self.value(kind)
            if self.depth == 0 or self.kinds.get(name) == kind:
                self.kinds[name] = kind
                return [indent + "%s = %s" % (name, words)]
            known = self.known("int")
            return [indent + "%s %s= %s" % (self.random.choice(known), self.pick("+", "-", "*"), self.value("int"))] if known else [indent + "pass"]
        if roll < 0.45:
            known = self.known("int")
            lists = self.known("list")
            dicts = self.known("dict")
            if dicts and self.random.random() < 0.4:
                name = self.random.choice(dicts)
                return [indent + self.random.choice([
                    "%s[%s] = %s" % (name, self.value("int"), self.value("int")),
                    "%s[%s] += %s" % (name, self.value("int"), self.value("int")),
                    "del %s[%s]" % (name, self.value("int")),
                    "%s.pop(%s, 0)" % (name, self.value("int")),
                    "%s.setdefault(%s, %s)" % (name, self.value("int"), self.value("int")),
                    "%s.update({%s: %s})" % (name, self.value("int"), self.value("int")),
                    "%s |= %s" % (name, self.value("dict")),
                    "%s.clear()" % name])]
            if lists and self.random.random() < 0.4:
                return [indent + self.random.choice([
                    "%s.sort(reverse=%s)" % (self.random.choice(lists), self.pick("True", "False")),
                    "%s.reverse()" % self.random.choice(lists),
                    "%s.remove(%s)" % (self.random.choice(lists), self.value("int")),
                    "%s.extend(10 // x for x in %s)" % (self.random.choice(lists), self.pick("(1, 2)", self.value("tuple"))),
                    "del %s[%s]" % (self.random.choice(lists), self.pick("0", "-1", "1")),
                    "%s.sort(key=lambda x: x %% 2)" % self.random.choice(lists),
                    "%s.append(%s)" % (self.random.choice(lists), self.value("int")),
                    "%s.insert(%s, %s)" % (self.random.choice(lists), self.pick("0", "1", "-1"), self.value("int")),
                    "%s[%s] = %s" % (self.random.choice(lists), self.value("int", 2), self.value("int")),
                    "%s.pop()" % self.random.choice(lists)])]
            if known:
                return [indent + "%s %s= %s" % (self.random.choice(known), self.pick("+", "-", "*", "//", "%"), self.value("int"))]
            return [indent + "pass"]
        self.depth += 1
        try:
            if roll < 0.68:
                lines = [indent + "if %s:" % self.value("bool")] + self.block(inner, room - 1)
                if self.random.random() < 0.3:
                    lines += [indent + "elif %s:" % self.value("bool")] + self.block(inner, room - 1)
                if self.random.random() < 0.5:
                    lines += [indent + "else:"] + self.block(inner, room - 1)
                return lines
            if roll < 0.78 and self.loops < 2:
                self.loops += 1
                name = "i%d" % self.loops
                source = self.pick("range(%s)" % self.pick("2", "3"), "range(%s %% 3)" % self.value("int"), self.value("list"))
                lines = [indent + "for %s in %s:" % (name, source)]
                old = dict(self.kinds)
                self.kinds[name] = "int"
                lines += self.block(inner, room - 1)
                if self.random.random() < 0.3:
                    lines += [inner + "if %s:" % self.value("bool"), inner + "    " + self.pick("break", "continue")]
                self.kinds = old
                if self.random.random() < 0.2:
                    lines += [indent + "else:"] + self.block(inner, 1)
                return lines
            if roll < 0.86:
                lines = [indent + "try:"] + self.block(inner, room - 1)
                lines += [indent + "except %s:" % self.pick("ZeroDivisionError", "IndexError", "(ValueError, KeyError)", "Exception", "LookupError")]
                lines += self.block(inner, 1)
                if self.random.random() < 0.2:
                    lines += [indent + "except ArithmeticError as problem:", inner + self.pick("raise", "raise ValueError from problem", "pass")]
                if self.random.random() < 0.3:
                    lines += [indent + "else:"] + self.block(inner, 1)
                if self.random.random() < 0.3:
                    lines += [indent + "finally:"] + self.block(inner, 1)
                    if self.random.random() < 0.2:
                        lines += [inner + "if %s:" % self.value("bool"), inner + "    return -1"]
                return lines
            if roll < 0.90:
                return self.special(indent, inner, room)
            if roll < 0.94:
                return [indent + "if %s:" % self.value("bool"), inner + "raise %s" % self.pick("ValueError('x')", "KeyError(1)", "IndexError")]
            if roll < 0.96:
                return [indent + "assert %s" % self.value("bool")]
            return [indent + "if %s:" % self.value("bool"), inner + "return %s" % self.value(self.pick("int", "int", "bool", "str"))]
        finally:
            self.depth -= 1

    def special(self, indent, inner, room):
        ints = self.known("int") or ["a"]
        lists = self.known("list")
        name = self.random.choice(ints)
        which = self.random.randrange(13)
        dicts = self.known("dict")
        if which == 6:
            return [indent + "def bump2(k):", inner + "nonlocal %s" % name, inner + "%s = %s + k" % (name, name), inner + "return k",
                    indent + "bump2(%s)" % self.value("int")]
        if which == 7 and dicts:
            one = self.random.choice(dicts)
            return [indent + "for key in %s:" % self.pick(one, one, one + ".items()", "list(%s)" % one),
                    inner + self.pick("%s[%s] = 1" % (one, self.value("int")), "%s += 1" % name, "%s.pop(%s, 0)" % (one, self.value("int")))]
        if which == 8 and lists:
            return [indent + "match %s:" % self.random.choice(lists), inner + "case []:"] + self.block(inner + "    ", 1) + \
                [inner + "case [k, *rest] if k > len(rest):", inner + "    %s = k" % name, inner + "case [_, k]:", inner + "    %s -= k" % name]
        if which == 9:
            return [indent + "fs = [lambda q=%s: q + i for i in range(2)]" % self.value("int"), indent + "%s = fs[0]() - fs[1]()" % name]
        if which == 10:
            return [indent + "if (hold := %s) > %s:" % (self.value("int"), self.value("int")), inner + "%s = hold" % name]
        if which == 11 and self.loops < 2:
            self.loops += 1
            count = "n%d" % self.loops
            return [indent + "%s = %s" % (count, self.pick("0", "1", "3")), indent + "while %s < 3:" % count, inner + "%s += 1" % count,
                    inner + "if %s:" % self.value("bool"), inner + "    " + self.pick("break", "continue"), indent + "else:",
                    inner + "%s = %s" % (name, self.value("int"))]
        if which == 12:
            return [indent + "%s, *others = %s" % (name, self.value(self.pick("list", "tuple"))), indent + "%s += len(others)" % name]
        if which == 0 and self.loops < 2:
            self.loops += 1
            count = "n%d" % self.loops
            return [indent + "%s = 0" % count, indent + "while %s < %s and %s:" % (count, self.pick("2", "3"), self.value("bool")),
                    inner + "%s += 1" % count] + self.block(inner, room - 1)
        if which == 1:
            return [indent + "match %s:" % self.value("int"), inner + "case 0 | 1:"] + self.block(inner + "    ", 1) + \
                [inner + "case k if k > %s:" % self.value("int"), inner + "    pass", inner + "case _:"] + self.block(inner + "    ", 1)
        if which == 2 and "a" not in ints:
            return [indent + "pass"]
        if which == 2:
            return [indent + "def bump(k):", inner + "return k + a", indent + "%s = bump(%s)" % (name, self.value("int"))]
        if which == 3 and lists:
            one = self.random.choice(lists)
            return [indent + "alias = %s" % one, indent + "alias.append(%s)" % self.value("int"), indent + "%s += [%s]" % (one, self.value("int"))]
        if which == 4:
            return [indent + "d = {%s: %s}" % (self.value("int"), self.value("int")), indent + "d[%s] = %s" % (self.value("int"), self.value("int")),
                    indent + "for key, item in d.items():", inner + "%s += key - item" % name]
        return [indent + "%s, rest = %s, (%s, %s)" % (name, self.value("int"), self.value("int"), self.value("int")),
                indent + "if rest[0] < rest[1]:", inner + "%s = rest[0]" % name]

    def program(self):
        kinds = [self.pick("int", "int", "int", "int", "bool", "str", "list", "list", "tuple", "dict", self.pick("float", "int"))
                 for _ in range(self.random.randrange(1, 4))]
        words = {"list": "list[int]", "dict": "dict[int, int]", "tuple": "tuple[int, int]"}
        head = ", ".join("%s: %s" % (name, words.get(kind, kind)) for name, kind in zip(NAMES, kinds))
        both = []
        for name in ("f", "g"):
            self.kinds = dict(zip(NAMES, kinds))
            self.loops = 0
            body = self.block("    ", 3)
            result = self.value(self.pick("int", "int", "bool", "tuple", "float", "list", "dict"))
            self.kinds = dict(zip(NAMES, kinds))
            post = self.value("bool") if self.random.random() < 0.6 else "True"
            doc = ['    """', "    pre: " + self.bounds(kinds), "    post: " + post, '    """'] if name == "f" else []
            both.append("\n".join(["def %s(%s):" % (name, head)] + doc + body + ["    return " + result]))
        pair = "from dataclasses import dataclass\n\n@dataclass\nclass Pair:\n    p: int\n    q: int = 0\n\n    def swap(self):\n" \
               "        return Pair(self.q, self.p)\n\n"
        pair += "def star(p, *r, k=0, **w):\n    return p - len(r) + k * 2 + len(w)\n\ncalls = 0\n\n" \
                "def counted(p, seen=[]):\n    global calls\n    calls += 1\n    seen.append(p)\n    return calls + len(seen)\n\n"
        helper = pair + "def helper(p, q):\n    if p > q:\n        return p - q\n    return q %s p" % self.pick("+", "*", "//", "-")
        return "\n\n".join([helper] + both) + "\n", kinds

    def bounds(self, kinds):
        """Lists are short, so that all paths can be explored; half of the numbers are small."""
        parts = []
        for name, kind in zip(NAMES, kinds):
            if kind in ("list", "str", "dict"):
                parts.append("len(%s) <= %d" % (name, 1 if kind == "dict" else 2))
            elif kind == "int" and self.random.random() < 0.5:
                parts.append("-9 <= %s <= 9" % name)
        return " and ".join(parts) or "True"


def arguments(kinds, picker):
    def one(kind):
        if kind == "int":
            return str(picker.choice([picker.randrange(-10, 11), picker.randrange(-1000, 1000), picker.choice([2 ** 63, -2 ** 64, 10 ** 20])]
                                     if picker.random() < 0.2 else [picker.randrange(-9, 10)]))
        if kind == "bool":
            return picker.choice(["True", "False"])
        if kind == "str":
            return repr("".join(picker.choice("abx1- \u00e9\u0663") for _ in range(picker.randrange(4))))
        if kind == "float":
            return picker.choice(["0.0", "-0.0", "1.5", "-2.0", "float('inf')", "float('-inf')", "float('nan')", "1e308", "5e-324", "0.1",
                                  repr(picker.uniform(-10, 10))])
        if kind == "tuple":
            return "(%d, %d)" % (picker.randrange(-9, 10), picker.randrange(-9, 10))
        if kind == "dict":
            return "{%s}" % ", ".join("%d: %d" % (picker.randrange(-4, 5), picker.randrange(-9, 10)) for _ in range(picker.randrange(3)))
        return "[%s]" % ", ".join(str(picker.randrange(-9, 10)) for _ in range(picker.randrange(4)))
    return ", ".join(one(kind) for kind in kinds)


def distinct(kinds, picker, count):
    """Random inputs; one that comes again is not tried again, since it would do the same."""
    return sorted({arguments(kinds, picker) for _ in range(count)})


class Difference(Exception):
    pass


def trusted(asked, answer):
    """Real Python must not contradict the engine, nor one solver the other."""
    if "withdrawn" in answer:
        raise Difference("%s: %s" % (asked, answer["withdrawn"]))
    if "error_type" in answer and ("not confirm" in answer["message"] or "contradict" in answer["message"]):
        raise Difference("%s: %s" % (asked, answer["message"]))


def count(counts, tool, answer):
    name = "%s %s" % (tool, answer["status"])
    counts[name] = counts.get(name, 0) + 1


def try_known(engine, code, kinds, picker, counts):
    for _ in range(4):
        words = arguments(kinds, picker)
        for name in ("f", "g"):
            answer = engine.call("run", code=code, function_name=name, arguments="(%s,)" % words)
            expected = outcome(code, name, maker(words))
            count(counts, "run", answer)
            if answer["status"] == "error":
                if not ran_out_of_time(answer) and "Unsupported" not in answer["message"] and "limit" not in answer["message"]:
                    raise Difference("%s(%s): %s" % (name, words, answer["message"]))
                continue
            if answer["status"] != expected[0]:
                raise Difference("%s(%s) %s %s, not %s" % (name, words, answer["status"], answer["result"], expected))
            got = eval(answer["result"]) if answer["status"] == "returned" else answer["result"]
            if repr(got) != repr(expected[1]):
                raise Difference("%s(%s) is %r, not %r" % (name, words, got, expected[1]))


class Inputs:
    """Random inputs of a program that satisfy the precondition of f, and what Python does with them. Each is called once."""

    def __init__(self, code, kinds, picker, count):
        self.code, self.kinds, self.picker, self.count = code, kinds, picker, count
        self.pre = contract(loaded(code)["f"])["pre"][0]
        self.drawn, self.ends = None, {}

    def all(self):
        if self.drawn is None:
            self.drawn = [words for words in distinct(self.kinds, self.picker, self.count) if eval(self.pre, dict(zip(NAMES, maker(words)({}))))]
        return self.drawn

    def outcome(self, name, words):
        if (name, words) not in self.ends:
            self.ends[name, words] = outcome(self.code, name, maker(words))
        return self.ends[name, words]


def asked(engine, counts, tool, **given):
    answer = engine.call(tool, timeout_seconds=4, **given)
    count(counts, tool, answer)
    trusted(tool + " " + given.get("exception_type", ""), answer)
    return answer


def try_check(engine, code, inputs, counts):
    answer = asked(engine, counts, "check", code=code, function_name="f")
    for witness in answer["counterexamples"]:
        if not violated(code, "f", maker(witness["call"][2:-1])):
            raise Difference("no counterexample: %s" % witness)
    if answer["status"] == "verified":
        for words in inputs.all():
            if violated(code, "f", maker(words)):
                raise Difference("verified, but f(%s) is %s" % (words, violated(code, "f", maker(words))))


def try_find(engine, code, wanted, inputs, counts):
    answer = asked(engine, counts, "find", code=code, function_name="f", exception_type=wanted)
    for witness in answer.get("triggering_inputs", ()):
        got = outcome(code, "f", maker(witness["call"][2:-1]))
        if got[0] != "raised" or wanted not in got[2]:
            raise Difference("%s is not raised: %s" % (wanted, witness))
    if answer["status"] == "unreachable":
        for words in inputs.all():
            got = inputs.outcome("f", words)
            if got[0] == "raised" and wanted in got[2]:
                raise Difference("%s is not unreachable: f(%s)" % (wanted, words))


def try_branches(engine, code, inputs, counts):
    answer = asked(engine, counts, "branches", code=code, function_name="f")
    if answer["status"] == "complete" and answer["dead_code_lines"]:
        for words in inputs.all():
            dead = sorted(lines_of(code, "f", maker(words)) & set(answer["dead_code_lines"]))
            if dead:
                raise Difference("line %d is not dead: f(%s)" % (dead[0], words))


def try_compare(engine, code, inputs, counts):
    answer = asked(engine, counts, "compare", code=code, function_a="f", function_b="g")
    if answer["status"] == "different":
        make = maker(answer["distinguishing_input"]["call"][2:-1])
        if same(outcome(code, "f", make), outcome(code, "g", make)):
            raise Difference("no difference: %s" % answer["distinguishing_input"])
    if answer["status"] == "equivalent":
        for words in inputs.all():
            if not same(inputs.outcome("f", words), inputs.outcome("g", words)):
                raise Difference("f and g differ for (%s)" % words)


EXCEPTIONS = ["ZeroDivisionError", "IndexError", "ValueError", "KeyError", "AssertionError", "Exception", "TypeError"]


def try_verdicts(engine, code, inputs, counts):
    picker = inputs.picker
    try_check(engine, code, inputs, counts)
    try_find(engine, code, picker.choice(EXCEPTIONS), inputs, counts)
    if picker.random() < 0.2:
        try_branches(engine, code, inputs, counts)
    if picker.random() < 0.5:
        try_compare(engine, code, inputs, counts)


def told(seed, options, counts, begun):
    questions = sum(number for name, number in counts.items() if name != "slow")
    return "# %d programs from seed %d on, %d questions, %d s: %s" % (seed - options.seed, options.seed, questions, time.monotonic() - begun,
                                                                       ", ".join("%s %d" % each for each in sorted(counts.items())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--inputs", type=int, default=300)
    parser.add_argument("--keep-going", action="store_true")
    options = parser.parse_args()
    engine = Engine()

    def slow(number, frame):
        raise Slow

    signal.signal(signal.SIGALRM, slow)
    begun = last = time.monotonic()
    seed, counts, bad = options.seed, {}, 0
    while time.monotonic() < begun + options.seconds:
        if time.monotonic() > last + 60:
            last = time.monotonic()
            print(told(seed, options, counts, begun), flush=True)
        code, kinds = Writer(seed).program()
        try:
            compile(code, "<code>", "exec")
        except SyntaxError:
            seed += 1
            continue
        picker = random.Random(seed)
        signal.setitimer(signal.ITIMER_REAL, 60)
        try:
            try_known(engine, code, kinds, picker, counts)
            try_verdicts(engine, code, Inputs(code, kinds, picker, options.inputs), counts)
        except Slow:
            counts["slow"] = counts.get("slow", 0) + 1
            engine.process.kill() # an answer may be under way
            engine = Engine()
        except (Difference, EOFError) as difference:
            bad += 1
            print("# seed %d: %s\n%s" % (seed, difference, "\n".join("#   " + line for line in code.splitlines())), flush=True)
            if not options.keep_going or isinstance(difference, EOFError):
                break
        seed += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(told(seed, options, counts, begun))
    print("1..1\n%sok 1 random_programs_do_what_python_does_and_verdicts_survive_random_inputs" % ("not " if bad else ""))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
