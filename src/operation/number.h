/*
 * Numbers of JSON: integers of 64 bits, doubles, and digits beyond both, which are kept as text.
 * None of them is rounded before it is compared.
 */
#ifndef MISHAP_OPERATION_NUMBER_H
#define MISHAP_OPERATION_NUMBER_H

#include "operation/operation.h"

/* True for an integer; 3.0 and 1e2 are integers. */
bool mishap_number_is_integer(yyjson_val *value);

/* Below (-1), at (0) or above (1) the bound, which may be infinite. */
int mishap_number_compare(yyjson_val *value, double bound);

/* True if it fits the type that a handler gets: a signed 64-bit integer, or a finite double. */
bool mishap_number_has_room(mishap_type_of_param type, yyjson_val *value);

/* A bound of a range: an integer where it is one, nothing where it is infinite. */
mishap_value mishap_bound(double bound);

#endif
