/* The memory that all workers share, for session.c and events.c alone. */
#ifndef MISHAP_BOUNDARY_MCP_SHARED_H
#define MISHAP_BOUNDARY_MCP_SHARED_H

#include "boundary/mcp/session.h"

enum {
    MISHAP_MCP_PLACES = 4096,  /* of the table of sessions: a power of two */
    MISHAP_MCP_CALLER = 64,    /* the name of an API key has at most 63 characters */
    MISHAP_MCP_RUNNING = 64,   /* calls of a session that run at once */
    MISHAP_MCP_TAKEN_OVER = 16 /* streams of a session that are open as resumed ones */
};

/* A call that runs, in whichever worker. */
struct mishap_mcp_running {
    uint64_t id;     /* of the request: a hash of it */
    uint64_t stream; /* of its answer; 0: this one is free */
    pid_t worker;
    bool cancelled;
};

/* Who sends a stream since it was resumed. */
struct mishap_mcp_taken {
    uint64_t stream, by; /* 0: free */
};

/* Numbers of blocks; 0: none. */
struct mishap_mcp_kept {
    uint32_t first, last; /* event */
    uint32_t blocks;      /* that all of them take */
};

struct mishap_mcp_place {
    char id[MISHAP_MCP_SESSION_ID + 1]; /* empty: free */
    char caller[MISHAP_MCP_CALLER];
    mishap_mcp_session session;
    uint64_t standing; /* its latest stream that belongs to no request */
    int64_t used_ns;
    struct mishap_mcp_kept events;
    struct mishap_mcp_running running[MISHAP_MCP_RUNNING];
    struct mishap_mcp_taken taken[MISHAP_MCP_TAKEN_OVER];
    size_t next_taken;
};

enum { MISHAP_MCP_BLOCK = 256 };

/* An event lies in blocks, its head at the start of the first. */
struct mishap_mcp_block {
    uint32_t next; /* of the same event, or of those that are free; 0: none */
    char data[MISHAP_MCP_BLOCK - sizeof(uint32_t)];
};

/* All of it is guarded by the lock, which is given up by whoever dies with it. */
struct mishap_mcp_sessions {
    pthread_mutex_t lock;
    size_t mapped;
    int64_t idle_ns;
    uint64_t numbers, streams; /* given out so far */
    uint64_t changes[MISHAP_MCP_LISTS];
    size_t count;
    struct mishap_mcp_place places[MISHAP_MCP_PLACES];
    uint32_t block_count, free_count, first_free;
    struct mishap_mcp_block blocks[]; /* number n is at n - 1 */
};

/* session.c: take the lock, and find a session by its number. */
void mishap_mcp_sessions_lock(mishap_mcp_sessions *sessions);
struct mishap_mcp_place *mishap_mcp_place_find(mishap_mcp_sessions *sessions, uint64_t number);

/* events.c: forget the events of one, or of all. */
void mishap_mcp_events_forget(mishap_mcp_sessions *sessions, struct mishap_mcp_place *place);
void mishap_mcp_events_forget_all(mishap_mcp_sessions *sessions);

#endif
