/*
 * Shortening a record: see fit.h.
 *
 * The text is one JSON object that was written by record.c, possibly with stacks that have no names
 * yet. A walk over its bytes finds the members; no parser is needed. All members longer than some
 * limit are cut to it, at the end of a character or of an item; the limit is the largest for which
 * the whole fits.
 */
#include "incident/fit.h"

#include <stdbool.h>

#include "base/base.h"

enum {
    MOST_MEMBERS = 48,
    SPARE = 1024, /* for the list of names */
};

/* A member with its key: `"message":"…"`. */
struct member {
    mishap_text name, whole, value;
    bool was_cut;
};

/* -- finding ----------------------------------------------------------------------------------- */

/* Behind the closing quote of a string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

/* Behind a value: up to a comma or a bracket of its own level. */
static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        bool closes = *at == '}' || *at == ']';
        if (!depth && (closes || *at == ','))
            break;
        depth += *at == '{' || *at == '[';
        depth -= closes;
        at++;
    }
    return at;
}

/* What is no object has none: a record of another process may have any bytes. */
static size_t find_members(mishap_text object, struct member *members)
{
    const char *at = object.data + 1, *end = object.data + object.length;
    size_t count = 0;
    while (at < end && *at == '"' && count < MOST_MEMBERS) {
        const char *colon = skip_string(at, end);
        if (colon >= end || *colon != ':')
            break;
        const char *last = skip_value(colon + 1, end);
        members[count++] = (struct member){ .name = { at + 1, (size_t)(colon - at) - 2 },
                                            .whole = { at, (size_t)(last - at) },
                                            .value = { colon + 1, (size_t)(last - colon) - 1 } };
        at = last < end && *last == ',' ? last + 1 : end;
    }
    return count;
}

/* -- cutting ----------------------------------------------------------------------------------- */

/* At most `most` bytes of an escaped string, without half a character or half an escape, and with a
 * closing quote. */
static void put_cut_string(mishap_buffer *b, mishap_text string, size_t most)
{
    size_t good = 1, at = 1;
    while (at < string.length && at + 1 < most) {
        bool escape = string.data[at] == '\\' && at + 1 < string.length;
        size_t step = !escape ? 1 : string.data[at + 1] == 'u' ? 6 : 2;
        if (at + step + 1 > most || at + step > string.length)
            break;
        at += step;
        bool inside = at < string.length && ((unsigned char)string.data[at] & 0xC0) == 0x80;
        bool half = step == 6 && (string.data[at - 4] | 32) == 'd' &&
                    strchr("89abAB", string.data[at - 3]); /* the first of two surrogates */
        if (!inside && !half)
            good = at;
    }
    mishap_buffer_put(b, string.data, good);
    mishap_buffer_put_char(b, '"');
}

/* As many items or members as fit. */
static void put_cut_list(mishap_buffer *b, mishap_text list, size_t most)
{
    const char *at = list.data + 1, *end = list.data + list.length - 1, *good = at;
    bool object = list.data[0] == '{';
    while (at < end) {
        const char *value = object ? skip_string(at, end) + 1 : at;
        const char *last = skip_value(value < end ? value : end, end);
        if ((size_t)(last - list.data) + 1 > most)
            break;
        good = last;
        at = last < end ? last + 1 : end;
    }
    mishap_buffer_put(b, list.data, (size_t)(good - list.data));
    mishap_buffer_put_char(b, object ? '}' : ']');
}

static void put_member(mishap_buffer *b, struct member *member, size_t most)
{
    mishap_json_comma(b);
    if (member->value.length <= most) {
        mishap_buffer_put_text(b, member->whole);
        return;
    }
    member->was_cut = true;
    mishap_buffer_put(b, member->whole.data, member->whole.length - member->value.length);
    if (member->value.data[0] == '"')
        put_cut_string(b, member->value, most);
    else if (member->value.data[0] == '{' || member->value.data[0] == '[')
        put_cut_list(b, member->value, most);
    else
        MISHAP_PUT(b, "null");
}

/* The limit for a value: found by halving, between nothing and everything. */
static size_t find_limit(const struct member *members, size_t count, size_t room)
{
    size_t low = 0, high = room;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2, total = 0;
        for (size_t i = 0; i < count; i++) {
            size_t value = members[i].value.length;
            total += members[i].whole.length - value + (value < middle ? value : middle) + 1;
        }
        if (total <= room)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void put_cut_names(mishap_buffer *b, const struct member *members, size_t count,
                          mishap_text before)
{
    MISHAP_JSON_KEY(b, "cut");
    mishap_json_open(b, '[');
    if (before.length > 2) /* those of an earlier cut, without their brackets */
        mishap_buffer_put(b, before.data + 1, before.length - 2);
    for (size_t i = 0; i < count; i++) {
        bool named = before.length && memmem(before.data, before.length, members[i].name.data - 1,
                                             members[i].name.length + 2);
        if (members[i].was_cut && !named)
            mishap_json_string(b, members[i].name);
    }
    mishap_json_close(b, ']');
}

void mishap_incident_fit(mishap_buffer *json)
{
    static const mishap_text cut = MISHAP_TEXT("cut");
    struct member members[MOST_MEMBERS];
    mishap_buffer out = { 0 };
    mishap_text before = { NULL, 0 };
    if (json->length < MISHAP_INCIDENT_LINE || json->failed)
        return;
    size_t count = find_members(mishap_buffer_text(json), members), kept = 0;
    for (size_t i = 0; i < count; i++)
        if (mishap_text_equal(members[i].name, cut))
            before = members[i].value;
        else
            members[kept++] = members[i];
    size_t most = find_limit(members, kept, MISHAP_INCIDENT_LINE - 1 - SPARE);
    mishap_buffer_put_char(&out, '{');
    for (size_t i = 0; i < kept; i++)
        put_member(&out, &members[i], most);
    put_cut_names(&out, members, kept, before);
    mishap_buffer_put_char(&out, '}');
    if (out.failed) {
        json->failed = true;
        mishap_buffer_release(&out);
        return;
    }
    mishap_buffer_release(json);
    *json = out;
}
