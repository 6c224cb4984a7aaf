/*
 * The words of a command line. Flags may stand anywhere, as --flag value or --flag=value; `--` ends
 * them. If the operation has a parameter for the rest, the words behind `--` are its items.
 * Strings, arrays and objects may come from a file (@FILE) or standard input (-); a parameter that
 * is a file takes the path of it.
 */
#include "cli/words/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "operation/file.h"
#include "operation/secret.h"
#include "operation/settings.h"

enum { LARGEST_FILE = 1 << 28 };

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

/* Text as JSON of a type. The checks find out whether it is valid. */
static void put_spelled(mishap_buffer *to, mishap_type_of_param type, mishap_text text)
{
    if (type == MISHAP_BOOLEAN && text.length == 0)
        mishap_json_string(to, text); /* --flag= does not mean --flag */
    else
        mishap_put_spelled(to, type, text);
}

static bool is_container(mishap_type_of_param type)
{
    return type >= MISHAP_ARRAY;
}

/* It begins like an array or an object, but could not be read as one: a quote or a bracket is
 * missing. */
static bool is_broken_json(const mishap_param *param, mishap_text text, mishap_text spelled)
{
    return is_container(param->type) && text.length && spelled.length && spelled.data[0] == '"' &&
           text.data[0] == (param->type == MISHAP_ARRAY ? '[' : '{');
}

/* One item of an array that was given item by item: --tag a --tag b. */
static void put_item(mishap_buffer *to, mishap_type_of_param type, mishap_text text)
{
    if (to->length && to->data[to->length - 1] != ']')
        return; /* the first value is no array, which was reported */
    if (to->length)
        to->length--; /* open it again */
    else
        mishap_json_open(to, '[');
    put_spelled(to, type, text);
    mishap_json_close(to, ']');
}

/* True if it is one of the choices. If not, the finding lists them. */
static bool is_choice(mishap_cli_reading *r, size_t i, mishap_text text)
{
    const char *const *choices = r->params[i].choices;
    for (size_t c = 0; choices[c]; c++) {
        if (mishap_text_equal(text, mishap_text_of(choices[c])))
            return true;
    }
    if (!r->refused[i])
        mishap_cli_refuse_choice(r, r->params[i].name, choices,
                                 r->params[i].secret ? (mishap_text){ NULL, 0 } : text);
    r->refused[i] = true;
    return false;
}

void mishap_cli_put_value(mishap_cli_reading *r, size_t i, mishap_text text)
{
    const mishap_param *param = &r->params[i];
    mishap_buffer *to = &r->values[i];
    bool item = param->type == MISHAP_ARRAY && !(text.length && text.data[0] == '[');
    if (mishap_utf8_valid_length(text) < text.length)
        mishap_cli_refuse_param(r, i, "not_utf8", NULL);
    else if (to->length && !item)
        mishap_cli_refuse_param(r, i, "given_twice", NULL);
    else if (item)
        put_item(to, param->items ? param->items->type : MISHAP_STRING, text);
    else if (param->type != MISHAP_ENUM || i >= r->flags.own || is_choice(r, i, text))
        put_spelled(to, param->type, text);
    if (is_broken_json(param, text, mishap_buffer_text(to)))
        mishap_cli_refuse_param(r, i, "invalid_type", "valid JSON");
    r->no_memory = r->no_memory || to->failed;
}

/* The address of a store may contain a password, and only libpq knows where. An address without a
 * user and without parameters has none. */
static void hide_password(const mishap_cli_reading *r, size_t i, const char *word)
{
    const mishap_param *setting = i < r->flags.own ? NULL
                                                   : r->flags.settings[i - r->flags.own].setting;
    const char *address = strstr(word, "://");
    bool is_address = i == r->flags.store || (setting && mishap_setting_is_address(setting)) ||
                      strcmp(r->params[i].name, "cluster") == 0 ||
                      strcmp(r->params[i].name, "task_store") == 0;
    if (is_address && address && strpbrk(address, "@?"))
        mishap_system_hide_argument(address + 3);
}

static bool is_file(const mishap_param *param, const char *word)
{
    return param->type == MISHAP_FILE || (param->type == MISHAP_ARRAY && param->items &&
                                          param->items->type == MISHAP_FILE && word[0] != '[');
}

/* Open a file that the handler reads piece by piece. */
static bool open_streamed(mishap_cli *cli, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat found;
    int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && fstat(file, &found) == 0 && !S_ISDIR(found.st_mode);
    if (file >= 0 && !standard && (!good || cli->has_upload))
        close(file);
    if (good && !cli->has_upload)
        cli->upload = (mishap_upload){ .file = file };
    cli->has_upload = cli->has_upload || good;
    return good;
}

/* A word that names a file whose bytes are the value; - is standard input. */
static void give_file(mishap_cli_reading *r, size_t i, const char *word)
{
    mishap_buffer content = { 0 }, text = { 0 };
    const char *path = word[0] == '@' ? word + 1 : word, *name = strrchr(path, '/');
    name = strcmp(path, "-") == 0 ? "" : name ? name + 1 : path;
    if (r->params[i].streamed ? !open_streamed(r->cli, path)
                              : !mishap_cli_read_whole(path, &content)) {
        mishap_cli_refuse_param(r, i, "unreadable_file", NULL);
    } else {
        mishap_file_put(&text, mishap_text_of(name), (mishap_text){ NULL, 0 },
                        mishap_buffer_text(&content));
        r->no_memory = r->no_memory || text.failed;
        if (!text.failed)
            mishap_cli_put_value(r, i, mishap_buffer_text(&text));
    }
    mishap_buffer_release(&content);
    mishap_buffer_release(&text);
}

/* Bytes that come from a file are in it as they are, not as base64. */
static void encode_file(mishap_buffer *content)
{
    mishap_buffer base64 = { 0 };
    mishap_base64_put(&base64, mishap_buffer_text(content));
    mishap_buffer_release(content);
    *content = base64;
}

/* A word as the value of a parameter: itself, the contents of a file (@FILE), or standard input
 * (-). */
static void give_value(mishap_cli_reading *r, size_t i, const char *word)
{
    const mishap_param *param = &r->params[i];
    bool secret = mishap_param_has_secret(param);
    bool may_be_long = (param->type == MISHAP_STRING && !param->file) ||
                       param->type == MISHAP_BYTES || is_container(param->type) ||
                       (secret && !param->file);
    if (is_file(param, word)) {
        give_file(r, i, word);
        return;
    }
    bool from_file = may_be_long &&
                     (strcmp(word, "-") == 0 || (word[0] == '@' && word[1] != '@' && word[1]));
    if (secret && !from_file) {
        mishap_cli_refuse_param(r, i, "secret_in_arguments", NULL);
        return;
    }
    if (!from_file) {
        mishap_cli_put_value(
            r, i,
            mishap_text_of(may_be_long && word[0] == '@' && word[1] == '@' ? word + 1 : word));
        hide_password(r, i, word);
        return;
    }
    mishap_buffer content = { 0 };
    if (!mishap_cli_read_whole(word[0] == '@' ? word + 1 : word, &content)) {
        mishap_cli_refuse_param(r, i, "unreadable_file", NULL);
    } else {
        /* A secret or a setting in a file mostly ends with a line feed that is not part of it. */
        if ((secret || i >= r->flags.own) && content.length &&
            content.data[content.length - 1] == '\n')
            content.length--;
        if (param->type == MISHAP_BYTES && i < r->flags.own)
            encode_file(&content);
        r->no_memory = r->no_memory || content.failed;
        mishap_cli_put_value(r, i, mishap_buffer_text(&content));
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

static void refuse_unknown(mishap_cli_reading *r, const char *word, size_t length)
{
    char meant[MISHAP_CLI_USUAL_FLAG];
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
    mishap_cli_refuse(r, (mishap_text){ word, length }, "unknown_option",
                      guess.name.data && !flag.failed ? flag.data : NULL);
    mishap_buffer_release(&flag);
    /* The next word is most likely its value: so it is skipped, and one mistake is reported
     * once. */
    if (word[length] != '=' && r->next < r->word_count && r->words[r->next][0] != '-')
        r->next++;
}

/* The flags that every command has. */
static void take_common(mishap_cli_reading *r, size_t i, const char *value)
{
    const char *name = mishap_cli_flags[i].name;
    if (strcmp(name, "verbose") == 0) {
        r->cli->verbose = true;
    } else if (strcmp(name, "timeout_ms") == 0) {
        char *end = NULL;
        long milliseconds = value ? strtol(value, &end, 10) : 0;
        if (!value || !*value || *end || milliseconds < 1 || milliseconds > MISHAP_CLI_LONGEST_MS)
            mishap_cli_refuse(r, (mishap_text)MISHAP_TEXT("--timeout-ms"), "invalid_value",
                              "a number of milliseconds");
        else
            r->cli->timeout_ms = r->cli->timeout_given = (int)milliseconds;
    } else if (strcmp(name, "dialect") == 0) {
        r->cli->dialect = mishap_dialect_find(value);
        if (!r->cli->dialect)
            mishap_cli_refuse_choice(r, "--dialect", mishap_cli_flags[i].choices,
                                     mishap_text_of(value));
    } else if (strcmp(name, "output") == 0) {
        r->cli->envelope = value && strcmp(value, "json") == 0;
        if (r->cli->envelope)
            r->cli->json = true;
        else if (value && strcmp(value, "text") == 0)
            r->cli->json = false;
        else
            mishap_cli_refuse_choice(r, "--output", mishap_cli_flags[i].choices,
                                     mishap_text_of(value));
    }
}

/* The flags of bodies and bytes, if the command has them. */
static const mishap_param *find_bytes_flag(const mishap_cli_reading *r, const char *flag,
                                           size_t length)
{
    const mishap_param *found = NULL;
    while ((found = mishap_cli_next_own(r->cli->operation, found)))
        if (!(r->count && found >= r->params && found < r->params + r->count) &&
            mishap_cli_spells(flag, length, found->name))
            break;
    return found;
}

static void take_bytes(mishap_cli_reading *r, const mishap_param *flag, mishap_text word,
                       const char *value)
{
    const char **to = strcmp(flag->name, "to") == 0           ? &r->cli->to
                      : strcmp(flag->name, "server") == 0     ? &r->cli->server
                      : strcmp(flag->name, "caller") == 0     ? &r->cli->caller
                      : strcmp(flag->name, "answers") == 0    ? &r->cli->answers
                      : strcmp(flag->name, "task_store") == 0 ? &r->cli->task_store
                      : strcmp(flag->name, "data") == 0       ? &r->cli->read_data
                      : strcmp(flag->name, "log") == 0        ? &r->cli->read_log
                      : strcmp(flag->name, "body") == 0       ? &r->cli->body_file
                                                              : &r->cli->body_type;
    if (!value || !*value)
        mishap_cli_refuse(r, word, "missing_value", NULL);
    else if (*to)
        mishap_cli_refuse(r, word, "given_twice", NULL);
    else
        *to = value;
}

/* The value of a flag: behind its equals sign, or the next word. NULL if there is none. */
static const char *value_of_flag(mishap_cli_reading *r, const char *equals)
{
    if (equals)
        return equals + 1;
    if (r->next < r->word_count && strcmp(r->words[r->next], "--") != 0)
        return r->words[r->next++];
    return NULL;
}

static void take_param(mishap_cli_reading *r, size_t i, const char *equals)
{
    bool alone = r->params[i].type == MISHAP_BOOLEAN && !equals;
    const char *value = alone ? "true" : value_of_flag(r, equals);
    if (value)
        give_value(r, i, value);
    else
        mishap_cli_refuse_param(r, i, "missing_value", NULL);
}

/* A setting without the name of its service, if only one service of the command has it: --genesis
 * for --artifacts-genesis. Every other flag comes before it. */
static size_t find_setting(const mishap_cli_reading *r, const char *flag, size_t length)
{
    size_t found = r->count;
    for (size_t i = r->flags.own; i < r->count; i++) {
        const mishap_param *setting = r->flags.settings[i - r->flags.own].setting;
        if (!setting || !mishap_cli_spells(flag, length, setting->name))
            continue;
        if (found < r->count)
            return r->count;
        found = i;
    }
    return found;
}

/* False: the flag is no such setting. */
static bool take_setting(mishap_cli_reading *r, const char *flag, size_t length, const char *equals)
{
    size_t i = find_setting(r, flag, length);
    if (i < r->count) {
        take_param(r, i, equals);
        return true;
    }
    if (length > 3 && strncmp(flag, "no-", 3) == 0)
        i = find_setting(r, flag + 3, length - 3);
    if (i == r->count || r->params[i].type != MISHAP_BOOLEAN)
        return false;
    give_value(r, i, "false");
    return true;
}

static void take_flag(mishap_cli_reading *r, const char *word)
{
    const char *flag = word + 2, *equals = strchr(flag, '=');
    size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
    size_t i = find_flag(r->params, flag, length);
    if (i < r->count) {
        take_param(r, i, equals);
        return;
    }
    if (length > 3 && strncmp(flag, "no-", 3) == 0) {
        size_t negated = find_flag(r->params, flag + 3, length - 3);
        if (negated < r->count && r->params[negated].type == MISHAP_BOOLEAN) {
            give_value(r, negated, "false");
            return;
        }
    }
    const mishap_param *bytes = find_bytes_flag(r, flag, length);
    if (bytes && bytes->type == MISHAP_BOOLEAN && !equals) {
        r->cli->detach = true;
        return;
    }
    if (bytes) {
        take_bytes(r, bytes, (mishap_text){ word, length + 2 }, value_of_flag(r, equals));
        return;
    }
    i = find_flag(mishap_cli_flags, flag, length);
    if (mishap_cli_flags[i].name) {
        take_common(r, i,
                    mishap_cli_flags[i].type == MISHAP_BOOLEAN ? NULL : value_of_flag(r, equals));
        return;
    }
    if (!take_setting(r, flag, length, equals))
        refuse_unknown(r, word, length + 2);
}

static void take_letter(mishap_cli_reading *r, const char *word)
{
    size_t i = 0;
    while (i < r->count && r->params[i].letter != word[1])
        i++;
    if (i < r->count) {
        const char *value = r->params[i].type == MISHAP_BOOLEAN ? (word[2] ? NULL : "true")
                            : word[2]                           ? word + 2
                                                                : value_of_flag(r, NULL);
        if (value)
            give_value(r, i, value);
        else
            mishap_cli_refuse_param(r, i, "missing_value", NULL);
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

/* A word without a flag is the value of the next positional parameter that has none yet. */
static void take_positional(mishap_cli_reading *r, const char *word)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->params[i].positional && !r->values[i].length && !r->refused[i]) {
            give_value(r, i, word);
            return;
        }
    }
    r->stray = r->stray ? r->stray : word;
    mishap_cli_refuse(r, mishap_text_of(word), "unexpected_argument", NULL);
}

/* The words behind `--`, unchanged, if a parameter takes them. False: none does. */
static bool take_rest(mishap_cli_reading *r)
{
    size_t i = 0;
    while (i < r->flags.own && !r->params[i].rest)
        i++;
    if (i == r->flags.own)
        return false;
    if (r->values[i].length)
        mishap_cli_refuse_param(r, i, "given_twice", NULL);
    for (; r->next < r->word_count; r->next++) {
        mishap_text word = mishap_text_of(r->words[r->next]);
        if (mishap_utf8_valid_length(word) < word.length)
            mishap_cli_refuse_param(r, i, "not_utf8", NULL);
        else if (!r->refused[i])
            put_item(&r->values[i], MISHAP_STRING, word);
    }
    r->no_memory = r->no_memory || r->values[i].failed;
    return true;
}

void mishap_cli_take_words(mishap_cli_reading *r)
{
    bool flags = true;
    while (r->next < r->word_count) {
        const char *word = r->words[r->next++];
        /* A negative number is a value, not a flag. */
        bool letter = word[0] == '-' && word[1] && word[1] != '-' &&
                      !(word[1] >= '0' && word[1] <= '9');
        if (flags && strcmp(word, "--") == 0)
            flags = take_rest(r);
        else if (flags && strncmp(word, "--", 2) == 0)
            take_flag(r, word);
        else if (flags && letter)
            take_letter(r, word);
        else
            take_positional(r, word);
    }
}
