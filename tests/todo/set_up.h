/*
 * A todo service with a folder of its own for each test, and calls of it as a boundary makes them.
 */
#ifndef MISHAP_SET_UP_H
#define MISHAP_SET_UP_H

#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>

#include "base/signals.h"
#include "mishap/store.h"
#include "operation/asking.h"
#include "operation/call.h"
#include "operation/settings.h"
#include "testing.h"
#include "todo/schema.h"
#include "todo/todo.h"

static const mishap_app app = { .name = "todo",
                                .operations = todo_operations,
                                .scopes = todo_scopes,
                                .task_store = &mishap_tasks_in_store };

static char folder[64], file[96];
static mishap_setup setup;

static inline int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/mishap-todo-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/data/todo.sqlite", folder);
    static char data[80];
    snprintf(data, sizeof data, "%s/data", folder);
    setup = (mishap_setup){ .data = data };
    mishap_service_use(&setup);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    mishap_service_close_all();
    mishap_service_use(NULL);
    mishap_free(mishap_settings_use(&app, NULL));
    return remove_tree(folder);
}

/* What a caller gets: a status and a body, which is empty for 204. */
static struct answer {
    int status;
    char *body; /* of a failure in the HTTP API's format */
    char location[64];
    size_t listed, total;
    bool retryable;
    char *account; /* of a failure, for the operator */
} last;

static inline void forget(struct answer *answer)
{
    free(answer->body);
    free(answer->account);
    *answer = (struct answer){ 0 };
}

static inline char *copy_text(mishap_text text)
{
    char *copy = malloc(text.length + 1);
    memcpy(copy, text.data ? text.data : "", text.length);
    copy[text.length] = '\0';
    return copy;
}

static inline void take_failure(struct answer *answer, mishap *failure)
{
    mishap_buffer account = { 0 };
    mishap_account(failure, &account);
    answer->status = mishap_told(failure)->code->http_status;
    answer->retryable = mishap_told(failure)->retryable;
    answer->body = rendered(mishap_dialect_find("http-api"), failure);
    answer->account = copy_text(mishap_buffer_text(&account));
    mishap_buffer_release(&account);
    mishap_free(failure);
}

/* What a caller answers to questions, as JSON; NULL: nothing. */
static const char *answers;

static inline void run_of(const mishap_app *program, struct answer *answer, const char *name,
                          mishap_text arguments)
{
    mishap_call *call = NULL;
    mishap_answer_kind kind;
    const mishap_operation *operation = mishap_operation_find(program, mishap_text_of(name));
    assert_non_null(operation);
    *answer = (struct answer){ 0 };
    mishap *failure = mishap_call_begin(program, operation, arguments, &call);
    if (!failure && answers)
        failure = mishap_asking_answer_text(call, mishap_text_of(answers), MISHAP_ANSWERS_PLAIN);
    if (!failure)
        failure = mishap_call_run(call);
    if (failure) {
        take_failure(answer, failure);
    } else {
        answer->status = mishap_call_status(call);
        answer->body = copy_text(mishap_call_answer(call, &kind));
        snprintf(answer->location, sizeof answer->location, "%s",
                 call->location ? call->location : "");
        answer->listed = call->listed;
        answer->total = call->total;
    }
    mishap_call_end(call);
}

static inline void run(struct answer *answer, const char *name, mishap_text arguments)
{
    run_of(&app, answer, name, arguments);
}

static inline void ask(const char *name, const char *arguments)
{
    forget(&last);
    run(&last, name, mishap_text_of(arguments));
}

__attribute__((format(printf, 2, 3))) static void askf(const char *name, const char *format, ...)
{
    char arguments[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(arguments, sizeof arguments, format, values);
    va_end(values);
    ask(name, arguments);
}

static inline void assert_answer(int status, const char *body)
{
    if (last.status != status || (body && strcmp(last.body, body) != 0))
        fail_msg("%d %s\nshould be %d %s\n%s", last.status, last.body, status, body ? body : "…",
                 last.account ? last.account : "");
}

static inline void create_users(int count)
{
    for (int i = 1; i <= count; i++) {
        askf("users.create", "{\"name\":\"User %d\",\"email\":\"user%d@example.com\"}", i, i);
        assert_int_equal(last.status, 201);
    }
}

/* A number out of the store, past the service. */
static inline int64_t look_up(const char *sql)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(database, 5000);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    if (sqlite3_column_type(statement, 0) == SQLITE_TEXT)
        number = strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return number;
}

/* The tallies are what counting would say. */
static inline void assert_tallies(void)
{
    assert_int_equal(look_up("SELECT tally FROM tallies WHERE what = 'users'"),
                     look_up("SELECT count(*) FROM users"));
    assert_int_equal(look_up("SELECT tally FROM tallies WHERE what = 'open'"),
                     look_up("SELECT count(*) FROM todos WHERE NOT done"));
    assert_int_equal(look_up("SELECT tally FROM tallies WHERE what = 'done'"),
                     look_up("SELECT count(*) FROM todos WHERE done"));
}

static enum { STAY, END, CRASH } next_move;
static todo_statement unfinished;
static int told[2]; /* a pipe: a query is half done */

/* Bind all that any statement wants, take the first row, and do not go on. */
static inline mishap *stop_half_way(mishap_call *call)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), unfinished);
    if (unfinished == TODO_USER_INSERT) {
        mishap_query_bind_text(&query, 1, T("Half"));
        mishap_query_bind_text(&query, 3, T("half@example.com"));
    } else {
        mishap_query_bind_integer(&query, 1, 0);
        mishap_query_bind_integer(&query, 2, 10);
    }
    if (!mishap_query_step(&query))
        return mishap_query_end(&query);
    if (next_move == STAY && write(told[1], ".", 1) == 1)
        for (;;)
            pause();
    if (next_move == CRASH)
        abort();
    mishap_string(call, "not declared");
    return NULL;
}

static const mishap_operation half_operations[] = {
    { .name = "half", .summary = "Stop half way", .run = stop_half_way, .service = &todo_service },
    { 0 },
};

static const mishap_app half = { .name = "todo", .operations = half_operations };

static inline void ask_half(todo_statement which)
{
    unfinished = which;
    forget(&last);
    run_of(&half, &last, "half", T("{}"));
}

static inline int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* No lock is left, no transaction, and no change. */
static inline void assert_nothing_left(int64_t users)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(database);
    /* The first column is 1 if another process reads what the log has, or writes. */
    assert_int_equal(look_up("PRAGMA wal_checkpoint(TRUNCATE)"), 0);
    assert_int_equal(look_up("SELECT count(*) FROM users"), users);
    assert_tallies();
}

/* SQLite's memory, some of which can be made to fail: the n-th piece and all after it. */
static sqlite3_mem_methods usual;

static long pieces, piece_fails_at;

static inline bool piece_fails(void)
{
    long piece = __atomic_add_fetch(&pieces, 1, __ATOMIC_RELAXED);
    return piece_fails_at && piece >= piece_fails_at;
}

static inline void *allocate_piece(int size)
{
    return piece_fails() ? NULL : usual.xMalloc(size);
}

static inline void *resize_piece(void *piece, int size)
{
    return piece_fails() ? NULL : usual.xRealloc(piece, size);
}

static inline void watch_memory_of_sqlite(void)
{
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
    sqlite3_mem_methods watched = usual;
    watched.xMalloc = allocate_piece;
    watched.xRealloc = resize_piece;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &watched);
}

/* cmocka catches signals for itself in each test; a program does not. */
static struct sigaction contained[MISHAP_FATAL_SIGNALS];

static inline void remember_containment(void)
{
    ask("premium.report", "{}");
    for (size_t i = 0; i < MISHAP_FATAL_SIGNALS; i++)
        sigaction(mishap_fatal_signals[i].number, NULL, &contained[i]);
}

#define TODO_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
