/*
 * Settings of services: what an operator sets before a service is opened.
 *
 * A service declares them like parameters. Each has three names: the flag --lisp-folder, the
 * variable NAME_LISP_FOLDER, and the member lisp.folder of a JSON file. The first that gives a
 * value counts, else the default that is declared. Values are read and checked before there are
 * other processes, and belong to the process from then on: a fork has them, too. A flag needs no
 * name of a service where only one has such a setting: --folder (cli/words/words.c).
 *
 * A service may declare a string `store`. The flag --store, or the member `store` at the top of a
 * file, stands for that setting of every service that is given no other one at the same place.
 */
#ifndef MISHAP_OPERATION_SETTINGS_H
#define MISHAP_OPERATION_SETTINGS_H

#include "operation/operation.h"

enum { MISHAP_MOST_SERVICES = 32 };

/* The services of a program: those that it lists, then those that only operations name; each once.
 * Returns how many. */
size_t mishap_services_of(const mishap_app *app,
                          const mishap_service *services[MISHAP_MOST_SERVICES]);

/* The names of a setting: `lisp_folder`, as parameters are named; NAME_LISP_FOLDER. False: there is
 * no memory. */
bool mishap_setting_names(const mishap_app *app, const mishap_service *service,
                          const mishap_param *setting, mishap_arena *arena, const char **name,
                          const char **variable);

/* A setting as parameters are named: `lisp_folder`. One that begins with the name of its service,
 * or its singular, keeps its own: `incident_store` of the service `incidents`. */
void mishap_setting_join(const mishap_service *service, const mishap_param *setting, char *name,
                         size_t size);

/* Is the setting the address of a store, which may have a password in it? */
bool mishap_setting_is_address(const mishap_param *setting);

/* Has the service a setting that --store stands for? And any service of the program? */
bool mishap_service_has_store(const mishap_service *service);
bool mishap_app_has_store(const mishap_app *app);

/* Where settings come from, beside variables. Both are JSON objects: {"lisp":{"folder":"…"}}. */
typedef struct mishap_settings_from {
    mishap_text given; /* what comes first; no data: nothing */
    mishap_text file;  /* what comes after variables; no data: nothing */
    bool flags;        /* what is given was given by flags, which findings name */
} mishap_settings_from;

/*
 * From now on settings come from here; the texts are copied. What was read before is forgotten, so
 * no service may be open. BAD_REQUEST, and then nothing is given: one of them is no sound JSON
 * object. `from` may be NULL.
 */
mishap *mishap_settings_use(const mishap_app *app, const mishap_settings_from *from);

/* A member at the top of the file; NULL: there is none, or it is null. It lives until settings come
 * from elsewhere. */
yyjson_val *mishap_settings_in_file(const char *name);

/*
 * Read and check the settings of one service, or of all if it is NULL, and look for names that
 * nothing has. NULL: all is well, and they are kept. Else one NOT_CONFIGURED with every finding,
 * each under the name of the flag, variable or member that the value came from.
 */
mishap *mishap_settings_check(const mishap_app *app, const mishap_service *only);

/* Add one finding to `*found`, which is raised as NOT_CONFIGURED with the first of them; the
 * function that returns it sets its message. */
void mishap_settings_add_finding(mishap **found, const mishap_field *field);

/* Take the findings out of a failure of this code, which is freed. Any other is returned. */
mishap *mishap_settings_take_findings(mishap **found, mishap *failure, const mishap_code *code);

/* The settings of a service as a part of a call for its open(); NULL if it declares none. They are
 * read if they were not yet. `holder` is the call that they are a part of: the function that opens
 * the service sets its way out. The caller holds the lock of services. */
mishap *mishap_settings_open(const mishap_app *app, const mishap_service *service,
                             const mishap_call **settings, mishap_call **holder);

/* What was read of a service, as an object and how that is declared. False: nothing yet. */
bool mishap_settings_find(const mishap_service *service, const mishap_param **declared,
                          yyjson_val **value);

/* -- between settings.c and settings_read.c ---------------------------------------------------- */

typedef struct mishap_settings_sources {
    yyjson_val *given, *file; /* objects; NULL: nothing */
    bool flags;               /* what is given was given by flags */
} mishap_settings_sources;

const mishap_settings_sources *mishap_settings_in_use(void);

/* What may stand at the top of a document, as a list of parameters in the arena: an object for each
 * service with settings, and in a file the options of the commands that serve, which check those
 * themselves. NULL: no memory. */
mishap_param *mishap_settings_names(const mishap_app *app, mishap_arena *arena, bool options);

bool mishap_setting_is_store(const mishap_param *setting);

/* Read and check the settings of services, those that were read before left out, and with `names`
 * look for names that nothing has; keep them if all hold. */
mishap *mishap_settings_read(const mishap_app *app, const mishap_service *const *services,
                             size_t count, bool names);

/* Keep the values of a service, a JSON object with all that hold. */
mishap *mishap_settings_keep(const mishap_app *app, const mishap_service *service,
                             mishap_text values);

#endif
