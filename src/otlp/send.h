/* One signal (logs, metrics or spans): its requests, and when the next one may be sent. */
#ifndef MISHAP_OTLP_SEND_H
#define MISHAP_OTLP_SEND_H

#include "otlp/settings.h"

typedef struct mishap_otlp_signal {
    const mishap_otlp_target *target;
    mishap_otlp_kind kind;
    mishap_client *client;
    mishap_client_response response;
    int64_t not_before_ns; /* monotonic; 0: at once */
    int delay_ms;          /* of the next pause, without Retry-After */
    int error;             /* the status of the last response, or 1 without one; 0: it was taken */
    char words[200];       /* … in words, without anything secret; empty: none */
} mishap_otlp_signal;

typedef enum mishap_otlp_result {
    MISHAP_OTLP_SENT,
    MISHAP_OTLP_LATER,     /* the collector cannot take it now: not_before_ns says when to retry */
    MISHAP_OTLP_REFUSED,   /* it will never take it */
    MISHAP_OTLP_TOO_LARGE, /* it may take a smaller one: 413 */
} mishap_otlp_result;

/* Open the client. `stop` is as in client.h. */
mishap *mishap_otlp_signal_open(mishap_otlp_signal *signal, mishap_otlp_kind kind,
                                const mishap_otlp_target *target,
                                const volatile sig_atomic_t *stop);
void mishap_otlp_signal_close(mishap_otlp_signal *signal);

/* True if the pause after the last failure is over. */
bool mishap_otlp_signal_may_send(const mishap_otlp_signal *signal);

/*
 * Send a body once; `timeout_ms` 0: as the target has it. 429, 502, 503, 504 and responses that
 * never came are retried after a pause: one second, then twice as long each time up to a minute, or
 * as long as Retry-After says. `rejected` is how many items the collector has refused of a request
 * that it took otherwise.
 */
mishap_otlp_result mishap_otlp_signal_send(mishap_otlp_signal *signal, mishap_text body,
                                           int timeout_ms, uint64_t *rejected);

#endif
