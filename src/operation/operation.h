/*
 * src/operation: what a declared operation means. Its declaration is checked once, its parameters
 * at every call; the handler runs inside containment. Boundaries build on this and add nothing to
 * it.
 *
 *     declare*.c        checks of the declarations
 *     lookup.c          what a declaration has, by name
 *     chosen.c          a program with some of its services only: chosen.h
 *     type.c            the table of types, and decimals as JSON has them
 *     schema.c          a JSON Schema of the parameters
 *     schema_words.c    … words that a declaration adds to it
 *     question_schema.c … and the schema of an answer to a question
 *     sample.c          made-up arguments: sample.h
 *     members.c         the members of an object, found in one pass for all parameters
 *     check.c           checks of the parameters
 *     unknown.c         members that are not declared
 *     spelled.c         what stands for a value where there is only text
 *     findings.c        one rule against one value
 *     expect_form.c     … of a type that is text of a certain form
 *     number.c          … of a number against bounds, exactly
 *     require.c         the same rules as stand-alone calls
 *     rules.c           rules across parameters
 *     rules_call.c      … those that are functions
 *     rules_words.c     … as sentences, and in a JSON Schema
 *     format.c          dates, addresses and other formats of text
 *     pattern.c         regular expressions with a limit
 *     object.c          arguments that are no valid JSON object
 *     dispatch.c        checks, then the handler
 *     fill.c            the struct of a handler with typed arguments
 *     settle.c          calls of a service that settles them
 *     call.c            the call that a handler sees: its memory, its time, its caller
 *     caller.c          the names of callers that name themselves
 *     arguments.c       its arguments, by names, paths and walks
 *     answer.c          its answer, whole or piece by piece
 *     print.c           … values of the types of mishap/types.h in it
 *     styled.c          … texts for readers with styles
 *     fields.c          header lines, cookies and versions of answers: fields.h
 *     contain.c         a handler that crashes
 *     recorded.c        what the record of a failure says of its call
 *     changes.c         what handlers have changed, and which functions are told of it
 *     news.c            the last changes, in memory that all loops of a server share
 *     handover.c        what servers of a cluster hand over to each other: handover.h
 *     stream.c          answers in pieces, bodies that are not JSON
 *     file.c            files as arguments
 *     upload.c          … that are read while they arrive
 *     channel.c         … bytes of such a file between two processes: channel.h
 *     media.c           media types of both
 *     mark.c            marks of tasks: what a run leaves for the next one
 *     asking.c          questions of handlers
 *     answers.c         … the answers of callers to them
 *     sealed.c          … the state of such a call, in the hands of its caller
 *     claims.c          … which server of a cluster is the first to take it: claims.h
 *     shared_secret.c   … the secret that seals it, shared by servers: shared_secret.h
 *     service.c         what services opened
 *     trial.c           … and a trial of each
 *     settings*.c       what an operator sets for them
 *     secret.c          which parameters are secret, and their values in a call
 *     hide_failure.c    a failure without those values
 *     scopes.c          what a caller needs and has
 *     sent.c            what the caller of a call sent, for the guard (mishap/hide.h)
 */
#ifndef MISHAP_OPERATION_OPERATION_H
#define MISHAP_OPERATION_OPERATION_H

#include "base/base.h"
#include "mishap/operation.h"

/* -- declarations ------------------------------------------------------------------------------ */

/* NULL if every operation of the program is declared correctly; else a NOT_CONFIGURED mishap that
 * names the operation and the reason. */
mishap *mishap_declaration_check(const mishap_app *app);

/* Only what belongs to no operation: the name, the version, the summary, the failures of all. */
mishap *mishap_declaration_check_program(const mishap_app *app);

/* The same in two parts, for a command, which is to start fast. The first part leaves out what
 * takes long: patterns are not compiled, and defaults and examples of tools are not checked. The
 * second part checks one operation, with its patterns, defaults and example. */
mishap *mishap_declaration_check_shape(const mishap_app *app);
mishap *mishap_declaration_check_operation(const mishap_app *app,
                                           const mishap_operation *operation);

/* The operation of this name ("users.create"), NULL if there is none. */
const mishap_operation *mishap_operation_find(const mishap_app *app, mishap_text name);

/* How long an operation may take, in milliseconds. */
int mishap_operation_timeout(const mishap_app *app, const mishap_operation *operation);

/* How dangerous an operation is: as declared, or else by the method of its route. */
mishap_danger mishap_operation_danger(const mishap_operation *operation);

/*
 * The codes that an operation declares, each once: its own, then those of its service, then those
 * of the program (`app` may be NULL). `at` begins as 0; NULL: that was the last.
 *
 *     size_t at = 0;
 *     for (const mishap_code *code; (code = mishap_operation_code(app, operation, &at));)
 */
const mishap_code *mishap_operation_code(const mishap_app *app, const mishap_operation *operation,
                                         size_t *at);

/* True if the code is one of them. */
bool mishap_operation_declares(const mishap_app *app, const mishap_operation *operation,
                               const mishap_code *code);

/* How many parameters a list has. */
size_t mishap_param_count(const mishap_param *params);

/* The parameter of this name; NULL if there is none, or no list. A name with a NUL is none. */
const mishap_param *mishap_param_find(const mishap_param *params, mishap_text name);

static inline bool mishap_param_is_named(const mishap_param *param, mishap_text name)
{
    size_t i = 0;
    while (i < name.length && param->name[i] == name.data[i] && name.data[i])
        i++;
    return i == name.length && param->name[i] == '\0';
}

/* The scopes that a caller of an operation needs, all of them (base/scope.h). */
unsigned mishap_operation_scopes(const mishap_app *app, const mishap_operation *operation);

/* FORBIDDEN, with the names of the missing scopes, unless a caller has all that are needed. `what`
 * has them: "API key". */
mishap *mishap_scopes_permit(const mishap_app *app, unsigned scopes, unsigned needed,
                             const char *what);

/* -- services ---------------------------------------------------------------------------------- */

/* How the program was started. It is remembered, not copied, and must be said before the first
 * service is opened; if it is not, the data folder is that of the user. */
void mishap_service_use(const mishap_setup *setup);

/* The state of a service, which is opened if it is not, in a data folder that is made if it is not
 * there. If that fails it is UNAVAILABLE, or NOT_CONFIGURED where something must be put right
 * first, with what the service tells of it as the cause and all of it on the private side; it is
 * tried again the next time. Any thread may ask. */
mishap *mishap_service_open(const mishap_app *app, const mishap_service *service, void **state);

/* Have a service read its settings (`.prepare`), which mishap_service_open() does as well. The
 * failure is as of that. No other thread may be using services. */
mishap *mishap_service_prepare(const mishap_app *app, const mishap_service *service);

/* From now on this service opens what has this identity, and nothing else; it makes nothing, not
 * even the data folder. To be said before it is opened. */
void mishap_service_expect(const mishap_service *service, const char *identity);

/* True if an operation of the service is `.stale`: a standby may run its reads. */
bool mishap_service_is_stale(const mishap_app *app, const mishap_service *service);

/* The identity of what a service has opened; "" if it has none, or is not open. */
const char *mishap_service_identity(const mishap_service *service);

/* Have the service of an operation (NULL: none) add what it has to add to a failure of it. */
void mishap_service_amend(const mishap_operation *operation, mishap *failure);

/* Open every service of a program. */
mishap *mishap_service_open_all(const mishap_app *app);

/* Close all that are open. No other thread may be using them. */
void mishap_service_close_all(void);

/* The folder of a program's data: NAME_DATA, else where the desktop keeps such things. False if
 * there is none, or no room for its path. */
bool mishap_data_folder(const char *program, char *path, size_t size);

/* The same for a call with the parameter `data`, which comes first; NULL if there is none. */
const char *mishap_call_data_folder(mishap_call *call);

/* How strict the sandbox is to be: what the parameter `sandbox` says, if there is one, else the
 * environment variable NAME_SANDBOX of the program. Anything but "weak" is strict. */
mishap_sandbox_mode mishap_sandbox_mode_of(const char *program, const char *named);

/* -- checks ------------------------------------------------------------------------------------ */

/* Read a text as a JSON object without any flaw of base/json_read.h. Else it is BAD_REQUEST, which
 * says what is wrong at which line and column. It is meant for these parameters (may be NULL):
 * nothing in a secret one is quoted. */
mishap *mishap_object_read(mishap_json_reader *reader, mishap_text text,
                           const mishap_param *params);

enum { MISHAP_MOST_FINDINGS = 100 };

/*
 * Hold an object against the rules of its parameters. All findings are collected, in the order of
 * declaration, up to MISHAP_MOST_FINDINGS; then the mishap tells `findings_left_out` with their
 * number. NULL if all rules hold, else one VALIDATION_ERROR; INTERNAL_ERROR if a pattern hit its
 * limit, for that is neither a match nor none.
 */
mishap *mishap_params_check(const mishap_param *params, yyjson_val *object);

/* The same with rules across the parameters; they may be NULL. Functions among them are not
 * called. */
mishap *mishap_arguments_check(const mishap_param *params, const mishap_relation *rules,
                               yyjson_val *object);

/*
 * Members that are not declared, at any depth, of an object and of what is in it: NULL if there are
 * none. Else one VALIDATION_ERROR with all findings about `checked`, which is the same object
 * unless its values are still to be read, and then an unknown_field for each. `known` may be NULL;
 * it says of a name which is not declared that it is right all the same.
 */
typedef bool mishap_name_test(const void *state, mishap_text name);
mishap *mishap_params_refuse_unknown(const mishap_param *params, const mishap_relation *rules,
                                     yyjson_val *named, yyjson_val *checked,
                                     mishap_name_test *known, const void *state);

/* Hold an object that an operation answers with against what it declares, by the rules that its
 * schema states: an empty string is there, and may have a NUL in it. */
mishap *mishap_answers_check(const mishap_param *answers, yyjson_val *object);

/* A JSON Schema (2020-12) of the parameters, as an object. In the closed one nothing stands that is
 * not declared, at any depth. */
void mishap_params_put_schema(mishap_buffer *buffer, const mishap_param *params);

/* Before `.header` of a parameter: the name of the header that repeats it, for clients of MCP. */
#define MISHAP_PARAM_HEADER "Mcp-Param-"
enum { MISHAP_PARAM_HEADER_LONGEST = 40 }; /* characters of `.header` */

/* The name of a type as findings and schemas spell it: string, integer, number, boolean, string
 * (enum), array, object. */
const char *mishap_param_type_name(mishap_type_of_param type);

/*
 * A word of the command line, the text of a query, a path, an address or a prompt's argument as the
 * JSON of a type: 7, 7.5, true, an object or an array. What cannot be read so becomes a string, and
 * the checks say what is wrong with it. Nothing at all is true: ?live
 *
 * False: it is JSON that two readers can see differently (base/json_read.h), and is not to be used.
 */
bool mishap_put_spelled(mishap_buffer *buffer, mishap_type_of_param type, mishap_text text);

/* -- patterns ---------------------------------------------------------------------------------- */

typedef enum mishap_match { MISHAP_MATCH_NO, MISHAP_MATCH_YES, MISHAP_MATCH_GAVE_UP } mishap_match;

/* Search for a pattern in a text. Patterns are compiled once and kept; any thread may ask. */
mishap_match mishap_pattern_search(const char *pattern, mishap_text text);

/* NULL if the pattern can be compiled, else why not, in words that live for ever. */
const char *mishap_pattern_flaw(const char *pattern);

/*
 * A pattern of the caller, outside of the table that only grows: for patterns of others. False:
 * there is no memory. `made` is NULL if the pattern cannot be compiled. Any thread may search with
 * it; a search that needs too many steps gives up.
 */
typedef struct mishap_pattern mishap_pattern;
bool mishap_pattern_make(const char *pattern, mishap_pattern **made);
mishap_match mishap_pattern_match(mishap_pattern *pattern, mishap_text text);
void mishap_pattern_free(mishap_pattern *pattern);

#endif
