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
 * everything that is returned. The result of a call lives until the next call. If a test itself
 * cannot go on (there is no memory, no folder, no server), it prints a line `Bail out!` and exits.
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

/* The data folder of the test or of its case, which exists until the test ends. */
const char *mishap_test_folder(const mishap_test *test);

/* -- cases and stores -------------------------------------------------------------------------- */

/*
 * Begin a case of the test: everything is as if the program was started for the first time. It has
 * a new data folder, and a new store; the time is that of the machine; there is no caller, no
 * header and no fault.
 *
 *     if (mishap_test_case(t, "on SQLite", MISHAP_TEST_SQLITE))
 *         lend_books(t);
 *     if (mishap_test_case(t, "on PostgreSQL", MISHAP_TEST_POSTGRESQL))
 *         lend_books(t);
 *
 * The store is that of all services which declare MISHAP_STORE_SETTING, unless the settings of
 * mishap_test_begin_with() name one; variables such as BOOKS_STORE do not count. On SQLite it is a
 * file in the data folder. On PostgreSQL it is a schema in the database whose address is in the
 * variable MISHAP_TEST_POSTGRESQL: `books_test_` and twelve digits, so tests do not disturb each
 * other. It is dropped when the case or the test ends. If it cannot be dropped, the test has
 * failed. A test that is killed leaves it behind.
 *
 * The result is false if the variable is not set: then one expectation is printed as skipped. The
 * name is printed before the expectations of the case; NULL: none is.
 */
typedef enum mishap_test_store { MISHAP_TEST_SQLITE, MISHAP_TEST_POSTGRESQL } mishap_test_store;
bool mishap_test_case(mishap_test *test, const char *name, mishap_test_store store);

/* -- calls ------------------------------------------------------------------------------------- */

/* Set the caller of the following calls; NULL: no caller. The text must live as long as the
 * test. */
void mishap_test_as(mishap_test *test, const char *caller);

/* The headers of each call from now on, for handlers that ask mishap_header(): a name and its value
 * by turns, and NULL at the end. NULL: none. The list must live as long as the test. */
void mishap_test_headers(mishap_test *test, const char *const *headers);

/* Call an operation. Its result is kept until the next call. */
void mishap_test_call(mishap_test *test, const char *operation, const char *arguments);
void mishap_test_call_with(mishap_test *test, const char *operation, const mishap_pair *pairs);

/*
 * Call an operation with a body, or with other options for this call alone:
 *
 *     mishap_test_invoke(t, "pictures.add", "{\"title\":\"sea\"}",
 *                        &(mishap_invocation){ .body = bytes, .body_type = "image/png" });
 *
 * `how` may be NULL. A caller or headers that it does not have are those of the test.
 */
void mishap_test_invoke(mishap_test *test, const char *operation, const char *arguments,
                        const mishap_invocation *how);

/* The answer of the last call (NULL: it failed), and its failure (NULL: it succeeded). */
const mishap_answered *mishap_test_answered(const mishap_test *test);
const mishap *mishap_test_failure(const mishap_test *test);

/*
 * Read the stream that the last call has answered, piece by piece: of server-sent events one event,
 * without its empty line; of anything else what was sent at once. `*length` may be NULL. The
 * pieces of a C call are all there when the call returns; of a request with `.stream` they come
 * while the handler runs. NULL: the stream has ended. The text is NUL-terminated, and lives until
 * the next piece is read or the next call.
 */
const char *mishap_test_read(mishap_test *test, size_t *length);

/* -- requests over HTTP ------------------------------------------------------------------------ */

/*
 * Send a request to the program over HTTP. The first request of a case starts a server with the
 * same data folder, store and settings, on a free port of this machine; it ends with the case.
 *
 *     const char *key = mishap_test_key(t, "ada", NULL);
 *     mishap_test_send(t, &(mishap_test_request){ .method = "POST", .path = "/books", .key = key,
 *                                                 .body = mishap_text_of("{\"title\":\"Emma\"}")
 * }); mishap_expect_status(t, 201); mishap_expect_value(t, "id", 1);
 *
 * All expectations hold for a response as for a call: of one that is a failure the document is
 * read. What C calls have stored before is there, because both have the same store; what a service
 * keeps in memory is not, because handlers of a server run in other processes.
 *
 * A program that uses these functions is linked with all boundaries, like one that calls
 * mishap_main().
 */
typedef struct mishap_test_request {
    const char *method;         /* NULL: GET, or POST if there is a body */
    const char *path;           /* with its query: /books?limit=2; NULL: / */
    const char *const *headers; /* a name and its value by turns, and NULL at the end */
    mishap_text body;
    const char *body_type; /* NULL: application/json */
    const char *key;       /* an API key, which is sent as Authorization: Bearer */
    bool stream;           /* return after the head: mishap_test_read() reads the body */
} mishap_test_request;
void mishap_test_send(mishap_test *test, const mishap_test_request *request);

/* Make an API key for a caller of this name, with scopes as in `keys add --scope`: "call,operator"
 * (NULL: all but operator). From the first key on, the server of the case refuses requests without
 * one. */
const char *mishap_test_key(mishap_test *test, const char *caller, const char *scopes);

/* A header of the last response; NULL: it has none of this name, or there was no request. */
const char *mishap_test_header(const mishap_test *test, const char *name);

/* -- incidents --------------------------------------------------------------------------------- */

/*
 * The record of the last call if it has failed, with its private side: what operators see
 * (docs/incidents.md), as JSON for the getters of mishap/call.h. NULL: it has none.
 *
 *     mishap_string(mishap_test_incident(t), "code")
 */
const mishap_call *mishap_test_incident(mishap_test *test);

/* -- time -------------------------------------------------------------------------------------- */

/*
 * Set the time that the library tells handlers, mishap_now(), as in RFC 3339:
 * "2030-02-28T12:00:00Z". It stands still until it is set again; NULL: the time of the machine. It
 * is also the time in records of incidents, in ids that begin with a time and in the header Date.
 *
 * Time limits do not use it: a call that has a second has a real second, because handlers and
 * databases need real time. So do sessions, rates and retries. Functions of the C library such as
 * time(), and of SQL such as now(), know nothing of it: a handler that is to be tested with a time
 * takes it from mishap_now().
 */
void mishap_test_set_time(mishap_test *test, const char *time);

/* -- faults ------------------------------------------------------------------------------------ */

/*
 * Ask for a fault in the next call or request, and in that alone:
 *
 *     mishap_test_fault(t, MISHAP_FAULT_STORE_GONE, 2);
 *     mishap_test_call(t, "books.lend", arguments);
 *     mishap_expect_code(t, UNAVAILABLE);
 *
 * `at` says when. A fault that does not happen, such as at the ninth use of the store by a handler
 * that uses it three times, makes the call fail with INTERNAL_ERROR, which says so: a loop can try
 * 1, 2, 3 and so on until mishap_test_fault_happened() is false.
 *
 *     STORE_GONE      the store (mishap/store.h) is gone from its use number `at` on: the query, or
 *                     the begin or commit of a transaction, fails with UNAVAILABLE, and what was
 *                     not committed is undone
 *     WORKER_KILLED   the process of the handler is killed with SIGKILL at its use number `at` of
 *                     the store, before that has an effect; 0: after the handler has returned,
 *                     before its answer is sent. The call fails with INTERNAL_ERROR. Of a C call,
 *                     too, the handler runs in a process of its own then: the services are closed
 *                     before, and opened again in both processes
 *     NO_MEMORY_ONCE  the allocation number `at` of the handler fails
 *     NO_MEMORY       … and all further ones of this call. Allocations are those of the library,
 *                     which the handler makes by calling it, and mishap_allocate(); malloc() never
 *                     fails
 */
typedef enum mishap_fault {
    MISHAP_FAULT_STORE_GONE = 1,
    MISHAP_FAULT_WORKER_KILLED,
    MISHAP_FAULT_NO_MEMORY_ONCE,
    MISHAP_FAULT_NO_MEMORY,
} mishap_fault;
void mishap_test_fault(mishap_test *test, mishap_fault fault, size_t at);

/* The fault that was asked for did happen in the last call or request. */
bool mishap_test_fault_happened(const mishap_test *test);

/* -- expectations ------------------------------------------------------------------------------ */

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
 *     status   it was answered with this HTTP status
 *     incident it failed, and at this path of its record stands this value
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

#define mishap_expect_status(test, status) mishap_expect_status_at((test), MISHAP_HERE, (status))
#define mishap_expect_incident(test, path, value)                                                  \
    mishap_expect_incident_at((test), MISHAP_HERE, (path),                                         \
                              mishap_value_as_spelled(MISHAP_VALUE(value), #value))

/*
 * Expect that each handler asks only for parameters that are declared, with their types. Each
 * operation that is not `.local` is called with arguments that are made up from its declaration:
 * its `.tool_example`, all parameters, and the required ones alone. What the handlers answer does
 * not matter, but what they do is done: use a test of its own for this. A wrong getter is printed
 * with the stack of the handler. A handler that asks for a name only in some cases may need a test
 * of its own for them. One expectation for each operation.
 */
#define mishap_expect_getters(test) mishap_expect_getters_at((test), MISHAP_HERE)
bool mishap_expect_getters_at(mishap_test *test, mishap_place place);

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
bool mishap_expect_status_at(mishap_test *test, mishap_place place, int status);
bool mishap_expect_incident_at(mishap_test *test, mishap_place place, const char *path,
                               mishap_value value);
__attribute__((format(printf, 4, 5))) bool mishap_expect_at(mishap_test *test, mishap_place place,
                                                            bool holds, const char *words, ...);

#ifdef __cplusplus
}
#endif

#endif
