/*
 * Bodies that are in one of our dialects. Dialects read tolerantly, so that the members that only
 * this dialect has are looked at first; and a body that names no code of the catalog is left to the
 * shapes, which know its status.
 */
#include "dialect/carried.h"
#include "dialect/dialect.h"
#include "upstream/inside.h"

static bool text_at(yyjson_val *object, const char *name)
{
    return yyjson_is_str(yyjson_obj_get(object, name));
}

static bool is_problem(yyjson_val *root)
{
    yyjson_val *errors = yyjson_obj_get(root, "errors");
    return text_at(root, "code") && (text_at(root, "title") || text_at(root, "detail")) &&
           (!errors || mishap_is_fields(errors));
}

static bool is_canonical(yyjson_val *root)
{
    return text_at(root, "code") && text_at(root, "category") &&
           yyjson_is_bool(yyjson_obj_get(root, "retryable"));
}

static bool is_cli_envelope(yyjson_val *root)
{
    return yyjson_is_false(yyjson_obj_get(root, "ok")) &&
           text_at(yyjson_obj_get(root, "error"), "code");
}

static bool is_artifact(yyjson_val *root)
{
    return yyjson_is_false(yyjson_obj_get(root, "success")) && text_at(root, "error") &&
           text_at(root, "code") && text_at(root, "category");
}

static bool is_http_api(yyjson_val *root)
{
    yyjson_val *details = yyjson_obj_get(root, "details");
    return text_at(root, "error") && text_at(root, "message") &&
           yyjson_obj_size(root) == (details ? 3 : 2) &&
           (!yyjson_is_arr(details) || mishap_is_fields(details));
}

static bool is_tool_result(yyjson_val *root)
{
    return text_at(root, "status") && text_at(root, "error_type") && text_at(root, "message");
}

static bool is_json_rpc(yyjson_val *root)
{
    return yyjson_equals_str(yyjson_obj_get(root, "jsonrpc"), "2.0") &&
           yyjson_is_obj(yyjson_obj_get(root, "error"));
}

static bool is_google_rpc(yyjson_val *root)
{
    yyjson_val *error = yyjson_obj_get(root, "error");
    return text_at(error, "status") && yyjson_is_int(yyjson_obj_get(error, "code"));
}

static bool is_json_api(yyjson_val *root)
{
    yyjson_val *first = yyjson_arr_get_first(yyjson_obj_get(root, "errors"));
    return (text_at(first, "detail") || text_at(first, "title")) &&
           (text_at(first, "status") || text_at(first, "code"));
}

static bool is_graphql(yyjson_val *root)
{
    yyjson_val *first = yyjson_arr_get_first(yyjson_obj_get(root, "errors"));
    return text_at(first, "message") && text_at(yyjson_obj_get(first, "extensions"), "code");
}

static const struct ours {
    const mishap_dialect *dialect;
    bool (*is)(yyjson_val *root);
} dialects[] = {
    { &mishap_problem, is_problem },           { &mishap_canonical, is_canonical },
    { &mishap_cli_envelope, is_cli_envelope }, { &mishap_artifact, is_artifact },
    { &mishap_http_api, is_http_api },         { &mishap_tool_result, is_tool_result },
    { &mishap_json_rpc, is_json_rpc },         { &mishap_google_rpc, is_google_rpc },
    { &mishap_json_api, is_json_api },         { &mishap_graphql, is_graphql },
};

/* The document has a code of the catalog that says more than that it failed. A response of a server
 * that failed does not say that its request was wrong: another program wrote it. */
static bool names_code(const mishap_upstream_reading *reading, const mishap *m)
{
    const mishap_code *code = mishap_told(m)->code;
    int status = reading->response->status;
    bool known = status >= 400 && status <= 599;
    return mishap_catalog_find(MISHAP_SPELLING_NAME, code->name) == code &&
           (!known ||
            (code != MISHAP_CODE_GENERAL_ERROR && code->http_status / 100 == status / 100));
}

/* A failure to read is a failure of this dialect only, unless there is no memory. */
static bool is_read(mishap_upstream_reading *reading, const mishap_dialect *dialect,
                    mishap *failure, mishap *m, mishap **out)
{
    if (failure == mishap_out_of_memory())
        reading->no_memory = true;
    if (failure || !names_code(reading, m)) {
        mishap_free(failure);
        mishap_free(m);
        return false;
    }
    reading->shape = dialect->name;
    *out = m;
    return true;
}

bool mishap_upstream_read_ours(mishap_upstream_reading *reading, yyjson_val *root, mishap **out)
{
    mishap_text body = reading->response->body;
    mishap *m = NULL;
    if (body.length > MISHAP_UPSTREAM_NOTED)
        return false;
    if (!root) {
        if (!mishap_upstream_begins(body, "[error] ") &&
            !mishap_upstream_begins(body, "[stdout]\n"))
            return false;
        mishap *failure = mishap_condition_report.read_text(body, &m);
        return is_read(reading, &mishap_condition_report, failure, m, out);
    }
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        if (!dialects[i].is(root))
            continue;
        const mishap_source source = { body, root };
        mishap *failure = dialects[i].dialect->read(&source, &m);
        return is_read(reading, dialects[i].dialect, failure, m, out);
    }
    return false;
}
