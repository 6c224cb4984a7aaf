/* Rules across parameters (mishap/relation.h): their checks, their words and their schema. */
#ifndef MISHAP_OPERATION_RULES_H
#define MISHAP_OPERATION_RULES_H

#include "operation/findings.h"

/* Check the rules of an object. `values` has the value of each parameter of the list, or NULL. */
void mishap_expect_rules(mishap_findings *findings, const mishap_spot *outer,
                         const mishap_param *params, const mishap_relation *rules,
                         yyjson_val *const *values);

/* Report the items of an array that occurred before; the spot is that of the array. */
void mishap_expect_unique(mishap_findings *findings, const mishap_spot *spot, yyjson_val *array);

/* The functions of an operation's rules: the failure so far, with their findings added. NULL: there
 * is nothing to report. */
mishap *mishap_rules_call(const mishap_app *app, const mishap_operation *operation,
                          yyjson_val *object, mishap *failure);

/* A rule as a sentence without its full stop; nothing for a function without words. False: nothing
 * was written. */
bool mishap_rule_put_words(mishap_buffer *buffer, const mishap_relation *rule);

/* All rules as sentences: "ends must be after starts. …". Nothing: there is none to tell. */
void mishap_rules_put_words(mishap_buffer *buffer, const mishap_relation *rules);

/* The keyword `allOf` with the rules that JSON Schema can state; nothing if there is none. */
void mishap_rules_put_schema(mishap_buffer *buffer, const mishap_param *params,
                             const mishap_relation *rules);

/* NULL if the rules of a list can work, else why not. `inner`: the list is that of an object. */
struct mishap_declared;
mishap *mishap_rules_declared(const struct mishap_declared *what, const mishap_param *params,
                              const mishap_relation *rules, bool inner);

#endif
