/*
 * The process of a worker: see serve.h.
 *
 * It has one thread of its own, which reads calls and runs them. An answer is sent before the next
 * handler begins, so a crash of that handler cannot lose it. Only where a service settles several
 * calls at once (batch.h), their answers are sent together. reports.c sends the reports of a
 * running call.
 */
#include "worker/child/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "mishap/carry.h"
#include "operation/changes.h"
#include "worker/child/batch.h"
#include "worker/child/execute.h"
#include "worker/child/last_words.h"
#include "worker/child/reports.h"
#include "worker/child/threads.h"
#include "worker/child/time_guard.h"
#include "worker/child/uploads.h"
#include "worker/wire/keeper_messages.h"

enum {
    KEPT = 256 * 1024, /* bytes of a buffer that stay for the next call */
    SPARE_MS = 2000, /* beyond a handler's time: the loop should end the handler first, in order */
    SETTLE_MS = 10000, /* for a settlement: as long as a loop waits for one */
};

/* The state of the worker: one in a process. */
static struct {
    const mishap_keeper_plan *plan;
    const mishap_worker_group *group;
    const mishap_settlement *settlement; /* of its service; NULL: each call is answered by itself */
    mishap_batch batch;                  /* calls that wait to be settled */
    size_t most_of_batch;
    mishap_worker_user users[MISHAP_KEEPER_LOOPS];
    size_t user_count, next; /* `next`: the user whose turn it is */
    int control;             /* the keeper's socket; -1: none */
    bool ending;             /* no further call is begun */
    bool has_begun;          /* it has begun a call at some time */
    unsigned left_by;        /* the same in every page: see page.h */
    size_t threads;          /* of this process without those of handlers; 0: not known */
    bool left_thread;        /* a handler has left a thread behind: no call follows */
    bool is_copy;            /* a process that a handler forked, and not the worker */
    mishap_buffer out;       /* the outcome of a call */
} w = { .control = -1 };

/* -- connections ------------------------------------------------------------------------------- */

static void add_user(int socket, int page_file)
{
    void *page = mmap(NULL, sizeof(mishap_worker_page), PROT_READ | PROT_WRITE, MAP_SHARED,
                      page_file, 0);
    close(page_file);
    if (page == MAP_FAILED || w.user_count == MISHAP_KEEPER_LOOPS) {
        close(socket);
        return;
    }
    w.users[w.user_count++] = (mishap_worker_user){ .socket = socket, .page = page };
    atomic_store(&w.users[w.user_count - 1].page->has_begun, w.has_begun);
    atomic_store(&w.users[w.user_count - 1].page->left_by, w.left_by);
}

/* Every loop learns that this worker could start: if it dies later, a call is the cause. */
static void note_begun(void)
{
    if (w.has_begun)
        return;
    w.has_begun = true;
    for (size_t i = 0; i < w.user_count; i++)
        atomic_store(&w.users[i].page->has_begun, true);
}

static void remove_user(mishap_worker_user *user)
{
    close(user->socket);
    munmap(user->page, sizeof *user->page);
    mishap_buffer_release(&user->in);
    mishap_buffer_release(&user->held);
    mishap_uploads_release(user);
    mishap_batch_leave(&w.batch, user, &w.users[w.user_count - 1]);
    *user = w.users[--w.user_count];
}

/* Sending to a loop failed. A loop that has gone away does not concern the others. But if the
 * descriptor is no socket any more, a handler has closed it: the loop at the other end will have
 * this worker killed, so no call of another loop may begin. */
static void mind_broken(void)
{
    w.ending = w.ending || errno == EBADF || errno == ENOTSOCK;
}

/* -- calls ------------------------------------------------------------------------------------- */

static _Noreturn void leave_process(void)
{
    mishap_service_close_all();
    exit(0);
}

/* A child process of a handler must not send anything: not while it runs, and not if it returns
 * from the handler. Its bytes would be mixed with those of the worker. */
static void become_copy(void)
{
    w.is_copy = true;
    mishap_reports_forget();
    for (size_t i = 0; i < w.user_count; i++)
        close(w.users[i].socket);
    w.user_count = 0;
    if (w.control >= 0)
        close(w.control);
    mishap_words_for(NULL, 0);
}

/* Calls that are settled together are answered together, too, so only this process knows how long
 * each of them took. */
static void tell_time(mishap_worker_page *page, unsigned slot)
{
    int64_t us = (mishap_clock_monotonic_ns() - atomic_load(&page->begun_ns)) / 1000;
    atomic_store(&page->ran_us[slot], us < 1 ? 1U : us < INT32_MAX ? (unsigned)us : INT32_MAX);
}

/* End the call in its slot. If the loop has decided to kill this worker meanwhile, no answer is
 * sent: the worker waits to be killed. */
static void end_call(mishap_worker_user *user, unsigned slot, uint32_t number, mishap_slot_state to)
{
    if (to == MISHAP_SLOT_RAN)
        tell_time(user->page, slot);
    mishap_words_for(NULL, 0);
    mishap_reports_end();
    if (!mishap_slot_change(user->page, slot, number, MISHAP_SLOT_BEGUN, to))
        for (;;)
            pause();
}

/* An outcome that is too large, or for which there is no memory, is replaced by a small failure. */
static void put_outcome(unsigned slot, const mishap_call *call, const mishap *failure)
{
    mishap_buffer_reset_within(&w.out, KEPT);
    if (call)
        mishap_frame_put_outcome(&w.out, slot, call, failure);
    if (call && !w.out.failed)
        return;
    mishap *instead = call && call->answer.length > MISHAP_FRAME_LIMIT / 2
                          ? mishap_raise(INTERNAL_ERROR, "The answer of %s is too large.",
                                         call->operation->name)
                          : mishap_out_of_memory();
    mishap_buffer_release(&w.out);
    mishap_frame_put_failure(&w.out, slot, failure && !call ? failure : instead);
    mishap_free(instead);
}

static const char *copy_text(mishap_call *call, mishap_text text)
{
    return text.data ? mishap_arena_copy(&call->arena, text).data : NULL;
}

static void prepare_call(mishap_call *call, const mishap_frame_call *asked,
                         const mishap_worker_user *user, unsigned slot)
{
    call->watcher = mishap_reports_watcher(asked);
    call->verbose = asked->verbose;
    call->caller = copy_text(call, asked->caller);
    call->cursor = copy_text(call, asked->cursor);
    call->boundary = asked->boundary;
    call->request_id =
        /* These stay in the input buffer until the call is over. */
        asked->request_id;
    call->remote = asked->remote;
    call->headers = asked->headers;
    call->traceparent = asked->traceparent;
    call->if_match = asked->if_match;
    call->if_none_match = asked->if_none_match;
    call->mark = asked->mark;
    call->to_operator = mishap_reports_operator;
    call->id = asked->id.data ? mishap_arena_copy(&call->arena, asked->id) : asked->id;
    call->repeated = asked->repeated;
    call->caller_is_free = asked->caller_is_free;
    call->scopes = asked->scopes;
    call->replies = asked->replies;
    call->rounds = asked->rounds;
    call->log_after = asked->log_after;
    call->batched = w.settlement;
    call->body = asked->body;
    call->body_type = copy_text(call, asked->body_type);
    call->cancelled_by = &user->page->cancelled[slot];
    call->deadline_ns = mishap_clock_monotonic_ns() + asked->limit_ms * INT64_C(1000000);
}

/* -- calls that are settled together ----------------------------------------------------------- */

static void send_held(mishap_worker_user *user)
{
    if (user->held.length && !mishap_worker_send(user->socket, &user->held)) {
        mind_broken();
        user->broken = true; /* removed later, where no caller up the stack still uses it */
    }
    mishap_buffer_reset_within(&user->held, KEPT);
}

static void note_settling(int64_t since_ns)
{
    for (size_t i = 0; i < w.user_count; i++)
        atomic_store(&w.users[i].page->settling_ns, since_ns);
}

/* The batch is neither settled nor answered: the loops run its calls again in another worker. */
static void abandon_batch(void)
{
    w.batch.count = 0;
    w.ending = true;
}

static void settle_batch(void)
{
    void *state = NULL;
    if (!w.batch.count)
        return;
    mishap_worker_user *first = w.batch.calls[0].user;
    note_settling(mishap_clock_monotonic_ns());
    mishap_time_guard_set(SETTLE_MS + SPARE_MS);
    mishap_words_for(first ? first->page : NULL, (uintptr_t)w.settlement->settle);
    mishap *failure = mishap_service_open(w.plan->app, w.group->service, &state);
    if (!failure)
        failure = w.settlement->settle(state);
    if (w.is_copy)
        _exit(0);
    mishap_words_for(NULL, 0);
    mishap_time_guard_set(0);
    note_settling(0);
    bool whole = mishap_batch_conclude(&w.batch, w.plan->app, failure);
    mishap_free(failure);
    if (!whole) {
        abandon_batch();
        return;
    }
    for (size_t i = 0; i < w.user_count; i++)
        send_held(&w.users[i]);
}

/* The reports of a call count only if it worked. */
static void hold_outcome(mishap_worker_user *user, unsigned slot, const mishap_call *call,
                         const mishap *failure)
{
    if (failure)
        mishap_reports_take_back(user);
    put_outcome(slot, call, failure);
    mishap_buffer_put_text(&user->held, mishap_buffer_text(&w.out));
}

/* A call that was ended by a jump, or that found its service of no use, is answered. But its batch
 * is not settled: what the service has open may be locked or damaged. */
static void finish_batched(mishap_worker_user *user, unsigned slot, uint32_t number,
                           const mishap_call *call, const mishap *failure)
{
    bool over = call->ended || call->lost;
    end_call(user, slot, number, over ? MISHAP_SLOT_DONE : MISHAP_SLOT_RAN);
    if (over) {
        put_outcome(slot, call, failure);
        mishap_worker_send(user->socket, &w.out);
        abandon_batch();
        return;
    }
    hold_outcome(user, slot, call, failure);
    if (user->held.failed)
        abandon_batch();
    else
        mishap_batch_add(&w.batch, user, slot, number, call->operation);
}

static void begin_batched(bool repeated)
{
    if (!w.batch.count)
        w.batch.since_ns = mishap_clock_monotonic_ns();
    w.batch.alone = repeated;
}

/* -- threads ----------------------------------------------------------------------------------- */

/* The loops no longer give this worker a call, and run elsewhere what it has not begun. Then the
 * worker may take its time to exit: a thread that still runs may hold a lock that exit() waits
 * for. */
static void part_with_loops(void)
{
    for (size_t i = 0; i < w.user_count; i++)
        shutdown(w.users[i].socket, SHUT_RDWR);
}

static void note_left(const mishap_operation *operation)
{
    const mishap_operation *operations = w.plan->app->operations;
    unsigned at = 0;
    while (operations[at].name && &operations[at] != operation)
        at++;
    w.left_by = operations[at].name ? at + 1 : 0;
    for (size_t i = 0; i < w.user_count; i++)
        atomic_store(&w.users[i].page->left_by, w.left_by);
}

/* A thread that a handler leaves behind may crash in the middle of another caller's call. So the
 * worker takes no further call, unless the service declares such threads. The log names the
 * operation. */
static void look_for_threads(const mishap_call *call)
{
    const mishap_service *service = w.group->service;
    size_t count = w.threads ? mishap_threads_count(w.threads) : 0;
    if (count <= w.threads)
        return;
    note_left(call->operation);
    if (service && service->threads) {
        w.threads = count;
        return;
    }
    mishap_threads_tell(call->operation->name, w.group->alone && !w.settlement);
    w.left_thread = true;
}

/* -- one call ---------------------------------------------------------------------------------- */

/* Run a call, and have its answer ready to be sent, or held. */
static mishap *run_and_end(mishap_worker_user *user, unsigned slot, const mishap_frame_call *asked,
                           mishap_call *call)
{
    prepare_call(call, asked, user, slot);
    if (w.settlement)
        begin_batched(asked->repeated);
    mishap_time_guard_set(asked->limit_ms + SPARE_MS);
    if (asked->has_upload)
        mishap_uploads_begin(user, slot, call, asked->limit_ms + SPARE_MS);
    mishap_reports_begin(user, slot, w.settlement ? call : NULL);
    mishap_words_for(user->page, mishap_operation_entry(call->operation));
    mishap *failure = mishap_call_run(call);
    if (w.is_copy)
        _exit(0);
    look_for_threads(call);
    if (w.settlement)
        finish_batched(user, slot, asked->number, call, failure);
    else
        end_call(user, slot, asked->number, MISHAP_SLOT_DONE);
    fflush(stdout); /* its output is for the operator, now and not when the worker exits */
    mishap_time_guard_set(0);
    w.ending = w.ending || call->ended || call->lost;
    return failure;
}

/* NULL: there is no operation of this number. */
static const mishap_operation *find_operation(uint32_t number)
{
    const mishap_operation *operations = w.plan->app->operations;
    const mishap_service *service = w.group->service;
    if (number == MISHAP_FRAME_TRIAL)
        return service && service->trial ? service->trial->operation : NULL;
    for (uint32_t i = 0; operations[i].name; i++)
        if (i == number)
            return &operations[i];
    return NULL;
}

/* The loop has checked the call already. A call that was ended by a jump may have left locks
 * behind, so the worker runs no further call. A call that may have run before is settled alone. */
static bool run_call(mishap_worker_user *user, unsigned slot, const mishap_frame_call *asked)
{
    const mishap_operation *operation = find_operation(asked->operation);
    mishap_call *call = NULL;
    uint32_t number = asked->number;
    bool sent = true;
    if (asked->repeated && w.settlement)
        settle_batch();
    if (w.ending)
        return true;
    atomic_store(&user->page->begun_ns, mishap_clock_monotonic_ns());
    if (!mishap_slot_change(user->page, slot, number, MISHAP_SLOT_HANDED, MISHAP_SLOT_BEGUN))
        return true; /* the loop took it back */
    note_begun();
    mishap *failure = mishap_call_remake(w.plan->app, operation, asked->arguments, &call);
    if (call)
        failure = run_and_end(user, slot, asked, call);
    else
        mishap_slot_change(user->page, slot, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
    if (!call || !w.settlement) {
        put_outcome(slot, call, failure);
        sent = mishap_worker_send(user->socket, &w.out);
        if (!sent)
            mind_broken();
    }
    mishap_free(failure);
    mishap_call_end(call);
    return sent;
}

/* A worker that cannot open its service ends. The loops decide when another process tries again. */
static bool open_service(const mishap_worker_user *user, const mishap_framed *frame)
{
    const mishap_service *service = w.group->service;
    char room[MISHAP_IDENTITY_LIMIT];
    const char *identity;
    void *state;
    if (!mishap_frame_take_open(frame->payload, room, &identity))
        return false;
    if (service && identity)
        mishap_service_expect(service, identity);
    mishap *failure = service ? mishap_service_open(w.plan->app, service, &state) : NULL;
    mishap_buffer_reset(&w.out);
    mishap_frame_put_opened(&w.out, failure || !service ? "" : mishap_service_identity(service),
                            failure);
    w.ending = w.ending || failure;
    if (!w.has_begun)
        w.threads = mishap_threads_count(0);
    mishap_free(failure);
    return mishap_worker_send(user->socket, &w.out);
}

/* -- frames ------------------------------------------------------------------------------------ */

/* Process one frame. False: the connection is of no more use. */
static bool take_frame(mishap_worker_user *user, const mishap_framed *frame)
{
    mishap_frame_call asked;
    if (frame->type == MISHAP_FRAME_OPEN)
        return open_service(user, frame);
    if (frame->type != MISHAP_FRAME_CALL || frame->slot >= MISHAP_SLOTS ||
        !mishap_frame_take_call(frame->payload, &asked) || !find_operation(asked.operation))
        return false;
    mishap_uploads_take(user, asked.has_upload);
    bool sent = run_call(user, frame->slot, &asked);
    mishap_uploads_end();
    return sent;
}

/* Run the first call that a loop has sent. False: there is no complete frame. *gone: the connection
 * is of no more use. */
static bool take_next(mishap_worker_user *user, bool *gone)
{
    mishap_framed frame;
    size_t size;
    *gone = false;
    if (user->in.length == user->taken)
        return false; /* the buffer may have no memory yet: no offset may be added to NULL */
    mishap_text rest = { user->in.data + user->taken, user->in.length - user->taken };
    switch (mishap_frame_read(rest, &frame, &size)) {
    case MISHAP_FRAME_MORE:
        return false;
    case MISHAP_FRAME_BAD:
        *gone = true;
        return false;
    case MISHAP_FRAME_WHOLE:
        break;
    }
    *gone = !take_frame(user, &frame);
    user->taken += size;
    return !*gone;
}

/* Read what has arrived, or wait for it. False: the loop has gone away. */
static bool read_more(mishap_worker_user *user, bool wait)
{
    bool read = mishap_uploads_receive(user, wait);
    if (!read)
        mind_broken();
    return read;
}

/* -- several loops ----------------------------------------------------------------------------- */

static void hear_keeper(void)
{
    mishap_keeper_message message;
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    int got = mishap_keeper_receive(w.control, &message, files, &count, 0);
    if (got > 0 && message.word == MISHAP_KEEPER_ADMIT && count == MISHAP_KEEPER_FILES)
        add_user(files[0], files[1]);
    else if (got < 0)
        leave_process(); /* a worker does not outlive its keeper */
}

/* Wait until a loop or the keeper sends something. False: nothing came. */
static bool wait_for_any(int wait_ms)
{
    struct pollfd files[MISHAP_KEEPER_LOOPS + 1];
    size_t count = w.user_count;
    for (size_t i = 0; i < count; i++)
        files[i] = (struct pollfd){ .fd = w.users[i].socket, .events = POLLIN };
    files[count] = (struct pollfd){ .fd = w.control, .events = POLLIN };
    if (poll(files, count + 1, wait_ms) <= 0)
        return false;
    for (size_t i = count; i-- > 0;)
        if (files[i].revents && !read_more(&w.users[i], false))
            remove_user(&w.users[i]);
    if (files[count].revents)
        hear_keeper();
    return true;
}

/* A handler may have closed the socket of another loop than its own: see mind_broken(). */
static void look_for_broken(void)
{
    struct pollfd files[MISHAP_KEEPER_LOOPS];
    size_t count = w.user_count;
    for (size_t i = 0; i < count; i++)
        files[i] = (struct pollfd){ .fd = w.users[i].socket };
    if (count > 1 && poll(files, count, 0) > 0)
        for (size_t i = 0; i < count; i++)
            w.ending = w.ending || files[i].revents & POLLNVAL;
}

static bool takes_calls(void)
{
    return !w.ending && !w.left_thread;
}

/* One call of each loop in turn. False: no loop has a call. */
static bool take_turns(void)
{
    bool any = false;
    for (size_t i = 0; i < w.user_count && takes_calls(); i++) {
        mishap_worker_user *user = &w.users[w.next++ % w.user_count];
        bool gone;
        bool taken = take_next(user, &gone);
        any = taken || any;
        if (gone)
            remove_user(user);
        if (taken)
            look_for_broken();
        if (w.settlement && mishap_batch_is_due(&w.batch, w.most_of_batch) && !w.ending)
            settle_batch();
    }
    for (size_t i = w.settlement ? w.user_count : 0; i-- > 0;)
        if (w.users[i].broken)
            remove_user(&w.users[i]);
    return any;
}

/* Calls that have arrived meanwhile join the batch. */
static void settle_or_wait(void)
{
    if (!w.batch.count)
        wait_for_any(-1);
    else if (!wait_for_any(0))
        settle_batch();
}

static void wait_for_one(void)
{
    if (!w.user_count || !read_more(&w.users[0], true))
        leave_process();
}

/* -- from the start to the end ----------------------------------------------------------------- */

_Noreturn void mishap_worker_serve(const mishap_keeper_plan *plan, size_t group, const int *files,
                                   size_t count)
{
    w.plan = plan;
    w.group = &plan->groups.groups[group];
    w.settlement = w.group->settled ? w.group->service->settlement : NULL;
    w.most_of_batch = plan->batch > 0 && plan->batch < MISHAP_BATCH ? (size_t)plan->batch
                                                                    : (size_t)MISHAP_BATCH;
    if (w.group->program)
        mishap_worker_execute(w.group->program, files);
    mishap_words_begin();
    pthread_atfork(NULL, NULL, become_copy);
    if (plan->setup)
        mishap_service_use(plan->setup);
    mishap_changes_heard_by(NULL,
                            NULL); /* drop the listeners of the process that forked this one */
    mishap_changes_heard_by(mishap_reports_change, NULL);
    w.threads = mishap_threads_count(0);
    add_user(files[0], files[1]);
    if (count > MISHAP_KEEPER_FILES) {
        w.control = files[2];
        mishap_time_guard_begin();
    }
    while (takes_calls())
        if (!take_turns() && takes_calls()) {
            if (w.control >= 0)
                settle_or_wait();
            else
                wait_for_one();
        }
    if (!w.ending)
        settle_batch();
    if (w.left_thread)
        part_with_loops();
    leave_process();
}
