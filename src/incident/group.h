/*
 * The group of a failure: failures of one kind have the same number.
 *
 * A group is operation, code and place with the top three functions of the stack. For a validation
 * it is operation, code, and the declared fields with the rules that they break: neither values nor
 * indexes nor names that the caller has invented, so that a caller cannot make groups.
 */
#ifndef MISHAP_INCIDENT_GROUP_H
#define MISHAP_INCIDENT_GROUP_H

#include <stddef.h>

#include "mishap/mishap.h"
#include "mishap/symbols.h"

/* `operation` as it is declared; may be NULL. Never 0. Takes some twenty nanoseconds. */
uint64_t mishap_incident_group(const char *operation, const mishap *failure);

/* The same in a process that ends with this failure, and has found the functions of its stack
 * already: nothing is looked up again, and nothing is remembered, since the memory for that would
 * cost more than the rest. Without `symbols` they are looked up as above. */
uint64_t mishap_incident_group_once(const char *operation, const mishap *failure,
                                    const mishap_symbol *symbols);

/* The file of a place without the steps up that a build folder puts before it. */
const char *mishap_incident_source(const char *file);

#endif
