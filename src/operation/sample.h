/* Arguments that a declaration accepts, made up from the declaration. */
#ifndef MISHAP_OPERATION_SAMPLE_H
#define MISHAP_OPERATION_SAMPLE_H

#include "operation/operation.h"

/* An object with a value for each parameter, or for the required ones alone. The values pass the
 * rules of their own parameters, as far as a pattern is matched by one of some usual texts; rules
 * across parameters are not looked at. */
void mishap_params_put_sample(mishap_buffer *buffer, const mishap_param *params, bool all);

#endif
