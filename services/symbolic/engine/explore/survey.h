/* The coverage of a function: which sides of its conditions, and which lines are reached. */
#ifndef SYMBOLIC_SURVEY_H
#define SYMBOLIC_SURVEY_H

#include "explore/explore.h"

enum { MOST_BRANCHES = 256 };

typedef struct branch {
    const node *n;
    bool reached[2];        /* false, true */
    bool undecided[2];      /* the solver could not decide */
    const char *example[2]; /* JSON: the arguments */
} branch;

typedef struct survey {
    watcher watcher; /* first: the machine knows only this part */
    analysis *a;
    branch branches[MOST_BRANCHES];
    size_t count;
    /* For each line: 1 a statement of the function, 2 it was run, 4 it may be reached. */
    unsigned char *lines;
    int line_count;
    int operators; /* further operands of `and` and `or` */
    int loops, conditions;
    const char *noting; /* the code, with a call that records each condition */
} survey;

/* Collect all conditions and lines of a function. False: there are too many. */
bool survey_open(survey *s, analysis *a, const node *function);
/* A call with the arguments `words` (JSON) has set these bits in real Python. */
void survey_take(survey *s, const char *bits, const char *words);
/* True if every side of every condition and every line is known to be reached. */
bool survey_complete(const survey *s);
/* True if the solver has decided all of them. */
bool survey_decided(const survey *s);

#endif
