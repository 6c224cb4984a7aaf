/* Is a match what the caller sent? */
#ifndef MISHAP_GUARD_ECHO_H
#define MISHAP_GUARD_ECHO_H

#include "guard/rules.h"

typedef struct mishap_leak_echo {
    const mishap_leak_known *known;
    size_t left;      /* bytes of known values that may still be compared */
    size_t value, at; /* where the last match was found: an echo goes on there */
    const char *end;  /* of the text that the match stands in */
} mishap_leak_echo;

/* Does the match stand in a known value, as it is or with its escapes undone? */
bool mishap_leak_is_echo(mishap_leak_echo *echo, const mishap_leak_place *place);

#endif
