/*
 * src/audit/process: a command of another program that runs in an empty place, with limits.
 *
 *     process.c  the side of the audit: starting, writing, reading, ending
 *     warden.c   a process between the audit and the command: it ends everything that the command
 *                has started, and removes its folder, even if the audit is killed
 *     orphans.c  what is left of a command that has killed those that watch it
 *
 * The command gets an empty HOME, an empty TMPDIR and an empty working folder, and of the
 * environment only PATH and LANG; TERM is "dumb". It is in a session of its own. Nothing of it
 * survives: its warden is the "child subreaper" of all its descendants, so that a daemon that has
 * forked twice becomes a child of the warden and is killed. If the command kills the warden, the
 * warden's parent takes over, and then the audit itself (warden.h).
 *
 * The command is not trusted: it may print without end, ignore SIGTERM, close its output or write
 * thousands of files. Each has a limit, and the fields of the process say which one it reached.
 */
#ifndef MISHAP_AUDIT_PROCESS_H
#define MISHAP_AUDIT_PROCESS_H

#include <sys/types.h>

#include "base/base.h"
#include "mishap/mishap.h"

/* What to start, and how. */
typedef struct mishap_audit_command {
    /* The program and its arguments, then NULL. A name without a slash is searched in PATH. */
    const char *const *argv;
    bool input;  /* standard input is a pipe for mishap_audit_process_write(); else it is empty */
    bool unread; /* standard output is a pipe that has no reader any more */
    bool same_folder; /* the working folder is that of the audit, not an empty one */
    int time_ms;      /* until it gets SIGTERM; 0: 10 s */
    int grace_ms;     /* from SIGTERM to SIGKILL; 0: 2 s */
    size_t keep;      /* bytes that are kept of each output; 0: 1 MB */
    size_t most;      /* bytes of both outputs, after which it is ended; 0: 8 MB */
} mishap_audit_command;

typedef struct mishap_audit_process {
    /* What it has printed, as much as is kept, and all bytes that were read. */
    mishap_buffer out, err;
    uint64_t out_bytes, err_bytes;

    bool ended;     /* the command itself; its descendants may still run */
    int status;     /* … as waitpid() has it */
    bool overdue;   /* the time limit was reached */
    bool flooded;   /* it printed more than `most` */
    bool killed;    /* it had to be killed: SIGTERM did not end it within `grace_ms` */
    bool unwatched; /* it has killed the processes that watch it, and was killed */
    bool gone;      /* all descendants have ended, and the folder is removed */
    int survivors;  /* processes that were running after the command had ended, and were killed */
    size_t files;   /* what it wrote under HOME and its folder: files, not folders … */
    char file[128]; /* … and the first by name, relative to one of the two; "": none */
    char root[200]; /* the folder above its HOME, TMPDIR and working folder */
    pid_t pid;

    /* Not for callers. */
    mishap_buffer pending; /* bytes for its standard input */
    size_t written;        /* … and how many of them were written */
    int in, from_out, from_err, warden;
    int folder; /* `root`, wherever the command has moved it */
    pid_t warden_pid;
    uint64_t began; /* when the warden was started: orphans.h */
    int64_t deadline_ns, kill_ns;
    int grace_ms;
    size_t keep, most;
    bool terminated;
} mishap_audit_process;

/*
 * Start it. NULL: it runs, and mishap_audit_process_close() is due. Else nothing runs, and
 * NOT_FOUND says that there is no such program; NOT_AUTHORIZED that it cannot be executed;
 * UNAVAILABLE that the system has no process or no temporary folder to give.
 */
mishap *mishap_audit_process_start(const mishap_audit_command *command,
                                   mishap_audit_process *process);

/* Bytes for its standard input, which are written while the audit waits. */
void mishap_audit_process_write(mishap_audit_process *process, mishap_text bytes);

/* Its standard input ends, once all bytes are written. */
void mishap_audit_process_end_input(mishap_audit_process *process);

/*
 * Wait until it prints something, ends, or `wait_ms` have passed. False: nothing more can come from
 * it. The limits are kept meanwhile.
 */
bool mishap_audit_process_wait(mishap_audit_process *process, int wait_ms);

/* Wait until the command has used no processor time for a moment: it waits for something. At most
 * `most_ms`. False: it has ended meanwhile. */
bool mishap_audit_process_settle(mishap_audit_process *process, int most_ms);

/* Send SIGTERM to the command and its group; SIGKILL follows after `grace_ms`. */
void mishap_audit_process_terminate(mishap_audit_process *process);

/* Wait until it is gone. */
void mishap_audit_process_finish(mishap_audit_process *process);

/* End everything, if it still runs, and release the process. */
void mishap_audit_process_close(mishap_audit_process *process);

/* Start it and wait until it is gone. mishap_audit_process_close() is due if NULL is returned. */
mishap *mishap_audit_process_run(const mishap_audit_command *command,
                                 mishap_audit_process *process);

#endif
