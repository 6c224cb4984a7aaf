/* Why no process can be started: what the system lacks, told to an operator who can raise the
 * limit. */
#include <errno.h>
#include <sys/resource.h>

#include "base/system.h"
#include "mishap/mishap.h"
#include "worker/spawn/lack.h"

static const struct lack {
    int error;
    const char *cause, *advice;
} lacks[] = {
    { EAGAIN, "The limit of processes is reached.",
      "Raise the limit of processes (ulimit -u; with systemd TasksMax= and LimitNPROC=; pids.max "
      "of "
      "a control group)." },
    { EMFILE, "The limit of open files is reached.",
      "Raise the limit of open files (ulimit -n; with systemd LimitNOFILE=)." },
    { ENFILE, "The limit of open files of the machine is reached.",
      "Raise the limit of open files of the machine (fs.file-max)." },
    { ENOMEM, "There is not enough memory.",
      "Give the server more memory, or raise its limit of address space (ulimit -v)." },
    { ENOSPC, "The limit of namespaces is reached, or a file system is full.",
      "Raise the limits of namespaces (user.max_user_namespaces and its like), or make room for "
      "temporary files." },
    { EUSERS, "The server has as many processes as it can keep.",
      "End sessions that are not needed." },
    { EROFS, "The folder for temporary files is read-only.",
      "Set TMPDIR to a folder that the server can write to." },
};

mishap *mishap_worker_no_process(int error)
{
    char reason[100];
    mishap *m = mishap_raise(UNAVAILABLE, "No process can be started for this call.");
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (lacks[i].error == error)
            return mishap_suggest(mishap_tell_cause(m, lacks[i].cause), lacks[i].advice);
    mishap_system_error(error, reason, sizeof reason);
    return mishap_tell_cause(m, reason);
}

/* While the descriptors of a child are arranged, they use higher numbers than later (child.c). */
mishap *mishap_worker_too_few_files(void)
{
    enum { FEWEST = 32 };
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FEWEST
               ? mishap_worker_no_process(EMFILE)
               : NULL;
}
