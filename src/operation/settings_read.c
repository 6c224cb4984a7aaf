/*
 * Reading and checking settings: for each the first value that there is, under the name by which it
 * came, so that a finding names what the operator has written.
 */
#include <stdio.h>
#include <stdlib.h>

#include "operation/settings.h"

/* -- names ------------------------------------------------------------------------------------- */

static size_t count_options(const mishap_app *app)
{
    size_t count = 0;
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        count += o->resident ? mishap_param_count(o->params) : 0;
    return count;
}

mishap_param *mishap_settings_names(const mishap_app *app, mishap_arena *arena, bool options)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    size_t count = mishap_services_of(app, services), used = 0;
    size_t room = count + count_options(app) + 2;
    mishap_param *names = mishap_arena_take(arena, room * sizeof *names);
    if (!names)
        return NULL;
    memset(names, 0, room * sizeof *names);
    for (size_t i = 0; i < count; i++)
        if (services[i]->settings)
            names[used++] = (mishap_param){ .name = services[i]->name,
                                            .type = MISHAP_OBJECT,
                                            .members = services[i]->settings };
    if (mishap_app_has_store(app))
        names[used++] = (mishap_param){ .name = "store", .type = MISHAP_STRING };
    for (const mishap_operation *o = app->operations; options && o && o->name; o++)
        for (const mishap_param *p = o->resident ? o->params : NULL; p && p->name; p++)
            names[used++] = (mishap_param){ .name = p->name, .type = p->type, .secret = p->secret };
    return names;
}

/* -- reading and checking ---------------------------------------------------------------------- */

/* Where a value came from, and so how it is called. */
struct source {
    const char *name;
    mishap_text json; /* no data: there is no value */
    bool named;       /* names in it were checked with those of its document */
};

struct gathering {
    const mishap_app *app;
    const mishap_settings_sources *from;
    mishap_arena arena;
    mishap *found; /* all findings; NULL as long as there are none */
    bool no_memory;
};

void mishap_settings_add_finding(mishap **found, const mishap_field *field)
{
    if (!*found)
        *found = mishap_raise(NOT_CONFIGURED, NULL);
    mishap_field_add(*found, field);
}

mishap *mishap_settings_take_findings(mishap **found, mishap *failure, const mishap_code *code)
{
    const mishap_public *told = failure ? mishap_told(failure) : NULL;
    if (!told || told->code != code)
        return failure;
    for (const mishap_field *field = told->fields; field; field = field->next)
        mishap_settings_add_finding(found, field);
    mishap_free(failure);
    return NULL;
}

static mishap *check_values(struct gathering *g, const mishap_param *params, yyjson_val *values)
{
    return mishap_settings_take_findings(&g->found, mishap_params_check(params, values),
                                         MISHAP_CODE_VALIDATION_ERROR);
}

/* Names that are not among those of the parameters; `knows` as in mishap_params_refuse_unknown().
 */
static mishap *check_known(struct gathering *g, const mishap_param *params, yyjson_val *values,
                           mishap_name_test *knows)
{
    char storage[256];
    mishap_json_reader none = MISHAP_JSON_READER_IN(storage);
    if (!mishap_json_read(&none, (mishap_text)MISHAP_TEXT("{}")))
        return mishap_out_of_memory();
    mishap *failure = mishap_params_refuse_unknown(params, NULL, values, none.root, knows, NULL);
    mishap_json_reader_release(&none);
    return mishap_settings_take_findings(&g->found, failure, MISHAP_CODE_VALIDATION_ERROR);
}

/* Of the names only those of services, without what is in them: that may come from elsewhere, and
 * is checked then. */
static void keep_services(mishap_param *names)
{
    size_t kept = 0;
    for (size_t i = 0; names[i].name; i++)
        if (names[i].members)
            names[kept++] = (mishap_param){ .name = names[i].name, .type = MISHAP_OBJECT };
    names[kept] = (mishap_param){ 0 };
}

/* Names that nothing has, and services that are no objects. */
static mishap *check_names(struct gathering *g, yyjson_val *root, bool options)
{
    if (!root)
        return NULL;
    mishap_param *names = mishap_settings_names(g->app, &g->arena, options);
    if (!names)
        return mishap_out_of_memory();
    mishap *failure = check_known(g, names, root, NULL);
    keep_services(names);
    return failure ? failure : check_values(g, names, root);
}

static const char *join(struct gathering *g, const char *first, const char *second)
{
    size_t size = strlen(first) + strlen(second) + 1;
    char *text = mishap_arena_take(&g->arena, size);
    g->no_memory = g->no_memory || !text;
    if (text)
        snprintf(text, size, "%s%s", first, second);
    return text ? text : "";
}

/* --lisp-folder for lisp_folder. */
static const char *flag_of(struct gathering *g, const char *name)
{
    size_t size = strlen(name) + sizeof "--";
    char *flag = mishap_arena_take(&g->arena, size);
    g->no_memory = g->no_memory || !flag;
    if (!flag)
        return "";
    snprintf(flag, size, "--%s", name);
    for (char *c = flag; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return flag;
}

static const char *member_of(struct gathering *g, const mishap_service *service,
                             const mishap_param *setting)
{
    return join(g, join(g, service->name, "."), setting->name);
}

static mishap_text copy_json(struct gathering *g, yyjson_val *value)
{
    mishap_buffer json = { 0 };
    mishap_json_copy(&json, value);
    mishap_text kept = { NULL, 0 };
    if (!json.failed)
        kept = mishap_arena_copy(&g->arena, mishap_buffer_text(&json));
    g->no_memory = g->no_memory || !kept.data;
    mishap_buffer_release(&json);
    return kept;
}

/* A member of a service in a document, or what stands there for all services. */
static bool look_in(struct gathering *g, yyjson_val *root, const mishap_service *service,
                    const mishap_param *setting, bool *for_all, struct source *found)
{
    yyjson_val *value = yyjson_obj_get(yyjson_obj_get(root, service->name), setting->name);
    *for_all = false;
    if (!value && mishap_setting_is_store(setting)) {
        value = yyjson_obj_get(root, "store");
        *for_all = true;
    }
    if (!value || yyjson_is_null(value) || (*for_all && yyjson_is_obj(value)))
        return false;
    found->json = copy_json(g, value);
    return true;
}

static void refuse_variable(struct gathering *g, const char *variable, const char *error,
                            const char *what)
{
    const char *sentence = what ? join(g, variable, what) : NULL;
    mishap_settings_add_finding(&g->found, &(mishap_field){ .field = mishap_text_of(variable),
                                                            .error = mishap_text_of(error),
                                                            .message = mishap_text_of(sentence) });
}

/* The value of a variable as JSON. It is refused here if it is not text, or JSON that is not
 * allowed. */
static bool read_variable(struct gathering *g, const mishap_param *setting, const char *variable,
                          struct source *found)
{
    const char *value = getenv(variable);
    mishap_text text = mishap_text_of(value);
    mishap_buffer json = { 0 };
    if (!value || !*value)
        return false;
    if (mishap_utf8_valid_length(text) < text.length) {
        refuse_variable(g, variable, "not_utf8", NULL);
        return false;
    }
    bool sound;
    if (setting->type == MISHAP_ARRAY && *value != '[') { /* one item */
        mishap_json_open(&json, '[');
        sound = mishap_put_spelled(&json, setting->items ? setting->items->type : MISHAP_STRING,
                                   text);
        mishap_json_close(&json, ']');
    } else {
        sound = mishap_put_spelled(&json, setting->type, text);
    }
    if (!sound && !json.failed) {
        refuse_variable(g, variable, "malformed_value",
                        " is JSON with a flaw: a key twice in an object or with a NUL in it, half "
                        "of a surrogate pair, or too many levels.");
        mishap_buffer_release(&json);
        return false;
    }
    found->name = variable;
    found->json = mishap_arena_copy(&g->arena, mishap_buffer_text(&json));
    g->no_memory = g->no_memory || json.failed || !found->json.data;
    mishap_buffer_release(&json);
    return true;
}

static struct source find_source(struct gathering *g, const mishap_service *service,
                                 const mishap_param *setting)
{
    struct source found = { .name = "" };
    const char *name, *variable;
    bool for_all;
    if (!mishap_setting_names(g->app, service, setting, &g->arena, &name, &variable)) {
        g->no_memory = true;
        return found;
    }
    if (look_in(g, g->from->given, service, setting, &for_all, &found)) {
        found.named = !g->from->flags;
        found.name = g->from->flags ? flag_of(g, for_all ? "store" : name)
                     : for_all      ? "store"
                                    : member_of(g, service, setting);
    } else if (!read_variable(g, setting, variable, &found) &&
               look_in(g, g->from->file, service, setting, &for_all, &found)) {
        found.named = true;
        found.name = for_all ? "store" : member_of(g, service, setting);
    }
    if (!found.json.data) /* it can only be missing */
        found.name = g->from->flags ? flag_of(g, name) : member_of(g, service, setting);
    return found;
}

/* One service: its values by the names that they came by, in `named`, which are those of `params`;
 * and as they are kept, with defaults, in `values`. `open`: those in which names are still to be
 * checked. */
static void gather(struct gathering *g, const mishap_service *service, mishap_param *params,
                   mishap_param *open, mishap_buffer *named, mishap_buffer *values)
{
    mishap_json_open(named, '{');
    mishap_json_open(values, '{');
    for (const mishap_param *setting = service->settings; setting->name; setting++, params++) {
        struct source source = find_source(g, service, setting);
        *params = *setting;
        params->name = source.name;
        if (source.json.data && !source.named) {
            *open = *params;
            open++->required = false; /* that is said elsewhere */
        }
        if (source.json.data) {
            mishap_json_key(named, mishap_text_of(source.name));
            mishap_buffer_put_text(named, source.json);
        }
        mishap_text kept = source.json.data ? source.json : mishap_text_of(setting->initial);
        if (kept.data) {
            mishap_json_key(values, mishap_text_of(setting->name));
            mishap_buffer_put_text(values, kept);
        }
    }
    *params = *open = (mishap_param){ 0 };
    mishap_json_close(named, '}');
    mishap_json_close(values, '}');
}

static bool know_all(const void *state, mishap_text name)
{
    (void)state;
    (void)name;
    return true;
}

/* One service after the other: in all of them the same name may stand for a value, --store. */
static mishap *read_service(struct gathering *g, const mishap_service *service,
                            mishap_buffer *values)
{
    mishap_buffer named = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t count = mishap_param_count(service->settings);
    mishap_param *params = mishap_arena_take(&g->arena, (count + 1) * sizeof *params);
    mishap_param *open = mishap_arena_take(&g->arena, (count + 1) * sizeof *open);
    if (!params || !open)
        return mishap_out_of_memory();
    gather(g, service, params, open, &named, values);
    bool whole = !named.failed && !values->failed && !g->no_memory &&
                 mishap_json_read(&reader, mishap_buffer_text(&named));
    /* The names in the objects that came by flags and variables are checked as well. */
    mishap *failure = whole ? check_known(g, open, reader.root, know_all) : mishap_out_of_memory();
    if (!failure)
        failure = check_values(g, params, reader.root);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&named);
    return failure;
}

/* All findings in one sentence: their names. */
static void word_message(mishap *found)
{
    const mishap_public *told = mishap_told(found);
    mishap_buffer message = { 0 };
    mishap_buffer_put_text(&message,
                           told->field_count == 1
                               ? (mishap_text)MISHAP_TEXT("A setting is not valid: ")
                               : (mishap_text)MISHAP_TEXT("Some settings are not valid: "));
    for (const mishap_field *field = told->fields; field; field = field->next) {
        if (field != told->fields)
            MISHAP_PUT(&message, ", ");
        mishap_buffer_put_text(&message, field->field);
    }
    MISHAP_PUT(&message, ".");
    if (!message.failed)
        mishap_message(found, mishap_buffer_text(&message));
    mishap_buffer_release(&message);
}

static bool is_known(const mishap_service *service)
{
    const mishap_param *declared;
    yyjson_val *value;
    return mishap_settings_find(service, &declared, &value);
}

/* Those of the services that were not read yet. */
static mishap *read_services(struct gathering *g, const mishap_service *const *services,
                             size_t count)
{
    mishap_buffer values[MISHAP_MOST_SERVICES] = { 0 };
    mishap *failure = NULL;
    for (size_t i = 0; i < count && !failure; i++)
        if (services[i]->settings && !is_known(services[i]))
            failure = read_service(g, services[i], &values[i]);
    for (size_t i = 0; i < count; i++) {
        if (!failure && !g->found && values[i].length)
            failure = mishap_settings_keep(g->app, services[i], mishap_buffer_text(&values[i]));
        mishap_buffer_release(&values[i]);
    }
    return failure;
}

mishap *mishap_settings_read(const mishap_app *app, const mishap_service *const *services,
                             size_t count, bool names)
{
    struct gathering g = { .app = app, .from = mishap_settings_in_use() };
    mishap *failure = NULL;
    mishap_arena_init(&g.arena, NULL, 0);
    if (names && !g.from->flags)
        failure = check_names(&g, g.from->given, false);
    if (names && !failure)
        failure = check_names(&g, g.from->file, true);
    if (!failure)
        failure = read_services(&g, services, count);
    mishap_arena_release(&g.arena);
    if (failure || !g.found) {
        mishap_free(g.found);
        return failure;
    }
    word_message(g.found);
    return g.found;
}
