/*
 * Remove stack traces and the secrets of a call from its failure. A successful answer is not
 * filtered: it is sent unchanged.
 */
#ifndef MISHAP_OPERATION_HIDE_H
#define MISHAP_OPERATION_HIDE_H

#include "guard/guard.h"
#include "operation/operation.h"

/*
 * Take out of a JSON document everything that must not leave, in any part of it: a string with a
 * stack trace in it is replaced by a sentence, the values of secrets by [redacted], and a member
 * whose key has either is left out. Numbers stay: mishap_hide_failure() has hidden those of the
 * failure, and the others are the protocol's. `secrets` may be NULL.
 *
 * NULL, or if there was a stack trace a RUNTIME_ERROR that has the document as it was on its
 * private side, for the log: to be recorded with the same secrets, and freed. What can not be
 * cleaned (there is no memory, or it is no JSON at all) leaves the buffer empty and failed.
 *
 * A document with nothing to hide costs one scan, without memory and without being read.
 */
mishap *mishap_hide_json(mishap_buffer *json, const mishap_secrets *secrets);

/* The same for a document that may contain stack traces, since they are those of the caller's own
 * code: only secrets are taken out. */
void mishap_hide_json_secrets(mishap_buffer *json, const mishap_secrets *secrets);

/* The text that replaces a string with a stack trace. */
extern const mishap_text mishap_hide_removed;

#endif
