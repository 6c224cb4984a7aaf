/* The filter: where a literal of a rule stands. It reads four bytes at every second place and looks
 * them up in a table of bits, so most bytes of most texts cost less than a nanosecond. */
#ifndef MISHAP_GUARD_FILTER_H
#define MISHAP_GUARD_FILTER_H

#include "guard/rules.h"

/* Kinds of rules as bits. */
#define MISHAP_LEAK_ALL_KINDS ((1u << MISHAP_LEAK_KINDS) - 1)

/* A literal is found at one of its first bytes, this far from the first at most. */
enum { MISHAP_LEAK_OFFSET = 12 };

/* Called for each literal, with `at`, `behind` and `rule` set. False stops the filter. */
typedef bool mishap_leak_hit(void *state, mishap_leak_place *place);

/* Find the literals of all rules of these kinds from `from` to `to`, inside of the text that the
 * place may read. */
void mishap_leak_filter(mishap_leak_place *place, const char *from, const char *to, unsigned kinds,
                        mishap_leak_hit *hit, void *state);

/* Run the check of the place's rule: true if it found something or reached its limit. */
bool mishap_leak_judge(mishap_leak_place *place);

#endif
