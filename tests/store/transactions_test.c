/*
 * Stores on both engines: transactions, calls that leave one open, many at once, and statements
 * whose outcome comes later.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "operation/call.h"
#include "testing.h"
#include "set_up.h"

/* -- transactions ------------------------------------------------------------------------------ */

static mishap *insert_two(mishap_store *into, void *state)
{
    mishap *failure = insert(into, 1, "one");
    if (!failure)
        failure = insert(into, 2, "two");
    return failure ? failure : *(bool *)state ? mishap_raise(CONFLICT, "No.") : NULL;
}

static void a_transaction_is_made_as_a_whole_or_not_at_all(void **state)
{
    bool fail = true;
    mishap_transaction both = { .work = insert_two, .state = &fail };
    (void)state;
    open_store();
    assert_failure(mishap_store_transact(store, &both), MISHAP_CODE_CONFLICT, false);
    assert_int_equal(number_of(COUNT), 0);
    fail = false;
    assert_fine(mishap_store_transact(store, &both));
    assert_int_equal(number_of(COUNT), 2);
    assert_failure(mishap_store_transact(store, &both), MISHAP_CODE_ALREADY_EXISTS, false);
    assert_int_equal(number_of(COUNT), 2);
}

static mishap *insert_in_parts(mishap_store *into, void *state)
{
    bool fail = true, succeed = false;
    mishap *failure = insert(into, 10, "ten");
    if (!failure) {
        mishap *part = mishap_store_transact(
            into, &(mishap_transaction){ .work = insert_two, .state = &fail });
        assert_true(mishap_is(part, CONFLICT));
        mishap_free(part);
        failure = insert(into, 11, "eleven");
    }
    if (!failure)
        failure = mishap_store_transact(
            into, &(mishap_transaction){ .work = insert_two, .state = &succeed });
    /* A part that the engine refuses takes only itself along. */
    mishap *part = failure
                       ? NULL
                       : mishap_store_transact(
                             into, &(mishap_transaction){ .work = insert_two, .state = &succeed });
    assert_true(failure || mishap_is(part, ALREADY_EXISTS));
    mishap_free(part);
    (void)state;
    return failure ? failure : insert(into, 12, "twelve");
}

static void a_part_of_a_transaction_is_rolled_back_alone(void **state)
{
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = insert_in_parts }));
    assert_int_equal(number_of(COUNT), 5);
}

static mishap *go_on_after_a_failure(mishap_store *into, void *state)
{
    int64_t count;
    mishap *failure = insert(into, 1, "one");
    assert_null(failure);
    mishap_free(insert(into, 2, "one"));
    failure = read_number(into, COUNT, &count);
    *(bool *)state = failure != NULL;
    mishap_free(failure);
    mishap_free(insert(into, 3, "three"));
    return NULL;
}

/* PostgreSQL is so, hence SQLite must be: else a service would work on one of them only. */
static void after_a_failed_query_a_transaction_cannot_go_on(void **state)
{
    bool refused = false;
    (void)state;
    open_store();
    assert_failure(
        mishap_store_transact(
            store, &(mishap_transaction){ .work = go_on_after_a_failure, .state = &refused }),
        MISHAP_CODE_INTERNAL_ERROR, false);
    assert_true(refused);
    assert_int_equal(number_of(COUNT), 0);
}

/* What the engine has undone, or asks to repeat, is the whole transaction: a part that is rolled
 * back alone does not make it good. */
static void trouble_of_the_engine_spoils_the_whole_transaction(void **state)
{
    static const store_trouble troubles[] = { STORE_BUSY, STORE_AGAIN, STORE_LOST };
    (void)state;
    open_store();
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        assert_fine(mishap_store_begin(store));
        assert_fine(insert(store, 1, "one"));
        assert_fine(mishap_store_begin(store));
        mishap_store_note_trouble(store, troubles[i]);
        mishap_store_roll_back(store);
        assert_failure(mishap_store_begin(store), MISHAP_CODE_UNAVAILABLE, true);
        mishap *failure = insert(store, 2, "two");
        assert_non_null(failure);
        mishap_free(failure);
        assert_failure(mishap_store_commit(store), MISHAP_CODE_UNAVAILABLE, true);
        assert_int_equal(number_of(COUNT), 0);
    }
    assert_fine(mishap_store_begin(store));
    assert_fine(mishap_store_begin(store));
    mishap_store_note_trouble(store, STORE_TAKEN); /* this one is the part's alone */
    mishap_store_roll_back(store);
    assert_fine(insert(store, 1, "one"));
    assert_fine(mishap_store_commit(store));
    assert_int_equal(number_of(COUNT), 1);
}

static void a_batch_has_one_commit(void **state)
{
    mishap_store *other = NULL;
    int64_t seen = -1;
    (void)state;
    open_store();
    assert_fine(mishap_store_begin(store));
    for (int64_t id = 1; id <= 64; id++) {
        char name[24];
        snprintf(name, sizeof name, "%d", (int)(id % 5 ? id : id - 1)); /* each fifth is taken */
        assert_fine(mishap_store_begin(store));
        mishap *failure = insert(store, id, name);
        if (failure) {
            mishap_store_roll_back(store);
            assert_failure(failure, MISHAP_CODE_ALREADY_EXISTS, false);
        } else {
            assert_fine(mishap_store_commit(store));
        }
    }
    if (on_postgresql) { /* on SQLite a process has one store on a file */
        assert_fine(mishap_store_open(address, NULL, &schema, &other));
        assert_fine(read_number(other, COUNT, &seen));
        assert_int_equal(seen, 0);
        mishap_store_close(other);
    }
    assert_fine(mishap_store_commit(store));
    assert_int_equal(number_of(COUNT), 64 - 12);
    assert_failure(mishap_store_commit(store), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_store_roll_back(store);
    assert_int_equal(number_of(COUNT), 64 - 12);
}

/* What it has changed is not to count, so neither does the rest of its transaction. */
static void a_change_that_is_not_ended_makes_its_transaction_fail(void **state)
{
    mishap_query query;
    (void)state;
    open_store();
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 1, "one"));
    mishap_query_begin(&query, store, INSERT);
    mishap_query_bind_integer(&query, 1, 2);
    mishap_query_bind_text(&query, 2, T("two"));
    assert_true(mishap_query_step(&query));
    assert_failure(mishap_store_commit(store), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_int_equal(number_of(COUNT), 0);
}

/* It would never be found again. */
static void a_transaction_in_a_file_that_was_removed_has_failed(void **state)
{
    char away[sizeof file + 8];
    (void)state;
    open_store();
    snprintf(away, sizeof away, "%s.away", file);
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 1, "one"));
    assert_int_equal(rename(file, away), 0);
    assert_failure(mishap_store_commit(store), MISHAP_CODE_UNAVAILABLE, true);
}

static void a_transaction_that_is_left_open_is_rolled_back(void **state)
{
    (void)state;
    open_store();
    assert_fine(mishap_store_begin(store));
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 1, "one"));
    mishap_store_close(store);
    open_store();
    assert_int_equal(number_of(COUNT), 0);
    assert_fine(insert(store, 1, "one"));
}

/* -- calls ------------------------------------------------------------------------------------- */

static mishap *open_service(const mishap_setup *setup, void **opened)
{
    mishap_store *found = NULL;
    (void)setup;
    mishap *failure = mishap_store_open(address, NULL, &schema, &found);
    *opened = store = found;
    return failure;
}

static void close_service(void *opened)
{
    mishap_store_close(opened);
    store = NULL;
}

static const mishap_service service = {
    .name = "shelf", .summary = "A shelf", .open = open_service, .close = close_service
};

/* Two levels are begun, and a query, and then the library ends the handler. */
static mishap *leave_half_way(mishap_call *call)
{
    mishap_query query;
    mishap_store *of_call = mishap_store_of(call);
    assert_ptr_equal(mishap_store_of(call), of_call);
    MISHAP_TRY(mishap_store_begin(of_call));
    MISHAP_TRY(insert(of_call, 1, "half"));
    MISHAP_TRY(mishap_store_begin(of_call));
    mishap_query_begin(&query, of_call, INSERT);
    mishap_query_bind_integer(&query, 1, 2);
    assert_true(mishap_query_step(&query));
    mishap_string(call, "not declared");
    return NULL;
}

/* More ends than beginnings. */
static mishap *end_too_much(mishap_call *call)
{
    mishap_store *of_call = mishap_store_of(call);
    MISHAP_TRY(insert(of_call, 3, "three"));
    mishap_store_roll_back(of_call);
    return mishap_store_commit(of_call);
}

/* After a crash nothing that was deferred is called. */
static mishap *crash_half_way(mishap_call *call)
{
    mishap_store *of_call = mishap_store_of(call);
    MISHAP_TRY(mishap_store_begin(of_call));
    MISHAP_TRY(insert(of_call, 1, "half"));
    call->deferred = NULL;
    return mishap_raise(INTERNAL_ERROR, "As a crash does.");
}

static const mishap_operation operations[] = {
    { .name = "crash", .summary = "Crash", .run = crash_half_way, .service = &service },
    { .name = "leave", .summary = "Leave", .run = leave_half_way, .service = &service },
    { .name = "end", .summary = "End", .run = end_too_much, .service = &service },
    { 0 },
};
static const mishap_app app = { .name = "shelf", .operations = operations };

static void call_operation(const mishap_operation *operation)
{
    mishap_call *call = NULL;
    assert_fine(mishap_call_begin(&app, operation, T("{}"), &call));
    assert_failure(mishap_call_run(call), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_call_end(call);
}

/* The next call may be at the same address. */
static void what_a_crashed_call_has_left_open_is_rolled_back_by_the_next(void **state)
{
    mishap_call *call = NULL;
    (void)state;
    mishap_setup setup = { .data = folder };
    mishap_service_use(&setup);
    call_operation(&operations[0]);
    assert_int_equal(store->depth, 1);
    assert_fine(mishap_call_begin(&app, &operations[2], T("{}"), &call));
    store->call = call;
    assert_failure(mishap_call_run(call), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_call_end(call);
    assert_int_equal(store->depth, 0);
    assert_int_equal(number_of(COUNT), 1); /* that of the second */
    mishap_service_close_all();
    mishap_service_use(NULL);
}

static void a_call_leaves_no_transaction_behind(void **state)
{
    (void)state;
    mishap_setup setup = { .data = folder };
    mishap_service_use(&setup);
    call_operation(&operations[1]);
    assert_non_null(strstr(account, "not declared"));
    assert_int_equal(number_of(COUNT), 0);
    /* In a batch the others are left alone. */
    assert_fine(mishap_store_begin(store));
    assert_fine(insert(store, 9, "before"));
    call_operation(&operations[1]);
    call_operation(&operations[2]);
    assert_non_null(strstr(account, "none to commit"));
    assert_fine(insert(store, 10, "after"));
    assert_fine(mishap_store_commit(store));
    assert_int_equal(number_of(COUNT), 3);
    mishap_service_close_all();
    mishap_service_use(NULL);
}

/* -- many at once ------------------------------------------------------------------------------ */

enum { PROCESSES = 6, TIMES = 20 };

static mishap *count_up(mishap_store *of, void *tries)
{
    int64_t value = 0;
    mishap_query query;
    ++*(int *)tries;
    MISHAP_TRY(read_number(of, READ_COUNTER, &value));
    if (on_postgresql)
        usleep(1000); /* so that others read the same for sure */
    mishap_query_begin(&query, of, WRITE_COUNTER);
    mishap_query_bind_integer(&query, 1, value + 1);
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

/* How often it was tried, at most 200; 255: something failed. A caller tries again when it is told
 * so. */
static int count_many_times(void)
{
    mishap_store *own = NULL;
    int tries = 0;
    mishap *failure;
    while ((failure = mishap_store_open(address, NULL, &schema, &own))) {
        bool again = mishap_told(failure)->retryable;
        mishap_free(failure);
        if (!again)
            return 255;
    }
    for (int i = 0; i < TIMES; i++) {
        while ((failure = mishap_store_transact(
                    own, &(mishap_transaction){ .work = count_up, .state = &tries }))) {
            bool again = mishap_told(failure)->retryable;
            mishap_free(failure);
            if (!again)
                return 255;
        }
    }
    mishap_store_close(own);
    return tries < 200 ? tries : 200;
}

static int in_processes(int (*work)(void), int exits[PROCESSES])
{
    pid_t children[PROCESSES];
    int sum = 0;
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(work());
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(children[i], &exits[i], 0), children[i]);
        assert_true(WIFEXITED(exits[i]));
        exits[i] = WEXITSTATUS(exits[i]);
        sum += exits[i];
    }
    return sum;
}

/* They create the store all at once, too. What one has read, another changes: without repeating
 * some would be lost. */
static void no_change_of_many_processes_is_lost(void **state)
{
    int exits[PROCESSES];
    (void)state;
    int tries = in_processes(count_many_times, exits);
    for (int i = 0; i < PROCESSES; i++)
        assert_in_range(exits[i], TIMES, 200);
    open_store();
    assert_int_equal(number_of(READ_COUNTER), PROCESSES * TIMES);
    if (on_postgresql)
        assert_true(tries > PROCESSES * TIMES); /* the engine has asked for it */
    else
        assert_int_equal(tries, PROCESSES * TIMES);
}

static int held[2], released[2]; /* pipes */

static int hold_a_transaction(void)
{
    mishap_store *own = NULL;
    char byte;
    mishap *failure = mishap_store_open(address, NULL, &schema, &own);
    if (!failure)
        failure = mishap_store_begin(own);
    if (failure || write(held[1], ".", 1) != 1 || read(released[0], &byte, 1) != 1)
        return 1;
    failure = mishap_store_commit(own);
    mishap_store_close(own);
    return failure != NULL;
}

/* How often it was put to sleep tells whether it slept or kept looking. */
static int count_asleep(void)
{
    mishap_store *own = NULL;
    struct rusage before, after;
    int tries = 0;
    mishap *failure = mishap_store_open(address, NULL, &schema, &own);
    getrusage(RUSAGE_SELF, &before);
    if (!failure && write(held[1], ".", 1) == 1)
        failure = mishap_store_transact(own,
                                        &(mishap_transaction){ .work = count_up, .state = &tries });
    getrusage(RUSAGE_SELF, &after);
    mishap_store_close(own);
    return failure || tries != 1 || after.ru_nvcsw - before.ru_nvcsw > 20;
}

static void a_transaction_sleeps_until_it_is_its_turn(void **state)
{
    int (*const work[2])(void) = { hold_a_transaction, count_asleep };
    pid_t children[2];
    char byte;
    (void)state;
    open_store();
    mishap_store_close(store);
    store = NULL;
    assert_int_equal(pipe(held), 0);
    assert_int_equal(pipe(released), 0);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(work[i]());
        assert_int_equal(read(held[0], &byte, 1), 1); /* it has begun, or is about to */
    }
    usleep(300 * 1000); /* long enough to look a hundred times */
    assert_int_equal(waitpid(children[1], NULL, WNOHANG), 0);
    assert_int_equal(write(released[1], ".", 1), 1);
    for (int i = 0; i < 2; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
        close(held[i]);
        close(released[i]);
    }
}

static mishap *never_done(mishap_store *of, void *tries)
{
    ++*(int *)tries;
    return run(of, ASK_AGAIN);
}

static mishap *other_words(mishap_store *of, void *tries)
{
    mishap_free(never_done(of, tries));
    return mishap_raise(NOT_FOUND, "Nothing.");
}

static void a_transaction_is_not_repeated_for_ever(void **state)
{
    int tries = 0;
    (void)state;
    open_store();
    int64_t begun = mishap_store_now_ms();
    mishap *failure = mishap_store_transact(
        store, &(mishap_transaction){ .work = never_done, .state = &tries });
    bool in_time = mishap_store_now_ms() - begun <= MISHAP_STORE_PATIENCE;
    assert_int_equal(mishap_told(failure)->retry_after_ms, 1000);
    assert_failure(failure, MISHAP_CODE_UNAVAILABLE, true);
    assert_in_range(tries, in_time ? 5 : 1, 10); /* none after MISHAP_STORE_PATIENCE */
    assert_non_null(strstr(account, "40001"));
    /* Also if the work takes the failure for another one. */
    failure = mishap_store_transact(store,
                                    &(mishap_transaction){ .work = other_words, .state = &tries });
    assert_failure(failure, MISHAP_CODE_UNAVAILABLE, true);
    assert_fine(insert(store, 1, "one"));
}

/* A single query is a transaction of its own. */
static void a_single_query_is_repeated_as_well(void **state)
{
    (void)state;
    open_store();
    assert_failure(run(store, ASK_AGAIN), MISHAP_CODE_UNAVAILABLE, true);
    assert_int_equal(number_of(COUNT), 0);
}

/* -- statements whose outcome comes later ------------------------------------------------------ */

/* What the work of a transaction does: one letter for each step. */
struct plan {
    const char *steps;
    int64_t first; /* id */
    int tries;
    int64_t seen; /* rows, by the last `c` */
};

static mishap *follow(mishap_store *in, void *state)
{
    struct plan *plan = state;
    plan->tries++;
    for (const char *step = plan->steps; *step; step++)
        switch (*step) {
        case 'c':
            MISHAP_TRY(read_number(in, COUNT, &plan->seen));
            break;
        case 'n':
            MISHAP_TRY(run(in, READ_COUNTER)); /* which is prepared only now */
            break;
        case 'd':
            MISHAP_TRY(run(in, DIE_LATER));
            break;
        case 'a':
            if (plan->tries == 1)
                MISHAP_TRY(run(in, ASK_AGAIN));
            break;
        case '(':
            MISHAP_TRY(mishap_store_begin(in));
            break;
        case ')':
            MISHAP_TRY(mishap_store_commit(in));
            break;
        case '<':
            mishap_store_roll_back(in);
            break;
        case '!':
            return mishap_raise(CONFLICT, "No.");
        default:
            MISHAP_TRY(insert_later(in, plan->first + *step - '0'));
        }
    return NULL;
}

static mishap *transact_by(struct plan *plan)
{
    return mishap_store_transact(store, &(mishap_transaction){ .work = follow, .state = plan });
}

static void a_later_change_is_made_in_its_turn(void **state)
{
    static const struct {
        const char *steps;
        int64_t seen, left;
    } plans[] = {
        { "", 0, 0 },         { "c", 0, 0 },      { "1", 0, 1 },      { "12c3", 2, 3 },
        { "1n2", 0, 2 },      { "1(2)3", 0, 3 },  { "1(2<3c", 2, 2 }, { "(1<", 0, 0 },
        { "(1(2)c)3", 2, 3 }, { "1c2c3c", 3, 3 },
    };
    (void)state;
    open_store();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        int64_t before = number_of(COUNT);
        struct plan plan = { .steps = plans[i].steps, .first = (int64_t)i * 10, .seen = before };
        assert_fine(transact_by(&plan));
        assert_int_equal(plan.seen - before, plans[i].seen);
        assert_int_equal(number_of(COUNT) - before, plans[i].left);
    }
}

static void a_later_change_that_fails_makes_the_transaction_fail(void **state)
{
    static const char *const plans[] = { "11",   "12c13",  "11c",   "11n",
                                         "1(1)", "11(2)3", "1(2)1", "(11)" };
    (void)state;
    open_store();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct plan plan = { .steps = plans[i] };
        assert_failure(transact_by(&plan), MISHAP_CODE_ALREADY_EXISTS, false);
        assert_int_equal(plan.tries, 1);
        assert_int_equal(number_of(COUNT), 0);
    }
    struct plan undone = { .steps = "12!" };
    assert_failure(transact_by(&undone), MISHAP_CODE_CONFLICT, false);
    assert_int_equal(number_of(COUNT), 0);
    assert_fine(insert_later(store, 5)); /* outside of a transaction it is a query like others */
    assert_failure(insert_later(store, 5), MISHAP_CODE_ALREADY_EXISTS, false);
    assert_fine(insert(store, 7, "after all"));
}

static void a_transaction_with_later_changes_is_repeated(void **state)
{
    struct plan plan = { .steps = "12a3" };
    (void)state;
    open_store();
    assert_fine(transact_by(&plan));
    assert_int_equal(plan.tries, 2);
    assert_int_equal(number_of(COUNT), 3);
}

/* How often libpq waits for PostgreSQL. */
static libpq uncounted;
static int round_trips;

static bool queueing;

static int count_query(pq_connection *connection, const char *text)
{
    round_trips++;
    return uncounted.PQsendQuery(connection, text);
}

static int count_queue(pq_connection *connection)
{
    queueing = true;
    return uncounted.PQenterPipelineMode(connection);
}

static int count_prepared(pq_connection *connection, const char *name, int count,
                          const char *const *values, const int *lengths, const int *formats,
                          int format)
{
    round_trips += !queueing;
    return uncounted.PQsendQueryPrepared(connection, name, count, values, lengths, formats, format);
}

static int count_sync(pq_connection *connection)
{
    round_trips++;
    queueing = false;
    return uncounted.PQpipelineSync(connection);
}

static void begin_and_later_changes_take_no_round_trip(void **state)
{
    static const struct {
        const char *steps;
        int round_trips;
    } plans[] = { { "", 0 },    { "!", 0 },  { "c", 2 },   { "cc", 3 },
                  { "c12", 2 }, { "12", 1 }, { "12c3", 2 } };
    struct plan warm = { .steps = "1c" };
    (void)state;
    open_store();
    assert_fine(transact_by(&warm)); /* the statements are prepared */
    uncounted = mishap_libpq;
    mishap_libpq.PQsendQuery = count_query;
    mishap_libpq.PQenterPipelineMode = count_queue;
    mishap_libpq.PQsendQueryPrepared = count_prepared;
    mishap_libpq.PQpipelineSync = count_sync;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct plan plan = { .steps = plans[i].steps, .first = 10 + (int64_t)i * 10 };
        round_trips = 0;
        mishap_free(transact_by(&plan));
        assert_int_equal(round_trips, plans[i].round_trips);
    }
    mishap_libpq = uncounted;
}

static void a_commit_that_is_lost_with_later_changes_is_told_as_unknown(void **state)
{
    struct plan plan = { .steps = "1d2" };
    (void)state;
    open_store();
    mishap *failure = transact_by(&plan);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    assert_int_equal(plan.tries, 1);
    assert_int_equal(number_of(COUNT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_transaction_is_made_as_a_whole_or_not_at_all),
        BOTH(a_part_of_a_transaction_is_rolled_back_alone),
        BOTH(after_a_failed_query_a_transaction_cannot_go_on),
        BOTH(trouble_of_the_engine_spoils_the_whole_transaction),
        BOTH(a_batch_has_one_commit),
        BOTH(a_transaction_that_is_left_open_is_rolled_back),
        BOTH(a_change_that_is_not_ended_makes_its_transaction_fail),
        SQLITE(a_transaction_in_a_file_that_was_removed_has_failed),
        BOTH(a_call_leaves_no_transaction_behind),
        BOTH(what_a_crashed_call_has_left_open_is_rolled_back_by_the_next),
        BOTH(no_change_of_many_processes_is_lost),
        SQLITE(a_transaction_sleeps_until_it_is_its_turn),
        POSTGRESQL(a_transaction_is_not_repeated_for_ever),
        POSTGRESQL(a_single_query_is_repeated_as_well),
        BOTH(a_later_change_is_made_in_its_turn),
        BOTH(a_later_change_that_fails_makes_the_transaction_fail),
        POSTGRESQL(a_transaction_with_later_changes_is_repeated),
        POSTGRESQL(begin_and_later_changes_take_no_round_trip),
        POSTGRESQL(a_commit_that_is_lost_with_later_changes_is_told_as_unknown),
    };
    return run_on_stores(tests, sizeof tests / sizeof *tests);
}
