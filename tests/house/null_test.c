/* What the public functions do with NULL, as their headers promise. */
#include "mishap/main.h"
#include "mishap/test.h"
#include "testing.h"

/* -- mishaps ----------------------------------------------------------------------------------- */

static void no_mishap_stays_none(void **state)
{
    (void)state;
    mishap_value one = mishap_value_of_int(1);
    mishap_buffer account = { 0 };
    const mishap *const results[] = {
        mishap_tell(NULL, "key", 1),
        mishap_note(NULL, "key", 1),
        mishap_message(NULL, T("Words.")),
        mishap_tell_cause(NULL, "Words"),
        mishap_suggest(NULL, "Words."),
        mishap_docs(NULL, "https://example.com/"),
        mishap_incident(NULL, "1"),
        mishap_type(NULL, "ODD"),
        mishap_output(NULL, T("out")),
        mishap_frame_add(NULL, T("frame")),
        mishap_retryable(NULL, true),
        mishap_retry_after(NULL, 1),
        mishap_file_under(NULL, MISHAP_SYSTEM),
        mishap_field_required(NULL, "name"),
        mishap_field_type(NULL, "name", "string", "integer"),
        mishap_field_length(NULL, "name", one, one, 2),
        mishap_field_range(NULL, "name", one, one, one),
        mishap_field_pattern(NULL, "name", "^a"),
        mishap_field_add(NULL, NULL),
        mishap_field_says(NULL, "Words."),
        mishap_because(NULL, NULL),
        mishap_cause(NULL),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        assert_null(results[i]);
    assert_null(mishap_told(NULL));
    assert_null(mishap_public_message(mishap_told(NULL)).data);
    assert_null(mishap_public_suggestion(mishap_told(NULL)).data);
    assert_null(mishap_public_docs_url(mishap_told(NULL)).data);
    assert_false(mishap_public_recoverable(mishap_told(NULL)));
    assert_false(mishap_is(NULL, NOT_FOUND));
    mishap_account(NULL, &account);
    assert_int_equal(account.length, 0);
    mishap_free(NULL);
}

static void what_is_null_is_left_out_of_a_mishap(void **state)
{
    (void)state;
    static const mishap_text none = { NULL, 0 };
    mishap *m = mishap_raise(NOT_FOUND, NULL), *same = m;
    const char *no_key = NULL, *no_string = NULL;
    m = mishap_tell(m, no_key, 1);
    m = mishap_note(m, no_key, 1);
    m = mishap_message(m, none);
    m = mishap_tell_cause(m, NULL);
    m = mishap_suggest(m, NULL);
    m = mishap_docs(m, NULL);
    m = mishap_incident(m, NULL);
    m = mishap_type(m, NULL);
    m = mishap_output(m, none);
    m = mishap_field_add(m, NULL);
    m = mishap_field_says(m, "There is no field.");
    m = mishap_file_under(m, (mishap_category)99);
    m = mishap_because(m, NULL);
    assert_ptr_equal(m, same);
    char *text = rendered(mishap_dialect_find("canonical"), m);
    mishap *plain = mishap_raise(NOT_FOUND, NULL);
    char *expected = rendered(mishap_dialect_find("canonical"), plain);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    mishap_free(plain);
    /* What has to be there gets a stand-in; a value that is NULL is null. */
    m = mishap_tell(m, "name", no_string);
    m = mishap_field_type(m, NULL, NULL, NULL);
    m = mishap_field_pattern(m, "code", NULL);
    m = mishap_frame_add(m, none);
    text = rendered(mishap_dialect_find("canonical"), m);
    assert_non_null(strstr(text, "\"context\":{\"name\":null}"));
    assert_non_null(strstr(text, "\"fields\":[{\"field\":\"document\",\"error\":\"invalid_type\","
                                 "\"message\":\"document is not valid: invalid_type.\"},"
                                 "{\"field\":\"code\",\"error\":\"pattern_mismatch\","
                                 "\"message\":\"code is not valid: pattern_mismatch.\"}]"));
    assert_non_null(strstr(text, "\"backtrace\":[\"(...)\"]"));
    free(text);
    assert_ptr_equal(mishap_because(NULL, m), m);
    mishap_free(m);
    m = mishap_raise_at(NULL, MISHAP_HERE, NULL);
    assert_true(mishap_is(m, INTERNAL_ERROR));
    mishap_free(m);
}

/* -- catalog, dialects, text ------------------------------------------------------------------- */

static void names_that_are_null_are_not_found(void **state)
{
    (void)state;
    static const mishap_text none = { NULL, 0 };
    mishap_category category;
    const mishap_catalog *before = mishap_catalog_first()->next;
    mishap_catalog_add(NULL);
    assert_ptr_equal(mishap_catalog_first()->next, before);
    assert_null(mishap_catalog_find(MISHAP_SPELLING_NAME, none));
    assert_null(mishap_category_name((mishap_category)99));
    assert_false(mishap_category_find(none, &category));
    assert_false(mishap_code_name_valid(none));
    assert_null(mishap_dialect_find(NULL));
    assert_null(mishap_dialect_name(NULL));
    assert_null(mishap_dialect_media_type(NULL));
    assert_null(mishap_text_of(NULL).data);
    assert_true(mishap_text_equal(none, T("")));
    assert_int_equal(mishap_value_of_string(NULL).kind, MISHAP_KIND_NULL);
    assert_int_equal(mishap_value_of_json(NULL).kind, MISHAP_KIND_NULL);
    assert_int_equal(mishap_value_of_text(none).kind, MISHAP_KIND_NULL);
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_buffer_add(&buffer, NULL, 0);
    assert_false(buffer.failed);
    assert_int_equal(buffer.length, 0);
    mishap_release(mishap_resize(NULL, 1));
    mishap_release(NULL);
}

/* A failure without a mishap is still told: as INTERNAL_ERROR. */
static void no_mishap_is_rendered_as_an_internal_error(void **state)
{
    (void)state;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        mishap_buffer buffer = { 0 };
        mishap *m = NULL;
        char *expected = rendered(*dialect, mishap_out_of_memory());
        mishap_text text = mishap_render(*dialect, NULL, &buffer);
        assert_true(mishap_text_equal(text, mishap_text_of(expected)));
        free(expected);
        mishap_buffer_release(&buffer);
        m = mishap_parse(*dialect, (mishap_text){ NULL, 0 }, &m);
        assert_non_null(m);
        mishap_free(m);
    }
}

static void requirements_that_are_null_are_none(void **state)
{
    (void)state;
    static const char json[] = "{\"a\":\"b\"}";
    mishap_require_fields(NULL, "a", NULL);
    mishap_require_type(NULL, "a", MISHAP_STRING);
    mishap_require_length(NULL, "a", 1, 1);
    mishap_require_range(NULL, "a", 1, 1);
    mishap_require_pattern(NULL, "a", "a");
    assert_ptr_equal(mishap_require_end(NULL), mishap_out_of_memory());
    mishap_requirements *v = mishap_require_begin(json, sizeof json - 1);
    mishap_require_fields(v, NULL, NULL);
    mishap_require_type(v, NULL, MISHAP_INTEGER);
    mishap_require_length(v, NULL, 9, 9);
    mishap_require_range(v, NULL, 1, 1);
    mishap_require_pattern(v, NULL, "x");
    mishap_require_pattern(v, "a", NULL);
    assert_null(mishap_require_end(v));
    mishap *m = mishap_require_end(mishap_require_begin(NULL, 7));
    assert_true(mishap_is(m, BAD_REQUEST));
    mishap_free(m);
}

/* -- calls ------------------------------------------------------------------------------------- */

static void nothing_is_given_by_no_call(void **state)
{
    (void)state;
    assert_false(mishap_given(NULL, "a"));
    assert_null(mishap_string(NULL, "a"));
    assert_int_equal(mishap_string_length(NULL, "a"), 0);
    assert_int_equal(mishap_integer(NULL, "a[1].b"), 0);
    assert_true(mishap_number(NULL, "a") == 0);
    assert_false(mishap_boolean(NULL, "a"));
    assert_null(mishap_json(NULL, ""));
    assert_int_equal(mishap_kind_of(NULL, "a"), MISHAP_KIND_NONE);
    assert_int_equal(mishap_count(NULL, "a"), 0);
    assert_null(mishap_first(NULL, "a"));
    assert_null(mishap_next(NULL));
    assert_null(mishap_key(NULL));
    assert_null(mishap_at(NULL, "a"));
}

static mishap *answer_with_null(mishap_call *call)
{
    const mishap_call *part = mishap_at(call, "list");
    const char *nothing = NULL;
    mishap_call_defer(call, NULL, call);
    mishap_progress(call, 1, 2, NULL);
    mishap_task_mark(call, "%s", "");
    mishap_answer_member(call, "string", nothing);
    mishap_answer_json(call, "json", NULL);
    mishap_answer_array(call, "items");
    mishap_answer_item(call, nothing);
    mishap_answer_end(call);
    /* A part is as good as its call. */
    if (mishap_cursor(part) || mishap_task_last_mark(part) || mishap_body(part).length != 4 ||
        strcmp(mishap_body_type(part), "a/b") != 0 || strcmp(mishap_caller(part), "ada") != 0)
        return mishap_raise(INTERNAL_ERROR, "A part has another body than its call.");
    return mishap_created(call, NULL, NULL);
}

static mishap *answer_nothing(mishap_call *call)
{
    mishap_answer_content(call, NULL);
    return mishap_ok(call, NULL);
}

static mishap *answer_bytes(mishap_call *call)
{
    return mishap_answer_bytes(call, (mishap_text){ NULL, 0 }, NULL);
}

static mishap *stream_events(mishap_call *call)
{
    mishap_stream(call, NULL);
    mishap_stream_write(call, (mishap_text){ NULL, 0 });
    mishap_stream_event(call, NULL, NULL);
    return mishap_stream_wait(call, NULL, "1");
}

static mishap *ask_by_no_path(mishap_call *call)
{
    return mishap_answer_member(call, "a", mishap_string(call, NULL));
}

static mishap *ask_for_no_header(mishap_call *call)
{
    return mishap_answer_member(call, "a", mishap_header(call, NULL));
}

static mishap *answer_a_nameless_member(mishap_call *call)
{
    const char *no_key = NULL;
    return mishap_answer_member(call, no_key, 1);
}

static const mishap_param item = { "item", MISHAP_INTEGER, .required = true };
static const mishap_param list[] = { { "list", MISHAP_ARRAY, .items = &item }, { 0 } };
static const char *const headers[] = { "X-Odd", NULL };
static const mishap_operation operations[] = {
    { "null", "Null", list, answer_with_null, .takes = "a/b" },
    { "nothing", "Nothing", NULL, answer_nothing, .danger = MISHAP_SAFE },
    { "bytes", "Bytes", NULL, answer_bytes, .answers_type = "a/b" },
    { "events", "Events", NULL, stream_events, .answers_type = "text/event-stream" },
    { "path", "Path", NULL, ask_by_no_path, .danger = MISHAP_SAFE },
    { "header", "Header", NULL, ask_for_no_header, .headers = headers },
    { "member", "Member", NULL, answer_a_nameless_member, .danger = MISHAP_SAFE },
    { 0 },
};
static const mishap_app app = { .name = "nothing", .version = "1", .operations = operations };

static void an_answer_that_is_null_is_null_or_none(void **state)
{
    (void)state;
    mishap_answered *answered;
    const mishap_invocation how = { .caller = "ada",
                                    .body = MISHAP_TEXT("body"),
                                    .body_type = "a/b" };
    assert_null(mishap_invoke(&app, "null", "{\"list\":[1]}", &how, &answered));
    assert_string_equal(answered->text.data, "{\"string\":null,\"json\":null,\"items\":[null]}");
    assert_int_equal(answered->status, 201);
    assert_null(answered->location);
    mishap_answered_free(answered);
    assert_null(mishap_invoke(&app, "nothing", NULL, NULL, &answered));
    assert_null(answered->text.data);
    assert_null(mishap_string(answered->json, "a"));
    mishap_answered_free(answered);
    assert_null(mishap_invoke(&app, "bytes", NULL, NULL, &answered));
    assert_string_equal(answered->media_type, "application/octet-stream");
    assert_int_equal(answered->text.length, 0);
    mishap_answered_free(answered);
    assert_null(mishap_invoke(&app, "events", NULL, NULL, &answered));
    assert_string_equal(answered->text.data, "data: \n\n");
    mishap_answered_free(answered);
    mishap_answered_free(NULL);
}

static void what_must_be_named_ends_the_call(void **state)
{
    (void)state;
    static const char *const names[] = { "path", "header", "member" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mishap *m = mishap_invoke(&app, names[i], NULL, NULL, NULL);
        mishap_buffer account = { 0 };
        assert_true(mishap_is(m, INTERNAL_ERROR));
        mishap_account(m, &account);
        mishap_buffer_add(&account, "", 1);
        assert_non_null(strstr(account.data, "was aborted: ")); /* and did not crash */
        mishap_buffer_release(&account);
        mishap_free(m);
    }
}

static void an_invocation_without_a_program_or_a_name_fails(void **state)
{
    (void)state;
    mishap_answered *answered = (mishap_answered *)1;
    mishap *m = mishap_invoke(NULL, "nothing", NULL, NULL, &answered);
    assert_true(mishap_is(m, NOT_CONFIGURED));
    assert_null(answered);
    mishap_free(m);
    m = mishap_app_open(NULL, NULL);
    assert_true(mishap_is(m, NOT_CONFIGURED));
    mishap_free(m);
    m = mishap_invoke(&app, NULL, NULL, NULL, &answered);
    assert_true(mishap_is(m, NOT_FOUND));
    mishap_free(m);
    assert_null(mishap_invoke(&app, "nothing", NULL, NULL, NULL));
    assert_null(mishap_invoke_with(&app, "nothing", NULL, NULL, NULL));
    char *argv[] = { (char[]){ "nothing" }, NULL };
    assert_int_equal(mishap_main(1, argv, NULL), 70);
    assert_int_equal(mishap_cli_main(1, argv, NULL), 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_mishap_stays_none),
        TEST(what_is_null_is_left_out_of_a_mishap),
        TEST(names_that_are_null_are_not_found),
        TEST(no_mishap_is_rendered_as_an_internal_error),
        TEST(requirements_that_are_null_are_none),
        TEST(nothing_is_given_by_no_call),
        TEST(an_answer_that_is_null_is_null_or_none),
        TEST(what_must_be_named_ends_the_call),
        TEST(an_invocation_without_a_program_or_a_name_fails),
    };
    return RUN(tests);
}
