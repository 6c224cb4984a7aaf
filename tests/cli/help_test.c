/* Help and the manual page: the bytes of a small program, and what must hold for any. */
#include "cli/manual/describe.h"
#include "cli/manual/manual.h"
#include "sample_app.h"
#include "testing.h"

#define COMMON_OPTIONS                                                                             \
    "      --output text|json    Output format; the default is json when standard\n"               \
    "                            output is not a terminal\n"                                       \
    "      --dialect NAME        Print a failure in this error format instead of the\n"            \
    "                            envelope (one of condition-report, cli-envelope,\n"               \
    "                            artifact, http-api, tool-result, problem, json-rpc,\n"            \
    "                            google-rpc, json-api, graphql and canonical)\n"                   \
    "      --timeout-ms INTEGER  Timeout in milliseconds (1 to 86400000)\n"                        \
    "  -v, --verbose             Print all details of a failure to standard error\n"               \
    "  -h, --help                Show help and exit\n"                                             \
    "      --version             Show the version and exit\n"

static const char small_help[] =
    "Usage: directory COMMAND [OPTIONS]\n"
    "\n"
    "A directory of people\n"
    "\n"
    "Users:\n"
    "  users create      Create a user\n"
    "\n"
    "Built-in commands:\n"
    "  help [COMMAND]    Show help for the program or for a command\n"
    "  manifest          Show all commands, flags and exit codes as JSON\n"
    "  completion SHELL  Print a completion script for a shell\n"
    "  manual            Print the manual page\n"
    "\n"
    "Options of every command:\n" COMMON_OPTIONS "\n"
    "Run `directory COMMAND --help` to read about one command.\n";

static const char small_create[] =
    "Usage: directory users create --name TEXT --email TEXT [OPTIONS]\n"
    "\n"
    "Create a user\n"
    "\n"
    "Options:\n"
    "      --name TEXT           Full name (required; 1 to 200 characters)\n"
    "      --age INTEGER         0 to 150\n"
    "  -e, --email TEXT          Required; matches .*@.*\\..*\n"
    "\n"
    "Options of every command:\n" COMMON_OPTIONS "\n"
    "Exit codes:\n"
    "    0  SUCCESS        The command succeeded.\n"
    "    1  GENERAL_ERROR  The command failed; no other exit code applies.\n"
    "    2  ARG_ERROR      The arguments are not valid; nothing was done.\n"
    "    4  PRECONDITION   A precondition does not hold; nothing was done.\n"
    "    6  CONFLICT       The command conflicts with existing data "
    "(ALREADY_EXISTS).\n"
    "   10  TIMEOUT        The command exceeded its timeout.\n"
    "  130  INTERRUPTED    The command was interrupted by SIGINT.\n"
    "  143  TERMINATED     The command was terminated by SIGTERM.\n";

static void a_small_program_is_described_like_this(void **state)
{
    (void)state;
    char *program = help_of(&small_app, NULL, false),
         *operation = help_of(&small_app, "users.create", false);
    assert_string_equal(program, small_help);
    assert_string_equal(operation, small_create);
    free(program);
    free(operation);
}

/* -- any page ---------------------------------------------------------------------------------- */

static size_t width_of(const char *line, size_t length)
{
    return mishap_utf8_count((mishap_text){ line, length });
}

/* At most 80 columns, or one word alone in its column; no blank at its end; nothing that a terminal
 * would act on. */
static void assert_lines_are_good(const char *text)
{
    mishap_text all = mishap_text_of(text);
    assert_int_equal(mishap_utf8_valid_length(all), all.length);
    assert_int_equal(text[all.length - 1], '\n');
    assert_null(strstr(text, "\n\n\n"));
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), last = length;
        while (last && line[last - 1] != ' ')
            last--;
        if (length && line[length - 1] == ' ')
            fail_msg("a blank ends: %.*s", (int)length, line);
        if (width_of(line, length) > 80 && last >= 2 && line[last - 2] != ' ')
            fail_msg("too long: %.*s", (int)length, line);
        for (size_t i = 0; i < length; i++)
            assert_true((unsigned char)line[i] >= ' ' && line[i] != 127);
        line += length + 1;
    }
}

/* Is a word there, with nothing of a word around it? */
static bool mentions(const char *text, const char *word)
{
    static const char in_words[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !strchr(in_words, at[-1])) &&
            (!at[length] || !strchr(in_words, at[length])))
            return true;
    return false;
}

static void assert_mentions(const char *text, const char *word)
{
    if (!mentions(text, word))
        fail_msg("`%s` is missing in:\n%s", word, text);
}

static void assert_flag_is_described(const char *text, const mishap_operation *operation,
                                     const mishap_param *param)
{
    mishap_buffer flag = { 0 };
    char letter[] = { '-', mishap_cli_letter(operation, param), '\0' };
    mishap_buffer_add(&flag, "--", 2);
    mishap_cli_put_flag(&flag, param->name);
    mishap_buffer_add(&flag, "", 1);
    assert_mentions(text, flag.data);
    mishap_buffer_release(&flag);
    if (letter[1])
        assert_mentions(text, letter);
    if (param->environment)
        assert_mentions(text, param->environment);
    if (param->placeholder)
        assert_mentions(text, param->placeholder);
    for (size_t i = 0; param->choices && param->choices[i]; i++)
        if (!strchr(param->choices[i], ' '))
            assert_mentions(text, param->choices[i]);
    for (const mishap_param *member = param->members; member && member->name; member++)
        assert_mentions(text, member->name);
}

static void the_help_of_every_command_is_complete(void **state)
{
    (void)state;
    for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(&large_app, o));) {
        mishap_buffer buffer = { 0 };
        mishap_exit exits[MISHAP_CLI_MOST_EXITS];
        mishap_cli_put_help(&buffer, &large_app, o, false);
        mishap_buffer_add(&buffer, "", 1);
        assert_false(buffer.failed);
        assert_lines_are_good(buffer.data);
        assert_non_null(strstr(buffer.data, o->summary));
        for (const mishap_param *p = NULL; (p = mishap_cli_next_flag(o, p));)
            assert_flag_is_described(buffer.data, o, p);
        size_t count = mishap_cli_exits(NULL, o, exits, MISHAP_CLI_MOST_EXITS);
        for (size_t i = 0; i < count; i++)
            assert_mentions(buffer.data, exits[i].name);
        mishap_buffer_release(&buffer);
    }
}

static void the_rules_of_parameters_are_in_words(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "  -c, --count INTEGER            How many (0 to 150; default: 5)\n",
        "      --least INTEGER            A lower bound only (at least 3)\n",
        "      --most NUMBER              An upper bound only (at most 2.5)\n",
        "      --ratio NUMBER             Default: 0.25; or from $SAMPLE_RATIO\n",
        "      --level LEVEL              One of one, two, three, four, five and six\n",
        "      --formats csv|json         Each: csv or json; repeat it, or give a JSON\n"
        "                                 array\n",
        "      --size TEXT                Größe, Grüße und «Straßen» — überall dort, wo\n"
        "                                 es schön ist, öfter zu verweilen\n",
        "      --extra JSON               Anything else (a JSON object)\n",
        "      --key @FILE                Secret: only from @FILE or - (standard input)\n",
        "zip (string;\n"
        "                                 exactly 5 characters), kind (csv or json),\n"
        "                                 place (object with latitude (number; required;\n"
        "                                 -90 to 90), longitude (number; required; -180\n",
        "default: true; off with\n"
        "                                 --no-color-output)\n",
        "    sample-tool items create --title 'A very long title with many words in it' \\\n"
        "        --role admin --count 12 --note \"more words here\" --address \\\n"
        "        '{\"street\":\"Main Street\"}' --password @secret\n",
    };
    char *help = help_of(&large_app, "items.create", false);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(help, lines[i]))
            fail_msg("missing: %s\nin:\n%s", lines[i], help);
    free(help);
    help = help_of(&large_app, "items.import", false);
    assert_int_equal(
        strncmp(help, "Usage: sample-tool items import [OPTIONS] csv|json FILE [LIMIT]\n", 64), 0);
    assert_non_null(strstr(
        help, "Arguments:\n  csv|json, --format        How the file is laid out (required)\n"));
    free(help);
    help = help_of(&large_app, "items.remove", false);
    assert_non_null(strstr(help, "This command can destroy data."));
    free(help);
}

/* The line of one parameter, with what stands for its value before it; in words and for the
 * manifest. */
static void a_parameter_is_described_like_this(void **state)
{
    (void)state;
    static const char *const two[] = { "a", "b", NULL };
    static const mishap_param item = { .name = "item", .type = MISHAP_OBJECT },
                              deep = { "deep", MISHAP_ARRAY, .items = &item };
    static const struct {
        mishap_param param;
        const char *flag, *about, *rules;
    } cases[] = {
        { { "x", MISHAP_STRING, .length = { 0, 9 } },
          "--x TEXT",
          "At most 9 characters",
          "At most 9 characters" },
        { { "x", MISHAP_STRING, .length = { 1, 0 } },
          "--x TEXT",
          "At least 1 character",
          "At least 1 character" },
        { { "x", MISHAP_STRING, .length = { 1, 1 }, .help = "H" },
          "--x TEXT",
          "H (exactly 1 character)",
          "H (exactly 1 character)" },
        { { "x", MISHAP_INTEGER, .range = { -5, -5 } }, "--x INTEGER", "Exactly -5", "Exactly -5" },
        { { "x", MISHAP_NUMBER, .range = { 0.1, 1e300 } },
          "--x NUMBER",
          "0.1 to 1e+300",
          "0.1 to 1e+300" },
        { { "x", MISHAP_INTEGER, .range = { 0, INFINITY }, .initial = "1" },
          "--x INTEGER",
          "At least 0; default: 1",
          "At least 0" },
        { { "x", MISHAP_INTEGER, .range = { -INFINITY, INFINITY } }, "--x INTEGER", "", "" },
        { { "x", MISHAP_STRING, .initial = "\"\"", .help = "H" },
          "--x TEXT",
          "H (default: \"\")",
          "H" },
        { { "x", MISHAP_STRING, .initial = "\"a \\\" b\"", .help = "H" },
          "--x TEXT",
          "H (default: \"a \\\" b\")",
          "H" },
        { { "x", MISHAP_BOOLEAN, .positional = true }, "--x X", "", "" },
        { { "a_b", MISHAP_BOOLEAN, .initial = "true" },
          "--a-b",
          "Default: true; off with --no-a-b",
          "" },
        { { "x", MISHAP_ENUM, .choices = two, .required = true }, "--x a|b", "Required", "" },
        { { "x", MISHAP_ENUM, .choices = two, .placeholder = "Y" }, "--x Y", "One of a and b", "" },
        { { "x", MISHAP_STRING, .length = { 1, 255 } },
          "--x TEXT",
          "1 to 255 characters",
          "1 to 255 characters" },
        { { "x", MISHAP_STRING, .length = { 1, 256 } }, "--x TEXT", "", "1 to 256 characters" },
        { { "x", MISHAP_STRING, .length = { 2, 256 } },
          "--x TEXT",
          "2 to 256 characters",
          "2 to 256 characters" },
        { { "x", MISHAP_STRING, .pattern = "^a$" }, "--x TEXT", "Matches ^a$", "Matches ^a$" },
        { { "x", MISHAP_STRING, .pattern = "^a$", .placeholder = "A" },
          "--x A",
          "",
          "Matches ^a$" },
        { { "x", MISHAP_STRING, .file = true }, "--x FILE", "", "" },
        { { "x", MISHAP_STRING, .secret = true, .environment = "E" },
          "--x @FILE",
          "Secret: only from $E, @FILE or - (standard input)",
          "Secret: only from $E, @FILE or - (standard input)" },
        { { "x", MISHAP_INTEGER, .range = { 0, 9e15 } },
          "--x INTEGER",
          "0 to 9000000000000000",
          "0 to 9000000000000000" },
        { { "x", MISHAP_ARRAY, .letter = 0 },
          "--x JSON",
          "A JSON array; repeated, each value is a string",
          "A JSON array; repeated, each value is a string" },
        { { "x", MISHAP_ARRAY, .items = &deep },
          "--x JSON",
          "Each: array (each: object); repeat it, or give a JSON array",
          "Each: array (each: object); repeat it, or give a JSON array" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_buffer b = { 0 };
        mishap_cli_put_flag_and_value(&b, &cases[i].param);
        mishap_buffer_put_char(&b, '\0');
        size_t about = b.length;
        mishap_cli_put_about(&b, &cases[i].param, false);
        mishap_buffer_put_char(&b, '\0');
        size_t rules = b.length;
        mishap_cli_put_about(&b, &cases[i].param, true);
        mishap_buffer_put_char(&b, '\0');
        assert_string_equal(b.data, cases[i].flag);
        assert_string_equal(b.data + about, cases[i].about);
        assert_string_equal(b.data + rules, cases[i].rules);
        mishap_buffer_release(&b);
    }
}

/* A list of parameters may contain itself, as a tree does; words about it must end all the same. */
static const mishap_param tree[3],
    child = { .name = "child", .type = MISHAP_OBJECT, .members = tree };
static const mishap_param tree[3] = {
    { "value", MISHAP_INTEGER, .required = true },
    { "children", MISHAP_ARRAY, .items = &child },
    { 0 },
};

static void a_parameter_that_contains_itself_is_described(void **state)
{
    (void)state;
    mishap_buffer b = { 0 };
    mishap_cli_put_about(&b, &child, false);
    mishap_buffer_put_char(&b, '\0');
    assert_string_equal(
        b.data, "A JSON object with value (integer; required), children (array; each: object with "
                "value (integer; required), children (array; each: object))");
    mishap_buffer_release(&b);
}

static void the_program_lists_its_commands_in_groups(void **state)
{
    (void)state;
    char *help = help_of(&large_app, NULL, false);
    assert_lines_are_good(help);
    const char *items = strstr(help, "\nItems:\n  items create "),
               *network = strstr(help, "\nNetwork:\n  connect ");
    const char *rest = strstr(help, "\nCommands:\n  version "),
               *own = strstr(help, "\nBuilt-in commands:\n  help [COMMAND] ");
    assert_true(items && network && rest && own);
    assert_true(items < network && network < rest && rest < own);
    /* The group that is named, and that of the first word, are one. */
    assert_null(strstr(network + 1, "\nNetwork:"));
    const char *other = strstr(
        help, "  network hosts show_all ID  Show all that is known of the hosts\n");
    assert_true(other > network && other < rest);
    free(help);
}

static void an_application_without_anything_has_help(void **state)
{
    (void)state;
    const mishap_operation none[] = { { 0 } };
    const mishap_app app = { .name = "bare", .operations = none }, barer = { .name = "barer" };
    char *help = help_of(&app, NULL, false), *page = manual_of(&barer);
    assert_lines_are_good(help);
    assert_null(strstr(help, "Commands:"));
    assert_non_null(strstr(page, ".SH COMMANDS"));
    free(help);
    free(page);
}

static void a_word_may_be_longer_than_a_line(void **state)
{
    (void)state;
    static const char word[] = "https://example.com/a/very/long/address/that/nobody/would/ever/"
                               "break/in/the/middle/of/it/all";
    const mishap_param params[] = { { "a_flag_with_a_name_that_is_longer_than_the_left_column",
                                      MISHAP_STRING, .help = word },
                                    { "b", MISHAP_STRING, .help = "" },
                                    { 0 } };
    const mishap_operation operations[] = {
        { .name = "x", .summary = word, .params = params, .group = "" }, { 0 }
    };
    const mishap_app app = { .name = "bare", .operations = operations };
    char *help = help_of(&app, "x", false), *program = help_of(&app, NULL, false);
    assert_lines_are_good(help);
    assert_lines_are_good(program);
    assert_non_null(strstr(help, word));
    assert_non_null(strstr(program, "Commands:\n  x "));
    free(help);
    free(program);
}

/* The example as the help shows it, which a shell must read like the one that was declared. */
static void assert_same_words(const char *declared)
{
    const mishap_example examples[] = { { declared, NULL }, { 0 } };
    const mishap_operation operations[] = { { .name = "x", .examples = examples }, { 0 } };
    const mishap_app app = { .name = "say", .operations = operations };
    static const char say[] = "say() { for word in \"$@\"; do printf '<%s>' \"$word\"; done; }\n";
    char command[2000];
    int status;
    char *help = help_of(&app, "x", false), *start = strstr(help, "    say "),
         *end = strstr(help, "\n\nExit codes");
    assert_true(start && end);
    if (!strstr(declared, "needs more than a line")) /* that one is a word, blanks and all */
        assert_lines_are_good(help);
    snprintf(command, sizeof command, "%s%.*s", say, (int)(end - start), start);
    char *shown = output_of(command, &status);
    snprintf(command, sizeof command, "%ssay %s", say, declared);
    char *meant = output_of(command, &status);
    assert_string_equal(shown, meant);
    free(shown);
    free(meant);
    free(help);
}

static void examples_can_be_pasted_however_long_they_are(void **state)
{
    (void)state;
    for (size_t width = 1; width < 40; width++) {
        char command[1000];
        size_t length = (size_t)snprintf(command, sizeof command, "x 'two words' ");
        for (size_t i = 0; i < 200; i++)
            command[length++] = (i + 1) % width ? 'a' : ' ';
        snprintf(command + length, sizeof command - length,
                 " \"%s\" '{\"a b\":\"it is\"}' x\\ y end", "two \\\" more");
        assert_same_words(command);
    }
    assert_same_words("x 'a quoted text of many words that is so long that it needs more than a "
                      "line of its own'");
}

/* -- colour ------------------------------------------------------------------------------------ */

static void without_escapes(char *text)
{
    char *to = text;
    for (char *c = text; *c; c++) {
        if (*c == '\033')
            c += strcspn(c, "m");
        else
            *to++ = *c;
    }
    *to = '\0';
}

static void colour_is_for_headings_and_changes_nothing_else(void **state)
{
    (void)state;
    static const char *const operations[] = { NULL, "items.create", "connect" };
    for (size_t i = 0; i < 3; i++) {
        char *plain = help_of(&large_app, operations[i], false),
             *colored = help_of(&large_app, operations[i], true);
        assert_null(strchr(plain, '\033'));
        assert_non_null(strstr(colored, "\033[1mUsage:\033[0m "));
        assert_non_null(strstr(colored, "\n\033[1mOptions of every command\033[0m:\n"));
        without_escapes(colored);
        assert_string_equal(colored, plain);
        free(plain);
        free(colored);
    }
}

/* -- the manual -------------------------------------------------------------------------------- */

/* Lines of the source start with a request only if we wrote one; nothing is left that troff would
 * take for its own. */
static void the_manual_is_escaped(void **state)
{
    (void)state;
    static const char *const requests[] = { ".TH ", ".SH ", ".SS ", ".TP",   ".B ",
                                            ".BR ", ".I ",  ".PP",  ".nf",   ".fi",
                                            ".RS ", ".RE",  ".nh",  ".ad l", NULL };
    char *page = manual_of(&large_app);
    for (const char *line = page; *line; line += strcspn(line, "\n") + 1) {
        if (*line != '.' && *line != '\'')
            continue;
        size_t i = 0;
        while (requests[i] && strncmp(line, requests[i], strlen(requests[i])) != 0)
            i++;
        if (!requests[i])
            fail_msg("no request: %.40s", line);
    }
    for (const char *c = page; *c; c++) {
        assert_true((unsigned char)*c < 128);
        if (*c == '-' && c[-1] != '\\')
            fail_msg("a bare hyphen: %.40s", c);
    }
    assert_non_null(strstr(page, "\n\\&.A second paragraph starts with a dot. \\(aqIt goes on"));
    assert_non_null(strstr(page, "it has \\ebackslashes"));
    assert_non_null(strstr(page, "Gr\\[u00F6]\\[u00DF]e"));
    assert_non_null(strstr(page, "\\[u2014]"));
    free(page);
}

static const char *const headings[] = { "NAME",     "SYNOPSIS",    "DESCRIPTION",
                                        "COMMANDS", "OPTIONS",     "ENVIRONMENT",
                                        "FILES",    "EXIT STATUS", "SEE ALSO" };

/* As the formatter shows it: all of it is there. */
static void the_manual_reads_well(void **state)
{
    (void)state;
    char path[200], command[700];
    int status;
    /* A small system may have groff without its macros: packages are unpacked without them. */
    free(output_of("groff -man -Tutf8 /dev/null 2>&1", &status));
    if (status != 0 || !installed("col"))
        skip();
    char *page = manual_of(&large_app);
    write_temporary(page, path, sizeof path);
    snprintf(command, sizeof command, "groff -man -ww -Tutf8 -rLL=200n %s >/dev/null", path);
    char *warnings = output_of(command, &status);
    assert_string_equal(warnings, "");
    assert_int_equal(status, 0);
    snprintf(command, sizeof command, "groff -man -Tutf8 -P-cbou -rLL=2000n %s | col -bx", path);
    char *text = output_of(command, &status);
    const char *at = text;
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        char line[40];
        snprintf(line, sizeof line, "\n%s\n", headings[i]);
        if (!(at = strstr(at, line)))
            fail_msg("%s is missing or in the wrong place:\n%s", headings[i], text);
    }
    static const char *const sentences[] = {
        "sample-tool - One of everything that can be declared",
        "sample-tool COMMAND [OPTIONS]",
        "How long to wait (default: 5000; or from $SAMPLE_TIMEOUT)",
        "Where to write to (matches ^[^@]+@[^@]+\\.[a-z]{2,}$)",
        "Who may see it (one of admin, guest and it's $HOME `x`; default: guest)",
        "Create something with\\everything, .dots and -hyphens",
        "--note \"more words here\" --address '{\"street\":\"Main Street\"}' --password @secret",
        "The command conflicts with existing data (ALREADY_EXISTS, LOCKED).",
        "SAMPLE_TOOL_LOG",
        "NO_COLOR",
        "TOOL_TRACE_ID",
        "SAMPLE_RATIO",
        "$XDG_STATE_HOME/sample-tool/sample-tool.log",
        "mishap-codes(7)",
        "Größe, Grüße und «Straßen» — überall dort",
    };
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (!strstr(text, sentences[i]))
            fail_msg("missing: %s\nin:\n%s", sentences[i], text);
    for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(&large_app, o));)
        for (const mishap_param *p = NULL; (p = mishap_cli_next_flag(o, p));)
            assert_flag_is_described(text, o, p);
    free(text);
    free(warnings);
    free(page);
    remove(path);
}

static mishap *nothing(mishap_call *call)
{
    return mishap_answer(call, NULL);
}

static mishap *open_nothing(const mishap_setup *setup, void **state)
{
    (void)setup;
    (void)state;
    return NULL;
}

static void the_manual_of_what_keeps_data_says_where(void **state)
{
    (void)state;
    static const mishap_service service = { .name = "store", .open = open_nothing };
    static const mishap_service without = { .name = "engine" }; /* it opens nothing */
    static const mishap_param data[] = { { "data", .type = MISHAP_STRING }, { 0 } };
    static const struct {
        mishap_operation operation;
        bool keeps;
    } cases[] = {
        { { "one", "One", NULL, nothing, .service = &service }, true },
        { { "one", "One", NULL, nothing, .service = &without }, false },
        { { "one", "One", NULL, nothing, .service = &without, .resident = true }, true },
        { { "one", "One", data, nothing, .resident = true }, true },
        { { "one", "One", data, nothing, .resident = false }, false }, /* its own affair */
        { { "one", "One", NULL, nothing, .resident = true }, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_operation operations[] = { cases[i].operation, { 0 } };
        char *page = manual_of(&(mishap_app){ .name = "my-tool", .operations = operations });
        assert_true((strstr(page, "\n.B \"MY_TOOL_DATA\"\n") != NULL) == cases[i].keeps);
        assert_true((strstr(page, "$XDG_DATA_HOME/my\\-tool/") != NULL) == cases[i].keeps);
        free(page);
    }
}

/* -- memory ------------------------------------------------------------------------------------ */

static void put_program(mishap_buffer *b)
{
    mishap_cli_put_help(b, &large_app, NULL, true);
}

static void put_operation(mishap_buffer *b)
{
    mishap_cli_put_help(b, &large_app, operation_of(&large_app, "items.create"), true);
}

static void put_manual(mishap_buffer *b)
{
    mishap_cli_put_manual(b, &large_app);
}

static void lack_of_memory_is_said(void **state)
{
    (void)state;
    assert_survives_lack_of_memory(put_program);
    assert_survives_lack_of_memory(put_operation);
    assert_survives_lack_of_memory(put_manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_small_program_is_described_like_this),
        TEST(the_help_of_every_command_is_complete),
        TEST(the_rules_of_parameters_are_in_words),
        TEST(a_parameter_is_described_like_this),
        TEST(a_parameter_that_contains_itself_is_described),
        TEST(the_program_lists_its_commands_in_groups),
        TEST(an_application_without_anything_has_help),
        TEST(a_word_may_be_longer_than_a_line),
        TEST(examples_can_be_pasted_however_long_they_are),
        TEST(colour_is_for_headings_and_changes_nothing_else),
        TEST(the_manual_is_escaped),
        TEST(the_manual_reads_well),
        TEST(the_manual_of_what_keeps_data_says_where),
        TEST(lack_of_memory_is_said),
    };
    return RUN(tests);
}
