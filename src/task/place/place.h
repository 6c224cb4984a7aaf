/*
 * Where loops find the process of tasks: a socket that the supervisor listens on, so that it
 * outlives that process. It has no name in a folder; a connection is accepted from processes of the
 * same user that know the secret of the server, which programs that a worker starts do not.
 */
#ifndef MISHAP_TASK_PLACE_H
#define MISHAP_TASK_PLACE_H

#include "mishap/mishap.h"

/* In the supervisor. */
mishap *mishap_task_place_make(void);
void mishap_task_place_end(void);

/* In a loop: a connection; -1: there is none now. Closes what a loop does not need. */
int mishap_task_place_connect(void);
mishap_text mishap_task_place_secret(void);

/* In the process of tasks. */
int mishap_task_place_listener(void);

#endif
