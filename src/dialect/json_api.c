/*
 * json-api: the errors of JSON:API 1.1.
 *
 *     {"errors":[
 *      {"status":"422","code":"VALIDATION_ERROR","title":"Validation error","detail":"…"},
 *      {"status":"422","code":"FIELD_REQUIRED","title":"Field required",
 *       "detail":"name is required.","source":{"pointer":"/name"}}]}
 *
 * The first error is the mishap, each one after it a field error, with the field as a JSON pointer.
 * `meta` is the open place: of the mishap it holds what is not implied by the code, of a field its
 * bounds.
 */
#include "dialect/carried.h"
#include "dialect/implied.h"
#include "dialect/json_api.h"
#include "guard/guard.h"

/* -- fields as pointers ------------------------------------------------------------------------ */

/* How long the index is that stands here: digits without a zero in front. 0 if there is none. */
static size_t index_length(const char *at, const char *end)
{
    const char *digit = at;
    while (digit < end && *digit >= '0' && *digit <= '9')
        digit++;
    return *at == '0' && digit > at + 1 ? 0 : (size_t)(digit - at);
}

/* How long the [2] is that stands here as a step of its own, 0 if it is none. */
static size_t bracket_length(const char *at, const char *end)
{
    if (end - at < 3 || *at != '[')
        return 0;
    size_t digits = index_length(at + 1, end);
    const char *close = at + 1 + digits;
    if (digits == 0 || close == end || *close != ']')
        return 0;
    return close + 1 == end || close[1] == '.' || close[1] == '[' ? digits + 2 : 0;
}

/* items[2].name as /items/2/name, or as one step. */
static void put_pointer(mishap_buffer *b, mishap_text field, bool one_step)
{
    const char *at = field.data, *end = field.data + field.length;
    if (field.length == 0 || one_step || !bracket_length(at, end))
        mishap_buffer_put_char(b, '/');
    while (at < end) {
        size_t bracket = one_step ? 0 : bracket_length(at, end);
        if (bracket) {
            mishap_buffer_put_char(b, '/');
            mishap_buffer_put(b, at + 1, bracket - 2);
            at += bracket;
            continue;
        }
        if (*at == '.' && !one_step)
            mishap_buffer_put_char(b, '/');
        else if (*at == '~')
            MISHAP_PUT(b, "~0");
        else if (*at == '/')
            MISHAP_PUT(b, "~1");
        else
            mishap_buffer_put_char(b, *at);
        at++;
    }
}

/* /items/2/name as items[2].name. What does not start with a slash is no pointer: it is kept. */
static void put_field_name(mishap_buffer *b, mishap_text pointer)
{
    const char *at = pointer.data, *end = pointer.data + pointer.length;
    if (pointer.length == 0 || *at != '/') {
        mishap_buffer_put_text(b, pointer);
        return;
    }
    while (at < end) {
        const char *step = at + 1, *step_end = memchr(step, '/', (size_t)(end - step));
        if (!step_end)
            step_end = end;
        bool index = step < step_end && index_length(step, step_end) == (size_t)(step_end - step);
        if (index)
            mishap_buffer_put_char(b, '[');
        else if (at > pointer.data)
            mishap_buffer_put_char(b, '.');
        for (at = step; at < step_end; at++) {
            bool escape = *at == '~' && at + 1 < step_end && (at[1] == '0' || at[1] == '1');
            mishap_buffer_put_char(b, !escape ? *at : at[1] == '0' ? '~' : '/');
            at += escape;
        }
        if (index)
            mishap_buffer_put_char(b, ']');
    }
}

/* -- writing ----------------------------------------------------------------------------------- */

/* A member, left out where there is no value. */
static void put_value(mishap_buffer *b, const char *key, const mishap_value *value)
{
    if (value->kind == MISHAP_KIND_NONE)
        return;
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_value(b, value);
}

static void put_status(mishap_buffer *b, const mishap_code *code)
{
    MISHAP_JSON_KEY(b, "status");
    mishap_buffer_put_char(b, '"');
    mishap_buffer_put_int(b, code->http_status);
    mishap_buffer_put_char(b, '"');
}

/* `meta` is left out if nothing was written into it: `start` is where its key begins. */
static void close_meta(mishap_buffer *b, size_t start)
{
    if (b->length && b->data[b->length - 1] == '{')
        b->length = start;
    else
        mishap_json_close(b, '}');
}

static void put_meta(mishap_buffer *b, const mishap_public *told)
{
    size_t start = b->length;
    MISHAP_JSON_KEY(b, "meta");
    mishap_json_open(b, '{');
    mishap_put_kind(b, told, told->category != mishap_implied(told->code)->category,
                    mishap_retry_not_implied(told));
    MISHAP_JSON_TEXT_MEMBER(b, "suggestion", told->suggestion);
    if (told->context) {
        MISHAP_JSON_KEY(b, "context");
        mishap_put_context(b, told);
    }
    close_meta(b, start);
}

static void put_mishap(mishap_buffer *b, const mishap_public *told)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_TEXT_MEMBER(b, "id", told->incident);
    if (told->docs_url.length) {
        MISHAP_JSON_KEY(b, "links");
        mishap_json_open(b, '{');
        MISHAP_JSON_TEXT_MEMBER(b, "about", told->docs_url);
        mishap_json_close(b, '}');
    }
    put_status(b, told->code);
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->name);
    MISHAP_JSON_KEY(b, "title");
    mishap_json_string(b, told->code->title);
    MISHAP_JSON_KEY(b, "detail");
    mishap_json_string(b, mishap_public_message(told));
    put_meta(b, told);
    mishap_json_close(b, '}');
}

/* VALUE_OUT_OF_RANGE and "Value out of range". */
static void put_field_code(mishap_buffer *b, char *name)
{
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, mishap_text_of(name));
    for (char *c = name; *c; c++)
        *c = (char)(*c == '_' ? ' ' : c > name && *c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    MISHAP_JSON_KEY(b, "title");
    mishap_json_string(b, mishap_text_of(name));
}

/* Dots that become slashes may give the look of an address with a password in it: then they stay.
 */
static void put_field_pointer(mishap_buffer *b, mishap_text field)
{
    size_t start;
    put_pointer(b, field, false);
    if (mishap_guard_find_password(mishap_buffer_text(b), 0, &start)) {
        mishap_buffer_reset(b);
        put_pointer(b, field, true);
    }
}

/* What the error could not be named by, and the bounds. */
static void put_field_meta(mishap_buffer *b, const mishap_field *field, bool located, bool named)
{
    size_t start = b->length;
    MISHAP_JSON_KEY(b, "meta");
    mishap_json_open(b, '{');
    if (!located)
        MISHAP_JSON_TEXT_MEMBER(b, "field", field->field);
    if (!named)
        MISHAP_JSON_TEXT_MEMBER(b, "error", field->error);
    put_value(b, "expected", &field->expected);
    put_value(b, "min", &field->min);
    put_value(b, "max", &field->max);
    put_value(b, "actual", &field->actual);
    close_meta(b, start);
}

static void put_field(mishap_buffer *b, const mishap_public *told, const mishap_field *field)
{
    char storage[3][256], name[100];
    mishap_buffer sentence, pointer, back;
    mishap_buffer_init(&sentence, storage[0], sizeof storage[0]);
    mishap_buffer_init(&pointer, storage[1], sizeof storage[1]);
    mishap_buffer_init(&back, storage[2], sizeof storage[2]);
    mishap_put_field_sentence(&sentence, field);
    put_field_pointer(&pointer, field->field);
    put_field_name(&back, mishap_buffer_text(&pointer));
    bool located = mishap_text_equal(mishap_buffer_text(&back), field->field);
    bool named = mishap_field_error_upper(field->error, name, sizeof name);
    b->failed = b->failed || sentence.failed || pointer.failed || back.failed;

    mishap_json_open(b, '{');
    put_status(b, told->code);
    if (named)
        put_field_code(b, name);
    MISHAP_JSON_KEY(b, "detail");
    mishap_json_string(b, mishap_buffer_text(&sentence));
    MISHAP_JSON_KEY(b, "source");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "pointer");
    mishap_json_string(b, mishap_buffer_text(&pointer));
    mishap_json_close(b, '}');
    put_field_meta(b, field, located, named);
    mishap_json_close(b, '}');

    mishap_buffer_release(&sentence);
    mishap_buffer_release(&pointer);
    mishap_buffer_release(&back);
}

static void render_json_api(const mishap_public *told, mishap_buffer *b)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "errors");
    mishap_json_open(b, '[');
    put_mishap(b, told);
    for (const mishap_field *field = told->fields; field; field = field->next)
        put_field(b, told, field);
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
}

/* -- reading ----------------------------------------------------------------------------------- */

int mishap_json_api_status(yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    if (!yyjson_is_str(value) || text.length != 3 || !(text.data[0] == '4' || text.data[0] == '5'))
        return 0;
    for (size_t i = 1; i < 3; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
    return (text.data[0] - '0') * 100 + (text.data[1] - '0') * 10 + (text.data[2] - '0');
}

yyjson_val *mishap_json_api_place(yyjson_val *error)
{
    static const char *const keys[] = { "pointer", "parameter", "header" };
    yyjson_val *source = yyjson_obj_get(error, "source");
    for (size_t i = 0; i < 3; i++)
        if (yyjson_is_str(yyjson_obj_get(source, keys[i])))
            return yyjson_obj_get(source, keys[i]);
    return NULL;
}

/* True if all of them are about fields of the input, with no word on the whole. */
static bool only_fields(yyjson_val *errors)
{
    size_t index, count;
    yyjson_val *error;
    MISHAP_JSON_ITEMS (errors, index, count, error) {
        yyjson_val *status = yyjson_obj_get(error, "status");
        if (!mishap_json_api_place(error) || (status && mishap_json_api_status(status) != 400 &&
                                              mishap_json_api_status(status) != 422))
            return false;
    }
    return true;
}

static void read_meta(mishap *m, yyjson_val *meta)
{
    static const mishap_known known[] = {
        MISHAP_KNOWN_KIND,
    };
    yyjson_val *retryable = yyjson_obj_get(meta, "retryable");
    yyjson_val *advice = yyjson_obj_get(meta, "retry_after_ms");
    bool stated = yyjson_is_true(retryable);
    mishap_read_category(m, yyjson_obj_get(meta, "category"));
    mishap_restore_retry(m, yyjson_is_bool(retryable) ? &stated : NULL,
                         yyjson_is_int(advice) ? yyjson_get_sint(advice) : -1);
    mishap_read_part(m, MISHAP_PART_CAUSE, meta, "cause");
    mishap_read_part(m, MISHAP_PART_SUGGESTION, meta, "suggestion");
    mishap_read_others(m, meta, known, MISHAP_KNOWN_COUNT(known));
}

/* The mishap itself, from the first error. */
static mishap *read_mishap(yyjson_val *error)
{
    yyjson_val *code = yyjson_obj_get(error, "code"), *meta = yyjson_obj_get(error, "meta");
    yyjson_val *detail = yyjson_obj_get(error, "detail"), *source = yyjson_obj_get(error, "source");
    int status = mishap_json_api_status(yyjson_obj_get(error, "status"));
    const mishap_code *row = mishap_implied_by_status(status);
    mishap_text name = mishap_json_text(code);
    mishap *m = mishap_restore(MISHAP_SPELLING_NAME, name, row->category, status, row);
    if (!yyjson_is_str(detail) || mishap_blank(mishap_json_text(detail)))
        detail = yyjson_obj_get(error, "title");
    if (yyjson_is_str(detail))
        mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(detail));
    read_meta(m, meta);
    if (yyjson_is_obj(source) && !meta)
        mishap_read_member(m, (mishap_text)MISHAP_TEXT("source"), source);
    return m;
}

static void read_field(mishap *m, yyjson_val *error)
{
    char storage[256];
    mishap_buffer name;
    yyjson_val *place = mishap_json_api_place(error), *meta = yyjson_obj_get(error, "meta");
    yyjson_val *field = yyjson_obj_get(meta, "field"), *detail = yyjson_obj_get(error, "detail");
    if (!place)
        return;
    mishap_buffer_init(&name, storage, sizeof storage);
    if (yyjson_is_str(field))
        mishap_buffer_put_text(&name, mishap_json_text(field));
    else if (place == yyjson_obj_get(yyjson_obj_get(error, "source"), "pointer"))
        put_field_name(&name, mishap_json_text(place));
    else
        mishap_buffer_put_text(&name, mishap_json_text(place));
    if (name.failed)
        mishap_restore_failed(m);
    else
        mishap_read_told_field(m,
                               &(mishap_told_field){
                                   .field = mishap_buffer_text(&name),
                                   .error = yyjson_obj_get(meta, "error"),
                                   .name = yyjson_obj_get(error, "code"),
                                   .description = detail ? detail : yyjson_obj_get(error, "title"),
                                   .expected = yyjson_obj_get(meta, "expected"),
                                   .actual = yyjson_obj_get(meta, "actual"),
                                   .min = yyjson_obj_get(meta, "min"),
                                   .max = yyjson_obj_get(meta, "max"),
                               });
    mishap_buffer_release(&name);
}

/* A link is an address, or an object with one. */
static void read_link(mishap *m, yyjson_val *links)
{
    yyjson_val *about = yyjson_obj_get(links, "about");
    mishap_read_part(m, MISHAP_PART_DOCS_URL, yyjson_is_obj(about) ? about : links,
                     yyjson_is_obj(about) ? "href" : "about");
}

static mishap *read_json_api(const mishap_source *source, mishap **out)
{
    size_t index, count;
    yyjson_val *root = source->root, *errors = yyjson_obj_get(root, "errors"), *error;
    yyjson_val *first = yyjson_arr_get_first(errors);
    if (!yyjson_is_arr(errors))
        return mishap_refuse(source, errors ? errors : root,
                             "The member `errors` is missing or is not an array.");
    if (!yyjson_is_obj(first) || yyjson_obj_size(first) == 0)
        return mishap_refuse(source, first ? first : errors, "The array `errors` is empty.");
    bool whole = !only_fields(errors);
    mishap *m = whole ? read_mishap(first) : mishap_restore_code(MISHAP_CODE_VALIDATION_ERROR);
    mishap_read_part(m, MISHAP_PART_INCIDENT, first, "id");
    read_link(m, yyjson_obj_get(first, "links"));
    MISHAP_JSON_ITEMS (errors, index, count, error) {
        if (index || !whole)
            read_field(m, error);
    }
    return mishap_finish(m, out);
}

const mishap_dialect mishap_json_api = {
    .name = "json-api",
    .media_type = "application/vnd.api+json",
    .last_words = MISHAP_TEXT(
        "{\"errors\":[{\"status\":\"500\",\"code\":\"INTERNAL_ERROR\",\"title\":\"Internal error\","
        "\"detail\":\"An internal error occurred.\"}]}"),
    .render = render_json_api,
    .read = read_json_api,
    .check = mishap_json_api_check,
};
