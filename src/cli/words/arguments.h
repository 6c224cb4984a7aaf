/*
 * From the words of a command line to the JSON object that an operation is called with.
 *
 *     words.c       flags and other words, and the values that they give
 *     arguments.c   all together: words, variables, settings, rules; and what is wrong with them
 *
 * Everything that is wrong is found before anything happens, and all of it is in one answer.
 */
#ifndef MISHAP_CLI_WORDS_ARGUMENTS_H
#define MISHAP_CLI_WORDS_ARGUMENTS_H

#include "cli/words/command_line.h"

enum { MISHAP_CLI_USUAL_FLAG = 64 }; /* bytes; a longer one is put elsewhere */

/* What has been read so far. */
typedef struct mishap_cli_reading {
    mishap_cli *cli;
    mishap_cli_flags_of flags;
    const mishap_param *params; /* with the flags for settings behind */
    size_t count;
    mishap_buffer *values; /* the JSON of each parameter; empty: not given */
    bool *refused;         /* something is wrong with it already */
    mishap *wrong;         /* NULL as long as nothing is */
    size_t settings_wrong; /* how many of its findings are about settings */
    const char *const *words;
    size_t word_count, next;
    bool no_memory;
} mishap_cli_reading;

/* -- words.c ----------------------------------------------------------------------------------- */

/* Read all words. */
void mishap_cli_take_words(mishap_cli_reading *r);

/* Text as the value of a parameter, by its number. */
void mishap_cli_put_value(mishap_cli_reading *r, size_t i, mishap_text text);

/* -- arguments.c ------------------------------------------------------------------------------- */

/* Something is wrong with what goes by this name; `expected` may be NULL. */
void mishap_cli_refuse(mishap_cli_reading *r, mishap_text name, const char *error,
                       const char *expected);

/* … with a parameter, by its number: of each only the first is told. */
void mishap_cli_refuse_param(mishap_cli_reading *r, size_t i, const char *error,
                             const char *expected);

/* … with a value that is none of the choices; one without data is not shown. */
void mishap_cli_refuse_choice(mishap_cli_reading *r, const char *name, const char *const *choices,
                              mishap_text given);

#endif
