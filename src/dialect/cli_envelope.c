/*
 * cli-envelope: what a command prints (seed 001).
 *
 *     {"ok":false,"data":null,"error":{"code":"CONNECTION_REFUSED","message":"…","cause":"…","suggestion":"…",
 *      "docs_url":"…","context":{…}},"warnings":[],"meta":{"duration_ms":5003}}
 *
 * `retryable` is written where it was said of this occurrence; a command always says it. Field
 * errors are `errors`, each with param, code, message and value; what else is known of a field
 * stands beside these.
 */
#include "dialect/envelope.h"
#include "dialect/parts.h"

/* -- writing ----------------------------------------------------------------------------------- */

static void put_upper(mishap_buffer *b, mishap_text name)
{
    mishap_buffer_put_char(b, '"');
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        mishap_buffer_put_char(b, c >= 'a' && c <= 'z' ? (char)(c - 32) : kept ? c : '_');
    }
    mishap_buffer_put_char(b, '"');
}

static void put_field(mishap_buffer *b, const mishap_field *field)
{
    char storage[256];
    mishap_buffer sentence;
    /* Of these the value itself is known; of others only what kind of thing it is. */
    bool known = mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("value_out_of_range")) ||
                 mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("invalid_choice"));
    mishap_buffer_init(&sentence, storage, sizeof storage);
    mishap_put_field_sentence(&sentence, field);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "param");
    mishap_json_string(b, field->field);
    MISHAP_JSON_KEY(b, "code");
    put_upper(b, field->error);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, sentence.failed ? field->error : mishap_buffer_text(&sentence));
    MISHAP_JSON_KEY(b, "value");
    if (known)
        mishap_json_value(b, &field->actual);
    else
        mishap_json_null(b);
    MISHAP_JSON_VALUE_MEMBER(b, "expected", field->expected);
    MISHAP_JSON_VALUE_MEMBER(b, "min", field->min);
    MISHAP_JSON_VALUE_MEMBER(b, "max", field->max);
    if (!known)
        MISHAP_JSON_VALUE_MEMBER(b, "actual", field->actual);
    mishap_json_close(b, '}');
    mishap_buffer_release(&sentence);
}

/* The id of the incident comes last, and what was told by that name gives way to it. */
static void put_context(mishap_buffer *b, const mishap_public *told)
{
    MISHAP_JSON_KEY(b, "context");
    mishap_json_open(b, '{');
    for (const mishap_member *member = told->context; member; member = member->next) {
        if (told->incident.length &&
            mishap_text_equal(member->key, (mishap_text)MISHAP_TEXT("incident")))
            continue;
        mishap_json_key(b, member->key);
        mishap_json_value(b, &member->value);
    }
    MISHAP_JSON_TEXT_MEMBER(b, "incident", told->incident);
    mishap_json_close(b, '}');
}

static void put_error(mishap_buffer *b, const mishap_envelope *envelope)
{
    const mishap_public *told = envelope->error;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->name);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_public_message(told));
    MISHAP_JSON_TEXT_MEMBER(b, "cause", told->cause);
    MISHAP_JSON_TEXT_MEMBER(b, "suggestion", mishap_public_suggestion(told));
    MISHAP_JSON_TEXT_MEMBER(b, "docs_url", mishap_public_docs_url(told));
    if (told->context || told->incident.length)
        put_context(b, told);
    if (told->retry_stated || told->retry_after_ms >= 0) {
        MISHAP_JSON_KEY(b, "retryable");
        mishap_json_bool(b, told->retryable);
    }
    if (told->retry_after_ms >= 0) {
        MISHAP_JSON_KEY(b, "retry_after_ms");
        mishap_json_int(b, told->retry_after_ms);
    }
    MISHAP_JSON_TEXT_MEMBER(b, "phase", mishap_text_of(envelope->phase));
    MISHAP_JSON_TEXT_MEMBER(b, "signal", mishap_text_of(envelope->signal));
    if (told->fields) {
        MISHAP_JSON_KEY(b, "errors");
        mishap_json_open(b, '[');
        for (const mishap_field *field = told->fields; field; field = field->next)
            put_field(b, field);
        mishap_json_close(b, ']');
    }
    mishap_json_close(b, '}');
}

void mishap_envelope_put(mishap_buffer *b, const mishap_envelope *envelope)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "ok");
    mishap_json_bool(b, !envelope->error);
    MISHAP_JSON_KEY(b, "data");
    if (envelope->data.length)
        mishap_buffer_put_text(b, envelope->data);
    else
        mishap_json_null(b);
    MISHAP_JSON_KEY(b, "error");
    if (envelope->error)
        put_error(b, envelope);
    else
        mishap_json_null(b);
    MISHAP_JSON_KEY(b, "warnings");
    mishap_json_open(b, '[');
    mishap_buffer_put_text(b, envelope->warnings);
    mishap_json_close(b, ']');
    MISHAP_JSON_KEY(b, "meta");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "duration_ms");
    mishap_json_int(b, envelope->duration_ms);
    if (envelope->meta.length) {
        mishap_json_comma(b);
        mishap_buffer_put_text(b, envelope->meta);
    }
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
}

void mishap_envelope_put_field_sentence(mishap_buffer *b, const mishap_field *field)
{
    mishap_put_field_sentence(b, field);
}

static void render_cli_envelope(const mishap_public *told, mishap_buffer *b)
{
    mishap_envelope_put(b, &(mishap_envelope){ .error = told });
}

/* -- reading ----------------------------------------------------------------------------------- */

/* VALUE_OUT_OF_RANGE back to value_out_of_range; false if it is too long to be one. */
static bool lower(mishap_text name, char *to, size_t size)
{
    if (name.length >= size)
        return false;
    for (size_t i = 0; i < name.length; i++)
        to[i] = (char)(name.data[i] >= 'A' && name.data[i] <= 'Z' ? name.data[i] + 32
                                                                  : name.data[i]);
    to[name.length] = '\0';
    return true;
}

static void read_errors(mishap *m, yyjson_val *errors)
{
    size_t index, count;
    yyjson_val *item;
    char error[128];
    MISHAP_JSON_ITEMS (errors, index, count, item) {
        yyjson_val *param = yyjson_obj_get(item, "param"), *code = yyjson_obj_get(item, "code");
        if (!yyjson_is_str(param) || !yyjson_is_str(code) ||
            !lower(mishap_json_text(code), error, sizeof error))
            continue;
        yyjson_val *value = yyjson_obj_get(item, "value"), *actual = yyjson_obj_get(item, "actual");
        if (!actual && !yyjson_is_null(value))
            actual = value;
        mishap_read_field(m, &(mishap_field_parts){ .field = mishap_json_text(param),
                                                    .error = mishap_text_of(error),
                                                    .expected = yyjson_obj_get(item, "expected"),
                                                    .actual = actual,
                                                    .min = yyjson_obj_get(item, "min"),
                                                    .max = yyjson_obj_get(item, "max"),
                                                    .message = yyjson_obj_get(item, "message") });
    }
}

static bool says_something(yyjson_val *string)
{
    return strspn(yyjson_get_str(string), " \t\r\n") < yyjson_get_len(string);
}

/* The id of the incident travels in the context, the one place of the format that is open. */
static void read_context(mishap *m, yyjson_val *context)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (context, index, count, key, value) {
        bool last = index + 1 == count; /* as it is written */
        if (last && MISHAP_JSON_IS(key, "incident") && yyjson_is_str(value) &&
            says_something(value))
            mishap_restore_part(m, MISHAP_PART_INCIDENT, mishap_json_text(value));
        else
            mishap_read_member(m, mishap_json_text(key), value);
    }
}

static mishap *read_cli_envelope(const mishap_source *source, mishap **out)
{
    yyjson_val *root = source->root, *error = yyjson_obj_get(root, "error");
    yyjson_val *code = yyjson_obj_get(error, "code"), *message = yyjson_obj_get(error, "message");
    if (!yyjson_is_obj(error))
        return mishap_refuse(source, error ? error : root,
                             "The member `error` is missing or is not an object.");
    if (!yyjson_is_str(code))
        return mishap_refuse(source, code ? code : error,
                             "The member `code` is missing or is not a string.");
    if (!yyjson_is_str(message))
        return mishap_refuse(source, message ? message : error,
                             "The member `message` is missing or is not a string.");
    mishap *m = mishap_restore(MISHAP_SPELLING_NAME, mishap_json_text(code), MISHAP_EXECUTION, 0,
                               MISHAP_CODE_GENERAL_ERROR);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    mishap_read_retry(m, yyjson_obj_get(error, "retryable"),
                      yyjson_obj_get(error, "retry_after_ms"));
    mishap_read_part(m, MISHAP_PART_CAUSE, error, "cause");
    mishap_read_part(m, MISHAP_PART_SUGGESTION, error, "suggestion");
    mishap_read_part(m, MISHAP_PART_DOCS_URL, error, "docs_url");
    read_context(m, yyjson_obj_get(error, "context"));
    read_errors(m, yyjson_obj_get(error, "errors"));
    return mishap_finish(m, out);
}

/* -- checking ---------------------------------------------------------------------------------- */

static void check_one_of(mishap_check *c, yyjson_val *value, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (yyjson_equals_str(value, words[i]))
            return;
    mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "`%s` is not an allowed value of this member.",
                     yyjson_get_str(value));
}

static void check_strategy(mishap_check *c, yyjson_val *value)
{
    static const char *const words[] = { "immediate", "linear_backoff", "exponential_backoff",
                                         NULL };
    check_one_of(c, value, words);
}

static void check_phase(mishap_check *c, yyjson_val *value)
{
    static const char *const words[] = { "validation", "execution", "cleanup", NULL };
    check_one_of(c, value, words);
}

/* What is wrong with a parameter has a name of its own, which need not be in the catalog and may be
 * one letter. */
static void check_item_code(mishap_check *c, yyjson_val *value)
{
    mishap_text name = mishap_json_text(value);
    bool letter = name.length == 1 && name.data[0] >= 'A' && name.data[0] <= 'Z';
    if (!letter && !mishap_code_name_valid(name))
        mishap_check_code_name(c, value);
}

static const mishap_shape item_shape[] = {
    MISHAP_SHAPE("param", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_not_empty),
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_item_code),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_message),
    MISHAP_SHAPE("value", .types = MISHAP_SHAPE_ANY),
};

static void check_item(mishap_check *c, yyjson_val *item)
{
    mishap_check_object(c, item, item_shape, MISHAP_SHAPE_COUNT(item_shape), false);
}

static void check_items(mishap_check *c, yyjson_val *value)
{
    mishap_check_items(c, value, check_item);
}

static const mishap_shape redirect_shape[] = {
    MISHAP_SHAPE("command", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_not_empty),
    MISHAP_SHAPE("permanent", .types = MISHAP_SHAPE_BOOL, .required = true),
    MISHAP_SHAPE("reason", .types = MISHAP_SHAPE_STRING),
};

static void check_redirect(mishap_check *c, yyjson_val *value)
{
    mishap_check_object(c, value, redirect_shape, MISHAP_SHAPE_COUNT(redirect_shape), true);
}

static const mishap_shape error_shape[] = {
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_code_name),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_sentence),
    MISHAP_SHAPE("retryable", .types = MISHAP_SHAPE_BOOL),
    MISHAP_SHAPE("cause", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("suggestion", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("docs_url", .types = MISHAP_SHAPE_STRING, .check = mishap_check_url),
    MISHAP_SHAPE("context", .types = MISHAP_SHAPE_OBJECT),
    MISHAP_SHAPE("retry_after_ms", .types = MISHAP_SHAPE_INTEGER,
                 .check = mishap_check_not_negative),
    MISHAP_SHAPE("retry_strategy", .types = MISHAP_SHAPE_STRING, .check = check_strategy),
    MISHAP_SHAPE("phase", .types = MISHAP_SHAPE_STRING, .check = check_phase),
    MISHAP_SHAPE("fix_required", .types = MISHAP_SHAPE_ANY),
    MISHAP_SHAPE("fix_command", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("errors", .types = MISHAP_SHAPE_ARRAY, .check = check_items),
    MISHAP_SHAPE("redirect", .types = MISHAP_SHAPE_OBJECT, .check = check_redirect),
    MISHAP_SHAPE("signal", .types = MISHAP_SHAPE_STRING | MISHAP_SHAPE_INTEGER),
};

/* Recoverable by the catalog, or by its own word: then there is a suggestion. */
static void check_suggestion(mishap_check *c, yyjson_val *error)
{
    const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME,
                                                  mishap_json_text(yyjson_obj_get(error, "code")));
    bool recoverable = yyjson_is_true(yyjson_obj_get(error, "retryable")) ||
                       (code && code->retry != MISHAP_RETRY_NEVER);
    if (recoverable && !yyjson_obj_get(error, "suggestion"))
        mishap_check_say(
            c, MISHAP_RULE_MISSING_SUGGESTION,
            "The caller can correct this error, so the member `suggestion` is required.");
}

static void check_error(mishap_check *c, yyjson_val *error)
{
    static const char *const only_retryable[] = { "retry_after_ms", "retry_strategy" };
    static const char *const only_not[] = { "fix_required", "fix_command" };
    if (yyjson_is_null(error) ||
        !mishap_check_object(c, error, error_shape, MISHAP_SHAPE_COUNT(error_shape), true))
        return;
    check_suggestion(c, error);
    if (c->strict && !yyjson_obj_get(error, "retryable"))
        mishap_check_say(c, MISHAP_RULE_MISSING_MEMBER, "The member `retryable` is missing.");
    for (size_t i = 0; i < 2; i++)
        mishap_check_retry(c, error, "retryable", only_retryable[i]);
    for (size_t i = 0; i < 2; i++) {
        if (yyjson_is_true(yyjson_obj_get(error, "retryable")) &&
            yyjson_obj_get(error, only_not[i]))
            mishap_check_say(c, MISHAP_RULE_RETRY_CONFLICT,
                             "`%s` is only allowed in an error that is not retryable.",
                             only_not[i]);
    }
}

static void check_warning(mishap_check *c, yyjson_val *value)
{
    if (!yyjson_is_str(value))
        mishap_check_say(c, MISHAP_RULE_WRONG_TYPE, "A warning must be a string.");
}

static void check_warnings(mishap_check *c, yyjson_val *value)
{
    mishap_check_items(c, value, check_warning);
}

static const mishap_shape meta_shape[] = {
    MISHAP_SHAPE("duration_ms", .types = MISHAP_SHAPE_NUMBER, .required = true,
                 .check = mishap_check_not_negative),
    MISHAP_SHAPE("request_id", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("command", .types = MISHAP_SHAPE_STRING),
    MISHAP_SHAPE("timestamp", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("schema_version", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("tool_version", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("timeout_ms", .types = MISHAP_SHAPE_INTEGER | MISHAP_SHAPE_NULL),
    MISHAP_SHAPE("trace_id", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("truncated", .types = MISHAP_SHAPE_BOOL),
};

static void check_meta(mishap_check *c, yyjson_val *value)
{
    mishap_check_object(c, value, meta_shape, MISHAP_SHAPE_COUNT(meta_shape), false);
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("ok", .types = MISHAP_SHAPE_BOOL, .required = true),
    MISHAP_SHAPE("data", .types = MISHAP_SHAPE_OBJECT | MISHAP_SHAPE_ARRAY | MISHAP_SHAPE_NULL,
                 .required = true),
    MISHAP_SHAPE("error", .types = MISHAP_SHAPE_OBJECT | MISHAP_SHAPE_NULL, .required = true,
                 .check = check_error),
    MISHAP_SHAPE("warnings", .types = MISHAP_SHAPE_ARRAY, .required = true,
                 .check = check_warnings),
    MISHAP_SHAPE("meta", .types = MISHAP_SHAPE_OBJECT, .required = true, .check = check_meta),
};

static void check_cli_envelope(mishap_check *c, yyjson_val *root)
{
    if (!mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), true))
        return;
    yyjson_val *ok = yyjson_obj_get(root, "ok"), *error = yyjson_obj_get(root, "error");
    if (yyjson_is_true(ok) && yyjson_is_obj(error))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "`ok` is true, but there is an `error`.");
    if (yyjson_is_false(ok) && yyjson_is_null(error))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "`ok` is false, but `error` is null.");
}

const mishap_dialect mishap_cli_envelope = {
    .name = "cli-envelope",
    .media_type = "application/json",
    .last_words = MISHAP_TEXT(
        "{\"ok\":false,\"data\":null,\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":\"An "
        "internal error occurred.\",\"retryable\":false},\"warnings\":[],\"meta\":"
        "{\"duration_ms\":0}}"),
    .render = render_cli_envelope,
    .read = read_cli_envelope,
    .check = check_cli_envelope,
};
