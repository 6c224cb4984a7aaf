/* Expectations about calls of operations, as lines of the Test Anything Protocol. */
#include <stdarg.h>
#include <stdio.h>

#include "call/test.h"
#include "operation/call.h"

/* -- telling ----------------------------------------------------------------------------------- */

/* As a remark: a hash before each line. */
static void print_remark(mishap_text text)
{
    while (text.length) {
        const char *end = memchr(text.data, '\n', text.length);
        size_t length = end ? (size_t)(end - text.data) : text.length;
        printf("# %.*s\n", (int)length, text.data);
        length += end != NULL;
        text.data += length;
        text.length -= length;
    }
}

void mishap_test_remark(const mishap *failure)
{
    mishap_buffer account = { 0 };
    if (!failure)
        return;
    mishap_account(failure, &account);
    print_remark(mishap_buffer_text(&account));
    mishap_buffer_release(&account);
}

static void print_what_came(mishap_test *test)
{
    if (test->failure) {
        mishap_test_remark(test->failure);
        /* Of a response only the public side is known. */
        if (test->status && mishap_test_incident(test))
            print_remark(test->incident->text);
    } else if (test->answered && test->answered->text.data) {
        print_remark(test->answered->text);
    } else {
        printf("# The answer is empty.\n");
    }
}

/* Within one line, and without a hash: behind one the words SKIP and TODO would excuse a failure.
 */
static void print_description(const char *words)
{
    for (; *words; words++) {
        if (*words == '#' || *words == '\\')
            putchar('\\');
        putchar(*words == '\n' || *words == '\r' ? ' ' : *words);
    }
}

static bool tell_result(mishap_test *test, mishap_place place, bool holds, const char *expected)
{
    test->count++;
    test->failed += !holds;
    printf("%sok %zu - ", holds ? "" : "not ", test->count);
    if (*test->name) {
        print_description(test->name);
        printf(": ");
    }
    print_description(test->operation ? test->operation : test->app->name);
    printf(": ");
    print_description(expected);
    printf("\n");
    if (!holds) {
        printf("# expected at %s:%d, but:\n", place.file, place.line);
        print_what_came(test);
    }
    fflush(stdout);
    return holds;
}

void mishap_test_skip(mishap_test *test, const char *why)
{
    printf("ok %zu - ", ++test->count);
    print_description(*test->name ? test->name : test->app->name);
    printf(" # SKIP ");
    print_description(why);
    printf("\n");
    fflush(stdout);
}

void mishap_test_fail(mishap_test *test, const char *why, const char *name)
{
    test->failed++;
    printf("not ok %zu - ", ++test->count);
    print_description(*test->name ? test->name : test->app->name);
    printf(": ");
    print_description(why);
    printf(": ");
    print_description(name);
    printf("\n");
    fflush(stdout);
}

/* Below an expectation that can never hold: why. */
static void add_remark(const char *sentence)
{
    printf("# %s\n", sentence);
    fflush(stdout);
}

/* What is expected: a few words, and a value that is written as JSON. */
static bool tell_value(mishap_test *test, mishap_place place, bool holds, const char *where,
                       const char *words, const mishap_value *value)
{
    mishap_buffer b = { 0 };
    mishap_buffer_put_text(&b, mishap_text_of(where));
    mishap_buffer_put_text(&b, mishap_text_of(words));
    mishap_json_bare(&b, value);
    mishap_buffer_put_char(&b, '\0');
    tell_result(test, place, holds, b.failed ? words : b.data);
    mishap_buffer_release(&b);
    return holds;
}

bool mishap_expect_at(mishap_test *test, mishap_place place, bool holds, const char *words, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, words);
    vsnprintf(text, sizeof text, words, arguments);
    va_end(arguments);
    return tell_result(test, place, holds, text);
}

/* -- expectations ------------------------------------------------------------------------------ */

bool mishap_expect_ok_at(mishap_test *test, mishap_place place)
{
    return tell_result(test, place, test->answered != NULL, "works");
}

bool mishap_expect_answer_at(mishap_test *test, mishap_place place, const char *json)
{
    mishap_json_reader expected = MISHAP_JSON_READER;
    mishap_value shown = mishap_value_of_json(json);
    bool is_json = mishap_json_read(&expected, mishap_text_of(json));
    bool holds = is_json && test->answered && test->answered->json &&
                 yyjson_equals(expected.root,
                               ((const mishap_call_part *)test->answered->json)->value);
    mishap_json_reader_release(&expected);
    tell_value(test, place, holds, "", "answers ", &shown);
    if (!is_json)
        add_remark("What is expected is not JSON.");
    return holds;
}

/* 3 and 3.0 are the same number. */
static bool is_number(const mishap_call *json, const char *path, double number)
{
    mishap_kind kind = mishap_kind_of(json, path);
    return (kind == MISHAP_KIND_INT || kind == MISHAP_KIND_UINT || kind == MISHAP_KIND_REAL) &&
           mishap_number(json, path) == number;
}

/* Is there such a value? Numbers are compared as numbers. */
static bool stands_at(const mishap_call *json, const char *path, const mishap_value *value)
{
    const char *text = mishap_string(json, path);
    switch (value->kind) {
    case MISHAP_KIND_NONE:
    case MISHAP_KIND_NULL:
        return !mishap_given(json, path);
    case MISHAP_KIND_BOOL:
        return mishap_kind_of(json, path) == MISHAP_KIND_BOOL &&
               mishap_boolean(json, path) == value->boolean;
    case MISHAP_KIND_INT:
        return mishap_kind_of(json, path) == MISHAP_KIND_INT
                   ? mishap_integer(json, path) == value->integer
                   : is_number(json, path, (double)value->integer);
    case MISHAP_KIND_UINT:
        return mishap_kind_of(json, path) == MISHAP_KIND_UINT &&
               mishap_number(json, path) == (double)value->natural;
    case MISHAP_KIND_REAL:
        return is_number(json, path, value->real);
    case MISHAP_KIND_TEXT:
        return text && mishap_text_equal((mishap_text){ text, mishap_string_length(json, path) },
                                         value->text);
    case MISHAP_KIND_JSON:
        return mishap_given(json, path) &&
               mishap_text_equal(mishap_text_of(mishap_json(json, path)), value->text);
    }
    return false;
}

/* The same for a path that may be none: that ends what asks for it, as it ends a handler. */
static bool stands_at_path(const mishap_call *json, const char *path, const mishap_value *value,
                           bool *is_path)
{
    mishap_call *call = mishap_call_whole(json);
    sigjmp_buf way_out;
    *is_path = false;
    if (sigsetjmp(way_out, 0)) {
        call->way_out = NULL;
        return false;
    }
    call->way_out = &way_out;
    bool stands = stands_at(json, path, value);
    call->way_out = NULL;
    *is_path = true;
    return stands;
}

bool mishap_expect_value_at(mishap_test *test, mishap_place place, const char *path,
                            mishap_value value)
{
    bool is_path = true;
    bool holds = test->answered && test->answered->json &&
                 stands_at_path(test->answered->json, path, &value, &is_path);
    tell_value(test, place, holds, path ? path : "NULL", " is ", &value);
    if (!is_path)
        add_remark("What is expected is not at a path, such as items[2].name.");
    return holds;
}

bool mishap_expect_incident_at(mishap_test *test, mishap_place place, const char *path,
                               mishap_value value)
{
    bool is_path = true;
    char where[256];
    const mishap_call *incident = mishap_test_incident(test);
    bool holds = incident && stands_at_path(incident, path, &value, &is_path);
    snprintf(where, sizeof where, "its incident has %s, which", path ? path : "NULL");
    tell_value(test, place, holds, where, " is ", &value);
    if (!incident)
        add_remark("It has no incident.");
    else if (!is_path)
        add_remark("What is expected is not at a path, such as arguments.name.");
    else if (!holds)
        print_remark(test->incident->text);
    return holds;
}

bool mishap_expect_nothing_at(mishap_test *test, mishap_place place, const char *path)
{
    mishap_value nothing = { .kind = MISHAP_KIND_NULL };
    return mishap_expect_value_at(test, place, path, nothing);
}

bool mishap_expect_code_at(mishap_test *test, mishap_place place, const mishap_code *code)
{
    char words[128];
    snprintf(words, sizeof words, "fails with %s", code->name.data);
    return tell_result(test, place, test->failure && mishap_told(test->failure)->code == code,
                       words);
}

bool mishap_expect_status_at(mishap_test *test, mishap_place place, int status)
{
    char words[64];
    int found = test->status;
    if (!found && test->failure)
        found = mishap_told(test->failure)->code->http_status;
    else if (!found && test->answered)
        found = test->answered->status;
    snprintf(words, sizeof words, "has the status %d", status);
    return tell_result(test, place, found == status, words);
}

bool mishap_expect_field_at(mishap_test *test, mishap_place place, const char *field,
                            const char *error)
{
    char words[256];
    const mishap_field *found = test->failure ? mishap_told(test->failure)->fields : NULL;
    while (found && !(mishap_text_equal(found->field, mishap_text_of(field)) &&
                      mishap_text_equal(found->error, mishap_text_of(error))))
        found = found->next;
    snprintf(words, sizeof words, "says %s of %s", error, field);
    return tell_result(test, place, found != NULL, words);
}

static bool same_value(const mishap_value *a, const mishap_value *b)
{
    mishap_buffer left = { 0 }, right = { 0 };
    mishap_json_bare(&left, a);
    mishap_json_bare(&right, b);
    bool same = !left.failed && !right.failed &&
                mishap_text_equal(mishap_buffer_text(&left), mishap_buffer_text(&right));
    mishap_buffer_release(&left);
    mishap_buffer_release(&right);
    return same;
}

bool mishap_expect_told_at(mishap_test *test, mishap_place place, const char *key,
                           mishap_value value)
{
    const mishap_member *found = test->failure ? mishap_told(test->failure)->context : NULL;
    while (found && !(mishap_text_equal(found->key, mishap_text_of(key)) &&
                      same_value(&found->value, &value)))
        found = found->next;
    return tell_value(test, place, found != NULL, key, " is told as ", &value);
}
