/* Which commands and flags there are, how they are spelled, and which one is meant by some words.
 */
#ifndef MISHAP_CLI_WORDS_COMMAND_H
#define MISHAP_CLI_WORDS_COMMAND_H

#include "base/base.h"
#include "operation/operation.h"

/* The operation that the first words name (`users create`), and the number of these words. NULL:
 * none. */
const mishap_operation *mishap_cli_find(const mishap_app *app, const char *const *words,
                                        size_t count, size_t *used);

/* The group of commands that the words name: `network.hosts` for `network hosts`, which begins
 * `network hosts list`. No data: there is none. */
mishap_text mishap_cli_group(const mishap_app *app, const char *const *words, size_t count);

/* The words that were meant as a command, of at least one, with a NUL behind them: the first, and
 * one more behind each group. False: one has a character that no command has, or is too long. */
bool mishap_cli_put_asked(mishap_buffer *b, const mishap_app *app, const char *const *words,
                          size_t count);
bool mishap_cli_is_in_group(const mishap_operation *operation, mishap_text group);

/* The most similar of some names to a word that is none of them; NULL if none is similar. The list
 * ends with NULL. */
const char *mishap_cli_nearest(const char *word, const char *const *names);

/* How a name is written on a command line: `users.create` as `users create`, timeout_ms as
 * timeout-ms, dueDate as due-date. */
void mishap_cli_put_command(mishap_buffer *buffer, const char *operation_name);
void mishap_cli_put_flag(mishap_buffer *buffer, const char *param_name);

/* A C string as it is; nothing for NULL. */
static inline void mishap_cli_put(mishap_buffer *buffer, const char *string)
{
    mishap_buffer_put_text(buffer, mishap_text_of(string));
}

/* True if a flag, without its hyphens, is the name of this parameter. An underscore may be written
 * as a hyphen, and dueDate as due-date. */
bool mishap_cli_spells(const char *flag, size_t length, const char *param_name);

/* -- all of them --------------------------------------------------------------------------------
 */

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

/* True if the operation, which may be NULL, has a parameter of this name. */
bool mishap_cli_has_param(const mishap_operation *operation, const char *name);

/* True if it is one of mishap_cli_flags. */
bool mishap_cli_is_common(const mishap_param *flag);

/* The letter of a flag in this command, 0 if it has none or another parameter took it. */
char mishap_cli_letter(const mishap_operation *operation, const mishap_param *flag);

/* -- the flags that every command has -----------------------------------------------------------
 */

/* --output json|text, --dialect NAME, --timeout-ms N, --verbose, --help, --version: a parameter of
 * the same name takes precedence. */
enum { MISHAP_CLI_LONGEST_MS = 24 * 3600 * 1000 };
extern const mishap_param mishap_cli_flags[];

/* --caller NAME of operations whose callers name themselves, --answers JSON of those that ask,
 * --server URL of those that run in
 * sessions, --body FILE and --body-type TYPE of those that
 * take a body, --to FILE of those that answer bytes; --detach and --task-store URL of tasks. */
extern const mishap_param mishap_cli_bytes_flags[];

/* Have a call that was checked go on after this command; `store` is the value of --task-store, or
 * NULL. What becomes of it is written as JSON. The program sets it, if it has tasks: this boundary
 * does not depend on what runs them. */
typedef mishap *mishap_cli_detaches(mishap_call *call, const char *data, const char *store,
                                    mishap_buffer *answer);
extern mishap_cli_detaches *mishap_cli_detach;

#endif
