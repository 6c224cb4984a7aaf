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

/* Remember the functions of a stack that were found already: a group is not to look for them
 * again. */
void mishap_incident_group_learn(const mishap_symbol *symbols, size_t count);

/* The file of a place without the steps up that a build folder puts before it. */
const char *mishap_incident_source(const char *file);

#endif
