/*
 * What a program says about itself. All of it is made from the declarations.
 *
 *     help.c      usage, flags, examples           manifest.c   all commands as JSON
 *     page.c      lines and columns for it         manual.c     a page for man
 *     exits.c     what a command can end with      complete*.c  what a shell asks, and its scripts
 *     describe.c  what several of them say: describe.h
 */
#ifndef MISHAP_CLI_MANUAL_MANUAL_H
#define MISHAP_CLI_MANUAL_MANUAL_H

#include "base/base.h"
#include "operation/operation.h"

/* Help for the program (operation NULL) or for one operation, for people; with escape sequences if
 * `color`. */
void mishap_cli_put_help(mishap_buffer *buffer, const mishap_app *app,
                         const mishap_operation *operation, bool color);

/* … and for the commands of a group: `users` of `users create` and `users list`. */
void mishap_cli_put_help_of(mishap_buffer *buffer, const mishap_app *app, mishap_text group,
                            bool color);

/* {schema_version, framework_version, etag, commands{…}}: the same bytes for the same declarations.
 */
void mishap_cli_put_manifest(mishap_buffer *buffer, const mishap_app *app);

/* A completion script for `bash`, `zsh` or `fish`; false if there is none for that shell. */
bool mishap_cli_put_completion(mishap_buffer *buffer, const mishap_app *app, const char *shell);

/* A manual page (troff) for the whole program. */
void mishap_cli_put_manual(mishap_buffer *buffer, const mishap_app *app);

/* -- exit codes (exits.c) -----------------------------------------------------------------------
 */

/* No operation has more: 0 to 13, 64 to 127, 130 and 143. */
enum { MISHAP_CLI_MOST_EXITS = 14 + 62 + 4 };

/* One row of the exit codes of an operation. */
typedef struct mishap_exit {
    int code;
    char name[48];
    char description[121];
    bool retryable;
    const char *side_effects; /* none, partial, complete */
} mishap_exit;

/* All exit codes of an operation: success, those that it, its service and its program declare
 * (`app` may be NULL), and the framework's own (1, 2, 4, 10, 130, 143), in order, each once.
 * Returns how many; `exits` has room for `room`. */
size_t mishap_cli_exits(const mishap_app *app, const mishap_operation *operation,
                        mishap_exit *exits, size_t room);

#endif
