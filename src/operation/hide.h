/* What a call knows to be secret, and its answers without that and without stack traces. */
#ifndef MISHAP_OPERATION_HIDE_H
#define MISHAP_OPERATION_HIDE_H

#include "guard/guard.h"
#include "operation/operation.h"

/*
 * Add the values of the secret parameters of a call, which point into the call: they must not be
 * used after mishap_call_end(). A call that could not begin has none, and what is told of it quotes
 * none.
 */
void mishap_hide_learn(mishap_secrets *secrets, const mishap_call *call);

/*
 * Take out of a JSON document whatever must not leave, in any part of it: a string with a stack
 * trace in it is replaced by a sentence, the values of secrets by [redacted], and a member whose
 * key has either is left out. `secrets` may be NULL.
 *
 * NULL, or if there was a stack trace a RUNTIME_ERROR that has the document as it was on its
 * private side, for the log: to be recorded with the same secrets, and freed. What can not be
 * cleaned (there is no memory, or it is no JSON at all) leaves the buffer empty and failed.
 *
 * A document with nothing to hide costs one scan, without memory and without being read.
 */
mishap *mishap_hide_json(mishap_buffer *json, const mishap_secrets *secrets);

/* The same for a document that is no JSON, and may be any bytes: one with a stack trace in it is
 * replaced as a whole. */
mishap *mishap_hide_text(mishap_buffer *text, const mishap_secrets *secrets);

/*
 * All that a call says that worked, as it may leave: its answer, its warnings, and its location,
 * which is left out if there is something in it, for a changed address leads nowhere. A document
 * is made UTF-8. What comes back is as above; an answer that could not be cleaned has failed.
 */
mishap *mishap_hide_answer(mishap_call *call, const mishap_secrets *secrets);

/* What stands in place of a string with a stack trace in it. */
extern const mishap_text mishap_hide_removed;

#endif
