/* A call that stands for another one, and has its caller asked what that one asks. */
#ifndef MISHAP_OPERATION_PASS_ON_H
#define MISHAP_OPERATION_PASS_ON_H

#include "operation/asking.h"

/* The handler returns the result. When it is run again, the answers are in `call->replies`, as they
 * came. Its own operation asks nothing. The questions live as long as the call. */
mishap *mishap_asking_pass_on(mishap_call *call, mishap_asked *questions);

#endif
