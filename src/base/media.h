/* Media types: Content-Type has one, Accept a list of ranges (RFC 9110, 8.3.1 and 12.5.1). */
#ifndef MISHAP_BASE_MEDIA_H
#define MISHAP_BASE_MEDIA_H

#include "base/base.h"

/* Of `application/json; q=0.5`: application, json, 500. In a range either may be a star. */
typedef struct mishap_http_media {
    mishap_text kind, name;
    int quality; /* in thousandths; 1000 if it is not given */
} mishap_http_media;

/* How closely a range matches a media type. */
typedef enum mishap_http_fit {
    MISHAP_HTTP_FITS_NOT,
    MISHAP_HTTP_FITS_ANYTHING, /* by a star for all of it … */
    MISHAP_HTTP_FITS_KIND,     /* … or for its name … */
    MISHAP_HTTP_FITS_NAME,     /* … or spelled out */
} mishap_http_fit;

/* The one media type of a field. Its parameters are ignored. False: it has none, or one that is too
 * long. */
bool mishap_http_media_read(mishap_text field, mishap_http_media *media);

/*
 * The next range of an Accept field: `*rest` is the field at first, and what follows the range
 * afterwards. An empty element has a kind without length. False at the end; then `*rest` has no
 * data if the field is not a valid Accept field.
 */
bool mishap_http_media_next(mishap_text *rest, mishap_http_media *range);

mishap_http_fit mishap_http_media_fit(const mishap_http_media *range, mishap_text type);

/* True if a media type is accepted. The range that matches most closely decides. Without a field
 * everything is accepted, with an invalid one nothing. */
bool mishap_http_accepts(mishap_text accept, mishap_text type);

/* True if a field names `type` and prefers it to `other`: a higher quality, or the same one where
 * `other` is only accepted by a star. */
bool mishap_http_prefers(mishap_text accept, mishap_text type, mishap_text other);

/* True if they differ only in the case of letters. */
bool mishap_http_same_letters(mishap_text a, mishap_text b);

#endif
