/*
 * problem: Problem Details for HTTP APIs (RFC 9457).
 *
 *     {"type":"about:blank","title":"Not Found","status":404,"detail":"Todo not found",
 *      "instance":"urn:uuid:…","code":"NOT_FOUND","category":"resource","retryable":false, …}
 *
 * `type` is where one can read about the code; where there is no such place it is about:blank, and
 * the title that of the status. The rest are extensions of ours under the names of the canonical
 * form, but for the field errors: they are `errors`, as in the RFC's own example. Nothing is lost
 * on the way.
 */
#include "base/url.h"
#include "dialect/carried.h"
#include "mishap/code.h"

static const mishap_text blank_type = MISHAP_TEXT("about:blank");
static const mishap_text uuid_scheme = MISHAP_TEXT("urn:uuid:");

/* -- URIs -------------------------------------------------------------------------------------- */

/* A URI reference, as far as its characters go. */
static bool is_reference(mishap_text uri)
{
    for (size_t i = 0; i < uri.length; i++)
        if (!mishap_url_character((unsigned char)uri.data[i]))
            return false;
    return uri.length > 0;
}

/* An address that can be a type: about:blank is the type of what has none. */
static bool names_type(mishap_text uri)
{
    return !mishap_text_equal(uri, blank_type) && mishap_url_valid(uri);
}

static bool is_uuid(mishap_text text)
{
    if (text.length != 36)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (i == 8 || i == 13 || i == 18 || i == 23 ? c != '-' : !hex)
            return false;
    }
    return true;
}

/* The id in urn:uuid:…, no text if it is anything else. */
static mishap_text uuid_in(mishap_text uri)
{
    mishap_text none = { NULL, 0 };
    if (uri.length <= uuid_scheme.length ||
        memcmp(uri.data, uuid_scheme.data, uuid_scheme.length) != 0)
        return none;
    mishap_text id = { uri.data + uuid_scheme.length, uri.length - uuid_scheme.length };
    return is_uuid(id) ? id : none;
}

/* The part of a type that names it: the fragment, or what stands behind the last / or colon. */
static mishap_text last_segment(mishap_text uri)
{
    size_t start = 0, end = uri.length;
    if (uri.length == 0)
        return uri;
    const char *fragment = memchr(uri.data, '#', end);
    if (fragment && fragment + 1 < uri.data + end) {
        start = (size_t)(fragment + 1 - uri.data);
    } else {
        for (size_t i = 0; i < end; i++)
            if (uri.data[i] == '?' || uri.data[i] == '#')
                end = i;
        while (end && uri.data[end - 1] == '/')
            end--;
    }
    for (size_t i = start; i < end; i++)
        if (uri.data[i] == '/' || uri.data[i] == ':')
            start = i + 1;
    /* Straight behind the two slashes: that is a host, not a name. */
    if (start >= 2 && uri.data[start - 1] == '/' && uri.data[start - 2] == '/')
        start = end;
    return (mishap_text){ uri.data + start, end - start };
}

/* -- writing ----------------------------------------------------------------------------------- */

static void put_instance(mishap_buffer *b, mishap_text id)
{
    MISHAP_JSON_KEY(b, "instance");
    mishap_buffer_put_char(b, '"');
    mishap_buffer_put_text(b, uuid_scheme);
    mishap_buffer_put_text(b, id);
    mishap_buffer_put_char(b, '"');
}

static void put_extensions(mishap_buffer *b, const mishap_public *told)
{
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->name);
    mishap_put_kind(b, told, true, true);
    MISHAP_JSON_TEXT_MEMBER(b, "suggestion", told->suggestion);
    if (!names_type(told->docs_url))
        MISHAP_JSON_TEXT_MEMBER(b, "docs_url", told->docs_url);
    if (told->context) {
        MISHAP_JSON_KEY(b, "context");
        mishap_put_context(b, told);
    }
    if (told->fields) {
        MISHAP_JSON_KEY(b, "errors");
        mishap_put_fields(b, told);
    }
    if (!is_uuid(told->incident))
        MISHAP_JSON_TEXT_MEMBER(b, "incident", told->incident);
}

static void render_problem(const mishap_public *told, mishap_buffer *b)
{
    const char *phrase = mishap_http_phrase(told->code->http_status);
    mishap_text type = mishap_public_docs_url(told), title = told->code->title;
    if (!names_type(type)) {
        type = blank_type;
        if (phrase)
            title = mishap_text_of(phrase);
    }
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "type");
    mishap_json_string(b, type);
    MISHAP_JSON_KEY(b, "title");
    mishap_json_string(b, title);
    MISHAP_JSON_KEY(b, "status");
    mishap_json_int(b, told->code->http_status);
    MISHAP_JSON_KEY(b, "detail");
    mishap_json_string(b, mishap_public_message(told));
    if (is_uuid(told->incident))
        put_instance(b, told->incident);
    put_extensions(b, told);
    mishap_json_close(b, '}');
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The status of an error, 0 if it is none. */
static int status_of(yyjson_val *value)
{
    int64_t status = yyjson_is_int(value) ? yyjson_get_sint(value) : 0;
    return status >= 400 && status <= 599 ? (int)status : 0;
}

/*
 * A reference into the text of an RFC, as ASP.NET gives it for a type, says no more than the status
 * does: https://tools.ietf.org/html/rfc9110#section-15.5.1
 */
static bool is_section(mishap_text name)
{
    static const char *const starts[] = { "section-", "rfc" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t length = strlen(starts[i]);
        if (name.length > length && memcmp(name.data, starts[i], length) == 0 &&
            name.data[length] >= '0' && name.data[length] <= '9')
            return true;
    }
    return false;
}

/* The code by its name, by the last part of the type, or by the status. */
static mishap *restore(yyjson_val *root)
{
    yyjson_val *code = yyjson_obj_get(root, "code"), *type = yyjson_obj_get(root, "type");
    const mishap_code *row = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_json_text(code));
    if (row)
        return mishap_restore_code(row);
    int status = status_of(yyjson_obj_get(root, "status"));
    const mishap_code *otherwise = mishap_code_by_status(status);
    if (!otherwise)
        otherwise = MISHAP_CODE_GENERAL_ERROR;
    mishap_category category = otherwise->category;
    mishap_text name = mishap_json_text(code);
    mishap_category_find(mishap_json_text(yyjson_obj_get(root, "category")), &category);
    if (!mishap_is_code(code)) {
        mishap_text uri = mishap_json_text(type);
        name = mishap_text_equal(uri, blank_type) ? (mishap_text){ NULL, 0 } : last_segment(uri);
        if (is_section(name))
            name.length = 0;
    }
    return mishap_restore(MISHAP_SPELLING_NAME, name, category, status, otherwise);
}

/* By the RFC, a member that is not of its type is to be ignored. */
static bool is_anything(yyjson_val *value)
{
    (void)value;
    return true;
}

static bool is_type(yyjson_val *value)
{
    mishap_text uri = mishap_json_text(value);
    return !uri.length || mishap_text_equal(uri, blank_type) || mishap_url_valid(uri);
}

static bool is_instance(yyjson_val *value)
{
    return !mishap_json_text(value).length || uuid_in(mishap_json_text(value)).length;
}

static const mishap_known known[] = {
    { MISHAP_TEXT("type"), is_type },
    { MISHAP_TEXT("title"), is_anything },
    { MISHAP_TEXT("status"), is_anything },
    { MISHAP_TEXT("detail"), is_anything },
    { MISHAP_TEXT("instance"), is_instance },
    { MISHAP_TEXT("errors"), mishap_is_fields },
    MISHAP_KNOWN_CANONICAL,
};

static mishap *read_problem(const mishap_source *source, mishap **out)
{
    yyjson_val *root = source->root, *errors = yyjson_obj_get(root, "errors");
    yyjson_val *message = yyjson_obj_get(root, "detail");
    mishap_text type = mishap_json_text(yyjson_obj_get(root, "type"));
    mishap_text instance = uuid_in(mishap_json_text(yyjson_obj_get(root, "instance")));
    if (!yyjson_is_str(message) || yyjson_get_len(message) == 0)
        message = yyjson_obj_get(root, "title");
    if (!yyjson_is_str(message))
        return mishap_refuse(source, root, "Neither `detail` nor `title` is a string.");
    mishap *m = restore(root);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    mishap_read_kind(m, root);
    if (names_type(type))
        mishap_restore_part(m, MISHAP_PART_DOCS_URL, type);
    if (instance.length)
        mishap_restore_part(m, MISHAP_PART_INCIDENT, instance);
    if (mishap_is_fields(errors))
        mishap_read_fields(m, errors);
    mishap_read_others(m, root, known, MISHAP_KNOWN_COUNT(known));
    return mishap_finish(m, out);
}

/* -- checking ---------------------------------------------------------------------------------- */

/* A relative reference means another thing on another page: the full path is the least. */
static void check_reference(mishap_check *c, yyjson_val *value)
{
    mishap_text uri = mishap_json_text(value);
    if (uri.length == 0)
        mishap_check_not_empty(c, value);
    else if (!is_reference(uri))
        mishap_check_say(c, MISHAP_RULE_NOT_A_URL, "This is not a URI reference.");
    else if (c->strict && !mishap_url_valid(uri) && uri.data[0] != '/')
        mishap_check_say(c, MISHAP_RULE_NOT_A_URL,
                         "This is neither an absolute URI nor a full path.");
}

static void check_status(mishap_check *c, yyjson_val *value)
{
    if (!status_of(value))
        mishap_check_say(c, MISHAP_RULE_STATUS_RANGE,
                         "The status of an error must be from 400 to 599.");
}

/* Others have `errors` of another form, the RFC among them: ours has `field` and `error`. */
static void check_errors(mishap_check *c, yyjson_val *errors)
{
    size_t index, count;
    yyjson_val *item;
    bool ours = false;
    MISHAP_JSON_ITEMS (errors, index, count, item) {
        ours = ours || (yyjson_obj_get(item, "field") && yyjson_obj_get(item, "error"));
    }
    if (ours)
        mishap_check_fields(c, errors);
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("type", .types = MISHAP_SHAPE_STRING, .check = check_reference),
    MISHAP_SHAPE("title", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("status", .types = MISHAP_SHAPE_INTEGER, .check = check_status),
    MISHAP_SHAPE("detail", .types = MISHAP_SHAPE_STRING, .check = mishap_check_message),
    MISHAP_SHAPE("instance", .types = MISHAP_SHAPE_STRING, .check = check_reference),
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_STRING, .check = mishap_check_code_name),
    MISHAP_SHAPE("category", .types = MISHAP_SHAPE_STRING, .check = mishap_check_category),
    MISHAP_SHAPE("retryable", .types = MISHAP_SHAPE_BOOL),
    MISHAP_SHAPE("retry_after_ms", .types = MISHAP_SHAPE_INTEGER,
                 .check = mishap_check_not_negative),
    MISHAP_SHAPE("cause", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("suggestion", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("docs_url", .types = MISHAP_SHAPE_STRING),
    MISHAP_SHAPE("context", .types = MISHAP_SHAPE_OBJECT),
    MISHAP_SHAPE("errors", .types = MISHAP_SHAPE_ANY, .check = check_errors),
    MISHAP_SHAPE("incident", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
};

/* A letter, then letters, digits and _, three at least: a name that other formats can carry too. */
static bool is_extension_name(mishap_text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && (i == 0 || (c != '_' && !(c >= '0' && c <= '9'))))
            return false;
    }
    return name.length >= 3;
}

static void check_agreement(mishap_check *c, yyjson_val *root)
{
    const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME,
                                                  mishap_json_text(yyjson_obj_get(root, "code")));
    int status = status_of(yyjson_obj_get(root, "status"));
    if (code && status && code->http_status != status)
        mishap_check_say(c, MISHAP_RULE_STATUS_MISMATCH, "The status of %s is %d.", code->name.data,
                         code->http_status);
}

/* What the RFC asks for with a SHOULD, and the status. */
static void check_strictly(mishap_check *c, yyjson_val *root)
{
    size_t index, count;
    yyjson_val *key, *value;
    yyjson_val *type = yyjson_obj_get(root, "type"), *title = yyjson_obj_get(root, "title");
    yyjson_val *status = yyjson_obj_get(root, "status");
    const char *phrase = mishap_http_phrase(status_of(status));
    if (!status)
        mishap_check_say(c, MISHAP_RULE_MISSING_MEMBER, "The member `status` is missing.");
    if ((!type || yyjson_equals_str(type, "about:blank")) && yyjson_is_str(title) && phrase &&
        !yyjson_equals_str(title, phrase))
        mishap_check_say(
            c, MISHAP_RULE_WRONG_VALUE,
            "The title of the type about:blank must be the reason phrase of the status: %s.",
            phrase);
    MISHAP_JSON_MEMBERS (root, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        if (!is_extension_name(name))
            mishap_check_say(c, MISHAP_RULE_UNKNOWN_MEMBER,
                             "`%.*s` is not a valid name of an extension.", (int)name.length,
                             name.data);
    }
}

static void check_problem(mishap_check *c, yyjson_val *root)
{
    if (!mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), false))
        return;
    if (!yyjson_obj_get(root, "title") && !yyjson_obj_get(root, "detail"))
        mishap_check_say(c, MISHAP_RULE_MISSING_MEMBER,
                         "The member `title` or `detail` is required.");
    mishap_check_retry(c, root, "retryable", "retry_after_ms");
    check_agreement(c, root);
    if (c->strict)
        check_strictly(c, root);
}

const mishap_dialect mishap_problem = {
    .name = "problem",
    .media_type = "application/problem+json",
    .last_words = MISHAP_TEXT(
        "{\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500,"
        "\"detail\":\"An internal error occurred.\",\"code\":\"INTERNAL_ERROR\","
        "\"category\":\"system\",\"retryable\":false}"),
    .render = render_problem,
    .read = read_problem,
    .check = check_problem,
};
