/* Check the declarations of services and their settings. The flag, the variable and the member
 * of the file of each setting must be unique. */
#include <stdio.h>

#include "operation/declare.h"
#include "operation/settings.h"

enum { LONGEST_NAME = 100 };

/* Flags of two words that every command has, or every command with a body. */
static const char *const common[] = { "timeout_ms", "body_type", NULL };

/* Check what only settings must not have, since it would be misleading. */
static mishap *check_setting(const mishap_declared *what, const mishap_param *setting)
{
    if (!mishap_words_valid(setting->name, '_', ""))
        return mishap_declared_wrongly(what, "has a name that is not lower_snake");
    if (strlen(setting->name) > LONGEST_NAME)
        return mishap_declared_wrongly(what, "has a name of more than %d bytes", LONGEST_NAME);
    if (setting->letter || setting->positional || setting->environment)
        return mishap_declared_wrongly(
            what, "has a short flag, a position or a variable, which only parameters can have");
    return NULL;
}

/* Commands that serve have the flags of all services, other commands only those of their own
 * service. */
static mishap *check_flag(const mishap_declared *what, const char *flag)
{
    for (size_t i = 0; common[i]; i++)
        if (mishap_same_flag(common[i], flag))
            return mishap_declared_wrongly(
                what, "would have the same flag as an option of every command");
    for (const mishap_operation *o = what->app->operations; o->name; o++)
        for (const mishap_param *p = o->resident || o->service == what->service ? o->params : NULL;
             p && p->name; p++)
            if (mishap_same_flag(p->name, flag))
                return mishap_declared_wrongly(
                    what, "would have the same flag as the parameter `%s` of the operation `%s`",
                    p->name, o->name);
    return NULL;
}

static mishap *check_against(const mishap_declared *what, const char *flag,
                             const mishap_service *earlier)
{
    char other[2 * LONGEST_NAME + 2];
    for (const mishap_param *setting = earlier->settings; setting && setting->name; setting++) {
        mishap_setting_join(earlier, setting, other, sizeof other);
        if (mishap_same_flag(other, flag))
            return mishap_declared_wrongly(
                what, "would have the same flag as the setting `%s` of the service `%s`",
                setting->name, earlier->name);
    }
    return NULL;
}

static mishap *check_settings(const mishap_app *app, const mishap_service *const *services,
                              size_t number, bool shape_only)
{
    const mishap_service *service = services[number];
    mishap_declared all = { .app = app, .service = service, .shape_only = shape_only };
    mishap *m = mishap_params_declared(&all, service->settings);
    for (const mishap_param *setting = service->settings; !m && setting->name; setting++) {
        char flag[2 * LONGEST_NAME + 2];
        mishap_declared what = { .app = app, .param = setting->name, .service = service };
        mishap_setting_join(service, setting, flag, sizeof flag);
        m = check_setting(&what, setting);
        if (!m)
            m = check_flag(&what, flag);
        for (size_t i = 0; !m && i < number; i++)
            m = check_against(&what, flag, services[i]);
    }
    return m;
}

/* The name of a service with settings is a part of flags, and a member of the configuration file,
 * beside the options of commands that serve. */
static mishap *check_name(const mishap_declared *what)
{
    const char *name = what->service->name;
    if (!mishap_words_valid(name, '-', "_") || strlen(name) > LONGEST_NAME)
        return mishap_declared_wrongly(
            what, "has settings, but its name is not lower-case words separated by - or _");
    for (const mishap_operation *o = what->app->operations; o->name; o++)
        for (const mishap_param *p = o->resident ? o->params : NULL; p && p->name; p++)
            if (strcmp(p->name, name) == 0)
                return mishap_declared_wrongly(
                    what, "has settings, but its name is the name of an option of the command `%s`",
                    o->name);
    return NULL;
}

/* Only dialects in which an agent can be told of a failure. */
static mishap *check_dialect(const mishap_declared *what)
{
    static const char *const dialects[] = { "tool-result", "condition-report", "artifact" };
    const char *name = what->service->dialect;
    for (size_t i = 0; name && i < sizeof dialects / sizeof *dialects; i++)
        if (strcmp(name, dialects[i]) == 0)
            return NULL;
    return name ? mishap_declared_wrongly(what,
                                          "has the dialect `%s`, which is none of %s, %s and %s",
                                          name, dialects[0], dialects[1], dialects[2])
                : NULL;
}

/* Only dialects whose documents are JSON, and that contain what an HTTP client needs. */
static mishap *check_http_dialect(const mishap_declared *what)
{
    static const char *const dialects[] = { "http-api", "tool-result", "artifact",
                                            "problem",  "json-api",    "google-rpc" };
    const char *name = what->service->http_dialect;
    for (size_t i = 0; name && i < sizeof dialects / sizeof *dialects; i++)
        if (strcmp(name, dialects[i]) == 0)
            return NULL;
    return name ? mishap_declared_wrongly(what,
                                          "has the HTTP dialect `%s`, which is none of %s, %s, %s, "
                                          "%s, %s and %s",
                                          name, dialects[0], dialects[1], dialects[2], dialects[3],
                                          dialects[4], dialects[5])
                : NULL;
}

/* A foreign program, or the server process itself, cannot settle calls together. */
static mishap *check_settlement(const mishap_declared *what)
{
    const mishap_service *service = what->service;
    if (!service->settlement)
        return NULL;
    if (!service->settlement->settle &&
        (service->settlement->begin || service->settlement->end || !service->settlement->apart))
        return mishap_declared_wrongly(what, "has a settlement without settle()");
    if (service->worker)
        return mishap_declared_wrongly(what,
                                       "has a settlement, but a foreign program runs its calls");
    for (const mishap_operation *o = what->app->operations; o->name; o++)
        if (o->service == service && o->quick)
            return mishap_declared_wrongly(
                what, "has a settlement, but its operation `%s` is quick", o->name);
    return NULL;
}

static mishap *check_trial(const mishap_declared *what)
{
    const mishap_trial *trial = what->service->trial;
    if (!trial)
        return NULL;
    if (!trial->operation || trial->operation->service != what->service)
        return mishap_declared_wrongly(what, "has a trial that is no operation of it");
    if (!trial->arguments || !trial->member || !trial->expected)
        return mishap_declared_wrongly(what, "has a trial without arguments or an expected answer");
    return NULL;
}

mishap *mishap_services_declared(const mishap_app *app, bool shape_only)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    size_t count = mishap_services_of(app, services);
    mishap *m = NULL;
    for (size_t i = 0; i < count && !m; i++) {
        mishap_declared what = { .app = app, .service = services[i] };
        if (!services[i]->name || !*services[i]->name)
            return mishap_declared_wrongly(&(mishap_declared){ .app = app },
                                           "has a service without a name");
        for (size_t earlier = 0; earlier < i && !m; earlier++)
            if ((services[i]->settings || services[earlier]->settings) &&
                strcmp(services[i]->name, services[earlier]->name) == 0)
                m = mishap_declared_wrongly(&what,
                                            "is declared twice, and one declaration has settings");
        if (!m)
            m = check_dialect(&what);
        if (!m)
            m = check_http_dialect(&what);
        if (!m)
            m = check_settlement(&what);
        if (!m)
            m = check_trial(&what);
        if (!m && services[i]->settings)
            m = check_name(&what);
        if (!m && services[i]->settings)
            m = check_settings(app, services, i, shape_only);
    }
    return m;
}
