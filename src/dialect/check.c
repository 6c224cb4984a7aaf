#include "dialect/check.h"
#include "dialect/parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"
#include "mishap/catalog.h"

/* -- saying ------------------------------------------------------------------------------------ */

static const mishap_rule rules[] = {
#define MISHAP_RULE_ROW(id, name, severity, strict, sentence) { name, severity, sentence, strict },
    MISHAP_DIALECT_RULES(MISHAP_RULE_ROW)
#undef MISHAP_RULE_ROW
        { 0 },
};

const mishap_rule *mishap_rules(void)
{
    return rules;
}

enum { LONGEST_SENTENCE = 511 };

/* A document is quoted in findings, and may be anything: what is not UTF-8 in it becomes U+FFFD. */
__attribute__((format(printf, 4, 0))) static void report(mishap_check *check, mishap_rule_id rule,
                                                         mishap_text place, const char *format,
                                                         va_list arguments)
{
    /* One byte more than is kept, which shows whether a character would be cut. */
    char sentence[LONGEST_SENTENCE + 2], storage[2048];
    int printed = vsnprintf(sentence, sizeof sentence, format, arguments);
    mishap_text text = { sentence, printed < 0 ? 0 : (size_t)printed };
    mishap_arena scratch;
    if (text.length >= sizeof sentence)
        text.length = sizeof sentence - 1;
    text.length = mishap_utf8_cut(text, LONGEST_SENTENCE);
    mishap_arena_init(&scratch, storage, sizeof storage);
    check->found(check->state, &(mishap_finding){
                                   .rule = rules[rule].name,
                                   .severity = rules[rule].severity,
                                   .place = mishap_utf8_clean(&scratch, place),
                                   .sentence = mishap_utf8_clean(&scratch, text),
                               });
    mishap_arena_release(&scratch);
}

void mishap_check_say(mishap_check *check, mishap_rule_id rule, const char *format, ...)
{
    char storage[512];
    mishap_buffer place;
    va_list arguments;
    if (rules[rule].strict && !check->strict)
        return;
    mishap_buffer_init(&place, storage, sizeof storage);
    mishap_json_put_pointer(&place, &check->path);
    check->no_memory = check->no_memory || place.failed;
    va_start(arguments, format);
    report(check, rule, mishap_buffer_text(&place), format, arguments);
    va_end(arguments);
    mishap_buffer_release(&place);
}

void mishap_check_say_at(mishap_check *check, const char *place, mishap_rule_id rule,
                         const char *format, ...)
{
    va_list arguments;
    if (rules[rule].strict && !check->strict)
        return;
    va_start(arguments, format);
    report(check, rule, mishap_text_of(place), format, arguments);
    va_end(arguments);
}

/* -- shapes ------------------------------------------------------------------------------------ */

/* By the type and subtype of yyjson, which are the low five bits of a value's tag. */
static const uint8_t types_by_tag[32] = {
    [YYJSON_TYPE_STR] = MISHAP_SHAPE_STRING,
    [YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC] = MISHAP_SHAPE_STRING,
    [YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE] = MISHAP_SHAPE_BOOL,
    [YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE] = MISHAP_SHAPE_BOOL,
    [YYJSON_TYPE_ARR] = MISHAP_SHAPE_ARRAY,
    [YYJSON_TYPE_OBJ] = MISHAP_SHAPE_OBJECT,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT] = MISHAP_SHAPE_NUMBER | MISHAP_SHAPE_INTEGER,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT] = MISHAP_SHAPE_NUMBER | MISHAP_SHAPE_INTEGER,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL] = MISHAP_SHAPE_NUMBER,
    [YYJSON_TYPE_RAW] = MISHAP_SHAPE_NUMBER, /* an integer with too many digits for 64 bits */
    [YYJSON_TYPE_NULL] = MISHAP_SHAPE_NULL,
};

static unsigned type_of(yyjson_val *value)
{
    return types_by_tag[unsafe_yyjson_get_tag(value) & 31];
}

/* "a string", "a number or null" … for the sentence. */
static void name_types(unsigned types, char *names, size_t size)
{
    static const struct {
        unsigned type;
        const char *name;
    } all[] = {
        { MISHAP_SHAPE_STRING, "a string" }, { MISHAP_SHAPE_INTEGER, "an integer" },
        { MISHAP_SHAPE_NUMBER, "a number" }, { MISHAP_SHAPE_BOOL, "true or false" },
        { MISHAP_SHAPE_ARRAY, "an array" },  { MISHAP_SHAPE_OBJECT, "an object" },
        { MISHAP_SHAPE_NULL, "null" },
    };
    size_t length = 0;
    names[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (types & all[i].type) {
            int more = snprintf(names + length, size - length, "%s%s", length ? " or " : "",
                                all[i].name);
            length += more > 0 && (size_t)more < size - length ? (size_t)more : 0;
        }
    }
}

static void say_wrong_type(mishap_check *check, unsigned type, unsigned types)
{
    char wanted[128], given[128];
    name_types(types, wanted, sizeof wanted);
    name_types(type & MISHAP_SHAPE_INTEGER ? MISHAP_SHAPE_INTEGER : type, given, sizeof given);
    mishap_check_say(check, MISHAP_RULE_WRONG_TYPE, "This must be %s, not %s.", wanted, given);
}

static bool check_type(mishap_check *check, yyjson_val *value, unsigned types)
{
    unsigned type = type_of(value);
    if (type & types)
        return true;
    say_wrong_type(check, type, types);
    return false;
}

/* Members mostly come in the order of the shapes, so the search goes on where the last one ended.
 */
static size_t find_shape(const mishap_shape *shapes, size_t count, size_t from, mishap_text key)
{
    for (size_t tried = 0; tried < count; tried++, from++) {
        if (from >= count)
            from = 0;
        if (shapes[from].key.length == key.length &&
            memcmp(shapes[from].key.data, key.data, key.length) == 0)
            return from;
    }
    return count;
}

bool mishap_check_object(mishap_check *check, yyjson_val *object, const mishap_shape *shapes,
                         size_t count, bool closed)
{
    size_t index, members;
    yyjson_val *key, *value;
    uint64_t seen = 0;
    size_t found = 0;
    if (!yyjson_is_obj(object)) {
        if (check->path.depth == 0)
            mishap_check_say(check, MISHAP_RULE_WRONG_ROOT, "The document must be an object.");
        else
            check_type(check, object, MISHAP_SHAPE_OBJECT);
        return false;
    }
    MISHAP_JSON_MEMBERS (object, index, members, key, value) {
        mishap_text name = mishap_json_text(key);
        found = find_shape(shapes, count, found, name);
        mishap_check_enter(check, name);
        if (found < count) {
            seen |= UINT64_C(1) << found;
            if (check_type(check, value, shapes[found].types) && shapes[found].check)
                shapes[found].check(check, value);
        } else if (closed) {
            mishap_check_say(check, MISHAP_RULE_UNKNOWN_MEMBER, "This format has no member `%.*s`.",
                             (int)name.length, name.data);
        }
        mishap_check_leave(check);
    }
    for (size_t i = 0; i < count; i++)
        if (shapes[i].required && !(seen >> i & 1))
            mishap_check_say(check, MISHAP_RULE_MISSING_MEMBER, "The member `%s` is missing.",
                             shapes[i].key.data);
    return true;
}

void mishap_check_items(mishap_check *check, yyjson_val *array,
                        void (*item)(mishap_check *, yyjson_val *))
{
    size_t index, count;
    yyjson_val *value;
    MISHAP_JSON_ITEMS (array, index, count, value) {
        mishap_check_enter_item(check, index);
        item(check, value);
        mishap_check_leave(check);
    }
}

void mishap_check_errors(mishap_check *check, yyjson_val *array,
                         void (*item)(mishap_check *, yyjson_val *))
{
    if (yyjson_arr_size(array) == 0)
        mishap_check_say(check, MISHAP_RULE_MISSING_MEMBER,
                         "The array `errors` must have at least one error.");
    mishap_check_items(check, array, item);
}

/* -- shared checks ----------------------------------------------------------------------------- */

void mishap_check_not_empty(mishap_check *check, yyjson_val *value)
{
    if (yyjson_is_str(value) && mishap_blank(mishap_json_text(value)))
        mishap_check_say(check, MISHAP_RULE_EMPTY_TEXT, "This text must not be empty.");
}

void mishap_check_message(mishap_check *check, yyjson_val *value)
{
    if (mishap_blank(mishap_json_text(value)))
        mishap_check_say(check, MISHAP_RULE_EMPTY_TEXT, "The message must not be empty.");
}

/* A sentence ends like one, and does not start with a small letter. What is quoted may start
 * anyhow. */
void mishap_check_sentence(mishap_check *check, yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    mishap_check_message(check, value);
    if (mishap_blank(text))
        return;
    char first = text.data[0], last = text.data[text.length - 1];
    if ((first >= 'a' && first <= 'z') || !strchr(".!?)`\"'", last))
        mishap_check_say(
            check, MISHAP_RULE_NOT_A_SENTENCE,
            "The message should be a complete sentence, with a capital and a full stop.");
}

void mishap_check_code_name(mishap_check *check, yyjson_val *value)
{
    mishap_text name = mishap_json_text(value);
    if (!mishap_code_name_valid(name))
        mishap_check_say(check, MISHAP_RULE_CODE_SPELLING, "`%.*s` is not spelled in UPPER_SNAKE.",
                         (int)name.length, name.data);
    else if (!mishap_catalog_find(MISHAP_SPELLING_NAME, name))
        mishap_check_say(check, MISHAP_RULE_UNKNOWN_CODE, "`%.*s` is not in the catalog.",
                         (int)name.length, name.data);
}

bool mishap_check_snake_name(mishap_check *check, yyjson_val *value)
{
    mishap_text name = mishap_json_text(value);
    if (mishap_lower_snake(name))
        return true;
    mishap_check_say(check, MISHAP_RULE_CODE_SPELLING, "`%.*s` is not spelled in lower_snake.",
                     (int)name.length, name.data);
    return false;
}

void mishap_check_category(mishap_check *check, yyjson_val *value)
{
    mishap_category category;
    mishap_text name = mishap_json_text(value);
    if (!mishap_category_find(name, &category))
        mishap_check_say(
            check, MISHAP_RULE_UNKNOWN_CATEGORY,
            "`%.*s` is not one of validation, permission, resource, execution, system.",
            (int)name.length, name.data);
}

void mishap_check_url(mishap_check *check, yyjson_val *value)
{
    if (!mishap_url_valid(mishap_json_text(value)))
        mishap_check_say(check, MISHAP_RULE_NOT_A_URL, "This is not an absolute URL.");
}

void mishap_check_not_negative(mishap_check *check, yyjson_val *value)
{
    if (yyjson_get_num(value) < 0)
        mishap_check_say(check, MISHAP_RULE_NEGATIVE, "This number must not be negative.");
}

void mishap_check_retry(mishap_check *check, yyjson_val *object, const char *retryable,
                        const char *advice)
{
    yyjson_val *stated = yyjson_obj_get(object, retryable);
    if (!yyjson_obj_get(object, advice) || !yyjson_is_false(stated))
        return;
    mishap_check_enter(check, mishap_text_of(advice));
    mishap_check_say(check, MISHAP_RULE_RETRY_CONFLICT,
                     "The error has a retry delay, but `%s` is false.", retryable);
    mishap_check_leave(check);
}

/* -- field errors ------------------------------------------------------------------------------ */

static void check_field_error_name(mishap_check *check, yyjson_val *value)
{
    mishap_text name = mishap_json_text(value);
    if (!mishap_lower_snake(name))
        mishap_check_say(check, MISHAP_RULE_FIELD_ERROR_NAME,
                         "`%.*s` is not spelled in lower_snake.", (int)name.length, name.data);
}

static const mishap_shape field_shape[] = {
    MISHAP_SHAPE("field", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_not_empty),
    MISHAP_SHAPE("error", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = check_field_error_name),
    MISHAP_SHAPE("expected", .types = MISHAP_SHAPE_ANY),
    MISHAP_SHAPE("actual", .types = MISHAP_SHAPE_ANY),
    MISHAP_SHAPE("min", .types = MISHAP_SHAPE_NUMBER),
    MISHAP_SHAPE("max", .types = MISHAP_SHAPE_NUMBER),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
};
enum { BARE = MISHAP_SHAPE_COUNT(field_shape) - 1 }; /* without a message */

/* The five errors that are known by name, and what each must say beside it. */
static const struct known_error {
    mishap_text name;
    bool bounds;   /* `min` or `max`, or `expected` as a range */
    bool expected; /* `expected` */
} known_errors[] = {
    { MISHAP_TEXT("field_required"), false, false },
    { MISHAP_TEXT("invalid_type"), false, true },
    { MISHAP_TEXT("invalid_length"), true, false },
    { MISHAP_TEXT("value_out_of_range"), true, false },
    { MISHAP_TEXT("pattern_mismatch"), false, true },
};

static const struct known_error *known_error_of(mishap_text name)
{
    for (size_t i = 0; i < sizeof known_errors / sizeof *known_errors; i++)
        if (mishap_text_equal(known_errors[i].name, name))
            return &known_errors[i];
    return NULL;
}

bool mishap_is_known_field_error(mishap_text name)
{
    return known_error_of(name);
}

static void check_known_error(mishap_check *check, mishap_text name, bool expected, bool bounds)
{
    const struct known_error *known = known_error_of(name);
    if (!known)
        mishap_check_say(check, MISHAP_RULE_UNKNOWN_FIELD_ERROR,
                         "`%.*s` is not one of the five field errors.", (int)name.length,
                         name.data);
    else if (known->bounds && !bounds && !expected)
        mishap_check_say(check, MISHAP_RULE_FIELD_MEMBERS, "%s must have `min` or `max`.",
                         known->name.data);
    else if (known->expected && !expected)
        mishap_check_say(check, MISHAP_RULE_FIELD_MEMBERS, "%s must have `expected`.",
                         known->name.data);
    else if (!known->bounds && bounds)
        mishap_check_say(check, MISHAP_RULE_FIELD_MEMBERS, "%s has no `min` and `max`.",
                         known->name.data);
}

static void check_members(mishap_check *check, yyjson_val *field, size_t members)
{
    size_t index, count;
    yyjson_val *key, *value, *error = NULL, *expected = NULL, *min = NULL, *max = NULL;
    if (!mishap_check_object(check, field, field_shape, members, true))
        return;
    MISHAP_JSON_MEMBERS (field, index, count, key, value) {
        if (MISHAP_JSON_IS(key, "error"))
            error = value;
        else if (MISHAP_JSON_IS(key, "expected"))
            expected = value;
        else if (MISHAP_JSON_IS(key, "min"))
            min = value;
        else if (MISHAP_JSON_IS(key, "max"))
            max = value;
    }
    if (yyjson_is_num(min) && yyjson_is_num(max) && yyjson_get_num(min) > yyjson_get_num(max))
        mishap_check_say(check, MISHAP_RULE_FIELD_BOUNDS, "`min` is greater than `max`.");
    mishap_text name = mishap_json_text(error);
    if (mishap_lower_snake(name))
        check_known_error(check, name, expected != NULL, min || max);
}

static void check_field(mishap_check *check, yyjson_val *field)
{
    check_members(check, field, MISHAP_SHAPE_COUNT(field_shape));
}

/* An error of the program's own may have a sentence. */
static void check_bare_field(mishap_check *check, yyjson_val *field)
{
    bool known = known_error_of(mishap_json_text(yyjson_obj_get(field, "error")));
    check_members(check, field, known ? BARE : MISHAP_SHAPE_COUNT(field_shape));
}

void mishap_check_fields(mishap_check *check, yyjson_val *value)
{
    mishap_check_items(check, value, check_field);
}

void mishap_check_bare_fields(mishap_check *check, yyjson_val *value)
{
    mishap_check_items(check, value, check_bare_field);
}
