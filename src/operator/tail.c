/*
 * tail: incidents as they come into the journal.
 *
 * Over HTTP the stream waits without a worker: the handler returns, with its place in the journal
 * as the cursor, and a loop calls it again when something was written (http/serve/api.c). A command
 * reads until Ctrl-C. With `seconds`, and for an agent, which gets everything at the end, the
 * handler waits itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "incident/follow.h"
#include "operation/call.h"
#include "operation/news.h"
#include "operator/inside.h"

enum {
    MOST_ROWS = 2000, /* that one call of the handler sends, before others have their turn */
    PAUSE_MS = 100,   /* between two looks at the journal */
    USUAL_SECONDS = 5 /* for an agent */
};

struct tail_run {
    mishap_call *call;
    mishap_index_tail *tail;
    mishap_buffer *row;
    size_t width; /* of lines for a person; 0: rows are JSON; SIZE_MAX: they are not cut */
    bool events;
};

static void close_tail(void *tail)
{
    mishap_index_tail_close(tail);
}

/* -- the cursor -------------------------------------------------------------------------------- */

static bool read_cursor(const char *cursor, mishap_follow_place *place)
{
    return cursor && sscanf(cursor, "%" SCNx64 ".%" SCNx64 ".%" SCNx64 ".%" SCNx64, &place->device,
                            &place->inode, &place->mark, &place->offset) == 4;
}

static mishap *wait_for_more(struct tail_run *run)
{
    mishap_follow_place place = mishap_index_tail_at(run->tail);
    return mishap_stream_wait(run->call, MISHAP_NEWS_INCIDENTS,
                              "%" PRIx64 ".%" PRIx64 ".%" PRIx64 ".%" PRIx64, place.device,
                              place.inode, place.mark, place.offset);
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool send_line(struct tail_run *run)
{
    mishap_buffer text = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    MISHAP_PUT(&text, "["); /* a list of one row */
    mishap_buffer_put_text(&text, mishap_buffer_text(run->row));
    MISHAP_PUT(&text, "]");
    mishap_buffer_reset(run->row);
    if (!text.failed && mishap_json_read(&reader, mishap_buffer_text(&text)))
        mishap_operator_put_rows(run->row, reader.root, "", run->width);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&text);
    return !run->row->failed && mishap_stream_write(run->call, mishap_buffer_text(run->row));
}

static bool send_row(struct tail_run *run)
{
    if (run->width)
        return send_line(run);
    if (run->events) {
        mishap_buffer_put_char(run->row, '\0');
        return !run->row->failed && mishap_stream_event(run->call, "incident", run->row->data);
    }
    MISHAP_PUT(run->row, "\n");
    return !run->row->failed && mishap_stream_write(run->call, mishap_buffer_text(run->row));
}

/* Send what there is. False: the reader is gone. *more: there may be more. */
static bool send_rows(struct tail_run *run, bool *more)
{
    size_t count = 0;
    *more = true;
    while (count < MOST_ROWS || mishap_index_tail_is_inside(run->tail)) {
        mishap_buffer_reset(run->row);
        if (!mishap_index_tail_next(run->tail, run->row)) {
            *more = false;
            return true;
        }
        if (!send_row(run))
            return false;
        count++;
    }
    return true;
}

/* Look again and again, until the time is up or the reader has left. */
static mishap *follow_journal(struct tail_run *run, int64_t seconds)
{
    int64_t end = mishap_clock_monotonic_ns() + seconds * INT64_C(1000000000);
    bool more = false;
    atomic_store(&run->call->follows, !seconds);
    while (send_rows(run, &more) && !mishap_cancelled(run->call) &&
           (!seconds || mishap_clock_monotonic_ns() < end))
        if (!more)
            nanosleep(&(struct timespec){ .tv_nsec = PAUSE_MS * 1000000L }, NULL);
    return NULL;
}

/* -- the handler ------------------------------------------------------------------------------- */

static mishap *no_journal(void)
{
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED, "This program has no log of incidents."),
        "Set the variable NAME_LOG of the program to the path of a file, or remove it.");
}

static mishap *open_tail(struct tail_run *run)
{
    mishap_follow_place place;
    mishap_index_filter filter;
    const char *journal = mishap_operator_journal(run->call);
    mishap *failure = mishap_operator_read_filter(run->call, &filter);
    if (!failure && !journal)
        failure = no_journal();
    if (!failure)
        failure = mishap_index_tail_open_at(
            journal, read_cursor(mishap_cursor(run->call), &place) ? &place : NULL, &filter,
            &run->tail);
    if (!failure)
        mishap_call_defer(run->call, close_tail, run->tail);
    return failure;
}

mishap *mishap_operator_tail(mishap_call *call)
{
    mishap_boundary_kind boundary = mishap_boundary(call);
    bool json = strcmp(mishap_string(call, "format"), "jsonl") == 0;
    struct tail_run run = {
        .call = call,
        .row = mishap_operator_buffer(call),
        .events = boundary == MISHAP_BY_HTTP,
        .width = boundary == MISHAP_BY_COMMAND && !json ? mishap_operator_width(call) : 0,
    };
    int64_t seconds = mishap_integer(call, "seconds");
    bool more;
    mishap *failure = open_tail(&run);
    if (failure || !mishap_stream(call, run.events  ? "text/event-stream"
                                        : run.width ? "text/plain; charset=utf-8"
                                                    : "application/x-ndjson"))
        return failure;
    if (boundary == MISHAP_BY_COMMAND || seconds)
        return follow_journal(&run, seconds);
    if (boundary != MISHAP_BY_HTTP)
        return follow_journal(&run, USUAL_SECONDS);
    return send_rows(&run, &more) ? wait_for_more(&run) : NULL;
}
