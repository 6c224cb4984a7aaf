/* Why no process can be started: what the system lacks, and what to do about it. */
#ifndef MISHAP_WORKER_SPAWN_LACK_H
#define MISHAP_WORKER_SPAWN_LACK_H

#include "operation/operation.h"

/* UNAVAILABLE, with a cause and a suggestion: the error of the system says what is missing. */
mishap *mishap_worker_no_process(int error);

/* Why a child ended before it began: the same failure, if this process may open fewer files than a
 * child needs to begin; else NULL. */
mishap *mishap_worker_too_few_files(void);

#endif
