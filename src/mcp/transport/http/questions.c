/*
 * Questions to the clients of sessions. A question is an event in the stream of its call. The
 * answer is a POST of its own, which any loop may get: it is stored for the loop that has the call
 * (mcp/sessions/questions.c), which looks for it several times per second, and at once if it got
 * the answer itself.
 */
#include "mcp/transport/http/over_http.h"

enum {
    /* Calls of a loop that wait for an answer, and bytes of their requests, which stay in memory
     * also if the client has left. One caller may have its share of them, as of other things:
     * --caller-share. */
    MOST_PARKED = 4096,
    MOST_BYTES = 64 << 20,
};

struct parked {
    size_t calls, bytes;
};

/* The calls that wait, and the bytes of their requests and of this one. A request is counted once,
 * however many of its calls wait. */
static void count_parked(const mishap_mcp_post *own, uint64_t holder, struct parked *all,
                         struct parked *of_one)
{
    *all = *of_one = (struct parked){ 0, own->bytes };
    for (const mishap_mcp_post *post = own->front->posts; post; post = post->next) {
        uint64_t whose = 0;
        size_t calls = 0;
        for (const mishap_mcp_flight *f = post->peer.flights; f; f = f->next)
            if (mishap_mcp_is_parked(f)) {
                whose = f->run.call->holder; /* all are of one caller */
                calls++;
            }
        size_t bytes = calls && post != own ? post->bytes : 0;
        all->calls += calls;
        all->bytes += bytes;
        of_one->calls += whose == holder ? calls : 0;
        of_one->bytes += whose == holder ? bytes : 0;
    }
}

/* The first call of a caller may be of any size, if there is room for it. */
static bool is_crowded(const mishap_mcp_post *post, const mishap_mcp_flight *flight)
{
    const mishap_http_settings *settings = mishap_http_settings_of(post->front->http);
    struct parked all, of_one;
    count_parked(post, flight->run.call->holder, &all, &of_one);
    return all.calls >= MOST_PARKED ||
           of_one.calls >= mishap_http_share_of(settings, MOST_PARKED) ||
           (all.calls && all.bytes > MOST_BYTES) ||
           (of_one.calls && of_one.bytes > mishap_http_share_of(settings, MOST_BYTES));
}

/* A client that has left, and got no event by which it could resume the stream, never answers. */
static bool ask_client(mishap_mcp_peer *peer, mishap_mcp_flight *flight, uint64_t *number)
{
    const mishap_mcp_post *post = mishap_mcp_post_of(peer);
    const mishap_mcp_front *front = post->front;
    bool reachable = post->streaming || post->reply || post->later;
    if (!post->in_session || !post->may_stream || !reachable || front->ends)
        return false;
    *number = is_crowded(post, flight)
                  ? 0
                  : mishap_mcp_question_begin(front->sessions, post->session.number, post->stream,
                                              flight->id);
    return true;
}

static void pass_on(mishap_mcp_peer *peer, uint64_t number, mishap_text answer)
{
    const mishap_mcp_post *post = mishap_mcp_post_of(peer);
    mishap_mcp_front *front = post->front;
    if (post->in_session &&
        mishap_mcp_question_answer(front->sessions, post->session.number, number, answer))
        uv_async_send(&front->wake);
}

static void withdraw(mishap_mcp_peer *peer, uint64_t number)
{
    const mishap_mcp_post *post = mishap_mcp_post_of(peer);
    mishap_mcp_question_end(post->front->sessions, post->session.number, number);
}

void mishap_mcp_questions_of(mishap_mcp_post *post)
{
    post->peer.ask = ask_client;
    post->peer.answer = pass_on;
    post->peer.withdraw = withdraw;
}

void mishap_mcp_question_look(mishap_mcp_post *post, mishap_mcp_flight *flight, int64_t now_ns)
{
    char storage[2048];
    mishap_buffer answer;
    mishap_buffer_init(&answer, storage, sizeof storage);
    mishap_mcp_reply reply = mishap_mcp_question_take(post->front->sessions, post->session.number,
                                                      flight->parked.number, &answer);
    if (reply == MISHAP_MCP_NO_REPLY)
        mishap_mcp_parked_look(flight, now_ns);
    else
        mishap_mcp_parked_answer(flight, reply == MISHAP_MCP_REPLY && !answer.failed
                                             ? mishap_buffer_text(&answer)
                                             : (mishap_text){ NULL, 0 });
    mishap_buffer_release(&answer);
}

static mishap *server_ends(void)
{
    return mishap_retry_after(
        mishap_raise(UNAVAILABLE, "The server ends before the question was answered."), 1000);
}

/* The end of a call may free its post. */
void mishap_mcp_questions_drain(mishap_mcp_front *front)
{
    front->ends = true;
    for (mishap_mcp_post *post = front->posts, *next; post; post = next) {
        next = post->next;
        if (!post->closing)
            mishap_mcp_parked_end_all(&post->peer, server_ends);
    }
}
