/* Field errors: what is wrong with one field of the input. */
#include <math.h>

#include "base/base.h"
#include "guard/guard.h"
#include "mishap/bind.h"
#include "mishap/code.h"
#include "mishap/inside.h"

enum { LONGEST_NAME = 100 };

/* Any name in lower_snake: as given, or as near as can be. */
static mishap_text keep_odd_name(mishap *m, mishap_text error)
{
    char name[128];
    if (error.length > LONGEST_NAME)
        error.length = LONGEST_NAME;
    if (mishap_lower_snake(error))
        return mishap_keep(m, error);
    if (!mishap_code_unspell(error, name, sizeof name))
        return (mishap_text)MISHAP_TEXT("invalid_value");
    name[LONGEST_NAME] = '\0'; /* it may have become longer */
    for (char *c = name; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    return mishap_keep(m, mishap_text_of(name));
}

/* The five names that nearly every field error has; they need no copy. */
static mishap_text keep_error_name(mishap *m, mishap_text error)
{
    static const mishap_text known[] = {
        MISHAP_TEXT("field_required"),   MISHAP_TEXT("invalid_type"),
        MISHAP_TEXT("invalid_length"),   MISHAP_TEXT("value_out_of_range"),
        MISHAP_TEXT("pattern_mismatch"),
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (mishap_text_equal(error, known[i]))
            return known[i];
    return keep_odd_name(m, error);
}

/* A number that JSON has a word for. */
static bool is_number(const mishap_value *value)
{
    switch (value->kind) {
    case MISHAP_KIND_INT:
    case MISHAP_KIND_UINT:
        return true;
    case MISHAP_KIND_REAL:
        return isfinite(value->real);
    case MISHAP_KIND_JSON:
        return value->text.length && strchr("-0123456789", value->text.data[0]);
    default:
        return false;
    }
}

/* True if one number is above the other for sure; those beyond 64 bits are not compared. */
static bool above(const mishap_value *a, const mishap_value *b)
{
    const mishap_value *both[2] = { a, b };
    double numbers[2];
    for (int i = 0; i < 2; i++) {
        if (!is_number(both[i]) || both[i]->kind == MISHAP_KIND_JSON)
            return false;
        numbers[i] = both[i]->kind == MISHAP_KIND_INT    ? (double)both[i]->integer
                     : both[i]->kind == MISHAP_KIND_UINT ? (double)both[i]->natural
                                                         : both[i]->real;
    }
    return numbers[0] > numbers[1];
}

/* Bounds are numbers, and in order; what is not would only mislead. */
static void keep_bounds(mishap *m, mishap_field *field)
{
    mishap_keep_value(m, &field->min);
    mishap_keep_value(m, &field->max);
    if (!is_number(&field->min))
        field->min = mishap_value_none();
    if (!is_number(&field->max))
        field->max = mishap_value_none();
    if (above(&field->min, &field->max))
        field->min = field->max = mishap_value_none();
}

/* The name of a type, as `actual` of an invalid type has it, is no secret. */
static bool names_type(const mishap_value *value)
{
    static const char *const types[] = { "string", "integer", "number", "boolean",
                                         "array",  "object",  "null" };
    for (size_t i = 0; value->kind == MISHAP_KIND_TEXT && i < sizeof types / sizeof *types; i++)
        if (mishap_text_equal(value->text, mishap_text_of(types[i])))
            return true;
    return false;
}

/* The value that was given: neither a secret nor, out of a range, what is no number. */
static void keep_actual(mishap_field *field)
{
    bool null = field->actual.kind == MISHAP_KIND_NULL ||
                (field->actual.kind == MISHAP_KIND_REAL && !is_number(&field->actual));
    if (null && mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("value_out_of_range")))
        field->actual = mishap_value_none(); /* what is out of range is a number */
    if (!names_type(&field->actual) && mishap_guard_secret_value(field->field, &field->actual))
        field->actual = mishap_value_of_text(mishap_guard_redacted);
}

/* A place for one, which is not in the list yet; NULL, and a mark, without memory. */
static mishap_field *take_field(mishap *m)
{
    mishap_field *field = mishap_arena_take(&m->arena, sizeof *field);
    if (!field)
        m->incomplete = true;
    return field;
}

static void append_field(mishap *m, mishap_field *field)
{
    field->next = NULL;
    if (m->last_field)
        m->last_field->next = field;
    else
        m->told.fields = field;
    m->last_field = field;
    m->told.field_count++;
}

void mishap_field_add_sound(mishap *m, const mishap_field *sound)
{
    mishap_field *field = mishap_fixed(m) ? NULL : take_field(m);
    if (!field)
        return;
    *field = *sound;
    append_field(m, field);
}

mishap *mishap_field_add(mishap *m, const mishap_field *wrong)
{
    mishap_field *field = mishap_fixed(m) || !wrong ? NULL : take_field(m);
    if (!field)
        return m;
    /* An older caller has no members behind the message. */
    *field = (mishap_field){ 0 };
    memcpy(field, wrong, offsetof(mishap_field, message) + sizeof wrong->message);
    field->field = mishap_blank(wrong->field) ? (mishap_text)MISHAP_TEXT("document")
                                              : mishap_keep(m, wrong->field);
    field->error = keep_error_name(m, wrong->error);
    mishap_keep_value(m, &field->expected);
    mishap_keep_value(m, &field->actual);
    keep_actual(field);
    keep_bounds(m, field);
    field->message = mishap_blank(wrong->message) ? (mishap_text){ NULL, 0 }
                                                  : mishap_keep(m, wrong->message);
    append_field(m, field);
    return m;
}

mishap *mishap_field_says(mishap *m, const char *format, ...)
{
    va_list arguments;
    if (mishap_fixed(m) || !m->last_field || !format)
        return m;
    va_start(arguments, format);
    mishap_text words = mishap_keep_printed(m, format, arguments);
    va_end(arguments);
    m->last_field->message = mishap_blank(words) ? (mishap_text){ NULL, 0 } : words;
    return m;
}

mishap *mishap_field_put(mishap *m, mishap_text field, mishap_text error, mishap_text message)
{
    return mishap_field_add(m,
                            &(mishap_field){ .field = field, .error = error, .message = message });
}

/* The field that was added last, if it can be changed. */
static mishap_field *last_field(const mishap *m)
{
    return mishap_fixed(m) ? NULL : m->last_field;
}

mishap *mishap_field_put_expected(mishap *m, mishap_value expected)
{
    mishap_field *field = last_field(m);
    if (field) {
        mishap_keep_value(m, &expected);
        field->expected = expected;
    }
    return m;
}

mishap *mishap_field_put_actual(mishap *m, mishap_value actual)
{
    mishap_field *field = last_field(m);
    if (field) {
        mishap_keep_value(m, &actual);
        field->actual = actual;
        keep_actual(field);
    }
    return m;
}

mishap *mishap_field_put_min(mishap *m, mishap_value min)
{
    mishap_field *field = last_field(m);
    if (field) {
        field->min = min;
        keep_bounds(m, field);
    }
    return m;
}

mishap *mishap_field_put_max(mishap *m, mishap_value max)
{
    mishap_field *field = last_field(m);
    if (field) {
        field->max = max;
        keep_bounds(m, field);
    }
    return m;
}

static mishap_value said(const char *words)
{
    return words ? mishap_value_of_string(words) : mishap_value_none();
}

mishap *mishap_field_required(mishap *m, const char *field)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("field_required") });
}

mishap *mishap_field_type(mishap *m, const char *field, const char *expected, const char *actual)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("invalid_type"),
                                                .expected = said(expected),
                                                .actual = said(actual) });
}

mishap *mishap_field_length(mishap *m, const char *field, mishap_value min, mishap_value max,
                            size_t actual)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("invalid_length"),
                                                .min = min,
                                                .max = max,
                                                .actual = mishap_value_of_uint(actual) });
}

mishap *mishap_field_range(mishap *m, const char *field, mishap_value min, mishap_value max,
                           mishap_value actual)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("value_out_of_range"),
                                                .min = min,
                                                .max = max,
                                                .actual = actual });
}

mishap *mishap_field_pattern(mishap *m, const char *field, const char *pattern)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("pattern_mismatch"),
                                                .expected = said(pattern) });
}
