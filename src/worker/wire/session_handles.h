/*
 * Sessions of foreign programs, as all loops of a server know them: how a handle is made and
 * checked, and which sessions have begun.
 *
 * A handle is a random number and a code that only this server can make of it, its owner and its
 * service. So any loop can check a handle without a table, and a handle is of no use to another
 * caller. The keeper has the processes (lease.c). With `serve --server-number N` the first two
 * digits of a handle are N: so a load balancer knows where the session is.
 */
#ifndef MISHAP_WORKER_WIRE_SESSION_HANDLES_H
#define MISHAP_WORKER_WIRE_SESSION_HANDLES_H

#include <stdatomic.h>

#include "base/mac.h"
#include "worker/wire/keeper_messages.h"

enum {
    MISHAP_SESSION_NUMBER = 8,                                                /* bytes */
    MISHAP_SESSION_HANDLE = 2 * (MISHAP_SESSION_NUMBER + MISHAP_SESSION_KEY), /* digits */
    MISHAP_SESSIONS_BEGUN = 4096,
};

typedef struct mishap_sessions {
    unsigned char secret[MISHAP_MAC_KEY];
    uint8_t server; /* the first byte of each number: which server it is; 0: it is not said */
    _Atomic uint64_t begun[MISHAP_SESSIONS_BEGUN]; /* a part of each key; 0: none */
} mishap_sessions;

/* Create it in shared memory, before there are loops. */
mishap *mishap_sessions_make(mishap_sessions **out);
void mishap_sessions_free(mishap_sessions *sessions);

/* Make a new handle; its key is what the keeper knows the session by. False: the system gives no
 * random numbers. */
bool mishap_session_mint(const mishap_sessions *sessions, const mishap_service *service,
                         uint64_t owner, char handle[MISHAP_SESSION_HANDLE + 1],
                         uint8_t key[MISHAP_SESSION_KEY]);

/* The key of a handle. False: the server gave no such handle to this owner for this service. */
bool mishap_session_prove(const mishap_sessions *sessions, const mishap_service *service,
                          uint64_t owner, mishap_text handle, uint8_t key[MISHAP_SESSION_KEY]);

/* The key of the session that belongs to a conversation, such as one of MCP. */
void mishap_session_of(const mishap_sessions *sessions, const mishap_service *service,
                       uint64_t owner, mishap_text conversation, uint8_t key[MISHAP_SESSION_KEY]);

/* Record that a session begins. True: it has begun before, as far as the shared table still
 * knows. */
bool mishap_session_note(mishap_sessions *sessions, const uint8_t key[MISHAP_SESSION_KEY]);

#endif
