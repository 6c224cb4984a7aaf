#include "dialect/carried.h"

#include "mishap/code.h"

bool mishap_is_code(yyjson_val *value)
{
    char name[128];
    mishap_text text = mishap_json_text(value);
    return yyjson_is_str(value) && (mishap_catalog_find(MISHAP_SPELLING_NAME, text) ||
                                    mishap_code_unspell(text, name, sizeof name));
}

bool mishap_is_category(yyjson_val *value)
{
    mishap_category category;
    return yyjson_is_str(value) && mishap_category_find(mishap_json_text(value), &category);
}

bool mishap_is_fields(yyjson_val *value)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (value, index, count, item) {
        if (!yyjson_is_str(yyjson_obj_get(item, "field")) ||
            !yyjson_is_str(yyjson_obj_get(item, "error")))
            return false;
    }
    return yyjson_is_arr(value);
}

/* The code that was read needs no second search in the catalog. */
static bool has_form(const mishap *m, yyjson_val *value, const mishap_known *known)
{
    return (known->form == mishap_is_code && yyjson_is_str(value) &&
            mishap_text_equal(mishap_json_text(value), mishap_told(m)->code->name)) ||
           known->form(value);
}

static bool is_known(const mishap *m, yyjson_val *key, yyjson_val *value, const mishap_known *known,
                     size_t count)
{
    mishap_text name = mishap_json_text(key);
    for (size_t i = 0; i < count && name.length; i++)
        if (known[i].key.length == name.length && known[i].key.data[0] == name.data[0] &&
            mishap_text_equal(known[i].key, name))
            return has_form(m, value, &known[i]);
    return false;
}

void mishap_read_others(mishap *m, yyjson_val *object, const mishap_known *known, size_t count)
{
    size_t index, members, others = 0;
    yyjson_val *key, *value, *context = yyjson_obj_get(object, "context");
    MISHAP_JSON_MEMBERS (object, index, members, key, value) {
        others += !is_known(m, key, value, known, count);
    }
    if (!others)
        return;
    if (others == 1 && yyjson_is_obj(context)) {
        mishap_read_context(m, context);
        return;
    }
    MISHAP_JSON_MEMBERS (object, index, members, key, value) {
        if (!is_known(m, key, value, known, count))
            mishap_read_member(m, mishap_json_text(key), value);
    }
}

void mishap_read_carried(mishap *m, yyjson_val *object, unsigned with)
{
    static const mishap_known known[] = {
        MISHAP_KNOWN_CANONICAL,
        { MISHAP_TEXT("fields"), mishap_is_fields },
        { MISHAP_TEXT("message"), yyjson_is_str },
    };
    bool message = with & MISHAP_WITH_MESSAGE;
    yyjson_val *fields = yyjson_obj_get(object, "fields");
    mishap_read_kind(m, object);
    if (mishap_is_fields(fields))
        mishap_read_fields(m, fields);
    mishap_read_others(m, object, known, MISHAP_KNOWN_COUNT(known) - !message);
}

void mishap_check_carried(mishap_check *c, yyjson_val *object)
{
    static const mishap_shape shape[] = {
        MISHAP_SHAPE("code", .types = MISHAP_SHAPE_STRING, .required = true,
                     .check = mishap_check_code_name),
        MISHAP_SHAPE("category", .types = MISHAP_SHAPE_STRING, .check = mishap_check_category),
        MISHAP_SHAPE("retryable", .types = MISHAP_SHAPE_BOOL),
        MISHAP_SHAPE("retry_after_ms", .types = MISHAP_SHAPE_INTEGER,
                     .check = mishap_check_not_negative),
        MISHAP_SHAPE("cause", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
        MISHAP_SHAPE("suggestion", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
        MISHAP_SHAPE("docs_url", .types = MISHAP_SHAPE_STRING, .check = mishap_check_url),
        MISHAP_SHAPE("context", .types = MISHAP_SHAPE_OBJECT),
        MISHAP_SHAPE("fields", .types = MISHAP_SHAPE_ARRAY, .check = mishap_check_fields),
        MISHAP_SHAPE("incident", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    };
    if (mishap_check_object(c, object, shape, MISHAP_SHAPE_COUNT(shape), false))
        mishap_check_retry(c, object, "retryable", "retry_after_ms");
}
