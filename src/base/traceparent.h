/* The header `traceparent` of W3C Trace Context: 00-TRACE-SPAN-FLAGS. */
#ifndef MISHAP_BASE_TRACEPARENT_H
#define MISHAP_BASE_TRACEPARENT_H

#include <stdbool.h>

#include "mishap/text.h"

/* Characters of version 00. */
enum { MISHAP_TRACEPARENT_LENGTH = 55 };

typedef struct mishap_traceparent {
    unsigned char trace[16], span[8]; /* neither is all zeros */
    unsigned char flags;
} mishap_traceparent;

/* Read one. False: there is none, or it is malformed and has to be ignored. Later versions may have
 * more behind a dash; version ff is none. */
bool mishap_traceparent_read(mishap_text text, mishap_traceparent *out);

#endif
