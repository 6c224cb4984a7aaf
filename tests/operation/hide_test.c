/* src/operation/hide: neither a secret nor a stack trace leaves with a failure. */
#include "testing.h"

#include "operation/call.h"
#include "operation/hide.h"
#include "operation/secret.h"

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
    { "{\"a\":\"Exception in thread \\\"main\\\" java.lang.Error\"}", "{\"a\":\"" REMOVED "\"}",
      true },
    { "{\"a\":\"goroutine 1 [running]:\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"#0  0x0000555555555138 in main ()\"}", "{\"a\":\"" REMOVED "\"}", true },
    { "{\"a\":\"SQLSTATE[42S02]: Base table or view not found\",\"b\":\"hunter2\"}",
      "{\"a\":\"A message of a database was removed here.\",\"b\":\"[redacted]\"}", true },
    { "{\"a\":\"hunter2 " TRACE "\",\"b\":\"hunter2\"}",
      "{\"a\":\"" REMOVED "\",\"b\":\"[redacted]\"}", true },
};

static void assert_cleaned(const struct hidden *hidden, const mishap_secrets *secrets,
                           const char *clean)
{
    mishap_buffer json = { 0 };
    mishap_buffer_put_text(&json, mishap_text_of(hidden->json));
    mishap *trace = mishap_hide_json(&json, secrets, NULL);
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

/* -- leaks of other kinds ---------------------------------------------------------------------- */

#define SQL       "SQLSTATE[42S02]: Base table or view not found: 1146 Table 'a.b' doesn't exist"
#define PATH_TEXT "cannot read /srv/app/config/settings.yml"

/* Hide, compare, and return the code of what was found; NULL: nothing. */
static const mishap_code *hidden_as(const char *json, const mishap_sent *sent, const char *clean)
{
    mishap_buffer buffer = { 0 };
    mishap_buffer_put_text(&buffer, mishap_text_of(json));
    mishap *found = mishap_hide_json(&buffer, NULL, sent);
    const mishap_code *code = found ? mishap_told(found)->code : NULL;
    mishap_buffer_put_char(&buffer, '\0');
    assert_string_equal(buffer.data, clean);
    mishap_free(found);
    mishap_buffer_release(&buffer);
    return code;
}

static void only_the_string_that_leaks_is_replaced(void **state)
{
    (void)state;
    assert_ptr_equal(
        hidden_as("{\"code\":\"X\",\"a\":[{\"b\":\"" SQL "\"}],\"c\":\"last\"}", NULL,
                  "{\"code\":\"X\",\"a\":[{\"b\":\"A message of a database was removed "
                  "here.\"}],\"c\":\"last\"}"),
        MISHAP_CODE_RUNTIME_ERROR);
}

/* Neither its name nor its value is a leak alone. */
static void a_leak_of_several_strings_costs_their_values(void **state)
{
    (void)state;
    assert_ptr_equal(
        hidden_as("{\"code\":\"X\",\"password\":\"correct-horse-7\",\"c\":\"last\"}", NULL,
                  "{\"code\":\"X\",\"password\":\"A credential was removed here.\",\"c\":"
                  "\"last\"}"),
        MISHAP_CODE_RUNTIME_ERROR);
}

/* A password of digits may come as a number. */
static void a_number_that_is_a_password_is_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *json, *clean;
    } cases[] = {
        { "{\"n\":-1.5e3,\"password\":12345678,\"c\":87654321}",
          "{\"n\":-1500.0,\"password\":\"A credential was removed here.\",\"c\":87654321}" },
        { "{\"list\":[1,true,{\"password\" : 12345678}],\"c\":\"x\",\"d\":87654321}",
          "{\"list\":[1,true,{\"password\":\"A credential was removed here.\"}],\"c\":\"x\",\"d\":"
          "87654321}" },
        { "{\"p\\u0061ssword\":12345678,\"c\":7}",
          "{\"password\":\"A credential was removed here.\",\"c\":7}" },
        { "{\"password\":123456789012345678901234567890,\"c\":123456789012345678901234567890}",
          "{\"password\":\"A credential was removed "
          "here.\",\"c\":123456789012345678901234567890}" },
        { "{\"" SQL "\":{\"password\":12345678,\"n\":1},\"password\":12345678}",
          "{\"password\":\"A credential was removed here.\"}" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_ptr_equal(hidden_as(cases[i].json, NULL, cases[i].clean), MISHAP_CODE_RUNTIME_ERROR);
    assert_null(hidden_as("{\"password\":12345,\"c\":7}", NULL, "{\"password\":12345,\"c\":7}"));
}

/* The strings behind a member that is left out are counted on. */
static void a_member_with_a_leaking_name_goes_with_all_that_is_in_it(void **state)
{
    (void)state;
    hidden_as("{\"" TRACE "\":{\"x\":[\"y\",\"z\"]},\"a\":\"fine\",\"b\":\"" SQL "\"}", NULL,
              "{\"a\":\"fine\",\"b\":\"A message of a database was removed here.\"}");
}

static void what_is_only_likely_stays_unless_the_guard_is_strict(void **state)
{
    (void)state;
    const char *json = "{\"a\":\"" PATH_TEXT "\",\"b\":\"x\"}";
    assert_ptr_equal(hidden_as(json, NULL, json), MISHAP_CODE_VALUE_ERROR);
    assert_true(mishap_leaks_set_guard("strict"));
    assert_ptr_equal(hidden_as(json, NULL, "{\"a\":\"A path was removed here.\",\"b\":\"x\"}"),
                     MISHAP_CODE_RUNTIME_ERROR);
    assert_false(mishap_leaks_set_guard("lax"));
    assert_true(mishap_leaks_set_guard("normal"));
    assert_ptr_equal(hidden_as(json, NULL, json), MISHAP_CODE_VALUE_ERROR);
}

static void what_the_caller_sent_is_no_leak(void **state)
{
    (void)state;
    const char *json = "{\"a\":\"There is no " SQL ".\"}", *words[] = { "--said", SQL };
    const mishap_sent as_words = { .words = words, .word_count = 2 };
    const mishap_sent as_json = { .text = T("{\"x\":[\"" SQL "\"]}") };
    assert_null(hidden_as(json, &as_words, json));
    assert_null(hidden_as(json, &as_json, json));
    assert_non_null(hidden_as(json, &(mishap_sent){ .text = T("something else") },
                              "{\"a\":\"A message of a database was removed here.\"}"));
}

#define LINE "MIIEowIBAAKCAQEAx1y2z3a4b5c6d7e8f9g0h1i2j3k4l5m6n7o8p9q0r1s2t3u4"

/* A key as an array of lines, variables as members: the parts say little alone. */
static void all_parts_of_a_key_or_an_environment_go(void **state)
{
    (void)state;
    static const char *const gone[] = { LINE, "/home/ada", "correct-horse", "AKIA2E0A8F3B2" };
    static const char *const documents_of_parts[] = {
        "{\"code\":\"X\",\"context\":{\"key\":[\"-----BEGIN RSA PRIVATE KEY-----\",\"" LINE
        "\",\"" LINE "\",\"aB3=\",\"-----END RSA PRIVATE KEY-----\"],\"x\":\"kept\"}}",
        "{\"code\":\"NOT_FOUND\",\"category\":\"client\",\"context\":{\"env\":{\"HOME\":\"/home/"
        "ada\",\"AWS\":"
        "\"AKIA2E0A8F3B244C9986\",\"PATH\":\"/usr/bin:/bin\",\"SHELL\":\"/bin/sh\","
        "\"DB_PHRASE\":\"correct-horse\"},\"x\":\"kept\"}}",
    };
    for (size_t i = 0; i < sizeof documents_of_parts / sizeof *documents_of_parts; i++) {
        mishap_buffer json = { 0 };
        mishap_buffer_put_text(&json, mishap_text_of(documents_of_parts[i]));
        mishap_free(mishap_hide_json(&json, NULL, NULL));
        assert_false(json.failed);
        for (size_t j = 0; j < sizeof gone / sizeof *gone; j++)
            if (memmem(json.data, json.length, gone[j], strlen(gone[j])))
                fail_msg("%s in %.*s", gone[j], (int)json.length, json.data);
        assert_non_null(memmem(json.data, json.length, "\"x\":\"kept\"", 10));
        assert_non_null(
            memmem(json.data, json.length, i ? "\"NOT_FOUND\",\"c" : "\"code\":\"X\",", 11));
        mishap_buffer_release(&json);
    }
}

/* What surrounds them stays, however many there are. */
static void the_envelope_survives_many_leaks(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    MISHAP_PUT(&json, "{\"error\":{\"code\":\"X\",\"context\":{\"list\":[\"first\"");
    for (size_t i = 0; i < 300; i++)
        MISHAP_PUT(&json, ",\"" SQL "\",{\"password\":\"correct-horse-7\"}");
    MISHAP_PUT(&json, "]},\"retryable\":false,\"phase\":\"run\"},\"meta\":{\"v\":\"1.2.3\"}}");
    mishap_free(mishap_hide_json(&json, NULL, NULL));
    assert_false(json.failed);
    assert_null(memmem(json.data, json.length, "SQLSTATE", 8));
    assert_null(memmem(json.data, json.length, "correct-horse", 13));
    static const char end[] =
        "]},\"retryable\":false,\"phase\":\"run\"},\"meta\":{\"v\":\"1.2.3\"}}";
    assert_true(json.length > sizeof end);
    assert_memory_equal(json.data + json.length - (sizeof end - 1), end, sizeof end - 1);
    mishap_buffer_release(&json);
}

/* However many there are. */
static void a_document_full_of_leaks_keeps_none(void **state)
{
    (void)state;
    static const size_t counts[] = { 31, 32, 33, 64, 65, 500 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        mishap_buffer json = { 0 };
        MISHAP_PUT(&json, "[\"before\"");
        for (size_t n = 0; n < counts[i]; n++)
            MISHAP_PUT(&json, ",\"" SQL "\",\"beside\"");
        MISHAP_PUT(&json, "]");
        mishap *found = mishap_hide_json(&json, NULL, NULL);
        assert_non_null(found);
        assert_false(json.failed);
        assert_null(memmem(json.data, json.length, "SQLSTATE", 8));
        assert_non_null(memmem(json.data, json.length, "before", 6));
        mishap_free(found);
        mishap_buffer_release(&json);
    }
}

static void credentials_are_not_in_the_log_either(void **state)
{
    (void)state;
    mishap_buffer json = { 0 }, account = { 0 };
    mishap_buffer_put_text(&json, T("{\"a\":\"Server=x;User Id=sa;Password=correct-horse-7;\"}"));
    mishap *found = mishap_hide_json(&json, NULL, NULL);
    assert_non_null(found);
    mishap_account(found, &account);
    assert_non_null(memmem(account.data, account.length, "connection", 10));
    assert_null(memmem(account.data, account.length, "correct-horse", 13));
    mishap_free(found);
    mishap_buffer_release(&json);
    mishap_buffer_release(&account);
}

/* -- a failure that is not rendered ------------------------------------------------------------ */

static void a_failure_for_c_has_no_leak_and_notes_it(void **state)
{
    (void)state;
    mishap_buffer account = { 0 };
    mishap *m = mishap_raise(CONFLICT, "%s", SQL);
    m = mishap_tell(m, "list", mishap_value_of_json("[1,\"" SQL "\",\"beside\"]"));
    m = mishap_tell(m, "fine", "as it is");
    mishap_hide_failure_leaks(m, NULL);
    assert_true(mishap_text_equal(mishap_public_message(mishap_told(m)),
                                  T("A message of a database was removed here.")));
    const mishap_member *list = mishap_told(m)->context;
    assert_true(mishap_text_equal(list->value.text, T("[1,\"A message of a database was removed "
                                                      "here.\",\"beside\"]")));
    assert_true(mishap_text_equal(list->next->value.text, T("as it is")));
    mishap_account(m, &account);
    assert_non_null(memmem(account.data, account.length, "SQLSTATE", 8));
    mishap_free(m);
    mishap_buffer_release(&account);
}

/* Each of them says little alone. */
static void members_that_are_a_leak_together_are_replaced(void **state)
{
    (void)state;
    static const char removed[] = "Environment variables were removed here.";
    mishap *m = mishap_raise(CONFLICT, "It is taken.");
    m = mishap_tell(m, "smtp_pass", "correct-horse-7");
    m = mishap_tell(m, "count", 7);
    m = mishap_tell(m, "list", mishap_value_of_json("[1,{\"smtp_pass\":\"correct-horse-8\"}]"));
    mishap_hide_failure_leaks(m, NULL);
    const mishap_member *at = mishap_told(m)->context;
    assert_true(mishap_text_equal(at->value.text, T("A credential was removed here.")));
    assert_int_equal(at->next->value.integer, 7);
    assert_true(mishap_text_equal(at->next->next->value.text,
                                  T("[1,{\"smtp_pass\":\"A credential was removed here.\"}]")));
    mishap_free(m);
    m = mishap_raise(CONFLICT, "It is taken.");
    m = mishap_tell(m, "HOME", "/home/ada");
    m = mishap_tell(m, "USER", "ada");
    m = mishap_tell(m, "LANG", "C.UTF-8");
    m = mishap_tell(m, "SHELL", "/bin/sh");
    mishap_hide_report_leaks(m, NULL);
    for (at = mishap_told(m)->context; at; at = at->next)
        assert_true(mishap_text_equal(at->value.text, mishap_text_of(removed)));
    mishap_free(m);
}

static void hide_one_for_c(const void *input)
{
    (void)input;
    mishap *m = mishap_raise(CONFLICT, "%s", SQL);
    m = mishap_tell(m, "list", mishap_value_of_json("[1,\"" SQL "\"]"));
    m = mishap_tell(m, "smtp_pass", "SQLSTATE-7");
    mishap_hide_failure_leaks(m, &(mishap_sent){ .text = T("[\"a\",\"sent\"]") });
    for (const mishap_member *at = mishap_told(m)->context; at; at = at->next)
        if (at->value.text.length)
            assert_null(memmem(at->value.text.data, at->value.text.length, "SQLSTATE", 8));
    mishap_free(m);
}

static void without_memory_no_leak_is_left_for_c(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(hide_one_for_c, NULL);
    mishap_use_allocator(NULL);
}

/* Buffers that live in their owner's storage are no exception. */
static void a_buffer_may_have_storage_of_its_own(void **state)
{
    (void)state;
    char storage[100];
    mishap_buffer json;
    mishap_buffer_init(&json, storage, sizeof storage);
    mishap_buffer_put_text(&json, T("[\"hunter2\"]"));
    assert_null(mishap_hide_json(&json, &known, NULL));
    assert_true(mishap_text_equal(mishap_buffer_text(&json), T("[\"[redacted]\"]")));
    mishap_buffer_release(&json);
}

static void the_log_gets_what_was_taken_out(void **state)
{
    (void)state;
    mishap_buffer json = { 0 }, account = { 0 };
    mishap_buffer_put_text(&json, T("{\"a\":\"" TRACE "\",\"b\":\"beside\"}"));
    mishap *trace = mishap_hide_json(&json, NULL, NULL);
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
    static const char *const broken[] = {
        "{\"a\":\"hunter2\"",
        "{\"a\":\"hunter2",
        "\"\\",
        "x \"hunter2\"",
        "hunter2",
        ("{\"a\":\"" TRACE),
        (TRACE),
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        mishap_buffer json = { 0 };
        mishap_buffer_put_text(&json, mishap_text_of(broken[i]));
        mishap_free(mishap_hide_json(&json, &known, NULL));
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
        mishap_free(mishap_hide_json(&json, &known, NULL));
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
    assert_null(mishap_hide_json(&json, NULL, NULL));
    assert_null(mishap_hide_json(&json, &(mishap_secrets){ 0 }, NULL));
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
    mishap *trace = mishap_hide_json(&json, &known, NULL);
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
        TEST(only_the_string_that_leaks_is_replaced),
        TEST(a_leak_of_several_strings_costs_their_values),
        TEST(a_number_that_is_a_password_is_replaced),
        TEST(a_member_with_a_leaking_name_goes_with_all_that_is_in_it),
        TEST(what_is_only_likely_stays_unless_the_guard_is_strict),
        TEST(what_the_caller_sent_is_no_leak),
        TEST(a_document_full_of_leaks_keeps_none),
        TEST(all_parts_of_a_key_or_an_environment_go),
        TEST(the_envelope_survives_many_leaks),
        TEST(credentials_are_not_in_the_log_either),
        TEST(a_failure_for_c_has_no_leak_and_notes_it),
        TEST(members_that_are_a_leak_together_are_replaced),
        TEST(without_memory_no_leak_is_left_for_c),
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
