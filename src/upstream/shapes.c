/*
 * JSON in which frameworks tell a failure. A shape is a row of the table at the end of this file:
 * its reader looks at the members that only this shape has, and returns false if they are not
 * there. The order counts: what has more of such members stands above.
 */
#include "upstream/inside.h"

/* A status in a member: 404, or "404". */
static int status_of(yyjson_val *value)
{
    int64_t number = yyjson_is_int(value) ? yyjson_get_sint(value) : 0;
    if (yyjson_is_str(value))
        return mishap_upstream_status_in(mishap_json_text(value));
    return number >= 400 && number <= 599 ? (int)number : 0;
}

static yyjson_val *text_at(yyjson_val *object, const char *name)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_str(value) ? value : NULL;
}

/* A name rather than words: `NAME_TAKEN`, `not-found`. */
static bool is_name(mishap_text text)
{
    enum { LONGEST = 64 };
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '.'))
            return false;
    }
    return text.length > 1 && text.length <= LONGEST;
}

/* The message, the name of the failure and the further members of an object. */
static void read_words(mishap_upstream_reading *reading, yyjson_val *object)
{
    static const char *const messages[] = { "message",     "detail", "error_description",
                                            "description", "msg",    "error",
                                            "reason",      "title" };
    static const char *const codes[] = { "code", "error", "error_code", "errorCode", "reason" };
    reading->object = object;
    for (size_t i = 0; i < sizeof codes / sizeof *codes && !reading->code.length; i++) {
        mishap_text text = mishap_json_text(text_at(object, codes[i]));
        if (is_name(text))
            reading->code = text;
    }
    for (size_t i = 0; i < sizeof messages / sizeof *messages && !reading->message.length; i++) {
        mishap_text text = mishap_json_text(text_at(object, messages[i]));
        if (!mishap_text_equal(text, reading->code))
            reading->message = text;
    }
}

/* -- Zod --------------------------------------------------------------------------------------- */

/* Zod 4 has the list of its findings as JSON in the message of the error. */
static bool read_issues_inside(mishap_upstream_reading *reading, mishap_text text)
{
    yyjson_val *at;
    if (!text.length || text.data[0] != '[')
        return false;
    if (!mishap_json_read(&reading->inner, text)) {
        reading->no_memory = reading->no_memory || reading->inner.flaw == MISHAP_JSON_NO_MEMORY;
        return false;
    }
    mishap_json_flaw flaw = mishap_json_first_flaw(&reading->inner, &at);
    reading->no_memory = reading->no_memory || flaw == MISHAP_JSON_NO_MEMORY;
    return flaw == MISHAP_JSON_SOUND && mishap_upstream_read_list(reading, reading->inner.root);
}

static bool read_zod(mishap_upstream_reading *reading, yyjson_val *error)
{
    yyjson_val *issues = yyjson_obj_get(error, "issues");
    if (!issues)
        issues = yyjson_obj_get(error, "errors");
    return mishap_upstream_read_list(reading, issues) ||
           read_issues_inside(reading, mishap_json_text(text_at(error, "message")));
}

/* -- the shapes -------------------------------------------------------------------------------- */

/* "Request was throttled. Expected available in 86 seconds." */
static int seconds_in(mishap_text text)
{
    static const char words[] = "expected available in ";
    const char *at = mishap_upstream_find(text, words);
    int seconds = 0;
    if (!at)
        return 0;
    const char *end = text.data + text.length;
    for (at += sizeof words - 1; at < end && *at >= '0' && *at <= '9'; at++)
        seconds = seconds < 1000000 ? seconds * 10 + (*at - '0') : seconds;
    return seconds;
}

/* {"detail": text, list of field errors or object} of FastAPI; of Django REST framework it is a
 * text, often with a `code` beside it. */
static bool read_detail(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *detail = yyjson_obj_get(root, "detail");
    size_t most = yyjson_obj_get(root, "code") ? 3 : 1;
    if (!detail || yyjson_obj_size(root) > most || yyjson_obj_get(root, "title"))
        return false;
    if (yyjson_is_str(detail)) {
        read_words(reading, root);
        reading->retry_seconds = seconds_in(reading->message);
        reading->shape = "detail";
    } else if (yyjson_is_obj(detail)) {
        read_words(reading, detail);
    } else if (!mishap_upstream_read_list(reading, detail)) {
        return false;
    }
    if (yyjson_is_obj(detail)) {
        yyjson_val *errors = yyjson_obj_get(detail, "errors");
        if (!mishap_upstream_read_list(reading, errors) && yyjson_is_obj(errors))
            mishap_upstream_read_map(reading, errors);
    }
    return true;
}

/* A problem document (RFC 9457) without a code of ours; ASP.NET has a map of `errors` in it. */
static bool read_problem(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *title = text_at(root, "title"), *errors = yyjson_obj_get(root, "errors");
    if (!title || !(text_at(root, "type") || status_of(yyjson_obj_get(root, "status")) ||
                    text_at(root, "detail")))
        return false;
    read_words(reading, root);
    if (yyjson_is_obj(errors))
        mishap_upstream_read_map(reading, errors);
    else
        mishap_upstream_read_list(reading, errors ? errors : yyjson_obj_get(root, "violations"));
    if (yyjson_is_obj(errors) || yyjson_obj_get(root, "traceId"))
        reading->shape = "aspnet";
    return true;
}

/* {"timestamp":…,"status":400,"error":"Bad Request","path":…} with message, errors and trace, if
 * they are switched on. */
static bool read_spring(mishap_upstream_reading *reading, yyjson_val *root)
{
    if (!yyjson_obj_get(root, "timestamp") || !yyjson_is_int(yyjson_obj_get(root, "status")) ||
        !text_at(root, "error"))
        return false;
    reading->message = mishap_json_text(text_at(root, "message"));
    mishap_upstream_read_list(reading, yyjson_obj_get(root, "errors"));
    return true;
}

/* {"statusCode":400,"code":…,"error":"Bad Request","message":…}; of NestJS the message may be a
 * list of sentences. */
static bool read_fastify(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *message = yyjson_obj_get(root, "message");
    if (!status_of(yyjson_obj_get(root, "statusCode")) || !message)
        return false;
    mishap_text code = mishap_json_text(text_at(root, "code"));
    if (is_name(code))
        reading->code = code;
    reading->message = mishap_json_text(text_at(root, "message"));
    if (yyjson_is_arr(message) && mishap_upstream_read_list(reading, message))
        reading->shape = "nest";
    else
        mishap_upstream_read_sentences(reading, reading->message);
    return true;
}

/* {"message":…,"errors":{field: [sentences]}}, and with exception, file, line and trace if it is
 * in debug mode. */
static bool read_laravel(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *errors = yyjson_obj_get(root, "errors");
    if (!text_at(root, "message") || !(yyjson_is_obj(errors) || text_at(root, "exception")))
        return false;
    reading->message = mishap_json_text(text_at(root, "message"));
    if (yyjson_is_obj(errors))
        mishap_upstream_read_map(reading, errors);
    return true;
}

/* {"code":404,"name":"Not Found","description":…}, the handler of Flask's manual, and
 * {"code":422,"status":"Unprocessable Entity","errors":{"json":{…}}} of flask-smorest. */
static bool read_flask(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *errors = yyjson_obj_get(root, "errors");
    if (!yyjson_is_int(yyjson_obj_get(root, "code")) ||
        !((text_at(root, "name") && text_at(root, "description")) || text_at(root, "status")))
        return false;
    reading->message = mishap_json_text(text_at(root, "description"));
    if (!reading->message.length)
        reading->message = mishap_json_text(text_at(root, "message"));
    if (yyjson_is_obj(errors))
        mishap_upstream_read_map(reading, errors);
    return true;
}

/* {"success":false,"error":{…}} of Hono's validator for Zod. */
static bool read_hono(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *error = yyjson_obj_get(root, "error");
    return yyjson_is_false(yyjson_obj_get(root, "success")) && yyjson_is_obj(error) &&
           read_zod(reading, error);
}

/* {"status":404,"error":"Not Found"}, with exception and traces if it is in development; or
 * {"errors":{field: [sentences]}} and {"errors":[sentences]} of its models. */
static bool read_rails(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *errors = yyjson_obj_get(root, "errors");
    if (yyjson_is_int(yyjson_obj_get(root, "status")) && text_at(root, "error"))
        return true;
    if (yyjson_obj_size(root) > 1 || !errors)
        return false;
    return yyjson_is_obj(errors) ? mishap_upstream_read_map(reading, errors)
                                 : yyjson_is_str(yyjson_arr_get_first(errors)) &&
                                       mishap_upstream_read_list(reading, errors);
}

/* The lists and maps of field errors that programs write by hand, at the top or in `error`. */
static bool read_some_fields(mishap_upstream_reading *reading, yyjson_val *object)
{
    yyjson_val *errors = yyjson_obj_get(object, "errors"),
               *details = yyjson_obj_get(object, "details");
    return mishap_upstream_read_list(reading, errors) ||
           mishap_upstream_read_list(reading, details) ||
           mishap_upstream_read_list(reading, yyjson_obj_get(details, "errors")) ||
           (yyjson_is_obj(errors) && mishap_upstream_read_map(reading, errors));
}

/* What programs on Express and others answer by hand: {"error":…}, {"message":…},
 * {"error":{"message":…}}, {"errors":[{…}]} */
static bool read_plain(mishap_upstream_reading *reading, yyjson_val *root)
{
    yyjson_val *error = yyjson_obj_get(root, "error");
    yyjson_val *first = yyjson_arr_get_first(yyjson_obj_get(root, "errors"));
    yyjson_val *words = yyjson_is_obj(error) ? error : root;
    bool fields = read_some_fields(reading, words) ||
                  (words != root && read_some_fields(reading, root));
    read_words(reading, words);
    if (!fields && !reading->message.length && yyjson_is_obj(first))
        read_words(reading, first); /* errors of no field */
    fields = fields || mishap_upstream_read_sentences(reading, reading->message);
    return fields || reading->message.length || reading->code.length;
}

/* Lists of sentences at every end, under names and in lists of objects; an object without members
 * is one without errors. */
static bool leads_to_sentences(yyjson_val *value, size_t depth)
{
    enum { DEEPEST = 16 };
    size_t index, count;
    yyjson_val *key, *member;
    if (depth > DEEPEST)
        return false;
    MISHAP_JSON_MEMBERS (value, index, count, key, member) {
        (void)key;
        if (!leads_to_sentences(member, depth + 1))
            return false;
    }
    MISHAP_JSON_ITEMS (value, index, count, member) {
        if (!yyjson_is_str(member) &&
            !(yyjson_is_obj(member) && leads_to_sentences(member, depth + 1)))
            return false;
    }
    return yyjson_is_obj(value) || yyjson_arr_size(value) > 0;
}

/* {field: [sentences]}, of a list of objects [{}, {field: [sentences]}]; Rails answers its models'
 * errors in the same way. */
static bool read_django_rest(mishap_upstream_reading *reading, yyjson_val *root)
{
    return leads_to_sentences(root, 0) && mishap_upstream_read_map(reading, root);
}

static const struct shape {
    const char *name;
    bool (*read)(mishap_upstream_reading *reading, yyjson_val *root);
} shapes[] = {
    { "fastapi", read_detail },  { "spring", read_spring },
    { "fastify", read_fastify }, { "problem", read_problem },
    { "laravel", read_laravel }, { "flask", read_flask },
    { "hono", read_hono },       { "rails", read_rails },
    { "json", read_plain },      { "django-rest", read_django_rest },
};

void mishap_upstream_read_json(mishap_upstream_reading *reading, yyjson_val *root)
{
    static const char *const statuses[] = { "status", "statusCode", "code" };
    if (yyjson_is_str(root)) {
        reading->shape = "text";
        reading->message = mishap_json_text(root);
        return;
    }
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses && !reading->status; i++)
        reading->status = status_of(yyjson_obj_get(root, statuses[i]));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        reading->shape = shapes[i].name;
        if (shapes[i].read(reading, root))
            return;
        reading->message = reading->code = (mishap_text){ NULL, 0 };
        reading->object = NULL;
    }
    reading->shape = NULL;
}
