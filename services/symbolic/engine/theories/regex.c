/*
 * Regular expressions. CPython's own parser reads the pattern. A regular pattern becomes a term of
 * the solvers; anything else is not supported, unless the text is known: then CPython matches it.
 *
 * Whether a text matches is a question about a language, so greedy and lazy make no difference. The
 * place of a group is known only if the lengths of the parts around it leave one possibility.
 */
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"
#include "theories/regex.h"

/* What CPython is asked, in Python. regex_parts() gives (alternatives, number of groups, names,
 * places): an alternative is (starts at ^, its parts, how it ends, its least length, all lengths if
 * they are few, its text if it is one). A set of characters is
 * (ranges among ASCII, all ranges, and if these are too many: those up to U+FF). A repetition has
 * how often, its body, and whether it is lazy. The last item says what regex_walk.c cannot do with
 * it. A str says what is not supported. */
static const char reader[] =
    "def regex_reader():\n"
    "    import re\n"
    "    from re import _parser as parser, _constants as c\n"
    "    last, cache = 0x2ffff, {}\n"
    "    def merged(pairs):\n"
    "        out = []\n"
    "        for low, high in sorted(pairs):\n"
    "            if out and low <= out[-1][1] + 1:\n"
    "                out[-1][1] = max(out[-1][1], high)\n"
    "            else:\n"
    "                out.append([low, high])\n"
    "        return [tuple(p) for p in out]\n"
    "    def inverted(pairs):\n"
    "        out, at = [], 0\n"
    "        for low, high in merged(pairs):\n"
    "            if low > at:\n"
    "                out.append((at, low - 1))\n"
    "            at = high + 1\n"
    "        return out + ([(at, last)] if at <= last else [])\n"
    "    def listed(test, most):\n"
    "        return merged((i, i) for i in range(most) if test(chr(i)))\n"
    "    def category(av, ascii):\n"
    "        name = str(av)\n"
    "        kind = name.rsplit('_', 1)[1]\n"
    "        if kind == 'WORD' and not ascii:\n"
    "            raise ValueError('word')\n"
    "        most = {0: 0x2ff00, 3: 256}.get(ascii, 128)\n"
    "        if (kind, ascii) not in cache:\n"
    "            test = {'DIGIT': str.isdecimal, 'SPACE': str.isspace,\n"
    "                    'WORD': lambda ch: ch.isalnum() or ch == '_'}[kind]\n"
    "            cache[kind, ascii] = listed(test, most)\n"
    "        found = cache[kind, ascii]\n"
    "        if ascii and kind == 'SPACE' and ascii == 2:\n"
    "            found = [p for p in listed(lambda ch: ch in ' \\t\\n\\r\\f\\v', 128)]\n"
    "        return inverted(found) if '_NOT_' in name else found\n"
    "    class No(Exception):\n"
    "        pass\n"
    /* The solvers have no characters beyond `last`: those from U+2FF00 on stand for all of
     * these. */
    "    def known(low, high):\n"
    "        if low > 0x2ff00 or 0x2ff00 < high < 0x10ffff:\n"
    "            raise No('a character beyond U+2FF00')\n"
    "        return low, min(high, last)\n"
    "    def convert(tree, state):\n"
    "        def pairs_of(items, ascii):\n"
    "            out, negate = [], False\n"
    "            for op, av in items:\n"
    "                if op is c.NEGATE:\n"
    "                    negate = True\n"
    "                elif op is c.LITERAL:\n"
    "                    out.append(known(av, av))\n"
    "                elif op is c.RANGE:\n"
    "                    out.append(known(*av))\n"
    "                elif op is c.CATEGORY:\n"
    "                    state['unicode'] |= not state['ascii']\n"
    "                    out += category(av, 2 if state['ascii'] else ascii)\n"
    "                else:\n"
    "                    raise No('this part of a set of characters')\n"
    "            out = inverted(out) if negate else merged(out)\n"
    "            if ascii in (1, 3):\n"
    "                end = 127 if ascii == 1 else 255\n"
    "                out = [(low, min(high, end)) for low, high in out if low <= end]\n"
    "            return tuple(x for p in out for x in p)\n"
    "        def chars(items):\n"
    "            try:\n"
    "                full = pairs_of(items, 0)\n"
    "            except ValueError:\n"
    "                full = None\n"
    "            return ('set', pairs_of(items, 1), full, None if full is not None else "
    "pairs_of(items, 3))\n"
    "        def one(op, av):\n"
    "            if op is c.LITERAL:\n"
    "                return chars([(op, av)])\n"
    "            if op is c.NOT_LITERAL:\n"
    "                return chars([(c.NEGATE, None), (c.LITERAL, av)])\n"
    "            if op is c.ANY:\n"
    "                return chars([(c.NEGATE, None)] + ([] if state['dotall'] else [(c.LITERAL, "
    "10)]))\n"
    "            if op is c.IN:\n"
    "                return chars(av)\n"
    "            if op is c.BRANCH:\n"
    "                return ('alt',) + tuple(cat(p) for p in av[1])\n"
    "            if op is c.SUBPATTERN:\n"
    "                group, add, drop, p = av\n"
    "                if add or drop:\n"
    "                    raise No('flags inside of a pattern')\n"
    "                return cat(p) if group is None else ('grp', group, cat(p))\n"
    "            if op in (c.MAX_REPEAT, c.MIN_REPEAT):\n"
    "                low, high, p = av\n"
    "                if low > 64 or (high is not c.MAXREPEAT and high > 64):\n"
    "                    raise No('more than 64 repetitions')\n"
    "                return ('rep', low, -1 if high is c.MAXREPEAT else int(high), cat(p), "
    "op is c.MIN_REPEAT)\n"
    "            raise No({'AT': 'an anchor inside of the pattern', 'GROUPREF': 'a reference to a "
    "group',\n"
    "                      'ASSERT': 'a look ahead or behind', 'ASSERT_NOT': 'a look ahead or "
    "behind'}.get(\n"
    "                          str(op), 'this construct'))\n"
    "        def cat(p):\n"
    "            return ('cat',) + tuple(one(op, av) for op, av in p)\n"
    "        return cat(tree)\n"
    "    def alternative(items, state):\n"
    "        items, start, end = list(items), False, ''\n"
    "        while items and items[0][0] is c.AT and items[0][1] in (c.AT_BEGINNING, "
    "c.AT_BEGINNING_STRING):\n"
    "            start, items = True, items[1:]\n"
    "        while items and items[-1][0] is c.AT and items[-1][1] in (c.AT_END, "
    "c.AT_END_STRING):\n"
    "            end = 'Z' if end == 'Z' or items[-1][1] is c.AT_END_STRING else '$'\n"
    "            items = items[:-1]\n"
    "        n = convert(items, state)\n"
    "        return (start, n, end, least(n), tuple(sorted(lengths(n) or ())), literal(n))\n"
    "    def least(n):\n"
    "        if n[0] == 'set':\n"
    "            return 1\n"
    "        if n[0] == 'grp':\n"
    "            return least(n[2])\n"
    "        if n[0] == 'rep':\n"
    "            return n[1] * least(n[3])\n"
    "        return (min if n[0] == 'alt' else sum)([least(x) for x in n[1:]])\n"
    "    def lengths(n):\n" /* None: too many */
    "        if n[0] == 'set':\n"
    "            return {1}\n"
    "        if n[0] == 'grp':\n"
    "            return lengths(n[2])\n"
    "        if n[0] == 'rep':\n"
    "            one, out, now = lengths(n[3]), set(), {0}\n"
    "            if one is None or n[2] < 0:\n"
    "                return {0} if one == {0} else None\n"
    "            for i in range(n[2] + 1):\n"
    "                out |= now if i >= n[1] else set()\n"
    "                now = {a + b for a in now for b in one}\n"
    "                if len(now) > 24 or len(out) > 24:\n"
    "                    return None\n"
    "            return out\n"
    "        parts = [lengths(x) for x in n[1:]]\n"
    "        if None in parts:\n"
    "            return None\n"
    "        out = set() if n[0] == 'alt' else {0}\n"
    "        for p in parts:\n"
    "            out = out | p if n[0] == 'alt' else {a + b for a in out for b in p}\n"
    "        return out if len(out) <= 24 else None\n"
    "    def literal(n):\n" /* None: it is more than one text */
    "        if n[0] == 'set':\n"
    "            full = n[2] or ()\n"
    "            return chr(full[0]) if len(full) == 2 and full[0] == full[1] else None\n"
    "        if n[0] in ('alt', 'rep'):\n"
    "            return None\n"
    "        parts = [literal(x) for x in (n[2:] if n[0] == 'grp' else n[1:])]\n"
    "        return None if None in parts else ''.join(parts)\n"
    "    def width(n):\n"
    "        if n[0] == 'set':\n"
    "            return 1\n"
    "        if n[0] == 'grp':\n"
    "            return width(n[2])\n"
    "        if n[0] == 'rep':\n"
    "            w = width(n[3])\n"
    "            return w * n[1] if w is not None and (n[1] == n[2] or w == 0) else None\n"
    "        all_of = [width(x) for x in n[1:]]\n"
    "        if n[0] == 'alt':\n"
    "            return all_of[0] if len(set(all_of)) == 1 else None\n"
    "        return None if None in all_of else sum(all_of)\n"
    "    def place(n, left, right, out):\n"
    "        w = width(n)\n"
    "        if n[0] == 'grp':\n"
    "            if left is not None or right is not None:\n"
    "                if w is not None or (left is not None and right is not None):\n"
    "                    out[n[1]] = (left, right, w)\n"
    "            place(n[2], left, right, out)\n"
    "        elif n[0] == 'cat':\n"
    "            widths = [width(x) for x in n[1:]]\n"
    "            for i, x in enumerate(n[1:]):\n"
    "                before, after = widths[:i], widths[i + 1:]\n"
    "                place(x, None if left is None or None in before else left + sum(before),\n"
    "                      None if right is None or None in after else right + sum(after), out)\n"
    "        elif n[0] == 'rep' and n[1] == n[2] == 1:\n"
    "            place(n[3], left, right, out)\n"
    "    def hard(n, inside):\n"
    "        if n[0] == 'set':\n"
    "            return ''\n"
    "        if n[0] == 'grp':\n"
    "            return 'a group inside of a repetition' if inside else hard(n[2], inside)\n"
    "        if n[0] == 'rep':\n"
    "            if n[2] not in (0, 1) and least(n[3]) == 0:\n"
    "                return 'a repetition of what may be empty'\n"
    "            return hard(n[3], inside or n[2] not in (0, 1))\n"
    "        return next(filter(None, (hard(x, inside) for x in n[1:])), '')\n"
    "    def parts(pattern, flags):\n"
    "        tree = parser.parse(pattern, flags)\n"
    "        bits = tree.state.flags\n"
    "        if bits & ~(re.ASCII | re.DOTALL | re.VERBOSE | re.UNICODE):\n"
    "            return 'flags other than ASCII, DOTALL and VERBOSE'\n"
    "        state = {'ascii': bool(bits & re.ASCII), 'dotall': bool(bits & re.DOTALL), 'unicode': "
    "False}\n"
    "        items = list(tree)\n"
    "        alone = len(items) == 1 and items[0][0] is c.BRANCH\n"
    "        try:\n"
    "            ways = tuple(alternative(p, state) for p in (items[0][1][1] if alone else "
    "[items]))\n"
    "        except No as e:\n"
    "            return str(e)\n"
    "        count, names = tree.state.groups - 1, tuple(tree.state.groupdict.items())\n"
    "        places = {}\n"
    "        for how in ('fullmatch', 'match', 'search'):\n"
    "            out = {}\n"
    "            if not alone:\n"
    "                start, n, end = ways[0][:3]\n"
    "                full = how == 'fullmatch' or end == 'Z'\n"
    "                if how != 'search' or start:\n"
    "                    w = width(n)\n"
    "                    if full or w is not None:\n"
    "                        out[0] = (0, 0, None) if full else (0, None, w)\n"
    "                    place(n, 0, 0 if full else None, out)\n"
    "            places[how] = tuple(out.get(i) for i in range(count + 1))\n"
    "        return (ways, count, names, tuple(places[h] for h in ('fullmatch', 'match', "
    "'search')),\n"
    "                state['unicode'], next(filter(None, (hard(w[1], False) for w in ways)), ''))\n"
    "    def spans(how, pattern, text, flags):\n"
    "        m = getattr(re, how)(pattern, text, flags)\n"
    "        if m is None:\n"
    "            return None\n"
    "        count = m.re.groups\n"
    "        return ((None, count, tuple(m.re.groupindex.items()), None), tuple(m.span(i) for i in "
    "range(count + 1)))\n"
    "    def call(how, pattern, text, given):\n"
    "        flags, repl, count = given\n"
    "        if how == 'subn':\n"
    "            return re.subn(pattern, repl, text, count, flags)\n"
    "        if how == 'split':\n"
    "            return re.split(pattern, text, count, flags)\n"
    "        return re.findall(pattern, text, flags)\n"
    /* Matching cannot be interrupted: so estimate in how many ways the text may be divided. */
    "    def is_hard(pattern, text, flags):\n"
    "        repeats, ways = [0], [1]\n"
    "        def look(items, inside):\n"
    "            for op, av in items:\n"
    "                name = str(op)\n"
    "                if 'REPEAT' in name:\n"
    "                    repeats[0] += av[1] > av[0]\n"
    "                    if inside and av[1] > av[0]:\n"
    "                        ways.append(2)\n"
    "                    look(av[2], inside or av[1] > 1)\n"
    "                elif op is c.BRANCH:\n"
    "                    if inside:\n"
    "                        ways.append(len(av[1]))\n"
    "                    for one in av[1]:\n"
    "                        look(one, inside)\n"
    "                elif op is c.SUBPATTERN:\n"
    "                    look(av[-1], inside)\n"
    "                elif name in ('ASSERT', 'ASSERT_NOT'):\n"
    "                    look(av[1], inside)\n"
    "                elif name in ('GROUPREF', 'GROUPREF_EXISTS', 'ATOMIC_GROUP'):\n"
    "                    ways.append(2)\n"
    "        look(parser.parse(pattern, flags), False)\n"
    "        n = len(text)\n"
    "        return (n + 1) ** repeats[0] > 10**7 or max(ways) ** n > 10**6\n"
    "    def every(pattern, text, flags):\n"
    "        p = re.compile(pattern, flags)\n"
    "        groups = range(p.groups + 1)\n"
    "        return ((None, p.groups, tuple(p.groupindex.items()), None),\n"
    "                [tuple(m.span(i) for i in groups) for m in p.finditer(text)])\n"
    /* The parts of a replacement: texts and numbers of groups. */
    "    def template(pattern, repl, flags):\n"
    "        made = parser.parse_template(repl, re.compile(pattern, flags))\n"
    "        if type(made) is tuple:\n" /* before Python 3.12 */
    "            groups, literals = dict(made[0]), made[1]\n"
    "            made = [groups.get(i, x) for i, x in enumerate(literals)]\n"
    "        return [x for x in made if x not in ('', None)]\n"
    "    return parts, spans, call, is_hard, every, template\n"
    "(regex_parts, regex_spans, regex_call, regex_is_hard, regex_every,\n"
    " regex_template) = regex_reader()\n";

static void begin(machine *m)
{
    static bool defined;
    if (!defined && !bridge_define(m, reader))
        path_unsupported(m, 0, NULL, "regular expressions with this version of Python");
    defined = true;
}

/* -- terms ------------------------------------------------------------------------------------- */

typedef struct building {
    machine *m;
    bool ascii; /* the text is known to be ASCII */
} building;

static Z3_ast text_re(machine *m, const char *words)
{
    return Z3_mk_seq_to_re(m->solver->z, Z3_mk_string(m->solver->z, words));
}

static Z3_ast joined(machine *m, Z3_ast a, Z3_ast b)
{
    return Z3_mk_re_concat(m->solver->z, 2, (Z3_ast[]){ a, b });
}

static Z3_ast one_of(machine *m, Z3_ast a, Z3_ast b)
{
    return Z3_mk_re_union(m->solver->z, 2, (Z3_ast[]){ a, b });
}

static Z3_ast range_re(machine *m, int64_t low, int64_t high)
{
    Z3_context z = m->solver->z;
    Z3_ast from = Z3_mk_string(z, arena_print(m->arena, "\\u{%llx}", (unsigned long long)low));
    Z3_ast to = Z3_mk_string(z, arena_print(m->arena, "\\u{%llx}", (unsigned long long)high));
    return low == high ? Z3_mk_seq_to_re(z, from) : Z3_mk_re_range(z, from, to);
}

static int64_t whole_at(const value *tuple, size_t i)
{
    int64_t n = 0;
    value_whole(tuple->in.items.at[i], &n);
    return n;
}

/* NULL: the set is empty. */
static Z3_ast set_re(building *b, const value *n)
{
    machine *m = b->m;
    const value *ranges = n->in.items.at[b->ascii ? 1 : 2];
    if (ranges->kind == V_NONE)
        path_unsupported(m, 0, "use [A-Za-z0-9_], or re.ASCII", "\\w and text that is not ASCII");
    Z3_ast made = NULL;
    for (size_t i = 0; i + 1 < ranges->in.items.count; i += 2) {
        Z3_ast one = range_re(m, whole_at(ranges, i), whole_at(ranges, i + 1));
        made = made ? one_of(m, made, one) : one;
    }
    return made;
}

enum { MOST_WALKED = 8 }; /* characters of a text that is matched one by one */

static Z3_ast part_re(building *b, const value *n);

/* NULL: a part matches nothing at all. */
static Z3_ast sequence_re(building *b, const value *n, size_t from)
{
    Z3_ast made = NULL;
    for (size_t i = from; i < n->in.items.count; i++) {
        Z3_ast one = part_re(b, n->in.items.at[i]);
        if (!one)
            return NULL;
        made = made ? joined(b->m, made, one) : one;
    }
    return made ? made : text_re(b->m, "");
}

static Z3_ast repeated_re(building *b, const value *n)
{
    machine *m = b->m;
    Z3_context z = m->solver->z;
    int64_t low = whole_at(n, 1), high = whole_at(n, 2);
    Z3_ast one = part_re(b, n->in.items.at[3]), empty = text_re(m, "");
    if (!one)
        return low == 0 ? empty : NULL;
    if (high < 0 && low == 1)
        return Z3_mk_re_plus(z, one);
    Z3_ast made = high < 0 ? Z3_mk_re_star(z, one) : NULL;
    for (int64_t i = low; i < high; i++) /* from the inside: (a(a)?)? */
        made = one_of(m, empty, made ? joined(m, one, made) : one);
    for (int64_t i = 0; i < low; i++)
        made = made ? joined(m, one, made) : one;
    return made ? made : empty;
}

static Z3_ast part_re(building *b, const value *n)
{
    const value *kind = n->in.items.at[0];
    step(b->m);
    if (value_says(kind, "set"))
        return set_re(b, n);
    if (value_says(kind, "grp"))
        return part_re(b, n->in.items.at[2]);
    if (value_says(kind, "rep"))
        return repeated_re(b, n);
    if (value_says(kind, "cat"))
        return sequence_re(b, n, 1);
    Z3_ast made = NULL;
    for (size_t i = 1; i < n->in.items.count; i++) {
        Z3_ast one = part_re(b, n->in.items.at[i]);
        if (one)
            made = made ? one_of(b->m, made, one) : one;
    }
    return made;
}

static Z3_ast anything(building *b)
{
    Z3_ast one = range_re(b->m, 0, b->ascii ? 127 : 0x2ffff);
    return Z3_mk_re_star(b->m->solver->z, one);
}

/* The possible lengths of a match: they follow from the rest, but the solvers do not find them. */
static Z3_ast has_length(machine *m, Z3_ast of, const value *way, bool ends, bool newline)
{
    Z3_context z = m->solver->z;
    Z3_ast length = Z3_mk_seq_length(z, of), all = NULL;
    const values *few = &way->in.items.at[4]->in.items;
    for (size_t i = 0; ends && i < few->count; i++)
        for (int64_t more = 0; more <= newline; more++) {
            int64_t n = whole_at(way->in.items.at[4], i) + more;
            Z3_ast one = Z3_mk_eq(z, length, term_int(m, n));
            all = all ? Z3_mk_or(z, 2, (Z3_ast[]){ all, one }) : one;
        }
    Z3_ast least = term_int(m, whole_at(way, 3));
    return all ? all : Z3_mk_ge(z, length, least);
}

/* Does the text match this way? */
static Z3_ast matches(building *b, Z3_ast of, const value *way, const char *how)
{
    machine *m = b->m;
    Z3_context z = m->solver->z;
    bool full = strcmp(how, "fullmatch") == 0;
    bool searched = strcmp(how, "search") == 0 && !way->in.items.at[0]->truth;
    const value *end = way->in.items.at[2], *literal = way->in.items.at[5];
    bool newline = !full && value_says(end, "$"), ends = full || end->str.count;
    if (literal->kind == V_STR && !newline) {
        Z3_ast words = value_term(m, literal);
        return ends       ? searched ? Z3_mk_seq_suffix(z, words, of) : Z3_mk_eq(z, of, words)
                     : searched ? Z3_mk_seq_contains(z, of, words)
                          : Z3_mk_seq_prefix(z, words, of);
    }
    Z3_ast one = part_re(b, way->in.items.at[1]);
    if (!one)
        return m->solver->no;
    if (newline)
        one = joined(m, one, one_of(m, text_re(m, ""), range_re(m, '\n', '\n')));
    else if (!ends)
        one = joined(m, one, anything(b));
    if (searched)
        one = joined(m, anything(b), one);
    Z3_ast is[] = { has_length(m, of, way, ends && !searched, newline),
                    Z3_mk_seq_in_re(z, of, one) };
    return Z3_mk_and(z, 2, is);
}

/* -- calls ------------------------------------------------------------------------------------- */

static value *parts_of(machine *m, value *pattern, value *flags, int line)
{
    values given = { (value *[]){ pattern, flags }, 2, 2 };
    begin(m);
    return bridge(m, "regex_parts(a, b)", &given, line);
}

value *regex_check(machine *m, value *pattern, value *flags, int line)
{
    if (!pattern->known || flags->kind != V_INT || !value_is_concrete(m, flags))
        path_unsupported(m, line, "use a constant", "a pattern or flags that are not known");
    return parts_of(m, pattern, flags, line) ? value_none(m) : NULL;
}

static void refuse_what_is_hard(machine *m, value *pattern, value *subject, value *flags, int line)
{
    values given = { (value *[]){ pattern, subject, flags }, 3, 3 };
    const value *hard = bridge(m, "regex_is_hard(a, b, c)", &given, line);
    if (hard && hard->truth)
        path_unsupported(m, line, "use a shorter text, or no repetition inside of another",
                         "a regular expression that Python may need very long for");
}

value *regex_call(machine *m, const char *how, values *given, int line)
{
    (void)how;
    for (size_t i = 1; i < given->count; i++)
        if (!value_is_scalar(given->at[i]) || !value_is_concrete(m, given->at[i]))
            return value_none(m);
    value *rest = value_new(m, V_TUPLE);
    for (size_t i = 3; i < 6; i++)
        values_add(m, &rest->in.items, given->at[i]);
    values four = { (value *[]){ given->at[0], given->at[1], given->at[2], rest }, 4, 4 };
    begin(m);
    refuse_what_is_hard(m, given->at[1], given->at[2], given->at[3], line);
    return bridge(m, "regex_call(a, b, c, d)", &four, line);
}

static void refuse_parts(machine *m, const value *what, int line)
{
    if (what->kind == V_STR && what->str.count)
        path_unsupported(m, line, "use what is regular", "a regular expression with %s",
                         value_utf8(m, what));
}

value *regex_all(machine *m, values *given, int line)
{
    value *pattern = given->at[0], *subject = text_settled(m, given->at[1]), *flags = given->at[2];
    begin(m);
    if (subject->known) {
        refuse_what_is_hard(m, pattern, subject, flags, line);
        values three = { (value *[]){ pattern, subject, flags }, 3, 3 };
        return bridge(m, "regex_every(a, b, c)", &three, line);
    }
    const value *parts = parts_of(m, pattern, flags, line);
    if (!parts)
        return NULL;
    refuse_parts(m, parts, line);
    refuse_parts(m, parts->in.items.at[5], line);
    value *head = value_new(m, V_TUPLE), *pair = value_new(m, V_TUPLE);
    values_add(m, &head->in.items, value_none(m));
    for (size_t i = 1; i < 3; i++)
        values_add(m, &head->in.items, parts->in.items.at[i]);
    values_add(m, &head->in.items, value_none(m));
    values_add(m, &pair->in.items, head);
    values_add(m, &pair->in.items, regex_walk_all(m, parts, subject));
    return pair;
}

value *regex_template(machine *m, values *given, int line)
{
    if (!given->at[1]->known)
        path_unsupported(m, line, "use a constant",
                         "a replacement that is not known and has a backslash");
    begin(m);
    return bridge(m, "regex_template(a, b, c)", given, line);
}

/* A short text is matched character by character, which also shows where the groups are. */
static value *by_walk(machine *m, const value *parts, const value *subject, const char *how)
{
    value *spans = regex_walk_once(m, parts, subject, how);
    if (!spans)
        return value_none(m);
    value *found = value_new(m, V_TUPLE), *pair = value_new(m, V_TUPLE);
    for (size_t i = 0; i < 4; i++)
        values_add(m, &found->in.items, parts->in.items.at[i]);
    values_add(m, &pair->in.items, found);
    values_add(m, &pair->in.items, spans);
    return pair;
}

value *regex_match(machine *m, const char *how, values *given, int line)
{
    Z3_context z = m->solver->z;
    value *pattern = given->at[1], *subject = text_looked_at(m, given->at[2]);
    value *flags = given->at[3];
    given->at[2] = subject;
    begin(m);
    if (subject->known) {
        refuse_what_is_hard(m, pattern, subject, flags, line);
        return bridge(m, "regex_spans(a, b, c, d)", given, line);
    }
    value *parts = parts_of(m, pattern, flags, line);
    if (!parts)
        return NULL;
    refuse_parts(m, parts, line);
    if (parts->in.items.at[5]->str.count == 0 && text_is_short(m, subject, MOST_WALKED))
        return by_walk(m, parts, text_settled(m, subject), how);
    building b = { .m = m };
    Z3_ast plain = Z3_mk_re_star(z, range_re(m, 0, 127));
    if (parts->in.items.at[4]->truth) /* what \d is depends on it */
        b.ascii = path_decide(m, Z3_mk_seq_in_re(z, subject->term, plain), true);
    const values *ways = &parts->in.items.at[0]->in.items;
    Z3_ast any = m->solver->no;
    for (size_t i = 0; i < ways->count; i++)
        any = Z3_mk_or(z, 2, (Z3_ast[]){ any, matches(&b, subject->term, ways->at[i], how) });
    if (!path_decide(m, any, true))
        return value_none(m);
    value *found = value_new(m, V_TUPLE), *pair = value_new(m, V_TUPLE);
    for (size_t i = 0; i < 3; i++)
        values_add(m, &found->in.items, parts->in.items.at[i]);
    size_t at = strcmp(how, "fullmatch") == 0 ? 0 : strcmp(how, "match") == 0 ? 1 : 2;
    values_add(m, &found->in.items, parts->in.items.at[3]->in.items.at[at]);
    values_add(m, &pair->in.items, found);
    values_add(m, &pair->in.items, value_none(m));
    return pair;
}
