/*
 * Remove leaks and the secrets of a call from its failure: mishap/hide.h for what the caller of an
 * operation sent.
 */
#ifndef MISHAP_OPERATION_HIDE_H
#define MISHAP_OPERATION_HIDE_H

#include "mishap/hide.h"
#include "operation/operation.h"

/* What the caller of a failing call sent. Everything may be absent. */
typedef struct mishap_sent {
    const mishap_call *call;  /* its arguments and its body */
    const char *const *words; /* of a command line */
    size_t word_count;
    const struct yyjson_val *json; /* a message that was parsed */
    mishap_text text; /* anything else, such as an address; its strings too if it is JSON */
} mishap_sent;

/* How to judge an answer to this caller; `sent` may be NULL. */
mishap_leaks_known mishap_sent_known(const mishap_sent *sent);

/* mishap_hide_known_json() and mishap_hide_known_text() for one document or text. `secrets` and
 * `sent` may be NULL. */
mishap *mishap_hide_json(mishap_buffer *json, const mishap_secrets *secrets,
                         const mishap_sent *sent);
mishap_text mishap_hide_text(mishap_text text, const mishap_sent *sent);

#endif
