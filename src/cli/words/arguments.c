/*
 * The arguments of a command, all together. A value that no flag gives is read from its environment
 * variable, if one is declared, and then from the file that --config names. Settings of services
 * have flags, too (settings.c). All findings are collected before the handler runs, and one answer
 * lists them.
 */
#include "cli/words/arguments.h"
#include "mishap/leaks.h"

#include <stdlib.h>

#include "dialect/envelope.h"
#include "operation/findings.h"
#include "operation/settings.h"

/* -- saying what is wrong ---------------------------------------------------------------------- */

/* A word for a message: a long one is cut. */
static mishap_text shown(mishap_text word)
{
    enum { ECHOED = 100 }; /* bytes */
    if (word.length > ECHOED)
        word.length = mishap_utf8_cut(word, ECHOED);
    return word;
}

static mishap_value value_of(const char *string)
{
    return string ? mishap_value_of_string(string) : mishap_value_none();
}

static void refuse_field(mishap_cli_reading *r, const mishap_field *field)
{
    if (!r->wrong)
        r->wrong = mishap_raise(ARG_ERROR, NULL);
    mishap_field_add(r->wrong, field);
}

void mishap_cli_refuse(mishap_cli_reading *r, mishap_text name, const char *error,
                       const char *expected)
{
    refuse_field(r, &(mishap_field){ .field = shown(name),
                                     .error = mishap_text_of(error),
                                     .expected = value_of(expected) });
}

/* A setting is named by its flag, --lisp-folder: its value may also come from elsewhere. */
void mishap_cli_refuse_param(mishap_cli_reading *r, size_t i, const char *error,
                             const char *expected)
{
    char storage[MISHAP_CLI_USUAL_FLAG];
    mishap_buffer name;
    mishap_buffer_init(&name, storage, sizeof storage);
    if (i >= r->flags.own) {
        MISHAP_PUT(&name, "--");
        mishap_cli_put_flag(&name, r->params[i].name);
    } else {
        mishap_cli_put(&name, r->params[i].name);
    }
    r->no_memory = r->no_memory || name.failed;
    if (!name.failed && !r->refused[i])
        mishap_cli_refuse(r, mishap_buffer_text(&name), error, expected);
    r->refused[i] = true;
    mishap_buffer_release(&name);
}

/* A value that is not one of the choices is shown beside them. */
void mishap_cli_refuse_choice(mishap_cli_reading *r, const char *name, const char *const *choices,
                              mishap_text given)
{
    mishap_buffer list = { 0 };
    mishap_value value = given.data ? mishap_value_of_text(shown(given)) : mishap_value_none();
    mishap_json_open(&list, '[');
    mishap_choices_put_items(&list, choices);
    mishap_json_close(&list, ']');
    if (list.failed)
        r->no_memory = true;
    else
        refuse_field(r, &(mishap_field){ .field = mishap_text_of(name),
                                         .error = MISHAP_TEXT("invalid_choice"),
                                         .expected = { .kind = MISHAP_KIND_JSON,
                                                       .text = mishap_buffer_text(&list) },
                                         .actual = value });
    mishap_buffer_release(&list);
}

/* -- variables --------------------------------------------------------------------------------- */

/* NAME_GUARD holds for every command; --guard of a server counts more, and is read later. */
static void take_guard_variable(mishap_cli_reading *r)
{
    char variable[MISHAP_CLI_USUAL_FLAG];
    const char *value = mishap_system_setting(r->cli->app->name, "GUARD");
    if (!value || !*value || mishap_leaks_set_guard(value))
        return;
    mishap_system_variable(r->cli->app->name, "GUARD", variable, sizeof variable);
    mishap_cli_refuse_choice(r, variable, mishap_leaks_guards, mishap_text_of(value));
}

static void take_environment(mishap_cli_reading *r)
{
    r->flags.config_by_variable = r->flags.config < r->count && !r->values[r->flags.config].length;
    for (size_t i = 0; i < r->count; i++) {
        if (i >= r->flags.own && i != r->flags.config)
            continue; /* settings are read together, later */
        const char *variable = r->params[i].environment,
                   *value = variable ? getenv(variable) : NULL;
        if (value && *value && !r->values[i].length && !r->refused[i])
            mishap_cli_put_value(r, i, mishap_text_of(value));
    }
}

/* -- settings ---------------------------------------------------------------------------------- */

/* Options that neither flag nor variable gives. The data folder has a variable, which comes
 * first. */
static void take_options_of_file(mishap_cli_reading *r)
{
    const char *data = mishap_system_setting(r->cli->app->name, "DATA");
    for (size_t i = 0; i < r->flags.own; i++) {
        yyjson_val *value = mishap_settings_in_file(r->params[i].name);
        bool elsewhere = data && *data && strcmp(r->params[i].name, "data") == 0;
        if (value && !elsewhere && !r->values[i].length && !r->refused[i])
            mishap_json_copy(&r->values[i], value);
        r->no_memory = r->no_memory || r->values[i].failed;
    }
}

static bool is_refused_flag(const mishap_cli_reading *r, mishap_text field)
{
    for (size_t i = r->flags.own; i < r->count; i++)
        if (r->refused[i] && field.length > 2 &&
            mishap_cli_spells(field.data + 2, field.length - 2, r->params[i].name))
            return true;
    return false;
}

static void refuse_by_rule(mishap_cli_reading *r, const mishap_field *field);

/* Findings about settings are reported together with those about words. */
static mishap *take_settings(mishap_cli_reading *r)
{
    mishap *found = NULL;
    mishap *failure = mishap_cli_use_settings(r->cli, &r->flags, r->values, &found);
    if (!failure && mishap_cli_serves(r->cli->operation))
        take_options_of_file(r);
    const mishap_public *told = found ? mishap_told(found) : NULL;
    for (const mishap_field *field = told ? told->fields : NULL; field; field = field->next)
        if (!is_refused_flag(r, field->field)) {
            refuse_by_rule(r, field);
            r->settings_wrong++;
        }
    mishap_free(found);
    return failure;
}

/* -- all together ------------------------------------------------------------------------------ */

static void put_object(mishap_cli_reading *r, mishap_buffer *object)
{
    mishap_json_open(object, '{');
    for (size_t i = 0; i < r->flags.own; i++) {
        if (r->values[i].length) {
            mishap_json_key(object, mishap_text_of(r->params[i].name));
            mishap_buffer_put_text(object, mishap_buffer_text(&r->values[i]));
        }
    }
    mishap_json_close(object, '}');
}

static bool is_refused(const mishap_cli_reading *r, mishap_text field)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->refused[i] && mishap_text_equal(field, mishap_text_of(r->params[i].name)))
            return true;
    return false;
}

/* If the expected value is described in words, the pattern is not mentioned. */
static void refuse_by_rule(mishap_cli_reading *r, const mishap_field *field)
{
    mishap_field worded = *field;
    if (field->message.length &&
        mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("pattern_mismatch")))
        worded.error = field->expected.kind == MISHAP_KIND_JSON
                           ? (mishap_text)MISHAP_TEXT("invalid_choice")
                           : (mishap_text)MISHAP_TEXT("invalid_format");
    refuse_field(r, &worded);
}

/* The findings of the checks, in one answer with those before. */
static mishap *check_rules(mishap_cli_reading *r, mishap_text object)
{
    const mishap_param *params = r->cli->operation->params;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = mishap_json_read(&reader, object)
                          ? mishap_params_refuse_unknown(params, r->cli->operation->rules,
                                                         reader.root, reader.root, NULL, NULL)
                          : mishap_out_of_memory();
    if (!failure)
        failure = mishap_operation_check(r->cli->app, r->cli->operation, reader.root);
    mishap_json_reader_release(&reader);
    const mishap_public *told = mishap_told(failure);
    if (!told || told->code != MISHAP_CODE_VALIDATION_ERROR)
        return failure;
    for (const mishap_field *field = told->fields; field; field = field->next)
        if (!is_refused(r, field->field))
            refuse_by_rule(r, field);
    mishap_free(failure);
    return NULL;
}

/* The parameter for the words behind `--`, if none was given; else NULL. */
static const mishap_param *missing_rest(const mishap_cli_reading *r)
{
    for (size_t i = 0; i < r->flags.own; i++)
        if (r->params[i].rest)
            return r->values[i].length ? NULL : &r->params[i];
    return NULL;
}

static bool has_places(const mishap_operation *operation)
{
    for (const mishap_param *param = operation->params; param && param->name; param++)
        if (param->positional)
            return true;
    return false;
}

/* "Put -- before the command: mishap audit cli -- git". If a positional parameter took a word
 * already, the words stand for themselves. */
static void suggest_rest(mishap_cli_reading *r, mishap_buffer *b, const mishap_param *rest)
{
    const mishap_operation *operation = r->cli->operation;
    MISHAP_PUT(b, "Put -- before the ");
    mishap_cli_put(b, rest->name);
    MISHAP_PUT(b, ": ");
    mishap_cli_put(b, r->cli->app->name);
    MISHAP_PUT(b, " ");
    mishap_cli_put_command(b, operation->name);
    MISHAP_PUT(b, " -- ");
    if (has_places(operation))
        mishap_cli_put(b, rest->placeholder ? rest->placeholder : "...");
    else
        mishap_put_printable_line(b, shown(mishap_text_of(r->stray)));
}

static void suggest_help(mishap_cli_reading *r, mishap_buffer *b)
{
    MISHAP_PUT(b, "Run `");
    mishap_cli_put(b, r->cli->app->name);
    MISHAP_PUT(b, " ");
    mishap_cli_put_command(b, r->cli->operation->name);
    MISHAP_PUT(b, " --help` to see its options.");
}

/* A single finding is told in the message itself; of several, the names. */
static void word_message(mishap_cli_reading *r)
{
    const mishap_public *told = mishap_told(r->wrong);
    mishap_buffer message = { 0 }, suggestion = { 0 };
    const mishap_field *last = told->fields;
    bool settings = r->settings_wrong == told->field_count;
    if (told->field_count == 1) {
        mishap_cli_put(&message,
                       settings ? "A setting is not valid: " : "An argument is not valid: ");
        mishap_envelope_put_field_sentence(&message, told->fields);
    } else {
        mishap_cli_put(&message, settings ? "Some settings are not valid: "
                                          : "Some arguments are not valid: ");
        for (const mishap_field *field = told->fields; field; field = field->next) {
            if (field != told->fields && mishap_text_equal(field->field, last->field))
                continue; /* one argument may have two findings */
            if (field != told->fields)
                MISHAP_PUT(&message, ", ");
            mishap_buffer_put_text(&message, field->field);
            last = field;
        }
        MISHAP_PUT(&message, ".");
    }
    const mishap_param *rest = r->stray ? missing_rest(r) : NULL;
    if (rest)
        suggest_rest(r, &suggestion, rest);
    else
        suggest_help(r, &suggestion);
    mishap_buffer_put_char(&suggestion, '\0');
    if (!message.failed)
        mishap_message(r->wrong, mishap_buffer_text(&message));
    if (!suggestion.failed)
        mishap_suggest(r->wrong, suggestion.data);
    mishap_buffer_release(&message);
    mishap_buffer_release(&suggestion);
}

/* Name the file, since findings may be about its contents. */
static void tell_config(mishap_cli_reading *r)
{
    size_t config = r->flags.config;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (config < r->count && r->values[config].length &&
        mishap_json_read(&reader, mishap_buffer_text(&r->values[config])))
        mishap_tell(r->wrong, "config", mishap_json_text(reader.root));
    mishap_json_reader_release(&reader);
}

mishap *mishap_cli_read_arguments(mishap_cli *cli, const char *const *words, size_t count,
                                  mishap_buffer *object)
{
    mishap_arena arena;
    mishap_cli_reading r = { .cli = cli, .words = words, .word_count = count };
    mishap *failure = NULL;
    mishap_arena_init(&arena, NULL, 0);
    if (!mishap_cli_list_flags(cli->app, cli->operation, &arena, &r.flags)) {
        failure = mishap_out_of_memory();
        goto done;
    }
    r.params = r.flags.list;
    r.count = r.flags.count;
    r.values = mishap_arena_take(&arena, (r.count + 1) * sizeof *r.values);
    r.refused = mishap_arena_take(&arena, (r.count + 1) * sizeof *r.refused);
    if (!r.values || !r.refused) {
        failure = mishap_out_of_memory();
        goto done;
    }
    memset(r.values, 0, (r.count + 1) * sizeof *r.values);
    memset(r.refused, 0, (r.count + 1) * sizeof *r.refused);
    take_guard_variable(&r);
    mishap_cli_take_words(&r);
    take_environment(&r);
    if (r.count > r.flags.own)
        failure = take_settings(&r);
    put_object(&r, object);
    if (!failure && (r.no_memory || object->failed))
        failure = mishap_out_of_memory();
    if (!failure)
        failure = check_rules(&r, mishap_buffer_text(object));
    if (!failure && r.wrong) {
        tell_config(&r);
        word_message(&r);
        failure = r.wrong;
        r.wrong = NULL;
    }
done:
    for (size_t i = 0; r.values && i < r.count; i++)
        mishap_buffer_release(&r.values[i]);
    mishap_free(r.wrong);
    mishap_arena_release(&arena);
    return failure;
}
