/*
 * The log file of a program, and stderr beside it.
 *
 * Who owns what: the open file belongs to the process. A lock guards it between threads; between
 * processes O_APPEND and a single write keep entries whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "incident/incident.h"
#include "mishap/inside.h"

enum {
    LONGEST_PATH = 4096,
    LOOK_AGAIN_NS = 1000000000,
    ROOM = 4096,       /* enough for most, and for the start of any when there is no memory */
    PATIENCE_MS = 100, /* with a pipe at stderr that is full */
};

/* -- where it is ------------------------------------------------------------------------------- */

bool mishap_incident_log_path(const char *program, char *path, size_t size)
{
    char above[LONGEST_PATH];
    const char *given = mishap_system_setting(program, "LOG");
    int length = 0;
    if (given)
        length = snprintf(path, size, "%s", given);
    else if (mishap_system_user_folder("XDG_STATE_HOME", ".local/state", above, sizeof above))
        length = snprintf(path, size, "%s/%s/%s.log", above, program, program);
    return length > 0 && (size_t)length < size;
}

/* An empty variable says that no log is wanted. */
static bool is_off(const char *program)
{
    const char *given = mishap_system_setting(program, "LOG");
    return given && !*given;
}

/* -- the open file ----------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    int file; /* -1: none is open */
    char path[LONGEST_PATH];
    int64_t looked_ns; /* when it was last made sure that the file is still the one at its path */
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER, .file = -1 };

static bool still_there(const char *path)
{
    struct stat open_file, at_path;
    return fstat(journal.file, &open_file) == 0 && stat(path, &at_path) == 0 &&
           open_file.st_dev == at_path.st_dev && open_file.st_ino == at_path.st_ino;
}

static void close_file(void)
{
    if (journal.file >= 0)
        close(journal.file);
    journal.file = -1;
}

/* Make sure that the file at this path is the one that is open. */
static bool open_file(char *path)
{
    int64_t now = mishap_clock_monotonic_ns();
    bool same = journal.file >= 0 && strcmp(path, journal.path) == 0;
    if (same && now - journal.looked_ns < LOOK_AGAIN_NS)
        return true;
    journal.looked_ns = now;
    if (same && still_there(path))
        return true;
    close_file();
    mishap_system_make_above(path);
    /* A pipe that nobody reads from must not hold the program up. */
    journal.file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (journal.file < 0)
        return false;
    snprintf(journal.path, sizeof journal.path, "%s", path);
    return true;
}

/* -- entries ----------------------------------------------------------------------------------- */

/* Each line further in than the first of an entry, so that no text can pass itself off as one. */
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

static void put_entry(mishap_buffer *b, const mishap_incident_entry *entry)
{
    char storage[ROOM];
    mishap_buffer account, hidden = { 0 };
    mishap_buffer_init(&account, storage, sizeof storage);
    mishap_clock_put_timestamp(b, mishap_clock_now_ms());
    put_word(b, NULL, entry->id);
    put_word(b, NULL, entry->program);
    if (entry->operation)
        put_word(b, entry->secrets, entry->operation);
    MISHAP_PUT(b, "\n");
    /* It is read on a terminal, and what a caller sent may be quoted in it. */
    mishap_account(entry->failure, &account);
    mishap_secrets_put_hidden(&hidden, entry->secrets, mishap_buffer_text(&account));
    put_indented(b, mishap_buffer_text(&hidden));
    b->failed = b->failed || account.failed || hidden.failed;
    mishap_buffer_release(&account);
    mishap_buffer_release(&hidden);
}

/* -- writing ----------------------------------------------------------------------------------- */

/* False: not all of it was written, and errno says why. */
static bool write_all(int file, mishap_text text)
{
    while (text.length) {
        ssize_t count = write(file, text.data, text.length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        text.data += count;
        text.length -= (size_t)count;
    }
    return true;
}

/* Write without waiting, where the kernel can: others may have filled the pipe meanwhile. */
static ssize_t write_now(int file, mishap_text text)
{
    union {
        const char *given;
        void *base; /* it is only read */
    } start = { text.data };
    struct iovec piece = { start.base, text.length };
    ssize_t count = pwritev2(file, &piece, 1, -1, RWF_NOWAIT);
    bool cannot = count < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE;
    return cannot ? write(file, text.data, text.length) : count;
}

/* A pipe that nobody reads from must not hold the program up here either: it is given some time,
 * and after that none for a second. Room for one piece is all that poll() promises. */
static void write_to_stderr(mishap_text text)
{
    static _Atomic int64_t full_ns; /* when it was last found full */
    struct pollfd file = { .fd = STDERR_FILENO, .events = POLLOUT };
    int64_t begun = mishap_clock_monotonic_ns(), full = atomic_load(&full_ns);
    int patience = full && begun - full < LOOK_AGAIN_NS ? 0 : PATIENCE_MS;
    while (text.length) {
        int left = patience - (int)((mishap_clock_monotonic_ns() - begun) / 1000000);
        if (poll(&file, 1, left > 0 ? left : 0) <= 0) {
            atomic_store(&full_ns, mishap_clock_monotonic_ns());
            return;
        }
        mishap_text piece = { text.data, text.length < PIPE_BUF ? text.length : PIPE_BUF };
        ssize_t count = write_now(STDERR_FILENO, piece);
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return;
        text.data += count > 0 ? count : 0;
        text.length -= count > 0 ? (size_t)count : 0;
    }
}

/* The log gets the text, or is only opened if there is none. False: it cannot be written, and the
 * sentence says why. */
static bool write_to_log(const char *program, mishap_text text, mishap_buffer *why)
{
    char path[LONGEST_PATH], reason[100];
    if (!mishap_incident_log_path(program, path, sizeof path)) {
        MISHAP_PUT(why, "There is no place for a log.");
        return false;
    }
    pthread_mutex_lock(&journal.lock);
    bool written = open_file(path) && write_all(journal.file, text);
    int error = errno;
    pthread_mutex_unlock(&journal.lock);
    if (written)
        return true;
    mishap_system_error(error, reason, sizeof reason);
    MISHAP_PUT(why, "The log ");
    mishap_put_printable_line(why, mishap_text_of(path));
    MISHAP_PUT(why, " cannot be written: ");
    mishap_buffer_put_text(why, mishap_text_of(reason));
    MISHAP_PUT(why, ".");
    return false;
}

void mishap_incident_announce(const char *program)
{
    char storage[ROOM];
    mishap_buffer why, line = { 0 };
    mishap_buffer_init(&why, storage, sizeof storage);
    if (!is_off(program) && !write_to_log(program, (mishap_text)MISHAP_TEXT(""), &why)) {
        mishap_buffer_put_text(&line, mishap_text_of(program));
        MISHAP_PUT(&line, ": ");
        mishap_buffer_put_text(&line, mishap_buffer_text(&why));
        MISHAP_PUT(&line, " What belongs there goes to standard error.\n");
        write_to_stderr(mishap_buffer_text(&line));
    }
    mishap_buffer_release(&why);
    mishap_buffer_release(&line);
}

bool mishap_incident_is_one(const mishap *failure)
{
    mishap_category category = mishap_told(failure)->category;
    return category == MISHAP_SYSTEM || category == MISHAP_EXECUTION ||
           (category != MISHAP_VALIDATION && (failure->cause || failure->noted));
}

/* The entry goes to the log, or if it cannot to stderr, with the reason as its last line: nothing
 * is lost. What is none of the operator's business is not worth that. */
static bool keep(const mishap_incident_entry *entry, mishap_buffer *text, bool *to_stderr)
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
    if (!is_off(program) && !write_to_log(program, mishap_buffer_text(&text), &why))
        to_stderr = true;
    if (to_stderr)
        write_to_stderr(mishap_buffer_text(&text));
    mishap_buffer_release(&why);
    mishap_buffer_release(&text);
    errno = error;
}

bool mishap_incident_record(const mishap_incident_entry *entry)
{
    char storage[ROOM];
    mishap_buffer text;
    int error = errno;
    bool kept = false, to_stderr = entry->to_stderr;
    bool internal = mishap_told(entry->failure)->category != MISHAP_VALIDATION;
    if (!internal && !to_stderr)
        return false;
    mishap_buffer_init(&text, storage, sizeof storage);
    put_entry(&text, entry);
    while (text.failed && text.length && text.data[text.length - 1] != '\n')
        text.length--; /* there was no memory for all of it: what is there is whole lines */
    if (internal && !is_off(entry->program))
        kept = keep(entry, &text, &to_stderr);
    if (to_stderr)
        write_to_stderr(mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    errno = error;
    return kept;
}
