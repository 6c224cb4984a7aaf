/*
 * Transfers in a bare loop over SQLite: the statements of a transfer, one commit for each or for
 * a batch, and nothing around them.
 *
 *     artifacts_bare FILE ACCOUNTS SECONDS BATCH
 *
 * FILE is a store of the artifacts service with the principals 1 to ACCOUNTS. Prints the number of
 * transfers and the seconds that they took, as JSON.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char ANSWER[] =
    "{\"success\":true,\"from_id\":\"1000\",\"to_id\":\"1001\",\"amount\":1,"
    "\"from_balance\":1000000000,\"to_balance\":1000000000}";

static sqlite3 *database;

static void check(int result)
{
    if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
        return;
    fprintf(stderr, "artifacts_bare: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static sqlite3_stmt *prepare(const char *text)
{
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

static void run(sqlite3_stmt *statement)
{
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW)
        ;
    check(result);
    check(sqlite3_reset(statement));
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t next(void)
{
    static uint64_t state = 0x9E3779B97F4A7C15;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static void bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    check(sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT));
}

static void on_account(sqlite3_stmt *statement, const char *id)
{
    bind_text(statement, 1, id);
    check(sqlite3_bind_int64(statement, 2, 1));
    run(statement);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    uint64_t accounts = strtoull(argv[2], NULL, 10), batch = strtoull(argv[4], NULL, 10), calls = 0;
    if (!accounts || !batch)
        return 2;
    double begun, seconds = strtod(argv[3], NULL);
    check(sqlite3_open(argv[1], &database));
    check(sqlite3_exec(database, "PRAGMA synchronous = FULL", NULL, NULL, NULL));
    sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    sqlite3_stmt *get = prepare(
        "SELECT balance + held, held, kind FROM accounts WHERE id = ?1 AND ?2 = ?2");
    sqlite3_stmt *debit = prepare("UPDATE accounts SET balance = balance - ?2"
                                  " WHERE id = ?1 AND balance >= ?2 RETURNING balance + held");
    sqlite3_stmt *credit = prepare(
        "UPDATE accounts SET balance = balance + ?2"
        " WHERE id = ?1 AND balance + held <= 9223372036854775807 - ?2 RETURNING balance + held");
    sqlite3_stmt *event = prepare("INSERT INTO events (at, caller, artifact, method, result)"
                                  " VALUES (1, ?1, 'genesis_ledger', 'transfer', ?2)");
    sqlite3_stmt *call = prepare("INSERT INTO calls (id, answer, at) VALUES (?1, ?2, 1)");
    for (begun = now(); now() - begun < seconds; calls++) {
        char from[24], to[24], id[40];
        uint64_t first = next() % accounts;
        snprintf(from, sizeof from, "%" PRIu64, first + 1);
        snprintf(to, sizeof to, "%" PRIu64, (first + 1 + next() % (accounts - 1)) % accounts + 1);
        snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, next(), next());
        if (calls % batch == 0)
            run(begin);
        on_account(get, from);
        on_account(get, to);
        on_account(debit, from);
        on_account(credit, to);
        bind_text(event, 1, from);
        bind_text(event, 2, ANSWER);
        run(event);
        bind_text(call, 1, id);
        bind_text(call, 2, ANSWER);
        run(call);
        if (calls % batch == batch - 1)
            run(commit);
    }
    if (calls % batch)
        run(commit);
    printf("{\"requests\":%" PRIu64 ",\"seconds\":%.6f}\n", calls, now() - begun);
    return 0;
}
