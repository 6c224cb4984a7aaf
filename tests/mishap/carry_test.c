/*
 * src/mishap/carry: a mishap as bytes for another process. What arrives has the same account and
 * the same rendering in every dialect; any other bytes are refused.
 */
#include "testing.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mishap/bind.h"
#include "mishap/carry.h"
#include "mishap/inside.h"
#include "own_codes.h"

#define MARKER "PrivateMarker7f3a"

/* -- sending and comparing --------------------------------------------------------------------- */

static mishap_buffer packed(const mishap *m)
{
    mishap_buffer bytes;
    mishap_buffer_init(&bytes, NULL, 0);
    mishap_carry_put(&bytes, m);
    return bytes;
}

/* Take from a copy that has not a byte more, so that reading beyond the end shows. */
static bool taken(const char *bytes, size_t length, mishap **m)
{
    char *copy = malloc(length ? length : 1);
    memcpy(copy, bytes, length);
    *m = mishap_out_of_memory();
    bool sound = mishap_carry_take((mishap_text){ copy, length }, m);
    free(copy);
    assert_true(sound || !*m);
    return sound;
}

static mishap *carried(const mishap *m)
{
    mishap *arrived;
    mishap_buffer bytes = packed(m);
    assert_false(bytes.failed);
    assert_true(taken(bytes.data, bytes.length, &arrived));
    mishap_buffer_release(&bytes);
    return arrived;
}

static char *account_of(const mishap *m)
{
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_account(m, &buffer);
    mishap_buffer_add(&buffer, "", 1);
    char *copy = strdup(buffer.data);
    mishap_buffer_release(&buffer);
    return copy;
}

/* The same to the operator, to every caller, and if it is sent again. */
static void assert_same(const mishap *a, const mishap *b)
{
    char *first = account_of(a), *second = account_of(b);
    assert_string_equal(first, second);
    free(first);
    free(second);
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        first = rendered(*dialect, a);
        second = rendered(*dialect, b);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
    mishap_buffer bytes[2] = { packed(a), packed(b) };
    assert_int_equal(bytes[0].length, bytes[1].length);
    assert_memory_equal(bytes[0].data, bytes[1].data, bytes[0].length);
    mishap_buffer_release(&bytes[0]);
    mishap_buffer_release(&bytes[1]);
    for (; a && b; a = a->cause, b = b->cause) { /* what shows later, if at all */
        assert_int_equal(a->restored, b->restored);
        assert_int_equal(a->status_known, b->status_known);
        assert_int_equal(a->incomplete, b->incomplete);
        assert_int_equal(a->told.retry_stated, b->told.retry_stated);
        assert_int_equal(a->told.retry_after_ms, b->told.retry_after_ms);
    }
    assert_true(!a && !b);
}

/* It arrives as it is. Frees it. */
static void assert_arrives(mishap *m)
{
    mishap *arrived = carried(m);
    assert_same(m, arrived);
    mishap_free(arrived);
    mishap_free(m);
}

/* A mishap with every part there is; what is private has the marker in it. */
static mishap *full(const mishap_code *code)
{
    mishap_place place = { MARKER ".c", "in_" MARKER, 7 };
    mishap *root = mishap_raise_at(MISHAP_CODE_RUNTIME_ERROR, place, "root cause " MARKER);
    root = mishap_tell(root, "told_of_the_cause_" MARKER, MARKER);
    root = mishap_field_required(root, MARKER);
    mishap *middle = mishap_note(mishap_raise_at(MISHAP_CODE_TIMEOUT, place, MARKER), "n", MARKER);
    mishap *m = mishap_raise_at(code, place, "%s",
                                code->masked ? "masked " MARKER : "A public message.");
    m = mishap_because(mishap_because(m, middle), root);
    m = mishap_note(mishap_note(m, "noted", MARKER), MARKER, 1);
    m = mishap_note(m, "json", mishap_value_of_json("{\"" MARKER "\":[\"" MARKER "\"]}"));
    m = mishap_tell(m, "password", MARKER); /* a secret by its name */
    m = mishap_tell(m, "dsn", "postgres://user:" MARKER "@db.example.com/x");
    m = mishap_tell(m, "nested",
                    mishap_value_of_json("{\"api_key\":\"" MARKER "\",\"a\":[1,2.5,null]}"));
    m = mishap_tell(m, "host", "db.example.com \xC3\xA9\xE2\x82\xAC");
    m = mishap_tell_cause(m, "Connection refused (ECONNREFUSED) at amqp://u:" MARKER "@h");
    m = mishap_suggest(m, "Try https://u:" MARKER "@example.com/ instead.");
    m = mishap_docs(m, "https://u:" MARKER "@example.com/docs");
    m = mishap_incident(m, "0192f7a0-0000-7000-8000-000000000000");
    m = mishap_field_add(m, &(mishap_field){ .field = T("password"),
                                             .error = T("invalid_type"),
                                             .expected = mishap_value_of_string("string"),
                                             .actual = mishap_value_of_string(MARKER) });
    m = mishap_field_add(
        m, &(mishap_field){ .field = T("items[2].name"), .error = T("OddErrorName") });
    m = mishap_field_says(m, "What is wrong, %s", "in words.");
    m = mishap_field_range(m, "age", mishap_value_of_int(-1), mishap_value_of_real(1.5),
                           mishap_value_of_uint(UINT64_MAX));
    m = mishap_output(mishap_type(m, "FOO ERROR"), T("printed\n"));
    m = mishap_frame_add(mishap_frame_add(m, T("(FRAME 1 2 3)")), T(" "));
    m = mishap_stack_add(mishap_stack_add(m, T("f_" MARKER), T("app.py"), 3), T("main"), T(""), 0);
    return mishap_retry_after(m, 1500);
}

/* -- what arrives ------------------------------------------------------------------------------ */

static void every_part_arrives_under_every_code(void **state)
{
    (void)state;
    const mishap_catalog *catalog = mishap_catalog_first();
    for (size_t i = 0; i < catalog->count; i++) {
        mishap *m = full(catalog->codes[i]), *arrived = carried(m);
        assert_ptr_equal(mishap_told(arrived)->code, catalog->codes[i]);
        assert_same(m, arrived);
        mishap_free(arrived);
        mishap_free(m);
    }
}

static void a_mishap_with_nothing_but_a_code_arrives(void **state)
{
    (void)state;
    assert_arrives(mishap_raise(NOT_FOUND, NULL));
    assert_arrives(mishap_raise_at(MISHAP_CODE_NOT_FOUND, (mishap_place){ 0 }, " "));
    assert_arrives(mishap_raise_at(MISHAP_CODE_NOT_FOUND, (mishap_place){ .file = "a.c" }, NULL));
}

static void what_is_said_of_retrying_and_the_category_arrives(void **state)
{
    (void)state;
    assert_arrives(mishap_retryable(mishap_raise(NOT_FOUND, NULL), true));
    assert_arrives(mishap_retryable(mishap_raise(TIMEOUT, NULL), false));
    assert_arrives(mishap_retry_after(mishap_raise(TIMEOUT, NULL), 0));
    assert_arrives(mishap_retry_after(mishap_raise(TIMEOUT, NULL), INT64_MAX));
    assert_arrives(mishap_permission_as(TIMEOUT, "Not now."));
    assert_arrives(mishap_retry_after(mishap_system_as(NOT_FOUND, "Gone."), 5));
}

static void every_kind_of_value_arrives(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "[]",
        "{}",
        "[1,{\"a\":\"b\\u0000\"}]",
        "123456789012345678901234567890",
        "-0.0",
        "1e400",
        "[1.10,2e3]",
        "not JSON",
        "[\"x://u:p@h\"]",
        "{\"token\":\"t\",\"x://u:p@h\":1}",
    };
    static const double reals[] = { 0, -0.0, 0.1, 1e300, 5e-324, INFINITY, -INFINITY, NAN };
    mishap *m = mishap_raise(NOT_FOUND, "Values.");
    char key[32];
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        snprintf(key, sizeof key, "json_%zu", i);
        m = mishap_tell(m, key, mishap_value_of_json(pieces[i]));
        m = mishap_note(m, key, mishap_value_of_json(pieces[i]));
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        snprintf(key, sizeof key, "real_%zu", i);
        m = mishap_note(mishap_tell(m, key, reals[i]), key, reals[i]);
    }
    m = mishap_tell(mishap_tell(m, "least", INT64_MIN), "most", UINT64_MAX);
    m = mishap_tell(mishap_tell(m, "yes", (bool)true), "no", (bool)false);
    m = mishap_tell(mishap_tell(m, "empty", ""), "null", (const char *)NULL);
    m = mishap_tell(mishap_tell(m, "", "no key"), "\xFF\xFEtext", T("a\0b\xFF"));
    assert_arrives(m);
}

static void many_and_long_parts_arrive(void **state)
{
    (void)state;
    mishap *m = mishap_raise(VALIDATION_ERROR, "Much.");
    char name[130], *longest = malloc(300001);
    memset(longest, 'x', 300000);
    longest[300000] = '\0';
    m = mishap_note(mishap_tell(m, "long", longest), "long", longest);
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "name_%d", i);
        m = mishap_field_required(mishap_note(mishap_tell(m, name, i), name, i), name);
        m = mishap_frame_add(m, mishap_text_of(name));
    }
    /* A name that becomes longer as it is made lower_snake. */
    for (size_t i = 0; i < 80; i += 2)
        memcpy(name + i, "aB", 3);
    m = mishap_field_add(m, &(mishap_field){ .field = T("f"), .error = mishap_text_of(name) });
    assert_arrives(m);
    free(longest);
}

/* Read from every document there is: codes that no table has, messages under masked codes. */
static void what_was_read_from_a_document_arrives(void **state)
{
    (void)state;
    size_t read = 0;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        char folder[300], path[800];
        size_t count, length;
        snprintf(folder, sizeof folder, "%s/broken/%s", tests_folder(),
                 mishap_dialect_name(*dialect));
        char **names = list_folder(folder, &count);
        for (size_t i = 0; i < count; i++) {
            mishap *m = NULL;
            snprintf(path, sizeof path, "%s/%s", folder, names[i]);
            char *text = read_file(path, &length);
            mishap *failure = mishap_parse(*dialect, (mishap_text){ text, length }, &m);
            read += m != NULL;
            assert_arrives(m ? m : failure);
            free(text);
            free(names[i]);
        }
        free(names);
    }
    assert_true(read > 50);
}

static void a_code_that_no_table_has_arrives(void **state)
{
    (void)state;
    static const char document[] = "{\"type\":\"about:blank\",\"title\":\"I'm a teapot\","
                                   "\"status\":418,\"detail\":\"Short and stout.\","
                                   "\"code\":\"TEAPOT_ONLY\"}";
    const mishap_dialect *problem = mishap_dialect_find("problem");
    mishap *m = parsed(problem, document, strlen(document)), *arrived = carried(m);
    assert_true(mishap_text_equal(mishap_told(arrived)->code->name, T("TEAPOT_ONLY")));
    assert_int_equal(mishap_told(arrived)->code->http_status, 418);
    assert_same(m, arrived);
    mishap_free(m); /* the row is the arrived one's own */
    char *text = rendered(problem, arrived);
    assert_non_null(strstr(text, "TEAPOT_ONLY"));
    free(text);
    mishap_free(arrived);
}

/* This test must come before the one that adds the table. */
static void a_code_of_no_table_is_carried_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < own_code_table.count; i++) {
        mishap *m = full(own_code_table.codes[i]), *copied = carried(m);
        assert_ptr_not_equal(mishap_told(copied)->code, own_code_table.codes[i]);
        assert_true(
            mishap_text_equal(mishap_told(copied)->code->name, own_code_table.codes[i]->name));
        assert_same(m, copied);
        mishap_free(copied);
        mishap_free(m);
    }
}

static void a_code_of_a_table_that_was_added_is_found(void **state)
{
    (void)state;
    mishap_catalog_add(&own_code_table);
    for (size_t i = 0; i < own_code_table.count; i++) {
        mishap *m = full(own_code_table.codes[i]), *arrived = carried(m);
        assert_ptr_equal(mishap_told(arrived)->code, own_code_table.codes[i]);
        assert_same(m, arrived);
        mishap_free(arrived);
        mishap_free(m);
    }
}

static void a_row_with_the_name_of_another_is_not_taken_for_it(void **state)
{
    (void)state;
    mishap_code teapot = *MISHAP_CODE_NOT_FOUND;
    teapot.http_status = 418;
    mishap *m = mishap_raise_at(&teapot, MISHAP_HERE, "Teapot."), *arrived = carried(m);
    assert_ptr_not_equal(mishap_told(arrived)->code, MISHAP_CODE_NOT_FOUND);
    assert_int_equal(mishap_told(arrived)->code->http_status, 418);
    assert_same(m, arrived);
    mishap_free(arrived);
    mishap_free(m);
}

static mishap *chain_of(size_t count)
{
    mishap *m = NULL;
    for (size_t i = count; i > 0; i--)
        m = mishap_because(mishap_raise(TIMEOUT, "Number %zu.", i), m);
    return m;
}

static size_t chain_length(const mishap *m)
{
    size_t count = 0;
    for (; m; m = mishap_cause(m))
        count++;
    return count;
}

static void a_chain_of_causes_is_carried_up_to_its_limit(void **state)
{
    (void)state;
    assert_arrives(chain_of(MISHAP_CARRY_CHAIN));
    mishap *m = chain_of(MISHAP_CARRY_CHAIN + 1), *arrived = carried(m);
    assert_int_equal(chain_length(arrived), MISHAP_CARRY_CHAIN);
    char *account = account_of(arrived);
    assert_non_null(strstr(account, "Number 32."));
    assert_null(strstr(account, "Number 33."));
    assert_non_null(strstr(account, "some parts were left out")); /* and only the last lacks any */
    assert_true(strstr(account, "some parts were left out") > strstr(account, "Number 32."));
    free(account);
    mishap_free(arrived);
    mishap_free(m);
}

static void nothing_and_the_last_resort_arrive_as_themselves(void **state)
{
    (void)state;
    assert_null(carried(NULL));
    assert_ptr_equal(carried(mishap_out_of_memory()), mishap_out_of_memory());
    mishap *m = mishap_because(mishap_raise(UNAVAILABLE, NULL), mishap_out_of_memory());
    mishap *arrived = carried(m);
    assert_ptr_equal(mishap_cause(arrived), mishap_out_of_memory());
    assert_same(m, arrived);
    mishap_free(arrived);
    mishap_free(m);
}

static void an_incomplete_mishap_arrives_as_such(void **state)
{
    (void)state;
    char many[5000];
    memset(many, 'x', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    calls = 0;
    fail_at = 1;
    fail_once = false;
    mishap *m = mishap_raise(NOT_FOUND, "From the reserve.");
    m = mishap_tell(mishap_tell(m, "left", "over"), "many", many);
    m = mishap_tell(m, "json", mishap_value_of_json("[1]"));
    fail_at = 0;
    assert_arrives(m);
}

/* -- two processes ----------------------------------------------------------------------------- */

static void send_all(int to, const char *data, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t wrote = write(to, data + done, length - done);
        if (wrote <= 0)
            _exit(1);
        done += (size_t)wrote;
    }
}

static char *receive_all(int from, size_t *length)
{
    char *data = malloc(1 << 20);
    ssize_t got;
    *length = 0;
    while ((got = read(from, data + *length, (1 << 20) - 1 - *length)) > 0)
        *length += (size_t)got;
    data[*length] = '\0';
    return data;
}

static void a_failure_of_a_forked_process_arrives_with_its_stack(void **state)
{
    (void)state;
    int failure[2], account[2], status;
    assert_int_equal(pipe(failure) + pipe(account), 0);
    pid_t child = fork();
    if (child == 0) {
        mishap *m = full(MISHAP_CODE_INTERNAL_ERROR);
        mishap_buffer bytes = packed(m);
        send_all(failure[1], bytes.data, bytes.length);
        char *text = account_of(m);
        send_all(account[1], text, strlen(text));
        _exit(0);
    }
    close(failure[1]);
    close(account[1]);
    size_t length, unused;
    char *bytes = receive_all(failure[0], &length), *expected = receive_all(account[0], &unused);
    mishap *arrived;
    assert_true(taken(bytes, length, &arrived));
    char *text = account_of(arrived);
    assert_string_equal(text, expected);
    assert_non_null(strstr(text, "native stack:"));
    free(text);
    free(bytes);
    free(expected);
    mishap_free(arrived);
    close(failure[0]);
    close(account[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* -- public and private ------------------------------------------------------------------------ */

static void no_rendering_of_what_arrived_has_a_private_part(void **state)
{
    (void)state;
    const mishap_catalog *catalog = mishap_catalog_first();
    for (size_t i = 0; i < catalog->count; i++) {
        mishap *m = full(catalog->codes[i]), *arrived = carried(m);
        mishap_free(m);
        for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
            char *text = rendered(*dialect, arrived);
            assert_true(strlen(text) > 20);
            assert_null(strstr(text, MARKER));
            free(text);
        }
        mishap_free(arrived);
    }
}

static void the_account_of_what_arrived_has_every_private_part(void **state)
{
    (void)state;
    mishap *m = full(MISHAP_CODE_INTERNAL_ERROR), *arrived = carried(m);
    mishap_free(m);
    char *account = account_of(arrived);
    static const char *const pieces[] = {
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
        "told password = \"[redacted]\"",
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (!strstr(account, pieces[i]))
            fail_msg("the account lacks: %s\n%s", pieces[i], account);
    assert_null(strstr(account, "user:" MARKER)); /* secrets are redacted even here */
    free(account);
    mishap_free(arrived);
}

/* -- bytes that are not ours ------------------------------------------------------------------- */

/* The bytes of a mishap with one piece replaced by another of the same length. */
static mishap_buffer forged(mishap *m, const char *piece, const char *other, size_t length)
{
    mishap_buffer bytes = packed(m);
    char *at = memmem(bytes.data, bytes.length, piece, length);
    assert_non_null(at);
    memcpy(at, other, length);
    mishap_free(m);
    return bytes;
}

static void assert_refused(mishap_buffer bytes)
{
    mishap *m;
    assert_false(taken(bytes.data, bytes.length, &m));
    mishap_buffer_release(&bytes);
}

static void text_that_breaks_utf8_is_mended(void **state)
{
    (void)state;
    mishap *m = mishap_tell(mishap_raise(NOT_FOUND, "AAAA."), "host", "BBBB");
    mishap_buffer bytes = forged(m, "AAAA",
                                 "a\0\xFF"
                                 "b",
                                 4);
    memcpy(memmem(bytes.data, bytes.length, "BBBB", 4), "\xC3\x28\xED\xA0", 4);
    memcpy(memmem(bytes.data, bytes.length, "carry_test.c", 12), "carry\0test.\xC0", 12);
    mishap *arrived;
    assert_true(taken(bytes.data, bytes.length, &arrived));
    const mishap_public *told = mishap_told(arrived);
    assert_string_equal(told->message.data, "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                            "b.");
    assert_string_equal(told->context->value.text.data, "\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD");
    char *account = account_of(arrived);
    assert_non_null(strstr(account, "carry\xEF\xBF\xBDtest.\xEF\xBF\xBD:"));
    free(account);
    mishap_free(arrived);
    mishap_buffer_release(&bytes);
}

static void secrets_in_forged_bytes_are_redacted(void **state)
{
    (void)state;
    mishap *m = mishap_tell(mishap_raise(NOT_FOUND, "x_//u_p@h"), "passwort", "hush");
    mishap_buffer bytes = forged(m, "x_//u_p@h", "x://u:p@h", 9);
    memcpy(memmem(bytes.data, bytes.length, "passwort", 8), "password", 8);
    mishap *arrived;
    assert_true(taken(bytes.data, bytes.length, &arrived));
    assert_string_equal(mishap_told(arrived)->message.data, "x://u:[redacted]@h");
    assert_string_equal(mishap_told(arrived)->context->value.text.data, "[redacted]");
    mishap_free(arrived);
    mishap_buffer_release(&bytes);
}

static void json_that_is_none_is_told_as_a_string(void **state)
{
    (void)state;
    mishap *m = mishap_tell(mishap_raise(NOT_FOUND, "No."), "list",
                            mishap_value_of_json("[1,2,3]"));
    mishap_buffer bytes = forged(m, "[1,2,3]", "],\"x\":[", 7);
    mishap *arrived;
    assert_true(taken(bytes.data, bytes.length, &arrived));
    const mishap_value *value = &mishap_told(arrived)->context->value;
    assert_int_equal(value->kind, MISHAP_KIND_TEXT);
    assert_string_equal(value->text.data, "],\"x\":[");
    mishap_free(arrived);
    mishap_buffer_release(&bytes);
}

static void a_key_that_stands_twice_is_refused(void **state)
{
    (void)state;
    mishap *m = mishap_tell(mishap_tell(mishap_raise(NOT_FOUND, "No."), "key_a", 1), "key_b", 2);
    assert_refused(forged(m, "key_b", "key_a", 5));
    m = mishap_raise(NOT_FOUND, "No.");
    char name[32];
    for (int i = 100; i < 200; i++) {
        snprintf(name, sizeof name, "key_%d", i);
        m = mishap_tell(m, name, i);
    }
    assert_refused(forged(m, "key_173", "key_100", 7));
}

/* One byte of the flags would make public what is private. */
static void a_public_message_under_a_masked_code_is_refused(void **state)
{
    (void)state;
    mishap_code own = *MISHAP_CODE_RUNTIME_ERROR;
    own.name = T("OWN_CODE");
    own.http_status = 555;
    mishap *m = mishap_raise_at(&own, MISHAP_HERE, "Public."), *arrived;
    mishap_buffer bytes = packed(m);
    mishap_free(m);
    char *masked = memmem(bytes.data, bytes.length, "\x2B\x02\0", 4); /* before the status */
    assert_non_null(masked);
    assert_true(taken(bytes.data, bytes.length, &arrived));
    mishap_free(arrived);
    masked[-1] = 1;
    assert_refused(bytes);
}

static void wrong_versions_counts_and_kinds_are_refused(void **state)
{
    (void)state;
    static const mishap_text bytes[] = {
        MISHAP_TEXT(""),
        MISHAP_TEXT("\1"),
        MISHAP_TEXT("\0\0"),
        MISHAP_TEXT("\2\0"),
        MISHAP_TEXT("\1\0\0"),
        MISHAP_TEXT("\1\1"),
        MISHAP_TEXT("\1\1\3"),   /* constant, and more */
        MISHAP_TEXT("\1\2\1\1"), /* a cause of the constant one */
        MISHAP_TEXT("\1\x21\1"),
        MISHAP_TEXT("\1\xFF"),
        MISHAP_TEXT("\1\1\0\x0B\0\0\0NO_SUCH_ROW"),
        MISHAP_TEXT("\1\1\0\xFF\xFF\xFF\xFFNOT_FOUND"),
    };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        mishap *m;
        assert_false(taken(bytes[i].data, bytes[i].length, &m));
    }
    mishap *m = NULL;
    assert_false(mishap_carry_take((mishap_text){ NULL, 0 }, &m));
}

static void no_memory_is_taken_for_a_count(void **state)
{
    (void)state;
    mishap *m = mishap_tell(mishap_raise(NOT_FOUND, "No."), "key", 1);
    mishap_buffer bytes = packed(m);
    mishap_free(m);
    char *count = (char *)memmem(bytes.data, bytes.length, "\3\0\0\0key", 7) - 4;
    assert_memory_equal(count, "\1\0\0\0", 4);
    memset(count, 0xFF, 4);
    calls = 0;
    assert_false(taken(bytes.data, bytes.length, &m));
    assert_true(calls <= 1); /* the mishap itself */
    mishap_buffer_release(&bytes);
}

static void truncated_bytes_are_refused_at_every_length(void **state)
{
    (void)state;
    mishap *m = full(MISHAP_CODE_INTERNAL_ERROR);
    mishap_buffer bytes = packed(m);
    long before = blocks;
    for (size_t length = 0; length < bytes.length; length++) {
        mishap *arrived;
        assert_false(taken(bytes.data, length, &arrived));
        assert_int_equal(blocks, before);
    }
    mishap_buffer_add(&bytes, "", 1);
    assert_refused(bytes);
    mishap_free(m);
}

/* Everything that arrives can be rendered in every dialect, and sent on. */
static void assert_usable(const mishap *m)
{
    free(account_of(m));
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++)
        free(rendered(*dialect, m));
    mishap *again = carried(m);
    assert_same(m, again);
    mishap_free(again);
}

static void a_flipped_byte_is_refused_or_does_no_harm(void **state)
{
    (void)state;
    mishap *derived = full(MISHAP_CODE_TIMEOUT);
    mishap_code own = *MISHAP_CODE_RUNTIME_ERROR;
    own.name = T("OWN_CODE");
    derived = mishap_because(mishap_raise_at(&own, MISHAP_HERE, "Outside."), derived);
    mishap_buffer bytes = packed(derived);
    mishap_free(derived);
    long before = blocks;
    size_t sound = 0, step = SANITIZED ? 16 : 1; /* names of a stack are looked up by a fork() */
    for (size_t i = 0; i < bytes.length; i++) {
        static const unsigned char flips[] = { 1, 2, 4, 8, 16, 32, 64, 128, 255 };
        for (size_t k = 0; k < sizeof flips; k++) {
            mishap *arrived;
            bytes.data[i] = (char)(bytes.data[i] ^ flips[k]);
            if (taken(bytes.data, bytes.length, &arrived)) {
                sound++;
                if (k == i % sizeof flips && i % step == 0) /* each of them would take minutes */
                    assert_usable(arrived);
                mishap_free(arrived);
            }
            assert_int_equal(blocks, before);
            bytes.data[i] = (char)(bytes.data[i] ^ flips[k]);
        }
    }
    assert_true(sound > 100);
    mishap_buffer_release(&bytes);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void put_and_take(const void *input)
{
    mishap_buffer bytes = packed(input);
    if (!bytes.failed) {
        mishap *arrived = NULL;
        assert_true(mishap_carry_take(mishap_buffer_text(&bytes), &arrived));
        assert_non_null(arrived);
        size_t saved = fail_at, made = calls;
        fail_at = 0; /* not while looking at it */
        char *account = account_of(arrived);
        if (made >= saved) {
            /* What is missing is said, if only by the mishap that stands for all. */
            assert_true(strstr(account, "left out") ||
                        strstr(account, "INTERNAL_ERROR: An internal error occurred.\n"));
        } else {
            assert_null(strstr(account, "left out"));
        }
        /* Private parts stay private, with any parts left out. */
        if (arrived != mishap_out_of_memory())
            assert_int_equal(mishap_told(arrived)->code->masked, mishap_told(input)->code->masked);
        for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
            char *text = rendered(*dialect, arrived);
            assert_null(strstr(text, MARKER));
            free(text);
        }
        free(account);
        fail_at = saved;
        calls = made;
        mishap_free(arrived);
    }
    mishap_buffer_release(&bytes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_code own = *MISHAP_CODE_INTERNAL_ERROR;
    char title[3000];
    memset(title, 'x', sizeof title);
    own.name = T("OWN_CODE");
    own.title = (mishap_text){ title, sizeof title }; /* no room for that in the first block */
    mishap *all[] = { full(MISHAP_CODE_TIMEOUT), full(&own), chain_of(12) };
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "name_%d", i);
        mishap_tell(all[0], name, i);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        torture(put_and_take, all[i]);
    mishap *held[8]; /* the whole reserve: the next one is the constant one */
    calls = 0;
    fail_at = 1;
    fail_once = false;
    for (size_t i = 0; i < 8; i++)
        held[i] = mishap_raise(NOT_FOUND, NULL);
    assert_ptr_equal(mishap_raise(NOT_FOUND, NULL), mishap_out_of_memory());
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        torture(put_and_take, all[i]);
    for (size_t i = 0; i < 8; i++)
        mishap_free(held[i]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mishap_free(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_part_arrives_under_every_code),
        TEST(a_mishap_with_nothing_but_a_code_arrives),
        TEST(what_is_said_of_retrying_and_the_category_arrives),
        TEST(every_kind_of_value_arrives),
        TEST(many_and_long_parts_arrive),
        TEST(what_was_read_from_a_document_arrives),
        TEST(a_code_that_no_table_has_arrives),
        TEST(a_code_of_no_table_is_carried_whole),
        TEST(a_code_of_a_table_that_was_added_is_found),
        TEST(a_row_with_the_name_of_another_is_not_taken_for_it),
        TEST(a_chain_of_causes_is_carried_up_to_its_limit),
        TEST(nothing_and_the_last_resort_arrive_as_themselves),
        TEST(an_incomplete_mishap_arrives_as_such),
        TEST(a_failure_of_a_forked_process_arrives_with_its_stack),
        TEST(no_rendering_of_what_arrived_has_a_private_part),
        TEST(the_account_of_what_arrived_has_every_private_part),
        TEST(text_that_breaks_utf8_is_mended),
        TEST(secrets_in_forged_bytes_are_redacted),
        TEST(json_that_is_none_is_told_as_a_string),
        TEST(a_key_that_stands_twice_is_refused),
        TEST(a_public_message_under_a_masked_code_is_refused),
        TEST(wrong_versions_counts_and_kinds_are_refused),
        TEST(no_memory_is_taken_for_a_count),
        TEST(truncated_bytes_are_refused_at_every_length),
        TEST(a_flipped_byte_is_refused_or_does_no_harm),
        TEST(every_allocation_may_fail),
    };
    mishap_use_allocator(&failing_allocator);
    return RUN(tests);
}
