/* src/operation/hide: neither a secret nor a stack trace leaves with a failure. */
#include "testing.h"

#include "operation/call.h"
#include "operation/hide.h"

/* -- what a call knows ------------------------------------------------------------------------- */

static mishap *do_nothing(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_param account_params[] = {
    { "secrets", MISHAP_ARRAY, .items = &(const mishap_param){ NULL, .type = MISHAP_STRING } },
    { .name = "owner", .type = MISHAP_STRING },
    { 0 },
};
static const mishap_param login_params[] = {
    { .name = "user", .type = MISHAP_STRING },
    { "phrase", MISHAP_STRING, .secret = true },
    { "number", MISHAP_INTEGER, .secret = true },
    { "account", MISHAP_OBJECT, .secret = true, .members = account_params },
    { 0 },
};
static const mishap_operation operations[] = {
    { .name = "login", .summary = "Log in", .params = login_params, .run = do_nothing },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = operations };

static void the_values_of_secret_parameters_are_learned(void **state)
{
    (void)state;
    mishap_call *call;
    mishap *failure = mishap_call_begin(
        &app, &operations[0],
        T("{\"user\":\"ada.lovelace\",\"phrase\":\"open sesame\",\"number\":4711,"
          "\"account\":{\"owner\":\"babbage\",\"secrets\":[\"one1\",\"tw\",\"three3\"],"
          "\"own-key\":2.5}}"),
        &call);
    assert_null(failure);
    const mishap_secrets *secrets = mishap_call_secrets(call);
    assert_ptr_equal(mishap_call_secrets(call), secrets);
    static const char *const hidden[] = { "an open sesame", "babbage", "one1",  "three3",
                                          "4711",           "own-key", "2.500!" };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (!mishap_secrets_stand_in(secrets, mishap_text_of(hidden[i])))
            fail_msg("%s", hidden[i]);
    /* Neither what is too short nor what is declared, and so public. */
    assert_false(mishap_secrets_stand_in(secrets, T("ada.lovelace, tw, owner, secrets, account")));
    mishap_call_end(call);
}

static void parameters_that_were_not_given_have_no_secrets(void **state)
{
    (void)state;
    mishap_call *call;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    assert_true(mishap_secrets_none(mishap_call_secrets(call)));
    mishap_call_end(call);
}

/* -- documents --------------------------------------------------------------------------------- */

static mishap_secret known_texts[3];
static mishap_secrets known = { .texts = known_texts };

static void make_known(void)
{
    mishap_secrets_add_text(&known, T("hunter2"));
    mishap_secrets_add_text(&known, T("say \"friend\""));
    mishap_secrets_add_text(&known, T("a/b/c"));
    mishap_secrets_sort(&known);
}

#define TRACE   "Traceback (most recent call last):\\n  File \\\"x.py\\\", line 3, in f"
#define REMOVED "A stack trace was removed here."

static const struct hidden {
    const char *json, *clean; /* NULL: as it was */
    bool trace;
} documents[] = {
    { "{}", NULL, false },
    { "[]", NULL, false },
    { "null", NULL, false },
    { "{\"a\":1,\"b\":[true,null,-2.5e3,\"x\"]}", NULL, false },
    { "{ \"a\" : \"2026-02-09T10:20:30.123Z\", \"url\":\"https://example.com/a#b(c)\" }", NULL,
      false },
    { "{\"a\":\"a \\\"quoted\\\" word:\\n\\tnext (line)\"}", NULL, false },
    { "{\"big\":123456789012345678901234567890,\"a\":\"line 1:\\nline 2\"}", NULL, false },
    { "{\"a\":\"hunter2\"}", "{\"a\":\"[redacted]\"}", false },
    { "{\"a\":{\"b\":[1,\"is hunter2.\"]},\"c\":123456789012345678901234567890}",
      "{\"a\":{\"b\":[1,\"is [redacted].\"]},\"c\":123456789012345678901234567890}", false },
    { "{\"hunter2\":1,\"b\":\"x\"}", "{\"b\":\"x\"}", false },
    { "{\"a\":\"\\u0068unter2\"}", "{\"a\":\"[redacted]\"}", false },
    { "{\"a\":\"say \\\"friend\\\"\"}", "{\"a\":\"[redacted]\"}", false },
    { "{\"a\":\"a\\/b\\/c\"}", "{\"a\":\"[redacted]\"}", false },
    { "\"hunter2\"", "\"[redacted]\"", false },
    { "{\"a\":\"" TRACE "\",\"b\":2}", "{\"a\":\"" REMOVED "\",\"b\":2}", true },
    { "[\"fine\",\"" TRACE "\"]", "[\"fine\",\"" REMOVED "\"]", true },
    { "{\"" TRACE "\":1}", "{}", true },
    { "{\"a\":\"at f (x.js:1:2)\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"\\u0061t f \\u0028x.js\\u003a1:2)\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"\\u0061t f \\u0028x.js\\u003a1\\u003A2)\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"Exception in thread \\\"main\\\" x\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"goroutine 1 [running]:\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"#0  0x55 in main\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"hunter2 " TRACE "\",\"b\":\"hunter2\"}",
      "{\"a\":\"" REMOVED "\",\"b\":\"[redacted]\"}", true },
};

static void assert_cleaned(const struct hidden *hidden, const mishap_secrets *secrets,
                           const char *clean)
{
    mishap_buffer json = { 0 };
    mishap_buffer_put_text(&json, mishap_text_of(hidden->json));
    mishap *trace = mishap_hide_json(&json, secrets);
    assert_false(json.failed);
    mishap_buffer_put_char(&json, '\0');
    assert_string_equal(json.data, clean);
    assert_int_equal(trace != NULL, hidden->trace);
    mishap_free(trace);
    mishap_buffer_release(&json);
}

static void what_must_not_leave_is_taken_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        const struct hidden *hidden = &documents[i];
        const char *clean = hidden->clean ? hidden->clean : hidden->json;
        assert_cleaned(hidden, &known, clean);
        if (!hidden->clean || (hidden->trace && !strstr(hidden->json, "hunter2")))
            assert_cleaned(hidden, NULL, clean);
    }
}

static void without_secrets_only_stack_traces_are_taken_out(void **state)
{
    (void)state;
    const struct hidden hidden = { "{\"a\":\"hunter2\",\"b\":\"" TRACE "\"}", NULL, true };
    const char *clean = "{\"a\":\"hunter2\",\"b\":\"" REMOVED "\"}";
    assert_cleaned(&hidden, NULL, clean);
    assert_cleaned(&hidden, &(mishap_secrets){ 0 }, clean);
}

/* Buffers that live in their owner's storage are no exception. */
static void a_buffer_may_have_storage_of_its_own(void **state)
{
    (void)state;
    char storage[100];
    mishap_buffer json;
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_buffer_put_text(&json, T("[\"hunter2\"]"));
    assert_null(mishap_hide_json(&json, &known));
    assert_true(mishap_text_equal(mishap_buffer_text(&json), T("[\"[redacted]\"]")));
    mishap_buffer_release(&json);
}

static void the_log_gets_what_was_taken_out(void **state)
{
    (void)state;
    mishap_buffer json = { 0 }, account = { 0 };
    mishap_buffer_put_text(&json, T("{\"a\":\"" TRACE "\",\"b\":\"beside\"}"));
    mishap *trace = mishap_hide_json(&json, NULL);
    assert_ptr_equal(mishap_told(trace)->code, MISHAP_CODE_RUNTIME_ERROR);
    mishap_account(trace, &account);
    assert_non_null(memmem(account.data, account.length, "Traceback", 9));
    assert_non_null(memmem(account.data, account.length, "beside", 6));
    mishap_free(trace);
    mishap_buffer_release(&json);
    mishap_buffer_release(&account);
}

static void what_cannot_be_read_is_not_let_through(void **state)
{
    (void)state;
    static const char *const broken[] = { "{\"a\":\"hunter2\"", "{\"a\":\"hunter2", "\"", "\"\\",
                                          "x \"hunter2\"",      "hunter2" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        mishap_buffer json = { 0 };
        mishap_buffer_put_text(&json, mishap_text_of(broken[i]));
        mishap_free(mishap_hide_json(&json, &known));
        assert_true(json.failed);
        assert_int_equal(json.length, 0);
        mishap_buffer_release(&json);
    }
}

static void a_document_of_any_depth_is_taken_or_refused(void **state)
{
    (void)state;
    static const size_t depths[] = { 100, 140, 200, 100000 };
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        mishap_buffer json = { 0 };
        for (size_t d = 0; d < depths[i]; d++)
            MISHAP_PUT(&json, "[");
        MISHAP_PUT(&json, "\"hunter2\"");
        for (size_t d = 0; d < depths[i]; d++)
            MISHAP_PUT(&json, "]");
        mishap_free(mishap_hide_json(&json, &known));
        assert_int_equal(json.failed, depths[i] > 150);
        assert_null(json.length ? memmem(json.data, json.length, "hunter2", 7) : NULL);
        mishap_buffer_release(&json);
    }
}

static void a_document_with_nothing_to_hide_needs_no_memory(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    mishap_buffer_put_text(&json, T("{\"id\":7,\"name\":\"Ada\",\"at\":\"2026-02-09T10:20:30Z\","
                                    "\"url\":\"http://example.com\",\"list\":[\"a (b)\"]}"));
    mishap_use_allocator(&failing_allocator);
    calls = 0;
    assert_null(mishap_hide_json(&json, NULL));
    assert_null(mishap_hide_json(&json, &(mishap_secrets){ 0 }));
    assert_int_equal(calls, 0);
    mishap_use_allocator(NULL);
    mishap_buffer_release(&json);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void hide_one(const void *input)
{
    const struct hidden *hidden = input;
    char storage[400];
    mishap_buffer json;
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_buffer_put_text(&json, mishap_text_of(hidden->json));
    mishap *trace = mishap_hide_json(&json, &known);
    const char *clean = hidden->clean ? hidden->clean : hidden->json;
    assert_true(json.failed || mishap_text_equal(mishap_buffer_text(&json), mishap_text_of(clean)));
    mishap_free(trace);
    mishap_buffer_release(&json);
}

static void without_memory_nothing_leaves(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        torture(hide_one, &documents[i]);
    mishap_use_allocator(NULL);
}

/* -- a document that is an answer -------------------------------------------------------------- */

static void a_document_is_made_utf8_and_nothing_else(void **state)
{
    (void)state;
    mishap_answer_kind kind;
    mishap_call *call;
    assert_null(mishap_call_begin(&app, &operations[0], T("{\"phrase\":\"open sesame\"}"), &call));
    mishap_answer_document(call, T("a\xFFopen sesame\nTraceback (most recent call last):"));
    mishap_call_clean_document(call);
    mishap_text text = mishap_call_answer(call, &kind);
    assert_true(
        mishap_text_equal(text, T("a\xEF\xBF\xBDopen sesame\nTraceback (most recent call last):")));
    mishap_call_end(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_values_of_secret_parameters_are_learned),
        TEST(parameters_that_were_not_given_have_no_secrets),
        TEST(what_must_not_leave_is_taken_out),
        TEST(without_secrets_only_stack_traces_are_taken_out),
        TEST(a_buffer_may_have_storage_of_its_own),
        TEST(the_log_gets_what_was_taken_out),
        TEST(what_cannot_be_read_is_not_let_through),
        TEST(a_document_of_any_depth_is_taken_or_refused),
        TEST(a_document_with_nothing_to_hide_needs_no_memory),
        TEST(without_memory_nothing_leaves),
        TEST(a_document_is_made_utf8_and_nothing_else),
    };
    make_known();
    return RUN(tests);
}
