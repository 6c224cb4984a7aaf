/*
 * repr() and ascii() of strs that are not known. Most of them end in a message whose text is never
 * examined, so nothing is decided when they are made: such a str is pending, and so is a sum that
 * has one in it. Where its characters are asked for, the path forks on how wide each of them is
 * written.
 *
 * The term of a pending str is a guess (path_guess()): what asks for it without its characters gets
 * a proof that holds for any text.
 */
#include "theories/theories.h"
#include "machine/terms.h"

enum { LAST_BYTE = 0xff, LAST_SHORT = 0xffff, MOST_WIDTH = 10 };

static const char rewrite[] = "allow ASCII characters only, as in s.isascii()";

static Z3_ast is_code(machine *m, Z3_ast code, int64_t c)
{
    return Z3_mk_eq(m->solver->z, code, term_int(m, c));
}

static Z3_ast is_at_most(machine *m, Z3_ast code, int64_t c)
{
    return Z3_mk_le(m->solver->z, code, term_int(m, c));
}

/* -- one character ------------------------------------------------------------------------------
 */

typedef struct quoting {
    machine *m;
    bool ascii;
    Z3_ast singles, doubles; /* has the str a ' or a "? */
    Z3_ast *out;
    size_t used;
} quoting;

/* True if it is written unchanged. A ' is, unless the quotes are ' because the str contains a ",
 * too. */
static Z3_ast is_plain(const quoting *q, Z3_ast code)
{
    machine *m = q->m;
    Z3_context z = m->solver->z;
    Z3_ast ascii[] = { Z3_mk_ge(z, code, term_int(m, ' ')), is_at_most(m, code, '~') };
    Z3_ast all[] = { q->ascii ? Z3_mk_and(z, 2, ascii) : letter_is(m, code, "isprintable"),
                     Z3_mk_not(z, is_code(m, code, '\\')),
                     Z3_mk_not(z, term_and(m, is_code(m, code, '\''), q->doubles)) };
    return solver_simplify(m->solver, Z3_mk_and(z, 3, all));
}

/* \x, \u or \U and so many digits. */
static void add_digits(quoting *q, Z3_ast code, char letter, size_t count)
{
    machine *m = q->m;
    Z3_context z = m->solver->z;
    Z3_ast digits[MOST_WIDTH];
    letters_digits(m, code, 16, count, digits);
    q->out[q->used++] = term_int(m, '\\');
    q->out[q->used++] = term_int(m, letter);
    for (size_t i = 0; i < count; i++) {
        Z3_ast few = Z3_mk_lt(z, digits[i], term_int(m, 10));
        Z3_ast plain = Z3_mk_add(z, 2, (Z3_ast[]){ digits[i], term_int(m, '0') });
        Z3_ast more = Z3_mk_add(z, 2, (Z3_ast[]){ digits[i], term_int(m, 'a' - 10) });
        q->out[q->used++] = Z3_mk_ite(z, few, plain, more);
    }
}

static void add_by_number(quoting *q, Z3_ast code)
{
    machine *m = q->m;
    if (path_decide(m, is_at_most(m, code, LAST_BYTE), true)) {
        add_digits(q, code, 'x', 2);
    } else if (path_decide(m, is_at_most(m, code, LAST_SHORT), true)) {
        add_digits(q, code, 'u', 4);
    } else {
        const value *ord = text_ord(m, value_letters(m, &code, 1), m->line);
        add_digits(q, value_term(m, ord), 'U', 8);
    }
}

static void add_character(quoting *q, Z3_ast code)
{
    static const struct {
        char c, letter;
    } named[] = { { '\t', 't' }, { '\n', 'n' }, { '\r', 'r' }, { '\\', '\\' } };
    enum { NAMED = sizeof named / sizeof *named };
    machine *m = q->m;
    Z3_context z = m->solver->z;
    if (path_decide(m, is_plain(q, code), true)) {
        q->out[q->used++] = code;
        return;
    }
    Z3_ast has_letter[NAMED + 1], letter = term_int(m, '\'');
    has_letter[NAMED] = is_code(m, code, '\''); /* it is not plain */
    for (size_t i = 0; i < NAMED; i++) {
        has_letter[i] = is_code(m, code, named[i].c);
        letter = Z3_mk_ite(z, has_letter[i], term_int(m, named[i].letter), letter);
    }
    if (path_decide(m, Z3_mk_or(z, NAMED + 1, has_letter), true)) {
        q->out[q->used++] = term_int(m, '\\');
        q->out[q->used++] = letter;
    } else {
        add_by_number(q, code);
    }
}

/* -- a str ---------------------------------------------------------------------------------------
 */

static value *quoted(machine *m, value *of, bool ascii)
{
    Z3_context z = m->solver->z;
    const value *settled = text_settled(m, of);
    size_t count = settled->str.count;
    const Z3_ast *codes = value_codes(m, settled);
    quoting q = { m, ascii, m->solver->no, m->solver->no, NULL, 0 };
    q.out = arena_take(m->arena, (count * MOST_WIDTH + 2) * sizeof *q.out);
    for (size_t i = 0; i < count; i++) {
        Z3_ast one[] = { q.singles, is_code(m, codes[i], '\'') };
        Z3_ast two[] = { q.doubles, is_code(m, codes[i], '"') };
        q.singles = Z3_mk_or(z, 2, one);
        q.doubles = Z3_mk_or(z, 2, two);
    }
    Z3_ast all_plain = m->solver->yes;
    for (size_t i = 0; i < count; i++)
        all_plain = term_and(m, all_plain, is_plain(&q, codes[i]));
    bool plain = path_decide(m, all_plain, true);
    Z3_ast quote = Z3_mk_ite(z, term_and(m, q.singles, Z3_mk_not(z, q.doubles)), term_int(m, '"'),
                             term_int(m, '\''));
    q.out[q.used++] = quote;
    for (size_t i = 0; i < count; i++) {
        if (plain)
            q.out[q.used++] = codes[i];
        else
            add_character(&q, codes[i]);
    }
    q.out[q.used++] = quote;
    return value_letters(m, q.out, q.used);
}

/* -- strs that were not needed so far ---------------------------------------------------------- */

bool text_is_pending(const value *v)
{
    return v->kind == V_STR && !v->known && !v->str.codes && v->str.left;
}

value *text_quoted(machine *m, value *of, bool ascii)
{
    const char *what = ascii ? "ascii() of a str that is not known"
                             : "repr() of a str that is not known";
    value *made = value_of_str(
        m, path_guess(m, m->solver->strings_sort, what, rewrite, value_term(m, of), NULL));
    made->str.left = of;
    made->str.ascii = ascii;
    return made;
}

value *text_pending_sum(machine *m, value *l, value *r)
{
    Z3_ast both[] = { value_term(m, l), value_term(m, r) };
    value *made = value_of_str(m, Z3_mk_seq_concat(m->solver->z, 2, both));
    made->str.left = l;
    made->str.right = r;
    return made;
}

/* The strs of a sum, from left to right; a sum of many strs may be deep. */
static values parts_of(machine *m, value *of)
{
    values left = { 0 }, parts = { 0 };
    values_add(m, &left, of);
    while (left.count) {
        value *v = left.at[--left.count];
        if (text_is_pending(v) && v->str.right) {
            values_add(m, &left, v->str.right);
            values_add(m, &left, v->str.left);
        } else {
            values_add(m, &parts, v);
        }
    }
    return parts;
}

value *text_pending_settled(machine *m, value *of)
{
    values parts = parts_of(m, of);
    size_t count = 0, used = 0;
    for (size_t i = 0; i < parts.count; i++) {
        value *v = parts.at[i];
        parts.at[i] = text_is_pending(v) ? quoted(m, v->str.left, v->str.ascii)
                                         : text_settled(m, v);
        count += parts.at[i]->str.count;
        if (count > MOST_ITEMS)
            path_bound(m, "the size of a str");
    }
    Z3_ast *codes = arena_take(m->arena, (count + 1) * sizeof *codes);
    for (size_t i = 0; i < parts.count; i++) {
        const Z3_ast *from = value_codes(m, parts.at[i]);
        for (size_t j = 0; j < parts.at[i]->str.count; j++)
            codes[used++] = from[j];
    }
    value *made = value_letters(m, codes, count);
    if (m->path.speculating) /* it may hold on one side of a condition only */
        return made;
    of->known = made->known;
    of->str = made->str;
    of->term = made->term;
    return of;
}

value *text_looked_at(machine *m, value *v)
{
    return text_is_pending(v) ? text_settled(m, v) : v;
}

/* -- ascii() of anything ------------------------------------------------------------------------
 */

value *text_ascii(machine *m, value *v, int line)
{
    if (v->kind == V_STR && !v->known)
        return text_quoted(m, v, true);
    value *made = text_of(m, v, true, line);
    if (!made || value_is_number(v)) /* that is ASCII */
        return made;
    made = text_settled(m, made);
    if (made->known) {
        values given = { &made, 1, 1 };
        return bridge(m, "a.encode('ascii', 'backslashreplace').decode('ascii')", &given, line);
    }
    const Z3_ast *codes = value_codes(m, made);
    quoting q = { .m = m, .ascii = true };
    q.out = arena_take(m->arena, (made->str.count * MOST_WIDTH + 1) * sizeof *q.out);
    for (size_t i = 0; i < made->str.count; i++) {
        if (path_decide(m, is_at_most(m, codes[i], 127), true))
            q.out[q.used++] = codes[i];
        else
            add_by_number(&q, codes[i]);
    }
    return value_letters(m, q.out, q.used);
}
