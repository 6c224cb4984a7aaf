/*
 * Seed 002's unit tests, under the names that it gives them, over the factories and the artifact
 * dialect; and which of its codes callers are answered with.
 */
#include "testing.h"

static char *as_artifact(mishap *m)
{
    char *text = rendered(mishap_dialect_find("artifact"), m);
    mishap_free(m);
    return text;
}

static void test_validation_error_format(void **state)
{
    (void)state;
    mishap *m = mishap_validation_as(MISSING_ARGUMENT,
                                     "transfer requires [from_id, to_id, amount]");
    m = mishap_tell(m, "required", mishap_value_of_json("[\"from_id\", \"to_id\", \"amount\"]"));
    char *text = as_artifact(m);
    assert_string_equal(
        text, "{\"success\":false,\"error\":\"transfer requires [from_id, to_id, amount]\","
              "\"code\":\"missing_argument\",\"category\":\"validation\",\"retriable\":false,"
              "\"details\":{\"required\":[\"from_id\",\"to_id\",\"amount\"]}}");
    free(text);
    text = as_artifact(mishap_validation("Amount must be positive"));
    assert_string_equal(
        text,
        "{\"success\":false,\"error\":\"Amount must be positive\",\"code\":\"invalid_argument\","
        "\"category\":\"validation\",\"retriable\":false}");
    free(text);
}

static void test_permission_error_format(void **state)
{
    (void)state;
    char *text = as_artifact(mishap_permission("Only the owner can transfer it"));
    assert_string_equal(text,
                        "{\"success\":false,\"error\":\"Only the owner can transfer it\",\"code\":"
                        "\"not_authorized\",\"category\":\"permission\",\"retriable\":false}");
    free(text);
    mishap *m = mishap_permission_as(INSUFFICIENT_FUNDS, "Balance is 3, needed 5");
    text = as_artifact(mishap_tell(mishap_tell(m, "balance", 3), "needed", 5));
    assert_string_equal(
        text,
        "{\"success\":false,\"error\":\"Balance is 3, needed 5\",\"code\":\"insufficient_funds\","
        "\"category\":\"permission\",\"retriable\":false,"
        "\"details\":{\"balance\":3,\"needed\":5}}");
    free(text);
}

/* Serialization: every category, retriable only where it is said, details only where there are
 * some. */
static void test_error_to_dict(void **state)
{
    (void)state;
    char *text = as_artifact(mishap_resource("Artifact a1 not found"));
    assert_string_equal(
        text, "{\"success\":false,\"error\":\"Artifact a1 not found\",\"code\":\"not_found\","
              "\"category\":\"resource\",\"retriable\":false}");
    free(text);
    text = as_artifact(mishap_execution("It broke"));
    assert_string_equal(text,
                        "{\"success\":false,\"error\":\"It broke\",\"code\":\"runtime_error\","
                        "\"category\":\"execution\",\"retriable\":false}");
    free(text);
    text = as_artifact(mishap_retryable(mishap_execution_as(TIMEOUT, "Timed out"), true));
    assert_string_equal(text, "{\"success\":false,\"error\":\"Timed out\",\"code\":\"timeout\","
                              "\"category\":\"execution\",\"retriable\":true}");
    free(text);
    text = as_artifact(mishap_system_as(NOT_CONFIGURED, "No mint is configured"));
    assert_string_equal(
        text, "{\"success\":false,\"error\":\"No mint is configured\",\"code\":\"not_configured\","
              "\"category\":\"system\",\"retriable\":false}");
    free(text);
    /* The default code of a system error is masked: what went wrong inside stays inside. */
    text = as_artifact(mishap_system("disk /dev/sda1 is full"));
    assert_string_equal(text,
                        "{\"success\":false,\"error\":\"An internal error occurred.\",\"code\":"
                        "\"internal_error\",\"category\":\"system\",\"retriable\":false}");
    free(text);
}

static void test_error_code_enum(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        mishap_category category;
    } codes[] = {
        { "missing_argument", MISHAP_VALIDATION }, { "invalid_argument", MISHAP_VALIDATION },
        { "invalid_type", MISHAP_VALIDATION },     { "not_owner", MISHAP_PERMISSION },
        { "not_authorized", MISHAP_PERMISSION },   { "insufficient_funds", MISHAP_PERMISSION },
        { "not_found", MISHAP_RESOURCE },          { "already_exists", MISHAP_RESOURCE },
        { "already_listed", MISHAP_RESOURCE },     { "timeout", MISHAP_EXECUTION },
        { "runtime_error", MISHAP_EXECUTION },     { "syntax_error", MISHAP_EXECUTION },
        { "internal_error", MISHAP_SYSTEM },       { "not_configured", MISHAP_SYSTEM },
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_SNAKE,
                                                      mishap_text_of(codes[i].code));
        assert_non_null(code);
        assert_int_equal(code->category, codes[i].category);
    }
}

/* Old readers look at `success` and `error` only, and still find them first. */
static void test_backwards_compatible(void **state)
{
    (void)state;
    const mishap_catalog *catalog = mishap_catalog_first();
    for (size_t i = 0; i < catalog->count; i++) {
        mishap *m = mishap_raise_at(catalog->codes[i], MISHAP_HERE, "Some error message");
        char *text = as_artifact(m);
        const char *wanted = catalog->codes[i]->masked
                                 ? "{\"success\":false,\"error\":\"An internal error occurred.\","
                                 : "{\"success\":false,\"error\":\"Some error message\",";
        assert_memory_equal(text, wanted, strlen(wanted));
        free(text);
    }
}

/* What a caller of a service is answered has a code that the seed names, where one fits; what is
 * rendered to be read back keeps its own. */
static void an_answer_has_the_nearest_code_of_the_seed(void **state)
{
#define ROW(from, to)                                                                              \
    {                                                                                              \
        MISHAP_CODE_##from, MISHAP_CODE_##to                                                       \
    }
    static const struct {
        const mishap_code *const from, *const to;
    } rows[] = {
        ROW(FIELD_REQUIRED, MISSING_ARGUMENT),
        ROW(INVALID_LENGTH, INVALID_ARGUMENT),
        ROW(VALUE_OUT_OF_RANGE, INVALID_ARGUMENT),
        ROW(PATTERN_MISMATCH, INVALID_ARGUMENT),
        ROW(VALUE_ERROR, INVALID_ARGUMENT),
        ROW(BAD_REQUEST, INVALID_ARGUMENT),
        ROW(MALFORMED_INPUT, INVALID_ARGUMENT),
        ROW(UNKNOWN_OPTION, INVALID_ARGUMENT),
        ROW(METHOD_NOT_ALLOWED, INVALID_ARGUMENT),
        ROW(NOT_ACCEPTABLE, INVALID_ARGUMENT),
        ROW(LENGTH_REQUIRED, INVALID_ARGUMENT),
        ROW(CONTENT_TOO_LARGE, INVALID_ARGUMENT),
        ROW(URI_TOO_LONG, INVALID_ARGUMENT),
        ROW(UNSUPPORTED_MEDIA_TYPE, INVALID_ARGUMENT),
        ROW(RANGE_NOT_SATISFIABLE, INVALID_ARGUMENT),
        ROW(EXPECTATION_FAILED, INVALID_ARGUMENT),
        ROW(MISDIRECTED_REQUEST, INVALID_ARGUMENT),
        ROW(UNPROCESSABLE_CONTENT, INVALID_ARGUMENT),
        ROW(UPGRADE_REQUIRED, INVALID_ARGUMENT),
        ROW(REQUEST_HEADER_FIELDS_TOO_LARGE, INVALID_ARGUMENT),
        ROW(PERMISSION_DENIED, NOT_AUTHORIZED),
        ROW(FORBIDDEN, NOT_AUTHORIZED),
        ROW(AUTH_REQUIRED, NOT_AUTHORIZED),
        ROW(AUTH_TOKEN_EXPIRED, NOT_AUTHORIZED),
        ROW(UNAUTHORIZED, NOT_AUTHORIZED),
        ROW(PAYMENT_REQUIRED, INSUFFICIENT_FUNDS),
        ROW(GONE, NOT_FOUND),
        ROW(REQUEST_TIMEOUT, TIMEOUT),
        ROW(VALIDATION_ERROR, INVALID_ARGUMENT),
        ROW(ARG_ERROR, INVALID_ARGUMENT),
        ROW(CONFLICT, CONFLICT),
        ROW(UNAVAILABLE, UNAVAILABLE),
        ROW(NOT_FOUND, NOT_FOUND),
        ROW(INTERNAL_ERROR, INTERNAL_ERROR),
    };
#undef ROW
    const mishap_dialect *artifact = mishap_dialect_find("artifact");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap *m = mishap_raise_at(rows[i].from, MISHAP_HERE, "No."), *answer, *kept;
        mishap_buffer room = { 0 };
        char *text = rendered(artifact, m);
        assert_null(mishap_parse(artifact, mishap_text_of(text), &kept));
        assert_ptr_equal(mishap_told(kept)->code, rows[i].from);
        assert_null(mishap_parse(artifact, mishap_render_answer(artifact, m, &room), &answer));
        if (mishap_told(answer)->code != rows[i].to)
            fail_msg("%s is answered as %s", rows[i].from->name.data,
                     mishap_told(answer)->code->name.data);
        assert_true(mishap_text_equal(mishap_public_message(mishap_told(answer)),
                                      mishap_public_message(mishap_told(m))));
        mishap_buffer_release(&room);
        free(text);
        mishap_free(answer);
        mishap_free(kept);
        mishap_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_validation_error_format), TEST(test_permission_error_format),
        TEST(test_error_to_dict),           TEST(test_error_code_enum),
        TEST(test_backwards_compatible),    TEST(an_answer_has_the_nearest_code_of_the_seed),
    };
    return RUN(tests);
}
