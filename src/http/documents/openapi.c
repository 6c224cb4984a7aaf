/*
 * The OpenAPI 3.1 document of a server: every operation that has a route, with its parameters, its
 * answer and its failures. The server's own endpoints are described as operations, too.
 */
#include "http/documents/openapi.h"

#include <strings.h>

#include "operation/media.h"
#include "http/wire/form.h"
#include "operation/asking.h"
#include "operation/rules.h"
#include "operation/schema.h"
#include "operation/secret.h"
#include "operation/upload.h"

typedef mishap_http_document document;

/* -- the server's own endpoints ---------------------------------------------------------------- */

static const char *const categories[] = { "validation", "permission", "resource",
                                          "execution",  "system",     NULL };
_Static_assert(sizeof categories / sizeof *categories == MISHAP_CATEGORIES + 1,
               "one name a category");
static const char *const retries[] = { "never", "fix", "yes", NULL };

static const mishap_param code_answers[] = {
    { "code", MISHAP_STRING, .required = true, .help = "The name of the code, such as NOT_FOUND" },
    { "category", MISHAP_ENUM, .required = true, .choices = categories,
      .help = "The category of the code" },
    { "http_status", MISHAP_INTEGER, .required = true, .range = { 400, 599 } },
    { "exit_code", MISHAP_INTEGER, .required = true, .range = { 1, 125 } },
    { "rpc_code", MISHAP_INTEGER, .required = true, .help = "The JSON-RPC error number" },
    { "retry", MISHAP_ENUM, .required = true, .choices = retries,
      .help = "Whether a retry can succeed; `fix`: after the caller has corrected the request" },
    { "retry_after_ms", MISHAP_INTEGER, .range = { 0, INFINITY } },
    { "message", MISHAP_STRING, .required = true, .help = "The default message" },
    { "suggestion", MISHAP_STRING, .help = "What the caller can do" },
    { "docs_url", MISHAP_STRING, .help = "URL of the documentation" },
    { "spellings", MISHAP_OBJECT, .required = true,
      .help = "The name of the code in each dialect" },
    { 0 },
};
static const mishap_param one_code = { .type = MISHAP_OBJECT, .members = code_answers };
static const mishap_param codes_answers[] = {
    { "codes", MISHAP_ARRAY, .required = true, .items = &one_code },
    { 0 },
};
static const mishap_param code_params[] = {
    { "code", MISHAP_STRING, .required = true, .help = "A code in any spelling" },
    { 0 },
};
static const char *const health_words[] = { "ok", "degraded", NULL };
static const mishap_param one_service = { .name = "service", .type = MISHAP_STRING };
static const mishap_param health_answers[] = {
    { "status", MISHAP_ENUM, .required = true, .choices = health_words,
      .help = "`degraded`: some services are not available, or do not work" },
    { "name", MISHAP_STRING, .required = true },
    { "version", MISHAP_STRING, .required = true, .help = "The version of the program" },
    { "unavailable", MISHAP_ARRAY, .items = &one_service,
      .help = "Names of the services that are not available, if any" },
    { "services", MISHAP_OBJECT,
      .help = "What services report about themselves, each under its name, if any does" },
    { "ready", MISHAP_OBJECT,
      .help = "Whether each service works, as far as it was tried, under its name: true, false, or "
              "null if it was not tried or is not installed" },
    { "readers", MISHAP_OBJECT,
      .help =
          "What reads the log of incidents (index, otlp), each under its name: `state` (follows, "
          "retries, refuses, rebuilds), `error`, `lag_bytes`, `lost` and `dropped`; of the index "
          "`rebuilt`, the number of damaged files that were made again; of otlp `retries`, the "
          "number of requests that the collector could not take" },
    { "incidents", MISHAP_OBJECT,
      .help = "If the log of incidents has lost some, or cannot be written: how many (`lost`), and "
              "the number of the system's error (`error`)" },
    { 0 },
};
static const char *const ready_words[] = { "ready", NULL };
static const mishap_param ready_answers[] = {
    { "status", MISHAP_ENUM, .required = true, .choices = ready_words },
    { "services", MISHAP_OBJECT, .required = true,
      .help = "Each service that depends on another program, and each that cannot be opened, under "
              "its name: `ready` (true, false or null), `state` (works, fails, not tried, not "
              "installed, refused, unavailable) and `message`, a sentence" },
    { 0 },
};

static const mishap_operation described[] = {
    { .name = "server.health",
      .summary = "Check the health of the server",
      .route = "GET /health",
      .answers = health_answers },
    { .name = "server.ready",
      .summary = "Check whether requests should be sent to this server",
      .route = "GET /ready",
      .answers = ready_answers,
      .raises = MISHAP_RAISES(UNAVAILABLE) },
    { .name = "server.metrics",
      .summary = "Metrics in the Prometheus text format",
      .route = "GET /metrics" },
    { .name = "server.openapi", .summary = "This document", .route = "GET /openapi.json" },
    { .name = "server.codes",
      .summary = "List all error codes",
      .route = "GET /errors",
      .answers = codes_answers },
    { .name = "server.code",
      .summary = "Show one error code, in any spelling",
      .route = "GET /errors/:code",
      .params = code_params,
      .answers = code_answers,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { 0 },
};

static const mishap_operation *description_of(const mishap_http_endpoint *endpoint)
{
    const mishap_operation *operation = described;
    while (operation->name && strcmp(operation->route, endpoint->route) != 0)
        operation++;
    return operation->name ? operation : NULL;
}

/* -- what there is ----------------------------------------------------------------------------- */

static bool is_served(const document *d, const mishap_operation *operation)
{
    return operation->route && (!operation->chaos || d->settings->served->chaos);
}

bool mishap_http_is_taken(const mishap_app *app, const mishap_http_endpoint *endpoint)
{
    if (!endpoint->yields)
        return false;
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (o->route && mishap_route_same(o->route, endpoint->route))
            return true;
    return false;
}

static bool list_entries(document *d, const mishap_http_endpoint *further)
{
    size_t most = 0;
    const mishap_operation *operations = d->settings->served->app->operations;
    const mishap_operation *tasks = mishap_http_described_tasks(operations);
    for (const mishap_operation *o = operations; o && o->name; o++)
        most++;
    for (const mishap_http_endpoint *e = further; e->route; e++)
        most++;
    for (const mishap_operation *o = tasks; o && o->name; o++)
        most++;
    d->entries = mishap_arena_take(&d->arena, (most + 1) * sizeof *d->entries);
    if (!d->entries)
        return false;
    for (const mishap_operation *o = operations; o && o->name; o++)
        if (is_served(d, o))
            d->entries[d->count++] = (mishap_http_entry){ .operation = o };
    for (const mishap_operation *o = tasks; o && o->name; o++)
        d->entries[d->count++] = (mishap_http_entry){ .operation = o };
    for (const mishap_http_endpoint *e = further; e->route; e++)
        if (description_of(e) && !mishap_http_is_taken(d->settings->served->app, e))
            d->entries[d->count++] = (mishap_http_entry){ description_of(e), e };
    return true;
}

static const char *path_of(const mishap_operation *operation)
{
    return strchr(operation->route, '/');
}

/* Paths are the same if they differ only in the names of their parameters. */
static bool same_path(const mishap_operation *one, const mishap_operation *other)
{
    const char *a = path_of(one), *b = path_of(other);
    mishap_route_part first, second;
    while (mishap_route_next(&a, &first))
        if (!mishap_route_next(&b, &second) || first.param != second.param ||
            (!first.param && !mishap_text_equal(first.text, second.text)))
            return false;
    return !*b;
}

static mishap_text tag_of(const mishap_operation *operation)
{
    return (mishap_text){ operation->name, strcspn(operation->name, ".") };
}

static bool same_tag(const mishap_operation *one, const mishap_operation *other)
{
    return mishap_text_equal(tag_of(one), tag_of(other));
}

/* True if no entry before it is the same in this respect. */
static bool is_first(const document *d, size_t index,
                     bool (*same)(const mishap_operation *, const mishap_operation *))
{
    for (size_t i = 0; i < index; i++)
        if (same(d->entries[i].operation, d->entries[index].operation))
            return false;
    return true;
}

/* -- words ------------------------------------------------------------------------------------- */

static void put_string(mishap_buffer *b, const char *string)
{
    mishap_json_string(b, mishap_text_of(string ? string : ""));
}

void mishap_http_put_reference(mishap_buffer *b, const char *place)
{
    mishap_json_open(b, '{');
    MISHAP_PUT(b, "\"$ref\":\"#/components/");
    mishap_buffer_put_text(b, mishap_text_of(place));
    MISHAP_PUT(b, "\"}");
}

/* A name as a key or a value, with other characters replaced so that it is an identifier. */
static void put_id(mishap_buffer *b, const char *name)
{
    mishap_json_comma(b);
    MISHAP_PUT(b, "\"");
    for (; *name; name++)
        mishap_buffer_put_char(b, *name == '.' || *name == '-' ? '_' : *name);
    MISHAP_PUT(b, "\"");
}

/* -- bytes ------------------------------------------------------------------------------------- */

/* Bytes have no schema; text is a string. The key is the media type without its parameters. */
static void put_media_type(mishap_buffer *b, mishap_text type)
{
    const char *end = type.length ? memchr(type.data, ';', type.length) : NULL;
    if (end)
        type.length = (size_t)(end - type.data);
    while (type.length && type.data[type.length - 1] == ' ')
        type.length--;
    mishap_json_key(b, type);
    if (type.length > 5 && strncasecmp(type.data, "text/", 5) == 0)
        MISHAP_PUT(b, "{\"schema\":{\"type\":\"string\"}}");
    else
        MISHAP_PUT(b, "{}");
}

/* Each media type that the operation takes, with commas between. */
static void put_taken_types(mishap_buffer *b, const char *takes)
{
    while (*(takes += strspn(takes, " ,\t"))) {
        size_t length = strcspn(takes, ",");
        put_media_type(b, (mishap_text){ takes, length });
        takes += length;
    }
}

/* -- parameters -------------------------------------------------------------------------------- */

/* The name of a parameter in the path, which another operation may spell differently; no data if it
 * is not in the path. */
static mishap_text name_in_path(const mishap_param *param, const mishap_operation *operation,
                                const mishap_operation *wording)
{
    const char *own = path_of(operation), *other = path_of(wording);
    mishap_route_part part, worded;
    while (mishap_route_next(&own, &part) && mishap_route_next(&other, &worded))
        if (part.param && mishap_text_equal(part.text, mishap_text_of(param->name)))
            return worded.text;
    return (mishap_text){ NULL, 0 };
}

static bool is_tail(const mishap_param *param, const mishap_operation *operation)
{
    const char *path = path_of(operation);
    mishap_route_part part;
    while (mishap_route_next(&path, &part))
        if (part.tail && mishap_text_equal(part.text, mishap_text_of(param->name)))
            return true;
    return false;
}

/* OpenAPI 3.1 cannot describe a tail, so it is described in prose, and in a member of our own. */
static void put_help(mishap_buffer *b, const mishap_param *param, bool tail)
{
    static const mishap_text about = MISHAP_TEXT(
        "The rest of the path: one or more segments, separated by slashes that are not encoded.");
    mishap_buffer words = { 0 };
    if (param->help)
        mishap_buffer_put_text(&words, mishap_text_of(param->help));
    if (param->help && tail)
        MISHAP_PUT(&words, ". ");
    if (tail)
        mishap_buffer_put_text(&words, about);
    if (words.length) {
        MISHAP_JSON_KEY(b, "description");
        mishap_json_string(b, mishap_buffer_text(&words));
    }
    if (tail)
        MISHAP_PUT(b, ",\"x-tail\":true");
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
}

/* A parameter that is in neither path nor query is in the body; a secret always is. With a body of
 * bytes there is no other. */
static bool is_outside_body(const mishap_param *param, const void *state)
{
    const mishap_operation *operation = state;
    if (param->name[0] == '_') /* an answer: see mishap_asking_params */
        return false;
    return name_in_path(param, operation, operation).data ||
           ((!mishap_http_sends_body(operation) || operation->takes) &&
            !mishap_param_has_secret(param));
}

/* A parameter with members is one JSON text in a query; an array repeats its name. */
static void put_parameter(mishap_buffer *b, const mishap_param *param, mishap_text in_path,
                          bool tail)
{
    const mishap_param *items = param->items;
    bool json = param->type > MISHAP_ARRAY ||
                (param->type == MISHAP_ARRAY && (!items || items->type >= MISHAP_ARRAY));
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "name");
    mishap_json_string(b, in_path.data ? in_path : mishap_text_of(param->name));
    MISHAP_JSON_KEY(b, "in");
    put_string(b, in_path.data ? "path" : "query");
    MISHAP_JSON_KEY(b, "required");
    mishap_json_bool(b, in_path.data || param->required);
    put_help(b, param, tail);
    if (json)
        MISHAP_PUT(b, ",\"content\":{\"application/json\":{");
    MISHAP_JSON_KEY(b, "schema");
    mishap_param_put_schema(b, param);
    if (json)
        MISHAP_PUT(b, "}}");
    mishap_json_close(b, '}');
}

/* The body of an operation that asks may have answers, too. */
static void put_body_schema(mishap_buffer *b, const mishap_operation *operation)
{
    mishap_param *all = operation->asks
                            ? mishap_params_join(operation->params, mishap_asking_params, NULL)
                            : NULL;
    b->failed = b->failed || (operation->asks && !all);
    mishap_operation whole = *operation;
    if (all)
        whole.params = all;
    mishap_params_put_schema_but(b, &whole, is_outside_body, operation);
    mishap_release(all);
}

static void put_parameters(mishap_buffer *b, const mishap_operation *operation,
                           const mishap_operation *wording)
{
    static const mishap_text json = MISHAP_TEXT("application/json");
    bool any = false, body = operation->asks, body_required = false;
    for (const mishap_param *param = operation->params; param && param->name; param++) {
        if (!is_outside_body(param, operation)) {
            body = true;
            body_required = body_required || param->required;
            continue;
        }
        if (!any)
            MISHAP_PUT(b, ",\"parameters\":[");
        any = true;
        put_parameter(b, param, name_in_path(param, operation, wording), is_tail(param, operation));
    }
    any = mishap_http_put_preference(b, operation, any) || any;
    if (any)
        mishap_json_close(b, ']');
    if (!body && !operation->takes)
        return;
    MISHAP_PUT(b, ",\"requestBody\":{\"required\":");
    mishap_json_bool(b, body_required);
    MISHAP_PUT(b, ",\"content\":{");
    if (operation->takes)
        put_taken_types(b, operation->takes);
    if (body && !mishap_media_taken(operation, json)) {
        mishap_json_comma(b);
        MISHAP_PUT(b, "\"application/json\":{\"schema\":");
        put_body_schema(b, operation);
        MISHAP_PUT(b, "}");
    }
    if (body && mishap_http_takes_forms(operation)) {
        mishap_json_comma(b);
        MISHAP_PUT(b, "\"multipart/form-data\":{\"schema\":");
        mishap_params_put_form_schema(b, operation->params, is_outside_body, operation);
        MISHAP_PUT(b, "},\"application/x-www-form-urlencoded\":{\"schema\":");
        mishap_params_put_schema_but(b, operation, is_outside_body, operation);
        MISHAP_PUT(b, "}");
    }
    if (mishap_streamed_param(operation))
        put_media_type(b, (mishap_text)MISHAP_TEXT("application/octet-stream"));
    MISHAP_PUT(b, "}}");
}

/* -- answers ----------------------------------------------------------------------------------- */

static void put_content(mishap_buffer *b, const mishap_http_entry *entry)
{
    if (entry->endpoint && strcmp(entry->endpoint->route, "GET /metrics") == 0) {
        MISHAP_PUT(b, ",\"content\":{\"text/plain\":{\"schema\":{\"type\":\"string\"}}}");
        return;
    }
    if (entry->operation->answers_type) {
        MISHAP_PUT(b, ",\"content\":{");
        put_media_type(b, mishap_text_of(entry->operation->answers_type));
        MISHAP_PUT(b, "}");
        return;
    }
    MISHAP_PUT(b, ",\"content\":{\"application/json\":{\"schema\":");
    if (entry->operation->answers)
        mishap_answers_put_schema(b, entry->operation->answers);
    else
        MISHAP_PUT(b, "{\"type\":[\"object\",\"array\"]}");
    MISHAP_PUT(b, "}}");
}

static void put_success(mishap_buffer *b, const mishap_http_entry *entry)
{
    static const char *const phrases[] = { "OK", "Created", "Accepted",
                                           "Non-Authoritative Information", "No Content" };
    int status = entry->operation->status ? entry->operation->status : 200;
    MISHAP_PUT(b, "\"");
    mishap_buffer_put_int(b, status);
    MISHAP_PUT(b, "\":{\"description\":");
    put_string(b, phrases[status - 200]);
    MISHAP_PUT(b, ",\"headers\":{\"X-Request-Id\":");
    mishap_http_put_reference(b, "headers/X-Request-Id");
    if (status == 201)
        MISHAP_PUT(b, ",\"Location\":{\"description\":\"The path of the new resource.\","
                      "\"schema\":{\"type\":\"string\",\"format\":\"uri-reference\"}}");
    mishap_json_close(b, '}');
    if (status != 204)
        put_content(b, entry);
    mishap_json_close(b, '}');
}

/* Its description, and the rules across its parameters. */
static void put_operation_words(mishap_buffer *b, const mishap_operation *operation)
{
    mishap_buffer words = { 0 };
    mishap_buffer_put_text(&words, mishap_text_of(operation->description));
    if (operation->rules) {
        mishap_buffer_put_text(&words, mishap_text_of(words.length ? "\n\nRules: " : "Rules: "));
        mishap_rules_put_words(&words, operation->rules);
        MISHAP_PUT(&words, ".");
    }
    if (words.length) {
        MISHAP_JSON_KEY(b, "description");
        mishap_json_string(b, mishap_buffer_text(&words));
    }
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
}

/* -- paths ------------------------------------------------------------------------------------- */

static void put_operation(document *d, const mishap_http_entry *entry,
                          const mishap_operation *wording)
{
    mishap_buffer *b = d->b;
    const mishap_operation *operation = entry->operation;
    mishap_json_comma(b);
    MISHAP_PUT(b, "\"");
    for (const char *c = operation->route; *c != ' '; c++)
        mishap_buffer_put_char(b, (char)(*c | 32));
    MISHAP_PUT(b, "\":{\"operationId\":");
    put_id(b, operation->name);
    MISHAP_PUT(b, ",\"tags\":[");
    mishap_json_string(b, tag_of(operation));
    MISHAP_PUT(b, "],\"summary\":");
    put_string(b, operation->summary);
    put_operation_words(b, operation);
    if (entry->endpoint && entry->endpoint->open)
        MISHAP_PUT(b, ",\"security\":[]");
    else if (operation->operator_only) /* on a loopback address, too */
        MISHAP_PUT(b, ",\"security\":[{\"bearer\":[]},{\"api_key\":[]}]");
    put_parameters(b, operation, wording);
    MISHAP_PUT(b, ",\"responses\":{");
    put_success(b, entry);
    mishap_http_put_accepted(b, operation);
    mishap_http_put_failures(d, entry);
    MISHAP_PUT(b, "}}");
}

/* All operations at one path, in the spelling of the first. */
static void put_path(document *d, size_t first)
{
    mishap_buffer *b = d->b;
    const mishap_operation *wording = d->entries[first].operation;
    mishap_json_comma(b);
    MISHAP_PUT(b, "\"");
    const char *path = path_of(wording);
    mishap_route_part part;
    while (mishap_route_next(&path, &part)) {
        mishap_buffer_put_text(b, mishap_text_of(part.param ? "/{" : "/"));
        mishap_buffer_put_text(b, part.text);
        if (part.param)
            MISHAP_PUT(b, "}");
    }
    MISHAP_PUT(b, "\":{");
    for (size_t i = first; i < d->count; i++)
        if (same_path(d->entries[i].operation, wording))
            put_operation(d, &d->entries[i], wording);
    mishap_json_close(b, '}');
}

/* -- the document ------------------------------------------------------------------------------ */

static const char about_failures[] =
    "The body of an error response is a JSON object. It has an `error` for programs, a `message` "
    "for people and sometimes `details`. A client can choose another error format with the Accept "
    "header, for example `application/problem+json` for problem details (RFC 9457). Every response "
    "has an `X-Request-Id` header. The operator can find the request in the log by this id.";

static void put_security_schemes(const document *d)
{
    MISHAP_PUT(d->b, "\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":");
    put_string(d->b, d->settings->issuers ? "An API key or an access token as a bearer token."
                                          : "An API key as a bearer token.");
    MISHAP_PUT(d->b, "},\"api_key\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-Api-Key\","
                     "\"description\":\"An API key in the X-Api-Key header.\"}");
}

static void put_info(const document *d)
{
    mishap_buffer *b = d->b;
    const mishap_app *app = d->settings->served->app;
    MISHAP_PUT(b, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":");
    put_string(b, app->name);
    MISHAP_JSON_KEY(b, "version");
    put_string(b, app->version ? app->version : "0");
    if (app->summary) {
        MISHAP_JSON_KEY(b, "summary");
        put_string(b, app->summary);
    }
    MISHAP_JSON_KEY(b, "description");
    put_string(b, about_failures);
    if (app->license) {
        MISHAP_PUT(b, ",\"license\":{\"name\":");
        mishap_json_string(b, mishap_text_of(app->license));
        MISHAP_PUT(b, ",\"identifier\":");
        mishap_json_string(b, mishap_text_of(app->license));
        MISHAP_PUT(b, "}");
    }
    MISHAP_PUT(b, "}");
    MISHAP_PUT(b, ",\"servers\":[{\"url\":");
    put_string(b, d->settings->public_url ? d->settings->public_url : "/");
    MISHAP_PUT(b, "}],\"security\":[{\"bearer\":[]},{\"api_key\":[]}");
    if (!d->settings->key_required)
        MISHAP_PUT(b, ",{}");
    MISHAP_PUT(b, "]");
}

static void put_tags(const document *d)
{
    mishap_buffer *b = d->b;
    MISHAP_PUT(b, ",\"tags\":[");
    for (size_t i = 0; i < d->count; i++) {
        if (!is_first(d, i, same_tag))
            continue;
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "name");
        mishap_json_string(b, tag_of(d->entries[i].operation));
        MISHAP_PUT(b, ",\"description\":\"");
        if (d->entries[i].endpoint) {
            MISHAP_PUT(b, "Endpoints of every server.");
        } else {
            MISHAP_PUT(b, "Operations whose names begin with `");
            mishap_buffer_put_text(b, tag_of(d->entries[i].operation));
            MISHAP_PUT(b, "`.");
        }
        MISHAP_PUT(b, "\"}");
    }
    mishap_json_close(b, ']');
}

void mishap_http_put_openapi(mishap_buffer *buffer, const mishap_http_settings *settings,
                             const mishap_http_endpoint *further)
{
    char room[4096];
    document d = { .b = buffer, .settings = settings };
    mishap_arena_init(&d.arena, room, sizeof room);
    if (!list_entries(&d, further))
        mishap_http_document_fail(&d);
    put_info(&d);
    put_tags(&d);
    MISHAP_PUT(buffer, ",\"paths\":{");
    for (size_t i = 0; i < d.count; i++)
        if (is_first(&d, i, same_path))
            put_path(&d, i);
    MISHAP_PUT(buffer, "},\"components\":{");
    mishap_http_put_failure_components(&d);
    MISHAP_PUT(buffer, ",\"securitySchemes\":{");
    put_security_schemes(&d);
    MISHAP_PUT(buffer, "}}}");
    mishap_arena_release(&d.arena);
}
