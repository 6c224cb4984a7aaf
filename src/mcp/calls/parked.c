/*
 * Calls that have asked their client, in the revisions in which a server sends requests. The run
 * has ended; the call waits here, with its arguments, and holds no worker. It asks one question
 * after the other. When the last one of the run is answered, or one is declined, the handler runs
 * again, from its beginning.
 */
#include <stdlib.h>

#include "mcp/calls/asks.h"
#include "mcp/calls/flight.h"

enum {
    BUSY_MS = 1000,  /* the hint when to try again */
    LONGEST_ID = 40, /* "mishap-…", quoted */
};

#define PREFIX "\"mishap-"

static mishap_text id_of(uint64_t number, char room[LONGEST_ID])
{
    int length = snprintf(room, LONGEST_ID, PREFIX "%llu\"", (unsigned long long)number);
    return (mishap_text){ room, (size_t)length };
}

/* 0: it is none of ours. */
static uint64_t number_of(mishap_text id)
{
    char room[LONGEST_ID], again[LONGEST_ID];
    const size_t prefix = sizeof PREFIX - 1;
    if (id.length <= prefix || id.length >= sizeof room || memcmp(id.data, PREFIX, prefix) != 0)
        return 0;
    memcpy(room, id.data, id.length);
    room[id.length] = '\0';
    uint64_t number = strtoull(room + prefix, NULL, 10);
    return mishap_text_equal(id_of(number, again), id) ? number : 0;
}

/* -- asking ------------------------------------------------------------------------------------ */

static const mishap_asked *next_question(const mishap_mcp_flight *flight, const mishap_asked *from)
{
    while (from && !mishap_mcp_can_answer(&flight->asked, from->question))
        from = from->next;
    return from;
}

/* False: there was no memory. */
static bool send_question(mishap_mcp_flight *flight)
{
    char room[LONGEST_ID], storage[2048];
    mishap_buffer question;
    mishap_call *call = flight->run.call;
    mishap_buffer_init(&question, storage, sizeof storage);
    mishap_json_open(&question, '{');
    mishap_mcp_put_question(&question, flight->parked.asked);
    mishap_json_close(&question, '}');
    mishap_free(
        mishap_hide_json(&question, mishap_call_secrets(call), &(mishap_sent){ .call = call }));
    mishap_buffer *b = mishap_mcp_begin_message(flight->channel, MISHAP_MCP_REQUEST,
                                                id_of(flight->parked.number, room));
    MISHAP_PUT(b, ",");
    if (!question.failed && question.length > 1)
        mishap_buffer_put(b, question.data + 1, question.length - 1);
    bool sent = !question.failed && question.length > 1 && !b->failed;
    mishap_buffer_release(&question);
    if (sent)
        mishap_mcp_end_message(flight->channel, b, MISHAP_MCP_REQUEST);
    else
        mishap_mcp_take_back(flight->channel, b);
    return sent;
}

/* NULL: it was sent. *none: the client cannot be asked. */
static mishap *ask_client(mishap_mcp_flight *flight, const mishap_asked *asked, bool *none)
{
    mishap_mcp_peer *peer = flight->peer;
    uint64_t number = 0;
    *none = !asked || !peer->ask || !peer->ask(peer, flight, &number);
    if (*none)
        return NULL;
    if (!number)
        return mishap_retry_after(
            mishap_raise(UNAVAILABLE, "Too many calls wait for an answer of their client."),
            BUSY_MS);
    flight->parked.asked = asked;
    flight->parked.number = number;
    flight->parked.since_ns = mishap_clock_monotonic_ns();
    if (send_question(flight))
        return NULL;
    mishap_mcp_parked_withdraw(flight);
    return mishap_out_of_memory();
}

bool mishap_mcp_park(mishap_mcp_flight *flight, mishap **failure)
{
    bool none;
    if (flight->asked.revision == MISHAP_MCP_NONE || mishap_mcp_is_modern(flight->asked.revision) ||
        !mishap_asking_is(flight->run.call, *failure))
        return false;
    mishap *refused = ask_client(flight, next_question(flight, flight->run.call->questions), &none);
    if (none)
        return false;
    mishap_free(*failure);
    *failure = refused;
    return !refused;
}

/* -- going on ---------------------------------------------------------------------------------- */

/* The time that the client took is not counted as that of the call. */
static void leave(mishap_mcp_flight *flight)
{
    flight->begun_ns += mishap_clock_monotonic_ns() - flight->parked.since_ns;
    flight->parked.asked = NULL;
    flight->parked.number = 0;
}

/* Run the handler again, with all answers. */
static void resume(mishap_mcp_flight *flight)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer *answers = &flight->parked.answers;
    mishap_call *call = flight->run.call;
    if (!answers->length)
        mishap_json_open(answers, '{');
    mishap_json_close(answers, '}');
    mishap *failure = mishap_json_read(&reader, mishap_buffer_text(answers))
                          ? mishap_asking_answer(call, reader.root, MISHAP_ANSWERS_OF_CLIENT)
                          : mishap_out_of_memory();
    mishap_json_reader_release(&reader);
    mishap_buffer_release(answers);
    *answers = (mishap_buffer){ 0 };
    if (!failure) {
        mishap_asking_again(call);
        failure = mishap_mcp_flight_run(flight);
    }
    if (failure)
        mishap_mcp_flight_done(flight, failure);
}

/* Ask this question, or go on. */
static void ask_or_resume(mishap_mcp_flight *flight, const mishap_asked *asked)
{
    bool none = !asked;
    mishap *failure = asked ? ask_client(flight, asked, &none) : NULL;
    if (failure)
        mishap_mcp_flight_done(flight, failure);
    else if (none)
        resume(flight);
}

/* The client has declared what it cannot do after all: as if it had not. */
static void do_without(mishap_mcp_flight *flight, const mishap_asked *asked)
{
    flight->asked.capabilities &= ~mishap_mcp_need_of(asked->question);
    const mishap_asked *next = next_question(flight, asked->next);
    if (next || flight->parked.answers.length)
        ask_or_resume(flight, next);
    else
        mishap_mcp_flight_done(flight, mishap_asking_conclude(flight->run.call));
}

/* A form that was closed or declined says enough: the handler decides whether it goes on. */
static bool is_refusal(const mishap_question *question, yyjson_val *result)
{
    yyjson_val *action = yyjson_obj_get(result, "action");
    return !question->method &&
           (yyjson_equals_str(action, "decline") || yyjson_equals_str(action, "cancel"));
}

/* {"result":…}, {"error":…}, or {} for an answer that is too long */
void mishap_mcp_parked_answer(mishap_mcp_flight *flight, mishap_text answer)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    const mishap_asked *asked = flight->parked.asked;
    mishap_buffer *answers = &flight->parked.answers;
    leave(flight);
    if (!answer.length) {
        ask_or_resume(flight, asked);
        return;
    }
    bool read = mishap_json_read(&reader, answer);
    yyjson_val *result = read ? yyjson_obj_get(reader.root, "result") : NULL;
    bool error = read && yyjson_obj_get(reader.root, "error");
    bool refusal = is_refusal(asked->question, result);
    if (result) {
        if (!answers->length)
            mishap_json_open(answers, '{');
        mishap_json_key(answers, mishap_text_of(asked->question->name));
        mishap_json_copy(answers, result);
    }
    bool enough = answers->length > MISHAP_ASKING_REPLIES; /* the rest is asked by the next run */
    mishap_json_reader_release(&reader);
    if (result && enough)
        resume(flight);
    else if (result)
        ask_or_resume(flight, refusal ? NULL : next_question(flight, asked->next));
    else if (error)
        do_without(flight, asked);
    else
        mishap_mcp_flight_done(flight, !read ? mishap_out_of_memory()
                                             : mishap_raise(CONTENT_TOO_LARGE,
                                                            "The answer is longer than %d bytes.",
                                                            (int)MISHAP_ASKING_REPLIES));
}

/* -- responses --------------------------------------------------------------------------------- */

static mishap_mcp_flight *find_parked(const mishap_mcp_peer *peer, uint64_t number)
{
    mishap_mcp_flight *flight = peer->flights;
    while (flight && (!mishap_mcp_is_parked(flight) || flight->parked.number != number))
        flight = flight->next;
    return flight;
}

static void put_answer(mishap_buffer *b, const mishap_mcp_message *message)
{
    mishap_json_open(b, '{');
    if (message->error) {
        MISHAP_PUT(b, "\"error\":true");
    } else {
        MISHAP_JSON_KEY(b, "result");
        mishap_json_copy(b, message->result);
    }
    if (b->length > MISHAP_ASKING_REPLIES) {
        mishap_buffer_reset(b);
        mishap_json_open(b, '{');
    }
    mishap_json_close(b, '}');
}

/* A response to nothing is ignored: the call may have ended meanwhile. */
void mishap_mcp_take_response(mishap_mcp_peer *peer, const mishap_mcp_message *message)
{
    char storage[2048];
    mishap_buffer answer;
    uint64_t number = number_of(message->id);
    mishap_mcp_flight *flight = number && !peer->answer ? find_parked(peer, number) : NULL;
    if (!number || (!peer->answer && !flight))
        return;
    mishap_buffer_init(&answer, storage, sizeof storage);
    put_answer(&answer, message);
    mishap_text text = answer.failed ? (mishap_text){ NULL, 0 } : mishap_buffer_text(&answer);
    if (flight)
        mishap_mcp_parked_answer(flight, text);
    else
        peer->answer(peer, number, text);
    mishap_buffer_release(&answer);
}

/* -- ends -------------------------------------------------------------------------------------- */

void mishap_mcp_parked_withdraw(mishap_mcp_flight *flight)
{
    char room[LONGEST_ID];
    mishap_mcp_channel *channel = flight->channel;
    mishap_mcp_peer *peer = flight->peer;
    mishap_buffer *b = mishap_mcp_begin_notification(channel, "notifications/cancelled");
    MISHAP_JSON_KEY(b, "requestId");
    mishap_buffer_put_text(b, id_of(flight->parked.number, room));
    MISHAP_JSON_KEY(b, "reason");
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("The call has ended."));
    mishap_mcp_finish_notification(channel, b);
    if (peer->withdraw)
        peer->withdraw(peer, flight->parked.number);
    leave(flight);
}

void mishap_mcp_parked_look(mishap_mcp_flight *flight, int64_t now_ns)
{
    const int minutes = MISHAP_STATE_MS / 60000;
    if (!mishap_mcp_is_parked(flight) ||
        now_ns - flight->parked.since_ns < MISHAP_STATE_MS * INT64_C(1000000))
        return;
    mishap *failure = mishap_raise(CANCELLED, "The question `%s` was not answered in %d minutes.",
                                   flight->parked.asked->question->name, minutes);
    mishap_mcp_parked_withdraw(flight);
    mishap_mcp_flight_done(flight, failure);
}

void mishap_mcp_parked_end_all(mishap_mcp_peer *peer, mishap *(*why)(void))
{
    for (mishap_mcp_flight *flight = peer->flights, *next; flight; flight = next) {
        next = flight->next;
        if (!mishap_mcp_is_parked(flight))
            continue;
        mishap_mcp_parked_withdraw(flight);
        mishap_mcp_flight_done(flight, why());
    }
}
