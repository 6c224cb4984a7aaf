/* mishap/bind.h: what a binding to another language calls. */
#include "mishap/bind.h"

#include <math.h>

#include "testing.h"

#define SQL    "SQLSTATE[42P01]: relation \"users\" does not exist"
#define MARKER "Xq9marker"
#define TRACE                                                                                      \
    "Traceback (most recent call last):\n  File \"/srv/app/" MARKER ".py\", line 3, in f\n"        \
    "ValueError: " MARKER

static bool has(mishap_text text, const char *part)
{
    return text.length && memmem(text.data, text.length, part, strlen(part));
}

static mishap_text account_of(const mishap *m, mishap_buffer *account)
{
    mishap_account(m, account);
    return mishap_buffer_text(account);
}

/* -- versions and codes ------------------------------------------------------------------------ */

static void the_version_of_the_library_is_that_of_its_header(void **state)
{
    (void)state;
    int major, minor, patch;
    assert_string_equal(mishap_version(), MISHAP_VERSION);
    assert_int_equal(mishap_version_number(), MISHAP_VERSION_NUMBER);
    assert_int_equal(sscanf(mishap_version(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_int_equal((major * 1000 + minor) * 1000 + patch, MISHAP_VERSION_NUMBER);
}

static void a_code_is_found_by_its_name_alone(void **state)
{
    (void)state;
    assert_ptr_equal(mishap_code_find(T("NOT_FOUND")), MISHAP_CODE_NOT_FOUND);
    assert_null(mishap_code_find(T("not_found")));
    assert_null(mishap_code_find(T("NOT_FOUND\0")));
    assert_null(mishap_code_find((mishap_text){ NULL, 0 }));
}

static void the_nearest_code_is_named(void **state)
{
    (void)state;
    assert_true(mishap_text_equal(mishap_code_nearest(T("NOT_FUOND")), T("NOT_FOUND")));
    assert_true(mishap_text_equal(mishap_code_nearest(T("notFound")), T("NOT_FOUND")));
    assert_null(mishap_code_nearest(T("zzzzzzzzzzzz")).data);
    assert_null(mishap_code_nearest((mishap_text){ NULL, 0 }).data);
}

/* -- raising ----------------------------------------------------------------------------------- */

static void a_message_is_never_a_format(void **state)
{
    (void)state;
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, T("%n%s%s%s 100% %m"));
    assert_true(mishap_text_equal(mishap_told(m)->message, T("%n%s%s%s 100% %m")));
    m = mishap_field_put(m, T("%n"), T("%s"), T("%n%n"));
    m = mishap_tell_text(m, T("%n"), T("%s%n"));
    m = mishap_stack_add(m, T("%n"), T("%s"), 3);
    char *text = rendered(mishap_dialect_find("canonical"), m);
    assert_non_null(strstr(text, "%s%n"));
    free(text);
    mishap_free(m);
}

static void a_message_of_any_bytes_becomes_text(void **state)
{
    (void)state;
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, T("a\0b\xFF\xED\xA0\x80"));
    assert_true(mishap_text_equal(mishap_told(m)->message,
                                  T("a\xEF\xBF\xBD"
                                    "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD")));
    mishap_free(m);
}

static void without_a_message_or_a_code_the_catalog_speaks(void **state)
{
    (void)state;
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, (mishap_text){ NULL, 0 });
    assert_true(
        mishap_text_equal(mishap_public_message(mishap_told(m)), MISHAP_CODE_CONFLICT->message));
    mishap_free(m);
    m = mishap_raise_text(NULL, T("private " MARKER));
    assert_true(mishap_is(m, INTERNAL_ERROR));
    char *text = rendered(mishap_dialect_find("problem"), m);
    assert_null(strstr(text, MARKER));
    free(text);
    mishap_free(m);
}

static void each_type_is_told_and_noted(void **state)
{
    (void)state;
    mishap_buffer account = { 0 };
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, T("It is taken."));
    m = mishap_tell_null(m, T("a"));
    m = mishap_tell_bool(m, T("b"), true);
    m = mishap_tell_int(m, T("c"), INT64_MIN);
    m = mishap_tell_uint(m, T("d"), UINT64_MAX);
    m = mishap_tell_real(m, T("e"), 0.5);
    m = mishap_tell_text(m, T("f"), T("x"));
    m = mishap_tell_json(m, T("g"), T("[1, {\"a\": null}]"));
    m = mishap_tell_json(m, T("h"), T("{broken"));
    m = mishap_tell_text(m, T("password"), T("hunter2"));
    m = mishap_note_null(m, T("A"));
    m = mishap_note_bool(m, T("B"), false);
    m = mishap_note_int(m, T("C"), -7);
    m = mishap_note_uint(m, T("D"), 7);
    m = mishap_note_real(m, T("E"), 2.5);
    m = mishap_note_text(m, T("F"), T(MARKER));
    m = mishap_note_json(m, T("G"), T("{\"k\":1}"));
    char *text = rendered(mishap_dialect_find("canonical"), m);
    assert_non_null(strstr(text, "{\"a\":null,\"b\":true,\"c\":-9223372036854775808,"
                                 "\"d\":18446744073709551615,\"e\":0.5,\"f\":\"x\","
                                 "\"g\":[1,{\"a\":null}],\"h\":\"{broken\","
                                 "\"password\":\"[redacted]\"}"));
    assert_null(strstr(text, MARKER));
    mishap_text all = account_of(m, &account);
    assert_true(has(all, "noted A = null\n  noted B = false\n  noted C = -7\n  noted D = 7\n"
                         "  noted E = 2.5\n  noted F = \"" MARKER "\""));
    assert_true(has(all, "noted G = {\"k\":1}"));
    mishap_buffer_release(&account);
    free(text);
    mishap_free(m);
}

static void texts_are_set_with_their_lengths(void **state)
{
    (void)state;
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, T("It is taken."));
    m = mishap_put_cause(m, (mishap_text){ "a cause and more", 7 });
    m = mishap_put_suggestion(m, (mishap_text){ "Try this.And", 9 });
    m = mishap_put_docs(m, T("https://example.com/conflict"));
    m = mishap_put_incident(m, T("0197"));
    m = mishap_put_type(m, T("ODD-ONE"));
    const mishap_public *told = mishap_told(m);
    assert_true(mishap_text_equal(told->cause, T("a cause")));
    assert_true(mishap_text_equal(told->suggestion, T("Try this.")));
    assert_true(mishap_text_equal(told->docs_url, T("https://example.com/conflict")));
    assert_true(mishap_text_equal(told->incident, T("0197")));
    assert_true(mishap_text_equal(told->type, T("ODD-ONE")));
    m = mishap_put_cause(m, (mishap_text){ NULL, 0 });
    assert_int_equal(told->cause.length, 0);
    mishap_free(m);
}

static void a_field_gets_its_members_one_by_one(void **state)
{
    (void)state;
    mishap *m = mishap_raise_text(MISHAP_CODE_VALIDATION_ERROR, (mishap_text){ NULL, 0 });
    m = mishap_field_put_min(m, mishap_value_of_int(1)); /* there is no field yet */
    m = mishap_field_put(m, T("items[2].age"), T("value_out_of_range"), T("It is too high."));
    m = mishap_field_put_min(m, mishap_value_of_int(0));
    m = mishap_field_put_max(m, mishap_value_of_int(150));
    m = mishap_field_put_actual(m, mishap_value_of_int(200));
    m = mishap_field_put(m, T("password"), T("invalidLength"), (mishap_text){ NULL, 0 });
    m = mishap_field_put_actual(m, mishap_value_of_string("hunter2"));
    m = mishap_field_put_expected(m, mishap_value_of_string("a longer one"));
    const mishap_field *age = mishap_told(m)->fields, *password = age->next;
    assert_int_equal(mishap_told(m)->field_count, 2);
    assert_int_equal(age->min.integer, 0);
    assert_int_equal(age->max.integer, 150);
    assert_int_equal(age->actual.integer, 200);
    assert_true(mishap_text_equal(age->message, T("It is too high.")));
    assert_true(mishap_text_equal(password->error, T("invalid_length")));
    assert_true(mishap_text_equal(password->actual.text, T("[redacted]")));
    assert_true(mishap_text_equal(password->expected.text, T("a longer one")));
    m = mishap_field_put_min(m, mishap_value_of_string("no number"));
    m = mishap_field_put_max(m, mishap_value_of_real(INFINITY));
    assert_int_equal(password->min.kind, MISHAP_KIND_NONE);
    assert_int_equal(password->max.kind, MISHAP_KIND_NONE);
    m = mishap_field_put_actual(m, mishap_value_none());
    assert_int_equal(password->actual.kind, MISHAP_KIND_NONE);
    mishap_free(m);
}

/* -- the stack of another language ------------------------------------------------------------- */

static void a_foreign_stack_is_private(void **state)
{
    (void)state;
    mishap_buffer account = { 0 };
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, T("It is taken."));
    m = mishap_stack_add(m, T("inner" MARKER), T("/srv/app.py"), 3);
    m = mishap_stack_add(m, T("outer"), T("/srv/main.py"), 0);
    m = mishap_stack_add(m, (mishap_text){ NULL, 0 }, (mishap_text){ NULL, 0 }, 7);
    assert_true(has(account_of(m, &account), "  stack:\n    inner" MARKER " (/srv/app.py:3)\n"
                                             "    outer (/srv/main.py)\n    ?\n"));
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        char *text = rendered(*dialect, m);
        assert_null(strstr(text, MARKER));
        assert_null(strstr(text, "app.py"));
        free(text);
    }
    mishap_buffer_release(&account);
    mishap_free(m);
}

static void a_stack_without_end_has_one(void **state)
{
    (void)state;
    mishap_buffer account = { 0 };
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, T("It is taken."));
    for (int i = 0; i < 100000; i++)
        m = mishap_stack_add(m, T("deeper"), T("/srv/app.py"), i + 1);
    mishap_text all = account_of(m, &account);
    assert_true(has(all, "app.py:256)"));
    assert_false(has(all, "app.py:257)"));
    mishap_buffer_release(&account);
    mishap_free(m);
}

static void ids_of_incidents_differ(void **state)
{
    (void)state;
    char first[MISHAP_INCIDENT_ID_SIZE], second[MISHAP_INCIDENT_ID_SIZE];
    assert_int_equal(mishap_new_incident(first), MISHAP_INCIDENT_ID_SIZE - 1);
    size_t length = mishap_new_incident(second);
    assert_int_equal(length, strlen(second));
    assert_string_not_equal(first, second);
    assert_int_equal(first[14], '7');
}

/* -- the guard --------------------------------------------------------------------------------- */

static void assert_guarded(const char *text, bool strict, const char *known, const char *expected)
{
    mishap_buffer out = { 0 };
    const mishap_text sent = mishap_text_of(known);
    bool replaced = mishap_guard_text(mishap_text_of(text), strict, known ? &sent : NULL,
                                      known != 0, &out);
    assert_int_equal(replaced, strcmp(text, expected) != 0);
    assert_true(mishap_text_equal(mishap_buffer_text(&out), mishap_text_of(expected)));
    mishap_buffer_release(&out);
}

static void a_text_with_a_leak_is_replaced(void **state)
{
    (void)state;
    assert_guarded("The name is taken.", false, NULL, "The name is taken.");
    assert_guarded(TRACE, false, NULL, "A stack trace was removed here.");
    assert_guarded(SQL, false, NULL, "A message of a database was removed here.");
    assert_guarded(SQL, false,
                   "{\"query\":\""
                   "SQLSTATE[42P01]: relation \\\"users\\\" does not exist"
                   "\"}",
                   SQL);
    assert_guarded(SQL, false, SQL, SQL);
    assert_guarded("It is in /srv/app/config/keys.yml now.", false, NULL,
                   "It is in /srv/app/config/keys.yml now.");
    assert_guarded("It is in /srv/app/config/keys.yml now.", true, NULL,
                   "A path was removed here.");
    assert_guarded("", true, NULL, "");
}

/* A failure with a leak in each of its parts. */
static mishap *leaking(void)
{
    mishap *m = mishap_raise_text(MISHAP_CODE_CONFLICT, T(TRACE));
    m = mishap_put_cause(m, T(TRACE));
    m = mishap_put_suggestion(m, T(TRACE));
    m = mishap_put_type(m, T(TRACE));
    m = mishap_tell_text(m, T(TRACE), T("a key"));
    m = mishap_tell_text(m, T("text"), T(TRACE));
    m = mishap_tell_json(
        m, T("json"),
        T("{\"list\":[\"Traceback (most recent call last):\\n  File \\\"/srv/" MARKER
          ".py\\\", line 3, in f\\nValueError: " MARKER "\"]}"));
    m = mishap_tell_text(m, T("kept"), T("as it is"));
    m = mishap_field_put(m, T(TRACE), T("invalid_type"), T(TRACE));
    m = mishap_field_put_expected(m, mishap_value_of_string(TRACE));
    m = mishap_field_put_actual(m, mishap_value_of_string(TRACE));
    m = mishap_note_text(m, T("noted"), T(TRACE));
    m = mishap_stack_add(m, T(MARKER), T(MARKER), 1);
    return mishap_because(m, mishap_raise_text(MISHAP_CODE_CONFLICT, T(TRACE)));
}

static void assert_no_marker(const mishap *m)
{
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        mishap_buffer out = { 0 };
        mishap_text text = mishap_render(*dialect, m, &out);
        if (has(text, MARKER))
            fail_msg("%s: %.*s", mishap_dialect_name(*dialect), (int)text.length, text.data);
        mishap_buffer_release(&out);
    }
}

static void nothing_private_is_told_behind_the_guard(void **state)
{
    (void)state;
    mishap_buffer account = { 0 };
    mishap *m = leaking(), *same = m;
    m = mishap_guard_told(m, false, NULL, 0);
    assert_ptr_equal(m, same);
    assert_no_marker(m);
    assert_true(has(account_of(m, &account), MARKER)); /* the operator reads it */
    const mishap_member *kept = mishap_public_member(mishap_told(m), "kept");
    assert_non_null(kept);
    assert_null(kept->next);
    m = mishap_tell_int(m, T("after"), 1);
    assert_non_null(mishap_public_member(mishap_told(m), "after"));
    mishap_buffer_release(&account);
    mishap_free(m);
}

static void nothing_private_is_translated(void **state)
{
    (void)state;
    mishap *m = mishap_guard_told(leaking(), false, NULL, 0);
    for (const mishap_dialect *const *from = mishap_dialects(); *from; from++)
        for (const mishap_dialect *const *to = mishap_dialects(); *to; to++) {
            mishap_buffer first = { 0 }, second = { 0 };
            mishap_text document = mishap_render(*from, m, &first);
            assert_null(mishap_translate(*from, *to, document, &second));
            assert_false(has(mishap_buffer_text(&second), MARKER));
            mishap_buffer_release(&first);
            mishap_buffer_release(&second);
        }
    mishap_free(m);
}

static void a_leak_of_several_strings_is_found_in_a_document(void **state)
{
    (void)state;
    mishap_buffer json = { 0 }, account = { 0 };
    static const char plain[] = "{\"message\":\"It is taken.\"}";
    mishap_buffer_add(&json, plain, sizeof plain - 1);
    assert_null(mishap_guard_json(&json, false, NULL, 0));
    assert_true(mishap_text_equal(mishap_buffer_text(&json), mishap_text_of(plain)));
    mishap_buffer_reset(&json);
    static const char leak[] = "{\"message\":\"x\",\"detail\":\""
                               "SQLSTATE[42P01]: relation does not exist"
                               "\"}";
    mishap_buffer_add(&json, leak, sizeof leak - 1);
    mishap *found = mishap_guard_json(&json, false, NULL, 0);
    assert_true(mishap_is(found, RUNTIME_ERROR));
    assert_false(has(mishap_buffer_text(&json), "SQLSTATE"));
    assert_true(has(account_of(found, &account), "SQLSTATE"));
    mishap_free(found);
    mishap_buffer_release(&account);
    mishap_buffer_release(&json);
}

/* -- translating ------------------------------------------------------------------------------- */

static void a_document_is_translated_or_refused(void **state)
{
    (void)state;
    mishap_buffer out = { 0 };
    const mishap_dialect *api = mishap_dialect_find("http-api");
    const mishap_dialect *rpc = mishap_dialect_find("json-rpc");
    assert_null(mishap_translate(
        api, rpc, T("{\"error\":\"not_found\",\"message\":\"No such user.\"}"), &out));
    assert_true(has(mishap_buffer_text(&out), "No such user."));
    mishap_buffer_reset(&out);
    mishap *m = mishap_translate(api, rpc, T("{\"error\":"), &out);
    assert_non_null(m);
    assert_int_equal(out.length, 0);
    assert_non_null(mishap_public_member(mishap_told(m), "line"));
    mishap_free(m);
    m = mishap_translate(api, rpc, (mishap_text){ NULL, 0 }, &out);
    assert_non_null(m);
    mishap_free(m);
    mishap_buffer_release(&out);
}

/* -- no memory --------------------------------------------------------------------------------- */

static void do_all(const void *input)
{
    (void)input;
    mishap_buffer out = { 0 };
    const mishap_text sent = T("{\"a\":\"something long enough\"}");
    mishap *m = mishap_guard_told(leaking(), true, &sent, 1);
    assert_no_marker(m);
    bool replaced = mishap_guard_text(T(TRACE), false, &sent, 1, &out);
    assert_true(replaced);
    assert_false(has(mishap_buffer_text(&out), MARKER));
    mishap_buffer_release(&out);
    static const char leak[] = "{\"a\":\"SQLSTATE[42P01]: no relation\"}";
    mishap_buffer_add(&out, leak, sizeof leak - 1);
    mishap_free(mishap_guard_json(&out, false, &sent, 1));
    mishap_buffer_release(&out);
    mishap_text document = T("{\"error\":\"not_found\",\"message\":\"No such user.\"}");
    mishap *failure = mishap_translate(mishap_dialect_find("http-api"),
                                       mishap_dialect_find("problem"), document, &out);
    assert_true(!failure || !out.length);
    mishap_free(failure);
    mishap_buffer_release(&out);
    mishap_free(m);
}

static void without_memory_nothing_leaks_and_nothing_stays(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(do_all, NULL);
    mishap_use_allocator(NULL);
}

static void no_mishap_stays_none(void **state)
{
    (void)state;
    const mishap_value one = mishap_value_of_int(1);
    const mishap *const results[] = {
        mishap_tell_null(NULL, T("a")),
        mishap_tell_bool(NULL, T("a"), true),
        mishap_tell_int(NULL, T("a"), 1),
        mishap_tell_uint(NULL, T("a"), 1),
        mishap_tell_real(NULL, T("a"), 1),
        mishap_tell_text(NULL, T("a"), T("b")),
        mishap_tell_json(NULL, T("a"), T("1")),
        mishap_note_null(NULL, T("a")),
        mishap_note_bool(NULL, T("a"), true),
        mishap_note_int(NULL, T("a"), 1),
        mishap_note_uint(NULL, T("a"), 1),
        mishap_note_real(NULL, T("a"), 1),
        mishap_note_text(NULL, T("a"), T("b")),
        mishap_note_json(NULL, T("a"), T("1")),
        mishap_put_cause(NULL, T("a")),
        mishap_put_suggestion(NULL, T("a")),
        mishap_put_docs(NULL, T("a")),
        mishap_put_incident(NULL, T("a")),
        mishap_put_type(NULL, T("a")),
        mishap_field_put(NULL, T("a"), T("b"), T("c")),
        mishap_field_put_expected(NULL, one),
        mishap_field_put_actual(NULL, one),
        mishap_field_put_min(NULL, one),
        mishap_field_put_max(NULL, one),
        mishap_stack_add(NULL, T("a"), T("b"), 1),
        mishap_guard_told(NULL, false, NULL, 0),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        assert_null(results[i]);
    mishap *last = mishap_out_of_memory();
    assert_ptr_equal(mishap_stack_add(last, T("a"), T("b"), 1), last);
    assert_ptr_equal(mishap_guard_told(last, true, NULL, 0), last);
    assert_ptr_equal(mishap_field_put_min(last, one), last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_version_of_the_library_is_that_of_its_header),
        TEST(a_code_is_found_by_its_name_alone),
        TEST(the_nearest_code_is_named),
        TEST(a_message_is_never_a_format),
        TEST(a_message_of_any_bytes_becomes_text),
        TEST(without_a_message_or_a_code_the_catalog_speaks),
        TEST(each_type_is_told_and_noted),
        TEST(texts_are_set_with_their_lengths),
        TEST(a_field_gets_its_members_one_by_one),
        TEST(a_foreign_stack_is_private),
        TEST(a_stack_without_end_has_one),
        TEST(ids_of_incidents_differ),
        TEST(a_text_with_a_leak_is_replaced),
        TEST(nothing_private_is_told_behind_the_guard),
        TEST(nothing_private_is_translated),
        TEST(a_leak_of_several_strings_is_found_in_a_document),
        TEST(a_document_is_translated_or_refused),
        TEST(without_memory_nothing_leaks_and_nothing_stays),
        TEST(no_mishap_stays_none),
    };
    return RUN(tests);
}
