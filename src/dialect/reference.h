/* The catalog as text for readers, the same at every boundary. */
#ifndef MISHAP_DIALECT_REFERENCE_H
#define MISHAP_DIALECT_REFERENCE_H

#include "mishap/catalog.h"

/* What the catalog says of a code: the members of an object that is open. */
void mishap_code_put(mishap_buffer *json, const mishap_code *code);

/* The code that a word means: as any dialect spells it, with its words joined in any other way, or
 * the status that is named like it. NULL: none. */
const mishap_code *mishap_code_meant(mishap_text word);

#endif
