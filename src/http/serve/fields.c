/*
 * The header fields that operations read: those of `.headers`, and those that repeat a parameter
 * for clients of MCP (`.header`). A server keeps only the fields of requests that something reads.
 */
#include <stdio.h>
#include <strings.h>

#include "http/serve/serve.h"
#include "http/wire/wire.h"
#include "operation/caller.h"
#include "operation/declare.h"
#include "server/ending.h"

/* As documented in docs/program.md: beside the fields of the server and of MCP there is room for no
 * more. */
enum { MOST_HEADERS = 6, NAME_ROOM = 64 };

/* It contains declared names only, each once or more; the table of fields has each once, and
 * reports if there are too many. */
static mishap_http_wish wishes[MISHAP_HTTP_MOST_FIELDS + 5];
const mishap_http_extension mishap_fields_of_handlers = { .name = "handlers", .fields = wishes };

static bool has_sessions(const mishap_app *app)
{
    for (const mishap_operation *o = app->operations; o->name; o++)
        if (o->service && o->service->worker && o->service->worker->sessions)
            return true;
    return false;
}

static void wish(size_t *count, mishap_http_wish wanted)
{
    size_t i = 0;
    while (i < *count && strcasecmp(wishes[i].name, wanted.name) != 0)
        i++;
    if (i == *count && *count <= MISHAP_HTTP_MOST_FIELDS)
        wishes[(*count)++] = wanted;
}

/* The name of the header that repeats a parameter. */
typedef char mirror_name[NAME_ROOM];
static const char *write_mirror(mirror_name name, const mishap_param *param)
{
    snprintf(name, sizeof(mirror_name), MISHAP_PARAM_HEADER "%s", param->header);
    return name;
}

/* There are few, and their names live as long as the server. */
static void wish_mirrors(size_t *count, const mishap_operation *operation)
{
    static mirror_name names[MOST_HEADERS];
    static size_t used;
    for (const mishap_param *param = operation->params; param && param->name; param++)
        if (param->header && used < MOST_HEADERS) {
            size_t before = *count;
            wish(count, (mishap_http_wish){ write_mirror(names[used], param), .from_pages = true });
            used += *count - before;
        }
}

void mishap_http_wish_headers(const mishap_app *app, bool has_issuer, bool has_positions,
                              bool drains)
{
    size_t count = 0;
    if (has_issuer)
        wishes[count++] = (mishap_http_wish){ .name = "WWW-Authenticate", .in_replies = true };
    if (has_sessions(app))
        wishes[count++] = (mishap_http_wish){ mishap_api_session_field, .from_pages = true,
                                              .to_pages = true };
    if (drains)
        wishes[count++] = (mishap_http_wish){ .name = mishap_http_ends_field, .in_replies = true };
    if (has_positions)
        wishes[count++] = (mishap_http_wish){ mishap_http_position_field, .from_pages = true,
                                              .to_pages = true };
    /* But no web page: it would act in the name of its visitor. */
    if (mishap_caller_any_may_name(app))
        wishes[count++] = (mishap_http_wish){ .name = "X-Caller" };
    for (const mishap_operation *operation = app->operations; operation->name; operation++) {
        const char *const *name = operation->headers;
        for (; name && *name; name++)
            wish(&count, (mishap_http_wish){ *name, .from_pages = true, .first = true });
        wish_mirrors(&count, operation);
    }
}

/* -- room for them ----------------------------------------------------------------------------- */

struct counted {
    mirror_name names[MOST_HEADERS];
    size_t count;
};

/* The fields that the server reads itself are not counted. */
static mishap *count_field(const mishap_declared *what, const mishap_http_fields *fields,
                           const char *name, struct counted *others)
{
    size_t i = 0;
    while (i < others->count && strcasecmp(others->names[i], name) != 0)
        i++;
    if (i < others->count || mishap_http_field_find(fields, mishap_text_of(name)) >= 0)
        return NULL;
    if (others->count == MOST_HEADERS)
        return mishap_declared_wrongly(what,
                                       "reads the header field %s; all operations together can "
                                       "read %d beside those of the server",
                                       name, MOST_HEADERS);
    snprintf(others->names[others->count++], sizeof(mirror_name), "%s", name);
    return NULL;
}

static mishap *count_fields(const mishap_declared *what, const mishap_http_fields *fields,
                            struct counted *others)
{
    const mishap_operation *operation = what->operation;
    mishap *m = NULL;
    for (const char *const *name = operation->headers; name && *name && !m; name++)
        m = count_field(what, fields, *name, others);
    for (const mishap_param *param = operation->params; param && param->name && !m; param++) {
        mirror_name name;
        if (param->header)
            m = count_field(what, fields, write_mirror(name, param), others);
    }
    return m;
}

static bool reads_any(const mishap_operation *operation)
{
    for (const mishap_param *param = operation->params; param && param->name; param++)
        if (param->header)
            return true;
    return operation->headers;
}

mishap *mishap_http_headers_fit(const mishap_app *app,
                                const mishap_http_extension *const *extensions)
{
    struct counted others = { .count = 0 };
    mishap_http_fields *fields = NULL;
    mishap *m = NULL;
    for (const mishap_operation *o = app->operations; o && o->name && !m; o++) {
        if (!reads_any(o))
            continue;
        if (!fields)
            m = mishap_http_fields_make(extensions, &fields);
        if (!m)
            m = count_fields(&(mishap_declared){ .app = app, .operation = o }, fields, &others);
    }
    mishap_http_fields_free(fields);
    return m;
}
