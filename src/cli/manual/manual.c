/*
 * The manual page of a program, in the language of man(7). It contains the help of each command, on
 * one page.
 *
 * Text is escaped: a backslash, a dot or quote at the start of a line and a hyphen have a meaning
 * in man(7), and some characters would be replaced by typographic variants. Characters outside of
 * ASCII are written by their number, so that the page does not depend on the encoding.
 */
#include "cli/manual/describe.h"
#include "cli/manual/manual.h"

/* -- text -------------------------------------------------------------------------------------- */

/* Decode one UTF-8 character; returns its length in bytes. A byte that is not UTF-8 stands for
 * itself. */
static size_t read_character(mishap_text text, uint32_t *character)
{
    size_t length = mishap_text_character(text, character);
    if (length == 1 && *character == MISHAP_NO_CHARACTER)
        *character = (unsigned char)text.data[0];
    return length;
}

static void put_by_number(mishap_buffer *b, uint32_t character)
{
    char number[16];
    int length = snprintf(number, sizeof number, "\\[u%04X]", (unsigned)character);
    mishap_buffer_put(b, number, (size_t)length);
}

static const char *escape_of(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    case '`':
        return "\\(ga";
    case '\'':
        return "\\(aq";
    case '"':
        return "\\(dq";
    default:
        return NULL;
    }
}

/* Text inside a line: line feeds become blanks. */
static void put_text(mishap_buffer *b, mishap_text text)
{
    while (text.length) {
        uint32_t character;
        size_t length = read_character(text, &character);
        const char *escape = character < 128 ? escape_of((char)character) : NULL;
        bool starts_line = b->length == 0 || b->data[b->length - 1] == '\n';
        if (character >= 128)
            put_by_number(b, character);
        else if (escape)
            mishap_cli_put(b, escape);
        else if (character == '.' && starts_line)
            MISHAP_PUT(b, "\\&.");
        else
            mishap_buffer_put_char(b, character < ' ' ? ' ' : (char)character);
        text.data += length;
        text.length -= length;
    }
}

/* A line, or nothing where there is no text. */
static void put_line(mishap_buffer *b, const char *text)
{
    if (text && *text) {
        text += strspn(text, " \t\n"); /* a blank at its start would break the line */
        put_text(b, mishap_text_of(text));
        MISHAP_PUT(b, "\n");
    }
}

static void put_paragraphs(mishap_buffer *b, const char *text)
{
    while (text && *text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        MISHAP_PUT(b, ".PP\n");
        put_text(b, (mishap_text){ text, length });
        MISHAP_PUT(b, "\n");
        text += length;
        text += strspn(text, "\n");
    }
}

/* A buffer for text that is composed first, and then written escaped. */
struct page {
    mishap_buffer *out;
    const mishap_app *app;
    mishap_buffer words;
};

static void put_words(struct page *page)
{
    put_text(page->out, mishap_buffer_text(&page->words));
    MISHAP_PUT(page->out, "\n");
    page->words.length = 0;
}

/* The term of an entry, in bold. */
static void put_term(struct page *page)
{
    MISHAP_PUT(page->out, ".TP\n.B \"");
    put_text(page->out, mishap_buffer_text(&page->words));
    MISHAP_PUT(page->out, "\"\n");
    page->words.length = 0;
}

static void put_entry(struct page *page, const char *term, const char *text)
{
    mishap_cli_put(&page->words, term);
    put_term(page);
    put_line(page->out, text);
}

/* -- commands ---------------------------------------------------------------------------------- */

static void put_option(struct page *page, const mishap_operation *operation,
                       const mishap_param *param)
{
    char letter = mishap_cli_letter(operation, param);
    if (param->positional || param->rest) {
        mishap_cli_put(&page->words, param->rest ? "-- " : "");
        mishap_cli_put_placeholder(&page->words, param);
        MISHAP_PUT(&page->words, ", ");
    }
    if (letter) {
        MISHAP_PUT(&page->words, "-");
        mishap_buffer_put_char(&page->words, letter);
        MISHAP_PUT(&page->words, ", ");
    }
    mishap_cli_put_flag_and_value(&page->words, param);
    put_term(page);
    mishap_cli_put_about(&page->words, param, false);
    if (page->words.length)
        put_words(page);
}

static void put_examples(struct page *page, const mishap_operation *operation)
{
    for (const mishap_example *example = operation->examples; example && example->command;
         example++) {
        MISHAP_PUT(page->out, ".PP\n");
        put_line(page->out, example->what);
        MISHAP_PUT(page->out, ".PP\n.nf\n.RS 4\n");
        mishap_cli_put(&page->words, page->app->name);
        MISHAP_PUT(&page->words, " ");
        mishap_cli_put(&page->words, example->command);
        put_words(page);
        MISHAP_PUT(page->out, ".RE\n.fi\n");
    }
}

static void put_exit(struct page *page, const mishap_exit *row)
{
    mishap_buffer_put_int(&page->words, row->code);
    MISHAP_PUT(&page->words, " ");
    mishap_cli_put(&page->words, row->name);
    put_term(page);
    mishap_cli_put(&page->words, row->description);
    if (row->retryable)
        MISHAP_PUT(&page->words, " The command can be retried.");
    put_words(page);
}

/* The exit codes of any command: those of an operation without declarations. */
static const mishap_operation any = { .danger = MISHAP_MUTATING };

/* The exit codes of a command beyond those of any command. */
static void put_own_exits(struct page *page, const mishap_operation *operation)
{
    mishap_exit exits[MISHAP_CLI_MOST_EXITS], common[MISHAP_CLI_MOST_EXITS];
    size_t count = mishap_cli_exits(page->app, operation, exits, MISHAP_CLI_MOST_EXITS);
    size_t common_count = mishap_cli_exits(NULL, &any, common, MISHAP_CLI_MOST_EXITS);
    bool begun = false;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < common_count && strcmp(common[j].description, exits[i].description) != 0)
            j++;
        if (j < common_count)
            continue;
        if (!begun)
            MISHAP_PUT(page->out, ".PP\nIts own exit codes:\n");
        begun = true;
        put_exit(page, &exits[i]);
    }
}

static void put_command(struct page *page, const mishap_operation *operation)
{
    mishap_cli_put_command(&page->words, operation->name);
    mishap_cli_put_places(&page->words, operation);
    MISHAP_PUT(page->out, ".SS \"");
    put_text(page->out, mishap_buffer_text(&page->words));
    MISHAP_PUT(page->out, "\"\n");
    page->words.length = 0;
    mishap_cli_put(&page->words, operation->summary);
    MISHAP_PUT(&page->words, ".");
    if (mishap_operation_danger(operation) == MISHAP_DESTRUCTIVE)
        MISHAP_PUT(&page->words, " This command can destroy data.");
    put_words(page);
    put_paragraphs(page->out, operation->description);
    page->words.length = 0;
    mishap_cli_put_rules(&page->words, operation);
    if (page->words.length && !page->words.failed)
        put_paragraphs(page->out, page->words.data);
    page->words.length = 0;
    for (const mishap_param *param = NULL; (param = mishap_cli_next_own(operation, param));)
        put_option(page, operation, param);
    put_examples(page, operation);
    put_own_exits(page, operation);
}

/* -- environment ------------------------------------------------------------------------------- */

/* True if a parameter before this one names the same variable. */
static bool named_before(const mishap_app *app, const mishap_param *param)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++) {
        for (const mishap_param *p = o->params; p && p->name; p++) {
            if (p == param)
                return false;
            if (p->environment && strcmp(p->environment, param->environment) == 0)
                return true;
        }
    }
    return false;
}

static bool has_data(const mishap_app *app)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (mishap_cli_keeps_data(o))
            return true;
    return false;
}

static void put_variable(struct page *page, const char *suffix, const char *text)
{
    char variable[64];
    mishap_system_variable(page->app->name, suffix, variable, sizeof variable);
    put_entry(page, variable, text);
}

static void put_environment(struct page *page)
{
    MISHAP_PUT(page->out, ".SH ENVIRONMENT\n");
    for (const mishap_operation *o = page->app->operations; o && o->name; o++) {
        for (const mishap_param *p = o->params; p && p->name; p++) {
            if (!p->environment || named_before(page->app, p))
                continue;
            mishap_cli_put(&page->words, p->environment);
            put_term(page);
            MISHAP_PUT(&page->words, "The value of --");
            mishap_cli_put_flag(&page->words, p->name);
            MISHAP_PUT(&page->words, " if the option is not given.");
            put_words(page);
        }
    }
    if (has_data(page->app))
        put_variable(page, "DATA", "The folder for persistent data, if --data is not given.");
    put_variable(page, "LOG", "The log file; if it is empty, nothing is logged.");
    put_entry(page, "NO_COLOR", "If this variable is set and not empty, the output has no colour.");
    put_entry(page, "TOOL_TRACE_ID",
              "An id that the caller chooses. The answer repeats it as meta.trace_id.");
}

/* A path below a folder of the user's: $XDG_STATE_HOME/NAME, and what follows. */
static void put_path(struct page *page, const char *folder, bool log)
{
    MISHAP_PUT(&page->words, "$");
    mishap_cli_put(&page->words, folder);
    MISHAP_PUT(&page->words, "/");
    mishap_cli_put(&page->words, page->app->name);
    MISHAP_PUT(&page->words, "/");
    if (log) {
        mishap_cli_put(&page->words, page->app->name);
        MISHAP_PUT(&page->words, ".log");
    }
    put_term(page);
}

static void put_files(struct page *page)
{
    MISHAP_PUT(page->out, ".SH FILES\n");
    put_path(page, "XDG_STATE_HOME", true);
    put_line(page->out,
             "The log of failures, for the operator only: causes, source locations and stack "
             "traces. If XDG_STATE_HOME is not set, the folder is ~/.local/state.");
    if (!has_data(page->app))
        return;
    put_path(page, "XDG_DATA_HOME", false);
    put_line(page->out,
             "The persistent data. If XDG_DATA_HOME is not set, the folder is ~/.local/share.");
}

/* -- the page ---------------------------------------------------------------------------------- */

static void put_top(struct page *page)
{
    const mishap_app *app = page->app;
    MISHAP_PUT(page->out, ".TH \"");
    put_text(page->out, mishap_text_of(app->name));
    MISHAP_PUT(page->out, "\" 1 \"\" \"");
    mishap_cli_put(&page->words, app->name);
    mishap_cli_put(&page->words, app->version ? " " : "");
    mishap_cli_put(&page->words, app->version);
    put_text(page->out, mishap_buffer_text(&page->words));
    page->words.length = 0;
    MISHAP_PUT(page->out,
               /* No hyphenation: the names are long and should stay whole. */
               "\"\n.nh\n.ad l\n.SH NAME\n");
    mishap_cli_put(&page->words, app->name);
    MISHAP_PUT(&page->words, " - ");
    mishap_cli_put(&page->words, app->summary ? app->summary : "commands");
    put_words(page);
    MISHAP_PUT(page->out, ".SH SYNOPSIS\n.B ");
    put_line(page->out, app->name);
    MISHAP_PUT(page->out, ".I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n");
    put_line(page->out, "If standard output is a terminal, the answer is text. Otherwise it is one "
                        "JSON object with the members ok, data, error, warnings and meta. The "
                        "member ok is true exactly when the exit status is 0.");
    put_paragraphs(page->out, "Options can be given anywhere after the command, as --option value "
                              "or --option=value; -- ends the options. A long value can be read "
                              "from a file, as @FILE, or from standard input, as -.");
}

static void put_exit_status(struct page *page)
{
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    size_t count = mishap_cli_exits(NULL, &any, exits, MISHAP_CLI_MOST_EXITS);
    MISHAP_PUT(page->out, ".SH \"EXIT STATUS\"\nEvery command can exit with one of these codes. "
                          "Further exit codes are listed with the command that has them.\n");
    for (size_t i = 0; i < count; i++)
        put_exit(page, &exits[i]);
}

void mishap_cli_put_manual(mishap_buffer *buffer, const mishap_app *app)
{
    struct page page = { .out = buffer, .app = app };
    const mishap_operation *operation = NULL;
    put_top(&page);
    MISHAP_PUT(buffer, ".SH COMMANDS\n");
    while ((operation = mishap_cli_next_command(app, operation)))
        put_command(&page, operation);
    MISHAP_PUT(buffer, ".SH OPTIONS\nEvery command has these options.\n");
    for (const mishap_param *flag = mishap_cli_flags; flag->name; flag++)
        put_option(&page, NULL, flag);
    put_environment(&page);
    put_files(&page);
    put_exit_status(&page);
    MISHAP_PUT(buffer, ".SH \"SEE ALSO\"\n.BR mishap\\-codes (7)\n");
    buffer->failed = buffer->failed || page.words.failed;
    mishap_buffer_release(&page.words);
}
