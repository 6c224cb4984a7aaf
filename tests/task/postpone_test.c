/* What a loop that reads slowly is sent: never much more than one outcome at once, and all in the
 * end. What cannot be sent is replaced by a refusal. */
#include "testing.h"

#include "task/inside.h"

enum { LENGTH = 3 << 20, MANY = 40 };

static char outcome[LENGTH];
static size_t wholes, states;

static mishap *find_row(mishap_task_rows *rows, mishap_task_find what, mishap_text text,
                        int64_t number, mishap_task_each *each, void *context)
{
    bool whole = what == MISHAP_TASK_ONE;
    (void)rows, (void)number;
    assert_true(whole || what == MISHAP_TASK_STATE);
    wholes += whole;
    states += !whole;
    each(context, &(mishap_task_row){ .key = text,
                                      .owner = T("0123456789abcdef:ada"),
                                      .operation = T("change"),
                                      .incident = T("incident"),
                                      .state = MISHAP_TASK_SUCCEEDED,
                                      .call = T("call"),
                                      .outcome = { whole ? outcome : NULL, whole ? LENGTH : 0 } });
    return NULL;
}

static const struct mishap_task_engine engine = { .find = find_row };
static const mishap_task_plan plan = { .engine = &engine };
static const mishap_text ada = { "0123456789abcdef:ada", 20 };
static tasks t;
static task_conn conn;
static char id[MISHAP_TASK_ID + 1];

static int begin(void **state)
{
    static int rows;
    (void)state;
    t = (tasks){ .plan = &plan, .rows = (mishap_task_rows *)(void *)&rows };
    conn = (task_conn){ .socket = 0 };
    wholes = states = 0;
    mishap_task_key_draw(id);
    mishap_task_id_prove(t.secret, ada, id);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mishap_tasks_release_postponed(&conn);
    mishap_buffer_release(&conn.out);
    return 0;
}

/* As if the loop had read all: returns how many replies there were, which have an outcome or none.
 * The numbers follow each other. */
static size_t read_all(uint32_t *number, size_t length)
{
    size_t count = 0, taken = 0, size;
    mishap_task_message message;
    mishap_task_reply reply;
    while ((size = mishap_task_message_read(
                (mishap_text){ conn.out.data + taken, conn.out.length - taken }, &message))) {
        assert_int_equal(message.number, ++*number);
        assert_true(mishap_task_take_reply(message.body, &reply));
        assert_int_equal(reply.kind, MISHAP_TASK_TOLD);
        assert_int_equal(reply.told.outcome.length, length);
        taken += size;
        count++;
    }
    assert_int_equal(taken, conn.out.length);
    mishap_buffer_reset(&conn.out);
    return count;
}

static void follow(mishap_task_wish wish)
{
    for (uint32_t i = MANY; i; i--) /* the newest is told first */
        assert_null(mishap_tasks_watch(&t, &conn, i, wish, ada, mishap_text_of(id)));
}

static void followers_get_one_outcome_after_the_other(void **state)
{
    size_t told = 0;
    uint32_t number = 0;
    (void)state;
    follow(MISHAP_TASK_FOLLOW);
    while (told < MANY) {
        mishap_tasks_tell_watches(&t);
        assert_in_range(conn.out.length, 1, TASK_FULL + 2 * LENGTH);
        assert_true(conn.owes || !t.watches);
        told += read_all(&number, LENGTH);
        t.drained = true;
    }
    assert_null(t.watches);
    assert_int_equal(wholes, MANY);
}

static void readers_of_the_state_get_no_outcome(void **state)
{
    uint32_t number = 0;
    (void)state;
    follow(MISHAP_TASK_WATCH);
    mishap_tasks_tell_watches(&t);
    assert_null(t.watches);
    assert_int_equal(read_all(&number, 0), MANY);
    assert_int_equal(states, MANY);
    assert_int_equal(wholes, 0);
}

static void ask(uint32_t number, mishap_task_wish wish)
{
    if (!mishap_tasks_postpone(&conn, number, wish, ada, mishap_text_of(id)))
        mishap_tasks_ask(&t, &conn, number, wish, ada, mishap_text_of(id));
}

static void answers_wait_until_there_is_room_in_their_order(void **state)
{
    size_t told = 0;
    uint32_t number = 0;
    (void)state;
    for (uint32_t i = 1; i <= MANY; i++)
        ask(i, MISHAP_TASK_ANSWER);
    ask(MANY + 1, MISHAP_TASK_ANSWER);
    mishap_tasks_forget_postponed(&conn, MANY + 1); /* its caller has gone */
    mishap_tasks_forget_postponed(&conn, MANY + 2);
    while (told < MANY) {
        assert_in_range(conn.out.length, 1, TASK_FULL + 2 * LENGTH);
        told += read_all(&number, LENGTH);
        mishap_tasks_ask_postponed(&t, &conn);
    }
    assert_null(conn.postponed);
    assert_int_equal(conn.out.length, 0);
    assert_int_equal(wholes, MANY);
}

static void other_questions_do_not_wait(void **state)
{
    (void)state;
    ask(1, MISHAP_TASK_ANSWER);
    ask(2, MISHAP_TASK_ANSWER);
    ask(3, MISHAP_TASK_ANSWER);
    assert_int_equal(wholes, 2);
    ask(4, MISHAP_TASK_SHOW);
    assert_int_equal(states, 1);
    assert_non_null(conn.postponed);
    assert_null(conn.postponed->next);
}

static void a_reply_that_is_too_long_is_refused_alone(void **state)
{
    mishap_task_message message;
    mishap_task_reply reply = { .kind = MISHAP_TASK_TOLD };
    (void)state;
    assert_true(mishap_tasks_reply(&t, &conn, 1, &(mishap_task_reply){ .kind = MISHAP_TASK_NONE }));
    size_t first = conn.out.length;
    reply.told.call = (mishap_text){ outcome, LENGTH };
    reply.told.outcome = (mishap_text){ outcome, MISHAP_TASK_MESSAGE_LIMIT }; /* is not read */
    assert_false(mishap_tasks_reply(&t, &conn, 2, &reply));
    assert_false(conn.out.failed);
    assert_int_equal(mishap_task_message_read(mishap_buffer_text(&conn.out), &message), first);
    assert_int_equal(message.number, 1);
    assert_int_equal(mishap_task_message_read(
                         (mishap_text){ conn.out.data + first, conn.out.length - first }, &message),
                     conn.out.length - first);
    assert_int_equal(message.number, 2);
    assert_true(mishap_task_take_reply(message.body, &reply));
    assert_int_equal(reply.kind, MISHAP_TASK_REFUSED);
    assert_true(mishap_is(reply.failure, INTERNAL_ERROR));
    mishap_free(reply.failure);
}

#define EACH(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(followers_get_one_outcome_after_the_other),
        EACH(readers_of_the_state_get_no_outcome),
        EACH(answers_wait_until_there_is_room_in_their_order),
        EACH(other_questions_do_not_wait),
        EACH(a_reply_that_is_too_long_is_refused_alone),
    };
    return RUN(tests);
}
