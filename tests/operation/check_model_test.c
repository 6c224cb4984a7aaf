/*
 * Generated declarations and objects, checked by the library and by a model.
 *
 * The model knows values as they were made up, not as they were parsed, compares numbers in halves
 * of one, knows each pattern as a few lines of C, and writes its findings by itself. What is made
 * up depends on a number only, which is printed, with the case, when the two disagree.
 */
#include "operation/findings.h"
#include "testing.h"

enum { CASES = 20000, MOST_PARAMS = 60, ROOM = 1 << 20 };

/* -- chance ------------------------------------------------------------------------------------ */

static uint64_t seed;

static unsigned below(unsigned limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % limit;
}

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

/* -- text -------------------------------------------------------------------------------------- */

struct text {
    char *data;
    size_t length;
};
static struct text json, expected;

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->length += (size_t)vsnprintf(text->data + text->length, ROOM - text->length, format,
                                      arguments);
    va_end(arguments);
    assert_true(text->length < ROOM);
}

/* -- values and declarations, made up ---------------------------------------------------------- */

enum kind { STRING, WHOLE, HALF, HUGE, TRUE, NOTHING, LIST, THING };

struct value {
    enum kind kind;
    int halves;     /* of a number: twice its value */
    int letters[8]; /* of a string: which */
    size_t length;  /* of a string or a list */
    struct value *items;
    int *names; /* of a thing: which member each item is */
};

/* Pieces of one character each, and how they look in JSON. */
static const char *const letters[] = { "a",    "b",      "1", "\xC3\xA9", "\xF0\x9F\x98\x80",
                                       "\\\"", "\\u20ac" };
enum { LETTERS = sizeof letters / sizeof *letters };

static bool starts_with_a(const struct value *v)
{
    return v->length && v->letters[0] == 0;
}
static bool has_digit(const struct value *v)
{
    for (size_t i = 0; i < v->length; i++)
        if (v->letters[i] == 2)
            return true;
    return false;
}
static bool only_a_and_b(const struct value *v)
{
    for (size_t i = 0; i < v->length; i++)
        if (v->letters[i] > 1)
            return false;
    return true;
}
static bool two_or_more(const struct value *v)
{
    return v->length >= 2;
}
static const struct {
    const char *pattern, *in_json;
    bool (*holds)(const struct value *);
} patterns[] = {
    { "^a", "^a", starts_with_a },
    { "\\d", "\\\\d", has_digit },
    { "^[ab]*$", "^[ab]*$", only_a_and_b },
    { "..", "..", two_or_more },
};

static const char *const choices[] = { "a", "ab", "b1", NULL };
static const char *const names[MOST_PARAMS] = { "name", "age", "email",       "a",
                                                "b",    "ab",  "total_count", "x1" };
static char more_names[MOST_PARAMS][8];

static void *pool[4096];
static size_t pooled;

static void *make(size_t count, size_t size)
{
    assert_true(pooled < sizeof pool / sizeof *pool);
    return pool[pooled++] = calloc(count + 1, size);
}

static mishap_param *make_params(size_t count, int depth);

static mishap_param make_param(const char *name, int depth)
{
    static const mishap_type_of_param types[] = { MISHAP_STRING,  MISHAP_INTEGER, MISHAP_NUMBER,
                                                  MISHAP_BOOLEAN, MISHAP_ENUM,    MISHAP_ARRAY,
                                                  MISHAP_OBJECT };
    mishap_param param = { name, .type = types[below(depth ? 7 : 5)], .required = chance(40),
                           .secret = chance(5) };
    switch (param.type) {
    case MISHAP_STRING:
        if (chance(30))
            param.pattern = patterns[below(4)].pattern;
        /* fall through */
    case MISHAP_ARRAY:
        if (chance(50))
            param.length.min = below(4);
        if (chance(50))
            param.length.max = param.length.min + below(3);
        break;
    case MISHAP_INTEGER:
    case MISHAP_NUMBER:
        if (chance(60)) {
            int step = param.type == MISHAP_INTEGER ? 2 : 1, low = ((int)below(20) - 10) * step;
            param.range.min = chance(20) ? -INFINITY : low / 2.0;
            param.range.max = chance(20) ? INFINITY : (low + (int)below(10) * step) / 2.0;
        }
        break;
    default:
        break;
    }
    if (param.type == MISHAP_ENUM)
        param.choices = choices;
    if (param.type == MISHAP_ARRAY) {
        mishap_param *items = make(1, sizeof *items);
        *items = make_param(NULL, depth - 1);
        param.items = items;
    }
    if (param.type == MISHAP_OBJECT && chance(80))
        param.members = make_params(1 + below(4), depth - 1);
    return param;
}

static mishap_param *make_params(size_t count, int depth)
{
    mishap_param *params = make(count + 1, sizeof *params);
    for (size_t i = 0; i < count; i++)
        params[i] = make_param(names[i] ? names[i] : more_names[i], depth);
    return params;
}

static struct value make_value(const mishap_param *param, int depth);

static void make_members(struct value *value, const mishap_param *params, int depth)
{
    size_t count = 0;
    while (params && params[count].name)
        count++;
    value->items = make(count + 1, sizeof *value->items);
    value->names = make(count + 1, sizeof *value->names);
    for (size_t i = 0; i < count; i++) {
        if (chance(20))
            continue;
        value->items[value->length] = make_value(&params[i], depth);
        value->names[value->length++] = (int)i;
    }
    /* In any order, now and then. */
    for (size_t i = value->length; i > 1 && chance(50); i--) {
        size_t other = below((unsigned)i);
        struct value item = value->items[i - 1];
        int name = value->names[i - 1];
        value->items[i - 1] = value->items[other];
        value->names[i - 1] = value->names[other];
        value->items[other] = item;
        value->names[other] = name;
    }
}

static enum kind kind_for(const mishap_param *param)
{
    switch (param->type) {
    case MISHAP_INTEGER:
        return WHOLE;
    case MISHAP_NUMBER:
        return chance(50) ? WHOLE : HALF;
    case MISHAP_BOOLEAN:
        return TRUE;
    case MISHAP_ARRAY:
        return LIST;
    case MISHAP_OBJECT:
        return THING;
    default:
        return STRING;
    }
}

/* Mostly of the right type; else of any. */
static struct value make_value(const mishap_param *param, int depth)
{
    struct value value = { .kind = chance(80) ? kind_for(param) : below(THING + 1) };
    switch (value.kind) {
    case STRING:
        value.length = chance(15) ? 0 : below(6);
        for (size_t i = 0; i < value.length; i++)
            value.letters[i] = (int)below(chance(60) ? 3 : LETTERS);
        break;
    case WHOLE:
        value.halves = ((int)below(30) - 15) * 2;
        break;
    case HALF:
        value.halves = (int)below(60) - 30;
        break;
    case LIST:
        value.length = depth > 0 ? below(5) : 0;
        if (chance(1))
            value.length = 150;
        value.items = make(value.length, sizeof *value.items);
        for (size_t i = 0; i < value.length; i++)
            value.items[i] = make_value(param->items ? param->items : param, depth - 1);
        break;
    case THING:
        if (param->type == MISHAP_OBJECT)
            make_members(&value, param->members, depth - 1);
        break;
    default:
        break;
    }
    return value;
}

static const char *name_of(const mishap_param *params, int which)
{
    return params ? params[which].name : "other";
}

static void put_value(const struct value *value, const mishap_param *param)
{
    switch (value->kind) {
    case STRING:
        put(&json, "\"");
        for (size_t i = 0; i < value->length; i++)
            put(&json, "%s", letters[value->letters[i]]);
        put(&json, "\"");
        break;
    case WHOLE:
        put(&json, "%d", value->halves / 2);
        break;
    case HALF:
        put(&json, "%.1f", value->halves / 2.0);
        break;
    case HUGE:
        put(&json, "340282366920938463463374607431768211456");
        break;
    case TRUE:
        put(&json, "true");
        break;
    case NOTHING:
        put(&json, "null");
        break;
    case LIST:
        put(&json, "[");
        for (size_t i = 0; i < value->length; i++) {
            put(&json, i ? "," : "");
            put_value(&value->items[i], param && param->items ? param->items : param);
        }
        put(&json, "]");
        break;
    case THING:
        put(&json, "{\"not_declared\":[1]");
        for (size_t i = 0; i < value->length; i++) {
            put(&json, ",\"%s\":", name_of(param->members, value->names[i]));
            put_value(&value->items[i], &param->members[value->names[i]]);
        }
        put(&json, "}");
        break;
    }
}

/* -- the model --------------------------------------------------------------------------------- */

static size_t found;

static bool begin(const char *field, const char *error)
{
    if (++found > 100)
        return false;
    put(&expected, "%s{\"field\":\"%s\",\"error\":\"%s\"", found > 1 ? "," : "", field, error);
    return true;
}

static const char *kind_name(enum kind kind)
{
    static const char *const kinds[] = { "string",  "integer", "number", "integer",
                                         "boolean", "null",    "array",  "object" };
    return kinds[kind];
}

static void put_halves(const char *key, double number)
{
    if (number != INFINITY && number != -INFINITY)
        put(&expected, ",\"%s\":%.*f", key, number == (int)number ? 0 : 1, number);
}

static bool type_fits(mishap_type_of_param type, const struct value *value)
{
    enum kind kind = value->kind;
    switch (type) {
    case MISHAP_INTEGER:
        return kind == WHOLE || kind == HUGE || (kind == HALF && value->halves % 2 == 0);
    case MISHAP_NUMBER:
        return kind == WHOLE || kind == HALF || kind == HUGE;
    case MISHAP_BOOLEAN:
        return kind == TRUE;
    case MISHAP_ARRAY:
        return kind == LIST;
    case MISHAP_OBJECT:
        return kind == THING;
    default:
        return kind == STRING;
    }
}

static void model_length(const mishap_param *param, const struct value *value, const char *field,
                         bool secret)
{
    if (value->length >= param->length.min &&
        (!param->length.max || value->length <= param->length.max))
        return;
    if (!begin(field, "invalid_length"))
        return;
    if (param->length.min)
        put(&expected, ",\"min\":%zu", param->length.min);
    if (param->length.max)
        put(&expected, ",\"max\":%zu", param->length.max);
    if (!secret)
        put(&expected, ",\"actual\":%zu", value->length);
    put(&expected, "}");
}

static void model_range(const mishap_param *param, const struct value *value, const char *field,
                        bool secret)
{
    bool any = param->range.min == 0 && param->range.max == 0;
    double low = any ? -INFINITY : param->range.min, high = any ? INFINITY : param->range.max;
    bool too_large = value->kind == HUGE && (param->type == MISHAP_INTEGER || high != INFINITY);
    if (!too_large &&
        (value->kind == HUGE || (value->halves / 2.0 >= low && value->halves / 2.0 <= high)))
        return;
    if (!begin(field, "value_out_of_range"))
        return;
    put_halves("min", low);
    if (value->kind == HUGE && low == -INFINITY && param->type == MISHAP_INTEGER)
        put(&expected, ",\"min\":-9223372036854775808");
    put_halves("max", high);
    if (value->kind == HUGE && high == INFINITY)
        put(&expected, ",\"max\":9223372036854775807");
    if (!secret && value->kind == HUGE)
        put(&expected, ",\"actual\":340282366920938463463374607431768211456");
    else if (!secret)
        put(&expected, ",\"actual\":%.*f", value->kind == HALF ? 1 : 0, value->halves / 2.0);
    put(&expected, "}");
}

static void model_form(const mishap_param *param, const struct value *value, const char *field)
{
    static const int words[3][3] = { { 1, 0 },
                                     { 2, 0, 1 },
                                     { 2, 1, 2 } }; /* a, ab, b1: length and letters */
    bool holds = param->type == MISHAP_STRING;
    const char *form = NULL;
    for (int i = 0; i < 4; i++) {
        if (param->pattern && strcmp(param->pattern, patterns[i].pattern) == 0) {
            holds = patterns[i].holds(value);
            form = patterns[i].in_json;
        }
    }
    for (int i = 0; i < 3 && param->type == MISHAP_ENUM; i++)
        if (value->length == (size_t)words[i][0] && value->letters[0] == words[i][1] &&
            (value->length == 1 || value->letters[1] == words[i][2]))
            holds = true;
    if (holds || !begin(field, "pattern_mismatch"))
        return;
    if (form)
        put(&expected, ",\"expected\":\"%s\"}", form);
    else
        put(&expected, ",\"expected\":[\"a\",\"ab\",\"b1\"]}");
}

static void model_params(const mishap_param *params, const struct value *value, const char *outer,
                         bool secret);

static void model_value(const mishap_param *param, const struct value *value, const char *field,
                        bool secret)
{
    if (!type_fits(param->type, value)) {
        if (!begin(field, "invalid_type"))
            return;
        put(&expected, ",\"expected\":\"%s\"", mishap_param_type_name(param->type));
        if (!secret)
            put(&expected, ",\"actual\":\"%s\"", kind_name(value->kind));
        put(&expected, "}");
        return;
    }
    if (param->type == MISHAP_STRING || param->type == MISHAP_ARRAY)
        model_length(param, value, field, secret);
    if (param->type == MISHAP_INTEGER || param->type == MISHAP_NUMBER)
        model_range(param, value, field, secret);
    if (param->type == MISHAP_STRING || param->type == MISHAP_ENUM)
        model_form(param, value, field);
    for (size_t i = 0; param->type == MISHAP_ARRAY && i < value->length; i++) {
        const struct value *item = &value->items[i];
        char name[200];
        snprintf(name, sizeof name, "%s[%zu]", field, i);
        if (param->items->required &&
            (item->kind == NOTHING || (item->kind == STRING && !item->length))) {
            if (begin(name, "field_required"))
                put(&expected, "}");
        } else {
            model_value(param->items, item, name, secret || param->items->secret);
        }
    }
    if (param->type == MISHAP_OBJECT)
        model_params(param->members, value, field, secret);
}

static void model_params(const mishap_param *params, const struct value *value, const char *outer,
                         bool secret)
{
    for (size_t i = 0; params && params[i].name; i++) {
        const struct value *member = NULL;
        for (size_t k = 0; k < value->length; k++)
            if (value->names[k] == (int)i)
                member = &value->items[k];
        char name[200];
        snprintf(name, sizeof name, "%s%s%s", outer, *outer ? "." : "", params[i].name);
        bool there = member && member->kind != NOTHING;
        if (params[i].required && (!there || (member->kind == STRING && !member->length))) {
            if (begin(name, "field_required"))
                put(&expected, "}");
        } else if (there) {
            model_value(&params[i], member, name, secret || params[i].secret);
        }
    }
}

/* -- both together ----------------------------------------------------------------------------- */

static char *checked(size_t *left_out)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_param root = { NULL, .type = MISHAP_OBJECT };
    struct value object = { .kind = THING };
    unsigned few = 1 + below(6);
    mishap_param *params = make_params(chance(3) ? MOST_PARAMS : few, 3);
    root.members = params;
    make_members(&object, params, 3);
    put_value(&object, &root);
    put(&expected, "[");
    model_params(params, &object, "", false);
    put(&expected, "]");
    assert_true(mishap_json_read(&reader, (mishap_text){ json.data, json.length }));
    mishap *m = mishap_params_check(params, reader.root);
    char *text = m ? rendered(mishap_dialect_find("http-api"), m) : strdup("[]");
    const mishap_member *told = m ? mishap_told(m)->context : NULL;
    *left_out = told ? (size_t)told->value.integer : 0;
    mishap_free(m);
    mishap_json_reader_release(&reader);
    return text;
}

static void the_checks_say_what_the_model_says(void **state)
{
    (void)state;
    static const char before[] =
        "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":";
    size_t accepted = 0, many = 0;
    for (unsigned i = 0; i < CASES; i++) {
        size_t left_out;
        seed = i * UINT64_C(0x9E3779B97F4A7C15) + 1;
        json.length = expected.length = pooled = found = 0;
        char *text = checked(&left_out), *details = text;
        if (strncmp(text, before, sizeof before - 1) == 0) {
            details += sizeof before - 1;
            details[strlen(details) - 1] = '\0';
        }
        if (strcmp(details, expected.data) != 0 || left_out != (found > 100 ? found - 100 : 0))
            fail_msg("case %u: %s\nmodel: %s\nfound: %s\nleft out: %zu of %zu", i, json.data,
                     expected.data, text, left_out, found);
        accepted += found == 0;
        many += found > 100;
        free(text);
        while (pooled)
            free(pool[--pooled]);
    }
    /* It would show nothing if nearly all cases were alike. */
    assert_in_range(accepted, CASES / 50, CASES / 2);
    assert_in_range(many, 20, CASES / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(the_checks_say_what_the_model_says) };
    json.data = malloc(ROOM);
    expected.data = malloc(ROOM);
    for (int i = 0; i < MOST_PARAMS; i++)
        snprintf(more_names[i], sizeof more_names[i], "more_%d", i);
    int failed = RUN(tests);
    free(json.data);
    free(expected.data);
    return failed;
}
