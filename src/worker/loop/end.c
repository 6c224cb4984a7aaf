/* The failure of a call whose worker died: the caller learns that it failed, the operator learns
 * how. Runs in a loop. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/signals.h"
#include "mishap/inside.h"
#include "worker/loop/inside.h"
#include "worker/loop/link.h"
#include "worker/wire/page.h"

static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);
    return name ? name : "?";
}

static mishap *tell_killed(const char *name, int number)
{
    return mishap_raise(INTERNAL_ERROR, "The process of %s was killed with SIG%s.", name,
                        signal_name(number));
}

/* Names the thread: it may belong to the call that failed, or an earlier call may have left it
 * behind. */
static mishap *note_thread(mishap *m, const mishap_worker_page *page, const mishap_app *app)
{
    unsigned left_by = atomic_load(&page->left_by), count = 0;
    while (app->operations[count].name)
        count++;
    m = mishap_note(m, "thread", "not the one that runs handlers");
    return left_by && left_by <= count
               ? mishap_note(m, "left_by", app->operations[left_by - 1].name)
               : m;
}

/* A crash is a mistake of the handler. Any other fatal signal was sent to end its process: then the
 * stack shows where the handler was. */
static mishap *tell_signal(const mishap_worker_page *page, const char *name, const mishap_app *app)
{
    int number = page->number; /* read once: a handler may write to the page at any time */
    uint64_t address = page->address;
    const mishap_fatal_signal *fatal = mishap_signal_find_fatal(number);
    if (fatal && !fatal->crash)
        return tell_killed(name, number);
    mishap *m = mishap_raise(INTERNAL_ERROR, "The handler of %s crashed with SIG%s.", name,
                             signal_name(number));
    if (page->aside)
        m = note_thread(m, page, app);
    return address ? mishap_note(m, "address", address) : m;
}

/* The exit status from the system, for a worker that left no last words. */
static mishap *tell_status(const mishap_link_end *end, const char *name)
{
    if (WIFEXITED(end->status))
        return mishap_raise(INTERNAL_ERROR, "The handler of %s ended its process: _exit(%d).", name,
                            WEXITSTATUS(end->status));
    int number = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
    mishap *m = tell_killed(name, number);
    return number == SIGKILL ? mishap_note(m, "hint", "the system may have run out of memory") : m;
}

/* True if the worker was alive when its connection was closed, and was then ended by the keeper.
 * Either it recorded its stack, or the keeper has read the stack, or it had executed another
 * program, which does not know the signal that asks for the stack. */
static bool was_ended_by_us(const mishap_link_end *end, mishap_last_words words)
{
    return words == MISHAP_WORDS_STACK || end->has_trace ||
           (WIFSIGNALED(end->status) && WTERMSIG(end->status) == mishap_words_signal());
}

static mishap *tell_way(const mishap_link *link, const mishap_operation *operation,
                        mishap_last_words words)
{
    const mishap_worker_page *page = link->page;
    const mishap_link_end *end = &link->end;
    const char *name = operation->name;
    mishap *m;
    if (end->why == MISHAP_LINK_TIMEOUT) {
        /* It is not known how far a call came that changes something, unless it is settled
         * later. */
        m = mishap_raise(TIMEOUT, "The call was not finished in time.");
        return mishap_retryable(m, mishap_operation_danger(operation) == MISHAP_SAFE ||
                                       mishap_runner_is_settled(link->runner, link->group));
    }
    switch (words) {
    case MISHAP_WORDS_CRASH:
        return tell_signal(page, name, link->runner->settings.plan->app);
    case MISHAP_WORDS_EXIT:
        if (page->number == MISHAP_WORDS_QUICK)
            return mishap_raise(INTERNAL_ERROR, "The handler of %s called quick_exit().", name);
        return mishap_raise(INTERNAL_ERROR, "The handler of %s called exit(%d).", name,
                            page->number);
    default:
        break;
    }
    if (end->stopped)
        return mishap_raise(INTERNAL_ERROR, "The process of %s was stopped.", name);
    if (end->why == MISHAP_LINK_LIED)
        return mishap_note(
            mishap_raise(INTERNAL_ERROR, "The process of %s sent what it must not.", name),
            "reason", end->lie);
    if (end->why == MISHAP_LINK_CLOSED && end->known && was_ended_by_us(end, words))
        return mishap_raise(INTERNAL_ERROR,
                            "The handler of %s closed the connection to the server, or executed "
                            "another program: its process was ended.",
                            name);
    return end->known ? tell_status(end, name)
                      : mishap_raise(INTERNAL_ERROR, "The process of %s was lost.", name);
}

/* The page may contain anything: a handler that damages memory may damage the page, too. */
static void set_trace(mishap *m, const mishap_link *link, mishap_last_words words)
{
    const mishap_trace *trace = words != MISHAP_WORDS_NONE ? &link->page->trace
                                : link->end.has_trace      ? &link->end.trace
                                                           : NULL;
    if (m->constant)
        return;
    m->trace.count = 0; /* the stack of the loop that reports the failure is of no interest */
    if (trace) {
        m->trace = *trace;
        if (m->trace.count > MISHAP_TRACE_MAX)
            m->trace.count = MISHAP_TRACE_MAX;
    }
}

mishap *mishap_link_tell_end(const mishap_link *link, unsigned slot,
                             const mishap_operation *operation, bool alone)
{
    unsigned said = atomic_load(&link->page->last_words);
    mishap_last_words words = said <= MISHAP_WORDS_STACK ? (mishap_last_words)said
                                                         : MISHAP_WORDS_NONE;
    mishap *m = tell_way(link, operation, words);
    const mishap_link_slot *of = &link->slots[slot];
    const mishap_call *call = of->run ? of->run->call : of->call;
    set_trace(m, link, words);
    mishap_set_of_worker(m);
    if (link->end.why == MISHAP_LINK_TIMEOUT && call)
        m = mishap_note(m, "limit_ms", call->limit_ms);
    if (link->end.why == MISHAP_LINK_TIMEOUT && words == MISHAP_WORDS_NONE && !link->end.has_trace)
        m = mishap_note(
            m, "stack",
            "not known: the handler did not answer a signal, and the system did not let "
            "its stack be read (ptrace, process_vm_readv)");
    mishap_slot_state state = mishap_link_state(link, slot);
    if (mishap_runner_is_settled(link->runner, link->group))
        m = mishap_note(m, "settled",
                        state == MISHAP_SLOT_RAN || state == MISHAP_SLOT_DONE ? "perhaps" : "no");
    else if (alone)
        m = mishap_note(m, "lost", "what this process had in memory");
    return m;
}
