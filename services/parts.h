/*
 * The programs and libraries of the machine that services use, each with its Debian package. Each
 * service lists its own; `mishap doctor` looks for all of them.
 */
#ifndef SERVICES_PARTS_H
#define SERVICES_PARTS_H

/* One of them. A list ends with { 0 }. */
typedef struct service_part {
    const char *name; /* of a program in the path, or of a library, with ".so" in it */
    const char *use, *package;
    /* The path of a part that is built with Mishap if the package is installed; NULL: it was not
     * built. No function: the package contains the part. */
    const char *(*made)(void);
} service_part;

#endif
