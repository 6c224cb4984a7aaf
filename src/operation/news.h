/*
 * What has changed lately, in memory that all loops of a server share: whoever waits for a change
 * finds it here, whichever loop it came through.
 *
 * A change is written down where it is heard of, so it is told even if its loop dies at once. The
 * last so many are kept; a reader that lags behind by more is told that anything may have changed.
 */
#ifndef MISHAP_OPERATION_NEWS_H
#define MISHAP_OPERATION_NEWS_H

#include "operation/changes.h"

enum { MISHAP_NEWS_KEPT = 512 }; /* changes */

/* NULL is one in which nothing ever happens. */
typedef struct mishap_news mishap_news;

/* Before the loops are made. */
mishap *mishap_news_make(mishap_news **out);
void mishap_news_free(mishap_news *news);

/* What is at this address is not what it was. Any thread of any loop. An address that is too long
 * is no news. */
void mishap_news_add(mishap_news *news, mishap_text address);

/* How many changes there were so far: where a new reader begins. */
uint64_t mishap_news_count(const mishap_news *news);

/* The address of the next change since `seen`, each address once; text without data: any may have
 * changed. False: there is none; then `seen` is up to date. */
bool mishap_news_next(mishap_news *news, uint64_t *seen, char room[MISHAP_ADDRESS_LIMIT],
                      mishap_text *address);

/* Has this address changed since `seen`, or may it have? */
bool mishap_news_has(mishap_news *news, uint64_t seen, mishap_text address);

#endif
