/* Calls that foreign programs run: a process has one call at a time. Runs in a loop. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "incident/logs.h"
#include "mishap/inside.h"
#include "worker/loop/inside.h"
#include "worker/spawn/spawn.h"

enum {
    KEPT = 64 * 1024, /* bytes of a buffer that stay for the next message */
    /* For one call: the first may arrive before the program knows that the call runs. */
    MOST_INTERRUPTS = 2,
    EARLY_MS = 5,          /* pause before an interrupt that could not be sent is tried again */
    MOST_TOLD = 64 * 1024, /* bytes that a call may tell the operator */
    MOST_STRAYS = 1000,    /* packets that come too late, belong to no call, or have no meaning */
    STRAY_BYTES = 8192, /* … so many bytes of a message count for one more, since every caller waits
                           while it is read */
};

/* -- before a call ----------------------------------------------------------------------------- */

bool mishap_runner_may_start_foreign(mishap_runner *r, size_t group)
{
    mishap_runner_group *g = &r->groups[group];
    const mishap_foreign *foreign = mishap_runner_foreign(r, group);
    mishap *failure = mishap_spawn_check(foreign);
    if (!failure)
        return true;
    mishap_free(failure);
    while (g->first) {
        mishap_run *run = g->first;
        failure = mishap_spawn_check(foreign); /* checked once for each call */
        if (!failure)
            return false; /* a process can be started now: the next flush asks again */
        mishap_runner_dequeue(g, run);
        mishap_runner_finish(r, run, failure);
    }
    return false;
}

mishap *mishap_runner_not_handed(const mishap_link *link)
{
    return link->too_long ? mishap_raise(BAD_REQUEST, "The arguments are too long.")
                          : mishap_out_of_memory();
}

/* -- messages of the program ------------------------------------------------------------------- */

/* Tell the caller why its session has lost its state. */
static mishap *tell_reason(mishap_link *link, mishap_call *call, mishap *failure)
{
    static const char *const words[] = {
        [MISHAP_SESSION_IDLE] =
            "The session was idle for too long and was ended. This call started a "
            "fresh one: earlier definitions are gone.",
        [MISHAP_SESSION_DIED] =
            "The process of the session had ended. This call started a fresh one: "
            "earlier definitions are gone.",
        [MISHAP_SESSION_LOST] = "The server has lost the session. This call started a fresh one: "
                                "earlier definitions are gone.",
        [MISHAP_SESSION_HEAVY] =
            "The sessions of this caller held too much memory, and the largest was ended. This "
            "call started a fresh one: earlier definitions are gone.",
    };
    const char *said = words[link->reason];
    link->reason = MISHAP_SESSION_NEW;
    if (!said)
        return failure;
    if (failure)
        return mishap_tell(failure, "session_warning", said);
    mishap_warn(call, "%s", said);
    return NULL;
}

/* Put a process away that had its one call, and start another one, so that the next call need not
 * wait for a start. */
static void replace(mishap_runner *r, mishap_link *link)
{
    mishap_runner_put_away(r, link);
    if (link->foreign->once && !r->groups[link->group].starting)
        mishap_runner_start_worker(r, link->group, mishap_clock_monotonic_ns());
}

static void rest(mishap_runner *r, mishap_link *link, bool last)
{
    link->idle_since_ns = mishap_clock_monotonic_ns();
    if (link->is_session)
        mishap_runner_session_rests(r, link, last);
    else if (last || link->foreign->once)
        replace(r, link);
}

/* The call was cancelled and no caller waits for it: that it was cancelled is not worth a
 * record. */
static void end_forgotten(mishap_runner *r, mishap_link_slot *slot, mishap *failure)
{
    if (failure && mishap_told(failure)->code == MISHAP_CODE_CANCELLED) {
        mishap_free(failure);
        failure = NULL;
    }
    mishap_runner_end_forgotten(r, slot, failure);
}

static const char *take_outcome(mishap_runner *r, mishap_link *link,
                                const mishap_foreign_message *message)
{
    mishap_link_slot *slot = &link->slots[0];
    mishap_run *run = slot->run;
    mishap_call *call = run ? run->call : slot->call;
    mishap *failure;
    if (link->ending_since_ns)
        return NULL; /* too late: the process is about to be killed because of this call */
    mishap_foreign_known known = {
        .foreign = link->foreign,
        .code_began = link->code_began,
        .interrupted = link->interrupted_ns != 0,
        .ran_ms = (mishap_clock_monotonic_ns() - slot->begun_ns) / MISHAP_MS,
        .limit_ms = call->limit_ms,
    };
    bool last = mishap_foreign_is_last(message, &known, call);
    const char *lie = mishap_foreign_take_outcome(message, &known, call, &failure);
    if (lie)
        return lie;
    if (link->interrupted_ns && run)
        failure = mishap_foreign_correct(link->foreign, call, failure, true);
    if (link->reason)
        failure = tell_reason(link, call, failure);
    if (r->sessions_end_ns && link->is_session)
        failure = mishap_runner_tell_session_end(r, call, failure);
    if (!run)
        end_forgotten(r, slot, failure);
    mishap_runner_clear(r, link, 0, true);
    link->interrupted_ns = 0;
    link->silent_since_ns = 0;
    rest(r, link, last);
    if (run)
        mishap_runner_finish(r, run, failure);
    return NULL;
}

/* Code of a caller may write messages in the name of its program. It must not be able to push the
 * messages of others out of the log. */
static void tell_operator(mishap_link *link, mishap_text words)
{
    const mishap_call *call = mishap_link_call(&link->slots[0]);
    if (link->told > MOST_TOLD || !call->to_operator || !call->request_id.data)
        return;
    link->told += words.length + 1;
    if (link->told > MOST_TOLD)
        words = mishap_text_of("It says more than is kept of one call.");
    if (link->slots[0].run)
        mishap_call_keep_words(link->slots[0].run->call, words);
    call->to_operator(call->app->name, call->operation->name, call->request_id.data, words,
                      call->verbose);
}

static void take_report(mishap_link *link, const mishap_foreign_message *message)
{
    const mishap_link_slot *slot = &link->slots[0];
    const mishap_watcher *watcher = slot->run ? slot->run->call->watcher : NULL;
    if (message->word == MISHAP_FOREIGN_LOG && message->level == MISHAP_FOR_OPERATOR)
        tell_operator(link, message->words);
    else if (message->word == MISHAP_FOREIGN_LOG && watcher && watcher->log)
        watcher->log(watcher, (mishap_level)message->level, message->words);
    else if (message->word == MISHAP_FOREIGN_PROGRESS && watcher && watcher->progress)
        watcher->progress(watcher, message->done, message->total, message->words);
}

static const char *take_start(mishap_runner *r, mishap_link *link,
                              const mishap_foreign_message *message)
{
    const char *lie = NULL;
    if (!link->opening_since_ns)
        return link->joined ? NULL : "that it is ready, though it was";
    mishap *failure = message->word == MISHAP_FOREIGN_UNREADY
                          ? mishap_foreign_take_failure(message, &lie)
                          : NULL;
    if (!lie)
        mishap_runner_end_opening(r, link, failure);
    return lie;
}

/* True if code of a caller may have written what the process sends now. Then a message that does
 * not end its call has no effect, and is no reason to end the process. */
static bool is_of_code(const mishap_link *link)
{
    return link->foreign->code && link->code_began;
}

/* NULL, or what is wrong with the message. */
static const char *take_of_program(mishap_runner *r, mishap_link *link,
                                   const mishap_foreign_message *message, bool its)
{
    if (message->word <= MISHAP_FOREIGN_UNREADY)
        return take_start(r, link, message);
    if (!its) /* a message about a call that is over comes too late, and does no harm */
        return link->joined || message->id <= link->last_number
                   ? NULL
                   : "a message about a call that it does not have";
    if (message->word >= MISHAP_FOREIGN_ANSWER)
        return take_outcome(r, link, message);
    if (message->word == MISHAP_FOREIGN_BEGINS)
        link->code_began = true;
    else
        take_report(link, message);
    return NULL;
}

/* NULL, or what is wrong with the message. *stray: the message has no effect. */
static const char *take_message(mishap_runner *r, mishap_link *link, mishap_text text, bool *stray)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_foreign_message message;
    const char *lie = mishap_foreign_read(&reader, text, &message);
    bool its = link->used && message.id == link->slots[0].number;
    *stray = !link->used && !link->opening_since_ns;
    if (is_of_code(link)) {
        *stray = lie || !its || message.word < MISHAP_FOREIGN_ANSWER;
        lie = *stray ? NULL : take_outcome(r, link, &message);
    } else if (!lie) {
        lie = take_of_program(r, link, &message, its);
    }
    mishap_json_reader_release(&reader);
    return lie;
}

bool mishap_runner_read_foreign(mishap_runner *r, mishap_link *link)
{
    mishap_text message;
    const char *lie = NULL;
    bool stray = !link->used && !link->opening_since_ns;
    int weight = 1;
    ssize_t count = recv(link->socket, r->scratch, MISHAP_PACKET + 1, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (count <= 0) {
        mishap_runner_lose(r, link);
        return false;
    }
    switch (mishap_foreign_gather(&link->in, (mishap_text){ r->scratch, (size_t)count },
                                  mishap_foreign_limit(link->foreign), &message)) {
    case MISHAP_GATHERED_WHOLE:
        weight += (int)(message.length / STRAY_BYTES); /* the length is within its limit */
        lie = take_message(r, link, message, &stray);
        mishap_buffer_reset_within(&link->in, KEPT);
        break;
    case MISHAP_GATHERED_PART:
        stray = stray || is_of_code(link); /* code could send such packets without end */
        break;
    case MISHAP_GATHERED_BAD:
        stray = is_of_code(link);
        if (stray) /* the packets that follow of this message are dropped, too */
            mishap_buffer_release(&link->in);
        else
            lie = link->in.failed ? "more than there is memory for" : "a packet that is none";
        break;
    }
    if (!lie && stray && (link->strays += weight) > MOST_STRAYS)
        lie = "too much that is of no call";
    if (lie)
        mishap_runner_on_lie(r, link, lie);
    return !lie && link->socket >= 0 && !link->dead;
}

/* -- time -------------------------------------------------------------------------------------- */

/* A signal that comes before the program has read the call would have no effect. */
static bool has_read(const mishap_link *link)
{
    int unread = 0;
    return link->sent == link->out.length &&
           (ioctl(link->socket, SIOCOUTQ, &unread) != 0 || unread == 0);
}

static void send_interrupt(const mishap_runner *r, mishap_link *link)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_INTERRUPT,
                                      .worker = link->worker,
                                      .number = link->slots[0].number };
    if (link->awaits_interrupt || link->interrupts == MOST_INTERRUPTS || !has_read(link))
        return;
    link->interrupts++;
    link->awaits_interrupt = mishap_keeper_send(r->settings.keeper, &message, NULL, 0);
}

void mishap_runner_interrupt(mishap_runner *r, mishap_link *link)
{
    if (link->interrupted_ns || link->ending_since_ns)
        return;
    link->interrupted_ns = mishap_clock_monotonic_ns();
    link->interrupts = 0;
    send_interrupt(r, link);
    mishap_runner_wake_at(r, link->interrupted_ns + EARLY_MS * MISHAP_MS);
}

void mishap_runner_sweep_foreign(mishap_runner *r, mishap_link *link, unsigned i, int64_t now)
{
    mishap_link_slot *slot = &link->slots[i];
    int64_t limit_ms = mishap_foreign_interrupt_ms(link->foreign, mishap_link_call(slot));
    if (link->ending_since_ns)
        return;
    if (limit_ms > 0 && now - slot->begun_ns >= limit_ms * MISHAP_MS)
        mishap_runner_interrupt(r, link);
    else if (limit_ms > 0)
        mishap_runner_wake_at(r, slot->begun_ns + limit_ms * MISHAP_MS);
    if (!link->interrupted_ns)
        return;
    if (now - link->interrupted_ns < mishap_foreign_grace_ms(link->foreign) * MISHAP_MS) {
        send_interrupt(r, link);
        return;
    }
    mishap_slot_change(link->page, i, slot->number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_KILLED);
    mishap_runner_ask_to_end(r, link, slot->run ? MISHAP_LINK_TIMEOUT : MISHAP_LINK_CANCELLED, NULL,
                             false);
}

/* -- the end of a process ---------------------------------------------------------------------- */

static void describe_end(const mishap_link_end *end, char *words, size_t size)
{
    if (!end->known)
        snprintf(words, size, "was lost");
    else if (WIFEXITED(end->status))
        snprintf(words, size, "ended with status %d", WEXITSTATUS(end->status));
    else
        snprintf(words, size, "was killed with SIG%s",
                 sigabbrev_np(WTERMSIG(end->status)) ? sigabbrev_np(WTERMSIG(end->status)) : "?");
}

static mishap *tell_way(const mishap_link *link, const mishap_operation *operation)
{
    char words[64];
    switch (link->end.why) {
    case MISHAP_LINK_TIMEOUT:
        return mishap_retryable(mishap_raise(TIMEOUT, "The call was not finished in time."),
                                mishap_operation_danger(operation) == MISHAP_SAFE);
    case MISHAP_LINK_CANCELLED:
        return mishap_raise(CANCELLED, "The call was cancelled.");
    case MISHAP_LINK_LIED:
        return mishap_raise(INTERNAL_ERROR, "The process of %s sent what it must not.",
                            operation->name);
    default:
        describe_end(&link->end, words, sizeof words);
        return link->end.exceeded
                   ? mishap_raise(INTERNAL_ERROR,
                                  "The process of %s had more %s than it may have, and was ended.",
                                  operation->name, mishap_spawn_excess(link->end.exceeded))
                   : mishap_raise(INTERNAL_ERROR, "The process of %s %s.", operation->name, words);
    }
}

static const char *how_it_broke(const mishap_link_end *end)
{
    bool killed = end->known && WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGKILL &&
                  !end->exceeded;
    return end->why == MISHAP_LINK_LIED               ? end->lie
           : end->why == MISHAP_LINK_CLOSED && killed ? "nothing more, and did not end"
                                                      : NULL;
}

static mishap_foreign_end end_of(const mishap_link *link)
{
    const mishap_link_end *end = &link->end;
    return (mishap_foreign_end){ .status = end->known ? end->status : -1,
                                 .timed_out = end->why == MISHAP_LINK_TIMEOUT,
                                 .cancelled = end->why == MISHAP_LINK_CANCELLED,
                                 .code_began = is_of_code(link),
                                 .broke = how_it_broke(end),
                                 .exceeded = mishap_spawn_excess(end->exceeded),
                                 .output = { end->output, end->output_bytes } };
}

bool mishap_runner_failed_by_itself(const mishap_link *link)
{
    mishap_foreign_end end = end_of(link);
    return mishap_foreign_own_exit(&end) != NULL;
}

mishap *mishap_runner_tell_foreign_end(const mishap_link *link, unsigned slot,
                                       const mishap_operation *operation)
{
    const mishap_call *call = mishap_link_call(&link->slots[slot]);
    const mishap_link_end *end = &link->end;
    mishap_foreign_end told = end_of(link);
    told.operation = operation->name;
    told.limit_ms = call->limit_ms;
    const char *meaning = mishap_foreign_own_exit(&told);
    mishap *own = link->foreign->ended && !meaning ? link->foreign->ended(&told) : NULL;
    if (!own)
        own = mishap_foreign_code_ended(link->foreign, &told);
    mishap *m = own ? own : tell_way(link, operation);
    if (!m->constant)
        m->trace.count = 0; /* the stack of the loop that reports the failure is of no interest */
    if (own) {
        char words[64];
        describe_end(end, words, sizeof words);
        m = mishap_note(m, "process", words);
    }
    m = mishap_note(m, "place", "while it had the call");
    mishap_foreign_end alike = told; /* … and a program that failed by itself */
    alike.code_began = false;
    meaning = mishap_foreign_own_exit(&alike);
    if (meaning)
        m = mishap_note(m, "meaning", meaning);
    if (meaning && told.code_began)
        m = mishap_note(m, "hint", "code that can end its process may have chosen this status");
    if (told.broke)
        m = mishap_note(m, "reason", told.broke);
    if (told.exceeded)
        m = mishap_note(m, "exceeded", told.exceeded);
    if (told.timed_out)
        m = mishap_note(m, "limit_ms", call->limit_ms);
    if (told.output.length)
        m = mishap_note(m, "output", told.output);
    if (call->session_is)
        m = mishap_tell(m, "session", call->session_is);
    return link->is_session ? mishap_note(m, "lost", "the state of its session") : m;
}

/* A process that was to end is not worth a line. Nor is one that could not start, which is reported
 * elsewhere. */
void mishap_runner_log_foreign_end(const mishap_runner *r, const mishap_link *link)
{
    char words[64], line[400];
    if (!link->end.known || link->ending_since_ns ||
        (WIFEXITED(link->end.status) && WEXITSTATUS(link->end.status) == 0))
        return;
    describe_end(&link->end, words, sizeof words);
    size_t shown = link->end.output_bytes < sizeof line - 1 ? link->end.output_bytes
                                                            : sizeof line - 1;
    memcpy(line, link->end.output + link->end.output_bytes - shown, shown);
    line[shown] = '\0';
    for (size_t i = 0; i < shown; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = ' ';
    mishap_log_say("%s: a process of the service %s %s%s%s\n", r->settings.plan->app->name,
                   r->settings.plan->groups.groups[link->group].service->name, words,
                   shown ? ": " : "", line);
}
