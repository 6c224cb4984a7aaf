/*
 * Operations as prompts: the methods prompts/list and prompts/get. And the completion of arguments:
 * of prompts, and of the variables in addresses of resources.
 */
#include <strings.h>

#include "mcp/calls/flight.h"
#include "mcp/dispatch/dispatch.h"
#include "mcp/offers/address.h"
#include "operation/schema.h"

enum {
    PAGE = 50,
    ROOM = 2048, /* enough for most arguments, as JSON */
};

static mishap *no_prompt(mishap_mcp_request *request, mishap_text name)
{
    request->code = -32602;
    return mishap_mcp_no_prompt(request->peer->server, name);
}

/* -- prompts/list ------------------------------------------------------------------------------ */

static void put_argument(mishap_buffer *b, const mishap_param *param)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, mishap_text_of(param->name));
    mishap_buffer words = { 0 };
    mishap_param_put_words(&words, param, true);
    MISHAP_JSON_TEXT_MEMBER(b, "description", mishap_buffer_text(&words));
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
    MISHAP_JSON_KEY(b, "required");
    mishap_json_bool(b, param->required);
    mishap_json_close(b, '}');
}

static void put_prompt(mishap_buffer *b, const mishap_app *app, const mishap_mcp_offer *prompt,
                       mishap_mcp_revision revision)
{
    const mishap_param *params = prompt->operation->params;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, prompt->name);
    mishap_mcp_put_words(b, app, prompt->operation, revision, false);
    if (mishap_param_count(params)) {
        MISHAP_JSON_KEY(b, "arguments");
        mishap_json_open(b, '[');
        for (; params->name; params++)
            put_argument(b, params);
        mishap_json_close(b, ']');
    }
    mishap_json_close(b, '}');
}

mishap *mishap_mcp_prompts_list(mishap_mcp_request *request, mishap_buffer *result)
{
    const mishap_mcp_server *server = request->peer->server;
    size_t first, count = server->prompt_count;
    size_t size = server->page_size ? server->page_size : PAGE;
    if (!mishap_mcp_cursor_read(request->message, count, &first))
        return mishap_mcp_no_cursor();
    MISHAP_PUT(result, "\"prompts\":[");
    for (size_t at = first; at < count && at - first < size; at++)
        put_prompt(result, server->app, &server->prompts[at], request->message->revision);
    mishap_json_close(result, ']');
    if (count - first > size)
        mishap_mcp_put_cursor(result, first + size, count);
    mishap_mcp_put_cache(result, request->message->revision);
    return NULL;
}

/* -- prompts/get ------------------------------------------------------------------------------- */

static const mishap_param get_params[] = {
    { "name", MISHAP_STRING, .required = true },
    { "arguments", .type = MISHAP_OBJECT },
    { 0 },
};

/* A prompt without arguments ignores what is sent, since some clients send what they have.
 * Otherwise an unknown argument is refused: it may be misspelled. */
static yyjson_val *arguments_of(yyjson_val *params, const mishap_operation *operation)
{
    return mishap_param_count(operation->params) ? yyjson_obj_get(params, "arguments") : NULL;
}

/* Arguments are text, for any type of parameter. A field that was left empty in a form counts as
 * absent. The checks say what is wrong with anything else. */
static void put_arguments(mishap_buffer *b, const mishap_param *params, yyjson_val *arguments)
{
    mishap_json_open(b, '{');
    for (; params && params->name; params++) {
        yyjson_val *value = yyjson_obj_get(arguments, params->name);
        if (!value || yyjson_equals_str(value, ""))
            continue;
        mishap_json_key(b, mishap_text_of(params->name));
        if (yyjson_is_str(value))
            mishap_put_spelled(b, params->type, mishap_json_text(value));
        else
            mishap_json_copy(b, value);
    }
    mishap_json_close(b, '}');
}

mishap *mishap_mcp_prompts_get(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    char room[ROOM];
    mishap_buffer object;
    mishap *failure = mishap_params_check(get_params, params ? params : &none);
    if (failure)
        return failure;
    mishap_text name = mishap_json_text(yyjson_obj_get(params, "name"));
    mishap_mcp_asked asked = { .offer = mishap_mcp_prompt_find(request->peer->server, name),
                               .revision = request->message->revision };
    if (!asked.offer)
        return no_prompt(request, name);
    failure = mishap_mcp_flight_permit(request, asked.offer);
    if (failure)
        return failure;
    yyjson_val *arguments = arguments_of(params, asked.offer->operation);
    mishap_buffer_init(&object, room, sizeof room);
    put_arguments(&object, asked.offer->operation->params, arguments);
    mishap_mcp_flight_begin(request, &asked,
                            &(mishap_mcp_arguments){ .object = arguments, .spelled = &object },
                            result);
    mishap_buffer_release(&object);
    return NULL;
}

/* -- completion -------------------------------------------------------------------------------- */

enum { MOST_VALUES = 100 }; /* by the specification */

/* Write the values that begin with the typed text, into an open array. */
struct completion {
    mishap_buffer *result;
    mishap_text typed;
    size_t total;
};

/* Ignores case, and treats hyphens and underscores alike. */
static bool begins(mishap_text value, mishap_text typed)
{
    if (typed.length > value.length)
        return false;
    for (size_t i = 0; i < typed.length; i++) {
        char a = value.data[i] == '-' ? '_' : value.data[i];
        char b = typed.data[i] == '-' ? '_' : typed.data[i];
        if (strncasecmp(&a, &b, 1) != 0)
            return false;
    }
    return true;
}

static void offer(struct completion *completion, mishap_text value)
{
    if (!begins(value, completion->typed))
        return;
    if (completion->total++ < MOST_VALUES)
        mishap_json_string(completion->result, value);
}

static void offer_codes(struct completion *completion)
{
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next)
        for (size_t i = 0; i < catalog->count; i++)
            offer(completion, catalog->codes[i]->name);
}

static void offer_choices(struct completion *completion, const mishap_param *arguments,
                          mishap_text name)
{
    for (; arguments && arguments->name; arguments++)
        if (arguments->choices && mishap_text_equal(mishap_text_of(arguments->name), name))
            for (const char *const *choice = arguments->choices; *choice; choice++)
                offer(completion, mishap_text_of(*choice));
}

static const char *const reference_types[] = { "ref/prompt", "ref/resource", NULL };
static const mishap_param reference_members[] = {
    { "type", MISHAP_ENUM, .required = true, .choices = reference_types },
    { "name", .type = MISHAP_STRING },
    { "uri", .type = MISHAP_STRING },
    { 0 },
};
static const mishap_param argument_members[] = {
    { "name", MISHAP_STRING, .required = true },
    { "value", .type = MISHAP_STRING },
    { 0 },
};
static const mishap_param complete_params[] = {
    { "ref", MISHAP_OBJECT, .required = true, .members = reference_members },
    { "argument", MISHAP_OBJECT, .required = true, .members = argument_members },
    { 0 },
};

/* The text of a required member: the typed value may be empty. */
static mishap *need(yyjson_val *object, const char *member, const char *path, mishap_text *text)
{
    yyjson_val *value = yyjson_obj_get(object, member);
    *text = mishap_json_text(value);
    return yyjson_is_str(value) ? NULL
                                : mishap_field_required(mishap_raise(VALIDATION_ERROR, NULL), path);
}

static mishap *complete_prompt(mishap_mcp_request *request, yyjson_val *reference,
                               mishap_text argument, struct completion *completion)
{
    mishap_text name;
    mishap *failure = need(reference, "name", "ref.name", &name);
    if (failure)
        return failure;
    const mishap_mcp_offer *prompt = mishap_mcp_prompt_find(request->peer->server, name);
    if (!prompt)
        return no_prompt(request, name);
    offer_choices(completion, prompt->operation->params, argument);
    return NULL;
}

/* True if it is a variable of the address. */
static bool is_variable(const char *address, mishap_text name)
{
    for (const char *at = address; (at = strchr(at, '{')); at++)
        if (mishap_text_equal((mishap_text){ at + 1, strcspn(at + 1, "}") }, name))
            return true;
    return false;
}

/* The resource with this template; else the one that an address belongs to. */
static const mishap_mcp_offer *find_template(const mishap_mcp_server *server, mishap_text uri)
{
    for (size_t i = 0; i < server->resource_count; i++)
        if (mishap_text_equal(mishap_text_of(server->resources[i].operation->resource), uri))
            return &server->resources[i];
    return mishap_mcp_resource_find(server, uri);
}

static mishap *complete_resource(mishap_mcp_request *request, yyjson_val *reference,
                                 mishap_text argument, struct completion *completion)
{
    mishap_text uri;
    mishap *failure = need(reference, "uri", "ref.uri", &uri);
    if (failure)
        return failure;
    const mishap_mcp_offer *resource = find_template(request->peer->server, uri);
    if (!resource) {
        failure = mishap_mcp_no_resource(request, uri);
        request->code = -32602;
        return failure;
    }
    if (!is_variable(resource->operation->resource, argument))
        return NULL;
    if (resource->ours)
        offer_codes(completion);
    else
        offer_choices(completion, resource->operation->params, argument);
    return NULL;
}

mishap *mishap_mcp_complete(mishap_mcp_request *request, mishap_buffer *result)
{
    yyjson_val none = { .tag = YYJSON_TYPE_OBJ }, *params = request->message->params;
    struct completion completion = { .result = result };
    mishap_text name = { NULL, 0 };
    mishap *failure = mishap_params_check(complete_params, params ? params : &none);
    yyjson_val *reference = yyjson_obj_get(params, "ref"),
               *argument = yyjson_obj_get(params, "argument");
    if (!failure)
        failure = need(argument, "value", "argument.value", &completion.typed);
    if (failure)
        return failure;
    name = mishap_json_text(yyjson_obj_get(argument, "name"));
    MISHAP_PUT(result, "\"completion\":{\"values\":[");
    failure = (yyjson_equals_str(yyjson_obj_get(reference, "type"), "ref/prompt")
                   ? complete_prompt
                   : complete_resource)(request, reference, name, &completion);
    if (failure)
        return failure;
    MISHAP_PUT(result, "],\"total\":");
    mishap_buffer_put_uint(result, completion.total);
    MISHAP_PUT(result, ",\"hasMore\":");
    mishap_json_bool(result, completion.total > MOST_VALUES);
    mishap_json_close(result, '}');
    return NULL;
}
