/*
 * Is there a stack trace in this text? The rules for traces of the leak detector decide, on the
 * text as it is. A quick look comes first, since this is asked for every string of every failure.
 */
#include "guard/filter.h"
#include "guard/guard.h"

enum { STEPS = 16 }; /* that the checks may take for each byte */

/* Every trace has one of these characters in it; most texts have none of them. */
static bool may_have_trace(mishap_text text)
{
    static const bool telling[256] = { [':'] = true, ['('] = true, ['"'] = true, ['#'] = true };
    if (text.length < 8)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (telling[(unsigned char)text.data[i]])
            return true;
    return false;
}

bool mishap_guard_suspects(mishap_text text, mishap_text name)
{
    /* A password in an address comes with a colon, so the first look finds it too. */
    return may_have_trace(text) || (name.length && mishap_guard_secret_name(name));
}

struct search {
    size_t steps;
    bool found;
    const char *language;
};

/* Stop at the first one that is sure, or when the checks take too long. */
static bool judge_trace(void *state, mishap_leak_place *place)
{
    struct search *search = state;
    if (mishap_leak_judge(place) && place->confidence == MISHAP_LEAK_HIGH) {
        search->found = true;
        search->language = place->rule->language;
    } else if (place->steps > search->steps) {
        search->found = true;
    }
    return !search->found;
}

bool mishap_guard_finds_trace(mishap_text text, const char **language)
{
    /* Every trace has a space in it, or a # that the line starts with: no address and no time do.
     */
    if (!may_have_trace(text) ||
        (!memchr(text.data, ' ', text.length) && !memchr(text.data, '#', text.length)))
        return false;
    struct search search = { .steps = STEPS * text.length + 4096 };
    mishap_leak_place place;
    mishap_leak_begin(&place, text.data, text.data + text.length);
    mishap_leak_filter(&place, place.start, place.end, 1u << MISHAP_LEAK_TRACE, judge_trace,
                       &search);
    if (search.found && language)
        *language = search.language ? search.language : "program's";
    return search.found;
}
