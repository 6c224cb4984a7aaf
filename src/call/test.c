/* Expectations about calls of operations, as lines of the Test Anything Protocol. */
#include "mishap/test.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "operation/call.h"

struct mishap_test {
    const mishap_app *app;
    mishap_setup setup;
    char folder[64];
    mishap_invocation how;
    const char *operation; /* that was called last; NULL: none was */
    mishap_answered *answered;
    mishap *failure;
    size_t count, failed;
};

/* -- beginning and end ------------------------------------------------------------------------- */

static _Noreturn void give_up(const char *why)
{
    printf("Bail out! %s\n", why);
    fflush(stdout);
    exit(EXIT_FAILURE);
}

mishap_test *mishap_test_begin(const mishap_app *app)
{
    return mishap_test_begin_with(app, NULL);
}

mishap_test *mishap_test_begin_with(const mishap_app *app, const char *settings)
{
    mishap_test *test = mishap_allocate(sizeof *test);
    if (!test)
        give_up("Not enough memory for a test.");
    *test = (mishap_test){ .app = app, .folder = "/tmp/mishap-test-XXXXXX" };
    if (!mkdtemp(test->folder))
        give_up("No folder can be created in /tmp.");
    test->setup = (mishap_setup){ .data = test->folder, .config = settings };
    mishap *failure = mishap_app_open(app, &test->setup);
    if (failure) {
        rmdir(test->folder);
        give_up(mishap_public_message(mishap_told(failure)).data);
    }
    return test;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

static void forget_call(mishap_test *test)
{
    mishap_answered_free(test->answered);
    mishap_free(test->failure);
    test->answered = NULL;
    test->failure = NULL;
}

int mishap_test_end(mishap_test *test)
{
    bool passed = test->count && !test->failed;
    forget_call(test);
    mishap_app_close();
    mishap_service_use(NULL);
    nftw(test->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    printf("1..%zu\n", test->count);
    fflush(stdout);
    mishap_release(test);
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

const char *mishap_test_folder(const mishap_test *test)
{
    return test->folder;
}

/* -- calling ----------------------------------------------------------------------------------- */

void mishap_test_as(mishap_test *test, const char *caller)
{
    test->how.caller = caller;
}

void mishap_test_headers(mishap_test *test, const char *const *headers)
{
    test->how.headers = headers;
}

void mishap_test_call(mishap_test *test, const char *operation, const char *arguments)
{
    forget_call(test);
    test->operation = operation;
    test->failure = mishap_invoke(test->app, operation, arguments, &test->how, &test->answered);
}

void mishap_test_call_with(mishap_test *test, const char *operation, const mishap_pair *pairs)
{
    forget_call(test);
    test->operation = operation;
    test->failure = mishap_invoke_with(test->app, operation, &test->how, &test->answered, pairs);
}

const mishap_answered *mishap_test_answered(const mishap_test *test)
{
    return test->answered;
}

const mishap *mishap_test_failure(const mishap_test *test)
{
    return test->failure;
}

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

static void print_what_came(const mishap_test *test)
{
    mishap_buffer account = { 0 };
    if (test->failure) {
        mishap_account(test->failure, &account);
        print_remark(mishap_buffer_text(&account));
        mishap_buffer_release(&account);
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
