/* Completion scripts do complete: each shell that is installed loads its script and is asked. */
#include "cli/describe.h"
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
}

static void tear_down(void)
{
    char command[300];
    int status;
    snprintf(command, sizeof command, "rm -r %s", folder);
    free(output_of(command, &status));
    assert_int_equal(status, 0);
}

/* Let a shell answer all questions at once, a line each. */
static char *answers_of(const char *shell, const char *flags, const char *program)
{
    char command[600];
    int status;
    write_file("ask", program);
    snprintf(command, sizeof command, "cd %s && LC_ALL=C.UTF-8 HOME=%s %s %s ask", folder, folder,
             shell, flags);
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

/* Replies come quoted for the command line; names of files are quoted by bash itself. */
static const char ask_bash[] =
    "source ./script\n"
    "ask() {\n"
    "    COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMPREPLY=()\n"
    "    _sample_tool\n"
    "    local reply line=\n"
    "    for reply in \"${COMPREPLY[@]}\"; do\n"
    "        [[ -e $reply ]] || eval \"reply=$reply\"\n"
    "        line+=\"<$reply>\"\n"
    "    done\n"
    "    [[ $line == *'<fa.txt>'* && $line == *'<f b.txt>'* ]] && line='<FILES>'\n"
    "    echo \"$line\"\n"
    "}\n";

static void bash_completes(void **state)
{
    (void)state;
    if (!installed("bash"))
        skip();
    ask("bash", "--norc", ask_bash, questions, QUESTIONS);
}

/* Bash has = and @ as words of their own, unless somebody told it not to. */
static void bash_completes_behind_an_equals_sign_and_an_at(void **state)
{
    (void)state;
    static const struct question others[] = {
        { "items create --role = |", ROLES },
        { "items create --role =|", ROLES },
        { "items create --role = g|", "<guest>" },
        { "items create --role=g|", "<--role=guest>" },
        { "items create --title @ fa|", "<@fa.txt>" },
        { "items create --title @fa|", "<@fa.txt>" },
        { "items create --title fa|", "<fa.txt>" },
        { "items create --title=fa|", "<--title=fa.txt>" },
        { "items import csv @ f|", "<@f b.txt><@fa.txt>" },
        { "items import csv @ fa.txt |", "" },
        { "items create --force = true --role = g|", "<guest>" },
        { "items import -- |", "<csv><json>" },
        { "items import -- --|", "" },
        { "items create --role $(touch${IFS}ran)|", "" },
    };
    if (!installed("bash"))
        skip();
    ask("bash", "--norc", ask_bash, others, sizeof others / sizeof *others);
}

/* What zsh has for completing works only while somebody types; these do the same with what they are
 * given. */
static const char ask_zsh[] =
    "_describe() { local -a list; list=(\"${(@P)@[-1]}\"); for list in $list; do add "
    "\"${list%%:*}\"; done }\n"
    "compadd() { local -a list; list=(\"${(@P)@[-1]}\"); for list in $list; do add \"$list\"; done "
    "}\n"
    "compset() { [[ $2 == '*=' ]] && before=${words[CURRENT]%%=*}=; return 0 }\n"
    "_files() { line+='<FILES>' }\n"
    "add() { [[ $before$1 == \"${words[CURRENT]}\"* ]] && line+=\"<$1>\" }\n"
    "source ./script\n"
    "ask() {\n"
    "    local line= before=\n"
    "    local -a words\n"
    "    words=(\"$@\")\n"
    "    local CURRENT=$#\n"
    "    _sample_tool\n"
    "    print -r -- \"$line\"\n"
    "}\n";

static void zsh_completes(void **state)
{
    (void)state;
    if (!installed("zsh"))
        skip();
    ask("zsh", "-f", ask_zsh, questions, QUESTIONS);
    static const struct question others[] = { { "items create --role=g|", "<guest>" },
                                              { "items create --title=|", "<FILES>" },
                                              { "items create --title @f|", "<FILES>" } };
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
    static const struct question others[] = { { "items create --role=g|", "<--role=guest>" } };
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

static void every_flag_of_every_command_is_in_each_script(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *text = completion_of(&large_app, shells[i]);
        for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(&large_app, o));) {
            for (const mishap_param *p = NULL; (p = mishap_cli_next_flag(o, p));) {
                mishap_buffer flag = { 0 };
                mishap_cli_put(&flag, i == 2 ? " -l " : "'--");
                mishap_cli_put_flag(&flag, p->name);
                mishap_buffer_put_char(&flag, '\0');
                if (!strstr(text, flag.data))
                    fail_msg("%s has no %s", shells[i], flag.data);
                mishap_buffer_release(&flag);
            }
        }
        free(text);
    }
}

/* Zsh and fish show what a word means; the first of several words means nothing by itself. */
static void what_a_word_means_stands_with_it(void **state)
{
    (void)state;
    char *zsh = completion_of(&large_app, "zsh"), *fish = completion_of(&large_app, "fish");
    assert_non_null(strstr(zsh, "'') offers=( 'items' 'connect:Connect to a service' 'network' "));
    assert_non_null(strstr(zsh, "'--count:How many'"));
    assert_non_null(strstr(fish, " -a 'connect' -d 'Connect to a service'\n"));
    assert_non_null(strstr(fish, " -a 'items'\n"));
    assert_non_null(strstr(fish, " -l count -s c -x -d 'How many'\n"));
    free(zsh);
    free(fish);
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
    char *text = completion_of(&app, "bash");
    assert_null(strstr(text, "'help '*"));
    assert_non_null(strstr(text, "'') offers=( 'help' 'manifest' 'completion' 'manual' )"));
    assert_non_null(strstr(text, "complete -F _x_y x.y\n"));
    free(text);
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

static void lack_of_memory_is_said(void **state)
{
    (void)state;
    assert_survives_lack_of_memory(put_bash);
    assert_survives_lack_of_memory(put_zsh);
    assert_survives_lack_of_memory(put_fish);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bash_completes),
        TEST(bash_completes_behind_an_equals_sign_and_an_at),
        TEST(zsh_completes),
        TEST(fish_completes),
        TEST(the_scripts_are_well_formed),
        TEST(every_flag_of_every_command_is_in_each_script),
        TEST(what_a_word_means_stands_with_it),
        TEST(there_is_none_for_other_shells),
        TEST(own_commands_replace_the_built_in_ones),
        TEST(lack_of_memory_is_said),
    };
    return RUN(tests);
}
