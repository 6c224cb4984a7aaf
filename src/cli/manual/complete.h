/*
 * Completion in a shell. The shell asks the program itself: its script runs
 *
 *     PROGRAM __complete WORD…
 *
 * with the words behind the program's name up to the cursor. The last word is the one to complete.
 * The answer has a line each:
 *
 *     words, flags or files   which kind; `files`: names of files can stand here, too
 *     PREFIX                  what stands before the value in the last word: `--role=`, `@`, mostly
 *                             nothing
 *     WORD TAB MEANING        an offer, without the prefix. A word without a meaning has no tab.
 *
 * Offers are not compared with what is typed: each shell has its own way to do that. Control
 * characters in them are blanks, so a line is one offer. A script knows the program's name only: it
 * needs no update when commands or flags change.
 *
 *     complete.c          what can stand at the cursor        complete_scripts.c   bash, zsh and
 * fish
 */
#ifndef MISHAP_CLI_MANUAL_COMPLETE_H
#define MISHAP_CLI_MANUAL_COMPLETE_H

#include "cli/manual/describe.h"

/* The hidden command. No operation can have this name: theirs begin with a letter. */
#define MISHAP_CLI_COMPLETE "__complete"

/* The answer for these words. The program is described (mishap_cli_describe()). */
void mishap_cli_put_offers(mishap_buffer *buffer, const mishap_app *app, const char *const *words,
                           size_t count);

#endif
