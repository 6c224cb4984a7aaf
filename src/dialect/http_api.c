/*
 * http-api: the error format of the HTTP API (seed 003).
 *
 *     {"error":"validation_error","message":"Validation failed",
 *      "details":[{"field":"age","error":"value_out_of_range","min":0,"max":150,"actual":200}]}
 *
 * `details` of a 422 is the array of field errors, of any other status the object of what was told.
 * Where there is nothing of the kind, there are no details.
 */
#include "dialect/parts.h"

static void render_http_api(const mishap_public *told, mishap_buffer *b)
{
    const mishap_code *code = told->code;
    mishap_text message = mishap_public_message(told);
    if (!told->message.length && code->http_message.length)
        message = code->http_message;
    mishap_json_open(b, '{');
    MISHAP_PUT(b, "\"error\":\""); /* lower_snake: nothing in it needs an escape */
    mishap_buffer_put_text(b, code->http_name);
    MISHAP_PUT(b, "\",\"message\":");
    mishap_json_string(b, message);
    /* What is masked has no details, on this wire as in the checks below. */
    bool fields = code->http_status == 422;
    if (!code->masked && fields && told->fields) {
        MISHAP_JSON_KEY(b, "details");
        mishap_put_bare_fields(b, told);
    } else if (!code->masked && !fields && told->context) {
        MISHAP_JSON_KEY(b, "details");
        mishap_put_context(b, told);
    }
    mishap_json_close(b, '}');
}

static mishap *read_http_api(const mishap_source *source, mishap **out)
{
    size_t index, count;
    yyjson_val *key, *value, *error = NULL, *message = NULL, *details = NULL;
    MISHAP_JSON_MEMBERS (source->root, index, count, key, value) {
        if (MISHAP_JSON_IS(key, "error"))
            error = value;
        else if (MISHAP_JSON_IS(key, "message"))
            message = value;
        else if (MISHAP_JSON_IS(key, "details"))
            details = value;
    }
    if (!yyjson_is_str(error))
        return mishap_refuse(source, error ? error : source->root,
                             "The member `error` is missing or is not a string.");
    if (!yyjson_is_str(message))
        return mishap_refuse(source, message ? message : source->root,
                             "The member `message` is missing or is not a string.");
    /* A custom status names itself by its phrase, so a name that no table has says nothing of its
     * category. But field errors stand only in a 422. */
    int status = yyjson_arr_size(details) ? 422 : 0;
    mishap *m = mishap_restore(MISHAP_SPELLING_HTTP, mishap_json_text(error), MISHAP_EXECUTION,
                               status, MISHAP_CODE_GENERAL_ERROR);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    if (yyjson_is_arr(details))
        mishap_read_fields(m, details);
    else
        mishap_read_context(m, details);
    return mishap_finish(m, out);
}

/* Strict: the four names of the schema, and no other. */
static void check_error(mishap_check *c, yyjson_val *value)
{
    static const char *const listed[] = { "bad_request", "not_found", "validation_error",
                                          "internal_server_error" };
    if (!mishap_check_snake_name(c, value))
        return;
    if (!c->strict)
        return;
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (yyjson_equals_str(value, listed[i]))
            return;
    mishap_check_say(c, MISHAP_RULE_UNKNOWN_CODE,
                     "`%s` is not one of the four names of the schema.", yyjson_get_str(value));
}

/* By default anything that tells more; strict: an array of field errors, as the schema has it. */
static void check_details(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_arr(value))
        mishap_check_bare_fields(c, value);
    else if (c->strict)
        mishap_check_say(c, MISHAP_RULE_WRONG_TYPE, "`details` must be an array of field errors.");
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("error", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_error),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_message),
    MISHAP_SHAPE("details", .types = MISHAP_SHAPE_ANY, .check = check_details),
};

static void check_http_api(mishap_check *c, yyjson_val *root)
{
    if (!mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), true))
        return;
    yyjson_val *error = yyjson_obj_get(root, "error"), *details = yyjson_obj_get(root, "details");
    bool silent = details ? yyjson_is_arr(details) && yyjson_arr_size(details) == 0 : c->strict;
    if (yyjson_equals_str(error, "validation_error") && silent)
        mishap_check_say(c, MISHAP_RULE_MISSING_MEMBER,
                         "A validation error must name a field in `details`.");
    if (yyjson_equals_str(error, "internal_server_error") && details)
        mishap_check_say(c, MISHAP_RULE_UNKNOWN_MEMBER,
                         "An internal server error must not have `details`.");
}

const mishap_dialect mishap_http_api = {
    .name = "http-api",
    .media_type = "application/json",
    .last_words = MISHAP_TEXT(
        "{\"error\":\"internal_server_error\",\"message\":\"Internal server error\"}"),
    .render = render_http_api,
    .read = read_http_api,
    .check = check_http_api,
};
