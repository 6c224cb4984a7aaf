/*
 * The describing half of the boundary: what help, manifest, completion and manual have in common.
 * All of them are made from the declarations and do no work; a line of text that one of them has is
 * made in one place for all.
 *
 *     command.c    which commands and flags there are, and how they are spelled
 *     describe.c   one parameter in words
 */
#ifndef MISHAP_CLI_DESCRIBE_H
#define MISHAP_CLI_DESCRIBE_H

#include "cli/cli.h"

/* -- command.c --------------------------------------------------------------------------------- */

/* The commands that every program has: help, manifest, completion, manual. They have no function to
 * run. */
extern const mishap_operation mishap_cli_builtins[];

/*
 * All commands one by one, starting with NULL: the operations of the program, then the built-in
 * ones that none of its own replaces. NULL after the last.
 */
const mishap_operation *mishap_cli_next_command(const mishap_app *app,
                                                const mishap_operation *before);

/* The flags of a command that not all have, one by one: its parameters, then those for bodies and
 * bytes, if it takes or answers any. */
const mishap_param *mishap_cli_next_own(const mishap_operation *operation,
                                        const mishap_param *before);

/* All flags of a command one by one: the same, then those that every command has and none of
 * its own replaces. The operation may be NULL: only the latter. */
const mishap_param *mishap_cli_next_flag(const mishap_operation *operation,
                                         const mishap_param *before);

/* Has the operation, which may be NULL, a parameter of this name? */
bool mishap_cli_has_param(const mishap_operation *operation, const char *name);

/* Is it one of mishap_cli_flags? */
bool mishap_cli_is_common(const mishap_param *flag);

/* The letter of a flag in this command, 0 if it has none or another parameter took it. */
char mishap_cli_letter(const mishap_operation *operation, const mishap_param *flag);

/* -- describe.c -------------------------------------------------------------------------------- */

/* What stands for the value: TEXT, INTEGER, text|json, @FILE. Nothing for a boolean. */
void mishap_cli_put_placeholder(mishap_buffer *buffer, const mishap_param *param);

/* A flag with what stands for its value: --timeout-ms INTEGER. */
void mishap_cli_put_flag_and_value(mishap_buffer *buffer, const mishap_param *param);

/*
 * What a parameter is and what holds for it: "Full name (required; 1 to 200 characters)". With
 * `rules_only` it leaves out what the manifest has members for: required, choices, default.
 * Without, it is for people: bounds that no usual value reaches, and patterns that a placeholder
 * explains, are left out.
 */
void mishap_cli_put_about(mishap_buffer *buffer, const mishap_param *param, bool rules_only);

/* A flag can be switched off with --no-FLAG: a boolean that is true by default. */
bool mishap_cli_can_be_off(const mishap_param *param);

/* JSON without the white space between its tokens. */
void mishap_cli_put_compact(mishap_buffer *buffer, const char *json);

/* Does the operation keep anything in the data folder? Those of a service that opens a state do,
 * a session at the terminal keeps its history, and servers keep keys. */
bool mishap_cli_keeps_data(const mishap_operation *operation);

/* A C string as it is; nothing for NULL. */
static inline void mishap_cli_put(mishap_buffer *buffer, const char *string)
{
    mishap_buffer_put_text(buffer, mishap_text_of(string));
}

/* -- exits.c ----------------------------------------------------------------------------------- */

/* No operation has more: 0 to 13, 64 to 125, 130 and 143. */
enum { MISHAP_CLI_MOST_EXITS = 14 + 62 + 2 };

#endif
