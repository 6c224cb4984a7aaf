/*
 * The documentation of failures: the rows of the catalog, and the error responses of the OpenAPI
 * document, whose examples are real responses of the server.
 */
#include "http/documents/openapi.h"
#include "http/wire/wire.h"

#include "dialect/dialect.h"
#include "dialect/reference.h"

/* -- rows of the catalog ----------------------------------------------------------------------- */

static void put_row(mishap_buffer *b, const mishap_code *code)
{
    mishap_json_open(b, '{');
    mishap_code_put(b, code);
    mishap_json_close(b, '}');
}

void mishap_http_put_codes(mishap_buffer *buffer)
{
    MISHAP_PUT(buffer, "{\"codes\":[");
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next)
        for (size_t i = 0; i < catalog->count; i++)
            put_row(buffer, catalog->codes[i]);
    MISHAP_PUT(buffer, "]}");
}

/* The name comes from a path, so it may have escapes. */
bool mishap_http_put_code(mishap_buffer *buffer, mishap_text name)
{
    char room[128];
    mishap_buffer plain;
    const mishap_code *code = NULL;
    mishap_buffer_init(&plain, room, sizeof room);
    if (name.length <= sizeof room && mishap_url_unescape(&plain, name, false))
        code = mishap_code_meant(mishap_buffer_text(&plain));
    mishap_buffer_release(&plain);
    if (code)
        put_row(buffer, code);
    return code != NULL;
}

/* -- what an operation can fail with ----------------------------------------------------------- */

enum trait {
    SENDS_BODY = 1,
    HAS_PARAMS = 2,
    RUNS_HANDLER = 4,
    NEEDS_KEY = 8,
    HAS_RATE = 16,
    NEEDS_NO_KEY = 32,
    TAKES_BYTES = 64,
    MINDS_HOST = 128,
    ASKS = 256,
};

/* The codes with which operations of some traits can fail beside those that they declare. All other
 * failures of requests do not depend on the operation, and are the default response. */
static const struct common {
    const mishap_code *code;
    int traits;
} commons[] = {
    { MISHAP_CODE_BAD_REQUEST, 0 },
    { MISHAP_CODE_MALFORMED_INPUT, RUNS_HANDLER },
    { MISHAP_CODE_UNAUTHORIZED, 0 },
    { MISHAP_CODE_AUTH_REQUIRED, NEEDS_KEY },
    { MISHAP_CODE_FORBIDDEN, MINDS_HOST | NEEDS_NO_KEY }, /* a page of another origin calls */
    { MISHAP_CODE_FORBIDDEN, NEEDS_KEY },                 /* the key lacks the scope */
    { MISHAP_CODE_CONTENT_TOO_LARGE, SENDS_BODY },
    { MISHAP_CODE_UNSUPPORTED_MEDIA_TYPE, TAKES_BYTES },
    { MISHAP_CODE_VALIDATION_ERROR, HAS_PARAMS | RUNS_HANDLER },
    { MISHAP_CODE_ARG_ERROR, HAS_PARAMS | RUNS_HANDLER },
    { MISHAP_CODE_INPUT_REQUIRED, ASKS },
    { MISHAP_CODE_RATE_LIMITED, HAS_RATE },
    { MISHAP_CODE_CANCELLED, ASKS }, /* a question was declined */
    { MISHAP_CODE_INTERNAL_ERROR, 0 },
    { MISHAP_CODE_UNAVAILABLE, RUNS_HANDLER },
    { MISHAP_CODE_TIMEOUT, RUNS_HANDLER },
};
enum { COMMONS = sizeof commons / sizeof *commons };

static int traits_of(const mishap_http_document *d, const mishap_http_entry *entry)
{
    const mishap_operation *operation = entry->operation;
    bool open = entry->endpoint && entry->endpoint->open;
    return (mishap_http_sends_body(operation) ? SENDS_BODY : 0) |
           (operation->takes ? TAKES_BYTES : 0) | (operation->asks ? ASKS : 0) |
           (operation->params && operation->params->name ? HAS_PARAMS : 0) |
           (entry->endpoint ? 0 : RUNS_HANDLER) |
           (entry->endpoint && entry->endpoint->any_host ? 0 : MINDS_HOST) |
           ((d->settings->key_required && !open) || operation->operator_only ? NEEDS_KEY : 0) |
           (d->settings->key_required ? 0 : NEEDS_NO_KEY) | (d->settings->rate > 0 ? HAS_RATE : 0);
}

static bool contains(const mishap_code *const *codes, size_t count, const mishap_code *code)
{
    for (size_t i = 0; i < count; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* All codes of an operation, each once; NULL without memory. */
static const mishap_code **gather(mishap_http_document *d, const mishap_http_entry *entry,
                                  size_t *count)
{
    const mishap_app *app = entry->endpoint ? NULL : d->settings->served->app;
    const mishap_code *code;
    int traits = traits_of(d, entry);
    size_t declared = 0, at = 0;
    while (mishap_operation_code(app, entry->operation, &at))
        declared++;
    const mishap_code **codes = mishap_arena_take(&d->arena, (COMMONS + declared) * sizeof *codes);
    *count = 0;
    for (size_t i = 0; codes && i < COMMONS; i++)
        if ((commons[i].traits & ~traits) == 0 && !contains(codes, *count, commons[i].code))
            codes[(*count)++] = commons[i].code;
    for (at = 0; codes && (code = mishap_operation_code(app, entry->operation, &at));)
        if (!contains(codes, *count, code))
            codes[(*count)++] = code;
    return codes;
}

/* The group of the codes that have this status; it may exist already. */
static const mishap_http_group *group_of(mishap_http_document *d, const mishap_http_entry *entry,
                                         const mishap_code *const *codes, size_t count, int status)
{
    mishap_http_group *made = mishap_arena_take(&d->arena, sizeof *made + count * sizeof *codes);
    if (!made)
        return NULL;
    made->path = mishap_text_of(strchr(entry->operation->route, '/'));
    made->dialect = mishap_http_dialect_of(d->settings->served->app, made->path);
    made->count = 0;
    for (size_t i = 0; i < count; i++)
        if (codes[i]->http_status == status)
            made->codes[made->count++] = codes[i];
    mishap_http_group **at = &d->groups;
    for (; *at; at = &(*at)->next)
        if ((*at)->count == made->count && (*at)->dialect == made->dialect &&
            memcmp((*at)->codes, made->codes, made->count * sizeof *codes) == 0)
            return *at;
    made->next = NULL;
    *at = made;
    return made;
}

/* The suffix for the name of a component in another dialect than the usual one. */
static void put_dialect_name(mishap_buffer *b, const mishap_dialect *dialect)
{
    if (dialect == &mishap_http_api)
        return;
    MISHAP_PUT(b, "-");
    mishap_buffer_put_text(b, mishap_text_of(dialect->name));
}

static void put_group_name(mishap_buffer *b, const mishap_http_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if (i)
            MISHAP_PUT(b, "-");
        mishap_buffer_put_text(b, group->codes[i]->name);
    }
    put_dialect_name(b, group->dialect);
}

/* 0: there is none. */
static int lowest_status_above(const mishap_code *const *codes, size_t count, int above)
{
    int lowest = 0;
    for (size_t i = 0; i < count; i++) {
        int status = codes[i]->http_status;
        if (status > above && (!lowest || status < lowest))
            lowest = status;
    }
    return lowest;
}

void mishap_http_put_failures(mishap_http_document *d, const mishap_http_entry *entry)
{
    mishap_buffer *b = d->b;
    size_t count;
    const mishap_code **codes = gather(d, entry, &count);
    if (!codes)
        mishap_http_document_fail(d);
    for (int status = 0; codes && (status = lowest_status_above(codes, count, status));) {
        const mishap_http_group *group = group_of(d, entry, codes, count, status);
        if (!group) {
            mishap_http_document_fail(d);
            return;
        }
        mishap_json_comma(b);
        MISHAP_PUT(b, "\"");
        mishap_buffer_put_int(b, status);
        MISHAP_PUT(b, "\":{\"$ref\":\"#/components/responses/");
        put_group_name(b, group);
        MISHAP_PUT(b, "\"}");
    }
    mishap_text path = mishap_text_of(strchr(entry->operation->route, '/'));
    MISHAP_PUT(b, ",\"default\":{\"$ref\":\"#/components/responses/Otherwise");
    put_dialect_name(b, mishap_http_dialect_of(d->settings->served->app, path));
    MISHAP_PUT(b, "\"}");
}

/* -- responses --------------------------------------------------------------------------------- */

/* The reply of this server when an operation fails with this code. */
static void put_example(const mishap_http_document *d, const mishap_code *code, mishap_text path,
                        const char *accept)
{
    mishap_http_reply reply = { 0 };
    mishap_http_request request = { .id = "01926f5e-3b7a-7c10-9f4e-2a6b8c0d1e2f", .path = path };
    request.fields[MISHAP_HTTP_ACCEPT] = mishap_text_of(accept);
    mishap *m = mishap_raise_at(code, MISHAP_HERE, NULL);
    if (code == MISHAP_CODE_VALIDATION_ERROR) {
        mishap_field_required(m, "name");
        mishap_field_range(m, "age", mishap_value_of_int(0), mishap_value_of_int(150),
                           mishap_value_of_int(200));
    }
    mishap_api_refuse(&reply, d->settings, &request, m);
    mishap_json_key(d->b, code->name);
    MISHAP_PUT(d->b, "{\"value\":");
    mishap_buffer_put_text(d->b, reply.content);
    MISHAP_PUT(d->b, "}");
    if (mishap_told(m)->code != code || reply.body.failed)
        mishap_http_document_fail(d);
    mishap_http_reply_release(&reply);
    mishap_free(m);
}

static void put_examples(const mishap_http_document *d, const mishap_http_group *group,
                         const char *accept)
{
    MISHAP_JSON_KEY(d->b, "examples");
    mishap_json_open(d->b, '{');
    for (size_t i = 0; i < group->count; i++)
        put_example(d, group->codes[i], group->path, accept);
    mishap_json_close(d->b, '}');
}

static bool has_validation(const mishap_http_group *group)
{
    return contains(group->codes, group->count, MISHAP_CODE_VALIDATION_ERROR);
}

static bool has_retry(const mishap_http_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->codes[i]->retry == MISHAP_RETRY_YES)
            return true;
    return false;
}

/* An Error by one of these names, except for validation errors, which have a schema of their
 * own. */
static void put_named_error(mishap_buffer *b, const mishap_http_group *group)
{
    mishap_json_open(b, '{');
    MISHAP_PUT(b, "\"allOf\":[");
    mishap_http_put_reference(b, "schemas/Error");
    MISHAP_PUT(b, ",{\"properties\":{\"error\":{\"enum\":[");
    for (size_t i = 0; i < group->count; i++)
        if (group->codes[i] != MISHAP_CODE_VALIDATION_ERROR)
            mishap_json_string(b, group->codes[i]->http_name);
    MISHAP_PUT(b, "]}}}]}");
}

static void put_error_schema(mishap_buffer *b, const mishap_http_group *group)
{
    bool validation = has_validation(group), both = validation && group->count > 1;
    if (both)
        MISHAP_PUT(b, "{\"anyOf\":[");
    if (validation)
        mishap_http_put_reference(b, "schemas/ValidationError");
    if (!validation || both)
        put_named_error(b, group);
    if (both)
        MISHAP_PUT(b, "]}");
}

static void put_schema_of(mishap_buffer *b, const mishap_dialect *dialect)
{
    if (dialect == &mishap_http_api)
        mishap_http_put_reference(b, "schemas/Error");
    else if (dialect == &mishap_problem)
        mishap_http_put_reference(b, "schemas/Problem");
    else if (dialect == &mishap_artifact)
        mishap_http_put_reference(b, "schemas/ArtifactError");
    else if (dialect == &mishap_tool_result)
        mishap_http_put_reference(b, "schemas/ToolError");
    else
        MISHAP_PUT(b, "{\"type\":\"object\"}");
}

/* clang-format off */
static const char otherwise[] =
    "\":{"
        "\"description\":\"Any other failure, such as a request that is too large or too slow.\","
        "\"headers\":{\"X-Request-Id\":{\"$ref\":\"#/components/headers/X-Request-Id\"}},"
        "\"content\":{";
/* clang-format on */

static void put_messages(const mishap_http_document *d, const mishap_http_group *group)
{
    mishap_buffer words = { 0 };
    for (size_t i = 0; i < group->count; i++) {
        if (i)
            MISHAP_PUT(&words, " ");
        mishap_buffer_put_text(&words, group->codes[i]->message);
    }
    mishap_json_string(d->b, mishap_buffer_text(&words));
    if (words.failed)
        mishap_http_document_fail(d);
    mishap_buffer_release(&words);
}

static void put_group(const mishap_http_document *d, const mishap_http_group *group)
{
    mishap_buffer *b = d->b;
    mishap_json_comma(b);
    MISHAP_PUT(b, "\"");
    put_group_name(b, group);
    MISHAP_PUT(b, "\":{\"description\":");
    put_messages(d, group);
    MISHAP_PUT(b, ",\"headers\":{\"X-Request-Id\":");
    mishap_http_put_reference(b, "headers/X-Request-Id");
    if (has_retry(group)) {
        MISHAP_PUT(b, ",\"Retry-After\":");
        mishap_http_put_reference(b, "headers/Retry-After");
    }
    if (group->codes[0]->http_status == 401) {
        MISHAP_PUT(b, ",\"WWW-Authenticate\":");
        mishap_http_put_reference(b, "headers/WWW-Authenticate");
    }
    MISHAP_PUT(b, "},\"content\":{");
    mishap_json_key(b, mishap_text_of(group->dialect->media_type));
    MISHAP_PUT(b, "{\"schema\":");
    if (group->dialect == &mishap_http_api)
        put_error_schema(b, group);
    else
        put_schema_of(b, group->dialect);
    put_examples(d, group, NULL);
    if (group->dialect != &mishap_problem) {
        MISHAP_PUT(b, "},\"application/problem+json\":{\"schema\":");
        mishap_http_put_reference(b, "schemas/Problem");
        put_examples(d, group, "application/problem+json");
    }
    MISHAP_PUT(b, "}}}");
}

/* True if it is the first group of a dialect that is not the usual one. */
static bool begins_dialect(const mishap_http_document *d, const mishap_http_group *group)
{
    const mishap_http_group *first = d->groups;
    while (first->dialect != group->dialect)
        first = first->next;
    return first == group && group->dialect != &mishap_http_api;
}

static void put_otherwise(mishap_buffer *b, const mishap_dialect *dialect)
{
    mishap_json_comma(b);
    MISHAP_PUT(b, "\"Otherwise");
    put_dialect_name(b, dialect);
    mishap_buffer_put(b, otherwise, sizeof otherwise - 1);
    mishap_json_key(b, mishap_text_of(dialect->media_type));
    MISHAP_PUT(b, "{\"schema\":");
    put_schema_of(b, dialect);
    if (dialect != &mishap_problem) {
        MISHAP_PUT(b, "},\"application/problem+json\":{\"schema\":");
        mishap_http_put_reference(b, "schemas/Problem");
    }
    MISHAP_PUT(b, "}}}");
}

/* -- components -------------------------------------------------------------------------------- */

/* clang-format off */
static const char schemas[] =
    "\"Error\":{"
        "\"type\":\"object\",\"required\":[\"error\",\"message\"],\"properties\":{"
            "\"error\":{\"type\":\"string\","
                "\"description\":\"The error name, for programs.\"},"
            "\"message\":{\"type\":\"string\",\"description\":\"What happened, for people.\"},"
            "\"details\":{\"description\":\"For status 422: an array of field errors. For any "
                "other status: an object with further details.\"}"
        "}"
    "},"
    "\"FieldError\":{"
        "\"type\":\"object\",\"required\":[\"field\",\"error\"],\"properties\":{"
            "\"field\":{\"type\":\"string\"},"
            "\"error\":{\"type\":\"string\",\"enum\":[\"field_required\",\"invalid_type\","
                "\"invalid_length\",\"value_out_of_range\",\"pattern_mismatch\"]},"
            "\"expected\":{\"description\":\"The expected value, type or form.\"},"
            "\"actual\":{\"description\":\"The value that was sent.\"},"
            "\"min\":{\"type\":\"number\"},\"max\":{\"type\":\"number\"},"
            "\"message\":{\"type\":\"string\",\"description\":\"What is wrong with it, for people.\"}"
        "}"
    "},"
    "\"Problem\":{"
        "\"type\":\"object\",\"description\":\"Problem details (RFC 9457).\","
        "\"required\":[\"type\",\"title\",\"status\",\"detail\",\"code\",\"category\","
            "\"retryable\"],"
        "\"properties\":{"
            "\"type\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
            "\"title\":{\"type\":\"string\"},"
            "\"status\":{\"type\":\"integer\",\"minimum\":400,\"maximum\":599},"
            "\"detail\":{\"type\":\"string\"},"
            "\"instance\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
            "\"code\":{\"type\":\"string\"},"
            "\"category\":{\"type\":\"string\",\"enum\":[\"validation\",\"permission\","
                "\"resource\",\"execution\",\"system\"]},"
            "\"retryable\":{\"type\":\"boolean\"},"
            "\"retry_after_ms\":{\"type\":\"integer\",\"minimum\":0},"
            "\"cause\":{\"type\":\"string\"},"
            "\"suggestion\":{\"type\":\"string\"},"
            "\"docs_url\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
            "\"errors\":{\"type\":\"array\","
                "\"items\":{\"$ref\":\"#/components/schemas/FieldError\"}}"
        "}"
    "}";

static const char validation_schema[] =
    ",\"ValidationError\":{\"allOf\":[{\"$ref\":\"#/components/schemas/Error\"},{\"properties\":{"
        "\"error\":{\"const\":\"validation_error\"},"
        "\"details\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/FieldError\"}}"
    "}}]}";

static const char artifact_schema[] =
    ",\"ArtifactError\":{"
        "\"type\":\"object\","
        "\"required\":[\"success\",\"error\",\"code\",\"category\",\"retriable\"],\"properties\":{"
            "\"success\":{\"const\":false},"
            "\"error\":{\"type\":\"string\",\"description\":\"What happened, for people.\"},"
            "\"code\":{\"type\":\"string\",\"description\":\"The error code, for programs.\"},"
            "\"category\":{\"type\":\"string\",\"enum\":[\"validation\",\"permission\","
                "\"resource\",\"execution\",\"system\"]},"
            "\"retriable\":{\"type\":\"boolean\"},"
            "\"details\":{\"type\":\"object\"}"
        "}"
    "}";

static const char tool_schema[] =
    ",\"ToolError\":{"
        "\"type\":\"object\","
        "\"required\":[\"status\",\"error_type\",\"message\"],\"properties\":{"
            "\"status\":{\"type\":\"string\",\"enum\":[\"error\",\"timeout\"]},"
            "\"error_type\":{\"type\":\"string\",\"enum\":[\"ValueError\",\"SyntaxError\","
                "\"ValidationError\",\"ImportError\",\"TimeoutError\",\"RuntimeError\"]},"
            "\"message\":{\"type\":\"string\",\"description\":\"What happened, for people.\"},"
            "\"suggestion\":{\"type\":\"string\"},"
            "\"incident\":{\"type\":\"string\"},"
            "\"fields\":{\"type\":\"array\"}"
        "}"
    "}";

static const char headers[] =
    "\"X-Request-Id\":{"
        "\"description\":\"The id of the request. The log of the server contains the same id.\","
        "\"required\":true,\"schema\":{\"type\":\"string\",\"format\":\"uuid\"}},"
    "\"WWW-Authenticate\":{\"description\":\"How to authenticate.\",\"required\":true,"
        "\"schema\":{\"type\":\"string\"}}";

static const char retry_header[] =
    ",\"Retry-After\":{\"description\":\"Number of seconds to wait before a retry.\","
        "\"schema\":{\"type\":\"integer\",\"minimum\":0}}";
/* clang-format on */

/* Components that nothing refers to are left out. */
void mishap_http_put_failure_components(const mishap_http_document *d)
{
    mishap_buffer *b = d->b;
    bool retry = false, validation = false, artifact = false, tool = false;
    MISHAP_JSON_KEY(b, "responses");
    mishap_json_open(b, '{');
    for (const mishap_http_group *group = d->groups; group; group = group->next) {
        put_group(d, group);
        retry = retry || has_retry(group);
        validation = validation || (has_validation(group) && group->dialect == &mishap_http_api);
        artifact = artifact || group->dialect == &mishap_artifact;
        tool = tool || group->dialect == &mishap_tool_result;
    }
    put_otherwise(b, &mishap_http_api);
    for (const mishap_http_group *group = d->groups; group; group = group->next)
        if (begins_dialect(d, group))
            put_otherwise(b, group->dialect);
    MISHAP_PUT(b, "},\"schemas\":{");
    mishap_buffer_put(b, schemas, sizeof schemas - 1);
    if (validation)
        mishap_buffer_put(b, validation_schema, sizeof validation_schema - 1);
    if (artifact)
        mishap_buffer_put(b, artifact_schema, sizeof artifact_schema - 1);
    if (tool)
        mishap_buffer_put(b, tool_schema, sizeof tool_schema - 1);
    MISHAP_PUT(b, "},\"headers\":{");
    mishap_buffer_put(b, headers, sizeof headers - 1);
    if (retry)
        mishap_buffer_put(b, retry_header, sizeof retry_header - 1);
    MISHAP_PUT(b, "}");
}
