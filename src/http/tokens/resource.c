/*
 * The documents of RFC 9728, for clients that look for an issuer: one for the server, one for /mcp.
 * A client compares `resource` with the address it has called, so the latter has no slash at its
 * end. They are the same for everyone, and pages of all origins may read them.
 */
#include "base/json_write.h"
#include "base/memory.h"
#include "base/scope.h"
#include "http/tokens/fetch.h"

/* `metrics` and `operator` are for keys and operators: no client need ask for them. */
static void put_scopes(mishap_buffer *b, const mishap_scope *declared)
{
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("call"));
    for (; declared && declared->name; declared++)
        mishap_json_string(b, mishap_text_of(declared->name));
}

static void put_document(mishap_buffer *b, const mishap_http_settings *settings, const char *path)
{
    const mishap_http_issuers *issuers = settings->issuers;
    char room[400];
    mishap_buffer address;
    mishap_buffer_init(&address, room, sizeof room);
    mishap_buffer_put_text(&address, mishap_text_of(settings->public_url));
    mishap_buffer_put_text(&address, mishap_text_of(path));
    b->failed = b->failed || address.failed;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "resource");
    mishap_json_string(b, mishap_buffer_text(&address));
    MISHAP_JSON_KEY(b, "authorization_servers");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < issuers->count; i++)
        mishap_json_string(b, issuers->list[i].url);
    mishap_json_close(b, ']');
    MISHAP_JSON_KEY(b, "scopes_supported");
    mishap_json_open(b, '[');
    put_scopes(b, issuers->declared);
    mishap_json_close(b, ']');
    MISHAP_JSON_KEY(b, "bearer_methods_supported");
    mishap_json_open(b, '[');
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("header"));
    mishap_json_close(b, ']');
    MISHAP_JSON_KEY(b, "resource_name");
    mishap_json_string(b, mishap_text_of(settings->program));
    mishap_json_close(b, '}');
    mishap_buffer_release(&address);
}

static void answer_with(mishap_http_server *server, const mishap_http_request *request,
                        mishap_http_reply *reply, const char *path)
{
    put_document(&reply->body, mishap_http_settings_of(server), path);
    if (reply->body.failed) {
        mishap *m = mishap_out_of_memory();
        mishap_http_refuse(reply, mishap_http_settings_of(server), request, m);
        mishap_free(m);
        return;
    }
    reply->status = 200;
    reply->media_type = "application/json";
    reply->content = mishap_buffer_text(&reply->body);
    mishap_http_reply_field(reply, "Access-Control-Allow-Origin", (mishap_text)MISHAP_TEXT("*"));
    mishap_http_reply_field(reply, "Cache-Control", (mishap_text)MISHAP_TEXT("max-age=300"));
}

static void answer_resource(mishap_http_server *server, const mishap_http_request *request,
                            const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    answer_with(server, request, reply, "");
}

static void answer_mcp(mishap_http_server *server, const mishap_http_request *request,
                       const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    answer_with(server, request, reply, "/mcp");
}

static const mishap_http_endpoint endpoints[] = {
    { .route = "GET /.well-known/oauth-protected-resource",
      .name = "oauth_resource",
      .open = true,
      .any_host = true,
      .for_all = true,
      .answer = answer_resource },
    { .route = "GET /.well-known/oauth-protected-resource/mcp",
      .name = "oauth_resource_mcp",
      .open = true,
      .any_host = true,
      .for_all = true,
      .answer = answer_mcp },
    { 0 },
};

static mishap *list_resources(const mishap_http_settings *settings, mishap_http_endpoint **out)
{
    *out = mishap_allocate(sizeof endpoints);
    if (!*out)
        return mishap_out_of_memory();
    memcpy(*out, endpoints, sizeof endpoints);
    if (!settings->issuers)
        **out = (mishap_http_endpoint){ 0 };
    return NULL;
}

const mishap_http_extension mishap_http_resource = {
    .name = "oauth",
    .list = list_resources,
    .prepare = mishap_http_fetcher_prepare,
    .look = mishap_http_fetcher_look,
    .child_ended = mishap_http_fetcher_ended,
    .dismiss = mishap_http_fetcher_dismiss,
};
