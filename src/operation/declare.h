/* The parts of the check of declarations: operations in declare.c, their parameters in
 * declare_param.c, what they are for agents in declare_agents.c, services in declare_service.c. */
#ifndef MISHAP_OPERATION_DECLARE_H
#define MISHAP_OPERATION_DECLARE_H

#include "operation/operation.h"

/* What a finding is about. */
typedef struct mishap_declared {
    const mishap_app *app;
    const mishap_operation *operation; /* NULL: the program itself, or a service */
    /* "address.city", "tags[]"; NULL: the operation itself; of a service: a setting. */
    const char *param;
    const mishap_service *service;
    bool shape_only; /* patterns and defaults are not checked */
} mishap_declared;

/* A declaration is wrong. The words continue "it" or "its parameter `age`": "has no summary". */
__attribute__((format(printf, 2, 3))) mishap *mishap_declared_wrongly(const mishap_declared *what,
                                                                      const char *format, ...);

/* Declarations nested deeper than this are taken to contain themselves. */
enum { MISHAP_DEEPEST_PARAM = 16 };

mishap *mishap_params_declared(const mishap_declared *what, const mishap_param *params);

/* True if two names give the same flag, as due_date and dueDate do. */
bool mishap_same_flag(const char *a, const char *b);

/* The scopes of a program, and those that an operation needs. */
mishap *mishap_scopes_declared(const mishap_app *app);
mishap *mishap_scopes_needed(const mishap_declared *what);

/* The services of a program and their settings. */
mishap *mishap_services_declared(const mishap_app *app, bool shape_only);

/* What an operation is for agents, as a resource and as a prompt; and whether it is the same as an
 * earlier one is, or the same tool. */
mishap *mishap_agents_declared(const mishap_declared *what);
mishap *mishap_agents_declared_against(const mishap_declared *what,
                                       const mishap_operation *earlier);

/* Further words for the schema of a parameter, or of an operation: `param` is NULL
 * (schema_words.c). */
mishap *mishap_schema_declared(const mishap_declared *what, const mishap_param *param,
                               const char *schema);

/* Headers that repeat parameters; icons; a page that shows the answers of a tool
 * (declare_agents.c). */
mishap *mishap_param_header_declared(const mishap_declared *what, const mishap_param *param,
                                     bool inner);
mishap *mishap_icons_declared(const mishap_declared *what, const mishap_icon *icons);

/* What an operation asks (declare_asks.c). */
mishap *mishap_asks_declared(const mishap_declared *what);

/* True for lower-case words with this one character between them, each of which starts with a
 * letter: `created_at`, `users.create`. A word may also contain the characters of `inside`. */
bool mishap_words_valid(const char *text, char between, const char *inside);

/* NULL if it is one line of text that can be shown: not blank, without control characters, UTF-8.
 * Else a word for what is wrong. */
const char *mishap_line_flaw(const char *text);

#endif
