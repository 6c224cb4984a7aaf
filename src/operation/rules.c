/* Checks of rules across parameters. Each finding is about one parameter, and its sentence names
 * the others. */
#include "operation/rules.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/sort.h"
#include "operation/number.h"
#include "operation/type.h"

/* The parameters of one list and their values. */
struct ruled {
    mishap_findings *findings;
    const mishap_spot *outer;
    const mishap_param *params;
    yyjson_val *const *values;
};

static const mishap_param *find_field(const struct ruled *of, const char *name, yyjson_val **value)
{
    const mishap_param *param = mishap_param_find(of->params, mishap_text_of(name));
    *value = param ? of->values[param - of->params] : NULL;
    if (yyjson_is_null(*value))
        *value = NULL;
    return param;
}

/* null is given where it is a value of its own. */
static bool is_given(const struct ruled *of, const char *name)
{
    yyjson_val *value;
    const mishap_param *param = find_field(of, name, &value);
    return value || (param && param->nullable && of->values[param - of->params]);
}

static mishap_spot spot_of(const struct ruled *of, const mishap_param *param)
{
    return (mishap_spot){ of->outer, mishap_text_of(param->name), 0,
                          of->outer ? of->outer->depth + 1 : 0,
                          param->secret || (of->outer && of->outer->secret) };
}

/* Report one parameter and, unless it is NULL, its value. The words get a NUL at their end. */
static void report_param(const struct ruled *of, const mishap_param *param, yyjson_val *value,
                         mishap_field *wrong, mishap_buffer *words)
{
    mishap_buffer_put_char(words, '\0');
    of->findings->no_memory = of->findings->no_memory || words->failed;
    if (param && !words->failed) {
        mishap_spot spot = spot_of(of, param);
        mishap_find_saying(of->findings, &spot, wrong, words->data, value);
    }
}

static void report_field(const struct ruled *of, const char *name, mishap_field *wrong,
                         mishap_buffer *words)
{
    yyjson_val *value;
    const mishap_param *param = find_field(of, name, &value);
    report_param(of, param, value, wrong, words);
}

/* "b, c or d", from a name on. */
static void put_fields(mishap_buffer *words, const char *const *fields, const char *last)
{
    for (size_t i = 0; fields[i]; i++) {
        if (i)
            mishap_buffer_put_text(words, mishap_text_of(fields[i + 1] ? ", " : last));
        mishap_buffer_put_text(words, mishap_text_of(fields[i]));
    }
}

/* -- order ------------------------------------------------------------------------------------- */

static bool is_negative(yyjson_val *integer)
{
    return yyjson_is_raw(integer) ? yyjson_get_raw(integer)[0] == '-'
                                  : yyjson_is_sint(integer) && yyjson_get_sint(integer) < 0;
}

/* Integers are compared by their digits: they may have more than 64 bits. */
static int order_of_integers(yyjson_val *a, yyjson_val *b)
{
    char storage[2][32];
    mishap_buffer x, y;
    bool negative = is_negative(a);
    if (negative != is_negative(b))
        return negative ? -1 : 1;
    mishap_text digits[2] = { mishap_json_text(a), mishap_json_text(b) };
    mishap_buffer_init(&x, storage[0], sizeof storage[0]);
    mishap_buffer_init(&y, storage[1], sizeof storage[1]);
    if (!yyjson_is_raw(a)) {
        mishap_json_copy(&x, a);
        digits[0] = mishap_buffer_text(&x);
    }
    if (!yyjson_is_raw(b)) {
        mishap_json_copy(&y, b);
        digits[1] = mishap_buffer_text(&y);
    }
    int away = negative ? -1 : 1;
    if (digits[0].length != digits[1].length)
        return digits[0].length > digits[1].length ? away : -away;
    int difference = memcmp(digits[0].data, digits[1].data, digits[0].length);
    return difference > 0 ? away : difference < 0 ? -away : 0;
}

/* A number that is no integer and too large for a double was reported. */
static bool find_order_of_numbers(yyjson_val *a, yyjson_val *b, int *order)
{
    if ((!yyjson_is_num(a) && !yyjson_is_raw(a)) || (!yyjson_is_num(b) && !yyjson_is_raw(b)) ||
        (yyjson_is_raw(a) && !mishap_number_is_integer(a)) ||
        (yyjson_is_raw(b) && !mishap_number_is_integer(b)))
        return false;
    if (yyjson_is_real(b))
        *order = mishap_number_compare(a, unsafe_yyjson_get_real(b));
    else if (yyjson_is_real(a))
        *order = -mishap_number_compare(b, unsafe_yyjson_get_real(a));
    else
        *order = order_of_integers(a, b);
    return true;
}

/* False if one of them is not a value of the type: that was reported. */
static bool find_order(mishap_type_of_param type, yyjson_val *a, yyjson_val *b, int *order)
{
    mishap_timestamp times[2];
    mishap_date dates[2];
    mishap_decimal decimals[2];
    switch (type) {
    case MISHAP_TIMESTAMP:
        if (!mishap_timestamp_read(mishap_json_text(a), &times[0]) ||
            !mishap_timestamp_read(mishap_json_text(b), &times[1]))
            return false;
        *order = mishap_timestamp_compare(times[0], times[1]);
        return true;
    case MISHAP_DATE:
        if (!mishap_date_read(mishap_json_text(a), &dates[0]) ||
            !mishap_date_read(mishap_json_text(b), &dates[1]))
            return false;
        *order = mishap_date_compare(dates[0], dates[1]);
        return true;
    case MISHAP_DECIMAL:
    case MISHAP_DECIMAL_NUMBER:
        if (!mishap_decimal_of_json(a, &decimals[0]) || !mishap_decimal_of_json(b, &decimals[1]))
            return false;
        *order = mishap_decimal_compare(decimals[0], decimals[1]);
        return true;
    default:
        return find_order_of_numbers(a, b, order);
    }
}

static void check_order(const struct ruled *of, const mishap_relation *rule)
{
    int order;
    char storage[128];
    yyjson_val *a, *b;
    const mishap_param *param = find_field(of, rule->fields[0], &a);
    find_field(of, rule->fields[1], &b);
    if (!param || !a || !b || !find_order(param->type, a, b, &order) ||
        (rule->kind == MISHAP_RELATION_AFTER ? order > 0 : order >= 0))
        return;
    bool timed = param->type == MISHAP_TIMESTAMP || param->type == MISHAP_DATE;
    const char *relation = rule->kind == MISHAP_RELATION_AFTER
                               ? (timed ? "after " : "above ")
                               : (timed ? "not before " : "not below ");
    mishap_buffer words;
    mishap_buffer_init(&words, storage, sizeof storage);
    MISHAP_PUT(&words, " must be ");
    mishap_buffer_put_text(&words, mishap_text_of(relation));
    mishap_buffer_put_text(&words, mishap_text_of(rule->fields[1]));
    mishap_buffer_reserve(&words, 1); /* for the NUL: the text must not move any more */
    mishap_field wrong = { .error = MISHAP_TEXT("value_out_of_range"),
                           .expected = mishap_value_of_text(
                               (mishap_text){ words.data + 9, words.length - 9 }) };
    if (words.failed)
        of->findings->no_memory = true;
    else
        report_field(of, rule->fields[0], &wrong, &words);
    mishap_buffer_release(&words);
}

/* -- which are given --------------------------------------------------------------------------- */

static void check_count(const struct ruled *of, const mishap_relation *rule)
{
    char storage[256], expected[256];
    const char *first = NULL;
    mishap_buffer words;
    for (size_t i = 0; rule->fields[i]; i++) {
        if (!is_given(of, rule->fields[i]))
            continue;
        if (!first) {
            first = rule->fields[i];
            continue;
        }
        if (rule->kind != MISHAP_RELATION_EXACTLY_ONE)
            continue;
        snprintf(expected, sizeof expected, "nothing beside %s", first);
        mishap_field wrong = { .error = MISHAP_TEXT("pattern_mismatch"),
                               .expected = mishap_value_of_string(expected) };
        mishap_buffer_init(&words, storage, sizeof storage);
        MISHAP_PUT(&words, " must not be given together with ");
        mishap_buffer_put_text(&words, mishap_text_of(first));
        report_param(of, mishap_param_find(of->params, mishap_text_of(rule->fields[i])), NULL,
                     &wrong, &words);
        mishap_buffer_release(&words);
    }
    if (first)
        return;
    mishap_field wrong = { .error = MISHAP_TEXT("field_required") };
    mishap_buffer_init(&words, storage, sizeof storage);
    if (rule->fields[1])
        mishap_buffer_put_text(&words, mishap_text_of(rule->fields[2] ? ", " : " or "));
    put_fields(&words, rule->fields + 1, " or ");
    MISHAP_PUT(&words, " must be given");
    report_field(of, rule->fields[0], &wrong, &words);
    mishap_buffer_release(&words);
}

/* 1.0 is the same as 1, and of decimals "1.0" the same as "1". */
static bool is_same_number(const mishap_param *param, yyjson_val *value, const char *spelled)
{
    int order;
    mishap_decimal given, wanted;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (mishap_type_is_decimal(param->type))
        return mishap_decimal_of_json(value, &given) &&
               mishap_decimal_read(mishap_text_of(spelled), &wanted) &&
               mishap_decimal_compare(given, wanted) == 0;
    if (!yyjson_is_num(value) && !yyjson_is_raw(value))
        return false;
    bool same = mishap_json_read(&reader, mishap_text_of(spelled)) &&
                find_order_of_numbers(value, reader.root, &order) && order == 0;
    mishap_json_reader_release(&reader);
    return same;
}

/* True if the value, or the default of the parameter, is spelled like this. */
static bool is_spelled(const mishap_param *param, yyjson_val *value, const char *spelled)
{
    char storage[128];
    mishap_buffer json;
    mishap_text wanted = mishap_text_of(spelled), given = mishap_json_text(value);
    if (value && is_same_number(param, value, spelled))
        return true;
    if (yyjson_is_str(value))
        return mishap_text_equal(given, wanted);
    mishap_buffer_init(&json, storage, sizeof storage);
    if (value)
        mishap_json_copy(&json, value);
    else if (param->initial)
        mishap_buffer_put_text(&json, mishap_text_of(param->initial));
    given = mishap_buffer_text(&json);
    if (!value && given.length >= 2 && given.data[0] == '"')
        given = (mishap_text){ given.data + 1, given.length - 2 };
    bool same = !json.failed && given.length && mishap_text_equal(given, wanted);
    mishap_buffer_release(&json);
    return same;
}

static void check_need(const struct ruled *of, const mishap_relation *rule)
{
    char storage[256];
    yyjson_val *value;
    const mishap_param *other = find_field(of, rule->fields[1], &value);
    if (is_given(of, rule->fields[0]) || !other ||
        !(rule->value ? is_spelled(other, value, rule->value) : value != NULL))
        return;
    mishap_buffer words;
    mishap_buffer_init(&words, storage, sizeof storage);
    MISHAP_PUT(&words, " is required if ");
    mishap_buffer_put_text(&words, mishap_text_of(rule->fields[1]));
    MISHAP_PUT(&words, " is ");
    mishap_buffer_put_text(&words, mishap_text_of(rule->value ? rule->value : "given"));
    mishap_field wrong = { .error = MISHAP_TEXT("field_required") };
    report_field(of, rule->fields[0], &wrong, &words);
    mishap_buffer_release(&words);
}

void mishap_expect_rules(mishap_findings *findings, const mishap_spot *outer,
                         const mishap_param *params, const mishap_relation *rules,
                         yyjson_val *const *values)
{
    struct ruled of = { findings, outer, params, values };
    for (; rules && rules->kind; rules++)
        switch (rules->kind) {
        case MISHAP_RELATION_AFTER:
        case MISHAP_RELATION_NOT_BEFORE:
            check_order(&of, rules);
            break;
        case MISHAP_RELATION_EXACTLY_ONE:
        case MISHAP_RELATION_AT_LEAST_ONE:
            check_count(&of, rules);
            break;
        case MISHAP_RELATION_REQUIRED_IF:
            check_need(&of, rules);
            break;
        case MISHAP_RELATION_FUNCTION:
            break;
        }
}

/* -- items ------------------------------------------------------------------------------------- */

/* An item of an array, as JSON. */
struct spelled_item {
    const char *data;
    size_t at, length, index;
};

/* By their text, so that equal ones are neighbours; then by their index. */
static int by_text(const void *a, const void *b)
{
    const struct spelled_item *x = a, *y = b;
    size_t common = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->data, y->data, common);
    if (order)
        return order;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* 1.0 is the same as 1. */
static void put_item(mishap_buffer *json, yyjson_val *item)
{
    double real = yyjson_is_real(item) ? unsafe_yyjson_get_real(item) : 0.5;
    if (real > -0x1p53 && real < 0x1p53 && real == (double)(int64_t)real)
        mishap_buffer_put_int(json, (int64_t)real);
    else
        mishap_json_copy(json, item);
}

static void report_repeated(mishap_findings *findings, const mishap_spot *spot,
                            const struct spelled_item *items, size_t count)
{
    for (size_t i = 1, first = 0; i < count; i++) {
        if (items[i].length != items[first].length ||
            memcmp(items[i].data, items[first].data, items[i].length) != 0) {
            first = i;
            continue;
        }
        char words[64];
        mishap_spot place = { spot, { NULL, 0 }, items[i].index, spot->depth + 1, spot->secret };
        mishap_field wrong = { .error = MISHAP_TEXT("pattern_mismatch"),
                               .expected = mishap_value_of_string("items that differ") };
        snprintf(words, sizeof words, " is the same as item %zu; each may occur once",
                 items[first].index);
        mishap_find_saying(findings, &place, &wrong, words, NULL);
    }
}

void mishap_expect_unique(mishap_findings *findings, const mishap_spot *spot, yyjson_val *array)
{
    size_t index, count = yyjson_arr_size(array), all, start = 0;
    yyjson_val *item;
    mishap_buffer json = { 0 };
    struct spelled_item *items = count > 1 ? mishap_allocate(count * sizeof *items) : NULL;
    if (count < 2)
        return;
    MISHAP_JSON_ITEMS (array, index, all, item) {
        if (!items)
            break;
        put_item(&json, item);
        if (!json.failed && json.data[start] == ',')
            start++;
        items[index] = (struct spelled_item){ NULL, start, json.length - start, index };
        start = json.length;
    }
    if (!items || json.failed) {
        findings->no_memory = true;
    } else {
        for (size_t i = 0; i < count; i++)
            items[i].data = json.data + items[i].at;
        mishap_sort(items, count, sizeof *items, by_text);
        report_repeated(findings, spot, items, count);
    }
    mishap_buffer_release(&json);
    mishap_release(items);
}
