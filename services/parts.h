/*
 * What services use of the machine: programs and libraries, each with the package of Debian that
 * has it. Each service lists its own; `mishap doctor` looks for all of them.
 */
#ifndef SERVICES_PARTS_H
#define SERVICES_PARTS_H

/* One of them. A list ends with { 0 }. */
typedef struct service_part {
    const char *name; /* of a program in the path, or of a library, with ".so" in it */
    const char *use, *package;
    const char *(*made)(void); /* the path of what is built with Mishap, where the package is there;
                                  NULL: it is not there. No function: the package has it */
} service_part;

#endif
