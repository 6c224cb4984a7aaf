/*
 * Help for people: how to call it, what each option means, examples, exit codes. Only headings are
 * coloured.
 */
#include "cli/manual/describe.h"
#include "cli/manual/manual.h"
#include "cli/manual/page.h"

/* -- options ----------------------------------------------------------------------------------- */

enum part { ARGUMENTS, OWN_OPTIONS, COMMON_OPTIONS };

static enum part part_of(const mishap_param *param)
{
    return mishap_cli_is_common(param)        ? COMMON_OPTIONS
           : param->positional || param->rest ? ARGUMENTS
                                              : OWN_OPTIONS;
}

static void put_option_left(mishap_cli_page *page, const mishap_operation *operation,
                            const mishap_param *param)
{
    mishap_buffer *b = &page->left;
    char letter = mishap_cli_letter(operation, param);
    if (part_of(param) == ARGUMENTS) {
        mishap_cli_put(b, param->rest ? "-- " : "");
        mishap_cli_put_placeholder(b, param);
        MISHAP_PUT(b, ", --");
        mishap_cli_put_flag(b, param->name);
        if (letter) {
            MISHAP_PUT(b, ", -");
            mishap_buffer_put_char(b, letter);
        }
        return;
    }
    mishap_cli_put(b, letter ? "-" : "    ");
    if (letter) {
        mishap_buffer_put_char(b, letter);
        MISHAP_PUT(b, ", ");
    }
    mishap_cli_put_flag_and_value(b, param);
}

static size_t option_column(mishap_cli_page *page, const mishap_operation *operation)
{
    size_t column = MISHAP_CLI_LEAST_COLUMN;
    const mishap_param *param = NULL;
    while ((param = mishap_cli_next_flag(operation, param))) {
        put_option_left(page, operation, param);
        mishap_cli_page_widen(page, &column);
    }
    return column;
}

static void put_options(mishap_cli_page *page, const mishap_operation *operation, enum part part,
                        const char *heading)
{
    size_t column = option_column(page, operation);
    bool headed = false;
    const mishap_param *param = NULL;
    while ((param = mishap_cli_next_flag(operation, param))) {
        if (part_of(param) != part)
            continue;
        if (!headed)
            mishap_cli_page_heading(page, heading);
        headed = true;
        put_option_left(page, operation, param);
        mishap_cli_put_about(&page->right, param, false);
        mishap_cli_page_entry(page, column);
    }
}

/* -- one operation ----------------------------------------------------------------------------- */

/* The required flags, then one word for the rest. A flag and its value stay on one line. */
static void put_usage(mishap_cli_page *page, const mishap_operation *operation)
{
    mishap_buffer *b = &page->left;
    mishap_cli_put(b, page->app->name);
    MISHAP_PUT(b, " ");
    mishap_cli_put_command(b, operation->name);
    for (const mishap_param *param = operation->params; param && param->name; param++) {
        if (!param->required || param->positional || param->rest || param->environment)
            continue;
        MISHAP_PUT(b, " ");
        size_t start = b->length;
        mishap_cli_put_flag_and_value(b, param);
        for (size_t i = start; i < b->length; i++)
            if (b->data[i] == ' ')
                b->data[i] = MISHAP_CLI_NO_BREAK;
    }
    MISHAP_PUT(b, " [OPTIONS]");
    mishap_cli_put_places(b, operation);
    mishap_cli_page_bold(page, (mishap_text)MISHAP_TEXT("Usage:"));
    MISHAP_PUT(page->out, " ");
    mishap_cli_page_wrap(page, mishap_cli_page_text(page, b), 7, 9, "");
    mishap_buffer_reset(b);
}

/* A command line that can only be broken between its words, not inside of quoted text. */
static void put_unbroken(mishap_buffer *b, const char *command)
{
    char quote = 0;
    for (const char *c = command; *c; c++) {
        bool escaped = *c == '\\' && quote != '\'' && c[1];
        if (escaped)
            mishap_buffer_put_char(b, *c++);
        else if (!quote && (*c == '"' || *c == '\''))
            quote = *c;
        else if (*c == quote)
            quote = 0;
        mishap_buffer_put_char(b, (quote || escaped) && *c == ' ' ? MISHAP_CLI_NO_BREAK : *c);
    }
}

/* It can be pasted: a broken line ends with a backslash. */
static void put_command_line(mishap_cli_page *page, const char *command)
{
    mishap_cli_put(&page->left, page->app->name);
    MISHAP_PUT(&page->left, " ");
    put_unbroken(&page->left, command);
    MISHAP_PUT(page->out, "    ");
    mishap_cli_page_wrap(page, mishap_cli_page_text(page, &page->left), 4, 8, " \\");
    mishap_buffer_reset(&page->left);
}

static void put_examples(mishap_cli_page *page, const mishap_operation *operation)
{
    if (!operation->examples || !operation->examples->command)
        return;
    mishap_cli_page_heading(page, "Examples");
    for (const mishap_example *example = operation->examples; example->command; example++) {
        if (example->what) {
            MISHAP_PUT(page->out, "  ");
            mishap_cli_page_wrap(page, mishap_text_of(example->what), 2, 2, "");
        }
        put_command_line(page, example->command);
    }
}

static void put_exit_left(mishap_cli_page *page, const mishap_exit *row)
{
    mishap_buffer *b = &page->left;
    mishap_cli_put(b, row->code < 10 ? "  " : row->code < 100 ? " " : "");
    mishap_buffer_put_int(b, row->code);
    MISHAP_PUT(b, "  ");
    mishap_cli_put(b, row->name);
}

static void put_exits(mishap_cli_page *page, const mishap_operation *operation)
{
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    size_t count = mishap_cli_exits(page->app, operation, exits, MISHAP_CLI_MOST_EXITS),
           column = MISHAP_CLI_LEAST_COLUMN;
    mishap_cli_page_heading(page, "Exit codes");
    for (size_t i = 0; i < count; i++) {
        put_exit_left(page, &exits[i]);
        mishap_cli_page_widen(page, &column);
    }
    for (size_t i = 0; i < count; i++) {
        put_exit_left(page, &exits[i]);
        mishap_cli_put(&page->right, exits[i].description);
        if (exits[i].retryable)
            MISHAP_PUT(&page->right, " The command can be retried.");
        mishap_cli_page_entry(page, column);
    }
}

/* Where data is stored, with the names of this program. */
static void put_data_folder(mishap_cli_page *page, const mishap_operation *operation)
{
    char variable[64], words[400];
    const char *flag = mishap_cli_has_param(operation, "data") ? "that --data names, else " : "";
    if (!mishap_cli_keeps_data(operation))
        return;
    mishap_system_variable(page->app->name, "DATA", variable, sizeof variable);
    snprintf(words, sizeof words,
             "Data is stored in the folder %sthat %s names, by default in ~/.local/share/%.100s.",
             flag, variable, page->app->name);
    mishap_cli_page_paragraphs(page, words);
}

/* A command that keeps running may have no person at a terminal who reads its failures. */
static void put_log_file(mishap_cli_page *page, const mishap_operation *operation)
{
    char variable[64], words[400];
    if (!operation->resident)
        return;
    mishap_system_variable(page->app->name, "LOG", variable, sizeof variable);
    snprintf(words, sizeof words,
             "Failures are logged to the file that %s names, by default to "
             "~/.local/state/%.100s/%.100s.log.",
             variable, page->app->name, page->app->name);
    mishap_cli_page_paragraphs(page, words);
}

static void put_rules(mishap_cli_page *page, const mishap_operation *operation)
{
    mishap_buffer rules = { 0 };
    mishap_cli_put_rules(&rules, operation);
    if (rules.length && !rules.failed)
        mishap_cli_page_paragraphs(page, rules.data);
    mishap_buffer_release(&rules);
}

static void put_operation(mishap_cli_page *page, const mishap_operation *operation)
{
    put_usage(page, operation);
    mishap_cli_page_paragraphs(page, operation->summary);
    mishap_cli_page_paragraphs(page, operation->description);
    put_rules(page, operation);
    if (mishap_operation_danger(operation) == MISHAP_DESTRUCTIVE)
        mishap_cli_page_paragraphs(page, "This command can destroy data.");
    put_data_folder(page, operation);
    put_log_file(page, operation);
    put_options(page, operation, ARGUMENTS, "Arguments");
    put_options(page, operation, OWN_OPTIONS, "Options");
    put_options(page, operation, COMMON_OPTIONS, "Options of every command");
    put_examples(page, operation);
    put_exits(page, operation);
}

/* -- the program ------------------------------------------------------------------------------- */

static void put_command_left(mishap_cli_page *page, const mishap_operation *operation)
{
    mishap_cli_put_command(&page->left, operation->name);
    mishap_cli_put_places(&page->left, operation);
}

static void put_command(mishap_cli_page *page, const mishap_operation *operation, size_t column)
{
    put_command_left(page, operation);
    mishap_cli_put(&page->right, operation->summary);
    mishap_cli_page_entry(page, column);
}

/* The heading of a command: its group, or else its first word, if it has several. */
static mishap_text heading_of(const mishap_operation *operation)
{
    const char *dot = strchr(operation->name, '.');
    if (operation->group && operation->group[0])
        return mishap_text_of(operation->group);
    return dot ? (mishap_text){ operation->name, (size_t)(dot - operation->name) }
               : (mishap_text)MISHAP_TEXT("commands");
}

static char capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static bool same_heading(mishap_text a, mishap_text b)
{
    return a.length == b.length && capital(a.data[0]) == capital(b.data[0]) &&
           memcmp(a.data + 1, b.data + 1, a.length - 1) == 0;
}

static bool headed_before(const mishap_app *app, const mishap_operation *operation)
{
    for (const mishap_operation *o = app->operations; o != operation; o++)
        if (same_heading(heading_of(o), heading_of(operation)))
            return true;
    return false;
}

/* Commands under their headings, each heading once, in the order of declaration. */
static void put_groups(mishap_cli_page *page, size_t column)
{
    for (const mishap_operation *first = page->app->operations; first && first->name; first++) {
        if (headed_before(page->app, first))
            continue;
        mishap_text heading = heading_of(first);
        mishap_buffer_put_char(&page->right, capital(heading.data[0]));
        mishap_buffer_put(&page->right, heading.data + 1, heading.length - 1);
        mishap_buffer_put_char(page->out, '\n');
        mishap_cli_page_bold(page, mishap_cli_page_text(page, &page->right));
        MISHAP_PUT(page->out, ":\n");
        mishap_buffer_reset(&page->right);
        for (const mishap_operation *o = first; o->name; o++)
            if (same_heading(heading_of(o), heading))
                put_command(page, o, column);
    }
}

static bool is_own(const mishap_app *app, const mishap_operation *operation)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (o == operation)
            return true;
    return false;
}

/* PROGRAM COMMAND, or PROGRAM GROUP COMMAND. No data: no group. */
static void put_call(mishap_buffer *b, const mishap_cli_page *page, mishap_text group)
{
    mishap_cli_put(b, page->app->name);
    mishap_cli_put(b, group.length ? " " : "");
    for (size_t i = 0; i < group.length; i++)
        mishap_buffer_put_char(b, group.data[i] == '.' ? ' ' : group.data[i]);
    MISHAP_PUT(b, " COMMAND");
}

static void put_usage_of_many(mishap_cli_page *page, mishap_text group)
{
    mishap_cli_page_bold(page, (mishap_text)MISHAP_TEXT("Usage:"));
    MISHAP_PUT(page->out, " ");
    put_call(page->out, page, group);
    MISHAP_PUT(page->out, " [OPTIONS]\n");
}

static void put_further(mishap_cli_page *page, mishap_text group)
{
    MISHAP_PUT(&page->right, "Run `");
    put_call(&page->right, page, group);
    MISHAP_PUT(&page->right, " --help` to read about one command.");
    mishap_buffer_put_char(page->out, '\n');
    mishap_cli_page_wrap(page, mishap_cli_page_text(page, &page->right), 0, 0, "");
}

static void put_program(mishap_cli_page *page)
{
    const mishap_operation *operation = NULL;
    size_t column = MISHAP_CLI_LEAST_COLUMN;
    bool headed = false;
    while ((operation = mishap_cli_next_command(page->app, operation))) {
        put_command_left(page, operation);
        mishap_cli_page_widen(page, &column);
    }
    put_usage_of_many(page, (mishap_text){ NULL, 0 });
    mishap_cli_page_paragraphs(page, page->app->summary);
    put_groups(page, column);
    while ((operation = mishap_cli_next_command(page->app, operation))) {
        if (is_own(page->app, operation))
            continue;
        if (!headed)
            mishap_cli_page_heading(page, "Built-in commands");
        headed = true;
        put_command(page, operation, column);
    }
    put_options(page, NULL, COMMON_OPTIONS, "Options of every command");
    put_further(page, (mishap_text){ NULL, 0 });
}

/* -- the commands of one group ----------------------------------------------------------------- */

static void put_group(mishap_cli_page *page, mishap_text group)
{
    size_t column = MISHAP_CLI_LEAST_COLUMN;
    const mishap_operation *o, *all = page->app->operations;
    put_usage_of_many(page, group);
    mishap_cli_page_heading(page, "Commands");
    for (o = all; o->name; o++) {
        if (mishap_cli_is_in_group(o, group)) {
            put_command_left(page, o);
            mishap_cli_page_widen(page, &column);
        }
    }
    for (o = all; o->name; o++)
        if (mishap_cli_is_in_group(o, group))
            put_command(page, o, column);
    put_further(page, group);
}

/* -- all of it --------------------------------------------------------------------------------- */

void mishap_cli_put_help(mishap_buffer *buffer, const mishap_app *app,
                         const mishap_operation *operation, bool color)
{
    mishap_cli_page page = { .out = buffer, .app = app, .color = color };
    if (operation)
        put_operation(&page, operation);
    else
        put_program(&page);
    mishap_cli_page_finish(&page);
}

void mishap_cli_put_help_of(mishap_buffer *buffer, const mishap_app *app, mishap_text group,
                            bool color)
{
    mishap_cli_page page = { .out = buffer, .app = app, .color = color };
    put_group(&page, group);
    mishap_cli_page_finish(&page);
}
