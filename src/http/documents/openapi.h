/*
 * The two halves of the OpenAPI document: operations and their parameters in openapi.c, failures
 * and the documentation of codes in reference.c.
 */
#ifndef MISHAP_HTTP_DOCUMENTS_OPENAPI_H
#define MISHAP_HTTP_DOCUMENTS_OPENAPI_H

#include "http/documents/documents.h"
#include "mishap/dialect.h"
#include "worker/serving/served.h"

/* An operation of the program, or an endpoint of the server that is described as one. */
typedef struct mishap_http_entry {
    const mishap_operation *operation;
    const mishap_http_endpoint *endpoint; /* NULL: it is an operation of the program */
} mishap_http_entry;

/* Failures of one status that occur together, in one dialect. The same group occurs in many places,
 * so each is written once, among the components. */
typedef struct mishap_http_group {
    struct mishap_http_group *next;
    const mishap_dialect *dialect;
    mishap_text path; /* of an operation that has them */
    size_t count;
    const mishap_code *codes[];
} mishap_http_group;

typedef struct mishap_http_document {
    mishap_buffer *b;
    const mishap_http_settings *settings;
    mishap_arena arena;
    mishap_http_entry *entries; /* all operations that have a route */
    size_t count;
    mishap_http_group *groups; /* all groups that were referred to */
} mishap_http_document;

/* PUT, POST and PATCH. */
static inline bool mishap_http_sends_body(const mishap_operation *operation)
{
    return operation->route[0] == 'P';
}

/* The failures of an operation, as members of an open object of responses: each status refers to a
 * component. */
void mishap_http_put_failures(mishap_http_document *d, const mishap_http_entry *entry);

/* Those components: responses, schemas, headers, each as a member of an open object. */
void mishap_http_put_failure_components(const mishap_http_document *d);

/* -- tasks.c ----------------------------------------------------------------------------------- */

/* The endpoints about tasks, as operations; NULL: no operation is `.task`. */
const mishap_operation *mishap_http_described_tasks(const mishap_operation *operations);

/* Add the header that asks for a task to the parameters of an operation, which are open if there
 * are `any`. False: it takes none. */
bool mishap_http_put_preference(mishap_buffer *b, const mishap_operation *operation, bool any);

/* Add the response of a call that has become a task, if it may. */
void mishap_http_put_accepted(mishap_buffer *b, const mishap_operation *operation);

/* {"$ref":"#/components/…"} */
void mishap_http_put_reference(mishap_buffer *b, const char *place);

/* An incomplete document is worse than none: make the buffer fail. */
static inline void mishap_http_document_fail(const mishap_http_document *d)
{
    mishap_buffer_reserve(d->b, SIZE_MAX);
}

#endif
