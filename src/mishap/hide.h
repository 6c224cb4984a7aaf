/*
 * Remove leaks (leaks.h) and known secrets from what is told of a failure: from its public side, or
 * from the document that was rendered. A successful answer is not filtered.
 */
#ifndef MISHAP_MISHAP_HIDE_H
#define MISHAP_MISHAP_HIDE_H

#include "guard/guard.h"
#include "mishap/leaks.h"

/*
 * Take out of a JSON document everything that must not leave, in any part of it: a string with a
 * leak that has to be replaced, such as a stack trace, is replaced by a sentence, the values of
 * secrets by [redacted], and a member whose key has either is left out. A number that is a password
 * by its name is replaced like a string, other numbers stay. `secrets` and `known` may be NULL.
 *
 * The result is NULL, or what was found, for the log: to be recorded with the same secrets, and
 * freed. It is a RUNTIME_ERROR if something was replaced. What can not be cleaned (there is no
 * memory, or it is no JSON at all) leaves the buffer empty and failed.
 *
 * A document with nothing to hide costs one scan, without memory and without being read.
 */
mishap *mishap_hide_known_json(mishap_buffer *json, const mishap_secrets *secrets,
                               mishap_leaks_known *known);

/* The same for a document that may contain leaks, since they are those of the caller's own code:
 * only secrets are taken out. */
void mishap_hide_json_secrets(mishap_buffer *json, const mishap_secrets *secrets);

/* One text that is no document: itself, or the sentence that replaces it. */
mishap_text mishap_hide_known_text(mishap_text text, mishap_leaks_known *known);

/*
 * Replace the leaks in the public side of a failure, before it is rendered, apart from the output
 * and the stack of a caller's own code. A member whose key has one is left out. What is replaced is
 * noted. A failure without any costs a scan of each of its texts.
 */
void mishap_hide_known_failure(mishap *failure, mishap_leaks_known *known);

/* The same before it is rendered as a report on a caller's own code: then the condition type and
 * the message are those of that code, and stay. A failure without a type, an output and a stack is
 * that of the program. */
void mishap_hide_known_report(mishap *failure, mishap_leaks_known *known);

#endif
