/* Calls of a worker that are settled together: whose answer goes where, when a loop is gone. */
#include "testing.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mishap/inside.h"
#include "worker/child/batch.h"
#include "worker/child/reports.h"

enum { USERS = 4 };

static const mishap_operation operations[] = {
    { "add", "Add", .raises = MISHAP_RAISES(CONFLICT) },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

static mishap_worker_page pages[USERS];
static mishap_worker_user users[USERS];
static size_t user_count;
static mishap_batch batch;

/* Loops 0 to 3, each of which has one call in the slot of its own number. */
static void set_up(void)
{
    memset(pages, 0, sizeof pages);
    batch = (mishap_batch){ .since_ns = mishap_clock_monotonic_ns() };
    user_count = USERS;
    for (unsigned i = 0; i < USERS; i++) {
        users[i] = (mishap_worker_user){ .socket = (int)i, .page = &pages[i] };
        mishap_buffer_put_char(&users[i].held, (char)('a' + i));
        atomic_store(&pages[i].slots[i], mishap_slot_word(i + 1, MISHAP_SLOT_RAN));
        mishap_batch_add(&batch, &users[i], i, i + 1, &operations[0]);
    }
}

/* As a worker does it. */
static void remove_user(unsigned at)
{
    mishap_buffer_release(&users[at].held);
    mishap_batch_leave(&batch, &users[at], &users[user_count - 1]);
    users[at] = users[--user_count];
}

static void release(void)
{
    for (size_t i = 0; i < user_count; i++)
        mishap_buffer_release(&users[i].held);
}

static const mishap_worker_user *user_of(unsigned loop)
{
    for (size_t i = 0; i < user_count; i++)
        if (users[i].socket == (int)loop)
            return &users[i];
    return NULL;
}

static bool is_done(unsigned loop)
{
    return mishap_slot_state_of(&pages[loop], loop, loop + 1) == MISHAP_SLOT_DONE;
}

/* Each held frame must be of the slot of its loop. */
static void expect_failure(unsigned loop, const mishap_code *code)
{
    const mishap_worker_user *user = user_of(loop);
    mishap_framed frame;
    size_t size;
    mishap_call *call = NULL;
    mishap *failure = NULL;
    assert_int_equal(mishap_frame_read(mishap_buffer_text(&user->held), &frame, &size),
                     MISHAP_FRAME_WHOLE);
    assert_int_equal(size, user->held.length);
    assert_int_equal(frame.slot, loop);
    assert_null(mishap_call_remake(&app, &operations[0], T("{}"), &call));
    assert_true(mishap_frame_take_outcome(frame.payload, call, &failure));
    assert_ptr_equal(mishap_told(failure)->code, code);
    mishap_free(failure);
    mishap_call_end(call);
}

/* The last loop of the list takes the place of the one that is gone, with its calls. */
static void an_answer_reaches_its_own_loop_after_another_is_gone(void **state)
{
    (void)state;
    for (unsigned gone = 0; gone < USERS; gone++) {
        set_up();
        remove_user(gone);
        assert_true(mishap_batch_conclude(&batch, &app, NULL));
        for (unsigned i = 0; i < USERS; i++) {
            assert_int_equal(is_done(i), i != gone);
            if (i == gone)
                continue;
            assert_int_equal(user_of(i)->held.length, 1);
            assert_int_equal(user_of(i)->held.data[0], 'a' + (int)i);
        }
        assert_int_equal(batch.count, 0);
        release();
    }
}

static void a_failure_reaches_each_loop_that_is_left_and_nothing_else_does(void **state)
{
    (void)state;
    for (unsigned gone = 0; gone < USERS; gone++) {
        set_up();
        remove_user(gone);
        mishap *failure = mishap_raise(CONFLICT, "It was changed meanwhile.");
        batch.alone = true;
        assert_true(mishap_batch_conclude(&batch, &app, failure));
        assert_false(batch.alone);
        for (unsigned i = 0; i < USERS; i++) {
            assert_int_equal(is_done(i), i != gone);
            if (i != gone)
                expect_failure(i, MISHAP_CODE_CONFLICT);
        }
        mishap_free(failure);
        release();
    }
}

static void loops_may_go_one_after_the_other(void **state)
{
    (void)state;
    set_up();
    remove_user(0);
    remove_user(0); /* the one that was the last */
    assert_true(mishap_batch_conclude(&batch, &app, NULL));
    assert_true(!is_done(0) && is_done(1) && is_done(2) && !is_done(3));
    release();
}

static void what_there_is_no_memory_for_is_said(void **state)
{
    (void)state;
    set_up();
    users[2].held.failed = true;
    assert_false(mishap_batch_conclude(&batch, &app, NULL));
    release();
}

static void a_batch_is_due_when_it_is_full_or_old_or_alone(void **state)
{
    (void)state;
    set_up();
    batch.since_ns = mishap_clock_monotonic_ns() + INT64_C(60000000000);
    assert_false(mishap_batch_is_due(&batch, USERS + 1));
    assert_true(mishap_batch_is_due(&batch, USERS));
    batch.alone = true;
    assert_true(mishap_batch_is_due(&batch, USERS + 1));
    batch.alone = false;
    batch.since_ns = mishap_clock_monotonic_ns() - MISHAP_BATCH_MS * INT64_C(1000000) - 1;
    assert_true(mishap_batch_is_due(&batch, USERS + 1));
    batch.count = 0;
    assert_false(mishap_batch_is_due(&batch, 0));
    release();
}

/* A thread of a handler may still run when the call is over. */
static void nothing_is_reported_between_two_calls(void **state)
{
    int ends[2];
    char bytes[100];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    mishap_worker_user user = { .socket = ends[0] };
    for (int i = 0; i < 2; i++) {
        mishap_reports_change(NULL, T("thing://1"));
        assert_int_equal(recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT), -1);
        mishap_reports_begin(&user, 3, NULL);
        mishap_reports_change(NULL, T("thing://2"));
        assert_true(recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT) > 9);
        mishap_reports_end();
    }
    close(ends[0]);
    close(ends[1]);
}

/* 16 MB, with the head of each report. What was held for calls before it does not count. */
static void so_much_is_held_of_a_call_and_not_a_byte_more(void **state)
{
    enum { MOST = 16 << 20, PIECE = 1 << 20, LEFT = 100 };
    char *bytes = test_calloc(1, PIECE);
    const mishap_frame_call asked = { .wants_pieces = true };
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        mishap_worker_user user = { .socket = -1 };
        mishap_call *call;
        assert_null(mishap_call_remake(&app, &operations[0], T("{}"), &call));
        mishap_buffer_put(&user.held, bytes, PIECE); /* of others */
        const mishap_watcher *watcher = mishap_reports_watcher(&asked);
        mishap_reports_begin(&user, 0, call);
        for (size_t i = 0; i < MOST / PIECE; i++) {
            size_t size = PIECE - MISHAP_FRAME_HEAD - (i ? 0 : LEFT);
            assert_true(watcher->piece(watcher, (mishap_text){ bytes, size }));
        }
        assert_int_equal(user.held.length, PIECE + MOST - LEFT);
        size_t last = LEFT - MISHAP_FRAME_HEAD + more;
        assert_int_equal(watcher->piece(watcher, (mishap_text){ bytes, last }), !more);
        assert_int_equal(call->overlong, more);
        assert_int_equal(user.held.length, PIECE + MOST - (more ? LEFT : 0));
        if (more) /* nor is anything held that comes later */
            assert_false(watcher->piece(watcher, (mishap_text){ bytes, 1 }));
        mishap_reports_end();
        mishap_reports_take_back(&user);
        assert_int_equal(user.held.length, PIECE);
        mishap_buffer_release(&user.held);
        mishap_call_end(call);
    }
    test_free(bytes);
}

static void *report_much(void *text)
{
    mishap_reports_change(NULL, *(const mishap_text *)text);
    return NULL;
}

/* In the process that a handler has forked there is no such thread, and no loop to report to. */
static void a_forked_process_does_not_wait_for_a_report_of_its_parent(void **state)
{
    enum { MUCH = 8 * 1024 * 1024, PATIENCE_MS = 30000 };
    char *bytes = test_calloc(1, MUCH);
    mishap_text text = { bytes, MUCH };
    int ends[2], status = -1;
    pthread_t thread;
    pid_t ended = 0;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    mishap_worker_user user = { .socket = ends[0] };
    mishap_reports_begin(&user, 0, NULL);
    assert_int_equal(pthread_create(&thread, NULL, report_much, &text), 0);
    struct pollfd file = { .fd = ends[1], .events = POLLIN };
    assert_int_equal(poll(&file, 1, 4 * PATIENCE_MS), 1); /* it sends, and cannot send all */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        mishap_reports_forget();
        mishap_reports_change(NULL, text);
        _exit(0);
    }
    for (int i = 0; i < PATIENCE_MS && !ended; i++) {
        ended = waitpid(pid, &status, WNOHANG);
        poll(NULL, 0, 1);
    }
    if (!ended) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(ends[1]); /* which ends the thread */
    assert_int_equal(pthread_join(thread, NULL), 0);
    mishap_reports_end();
    close(ends[0]);
    test_free(bytes);
    assert_int_equal(ended, pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(an_answer_reaches_its_own_loop_after_another_is_gone),
        TEST(a_failure_reaches_each_loop_that_is_left_and_nothing_else_does),
        TEST(loops_may_go_one_after_the_other),
        TEST(what_there_is_no_memory_for_is_said),
        TEST(a_batch_is_due_when_it_is_full_or_old_or_alone),
        TEST(nothing_is_reported_between_two_calls),
        TEST(so_much_is_held_of_a_call_and_not_a_byte_more),
        TEST(a_forked_process_does_not_wait_for_a_report_of_its_parent),
    };
    return RUN(tests);
}
