/*
 * A program whose service settles calls in batches, for settled_test.py and bench/settle. Each call
 * of entries.add adds two rows with its key, or none, and stores its id with them.
 *
 *     settled serve --listen 127.0.0.1:0 --settled-settle-ms 1
 */
#include <mishap/main.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4000 };

static struct {
    sqlite3 *database;
    bool open;           /* a transaction is */
    bool inside;         /* … and a savepoint in it */
    long settle_ms;      /* what a settlement takes */
    char at_settle[40];  /* what the next settlement does beside that: "die_before_settle" … */
    long batch, largest; /* calls since the last settlement, and the most there were */
} store;

static mishap *broken(const char *what)
{
    return mishap_note(mishap_raise(UNAVAILABLE, "The entries are not available."), what,
                       sqlite3_errmsg(store.database));
}

static mishap *execute(const char *sql)
{
    return sqlite3_exec(store.database, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : broken(sql);
}

static char gate[PATH + 8]; /* a file: a slow call waits until it is gone */

static void pause_ms(long ms)
{
    struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&time, NULL);
}

/* It also waits until its batch takes no more calls (MISHAP_BATCH_MS), so it is settled alone. */
static void wait_at_gate(void)
{
    enum { LOOKS = 5000, BATCH_MS = 10 };
    for (int i = 0; i < LOOKS && access(gate, F_OK) == 0; i++)
        pause_ms(5);
    pause_ms(BATCH_MS + 1);
}

/* -- the service ------------------------------------------------------------------------------- */

static mishap *open_store(const mishap_setup *setup, void **state)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/entries.db", setup->data);
    snprintf(gate, sizeof gate, "%s/gate", setup->data);
    store.settle_ms = (long)mishap_integer(setup->settings, "settle_ms");
    *state = &store;
    if (sqlite3_open(path, &store.database) != SQLITE_OK)
        return broken("open");
    sqlite3_busy_timeout(store.database, 10000);
    return execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                   "CREATE TABLE IF NOT EXISTS entries (key INTEGER, half INTEGER);"
                   "CREATE INDEX IF NOT EXISTS by_key ON entries (key);"
                   "CREATE TABLE IF NOT EXISTS calls (id TEXT PRIMARY KEY, key INTEGER)");
}

static void close_store(void *state)
{
    (void)state;
    sqlite3_close(store.database);
    store.open = store.inside = false;
}

static mishap *begin(mishap_call *call)
{
    mishap *failure = NULL;
    (void)call;
    if (store.inside)
        failure = execute("ROLLBACK TO call; RELEASE call");
    store.inside = false;
    if (!failure && !store.open)
        failure = execute("BEGIN IMMEDIATE");
    store.open = store.open || !failure;
    if (!failure)
        failure = execute("SAVEPOINT call");
    store.inside = !failure;
    return failure;
}

static mishap *end(mishap_call *call, bool keep)
{
    mishap *failure = execute(keep ? "RELEASE call" : "ROLLBACK TO call; RELEASE call");
    (void)call;
    store.inside = false;
    store.batch++;
    return failure;
}

static bool is(const char *word, const char *other)
{
    return word && strcmp(word, other) == 0;
}

static mishap *settle(void *state)
{
    char how[sizeof store.at_settle];
    (void)state;
    memcpy(how, store.at_settle, sizeof how);
    store.at_settle[0] = '\0';
    if (store.batch > store.largest)
        store.largest = store.batch;
    store.batch = 0;
    if (is(how, "die_before_settle"))
        raise(SIGKILL);
    if (is(how, "crash_in_settle") || is(how, "crash_in_every_settle"))
        abort();
    if (is(how, "hang_in_settle"))
        pause_ms(100000);
    if (store.settle_ms)
        pause_ms(store.settle_ms);
    if (store.open && is(how, "fail_to_settle")) {
        mishap *failure = execute("ROLLBACK");
        store.open = false;
        return failure ? failure
                       : mishap_note(mishap_retry_after(
                                         mishap_raise(UNAVAILABLE, "The disk is full."), 1000),
                                     "path", "/secret/disk");
    }
    mishap *failure = store.open ? execute("COMMIT") : NULL;
    store.open = store.open && failure;
    if (is(how, "die_after_settle"))
        raise(SIGKILL);
    return failure;
}

static const mishap_settlement settlement = { .begin = begin, .end = end, .settle = settle };
static const mishap_param settings[] = {
    { "settle_ms", MISHAP_INTEGER, .range = { 0, 10000 }, .initial = "0",
      .help = "How long a settlement takes beside its commit" },
    { 0 },
};
static const mishap_service settled = { .name = "settled",
                                        .open = open_store,
                                        .close = close_store,
                                        .settings = settings,
                                        .dialect = "artifact",
                                        .http_dialect = "artifact",
                                        .names_callers = true,
                                        .settlement = &settlement };

/* -- operations -------------------------------------------------------------------------------- */

static int64_t ask_number(const char *sql, const char *text, int64_t number)
{
    sqlite3_stmt *statement;
    int64_t found = -1;
    if (sqlite3_prepare_v2(store.database, sql, -1, &statement, NULL) != SQLITE_OK)
        return -1;
    if (text)
        sqlite3_bind_text(statement, 1, text, -1, SQLITE_TRANSIENT);
    if (number)
        sqlite3_bind_int64(statement, text ? 2 : 1, number);
    if (sqlite3_step(statement) == SQLITE_ROW)
        found = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
}

static void misbehave(mishap_call *call, const char *how)
{
    if (how && strstr(how, "settle") &&
        (!mishap_call_is_repeated(call) || is(how, "crash_in_every_settle")))
        snprintf(store.at_settle, sizeof store.at_settle, "%s", how);
    if (is(how, "crash"))
        abort();
    if (is(how, "die") && !mishap_call_is_repeated(call))
        raise(SIGKILL);
    if (is(how, "die_always"))
        raise(SIGKILL);
    if (is(how, "exit"))
        exit(3);
    if (is(how, "hang"))
        pause_ms(100000);
    if (is(how, "misuse"))
        mishap_string(call, "nothing_of_this_name");
    if (is(how, "slow"))
        wait_at_gate();
}

static mishap *answer(mishap_call *call, int64_t key)
{
    mishap_answer_member(call, "key", key);
    mishap_answer_member(call, "id", mishap_call_id(call));
    mishap_answer_member(call, "repeated", mishap_call_is_repeated(call));
    return mishap_answer_member(call, "caller", mishap_caller(call));
}

static mishap *add(mishap_call *call)
{
    const char *how = mishap_string(call, "how");
    int64_t key = mishap_integer(call, "key");
    if (mishap_call_is_repeated(call) &&
        ask_number("SELECT key FROM calls WHERE id = ?", mishap_call_id(call), 0) == key)
        return answer(call, key);
    mishap_progress(call, 1, 2, "one of two");
    ask_number("INSERT INTO entries VALUES (?, 0)", NULL, key);
    misbehave(call, how);
    if (is(how, "fail"))
        return mishap_raise(NOT_FOUND, "There is no such entry.");
    ask_number("INSERT INTO entries VALUES (?, 1)", NULL, key);
    ask_number("INSERT INTO calls VALUES (?, ?)", mishap_call_id(call), key);
    mishap_changed(call, "settled://entries");
    if (is(how, "wrong"))
        return mishap_answer_member(call, "key", "no number");
    return answer(call, key);
}

static mishap *list(mishap_call *call)
{
    mishap_answer_member(call, "rows", ask_number("SELECT count(*) FROM entries", NULL, 0));
    return mishap_answer_member(call, "largest", store.largest);
}

static mishap *read_entries(mishap_call *call)
{
    return mishap_answer_member(call, "rows", ask_number("SELECT count(*) FROM entries", NULL, 0));
}

static mishap *who(mishap_call *call)
{
    mishap_answer_member(call, "caller", mishap_caller(call));
    return mishap_answer_member(call, "free", mishap_caller_is_free(call));
}

static mishap *stream(mishap_call *call)
{
    static const char zeros[1 << 20];
    int64_t key = mishap_integer(call, "key");
    if (key)
        ask_number("INSERT INTO entries VALUES (?, 0), (?1, 1)", NULL, key);
    mishap_stream(call, "text/plain");
    for (size_t i = 0; is(mishap_string(call, "how"), "long") && i < 17; i++)
        mishap_stream_write(call, (mishap_text){ zeros, sizeof zeros });
    mishap_stream_write(call, (mishap_text)MISHAP_TEXT("one "));
    misbehave(call, mishap_string(call, "how"));
    mishap_stream_write(call, (mishap_text)MISHAP_TEXT("two"));
    return NULL;
}

static const mishap_param add_params[] = {
    { "key", MISHAP_INTEGER, .required = true, .range = { 1, 1e15 } },
    { "how", MISHAP_STRING, .help = "How it is to end" },
    { 0 },
};
static const mishap_param add_answers[] = {
    { "key", MISHAP_INTEGER, .required = true },
    { "id", MISHAP_STRING, .required = true },
    { "repeated", MISHAP_BOOLEAN, .required = true },
    { "caller", MISHAP_STRING, .help = "Who called" },
    { 0 },
};
static const mishap_param how_params[] = {
    { "how", MISHAP_STRING, .help = "How it is to end" },
    { "key", MISHAP_INTEGER, .help = "A key to add" },
    { 0 },
};

static const mishap_operation operations[] = {
    { "entries.add", "Add an entry", .run = add, .params = add_params, .answers = add_answers,
      .route = "POST /entries", .raises = MISHAP_RAISES(NOT_FOUND), .service = &settled,
      .timeout_ms = 4000 }, /* a call that does not hang ends before, also on a busy machine */
    { "entries.list", "Count the entries", .run = list, .route = "GET /entries",
      .service = &settled },
    { "entries.read", "The entries", .run = read_entries, .resource = "settled://entries",
      .service = &settled },
    { "entries.who", "Say who calls", .run = who, .route = "GET /entries/who",
      .service = &settled },
    { "entries.stream", "Stream some text", .run = stream, .params = how_params,
      .route = "GET /entries/stream", .answers_type = "text/plain", .service = &settled },
    { "plain.who", "Say who calls, elsewhere", .run = who, .route = "GET /plain/who",
      .stateless = true },
    { "plain.below", "Another service's path below", .run = who, .stateless = true,
      .route = "GET /entries/other/:key",
      .params = MISHAP_PARAMS({ "key", MISHAP_STRING, .required = true }) },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv, &(mishap_app){ .name = "settled", .version = "1.0", .operations = operations });
}
