/*
 * src/index: the incidents of a program in a database, so that an id leads to its record.
 *
 *     index.h      this file: opening, catching up, queries
 *     engine.h     what an engine is, and what all engines share
 *     index.c      the functions of index.h by the engine of an index
 *     inside.h     what the files share that keep the index in SQLite
 *     sqlite.c     SQLite, found when it is first needed
 *     map.c        a table from numbers to numbers
 *     statement.c  statements and failures of it
 *     line.c       a line of the journal as rows (for all engines)
 *     rows.c       rows as JSON (for all engines), and the rows of one file
 *     group.c      groups as JSON (for all engines)
 *     stats.c      counts by time (for all engines)
 *     day.c        one file: its tables, its kinds and callers
 *     day_put.c    … rows into it
 *     groups.c     groups.sqlite: places in journals, states of groups
 *     files.c      which files there are, and which are deleted
 *     owner.c      whose index it is
 *     write.c      from the journal into the files, batch by batch
 *     process.c    the process `mishap-index` of a server
 *     find.c       one incident by its id
 *     select.c     lists: filters into numbers of kinds, newest first
 *     summary.c    groups and their history
 *     stats_days.c counts by time, from the files
 *     tail.c       what happens now, from the journal
 *
 * The journal (incident/incident.h) is the record; the index can be made again from it. It lies in
 * DATA/incidents: one file a day, `2026-11-17.sqlite`, named by the time in the id of an incident,
 * and `groups.sqlite`, which stays. A day that becomes large continues in `2026-11-17.2.sqlite`.
 *
 * Or it lies in PostgreSQL, for several servers together (src/archive), if a program has handed
 * that engine in and an operator gives the address of a store.
 *
 * A program needs no SQLite to be linked: the one in the program is used if it has one, else
 * libsqlite3.so.0 is loaded. Without it there is no index, and everything else works.
 *
 * Any number of processes may have the index open. The one that writes has the lock of the folder
 * for the time of a batch: `mishap-index` of a server, or a command that finds the journal further
 * than the index.
 */
#ifndef MISHAP_INDEX_INDEX_H
#define MISHAP_INDEX_INDEX_H

#include "base/base.h"
#include "incident/follow.h"
#include "mishap/mishap.h"

typedef struct mishap_index mishap_index;
typedef struct mishap_index_engine mishap_index_engine;

/* The setting with the address of a store, of the service that has the index. */
#define MISHAP_INDEX_SERVICE "incidents"
#define MISHAP_INDEX_STORE   "incident_store"

typedef struct mishap_index_plan {
    const char *program; /* its name, for lines on stderr; may be NULL */
    const char *data;    /* the data folder of the program */
    const char *journal; /* the path of the journal; NULL: there is none, only queries work. In a
                            folder that belongs to a server with another one, a command gets an
                            index of its own, beside it */
    int days;            /* so many days are kept; 0: all; -1: as the last server had it, which
                            a command wants */
    uint64_t max_bytes;  /* the oldest files are deleted beyond that size of all; 0: never */
    int64_t now_ms;      /* the time, for tests; 0: that of the clock */
    const char *store;   /* postgresql://…, which may have a password in it; NULL: files */
} mishap_index_plan;

enum {
    MISHAP_INDEX_DAYS = 30,
    MISHAP_INDEX_MAX_MB = 1024,
    MISHAP_INDEX_GROUPS = 10000, /* of category validation half as many; then one "other" for each
                                    operation */
    MISHAP_INDEX_MOST_ROWS = 1000,
};

/* The engine for an index with a `store`, before there are other processes; NULL: there is none. */
void mishap_index_use(const mishap_index_engine *engine);

/* NOT_CONFIGURED: an index cannot have this store. The message does not repeat it. NULL is fine. */
mishap *mishap_index_store_check(const char *store);

/* Open the index; files and connections are opened when they are needed. It fails with
 * NOT_CONFIGURED if there is no SQLite, or no engine for a store, and UNAVAILABLE if the folder
 * cannot be made. */
mishap *mishap_index_open(const mishap_index_plan *plan, mishap_index **out);
void mishap_index_close(mishap_index *index);

/* The journal of the server that has this data folder, or had it last. False: there was none. */
bool mishap_index_journal_of(const char *data, char *journal, size_t size);

/*
 * Put what the journal has, and the index has not, into the index. If another process writes just
 * now, wait for its batch, for `wait_ms` at most. A failure does not matter for queries, which then
 * show what was indexed before.
 */
mishap *mishap_index_catch_up(mishap_index *index, int wait_ms);

/* -- queries: JSON is added to the buffer -------------------------------------------------------
 */

/* Text of length 0 and numbers that are 0 are no filter. */
typedef struct mishap_index_filter {
    int64_t from_ms, to_ms; /* from this time, and before that one; milliseconds since 1970 */
    mishap_text code, category, operation, caller, boundary, service;
    mishap_text not_operation; /* operations that begin so are left out */
    int64_t status;            /* as the boundary had it */
    mishap_text group;         /* 16 hexadecimal digits */
    mishap_text trace;         /* 32 hexadecimal digits */
    mishap_text text;          /* words of the message, each of which must be there */
    mishap_text cursor;        /* `next` of the page before */
    bool records;              /* each item is the whole record where there is one (export) */
    size_t limit;              /* rows of a page; 0: 50; at most MISHAP_INDEX_MOST_ROWS */
} mishap_index_filter;

/*
 * {"incidents":[{id,time,operation,boundary,service,caller,code,category,status,message,group,
 * duration_us,whole,like}],"next":"cursor" or null}, the newest first. A page may have fewer rows
 * than the limit, or none, and a `next`: few rows fit, and the search goes on with the next page.
 * VALIDATION_ERROR if a filter is malformed.
 */
mishap *mishap_index_list(mishap_index *index, const mishap_index_filter *filter,
                          mishap_buffer *json);

/* One incident. *whole: the text is the record as it is in the journal; otherwise it is the row of
 * a list, and `like` is the id of a like record, if there is one. */
typedef struct mishap_index_found {
    bool whole;
    int64_t time_ms;
    char like[MISHAP_ID_LENGTH + 1]; /* "": none */
    char group[16 + 1];
    char trace[32 + 1]; /* "": none */
    char caller[256];   /* "": none */
    char server[64];    /* the host of the server, if there may be several; "": it is this one */
} mishap_index_found;

/* NOT_FOUND says, by the time in the id, whether it is older than what is kept. Capitals and
 * missing hyphens are fine; what is no id is VALIDATION_ERROR. */
mishap *mishap_index_find(mishap_index *index, mishap_text id, mishap_index_found *found,
                          mishap_buffer *json);

/* True if the index has this id; nothing is written. */
bool mishap_index_has(mishap_index *index, mishap_text id);

/* [rows]: other incidents of the same trace; of the same caller within five minutes before and
 * after, the nearest `limit` of them. An empty list if it has no trace or caller. */
mishap *mishap_index_same_trace(mishap_index *index, const mishap_index_found *found,
                                mishap_text id, mishap_buffer *json);
mishap *mishap_index_near(mishap_index *index, const mishap_index_found *found, mishap_text id,
                          size_t limit, mishap_buffer *json);

typedef enum mishap_group_state {
    MISHAP_GROUP_NEW, /* first seen within the last 24 hours */
    MISHAP_GROUP_KNOWN,
    MISHAP_GROUP_RESOLVED,
    MISHAP_GROUP_REGRESSED, /* it has failed again since it was resolved */
    MISHAP_GROUP_MUTED,
    MISHAP_GROUP_STATES,
} mishap_group_state;

/* "new", "known" … */
extern const char *const mishap_group_state_names[MISHAP_GROUP_STATES];

typedef struct mishap_index_groups_filter {
    unsigned states; /* bits 1 << state; 0: all */
    mishap_text code, category, operation, service;
    mishap_text not_operation; /* operations that begin so are left out */
    mishap_text cursor;
    size_t limit; /* 0: 50 */
} mishap_index_groups_filter;

/* {"groups":[{group,operation,code,category,message,place,count,first,last,state,trend:[24 counts
 * by hour, the last one is the running hour],like}],"next"}, by the time of the last failure. */
mishap *mishap_index_groups(mishap_index *index, const mishap_index_groups_filter *filter,
                            mishap_buffer *json);

/* One group as above, with `days`: [{day,count}] of the files that are kept, and `history`:
 * [{time,state}] of what was decided about it. NOT_FOUND: it is unknown. */
mishap *mishap_index_group(mishap_index *index, mishap_text group, mishap_buffer *json);

/* Resolve or mute it; or take that back, if it is the last thing that was decided: then the group
 * has the state from before. NOT_FOUND: it is unknown. */
mishap *mishap_index_group_set(mishap_index *index, mishap_text group, mishap_group_state state);
mishap *mishap_index_group_undo(mishap_index *index, mishap_text group, mishap_group_state state);

/* {"from","to","step_s","series":[{"category","counts":[…]}],"codes":[{code,count}],"operations":
 * [{operation,count}],"callers":[{caller,count}],"total"}: at most 1,500 steps of a minute, an hour
 * or a day each; callers are counted by hours. No `to`: now; no `from`: a day before; no `step_s`:
 * what gives at most 300 steps. Code, category and operation filter, too. */
typedef struct mishap_index_span {
    int64_t from_ms, to_ms;
    int step_s; /* 60, 3600 or 86400; 0: chosen */
    mishap_text code, category, operation;
} mishap_index_span;
mishap *mishap_index_stats(mishap_index *index, const mishap_index_span *span, mishap_buffer *json);

/* -- a server -------------------------------------------------------------------------------------
 */

/*
 * The process `mishap-index`, which puts what comes into the journal into the index. It is a child
 * of the process that starts it and is started again when it dies. It sleeps until the journal
 * changes, and tells /health and metrics what it does (incident/readers.h).
 */
void mishap_index_process_start(const mishap_index_plan *plan);

/* A child has ended or was stopped. True: it was this one. */
bool mishap_index_process_ended(int pid, int status);
void mishap_index_process_look(void); /* to be called now and then */
void mishap_index_process_end(void);

/* -- what happens now ----------------------------------------------------------------------------
 */

/*
 * Incidents as they come into the journal, in the order of arrival: an id has the time at which its
 * request began, so a list by ids could pass over some. No index is needed. `text` is a part of the
 * message, and times do not filter.
 */
typedef struct mishap_index_tail mishap_index_tail;
mishap *mishap_index_tail_open(const char *journal, const mishap_index_filter *filter,
                               mishap_index_tail **out);

/* The same from a place on (mishap_index_tail_at), for a reader that comes back; NULL: from the end
 * of the journal. */
mishap *mishap_index_tail_open_at(const char *journal, const mishap_follow_place *from,
                                  const mishap_index_filter *filter, mishap_index_tail **out);

/* The place behind the last line that was read. A line can have many rows: is_inside() says that
 * some of them are still to come, which a reader that goes on from this place would miss. */
mishap_follow_place mishap_index_tail_at(const mishap_index_tail *tail);
bool mishap_index_tail_is_inside(const mishap_index_tail *tail);

/* Add the next row, as in a list. False: there is none now. */
bool mishap_index_tail_next(mishap_index_tail *tail, mishap_buffer *json);
void mishap_index_tail_close(mishap_index_tail *tail);

#endif
