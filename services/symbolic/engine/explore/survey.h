/* What a path passes: which sides of which conditions, and which lines. */
#ifndef SYMBOLIC_SURVEY_H
#define SYMBOLIC_SURVEY_H

#include "explore/explore.h"

enum { MOST_BRANCHES = 256 };

typedef struct branch {
    const node *n;
    bool reached[2];        /* false, true */
    bool undecided[2];      /* the solver could not tell */
    const char *example[2]; /* JSON: the arguments */
} branch;

typedef struct survey {
    analysis *a;
    branch branches[MOST_BRANCHES];
    size_t count;
    unsigned char *lines; /* by line: 1 is a statement of the function, 2 was run, 4 may be */
    int line_count;
    int operators; /* further operands of `and` and `or` */
    int loops, conditions;
    const char *noting; /* the code, with a note of each condition */
} survey;

/* All conditions and lines of a function. False: there are too many. */
bool survey_open(survey *s, analysis *a, const node *function);
/* A call with the arguments `words` (JSON) has noted these bits in real Python. */
void survey_take(survey *s, const char *bits, const char *words);
/* Is every side of every condition and every line known to be reached? */
bool survey_complete(const survey *s);
/* Did the solver decide about each? */
bool survey_decided(const survey *s);

#endif
