/* Programs in the folders of PATH. */
#ifndef MISHAP_BASE_SEARCH_H
#define MISHAP_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copy the next folder of a list such as PATH, and move `*list` behind it; after the last one it is
 * NULL. An empty folder is the current one, ".". A folder that does not fit is skipped. False: none
 * is left.
 */
bool mishap_search_next(const char **list, char *folder, size_t size);

/* The absolute path of a file, that of a relative one from the current folder on. It need not
 * exist. False: errno says why not. */
bool mishap_search_absolute(const char *file, char *path, size_t size);

/*
 * The absolute path of the program that execvp() would start: the first executable file of that
 * name in the folders of PATH ("/usr/bin:/bin" if PATH is unset), or, for a name with a slash, that
 * file, whether it is there or not. False: errno is EACCES if files of that name are not
 * executable, else ENOENT.
 */
bool mishap_search_program(const char *name, char *path, size_t size);

#endif
