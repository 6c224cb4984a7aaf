/* What may have been meant by a word with a mistake in it. */
#ifndef MISHAP_BASE_NEAREST_H
#define MISHAP_BASE_NEAREST_H

#include "mishap/text.h"

enum { MISHAP_FAR = 100 };

/*
 * How far a name is from a word that is not quite that name: the less, the more likely it was
 * meant. MISHAP_FAR: it was not. Letters that were mistaken, swapped, added or left out count; case
 * does not, nor which sign joins words.
 */
size_t mishap_how_far(mishap_text word, mishap_text name);

#endif
