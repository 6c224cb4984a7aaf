/* The server of a test (mishap/test.h), and the response that was read last. */
#ifndef MISHAP_PROGRAM_TEST_SERVER_H
#define MISHAP_PROGRAM_TEST_SERVER_H

#include <sys/types.h>

#include "call/test.h"

/* What is read next of a body. */
typedef enum mishap_test_part {
    MISHAP_TEST_BYTES,     /* a known number of bytes */
    MISHAP_TEST_ALL,       /* all until the connection is closed */
    MISHAP_TEST_SIZE,      /* the line with the size of a chunk */
    MISHAP_TEST_CHUNK,     /* the bytes of a chunk */
    MISHAP_TEST_CHUNK_END, /* the end of its line */
    MISHAP_TEST_ENDED,     /* nothing */
} mishap_test_part;

struct mishap_test_server {
    pid_t process; /* 0: it does not run */
    int port;
    size_t keys; /* that the case has */

    int socket; /* -1: no response is read */
    mishap_buffer head, raw, body;
    mishap_test_part part;
    size_t left; /* of the bytes or of the chunk */
    bool events;
};

/* The server of the case, which is started if it does not run. */
mishap_test_server *mishap_test_serve(mishap_test *test);

/* The same before it is started. */
mishap_test_server *mishap_test_server_of(mishap_test *test);

#endif
