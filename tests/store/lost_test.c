/*
 * Stores on PostgreSQL: lost connections, commits that are not confirmed, and a standby that is
 * away.
 */
#include <sys/wait.h>

#include "testing.h"
#include "set_up.h"

/* -- lost connections -------------------------------------------------------------------------- */

static void after_a_lost_connection_the_next_query_connects_again(void **state)
{
    (void)state;
    open_store();
    assert_fine(insert(store, 1, "one"));
    assert_fine(run(store, DIE_ONCE)); /* who only reads need not know */
    assert_failure(run(store, DIE_READING), MISHAP_CODE_UNAVAILABLE, true);
    assert_non_null(strstr(account, "noted postgresql"));
    assert_int_equal(number_of(COUNT), 1);
    assert_fine(insert(store, 2, "two"));
}

static void a_connection_that_ended_while_idle_is_noticed_before_a_change(void **state)
{
    mishap_store *other = NULL;
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    assert_fine(insert(store, 1, "one"));
    assert_fine(run(other, KILL_OTHERS));
    assert_fine(insert(store, 2, "two"));
    assert_fine(run(other, KILL_OTHERS));
    assert_fine(mishap_store_begin(store));
    mishap_store_roll_back(store);
    mishap_store_close(other);
}

static void a_single_change_that_is_not_confirmed_is_told_as_unknown(void **state)
{
    (void)state;
    open_store();
    mishap *failure = run(store, DIE_WRITING);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    failure = mishap_raise(TIMEOUT, "Another.");
    assert_false(mishap_store_outcome_unknown(failure));
    mishap_free(failure);
    assert_false(mishap_store_outcome_unknown(NULL));
    assert_int_equal(number_of(COUNT), 0);
}

struct losing {
    int tries, looked, die_before, die_at_commit;
    bool done, late;
};

static mishap *insert_and_lose(mishap_store *into, void *state)
{
    struct losing *losing = state;
    losing->tries++;
    MISHAP_TRY(insert(into, 1, "one"));
    if (losing->tries <= losing->die_before)
        MISHAP_TRY(run(into, DIE_WRITING));
    return losing->tries <= losing->die_at_commit ? run(into, DIE_AT_COMMIT) : NULL;
}

static mishap *look_up(mishap_store *in, void *state, bool *done)
{
    struct losing *losing = state;
    int64_t count = 0;
    mishap *failure = read_number(in, COUNT, &count);
    losing->looked++;
    *done = losing->done || count > 0;
    if (losing->late && losing->looked == 1) /* the commit that was not confirmed is made now */
        assert_fine(insert(in, 1, "one"));
    return failure;
}

static void a_transaction_that_was_lost_before_its_commit_is_repeated(void **state)
{
    struct losing losing = { .die_before = 2 };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(
        store, &(mishap_transaction){ .work = insert_and_lose, .state = &losing }));
    assert_int_equal(losing.tries, 3);
    assert_int_equal(number_of(COUNT), 1);
}

static void a_commit_that_is_not_confirmed_is_not_repeated_blindly(void **state)
{
    struct losing losing = { .die_at_commit = 1 };
    (void)state;
    open_store();
    mishap *failure = mishap_store_transact(
        store, &(mishap_transaction){ .work = insert_and_lose, .state = &losing });
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    assert_int_equal(losing.tries, 1);
    assert_int_equal(number_of(COUNT), 0);
}

static mishap *be_busy(mishap_store *in, void *tries)
{
    ++*(int *)tries;
    return run(in, BUSY_AT_COMMIT);
}

static void a_commit_that_was_busy_is_repeated(void **state)
{
    int tries = 0;
    (void)state;
    open_store();
    assert_fine(
        mishap_store_transact(store, &(mishap_transaction){ .work = be_busy, .state = &tries }));
    assert_int_equal(tries, 3);
}

static void a_statement_whose_own_commit_fails_has_failed(void **state)
{
    (void)state;
    open_store();
    assert_failure(run(store, BUSY_AT_COMMIT), MISHAP_CODE_UNAVAILABLE, true);
    assert_failure(run(store, BUSY_AT_COMMIT), MISHAP_CODE_UNAVAILABLE, true);
    assert_fine(run(store, BUSY_AT_COMMIT));
}

/* As careless as a function can be. */
static mishap *look_and_leave(mishap_store *in, void *state, bool *done)
{
    mishap_query query;
    struct losing *losing = state;
    losing->looked++;
    *done = losing->done;
    assert_fine(mishap_store_begin(in));
    assert_fine(mishap_store_begin(in));
    mishap_query_begin(&query, in, READ_COUNTER);
    mishap_query_step(&query);
    return NULL;
}

static void what_looking_up_leaves_open_is_ended(void **state)
{
    struct losing losing = { .die_at_commit = 1, .done = true };
    mishap_transaction transaction = { .work = insert_and_lose,
                                       .look_up = look_and_leave,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &transaction));
    assert_int_equal(losing.looked, 1);
    assert_int_equal(store->depth, 0);
    assert_fine(insert(store, 2, "two"));
    mishap_store *other = NULL; /* which sees it: it is in no transaction that is left open */
    int64_t count = 0;
    assert_fine(mishap_store_open(address, NULL, &schema, &other));
    assert_fine(read_number(other, COUNT, &count));
    assert_int_equal(count, 1);
    mishap_store_close(other);
}

static mishap *lose_and_refuse(mishap_store *into, void *state)
{
    struct losing *losing = state;
    if (losing->tries++ > 0)
        return mishap_raise(NOT_FOUND, "There is none any more.");
    MISHAP_TRY(insert(into, 1, "one"));
    return run(into, DIE_AT_COMMIT);
}

static mishap *look_twice(mishap_store *in, void *state, bool *done)
{
    struct losing *losing = state;
    (void)in;
    *done = false;
    return ++losing->looked == 2 && losing->late ? mishap_raise(INTERNAL_ERROR, "Never.") : NULL;
}

/* The second try fails: because the first one was made after all, or for a reason of its own? */
static void a_failure_after_a_commit_in_doubt_is_told_only_if_the_doubt_is_gone(void **state)
{
    struct losing losing = { 0 };
    mishap_transaction transaction = { .work = lose_and_refuse,
                                       .look_up = look_twice,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_failure(mishap_store_transact(store, &transaction), MISHAP_CODE_NOT_FOUND, false);
    assert_int_equal(losing.looked, 2);
    losing = (struct losing){ .late = true };
    mishap *failure = mishap_store_transact(store, &transaction);
    assert_int_equal(losing.looked, 2);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
}

static mishap *look_later(mishap_store *in, void *state, bool *done)
{
    struct losing *losing = state;
    (void)in;
    *done = true;
    if (++losing->looked < 3)
        return mishap_raise(UNAVAILABLE, "Not yet.");
    return losing->late ? mishap_raise(INTERNAL_ERROR, "Never.") : NULL;
}

static void looking_up_is_repeated_while_the_store_is_away(void **state)
{
    struct losing losing = { .die_at_commit = 1 };
    mishap_transaction transaction = { .work = insert_and_lose,
                                       .look_up = look_later,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &transaction));
    assert_int_equal(losing.looked, 3);
    losing = (struct losing){ .die_at_commit = 1, .late = true };
    mishap *failure = mishap_store_transact(store, &transaction); /* it is not known */
    assert_int_equal(losing.looked, 3);
    assert_int_equal(losing.tries, 1);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
}

/* The address asks for less than that. */
static void a_connection_is_durable_and_does_not_wait_for_ever(void **state)
{
    mishap_query query;
    size_t length = strlen(address);
    (void)state;
    if (on_postgresql)
        snprintf(address + length, sizeof address - length, "%coptions=-csynchronous_commit%%3Doff",
                 strchr(address, '?') ? '&' : '?');
    open_store();
    assert_fine(mishap_store_begin(store));
    mishap_query_begin(&query, store, SETTINGS);
    assert_true(mishap_query_step(&query));
    assert_true(mishap_text_equal(mishap_query_text(&query, 0),
                                  on_postgresql ? T("on 5s serializable off") : T("2")));
    assert_fine(mishap_query_end(&query));
    assert_fine(mishap_store_commit(store));
}

static void a_commit_that_comes_late_is_looked_up_again(void **state)
{
    struct losing losing = { .die_at_commit = 1, .late = true };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(
        store,
        &(mishap_transaction){ .work = insert_and_lose, .look_up = look_up, .state = &losing }));
    assert_int_equal(losing.tries, 2);
    assert_int_equal(losing.looked, 2);
    assert_int_equal(number_of(COUNT), 1);
}

static void a_commit_that_is_not_confirmed_is_looked_up(void **state)
{
    struct losing losing = { .die_at_commit = 1 };
    mishap_transaction transaction = { .work = insert_and_lose,
                                       .look_up = look_up,
                                       .state = &losing };
    (void)state;
    open_store();
    assert_fine(mishap_store_transact(store, &transaction)); /* it was not made: again */
    assert_int_equal(losing.tries, 2);
    assert_int_equal(losing.looked, 1);
    assert_int_equal(number_of(COUNT), 1);
    losing = (struct losing){ .die_at_commit = 1, .done = true };
    schema_name[0] = 'r'; /* another schema: renamed */
    mishap_store_close(store);
    open_store();
    assert_fine(mishap_store_transact(store, &transaction)); /* it was made: that is all */
    assert_int_equal(losing.tries, 1);
    assert_int_equal(losing.looked, 1);
}

/* -- a standby that is away -------------------------------------------------------------------- */

static int end_standby(void **state)
{
    mishap_store *own = NULL; /* the other one may wait */
    assert_fine(mishap_store_open(address, NULL, &schema, &own));
    assert_fine(run(own, NO_STANDBY));
    assert_fine(run(own, RELOAD));
    mishap_store_close(own);
    return end(state);
}

/* Let a process disturb what waits for the standby: c cancels its wait, t ends its connection. */
static pid_t disturb(const char *how)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    mishap_store *own = NULL;
    int64_t found = 0;
    alarm(120);
    if (mishap_store_open(address, NULL, &schema, &own))
        _exit(1);
    for (; *how; how++, found = 0)
        while (found == 0) {
            if (read_number(own, *how == 'c' ? CANCEL_WAITING : END_WAITING, &found))
                _exit(2);
            usleep(5000);
        }
    _exit(0);
}

struct standing {
    int64_t id;
    int looked;
};

static mishap *insert_next(mishap_store *into, void *state)
{
    struct standing *standing = state;
    return insert(into, ++standing->id, NULL);
}

/* The number of the row is the caller's: a second try inserts the same one. */
static mishap *insert_next_once(mishap_store *into, void *state)
{
    struct standing *standing = state;
    return insert(into, standing->id, NULL);
}

static mishap *insert_within(mishap_store *into, void *state)
{
    return mishap_store_transact(into,
                                 &(mishap_transaction){ .work = insert_next_once, .state = state });
}

static mishap *insert_next_later(mishap_store *into, void *state)
{
    struct standing *standing = state;
    return insert_later(into, ++standing->id);
}

static mishap *find_next(mishap_store *in, void *state, bool *done)
{
    struct standing *standing = state;
    int64_t count = 0;
    standing->looked++;
    mishap *failure = read_number(in, COUNT, &count);
    *done = count == standing->id;
    return failure;
}

static mishap *confirm_only(mishap_store *in, void *state)
{
    (void)state;
    return mishap_store_confirm(in);
}

/* The server learns a little later than it is told that it has to wait: so, until it does. Without
 * a transaction: confirm alone. */
static mishap *while_disturbed(const char *how, const mishap_transaction *transaction)
{
    pid_t child = disturb(how);
    mishap *failure = NULL;
    int status = -1;
    alarm(120);
    while (!failure)
        failure = transaction ? mishap_store_transact(store, transaction)
                              : mishap_store_confirm(store);
    alarm(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return failure;
}

static void assert_unknown(mishap *failure)
{
    assert_non_null(failure);
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    assert_non_null(strstr(account, "synchronous replication"));
}

/* PostgreSQL commits all the same, and says so in a warning. */
static void a_commit_whose_wait_for_a_standby_is_cancelled_is_told_as_unknown(void **state)
{
    struct standing standing = { 0 };
    mishap_transaction transaction = { .work = insert_next, .state = &standing };
    (void)state;
    assert_unknown(while_disturbed("c", &transaction));
    assert_int_equal(number_of(COUNT), standing.id);
    transaction.work = insert_next_later;
    assert_unknown(while_disturbed("c", &transaction));
    assert_int_equal(number_of(COUNT), standing.id);
    transaction.look_up = find_next; /* it would find the row, and that says nothing */
    assert_unknown(while_disturbed("c", &transaction));
    assert_int_equal(standing.looked, 0);
    pid_t child = disturb("c"); /* a change that is no transaction */
    assert_unknown(insert(store, ++standing.id, NULL));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(number_of(COUNT), standing.id);
}

/* Stop a process of PostgreSQL that waits for the standby, until `over` is closed. */
static pid_t hold_waiting(int over[2])
{
    mishap_store *own = NULL;
    int64_t pid = 0;
    assert_int_equal(pipe(over), 0);
    pid_t child = fork();
    if (child != 0) {
        close(over[0]);
        return child;
    }
    close(over[1]);
    alarm(120);
    if (mishap_store_open(address, NULL, &schema, &own))
        _exit(1);
    while (pid == 0)
        if (read_number(own, WAITING, &pid))
            _exit(2);
    if (kill((pid_t)pid, SIGSTOP) != 0)
        _exit(3);
    if (read(over[0], &pid, 1) != 0)
        _exit(4);
    _exit(kill((pid_t)pid, SIGCONT) == 0 ? 0 : 5);
}

/* Its commit may still be seen later, so no other failure is told. */
static void cannot_be_ended(mishap *(*work)(mishap_store *, void *))
{
    struct standing standing = { .id = number_of(COUNT) };
    mishap_transaction transaction = { .work = work, .look_up = find_next, .state = &standing };
    int over[2], status = -1;
    pid_t child = hold_waiting(over);
    mishap_store_limit_answers(store, 2000);
    mishap *failure = NULL;
    alarm(120);
    do { /* until one waited */
        standing.id++;
        failure = mishap_store_transact(store, &transaction);
    } while (!failure && !standing.looked);
    close(over[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(standing.looked > 1); /* again, after the second try has failed, too */
    assert_true(mishap_store_outcome_unknown(failure));
    assert_failure(failure, MISHAP_CODE_TIMEOUT, false);
    while (number_of(COUNT) != standing.id) /* it was made all the same */
        usleep(5000);
    alarm(0);
}

static void a_commit_that_cannot_be_ended_is_told_as_unknown(void **state)
{
    (void)state;
    cannot_be_ended(insert_next_once);
}

static void a_commit_with_a_transaction_inside_that_cannot_be_ended_is_told_as_unknown(void **state)
{
    (void)state;
    cannot_be_ended(insert_within);
}

static void what_is_found_of_a_lost_commit_is_confirmed_before_it_counts(void **state)
{
    struct standing standing = { 0 };
    mishap_transaction transaction = { .work = insert_next,
                                       .look_up = find_next,
                                       .state = &standing };
    pid_t child = disturb("tc");
    mishap *failure;
    (void)state;
    alarm(120);
    do /* until one was waiting, and lost its connection */
        failure = mishap_store_transact(store, &transaction);
    while (!failure && !standing.looked);
    alarm(0);
    if (!failure) /* it was found, and would be lost if the standby took over */
        kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(standing.looked > 0);
    assert_unknown(failure);
    assert_int_equal(number_of(COUNT), standing.id);
}

static void what_was_read_can_be_confirmed(void **state)
{
    (void)state;
    assert_unknown(while_disturbed("c", NULL));
    assert_unknown(while_disturbed("c", &(mishap_transaction){ .work = confirm_only }));
    assert_fine(run(store, NO_STANDBY));
    assert_fine(run(store, RELOAD));
    assert_fine(mishap_store_confirm(store));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = confirm_only }));
}

struct killing {
    mishap_store *other;
    int tries;
};

static mishap *confirm_without_connection(mishap_store *in, void *state)
{
    struct killing *killing = state;
    MISHAP_TRY(run(in, READ_COUNTER));
    if (killing->tries++ == 0)
        assert_fine(run(killing->other, KILL_OTHERS));
    return mishap_store_confirm(in);
}

static void a_transaction_that_cannot_be_confirmed_is_repeated(void **state)
{
    struct killing killing = { 0 };
    (void)state;
    open_store();
    assert_fine(mishap_store_open(address, NULL, &schema, &killing.other));
    assert_fine(mishap_store_transact(
        store, &(mishap_transaction){ .work = confirm_without_connection, .state = &killing }));
    assert_int_equal(killing.tries, 2);
    mishap_store_close(killing.other);
}

static void without_a_standby_there_is_nothing_to_confirm(void **state)
{
    (void)state;
    open_store();
    assert_fine(mishap_store_confirm(store));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = confirm_only }));
    assert_fine(mishap_store_begin(store));
    assert_failure(run(store, WRONG), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_failure(mishap_store_confirm(store), MISHAP_CODE_INTERNAL_ERROR, false);
    mishap_store_roll_back(store);
}

static mishap *warn(mishap_store *in, void *state)
{
    (void)state;
    return run(in, WARN);
}

static void a_warning_of_the_service_itself_is_no_failure(void **state)
{
    (void)state;
    open_store();
    assert_fine(run(store, WARN));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = warn }));
}

static mishap *warn_and_insert(mishap_store *in, void *state)
{
    (void)state;
    MISHAP_TRY(insert(in, 2, "two"));
    return run(in, WARN_READING);
}

/* What PostgreSQL warned of before says nothing about a commit. */
static void a_warning_of_an_earlier_query_is_no_failure(void **state)
{
    (void)state;
    open_store();
    assert_fine(run(store, WARN_READING));
    assert_fine(insert(store, 1, "one"));
    assert_fine(mishap_store_transact(store, &(mishap_transaction){ .work = warn_and_insert }));
    assert_int_equal(number_of(COUNT), 2);
}

/* -- all --------------------------------------------------------------------------------------- */

/* Of the whole server, for as long as the test lasts. */
#define STANDBY(name)                                                                              \
    {                                                                                              \
#name " on PostgreSQL", name, begin_standby, end_standby, NULL                             \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        POSTGRESQL(after_a_lost_connection_the_next_query_connects_again),
        POSTGRESQL(a_connection_that_ended_while_idle_is_noticed_before_a_change),
        POSTGRESQL(a_single_change_that_is_not_confirmed_is_told_as_unknown),
        POSTGRESQL(a_transaction_that_was_lost_before_its_commit_is_repeated),
        POSTGRESQL(a_commit_that_is_not_confirmed_is_not_repeated_blindly),
        POSTGRESQL(a_commit_that_is_not_confirmed_is_looked_up),
        POSTGRESQL(a_commit_that_comes_late_is_looked_up_again),
        POSTGRESQL(a_commit_that_was_busy_is_repeated),
        POSTGRESQL(a_statement_whose_own_commit_fails_has_failed),
        POSTGRESQL(what_looking_up_leaves_open_is_ended),
        POSTGRESQL(a_failure_after_a_commit_in_doubt_is_told_only_if_the_doubt_is_gone),
        POSTGRESQL(looking_up_is_repeated_while_the_store_is_away),
        BOTH(a_connection_is_durable_and_does_not_wait_for_ever),
        STANDBY(a_commit_whose_wait_for_a_standby_is_cancelled_is_told_as_unknown),
        STANDBY(a_commit_that_cannot_be_ended_is_told_as_unknown),
        STANDBY(a_commit_with_a_transaction_inside_that_cannot_be_ended_is_told_as_unknown),
        STANDBY(what_is_found_of_a_lost_commit_is_confirmed_before_it_counts),
        STANDBY(what_was_read_can_be_confirmed),
        POSTGRESQL(a_transaction_that_cannot_be_confirmed_is_repeated),
        BOTH(without_a_standby_there_is_nothing_to_confirm),
        POSTGRESQL(a_warning_of_an_earlier_query_is_no_failure),
        POSTGRESQL(a_warning_of_the_service_itself_is_no_failure),
    };
    return run_on_stores(tests, sizeof tests / sizeof *tests);
}
