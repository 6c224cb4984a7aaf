/*
 * The log file of a program, and stderr beside it.
 *
 * Ownership: in a command the open file belongs to the process. A lock guards it between threads;
 * between processes O_APPEND and a single write keep lines whole. In a server records are handed
 * over to the process that writes the log (logs.h).
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/path.h"
#include "incident/compact.h"
#include "incident/file.h"
#include "incident/fit.h"
#include "incident/group.h"
#include "incident/logs.h"
#include "incident/record.h"
#include "incident/redact.h"
#include "mishap/inside.h"

enum {
    ROOM = 4096, /* enough for most records, and for the start of any text without memory */
    MOST_TEXT = MISHAP_RING_RECORD - MISHAP_INCIDENT_LINE - 64, /* of a record for people */
};

/* -- where it is ------------------------------------------------------------------------------- */

bool mishap_incident_log_path(const char *program, char *path, size_t size)
{
    char above[MISHAP_LOG_PATH];
    const char *given = mishap_system_setting(program, "LOG");
    if (given)
        return MISHAP_PATH(path, size, given);
    return mishap_system_user_folder("XDG_STATE_HOME", ".local/state", above, sizeof above) &&
           MISHAP_PATH(path, size, above, "/", program, "/", program, ".log");
}

bool mishap_incident_log_is_off(const char *program)
{
    const char *given = mishap_system_setting(program, "LOG");
    return given && !*given;
}

/* -- for people ---------------------------------------------------------------------------------
 */

/* Indent each line further than the first line of an entry, so that no text can look like an
 * entry. */
static void put_indented(mishap_buffer *b, mishap_text text)
{
    while (text.length) {
        const char *end = memchr(text.data, '\n', text.length);
        size_t length = end ? (size_t)(end - text.data) + 1 : text.length;
        MISHAP_PUT(b, "  ");
        mishap_put_printable(b, (mishap_text){ text.data, length });
        text.data += length;
        text.length -= length;
    }
}

static void put_word(mishap_buffer *b, const mishap_secrets *secrets, const char *word)
{
    mishap_buffer hidden = { 0 };
    mishap_secrets_put_hidden(&hidden, secrets, mishap_text_of(word));
    MISHAP_PUT(b, " ");
    mishap_put_printable_line(b, mishap_buffer_text(&hidden));
    b->failed = b->failed || hidden.failed;
    mishap_buffer_release(&hidden);
}

static void put_head(mishap_buffer *b, const mishap_incident_entry *entry)
{
    mishap_clock_put_timestamp(b, mishap_clock_now_ms());
    put_word(b, NULL, entry->id);
    put_word(b, NULL, entry->program);
    if (entry->shown || entry->operation)
        put_word(b, entry->secrets, entry->shown ? entry->shown : entry->operation);
    MISHAP_PUT(b, "\n");
}

/* The log is read on a terminal, and it may quote text of a caller. */
static void put_clean(mishap_buffer *b, const mishap_incident_entry *entry, mishap_buffer *account)
{
    mishap_buffer hidden = { 0 }, without = { 0 };
    mishap_secrets_put_hidden(&hidden, entry->secrets, mishap_buffer_text(account));
    mishap_redact_put_handles(&without, mishap_buffer_text(&hidden));
    put_indented(b, mishap_buffer_text(&without));
    b->failed = b->failed || account->failed || hidden.failed || without.failed;
    mishap_buffer_release(&without);
    mishap_buffer_release(&hidden);
    mishap_buffer_reset(account);
}

/* Write the whole account, as mishap_account() does. In a server the stacks are addresses: the
 * process that writes the log looks up the names. */
static void put_entry(mishap_buffer *b, const mishap_incident_entry *entry, bool hand_over)
{
    char storage[ROOM];
    mishap_buffer account;
    mishap_buffer_init(&account, storage, sizeof storage);
    put_head(b, entry);
    for (const mishap *m = entry->failure, *next; m; m = next) {
        next = m->cause ? m->cause : m == entry->removed ? NULL : entry->removed;
        mishap_account_put_one(&account, m);
        if (!hand_over)
            mishap_trace_put(&account, &m->trace);
        put_clean(b, entry, &account);
        if (hand_over)
            mishap_trace_put_marked(b, &m->trace);
        if (next)
            MISHAP_PUT(&account, "caused by ");
    }
    mishap_buffer_release(&account);
}

/* If there was no memory or no room for all of it, cut it to whole lines. */
static void cut_line(mishap_buffer *text)
{
    while (text->length && text->data[text->length - 1] != '\n')
        text->length--;
}

/* -- when it cannot be written ----------------------------------------------------------------- */

void mishap_incident_put_why(mishap_buffer *why, const char *path, int error)
{
    char reason[100];
    if (!path[0]) {
        MISHAP_PUT(why, "There is no place for a log.");
        return;
    }
    mishap_system_error(error, reason, sizeof reason);
    MISHAP_PUT(why, "The log ");
    mishap_put_printable_line(why, mishap_text_of(path));
    MISHAP_PUT(why, " cannot be written: ");
    mishap_buffer_put_text(why, mishap_text_of(reason));
    MISHAP_PUT(why, ".");
}

void mishap_incident_announce(const char *program, const char *path, int error)
{
    char storage[ROOM];
    mishap_buffer line;
    mishap_buffer_init(&line, storage, sizeof storage);
    mishap_buffer_put_text(&line, mishap_text_of(program));
    MISHAP_PUT(&line, ": ");
    mishap_incident_put_why(&line, path, error);
    MISHAP_PUT(&line, " What belongs there goes to standard error.\n");
    mishap_log_error(mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

/* -- in a command ------------------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    mishap_log_file file;
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER, .file = MISHAP_LOG_FILE() };

/* False: it cannot be written, and the sentence says why. */
static bool write_to_log(const char *program, mishap_text text, mishap_buffer *why)
{
    char path[MISHAP_LOG_PATH];
    if (!mishap_incident_log_path(program, path, sizeof path)) {
        mishap_incident_put_why(why, "", 0);
        return false;
    }
    pthread_mutex_lock(&journal.lock);
    bool written = mishap_log_file_open(&journal.file, path) &&
                   mishap_log_file_write(&journal.file, text);
    int error = errno;
    pthread_mutex_unlock(&journal.lock);
    if (!written)
        mishap_incident_put_why(why, path, error);
    return written;
}

/* Stacks without names get the names that can be looked up quickly. */
static void write_to_stderr(const mishap_buffer *text)
{
    mishap_buffer named = { 0 };
    bool marked = mishap_trace_is_marked(mishap_buffer_text(text));
    if (marked)
        mishap_trace_unmark(&named, mishap_buffer_text(text), false);
    mishap_log_error(mishap_buffer_text(marked ? &named : text));
    mishap_buffer_release(&named);
}

/* The record in memory of the caller; without memory for all of it, the least. */
static void put_record(mishap_buffer *json, char storage[ROOM], const mishap_incident_entry *entry,
                       const mishap_record_facts *facts)
{
    mishap_buffer_init(json, storage, ROOM);
    mishap_record_put(json, entry, facts);
    if (!json->failed)
        return;
    mishap_buffer_release(json);
    mishap_buffer_init(json, storage, ROOM);
    mishap_record_put_least(json, entry, facts);
}

static bool is_serious(const mishap_incident_entry *entry)
{
    return (entry->removed && mishap_incident_is_one(entry->removed)) ||
           mishap_incident_is_one(entry->failure);
}

/* A reason that there is no memory for is left out. */
static void put_reason(mishap_buffer *text, const mishap_incident_entry *entry, mishap_text why)
{
    mishap_buffer line = { 0 };
    if (!why.length)
        return;
    mishap_record_put_reason(&line, mishap_log_is_json(), entry->program, entry->operation,
                             entry->id, why);
    if (!line.failed)
        mishap_buffer_put_text(text, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

/* The text for people on stderr, with the reason as its last line if the log has refused it. Its
 * room is not to be a part of the stack of each record. */
static __attribute__((noinline)) void tell_person(const mishap_incident_entry *entry,
                                                  mishap_text json, mishap_text why)
{
    char storage[ROOM];
    mishap_buffer text;
    mishap_buffer_init(&text, storage, sizeof storage);
    if (mishap_log_is_json())
        mishap_buffer_put_text(&text, json);
    else
        put_entry(&text, entry, mishap_log_is_kept(MISHAP_LOG_ERRORS));
    if (text.failed)
        cut_line(&text);
    put_reason(&text, entry, why);
    write_to_stderr(&text);
    mishap_buffer_release(&text);
}

/* Looking up names takes milliseconds: that is for what concerns the operator. The stack of a call
 * that was refused for its arguments says nothing. */
static mishap_record_stack stack_in_command(const mishap *failure)
{
    if (mishap_log_is_kept(MISHAP_LOG_ERRORS))
        return MISHAP_RECORD_EXPORTED;
    return mishap_incident_is_one(failure)                       ? MISHAP_RECORD_IN_DETAIL
           : mishap_told(failure)->category == MISHAP_VALIDATION ? MISHAP_RECORD_NO_STACK
                                                                 : MISHAP_RECORD_EXPORTED;
}

/* The names for the stack serve the group, too: finding them means reading all symbols of the
 * program. */
static void find_names(const mishap *failure, mishap_symbol symbols[MISHAP_TRACE_MAX],
                       mishap_record_facts *facts)
{
    facts->stack = stack_in_command(failure);
    if (facts->stack != MISHAP_RECORD_EXPORTED)
        return;
    mishap_symbols_find_trace(symbols, &failure->trace);
    facts->symbols = symbols;
}

/* Write the record to the log or, if that fails and it concerns the operator, to stderr: nothing is
 * lost. */
static bool record_by_self(const mishap_incident_entry *entry, bool to_log)
{
    mishap_symbol symbols[MISHAP_TRACE_MAX];
    mishap_record_facts facts = {
        .duration_ns = entry->started_ns ? mishap_clock_monotonic_ns() - entry->started_ns : -1,
        .role = mishap_logs_role(),
    };
    char storage[ROOM];
    mishap_buffer json, why = { 0 };
    bool written = false, serious = is_serious(entry);
    find_names(entry->failure, symbols, &facts);
    facts.group = mishap_incident_group_once(entry->operation, entry->failure, facts.symbols);
    mishap_buffer_init(&json, storage, sizeof storage);
    if (to_log || mishap_log_is_json())
        put_record(&json, storage, entry, &facts);
    mishap_buffer_put_char(&json, '\n');
    if (to_log)
        written = write_to_log(entry->program, mishap_buffer_text(&json), &why);
    if (entry->to_stderr || (to_log && !written && serious))
        tell_person(entry, mishap_buffer_text(&json), mishap_buffer_text(&why));
    mishap_buffer_release(&why);
    mishap_buffer_release(&json);
    return written;
}

/* -- in a server ------------------------------------------------------------------------------- */

static bool lose_one(void)
{
    mishap_log_lose(MISHAP_LOG_INCIDENTS, 1);
    return false;
}

/* If it is too long, cut it to whole lines. */
static void cut_text(mishap_buffer *text)
{
    char rest[100];
    size_t whole = text->length;
    if (text->length < MOST_TEXT)
        return;
    text->length = MOST_TEXT - sizeof rest;
    cut_line(text);
    int length = snprintf(rest, sizeof rest, "  %zu more bytes were left out\n",
                          whole - text->length);
    mishap_buffer_put(text, rest, (size_t)length);
}

static bool hand_over(mishap_ring *ring, uint32_t kind, mishap_text json, mishap_text text,
                      bool serious, bool to_stderr)
{
    mishap_ring_whole head = { .json_length = (uint32_t)json.length,
                               .text_length = (uint32_t)text.length,
                               .serious = serious,
                               .to_stderr = to_stderr };
    char *to = mishap_ring_reserve(ring, kind, sizeof head + json.length + text.length);
    if (!to)
        return lose_one();
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, json.data, json.length);
    if (text.length)
        memcpy(to + sizeof head + json.length, text.data, text.length);
    mishap_ring_publish(ring);
    if (mishap_ring_wake(ring, true))
        mishap_log_add(MISHAP_LOG_INCIDENTS, (mishap_text){ "", 0 });
    return true;
}

/* The process that writes looks up names, also for stderr. */
static bool record_whole(mishap_ring *ring, const mishap_incident_entry *entry,
                         const mishap_record_facts *facts, const mishap_limit_kind *kind)
{
    char storage[ROOM], room[ROOM];
    mishap_buffer json, text;
    bool serious = is_serious(entry), kept = false;
    mishap_buffer_init(&text, room, sizeof room);
    put_record(&json, storage, entry, facts);
    if ((serious || entry->to_stderr) && !mishap_log_is_json())
        put_entry(&text, entry, true);
    if (text.failed)
        cut_line(&text);
    cut_text(&text);
    mishap_limits_spend(mishap_logs_limits(), kind, json.length, mishap_clock_monotonic_ns());
    if (json.failed)
        lose_one();
    else
        kept = hand_over(ring, MISHAP_RING_WHOLE, mishap_buffer_text(&json),
                         mishap_buffer_text(&text), serious, entry->to_stderr);
    if (!kept && entry->to_stderr)
        write_to_stderr(&text);
    mishap_buffer_release(&text);
    mishap_buffer_release(&json);
    return kept;
}

/* Code of the caller that fails is no fault of the server. */
static bool is_fault(const mishap_public *told)
{
    return told->category == MISHAP_SYSTEM ||
           (told->category == MISHAP_EXECUTION && told->code->http_status >= 500);
}

static bool record_in_server(mishap_ring *ring, const mishap_incident_entry *entry)
{
    unsigned char id[16], like[16];
    int64_t now = mishap_clock_monotonic_ns();
    const mishap_public *told = mishap_told(entry->failure);
    const mishap_record_facts facts = {
        .group = mishap_incident_group(entry->operation, entry->failure),
        .duration_ns = entry->started_ns ? now - entry->started_ns : -1,
        .role = mishap_logs_role(),
        .stack = MISHAP_RECORD_MARKED,
    };
    const mishap_limit_kind kind = {
        .caller = entry->caller,
        .group = facts.group,
        .fault = is_fault(told) || (entry->removed && is_fault(mishap_told(entry->removed)))
    };
    bool brief = entry->brief && !kind.fault;
    if (brief)
        memset(like, 0, sizeof like);
    if (!mishap_record_read_id(entry->id, id) ||
        (!brief && mishap_limits_ask(mishap_logs_limits(), &kind, id, now, like)))
        return record_whole(ring, entry, &facts, &kind);
    if (!mishap_compact_put(ring, entry, facts.group, id, like, facts.duration_ns))
        return lose_one();
    if (mishap_ring_wake(ring, false))
        mishap_log_add(MISHAP_LOG_INCIDENTS, (mishap_text){ "", 0 });
    return true;
}

/* -- either ------------------------------------------------------------------------------------ */

bool mishap_incident_record(const mishap_incident_entry *entry)
{
    mishap_ring *ring = mishap_logs_ring();
    bool kept = false, off = !ring && mishap_incident_log_is_off(entry->program);
    int error = errno;
    if (ring)
        kept = record_in_server(ring, entry);
    else if (!off || entry->to_stderr)
        kept = record_by_self(entry, !off);
    errno = error;
    return kept;
}

/* The same as text for people. */
static void put_line_text(mishap_buffer *text, const char *program, const char *operation,
                          const char *id, mishap_text words)
{
    mishap_clock_put_timestamp(text, mishap_clock_now_ms());
    put_word(text, NULL, id);
    put_word(text, NULL, program);
    put_word(text, NULL, operation);
    MISHAP_PUT(text, "\n");
    put_indented(text, words);
    MISHAP_PUT(text, "\n");
}

void mishap_incident_line(const char *program, const char *operation, const char *id,
                          mishap_text words, bool to_stderr)
{
    char storage[ROOM], room[ROOM];
    mishap_buffer json, text, why = { 0 };
    mishap_ring *ring = mishap_logs_ring();
    int error = errno;
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_buffer_init(&text, room, sizeof room);
    mishap_record_put_line(&json, program, operation, id, words);
    put_line_text(&text, program, operation, id, words);
    if (ring) {
        hand_over(ring, MISHAP_RING_LINE, mishap_buffer_text(&json), mishap_buffer_text(&text),
                  true, to_stderr);
        to_stderr = false;
    } else {
        MISHAP_PUT(&json, "\n");
        if (!mishap_incident_log_is_off(program))
            to_stderr = !write_to_log(program, mishap_buffer_text(&json), &why) || to_stderr;
    }
    if (to_stderr)
        mishap_log_error(mishap_buffer_text(mishap_log_is_json() ? &json : &text));
    mishap_buffer_release(&why);
    mishap_buffer_release(&text);
    mishap_buffer_release(&json);
    errno = error;
}
