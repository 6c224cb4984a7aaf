/*
 * Enumeration: if few inputs satisfy the types and the preconditions, real Python calls them all.
 * That is exact for all deterministic code, whether it is modelled or not.
 */
#ifndef SYMBOLIC_ENUMERATE_H
#define SYMBOLIC_ENUMERATE_H

#include "explore/explore.h"

/* What counts as a finding, and the functions that process it. */
typedef struct question {
    const char *exception; /* find: the exception that is searched for; NULL: another tool */
    bool asserts;          /* check: asserts at the beginning are preconditions */
    const char *noting; /* branches: the code, with a call that records each condition (survey.h) */
    path_function *path, *salvage;
    /* Processes the findings of `a->every`, unless there are findings already. */
    path_function *take;
    path_function *tell; /* reports what is known so far, in case that the time ends */
} question;

/*
 * Explore all paths, and call inputs (search.c): all inputs if they are few; otherwise some typical
 * ones, and some that constants of the code suggest. These are called first, before the solver is
 * used, and a finding among them ends the search. Code that may depend on its process, and
 * parameters whose type is a guess, are called only after a first exploration of the paths.
 * `a->every` has the results.
 */
void search(analysis *a, const question *q);
/* Call inputs of the pool and process findings, if that comes first. */
void search_pool(analysis *a, const question *q);
/* From now on the pool is called only if the paths take long: for tests of the paths. */
void search_pool_late(void);

/* True if the inputs are few: then `a->every.domains` has them. */
bool find_domains(analysis *a, const question *q, size_t *total);
/* Call them all: `a->every.ran` is true if all were called. */
void call_all(analysis *a, const question *q, size_t total);
/* Call the inputs that `sources` describes, in the format of the driver, until a time, and for
 * `most_ns` at most; 0: no such limit. False: there was no answer. */
bool call_inputs(analysis *a, const question *q, const char *sources, int64_t until,
                 int64_t most_ns);

/* True if all were called, and none is a finding. */
bool enumerate_proves(const analysis *a);
/* A finding as a witness, which was replayed. */
void enumerate_witness(analysis *a, size_t found, witness *out);
/* True if the call of a finding ends in the same way with another hash seed. */
bool enumerate_again(analysis *a, size_t found);

/* A call is a finding, though all paths were explored without one: the model is wrong. */
void enumerate_contradicts(analysis *a, const witness *w, const char *did);

/* How a verdict was reached: "paths", "enumeration", "both". `by_paths`: the paths alone were
 * enough. */
const char *enumerate_method(const analysis *a, bool by_paths);

#endif
