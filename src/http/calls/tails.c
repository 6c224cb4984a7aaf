/*
 * Live tails: streams that are open and wait for a change (mishap_stream_wait). A waiting tail uses
 * a connection and a few hundred bytes, but no worker. A tail whose address changes becomes due,
 * and its handler is called again with the same arguments and the cursor that it left. Only a
 * limited number of due tails run at the same time, in the order in which they became due, so that
 * a thousand readers of one address do not delay other requests. No change is missed: when a tail
 * starts to wait, changes during the run of its handler are checked.
 */
#include "base/memory.h"
#include "http/calls/calls.h"

enum {
    MOST_RESUMED = 32, /* tails whose handlers run at once */
    SILENCE_S = 15,    /* after so long, a reader of events gets a sign of life */
};

/* -- lists ------------------------------------------------------------------------------------- */

static void leave_list(mishap_api_call *c)
{
    if (!c->in)
        return;
    *(c->previous ? &c->previous->next : &c->in->first) = c->next;
    *(c->next ? &c->next->previous : &c->in->last) = c->previous;
    c->next = c->previous = NULL;
    c->in = NULL;
}

static void enter_list(mishap_api_call *c, mishap_api_tails *list)
{
    leave_list(c);
    c->in = list;
    c->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = c;
    list->last = c;
}

void mishap_api_tail_leave(mishap_api_call *c)
{
    mishap_api *api = c->api;
    leave_list(c);
    if (c->resumed)
        api->tails_resumed--;
    c->resumed = c->is_tail = false;
    mishap_arena_release(&c->memory);
    mishap_arena_init(&c->memory, NULL, 0);
}

/* -- waiting ----------------------------------------------------------------------------------- */

static bool keep_text(mishap_api_call *c, mishap_text *kept, mishap_text text)
{
    *kept = text.data ? mishap_arena_copy(&c->memory, text) : text;
    return !text.data || kept->data;
}

/* Keep everything that a new call of the same kind needs. */
static bool keep_tail(mishap_api_call *c)
{
    const mishap_call *call = c->run.call;
    mishap_buffer json = { 0 };
    mishap_arena_release(&c->memory);
    mishap_arena_init(&c->memory, NULL, 0);
    mishap_json_copy(&json, call->reader.root);
    c->operation = call->operation;
    bool kept = !json.failed && keep_text(c, &c->arguments, mishap_buffer_text(&json)) &&
                keep_text(c, &c->body, call->body) &&
                keep_text(c, &c->body_type, mishap_text_of(call->body_type)) &&
                keep_text(c, &c->address, mishap_text_of(call->resumed_by)) &&
                keep_text(c, &c->cursor, mishap_text_of(call->cursor));
    mishap_buffer_release(&json);
    return kept;
}

bool mishap_api_tail_wait(mishap_api_call *c)
{
    mishap_api *api = c->api;
    /* If the peer closes its sending side, it may have left: without anything to write, that would
     * never be noticed. So such a stream does not wait. */
    if (api->draining || c->later->request.method == MISHAP_HTTP_HEAD ||
        mishap_http_later_half_closed(c->later) || !keep_tail(c) || !mishap_api_call_stream(c))
        return false;
    if (c->resumed)
        api->tails_resumed--;
    c->is_tail = true;
    c->resumed = false;
    c->later->half_close = false;
    mishap_call_end(c->run.call);
    c->run.call = NULL;
    c->type = NULL; /* it belonged to the call */
    c->fields = (mishap_text){ NULL, 0 };
    mishap_http_count(api->server, MISHAP_HTTP_IN_FLIGHT, -1);
    enter_list(c,
               mishap_news_has(api->served->news, c->seen, c->address) ? &api->due : &api->waiting);
    return true;
}

/* -- going on ---------------------------------------------------------------------------------- */

static mishap *remake(const mishap_api_call *c, mishap_call **out)
{
    const mishap_served *served = c->api->served;
    mishap *failure = mishap_call_begin(served->app, c->operation, c->arguments, out);
    mishap_call *call = *out;
    if (failure)
        return failure;
    mishap_call_limit(call, served->call_ms);
    call->verbose = served->verbose;
    call->cursor = mishap_arena_copy(&call->arena, c->cursor).data;
    bool whole = call->cursor != NULL;
    if (c->body.data) {
        call->body = mishap_arena_copy(&call->arena, c->body);
        call->body_type = mishap_arena_copy(&call->arena, c->body_type).data;
        whole = whole && call->body.data && call->body_type;
    }
    if (!whole)
        failure = mishap_out_of_memory();
    else if (c->operation->headers)
        failure = mishap_api_keep_headers(call, mishap_http_settings_of(c->api->server),
                                          &c->later->request);
    if (failure)
        mishap_call_end(call);
    return failure;
}

/* False: there are too many calls; this is tried again soon. */
static bool resume(mishap_api_call *c)
{
    mishap_api *api = c->api;
    mishap_call *call = NULL;
    mishap *failure = remake(c, &call);
    if (failure) {
        mishap_api_call_fail(c, failure);
        return true;
    }
    if (!mishap_api_call_start(c, call)) {
        mishap_call_end(call);
        c->run.call = NULL;
        return false;
    }
    leave_list(c);
    c->resumed = true;
    api->tails_resumed++;
    return true;
}

static void make_due(mishap_api *api, mishap_text address)
{
    for (mishap_api_call *c = api->waiting.first, *next; c; c = next) {
        next = c->next;
        if (!address.data || mishap_text_equal(c->address, address))
            enter_list(c, &api->due);
    }
}

void mishap_api_tails_look(mishap_api *api)
{
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text address;
    while (mishap_news_next(api->served->news, &api->news_seen, room, &address))
        make_due(api, address);
    while (api->due.first && api->tails_resumed < MOST_RESUMED && resume(api->due.first))
        continue;
}

/* -- time and the end -------------------------------------------------------------------------- */

/* Send a comment, which readers of events skip (HTML, 9.2.6): it shows proxies and clients that the
 * stream is alive, and the server notices a peer that is gone. */
static void show_life(const mishap_api_tails *list, int64_t now_ns)
{
    for (mishap_api_call *c = list->first; c; c = c->next)
        if (c->events && now_ns - c->spoke_ns >= SILENCE_S * INT64_C(1000000000)) {
            c->spoke_ns = now_ns;
            mishap_http_later_send(c->later, (mishap_text)MISHAP_TEXT(":\n\n"));
        }
}

void mishap_api_tails_tick(mishap_api *api)
{
    int64_t now_ns = mishap_clock_monotonic_ns();
    show_life(&api->waiting, now_ns);
    show_life(&api->due, now_ns);
}

static void end_all(mishap_api_tails *list)
{
    for (mishap_api_call *c; (c = list->first);) {
        mishap_http_later *later = c->later;
        later->closed = NULL;
        mishap_api_tail_leave(c);
        mishap_api_call_free(c);
        mishap_http_later_end(later);
    }
}

/* The streams end in order: a client that reads events connects again, to another loop. */
void mishap_api_tails_drain(mishap_api *api)
{
    api->draining = true;
    end_all(&api->waiting);
    end_all(&api->due);
}
