/*
 * Messages that code of a caller may have written. Code runs in the process of a foreign program
 * and holds the program's socket, so once it has begun, each message is taken as the code's: what
 * the code could have had by returning or raising counts, and nothing else does
 * (mishap_foreign_code, include/mishap/worker.h).
 */
#ifndef MISHAP_WORKER_WIRE_CODE_H
#define MISHAP_WORKER_WIRE_CODE_H

#include "worker/wire/packets.h"

/* The failure of a message, as one of the code. Never NULL. */
mishap *mishap_code_take_failure(const mishap_foreign_message *message,
                                 const mishap_foreign_known *known, const mishap_call *call);

/* What is told when the code has sent an answer that the operation does not declare. `cause` is for
 * the operator. */
mishap *mishap_code_broke_answer(const mishap_foreign_code *code, mishap *cause);

/* Write the text of an answer. What looks like the report of a failure in it is escaped. */
void mishap_code_put_text(mishap_buffer *out, mishap_text text);

#endif
