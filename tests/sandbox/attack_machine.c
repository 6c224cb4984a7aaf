/* Attempts on the machine, on its kernel, and on rights of its own. */
#include "attacker.h"

bool host_name(void)
{
    struct utsname system;
    return uname(&system) == 0 && strcmp(system.nodename, host_is) == 0;
}

bool set_host_name(void)
{
    return sethostname(host_is, strlen(host_is)) == 0;
}

bool set_clock(void)
{
    struct timex change = { .modes = ADJ_SETOFFSET };
    return permitted(adjtimex(&change));
}

bool mount_files(void)
{
    return permitted(mount("x", "/", "tmpfs-of-nobody", 0, NULL));
}

bool mount_context(void)
{
    return syscall(SYS_fsopen, "tmpfs", 0) >= 0;
}

bool unmount(void)
{
    return permitted(umount2("/", MNT_EXPIRE)); /* which the root folder never is */
}

bool change_root(void)
{
    return chroot("/") == 0;
}

bool pivot_root(void)
{
    return permitted(syscall(SYS_pivot_root, "/", "/"));
}

bool leave_namespace(void)
{
    return unshare(CLONE_NEWNS) == 0;
}

bool leave_users(void)
{
    return unshare(CLONE_NEWUSER) == 0;
}

bool join_namespace(void)
{
    return setns(open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC), CLONE_NEWUTS) == 0;
}

bool set_user(void)
{
    return setresuid(65533, 65533, 65533) == 0;
}

bool set_groups(void)
{
    return syscall(SYS_setgroups, 0, NULL) == 0;
}

bool raise_capabilities(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct all[2] = { { 1 << CAP_SYS_ADMIN, 1 << CAP_SYS_ADMIN, 0 } };
    return syscall(SYS_capset, &head, all) == 0;
}

bool set_limit(void)
{
    struct rlimit limit;
    return prlimit(0, RLIMIT_CORE, NULL, &limit) == 0 && prlimit(0, RLIMIT_CORE, &limit, NULL) == 0;
}

bool raise_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_MSGQUEUE, &limit);
    limit.rlim_max += 4096;
    return setrlimit(RLIMIT_MSGQUEUE, &limit) == 0;
}

bool raise_priority(void)
{
    return setpriority(PRIO_PROCESS, 0, -5) == 0;
}

bool real_time(void)
{
    struct sched_param first = { .sched_priority = 1 };
    return sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

bool pin_processor(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 &&
           sched_setaffinity(0, sizeof set, &set) == 0;
}

bool lock_memory(void)
{
    return mlock(memory, sizeof memory) == 0;
}

bool undumpable(void)
{
    return prctl(PR_SET_DUMPABLE, 0) == 0;
}

bool outlive_parent(void)
{
    return prctl(PR_SET_PDEATHSIG, 0) == 0;
}

bool own_session(void)
{
    return setsid() >= 0;
}

bool no_randomness(void)
{
    return personality(ADDR_NO_RANDOMIZE) >= 0;
}

bool own_filter(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { 1, &allow };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                   &program) >= 0;
}

bool input_terminal(void)
{
    return permitted(ioctl(STDIN_FILENO, TIOCSTI, "x"));
}

bool ring(void)
{
    char parameters[256] = { 0 };
    return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

bool kernel_program(void)
{
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    return permitted(syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attributes, sizeof attributes));
}

bool kernel_module(void)
{
    return permitted(syscall(SYS_init_module, NULL, 0, "")) ||
           permitted(syscall(SYS_delete_module, "no_module_of_this_name", O_NONBLOCK));
}

bool kernel_reboot(void)
{
    return permitted(syscall(SYS_reboot, 0, 0, 0, NULL)); /* without its numbers it does nothing */
}

bool kernel_kexec(void)
{
    return permitted(syscall(SYS_kexec_load, 0, 0, NULL, 0xffffUL));
}

bool kernel_swap(void)
{
    return permitted(swapon("/nothing-is-here", 0));
}

bool kernel_account(void)
{
    return permitted(acct("/nothing-is-here"));
}

bool kernel_quota(void)
{
    return permitted(syscall(SYS_quotactl, 0x80000400, "/nothing-is-here", 0, NULL));
}

bool kernel_log(void)
{
    return syscall(SYS_syslog, 10, NULL, 0) >= 0;
}

bool kernel_keys(void)
{
    return permitted(syscall(SYS_keyctl, 0, -4, 0, 0, 0));
}

bool kernel_faults(void)
{
    return syscall(SYS_userfaultfd, O_CLOEXEC) >= 0;
}

bool kernel_counters(void)
{
    struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
                                     .size = sizeof event,
                                     .config = PERF_COUNT_SW_TASK_CLOCK,
                                     .exclude_kernel = 1 };
    return syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) >= 0;
}

bool kernel_ports(void)
{
#ifdef SYS_ioperm
    return syscall(SYS_ioperm, 0x80, 1, 1) == 0;
#else
    exit(NOT_HERE);
#endif
}

/* getpid() by the interrupt of 32-bit programs, and open by the numbers of x32. */
bool other_abi(void)
{
#ifdef __x86_64__
    long result = 20;
    if (syscall(0x40000000 + SYS_getppid) >= 0)
        return true;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
    return result > 0;
#else
    exit(NOT_HERE);
#endif
}
