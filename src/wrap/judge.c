/*
 * From the end of a command to a mishap, in this order: the time was over, a signal, an exit code
 * that is an answer, texts of the program, those that sum up, its exit codes, texts of any program,
 * exit codes that many programs share. Of the outputs stderr comes first, then the end of standard
 * output.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "base/utf8.h"
#include "mishap/bind.h"
#include "wrap/lines.h"
#include "wrap/rules.h"

enum {
    MOST_OUT_LINES = 40,     /* of standard output, from its end */
    NOTED_BYTES = 16 * 1024, /* of each output, for the operator */
};

struct judging {
    const mishap_wrap_rule *rules;
    const char *const *argv;
    int exit_code;
    mishap_wrap_lines err, out;
    const mishap_wrap_rule *rule; /* the one that decided; NULL: none */
    mishap_text line;             /* … the line that it matched; no data: none */
};

/* -- exit codes that are answers --------------------------------------------------------------- */

/* The arguments, each with a space on both sides. */
static void put_words(mishap_buffer *words, const char *const *argv)
{
    MISHAP_PUT(words, " ");
    for (size_t i = 1; argv[0] && argv[i]; i++) {
        mishap_buffer_put_text(words, mishap_text_of(argv[i]));
        MISHAP_PUT(words, " ");
    }
}

static const mishap_wrap_rule *find_answer(const struct judging *j)
{
    const mishap_wrap_rule *found = NULL;
    mishap_buffer words = { 0 };
    put_words(&words, j->argv);
    for (const mishap_wrap_rule *rule = j->rules; rule && !found; rule = rule->next)
        if (!rule->code && mishap_wrap_rule_has_exit(rule, j->exit_code) &&
            mishap_wrap_rule_is_for(rule, j->argv) &&
            mishap_wrap_matches_words(rule->pattern, mishap_buffer_text(&words)))
            found = rule;
    mishap_buffer_release(&words);
    return found;
}

/* -- texts ------------------------------------------------------------------------------------- */

/* True if the line begins with the name of the program of the rule, as in "curl: (7) …": the
 * program was started by the command, such as a shell. */
static bool names_program(const mishap_wrap_rule *rule, mishap_text line)
{
    char name[32];
    size_t length = 0;
    while (length < line.length && length < sizeof name - 1 && line.data[length] != ':' &&
           line.data[length] != ' ')
        length++;
    if (!length || length >= line.length || line.data[length] != ':')
        return false;
    memcpy(name, line.data, length);
    name[length] = '\0';
    return mishap_wrap_rule_is_for(rule, (const char *const[]){ name, NULL });
}

typedef bool rule_filter(const struct judging *j, const mishap_wrap_rule *rule, mishap_text line);

static bool is_own_rule(const struct judging *j, const mishap_wrap_rule *rule, mishap_text line)
{
    (void)line;
    return mishap_wrap_rule_has_exit(rule, j->exit_code) && mishap_wrap_rule_is_for(rule, j->argv);
}

/* Exit codes of a program that the command has started are not known: a rule for one of them says
 * nothing. */
static bool is_started_rule(const struct judging *j, const mishap_wrap_rule *rule, mishap_text line)
{
    return mishap_text_equal(rule->exits, (mishap_text)MISHAP_TEXT("*")) &&
           names_program(rule, line) && !mishap_wrap_rule_is_for(rule, j->argv);
}

static bool is_general_rule(const struct judging *j, const mishap_wrap_rule *rule, mishap_text line)
{
    (void)line;
    return mishap_wrap_rule_is_general(rule) && mishap_wrap_rule_has_exit(rule, j->exit_code);
}

static bool is_last_rule(const struct judging *j, const mishap_wrap_rule *rule, mishap_text line)
{
    (void)line;
    return mishap_wrap_rule_is_last(rule) && mishap_wrap_rule_is_for(rule, j->argv);
}

static bool find_text(struct judging *j, const mishap_wrap_lines *lines, rule_filter *applies)
{
    for (size_t i = 0; i < lines->count; i++)
        for (const mishap_wrap_rule *rule = j->rules; rule; rule = rule->next)
            if (rule->code && rule->pattern.length && applies(j, rule, lines->lines[i]) &&
                mishap_wrap_matches(rule->pattern, lines->lines[i])) {
                j->rule = rule;
                j->line = lines->lines[i];
                return true;
            }
    return false;
}

static bool find_exit(struct judging *j, rule_filter *applies)
{
    for (const mishap_wrap_rule *rule = j->rules; rule; rule = rule->next)
        if (rule->code && !rule->pattern.length && applies(j, rule, (mishap_text){ 0 })) {
            j->rule = rule;
            return true;
        }
    return false;
}

static void find_reason(struct judging *j)
{
    static rule_filter *const texts[] = { is_own_rule, is_started_rule, is_last_rule };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (find_text(j, &j->err, texts[i]) || find_text(j, &j->out, texts[i]))
            return;
    if (find_exit(j, is_own_rule) || find_text(j, &j->err, is_general_rule) ||
        find_text(j, &j->out, is_general_rule))
        return;
    if (!find_exit(j, is_general_rule))
        find_exit(j, is_last_rule);
}

/* -- the mishap -------------------------------------------------------------------------------- */

/* The line of the command that says best what happened; no data: it has printed none. */
static mishap_text best_line(const struct judging *j)
{
    if (j->line.data)
        return j->line;
    if (j->err.errors)
        return j->err.lines[0];
    if (j->out.errors && !j->err.count)
        return j->out.lines[0];
    return j->err.count ? j->err.lines[0] : j->out.count ? j->out.lines[0] : (mishap_text){ 0 };
}

static void note_output(mishap *m, const char *key, const mishap_buffer *tail)
{
    mishap_text text = mishap_buffer_text(tail);
    if (text.length > NOTED_BYTES) {
        text.data += text.length - NOTED_BYTES;
        text.length = NOTED_BYTES;
    }
    if (text.length)
        mishap_note_text(m, mishap_text_of(key), text);
}

/* What every failure of a command tells, and what its operator finds. */
static mishap *complete(mishap *m, const struct judging *j, const mishap_wrap_end *end)
{
    m = mishap_tell(m, "program", j->argv[0]);
    if (WIFSIGNALED(end->status))
        m = mishap_tell(m, "signal", sigabbrev_np(WTERMSIG(end->status)));
    else
        m = mishap_tell(m, "exit_code", j->exit_code);
    note_output(m, "stderr", &end->err);
    note_output(m, "stdout", &end->out);
    return m;
}

static mishap *by_rule(const struct judging *j)
{
    const mishap_wrap_rule *rule = j->rule;
    const mishap_code *code = rule ? rule->code : MISHAP_CODE_GENERAL_ERROR;
    mishap_text line = best_line(j);
    char words[200];
    if (!line.length) {
        snprintf(words, sizeof words, "The command `%.100s` ended with exit code %d.", j->argv[0],
                 j->exit_code);
        line = mishap_text_of(words);
    }
    mishap *m = mishap_raise_text(code, line);
    if (rule && rule->suggestion.length)
        m = mishap_put_suggestion(m, rule->suggestion);
    if (rule && rule->retry != MISHAP_WRAP_RETRY_AS_CODE)
        m = mishap_retryable(m, rule->retry == MISHAP_WRAP_RETRY_YES);
    return m;
}

/* -- signals ----------------------------------------------------------------------------------- */

static const struct death {
    int number;
    const mishap_code *code;
    const char *how, *suggestion;
} deaths[] = {
    { SIGSEGV, MISHAP_CODE_RUNTIME_ERROR, "crashed", NULL },
    { SIGBUS, MISHAP_CODE_RUNTIME_ERROR, "crashed", NULL },
    { SIGFPE, MISHAP_CODE_RUNTIME_ERROR, "crashed", NULL },
    { SIGILL, MISHAP_CODE_RUNTIME_ERROR, "crashed", NULL },
    { SIGTRAP, MISHAP_CODE_RUNTIME_ERROR, "crashed", NULL },
    { SIGSYS, MISHAP_CODE_RUNTIME_ERROR, "made a system call that is not allowed", NULL },
    { SIGABRT, MISHAP_CODE_RUNTIME_ERROR, "ended itself", NULL },
    { SIGKILL, MISHAP_CODE_RUNTIME_ERROR, "was killed",
      "Look in the log of the system whether there was too little memory." },
    { SIGINT, MISHAP_CODE_CANCELLED, "was interrupted", NULL },
    { SIGQUIT, MISHAP_CODE_CANCELLED, "was interrupted", NULL },
    { SIGTERM, MISHAP_CODE_CANCELLED, "was told to end", NULL },
    { SIGHUP, MISHAP_CODE_CANCELLED, "lost its terminal", NULL },
    { SIGXCPU, MISHAP_CODE_TIMEOUT, "used more processor time than it may", NULL },
    { SIGALRM, MISHAP_CODE_TIMEOUT, "ran into its own time limit", NULL },
    { SIGXFSZ, MISHAP_CODE_OUTPUT_FAILED, "wrote a file that is larger than it may be", NULL },
};

static mishap *by_signal(const char *program, int number)
{
    const struct death *death = NULL;
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths && !death; i++)
        if (deaths[i].number == number)
            death = &deaths[i];
    mishap *m = mishap_raise_at(death ? death->code : MISHAP_CODE_RUNTIME_ERROR, MISHAP_HERE,
                                "The command `%.100s` %s (SIG%s).", program,
                                death ? death->how : "was ended by a signal",
                                sigabbrev_np(number) ? sigabbrev_np(number) : "?");
    return death && death->suggestion ? mishap_suggest(m, death->suggestion) : m;
}

static mishap *by_time(const char *program)
{
    return mishap_suggest(
        mishap_raise(TIMEOUT, "The command `%.100s` was not finished in time.", program),
        "Allow more time with --timeout, or let the command do less.");
}

static void name_rule(const mishap_wrap_rule *rule, char *out, size_t room)
{
    enum { LONGEST_PROGRAMS = 200 };
    mishap_text programs = rule->programs;
    programs.length = mishap_utf8_cut(programs, LONGEST_PROGRAMS);
    snprintf(out, room, "%s:%u (%.*s)", rule->file, rule->line, (int)programs.length,
             programs.data);
}

mishap *mishap_wrap_judge(const mishap_wrap_rules *rules, const char *const *argv,
                          const mishap_wrap_end *end, char *rule, size_t room)
{
    struct judging j = { .rules = mishap_wrap_rules_first(rules), .argv = argv };
    mishap *m;
    snprintf(rule, room, "%s", "");
    if (WIFSIGNALED(end->status) || end->timed_out) {
        int number = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
        /* A reader that wants no more is no failure of the writer: `yes | head`. */
        if (number == SIGPIPE && !end->timed_out)
            return NULL;
        m = end->timed_out ? by_time(argv[0]) : by_signal(argv[0], number);
        j.exit_code = number ? 128 + number : WEXITSTATUS(end->status);
        return complete(m, &j, end);
    }
    j.exit_code = WEXITSTATUS(end->status);
    if (j.exit_code == 0)
        return NULL;
    if ((j.rule = find_answer(&j))) {
        name_rule(j.rule, rule, room);
        return NULL;
    }
    mishap_wrap_lines_read(&j.err, mishap_buffer_text(&end->err), MISHAP_WRAP_LINES);
    mishap_wrap_lines_read(&j.out, mishap_buffer_text(&end->out), MOST_OUT_LINES);
    find_reason(&j);
    if (j.rule)
        name_rule(j.rule, rule, room);
    m = complete(by_rule(&j), &j, end);
    mishap_wrap_lines_release(&j.err);
    mishap_wrap_lines_release(&j.out);
    return m;
}
