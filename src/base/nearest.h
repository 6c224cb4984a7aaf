/* Find the known name that is most similar to a misspelled word. */
#ifndef MISHAP_BASE_NEAREST_H
#define MISHAP_BASE_NEAREST_H

#include "mishap/text.h"

/* Starts as { .word = … }. */
typedef struct mishap_guess {
    mishap_text word;
    mishap_text name; /* the nearest so far, the first of several; no data: none is near */
    size_t far;       /* … how far it is */
} mishap_guess;

/*
 * Is this name more similar to the word? Letters that were mistaken, swapped, added or left out
 * count; case does not, nor the character that joins words.
 */
void mishap_guess_weigh(mishap_guess *guess, mishap_text name);

#endif
