/* The body that an operation takes is an argument of its tool: as text, or as base64. */
#include "base/media.h"
#include "mcp/offers/schema.h"
#include "operation/asking.h"
#include "operation/media.h"
#include "operation/schema.h"

static const mishap_param body_params[] = {
    { "body", MISHAP_STRING, .help = "The content of the body, as text" },
    { "body_base64", MISHAP_STRING,
      .help = "The content of the body in base64, instead of `body`" },
    { "body_type", MISHAP_STRING,
      .help = "Media type of the body; by default the first that the tool accepts" },
    { 0 },
};

bool mishap_mcp_is_of_body(const void *state, mishap_text name)
{
    const mishap_operation *operation = state;
    return operation->takes && mishap_param_find(body_params, name);
}

bool mishap_mcp_is_beside(const void *state, mishap_text name)
{
    const mishap_operation *operation = state;
    return mishap_mcp_is_of_body(state, name) ||
           (operation->asks && (mishap_text_equal(name, (mishap_text)MISHAP_TEXT("_state")) ||
                                mishap_text_equal(name, (mishap_text)MISHAP_TEXT("_answers"))));
}

/* The parameters of the operation, those of its body, and those of answers, in one schema. */
void mishap_mcp_put_params_schema(mishap_buffer *schema, const mishap_operation *operation,
                                  bool full)
{
    if (!operation->takes && !operation->asks) {
        mishap_params_put_tool_schema(schema, operation->params, operation->schema, !full);
        return;
    }
    mishap_param *all = mishap_params_join(operation->params, operation->takes ? body_params : NULL,
                                           operation->asks ? mishap_asking_params : NULL);
    if (all)
        mishap_params_put_tool_schema(schema, all, operation->schema, !full);
    else
        /* Makes the buffer fail: half a schema is worse than none. */
        mishap_buffer_reserve(schema, SIZE_MAX);
    mishap_release(all);
}

static mishap *refuse_body(const char *field, const char *error, const char *expected)
{
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                         .error = mishap_text_of(error),
                                         .expected = mishap_value_of_string(expected) });
    return m;
}

/* Copy bytes into the memory of the call. */
static mishap *keep_bytes(mishap_call *call, yyjson_val *text, yyjson_val *code)
{
    mishap_buffer bytes = { 0 };
    mishap *failure = NULL;
    if (text && code)
        return refuse_body("body_base64", "invalid_value", "absent when `body` is given");
    if (text)
        call->body = mishap_arena_copy(&call->arena, mishap_json_text(text));
    else if (mishap_base64_read(&bytes, mishap_json_text(code)))
        call->body = mishap_arena_copy(&call->arena, mishap_buffer_text(&bytes));
    else
        failure = bytes.failed
                      ? mishap_out_of_memory()
                      : refuse_body("body_base64", "invalid_format", "base64 with padding");
    if (!failure && !call->body.data)
        failure = mishap_out_of_memory();
    mishap_buffer_release(&bytes);
    return failure;
}

mishap *mishap_mcp_take_body(mishap_call *call, yyjson_val *arguments)
{
    const mishap_operation *operation = call->operation;
    yyjson_val *text = yyjson_obj_get(arguments, "body");
    yyjson_val *code = yyjson_obj_get(arguments, "body_base64");
    yyjson_val *type = yyjson_obj_get(arguments, "body_type");
    text = yyjson_is_null(text) ? NULL : text;
    code = yyjson_is_null(code) ? NULL : code;
    if (!operation->takes || !(text || code))
        return NULL;
    mishap *failure = mishap_params_check(body_params, arguments);
    if (failure)
        return failure;
    mishap_text named = type && yyjson_get_len(type) ? mishap_json_text(type)
                                                     : mishap_media_first_taken(operation);
    if (!mishap_media_taken(operation, named))
        return refuse_body("body_type", "invalid_value", operation->takes);
    call->body_type = mishap_arena_copy(&call->arena, named).data;
    return call->body_type ? keep_bytes(call, text, code) : mishap_out_of_memory();
}

void mishap_mcp_put_others(mishap_buffer *json, const mishap_operation *operation,
                           yyjson_val *arguments)
{
    size_t index, count;
    yyjson_val *key, *value;
    if (!operation->takes) {
        mishap_json_copy(json, arguments);
        return;
    }
    mishap_json_open(json, '{');
    MISHAP_JSON_MEMBERS (arguments, index, count, key, value) {
        if (mishap_mcp_is_of_body(operation, mishap_json_text(key)))
            continue;
        mishap_json_key(json, mishap_json_text(key));
        mishap_json_copy(json, value);
    }
    mishap_json_close(json, '}');
}
