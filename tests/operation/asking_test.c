/* Handlers that ask: declarations, answers, rounds, and the state in the hands of a caller. */
#include "testing.h"

#include "base/rehearsal.h"
#include "mishap/invoke.h"
#include "mishap/typed.h"
#include "operation/sealed.h"
#include "worker/wire/frame.h"

/* -- a program --------------------------------------------------------------------------------- */

static const mishap_param confirm_params[] = {
    { "sure", MISHAP_BOOLEAN, .required = true, .help = "Delete them" },
    { "why", MISHAP_STRING, .length = { 0, 20 }, .initial = "\"none\"" },
    { "colors", MISHAP_ARRAY,
      .items = MISHAP_ITEM(MISHAP_ENUM, .choices = MISHAP_CHOICES("red", "blue")) },
    { 0 }
};
static const mishap_param day_params[] = { { "day", MISHAP_DATE, .required = true }, { 0 } };
static const mishap_param params[] = { { "name", MISHAP_STRING, .required = true },
                                       { "count", MISHAP_INTEGER, .initial = "3" },
                                       { 0 } };

static mishap *purge(mishap_call *call)
{
    const mishap_call *confirm = mishap_reply(call, "confirm");
    if (mishap_reply_state(call, "day") == MISHAP_REPLY_DECLINED)
        mishap_answer_member(call, "no_day", true);
    else if (!mishap_reply(call, "day") && confirm)
        return mishap_ask(call, "day", day_params, "Which day?");
    if (!confirm)
        return mishap_ask(call, "confirm", NULL, "Delete %d of %s?",
                          (int)mishap_integer(call, "count"), mishap_string(call, "name"));
    mishap_answer_member(call, "sure", mishap_boolean(confirm, "sure"));
    mishap_answer_member(call, "why", mishap_string(confirm, "why"));
    mishap_answer_member(call, "colors", mishap_count(confirm, "colors"));
    return mishap_answer_member(call, "day", mishap_string(mishap_reply(call, "day"), "day"));
}

static mishap *both(mishap_call *call)
{
    mishap *asked = NULL;
    if (!mishap_reply(call, "confirm"))
        asked = mishap_ask(call, "confirm", NULL, "First?");
    if (!mishap_reply(call, "day"))
        asked = mishap_ask(call, "day", NULL, "Second?");
    return asked ? asked : mishap_answer_member(call, "done", true);
}

static mishap *drops(mishap_call *call)
{
    mishap *asked = mishap_ask(call, "confirm", NULL, "Never seen");
    return asked ? mishap_answer_member(call, "done", true) : NULL;
}

/* Each byte of \xff becomes three. */
static mishap *speaks_garbage(mishap_call *call)
{
    char words[MISHAP_ASKING_MESSAGE];
    memset(words, '\xff', sizeof words);
    return mishap_ask(call, "confirm", NULL, "%.*s", (int)sizeof words, words);
}

#define PAINT(member) member(MISHAP_STRING, color)
MISHAP_STRUCT(paint, PAINT);

static mishap *ask_to_paint(mishap_call *call, const struct paint *in)
{
    (void)in;
    return mishap_ask(call, "confirm", NULL, "Paint it?");
}

static mishap *undeclared(mishap_call *call)
{
    return mishap_ask(call, "nobody", NULL, "Who?");
}

static mishap *ask_roots(mishap_call *call)
{
    return mishap_ask_client(call, "roots", "{ \"a\" : [ 1 ] }");
}

#define ASKS MISHAP_ASKS({ "confirm", .params = confirm_params }, { "day", .params = day_params })
static const mishap_operation operations[] = {
    { "purge", "Delete", params, purge, .route = "POST /purge", .asks = ASKS },
    { "drop", "Delete", params, purge, .route = "DELETE /drop", .asks = ASKS },
    { "both", "Ask two", NULL, both, .asks = ASKS },
    { "drops", "Ask and go on", NULL, drops, .asks = ASKS },
    { "garbage", "Ask with bytes that are no text", NULL, speaks_garbage, .asks = ASKS },
    { "undeclared", "Ask what is not declared", NULL, undeclared, .asks = ASKS },
    { "roots", "Ask the client", NULL, ask_roots,
      .asks = MISHAP_ASKS({ "roots", .method = "roots/list" }) },
    { "paint", "Ask for a typed call", MISHAP_TYPED(paint, ask_to_paint), .asks = ASKS },
    { "plain", "Ask nothing", .run = undeclared },
    { 0 }
};
static const mishap_app app = { "asker", "1.0", "Asks", .operations = operations };

/* -- from C ------------------------------------------------------------------------------------ */

static mishap *invoke(const char *operation, const char *arguments, const char *answers,
                      char answer[400])
{
    mishap_answered *answered = NULL;
    mishap *failure = mishap_invoke(&app, operation, arguments,
                                    &(mishap_invocation){ .answers = answers }, &answered);
    answer[0] = '\0';
    if (answered)
        snprintf(answer, 400, "%s", answered->text.data);
    mishap_answered_free(answered);
    return failure;
}

static void expect_failure(mishap *failure, const mishap_code *code, const char *message)
{
    assert_non_null(failure);
    assert_string_equal(mishap_told(failure)->code->name.data, code->name.data);
    if (message)
        assert_string_equal(mishap_public_message(mishap_told(failure)).data, message);
    mishap_free(failure);
}

static void a_question_ends_the_run_and_an_answer_begins_it_again(void **unused)
{
    char answer[400];
    (void)unused;
    mishap *failure = invoke("purge", "{\"name\":\"Bob\"}", NULL, answer);
    const mishap_member *questions = mishap_told(failure)->context;
    assert_string_equal(questions->key.data, "questions");
    assert_string_equal(
        questions->value.text.data,
        "{\"confirm\":{\"message\":\"Delete 3 of Bob?\",\"schema\":{\"type\":\"object\","
        "\"properties\":{\"sure\":{\"type\":\"boolean\",\"description\":\"Delete them\"},"
        "\"why\":{\"type\":\"string\",\"maxLength\":20,\"default\":\"none\"},\"colors\":{"
        "\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"red\",\"blue\"]}}},"
        "\"required\":[\"sure\"]}}}");
    expect_failure(failure, MISHAP_CODE_INPUT_REQUIRED, "Delete 3 of Bob?");
    failure = invoke("purge", "{\"name\":\"Bob\"}",
                     "{\"confirm\":{\"sure\":true,\"colors\":[\"red\"]},\"day\":{\"day\":"
                     "\"2026-02-28\"}}",
                     answer);
    assert_null(failure);
    assert_string_equal(answer, "{\"sure\":true,\"why\":\"none\",\"colors\":1,\"day\":"
                                "\"2026-02-28\"}");
}

static void a_wrong_answer_is_asked_for_again_with_what_is_wrong(void **unused)
{
    static const struct {
        const char *answers, *message;
    } cases[] = {
        { "{\"confirm\":{\"sure\":7}}", "Delete 3 of Bob? (sure: invalid type, expected boolean)" },
        { "{\"confirm\":{}}", "Delete 3 of Bob? (sure: field required, expected boolean)" },
        { "{\"confirm\":true}", "Delete 3 of Bob? (The answer must be an object.)" },
        { "{\"confirm\":{\"sure\":true},\"day\":{\"day\":\"2026-02-31\"}}", NULL },
        { "{\"confirm\":{\"sure\":true,\"colors\":[\"green\"]}}", NULL },
        { "{\"confirm\":{\"sure\":true,\"why\":\"012345678901234567890\"}}", NULL },
        { "{}", "Delete 3 of Bob?" },
    };
    char answer[400];
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_failure(invoke("purge", "{\"name\":\"Bob\"}", cases[i].answers, answer),
                       MISHAP_CODE_INPUT_REQUIRED, cases[i].message);
    expect_failure(invoke("purge", "{\"name\":\"Bob\"}", "{\"confirmed\":{}}", answer),
                   MISHAP_CODE_VALIDATION_ERROR, NULL);
    expect_failure(invoke("purge", "{\"name\":\"Bob\"}", "[]", answer), MISHAP_CODE_BAD_REQUEST,
                   NULL);
}

static void what_was_declined_is_cancelled_unless_the_handler_looks(void **unused)
{
    char answer[400];
    (void)unused;
    expect_failure(invoke("purge", "{\"name\":\"Bob\"}", "{\"confirm\":null}", answer),
                   MISHAP_CODE_CANCELLED,
                   "`purge` was cancelled: its question `confirm` was declined.");
    assert_null(invoke("purge", "{\"name\":\"Bob\"}", "{\"confirm\":{\"sure\":true},\"day\":null}",
                       answer));
    assert_string_equal(answer, "{\"no_day\":true,\"sure\":true,\"why\":\"none\",\"colors\":0,"
                                "\"day\":null}");
}

static void several_questions_are_asked_together(void **unused)
{
    char answer[400];
    (void)unused;
    expect_failure(invoke("both", "{}", NULL, answer), MISHAP_CODE_INPUT_REQUIRED,
                   "First? Second?");
    expect_failure(invoke("both", "{}", "{\"confirm\":{\"sure\":true}}", answer),
                   MISHAP_CODE_INPUT_REQUIRED, "Second?");
    assert_null(invoke("drops", "{}", NULL, answer));
    assert_string_equal(answer, "{\"done\":true}");
    expect_failure(invoke("undeclared", "{}", NULL, answer), MISHAP_CODE_INTERNAL_ERROR, NULL);
    expect_failure(invoke("plain", "{}", NULL, answer), MISHAP_CODE_INTERNAL_ERROR, NULL);
    mishap *failure = invoke("roots", "{}", NULL, answer);
    assert_string_equal(mishap_told(failure)->context->value.text.data,
                        "{\"roots\":{\"method\":\"roots/list\",\"params\":{\"a\":[1]}}}");
    expect_failure(failure, MISHAP_CODE_INPUT_REQUIRED, NULL);
    assert_null(invoke("both", "{}",
                       "{\"confirm\":{\"sure\":true},\"day\":{\"day\":\"2026-01-01\"}}", answer));
}

/* -- declarations ------------------------------------------------------------------------------ */

static const mishap_param fine[] = { { "a", MISHAP_STRING, .required = true }, { 0 } };

static void questions_are_flat_and_never_secret(void **unused)
{
    static const mishap_param secret[] = { { "a", MISHAP_STRING, .secret = true }, { 0 } },
                              nested[] = { { "a", MISHAP_OBJECT, .required = false }, { 0 } },
                              list[] = { { "a", MISHAP_ARRAY, .items = fine }, { 0 } },
                              null[] = { { "a", MISHAP_STRING, .nullable = true }, { 0 } };
    static const struct {
        mishap_question questions[3];
        const char *why;
    } cases[] = {
        { { { "q", .params = secret } }, "secret" },
        { { { "q", .params = nested } }, "none of a string" },
        { { { "q", .params = list } }, "none of a string" },
        { { { "q", .params = null } }, "nullable" },
        { { { "Q", .params = fine } }, "lower_snake" },
        { { { "q", .params = fine }, { "q", .params = fine } }, "twice" },
        { { { "q", .params = NULL } }, "without parameters" },
        { { { "q", .params = fine, .method = "a/b" } }, "asks the client" },
        { { { "q", .method = "ab" } }, "asks the client" },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mishap_operation wrong[] = { { "a", "A", NULL, both, .asks = cases[i].questions },
                                           { 0 } };
        const mishap_app program = { "wrong", .operations = wrong };
        mishap *failure = mishap_declaration_check(&program);
        expect_failure(failure ? mishap_tell(failure, "case", i) : NULL, MISHAP_CODE_NOT_CONFIGURED,
                       NULL);
        failure = mishap_declaration_check(&program);
        if (!strstr(mishap_told(failure)->message.data, cases[i].why))
            fail_msg("%zu: %s", i, mishap_told(failure)->message.data);
        mishap_free(failure);
    }
    assert_null(mishap_declaration_check(&app));
}

/* What the run before has left must not be in the answer of the next one, which has all its time.
 */
static void nothing_of_a_run_is_left_for_the_next(void **unused)
{
    mishap_call *call = NULL;
    (void)unused;
    assert_null(mishap_call_begin(&app, mishap_operation_find(&app, mishap_text_of("both")),
                                  mishap_text_of("{}"), &call));
    mishap_call_limit(call, 60000);
    mishap_answer_member(call, "left", true);
    mishap_warn(call, "Left.");
    mishap_buffer_put_text(&call->changes, mishap_text_of("left://over"));
    call->status = 201;
    call->location = "/left";
    call->deadline_ns = 1;
    mishap_asking_again(call);
    assert_int_equal(call->answer.length + call->warnings.length + call->changes.length, 0);
    assert_int_equal(call->status, 0);
    assert_null(call->location);
    assert_true(call->deadline_ns > mishap_clock_monotonic_ns());
    assert_int_equal(call->rounds, 1);
    mishap_call_end(call);
}

/* -- the state --------------------------------------------------------------------------------- */

static mishap_seal *seal;

static mishap_call *begin(const char *operation, const char *arguments, const char *caller)
{
    mishap_call *call = NULL;
    const mishap_operation *found = mishap_operation_find(&app, mishap_text_of(operation));
    assert_null(mishap_call_begin(&app, found, mishap_text_of(arguments), &call));
    call->caller = caller;
    return call;
}

/* The state of a call that has asked. */
static mishap_text ask_state(mishap_call *call)
{
    mishap_buffer text = { 0 };
    mishap *failure = mishap_call_run(call);
    assert_true(mishap_asking_is(call, failure));
    mishap_free(failure);
    mishap_state_put(&text, seal, call);
    assert_false(text.failed);
    mishap_text kept = mishap_arena_copy(&call->arena, mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return kept;
}

static mishap_state_flaw take(const char *operation, const char *arguments, const char *caller,
                              mishap_text state)
{
    mishap_call *call = begin(operation, arguments, caller);
    mishap_state_flaw flaw = mishap_state_take(seal, call, state);
    if (flaw == MISHAP_STATE_SOUND)
        assert_int_equal(call->rounds, 1);
    mishap_call_end(call);
    return flaw;
}

static void a_state_is_for_one_operation_caller_and_arguments(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    (void)unused;
    mishap_call *call = begin("purge", bob, "ada");
    mishap_text state = ask_state(call);
    assert_int_equal(take("purge", bob, "ada", state), MISHAP_STATE_SOUND);
    assert_int_equal(take("purge", bob, "ada", state), MISHAP_STATE_SOUND); /* not destructive */
    assert_int_equal(take("purge", "{\"count\":3,\"name\":\"Bob\"}", "ada", state),
                     MISHAP_STATE_SOUND);
    assert_int_equal(take("purge", "{\"count\":4,\"name\":\"Bob\"}", "ada", state),
                     MISHAP_STATE_FORGED);
    assert_int_equal(take("purge", "{\"name\":\"Eve\"}", "ada", state), MISHAP_STATE_FORGED);
    assert_int_equal(take("purge", bob, "eve", state), MISHAP_STATE_FORGED);
    assert_int_equal(take("purge", bob, NULL, state), MISHAP_STATE_FORGED);
    assert_int_equal(take("purge", bob, "", state), MISHAP_STATE_FORGED);
    assert_int_equal(take("drop", bob, "ada", state), MISHAP_STATE_FORGED);
    assert_int_equal(take("both", "{}", "ada", state), MISHAP_STATE_FORGED);
    mishap_call_end(call);
}

static mishap_text text_of(const char *body)
{
    return body ? mishap_text_of(body) : (mishap_text){ NULL, 0 };
}

/* A handler of typed arguments tells null from a value that is absent. */
static void a_state_is_for_one_null_and_for_one_body(void **unused)
{
    static const struct {
        const char *arguments, *body;
    } ways[] = {
        { "{}", NULL },    { "{\"color\":null}", NULL }, { "{\"color\":\"red\"}", NULL },
        { "{}", "first" }, { "{}", "second" },
    };
    enum { WAYS = sizeof ways / sizeof *ways };
    (void)unused;
    for (size_t i = 0; i < WAYS; i++) {
        mishap_call *call = begin("paint", ways[i].arguments, "ada");
        call->body = text_of(ways[i].body);
        mishap_text state = ask_state(call);
        for (size_t j = 0; j < WAYS; j++) {
            mishap_call *other = begin("paint", ways[j].arguments, "ada");
            other->body = text_of(ways[j].body);
            assert_int_equal(mishap_state_take(seal, other, state),
                             i == j ? MISHAP_STATE_SOUND : MISHAP_STATE_FORGED);
            mishap_call_end(other);
        }
        mishap_call_end(call);
    }
}

static void a_state_that_was_changed_anywhere_is_refused(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    size_t judged = 0;
    (void)unused;
    mishap_call *call = begin("purge", bob, "ada");
    mishap_text state = ask_state(call);
    char changed[400];
    assert_true(state.length < sizeof changed);
    for (size_t i = 0; i < state.length; i++, judged++) { /* each character, another letter */
        memcpy(changed, state.data, state.length);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        assert_int_equal(take("purge", bob, "ada", (mishap_text){ changed, state.length }),
                         MISHAP_STATE_FORGED);
    }
    for (size_t length = 0; length < state.length; length++, judged++)
        assert_int_equal(take("purge", bob, "ada", (mishap_text){ state.data, length }),
                         MISHAP_STATE_FORGED);
    memcpy(changed, state.data, state.length);
    memcpy(changed + state.length, "AAAA", 4);
    assert_int_equal(take("purge", bob, "ada", (mishap_text){ changed, state.length + 4 }),
                     MISHAP_STATE_FORGED);
    assert_true(judged > 60);
    mishap_call_end(call);
}

/* Sealed with the right key, but not by mishap_state_put(). */
static void hostile_states_are_refused(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    static const char *const states[] = {
        "",     "A",  "====",     "AAAA", "not base64 at all", "\xff\xfe",
        "null", "{}", "AQEBAQEB", "\n",   "AAAA\nAAAA"
    };
    size_t large = 1 << 20;
    (void)unused;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        assert_int_equal(take("purge", bob, "ada", mishap_text_of(states[i])), MISHAP_STATE_FORGED);
    char *much = malloc(large);
    assert_non_null(much);
    memset(much, 'A', large);
    assert_int_equal(take("purge", bob, "ada", (mishap_text){ much, large }), MISHAP_STATE_FORGED);
    assert_int_equal(take("purge", bob, "ada", (mishap_text){ much, MISHAP_STATE_LIMIT }),
                     MISHAP_STATE_FORGED);
    free(much);
    mishap_seal *other;
    assert_null(mishap_seal_make(&other));
    mishap_call *call = begin("purge", bob, "ada");
    mishap_text state = ask_state(call);
    mishap_seal *ours = seal;
    seal = other; /* another server */
    assert_int_equal(take("purge", bob, "ada", state), MISHAP_STATE_FORGED);
    seal = ours;
    mishap_seal_free(other);
    mishap_call_end(call);
}

static void a_state_expires_after_ten_minutes(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    static const int64_t start_ms = INT64_C(1800000000000);
    (void)unused;
    assert_true(mishap_rehearsal_begin());
    atomic_store(&mishap_rehearsal_page->now_ms, start_ms);
    atomic_store(&mishap_rehearsal_page->time_is_set, true);
    mishap_call *call = begin("purge", bob, "ada"), *once = begin("drop", bob, "ada");
    mishap_text state = ask_state(call), used = ask_state(once);
    assert_int_equal(take("drop", bob, "ada", used), MISHAP_STATE_SOUND);
    atomic_store(&mishap_rehearsal_page->now_ms, start_ms + MISHAP_STATE_MS);
    assert_int_equal(take("purge", bob, "ada", state), MISHAP_STATE_SOUND);
    assert_int_equal(take("drop", bob, "ada", used), MISHAP_STATE_USED); /* not forgotten yet */
    atomic_store(&mishap_rehearsal_page->now_ms, start_ms + MISHAP_STATE_MS + 1);
    assert_int_equal(take("purge", bob, "ada", state), MISHAP_STATE_EXPIRED);
    assert_int_equal(take("drop", bob, "ada", used), MISHAP_STATE_EXPIRED);
    mishap_call_end(call);
    mishap_call_end(once);
    mishap_rehearsal_end();
}

static void a_state_of_a_destructive_operation_is_valid_once(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    (void)unused;
    for (int i = 0; i < 100; i++) {
        mishap_call *call = begin("drop", bob, "ada");
        mishap_text state = ask_state(call);
        assert_int_equal(take("drop", bob, "ada", state), MISHAP_STATE_SOUND);
        assert_int_equal(take("drop", bob, "ada", state), MISHAP_STATE_USED);
        assert_int_equal(take("drop", bob, "ada", state), MISHAP_STATE_USED);
        mishap_call_end(call);
    }
}

/* A caller that asks and answers again and again. Callers without a key or a token have no owner.
 */
struct answering {
    mishap_call *asks, *answers;
};

static void begin_answering(struct answering *a, const char *name, uint64_t owner)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    *a = (struct answering){ begin("drop", bob, name), begin("drop", bob, name) };
    a->asks->owner = a->answers->owner = owner;
    mishap *failure = mishap_call_run(a->asks);
    assert_true(mishap_asking_is(a->asks, failure));
    mishap_free(failure);
}

static mishap_state_flaw answer_from(const struct answering *a, const char *remote)
{
    mishap_buffer text = { 0 };
    mishap_state_put(&text, seal, a->asks);
    assert_false(text.failed);
    a->answers->remote = mishap_text_of(remote);
    mishap_state_flaw flaw = mishap_state_take(seal, a->answers, mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return flaw;
}

static void end_answering(const struct answering *a)
{
    mishap_call_end(a->asks);
    mishap_call_end(a->answers);
}

static mishap_state_flaw answer_once(const char *name, uint64_t owner, const char *remote)
{
    struct answering a;
    begin_answering(&a, name, owner);
    mishap_state_flaw flaw = answer_from(&a, remote);
    end_answering(&a);
    return flaw;
}

/* How many answers of one caller are taken before one is not; *flaw is why. */
static size_t answer_until_refused(const char *name, uint64_t owner, const char *remote,
                                   mishap_state_flaw *flaw)
{
    struct answering a;
    size_t taken = 0;
    begin_answering(&a, name, owner);
    while ((*flaw = answer_from(&a, remote)) == MISHAP_STATE_SOUND && taken < 5000)
        taken++;
    end_answering(&a);
    return taken;
}

enum { AT_ONCE = 500, EACH_MS = MISHAP_STATE_MS / AT_ONCE };

/* A seal that nobody has used, and a clock that stands still. */
static mishap_seal *begin_crowd(int64_t now_ms)
{
    mishap_seal *ours = seal;
    assert_true(mishap_rehearsal_begin());
    atomic_store(&mishap_rehearsal_page->now_ms, now_ms);
    atomic_store(&mishap_rehearsal_page->time_is_set, true);
    assert_null(mishap_seal_make(&seal));
    return ours;
}

static void end_crowd(mishap_seal *ours)
{
    mishap_seal_free(seal);
    seal = ours;
    mishap_rehearsal_end();
}

static const int64_t crowd_ms = INT64_C(1800000000000);

static void a_caller_cannot_use_up_the_places_of_others(void **unused)
{
    mishap_state_flaw flaw;
    (void)unused;
    mishap_seal *ours = begin_crowd(crowd_ms);
    assert_int_equal(answer_until_refused("eve", 7, "192.0.2.7", &flaw), AT_ONCE);
    assert_int_equal(flaw, MISHAP_STATE_CROWDED);
    for (uint64_t owner = 100; owner < 2000; owner++)
        assert_int_equal(answer_once("ada", owner, "192.0.2.7"), MISHAP_STATE_SOUND);
    assert_int_equal(answer_once(NULL, 0, "192.0.2.7"), MISHAP_STATE_SOUND);
    assert_int_equal(answer_once("eve", 7, "192.0.2.9"), MISHAP_STATE_CROWDED);
    /* One more, each time its part of ten minutes has passed. */
    for (int64_t i = 1; i < 5; i++) {
        atomic_store(&mishap_rehearsal_page->now_ms, crowd_ms + i * EACH_MS - 1);
        assert_int_equal(answer_once("eve", 7, ""), MISHAP_STATE_CROWDED);
        atomic_store(&mishap_rehearsal_page->now_ms, crowd_ms + i * EACH_MS);
        assert_int_equal(answer_once("eve", 7, ""), MISHAP_STATE_SOUND);
    }
    end_crowd(ours);
}

/* A caller without a key or a token is its network, whatever it calls itself. */
static void callers_without_a_key_are_counted_by_their_network(void **unused)
{
    char name[20];
    mishap_state_flaw flaw;
    (void)unused;
    mishap_seal *ours = begin_crowd(crowd_ms);
    for (size_t i = 0; i < AT_ONCE; i++) {
        snprintf(name, sizeof name, "user%zu", i);
        assert_int_equal(answer_once(i % 2 ? name : NULL, 0, "192.0.2.1"), MISHAP_STATE_SOUND);
    }
    assert_int_equal(answer_once(NULL, 0, "192.0.2.1"), MISHAP_STATE_CROWDED);
    assert_int_equal(answer_once("another", 0, "192.0.2.1"), MISHAP_STATE_CROWDED);
    assert_int_equal(answer_once(NULL, 0, "192.0.2.2"), MISHAP_STATE_SOUND);
    assert_int_equal(answer_once("another", 0, "192.0.2.2"), MISHAP_STATE_SOUND);
    assert_int_equal(answer_until_refused(NULL, 0, "2001:db8::1", &flaw), AT_ONCE);
    assert_int_equal(answer_once(NULL, 0, "2001:db8::2:3"), MISHAP_STATE_CROWDED);
    assert_int_equal(answer_once(NULL, 0, "2001:db8:0:1::1"), MISHAP_STATE_SOUND);
    assert_int_equal(answer_once(NULL, 0, ""), MISHAP_STATE_SOUND);
    end_crowd(ours);
}

/* More addresses than there are places: callers with a key or a token have others. */
static void callers_without_a_key_cannot_use_up_the_places_of_those_with_one(void **unused)
{
    enum { PLACES = 65536, ADDRESSES = PLACES / AT_ONCE + 2 };
    char remote[20];
    mishap_state_flaw flaw = MISHAP_STATE_SOUND;
    size_t taken = 0;
    (void)unused;
    mishap_seal *ours = begin_crowd(crowd_ms);
    for (size_t i = 0; i < ADDRESSES && flaw != MISHAP_STATE_FULL; i++) {
        snprintf(remote, sizeof remote, "192.0.2.%zu", i);
        taken += answer_until_refused(NULL, 0, remote, &flaw);
    }
    assert_int_equal(flaw, MISHAP_STATE_FULL);
    assert_in_range(taken, PLACES / 4, PLACES);
    for (uint64_t owner = 100; owner < 1100; owner++)
        assert_int_equal(answer_once("ada", owner, ""), MISHAP_STATE_SOUND);
    end_crowd(ours);
}

static void a_question_with_bytes_that_are_no_text_crosses_to_the_loop(void **unused)
{
    mishap_framed framed;
    size_t size;
    mishap_buffer frame = { 0 };
    mishap *again;
    (void)unused;
    mishap_call *call = begin("garbage", "{}", NULL), *other = begin("garbage", "{}", NULL);
    mishap *failure = mishap_call_run(call);
    mishap_frame_put_outcome(&frame, 1, call, failure);
    assert_int_equal(mishap_frame_read(mishap_buffer_text(&frame), &framed, &size),
                     MISHAP_FRAME_WHOLE);
    assert_true(mishap_frame_take_outcome(framed.payload, other, &again));
    assert_true(mishap_asking_is(other, again));
    mishap_free(failure);
    mishap_free(again);
    mishap_buffer_release(&frame);
    mishap_call_end(call);
    mishap_call_end(other);
}

static void what_a_client_must_say_is_not_taken_from_others(void **unused)
{
    mishap_arena arena;
    (void)unused;
    mishap_arena_init(&arena, NULL, 0);
    yyjson_val *answers = mishap_json_read_into(&arena,
                                                (mishap_text)MISHAP_TEXT("{\"roots\":{\"a\":1}}"));
    yyjson_val *number = mishap_json_read_into(&arena, (mishap_text)MISHAP_TEXT("{\"roots\":7}"));
    mishap_call *call = begin("roots", "{}", NULL);
    assert_null(mishap_asking_answer(call, answers, MISHAP_ANSWERS_OF_SCRIPT));
    assert_null(mishap_reply(call, "roots"));
    assert_null(mishap_asking_answer(call, number, MISHAP_ANSWERS_OF_CLIENT));
    assert_null(mishap_reply(call, "roots"));
    assert_null(mishap_asking_answer(call, answers, MISHAP_ANSWERS_OF_CLIENT));
    assert_non_null(mishap_reply(call, "roots"));
    mishap_call_end(call);
    mishap_arena_release(&arena);
}

static void a_server_with_the_same_secret_takes_only_what_may_come_twice(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    static const mishap_shared_secret secret = { .keys = { { 7 } }, .count = 1 };
    mishap_seal *ours = seal, *before, *after;
    (void)unused;
    assert_null(mishap_seal_make(&before));
    assert_null(mishap_seal_make(&after));
    mishap_seal_use(before, &secret);
    mishap_seal_use(after, &secret);
    seal = before;
    mishap_call *one = begin("purge", bob, "ada"), *two = begin("drop", bob, "ada");
    mishap_text first = ask_state(one), second = ask_state(two);
    seal = after;
    assert_int_equal(take("purge", bob, "ada", first), MISHAP_STATE_SOUND);
    assert_int_equal(take("drop", bob, "ada", second), MISHAP_STATE_ELSEWHERE);
    assert_int_equal(take("drop", bob, "eve", second), MISHAP_STATE_FORGED);
    seal = ours;
    mishap_call_end(one);
    mishap_call_end(two);
    mishap_seal_free(before);
    mishap_seal_free(after);
}

/* The name may be that of a later key, which belongs to somebody else. */
static void a_state_is_for_one_key_and_not_for_its_name(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    static const uint64_t owners[] = { 0, 8, UINT64_MAX, 7 };
    (void)unused;
    mishap_call *call = begin("purge", bob, "ada");
    call->owner = 7;
    mishap_text state = ask_state(call);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        mishap_call *next = begin("purge", bob, "ada");
        next->owner = owners[i];
        assert_int_equal(mishap_state_take(seal, next, state),
                         owners[i] == 7 ? MISHAP_STATE_SOUND : MISHAP_STATE_FORGED);
        mishap_call_end(next);
    }
    mishap_call_end(call);
}

/* One server after the other gets a new secret, in three steps; at no time is a state refused that
 * any of them has made. */
static void a_secret_is_replaced_while_servers_run(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    static const mishap_shared_secret steps[] = {
        { .keys = { { 1 } }, .count = 1 },
        { .keys = { { 1 }, { 2 } }, .count = 2 },
        { .keys = { { 2 }, { 1 } }, .count = 2 },
        { .keys = { { 2 } }, .count = 1 },
    };
    enum { STEPS = sizeof steps / sizeof *steps };
    mishap_seal *ours = seal, *seals[STEPS];
    mishap_call *askers[STEPS];
    mishap_text states[STEPS];
    (void)unused;
    for (size_t i = 0; i < STEPS; i++) {
        assert_null(mishap_seal_make(&seals[i]));
        mishap_seal_use(seals[i], &steps[i]);
        seal = seals[i];
        askers[i] = begin("purge", bob, "ada");
        states[i] = ask_state(askers[i]);
    }
    for (size_t i = 0; i < STEPS; i++)
        for (size_t j = 0; j < STEPS; j++) {
            bool near = i == j || i + 1 == j || j + 1 == i;
            seal = seals[i];
            mishap_state_flaw flaw = take("purge", bob, "ada", states[j]);
            if (near)
                assert_int_equal(flaw, MISHAP_STATE_SOUND);
        }
    seal = seals[0];
    assert_int_equal(take("purge", bob, "ada", states[STEPS - 1]), MISHAP_STATE_FORGED);
    seal = seals[STEPS - 1];
    assert_int_equal(take("purge", bob, "ada", states[0]), MISHAP_STATE_FORGED);
    seal = ours;
    for (size_t i = 0; i < STEPS; i++) {
        mishap_call_end(askers[i]);
        mishap_seal_free(seals[i]);
    }
}

static void earlier_answers_are_in_the_state_and_rounds_are_counted(void **unused)
{
    static const char bob[] = "{\"name\":\"Bob\"}";
    mishap_arena arena;
    (void)unused;
    mishap_arena_init(&arena, NULL, 0);
    mishap_text state = { NULL, 0 };
    for (unsigned round = 0; round < 12; round++) {
        mishap_call *call = begin("purge", bob, "ada");
        mishap_buffer text = { 0 };
        if (state.data)
            assert_int_equal(mishap_state_take(seal, call, state), MISHAP_STATE_SOUND);
        assert_int_equal(call->rounds, round);
        assert_null(mishap_asking_answer_text(
            call, mishap_text_of(round == 1 ? "{\"confirm\":{\"sure\":true}}" : "{}"),
            MISHAP_ANSWERS_PLAIN));
        mishap *failure = mishap_call_run(call);
        if (round >= MISHAP_ASKING_ROUNDS) {
            expect_failure(failure, MISHAP_CODE_CANCELLED, NULL);
            mishap_call_end(call);
            break;
        }
        assert_string_equal(call->questions->question->name, round ? "day" : "confirm");
        mishap_free(failure);
        mishap_state_put(&text, seal, call);
        state = mishap_arena_copy(&arena, mishap_buffer_text(&text));
        mishap_buffer_release(&text);
        mishap_call_end(call);
        assert_true(round < 11);
    }
    mishap_arena_release(&arena);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* Answers are taken, the handler runs and asks, and the state is sealed and opened. What is short
 * of memory fails in order: no state is taken for a sound one that was not. */
static void ask_seal_and_open(const void *input)
{
    mishap_buffer text = { 0 };
    mishap_call *call = NULL, *next = NULL;
    const mishap_operation *purge_of = &operations[0];
    mishap *failure = mishap_call_begin(&app, purge_of, T("{\"name\":\"Bob\"}"), &call);
    if (!failure)
        failure = mishap_asking_answer_text(call, mishap_text_of(input), MISHAP_ANSWERS_PLAIN);
    if (!failure)
        failure = mishap_call_run(call);
    if (mishap_asking_is(call, failure)) {
        mishap_state_put(&text, seal, call);
        mishap_free(failure);
        failure = mishap_call_begin(&app, purge_of, T("{\"name\":\"Bob\"}"), &next);
        if (!failure && !text.failed) {
            mishap_state_flaw flaw = mishap_state_take(seal, next, mishap_buffer_text(&text));
            assert_true(flaw == MISHAP_STATE_SOUND || flaw == MISHAP_STATE_NO_MEMORY);
        }
    }
    mishap_free(failure);
    mishap_call_end(call);
    mishap_call_end(next);
    mishap_buffer_release(&text);
}

static void a_lack_of_memory_harms_nothing(void **unused)
{
    (void)unused;
    mishap_use_allocator(&failing_allocator);
    torture(ask_seal_and_open, "{\"confirm\":{\"sure\":true,\"colors\":[\"red\"]}}");
    torture(ask_seal_and_open, "{\"confirm\":{\"sure\":7}}");
    mishap_use_allocator(NULL);
}

/* -- from a worker ----------------------------------------------------------------------------- */

static void questions_cross_to_the_loop_and_forged_ones_do_not(void **unused)
{
    mishap_framed framed;
    size_t size;
    mishap_buffer frame = { 0 };
    mishap *failure, *again;
    (void)unused;
    mishap_call *call = begin("both", "{}", NULL), *other = begin("both", "{}", NULL),
                *plain = begin("plain", "{}", NULL);
    failure = mishap_call_run(call);
    mishap_frame_put_outcome(&frame, 1, call, failure);
    assert_int_equal(mishap_frame_read(mishap_buffer_text(&frame), &framed, &size),
                     MISHAP_FRAME_WHOLE);
    assert_true(mishap_frame_take_outcome(framed.payload, other, &again));
    assert_true(mishap_asking_is(other, again));
    assert_string_equal(other->questions->question->name, "confirm");
    assert_string_equal(other->questions->next->message.data, "Second?");
    mishap_free(again);
    assert_false(mishap_frame_take_outcome(framed.payload, plain, &again)); /* declares none */
    assert_null(again);
    char *which = memmem(frame.data, frame.length, "First?", 6);
    assert_non_null(which);
    which[-5] = 9; /* the number of the question */
    assert_false(mishap_frame_take_outcome(framed.payload, other, &again));
    which[-5] = 0;
    which[0] = '\xff'; /* no UTF-8 */
    assert_false(mishap_frame_take_outcome(framed.payload, other, &again));
    mishap_free(failure);
    mishap_buffer_release(&frame);
    mishap_call_end(call);
    mishap_call_end(other);
    mishap_call_end(plain);
}

static int make_seal(void **state)
{
    (void)state;
    mishap_free(mishap_seal_make(&seal));
    return seal ? 0 : -1;
}

static int free_seal(void **state)
{
    (void)state;
    mishap_seal_free(seal);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_question_ends_the_run_and_an_answer_begins_it_again),
        TEST(a_wrong_answer_is_asked_for_again_with_what_is_wrong),
        TEST(what_was_declined_is_cancelled_unless_the_handler_looks),
        TEST(several_questions_are_asked_together),
        TEST(questions_are_flat_and_never_secret),
        TEST(nothing_of_a_run_is_left_for_the_next),
        TEST(a_state_is_for_one_operation_caller_and_arguments),
        TEST(a_state_is_for_one_null_and_for_one_body),
        TEST(a_state_that_was_changed_anywhere_is_refused),
        TEST(hostile_states_are_refused),
        TEST(a_state_expires_after_ten_minutes),
        TEST(a_state_of_a_destructive_operation_is_valid_once),
        TEST(a_caller_cannot_use_up_the_places_of_others),
        TEST(callers_without_a_key_are_counted_by_their_network),
        TEST(callers_without_a_key_cannot_use_up_the_places_of_those_with_one),
        TEST(a_question_with_bytes_that_are_no_text_crosses_to_the_loop),
        TEST(what_a_client_must_say_is_not_taken_from_others),
        TEST(a_server_with_the_same_secret_takes_only_what_may_come_twice),
        TEST(a_state_is_for_one_key_and_not_for_its_name),
        TEST(a_secret_is_replaced_while_servers_run),
        TEST(earlier_answers_are_in_the_state_and_rounds_are_counted),
        TEST(a_lack_of_memory_harms_nothing),
        TEST(questions_cross_to_the_loop_and_forged_ones_do_not),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_seal, free_seal);
}
