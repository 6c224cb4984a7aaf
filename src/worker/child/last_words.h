/* What a worker leaves behind when it dies: in the page that it shares with the loop whose call it
 * runs, without memory, locks or system calls that could hang. */
#ifndef MISHAP_WORKER_CHILD_LAST_WORDS_H
#define MISHAP_WORKER_CHILD_LAST_WORDS_H

#include "worker/wire/page.h"

/* Once in a worker: catch the signals of a crash, exit(), and the signal that asks for the stack.
 */
void mishap_words_begin(void);

/* From now on a call of this page runs; NULL: none does, and there is nobody to tell. Where nothing
 * can be found of the stack of a crash, `entry`, where its handler begins, stands for it. */
void mishap_words_for(mishap_worker_page *page, uintptr_t entry);

#endif
