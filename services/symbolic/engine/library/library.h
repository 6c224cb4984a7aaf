/*
 * library: modules of Python's library whose model is Python itself. The interpreter runs these
 * files as it runs the code of the caller. A module is parsed once in a process and
 * loaded in each path that imports it.
 *
 * Its nodes have the line 0: an exception that is raised there, and an unsupported construct, has
 * the line of the caller, and its lines and branches are not counted. It cannot see names of the
 * caller's code, since names of two trees are never the same.
 */
#ifndef SYMBOLIC_LIBRARY_H
#define SYMBOLIC_LIBRARY_H

typedef struct library_source {
    const char *module, *text;
} library_source;

extern const library_source library_sources[]; /* the last one has no module */

#endif
