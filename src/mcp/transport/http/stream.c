/*
 * GET /mcp: a stream of events without a request of its own. Either it resumes an interrupted
 * stream, or it stays open for notifications that belong to no request.
 *
 * In a cluster, notifications of changes have ids, too: the position up to which the client has
 * heard of changes, at all servers. A client that comes back with one, at any server, hears what
 * has changed since. The process `mishap-cluster` finds that out, and the stream waits for it.
 */
#include "base/memory.h"
#include "operation/handover.h"
#include "mcp/transport/http/over_http.h"
#include "server/ending.h"

const mishap_text mishap_mcp_heartbeat = MISHAP_TEXT(": still here\n\n");

struct mishap_mcp_stream {
    mishap_mcp_front *front;
    mishap_mcp_stream *next, *previous;
    mishap_http_later *later;
    uint64_t session;
    uint64_t stream, place, sender; /* if it resumes a stream: its number, the last place, and the
                                       number of this sender */
    uint64_t standing;              /* if it resumes no stream: its own number */
    uint64_t updates;               /* the number of changes of resources that it has checked */
    int64_t quiet_since_ns;
    uint32_t held;   /* the count of this stream for its caller */
    unsigned scopes; /* of its caller, which may be fewer than when the session subscribed */
    size_t wish;     /* what it waits for; 0: nothing */
    bool deaf;       /* its client does not want to hear that the server stops, or has heard it */
    bool unknown;    /* its stream is not known here yet */
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
    mishap_mcp_wish_end(stream->front->sessions, stream->wish);
    if (stream->sender)
        mishap_mcp_stream_let_go(stream->front->sessions, stream->session, stream->stream,
                                 stream->sender);
    mishap_http_stream_ended(stream->front->http, stream->held);
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

static bool send_data(mishap_mcp_stream *stream, mishap_text data, bool counts)
{
    mishap_buffer event = { 0 };
    mishap_mcp_put_event(&event, counts ? stream->stream : 0, counts ? ++stream->place : 0, data);
    stream->quiet_since_ns = mishap_clock_monotonic_ns();
    bool sent = !event.failed && mishap_http_later_send(stream->later, mishap_buffer_text(&event));
    mishap_buffer_release(&event);
    return sent;
}

/* A stream that cannot be resumed ends with an error for its call: otherwise the client would wait
 * for ever. */
static void send_unknown_end(mishap_mcp_stream *stream, mishap_text id, bool lost)
{
    static const char *const whys[] = { "The remaining events of this stream are no longer stored.",
                                        "The process that ran this call has exited." };
    mishap_text why = mishap_text_of(whys[lost]);
    mishap_buffer data = { 0 };
    MISHAP_PUT(&data, "{\"jsonrpc\":\"2.0\"");
    if (id.length) {
        MISHAP_PUT(&data, ",\"id\":");
        mishap_buffer_put_text(&data, id);
    }
    MISHAP_PUT(&data, ",\"error\":{\"code\":-32603,\"message\":");
    mishap_json_string(&data, why);
    MISHAP_PUT(&data, ",\"data\":{\"code\":\"INTERNAL_ERROR\",\"message\":");
    mishap_json_string(&data, why);
    MISHAP_PUT(&data, ",\"category\":\"system\",\"retryable\":false,\"suggestion\":"
                      "\"Check whether the call took effect before you repeat it.\"}}}");
    if (!data.failed)
        send_data(stream, mishap_buffer_text(&data), false);
    mishap_buffer_release(&data);
}

/* Send the events that were stored since. False: the stream is over, in one way or the other. */
static bool catch_up(mishap_mcp_stream *stream)
{
    bool last = false, sent = true;
    mishap_buffer data = { 0 };
    mishap_mcp_next next = stream->stream ? MISHAP_MCP_EVENT : MISHAP_MCP_NOTHING_YET;
    while (next == MISHAP_MCP_EVENT && sent && !last) {
        mishap_buffer_reset(&data);
        next = mishap_mcp_event_next(stream->front->sessions, stream->session, stream->stream,
                                     stream->place, &data, &last);
        bool says = data.length || !last; /* the end of a cancelled stream has no data */
        if (next == MISHAP_MCP_EVENT && (says || data.failed))
            sent = !data.failed && send_data(stream, mishap_buffer_text(&data), true);
    }
    if (next == MISHAP_MCP_STREAM_LOST || next == MISHAP_MCP_STREAM_DROPPED)
        send_unknown_end(stream, mishap_buffer_text(&data), next == MISHAP_MCP_STREAM_LOST);
    mishap_buffer_release(&data);
    bool over = last || (next != MISHAP_MCP_EVENT && next != MISHAP_MCP_NOTHING_YET);
    if (sent && over)
        end_stream(stream);
    return sent && !over;
}

/* -- changes ----------------------------------------------------------------------------------- */

/* Events that are sent together. Only the last one has the position, because it is that of all. */
struct told {
    mishap_buffer events;
    mishap_buffer last; /* the data of the last one */
};

static void put_told(struct told *told, mishap_text id)
{
    MISHAP_PUT(&told->events, "event: message\n");
    if (id.length) {
        MISHAP_PUT(&told->events, "id: ");
        mishap_buffer_put_text(&told->events, id);
        MISHAP_PUT(&told->events, "\n");
    }
    MISHAP_PUT(&told->events, "data: ");
    mishap_buffer_put_text(&told->events, mishap_buffer_text(&told->last));
    MISHAP_PUT(&told->events, "\n\n");
}

static void tell_change(struct told *told, mishap_mcp_change change, mishap_text uri)
{
    if (told->last.length)
        put_told(told, (mishap_text){ NULL, 0 });
    mishap_buffer_reset(&told->last);
    mishap_mcp_put_change(&told->last, change, uri);
}

/* Announce the lists and watched resources that have changed, also while the session had no stream.
 * The position is read first: what changes from then on may be told now, and once more to a client
 * that comes back, but is not lost. */
static void collect_changes(mishap_mcp_stream *stream, struct told *told, mishap_position *position)
{
    bool lists[MISHAP_MCP_LISTS];
    mishap_buffer uris = { 0 };
    mishap_text rest, uri;
    mishap_mcp_watch_take(stream->front->watches, stream->session, &stream->updates, &uris,
                          position);
    if (mishap_mcp_session_untold(stream->front->sessions, stream->session, stream->standing,
                                  lists))
        for (mishap_mcp_change list = 0; list < MISHAP_MCP_RESOURCE_UPDATED; list++)
            if (lists[list])
                tell_change(told, list, (mishap_text){ NULL, 0 });
    rest = mishap_buffer_text(&uris);
    while (mishap_mcp_next_watched(&rest, &uri))
        if (mishap_mcp_may_watch(&stream->front->server, stream->scopes, uri))
            tell_change(told, MISHAP_MCP_RESOURCE_UPDATED, uri);
    mishap_buffer_release(&uris);
}

/* `words`: what is sent if nothing has changed; no data: nothing is. False: the peer is gone. */
static bool tell_changes(mishap_mcp_stream *stream, mishap_text words)
{
    struct told told = { 0 };
    mishap_buffer id = { 0 };
    mishap_position position;
    bool sent = true;
    collect_changes(stream, &told, &position);
    if (mishap_mcp_sessions_are_shared(stream->front->sessions))
        mishap_position_put(&id, &position);
    if (told.last.length) {
        put_told(&told, mishap_buffer_text(&id));
    } else if (words.data && id.length) {
        MISHAP_PUT(&told.events, "id: ");
        mishap_buffer_put_text(&told.events, mishap_buffer_text(&id));
        mishap_buffer_put_text(&told.events, words);
    }
    if (told.events.length) {
        stream->quiet_since_ns = mishap_clock_monotonic_ns();
        sent = !told.events.failed && !told.last.failed && !id.failed &&
               mishap_http_later_send(stream->later, mishap_buffer_text(&told.events));
    }
    mishap_buffer_release(&told.events);
    mishap_buffer_release(&told.last);
    mishap_buffer_release(&id);
    return sent;
}

/* With an id from the start, the client can come back even if nothing has changed. */
static void begin_changes(mishap_mcp_stream *stream, mishap_mcp_revision revision)
{
    stream->updates = 0; /* so that the position is read */
    if (!stream->wish && revision >= MISHAP_MCP_2025_11_25 &&
        mishap_mcp_sessions_are_shared(stream->front->sessions))
        tell_changes(stream, (mishap_text)MISHAP_TEXT("\ndata: \n\n"));
}

/* -- opening ----------------------------------------------------------------------------------- */

static void link_stream(mishap_mcp_stream *stream)
{
    mishap_mcp_front *front = stream->front;
    stream->next = front->streams;
    if (stream->next)
        stream->next->previous = stream;
    front->streams = stream;
}

/* The client decides which ones it needs: no stream is ended for another one. */
static mishap *too_many_resumed(void)
{
    return mishap_suggest(
        mishap_retry_after(mishap_raise(RATE_LIMITED, "This session has too many resumed streams."),
                           1000),
        "Close a resumed stream or wait until one ends, then resume this stream.");
}

/* Ask what other servers know. If too many ask, anything may have changed. */
static void ask_for_more(mishap_mcp_stream *s, const mishap_mcp_from *from)
{
    mishap_mcp_sessions *sessions = s->front->sessions;
    bool doubtful = s->standing && mishap_mcp_session_doubtful(sessions, s->session);
    s->unknown = from->ask;
    if (!doubtful && !from->ask && !from->position.length)
        return;
    s->wish = mishap_mcp_wish_begin(sessions, s->session, from->stream, from->place,
                                    from->position);
    if (!s->wish && s->standing)
        mishap_mcp_watch_change(s->front->watches, s->session, (mishap_text){ NULL, 0 });
}

mishap *mishap_mcp_stream_open(mishap_mcp_front *front, const mishap_http_request *request,
                               mishap_http_reply *reply, const mishap_mcp_session *session,
                               const mishap_mcp_from *from)
{
    uint64_t number = session->number, stream = from->stream;
    uint32_t held;
    mishap *failure = mishap_http_stream_begins(front->http, request, &held);
    if (failure)
        return failure;
    mishap_mcp_stream *s = mishap_allocate(sizeof *s);
    uint64_t sender = s && stream ? mishap_mcp_stream_take_over(front->sessions, number, stream)
                                  : 0;
    bool refused = s && stream && !sender;
    mishap_http_later *later = s && !refused ? mishap_http_defer(front->http, request) : NULL;
    if (!later) {
        mishap_http_stream_ended(front->http, held);
        mishap_release(s);
        if (refused)
            return too_many_resumed();
        mishap_http_refuse(reply, mishap_http_settings_of(front->http), request,
                           mishap_out_of_memory());
        mishap_mcp_stream_let_go(front->sessions, number, stream, sender);
        return NULL;
    }
    *s = (mishap_mcp_stream){ .front = front,
                              .later = later,
                              .session = number,
                              .stream = stream,
                              .place = from->place,
                              .sender = sender,
                              .held = held,
                              .scopes = request->scopes,
                              .deaf = stream || session->level > MISHAP_LEVEL_WARNING,
                              .standing = stream
                                              ? 0
                                              : mishap_mcp_session_stand(front->sessions, number),
                              .quiet_since_ns = mishap_clock_monotonic_ns() };
    link_stream(s);
    later->owner = s;
    later->closed = on_closed;
    mishap_http_reply head = { 0 };
    mishap_mcp_head_of_stream(&head);
    mishap_http_later_begin(later, &head);
    mishap_http_reply_release(&head);
    ask_for_more(s, from);
    if (s->standing)
        begin_changes(s, session->revision);
    else if (!s->unknown)
        catch_up(s);
    return NULL;
}

/* Its session is alive, and no other stream has taken its place. */
static bool is_wanted(const mishap_mcp_stream *stream)
{
    mishap_mcp_sessions *sessions = stream->front->sessions;
    if (stream->standing)
        return mishap_mcp_session_stands(sessions, stream->session, stream->standing);
    return mishap_mcp_session_lives(sessions, stream->session) &&
           mishap_mcp_stream_sender(sessions, stream->session, stream->stream) == stream->sender;
}

enum ready { READY, WAITS, ENDED };

/* Look at what was asked for. */
static enum ready look_at_wish(mishap_mcp_stream *stream)
{
    mishap_mcp_sessions *sessions = stream->front->sessions;
    mishap_mcp_answer answer = stream->wish ? mishap_mcp_wish_look(sessions, stream->wish)
                                            : MISHAP_MCP_ANSWERED;
    bool known = !stream->unknown ||
                 mishap_mcp_stream_known(sessions, stream->session, stream->stream, stream->scopes);
    if (answer == MISHAP_MCP_ANSWERED) {
        mishap_mcp_wish_end(sessions, stream->wish);
        stream->wish = 0;
    }
    if (stream->standing)
        return answer == MISHAP_MCP_ANSWERED ? READY : WAITS;
    if (known) {
        stream->unknown = false;
        return READY;
    }
    if (answer != MISHAP_MCP_ANSWERED)
        return WAITS;
    send_unknown_end(stream, (mishap_text){ NULL, 0 }, false);
    end_stream(stream);
    return ENDED;
}

/* A proxy in between would close a stream that is silent for too long. In a cluster the client gets
 * a new position with it. */
static void beat(mishap_mcp_stream *stream, int64_t now)
{
    bool shared = mishap_mcp_sessions_are_shared(stream->front->sessions);
    stream->quiet_since_ns = now;
    /* If it was closed, on_closed() handles that. */
    if (mishap_http_later_send(stream->later, mishap_mcp_heartbeat) && stream->standing && shared &&
        !stream->wish) {
        stream->updates = 0; /* so that the position is read */
        tell_changes(stream, (mishap_text)MISHAP_TEXT("\n\n"));
    }
}

/* The server was told to stop, and the session ends with it. The client is told so once, on the
 * stream that stays open. False: the peer is gone. */
static bool tell_end(mishap_mcp_stream *stream)
{
    bool sent = true;
    int64_t left_ms = mishap_http_sessions_end_in(stream->front->http);
    mishap_buffer data = { 0 };
    if (left_ms < 0 || stream->deaf)
        return true;
    stream->deaf = true;
    MISHAP_PUT(&data, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                      "{\"level\":\"warning\",\"logger\":\"server\",\"data\":{\"message\":"
                      "\"The server stops soon, and the session ends then.\",\"ends_in_s\":");
    mishap_buffer_put_uint(&data, (uint64_t)left_ms / 1000);
    MISHAP_PUT(&data, "}}}");
    if (!data.failed)
        sent = send_data(stream, mishap_buffer_text(&data), false);
    mishap_buffer_release(&data);
    return sent;
}

static void look_after(mishap_mcp_stream *stream, int64_t now)
{
    if (!is_wanted(stream)) {
        end_stream(stream);
        return;
    }
    enum ready ready = look_at_wish(stream);
    if (ready == ENDED || !tell_end(stream))
        return;
    if (ready == READY && stream->standing)
        tell_changes(stream, (mishap_text){ NULL, 0 });
    if ((ready == WAITS || catch_up(stream)) &&
        now - stream->quiet_since_ns > MISHAP_MCP_HEARTBEAT_NS)
        beat(stream, now);
}

void mishap_mcp_streams_tick(mishap_mcp_front *front)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (mishap_mcp_stream *stream = front->streams, *next; stream; stream = next) {
        next = stream->next;
        look_after(stream, now);
    }
}

void mishap_mcp_streams_drain(mishap_mcp_front *front)
{
    while (front->streams)
        end_stream(front->streams);
}
