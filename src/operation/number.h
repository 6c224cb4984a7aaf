/*
 * Numbers of JSON: integers of 64 bits, doubles, and digits beyond both, which are kept as text.
 * None of them is rounded before it is compared.
 */
#ifndef MISHAP_OPERATION_NUMBER_H
#define MISHAP_OPERATION_NUMBER_H

#include "operation/operation.h"

/* Is it one? 3.0 and 1e2 are. */
bool mishap_number_is_integer(yyjson_val *value);

/* Below (-1), at (0) or above (1) the bound, which may be infinite. */
int mishap_number_compare(yyjson_val *value, double bound);

/* Does it fit into what a handler can be given: 64 bits with a sign, or a finite double? */
bool mishap_number_has_room(mishap_type_of_param type, yyjson_val *value);

/* A bound of a range: an integer where it is one, nothing where it is infinite. */
mishap_value mishap_bound(double bound);

#endif
