/* Files that belong to a program: in the build tree, or as they are installed. */
#ifndef SERVICES_BESIDE_H
#define SERVICES_BESIDE_H

#include <limits.h>

/* A file that belongs to a service: services/ROOM/NAME in the tree of a build, LIBDIR/mishap/NAME
 * where the program is installed. `mode` is R_OK or X_OK. The path is empty at first. */
typedef struct service_file {
    const char *room, *name;
    int mode;
    char path[PATH_MAX];
} service_file;

/* The path of the file, which is looked for until it is found. NULL: there is none that `mode`
 * allows, and its path is empty. A service asks for it in its prepare(), before there are other
 * threads. */
const char *service_file_path(service_file *file);

#endif
