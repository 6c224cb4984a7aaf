/*
 * The state of a server in one loop: what every request needs, but nothing about sockets or
 * processes. It belongs to the thread of the loop.
 */
#ifndef MISHAP_SERVER_STATE_H
#define MISHAP_SERVER_STATE_H

#include <uv.h>

#include "server/access.h"
#include "server/server.h"

struct mishap_http_exchange;

/* Bytes in server->out: how many are written before more requests are answered, and how much memory
 * is kept for the next replies. */
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
    size_t place;                 /* the place of this loop in it … */
    size_t held_elsewhere;        /* … and the bytes of the others at the last check */
    mishap_http_access *access;   /* NULL: no log */
    uv_loop_t *loop;              /* for the handles of extensions; NULL: there is none */
    void *states[MISHAP_HTTP_MOST_EXTENSIONS]; /* one for each extension */
    size_t open_extensions;                    /* … how many of them are open */
    char date[64];                             /* the current value of the field Date */
    size_t date_length;
    /* When this iteration of the loop began: calendar time, monotonic time. */
    int64_t now_ms, now_ns;
    uint64_t turn;        /* the number of this iteration of the loop */
    int64_t turn_ends_ns; /* after this, no connection continues in this iteration (turn.c); 0: no
                             iterations */
    int64_t told_ns;      /* when the latest reply was counted */
    mishap_http_task *first_task, *last_task; /* tasks that wait for a later iteration */
    void (*wake)(mishap_http_server *server); /* start an iteration soon; NULL: there is no loop */
    bool draining;                            /* each connection ends with its next reply */
    bool stopping;                            /* the whole server was told to stop */
    int64_t stops_ns;                         /* … and when it will have stopped; 0: it was not */

    mishap_http_reply reply; /* of the current request; its memory is reused */
    mishap_buffer out;       /* bytes for the current connection */
    mishap_buffer aside;     /* bytes for another one: of a deferred answer */

    /* The request that an endpoint is processing now; see mishap_http_defer(). */
    struct {
        struct mishap_http_exchange *exchange; /* NULL: none */
        int64_t route;
        bool deferred;
    } at_hand;

    /* Write to an exchange that is not the current one, after everything that was written to it
     * before. Text without data: there was no memory for it, and the connection ends. False: it is
     * closed. */
    bool (*push)(mishap_http_server *server, struct mishap_http_exchange *exchange,
                 mishap_text bytes);

    /* … true if some of it was not written yet. NULL: always false. */
    bool (*lags)(const struct mishap_http_exchange *exchange);

    /* … its answer is complete: go on reading, but not before the caller of this function has
     * returned. */
    void (*go_on)(mishap_http_server *server, struct mishap_http_exchange *exchange);

    /* Open streams: all of them, and those of each caller, by its number. */
    size_t streams;
    uint16_t streams_of[MISHAP_HTTP_SHARE_WORDS];

    /* Revoke every deferred answer to a request with this key or of this caller (NULL: of any key),
     * or, without either, whose `ends_s` has passed. NULL: there are none. */
    void (*revoke)(mishap_http_server *server, uint64_t key, const char *caller, int64_t now_s);
};

/* Create what a server needs beside its routes and extensions, and release it. */
mishap *mishap_http_server_open(mishap_http_server *server);
void mishap_http_server_close(mishap_http_server *server);

/* An iteration of the loop begins: its time counts as the arrival of the requests in it. */
void mishap_http_server_look_at_clock(mishap_http_server *server);

/* The time for answering connections begins; it begins once more for those that wait since an
 * earlier iteration. The third: one waiting task goes on. False: none waits. */
void mishap_http_turn_begin(mishap_http_server *server);
void mishap_http_turn_extend(mishap_http_server *server);
bool mishap_http_task_next(mishap_http_server *server);

/* To be called several times per second: updates the date, the access log, the extensions. */
void mishap_http_server_tick(mishap_http_server *server);

/* -- extensions -------------------------------------------------------------------------------- */

/* In the supervisor, before anything else: let them read their settings. */
mishap *mishap_http_extensions_read(const mishap_http_settings *settings);

/* In the supervisor: prepare all of them. `shared` has room for one pointer each. If one fails, it
 * and those before it are dismissed already. */
mishap *mishap_http_extensions_prepare(const mishap_http_settings *settings, void **shared);

/* … and dismiss them, in reverse order. */
void mishap_http_extensions_dismiss(const mishap_http_settings *settings, void *const *shared);

/* … a loop is forked, and has ended. `numbers` has room for one number of each extension. */
void mishap_http_extensions_before_loop(const mishap_http_settings *settings, void *const *shared,
                                        int *numbers);
void mishap_http_extensions_loop_forked(const mishap_http_settings *settings, void *const *shared);
void mishap_http_extensions_loop_ended(const mishap_http_settings *settings, void *const *shared,
                                       const int *numbers);
bool mishap_http_extensions_child_ended(const mishap_http_settings *settings, void *const *shared,
                                        int pid, int status);
void mishap_http_extensions_look(const mishap_http_settings *settings, void *const *shared);
size_t mishap_http_extensions_wakes(const mishap_http_settings *settings, void *const *shared,
                                    int files[]);
size_t mishap_http_extensions_files(const mishap_http_settings *settings, void *const *shared);

/* In a loop: open all of them, with what was prepared. */
mishap *mishap_http_extensions_open(mishap_http_server *server, void *const *shared);
void mishap_http_extensions_tick(mishap_http_server *server);
void mishap_http_extensions_drain(mishap_http_server *server);
size_t mishap_http_extensions_sessions(const mishap_http_server *server);
void mishap_http_extensions_revoke(mishap_http_server *server, uint64_t key, const char *caller);
bool mishap_http_extensions_busy(const mishap_http_server *server);
void mishap_http_extensions_measure(const mishap_http_server *server, mishap_http_measures *to);

void mishap_http_extensions_close(mishap_http_server *server);

/* -- header fields ----------------------------------------------------------------------------- */

/* What a repeated field means. */
typedef enum mishap_http_repeats {
    MISHAP_HTTP_ONCE,  /* an error */
    MISHAP_HTTP_FIRST, /* the first counts */
    MISHAP_HTTP_LIST,  /* all of them form one list: RFC 9110, 5.3 */
} mishap_http_repeats;

enum { MISHAP_HTTP_LONGEST_NAME = 63 }; /* of a field name that is kept */

/* The fields that are kept. Fields of the same length form a chain. */
struct mishap_http_fields {
    size_t count;
    struct mishap_http_kept_field {
        mishap_text name;
        mishap_http_repeats repeats;
        bool from_pages, to_pages; /* as declared by the extension */
        int8_t next;               /* the next of the same length; -1: none */
    } kept[MISHAP_HTTP_MOST_FIELDS];
    int8_t by_length[MISHAP_HTTP_LONGEST_NAME + 1]; /* the first of each length; -1: none */
    mishap_buffer allowed; /* comma-separated names that pages of other origins may send */
    mishap_buffer exposed; /* … and may read */
};

/* -- replies ----------------------------------------------------------------------------------- */

/* Reset a reply for its next use. */
void mishap_http_reply_reset(mishap_http_reply *reply);

/* Write the head of a reply whose body comes in pieces. */
void mishap_http_put_head(mishap_buffer *out, const mishap_http_server *server,
                          const mishap_http_request *request, const mishap_http_reply *reply,
                          bool chunked);

/* Write the whole reply at the end of the buffer; if there is no memory, nothing of it. */
void mishap_http_put_reply(mishap_buffer *out, const mishap_http_server *server,
                           const mishap_http_request *request, const mishap_http_reply *reply);

/* The largest body of such a request, in bytes. request->passing is set if its body is passed on in
 * pieces. */
size_t mishap_http_body_limit(const mishap_http_server *server, mishap_http_request *request,
                              const mishap_http_match *match);

/* The head of a request is known: find its endpoint, and check it. True: it can be answered. False:
 * the reply is ready. `again`: it was checked before, and its body has arrived meanwhile. */
bool mishap_http_enter(mishap_http_server *server, mishap_http_request *request, bool again,
                       mishap_http_match *match, mishap_http_reply *reply);

/* Make a reply of a failure in the format of the endpoint, which may be NULL. Takes the failure. */
void mishap_http_refuse_at(mishap_http_server *server, const mishap_http_request *request,
                           const mishap_http_match *match, mishap_http_reply *reply,
                           mishap *failure);

/* Answer a request that was checked. True: the reply is ready. False: it was deferred, and may have
 * been answered already. */
bool mishap_http_answer(mishap_http_server *server, struct mishap_http_exchange *exchange,
                        const mishap_http_request *request, const mishap_http_match *match,
                        mishap_http_reply *reply);

/* -- bodies ------------------------------------------------------------------------------------ */

/* This loop holds so many bytes of requests more, or fewer. */
void mishap_http_bodies_add(mishap_http_server *server, size_t more);
void mishap_http_bodies_remove(mishap_http_server *server, size_t fewer);

/* True if all loops together may hold so many more. A small number is judged by what the others
 * held a moment ago. */
bool mishap_http_bodies_fit(mishap_http_server *server, size_t more);

/* Several times per second: read what the other loops hold. */
void mishap_http_bodies_look(mishap_http_server *server);

/* UNAVAILABLE: there is no room for the body. */
mishap *mishap_http_bodies_full(void);

#endif
