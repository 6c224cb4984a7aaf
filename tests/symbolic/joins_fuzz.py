#!/usr/bin/env python3
"""A differential fuzzer of joins: random programs whose branches change lists, dicts, sets, strs and objects, some of them aliases.

    joins_fuzz.py [--programs 100 | --seconds 60] [--seed 1]

What a program does depends on the signs of four ints alone, so CPython tells all of it with sixteen calls. `compare` is asked
whether the program is that table of results, which must not be denied; then with one result changed, which must not be
"equivalent". `check` is asked that a wrong table is one, which must not be verified. `branches` must say of each condition
what sixteen calls show. The program of a difference is printed, with its seed.
"""
import argparse
import ast
import itertools
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, shape  # noqa: E402

HEAD = """from collections import Counter, defaultdict, deque

class P:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, P) and self.n == other.n

    def __bool__(self):
        return self.n > 1

def given(of):
    for v in of:
        if v > 1:
            yield v
    yield 0

class Box:
    def __init__(self, items):
        self.items = items
        self.n = 0

def sign(v):
    if v > 0:
        return 1
    if v < 0:
        return -1
    return 0

def put(to, v):
    if v in to:
        return len(to)
    to.append(v)
    return -1

def first(of, otherwise):
    for v in of:
        if v > 1:
            return v
    return otherwise

"""
PARAMETERS = ["a", "b", "c", "e"]
# K a small number, L a list, C a condition.
CONDITIONS = ["a > 0", "b > 0", "c > 0", "e > 0", "a > 0 and b > 0", "c > 0 or e > 0", "not b > 0"]
STATES = ["n > K", "len(L) > K", "K in L", "L", "not L", "xs == ys", "xs is ys", "K in d", "d", "K in s", "len(s) > 1", "t == 'ab'", "len(t) > 1",
          "o.n > 0", "L == [1]", "any(v > 1 for v in L)", "all(v < 3 for v in L)", "sum(L) > K", "o.items is L", "d.get(K, 0) > 0", "n == len(L)",
          "xs != o.items", "(1, n) == (n, 1)", "len(d) == len(s)", "p is None"]
SIMPLE = ["L.append(K)", "L.append(n)", "L.append(K)", "L.insert(0, K)", "L.insert(K, K)", "L.extend(L)", "L += [K]", "L = L + [K]", "L = [K]", "xs = ys", "ys = xs",
          "ys = list(L)", "xs = L[:]", "L = L.copy()", "L.reverse()", "L.sort()", "L.clear()", "d[K] = K", "d[K] = n", "d[n] = K", "d.pop(K, None)", "d.setdefault(K, 7)",
          "d.update({K: K, 9: n})", "s.add(K)", "s.add(n)", "s.discard(K)", "t += 'a'", "t += 'b'", "t = t + str(K)", "o.items.append(K)", "o.n += K",
          "o.items = L", "o = Box(L)", "n = K", "n += K", "n = len(L)", "n = sum(L)", "n += len(d)", "n = d.get(K, n)", "n += L.count(K)",
          "n = max(L, default=K)", "n = sign(n - 1)", "n += put(L, K)", "n = first(L, n)", "zs.append(L)", "zs = [L, [K]]", "p = K", "p = None",
          "L = [v for v in L if v > K]", "L = [v + 1 for v in L]", "s = set(L)", "n = sum(v for v in L if v != K)", "t = ','.join(str(v) for v in L)",
          "d = {v: n for v in L}", "n = len([v for v in L if v in s])", "L = sorted(L)", "w = K", "zs[0].append(K)", "d[t] = n", "n = len(t)", "L = L * 2",
          "cs[K] += 1", "cs[n] += 2", "cs.update(L)", "n = cs[K]", "dd[K].append(n)", "dd[n].append(K)", "ps.append(P(K))", "ps.append(P(n))", "n += P(K) in ps",
          "n += len([v for v in ps if v])", "n += any(ps)", "n += all(ps)", "L.extend(given(L))", "n = sum(given(L))", "q.append(K)", "q.appendleft(n)", "n = len(q)", "n += ps.count(P(K))",
          "L = list(given(L))", "n = next(given(L))", "ps[0].n = K", "ps = ps + [P(K)]", "bump(K)", "L.append(add(K))", "n += L == [K, n]", "n += L < [2, 2]", "n += xs is ys", "n += (K, n) in [(1, 2)]", "n = min(L + [n])", "L.append(w)", "n = -n", "n = 10 // (n + 5)"]
RISKY = ["n = L.pop()", "n += L.pop(0)", "L.pop(K)", "L.remove(K)", "n = L[K]", "n = L[-1]", "L[K] = K", "L[n] = 5", "n = L[n]", "n = L.index(K)", "del L[0]", "n = d[K]", "del d[K]", "s.remove(K)",
         "n = int(t)", "L[-1] += 1", "d[K] += 1", "a1, b1 = L", "n = p + 1", "assert n < 5", "n = 1 // n", "raise ValueError", "n = q.popleft()", "n = ps.pop().n", "ps.remove(P(K))", "n = ps.index(P(K))", "dd[K].pop()"]
LOOPS = ["for v in L:", "for v in list(L):", "for i, v in enumerate(L):", "for v in sorted(d):", "for v in d:", "for v in range(K + 1):", "for v in range(3):"]


class Writer:
    """One random program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []

    def filled(self, template):
        pick = self.random.choice
        out = ""
        for i, c in enumerate(template):
            near = template[i - 1:i] + template[i + 1:i + 2]
            alone = not any(each.isalnum() for each in near)
            same = self.list if "L = " in template else None
            out += str(self.random.choice([0, 1, 1, 2, 2, 3])) if c == "K" and alone else same or pick(["xs", "ys", "xs", "o.items"]) if c == "L" and alone else c
        return out

    def condition(self):
        if self.random.random() < 0.7:
            return self.random.choice(CONDITIONS)
        return self.filled(self.random.choice(STATES))

    def block(self, depth, loop, most):
        for _ in range(self.random.randint(1, most)):
            self.statement(depth, loop)

    def statement(self, depth, loop):
        put = lambda words: self.lines.append("    " * depth + words)
        chance = self.random.random()
        self.list = self.random.choice(["xs", "ys"])
        if depth < 4 and chance < 0.42:
            put("if %s:" % self.condition())
            self.block(depth + 1, loop, 3 if depth < 2 else 2)
            if self.random.random() < 0.4:
                put("else:")
                self.block(depth + 1, loop, 2)
        elif depth < 3 and chance < 0.52:
            put(self.filled(self.random.choice(LOOPS)))
            self.block(depth + 1, True, 3)
        elif depth < 3 and chance < 0.56:
            put("try:")
            self.block(depth + 1, loop, 2)
            put("except (IndexError, KeyError, ValueError, TypeError, ZeroDivisionError, UnboundLocalError):")
            put("    n += 100")
        elif depth < 3 and chance < 0.59:
            put("while %s and n < 4:" % self.condition())
            self.block(depth + 1, True, 1)
            put("    n += 1")
        elif depth > 1 and chance < 0.64:
            put(self.random.choice(["return n", "return xs"] + ["continue", "break", "continue"] * loop))
        elif chance < 0.74:
            put(self.filled(self.random.choice(RISKY)))
        else:
            put(self.filled(self.random.choice(SIMPLE)))

    def program(self):
        pick = self.random.choice
        self.lines = ["    xs = %s" % pick(["[]", "[1]", "[1, 2]"]), "    ys = %s" % pick(["xs", "[]", "[3]"]),
                      "    d, s, t, n, p, o = %s, {1}, %s, %d, None, Box(%s)" % (pick(["{}", "{1: 1}", "{1: 2, 2: 1}"]), pick(["''", "'a'"]),
                                                                               pick([0, 1, 2]), pick(["[]", "xs"])), "    zs = [xs]",
                      "    cs, dd, ps, q = Counter(), defaultdict(list), [P(1)], deque([1])", "    hits = 0",
                      "    def bump(by):\n        nonlocal hits\n        hits += by\n        xs.append(by)",
                      "    def add(v, to=[]):\n        return v + hits"]
        for _ in range(self.random.randint(2, 7)):
            self.statement(1, False)
        self.lines.append("    return %s" % pick(["xs, ys, n, d", "xs, ys, xs is ys, sorted(s), t", "zs, xs, n", "n, o.items, o.n, o.items is xs, d, t, len(s)", "xs", "len(xs), n", "sorted(cs.items()), n", "dict(dd), n, hits", "[p.n for p in ps], n", "list(q), hits, xs",
                                                 "xs, p, n, t", "sum(xs), xs == ys, d, list(d)", "[len(z) for z in zs], zs, n"]))
        return HEAD + "def f(a: int, b: int, c: int, e: int):\n%s" + "\n".join(self.lines) + "\n"


class Notes(ast.NodeTransformer):
    """Each condition of `f` is noted: which line, which way."""

    def visit_If(self, node):
        self.generic_visit(node)
        node.test = ast.copy_location(ast.Call(ast.Name("_note", ast.Load()), [ast.Constant(node.lineno), node.test], []), node.test)
        return node

    visit_While = visit_If


class Late(BaseException):
    pass


def late(*_):
    raise Late


def by_python(code):
    """(results of sixteen calls, as ("returned", value) or ("raised", name); which ways each condition goes), or None."""
    tree = ast.parse(code)
    tree.body[-1] = Notes().visit(tree.body[-1])
    seen, results = set(), []

    def note(line, test):
        truth = bool(test)
        seen.add((line, truth))
        return truth

    space = {"__name__": "__case__", "_note": note}
    exec(compile(ast.fix_missing_locations(tree), "<code>", "exec"), space)
    signal.signal(signal.SIGALRM, late)
    for given in itertools.product((1, 0), repeat=4):
        signal.setitimer(signal.ITIMER_REAL, 2)
        try:
            result = space["f"](*given)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if len(repr(result)) > 2000:
                return None
            results.append(("returned", repr(result)))
        except (Late, RecursionError, MemoryError, OverflowError):
            return None
        except Exception as error:
            results.append(("raised", type(error).__name__))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return results, seen


def table(results):
    lines = ["def g(a: int, b: int, c: int, e: int):"]
    for given, (how, what) in zip(itertools.product((1, 0), repeat=4), results):
        signs = " and ".join("%s%s > 0" % ("" if v else "not ", name) for name, v in zip(PARAMETERS, given))
        lines.append("    if %s:\n        %s" % (signs, "return " + what if how == "returned" else "raise %s()" % what))
    return "\n".join(lines) + "\n"


def changed(writer, results):
    """One result is another one."""
    other = list(results)
    at = writer.random.randrange(16)
    how, what = other[at]
    pool = [each for each in results if each[0] != how or (how == "raised" and each[1] != what) or
            (how == "returned" and shape(eval(each[1]), ()) != shape(eval(what), ()))]
    other[at] = writer.random.choice(pool) if pool and writer.random.random() < 0.8 else ("returned", "['other']")
    return other


def ask(engine, tool, counts, **arguments):
    answer = engine.call(tool, timeout_seconds=6, **arguments)
    key = "%s %s" % (tool, answer["status"] if answer["status"] != "error" else answer["error_type"])
    counts[key] = counts.get(key, 0) + 1
    assert "confirm" not in answer.get("message", "") and "contradict" not in answer.get("message", "") and "withdrawn" not in answer, (tool, answer)
    return answer


def try_program(engine, seed, counts, reasons):
    writer = Writer(seed)
    code = writer.program()
    told = by_python(code % "")
    if not told or any(word in each[1] for word in ("<", "inf", "nan") for each in told[0]):
        return
    results, seen = told
    answer = ask(engine, "compare", counts, code=code % "" + table(results), function_a="f", function_b="g")
    assert answer["status"] != "different", answer
    if answer["status"] == "error":
        reasons[answer["message"][:70]] = reasons.get(answer["message"][:70], 0) + 1
    answer = ask(engine, "compare", counts, code=code % "" + table(changed(writer, results)), function_a="f", function_b="g")
    assert answer["status"] != "equivalent", answer
    raised = sorted({what for how, what in results if how == "raised"})
    doc = '    """\n%s    post: _ == g(a, b, c, e)\n    """\n' % ("    raises: %s\n" % ", ".join(raised) if raised else "")
    kept = [each if each[0] == "returned" else ("returned", "'raised'") for each in results]
    answer = ask(engine, "check", counts, code=code % doc + table(kept), function_name="f")
    assert answer["status"] != "counterexample", answer
    wrong = [i for i, each in enumerate(results) if each[0] == "returned"]
    if wrong:
        kept[writer.random.choice(wrong)] = ("returned", "['other']")
        answer = ask(engine, "check", counts, code=code % doc + table(kept), function_name="f")
        assert answer["status"] != "verified", answer
    answer = ask(engine, "branches", counts, code=code % "", function_name="f")
    for branch in answer["branches"] if answer["status"] == "complete" else []:
        for way in (True, False):
            said = branch["true_reachable" if way else "false_reachable"]
            assert said == ((branch["line"], way) in seen), (branch, way, answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--go-on", action="store_true", help="after a difference, too")
    options = parser.parse_args()
    engine = Engine(None, "--replay", "here")
    end = time.monotonic() + options.seconds if options.seconds else None
    seed, counts, reasons, bad = options.seed, {}, {}, 0
    while (not bad or options.go_on) and (time.monotonic() < end if end else seed < options.seed + options.programs):
        try:
            try_program(engine, seed, counts, reasons)
        except (AssertionError, EOFError) as difference:
            bad += 1
            print("# seed %d: %s: %s" % (seed, type(difference).__name__, difference))
            print("\n".join("#   " + line for line in (Writer(seed).program() % "")[len(HEAD):].splitlines()), flush=True)
            if isinstance(difference, EOFError):
                engine = Engine(None, "--replay", "here")
        seed += 1
    print("# %d programs from seed %d on: %s" % (seed - options.seed, options.seed,
                                                 ", ".join("%s %d" % each for each in sorted(counts.items()))))
    for reason, count in sorted(reasons.items(), key=lambda each: -each[1])[:15]:
        print("#   %d: %s" % (count, reason))
    print("1..1\n%sok 1 branches_that_change_containers_do_what_python_does" % ("not " if bad else ""))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
