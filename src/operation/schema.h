/* Schemas of other parts than all parameters of an operation (operation.h has that one). */
#ifndef MISHAP_OPERATION_SCHEMA_H
#define MISHAP_OPERATION_SCHEMA_H

#include "operation/operation.h"

/* What a parameter is, in words for people: "Where it is; looks like HOST:PORT". Nothing if there
 * are none. `alone`: there is no schema beside them, so formats and choices are told, too. */
void mishap_param_put_words(mishap_buffer *buffer, const mishap_param *param, bool alone);

/* Write the further words of a declaration (`.schema`), if it has any, into an open object. Not
 * `alone`: the schema is a part of another document, so words that refer to places are left out
 * (schema_words.c). */
void mishap_schema_put_words(mishap_buffer *buffer, const char *schema, bool alone);

/* One parameter by itself. */
void mishap_param_put_schema(mishap_buffer *buffer, const mishap_param *param);

/* The arguments of a tool: an object of the parameters and nothing else, with further words of the
 * operation. `brief`: where a parameter says what its values look like (`.looks`), its lengths and
 * its pattern are left out. */
void mishap_params_put_tool_schema(mishap_buffer *buffer, const mishap_param *params,
                                   const char *words, bool brief);

/* An object of the parameters of an operation but those for which the test holds, with the rules
 * that are about the others and that a schema can state, and with its further words if no parameter
 * is left out. */
typedef bool mishap_param_test(const mishap_param *param, const void *state);
void mishap_params_put_schema_but(mishap_buffer *buffer, const mishap_operation *operation,
                                  mishap_param_test *left_out, const void *state);

/* The same as a form: a file is bytes, and no base64 text. */
void mishap_params_put_form_schema(mishap_buffer *buffer, const mishap_param *params,
                                   mishap_param_test *left_out, const void *state);

/* The object that an operation answers with. Where a member is not required it may be null. */
void mishap_answers_put_schema(mishap_buffer *buffer, const mishap_param *answers);

/* The names of its members alone, in few words. A failure matches this schema, too. */
void mishap_answers_put_names(mishap_buffer *buffer, const mishap_param *answers);

#endif
