/*
 * A stack as text.
 *
 * Names and lines are looked up by another process, which is forked for it: libdw (symbols.h) may
 * be slow, and it must neither be upset by the heap of a program that has crashed nor end that
 * program when memory runs out. What it finds is kept for the next stacks, which mostly lead
 * through the same places. Without it, functions that the program exports have names.
 *
 * Nothing that serves waits for that: it writes addresses, and the process that writes the log
 * makes lines of them. That one was forked from the same program, so the addresses mean the same
 * there.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/signals.h"
#include "mishap/symbols.h"
#include "mishap/trace.h"

enum {
    KEPT = 256,         /* places whose lines are kept */
    LONGEST = 480,      /* bytes of lines for one place */
    PATIENCE_MS = 2000, /* for all places of a stack; who took longer is not asked again */
    MARK = '\x01',      /* before an address: no printable text has it */
};

/* -- what is known ----------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    size_t next;   /* of those that are kept, to be replaced */
    bool hopeless; /* looking up took too long, or nothing can be forked */
    struct known {
        const void *address;
        char lines[LONGEST]; /* each with its line feed; empty: nothing is known */
    } kept[KEPT];
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct known *find_known(const void *address)
{
    for (size_t i = 0; i < KEPT; i++)
        if (all.kept[i].address == address)
            return &all.kept[i];
    return NULL;
}

static bool is_among(const void *const *addresses, size_t count, const void *address)
{
    for (size_t i = 0; i < count; i++)
        if (addresses[i] == address)
            return true;
    return false;
}

static bool is_shown(const mishap_trace *trace, const void *address)
{
    return address && is_among((const void *const *)trace->addresses, trace->count, address);
}

/* The oldest one makes room that is not in the stack which is shown. No place is kept twice, so
 * there is always one: a stack has far fewer places than are kept. */
static void keep_known(const mishap_trace *trace, const void *address, const char *lines)
{
    while (is_shown(trace, all.kept[all.next % KEPT].address))
        all.next++;
    struct known *known = &all.kept[all.next++ % KEPT];
    known->address = address;
    if (snprintf(known->lines, sizeof known->lines, "%s", lines) >= (int)sizeof known->lines) {
        char *end = strrchr(known->lines, '\n'); /* whole lines */
        known->lines[end ? end + 1 - known->lines : 0] = '\0';
    }
}

/* -- the process that looks up ----------------------------------------------------------------- */

/* It may crash, hang, or end by its own decision, and nothing of the program may come of that: no
 * signal is handled as it was, and no file is open but the pipe. */
static void be_alone(int *out)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int pipe = fcntl(*out, F_DUPFD_CLOEXEC, 4);
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &usual, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "mishap-names");
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    for (int file = 0; file < 3; file++)
        dup2(nothing, file);
    dup3(pipe, 3, O_CLOEXEC);
    close_range(4, ~0U, 0);
    *out = 3;
}

/* The lines of each place with a NUL behind them, as soon as they are found. */
static _Noreturn void look_up(const void *const *addresses, size_t count, int out)
{
    char storage[2 * LONGEST];
    mishap_buffer lines;
    be_alone(&out);
    mishap_buffer_init(&lines, storage, sizeof storage);
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_reset(&lines);
        mishap_symbols_put(&lines, addresses[i]);
        mishap_buffer_put_char(&lines, '\0');
        if (write(out, lines.data, lines.length) != (ssize_t)lines.length)
            break;
    }
    _exit(0);
}

/* -- asking it --------------------------------------------------------------------------------- */

/* All that comes within the time, in pieces that end with NUL. */
static void hear(const mishap_trace *trace, const void *const *addresses, size_t count, int in)
{
    static char room[MISHAP_TRACE_MAX * 2 * LONGEST]; /* under the lock */
    size_t length = 0, used = 0, heard = 0;
    int64_t until = mishap_clock_monotonic_ns() + PATIENCE_MS * INT64_C(1000000);
    while (heard < count) {
        int64_t left = (until - mishap_clock_monotonic_ns()) / 1000000;
        struct pollfd ready = { .fd = in, .events = POLLIN };
        int outcome = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (outcome < 0 && errno == EINTR)
            continue;
        all.hopeless = all.hopeless || outcome == 0;
        ssize_t more = outcome > 0 ? read(in, room + length, sizeof room - length) : 0;
        if (more <= 0)
            return;
        length += (size_t)more;
        for (const char *end; heard < count && (end = memchr(room + used, '\0', length - used));
             used = (size_t)(end - room) + 1)
            keep_known(trace, addresses[heard++], room + used);
    }
}

/* For those addresses of a stack that are not known yet. */
static void ask_for_names(const mishap_trace *trace, const void *const *addresses, size_t count)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        look_up(addresses, count, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        hear(trace, addresses, count, ends[0]);
        mishap_signal_process(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
}

static void learn(const mishap_trace *trace)
{
    const void *unknown[MISHAP_TRACE_MAX];
    size_t count = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (!find_known(trace->addresses[i]) && !is_among(unknown, count, trace->addresses[i]))
            unknown[count++] = trace->addresses[i];
    if (count && !all.hopeless)
        ask_for_names(trace, unknown, count);
}

/* -- as text ----------------------------------------------------------------------------------- */

static void put_one_line(mishap_buffer *buffer, const char *indent, size_t number, mishap_text line)
{
    mishap_buffer_put_text(buffer, mishap_text_of(indent));
    MISHAP_PUT(buffer, "#");
    mishap_buffer_put_uint(buffer, number);
    MISHAP_PUT(buffer, " ");
    mishap_put_printable_line(buffer, line);
    MISHAP_PUT(buffer, "\n");
}

/* Names may be any bytes. */
static void put_json_line(mishap_buffer *buffer, mishap_text line)
{
    char storage[2 * LONGEST];
    mishap_buffer clean;
    mishap_buffer_init(&clean, storage, sizeof storage);
    mishap_put_printable_line(&clean, line);
    mishap_json_string(buffer, mishap_buffer_text(&clean));
    mishap_buffer_release(&clean);
}

/* The lines of one place: with numbers in front, or without `indent` as strings of JSON. */
static void put_lines(mishap_buffer *buffer, const char *indent, size_t *number, mishap_text lines)
{
    while (lines.length) {
        const char *feed = memchr(lines.data, '\n', lines.length);
        size_t length = feed ? (size_t)(feed - lines.data) : lines.length;
        if (indent)
            put_one_line(buffer, indent, (*number)++, (mishap_text){ lines.data, length });
        else
            put_json_line(buffer, (mishap_text){ lines.data, length });
        length += feed != NULL;
        lines.data += length;
        lines.length -= length;
    }
}

void mishap_symbols_find_trace(mishap_symbol symbols[MISHAP_TRACE_MAX], const mishap_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        symbols[i].address = trace->addresses[i];
    mishap_symbols_find(symbols, trace->count);
}

static void put_trace(mishap_buffer *buffer, const char *indent, const mishap_trace *trace,
                      bool in_detail)
{
    char storage[LONGEST];
    mishap_buffer exported;
    mishap_symbol symbols[MISHAP_TRACE_MAX];
    bool found = false;
    size_t number = 0;
    mishap_buffer_init(&exported, storage, sizeof storage);
    if (in_detail) {
        pthread_mutex_lock(&all.lock);
        learn(trace);
    }
    for (size_t i = 0; i < trace->count; i++) {
        const struct known *known = in_detail ? find_known(trace->addresses[i]) : NULL;
        const char *lines = known && known->lines[0] ? known->lines : NULL;
        mishap_buffer_reset(&exported);
        if (!lines && !found) {
            mishap_symbols_find_trace(symbols, trace);
            found = true;
        }
        if (!lines)
            mishap_symbols_put_found(&exported, &symbols[i]);
        put_lines(buffer, indent, &number,
                  lines ? mishap_text_of(lines) : mishap_buffer_text(&exported));
    }
    if (in_detail)
        pthread_mutex_unlock(&all.lock);
    mishap_buffer_release(&exported);
}

void mishap_trace_put(mishap_buffer *buffer, const mishap_trace *trace)
{
    put_trace(buffer, "    ", trace, true);
}

void mishap_symbols_put_json(mishap_buffer *buffer, const mishap_symbol *symbols, size_t count)
{
    char storage[LONGEST];
    mishap_buffer line;
    size_t number = 0;
    mishap_buffer_init(&line, storage, sizeof storage);
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_reset(&line);
        mishap_symbols_put_found(&line, &symbols[i]);
        put_lines(buffer, NULL, &number, mishap_buffer_text(&line));
    }
    mishap_buffer_release(&line);
}

void mishap_trace_put_json(mishap_buffer *buffer, const mishap_trace *trace, bool in_detail)
{
    put_trace(buffer, NULL, trace, in_detail);
}

/* -- for another process ----------------------------------------------------------------------- */

void mishap_trace_put_marked(mishap_buffer *buffer, const mishap_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        char line[32];
        int length = snprintf(line, sizeof line, "%c%zx\n", MARK, (uintptr_t)trace->addresses[i]);
        mishap_buffer_put(buffer, line, (size_t)length);
    }
}

bool mishap_trace_is_marked(mishap_text text)
{
    return text.length && memchr(text.data, MARK, text.length);
}

static uintptr_t hexadecimal(const char *digit)
{
    static const char digits[] = "0123456789abcdef";
    uintptr_t number = 0;
    for (const char *found; *digit != '\n' && (found = strchr(digits, *digit)); digit++)
        number = number * 16 + (uintptr_t)(found - digits);
    return number;
}

static void unmark_as(mishap_buffer *buffer, mishap_text text, const char *indent, bool in_detail)
{
    while (text.length) {
        mishap_trace trace = { 0 };
        const char *mark = memchr(text.data, MARK, text.length);
        size_t before = mark ? (size_t)(mark - text.data) : text.length;
        mishap_buffer_put(buffer, text.data, before);
        text.data += before;
        text.length -= before;
        while (text.length && text.data[0] == MARK) {
            const char *feed = memchr(text.data, '\n', text.length);
            size_t length = feed ? (size_t)(feed + 1 - text.data) : text.length;
            if (feed && trace.count < MISHAP_TRACE_MAX)
                trace.addresses[trace.count++] = (void *)hexadecimal(text.data + 1);
            text.data += length;
            text.length -= length;
        }
        put_trace(buffer, indent, &trace, in_detail);
    }
}

void mishap_trace_unmark(mishap_buffer *buffer, mishap_text text, bool in_detail)
{
    unmark_as(buffer, text, "      ", in_detail);
}

void mishap_trace_unmark_json(mishap_buffer *buffer, mishap_text text)
{
    unmark_as(buffer, text, NULL, true);
}
