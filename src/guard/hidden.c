/*
 * Values that are known to be secret, found again wherever a handler put them: in a message, in its
 * answer, in what it noted. They are replaced on the way out, whoever reads: caller, terminal or
 * log.
 */
#include "guard/guard.h"

#include "base/json_write.h"

enum { SHORTEST = 4 };

void mishap_secrets_add(mishap_secrets *secrets, mishap_text value)
{
    if (value.length >= SHORTEST && secrets->count < MISHAP_MOST_SECRETS)
        secrets->values[secrets->count++] = value;
}

/* -- spellings --------------------------------------------------------------------------------- */

/* What is looked for: each secret as it is and, where that differs, as a string of JSON spells it,
 * since values stand in logs and documents like that. */
struct needles {
    size_t count;
    mishap_text texts[2 * MISHAP_MOST_SECRETS];
    mishap_buffer spelled; /* fails without memory */
};

static bool is_spelled_alike(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 32 || c == '"' || c == '\\' || c == 127)
            return false;
    }
    return true;
}

static void gather(struct needles *needles, const mishap_secrets *secrets)
{
    size_t ends[MISHAP_MOST_SECRETS], odd = 0, start = 0;
    needles->spelled = (mishap_buffer){ 0 };
    needles->count = secrets->count;
    for (size_t i = 0; i < secrets->count; i++) {
        needles->texts[i] = secrets->values[i];
        if (is_spelled_alike(secrets->values[i]))
            continue;
        MISHAP_PUT(&needles->spelled, "\n"); /* no comma */
        mishap_json_string(&needles->spelled, secrets->values[i]);
        ends[odd++] = needles->spelled.length;
    }
    for (size_t i = 0; i < odd && !needles->spelled.failed;
         start = ends[i++]) /* less "\n" and \" */
        needles->texts[needles->count++] = (mishap_text){ needles->spelled.data + start + 2,
                                                          ends[i] - start - 3 };
}

/* -- search ------------------------------------------------------------------------------------ */

bool mishap_secrets_stand_in(const mishap_secrets *secrets, mishap_text text)
{
    struct needles needles;
    bool found = false;
    if (!secrets || !secrets->count || !text.length)
        return false;
    gather(&needles, secrets);
    for (size_t i = 0; i < needles.count && !found; i++)
        found = memmem(text.data, text.length, needles.texts[i].data, needles.texts[i].length);
    found = found || needles.spelled.failed; /* better safe */
    mishap_buffer_release(&needles.spelled);
    return found;
}

/* Where each of them stands next. It is looked for anew only once that place is passed, so a text
 * full of one is not searched for the others again and again. */
struct search {
    const struct needles *needles;
    const char *end;
    const char *next[2 * MISHAP_MOST_SECRETS]; /* `end`: nowhere */
};

static void look_again(struct search *search, size_t i, const char *from)
{
    mishap_text needle = search->needles->texts[i];
    const char *found = memmem(from, (size_t)(search->end - from), needle.data, needle.length);
    search->next[i] = found ? found : search->end;
}

/* The next one at or behind `from`, and of those that start there the longest; NULL if there is
 * none. */
static const mishap_text *next_secret(struct search *search, const char *from, const char **where)
{
    const mishap_text *first = NULL;
    *where = search->end;
    for (size_t i = 0; i < search->needles->count; i++) {
        const mishap_text *needle = &search->needles->texts[i];
        if (search->next[i] < from)
            look_again(search, i, from);
        if (search->next[i] < *where ||
            (first && search->next[i] == *where && needle->length > first->length)) {
            first = needle;
            *where = search->next[i];
        }
    }
    return first;
}

void mishap_secrets_put_hidden(mishap_buffer *buffer, const mishap_secrets *secrets,
                               mishap_text text)
{
    struct needles needles;
    const char *at = text.data, *where;
    const mishap_text *secret;
    if (!secrets || !secrets->count || !text.length) {
        mishap_buffer_put_text(buffer, text);
        return;
    }
    gather(&needles, secrets);
    struct search search = { .needles = &needles, .end = text.data + text.length };
    for (size_t i = 0; i < needles.count; i++)
        look_again(&search, i, at);
    buffer->failed = buffer->failed || needles.spelled.failed;
    while (!buffer->failed && (secret = next_secret(&search, at, &where))) {
        mishap_buffer_put(buffer, at, (size_t)(where - at));
        mishap_buffer_put_text(buffer, mishap_guard_redacted);
        at = where + secret->length;
    }
    if (!buffer->failed)
        mishap_buffer_put(buffer, at, (size_t)(search.end - at));
    mishap_buffer_release(&needles.spelled);
}
