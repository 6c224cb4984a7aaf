/*
 * The filter of system calls: a list of those that a program needs to compute, to have threads, and
 * to read and write the files that it is given. Any other call returns ENOSYS, as on an older
 * kernel, so a C library uses its fallback. Calls that programs are known to try, and must not
 * have, return EPERM, which reads better in their reports.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#include "base/memory.h"
#include "sandbox/inside.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Stands for the id of the process in the compiled filter, which is made before there is a
 * process. */
#define SELF UINT32_C(0x5e1f5e1f)

/* -- the list ---------------------------------------------------------------------------------- */

static const char *const allowed[] = {
    /* memory */
    "brk",
    "madvise",
    "membarrier",
    "mincore",
    "mprotect",
    "mremap",
    "msync",
    "munmap",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    /* threads, signals and itself */
    "arch_prctl",
    "exit",
    "exit_group",
    "futex",
    "futex_time64",
    "futex_waitv",
    "getcpu",
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "getpgrp",
    "getpid",
    "getppid",
    "getresgid",
    "getresuid",
    "getrlimit",
    "getrusage",
    "gettid",
    "getuid",
    "pause",
    "restart_syscall",
    "rseq",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_yield",
    "set_robust_list",
    "set_thread_area",
    "set_tid_address",
    "sigaltstack",
    "sigreturn",
    "times",
    "uname",
    "sysinfo",
    "wait4",
    "waitid",
    /* time */
    "alarm",
    "clock_getres",
    "clock_gettime",
    "clock_gettime64",
    "clock_nanosleep",
    "getitimer",
    "gettimeofday",
    "nanosleep",
    "setitimer",
    "time",
    "timer_delete",
    "timer_getoverrun",
    "timer_gettime",
    "timer_settime",
    "timerfd_create",
    "timerfd_gettime",
    "timerfd_settime",
    /* descriptors */
    "close",
    "close_range",
    "dup",
    "dup2",
    "dup3",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "eventfd",
    "eventfd2",
    "fadvise64",
    "fallocate",
    "fdatasync",
    "fstat",
    "fstat64",
    "fstatfs",
    "fsync",
    "ftruncate",
    "getdents",
    "getdents64",
    "lseek",
    "_llseek",
    "poll",
    "ppoll",
    "pread64",
    "preadv",
    "preadv2",
    "pselect6",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readahead",
    "readv",
    "recvfrom",
    "select",
    "signalfd4",
    "write",
    "writev",
    "getsockname",
    "getpeername",
    "shutdown",
    /* files, as far as the other layers let it see them */
    "access",
    "chdir",
    "faccessat",
    "faccessat2",
    "fchdir",
    "fstatat64",
    "getcwd",
    "link",
    "linkat",
    "lstat",
    "mkdir",
    "mkdirat",
    "newfstatat",
    "readlink",
    "readlinkat",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "stat",
    "statfs",
    "statx",
    "symlink",
    "symlinkat",
    "umask",
    "unlink",
    "unlinkat",
    "getrandom",
};

static const char *const refused[] = {
    "accept",
    "accept4",
    "bind",
    "chmod",
    "chown",
    "chroot",
    "connect",
    "creat",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "fchown",
    "fchownat",
    "flock", /* needs no right to write: a lock on a shared library would affect every process */
    "fork",
    "futimesat",
    "ioprio_set",
    "kcmp",
    "lchown",
    "listen",
    "mknod",
    "mknodat",
    "mlock",
    "mlock2",
    "mlockall",
    "mount",
    "open_by_handle_at",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "recvmsg",
    "sched_setaffinity",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "sendmsg",
    "setdomainname",
    "setfsgid",
    "setfsuid",
    "setgid",
    "setgroups",
    "sethostname",
    "setns",
    "setpgid",
    "setpriority",
    "setregid",
    "setresgid",
    "setresuid",
    "setreuid",
    "setrlimit",
    "setsid",
    "setuid",
    "setxattr",
    "fsetxattr",
    "lsetxattr",
    "socket",
    "socketpair",
    "tkill",
    "truncate",
    "umount2",
    "unshare",
    "utime",
    "utimensat",
    "utimes",
    "vfork",
};

/* Calls that use resources which the system counts for the whole user, and the declaration of a
 * profile that allows them: timers and queued signals (RLIMIT_SIGPENDING), watches
 * (max_user_watches), buffers of pipes (pipe-user-pages-soft), which calls that copy between files
 * use as well. In the compiled filter each returns a placeholder error, which is replaced for each
 * profile: compiling takes milliseconds, and is done once for all profiles. */
enum { TIMERS = 3001, EVENTS, COPIES };
static const struct option {
    unsigned mark, shares;
    int error; /* the error for a program without it */
} options[] = {
    { TIMERS, MISHAP_SHARES_TIMERS, EPERM },
    { EVENTS, MISHAP_SHARES_EVENTS, EPERM },
    { COPIES, MISHAP_SHARES_EVENTS, ENOSYS }, /* then programs use read and write instead */
};
static const struct optional {
    const char *name;
    unsigned mark;
} optional[] = {
    { "timer_create", TIMERS },
    { "epoll_create", EVENTS },
    { "epoll_create1", EVENTS },
    { "pipe", EVENTS },
    { "pipe2", EVENTS },
    { "sendfile", COPIES },
    { "copy_file_range", COPIES },
    { "splice", COPIES },
    { "tee", COPIES },
};

/* Calls of which some uses are allowed: one argument, under a mask, must have this value. Several
 * lines with one name allow several uses. A name must not be in a list above as well: that would
 * allow all uses. */
#define THREAD_FLAGS (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define OTHER_FLAGS                                                                                \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET | CLONE_PTRACE | CLONE_UNTRACED | CLONE_VFORK | CLONE_PARENT)
#define WHOLE UINT64_MAX
#define WORD  UINT64_C(0xffffffff)
/* Locked pages and huge pages are counted for the user or the machine. A mapping that grows
 * downward counts as a stack, and not as memory (RLIMIT_DATA). */
#define UNCOUNTED (MAP_LOCKED | MAP_HUGETLB | MAP_GROWSDOWN)
static const struct use {
    const char *name;
    unsigned argument;
    uint64_t mask, value;
} uses[] = {
    { "clone", 0, THREAD_FLAGS | OTHER_FLAGS, THREAD_FLAGS },
    /* No limit of the process includes shared memory without a file. */
    { "mmap", 3, MAP_TYPE | UNCOUNTED, MAP_PRIVATE },
    { "mmap", 3, MAP_TYPE | UNCOUNTED | MAP_ANONYMOUS, MAP_SHARED },
    { "mmap", 3, MAP_TYPE | UNCOUNTED | MAP_ANONYMOUS, MAP_SHARED_VALIDATE },
    { "getpgid", 0, WORD, 0 }, /* of the process itself */
    { "getsid", 0, WORD, 0 },
    { "getpriority", 1, WORD, 0 },
    { "sched_getaffinity", 0, WORD, 0 },
    { "sched_getaffinity", 0, WORD, SELF },
    { "sched_getparam", 0, WORD, 0 },
    { "sched_getparam", 0, WORD, SELF },
    { "sched_getscheduler", 0, WORD, 0 },
    { "sched_getscheduler", 0, WORD, SELF },
    { "personality", 0, WORD, WORD },
    { "sendto", 4, WHOLE, 0 }, /* to the peer of a connected socket */
    /* A file can be truncated only by opening it for writing: older versions of Landlock do not
     * restrict truncation. */
    { "open", 1, O_TRUNC, 0 },
    { "open", 1, O_ACCMODE, O_WRONLY },
    { "open", 1, O_ACCMODE, O_RDWR },
    { "openat", 2, O_TRUNC, 0 },
    { "openat", 2, O_ACCMODE, O_WRONLY },
    { "openat", 2, O_ACCMODE, O_RDWR },
    /* F_SETOWN and F_SETSIG could send any signal to any process of the user. Locks use memory of
     * the system without a limit, one for each range of bytes, and the right to read is enough to
     * lock a library that all processes share. */
    { "fcntl", 1, WORD, F_DUPFD },
    { "fcntl", 1, WORD, F_DUPFD_CLOEXEC },
    { "fcntl", 1, WORD, F_GETFD },
    { "fcntl", 1, WORD, F_SETFD },
    { "fcntl", 1, WORD, F_GETFL },
    { "fcntl", 1, WORD, F_SETFL },
    { "ioctl", 1, WORD, TCGETS },
    { "ioctl", 1, WORD, TIOCGWINSZ },
    { "ioctl", 1, WORD, FIONREAD },
    { "ioctl", 1, WORD, FIONBIO },
    { "ioctl", 1, WORD, FIOCLEX },
    { "ioctl", 1, WORD, FIONCLEX },
    /* SO_PEERPIDFD would give a handle of the parent. */
    { "getsockopt", 2, WORD, SO_DOMAIN },
    { "getsockopt", 2, WORD, SO_ERROR },
    { "getsockopt", 2, WORD, SO_PROTOCOL },
    { "getsockopt", 2, WORD, SO_TYPE },
    { "prctl", 0, WORD, PR_SET_NAME },
    { "prctl", 0, WORD, PR_GET_NAME },
    { "prctl", 0, WORD, PR_SET_VMA },
    { "prctl", 0, WORD, PR_GET_DUMPABLE },
    { "prctl", 0, WORD, PR_GET_NO_NEW_PRIVS },
    { "prctl", 0, WORD, PR_CAPBSET_READ },
};

/* -- compiling --------------------------------------------------------------------------------- */

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A call that this version of the library or this machine does not have needs no rule. The library
 * gives such a name a negative number, and each rule takes time. */
static int add_rule(scmp_filter_ctx context, uint32_t action, const char *name)
{
    int number = seccomp_syscall_resolve_name(name);
    if (number < 0)
        return 0;
    int result = seccomp_rule_add(context, action, number, 0);
    return result == -EDOM ? 0 : result;
}

static int add_use(scmp_filter_ctx context, const struct use *use)
{
    struct scmp_arg_cmp compare = { use->argument, SCMP_CMP_MASKED_EQ, use->mask, use->value };
    int number = seccomp_syscall_resolve_name(use->name);
    if (number < 0)
        return 0;
    int result = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, number, 1, &compare);
    return result == -EDOM ? 0 : result;
}

/* The process can read its own limits. It can set only that of its memory, which a process without
 * privileges can only lower. */
static int add_limits(scmp_filter_ctx context)
{
    const struct scmp_arg_cmp asking[] = { { 0, SCMP_CMP_MASKED_EQ, WORD, 0 },
                                           { 2, SCMP_CMP_EQ, 0, 0 } };
    const struct scmp_arg_cmp lowering[] = { { 0, SCMP_CMP_MASKED_EQ, WORD, 0 },
                                             { 1, SCMP_CMP_MASKED_EQ, WORD, RLIMIT_DATA } };
    int result = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, asking);
    return result < 0
               ? result
               : seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, lowering);
}

/* Signals to itself, except for real-time signals: each of them is queued, and queued signals are
 * counted for the whole user. */
static int add_signals(scmp_filter_ctx context)
{
    static const struct {
        const char *name;
        unsigned signal; /* the index of the argument */
    } senders[] = { { "kill", 1 }, { "tgkill", 2 } };
    int result = 0;
    for (size_t i = 0; i < COUNT(senders) && result >= 0; i++) {
        const struct scmp_arg_cmp compare[] = { { 0, SCMP_CMP_MASKED_EQ, WORD, SELF },
                                                { senders[i].signal, SCMP_CMP_LE, SIGSYS, 0 } };
        result = seccomp_rule_add_array(context, SCMP_ACT_ALLOW,
                                        seccomp_syscall_resolve_name(senders[i].name), 2, compare);
    }
    return result;
}

/* A program with timers can forbid itself further ones, before it runs code of callers: with
 * another filter, which can only restrict this one. */
static int add_filters(scmp_filter_ctx context)
{
    const struct scmp_arg_cmp compare[] = {
        { 0, SCMP_CMP_MASKED_EQ, WORD, SECCOMP_SET_MODE_FILTER }, { 1, SCMP_CMP_EQ, 0, 0 }
    };
    return seccomp_rule_add_array(context, SCMP_ACT_ERRNO(TIMERS), SCMP_SYS(seccomp), 2, compare);
}

static int add_all(scmp_filter_ctx context)
{
    int result = add_limits(context);
    if (result >= 0)
        result = add_signals(context);
    if (result >= 0)
        result = add_filters(context);
    for (size_t i = 0; i < COUNT(allowed) && result >= 0; i++)
        result = add_rule(context, SCMP_ACT_ALLOW, allowed[i]);
    for (size_t i = 0; i < COUNT(optional) && result >= 0; i++)
        result = add_rule(context, SCMP_ACT_ERRNO(optional[i].mark), optional[i].name);
    for (size_t i = 0; i < COUNT(refused) && result >= 0; i++)
        result = add_rule(context, SCMP_ACT_ERRNO(EPERM), refused[i]);
    for (size_t i = 0; i < COUNT(uses) && result >= 0; i++)
        result = add_use(context, &uses[i]);
    if (result >= 0)
        result = add_rule(context, SCMP_ACT_NOTIFY, "execve");
    if (result >= 0)
        result = add_rule(context, SCMP_ACT_NOTIFY, "execveat");
    return result;
}

/* The library can only write a compiled filter into a file: read it back. */
static int read_back(int file, mishap_sandbox_filter *filter)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return -errno;
    size_t size = (size_t)status.st_size;
    filter->code = mishap_allocate(size);
    if (!filter->code)
        return -ENOMEM;
    filter->count = size / sizeof *filter->code;
    return pread(file, filter->code, size, 0) == (ssize_t)size ? 0 : -EIO;
}

static bool compile(mishap_sandbox_filter *filter)
{
    int file = -1, result = -ENOMEM;
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    *filter = (mishap_sandbox_filter){ 0 };
    if (!context)
        goto done;
    result = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (result >= 0)
        /* Compile a tree, not a list. */
        result = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (result >= 0)
        result = add_all(context);
    if (result < 0)
        goto done;
    file = memfd_create("mishap-filter", MFD_CLOEXEC);
    result = file < 0 ? -errno : seccomp_export_bpf(context, file);
    if (result >= 0)
        result = read_back(file, filter);
done:
    if (file >= 0)
        close(file);
    if (context)
        seccomp_release(context);
    if (result < 0) {
        mishap_release(filter->code);
        *filter = (mishap_sandbox_filter){ 0 };
        errno = -result;
    }
    return result >= 0;
}

const mishap_sandbox_filter *mishap_sandbox_compile(void)
{
    static mishap_sandbox_filter filter;
    return filter.code || compile(&filter) ? &filter : NULL;
}

/* The value that a profile has for a line that returns an error. */
static uint32_t resolve_error(uint32_t returned, unsigned shares)
{
    for (size_t i = 0; i < COUNT(options); i++)
        if (returned == (SECCOMP_RET_ERRNO | options[i].mark))
            return options[i].shares & shares ? SECCOMP_RET_ALLOW
                                              : SECCOMP_RET_ERRNO | (uint32_t)options[i].error;
    return returned;
}

void mishap_sandbox_aim(const mishap_sandbox_filter *filter, pid_t self, unsigned shares)
{
    for (size_t i = 0; i < filter->count; i++) {
        struct sock_filter *line = &filter->code[i];
        if (line->code == (BPF_JMP | BPF_JEQ | BPF_K) && line->k == SELF)
            line->k = (uint32_t)self;
        else if (line->code == (BPF_RET | BPF_K))
            line->k = resolve_error(line->k, shares);
    }
}

/* -- the last execution ------------------------------------------------------------------------ */

/* A thread without the C library: it shares everything with the first thread, including errno. */
static struct {
    int listener; /* 0: not yet, since 0 is standard input; -1: there will be none */
    _Alignas(16) char stack[16 * 1024];
} second;

static int listen_for_execution(void *unused)
{
    (void)unused;
    while (__atomic_load_n(&second.listener, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &second.listener, FUTEX_WAIT, 0, NULL, NULL, 0);
    while (second.listener > 0) {
        union {
            char room[512]; /* a later kernel may write more, and all of it must be 0 */
            struct seccomp_notif heard;
        } in = { { 0 } };
        union {
            char room[512];
            struct seccomp_notif_resp answer;
        } out = { { 0 } };
        if (ioctl(second.listener, SECCOMP_IOCTL_NOTIF_RECV, &in) != 0)
            continue; /* interrupted by a signal */
        out.answer.id = in.heard.id;
        out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(second.listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
    }
    return 0;
}

int mishap_sandbox_install(const mishap_sandbox_filter *filter)
{
    struct sock_fprog code = { (unsigned short)filter->count, filter->code };
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &code);
}

static void release_thread(int listener)
{
    __atomic_store_n(&second.listener, listener, __ATOMIC_RELEASE);
    syscall(SYS_futex, &second.listener, FUTEX_WAKE, 1, NULL, NULL, 0);
}

const char *mishap_sandbox_exec_last(const mishap_sandbox_filter *filter,
                                     const char *const *program, const char *const *environment)
{
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (clone(listen_for_execution, second.stack + sizeof second.stack, flags, NULL) < 0)
        return "clone";
    int listener = mishap_sandbox_install(filter), error = errno;
    release_thread(listener);
    if (listener < 0) {
        errno = error;
        return "seccomp";
    }
    execve(program[0], (char *const *)(uintptr_t)program, (char *const *)(uintptr_t)environment);
    return "execve";
}
