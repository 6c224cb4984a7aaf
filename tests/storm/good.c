/*
 * Handlers that work. Each answers with something that follows from the caller's number, so that an
 * answer of another call is noticed.
 */
#include "program.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>

enum { LARGE = 100000, KEPT_ROWS = 5000, BUSY_MS = 5000 };

const mishap_param no_params[] = { { 0 } };

const mishap_param number_params[] = {
    { "number", MISHAP_INTEGER, .required = true, .range = { 0, 1e10 } },
    { 0 },
};

const mishap_param hold_params[] = {
    { "ms", MISHAP_INTEGER, .required = true, .range = { 0, 60000 } },
    { 0 },
};

const mishap_param guarded_params[] = {
    { .name = "wrong", .type = MISHAP_BOOLEAN },
    { 0 },
};

void wait_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

void live_for_a_minute(void)
{
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(60);
}

/* -- services ---------------------------------------------------------------------------------- */

mishap *store_failure(sqlite3 *database)
{
    mishap *m = mishap_raise(UNAVAILABLE, "The store cannot be used.");
    return mishap_note(m, "sqlite", database ? sqlite3_errmsg(database) : "out of memory");
}

static void close_store(void *state)
{
    struct store *store = state;
    sqlite3_close(store->database);
    free(store->lock_path);
    free(store->pid_path);
    free(store);
}

static mishap *open_store(const mishap_setup *setup, void **state)
{
    static const char schema[] =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
        "CREATE TABLE IF NOT EXISTS kept (place INTEGER PRIMARY KEY, text TEXT)";
    mishap *failure = NULL;
    char *path = NULL;
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return mishap_out_of_memory();
    if (asprintf(&path, "%s/kept.sqlite", setup->data) < 0 ||
        asprintf(&store->lock_path, "%s/lock", setup->data) < 0 ||
        asprintf(&store->pid_path, "%s/hang.pid", setup->data) < 0)
        failure = mishap_out_of_memory();
    else if (sqlite3_open_v2(path, &store->database,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                             NULL) != SQLITE_OK ||
             sqlite3_busy_timeout(store->database, BUSY_MS) != SQLITE_OK ||
             sqlite3_exec(store->database, schema, NULL, NULL, NULL) != SQLITE_OK)
        failure = store_failure(store->database);
    free(path);
    if (failure)
        close_store(store);
    else
        *state = store;
    return failure;
}

const mishap_service keeping = { .name = "keeping", .open = open_store, .close = close_store };
const mishap_service failing = { .name = "failing", .open = open_store, .close = close_store };

int64_t take_lock(const struct store *store)
{
    int file = open(store->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && flock(file, LOCK_EX) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* -- answers that follow from the number ------------------------------------------------------- */

static mishap *answer_sum(mishap_call *call)
{
    int64_t number = mishap_integer(call, "number");
    mishap_answer_member(call, "number", number);
    mishap_answer_member(call, "twice", 2 * number);
    return mishap_answer_member(call, "rest", number % 9973 * (number % 9973));
}

HANDLER(good_sum)
{
    return answer_sum(call);
}

HANDLER(good_quick)
{
    return answer_sum(call);
}

/* It runs in the process that serves. */
HANDLER(good_trap)
{
    (void)call;
    for (;;)
        wait_ms(1000);
}

/* In the service that others crash. */
HANDLER(good_beside)
{
    return answer_sum(call);
}

HANDLER(good_nap)
{
    wait_ms(5);
    return answer_sum(call);
}

/* In the process that all loops share, as the next one. */
HANDLER(good_doze)
{
    wait_ms(20);
    return mishap_answer(call, NULL);
}

HANDLER(good_shut)
{
    close(16); /* the socket to the first loop */
    return mishap_answer(call, NULL);
}

HANDLER(good_large)
{
    int64_t number = mishap_integer(call, "number");
    char *text = mishap_call_take(call, LARGE + 1);
    for (size_t i = 0; i < LARGE; i++)
        text[i] = (char)('a' + ((size_t)number + i) % 26);
    text[LARGE] = '\0';
    mishap_answer_member(call, "number", number);
    return mishap_answer_member(call, "text", text);
}

/* One statement writes the row and reads it. */
HANDLER(good_rows)
{
    const struct store *store = mishap_state(call);
    int64_t number = mishap_integer(call, "number");
    const char *text = mishap_call_print(call, "row %lld", (long long)number);
    sqlite3_stmt *statement = NULL;
    mishap *failure = NULL;
    if (sqlite3_prepare_v2(store->database,
                           "INSERT INTO kept VALUES (?1, ?2) ON CONFLICT DO UPDATE"
                           " SET text = ?2 RETURNING text",
                           -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(statement, 1, number % KEPT_ROWS) != SQLITE_OK ||
        sqlite3_bind_text(statement, 2, text, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        failure = store_failure(store->database);
        goto done;
    }
    mishap_answer_member(call, "number", number);
    mishap_answer_member(
        call, "kept",
        mishap_call_print(call, "%s", (const char *)sqlite3_column_text(statement, 0)));
    if (sqlite3_step(statement) != SQLITE_DONE)
        failure = store_failure(store->database);
done:
    sqlite3_finalize(statement);
    return failure;
}

HANDLER(good_locked)
{
    int64_t file = take_lock(mishap_state(call));
    if (file < 0)
        return mishap_raise(UNAVAILABLE, "There is no lock.");
    close((int)file);
    return answer_sum(call);
}

/* -- what a naive handler does ----------------------------------------------------------------- */

/* It takes itself for alone in the world: no lock, and something between reading and writing. */
HANDLER(good_count)
{
    static volatile int64_t counter;
    int64_t read = counter;
    sched_yield();
    counter = read + 1;
    return mishap_answer_member(call, "count", counter);
}

HANDLER(good_guarded)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (mishap_boolean(call, "wrong"))
        mishap_string(call, "nowhere"); /* ends the call */
    pthread_mutex_unlock(&lock);
    return mishap_answer_member(call, "guarded", (bool)true);
}

/* How a child process finds its signals. */
HANDLER(good_child)
{
    char line[200], name[20], value[40];
    FILE *status = popen("cat /proc/self/status", "re");
    if (!status)
        return mishap_raise(UNAVAILABLE, "There is no child.");
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "%19[A-Za-z]: %39s", name, value) == 2 && strncmp(name, "Sig", 3) == 0)
            mishap_answer_member_value(call, mishap_text_of(mishap_call_print(call, "%s", name)),
                                       MISHAP_VALUE(mishap_call_print(call, "%s", value)));
    pclose(status);
    return NULL;
}

/* -- calls that take long ---------------------------------------------------------------------- */

HANDLER(good_hold)
{
    wait_ms(mishap_integer(call, "ms"));
    return mishap_answer_member(call, "held", mishap_integer(call, "ms"));
}

/* Endless, and its process can be found. */
HANDLER(good_hang)
{
    const struct store *store = mishap_state(call);
    FILE *file = fopen(store->pid_path, "we");
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
    for (volatile uint64_t turns = 0;; turns++)
        ;
    return NULL;
}

static void spin(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (volatile uint64_t turns = 0;; turns++)
        usleep(1000);
}

HANDLER(good_spin)
{
    spin();
    return mishap_answer(call, NULL);
}

/* Children in sessions of their own, with children. */
HANDLER(good_brood)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            setsid();
            fork();
            live_for_a_minute();
            for (;;)
                pause();
        }
    spin();
    return mishap_answer(call, NULL);
}
