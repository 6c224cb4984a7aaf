/* Lists in one text, such as the value of a header field. */
#ifndef MISHAP_BASE_LIST_H
#define MISHAP_BASE_LIST_H

#include "base/trim.h"

/* The part before the next separator, without blanks at its ends. `*rest` is what follows the
 * separator, and has no data after the last part. */
static inline mishap_text mishap_list_next(mishap_text *rest, char separator)
{
    const char *end = rest->length ? memchr(rest->data, separator, rest->length) : NULL;
    mishap_text part = *rest;
    if (end)
        part.length = (size_t)(end - rest->data);
    *rest = end ? (mishap_text){ end + 1, rest->length - part.length - 1 }
                : (mishap_text){ NULL, 0 };
    return mishap_trim(part, " \t");
}

#endif
