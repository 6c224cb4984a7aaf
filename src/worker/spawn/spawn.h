/* The process of a foreign program: how it is started, and what is left when it has ended. Used by
 * the keeper for its processes, and by a command for its one call. */
#ifndef MISHAP_WORKER_SPAWN_SPAWN_H
#define MISHAP_WORKER_SPAWN_SPAWN_H

#include "sandbox/sandbox.h"
#include "worker/wire/packets.h"

typedef struct mishap_spawned {
    pid_t pid;
    int output; /* what it writes to descriptors 1 and 2 */
    mishap_sandbox_place place;
    const mishap_sandbox *sandbox; /* NULL: none */
    mishap_sandbox_watch watch;
    mishap_sandbox_excess exceeded; /* the excess that it is to be killed for */
} mishap_spawned;

/* Choose whether a weak sandbox is accepted where there is no better one. To be called before the
 * first process starts; without it, the environment of the program decides. */
void mishap_spawn_use(mishap_sandbox_mode mode);
void mishap_spawn_use_usual(const mishap_app *app);

/* Check that a program can be started: that it is usable, and that there is a sandbox for it. */
mishap *mishap_spawn_check(const mishap_foreign *foreign);

/* Why a process of it ended before it was ready, judged by this output: its sandbox could not be
 * entered, or a limit of this process is below what the program is given. NULL: neither. */
mishap *mishap_spawn_lack(const mishap_foreign *foreign, mishap_text output);

/* Make its sandbox now, so that the first start is not delayed by that. */
void mishap_spawn_prepare(const mishap_foreign *foreign);

/* Remove what a keeper that was killed has left behind of the sandboxes of its processes. */
void mishap_spawn_sweep(void);

/* Start a process. `socket` is the program's end of the connection; the caller keeps it and closes
 * it. False: errno says why. */
bool mishap_spawn(const mishap_foreign *foreign, int socket, mishap_spawned *spawned);

/* Interrupt the call of this id. */
void mishap_spawn_interrupt(pid_t pid, uint32_t id);

/* True if the process uses more than its profile allows. The caller then kills it. */
bool mishap_spawn_look(mishap_spawned *spawned);

/* What it was killed for, by this process or by the system, and the name of that; NULL: nothing. */
mishap_sandbox_excess mishap_spawn_exceeded(const mishap_spawned *spawned);
const char *mishap_spawn_excess(mishap_sandbox_excess excess);

/* Copy its output: all of it or, if it is longer than MISHAP_FOREIGN_LAST_OUTPUT bytes, its
 * beginning and its end. */
size_t mishap_spawn_output(const mishap_spawned *spawned, char *output);

/* After the process was reaped: close its files and remove what its sandbox has left. */
void mishap_spawn_remove(mishap_spawned *spawned);

#endif
