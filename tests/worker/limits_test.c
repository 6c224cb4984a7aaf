/* What workers may use: each limit at its bound, and none where none is set. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "worker_set_up.h"

#define MB (INT64_C(1024) * 1024)

mishap *do_limit(mishap_call *call);
mishap *do_memory(mishap_call *call);
mishap *do_answer(mishap_call *call);
mishap *do_files(mishap_call *call);
mishap *do_write(mishap_call *call);
mishap *do_spin(mishap_call *call);
mishap *do_fork(mishap_call *call);

static const struct {
    const char *name;
    __rlimit_resource_t resource;
} resources[] = {
    { "memory", RLIMIT_DATA },     { "cpu", RLIMIT_CPU },    { "files", RLIMIT_NOFILE },
    { "processes", RLIMIT_NPROC }, { "file", RLIMIT_FSIZE },
};

enum { RESOURCES = sizeof resources / sizeof *resources };

mishap *do_limit(mishap_call *call)
{
    for (size_t i = 0; i < RESOURCES; i++) {
        struct rlimit limit;
        getrlimit(resources[i].resource, &limit);
        mishap_answer_member(call, resources[i].name, (int64_t)limit.rlim_cur);
    }
    return NULL;
}

mishap *do_memory(mishap_call *call)
{
    size_t size = (size_t)mishap_integer(call, "number");
    volatile char *block = malloc(size);
    for (size_t i = 0; block && i < size; i += 4096)
        block[i] = 1;
    mishap_answer_member(call, "taken", block != NULL);
    free((void *)(uintptr_t)block);
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

/* An answer of so many bytes: beside it there is no memory for the frame that it travels in. */
mishap *do_answer(mishap_call *call)
{
    static const char piece[1 << 16];
    size_t size = (size_t)mishap_integer(call, "number");
    struct rlimit limit = { (rlim_t)(size + 4 * MB), (rlim_t)(size + 4 * MB) };
    mishap_buffer_reserve(&call->answer, size);
    while (call->answer.length < size)
        mishap_buffer_add(&call->answer, piece, sizeof piece);
    call->answer_kind = MISHAP_ANSWER_BYTES;
    setrlimit(RLIMIT_DATA, &limit);
    return NULL;
}

/* The largest descriptor that it can get. */
mishap *do_files(mishap_call *call)
{
    int file, last = -1;
    while ((file = dup(0)) >= 0)
        last = file;
    mishap_answer_member(call, "error", (int64_t)errno);
    for (file = 18; file <= last; file++)
        close(file);
    return mishap_answer_member(call, "last", (int64_t)last);
}

/* Write so many bytes into a new file, and one more. */
mishap *do_write(mishap_call *call)
{
    static char bytes[1 << 20];
    size_t size = (size_t)mishap_integer(call, "number");
    char path[] = "/tmp/worker-limit-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    mishap_answer_member(call, "written", (int64_t)write(file, bytes, size));
    ssize_t more = write(file, bytes, 1);
    mishap_answer_member(call, "error", (int64_t)(more < 0 ? errno : 0));
    close(file);
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

mishap *do_spin(mishap_call *call)
{
    int64_t until = mishap_clock_monotonic_ns() + mishap_integer(call, "number") * 1000000;
    while (mishap_clock_monotonic_ns() < until)
        continue;
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

mishap *do_fork(mishap_call *call)
{
    pid_t pid = fork();
    int error = errno;
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return mishap_answer_member(call, "error", (int64_t)(pid < 0 ? error : 0));
}

static const mishap_param number[] = {
    { "number", MISHAP_INTEGER, .initial = "0" },
    { 0 },
};
static const mishap_operation operations[] = {
    { "limit", "Limits", NULL, do_limit, .stateless = true },
    { "memory", "Take memory", number, do_memory, .stateless = true },
    { "answer", "Answer much", number, do_answer, .stateless = true },
    { "files", "Open files", NULL, do_files, .stateless = true },
    { "write", "Write a file", number, do_write, .stateless = true },
    { "spin", "Use time", number, do_spin, .stateless = true, .timeout_ms = 110000 },
    { "fork", "Start a process", NULL, do_fork, .stateless = true },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

static void begin(struct loop *loop, mishap_worker_limits limits)
{
    prepare(loop, &app);
    loop->times = &unhurried;
    loop->plan.limits = limits;
    begin_prepared(loop);
}

static void nothing_is_limited_by_default(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop, (mishap_worker_limits){ 0 });
    call(&loop, &o, "limit", "{}");
    for (size_t i = 0; i < RESOURCES; i++) {
        struct rlimit ours;
        getrlimit(resources[i].resource, &ours);
        assert_int_equal(member(&o, resources[i].name), (int64_t)ours.rlim_cur);
    }
    let_go(&o);
    end(&loop);
}

static void each_limit_is_the_one_that_was_set(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop, (mishap_worker_limits){ .memory_bytes = 900 * MB,
                                         .cpu_seconds = 77,
                                         .files = 55,
                                         .processes = 3000,
                                         .file_bytes = 5 * MB });
    call(&loop, &o, "limit", "{}");
    if (!SANITIZED)
        assert_int_equal(member(&o, "memory"), 900 * MB);
    assert_int_equal(member(&o, "cpu"), 77);
    assert_int_equal(member(&o, "files"), 55);
    assert_int_equal(member(&o, "processes"), 3000);
    assert_int_equal(member(&o, "file"), 5 * MB);
    let_go(&o);
    end(&loop);
}

/* A limit beyond that of the server itself changes nothing. */
static void a_limit_is_never_raised(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    struct rlimit ours, less;
    (void)state;
    getrlimit(RLIMIT_NOFILE, &ours);
    less = (struct rlimit){ .rlim_cur = 100, .rlim_max = ours.rlim_max };
    prepare(&loop, &app);
    loop.plan.limits.files = (uint64_t)ours.rlim_max * 2;
    setrlimit(RLIMIT_NOFILE, &less);
    begin_prepared(&loop);
    call(&loop, &o, "limit", "{}");
    setrlimit(RLIMIT_NOFILE, &ours);
    assert_int_equal(member(&o, "files"), (int64_t)ours.rlim_max);
    let_go(&o);
    end(&loop);
}

static void memory_beyond_the_limit_is_not_given(void **state)
{
    static const struct {
        int64_t limit, wanted, taken;
    } rows[] = { { 32, 64, 0 }, { 128, 64, 1 }, { 32, 8, 1 }, { 0, 256, 1 } };
    (void)state;
    if (SANITIZED)
        skip(); /* the memory of a sanitizer is not limited */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loop loop;
        struct ours o = { 0 }, next = { 0 };
        char arguments[64];
        begin(&loop, (mishap_worker_limits){ .memory_bytes = (uint64_t)(rows[i].limit * MB) });
        snprintf(arguments, sizeof arguments, "{\"number\":%d}", (int)(rows[i].wanted * MB));
        call(&loop, &o, "memory", arguments);
        assert_int_equal(member(&o, "taken"), rows[i].taken);
        call(&loop, &next, "memory", "{\"number\":4096}");
        assert_int_equal(member(&next, "taken"), 1);
        assert_int_equal(member(&next, "pid"), member(&o, "pid")); /* it lives */
        let_go(&o);
        let_go(&next);
        end(&loop);
    }
}

static void an_answer_that_there_is_no_memory_for_is_a_failure(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, next = { 0 };
    (void)state;
    if (SANITIZED)
        skip();
    begin(&loop, (mishap_worker_limits){ 0 });
    call(&loop, &o, "answer", "{\"number\":67108864}");
    assert_ptr_equal(o.failure, mishap_out_of_memory());
    call(&loop, &next, "memory", "{\"number\":4096}");
    assert_int_equal(member(&next, "taken"), 1);
    let_go(&o);
    let_go(&next);
    end(&loop);
}

static void as_many_files_are_open_as_may_and_not_one_more(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    for (uint64_t files = 31; files < 33; files++) {
        begin(&loop, (mishap_worker_limits){ .files = files });
        call(&loop, &o, "files", "{}");
        assert_int_equal(member(&o, "last"), files - 1);
        assert_int_equal(member(&o, "error"), EMFILE);
        let_go(&o);
        end(&loop);
    }
}

static void a_file_that_is_too_large_is_an_error_and_the_worker_lives(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, next = { 0 };
    (void)state;
    begin(&loop, (mishap_worker_limits){ .file_bytes = 65536 });
    call(&loop, &o, "write", "{\"number\":65536}");
    assert_int_equal(member(&o, "written"), 65536);
    assert_int_equal(member(&o, "error"), EFBIG);
    call(&loop, &next, "write", "{\"number\":65535}");
    assert_int_equal(member(&next, "written"), 65535);
    assert_int_equal(member(&next, "error"), 0);
    assert_int_equal(member(&next, "pid"), member(&o, "pid"));
    let_go(&o);
    let_go(&next);
    end(&loop);
}

static void a_handler_that_uses_up_its_processor_time_is_killed(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[4000];
    (void)state;
    begin(&loop, (mishap_worker_limits){ .cpu_seconds = 1 });
    call(&loop, &o, "spin", "{\"number\":200}"); /* within it */
    assert_true(member(&o, "pid") > 0);
    let_go(&o);
    call(&loop, &o, "spin", "{\"number\":100000}"); /* so long, if others have the processor */
    assert_ptr_equal(mishap_told(o.failure)->code, MISHAP_CODE_INTERNAL_ERROR);
    assert_true(o.run.died);
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "killed with SIGXCPU"));
    assert_non_null(strstr(account, "do_spin")); /* where its time went */
    let_go(&o);
    call(&loop, &o, "spin", "{\"number\":1}"); /* by another worker */
    assert_true(member(&o, "pid") > 0);
    let_go(&o);
    end(&loop);
}

static void no_more_processes_are_started_than_may_be(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    if (getuid() == 0) {
        print_message("# the limit of processes does not hold for root\n");
        skip();
    }
    begin(&loop, (mishap_worker_limits){ .processes = 1 });
    call(&loop, &o, "fork", "{}");
    assert_int_equal(member(&o, "error"), EAGAIN);
    let_go(&o);
    end(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_limited_by_default),
        TEST(each_limit_is_the_one_that_was_set),
        TEST(a_limit_is_never_raised),
        TEST(memory_beyond_the_limit_is_not_given),
        TEST(an_answer_that_there_is_no_memory_for_is_a_failure),
        TEST(as_many_files_are_open_as_may_and_not_one_more),
        TEST(a_file_that_is_too_large_is_an_error_and_the_worker_lives),
        TEST(a_handler_that_uses_up_its_processor_time_is_killed),
        TEST(no_more_processes_are_started_than_may_be),
    };
    return RUN(tests);
}
