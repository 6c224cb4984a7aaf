/*
 * Tasks as rows of a store: the engine that a program hands in as `.task_store`. It is in the
 * library of stores, so a program without it links no SQLite.
 */
#include <stdio.h>

#include "base/memory.h"
#include "base/system.h"
#include "mishap/store.h"
#include "store/store.h"
#include "task/task.h"

/* clang-format off */
#define COLUMNS(bytes)                                                                             \
    " (key TEXT PRIMARY KEY, owner TEXT NOT NULL, operation TEXT NOT NULL, server TEXT NOT NULL,"  \
    " incident TEXT NOT NULL, state INTEGER NOT NULL, again INTEGER NOT NULL,"                     \
    " cancel INTEGER NOT NULL, attempts INTEGER NOT NULL, made bigint NOT NULL,"                   \
    " changed bigint NOT NULL, format INTEGER NOT NULL, scopes bigint NOT NULL, call " bytes ","      \
    " outcome " bytes ")"
#define INDEXES                                                                                    \
    "CREATE INDEX tasks_unfinished ON tasks (server, made) WHERE state < 2;"                       \
    "CREATE INDEX tasks_ended ON tasks (changed) WHERE state >= 2;"                                \
    "CREATE INDEX tasks_made ON tasks (made);"
#define ROUNDS "ALTER TABLE tasks ADD COLUMN rounds INTEGER NOT NULL DEFAULT 0;"
#define MARK(bytes) "ALTER TABLE tasks ADD COLUMN mark " bytes ";"
static const char *const sqlite[] = {
    "CREATE TABLE tasks" COLUMNS("BLOB") ";" INDEXES
    "CREATE TABLE secrets (one INTEGER PRIMARY KEY, secret BLOB NOT NULL);",
    ROUNDS,
    MARK("BLOB"),
    NULL,
};
static const char *const postgresql[] = {
    "CREATE TABLE tasks" COLUMNS("bytea") ";" INDEXES
    "CREATE TABLE secrets (one INTEGER PRIMARY KEY, secret bytea NOT NULL);",
    ROUNDS,
    MARK("bytea"),
    NULL,
};

/* 5: MISHAP_TASK_ASKING. The index of rows that have ended has those that ask, too. */
#define ENDED  "state >= 2 AND state <> 5"
#define ASKING "state >= 2 AND state = 5"
#define HEAD "SELECT key, owner, operation, server, incident, state, again, cancel, attempts, made, changed, format, scopes"
#define ROW HEAD ", rounds"
#define WHOLE ", call, outcome, mark"

enum { LONGEST_ANSWER_MS = 2000 }; /* the process of tasks waits for nothing else */

enum {
    FIND = MISHAP_TASK_CHANGES, /* changes have the numbers of their kinds */
    COUNT = FIND + (int)MISHAP_TASK_FINDS,
    REVISE, SECRET_ADD, SECRET, STATEMENTS
};
static const mishap_statement statements[STATEMENTS] = {
    [MISHAP_TASK_ADD] = { .text = "INSERT INTO tasks (key, owner, operation, server, incident, state, again,"
                          " cancel, attempts, made, changed, call, outcome, format, scopes, mark) VALUES (?1, ?2, ?3, ?4, ?5,"
                          " ?6, ?7, 0, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT (key) DO UPDATE SET"
                          " state = excluded.state, attempts = excluded.attempts, changed = excluded.changed,"
                          " outcome = excluded.outcome, mark = excluded.mark WHERE tasks.state < 2",
                          .writes = true, .later = true },
    [MISHAP_TASK_BEGIN] = { .text = "UPDATE tasks SET state = ?2, attempts = ?3, changed = ?4, mark = ?5"
                            " WHERE key = ?1 AND state < 2", .writes = true, .later = true },
    [MISHAP_TASK_MARK] = { .text = "UPDATE tasks SET mark = ?2 WHERE key = ?1 AND state < 2",
                           .writes = true, .later = true },
    [MISHAP_TASK_END] = { .text = "UPDATE tasks SET state = ?2, outcome = ?3, changed = ?4, mark = NULL"
                          " WHERE key = ?1 AND state < 2", .writes = true, .later = true },
    [MISHAP_TASK_PAUSE] = { .text = "UPDATE tasks SET state = ?2, outcome = ?3, changed = ?4, call = ?5,"
                            " rounds = ?6, mark = ?7 WHERE key = ?1 AND state < 2 AND rounds < ?6",
                            .writes = true, .later = true },
    [MISHAP_TASK_CANCEL] = { .text = "UPDATE tasks SET cancel = 1 WHERE key = ?1"
                             " AND (state < 2 OR state = 5)",
                             .writes = true, .later = true },
    [MISHAP_TASK_REMOVE] = { .text = "DELETE FROM tasks WHERE key = ?1 AND " ENDED,
                             .writes = true, .later = true },
    [MISHAP_TASK_EXPIRE] = { .text = "DELETE FROM tasks WHERE " ENDED " AND changed < ?1"
                             " AND (?2 = '' OR owner = ?2)",
                             .writes = true, .later = true },
    [FIND + MISHAP_TASK_ONE] = { .text = ROW WHOLE " FROM tasks WHERE key = ?1" },
    [FIND + MISHAP_TASK_STATE] = { .text = HEAD ", 0, CASE WHEN state = 5 THEN call END,"
                                   " CASE WHEN state = 5 THEN outcome END FROM tasks WHERE key = ?1" },
    [FIND + MISHAP_TASK_UNFINISHED] = { .text = ROW WHOLE " FROM tasks WHERE server = ?1"
                                        " AND state < 2 ORDER BY made" },
    [FIND + MISHAP_TASK_CANCELLING] = { .text = ROW " FROM tasks WHERE server = ?1 AND state < 2"
                                        " AND cancel = 1" },
    [FIND + MISHAP_TASK_DETACHED] = { .text = ROW WHOLE " FROM tasks WHERE server = ?1"
                                      " AND state < 2 AND ((made >= ?2 AND owner = '"
                                      MISHAP_TASK_BY_COMMAND "') OR (changed >= ?2 AND rounds > 0))" },
    [FIND + MISHAP_TASK_NEWEST] = { .text = ROW " FROM tasks ORDER BY made DESC LIMIT ?1" },
    [FIND + MISHAP_TASK_OVERDUE] = { .text = ROW WHOLE " FROM tasks WHERE server = ?1 AND " ASKING
                                     " AND (changed < ?2 OR cancel = 1) LIMIT 64" },
    [FIND + MISHAP_TASK_OVERDUE_HERE] = { .text = ROW WHOLE " FROM tasks WHERE server = ?1 AND "
                                          ASKING " AND (changed < ?2 OR cancel = 1) AND owner = '"
                                          MISHAP_TASK_BY_COMMAND "' LIMIT 64" },
    [FIND + MISHAP_TASK_ASKING_OF] = { .text = ROW WHOLE " FROM tasks WHERE " ASKING
                                       " AND owner NOT LIKE '-%' AND substr(owner, 17) = ':' || ?1 LIMIT 64",
                                       .postgresql = ROW WHOLE " FROM tasks WHERE " ASKING
                                       " AND owner NOT LIKE '-%' AND substr(owner, 17) = ':' || ?1::text LIMIT 64" },
    [REVISE] = { .text = "UPDATE tasks SET state = ?2, outcome = ?3, changed = ?4,"
                 " call = coalesce(?5, call), rounds = ?6, attempts = ?7,"
                 " mark = CASE WHEN ?2 IN (0, 5) THEN mark END"
                 " WHERE key = ?1 AND state = 5 AND changed = ?8 RETURNING key", .writes = true },
    [COUNT] = { .text = "SELECT owner, count(*), sum(coalesce(length(call), 0)"
                " + coalesce(length(outcome), 0)) FROM tasks GROUP BY owner",
                .postgresql = "SELECT owner, count(*), sum(coalesce(length(call), 0)"
                " + coalesce(length(outcome), 0))::bigint FROM tasks GROUP BY owner" },
    [SECRET_ADD] = { .text = "INSERT INTO secrets VALUES (1, ?1) ON CONFLICT DO NOTHING",
                     .writes = true },
    [SECRET] = { .text = "SELECT secret FROM secrets" },
};
/* clang-format on */

static const mishap_store_schema schema = { "tasks", sqlite, postgresql, statements, STATEMENTS };

struct mishap_task_rows {
    mishap_store *store;
    bool unsure; /* rows may be there that a standby does not have */
};

static mishap *open_rows(const char *address, const char *folder, mishap_task_rows **out)
{
    char path[4200];
    *out = NULL;
    if ((size_t)snprintf(path, sizeof path, "sqlite:%s/", folder) >= sizeof path)
        return mishap_raise(NOT_CONFIGURED, "The path of the data folder is too long.");
    mishap_task_rows *rows = mishap_allocate(sizeof *rows);
    if (!rows)
        return mishap_out_of_memory();
    mishap *failure = mishap_store_open_kept(address ? address : path, NULL,
                                             *folder ? folder : NULL, &schema, &rows->store);
    if (failure) {
        mishap_release(rows);
        return failure;
    }
    mishap_store_limit_answers(rows->store, LONGEST_ANSWER_MS);
    rows->unsure = true;
    *out = rows;
    return NULL;
}

static void close_rows(mishap_task_rows *rows)
{
    if (rows)
        mishap_store_close(rows->store);
    mishap_release(rows);
}

/* -- changes ----------------------------------------------------------------------------------- */

static void bind_bytes(mishap_query *query, int place, mishap_text bytes)
{
    if (bytes.data)
        mishap_query_bind_blob(query, place, bytes);
    else
        mishap_query_bind_null(query, place);
}

static void bind_row(mishap_query *query, const mishap_task_row *row)
{
    mishap_query_bind_text(query, 2, row->owner);
    mishap_query_bind_text(query, 3, row->operation);
    mishap_query_bind_text(query, 4, row->server);
    mishap_query_bind_text(query, 5, row->incident);
    mishap_query_bind_integer(query, 6, row->state);
    mishap_query_bind_integer(query, 7, row->again);
    mishap_query_bind_integer(query, 8, row->attempts);
    mishap_query_bind_integer(query, 9, row->made_ms);
    mishap_query_bind_integer(query, 10, row->changed_ms);
    bind_bytes(query, 11, row->call);
    bind_bytes(query, 12, row->outcome);
    mishap_query_bind_integer(query, 13, MISHAP_TASK_FORMAT);
    mishap_query_bind_integer(query, 14, row->scopes);
    bind_bytes(query, 15, row->mark);
}

static mishap *apply_one(mishap_store *store, const mishap_task_change *change)
{
    static const int mark_at[MISHAP_TASK_CHANGES] = {
        [MISHAP_TASK_BEGIN] = 5,
        [MISHAP_TASK_MARK] = 2,
        [MISHAP_TASK_PAUSE] = 7,
    };
    const mishap_text none = MISHAP_TEXT("");
    const mishap_task_row *row = &change->row;
    mishap_query query;
    mishap_query_begin(&query, store, change->kind);
    if (change->kind == MISHAP_TASK_EXPIRE) {
        mishap_query_bind_integer(&query, 1, row->changed_ms);
        mishap_query_bind_text(&query, 2, row->owner.data ? row->owner : none);
    } else
        mishap_query_bind_text(&query, 1, row->key);
    if (change->kind == MISHAP_TASK_ADD)
        bind_row(&query, row);
    if (change->kind == MISHAP_TASK_BEGIN || change->kind == MISHAP_TASK_END ||
        change->kind == MISHAP_TASK_PAUSE) {
        mishap_query_bind_integer(&query, 2, row->state);
        mishap_query_bind_integer(&query, 4, row->changed_ms);
    }
    if (change->kind == MISHAP_TASK_BEGIN)
        mishap_query_bind_integer(&query, 3, row->attempts);
    if (change->kind == MISHAP_TASK_END || change->kind == MISHAP_TASK_PAUSE)
        bind_bytes(&query, 3, row->outcome);
    if (change->kind == MISHAP_TASK_PAUSE) {
        bind_bytes(&query, 5, row->call);
        mishap_query_bind_integer(&query, 6, row->rounds);
    }
    if (mark_at[change->kind])
        bind_bytes(&query, mark_at[change->kind], row->mark);
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

struct batch {
    const mishap_task_change *changes;
    size_t count;
    bool confirms;
};

static mishap *apply_batch(mishap_store *store, void *state)
{
    const struct batch *batch = state;
    for (size_t i = 0; i < batch->count; i++)
        MISHAP_TRY(apply_one(store, &batch->changes[i]));
    return batch->confirms ? mishap_store_confirm(store) : NULL;
}

/* A batch whose commit was not confirmed is applied again. Rows that have all of it already are not
 * written a second time, so the store is asked whether they will last. */
static mishap *apply(mishap_task_rows *rows, const mishap_task_change *changes, size_t count)
{
    struct batch batch = { changes, count, rows->unsure };
    mishap *failure = mishap_store_transact(
        rows->store, &(mishap_transaction){ .work = apply_batch, .state = &batch });
    rows->unsure = failure != NULL;
    return failure;
}

struct revision {
    const mishap_task_row *row;
    int64_t seen_ms;
    bool done, confirms;
};

static mishap *revise_one(mishap_store *store, void *state)
{
    struct revision *r = state;
    mishap_query query;
    mishap_query_begin(&query, store, REVISE);
    mishap_query_bind_text(&query, 1, r->row->key);
    mishap_query_bind_integer(&query, 2, r->row->state);
    bind_bytes(&query, 3, r->row->outcome);
    mishap_query_bind_integer(&query, 4, r->row->changed_ms);
    bind_bytes(&query, 5, r->row->call);
    mishap_query_bind_integer(&query, 6, r->row->rounds);
    mishap_query_bind_integer(&query, 7, r->row->attempts);
    mishap_query_bind_integer(&query, 8, r->seen_ms);
    r->done = false;
    while (mishap_query_step(&query))
        r->done = true;
    MISHAP_TRY(mishap_query_end(&query));
    return r->confirms ? mishap_store_confirm(store) : NULL;
}

/* If it fails, it is not known whether the change was made: the next reader of the row finds out.
 */
static mishap *revise(mishap_task_rows *rows, const mishap_task_row *row, int64_t seen_ms,
                      bool *done)
{
    struct revision r = { row, seen_ms, false, rows->unsure };
    mishap *failure = mishap_store_transact(
        rows->store, &(mishap_transaction){ .work = revise_one, .state = &r });
    rows->unsure = failure != NULL;
    *done = !failure && r.done;
    return failure;
}

/* -- reading ----------------------------------------------------------------------------------- */

enum { OUTCOME = 15, MARK_COLUMN }; /* of those that have them; the call is before the outcome */

/* The last column is the outcome of a task, or its mark. */
static void hand_over(mishap_query *query, int last, mishap_task_each *each, void *context)
{
    int64_t state = mishap_query_integer(query, 5);
    mishap_task_row row = {
        .key = mishap_query_text(query, 0),
        .owner = mishap_query_text(query, 1),
        .operation = mishap_query_text(query, 2),
        .server = mishap_query_text(query, 3),
        .incident = mishap_query_text(query, 4),
        .state = state >= 0 && state < MISHAP_TASK_STATES ? (mishap_task_state)state
                                                          : MISHAP_TASK_FAILED,
        .again = mishap_query_integer(query, 6) != 0,
        .cancel = mishap_query_integer(query, 7) != 0,
        .attempts = (int)mishap_query_integer(query, 8),
        .made_ms = mishap_query_integer(query, 9),
        .changed_ms = mishap_query_integer(query, 10),
    };
    row.scopes = mishap_query_integer(query, 12);
    row.rounds = (int)mishap_query_integer(query, 13);
    bool readable = mishap_query_integer(query, 11) == MISHAP_TASK_FORMAT;
    if (readable && last >= OUTCOME) {
        row.call = mishap_query_blob(query, OUTCOME - 1);
        row.outcome = mishap_query_blob(query, OUTCOME);
    }
    if (readable && last >= MARK_COLUMN)
        row.mark = mishap_query_blob(query, MARK_COLUMN);
    each(context, &row);
}

static mishap *find(mishap_task_rows *rows, mishap_task_find what, mishap_text text, int64_t number,
                    mishap_task_each *each, void *context)
{
    mishap_query query;
    int last = what == MISHAP_TASK_CANCELLING || what == MISHAP_TASK_NEWEST ? 0
               : what == MISHAP_TASK_STATE                                  ? OUTCOME
                                                                            : MARK_COLUMN;
    mishap_query_begin(&query, rows->store, (size_t)FIND + what);
    if (what == MISHAP_TASK_NEWEST)
        mishap_query_bind_integer(&query, 1, number);
    else
        mishap_query_bind_text(&query, 1, text);
    if (what == MISHAP_TASK_DETACHED || what == MISHAP_TASK_OVERDUE ||
        what == MISHAP_TASK_OVERDUE_HERE)
        mishap_query_bind_integer(&query, 2, number);
    while (mishap_query_step(&query))
        hand_over(&query, last, each, context);
    return mishap_query_end(&query);
}

static mishap *count(mishap_task_rows *rows, mishap_task_each_owner *each, void *context)
{
    mishap_query query;
    mishap_query_begin(&query, rows->store, COUNT);
    while (mishap_query_step(&query))
        each(context, mishap_query_text(&query, 0), mishap_query_integer(&query, 1),
             mishap_query_integer(&query, 2));
    return mishap_query_end(&query);
}

/* Of two servers that make one at once, the first wins. */
static mishap *read_secret(mishap_task_rows *rows, unsigned char secret[MISHAP_TASK_SECRET])
{
    mishap_query query;
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        mishap_query_begin(&query, rows->store, SECRET);
        while (mishap_query_step(&query)) {
            mishap_text bytes = mishap_query_blob(&query, 0);
            found = bytes.length == MISHAP_TASK_SECRET;
            if (found)
                memcpy(secret, bytes.data, MISHAP_TASK_SECRET);
        }
        MISHAP_TRY(mishap_query_end(&query));
        if (found)
            break;
        if (!mishap_system_random(secret, MISHAP_TASK_SECRET))
            return mishap_raise(UNAVAILABLE, "The system gives no random numbers.");
        mishap_query_begin(&query, rows->store, SECRET_ADD);
        mishap_query_bind_blob(&query, 1, (mishap_text){ (char *)secret, MISHAP_TASK_SECRET });
        mishap_query_step(&query);
        MISHAP_TRY(mishap_query_end(&query));
    }
    return found ? NULL : mishap_raise(NOT_CONFIGURED, "The store of tasks has no secret.");
}

const struct mishap_task_engine mishap_tasks_in_store = {
    .open = open_rows,
    .close = close_rows,
    .apply = apply,
    .find = find,
    .revise = revise,
    .count = count,
    .secret = read_secret,
};
