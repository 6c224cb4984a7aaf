/* What is asked of the system in the same way in many places. */
#ifndef MISHAP_BASE_SYSTEM_H
#define MISHAP_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* What the system says of an error, as one line: "No such file or directory (ENOENT)". */
void mishap_system_error(int error, char *words, size_t size);

/* The folders above a file, and a folder with those above it, for this user only. The path is
 * written to meanwhile. False: the folder is not there, and errno says why. */
void mishap_system_make_above(char *path);
bool mishap_system_make_folder(char *path);

/* Random bytes that nobody can guess. False: the system gives none. */
bool mishap_system_random(void *bytes, size_t count);

/* The environment variable of a program, NAME_SUFFIX for `name`; NULL if it is not set. */
const char *mishap_system_setting(const char *program, const char *suffix);

#endif
