/*
 * The inside of a store, for the files that it is made of:
 *
 *     store.c  the connection, one query after the other, and the queue of writers
 *     open.c   the files, their tables and their identity
 */
#ifndef TODO_INSIDE_H
#define TODO_INSIDE_H

#include <sys/types.h>

#include "todo/store.h"

enum { TODO_SHORT_PATIENCE = 1000 }; /* milliseconds to wait for a store that was open before */

/* A store is three files: the data, the log, and the index of the log. */
enum { TODO_DATA, TODO_LOG, TODO_INDEX, TODO_FILES };

struct todo_place {
    dev_t device;
    ino_t number; /* 0: there was none */
};

struct todo_store {
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
    bool connecting;                     /* to a store that was open before */
    bool has_turn;                       /* the lock of the queue is ours */
    int64_t begun_ms;                    /* the query, or connecting, on the monotonic clock */
    sqlite3_stmt *running;               /* NULL: no query is under way */
    sqlite3_stmt *kept[TODO_STATEMENTS]; /* prepared when first needed */
    char identity[TODO_IDENTITY];
    struct todo_place places[TODO_FILES]; /* of the files that are open */
    int64_t looked_ms;                    /* when they were looked up, the last time */
    mishap_call *call;                    /* that runs; NULL: none */
    char *paths[TODO_FILES];              /* in `path` */
    char path[];
};

/* -- store.c ----------------------------------------------------------------------------------- */

/* Does this result mean that others are in the way? */
bool todo_is_busy(int result);

/* A store that was open cannot be used any more: the library is told, and callers. The cause is for
 * the operator. */
mishap *todo_store_lost(todo_store *store, mishap *cause);

int64_t todo_now_ms(void);

/* Before looking once more; each time a little longer. And what SQLite calls for that. */
void todo_pause(int times);
int todo_wait_for_others(void *store, int times);

/* A connection that was just made; and its end, with that of our turn. */
int todo_store_set_up(todo_store *store);
void todo_store_disconnect(todo_store *store);
void todo_store_end_turn(todo_store *store);

/*
 * At the end SQLite would fold the log into the file and remove the log. It must not do so with a
 * file that is damaged, is another store, or is gone: then the log is that of the file in its
 * place.
 */
void todo_leave_log_alone(sqlite3 *database, bool alone);

/* -- open.c ------------------------------------------------------------------------------------ */

/* Connect to the store of this identity, and nothing else. */
mishap *todo_store_connect_again(todo_store *store, const char *identity);

#endif
