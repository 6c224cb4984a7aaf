/*
 * Foreign programs that are started for one call, or before one: what becomes of those that end too
 * early or cannot be started.
 */
#include "testing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "abroad.h"
#include "mishap/invoke.h"
#include "worker/spawn/spawn.h"

static void a_process_that_is_launched_is_waited_for_by_its_first_call(void **state)
{
    mishap_foreign_process *process;
    mishap_answered *answered;
    (void)state;
    assert_null(mishap_foreign_launch(&abroad_app, &abroad_kept, &process));
    mishap_invocation how = { .process = process };
    for (int i = 1; i <= 2; i++) {
        assert_null(mishap_invoke(&abroad_app, "kept.count", "{\"by\":2}", &how, &answered));
        assert_int_equal(mishap_integer(answered->json, "n"), 2 * i);
        mishap_answered_free(answered);
    }
    mishap_foreign_stop(process);
    mishap_app_close();
}

/* No program starts within a millisecond. */
static void a_call_with_more_time_gives_it_to_the_start(void **state)
{
    mishap_foreign hasty = abroad_kept;
    mishap_foreign_process *process;
    mishap_answered *answered;
    (void)state;
    hasty.ready_ms = 1;
    assert_null(mishap_foreign_launch(&abroad_app, &hasty, &process));
    assert_null(mishap_invoke(&abroad_app, "kept.count", "{\"by\":2}",
                              &(mishap_invocation){ .process = process, .timeout_ms = 60000 },
                              &answered));
    assert_int_equal(mishap_integer(answered->json, "n"), 2);
    mishap_answered_free(answered);
    mishap_foreign_stop(process);
    mishap_app_close();
}

/* Of this process, which has one. */
static pid_t only_child(void)
{
    char path[64], ids[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(ids, 1, sizeof ids - 1, file) > 0);
    fclose(file);
    return (pid_t)strtol(ids, NULL, 10);
}

static void wait_for_end_of(pid_t pid)
{
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* The caller may take another one: no call was begun. */
static void a_process_that_ended_while_it_waited_begins_no_call(void **state)
{
    mishap_foreign_process *process;
    mishap_answered *answered;
    (void)state;
    assert_null(mishap_foreign_start(&abroad_app, &abroad_kept, &process));
    pid_t pid = only_child();
    kill(pid, SIGKILL);
    wait_for_end_of(pid);
    mishap *failure = mishap_invoke(&abroad_app, "kept.count", NULL,
                                    &(mishap_invocation){ .process = process }, &answered);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_free(failure);
    assert_true(mishap_foreign_is_over(process));
    mishap_foreign_stop(process);
    mishap_app_close();
}

/* It makes no difference whether it ended before its first call or while that waited. */
static void a_launched_process_that_ended_says_why_it_cannot_begin(void **state)
{
    static const struct {
        const char *operation, *program; /* NULL: the usual one */
        mishap_foreign *foreign;
        const mishap_code *code;
    } rows[] = {
        { "kept.count", "/", &abroad_kept, MISHAP_CODE_NOT_CONFIGURED }, /* exec() fails */
        { "bad.count", NULL, &abroad_bad, MISHAP_CODE_NOT_CONFIGURED },  /* it says so */
        { "dead.count", NULL, &abroad_dead, MISHAP_CODE_UNAVAILABLE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_foreign_process *process;
        mishap_answered *answered;
        const char *usual = rows[i].foreign->program;
        rows[i].foreign->program = rows[i].program ? rows[i].program : usual;
        assert_null(mishap_foreign_launch(&abroad_app, rows[i].foreign, &process));
        wait_for_end_of(only_child());
        mishap *failure = mishap_invoke(&abroad_app, rows[i].operation, NULL,
                                        &(mishap_invocation){ .process = process }, &answered);
        assert_ptr_equal(mishap_told(failure)->code, rows[i].code);
        mishap_free(failure);
        assert_true(mishap_foreign_is_over(process));
        mishap_foreign_stop(process);
        rows[i].foreign->program = usual;
    }
    mishap_app_close();
}

static size_t open_files(void)
{
    size_t count = 0;
    for (int file = 0; file < 256; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

static mishap *not_usable(void)
{
    return mishap_raise(NOT_CONFIGURED, "Not here.");
}

static mishap *(*const beginnings[])(const mishap_app *app, const mishap_foreign *foreign,
                                     mishap_foreign_process **out) = { mishap_foreign_start,
                                                                       mishap_foreign_launch };

static mishap *no_store(const mishap_setup *setup, void **store)
{
    (void)setup;
    *store = NULL;
    return not_usable();
}

static const mishap_service closed = { "closed", .open = no_store, .worker = &abroad_kept };
static const mishap_operation of_closed[] = { { "count", "Count", .service = &closed }, { 0 } };
static const mishap_app closed_app = { "closed", "1.0", "A sample", .operations = of_closed };

/* The caller gets no process then, and need not stop one. */
static void a_process_that_cannot_be_started_is_none(void **state)
{
    mishap_foreign refused = abroad_kept;
    struct rlimit usual, few;
    (void)state;
    refused.usable = not_usable;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        union {
            const void *given;
            mishap_foreign_process *process;
        } out = { &refused };
        mishap *failure = beginnings[i](&abroad_app, &refused, &out.process);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
        assert_null(out.process);
        mishap_free(failure);
        out.given = &refused;
        failure = beginnings[i](&closed_app, &abroad_kept, &out.process);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
        assert_null(out.process);
        mishap_free(failure);
        for (int more = 0; more < 3; more++) { /* a socket with two ends, and its output */
            size_t before = open_files();
            int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
            assert_int_equal(close(next), 0);
            few = (struct rlimit){ (rlim_t)(next + more), usual.rlim_max };
            out.given = &refused;
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
            failure = beginnings[i](&abroad_app, &abroad_kept, &out.process);
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
            assert_non_null(failure);
            assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
            assert_null(out.process);
            assert_int_equal(open_files(), before);
            mishap_free(failure);
        }
    }
    mishap_app_close();
}

static void begin_without_memory(const void *input)
{
    const size_t *which = input;
    mishap_foreign_process *process;
    mishap *failure = beginnings[*which](&abroad_app, &abroad_kept, &process);
    assert_true(!failure == (process != NULL));
    mishap_foreign_stop(process);
    mishap_free(failure);
    mishap_app_close();
}

static void a_process_without_memory_is_none(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        torture(begin_without_memory, &i);
    mishap_use_allocator(NULL);
}

/* Of `count` lines of 50 bytes, what is kept for the operator. */
static mishap_text kept_of(int count, char output[MISHAP_FOREIGN_LAST_OUTPUT])
{
    mishap_spawned spawned = { .output = memfd_create("output", MFD_CLOEXEC) };
    assert_true(spawned.output >= 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(dprintf(spawned.output, "%049d\n", i), 50);
    size_t length = mishap_spawn_output(&spawned, output);
    close(spawned.output);
    return (mishap_text){ output, length };
}

static void of_much_output_the_beginning_and_the_end_are_kept(void **state)
{
    (void)state;
    char output[MISHAP_FOREIGN_LAST_OUTPUT], first[51], last[51];
    assert_int_equal(kept_of(0, output).length, 0);
    assert_int_equal(kept_of(40, output).length, 2000);
    assert_null(memmem(output, 2000, "[…]", strlen("[…]")));
    for (int count = 41; count < 1000; count += 317) {
        mishap_text kept = kept_of(count, output);
        snprintf(first, sizeof first, "%049d\n", 0);
        snprintf(last, sizeof last, "%049d\n", count - 1);
        assert_int_equal(kept.length, 2000);
        assert_memory_equal(output, first, 50);
        assert_memory_equal(output + 1950, last, 50);
        assert_non_null(memmem(output, 2000, "[…]", strlen("[…]")));
    }
}

int main(void)
{
    abroad_begin();
    const struct CMUnitTest tests[] = {
        TEST(a_process_that_is_launched_is_waited_for_by_its_first_call),
        TEST(a_call_with_more_time_gives_it_to_the_start),
        TEST(a_process_that_ended_while_it_waited_begins_no_call),
        TEST(a_launched_process_that_ended_says_why_it_cannot_begin),
        TEST(a_process_that_cannot_be_started_is_none),
        TEST(a_process_without_memory_is_none),
        TEST(of_much_output_the_beginning_and_the_end_are_kept),
    };
    return RUN(tests);
}
