/* Conditions on strings as conditions on ints, and the strings of a model: see letters.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/letters_inner.h"

/* -- a table of what was said before -------------------------------------------------------------
 */

static memo *memo_of(solver *s, Z3_ast term)
{
    struct letters *l = s->letters;
    if (2 * (l->memo_count + 1) > l->memo_room) {
        size_t room = l->memo_room ? 2 * l->memo_room : 1024;
        memo *more = calloc(room, sizeof *more);
        if (!more)
            return NULL;
        for (size_t i = 0; i < l->memo_room; i++) {
            if (!l->memos[i].of)
                continue;
            size_t at = Z3_get_ast_id(s->z, l->memos[i].of) * 2654435761u & (room - 1);
            while (more[at].of)
                at = (at + 1) & (room - 1);
            more[at] = l->memos[i];
        }
        free(l->memos);
        l->memos = more;
        l->memo_room = room;
    }
    size_t at = Z3_get_ast_id(s->z, term) * 2654435761u & (l->memo_room - 1);
    while (l->memos[at].of && l->memos[at].of != term)
        at = (at + 1) & (l->memo_room - 1);
    return &l->memos[at];
}

/* -- terms ---------------------------------------------------------------------------------------
 */

static bool is_app(solver *s, Z3_ast term)
{
    Z3_ast_kind kind = Z3_get_ast_kind(s->z, term);
    return kind == Z3_APP_AST;
}

static Z3_decl_kind kind_of(solver *s, Z3_ast term)
{
    return is_app(s, term) ? Z3_get_decl_kind(s->z, Z3_get_app_decl(s->z, Z3_to_app(s->z, term)))
                           : Z3_OP_INTERNAL;
}

static Z3_ast part(solver *s, Z3_ast term, unsigned at)
{
    return Z3_get_app_arg(s->z, Z3_to_app(s->z, term), at);
}

static unsigned parts(solver *s, Z3_ast term)
{
    return Z3_get_app_num_args(s->z, Z3_to_app(s->z, term));
}

/* Is it a string, or an array of strings? */
static bool is_string(solver *s, Z3_ast term)
{
    Z3_sort sort = Z3_get_sort(s->z, term);
    if (Z3_get_sort_kind(s->z, sort) == Z3_ARRAY_SORT)
        sort = Z3_get_array_sort_range(s->z, sort);
    return Z3_is_string_sort(s->z, sort);
}

static Z3_ast whole(solver *s, int64_t number)
{
    return Z3_mk_int64(s->z, number, s->ints);
}

static bool is_place(solver *s, Z3_ast term, int64_t *place)
{
    return Z3_is_numeral_ast(s->z, term) && Z3_get_numeral_int64(s->z, term, place) &&
           *place >= 0 && *place < MOST_PLACES;
}

/* -- unknown strings -----------------------------------------------------------------------------
 */

static bool is_unknown(solver *s, Z3_ast term)
{
    return kind_of(s, term) == Z3_OP_UNINTERPRETED && parts(s, term) == 0;
}

/* The array of an item; NULL: it is no item at a known place. */
static Z3_ast array_of(solver *s, Z3_ast term)
{
    bool item = kind_of(s, term) == Z3_OP_SELECT && is_unknown(s, part(s, term, 0)) &&
                Z3_is_numeral_ast(s->z, part(s, term, 1));
    return item ? part(s, term, 0) : NULL;
}

static base *base_of(solver *s, Z3_ast term)
{
    struct letters *l = s->letters;
    if (!is_unknown(s, term) && !array_of(s, term))
        return NULL;
    for (size_t i = 0; i < l->base_count; i++)
        if (l->bases[i]->term == term)
            return l->bases[i];
    if (l->base_count == l->base_room) {
        size_t room = 2 * l->base_room + 8;
        base **more = realloc(l->bases, room * sizeof *more);
        if (!more)
            return NULL;
        l->bases = more;
        l->base_room = room;
    }
    base *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->term = term;
    made->length = Z3_mk_fresh_const(s->z, "length", s->ints);
    l->axioms++;
    return l->bases[l->base_count++] = made;
}

static Z3_ast code_at(solver *s, base *b, int64_t place)
{
    if (!b->codes[place]) {
        b->codes[place] = Z3_mk_fresh_const(s->z, "letter", s->ints);
        s->letters->axioms++;
    }
    return b->codes[place];
}

void letters_explain(solver *s, const base *b)
{
    Z3_context z = s->z;
    Z3_solver_assert(z, s->letters->s, Z3_mk_ge(z, b->length, s->zero));
    for (int64_t place = 0; place < MOST_PLACES; place++) {
        Z3_ast c = b->codes[place];
        if (!c)
            continue;
        Z3_ast within[] = { Z3_mk_ge(z, c, s->zero),
                            Z3_mk_le(z, c, whole(s, b->latin ? LAST_LATIN : LAST_LETTER)) };
        Z3_solver_assert(z, s->letters->s,
                         Z3_mk_ite(z, Z3_mk_lt(z, whole(s, place), b->length),
                                   Z3_mk_and(z, 2, within), Z3_mk_eq(z, c, whole(s, -1))));
    }
}

/* -- strings that are compared -------------------------------------------------------------------
 */

/* A string as its length and its letters: a constant, an unknown string, or a character of one. */
typedef struct shape {
    base *of;       /* an unknown string */
    Z3_ast letter;  /* a character of one, which is -1 if there is none */
    uint32_t *text; /* a constant */
    size_t count;
} shape;

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Z3 writes characters beyond plain ASCII as \u{e9}, and a \ unchanged: so only the length of the
 * string shows whether such a sequence is one character. NULL: not even that. */
static uint32_t *unescape(const char *from, size_t length, size_t *count)
{
    size_t room = strlen(from) + 1;
    uint32_t *made = malloc(room * sizeof *made);
    *count = 0;
    bool plain = length == room - 1; /* nothing was written in another way */
    while (made && *from) {
        uint32_t code = (unsigned char)*from;
        size_t used = 1;
        if (!plain && from[0] == '\\' && from[1] == 'u' && from[2] == '{' && hex(from[3]) >= 0) {
            code = 0;
            for (used = 3; used < 9 && hex(from[used]) >= 0; used++)
                code = code * 16 + (uint32_t)hex(from[used]);
            used++;
            if (from[used - 1] != '}')
                break;
        }
        made[(*count)++] = code;
        from += used;
    }
    if (*count == length && !*from)
        return made;
    free(made);
    return NULL;
}

static uint32_t *constant_of(solver *s, Z3_ast string, size_t *count)
{
    Z3_ast length = Z3_simplify(s->z, Z3_mk_seq_length(s->z, string));
    int64_t number;
    if (!Z3_is_numeral_ast(s->z, length) || !Z3_get_numeral_int64(s->z, length, &number))
        return NULL;
    return unescape(Z3_get_string(s->z, string), (size_t)number, count);
}

static bool shape_of(solver *s, Z3_ast term, shape *out)
{
    int64_t place;
    *out = (shape){ 0 };
    if (Z3_is_string(s->z, term))
        return (out->text = constant_of(s, term, &out->count)) != NULL;
    if (kind_of(s, term) == Z3_OP_SEQ_AT && is_place(s, part(s, term, 1), &place)) {
        base *b = base_of(s, part(s, term, 0));
        out->letter = b ? code_at(s, b, place) : NULL;
        return b != NULL;
    }
    out->of = base_of(s, term);
    return out->of != NULL;
}

static Z3_ast begins_with(solver *s, base *b, const shape *text, bool ends)
{
    Z3_ast *all = text->count < MOST_PLACES ? malloc((text->count + 1) * sizeof *all) : NULL;
    if (!all)
        return NULL;
    Z3_ast count = whole(s, (int64_t)text->count);
    all[0] = ends ? Z3_mk_eq(s->z, b->length, count) : Z3_mk_ge(s->z, b->length, count);
    for (size_t i = 0; i < text->count; i++)
        all[i + 1] = Z3_mk_eq(s->z, code_at(s, b, (int64_t)i), whole(s, text->text[i]));
    Z3_ast made = Z3_mk_and(s->z, (unsigned)text->count + 1, all);
    free(all);
    return made;
}

static Z3_ast letter_is(solver *s, Z3_ast letter, const shape *text)
{
    return text->count > 1    ? s->no
           : text->count == 0 ? Z3_mk_eq(s->z, letter, whole(s, -1))
                              : Z3_mk_eq(s->z, letter, whole(s, text->text[0]));
}

static Z3_ast equal_shapes(solver *s, const shape *a, const shape *b)
{
    if (a->text && b->letter)
        return letter_is(s, b->letter, a);
    if (b->text && a->letter)
        return letter_is(s, a->letter, b);
    if (a->letter && b->letter)
        return Z3_mk_eq(s->z, a->letter, b->letter);
    if (a->of && b->text)
        return begins_with(s, a->of, b, true);
    if (b->of && a->text)
        return begins_with(s, b->of, a, true);
    return a->of && a->of == b->of ? s->yes : NULL;
}

static Z3_ast rewrite(solver *s, Z3_ast term, int depth);

/* l == r of strings; NULL: it cannot be said. */
static Z3_ast equal_strings(solver *s, Z3_ast l, Z3_ast r, int depth)
{
    Z3_context z = s->z;
    for (int i = 0; i < 2; i++) {
        Z3_ast choice = i ? r : l, other = i ? l : r;
        if (kind_of(s, choice) != Z3_OP_ITE || depth > MOST_DEPTH)
            continue;
        Z3_ast test = rewrite(s, part(s, choice, 0), depth + 1);
        Z3_ast yes = test ? equal_strings(s, part(s, choice, 1), other, depth + 1) : NULL;
        Z3_ast no = yes ? equal_strings(s, part(s, choice, 2), other, depth + 1) : NULL;
        return no ? Z3_mk_ite(z, test, yes, no) : NULL;
    }
    shape a, b = { 0 };
    Z3_ast made = shape_of(s, l, &a) && shape_of(s, r, &b) ? equal_shapes(s, &a, &b) : NULL;
    free(a.text);
    free(b.text);
    return made;
}

static Z3_ast prefix_of(solver *s, Z3_ast l, Z3_ast r)
{
    shape a, b = { 0 };
    Z3_ast made = NULL;
    if (shape_of(s, l, &a) && shape_of(s, r, &b) && a.text && b.of)
        made = begins_with(s, b.of, &a, false);
    free(a.text);
    free(b.text);
    return made;
}

/* The characters that were used so far are printable; a model has an "a" for each other one. */
static Z3_ast printable(solver *s, Z3_ast string)
{
    base *b = base_of(s, string);
    Z3_ast made = b ? s->yes : NULL;
    for (int64_t place = 0; b && place < MOST_PLACES; place++) {
        Z3_ast c = b->codes[place];
        if (c)
            made = Z3_mk_and(s->z, 3,
                             (Z3_ast[]){ made,
                                         Z3_mk_or(s->z, 2,
                                                  (Z3_ast[]){ Z3_mk_ge(s->z, c, whole(s, ' ')),
                                                              Z3_mk_lt(s->z, c, s->zero) }),
                                         Z3_mk_le(s->z, c, whole(s, '~')) });
    }
    return made;
}

/* A condition on the string itself, and so on each of its characters, whenever they are used. */
static Z3_ast latin(solver *s, Z3_ast string)
{
    base *b = base_of(s, string);
    if (b && !b->latin) {
        b->latin = true;
        s->letters->axioms++;
    }
    return b ? s->yes : NULL;
}

static Z3_ast length_of(solver *s, Z3_ast of, int depth)
{
    shape a;
    if (kind_of(s, of) == Z3_OP_ITE && depth <= MOST_DEPTH) {
        Z3_ast test = rewrite(s, part(s, of, 0), depth + 1);
        Z3_ast yes = test ? length_of(s, part(s, of, 1), depth + 1) : NULL;
        Z3_ast no = yes ? length_of(s, part(s, of, 2), depth + 1) : NULL;
        return no ? Z3_mk_ite(s->z, test, yes, no) : NULL;
    }
    Z3_ast made = NULL;
    if (shape_of(s, of, &a))
        made = a.text     ? whole(s, (int64_t)a.count)
               : a.letter ? Z3_mk_ite(s->z, Z3_mk_lt(s->z, a.letter, s->zero), s->zero, s->one)
                          : a.of->length;
    free(a.text);
    return made;
}

/* -- conditions ----------------------------------------------------------------------------------
 */

static Z3_ast rewrite_parts(solver *s, Z3_ast term, int depth)
{
    enum { FEW = 16 };
    unsigned count = parts(s, term);
    Z3_ast few[FEW], *all = count <= FEW ? few : malloc(count * sizeof *all), made = NULL;
    bool changed = false;
    for (unsigned i = 0; all && i < count; i++) {
        all[i] = rewrite(s, part(s, term, i), depth + 1);
        if (!all[i])
            goto done;
        changed |= all[i] != part(s, term, i);
    }
    if (all)
        made = changed ? Z3_mk_app(s->z, Z3_get_app_decl(s->z, Z3_to_app(s->z, term)), count, all)
                       : term;
done:
    if (all != few)
        free(all);
    return made;
}

static Z3_ast rewrite_app(solver *s, Z3_ast term, int depth)
{
    Z3_func_decl decl = Z3_get_app_decl(s->z, Z3_to_app(s->z, term));
    if (decl == s->to_code) {
        shape a;
        Z3_ast made = shape_of(s, part(s, term, 0), &a) ? a.letter : NULL;
        free(a.text);
        return made;
    }
    Z3_decl_kind kind = Z3_get_decl_kind(s->z, decl);
    if (kind == Z3_OP_SEQ_LENGTH)
        return length_of(s, part(s, term, 0), depth);
    if (kind == Z3_OP_EQ && is_string(s, part(s, term, 0)))
        return equal_strings(s, part(s, term, 0), part(s, term, 1), depth);
    if (kind == Z3_OP_SEQ_IN_RE && part(s, term, 1) == s->printable)
        return printable(s, part(s, term, 0));
    if (kind == Z3_OP_SEQ_IN_RE && part(s, term, 1) == s->latin)
        return latin(s, part(s, term, 0));
    if (kind == Z3_OP_SEQ_PREFIX)
        return prefix_of(s, part(s, term, 0), part(s, term, 1));
    return is_string(s, term) ? NULL : rewrite_parts(s, term, depth);
}

static Z3_ast rewrite(solver *s, Z3_ast term, int depth)
{
    if (depth > MOST_DEPTH)
        return NULL;
    if (!is_app(s, term))
        return Z3_get_ast_kind(s->z, term) == Z3_NUMERAL_AST ? term : NULL;
    memo *before = memo_of(s, term);
    if (!before)
        return NULL;
    if (before->of)
        return before->made;
    Z3_ast made = rewrite_app(s, term, depth);
    before = memo_of(s, term); /* the table may have grown */
    if (before) {
        s->letters->memo_count++;
        *before = (memo){ term, made };
    }
    return made;
}

Z3_ast letters_rewrite(solver *s, Z3_ast condition)
{
    return rewrite(s, condition, 0);
}

/* -- models --------------------------------------------------------------------------------------
 */

static bool number_in(solver *s, Z3_model model, Z3_ast term, int64_t *number)
{
    Z3_ast found = NULL;
    return Z3_model_eval(s->z, model, term, true, &found) && found &&
           Z3_get_numeral_int64(s->z, found, number);
}

/* The string that the ints of a model make; NULL: it is too long. */
static Z3_ast string_in(solver *s, Z3_model model, const base *b)
{
    int64_t length, code;
    if (!number_in(s, model, b->length, &length) || length > MOST_LENGTH)
        return NULL;
    char *words = malloc((size_t)length * 10 + 1), *to = words;
    for (int64_t place = 0; words && place < length; place++) {
        Z3_ast c = place < MOST_PLACES ? b->codes[place] : NULL;
        if (!c || !number_in(s, model, c, &code) || code < 0)
            code = 'a';
        to += snprintf(to, 11, "\\u{%x}", (unsigned)code);
    }
    if (!words)
        return NULL;
    *to = 0;
    Z3_ast made = Z3_mk_string(s->z, words);
    free(words);
    return made;
}

/* An array with its strings; those of other places are empty. */
static Z3_ast array_in(solver *s, Z3_model model, Z3_ast array)
{
    Z3_ast made = Z3_mk_const_array(s->z, s->ints, Z3_mk_string(s->z, ""));
    for (size_t i = 0; made && i < s->letters->base_count; i++) {
        const base *b = s->letters->bases[i];
        Z3_ast string = array_of(s, b->term) == array ? string_in(s, model, b) : NULL;
        if (array_of(s, b->term) == array)
            made = string ? Z3_mk_store(s->z, made, part(s, b->term, 1), string) : NULL;
    }
    return made;
}

bool letters_add_strings(solver *s, Z3_model model)
{
    for (size_t i = 0; i < s->letters->base_count; i++) {
        const base *b = s->letters->bases[i];
        Z3_ast array = array_of(s, b->term), of = array ? array : b->term;
        Z3_ast found = array ? array_in(s, model, array) : string_in(s, model, b);
        if (!found)
            return false;
        Z3_add_const_interp(s->z, model, Z3_get_app_decl(s->z, Z3_to_app(s->z, of)), found);
    }
    return true;
}
