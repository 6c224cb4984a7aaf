/* Check the declaration of a parameter. A declaration that cannot work, or would be misleading,
 * is refused. */
#include <math.h>
#include <stdio.h>

#include <ctype.h>

#include "operation/declare.h"
#include "operation/findings.h"
#include "operation/format.h"
#include "operation/number.h"
#include "operation/rules.h"
#include "operation/secret.h"
#include "operation/type.h"
#include "operation/upload.h"

static mishap *check_list(const mishap_declared *what, const mishap_param *params,
                          const char *outer, size_t depth);

/* -- rules ------------------------------------------------------------------------------------- */

static mishap *check_length(const mishap_declared *what, const mishap_param *param)
{
    if (param->length.min == 0 && param->length.max == 0)
        return NULL;
    if (!mishap_type_has_length(param->type))
        return mishap_declared_wrongly(what, "has a length, which only a string, bytes, a file, an "
                                             "array or a map has");
    if (param->length.max && param->length.min > param->length.max)
        return mishap_declared_wrongly(what, "has a length of at least %zu and at most %zu",
                                       param->length.min, param->length.max);
    return NULL;
}

static bool is_whole(double bound)
{
    return isinf(bound) || mishap_bound(bound).kind == MISHAP_KIND_INT;
}

static mishap *check_range(const mishap_declared *what, const mishap_param *param)
{
    double min = param->range.min, max = param->range.max;
    if (min == 0 && max == 0)
        return NULL;
    if (!mishap_type_has_range(param->type))
        return mishap_declared_wrongly(what, "has a range, which only an integer, a number, a "
                                             "decimal or money has");
    if (isnan(min) || isnan(max))
        return mishap_declared_wrongly(what, "has a range with a bound that is not a number");
    if (min > max)
        return mishap_declared_wrongly(what, "has a range from %g to %g; use INFINITY for no limit",
                                       min, max);
    if (min == INFINITY || max == -INFINITY)
        return mishap_declared_wrongly(what, "has an empty range");
    if (param->type == MISHAP_INTEGER && !(is_whole(min) && is_whole(max)))
        return mishap_declared_wrongly(what, "is an integer with a bound that is not an integer or "
                                             "is too large; use INFINITY for no limit");
    mishap_decimal bound;
    if (param->type >= MISHAP_DECIMAL &&
        ((isfinite(min) && !mishap_decimal_of_bound(min, &bound)) ||
         (isfinite(max) && !mishap_decimal_of_bound(max, &bound))))
        return mishap_declared_wrongly(what, "is a decimal with a bound of more than 15 digits");
    return NULL;
}

static mishap *check_scale(const mishap_declared *what, const mishap_param *param)
{
    if (param->scale && !mishap_type_is_decimal(param->type))
        return mishap_declared_wrongly(what, "has a scale, which only a decimal has");
    if (param->scale < 0 || param->scale >= MISHAP_DECIMAL_DIGITS)
        return mishap_declared_wrongly(what, "has a scale that is not from 1 to %d",
                                       MISHAP_DECIMAL_DIGITS - 1);
    if (param->nullable && param->required)
        return mishap_declared_wrongly(what, "is required and nullable; a required value is never "
                                             "null");
    return NULL;
}

static mishap *check_pattern(const mishap_declared *what, const mishap_param *param)
{
    if (!param->pattern)
        return NULL;
    if (param->type != MISHAP_STRING)
        return mishap_declared_wrongly(what, "has a pattern, which only a string has");
    const char *flaw = what->shape_only ? NULL : mishap_pattern_flaw(param->pattern);
    return flaw ? mishap_declared_wrongly(what, "has a pattern that cannot be compiled: %s", flaw)
                : NULL;
}

static mishap *check_format(const mishap_declared *what, const mishap_param *param)
{
    if (param->format && param->type != MISHAP_STRING)
        return mishap_declared_wrongly(what, "has a format, which only a string has");
    if (param->format && !mishap_format_find(param->format))
        return mishap_declared_wrongly(what, "has the format `%s`, which is not one of %s",
                                       param->format, mishap_format_names);
    return NULL;
}

static mishap *check_choices(const mishap_declared *what, const mishap_param *param)
{
    bool money = param->type == MISHAP_MONEY;
    if (param->type != MISHAP_ENUM && !(money && param->choices))
        return param->choices ? mishap_declared_wrongly(what, "has choices, which only an enum has")
                              : NULL;
    if (!param->choices || !param->choices[0])
        return mishap_declared_wrongly(what, "is an enum without choices");
    for (size_t i = 0; param->choices[i]; i++) {
        const char *flaw = mishap_line_flaw(param->choices[i]);
        if (flaw)
            return mishap_declared_wrongly(what, "has a choice, number %zu, that is %s", i + 1,
                                           flaw);
        for (size_t earlier = 0; earlier < i; earlier++)
            if (strcmp(param->choices[earlier], param->choices[i]) == 0)
                return mishap_declared_wrongly(what, "has the choice `%s` twice",
                                               param->choices[i]);
        if (money && mishap_currency_scale(mishap_text_of(param->choices[i])) < 0)
            return mishap_declared_wrongly(what,
                                           "has the currency `%s`, which is not a code of "
                                           "ISO 4217",
                                           param->choices[i]);
    }
    return NULL;
}

/* -- the value where none is given ------------------------------------------------------------- */

/* The default itself must pass the checks; their first finding is reported. */
static mishap *check_value(const mishap_declared *what, const mishap_param *param,
                           yyjson_val *value)
{
    mishap_findings findings = { 0 };
    mishap_spot spot = { .name = mishap_text_of(param->name) };
    if (yyjson_is_null(value))
        return mishap_declared_wrongly(what, "has the default null, which is not allowed");
    mishap_expect_param(&findings, &spot, param, value);
    mishap *found = mishap_findings_end(&findings), *m = NULL;
    const mishap_field *first = found ? mishap_told(found)->fields : NULL;
    if (first)
        m = mishap_declared_wrongly(what, "has a default that breaks its own rules: %s",
                                    first->error.data);
    else if (found)
        m = mishap_declared_wrongly(what, "has a default that could not be checked");
    mishap_free(found);
    return m;
}

static mishap *check_initial(const mishap_declared *what, const mishap_param *param)
{
    mishap *m = NULL;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!param->initial)
        return NULL;
    if (param->required)
        return mishap_declared_wrongly(what,
                                       "is required and has a default, which would never be used");
    if (what->shape_only)
        return NULL;
    if (mishap_json_read(&reader, mishap_text_of(param->initial)))
        m = mishap_param_value_has_secret(param, reader.root)
                ? mishap_declared_wrongly(what,
                                          "is secret and has a default, which everyone could read")
                : check_value(what, param, reader.root);
    else if (reader.flaw == MISHAP_JSON_NO_MEMORY)
        m = mishap_out_of_memory();
    else
        m = mishap_declared_wrongly(what, "has a default that is not JSON: %s%s", reader.problem,
                                    param->type == MISHAP_STRING || param->type == MISHAP_ENUM ||
                                            mishap_type_is_form(param->type)
                                        ? "; a string has quotes of its own, \"\\\"text\\\"\""
                                        : "");
    mishap_json_reader_release(&reader);
    return m;
}

/* -- what is for the command line only --------------------------------------------------------- */

static mishap *check_command_line(const mishap_declared *what, const mishap_param *param,
                                  bool inner)
{
    char letter = param->letter;
    const char *variable = param->environment;
    if (inner && (param->positional || letter || variable || param->placeholder))
        return mishap_declared_wrongly(
            what,
            "is nested in another parameter, so it cannot have a flag, a position or a variable");
    if (letter && !((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')))
        return mishap_declared_wrongly(what, "has a short flag that is not a letter");
    if (!inner && strcmp(param->name, "help") == 0)
        return mishap_declared_wrongly(
            what, "could not be given on a command line, because --help shows the help");
    if (letter == 'h')
        return mishap_declared_wrongly(what,
                                       "has the short flag -h, which shows the help of a command");
    if (variable &&
        (!*variable ||
         strspn(variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(variable) ||
         (*variable >= '0' && *variable <= '9')))
        return mishap_declared_wrongly(what,
                                       "is read from a variable whose name is not UPPER_SNAKE");
    if (param->positional && mishap_param_has_secret(param))
        return mishap_declared_wrongly(
            what, "is secret and positional; a secret must not be given on a command line");
    if (param->rest &&
        (inner || param->positional || param->type != MISHAP_ARRAY ||
         mishap_param_has_secret(param) || (param->items && param->items->type != MISHAP_STRING)))
        return mishap_declared_wrongly(what, "takes the words behind `--`, so it must be an array "
                                             "of strings that is neither positional nor secret");
    const char *flaw = param->placeholder ? mishap_line_flaw(param->placeholder) : NULL;
    return flaw ? mishap_declared_wrongly(what, "has a placeholder that is %s", flaw) : NULL;
}

/* -- files that are streamed ------------------------------------------------------------------- */

static mishap *check_streamed(const mishap_declared *what, const mishap_param *param, size_t depth)
{
    const mishap_operation *operation = what->operation;
    if (!param->streamed)
        return NULL;
    if (param->type != MISHAP_FILE || depth || !operation)
        return mishap_declared_wrongly(what, "is streamed, which only a file of an operation is");
    const mishap_param *first = mishap_streamed_param(operation);
    if (first != param)
        return mishap_declared_wrongly(what, "is streamed, but only one file of a request is%s%s",
                                       first ? ": " : "", first ? first->name : "");
    if (!param->length.max || param->length.min)
        return mishap_declared_wrongly(what,
                                       "is streamed, so it needs a largest length, and cannot "
                                       "have a least one");
    if (param->secret || param->initial)
        return mishap_declared_wrongly(what, "is streamed, so it is neither secret nor has a "
                                             "default");
    if (operation->quick || operation->takes || (operation->service && operation->service->worker))
        return mishap_declared_wrongly(what, "is streamed, but its operation is quick, takes other "
                                             "bodies, or is run by a foreign program");
    return NULL;
}

/* -- one parameter, and lists of them ---------------------------------------------------------- */

static mishap *check_inside(const mishap_declared *what, const mishap_param *param, size_t depth)
{
    if (param->items && param->type != MISHAP_ARRAY && param->type != MISHAP_MAP)
        return mishap_declared_wrongly(what, "has items, which only an array or a map has");
    if (param->members && param->type != MISHAP_OBJECT)
        return mishap_declared_wrongly(what, "has members, which only an object has");
    if (param->members && !param->members->name)
        return mishap_declared_wrongly(
            what, "is an object with an empty list of members; NULL allows any");
    if (param->rules && !param->members)
        return mishap_declared_wrongly(what, "has rules, which only an object with members has");
    if (param->unique && param->type != MISHAP_ARRAY)
        return mishap_declared_wrongly(what, "is unique, which only an array is");
    if (depth == MISHAP_DEEPEST_PARAM && (param->items || param->members))
        return mishap_declared_wrongly(what, "is nested more than %d deep, or contains itself",
                                       MISHAP_DEEPEST_PARAM);
    return NULL;
}

static mishap *check_param(const mishap_declared *what, const mishap_param *param, size_t depth)
{
    mishap *m = NULL;
    if (!mishap_param_type_name(param->type))
        return mishap_declared_wrongly(what, "has no type, or an unknown type");
    const char *flaw = param->help ? mishap_line_flaw(param->help) : NULL;
    if (flaw)
        return mishap_declared_wrongly(what, "has a help text that is %s", flaw);
    if (param->looks && !param->pattern && !param->format && !mishap_type_is_form(param->type))
        return mishap_declared_wrongly(what, "has `looks`, but no pattern");
    if (param->looks && (flaw = mishap_line_flaw(param->looks)))
        return mishap_declared_wrongly(what, "has a `looks` that is %s", flaw);
    if (param->initial && depth)
        return mishap_declared_wrongly(
            what, "is nested in another parameter, where a default is not supported");
    if ((m = check_length(what, param)) || (m = check_range(what, param)) ||
        (m = check_scale(what, param)) || (m = check_pattern(what, param)) ||
        (m = check_format(what, param)) || (m = check_choices(what, param)) ||
        (m = check_inside(what, param, depth)) ||
        (m = check_command_line(what, param, depth > 0)) ||
        (m = check_streamed(what, param, depth)) ||
        (m = mishap_param_header_declared(what, param, depth > 0)))
        return m;
    if (param->members && ((m = check_list(what, param->members, what->param, depth + 1)) ||
                           (m = mishap_rules_declared(what, param->members, param->rules, true))))
        return m;
    if (param->items) {
        char path[256];
        snprintf(path, sizeof path, "%s[]", what->param);
        mishap_declared one = *what;
        one.param = path;
        m = check_param(&one, param->items, depth + 1);
    }
    if (!m)
        m = check_initial(what, param); /* last, when the rules are known to be valid */
    return m ? m : mishap_schema_declared(what, param, param->schema);
}

/* lower_snake or camelCase, and not both in one name. */
static bool is_name(const char *name)
{
    bool camel = !strchr(name, '_') && *name >= 'a' && *name <= 'z';
    for (const char *c = name; *c && camel; c++)
        camel = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    return camel || mishap_words_valid(name, '_', "");
}

bool mishap_same_flag(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += *a == '_' || *a == '-';
        b += *b == '_' || *b == '-';
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

/* --no-color turns the boolean `color` off. */
static bool turns_off(const char *name, const mishap_param *param)
{
    return param->type == MISHAP_BOOLEAN && strncmp(name, "no", 2) == 0 &&
           (name[2] == '_' || isupper((unsigned char)name[2])) &&
           mishap_same_flag(name + 2, param->name);
}

/* Names that must not occur twice in one list. `flags`: they are names of flags. */
static mishap *check_against(const mishap_declared *what, const mishap_param *param,
                             const mishap_param *earlier, bool flags)
{
    if (strcmp(param->name, earlier->name) == 0)
        return mishap_declared_wrongly(what, "is declared twice");
    if (flags && mishap_same_flag(param->name, earlier->name))
        return mishap_declared_wrongly(what, "differs from `%s` only in capitals or underscores",
                                       earlier->name);
    if (flags && (turns_off(param->name, earlier) || turns_off(earlier->name, param)))
        return mishap_declared_wrongly(
            what,
            "and `%s` are the same flag on a command line, where --no-NAME sets a boolean to false",
            earlier->name);
    if (param->letter && param->letter == earlier->letter)
        return mishap_declared_wrongly(what, "has the short flag -%c, which `%s` also has",
                                       param->letter, earlier->name);
    if (param->environment && earlier->environment &&
        strcmp(param->environment, earlier->environment) == 0)
        return mishap_declared_wrongly(what,
                                       "is read from the variable %s, from which `%s` is also read",
                                       param->environment, earlier->name);
    if (param->positional && earlier->positional && earlier->type == MISHAP_ARRAY)
        return mishap_declared_wrongly(
            what, "is positional after the array `%s`, which takes all following arguments",
            earlier->name);
    if (param->rest && earlier->rest)
        return mishap_declared_wrongly(what, "takes the words behind `--`, which `%s` also takes",
                                       earlier->name);
    if (param->positional && param->required && earlier->positional && !earlier->required)
        return mishap_declared_wrongly(
            what, "is positional and required, but comes after `%s`, which is optional",
            earlier->name);
    return NULL;
}

/* An entry without a name ends a list; if it has other members, its name was forgotten. */
static bool nameless(const mishap_param *param)
{
    return param->type || param->required || param->help || param->pattern || param->choices ||
           param->items || param->members || param->initial;
}

static mishap *check_list(const mishap_declared *what, const mishap_param *params,
                          const char *outer, size_t depth)
{
    size_t i = 0;
    for (; params[i].name; i++) {
        char path[256];
        mishap_declared one = *what;
        one.param = params[i].name;
        if (outer) {
            snprintf(path, sizeof path, "%s.%s", outer, params[i].name);
            one.param = path;
        }
        if (!is_name(params[i].name))
            return mishap_declared_wrongly(&one,
                                           "has a name that is neither lower_snake nor camelCase");
        mishap *m = check_param(&one, &params[i], depth);
        for (size_t earlier = 0; !m && earlier < i; earlier++)
            m = check_against(&one, &params[i], &params[earlier], depth == 0);
        if (m)
            return m;
    }
    if (nameless(&params[i]))
        return mishap_declared_wrongly(what, "has a %s, number %zu, without a name",
                                       what->service ? "setting" : "parameter", i + 1);
    return NULL;
}

mishap *mishap_params_declared(const mishap_declared *what, const mishap_param *params)
{
    return params ? check_list(what, params, NULL, 0) : NULL;
}
