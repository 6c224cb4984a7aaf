/*
 * Enumeration: if few inputs satisfy the types and the preconditions, real Python calls them all.
 * That is exact for each construct which does the same in each run, modelled or not.
 */
#ifndef SYMBOLIC_ENUMERATE_H
#define SYMBOLIC_ENUMERATE_H

#include "explore/explore.h"

/* What is a finding. */
typedef struct question {
    const char *exception; /* find: the exception that is searched for; NULL: not find */
    bool asserts;          /* check: asserts at the beginning are preconditions */
} question;

/* Explore all paths, and call all inputs if they are few: `a->every` has what came of that. */
void search(analysis *a, const question *q, path_function *path, path_function *salvage);
/* All were called, and none is a finding. */
bool enumerate_proves(const analysis *a);
/* A finding as a witness, replayed. False: it cannot be. */
bool enumerate_witness(analysis *a, size_t index, witness *out);

/* It is a finding, and all paths were explored without one: then the paths are wrong. */
void enumerate_contradicts(analysis *a, const witness *w, const char *did);

/* How a verdict was reached: "paths", "enumeration", "both". `by_paths`: the paths alone would do.
 */
const char *enumerate_method(const analysis *a, bool by_paths);

#endif
