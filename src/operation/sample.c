/* Made-up arguments: see sample.h. */
#include "operation/sample.h"

#include <math.h>
#include <stdio.h>

#include "operation/findings.h"
#include "operation/type.h"

enum { DEEPEST_SAMPLE = 8, LONGEST_SAMPLE = 4096 };

static void put_sample(mishap_buffer *b, const mishap_param *param, bool all, size_t depth);

/* Texts that many patterns and formats are about. */
static const char *const usual_texts[] = {
    "a",
    "ab",
    "abc",
    "a-b",
    "a_b",
    "A",
    "AB",
    "ABC",
    "Ada",
    "1",
    "12",
    "123",
    "1234",
    "12345",
    "a1",
    "A1",
    "1.0",
    "1.2.3",
    "0123456789abcdef",
    "ada@example.com",
    "2026-02-28",
    "18:30:00Z",
    "18:30",
    "2026-02-28T18:30:00Z",
    "P1D",
    "www.example.com",
    "localhost:80",
    "192.0.2.1",
    "2001:db8::1",
    "https://example.com/a",
    "01234567-89ab-7def-8123-456789abcdef",
    "/tmp/a",
    "a/b",
    "#a1b2c3",
    "+431234567",
};

static bool is_accepted(const mishap_param *param, mishap_text text)
{
    mishap_findings findings = { 0 };
    mishap_spot spot = { .name = mishap_text_of("sample") };
    yyjson_val value = { 0 };
    unsafe_yyjson_set_strn(&value, text.data, text.length);
    mishap_expect_param(&findings, &spot, param, &value);
    mishap *refused = mishap_findings_end(&findings);
    mishap_free(refused);
    return !refused;
}

static void put_text(mishap_buffer *b, const mishap_param *param)
{
    char repeated[LONGEST_SAMPLE];
    size_t least = param->length.min < sizeof repeated ? param->length.min : sizeof repeated;
    for (size_t i = 0; i < sizeof usual_texts / sizeof *usual_texts; i++) {
        mishap_text text = mishap_text_of(usual_texts[i]);
        if (is_accepted(param, text)) {
            mishap_json_string(b, text);
            return;
        }
    }
    memset(repeated, 'a', sizeof repeated);
    mishap_json_string(b, (mishap_text){ repeated, least ? least : 1 });
}

/* A number within the range; of decimals, the bound itself. */
static void put_number(mishap_buffer *b, const mishap_param *param)
{
    bool limited = param->range.min != 0 || param->range.max != 0;
    double low = limited ? param->range.min : 1, number = isfinite(low) ? low : param->range.max;
    char text[MISHAP_WRITTEN];
    mishap_decimal decimal = { 1, 0 };
    if (!isfinite(number))
        number = 1;
    mishap_decimal_of_bound(number, &decimal);
    mishap_decimal_write(decimal, text);
    if (param->type == MISHAP_MONEY) {
        char money[MISHAP_WRITTEN + 8];
        snprintf(money, sizeof money, "%s %s", text, param->choices ? param->choices[0] : "EUR");
        mishap_json_string(b, mishap_text_of(money));
    } else if (param->type == MISHAP_DECIMAL) {
        mishap_json_string(b, mishap_text_of(text));
    } else {
        mishap_json_comma(b);
        mishap_buffer_put_text(b, mishap_text_of(text));
    }
}

static void put_bytes(mishap_buffer *b, const mishap_param *param)
{
    char base64[LONGEST_SAMPLE + 1];
    size_t least = param->length.min ? param->length.min : 3, length = (least + 2) / 3 * 4;
    length = length < LONGEST_SAMPLE ? length : LONGEST_SAMPLE;
    memset(base64, 'A', sizeof base64);
    if (least % 3)
        base64[length - 1] = '=';
    if (least % 3 == 1)
        base64[length - 2] = '=';
    mishap_json_string(b, (mishap_text){ base64, length });
}

static void put_items(mishap_buffer *b, const mishap_param *param, bool all, size_t depth)
{
    size_t least = param->length.min ? param->length.min : 1;
    bool map = param->type == MISHAP_MAP;
    mishap_json_open(b, map ? '{' : '[');
    for (size_t i = 0; param->items && depth < DEEPEST_SAMPLE && i < least && i < 100; i++) {
        char key[32];
        snprintf(key, sizeof key, "key%zu", i);
        if (map)
            mishap_json_key(b, mishap_text_of(key));
        put_sample(b, param->items, all, depth + 1);
    }
    mishap_json_close(b, map ? '}' : ']');
}

static void put_members(mishap_buffer *b, const mishap_param *params, bool all, size_t depth)
{
    mishap_json_open(b, '{');
    for (; params && params->name && depth < DEEPEST_SAMPLE; params++)
        if (all || params->required) {
            mishap_json_key(b, mishap_text_of(params->name));
            put_sample(b, params, all, depth + 1);
        }
    mishap_json_close(b, '}');
}

static void put_sample(mishap_buffer *b, const mishap_param *param, bool all, size_t depth)
{
    static const char *const texts[] = {
        [MISHAP_TIMESTAMP] = "2026-02-28T18:30:00Z",
        [MISHAP_DATE] = "2026-02-28",
        [MISHAP_DURATION] = "P1D",
        [MISHAP_UUID] = "01234567-89ab-7def-8123-456789abcdef",
    };
    switch (param->type) {
    case MISHAP_STRING:
        put_text(b, param);
        break;
    case MISHAP_BOOLEAN:
        mishap_json_bool(b, true);
        break;
    case MISHAP_ENUM:
        mishap_json_string(b, mishap_text_of(param->choices ? param->choices[0] : ""));
        break;
    case MISHAP_BYTES:
    case MISHAP_FILE:
        put_bytes(b, param);
        break;
    case MISHAP_ARRAY:
    case MISHAP_MAP:
        put_items(b, param, all, depth);
        break;
    case MISHAP_OBJECT:
        put_members(b, param->members, all, depth);
        break;
    case MISHAP_TIMESTAMP:
    case MISHAP_DATE:
    case MISHAP_DURATION:
    case MISHAP_UUID:
        mishap_json_string(b, mishap_text_of(texts[param->type]));
        break;
    default:
        put_number(b, param);
        break;
    }
}

void mishap_params_put_sample(mishap_buffer *b, const mishap_param *params, bool all)
{
    put_members(b, params, all, 0);
}
