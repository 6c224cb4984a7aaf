/* One parameter in words: the placeholder of its value, its description, its rules. */
#include <math.h>
#include <stdio.h>

#include "cli/manual/describe.h"
#include "operation/format.h"
#include "operation/rules.h"
#include "operation/secret.h"
#include "operation/type.h"

enum {
    SHORT_CHOICES = 20, /* choices up to so many characters replace the placeholder */
    FAR = 256,          /* more characters than any usual value has */
    DEEPEST = 4,        /* nested objects: deeper ones are left to the schema */
};

/* -- JSON in text ------------------------------------------------------------------------------ */

void mishap_cli_put_compact(mishap_buffer *buffer, const char *json)
{
    bool quoted = false;
    for (const char *c = json; *c; c++) {
        if (*c == '"')
            quoted = !quoted;
        if (quoted || !strchr(" \t\r\n", *c))
            mishap_buffer_put_char(buffer, *c);
        if (quoted && *c == '\\' && c[1])
            mishap_buffer_put_char(buffer, *++c);
    }
}

/* A value as a person would type it: a plain string without its quotes. */
static void put_plain(mishap_buffer *b, const char *json)
{
    size_t length = strlen(json);
    if (length > 2 && json[0] == '"' && json[length - 1] == '"' && !strchr(json, '\\'))
        mishap_buffer_put(b, json + 1, length - 2);
    else
        mishap_cli_put_compact(b, json);
}

/* -- what stands for a value ------------------------------------------------------------------- */

static void put_choices(mishap_buffer *b, const char *const *choices, const char *between,
                        const char *last)
{
    for (size_t i = 0; choices && choices[i]; i++) {
        if (i)
            mishap_cli_put(b, choices[i + 1] ? between : last);
        mishap_cli_put(b, choices[i]);
    }
}

static bool shows_choices(const mishap_param *param)
{
    size_t length = 0;
    for (size_t i = 0; param->choices && param->choices[i]; i++)
        length += strlen(param->choices[i]) + (i > 0);
    return param->type == MISHAP_ENUM && !param->placeholder && length <= SHORT_CHOICES;
}

static void put_capitals(mishap_buffer *b, const char *name)
{
    size_t start = b->length;
    mishap_cli_put_flag(b, name);
    for (size_t i = start; i < b->length; i++)
        if (b->data[i] >= 'a' && b->data[i] <= 'z')
            b->data[i] -= 32;
}

static const char *word_for_value(const mishap_param *param)
{
    return param->file ? "FILE" : mishap_type_find(param->type)->value;
}

void mishap_cli_put_placeholder(mishap_buffer *b, const mishap_param *param)
{
    const mishap_param *one = param->type == MISHAP_ARRAY && param->items ? param->items : param;
    if (param->type == MISHAP_BOOLEAN && !param->positional)
        return;
    if (param->placeholder)
        mishap_cli_put(b, param->placeholder);
    else if (shows_choices(one))
        put_choices(b, one->choices, "|", "|");
    else if (param->positional || param->rest || param->type == MISHAP_ENUM)
        put_capitals(b, param->name);
    else if (mishap_param_has_secret(param))
        MISHAP_PUT(b, "@FILE");
    else
        mishap_cli_put(b, word_for_value(one));
}

void mishap_cli_put_flag_and_value(mishap_buffer *b, const mishap_param *param)
{
    MISHAP_PUT(b, "--");
    mishap_cli_put_flag(b, param->name);
    size_t length = b->length;
    MISHAP_PUT(b, " ");
    mishap_cli_put_placeholder(b, param);
    if (b->length == length + 1)
        b->length = length; /* nothing stands there */
}

/* What takes the words behind `--` is the last, wherever it was declared. */
void mishap_cli_put_places(mishap_buffer *b, const mishap_operation *operation)
{
    for (int rest = 0; rest < 2; rest++)
        for (const mishap_param *param = operation->params; param && param->name; param++) {
            if (rest ? !param->rest : !param->positional)
                continue;
            mishap_cli_put(b, param->required ? " " : " [");
            mishap_cli_put(b, rest ? "-- " : "");
            mishap_cli_put_placeholder(b, param);
            mishap_cli_put(b, param->required ? "" : "]");
        }
}

/* -- what holds for it ------------------------------------------------------------------------- */

/* Notes, separated by semicolons. */
struct notes {
    mishap_buffer *b;
    const char *before; /* the separator before the next one */
    int depth;
    bool brief; /* for people: error messages name the rest */
};

static mishap_buffer *next_note(struct notes *notes)
{
    mishap_cli_put(notes->b, notes->before);
    notes->before = "; ";
    return notes->b;
}

/* A whole number without a point, any other as it is. */
static void put_number(mishap_buffer *b, double number)
{
    if (number > -1e18 && number < 1e18 && number == (double)(int64_t)number)
        mishap_buffer_put_int(b, (int64_t)number);
    else
        mishap_buffer_put_real(b, number);
}

static void note_limits(struct notes *notes, double min, double max, const char *unit,
                        const char *units)
{
    bool from = min > -INFINITY, to = max < INFINITY;
    if (!from && !to)
        return;
    mishap_buffer *b = next_note(notes);
    if (from && to && min == max)
        MISHAP_PUT(b, "exactly ");
    else if (!to)
        MISHAP_PUT(b, "at least ");
    else if (!from)
        MISHAP_PUT(b, "at most ");
    if (from && min != max) {
        put_number(b, min);
        mishap_cli_put(b, to ? " to " : "");
    }
    if (to)
        put_number(b, max);
    mishap_cli_put(b, (to ? max : min) == 1 ? unit : units);
}

/* A bound so large that no value reaches it by accident. */
static bool is_far(const mishap_param *param)
{
    return param->type == MISHAP_STRING && param->length.min <= 1 && param->length.max >= FAR;
}

static void note_length(struct notes *notes, const mishap_param *param)
{
    const char *one = param->type == MISHAP_ARRAY                                 ? " item"
                      : param->type == MISHAP_MAP                                 ? " member"
                      : param->type == MISHAP_BYTES || param->type == MISHAP_FILE ? " byte"
                                                                                  : " character";
    char more[16];
    snprintf(more, sizeof more, "%ss", one);
    if (notes->brief && is_far(param))
        return;
    if (param->length.min || param->length.max)
        note_limits(notes, param->length.min ? (double)param->length.min : -INFINITY,
                    param->length.max ? (double)param->length.max : INFINITY, one, more);
}

static void note_range(struct notes *notes, const mishap_param *param)
{
    if (param->range.min != 0 || param->range.max != 0)
        note_limits(notes, param->range.min, param->range.max, "", "");
}

/* How many digits a decimal may have after its point, or which currencies are allowed. */
static void note_decimal(struct notes *notes, const mishap_param *param)
{
    if (param->scale) {
        mishap_cli_put(next_note(notes), "at most ");
        mishap_buffer_put_int(notes->b, param->scale);
        mishap_cli_put(notes->b, param->scale == 1 ? " digit" : " digits");
        mishap_cli_put(notes->b, " after the point");
    }
    if (param->type == MISHAP_MONEY && param->choices) {
        mishap_cli_put(next_note(notes), "in ");
        put_choices(notes->b, param->choices, ", ", " or ");
    }
}

static void put_notes(struct notes *notes, const mishap_param *param);

static void put_members(mishap_buffer *b, const mishap_param *members, int depth);

/* The type of a value inside of another: string, csv or json, object with street (string) */
static void put_type(mishap_buffer *b, const mishap_param *param, int depth)
{
    if (param->type == MISHAP_ENUM)
        put_choices(b, param->choices, ", ", " or ");
    else
        mishap_cli_put(b, mishap_type_find(param->type)->name);
    if (param->type == MISHAP_OBJECT && param->members && depth < DEEPEST)
        put_members(b, param->members, depth);
}

/* The members of an object: " with street (string; required), zip (string)". */
static void put_members(mishap_buffer *b, const mishap_param *members, int depth)
{
    for (const mishap_param *member = members; member->name; member++) {
        struct notes notes = { b, "; ", depth + 1, false };
        mishap_cli_put(b, member == members ? " with " : ", ");
        mishap_cli_put(b, member->name);
        MISHAP_PUT(b, " (");
        put_type(b, member, depth + 1);
        if (member->required)
            mishap_cli_put(next_note(&notes), "required");
        put_notes(&notes, member);
        MISHAP_PUT(b, ")");
    }
}

/* The items of an array: "each: string (2 to 20 characters)". */
static void note_items(struct notes *notes, const mishap_param *items)
{
    struct notes inner = { notes->b, " (", notes->depth + 1, notes->brief };
    mishap_cli_put(next_note(notes), "each: ");
    put_type(notes->b, items, notes->depth + 1);
    put_notes(&inner, items);
    if (strcmp(inner.before, "; ") == 0)
        MISHAP_PUT(notes->b, ")");
}

/* The rules of a value, wherever it stands. */
static void put_notes(struct notes *notes, const mishap_param *param)
{
    note_length(notes, param);
    note_range(notes, param);
    note_decimal(notes, param);
    const char *looks = mishap_param_looks(param);
    if (looks) {
        mishap_cli_put(next_note(notes), mishap_looks_name_it(looks) ? "" : "looks like ");
        mishap_cli_put(notes->b, looks);
    }
    /* For people, words are better than a pattern: HOST:PORT. */
    if (param->pattern && !(notes->brief && (param->placeholder || looks))) {
        mishap_cli_put(next_note(notes), "matches ");
        mishap_cli_put(notes->b, param->pattern);
    }
    if (param->type >= MISHAP_ARRAY && param->items && notes->depth < DEEPEST)
        note_items(notes, param->items);
}

bool mishap_cli_keeps_data(const mishap_operation *operation)
{
    if (operation->service)
        return (operation->service->open && !operation->service->warm) || operation->resident;
    return operation->resident && mishap_cli_has_param(operation, "data");
}

/* -- all of it --------------------------------------------------------------------------------- */

/* The sources of the value on a command line. */
static void note_sources(struct notes *notes, const mishap_param *param)
{
    bool secret = mishap_param_has_secret(param);
    if (param->type == MISHAP_ARRAY)
        mishap_cli_put(next_note(notes), param->items
                                             ? "repeat it, or give a JSON array"
                                             : "a JSON array; repeated, each value is a string");
    if (secret)
        mishap_cli_put(next_note(notes), "secret: only from ");
    else if (param->environment)
        mishap_cli_put(next_note(notes), "or from ");
    if (param->environment) {
        MISHAP_PUT(notes->b, "$");
        mishap_cli_put(notes->b, param->environment);
    }
    if (secret)
        mishap_cli_put(notes->b, param->environment ? ", @FILE or - (standard input)"
                                                    : "@FILE or - (standard input)");
}

bool mishap_cli_can_be_off(const mishap_param *param)
{
    return param->type == MISHAP_BOOLEAN && param->initial && strcmp(param->initial, "true") == 0;
}

static void note_need(struct notes *notes, const mishap_param *param)
{
    if (param->required)
        mishap_cli_put(next_note(notes), "required");
    if (param->type == MISHAP_ENUM && !shows_choices(param)) {
        mishap_cli_put(next_note(notes), "one of ");
        put_choices(notes->b, param->choices, ", ", " and ");
    }
}

static void note_absence(struct notes *notes, const mishap_param *param)
{
    if (param->initial && !param->secret) {
        mishap_cli_put(next_note(notes), "default: ");
        put_plain(notes->b, param->initial);
    }
    if (mishap_cli_can_be_off(param)) {
        mishap_cli_put(next_note(notes), "off with --no-");
        mishap_cli_put_flag(notes->b, param->name);
    }
}

void mishap_cli_put_about(mishap_buffer *b, const mishap_param *param, bool rules_only)
{
    struct notes notes = { b, param->help ? " (" : "", 0, !rules_only };
    size_t start = b->length;
    mishap_cli_put(b, param->help);
    if (!rules_only)
        note_need(&notes, param);
    put_notes(&notes, param);
    if (param->type == MISHAP_OBJECT || param->type == MISHAP_MAP) {
        mishap_cli_put(next_note(&notes), "a JSON ");
        put_type(b, param, 0);
    }
    if (!rules_only)
        note_absence(&notes, param);
    note_sources(&notes, param);
    if (param->help && strcmp(notes.before, "; ") == 0)
        MISHAP_PUT(b, ")");
    if (!param->help && b->length > start && b->data[start] >= 'a' && b->data[start] <= 'z')
        b->data[start] -= 32;
}

void mishap_cli_put_rules(mishap_buffer *b, const mishap_operation *operation)
{
    if (!operation->rules)
        return;
    MISHAP_PUT(b, "Rules: ");
    mishap_rules_put_words(b, operation->rules);
    MISHAP_PUT(b, ".");
    mishap_buffer_put_char(b, '\0');
}
