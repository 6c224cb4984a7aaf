/*
 * Which of our field errors it is: by the name that the other program has for it, else by its
 * sentence. Both are tables. An error whose bounds or expected value are not known is
 * `invalid_value` with its sentence.
 */
#include <stdlib.h>

#include "upstream/inside.h"

enum kind {
    NOTHING,
    REQUIRED,
    TYPE,
    MIN_LENGTH,
    MAX_LENGTH,
    LENGTH, /* two numbers, of which either may be missing */
    MIN,
    MAX,
    ABOVE, /* … and not equal to it */
    BELOW,
    BETWEEN,
    SMALL, /* of what it is too small, a member says */
    BIG,
    PATTERN,
    CHOICE,
    UNKNOWN,
    TAKEN,
    PRIVATE, /* the sentence has names of the inside of the program */
    MALFORMED,
};

struct row {
    const char *words;
    enum kind kind;
    const char *expected;
};

/* The last part of a name, behind its last point: `value_error.any_str.min_length`. FastAPI with
 * pydantic 1 and 2, Zod, Spring, Ajv and Rails. */
static const struct row types[] = {
    { "missing", REQUIRED, NULL },
    { "required", REQUIRED, NULL },
    { "blank", REQUIRED, NULL },
    { "empty", REQUIRED, NULL },
    { "null", REQUIRED, NULL },
    { "notnull", REQUIRED, NULL },
    { "notblank", REQUIRED, NULL },
    { "notempty", REQUIRED, NULL },
    { "not_allowed", REQUIRED, NULL },
    { "int_type", TYPE, "integer" },
    { "int_parsing", TYPE, "integer" },
    { "int_from_float", TYPE, "integer" },
    { "integer", TYPE, "integer" },
    { "float_type", TYPE, "number" },
    { "float_parsing", TYPE, "number" },
    { "decimal_type", TYPE, "number" },
    { "decimal_parsing", TYPE, "number" },
    { "float", TYPE, "number" },
    { "decimal", TYPE, "number" },
    { "not_a_number", TYPE, "number" },
    { "string_type", TYPE, "string" },
    { "str", TYPE, "string" },
    { "bool_type", TYPE, "boolean" },
    { "bool_parsing", TYPE, "boolean" },
    { "bool", TYPE, "boolean" },
    { "list_type", TYPE, "array" },
    { "list", TYPE, "array" },
    { "dict_type", TYPE, "object" },
    { "dict", TYPE, "object" },
    { "model_type", TYPE, "object" },
    { "model_attributes_type", TYPE, "object" },
    { "date_type", TYPE, "date" },
    { "date_parsing", TYPE, "date" },
    { "date_from_datetime_parsing", TYPE, "date" },
    { "date", TYPE, "date" },
    { "datetime_type", TYPE, "date and time" },
    { "datetime_parsing", TYPE, "date and time" },
    { "datetime_from_date_parsing", TYPE, "date and time" },
    { "datetime", TYPE, "date and time" },
    { "uuid_type", TYPE, "uuid" },
    { "uuid_parsing", TYPE, "uuid" },
    { "uuid", TYPE, "uuid" },
    { "invalid_type", TYPE, NULL },
    { "type", TYPE, NULL },
    { "string_too_short", MIN_LENGTH, NULL },
    { "too_short", MIN_LENGTH, NULL },
    { "min_length", MIN_LENGTH, NULL },
    { "min_items", MIN_LENGTH, NULL },
    { "minlength", MIN_LENGTH, NULL },
    { "minitems", MIN_LENGTH, NULL },
    { "string_too_long", MAX_LENGTH, NULL },
    { "too_long", MAX_LENGTH, NULL },
    { "max_length", MAX_LENGTH, NULL },
    { "max_items", MAX_LENGTH, NULL },
    { "maxlength", MAX_LENGTH, NULL },
    { "maxitems", MAX_LENGTH, NULL },
    { "size", LENGTH, NULL },
    { "length", LENGTH, NULL },
    { "greater_than_equal", MIN, NULL },
    { "greater_than_or_equal_to", MIN, NULL },
    { "not_ge", MIN, NULL },
    { "minimum", MIN, NULL },
    { "min", MIN, NULL },
    { "decimalmin", MIN, NULL },
    { "less_than_equal", MAX, NULL },
    { "less_than_or_equal_to", MAX, NULL },
    { "not_le", MAX, NULL },
    { "maximum", MAX, NULL },
    { "max", MAX, NULL },
    { "decimalmax", MAX, NULL },
    { "range", BETWEEN, NULL },
    { "gte", MIN, NULL },
    { "lte", MAX, NULL },
    { "gt", ABOVE, NULL },
    { "lt", BELOW, NULL },
    { "len", LENGTH, NULL },
    { "greater_than", ABOVE, NULL },
    { "not_gt", ABOVE, NULL },
    { "exclusiveminimum", ABOVE, NULL },
    { "less_than", BELOW, NULL },
    { "not_lt", BELOW, NULL },
    { "exclusivemaximum", BELOW, NULL },
    { "too_small", SMALL, NULL },
    { "too_big", BIG, NULL },
    { "string_pattern_mismatch", PATTERN, NULL },
    { "regex", PATTERN, NULL },
    { "pattern", PATTERN, NULL },
    { "format", PATTERN, NULL },
    { "invalid_format", PATTERN, NULL },
    { "invalid_string", PATTERN, NULL },
    { "email", PATTERN, "email" },
    { "url", PATTERN, "url" },
    { "enum", CHOICE, NULL },
    { "literal_error", CHOICE, NULL },
    { "invalid_choice", CHOICE, NULL },
    { "oneof", CHOICE, NULL },
    { "invalid_enum_value", CHOICE, NULL },
    { "inclusion", CHOICE, NULL },
    { "extra_forbidden", UNKNOWN, NULL },
    { "extra", UNKNOWN, NULL },
    { "unrecognized_keys", UNKNOWN, NULL },
    { "additionalproperties", UNKNOWN, NULL },
    { "taken", TAKEN, NULL },
    { "unique", TAKEN, NULL },
    { "json_invalid", MALFORMED, NULL },
    { "jsondecode", MALFORMED, NULL },
};

/* The first phrase that stands in a sentence counts: those that contain another one are above it.
 */
static const struct row phrases[] = {
    { "could not be converted to system.int", PRIVATE, "integer" },
    { "could not be converted to system.string", PRIVATE, "string" },
    { "could not be converted to system.boolean", PRIVATE, "boolean" },
    { "could not be converted to system.d", PRIVATE, "number" },
    { "could not be converted to", PRIVATE, NULL },
    { "must match format", PATTERN, NULL },
    { "must match pattern", PATTERN, NULL },
    { "should match pattern", PATTERN, NULL },
    { "does not match regex", PATTERN, NULL },
    { "must match the regular expression", PATTERN, NULL },
    { "additional properties", UNKNOWN, NULL },
    { "extra inputs are not permitted", UNKNOWN, NULL },
    { "extra fields not permitted", UNKNOWN, NULL },
    { "unknown field", UNKNOWN, NULL },
    { "should not exist", UNKNOWN, NULL },
    { "valid integer", TYPE, "integer" },
    { "valid number", TYPE, "number" },
    { "valid float", TYPE, "number" },
    { "valid string", TYPE, "string" },
    { "valid boolean", TYPE, "boolean" },
    { "required property", REQUIRED, NULL },
    { "field required", REQUIRED, NULL },
    { "is required", REQUIRED, NULL },
    { "can't be blank", REQUIRED, NULL },
    { "may not be blank", REQUIRED, NULL },
    { "must not be blank", REQUIRED, NULL },
    { "may not be null", REQUIRED, NULL },
    { "must not be null", REQUIRED, NULL },
    { "may not be empty", REQUIRED, NULL },
    { "must not be empty", REQUIRED, NULL },
    { "should not be blank", REQUIRED, NULL },
    { "should not be empty", REQUIRED, NULL },
    { "can't be empty", REQUIRED, NULL },
    { "missing data for required", REQUIRED, NULL },
    { "received undefined", REQUIRED, NULL },
    { "must exist", REQUIRED, NULL },
    { "between", BETWEEN, NULL },
    { "minimum length of", MIN_LENGTH, NULL },
    { "maximum length of", MAX_LENGTH, NULL },
    { "too short (minimum is", MIN_LENGTH, NULL },
    { "too long (maximum is", MAX_LENGTH, NULL },
    { "longer than or equal to", MIN_LENGTH, NULL },
    { "shorter than or equal to", MAX_LENGTH, NULL },
    { "less than or equal to", MAX, NULL },
    { "greater than or equal to", MIN, NULL },
    { "not be greater than", MAX, NULL },
    { "not be less than", MIN, NULL },
    { "not have fewer than", MIN, NULL },
    { "not have more than", MAX, NULL },
    { "no more than", MAX, NULL },
    { "at least", MIN, NULL },
    { "at most", MAX, NULL },
    { ">=", MIN, NULL },
    { "<=", MAX, NULL },
    { "greater than", ABOVE, NULL },
    { "less than", BELOW, NULL },
    { "must be >", ABOVE, NULL },
    { "must be <", BELOW, NULL },
    { "be an integer", TYPE, "integer" },
    { "be integer", TYPE, "integer" },
    { "be a number", TYPE, "number" },
    { "be number", TYPE, "number" },
    { "not a number", TYPE, "number" },
    { "be a string", TYPE, "string" },
    { "be string", TYPE, "string" },
    { "be a boolean", TYPE, "boolean" },
    { "be boolean", TYPE, "boolean" },
    { "be an array", TYPE, "array" },
    { "be array", TYPE, "array" },
    { "expected a list", TYPE, "array" },
    { "be an object", TYPE, "object" },
    { "be object", TYPE, "object" },
    { "date has wrong format", TYPE, "date" },
    { "valid date", TYPE, "date" },
    { "datetime has wrong format", TYPE, "date and time" },
    { "valid email", PATTERN, "email" },
    { "valid e-mail", PATTERN, "email" },
    { "well-formed email", PATTERN, "email" },
    { "be an email", PATTERN, "email" },
    { "valid url", PATTERN, "url" },
    { "valid uuid", PATTERN, "uuid" },
    { "already been taken", TAKEN, NULL },
    { "already exists", TAKEN, NULL },
    { "must be unique", TAKEN, NULL },
    { "valid choice", CHOICE, NULL },
    { "be one of", CHOICE, NULL },
    { "not included in the list", CHOICE, NULL },
    { "allowed values", CHOICE, NULL },
};

/* -- finding ----------------------------------------------------------------------------------- */

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static const struct row *row_of_type(mishap_text name)
{
    size_t start = name.length;
    if (!start)
        return NULL;
    while (start && name.data[start - 1] != '.')
        start--;
    name = (mishap_text){ name.data + start, name.length - start };
    for (size_t i = 0; name.length && i < sizeof types / sizeof *types; i++)
        if (types[i].words[0] == small(name.data[0]) && strlen(types[i].words) == name.length &&
            mishap_upstream_begins(name, types[i].words))
            return &types[i];
    return NULL;
}

/* Which pairs of bytes stand in a sentence, in small letters: a phrase with another pair is not in
 * it. Most phrases are ruled out by their first pair. */
struct pairs {
    uint64_t bits[16];
};

static unsigned number_of_pair(char first, char second)
{
    return ((unsigned char)first * 33U + (unsigned char)second) % 1024U;
}

static void learn_pairs(struct pairs *pairs, mishap_text sentence)
{
    *pairs = (struct pairs){ { 0 } };
    for (size_t i = 1; i < sentence.length; i++) {
        unsigned pair = number_of_pair(small(sentence.data[i - 1]), small(sentence.data[i]));
        pairs->bits[pair / 64] |= UINT64_C(1) << pair % 64;
    }
}

static bool may_have(const struct pairs *pairs, const char *phrase)
{
    for (size_t i = 1; phrase[i]; i++) {
        unsigned pair = number_of_pair(phrase[i - 1], phrase[i]);
        if (!(pairs->bits[pair / 64] & UINT64_C(1) << pair % 64))
            return false;
    }
    return true;
}

/* … and what follows the phrase. */
static const struct row *row_of_sentence(mishap_text sentence, mishap_text *rest)
{
    struct pairs pairs;
    learn_pairs(&pairs, sentence);
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        const char *at = may_have(&pairs, phrases[i].words)
                             ? mishap_upstream_find(sentence, phrases[i].words)
                             : NULL;
        if (at) {
            size_t used = (size_t)(at - sentence.data) + strlen(phrases[i].words);
            *rest = (mishap_text){ sentence.data + used, sentence.length - used };
            return &phrases[i];
        }
    }
    return NULL;
}

/* The next number of a text that is not far away, and what follows it. */
static mishap_value next_number(mishap_text *rest)
{
    enum { FAR = 16, LONGEST = 24 };
    char digits[LONGEST + 1];
    size_t at = 0, length = 0;
    bool fraction = false;
    while (at < rest->length && at < FAR && !(rest->data[at] >= '0' && rest->data[at] <= '9'))
        at++;
    if (at == rest->length || at == FAR)
        return mishap_value_none();
    if (at && rest->data[at - 1] == '-')
        digits[length++] = '-';
    while (at < rest->length && length < LONGEST) {
        char c = rest->data[at];
        bool point = c == '.' && !fraction && at + 1 < rest->length && rest->data[at + 1] >= '0' &&
                     rest->data[at + 1] <= '9';
        if (!point && !(c >= '0' && c <= '9'))
            break;
        fraction = fraction || point;
        digits[length++] = c;
        at++;
    }
    digits[length] = '\0';
    *rest = (mishap_text){ rest->data + at, rest->length - at };
    return fraction || length > 17 ? mishap_value_of_real(strtod(digits, NULL))
                                   : mishap_value_of_int(strtoll(digits, NULL, 10));
}

/* "3 characters", "1 item": a number of this is a length. */
static bool counts_parts(mishap_text rest)
{
    rest = mishap_upstream_trim(rest);
    return mishap_upstream_begins(rest, "char") || mishap_upstream_begins(rest, "item") ||
           mishap_upstream_begins(rest, "element");
}

/* A member of the object, of `ctx` (pydantic) or `params` (Ajv) in it, by the first name that is
 * there. */
static yyjson_val *member_of(yyjson_val *members, const char *const *names)
{
    yyjson_val *const places[] = { members, yyjson_obj_get(members, "ctx"),
                                   yyjson_obj_get(members, "params") };
    for (size_t place = 0; place < sizeof places / sizeof *places; place++)
        for (size_t i = 0; names[i]; i++) {
            yyjson_val *value = yyjson_obj_get(places[place], names[i]);
            if (value)
                return value;
        }
    return NULL;
}

static mishap_value number_of(yyjson_val *members, const char *const *names)
{
    yyjson_val *value = member_of(members, names);
    return yyjson_is_num(value) ? mishap_json_scalar(value) : mishap_value_none();
}

static const char *const lower_names[] = { "min_length", "ge",    "gt",          "minimum",
                                           "min",        "limit", "limit_value", NULL };
static const char *const upper_names[] = { "max_length", "le",    "lt",          "maximum",
                                           "max",        "limit", "limit_value", NULL };
static const char *const actual_names[] = { "input", "value", "rejectedValue", NULL };
static const char *const pattern_names[] = { "pattern", "format", "validation", NULL };
static const char *const expected_names[] = { "expected", "type", NULL };

/* -- judging ----------------------------------------------------------------------------------- */

static bool is_none(mishap_value value)
{
    return value.kind == MISHAP_KIND_NONE;
}

/* Zod: what is too small or too big, `origin` (4) or `type` (3) says. */
static enum kind sized(enum kind kind, yyjson_val *members)
{
    static const char *const origins[] = { "origin", "type", NULL };
    yyjson_val *origin = member_of(members, origins);
    bool number = yyjson_equals_str(origin, "number") || yyjson_equals_str(origin, "int") ||
                  yyjson_equals_str(origin, "bigint");
    bool exclusive = yyjson_is_false(yyjson_obj_get(members, "inclusive"));
    if (number && exclusive)
        return kind == SMALL ? ABOVE : BELOW;
    if (number)
        return kind == SMALL ? MIN : MAX;
    return kind == SMALL ? MIN_LENGTH : MAX_LENGTH;
}

static bool set_bounds(mishap_field *field, enum kind kind, yyjson_val *members, mishap_text rest)
{
    bool lower = kind == MIN || kind == MIN_LENGTH, upper = kind == MAX || kind == MAX_LENGTH;
    bool length = kind == MIN_LENGTH || kind == MAX_LENGTH || kind == LENGTH;
    if (!upper)
        field->min = number_of(members, lower_names);
    if (!lower)
        field->max = number_of(members, upper_names);
    if (is_none(field->min) && is_none(field->max)) {
        mishap_value number = next_number(&rest);
        *(upper ? &field->max : &field->min) = number;
        if (!lower && !upper && !is_none(number))
            field->max = next_number(&rest);
        length = length || counts_parts(rest);
    }
    if (is_none(field->min) && is_none(field->max))
        return false;
    field->error = length ? (mishap_text)MISHAP_TEXT("invalid_length")
                          : (mishap_text)MISHAP_TEXT("value_out_of_range");
    return true;
}

/* A bound that is not allowed itself: our bounds are allowed, so it stands in words. */
static bool set_open_bound(mishap_upstream_reading *reading, mishap_field *field, bool above,
                           yyjson_val *members, mishap_text rest)
{
    mishap_value bound = number_of(members, above ? lower_names : upper_names);
    char storage[64];
    mishap_buffer words;
    if (is_none(bound))
        bound = next_number(&rest);
    if (is_none(bound))
        return false;
    mishap_buffer_init(&words, storage, sizeof storage);
    mishap_buffer_put_text(&words, above ? (mishap_text)MISHAP_TEXT("more than ")
                                         : (mishap_text)MISHAP_TEXT("less than "));
    mishap_json_plain(&words, &bound);
    mishap_text kept = words.failed
                           ? (mishap_text){ NULL, 0 }
                           : mishap_arena_copy(&reading->arena, mishap_buffer_text(&words));
    mishap_buffer_release(&words);
    reading->no_memory = reading->no_memory || !kept.data;
    field->error = (mishap_text)MISHAP_TEXT("value_out_of_range");
    field->expected = mishap_value_of_text(kept);
    return true;
}

/* What stands between quotes: the pattern or the name of a format. */
static mishap_text quoted(mishap_text text)
{
    size_t start = 0;
    while (start < text.length && text.data[start] != '"' && text.data[start] != '\'')
        start++;
    for (size_t end = text.length; end > start + 2; end--)
        if (text.data[end - 1] == text.data[start])
            return (mishap_text){ text.data + start + 1, end - start - 2 };
    return (mishap_text){ NULL, 0 };
}

static bool set_expected(mishap_field *field, const struct row *row, yyjson_val *members,
                         mishap_text rest)
{
    enum { LONGEST = 200 };
    bool type = row->kind == TYPE || row->kind == PRIVATE;
    mishap_text expected = mishap_text_of(row->expected);
    if (!expected.length)
        expected = mishap_json_text(member_of(members, type ? expected_names : pattern_names));
    if (!expected.length && !type)
        expected = quoted(rest);
    if (!expected.length || expected.length > LONGEST || !mishap_upstream_readable(expected))
        return false;
    field->error = type ? (mishap_text)MISHAP_TEXT("invalid_type")
                        : (mishap_text)MISHAP_TEXT("pattern_mismatch");
    field->expected = mishap_value_of_text(expected);
    return true;
}

/* False: too little is known to say which error it is. */
static bool judge(mishap_upstream_reading *reading, mishap_field *field, const struct row *row,
                  yyjson_val *members, mishap_text rest)
{
    enum kind kind = row->kind == SMALL || row->kind == BIG ? sized(row->kind, members) : row->kind;
    switch (kind) {
    case REQUIRED:
        field->error = (mishap_text)MISHAP_TEXT("field_required");
        return true;
    case TYPE:
    case PRIVATE:
    case PATTERN:
        return set_expected(field, row, members, rest);
    case ABOVE:
    case BELOW:
        return set_open_bound(reading, field, kind == ABOVE, members, rest);
    case CHOICE:
        field->error = (mishap_text)MISHAP_TEXT("invalid_choice");
        return true;
    case UNKNOWN:
        field->error = (mishap_text)MISHAP_TEXT("unknown_field");
        return true;
    case TAKEN:
        field->error = (mishap_text)MISHAP_TEXT("already_exists");
        return true;
    case MALFORMED:
        reading->malformed = true;
        return false;
    default:
        return set_bounds(field, kind, members, rest);
    }
}

/* A name of the other program that could be one of ours: too_many_rows. */
static mishap_text own_name(mishap_text type)
{
    enum { LONGEST = 40 };
    return mishap_lower_snake(type) && type.length <= LONGEST &&
                   !mishap_text_equal(type, (mishap_text)MISHAP_TEXT("field")) &&
                   !mishap_text_equal(type, (mishap_text)MISHAP_TEXT("value_error"))
               ? type
               : (mishap_text)MISHAP_TEXT("invalid_value");
}

/* By the name alone, which most often is enough; else by the sentence, too. */
static void name_error(mishap_upstream_reading *reading, mishap_field *field,
                       const mishap_upstream_item *item)
{
    mishap_text rest = { NULL, 0 };
    const struct row *typed = row_of_type(item->type);
    /* Zod calls a missing field one of the wrong type: its sentence says more. */
    bool sure = typed && !(typed->kind == TYPE && !typed->expected);
    if (sure && judge(reading, field, typed, item->members, rest))
        return;
    const struct row *spoken = row_of_sentence(item->sentence, &rest);
    if (spoken && spoken->kind == PRIVATE)
        field->message = (mishap_text){ NULL, 0 };
    if (spoken && spoken->kind == REQUIRED)
        typed = spoken;
    if ((typed && judge(reading, field, typed, item->members, rest)) ||
        (spoken && judge(reading, field, spoken, item->members, rest)))
        return;
    field->error = typed ? (mishap_text)MISHAP_TEXT("invalid_value") : own_name(item->type);
}

void mishap_upstream_add(mishap_upstream_reading *reading, const mishap_upstream_item *item)
{
    bool named = item->field.length && mishap_upstream_readable(item->field);
    bool said = mishap_upstream_readable(item->sentence);
    mishap_field field = { .field = named ? item->field : (mishap_text)MISHAP_TEXT("document"),
                           .message = said ? item->sentence : (mishap_text){ NULL, 0 } };
    reading->field_count++;
    if (reading->field_count > MISHAP_UPSTREAM_FIELDS)
        return;
    name_error(reading, &field, item);
    if (mishap_text_equal(field.error, (mishap_text)MISHAP_TEXT("value_out_of_range")))
        field.actual = number_of(item->members, actual_names);

    mishap_upstream_field *kept = mishap_arena_take(&reading->arena, sizeof *kept);
    if (!kept) {
        reading->no_memory = true;
        return;
    }
    *kept = (mishap_upstream_field){ NULL, field };
    *(reading->last ? &reading->last->next : &reading->fields) = kept;
    reading->last = kept;
}
