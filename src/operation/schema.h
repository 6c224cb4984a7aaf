/* Schemas of other parts than all parameters of an operation (operation.h has that one). */
#ifndef MISHAP_OPERATION_SCHEMA_H
#define MISHAP_OPERATION_SCHEMA_H

#include "operation/operation.h"

/* What a parameter is, in words for people: "Where it is; looks like HOST:PORT". Nothing if there
 * are none. `alone`: there is no schema beside them, so formats and choices are told, too. */
void mishap_param_put_words(mishap_buffer *buffer, const mishap_param *param, bool alone);

/* One parameter by itself. */
void mishap_param_put_schema(mishap_buffer *buffer, const mishap_param *param);

/* An object of the parameters but those for which the test holds. */
typedef bool mishap_param_test(const mishap_param *param, const void *state);
void mishap_params_put_schema_but(mishap_buffer *buffer, const mishap_param *params,
                                  mishap_param_test *left_out, const void *state);

/* The object that an operation answers with. Where a member is not required it may be null. */
void mishap_answers_put_schema(mishap_buffer *buffer, const mishap_param *answers);

#endif
