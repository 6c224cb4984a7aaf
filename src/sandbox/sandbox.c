/* Preparing a sandbox, forking into it and entering it: the layers in their order. */
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/system.h"
#include "sandbox/inside.h"

/* -- preparing --------------------------------------------------------------------------------- */

mishap *mishap_sandbox_prepare_layers(const mishap_sandbox_profile *profile, unsigned layers,
                                      mishap_sandbox **sandbox)
{
    *sandbox = mishap_allocate(sizeof **sandbox);
    if (!*sandbox)
        return mishap_out_of_memory();
    **sandbox = (mishap_sandbox){ .profile = profile, .layers = layers };
    if (layers & MISHAP_LAYER_SECCOMP)
        (*sandbox)->filter = mishap_sandbox_compile();
    if (!(layers & MISHAP_LAYER_SECCOMP) || (*sandbox)->filter)
        return NULL;
    mishap *m = mishap_raise(INTERNAL_ERROR, "The filter of system calls cannot be compiled (%d).",
                             errno);
    mishap_sandbox_release(*sandbox);
    *sandbox = NULL;
    return m;
}

mishap *mishap_sandbox_prepare(const mishap_sandbox_profile *profile, mishap_sandbox_mode mode,
                               mishap_sandbox **sandbox)
{
    *sandbox = NULL;
    mishap *m = mishap_sandbox_check(mode);
    if (m)
        return m;
    return mishap_sandbox_prepare_layers(profile, mishap_sandbox_probe()->layers, sandbox);
}

void mishap_sandbox_release(mishap_sandbox *sandbox)
{
    mishap_release(sandbox);
}

unsigned mishap_sandbox_layers(const mishap_sandbox *sandbox)
{
    return sandbox->layers;
}

/* -- forking ----------------------------------------------------------------------------------- */

/* The ids outside of the user namespace, which are not known inside any more. */
static uid_t outer_user;
static gid_t outer_group;

/* If the kernel supports it, the process is forked into its control group of version 2: moving it
 * there takes tens of milliseconds. */
static pid_t clone_into(unsigned long flags, int group)
{
    struct clone_args arguments = {
        .flags = (flags & ~(unsigned long)SIGCHLD) | CLONE_INTO_CGROUP,
        .exit_signal = SIGCHLD,
        .cgroup = (uint64_t)group,
    };
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

pid_t mishap_sandbox_clone(unsigned layers, int group)
{
    static const struct {
        unsigned layer;
        unsigned long flag;
    } flags[] = {
        { MISHAP_LAYER_MOUNTS, CLONE_NEWNS },   { MISHAP_LAYER_PROCESSES, CLONE_NEWPID },
        { MISHAP_LAYER_NETWORK, CLONE_NEWNET }, { MISHAP_LAYER_IPC, CLONE_NEWIPC },
        { MISHAP_LAYER_HOST, CLONE_NEWUTS },    { MISHAP_LAYER_USERS, CLONE_NEWUSER },
    };
    unsigned long all = SIGCHLD;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        all |= layers & flags[i].layer ? flags[i].flag : 0;
    outer_user = geteuid();
    outer_group = getegid();
    /* Without a stack of its own the child goes on here, as after fork(). */
    pid_t pid = group >= 0 ? clone_into(all, group) : -1;
    return pid >= 0 ? pid : (pid_t)syscall(SYS_clone, all, NULL, NULL, NULL, 0UL);
}

/* The child dies with its parent. If the parent is dead already, nothing else shows it: in a PID
 * namespace getppid() is always 0. Dropping privileges and executing a program do not change
 * this. */
static pid_t clone_bound(unsigned layers, const mishap_sandbox_place *place)
{
    int parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (parent < 0)
        return -1;
    int group = layers & MISHAP_LAYER_GROUPS ? mishap_sandbox_open_group(place) : -1;
    pid_t pid = mishap_sandbox_clone(layers, group);
    int error = errno;
    struct pollfd ended = { .fd = parent, .events = POLLIN };
    if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || poll(&ended, 1, 0) != 0))
        _exit(127);
    close(parent);
    if (group >= 0)
        close(group);
    errno = error;
    return pid;
}

pid_t mishap_sandbox_fork(const mishap_sandbox *sandbox, mishap_sandbox_place *place)
{
    unsigned layers = sandbox->layers;
    *place = (mishap_sandbox_place){ 0 };
    pid_t pid = -1;
    if (sandbox->profile->temporary_bytes && !(layers & MISHAP_LAYER_MOUNTS) &&
        !mishap_sandbox_make_folder(place))
        return -1;
    if (!(layers & MISHAP_LAYER_GROUPS) || mishap_sandbox_make_group(sandbox->profile, place))
        pid = clone_bound(layers, place);
    if (pid < 0) {
        int error = errno;
        mishap_sandbox_remove(place);
        errno = error;
    }
    return pid;
}

/* -- removing ---------------------------------------------------------------------------------- */

void mishap_sandbox_remove(mishap_sandbox_place *place)
{
    mishap_sandbox_remove_group(place);
    if (place->folder[0])
        mishap_sandbox_remove_folder(place->folder);
    place->folder[0] = '\0';
    if (place->lock)
        close(place->lock);
    place->lock = 0;
}

/* -- entering ---------------------------------------------------------------------------------- */

/* One user and one group, without a name, and without the rights of root even inside. */
static bool map_users(void)
{
    char users[40], groups[40];
    snprintf(users, sizeof users, "1000 %lu 1", (unsigned long)outer_user);
    snprintf(groups, sizeof groups, "1000 %lu 1", (unsigned long)outer_group);
    return mishap_system_write("/proc/self/setgroups", "deny") &&
           mishap_system_write("/proc/self/uid_map", users) &&
           mishap_system_write("/proc/self/gid_map", groups);
}

static bool name_host(void)
{
    return sethostname("sandbox", 7) == 0 && setdomainname("", 0) == 0;
}

/* For resources that the system counts for all processes of a user. In a user namespace they are
 * counted there, too, so the program has a limit of its own. Otherwise other processes of the user
 * count against the limit of a program: so the limit only keeps a quarter free, so that this
 * process can always go on. */
static bool limit_shared(__rlimit_resource_t resource, uint64_t own, bool users)
{
    struct rlimit now;
    if (users)
        return mishap_system_limit(resource, own, 0);
    if (getrlimit(resource, &now) != 0 || now.rlim_max == RLIM_INFINITY)
        return true;
    return mishap_system_limit(resource, now.rlim_max - now.rlim_max / 4, 0);
}

/* At the soft limit of processor time comes SIGXCPU, at the hard one SIGKILL. */
static bool set_limits(const mishap_sandbox_profile *p, unsigned layers)
{
    uint64_t threads = p->threads ? p->threads : MISHAP_SANDBOX_THREADS;
    bool users = layers & MISHAP_LAYER_USERS;
    uint64_t file = p->file_bytes ? p->file_bytes : p->temporary_bytes;
    if (!p->file_bytes && file < MISHAP_SANDBOX_FILE_MB << 20)
        file = MISHAP_SANDBOX_FILE_MB << 20;
    return (!p->memory_bytes || mishap_system_limit(RLIMIT_DATA, p->memory_bytes, 0)) &&
           (!p->address_bytes || mishap_system_limit(RLIMIT_AS, p->address_bytes, 0)) &&
           mishap_system_limit(
               RLIMIT_STACK, p->stack_bytes ? p->stack_bytes : MISHAP_SANDBOX_STACK_MB << 20, 0) &&
           (!p->cpu_seconds || mishap_system_limit(RLIMIT_CPU, p->cpu_seconds, 1)) &&
           mishap_system_limit(RLIMIT_NOFILE, p->files ? p->files : MISHAP_SANDBOX_FILES, 0) &&
           mishap_system_limit(RLIMIT_FSIZE, file, 0) && mishap_system_limit(RLIMIT_CORE, 0, 0) &&
           mishap_system_limit(RLIMIT_MEMLOCK, 0, 0) &&
           mishap_system_limit(RLIMIT_MSGQUEUE, 0, 0) && mishap_system_limit(RLIMIT_NICE, 0, 0) &&
           mishap_system_limit(RLIMIT_RTPRIO, 0, 0) &&
           limit_shared(RLIMIT_SIGPENDING, MISHAP_SANDBOX_SIGNALS, users) &&
           limit_shared(RLIMIT_NPROC, threads + 1, users);
}

/* A process without capabilities cannot give up more: then the system returns EPERM, and only the
 * absence of capabilities counts. */
static bool drop_privileges(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
    for (unsigned long capability = 0; capability < 64; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
            break;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS);
    return syscall(SYS_capset, &head, none) == 0;
}

const char *mishap_sandbox_enter(unsigned layers, const mishap_sandbox_profile *profile,
                                 const mishap_sandbox_place *place, const char *program)
{
    bool mounts = layers & MISHAP_LAYER_MOUNTS;
    uint64_t threads = profile->threads ? profile->threads : MISHAP_SANDBOX_THREADS;
    const char *folder = !profile->temporary_bytes ? NULL
                         : mounts                  ? MISHAP_SANDBOX_TEMPORARY
                                                   : place->folder;
    if (layers & MISHAP_LAYER_GROUPS && !mishap_sandbox_enter_group(place))
        return "control group";
    if (layers & MISHAP_LAYER_USERS && !map_users())
        return "uid_map";
    if (layers & MISHAP_LAYER_HOST && !name_host())
        return "sethostname";
    if (layers & MISHAP_LAYER_PROCESSES)
        mishap_sandbox_limit_ids(threads); /* if the kernel supports it */
    if (mounts && !mishap_sandbox_change_root(profile->readable, program, profile->temporary_bytes))
        return "mount";
    if (layers & MISHAP_LAYER_LIMITS && !set_limits(profile, layers))
        return "setrlimit";
    if (layers & MISHAP_LAYER_PRIVILEGES && !drop_privileges())
        return "capset";
    if (profile->small_pages)
        prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* if the kernel has them */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return "prctl";
    if (chdir(folder ? folder : "/") != 0)
        return "chdir";
    if (layers & MISHAP_LAYER_LANDLOCK &&
        !mishap_sandbox_restrict(profile->readable, program, folder))
        return "landlock";
    return NULL;
}

const char *mishap_sandbox_exec(const mishap_sandbox *sandbox, const mishap_sandbox_place *place,
                                const char *const *program)
{
    static const char *const empty[] = { NULL };
    const mishap_sandbox_profile *profile = sandbox->profile;
    const char *const *environment = profile->environment ? profile->environment : empty;
    const char *step = mishap_sandbox_enter(sandbox->layers, profile, place, program[0]);
    if (step)
        return step;
    if (sandbox->filter) {
        mishap_sandbox_aim(sandbox->filter, getpid(), profile->shares);
        return mishap_sandbox_exec_last(sandbox->filter, program, environment);
    }
    execve(program[0], (char *const *)(uintptr_t)program, (char *const *)(uintptr_t)environment);
    return "execve";
}
