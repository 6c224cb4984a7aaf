/* The call that tries a service (mishap_trial), and whether its answer is right. */
#ifndef MISHAP_OPERATION_TRIAL_H
#define MISHAP_OPERATION_TRIAL_H

#include "operation/operation.h"

enum { MISHAP_TRIAL_MS = 10000 }; /* that a trial may take: machines are busy at times */

/* Of a service that has a trial. On success *out is the call, which must be ended. */
mishap *mishap_trial_begin(const mishap_app *app, const mishap_service *service, int limit_ms,
                           mishap_call **out);

/* NULL: the answer, JSON, is the one that is expected. Else INTERNAL_ERROR, which says what came
 * instead. */
mishap *mishap_trial_judge(const mishap_service *service, mishap_text answer);

#endif
