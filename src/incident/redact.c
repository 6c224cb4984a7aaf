/* JSON without secrets: see redact.h. */
#include "incident/redact.h"

#include "base/base.h"
#include "guard/leak.h"
#include "mishap/members.h"

enum { ROOM = 512, MOST_DEPTH = MISHAP_JSON_MAX_DEPTH };

static void put_redacted(mishap_buffer *b)
{
    mishap_json_string(b, mishap_guard_redacted);
}

/* Without memory for the rest all of it is hidden. */
static mishap_text hide_text(mishap_arena *arena, mishap_buffer *room,
                             const mishap_secrets *secrets, mishap_text text)
{
    text = mishap_utf8_clean(arena, text);
    if (text.data)
        text = mishap_guard_redact(arena, text);
    if (!text.data)
        return mishap_guard_redacted;
    if (mishap_secrets_none(secrets))
        return text;
    mishap_secrets_put_hidden(room, secrets, text);
    return room->failed ? mishap_guard_redacted : mishap_buffer_text(room);
}

/* -- handles ----------------------------------------------------------------------------------- */

enum { HANDLE = 48, SHOWN = 8 };

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The next handle from `from` on. Each has a byte at a multiple of its length, so the others need
 * not be looked at. False: there is none. */
static bool find_handle(mishap_text text, size_t from, size_t *found)
{
    for (size_t at = from + HANDLE - 1; at < text.length; at += HANDLE) {
        size_t start = at, end = at;
        if (!is_digit(text.data[at]))
            continue;
        while (start > from && is_digit(text.data[start - 1]))
            start--;
        while (end < text.length && is_digit(text.data[end]))
            end++;
        *found = start;
        if (end - start == HANDLE)
            return true;
        at = end - 1;
    }
    return false;
}

bool mishap_redact_has_handle(mishap_text text)
{
    size_t at;
    return find_handle(text, 0, &at);
}

void mishap_redact_put_handles(mishap_buffer *b, mishap_text text)
{
    size_t from = 0, at;
    while (find_handle(text, from, &at)) {
        mishap_buffer_put(b, text.data + from, at + SHOWN - from);
        mishap_buffer_put_text(b, mishap_guard_redacted);
        from = at + HANDLE;
    }
    mishap_buffer_put(b, text.data + from, text.length - from);
}

/* -- credentials that no name tells ------------------------------------------------------------ */

/* A text while what the guard finds in it is left out. */
struct leaving_out {
    mishap_text text;
    size_t done;
    mishap_buffer *out;
};

/* Traces, SQL and paths are what an operator looks for: they stay. */
static void leave_out(void *state, const mishap_leak *leak)
{
    struct leaving_out *now = state;
    size_t start = leak->start, end = leak->start + leak->length;
    if ((leak->kind != MISHAP_LEAK_CREDENTIAL && leak->kind != MISHAP_LEAK_CONNECTION &&
         leak->kind != MISHAP_LEAK_ENVIRONMENT) ||
        leak->confidence != MISHAP_LEAK_HIGH || end <= now->done)
        return;
    if (memmem(now->text.data + start, leak->length, mishap_guard_redacted.data,
               mishap_guard_redacted.length) &&
        leak->kind == MISHAP_LEAK_CONNECTION)
        return; /* its password is gone already */
    start = start > now->done ? start : now->done;
    mishap_buffer_put(now->out, now->text.data + now->done, start - now->done);
    mishap_buffer_put_text(now->out, mishap_guard_redacted);
    now->done = end;
}

/* The text without them, in `out` if there are any. */
static mishap_text without_credentials(mishap_buffer *out, mishap_text text)
{
    enum { SHORTEST = 8 };
    struct leaving_out now = { text, 0, out };
    if (text.length < SHORTEST)
        return text;
    mishap_leak_scan(text, NULL, leave_out, &now);
    if (!now.done)
        return text;
    mishap_buffer_put(out, text.data + now.done, text.length - now.done);
    return out->failed ? mishap_guard_redacted : mishap_buffer_text(out);
}

/* -- texts ------------------------------------------------------------------------------------- */

static void put_hidden(mishap_buffer *b, const mishap_secrets *secrets, mishap_text text, bool key)
{
    char storage[ROOM], space[ROOM];
    mishap_arena arena;
    mishap_buffer room, without = { 0 }, rest = { 0 };
    mishap_arena_init(&arena, storage, sizeof storage);
    mishap_buffer_init(&room, space, sizeof space);
    mishap_text clean = text.length ? hide_text(&arena, &room, secrets, text) : text;
    if (mishap_redact_has_handle(clean)) {
        mishap_redact_put_handles(&without, clean);
        clean = without.failed ? mishap_guard_redacted : mishap_buffer_text(&without);
    }
    clean = without_credentials(&rest, clean);
    if (key)
        mishap_json_key(b, clean);
    else
        mishap_json_string(b, clean);
    mishap_buffer_release(&rest);
    mishap_buffer_release(&without);
    mishap_buffer_release(&room);
    mishap_arena_release(&arena);
}

void mishap_redact_string(mishap_buffer *b, const mishap_secrets *secrets, mishap_text text)
{
    put_hidden(b, secrets, text, false);
}

/* -- names ------------------------------------------------------------------------------------- */

/* A pair, and whether a credential in it begins before its value and reaches into it. What the
 * value has alone is found when it is written. */
struct pair {
    size_t value_at;
    bool found;
};

static void look_at_value(void *state, const mishap_leak *leak)
{
    struct pair *pair = state;
    bool secret = leak->kind == MISHAP_LEAK_CREDENTIAL || leak->kind == MISHAP_LEAK_CONNECTION;
    if (secret && leak->confidence == MISHAP_LEAK_HIGH && leak->start <= pair->value_at &&
        leak->start + leak->length > pair->value_at + 1)
        pair->found = true;
}

/* Does the guard find a credential in `"name":"value"`, which may be none without its name? */
static bool is_secret_by_name(mishap_text name, const mishap_value *value)
{
    enum { ENOUGH = 256 };
    char storage[ROOM];
    mishap_buffer json;
    mishap_value shown = *value;
    struct pair pair = { 0 };
    if (value->kind == MISHAP_KIND_JSON || value->kind == MISHAP_KIND_NONE || !name.length)
        return false;
    if (shown.kind == MISHAP_KIND_TEXT && shown.text.length > ENOUGH)
        shown.text.length = ENOUGH;
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_json_open(&json, '{');
    mishap_json_key(&json, name);
    pair.value_at = json.length;
    mishap_json_value(&json, &shown);
    mishap_json_close(&json, '}');
    if (!json.failed)
        mishap_leak_scan(mishap_buffer_text(&json), NULL, look_at_value, &pair);
    bool found = pair.found || json.failed;
    mishap_buffer_release(&json);
    return found;
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void put_json(mishap_buffer *b, const mishap_secrets *secrets, yyjson_val *value,
                     size_t depth);

static void put_json_members(mishap_buffer *b, const mishap_secrets *secrets, yyjson_val *object,
                             size_t depth)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap_json_open(b, '{');
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        put_hidden(b, secrets, name, true);
        mishap_value text = mishap_value_of_text(mishap_json_text(value));
        if (mishap_guard_secret_name(name) ||
            (yyjson_is_str(value) && is_secret_by_name(name, &text)))
            put_redacted(b);
        else
            put_json(b, secrets, value, depth + 1);
    }
    mishap_json_close(b, '}');
}

static void put_json_items(mishap_buffer *b, const mishap_secrets *secrets, yyjson_val *array,
                           size_t depth)
{
    size_t index, count;
    yyjson_val *item;
    mishap_json_open(b, '[');
    MISHAP_JSON_ITEMS (array, index, count, item)
        put_json(b, secrets, item, depth + 1);
    mishap_json_close(b, ']');
}

/* A number is compared as it is spelled. */
static void put_json_number(mishap_buffer *b, const mishap_secrets *secrets, yyjson_val *value)
{
    char storage[64];
    mishap_buffer spelled;
    mishap_buffer_init(&spelled, storage, sizeof storage);
    mishap_json_copy(&spelled, value);
    bool hidden = spelled.failed ||
                  (!mishap_secrets_none(secrets) &&
                   (secrets->unknown ||
                    mishap_secrets_have_number(secrets, mishap_buffer_text(&spelled))));
    if (hidden)
        put_redacted(b);
    else
        mishap_json_copy(b, value);
    mishap_buffer_release(&spelled);
}

static void put_json(mishap_buffer *b, const mishap_secrets *secrets, yyjson_val *value,
                     size_t depth)
{
    if (depth > MOST_DEPTH)
        put_redacted(b);
    else if (yyjson_is_obj(value))
        put_json_members(b, secrets, value, depth);
    else if (yyjson_is_arr(value))
        put_json_items(b, secrets, value, depth);
    else if (yyjson_is_str(value))
        mishap_redact_string(b, secrets, mishap_json_text(value));
    else if (yyjson_is_num(value) || yyjson_is_raw(value))
        put_json_number(b, secrets, value);
    else
        mishap_json_copy(b, value);
}

void mishap_redact_json(mishap_buffer *b, const mishap_secrets *secrets, yyjson_val *value)
{
    put_json(b, secrets, value, 0);
}

/* A document, and whether a leak in it consists of several of its strings. */
struct parted {
    mishap_text json;
    bool found;
};

static void look_for_parted(void *state, const mishap_leak *leak)
{
    struct parted *parted = state;
    const char *at = parted->json.data + leak->start, *end = at + leak->length;
    if (leak->kind != MISHAP_LEAK_ENVIRONMENT && strcmp(leak->rule, "private-key") != 0)
        return;
    for (const char *c = at; c < end; c++)
        if (*c == '"' && c > at && c[-1] != '\\')
            parted->found = true;
}

/* The lines of a private key and the variables of an environment say little alone, so a value that
 * consists of them is redacted as a whole. */
static bool is_parted_leak(mishap_text json)
{
    struct parted parted = { json, false };
    mishap_leak_scan(json, NULL, look_for_parted, &parted);
    return parted.found;
}

void mishap_redact_document(mishap_buffer *b, const mishap_secrets *secrets, mishap_text json)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    if (is_parted_leak(json))
        put_redacted(b);
    else if (mishap_json_read(&reader, json))
        put_json(b, secrets, reader.root, 0);
    else
        mishap_redact_string(b, secrets, json);
    mishap_json_reader_release(&reader);
}

/* -- values ------------------------------------------------------------------------------------ */

void mishap_redact_value(mishap_buffer *b, const mishap_secrets *secrets, const mishap_value *value)
{
    if (value->kind == MISHAP_KIND_TEXT) {
        mishap_redact_string(b, secrets, value->text);
    } else if (value->kind == MISHAP_KIND_NULL || value->kind == MISHAP_KIND_BOOL ||
               value->kind == MISHAP_KIND_NONE) {
        mishap_json_value(b, value);
    } else {
        char storage[ROOM];
        mishap_buffer spelled;
        mishap_buffer_init(&spelled, storage, sizeof storage);
        mishap_json_value(&spelled, value);
        mishap_redact_document(b, secrets, mishap_buffer_text(&spelled));
        mishap_buffer_release(&spelled);
    }
}

void mishap_redact_members(mishap_buffer *b, const mishap_secrets *secrets,
                           const mishap_member *first)
{
    char storage[ROOM];
    mishap_buffer json;
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_members_put_object(&json, first);
    bool together = json.failed || is_parted_leak(mishap_buffer_text(&json));
    mishap_buffer_release(&json);
    mishap_json_open(b, '{');
    for (const mishap_member *at = first; at; at = at->next) {
        put_hidden(b, secrets, at->key, true);
        if (together || mishap_guard_secret_name(at->key) || is_secret_by_name(at->key, &at->value))
            put_redacted(b);
        else
            mishap_redact_value(b, secrets, &at->value);
    }
    mishap_json_close(b, '}');
}
