#include "dialect/parts.h"

/* -- writing -------------------------------------------------------------------------------------------------- */

#define PUT_VALUE(b, literal, value)                 \
    do {                                             \
        if ((value).kind != MISHAP_KIND_NONE) {      \
            MISHAP_JSON_KEY((b), literal);           \
            mishap_json_value((b), &(value));        \
        }                                            \
    } while (0)

void mishap_put_fields(mishap_buffer *b, const mishap_public *told)
{
    mishap_json_open(b, '[');
    for (const mishap_field *field = told->fields; field; field = field->next) {
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "field");
        mishap_json_string(b, field->field);
        MISHAP_JSON_KEY(b, "error");
        mishap_json_string(b, field->error);
        PUT_VALUE(b, "expected", field->expected);
        PUT_VALUE(b, "min", field->min);
        PUT_VALUE(b, "max", field->max);
        PUT_VALUE(b, "actual", field->actual);
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, ']');
}

void mishap_put_context_members(mishap_buffer *b, const mishap_public *told)
{
    for (const mishap_member *member = told->context; member; member = member->next) {
        mishap_json_key(b, member->key);
        mishap_json_value(b, &member->value);
    }
}

void mishap_put_context(mishap_buffer *b, const mishap_public *told)
{
    mishap_json_open(b, '{');
    mishap_put_context_members(b, told);
    mishap_json_close(b, '}');
}

static void put_subject(mishap_buffer *b, const mishap_public *told)
{
    MISHAP_JSON_TEXT_MEMBER(b, "type", told->type);
    MISHAP_JSON_TEXT_MEMBER(b, "stdout", told->output);
    if (!told->frames)
        return;
    MISHAP_JSON_KEY(b, "backtrace");
    mishap_json_open(b, '[');
    for (const mishap_frame *frame = told->frames; frame; frame = frame->next)
        mishap_json_string(b, frame->text);
    mishap_json_close(b, ']');
}

void mishap_put_canonical(mishap_buffer *b, const mishap_public *told, unsigned with)
{
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->name);
    if (with & MISHAP_WITH_MESSAGE) {
        MISHAP_JSON_KEY(b, "message");
        mishap_json_string(b, mishap_public_message(told));
    }
    MISHAP_JSON_KEY(b, "category");
    mishap_json_string(b, mishap_text_of(mishap_category_name(told->category)));
    MISHAP_JSON_KEY(b, "retryable");
    mishap_json_bool(b, told->retryable);
    if (told->retry_after_ms >= 0) {
        MISHAP_JSON_KEY(b, "retry_after_ms");
        mishap_json_int(b, told->retry_after_ms);
    }
    MISHAP_JSON_TEXT_MEMBER(b, "cause", told->cause);
    MISHAP_JSON_TEXT_MEMBER(b, "suggestion", mishap_public_suggestion(told));
    MISHAP_JSON_TEXT_MEMBER(b, "docs_url", mishap_public_docs_url(told));
    if (told->context) {
        MISHAP_JSON_KEY(b, "context");
        mishap_put_context(b, told);
    }
    if (told->fields) {
        MISHAP_JSON_KEY(b, "fields");
        mishap_put_fields(b, told);
    }
    if (with & MISHAP_WITH_SUBJECT)
        put_subject(b, told);
    MISHAP_JSON_TEXT_MEMBER(b, "incident", told->incident);
}

/* A value inside a sentence: text as it is, the rest as JSON has it. */
static void put_plain(mishap_buffer *b, const char *before, const mishap_value *value)
{
    mishap_buffer_put_text(b, mishap_text_of(before));
    if (value->kind == MISHAP_KIND_TEXT)
        mishap_buffer_put_text(b, value->text);
    else
        mishap_json_bare(b, value);
}

void mishap_put_field_sentence(mishap_buffer *b, const mishap_field *field)
{
    mishap_buffer_put_text(b, field->field);
    if (mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("field_required"))) {
        MISHAP_PUT(b, " is required.");
        return;
    }
    bool bounds = field->min.kind != MISHAP_KIND_NONE || field->max.kind != MISHAP_KIND_NONE;
    bool length = mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("invalid_length"));
    if (bounds) {
        mishap_buffer_put_text(b, mishap_text_of(length ? " must have" : " must be"));
        if (field->min.kind != MISHAP_KIND_NONE)
            put_plain(b, " at least ", &field->min);
        if (field->max.kind != MISHAP_KIND_NONE)
            put_plain(b, field->min.kind != MISHAP_KIND_NONE ? " and at most " : " at most ", &field->max);
        if (length)
            MISHAP_PUT(b, " characters");
    } else if (field->expected.kind != MISHAP_KIND_NONE) {
        bool pattern = mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("pattern_mismatch"));
        put_plain(b, pattern ? " must match " : " must be: ", &field->expected);
    } else {
        MISHAP_PUT(b, " is not valid: ");
        mishap_buffer_put_text(b, field->error);
    }
    if (field->actual.kind != MISHAP_KIND_NONE)
        put_plain(b, ", not ", &field->actual);
    MISHAP_PUT(b, ".");
}

/* -- reading -------------------------------------------------------------------------------------------------- */

/* A value as one that can be told. What is no scalar is written into `scratch`, which is empty; the result points
 * there. */
static mishap_value value_of(yyjson_val *value, mishap_buffer *scratch)
{
    if (!value)
        return mishap_value_none();
    if (!yyjson_is_ctn(value) && !yyjson_is_raw(value))
        return mishap_json_scalar(value);
    mishap_json_copy(scratch, value);
    return (mishap_value){ .kind = MISHAP_KIND_JSON, .text = mishap_buffer_text(scratch) };
}

void mishap_read_member(mishap *m, mishap_text key, yyjson_val *value)
{
    mishap_buffer scratch;
    mishap_buffer_init(&scratch, NULL, 0);
    mishap_value told = value_of(value, &scratch);
    if (scratch.failed)
        mishap_restore_failed(m);
    else
        mishap_tell_value(m, key, told);
    mishap_buffer_release(&scratch);
}

void mishap_read_context(mishap *m, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, count, key, value) mishap_read_member(m, mishap_json_text(key), value);
}

/* A number at the start of the text, and how long it is; 0 if there is none. */
static size_t leading_number(mishap_text text, mishap_value *number)
{
    size_t length = text.length && text.data[0] == '-', digits = length;
    bool real = false;
    while (length < text.length && ((text.data[length] >= '0' && text.data[length] <= '9') ||
                                    (text.data[length] == '.' && length > digits && !real))) {
        real = real || text.data[length] == '.';
        length++;
    }
    char copy[32];
    if (length == digits || length >= sizeof copy || text.data[length - 1] == '.')
        return 0;
    memcpy(copy, text.data, length);
    copy[length] = '\0';
    yyjson_val read;
    if (!yyjson_read_number(copy, &read, 0, NULL, NULL))
        return 0;
    *number = mishap_json_scalar(&read);
    return length;
}

/* "0-150", the form of an early example of the HTTP API. */
static bool read_range(mishap_text text, mishap_value *min, mishap_value *max)
{
    mishap_value low, high;
    size_t length = leading_number(text, &low);
    if (length == 0 || length + 1 >= text.length || text.data[length] != '-')
        return false;
    mishap_text rest = { text.data + length + 1, text.length - length - 1 };
    if (leading_number(rest, &high) != rest.length)
        return false;
    *min = low;
    *max = high;
    return true;
}

void mishap_read_field(mishap *m, mishap_text name, mishap_text error, yyjson_val *expected, yyjson_val *actual,
                       yyjson_val *min, yyjson_val *max)
{
    mishap_buffer scratch[4];
    for (int i = 0; i < 4; i++)
        mishap_buffer_init(&scratch[i], NULL, 0);
    mishap_field field = {
        .field = name,
        .error = error,
        .expected = value_of(expected, &scratch[0]),
        .actual = value_of(actual, &scratch[1]),
        .min = value_of(min, &scratch[2]),
        .max = value_of(max, &scratch[3]),
    };
    bool ranged = mishap_text_equal(error, (mishap_text)MISHAP_TEXT("value_out_of_range")) ||
                  mishap_text_equal(error, (mishap_text)MISHAP_TEXT("invalid_length"));
    if (ranged && !min && !max && yyjson_is_str(expected) &&
        read_range(mishap_json_text(expected), &field.min, &field.max))
        field.expected = mishap_value_none();
    if (scratch[0].failed || scratch[1].failed || scratch[2].failed || scratch[3].failed)
        mishap_restore_failed(m);
    else
        mishap_field_add(m, &field);
    for (int i = 0; i < 4; i++)
        mishap_buffer_release(&scratch[i]);
}

void mishap_read_fields(mishap *m, yyjson_val *array)
{
    size_t index, count, member, members;
    yyjson_val *item, *key, *value;
    yyjson_arr_foreach(array, index, count, item)
    {
        yyjson_val *field = NULL, *error = NULL, *expected = NULL, *actual = NULL, *min = NULL, *max = NULL;
        yyjson_obj_foreach(item, member, members, key, value)
        {
            if (MISHAP_JSON_IS(key, "field"))
                field = value;
            else if (MISHAP_JSON_IS(key, "error"))
                error = value;
            else if (MISHAP_JSON_IS(key, "expected"))
                expected = value;
            else if (MISHAP_JSON_IS(key, "actual"))
                actual = value;
            else if (MISHAP_JSON_IS(key, "min"))
                min = value;
            else if (MISHAP_JSON_IS(key, "max"))
                max = value;
        }
        if (yyjson_is_str(field) && yyjson_is_str(error))
            mishap_read_field(m, mishap_json_text(field), mishap_json_text(error), expected, actual, min, max);
    }
}

void mishap_read_part(mishap *m, mishap_part part, yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    if (yyjson_is_str(value))
        mishap_restore_part(m, part, mishap_json_text(value));
}

void mishap_read_category(mishap *m, yyjson_val *value)
{
    mishap_category category;
    const mishap_public *told = mishap_told(m);
    if (yyjson_is_str(value) && mishap_category_find(mishap_json_text(value), &category) &&
        category != told->category)
        mishap_restore_category(m, category);
}

void mishap_read_retry(mishap *m, yyjson_val *retryable, yyjson_val *retry_after_ms)
{
    if (yyjson_is_int(retry_after_ms) && !yyjson_is_false(retryable))
        mishap_retry_after(m, yyjson_get_sint(retry_after_ms));
    if (yyjson_is_bool(retryable) && (!mishap_told(m)->retry_stated || !yyjson_get_bool(retryable)))
        mishap_retryable(m, yyjson_get_bool(retryable));
}

static void read_subject(mishap *m, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *frame, *backtrace = yyjson_obj_get(object, "backtrace");
    mishap_read_part(m, MISHAP_PART_TYPE, object, "type");
    mishap_read_part(m, MISHAP_PART_OUTPUT, object, "stdout");
    yyjson_arr_foreach(backtrace, index, count, frame)
    {
        if (yyjson_is_str(frame))
            mishap_frame_add(m, mishap_json_text(frame));
    }
}

void mishap_read_canonical(mishap *m, yyjson_val *object, unsigned with)
{
    mishap_read_category(m, yyjson_obj_get(object, "category"));
    mishap_read_retry(m, yyjson_obj_get(object, "retryable"), yyjson_obj_get(object, "retry_after_ms"));
    mishap_read_part(m, MISHAP_PART_CAUSE, object, "cause");
    mishap_read_part(m, MISHAP_PART_SUGGESTION, object, "suggestion");
    mishap_read_part(m, MISHAP_PART_DOCS_URL, object, "docs_url");
    mishap_read_part(m, MISHAP_PART_INCIDENT, object, "incident");
    mishap_read_context(m, yyjson_obj_get(object, "context"));
    mishap_read_fields(m, yyjson_obj_get(object, "fields"));
    if (with & MISHAP_WITH_SUBJECT)
        read_subject(m, object);
}
