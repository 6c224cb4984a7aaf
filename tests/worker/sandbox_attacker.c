/*
 * A hostile program. It is run in the sandbox with the name of one attempt:
 *
 *     sandbox_attacker NAME PARENT-PID FOLDER PORT HOST
 *
 * and exits with 0 if it was stopped, 10 if it succeeded, and 77 if the machine does not have what
 * it attacks. FOLDER is outside of the sandbox and has what may be attacked in it: `victim`,
 * `socket` and `folder`. No attempt does harm if it succeeds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "sandbox_attempts.h"

enum { STOPPED = 0, SUCCEEDED = 10, NOT_HERE = 77 };
enum { MB = 1 << 20, OWN_SOCKET = 3 };

static pid_t parent;
static const char *outside; /* the folder */
static int port;
static const char *host_is;
static char itself[4096];
static char memory[64];

extern char **environ;

#define DECLARE(name, layers, plain, what) static bool name(void);
SANDBOX_ATTEMPTS(DECLARE)

/* Of calls that need a privilege: any other error comes after the check. */
static bool permitted(long result)
{
    return result >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES);
}

static const char *in_folder(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", outside, name);
    return path;
}

static const char *of_parent(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)parent, name);
    return path;
}

static bool opens(const char *path, int flags)
{
    return open(path, flags | O_CLOEXEC, 0600) >= 0;
}

/* -- files ------------------------------------------------------------------------------------- */

static bool read_file(void)
{
    return opens(in_folder("victim"), O_RDONLY);
}

static bool read_openat2(void)
{
    uint64_t how[3] = { O_RDONLY, 0, 0 };
    return syscall(SYS_openat2, AT_FDCWD, in_folder("victim"), how, sizeof how) >= 0;
}

static bool read_by_link(void)
{
    return symlink(in_folder("victim"), "link") == 0 && opens("link", O_RDONLY);
}

static bool read_by_hard_link(void)
{
    return link(in_folder("victim"), "link") == 0 && opens("link", O_RDONLY);
}

static bool read_by_handle(void)
{
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + 128];
    } file = { .handle = { .handle_bytes = 128 } };
    int mount_id, folder = open("/", O_PATH | O_DIRECTORY);
    if (name_to_handle_at(AT_FDCWD, in_folder("victim"), &file.handle, &mount_id, 0) != 0)
        return false;
    int above = open(outside, O_RDONLY | O_DIRECTORY);
    return open_by_handle_at(above >= 0 ? above : folder, &file.handle, O_RDONLY) >= 0;
}

static bool read_device(void)
{
    return opens("/dev/null", O_RDWR);
}

static bool read_kernel(void)
{
    return opens("/proc/sys/kernel/ostype", O_RDONLY);
}

static bool list_folder(void)
{
    return opendir(outside) != NULL;
}

static bool see_file(void)
{
    struct stat status;
    return stat(in_folder("victim"), &status) == 0;
}

static bool watch_folder(void)
{
    int watcher = inotify_init1(IN_CLOEXEC);
    return watcher >= 0 && inotify_add_watch(watcher, outside, IN_CREATE) >= 0;
}

static bool write_file(void)
{
    return opens(in_folder("made"), O_WRONLY | O_CREAT);
}

static bool write_readable(void)
{
    return opens("/etc/ld.so.cache", O_RDWR) || opens(itself, O_RDWR | O_APPEND);
}

static bool truncate_file(void)
{
    return truncate(in_folder("victim"), 10) == 0;
}

static bool truncate_by_open(void)
{
    return opens(in_folder("victim"), O_RDONLY | O_TRUNC);
}

static bool unlink_file(void)
{
    return unlink(in_folder("victim")) == 0;
}

static bool rename_file(void)
{
    char from[4096];
    snprintf(from, sizeof from, "%s", in_folder("victim"));
    return rename(from, in_folder("moved")) == 0;
}

static bool make_folder(void)
{
    return mkdir(in_folder("made"), 0700) == 0;
}

static bool make_device(void)
{
    return mknod("device", S_IFCHR | 0600, makedev(1, 3)) == 0;
}

static bool change_mode(void)
{
    return chmod(in_folder("victim"), 0640) == 0;
}

static bool change_owner(void)
{
    return syscall(SYS_fchownat, AT_FDCWD, in_folder("victim"), -1, -1, 0) == 0;
}

static bool change_times(void)
{
    return utimensat(AT_FDCWD, in_folder("victim"), NULL, 0) == 0;
}

static bool change_attribute(void)
{
    int result = setxattr(in_folder("victim"), "user.mishap", "1", 1, 0);
    if (result != 0 && errno == EOPNOTSUPP)
        exit(NOT_HERE);
    return result == 0;
}

static bool change_kernel(void)
{
    return opens("/proc/sys/kernel/core_pattern", O_WRONLY);
}

/* The limit of the temporary folder is 4 MB. */
static bool fill(int files, int mb_each)
{
    static char block[MB];
    for (int i = 0; i < files; i++) {
        char name[20];
        snprintf(name, sizeof name, "full-%d", i);
        int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        for (int mb = 0; mb < mb_each; mb++)
            if (write(file, block, sizeof block) != (ssize_t)sizeof block)
                return false;
        close(file);
    }
    return true;
}

static bool fill_folder(void)
{
    return fill(8, 1);
}

static bool fill_file(void)
{
    signal(SIGXFSZ, SIG_IGN);
    return fill(1, 8);
}

/* -- programs and processes ---------------------------------------------------------------------
 */

/* A program that is executed in place of this one exits with SUCCEEDED. */
static bool execute(void)
{
    execl("/bin/sh", "sh", "-c", "exit 10", NULL);
    return false;
}

static char *const again[] = { itself, (char *)(uintptr_t) "succeed", NULL };
static char *const nothing[] = { NULL };

static bool execute_itself(void)
{
    execve(itself, again, nothing);
    return false;
}

static bool execute_by_file(void)
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

static bool execute_memory(void)
{
    int file = memfd_create("attack", MFD_CLOEXEC);
    if (file < 0 || !copy_to(file))
        return false;
    syscall(SYS_execveat, file, "", again, nothing, AT_EMPTY_PATH);
    return false;
}

static bool execute_written(void)
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

static bool fork_process(void)
{
    return succeeded_as(fork());
}

static bool vfork_process(void)
{
#ifdef SYS_vfork
    return succeeded_as(vfork());
#else
    exit(NOT_HERE);
#endif
}

static bool clone_process(void)
{
    return succeeded_as(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0UL));
}

static bool clone3_process(void)
{
    struct clone_args how = { .exit_signal = SIGCHLD };
    return succeeded_as(syscall(SYS_clone3, &how, sizeof how));
}

static bool clone_namespace(void)
{
    return succeeded_as(
        syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, 0UL));
}

static bool trace_parent(void)
{
    return ptrace(PTRACE_SEIZE, parent, NULL, NULL) == 0;
}

static bool trace_me(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool signal_parent(void)
{
    return kill(parent, 0) == 0;
}

static bool signal_thread(void)
{
    return syscall(SYS_tkill, parent, 0) == 0;
}

static bool signal_queue(void)
{
    siginfo_t info = { .si_code = SI_QUEUE };
    return syscall(SYS_rt_sigqueueinfo, parent, 0, &info) == 0;
}

static bool signal_group(void)
{
    return kill(0, 0) == 0;
}

static bool signal_all(void)
{
    return kill(-1, 0) == 0;
}

static bool signal_by_file(void)
{
    int ends[2];
    return pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, parent) == 0 &&
           fcntl(ends[0], F_GETOWN) == parent;
}

static bool parent_pidfd(void)
{
    return syscall(SYS_pidfd_open, parent, 0) >= 0;
}

static bool parent_files(void)
{
    int pidfd = (int)syscall(SYS_pidfd_open, parent, 0);
    return pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, 1, 0) >= 0;
}

/* The parent has this variable at the same place only if it is a fork; any address will do: a wrong
 * one is EFAULT, which is no refusal. */
static bool parent_read(void)
{
    struct iovec here = { memory, sizeof memory }, there = { memory, sizeof memory };
    return permitted(process_vm_readv(parent, &here, 1, &there, 1, 0)) && errno != ESRCH;
}

static bool parent_write(void)
{
    struct iovec here = { memory, sizeof memory }, there = { (void *)8, 8 };
    return permitted(process_vm_writev(parent, &here, 1, &there, 1, 0)) && errno != ESRCH;
}

static bool parent_mem(void)
{
    return opens(of_parent("mem"), O_RDWR);
}

static bool parent_environment(void)
{
    return opens(of_parent("environ"), O_RDONLY);
}

static bool parent_command(void)
{
    return opens(of_parent("cmdline"), O_RDONLY);
}

static bool parent_session(void)
{
    return getsid(parent) >= 0;
}

static bool parent_compare(void)
{
    return permitted(syscall(SYS_kcmp, parent, getpid(), 2, 0, 0)) && errno != ESRCH;
}

static bool parent_priority(void)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, (id_t)parent);
    return errno == 0 && setpriority(PRIO_PROCESS, (id_t)parent, now) == 0;
}

static bool parent_limits(void)
{
    struct rlimit limit;
    return prlimit(parent, RLIMIT_NOFILE, NULL, &limit) == 0;
}

static bool parent_scheduler(void)
{
    struct sched_param none = { 0 };
    return sched_setscheduler(parent, SCHED_OTHER, &none) == 0;
}

static bool list_processes(void)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid())
            return true;
    return false;
}

static bool own_memory(void)
{
    int file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    return file >= 0 && pwrite(file, "x", 1, (off_t)(uintptr_t)memory) == 1;
}

/* -- network ----------------------------------------------------------------------------------- */

static struct sockaddr_in local(void)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static bool connect_tcp(void)
{
    struct sockaddr_in to = local();
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to) == 0;
}

static bool send_udp(void)
{
    struct sockaddr_in to = local();
    return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&to, sizeof to) ==
           1;
}

static bool bind_tcp(void)
{
    struct sockaddr_in at = local();
    at.sin_port = 0;
    int file = socket(AF_INET, SOCK_STREAM, 0);
    return bind(file, (struct sockaddr *)&at, sizeof at) == 0 && listen(file, 1) == 0;
}

static bool socket_inet6(void)
{
    return socket(AF_INET6, SOCK_STREAM, 0) >= 0;
}

static bool socket_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
}

static bool socket_packet(void)
{
    return socket(AF_PACKET, SOCK_RAW, htons(3)) >= 0;
}

static bool socket_raw(void)
{
    return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0;
}

static bool socket_vsock(void)
{
    return socket(AF_VSOCK, SOCK_STREAM, 0) >= 0;
}

static bool socket_crypto(void)
{
    return socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0;
}

static bool socket_pair(void)
{
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
}

static bool connect_unix(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    snprintf(to.sun_path, sizeof to.sun_path, "%.80s/socket", outside);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to) == 0;
}

static bool connect_abstract(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int length = snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "mishap-%d", (int)parent);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, size) == 0;
}

static bool send_file(void)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    char byte = 'x';
    struct iovec data = { &byte, 1 };
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    int file = STDIN_FILENO;
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    return sendmsg(OWN_SOCKET, &message, 0) == 1;
}

/* -- what processes share -----------------------------------------------------------------------
 */

static bool shared_memory(void)
{
    int id = shmget(parent, 0, 0);
    return id >= 0 && shmat(id, NULL, 0) != (void *)-1;
}

static bool shared_messages(void)
{
    return msgget(parent, 0) >= 0;
}

static bool shared_semaphores(void)
{
    return semget(parent, 0, 0) >= 0;
}

static bool posix_queue(void)
{
    char name[40];
    snprintf(name, sizeof name, "/mishap-%d", (int)parent);
    return mq_open(name, O_RDONLY) >= 0;
}

/* -- the machine ------------------------------------------------------------------------------- */

static bool host_name(void)
{
    struct utsname system;
    return uname(&system) == 0 && strcmp(system.nodename, host_is) == 0;
}

static bool set_host_name(void)
{
    return sethostname(host_is, strlen(host_is)) == 0;
}

static bool set_clock(void)
{
    struct timex change = { .modes = ADJ_SETOFFSET };
    return permitted(adjtimex(&change));
}

static bool mount_files(void)
{
    return permitted(mount("x", "/", "tmpfs-of-nobody", 0, NULL));
}

static bool mount_context(void)
{
    return syscall(SYS_fsopen, "tmpfs", 0) >= 0;
}

static bool unmount(void)
{
    return permitted(umount2("/", MNT_EXPIRE)); /* which the root folder never is */
}

static bool change_root(void)
{
    return chroot("/") == 0;
}

static bool pivot_root(void)
{
    return permitted(syscall(SYS_pivot_root, "/", "/"));
}

static bool leave_namespace(void)
{
    return unshare(CLONE_NEWNS) == 0;
}

static bool leave_users(void)
{
    return unshare(CLONE_NEWUSER) == 0;
}

static bool join_namespace(void)
{
    return setns(open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC), CLONE_NEWUTS) == 0;
}

static bool set_user(void)
{
    return setresuid(65533, 65533, 65533) == 0;
}

static bool set_groups(void)
{
    return syscall(SYS_setgroups, 0, NULL) == 0;
}

static bool raise_capabilities(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct all[2] = { { 1 << CAP_SYS_ADMIN, 1 << CAP_SYS_ADMIN, 0 } };
    return syscall(SYS_capset, &head, all) == 0;
}

static bool raise_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_MSGQUEUE, &limit);
    limit.rlim_max += 4096;
    return setrlimit(RLIMIT_MSGQUEUE, &limit) == 0;
}

static bool raise_priority(void)
{
    return setpriority(PRIO_PROCESS, 0, -5) == 0;
}

static bool real_time(void)
{
    struct sched_param first = { .sched_priority = 1 };
    return sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

static bool pin_processor(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 &&
           sched_setaffinity(0, sizeof set, &set) == 0;
}

static bool lock_memory(void)
{
    return mlock(memory, sizeof memory) == 0;
}

static bool undumpable(void)
{
    return prctl(PR_SET_DUMPABLE, 0) == 0;
}

static bool outlive_parent(void)
{
    return prctl(PR_SET_PDEATHSIG, 0) == 0;
}

static bool own_session(void)
{
    return setsid() >= 0;
}

static bool no_randomness(void)
{
    return personality(ADDR_NO_RANDOMIZE) >= 0;
}

static bool own_filter(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { 1, &allow };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                   &program) >= 0;
}

static bool input_terminal(void)
{
    return permitted(ioctl(STDIN_FILENO, TIOCSTI, "x"));
}

static bool ring(void)
{
    char parameters[256] = { 0 };
    return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

static bool kernel_program(void)
{
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    return permitted(syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attributes, sizeof attributes));
}

static bool kernel_module(void)
{
    return permitted(syscall(SYS_init_module, NULL, 0, "")) ||
           permitted(syscall(SYS_delete_module, "no_module_of_this_name", O_NONBLOCK));
}

static bool kernel_reboot(void)
{
    return permitted(syscall(SYS_reboot, 0, 0, 0, NULL)); /* without its numbers it does nothing */
}

static bool kernel_kexec(void)
{
    return permitted(syscall(SYS_kexec_load, 0, 0, NULL, 0xffffUL));
}

static bool kernel_swap(void)
{
    return permitted(swapon("/nothing-is-here", 0));
}

static bool kernel_account(void)
{
    return permitted(acct("/nothing-is-here"));
}

static bool kernel_quota(void)
{
    return permitted(syscall(SYS_quotactl, 0x80000400, "/nothing-is-here", 0, NULL));
}

static bool kernel_log(void)
{
    return syscall(SYS_syslog, 10, NULL, 0) >= 0;
}

static bool kernel_keys(void)
{
    return permitted(syscall(SYS_keyctl, 0, -4, 0, 0, 0));
}

static bool kernel_faults(void)
{
    return syscall(SYS_userfaultfd, O_CLOEXEC) >= 0;
}

static bool kernel_counters(void)
{
    struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
                                     .size = sizeof event,
                                     .config = PERF_COUNT_SW_TASK_CLOCK,
                                     .exclude_kernel = 1 };
    return syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) >= 0;
}

static bool kernel_ports(void)
{
#ifdef SYS_ioperm
    return syscall(SYS_ioperm, 0x80, 1, 1) == 0;
#else
    exit(NOT_HERE);
#endif
}

/* getpid() by the interrupt of 32-bit programs, and open by the numbers of x32. */
static bool other_abi(void)
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

/* -- exhausting -------------------------------------------------------------------------------- */

/* The limit is 256 MB. */
static bool take_memory(void)
{
    for (int mb = 0; mb < 300; mb += 4) {
        char *block = mmap(NULL, 4 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                           0);
        if (block == MAP_FAILED)
            return false;
        for (size_t i = 0; i < 4 * MB; i += 4096)
            block[i] = 1;
    }
    return true;
}

/* The limit is 64. */
static bool take_files(void)
{
    for (int i = 0; i < 100; i++)
        if (dup(STDIN_FILENO) < 0)
            return false;
    return true;
}

static int wait_for_end(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return 0;
}

/* The limit is 16; a PID namespace takes none below 300. */
static bool take_threads(void)
{
    enum { EACH = 4096, MOST = 400 };
    static char stacks[MOST][EACH] __attribute__((aligned(16)));
    for (int i = 0; i < MOST; i++)
        if (clone(wait_for_end, stacks[i] + EACH,
                  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
                  NULL) < 0)
            return false;
    return true;
}

/* The limit is a second. */
static bool take_processor(void)
{
    signal(SIGXCPU, SIG_IGN);
    while (clock() < 20 * CLOCKS_PER_SEC)
        continue;
    return true;
}

static bool dump_core(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max > 0;
}

static bool see_environment(void)
{
    return environ && environ[0];
}

static bool see_descriptors(void)
{
    for (int file = OWN_SOCKET + 1; file < 1024; file++)
        if (fcntl(file, F_GETFD) >= 0)
            return true;
    return false;
}

/* -- what an honest program needs ---------------------------------------------------------------
 */

static int count_up(void *counter)
{
    __atomic_add_fetch((int *)counter, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_exit, 0);
    return 0;
}

/* NULL, or what does not work. */
static const char *work(void)
{
    static char stack[16384] __attribute__((aligned(16)));
    static int counter;
    char text[10] = "", here[100];
    struct timespec moment;
    FILE *file = fopen("note", "w+");
    if (!file || fputs("hello", file) < 0 || fflush(file) != 0)
        return "a temporary file";
    rewind(file);
    if (!fgets(text, sizeof text, file) || strcmp(text, "hello") != 0 || fclose(file) != 0 ||
        rename("note", "other") != 0 || unlink("other") != 0 || mkdir("folder", 0700) != 0 ||
        rmdir("folder") != 0)
        return "files in the temporary folder";
    if (!getcwd(here, sizeof here))
        return "getcwd";
    if (!opens("/etc/ld.so.cache", O_RDONLY))
        return "a file that is named";
    if (clone(count_up, stack + sizeof stack,
              CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
              &counter) < 0)
        return "a thread";
    while (!__atomic_load_n(&counter, __ATOMIC_SEQ_CST))
        sched_yield();
    if (!malloc(MB) || clock_gettime(CLOCK_MONOTONIC, &moment) != 0)
        return "memory and time";
    if (kill(getpid(), 0) != 0 || syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0) != 0)
        return "a signal to itself";
    if (send(OWN_SOCKET, "done", 4, 0) != 4)
        return "its socket";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*try)(void);
    } attempts[] = {
#define LIST(name, layers, plain, what) { #name, name },
        SANDBOX_ATTEMPTS(LIST)
    };
    if (argc == 2 && strcmp(argv[1], "succeed") == 0)
        return SUCCEEDED;
    if (argc == 2 && strcmp(argv[1], "wait") == 0)
        for (;;)
            pause();
    if (argc != 6)
        return 2;
    snprintf(itself, sizeof itself, "%s", argv[0]);
    parent = atoi(argv[2]);
    outside = argv[3];
    port = atoi(argv[4]);
    host_is = argv[5];
    if (strcmp(argv[1], "work") == 0) {
        const char *what = work();
        if (what)
            fprintf(stderr, "# does not work: %s: %s\n", what, strerror(errno));
        return what ? SUCCEEDED : STOPPED;
    }
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (strcmp(attempts[i].name, argv[1]) == 0)
            return attempts[i].try() ? SUCCEEDED : STOPPED;
    return 2;
}
