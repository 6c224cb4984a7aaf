/* Reports of a running call: see reports.h. Runs in a worker. */
#include "worker/child/reports.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

enum { KEPT = 256 * 1024 }; /* bytes of the buffer that stay for the next report */

/* All of it is guarded by the lock, since a handler may have threads that report, too. */
static struct {
    pthread_mutex_t lock;
    int cancellation; /* cancellation state of the thread that holds the lock, as it was before */
    mishap_worker_user *calling; /* the loop whose call runs; NULL: no call runs */
    unsigned slot;
    mishap_call *call;      /* … the call, if its reports are held until it is settled */
    size_t held;            /* where its reports begin in what is held for its loop */
    mishap_watcher watcher; /* of the call */
    mishap_buffer report;
} r = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool mishap_worker_send(int socket, const mishap_buffer *bytes)
{
    size_t sent = 0;
    while (sent < bytes->length) {
        ssize_t count = send(socket, bytes->data + sent, bytes->length - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR)
            return false;
        sent += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Take the lock, which is held while a report is written and sent. Cancellation is disabled
 * meanwhile: a cancelled thread would never release the lock. NULL: no call runs, so nothing
 * receives the report. */
static mishap_buffer *begin_report(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&r.lock);
    r.cancellation = before;
    mishap_buffer_reset(&r.report);
    return r.calling ? &r.report : NULL;
}

/* A report may still turn out to be untrue until its call is settled, so it waits for that. */
static bool hold_report(void)
{
    mishap_buffer *held = &r.calling->held;
    if (held->length - r.held + r.report.length > MISHAP_HELD_LIMIT)
        atomic_store(&r.call->overlong, true);
    if (!atomic_load(&r.call->overlong))
        mishap_buffer_put_text(held, mishap_buffer_text(&r.report));
    return !atomic_load(&r.call->overlong) && !held->failed;
}

/* Release the lock, and send the report. A dispensable report is dropped if the loop does not
 * read. */
static bool end_report(bool dispensable, bool at_once)
{
    bool sent = false;
    if (r.calling && !r.report.failed && r.call && !at_once) {
        sent = hold_report();
    } else if (r.calling && !r.report.failed) {
        struct pollfd file = { .fd = r.calling->socket, .events = POLLOUT };
        if (!dispensable || poll(&file, 1, 0) > 0)
            sent = mishap_worker_send(r.calling->socket, &r.report);
    }
    mishap_buffer_reset_within(&r.report, KEPT);
    int before = r.cancellation;
    pthread_mutex_unlock(&r.lock);
    pthread_setcancelstate(before, NULL);
    return sent;
}

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    mishap_buffer *out = begin_report();
    (void)watcher;
    if (out)
        mishap_frame_put_progress(out, r.slot, done, total, words);
    end_report(true, false);
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    mishap_buffer *out = begin_report();
    (void)watcher;
    if (out)
        mishap_frame_put_log(out, r.slot, level, words);
    end_report(true, false);
}

/* The loop writes the log, since the resource limits of a worker may prevent it from writing. */
void mishap_reports_operator(const char *program, const char *operation, const char *id,
                             mishap_text words, bool to_stderr)
{
    mishap_buffer *out = begin_report();
    (void)program, (void)operation, (void)id, (void)to_stderr;
    if (out)
        mishap_frame_put_log(out, r.slot, (mishap_level)MISHAP_FOR_OPERATOR, words);
    end_report(false, true);
}

static bool send_bytes(mishap_frame_type type, mishap_text bytes)
{
    mishap_buffer *out = begin_report();
    if (out) {
        size_t begun = mishap_frame_begin(out, type, r.slot);
        mishap_buffer_put_text(out, bytes);
        mishap_frame_end(out, begun);
    }
    return end_report(false, false);
}

static bool on_stream(const mishap_watcher *watcher, mishap_text media_type)
{
    (void)watcher;
    return send_bytes(MISHAP_FRAME_BEGIN, media_type);
}

static bool on_piece(const mishap_watcher *watcher, mishap_text piece)
{
    (void)watcher;
    return send_bytes(MISHAP_FRAME_PIECE, piece);
}

/* The last one counts, so it is not dropped as progress may be. */
static void on_mark(const mishap_watcher *watcher, mishap_text mark)
{
    (void)watcher;
    send_bytes(MISHAP_FRAME_MARK, mark);
}

void mishap_reports_change(void *state, mishap_text address)
{
    (void)state;
    send_bytes(MISHAP_FRAME_CHANGED, address);
}

/* -- the call that reports --------------------------------------------------------------------- */

const mishap_watcher *mishap_reports_watcher(const mishap_frame_call *asked)
{
    r.watcher = (mishap_watcher){ asked->wants_progress ? on_progress : NULL,
                                  asked->wants_log ? on_log : NULL,
                                  asked->wants_pieces ? on_stream : NULL,
                                  asked->wants_pieces ? on_piece : NULL,
                                  asked->wants_marks ? on_mark : NULL };
    return &r.watcher;
}

void mishap_reports_begin(mishap_worker_user *user, unsigned slot, mishap_call *held)
{
    pthread_mutex_lock(&r.lock);
    r.calling = user;
    r.slot = slot;
    r.call = held;
    r.held = user->held.length;
    pthread_mutex_unlock(&r.lock);
}

void mishap_reports_end(void)
{
    pthread_mutex_lock(&r.lock);
    r.calling = NULL;
    pthread_mutex_unlock(&r.lock);
}

void mishap_reports_take_back(mishap_worker_user *user)
{
    user->held.length = r.held;
}

void mishap_reports_forget(void)
{
    r.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    r.calling = NULL;
}
