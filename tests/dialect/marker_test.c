/*
 * Public and private never mix: a marker is put into every private part of a mishap, and every
 * rendering is searched for it. The account, which is the operator's, must have it: nothing
 * internal is lost.
 */
#include "testing.h"

#define MARKER "PrivateMarker7f3a"

/* A name that shows up in the native stack and in the place of raising. */
__attribute__((noinline)) static mishap *raise_in_PrivateMarker7f3a(const mishap_code *code,
                                                                    const char *message)
{
    return mishap_raise_at(code, (mishap_place){ MARKER ".c", "in_" MARKER, 7 }, "%s", message);
}

/* Every private part holds the marker; every public part has something in it. */
static mishap *full(const mishap_code *code)
{
    mishap *root = raise_in_PrivateMarker7f3a(MISHAP_CODE_RUNTIME_ERROR, "root cause " MARKER);
    root = mishap_tell(root, "told_of_the_cause_" MARKER, MARKER);
    root = mishap_field_required(root, MARKER);
    mishap *middle = mishap_note(raise_in_PrivateMarker7f3a(MISHAP_CODE_TIMEOUT, MARKER), "n",
                                 MARKER);
    mishap *m = raise_in_PrivateMarker7f3a(code,
                                           code->masked ? "masked " MARKER : "A public message.");
    m = mishap_because(mishap_because(m, middle), root);
    m = mishap_note(m, "noted", MARKER);
    m = mishap_note(m, MARKER, 1);
    m = mishap_note(m, "json", mishap_value_of_json("{\"" MARKER "\":[\"" MARKER "\"]}"));
    m = mishap_tell(m, "password", MARKER); /* a secret by its name */
    m = mishap_tell(m, "api_keys", mishap_value_of_json("[\"" MARKER "\"]"));
    m = mishap_tell(m, "dsn", "postgres://user:" MARKER "@db.example.com/x");
    m = mishap_tell(
        m, "nested",
        mishap_value_of_json("{\"api_key\":\"" MARKER "\",\"a\":[{\"token\":\"" MARKER "\"}]}"));
    m = mishap_tell(m, "host", "db.example.com");
    m = mishap_tell_cause(m, "Connection refused (ECONNREFUSED) at amqp://u:" MARKER "@h");
    m = mishap_suggest(m, "Try https://u:" MARKER "@example.com/ instead.");
    m = mishap_docs(m, "https://example.com/docs");
    m = mishap_incident(m, "0192f7a0-0000-7000-8000-000000000000");
    m = mishap_field_add(m, &(mishap_field){ .field = T("password"),
                                             .error = T("invalid_type"),
                                             .expected = mishap_value_of_string("string"),
                                             .actual = mishap_value_of_string(MARKER) });
    m = mishap_field_range(m, "age", mishap_value_of_int(0), mishap_value_of_int(150),
                           mishap_value_of_int(200));
    return m;
}

static void no_rendering_has_a_private_part(void **state)
{
    (void)state;
    const mishap_catalog *catalog = mishap_catalog_first();
    for (size_t i = 0; i < catalog->count; i++) {
        mishap *m = full(catalog->codes[i]);
        for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
            char *text = rendered(*dialect, m);
            assert_true(strlen(text) > 20);
            assert_null(strstr(text, MARKER));
            free(text);
        }
        mishap_free(m);
    }
}

/* What came in through one dialect does not come out with more through another. */
static void no_translation_has_a_private_part(void **state)
{
    (void)state;
    mishap *m = full(MISHAP_CODE_CONNECTION_REFUSED);
    for (const mishap_dialect *const *from = mishap_dialects(); *from; from++) {
        char *document = rendered(*from, m);
        mishap *read = parsed(*from, document, strlen(document));
        for (const mishap_dialect *const *to = mishap_dialects(); *to; to++) {
            char *text = rendered(*to, read);
            assert_null(strstr(text, MARKER));
            free(text);
        }
        mishap_free(read);
        free(document);
    }
    mishap_free(m);
}

/* The subject's own output and backtrace are for the condition report and the canonical form only.
 */
static void the_subject_shows_in_its_report_only(void **state)
{
    (void)state;
    mishap *m = mishap_type(mishap_raise(RUNTIME_ERROR, "It failed."), "SUBJECT-TYPE");
    m = mishap_output(m, T("printed " MARKER));
    m = mishap_frame_add(m, T("(FRAME " MARKER ")"));
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        const char *name = mishap_dialect_name(*dialect);
        bool shows = strcmp(name, "condition-report") == 0 || strcmp(name, "canonical") == 0;
        char *text = rendered(*dialect, m);
        assert_int_equal(strstr(text, MARKER) != NULL, shows);
        free(text);
    }
    mishap_free(m);
}

static void the_account_has_every_private_part(void **state)
{
    (void)state;
    mishap *m = full(MISHAP_CODE_INTERNAL_ERROR);
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_account(m, &buffer);
    mishap_buffer_add(&buffer, "", 1);
    static const char *const parts[] = {
        "masked " MARKER,
        "noted noted = \"" MARKER "\"",
        "noted " MARKER " = 1",
        "root cause " MARKER,
        "raised at " MARKER ".c:7 in in_" MARKER,
        "caused by TIMEOUT",
        "caused by RUNTIME_ERROR",
        "native stack:",
        "[\"" MARKER "\"]",
        "field " MARKER ": field_required",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(buffer.data, parts[i]))
            fail_msg("the account lacks: %s\n%s", parts[i], buffer.data);
    /* Secrets are redacted even here. */
    assert_null(strstr(buffer.data, "user:" MARKER));
    assert_null(strstr(buffer.data, "password = \"" MARKER));
    mishap_buffer_release(&buffer);
    mishap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_rendering_has_a_private_part),
        TEST(no_translation_has_a_private_part),
        TEST(the_subject_shows_in_its_report_only),
        TEST(the_account_has_every_private_part),
    };
    return RUN(tests);
}
