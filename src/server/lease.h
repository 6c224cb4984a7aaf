/*
 * The half of a rate that a server leases (rate.c): how many requests it has leased for each caller
 * and until when, and which callers need more. Loops take, and note what they need; one process
 * reads the needs and puts leases there. No process waits for another.
 */
#ifndef MISHAP_SERVER_LEASE_H
#define MISHAP_SERVER_LEASE_H

#include "server/limits.h"

enum { HTTP_RATE_PLACES = 1 << 16 };

typedef struct http_leases http_leases;

/* NULL: no memory. */
http_leases *mishap_http_leases_make(void);
void mishap_http_leases_free(http_leases *leases);

/* True: so many requests were leased for the caller, and are used up now. */
bool mishap_http_leases_take(http_leases *leases, size_t place, int64_t count, int64_t now_ns);

/* The caller at this place may soon need a lease for so many requests more. */
void mishap_http_leases_need(http_leases *leases, size_t place, int64_t count);

/* See limits.h. */
size_t mishap_http_leases_needs(http_leases *leases, mishap_http_need *needs, size_t most);
void mishap_http_leases_put(http_leases *leases, size_t place, int64_t count, int64_t until_ns);

#endif
