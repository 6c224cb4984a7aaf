/*
 * A server as one loop has it: what every request needs, and nothing of sockets or processes. It
 * belongs to the thread of the loop.
 */
#ifndef MISHAP_SERVER_STATE_H
#define MISHAP_SERVER_STATE_H

#include <uv.h>

#include "server/server.h"

struct mishap_http_exchange;

/* Bytes in server->out: how many are written before more requests are answered, and how much memory
 * is kept for the next ones. */
enum { MISHAP_HTTP_OUT_MUCH = 256 * 1024, MISHAP_HTTP_OUT_KEPT = 1024 * 1024 };

/* Two callers with the same word share one allowance. An attacker cannot choose the word of
 * another caller. */
enum { MISHAP_HTTP_SHARE_WORDS = 1 << 14 };

struct mishap_http_server {
    const mishap_http_settings *settings;
    const mishap_http_routes *routes;
    mishap_http_metrics *metrics; /* shared by all loops; NULL: nothing is counted */
    mishap_http_rates *rates;     /* shared by all loops; NULL: no limits */
    mishap_http_bodies *bodies;   /* shared by all loops; NULL: no limit */
    size_t place;                 /* of this loop in it … */
    size_t held_elsewhere;        /* … and what the others held when that was looked at last */
    mishap_http_access *access;   /* NULL: no log */
    uv_loop_t *loop;              /* for the handles of extensions; NULL: there is none */
    void *states[MISHAP_HTTP_MOST_EXTENSIONS]; /* of the extensions */
    size_t open_extensions;                    /* … how many of them are open */
    char date[64];                             /* of now, as the field Date has it */
    size_t date_length;
    int64_t now_ms, now_ns; /* when this turn of the loop began: of the calendar, monotonic */
    uint64_t turn;          /* the number of this turn of the loop */
    int64_t turn_ends_ns;   /* nobody goes on in this turn after that (turn.c); 0: there are none */
    int64_t told_ns;        /* when the latest reply was told of */
    mishap_http_task *first_task, *last_task; /* that wait for a later turn */
    void (*wake)(mishap_http_server *server); /* let there be one soon; NULL: there is no loop */
    bool draining;                            /* every reply is the last of its connection */

    mishap_http_reply reply; /* of the request at hand; its memory is used again and again */
    mishap_buffer out;       /* bytes for the connection at hand */
    mishap_buffer aside;     /* bytes for another one: of an answer that came later */

    /* The request that an endpoint looks at, while it does; see mishap_http_defer(). */
    struct {
        struct mishap_http_exchange *exchange; /* NULL: none */
        int64_t route;
        bool deferred;
    } at_hand;

    /* Write to an exchange that is not at hand, behind all that was written to it before. Text
     * without data: there was no memory for it, and the connection ends. False: it is closed. */
    bool (*push)(mishap_http_server *server, struct mishap_http_exchange *exchange,
                 mishap_text bytes);

    /* … is there something that was not written yet? NULL: there never is. */
    bool (*lags)(const struct mishap_http_exchange *exchange);

    /* … its answer is complete: read on, but not before who calls this has returned. */
    void (*go_on)(mishap_http_server *server, struct mishap_http_exchange *exchange);

    /* Streams that are open: all of them, and those of each caller, by its number. */
    size_t streams;
    uint16_t streams_of[MISHAP_HTTP_SHARE_WORDS];

    /* Revoke every answer that comes later to a request with this key. NULL: there are none. */
    void (*revoke)(mishap_http_server *server, uint64_t key);
};

/* Make what a server needs beside its routes and extensions, and give it back. */
mishap *mishap_http_server_open(mishap_http_server *server);
void mishap_http_server_close(mishap_http_server *server);

/* A turn of the loop begins: requests that are answered in it came now. */
void mishap_http_server_look_at_clock(mishap_http_server *server);

/* Connections are answered now, for so long; the same once more, for those that wait since an
 * earlier turn; and: one task that waits goes on. False: none waits.
 */
void mishap_http_turn_begin(mishap_http_server *server);
void mishap_http_turn_extend(mishap_http_server *server);
bool mishap_http_task_next(mishap_http_server *server);

/* To be called several times a second: the date, the access log, the extensions. */
void mishap_http_server_tick(mishap_http_server *server);

/* -- extensions -------------------------------------------------------------------------------- */

/* In the supervisor: prepare all of them. `shared` has room for one pointer each. If one fails, it
 * and those before it are dismissed already. */
mishap *mishap_http_extensions_prepare(const mishap_http_settings *settings, void **shared);

/* … and dismiss them, in the opposite order. */
void mishap_http_extensions_dismiss(const mishap_http_settings *settings, void *const *shared);

/* … a loop is forked, and has ended. `numbers` has room for one of each. */
void mishap_http_extensions_before_loop(const mishap_http_settings *settings, void *const *shared,
                                        int *numbers);
void mishap_http_extensions_loop_forked(const mishap_http_settings *settings, void *const *shared);
void mishap_http_extensions_loop_ended(const mishap_http_settings *settings, void *const *shared,
                                       const int *numbers);
bool mishap_http_extensions_child_ended(const mishap_http_settings *settings, void *const *shared,
                                        int pid, int status);
void mishap_http_extensions_look(const mishap_http_settings *settings, void *const *shared);
size_t mishap_http_extensions_files(const mishap_http_settings *settings, void *const *shared);

/* In a loop: open all of them, with what was prepared. */
mishap *mishap_http_extensions_open(mishap_http_server *server, void *const *shared);
void mishap_http_extensions_tick(mishap_http_server *server);
void mishap_http_extensions_drain(mishap_http_server *server);
void mishap_http_extensions_revoke(mishap_http_server *server, uint64_t key);
bool mishap_http_extensions_busy(const mishap_http_server *server);

void mishap_http_extensions_close(mishap_http_server *server);

/* -- header fields ----------------------------------------------------------------------------- */

/* What it means that a field stands there more than once. */
typedef enum mishap_http_repeats {
    MISHAP_HTTP_ONCE,  /* it must not */
    MISHAP_HTTP_FIRST, /* the first counts */
    MISHAP_HTTP_LIST,  /* all of them are one list: RFC 9110, 5.3 */
} mishap_http_repeats;

enum { MISHAP_HTTP_LONGEST_NAME = 63 }; /* of a field that is kept */

/* The fields that are kept. Those of the same length are a chain. */
struct mishap_http_fields {
    size_t count;
    struct mishap_http_kept_field {
        mishap_text name;
        mishap_http_repeats repeats;
        bool from_pages, to_pages; /* as its wish says */
        int8_t next;               /* of the same length; -1: none */
    } kept[MISHAP_HTTP_MOST_FIELDS];
    int8_t by_length[MISHAP_HTTP_LONGEST_NAME + 1]; /* the first; -1: none */
    mishap_buffer allowed; /* names that pages of other origins may send, with commas between */
    mishap_buffer exposed; /* … and may read */
};

/* -- replies ----------------------------------------------------------------------------------- */

/* Empty a reply for the next use. */
void mishap_http_reply_reset(mishap_http_reply *reply);

/* The head of a reply whose body comes in pieces. */
void mishap_http_put_head(mishap_buffer *out, const mishap_http_server *server,
                          const mishap_http_request *request, const mishap_http_reply *reply,
                          bool chunked);

/* The whole reply at the end of the buffer, or if there is no memory nothing of it. */
void mishap_http_put_reply(mishap_buffer *out, const mishap_http_server *server,
                           const mishap_http_request *request, const mishap_http_reply *reply);

/* Where a request leads: match->endpoint is NULL if that is nowhere. */
bool mishap_http_find(mishap_http_server *server, mishap_http_request *request,
                      mishap_http_match *match);

/* The most bytes that the body of such a request may have. */
size_t mishap_http_body_limit(const mishap_http_server *server, const mishap_http_match *match);

/* The head of a request is known: where does it lead, may it? True: it can be answered. False: the
 * reply is ready. `again`: that was asked before, and its body has come in meanwhile. */
bool mishap_http_enter(mishap_http_server *server, mishap_http_request *request, bool again,
                       mishap_http_match *match, mishap_http_reply *reply);

/* Make a reply of a failure as the endpoint spells it; it may be NULL. Takes the failure. */
void mishap_http_refuse_at(mishap_http_server *server, const mishap_http_request *request,
                           const mishap_http_match *match, mishap_http_reply *reply,
                           mishap *failure);

/* Answer a request that may be answered. True: the reply is ready. False: its endpoint answers the
 * exchange later, or has done so. */
bool mishap_http_answer(mishap_http_server *server, struct mishap_http_exchange *exchange,
                        const mishap_http_request *request, const mishap_http_match *match,
                        mishap_http_reply *reply);

/* -- bodies ------------------------------------------------------------------------------------ */

/* This loop holds so many bytes more of requests, or fewer. */
void mishap_http_bodies_add(mishap_http_server *server, size_t more);
void mishap_http_bodies_remove(mishap_http_server *server, size_t fewer);

/* May all loops together hold so many more? Of few bytes it is judged by what the others held a
 * moment ago. */
bool mishap_http_bodies_fit(mishap_http_server *server, size_t more);

/* Several times a second: look at what the others hold. */
void mishap_http_bodies_look(mishap_http_server *server);

/* UNAVAILABLE: they do not fit. */
mishap *mishap_http_bodies_full(void);

#endif
