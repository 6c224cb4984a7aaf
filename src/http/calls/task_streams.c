/*
 * GET /tasks/:id with `Accept: text/event-stream`: the state of a task, now and whenever it
 * changes, until it ends. Each event has what the same request without that header would have got.
 */
#include "http/calls/tasks.h"

#include "base/media.h"
#include "base/memory.h"

enum { SILENCE_S = 15 }; /* after so long, a reader gets a sign of life */

struct mishap_api_task_stream {
    mishap_task_wait wait; /* the first member */
    mishap_api *api;
    mishap_http_later *later;
    uint32_t held; /* its count for its caller; 0: it has not begun */
    int64_t spoke_ns;
    struct mishap_api_task_stream *next, *previous;
};
typedef struct mishap_api_task_stream task_stream;

static void release(task_stream *s)
{
    if (s->next)
        s->next->previous = s->previous;
    *(s->previous ? &s->previous->next : &s->api->task_streams) = s->next;
    mishap_http_stream_ended(s->api->server, s->held);
    mishap_release(s);
}

/* What has begun ends: its reader asks again if it did not see an end of the task. */
static void end(task_stream *s)
{
    mishap_http_later *later = s->later;
    later->closed = NULL;
    release(s);
    mishap_http_later_end(later);
}

static void fail(task_stream *s, mishap *failure)
{
    mishap_http_later *later = s->later;
    mishap_http_reply reply = { 0 };
    if (later->streaming) {
        mishap_free(failure);
        end(s);
        return;
    }
    mishap_http_refuse(&reply, mishap_http_settings_of(s->api->server), &later->request, failure);
    mishap_free(failure);
    later->closed = NULL;
    release(s);
    mishap_http_later_answer(later, &reply);
    mishap_http_reply_release(&reply);
}

static mishap *begin(task_stream *s)
{
    mishap_http_reply head = { .status = 200, .media_type = "text/event-stream" };
    if (s->later->streaming || s->held) /* held, and no stream: the peer has gone */
        return NULL;
    mishap *refused = mishap_http_stream_begins(s->api->server, &s->later->request, &s->held);
    if (refused)
        return refused;
    s->later->half_close = false;
    mishap_http_reply_field(&head, "Cache-Control", (mishap_text)MISHAP_TEXT("no-store"));
    mishap_http_reply_field(&head, "X-Accel-Buffering", (mishap_text)MISHAP_TEXT("no"));
    mishap_http_later_begin(s->later, &head);
    mishap_http_reply_release(&head);
    return NULL;
}

/* A piece that cannot be sent closes the connection: on_closed() follows. */
static void send_event(task_stream *s, const mishap_task_told *told)
{
    mishap_buffer event = { 0 }, json = { 0 };
    mishap_api_task_put(&json, s->api, &s->later->request, told);
    MISHAP_PUT(&event, "event: task\ndata: ");
    mishap_buffer_put_text(&event, mishap_buffer_text(&json));
    MISHAP_PUT(&event, "\n\n");
    if (!event.failed && !json.failed) /* without memory the next event says the same, or more */
        mishap_http_later_send(s->later, mishap_buffer_text(&event));
    mishap_buffer_release(&event);
    mishap_buffer_release(&json);
    s->spoke_ns = mishap_clock_monotonic_ns();
}

static void on_answered(mishap_task_wait *wait, const mishap_task_reply *reply)
{
    task_stream *s = (task_stream *)(void *)wait;
    bool last = mishap_task_reply_is_last(wait, reply), ends = last || s->api->draining;
    mishap *failure = reply->kind == MISHAP_TASK_TOLD ? begin(s) : mishap_api_task_refused(reply);
    if (failure) {
        if (!last)
            mishap_task_client_leave(s->api->tasks, wait);
        fail(s, failure);
        return;
    }
    send_event(s, &reply->told);
    if (!ends)
        return;
    if (!last)
        mishap_task_client_leave(s->api->tasks, wait);
    end(s);
}

static void on_closed(mishap_http_later *later)
{
    task_stream *s = later->owner;
    mishap_task_client_leave(s->api->tasks, &s->wait);
    release(s);
}

bool mishap_api_task_stream(mishap_api *api, const mishap_http_request *request, mishap_text id)
{
    mishap_text accept = request->fields[MISHAP_HTTP_ACCEPT];
    if (request->method != MISHAP_HTTP_GET || !accept.data ||
        !mishap_http_accepts(accept, (mishap_text)MISHAP_TEXT("text/event-stream")) ||
        mishap_http_accepts(accept, (mishap_text)MISHAP_TEXT("application/json")))
        return false;
    task_stream *s = mishap_allocate(sizeof *s);
    mishap_http_later *later = s ? mishap_http_defer(api->server, request) : NULL;
    if (!later) {
        mishap_release(s);
        return false;
    }
    *s = (task_stream){
        .wait = { .answered = on_answered }, .api = api, .later = later, .next = api->task_streams
    };
    if (s->next)
        s->next->previous = s;
    api->task_streams = s;
    later->owner = s;
    later->closed = on_closed;
    later->half_close = true;
    mishap_task_asker asker = mishap_api_task_asker(&later->request);
    if (!mishap_task_client_ask(api->tasks, &s->wait, MISHAP_TASK_WATCH, &asker, id))
        fail(s, mishap_api_task_refused(&(mishap_task_reply){ .kind = MISHAP_TASK_LOST }));
    return true;
}

void mishap_api_task_streams_tick(mishap_api *api)
{
    int64_t now_ns = mishap_clock_monotonic_ns();
    for (task_stream *s = api->task_streams; s; s = s->next)
        if (s->later->streaming && now_ns - s->spoke_ns >= SILENCE_S * INT64_C(1000000000)) {
            s->spoke_ns = now_ns;
            mishap_http_later_send(s->later, (mishap_text)MISHAP_TEXT(":\n\n"));
        }
}

void mishap_api_task_streams_drain(mishap_api *api)
{
    for (task_stream *s = api->task_streams, *next; s; s = next) {
        next = s->next;
        if (!s->later->streaming)
            continue;
        mishap_task_client_leave(api->tasks, &s->wait);
        end(s);
    }
}
