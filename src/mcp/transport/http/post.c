/*
 * One POST and its response. The response is plain JSON with an HTTP status, unless the call sends
 * a notification first: then it becomes a stream of events. In a session, closing the connection
 * does not cancel the call: it continues, and its events are stored so that the client can resume
 * the stream. Outside of a session, closing the connection cancels the call.
 */
#include <stdio.h>

#include "base/memory.h"
#include "mcp/transport/http/over_http.h"
#include "server/ending.h"

/* -- beginning and end ------------------------------------------------------------------------- */

static void link_post(mishap_mcp_post *post)
{
    post->next = post->front->posts;
    if (post->next)
        post->next->previous = post;
    post->front->posts = post;
}

static void forget_calls(const mishap_mcp_post *post)
{
    if (post->in_session && post->stream)
        mishap_mcp_calls_end(post->front->sessions, post->session.number, post->stream);
}

static void free_post(mishap_mcp_post *post)
{
    *(post->previous ? &post->previous->next : &post->front->posts) = post->next;
    if (post->next)
        post->next->previous = post->previous;
    post->closing = true; /* cancelled flights finish the channel */
    mishap_mcp_peer_release(&post->peer);
    forget_calls(post);
    if (post->begins[0])
        /* The session has not begun. */
        mishap_mcp_session_drop(post->front->sessions, post->session.number);
    mishap_http_stream_ended(post->front->http, post->held);
    mishap_http_task_drop(post->front->http, &post->task);
    mishap_release(post->kept);
    mishap_buffer_release(&post->message);
    mishap_release(post);
}

/* The peer is gone, and with it the deferred request. */
static void on_closed(mishap_http_later *later)
{
    mishap_mcp_post *post = later->owner;
    post->later = NULL;
    if (!post->kept) {
        post->peer.caller = NULL; /* it pointed into the request; calls have their own copy */
        post->peer.remote = (mishap_text){ NULL, 0 };
    }
    if (post->in_session && (post->peer.flight_count || post->peer.paused))
        return; /* it goes on, for the connection that resumes it */
    if (post->sending || post->reply)
        post->closing = true; /* the function that is sending still uses it */
    else
        free_post(post);
}

/* The peer sends no more, but may wait for the answer, which is written in any case. In a session,
 * leaving does not cancel; outside of one, handlers are told. */
static void on_left(mishap_http_later *later)
{
    mishap_mcp_post *post = later->owner;
    for (mishap_mcp_flight *flight = post->peer.flights; flight && !post->in_session;
         flight = flight->next)
        mishap_runner_cancel(post->front->served->runner, &flight->run);
}

static void wait_for_answer(mishap_mcp_post *post)
{
    post->later = mishap_http_defer(post->front->http, post->request);
    if (post->later) {
        post->later->owner = post;
        post->later->closed = on_closed;
        post->later->left = on_left;
    }
}

/* -- answers ----------------------------------------------------------------------------------- */

static const mishap_text last_words = MISHAP_TEXT(
    "{\"jsonrpc\":\"2.0\",\"error\":" MISHAP_MCP_LAST_ERROR "}");

/* Its place was reserved before the message was read: now it becomes a session. */
static void begin_session(mishap_mcp_post *post, mishap_http_reply *reply)
{
    post->session.revision = post->peer.revision;
    post->session.level = post->peer.level;
    post->session.capabilities = post->peer.capabilities;
    mishap_mcp_owner owner = { post->peer.caller, post->caller_key };
    mishap_mcp_session_begin(post->front->sessions, owner, &post->session, post->begins);
    mishap_http_reply_field(reply, "Mcp-Session-Id", mishap_text_of(post->begins));
    post->begins[0] = '\0'; /* its place must not be given back */
}

/* A client that gets the status 403 asks its user, or its issuer, for these scopes. */
static void put_challenge(const mishap_mcp_post *post, mishap_http_reply *reply)
{
    const mishap_http_settings *settings = mishap_http_settings_of(post->front->http);
    if (reply->status == 403 && post->channel.lacks && post->request && settings->challenge)
        settings->challenge(reply, settings, post->request, post->channel.lacks);
}

static void answer_whole(mishap_mcp_post *post)
{
    mishap_http_reply own = { 0 }, *reply = post->reply ? post->reply : &own;
    post->answered = true;
    if (!post->reply && !post->later)
        return; /* the client is gone, and without a stream it cannot ask again */
    reply->status = post->channel.status ? post->channel.status : 200;
    reply->media_type = "application/json";
    reply->code = post->channel.code;
    put_challenge(post, reply);
    mishap_buffer_release(&reply->body);
    reply->content = last_words; /* if there was no memory for any other answer */
    if (!post->message.failed) {
        reply->body = post->message; /* the reply owns it now */
        post->message = (mishap_buffer){ 0 };
        reply->content = mishap_buffer_text(&reply->body);
    }
    if (post->in_session && mishap_http_sessions_end_in(post->front->http) >= 0)
        mishap_http_reply_ends(reply, mishap_http_sessions_end_in(post->front->http) / 1000);
    if (post->begins[0] && post->peer.revision != MISHAP_MCP_NONE && reply->status == 200)
        begin_session(post, reply);
    if (!post->reply) {
        mishap_http_later *later = post->later;
        post->later = NULL;
        mishap_http_later_answer(later, reply);
    }
    mishap_http_reply_release(&own);
}

void mishap_mcp_post_refuse(mishap_mcp_post *post, mishap_text id, int code, int status,
                            mishap *failure)
{
    mishap_mcp_refuse(&post->peer, &post->channel, id, code, status, failure, NULL, NULL);
    mishap_free(failure);
    post->channel.finish(&post->channel);
}

void mishap_mcp_post_refuse_for_now(mishap_mcp_post *post, mishap_text id, mishap *failure)
{
    char seconds[24];
    const mishap_public *told = mishap_told(failure);
    int64_t wait_ms = told->retry_after_ms < 1 ? 1000 : told->retry_after_ms;
    int length = snprintf(seconds, sizeof seconds, "%lld", (long long)((wait_ms + 999) / 1000));
    mishap_http_reply_field(post->reply, "Retry-After", (mishap_text){ seconds, (size_t)length });
    mishap_mcp_post_refuse(post, id, MISHAP_MCP_INVALID_REQUEST, told->code->http_status, failure);
}

/* -- events ------------------------------------------------------------------------------------ */

/* Write ,"id":ID of the call that is answered; nothing if there are several. */
static void put_id_of_call(mishap_buffer *b, const mishap_mcp_post *post)
{
    const mishap_mcp_flight *call = post->peer.flights;
    if (!call || call->next)
        return;
    MISHAP_PUT(b, ",\"id\":");
    mishap_buffer_put_text(b, call->id);
}

/* Another connection has resumed the stream: from now on it is sent there. The call goes on. */
static bool was_taken_over(mishap_mcp_post *post)
{
    if (!post->in_session || !post->later ||
        !mishap_mcp_stream_sender(post->front->sessions, post->session.number, post->stream))
        return false;
    mishap_http_later *later = post->later;
    post->later = NULL;
    mishap_http_later_end(later);
    return true;
}

/* An event that is too large to be stored is replaced by a note for the client that resumes. */
static void keep_event(const mishap_mcp_post *post, mishap_text data, bool last)
{
    static const mishap_text too_large = MISHAP_TEXT(
        ",\"error\":{\"code\":-32603,\"message\":\"The answer was too large to be stored.\","
        "\"data\":{\"code\":\"CONTENT_TOO_LARGE\","
        "\"message\":\"The answer was too large to be stored.\","
        "\"category\":\"validation\",\"retryable\":false,"
        "\"suggestion\":\"Check whether the call took effect before you repeat it.\"}}}");
    mishap_mcp_sessions *sessions = post->front->sessions;
    uint64_t session = post->session.number;
    mishap_buffer instead = { 0 };
    if (!post->stored ||
        mishap_mcp_event_add(sessions, session, post->stream, post->place, data, last))
        return;
    if (last) {
        MISHAP_PUT(&instead, "{\"jsonrpc\":\"2.0\"");
        put_id_of_call(&instead, post);
        mishap_buffer_put_text(&instead, too_large);
    }
    if (!instead.failed)
        mishap_mcp_event_add(sessions, session, post->stream, post->place,
                             mishap_buffer_text(&instead), last);
    mishap_buffer_release(&instead);
}

static void send_event(mishap_mcp_post *post, mishap_text data, bool last)
{
    mishap_buffer event = { 0 };
    if (post->in_session) {
        post->place++;
        keep_event(post, data, last);
    }
    mishap_mcp_put_event(&event, post->in_session ? post->stream : 0, post->place, data);
    post->sending = true;
    post->quiet_since_ns = mishap_clock_monotonic_ns();
    if (post->later && !event.failed && !was_taken_over(post)) {
        post->later->code = post->channel.code; /* for metrics and access log */
        mishap_http_later_send(post->later, mishap_buffer_text(&event));
    }
    post->sending = false;
    mishap_buffer_release(&event);
}

/* The answer for a connection that resumes the stream, if this loop dies before it has answered. */
static bool write_will(const mishap_mcp_post *post)
{
    const mishap_mcp_flight *call = post->peer.flights;
    return mishap_mcp_stream_will(post->front->sessions, post->session.number, post->stream,
                                  call && !call->next ? call->id : (mishap_text){ "", 0 },
                                  post->peer.scopes);
}

/* The number of its stream in the session. */
static uint64_t stream_of(mishap_mcp_post *post)
{
    if (!post->stream)
        post->stream = mishap_mcp_stream_begin(post->front->sessions);
    return post->stream;
}

static void begin_stream(mishap_mcp_post *post)
{
    mishap_http_reply head = { 0 };
    post->streaming = true;
    if (post->in_session && stream_of(post))
        post->stored = write_will(post);
    if (!post->later && post->request)
        wait_for_answer(post);
    if (!post->later)
        return;
    mishap_mcp_head_of_stream(&head);
    mishap_http_later_begin(post->later, &head);
    mishap_http_reply_release(&head);
    /* With an id from the start, the stream can be resumed even if nothing else arrives. */
    if (post->in_session && post->session.revision >= MISHAP_MCP_2025_11_25)
        send_event(post, (mishap_text){ "", 0 }, false);
}

/* -- the channel ------------------------------------------------------------------------------- */

static mishap_buffer *begin_message(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    mishap_mcp_post *post = (mishap_mcp_post *)(void *)channel;
    (void)kind;
    mishap_buffer_reset(&post->message);
    mishap_buffer_reserve(&post->message, 2048);
    return &post->message;
}

static void end_message(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    mishap_mcp_post *post = (mishap_mcp_post *)(void *)channel;
    bool answers = kind == MISHAP_MCP_RESPONSE;
    if (answers)
        forget_calls(post); /* before the client can use the id again */
    if (answers && !post->streaming) {
        answer_whole(post);
        return;
    }
    if (!answers && !post->may_stream)
        return; /* the client does not want it */
    if (!post->streaming)
        begin_stream(post);
    send_event(post, post->message.failed ? last_words : mishap_buffer_text(&post->message),
               answers);
    post->answered = post->answered || answers;
}

static void finish_post(mishap_mcp_channel *channel)
{
    mishap_mcp_post *post = (mishap_mcp_post *)(void *)channel;
    post->finished = true;
    forget_calls(post); /* of a cancelled call: before the client can use the id again */
    /* A client that has resumed it would wait for an answer that never comes. */
    if (post->stored && post->streaming && !post->answered)
        mishap_mcp_event_add(post->front->sessions, post->session.number, post->stream,
                             ++post->place, (mishap_text){ "", 0 }, true);
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
    if (!post->reply && !post->closing && !post->taking)
        free_post(post);
}

/* -- calls that run ---------------------------------------------------------------------------- */

static bool start_flight(mishap_mcp_peer *peer, mishap_mcp_flight *flight)
{
    mishap_mcp_post *post = mishap_mcp_post_of(peer);
    flight->run.call->holder = mishap_http_caller_of(post->front->http, post->request);
    flight->run.call->owner = mishap_http_owner_of(post->request);
    return !post->in_session || mishap_mcp_call_begin(post->front->sessions, post->session.number,
                                                      stream_of(post), flight->id);
}

static void count_death(mishap_mcp_peer *peer)
{
    mishap_http_count(mishap_mcp_post_of(peer)->front->http, MISHAP_HTTP_CRASHES, 1);
}

/* The call may run in any loop. */
static bool runs(mishap_mcp_peer *peer, mishap_text id)
{
    const mishap_mcp_post *post = mishap_mcp_post_of(peer);
    return post->in_session &&
           mishap_mcp_call_runs(post->front->sessions, post->session.number, id);
}

static void look_after_call(mishap_mcp_post *post, mishap_mcp_flight *flight, int64_t now)
{
    if (post->in_session && mishap_mcp_call_cancelled(post->front->sessions, post->session.number,
                                                      post->stream, flight->id))
        mishap_mcp_flight_cancel(flight);
    else if (mishap_mcp_is_parked(flight))
        mishap_mcp_question_look(post, flight, now);
    else
        mishap_mcp_flight_report(flight);
}

/* A proxy in between would close a stream that is silent for too long. */
static void look_after_stream(mishap_mcp_post *post, int64_t now)
{
    if (!post->streaming || !post->later || was_taken_over(post) ||
        now - post->quiet_since_ns < MISHAP_MCP_HEARTBEAT_NS)
        return;
    post->quiet_since_ns = now;
    post->sending = true;
    mishap_http_later_send(post->later, mishap_mcp_heartbeat);
    post->sending = false;
}

void mishap_mcp_posts_tick(mishap_mcp_front *front)
{
    int64_t now = mishap_clock_monotonic_ns();
    /* The end of a flight may free its post. */
    for (mishap_mcp_post *post = front->posts, *next; post; post = next) {
        next = post->next;
        if (post->closing) {
            free_post(post);
            continue;
        }
        look_after_stream(post, now);
        for (mishap_mcp_flight *flight = post->peer.flights, *behind; flight; flight = behind) {
            behind = flight->next;
            bool only = !behind;
            look_after_call(post, flight, now);
            if (only)
                break;
        }
    }
}

void mishap_mcp_posts_tell(mishap_mcp_front *front, mishap_mcp_change change, mishap_text uri)
{
    for (mishap_mcp_post *post = front->posts; post; post = post->next)
        mishap_mcp_tell_change(&post->peer, change, uri);
}

/* The subscription of a session outlives its request, and the loop. */
static mishap *watch(mishap_mcp_peer *peer, mishap_text uri, bool begin)
{
    const mishap_mcp_post *post = mishap_mcp_post_of(peer);
    mishap_mcp_front *front = post->front;
    mishap *failure = NULL;
    if (begin)
        failure = mishap_mcp_watch_begin(front->watches, front->sessions, post->session.number,
                                         mishap_http_caller_of(front->http, post->request), uri);
    else if (!(failure = mishap_mcp_session_complete(front->sessions, post->session.number)))
        mishap_mcp_watch_end(front->watches, post->session.number, uri);
    if (!failure)
        mishap_mcp_session_changed(front->sessions, post->session.number);
    return failure;
}

static void catch_up(mishap_mcp_peer *peer)
{
    mishap_mcp_front_tell(mishap_mcp_post_of(peer)->front);
}

void mishap_mcp_posts_drain(mishap_mcp_front *front)
{
    for (mishap_mcp_post *post = front->posts, *next; post; post = next) {
        next = post->next;
        if (post->closing)
            continue;
        post->closing = true; /* it must stay until all of its subscriptions were ended */
        mishap_mcp_listen_end(&post->peer);
        post->closing = false;
        if (post->finished)
            free_post(post);
    }
}

static mishap_text find_header(const void *state, mishap_text name)
{
    const mishap_mcp_post *post = state;
    int place = mishap_http_field_find(mishap_http_settings_of(post->front->http)->fields, name);
    return place < 0 ? (mishap_text){ NULL, 0 } : post->request->fields[place];
}

/* The request exists as long as its messages are processed. */
static mishap *keep_headers(mishap_mcp_peer *peer, mishap_call *call)
{
    const mishap_mcp_post *post = mishap_mcp_post_of(peer);
    return post->request ? mishap_call_keep_headers(call, find_header, post) : NULL;
}

/* -- batches ----------------------------------------------------------------------------------- */

void mishap_mcp_post_keep_session(mishap_mcp_post *post)
{
    if (post->peer.initialized == post->session.initialized &&
        post->peer.level == post->session.level)
        return;
    post->session.initialized = post->peer.initialized;
    post->session.level = post->peer.level;
    mishap_mcp_session_keep(post->front->sessions, &post->session);
}

/* Messages that are processed after the input buffer was reused still need to know their sender,
 * even if the connection is closed by then. */
static bool keep_request(mishap_mcp_post *post)
{
    if (!post->kept)
        post->kept = mishap_allocate(sizeof *post->kept + mishap_http_request_size(post->request));
    if (post->kept && post->request != post->kept)
        mishap_http_request_keep(post->kept, post->request, (char *)(post->kept + 1));
    return post->kept;
}

static bool pause_batch(mishap_mcp_peer *peer)
{
    mishap_mcp_post *post = mishap_mcp_post_of(peer);
    return mishap_http_turn_is_over(post->front->http) && keep_request(post);
}

/* Use the stored request from now on, or none, if every message was processed. */
static void change_request(mishap_mcp_post *post)
{
    mishap_mcp_front *front = post->front;
    const mishap_http_request *kept = post->peer.paused ? post->kept : NULL;
    const char *caller = post->later ? post->later->request.caller : NULL;
    post->request = kept;
    post->peer.caller = kept ? kept->caller : caller;
    post->peer.remote = kept ? kept->remote : (mishap_text){ NULL, 0 };
    post->peer.named = kept && front->caller_field >= 0 ? kept->fields[front->caller_field]
                                                        : (mishap_text){ NULL, 0 };
    if (kept) {
        mishap_http_task_wait(front->http, &post->task);
    } else {
        mishap_release(post->kept);
        post->kept = NULL;
    }
}

static void go_on(mishap_http_task *task)
{
    mishap_mcp_post *post = (mishap_mcp_post *)(void *)((char *)task -
                                                        offsetof(mishap_mcp_post, task));
    post->taking = true;
    mishap_mcp_go_on(&post->peer);
    post->taking = false;
    mishap_mcp_post_keep_session(post);
    change_request(post);
    if (post->finished)
        free_post(post);
}

/* -- making ------------------------------------------------------------------------------------ */

/* A batch may go on after the request is gone. What is longer is malformed, and ignored. */
static void keep_traceparent(mishap_mcp_post *post, mishap_text field)
{
    if (field.length > sizeof post->traceparent)
        return;
    memcpy(post->traceparent, field.length ? field.data : "", field.length);
    post->peer.traceparent = (mishap_text){ post->traceparent, field.length };
}

mishap_mcp_post *mishap_mcp_post_make(mishap_mcp_front *front, const mishap_http_request *request,
                                      mishap_http_reply *reply)
{
    mishap_mcp_post *post = mishap_allocate(sizeof *post);
    if (!post)
        return NULL;
    *post = (mishap_mcp_post){
        .channel = { .begin = begin_message, .end = end_message, .finish = finish_post },
        .front = front,
        .request = request,
        .reply = reply,
        .caller_key = request->caller_key,
        .bytes = request->body.length,
        .may_stream = mishap_mcp_accepts_stream(request)
    };
    mishap_mcp_peer_init(&post->peer, &front->server);
    memcpy(post->incident, request->id, sizeof post->incident);
    post->peer.incident = post->incident;
    keep_traceparent(post, request->fields[MISHAP_HTTP_TRACEPARENT]);
    post->peer.caller = request->caller;
    post->peer.scopes = request->scopes;
    post->peer.owner = mishap_http_owner_of(request);
    post->peer.caller_is_free = request->caller_is_free;
    if (front->caller_field >= 0)
        post->peer.named = request->fields[front->caller_field];
    mishap_http_request_caller(request, post->counted_for, sizeof post->counted_for);
    post->peer.counted_for = post->counted_for;
    post->peer.remote = request->remote;
    post->peer.headers = keep_headers;
    post->peer.pause = pause_batch;
    post->task.go_on = go_on;
    post->peer.start = start_flight;
    post->peer.runs = runs;
    post->peer.died = count_death;
    post->peer.watch = watch;
    post->peer.catch_up = catch_up;
    mishap_mcp_questions_of(post);
    link_post(post);
    return post;
}

void mishap_mcp_post_leave(mishap_mcp_post *post)
{
    if (!post->finished && !post->later)
        wait_for_answer(post);
    /* A client that only listens for changes has left when it closes its side. */
    if (!post->finished && post->later)
        post->later->half_close = post->peer.flight_count > 0 || post->peer.paused;
    bool lost = !post->finished && !post->later; /* there is no memory to defer it */
    if (lost && !post->reply->status)
        post->reply->status = 503;
    change_request(post);
    post->reply = NULL;
    if (post->finished || post->closing || lost)
        free_post(post);
}
