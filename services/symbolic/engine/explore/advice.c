/* What a caller can change about an analysis that took too long: see explore_advice(). */
#include "explore/explore.h"

static void or_else(text *out)
{
    text_say(out, out->length ? ", or " : "; try this: ");
}

static void advise_length(text *out, const parameter *p, const span *length)
{
    or_else(out);
    if (length->high && length->to > 1)
        text_print(out, "a lower bound of the length, as in pre: len(%s) <= %lld", p->name,
                   (long long)(length->to + 1) / 2);
    else
        text_print(out, "a bound of the length, as in pre: len(%s) <= 3", p->name);
}

static void advise(text *out, const parameter *p, const bounds *within)
{
    switch (p->type->kind) {
    case T_STR:
        if (within->itself.among || within->itself.equal)
            return;
        if (!within->length.high || within->length.to > 1)
            advise_length(out, p, &within->length);
        if (!within->items.among) {
            or_else(out);
            text_print(out, "fewer characters, as in pre: all(c in \"ab0\" for c in %s)", p->name);
        }
        return;
    case T_BYTES:
    case T_LIST:
    case T_TUPLE_OF:
    case T_DICT:
    case T_SET:
    case T_FROZENSET:
        if (!within->length.high || within->length.to > 1)
            advise_length(out, p, &within->length);
        return;
    case T_INT:
        if (!within->itself.low || !within->itself.high) {
            or_else(out);
            text_print(out, "bounds, as in pre: 0 <= %s <= 100", p->name);
        }
        return;
    case T_FLOAT:
        or_else(out);
        text_print(out, "an int of a smaller unit in place of the float %s", p->name);
        return;
    default:
        return;
    }
}

const char *explore_advice(analysis *a)
{
    text out = { .a = &a->tree_arena };
    for (size_t i = 0; i < a->parameter_count; i++) {
        bounds within = { 0 };
        for (size_t j = 0; j < a->contract.pre_count; j++)
            bounds_narrow(a->contract.pre_nodes[j], a->parameters[i].name, &within);
        advise(&out, &a->parameters[i], &within);
    }
    return out.length ? out.data : "; try this: a shorter function, or more timeout_seconds";
}
