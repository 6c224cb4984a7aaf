/*
 * Enumeration: if few inputs satisfy the types and the preconditions, real Python calls them all.
 * That is exact for each construct which does the same in each run, modelled or not.
 */
#ifndef SYMBOLIC_ENUMERATE_H
#define SYMBOLIC_ENUMERATE_H

#include "explore/explore.h"

/* What is a finding, and what to do about it. */
typedef struct question {
    const char *exception; /* find: the exception that is searched for; NULL: not find */
    bool asserts;          /* check: asserts at the beginning are preconditions */
    path_function *path, *salvage;
    path_function *take; /* findings of `a->every` are told, unless there are some */
    path_function *tell; /* what is known so far is kept, should the time be over */
} question;

/*
 * Explore all paths, and call inputs: all of them if they are few; else, if the paths take long,
 * some that are typical, and some that constants of the code suggest. `a->every` has what came of
 * it.
 */
void search(analysis *a, const question *q);
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
