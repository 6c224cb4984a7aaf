/* JSON without secrets: every text and value of a record is written by these. */
#ifndef MISHAP_INCIDENT_REDACT_H
#define MISHAP_INCIDENT_REDACT_H

#include "base/json_read.h"
#include "guard/guard.h"
#include "mishap/mishap.h"

/* A text as a JSON string: valid UTF-8, known secrets, passwords in addresses, handles of sessions,
 * and what the guard finds of credentials, connection strings and environments redacted. */
void mishap_redact_string(mishap_buffer *b, const mishap_secrets *secrets, mishap_text text);

/* Members as an object. A value that goes by the name of a secret is redacted as a whole, and all
 * of them if they are a private key or an environment only together. */
void mishap_redact_members(mishap_buffer *b, const mishap_secrets *secrets,
                           const mishap_member *first);
void mishap_redact_value(mishap_buffer *b, const mishap_secrets *secrets,
                         const mishap_value *value);

/* A JSON value that was read, at any depth. */
void mishap_redact_json(mishap_buffer *b, const mishap_secrets *secrets, yyjson_val *value);

/* The same for the text of a document; what is no JSON becomes a string. */
void mishap_redact_document(mishap_buffer *b, const mishap_secrets *secrets, mishap_text json);

/*
 * The handle of a session, 48 hexadecimal digits (mishap/worker.h), lets its caller into the
 * session: a caller may have it, and so the failure that the caller gets; the log may not. Its
 * first eight digits stay, so that failures of one session are seen to be of one.
 */
bool mishap_redact_has_handle(mishap_text text);
void mishap_redact_put_handles(mishap_buffer *b, mishap_text text);

#endif
