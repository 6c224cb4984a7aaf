/*
 * Workers: calls in processes that may die. The test is the parent of a keeper and has a runner of
 * its own, as a loop has.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__ /* by gcc; clang says it in another way, and keeps such frames         \
                               elsewhere */
#include <sanitizer/asan_interface.h>
#endif

#include "dying.h"
#include "base/shared.h"
#include "operation/changes.h"
#include "worker/loop/standing.h"
#include "worker_set_up.h"

/* -- handlers ---------------------------------------------------------------------------------- */

mishap *do_echo(mishap_call *call);
mishap *do_same(mishap_call *call);
enum { HANGS_AT_END = 111 }; /* milliseconds of a nap whose process does not end by itself */

mishap *do_lose(mishap_call *call);
mishap *do_count(mishap_call *call);
mishap *do_sleep(mishap_call *call);
mishap *do_fail(mishap_call *call);
mishap *do_die(mishap_call *call);
mishap *do_say(mishap_call *call);
mishap *do_watch(mishap_call *call);
mishap *do_large(mishap_call *call);
mishap *do_misuse(mishap_call *call);
mishap *do_self(mishap_call *call);
mishap *do_measure(mishap_call *call);
mishap *do_stream(mishap_call *call);
mishap *do_leave(mishap_call *call);
mishap *do_add(mishap_call *call);
mishap *do_brood(mishap_call *call);
mishap *do_join(mishap_call *call);

mishap *do_echo(mishap_call *call)
{
    mishap_answer_member(call, "number", mishap_integer(call, "number"));
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

mishap *do_same(mishap_call *call)
{
    return mishap_answer_member(call, "number", mishap_integer(call, "number"));
}

mishap *do_lose(mishap_call *call)
{
    (void)call;
    _exit(1);
}

mishap *do_count(mishap_call *call)
{
    static int64_t count;
    return mishap_answer_member(call, "count", ++count);
}

static void hang(void)
{
    for (;;)
        pause();
}

mishap *do_sleep(mishap_call *call)
{
    static bool hangs;
    if (!hangs && mishap_integer(call, "number") == HANGS_AT_END)
        hangs = atexit(hang) == 0;
    int64_t until = mishap_clock_monotonic_ns() + mishap_integer(call, "number") * 1000000;
    while (mishap_clock_monotonic_ns() < until) /* a signal does not end it */
        usleep(1000);
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

mishap *do_fail(mishap_call *call)
{
    (void)call;
    mishap *m = mishap_raise(NOT_FOUND, "There is no such thing.");
    m = mishap_because(m, mishap_raise(INTERNAL_ERROR, "marker-private cause"));
    return mishap_note(mishap_tell(m, "thing", 7), "where", "marker-private note");
}

/* The volatile keeps compilers from knowing what happens next. */
static volatile int zero;

/* A compiler that knows that these do not return moves the calls out of the function. */
static void (*volatile call_abort)(void) = abort;
static void (*volatile call_exit)(int) = exit;
static void (*volatile call_quick_exit)(int) = quick_exit;
static void (*volatile call_thread_exit)(void *) = pthread_exit;

__attribute__((noinline)) static int overflow(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return zero ? 0 : overflow(depth + 1) + room[0];
}

__attribute__((noinline)) static void damage_heap(void)
{
    char *block = malloc(40);
    memset(block + zero, 0xFF, 64); /* the size of the block behind it */
    free(malloc(2000));
    free(block);
    call_abort();
}

/* It has nothing to call, so a compiler might leave its frame out. */
__attribute__((noinline)) static void write_to(volatile int *where)
{
    *where = 1;
}

/* What the processor or the C library answers with a signal, and signals that are sent. */
static inline __attribute__((always_inline)) mishap *die_by_signal(mishap_call *call,
                                                                   const char *how)
{
    static const struct {
        const char *how;
        int number;
    } sent[] = {
        { "sent segv", SIGSEGV }, { "system", SIGSYS }, { "time", SIGXCPU }, { "quit", SIGQUIT }
    };
    if (strcmp(how, "leaf") == 0)
        write_to((volatile int *)(uintptr_t)(64 + zero));
    if (strcmp(how, "library") == 0)
        return mishap_answer_member(call, "length",
                                    (int64_t)strlen((const char *)(uintptr_t)(64 + zero)));
    if (strcmp(how, "divide") == 0)
        return mishap_answer_member(call, "quotient", die_by_division(1));
    if (strcmp(how, "illegal") == 0)
        die_by_illegal_instruction();
    if (strcmp(how, "trap") == 0)
        die_by_breakpoint();
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        if (strcmp(how, sent[i].how) == 0)
            raise(sent[i].number);
    return mishap_answer_member(call, "lives", 1);
}

/* What a child process of the handler does while it exits is not the end of the handler.
 */
static void outlive_child(bool crashes)
{
    pid_t child = fork();
    if (child == 0 && crashes)
        raise(SIGFPE);
    if (child == 0)
        quick_exit(7);
    waitpid(child, NULL, 0);
    kill(getpid(), SIGKILL);
}

/* A machine that has so much else to do that a signal arrives late: this process shares one
 * processor with others, which have a higher priority if it lowers its own. */
static void starve(int others, int ms)
{
    int64_t from = mishap_clock_monotonic_ns() + INT64_C(300000000); /* when all are there */
    int64_t until = from + ms * INT64_C(1000000);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < others; i++)
        if (fork() == 0) {
            while (mishap_clock_monotonic_ns() < from)
                usleep(1000);
            while (mishap_clock_monotonic_ns() < until)
                continue;
            _exit(0);
        }
}

mishap *do_die(mishap_call *call)
{
    const char *how = mishap_string(call, "how");
    if (strcmp(how, "segv") == 0)
        *(volatile int *)(uintptr_t)(64 + zero) = 1; /* not NULL, which sanitizers know */
    if (strcmp(how, "abort") == 0)
        call_abort();
    if (strcmp(how, "heap") == 0)
        damage_heap();
    if (strcmp(how, "stack") == 0)
        return mishap_answer_member(call, "never", overflow(0));
    if (strcmp(how, "exit") == 0)
        call_exit(3);
    if (strcmp(how, "quick") == 0)
        call_quick_exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strncmp(how, "child", 5) == 0)
        outlive_child(strcmp(how, "child crashes") == 0);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "stop") == 0)
        kill(getpid(), SIGSTOP);
    if (strcmp(how, "thread") == 0)
        call_thread_exit(NULL);
    if (strcmp(how, "starve") == 0)
        starve(120, 700);
    if (strcmp(how, "loop") == 0 || strcmp(how, "starve") == 0)
        while (!zero)
            continue;
    if (strcmp(how, "starve deaf") == 0) {
        starve(20, 3000);
        nice(19);
    }
    if (strcmp(how, "block") == 0 || strcmp(how, "starve deaf") == 0) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        while (!zero)
            continue;
    }
    if (strcmp(how, "close") == 0) {
        for (int file = 0; file < 1024; file++)
            close(file);
        sleep(100);
    }
    return die_by_signal(call, how);
}

mishap *do_say(mishap_call *call)
{
    mishap_progress(call, 1, 3, "one");
    mishap_tell_client(call, MISHAP_INFO, "between");
    mishap_changed(call, "thing://%d", 7);
    mishap_progress(call, 2, 3, NULL);
    return mishap_answer_member(call, "done", 1);
}

mishap *do_watch(mishap_call *call)
{
    while (!mishap_cancelled(call))
        usleep(1000);
    return mishap_note(mishap_raise(INTERNAL_ERROR, "It was cancelled."), "seen", "cancelled");
}

mishap *do_large(mishap_call *call)
{
    size_t size = (size_t)mishap_integer(call, "number");
    char *text = mishap_call_take(call, size + 20);
    memset(text, 'x', size + 20);
    memcpy(text, "{\"x\":\"", 6);
    memcpy(text + 6 + size, "\"}", 3);
    return mishap_answer(call, text);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

mishap *do_misuse(mishap_call *call)
{
    pthread_mutex_lock(&held);
    if (mishap_integer(call, "number"))
        mishap_string(call, "no_such_parameter");
    pthread_mutex_unlock(&held);
    return mishap_answer_member(call, "fine", 1);
}

mishap *do_measure(mishap_call *call)
{
    return mishap_answer_member(call, "length", (int64_t)strlen(mishap_string(call, "text")));
}

/* How a worker finds itself. */
enum { PAGE = 64 * 1024 }; /* whole pages, whatever their size is */
static const char mark[] = "loops share this";
static void *memory_of_loops; /* NULL: there is none. Something else may be there in a worker */

mishap *do_self(mishap_call *call)
{
    static const int harmless[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ };
    char byte, text[32] = "";
    int parent_death = 0, highest = 0, oom = 0;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        kill(getpid(), harmless[i]);
    prctl(PR_GET_PDEATHSIG, &parent_death);
    for (int file = 0; file < 1000; file++)
        highest = fcntl(file, F_GETFD) >= 0 ? file : highest;
    FILE *score = fopen("/proc/self/oom_score_adj", "re");
    if (score && fgets(text, sizeof text, score))
        oom = (int)strtol(text, NULL, 10);
    if (score)
        fclose(score);
    mishap_answer_member(call, "session", getsid(0) == getpid());
    mishap_answer_member(call, "parent_death", (int64_t)parent_death);
    mishap_answer_member(call, "highest", (int64_t)highest);
    mishap_answer_member(call, "input", (int64_t)read(0, &byte, 1));
    mishap_answer_member(call, "garbage", (int64_t)write(7, "garbage", 7));
    bool mapped = memory_of_loops && msync(memory_of_loops, PAGE, MS_ASYNC) == 0;
    mishap_answer_member(call, "shared", mapped && memcmp(memory_of_loops, mark, sizeof mark) == 0);
    return mishap_answer_member(call, "oom", (int64_t)oom);
}

mishap *do_stream(mishap_call *call)
{
    const char *cursor = mishap_cursor(call);
    mishap_stream(call, "text/plain");
    mishap_stream_write(call, (mishap_text)MISHAP_TEXT("first "));
    mishap_stream_write(call, mishap_text_of(cursor ? cursor : "no cursor"));
    return mishap_stream_wait(call, "thing://7", "at %d", 12);
}

static void *stay(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static volatile int crashes_now;

/* Until somebody gives the word: then the process dies of it. */
static void *crash_at_word(void *unused)
{
    while (!crashes_now)
        usleep(1000);
    *(volatile int *)(uintptr_t)(64 + zero) = 1;
    return unused;
}

static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;

static void wait_for_end_lock(void)
{
    pthread_mutex_lock(&end_lock);
}

/* A handler that leaves a thread behind: 1 that does nothing, 2 and something that does not let its
 * process end, 3 that crashes when the call with `number` 4 runs. */
mishap *do_leave(mishap_call *call)
{
    int64_t kind = mishap_integer(call, "number");
    pthread_t thread;
    if (kind == 2) {
        atexit(wait_for_end_lock);
        pthread_mutex_lock(&end_lock);
    }
    if (kind >= 1 && kind <= 3) {
        if (pthread_create(&thread, NULL, kind == 3 ? crash_at_word : stay, NULL) != 0)
            return mishap_raise(INTERNAL_ERROR, "There is no thread.");
        pthread_detach(thread);
    }
    if (kind == 4) {
        crashes_now = 1;
        stay(NULL);
    }
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

/* A process that nothing of its worker's end reaches by itself: neither its parent nor the leader
 * of its group is there any more. */
mishap *do_brood(mishap_call *call)
{
    int ends[2];
    pid_t left = 0;
    if (pipe(ends) != 0)
        return mishap_raise(INTERNAL_ERROR, "There is no pipe.");
    pid_t child = fork();
    if (child == 0) {
        setsid();
        left = fork();
        if (left == 0)
            stay(NULL);
        _exit(write(ends[1], &left, sizeof left) != sizeof left);
    }
    waitpid(child, NULL, 0);
    if (read(ends[0], &left, sizeof left) != sizeof left)
        return mishap_raise(INTERNAL_ERROR, "There is no process.");
    close(ends[0]);
    close(ends[1]);
    mishap_answer_member(call, "left", (int64_t)left);
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

static void *end_at_once(void *unused)
{
    return unused;
}

mishap *do_join(mishap_call *call)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, end_at_once, NULL) != 0)
            return mishap_raise(INTERNAL_ERROR, "There is no thread.");
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

static mishap *open_with_thread(const mishap_setup *setup, void **state)
{
    pthread_t thread;
    (void)setup;
    *state = NULL;
    if (pthread_create(&thread, NULL, stay, NULL) != 0)
        return mishap_raise(UNAVAILABLE, "There is no thread.");
    pthread_detach(thread);
    return NULL;
}

static const mishap_service busy = { "busy", "Has a thread of its own", .open = open_with_thread };
static const mishap_service knowing = { "knowing", "Its handlers leave threads",
                                        .open = open_with_thread, .threads = true };

static int64_t unsettled; /* calls of `till.add` that ran since the last settlement */

static mishap *settle_till(void *state)
{
    (void)state;
    unsettled = 0;
    return NULL;
}

mishap *do_add(mishap_call *call)
{
    return mishap_answer_member(call, "before", unsettled++);
}

static const mishap_settlement settlement = { .settle = settle_till };
static const mishap_service till = { "till", "Settles its calls", .settlement = &settlement };

static mishap *open_service(const mishap_setup *setup, void **state)
{
    static int number;
    (void)setup;
    if (getenv("MISHAP_TEST_NO_SERVICE"))
        return mishap_note(mishap_raise(UNAVAILABLE, "The store is locked."), "how", "marker-note");
    *state = &number;
    return NULL;
}

static const mishap_service shared = { "shared", "May be opened often", .open = open_service };
/* A service whose opening is what the files in the data folder say; each adds a byte to `opened`.
 */
static bool has_file(const mishap_setup *setup, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", setup->data, name);
    return access(path, F_OK) == 0;
}

static mishap *open_moody(const mishap_setup *setup, void **state)
{
    static char identity[MISHAP_IDENTITY_LIMIT];
    char path[200];
    snprintf(path, sizeof path, "%s/opened", setup->data);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, ".", 1) != 1)
        return mishap_raise(NOT_CONFIGURED, "The store %s is gone.", path);
    close(file);
    if (has_file(setup, "dies"))
        kill(getpid(), SIGKILL);
    while (has_file(setup, "hangs"))
        usleep(1000);
    if (has_file(setup, "fails"))
        return mishap_raise(NOT_CONFIGURED, "The store %s is damaged.", path);
    snprintf(identity, sizeof identity, "%s",
             setup->identity ? setup->identity : "as it was at first");
    *state = identity;
    return NULL;
}

static const char *identity_of_moody(void *state)
{
    return state;
}

static const mishap_service moody = { "moody", "Opens or not", .open = open_moody,
                                      .identity = identity_of_moody };

static mishap *do_read(mishap_call *call)
{
    mishap_answer_member(call, "same", strcmp(mishap_state(call), "as it was at first") == 0);
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

static mishap *do_spoil(mishap_call *call)
{
    mishap_service_lost(call);
    return mishap_raise(UNAVAILABLE, "The file was removed.");
}

static const mishap_service lonely = { "lonely", "State in memory", .open = open_service,
                                       .alone = true };

static const mishap_param number[] = {
    { "number", MISHAP_INTEGER, .initial = "0" },
    { 0 },
};
static const mishap_param text[] = {
    { "text", MISHAP_STRING, .required = true, .length = { 0, 10000000 } },
    { 0 },
};
static const mishap_param how[] = {
    { "how", MISHAP_STRING, .required = true },
    { 0 },
};

static const mishap_operation operations[] = {
    { "echo", "Echo", number, do_echo, .stateless = true },
    { "count", "Count", .run = do_count },
    { "sleep", "Sleep", number, do_sleep, .service = &shared, .timeout_ms = 2000 },
    { "same", "Echo", number, do_same, .service = &shared },
    { "fail", "Fail", NULL, do_fail, .raises = MISHAP_RAISES(NOT_FOUND), .service = &shared },
    { "die", "Die", how, do_die, .stateless = true, .timeout_ms = 500 },
    { "die.soon", "Die", how, do_die, .stateless = true, .timeout_ms = 30000 },
    { "say", "Say", NULL, do_say, .stateless = true },
    { "watch", "Watch", NULL, do_watch, .stateless = true, .timeout_ms = 20000 },
    { "large", "Large", number, do_large, .stateless = true },
    { "lose", "End the process", .run = do_lose },
    { "misuse", "Misuse", number, .run = do_misuse },
    { "measure", "Measure", text, do_measure, .service = &shared },
    { "self", "Look at itself", NULL, do_self, .stateless = true },
    { "stream", "Stream", NULL, do_stream, .stateless = true },
    { "lonely.count", "Count", NULL, do_count, .service = &lonely },
    { "read", "Read", NULL, do_read, .service = &moody },
    { "spoil", "Lose what is open", NULL, do_spoil, .service = &moody },
    { "nap", "Sleep, one at a time", number, do_sleep, .timeout_ms = 300 },
    { "leave", "Leave a thread", number, do_leave, .service = &shared },
    { "lonely.leave", "Leave a thread", number, do_leave, .service = &lonely },
    { "brood", "Leave a process", NULL, do_brood, .stateless = true },
    { "till.add", "Add to a batch", NULL, do_add, .service = &till },
    { "till.leave", "Leave a thread", number, do_leave, .service = &till },
    { "join", "Join threads", NULL, do_join, .service = &shared },
    { "busy.join", "Join threads", NULL, do_join, .service = &busy },
    { "busy.leave", "Leave a thread", number, do_leave, .service = &busy },
    { "knowing.leave", "Leave a thread", number, do_leave, .service = &knowing },
    { "knowing.fine", "Do as others do", number, do_leave, .service = &knowing },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

/* -- a loop ------------------------------------------------------------------------------------ */

static char changed[64];

static void on_changed(void *state, mishap_text address)
{
    (void)state;
    snprintf(changed, sizeof changed, "%.*s", (int)address.length, address.data);
}

static void begin(struct loop *loop)
{
    prepare(loop, &app);
    begin_prepared(loop);
    changed[0] = '\0';
}

/* Long enough that no worker is ended because it says nothing. */
static const mishap_runner_times patient = { .wait_ms = 60000,
                                             .begin_ms = 60000,
                                             .answer_ms = 60000,
                                             .start_ms = 60000,
                                             .retry_ms = 100,
                                             .gone_ms = 20,
                                             .lost_ms = 60000,
                                             .idle_ms = 60000,
                                             .open_ms = 60000,
                                             .settle_ms = 60000 };

/* -- what it shows ----------------------------------------------------------------------------- */

static void a_call_is_run_by_another_process_and_answered(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "echo", "{\"number\":17}");
    assert_int_equal(member(&o, "number"), 17);
    assert_int_not_equal(member(&o, "pid"), getpid());
    assert_int_not_equal(member(&o, "pid"), loop.keeper.pid);
    assert_false(o.run.died);
    let_go(&o);
    end(&loop);
}

static void a_failure_arrives_with_both_of_its_sides(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[4000];
    (void)state;
    begin(&loop);
    call(&loop, &o, "fail", "{}");
    assert_ptr_equal(mishap_told(o.failure)->code, MISHAP_CODE_NOT_FOUND);
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "marker-private cause"));
    assert_non_null(strstr(account, "marker-private note"));
    assert_non_null(strstr(account, "do_fail"));
    let_go(&o);
    end(&loop);
}

/* How a handler dies, what the log says of it, and whether the stack of the handler is known. */
static const struct {
    const char *how, *words;
    bool stack, timeout;
} deaths[] = {
    { "segv", "crashed with SIGSEGV", true, false },
    { "abort", "crashed with SIGABRT", true, false },
    { "leaf", "crashed with SIGSEGV", true, false },
    { "divide", "crashed with SIGFPE", true, false },
    { "illegal", "crashed with SIGILL", true, false },
    { "trap", "crashed with SIGTRAP", true, false },
    { "sent segv", "crashed with SIGSEGV", true, false },
    { "system", "crashed with SIGSYS", true, false },
    { "time", "killed with SIGXCPU", true, false },
    { "quit", "killed with SIGQUIT", true, false },
    { "heap", "crashed with SIG", true, false },
#if !SANITIZED /* the address sanitizer has functions and stacks of its own */
    { "library", "crashed with SIGSEGV", true, false },
    { "stack", "crashed with SIGSEGV", false, false }, /* 24 frames of overflow() */
#endif
    { "exit", "called exit(3)", true, false },
    { "quick", "called quick_exit()", true, false },
    { "_exit", "_exit(4)", false, false },
    { "kill", "killed with SIGKILL", false, false },
    { "child exits", "killed with SIGKILL", false, false },
    { "child crashes", "killed with SIGKILL", false, false },
    { "stop", "was stopped", true, false },
    { "thread", "ended its thread", true, false },
    { "loop", "not finished in time", true, true },
    { "starve", "not finished in time", true, true },
    { "block", "not finished in time", true, true },
    { "starve deaf", "not finished in time", true, true },
    { "close", "closed the connection", true, false },
};

/* pthread_exit() leaves frames without their return, which the address sanitizer takes for an
 * overflow of the stack, unless it keeps such frames elsewhere (detect_stack_use_after_return). */
static bool would_be_a_false_alarm(const char *way)
{
#if defined __SANITIZE_ADDRESS__
    return strcmp(way, "thread") == 0 && !__asan_get_current_fake_stack();
#else
    (void)way;
    return false;
#endif
}

static void every_way_to_die_is_told_and_costs_one_call(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[8000], arguments[64];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        if (would_be_a_false_alarm(deaths[i].how))
            continue;
        snprintf(arguments, sizeof arguments, "{\"how\":\"%s\"}", deaths[i].how);
        call(&loop, &o, deaths[i].timeout ? "die" : "die.soon", arguments);
        assert_non_null(o.failure);
        assert_int_equal(o.run.died, !deaths[i].timeout);
        account_of(o.failure, account, sizeof account);
        if (!strstr(account, deaths[i].words) || (deaths[i].stack && !strstr(account, "do_die")))
            fail_msg("%s: %s", deaths[i].how, account);
        const char *frame = deaths[i].stack ? strstr(account, " do_die+0x") : NULL;
        if (frame && strstr(frame + 1, " do_die+0x")) /* it does not call itself */
            fail_msg("%s: a frame is there twice: %s", deaths[i].how, account);
        assert_int_equal(strstr(account, "noted limit_ms = 500") != NULL, deaths[i].timeout);
        assert_ptr_equal(mishap_told(o.failure)->code,
                         deaths[i].timeout ? MISHAP_CODE_TIMEOUT : MISHAP_CODE_INTERNAL_ERROR);
        let_go(&o);
        call(&loop, &o, "echo", "{\"number\":1}");
        assert_int_equal(member(&o, "number"), 1);
        let_go(&o);
    }
    mishap_runner_close(loop.runner);
    loop.runner = NULL;
    nothing_is_left(&loop);
    end(&loop);
}

/* What raise() puts in the place of an address is the id of a process. */
static void the_address_of_a_crash_is_noted_if_the_processor_gave_it(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[8000];
    (void)state;
    begin(&loop);
    call(&loop, &o, "die.soon", "{\"how\":\"leaf\"}");
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "noted address = 64"));
    let_go(&o);
    call(&loop, &o, "die.soon", "{\"how\":\"sent segv\"}");
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "crashed with SIGSEGV"));
    assert_null(strstr(account, "noted address"));
    let_go(&o);
    end(&loop);
}

static void operations_without_a_service_share_one_process_and_run_one_at_a_time(void **state)
{
    struct loop loop;
    static struct ours many[60];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < 60; i++)
        assert_true(add(&loop, &many[i], "count", "{}"));
    for (size_t i = 0; i < 60; i++)
        wait_for(&loop, &many[i]);
    for (size_t i = 0; i < 60; i++) {
        assert_int_equal(member(&many[i], "count"), (int64_t)i + 1);
        let_go(&many[i]);
    }
    end(&loop);
}

static void two_loops_share_the_worker_that_is_alone(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    mishap_runner *first = loop.runner;
    call(&loop, &o, "lonely.count", "{}");
    let_go(&o);
    open_runner(&loop, 4, 100);
    mishap_runner *second = loop.runner;
    for (int64_t i = 2; i < 40; i++) {
        loop.runner = i % 2 ? first : second;
        call(&loop, &o, "lonely.count", "{}");
        assert_int_equal(member(&o, "count"), i);
        let_go(&o);
    }
    mishap_runner_close(first);
    loop.runner = second;
    call(&loop, &o, "lonely.count", "{}");
    assert_int_equal(member(&o, "count"), 40);
    let_go(&o);
    end(&loop);
}

static size_t different(const int64_t *pids, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || pids[j] == pids[i];
        found += !seen;
    }
    return found;
}

/* Calls that come at once, and the processes that ran them: at most 4. On a busy machine the first
 * process may be done with all of them before the others have started, so they are sent again
 * until so many have taken part. */
static void sleep_in_many(struct loop *loop, const char *arguments, int64_t *pids, size_t count,
                          size_t wanted)
{
    static struct ours many[12];
    size_t found = 0;
    for (int turns = 0; turns < 100 && found < wanted; turns++) {
        for (size_t i = 0; i < count; i++)
            assert_true(add(loop, &many[i], "sleep", arguments));
        for (size_t i = 0; i < count; i++)
            wait_for(loop, &many[i]);
        for (size_t i = 0; i < count; i++) {
            pids[i] = member(&many[i], "pid");
            let_go(&many[i]);
        }
        found = different(pids, count);
        assert_in_range(found, 1, 4);
    }
    assert_true(found >= wanted);
}

static void a_service_runs_in_as_many_processes_as_allowed_and_no_more(void **state)
{
    struct loop loop;
    int64_t pids[12];
    (void)state;
    begin(&loop);
    sleep_in_many(&loop, "{\"number\":150}", pids, 12, 4);
    sleep_in_many(&loop, "{\"number\":10}", pids, 12, 1); /* nor are there more later */
    end(&loop);
}

/* Two naps of 200 ms in one process; each may take 300. */
static void waiting_is_not_charged_to_the_handler(void **state)
{
    enum { MANY = 16, LIMIT_MS = 3000 }; /* the last one waits for longer than that */
    struct loop loop;
    static struct ours many[MANY];
    (void)state;
    prepare(&loop, &app);
    loop.times = &patient;
    begin_prepared(&loop);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(add(&loop, &many[i], "nap", "{\"number\":250}"));
        many[i].run.call->limit_ms = LIMIT_MS;
    }
    for (size_t i = 0; i < MANY; i++) {
        wait_for(&loop, &many[i]);
        assert_null(many[i].failure);
        let_go(&many[i]);
    }
    end(&loop);
}

static bool lives(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

static void a_worker_that_is_put_away_and_hangs_at_its_end_is_killed(void **state)
{
    struct loop loop;
    mishap_runner_times times = { 10000, 3000, 5000,           2000,
                                  100,   1000, .idle_ms = 200, .open_ms = 9000 };
    (void)state;
    prepare(&loop, &app);
    loop.times = &times;
    begin_prepared(&loop);
    int64_t pids[2];
    sleep_in_many(&loop, "{\"number\":111}", pids, 2, 2);
    for (int i = 0; i < 2000 && lives(pids[0]) && lives(pids[1]); i++)
        turn(&loop, 50);
    assert_int_equal(lives(pids[0]) + lives(pids[1]), 1);
    end(&loop);
}

static void calls_that_a_dead_worker_had_not_begun_are_run_by_another(void **state)
{
    struct loop loop;
    static struct ours first, many[20];
    (void)state;
    begin(&loop);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 100);
    call(&loop, &first, "echo", "{}"); /* there is a worker, which is idle */
    let_go(&first);
    assert_true(add(&loop, &first, "die", "{\"how\":\"segv\"}"));
    for (size_t i = 0; i < 20; i++)
        assert_true(add(&loop, &many[i], "echo", "{\"number\":3}"));
    wait_for(&loop, &first);
    assert_non_null(first.failure);
    let_go(&first);
    for (size_t i = 0; i < 20; i++) {
        wait_for(&loop, &many[i]);
        assert_int_equal(member(&many[i], "number"), 3);
        let_go(&many[i]);
    }
    end(&loop);
}

static void calls_behind_several_that_kill_the_worker_are_run_all_the_same(void **state)
{
    struct loop loop;
    static struct ours bad[5], good[5];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < 5; i++) {
        assert_true(add(&loop, &bad[i], "lose", "{}"));
        assert_true(add(&loop, &good[i], "count", "{}"));
    }
    for (size_t i = 0; i < 5; i++) {
        wait_for(&loop, &bad[i]);
        assert_true(bad[i].run.died);
        let_go(&bad[i]);
        wait_for(&loop, &good[i]);
        /* 1, unless the bad ones have taken so long that they come after the good ones. */
        assert_in_range(member(&good[i], "count"), 1, 5);
        let_go(&good[i]);
    }
    end(&loop);
}

/* A slot is used again while the call that had it before is still on its way to the worker. */
static void a_call_that_was_taken_back_is_not_run_in_place_of_the_next(void **state)
{
    struct loop loop;
    static struct ours slow, many[40];
    (void)state;
    begin(&loop);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 100);
    for (int64_t round = 0; round < 20; round++) {
        assert_true(add(&loop, &slow, "sleep", "{\"number\":20}"));
        for (size_t i = 0; i < 40; i++) {
            char arguments[64];
            snprintf(arguments, sizeof arguments, "{\"number\":%d}", (int)(100 * round) + (int)i);
            assert_true(add(&loop, &many[i], i % 2 ? "same" : "sleep",
                            i % 2 ? arguments : "{\"number\":0}"));
        }
        for (size_t i = 0; i < 40; i++) {
            wait_for(&loop, &many[i]);
            if (i % 2)
                assert_int_equal(member(&many[i], "number"), 100 * round + (int64_t)i);
            else
                member(&many[i], "pid");
            let_go(&many[i]);
        }
        wait_for(&loop, &slow);
        let_go(&slow);
    }
    end(&loop);
}

static void as_many_calls_wait_as_may_and_not_one_more(void **state)
{
    struct loop loop;
    static struct ours many[4];
    (void)state;
    begin(&loop);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(add(&loop, &many[i], "echo", "{}"));
    assert_false(add(&loop, &many[3], "echo", "{}"));
    let_go(&many[3]);
    assert_int_equal(mishap_runner_count(loop.runner, true), 3);
    for (size_t i = 0; i < 3; i++) {
        wait_for(&loop, &many[i]);
        let_go(&many[i]);
    }
    assert_int_equal(mishap_runner_count(loop.runner, true), 0);
    end(&loop);
}

static void said(const mishap_watcher *watcher, const char *what, mishap_text words)
{
    struct ours *o = (struct ours *)(void *)((uintptr_t)watcher - offsetof(struct ours, watcher));
    size_t used = strlen(o->said);
    assert_false(o->done);
    snprintf(o->said + used, sizeof o->said - used, "%s(%.*s)%s", what, (int)words.length,
             words.data ? words.data : "", changed);
}

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    assert_true(done == 1 || done == 2);
    assert_true(total == 3);
    said(watcher, "progress", words);
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    assert_int_equal(level, MISHAP_INFO);
    said(watcher, "log", words);
}

static bool on_stream(const mishap_watcher *watcher, mishap_text media_type)
{
    said(watcher, "stream", media_type);
    return true;
}

static bool on_piece(const mishap_watcher *watcher, mishap_text piece)
{
    said(watcher, "piece", piece);
    return true;
}

static void what_a_call_says_arrives_in_order_and_before_its_answer(void **state)
{
    struct loop loop;
    struct ours o = { .watcher = { on_progress, on_log, NULL, NULL } };
    (void)state;
    begin(&loop);
    mishap_changes_heard_by(on_changed, NULL);
    call(&loop, &o, "say", "{}");
    assert_string_equal(o.said, "progress(one)log(between)progress()thing://7");
    assert_int_equal(member(&o, "done"), 1);
    let_go(&o);
    mishap_changes_heard_by(NULL, NULL);
    end(&loop);
}

static void a_stream_arrives_in_pieces_and_says_what_it_waits_for(void **state)
{
    struct loop loop;
    struct ours o = { .watcher = { NULL, NULL, on_stream, on_piece } };
    (void)state;
    begin(&loop);
    call(&loop, &o, "stream", "{}");
    assert_null(o.failure);
    assert_string_equal(o.said, "stream(text/plain)piece(first )piece(no cursor)");
    assert_int_equal(o.run.call->answer_kind, MISHAP_ANSWER_STREAM);
    assert_string_equal(o.run.call->resumed_by, "thing://7");
    assert_string_equal(o.run.call->cursor, "at 12");
    let_go(&o);
    end(&loop);
}

static void a_stream_goes_on_where_its_cursor_is(void **state)
{
    struct loop loop;
    struct ours o = { .watcher = { NULL, NULL, on_stream, on_piece } };
    (void)state;
    begin(&loop);
    assert_true(add(&loop, &o, "stream", "{}"));
    o.run.call->cursor = "at 12";
    wait_for(&loop, &o);
    assert_string_equal(o.said, "stream(text/plain)piece(first )piece(at 12)");
    let_go(&o);
    end(&loop);
}

static void keeper_and_worker_have_nothing_of_the_server(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    int open_here = fcntl(0, F_DUPFD, 500); /* such as a socket that listens */
    memory_of_loops = mishap_shared_map(PAGE);
    assert_non_null(memory_of_loops);
    memcpy(memory_of_loops, mark, sizeof mark);
    begin(&loop);
    call(&loop, &o, "self", "{}");
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", loop.keeper.pid, open_here);
    assert_int_equal(readlink(path, target, sizeof target), -1);
    close(open_here);
    mishap_shared_unmap(memory_of_loops, PAGE);
    memory_of_loops = NULL;
    assert_int_equal(member(&o, "shared"), 0);
    assert_int_equal(member(&o, "session"), 1);
    assert_int_equal(member(&o, "parent_death"), SIGKILL);
    assert_int_equal(member(&o, "highest"), 16); /* its socket */
    assert_int_equal(member(&o, "input"), 0);
    assert_int_equal(member(&o, "garbage"), 7);
    assert_int_equal(member(&o, "oom"), 1000);
    let_go(&o);
    end(&loop);
}

static void begin_to_run(struct loop *loop, struct ours *o, const char *name, const char *arguments)
{
    assert_true(add(loop, o, name, arguments));
    while (!o->run.link || mishap_link_state(o->run.link, o->run.slot) != MISHAP_SLOT_BEGUN)
        turn(loop, 10);
}

static void a_forgotten_call_is_cancelled_and_its_failure_recorded(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    begin_to_run(&loop, &o, "watch", "{}");
    mishap_runner_forget(loop.runner, &o.run);
    assert_null(o.run.call);
    assert_int_equal(mishap_runner_count(loop.runner, false), 0);
    while (mishap_runner_count(loop.runner, true))
        turn(&loop, 100);
    assert_false(o.done);
    assert_non_null(strstr(orphan, "watch an-incident"));
    assert_non_null(strstr(orphan, "It was cancelled."));
    end(&loop);
}

static void a_forgotten_call_that_waits_is_never_run(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    assert_true(add(&loop, &o, "count", "{}"));
    mishap_runner_forget(loop.runner, &o.run);
    call(&loop, &o, "count", "{}");
    assert_int_equal(member(&o, "count"), 1);
    let_go(&o);
    end(&loop);
}

static void an_answer_may_be_large(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    mishap_answer_kind kind;
    (void)state;
    begin(&loop);
    static const int sizes[] = { 60000, 65536, 70000, 300000, 10000000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "{\"number\":%d}", sizes[i]);
        call(&loop, &o, "large", arguments);
        assert_null(o.failure);
        assert_int_equal(mishap_call_answer(o.run.call, &kind).length, sizes[i] + 8);
        let_go(&o);
    }
    end(&loop);
}

/* It does not fit into a socket at once. */
static void the_arguments_of_a_call_may_be_large(void **state)
{
    enum { SIZE = 3000000 };
    struct loop loop;
    static struct ours many[3];
    static char arguments[SIZE + 100];
    (void)state;
    begin(&loop);
    snprintf(arguments, sizeof arguments, "{\"text\":\"%0*d\"}", SIZE, 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(add(&loop, &many[i], "measure", arguments));
    for (size_t i = 0; i < 3; i++) {
        wait_for(&loop, &many[i]);
        assert_int_equal(member(&many[i], "length"), SIZE);
        let_go(&many[i]);
    }
    end(&loop);
}

static void a_call_that_was_ended_by_a_jump_leaves_no_lock_behind(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    for (int i = 0; i < 3; i++) {
        call(&loop, &o, "misuse", "{\"number\":1}");
        assert_ptr_equal(mishap_told(o.failure)->code, MISHAP_CODE_INTERNAL_ERROR);
        let_go(&o);
        call(&loop, &o, "misuse", "{\"number\":0}");
        assert_int_equal(member(&o, "fine"), 1);
        let_go(&o);
    }
    end(&loop);
}

static char told_operator[400];

static void on_operator(const char *program, const char *operation, const char *id,
                        mishap_text words, bool to_stderr)
{
    (void)program, (void)to_stderr;
    snprintf(told_operator, sizeof told_operator, "%s %s: %.*s", operation, id, (int)words.length,
             words.data);
}

static bool add_told(struct loop *loop, struct ours *o, const char *name, const char *arguments)
{
    bool added = add(loop, o, name, arguments);
    o->run.call->to_operator = on_operator;
    o->run.call->request_id = (mishap_text)MISHAP_TEXT("an-id");
    return added;
}

/* With one worker at most, the next call would run in the same one. */
static void begin_with_one(struct loop *loop)
{
    begin(loop);
    mishap_runner_close(loop->runner);
    open_runner(loop, 1, 100);
    told_operator[0] = '\0';
}

/* One that leaves a thread, and calls that were handed over behind it. */
static void leave_and_go_on(struct loop *loop, const char *leave, const char *fine,
                            const char *kind)
{
    enum { BEHIND = 3 };
    static struct ours first, behind[BEHIND];
    assert_true(add_told(loop, &first, leave, kind));
    for (size_t i = 0; i < BEHIND; i++)
        assert_true(add_told(loop, &behind[i], fine, "{}"));
    wait_for(loop, &first);
    int64_t pid = member(&first, "pid");
    for (size_t i = 0; i < BEHIND; i++) {
        wait_for(loop, &behind[i]);
        assert_int_not_equal(member(&behind[i], "pid"), pid);
        let_go(&behind[i]);
    }
    let_go(&first);
}

static void a_worker_in_which_a_handler_left_a_thread_takes_no_other_call(void **state)
{
    struct loop loop;
    (void)state;
    begin_with_one(&loop);
    leave_and_go_on(&loop, "leave", "join", "{\"number\":1}");
    assert_string_equal(told_operator,
                        "leave an-id: The handler of leave has left a thread behind. Its process "
                        "takes no further call. A service whose handlers do so on purpose says it "
                        "with .threads.");
    end(&loop);
}

static void nobody_waits_for_a_worker_that_does_not_end(void **state)
{
    struct loop loop;
    (void)state;
    begin_with_one(&loop);
    mishap_runner_close(loop.runner);
    loop.times = &patient;
    open_runner(&loop, 1, 100);
    leave_and_go_on(&loop, "leave", "join", "{\"number\":2}");
    end(&loop);
}

static void what_a_worker_has_started_ends_with_it(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "brood", "{}");
    pid_t left = (pid_t)member(&o, "left");
    assert_true(left > 0);
    assert_int_equal(kill(left, 0), 0);
    assert_int_equal(kill((pid_t)member(&o, "pid"), SIGKILL), 0);
    let_go(&o);
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (kill(left, 0) == 0 && mishap_clock_monotonic_ns() < until)
        turn(&loop, 10);
    assert_int_equal(kill(left, 0), -1);
    end(&loop);
}

/* What was settled with it is answered, too. */
static void calls_of_a_batch_are_settled_before_a_worker_ends_for_a_thread(void **state)
{
    struct loop loop;
    struct ours before;
    (void)state;
    begin_with_one(&loop);
    call(&loop, &before, "till.leave", "{}");
    int64_t pid = member(&before, "pid");
    let_go(&before);
    assert_true(add_told(&loop, &before, "till.leave", "{}"));
    leave_and_go_on(&loop, "till.leave", "till.leave", "{\"number\":1}");
    assert_true(before.done);
    assert_int_equal(member(&before, "pid"), pid);
    let_go(&before);
    assert_string_equal(told_operator,
                        "till.leave an-id: The handler of till.leave has left a thread behind. Its "
                        "process takes no further call. A service whose handlers do so on purpose "
                        "says it with .threads.");
    end(&loop);
}

/* It may be its fault that a batch could not be settled: those before it are settled first, and
 * those behind it later. */
static void a_call_that_is_repeated_is_settled_alone(void **state)
{
    enum { MANY = 8, REPEATED = 3 };
    static struct ours many[MANY];
    struct loop loop;
    struct ours first = { 0 };
    (void)state;
    begin_with_one(&loop);
    call(&loop, &first, "till.add", "{}");
    let_go(&first);
    for (size_t i = 0; i < MANY; i++)
        assert_true(add(&loop, &many[i], "till.add", "{}"));
    many[REPEATED].run.call->repeated = true;
    for (size_t i = 0; i < MANY; i++)
        wait_for(&loop, &many[i]);
    assert_int_equal(member(&many[REPEATED], "before"), 0);
    assert_int_equal(member(&many[REPEATED + 1], "before"), 0);
    for (size_t i = 0; i < MANY; i++)
        let_go(&many[i]);
    end(&loop);
}

/* What it loses is said, too. */
static void a_worker_that_is_alone_is_replaced_for_all_loops_when_a_thread_was_left(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    told_operator[0] = '\0';
    mishap_runner_close(loop.runner);
    loop.times = &patient;
    open_runner(&loop, 4, 100);
    mishap_runner *first = loop.runner;
    call(&loop, &o, "lonely.leave", "{}");
    int64_t pid = member(&o, "pid");
    let_go(&o);
    open_runner(&loop, 4, 100);
    mishap_runner *second = loop.runner;
    call(&loop, &o, "lonely.leave", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    loop.runner = first;
    assert_true(add_told(&loop, &o, "lonely.leave", "{\"number\":2}"));
    wait_for(&loop, &o);
    assert_int_equal(member(&o, "pid"), pid);
    assert_non_null(strstr(told_operator, "and what it had in memory is lost."));
    let_go(&o);
    loop.runner = second;
    call(&loop, &o, "lonely.leave", "{}");
    assert_int_not_equal(member(&o, "pid"), pid);
    let_go(&o);
    mishap_runner_close(first);
    end(&loop);
}

/* Threads that were joined are gone, though the system may count them for a moment more. */
static void threads_that_were_joined_or_that_the_service_started_are_no_matter(void **state)
{
    static const char *const names[] = { "join", "busy.join" };
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin_with_one(&loop);
    for (size_t i = 0; i < 2; i++) {
        int64_t pid = 0;
        for (int times = 0; times < 300; times++) {
            call(&loop, &o, names[i], "{}");
            pid = pid ? pid : member(&o, "pid");
            assert_int_equal(member(&o, "pid"), pid);
            let_go(&o);
        }
    }
    leave_and_go_on(&loop, "busy.leave", "busy.join", "{\"number\":1}");
    end(&loop);
}

static void
a_service_may_say_that_its_handlers_leave_threads_and_the_incident_names_them(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char account[4000];
    (void)state;
    begin_with_one(&loop);
    assert_true(add_told(&loop, &o, "knowing.leave", "{\"number\":3}"));
    wait_for(&loop, &o);
    int64_t pid = member(&o, "pid");
    let_go(&o);
    assert_string_equal(told_operator, "");
    call(&loop, &o, "knowing.fine", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    call(&loop, &o, "knowing.fine", "{\"number\":4}");
    assert_non_null(o.failure);
    account_of(o.failure, account, sizeof account);
    assert_non_null(strstr(account, "The handler of knowing.fine crashed with SIGSEGV."));
    assert_non_null(strstr(account, "not the one that runs handlers"));
    assert_non_null(strstr(account, "knowing.leave"));
    let_go(&o);
    end(&loop);
}

static void a_keeper_that_dies_or_stops_is_followed_by_another(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, other = { 0 };
    char account[4000];
    (void)state;
    begin(&loop);
    for (int i = 0; i < 4; i++) {
        int before = loop.keeper.pid;
        call(&loop, &o, "echo", "{}");
        let_go(&o);
        begin_to_run(&loop, &other, "watch", "{}");
        kill(loop.keeper.pid, i % 2 ? SIGSTOP : SIGKILL);
        wait_for(&loop, &other);
        account_of(other.failure, account, sizeof account);
        assert_non_null(strstr(account, "was lost"));
        let_go(&other);
        call(&loop, &o, "echo", "{\"number\":5}");
        assert_int_equal(member(&o, "number"), 5);
        let_go(&o);
        assert_int_not_equal(loop.keeper.pid, before);
    }
    end(&loop);
}

static bool has_ended(int pid)
{
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (kill(pid, 0) == 0 && mishap_clock_monotonic_ns() < until)
        usleep(1000);
    return kill(pid, 0) != 0;
}

/* A keeper that cannot even start is no accident: nobody gains by the next one. */
static void a_keeper_that_ends_at_once_is_not_followed_for_ever(void **state)
{
    struct loop loop;
    int started = 0;
    (void)state;
    begin(&loop);
    for (; loop.keeper.pid && started < 100; started++) {
        int pid = loop.keeper.pid;
        kill(pid, SIGKILL);
        while (loop.keeper.pid == pid)
            mishap_keeper_look(&loop.keeper);
    }
    assert_int_equal(started, 20);
    end(&loop);
}

static mishap_keeper_message answer_of_keeper(int socket, uint32_t word)
{
    mishap_keeper_message message;
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    do {
        assert_int_equal(mishap_keeper_receive(socket, &message, files, &count, 120000), 1);
        for (size_t i = 0; i < count; i++)
            close(files[i]);
    } while (message.word != word);
    return message;
}

/* A keeper that is stopped meanwhile reads both messages at once, before it has reaped the worker.
 */
static void a_worker_that_was_killed_is_shared_with_no_other_loop(void **state)
{
    struct loop loop;
    int socket, kept;
    (void)state;
    begin(&loop);
    size_t group = 0;
    while (!loop.plan.groups.groups[group].alone)
        group++;
    mishap_keeper_message start = { .word = MISHAP_KEEPER_START, .group = (uint32_t)group };
    assert_true(mishap_keeper_connect(&loop.keeper, &socket, &kept));
    assert_true(mishap_keeper_send(socket, &start, NULL, 0));
    mishap_keeper_message first = answer_of_keeper(socket, MISHAP_KEEPER_STARTED);
    mishap_keeper_message kill_it = { .word = MISHAP_KEEPER_END, .worker = first.worker };

    assert_int_equal(kill(loop.keeper.pid, SIGSTOP), 0);
    assert_true(mishap_keeper_send(socket, &kill_it, NULL, 0));
    assert_true(mishap_keeper_send(socket, &start, NULL, 0));
    assert_int_equal(kill(loop.keeper.pid, SIGCONT), 0);
    mishap_keeper_message second = answer_of_keeper(socket, MISHAP_KEEPER_STARTED);
    assert_int_not_equal(second.worker, first.worker);
    assert_int_not_equal(second.pid, first.pid);
    close(socket);
    mishap_keeper_disconnect(&loop.keeper, kept);
    end(&loop);
}

/* The worker of one loop is none of another's business, and dies when its own loop is gone. */
static void a_worker_has_the_loop_that_asked_for_it(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, hangs = { 0 };
    int socket, kept;
    mishap_runner *first;
    (void)state;
    begin(&loop);
    call(&loop, &o, "echo", "{}");
    int pid = (int)member(&o, "pid");
    let_go(&o);
    first = loop.runner;
    int first_kept = loop.kept;

    assert_true(mishap_keeper_connect(&loop.keeper, &socket, &kept));
    for (uint32_t worker = 0; worker < 5; worker++) {
        mishap_keeper_message message = { .word = MISHAP_KEEPER_END, .worker = worker };
        assert_true(mishap_keeper_send(socket, &message, NULL, 0));
    }
    close(socket);
    mishap_keeper_disconnect(&loop.keeper, kept);

    open_runner(&loop, 1, 100); /* a loop whose handler hangs, and which is gone */
    begin_to_run(&loop, &hangs, "watch", "{}");
    char path[64];
    int child, other = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", loop.keeper.pid, loop.keeper.pid);
    FILE *children = fopen(path, "re");
    while (fscanf(children, "%d", &child) == 1)
        other = child != pid ? child : other;
    fclose(children);
    assert_true(other > 0);
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    assert_true(has_ended(other));
    let_go(&hangs);

    loop.runner = first;
    loop.kept = first_kept;
    usleep(300000); /* if the keeper meant to end this one, too, it has done so by now */
    call(&loop, &o, "echo", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    end(&loop);
}

/* Nobody is left to end the call of a loop that is gone, and other loops need the worker. */
static void a_worker_that_is_alone_ends_itself_when_the_call_of_a_lost_loop_hangs(void **state)
{
    struct loop loop;
    struct ours o = { 0 }, hangs = { 0 };
    (void)state;
    begin(&loop);
    begin_to_run(&loop, &hangs, "nap", "{\"number\":60000}");
    mishap_runner_close(loop.runner);
    mishap_keeper_disconnect(&loop.keeper, loop.kept);
    open_runner(&loop, 1, 100);
    call(&loop, &o, "count", "{}");
    assert_int_equal(member(&o, "count"), 1);
    let_go(&o);
    call(&loop, &o, "nap", "{\"number\":1}");
    assert_null(o.failure);
    let_go(&o);
    usleep(2600000); /* no clock goes on for a call that is over */
    call(&loop, &o, "count", "{}");
    assert_int_equal(member(&o, "count"), 2);
    let_go(&o);
    let_go(&hangs);
    end(&loop);
}

static void services_are_tried_before_a_server_listens(void **state)
{
    struct loop loop;
    char account[4000];
    (void)state;
    begin(&loop);
    assert_null(mishap_keeper_try_services(&loop.keeper, NULL, &loop.plan.groups));
    end(&loop);
    setenv("MISHAP_TEST_NO_SERVICE", "1", 1);
    begin(&loop);
    mishap *failure = mishap_keeper_try_services(&loop.keeper, NULL, &loop.plan.groups);
    unsetenv("MISHAP_TEST_NO_SERVICE");
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    account_of(failure, account, sizeof account);
    assert_non_null(strstr(account, "The store is locked."));
    assert_non_null(strstr(account, "marker-note"));
    mishap_free(failure);
    end(&loop);
}

/* -- services that cannot be opened ------------------------------------------------------------ */

static char stood[4][300]; /* what the operator was told */
static size_t stood_count;

static void on_standing(void *state, const mishap_service *service, const mishap *failure)
{
    (void)state;
    assert_true(stood_count < 4);
    snprintf(stood[stood_count++], sizeof stood[0], "%s: %s", service->name,
             failure ? mishap_told(failure)->cause.data : "again");
}

static void begin_moody(struct loop *loop, const mishap_runner_times *times)
{
    prepare(loop, &app);
    loop->stands = on_standing;
    loop->times = times;
    begin_prepared(loop);
    stood_count = 0;
}

/* Make a file in the data folder, or remove it. */
static void set_mood(const struct loop *loop, const char *name, bool there)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", loop->folder, name);
    if (there)
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    else
        unlink(path);
}

static int64_t times_opened(const struct loop *loop)
{
    char path[200];
    struct stat status;
    snprintf(path, sizeof path, "%s/opened", loop->folder);
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

static void end_moody(struct loop *loop)
{
    set_mood(loop, "opened", false);
    end(loop);
}

static void a_server_does_not_listen_if_opening_a_service_ends_its_process(void **state)
{
    struct loop loop;
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "dies", true);
    mishap *failure = mishap_keeper_try_services(&loop.keeper, "moody", &loop.plan.groups);
    assert_non_null(failure);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_free(failure);
    set_mood(&loop, "dies", false);
    assert_null(mishap_keeper_try_services(&loop.keeper, "moody", &loop.plan.groups));
    end_moody(&loop);
}

static void expect_refused(struct loop *loop)
{
    struct ours o = { 0 };
    call(loop, &o, "read", "{}");
    assert_non_null(o.failure);
    const mishap_public *told = mishap_told(o.failure);
    assert_ptr_equal(told->code, MISHAP_CODE_UNAVAILABLE);
    assert_string_equal(told->message.data, "The service moody is not available.");
    assert_int_equal(told->cause.length, 0); /* there may be a path in it */
    assert_true(told->retry_after_ms > 0);
    assert_false(o.run.died);
    let_go(&o);
}

/* Nobody calls: it finds out by itself. */
static void wait_until_stood(struct loop *loop, size_t count)
{
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(20000000000);
    while (stood_count < count && mishap_clock_monotonic_ns() < until)
        turn(loop, 100);
    assert_int_equal(stood_count, count);
}

static void expect_open(struct loop *loop)
{
    struct ours o = { 0 };
    call(loop, &o, "read", "{}");
    assert_true(member(&o, "pid") > 0);
    let_go(&o);
}

static void
a_service_that_cannot_be_opened_is_refused_at_once_and_tried_again_in_between(void **state)
{
    struct loop loop;
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "fails", true);
    int64_t begun = mishap_clock_monotonic_ns();
    for (int i = 0; i < 10; i++)
        expect_refused(&loop);
    int64_t took_ms = (mishap_clock_monotonic_ns() - begun) / 1000000;
    assert_in_range(times_opened(&loop), 1, 3 + took_ms / 500); /* not one for each call */
    assert_int_equal(stood_count, 1);
    assert_non_null(strstr(stood[0], "moody: The store /"));
    assert_non_null(strstr(stood[0], " is damaged."));
    set_mood(&loop, "fails", false);
    wait_until_stood(&loop, 2);
    assert_string_equal(stood[1], "moody: again");
    expect_open(&loop);
    assert_int_equal(stood_count, 2);
    end_moody(&loop);
}

static void other_services_work_while_one_cannot_be_opened(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "fails", true);
    expect_refused(&loop);
    call(&loop, &o, "same", "{\"number\":7}");
    assert_null(o.failure);
    let_go(&o);
    expect_refused(&loop);
    set_mood(&loop, "fails", false);
    end_moody(&loop);
}

/* One that dies is followed by another: it may have been killed. Several in a row mean something.
 */
static void workers_that_die_while_they_open_close_the_service(void **state)
{
    struct loop loop;
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "dies", true);
    expect_refused(&loop);
    assert_int_equal(times_opened(&loop), 3);
    assert_string_equal(stood[0], "moody: The process that opened it died.");
    set_mood(&loop, "dies", false);
    wait_until_stood(&loop, 2);
    expect_open(&loop);
    end_moody(&loop);
}

static void a_service_that_takes_too_long_to_open_is_closed(void **state)
{
    static const mishap_runner_times times = { .wait_ms = 20000,
                                               .begin_ms = 20000,
                                               .answer_ms = 20000,
                                               .start_ms = 20000,
                                               .retry_ms = 100,
                                               .gone_ms = 20,
                                               .lost_ms = 1000,
                                               .idle_ms = 60000,
                                               .open_ms = 200 };
    struct loop loop;
    (void)state;
    begin_moody(&loop, &times);
    set_mood(&loop, "hangs", true);
    expect_refused(&loop);
    assert_string_equal(stood[0], "moody: It could not be opened in time.");
    set_mood(&loop, "hangs", false);
    wait_until_stood(&loop, 2);
    expect_open(&loop);
    end_moody(&loop);
}

static void what_a_handler_has_lost_is_opened_anew_without_another_call(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin_moody(&loop, NULL);
    call(&loop, &o, "read", "{}");
    int64_t before = member(&o, "pid");
    let_go(&o);
    call(&loop, &o, "spoil", "{}");
    assert_string_equal(mishap_told(o.failure)->message.data, "The file was removed.");
    let_go(&o);
    call(&loop, &o, "read", "{}");
    assert_int_not_equal(member(&o, "pid"), before);
    let_go(&o);
    assert_int_equal(stood_count, 0); /* it could be opened */
    set_mood(&loop, "fails", true);
    call(&loop, &o, "spoil", "{}");
    let_go(&o);
    wait_until_stood(&loop, 1);
    expect_refused(&loop);
    set_mood(&loop, "fails", false);
    end_moody(&loop);
}

/* What the server opened at its start is what its workers open later. */
static void workers_open_what_the_server_began_with_and_make_no_folder(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char away[100];
    (void)state;
    begin_moody(&loop, NULL);
    assert_null(mishap_keeper_try_services(&loop.keeper, "moody", &loop.plan.groups));
    const mishap_operation *operation = mishap_operation_find(&app, T("read"));
    const mishap_worker_group
        *group = &loop.plan.groups.groups[mishap_worker_group_of(&loop.plan.groups, operation)];
    assert_true(group->opened);
    assert_string_equal(group->identity, "as it was at first");
    snprintf(away, sizeof away, "%s.away", loop.folder);
    assert_int_equal(rename(loop.folder, away), 0);
    call(&loop, &o, "spoil", "{}");
    let_go(&o);
    wait_until_stood(&loop, 1);
    expect_refused(&loop);
    assert_int_equal(access(loop.folder, F_OK), -1);
    assert_int_equal(rename(away, loop.folder), 0);
    wait_until_stood(&loop, 2);
    expect_open(&loop);
    end_moody(&loop);
}

static void a_service_is_closed_and_opened_again_once_by_whoever_finds_out(void **state)
{
    static mishap_standing standing;
    int64_t now = mishap_clock_monotonic_ns();
    (void)state;
    assert_true(mishap_standing_close(&standing, 3, 0, T("reason"), false));
    assert_false(
        mishap_standing_close(&standing, 3, 0, T("reason"), false)); /* another loop, as late */
    assert_int_equal(mishap_standing_generation(&standing, 3), 1);
    assert_int_equal(mishap_standing_generation(&standing, 2), 0);
    assert_false(mishap_standing_close(&standing, 3, 1, T("reason"), false));
    assert_true(mishap_standing_close(&standing, 3, 1, T("another"), false)); /* worth a line */
    assert_false(mishap_standing_claim(&standing, 3, now));
    int64_t waited = 0;
    for (int i = 0; i < 10; i++) {
        int64_t next = mishap_standing_next_try(&standing, 3);
        assert_false(mishap_standing_claim(&standing, 3, next - 1));
        assert_true(mishap_standing_claim(&standing, 3, next));
        assert_false(mishap_standing_claim(&standing, 3, next)); /* one loop does it */
        int64_t wait = mishap_standing_next_try(&standing, 3) - next;
        assert_true(wait >= waited && wait <= INT64_C(2000000000));
        waited = wait;
    }
    assert_int_equal(waited, INT64_C(2000000000));
    assert_false(mishap_standing_is_hopeless(&standing, 3));
    mishap_standing_close(&standing, 3, 1, T("another"), true);
    assert_true(mishap_standing_is_hopeless(&standing, 3));
    assert_false(mishap_standing_is_hopeless(&standing, 2));
    mishap_standing_close(&standing, 3, 0, T("late"), false); /* of before, and says nothing */
    assert_true(mishap_standing_is_hopeless(&standing, 3));
    mishap_standing_close(&standing, 3, 1, T("another"), false);
    assert_false(mishap_standing_is_hopeless(&standing, 3));
    assert_false(mishap_standing_reopen(&standing, 3, 0)); /* opened before it was closed */
    assert_true(mishap_standing_reopen(&standing, 3, 1));
    assert_false(mishap_standing_reopen(&standing, 3, 1));
    assert_int_equal(mishap_standing_generation(&standing, 3), 2);
    assert_false(mishap_standing_close(&standing, 3, 1, T("late"), false));
    assert_int_equal(mishap_standing_generation(&standing, 3), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_run_by_another_process_and_answered),
        TEST(a_failure_arrives_with_both_of_its_sides),
        TEST(every_way_to_die_is_told_and_costs_one_call),
        TEST(the_address_of_a_crash_is_noted_if_the_processor_gave_it),
        TEST(operations_without_a_service_share_one_process_and_run_one_at_a_time),
        TEST(two_loops_share_the_worker_that_is_alone),
        TEST(a_service_runs_in_as_many_processes_as_allowed_and_no_more),
        TEST(waiting_is_not_charged_to_the_handler),
        TEST(a_worker_that_is_put_away_and_hangs_at_its_end_is_killed),
        TEST(calls_that_a_dead_worker_had_not_begun_are_run_by_another),
        TEST(calls_behind_several_that_kill_the_worker_are_run_all_the_same),
        TEST(a_call_that_was_taken_back_is_not_run_in_place_of_the_next),
        TEST(as_many_calls_wait_as_may_and_not_one_more),
        TEST(what_a_call_says_arrives_in_order_and_before_its_answer),
        TEST(a_stream_arrives_in_pieces_and_says_what_it_waits_for),
        TEST(a_stream_goes_on_where_its_cursor_is),
        TEST(keeper_and_worker_have_nothing_of_the_server),
        TEST(a_forgotten_call_is_cancelled_and_its_failure_recorded),
        TEST(a_forgotten_call_that_waits_is_never_run),
        TEST(an_answer_may_be_large),
        TEST(the_arguments_of_a_call_may_be_large),
        TEST(a_call_that_was_ended_by_a_jump_leaves_no_lock_behind),
        TEST(a_worker_in_which_a_handler_left_a_thread_takes_no_other_call),
        TEST(nobody_waits_for_a_worker_that_does_not_end),
        TEST(a_worker_that_is_alone_is_replaced_for_all_loops_when_a_thread_was_left),
        TEST(calls_of_a_batch_are_settled_before_a_worker_ends_for_a_thread),
        TEST(a_call_that_is_repeated_is_settled_alone),
        TEST(what_a_worker_has_started_ends_with_it),
        TEST(threads_that_were_joined_or_that_the_service_started_are_no_matter),
        TEST(a_service_may_say_that_its_handlers_leave_threads_and_the_incident_names_them),
        TEST(a_keeper_that_dies_or_stops_is_followed_by_another),
        TEST(a_keeper_that_ends_at_once_is_not_followed_for_ever),
        TEST(a_service_that_cannot_be_opened_is_refused_at_once_and_tried_again_in_between),
        TEST(other_services_work_while_one_cannot_be_opened),
        TEST(workers_that_die_while_they_open_close_the_service),
        TEST(a_service_that_takes_too_long_to_open_is_closed),
        TEST(what_a_handler_has_lost_is_opened_anew_without_another_call),
        TEST(workers_open_what_the_server_began_with_and_make_no_folder),
        TEST(a_service_is_closed_and_opened_again_once_by_whoever_finds_out),
        TEST(a_worker_that_was_killed_is_shared_with_no_other_loop),
        TEST(a_worker_has_the_loop_that_asked_for_it),
        TEST(a_worker_that_is_alone_ends_itself_when_the_call_of_a_lost_loop_hangs),
        TEST(services_are_tried_before_a_server_listens),
        TEST(a_server_does_not_listen_if_opening_a_service_ends_its_process),
    };
    return RUN(tests);
}
