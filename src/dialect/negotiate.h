/* Which dialect a client asks for, for servers that tell failures over HTTP. */
#ifndef MISHAP_DIALECT_NEGOTIATE_H
#define MISHAP_DIALECT_NEGOTIATE_H

#include "mishap/dialect.h"

/* The JSON dialect for failures that an Accept field asks for. Without one, or if it names no known
 * dialect: `usual`, which is also chosen by its own media type. */
const mishap_dialect *mishap_dialect_negotiate(mishap_text accept, const mishap_dialect *usual);

#endif
