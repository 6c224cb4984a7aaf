/*
 * The processes of a keeper, with the test as the keeper: what is left when the system refuses one,
 * and stacks that are read from outside, of processes whose registers point anywhere.
 */
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mishap/inside.h"
#include "worker/keeper/processes.h"
#include "worker/keeper/stack.h"

enum { NOBODY = 65534, PATIENCE_MS = 120000, LOWEST = 4096 };

/* In a process of its own, which may give up what the others need. */
static void in_child(void (*scenario)(void))
{
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        scenario();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* -- what the system refuses ------------------------------------------------------------------- */

static size_t open_files(void)
{
    size_t count = 0;
    for (int file = 0; file < 256; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

/* From now on so many more files can be opened. */
static void allow_files(size_t more)
{
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct rlimit limit;
    MUST(next >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    close(next);
    limit.rlim_cur = (rlim_t)next + more;
    MUST(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* From now on no process can be started. */
static void allow_no_process(void)
{
    struct rlimit none = { 0, 0 };
    if (geteuid() == 0) /* for whom there is no such limit */
        MUST(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    MUST(setrlimit(RLIMIT_NPROC, &none) == 0);
}

static const char *const no_arguments[] = { NULL };
static const mishap_foreign truth = { .program = "/bin/true", .arguments = no_arguments };
static const mishap_operation operations[] = { { 0 } };
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };
static mishap_keeper_plan plan = {
    .app = &app, .groups = { .groups = { { .alone = true }, { .foreign = &truth } }, .count = 2 }
};
enum { LONE, FOREIGN };

/* It is told why; nothing is kept of it, neither a file nor a place nor a process. */
static void expect_refused(bool made, int error, size_t files)
{
    int why = errno;
    MUST(!made);
    if (why != error)
        fprintf(stderr, "it was refused for: %s\n", strerror(why));
    MUST(why == error);
    MUST(!mishap_kept_next(NULL));
    MUST(open_files() == files);
    MUST(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void refuse_files(void)
{
    mishap_connection c;
    mishap_kept *worker = NULL;
    int end = -1;
    mishap_kept_begin(&plan, 1);
    size_t before = open_files();
    struct rlimit usual;
    MUST(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    for (size_t more = 0; more < 4; more++) {
        allow_files(more);
        expect_refused(mishap_connection_make(&c), EMFILE, before);
        for (size_t i = 0; i < MISHAP_KEEPER_FILES; i++)
            MUST(c.loop[i] == -1 && c.worker[i] == -1);
        MUST(setrlimit(RLIMIT_NOFILE, &usual) == 0);
    }
    allow_files(4);
    MUST(mishap_connection_make(&c));
    MUST(open_files() == before + 4);
    expect_refused(mishap_kept_fork(LONE, &c, &worker), EMFILE, before + 4);
    expect_refused(mishap_kept_spawn(FOREIGN, false, &worker, &end), EMFILE, before + 4);
    mishap_connection_close(c.worker);
    expect_refused(mishap_kept_spawn(FOREIGN, false, &worker, &end), EMFILE, before + 2);
    MUST(!worker && end == -1);
    mishap_connection_close(c.loop);
    MUST(open_files() == before);
}

static void refuse_processes(void)
{
    mishap_connection c;
    mishap_kept *worker = NULL;
    int end = -1;
    mishap_kept_begin(&plan, 1);
    MUST(mishap_connection_make(&c));
    size_t before = open_files();
    allow_no_process();
    expect_refused(mishap_kept_fork(LONE, &c, &worker), EAGAIN, before);
    expect_refused(mishap_kept_spawn(FOREIGN, true, &worker, &end), EAGAIN, before);
    MUST(!worker && end == -1);
}

static void what_cannot_be_started_leaves_nothing(void **state)
{
    (void)state;
    in_child(refuse_files);
    in_child(refuse_processes);
}

/* -- stacks ------------------------------------------------------------------------------------ */

#if defined(__x86_64__) || defined(__aarch64__)

struct record {
    uint64_t caller, address;
};

/* Below the first record are pages as well, and behind the furthest. */
enum { MOST_BYTES = 64 * 1024 * 1024, AROUND = 1024 * 1024, FRAMES = 40 };

static char *memory;           /* the stack of the process that is read */
static atomic_int *stands;     /* its registers are set */
static struct record *records; /* at its stack pointer */

static _Noreturn void stand(const void *stack, uint64_t frame)
{
#if defined(__x86_64__)
    __asm__ volatile("mov %0, %%rsp\n mov %1, %%rbp\n movl $1, (%2)\n 1: jmp 1b"
                     :
                     : "r"(stack), "r"(frame), "r"(stands)
                     : "memory");
#else
    __asm__ volatile("mov sp, %0\n mov x29, %1\n str %w3, [%2]\n 1: b 1b"
                     :
                     : "r"(stack), "r"(frame), "r"(stands), "r"(1)
                     : "memory");
#endif
    __builtin_unreachable();
}

static void make_stack(void)
{
    memory = mmap(NULL, MOST_BYTES + 2 * AROUND, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stands = mmap(NULL, sizeof *stands, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED && stands != MAP_FAILED);
    records = (struct record *)(void *)(memory + AROUND);
}

static void free_stack(void)
{
    munmap(memory, MOST_BYTES + 2 * AROUND);
    munmap(stands, sizeof *stands);
}

/* False: it was not read. */
static bool read_child(pid_t pid, mishap_trace *trace)
{
    int status;
    for (int i = 0; i < PATIENCE_MS && !atomic_load(stands); i++)
        poll(NULL, 0, 1);
    if (!atomic_load(stands) || mishap_stack_read(pid, trace)) /* before it has stopped */
        return false;
    return mishap_stack_stop(pid) && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
           mishap_stack_read(pid, trace);
}

/* How many frames are found beside the one that runs. */
static size_t frames_from(uint64_t frame, mishap_trace *trace)
{
    atomic_store(stands, 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        stand(records, frame);
    bool read = read_child(pid, trace);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(read);
    assert_true(trace->count >= 1);
    return trace->count - 1;
}

static uint64_t at(const void *address)
{
    return (uintptr_t)address;
}

static void frames_are_followed_up_the_stack(void **state)
{
    mishap_trace trace;
    (void)state;
    make_stack();
    for (size_t i = 0; i < FRAMES; i++)
        records[i] = (struct record){ at(&records[i + 1]), LOWEST + i };
    assert_int_equal(frames_from(at(records), &trace), MISHAP_TRACE_MAX - 1);
    for (size_t i = 1; i < MISHAP_TRACE_MAX; i++)
        assert_int_equal(at(trace.addresses[i]), LOWEST + i - 1);
    records[3].address = LOWEST - 1; /* no code lies there */
    assert_int_equal(frames_from(at(records), &trace), 3);
    records[2].caller = at(&records[1]); /* down again */
    assert_int_equal(frames_from(at(records), &trace), 3);
    records[2].caller = at(&records[2]);
    assert_int_equal(frames_from(at(records), &trace), 3);
    records[1].caller = at(&records[2]) + 4; /* no record begins there */
    assert_int_equal(frames_from(at(records), &trace), 2);
    records[-1] = (struct record){ at(records), LOWEST }; /* below the stack */
    assert_int_equal(frames_from(at(&records[-1]), &trace), 0);
    assert_int_equal(frames_from(0, &trace), 0);
    free_stack();
}

static void frames_that_are_far_away_are_not_followed(void **state)
{
    mishap_trace trace;
    (void)state;
    make_stack();
    char *far = (char *)records + MOST_BYTES;
    struct record *last = (struct record *)(void *)(far - sizeof(void *));
    *last = (struct record){ 0, LOWEST };
    records[0] = (struct record){ at(last), LOWEST };
    assert_int_equal(frames_from(at(records), &trace), 2);
    *(struct record *)(void *)far = (struct record){ 0, LOWEST };
    records[0].caller = at(far);
    assert_int_equal(frames_from(at(records), &trace), 1);
    free_stack();
}

/* No page of this memory is ever provided: reading one would block for ever. */
static bool take_pages_away(char *first, size_t size)
{
    int file = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = { .api = UFFD_API };
    struct uffdio_register range = { .range = { at(first), size },
                                     .mode = UFFDIO_REGISTER_MODE_MISSING };
    return file >= 0 && ioctl(file, UFFDIO_API, &api) == 0 &&
           ioctl(file, UFFDIO_REGISTER, &range) == 0;
}

enum { FOLLOWED = 0, LED_ASTRAY, NOT_READ, NO_SUCH_MEMORY };

/* In place of a keeper. */
static _Noreturn void read_one_without_pages(_Atomic pid_t *pid)
{
    mishap_trace trace;
    pid_t child = fork();
    if (child == 0) {
        if (!take_pages_away(memory + 2 * AROUND, AROUND))
            _exit(NO_SUCH_MEMORY);
        records[0] = (struct record){ at(memory + 2 * AROUND), LOWEST };
        stand(records, at(records));
    }
    atomic_store(pid, child);
    int status = 0;
    while (!atomic_load(stands))
        if (waitpid(child, &status, WNOHANG) == child)
            _exit(NO_SUCH_MEMORY);
    bool read = read_child(child, &trace);
    kill(child, SIGKILL);
    _exit(!read ? NOT_READ : trace.count == 2 ? FOLLOWED : LED_ASTRAY);
}

static void a_keeper_waits_for_no_page_of_a_stack(void **state)
{
    _Atomic pid_t *child = mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    (void)state;
    assert_true(child != MAP_FAILED);
    make_stack();
    pid_t keeper = fork(), ended = 0;
    assert_true(keeper >= 0);
    if (keeper == 0)
        read_one_without_pages(child);
    for (int i = 0; i < PATIENCE_MS / 4 && !ended; i++) {
        ended = waitpid(keeper, &status, WNOHANG);
        poll(NULL, 0, 1);
    }
    if (!ended) {
        kill(keeper, SIGKILL);
        if (atomic_load(child) > 0)
            kill(atomic_load(child), SIGKILL);
        waitpid(keeper, NULL, 0);
    }
    munmap(child, sizeof *child);
    free_stack();
    assert_int_equal(ended, keeper);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_MEMORY)
        skip();
    assert_int_equal(status, FOLLOWED);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_cannot_be_started_leaves_nothing),
#if defined(__x86_64__) || defined(__aarch64__)
        TEST(frames_are_followed_up_the_stack),
        TEST(frames_that_are_far_away_are_not_followed),
        TEST(a_keeper_waits_for_no_page_of_a_stack),
#endif
    };
    return RUN(tests);
}
