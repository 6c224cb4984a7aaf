/*
 * The most recent changes, in memory that all loops of a server share: every reader finds all
 * changes here, whichever loop received them. A change is stored as soon as a loop receives it, so
 * it is delivered even if that loop dies at once. Only a fixed number of changes is kept. A reader
 * that lags behind further receives one event that says: everything may have changed.
 */
#ifndef MISHAP_OPERATION_NEWS_H
#define MISHAP_OPERATION_NEWS_H

#include "operation/changes.h"

enum { MISHAP_NEWS_KEPT = 512 }; /* changes */

/* NULL counts as one without any changes. */
typedef struct mishap_news mishap_news;

/* Called before the loops are forked. */
mishap *mishap_news_make(mishap_news **out);
void mishap_news_free(mishap_news *news);

/* What is at this address has changed; text without data: anything may have changed. May be called
 * on any thread of any loop. An address that is too long is ignored. */
void mishap_news_add(mishap_news *news, mishap_text address);

/* The same, of a change at another server of a cluster; text without data: anything may have
 * changed there. mishap_news_next_own() leaves it out. */
void mishap_news_add_foreign(mishap_news *news, mishap_text address);

/* … that has changed `total` times by now. Of all loops that say so, one adds the change. */
void mishap_news_add_total(mishap_news *news, uint64_t total, mishap_text address);

/* The address that changes when incidents were written to the log: what live tails of incidents
 * wait for. It is no resource, so no client can subscribe to it. */
#define MISHAP_NEWS_INCIDENTS "incident://log"

/* The number of changes so far: where a new reader begins. */
uint64_t mishap_news_count(const mishap_news *news);

/* The address of the next change since `seen`, each address once; text without data: anything may
 * have changed. False: there is none; then `seen` is up to date. */
bool mishap_news_next(mishap_news *news, uint64_t *seen, char room[MISHAP_ADDRESS_LIMIT],
                      mishap_text *address);

/* The same, of changes at this server alone. */
bool mishap_news_next_own(mishap_news *news, uint64_t *seen, char room[MISHAP_ADDRESS_LIMIT],
                          mishap_text *address);

/* True if this address has changed since `seen`, or may have. */
bool mishap_news_has(mishap_news *news, uint64_t seen, mishap_text address);

#endif
