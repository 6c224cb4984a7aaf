/* Check one value against one rule, and write the finding if the rule is broken. */
#include "operation/findings.h"

#include <float.h>
#include <math.h>

#include "guard/guard.h"
#include "mishap/inside.h"
#include "mishap/restore.h"
#include "operation/file.h"
#include "operation/format.h"
#include "operation/number.h"

/* -- collecting -------------------------------------------------------------------------------- */

/* "items[2].name" */
static void put_spot(mishap_buffer *buffer, const mishap_spot *spot)
{
    if (spot->outer)
        put_spot(buffer, spot->outer);
    if (!spot->name.data) {
        mishap_buffer_put_char(buffer, '[');
        mishap_buffer_put_uint(buffer, spot->index);
        mishap_buffer_put_char(buffer, ']');
        return;
    }
    if (spot->outer)
        mishap_buffer_put_char(buffer, '.');
    mishap_buffer_put_text(buffer, spot->name);
}

/* All findings are made here, so a stack says nothing, and taking one would cost more than all the
 * rest. */
static mishap *begin_findings(void)
{
    mishap *m = mishap_make(MISHAP_CODE_VALIDATION_ERROR);
    if (!m->constant)
        m->place = MISHAP_HERE;
    return m;
}

/* `made_here`: it contains only numbers and words of this file or of the declaration. */
static void add_finding(mishap_findings *findings, const mishap_spot *spot, mishap_field *wrong,
                        bool made_here)
{
    char storage[256];
    if (++findings->count > MISHAP_MOST_FINDINGS)
        return;
    if (!findings->m)
        findings->m = begin_findings();
    if (spot->secret)
        wrong->actual = mishap_value_none();
    wrong->field = spot->name;
    if (!spot->outer && made_here && findings->declared) {
        mishap_field_add_sound(findings->m, wrong);
        return;
    }
    if (!spot->outer) {
        mishap_field_add(findings->m, wrong);
        return;
    }
    mishap_buffer name;
    mishap_buffer_init(&name, storage, sizeof storage);
    put_spot(&name, spot);
    wrong->field = mishap_buffer_text(&name);
    if (name.failed)
        findings->no_memory = true;
    else
        mishap_field_add(findings->m, wrong);
    mishap_buffer_release(&name);
}

/* Make a sentence for a finding: the place, the words that `says` adds, and the value. */
typedef void says(mishap_buffer *sentence, const void *what);

/* True if the value is short, printable and no secret: it may be repeated to its sender. */
static bool may_show(const mishap_spot *spot, mishap_text name, mishap_text value)
{
    enum { LONGEST = 40 };
    if (spot->secret || value.length == 0 || value.length > LONGEST ||
        mishap_guard_secret_name(name))
        return false;
    for (size_t i = 0; i < value.length; i++)
        if ((unsigned char)value.data[i] < ' ' || value.data[i] == 127)
            return false;
    return true;
}

static void add_saying(mishap_findings *findings, const mishap_spot *spot, mishap_field *wrong,
                       says *put_words, const void *what, yyjson_val *value)
{
    char storage[256];
    mishap_buffer sentence;
    if (findings->count >= MISHAP_MOST_FINDINGS) {
        findings->count++;
        return;
    }
    mishap_buffer_init(&sentence, storage, sizeof storage);
    put_spot(&sentence, spot);
    mishap_text name = mishap_buffer_text(&sentence), given = mishap_json_text(value);
    bool shown = may_show(spot, name, given);
    put_words(&sentence, what);
    if (shown) {
        MISHAP_PUT(&sentence, ", not ");
        mishap_buffer_put_text(&sentence, given);
    }
    MISHAP_PUT(&sentence, ".");
    wrong->message = mishap_buffer_text(&sentence);
    if (sentence.failed)
        findings->no_memory = true;
    else
        add_finding(findings, spot, wrong, false);
    mishap_buffer_release(&sentence);
}

mishap *mishap_findings_end(mishap_findings *findings)
{
    mishap *m = findings->m, *whole = NULL, *failure = findings->failure;
    bool no_memory = findings->no_memory;
    if (findings->count > MISHAP_MOST_FINDINGS)
        mishap_tell(m, "findings_left_out", findings->count - MISHAP_MOST_FINDINGS);
    *findings = (mishap_findings){ 0 };
    if (failure || no_memory) {
        mishap_free(m);
        return failure ? failure : mishap_out_of_memory();
    }
    /* With an incomplete list, the caller would need a second round: all findings, or none. */
    if (m && !mishap_restore_end(m, &whole))
        return mishap_out_of_memory();
    return whole;
}

static void find_no_choice(mishap_findings *findings, const mishap_spot *spot, mishap_field *wrong,
                           says *put_words, const char *const *choices, yyjson_val *value);

void mishap_choices_put_words(mishap_buffer *b, const char *const *choices)
{
    for (size_t i = 0; choices && choices[i]; i++) {
        mishap_buffer_put_text(b, mishap_text_of(!i ? "" : choices[i + 1] ? ", " : " or "));
        mishap_buffer_put_text(b, mishap_text_of(choices[i]));
    }
}

void mishap_choices_put_items(mishap_buffer *b, const char *const *choices)
{
    for (size_t i = 0; choices && choices[i]; i++)
        mishap_json_string(b, mishap_text_of(choices[i]));
}

static void put_missing_choice(mishap_buffer *sentence, const void *what)
{
    MISHAP_PUT(sentence, " is required (one of ");
    mishap_choices_put_words(sentence, what);
    MISHAP_PUT(sentence, ")");
}

/* A description of the expected value in words, if there is one. */
static const char *words_of(const mishap_param *param)
{
    const char *looks = mishap_param_looks(param);
    return looks ? looks : mishap_param_type_name(param->type);
}

void mishap_miss(mishap_findings *findings, const mishap_spot *spot, const mishap_param *param)
{
    mishap_field wrong = { .error = MISHAP_TEXT("field_required") };
    if (param && param->type == MISHAP_ENUM) {
        find_no_choice(findings, spot, &wrong, put_missing_choice, param->choices, NULL);
        return;
    }
    if (param)
        wrong.expected = mishap_value_of_string(words_of(param));
    add_finding(findings, spot, &wrong, true);
}

/* -- unknown ----------------------------------------------------------------------------------- */

static void put_names(mishap_buffer *sentence, const mishap_param *params)
{
    enum { MOST_NAMES = 20 };
    for (size_t i = 0; params && params[i].name && i < MOST_NAMES; i++) {
        bool last = !params[i + 1].name;
        mishap_buffer_put_text(
            sentence, mishap_text_of(!i ? last ? "; the known name is " : "; the known names are "
                                     : last ? " and "
                                            : ", "));
        mishap_buffer_put_text(sentence, mishap_text_of(params[i].name));
        if (!last && i + 1 == MOST_NAMES)
            MISHAP_PUT(sentence, " and more");
    }
}

/* If no declared name is similar, the caller is told which names there are. */
static void put_unknown(mishap_buffer *sentence, const void *what)
{
    MISHAP_PUT(sentence, " is not a known name");
    put_names(sentence, what);
}

static void put_unknown_member(mishap_buffer *sentence, const void *what)
{
    MISHAP_PUT(sentence, " has a member whose name is not known");
    put_names(sentence, what);
}

void mishap_find_unknown(mishap_findings *findings, const mishap_spot *spot, mishap_value meant,
                         const mishap_param *params)
{
    mishap_field wrong = { .error = MISHAP_TEXT("unknown_field") };
    if (spot->secret) { /* a name inside of a secret may be the secret itself */
        add_saying(findings, spot->outer, &wrong, put_unknown_member, params, NULL);
        return;
    }
    wrong.expected = meant;
    if (meant.kind != MISHAP_KIND_NONE)
        add_finding(findings, spot, &wrong, false);
    else
        add_saying(findings, spot, &wrong, put_unknown, params, NULL);
}

/* -- type -------------------------------------------------------------------------------------- */

static const char *type_name(yyjson_val *value)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_BOOL:
        return "boolean";
    case YYJSON_TYPE_NUM:
    case YYJSON_TYPE_RAW:
        return mishap_number_is_integer(value) && !yyjson_is_real(value) ? "integer" : "number";
    case YYJSON_TYPE_STR:
        return "string";
    case YYJSON_TYPE_ARR:
        return "array";
    case YYJSON_TYPE_OBJ:
        return "object";
    default:
        return "null";
    }
}

static bool has_type(mishap_type_of_param type, yyjson_val *value)
{
    switch (type) {
    case MISHAP_STRING:
    case MISHAP_ENUM:
    case MISHAP_FILE:
    case MISHAP_DECIMAL:
    case MISHAP_MONEY:
    case MISHAP_TIMESTAMP:
    case MISHAP_DATE:
    case MISHAP_DURATION:
    case MISHAP_UUID:
    case MISHAP_BYTES:
        return yyjson_is_str(value);
    case MISHAP_INTEGER:
        return mishap_number_is_integer(value);
    case MISHAP_NUMBER:
    case MISHAP_DECIMAL_NUMBER:
        return yyjson_is_num(value) || yyjson_is_raw(value);
    case MISHAP_BOOLEAN:
        return yyjson_is_bool(value);
    case MISHAP_ARRAY:
        return yyjson_is_arr(value);
    case MISHAP_OBJECT:
    case MISHAP_MAP:
        return yyjson_is_obj(value);
    }
    return false;
}

static bool is_number(mishap_text text)
{
    char *end, copy[32];
    if (!text.length || text.length >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    (void)strtod(copy, &end);
    return end == copy + text.length && strchr("-0123456789", copy[0]);
}

/* What to say if only the quotes are wrong; NULL: something else is. */
static const char *quotes_hint(mishap_type_of_param type, yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    if ((type == MISHAP_STRING || type == MISHAP_DECIMAL) && yyjson_is_num(value))
        return " must be a string, not a number: put it in quotes";
    if (type == MISHAP_INTEGER && yyjson_is_str(value) && is_number(text))
        return " must be an integer, not a string: write it without quotes";
    if ((type == MISHAP_NUMBER || type == MISHAP_DECIMAL_NUMBER) && yyjson_is_str(value) &&
        is_number(text))
        return " must be a number, not a string: write it without quotes";
    if (type == MISHAP_BOOLEAN && (mishap_text_equal(text, (mishap_text)MISHAP_TEXT("true")) ||
                                   mishap_text_equal(text, (mishap_text)MISHAP_TEXT("false"))))
        return " must be true or false, not a string: write it without quotes";
    return NULL;
}

static void put_hint(mishap_buffer *sentence, const void *what)
{
    mishap_buffer_put_text(sentence, mishap_text_of(what));
}

void mishap_find_saying(mishap_findings *findings, const mishap_spot *spot, mishap_field *wrong,
                        const char *words, yyjson_val *value)
{
    add_saying(findings, spot, wrong, put_hint, words, value);
}

bool mishap_expect_type(mishap_findings *findings, const mishap_spot *spot,
                        mishap_type_of_param type, yyjson_val *value)
{
    if (has_type(type, value))
        return true;
    const char *expected = mishap_param_type_name(type), *hint = quotes_hint(type, value);
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_type"),
                           .expected = mishap_value_of_string(expected),
                           .actual = mishap_value_of_string(type_name(value)) };
    if (expected && hint)
        add_saying(findings, spot, &wrong, put_hint, hint, NULL);
    else if (expected)
        add_finding(findings, spot, &wrong, true);
    else if (!findings->failure)
        findings->failure = mishap_raise(INTERNAL_ERROR, "No parameter type has the number %d.",
                                         (int)type);
    return false;
}

/* -- length ------------------------------------------------------------------------------------ */

/* For characters, each dialect has its own words. */
static void put_count(mishap_buffer *sentence, const mishap_field *wrong, const char *unit)
{
    bool low = wrong->min.kind != MISHAP_KIND_NONE, high = wrong->max.kind != MISHAP_KIND_NONE;
    bool exact = low && high && wrong->min.natural == wrong->max.natural;
    MISHAP_PUT(sentence, " must have");
    if (low) {
        mishap_buffer_put_text(sentence, mishap_text_of(exact ? " exactly " : " at least "));
        mishap_buffer_put_uint(sentence, wrong->min.natural);
    }
    if (high && !exact) {
        mishap_buffer_put_text(sentence, mishap_text_of(low ? " and at most " : " at most "));
        mishap_buffer_put_uint(sentence, wrong->max.natural);
    }
    bool one = high ? wrong->max.natural == 1 : low && wrong->min.natural == 1;
    mishap_buffer_put_text(sentence, mishap_text_of(unit));
    mishap_buffer_put_text(sentence, mishap_text_of(one ? "" : "s"));
    if (wrong->actual.kind != MISHAP_KIND_NONE) {
        MISHAP_PUT(sentence, ", not ");
        mishap_buffer_put_uint(sentence, wrong->actual.natural);
    }
}

static void put_items(mishap_buffer *sentence, const void *what)
{
    put_count(sentence, what, " item");
}

static void put_members(mishap_buffer *sentence, const void *what)
{
    put_count(sentence, what, " member");
}

static void put_bytes(mishap_buffer *sentence, const void *what)
{
    put_count(sentence, what, " byte");
}

bool mishap_expect_length(mishap_findings *findings, const mishap_spot *spot, size_t min,
                          size_t max, yyjson_val *value)
{
    bool limited = max != 0 && max != SIZE_MAX;
    size_t length = yyjson_is_ctn(value) ? yyjson_get_len(value)
                                         : mishap_utf8_count(mishap_json_text(value));
    if (length >= min && (!limited || length <= max))
        return true;
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_length"),
                           .actual = mishap_value_of_uint(length) };
    if (min)
        wrong.min = mishap_value_of_uint(min);
    if (limited)
        wrong.max = mishap_value_of_uint(max);
    if (spot->secret)
        wrong.actual = mishap_value_none();
    if (yyjson_is_ctn(value) && (min <= max || !limited))
        add_saying(findings, spot, &wrong, yyjson_is_arr(value) ? put_items : put_members, &wrong,
                   NULL);
    else
        add_finding(findings, spot, &wrong, min <= max || !limited);
    return false;
}

/* -- range ------------------------------------------------------------------------------------- */

/* The declared bound; without one, that of the type, if the value does not fit the type. */
static mishap_value shown_bound(double bound, bool room, mishap_type_of_param type, bool upper)
{
    mishap_value shown = mishap_bound(bound);
    if (room || shown.kind != MISHAP_KIND_NONE)
        return shown;
    if (type == MISHAP_INTEGER)
        return mishap_value_of_int(upper ? INT64_MAX : INT64_MIN);
    return mishap_value_of_real(upper ? DBL_MAX : -DBL_MAX);
}

bool mishap_expect_range(mishap_findings *findings, const mishap_spot *spot, double min, double max,
                         mishap_type_of_param type, yyjson_val *value)
{
    enum { LONGEST = 400 }; /* digits that are sent back: any double has fewer */
    bool room = mishap_number_has_room(type, value);
    /* Not-a-number is no bound. */
    if (room && (isnan(min) || mishap_number_compare(value, min) >= 0) &&
        (isnan(max) || mishap_number_compare(value, max) <= 0))
        return true;
    mishap_field wrong = { .error = MISHAP_TEXT("value_out_of_range"),
                           .min = shown_bound(min, room, type, false),
                           .max = shown_bound(max, room, type, true),
                           .actual = mishap_json_scalar(value) };
    if (yyjson_is_raw(value) && yyjson_get_len(value) <= LONGEST)
        wrong.actual = (mishap_value){ .kind = MISHAP_KIND_JSON, .text = mishap_json_text(value) };
    add_finding(findings, spot, &wrong, !yyjson_is_raw(value));
    return false;
}

/* -- form -------------------------------------------------------------------------------------- */

static void put_no_nul(mishap_buffer *sentence, const void *what)
{
    (void)what;
    MISHAP_PUT(sentence, " must be text without NUL characters");
}

bool mishap_expect_text(mishap_findings *findings, const mishap_spot *spot, yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    if (!memchr(text.data, '\0', text.length))
        return true;
    add_saying(findings, spot,
               &(mishap_field){ .error = MISHAP_TEXT("pattern_mismatch"),
                                .expected = mishap_value_of_string("^[^\\x00]*$") },
               put_no_nul, NULL, NULL);
    return false;
}

static mishap *pattern_failed(const mishap_spot *spot, const char *pattern, mishap_text text)
{
    char storage[256];
    mishap_buffer name;
    const char *flaw = mishap_pattern_flaw(pattern);
    mishap_buffer_init(&name, storage, sizeof storage);
    put_spot(&name, spot);
    mishap *m = flaw ? mishap_raise(INTERNAL_ERROR, "A pattern cannot be used: %s.", flaw)
                     : mishap_raise(INTERNAL_ERROR, "The match of a pattern exceeded its limit.");
    /* The text itself may be a secret of the caller: only its size is shown. */
    m = mishap_note(mishap_note(m, "pattern", pattern), "bytes_searched", text.length);
    m = mishap_note(m, "field", mishap_buffer_text(&name));
    mishap_buffer_release(&name);
    return m;
}

static void put_looks(mishap_buffer *sentence, const void *what)
{
    const char *words = what;
    mishap_buffer_put_text(
        sentence, mishap_text_of(mishap_looks_name_it(words) ? " must be " : " must look like "));
    mishap_buffer_put_text(sentence, mishap_text_of(words));
}

/* `words` live as long as the declaration; without them the pattern itself is shown. */
static void mismatch(mishap_findings *findings, const mishap_spot *spot, const char *words,
                     bool pattern, yyjson_val *value)
{
    mishap_field wrong = { .error = MISHAP_TEXT("pattern_mismatch"),
                           .expected = mishap_value_of_string(words) };
    if (pattern)
        add_finding(findings, spot, &wrong, true);
    else
        add_saying(findings, spot, &wrong, put_looks, words, value);
}

bool mishap_expect_pattern(mishap_findings *findings, const mishap_spot *spot, const char *pattern,
                           const char *looks, bool wrong, yyjson_val *value)
{
    mishap_text text = mishap_json_text(value);
    switch (mishap_pattern_search(pattern, text)) {
    case MISHAP_MATCH_YES:
        return true;
    case MISHAP_MATCH_NO:
        mismatch(findings, spot, looks ? looks : pattern, !looks, value);
        return false;
    case MISHAP_MATCH_GAVE_UP:
        break;
    }
    if (!wrong && !findings->failure)
        findings->failure = pattern_failed(spot, pattern, text);
    return false;
}

bool mishap_expect_format(mishap_findings *findings, const mishap_spot *spot, const char *format,
                          const char *looks, yyjson_val *value)
{
    const mishap_format *known = mishap_format_find(format);
    if (!known || known->holds(mishap_json_text(value)))
        return true;
    mismatch(findings, spot, looks ? looks : known->looks, false, value);
    return false;
}

/* The text of a file may be long, and is not shown. */
bool mishap_expect_file(mishap_findings *findings, const mishap_spot *spot, size_t min, size_t max,
                        yyjson_val *value)
{
    mishap_file_parts file;
    bool limited = max != 0 && max != SIZE_MAX;
    if (!mishap_file_split(mishap_json_text(value), &file)) {
        add_saying(findings, spot,
                   &(mishap_field){ .error = MISHAP_TEXT("pattern_mismatch"),
                                    .expected = mishap_value_of_string("base64") },
                   put_looks, "a file as base64 text", NULL);
        return false;
    }
    if (file.size >= min && (!limited || file.size <= max))
        return true;
    mishap_field wrong = { .error = MISHAP_TEXT("invalid_length"),
                           .actual = spot->secret ? mishap_value_none()
                                                  : mishap_value_of_uint(file.size) };
    if (min)
        wrong.min = mishap_value_of_uint(min);
    if (limited)
        wrong.max = mishap_value_of_uint(max);
    add_saying(findings, spot, &wrong, put_bytes, &wrong, NULL);
    return false;
}

static void put_choices(mishap_buffer *sentence, const void *what)
{
    MISHAP_PUT(sentence, " must be one of ");
    mishap_choices_put_words(sentence, what);
}

/* The list of choices is what is expected. */
static void find_no_choice(mishap_findings *findings, const mishap_spot *spot, mishap_field *wrong,
                           says *put_words, const char *const *choices, yyjson_val *value)
{
    char storage[256];
    mishap_buffer expected;
    mishap_buffer_init(&expected, storage, sizeof storage);
    mishap_json_open(&expected, '[');
    mishap_choices_put_items(&expected, choices);
    mishap_json_close(&expected, ']');
    if (expected.failed)
        findings->no_memory = true;
    wrong->expected = (mishap_value){ .kind = MISHAP_KIND_JSON,
                                      .text = mishap_buffer_text(&expected) };
    add_saying(findings, spot, wrong, put_words, choices, value);
    mishap_buffer_release(&expected);
}

bool mishap_expect_choice(mishap_findings *findings, const mishap_spot *spot,
                          const char *const *choices, yyjson_val *value)
{
    mishap_field wrong = { .error = MISHAP_TEXT("pattern_mismatch") };
    mishap_text text = mishap_json_text(value);
    for (size_t i = 0; choices && choices[i]; i++)
        if (mishap_text_equal(mishap_text_of(choices[i]), text))
            return true;
    find_no_choice(findings, spot, &wrong, put_choices, choices, value);
    return false;
}
