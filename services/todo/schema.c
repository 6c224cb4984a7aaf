/* Tables and SQL, as data. */
#include "todo/schema.h"

/*
 * Ids are never reused, so that a link to a deleted row does not lead to another one. A todo
 * outlives its user. SQLite would count the rows of a large table one by one, so the counts are
 * stored.
 */
static const char *const sqlite[] = {
    "CREATE TABLE users ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " name TEXT NOT NULL,"
    " age INTEGER,"
    " email TEXT NOT NULL UNIQUE,"
    " created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
    ") STRICT;"
    "CREATE TABLE todos ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " title TEXT NOT NULL,"
    " done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1)),"
    " user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,"
    " created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
    ") STRICT;"
    "CREATE INDEX todos_by_done ON todos (done);"
    "CREATE INDEX todos_by_user ON todos (user_id);"

    "CREATE TABLE tallies (what TEXT PRIMARY KEY, tally INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO tallies VALUES ('users', 0), ('open', 0), ('done', 0);"
    "CREATE TRIGGER user_made AFTER INSERT ON users BEGIN"
    " UPDATE tallies SET tally = tally + 1 WHERE what = 'users'; END;"
    "CREATE TRIGGER user_gone AFTER DELETE ON users BEGIN"
    " UPDATE tallies SET tally = tally - 1 WHERE what = 'users'; END;"
    "CREATE TRIGGER todo_made AFTER INSERT ON todos BEGIN"
    " UPDATE tallies SET tally = tally + 1 WHERE what = iif(new.done, 'done', 'open'); END;"
    "CREATE TRIGGER todo_gone AFTER DELETE ON todos BEGIN"
    " UPDATE tallies SET tally = tally - 1 WHERE what = iif(old.done, 'done', 'open'); END;"
    "CREATE TRIGGER todo_changed AFTER UPDATE OF done ON todos WHEN new.done <> old.done BEGIN"
    " UPDATE tallies SET tally = tally + iif(what = iif(new.done, 'done', 'open'), 1, -1)"
    " WHERE what IN ('open', 'done'); END;",
    NULL,
};

/*
 * The same for PostgreSQL, without stored counts: each writer would wait until the one before it
 * has committed its change of the count.
 */
#define NOW "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
static const char *const postgresql[] = {
    "CREATE TABLE users ("
    " id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " name text NOT NULL,"
    " age bigint,"
    " email text NOT NULL UNIQUE,"
    " created_at text NOT NULL DEFAULT (" NOW ")"
    ");"
    "CREATE TABLE todos ("
    " id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " title text NOT NULL,"
    " done boolean NOT NULL DEFAULT false,"
    " user_id bigint REFERENCES users (id) ON DELETE SET NULL,"
    " created_at text NOT NULL DEFAULT (" NOW ")"
    ");"
    "CREATE INDEX todos_by_done ON todos (done, id);"
    "CREATE INDEX todos_by_user ON todos (user_id, id);",
    NULL,
};

#define USER "id, name, age, email, created_at"
#define TODO "id, title, done, user_id, created_at"

/* clang-format off */
#define READ(sql)   { .text = sql, .writes = false }
#define CHANGE(sql) { .text = sql, .writes = true }
#define COUNT(sql, of_postgresql) { .text = sql, .postgresql = of_postgresql }
/* clang-format on */
#define LIST_TODOS(where)                                                                          \
    READ("SELECT " TODO " FROM todos WHERE " where "id > ?1 ORDER BY id LIMIT ?2")

static const mishap_statement statements[TODO_STATEMENTS] = {
    [TODO_USER_INSERT] = CHANGE("INSERT INTO users (name, age, email) VALUES (?1, ?2, ?3)"
                                " RETURNING " USER),
    [TODO_USER_GET] = READ("SELECT " USER " FROM users WHERE id = ?1"),
    [TODO_USER_UPDATE] = CHANGE("UPDATE users SET name = coalesce(?2, name),"
                                " age = coalesce(?3, age), email = coalesce(?4, email)"
                                " WHERE id = ?1 RETURNING " USER),
    [TODO_USER_DELETE] = CHANGE("DELETE FROM users WHERE id = ?1 RETURNING id"),
    [TODO_USER_LIST] = READ("SELECT " USER " FROM users WHERE id > ?1 ORDER BY id LIMIT ?2"),
    [TODO_USER_COUNT] = COUNT("SELECT tally FROM tallies WHERE what = 'users'",
                              "SELECT count(*) FROM users"),

    [TODO_TODO_INSERT] = CHANGE("INSERT INTO todos (title, done, user_id) VALUES (?1, ?2, ?3)"
                                " RETURNING " TODO),
    [TODO_TODO_GET] = READ("SELECT " TODO " FROM todos WHERE id = ?1"),
    [TODO_TODO_UPDATE] = CHANGE("UPDATE todos SET title = coalesce(?2, title),"
                                " done = coalesce(?3, done), user_id = coalesce(?4, user_id)"
                                " WHERE id = ?1 RETURNING " TODO),
    [TODO_TODO_DELETE] = CHANGE("DELETE FROM todos WHERE id = ?1 RETURNING id"),

    [TODO_TODO_LIST] = LIST_TODOS(""),
    [TODO_TODO_LIST + TODO_BY_DONE] = LIST_TODOS("done = ?3 AND "),
    [TODO_TODO_LIST + TODO_BY_USER] = LIST_TODOS("user_id = ?4 AND "),
    [TODO_TODO_LIST + TODO_BY_DONE + TODO_BY_USER] = LIST_TODOS("user_id = ?4 AND done = ?3 AND "),

    [TODO_TODO_COUNT] = COUNT("SELECT sum(tally) FROM tallies WHERE what IN ('open', 'done')",
                              "SELECT count(*) FROM todos"),
    [TODO_TODO_COUNT +
        TODO_BY_DONE] = COUNT("SELECT tally FROM tallies WHERE what = iif(?3, 'done', 'open')",
                              "SELECT count(*) FROM todos WHERE done = ?3"),
    [TODO_TODO_COUNT + TODO_BY_USER] = READ("SELECT count(*) FROM todos WHERE user_id = ?4"),
    [TODO_TODO_COUNT + TODO_BY_DONE +
        TODO_BY_USER] = READ("SELECT count(*) FROM todos WHERE user_id = ?4 AND done = ?3"),

    [TODO_TODO_CLEAR] = CHANGE("DELETE FROM todos RETURNING id"),
    [TODO_TODO_CLEAR + TODO_BY_DONE] = CHANGE("DELETE FROM todos WHERE done = ?3 RETURNING id"),
    [TODO_TODO_CLEAR + TODO_BY_USER] = CHANGE("DELETE FROM todos WHERE user_id = ?4 RETURNING id"),
    [TODO_TODO_CLEAR + TODO_BY_DONE +
        TODO_BY_USER] = CHANGE("DELETE FROM todos WHERE user_id = ?4 AND done = ?3 RETURNING id"),
};

const mishap_store_schema todo_schema = {
    .name = "todo",
    .sqlite = sqlite,
    .postgresql = postgresql,
    .statements = statements,
    .statement_count = TODO_STATEMENTS,
};
