/* A program whose handlers do in their worker what the tests of workers ask for. */
#ifndef MISHAP_WORKERS_APP_H
#define MISHAP_WORKERS_APP_H

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "dying.h"
#include "worker_set_up.h"

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

static inline void hang(void)
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
static volatile size_t too_much = 64; /* a number that no compiler knows */

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
    memset(block, 0xFF, too_much); /* the size of the block behind it */
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
static inline void outlive_child(bool crashes)
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
 * processor with others, which have a higher priority if it lowers its own. A child starts them:
 * the time of the call must not be over while this process is inside of fork(), where its stack
 * cannot be read. */
static inline void starve(int others, int ms)
{
    int64_t from = mishap_clock_monotonic_ns() + INT64_C(300000000); /* when all are there */
    int64_t until = from + ms * INT64_C(1000000);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (fork() != 0)
        return;
    for (int i = 0;; i++)
        if (i == others - 1 || fork() == 0) {
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
enum { PAGE = 64 * 1024 }; /* whole pages of any size */

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

static inline void *stay(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static volatile int crashes_now;

/* Until the test gives the word: then the process dies of it. */
static inline void *crash_at_word(void *unused)
{
    while (!crashes_now)
        usleep(1000);
    *(volatile int *)(uintptr_t)(64 + zero) = 1;
    return unused;
}

static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void wait_for_end_lock(void)
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

static inline void *end_at_once(void *unused)
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

static inline mishap *open_with_thread(const mishap_setup *setup, void **state)
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

static inline mishap *settle_till(void *state)
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

static inline mishap *open_service(const mishap_setup *setup, void **state)
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
static inline bool has_file(const mishap_setup *setup, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", setup->data, name);
    return access(path, F_OK) == 0;
}

static inline mishap *open_moody(const mishap_setup *setup, void **state)
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

static inline const char *identity_of_moody(void *state)
{
    return state;
}

static const mishap_service moody = { "moody", "Opens or not", .open = open_moody,
                                      .identity = identity_of_moody };

static inline mishap *do_read(mishap_call *call)
{
    mishap_answer_member(call, "same", strcmp(mishap_state(call), "as it was at first") == 0);
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

static inline mishap *do_spoil(mishap_call *call)
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
    { "sleep", "Sleep", number, do_sleep, .service = &shared, .timeout_ms = 120000 },
    { "same", "Echo", number, do_same, .service = &shared },
    { "fail", "Fail", NULL, do_fail, .raises = MISHAP_RAISES(NOT_FOUND), .service = &shared },
    { "die", "Die", how, do_die, .stateless = true, .timeout_ms = 500 },
    { "die.soon", "Die", how, do_die, .stateless = true, .timeout_ms = 120000 },
    { "say", "Say", NULL, do_say, .stateless = true },
    { "watch", "Watch", NULL, do_watch, .stateless = true, .timeout_ms = 120000 },
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

static char changed[64];

static inline void begin(struct loop *loop)
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
                                             .stack_ms = 60000,
                                             .idle_ms = 60000,
                                             .open_ms = 60000,
                                             .settle_ms = 60000 };

static inline void begin_to_run(struct loop *loop, struct ours *o, const char *name,
                                const char *arguments)
{
    assert_true(add(loop, o, name, arguments));
    while (!o->run.link || mishap_link_state(o->run.link, o->run.slot) != MISHAP_SLOT_BEGUN)
        turn(loop, 10);
}

#endif
