/*
 * Two programs whose descriptions are tested: a small one, whose bytes are known, and a large one
 * with one of everything that can be declared. Both are variables, so that a test can change a
 * copy.
 */
#ifndef MISHAP_SAMPLE_APP_H
#define MISHAP_SAMPLE_APP_H

#include "base/base.h"
#include "operation/operation.h"

extern const mishap_app small_app;
extern const mishap_app large_app;

/* How many operations the large one has. */
enum { LARGE_OPERATIONS = 7 };

/* What one of the mishap_cli_put_… functions writes, with a NUL after it; free() it. */
char *help_of(const mishap_app *app, const char *operation, bool color);
char *manifest_of(const mishap_app *app);
char *completion_of(const mishap_app *app, const char *shell);
char *offers_of(const mishap_app *app, const char *const *words, size_t count);
char *manual_of(const mishap_app *app);

const mishap_operation *operation_of(const mishap_app *app, const char *name);

/* Run a shell command and return what it prints on standard output, stderr too; its status in
 * *status. free() it. */
char *output_of(const char *command, int *status);

/* Is this program installed? */
bool installed(const char *program);

/* Write a file into a fresh folder; its path is put in `path`. */
void write_temporary(const char *text, char *path, size_t size);

/* Call `describe` with each allocation failing in turn, alone and with all after it: the buffer
 * says so, or is whole. */
void assert_survives_lack_of_memory(void (*describe)(mishap_buffer *buffer));

#endif
