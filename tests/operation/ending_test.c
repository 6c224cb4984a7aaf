/* How a call ends, other than by a crash that tests/cli shows: what was deferred is called, and a
 * handler that ends its thread has ended only its call. */
#include <pthread.h>
#include <unistd.h>

#include "mishap/inside.h"
#include "operation/call.h"
#include "testing.h"

/* -- functions to defer ------------------------------------------------------------------------ */

static char order[64]; /* a letter for each that was called */

static char *letter(char c)
{
    static char letters[] = "123abr!?|";
    return strchr(letters, c);
}

static void put(void *one)
{
    size_t length = strlen(order);
    assert_true(length < sizeof order - 1);
    order[length] = *(const char *)one;
    order[length + 1] = '\0';
}

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void crash(void *unused)
{
    (void)unused;
    put(letter('!'));
    abort();
}

static void ask_wrongly(void *call)
{
    put(letter('?'));
    mishap_string(call, "other");
}

static void end_thread(void *unused)
{
    (void)unused;
    put(letter('|'));
    pthread_exit(NULL);
}

static void add_to_answer(void *call)
{
    mishap_answer_member(call, "deferred", (bool)true);
}

static void defer_another(void *call)
{
    put(letter('a'));
    mishap_call_defer(call, put, letter('b'));
}

/* -- handlers ---------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mishap *(*handler)(mishap_call *call);

static void defer_three(mishap_call *call)
{
    mishap_call_defer(call, put, letter('1'));
    mishap_call_defer(call, put, letter('2'));
    mishap_call_defer(call, put, letter('3'));
}

static mishap *lock_and_ask_wrongly(mishap_call *call)
{
    pthread_mutex_lock(&lock);
    mishap_call_defer(call, unlock, &lock);
    return mishap_answer(call, mishap_string(call, "other"));
}

static mishap *lock_and_answer(mishap_call *call)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return mishap_raise(INTERNAL_ERROR, "It is still locked.");
    mishap_call_defer(call, unlock, &lock);
    return mishap_answer(call, "{}");
}

static mishap *return_an_answer(mishap_call *call)
{
    defer_three(call);
    mishap_call_defer(call, add_to_answer, call);
    put(letter('r'));
    return mishap_answer_member(call, "returned", (bool)true);
}

static mishap *return_a_failure(mishap_call *call)
{
    defer_three(call);
    return mishap_raise(NOT_FOUND, "It is not there.");
}

static mishap *take_too_much(mishap_call *call)
{
    defer_three(call);
    mishap_answer(call, "{\"half\":\"done\"}");
    mishap_call_take(call, SIZE_MAX / 2);
    return NULL;
}

static mishap *defer_more(mishap_call *call)
{
    defer_three(call);
    mishap_call_defer(call, defer_another, call);
    return mishap_answer(call, "{}");
}

static mishap *defer_a_crash(mishap_call *call)
{
    mishap_call_defer(call, put, letter('1'));
    mishap_call_defer(call, crash, NULL);
    mishap_call_defer(call, put, letter('3'));
    return mishap_raise(NOT_FOUND, "It is not there.");
}

static mishap *defer_a_wrong_question(mishap_call *call)
{
    mishap_call_defer(call, put, letter('1'));
    mishap_call_defer(call, ask_wrongly, call);
    mishap_call_defer(call, put, letter('3'));
    return mishap_answer(call, "{\"half\":\"done\"}");
}

static mishap *defer_an_end(mishap_call *call)
{
    mishap_call_defer(call, put, letter('1'));
    mishap_call_defer(call, end_thread, NULL);
    return mishap_answer(call, "{\"half\":\"done\"}");
}

static mishap *defer_and_crash(mishap_call *call)
{
    defer_three(call);
    abort();
}

static mishap *defer_and_end_thread(mishap_call *call)
{
    defer_three(call);
    mishap_answer(call, "{\"half\":\"done\"}");
    pthread_exit(NULL);
}

static size_t deferred, undone;

static void count(void *unused)
{
    (void)unused;
    undone++;
}

static mishap *defer_until_memory_ends(mishap_call *call)
{
    fail_at = calls + 1;
    while (undone == 0) {
        deferred++;
        mishap_call_defer(call, count, NULL);
    }
    return mishap_answer(call, "{}");
}

/* -- running them ------------------------------------------------------------------------------ */

static mishap *run_current(mishap_call *call)
{
    return handler(call);
}

static const mishap_operation operations[] = {
    { "end", "End", NULL, run_current, .raises = MISHAP_RAISES(NOT_FOUND) },
    { 0 },
};
static const mishap_app app = { .name = "test-app", .operations = operations };
static bool crashed;
static char answer[64];

/* What became of the call, and into `answer` what it answered. */
static mishap *run(mishap *(*wanted)(mishap_call *call))
{
    mishap_call *call;
    mishap_answer_kind kind;
    handler = wanted;
    order[0] = '\0';
    assert_null(mishap_call_begin(&app, operations, T("{}"), &call));
    mishap *failure = mishap_call_run(call);
    mishap_text text = mishap_call_answer(call, &kind);
    snprintf(answer, sizeof answer, "%.*s", (int)text.length, text.length ? text.data : "");
    crashed = call->crashed;
    mishap_call_end(call);
    return failure;
}

/* An INTERNAL_ERROR whose private side has this text; nothing is answered. */
static void assert_ended(const mishap *m, const char *why)
{
    mishap_buffer account = { 0 };
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    mishap_account(m, &account);
    mishap_buffer_put_char(&account, '\0');
    if (!strstr(account.data, why))
        fail_msg("no \"%s\" in: %s", why, account.data);
    mishap_buffer_release(&account);
    assert_string_equal(answer, "");
}

static bool has_noted_parameter(const mishap *m)
{
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    mishap_buffer_put_char(&account, '\0');
    bool found = strstr(account.data, "noted parameter = ");
    mishap_buffer_release(&account);
    return found;
}

static void *entry_of(void (*function)(void *argument))
{
    return (void *)((uintptr_t)function + 1);
}

/* -- what was deferred ------------------------------------------------------------------------- */

static void a_lock_held_by_a_call_that_was_ended_is_free_for_the_next(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        mishap *m = run(lock_and_ask_wrongly);
        assert_ended(m, "asked for a parameter that is not declared");
        assert_true(has_noted_parameter(m));
        mishap_free(m);
        assert_null(run(lock_and_answer));
    }
    assert_int_equal(pthread_mutex_trylock(&lock), 0);
    pthread_mutex_unlock(&lock);
}

static void what_was_deferred_last_is_called_first_and_before_the_answer_is_looked_at(void **state)
{
    (void)state;
    assert_null(run(return_an_answer));
    assert_string_equal(order, "r321");
    assert_string_equal(answer, "{\"returned\":true,\"deferred\":true}");
}

static void a_failure_stays_what_it_is(void **state)
{
    (void)state;
    mishap *m = run(return_a_failure);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_FOUND);
    assert_string_equal(order, "321");
    mishap_free(m);
}

static void what_was_deferred_is_called_when_there_is_no_memory(void **state)
{
    (void)state;
    mishap *m = run(take_too_much);
    assert_ended(m, "there was not enough memory");
    assert_false(has_noted_parameter(m));
    assert_string_equal(order, "321");
    mishap_free(m);
}

static void a_deferred_function_may_defer_another(void **state)
{
    (void)state;
    assert_null(run(defer_more));
    assert_string_equal(order, "ab321");
}

static void after_a_crash_nothing_is_called(void **state)
{
    (void)state;
    mishap *m = run(defer_and_crash);
    assert_ended(m, "The handler of end crashed with SIGABRT.");
    assert_true(crashed);
    assert_string_equal(order, "");
    mishap_free(m);
}

static void a_deferred_function_that_crashes_is_the_last(void **state)
{
    (void)state;
    mishap *m = run(defer_a_crash);
    assert_ended(m, "The deferred function of end crashed with SIGABRT.");
    assert_true(crashed);
    assert_string_equal(order, "3!");
    assert_ptr_equal(mishap_told(mishap_cause(m))->code, MISHAP_CODE_NOT_FOUND);
    mishap_free(m);
}

static void after_a_deferred_function_that_is_ended_the_others_are_called(void **state)
{
    (void)state;
    mishap *m = run(defer_a_wrong_question);
    assert_ended(m, "asked for a parameter that is not declared");
    assert_false(crashed);
    assert_string_equal(order, "3?1");
    mishap_free(m);
}

static void a_function_that_cannot_be_kept_is_called_at_once_and_ends_the_call(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    deferred = undone = 0;
    mishap *m = run(defer_until_memory_ends);
    fail_at = 0;
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    assert_true(deferred > 0);
    assert_int_equal(undone, deferred);
    mishap_free(m);
    assert_int_equal(blocks, 0);
    mishap_use_allocator(NULL);
}

/* -- threads ----------------------------------------------------------------------------------- */

/* On a thread of its own, which goes on with the next call and comes to its end as it should. */
static void *end_and_go_on(void *result)
{
    for (int i = 0; i < 3; i++) {
        mishap *m = run(defer_and_end_thread);
        assert_ended(m, "the handler ended its thread");
        assert_ptr_equal(m->trace.addresses[0], (void *)((uintptr_t)run_current + 1));
        assert_false(crashed);
        assert_string_equal(order, "321");
        mishap_free(m);
        assert_null(run(return_an_answer));
        assert_string_equal(order, "r321");
    }
    pthread_exit(result);
}

static void a_handler_that_ends_its_thread_ends_its_call_alone(void **state)
{
    (void)state;
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, end_and_go_on, order), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, order);
}

static void a_deferred_function_that_ends_its_thread_ends_the_call_alone(void **state)
{
    (void)state;
    mishap *m = run(defer_an_end);
    assert_ended(m, "the deferred function ended its thread");
    assert_ptr_equal(m->trace.addresses[0], entry_of(end_thread));
    assert_string_equal(order, "|1");
    mishap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lock_held_by_a_call_that_was_ended_is_free_for_the_next),
        TEST(what_was_deferred_last_is_called_first_and_before_the_answer_is_looked_at),
        TEST(a_failure_stays_what_it_is),
        TEST(what_was_deferred_is_called_when_there_is_no_memory),
        TEST(a_deferred_function_may_defer_another),
        TEST(after_a_crash_nothing_is_called),
        TEST(a_deferred_function_that_crashes_is_the_last),
        TEST(after_a_deferred_function_that_is_ended_the_others_are_called),
        TEST(a_function_that_cannot_be_kept_is_called_at_once_and_ends_the_call),
        TEST(a_handler_that_ends_its_thread_ends_its_call_alone),
        TEST(a_deferred_function_that_ends_its_thread_ends_the_call_alone),
    };
    return RUN(tests);
}
