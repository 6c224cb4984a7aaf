/* The condition of a path in Python's syntax, from the terms on its trail. */
#include <math.h>
#include <string.h>

#include "explore/explore.h"

enum { MOST_WORDS = 2000, MOST_DEPTH = 40 };

typedef struct writing {
    machine *m;
    Z3_context z;
    text *out;
    bool failed; /* a term cannot be written in Python */
    bool bytes;  /* its strings are bytes */
    int depth;
} writing;

static void write_term(writing *w, Z3_ast term, int outer);

/* How strongly operators bind: those of a lower number need parentheses inside of a higher one. */
enum { IN_TERNARY = 1, IN_OR, IN_AND, IN_NOT, IN_COMPARE, IN_SUM, IN_PRODUCT, IN_UNARY, IN_ATOM };

static void open_if(writing *w, int outer, int own, const char *sign)
{
    if (outer > own)
        text_say(w->out, sign);
}

static void infix(writing *w, Z3_app app, const char *sign, int own, int outer, unsigned from)
{
    unsigned count = Z3_get_app_num_args(w->z, app);
    open_if(w, outer, own, "(");
    for (unsigned i = from; i < count; i++) {
        if (i > from)
            text_say(w->out, sign);
        write_term(w, Z3_get_app_arg(w->z, app, i), own + (own >= IN_COMPARE || i > from));
    }
    open_if(w, outer, own, ")");
}

static void function(writing *w, Z3_app app, const char *before, const char *between,
                     const char *after)
{
    text_say(w->out, before);
    write_term(w, Z3_get_app_arg(w->z, app, 0), between ? IN_ATOM : 0);
    if (between) {
        text_say(w->out, between);
        write_term(w, Z3_get_app_arg(w->z, app, 1), 0);
    }
    text_say(w->out, after);
}

static void write_known(writing *w, Z3_ast term, value_kind kind)
{
    value *v = value_of(w->m, kind, term);
    if (kind == V_STR && w->bytes)
        v = value_bytes(w->m, v);
    if (!value_is_concrete(w->m, v) || !input_write(w->m, v, w->out))
        w->failed = true;
}

static void write_negated(writing *w, Z3_ast inner, int outer)
{
    static const struct {
        Z3_decl_kind kind;
        const char *sign;
    } opposites[] = { { Z3_OP_EQ, " != " },
                      { Z3_OP_LE, " > " },
                      { Z3_OP_GE, " < " },
                      { Z3_OP_LT, " >= " },
                      { Z3_OP_GT, " <= " } };
    if (Z3_get_ast_kind(w->z, inner) == Z3_APP_AST) {
        Z3_app app = Z3_to_app(w->z, inner);
        Z3_decl_kind kind = Z3_get_decl_kind(w->z, Z3_get_app_decl(w->z, app));
        if (kind == Z3_OP_NOT) {
            write_term(w, Z3_get_app_arg(w->z, app, 0), outer);
            return;
        }
        for (size_t i = 0; i < sizeof opposites / sizeof *opposites; i++)
            if (opposites[i].kind == kind) {
                infix(w, app, opposites[i].sign, IN_COMPARE, outer, 0);
                return;
            }
    }
    open_if(w, outer, IN_NOT, "(");
    text_say(w->out, "not ");
    write_term(w, inner, IN_NOT + 1);
    open_if(w, outer, IN_NOT, ")");
}

static void write_choice(writing *w, Z3_app app, int outer)
{
    open_if(w, outer, IN_TERNARY, "(");
    write_term(w, Z3_get_app_arg(w->z, app, 1), IN_TERNARY + 1);
    text_say(w->out, " if ");
    write_term(w, Z3_get_app_arg(w->z, app, 0), IN_TERNARY + 1);
    text_say(w->out, " else ");
    write_term(w, Z3_get_app_arg(w->z, app, 2), IN_TERNARY);
    open_if(w, outer, IN_TERNARY, ")");
}

/* Terms that are written as an operator between operands. Terms of floats have a rounding mode
 * before the operands. */
static const struct {
    Z3_decl_kind kind;
    const char *sign;
    int binds;
    unsigned from;
} operators[] = {
    { Z3_OP_EQ, " == ", IN_COMPARE, 0 },
    { Z3_OP_IFF, " == ", IN_COMPARE, 0 },
    { Z3_OP_FPA_EQ, " == ", IN_COMPARE, 0 },
    { Z3_OP_XOR, " != ", IN_COMPARE, 0 },
    { Z3_OP_LE, " <= ", IN_COMPARE, 0 },
    { Z3_OP_FPA_LE, " <= ", IN_COMPARE, 0 },
    { Z3_OP_STRING_LE, " <= ", IN_COMPARE, 0 },
    { Z3_OP_GE, " >= ", IN_COMPARE, 0 },
    { Z3_OP_FPA_GE, " >= ", IN_COMPARE, 0 },
    { Z3_OP_LT, " < ", IN_COMPARE, 0 },
    { Z3_OP_FPA_LT, " < ", IN_COMPARE, 0 },
    { Z3_OP_STRING_LT, " < ", IN_COMPARE, 0 },
    { Z3_OP_GT, " > ", IN_COMPARE, 0 },
    { Z3_OP_FPA_GT, " > ", IN_COMPARE, 0 },
    { Z3_OP_AND, " and ", IN_AND, 0 },
    { Z3_OP_OR, " or ", IN_OR, 0 },
    { Z3_OP_ADD, " + ", IN_SUM, 0 },
    { Z3_OP_SEQ_CONCAT, " + ", IN_SUM, 0 },
    { Z3_OP_SUB, " - ", IN_SUM, 0 },
    { Z3_OP_MUL, " * ", IN_PRODUCT, 0 },
    /* The divisor is positive in all terms that the engine builds. */
    { Z3_OP_IDIV, " // ", IN_PRODUCT, 0 },
    { Z3_OP_MOD, " % ", IN_PRODUCT, 0 },
    { Z3_OP_FPA_ADD, " + ", IN_SUM, 1 },
    { Z3_OP_FPA_SUB, " - ", IN_SUM, 1 },
    { Z3_OP_FPA_MUL, " * ", IN_PRODUCT, 1 },
    { Z3_OP_FPA_DIV, " / ", IN_PRODUCT, 1 },
};

/* The code point of a string of one character: of bytes, that is an item. */
static void write_code(writing *w, Z3_app app)
{
    Z3_ast of = Z3_get_app_arg(w->z, app, 0);
    bool at = Z3_get_ast_kind(w->z, of) == Z3_APP_AST &&
              Z3_get_decl_kind(w->z, Z3_get_app_decl(w->z, Z3_to_app(w->z, of))) == Z3_OP_SEQ_AT;
    if (!w->bytes)
        function(w, app, "ord(", NULL, ")");
    else if (at)
        function(w, Z3_to_app(w->z, of), "", "[", "]");
    else
        w->failed = true;
}

/* Functions, methods and items, each with its arguments in their order. */
static const struct call {
    Z3_decl_kind kind;
    const char *open, *between, *close; /* as function() has them */
} calls[] = {
    { Z3_OP_FPA_ABS, "abs(", NULL, ")" },    { Z3_OP_SELECT, "", "[", "]" },
    { Z3_OP_SEQ_LENGTH, "len(", NULL, ")" }, { Z3_OP_SEQ_INDEX, "", ".find(", ")" },
    { Z3_OP_SEQ_AT, "", "[", "]" },          { Z3_OP_INT_TO_STR, "str(", NULL, ")" },
};

static void write_name(writing *w, Z3_func_decl decl)
{
    const char *name = Z3_get_symbol_string(w->z, Z3_get_decl_name(w->z, decl));
    w->failed |= strncmp(name, "type of ", 8) == 0 || strncmp(name, "literal of ", 11) == 0 ||
                 strncmp(name, "guess ", 6) == 0 || strncmp(name, "part of ", 8) == 0;
    text_say(w->out, strncmp(name, "bytes of ", 9) == 0 ? name + 9 : name);
}

/* A comparison of which one side may be words. */
static void write_comparison(writing *w, int outer, Z3_ast left, const char *sign, Z3_ast right)
{
    open_if(w, outer, IN_COMPARE, "(");
    write_term(w, left, IN_COMPARE + 1);
    text_say(w->out, sign);
    if (right)
        write_term(w, right, IN_COMPARE + 1);
    open_if(w, outer, IN_COMPARE, ")");
}

static void write_negative(writing *w, Z3_app app, int outer)
{
    open_if(w, outer, IN_UNARY, "(");
    text_say(w->out, "-");
    write_term(w, Z3_get_app_arg(w->z, app, 0), IN_UNARY + 1);
    open_if(w, outer, IN_UNARY, ")");
}

static void write_end_of(writing *w, Z3_app app, const char *method)
{
    write_term(w, Z3_get_app_arg(w->z, app, 1), IN_ATOM);
    text_say(w->out, method);
    write_term(w, Z3_get_app_arg(w->z, app, 0), 0);
    text_say(w->out, ")");
}

static void write_slice(writing *w, Z3_app app)
{
    write_term(w, Z3_get_app_arg(w->z, app, 0), IN_ATOM);
    text_say(w->out, "[");
    write_term(w, Z3_get_app_arg(w->z, app, 1), 0);
    text_say(w->out, ":][:max(0, ");
    write_term(w, Z3_get_app_arg(w->z, app, 2), 0);
    text_say(w->out, ")]");
}

/* What has a form of its own; false: it has none in Python. */
static bool write_form(writing *w, Z3_app app, Z3_decl_kind kind, int outer)
{
    Z3_ast first = Z3_get_app_num_args(w->z, app) ? Z3_get_app_arg(w->z, app, 0) : NULL;
    switch (kind) {
    case Z3_OP_TRUE:
    case Z3_OP_FALSE:
        text_say(w->out, kind == Z3_OP_TRUE ? "True" : "False");
        return true;
    case Z3_OP_UNINTERPRETED:
        write_name(w, Z3_get_app_decl(w->z, app));
        return true;
    case Z3_OP_NOT:
        write_negated(w, first, outer);
        return true;
    case Z3_OP_ITE:
        write_choice(w, app, outer);
        return true;
    case Z3_OP_UMINUS:
    case Z3_OP_FPA_NEG:
        write_negative(w, app, outer);
        return true;
    case Z3_OP_FPA_IS_ZERO:
        write_comparison(w, outer, first, " == 0.0", NULL);
        return true;
    case Z3_OP_FPA_IS_NAN:
        write_comparison(w, outer, first, " != ", first);
        return true;
    case Z3_OP_SEQ_CONTAINS:
        write_comparison(w, outer, Z3_get_app_arg(w->z, app, 1), " in ", first);
        return true;
    case Z3_OP_SEQ_PREFIX:
        write_end_of(w, app, ".startswith(");
        return true;
    case Z3_OP_SEQ_SUFFIX:
        write_end_of(w, app, ".endswith(");
        return true;
    case Z3_OP_SEQ_EXTRACT:
        write_slice(w, app);
        return true;
    default:
        return false;
    }
}

static void write_app(writing *w, Z3_ast term, int outer)
{
    Z3_app app = Z3_to_app(w->z, term);
    Z3_func_decl decl = Z3_get_app_decl(w->z, app);
    Z3_decl_kind kind = Z3_get_decl_kind(w->z, decl);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].kind == kind) {
            infix(w, app, operators[i].sign, operators[i].binds, outer, operators[i].from);
            return;
        }
    if (decl == w->m->solver->to_code) {
        write_code(w, app);
        return;
    }
    if (decl == w->m->solver->from_code) {
        function(w, app, w->bytes ? "bytes([" : "chr(", NULL, w->bytes ? "])" : ")");
        return;
    }
    w->failed |= kind == Z3_OP_SEQ_AT && w->bytes; /* the items of bytes are ints */
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].kind == kind) {
            function(w, app, calls[i].open, calls[i].between, calls[i].close);
            return;
        }
    if (!write_form(w, app, kind, outer))
        w->failed = true;
}

static void write_term(writing *w, Z3_ast term, int outer)
{
    if (w->failed || ++w->depth > MOST_DEPTH || w->out->length > MOST_WORDS) {
        w->failed = true;
        w->depth--;
        return;
    }
    Z3_sort_kind sort = Z3_get_sort_kind(w->z, Z3_get_sort(w->z, term));
    if (Z3_is_string(w->z, term))
        write_known(w, term, V_STR);
    else if (sort == Z3_FLOATING_POINT_SORT && Z3_is_numeral_ast(w->z, term))
        write_known(w, term, V_FLOAT);
    else if (sort == Z3_INT_SORT && Z3_is_numeral_ast(w->z, term)) {
        const char *digits = Z3_get_numeral_string(w->z, term);
        bool minus = digits[0] == '-' && outer > IN_SUM;
        text_print(w->out, "%s%s%s", minus ? "(" : "", digits, minus ? ")" : "");
    } else if (Z3_get_ast_kind(w->z, term) == Z3_APP_AST)
        write_app(w, term, outer);
    else
        w->failed = true;
    w->depth--;
}

/* Which strings the term contains: 1 of bytes, 2 others, 3 both. A term that is too deep counts as
 * both. */
static int strings_in(Z3_context z, Z3_ast term, int depth)
{
    if (Z3_get_ast_kind(z, term) != Z3_APP_AST || depth > MOST_DEPTH)
        return depth > MOST_DEPTH ? 3 : 0;
    Z3_app app = Z3_to_app(z, term);
    Z3_func_decl decl = Z3_get_app_decl(z, app);
    unsigned count = Z3_get_app_num_args(z, app);
    int found = 0;
    if (Z3_get_decl_kind(z, decl) == Z3_OP_UNINTERPRETED && count == 0 &&
        Z3_is_string_sort(z, Z3_get_sort(z, term)))
        found = strncmp(Z3_get_symbol_string(z, Z3_get_decl_name(z, decl)), "bytes of ", 9) == 0
                    ? 1
                    : 2;
    for (unsigned i = 0; i < count && found < 3; i++)
        found |= strings_in(z, Z3_get_app_arg(z, app, i), depth + 1);
    return found;
}

const char *path_condition(machine *m, arena *to)
{
    text all = { .a = to };
    text_say(&all, "");
    for (size_t i = 0; i < m->path.at && i < m->path.count; i++) {
        const mark *one = &m->path.marks[i];
        if (one->kind != MARK_FORK && one->kind != MARK_REQUIRED)
            continue;
        text words = { .a = m->arena };
        text_say(&words, "");
        writing w = { .m = m, .z = m->solver->z, .out = &words };
        int strings = strings_in(w.z, one->condition, 0);
        w.bytes = strings == 1;
        w.failed = strings == 3;
        if (one->choice)
            write_term(&w, one->condition, IN_AND + 1);
        else
            write_negated(&w, one->condition, IN_AND + 1);
        if (w.failed || all.length > MOST_WORDS)
            continue;
        text_print(&all, "%s%s", all.length ? " and " : "", words.data);
    }
    return all.length ? all.data : "True";
}
