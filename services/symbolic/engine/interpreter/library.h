/*
 * Modules of Python's library whose model is Python itself: the files in library/, which the
 * interpreter runs as it runs the code of the caller. A module is parsed once in a process and
 * loaded in each path that imports it.
 *
 * Its nodes have the line 0, so an exception that is raised in there, and a construct that is not
 * supported, has the line of the caller; lines and branches of it are not counted. What the code of
 * the caller binds is not seen in there, since names of two trees never are the same.
 */
#ifndef SYMBOLIC_LIBRARY_H
#define SYMBOLIC_LIBRARY_H

#include "machine/machine.h"

typedef struct library_source {
    const char *module, *text;
} library_source;

extern const library_source library_sources[]; /* the last one has no module */

#endif
