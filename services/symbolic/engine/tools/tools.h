/* The tools: a request in, an answer as JSON out, with the same members on success and on error. */
#ifndef SYMBOLIC_TOOLS_H
#define SYMBOLIC_TOOLS_H

#include <yyjson.h>

#include "explore/enumerate.h"

typedef struct request {
    const char *tool; /* "check", "find", "compare", "branches", "run", "health" */
    const char *code;
    size_t code_length;
    const char *function, *other; /* `other`: the second function of a comparison */
    const char *exception_type;
    const char *arguments; /* run: a tuple of known arguments, in Python's syntax */
    double seconds;        /* 0: the default of the tool */
    bool reachability;     /* branches: ask the solver */
} request;

/* Answer a request. The caller owns the document. `*private` is an object for the operator alone,
 * which the caller owns as well; NULL: none. */
yyjson_mut_doc *tools_answer(solver *s, const request *r, yyjson_mut_doc **private);

/* Report what is known of a running analysis, for the caller in case that it never ends: `keep`
 * gets an object with members of the tool. With a `status` it is an answer. NULL: not reported. */
void tools_keep(void (*keep)(yyjson_mut_doc *so_far));

/* Each tool fills in its members. */
typedef struct reply {
    yyjson_mut_doc *doc;
    yyjson_mut_val *root;
    const request *request;
    solver *solver;
    yyjson_mut_doc *private; /* information for the operator; NULL: none */
} reply;

void tool_check(reply *r);
void tool_find(reply *r);
void tool_compare(reply *r);
void tool_branches(reply *r);
void tool_run(reply *r);
void tool_health(reply *r);

/* -- what they share (tools.c) ----------------------------------------------------------------- */

void reply_status(reply *r, const char *status);
void reply_fault(reply *r, const char *status, const fault *wrong);
void reply_text(reply *r, yyjson_mut_val *to, const char *name, const char *words);
void reply_seconds(reply *r, int64_t began_ns);
/* The assumptions of a verdict: `assumptions`, `vacuous`. */
void reply_assumed(reply *r, const analysis *a);
/* … and why paths do not count, if real Python contradicted one: `withdrawn`; findings that were
 * confirmed are reported all the same. The operator gets the details. */
void reply_withdrawn(reply *r, analysis *a);
/* `method`: how the answer was found; `inputs_called`, if all were called. `by_paths`: the paths
 * give it. */
void reply_method(reply *r, const analysis *a, bool by_paths);
/* The members `args`, `kwargs` and `call` of a witness. */
void reply_arguments(reply *r, yyjson_mut_val *to, analysis *a, const witness *w);
/* … all arguments of one that was called, as a JSON object. */
const char *witness_json(reply *r, analysis *a, const witness *w);
/* "ValueError: bad (line 3)" */
const char *raised_words(arena *a, const char *class, const char *message, int line);

yyjson_mut_doc *so_far_begin(void);
/* … findings, which make it an answer with this status; NULL: there are none. */
void so_far_found(yyjson_mut_doc *doc, const char *status, const char *name, yyjson_mut_val *found);
void so_far_end(yyjson_mut_doc *doc);

/* Parameters without annotation are taken as int, and as other types if every path is a TypeError:
 * `run` is called with each in turn until one fits. */
typedef void attempt_function(analysis *a, void *context);
bool with_guesses(reply *r, analysis *a, const char *function, const char *other, double seconds,
                  attempt_function *attempt, void *context, fault *wrong);

#endif
