/* Remove secrets and leaks from all parts of a rendered failure. */
#include "mishap/hide.h"

#include "base/base.h"

/* -- which strings ----------------------------------------------------------------------------- */

/* No leak that has to be replaced. */
static const mishap_leak_kind NONE = (mishap_leak_kind)MISHAP_LEAK_KINDS;

/* A string or a number of a document that is replaced: its first byte, of a string the quotation
 * mark. */
struct replaced {
    size_t at;
    mishap_leak_kind kind;
};

/* All of them, in their order. */
struct strings {
    mishap_buffer list; /* of struct replaced; failed: there was no memory */
};

static size_t string_count(const struct strings *strings)
{
    return strings->list.length / sizeof(struct replaced);
}

static struct replaced string_at(const struct strings *strings, size_t index)
{
    struct replaced replaced;
    memcpy(&replaced, strings->list.data + index * sizeof replaced, sizeof replaced);
    return replaced;
}

/* Where a string of a document begins and ends, with its quotation marks; or a number. */
struct string {
    size_t start, end;
};

/* The next string behind this one; false if there is none. */
static bool next_string(mishap_text json, struct string *string)
{
    size_t at = string->end;
    const char *quote = at < json.length ? memchr(json.data + at, '"', json.length - at) : NULL;
    if (!quote)
        return false;
    string->start = (size_t)(quote - json.data);
    for (at = string->start + 1; at < json.length && json.data[at] != '"'; at++)
        if (json.data[at] == '\\')
            at++;
    string->end = at < json.length ? at + 1 : json.length;
    return true;
}

static bool is_number(mishap_text json, const struct string *string)
{
    return json.data[string->start] != '"';
}

/* The next string or number behind this one; false if there is none. */
static bool next_scalar(mishap_text json, struct string *scalar)
{
    static const char digits[] = "0123456789-+.eE";
    size_t at = scalar->end;
    while (at < json.length && json.data[at] != '"' && !memchr(digits, json.data[at], 11))
        at++;
    scalar->start = scalar->end = at;
    if (at == json.length || json.data[at] == '"')
        return next_string(json, scalar);
    while (at < json.length && memchr(digits, json.data[at], sizeof digits - 1))
        at++;
    scalar->end = at;
    return true;
}

static mishap_text inside(mishap_text json, const struct string *string)
{
    size_t length = string->end - string->start;
    return (mishap_text){ json.data + string->start + 1, length > 2 ? length - 2 : 0 };
}

static bool is_key(mishap_text json, const struct string *string)
{
    size_t at = string->end;
    while (at < json.length && memchr(" \t\r\n", json.data[at], 4))
        at++;
    return at < json.length && json.data[at] == ':';
}

/* The kind of a replaced leak that this string is a part of, among those that no string explains,
 * or among all. `alone`: the string is judged then, so it may be part of one of too many. */
static mishap_leak_kind kind_at(const mishap_leaks *leaks, const bool *explained, bool alone,
                                const struct string *string)
{
    for (size_t i = 0; i < leaks->count; i++)
        if (leaks->list[i].replaced && !(explained && explained[i]) &&
            leaks->list[i].start < string->end &&
            string->start < (alone ? leaks->list[i].end : leaks->list[i].own_end))
            return leaks->list[i].kind;
    return NONE;
}

/* The kind of a replaced leak whose secret this number is. */
static mishap_leak_kind kind_of_number(const mishap_leaks *leaks, const struct string *number)
{
    for (size_t i = 0; i < leaks->count; i++) {
        const struct mishap_leak_range *leak = &leaks->list[i];
        bool secret = leak->kind == MISHAP_LEAK_CREDENTIAL || leak->kind == MISHAP_LEAK_CONNECTION;
        if (leak->replaced && secret && leak->secret < number->end &&
            number->start < leak->secret_end)
            return leak->kind;
    }
    return NONE;
}

static void explain(const mishap_leaks *leaks, bool *explained, const struct string *string)
{
    for (size_t i = 0; i < leaks->count; i++)
        if (leaks->list[i].start < string->end && string->start < leaks->list[i].end)
            explained[i] = true;
}

static void add_string(struct strings *strings, size_t at, mishap_leak_kind kind)
{
    struct replaced replaced = { at, kind };
    mishap_buffer_put(&strings->list, (const char *)&replaced, sizeof replaced);
}

/* -- leaks of several strings ------------------------------------------------------------------ */

enum {
    DEEPEST = MISHAP_JSON_MAX_DEPTH + 16, /* an answer, and what is written around it */
    MOST_CONTAINERS = 32,
};

/* The innermost object or array around the string at this byte; false if there is none. */
static bool find_container(mishap_text json, size_t at, struct string *container)
{
    size_t open[DEEPEST], depth = 0, wanted = 0;
    for (size_t i = 0; i < json.length; i++) {
        char c = json.data[i];
        if (c == '"') {
            struct string string = { .end = i };
            next_string(json, &string);
            if (!wanted && string.end > at)
                wanted = depth;
            i = string.end - 1;
        } else if (c == '{' || c == '[') {
            if (depth == DEEPEST)
                return false;
            open[depth++] = i;
        } else if ((c == '}' || c == ']') && depth && --depth < wanted) {
            *container = (struct string){ open[depth], i + 1 };
            return true;
        }
    }
    return false;
}

/* Does an object have members by which an answer is read? Then it is more than a leak. */
static bool is_envelope(mishap_text json, const struct string *container)
{
    static const char *const names[] = { "code",   "type",    "status", "title", "error",
                                         "result", "jsonrpc", "ok",     "meta",  "message" };
    struct string at = { .end = container->start };
    while (next_string(json, &at) && at.start < container->end)
        for (size_t i = 0; is_key(json, &at) && i < sizeof names / sizeof *names; i++)
            if (mishap_text_equal(inside(json, &at), mishap_text_of(names[i])))
                return true;
    return false;
}

/* The parts of a private key or of an environment say little alone: all that stands beside them
 * goes with them. */
static size_t find_containers(struct string *list, const mishap_leaks *leaks, mishap_text json)
{
    size_t count = 0;
    for (size_t i = 0; i < leaks->count && count < MOST_CONTAINERS; i++) {
        const struct mishap_leak_range *leak = &leaks->list[i];
        struct string at = { 0 };
        if (!leak->replaced ||
            (leak->kind != MISHAP_LEAK_ENVIRONMENT && strcmp(leak->rule, "private-key") != 0))
            continue;
        while (next_string(json, &at) && at.end <= leak->start)
            continue;
        if (at.end < leak->own_end && find_container(json, leak->start, &list[count]) &&
            !is_envelope(json, &list[count]))
            count++;
    }
    return count;
}

static bool is_in_container(const struct string *list, size_t count, const struct string *string)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].start <= string->start && string->end <= list[i].end)
            return true;
    return false;
}

/*
 * A number is replaced if it is the secret of a leak. A leak may be a part of one string, or of
 * several, such as a password and its name. The string that is a leak alone is replaced; if there
 * is none, or if the leak consists of what is none alone, all values that the leak touches. `all`:
 * an earlier round has left something, so that all values and names are replaced that a leak
 * touches.
 */
static void choose_strings(struct strings *strings, const mishap_leaks *leaks, mishap_text json,
                           mishap_leaks_known *known, bool all)
{
    bool explained[MISHAP_MOST_LEAKS] = { false };
    struct string containers[MOST_CONTAINERS];
    size_t count = find_containers(containers, leaks, json);
    for (struct string at = { 0 }; !all && next_string(json, &at);)
        if (kind_at(leaks, NULL, true, &at) != NONE &&
            mishap_leaks_kind(inside(json, &at), known) != NONE)
            explain(leaks, explained, &at);
    for (struct string at = { 0 }; next_scalar(json, &at);) {
        if (is_number(json, &at)) {
            if (kind_of_number(leaks, &at) != NONE)
                add_string(strings, at.start, kind_of_number(leaks, &at));
            continue;
        }
        mishap_leak_kind touched = kind_at(leaks, NULL, true, &at), kind = NONE;
        bool beside = is_in_container(containers, count, &at);
        if ((touched == NONE && !beside) || mishap_leaks_is_sentence(inside(json, &at)))
            continue;
        if (touched != NONE)
            kind = mishap_leaks_kind(inside(json, &at), known);
        if (kind == NONE && !is_key(json, &at))
            kind = beside ? (touched != NONE ? touched : MISHAP_LEAK_CREDENTIAL)
                          : kind_at(leaks, all ? NULL : explained, false, &at);
        if (kind != NONE)
            add_string(strings, at.start, kind);
    }
}

/* -- the copy ---------------------------------------------------------------------------------- */

struct copy {
    mishap_buffer out;
    const mishap_secrets *secrets;
    mishap_text json;     /* as it was */
    struct string string; /* the string or the number of it that was copied last */
    const struct strings *replaced;
    size_t next; /* of those */
    bool changed;
};

/* Go to the next string or number of the document; the kind of the leak that it is replaced for, or
 * NONE. */
static mishap_leak_kind step(struct copy *copy)
{
    const struct strings *replaced = copy->replaced;
    next_scalar(copy->json, &copy->string);
    size_t count = string_count(replaced);
    while (copy->next < count && string_at(replaced, copy->next).at < copy->string.start)
        copy->next++;
    if (copy->next < count && string_at(replaced, copy->next).at == copy->string.start)
        return string_at(replaced, copy->next).kind;
    return NONE;
}

/* A number; raw ones have more digits than fit 64 bits. */
static bool is_numeric(yyjson_val *value)
{
    return yyjson_is_num(value) || yyjson_is_raw(value);
}

/* Pass the strings and the numbers of a value that is not copied. */
static void skip_value(struct copy *copy, yyjson_val *value, size_t depth)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (yyjson_is_str(value) || is_numeric(value))
        step(copy);
    else if (depth > DEEPEST)
        copy->out.failed = true;
    else if (yyjson_is_arr(value))
        MISHAP_JSON_ITEMS (value, index, count, item)
            skip_value(copy, item, depth + 1);
    else if (yyjson_is_obj(value))
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            step(copy);
            skip_value(copy, item, depth + 1);
        }
}

/* The text without secrets, in `hidden`; false if it has none. */
static bool hide(struct copy *copy, mishap_text text, mishap_buffer *hidden)
{
    if (!mishap_secrets_stand_in(copy->secrets, text))
        return false;
    mishap_secrets_put_hidden(hidden, copy->secrets, text);
    copy->out.failed = copy->out.failed || hidden->failed;
    /* Without memory, the first result may have been true for safety. */
    bool found = !mishap_text_equal(mishap_buffer_text(hidden), text);
    copy->changed = copy->changed || found;
    return found;
}

static void copy_string(struct copy *copy, mishap_text text)
{
    mishap_buffer hidden = { 0 };
    mishap_leak_kind leak = step(copy);
    if (leak != NONE) {
        copy->changed = true;
        mishap_json_string(&copy->out, mishap_leaks_sentence(leak));
    } else if (hide(copy, text, &hidden)) {
        mishap_json_string(&copy->out, mishap_buffer_text(&hidden));
    } else {
        mishap_json_string(&copy->out, text);
    }
    mishap_buffer_release(&hidden);
}

static void copy_number(struct copy *copy, yyjson_val *value)
{
    mishap_leak_kind leak = step(copy);
    copy->changed = copy->changed || leak != NONE;
    if (leak != NONE)
        mishap_json_string(&copy->out, mishap_leaks_sentence(leak));
    else
        mishap_json_copy(&copy->out, value);
}

/* True if a member of this name may be copied: a changed key could become the same as another. */
static bool may_copy(struct copy *copy, mishap_text key)
{
    mishap_buffer hidden = { 0 };
    bool leak = step(copy) != NONE, secret = hide(copy, key, &hidden);
    mishap_buffer_release(&hidden);
    copy->changed = copy->changed || leak;
    return !leak && !secret;
}

static void copy_value(struct copy *copy, yyjson_val *value, size_t depth)
{
    size_t index, count;
    yyjson_val *key, *item;
    mishap_buffer *b = &copy->out;
    if (depth > DEEPEST) {
        b->failed = true;
    } else if (yyjson_is_obj(value)) {
        mishap_json_open(b, '{');
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            if (may_copy(copy, mishap_json_text(key))) {
                mishap_json_key(b, mishap_json_text(key));
                copy_value(copy, item, depth + 1);
            } else {
                skip_value(copy, item, depth + 1);
            }
        }
        mishap_json_close(b, '}');
    } else if (yyjson_is_arr(value)) {
        mishap_json_open(b, '[');
        MISHAP_JSON_ITEMS (value, index, count, item)
            copy_value(copy, item, depth + 1);
        mishap_json_close(b, ']');
    } else if (yyjson_is_str(value)) {
        copy_string(copy, mishap_json_text(value));
    } else if (is_numeric(value)) {
        copy_number(copy, value);
    } else {
        mishap_json_copy(b, value);
    }
}

/* True if one of the secrets may be in the document. Without escapes, it appears literally. */
static bool may_have_secret(mishap_text json, const mishap_secrets *secrets)
{
    return !mishap_secrets_none(secrets) &&
           (memchr(json.data, '\\', json.length) || mishap_secrets_stand_in(secrets, json));
}

static void rewrite(mishap_buffer *json, const mishap_secrets *secrets,
                    const struct strings *replaced)
{
    struct copy copy = { .secrets = secrets,
                         .json = mishap_buffer_text(json),
                         .replaced = replaced };
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!replaced->list.failed && mishap_json_read(&reader, copy.json))
        copy_value(&copy, reader.root, 0);
    else
        copy.out.failed = true;
    mishap_json_reader_release(&reader);
    if (copy.out.failed) {
        mishap_buffer_release(&copy.out);
        copy.out.failed = copy.changed = true;
    }
    if (copy.changed) {
        mishap_buffer_release(json);
        *json = copy.out;
    } else {
        mishap_buffer_release(&copy.out);
    }
}

/* Replace the strings of these leaks; false if all of them were replaced before. */
static bool hide_leaks(mishap_buffer *json, const mishap_secrets *secrets,
                       const mishap_leaks *leaks, mishap_leaks_known *known, bool all)
{
    struct strings replaced = { 0 };
    choose_strings(&replaced, leaks, mishap_buffer_text(json), known, all);
    bool any = replaced.list.failed || string_count(&replaced);
    rewrite(json, secrets, &replaced);
    mishap_buffer_release(&replaced.list);
    return any;
}

/* Judge what is left, since a replaced string may have been a part of a larger leak, or may have
 * kept a rule from the others. What can not be cleaned does not leave. */
static void hide_rest(mishap_buffer *json, const mishap_secrets *secrets, mishap_leaks_known *known)
{
    enum { MOST_ROUNDS = 6 };
    mishap_leaks leaks;
    bool more = true;
    for (int round = 0; more && !json->failed; round++) {
        mishap_leaks_find(&leaks, mishap_buffer_text(json), known);
        if (!leaks.replaced) {
            more = false;
        } else if (round == MOST_ROUNDS) {
            mishap_buffer_release(json);
            json->failed = true;
        } else {
            more = hide_leaks(json, secrets, &leaks, known, round > 0);
        }
        mishap_leaks_release(&leaks);
    }
}

mishap *mishap_hide_known_json(mishap_buffer *json, const mishap_secrets *secrets,
                               mishap_leaks_known *known)
{
    mishap_leaks leaks;
    const struct strings none = { 0 };
    mishap *found = NULL;
    mishap_text text = mishap_buffer_text(json);
    if (!text.length)
        return NULL;
    if (mishap_leaks_find(&leaks, text, known))
        found = mishap_leaks_tell(&leaks, text);
    if (leaks.replaced) {
        hide_leaks(json, secrets, &leaks, known, false);
        hide_rest(json, secrets, known);
    } else if (may_have_secret(text, secrets)) {
        rewrite(json, secrets, &none);
    }
    mishap_leaks_release(&leaks);
    return found;
}

void mishap_hide_json_secrets(mishap_buffer *json, const mishap_secrets *secrets)
{
    const struct strings none = { 0 };
    if (json->length && may_have_secret(mishap_buffer_text(json), secrets))
        rewrite(json, secrets, &none);
}

mishap_text mishap_hide_known_text(mishap_text text, mishap_leaks_known *known)
{
    mishap_leak_kind kind = mishap_leaks_kind(text, known);
    return kind == NONE ? text : mishap_leaks_sentence(kind);
}
