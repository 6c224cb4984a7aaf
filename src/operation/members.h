/*
 * The members of an object that its parameters declare, found in one pass over the object.
 *
 * Members mostly come in the order of declaration, so the next parameter is tried first; else a
 * short list is searched, and a long one has an index, made when it is first needed. Its table
 * holds only declared names, so no caller can make it slow.
 */
#ifndef MISHAP_OPERATION_MEMBERS_H
#define MISHAP_OPERATION_MEMBERS_H

#include "operation/operation.h"

enum { MISHAP_MEMBERS_FEW = 32 };

typedef struct mishap_members {
    const mishap_param *params;
    size_t count, next;
    uint32_t *table; /* numbers of parameters from 1, 0: free; NULL where the list is short */
    size_t mask;
    bool indexed;
} mishap_members;

/* The search, and how many bytes its table takes; 0: it needs none. Without a table, a long list is
 * searched, too. */
mishap_members mishap_members_of(const mishap_param *params);
size_t mishap_members_room(const mishap_members *members);

/* The number of the parameter of this name, or `count` if there is none. */
size_t mishap_members_find(mishap_members *members, mishap_text name);

/* The value of each parameter, NULL: it is not there. If a key occurs twice, the first counts. */
void mishap_members_values(mishap_members *members, yyjson_val *object, yyjson_val **values);

#endif
