/*
 * GET /mcp: a stream of events without a request of its own. Either it goes on where another broke
 * off, or it stays open for what belongs to no request.
 */
#include <stdio.h>

#include "base/memory.h"
#include "program/mcp_http.h"

static const int64_t heartbeat_ns = INT64_C(15000000000);

struct mishap_mcp_stream {
    mishap_mcp_front *front;
    mishap_mcp_stream *next, *previous;
    mishap_http_later *later;
    uint64_t session, stream, place;
    uint64_t standing; /* if it goes on with no other stream: its number */
    int64_t quiet_since_ns;
};

void mishap_mcp_put_event(mishap_buffer *buffer, uint64_t stream, uint64_t place, mishap_text data)
{
    if (data.length)
        MISHAP_PUT(buffer, "event: message\n");
    if (stream) {
        MISHAP_PUT(buffer, "id: ");
        mishap_buffer_put_uint(buffer, stream);
        MISHAP_PUT(buffer, "-");
        mishap_buffer_put_uint(buffer, place);
        MISHAP_PUT(buffer, "\n");
    }
    MISHAP_PUT(buffer, "data: ");
    mishap_buffer_put_text(buffer, data);
    MISHAP_PUT(buffer, "\n\n");
}

void mishap_mcp_head_of_stream(mishap_http_reply *reply)
{
    reply->status = 200;
    reply->media_type = "text/event-stream";
    mishap_http_reply_field(reply, "Cache-Control",
                            (mishap_text)MISHAP_TEXT("no-cache, no-transform"));
    mishap_http_reply_field(reply, "X-Accel-Buffering", (mishap_text)MISHAP_TEXT("no"));
}

static void free_stream(mishap_mcp_stream *stream)
{
    *(stream->previous ? &stream->previous->next : &stream->front->streams) = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    mishap_release(stream);
}

static void on_closed(mishap_http_later *later)
{
    free_stream(later->owner);
}

static void end_stream(mishap_mcp_stream *stream)
{
    mishap_http_later *later = stream->later;
    free_stream(stream);
    mishap_http_later_end(later);
}

/* Send what has been kept since. False: it is over, one way or the other. */
static bool catch_up(mishap_mcp_stream *stream)
{
    bool last = false, gone = false, sent = true;
    mishap_buffer data = { 0 }, event = { 0 };
    while (sent && !last && stream->stream &&
           mishap_mcp_event_next(stream->front->sessions, stream->session, stream->stream,
                                 stream->place, &data, &last, &gone)) {
        mishap_mcp_put_event(&event, stream->stream, ++stream->place, mishap_buffer_text(&data));
        sent = mishap_http_later_send(stream->later, mishap_buffer_text(&event));
        mishap_buffer_reset(&data);
        mishap_buffer_reset(&event);
    }
    mishap_buffer_release(&data);
    mishap_buffer_release(&event);
    if (sent && (last || gone))
        end_stream(stream);
    return sent && !last && !gone;
}

void mishap_mcp_stream_open(mishap_mcp_front *front, const mishap_http_request *request,
                            mishap_http_reply *reply, const mishap_mcp_session *session,
                            uint64_t stream, uint64_t place)
{
    mishap_mcp_stream *s = mishap_allocate(sizeof *s);
    mishap_http_later *later = s ? mishap_http_defer(front->http, request) : NULL;
    if (!later) {
        mishap_http_refuse(reply, front->http->settings, request, mishap_out_of_memory());
        mishap_release(s);
        return;
    }
    *s = (mishap_mcp_stream){ .front = front,
                              .next = front->streams,
                              .later = later,
                              .session = session->number,
                              .stream = stream,
                              .place = place,
                              .quiet_since_ns = mishap_clock_monotonic_ns() };
    if (!stream)
        s->standing = mishap_mcp_session_stand(front->sessions, session->number);
    if (s->next)
        s->next->previous = s;
    front->streams = s;
    later->owner = s;
    later->closed = on_closed;
    mishap_http_reply head = { 0 };
    mishap_mcp_head_of_stream(&head);
    mishap_http_later_begin(later, &head);
    mishap_http_reply_release(&head);
    catch_up(s);
}

static void look_after(mishap_mcp_stream *stream, int64_t now)
{
    static const mishap_text heartbeat = MISHAP_TEXT(": still here\n\n");
    mishap_mcp_sessions *sessions = stream->front->sessions;
    if (stream->stream ? !mishap_mcp_session_lives(sessions, stream->session)
                       : !mishap_mcp_session_stands(sessions, stream->session, stream->standing)) {
        end_stream(stream); /* the session is over, or has another one by now */
    } else if (catch_up(stream) && now - stream->quiet_since_ns > heartbeat_ns) {
        stream->quiet_since_ns = now;
        mishap_http_later_send(stream->later, heartbeat); /* if it is closed, on_closed knows */
    }
}

void mishap_mcp_streams_tick(mishap_mcp_front *front)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (mishap_mcp_stream *stream = front->streams, *next; stream; stream = next) {
        next = stream->next;
        look_after(stream, now);
    }
}

void mishap_mcp_streams_tell(mishap_mcp_front *front, mishap_mcp_change change)
{
    static const char *const lists[MISHAP_MCP_LISTS] = {
        [MISHAP_MCP_TOOLS_CHANGED] = "tools",
        [MISHAP_MCP_PROMPTS_CHANGED] = "prompts",
        [MISHAP_MCP_RESOURCES_CHANGED] = "resources",
    };
    char data[128];
    mishap_buffer event = { 0 };
    int length = snprintf(data, sizeof data,
                          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s/list_changed\"}",
                          lists[change]);
    mishap_mcp_put_event(&event, 0, 0, (mishap_text){ data, (size_t)length });
    for (mishap_mcp_stream *stream = front->streams, *next; stream && !event.failed;
         stream = next) {
        next = stream->next;
        if (stream->standing &&
            mishap_mcp_session_stands(front->sessions, stream->session, stream->standing))
            mishap_http_later_send(stream->later, mishap_buffer_text(&event));
    }
    mishap_buffer_release(&event);
}

void mishap_mcp_streams_drain(mishap_mcp_front *front)
{
    while (front->streams)
        end_stream(front->streams);
}
