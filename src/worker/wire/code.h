/*
 * Messages that code of a caller may have written. Such code runs in the process of a foreign
 * program and can use the program's socket. So once the code has begun, each message is treated as
 * written by the code: the code may claim what it could have achieved by returning or raising, and
 * nothing else (mishap_foreign_code, include/mishap/worker.h).
 */
#ifndef MISHAP_WORKER_WIRE_CODE_H
#define MISHAP_WORKER_WIRE_CODE_H

#include "worker/wire/packets.h"

/* Make the failure that a message carries, as a failure of the code. Never NULL. */
mishap *mishap_code_take_failure(const mishap_foreign_message *message,
                                 const mishap_foreign_known *known, const mishap_call *call);

/* The failure that the caller receives when the code has sent an answer that the operation does not
 * declare. `cause` is for the operator. */
mishap *mishap_code_broke_answer(const mishap_foreign_code *code, mishap *cause);

/* Write the text of an answer. Parts that look like the report of a failure are escaped. */
void mishap_code_put_text(mishap_buffer *out, mishap_text text);

#endif
