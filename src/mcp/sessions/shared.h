/*
 * The memory that all loops share, for session.c, session_id.c, lasting.c, room.c, events.c,
 * questions.c, handover.c and watch.c alone.
 *
 * A process that dies while it writes leaves incomplete data; the next process that takes the lock
 * repairs it. For this reason the member that makes an entry valid is written last, and the source
 * of a copy stays intact until then.
 */
#ifndef MISHAP_MCP_SESSIONS_SHARED_H
#define MISHAP_MCP_SESSIONS_SHARED_H

#include <pthread.h>

#include <stdatomic.h>

#include "base/life.h"
#include "base/mac.h"
#include "mcp/sessions/session.h"
#include "mcp/sessions/watch.h"
#include "operation/changes.h"
#include "operation/handover.h"
#include "operation/shared_secret.h"

/*
 * Everything before this line is written before everything after it. A compiler barrier is enough,
 * on every processor: a process dies between two instructions. All that it wrote up to there
 * happened before the kernel released its lock (a release), and the next owner takes the lock (an
 * acquire) before it reads. Other processors may see the writes in another order, but none reads
 * without the lock.
 */
static inline void mishap_mcp_first_this(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

enum {
    MISHAP_MCP_PLACES = 4096,   /* size of the table of sessions: a power of two */
    MISHAP_MCP_CALLER = 64,     /* the name of an API key has at most 63 characters */
    MISHAP_MCP_RUNNING = 64,    /* calls of a session that run at once */
    MISHAP_MCP_TAKEN_OVER = 16, /* resumed streams of a session that are open */
    MISHAP_MCP_ENDED = 4096,    /* ended sessions that are remembered */
    MISHAP_MCP_WISHES = 64,     /* resumed streams that wait for the database */
    MISHAP_MCP_PATH = 4200
};

/* A running call, in any loop. */
struct mishap_mcp_running {
    uint64_t id;     /* a hash of the id of the request */
    uint64_t stream; /* the stream of its answer; 0: this entry is free */
    mishap_life loop;
    bool cancelled;
    bool answered;     /* its client has answered … */
    uint64_t question; /* … what the call has asked; 0: nothing */
};

/* The connection that has resumed a stream and sends it. */
struct mishap_mcp_taken {
    uint64_t stream, by; /* 0: free */
    mishap_life loop;    /* the loop that sends it; 0: none any more */
};

/* A stream that was resumed, and waits for what other servers know (handover.c). */
struct mishap_mcp_wish {
    mishap_life loop; /* 0: free */
    mishap_mcp_answer answer;
    uint64_t session, stream, place;
    char position[MISHAP_POSITION_LIMIT + 1];
};

/* Numbers of blocks; 0: none. */
struct mishap_mcp_kept {
    uint32_t first, last; /* events */
    uint32_t blocks;      /* of all events together */
    uint32_t read;        /* the event that was returned last, of any stream */
};

struct mishap_mcp_place {
    char id[MISHAP_MCP_SESSION_ID + 1]; /* empty: free */
    char caller[MISHAP_MCP_CALLER];
    uint64_t key;    /* of the caller */
    uint64_t holder; /* the number of the caller, under which its sessions are counted */
    /* The process that has reserved it, until it is a session; 0: it is one. */
    mishap_life reserved;
    mishap_mcp_session session;
    uint64_t standing;               /* its latest stream that belongs to no request */
    uint64_t told[MISHAP_MCP_LISTS]; /* how many changes of each list were announced there */
    int64_t used_ns;
    struct mishap_mcp_kept events;
    uint64_t event_numbers; /* of events, for other servers */
    uint64_t event_stored;  /* the last one that other servers can find */
    uint32_t version;       /* of its level and its subscriptions; 0: those of a new session */
    uint32_t stored;        /* … that other servers can find */
    bool listed;            /* it is in the list of `changed` sessions */
    bool restoring;         /* its state at another server is wanted … */
    bool doubtful;          /* … and no stream has asked yet what has changed since then */
    struct mishap_mcp_running running[MISHAP_MCP_RUNNING];
    struct mishap_mcp_taken taken[MISHAP_MCP_TAKEN_OVER];
};

enum { MISHAP_MCP_BLOCK = 256 };

/* An event is stored in blocks, with its head at the start of the first. */
struct mishap_mcp_block {
    uint32_t next; /* the next of the same event, or of the free blocks; 0: none */
    char data[MISHAP_MCP_BLOCK - sizeof(uint32_t)];
};

/* All of it is guarded by a robust lock: the kernel releases it when its holder dies. */
struct mishap_mcp_sessions {
    pthread_mutex_t lock;
    size_t mapped;
    int64_t idle_ns;
    size_t of_one;             /* sessions of one caller, at most */
    unsigned server;           /* its number, for ids; 0: it has none */
    uint64_t numbers, streams; /* given out so far */
    uint64_t changes[MISHAP_MCP_LISTS];
    mishap_shared_secret secret;                   /* for the codes in ids; it does not change */
    char file[MISHAP_MCP_PATH];                    /* where the secret is stored; empty: nowhere */
    uint64_t ended[MISHAP_MCP_ENDED], ended_count; /* a ring: see lasting.c */
    bool shared;                                   /* with other servers of a cluster: handover.c */
    _Atomic uint64_t handovers;                    /* grows when something is to be handed over */
    uint64_t changed[MISHAP_MCP_PLACES], changed_first, changed_count; /* a ring of numbers */
    struct mishap_mcp_wish wishes[MISHAP_MCP_WISHES];
    size_t count;
    struct mishap_mcp_place places[MISHAP_MCP_PLACES];
    uint32_t block_count, free_count, first_free;
    uint32_t used; /* blocks from here on were never used, and are not in the list of free ones */
    struct mishap_mcp_block blocks[]; /* block number n is at n - 1 */
};

/* session.c: take the lock; find a session by its number. */
void mishap_mcp_sessions_lock(mishap_mcp_sessions *sessions);
struct mishap_mcp_place *mishap_mcp_place_find(mishap_mcp_sessions *sessions, uint64_t number);

/* … free a place; free those of all sessions that have ended. */
void mishap_mcp_place_clear(mishap_mcp_sessions *sessions, struct mishap_mcp_place *place);
void mishap_mcp_places_clear_old(mishap_mcp_sessions *sessions);

/* room.c: make room for another session of this caller, or return the reason and the time after
 * which to try again. A session that was not used for a minute is idle. */
typedef enum mishap_mcp_room {
    MISHAP_MCP_ROOM,
    MISHAP_MCP_OVER_SHARE, /* the caller has as many as it may, and uses them */
    MISHAP_MCP_FULL,       /* all callers together have as many as possible, and use them */
} mishap_mcp_room;
mishap_mcp_room mishap_mcp_room_make(mishap_mcp_sessions *sessions, uint64_t holder, int64_t now,
                                     int64_t *wait_ns);
mishap *mishap_mcp_room_refuse(const mishap_mcp_sessions *sessions, mishap_mcp_room room,
                               int64_t wait_ns);
bool mishap_mcp_place_is_idle(const struct mishap_mcp_place *place, int64_t now);

/* Callers are counted in a hash table that is made when it is needed. */
enum { MISHAP_MCP_HOLDERS = 4096 };
static inline size_t mishap_mcp_holder_word(uint64_t holder)
{
    return holder & (MISHAP_MCP_HOLDERS - 1);
}

/* … compare in a time that does not depend on the bytes. */
bool mishap_mcp_same_bytes(const char *a, const char *b, size_t length);

/* session_id.c: the random part of a new id; then the rest of it, which has the revision and the
 * capabilities of the session; and both of an id that the server gave to this owner, NONE if it did
 * not. */
void mishap_mcp_id_draw(const mishap_mcp_sessions *s, char id[MISHAP_MCP_SESSION_ID + 1]);
void mishap_mcp_id_prove(const mishap_mcp_sessions *sessions, mishap_mcp_owner owner,
                         const mishap_mcp_session *session, char id[MISHAP_MCP_SESSION_ID + 1]);
mishap_mcp_revision mishap_mcp_id_check(const mishap_mcp_sessions *sessions, mishap_text id,
                                        mishap_mcp_owner owner, unsigned *capabilities);

/* lasting.c: remember that a session was ended, and return its place in the ring; was it ended?
 * These need the lock. The last one writes it to the file, without the lock. */
size_t mishap_mcp_ended_add(mishap_mcp_sessions *sessions, mishap_text id);
bool mishap_mcp_ended_has(const mishap_mcp_sessions *sessions, mishap_text id);
void mishap_mcp_ended_write(const mishap_mcp_sessions *sessions, mishap_text id, size_t at);

/* events.c: begin with no block in use; forget the events of one session, or of all. */
void mishap_mcp_events_begin(mishap_mcp_sessions *sessions);
void mishap_mcp_events_forget(mishap_mcp_sessions *sessions, struct mishap_mcp_place *place);
void mishap_mcp_events_forget_all(mishap_mcp_sessions *sessions);

/* handover.c: the state or an event of a session is to be stored, or its state is wanted. With the
 * lock. Nothing happens if the sessions are not shared. */
void mishap_mcp_place_changed(mishap_mcp_sessions *sessions, struct mishap_mcp_place *place);

/* events.c, for handover.c: the first event after a number; store one of another server; the call
 * of a stream is lost there. */
bool mishap_mcp_event_read(mishap_mcp_sessions *sessions, uint64_t session, uint64_t after,
                           mishap_handover_event *event, mishap_buffer *data);
void mishap_mcp_event_restore(mishap_mcp_sessions *sessions, uint64_t session,
                              const mishap_handover_event *event, mishap_text data);
void mishap_mcp_stream_lose(mishap_mcp_sessions *sessions, uint64_t session, uint64_t stream);

/* watch.c, for handover.c: all that a session watches, each with a NUL behind it; it watches what
 * it has watched at another server; addresses have changed at another server; which servers there
 * are. */
void mishap_mcp_watches_list(mishap_mcp_watches *watches, uint64_t session, mishap_buffer *uris);
void mishap_mcp_watch_restore(mishap_mcp_watches *watches, uint64_t session, uint64_t holder,
                              mishap_text uri);
int64_t mishap_mcp_watches_changes(mishap_mcp_watches *watches);
void mishap_mcp_watches_hear(mishap_mcp_watches *watches, uint32_t server, int64_t change,
                             mishap_text uris);
void mishap_mcp_watches_place(mishap_mcp_watches *watches, const mishap_position *position);

/* -- who watches what (watch.c) ---------------------------------------------------------------- */

/* Without its text, so that many can be scanned quickly. */
struct mishap_mcp_watch {
    uint64_t session; /* 0: the entry is incomplete */
    uint64_t holder;  /* the number of its caller */
    uint32_t hash;
    uint16_t length;
    bool changed; /* and not announced yet */
};

/* All of it is guarded by a robust lock: the kernel releases it when its holder dies. The count may
 * be read without the lock: it grows after everything else was written. A reader that sees a new
 * count takes the lock before it reads anything else. */
struct mishap_mcp_watches {
    pthread_mutex_t lock;
    size_t of_one;            /* of one caller, at most */
    _Atomic uint64_t count;   /* the number of changes so far */
    int64_t changes;          /* … at this server alone */
    mishap_position position; /* up to which changes of other servers are marked */
    size_t used;              /* entries of `watches` in use, from the start */
    struct mishap_mcp_watch watches[MISHAP_MCP_WATCHES];
    char uris[MISHAP_MCP_WATCHES][MISHAP_ADDRESS_LIMIT];
};

#endif
