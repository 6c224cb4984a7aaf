/* Single findings about a value that does not fit a schema. Where operation/findings.h has the rule
 * already, it writes the finding. */
#include "schema/telling.h"

#include <math.h>

#include "base/nearest.h"
#include "operation/number.h"

enum { MOST_WORDS = 20, LONGEST_WORD = 60 }; /* of a list of names or choices */

static const struct {
    unsigned bit;
    const char *name, *words;
    mishap_type_of_param type; /* MISHAP_ENUM: ours has none */
} types[] = { { TYPE_STRING, "string", "a string", MISHAP_STRING },
              { TYPE_INTEGER, "integer", "an integer", MISHAP_INTEGER },
              { TYPE_NUMBER, "number", "a number", MISHAP_NUMBER },
              { TYPE_BOOLEAN, "boolean", "true or false", MISHAP_BOOLEAN },
              { TYPE_ARRAY, "array", "an array", MISHAP_ARRAY },
              { TYPE_OBJECT, "object", "an object", MISHAP_OBJECT },
              { TYPE_NULL, "null", "null", MISHAP_ENUM } };
enum { TYPES = sizeof types / sizeof *types };

/* -- making findings --------------------------------------------------------------------------- */

struct sentence {
    char storage[256];
    mishap_buffer words;
};

static void begin_words(struct sentence *s)
{
    mishap_buffer_init(&s->words, s->storage, sizeof s->storage);
}

/* The finding with the words. */
static void end_words(schema_telling *t, const mishap_spot *spot, mishap_field *wrong,
                      struct sentence *s, yyjson_val *value)
{
    mishap_buffer_put_char(&s->words, '\0');
    if (s->words.failed)
        t->findings.no_memory = true;
    else
        mishap_find_saying(&t->findings, spot, wrong, s->words.data, value);
    mishap_buffer_release(&s->words);
}

void mishap_schema_say(schema_telling *t, const mishap_spot *spot, const char *error,
                       const char *words, yyjson_val *value)
{
    mishap_field wrong = { .error = mishap_text_of(error) };
    mishap_find_saying(&t->findings, spot, &wrong, words, value);
}

static mishap_text shown(mishap_text text)
{
    text.length = mishap_utf8_cut(text, LONGEST_WORD);
    return text;
}

/* Before the item of a list: a, b or c. */
static void put_between(mishap_buffer *b, size_t index, size_t count, const char *last)
{
    if (index)
        mishap_buffer_put_text(b, mishap_text_of(index + 1 < count ? ", " : last));
}

/* -- types ------------------------------------------------------------------------------------- */

static const char *type_name(yyjson_val *value)
{
    unsigned bits = mishap_schema_types_of(value);
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].bit & bits)
            return types[i].name;
    return "null";
}

static size_t count_bits(unsigned bits)
{
    size_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

/* The one type of ours that the bits are; false: there is none, or more than one. */
static bool single_type(unsigned bits, mishap_type_of_param *type)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].bit == bits && bits != TYPE_NULL) {
            *type = types[i].type;
            return true;
        }
    return false;
}

void mishap_schema_say_type(schema_telling *t, const mishap_spot *spot, unsigned bits,
                            yyjson_val *value)
{
    char names[96];
    struct sentence s;
    mishap_buffer expected;
    mishap_type_of_param type;
    if ((bits & (TYPE_INTEGER | TYPE_NUMBER)) == (TYPE_INTEGER | TYPE_NUMBER))
        bits &= ~(unsigned)TYPE_INTEGER;
    if (single_type(bits, &type)) {
        mishap_expect_type(&t->findings, spot, type, value);
        return;
    }
    begin_words(&s);
    MISHAP_PUT(&s.words, " must be ");
    mishap_buffer_init(&expected, names, sizeof names);
    for (size_t i = 0, told = 0, count = count_bits(bits); i < TYPES; i++) {
        if (!(types[i].bit & bits))
            continue;
        put_between(&s.words, told, count, " or ");
        put_between(&expected, told++, count, " or ");
        mishap_buffer_put_text(&s.words, mishap_text_of(types[i].words));
        mishap_buffer_put_text(&expected, mishap_text_of(types[i].name));
    }
    const char *given = type_name(value);
    MISHAP_PUT(&s.words, ", not ");
    if (!yyjson_is_null(value))
        mishap_buffer_put_text(&s.words, mishap_text_of(strchr("aio", given[0]) ? "an " : "a "));
    mishap_buffer_put_text(&s.words, mishap_text_of(given));
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_type"),
                           .expected = mishap_value_of_text(mishap_buffer_text(&expected)),
                           .actual = mishap_value_of_string(given) };
    end_words(t, spot, &wrong, &s, NULL);
    mishap_buffer_release(&expected);
}

/* -- names ------------------------------------------------------------------------------------- */

/* A value as it stands in a sentence. */
static void put_word(mishap_buffer *b, yyjson_val *value)
{
    char storage[128];
    mishap_buffer json;
    if (yyjson_is_str(value) && yyjson_get_len(value)) {
        mishap_buffer_put_text(b, shown(mishap_json_text(value)));
        return;
    }
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_json_copy(&json, value);
    mishap_buffer_put_text(b, shown(mishap_buffer_text(&json)));
    b->failed = b->failed || json.failed;
    mishap_buffer_release(&json);
}

static void put_words(mishap_buffer *b, yyjson_val *const *values, size_t count)
{
    size_t told = count < MOST_WORDS ? count : MOST_WORDS;
    for (size_t i = 0; i < told; i++) {
        put_between(b, i, count, " or ");
        put_word(b, values[i]);
    }
    if (told < count)
        MISHAP_PUT(b, " or another");
}

void mishap_schema_say_missing(schema_telling *t, const mishap_spot *spot, const schema_node *node)
{
    struct sentence s;
    size_t index, count, taken = 0;
    mishap_type_of_param type;
    yyjson_val *item, *values[MOST_WORDS + 1];
    MISHAP_JSON_ITEMS (node ? node->choices : NULL, index, count, item)
        if (taken <= MOST_WORDS)
            values[taken++] = item;
    if (taken) {
        mishap_field wrong = { .error = MISHAP_TEXT("field_required") };
        begin_words(&s);
        MISHAP_PUT(&s.words, " is required (one of ");
        put_words(&s.words, values, taken);
        MISHAP_PUT(&s.words, ")");
        end_words(t, spot, &wrong, &s, NULL);
    } else if (node && single_type(node->types, &type)) {
        mishap_miss(&t->findings, spot, &(mishap_param){ .type = type });
    } else {
        mishap_miss(&t->findings, spot, NULL);
    }
}

void mishap_schema_say_needed(schema_telling *t, const mishap_spot *spot, mishap_text because)
{
    struct sentence s;
    mishap_field wrong = { .error = MISHAP_TEXT("field_required") };
    begin_words(&s);
    MISHAP_PUT(&s.words, " is required where ");
    mishap_buffer_put_text(&s.words, shown(because));
    MISHAP_PUT(&s.words, " is given");
    end_words(t, spot, &wrong, &s, NULL);
}

void mishap_schema_say_unknown(schema_telling *t, const mishap_spot *spot,
                               const schema_objects *objects, yyjson_val *object)
{
    struct sentence s;
    size_t index, count;
    yyjson_val *key, *value;
    mishap_guess guess = { .word = spot->name };
    MISHAP_JSON_MEMBERS (objects->declared, index, count, key, value) {
        mishap_guess better = guess;
        if (!mishap_schema_charge(&t->run, 32))
            break;
        mishap_guess_weigh(&better, shown(mishap_json_text(key)));
        if (better.name.data != guess.name.data &&
            !yyjson_obj_getn(object, better.name.data, better.name.length))
            guess = better;
    }
    if (guess.name.data) {
        mishap_spot place = *spot;
        place.secret = false; /* only the name is shown */
        mishap_find_unknown(&t->findings, &place, mishap_value_of_text(guess.name), NULL);
        return;
    }
    mishap_field wrong = { .error = MISHAP_TEXT("unknown_field") };
    begin_words(&s);
    MISHAP_PUT(&s.words, " is not a known name");
    MISHAP_JSON_MEMBERS (objects->declared, index, count, key, value) {
        if (index == MOST_WORDS) {
            MISHAP_PUT(&s.words, " and more");
            break;
        }
        if (!index)
            mishap_buffer_put_text(&s.words, mishap_text_of(count == 1 ? "; the known name is "
                                                                       : "; the known names are "));
        put_between(&s.words, index, count, " and ");
        mishap_buffer_put_text(&s.words, shown(mishap_json_text(key)));
    }
    end_words(t, spot, &wrong, &s, NULL);
}

/* -- choices ----------------------------------------------------------------------------------- */

/* The choice that may be meant; NULL: none is near. */
static yyjson_val *nearest_choice(yyjson_val *const *values, size_t count, yyjson_val *value)
{
    yyjson_val *nearest = NULL;
    mishap_guess guess = { .word = shown(mishap_json_text(value)) };
    for (size_t i = 0; yyjson_is_str(value) && i < count; i++) {
        const char *before = guess.name.data;
        if (yyjson_is_str(values[i]))
            mishap_guess_weigh(&guess, shown(mishap_json_text(values[i])));
        if (guess.name.data != before)
            nearest = values[i];
    }
    return nearest;
}

void mishap_schema_say_choice(schema_telling *t, const mishap_spot *spot, yyjson_val *const *values,
                              size_t count, yyjson_val *value)
{
    enum { LARGEST = 2000 };
    char storage[256];
    struct sentence s;
    mishap_buffer expected;
    mishap_field wrong = { .error = MISHAP_TEXT("pattern_mismatch") };
    yyjson_val *meant = nearest_choice(values, count, value);
    mishap_buffer_init(&expected, storage, sizeof storage);
    mishap_json_open(&expected, '[');
    for (size_t i = 0; i < count && expected.length < LARGEST; i++)
        mishap_json_copy(&expected, values[i]);
    mishap_json_close(&expected, ']');
    if (expected.failed)
        t->findings.no_memory = true;
    else if (expected.length > LARGEST)
        wrong.expected = mishap_value_of_string("one of the values of the schema");
    else
        wrong.expected = (mishap_value){ .kind = MISHAP_KIND_JSON,
                                         .text = mishap_buffer_text(&expected) };
    begin_words(&s);
    mishap_buffer_put_text(&s.words, mishap_text_of(count > 1 ? " must be one of " : " must be "));
    put_words(&s.words, values, count);
    if (meant && count > 1) {
        MISHAP_PUT(&s.words, " (");
        put_word(&s.words, meant);
        MISHAP_PUT(&s.words, " may be meant)");
    }
    end_words(t, spot, &wrong, &s, value);
    mishap_buffer_release(&expected);
}

/* -- strings, numbers, lengths ----------------------------------------------------------------- */

void mishap_schema_say_pattern(schema_telling *t, const mishap_spot *spot, mishap_text pattern,
                               yyjson_val *value)
{
    enum { LONGEST = 200 };
    struct sentence s;
    mishap_field wrong = { .error = MISHAP_TEXT("pattern_mismatch"),
                           .expected = mishap_value_of_text(pattern) };
    begin_words(&s);
    MISHAP_PUT(&s.words, " must match the pattern ");
    pattern.length = mishap_utf8_cut(pattern, LONGEST);
    mishap_buffer_put_text(&s.words, pattern);
    end_words(t, spot, &wrong, &s, value);
}

/* `words` and the bound are what is expected. */
static void say_bound(schema_telling *t, const mishap_spot *spot, const char *words,
                      const char *error, yyjson_val *bound, yyjson_val *value)
{
    char storage[128];
    struct sentence s;
    mishap_buffer expected;
    mishap_buffer_init(&expected, storage, sizeof storage);
    mishap_buffer_put_text(&expected, mishap_text_of(words));
    put_word(&expected, bound);
    mishap_field wrong = { .error = mishap_text_of(error),
                           .expected = mishap_value_of_text(mishap_buffer_text(&expected)),
                           .actual = mishap_json_scalar(value) };
    begin_words(&s);
    MISHAP_PUT(&s.words, " must be ");
    mishap_buffer_put_text(&s.words, mishap_buffer_text(&expected));
    if (!spot->secret) {
        MISHAP_PUT(&s.words, ", not ");
        put_word(&s.words, value);
    }
    s.words.failed = s.words.failed || expected.failed;
    end_words(t, spot, &wrong, &s, NULL);
    mishap_buffer_release(&expected);
}

static double bound_of(yyjson_val *bound, double none)
{
    return bound ? yyjson_get_num(bound) : none;
}

void mishap_schema_say_number(schema_telling *t, const mishap_spot *spot,
                              const schema_numbers *numbers, yyjson_val *value)
{
    bool low = numbers->min && mishap_schema_compare(value, numbers->min) == -1;
    int high = numbers->max ? mishap_schema_compare(value, numbers->max) : 0;
    bool raw = yyjson_is_raw(numbers->min) || yyjson_is_raw(numbers->max);
    int above = numbers->above ? mishap_schema_compare(value, numbers->above) : 1;
    int below = numbers->below ? mishap_schema_compare(value, numbers->below) : -1;
    if ((low || high == 1) &&
        (raw || mishap_expect_range(&t->findings, spot, bound_of(numbers->min, -INFINITY),
                                    bound_of(numbers->max, INFINITY), 0, value)))
        say_bound(t, spot, low ? "at least " : "at most ", "value_out_of_range",
                  low ? numbers->min : numbers->max, value);
    if (above < 1)
        say_bound(t, spot, "greater than ", "value_out_of_range", numbers->above, value);
    if (below == 0 || below == 1)
        say_bound(t, spot, "less than ", "value_out_of_range", numbers->below, value);
    if (numbers->multiple && mishap_schema_multiple(value, numbers->multiple) == SCHEMA_FAILS)
        say_bound(t, spot, "a multiple of ", "invalid_value", numbers->multiple, value);
}

void mishap_schema_say_length(schema_telling *t, const mishap_spot *spot, size_t min, size_t max,
                              yyjson_val *value)
{
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_length"), .max = mishap_value_of_uint(0) };
    if (max == 0)
        mishap_find_saying(&t->findings, spot, &wrong, " must be empty", NULL);
    else
        mishap_expect_length(&t->findings, spot, min, max, value);
}

void mishap_schema_say_same(schema_telling *t, const mishap_spot *spot, size_t first, size_t second)
{
    struct sentence s;
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_value") };
    begin_words(&s);
    MISHAP_PUT(&s.words, " must not have the same item twice: items ");
    mishap_buffer_put_uint(&s.words, first);
    MISHAP_PUT(&s.words, " and ");
    mishap_buffer_put_uint(&s.words, second);
    MISHAP_PUT(&s.words, " are equal");
    end_words(t, spot, &wrong, &s, NULL);
}

void mishap_schema_say_contained(schema_telling *t, const mishap_spot *spot,
                                 const schema_arrays *arrays, size_t count)
{
    struct sentence s;
    bool few = count < arrays->contains_min;
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_value") };
    begin_words(&s);
    mishap_buffer_put_text(&s.words,
                           mishap_text_of(few ? " must have at least " : " must have at most "));
    mishap_buffer_put_uint(&s.words, few ? arrays->contains_min : arrays->contains_max);
    MISHAP_PUT(&s.words, " of the items that `contains` of the schema describes, not ");
    mishap_buffer_put_uint(&s.words, count);
    end_words(t, spot, &wrong, &s, NULL);
}
