/*
 * Each response of tests/upstream/responses gives what tests/upstream/expected.txt says: the shape,
 * the code, the message and the field errors, and nothing else that is told but the context. A
 * response is a line with status and content type, an empty line, and the body.
 *
 * With MISHAP_UPDATE_EXPECTED in the environment the file is written instead.
 */
#include "testing.h"
#include "upstream/upstream.h"

#include "base/buffer.h"
#include "base/json_write.h"

struct recorded {
    char *file;
    mishap_upstream_response response;
};

static struct recorded open_response(const char *name)
{
    char path[600];
    size_t length;
    snprintf(path, sizeof path, "%s/upstream/responses/%s", tests_folder(), name);
    struct recorded recorded = { .file = read_file(path, &length) };
    char *line = strchr(recorded.file, '\n'), *blank = strchr(recorded.file, ' ');
    assert_non_null(line);
    assert_true(blank && blank < line && line[1] == '\n');
    recorded.response.status = (int)strtol(recorded.file, NULL, 10);
    recorded.response.content_type = (mishap_text){ blank + 1, (size_t)(line - blank - 1) };
    recorded.response.body = (mishap_text){ line + 2, length - (size_t)(line + 2 - recorded.file) };
    return recorded;
}

static char **list_responses(size_t *count)
{
    char path[600];
    snprintf(path, sizeof path, "%s/upstream/responses", tests_folder());
    return list_folder(path, count);
}

static void put_value(mishap_buffer *to, const char *name, const mishap_value *value)
{
    if (value->kind == MISHAP_KIND_NONE)
        return;
    mishap_buffer_put_text(to, mishap_text_of(name));
    mishap_json_bare(to, value);
}

/* "field age: value_out_of_range, max 150: must be <= 150" */
static void put_field(mishap_buffer *to, const mishap_field *field)
{
    MISHAP_PUT(to, "field ");
    mishap_buffer_put_text(to, field->field);
    MISHAP_PUT(to, ": ");
    mishap_buffer_put_text(to, field->error);
    put_value(to, ", expected ", &field->expected);
    put_value(to, ", min ", &field->min);
    put_value(to, ", max ", &field->max);
    put_value(to, ", actual ", &field->actual);
    if (field->message.length)
        MISHAP_PUT(to, ": ");
    mishap_buffer_put_text(to, field->message);
    MISHAP_PUT(to, "\n");
}

static void put_outcome(mishap_buffer *to, const char *name)
{
    mishap *m = NULL;
    const char *shape = NULL;
    struct recorded recorded = open_response(name);
    assert_null(mishap_upstream_read(&recorded.response, &m, &shape));
    const mishap_public *told = mishap_told(m);
    MISHAP_PUT(to, "== ");
    mishap_buffer_put_text(to, mishap_text_of(name));
    MISHAP_PUT(to, "\nshape ");
    mishap_buffer_put_text(to, mishap_text_of(shape));
    MISHAP_PUT(to, "\ncode ");
    mishap_buffer_put_text(to, told->code->name);
    MISHAP_PUT(to, "\n");
    if (told->message.length) {
        MISHAP_PUT(to, "message ");
        mishap_buffer_put_text(to, told->message);
        MISHAP_PUT(to, "\n");
    }
    for (const mishap_member *member = told->context; member; member = member->next) {
        MISHAP_PUT(to, "told ");
        mishap_buffer_put_text(to, member->key);
        put_value(to, " ", &member->value);
        MISHAP_PUT(to, "\n");
    }
    for (const mishap_field *field = told->fields; field; field = field->next)
        put_field(to, field);
    MISHAP_PUT(to, "\n");
    mishap_free(m);
    free(recorded.file);
}

static void each_response_is_read_as_expected(void **state)
{
    (void)state;
    char path[600];
    size_t count, length;
    snprintf(path, sizeof path, "%s/upstream/expected.txt", tests_folder());
    char **names = list_responses(&count);
    assert_true(count > 100);
    char *expected = getenv("MISHAP_UPDATE_EXPECTED") ? NULL : read_file(path, &length);
    mishap_buffer all = { 0 };
    char *at = expected;
    for (size_t i = 0; i < count; i++) {
        size_t start = all.length;
        put_outcome(&all, names[i]);
        mishap_buffer_put_char(&all, '\0');
        all.length--;
        const char *outcome = all.data + start;
        if (at && strncmp(at, outcome, strlen(outcome)) != 0)
            fail_msg("%s is read as\n%s\nnot as\n%.600s", names[i], outcome, at);
        at = at ? at + strlen(outcome) : NULL;
        free(names[i]);
    }
    if (expected)
        assert_string_equal(at, "");
    if (!expected) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fwrite(all.data, 1, all.length, file);
        assert_int_equal(fclose(file), 0);
    }
    free(expected);
    free(names);
    mishap_buffer_release(&all);
}

/* -- private text ------------------------------------------------------------------------------ */

/* Words that stand in the recorded responses and that no caller may see. */
static const char *const markers[] = {
    "SELECT",           "select *",    "/srv/app",
    "/home/app",        "/var/www",    "hunter22",
    "Exception",        "TypeError",   "Traceback",
    "node_modules",     "10.0.0.7",    "db7.internal",
    "System.",          "SQLSTATE",    "App\\\\Models",
    "users_controller", "com.example", "delayed connect error",
    "nginx/",           "eu-7",        "Apache/2",
    "C:\\\\src",
};

static bool body_has(const mishap_upstream_response *response, const char *marker)
{
    return memmem(response->body.data, response->body.length, marker, strlen(marker)) != NULL;
}

static void private_text_reaches_no_caller_and_is_noted(void **state)
{
    (void)state;
    size_t count, with_marker = 0;
    char **names = list_responses(&count);
    for (size_t i = 0; i < count; i++) {
        mishap *m = NULL;
        struct recorded recorded = open_response(names[i]);
        mishap_buffer account = { 0 };
        assert_null(mishap_upstream_read(&recorded.response, &m, NULL));
        mishap_account(m, &account);
        mishap_buffer_put_char(&account, '\0');
        assert_false(account.failed);
        if (recorded.response.body.length)
            assert_non_null(strstr(account.data, "upstream_body"));
        for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
            char *text = rendered(*dialect, m);
            for (size_t k = 0; k < sizeof markers / sizeof *markers; k++) {
                with_marker += body_has(&recorded.response, markers[k]);
                if (body_has(&recorded.response, markers[k]) && strstr(text, markers[k]))
                    fail_msg("%s in %s: %s", markers[k], names[i], text);
            }
            free(text);
        }
        mishap_buffer_release(&account);
        mishap_free(m);
        free(recorded.file);
        free(names[i]);
    }
    assert_true(with_marker > 100);
    free(names);
}

/* -- what the response itself does not say ----------------------------------------------------- */

static mishap *read_body(int status, const char *type, const char *body)
{
    mishap *m = NULL;
    const mishap_upstream_response response = { .status = status,
                                                .content_type = mishap_text_of(type),
                                                .body = mishap_text_of(body) };
    assert_null(mishap_upstream_read(&response, &m, NULL));
    return m;
}

static bool is_noted(const mishap *m, const char *words)
{
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    bool found = memmem(account.data, account.length, words, strlen(words));
    mishap_buffer_release(&account);
    return found;
}

static void what_is_not_to_be_noted_is_told_in_the_same_way(void **state)
{
    (void)state;
    const mishap_upstream_response noted = { .status = 409,
                                             .content_type = MISHAP_TEXT("application/json"),
                                             .body = MISHAP_TEXT(
                                                 "{\"message\":\"It is taken.\"}") };
    mishap_upstream_response unnoted = noted;
    mishap *with = NULL, *without = NULL;
    unnoted.unnoted = true;
    assert_null(mishap_upstream_read(&noted, &with, NULL));
    assert_null(mishap_upstream_read(&unnoted, &without, NULL));
    char *told = rendered(mishap_dialect_find("canonical"), with);
    char *told_without = rendered(mishap_dialect_find("canonical"), without);
    assert_string_equal(told, told_without);
    assert_true(is_noted(with, "upstream_body"));
    assert_false(is_noted(without, "upstream_"));
    free(told);
    free(told_without);
    mishap_free(with);
    mishap_free(without);
}

static void without_a_status_the_body_says_it(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "<html>\r\n<head><title>502 Bad Gateway</title></head>",
        "{\"statusCode\":502,\"error\":\"Bad Gateway\",\"message\":\"x y\"}",
        "{\"type\":\"about:blank\",\"title\":\"Bad Gateway\",\"status\":502}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap *m = read_body(0, NULL, cases[i]);
        assert_int_equal(mishap_told(m)->code->http_status, 502);
        assert_int_equal(mishap_told(m)->message.length, 0);
        mishap_free(m);
    }
    mishap *m = read_body(200, NULL, "nothing of use");
    assert_true(mishap_is(m, GENERAL_ERROR));
    mishap_free(m);
}

static void the_status_of_the_response_counts_more_than_that_of_the_body(void **state)
{
    (void)state;
    mishap *m = read_body(404, "application/json", "{\"statusCode\":500,\"message\":\"No such.\"}");
    assert_true(mishap_is(m, NOT_FOUND));
    mishap_free(m);
}

static void what_the_caller_sent_may_be_repeated(void **state)
{
    (void)state;
    const mishap_text known[] = { T("/home/ada/notes.txt") };
    mishap_upstream_response response = { .status = 404,
                                          .content_type = T("text/plain"),
                                          .body = T("There is no /home/ada/notes.txt here.") };
    mishap *m = NULL;
    assert_null(mishap_upstream_read(&response, &m, NULL));
    assert_int_equal(mishap_told(m)->message.length, 0);
    mishap_free(m);
    response.known = known;
    response.known_count = 1;
    assert_null(mishap_upstream_read(&response, &m, NULL));
    assert_string_equal(mishap_told(m)->message.data, "There is no /home/ada/notes.txt here.");
    mishap_free(m);
}

static void a_code_of_ours_is_taken_only_if_its_status_agrees(void **state)
{
    (void)state;
    mishap *m = read_body(409, "application/json",
                          "{\"error\":{\"code\":\"already-exists\",\"message\":\"It is taken.\"}}");
    assert_true(mishap_is(m, ALREADY_EXISTS));
    assert_null(mishap_told(m)->context);
    mishap_free(m);
    m = read_body(403, "application/json",
                  "{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"It is hidden.\"}}");
    assert_true(mishap_is(m, FORBIDDEN));
    mishap_free(m);
}

static void advice_on_when_to_retry_is_kept(void **state)
{
    (void)state;
    mishap *m = read_body(429, "application/json",
                          "{\"detail\":\"Request was throttled. Expected available in 86 "
                          "seconds.\"}");
    assert_int_equal(mishap_told(m)->retry_after_ms, 86000);
    mishap_free(m);
    m = read_body(403, "application/json",
                  "{\"detail\":\"No. Expected available in 86 seconds.\"}");
    assert_int_not_equal(mishap_told(m)->retry_after_ms, 86000);
    mishap_free(m);
}

static void a_response_with_its_head_is_split(void **state)
{
    (void)state;
    mishap_upstream_response response = { .status = 7 };
    assert_false(mishap_upstream_split(T("{\"detail\":\"HTTP/1.1 404\"}"), &response));
    assert_false(mishap_upstream_split(T("HTTP/1.1 40x No"), &response));
    assert_false(mishap_upstream_split(T("HTTP/1.1 4040 No"), &response));
    assert_false(mishap_upstream_split((mishap_text){ NULL, 0 }, &response));
    assert_int_equal(response.status, 7);
    assert_true(mishap_upstream_split(
        T("HTTP/1.1 100 Continue\r\n\r\nHTTP/2 503 \r\ncontent-type:  text/plain \r\n"
          "no field\r\nRETRY-AFTER: 120\r\n\r\nno healthy upstream"),
        &response));
    assert_int_equal(response.status, 503);
    assert_true(mishap_text_equal(response.content_type, T("text/plain")));
    assert_true(mishap_text_equal(response.body, T("no healthy upstream")));
    mishap *m = NULL;
    assert_null(mishap_upstream_read(&response, &m, NULL));
    assert_int_equal(mishap_told(m)->retry_after_ms, 120000);
    mishap_free(m);
    /* A login that was followed has another head behind; the body of an error may look like one. */
    assert_true(
        mishap_upstream_split(T("HTTP/1.1 302 Found\n\nHTTP/1.1 401 No\n\nHTTP/1.1 407 No\n\n"
                                "HTTP/1.1 500 No\n\nHTTP/1.1 400 No\n\nprivate"),
                              &response));
    assert_int_equal(response.status, 500);
    assert_true(mishap_text_equal(response.body, T("HTTP/1.1 400 No\n\nprivate")));
    assert_true(mishap_upstream_split(T("HTTP/1.1 404"), &response));
    assert_int_equal(response.status, 404);
    assert_int_equal(response.body.length + response.content_type.length, 0);
}

static void only_a_number_of_seconds_is_advice(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999999999999", "1 2"
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        mishap *m = NULL;
        const mishap_upstream_response response = { .status = 503,
                                                    .retry_after = mishap_text_of(odd[i]) };
        assert_null(mishap_upstream_read(&response, &m, NULL));
        assert_int_equal(mishap_told(m)->retry_after_ms,
                         MISHAP_CODE_SERVICE_UNAVAILABLE->retry_after_ms);
        mishap_free(m);
    }
}

/* What is told can be told in each dialect, by its own rules. */
static void each_outcome_conforms_in_each_dialect(void **state)
{
    (void)state;
    size_t count;
    char **names = list_responses(&count);
    for (size_t i = 0; i < count; i++) {
        mishap *m = NULL;
        struct recorded recorded = open_response(names[i]);
        assert_null(mishap_upstream_read(&recorded.response, &m, NULL));
        for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
            char *text = rendered(*dialect, m);
            char *broken = broken_rules(*dialect, text, strlen(text), false);
            if (strstr(broken, "field-") || strstr(broken, "secret") || strstr(broken, "trace"))
                fail_msg("%s as %s breaks %s: %s", names[i], mishap_dialect_name(*dialect), broken,
                         text);
            free(broken);
            free(text);
        }
        mishap_free(m);
        free(recorded.file);
        free(names[i]);
    }
    free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_response_is_read_as_expected),
        TEST(private_text_reaches_no_caller_and_is_noted),
        TEST(what_is_not_to_be_noted_is_told_in_the_same_way),
        TEST(without_a_status_the_body_says_it),
        TEST(the_status_of_the_response_counts_more_than_that_of_the_body),
        TEST(what_the_caller_sent_may_be_repeated),
        TEST(a_code_of_ours_is_taken_only_if_its_status_agrees),
        TEST(advice_on_when_to_retry_is_kept),
        TEST(a_response_with_its_head_is_split),
        TEST(only_a_number_of_seconds_is_advice),
        TEST(each_outcome_conforms_in_each_dialect),
    };
    return RUN(tests);
}
