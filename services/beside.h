/* Files that belong to a program: in the build tree, or as they are installed. */
#ifndef SERVICES_BESIDE_H
#define SERVICES_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The path of services/ROOM/NAME in the build tree, or of LIBDIR/mishap/NAME if the program is
 * installed. False: there is no such file that `mode` (R_OK, X_OK) allows, and the path is
 * empty. */
bool service_file_beside(const char *room, const char *name, int mode, char *path, size_t size);

#endif
