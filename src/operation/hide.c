/* Remove secrets and stack traces from all parts of a rendered failure. */
#include "operation/hide.h"

const mishap_text mishap_hide_removed = MISHAP_TEXT("A stack trace was removed here.");

/* -- a quick look ------------------------------------------------------------------------------ */

/* What matters inside of a string: its end, an escape, and the characters of which every stack
 * trace has one (guard/trace.c), except for a quotation mark, which comes with an escape. */
enum { QUOTE = 1, BACKSLASH = 2, TELLING = 4 };
static const unsigned char kinds[256] = {
    ['"'] = QUOTE, ['\\'] = BACKSLASH, [':'] = TELLING, ['('] = TELLING, ['#'] = TELLING,
};

typedef unsigned char lanes __attribute__((vector_size(16)));

/*
 * Sixteen bytes, and for each the one before it: not zero where the byte may be one of these
 * characters inside of a string. A colon behind a quotation mark stands between key and value; an
 * escape can stand for a quotation mark or, as \u, for any character.
 */
static lanes telling(const char *at)
{
    lanes now, before;
    memcpy(&now, at, sizeof now);
    memcpy(&before, at - 1, sizeof before);
    return (lanes)((now == '(') | (now == '#') | ((now == ':') & (before != '"')) |
                   ((before == '\\') & ((now == '"') | (now == 'u'))));
}

/* False if no string of the document can contain a stack trace. The last bytes may overlap. */
static bool may_have_trace(mishap_text json)
{
    lanes found = { 0 };
    uint64_t halves[2];
    if (json.length < 1 + sizeof found)
        return true;
    for (size_t at = 1; at + sizeof found <= json.length; at += sizeof found)
        found |= telling(json.data + at);
    found |= telling(json.data + json.length - sizeof found);
    memcpy(halves, &found, sizeof halves);
    return halves[0] | halves[1];
}

/* Scan the string that starts here, behind a quotation mark; returns its end, NULL if it has
 * none. */
static const char *end_of_string(const char *at, const char *end, unsigned *seen)
{
    for (*seen = 0; at < end; at++) {
        unsigned kind = kinds[(unsigned char)*at];
        *seen |= kind;
        if (kind == QUOTE)
            return at;
        if (kind == BACKSLASH && ++at < end && (*at == '"' || *at == 'u'))
            *seen |= TELLING;
    }
    return NULL;
}

static bool has_suspect_string(mishap_text json)
{
    const char *end = json.data + json.length, *at = json.data;
    while (at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
        unsigned seen;
        const char *start = at + 1, *close = end_of_string(start, end, &seen);
        if (!close)
            return true;
        /* A string with escapes has to be decoded first. */
        if ((seen & TELLING) &&
            ((seen & BACKSLASH) ||
             mishap_guard_finds_trace((mishap_text){ start, (size_t)(close - start) }, NULL)))
            return true;
        at = close + 1;
    }
    return false;
}

/* True if there may be something to hide, as far as a scan without parsing can tell. */
static bool suspicious(mishap_text json, const mishap_secrets *secrets, bool traces_stay)
{
    if (!traces_stay && may_have_trace(json) && has_suspect_string(json))
        return true;
    /* Without escapes, a secret appears literally. */
    return !mishap_secrets_none(secrets) &&
           (memchr(json.data, '\\', json.length) || mishap_secrets_stand_in(secrets, json));
}

/* -- the copy ---------------------------------------------------------------------------------- */

enum { DEEPEST = MISHAP_JSON_MAX_DEPTH + 16 }; /* an answer, and what is written around it */

struct copy {
    mishap_buffer out;
    const mishap_secrets *secrets;
    bool traces_stay, traces, changed;
};

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
    if (!copy->traces_stay && mishap_guard_finds_trace(text, NULL)) {
        copy->traces = copy->changed = true;
        mishap_json_string(&copy->out, mishap_hide_removed);
    } else if (hide(copy, text, &hidden)) {
        mishap_json_string(&copy->out, mishap_buffer_text(&hidden));
    } else {
        mishap_json_string(&copy->out, text);
    }
    mishap_buffer_release(&hidden);
}

/* True if a member of this name may be copied: a changed key could become the same as another. */
static bool may_copy(struct copy *copy, mishap_text key)
{
    mishap_buffer hidden = { 0 };
    bool trace = !copy->traces_stay && mishap_guard_finds_trace(key, NULL);
    bool secret = hide(copy, key, &hidden);
    mishap_buffer_release(&hidden);
    copy->traces = copy->traces || trace;
    copy->changed = copy->changed || trace;
    return !trace && !secret;
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
    } else {
        mishap_json_copy(b, value);
    }
}

/* A stack trace that was taken out is not lost: it is recorded for the operator. */
static mishap *tell_of_trace(mishap_text json)
{
    mishap *m = mishap_raise(RUNTIME_ERROR, "A stack trace was removed from a failure.");
    return mishap_note(m, "failure", json);
}

static mishap *clean(mishap_buffer *json, const mishap_secrets *secrets, bool traces_stay)
{
    mishap *traces = NULL;
    mishap_text text = mishap_buffer_text(json);
    if (!text.length || !suspicious(text, secrets, traces_stay))
        return NULL;
    struct copy copy = { .secrets = secrets, .traces_stay = traces_stay };
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (mishap_json_read(&reader, text))
        copy_value(&copy, reader.root, 0);
    else
        copy.out.failed = true;
    mishap_json_reader_release(&reader);
    if (copy.traces)
        traces = tell_of_trace(text);
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
    return traces;
}

mishap *mishap_hide_json(mishap_buffer *json, const mishap_secrets *secrets)
{
    return clean(json, secrets, false);
}

void mishap_hide_json_secrets(mishap_buffer *json, const mishap_secrets *secrets)
{
    clean(json, secrets, true);
}
