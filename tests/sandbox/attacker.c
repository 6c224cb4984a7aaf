/*
 * A hostile program. It is run in the sandbox with the name of one attempt:
 *
 *     sandbox_attacker NAME PARENT-PID FOLDER PORT HOST
 *     sandbox_attacker take|grow NAME FOLDER     (sandbox_counters.h)
 *     sandbox_attacker open|flags PATH
 *     sandbox_attacker secure
 *
 * and exits with 0 if it was stopped, 10 if it succeeded, and 77 if the machine does not have what
 * it attacks. FOLDER is outside of the sandbox and has what may be attacked in it: `victim`,
 * `socket` and `folder`. No attempt does harm if it succeeds.
 */
#include "attacker.h"

pid_t parent;
const char *outside;
int port;
const char *host_is;
char itself[4096];
char memory[64];

extern char **environ;

/* -- exhausting -------------------------------------------------------------------------------- */

/* The limit is 256 MB. */
bool take_memory(void)
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
bool take_files(void)
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
bool take_threads(void)
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
bool take_processor(void)
{
    signal(SIGXCPU, SIG_IGN);
    while (clock() < 20 * CLOCKS_PER_SEC)
        continue;
    return true;
}

bool dump_core(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max > 0;
}

bool see_environment(void)
{
    return environ && environ[0];
}

bool see_descriptors(void)
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

/* Leave what is hard to remove: folders that cannot be read, folders in folders until their path is
 * too long for any call, and links to elsewhere. */
static int dig(void)
{
    char name[201];
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    if (mkdir("mishap-1", 0700) != 0 || symlink("/", "mishap-1/root") != 0 ||
        mkdir("hidden", 0700) != 0 || mkdir("hidden/below", 0300) != 0 ||
        !opens("hidden/below/file", O_WRONLY | O_CREAT) || symlink("/tmp", "link") != 0)
        return 2;
    for (int i = 0; i < 40; i++)
        if (mkdir(name, 0300) != 0 || chdir(name) != 0 || !opens("file", O_WRONLY | O_CREAT))
            return 3;
    return 0;
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
    if (argc == 2 && strcmp(argv[1], "dig") == 0)
        return dig();
    if (argc == 3 && strcmp(argv[1], "open") == 0)
        return opens(argv[2], O_RDONLY) ? SUCCEEDED : STOPPED;
    if (argc == 3 && strcmp(argv[1], "flags") == 0) {
        struct statvfs status; /* of a file system: as an exit code */
        return statvfs(argv[2], &status) == 0 ? (int)(status.f_flag & 0xf) : 0;
    }
    if (argc == 2 && strcmp(argv[1], "secure") == 0)
        return (prctl(PR_GET_SECUREBITS) | SECBIT_KEEP_CAPS) == (SECURE_ALL_BITS | SECURE_ALL_LOCKS)
                   ? STOPPED
                   : SUCCEEDED;
    if (argc == 4) {
        outside = argv[3];
        return strcmp(argv[1], "grow") == 0 ? grow(argv[2]) : take_counter(argv[2]);
    }
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
