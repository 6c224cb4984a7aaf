/* Addresses: is it one? */
#ifndef MISHAP_BASE_URL_H
#define MISHAP_BASE_URL_H

#include "mishap/text.h"

/* An absolute URL: a scheme, a colon, something behind it, and no character that a URL cannot have.
 */
bool mishap_url_valid(mishap_text url);

#endif
