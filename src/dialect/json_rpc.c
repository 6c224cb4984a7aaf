/*
 * json-rpc: the error object of JSON-RPC 2.0.
 *
 *     {"code":-32602,"message":"Three fields are not valid.",
 *      "data":{"code":"VALIDATION_ERROR","message":"…","category":"validation", …}}
 *
 * The number is for programs that know nothing of us; `data` is the whole mishap in canonical form.
 * A document may also be the response around the error: {"jsonrpc":"2.0","id":1,"error":{…}}.
 */
#include "dialect/carried.h"
#include "mishap/code.h"

static void render_json_rpc(const mishap_public *told, mishap_buffer *b)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "code");
    mishap_json_int(b, told->code->rpc_code);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_public_message(told));
    MISHAP_JSON_KEY(b, "data");
    mishap_json_open(b, '{');
    mishap_put_canonical(b, told, MISHAP_WITH_MESSAGE);
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* The integers that JSON has and int64_t has not mean nothing here; they count as the largest. */
static int64_t number_of(yyjson_val *value)
{
    bool beyond = yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX;
    return beyond ? INT64_MAX : yyjson_get_sint(value);
}

/* The HTTP status that a number is, 0 if it is none of an error. */
static int status_of_number(int64_t number)
{
    return number >= 400 && number <= 599 ? (int)number : 0;
}

/*
 * What a number means when there is no name beside it: the five of the specification, those of MCP,
 * an HTTP status. Several rows of the catalog share a number; here is the one that says no more
 * than the number does. An unknown HTTP status is taken as the first of its class.
 */
static const mishap_code *code_of_number(int64_t number)
{
    static const struct {
        int number;
        const mishap_code *code;
    } meanings[] = {
        { -32700, MISHAP_CODE_MALFORMED_INPUT },  /* parse error */
        { -32600, MISHAP_CODE_BAD_REQUEST },      /* invalid request */
        { -32601, MISHAP_CODE_METHOD_NOT_FOUND }, /* method not found */
        { -32602, MISHAP_CODE_VALIDATION_ERROR }, /* invalid params */
        { -32603, MISHAP_CODE_INTERNAL_ERROR },
        { -32002, MISHAP_CODE_NOT_FOUND },   /* a resource, in MCP before 2026 */
        { -32020, MISHAP_CODE_BAD_REQUEST }, /* header mismatch */
        { -32021, MISHAP_CODE_BAD_REQUEST }, /* missing client capability */
        { -32022, MISHAP_CODE_BAD_REQUEST }, /* unsupported protocol version */
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].number == number)
            return meanings[i].code;
    const mishap_code *code = mishap_code_by_status(status_of_number(number));
    return code ? code : MISHAP_CODE_GENERAL_ERROR;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* A response, as far as can be told: no error object has members of these names. */
static bool is_response(yyjson_val *root)
{
    return yyjson_obj_get(root, "jsonrpc") || yyjson_obj_get(root, "error") ||
           yyjson_obj_get(root, "result");
}

/* `data` that is ours, or reads like it: the code has a name. */
static mishap *read_named(yyjson_val *number, yyjson_val *message, yyjson_val *data)
{
    const mishap_code *meant = code_of_number(number_of(number));
    mishap_category category = meant->category;
    yyjson_val *same = yyjson_obj_get(data, "message");
    mishap_category_find(mishap_json_text(yyjson_obj_get(data, "category")), &category);
    mishap *m = mishap_restore(MISHAP_SPELLING_NAME, mishap_json_text(yyjson_obj_get(data, "code")),
                               category, status_of_number(number_of(number)), meant);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    mishap_read_carried(m, data, yyjson_equals(same, message) ? MISHAP_WITH_MESSAGE : 0);
    return m;
}

/* Any other error: `data` is context, and so is the number if the code has another. */
static mishap *read_numbered(yyjson_val *number, yyjson_val *message, yyjson_val *data)
{
    mishap *m = mishap_restore_code(code_of_number(number_of(number)));
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    if (mishap_told(m)->code->rpc_code != number_of(number) && !yyjson_obj_get(data, "rpc_code"))
        mishap_read_member(m, (mishap_text)MISHAP_TEXT("rpc_code"), number);
    if (yyjson_is_obj(data))
        mishap_read_context(m, data);
    else if (data && !yyjson_is_null(data))
        mishap_read_member(m, (mishap_text)MISHAP_TEXT("data"), data);
    return m;
}

static mishap *read_json_rpc(const mishap_source *source, mishap **out)
{
    yyjson_val *error = source->root;
    if (is_response(error)) {
        error = yyjson_obj_get(source->root, "error");
        if (!yyjson_is_obj(error))
            return mishap_refuse(source, error ? error : source->root,
                                 "The member `error` is missing or is not an object.");
    }
    yyjson_val *number = yyjson_obj_get(error, "code"), *data = yyjson_obj_get(error, "data");
    yyjson_val *message = yyjson_obj_get(error, "message");
    bool named = mishap_is_code(yyjson_obj_get(data, "code"));
    if (!named && !yyjson_is_int(number))
        return mishap_refuse(source, number ? number : error,
                             "The member `code` is missing or is not an integer.");
    if (!yyjson_is_str(message))
        return mishap_refuse(source, message ? message : error,
                             "The member `message` is missing or is not a string.");
    return mishap_finish(
        named ? read_named(number, message, data) : read_numbered(number, message, data), out);
}

/* -- checking ---------------------------------------------------------------------------------- */

/*
 * -32768 to -32000 belong to the protocol: five numbers have a meaning, -32099 to -32000 are the
 * server's. Strict: as MCP reads that from 2026 on, three of the latter have a meaning and none is
 * free.
 */
static void check_number(mishap_check *c, yyjson_val *value)
{
    int64_t number = number_of(value);
    bool meant = number == -32700 || (number >= -32603 && number <= -32600);
    bool servers = c->strict ? number >= -32022 && number <= -32020 : number >= -32099;
    if (number >= -32768 && number <= -32000 && !meant && !servers)
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE,
                         "%lld is a reserved number that JSON-RPC does not define.",
                         (long long)number);
}

/* "A concise single sentence", says the specification, whose own have no full stop: only what is
 * clearly more than one sentence is named. */
static void check_message(mishap_check *c, yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    bool begun = false;
    mishap_check_message(c, value);
    for (size_t i = 0; i + 2 < text.length; i++) {
        const char *at = text.data + i;
        begun = begun || (unsigned char)*at > ' ';
        bool ends = (*at == '.' || *at == '!' || *at == '?') && at[1] == ' ';
        if ((begun && *at == '\n') || (ends && at[2] >= 'A' && at[2] <= 'Z')) {
            mishap_check_say(c, MISHAP_RULE_NOT_A_SENTENCE,
                             "The message should be one concise sentence.");
            return;
        }
    }
}

/* What the server puts there is its own matter, unless it has a code with a name. */
static void check_data(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_str(yyjson_obj_get(value, "code")))
        mishap_check_carried(c, value);
}

static const mishap_shape error_shape[] = {
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_INTEGER, .required = true, .check = check_number),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_message),
    MISHAP_SHAPE("data", .types = MISHAP_SHAPE_ANY, .check = check_data),
};

/* Number and message stand outside and inside, and say the same. */
static void check_agreement(mishap_check *c, yyjson_val *error)
{
    yyjson_val *number = yyjson_obj_get(error, "code"), *message = yyjson_obj_get(error, "message");
    yyjson_val *data = yyjson_obj_get(error, "data"), *name = yyjson_obj_get(data, "code");
    yyjson_val *again = yyjson_obj_get(data, "message");
    if (!yyjson_is_str(name))
        return;
    mishap_check_enter(c, (mishap_text)MISHAP_TEXT("data"));
    mishap_check_enter(c, (mishap_text)MISHAP_TEXT("message"));
    if (again && !yyjson_is_str(again))
        mishap_check_say(c, MISHAP_RULE_WRONG_TYPE, "This must be a string.");
    else if (again && yyjson_is_str(message) && !yyjson_equals(again, message))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "This is not the `message` of the error.");
    mishap_check_leave(c);
    mishap_check_leave(c);
    const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_json_text(name));
    if (c->strict && code && yyjson_is_int(number) && number_of(number) != code->rpc_code)
        mishap_check_say(c, MISHAP_RULE_STATUS_MISMATCH, "The number of %s is %d.", code->name.data,
                         code->rpc_code);
}

static void check_error(mishap_check *c, yyjson_val *error)
{
    if (mishap_check_object(c, error, error_shape, MISHAP_SHAPE_COUNT(error_shape), true))
        check_agreement(c, error);
}

static void check_version(mishap_check *c, yyjson_val *value)
{
    if (!yyjson_equals_str(value, "2.0"))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "The version must be \"2.0\".");
}

static const mishap_shape response_shape[] = {
    MISHAP_SHAPE("jsonrpc", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_version),
    MISHAP_SHAPE("id", .types = MISHAP_SHAPE_STRING | MISHAP_SHAPE_NUMBER | MISHAP_SHAPE_NULL,
                 .required = true),
    MISHAP_SHAPE("error", .types = MISHAP_SHAPE_OBJECT, .required = true, .check = check_error),
    MISHAP_SHAPE("result", .types = MISHAP_SHAPE_ANY),
};

static void check_json_rpc(mishap_check *c, yyjson_val *root)
{
    if (!is_response(root)) {
        check_error(c, root);
        return;
    }
    mishap_check_object(c, root, response_shape, MISHAP_SHAPE_COUNT(response_shape), true);
    if (yyjson_obj_get(root, "error") && yyjson_obj_get(root, "result")) {
        mishap_check_enter(c, (mishap_text)MISHAP_TEXT("result"));
        mishap_check_say(c, MISHAP_RULE_UNKNOWN_MEMBER,
                         "A response with an `error` must not have a `result`.");
        mishap_check_leave(c);
    }
}

const mishap_dialect mishap_json_rpc = {
    .name = "json-rpc",
    .media_type = "application/json",
    .last_words = MISHAP_TEXT(
        "{\"code\":-32603,\"message\":\"An internal error occurred.\",\"data\":"
        "{\"code\":\"INTERNAL_ERROR\",\"message\":\"An internal error occurred.\","
        "\"category\":\"system\",\"retryable\":false}}"),
    .render = render_json_rpc,
    .read = read_json_rpc,
    .check = check_json_rpc,
};
