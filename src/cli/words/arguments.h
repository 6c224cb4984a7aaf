/*
 * From the words of a command line to the JSON object that an operation is called with.
 *
 *     words.c       flags and other words, and the values that they give
 *     arguments.c   all together: words, variables, settings, rules; and what is wrong with them
 *
 * All mistakes are found before the handler runs, and one answer lists them.
 */
#ifndef MISHAP_CLI_WORDS_ARGUMENTS_H
#define MISHAP_CLI_WORDS_ARGUMENTS_H

#include "cli/words/command_line.h"

enum { MISHAP_CLI_USUAL_FLAG = 64 }; /* bytes; a longer flag is stored elsewhere */

/* What has been read so far. */
typedef struct mishap_cli_reading {
    mishap_cli *cli;
    mishap_cli_flags_of flags;
    const mishap_param *params; /* its parameters, and behind them the flags for settings */
    size_t count;
    mishap_buffer *values; /* the JSON of each parameter; empty: not given */
    bool *refused;         /* a finding about it exists already */
    mishap *wrong;         /* NULL as long as there is no finding */
    const char *stray;     /* the first word that no parameter takes; NULL: there is none */
    size_t settings_wrong; /* how many of its findings are about settings */
    const char *const *words;
    size_t word_count, next;
    bool no_memory;
} mishap_cli_reading;

/* -- words.c ----------------------------------------------------------------------------------- */

/* Read all words. */
void mishap_cli_take_words(mishap_cli_reading *r);

/* Set the value of a parameter, by its index, from text. */
void mishap_cli_put_value(mishap_cli_reading *r, size_t i, mishap_text text);

/* -- arguments.c ------------------------------------------------------------------------------- */

/* Add a finding about this name; `expected` may be NULL. */
void mishap_cli_refuse(mishap_cli_reading *r, mishap_text name, const char *error,
                       const char *expected);

/* … about a parameter, by its index: only the first one is reported. */
void mishap_cli_refuse_param(mishap_cli_reading *r, size_t i, const char *error,
                             const char *expected);

/* … about a value that is not one of the choices; without data it is not shown. */
void mishap_cli_refuse_choice(mishap_cli_reading *r, const char *name, const char *const *choices,
                              mishap_text given);

#endif
