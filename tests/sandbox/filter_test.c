/*
 * The filter of system calls, as it is compiled: its program is interpreted here, as the kernel
 * does it, for every number of a call and for the arguments that count. So nothing of what is tried
 * is really called. docs/sandbox.md has the lists.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>

#include "testing.h"
#include "sandbox/inside.h"

enum { SELF = 4711, OTHER = 4712, NUMBERS = 1024, LONGEST = 20000 };

#define REFUSED    (SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN    (SECCOMP_RET_ERRNO | ENOSYS)
#define EVERYTHING UINT64_MAX

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* -- interpreting it --------------------------------------------------------------------------- */

static struct sock_filter code[LONGEST];
static size_t count;

/* The filter of a profile that has these shares. */
static void aim(unsigned shares)
{
    const mishap_sandbox_filter *compiled = mishap_sandbox_compile();
    assert_non_null(compiled);
    count = compiled->count;
    assert_in_range(count, 1, LONGEST);
    memcpy(code, compiled->code, count * sizeof *code);
    mishap_sandbox_aim(&(mishap_sandbox_filter){ code, count }, SELF, shares);
}

static bool jumps(const struct sock_filter *line, uint32_t word)
{
    switch (BPF_OP(line->code)) {
    case BPF_JEQ:
        return word == line->k;
    case BPF_JGT:
        return word > line->k;
    case BPF_JGE:
        return word >= line->k;
    case BPF_JSET:
        return word & line->k;
    default:
        fail_msg("a jump that no filter has: %x", line->code);
        return false;
    }
}

static uint32_t answer_to(const struct seccomp_data *data)
{
    uint32_t word = 0;
    for (size_t at = 0; at < count; at++) {
        const struct sock_filter *line = &code[at];
        if (line->code == (BPF_LD | BPF_W | BPF_ABS)) {
            assert_in_range(line->k, 0, sizeof *data - sizeof word);
            memcpy(&word, (const char *)data + line->k, sizeof word);
        } else if (line->code == (BPF_ALU | BPF_AND | BPF_K))
            word &= line->k;
        else if (line->code == (BPF_RET | BPF_K))
            return line->k;
        else if (line->code == (BPF_JMP | BPF_JA))
            at += line->k;
        else if (BPF_CLASS(line->code) == BPF_JMP)
            at += jumps(line, word) ? line->jt : line->jf;
        else
            fail_msg("a line that no filter has: %x", line->code);
    }
    fail_msg("a filter without an end");
    return 0;
}

static uint32_t answer(int number, const uint64_t *arguments)
{
    struct seccomp_data data = { .nr = number, .arch = seccomp_arch_native() };
    memcpy(data.args, arguments, sizeof data.args);
    return answer_to(&data);
}

/* The result of a call with any arguments; 0: it depends on them. */
static uint32_t answer_always(int number)
{
    uint64_t all[6], none[6] = { 0 };
    memset(all, 0xff, sizeof all);
    uint32_t first = answer(number, all);
    return first == answer(number, none) ? first : 0;
}

/* -- the lists --------------------------------------------------------------------------------- */

/* The names of a list of docs/sandbox.md, which has a sentence above it. */
static char *list_after(const char *text, const char *sentence)
{
    const char *above = strstr(text, sentence);
    const char *from = above ? strstr(above, "```\n") : NULL;
    const char *to = from ? strstr(from + 4, "\n```") : NULL;
    if (!to)
        fail_msg("docs/sandbox.md has no list: %s", sentence);
    char *list = NULL;
    assert_int_not_equal(asprintf(&list, " %.*s ", (int)(to - from - 4), from + 4), -1);
    for (char *c = list; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    return list;
}

static bool is_in(const char *list, const char *name)
{
    char word[100];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word);
}

/* Calls that this machine has no number for are in the list for others. */
static void expect_all(const char *list, uint32_t expected)
{
    char copy[LONGEST], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        int number = seccomp_syscall_resolve_name(name);
        if (number == __NR_SCMP_ERROR)
            fail_msg("no system has a call %s", name);
        if (number >= 0 && answer_always(number) != expected)
            fail_msg("%s: %x, not %x", name, answer_always(number), expected);
    }
}

static char *read_page(void)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/../docs/sandbox.md", getenv("MISHAP_TESTS"));
    return read_file(path, NULL);
}

static void the_lists_are_those_of_the_document(void **state)
{
    char *text = read_page();
    char *allowed = list_after(text, "\nA program can use these system calls, ");
    char *refused = list_after(text, "\nThese return EPERM");
    (void)state;
    aim(0);
    expect_all(allowed, SECCOMP_RET_ALLOW);
    expect_all(refused, REFUSED);
    for (int number = 0; number < NUMBERS; number++) {
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
        uint32_t always = answer_always(number);
        if (always == SECCOMP_RET_ALLOW && !(name && is_in(allowed, name)))
            fail_msg("the document does not allow %s (%d)", name, number);
        if (name && strncmp(name, "execve", 6) == 0)
            assert_int_equal(always, SECCOMP_RET_USER_NOTIF);
        else if (always && always != SECCOMP_RET_ALLOW && always != UNKNOWN && always != REFUSED)
            fail_msg("%s (%d): %x", name, number, always);
        free(name);
    }
    free(allowed);
    free(refused);
    free(text);
}

/* With all arguments that are tried, these are refused if the program has no share of what they
 * take. */
static void shares_are_what_the_profile_names(void **state)
{
    static const struct {
        const char *name;
        unsigned shares;
        uint32_t without;
    } rows[] = {
        { "timer_create", MISHAP_SHARES_TIMERS, REFUSED },
        { "epoll_create", MISHAP_SHARES_EVENTS, REFUSED },
        { "epoll_create1", MISHAP_SHARES_EVENTS, REFUSED },
        { "pipe", MISHAP_SHARES_EVENTS, REFUSED },
        { "pipe2", MISHAP_SHARES_EVENTS, REFUSED },
        { "sendfile", MISHAP_SHARES_EVENTS, UNKNOWN },
        { "copy_file_range", MISHAP_SHARES_EVENTS, UNKNOWN },
        { "splice", MISHAP_SHARES_EVENTS, UNKNOWN },
        { "tee", MISHAP_SHARES_EVENTS, UNKNOWN },
    };
    static const unsigned tried[] = { 0, MISHAP_SHARES_TIMERS, MISHAP_SHARES_EVENTS,
                                      MISHAP_SHARES_ALL };
    (void)state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        aim(tried[i]);
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            int number = seccomp_syscall_resolve_name(rows[j].name);
            uint32_t expected = rows[j].shares & tried[i] ? SECCOMP_RET_ALLOW : rows[j].without;
            if (number >= 0 && answer_always(number) != expected)
                fail_msg("%s with %u: %x", rows[j].name, tried[i], answer_always(number));
        }
    }
}

/* -- uses -------------------------------------------------------------------------------------- */

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)
#define HIGH   (UINT64_C(1) << 32)

static const struct use {
    const char *name;
    uint64_t arguments[6];
    bool allowed;
} uses[] = {
    { "clone", { THREAD }, true },
    { "clone", { THREAD | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_SETTLS }, true },
    { "clone", { THREAD & ~CLONE_THREAD }, false },
    { "clone", { THREAD & ~CLONE_VM }, false },
    { "clone", { THREAD & ~CLONE_SIGHAND }, false },
    { "clone", { SIGCHLD }, false },
    { "clone", { THREAD | CLONE_NEWNS }, false },
    { "clone", { THREAD | CLONE_NEWCGROUP }, false },
    { "clone", { THREAD | CLONE_NEWUTS }, false },
    { "clone", { THREAD | CLONE_NEWIPC }, false },
    { "clone", { THREAD | CLONE_NEWUSER }, false },
    { "clone", { THREAD | CLONE_NEWPID }, false },
    { "clone", { THREAD | CLONE_NEWNET }, false },
    { "clone", { THREAD | CLONE_PTRACE }, false },
    { "clone", { THREAD | CLONE_UNTRACED }, false },
    { "clone", { THREAD | CLONE_VFORK }, false },
    { "clone", { THREAD | CLONE_PARENT }, false },
    { "mmap", { 0, 0, 0, MAP_PRIVATE }, true },
    { "mmap", { 0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS }, true },
    { "mmap", { 0, 0, 0, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | MAP_STACK }, true },
    { "mmap", { 0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED }, false },
    { "mmap", { 0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB }, false },
    { "mmap", { 0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED }, true },
    { "mmap", { 0, 0, 0, MAP_SHARED | MAP_ANONYMOUS }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED | MAP_LOCKED }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED | MAP_HUGETLB }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED | MAP_GROWSDOWN }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED_VALIDATE }, true },
    { "mmap", { 0, 0, 0, MAP_SHARED_VALIDATE | MAP_ANONYMOUS }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED_VALIDATE | MAP_LOCKED }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED_VALIDATE | MAP_HUGETLB }, false },
    { "mmap", { 0, 0, 0, MAP_SHARED_VALIDATE | MAP_GROWSDOWN }, false },
    { "mmap", { 0, 0, 0, 0 }, false },
    { "mmap", { 0, 0, 0, 4 }, false },
    { "mmap", { 0, 0, 0, 8 }, false },
    { "getpgid", { 0 }, true },
    { "getpgid", { OTHER }, false },
    { "getsid", { 0 }, true },
    { "getsid", { OTHER }, false },
    { "getpriority", { PRIO_USER, 0 }, true },
    { "getpriority", { PRIO_PROCESS, OTHER }, false },
    { "sched_getaffinity", { 0 }, true },
    { "sched_getaffinity", { SELF }, true },
    { "sched_getaffinity", { OTHER }, false },
    { "sched_getparam", { 0 }, true },
    { "sched_getparam", { SELF }, true },
    { "sched_getparam", { OTHER }, false },
    { "sched_getscheduler", { 0 }, true },
    { "sched_getscheduler", { SELF }, true },
    { "sched_getscheduler", { OTHER }, false },
    { "personality", { 0xffffffff }, true },
    { "personality", { HIGH | 0xffffffff }, true },
    { "personality", { 0 }, false },
    { "personality", { ADDR_NO_RANDOMIZE }, false },
    { "sendto", { 3, 1, 1, 0, 0 }, true },
    { "sendto", { 3, 1, 1, 0, 1 }, false },
    { "sendto", { 3, 1, 1, 0, HIGH }, false },
    { "open", { 1, O_RDONLY }, true },
    { "open", { 1, O_RDONLY | O_TRUNC }, false },
    { "open", { 1, O_ACCMODE | O_TRUNC }, false },
    { "open", { 1, O_WRONLY | O_TRUNC | O_CREAT }, true },
    { "open", { 1, O_RDWR | O_TRUNC }, true },
    { "openat", { 1, 1, O_RDONLY }, true },
    { "openat", { 1, 1, O_RDONLY | O_TRUNC }, false },
    { "openat", { 1, 1, O_ACCMODE | O_TRUNC }, false },
    { "openat", { 1, 1, O_WRONLY | O_TRUNC | O_CREAT }, true },
    { "openat", { 1, 1, O_RDWR | O_TRUNC }, true },
    { "fcntl", { 0, F_DUPFD }, true },
    { "fcntl", { 0, F_DUPFD_CLOEXEC }, true },
    { "fcntl", { 0, F_GETFD }, true },
    { "fcntl", { 0, F_SETFD }, true },
    { "fcntl", { 0, F_GETFL }, true },
    { "fcntl", { 0, F_SETFL }, true },
    { "fcntl", { 0, F_GETLK }, false },
    { "fcntl", { 0, F_SETLK }, false },
    { "fcntl", { 0, F_SETLKW }, false },
    { "fcntl", { 0, F_OFD_SETLK }, false },
    { "fcntl", { 0, F_SETOWN }, false },
    { "fcntl", { 0, F_SETOWN_EX }, false },
    { "fcntl", { 0, F_SETSIG }, false },
    { "fcntl", { 0, F_SETLEASE }, false },
    { "fcntl", { 0, F_NOTIFY }, false },
    { "fcntl", { 0, F_SETPIPE_SZ }, false },
    { "fcntl", { 0, F_ADD_SEALS }, false },
    { "ioctl", { 0, TCGETS }, true },
    { "ioctl", { 0, TIOCGWINSZ }, true },
    { "ioctl", { 0, FIONREAD }, true },
    { "ioctl", { 0, FIONBIO }, true },
    { "ioctl", { 0, FIOCLEX }, true },
    { "ioctl", { 0, FIONCLEX }, true },
    { "ioctl", { 0, TIOCSTI }, false },
    { "ioctl", { 0, HIGH | TIOCSTI }, false },
    { "ioctl", { 0, TCSETS }, false },
    { "ioctl", { 0, FIOASYNC }, false },
    { "getsockopt", { 0, SOL_SOCKET, SO_DOMAIN }, true },
    { "getsockopt", { 0, SOL_SOCKET, SO_ERROR }, true },
    { "getsockopt", { 0, SOL_SOCKET, SO_PROTOCOL }, true },
    { "getsockopt", { 0, SOL_SOCKET, SO_TYPE }, true },
    { "getsockopt", { 0, SOL_SOCKET, SO_PEERCRED }, false },
    { "getsockopt", { 0, SOL_SOCKET, SO_PEERPIDFD }, false },
    { "prctl", { PR_SET_NAME }, true },
    { "prctl", { PR_GET_NAME }, true },
    { "prctl", { PR_SET_VMA }, true },
    { "prctl", { PR_GET_DUMPABLE }, true },
    { "prctl", { PR_GET_NO_NEW_PRIVS }, true },
    { "prctl", { PR_CAPBSET_READ }, true },
    { "prctl", { PR_SET_DUMPABLE }, false },
    { "prctl", { PR_SET_PDEATHSIG }, false },
    { "prctl", { PR_SET_SECCOMP }, false },
    { "prctl", { PR_CAPBSET_DROP }, false },
    { "prlimit64", { 0, RLIMIT_NOFILE, 0 }, true },
    { "prlimit64", { OTHER, RLIMIT_NOFILE, 0 }, false },
    { "prlimit64", { SELF, RLIMIT_NOFILE, 0 }, false },
    { "prlimit64", { 0, RLIMIT_NOFILE, 1 }, false },
    { "prlimit64", { 0, RLIMIT_NOFILE, HIGH }, false },
    { "prlimit64", { 0, RLIMIT_DATA, 1 }, true },
    { "prlimit64", { OTHER, RLIMIT_DATA, 1 }, false },
    { "prlimit64", { 0, RLIMIT_STACK, 1 }, false },
    { "kill", { SELF, 0 }, true },
    { "kill", { SELF, SIGTERM }, true },
    { "kill", { SELF, SIGSYS }, true },
    { "kill", { SELF, SIGSYS + 1 }, false },
    { "kill", { SELF, 64 }, false },
    { "kill", { OTHER, SIGTERM }, false },
    { "kill", { 0, SIGTERM }, false },
    { "kill", { EVERYTHING, SIGTERM }, false },
    { "tgkill", { SELF, SELF, SIGTERM }, true },
    { "tgkill", { SELF, OTHER, SIGSYS }, true },
    { "tgkill", { SELF, SELF, SIGSYS + 1 }, false },
    { "tgkill", { OTHER, OTHER, SIGTERM }, false },
    { "seccomp", { SECCOMP_SET_MODE_FILTER, 0 }, false },
};

static void of_these_calls_some_uses_are_allowed(void **state)
{
    (void)state;
    aim(0);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        const struct use *use = &uses[i];
        int number = seccomp_syscall_resolve_name(use->name);
        if (number < 0)
            continue;
        uint32_t got = answer(number, use->arguments);
        bool refused = got == UNKNOWN || got == REFUSED;
        if (use->allowed ? got != SECCOMP_RET_ALLOW : !refused)
            fail_msg("%s, row %zu: %x", use->name, i, got);
    }
}

/* … and a call of which all uses depend on arguments is among them. */
static void no_other_call_depends_on_its_arguments(void **state)
{
    (void)state;
    aim(MISHAP_SHARES_ALL);
    for (int number = 0; number < NUMBERS; number++) {
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
        bool listed = false;
        for (size_t i = 0; name && i < sizeof uses / sizeof *uses; i++)
            listed = listed || strcmp(uses[i].name, name) == 0;
        if (!answer_always(number) && !listed)
            fail_msg("%s (%d)", name, number);
        free(name);
    }
}

/* With timers a program can refuse itself more of them, and have no listener. */
static void a_further_filter_is_for_those_who_have_timers(void **state)
{
    int number = seccomp_syscall_resolve_name("seccomp");
    (void)state;
    aim(MISHAP_SHARES_TIMERS);
    assert_int_equal(answer(number, (uint64_t[6]){ SECCOMP_SET_MODE_FILTER, 0, 1 }),
                     SECCOMP_RET_ALLOW);
    assert_int_equal(answer(number, (uint64_t[6]){ SECCOMP_SET_MODE_FILTER,
                                                   SECCOMP_FILTER_FLAG_NEW_LISTENER, 1 }),
                     UNKNOWN);
    assert_int_equal(answer(number, (uint64_t[6]){ SECCOMP_SET_MODE_FILTER, HIGH, 1 }), UNKNOWN);
    assert_int_equal(answer(number, (uint64_t[6]){ SECCOMP_SET_MODE_STRICT, 0, 0 }), UNKNOWN);
    aim(MISHAP_SHARES_EVENTS);
    assert_int_equal(answer(number, (uint64_t[6]){ SECCOMP_SET_MODE_FILTER, 0, 1 }), REFUSED);
}

static void a_call_of_another_machine_ends_the_process(void **state)
{
    static const uint32_t others[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_PPC64 };
    (void)state;
    aim(0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct seccomp_data data = { .nr = 3, .arch = others[i] };
        assert_int_equal(answer_to(&data), SECCOMP_RET_KILL_PROCESS);
    }
}

/* -- compiling it ------------------------------------------------------------------------------ */

/* It says why, leaves nothing behind, and the next attempt may work. This comes first: what is
 * compiled is kept. */
static void what_cannot_be_compiled_says_why(void **state)
{
    enum { ATTEMPTS = 8 };
    struct rlimit before, none;
    size_t used[ATTEMPTS]; /* of the memory of the library that compiles it */
    (void)state;
    mishap_use_allocator(&failing_allocator);
    fail_at = 1;
    errno = 0;
    assert_null(mishap_sandbox_compile());
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(blocks, 0);
    fail_at = 0;
    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){ 0, before.rlim_max };
    for (size_t i = 0; i < ATTEMPTS; i++) {
        setrlimit(RLIMIT_NOFILE, &none);
        errno = 0;
        const mishap_sandbox_filter *filter = mishap_sandbox_compile();
        int error = errno;
        setrlimit(RLIMIT_NOFILE, &before);
        assert_null(filter);
        assert_int_equal(error, EMFILE);
        assert_int_equal(blocks, 0);
        used[i] = mallinfo2().uordblks;
    }
    if (!SANITIZED) /* the rules of one attempt are far more; small blocks are kept for the next */
        assert_in_range(used[ATTEMPTS - 1] - used[1], 0, 8192);
    mishap_use_allocator(NULL);
}

static void it_is_compiled_once(void **state)
{
    (void)state;
    int before = dup(STDIN_FILENO);
    close(before);
    const mishap_sandbox_filter *filter = mishap_sandbox_compile();
    assert_non_null(filter);
    assert_ptr_equal(mishap_sandbox_compile(), filter);
    int after = dup(STDIN_FILENO);
    close(after);
    assert_int_equal(after, before); /* its file is closed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_compiled_says_why),
        cmocka_unit_test(it_is_compiled_once),
        cmocka_unit_test(the_lists_are_those_of_the_document),
        cmocka_unit_test(shares_are_what_the_profile_names),
        cmocka_unit_test(of_these_calls_some_uses_are_allowed),
        cmocka_unit_test(no_other_call_depends_on_its_arguments),
        cmocka_unit_test(a_further_filter_is_for_those_who_have_timers),
        cmocka_unit_test(a_call_of_another_machine_ends_the_process),
    };
    return RUN(tests);
}
