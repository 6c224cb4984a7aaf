/*
 * What this machine offers. Nothing is concluded from versions or settings: each layer is tried in
 * a child process. All are tried together first, as they are used, and most machines pass; only if
 * that fails, each is tried by itself.
 */
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/system.h"
#include "mishap/mishap.h"
#include "sandbox/inside.h"

static const mishap_sandbox_offer offers[MISHAP_SANDBOX_LAYERS] = {
    { MISHAP_LAYER_SECCOMP, "seccomp", "a filter of system calls",
      .advice =
          "Use Linux 5.5 or later. In a container, allow seccomp filters with a listener; the "
          "container must have none itself." },
    { MISHAP_LAYER_LANDLOCK, "landlock", "rules for files",
      .advice = "Use Linux 5.13 or later, and name landlock among its security modules (the kernel "
                "parameter lsm=landlock,…). The layer `mounts` can stand in for this one." },
    { MISHAP_LAYER_LIMITS, "limits", "resource limits", .advice = "Allow setrlimit()." },
    { MISHAP_LAYER_MOUNTS, "mounts", "a root folder of its own, in a mount namespace",
      .advice = "Allow user namespaces (user.max_user_namespaces, "
                "kernel.apparmor_restrict_unprivileged_userns), and do not start in a chroot. "
                "The layer `landlock` can stand in for this one." },
    { MISHAP_LAYER_PROCESSES, "processes", "no sight of other processes, in a PID namespace",
      .advice = "Allow user namespaces." },
    { MISHAP_LAYER_NETWORK, "network", "no network, in a network namespace",
      .advice = "Allow user namespaces." },
    { MISHAP_LAYER_IPC, "ipc", "no shared memory of others, in an IPC namespace",
      .advice = "Allow user namespaces." },
    { MISHAP_LAYER_HOST, "host", "a host name of its own, in a UTS namespace",
      .advice = "Allow user namespaces." },
    { MISHAP_LAYER_USERS, "users", "no rights outside, in a user namespace",
      .advice = "Allow user namespaces (user.max_user_namespaces, "
                "kernel.apparmor_restrict_unprivileged_userns), mount /proc, and do not start in a "
                "chroot." },
    { MISHAP_LAYER_PRIVILEGES, "privileges", "no capabilities", .advice = "Allow capset()." },
    { MISHAP_LAYER_GROUPS, "groups", "limits of threads and memory, in a control group",
      .advice = "Delegate a control group with pids and memory; with systemd: Delegate=yes and "
                "DelegateSubgroup=server." },
};

static const mishap_sandbox_profile profile = { .temporary_bytes = 1 << 20 };

/* The report of a child, in shared memory; the addresses of its texts are the same in both
 * processes. */
struct verdict {
    const char *volatile step;
    volatile int error;
    volatile bool passed;
};

static void try_in_child(unsigned layers, const mishap_sandbox_filter *filter,
                         struct verdict *verdict)
{
    char folder[] = "/";
    mishap_sandbox_place place = { 0 };
    memcpy(place.folder, folder, sizeof folder);
    const char *step = mishap_sandbox_enter(layers, &profile, &place, "/usr"); /* any path */
    if (!step && layers & MISHAP_LAYER_SECCOMP && mishap_sandbox_install(filter) < 0)
        step = "seccomp";
    verdict->error = errno;
    verdict->step = step;
    verdict->passed = !step;
    _exit(0);
}

/* True if the machine offers all of these layers; otherwise the verdict says why not. */
static bool try(unsigned layers, const mishap_sandbox_filter *filter, struct verdict *shared)
{
    int status;
    /* The result if the child dies before it reports. From here on the child writes to it. */
    *shared = (struct verdict){ .step = "the child process" };
    pid_t pid = mishap_sandbox_clone(layers, -1);
    if (pid == 0)
        try_in_child(layers, filter, shared);
    if (pid < 0) {
        shared->step = "clone";
        shared->error = errno;
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return shared->passed;
}

/* The parent makes a group, and this process must not enter it. */
static bool try_groups(struct verdict *shared)
{
    mishap_sandbox_place place = { 0 };
    bool made = mishap_sandbox_make_group(&profile, &place);
    shared->step = "mkdir";
    shared->error = errno;
    mishap_sandbox_remove_group(&place);
    return made;
}

static void note(mishap_sandbox_report *report, size_t i, bool offered,
                 const struct verdict *verdict)
{
    report->offers[i].offered = offered;
    if (offered) {
        report->layers |= report->offers[i].layer;
        return;
    }
    report->offers[i].step = verdict->step;
    report->offers[i].error = verdict->error;
}

static void note_missing(mishap_sandbox_report *report)
{
    const unsigned always = MISHAP_LAYER_SECCOMP | MISHAP_LAYER_LIMITS;
    const unsigned either = MISHAP_LAYER_LANDLOCK | MISHAP_LAYER_MOUNTS;
    report->missing = always & ~report->layers;
    if (!(report->layers & either))
        report->missing |= either;
}

/* Namespaces need a user namespace, unless this process is root. */
static void try_each(mishap_sandbox_report *report, const mishap_sandbox_filter *filter,
                     const struct verdict *uncompiled, struct verdict *shared)
{
    unsigned users = try(MISHAP_LAYER_USERS, filter, shared) ? MISHAP_LAYER_USERS : 0;
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++) {
        unsigned layer = offers[i].layer;
        bool namespace = layer & MISHAP_SANDBOX_NAMESPACES;
        if (layer == MISHAP_LAYER_SECCOMP && !filter)
            note(report, i, false, uncompiled);
        else if (layer != MISHAP_LAYER_GROUPS)
            note(report, i, try(layer | (namespace ? users : 0), filter, shared), shared);
    }
}

/* The error of the system says more than that of the library. */
static int why_no_filter(int error)
{
    struct seccomp_notif_sizes sizes;
    return syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 ? error : errno;
}

static void look_at_layers(mishap_sandbox_report *report)
{
    const unsigned most = MISHAP_SANDBOX_ALL & ~MISHAP_LAYER_GROUPS;
    struct verdict none = { "mmap", 0, false };
    memcpy(report->offers, offers, sizeof offers);
    struct verdict *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        none.error = errno;
        for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
            note(report, i, false, &none);
        note_missing(report);
        return;
    }
    /* If the kernel, or a filter around this process, refuses seccomp(), the library compiles no
     * filter with a listener. */
    const mishap_sandbox_filter *filter = mishap_sandbox_compile();
    struct verdict uncompiled = { "seccomp", filter ? 0 : why_no_filter(errno), false };
    bool together = filter && try(most, filter, shared);
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS && together; i++)
        if (offers[i].layer & most)
            note(report, i, true, shared);
    if (!together)
        try_each(report, filter, &uncompiled, shared);
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        if (offers[i].layer == MISHAP_LAYER_GROUPS)
            note(report, i, try_groups(shared), shared);
    munmap(shared, sizeof *shared);
    note_missing(report);
}

const mishap_sandbox_report *mishap_sandbox_probe(void)
{
    static mishap_sandbox_report report;
    static bool looked;
    if (!looked)
        look_at_layers(&report);
    looked = true;
    return &report;
}

/* -- the minimum ------------------------------------------------------------------------------- */

mishap *mishap_sandbox_check_report(const mishap_sandbox_report *report, mishap_sandbox_mode mode)
{
    char words[400] = "", reason[100];
    size_t length = 0;
    const char *advice = NULL;
    if (mode == MISHAP_SANDBOX_WEAK || !report->missing)
        return NULL;
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS && length < sizeof words; i++) {
        const mishap_sandbox_offer *offer = &report->offers[i];
        if (!(report->missing & offer->layer))
            continue;
        mishap_system_error(offer->error, reason, sizeof reason);
        bool named = strcmp(offer->name, offer->step) == 0; /* do not name it twice */
        length += (size_t)snprintf(words + length, sizeof words - length, "%s%s%s%s: %s",
                                   length ? "; " : "", offer->name, named ? "" : ": ",
                                   named ? "" : offer->step, reason);
        advice = advice ? advice : offer->advice;
    }
    mishap *m = mishap_raise(NOT_CONFIGURED, "This machine does not offer the sandbox that foreign "
                                             "programs run in.");
    return mishap_suggest(mishap_tell_cause(m, words), advice);
}

mishap *mishap_sandbox_check(mishap_sandbox_mode mode)
{
    return mode == MISHAP_SANDBOX_WEAK ? NULL
                                       : mishap_sandbox_check_report(mishap_sandbox_probe(), mode);
}
