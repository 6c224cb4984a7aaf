/*
 * google-rpc: google.rpc.Status in the JSON form of AIP-193.
 *
 *     {"error":{"code":404,"message":"Todo not found","status":"NOT_FOUND","details":[
 *      {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"NOT_FOUND","domain":"mishap",
 *       "metadata":{"id":"7"}}]}}
 *
 * The code is the `reason` of the ErrorInfo, field errors are a BadRequest, retry advice is a
 * RetryInfo, a documentation address is a Help, the incident is a RequestInfo. All else is
 * `metadata`, which holds strings under names of a narrow form: each part of the context as a
 * string, and under reserved names what the standard details have no place for.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dialect/google_rpc.h"
#include "dialect/implied.h"
#include "guard/guard.h"

/* -- writing ----------------------------------------------------------------------------------- */

static void open_detail(mishap_buffer *b, enum mishap_google_detail detail)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "@type");
    mishap_json_string(b, mishap_google_detail_types[detail]);
}

/* JSON as a string. A line feed that ended an address is two harmless letters in there, so what
 * stands behind it may look like a part of the address, and is redacted like one. */
static void put_json_string(mishap_buffer *b, const mishap_buffer *json)
{
    mishap_arena scratch;
    mishap_arena_init(&scratch, NULL, 0);
    mishap_text text = json->failed ? (mishap_text){ NULL, 0 }
                                    : mishap_guard_redact(&scratch, mishap_buffer_text(json));
    if (text.data)
        mishap_json_string(b, text);
    else
        b->failed = true;
    mishap_arena_release(&scratch);
}

static void put_value_as_json_string(mishap_buffer *b, const mishap_value *value)
{
    char storage[256];
    mishap_buffer json;
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_json_bare(&json, value);
    put_json_string(b, &json);
    mishap_buffer_release(&json);
}

/* Text as it is, anything else as JSON. What becomes text by that under a secret's name is one. */
static void put_context(mishap_buffer *b, const mishap_public *told)
{
    bool others = false;
    for (const mishap_member *member = told->context; member; member = member->next) {
        if (!mishap_google_stands_alone(member->key)) {
            others = true;
            continue;
        }
        mishap_json_key(b, member->key);
        if (member->value.kind == MISHAP_KIND_TEXT)
            mishap_json_string(b, member->value.text);
        else if (mishap_guard_secret_name(member->key))
            mishap_json_string(b, mishap_guard_redacted);
        else
            put_value_as_json_string(b, &member->value);
    }
    if (!others)
        return;
    mishap_buffer json;
    mishap_buffer_init(&json, NULL, 0);
    mishap_json_open(&json, '{');
    for (const mishap_member *member = told->context; member; member = member->next) {
        if (!mishap_google_stands_alone(member->key)) {
            mishap_json_key(&json, member->key);
            mishap_json_value(&json, &member->value);
        }
    }
    mishap_json_close(&json, '}');
    MISHAP_JSON_KEY(b, "context");
    put_json_string(b, &json);
    mishap_buffer_release(&json);
}

/* The reason of a field error; false if its name cannot be one. */
static bool field_reason(const mishap_field *field, char *reason, size_t size)
{
    return mishap_field_error_upper(field->error, reason, size) &&
           mishap_google_reason_valid(mishap_text_of(reason));
}

static void put_bounds(mishap_buffer *b, const mishap_field *field, size_t index)
{
    char key[64], reason[64];
    mishap_value error = mishap_value_of_text(field->error);
    const mishap_value *values[BOUNDS] = {
        [BOUND_EXPECTED] = &field->expected,
        [BOUND_MIN] = &field->min,
        [BOUND_MAX] = &field->max,
        [BOUND_ACTUAL] = &field->actual,
    };
    if (!field_reason(field, reason, sizeof reason))
        values[BOUND_ERROR] = &error;
    for (int i = 0; i < BOUNDS; i++) {
        if (!values[i] || values[i]->kind == MISHAP_KIND_NONE)
            continue;
        snprintf(key, sizeof key, "fields-%zu-%s", index, mishap_google_bound_names[i].data);
        mishap_json_key(b, mishap_text_of(key));
        put_value_as_json_string(b, values[i]);
    }
}

static void put_metadata(mishap_buffer *b, const mishap_public *told)
{
    size_t index = 0;
    put_context(b, told);
    if (!mishap_google_reason_valid(told->code->name)) {
        MISHAP_JSON_KEY(b, "code");
        mishap_json_string(b, told->code->name);
    }
    if (told->category != mishap_implied(told->code)->category) {
        MISHAP_JSON_KEY(b, "category");
        mishap_json_string(b, mishap_text_of(mishap_category_name(told->category)));
    }
    if (mishap_retry_not_implied(told)) {
        MISHAP_JSON_KEY(b, "retryable");
        mishap_json_string(b, mishap_text_of(told->retryable ? "true" : "false"));
    }
    MISHAP_JSON_TEXT_MEMBER(b, "cause", told->cause);
    MISHAP_JSON_TEXT_MEMBER(b, "suggestion", told->suggestion);
    for (const mishap_field *field = told->fields; field; field = field->next)
        put_bounds(b, field, index++);
}

static void put_error_info(mishap_buffer *b, const mishap_public *told)
{
    bool spelled = mishap_google_reason_valid(told->code->name);
    open_detail(b, ERROR_INFO);
    MISHAP_JSON_KEY(b, "reason");
    mishap_json_string(b, spelled ? told->code->name : mishap_google_status_of(told->code));
    MISHAP_JSON_KEY(b, "domain");
    mishap_json_string(b, mishap_google_domain);
    size_t start = b->length;
    MISHAP_JSON_KEY(b, "metadata");
    mishap_json_open(b, '{');
    size_t empty = b->length;
    put_metadata(b, told);
    if (b->length == empty)
        b->length = start;
    else
        mishap_json_close(b, '}');
    mishap_json_close(b, '}');
}

static void put_violation(mishap_buffer *b, const mishap_field *field)
{
    char storage[256], reason[64];
    mishap_buffer sentence;
    mishap_buffer_init(&sentence, storage, sizeof storage);
    mishap_put_field_sentence(&sentence, field);
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "field");
    mishap_json_string(b, field->field);
    MISHAP_JSON_KEY(b, "description");
    mishap_json_string(b, mishap_buffer_text(&sentence));
    b->failed = b->failed || sentence.failed;
    if (field_reason(field, reason, sizeof reason)) {
        MISHAP_JSON_KEY(b, "reason");
        mishap_json_string(b, mishap_text_of(reason));
    }
    mishap_json_close(b, '}');
    mishap_buffer_release(&sentence);
}

static void put_bad_request(mishap_buffer *b, const mishap_public *told)
{
    open_detail(b, BAD_REQUEST);
    MISHAP_JSON_KEY(b, "fieldViolations");
    mishap_json_open(b, '[');
    for (const mishap_field *field = told->fields; field; field = field->next)
        put_violation(b, field);
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
}

static void put_retry_info(mishap_buffer *b, int64_t milliseconds)
{
    char delay[40];
    int64_t seconds = milliseconds / 1000, rest = milliseconds % 1000;
    if (seconds >= MISHAP_GOOGLE_LONGEST_DELAY)
        snprintf(delay, sizeof delay, "%" PRId64 "s", MISHAP_GOOGLE_LONGEST_DELAY);
    else if (rest)
        snprintf(delay, sizeof delay, "%" PRId64 ".%03" PRId64 "s", seconds, rest);
    else
        snprintf(delay, sizeof delay, "%" PRId64 "s", seconds);
    open_detail(b, RETRY_INFO);
    MISHAP_JSON_KEY(b, "retryDelay");
    mishap_json_string(b, mishap_text_of(delay));
    mishap_json_close(b, '}');
}

static void put_help(mishap_buffer *b, mishap_text url)
{
    open_detail(b, HELP);
    MISHAP_JSON_KEY(b, "links");
    mishap_json_open(b, '[');
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "description");
    MISHAP_PUT(b, "\"Documentation on this error\"");
    MISHAP_JSON_KEY(b, "url");
    mishap_json_string(b, url);
    mishap_json_close(b, '}');
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
}

static void put_request_info(mishap_buffer *b, mishap_text id)
{
    open_detail(b, REQUEST_INFO);
    MISHAP_JSON_KEY(b, "requestId");
    mishap_json_string(b, id);
    mishap_json_close(b, '}');
}

static void render_google_rpc(const mishap_public *told, mishap_buffer *b)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "error");
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "code");
    mishap_json_int(b, told->code->http_status);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_public_message(told));
    MISHAP_JSON_KEY(b, "status");
    mishap_json_string(b, mishap_google_status_of(told->code));
    MISHAP_JSON_KEY(b, "details");
    mishap_json_open(b, '[');
    put_error_info(b, told);
    if (told->fields)
        put_bad_request(b, told);
    if (told->retry_after_ms >= 0)
        put_retry_info(b, told->retry_after_ms);
    if (told->docs_url.length)
        put_help(b, told->docs_url);
    if (told->incident.length)
        put_request_info(b, told->incident);
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The value of a string that should be JSON; the string itself if it is not. */
static yyjson_val *typed(mishap *m, mishap_json_reader *reader, yyjson_val *string)
{
    mishap_json_flaw flaw;
    if (!yyjson_is_str(string))
        return string;
    yyjson_val *value = mishap_google_json_inside(reader, string, &flaw);
    if (flaw == MISHAP_JSON_NO_MEMORY)
        mishap_restore_failed(m);
    return value ? value : string;
}

/* What could not stand alone. What could have is left alone, so that no name is told twice. */
static void read_other_context(mishap *m, yyjson_val *metadata, yyjson_val *string)
{
    enum {
        MOST_NAMES = 1000
    }; /* beside which a context is looked at: each name is looked up among them */
    size_t index, count;
    yyjson_val *key, *value;
    mishap_json_reader reader = MISHAP_JSON_READER;
    yyjson_val *object = yyjson_obj_size(metadata) > MOST_NAMES ? NULL : typed(m, &reader, string);
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        bool told = !mishap_google_reserved(name) &&
                    yyjson_obj_getn(metadata, name.data, name.length);
        if (!mishap_google_stands_alone(name) && !told)
            mishap_read_member(m, name, value);
    }
    mishap_json_reader_release(&reader);
}

static void read_metadata(mishap *m, yyjson_val *info)
{
    size_t index, count;
    yyjson_val *key, *value, *own = mishap_google_own_metadata(info);
    yyjson_val *metadata = yyjson_obj_get(info, "metadata");
    yyjson_val *domain = yyjson_obj_get(info, "domain");
    MISHAP_JSON_MEMBERS (metadata, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        if (!own || !mishap_google_reserved(name))
            mishap_read_member(m, name, value);
    }
    if (own) {
        read_other_context(m, own, yyjson_obj_get(own, "context"));
        mishap_read_category(m, yyjson_obj_get(own, "category"));
        mishap_read_part(m, MISHAP_PART_CAUSE, own, "cause");
        mishap_read_part(m, MISHAP_PART_SUGGESTION, own, "suggestion");
    } else if (yyjson_is_str(domain) &&
               !mishap_text_equal(mishap_json_text(domain), mishap_google_domain) &&
               !yyjson_obj_get(metadata, "domain")) {
        /* The reason of another domain means little without the name of that domain. */
        mishap_read_member(m, (mishap_text)MISHAP_TEXT("domain"), domain);
    }
}

static void read_retry(mishap *m, yyjson_val *metadata, yyjson_val *retry_info)
{
    int64_t milliseconds;
    yyjson_val *retryable = yyjson_obj_get(metadata, "retryable");
    bool stated = yyjson_equals_str(retryable, "true");
    bool denied = yyjson_equals_str(retryable, "false");
    if (!mishap_google_read_delay(mishap_json_text(yyjson_obj_get(retry_info, "retryDelay")),
                                  &milliseconds))
        milliseconds = -1;
    mishap_restore_retry(m, stated || denied ? &stated : NULL, milliseconds);
}

static void read_violation(mishap *m, yyjson_val *violation, yyjson_val *const bounds[BOUNDS])
{
    mishap_json_reader readers[BOUNDS] = { MISHAP_JSON_READER };
    yyjson_val *field = yyjson_obj_get(violation, "field"), *values[BOUNDS];
    if (!yyjson_is_str(field))
        return;
    for (int i = 0; i < BOUNDS; i++)
        values[i] = typed(m, &readers[i], bounds[i]);
    mishap_read_told_field(m, &(mishap_told_field){
                                  .field = mishap_json_text(field),
                                  .error = values[BOUND_ERROR],
                                  .name = yyjson_obj_get(violation, "reason"),
                                  .description = yyjson_obj_get(violation, "description"),
                                  .expected = values[BOUND_EXPECTED],
                                  .actual = values[BOUND_ACTUAL],
                                  .min = values[BOUND_MIN],
                                  .max = values[BOUND_MAX],
                              });
    for (int i = 0; i < BOUNDS; i++)
        mishap_json_reader_release(&readers[i]);
}

/* The bounds are sorted to their fields in one pass over the metadata, however many there are. */
static void read_violations(mishap *m, yyjson_val *violations, yyjson_val *metadata)
{
    size_t index, count, field, total = yyjson_arr_size(violations);
    yyjson_val *key, *value, *violation, *(*bounds)[BOUNDS];
    enum mishap_google_bound bound;
    if (total == 0)
        return;
    bounds = mishap_allocate(total * sizeof *bounds);
    if (!bounds) {
        mishap_restore_failed(m);
        return;
    }
    memset(bounds, 0, total * sizeof *bounds);
    MISHAP_JSON_MEMBERS (metadata, index, count, key, value) {
        if (mishap_google_bound_key(mishap_json_text(key), &field, &bound) && field < total)
            bounds[field][bound] = value;
    }
    MISHAP_JSON_ITEMS (violations, index, count, violation)
        read_violation(m, violation, bounds[index]);
    mishap_release(bounds);
}

static void read_link(mishap *m, yyjson_val *help)
{
    yyjson_val *link = yyjson_arr_get_first(yyjson_obj_get(help, "links"));
    mishap_read_part(m, MISHAP_PART_DOCS_URL, link, "url");
}

/* The status by name or by number, NULL if there is neither. */
static const struct mishap_google_code *read_status(yyjson_val *error)
{
    mishap_text name = mishap_json_text(yyjson_obj_get(error, "status"));
    const struct mishap_google_code *found = mishap_google_find_code(name);
    uint64_t number = yyjson_get_uint(yyjson_obj_get(error, "code"));
    return found || number == 0 || number >= MISHAP_GOOGLE_CODES ? found
                                                                 : &mishap_google_codes[number];
}

static mishap *read_google_rpc(const mishap_source *source, mishap **out)
{
    yyjson_val *root = source->root, *error = yyjson_obj_get(root, "error"), *found[DETAILS + 1];
    if (!yyjson_is_obj(error) && yyjson_obj_get(root, "message"))
        error = root; /* google.rpc.Status itself, as gateways hand it on */
    if (!yyjson_is_obj(error))
        return mishap_refuse(source, error ? error : root,
                             "The member `error` is missing or is not an object.");
    yyjson_val *message = yyjson_obj_get(error, "message");
    if (!yyjson_is_str(message))
        return mishap_refuse(source, message ? message : error,
                             "The member `message` is missing or is not a string.");

    mishap_google_find_details(yyjson_obj_get(error, "details"), found);
    yyjson_val *metadata = mishap_google_own_metadata(found[ERROR_INFO]);
    yyjson_val *name = yyjson_obj_get(metadata, "code");
    yyjson_val *violations = yyjson_obj_get(found[BAD_REQUEST], "fieldViolations");
    if (!yyjson_is_str(name))
        name = yyjson_obj_get(found[ERROR_INFO], "reason");
    const struct mishap_google_code *status = read_status(error);
    int http_status = mishap_google_http_status(yyjson_obj_get(error, "code"));
    if (!http_status && status)
        http_status = status->http_status;
    if (!yyjson_is_str(name) && !http_status)
        return mishap_refuse(source, error,
                             "Neither `reason` nor `status` nor `code` identifies the error.");

    const mishap_code *row = mishap_implied_by_status(http_status);
    const mishap_code *otherwise = status ? status->code : row;
    if (otherwise == MISHAP_CODE_INVALID_ARGUMENT && yyjson_arr_size(violations))
        otherwise = MISHAP_CODE_VALIDATION_ERROR;
    mishap *m = mishap_restore(MISHAP_SPELLING_NAME, mishap_json_text(name), row->category,
                               http_status, otherwise);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    read_metadata(m, found[ERROR_INFO]);
    read_retry(m, metadata, found[RETRY_INFO]);
    read_violations(m, violations, metadata);
    read_link(m, found[HELP]);
    mishap_read_part(m, MISHAP_PART_INCIDENT, found[REQUEST_INFO], "requestId");
    return mishap_finish(m, out);
}

const mishap_dialect mishap_google_rpc = {
    .name = "google-rpc",
    .media_type = "application/json",
    .last_words = MISHAP_TEXT("{\"error\":{\"code\":500,\"message\":\"An internal error "
                              "occurred.\",\"status\":\"INTERNAL\","
                              "\"details\":[{\"@type\":\"" TYPE_PREFIX
                              "ErrorInfo\",\"reason\":\"INTERNAL_ERROR\","
                              "\"domain\":\"mishap\"}]}}"),
    .render = render_google_rpc,
    .read = read_google_rpc,
    .check = mishap_google_check,
};
