/* Why no process can be started: what the system lacks, and what to do about it. */
#ifndef MISHAP_WORKER_SPAWN_LACK_H
#define MISHAP_WORKER_SPAWN_LACK_H

#include "operation/operation.h"

/* UNAVAILABLE: the error of the system says what it lacks, and so do its cause and suggestion. */
mishap *mishap_worker_no_process(int error);

/* A child that ended before it began: the same, if this process may open fewer files than a child
 * needs for its beginning; else NULL. */
mishap *mishap_worker_too_few_files(void);

#endif
