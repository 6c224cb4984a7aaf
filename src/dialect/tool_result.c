/*
 * tool-result: what a tool of the symbolic family answers when it fails (seed 004).
 *
 *     {"status":"error","error_type":"ValidationError","message":"Blocked function call: eval",
 *      "counterexamples":[],"paths_explored":0,"paths_verified":0,"time_seconds":0.0015,
 *      "coverage_estimate":0.0}
 *
 * The members of the tool, which are there on success and on failure alike, are the context that
 * was told; they stand beside the fixed three. The type is that of the mishap (mishap_type), if it
 * is one of the six, else that of its code. The status is `timeout` if a timeout was told with that
 * `status`. There is no code: reading takes the one code that stands for the type; but who has it
 * in `code`, with `retryable`, as the MCP boundary does, is believed.
 */
#include "dialect/beside.h"

static mishap_fixed_names fixed = { "status", "error_type", "message", NULL };

static const char *const types[] = { "ValueError",  "SyntaxError",  "ValidationError",
                                     "ImportError", "TimeoutError", "RuntimeError" };

static bool is_type(mishap_text name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (mishap_text_equal(name, mishap_text_of(types[i])))
            return true;
    return false;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* The status `timeout` that was told of a timeout; NULL: it was not. */
static const mishap_member *told_status(const mishap_public *told)
{
    const mishap_member *member = told->code == MISHAP_CODE_TIMEOUT
                                      ? mishap_public_member(told, "status")
                                      : NULL;
    return member && member->value.kind == MISHAP_KIND_TEXT &&
                   mishap_text_equal(member->value.text, (mishap_text)MISHAP_TEXT("timeout"))
               ? member
               : NULL;
}

static void render_tool_result(const mishap_public *told, mishap_buffer *b)
{
    const mishap_code *code = told->code;
    /* A reader has only the type, and with it a row: what that row says, the reader has anyway. */
    mishap_text type = is_type(told->type) ? told->type : code->tool_type;
    const mishap_code *row = mishap_catalog_find(MISHAP_SPELLING_TOOL, type);
    const mishap_member *status = told_status(told);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, status ? status->value.text : (mishap_text)MISHAP_TEXT("error"));
    MISHAP_JSON_KEY(b, "error_type");
    mishap_json_string(b, type);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_public_message(told));
    mishap_put_beside(b, told, row ? row : code, fixed, status);
    mishap_json_close(b, '}');
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The code that a document names beside its type; NULL: none, or the type is none of ours. */
static const mishap_code *named_code(yyjson_val *root, mishap_text type)
{
    const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME,
                                                  mishap_json_text(yyjson_obj_get(root, "code")));
    bool sure = yyjson_is_bool(yyjson_obj_get(root, "retryable"));
    return code && sure && (mishap_text_equal(code->tool_type, type) || is_type(type)) ? code
                                                                                       : NULL;
}

static mishap *read_tool_result(const mishap_source *source, mishap **out)
{
    static mishap_fixed_names with_code = { "status", "error_type", "message",
                                            "code",   "retryable",  NULL };
    yyjson_val *root = source->root;
    yyjson_val *type = yyjson_obj_get(root, "error_type");
    yyjson_val *message = yyjson_obj_get(root, "message");
    mishap_text name = mishap_json_text(type);
    /* A check that ran out of time may say so in its status alone. */
    bool is_timeout = yyjson_equals_str(yyjson_obj_get(root, "status"), "timeout");
    if (!type && is_timeout)
        name = MISHAP_CODE_TIMEOUT->tool_type;
    else if (!yyjson_is_str(type))
        return mishap_refuse(source, type ? type : root,
                             "The member `error_type` is missing or is not a string.");
    if (!yyjson_is_str(message))
        return mishap_refuse(source, message ? message : root,
                             "The member `message` is missing or is not a string.");
    const mishap_code *code = named_code(root, name);
    yyjson_val *retryable = code ? yyjson_obj_get(root, "retryable") : NULL;
    mishap *m = code ? mishap_restore(MISHAP_SPELLING_NAME, code->name, MISHAP_EXECUTION, 0, code)
                     : mishap_restore(MISHAP_SPELLING_TOOL, name, MISHAP_EXECUTION, 0,
                                      MISHAP_CODE_RUNTIME_ERROR);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    if (code && !mishap_text_equal(code->tool_type, name))
        mishap_restore_part(m, MISHAP_PART_TYPE, name);
    if (code)
        mishap_read_retry(m, retryable, NULL);
    if (is_timeout && mishap_text_equal(name, MISHAP_CODE_TIMEOUT->tool_type))
        mishap_read_member(m, (mishap_text)MISHAP_TEXT("status"), yyjson_obj_get(root, "status"));
    mishap_read_beside(m, root, retryable, code ? with_code : fixed);
    return mishap_finish(m, out);
}

/* -- checking ---------------------------------------------------------------------------------- */

static void check_status(mishap_check *c, yyjson_val *value)
{
    if (!yyjson_equals_str(value, "error") && !yyjson_equals_str(value, "timeout"))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE,
                         "The status of a failure is `error`, or `timeout`.");
}

/* A capital first, letters and digits only, not all of them capitals. */
static bool pascal_case(mishap_text name)
{
    bool small = false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if (!((c >= 'A' && c <= 'Z') ||
              (i > 0 && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))))
            return false;
        small = small || (c >= 'a' && c <= 'z');
    }
    return small;
}

static void check_type(mishap_check *c, yyjson_val *value)
{
    mishap_text name = mishap_json_text(value);
    if (is_type(name))
        return;
    if (pascal_case(name))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "`%.*s` is none of the six types.",
                         (int)name.length, name.data);
    else
        mishap_check_say(c, MISHAP_RULE_CODE_SPELLING, "`%.*s` is not spelled in PascalCase.",
                         (int)name.length, name.data);
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("status", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_status),
    MISHAP_SHAPE("error_type", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_type),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_message),
    MISHAP_SHAPE("fields", .types = MISHAP_SHAPE_ARRAY, .check = mishap_check_fields),
    MISHAP_SHAPE("suggestion", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("retry_after_ms", .types = MISHAP_SHAPE_INTEGER,
                 .check = mishap_check_not_negative),
    MISHAP_SHAPE("cause", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("docs_url", .types = MISHAP_SHAPE_STRING, .check = mishap_check_url),
    MISHAP_SHAPE("incident", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
};

static void check_tool_result(mishap_check *c, yyjson_val *root)
{
    if (!mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), false) || !c->strict)
        return;
    yyjson_val *type = yyjson_obj_get(root, "error_type");
    if (yyjson_equals_str(yyjson_obj_get(root, "status"), "timeout") && yyjson_is_str(type) &&
        !yyjson_equals_str(type, "TimeoutError"))
        mishap_check_say(c, MISHAP_RULE_STATUS_MISMATCH,
                         "The status is `timeout`, but the type is not TimeoutError.");
}

const mishap_dialect mishap_tool_result = {
    .name = "tool-result",
    .media_type = "application/json",
    .last_words = MISHAP_TEXT("{\"status\":\"error\",\"error_type\":\"RuntimeError\","
                              "\"message\":\"An internal error occurred.\"}"),
    .render = render_tool_result,
    .read = read_tool_result,
    .check = check_tool_result,
};
