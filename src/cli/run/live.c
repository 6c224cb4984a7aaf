/*
 * When the line of progress is drawn and erased, and the lines of a handler's log.
 *
 * Three kinds of threads call these functions: threads of the handler report progress, the watcher
 * thread ticks, and the thread that prints the answer ends the display. A handler may crash or
 * block forever in the middle of a report, and the answer must still be printed. For this reason no
 * thread waits for a lock without a limit: `busy` is a try-lock. The answering thread tries it for
 * a short time and then prints the answer anyway.
 */
#include "cli/run/run.h"
#include "incident/incident.h"
#include "cli/screen/progress.h"
#include "cli/screen/terminal.h"
#include "cli/screen/width.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "operation/call.h"
#include "operation/hide.h"

enum {
    ROOM = 1024,
    MOST_WORDS = 200,     /* bytes of the text of progress */
    BEGIN_NS = 300000000, /* a shorter call shows no line */
    PACE_NS = 100000000,  /* between two drawings with new progress */
    TICK_NS = 1000000000, /* between two drawings that only update the time */
    MOST_WAIT_MS = 200,   /* for another thread that draws */
    MOST_RECORDED = 64,   /* a handler may send the same for ever */
};

/* One call in a process. */
static struct live {
    mishap_cli *cli;
    atomic_bool terminal; /* standard error is a terminal that can be drawn on; set last */

    atomic_flag busy; /* the thread that sets it may use what follows */
    bool told, news;  /* there is progress; some of it is not drawn yet */
    bool drawn;       /* the line is on the terminal */
    int64_t drawn_ns;
    char words[MOST_WORDS];
    mishap_cli_progress progress;

    atomic_bool erased; /* it is not drawn again */
    atomic_bool ended;
} live = { .busy = ATOMIC_FLAG_INIT };

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* Wait for `busy` for `ms` at most; then go on without it. */
static void enter_live(int ms)
{
    while (atomic_flag_test_and_set(&live.busy) && ms-- > 0)
        wait_a_moment();
}

static void leave_live(void)
{
    atomic_flag_clear(&live.busy);
}

/* A failure to write is ignored: this is not part of the answer. */
static void write_out(mishap_text text)
{
    while (text.length) {
        ssize_t count = write(STDERR_FILENO, text.data, text.length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        text.data += count;
        text.length -= (size_t)count;
    }
}

/* -- drawing ----------------------------------------------------------------------------------- */

static void erase(void)
{
    if (live.drawn)
        write_out((mishap_text)MISHAP_TEXT("\r\033[K"));
    live.drawn = false;
}

/* Do not wait for a terminal that was stopped, and do not write to one that another program
 * uses. */
static bool is_free(void)
{
    struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
    pid_t user = tcgetpgrp(STDERR_FILENO); /* -1: it has no foreground process group */
    return (user < 0 || user == getpgrp()) && poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

static void draw(int64_t now)
{
    char room[ROOM];
    mishap_buffer line;
    int64_t pace = live.news ? PACE_NS : TICK_NS;
    if (!live.told || now - live.cli->started_ns < BEGIN_NS || now - live.drawn_ns < pace ||
        atomic_load(&live.erased) || !is_free())
        return;
    mishap_buffer_init(&line, room, sizeof room);
    MISHAP_PUT(&line, "\r");
    mishap_cli_put_progress(&line, &live.progress, now, mishap_cli_terminal_width(STDERR_FILENO));
    MISHAP_PUT(&line, "\033[K");
    if (!line.failed) {
        live.drawn = true;
        live.drawn_ns = now;
        live.news = false;
        write_out(mishap_buffer_text(&line));
    }
    mishap_buffer_release(&line);
}

void mishap_cli_live_tick(void)
{
    if (!atomic_load(&live.terminal) || atomic_load(&live.erased) ||
        atomic_flag_test_and_set(&live.busy))
        return;
    draw(mishap_clock_monotonic_ns());
    leave_live();
}

/* -- what is said ------------------------------------------------------------------------------ */

/* What is taken out is not lost: it is recorded in the log for the operator. */
static void record_line(mishap_text words)
{
    static atomic_int recorded;
    if (atomic_fetch_add(&recorded, 1) >= MOST_RECORDED)
        return;
    enter_live(MOST_WAIT_MS);
    erase();
    leave_live();
    mishap_buffer text = { 0 };
    MISHAP_PUT(&text, "Text of a report was not sent, since it is a leak.\n");
    mishap_secrets_put_hidden(&text, live.cli->secrets, words);
    if (!text.failed)
        mishap_incident_line(live.cli->app->name, live.cli->operation->name, live.cli->request_id,
                             mishap_buffer_text(&text), live.cli->verbose);
    mishap_buffer_release(&text);
}

/* It is not known yet how the call ends. So everything that must not leave with a failure is taken
 * out: the values of secrets, leaks. */
static void put_clean(mishap_buffer *to, mishap_text words)
{
    const mishap_sent sent = mishap_cli_sent(live.cli);
    mishap_text clean = mishap_hide_text(words, &sent);
    if (clean.data != words.data)
        record_line(words);
    words = clean;
    mishap_secrets_put_hidden(to, live.cli->secrets, words);
}

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    char room[ROOM];
    mishap_buffer clean;
    int64_t now = mishap_clock_monotonic_ns();
    (void)watcher;
    if (!isfinite(done) || atomic_load(&live.erased))
        return;
    mishap_buffer_init(&clean, room, sizeof room);
    put_clean(&clean, words);
    /* Progress that comes while another thread draws is skipped; the next drawing will show it. */
    if (!clean.failed && !atomic_flag_test_and_set(&live.busy)) {
        mishap_cli_progress *p = &live.progress;
        if (!live.told)
            *p = (mishap_cli_progress){ .first = done, .first_ns = now };
        p->since_ns = live.cli->started_ns;
        p->done = done;
        p->total = isfinite(total) && total > 0 ? total : 0;
        p->words = (mishap_text){ live.words,
                                  mishap_utf8_cut(mishap_buffer_text(&clean), sizeof live.words) };
        memcpy(live.words, clean.length ? clean.data : "", p->words.length);
        live.told = live.news = true;
        draw(now);
        leave_live();
    }
    mishap_buffer_release(&clean);
}

/* In the order of mishap_level. */
static const char *const levels[] = { "debug", "info",     "notice", "warning",
                                      "error", "critical", "alert",  "emergency" };

/* `warning: It is late.` Further lines of the same message are indented, so that they cannot be
 * taken for something else. */
static void put_log(mishap_buffer *line, mishap_level level, mishap_text words)
{
    mishap_buffer shown = { 0 };
    if (live.cli->color)
        MISHAP_PUT(line, "\033[2m");
    mishap_buffer_put_text(line, mishap_text_of(levels[level]));
    MISHAP_PUT(line, ": ");
    if (live.cli->color)
        MISHAP_PUT(line, "\033[0m");
    mishap_cli_put_shown(&shown, words, MISHAP_CLI_ANY_WIDTH, MISHAP_CLI_ALL_LINES);
    while (shown.length && shown.data[shown.length - 1] == '\n')
        shown.length--;
    for (size_t i = 0; i < shown.length; i++) {
        mishap_buffer_put_char(line, shown.data[i]);
        if (shown.data[i] == '\n')
            MISHAP_PUT(line, "  ");
    }
    MISHAP_PUT(line, "\n");
    line->failed = line->failed || shown.failed;
    mishap_buffer_release(&shown);
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    char room[ROOM];
    mishap_buffer clean, line = { 0 };
    (void)watcher;
    if (level < MISHAP_DEBUG || level > MISHAP_EMERGENCY || atomic_load(&live.ended) ||
        (level == MISHAP_DEBUG && !live.cli->verbose))
        return;
    mishap_buffer_init(&clean, room, sizeof room);
    put_clean(&clean, words);
    put_log(&line, level, mishap_buffer_text(&clean));
    if (!line.failed && !clean.failed) {
        enter_live(MOST_WAIT_MS);
        if (!atomic_load(&live.ended)) {
            erase();
            write_out(mishap_buffer_text(&line));
            live.news = live.told;
        }
        leave_live();
    }
    mishap_buffer_release(&line);
    mishap_buffer_release(&clean);
}

/* -- beginning and end ------------------------------------------------------------------------- */

void mishap_cli_live_use(mishap_cli *cli, mishap_call *call)
{
    live.cli = cli;
    bool smart = mishap_cli_is_smart(STDERR_FILENO);
    if (smart)
        cli->watcher.progress = on_progress;
    if (isatty(STDERR_FILENO) || cli->verbose)
        cli->watcher.log = on_log;
    call->watcher = &cli->watcher;
    atomic_store(&live.terminal, smart);
}

void mishap_cli_live_erase(void)
{
    if (!atomic_load(&live.terminal) || atomic_exchange(&live.erased, true))
        return;
    enter_live(MOST_WAIT_MS);
    erase();
    leave_live();
}

void mishap_cli_live_end(void)
{
    atomic_store(&live.ended, true);
    mishap_cli_live_erase();
}
