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
    const char *noting;    /* branches: the code, with a note of each condition (survey.h) */
    path_function *path, *salvage;
    path_function *take; /* findings of `a->every` are told, unless there are some */
    path_function *tell; /* what is known so far is kept, should the time be over */
} question;

/*
 * Explore all paths, and call inputs (search.c): all of them if they are few; else some that are
 * typical, and some that constants of the code suggest. These are called first, before the solver
 * is asked anything, and a finding among them ends the search. What may depend on the process that
 * it runs in, and parameters whose type is a guess, come after a first look at the paths.
 * `a->every` has what came of it.
 */
void search(analysis *a, const question *q);
/* Call inputs of the pool and have findings taken, where that comes first. */
void search_pool(analysis *a, const question *q);
/* From now on the pool is called only if the paths take long: for tests of the paths. */
void search_pool_late(void);

/* Are the inputs few? Then `a->every.domains` has them. */
bool find_domains(analysis *a, const question *q, size_t *total);
/* Call them all: `a->every.ran` says whether that came to its end. */
void call_all(analysis *a, const question *q, size_t total);
/* Call the inputs that `sources` names, in the words of the driver, until a time. False: there was
 * no answer. */
bool call_inputs(analysis *a, const question *q, const char *sources, int64_t until);

/* All were called, and none is a finding. */
bool enumerate_proves(const analysis *a);
/* A finding as a witness, which was replayed. */
void enumerate_witness(analysis *a, size_t found, witness *out);
/* Does the call of a finding end in the same way with other hashes of strs? */
bool enumerate_again(analysis *a, size_t found);

/* It is a finding, and all paths were explored without one: then the paths are wrong. */
void enumerate_contradicts(analysis *a, const witness *w, const char *did);

/* How a verdict was reached: "paths", "enumeration", "both". `by_paths`: the paths alone would do.
 */
const char *enumerate_method(const analysis *a, bool by_paths);

#endif
