/*
 * The log file of a program, and stderr beside it.
 *
 * Ownership: in a command the open file belongs to the process. A lock guards it between threads;
 * between processes O_APPEND and a single write keep entries whole. In a server entries are handed
 * over to the process that writes the log (logs.h).
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "incident/file.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "mishap/inside.h"

enum { ROOM = 4096 }; /* enough for most entries, and for the start of any if there is no memory */

/* -- where it is ------------------------------------------------------------------------------- */

bool mishap_incident_log_path(const char *program, char *path, size_t size)
{
    char above[MISHAP_LOG_PATH];
    const char *given = mishap_system_setting(program, "LOG");
    int length = 0;
    if (given)
        length = snprintf(path, size, "%s", given);
    else if (mishap_system_user_folder("XDG_STATE_HOME", ".local/state", above, sizeof above))
        length = snprintf(path, size, "%s/%s/%s.log", above, program, program);
    return length > 0 && (size_t)length < size;
}

bool mishap_incident_log_is_off(const char *program)
{
    const char *given = mishap_system_setting(program, "LOG");
    return given && !*given;
}

/* -- entries ----------------------------------------------------------------------------------- */

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
    if (entry->operation)
        put_word(b, entry->secrets, entry->operation);
    MISHAP_PUT(b, "\n");
}

/* The log is read on a terminal, and it may quote text of a caller. */
static void put_clean(mishap_buffer *b, const mishap_incident_entry *entry, mishap_buffer *account)
{
    mishap_buffer hidden = { 0 };
    mishap_secrets_put_hidden(&hidden, entry->secrets, mishap_buffer_text(account));
    put_indented(b, mishap_buffer_text(&hidden));
    b->failed = b->failed || account->failed || hidden.failed;
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
    for (const mishap *m = entry->failure; m; m = m->cause) {
        mishap_account_put_one(&account, m);
        if (!hand_over)
            mishap_trace_put(&account, &m->trace);
        put_clean(b, entry, &account);
        if (hand_over)
            mishap_trace_put_marked(b, &m->trace);
        if (m->cause)
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

/* Instead of a whole account: the id of an entry that is like this one. */
static void put_short_entry(mishap_buffer *b, const mishap_incident_entry *entry, const char *like)
{
    put_head(b, entry);
    MISHAP_PUT(b, "  ");
    mishap_buffer_put_text(b, mishap_told(entry->failure)->code->name);
    MISHAP_PUT(b, ": one of many");
    if (like[0])
        MISHAP_PUT(b, "; written in full: ");
    mishap_buffer_put_text(b, mishap_text_of(like));
    MISHAP_PUT(b, "\n");
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

bool mishap_incident_is_one(const mishap *failure)
{
    mishap_category category = mishap_told(failure)->category;
    return category == MISHAP_SYSTEM || category == MISHAP_EXECUTION ||
           (category != MISHAP_VALIDATION && (failure->cause || failure->noted));
}

/* -- writing ----------------------------------------------------------------------------------- */

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

/* Write the entry to the log or, if that fails, to stderr with the reason as its last line: nothing
 * is lost. An entry that does not concern the operator is dropped then. */
static bool write_by_self(const mishap_incident_entry *entry, mishap_buffer *text, bool *to_stderr)
{
    mishap_buffer why = { 0 };
    bool written = write_to_log(entry->program, mishap_buffer_text(text), &why);
    if (!written && (*to_stderr || mishap_incident_is_one(entry->failure))) {
        MISHAP_PUT(text, "  ");
        mishap_buffer_put_text(text, mishap_buffer_text(&why));
        MISHAP_PUT(text, "\n");
        *to_stderr = true;
    }
    mishap_buffer_release(&why);
    return written;
}

/* In a server another process writes the entry, also to stderr if that is asked for. If it cannot,
 * it says so there. */
static bool hand_over(const mishap_incident_entry *entry, mishap_buffer *text, bool *to_stderr)
{
    bool serious = entry->to_stderr || mishap_incident_is_one(entry->failure);
    if (text->length >= MISHAP_LOG_RECORD) {
        char rest[100];
        size_t whole = text->length;
        text->length = MISHAP_LOG_RECORD - sizeof rest;
        cut_line(text);
        int length = snprintf(rest, sizeof rest, "  %zu more bytes were left out\n",
                              whole - text->length);
        mishap_buffer_put(text, rest, (size_t)length);
    }
    size_t length = text->length;
    if (*to_stderr)
        mishap_buffer_put_char(text, MISHAP_LOG_TO_STDERR);
    bool added = mishap_log_add(MISHAP_LOG_INCIDENTS, mishap_buffer_text(text), serious);
    text->length = length;
    if (!added)
        mishap_log_lose(MISHAP_LOG_INCIDENTS, 1);
    *to_stderr = *to_stderr && !added;
    return added;
}

static bool keep_entry(const mishap_incident_entry *entry, mishap_buffer *text, bool *to_stderr)
{
    return mishap_log_is_kept(MISHAP_LOG_INCIDENTS) ? hand_over(entry, text, to_stderr)
                                                    : write_by_self(entry, text, to_stderr);
}

static mishap_limit limit_of(const mishap_incident_entry *entry, char like[MISHAP_ID_LENGTH + 1])
{
    mishap_limits *limits = mishap_logs_limits();
    const mishap_public *told = mishap_told(entry->failure);
    bool fault = told->category == MISHAP_SYSTEM || told->category == MISHAP_EXECUTION;
    return limits ? mishap_limits_ask(limits,
                                      &(mishap_limit_kind){ .caller = entry->caller,
                                                            .operation = entry->operation,
                                                            .code = told->code->name,
                                                            .fault = fault },
                                      entry->id, mishap_clock_monotonic_ns(), like)
                  : MISHAP_LIMIT_WHOLE;
}

void mishap_incident_line(const char *program, const char *operation, const char *id,
                          mishap_text words, bool to_stderr)
{
    char storage[ROOM];
    mishap_buffer text, why = { 0 };
    int error = errno;
    mishap_buffer_init(&text, storage, sizeof storage);
    mishap_clock_put_timestamp(&text, mishap_clock_now_ms());
    put_word(&text, NULL, id);
    put_word(&text, NULL, program);
    put_word(&text, NULL, operation);
    MISHAP_PUT(&text, "\n");
    put_indented(&text, words);
    MISHAP_PUT(&text, "\n");
    if (mishap_log_is_kept(MISHAP_LOG_INCIDENTS)) {
        if (!mishap_log_add(MISHAP_LOG_INCIDENTS, mishap_buffer_text(&text), true))
            mishap_log_lose(MISHAP_LOG_INCIDENTS, 1);
    } else if (!mishap_incident_log_is_off(program) &&
               !write_to_log(program, mishap_buffer_text(&text), &why)) {
        to_stderr = true;
    }
    if (to_stderr)
        mishap_log_error(mishap_buffer_text(&text));
    mishap_buffer_release(&why);
    mishap_buffer_release(&text);
    errno = error;
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

bool mishap_incident_record(const mishap_incident_entry *entry)
{
    char storage[ROOM], like[MISHAP_ID_LENGTH + 1];
    mishap_buffer text;
    int error = errno;
    bool kept = false, to_stderr = entry->to_stderr;
    bool to_log = mishap_told(entry->failure)->category != MISHAP_VALIDATION &&
                  !mishap_incident_log_is_off(entry->program);
    if (!to_log && !to_stderr)
        return false;
    mishap_limit limit = limit_of(entry, like);
    if (limit == MISHAP_LIMIT_COUNT)
        return false;
    mishap_buffer_init(&text, storage, sizeof storage);
    if (limit == MISHAP_LIMIT_WHOLE)
        put_entry(&text, entry,
                  mishap_log_is_kept(MISHAP_LOG_INCIDENTS) ||
                      mishap_log_is_kept(MISHAP_LOG_ERRORS));
    else
        put_short_entry(&text, entry, like);
    if (text.failed)
        cut_line(&text);
    if (to_log)
        kept = keep_entry(entry, &text, &to_stderr);
    if (to_stderr)
        write_to_stderr(&text);
    mishap_buffer_release(&text);
    errno = error;
    return kept;
}
