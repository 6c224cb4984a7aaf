/* src/operation/hide: neither a secret nor a stack trace leaves with an answer. */
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
    mishap_secrets secrets = { 0 };
    mishap_call *call;
    mishap *failure = mishap_call_begin(
        &app, &operations[0],
        T("{\"user\":\"ada.lovelace\",\"phrase\":\"open sesame\",\"number\":4711,"
          "\"account\":{\"owner\":\"babbage\",\"secrets\":[\"one1\",\"two\",\"three3\"]}}"),
        &call);
    assert_null(failure);
    mishap_hide_learn(&secrets, call);
    assert_int_equal(secrets.count, 4); /* neither what is no text nor what is too short */
    assert_true(mishap_secrets_stand_in(&secrets, T("an open sesame")));
    assert_true(mishap_secrets_stand_in(&secrets, T("babbage")));
    assert_true(mishap_secrets_stand_in(&secrets, T("one1")));
    assert_true(mishap_secrets_stand_in(&secrets, T("three3")));
    assert_false(mishap_secrets_stand_in(&secrets, T("ada.lovelace, two")));
    mishap_call_end(call);
}

static void parameters_that_were_not_given_have_no_secrets(void **state)
{
    (void)state;
    mishap_secrets secrets = { 0 };
    mishap_call *call;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    mishap_hide_learn(&secrets, call);
    assert_int_equal(secrets.count, 0);
    mishap_call_end(call);
}

/* -- documents --------------------------------------------------------------------------------- */

static const mishap_secrets known = {
    .count = 3,
    .values = { MISHAP_TEXT("hunter2"), MISHAP_TEXT("say \"friend\""), MISHAP_TEXT("a/b/c") },
};

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

/* -- all that a call says ---------------------------------------------------------------------- */

#define PLAIN_TRACE                                                                                \
    "Traceback (most recent call last):\n  File \"/srv/pay.py\", line 3, in charge\nKeyError"

static mishap_call *begin(void)
{
    mishap_call *call;
    assert_null(mishap_call_begin(&app, &operations[0], T("{\"phrase\":\"open sesame\"}"), &call));
    return call;
}

/* Take out what must not leave; was there a stack trace? */
static bool hides(mishap_call *call)
{
    mishap_secrets secrets = { 0 };
    mishap_hide_learn(&secrets, call);
    mishap *removed = mishap_hide_answer(call, &secrets);
    bool found = removed != NULL;
    mishap_free(removed);
    return found;
}

static void assert_says(mishap_text text, const char *wanted)
{
    if (!mishap_text_equal(text, mishap_text_of(wanted)))
        fail_msg("%.*s", (int)text.length, text.data);
}

static void an_answer_is_searched_in_all_its_parts(void **state)
{
    (void)state;
    mishap_answer_kind kind;
    mishap_call *call = begin();
    mishap_created(call, "{\"a\":\"open sesame\"}", "/doors/1");
    mishap_warn(call, "Say \"open sesame\".");
    mishap_warn(call, PLAIN_TRACE);
    mishap_warn(call, "Harmless.");
    assert_true(hides(call));
    assert_says(mishap_call_answer(call, &kind), "{\"a\":\"[redacted]\"}");
    assert_says(mishap_call_warnings(call),
                "\"Say \\\"[redacted]\\\".\",\"A stack trace was removed here.\",\"Harmless.\"");
    assert_string_equal(call->location, "/doors/1");
    mishap_call_end(call);
}

static void what_is_harmless_stays_as_it_is(void **state)
{
    (void)state;
    mishap_answer_kind kind;
    mishap_call *call = begin();
    mishap_answer_document(call, T("[info] f(x): 7 # no \xC3\xA4rger"));
    mishap_warn(call, "None (of it)");
    assert_false(hides(call));
    assert_says(mishap_call_answer(call, &kind), "[info] f(x): 7 # no \xC3\xA4rger");
    assert_says(mishap_call_warnings(call), "\"None (of it)\"");
    assert_null(call->location);
    mishap_call_end(call);
}

static void a_document_is_made_utf8(void **state)
{
    (void)state;
    mishap_answer_kind kind;
    mishap_call *call = begin();
    mishap_answer_document(call, T("a\xFFopen sesame"));
    assert_false(hides(call));
    assert_says(mishap_call_answer(call, &kind), "a\xEF\xBF\xBD[redacted]");
    mishap_call_end(call);
}

static void a_location_with_something_in_it_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *location;
        bool trace, stays;
    } rows[] = {
        { "/doors/open sesame", false, false },         { "/doors/open%20sesame", false, false },
        { "/doors/%6fpen%20sesam%65?x", false, false }, { "/doors/open%2sesame", false, true },
        { "/doors/open-sesame", false, true },          { PLAIN_TRACE, true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_call *call = begin();
        mishap_created(call, "{}", rows[i].location);
        assert_int_equal(hides(call), rows[i].trace);
        assert_int_equal(call->location != NULL, rows[i].stays);
        mishap_call_end(call);
    }
}

/* A warning may get lost; nothing gets out. */
static void without_memory_no_part_leaves(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    for (size_t at = 1, done = 0; !done; at++) {
        fail_at = 0;
        mishap_call *call = begin();
        mishap_created(call, "{\"a\":\"open sesame\"}", "/doors/open%20sesame");
        mishap_warn(call, "open sesame");
        calls = 0;
        fail_at = at;
        hides(call);
        done = calls < at;
        fail_at = 0;
        mishap_buffer all = { 0 };
        mishap_buffer_put_text(&all, mishap_buffer_text(&call->answer));
        mishap_buffer_put_text(&all, mishap_buffer_text(&call->warnings));
        mishap_buffer_put_text(&all, mishap_text_of(call->location));
        assert_null(all.length ? memmem(all.data, all.length, "sesame", 6) : NULL);
        mishap_buffer_release(&all);
        mishap_call_end(call);
    }
    mishap_use_allocator(NULL);
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
        TEST(an_answer_is_searched_in_all_its_parts),
        TEST(what_is_harmless_stays_as_it_is),
        TEST(a_document_is_made_utf8),
        TEST(a_location_with_something_in_it_is_left_out),
        TEST(without_memory_no_part_leaves),
    };
    return RUN(tests);
}
