/*
 * One POST and what comes back. As long as nothing is to be said before the response, the answer is
 * plain JSON with a status of its own; the first notification makes it a stream of events.
 *
 * In a session a peer that goes away does not cancel: the call goes on, and its events are kept for
 * whoever resumes the stream. Outside of one, going away is cancelling.
 */
#include "base/memory.h"
#include "program/mcp_http.h"

/* -- beginning and end ------------------------------------------------------------------------- */

static void link_post(mishap_mcp_post *post)
{
    post->next = post->front->posts;
    if (post->next)
        post->next->previous = post;
    post->front->posts = post;
}

static void free_post(mishap_mcp_post *post)
{
    *(post->previous ? &post->previous->next : &post->front->posts) = post->next;
    if (post->next)
        post->next->previous = post->previous;
    post->closing = true; /* flights that are cancelled finish the channel */
    mishap_mcp_peer_release(&post->peer);
    mishap_buffer_release(&post->message);
    mishap_release(post);
}

/* The peer is gone; the later with it. */
static void on_closed(mishap_http_later *later)
{
    mishap_mcp_post *post = later->owner;
    post->later = NULL;
    post->peer.caller = NULL; /* it was the request's; calls have their own copy */
    if (post->in_session && post->peer.flight_count)
        return; /* it goes on, for whoever resumes */
    if (post->sending || post->reply)
        post->closing = true; /* whoever sends is not done with it */
    else
        free_post(post);
}

static void wait_for_answer(mishap_mcp_post *post)
{
    post->later = mishap_http_defer(post->front->http, post->request);
    if (post->later) {
        post->later->owner = post;
        post->later->closed = on_closed;
    }
}

/* -- answers ----------------------------------------------------------------------------------- */

static void begin_session(mishap_mcp_post *post, mishap_http_reply *reply)
{
    char id[MISHAP_MCP_SESSION_ID + 1];
    mishap_mcp_session session = { .revision = post->peer.revision, .level = post->peer.level };
    if (mishap_mcp_session_begin(post->front->sessions, post->peer.caller, &session, id)) {
        mishap_http_reply_field(reply, "Mcp-Session-Id", mishap_text_of(id));
        return;
    }
    mishap *m = mishap_raise(UNAVAILABLE, "There are too many sessions.");
    mishap_http_refuse(reply, post->front->http->settings,
                       post->request ? post->request : &post->later->request,
                       mishap_retry_after(m, 10000));
    mishap_free(m);
}

static void answer_whole(mishap_mcp_post *post)
{
    mishap_http_reply own = { 0 }, *reply = post->reply ? post->reply : &own;
    post->answered = true;
    if (!post->reply && !post->later)
        return; /* nobody is there to hear it, and without a stream nobody can ask again */
    reply->status = post->channel.status ? post->channel.status : 200;
    reply->media_type = "application/json";
    mishap_buffer_release(&reply->body);
    reply->body = post->message; /* it changes hands */
    post->message = (mishap_buffer){ 0 };
    reply->content = mishap_buffer_text(&reply->body);
    if (post->begins_session && post->peer.revision != MISHAP_MCP_NONE && reply->status == 200)
        begin_session(post, reply);
    if (!post->reply) {
        mishap_http_later *later = post->later;
        post->later = NULL;
        mishap_http_later_answer(later, reply);
    }
    mishap_http_reply_release(&own);
}

/* -- events ------------------------------------------------------------------------------------ */

static void send_event(mishap_mcp_post *post, mishap_text data, bool last)
{
    mishap_buffer event = { 0 };
    bool kept = post->in_session;
    uint64_t place = kept ? ++post->place : 0;
    if (kept)
        mishap_mcp_event_add(post->front->sessions, post->session.number, post->stream, place, data,
                             last);
    mishap_mcp_put_event(&event, kept ? post->stream : 0, place, data);
    post->sending = true;
    if (post->later && !event.failed)
        mishap_http_later_send(post->later, mishap_buffer_text(&event));
    post->sending = false;
    mishap_buffer_release(&event);
}

/* What whoever resumes the stream is told if this worker dies before it has answered. */
static void write_will(const mishap_mcp_post *post)
{
    static const mishap_text unknown_end = MISHAP_TEXT(
        ",\"error\":{\"code\":-32603,\"message\":\"The process that ran this call has ended.\","
        "\"data\":{\"code\":\"INTERNAL_ERROR\","
        "\"message\":\"The process that ran this call has ended.\","
        "\"category\":\"system\",\"retryable\":false,"
        "\"suggestion\":\"Look whether the call took effect before calling again.\"}}}");
    const mishap_mcp_flight *call = post->peer.flights;
    char storage[512];
    mishap_buffer will;
    mishap_buffer_init(&will, storage, sizeof storage);
    MISHAP_PUT(&will, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&will,
                           call && !call->next ? call->id : (mishap_text)MISHAP_TEXT("null"));
    mishap_buffer_put_text(&will, unknown_end);
    if (!will.failed)
        mishap_mcp_stream_will(post->front->sessions, post->session.number, post->stream,
                               mishap_buffer_text(&will));
    mishap_buffer_release(&will);
}

static void begin_stream(mishap_mcp_post *post)
{
    mishap_http_reply head = { 0 };
    post->streaming = true;
    if (post->in_session) {
        post->stream = mishap_mcp_stream_begin(post->front->sessions);
        write_will(post);
    }
    if (!post->later && post->request)
        wait_for_answer(post);
    if (!post->later)
        return;
    mishap_mcp_head_of_stream(&head);
    mishap_http_later_begin(post->later, &head);
    mishap_http_reply_release(&head);
    /* With an id from the start it can be resumed even if nothing else arrives. */
    if (post->in_session && post->session.revision >= MISHAP_MCP_2025_11_25)
        send_event(post, (mishap_text){ "", 0 }, false);
}

/* -- the channel ------------------------------------------------------------------------------- */

static mishap_buffer *begin(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    mishap_mcp_post *post = (mishap_mcp_post *)(void *)channel;
    (void)kind;
    mishap_buffer_reset(&post->message);
    mishap_buffer_reserve(&post->message, 2048);
    return &post->message;
}

static void end(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    mishap_mcp_post *post = (mishap_mcp_post *)(void *)channel;
    static const char last_words[] =
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"Internal error\"}}";
    if (post->message.failed) {
        mishap_buffer_release(&post->message);
        mishap_buffer_put_text(&post->message, mishap_text_of(last_words));
    }
    if (kind == MISHAP_MCP_RESPONSE && !post->streaming) {
        answer_whole(post);
        return;
    }
    if (!post->streaming)
        begin_stream(post);
    send_event(post, mishap_buffer_text(&post->message), kind == MISHAP_MCP_RESPONSE);
    post->answered = post->answered || kind == MISHAP_MCP_RESPONSE;
}

static void finish(mishap_mcp_channel *channel)
{
    mishap_mcp_post *post = (mishap_mcp_post *)(void *)channel;
    post->finished = true;
    if (post->streaming && post->later) {
        mishap_http_later *later = post->later;
        post->later = NULL;
        mishap_http_later_end(later);
    } else if (!post->answered) {
        mishap_http_reply own = { .status = 202 };
        if (post->reply) {
            post->reply->status = 202;
        } else if (post->later) {
            mishap_http_later *later = post->later;
            post->later = NULL;
            mishap_http_later_answer(later, &own);
        }
        post->answered = true;
    }
    if (!post->reply && !post->closing)
        free_post(post);
}

/* -- calls that run ---------------------------------------------------------------------------- */

/* There is one worker in a process. Set before any thread runs. */
static mishap_mcp_front *front_of_process;

void mishap_mcp_posts_begin(mishap_mcp_front *front)
{
    front_of_process = front;
}

static void on_flight_done(mishap_job *job)
{
    mishap_mcp_flight *flight = (mishap_mcp_flight *)(void *)job; /* it is the first member */
    bool crashed = flight->crashed;
    mishap_mcp_flight_finish(flight);
    if (crashed)
        mishap_http_server_taint(front_of_process->http);
}

static bool start(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    (void)peer;
    flight->job.done = on_flight_done;
    return mishap_threads_add(front_of_process->http->threads, &flight->job);
}

static void wake(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    (void)peer, (void)flight;
    uv_async_send(&front_of_process->wake);
}

static void look_after(mishap_mcp_post *post, mishap_mcp_flight *flight, int64_t now)
{
    mishap_mcp_front *front = post->front;
    int64_t deadline = atomic_load(&flight->job.deadline_ns);
    if (post->in_session &&
        (mishap_mcp_session_cancelled(front->sessions, post->session.number, flight->id) ||
         !mishap_mcp_session_lives(front->sessions, post->session.number))) {
        mishap_mcp_flight_cancel(flight);
    } else if (deadline && now >= deadline) {
        mishap_threads_replace(front->http->threads, &flight->job);
        mishap_mcp_flight_give_up(flight);
        mishap_http_server_taint(front->http);
    } else {
        mishap_mcp_flight_report(flight);
    }
}

void mishap_mcp_posts_tick(mishap_mcp_front *front)
{
    int64_t now = mishap_clock_monotonic_ns();
    /* A flight that ends may take its post with it. */
    for (mishap_mcp_post *post = front->posts, *next; post; post = next) {
        next = post->next;
        if (post->closing) {
            free_post(post);
            continue;
        }
        for (mishap_mcp_flight *flight = post->peer.flights, *behind; flight; flight = behind) {
            behind = flight->next;
            bool only = !behind;
            look_after(post, flight, now);
            if (only)
                break;
        }
    }
}

void mishap_mcp_posts_tell(mishap_mcp_front *front, mishap_mcp_change change)
{
    for (mishap_mcp_post *post = front->posts; post; post = post->next)
        mishap_mcp_tell_change(&post->peer, change, (mishap_text){ NULL, 0 });
}

void mishap_mcp_posts_drain(mishap_mcp_front *front)
{
    for (mishap_mcp_post *post = front->posts, *next; post; post = next) {
        next = post->next;
        if (post->closing)
            continue;
        post->closing = true; /* it must be there until all of its subscriptions are told */
        mishap_mcp_listen_end(&post->peer);
        post->closing = false;
        if (post->finished)
            free_post(post);
    }
}

/* -- making ------------------------------------------------------------------------------------ */

mishap_mcp_post *mishap_mcp_post_make(mishap_mcp_front *front, const mishap_http_request *request,
                                      mishap_http_reply *reply)
{
    mishap_mcp_post *post = mishap_allocate(sizeof *post);
    if (!post)
        return NULL;
    *post = (mishap_mcp_post){ .channel = { .begin = begin, .end = end, .finish = finish },
                               .front = front,
                               .request = request,
                               .reply = reply };
    mishap_mcp_peer_init(&post->peer, &front->server);
    post->peer.caller = request->caller;
    post->peer.start = start;
    post->peer.wake = wake;
    link_post(post);
    return post;
}

void mishap_mcp_post_leave(mishap_mcp_post *post)
{
    if (!post->finished && !post->later)
        wait_for_answer(post);
    if (!post->finished && post->later && post->request->caller)
        post->peer.caller = post->later->request.caller;
    bool lost = !post->finished && !post->later; /* no memory to wait with */
    if (lost && !post->reply->status)
        post->reply->status = 503;
    post->request = NULL;
    post->reply = NULL;
    if (post->finished || post->closing || lost)
        free_post(post);
}
