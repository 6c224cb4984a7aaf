/*
 * What a program needs to test its operations: call one, and say what is expected of it.
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
 * and others read; one that does not hold says what came instead, the private side of the failure
 * included. Services keep their data in a folder that is new for each test and removed at its end.
 *
 * One thread, one test at a time. mishap_test_begin() never returns NULL, and no test may be NULL;
 * the arguments of a call and its caller may be. What is returned stays the test's. What came of a
 * call lives until the next call.
 */
#ifndef MISHAP_TEST_H
#define MISHAP_TEST_H

#include "mishap/invoke.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mishap_test mishap_test;

/* Begin: a broken declaration ends the program here, with a sentence. */
mishap_test *mishap_test_begin(const mishap_app *app);

/* The same with settings of its services, as a JSON object: {"lisp":{"folder":"/srv/lisp"}}. Those
 * that are wrong end the program here, too. */
mishap_test *mishap_test_begin_with(const mishap_app *app, const char *settings);

/* End, and free it. The exit code: 0 if all expectations held and there was one. */
int mishap_test_end(mishap_test *test);

/* The folder of the test's data, until it ends. */
const char *mishap_test_folder(const mishap_test *test);

/* Who calls from now on; NULL: nobody in particular. The text must live as long as the test. */
void mishap_test_as(mishap_test *test, const char *caller);

/* Which header fields come with each call from now on, for handlers that ask mishap_header(): a
 * name and its value by turns, and NULL at the end. NULL: none. The list must live as long as the
 * test. */
void mishap_test_headers(mishap_test *test, const char *const *headers);

/* Call an operation. What came of it is kept until the next call. */
void mishap_test_call(mishap_test *test, const char *operation, const char *arguments);
void mishap_test_call_with(mishap_test *test, const char *operation, const mishap_pair *pairs);

/* What the last call answered; NULL: it failed. And its failure; NULL: it worked. */
const mishap_answered *mishap_test_answered(const mishap_test *test);
const mishap *mishap_test_failure(const mishap_test *test);

/*
 * Expectations about the last call; true if it holds.
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

/* Any other: `holds`, and what is expected, in a few words. */
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
