/*
 * Which functions are called when a handler changes something (mishap_changed). A boundary whose
 * clients can watch for changes registers one; in a program where none does, nothing is even
 * formatted.
 */
#ifndef MISHAP_OPERATION_CHANGES_H
#define MISHAP_OPERATION_CHANGES_H

#include "operation/operation.h"

enum { MISHAP_ADDRESS_LIMIT = 512 }; /* bytes; a longer one is not announced */

/*
 * From now on `hear` is called, too, with the address of each change, on the thread of the handler:
 * it must not block for long, and must not end the call. A crash in it is not contained. Called
 * before a handler runs, by a few in a process at most. NULL: `hear` is not called any more.
 */
void mishap_changes_heard_by(void (*hear)(void *state, mishap_text address), void *state);

/* The address of all lists of a server together, such as the list of its tools. A program changes
 * them, handlers do not. */
#define MISHAP_ADDRESS_LISTS "mishap:lists"

/* Tell all listeners of this process that this change happened, in this process or another. Text
 * without data: anything that handlers change may have changed, thus not the lists. */
void mishap_changes_tell(mishap_text address);

/* A call of this operation failed, or its process ended (`failure` is NULL), and it is not known
 * whether it changed something: tell that anything may have changed. A failure counts only if it
 * says so itself: it told `outcome`, "unknown". So does an operation only if it is not safe. */
void mishap_changes_tell_doubt(const mishap_operation *operation, const mishap *failure);

/* The same for several, each NUL-terminated. */
void mishap_changes_tell_all(mishap_text addresses);

#endif
