/* What every run of a command is held against. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "audit/cli/inside.h"
#include "base/signals.h"

enum { SHOWN = 400 }; /* bytes of an output in a finding */

static void put_output(mishap_buffer *buffer, const char *name, const mishap_buffer *output)
{
    mishap_text text = mishap_buffer_text(output);
    mishap_buffer_put_text(buffer, mishap_text_of(name));
    if (!text.length)
        MISHAP_PUT(buffer, "empty");
    else
        mishap_buffer_put(buffer, text.data, text.length < SHOWN ? text.length : SHOWN);
}

/* How a run ended, and the begin of its output. */
static void put_end(mishap_buffer *buffer, const mishap_audit_process *p)
{
    char words[64];
    if (p->ended && WIFEXITED(p->status))
        snprintf(words, sizeof words, "exit code %d", WEXITSTATUS(p->status));
    else
        snprintf(words, sizeof words, "ended by signal %d", WTERMSIG(p->status));
    mishap_buffer_put_text(buffer, mishap_text_of(p->ended ? words : "ended by the audit"));
    put_output(buffer, "; standard output: ", &p->out);
    put_output(buffer, "; standard error: ", &p->err);
}

void mishap_audit_cli_judge(mishap_audit *audit, int check, bool holds, cli_run *run,
                            const char *format, ...)
{
    char storage[2048], detail[512];
    mishap_buffer got;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    mishap_buffer_init(&got, storage, sizeof storage);
    put_end(&got, &run->process);
    mishap_audit_judge(audit, &mishap_audit_cli_checks[check], holds,
                       &(mishap_audit_seen){ .place = run->place,
                                             .detail = length > 0 ? mishap_text_of(detail)
                                                                  : (mishap_text){ NULL, 0 },
                                             .sent = run->line,
                                             .got = mishap_buffer_text(&got) });
    mishap_buffer_release(&got);
}

/* -- leaks ------------------------------------------------------------------------------------- */

/* What of a leak counts for a command: its user owns the machine, so a path, a host or a query is
 * no secret. Documentation may also show what a password looks like. */
struct sought {
    bool is_help, found;
};

static void look_at_leak(void *state, const mishap_leak *leak)
{
    struct sought *sought = state;
    bool counts = leak->kind == MISHAP_LEAK_TRACE ||
                  (!sought->is_help &&
                   (leak->kind == MISHAP_LEAK_CREDENTIAL || leak->kind == MISHAP_LEAK_CONNECTION ||
                    leak->kind == MISHAP_LEAK_ENVIRONMENT));
    if (counts && leak->confidence == MISHAP_LEAK_HIGH)
        sought->found = true;
}

static void scan_output(mishap_audit *audit, const cli_run *run, const mishap_buffer *output,
                        bool is_help)
{
    const mishap_text values[] = { run->line, mishap_text_of(run->process.root) };
    const mishap_leak_known sent = { .values = values, .count = 2 };
    struct sought sought = { is_help, false };
    mishap_text text = mishap_buffer_text(output);
    mishap_leak_scan(text, &sent, look_at_leak, &sought);
    if (sought.found)
        mishap_audit_scan(audit, &mishap_audit_cli_checks[CLI_LEAK], run->place, text, &sent);
    else
        mishap_audit_pass(audit, &mishap_audit_cli_checks[CLI_LEAK], run->place);
}

/* -- a run ------------------------------------------------------------------------------------- */

bool mishap_audit_cli_judge_run(mishap_audit *audit, cli_run *run, bool is_help)
{
    const mishap_audit_process *p = &run->process;
    const mishap_fatal_signal *fatal = p->ended && WIFSIGNALED(p->status)
                                           ? mishap_signal_find_fatal(WTERMSIG(p->status))
                                           : NULL;
    bool escapes = mishap_audit_cli_has_escape(mishap_buffer_text(&p->out)) ||
                   mishap_audit_cli_has_escape(mishap_buffer_text(&p->err));
    bool crashed = fatal && fatal->crash;
    scan_output(audit, run, &p->out, is_help);
    scan_output(audit, run, &p->err, is_help);
    mishap_audit_cli_judge(audit, CLI_ESCAPES, !escapes, run,
                           "An escape sequence was written into a pipe.");
    mishap_audit_cli_judge(audit, CLI_CRASH, !crashed, run, "The command crashed: signal %d.",
                           crashed ? fatal->number : 0);
    mishap_audit_cli_judge(audit, CLI_LEFT, p->survivors == 0, run,
                           "A process was still running after the command had ended.");
    return !crashed && !p->overdue && !p->flooded && !p->unwatched;
}
