/* Which commands and flags there are, how they are spelled, which one is meant by some words. */
#include "boundary/cli/describe.h"

/* -- the flags and the commands that all have -------------------------------------------------- */

static const char *const outputs[] = { "text", "json", NULL };

const mishap_param mishap_cli_flags[] = {
    { .name = "output",
      .type = MISHAP_ENUM,
      .choices = outputs,
      .help = "How to answer; json is the default when standard output is no terminal" },
    { .name = "timeout_ms",
      .type = MISHAP_INTEGER,
      .range = { 1, MISHAP_CLI_LONGEST_MS },
      .help = "Give up after this many milliseconds" },
    { .name = "verbose",
      .type = MISHAP_BOOLEAN,
      .letter = 'v',
      .help = "Say on standard error all that is known of a failure" },
    { .name = "help", .type = MISHAP_BOOLEAN, .letter = 'h', .help = "Show help and do nothing" },
    { .name = "version", .type = MISHAP_BOOLEAN, .help = "Show the version and do nothing" },
    { 0 },
};

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static const mishap_param help_params[] = {
    { .name = "command",
      .type = MISHAP_STRING,
      .positional = true,
      .help = "The command to read about" },
    { 0 },
};

static const mishap_param completion_params[] = {
    { .name = "shell",
      .type = MISHAP_ENUM,
      .choices = shells,
      .required = true,
      .positional = true,
      .placeholder = "SHELL",
      .help = "The shell to complete in" },
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
        if (strcmp(p->name, name) == 0)
            return true;
    return false;
}

const mishap_param *mishap_cli_next_flag(const mishap_operation *operation,
                                         const mishap_param *before)
{
    const mishap_param *own = operation ? operation->params : NULL,
                       *next = before ? before + 1 : own;
    if (!before || !mishap_cli_is_common(before)) {
        if (next && next->name)
            return next;
        next = mishap_cli_flags;
    }
    while (next->name && mishap_cli_has_param(operation, next->name))
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

void mishap_cli_put_flag(mishap_buffer *buffer, const char *param_name)
{
    for (const char *c = param_name; *c; c++)
        mishap_buffer_put_char(buffer, *c == '_' ? '-' : *c);
}

bool mishap_cli_spells(const char *flag, size_t length, const char *param_name)
{
    size_t i = 0;
    for (; i < length && param_name[i]; i++)
        if (flag[i] != param_name[i] && !(flag[i] == '-' && param_name[i] == '_'))
            return false;
    return i == length && !param_name[i];
}

/* -- which one is meant ------------------------------------------------------------------------ */

/* Is the word what stands in the name up to a dot or its end? An underscore may be written as a
 * hyphen. */
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

/* -- what may have been meant ------------------------------------------------------------------ */

enum { LONGEST_GUESS = 63 };

/* Letters without their case, and one sign for all that joins words. Only ASCII: the locale must
 * not matter. */
static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 32);
    return c == '_' || c == '.' || c == ' ' ? '-' : c;
}

static unsigned char least(size_t a, size_t b)
{
    return (unsigned char)(a < b ? a : b);
}

/* How many letters to add, drop, change or swap with a neighbour to get from one to the other. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned char rows[3][LONGEST_GUESS + 1];
    unsigned char *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = (unsigned char)j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = (unsigned char)i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = folded(a[i - 1]) == folded(b[j - 1]);
            now[j] = least(last[j - 1] + !same, least(last[j], now[j - 1]) + 1u);
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                folded(a[i - 2]) == folded(b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1u);
        }
        unsigned char *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

/* One mistake in a short word, a few in a long one; in two letters any other word would be near. */
static size_t mistakes_allowed(size_t length)
{
    return length < 3 ? 0 : length < 6 ? 1 : length < 10 ? 2 : 3;
}

static bool starts_with(const char *name, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (folded(name[i]) != folded(word[i]))
            return false;
    return true;
}

/* Letters left out, as in `srv` for `serve`: all are there in their order, from the first on, and
 * no fewer than half. */
static bool shortens(const char *name, size_t name_length, const char *word, size_t length)
{
    size_t found = 0;
    if (length < 3 || 2 * length < name_length || folded(word[0]) != folded(name[0]))
        return false;
    for (size_t i = 0; i < name_length && found < length; i++)
        found += folded(name[i]) == folded(word[found]);
    return found == length;
}

const char *mishap_cli_nearest(const char *word, const char *const *names)
{
    enum {
        A_START = 3,
        SHORTER = 5,
        NONE = 100
    }; /* twice the mistakes: the start of a name is worse than one, better than two; a name with
          letters left out is worse than both */
    size_t length = strlen(word), best = NONE;
    const char *nearest = NULL;
    if (length > LONGEST_GUESS)
        return NULL;
    for (; *names; names++) {
        size_t name_length = strlen(*names), rank = NONE;
        if (name_length > LONGEST_GUESS)
            continue;
        size_t mistakes = distance(word, length, *names, name_length);
        if (mistakes <= mistakes_allowed(length > name_length ? length : name_length))
            rank = 2 * mistakes;
        if (rank > A_START && length >= 2 && length < name_length &&
            starts_with(*names, word, length))
            rank = A_START;
        if (rank > SHORTER && shortens(*names, name_length, word, length))
            rank = SHORTER;
        if (rank < best) {
            best = rank;
            nearest = *names;
        }
    }
    return nearest;
}
