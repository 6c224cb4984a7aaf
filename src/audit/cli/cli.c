/* The audit of a command: the runs, in a fixed order. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/cli/inside.h"

#define UNKNOWN_FLAG    "--mishap-no-such-flag"
#define UNKNOWN_COMMAND "mishap-no-such-command"

enum {
    RUN_MS = 10000,
    GRACE_MS = 2000,
    TERM_MS = 5000,   /* that a command has to end after SIGTERM */
    SETTLE_MS = 3000, /* at most, until it gets SIGTERM */
};

typedef struct cli_audit {
    mishap_audit *audit;
    const char **argv; /* the command, with room for one more word; ends with NULL */
    size_t count;
    int run_ms;
    bool sent;    /* the last run was made */
    bool starved; /* there was no memory for what a run has printed */
} cli_audit;

/* -- the command line -------------------------------------------------------------------------- */

/* The working folder of a run is empty, so a word that names a file of the current folder becomes
 * an absolute path: `python3 tool.py`. A word such as `status` may be a command, and stays. */
static const char *full_word(mishap_arena *arena, const char *word)
{
    struct stat status;
    char path[4096], here[2048];
    if (word[0] == '-' || word[0] == '/' || !strpbrk(word, "./") || stat(word, &status) != 0 ||
        !S_ISREG(status.st_mode) || !getcwd(here, sizeof here))
        return word;
    int length = snprintf(path, sizeof path, "%s/%s", here, word);
    return length > 0 && (size_t)length < sizeof path
               ? mishap_arena_copy(arena, (mishap_text){ path, (size_t)length }).data
               : word;
}

static bool copy_words(cli_audit *c, const char *const *argv)
{
    mishap_arena *arena = mishap_audit_arena(c->audit);
    while (argv[c->count])
        c->count++;
    c->argv = mishap_arena_take(arena, (c->count + 2) * sizeof *c->argv);
    for (size_t i = 0; c->argv && i < c->count; i++) {
        c->argv[i] = i ? full_word(arena, argv[i]) : argv[i];
        if (!c->argv[i])
            return false;
    }
    return c->argv != NULL;
}

/* The command line as a shell would take it; words with other letters are quoted. */
static mishap_text write_line(cli_audit *c)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+";
    mishap_buffer line = { 0 };
    for (const char *const *word = c->argv; *word; word++) {
        bool quoted = !**word || strspn(*word, plain) != strlen(*word);
        if (line.length)
            mishap_buffer_put_char(&line, ' ');
        if (!quoted) {
            mishap_buffer_put_text(&line, mishap_text_of(*word));
            continue;
        }
        mishap_buffer_put_char(&line, '\'');
        for (const char *at = *word; *at; at++)
            if (*at == '\'')
                MISHAP_PUT(&line, "'\\''");
            else
                mishap_buffer_put_char(&line, *at);
        mishap_buffer_put_char(&line, '\'');
    }
    mishap_text copy = mishap_arena_copy(mishap_audit_arena(c->audit), mishap_buffer_text(&line));
    mishap_buffer_release(&line);
    return copy;
}

/* -- runs -------------------------------------------------------------------------------------- */

/* Wait for the end of a run. */
static void finish_run(cli_audit *c, cli_run *run)
{
    mishap_audit_process_finish(&run->process);
    c->starved = c->starved || run->process.out.failed || run->process.err.failed;
}

/* Make a run with one more word (NULL: none). c->sent says whether it was made; then it is to be
 * closed. */
static mishap *begin_run(cli_audit *c, cli_run *run, const char *word, mishap_audit_command command)
{
    *run = (cli_run){ .place = word ? word : "(no argument)" };
    c->argv[c->count] = word;
    c->argv[c->count + 1] = NULL;
    run->line = write_line(c);
    c->sent = false;
    if (!run->line.data)
        return mishap_out_of_memory();
    if (!mishap_audit_next(c->audit, run->place, run->line))
        return NULL;
    command.argv = c->argv;
    command.time_ms = c->run_ms;
    if (!command.grace_ms)
        command.grace_ms = c->run_ms < GRACE_MS ? c->run_ms : GRACE_MS;
    mishap *m = mishap_audit_process_start(&command, &run->process);
    c->sent = !m;
    return m;
}

/* Judge what every run must keep; true if it ended by itself. */
static bool end_run(cli_audit *c, cli_run *run, bool is_help)
{
    const mishap_audit_process *p = &run->process;
    finish_run(c, run);
    mishap_audit_cli_judge(c->audit, CLI_BOUNDED, !p->flooded, run,
                           "It printed more than 8 MB and was ended by the audit.");
    if (p->unwatched)
        mishap_audit_cli_judge(c->audit, CLI_ENDS, false, run,
                               "It killed the processes of the audit that watch it, and was "
                               "killed.");
    else if (!p->flooded)
        mishap_audit_cli_judge(c->audit, CLI_ENDS, !p->overdue, run,
                               "It did not end within %d ms%s.", c->run_ms,
                               p->killed ? ", and had to be killed" : "");
    return mishap_audit_cli_judge_run(c->audit, run, is_help);
}

static int exit_code(const cli_run *run)
{
    return WIFEXITED(run->process.status) ? WEXITSTATUS(run->process.status) : -1;
}

static bool says(const mishap_buffer *output, const char *word)
{
    return output->length && memmem(output->data, output->length, word, strlen(word));
}

/* -- --help ------------------------------------------------------------------------------------ */

static mishap *run_help(cli_audit *c, cli_help *help)
{
    cli_run run;
    MISHAP_TRY(begin_run(c, &run, "--help", (mishap_audit_command){ 0 }));
    if (!c->sent)
        return NULL;
    const mishap_audit_process *p = &run.process;
    if (end_run(c, &run, true)) {
        cli_help out = mishap_audit_cli_read_help(mishap_buffer_text(&p->out));
        cli_help err = mishap_audit_cli_read_help(mishap_buffer_text(&p->err));
        *help = out.lists_commands ? out : err;
        mishap_audit_cli_judge(c->audit, CLI_HELP_EXIT, exit_code(&run) == 0, &run,
                               "--help ended with exit code %d.", exit_code(&run));
        mishap_audit_cli_judge(c->audit, CLI_HELP_TEXT, p->out.length || p->err.length, &run,
                               "--help printed nothing.");
    }
    mishap_audit_cli_judge(c->audit, CLI_HELP_FILES, p->files == 0, &run,
                           p->files == 1 ? "--help wrote %zu file: %.*s."
                                         : "--help wrote %zu files, such as %.*s.",
                           p->files, (int)strcspn(p->file, "/"), p->file);
    mishap_audit_process_close(&run.process);
    return NULL;
}

static mishap *run_unread_help(cli_audit *c)
{
    cli_run run;
    MISHAP_TRY(begin_run(c, &run, "--help", (mishap_audit_command){ .unread = true }));
    if (!c->sent)
        return NULL;
    run.place = "--help, output closed";
    finish_run(c, &run);
    mishap_audit_cli_judge_run(c->audit, &run, true);
    mishap_audit_cli_judge(c->audit, CLI_PIPE, !run.process.overdue && !run.process.flooded, &run,
                           "It did not end within %d ms although nothing reads its output.",
                           c->run_ms);
    mishap_audit_process_close(&run.process);
    return NULL;
}

/* -- words that are not known ------------------------------------------------------------------ */

/* `envelope`: is set if the error was printed as the envelope. */
static mishap *run_unknown_flag(cli_audit *c, bool *envelope)
{
    cli_run run;
    MISHAP_TRY(begin_run(c, &run, UNKNOWN_FLAG, (mishap_audit_command){ 0 }));
    if (!c->sent)
        return NULL;
    const mishap_audit_process *p = &run.process;
    if (end_run(c, &run, false)) {
        *envelope = mishap_audit_cli_has_envelope(&run);
        mishap_audit_cli_judge(c->audit, CLI_FLAG_FAILS, exit_code(&run) != 0, &run,
                               "The exit code is 0: the flag was ignored.");
        mishap_audit_cli_judge(c->audit, CLI_FLAG_REPORTED, p->err.length || *envelope, &run,
                               "Nothing was written to standard error.");
        mishap_audit_cli_judge(c->audit, CLI_FLAG_NAMED,
                               says(&p->err, &UNKNOWN_FLAG[2]) || says(&p->out, &UNKNOWN_FLAG[2]),
                               &run, "No output has the name of the flag.");
        if (*envelope)
            mishap_audit_cli_judge_envelope(c->audit, &run);
    }
    mishap_audit_process_close(&run.process);
    return NULL;
}

static mishap *run_unknown_command(cli_audit *c)
{
    cli_run run;
    MISHAP_TRY(begin_run(c, &run, UNKNOWN_COMMAND, (mishap_audit_command){ 0 }));
    if (!c->sent)
        return NULL;
    const mishap_audit_process *p = &run.process;
    if (end_run(c, &run, false)) {
        mishap_audit_cli_judge(c->audit, CLI_COMMAND_FAILS, exit_code(&run) != 0, &run,
                               "The exit code is 0, but there is no such command.");
        mishap_audit_cli_judge(c->audit, CLI_COMMAND_NAMED,
                               says(&p->err, UNKNOWN_COMMAND) || says(&p->out, UNKNOWN_COMMAND),
                               &run, "No output has the name of the command.");
        if (mishap_audit_cli_has_envelope(&run))
            mishap_audit_cli_judge_envelope(c->audit, &run);
    }
    mishap_audit_process_close(&run.process);
    return NULL;
}

/* A program that has a manifest, but prints no envelope, does not keep what it declares. */
static mishap *run_manifest(cli_audit *c, bool envelope)
{
    cli_run run;
    MISHAP_TRY(begin_run(c, &run, "manifest", (mishap_audit_command){ 0 }));
    if (!c->sent)
        return NULL;
    if (end_run(c, &run, true) && (envelope || mishap_audit_cli_has_manifest(&run))) {
        mishap_audit_cli_judge_manifest(c->audit, &run);
        if (!envelope)
            mishap_audit_cli_judge(c->audit, CLI_ENVELOPE, false, &run,
                                   "The program has a manifest, but the answer to an unknown flag "
                                   "is no error envelope.");
    }
    mishap_audit_process_close(&run.process);
    return NULL;
}

/* -- SIGTERM ----------------------------------------------------------------------------------- */

/* The command as it is, with an input that stays open. One that ends by itself has passed: it does
 * not live on after SIGTERM. */
static mishap *run_terminated(cli_audit *c)
{
    cli_run run;
    MISHAP_TRY(
        begin_run(c, &run, NULL, (mishap_audit_command){ .input = true, .grace_ms = TERM_MS }));
    if (!c->sent)
        return NULL;
    if (mishap_audit_process_settle(&run.process, SETTLE_MS))
        mishap_audit_process_terminate(&run.process);
    finish_run(c, &run);
    mishap_audit_cli_judge_run(c->audit, &run, false);
    mishap_audit_cli_judge(c->audit, CLI_SIGTERM, !run.process.killed, &run,
                           "It was still running %d ms after SIGTERM, and was killed.", TERM_MS);
    mishap_audit_process_close(&run.process);
    return NULL;
}

mishap *mishap_audit_cli(mishap_audit *audit, const mishap_audit_cli_target *target)
{
    cli_audit c = { .audit = audit, .run_ms = target->run_ms ? target->run_ms : RUN_MS };
    cli_help help = { false, false };
    bool envelope = false;
    if (!target->argv || !target->argv[0])
        return mishap_raise(INVALID_ARGUMENT, "The command to audit is missing.");
    if (!copy_words(&c, target->argv))
        return mishap_out_of_memory();
    MISHAP_TRY(run_help(&c, &help));
    MISHAP_TRY(run_unknown_flag(&c, &envelope));
    if (help.lists_commands)
        MISHAP_TRY(run_unknown_command(&c));
    if (help.has_manifest)
        MISHAP_TRY(run_manifest(&c, envelope));
    MISHAP_TRY(run_unread_help(&c));
    MISHAP_TRY(run_terminated(&c));
    if (mishap_audit_is_dry(audit))
        mishap_audit_remark(
            audit, "More runs follow from the answer to --help: one with the word " UNKNOWN_COMMAND
                   " if it lists commands, and one with the word "
                   "manifest if it lists that.");
    return c.starved ? mishap_out_of_memory() : NULL;
}
