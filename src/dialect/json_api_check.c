/* The rules for an error document of JSON:API 1.1. */
#include "dialect/json_api.h"

/* Objects are closed, but for @-members and those of extensions, which have a colon in the name. */
static bool check_closed(mishap_check *c, yyjson_val *object, const mishap_shape *shapes,
                         size_t count)
{
    size_t index, members, i;
    yyjson_val *key, *value;
    if (!mishap_check_object(c, object, shapes, count, false))
        return false;
    MISHAP_JSON_MEMBERS (object, index, members, key, value) {
        mishap_text name = mishap_json_text(key);
        for (i = 0; i < count && !mishap_text_equal(shapes[i].key, name); i++)
            ;
        if (i < count || (name.length && name.data[0] == '@') ||
            memchr(name.data, ':', name.length))
            continue;
        mishap_check_enter(c, name);
        mishap_check_say(c, MISHAP_RULE_UNKNOWN_MEMBER, "This format has no member `%.*s`.",
                         (int)name.length, name.data);
        mishap_check_leave(c);
    }
    return true;
}

#define CHECK_CLOSED(c, object, shapes)                                                            \
    check_closed((c), (object), (shapes), MISHAP_SHAPE_COUNT(shapes))

/* An address may be relative. */
static void check_reference(mishap_check *c, yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    bool sound = text.length > 0;
    for (size_t i = 0; i < text.length; i++)
        sound = sound && (unsigned char)text.data[i] > ' ' && !strchr("<>\"{}|\\^`", text.data[i]);
    if (!sound)
        mishap_check_say(c, MISHAP_RULE_NOT_A_URL, "This is not a URL.");
}

static void check_uri(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_str(value))
        check_reference(c, value);
    else
        mishap_check_say(c, MISHAP_RULE_WRONG_TYPE, "This must be a string.");
}

static void check_uris(mishap_check *c, yyjson_val *array)
{
    mishap_check_items(c, array, check_uri);
}

static void check_link(mishap_check *c, yyjson_val *value);

enum { LINK = MISHAP_SHAPE_STRING | MISHAP_SHAPE_OBJECT | MISHAP_SHAPE_NULL };
static const mishap_shape link_shape[] = {
    MISHAP_SHAPE("href", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_reference),
    MISHAP_SHAPE("rel", .types = MISHAP_SHAPE_STRING),
    MISHAP_SHAPE("describedby", .types = LINK, .check = check_link),
    MISHAP_SHAPE("title", .types = MISHAP_SHAPE_STRING),
    MISHAP_SHAPE("type", .types = MISHAP_SHAPE_STRING),
    MISHAP_SHAPE("hreflang", .types = MISHAP_SHAPE_STRING | MISHAP_SHAPE_ARRAY),
    MISHAP_SHAPE("meta", .types = MISHAP_SHAPE_OBJECT),
};

static void check_link(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_str(value))
        check_reference(c, value);
    else if (yyjson_is_obj(value) && c->path.depth < MISHAP_JSON_MAX_DEPTH)
        CHECK_CLOSED(c, value, link_shape);
}

static void check_links(mishap_check *c, yyjson_val *links)
{
    static const mishap_shape shapes[] = {
        MISHAP_SHAPE("about", .types = LINK, .check = check_link),
        MISHAP_SHAPE("type", .types = LINK, .check = check_link),
    };
    CHECK_CLOSED(c, links, shapes);
}

static void check_top_links(mishap_check *c, yyjson_val *links)
{
    static const mishap_shape shapes[] = {
        MISHAP_SHAPE("self", .types = LINK, .check = check_link),
        MISHAP_SHAPE("related", .types = LINK, .check = check_link),
        MISHAP_SHAPE("describedby", .types = LINK, .check = check_link),
        MISHAP_SHAPE("first", .types = LINK, .check = check_link),
        MISHAP_SHAPE("last", .types = LINK, .check = check_link),
        MISHAP_SHAPE("prev", .types = LINK, .check = check_link),
        MISHAP_SHAPE("next", .types = LINK, .check = check_link),
    };
    CHECK_CLOSED(c, links, shapes);
}

static void check_jsonapi(mishap_check *c, yyjson_val *object)
{
    static const mishap_shape shapes[] = {
        MISHAP_SHAPE("version", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
        MISHAP_SHAPE("ext", .types = MISHAP_SHAPE_ARRAY, .check = check_uris),
        MISHAP_SHAPE("profile", .types = MISHAP_SHAPE_ARRAY, .check = check_uris),
        MISHAP_SHAPE("meta", .types = MISHAP_SHAPE_OBJECT),
    };
    CHECK_CLOSED(c, object, shapes);
}

/* A JSON pointer: empty, or steps that start with a slash, in which ~ stands only before 0 or 1. */
static void check_pointer(mishap_check *c, yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    bool sound = text.length == 0 || text.data[0] == '/';
    for (size_t i = 0; i < text.length; i++) {
        char next = i + 1 < text.length ? text.data[i + 1] : '\0';
        sound = sound && (text.data[i] != '~' || next == '0' || next == '1');
    }
    if (!sound)
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE,
                         "This is not a JSON pointer such as \"/items/2/name\".");
}

static void check_source(mishap_check *c, yyjson_val *source)
{
    static const mishap_shape shapes[] = {
        MISHAP_SHAPE("pointer", .types = MISHAP_SHAPE_STRING, .check = check_pointer),
        MISHAP_SHAPE("parameter", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
        MISHAP_SHAPE("header", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    };
    CHECK_CLOSED(c, source, shapes);
}

static void check_status(mishap_check *c, yyjson_val *value)
{
    if (!mishap_json_api_status(value))
        mishap_check_say(c, MISHAP_RULE_STATUS_RANGE,
                         "The status of an error must be from \"400\" to \"599\".");
}

static const mishap_shape error_shape[] = {
    MISHAP_SHAPE("id", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("links", .types = MISHAP_SHAPE_OBJECT, .check = check_links),
    MISHAP_SHAPE("status", .types = MISHAP_SHAPE_STRING, .check = check_status),
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_STRING, .check = mishap_check_code_name),
    MISHAP_SHAPE("title", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("detail", .types = MISHAP_SHAPE_STRING, .check = mishap_check_message),
    MISHAP_SHAPE("source", .types = MISHAP_SHAPE_OBJECT, .check = check_source),
    MISHAP_SHAPE("meta", .types = MISHAP_SHAPE_OBJECT),
};

/* What is said of a field has the status of the whole answer; else code and status must fit. */
static void check_fit(mishap_check *c, yyjson_val *error)
{
    int status = mishap_json_api_status(yyjson_obj_get(error, "status"));
    mishap_text name = mishap_json_text(yyjson_obj_get(error, "code"));
    const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME, name);
    if (!code || !status || status == code->http_status || yyjson_obj_get(error, "source"))
        return;
    mishap_check_enter(c, (mishap_text)MISHAP_TEXT("status"));
    mishap_check_say(c, MISHAP_RULE_STATUS_MISMATCH, "%s has the status %d.", code->name.data,
                     code->http_status);
    mishap_check_leave(c);
}

/* Bounds that are numbers, as ours are. */
static void check_bounds(mishap_check *c, yyjson_val *error)
{
    yyjson_val *meta = yyjson_obj_get(error, "meta");
    yyjson_val *min = yyjson_obj_get(meta, "min"), *max = yyjson_obj_get(meta, "max");
    if (!mishap_json_api_place(error) || !yyjson_is_num(min) || !yyjson_is_num(max) ||
        yyjson_get_num(min) <= yyjson_get_num(max))
        return;
    mishap_check_enter(c, (mishap_text)MISHAP_TEXT("meta"));
    mishap_check_say(c, MISHAP_RULE_FIELD_BOUNDS, "`min` is greater than `max`.");
    mishap_check_leave(c);
}

static void check_error(mishap_check *c, yyjson_val *error)
{
    if (!CHECK_CLOSED(c, error, error_shape))
        return;
    size_t own = 0;
    for (size_t i = 0; i < MISHAP_SHAPE_COUNT(error_shape); i++)
        own += yyjson_obj_get(error, error_shape[i].key.data) != NULL;
    if (own == 0)
        mishap_check_say(c, MISHAP_RULE_MISSING_MEMBER, "An error must have at least one member.");
    check_fit(c, error);
    check_bounds(c, error);
}

static void check_errors(mishap_check *c, yyjson_val *errors)
{
    mishap_check_errors(c, errors, check_error);
}

/* `data` and what belongs to it is no member of a document that tells of errors. */
static const mishap_shape shape[] = {
    MISHAP_SHAPE("errors", .types = MISHAP_SHAPE_ARRAY, .required = true, .check = check_errors),
    MISHAP_SHAPE("meta", .types = MISHAP_SHAPE_OBJECT),
    MISHAP_SHAPE("jsonapi", .types = MISHAP_SHAPE_OBJECT, .check = check_jsonapi),
    MISHAP_SHAPE("links", .types = MISHAP_SHAPE_OBJECT, .check = check_top_links),
};

void mishap_json_api_check(mishap_check *c, yyjson_val *root)
{
    CHECK_CLOSED(c, root, shape);
}
