/*
 * One handler for each kind of fault. Where the compiler could see what is wrong, it is kept from
 * seeing it by `volatile`. What a fault leaves behind ends after a minute by itself, so that a
 * server that does not clean up does no harm to the machine.
 */
#include "../support/dying.h"
#include "program.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
    LIFE_S = 60,
    DEEPEST = 16384,                  /* frames of 4 KB */
    MEMORY_LIMIT = 128 * 1024 * 1024, /* bytes */
    BLOCK = 1024 * 1024,
    PAGE = 4096, /* the smallest there is */
    HEAP_BLOCKS = 8,
    HEAP_BLOCK = 100000, /* bytes; more would have a mapping of its own */
    BOMBS = 32,          /* processes, each with one more */
    THREADS = 4,
    DESCRIPTORS = 10,
    SOCKET = 16, /* of a worker, to its loop */
};

static char *volatile nowhere = NULL;
static volatile int64_t ticks;

static mishap *leave_something(mishap_call *call)
{
    return mishap_answer_member(call, "left", (bool)true);
}

/* -- signals of the processor ------------------------------------------------------------------ */

HANDLER(fault_segv)
{
    mishap_answer_member(call, "half", "done"); /* must not be told */
    *nowhere = 1;
    return NULL;
}

/* Far from any code. It is called by a function of its own, for the frame of a function that jumped
 * away is not whole. */
static __attribute__((noinline)) int jump_away(void)
{
    int (*volatile target)(void) = (int (*)(void))(uintptr_t)0x10;
    return target() + 1;
}

HANDLER(fault_jump)
{
    return mishap_answer_member(call, "came_back", jump_away());
}

/* A page of a file that has become shorter. */
HANDLER(fault_bus)
{
    int file = memfd_create("short", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, PAGE) != 0)
        return NULL;
    volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED || ftruncate(file, 0) != 0)
        return NULL;
    return mishap_answer_member(call, "read", (int)page[0]);
}

HANDLER(fault_divide)
{
    return mishap_answer_member(call, "quotient", die_by_division(1));
}

HANDLER(fault_illegal)
{
    die_by_illegal_instruction();
    return leave_something(call);
}

HANDLER(fault_trap)
{
    die_by_breakpoint();
    return leave_something(call);
}

/* As a filter of system calls sends it. */
HANDLER(fault_system)
{
    raise(SIGSYS);
    return leave_something(call);
}

/* -- the heap ---------------------------------------------------------------------------------- */

/* Writes over the size of the block that all others are cut from; malloc() notices, and aborts
 * while it holds the lock of its arena. */
HANDLER(fault_heap)
{
    char *volatile block[HEAP_BLOCKS];
    for (size_t i = 0; i < HEAP_BLOCKS; i++)
        if (!(block[i] = malloc(HEAP_BLOCK)))
            return NULL;
    volatile char *end = block[HEAP_BLOCKS - 1] + malloc_usable_size(block[HEAP_BLOCKS - 1]);
    for (size_t i = 0; i < sizeof(size_t); i++)
        end[i] = (char)0xff;
    for (size_t i = 0; i < HEAP_BLOCKS; i++)
        block[i] = malloc(HEAP_BLOCK);
    return mishap_answer_member(call, "damaged", (bool)true);
}

HANDLER(fault_double_free)
{
    char *volatile block = malloc(40);
    free(block);
    free(block);
    return mishap_answer_member(call, "damaged", (bool)true);
}

HANDLER(fault_memory)
{
    struct rlimit limit = { MEMORY_LIMIT, MEMORY_LIMIT };
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
        return NULL;
    for (;;) {
        volatile char *block = malloc(BLOCK);
        for (size_t at = 0; at < BLOCK; at += PAGE)
            block[at] = 1; /* at last there is none */
    }
    return mishap_answer(call, NULL);
}

/* -- ends of the process ----------------------------------------------------------------------- */

HANDLER(fault_abort)
{
    (void)call;
    abort();
}

HANDLER(fault_exit)
{
    (void)call;
    exit(3);
}

HANDLER(fault_leave)
{
    (void)call;
    _exit(4);
}

HANDLER(fault_thread_exit)
{
    (void)call;
    pthread_exit(NULL);
}

HANDLER(fault_exec)
{
    execl("/bin/true", "true", (char *)NULL);
    return mishap_answer(call, NULL);
}

static mishap *send_signal(mishap_call *call, int number)
{
    kill(getpid(), number);
    return leave_something(call);
}

HANDLER(fault_kill)
{
    return send_signal(call, SIGKILL);
}

HANDLER(fault_user_signal)
{
    return send_signal(call, SIGUSR1);
}

/* It is for the server to decide when a worker ends. */
HANDLER(fault_terminate)
{
    kill(getpid(), SIGINT);
    kill(getpid(), SIGHUP);
    return send_signal(call, SIGTERM);
}

/* -- the stack --------------------------------------------------------------------------------- */

int fault_overflow_deeper(int depth);
int fault_overflow_deeper(int depth)
{
    volatile char room[PAGE];
    room[depth % PAGE] = (char)depth;
    if (depth == DEEPEST)
        return 0;
    return fault_overflow_deeper(depth + 1) + room[depth % PAGE];
}

HANDLER(fault_overflow)
{
    mishap_answer_member(call, "depth", fault_overflow_deeper(0));
    abort(); /* a stack without limit */
}

/* To a place that was never set. */
static __attribute__((noinline)) int leap_away(void)
{
    jmp_buf place;
    memset(&place, 0, sizeof place);
    if (ticks >= 0)
        longjmp(place, 1);
    return 1;
}

HANDLER(fault_leap)
{
    return mishap_answer_member(call, "came_back", leap_away());
}

/* -- endless ----------------------------------------------------------------------------------- */

HANDLER(fault_loop)
{
    (void)call;
    for (;;)
        ticks++;
    return NULL;
}

HANDLER(fault_blocked_loop)
{
    sigset_t all;
    (void)call;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (;;)
        ticks++;
    return NULL;
}

HANDLER(fault_deadlock)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return mishap_answer(call, NULL);
}

HANDLER(fault_stop)
{
    kill(getpid(), SIGSTOP);
    for (;;)
        ticks++;
    return mishap_answer(call, NULL);
}

/* -- descriptors ------------------------------------------------------------------------------- */

HANDLER(fault_close_all)
{
    close_range(0, ~0U, 0);
    return leave_something(call);
}

HANDLER(fault_close_crash)
{
    close_range(0, ~0U, 0);
    *nowhere = 1;
    return mishap_answer(call, NULL);
}

static void write_garbage(void)
{
    static const char garbage[] = "\xff\xfe garbage {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    for (int file = 0; file < DESCRIPTORS; file++) {
        ssize_t written = write(file, garbage, sizeof garbage);
        (void)written;
    }
}

HANDLER(fault_garbage)
{
    (void)call;
    write_garbage();
    abort();
}

HANDLER(fault_garbage_kept)
{
    write_garbage();
    return leave_something(call);
}

/* -- processes --------------------------------------------------------------------------------- */

/* They hold every descriptor of the worker, and half of them have left its process group. */
HANDLER(fault_fork_bomb)
{
    (void)call;
    for (int i = 0; i < BOMBS; i++)
        if (fork() == 0) {
            if (i % 2)
                setsid();
            fork();
            live_for_a_minute();
            for (;;)
                pause();
        }
    abort();
}

/* The child returns, too: there may be only one answer, and no process may go on beside the
 * worker. */
HANDLER(fault_twin)
{
    if (fork() == 0)
        live_for_a_minute();
    return leave_something(call);
}

/* What a child writes must not stand in the middle of what the worker writes. */
HANDLER(fault_child_writes)
{
    pid_t child = fork();
    if (child == 0) {
        ssize_t written = write(SOCKET, "no frame at all", 15);
        (void)written;
    }
    for (int i = 0; i < 1000; i++)
        mishap_changed(call, "storm://%d", i);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return leave_something(call);
}

/* The crash of a child is not that of the worker. */
HANDLER(fault_child_crashes)
{
    pid_t child = fork();
    if (child == 0)
        *nowhere = 1;
    waitpid(child, NULL, 0);
    kill(getpid(), SIGKILL);
    return leave_something(call);
}

static void *report_for_ever(void *call)
{
    for (;;) {
        mishap_changed(call, "storm://cancelled");
        pthread_testcancel();
    }
    return NULL;
}

/* A thread that is cancelled while it says something must not keep others from doing so. */
HANDLER(fault_cancelled)
{
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, report_for_ever, call) != 0)
            abort();
        wait_ms(1);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    return leave_something(call);
}

/* -- locks ------------------------------------------------------------------------------------- */

HANDLER(fault_transaction)
{
    const struct store *store = mishap_state(call);
    if (sqlite3_exec(store->database,
                     "BEGIN IMMEDIATE; INSERT OR REPLACE INTO kept VALUES (-1, 'half')", NULL, NULL,
                     NULL) != SQLITE_OK)
        return store_failure(store->database);
    *nowhere = 1;
    return NULL;
}

HANDLER(fault_flock)
{
    if (take_lock(mishap_state(call)) < 0)
        return mishap_raise(UNAVAILABLE, "There is no lock.");
    abort();
}

/* -- threads ----------------------------------------------------------------------------------- */

static void *stay(void *state)
{
    for (int turn = 0; turn < LIFE_S * 20; turn++)
        wait_ms(50);
    return state;
}

static void start_threads(void *(*run)(void *))
{
    pthread_t thread;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, run, NULL) == 0)
            pthread_detach(thread);
}

/* The answer is right; what is wrong is what stays. */
HANDLER(fault_threads)
{
    start_threads(stay);
    return leave_something(call);
}

HANDLER(fault_threads_crash)
{
    (void)call;
    start_threads(stay);
    abort();
}

static void *crash_soon(void *state)
{
    wait_ms(1);
    *nowhere = 1;
    return state;
}

HANDLER(fault_crash_beside)
{
    start_threads(crash_soon);
    wait_ms(2000);
    return leave_something(call);
}

/* -- against the declaration ------------------------------------------------------------------- */

HANDLER(fault_nonsense)
{
    return mishap_answer(call, "{\"half\":");
}

HANDLER(fault_undeclared)
{
    mishap_answer_member(call, "half", "done");
    return mishap_raise(CONFLICT, "Nobody has declared this.");
}

HANDLER(fault_wrong_getter)
{
    return mishap_answer_member(call, "text", mishap_string(call, "nowhere"));
}
