/*
 * Questions that running calls have asked their clients, and the answers, which any loop may get:
 * see session.h. An answer is stored like the event of a stream that has the number of the
 * question, until the loop that runs the call takes it.
 */
#include "mcp/sessions/shared.h"

enum { ONLY = 1 }; /* the place of an answer in its stream */

static struct mishap_mcp_running *find_question(mishap_mcp_sessions *s, uint64_t session,
                                                uint64_t number)
{
    struct mishap_mcp_place *place = number ? mishap_mcp_place_find(s, session) : NULL;
    for (size_t i = 0; place && i < MISHAP_MCP_RUNNING; i++)
        if (place->running[i].stream && place->running[i].question == number)
            return &place->running[i];
    return NULL;
}

/* The calls of a loop that died do not count. */
static size_t count_open(const struct mishap_mcp_place *place)
{
    size_t count = 0;
    for (size_t i = 0; i < MISHAP_MCP_RUNNING; i++)
        count += place->running[i].stream && place->running[i].question &&
                 !mishap_life_is_over(place->running[i].loop);
    return count;
}

uint64_t mishap_mcp_question_begin(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                                   mishap_text id)
{
    uint64_t number = 0, hash = mishap_text_hash(id);
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session);
    for (size_t i = 0; place && !number && i < MISHAP_MCP_RUNNING; i++) {
        struct mishap_mcp_running *call = &place->running[i];
        if (call->stream != stream || call->id != hash)
            continue;
        call->question = 0;
        if (count_open(place) >= MISHAP_MCP_ASKED_AT_ONCE)
            break;
        call->answered = false;
        call->question = number = ++s->streams;
    }
    pthread_mutex_unlock(&s->lock);
    return number;
}

static bool is_open(mishap_mcp_sessions *s, uint64_t session, uint64_t number)
{
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_running *call = find_question(s, session, number);
    bool open = call && !call->answered && !mishap_life_is_over(call->loop);
    pthread_mutex_unlock(&s->lock);
    return open;
}

/* The answer is stored before it is announced. Of two that come at once, the first one that is
 * stored is read. */
bool mishap_mcp_question_answer(mishap_mcp_sessions *s, uint64_t session, uint64_t number,
                                mishap_text answer)
{
    if (!is_open(s, session, number))
        return false;
    mishap_mcp_event_add_here(s, session, number, ONLY, answer);
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_running *call = find_question(s, session, number);
    if (call)
        call->answered = true;
    pthread_mutex_unlock(&s->lock);
    if (!call) /* the call has ended meanwhile */
        mishap_mcp_events_drop(s, session, number);
    return call;
}

mishap_mcp_reply mishap_mcp_question_take(mishap_mcp_sessions *s, uint64_t session, uint64_t number,
                                          mishap_buffer *answer)
{
    bool last;
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_running *call = find_question(s, session, number);
    bool answered = call && call->answered;
    pthread_mutex_unlock(&s->lock);
    if (!answered)
        return MISHAP_MCP_NO_REPLY;
    bool found = mishap_mcp_event_next(s, session, number, 0, answer, &last) == MISHAP_MCP_EVENT;
    mishap_mcp_question_end(s, session, number);
    return found ? MISHAP_MCP_REPLY : MISHAP_MCP_REPLY_LOST;
}

void mishap_mcp_question_end(mishap_mcp_sessions *s, uint64_t session, uint64_t number)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_running *call = find_question(s, session, number);
    if (call)
        call->question = 0;
    pthread_mutex_unlock(&s->lock);
    mishap_mcp_events_drop(s, session, number);
}
