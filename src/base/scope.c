#include "base/scope.h"

#include "base/nearest.h"

static const char *const ours[] = { "call", "metrics", "operator" };
enum { OURS = sizeof ours / sizeof *ours };
_Static_assert(MISHAP_SCOPE_FIRST_DECLARED == 1 << OURS, "a bit for each");

/* The name of a bit; NULL: there are no more. */
static const char *name_at(const mishap_scope *declared, size_t bit)
{
    if (bit < OURS)
        return ours[bit];
    return declared && bit < OURS + MISHAP_MOST_SCOPES ? declared[bit - OURS].name : NULL;
}

unsigned mishap_scope_find(const mishap_scope *declared, mishap_text name)
{
    const char *known;
    for (size_t bit = 0; (known = name_at(declared, bit)); bit++)
        if (mishap_text_equal(name, mishap_text_of(known)))
            return 1U << bit;
    return 0;
}

/* A scope-token of RFC 6749 without the comma, which stands between names of a key. */
bool mishap_scope_is_name(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c <= ' ' || c >= 127 || c == ',' || c == '"' || c == '\\')
            return false;
    }
    return text.length > 0 && text.length <= MISHAP_LONGEST_SCOPE;
}

mishap_text mishap_scope_nearest(const mishap_scope *declared, mishap_text name)
{
    mishap_guess guess = { .word = name };
    const char *known;
    for (size_t bit = 0; (known = name_at(declared, bit)); bit++)
        mishap_guess_weigh(&guess, mishap_text_of(known));
    return guess.name;
}

static unsigned implied_by(const mishap_scope *declared, const mishap_scope *scope)
{
    const char *at = scope->implies;
    unsigned implied = 0;
    mishap_text name;
    while (mishap_scopes_next_word(&at, &name))
        implied |= mishap_scope_find(declared, name);
    return implied;
}

/* Each round adds what the last one has brought; the set only grows, so there is an end. */
unsigned mishap_scopes_expand(const mishap_scope *declared, unsigned scopes)
{
    unsigned before = 0;
    while (declared && before != scopes) {
        before = scopes;
        for (size_t i = 0; i < MISHAP_MOST_SCOPES && declared[i].name; i++)
            if (scopes & MISHAP_SCOPE_FIRST_DECLARED << i)
                scopes |= implied_by(declared, &declared[i]);
    }
    return scopes;
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

bool mishap_scopes_next_word(const char **at, mishap_text *name)
{
    const char *word = *at ? *at + strspn(*at, " ") : NULL;
    if (!word || !*word)
        return false;
    *name = (mishap_text){ word, strcspn(word, " ") };
    *at = word + name->length;
    return true;
}

static bool has_name(mishap_text list, mishap_text name)
{
    mishap_text other;
    while (mishap_scopes_next(&list, &other))
        if (mishap_text_equal(other, name))
            return true;
    return false;
}

/* A name twice is a mistake, also one that is not declared: so programs with other scopes agree
 * about which lists are valid. */
bool mishap_scopes_read(const mishap_scope *declared, mishap_text list, unsigned *scopes)
{
    mishap_text name;
    *scopes = 0;
    while (mishap_scopes_next(&list, &name)) {
        unsigned scope = mishap_scope_find(declared, name);
        if (!mishap_scope_is_name(name) || has_name(list, name))
            return false;
        *scopes |= scope;
    }
    return true;
}

void mishap_scopes_put(mishap_buffer *buffer, const mishap_scope *declared, unsigned scopes,
                       char between)
{
    const char *name;
    bool any = false;
    for (size_t bit = 0; (name = name_at(declared, bit)); bit++) {
        if (!(scopes & 1U << bit))
            continue;
        if (any)
            mishap_buffer_put_char(buffer, between);
        mishap_buffer_put_text(buffer, mishap_text_of(name));
        any = true;
    }
}
