/*
 * Which functions are called when a handler changes something (mishap_changed). A boundary whose
 * clients can watch for changes registers one; in a program where none does, nothing is even
 * formatted.
 */
#ifndef MISHAP_OPERATION_CHANGES_H
#define MISHAP_OPERATION_CHANGES_H

#include "operation/operation.h"

enum { MISHAP_ADDRESS_LIMIT = 512 }; /* bytes; of a longer one nobody hears */

/*
 * From now on `hear` is called, too, with the address of whatever changes, on the thread of the
 * handler: it must not wait for long, and not end the call. A crash in it is not contained. Said
 * before a handler runs, by a few in a process at most. NULL: nobody hears any more.
 */
void mishap_changes_heard_by(void (*hear)(void *state, mishap_text address), void *state);

/* Tell whoever hears of changes in this process that this one happened, in this or another. */
void mishap_changes_tell(mishap_text address);

/* The same for several, each with a NUL behind it. */
void mishap_changes_tell_all(mishap_text addresses);

#endif
