/*
 * artifact: what an artifact answers to the agent that invoked it (seed 002).
 *
 *     {"success":false,"error":"transfer requires [from_id, to_id, amount]",
 *      "code":"missing_argument","category":"validation","retriable":false,
 *      "details":{"required":["from_id","to_id","amount"]}}
 *
 * Category and retry belong to the occurrence, so both are always written and never held against
 * the catalog. `details` is the one open place: the context that was told, then what else this
 * occurrence brings. It is left out when empty.
 */
#include "dialect/beside.h"

/* Nothing in `details` has a fixed name. */
static mishap_fixed_names nothing_fixed = { NULL };

/* -- writing ----------------------------------------------------------------------------------- */

static void render_artifact(const mishap_public *told, mishap_buffer *b)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "success");
    mishap_json_bool(b, false);
    MISHAP_JSON_KEY(b, "error");
    mishap_json_string(b, mishap_public_message(told));
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->snake);
    MISHAP_JSON_KEY(b, "category");
    mishap_json_string(b, mishap_text_of(mishap_category_name(told->category)));
    MISHAP_JSON_KEY(b, "retriable");
    mishap_json_bool(b, told->retryable);
    if (mishap_has_beside(told, told->code)) {
        MISHAP_JSON_KEY(b, "details");
        mishap_json_open(b, '{');
        mishap_put_beside(b, told, told->code, nothing_fixed, NULL);
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, '}');
}

/* -- the list of the seed ---------------------------------------------------------------------- */

/* Findings about arguments have one code: that of the first of them. */
static const mishap_code *code_of_findings(const mishap_public *told)
{
    mishap_text error = told->fields ? told->fields->error : (mishap_text){ NULL, 0 };
    if (mishap_text_equal(error, MISHAP_CODE_FIELD_REQUIRED->snake))
        return MISHAP_CODE_MISSING_ARGUMENT;
    return mishap_text_equal(error, MISHAP_CODE_INVALID_TYPE->snake) ? MISHAP_CODE_INVALID_TYPE
                                                                     : MISHAP_CODE_INVALID_ARGUMENT;
}

/*
 * What the library refuses by itself has a word of the seed. The other codes are kept: of
 * resources, of the machine and of code that is run the seed names only what it means, so that a
 * conflict, a full disk or a server that is busy is none of them; and a program knows its own codes
 * best.
 */
static const struct {
    const mishap_code *from, *to;
} words[] = {
    { MISHAP_CODE_FIELD_REQUIRED, MISHAP_CODE_MISSING_ARGUMENT },
    { MISHAP_CODE_INVALID_LENGTH, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_VALUE_OUT_OF_RANGE, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_PATTERN_MISMATCH, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_VALUE_ERROR, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_BAD_REQUEST, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_MALFORMED_INPUT, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_UNKNOWN_OPTION, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_METHOD_NOT_ALLOWED, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_NOT_ACCEPTABLE, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_LENGTH_REQUIRED, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_CONTENT_TOO_LARGE, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_URI_TOO_LONG, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_UNSUPPORTED_MEDIA_TYPE, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_RANGE_NOT_SATISFIABLE, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_EXPECTATION_FAILED, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_MISDIRECTED_REQUEST, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_UNPROCESSABLE_CONTENT, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_UPGRADE_REQUIRED, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_REQUEST_HEADER_FIELDS_TOO_LARGE, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_CODE_PERMISSION_DENIED, MISHAP_CODE_NOT_AUTHORIZED },
    { MISHAP_CODE_FORBIDDEN, MISHAP_CODE_NOT_AUTHORIZED },
    { MISHAP_CODE_AUTH_REQUIRED, MISHAP_CODE_NOT_AUTHORIZED },
    { MISHAP_CODE_AUTH_TOKEN_EXPIRED, MISHAP_CODE_NOT_AUTHORIZED },
    { MISHAP_CODE_UNAUTHORIZED, MISHAP_CODE_NOT_AUTHORIZED },
    { MISHAP_CODE_PAYMENT_REQUIRED, MISHAP_CODE_INSUFFICIENT_FUNDS },
    { MISHAP_CODE_GONE, MISHAP_CODE_NOT_FOUND },
    { MISHAP_CODE_REQUEST_TIMEOUT, MISHAP_CODE_TIMEOUT },
};

static const mishap_code *nearest(const mishap_public *told)
{
    if (told->code == MISHAP_CODE_VALIDATION_ERROR || told->code == MISHAP_CODE_ARG_ERROR)
        return code_of_findings(told);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (told->code == words[i].from)
            return words[i].to;
    return told->code;
}

/* -- reading ----------------------------------------------------------------------------------- */

static mishap *read_artifact(const mishap_source *source, mishap **out)
{
    size_t index, count;
    yyjson_val *key, *value, *error = NULL, *code = NULL;
    yyjson_val *category = NULL, *retriable = NULL, *details = NULL;
    MISHAP_JSON_MEMBERS (source->root, index, count, key, value) {
        if (MISHAP_JSON_IS(key, "error"))
            error = value;
        else if (MISHAP_JSON_IS(key, "code"))
            code = value;
        else if (MISHAP_JSON_IS(key, "category"))
            category = value;
        else if (MISHAP_JSON_IS(key, "retriable"))
            retriable = value;
        else if (MISHAP_JSON_IS(key, "details"))
            details = value;
    }
    if (!yyjson_is_str(code))
        return mishap_refuse(source, code ? code : source->root,
                             "The member `code` is missing or is not a string.");
    if (!yyjson_is_str(error))
        return mishap_refuse(source, error ? error : source->root,
                             "The member `error` is missing or is not a string.");
    mishap_category assumed = MISHAP_EXECUTION;
    mishap_category_find(mishap_json_text(category), &assumed);
    mishap *m = mishap_restore(MISHAP_SPELLING_SNAKE, mishap_json_text(code), assumed, 0,
                               MISHAP_CODE_GENERAL_ERROR);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(error));
    mishap_read_category(m, category);
    mishap_read_retry(m, retriable, NULL);
    mishap_read_beside(m, details, retriable, nothing_fixed);
    return mishap_finish(m, out);
}

/* -- checking ---------------------------------------------------------------------------------- */

static void check_success(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_true(value))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "`success` must be false in an error.");
}

static void check_code(mishap_check *c, yyjson_val *value)
{
    mishap_text name = mishap_json_text(value);
    if (mishap_check_snake_name(c, value) && !mishap_catalog_find(MISHAP_SPELLING_SNAKE, name))
        mishap_check_say(c, MISHAP_RULE_UNKNOWN_CODE, "`%.*s` is not in the catalog.",
                         (int)name.length, name.data);
}

static const mishap_shape details_shape[] = {
    MISHAP_SHAPE("context", .types = MISHAP_SHAPE_OBJECT),
    MISHAP_SHAPE("fields", .types = MISHAP_SHAPE_ARRAY, .check = mishap_check_fields),
    MISHAP_SHAPE("suggestion", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("retry_after_ms", .types = MISHAP_SHAPE_INTEGER,
                 .check = mishap_check_not_negative),
    MISHAP_SHAPE("cause", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("docs_url", .types = MISHAP_SHAPE_STRING, .check = mishap_check_url),
    MISHAP_SHAPE("incident", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
};

/* By default details are open, as in the seed; strict: what is named like an extra is one. */
static void check_details(mishap_check *c, yyjson_val *value)
{
    if (!c->strict)
        return;
    mishap_check_object(c, value, details_shape, MISHAP_SHAPE_COUNT(details_shape), false);
    if (yyjson_obj_size(value) == 0)
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "Empty details must be omitted.");
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("success", .types = MISHAP_SHAPE_BOOL, .required = true, .check = check_success),
    MISHAP_SHAPE("error", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_message),
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_code),
    MISHAP_SHAPE("category", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_category),
    MISHAP_SHAPE("retriable", .types = MISHAP_SHAPE_BOOL, .required = true),
    MISHAP_SHAPE("details", .types = MISHAP_SHAPE_OBJECT, .check = check_details),
};

static void check_artifact(mishap_check *c, yyjson_val *root)
{
    if (!mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), true) || !c->strict)
        return;
    /* The advice stands one floor below the word that it must fit. */
    yyjson_val *details = yyjson_obj_get(root, "details");
    if (yyjson_is_false(yyjson_obj_get(root, "retriable")) &&
        yyjson_is_int(yyjson_obj_get(details, "retry_after_ms"))) {
        mishap_check_enter(c, (mishap_text)MISHAP_TEXT("details"));
        mishap_check_say(c, MISHAP_RULE_RETRY_CONFLICT,
                         "The error has a retry delay, but `retriable` is false.");
        mishap_check_leave(c);
    }
}

const mishap_dialect mishap_artifact = {
    .name = "artifact",
    .media_type = "application/json",
    .last_words = MISHAP_TEXT("{\"success\":false,\"error\":\"An internal error occurred.\","
                              "\"code\":\"internal_error\",\"category\":\"system\","
                              "\"retriable\":false}"),
    .render = render_artifact,
    .nearest = nearest,
    .read = read_artifact,
    .check = check_artifact,
};
