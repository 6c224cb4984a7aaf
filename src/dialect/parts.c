#include "dialect/parts.h"

#include "mishap/members.h"

/* -- writing ----------------------------------------------------------------------------------- */

static bool is_missing(const mishap_field *field)
{
    return mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("field_required"));
}

static void put_message(mishap_buffer *b, const mishap_field *field)
{
    char storage[256];
    mishap_buffer sentence;
    mishap_buffer_init(&sentence, storage, sizeof storage);
    mishap_put_field_sentence(&sentence, field);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_buffer_text(&sentence));
    b->failed = b->failed || sentence.failed;
    mishap_buffer_release(&sentence);
}

static void put_fields(mishap_buffer *b, const mishap_public *told, bool bare)
{
    mishap_json_open(b, '[');
    for (const mishap_field *field = told->fields; field; field = field->next) {
        static const char begin[] = ",{\"field\":";
        size_t skip = field == told->fields; /* no comma before the first */
        mishap_buffer_put(b, begin + skip, sizeof begin - 1 - skip);
        mishap_json_string(b, field->field);
        MISHAP_PUT(b, ",\"error\":\""); /* lower_snake: nothing in it needs an escape */
        mishap_buffer_put_text(b, field->error);
        MISHAP_PUT(b, "\"");
        if (!bare || field->expected.kind == MISHAP_KIND_NONE || !is_missing(field))
            MISHAP_JSON_VALUE_MEMBER(b, "expected", field->expected);
        MISHAP_JSON_VALUE_MEMBER(b, "min", field->min);
        MISHAP_JSON_VALUE_MEMBER(b, "max", field->max);
        MISHAP_JSON_VALUE_MEMBER(b, "actual", field->actual);
        if (!bare || (field->message.length && !mishap_is_known_field_error(field->error)))
            put_message(b, field);
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, ']');
}

void mishap_put_fields(mishap_buffer *b, const mishap_public *told)
{
    put_fields(b, told, false);
}

void mishap_put_bare_fields(mishap_buffer *b, const mishap_public *told)
{
    put_fields(b, told, true);
}

void mishap_put_context_members(mishap_buffer *b, const mishap_public *told)
{
    mishap_members_put(b, told->context);
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

void mishap_put_kind(mishap_buffer *b, const mishap_public *told, bool category, bool retryable)
{
    if (category) {
        MISHAP_JSON_KEY(b, "category");
        mishap_json_string(b, mishap_text_of(mishap_category_name(told->category)));
    }
    if (retryable) {
        MISHAP_JSON_KEY(b, "retryable");
        mishap_json_bool(b, told->retryable);
    }
    if (told->retry_after_ms >= 0) {
        MISHAP_JSON_KEY(b, "retry_after_ms");
        mishap_json_int(b, told->retry_after_ms);
    }
    MISHAP_JSON_TEXT_MEMBER(b, "cause", told->cause);
}

void mishap_put_canonical(mishap_buffer *b, const mishap_public *told, unsigned with)
{
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->name);
    if (with & MISHAP_WITH_MESSAGE) {
        MISHAP_JSON_KEY(b, "message");
        mishap_json_string(b, mishap_public_message(told));
    }
    mishap_put_kind(b, told, true, true);
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

/* A value inside a sentence, behind these words. */
static void put_plain(mishap_buffer *b, const char *before, const mishap_value *value)
{
    mishap_buffer_put_text(b, mishap_text_of(before));
    mishap_json_plain(b, value);
}

/* Choices are texts: a list of anything else is shown as it is. */
static bool is_list_of_texts(yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item)
        if (!yyjson_is_str(item))
            return false;
    return yyjson_arr_size(list) > 0;
}

/* " must be one of A, B or C", for a list of choices. False: it is none. */
static bool put_choices(mishap_buffer *b, const mishap_value *expected)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t index, count;
    yyjson_val *item;
    bool list = expected->kind == MISHAP_KIND_JSON && mishap_json_read(&reader, expected->text) &&
                is_list_of_texts(reader.root);
    if (list) {
        MISHAP_PUT(b, " must be one of ");
        MISHAP_JSON_ITEMS (reader.root, index, count, item) {
            mishap_value value = mishap_json_scalar(item);
            put_plain(b, !index ? "" : index + 1 < count ? ", " : " or ", &value);
        }
    }
    mishap_json_reader_release(&reader);
    return list;
}

/* Errors that are told by their name alone. Where no full stop ends it, what may have been meant
 * follows. */
static const struct {
    mishap_text error;
    const char *words;
} phrases[] = {
    { MISHAP_TEXT("unknown_option"), " is not an option of this command" },
    { MISHAP_TEXT("unknown_field"), " is not a known name" },
    { MISHAP_TEXT("unexpected_argument"), " is an unexpected argument." },
    { MISHAP_TEXT("given_twice"), " was given twice." },
    { MISHAP_TEXT("missing_value"), " needs a value." },
    { MISHAP_TEXT("not_utf8"), " is not valid UTF-8." },
    { MISHAP_TEXT("unreadable_file"), " names a file that cannot be read." },
    { MISHAP_TEXT("secret_in_arguments"),
      " is secret or contains a secret: pass it in a file (@FILE) or on standard input (-)." },
};

static bool put_phrase(mishap_buffer *b, const mishap_field *field)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (!mishap_text_equal(field->error, phrases[i].error))
            continue;
        mishap_buffer_put_text(b, mishap_text_of(phrases[i].words));
        if (strchr(phrases[i].words, '.'))
            return true;
        if (field->expected.kind == MISHAP_KIND_TEXT)
            put_plain(b, "; did you mean ", &field->expected);
        mishap_buffer_put_text(
            b, mishap_text_of(field->expected.kind == MISHAP_KIND_TEXT ? "?" : "."));
        return true;
    }
    return false;
}

static void put_bounds(mishap_buffer *b, const mishap_field *field)
{
    bool length = mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("invalid_length"));
    bool low = field->min.kind != MISHAP_KIND_NONE, high = field->max.kind != MISHAP_KIND_NONE;
    bool exact = length && low && high && field->min.kind == field->max.kind &&
                 field->min.natural == field->max.natural;
    mishap_buffer_put_text(b, mishap_text_of(length ? " must have" : " must be"));
    if (low)
        put_plain(b, exact ? " exactly " : " at least ", &field->min);
    if (high && !exact)
        put_plain(b, low ? " and at most " : " at most ", &field->max);
    if (length)
        MISHAP_PUT(b, " characters");
}

/* What is missing, and of which type it would be: "name is required (string)." */
static void put_missing(mishap_buffer *b, const mishap_field *field)
{
    MISHAP_PUT(b, " is required");
    if (field->expected.kind == MISHAP_KIND_TEXT) {
        put_plain(b, " (", &field->expected);
        MISHAP_PUT(b, ")");
    }
    MISHAP_PUT(b, ".");
}

static bool is_text(const mishap_value *value, const char *word)
{
    return value->kind == MISHAP_KIND_TEXT && mishap_text_equal(value->text, mishap_text_of(word));
}

/* True of one word, such as "string", and of "string or integer"; not of "valid JSON". */
static bool names_type(const mishap_value *value)
{
    mishap_text text = value->kind == MISHAP_KIND_TEXT ? value->text : (mishap_text){ 0 };
    return text.length && (!memchr(text.data, ' ', text.length) ||
                           memmem(text.data, text.length, " or ", sizeof " or " - 1));
}

/* "an integer", "a string", "null" */
static void put_type(mishap_buffer *b, const char *before, const mishap_value *type)
{
    bool vowel = is_text(type, "integer") || is_text(type, "array") || is_text(type, "object");
    mishap_buffer_put_text(b, mishap_text_of(before));
    put_plain(b, is_text(type, "null") ? "" : vowel ? "an " : "a ", type);
}

/* "id must be a string, not an integer." */
static void put_types(mishap_buffer *b, const mishap_field *field)
{
    if (is_text(&field->expected, "boolean"))
        MISHAP_PUT(b, " must be true or false");
    else
        put_type(b, " must be ", &field->expected);
    if (field->actual.kind != MISHAP_KIND_NONE)
        put_type(b, ", not ", &field->actual);
    MISHAP_PUT(b, ".");
}

void mishap_put_field_sentence(mishap_buffer *b, const mishap_field *field)
{
    if (field->message.length) {
        mishap_buffer_put_text(b, field->message);
        return;
    }
    mishap_buffer_put_text(b, field->field);
    if (is_missing(field)) {
        put_missing(b, field);
        return;
    }
    if (put_phrase(b, field))
        return;
    if (mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("invalid_type")) &&
        names_type(&field->expected)) {
        put_types(b, field);
        return;
    }
    if (field->min.kind != MISHAP_KIND_NONE || field->max.kind != MISHAP_KIND_NONE) {
        put_bounds(b, field);
    } else if (put_choices(b, &field->expected)) {
    } else if (field->expected.kind != MISHAP_KIND_NONE) {
        bool pattern = mishap_text_equal(field->error,
                                         (mishap_text)MISHAP_TEXT("pattern_mismatch"));
        bool choice = mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("invalid_choice"));
        bool format = mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("invalid_format"));
        put_plain(b,
                  pattern  ? " must match "
                  : choice ? " must be one of "
                  : format ? " must look like "
                           : " must be: ",
                  &field->expected);
    } else {
        MISHAP_PUT(b, " is not valid: ");
        mishap_buffer_put_text(b, field->error);
    }
    if (field->actual.kind != MISHAP_KIND_NONE)
        put_plain(b, ", not ", &field->actual);
    MISHAP_PUT(b, ".");
}

/* -- reading ----------------------------------------------------------------------------------- */

/* A value as one that can be told. What is no scalar is written into `scratch`, which is empty; the
 * result points there. */
static void value_of(yyjson_val *value, mishap_value *to, mishap_buffer *scratch)
{
    if (!value) {
        to->kind = MISHAP_KIND_NONE;
    } else if (!yyjson_is_ctn(value) && !yyjson_is_raw(value)) {
        *to = mishap_json_scalar(value);
    } else {
        mishap_json_copy(scratch, value);
        *to = (mishap_value){ .kind = MISHAP_KIND_JSON, .text = mishap_buffer_text(scratch) };
    }
}

void mishap_read_member(mishap *m, mishap_text key, yyjson_val *value)
{
    mishap_buffer scratch = { 0 };
    mishap_value told;
    value_of(value, &told, &scratch);
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
    MISHAP_JSON_MEMBERS (object, index, count, key, value)
        mishap_read_member(m, mishap_json_text(key), value);
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

/* Add the field, with its message if that says anything of its own. */
static void add_field(mishap *m, mishap_field *field, yyjson_val *message)
{
    char storage[256];
    mishap_buffer sentence;
    if (yyjson_is_str(message)) {
        mishap_buffer_init(&sentence, storage, sizeof storage);
        mishap_put_field_sentence(&sentence, field);
        if (sentence.failed)
            mishap_restore_failed(m);
        else if (!mishap_text_equal(mishap_buffer_text(&sentence), mishap_json_text(message)))
            field->message = mishap_json_text(message);
        mishap_buffer_release(&sentence);
    }
    mishap_field_add(m, field);
}

/* With values of any type: those that are no scalars need room to be written. */
static void read_field_with_json(mishap *m, mishap_field *field, const mishap_field_parts *parts)
{
    yyjson_val *const values[4] = { parts->expected, parts->actual, parts->min, parts->max };
    mishap_value *to[4] = { &field->expected, &field->actual, &field->min, &field->max };
    mishap_buffer scratch[4] = { { 0 } };
    bool failed = false;
    for (int i = 0; i < 4; i++) {
        value_of(values[i], to[i], &scratch[i]);
        failed = failed || scratch[i].failed;
    }
    if (failed)
        mishap_restore_failed(m);
    else
        add_field(m, field, parts->message);
    for (int i = 0; i < 4; i++)
        mishap_buffer_release(&scratch[i]);
}

static bool is_scalar(yyjson_val *value)
{
    return !yyjson_is_ctn(value) && !yyjson_is_raw(value);
}

void mishap_read_field(mishap *m, const mishap_field_parts *parts)
{
    mishap_field field = { .field = parts->field, .error = parts->error };
    if (!is_scalar(parts->expected) || !is_scalar(parts->actual) || !is_scalar(parts->min) ||
        !is_scalar(parts->max)) {
        read_field_with_json(m, &field, parts);
        return;
    }
    field.expected = mishap_json_scalar(parts->expected);
    field.actual = mishap_json_scalar(parts->actual);
    field.min = mishap_json_scalar(parts->min);
    field.max = mishap_json_scalar(parts->max);
    if (!parts->min && !parts->max && yyjson_is_str(parts->expected) &&
        (mishap_text_equal(field.error, (mishap_text)MISHAP_TEXT("value_out_of_range")) ||
         mishap_text_equal(field.error, (mishap_text)MISHAP_TEXT("invalid_length"))) &&
        read_range(mishap_json_text(parts->expected), &field.min, &field.max))
        field.expected = mishap_value_none();
    add_field(m, &field, parts->message);
}

void mishap_read_fields(mishap *m, yyjson_val *array)
{
    size_t index, count, member, members;
    yyjson_val *item, *key, *value;
    MISHAP_JSON_ITEMS (array, index, count, item) {
        yyjson_val *field = NULL, *error = NULL;
        mishap_field_parts parts = { 0 };
        MISHAP_JSON_MEMBERS (item, member, members, key, value) {
            /* By length first, since there may be very many of them. */
            switch (unsafe_yyjson_get_len(key)) {
            case 3:
                parts.min = MISHAP_JSON_IS(key, "min") ? value : parts.min;
                parts.max = MISHAP_JSON_IS(key, "max") ? value : parts.max;
                break;
            case 5:
                field = MISHAP_JSON_IS(key, "field") ? value : field;
                error = MISHAP_JSON_IS(key, "error") ? value : error;
                break;
            case 6:
                parts.actual = MISHAP_JSON_IS(key, "actual") ? value : parts.actual;
                break;
            case 7:
                parts.message = MISHAP_JSON_IS(key, "message") ? value : parts.message;
                break;
            case 8:
                parts.expected = MISHAP_JSON_IS(key, "expected") ? value : parts.expected;
                break;
            }
        }
        if (!yyjson_is_str(field) || !yyjson_is_str(error))
            continue;
        parts.field = mishap_json_text(field);
        parts.error = mishap_json_text(error);
        mishap_read_field(m, &parts);
    }
}

static void read_part_at(mishap *m, mishap_part part, yyjson_val *value)
{
    if (yyjson_is_str(value))
        mishap_restore_part(m, part, mishap_json_text(value));
}

void mishap_read_part(mishap *m, mishap_part part, yyjson_val *object, const char *key)
{
    read_part_at(m, part, yyjson_obj_get(object, key));
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

/* The members that mishap_read_kind() reads. */
enum { CATEGORY, RETRYABLE, RETRY_AFTER_MS, CAUSE, SUGGESTION, DOCS_URL, INCIDENT, KIND_MEMBERS };

/* All of them in one pass: seven searches would take longer than all else that reads a document. */
static void find_kind(yyjson_val *object, yyjson_val *found[KIND_MEMBERS])
{
    static const mishap_text names[KIND_MEMBERS] = {
        MISHAP_TEXT("category"), MISHAP_TEXT("retryable"),  MISHAP_TEXT("retry_after_ms"),
        MISHAP_TEXT("cause"),    MISHAP_TEXT("suggestion"), MISHAP_TEXT("docs_url"),
        MISHAP_TEXT("incident"),
    };
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        for (size_t i = 0; i < KIND_MEMBERS && name.length; i++)
            if (names[i].length == name.length && names[i].data[0] == name.data[0] && !found[i] &&
                mishap_text_equal(names[i], name))
                found[i] = value;
    }
}

void mishap_read_kind(mishap *m, yyjson_val *object)
{
    yyjson_val *found[KIND_MEMBERS] = { NULL };
    find_kind(object, found);
    mishap_read_category(m, found[CATEGORY]);
    mishap_read_retry(m, found[RETRYABLE], found[RETRY_AFTER_MS]);
    read_part_at(m, MISHAP_PART_CAUSE, found[CAUSE]);
    read_part_at(m, MISHAP_PART_SUGGESTION, found[SUGGESTION]);
    read_part_at(m, MISHAP_PART_DOCS_URL, found[DOCS_URL]);
    read_part_at(m, MISHAP_PART_INCIDENT, found[INCIDENT]);
}

static void read_subject(mishap *m, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *frame, *backtrace = yyjson_obj_get(object, "backtrace");
    mishap_read_part(m, MISHAP_PART_TYPE, object, "type");
    mishap_read_part(m, MISHAP_PART_OUTPUT, object, "stdout");
    MISHAP_JSON_ITEMS (backtrace, index, count, frame) {
        if (yyjson_is_str(frame))
            mishap_frame_add(m, mishap_json_text(frame));
    }
}

void mishap_read_canonical(mishap *m, yyjson_val *object, unsigned with)
{
    mishap_read_kind(m, object);
    mishap_read_context(m, yyjson_obj_get(object, "context"));
    mishap_read_fields(m, yyjson_obj_get(object, "fields"));
    if (with & MISHAP_WITH_SUBJECT)
        read_subject(m, object);
}
