/*
 * Calls that are answered later, when the runner of calls returns them: in one piece, or as a
 * stream whose pieces are forwarded immediately.
 */
#include "http/calls/calls.h"
#include "http/calls/uploads.h"

#include "base/memory.h"
#include "operation/fields.h"
#include "operation/media.h"

static const mishap_http_settings *settings_of(const mishap_api_call *c)
{
    return mishap_http_settings_of(c->api->server);
}

void mishap_api_call_free(mishap_api_call *c)
{
    if (c->run.call)
        mishap_http_count(c->api->server, MISHAP_HTTP_IN_FLIGHT, -1);
    mishap_call_end(c->run.call);
    mishap_http_stream_ended(c->api->server, c->held);
    mishap_free(c->refused);
    mishap_api_upload_free(c->upload);
    mishap_arena_release(&c->memory);
    mishap_release(c);
}

/* The peer is gone. The handler can see that (mishap_cancelled) and goes on; its answer is
 * dropped. */
static void on_closed(mishap_http_later *later)
{
    mishap_api_call *c = later->owner;
    bool waits = c->in != NULL;
    c->later = NULL;
    mishap_api_upload_cut(c->upload);
    mishap_api_tail_leave(c);
    if (!waits) {
        mishap_runner_forget(c->api->served->runner, &c->run);
        mishap_http_count(c->api->server, MISHAP_HTTP_IN_FLIGHT, -1);
    }
    mishap_api_call_free(c);
}

/* The peer sends no more. It may wait for the answer, so that is written in any case. */
static void on_left(mishap_http_later *later)
{
    mishap_api_call *c = later->owner;
    if (c->run.call)
        mishap_runner_cancel(c->api->served->runner, &c->run);
}

/* -- streams ----------------------------------------------------------------------------------- */

static mishap_api_call *call_of(const mishap_watcher *watcher)
{
    return (mishap_api_call *)(void *)((uintptr_t)watcher - offsetof(mishap_api_call, watcher));
}

/* The head is sent with the first piece: a handler that fails before that gets a complete error
 * reply. */
bool mishap_api_call_stream(mishap_api_call *c)
{
    if (c->later->streaming)
        return true;
    if (!c->refused)
        c->refused = mishap_http_stream_begins(c->api->server, &c->later->request, &c->held);
    if (c->refused)
        return false;
    mishap_http_reply head = { .status = mishap_call_status(c->run.call),
                               .media_type = c->type ? c->type : mishap_media_bytes };
    c->spoke_ns = mishap_clock_monotonic_ns();
    mishap_buffer_put_text(&head.fields, c->fields);
    if (!mishap_answer_fields_find(c->fields, "Cache-Control").data)
        mishap_http_reply_field(&head, "Cache-Control", (mishap_text)MISHAP_TEXT("no-cache"));
    mishap_http_reply_field(&head, "X-Accel-Buffering", (mishap_text)MISHAP_TEXT("no"));
    mishap_api_put_bytes_fields(&head);
    mishap_http_later_begin(c->later, &head);
    mishap_http_reply_release(&head);
    return true;
}

/* There is no stream for what the handler writes. In a worker the handler goes on, and its answer
 * is dropped. One that runs in this process, and is in the middle of its call, is answered when it
 * returns. */
static void refuse_stream(mishap_api_call *c)
{
    mishap *refused = c->refused;
    if (!c->api->served->handlers)
        return;
    c->refused = NULL;
    mishap_runner_forget(c->api->served->runner, &c->run);
    mishap_http_count(c->api->server, MISHAP_HTTP_IN_FLIGHT, -1);
    mishap_api_call_fail(c, refused);
}

static bool on_stream(const mishap_watcher *watcher, mishap_text media_type)
{
    mishap_api_call *c = call_of(watcher);
    c->run.call->answer_kind = MISHAP_ANSWER_STREAM; /* the HTTP status depends on it */
    if (!c->later->streaming) {
        mishap_call *call = c->run.call;
        const char *end = memchr(media_type.data, '\n', media_type.length);
        mishap_text lines = { NULL, 0 };
        if (end) {
            lines = (mishap_text){ end + 1,
                                   media_type.length - (size_t)(end + 1 - media_type.data) };
            media_type.length = (size_t)(end - media_type.data);
        }
        if (lines.length && mishap_answer_fields_are_sound(lines))
            c->fields = mishap_arena_copy(&call->arena, lines);
        c->type = mishap_media_clean_text(&call->arena, media_type);
        c->events = mishap_media_is(c->type, "text/event-stream");
    }
    return true;
}

static bool is_head(const mishap_api_call *c)
{
    return c->later->streaming && c->later->request.method == MISHAP_HTTP_HEAD;
}

/* The reply to HEAD is complete with the head of the stream. */
static void end_head(mishap_api_call *c)
{
    mishap_http_later *later = c->later;
    later->closed = NULL;
    mishap_api_call_free(c);
    mishap_http_later_end(later);
}

/* In a worker the handler goes on, and its answer is dropped. One that runs in this process is in
 * the middle of its call, and uses parts of the request, such as its caller: there on_done() ends
 * it. */
static void leave_head(mishap_api_call *c)
{
    if (!c->run.link)
        return;
    mishap_runner_forget(c->api->served->runner, &c->run);
    mishap_http_count(c->api->server, MISHAP_HTTP_IN_FLIGHT, -1);
    end_head(c);
}

static bool on_piece(const mishap_watcher *watcher, mishap_text piece)
{
    mishap_api_call *c = call_of(watcher);
    if (!mishap_api_call_stream(c)) {
        refuse_stream(c);
        return false;
    }
    if (is_head(c)) {
        leave_head(c);
        return false;
    }
    c->spoke_ns = mishap_clock_monotonic_ns();
    bool sent = mishap_http_later_send(c->later, piece);
    if (sent && mishap_http_later_lags(c->later))
        mishap_runner_hold(c->api->served->runner, &c->run, true);
    return sent;
}

/* The reader has caught up. */
static void on_written(mishap_http_later *later)
{
    mishap_api_call *c = later->owner;
    if (c->run.call)
        mishap_runner_hold(c->api->served->runner, &c->run, false);
}

/* -- the end ----------------------------------------------------------------------------------- */

/* A stream that has begun can only be ended or, if the call failed, cut: its reader must not take
 * it for complete. */
static void answer_call(mishap_api_call *c, mishap_http_reply *reply)
{
    mishap_http_later *later = c->later;
    later->closed = NULL;
    later->code = reply->code;
    mishap_api_tail_leave(c);
    if (later->streaming && reply->code)
        mishap_http_later_cut(later);
    else
        mishap_http_later_answer(later, reply);
    mishap_http_reply_release(reply);
    mishap_api_call_free(c);
}

void mishap_api_call_fail(mishap_api_call *c, mishap *failure)
{
    mishap_http_reply reply = { 0 };
    mishap_http_refuse(&reply, settings_of(c), &c->later->request, failure);
    mishap_free(failure);
    answer_call(c, &reply);
}

static bool waits(const mishap_call *call, const mishap *failure)
{
    return !failure && call->resumed_by && call->answer_kind == MISHAP_ANSWER_STREAM;
}

static void on_done(mishap_run *run, mishap *failure)
{
    mishap_api_call *c = (mishap_api_call *)(void *)run; /* the run is the first member */
    mishap_http_reply reply = { 0 };
    if (run->died)
        mishap_http_count(c->api->server, MISHAP_HTTP_CRASHES, 1);
    if (is_head(c)) {
        mishap_free(failure);
        end_head(c);
        return;
    }
    mishap *not_arrived = mishap_api_upload_failure(c->upload);
    if (not_arrived)
        failure = mishap_because(not_arrived, failure);
    if (!c->refused && !c->upload && waits(run->call, failure) && mishap_api_tail_wait(c))
        return;
    if (c->refused) {
        mishap *refused = c->refused;
        c->refused = NULL;
        mishap_free(failure);
        mishap_api_call_fail(c, refused);
        return;
    }
    mishap_api_conclude(settings_of(c), &c->later->request, run->call, failure, &reply);
    answer_call(c, &reply);
}

/* -- the beginning ----------------------------------------------------------------------------- */

bool mishap_api_call_start(mishap_api_call *c, mishap_call *call)
{
    mishap_api *api = c->api;
    c->run = (mishap_run){ .call = call, .done = on_done, .incident = c->later->request.id };
    c->seen = mishap_news_count(api->served->news);
    call->watcher = &c->watcher;
    mishap_api_call_come_from(call, api, &c->later->request);
    /* The call may outlive the request. */
    call->request_id = mishap_arena_copy(&call->arena, call->request_id);
    /* Only so many tails are open at once, of all callers together. */
    call->holder = c->is_tail ? 0 : mishap_http_caller_of(api->server, &c->later->request);
    if (!mishap_runner_add(api->served->runner, &c->run))
        return false;
    if (mishap_http_later_half_closed(c->later))
        mishap_runner_cancel(api->served->runner, &c->run);
    mishap_http_count(api->server, MISHAP_HTTP_IN_FLIGHT, 1);
    return true;
}

/* Begin a deferred call. False: it was refused, and the request was answered. */
static bool begin_deferred(mishap_api_call *c, mishap_api *api, mishap_http_later *later,
                           mishap_call *call, mishap_api_upload *upload)
{
    *c = (mishap_api_call){ .watcher = { .stream = on_stream, .piece = on_piece },
                            .api = api,
                            .later = later,
                            .upload = upload };
    mishap_arena_init(&c->memory, NULL, 0);
    later->owner = c;
    later->closed = on_closed;
    later->written = on_written;
    later->left = on_left;
    later->half_close = true;
    if (mishap_api_call_start(c, call))
        return true;
    mishap *refused = mishap_runner_refuse(api->served->runner, call);
    mishap_call_end(call);
    c->run.call = NULL;
    mishap_api_call_fail(c, refused);
    return false;
}

mishap *mishap_api_call_begin_upload(mishap_api *api, mishap_http_later *later, mishap_call *call,
                                     mishap_api_upload *upload, mishap_api_call **out)
{
    mishap_api_call *c = mishap_allocate(sizeof *c);
    *out = NULL;
    if (!c) {
        mishap_call_end(call);
        return mishap_out_of_memory();
    }
    if (begin_deferred(c, api, later, call, upload))
        *out = c;
    return NULL;
}

mishap *mishap_api_call_begin(mishap_api *api, const mishap_http_request *request,
                              mishap_call *call)
{
    mishap_api_call *c = mishap_allocate(sizeof *c);
    mishap_http_later *later = c ? mishap_http_defer(api->server, request) : NULL;
    if (!later) {
        mishap_release(c);
        return mishap_out_of_memory();
    }
    begin_deferred(c, api, later, call, NULL);
    return NULL;
}
