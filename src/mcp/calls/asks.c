/* A handler that asks, for clients of MCP: see asks.h. */
#include "mcp/calls/asks.h"

#include <strings.h>

#include "mcp/offers/schema.h"
#include "operation/caller.h"

/* -- capabilities ------------------------------------------------------------------------------ */

static const struct capability {
    unsigned bit;
    const char *method, *name;
} capabilities[] = {
    { MISHAP_MCP_CAN_FORM, "elicitation/create", "elicitation" },
    { MISHAP_MCP_CAN_SAMPLE, "sampling/createMessage", "sampling" },
    { MISHAP_MCP_CAN_ROOTS, "roots/list", "roots" },
};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

/* An empty object means forms; one that names other modes alone means none. */
static bool has_form(yyjson_val *elicitation)
{
    return yyjson_obj_size(elicitation) == 0 || yyjson_is_obj(yyjson_obj_get(elicitation, "form"));
}

/* The extension for pages, with those of HTML. */
static bool shows_pages(yyjson_val *declared)
{
    yyjson_val *views = yyjson_obj_get(yyjson_obj_get(declared, "extensions"), MISHAP_MCP_VIEWS);
    yyjson_val *type, *types = yyjson_obj_get(views, "mimeTypes");
    size_t index, count;
    if (!yyjson_is_obj(views))
        return false;
    if (!types)
        return true;
    MISHAP_JSON_ITEMS (types, index, count, type)
        if (yyjson_equals_str(type, MISHAP_MCP_PAGE_TYPE))
            return true;
    return false;
}

unsigned mishap_mcp_capabilities_read(yyjson_val *declared)
{
    unsigned all = shows_pages(declared) ? MISHAP_MCP_CAN_SHOW : 0;
    for (size_t i = 0; i < CAPABILITIES; i++) {
        yyjson_val *one = yyjson_obj_get(declared, capabilities[i].name);
        if (yyjson_is_obj(one) && (capabilities[i].bit != MISHAP_MCP_CAN_FORM || has_form(one)))
            all |= capabilities[i].bit;
    }
    return all;
}

unsigned mishap_mcp_capabilities(const mishap_mcp_request *request)
{
    const mishap_mcp_message *message = request->message;
    return mishap_mcp_is_modern(message->revision)
               ? mishap_mcp_capabilities_read(
                     yyjson_obj_get(message->meta, "io.modelcontextprotocol/clientCapabilities"))
               : request->peer->capabilities;
}

/* The capability for a question; 0: it is a request that no client can declare. */
unsigned mishap_mcp_need_of(const mishap_question *question)
{
    if (!question->method)
        return MISHAP_MCP_CAN_FORM;
    for (size_t i = 0; i < CAPABILITIES; i++)
        if (strcmp(capabilities[i].method, question->method) == 0)
            return capabilities[i].bit;
    return 0;
}

/* Arrays of choices came with the second revision that has forms. */
static bool has_array(const mishap_question *question)
{
    for (const mishap_param *p = question->params; p && p->name; p++)
        if (p->type == MISHAP_ARRAY)
            return true;
    return false;
}

bool mishap_mcp_can_answer(const mishap_mcp_asked *asked, const mishap_question *question)
{
    unsigned need = mishap_mcp_need_of(question);
    bool has_form = asked->revision > MISHAP_MCP_2025_06_18 ||
                    (asked->revision == MISHAP_MCP_2025_06_18 && !has_array(question));
    return (need & asked->capabilities) && (need != MISHAP_MCP_CAN_FORM || has_form);
}

/* -- answers ----------------------------------------------------------------------------------- */

/* A client that could be asked sends them beside the arguments, a model among them. */
mishap *mishap_mcp_take_answers(mishap_mcp_request *request, const mishap_mcp_asked *asked,
                                mishap_call *call)
{
    const mishap_mcp_peer *peer = request->peer;
    yyjson_val *params = request->message->params,
               *state = mishap_mcp_is_modern(asked->revision)
                            ? yyjson_obj_get(params, "requestState")
                            : NULL;
    mishap *failure;
    mishap_call_set_caller(call, peer->caller, peer->named, peer->caller_is_free, peer->scopes);
    call->owner = peer->owner;
    call->remote = peer->remote;
    if (state) {
        failure = mishap_sealed_begin(peer->server->seal, call, state,
                                      yyjson_obj_get(params, "inputResponses"),
                                      MISHAP_ANSWERS_OF_CLIENT);
        request->code = failure ? MISHAP_MCP_BAD_STATE : 0;
        return failure;
    }
    yyjson_val *arguments = yyjson_obj_get(params, "arguments");
    return mishap_sealed_begin(peer->server->seal, call, yyjson_obj_get(arguments, "_state"),
                               yyjson_obj_get(arguments, "_answers"), MISHAP_ANSWERS_OF_SCRIPT);
}

mishap_mcp_outcome mishap_mcp_put_bad_state(mishap_buffer *result, int code, const mishap *failure)
{
    char room[1024];
    mishap_buffer error;
    mishap_buffer_init(&error, room, sizeof room);
    mishap_free(mishap_mcp_put_error_object(&error, code, mishap_told(failure), NULL, NULL, NULL));
    mishap_buffer_put_text(result,
                           error.failed ? mishap_mcp_last_error : mishap_buffer_text(&error));
    mishap_buffer_release(&error);
    return MISHAP_MCP_ERROR;
}

/* -- questions --------------------------------------------------------------------------------- */

void mishap_mcp_put_question(mishap_buffer *b, const mishap_asked *asked)
{
    const mishap_question *question = asked->question;
    MISHAP_PUT(b, "\"method\":");
    mishap_json_string(b,
                       mishap_text_of(question->method ? question->method : "elicitation/create"));
    MISHAP_PUT(b, ",\"params\":");
    if (question->method) {
        mishap_buffer_put_text(b, asked->message);
    } else {
        MISHAP_PUT(b, "{\"message\":");
        mishap_json_string(b, asked->message);
        MISHAP_PUT(b, ",\"requestedSchema\":");
        mishap_question_put_schema(b, question);
        MISHAP_PUT(b, "}");
    }
}

static void put_request(mishap_buffer *b, const mishap_asked *asked)
{
    mishap_json_key(b, mishap_text_of(asked->question->name));
    mishap_json_open(b, '{');
    mishap_mcp_put_question(b, asked);
    mishap_json_close(b, '}');
}

/* The state follows what was searched for secrets, of which it has none: it must not be changed. */
static void put_requests(mishap_buffer *result, const mishap_mcp_asked *asked,
                         const mishap_call *call, const mishap_secrets *secrets)
{
    mishap_buffer requests = { 0 }, state = { 0 };
    MISHAP_PUT(&requests, "{\"inputRequests\":{");
    for (const mishap_asked *one = call->questions; one; one = one->next)
        if (mishap_mcp_can_answer(asked, one->question))
            put_request(&requests, one);
    MISHAP_PUT(&requests, "}}");
    mishap_free(mishap_hide_json(&requests, secrets, &(mishap_sent){ .call = call }));
    mishap_state_put(&state, asked->seal, call);
    if (requests.failed || state.failed || requests.length < 3) {
        mishap_buffer_reserve(result, SIZE_MAX); /* makes the buffer fail */
    } else {
        MISHAP_JSON_KEY(result, "inputRequests");
        mishap_buffer_put(result, requests.data + sizeof "{\"inputRequests\":" - 1,
                          requests.length - sizeof "{\"inputRequests\":");
        MISHAP_JSON_KEY(result, "requestState");
        mishap_json_string(result, mishap_buffer_text(&state));
    }
    mishap_buffer_release(&requests);
    mishap_buffer_release(&state);
}

/* -- clients that cannot be asked -------------------------------------------------------------- */

/* "requiredCapabilities":{"sampling":{}} */
static void put_needed(mishap_buffer *members, const mishap_call *call)
{
    unsigned needed = 0;
    for (const mishap_asked *one = call->questions; one; one = one->next)
        needed |= mishap_mcp_need_of(one->question);
    MISHAP_PUT(members, "\"requiredCapabilities\":{");
    for (size_t i = 0; i < CAPABILITIES; i++)
        if (needed & capabilities[i].bit) {
            mishap_json_key(members, mishap_text_of(capabilities[i].name));
            MISHAP_PUT(members, "{}");
        }
    MISHAP_PUT(members, "}");
    mishap_buffer_put_char(members, '\0');
}

static mishap_mcp_outcome put_incapable(mishap_buffer *result, const mishap_call *call,
                                        const mishap *failure, const mishap_secrets *secrets)
{
    char room[256], storage[1024];
    mishap_buffer members, error;
    mishap_buffer_init(&members, room, sizeof room);
    mishap_buffer_init(&error, storage, sizeof storage);
    put_needed(&members, call);
    mishap_free(mishap_mcp_put_error_object(&error, -32021, mishap_told(failure),
                                            members.failed ? NULL : members.data, secrets,
                                            &(mishap_sent){ .call = call }));
    mishap_buffer_put_text(result,
                           error.failed ? mishap_mcp_last_error : mishap_buffer_text(&error));
    mishap_buffer_release(&members);
    mishap_buffer_release(&error);
    return MISHAP_MCP_ERROR_400;
}

/* Only a client can answer one of the questions, and no model. */
static bool needs_client(const mishap_call *call)
{
    for (const mishap_asked *one = call->questions; one; one = one->next)
        if (one->question->method || one->question->person)
            return true;
    return false;
}

bool mishap_mcp_put_questions(mishap_buffer *result, const mishap_mcp_asked *asked,
                              const mishap_call *call, mishap *failure,
                              const mishap_secrets *secrets, mishap_mcp_outcome *outcome)
{
    bool any = false;
    for (const mishap_asked *one = call->questions; one; one = one->next)
        any = any || mishap_mcp_can_answer(asked, one->question);
    if (any && asked->seal && mishap_mcp_is_modern(asked->revision)) {
        *outcome = MISHAP_MCP_QUESTIONS;
        put_requests(result, asked, call, secrets);
        return true;
    }
    if (!needs_client(call)) {
        mishap_sealed_tell(asked->seal, call, failure,
                           "Ask the user. Then call the tool again with the same arguments, with "
                           "`_state`, and with the answers as `_answers`: {\"QUESTION\":{…}}, or "
                           "{\"QUESTION\":null} to decline.");
        return false;
    }
    mishap_suggest(failure, "Use a client that shows questions to its user: only a person can "
                            "answer.");
    if (!mishap_mcp_is_modern(asked->revision))
        return false;
    *outcome = put_incapable(result, call, failure, secrets);
    return true;
}
