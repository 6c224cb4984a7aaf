/*
 * The state of a call that waits for an answer, in the hands of its caller. The server keeps
 * nothing of such a call: the caller sends the state back with the answers, and the call begins
 * anew. The state is authenticated, not encrypted. It holds
 *
 *     the round, the time at which it expires, a number of its own, the answers so far,
 *
 * and is valid only for the operation, the arguments and the caller that it was made for: a later
 * key of the same name is another caller. One of a destructive operation is valid once, and names
 * who knows whether it was used: the server that has made it, or its cluster. There the first of
 * all servers to claim it has it (claims.h), and the call waits for that. States of `.quick` and
 * `.task_only` operations, whose calls cannot wait, name the server in a cluster, too.
 */
#ifndef MISHAP_OPERATION_SEALED_H
#define MISHAP_OPERATION_SEALED_H

#include "operation/asking.h"
#include "operation/claims.h"
#include "operation/shared_secret.h"

enum {
    MISHAP_STATE_MS = 10 * 60 * 1000, /* how long a caller has for an answer */
    MISHAP_STATE_LIMIT = 128 * 1024,  /* bytes of a state as text */
};

/* The secret, and which states were used. Shared by all loops of a server. */
typedef struct mishap_seal mishap_seal;
mishap *mishap_seal_make(mishap_seal **out);
void mishap_seal_free(mishap_seal *seal);

/* Use secrets that outlive the server, or that other servers have, too, before any process is
 * forked. NULL is fine for `seal`. */
void mishap_seal_use(mishap_seal *seal, const mishap_shared_secret *secret);

/* States of destructive operations are claimed from now on, by all processes that have the seal.
 * `cluster` is a number that only its servers know. NULL is fine for `seal`. */
void mishap_seal_share(mishap_seal *seal, uint64_t cluster);
/* NULL: they are not. */
mishap_claims *mishap_seal_claims(mishap_seal *seal);

/* Write the state of a call that has asked, as base64. */
void mishap_state_put(mishap_buffer *text, const mishap_seal *seal, const mishap_call *call);

typedef enum mishap_state_flaw {
    MISHAP_STATE_SOUND,
    MISHAP_STATE_FORGED,  /* not made by this server, or for something else */
    MISHAP_STATE_EXPIRED, /* … and too long ago */
    MISHAP_STATE_USED,
    MISHAP_STATE_ELSEWHERE, /* it can be used once, at the server that has made it */
    MISHAP_STATE_CROWDED,   /* its caller has answered too many in a short time */
    MISHAP_STATE_FULL,      /* … or all callers together */
    MISHAP_STATE_NO_MEMORY,
} mishap_state_flaw;

/* Give the answers of a state, and its round, to a call that begins. The operation, the arguments
 * and the caller of the call are set. The call must not run before its claim (call->claim), if it
 * has one, was made and has an answer. */
mishap_state_flaw mishap_state_take(mishap_seal *seal, mishap_call *call, mishap_text text);

/* The failure of a call whose claim was not the first, or is not known to be. */
mishap *mishap_state_refuse_claim(mishap_claim_answer answer);

/* -- for boundaries ---------------------------------------------------------------------------- */

/*
 * Take the state and the answers that came with a request; NULL: absent. Without a state the
 * answers do not count, since it is not known that they were asked for; the caller is asked. The
 * failure is BAD_REQUEST.
 */
mishap *mishap_sealed_begin(mishap_seal *seal, mishap_call *call, yyjson_val *state,
                            yyjson_val *answers, mishap_answers_form form);

/* Tell the state with the questions of a call: `state`. `how` says how to send the answers. */
void mishap_sealed_tell(const mishap_seal *seal, const mishap_call *call, mishap *failure,
                        const char *how);

#endif
