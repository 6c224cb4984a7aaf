/* The process of a foreign program: how it begins, and what is left of it at its end. The keeper
 * has them, and so has a command for one call. */
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
    mishap_sandbox_excess exceeded; /* what it is to be killed for */
} mishap_spawned;

/* Whether a weak sandbox will do, if there is no other. To be said before the first process starts;
 * else it is as the environment of the program says. */
void mishap_spawn_use(mishap_sandbox_mode mode);
void mishap_spawn_use_usual(const mishap_app *app);

/* Can it be started: is it usable, and is there a sandbox for it? */
mishap *mishap_spawn_check(const mishap_foreign *foreign);

/* Why a process of it ended before it was ready, with this output: its sandbox could not be
 * entered, or a limit of this process is below what the program is given. NULL: neither. */
mishap *mishap_spawn_lack(const mishap_foreign *foreign, mishap_text output);

/* Make its sandbox now, so that the first start need not wait for that. */
void mishap_spawn_prepare(const mishap_foreign *foreign);

/* Remove what a keeper that was killed has left of the sandboxes of its processes. */
void mishap_spawn_sweep(void);

/* Start it. `socket` is the program's end of the connection, and stays the caller's, who closes it.
 * False: errno says why. */
bool mishap_spawn(const mishap_foreign *foreign, int socket, mishap_spawned *spawned);

/* Have it end the call of this id. */
void mishap_spawn_interrupt(pid_t pid, uint32_t id);

/* Has it more than its profile gives it? Then it is to be killed. */
bool mishap_spawn_look(mishap_spawned *spawned);

/* What it was killed for, by us or by the system, and the word for that; NULL: nothing. */
mishap_sandbox_excess mishap_spawn_exceeded(const mishap_spawned *spawned);
const char *mishap_spawn_excess(mishap_sandbox_excess excess);

/* What it has written: all of it or, of more than MISHAP_FOREIGN_LAST_OUTPUT bytes, the beginning
 * and the end. */
size_t mishap_spawn_output(const mishap_spawned *spawned, char *output);

/* It was reaped: close and remove what it had. */
void mishap_spawn_remove(mishap_spawned *spawned);

#endif
