/* Attempts to execute, to start processes, and on other processes. */
#include "attacker.h"

static const char *of_parent(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)parent, name);
    return path;
}

/* -- programs and processes ---------------------------------------------------------------------
 */

/* A program that is executed in place of this one exits with SUCCEEDED. */
bool execute(void)
{
    execl("/bin/sh", "sh", "-c", "exit 10", NULL);
    return false;
}

static char *const again[] = { itself, (char *)(uintptr_t) "succeed", NULL };
static char *const nothing[] = { NULL };

bool execute_itself(void)
{
    execve(itself, again, nothing);
    return false;
}

bool execute_by_file(void)
{
    syscall(SYS_execveat, open(itself, O_RDONLY | O_CLOEXEC), "", again, nothing, AT_EMPTY_PATH);
    return false;
}

/* A copy of this program, closed for writing. */
static bool copy_to(int to)
{
    char block[65536];
    ssize_t got;
    int from = open(itself, O_RDONLY | O_CLOEXEC);
    while (from >= 0 && (got = read(from, block, sizeof block)) > 0)
        if (write(to, block, (size_t)got) != got)
            return false;
    return from >= 0;
}

bool execute_memory(void)
{
    int file = memfd_create("attack", MFD_CLOEXEC);
    if (file < 0 || !copy_to(file))
        return false;
    syscall(SYS_execveat, file, "", again, nothing, AT_EMPTY_PATH);
    return false;
}

bool execute_written(void)
{
    int file = open("attack", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    if (file < 0 || !copy_to(file))
        return false;
    close(file);
    execve("attack", again, nothing);
    return false;
}

static bool succeeded_as(long pid)
{
    if (pid == 0)
        _exit(0);
    return pid > 0;
}

bool fork_process(void)
{
    return succeeded_as(fork());
}

bool vfork_process(void)
{
#ifdef SYS_vfork
    return succeeded_as(vfork());
#else
    exit(NOT_HERE);
#endif
}

bool clone_process(void)
{
    return succeeded_as(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0UL));
}

bool clone3_process(void)
{
    struct clone_args how = { .exit_signal = SIGCHLD };
    return succeeded_as(syscall(SYS_clone3, &how, sizeof how));
}

bool clone_namespace(void)
{
    return succeeded_as(
        syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, 0UL));
}

static int end_thread(void *unused)
{
    (void)unused;
    return 0;
}

bool clone_thread(void)
{
    static _Alignas(16) char stack[16 * 1024];
    return clone(end_thread, stack + sizeof stack,
                 CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWNET, NULL) >= 0;
}

bool trace_parent(void)
{
    return ptrace(PTRACE_SEIZE, parent, NULL, NULL) == 0;
}

bool trace_me(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

bool signal_parent(void)
{
    return kill(parent, 0) == 0;
}

bool signal_thread(void)
{
    return syscall(SYS_tkill, parent, 0) == 0;
}

bool signal_queue(void)
{
    siginfo_t info = { .si_code = SI_QUEUE };
    return syscall(SYS_rt_sigqueueinfo, parent, 0, &info) == 0;
}

bool signal_tgkill(void)
{
    return syscall(SYS_tgkill, parent, parent, 0) == 0;
}

bool signal_tgqueue(void)
{
    siginfo_t info = { .si_code = SI_QUEUE };
    return syscall(SYS_rt_tgsigqueueinfo, parent, parent, 0, &info) == 0;
}

bool signal_group(void)
{
    return kill(0, 0) == 0;
}

bool signal_all(void)
{
    return kill(-1, 0) == 0;
}

bool signal_by_file(void)
{
    return fcntl(OWN_SOCKET, F_SETOWN, parent) == 0;
}

bool signal_by_owner(void)
{
    struct f_owner_ex owner = { F_OWNER_PID, parent };
    return fcntl(OWN_SOCKET, F_SETOWN_EX, &owner) == 0;
}

bool signal_of_file(void)
{
    return fcntl(OWN_SOCKET, F_SETSIG, SIGKILL) == 0;
}

/* SO_PEERPIDFD, which older headers do not have, and older kernels neither. */
bool parent_handle(void)
{
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    return getsockopt(OWN_SOCKET, SOL_SOCKET, 77, &pidfd, &size) == 0 && pidfd >= 0;
}

bool parent_credentials(void)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(OWN_SOCKET, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
}

bool parent_pidfd(void)
{
    return syscall(SYS_pidfd_open, parent, 0) >= 0;
}

bool parent_files(void)
{
    int pidfd = (int)syscall(SYS_pidfd_open, parent, 0);
    return pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, 1, 0) >= 0;
}

/* The parent has this variable at the same place only if it is a fork; any address will do: a wrong
 * one is EFAULT, which is no refusal. */
bool parent_read(void)
{
    struct iovec here = { memory, sizeof memory }, there = { memory, sizeof memory };
    return permitted(process_vm_readv(parent, &here, 1, &there, 1, 0)) && errno != ESRCH;
}

bool parent_write(void)
{
    struct iovec here = { memory, sizeof memory }, there = { (void *)8, 8 };
    return permitted(process_vm_writev(parent, &here, 1, &there, 1, 0)) && errno != ESRCH;
}

bool parent_mem(void)
{
    return opens(of_parent("mem"), O_RDWR);
}

bool parent_environment(void)
{
    return opens(of_parent("environ"), O_RDONLY);
}

bool parent_command(void)
{
    return opens(of_parent("cmdline"), O_RDONLY);
}

bool parent_session(void)
{
    return getsid(parent) >= 0;
}

bool parent_group(void)
{
    return getpgid(parent) >= 0;
}

bool parent_nice(void)
{
    errno = 0;
    getpriority(PRIO_PROCESS, (id_t)parent);
    return errno == 0;
}

bool parent_policy(void)
{
    struct sched_param now;
    return sched_getscheduler(parent) >= 0 || sched_getparam(parent, &now) == 0;
}

bool parent_processors(void)
{
    cpu_set_t now;
    return sched_getaffinity(parent, sizeof now, &now) == 0;
}

bool parent_compare(void)
{
    return permitted(syscall(SYS_kcmp, parent, getpid(), 2, 0, 0)) && errno != ESRCH;
}

bool parent_priority(void)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, (id_t)parent);
    return errno == 0 && setpriority(PRIO_PROCESS, (id_t)parent, now) == 0;
}

bool parent_limits(void)
{
    struct rlimit limit;
    return prlimit(parent, RLIMIT_NOFILE, NULL, &limit) == 0;
}

bool parent_scheduler(void)
{
    struct sched_param none = { 0 };
    return sched_setscheduler(parent, SCHED_OTHER, &none) == 0;
}

bool list_processes(void)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid())
            return true;
    return false;
}

bool own_memory(void)
{
    int file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    return file >= 0 && pwrite(file, "x", 1, (off_t)(uintptr_t)memory) == 1;
}
