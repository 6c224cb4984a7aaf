/* Attempts to take what the system counts for the whole user, and memory beyond the limit. */
#include "counters.h"

#include <linux/keyctl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/sendfile.h>

#include "attacker.h"

enum { MOST = 2000, PAGE = 4096, STEP = 4 * MB, THREAD_STACK = 16 * 1024 };

static const char *library = "/etc/ld.so.cache"; /* which all programs read */

/* How often something succeeds, up to MOST times. */
#define TIMES(expression)                                                                          \
    ({                                                                                             \
        unsigned times = 0;                                                                        \
        while (times < MOST && (expression))                                                       \
            times++;                                                                               \
        times;                                                                                     \
    })

/* Those of the C library, too, which does not block them. */
static void block_signals(void)
{
    uint64_t all = UINT64_MAX;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
}

/* -- counters ---------------------------------------------------------------------------------- */

static siginfo_t queued = { .si_code = SI_QUEUE };

static unsigned queued_signals(void)
{
    block_signals();
    return TIMES(syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMAX, &queued) == 0);
}

static unsigned queued_tgsignals(void)
{
    block_signals();
    return TIMES(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGRTMAX, &queued) == 0);
}

static unsigned real_time_signals(void)
{
    block_signals();
    return TIMES(kill(getpid(), SIGRTMIN) == 0);
}

static unsigned thread_signals(void)
{
    block_signals();
    return TIMES(syscall(SYS_tgkill, getpid(), gettid(), 32) == 0);
}

static unsigned timers(void)
{
    int timer;
    return TIMES(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &timer) == 0);
}

static int wait_for_end(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return 0;
}

/* The first call of a function through the linker saves all registers on the stack: with AVX-512
 * that is more than 2 KB, with AMX 11 KB. */
static unsigned threads(void)
{
    static char stacks[MOST][THREAD_STACK] __attribute__((aligned(16)));
    unsigned i = 0;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    return TIMES(clone(wait_for_end, stacks[i++] + THREAD_STACK, flags, NULL) >= 0);
}

static unsigned processes(void)
{
    return fork() >= 0;
}

static unsigned message_queues(void)
{
    char name[40];
    snprintf(name, sizeof name, "/mishap-taken-%d", (int)getpid());
    mqd_t made = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, NULL);
    mq_unlink(name);
    return made != (mqd_t)-1;
}

static unsigned locked_memory(void)
{
    return mlock(memory, sizeof memory) == 0;
}

static unsigned locked_mappings(void)
{
    return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1,
                0) != MAP_FAILED;
}

/* Where the machine has none to give, that comes after the check. */
static unsigned huge_pages(void)
{
    return mmap(NULL, 2 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1,
                0) != MAP_FAILED ||
           (errno != ENOSYS && errno != EPERM);
}

static unsigned inotify_groups(void)
{
    return TIMES(inotify_init1(IN_CLOEXEC) >= 0);
}

static unsigned fanotify_groups(void)
{
    return TIMES(fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_REPORT_FID, O_RDONLY) >= 0);
}

/* One for each pair of a file and a number that it has had, in each of them. */
static unsigned watches(void)
{
    unsigned count = 0;
    for (int i = 0; i < 10; i++) {
        int events = epoll_create1(EPOLL_CLOEXEC);
        for (int number = 40; events >= 0 && number < 60; number++) {
            struct epoll_event event = { .events = EPOLLIN };
            count += dup2(OWN_SOCKET, number) >= 0 &&
                     epoll_ctl(events, EPOLL_CTL_ADD, number, &event) == 0;
        }
    }
    return count;
}

static unsigned pipes(void)
{
    int ends[2];
    return TIMES(pipe2(ends, O_CLOEXEC) == 0);
}

static unsigned pipe_pages(void)
{
    int ends[2];
    return pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETPIPE_SZ, 32 * PAGE) >= 0;
}

static unsigned copying_pipes(void)
{
    int from = open(library, O_RDONLY | O_CLOEXEC);
    off_t at = 0;
    return sendfile(STDOUT_FILENO, from, &at, 10) > 0;
}

static unsigned keys(void)
{
    return syscall(SYS_add_key, "user", "mishap", "x", 1, KEY_SPEC_PROCESS_KEYRING) >= 0;
}

static unsigned shared_segments(void)
{
    int made = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
    shmctl(made, IPC_RMID, NULL);
    return made >= 0;
}

static unsigned semaphores(void)
{
    int made = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    semctl(made, 0, IPC_RMID);
    return made >= 0;
}

static unsigned messages(void)
{
    int made = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    msgctl(made, IPC_RMID, NULL);
    return made >= 0;
}

static unsigned requests(void)
{
    unsigned long context = 0;
    return syscall(SYS_io_setup, 1000, &context) == 0;
}

static unsigned rings(void)
{
    char parameters[256] = { 0 };
    return syscall(SYS_io_uring_setup, 64, parameters) >= 0;
}

static unsigned maps(void)
{
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = attributes.value_size = 4;
    attributes.max_entries = 1000;
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes) >= 0;
}

static unsigned event_counters(void)
{
    return kernel_counters();
}

static unsigned namespaces(void)
{
    return unshare(CLONE_NEWUSER) == 0;
}

static unsigned terminals(void)
{
    return TIMES(posix_openpt(O_RDWR | O_NOCTTY) >= 0);
}

static unsigned sent_files(void)
{
    int ends[2];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
    memcpy(CMSG_DATA(&control.head), (int[]){ STDIN_FILENO }, sizeof(int));
    struct iovec byte = { memory, 1 };
    struct msghdr message = { .msg_iov = &byte,
                              .msg_iovlen = 1,
                              .msg_control = control.room,
                              .msg_controllen = sizeof control.room };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        ends[0] = OWN_SOCKET;
    return TIMES(sendmsg(ends[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1);
}

static unsigned file_locks(void)
{
    return flock(open(library, O_RDONLY | O_CLOEXEC), LOCK_SH) == 0;
}

static unsigned record_locks(void)
{
    int file = open(library, O_RDONLY | O_CLOEXEC), commands[] = { F_SETLK, F_OFD_SETLK };
    unsigned locked = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1 };
        locked += fcntl(file, commands[i], &lock) == 0;
    }
    return locked;
}

static unsigned leases(void)
{
    return fcntl(open(library, O_RDONLY | O_CLOEXEC), F_SETLEASE, F_RDLCK) == 0;
}

static unsigned memory_files(void)
{
    return TIMES(memfd_create("x", MFD_CLOEXEC) >= 0);
}

static unsigned event_files(void)
{
    return TIMES(eventfd(0, EFD_CLOEXEC) >= 0);
}

static unsigned temporary_files(void)
{
    char name[20];
    unsigned i = 0;
    return TIMES((snprintf(name, sizeof name, "file-%u", i++),
                  close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0));
}

/* -- memory ------------------------------------------------------------------------------------ */

/* The test looks at each step, and answers. False: it is gone. */
static bool step(void)
{
    char byte = 's';
    return send(OWN_SOCKET, &byte, 1, MSG_NOSIGNAL) == 1 && read(OWN_SOCKET, &byte, 1) == 1;
}

static void touch(char *block, size_t size, bool write)
{
    for (size_t i = 0; i < size; i += PAGE)
        if (write)
            ((volatile char *)block)[i] = 1;
        else
            (void)((volatile char *)block)[i];
}

static bool map_more(int flags, int file, off_t at, bool write)
{
    char *block = mmap(NULL, STEP, PROT_READ | (write ? PROT_WRITE : 0), flags, file, at);
    if (block == MAP_FAILED)
        return false;
    touch(block, STEP, write);
    return true;
}

static bool grow_private(int i)
{
    (void)i;
    return map_more(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, true);
}

static bool grow_heap(int i)
{
    (void)i;
    char *block = sbrk(STEP);
    if (block == (char *)-1)
        return false;
    touch(block, STEP, true);
    return true;
}

static bool grow_shared(int i)
{
    (void)i;
    return map_more(MAP_SHARED | MAP_ANONYMOUS, -1, 0, true);
}

/* A file each, for the size of one is limited. */
static bool grow_memfd(int i)
{
    int file = memfd_create("x", MFD_CLOEXEC);
    (void)i;
    return file >= 0 && ftruncate(file, STEP) == 0 && map_more(MAP_SHARED, file, 0, true);
}

static bool grow_system_v(int i)
{
    (void)i;
    int made = shmget(IPC_PRIVATE, STEP, IPC_CREAT | 0600);
    char *block = shmat(made, NULL, 0);
    shmctl(made, IPC_RMID, NULL);
    if (block == (char *)-1)
        return false;
    touch(block, STEP, true);
    return true;
}

static bool grow_zero(int i)
{
    static int file;
    file = i ? file : open("/dev/zero", O_RDWR | O_CLOEXEC);
    return file >= 0 && map_more(MAP_SHARED, file, 0, true);
}

static int large_file(void)
{
    static int file = -1;
    char path[200];
    snprintf(path, sizeof path, "%s/readable/large", outside);
    if (file < 0)
        file = open(path, O_RDONLY | O_CLOEXEC);
    return file;
}

static bool grow_file(int i)
{
    return map_more(MAP_SHARED, large_file(), (off_t)i * STEP, false);
}

static bool grow_copy(int i)
{
    return map_more(MAP_PRIVATE, large_file(), (off_t)i * STEP, true);
}

/* A file each, for the size of one is limited as well. */
static bool grow_folder(int i)
{
    char name[20];
    snprintf(name, sizeof name, "grown-%d", i);
    int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    static char zeros[MB];
    for (int mb = 0; mb < STEP / MB; mb++)
        if (write(file, zeros, MB) != MB)
            return false;
    return map_more(MAP_SHARED, file, 0, false);
}

static bool grow_down(int i)
{
    (void)i;
    return map_more(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0, true);
}

/* A frame for each step: it does not return. */
static bool grow_stack(int i)
{
    volatile char frame[STEP / 4];
    touch((char *)(uintptr_t)frame, sizeof frame, true);
    return step() && grow_stack(i + 1) && frame[0];
}

static void *wait_on_stack(void *unused)
{
    volatile char frame[STEP - MB];
    (void)unused;
    touch((char *)(uintptr_t)frame, sizeof frame, true);
    for (;;)
        pause();
    return NULL;
}

static bool grow_stacks(int i)
{
    pthread_t thread;
    pthread_attr_t attributes;
    (void)i;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STEP);
    return pthread_create(&thread, &attributes, wait_on_stack, NULL) == 0;
}

/* Reading memory that was never written takes no page, but an entry in a table; a table has 512 of
 * them. */
static bool grow_tables(int i)
{
    (void)i;
    char *block = mmap(NULL, 512 * MB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                       0);
    if (block == MAP_FAILED)
        return false;
    for (size_t at = 0; at < 512 * MB; at += 2 * MB)
        (void)((volatile char *)block)[at];
    return true;
}

/* -- from outside ------------------------------------------------------------------------------ */

int take_counter(const char *name)
{
    static const struct {
        const char *name;
        unsigned (*take)(void);
    } all[] = {
#define ROW(name, most, plain, what, by) { #name, name },
        SANDBOX_COUNTERS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0) {
            unsigned count = all[i].take();
            send(OWN_SOCKET, &count, sizeof count, MSG_NOSIGNAL);
            for (;;)
                pause();
        }
    return 2;
}

int grow(const char *name)
{
    enum { STEPS = 200 };
    static const struct {
        const char *name;
        bool (*grow)(int);
    } all[] = {
#define ROW(name, what) { #name, name },
        SANDBOX_GROWTHS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int at = 0; at < STEPS && strcmp(all[i].name, name) == 0; at++)
            if (!all[i].grow(at) || !step())
                return STOPPED;
    return SUCCEEDED;
}
