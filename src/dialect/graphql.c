/*
 * graphql: the errors of a GraphQL response.
 *
 *     {"errors":[{"message":"Todo not found",
 *                 "extensions":{"code":"NOT_FOUND","category":"resource", …}}]}
 *
 * `extensions` is the one place that the specification leaves to servers: the mishap is there in
 * canonical form. A mishap is one error; of several that are read, the first counts.
 */
#include "dialect/carried.h"

static void render_graphql(const mishap_public *told, mishap_buffer *b)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "errors");
    mishap_json_open(b, '[');
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_public_message(told));
    MISHAP_JSON_KEY(b, "extensions");
    mishap_json_open(b, '{');
    mishap_put_canonical(b, told, 0);
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The codes of Apollo Server that say the same as a row of ours under another name. */
static const struct {
    const char *name;
    const mishap_code *code;
} apollo[] = {
    { "BAD_USER_INPUT", MISHAP_CODE_INVALID_ARGUMENT },
    { "GRAPHQL_PARSE_FAILED", MISHAP_CODE_MALFORMED_INPUT },
    { "GRAPHQL_VALIDATION_FAILED", MISHAP_CODE_BAD_REQUEST },
    { "INTERNAL_SERVER_ERROR", MISHAP_CODE_INTERNAL_ERROR },
    { "OPERATION_RESOLUTION_FAILURE", MISHAP_CODE_BAD_REQUEST },
    { "UNAUTHENTICATED", MISHAP_CODE_UNAUTHORIZED },
};

/* Where servers put the kind of an error: Apollo and most others, graphql-java, GitHub, AppSync. */
static yyjson_val *find_code(yyjson_val *error, yyjson_val *extensions)
{
    yyjson_val *places[] = {
        yyjson_obj_get(extensions, "code"), yyjson_obj_get(extensions, "classification"),
        yyjson_obj_get(error, "code"),      yyjson_obj_get(error, "type"),
        yyjson_obj_get(error, "errorType"),
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (mishap_is_code(places[i]))
            return places[i];
    return NULL;
}

/* A document that names its category has its codes from a catalog, even where Apollo gives them
 * another meaning. */
static mishap *restore(yyjson_val *code, yyjson_val *extensions)
{
    mishap_category category = MISHAP_EXECUTION;
    mishap_text name = mishap_json_text(code);
    yyjson_val *stated = yyjson_obj_get(extensions, "category");
    bool ours = mishap_category_find(mishap_json_text(stated), &category) ||
                mishap_catalog_find(MISHAP_SPELLING_NAME, name);
    for (size_t i = 0; !ours && i < sizeof apollo / sizeof *apollo; i++)
        if (mishap_text_equal(name, mishap_text_of(apollo[i].name)))
            return mishap_restore_code(apollo[i].code);
    return mishap_restore(MISHAP_SPELLING_NAME, name, category, 0, MISHAP_CODE_GENERAL_ERROR);
}

/* Where in the query and in the result it happened is context, unless that has the name already. */
static void read_place(mishap *m, yyjson_val *error, yyjson_val *extensions, const char *key)
{
    yyjson_val *place = yyjson_obj_get(error, key);
    if (yyjson_is_arr(place) && !yyjson_obj_get(extensions, key) &&
        !yyjson_obj_get(yyjson_obj_get(extensions, "context"), key))
        mishap_read_member(m, mishap_text_of(key), place);
}

static mishap *read_graphql(const mishap_source *source, mishap **out)
{
    yyjson_val *errors = yyjson_obj_get(source->root, "errors");
    yyjson_val *error = yyjson_arr_get_first(errors);
    if (!errors)
        return mishap_refuse(source, source->root, "The member `errors` is missing.");
    if (!yyjson_is_obj(error))
        return mishap_refuse(source, error ? error : errors, "The array `errors` is empty.");
    yyjson_val *message = yyjson_obj_get(error, "message");
    yyjson_val *extensions = yyjson_obj_get(error, "extensions");
    if (!yyjson_is_str(message))
        return mishap_refuse(source, message ? message : error,
                             "The member `message` is missing or is not a string.");
    mishap *m = restore(find_code(error, extensions), extensions);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(message));
    read_place(m, error, extensions, "locations");
    read_place(m, error, extensions, "path");
    mishap_read_carried(m, extensions, 0);
    return mishap_finish(m, out);
}

/* -- checking ---------------------------------------------------------------------------------- */

static void check_from_one(mishap_check *c, yyjson_val *value)
{
    if (yyjson_get_num(value) < 1)
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "Lines and columns must be 1 or greater.");
}

static const mishap_shape location_shape[] = {
    MISHAP_SHAPE("line", .types = MISHAP_SHAPE_INTEGER, .required = true, .check = check_from_one),
    MISHAP_SHAPE("column", .types = MISHAP_SHAPE_INTEGER, .required = true,
                 .check = check_from_one),
};

static void check_location(mishap_check *c, yyjson_val *location)
{
    mishap_check_object(c, location, location_shape, MISHAP_SHAPE_COUNT(location_shape), true);
}

static void check_locations(mishap_check *c, yyjson_val *locations)
{
    mishap_check_items(c, locations, check_location);
}

static void check_segment(mishap_check *c, yyjson_val *segment)
{
    if (yyjson_is_int(segment))
        mishap_check_not_negative(c, segment);
    else if (!yyjson_is_str(segment))
        mishap_check_say(c, MISHAP_RULE_WRONG_TYPE, "A path must consist of names and indices.");
}

static void check_path(mishap_check *c, yyjson_val *path)
{
    mishap_check_items(c, path, check_segment);
}

static const mishap_shape error_shape[] = {
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_message),
    MISHAP_SHAPE("locations", .types = MISHAP_SHAPE_ARRAY, .check = check_locations),
    MISHAP_SHAPE("path", .types = MISHAP_SHAPE_ARRAY, .check = check_path),
    MISHAP_SHAPE("extensions", .types = MISHAP_SHAPE_OBJECT, .check = mishap_check_carried),
};

/* By the specification an error needs no extensions; strict: it has a code, and that is there. */
static void check_error(mishap_check *c, yyjson_val *error)
{
    if (mishap_check_object(c, error, error_shape, MISHAP_SHAPE_COUNT(error_shape), true) &&
        c->strict && !yyjson_obj_get(error, "extensions"))
        mishap_check_say(c, MISHAP_RULE_MISSING_MEMBER, "The member `extensions` is missing.");
}

static void check_errors(mishap_check *c, yyjson_val *errors)
{
    mishap_check_errors(c, errors, check_error);
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("errors", .types = MISHAP_SHAPE_ARRAY, .required = true, .check = check_errors),
    MISHAP_SHAPE("data", .types = MISHAP_SHAPE_OBJECT | MISHAP_SHAPE_NULL),
    MISHAP_SHAPE("extensions", .types = MISHAP_SHAPE_OBJECT),
};

static void check_graphql(mishap_check *c, yyjson_val *root)
{
    mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), true);
}

const mishap_dialect mishap_graphql = {
    .name = "graphql",
    .media_type = "application/graphql-response+json",
    .last_words = MISHAP_TEXT(
        "{\"errors\":[{\"message\":\"An internal error occurred.\",\"extensions\":"
        "{\"code\":\"INTERNAL_ERROR\",\"category\":\"system\","
        "\"retryable\":false}}]}"),
    .render = render_graphql,
    .read = read_graphql,
    .check = check_graphql,
};
