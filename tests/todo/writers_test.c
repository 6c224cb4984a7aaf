/*
 * The todo service: many writers and readers at once, writers that are killed, and what is on the
 * disk then.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "testing.h"
#include "set_up.h"

/* -- many at once ------------------------------------------------------------------------------ */

enum { PROCESSES = 12, ROWS = 60 };

/* The status of a call. One that has waited for others for as long as it may is made again, as its
 * caller is told: that happens on a busy machine. */
static int status_of(const char *name, const char *arguments)
{
    for (;;) {
        struct answer answer;
        int64_t begun = now_ms();
        run(&answer, name, mishap_text_of(arguments));
        int status = answer.status;
        forget(&answer);
        if (status != 503 || now_ms() - begun < MISHAP_STORE_PATIENCE)
            return status;
    }
}

/* Users by this writer, each followed by a look at the list; how many calls failed. */
static int write_users(int writer)
{
    int wrong = 0;
    for (int i = 0; i < ROWS; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments,
                 "{\"name\":\"Writer %d\",\"email\":\"%d.%d@example.com\"}", writer, writer, i);
        wrong += status_of("users.create", arguments) != 201;
        wrong += status_of("users.list", "{\"limit\":5}") != 200;
        snprintf(arguments, sizeof arguments, "{\"title\":\"%d\",\"user_id\":\"%d\"}", i, i + 1);
        wrong += status_of("todos.create", arguments) != 201;
    }
    return wrong;
}

static void assert_all_written(int64_t rows)
{
    assert_int_equal(look_up("SELECT count(*) FROM users"), rows);
    assert_int_equal(look_up("SELECT count(DISTINCT email) FROM users"), rows);
    assert_int_equal(look_up("SELECT count(*) FROM todos"), rows);
    assert_int_equal(look_up("PRAGMA integrity_check"), 1);
    assert_tallies();
}

/* A process of its own, which must not use what this one has opened. */
static pid_t start(int (*run_it)(int number), int number)
{
    mishap_service_close_all();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(run_it(number));
    assert_true(child > 0);
    return child;
}

static int outcome(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int write_and_close(int writer)
{
    int wrong = write_users(writer);
    mishap_service_close_all();
    return wrong > 0;
}

static void write_in_processes(void)
{
    pid_t children[PROCESSES];
    int wrong = 0;
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start(write_and_close, i);
    for (int i = 0; i < PROCESSES; i++)
        wrong += outcome(children[i]) != 0;
    assert_int_equal(wrong, 0);
    assert_all_written(PROCESSES * ROWS);
}

/* The file is not there yet, so they also make it all at once. */
static void processes_write_at_once_and_nothing_is_lost(void **state)
{
    (void)state;
    write_in_processes();
}

/* Every fcntl() of this program, SQLite's among them: it can be made to know no locks of open
 * files. */
static bool no_queue;
static int queue_refused;

int fcntl(int descriptor, int command, ...)
{
    va_list values;
    va_start(values, command);
    void *value = va_arg(values, void *);
    va_end(values);
    if (no_queue && (command == F_OFD_SETLK || command == F_OFD_SETLKW)) {
        queue_refused++;
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_fcntl, descriptor, command, value);
}

/* Every sync of this program, SQLite's among them. */
static int synced;

int fsync(int descriptor)
{
    synced++;
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor)
{
    synced++;
    return (int)syscall(SYS_fdatasync, descriptor);
}

/* What survives a power cut is what was synced before it was answered. */
static void a_change_is_on_the_disk_before_it_is_answered(void **state)
{
    (void)state;
    struct stat before, after;
    char log[120];
    snprintf(log, sizeof log, "%s-wal", file);
    create_users(1);
    for (int i = 2; i < 6; i++) {
        assert_int_equal(stat(log, &before), 0);
        synced = 0;
        askf("users.create", "{\"name\":\"N\",\"email\":\"%d@example.com\"}", i);
        assert_answer(201, NULL);
        assert_int_equal(synced, 1);
        assert_int_equal(stat(log, &after), 0);
        assert_true(after.st_size > before.st_size); /* it was the log, with the change in it */
        askf("users.update", "{\"id\":\"%d\",\"age\":7}", i);
        assert_int_equal(synced, 2);
        ask("users.list", "{}");
        assert_int_equal(synced, 2);
    }
    /* The name of a new file is a change of its folder. */
    mishap_service_close_all();
    static char elsewhere[100];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    setup.data = elsewhere;
    synced = 0;
    ask("users.list", "{}");
    assert_true(synced >= 2);
}

static void without_a_queue_nothing_is_lost_either(void **state)
{
    (void)state;
    no_queue = true;
    write_in_processes();
    ask("users.create", "{\"name\":\"A\",\"email\":\"a@example.com\"}");
    no_queue = false;
    assert_answer(201, NULL);
    assert_int_equal(queue_refused, 1);
}

/* -- a query that does not come to its end ----------------------------------------------------- */

static int stay_half_way(int which)
{
    ask_half((todo_statement)which);
    return 1;
}

/* A process that is inside of a transaction and stays there. */
static pid_t start_half_way(todo_statement which)
{
    char byte;
    next_move = STAY;
    assert_int_equal(pipe(told), 0);
    pid_t child = start(stay_half_way, (int)which);
    close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    close(told[0]);
    return child;
}

static void end_half_way(pid_t child)
{
    kill(child, SIGKILL);
    assert_true(WIFSIGNALED(outcome(child)));
}

static int create_one(int number)
{
    askf("users.create", "{\"name\":\"After\",\"email\":\"after%d@example.com\"}", number);
    return last.status != 201;
}

/* For as long as it takes: the process that it waits for may be held up itself. */
static int create_one_patiently(int number)
{
    char arguments[100];
    snprintf(arguments, sizeof arguments, "{\"name\":\"After\",\"email\":\"after%d@example.com\"}",
             number);
    return status_of("users.create", arguments) != 201;
}

/* How often it was put to sleep tells whether it slept or kept looking. */
enum { KEPT_LOOKING = 2 };

static int create_one_asleep(int number)
{
    struct rusage before, after;
    ask("users.list", "{}");
    getrusage(RUSAGE_SELF, &before);
    int wrong = create_one_patiently(number);
    getrusage(RUSAGE_SELF, &after);
    return wrong ? wrong : after.ru_nvcsw - before.ru_nvcsw > 20 ? KEPT_LOOKING : 0;
}

/* True if all writers slept. On a busy machine one also sleeps for pages and for the disk. */
static bool writers_sleep(int round)
{
    enum { WRITERS = 3 };
    pid_t holder = start_half_way(TODO_USER_INSERT);
    pid_t writers[WRITERS];
    bool slept = true;
    for (int i = 0; i < WRITERS; i++)
        writers[i] = start(create_one_asleep, round * WRITERS + i);
    usleep(400 * 1000);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(waitpid(writers[i], NULL, WNOHANG), 0);
    end_half_way(holder);
    for (int i = 0; i < WRITERS; i++) {
        int status = outcome(writers[i]);
        assert_true(WIFEXITED(status) &&
                    (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == KEPT_LOOKING));
        slept = slept && WEXITSTATUS(status) == 0;
    }
    assert_int_equal(look_up("SELECT count(*) FROM users"), 1 + (round + 1) * WRITERS);
    return slept;
}

static void a_writer_sleeps_until_the_one_before_it_is_done(void **state)
{
    (void)state;
    int round = 0;
    create_users(1);
    while (!writers_sleep(round))
        assert_true(++round < 10);
}

static void a_writer_that_is_killed_in_a_transaction_holds_nobody_up(void **state)
{
    (void)state;
    int64_t quickest = INT64_MAX; /* a busy machine makes it longer, but not each time */
    create_users(1);
    for (int round = 0; round < 5; round++) {
        pid_t holder = start_half_way(TODO_USER_INSERT);
        pid_t writer = start(create_one_patiently, round);
        usleep(20 * 1000 * (useconds_t)round);
        assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
        int64_t killed = now_ms();
        end_half_way(holder);
        assert_int_equal(outcome(writer), 0);
        int64_t took = now_ms() - killed;
        quickest = took < quickest ? took : quickest;
    }
    assert_true(quickest < MISHAP_STORE_PATIENCE / 2);
    assert_int_equal(look_up("SELECT count(*) FROM users WHERE name = 'After'"), 5);
    assert_int_equal(look_up("SELECT count(*) FROM users WHERE name = 'Half'"), 0);
    assert_int_equal(look_up("PRAGMA integrity_check"), 1);
    assert_tallies();
}

/* Not even while they open the store. */
static void readers_are_not_blocked_by_a_writer(void **state)
{
    (void)state;
    create_users(1);
    pid_t holder = start_half_way(TODO_USER_INSERT);
    for (int i = 0; i < 3; i++) { /* who waited for it would be refused at last */
        mishap_service_close_all();
        ask("users.get", "{\"id\":\"1\"}");
        assert_answer(200, NULL);
        ask("users.get", "{\"id\":\"2\"}"); /* is not there yet */
        assert_answer(404, NULL);
        ask("users.list", "{}");
        assert_answer(200, NULL);
    }
    end_half_way(holder);
}

static void a_reader_holds_no_writer_up(void **state)
{
    (void)state;
    create_users(3);
    pid_t holder = start_half_way(TODO_USER_LIST);
    assert_int_equal(create_one(1), 0); /* who waited for it would be refused at last */
    end_half_way(holder);
}

static int create_one_when_told(int number)
{
    char byte;
    alarm(300); /* for what is before this one; who waits for a place in the queue is refused sooner
                 */
    return read(told[0], &byte, 1) != 1 || create_one(number);
}

static void a_call_that_is_ended_in_a_query_leaves_nothing_behind(void **state)
{
    (void)state;
    create_users(2);
    assert_int_equal(pipe(told), 0);
    pid_t other = start(create_one_when_told, 1); /* before this process opens the store again */
    next_move = END;
    ask_half(TODO_USER_INSERT);
    assert_answer(500, NULL);
    assert_non_null(strstr(last.account, "not declared"));
    assert_nothing_left(2);
    ask_half(TODO_USER_LIST);
    assert_answer(500, NULL);
    assert_nothing_left(2);
    /* The queue is free while this process has the store open. */
    assert_int_equal(write(told[1], ".", 1), 1);
    assert_int_equal(outcome(other), 0);
    close(told[0]);
    close(told[1]);
    ask("users.create", "{\"name\":\"Whole\",\"email\":\"half@example.com\"}");
    assert_answer(201, NULL);
    ask("users.list", "{}");
    assert_answer(200, NULL);
    assert_nothing_left(4);
}

/* What was answered is there, and what is there is whole. */
static void a_process_that_is_killed_loses_nothing_that_it_answered(void **state)
{
    (void)state;
    int64_t answered = 0;
    for (int round = 0; round < 5; round++) {
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0;; i++) {
                char arguments[100];
                struct answer answer;
                snprintf(arguments, sizeof arguments,
                         "{\"name\":\"N\",\"email\":\"%d.%d@example.com\"}", round, i);
                run(&answer, "users.create", mishap_text_of(arguments));
                if (answer.status != 201 || write(ends[1], ".", 1) != 1)
                    _exit(1);
            }
        }
        close(ends[1]);
        for (int i = 0; i < 20 + 7 * round; i++, answered++)
            assert_int_equal(read(ends[0], &byte, 1), 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(ends[0], &byte, 1) == 1)
            answered++;
        close(ends[0]);
        int64_t rows = look_up("SELECT count(*) FROM users");
        assert_true(rows >= answered && rows <= answered + 1);
        assert_int_equal(look_up("PRAGMA integrity_check"), 1);
        answered = rows;
    }
    ask("users.create", "{\"name\":\"After\",\"email\":\"after@example.com\"}");
    assert_answer(201, NULL);
}

/* A thousand pages of the log are copied into the file, and the log begins anew. */
static void the_log_does_not_grow_for_ever(void **state)
{
    (void)state;
    char path[120];
    struct stat log;
    create_users(1000);
    snprintf(path, sizeof path, "%s-wal", file);
    assert_int_equal(stat(path, &log), 0);
    assert_in_range(log.st_size, 500 * 4096, 1100 * 4096);
    assert_int_equal(look_up("SELECT count(*) FROM users"), 1000);
}

static void a_store_that_others_keep_locked_can_be_tried_again(void **state)
{
    (void)state;
    sqlite3 *database;
    create_users(1);
    assert_int_equal(sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ask("users.create", "{\"name\":\"B\",\"email\":\"b@example.com\"}");
    assert_answer(503, "{\"error\":\"unavailable\",\"message\":\"The store is busy.\"}");
    assert_true(last.retryable);
    assert_non_null(strstr(last.account, "database is locked"));
    ask("users.get", "{\"id\":\"1\"}"); /* who reads does not wait */
    assert_answer(200, NULL);
    sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(database);
    ask("users.create", "{\"name\":\"B\",\"email\":\"b@example.com\"}");
    assert_answer(201, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TODO_TEST(processes_write_at_once_and_nothing_is_lost),
        TODO_TEST(a_change_is_on_the_disk_before_it_is_answered),
        TODO_TEST(without_a_queue_nothing_is_lost_either),
        TODO_TEST(a_writer_sleeps_until_the_one_before_it_is_done),
        TODO_TEST(a_writer_that_is_killed_in_a_transaction_holds_nobody_up),
        TODO_TEST(readers_are_not_blocked_by_a_writer),
        TODO_TEST(a_reader_holds_no_writer_up),
        TODO_TEST(a_call_that_is_ended_in_a_query_leaves_nothing_behind),
        TODO_TEST(a_process_that_is_killed_loses_nothing_that_it_answered),
        TODO_TEST(the_log_does_not_grow_for_ever),
        TODO_TEST(a_store_that_others_keep_locked_can_be_tried_again),
    };
    watch_memory_of_sqlite();
    remember_containment();
    int failed = RUN(tests);
    forget(&last);
    return failed;
}
