/*
 * Values for a schema: one that it allows, or one that breaks a certain rule. A schema with a rule
 * that is not read (`pattern`, `oneOf` …) has no such value: a request with a guessed one would
 * prove nothing.
 */
#include "audit/http/openapi.h"

/* What may stand in a schema for which a value is made: rules that are read, and members that
 * allow no more and no less. */
static const char *const read_words[] = {
    "$ref",         "additionalProperties",
    "default",      "deprecated",
    "description",  "enum",
    "example",      "examples",
    "externalDocs", "format",
    "items",        "maxLength",
    "maximum",      "minLength",
    "minimum",      "nullable",
    "properties",   "readOnly",
    "required",     "title",
    "type",         "writeOnly",
    "xml",
};

/* Formats that any value of the type has. */
static const char *const free_formats[] = { "int32",  "int64",    "float",    "double",
                                            "number", "password", "byte-size" };

static bool is_listed(mishap_text word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mishap_text_equal(word, mishap_text_of(list[i])))
            return true;
    return false;
}
#define IS_LISTED(word, list) is_listed((word), (list), sizeof(list) / sizeof *(list))

static bool is_small(yyjson_val *number)
{
    return yyjson_is_num(number) && yyjson_get_num(number) > -9e15 && yyjson_get_num(number) < 9e15;
}

static bool is_readable(yyjson_val *schema)
{
    size_t index, count;
    yyjson_val *key, *value;
    if (!yyjson_is_obj(schema))
        return false;
    MISHAP_JSON_MEMBERS (schema, index, count, key, value) {
        mishap_text word = mishap_json_text(key);
        if (!IS_LISTED(word, read_words) && !(word.length > 1 && memcmp(word.data, "x-", 2) == 0))
            return false;
        if ((MISHAP_JSON_IS(key, "minimum") || MISHAP_JSON_IS(key, "maximum") ||
             MISHAP_JSON_IS(key, "minLength") || MISHAP_JSON_IS(key, "maxLength")) &&
            !is_small(value))
            return false;
        if (MISHAP_JSON_IS(key, "format") && !IS_LISTED(mishap_json_text(value), free_formats))
            return false;
    }
    return true;
}

/* Numbers are small enough for int64_t (is_small()). The library needs no libm for this. */
static double round_down(double number)
{
    double whole = (double)(int64_t)number;
    return whole > number ? whole - 1 : whole;
}

static double round_up(double number)
{
    return -round_down(-number);
}

static bool number_member(yyjson_val *schema, const char *name, double *out)
{
    yyjson_val *value = yyjson_obj_get(schema, name);
    *out = yyjson_is_num(value) ? yyjson_get_num(value) : 0;
    return value != NULL;
}

static void put_number(mishap_buffer *out, double number, bool whole)
{
    mishap_json_comma(out);
    if (whole || number == round_down(number))
        mishap_buffer_put_int(out, (int64_t)number);
    else
        mishap_buffer_put_real(out, number);
}

/* -- scalars ----------------------------------------------------------------------------------- */

static bool sample_number(yyjson_val *schema, bool whole, mishap_openapi_flaw flaw,
                          mishap_buffer *out)
{
    double least = 0, most = 0, number = 1;
    bool has_least = number_member(schema, "minimum", &least);
    bool has_most = number_member(schema, "maximum", &most);
    if (flaw == MISHAP_OPENAPI_OUT_OF_LIMITS) {
        if (!has_least && !has_most)
            return false;
        put_number(out, has_most ? round_down(most) + 1 : round_up(least) - 1, whole);
        return true;
    }
    if (has_least && number < least)
        number = whole ? round_up(least) : least;
    if (has_most && number > most)
        number = whole ? round_down(most) : most;
    if (has_least && number < least)
        return false; /* no number is allowed */
    put_number(out, number, whole);
    return true;
}

static bool sample_string(yyjson_val *schema, mishap_openapi_flaw flaw, mishap_buffer *out)
{
    double least = 0, most = 0;
    bool has_least = number_member(schema, "minLength", &least);
    bool has_most = number_member(schema, "maxLength", &most);
    size_t length = 6;
    static const char word[] = "mishap";
    if (flaw == MISHAP_OPENAPI_OUT_OF_LIMITS) {
        if (has_most && most >= 0 && most < MISHAP_OPENAPI_MOST_SAMPLE / 2)
            length = (size_t)most + 1;
        else if (has_least && least >= 1)
            length = 0;
        else
            return false;
    } else {
        if (has_least && least > (double)length)
            length = least < MISHAP_OPENAPI_MOST_SAMPLE / 2 ? (size_t)least : SIZE_MAX;
        if (has_most && most < (double)length)
            length = most >= 0 ? (size_t)most : SIZE_MAX;
        if (length == SIZE_MAX || (has_least && (double)length < least))
            return false;
    }
    mishap_json_comma(out);
    mishap_buffer_put_char(out, '"');
    for (size_t i = 0; i < length; i++)
        mishap_buffer_put_char(out, word[i % (sizeof word - 1)]);
    mishap_buffer_put_char(out, '"');
    return true;
}

/* The first value of `enum`; or a text that is none of them. */
static bool sample_choice(yyjson_val *choices, mishap_openapi_flaw flaw, mishap_buffer *out)
{
    static const mishap_text none = MISHAP_TEXT("mishap-audit-none-of-these");
    size_t index, count;
    yyjson_val *item, *first = yyjson_arr_get_first(choices);
    if (!first || yyjson_is_ctn(first))
        return false;
    if (flaw == MISHAP_OPENAPI_VALID) {
        mishap_json_copy(out, first);
        return true;
    }
    MISHAP_JSON_ITEMS (choices, index, count, item)
        if (!yyjson_is_str(item) || mishap_text_equal(mishap_json_text(item), none))
            return false;
    mishap_json_string(out, none);
    return true;
}

/* A value of a type that the schema does not name. An object is no string, no number and no
 * boolean, also for a server that converts between those. */
static bool sample_wrong_type(unsigned types, mishap_buffer *out)
{
    if (!types)
        return false;
    if (!(types & (MISHAP_OPENAPI_OBJECT | MISHAP_OPENAPI_ARRAY))) {
        mishap_json_open(out, '{');
        MISHAP_JSON_KEY(out, "mishap");
        mishap_json_bool(out, true);
        mishap_json_close(out, '}');
        return true;
    }
    if (types & MISHAP_OPENAPI_STRING)
        return false;
    mishap_json_string(out, mishap_text_of("mishap"));
    return true;
}

/* -- values ------------------------------------------------------------------------------------ */

static bool sample_valid(mishap_openapi *document, yyjson_val *schema, int depth,
                         mishap_buffer *out);

/* The required members of an object, and of these one with the flaw. */
static bool sample_members(mishap_openapi *document, yyjson_val *schema, mishap_text broken,
                           mishap_openapi_flaw flaw, int depth, mishap_buffer *out)
{
    mishap_text names[64];
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    size_t count = mishap_openapi_required(document, schema, names, 64);
    bool fine = count < 64;
    mishap_json_open(out, '{');
    if (flaw != MISHAP_OPENAPI_VALID) {
        yyjson_val *property = yyjson_obj_getn(properties, broken.data, broken.length);
        mishap_json_key(out, broken);
        fine = mishap_openapi_sample(document, property, flaw, out, NULL) && fine;
    }
    for (size_t i = 0; i < count && fine; i++) {
        if (flaw != MISHAP_OPENAPI_VALID && mishap_text_equal(names[i], broken))
            continue;
        yyjson_val *property = yyjson_is_obj(properties)
                                   ? yyjson_obj_getn(properties, names[i].data, names[i].length)
                                   : NULL;
        mishap_json_key(out, names[i]);
        fine = sample_valid(document, property, depth + 1, out);
    }
    mishap_json_close(out, '}');
    return fine && !out->failed && out->length < MISHAP_OPENAPI_MOST_SAMPLE;
}

static bool sample_valid(mishap_openapi *document, yyjson_val *unresolved, int depth,
                         mishap_buffer *out)
{
    yyjson_val *schema = mishap_openapi_resolve(document, unresolved);
    if (!is_readable(schema) || depth > MISHAP_OPENAPI_MOST_DEPTH ||
        out->length > MISHAP_OPENAPI_MOST_SAMPLE)
        return false;
    unsigned types = mishap_openapi_types(schema);
    yyjson_val *choices = yyjson_obj_get(schema, "enum");
    if (yyjson_is_arr(choices))
        return sample_choice(choices, MISHAP_OPENAPI_VALID, out);
    if (types & MISHAP_OPENAPI_STRING)
        return sample_string(schema, MISHAP_OPENAPI_VALID, out);
    if (types & (MISHAP_OPENAPI_INTEGER | MISHAP_OPENAPI_NUMBER))
        return sample_number(schema, types & MISHAP_OPENAPI_INTEGER, MISHAP_OPENAPI_VALID, out);
    if (types & MISHAP_OPENAPI_BOOLEAN) {
        mishap_json_bool(out, true);
        return true;
    }
    if (types & MISHAP_OPENAPI_ARRAY) {
        mishap_json_open(out, '[');
        mishap_json_close(out, ']');
        return true;
    }
    if (types & MISHAP_OPENAPI_OBJECT)
        return sample_members(document, schema, (mishap_text){ NULL, 0 }, MISHAP_OPENAPI_VALID,
                              depth, out);
    return false;
}

static bool sample_scalar_flaw(yyjson_val *schema, mishap_openapi_flaw flaw, mishap_buffer *out)
{
    unsigned types = mishap_openapi_types(schema);
    yyjson_val *choices = yyjson_obj_get(schema, "enum");
    if (flaw == MISHAP_OPENAPI_WRONG_TYPE)
        return sample_wrong_type(types, out);
    if (yyjson_is_arr(choices))
        return sample_choice(choices, flaw, out);
    if (types == MISHAP_OPENAPI_STRING)
        return sample_string(schema, flaw, out);
    if (types == MISHAP_OPENAPI_INTEGER || types == MISHAP_OPENAPI_NUMBER)
        return sample_number(schema, types == MISHAP_OPENAPI_INTEGER, flaw, out);
    return false;
}

bool mishap_openapi_sample(mishap_openapi *document, yyjson_val *unresolved,
                           mishap_openapi_flaw flaw, mishap_buffer *out, mishap_text *broken)
{
    size_t index, count, begun = out->length;
    yyjson_val *key, *value, *schema = mishap_openapi_resolve(document, unresolved);
    if (flaw == MISHAP_OPENAPI_VALID)
        return sample_valid(document, schema, 0, out);
    if (!is_readable(schema))
        return false;
    if (!broken || mishap_openapi_types(schema) != MISHAP_OPENAPI_OBJECT)
        return sample_scalar_flaw(schema, flaw, out);
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    if (!yyjson_is_obj(properties))
        return false;
    MISHAP_JSON_MEMBERS (properties, index, count, key, value) {
        (void)value;
        if (index >= 64)
            break;
        *broken = mishap_json_text(key);
        if (sample_members(document, schema, *broken, flaw, 0, out))
            return true;
        out->length = begun;
    }
    return false;
}

/* -- parameters -------------------------------------------------------------------------------- */

bool mishap_openapi_sample_text(mishap_openapi *document, yyjson_val *schema,
                                mishap_openapi_flaw flaw, mishap_buffer *out)
{
    char storage[512];
    mishap_buffer json;
    mishap_json_reader reader = MISHAP_JSON_READER;
    unsigned types = mishap_openapi_types(mishap_openapi_resolve(document, schema));
    if (!types || (types & (MISHAP_OPENAPI_OBJECT | MISHAP_OPENAPI_ARRAY)))
        return false;
    if (flaw == MISHAP_OPENAPI_WRONG_TYPE) { /* every text is a string */
        if (types & MISHAP_OPENAPI_STRING)
            return false;
        mishap_url_put_escaped(out, mishap_text_of("mishap"));
        return true;
    }
    mishap_buffer_init(&json, storage, sizeof storage);
    bool fine = mishap_openapi_sample(document, schema, flaw, &json, NULL) && !json.failed &&
                mishap_json_read(&reader, mishap_buffer_text(&json));
    if (fine)
        mishap_url_put_escaped(out, yyjson_is_str(reader.root) ? mishap_json_text(reader.root)
                                                               : mishap_buffer_text(&json));
    fine = fine && (!yyjson_is_str(reader.root) || yyjson_get_len(reader.root));
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&json);
    return fine && !out->failed;
}
