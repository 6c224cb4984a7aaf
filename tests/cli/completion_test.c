/*
 * Completion: what the program offers for the words that are typed, and what each shell that is
 * installed makes of it. The shells ask this test, which plays the program then.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli/manual/complete.h"
#include "cli/manual/manual.h"
#include "mishap/cli.h"
#include "sample_app.h"
#include "testing.h"

/* What is typed, with a bar before the word to complete, and what must be offered: each in angle
 * brackets. */
struct question {
    const char *typed, *offered;
};

#define COMMANDS "<items><connect><network><version><help><manifest><completion><manual>"
#define ROLES    "<admin><guest><it's $HOME `x`>"

static const struct question questions[] = {
    { "|", COMMANDS },
    { "items |", "<create><import><remove>" },
    { "network |", "<hosts>" },
    { "network hosts |", "<list><show_all>" },
    { "version |", "" },
    { "items bogus |", "" },
    { "help |", COMMANDS },
    { "help network |", "<hosts>" },
    { "completion |", "<bash><zsh><fish>" },
    { "items create --role |", ROLES },
    { "items create -r |", ROLES },
    { "items create --force --role |", ROLES },
    { "items create --output |", "<text><json>" },
    { "items create --formats |", "<csv><json>" },
    { "items create --count |", "" },
    { "items create --title |", "<FILES>" },
    { "items create --password |", "<FILES>" },
    { "items import |", "<csv><json>" },
    { "items import csv |", "<FILES>" },
    { "items import csv x |", "" },
    { "items import --limit 3 |", "<csv><json>" },
    { "items import --output json csv |", "<FILES>" },
    { "items import -v 3 |", "<csv><json>" },
    { "items import --verbose |", "" },
    { "items create --verbose |", "" },
    { "version --|", "<--output><--dialect><--timeout-ms><--verbose><--help><--version>" },
    { "items import --|",
      "<--format><--file><--limit><--report><--verbose><--output><--dialect><--timeout-ms>"
      "<--help><--version>" },
    { "items create --fo|", "<--force><--formats>" }, /* fish 4 also offers what has it inside */
    { "items create --no-|", "<--no-color-output>" },
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

/* -- asking ------------------------------------------------------------------------------------ */

/* A folder with files to complete, and the script in it. */
static char folder[200], script[300];

static void write_file(const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void set_up(const char *shell)
{
    const char *above = getenv("TMPDIR");
    char *text = completion_of(&large_app, shell);
    snprintf(folder, sizeof folder, "%s/mishap-completion-XXXXXX", above ? above : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/script", folder);
    write_file("script", text);
    write_file("fa.txt", "");
    write_file("f b.txt", "");
    free(text);
    char program[300], *self = realpath("/proc/self/exe", NULL);
    snprintf(program, sizeof program, "%s/sample-tool", folder);
    assert_non_null(self);
    assert_int_equal(symlink(self, program), 0);
    free(self);
}

static void tear_down(void)
{
    char command[300];
    int status;
    snprintf(command, sizeof command, "rm -r %s", folder);
    free(output_of(command, &status));
    assert_int_equal(status, 0);
}

/* Let a shell answer all questions at once, a line each. It starts the program for each of them,
 * and the search for leaks of the address sanitizer can take two seconds at the end of each. */
static char *answers_of(const char *shell, const char *flags, const char *program)
{
    char command[900];
    int status;
    write_file("ask", program);
    snprintf(command, sizeof command,
             "cd %s && ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 LC_ALL=C.UTF-8 HOME=%s "
             "PATH=%s:$PATH %s %s ask",
             folder, folder, folder, shell, flags);
    char *answers = output_of(command, &status);
    if (status != 0)
        fail_msg("%s ended with %d: %s", shell, status, answers);
    return answers;
}

/* Lists are the same in any order: fish sorts. */
static bool same_offers(const char *a, size_t a_length, const char *b)
{
    size_t found = 0;
    if (a_length != strlen(b))
        return false;
    for (const char *offer = b; *offer; offer += strcspn(offer, ">") + 1, found++) {
        size_t length = strcspn(offer, ">") + 1;
        if (!memmem(a, a_length, offer, length))
            return false;
    }
    return true;
}

static void assert_answers(const char *answers, const struct question *asked, size_t count)
{
    const char *line = answers;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(line, "\n");
        if (!same_offers(line, length, asked[i].offered))
            fail_msg("`%s` offers %.*s, not %s", asked[i].typed, (int)length, line,
                     asked[i].offered);
        line += length + (line[length] == '\n');
    }
    assert_string_equal(line, "");
}

/* The words of a question as arguments, in quotes: the last one is what the bar stands before. */
static void add_words(mishap_buffer *b, const char *typed)
{
    MISHAP_PUT(b, "ask sample-tool");
    for (const char *word = typed;; word++) {
        size_t length = strcspn(word, " |");
        MISHAP_PUT(b, " '");
        mishap_buffer_put(b, word, length);
        MISHAP_PUT(b, "'");
        word += length;
        if (*word == '|')
            break;
    }
    MISHAP_PUT(b, "\n");
}

static char *program_of(const char *start, const struct question *asked, size_t count)
{
    mishap_buffer b = { 0 };
    mishap_cli_put(&b, start);
    for (size_t i = 0; i < count; i++)
        add_words(&b, asked[i].typed);
    mishap_buffer_put_char(&b, '\0');
    char *program = strdup(b.data);
    mishap_buffer_release(&b);
    return program;
}

static void ask(const char *shell, const char *flags, const char *start,
                const struct question *asked, size_t count)
{
    set_up(shell);
    char *program = program_of(start, asked, count), *answers = answers_of(shell, flags, program);
    assert_answers(answers, asked, count);
    free(program);
    free(answers);
    tear_down();
}

/* -- the shells -------------------------------------------------------------------------------- */

/* Bash hands over words that are cut at = : and @. Replies come quoted for the command line; names
 * of files are quoted by bash itself. */
#define ASK_BASH                                                                                   \
    "source ./script\n"                                                                            \
    "split() {\n"                                                                                  \
    "    local word=$1\n"                                                                          \
    "    while [[ $word =~ ^([^$breaks]*)([$breaks]+)(.*)$ ]]; do\n"                               \
    "        [[ -z ${BASH_REMATCH[1]} ]] || COMP_WORDS+=(\"${BASH_REMATCH[1]}\")\n"                \
    "        COMP_WORDS+=(\"${BASH_REMATCH[2]}\")\n"                                               \
    "        word=${BASH_REMATCH[3]}\n"                                                            \
    "    done\n"                                                                                   \
    "    [[ -z $word && $1 ]] || COMP_WORDS+=(\"$word\")\n"                                        \
    "}\n"                                                                                          \
    "ask() {\n"                                                                                    \
    "    local reply line= word COMP_LINE=\"$*\" COMP_POINT COMP_WORDBREAKS=\" \"$breaks\n"        \
    "    COMP_POINT=${#COMP_LINE} COMP_WORDS=() COMPREPLY=()\n"                                    \
    "    for word; do split \"$word\"; done\n"                                                     \
    "    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"                                                  \
    "    _sample_tool \"$1\" \"\" \"\"\n"                                                          \
    "    for reply in \"${COMPREPLY[@]}\"; do\n"                                                   \
    "        [[ -e $reply ]] || eval \"reply=$reply\"\n"                                           \
    "        line+=\"<$reply>\"\n"                                                                 \
    "    done\n"                                                                                   \
    "    [[ $line == *'<fa.txt>'* && $line == *'<f b.txt>'* ]] && line='<FILES>'\n"                \
    "    echo \"$line\"\n"                                                                         \
    "}\n"

static const char ask_bash[] = ASK_BASH "breaks='=:@'\n";
static const char ask_bash_whole[] = ASK_BASH "breaks=';'\n";

static void bash_completes(void **state)
{
    (void)state;
    if (!installed("bash"))
        skip();
    ask("bash", "--norc", ask_bash, questions, QUESTIONS);
    ask("bash", "--norc", ask_bash_whole, questions, QUESTIONS);
}

/* Bash has = and @ as words of their own and replaces what follows an =. */
static void bash_completes_behind_an_equals_sign_and_an_at(void **state)
{
    (void)state;
    static const struct question others[] = {
        { "items create --role=|", ROLES },
        { "items create --role=g|", "<guest>" },
        { "items create --title @fa|", "<@fa.txt>" },
        { "items create --title @|", "<@f b.txt><@fa.txt><@script><@ask><@sample-tool>" },
        { "items create --title fa|", "<fa.txt>" },
        { "items create --title=fa|", "<fa.txt>" },
        { "items create --title=@fa|", "<@fa.txt>" },
        { "items create --title a:b=c --role=g|", "<guest>" },
        { "items import csv @f|", "<@f b.txt><@fa.txt>" },
        { "items import csv @fa.txt |", "" },
        { "items import a:b=c |", "<FILES>" },
        { "items create --force=true --role=g|", "<guest>" },
        { "items create --force=|", "<true><false>" },
        { "items create --force=t|", "<true>" },
        { "items import -- |", "<csv><json>" },
        { "items import -- --|", "" },
        { "items create --role $(touch${IFS}ran)|", "" },
        { "items create --role `touch${IFS}ran`;touch${IFS}ran|", "" },
        { "items $(touch${IFS}ran) |", "" },
    };
    if (!installed("bash"))
        skip();
    ask("bash", "--norc", ask_bash, others, sizeof others / sizeof *others);
}

/* … unless it was told not to. */
static void bash_completes_whole_words(void **state)
{
    (void)state;
    static const struct question others[] = {
        { "items create --role=|", "<--role=admin><--role=guest><--role=it's $HOME `x`>" },
        { "items create --role=g|", "<--role=guest>" },
        { "items create --title @fa|", "<@fa.txt>" },
        { "items create --title=fa|", "<--title=fa.txt>" },
        { "items create --title=@fa|", "<--title=@fa.txt>" },
    };
    if (!installed("bash"))
        skip();
    ask("bash", "--norc", ask_bash_whole, others, sizeof others / sizeof *others);
}

/* zsh's own functions for completing work only while a person types; these do the same with what
 * they are given. */
static const char ask_zsh[] =
    "_describe() { local -a list; list=(\"${(@P)@[-1]}\"); for list in $list; do add "
    "\"${list%%:*}\"; done }\n"
    "compset() { before=${words[CURRENT][1,$2]} }\n"
    "_files() { offered+='<FILES>' }\n"
    "add() { [[ $before$1 == \"${words[CURRENT]}\"* ]] && offered+=\"<$1>\" }\n"
    "source ./script\n"
    "ask() {\n"
    "    local offered= before=\n"
    "    local -a words\n"
    "    words=(\"$@\")\n"
    "    local CURRENT=$# PREFIX=$words[-1]\n"
    "    _sample_tool\n"
    "    print -r -- \"$offered\"\n"
    "}\n";

static void zsh_completes(void **state)
{
    (void)state;
    if (!installed("zsh"))
        skip();
    ask("zsh", "-f", ask_zsh, questions, QUESTIONS);
    static const struct question others[] = { { "items create --role=g|", "<guest>" },
                                              { "items create --title=|", "<FILES>" },
                                              { "items create --title @f|", "<FILES>" },
                                              { "items create --title=@f|", "<FILES>" },
                                              { "items $(touch${IFS}ran) |", "" } };
    ask("zsh", "-f", ask_zsh, others, sizeof others / sizeof *others);
}

static const char ask_fish[] =
    "source ./script\n"
    "function ask\n"
    "    set -l line ''\n"
    "    for reply in (complete -C (string join ' ' -- $argv))\n"
    "        set line \"$line<\"(string split -m 1 \\t -- $reply)[1]'>'\n"
    "    end\n"
    "    string match -q '*<fa.txt>*' -- $line; and set line '<FILES>'\n"
    "    echo $line\n"
    "end\n";

static void fish_completes(void **state)
{
    (void)state;
    if (!installed("fish"))
        skip();
    ask("fish", "-N", ask_fish, questions, QUESTIONS);
    static const struct question others[] = { { "items create --role=g|", "<--role=guest>" },
                                              { "items create --title=fa|", "<--title=fa.txt>" },
                                              { "items create --title @fa|", "<@fa.txt>" },
                                              { "items create --title=@fa|", "<--title=@fa.txt>" },
                                              { "items create -c|", "<-c>" } };
    ask("fish", "-N", ask_fish, others, sizeof others / sizeof *others);
}

/* -- the scripts ------------------------------------------------------------------------------- */

static const char *const shells[] = { "bash", "zsh", "fish" };

static void the_scripts_are_well_formed(void **state)
{
    (void)state;
    const mishap_app *apps[] = { &small_app, &large_app };
    for (size_t i = 0; i < 6; i++) {
        char path[200], command[300];
        int status;
        char *text = completion_of(apps[i % 2], shells[i / 2]);
        write_temporary(text, path, sizeof path);
        snprintf(command, sizeof command, "%s -n %s", shells[i / 2], path);
        if (installed(shells[i / 2])) {
            char *errors = output_of(command, &status);
            assert_string_equal(errors, "");
            assert_int_equal(status, 0);
            free(errors);
        }
        assert_null(strchr(text, '\033'));
        remove(path);
        free(text);
    }
}

/* -- what is offered --------------------------------------------------------------------------- */

/* What is typed, with a bar at the cursor, and the answer. */
static char *offers_for(const mishap_app *app, const char *typed)
{
    const char *words[20];
    char text[500];
    size_t count = 0;
    assert_true(snprintf(text, sizeof text, "%s", typed) < (int)sizeof text);
    text[strcspn(text, "|")] = '\0';
    for (char *rest = text; rest && count < 20;)
        words[count++] = strsep(&rest, " ");
    return offers_of(app, words, count);
}

static void the_answer_has_kind_prefix_and_offers(void **state)
{
    (void)state;
    static const struct question answers[] = {
        { "items |", "words\n\ncreate\tCreate an item\nimport\tRead items from a file\n"
                     "remove\tRemove an item for good\n" },
        { "network |", "words\n\nhosts\n" },
        { "network hosts |", "words\n\nlist\tList the hosts\n"
                             "show_all\tShow all that is known of the hosts\n" },
        { "help items |", "words\n\ncreate\tCreate an item\nimport\tRead items from a file\n"
                          "remove\tRemove an item for good\n" },
        { "help items create --output |", "words\n\ntext\njson\n" },
        { "items create --role |", "words\n\nadmin\nguest\nit's $HOME `x`\n" },
        { "items create --role=adm|", "words\n--role=\nadmin\nguest\nit's $HOME `x`\n" },
        { "items create --color_output=|", "words\n--color_output=\ntrue\nfalse\n" },
        { "items create --force=t|", "words\n--force=\ntrue\nfalse\n" },
        { "items create --help=|", "words\n\n" },
        { "items create --verbose=|", "words\n\n" },
        { "items create --title=@fa|", "files\n--title=@\n" },
        { "items create --title @fa|", "files\n@\n" },
        { "items create --count @fa|", "words\n\n" },
        { "items create --bogus=\nx|", "words\n\n" },
        { "items create --bogus |", "words\n\n" },
        { "items import csv |", "files\n\n" },
        { "items import -- csv @|", "files\n@\n" },
        { "items import csv a b c |", "words\n\n" },
        { "items import -v 3 --limit=3 |", "words\n\ncsv\njson\n" },
        { "items\n |", "words\n\n" },
        { "\xff\xfe |", "words\n\n" },
        { "version -|",
          "flags\n\n"
          "--output\tOutput format; the default is json when standard output is not a terminal\n"
          "--dialect\tPrint a failure in this error format instead of the envelope\n"
          "--timeout-ms\tTimeout in milliseconds\n"
          "-v\tPrint all details of a failure to standard error\n"
          "--verbose\tPrint all details of a failure to standard error\n"
          "-h\tShow help and exit\n"
          "--help\tShow help and exit\n"
          "--version\tShow the version and exit\n" },
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char *offers = offers_for(&large_app, answers[i].typed);
        if (strcmp(offers, answers[i].offered) != 0)
            fail_msg("`%s` is answered with %s", answers[i].typed, offers);
        free(offers);
    }
    char *none = offers_of(&large_app, NULL, 0), *empty = offers_for(&large_app, "|");
    assert_string_equal(none, empty);
    free(none);
    free(empty);
}

static void every_flag_of_every_command_is_offered(void **state)
{
    (void)state;
    for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(&large_app, o));) {
        mishap_buffer typed = { 0 };
        mishap_cli_put_command(&typed, o->name);
        mishap_buffer_put(&typed, " -|", 4);
        char *offers = offers_for(&large_app, typed.data);
        assert_memory_equal(offers, "flags\n\n", 7);
        for (const mishap_param *p = NULL; (p = mishap_cli_next_flag(o, p));) {
            char letter[] = { '\n', '-', mishap_cli_letter(o, p), p->help ? '\t' : '\n', '\0' };
            mishap_buffer flag = { 0 };
            MISHAP_PUT(&flag, "\n--");
            mishap_cli_put_flag(&flag, p->name);
            mishap_cli_put(&flag, p->help ? "\t" : "\n");
            mishap_cli_put(&flag, p->help);
            mishap_buffer_put_char(&flag, '\0');
            if (!strstr(offers, flag.data))
                fail_msg("%s has no %s", o->name, flag.data);
            if (letter[2])
                assert_non_null(strstr(offers, letter));
            mishap_buffer_release(&flag);
        }
        mishap_buffer_release(&typed);
        free(offers);
    }
}

/* Zsh and fish show what a word means; the first of several words means nothing by itself. */
static void what_a_word_means_stands_with_it(void **state)
{
    (void)state;
    char *words = offers_for(&large_app, "|"), *flags = offers_for(&large_app, "items create --|");
    assert_non_null(strstr(words, "words\n\nitems\nconnect\tConnect to a service\nnetwork\n"));
    assert_non_null(strstr(flags, "\n--count\tHow many\n"));
    assert_non_null(strstr(flags, "\n--no-color-output\tUse colour\n"));
    free(words);
    free(flags);
}

/* An offer is one line, for any declaration. */
static void control_characters_are_blanks(void **state)
{
    (void)state;
    static const char *const choices[] = { "a\nb", "c\td\x1b[m", NULL };
    const mishap_param params[] = {
        { "kind", MISHAP_ENUM, .choices = choices, .positional = true, .help = "One\nor\ttwo" },
        { 0 },
    };
    const mishap_operation operations[] = { { .name = "x", .params = params }, { 0 } };
    const mishap_app app = { .name = "x", .operations = operations };
    char *values = offers_for(&app, "x |"), *flags = offers_for(&app, "x --|");
    assert_string_equal(values, "words\n\na b\nc d [m\n");
    assert_non_null(strstr(flags, "\n--kind\tOne or two\n"));
    free(values);
    free(flags);
}

static void there_is_none_for_other_shells(void **state)
{
    (void)state;
    mishap_buffer b = { 0 };
    assert_false(mishap_cli_put_completion(&b, &small_app, "tcsh"));
    assert_false(mishap_cli_put_completion(&b, &small_app, ""));
    assert_int_equal(b.length, 0);
}

/* A program may bring a `help` of its own; then nothing special follows it. */
static void own_commands_replace_the_built_in_ones(void **state)
{
    (void)state;
    const mishap_operation operations[] = { { .name = "help", .summary = "Own help" }, { 0 } };
    const mishap_app app = { .name = "x.y", .operations = operations };
    char *text = completion_of(&app, "bash"), *first = offers_for(&app, "|"),
         *second = offers_for(&app, "help |");
    assert_string_equal(first, "words\n\nhelp\tOwn help\n"
                               "manifest\tShow all commands, flags and exit codes as JSON\n"
                               "completion\tPrint a completion script for a shell\n"
                               "manual\tPrint the manual page\n");
    assert_string_equal(second, "words\n\n");
    assert_non_null(strstr(text, "complete -F _x_y x.y\n"));
    free(text);
    free(first);
    free(second);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void put_bash(mishap_buffer *b)
{
    mishap_cli_put_completion(b, &large_app, "bash");
}

static void put_zsh(mishap_buffer *b)
{
    mishap_cli_put_completion(b, &large_app, "zsh");
}

static void put_fish(mishap_buffer *b)
{
    mishap_cli_put_completion(b, &large_app, "fish");
}

static void put_flags(mishap_buffer *b)
{
    mishap_cli_put_offers(b, &large_app, (const char *[]){ "items", "create", "-" }, 3);
}

static void put_values(mishap_buffer *b)
{
    mishap_cli_put_offers(b, &large_app, (const char *[]){ "items", "create", "--role=" }, 3);
}

static void lack_of_memory_is_said(void **state)
{
    (void)state;
    assert_survives_lack_of_memory(put_flags);
    assert_survives_lack_of_memory(put_values);
    assert_survives_lack_of_memory(put_bash);
    assert_survives_lack_of_memory(put_zsh);
    assert_survives_lack_of_memory(put_fish);
}

int main(int argc, char **argv)
{
    if (argc > 1) /* a shell asks */
        return mishap_cli_main(argc, argv, &large_app);
    const struct CMUnitTest tests[] = {
        TEST(bash_completes),
        TEST(bash_completes_behind_an_equals_sign_and_an_at),
        TEST(bash_completes_whole_words),
        TEST(zsh_completes),
        TEST(fish_completes),
        TEST(the_scripts_are_well_formed),
        TEST(the_answer_has_kind_prefix_and_offers),
        TEST(every_flag_of_every_command_is_offered),
        TEST(what_a_word_means_stands_with_it),
        TEST(control_characters_are_blanks),
        TEST(there_is_none_for_other_shells),
        TEST(own_commands_replace_the_built_in_ones),
        TEST(lack_of_memory_is_said),
    };
    return RUN(tests);
}
