/*
 * libcurl, loaded when it is first needed. These are the functions and numbers that we use, as
 * libcurl 4 has them since 7.80; its own header is not needed to build. tests/client/client_test.c
 * compares the two.
 */
#ifndef MISHAP_CLIENT_LIBCURL_H
#define MISHAP_CLIENT_LIBCURL_H

#include <time.h>

#include "mishap/mishap.h"

typedef struct curl_handle curl_handle;   /* libcurl's CURL */
typedef struct curl_address curl_address; /* libcurl's CURLU */
typedef struct curl_list curl_list;       /* libcurl's struct curl_slist */
typedef struct curl_many curl_many;       /* libcurl's CURLM */

/* libcurl's struct curl_waitfd */
typedef struct curl_waiting {
    int file;
    short events, revents;
} curl_waiting;

/* libcurl's CURLMsg: what has happened to one of many. */
typedef struct curl_message {
    int what;
    curl_handle *handle;
    union {
        void *unused;
        int result;
    } data;
} curl_message;

enum {
    CURL_INIT_ALL = 3,
    CURL_ERROR_TEXT = 256,
    CURL_PROTOCOL_HTTP_1_1 = 2,
    CURL_TLS_1_2 = 6,

    /* options: a long, unless another type is named */
    CURL_OPT_NO_PROGRESS = 43,
    CURL_OPT_NO_BODY = 44,
    CURL_OPT_POST = 47,
    CURL_OPT_FOLLOW = 52,
    CURL_OPT_VERIFY_PEER = 64,
    CURL_OPT_GET = 80,
    CURL_OPT_VERIFY_HOST = 81,
    CURL_OPT_HTTP_VERSION = 84,
    CURL_OPT_NO_SIGNAL = 99,
    CURL_OPT_TLS_VERSION = 32,
    CURL_OPT_TOTAL_MS = 155,
    CURL_OPT_CONNECT_MS = 156,
    CURL_OPT_WRITE_DATA = 10001, /* pointers */
    CURL_OPT_URL = 10002,
    CURL_OPT_PROXY = 10004,
    CURL_OPT_ERROR_TEXT = 10010,
    CURL_OPT_BODY = 10015,
    CURL_OPT_AGENT = 10018,
    CURL_OPT_HEADERS = 10023,
    CURL_OPT_CERTIFICATE = 10025,
    CURL_OPT_HEAD_DATA = 10029,
    CURL_OPT_METHOD = 10036,
    CURL_OPT_PROGRESS_DATA = 10057,
    CURL_OPT_AUTHORITIES = 10065,
    CURL_OPT_KEY = 10087,
    CURL_OPT_DECODE = 10102,
    CURL_OPT_NO_PROXY = 10177,
    CURL_OPT_TARGET = 10266,
    CURL_OPT_PROTOCOLS = 10318,
    CURL_OPT_WRITE = 20011, /* functions */
    CURL_OPT_HEAD = 20079,
    CURL_OPT_PROGRESS = 20219,
    CURL_OPT_BODY_SIZE = 30120, /* a 64-bit number */

    /* what can be asked after a request */
    CURL_GOT_REDIRECT = 0x10001f,
    CURL_GOT_STATUS = 0x200002,
    CURL_GOT_PRETRANSFER = 0x600035,

    /* parts of an address, and how it is read */
    CURL_PART_URL = 0,
    CURL_PART_SCHEME = 1,
    CURL_PART_USER = 2,
    CURL_PART_PASSWORD = 3,
    CURL_PART_HOST = 5,
    CURL_PART_PORT = 6,
    CURL_DEFAULT_PORT = 1,

    /* many requests */
    CURL_WAIT_IN = 1,
    CURL_WAIT_OUT = 4,
    CURL_HAS_ENDED = 1,

    /* results */
    CURL_FINE = 0,
    CURL_NO_PROXY_FOUND = 5,
    CURL_NO_HOST = 6,
    CURL_NO_CONNECTION = 7,
    CURL_TIME_IS_OVER = 28,
    CURL_TLS_FAILED = 35,
    CURL_STOPPED = 42,
    CURL_CERTIFICATE_PROBLEM = 58,
    CURL_NOT_TRUSTED = 60,
    CURL_AUTHORITIES_UNREADABLE = 77,
    CURL_ISSUER_PROBLEM = 83,
};

/* clang-format off */
#define LIBCURL(FUNCTION)                                                                          \
    FUNCTION(int, curl_global_init, (long flags))                                                  \
    FUNCTION(curl_handle *, curl_easy_init, (void))                                                \
    FUNCTION(void, curl_easy_cleanup, (curl_handle *handle))                                       \
    FUNCTION(void, curl_easy_reset, (curl_handle *handle))                                         \
    FUNCTION(int, curl_easy_setopt, (curl_handle *handle, int option, ...))                        \
    FUNCTION(int, curl_easy_getinfo, (curl_handle *handle, int what, ...))                         \
    FUNCTION(int, curl_easy_perform, (curl_handle *handle))                                        \
    FUNCTION(const char *, curl_easy_strerror, (int result))                                       \
    FUNCTION(curl_list *, curl_slist_append, (curl_list *list, const char *text))                  \
    FUNCTION(void, curl_slist_free_all, (curl_list *list))                                         \
    FUNCTION(curl_many *, curl_multi_init, (void))                                                 \
    FUNCTION(int, curl_multi_cleanup, (curl_many *many))                                           \
    FUNCTION(int, curl_multi_add_handle, (curl_many *many, curl_handle *handle))                   \
    FUNCTION(int, curl_multi_remove_handle, (curl_many *many, curl_handle *handle))                \
    FUNCTION(int, curl_multi_perform, (curl_many *many, int *running))                             \
    FUNCTION(int, curl_multi_poll,                                                                 \
             (curl_many *many, curl_waiting *files, unsigned count, int wait_ms, int *ready))      \
    FUNCTION(curl_message *, curl_multi_info_read, (curl_many *many, int *left))                   \
    FUNCTION(curl_address *, curl_url, (void))                                                     \
    FUNCTION(void, curl_url_cleanup, (curl_address *address))                                      \
    FUNCTION(int, curl_url_set, (curl_address *address, int part, const char *text, unsigned how)) \
    FUNCTION(int, curl_url_get,                                                                    \
             (const curl_address *address, int part, char **text, unsigned how))                   \
    FUNCTION(void, curl_free, (void *memory))                                                      \
    FUNCTION(time_t, curl_getdate, (const char *text, const time_t *unused))

#define LIBCURL_MEMBER(type, name, parameters) type(*name) parameters;
typedef struct libcurl {
    LIBCURL(LIBCURL_MEMBER)
} libcurl;
/* clang-format on */

/* Load it, unless it is there. PRECONDITION: it is not installed. */
mishap *mishap_libcurl_load(void);

/* Its functions, once it is loaded. */
extern libcurl mishap_libcurl;

#endif
