/*
 * Rules of the types that are strings of a certain form: decimals, money, points in time and so on.
 * The sentence of a finding is in words that a person or a model can follow.
 */
#include <math.h>
#include <stdio.h>

#include "base/base64.h"
#include "operation/findings.h"
#include "operation/format.h"
#include "operation/number.h"
#include "operation/type.h"

enum { LONGEST_WORDS = 200 };

/* PostgreSQL has no year 0, so neither has a date that may be stored in it. */
static const int64_t first_second = INT64_C(-62135596800);

static bool mismatch(mishap_findings *findings, const mishap_spot *spot, const char *words,
                     yyjson_val *value)
{
    mishap_field wrong = { .error = MISHAP_TEXT("pattern_mismatch"),
                           .expected = mishap_value_of_string(words) };
    char sentence[LONGEST_WORDS + 20];
    snprintf(sentence, sizeof sentence, " must %s %s",
             mishap_looks_name_it(words) ? "be" : "look like", words);
    mishap_find_saying(findings, spot, &wrong, sentence, value);
    return false;
}

/* -- ranges ------------------------------------------------------------------------------------ */

static bool is_limited(const mishap_param *param)
{
    return param->range.min != 0 || param->range.max != 0;
}

/* Below a bound (-1) or above (1), or within both (0). */
static int outside(const mishap_param *param, mishap_decimal value)
{
    mishap_decimal bound;
    if (!is_limited(param))
        return 0;
    if (mishap_decimal_of_bound(param->range.min, &bound) &&
        mishap_decimal_compare(value, bound) < 0)
        return -1;
    return mishap_decimal_of_bound(param->range.max, &bound) &&
           mishap_decimal_compare(value, bound) > 0;
}

static const char *write_bound(double bound, char text[MISHAP_WRITTEN])
{
    mishap_decimal decimal = { 0, 0 };
    return mishap_decimal_of_bound(bound, &decimal) ? mishap_decimal_write(decimal, text) : NULL;
}

static bool expect_within(mishap_findings *findings, const mishap_spot *spot,
                          const mishap_param *param, mishap_decimal given, yyjson_val *value)
{
    char low[MISHAP_WRITTEN], high[MISHAP_WRITTEN], words[LONGEST_WORDS];
    if (outside(param, given) == 0)
        return true;
    const char *min = write_bound(param->range.min, low),
               *max = write_bound(param->range.max, high);
    if (min && max)
        snprintf(words, sizeof words, " must be from %s to %s", min, max);
    else
        snprintf(words, sizeof words, " must be at %s %s", min ? "least" : "most",
                 min   ? min
                 : max ? max
                       : "");
    mishap_field wrong = { .error = MISHAP_TEXT("value_out_of_range"),
                           .min = mishap_bound(param->range.min),
                           .max = mishap_bound(param->range.max),
                           .actual = mishap_json_scalar(value) };
    mishap_find_saying(findings, spot, &wrong, words, value);
    return false;
}

/* -- decimals and money ------------------------------------------------------------------------ */

static bool expect_decimal(mishap_findings *findings, const mishap_spot *spot,
                           const mishap_param *param, yyjson_val *value)
{
    char words[LONGEST_WORDS];
    mishap_decimal given;
    const char *looks = mishap_param_looks(param);
    if (!mishap_decimal_of_json(value, &given))
        return mismatch(findings, spot, looks, value);
    mishap_decimal scaled = given;
    if (param->scale &&
        (given.scale > param->scale || !mishap_decimal_rescale(given, param->scale, &scaled))) {
        snprintf(words, sizeof words,
                 "a decimal with at most %d digits before and %d after its point",
                 MISHAP_DECIMAL_DIGITS - param->scale, param->scale);
        return mismatch(findings, spot, words, value);
    }
    return expect_within(findings, spot, param, given, value);
}

static bool expect_money(mishap_findings *findings, const mishap_spot *spot,
                         const mishap_param *param, yyjson_val *value)
{
    char storage[LONGEST_WORDS];
    mishap_money given;
    if (!mishap_money_read(mishap_json_text(value), &given))
        return mismatch(findings, spot, mishap_param_looks(param), value);
    size_t i = 0;
    while (param->choices && param->choices[i] && strcmp(param->choices[i], given.currency) != 0)
        i++;
    if (!param->choices || param->choices[i])
        return expect_within(findings, spot, param, given.amount, value);
    mishap_buffer words;
    mishap_buffer_init(&words, storage, sizeof storage);
    MISHAP_PUT(&words, "an amount in ");
    mishap_choices_put_words(&words, param->choices);
    mishap_buffer_put_char(&words, '\0');
    findings->no_memory = findings->no_memory || words.failed;
    if (!words.failed)
        mismatch(findings, spot, words.data, value);
    mishap_buffer_release(&words);
    return false;
}

/* -- the others -------------------------------------------------------------------------------- */

static bool expect_bytes(mishap_findings *findings, const mishap_spot *spot,
                         const mishap_param *param, yyjson_val *value)
{
    char words[LONGEST_WORDS];
    size_t length, min = param->length.min, max = param->length.max;
    if (!mishap_base64_measure(mishap_json_text(value), &length))
        return mismatch(findings, spot, mishap_param_looks(param), value);
    if (length >= min && (!max || length <= max))
        return true;
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_length"),
                           .actual = mishap_value_of_uint(length) };
    if (min)
        wrong.min = mishap_value_of_uint(min);
    if (max)
        wrong.max = mishap_value_of_uint(max);
    if (min && max)
        snprintf(words, sizeof words, " must have from %zu to %zu bytes", min, max);
    else
        snprintf(words, sizeof words, " must have at %s %zu bytes", min ? "least" : "most",
                 min ? min : max);
    mishap_find_saying(findings, spot, &wrong, words, NULL);
    return false;
}

static bool is_form(mishap_type_of_param type, mishap_text text)
{
    mishap_timestamp time;
    mishap_date date;
    mishap_duration duration;
    mishap_uuid uuid;
    switch (type) {
    case MISHAP_TIMESTAMP:
        return mishap_timestamp_read(text, &time) && time.time.tv_sec >= first_second;
    case MISHAP_DATE:
        return mishap_date_read(text, &date) && date.year > 0;
    case MISHAP_DURATION:
        return mishap_duration_read(text, &duration);
    default:
        return mishap_uuid_read(text, &uuid);
    }
}

bool mishap_expect_form(mishap_findings *findings, const mishap_spot *spot,
                        const mishap_param *param, yyjson_val *value)
{
    if (mishap_type_is_decimal(param->type))
        return expect_decimal(findings, spot, param, value);
    if (param->type == MISHAP_MONEY)
        return expect_money(findings, spot, param, value);
    if (param->type == MISHAP_BYTES)
        return expect_bytes(findings, spot, param, value);
    return is_form(param->type, mishap_json_text(value)) ||
           mismatch(findings, spot, mishap_param_looks(param), value);
}
