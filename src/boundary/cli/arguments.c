/*
 * From the words of a command line to the JSON object that an operation is called with.
 *
 * Flags may stand anywhere, as --flag value or --flag=value; `--` ends them. Strings, arrays and
 * objects may come from a file (@FILE) or standard input (-). A value that no flag gives is read
 * from its environment variable, if one is declared, and then from the file that --config names.
 * Settings of services have flags, too (settings.c). All findings are collected before the handler
 * runs, and one answer lists them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "boundary/cli/describe.h"
#include "dialect/envelope.h"
#include "operation/secret.h"
#include "operation/settings.h"

enum {
    LARGEST_FILE = 1 << 28,
    USUAL_FLAG = 64, /* bytes; a longer one is put elsewhere */
};

/* What has been read so far. */
struct reading {
    mishap_cli *cli;
    mishap_cli_flags_of flags;
    const mishap_param *params; /* with the flags for settings behind */
    size_t count;
    mishap_buffer *values; /* the JSON of each parameter; empty: not given */
    bool *refused;         /* something is wrong with it already */
    mishap *wrong;         /* NULL as long as nothing is */
    size_t settings_wrong; /* how many of its findings are about settings */
    const char *const *words;
    size_t word_count, next;
    bool no_memory;
};

/* -- saying what is wrong ---------------------------------------------------------------------- */

/* A word as it is shown: not all of a long one. */
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

static void refuse_field(struct reading *r, const mishap_field *field)
{
    if (!r->wrong)
        r->wrong = mishap_raise(ARG_ERROR, NULL);
    mishap_field_add(r->wrong, field);
}

static void refuse(struct reading *r, mishap_text name, const char *error, const char *expected)
{
    refuse_field(r, &(mishap_field){ .field = shown(name),
                                     .error = mishap_text_of(error),
                                     .expected = value_of(expected) });
}

/* A setting is called by its flag, --lisp-folder: it may also come from elsewhere. */
static void refuse_param(struct reading *r, size_t i, const char *error, const char *expected)
{
    char storage[USUAL_FLAG];
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
        refuse(r, mishap_buffer_text(&name), error, expected);
    r->refused[i] = true;
    mishap_buffer_release(&name);
}

/* A value that is none of the choices is shown beside them. */
static void refuse_choice(struct reading *r, const char *name, const char *const *choices,
                          mishap_text given)
{
    mishap_buffer list = { 0 };
    mishap_value value = given.data ? mishap_value_of_text(shown(given)) : mishap_value_none();
    mishap_json_open(&list, '[');
    for (size_t c = 0; choices[c]; c++)
        mishap_json_string(&list, mishap_text_of(choices[c]));
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

/* -- values ------------------------------------------------------------------------------------ */

bool mishap_cli_read_whole(const char *path, mishap_buffer *to)
{
    bool standard = strcmp(path, "-") == 0;
    int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    while (file >= 0 && to->length < LARGEST_FILE && mishap_buffer_reserve(to, 65536)) {
        got = read(file, to->data + to->length, to->capacity - to->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        to->length += (size_t)got;
    }
    if (file >= 0 && !standard)
        close(file);
    return got == 0 && !to->failed;
}

/* Text as the JSON of a type. Whether it is of that type, and sound, the checks say. */
static void put_spelled(mishap_buffer *to, mishap_type_of_param type, mishap_text text)
{
    if (type == MISHAP_BOOLEAN && text.length == 0)
        mishap_json_string(to, text); /* --flag= is no way to say --flag */
    else
        mishap_put_spelled(to, type, text);
}

/* One item of an array that was given item by item: --tag a --tag b. */
static void put_item(mishap_buffer *to, mishap_type_of_param type, mishap_text text)
{
    if (to->length && to->data[to->length - 1] != ']')
        return; /* what was given first is no array, and that is told */
    if (to->length)
        to->length--; /* open it again */
    else
        mishap_json_open(to, '[');
    put_spelled(to, type, text);
    mishap_json_close(to, ']');
}

/* One of the choices? If not, they are named. */
static bool is_choice(struct reading *r, size_t i, mishap_text text)
{
    const char *const *choices = r->params[i].choices;
    for (size_t c = 0; choices[c]; c++) {
        if (mishap_text_equal(text, mishap_text_of(choices[c])))
            return true;
    }
    if (!r->refused[i])
        refuse_choice(r, r->params[i].name, choices,
                      r->params[i].secret ? (mishap_text){ NULL, 0 } : text);
    r->refused[i] = true;
    return false;
}

static void put_value(struct reading *r, size_t i, mishap_text text)
{
    const mishap_param *param = &r->params[i];
    mishap_buffer *to = &r->values[i];
    bool item = param->type == MISHAP_ARRAY && !(text.length && text.data[0] == '[');
    if (mishap_utf8_valid_length(text) < text.length)
        refuse_param(r, i, "not_utf8", NULL);
    else if (to->length && !item)
        refuse_param(r, i, "given_twice", NULL);
    else if (item)
        put_item(to, param->items->type, text);
    else if (param->type != MISHAP_ENUM || i >= r->flags.own || is_choice(r, i, text))
        put_spelled(to, param->type, text);
    r->no_memory = r->no_memory || to->failed;
}

/* A word as the value of a parameter: itself, what a file has in it (@FILE), or standard input (-).
 */
static void give(struct reading *r, size_t i, const char *word)
{
    const mishap_param *param = &r->params[i];
    bool secret = mishap_param_has_secret(param);
    bool may_be_long = (param->type == MISHAP_STRING && !param->file) ||
                       param->type >= MISHAP_ARRAY || (secret && !param->file);
    bool from_file = may_be_long &&
                     (strcmp(word, "-") == 0 || (word[0] == '@' && word[1] != '@' && word[1]));
    if (secret && !from_file) {
        refuse_param(r, i, "secret_in_arguments", NULL);
        return;
    }
    if (!from_file) {
        put_value(
            r, i,
            mishap_text_of(may_be_long && word[0] == '@' && word[1] == '@' ? word + 1 : word));
        return;
    }
    mishap_buffer content = { 0 };
    if (!mishap_cli_read_whole(word[0] == '@' ? word + 1 : word, &content)) {
        refuse_param(r, i, "unreadable_file", NULL);
    } else {
        /* A secret in a file mostly has a line feed behind it that is not part of it. */
        if (secret && content.length && content.data[content.length - 1] == '\n')
            content.length--;
        put_value(r, i, mishap_buffer_text(&content));
    }
    mishap_buffer_release(&content);
}

/* -- flags ------------------------------------------------------------------------------------- */

static size_t find_flag(const mishap_param *params, const char *flag, size_t length)
{
    size_t i = 0;
    while (params && params[i].name && !mishap_cli_spells(flag, length, params[i].name))
        i++;
    return i;
}

static void refuse_unknown(struct reading *r, const char *word, size_t length)
{
    char meant[USUAL_FLAG];
    mishap_buffer flag;
    size_t hyphens = length < 2 ? length : 2;
    mishap_guess guess = { .word = { word + hyphens, length - hyphens } };
    const mishap_param *const lists[] = { r->params, mishap_cli_flags };
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (const mishap_param *param = lists[l]; param && param->name; param++)
            mishap_guess_weigh(&guess, mishap_text_of(param->name));
    for (const mishap_param *own = NULL; (own = mishap_cli_next_own(r->cli->operation, own));)
        mishap_guess_weigh(&guess, mishap_text_of(own->name));
    mishap_buffer_init(&flag, meant, sizeof meant);
    MISHAP_PUT(&flag, "--");
    mishap_cli_put_flag(&flag, guess.name.data ? guess.name.data : "");
    mishap_buffer_put_char(&flag, '\0');
    refuse(r, (mishap_text){ word, length }, "unknown_option",
           guess.name.data && !flag.failed ? flag.data : NULL);
    mishap_buffer_release(&flag);
    /* What follows is most likely its value: one mistake is told once. */
    if (word[length] != '=' && r->next < r->word_count && r->words[r->next][0] != '-')
        r->next++;
}

/* The flags that every command has. */
static void take_common(struct reading *r, size_t i, const char *value)
{
    const char *name = mishap_cli_flags[i].name;
    if (strcmp(name, "verbose") == 0) {
        r->cli->verbose = true;
    } else if (strcmp(name, "timeout_ms") == 0) {
        char *end = NULL;
        long milliseconds = value ? strtol(value, &end, 10) : 0;
        if (!value || !*value || *end || milliseconds < 1 || milliseconds > MISHAP_CLI_LONGEST_MS)
            refuse(r, (mishap_text)MISHAP_TEXT("--timeout-ms"), "invalid_value",
                   "a number of milliseconds");
        else
            r->cli->timeout_ms = r->cli->timeout_given = (int)milliseconds;
    } else if (strcmp(name, "output") == 0) {
        r->cli->envelope = value && strcmp(value, "json") == 0;
        if (r->cli->envelope)
            r->cli->json = true;
        else if (value && strcmp(value, "text") == 0)
            r->cli->json = false;
        else
            refuse_choice(r, "--output", mishap_cli_flags[i].choices, mishap_text_of(value));
    }
}

/* The flags of bodies and bytes, if the command has them. */
static const mishap_param *find_bytes_flag(const struct reading *r, const char *flag, size_t length)
{
    const mishap_param *found = NULL;
    while ((found = mishap_cli_next_own(r->cli->operation, found)))
        if (!(r->count && found >= r->params && found < r->params + r->count) &&
            mishap_cli_spells(flag, length, found->name))
            break;
    return found;
}

static void take_bytes(struct reading *r, const mishap_param *flag, mishap_text word,
                       const char *value)
{
    const char **to = strcmp(flag->name, "to") == 0     ? &r->cli->to
                      : strcmp(flag->name, "body") == 0 ? &r->cli->body_file
                                                        : &r->cli->body_type;
    if (!value || !*value)
        refuse(r, word, "missing_value", NULL);
    else if (*to)
        refuse(r, word, "given_twice", NULL);
    else
        *to = value;
}

/* The value of a flag: behind its equals sign, or the next word. NULL if there is none. */
static const char *value_of_flag(struct reading *r, const char *equals)
{
    if (equals)
        return equals + 1;
    if (r->next < r->word_count && strcmp(r->words[r->next], "--") != 0)
        return r->words[r->next++];
    return NULL;
}

static void take_flag(struct reading *r, const char *word)
{
    const char *flag = word + 2, *equals = strchr(flag, '=');
    size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
    size_t i = find_flag(r->params, flag, length);
    if (i < r->count) {
        bool alone = r->params[i].type == MISHAP_BOOLEAN && !equals;
        const char *value = alone ? "true" : value_of_flag(r, equals);
        if (value)
            give(r, i, value);
        else
            refuse_param(r, i, "missing_value", NULL);
        return;
    }
    if (length > 3 && strncmp(flag, "no-", 3) == 0) {
        size_t negated = find_flag(r->params, flag + 3, length - 3);
        if (negated < r->count && r->params[negated].type == MISHAP_BOOLEAN) {
            give(r, negated, "false");
            return;
        }
    }
    const mishap_param *bytes = find_bytes_flag(r, flag, length);
    if (bytes) {
        take_bytes(r, bytes, (mishap_text){ word, length + 2 }, value_of_flag(r, equals));
        return;
    }
    i = find_flag(mishap_cli_flags, flag, length);
    if (mishap_cli_flags[i].name)
        take_common(r, i,
                    mishap_cli_flags[i].type == MISHAP_BOOLEAN ? NULL : value_of_flag(r, equals));
    else
        refuse_unknown(r, word, length + 2);
}

static void take_letter(struct reading *r, const char *word)
{
    size_t i = 0;
    while (i < r->count && r->params[i].letter != word[1])
        i++;
    if (i < r->count) {
        const char *value = r->params[i].type == MISHAP_BOOLEAN ? (word[2] ? NULL : "true")
                            : word[2]                           ? word + 2
                                                                : value_of_flag(r, NULL);
        if (value)
            give(r, i, value);
        else
            refuse_param(r, i, "missing_value", NULL);
        return;
    }
    size_t common = 0;
    while (mishap_cli_flags[common].name && mishap_cli_flags[common].letter != word[1])
        common++;
    if (mishap_cli_flags[common].name && !word[2])
        take_common(r, common, NULL);
    else
        refuse_unknown(r, word, strlen(word));
}

/* A word without a flag goes to the next positional parameter that has none yet. */
static void take_positional(struct reading *r, const char *word)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->params[i].positional && !r->values[i].length && !r->refused[i]) {
            give(r, i, word);
            return;
        }
    }
    refuse(r, mishap_text_of(word), "unexpected_argument", NULL);
}

static void take_words(struct reading *r)
{
    bool flags = true;
    while (r->next < r->word_count) {
        const char *word = r->words[r->next++];
        /* A negative number is a value, not a letter. */
        bool letter = word[0] == '-' && word[1] && word[1] != '-' &&
                      !(word[1] >= '0' && word[1] <= '9');
        if (flags && strcmp(word, "--") == 0)
            flags = false;
        else if (flags && strncmp(word, "--", 2) == 0)
            take_flag(r, word);
        else if (flags && letter)
            take_letter(r, word);
        else
            take_positional(r, word);
    }
}

static void take_environment(struct reading *r)
{
    r->flags.config_by_variable = r->flags.config < r->count && !r->values[r->flags.config].length;
    for (size_t i = 0; i < r->count; i++) {
        if (i >= r->flags.own && i != r->flags.config)
            continue; /* settings are read all together */
        const char *variable = r->params[i].environment,
                   *value = variable ? getenv(variable) : NULL;
        if (value && *value && !r->values[i].length && !r->refused[i])
            put_value(r, i, mishap_text_of(value));
    }
}

/* -- settings ---------------------------------------------------------------------------------- */

/* Options that nothing else gives. For the data folder there is a variable, which comes first. */
static void take_options_of_file(struct reading *r)
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

static bool is_refused_flag(const struct reading *r, mishap_text field)
{
    for (size_t i = r->flags.own; i < r->count; i++)
        if (r->refused[i] && field.length > 2 &&
            mishap_cli_spells(field.data + 2, field.length - 2, r->params[i].name))
            return true;
    return false;
}

static void refuse_by_rule(struct reading *r, const mishap_field *field);

/* What is wrong with settings is told beside what is wrong with words. */
static mishap *take_settings(struct reading *r)
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

static void put_object(struct reading *r, mishap_buffer *object)
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

static bool is_refused(const struct reading *r, mishap_text field)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->refused[i] && mishap_text_equal(field, mishap_text_of(r->params[i].name)))
            return true;
    return false;
}

/* What is told in words is no matter of a pattern. */
static void refuse_by_rule(struct reading *r, const mishap_field *field)
{
    mishap_field worded = *field;
    if (field->message.length &&
        mishap_text_equal(field->error, (mishap_text)MISHAP_TEXT("pattern_mismatch")))
        worded.error = field->expected.kind == MISHAP_KIND_JSON
                           ? (mishap_text)MISHAP_TEXT("invalid_choice")
                           : (mishap_text)MISHAP_TEXT("invalid_format");
    refuse_field(r, &worded);
}

/* What the rules say, beside what is wrong already: one answer for both. */
static mishap *check_rules(struct reading *r, mishap_text object)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = mishap_json_read(&reader, object)
                          ? mishap_params_check(r->cli->operation->params, reader.root)
                          : mishap_out_of_memory();
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

/* One thing that is wrong is told in the message itself; of several, their names. */
static void word_message(struct reading *r)
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
                continue; /* of one argument two things can be wrong */
            if (field != told->fields)
                MISHAP_PUT(&message, ", ");
            mishap_buffer_put_text(&message, field->field);
            last = field;
        }
        MISHAP_PUT(&message, ".");
    }
    MISHAP_PUT(&suggestion, "Run `");
    mishap_buffer_put_text(&suggestion, mishap_text_of(r->cli->app->name));
    MISHAP_PUT(&suggestion, " ");
    mishap_cli_put_command(&suggestion, r->cli->operation->name);
    MISHAP_PUT(&suggestion, " --help` to see its options.");
    mishap_buffer_put_char(&suggestion, '\0');
    if (!message.failed)
        mishap_message(r->wrong, mishap_buffer_text(&message));
    if (!suggestion.failed)
        mishap_suggest(r->wrong, suggestion.data);
    mishap_buffer_release(&message);
    mishap_buffer_release(&suggestion);
}

/* Which file it was, for findings may be about what is in it. */
static void tell_config(struct reading *r)
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
    struct reading r = { .cli = cli, .words = words, .word_count = count };
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
    take_words(&r);
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
