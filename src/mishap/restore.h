/*
 * A mishap that was told elsewhere and is read from a document: the way in for dialects.
 *
 * It has a public side only. Its code need not be in the catalog, its message is public already
 * even under a masked code, and a lack of memory sets a flag that mishap_restore_end() checks.
 */
#ifndef MISHAP_MISHAP_RESTORE_H
#define MISHAP_MISHAP_RESTORE_H

#include "mishap/mishap.h"

/* The texts of the public side. */
typedef enum mishap_part {
    MISHAP_PART_MESSAGE,
    MISHAP_PART_CAUSE,
    MISHAP_PART_SUGGESTION,
    MISHAP_PART_DOCS_URL,
    MISHAP_PART_INCIDENT,
    MISHAP_PART_TYPE,
    MISHAP_PART_OUTPUT,
} mishap_part;

/*
 * Begin with a code in some spelling. A code that no table has is derived from the spelling; the
 * category and the HTTP status (0 if unknown) say what is taken to hold for it. If the spelling
 * gives no name, `otherwise` is the code.
 */
mishap *mishap_restore(mishap_spelling spelling, mishap_text text, mishap_category category,
                       int http_status, const mishap_code *otherwise);

/* The same for a row that was found already. */
mishap *mishap_restore_code(const mishap_code *code);

/* Set a text; empty text is none. A suggestion or address that the catalog has anyway is not the
 * occurrence's own. */
mishap *mishap_restore_part(mishap *m, mishap_part part, mishap_text text);

/* The category of this occurrence; what is known about retrying stays. */
void mishap_restore_category(mishap *m, mishap_category category);

/* Mark that a part could not be read for lack of memory. */
void mishap_restore_failed(mishap *m);

/* Hand it over if it is whole; else free it and return false. */
bool mishap_restore_end(mishap *m, mishap **out);

#endif
