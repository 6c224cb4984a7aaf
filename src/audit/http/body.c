/*
 * The body of an error: its code, its sentence, its status and its shape.
 *
 * There are many formats. A member counts by its name and by what it looks like, in the object
 * itself and in what usually holds an error: {"error": {…}}, {"errors": [{…}]}, {"detail": [{…}]}.
 */
#include <stdio.h>

#include "audit/http/run.h"

enum { MOST_HOLDERS = 6 };

typedef struct holder {
    yyjson_val *object;
    char path[48]; /* "", "error/", "errors/0/" */
} holder;

typedef struct holders {
    holder list[MOST_HOLDERS];
    size_t count;
} holders;

static void add_holder(holders *all, yyjson_val *object, const char *path)
{
    if (!yyjson_is_obj(object) || all->count == MOST_HOLDERS)
        return;
    holder *added = &all->list[all->count++];
    added->object = object;
    snprintf(added->path, sizeof added->path, "%s", path);
}

static holders holders_of(yyjson_val *json)
{
    static const char names[][8] = { "error", "errors", "detail", "fault" };
    holders all = { .count = 0 };
    add_holder(&all, json, "");
    if (yyjson_is_arr(json))
        add_holder(&all, yyjson_arr_get_first(json), "0/");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[48];
        yyjson_val *value = yyjson_is_obj(json) ? yyjson_obj_get(json, names[i]) : NULL;
        bool array = yyjson_is_arr(value);
        snprintf(path, sizeof path, "%s/%s", names[i], array ? "0/" : "");
        add_holder(&all, array ? yyjson_arr_get_first(value) : value, path);
    }
    return all;
}

static bool has_space(mishap_text text)
{
    for (size_t i = 1; i + 1 < text.length; i++)
        if (text.data[i] == ' ')
            return true;
    return false;
}

static bool is_upper(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!((text.data[i] >= 'A' && text.data[i] <= 'Z') || text.data[i] == '_'))
            return false;
    return text.length > 1;
}

/* -- code -------------------------------------------------------------------------------------- */

static bool is_code(yyjson_val *value, const char *name, int status)
{
    mishap_text text = yyjson_is_str(value) ? mishap_json_text(value) : (mishap_text){ NULL, 0 };
    if (yyjson_is_int(value))
        return strcmp(name, "type") != 0 && strcmp(name, "error") != 0 &&
               strcmp(name, "status") != 0 && yyjson_get_sint(value) != status;
    if (!text.length || text.length > 200 || mishap_text_equal(text, mishap_text_of("about:blank")))
        return false;
    if (strcmp(name, "status") == 0)
        return is_upper(text);
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == ' ' || text.data[i] == '\n')
            return false;
    return true;
}

/* Where the code stands; "" if there is none. */
static void find_code(const holders *all, int status, char *path, size_t size)
{
    static const char *const names[] = { "code",       "error_code", "errorCode", "error",
                                         "error_type", "errorType",  "type",      "reason",
                                         "status",     "kind",       "name",      "errno" };
    path[0] = '\0';
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            yyjson_val *value = yyjson_obj_get(all->list[i].object, names[j]);
            if (value && is_code(value, names[j], status)) {
                snprintf(path, size, "%s%s", all->list[i].path, names[j]);
                return;
            }
        }
    for (size_t i = 0; i < all->count; i++) {
        yyjson_val *more = yyjson_obj_get(all->list[i].object, "extensions");
        yyjson_val *value = yyjson_is_obj(more) ? yyjson_obj_get(more, "code") : NULL;
        if (value && is_code(value, "code", status)) {
            snprintf(path, size, "%sextensions/code", all->list[i].path);
            return;
        }
    }
}

/* Is it problem+json? Without a type it is about:blank: the status is all that is to know. */
static bool is_problem(const http_run *run)
{
    static const char name[] = "application/problem+json";
    mishap_text type = mishap_client_field(&run->response, "Content-Type");
    return type.length >= sizeof name - 1 && memcmp(type.data, name, sizeof name - 1) == 0;
}

static void judge_code(http_run *run, const http_probe *probe, http_shape *shape)
{
    if (!shape->code[0] && is_problem(run)) {
        snprintf(shape->code, sizeof shape->code, "type");
        return;
    }
    mishap_audit_http_report(
        run, HTTP_CODE, shape->code[0] ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, probe,
        "The response %d has no member with a machine-readable code.", run->response.status);
}

/* -- sentence ---------------------------------------------------------------------------------- */

/* A text with words in it, or a list that has one: {"message": ["limit should not be empty"]}. */
static bool is_sentence(yyjson_val *value)
{
    size_t index, count;
    yyjson_val *item;
    if (yyjson_is_str(value))
        return has_space(mishap_json_text(value));
    if (!yyjson_is_arr(value))
        return false;
    MISHAP_JSON_ITEMS (value, index, count, item)
        if (yyjson_is_str(item) && has_space(mishap_json_text(item)))
            return true;
    return false;
}

static bool has_sentence(const holders *all)
{
    size_t index, count;
    yyjson_val *key, *value;
    for (size_t i = 0; i < all->count; i++)
        MISHAP_JSON_MEMBERS (all->list[i].object, index, count, key, value)
            if (!MISHAP_JSON_IS(key, "stack") && is_sentence(value))
                return true;
    return false;
}

/* -- status ------------------------------------------------------------------------------------ */

/* A status in a member, as a number or in digits; 0: none. */
static int status_in(yyjson_val *value)
{
    mishap_text text = yyjson_is_str(value) ? mishap_json_text(value) : (mishap_text){ NULL, 0 };
    int64_t number = yyjson_is_int(value) ? yyjson_get_sint(value) : 0;
    if (text.length == 3)
        for (size_t i = 0; i < 3; i++)
            number = text.data[i] >= '0' && text.data[i] <= '9' ? number * 10 + text.data[i] - '0'
                                                                : INT32_MAX;
    return number >= 100 && number <= 599 ? (int)number : 0;
}

/* Of a list of errors, each may have another status. */
static void judge_status(http_run *run, const http_probe *probe, const holders *all)
{
    static const char *const names[] = { "status", "statusCode", "status_code", "httpStatus",
                                         "http_status" };
    int real = run->response.status;
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            int said = strstr(all->list[i].path, "0/")
                           ? 0
                           : status_in(yyjson_obj_get(all->list[i].object, names[j]));
            if (said)
                mishap_audit_http_report(run, HTTP_STATUS,
                                         said == real ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED,
                                         probe, "The status is %d, and %s%s in the body is %d.",
                                         real, all->list[i].path, names[j], said);
        }
}

/* -- shape ------------------------------------------------------------------------------------- */

/* May a member have values of several types, as the schema of the errors documents it? */
static bool has_many_types(yyjson_val *schema, mishap_text name)
{
    yyjson_val *properties = yyjson_is_obj(schema) ? yyjson_obj_get(schema, "properties") : NULL;
    yyjson_val *property = yyjson_is_obj(properties)
                               ? yyjson_obj_getn(properties, name.data, name.length)
                               : NULL;
    unsigned types = mishap_openapi_types(property);
    return property && (types & (types - 1) || (!types && !yyjson_obj_get(property, "$ref")));
}

static void read_members(http_shape *shape, yyjson_val *json, yyjson_val *schema)
{
    size_t index, count;
    yyjson_val *key, *value;
    if (!yyjson_is_obj(json))
        return;
    MISHAP_JSON_MEMBERS (json, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        if (shape->count == sizeof shape->members / sizeof *shape->members)
            return;
        if (name.length >= sizeof shape->members[0].name || yyjson_is_null(value) ||
            has_many_types(schema, name))
            continue;
        memcpy(shape->members[shape->count].name, name.data, name.length);
        shape->members[shape->count].name[name.length] = '\0';
        shape->members[shape->count++].type = yyjson_get_type(value);
    }
}

/* What differs, as a sentence with a place for a name; NULL: nothing. Members that only one of them
 * has are no difference: they may be optional. */
static const char *shapes_differ(const http_shape *a, const http_shape *b, const char **member)
{
    *member = "";
    if (a->form != b->form)
        return a->form == HTTP_FORM_JSON || b->form == HTTP_FORM_JSON
                   ? "one is JSON, the other is not"
                   : "one is HTML, text or XML, the other is not";
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            if (strcmp(a->members[i].name, b->members[j].name) == 0 &&
                a->members[i].type != b->members[j].type) {
                *member = a->members[i].name;
                return "values have two types in the member ";
            }
    return strcmp(a->code, b->code) == 0 ? NULL
           : a->code[0] && b->code[0]    ? "the code stands in another member"
                                         : "only one of them has a code";
}

/* The first error of a group gives the shape. Each other shape is reported once, where it is met
 * first. A group has the operations that document one schema for all their errors: their clients
 * know which to expect. All other errors are another group. */
static void judge_shape(http_run *run, const http_probe *probe, http_shape *shape)
{
    const http_shape *first = NULL;
    const char *member = "", *unused, *difference = NULL;
    shape->group = probe->shaped ? probe->shaped->errors : NULL;
    for (size_t i = 0; i < run->shape_count; i++) {
        if (run->shapes[i].group != shape->group)
            continue;
        if (!first) {
            first = &run->shapes[i];
            difference = shapes_differ(first, shape, &member);
        } else if (difference && !shapes_differ(&run->shapes[i], shape, &unused)) {
            return;
        }
    }
    if ((!first || difference) && run->shape_count < HTTP_MOST_SHAPES) {
        snprintf(shape->place, sizeof shape->place, "%s", run->place);
        run->shapes[run->shape_count++] = *shape;
    }
    if (!difference)
        mishap_audit_http_report(run, HTTP_SHAPE, MISHAP_AUDIT_PASSED, probe, "the same");
    else
        mishap_audit_http_report(run, HTTP_SHAPE, MISHAP_AUDIT_FAILED, probe,
                                 "This error (%d) differs from that of %.250s: %s%s.",
                                 run->response.status, first->place, difference, member);
}

/* Unknown paths are answered in a shape of the operations, if those document one. */
void mishap_audit_http_judge_groups(http_run *run)
{
    const http_shape *own = NULL, *other = NULL;
    const char *member, *difference = NULL;
    for (size_t i = 0; i < run->shape_count && !own; i++)
        own = run->shapes[i].group ? NULL : &run->shapes[i];
    for (size_t i = 0; i < run->shape_count && own; i++) {
        if (!run->shapes[i].group)
            continue;
        other = &run->shapes[i];
        difference = shapes_differ(own, other, &member);
        if (!difference)
            return;
    }
    if (!own || !other)
        return;
    char detail[800];
    snprintf(detail, sizeof detail, "This error has no documented shape: compared with %s, %s%s.",
             other->place, difference, member);
    mishap_audit_report(run->audit, &mishap_audit_http_checks[HTTP_SHAPE], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){ .place = own->place,
                                              .key = "documented",
                                              .detail = mishap_text_of(detail) });
}

void mishap_audit_http_judge_body(http_run *run, const http_probe *probe, http_form form,
                                  yyjson_val *json)
{
    http_shape shape = { .form = form };
    int status = run->response.status;
    mishap_text body = mishap_buffer_text(&run->response.body);
    if (json) {
        holders all = holders_of(json);
        find_code(&all, status, shape.code, sizeof shape.code);
        read_members(&shape, json, probe->shaped ? probe->shaped->errors : NULL);
        judge_status(run, probe, &all);
        mishap_audit_http_report(
            run, HTTP_SENTENCE, has_sentence(&all) ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED,
            probe, "The response %d has no sentence that says what is wrong.", status);
    } else if (form == HTTP_FORM_TEXT) {
        mishap_audit_http_report(
            run, HTTP_SENTENCE, has_space(body) ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, probe,
            "The response %d has no sentence that says what is wrong.", status);
    }
    if (form != HTTP_FORM_OTHER)
        judge_code(run, probe, &shape);
    judge_shape(run, probe, &shape);
}
