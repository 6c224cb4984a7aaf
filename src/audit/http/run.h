/* An audit of an HTTP server from inside: only for the files of this folder. */
#ifndef MISHAP_AUDIT_HTTP_RUN_H
#define MISHAP_AUDIT_HTTP_RUN_H

#include "audit/http/http.h"
#include "audit/http/openapi.h"
#include "client/client.h"

/* The rows of mishap_audit_http_checks. */
enum {
    HTTP_ANSWERED,
    HTTP_MALFORMED,
    HTTP_EMPTY,
    HTTP_PERCENT,
    HTTP_UNKNOWN,
    HTTP_BODY,
    HTTP_TYPE,
    HTTP_JSON,
    HTTP_SHAPE,
    HTTP_STATUS,
    HTTP_CODE,
    HTTP_SENTENCE,
    HTTP_HTML,
    HTTP_LEAK,
    HTTP_401,
    HTTP_405,
    HTTP_RETRY,
    HTTP_HEAD,
    HTTP_DIALECT,
    HTTP_REFUSED, /* from here: with a schema */
    HTTP_NAMED,
    HTTP_SERVER_ERROR,
    HTTP_METHOD,
    HTTP_DOCUMENTED,
    HTTP_400, /* from here: advice */
    HTTP_COERCED,
    HTTP_LIMITS,
    HTTP_ABSENT,
    HTTP_UTF8,
    HTTP_OVERSIZE,
    HTTP_REDIRECT,
};

/* One request. */
typedef struct http_probe {
    const char *name;       /* what is wrong with it, for findings: "malformed JSON" */
    const char *method;     /* "GET" */
    const char *target;     /* what is sent: "/users/1?a=b" */
    const char *path;       /* what is shown: "/users/{id}" */
    const char *media_type; /* of the body; NULL: none is sent */
    mishap_text body;       /* no data: none */
    const mishap_openapi_operation *operation; /* NULL: none */
    const mishap_openapi_operation *shaped;    /* whose errors it gets; NULL: the server's own */
    bool large;  /* the connection may be closed before all of it was sent */
    bool syntax; /* it is refused before an operation is called, which need not document it */
} http_probe;

/* Which kind of body an error has. Others (XML, CBOR) are not read: they may have a code. */
typedef enum http_form {
    HTTP_FORM_NONE,
    HTTP_FORM_JSON,
    HTTP_FORM_HTML,
    HTTP_FORM_TEXT,
    HTTP_FORM_OTHER,
} http_form;

/* What errors have in common. */
typedef struct http_shape {
    http_form form;
    char code[64]; /* where it stands: "error/code"; "" if it is missing */
    struct {
        char name[40];
        yyjson_type type;
    } members[24]; /* of the object, as far as they fit */
    size_t count;
    const void *group; /* the schema that is documented for all errors of an operation, or NULL */
    char place[300];   /* the first error of this shape */
} http_shape;

enum { HTTP_MOST_SHAPES = 16, HTTP_MOST_SILENT = 3 };

typedef struct http_run {
    mishap_audit *audit;
    const mishap_audit_http_target *target;
    mishap_client *client;
    mishap_client_response response; /* to the last request */
    mishap_json_reader reader;       /* its body, if it is JSON */
    mishap_openapi *schema;          /* NULL: there is none */
    char *base;                      /* the path of the URL, without a slash at its end */
    char *authority;                 /* its host and port */
    http_shape shapes[HTTP_MOST_SHAPES];
    size_t shape_count;
    const char *prefix; /* of the paths of the schema */
    bool oversize_sent;
    size_t silent;   /* requests in a row that got no response */
    bool reached;    /* a connection was made */
    bool ended;      /* no further request is sent */
    mishap *failure; /* why there is no audit */
    char place[300]; /* of the last request: "POST /users" */
} http_run;

/* Send a request, and judge everything that is true of any response to it. The status; 0: it was
 * not sent, or not answered. */
int mishap_audit_http_send(http_run *run, const http_probe *probe);

/* Report what a check saw in the response to a probe. `format` makes the sentence. */
__attribute__((format(printf, 5, 6))) void mishap_audit_http_report(http_run *run, int check,
                                                                    mishap_audit_outcome outcome,
                                                                    const http_probe *probe,
                                                                    const char *format, ...);

/* Judge an error response by itself: judge.c. */
void mishap_audit_http_judge_error(http_run *run, const http_probe *probe);

/* Judge its body: body.c. `json` is NULL if it is none. */
void mishap_audit_http_judge_body(http_run *run, const http_probe *probe, http_form form,
                                  yyjson_val *json);

/* After all requests: the errors of the server itself, against those of its operations. */
void mishap_audit_http_judge_groups(http_run *run);

/* Hold it against each published format that it claims to have: claims.c. */
void mishap_audit_http_judge_claims(http_run *run, const http_probe *probe, mishap_text media_type,
                                    yyjson_val *json);

/* Requests with a bad body: malformed, empty, badly encoded, too large. `valid` is a body that the
 * schema allows; no data: none is known. */
void mishap_audit_http_probe_body(http_run *run, http_probe probe, mishap_text valid);

/* A target whose percent-encoding is bad. */
void mishap_audit_http_probe_percent(http_run *run, const char *method, const char *target,
                                     const char *path);

/* All operations of the schema: operations.c. */
void mishap_audit_http_probe_operations(http_run *run);

/* Send HEAD after a GET with this status, and compare. */
void mishap_audit_http_probe_head(http_run *run, const http_probe *get, int status);

/* Is a 5xx status an error of the server's code? 501 and 503 say that it cannot serve the request
 * in any case. */
static inline bool http_is_fault(int status)
{
    return status >= 500 && status != 501 && status != 503;
}

#endif
