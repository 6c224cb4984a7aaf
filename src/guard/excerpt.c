/*
 * An excerpt is the matched text on one line, without what would make the report a leak itself. The
 * rule has said which part is secret. Strings in SQL and in source code may be anything, so they
 * are left out. At last the excerpt is judged like any other text: what a rule for credentials or
 * addresses finds in it is redacted too.
 */
#include "guard/excerpt.h"

#include "base/printable.h"
#include "base/utf8.h"
#include "guard/filter.h"
#include "guard/guard.h"

enum {
    LONGEST = 400, /* so much of a match is looked at */
    MOST_PARTS = 16,
};

/* The text in its making. */
struct draft {
    size_t length;
    char bytes[LONGEST + MOST_PARTS * 16];
};

struct part {
    size_t from, to;
};

/* Parts of the draft to redact, sorted and apart. */
struct parts {
    const char *start;
    size_t open;                  /* from here on all is redacted */
    const mishap_leak_rule *rule; /* that has matched, if it has said that the rest is secret */
    size_t count;
    struct part list[MOST_PARTS];
};

static void add_part(struct parts *parts, size_t from, size_t to)
{
    if (from >= to)
        return;
    size_t at = 0;
    while (at < parts->count && parts->list[at].to < from)
        at++;
    if (at < parts->count && parts->list[at].from <= to) { /* they touch: one part */
        struct part *part = &parts->list[at];
        part->from = part->from < from ? part->from : from;
        part->to = part->to > to ? part->to : to;
        while (at + 1 < parts->count && parts->list[at + 1].from <= part->to) {
            part->to = part->to > parts->list[at + 1].to ? part->to : parts->list[at + 1].to;
            memmove(&parts->list[at + 1], &parts->list[at + 2],
                    (parts->count - at - 2) * sizeof *parts->list);
            parts->count--;
        }
        return;
    }
    if (parts->count == MOST_PARTS) { /* all from the last one on */
        parts->list[MOST_PARTS - 1].to = LONGEST;
        if (from < parts->list[MOST_PARTS - 1].from)
            parts->list[MOST_PARTS - 1].from = from;
        return;
    }
    memmove(&parts->list[at + 1], &parts->list[at], (parts->count - at) * sizeof *parts->list);
    parts->list[at] = (struct part){ from, to };
    parts->count++;
}

/* The contents of all strings: those in ', or in any quotation marks. One that does not end is
 * secret to the end. */
static void add_strings(struct parts *parts, mishap_text text, bool all)
{
    for (size_t at = 0; at < text.length; at++) {
        char c = text.data[at];
        if (c != '\'' && !(all && leak_quote(c)))
            continue;
        const char *close = memchr(text.data + at + 1, text.data[at], text.length - at - 1);
        size_t end = close ? (size_t)(close - text.data) : text.length;
        add_part(parts, at + 1, end);
        at = end;
    }
}

/* From where on all is redacted. */
static size_t redacted_from(const struct parts *parts, size_t length)
{
    const struct part *last = parts->count ? &parts->list[parts->count - 1] : NULL;
    return last && last->to >= length ? last->from : length;
}

/* Is what this literal tells of redacted? The rule that has matched has said so if its literal
 * stands right before. */
static bool is_redacted(const struct parts *parts, const mishap_leak_place *place)
{
    const char *open = parts->start + parts->open, *at = place->behind;
    if (place->at >= open || place->rule != parts->rule)
        return place->at >= open;
    while (at < open && leak_kinds(*at) & (LEAK_SPACE | LEAK_QUOTE))
        at++;
    return at >= open;
}

static bool add_found(void *state, mishap_leak_place *place)
{
    struct parts *parts = state;
    if (is_redacted(parts, place))
        return true;
    if (mishap_leak_judge(place) && !place->limit) {
        const char *from = place->secret ? place->secret : place->from;
        const char *to = place->secret ? place->secret_end : place->to;
        add_part(parts, (size_t)(from - parts->start), (size_t)(to - parts->start));
        parts->open = redacted_from(parts, (size_t)(place->end - parts->start));
    }
    return place->steps < 16 * LONGEST;
}

/* What is secret in a text that is no longer than LONGEST. */
static void find_secrets(struct parts *parts, mishap_leak_kind kind, mishap_text text)
{
    if (kind == MISHAP_LEAK_SQL)
        add_strings(parts, text, false);
    if (kind == MISHAP_LEAK_SOURCE || kind == MISHAP_LEAK_ENVIRONMENT)
        add_strings(parts, text, true);
    for (size_t from = 0, start, length;
         text.length && (length = mishap_guard_find_password(text, from, &start));
         from = start + length)
        add_part(parts, start, start + length);
    mishap_leak_place place;
    mishap_leak_begin(&place, text.data, text.data + text.length);
    parts->start = text.data;
    parts->open = redacted_from(parts, text.length);
    if (parts->open == text.length)
        parts->rule = NULL;
    /* A literal that begins before is found here at the latest. */
    size_t to = parts->open + MISHAP_LEAK_OFFSET + 2;
    mishap_leak_filter(&place, place.start, to < text.length ? place.start + to : place.end,
                       1u << MISHAP_LEAK_CREDENTIAL, add_found, parts);
}

static void put_draft(struct draft *draft, const char *data, size_t length)
{
    if (length > sizeof draft->bytes - draft->length)
        length = sizeof draft->bytes - draft->length;
    memcpy(draft->bytes + draft->length, data, length);
    draft->length += length;
}

static void put_without_secrets(struct draft *draft, const struct parts *parts, mishap_text text)
{
    size_t done = 0;
    for (size_t i = 0; i < parts->count && parts->list[i].from < text.length; i++) {
        put_draft(draft, text.data + done, parts->list[i].from - done);
        put_draft(draft, mishap_guard_redacted.data, mishap_guard_redacted.length);
        done = parts->list[i].to < text.length ? parts->list[i].to : text.length;
    }
    put_draft(draft, text.data + done, text.length - done);
}

/* Most excerpts are plain ASCII on one line, but for white space. False: this one is not. */
static bool put_plain_line(char *to, const struct draft *draft)
{
    size_t length = draft->length < MISHAP_LEAK_EXCERPT ? draft->length : MISHAP_LEAK_EXCERPT;
    for (size_t i = 0; i < length; i++) {
        char c = leak_space(draft->bytes[i]) ? ' ' : draft->bytes[i];
        if (c < ' ' || c > '~')
            return false;
        to[i] = c;
    }
    return true;
}

/* On one line, as valid UTF-8: a question mark stands for what breaks it. */
static size_t put_clean_line(char *to, struct draft *draft)
{
    if (put_plain_line(to, draft))
        return draft->length < MISHAP_LEAK_EXCERPT ? draft->length : MISHAP_LEAK_EXCERPT;
    char storage[4 * sizeof draft->bytes];
    mishap_buffer line;
    mishap_text text = { draft->bytes, draft->length };
    for (size_t done = 0; done < text.length; done++) {
        done += mishap_utf8_valid_length((mishap_text){ text.data + done, text.length - done });
        if (done < text.length)
            draft->bytes[done] = '?';
    }
    for (size_t i = 0; i < draft->length; i++)
        if (leak_space(draft->bytes[i]))
            draft->bytes[i] = ' ';
    mishap_buffer_init(&line, storage, sizeof storage);
    mishap_put_printable_line(&line, text);
    size_t length = mishap_utf8_cut(mishap_buffer_text(&line), MISHAP_LEAK_EXCERPT);
    memcpy(to, line.data, length);
    mishap_buffer_release(&line);
    return length;
}

size_t mishap_leak_excerpt(char *to, const mishap_leak_rule *rule, mishap_text text, size_t secret,
                           size_t secret_end)
{
    struct draft draft;
    struct parts parts;
    parts.rule = rule;
    draft.length = parts.count = 0;
    if (text.length > LONGEST)
        text.length = LONGEST;
    add_part(&parts, secret, secret_end < LONGEST ? secret_end : LONGEST);
    find_secrets(&parts, rule->kind, text);
    put_without_secrets(&draft, &parts, text);
    return put_clean_line(to, &draft);
}
