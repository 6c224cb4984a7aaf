/*
 * The start of a session: initialize for the older revisions, server/discover for the stateless
 * one, and ping. Also the description of the server.
 */
#include "mcp/calls/asks.h"
#include "mcp/calls/flight.h"
#include "mcp/dispatch/dispatch.h"
#include "operation/findings.h"

/* -- what the server is ------------------------------------------------------------------------ */

static void put_extensions(mishap_buffer *buffer, bool tasks, bool views)
{
    if (!tasks && !views)
        return;
    MISHAP_PUT(buffer, "\"extensions\":{");
    if (tasks)
        MISHAP_PUT(buffer, "\"io.modelcontextprotocol/tasks\":{}");
    if (tasks && views)
        MISHAP_PUT(buffer, ",");
    if (views)
        MISHAP_PUT(buffer, "\"" MISHAP_MCP_VIEWS "\":{}");
    MISHAP_PUT(buffer, "},");
}

/* The names have not changed, but `subscribe` means another method in the last revision
 * (subscriptions/listen instead of resources/subscribe). The first revision has completion, but no
 * capability of that name. */
static void put_capabilities(mishap_buffer *buffer, const mishap_mcp_server *server,
                             mishap_mcp_revision revision)
{
    mishap_json_comma(buffer);
    MISHAP_PUT(buffer, "{\"tools\":{\"listChanged\":true},"
                       "\"resources\":{\"subscribe\":true,\"listChanged\":true},"
                       "\"prompts\":{\"listChanged\":true},");
    if (revision >= MISHAP_MCP_2025_03_26)
        MISHAP_PUT(buffer, "\"completions\":{},");
    if (mishap_mcp_is_modern(revision))
        put_extensions(buffer, mishap_mcp_has_tasks(server), mishap_mcp_has_views(server));
    MISHAP_PUT(buffer, "\"logging\":{}}");
}

/* "program", "service todo", "services todo, lisp" */
static void put_services(mishap_buffer *words, const char *services)
{
    if (!services) {
        MISHAP_PUT(words, "program");
        return;
    }
    mishap_buffer_put_text(words, mishap_text_of(strchr(services, ',') ? "services " : "service "));
    for (; *services; services++) {
        mishap_buffer_put_char(words, *services);
        if (*services == ',')
            MISHAP_PUT(words, " ");
    }
}

/* For the model: what the tools are, and how to read a failure. */
static void put_instructions(mishap_buffer *buffer, const mishap_mcp_server *server,
                             unsigned scopes)
{
    char storage[1024];
    mishap_buffer words;
    mishap_buffer_init(&words, storage, sizeof storage);
    mishap_buffer_put_text(&words, mishap_text_of(server->app->name));
    if (server->app->summary) {
        MISHAP_PUT(&words, ": ");
        mishap_buffer_put_text(&words, mishap_text_of(server->app->summary));
    }
    MISHAP_PUT(&words, ". Each tool is one operation of the ");
    put_services(&words, server->services);
    MISHAP_PUT(&words,
               ". A failed call returns a result with isError: true. The text of the result says "
               "what went wrong, whether a retry can succeed and what to do. It names each invalid "
               "argument. The resource catalog://codes explains all error codes.");
    if (!server->full_schemas)
        mishap_mcp_put_shared_codes(&words, server, scopes);
    MISHAP_JSON_KEY(buffer, "instructions");
    mishap_json_string(buffer, mishap_buffer_text(&words));
    buffer->failed = buffer->failed || words.failed;
    mishap_buffer_release(&words);
}

/* -- initialize -------------------------------------------------------------------------------- */

static void check_member(mishap_findings *findings, const mishap_spot *outer, yyjson_val *object,
                         const char *name, mishap_type_of_param type)
{
    mishap_spot spot = { .outer = outer, .name = mishap_text_of(name), .depth = outer ? 1 : 0 };
    yyjson_val *value = yyjson_obj_get(object, name);
    if (value)
        mishap_expect_type(findings, &spot, type, value);
    else
        mishap_miss(findings, &spot, &(mishap_param){ .type = type });
}

static mishap *check_params(yyjson_val *params)
{
    mishap_findings findings = { 0 };
    mishap_spot spot = { .name = MISHAP_TEXT("clientInfo") };
    yyjson_val *client = yyjson_obj_get(params, spot.name.data);
    check_member(&findings, NULL, params, "protocolVersion", MISHAP_STRING);
    check_member(&findings, NULL, params, "capabilities", MISHAP_OBJECT);
    check_member(&findings, NULL, params, "clientInfo", MISHAP_OBJECT);
    if (yyjson_is_obj(client)) {
        check_member(&findings, &spot, client, "name", MISHAP_STRING);
        check_member(&findings, &spot, client, "version", MISHAP_STRING);
    }
    return mishap_findings_end(&findings);
}

/* The requested revision, if it is one of these; else the newest of them: the client decides
 * whether it goes on. */
static mishap_mcp_revision negotiate(yyjson_val *asked)
{
    mishap_mcp_revision revision = mishap_mcp_revision_find(mishap_json_text(asked));
    return revision == MISHAP_MCP_NONE || mishap_mcp_is_modern(revision) ? MISHAP_MCP_2025_11_25
                                                                         : revision;
}

mishap *mishap_mcp_initialize(mishap_mcp_request *request, mishap_buffer *result)
{
    mishap_mcp_peer *peer = request->peer;
    yyjson_val *params = request->message->params;
    if (peer->revision != MISHAP_MCP_NONE) {
        request->code = -32600;
        return mishap_suggest(
            mishap_raise(BAD_REQUEST, "This session is already initialized."),
            "Continue with the negotiated protocol revision, or start a new session.");
    }
    mishap *failure = check_params(params);
    if (failure)
        return failure;
    mishap_mcp_revision revision = negotiate(yyjson_obj_get(params, "protocolVersion"));
    MISHAP_JSON_KEY(result, "protocolVersion");
    mishap_json_string(result, mishap_text_of(mishap_mcp_revision_name(revision)));
    MISHAP_JSON_KEY(result, "capabilities");
    put_capabilities(result, peer->server, revision);
    MISHAP_JSON_KEY(result, "serverInfo");
    mishap_mcp_put_implementation(result, peer->server->app, revision, true);
    put_instructions(result, peer->server, peer->scopes);
    /* Without memory for the rest, the client gets an error and may try again. */
    if (mishap_buffer_reserve(result, 16))
        peer->revision = revision;
    peer->capabilities = mishap_mcp_capabilities_read(yyjson_obj_get(params, "capabilities"));
    return NULL;
}

/* -- the others -------------------------------------------------------------------------------- */

mishap *mishap_mcp_ping(mishap_mcp_request *request, mishap_buffer *result)
{
    (void)request, (void)result;
    return NULL;
}

mishap *mishap_mcp_discover(mishap_mcp_request *request, mishap_buffer *result)
{
    const mishap_mcp_server *server = request->peer->server;
    MISHAP_JSON_KEY(result, "supportedVersions");
    mishap_json_open(result, '[');
    for (int revision = MISHAP_MCP_2026_07_28; revision < MISHAP_MCP_REVISIONS; revision++)
        mishap_json_string(result,
                           mishap_text_of(mishap_mcp_revision_name((mishap_mcp_revision)revision)));
    mishap_json_close(result, ']');
    MISHAP_JSON_KEY(result, "capabilities");
    put_capabilities(result, server, request->message->revision);
    put_instructions(result, server, request->peer->scopes);
    request->outcome = MISHAP_MCP_INTRODUCTION;
    mishap_mcp_put_cache(result, request->message->revision);
    return NULL;
}
