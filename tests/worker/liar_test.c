/*
 * Workers that lie: another program is executed as a worker and sends what it must not. Its caller
 * is told promptly, the process is gone, and no other call is affected.
 */
#include "worker_set_up.h"

#include "worker/loop/inside.h"

mishap *do_run(mishap_call *call);

mishap *do_run(mishap_call *call)
{
    return mishap_answer_member(call, "honest", 1);
}

static mishap *open_other(const mishap_setup *setup, void **state)
{
    static int opened;
    (void)setup;
    *state = &opened;
    return NULL;
}

static const mishap_service other = { "other", "Runs in this program", .open = open_other };
static const mishap_param text[] = {
    { "text", MISHAP_STRING, .length = { 0, 10000000 } },
    { 0 },
};
static const mishap_operation operations[] = {
    { "lie", "Lie", text, do_run, .stateless = true, .timeout_ms = 60000 },
    { "work", "Work", NULL, do_run, .service = &other },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

/* For what must not end because a machine is busy, and for what only ends by the clock. */
static const mishap_runner_times patient = { .wait_ms = 60000,
                                             .begin_ms = 60000,
                                             .answer_ms = 60000,
                                             .start_ms = 60000,
                                             .retry_ms = 100,
                                             .lost_ms = 60000,
                                             .idle_ms = 60000,
                                             .open_ms = 60000 },
                                 hasty = { .wait_ms = 5000,
                                           .begin_ms = 300,
                                           .answer_ms = 150,
                                           .start_ms = 2000,
                                           .retry_ms = 100,
                                           .lost_ms = 1000,
                                           .idle_ms = 60000,
                                           .open_ms = 9000 };

static void begin(struct loop *loop, const char *way, const mishap_runner_times *times)
{
    static const char *program[3];
    program[0] = getenv("LIAR_PROGRAM");
    program[1] = way;
    assert_non_null(program[0]);
    prepare(loop, &app);
    size_t group = mishap_worker_group_of(&loop->plan.groups, &operations[0]);
    loop->plan.groups.groups[group].program = program;
    loop->times = times;
    begin_prepared(loop);
}

/* The children of the keeper that execute the other program. */
static size_t liars(const struct loop *loop)
{
    char path[64], name[64];
    size_t count = 0;
    int pid;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", loop->keeper.pid, loop->keeper.pid);
    FILE *children = fopen(path, "re");
    while (children && fscanf(children, "%d", &pid) == 1) {
        snprintf(path, sizeof path, "/proc/%d/comm", pid);
        FILE *comm = fopen(path, "re");
        if (comm && fgets(name, sizeof name, comm) && strcmp(name, "liar\n") == 0)
            count++;
        if (comm)
            fclose(comm);
    }
    if (children)
        fclose(children);
    return count;
}

static void no_liar_is_left(struct loop *loop)
{
    int64_t until = long_after();
    while (liars(loop) && mishap_clock_monotonic_ns() < until)
        turn(loop, 10);
    assert_int_equal(liars(loop), 0);
}

static void others_work(struct loop *loop)
{
    struct ours o = { 0 };
    call(loop, &o, "work", "{}");
    assert_int_equal(member(&o, "honest"), 1);
    let_go(&o);
}

/* What the log says of each. Of those that begin nothing the second of two is told. */
static const struct {
    const char *way, *words;
    const mishap_code *code;
} lies[] = {
    { "length_of_4_gb", "what is no frame", MISHAP_CODE_INTERNAL_ERROR },
    { "length_of_300_mb", "what is no frame", MISHAP_CODE_INTERNAL_ERROR },
    { "unknown_type", "what is no frame", MISHAP_CODE_INTERNAL_ERROR },
    { "frame_of_a_loop", "only loops send", MISHAP_CODE_INTERNAL_ERROR },
    { "opened_in_between", "not told to open", MISHAP_CODE_INTERNAL_ERROR },
    { "slot_it_does_not_have", "a call that it does not have", MISHAP_CODE_INTERNAL_ERROR },
    { "slot_32", "a call that it does not have", MISHAP_CODE_INTERNAL_ERROR },
    { "slot_65535", "a call that it does not have", MISHAP_CODE_INTERNAL_ERROR },
    { "before_it_began", "Two processes in a row", MISHAP_CODE_INTERNAL_ERROR },
    { "while_it_runs", "that it has not begun, or that was ended", MISHAP_CODE_INTERNAL_ERROR },
    { "progress_before_it_began", "report on a call that it has not", MISHAP_CODE_INTERNAL_ERROR },
    { "broken_json", "an answer that is none", MISHAP_CODE_INTERNAL_ERROR },
    { "line_feed_in_json", "an answer that is none", MISHAP_CODE_INTERNAL_ERROR },
    { "carriage_return_in_json", "an answer that is none", MISHAP_CODE_INTERNAL_ERROR },
    { "text_for_json", "an answer that is none", MISHAP_CODE_INTERNAL_ERROR },
    { "code_that_does_not_exist", "an answer that is none", MISHAP_CODE_INTERNAL_ERROR },
    { "outcome_of_no_kind", "an answer that is none", MISHAP_CODE_INTERNAL_ERROR },
    { "garbage", "what is no frame", MISHAP_CODE_INTERNAL_ERROR },
    { "endless_progress", "not finished in time", MISHAP_CODE_TIMEOUT },
    { "endless_answer", "not finished in time", MISHAP_CODE_TIMEOUT },
    { "endless_answer_when_done", "no answer, though it was done", MISHAP_CODE_INTERNAL_ERROR },
    { "half_a_frame", "not finished in time", MISHAP_CODE_TIMEOUT },
    { "half_a_frame_before_it_began", "began none of its calls", MISHAP_CODE_INTERNAL_ERROR },
    { "half_a_frame_and_exit", "_exit(0)", MISHAP_CODE_INTERNAL_ERROR },
    { "close_socket", "closed the connection", MISHAP_CODE_INTERNAL_ERROR },
    { "done_without_an_answer", "no answer, though it was done", MISHAP_CODE_INTERNAL_ERROR },
    { "begin_and_deny_it", "has not begun, which had", MISHAP_CODE_INTERNAL_ERROR },
    { "kill_itself_in_the_page", "none of its calls has", MISHAP_CODE_INTERNAL_ERROR },
    { "never_begin", "began none of its calls", MISHAP_CODE_INTERNAL_ERROR },
    { "shrink_the_page", "not finished in time", MISHAP_CODE_TIMEOUT },
    { "scribble", "", MISHAP_CODE_INTERNAL_ERROR },
};

/* The time that ends a row is short, and all others are long: so it is known which one it was. */
static int times_of(size_t row, mishap_runner_times *times)
{
    *times = patient;
    bool any = !*lies[row].words;
    if (any || strstr(lies[row].words, "began none") || strstr(lies[row].words, "in a row"))
        times->begin_ms = hasty.begin_ms;
    if (any || strstr(lies[row].words, "though it was done"))
        times->answer_ms = hasty.answer_ms;
    return lies[row].code == MISHAP_CODE_TIMEOUT ? 400 : 60000;
}

static void a_worker_that_lies_is_killed_and_its_caller_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct loop loop;
        struct ours o = { 0 };
        char account[4000];
        mishap_runner_times times;
        int limit_ms = times_of(i, &times);
        begin(&loop, lies[i].way, &times);
        assert_true(add(&loop, &o, "lie", "{}"));
        o.run.call->limit_ms = limit_ms;
        wait_for(&loop, &o);
        if (!o.failure)
            fail_msg("%s: it was believed", lies[i].way);
        account_of(o.failure, account, sizeof account);
        if (mishap_told(o.failure)->code != lies[i].code || !strstr(account, lies[i].words))
            fail_msg("%s: %s", lies[i].way, account);
        assert_int_equal(o.run.died, lies[i].code != MISHAP_CODE_TIMEOUT);
        let_go(&o);
        no_liar_is_left(&loop);
        loop.runner->times = patient;
        others_work(&loop);
        end(&loop);
    }
}

static void an_answer_that_came_counts_though_it_came_twice(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop, "twice_the_same", &patient);
    call(&loop, &o, "lie", "{}");
    assert_int_equal(member(&o, "honest"), 1);
    let_go(&o);
    no_liar_is_left(&loop);
    others_work(&loop);
    end(&loop);
}

static void another_program_can_be_a_worker(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop, "honest", &patient);
    for (int i = 0; i < 3; i++) {
        call(&loop, &o, "lie", "{}");
        assert_int_equal(member(&o, "honest"), 1);
        let_go(&o);
    }
    assert_int_equal(liars(&loop), 1);
    end(&loop);
}

/* Calls that are larger than what its socket holds: they are not sent to it again and again. */
static void a_worker_that_never_reads_is_killed_and_holds_no_memory(void **state)
{
    struct loop loop;
    static struct ours many[20];
    static char arguments[400000];
    size_t left = 20;
    (void)state;
    begin(&loop, "deaf", &hasty);
    snprintf(arguments, sizeof arguments, "{\"text\":\"%0399000d\"}", 0);
    for (size_t i = 0; i < 20; i++)
        assert_true(add(&loop, &many[i], "lie", arguments));
    while (left) {
        turn(&loop, 100);
        left = 0;
        for (size_t i = 0; i < 20; i++) {
            left += !many[i].done;
            if (many[i].run.link)
                assert_true(many[i].run.link->out.length <= 16 * sizeof arguments);
        }
    }
    for (size_t i = 0; i < 20; i++) {
        const mishap_code *code = mishap_told(many[i].failure)->code;
        assert_true(code == MISHAP_CODE_INTERNAL_ERROR || code == MISHAP_CODE_UNAVAILABLE);
        let_go(&many[i]);
    }
    no_liar_is_left(&loop);
    loop.runner->times = patient;
    others_work(&loop);
    end(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_program_can_be_a_worker),
        TEST(a_worker_that_lies_is_killed_and_its_caller_is_told),
        TEST(an_answer_that_came_counts_though_it_came_twice),
        TEST(a_worker_that_never_reads_is_killed_and_holds_no_memory),
    };
    return RUN(tests);
}
