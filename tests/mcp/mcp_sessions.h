/* A table of sessions, for a test. */
#ifndef MISHAP_MCP_SESSIONS_H
#define MISHAP_MCP_SESSIONS_H

#include "mcp/sessions/shared.h"
#include "testing.h"

enum { HOUR_MS = 3600 * 1000, MOST = 2048, OF_A_CALLER = 512, RUNNING = 64, TAKEN = 16 };

static inline mishap_mcp_sessions *make(size_t event_bytes, int64_t idle_ms)
{
    mishap_mcp_sessions *sessions;
    assert_null(mishap_mcp_sessions_make(event_bytes, idle_ms, OF_A_CALLER, &sessions));
    return sessions;
}

/* The caller of this name, with the first key that it had. */
static inline mishap_mcp_owner owner(const char *name)
{
    uint64_t key = 0;
    for (const char *at = name; at && *at; at++)
        key = key * 31 + (unsigned char)*at;
    return (mishap_mcp_owner){ name, key };
}

/* Of this revision, counted under a number; 0: not at all. */
static inline mishap *try_revision(mishap_mcp_sessions *sessions, mishap_mcp_owner who,
                                   uint64_t holder, mishap_mcp_revision revision, char *id)
{
    mishap_mcp_session session = { 0 };
    mishap *failure = mishap_mcp_session_reserve(sessions, who, holder, &session, id);
    session.revision = revision;
    session.level = MISHAP_INFO;
    if (!failure)
        mishap_mcp_session_begin(sessions, who, &session, id);
    return failure;
}

static inline mishap *try(mishap_mcp_sessions *sessions, const char *caller, uint64_t holder,
                          char *id)
{
    return try_revision(sessions, owner(caller), holder, MISHAP_MCP_2025_11_25, id);
}

static inline void begin(mishap_mcp_sessions *sessions, const char *caller, char *id)
{
    assert_null(try(sessions, caller, 0, id));
}

/* The number of a session; 0: there is none. */
static inline uint64_t find(mishap_mcp_sessions *sessions, const char *id, const char *caller)
{
    mishap_mcp_session session;
    return mishap_mcp_session_find(sessions, mishap_text_of(id), owner(caller), &session)
               ? session.number
               : 0;
}

static inline bool end(mishap_mcp_sessions *sessions, const char *id, mishap_mcp_owner who)
{
    uint64_t number;
    return mishap_mcp_session_end(sessions, mishap_text_of(id), who, &number);
}

/* A session, and its number. */
static inline uint64_t begin_one(mishap_mcp_sessions *sessions)
{
    char id[MISHAP_MCP_SESSION_ID + 1];
    begin(sessions, NULL, id);
    return find(sessions, id, NULL);
}

/* So much time passes in which it is not used. */
static inline void pass_minutes(mishap_mcp_sessions *s, uint64_t number, int64_t minutes)
{
    mishap_mcp_place_find(s, number)->used_ns -= minutes * 60 * INT64_C(1000000000);
}

enum { ADA = 1, BOB, CAT, DAN, EVE };

static inline bool begins(mishap_mcp_sessions *s, uint64_t holder, char *id)
{
    mishap *m = try(s, NULL, holder, id);
    mishap_free(m);
    return !m;
}

static inline void assert_refusal(mishap *m, const mishap_code *code, const char *words)
{
    assert_non_null(m);
    const mishap_public *told = mishap_told(m);
    assert_ptr_equal(told->code, code);
    assert_non_null(strstr(mishap_public_message(told).data, words));
    assert_in_range(told->retry_after_ms, 1, 60000);
    mishap_free(m);
}

/* What is behind a place: the event, and of a stream that cannot go on the id of its call. */
static inline mishap_mcp_next behind(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                                     uint64_t place, const char *expected, bool expected_last)
{
    static char text[4096];
    bool last = false;
    mishap_buffer data = { 0 };
    mishap_mcp_next next = mishap_mcp_event_next(s, session, stream, place, &data, &last);
    snprintf(text, sizeof text, "%.*s", (int)data.length, data.data ? data.data : "");
    assert_string_equal(text, expected);
    assert_int_equal(last, expected_last);
    mishap_buffer_release(&data);
    return next;
}

/* -- keys, and what outlasts a server ---------------------------------------------------------- */

static inline bool revive(mishap_mcp_sessions *s, const char *id, mishap_mcp_owner who,
                          mishap_mcp_session *session)
{
    mishap *failure = mishap_mcp_session_revive(s, mishap_text_of(id), who, 0, session);
    if (failure)
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_FOUND);
    mishap_free(failure);
    return !failure;
}

#endif
