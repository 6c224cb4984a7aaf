/*
 * What a check has seen at a place. Every text comes from a target that may be hostile: it is
 * redacted, repaired to UTF-8 and cut before it is kept.
 */
#include <stdio.h>

#include "audit/inside.h"

enum { MOST_READ = 1 << 21 }; /* bytes of a text that are looked at */

/* -- credentials ------------------------------------------------------------------------------- */

/* A text in its making, without what the leak detector found. */
struct redaction {
    mishap_text text;
    mishap_buffer *to;
    size_t done; /* bytes of the text that were copied or left out */
    size_t count;
    bool whole; /* leave out all of a match, not only its secret */
};

static void leave_out(struct redaction *r, size_t from, size_t to)
{
    r->count++;
    if (to <= r->done)
        return;
    if (from > r->done)
        mishap_buffer_put(r->to, r->text.data + r->done, from - r->done);
    if (from >= r->done)
        mishap_buffer_put_text(r->to, mishap_guard_redacted);
    r->done = to;
}

/* Behind the limit of the detector the text was not judged, so nothing of it is kept. */
static void redact_leak(void *state, const mishap_leak *leak)
{
    struct redaction *r = state;
    bool secret = leak->kind == MISHAP_LEAK_CREDENTIAL || leak->kind == MISHAP_LEAK_CONNECTION ||
                  leak->kind == MISHAP_LEAK_ENVIRONMENT;
    if (leak->kind == MISHAP_LEAK_LIMIT)
        leave_out(r, leak->start, r->text.length);
    else if (secret && leak->confidence == MISHAP_LEAK_HIGH && leak->secret_length && !r->whole)
        leave_out(r, leak->secret, leak->secret + leak->secret_length);
    else if (secret && leak->confidence == MISHAP_LEAK_HIGH)
        leave_out(r, leak->start, leak->start + leak->length);
}

/* The text without credentials, in the arena. The result is judged again: a credential may have
 * stood inside the match of another. What is still found then goes with its whole match, and at
 * last the whole text. No data: there is no memory. */
static mishap_text redact_credentials(mishap_arena *room, mishap_text text)
{
    enum { ROUNDS = 5 };
    for (int i = 0; text.data && text.length && i <= ROUNDS; i++) {
        mishap_buffer to = { 0 };
        struct redaction r = { .text = text, .to = &to, .whole = i > 1 };
        mishap_leak_scan(text, NULL, redact_leak, &r);
        if (!r.count)
            return text;
        mishap_buffer_put(&to, text.data + r.done, text.length - r.done);
        text = to.failed     ? (mishap_text){ NULL, 0 }
               : i == ROUNDS ? mishap_guard_redacted
                             : mishap_arena_copy(room, mishap_buffer_text(&to));
        mishap_buffer_release(&to);
    }
    return text;
}

/* -- texts ------------------------------------------------------------------------------------- */

mishap_text mishap_audit_keep(mishap_audit *audit, mishap_text text, size_t most)
{
    static const mishap_text none = { NULL, 0 };
    static const mishap_text more = MISHAP_TEXT("\xe2\x80\xa6"); /* an ellipsis */
    if (!text.data)
        return none;
    if (text.length > MOST_READ)
        text.length = MOST_READ;
    mishap_buffer hidden = { 0 };
    mishap_arena room;
    mishap_arena_init(&room, NULL, 0);
    mishap_text kept = mishap_utf8_clean(&room, text);
    if (kept.data && !mishap_secrets_none(audit->settings.secrets)) {
        mishap_secrets_put_hidden(&hidden, audit->settings.secrets, kept);
        kept = hidden.failed ? none : mishap_buffer_text(&hidden);
        if (!hidden.failed && !kept.data)
            kept = mishap_text_of("");
    }
    if (kept.data)
        kept = mishap_guard_redact(&room, kept);
    if (kept.data)
        kept = redact_credentials(&room, kept);
    if (kept.data && kept.length > most) {
        mishap_buffer cut = { 0 };
        mishap_buffer_put(&cut, kept.data, mishap_utf8_cut(kept, most - more.length));
        mishap_buffer_put_text(&cut, more);
        kept = cut.failed ? none : mishap_arena_copy(&audit->arena, mishap_buffer_text(&cut));
        mishap_buffer_release(&cut);
    } else if (kept.data) {
        kept = mishap_arena_copy(&audit->arena, kept);
    }
    mishap_buffer_release(&hidden);
    mishap_arena_release(&room);
    if (!kept.data)
        audit->no_memory = true;
    return kept;
}

const char *mishap_audit_quote(mishap_audit *audit, mishap_text value, size_t most)
{
    mishap_text kept = mishap_audit_keep(audit, value.data ? value : mishap_text_of(""), most);
    return kept.data ? kept.data : "";
}

/* -- findings ---------------------------------------------------------------------------------- */

/* Known by check, place and key alone, in every version and on every machine. */
static void put_fingerprint(mishap_audit_finding *finding)
{
    static const mishap_text nul = { "", 1 };
    uint64_t hash = mishap_text_hash(mishap_text_of(finding->check->id));
    hash = mishap_text_hash_on(mishap_text_hash_on(hash, nul), finding->place);
    hash = mishap_text_hash_on(mishap_text_hash_on(hash, nul), finding->key);
    snprintf(finding->fingerprint, sizeof finding->fingerprint, "%016llx",
             (unsigned long long)hash);
}

static bool is_reported(const struct mishap_audit_joined *joined, mishap_audit_outcome outcome,
                        mishap_text place, mishap_text key)
{
    for (const struct mishap_audit_noted *n = joined->first; n; n = n->next)
        if (n->finding.outcome == outcome && mishap_text_equal(n->finding.place, place) &&
            mishap_text_equal(n->finding.key, key))
            return true;
    return false;
}

static void add_finding(mishap_audit *audit, struct mishap_audit_joined *joined,
                        const mishap_audit_check *check, mishap_audit_outcome outcome,
                        const mishap_audit_seen *seen)
{
    mishap_text place = mishap_audit_keep(audit, mishap_text_of(seen->place ? seen->place : ""),
                                          MISHAP_AUDIT_MOST_NAME);
    mishap_text key = mishap_audit_keep(audit, mishap_text_of(seen->key ? seen->key : ""),
                                        MISHAP_AUDIT_MOST_NAME);
    if (!place.data || !key.data || is_reported(joined, outcome, place, key))
        return;
    if (audit->findings >= MISHAP_AUDIT_MOST_FINDINGS) {
        audit->cut++;
        return;
    }
    struct mishap_audit_noted *noted = mishap_arena_take(&audit->arena, sizeof *noted);
    if (!noted) {
        audit->no_memory = true;
        return;
    }
    *noted = (struct mishap_audit_noted){
        .finding = { .check = check,
                     .outcome = outcome,
                     .place = place,
                     .key = key,
                     .detail = mishap_audit_keep(audit, seen->detail, MISHAP_AUDIT_MOST_TEXT),
                     .sent = mishap_audit_keep(audit, seen->sent, MISHAP_AUDIT_MOST_TEXT),
                     .got = mishap_audit_keep(audit, seen->got, MISHAP_AUDIT_MOST_TEXT),
                     .line = seen->line }
    };
    put_fingerprint(&noted->finding);
    *joined->last = noted;
    joined->last = &noted->next;
    joined->count++;
    audit->findings++;
}

void mishap_audit_report(mishap_audit *audit, const mishap_audit_check *check,
                         mishap_audit_outcome outcome, const mishap_audit_seen *seen)
{
    size_t i = 0;
    while (i < audit->check_count && &audit->settings.checks[i] != check)
        i++;
    if (i == audit->check_count)
        return; /* not a check of this area: its author finds that it stays undecided */
    struct mishap_audit_joined *joined = &audit->joined[i];
    if (check->advice && outcome == MISHAP_AUDIT_FAILED)
        outcome = MISHAP_AUDIT_ADVICE;
    if (outcome > joined->outcome)
        joined->outcome = outcome;
    if (outcome == MISHAP_AUDIT_PASSED)
        joined->passed++;
    else
        add_finding(audit, joined, check, outcome, seen);
}
