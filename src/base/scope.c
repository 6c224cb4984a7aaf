#include "base/scope.h"

#include "base/nearest.h"

static const struct {
    unsigned scope;
    const char *name;
} table[] = {
    { MISHAP_SCOPE_CALL, "call" },
    { MISHAP_SCOPE_METRICS, "metrics" },
    { MISHAP_SCOPE_OPERATOR, "operator" },
};
enum { COUNT = sizeof table / sizeof *table };

unsigned mishap_scope_find(mishap_text name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (mishap_text_equal(name, mishap_text_of(table[i].name)))
            return table[i].scope;
    return 0;
}

const char *mishap_scope_name(unsigned scope)
{
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].scope == scope)
            return table[i].name;
    return "";
}

mishap_text mishap_scope_nearest(mishap_text name)
{
    mishap_guess guess = { .word = name };
    for (size_t i = 0; i < COUNT; i++)
        mishap_guess_weigh(&guess, mishap_text_of(table[i].name));
    return guess.name;
}

bool mishap_scopes_next(mishap_text *list, mishap_text *name)
{
    if (!list->data)
        return false;
    const char *comma = list->length ? memchr(list->data, ',', list->length) : NULL;
    *name = (mishap_text){ list->data, comma ? (size_t)(comma - list->data) : list->length };
    if (comma)
        *list = (mishap_text){ comma + 1, list->length - name->length - 1 };
    else
        *list = (mishap_text){ NULL, 0 };
    return true;
}

bool mishap_scopes_read(mishap_text list, unsigned *scopes)
{
    mishap_text name;
    *scopes = 0;
    while (mishap_scopes_next(&list, &name)) {
        unsigned scope = mishap_scope_find(name);
        if (!scope || *scopes & scope)
            return false;
        *scopes |= scope;
    }
    return *scopes != 0;
}

void mishap_scopes_put(mishap_buffer *buffer, unsigned scopes)
{
    bool any = false;
    for (size_t i = 0; i < COUNT; i++) {
        if (!(scopes & table[i].scope))
            continue;
        if (any)
            MISHAP_PUT(buffer, ",");
        mishap_buffer_put_text(buffer, mishap_text_of(table[i].name));
        any = true;
    }
}
