/* Questions about strings as questions about ints: see letters.h. */
#include <stdlib.h>

#include "solver/letters_inner.h"

/* -- str.to_code, which has no function of its own in Z3's interface -----------------------------
 */

void letters_open(solver *s)
{
    static const char words[] = "(declare-const s String)(declare-const i Int)"
                                "(assert (= (str.to_code s) i))(assert (= (str.from_code i) s))";
    Z3_ast_vector both = Z3_parse_smtlib2_string(s->z, words, 0, NULL, NULL, 0, NULL, NULL);
    s->to_code = s->from_code = NULL;
    s->printable = Z3_mk_re_star(
        s->z, Z3_mk_re_range(s->z, Z3_mk_string(s->z, " "), Z3_mk_string(s->z, "~")));
    s->latin = Z3_mk_re_star(
        s->z, Z3_mk_re_range(s->z, Z3_mk_string(s->z, "\\u{0}"), Z3_mk_string(s->z, "\\u{ff}")));
    if (!both)
        return;
    Z3_ast_vector_inc_ref(s->z, both);
    for (unsigned i = 0; i < Z3_ast_vector_size(s->z, both) && i < 2; i++) {
        Z3_app equation = Z3_to_app(s->z, Z3_ast_vector_get(s->z, both, i));
        Z3_app left = Z3_to_app(s->z, Z3_get_app_arg(s->z, equation, 0));
        Z3_func_decl decl = Z3_get_app_decl(s->z, left);
        Z3_inc_ref(s->z, Z3_func_decl_to_ast(s->z, decl));
        *(i == 0 ? &s->to_code : &s->from_code) = decl;
    }
    Z3_ast_vector_dec_ref(s->z, both);
}

Z3_ast solver_code(solver *s, Z3_ast character)
{
    return Z3_mk_app(s->z, s->to_code, 1, &character);
}

Z3_ast solver_letter(solver *s, Z3_ast code)
{
    return Z3_mk_app(s->z, s->from_code, 1, &code);
}

Z3_ast solver_is_latin(solver *s, Z3_ast string)
{
    return Z3_mk_seq_in_re(s->z, string, s->latin);
}

Z3_ast solver_wish_printable(solver *s, Z3_ast string)
{
    return Z3_mk_seq_in_re(s->z, string, s->printable);
}

/* -- what is told --------------------------------------------------------------------------------
 */

void letters_begin(solver *s, Z3_solver of)
{
    s->letters = calloc(1, sizeof *s->letters);
    if (!s->letters)
        return;
    Z3_solver_inc_ref(s->z, of);
    s->letters->s = of;
}

void letters_end(solver *s)
{
    struct letters *l = s->letters;
    if (!l)
        return;
    Z3_solver_dec_ref(s->z, l->s);
    for (size_t i = 0; i < l->base_count; i++)
        free(l->bases[i]);
    free(l->bases);
    free(l->memos);
    free(l->told);
    free(l);
    s->letters = NULL;
}

void letters_tell(solver *s, Z3_ast condition)
{
    struct letters *l = s->letters;
    if (!l || l->broken)
        return;
    if (l->count == l->room) {
        size_t room = 2 * l->room + 64;
        told *more = realloc(l->told, room * sizeof *more);
        if (!more) {
            l->broken = true;
            return;
        }
        l->told = more;
        l->room = room;
    }
    l->told[l->count++] = (told){ .condition = condition, .scope = s->scopes };
}

void letters_pop_to(solver *s, unsigned scopes)
{
    struct letters *l = s->letters;
    if (!l)
        return;
    while (l->count > 0 && l->told[l->count - 1].scope > scopes) {
        l->count--;
        if (l->at > l->count) {
            l->at = l->count;
            l->left_out -= !l->told[l->at].plain;
        }
    }
    if (l->scopes > scopes) {
        Z3_solver_pop(s->z, l->s, l->scopes - scopes);
        l->scopes = scopes;
    }
}

/* A new int has to be defined before everything else. */
static void tell_all_axioms(solver *s)
{
    struct letters *l = s->letters;
    if (l->axioms_told == l->axioms)
        return;
    if (l->scopes)
        Z3_solver_pop(s->z, l->s, l->scopes);
    Z3_solver_reset(s->z, l->s);
    l->scopes = 0;
    l->at = l->left_out = 0;
    for (size_t i = 0; i < l->base_count; i++)
        letters_explain(s, l->bases[i]);
    l->axioms_told = l->axioms;
}

static void catch_up(solver *s)
{
    struct letters *l = s->letters;
    for (size_t i = 0; i < l->count; i++)
        if (!l->told[i].looked) {
            l->told[i].plain = letters_rewrite(s, l->told[i].condition);
            l->told[i].looked = true;
        }
    tell_all_axioms(s);
    for (; l->at < l->count; l->at++) {
        const told *next = &l->told[l->at];
        for (; l->scopes < next->scope; l->scopes++)
            Z3_solver_push(s->z, l->s);
        if (next->plain)
            Z3_solver_assert(s->z, l->s, next->plain);
        else
            l->left_out++;
    }
}

answer letters_check(solver *s, Z3_ast condition, Z3_model *model, letters_ask *ask)
{
    struct letters *l = s->letters;
    if (!l || l->broken || !s->to_code || !s->from_code)
        return ANSWER_UNKNOWN;
    Z3_ast plain = letters_rewrite(s, condition);
    if (!plain)
        return ANSWER_UNKNOWN;
    catch_up(s);
    Z3_model found = NULL;
    Z3_solver_push(s->z, l->s);
    Z3_solver_assert(s->z, l->s, plain);
    answer said = ask(s, l->s, model ? &found : NULL);
    Z3_solver_pop(s->z, l->s, 1);
    if (said == ANSWER_SAT &&
        (l->left_out || (model && (!found || !letters_add_strings(s, found)))))
        said = ANSWER_UNKNOWN;
    if (said == ANSWER_SAT && model)
        *model = found;
    else
        solver_drop(s, found);
    return said;
}
