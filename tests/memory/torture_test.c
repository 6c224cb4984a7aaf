/*
 * Every allocation fails in turn, for raise, tell, render, parse and verify: the answer is
 * well-formed or a clean refusal, nothing leaks and nothing crashes. The allocator counts what it
 * gave out.
 */
#include "testing.h"

static void ignore(void *state, const mishap_finding *finding)
{
    assert_non_null(finding->rule);
    *(size_t *)state += 1;
}

/* After any failure: a rendering conforms to its dialect. */
static void assert_conforms(const mishap_dialect *dialect, mishap_text text)
{
    size_t saved = fail_at;
    fail_at = 0;
    char *rules = broken_rules(dialect, text.data, text.length, false);
    if (strcmp(rules, "") != 0 && strcmp(rules, "not-a-sentence") != 0)
        fail_msg("%s breaks %s: %.*s", mishap_dialect_name(dialect), rules, (int)text.length,
                 text.data);
    free(rules);
    fail_at = saved;
}

static mishap *raise_much(void)
{
    mishap *m = mishap_raise(CONNECTION_REFUSED, "Cannot connect to %s.", "db.example.com");
    m = mishap_because(m, mishap_note(mishap_raise(RUNTIME_ERROR, "A cause."), "k", "v"));
    m = mishap_tell(mishap_tell(m, "host", "db.example.com"), "port", 5432);
    m = mishap_tell(m, "dsn", "postgres://u:p@h/");
    m = mishap_tell(m, "list", mishap_value_of_json("[1,{\"a\":\"b\"}]"));
    m = mishap_tell_cause(m, "Connection refused (ECONNREFUSED)");
    m = mishap_suggest(m, "Verify the database is running: `tool db status`");
    m = mishap_docs(m, "https://docs.example.com/errors/CONNECTION_REFUSED");
    m = mishap_retry_after(m, 1500);
    m = mishap_incident(m, "0192f7a0-0000-7000-8000-000000000000");
    for (int i = 0; i < 20; i++)
        m = mishap_field_range(m, "age", mishap_value_of_int(0), mishap_value_of_int(150),
                               mishap_value_of_int(200));
    for (int i = 0; i < 80; i++) { /* each twice: their index needs memory, too */
        char key[16];
        snprintf(key, sizeof key, "key%d", i % 40);
        m = mishap_tell_value(m, mishap_text_of(key), mishap_value_of_int(i));
    }
    m = mishap_output(mishap_type(m, "FOO-ERROR"), T("printed"));
    for (int i = 0; i < 30; i++)
        m = mishap_frame_add(m, T("(FRAME 1 2 3)"));
    return mishap_note(m, "noted", "value");
}

static void raise_and_render(const void *input)
{
    const mishap_dialect *dialect = input;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap *m = raise_much();
    assert_non_null(m);
    mishap_text text = mishap_render(dialect, m, &buffer);
    assert_conforms(dialect, text);
    mishap_buffer_release(&buffer);
    mishap_free(m);
}

static void raising_and_rendering_survive(void **state)
{
    (void)state;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++)
        torture(raise_and_render, *dialect);
}

static void raise_and_account(const void *input)
{
    (void)input;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap *m = raise_much();
    mishap_account(m, &buffer);
    mishap_buffer_release(&buffer);
    mishap_free(m);
}

static void the_account_survives(void **state)
{
    (void)state;
    torture(raise_and_account, NULL);
}

struct document {
    const mishap_dialect *dialect;
    const char *text;
    size_t length;
};

/* A parse gives the same as with all memory, or refuses; never half of it. */
static void parse_document(const void *input)
{
    const struct document *document = input;
    mishap *m = NULL;
    mishap *failure = mishap_parse(document->dialect,
                                   (mishap_text){ document->text, document->length }, &m);
    assert_true((failure == NULL) == (m != NULL));
    if (m) {
        size_t saved = fail_at;
        fail_at = 0;
        char *again = rendered(document->dialect, m);
        assert_int_equal(strlen(again), document->length);
        assert_memory_equal(again, document->text, document->length);
        free(again);
        fail_at = saved;
    }
    mishap_free(failure);
    mishap_free(m);
}

static void verify_document(const void *input)
{
    const struct document *document = input;
    size_t findings = 0;
    mishap *failure = mishap_verify(document->dialect,
                                    (mishap_text){ document->text, document->length }, true, ignore,
                                    &findings);
    mishap_free(failure);
}

static void parsing_and_verifying_survive(void **state)
{
    (void)state;
    mishap *m = raise_much();
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        char *text = rendered(*dialect, m);
        struct document document = { *dialect, text, strlen(text) };
        torture(parse_document, &document);
        torture(verify_document, &document);
        free(text);
    }
    mishap_free(m);
}

static void refuse_document(const void *input)
{
    const struct document *document = input;
    mishap *m = NULL, *failure = mishap_parse(
                          document->dialect, (mishap_text){ document->text, document->length }, &m);
    mishap_free(failure);
    mishap_free(m);
    verify_document(input);
}

/* The documents that break a rule: reading them may fail, for lack of memory or for the rule. */
static void broken_documents_survive(void **state)
{
    (void)state;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        char folder[300], path[800];
        size_t count, length;
        snprintf(folder, sizeof folder, "%s/broken/%s", tests_folder(),
                 mishap_dialect_name(*dialect));
        char **names = list_folder(folder, &count);
        for (size_t i = 0; i < count; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, names[i]);
            char *text = read_file(path, &length);
            if (length < 20000)
                torture(refuse_document, &(struct document){ *dialect, text, length });
            free(text);
            free(names[i]);
        }
        free(names);
    }
}

/* With no memory at all, from the first byte on. */
static void the_last_words_of_every_dialect_conform(void **state)
{
    (void)state;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        mishap_buffer buffer;
        mishap_buffer_init(&buffer, NULL, 0);
        calls = 0;
        fail_at = 1;
        fail_once = false;
        mishap_text words = mishap_render(*dialect, mishap_out_of_memory(), &buffer);
        fail_at = 0;
        assert_conforms(*dialect, words);
        mishap *m = parsed(*dialect, words.data, words.length);
        mishap_free(m);
        /* The constant says what the dialect says of an internal error when there is memory. */
        char *usual = rendered(*dialect, mishap_out_of_memory());
        mishap *both[] = { parsed(*dialect, words.data, words.length),
                           parsed(*dialect, usual, strlen(usual)) };
        char *first = rendered(mishap_dialect_find("canonical"), both[0]);
        char *second = rendered(mishap_dialect_find("canonical"), both[1]);
        assert_string_equal(first, second);
        free(first);
        free(second);
        free(usual);
        mishap_free(both[0]);
        mishap_free(both[1]);
        mishap_buffer_release(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(raising_and_rendering_survive),           TEST(the_account_survives),
        TEST(parsing_and_verifying_survive),           TEST(broken_documents_survive),
        TEST(the_last_words_of_every_dialect_conform),
    };
    mishap_use_allocator(&failing_allocator);
    return RUN(tests);
}
