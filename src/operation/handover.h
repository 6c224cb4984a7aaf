/*
 * What the servers of a cluster hand over to each other, so that a session goes on at another
 * server when its own is gone: its state, the events of its streams, and a position, up to which
 * its client has heard of changes.
 *
 * A boundary that has sessions (src/mcp) fills in a table of functions. The process that talks to
 * the database (src/http/cluster) calls them, and gives bytes to rows and rows to bytes that it
 * does not read. All functions work on memory that the processes of a server share.
 *
 * Each server counts its own changes. A position has, for each server, the number of the last
 * change that the client has heard of; the first server is the one that made the position. It is
 * sent to clients as a part of the id of an event, and comes back in Last-Event-ID: a client may
 * have made it up, and no more follows from it than notices of changes.
 */
#ifndef MISHAP_OPERATION_HANDOVER_H
#define MISHAP_OPERATION_HANDOVER_H

#include "base/buffer.h"

enum {
    MISHAP_HANDOVER_KEY = 32,        /* bytes: what a session is found by */
    MISHAP_POSITION_SERVERS = 65,    /* this one, and 64 others */
    MISHAP_POSITION_LIMIT = 65 * 28, /* characters */
};

typedef struct mishap_position {
    size_t count;
    struct mishap_position_mark {
        uint32_t server; /* the lower half of its number */
        int64_t change;  /* the last one that was heard of */
    } marks[MISHAP_POSITION_SERVERS];
} mishap_position;

/* "m1a2b3c4d-17.0000beef-2". Reading: false if it is no position. */
void mishap_position_put(mishap_buffer *text, const mishap_position *position);
bool mishap_position_read(mishap_text text, mishap_position *position);

/* The change of a server that the client has heard of last; -1: the position does not have this
 * server. */
int64_t mishap_position_of(const mishap_position *position, uint32_t server);

typedef struct mishap_handover_session {
    unsigned char key[MISHAP_HANDOVER_KEY];
    int64_t holder;   /* a number of its caller */
    uint32_t version; /* of its state */
    uint64_t event;   /* the last one that was stored */
    bool changed;     /* its state was not stored yet */
    bool restoring;   /* its state is wanted */
} mishap_handover_session;

typedef struct mishap_handover_event {
    uint64_t number;        /* grows with each event */
    uint64_t stream, place; /* a will has the place 0 */
    bool last;              /* the stream ends with it */
    bool will;              /* what is known of the call, if its process dies */
    unsigned scopes;        /* of a will */
} mishap_handover_event;

/* What a client asks for that has come back: all that has changed since `position`, or what
 * follows in a stream. */
typedef struct mishap_handover_wish {
    uint64_t session;
    unsigned char key[MISHAP_HANDOVER_KEY];
    uint64_t stream;                          /* 0: changes */
    uint64_t place;                           /* events of the stream are wanted behind it */
    char position[MISHAP_POSITION_LIMIT + 1]; /* "": none, so anything may have changed */
} mishap_handover_wish;

typedef enum mishap_handover_outcome {
    MISHAP_HANDOVER_MORE, /* this is all for now */
    MISHAP_HANDOVER_ALL,  /* there is no more */
    MISHAP_HANDOVER_LOST, /* … and the process that ran the call is gone */
} mishap_handover_outcome;

typedef struct mishap_handover {
    void *state;

    /* Grows with each session that next() returns, and with each wish. */
    uint64_t (*count)(void *state);

    /* -- from this server to rows -- */

    /* A session of which something has to be stored or read; it is returned once for each change.
     * 0: there is none. again(): it could not be done, and is returned once more. */
    uint64_t (*next)(void *state);
    void (*again)(void *state, uint64_t session);

    /* False: it has ended. */
    bool (*read)(void *state, uint64_t session, mishap_handover_session *about,
                 mishap_buffer *data);

    /* The first event after this number. False: there is none. */
    bool (*read_event)(void *state, uint64_t session, uint64_t after, mishap_handover_event *event,
                       mishap_buffer *data);
    void (*stored)(void *state, const mishap_handover_session *about, uint64_t session);

    /* Let next() return all sessions that have a state, one after the other. */
    void (*renew)(void *state);

    /* -- from rows to this server: any bytes -- */

    /* Text without data: there is no row. */
    void (*restore)(void *state, uint64_t session, mishap_text data);
    /* *at is 0 at first. A wish of a session that is being restored comes later. */
    bool (*next_wish)(void *state, size_t *at, mishap_handover_wish *wish);
    void (*change)(void *state, uint64_t session, mishap_text address); /* no data: anything */
    void (*add_event)(void *state, uint64_t session, const mishap_handover_event *event,
                      mishap_text data);
    /* `at` as next_wish() has left it. */
    void (*fulfil)(void *state, size_t at, mishap_handover_outcome outcome);

    /* -- positions -- */

    /* The changes of this server so far. A change is counted before it is added to the news. */
    int64_t (*changes)(void *state);
    /* Those of another server, each with a NUL behind it, up to this number of that server. */
    void (*hear)(void *state, uint32_t server, int64_t change, mishap_text addresses);
    /* All servers that there are; the first is this one, of which only the number counts. */
    void (*place)(void *state, const mishap_position *position);
} mishap_handover;

#endif
