/*
 * Tests of a program's operations: call an operation and check its result.
 *
 *     int main(void)
 *     {
 *         mishap_test *t = mishap_test_begin(&app);
 *         mishap_test_call(t, "books.lend", "{\"title\":\"emma\"}");
 *         mishap_expect_value(t, "lent", "emma");
 *         mishap_test_call(t, "books.lend", "{\"title\":\"emma\"}");
 *         mishap_expect_code(t, BOOK_LENT);
 *         mishap_test_call(t, "books.lend", "{\"title\":7}");
 *         mishap_expect_field(t, "title", "invalid_type");
 *         return mishap_test_end(t);
 *     }
 *
 * Each expectation is a line of the Test Anything Protocol on standard output, which meson, prove
 * and others read; a failed expectation prints the actual result, including the private side of the
 * failure. Services store their data in a new folder, which is removed at the end of the test.
 *
 * Use these functions from one thread, with one test at a time. mishap_test_begin() never returns
 * NULL. A test must not be NULL; the arguments of a call and its caller may be NULL. The test owns
 * everything that is returned. The result of a call lives until the next call.
 */
#ifndef MISHAP_TEST_H
#define MISHAP_TEST_H

#include "mishap/invoke.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mishap_test mishap_test;

/* Begin a test. If a declaration is not valid, the function prints a sentence and exits. */
mishap_test *mishap_test_begin(const mishap_app *app);

/* Begin a test with settings of the services, as a JSON object: {"lisp":{"folder":"/srv/lisp"}}.
 * If a setting is not valid, the function prints a sentence and exits. */
mishap_test *mishap_test_begin_with(const mishap_app *app, const char *settings);

/* End and free the test. The result is the exit code: 0 if there was at least one expectation
 * and all of them held. */
int mishap_test_end(mishap_test *test);

/* The data folder of the test, which exists until the test ends. */
const char *mishap_test_folder(const mishap_test *test);

/* Set the caller of the following calls; NULL: no caller. The text must live as long as the
 * test. */
void mishap_test_as(mishap_test *test, const char *caller);

/* The headers of each call from now on, for handlers that ask mishap_header(): a name and its value
 * by turns, and NULL at the end. NULL: none. The list must live as long as the test. */
void mishap_test_headers(mishap_test *test, const char *const *headers);

/* Call an operation. Its result is kept until the next call. */
void mishap_test_call(mishap_test *test, const char *operation, const char *arguments);
void mishap_test_call_with(mishap_test *test, const char *operation, const mishap_pair *pairs);

/* The answer of the last call (NULL: it failed), and its failure (NULL: it succeeded). */
const mishap_answered *mishap_test_answered(const mishap_test *test);
const mishap *mishap_test_failure(const mishap_test *test);

/*
 * Expectations about the last call. The result is true if the expectation holds.
 *
 *     ok       it worked
 *     answer   it worked, and answered this JSON; the order of members does not matter
 *     value    it worked, and at this path of its answer stands this value
 *     nothing  it worked, and at this path stands nothing, or null
 *     code     it failed with this code
 *     field    it failed, and says this of this field: "email", "field_required"
 *     told     it failed, and tells this value under this key
 */
#define mishap_expect_ok(test)           mishap_expect_ok_at((test), MISHAP_HERE)
#define mishap_expect_answer(test, json) mishap_expect_answer_at((test), MISHAP_HERE, (json))
#define mishap_expect_value(test, path, value)                                                     \
    mishap_expect_value_at((test), MISHAP_HERE, (path),                                            \
                           mishap_value_as_spelled(MISHAP_VALUE(value), #value))
#define mishap_expect_nothing(test, path) mishap_expect_nothing_at((test), MISHAP_HERE, (path))
#define mishap_expect_code(test, code)                                                             \
    mishap_expect_code_at((test), MISHAP_HERE, MISHAP_CODE_##code)
#define mishap_expect_field(test, field, error)                                                    \
    mishap_expect_field_at((test), MISHAP_HERE, (field), (error))
#define mishap_expect_told(test, key, value)                                                       \
    mishap_expect_told_at((test), MISHAP_HERE, (key),                                              \
                          mishap_value_as_spelled(MISHAP_VALUE(value), #value))

/* Any other expectation: whether it holds, and its description. */
#define mishap_expect(test, holds, ...) mishap_expect_at((test), MISHAP_HERE, (holds), __VA_ARGS__)

bool mishap_expect_ok_at(mishap_test *test, mishap_place place);
bool mishap_expect_answer_at(mishap_test *test, mishap_place place, const char *json);
bool mishap_expect_value_at(mishap_test *test, mishap_place place, const char *path,
                            mishap_value value);
bool mishap_expect_nothing_at(mishap_test *test, mishap_place place, const char *path);
bool mishap_expect_code_at(mishap_test *test, mishap_place place, const mishap_code *code);
bool mishap_expect_field_at(mishap_test *test, mishap_place place, const char *field,
                            const char *error);
bool mishap_expect_told_at(mishap_test *test, mishap_place place, const char *key,
                           mishap_value value);
__attribute__((format(printf, 4, 5))) bool mishap_expect_at(mishap_test *test, mishap_place place,
                                                            bool holds, const char *words, ...);

#ifdef __cplusplus
}
#endif

#endif
