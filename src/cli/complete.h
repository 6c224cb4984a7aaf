/*
 * Completion scripts for bash, zsh and fish. Each is a short program that is the same for all, and
 * tables that are made from the declarations: which words can follow which, which flags a command
 * has, what stands behind a flag. The tables are data to the shell: every text is quoted, and none
 * is ever expanded.
 *
 *     complete.c          the words of commands, quoting         complete_fish.c   fish
 *     complete_tables.c   bash and zsh, which share the tables
 */
#ifndef MISHAP_CLI_COMPLETE_H
#define MISHAP_CLI_COMPLETE_H

#include "cli/describe.h"

typedef enum mishap_shell { MISHAP_BASH, MISHAP_ZSH, MISHAP_FISH } mishap_shell;

/* A text in single quotes, on one line. */
void mishap_shell_put_quoted(mishap_buffer *buffer, mishap_shell shell, mishap_text text);

/* A script in which %f stands for the program's name as a part of identifiers, and %n for the name
 * itself. */
void mishap_shell_put_script(mishap_buffer *buffer, const mishap_app *app, const char *script);

/* -- the words of commands --------------------------------------------------------------------- */

/* Some bytes of an operation's name as they are typed: `users.create` as `users create`. */
void mishap_shell_put_words(mishap_buffer *buffer, const char *name, size_t from, size_t to);

/* Called for each word that can follow the first words of a name: it is name[from…to). */
typedef void mishap_shell_on_word(void *state, const mishap_operation *operation, size_t from,
                                  size_t to);
void mishap_shell_each_word(const mishap_app *app, const char *name, size_t length,
                            mishap_shell_on_word *on_word, void *state);

/* Called for the first words of names that other words can follow; they are name[0…length). First
 * for none at all. */
typedef void mishap_shell_on_stem(void *state, const char *name, size_t length);
void mishap_shell_each_stem(const mishap_app *app, mishap_shell_on_stem *on_stem, void *state);

/* -- values ------------------------------------------------------------------------------------ */

/* What one value of a parameter is: of an array, its items. */
const mishap_param *mishap_shell_one_of(const mishap_param *param);

/* Can a value be the name of a file, or come from one? */
bool mishap_shell_may_be_file(const mishap_param *one);

/* -- scripts ----------------------------------------------------------------------------------- */

void mishap_shell_put_tables(mishap_buffer *buffer, const mishap_app *app, mishap_shell shell);
void mishap_shell_put_fish(mishap_buffer *buffer, const mishap_app *app);

#endif
