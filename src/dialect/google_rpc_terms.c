/* The terms of google-rpc: names of statuses, reasons and keys, and the details of a status. */
#include "dialect/google_rpc.h"

const mishap_text mishap_google_domain = MISHAP_TEXT("mishap");

/* -- status names ------------------------------------------------------------------------------ */

/* google.rpc.Code in the order of its numbers, with the HTTP status that it has there, and the code
 * that stands for it where a document says no more. */
const struct mishap_google_code mishap_google_codes[MISHAP_GOOGLE_CODES] = {
    { MISHAP_TEXT("OK"), 200, NULL },
    { MISHAP_TEXT("CANCELLED"), 499, MISHAP_CODE_CANCELLED },
    { MISHAP_TEXT("UNKNOWN"), 500, MISHAP_CODE_GENERAL_ERROR },
    { MISHAP_TEXT("INVALID_ARGUMENT"), 400, MISHAP_CODE_INVALID_ARGUMENT },
    { MISHAP_TEXT("DEADLINE_EXCEEDED"), 504, MISHAP_CODE_TIMEOUT },
    { MISHAP_TEXT("NOT_FOUND"), 404, MISHAP_CODE_NOT_FOUND },
    { MISHAP_TEXT("ALREADY_EXISTS"), 409, MISHAP_CODE_ALREADY_EXISTS },
    { MISHAP_TEXT("PERMISSION_DENIED"), 403, MISHAP_CODE_PERMISSION_DENIED },
    { MISHAP_TEXT("RESOURCE_EXHAUSTED"), 429, MISHAP_CODE_RATE_LIMITED },
    { MISHAP_TEXT("FAILED_PRECONDITION"), 400, MISHAP_CODE_PRECONDITION },
    { MISHAP_TEXT("ABORTED"), 409, MISHAP_CODE_CONFLICT },
    { MISHAP_TEXT("OUT_OF_RANGE"), 400, MISHAP_CODE_VALUE_OUT_OF_RANGE },
    { MISHAP_TEXT("UNIMPLEMENTED"), 501, MISHAP_CODE_NOT_IMPLEMENTED },
    { MISHAP_TEXT("INTERNAL"), 500, MISHAP_CODE_INTERNAL_ERROR },
    { MISHAP_TEXT("UNAVAILABLE"), 503, MISHAP_CODE_UNAVAILABLE },
    { MISHAP_TEXT("DATA_LOSS"), 500, MISHAP_CODE_INTERNAL_ERROR },
    { MISHAP_TEXT("UNAUTHENTICATED"), 401, MISHAP_CODE_AUTH_REQUIRED },
};

/* The names for HTTP statuses; all others are FAILED_PRECONDITION below 500, and INTERNAL. */
static const struct status_row {
    int http_status;
    mishap_text name;
} status_names[] = {
    { 400, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 401, MISHAP_TEXT("UNAUTHENTICATED") },
    { 403, MISHAP_TEXT("PERMISSION_DENIED") },
    { 404, MISHAP_TEXT("NOT_FOUND") },
    { 405, MISHAP_TEXT("UNIMPLEMENTED") },
    { 406, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 407, MISHAP_TEXT("UNAUTHENTICATED") },
    { 408, MISHAP_TEXT("DEADLINE_EXCEEDED") },
    { 409, MISHAP_TEXT("ABORTED") },
    { 410, MISHAP_TEXT("NOT_FOUND") },
    { 411, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 413, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 414, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 415, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 416, MISHAP_TEXT("OUT_OF_RANGE") },
    { 422, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 423, MISHAP_TEXT("ABORTED") },
    { 425, MISHAP_TEXT("UNAVAILABLE") },
    { 429, MISHAP_TEXT("RESOURCE_EXHAUSTED") },
    { 431, MISHAP_TEXT("INVALID_ARGUMENT") },
    { 451, MISHAP_TEXT("PERMISSION_DENIED") },
    { 499, MISHAP_TEXT("CANCELLED") },
    { 501, MISHAP_TEXT("UNIMPLEMENTED") },
    { 502, MISHAP_TEXT("UNAVAILABLE") },
    { 503, MISHAP_TEXT("UNAVAILABLE") },
    { 504, MISHAP_TEXT("DEADLINE_EXCEEDED") },
    { 505, MISHAP_TEXT("UNIMPLEMENTED") },
    { 507, MISHAP_TEXT("RESOURCE_EXHAUSTED") },
    { 511, MISHAP_TEXT("UNAUTHENTICATED") },
};

mishap_text mishap_google_status_name(int http_status)
{
    for (size_t i = 0; i < sizeof status_names / sizeof *status_names; i++)
        if (status_names[i].http_status == http_status)
            return status_names[i].name;
    return mishap_text_of(http_status < 500 ? "FAILED_PRECONDITION" : "INTERNAL");
}

/* 409 has two names: that of codes which begin with ALREADY_, and one for all others. */
mishap_text mishap_google_status_of(const mishap_code *code)
{
    static const mishap_text already = MISHAP_TEXT("ALREADY_");
    if (code->http_status == 409 && code->name.length > already.length &&
        memcmp(code->name.data, already.data, already.length) == 0)
        return (mishap_text)MISHAP_TEXT("ALREADY_EXISTS");
    return mishap_google_status_name(code->http_status);
}

/* The HTTP status of an error that a number is, 0 if it is none. */
int mishap_google_http_status(yyjson_val *value)
{
    int64_t number = yyjson_get_sint(value);
    return yyjson_is_int(value) && number >= 400 && number <= 599 ? (int)number : 0;
}

const struct mishap_google_code *mishap_google_find_code(mishap_text name)
{
    for (size_t i = 1; i < MISHAP_GOOGLE_CODES; i++)
        if (mishap_text_equal(mishap_google_codes[i].name, name))
            return &mishap_google_codes[i];
    return NULL;
}

/* -- names ------------------------------------------------------------------------------------- */

/* A reason is UPPER_SNAKE without an underscore at its end, of 3 to 63 characters. */
bool mishap_google_reason_valid(mishap_text name)
{
    return mishap_code_name_valid(name) && name.length >= 3 && name.length <= 63 &&
           name.data[name.length - 1] != '_';
}

/* A key of the metadata: a small letter, then 1 to 63 letters, digits, hyphens and underscores. */
bool mishap_google_key_valid(mishap_text key)
{
    static const bool allowed[256] = {
        ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true,
        ['-'] = true,         ['_'] = true,
    };
    if (key.length < 2 || key.length > 64 || !(key.data[0] >= 'a' && key.data[0] <= 'z'))
        return false;
    for (size_t i = 1; i < key.length; i++)
        if (!allowed[(unsigned char)key.data[i]])
            return false;
    return true;
}

static bool is_digit(mishap_text text, size_t at)
{
    return at < text.length && text.data[at] >= '0' && text.data[at] <= '9';
}

const mishap_text mishap_google_bound_names[BOUNDS] = {
    [BOUND_ERROR] = MISHAP_TEXT("error"),   [BOUND_EXPECTED] = MISHAP_TEXT("expected"),
    [BOUND_MIN] = MISHAP_TEXT("min"),       [BOUND_MAX] = MISHAP_TEXT("max"),
    [BOUND_ACTUAL] = MISHAP_TEXT("actual"),
};

bool mishap_google_bound_key(mishap_text key, size_t *field, enum mishap_google_bound *bound)
{
    static const mishap_text prefix = MISHAP_TEXT("fields-");
    size_t at = prefix.length;
    if (key.length <= at || memcmp(key.data, prefix.data, at) != 0)
        return false;
    *field = 0;
    for (; is_digit(key, at) && at < prefix.length + 9; at++)
        *field = *field * 10 + (size_t)(key.data[at] - '0');
    if (at == prefix.length || at == key.length || key.data[at] != '-')
        return false;
    mishap_text name = { key.data + at + 1, key.length - at - 1 };
    for (int i = 0; i < BOUNDS; i++) {
        if (mishap_text_equal(name, mishap_google_bound_names[i])) {
            *bound = (enum mishap_google_bound)i;
            return true;
        }
    }
    return false;
}

/* Names in the metadata that are not the context's. */
bool mishap_google_reserved(mishap_text key)
{
    static const mishap_text names[] = {
        MISHAP_TEXT("code"),  MISHAP_TEXT("category"),   MISHAP_TEXT("retryable"),
        MISHAP_TEXT("cause"), MISHAP_TEXT("suggestion"), MISHAP_TEXT("context"),
    };
    size_t field;
    enum mishap_google_bound bound;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mishap_text_equal(names[i], key))
            return true;
    return mishap_google_bound_key(key, &field, &bound);
}

/* True if a part of the context can stand in the metadata by itself; the others go together, as
 * JSON, by the name of `context`. */
bool mishap_google_stands_alone(mishap_text key)
{
    return mishap_google_key_valid(key) && !mishap_google_reserved(key);
}

/* -- details ----------------------------------------------------------------------------------- */

const mishap_text mishap_google_detail_types[DETAILS] = {
    [ERROR_INFO] = MISHAP_TEXT(TYPE_PREFIX "ErrorInfo"),
    [BAD_REQUEST] = MISHAP_TEXT(TYPE_PREFIX "BadRequest"),
    [RETRY_INFO] = MISHAP_TEXT(TYPE_PREFIX "RetryInfo"),
    [HELP] = MISHAP_TEXT(TYPE_PREFIX "Help"),
    [REQUEST_INFO] = MISHAP_TEXT(TYPE_PREFIX "RequestInfo"),
    [DEBUG_INFO] = MISHAP_TEXT(TYPE_PREFIX "DebugInfo"),
    [QUOTA_FAILURE] = MISHAP_TEXT(TYPE_PREFIX "QuotaFailure"),
    [PRECONDITION_FAILURE] = MISHAP_TEXT(TYPE_PREFIX "PreconditionFailure"),
    [RESOURCE_INFO] = MISHAP_TEXT(TYPE_PREFIX "ResourceInfo"),
    [LOCALIZED_MESSAGE] = MISHAP_TEXT(TYPE_PREFIX "LocalizedMessage"),
};

enum mishap_google_detail mishap_google_detail_of(yyjson_val *item)
{
    mishap_text type = mishap_json_text(yyjson_obj_get(item, "@type"));
    int detail = 0;
    while (detail < DETAILS && !mishap_text_equal(mishap_google_detail_types[detail], type))
        detail++;
    return (enum mishap_google_detail)detail;
}

/* The first of each type. */
void mishap_google_find_details(yyjson_val *items, yyjson_val *found[DETAILS + 1])
{
    size_t index, count;
    yyjson_val *item;
    for (int i = 0; i <= DETAILS; i++)
        found[i] = NULL;
    MISHAP_JSON_ITEMS (items, index, count, item) {
        enum mishap_google_detail detail = mishap_google_detail_of(item);
        if (!found[detail])
            found[detail] = item;
    }
}

/* The metadata of an ErrorInfo of ours, in which mishap_google_reserved names mean what they say;
 * else NULL. */
yyjson_val *mishap_google_own_metadata(yyjson_val *info)
{
    mishap_text domain = mishap_json_text(yyjson_obj_get(info, "domain"));
    return mishap_text_equal(domain, mishap_google_domain) ? yyjson_obj_get(info, "metadata")
                                                           : NULL;
}

/* "1.500s" in milliseconds, rounded up; false if it is not a duration. */
bool mishap_google_read_delay(mishap_text text, int64_t *milliseconds)
{
    bool negative = text.length && text.data[0] == '-';
    size_t at = negative, first = at;
    int64_t seconds = 0, nanoseconds = 0;
    for (; is_digit(text, at); at++) {
        seconds = seconds * 10 + (text.data[at] - '0');
        if (seconds > MISHAP_GOOGLE_LONGEST_DELAY)
            return false;
    }
    if (at == first)
        return false;
    if (at < text.length && text.data[at] == '.') {
        int places = 0;
        for (at++; is_digit(text, at) && places < 9; at++, places++)
            nanoseconds = nanoseconds * 10 + (text.data[at] - '0');
        if (places == 0)
            return false;
        for (; places < 9; places++)
            nanoseconds *= 10;
    }
    if (at + 1 != text.length || text.data[at] != 's')
        return false;
    *milliseconds = seconds * 1000 + (nanoseconds + 999999) / 1000000;
    if (negative)
        *milliseconds = -*milliseconds;
    return true;
}

static void note_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    (void)path;
    mishap_json_flaw *first = state;
    if (*first == MISHAP_JSON_SOUND)
        *first = flaw;
}

/* The JSON inside a string: NULL, with the flaw, if it is not sound JSON. */
yyjson_val *mishap_google_json_inside(mishap_json_reader *reader, yyjson_val *string,
                                      mishap_json_flaw *flaw)
{
    mishap_text text = mishap_json_text(string);
    *flaw = MISHAP_JSON_SOUND;
    if (!mishap_json_read(reader, text))
        *flaw = reader->flaw;
    else
        mishap_json_inspect(reader, &(mishap_json_visitor){ .flaw = note_flaw, .state = flaw });
    return *flaw == MISHAP_JSON_SOUND ? reader->root : NULL;
}
