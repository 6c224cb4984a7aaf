/* The commands and flags of a program, their spelling, and which command some words name. */
#include "cli/words/command.h"
#include "mishap/worker.h"
#include "operation/caller.h"

/* -- the flags and the commands that all have -------------------------------------------------- */

static const char *const outputs[] = { "text", "json", NULL };

static const char *const dialects[] = {
    "condition-report", "cli-envelope", "artifact", "http-api", "tool-result", "problem",
    "json-rpc",         "google-rpc",   "json-api", "graphql",  "canonical",   NULL,
};

const mishap_param mishap_cli_flags[] = {
    { .name = "output",
      .type = MISHAP_ENUM,
      .choices = outputs,
      .help = "Output format; the default is json when standard output is not a terminal" },
    { .name = "dialect",
      .type = MISHAP_ENUM,
      .choices = dialects,
      .placeholder = "NAME",
      .help = "Print a failure in this error format instead of the envelope" },
    { .name = "timeout_ms",
      .type = MISHAP_INTEGER,
      .range = { 1, MISHAP_CLI_LONGEST_MS },
      .help = "Timeout in milliseconds" },
    { .name = "verbose",
      .type = MISHAP_BOOLEAN,
      .letter = 'v',
      .help = "Print all details of a failure to standard error" },
    { .name = "help", .type = MISHAP_BOOLEAN, .letter = 'h', .help = "Show help and exit" },
    { .name = "version", .type = MISHAP_BOOLEAN, .help = "Show the version and exit" },
    { 0 },
};

mishap_cli_detaches *mishap_cli_detach;

const mishap_param mishap_cli_bytes_flags[] = {
    { .name = "detach",
      .type = MISHAP_BOOLEAN,
      .help = "Print the id of a task at once; the work goes on after this command" },
    { .name = "task_store",
      .type = MISHAP_STRING,
      .placeholder = "URL",
      .help = "With --detach: the store of tasks, if it is not in the data folder" },
    { .name = "caller",
      .type = MISHAP_STRING,
      .placeholder = "NAME",
      .help = "Name of the caller; only where API keys are not used" },
    { .name = "answers",
      .type = MISHAP_STRING,
      .placeholder = "JSON",
      .help =
          "Answers to the questions of the command: {\"QUESTION\":{...}}, or {\"QUESTION\":null} "
          "to decline" },
    { .name = "server",
      .type = MISHAP_STRING,
      .placeholder = "URL",
      .help =
          "Call the server at this address, such as http://127.0.0.1:8080; it has sessions that "
          "last" },
    { .name = "body",
      .type = MISHAP_STRING,
      .file = true,
      .placeholder = "FILE",
      .help = "Send the content of this file; - is standard input" },
    { .name = "body_type",
      .type = MISHAP_STRING,
      .placeholder = "TYPE",
      .help = "Media type of the body; by default the first that the command accepts" },
    { .name = "data",
      .type = MISHAP_STRING,
      .file = true,
      .placeholder = "DIR",
      .help = "Read the incidents of the server that has this data folder" },
    { .name = "log",
      .type = MISHAP_STRING,
      .file = true,
      .placeholder = "FILE",
      .help = "Read the incidents of this log" },
    { .name = "to",
      .type = MISHAP_STRING,
      .file = true,
      .placeholder = "FILE",
      .help = "Write the answer to this file; - is standard output" },
    { 0 },
};

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static const mishap_param help_params[] = {
    { .name = "command",
      .type = MISHAP_STRING,
      .positional = true,
      .help = "The command to explain" },
    { 0 },
};

static const mishap_param completion_params[] = {
    { .name = "shell",
      .type = MISHAP_ENUM,
      .choices = shells,
      .required = true,
      .positional = true,
      .placeholder = "SHELL",
      .help = "The shell that will run the script" },
    { 0 },
};

const mishap_operation mishap_cli_builtins[] = {
    { .name = "help",
      .summary = "Show help for the program or for a command",
      .params = help_params },
    { .name = "manifest", .summary = "Show all commands, flags and exit codes as JSON" },
    { .name = "completion",
      .summary = "Print a completion script for a shell",
      .params = completion_params },
    { .name = "manual", .summary = "Print the manual page" },
    { 0 },
};

static bool replaces(const mishap_operation *operations, const char *name)
{
    for (; operations && operations->name; operations++)
        if (strcmp(operations->name, name) == 0)
            return true;
    return false;
}

static bool is_builtin(const mishap_operation *operation)
{
    for (const mishap_operation *o = mishap_cli_builtins; o->name; o++)
        if (o == operation)
            return true;
    return false;
}

const mishap_operation *mishap_cli_next_command(const mishap_app *app,
                                                const mishap_operation *before)
{
    const mishap_operation *next = before ? before + 1 : app->operations;
    if (!before || !is_builtin(before)) {
        if (next && next->name)
            return next;
        next = mishap_cli_builtins;
    }
    while (next->name && replaces(app->operations, next->name))
        next++;
    return next->name ? next : NULL;
}

bool mishap_cli_is_common(const mishap_param *flag)
{
    for (const mishap_param *p = mishap_cli_flags; p->name; p++)
        if (p == flag)
            return true;
    return false;
}

bool mishap_cli_has_param(const mishap_operation *operation, const char *name)
{
    for (const mishap_param *p = operation ? operation->params : NULL; p && p->name; p++)
        if (mishap_cli_spells(name, strlen(name), p->name))
            return true;
    return false;
}

static bool is_in(const mishap_param *list, const mishap_param *flag)
{
    while (list->name && list != flag)
        list++;
    return list->name;
}

static bool has_sessions(const mishap_operation *operation)
{
    return operation->service && operation->service->worker &&
           operation->service->worker->sessions && operation->route;
}

/* A task is stored with its call, and secrets are not stored. */
static bool may_detach(const mishap_operation *operation)
{
    return mishap_cli_detach && operation->task && !operation->headers &&
           !mishap_params_have_secret(operation->params);
}

static bool is_about(const mishap_operation *operation, const mishap_param *flag)
{
    return strcmp(flag->name, "caller") == 0    ? mishap_caller_may_name(operation)
           : strcmp(flag->name, "answers") == 0 ? operation->asks != NULL
           : strcmp(flag->name, "server") == 0  ? has_sessions(operation)
           : strcmp(flag->name, "detach") == 0 || strcmp(flag->name, "task_store") == 0
               ? may_detach(operation)
           : strcmp(flag->name, "to") == 0   ? operation->answers_type != NULL
           : strcmp(flag->name, "data") == 0 ? operation->operator_only
           : strcmp(flag->name, "log") == 0  ? operation->operator_only
                                             : operation->takes != NULL;
}

/* A parameter of the same name takes precedence. */
static bool has_flag(const mishap_operation *operation, const mishap_param *flag)
{
    if (is_in(mishap_cli_bytes_flags, flag) && !(operation && is_about(operation, flag)))
        return false;
    return !mishap_cli_has_param(operation, flag->name);
}

const mishap_param *mishap_cli_next_own(const mishap_operation *operation,
                                        const mishap_param *before)
{
    const mishap_param *next = before ? before + 1 : operation ? operation->params : NULL;
    if (!before || !is_in(mishap_cli_bytes_flags, before)) {
        if (next && next->name)
            return next;
        next = mishap_cli_bytes_flags;
    }
    while (next->name && !has_flag(operation, next))
        next++;
    return next->name ? next : NULL;
}

const mishap_param *mishap_cli_next_flag(const mishap_operation *operation,
                                         const mishap_param *before)
{
    const mishap_param *next;
    if (!before || !mishap_cli_is_common(before)) {
        next = mishap_cli_next_own(operation, before);
        if (next)
            return next;
        next = mishap_cli_flags;
    } else {
        next = before + 1;
    }
    while (next->name && !has_flag(operation, next))
        next++;
    return next->name ? next : NULL;
}

char mishap_cli_letter(const mishap_operation *operation, const mishap_param *flag)
{
    if (operation && operation->params && mishap_cli_is_common(flag))
        for (const mishap_param *p = operation->params; p->name; p++)
            if (p->letter == flag->letter)
                return 0;
    return flag->letter;
}

/* -- spelling ---------------------------------------------------------------------------------- */

void mishap_cli_put_command(mishap_buffer *buffer, const char *operation_name)
{
    for (const char *c = operation_name; *c; c++)
        mishap_buffer_put_char(buffer, *c == '.' ? ' ' : *c);
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* True if a word begins with this capital. The capitals in userID are one word. */
static bool begins_word(const char *name, const char *at)
{
    return at > name && is_capital(*at) && (!is_capital(at[-1]) || (at[1] >= 'a' && at[1] <= 'z'));
}

void mishap_cli_put_flag(mishap_buffer *buffer, const char *param_name)
{
    for (const char *c = param_name; *c; c++) {
        if (begins_word(param_name, c))
            mishap_buffer_put_char(buffer, '-');
        mishap_buffer_put_char(buffer, *c == '_' ? '-' : is_capital(*c) ? (char)(*c + 32) : *c);
    }
}

bool mishap_cli_spells(const char *flag, size_t length, const char *param_name)
{
    const char *at = flag, *end = flag + length, *c = param_name;
    if (strlen(param_name) == length && memcmp(flag, param_name, length) == 0)
        return true;
    for (; at < end && *c; at++, c++) {
        if (begins_word(param_name, c) && (*at == '-' || *at == '_'))
            at++;
        else if (begins_word(param_name, c))
            return false;
        char wanted = is_capital(*c) ? (char)(*c + 32) : *c;
        if (at == end || (*at != wanted && !(*at == '-' && *c == '_')))
            return false;
    }
    return at == end && !*c;
}

/* -- which one is meant ------------------------------------------------------------------------ */

/* True if the word is the segment of the name up to a dot or its end. An underscore may be written
 * as a hyphen. */
static bool is_segment(const char *word, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (word[i] != name[i] && !(word[i] == '-' && name[i] == '_'))
            return false;
    return word[length] == '\0';
}

/* How many of the words spell the name; 0 if they do not. No name starts like a flag. */
static size_t words_of_name(const char *name, const char *const *words, size_t count)
{
    for (size_t used = 0; used < count; used++) {
        size_t length = strcspn(name, ".");
        if (!is_segment(words[used], name, length))
            return 0;
        if (!name[length])
            return used + 1;
        name += length + 1;
    }
    return 0;
}

const mishap_operation *mishap_cli_find(const mishap_app *app, const char *const *words,
                                        size_t count, size_t *used)
{
    const mishap_operation *found = NULL;
    *used = 0;
    for (const mishap_operation *o = app->operations; o && o->name; o++) {
        size_t length = words_of_name(o->name, words, count);
        if (length > *used) {
            found = o;
            *used = length;
        }
    }
    return found;
}

/* -- groups ------------------------------------------------------------------------------------ */

bool mishap_cli_is_in_group(const mishap_operation *operation, mishap_text group)
{
    return strncmp(operation->name, group.data, group.length) == 0 &&
           operation->name[group.length] == '.';
}

/* How many bytes of a name the words spell, if the name continues behind them; else 0. */
static size_t beginning_of_name(const char *name, const char *const *words, size_t count)
{
    const char *at = name;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(at, ".");
        if (!is_segment(words[i], at, length) || !at[length])
            return 0;
        at += length + 1;
    }
    return count ? (size_t)(at - name) - 1 : 0;
}

mishap_text mishap_cli_group(const mishap_app *app, const char *const *words, size_t count)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++) {
        size_t length = beginning_of_name(o->name, words, count);
        if (length)
            return (mishap_text){ o->name, length };
    }
    return (mishap_text){ NULL, 0 };
}

bool mishap_cli_put_asked(mishap_buffer *b, const mishap_app *app, const char *const *words,
                          size_t count)
{
    enum { LONGEST_SHOWN = 60 };
    size_t used = 1;
    while (used < count && words[used][0] != '-' && mishap_cli_group(app, words, used).data)
        used++;
    for (size_t i = 0; i < used; i++) {
        size_t length = strlen(words[i]);
        if (!length || length > LONGEST_SHOWN ||
            strspn(words[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") <
                length)
            return false;
        mishap_cli_put(b, i ? " " : "");
        mishap_cli_put(b, words[i]);
    }
    mishap_buffer_put_char(b, '\0');
    return !b->failed;
}

/* -- what may have been meant ------------------------------------------------------------------ */

const char *mishap_cli_nearest(const char *word, const char *const *names)
{
    mishap_guess guess = { .word = mishap_text_of(word) };
    for (; *names; names++)
        mishap_guess_weigh(&guess, mishap_text_of(*names));
    return guess.name.data;
}
