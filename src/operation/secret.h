/*
 * Parameters that are declared secret: which values of a call they have, and a failure without
 * them.
 *
 * A parameter is secret if it says so, or if the array or object that it belongs to is. A secret
 * has any type. What a failure tells under the name of a secret is always hidden; elsewhere its
 * value is looked for, if it is long enough (guard/guard.h).
 */
#ifndef MISHAP_OPERATION_SECRET_H
#define MISHAP_OPERATION_SECRET_H

#include "guard/guard.h"
#include "operation/hide.h"
#include "operation/operation.h"

/* Is a parameter secret, or anything inside of it? And one of a list? */
bool mishap_param_has_secret(const mishap_param *param);
bool mishap_params_have_secret(const mishap_param *params);

/* Does a step of a path name a secret parameter: account.pin, accounts[2].pin, /account/pin? */
bool mishap_path_names_secret(const mishap_param *params, mishap_text path);

/* Has a value of this parameter a secret in it? */
bool mishap_param_value_has_secret(const mishap_param *param, yyjson_val *value);

/* Is `at`, somewhere in an object that is meant for these parameters, a part of a secret? */
bool mishap_secret_stands_at(const mishap_param *params, yyjson_val *object, yyjson_val *at);

/* The secrets of a call, with those of its service. They point into the call and into the arena;
 * without memory they are unknown. */
void mishap_secrets_learn(mishap_secrets *secrets, mishap_arena *arena, const mishap_call *call);

/* Of a service: those of its settings, which belong to every call of its operations, too. */
void mishap_settings_learn(mishap_secrets *secrets, mishap_arena *arena,
                           const mishap_service *service);

/* Can a call of this operation have secrets: in its parameters, or in the settings of its service?
 */
bool mishap_operation_has_secret(const mishap_operation *operation);

/* The same as mishap_secrets_learn(), learned once and kept with the call, until mishap_call_end().
 * NULL: it has none. Only the thread that made the call may ask first. */
const mishap_secrets *mishap_call_secrets(mishap_call *call);

/*
 * Hide the secrets in all parts of a failure, in its causes too: in its texts, in numbers and JSON
 * that were told or noted, and every value under the name of a secret parameter. Without memory for
 * the rest of a text all of it is [redacted]. To be called before the failure is rendered or
 * recorded. `failure`, `params` and `secrets` may be NULL.
 */
void mishap_hide_failure(mishap *failure, const mishap_param *params,
                         const mishap_secrets *secrets);

/*
 * Replace the leaks (leaks.h) in the public side of a failure that is returned to C and not
 * rendered, apart from the output and the stack of a caller's own code. What is replaced is noted.
 * A failure without any costs a scan of each of its texts.
 */
void mishap_hide_failure_leaks(mishap *failure, const mishap_sent *sent);

/* The same for a failure that is rendered in a dialect that has the output and the stack: of a
 * failure of the caller's own code, the condition type and the message stay, too. */
void mishap_hide_report_leaks(mishap *failure, const mishap_sent *sent);

/* Hide the secrets in the JSON that a failing command answers with beside its failure. Without
 * memory the buffer is empty and has failed. */
void mishap_hide_data(mishap_buffer *json, const mishap_param *params,
                      const mishap_secrets *secrets);

#endif
