/* What a worker records when it dies: in the page that it shares with the loop whose call it runs,
 * without allocating, without locks, and without system calls that could block. */
#ifndef MISHAP_WORKER_CHILD_LAST_WORDS_H
#define MISHAP_WORKER_CHILD_LAST_WORDS_H

#include "worker/wire/page.h"

/* Once in a worker: catch the signals of a crash, exit(), and the signal that asks for the
 * stack. */
void mishap_words_begin(void);

/* From now on a call of this page runs; NULL: no call runs, and nothing is recorded. `entry` is the
 * address of its handler: it replaces the stack of a crash that cannot be walked. */
void mishap_words_for(mishap_worker_page *page, uintptr_t entry);

#endif
