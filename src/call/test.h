/*
 * What the files of the test client share (mishap/test.h).
 *
 *     test.c      the beginning and the end of a test and of its cases; calls
 *     invoke.c    plain C calls, on the thread that calls
 *     stores.c    a store for each case
 *     faults.c    time, faults, and calls whose process is killed
 *     incident.c  records of failures
 *     expect.c    expectations
 *     getters.c   the check of all getters
 *
 * src/program/test_server.c and test_request.c have the server of a test and its requests.
 */
#ifndef MISHAP_CALL_TEST_H
#define MISHAP_CALL_TEST_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/rehearsal.h"
#include "mishap/test.h"

typedef struct mishap_test_server mishap_test_server;

struct mishap_test {
    const mishap_app *app;
    const char *settings;     /* that the test was given; NULL: none */
    char root[32];            /* the folder of the test */
    char folder[48], log[48]; /* the data folder of the case, and the log of the test */
    mishap_setup setup;
    mishap_buffer config; /* the settings with the address of the store, as JSON */
    char address[MISHAP_REHEARSAL_ADDRESS]; /* of the database; "": SQLite */
    char name[128];                         /* of the case; "": it has none */
    mishap_invocation how;
    const char *operation; /* that was called last, or the request; NULL: none was */
    mishap_answered *answered;
    mishap *failure;
    int status;  /* of the last response over HTTP; 0: the last call was a C call */
    char id[64]; /* of the record of the last call; "": it has none */
    mishap_answered *incident;
    bool fault_happened;
    mishap_buffer piece; /* that was read last of a stream */
    char request[128];   /* that was sent last */
    size_t read;         /* how much of the answer was */
    size_t cases, count, failed;
    mishap_arena arena; /* for what lives as long as the test */

    /* What src/program has of it; the functions are NULL as long as it has nothing. */
    mishap_test_server *server;
    void (*stop_server)(mishap_test *test);
    void (*forget_response)(mishap_test *test);
    const char *(*read_more)(mishap_test *test, size_t *length);
};

/* Print why the test cannot go on, and exit. */
_Noreturn void mishap_test_give_up(const char *why);

/* A copy that lives as long as the test. */
const char *mishap_test_keep(mishap_test *test, const char *text);

/* Forget what is left of the last call. */
void mishap_test_forget(mishap_test *test);

/* -- stores.c ---------------------------------------------------------------------------------- */

/* Choose the store of the next case. NULL: done; else why there is none, in a few words. */
const char *mishap_test_choose_store(mishap_test *test, mishap_test_store store);

/* Write the settings of the case, which name its store. */
void mishap_test_name_store(mishap_test *test);

/* -- faults.c ---------------------------------------------------------------------------------- */

/* If a call is to be killed, run it in a process of its own. False: it is not. */
bool mishap_test_call_killed(mishap_test *test, const char *operation, const char *arguments,
                             const mishap_invocation *how);

/* After a call: no fault is asked for any more. If one did not happen, the call has failed. */
void mishap_test_end_fault(mishap_test *test);

/* -- invoke.c ---------------------------------------------------------------------------------- */

/* An answer that came from elsewhere, for getters and expectations. */
__attribute__((warn_unused_result)) mishap *mishap_answered_make(const mishap_app *app,
                                                                 mishap_text text,
                                                                 const char *media_type, int status,
                                                                 mishap_answered **out);

/* Pairs as a JSON object, NUL-terminated. False: there is no memory. */
bool mishap_pairs_put(mishap_buffer *json, const mishap_pair *pairs);

/* -- expect.c ---------------------------------------------------------------------------------- */

/* Print a failure with its private side, as a remark; NULL: nothing. */
void mishap_test_remark(const mishap *failure);

/* Print an expectation that is skipped. */
void mishap_test_skip(mishap_test *test, const char *why);

/* Print an expectation of the test client itself that does not hold, and the name of the thing that
 * it is about. */
void mishap_test_fail(mishap_test *test, const char *why, const char *name);

#endif
