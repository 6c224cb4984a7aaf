/*
 * A store in one SQLite file with a write-ahead log, which several processes use at once.
 *
 * A process has one connection, because it runs one call at a time, and a call one query at a time.
 * Readers never wait. Writers of all processes queue at a separate lock of the store, and the
 * kernel wakes the next writer; with SQLite's own lock each writer would have to poll. SQLite's
 * lock is still taken for each write, because other programs do not use the queue.
 *
 * The wait in the queue has no limit of its own. A worker is killed when the time of its call is
 * up, and a command ends when its own time is up.
 *
 * A change that was confirmed to the caller survives a power failure. If the file is removed or
 * replaced, nothing is written to it any more: every query fails until the process opens the store
 * again.
 */
#ifndef MISHAP_STORE_SQLITE_H
#define MISHAP_STORE_SQLITE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "store/store.h"

/* A store is three files: the data, the log, and the index of the log. */
enum { STORE_DATA, STORE_LOG_FILE, STORE_INDEX_FILE, STORE_FILES };

struct sqlite_place {
    dev_t device;
    ino_t number; /* 0: there was none */
};

/* Statements that begin and end transactions, prepared when first needed. */
enum sqlite_control {
    CONTROL_BEGIN,
    CONTROL_COMMIT,
    CONTROL_ROLLBACK,
    CONTROL_SAVEPOINT,
    CONTROL_RELEASE,
    CONTROL_ROLLBACK_TO,
    CONTROLS
};

typedef struct sqlite_store {
    mishap_store base;
    sqlite3 *database; /* NULL: closed after a failure, and the next query connects again */

    /*
     * A descriptor of the same file, for the lock at which writers queue; -1: there is none, and
     * writers meet at SQLite's lock.
     *
     * When a process closes any descriptor of a file, the kernel drops all POSIX locks that the
     * process has on that file, and SQLite's locks are such locks. So this one is closed only after
     * SQLite has closed the file, and no second store of the process may be on the same file.
     */
    int queue;
    bool connecting;       /* it connects to a store that was open before */
    bool has_turn;         /* this process holds the lock of the queue */
    sqlite3_stmt *running; /* NULL: no query runs */
    /* Statements of the schema, prepared when first needed; behind the paths. */
    sqlite3_stmt **kept;
    sqlite3_stmt *controls[CONTROLS];
    struct sqlite_place places[STORE_FILES]; /* the files that are open */
    int64_t looked_ms;                       /* when their paths were last checked */
    char *paths[STORE_FILES];                /* in `path` */
    char path[];
} sqlite_store;

/* -- sqlite.c ---------------------------------------------------------------------------------- */

/* True if this result means that another process holds a lock. */
bool mishap_sqlite_is_busy(int result);
store_trouble mishap_sqlite_trouble(const sqlite_store *store, int result);

/* The last error of SQLite as a mishap; NULL if it is no error. SQLite's own words are for the
 * operator only. */
mishap *mishap_sqlite_failure(const sqlite_store *store, int result);

/* Sleep before the next try; each time a little longer. The second is what SQLite calls for
 * that. */
void mishap_sqlite_pause(int times);
int mishap_sqlite_wait_for_others(void *store, int times);

/* Queue up behind other writers, in this process and in others; and let the next one go on. */
void mishap_sqlite_wait_for_turn(sqlite_store *store);
void mishap_sqlite_end_turn(sqlite_store *store);

/* Set up a connection that was just made; and close it, which also ends its turn. */
int mishap_sqlite_set_up(sqlite_store *store);
void mishap_sqlite_disconnect(sqlite_store *store);

/*
 * When it closes a file, SQLite would fold the log into the file and remove the log. It must not do
 * so with a file that is damaged, is another store, or is gone: then the log belongs to the file
 * that is there now.
 */
void mishap_sqlite_leave_log_alone(sqlite3 *database, bool alone);

/* -- sqlite_open.c ----------------------------------------------------------------------------- */

mishap *mishap_sqlite_open_store(mishap_store *store, const char *identity);

/* Connect to the store of this identity, and to no other. */
mishap *mishap_sqlite_connect_again(sqlite_store *store, const char *identity);

/* Are the files still those that were opened? If they are not, the connection is closed. Before a
 * change all of them are looked up, after it the one with the data, and for those who only read the
 * same, but not at every query: each look is a system call. */
typedef enum sqlite_look { STORE_READS, STORE_WILL_WRITE, STORE_HAS_WRITTEN } sqlite_look;
mishap *mishap_sqlite_look_for_files(sqlite_store *store, sqlite_look when);

/* -- sqlite_query.c ---------------------------------------------------------------------------- */

extern const store_engine mishap_sqlite_engine;

#endif
