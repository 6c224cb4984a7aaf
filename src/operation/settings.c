#include "operation/settings.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "operation/call.h"

/* -- which there are --------------------------------------------------------------------------- */

static size_t add_service(const mishap_service *services[MISHAP_MOST_SERVICES], size_t count,
                          const mishap_service *service)
{
    size_t i = 0;
    while (i < count && services[i] != service)
        i++;
    if (i < count || !service || count == MISHAP_MOST_SERVICES)
        return count;
    services[count] = service;
    return count + 1;
}

size_t mishap_services_of(const mishap_app *app,
                          const mishap_service *services[MISHAP_MOST_SERVICES])
{
    size_t count = 0;
    for (size_t i = 0; app->services && app->services[i]; i++)
        count = add_service(services, count, app->services[i]);
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        count = add_service(services, count, o->service);
    return count;
}

bool mishap_setting_names(const mishap_app *app, const mishap_service *service,
                          const mishap_param *setting, mishap_arena *arena, const char **name,
                          const char **variable)
{
    size_t length = strlen(service->name) + strlen(setting->name) + sizeof "_";
    size_t size = strlen(app->name) + length + sizeof "_";
    char *joined = mishap_arena_take(arena, length), *capitals = mishap_arena_take(arena, size);
    if (!joined || !capitals)
        return false;
    snprintf(joined, length, "%s_%s", service->name, setting->name);
    mishap_system_variable_of(app->name, joined, capitals, size);
    *name = joined;
    *variable = capitals;
    return true;
}

static bool is_store(const mishap_param *setting)
{
    return setting->type == MISHAP_STRING && strcmp(setting->name, "store") == 0;
}

bool mishap_service_has_store(const mishap_service *service)
{
    for (const mishap_param *setting = service->settings; setting && setting->name; setting++)
        if (is_store(setting))
            return true;
    return false;
}

bool mishap_app_has_store(const mishap_app *app)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    size_t count = mishap_services_of(app, services);
    for (size_t i = 0; i < count; i++)
        if (mishap_service_has_store(services[i]))
            return true;
    return false;
}

/* -- what is in use ---------------------------------------------------------------------------- */

/* A document that this process keeps. */
struct document {
    char *text;
    mishap_json_reader reader;
};

static struct document given, file;
static bool given_by_flags;

/* What was read of one service. An entry, once counted, does not change until all are forgotten. */
static struct entry {
    const mishap_service *service;
    mishap_param declared; /* an object with the settings as its members */
    struct document values;
    mishap_call *holder;
    mishap_call_part part;
} entries[MISHAP_MOST_SERVICES];
static _Atomic size_t known;

static void release_document(struct document *document)
{
    mishap_json_reader_release(&document->reader);
    mishap_release(document->text);
    *document = (struct document){ 0 };
}

static bool keep_text(struct document *document, mishap_text text)
{
    document->text = mishap_allocate(text.length + 1);
    if (!document->text)
        return false;
    memcpy(document->text, text.data, text.length);
    document->text[text.length] = '\0';
    return true;
}

static void forget(void)
{
    for (size_t count = atomic_exchange(&known, 0); count; count--) {
        release_document(&entries[count - 1].values);
        mishap_call_end(entries[count - 1].holder);
    }
    release_document(&given);
    release_document(&file);
    given_by_flags = false;
}

static struct entry *find_entry(const mishap_service *service)
{
    size_t count = atomic_load_explicit(&known, memory_order_acquire);
    for (size_t i = 0; service && i < count; i++)
        if (entries[i].service == service)
            return &entries[i];
    return NULL;
}

bool mishap_settings_find(const mishap_service *service, const mishap_param **declared,
                          yyjson_val **value)
{
    const struct entry *entry = find_entry(service);
    if (entry) {
        *declared = &entry->declared;
        *value = entry->values.reader.root;
    }
    return entry;
}

/* Values that hold. */
static mishap *keep_values(const mishap_app *app, const mishap_service *service, mishap_text values)
{
    static const mishap_operation reading = { .name = "settings" };
    size_t count = atomic_load_explicit(&known, memory_order_relaxed);
    struct entry *entry = &entries[count];
    if (count == MISHAP_MOST_SERVICES)
        return mishap_raise(INTERNAL_ERROR, "There are more than %d services.",
                            MISHAP_MOST_SERVICES);
    *entry = (struct entry){
        .service = service,
        .declared = { .name = service->name, .type = MISHAP_OBJECT, .members = service->settings }
    };
    mishap *failure = mishap_call_begin(app, &reading, (mishap_text)MISHAP_TEXT("{}"),
                                        &entry->holder);
    if (!failure && (!keep_text(&entry->values, values) ||
                     !mishap_json_read(&entry->values.reader,
                                       (mishap_text){ entry->values.text, values.length })))
        failure = mishap_out_of_memory();
    if (failure) {
        release_document(&entry->values);
        mishap_call_end(entry->holder);
        return failure;
    }
    entry->part = (mishap_call_part){ .call = entry->holder,
                                      .param = &entry->declared,
                                      .value = entry->values.reader.root };
    atomic_store_explicit(&known, count + 1, memory_order_release);
    return NULL;
}

/* -- names ------------------------------------------------------------------------------------- */

static size_t count_options(const mishap_app *app)
{
    size_t count = 0;
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        count += o->resident ? mishap_param_count(o->params) : 0;
    return count;
}

/*
 * What may stand at the top of a file: a member for each service with settings, and the options of
 * the commands that serve, whose values are checked by those. NULL: no memory.
 */
static mishap_param *list_names(const mishap_app *app, mishap_arena *arena, bool options)
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

static mishap *read_document(const mishap_app *app, struct document *document, mishap_text text,
                             bool options)
{
    mishap_arena arena;
    if (!text.data)
        return NULL;
    mishap_arena_init(&arena, NULL, 0);
    const mishap_param *names = list_names(app, &arena, options);
    mishap *failure = names && keep_text(document, text)
                          ? mishap_object_read(&document->reader,
                                               (mishap_text){ document->text, text.length }, names)
                          : mishap_out_of_memory();
    mishap_arena_release(&arena);
    return failure;
}

mishap *mishap_settings_use(const mishap_app *app, const mishap_settings_from *from)
{
    forget();
    if (!from)
        return NULL;
    given_by_flags = from->flags;
    mishap *failure = read_document(app, &given, from->given, false);
    if (!failure)
        failure = read_document(app, &file, from->file, true);
    if (failure)
        forget();
    return failure;
}

yyjson_val *mishap_settings_in_file(const char *name)
{
    yyjson_val *value = yyjson_obj_get(file.reader.root, name);
    return yyjson_is_null(value) ? NULL : value;
}

/* -- reading and checking ---------------------------------------------------------------------- */

/* Where a value came from, and so how it is called. */
struct source {
    const char *name;
    mishap_text json; /* no data: there is no value */
};

struct gathering {
    const mishap_app *app;
    mishap_arena arena;
    mishap_param *params; /* each setting, under the name that its value came by */
    size_t count;
    mishap_buffer checked; /* the values under those names, as an object */
    mishap *found;         /* all findings; NULL as long as there are none */
    bool no_memory;
};

static void add_finding(struct gathering *g, const mishap_field *field)
{
    if (!g->found)
        g->found = mishap_raise(NOT_CONFIGURED, NULL);
    mishap_field_add(g->found, field);
}

/* Take the findings out of a mishap, which is freed. Any other failure is returned. */
static mishap *take_findings(struct gathering *g, mishap *failure)
{
    const mishap_public *told = failure ? mishap_told(failure) : NULL;
    if (!told || told->code != MISHAP_CODE_VALIDATION_ERROR)
        return failure;
    for (const mishap_field *field = told->fields; field; field = field->next)
        add_finding(g, field);
    mishap_free(failure);
    return NULL;
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
static mishap *check_names(struct gathering *g, const struct document *document, bool options)
{
    char storage[256];
    mishap_json_reader none = MISHAP_JSON_READER_IN(storage);
    if (!document->reader.root)
        return NULL;
    mishap_param *names = list_names(g->app, &g->arena, options);
    if (!names || !mishap_json_read(&none, (mishap_text)MISHAP_TEXT("{}")))
        return mishap_out_of_memory();
    mishap *failure = take_findings(
        g, mishap_params_refuse_unknown(names, document->reader.root, none.root, NULL, NULL));
    keep_services(names);
    if (!failure)
        failure = take_findings(g, mishap_params_check(names, document->reader.root));
    mishap_json_reader_release(&none);
    return failure;
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
static bool look_in(struct gathering *g, const struct document *document,
                    const mishap_service *service, const mishap_param *setting, bool *for_all,
                    struct source *found)
{
    yyjson_val *root = document->reader.root;
    yyjson_val *value = yyjson_obj_get(yyjson_obj_get(root, service->name), setting->name);
    *for_all = false;
    if (!value && is_store(setting)) {
        value = yyjson_obj_get(root, "store");
        *for_all = true;
    }
    if (!value || yyjson_is_null(value) || (*for_all && yyjson_is_obj(value)))
        return false;
    found->json = copy_json(g, value);
    return true;
}

/* The text of a variable as JSON. What is no text at all is found wrong here. */
static bool read_variable(struct gathering *g, const mishap_param *setting, const char *variable,
                          struct source *found)
{
    const char *value = getenv(variable);
    mishap_text text = mishap_text_of(value);
    mishap_buffer json = { 0 };
    if (!value || !*value)
        return false;
    if (mishap_utf8_valid_length(text) < text.length) {
        add_finding(g, &(mishap_field){ .field = mishap_text_of(variable),
                                        .error = MISHAP_TEXT("not_utf8") });
        return false;
    }
    if (setting->type == MISHAP_ARRAY && *value != '[') { /* one item */
        mishap_json_open(&json, '[');
        mishap_put_spelled(&json, setting->items->type, text);
        mishap_json_close(&json, ']');
    } else {
        mishap_put_spelled(&json, setting->type, text);
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
    struct source found = { "", { NULL, 0 } };
    const char *name, *variable;
    bool for_all;
    if (!mishap_setting_names(g->app, service, setting, &g->arena, &name, &variable)) {
        g->no_memory = true;
        return found;
    }
    if (look_in(g, &given, service, setting, &for_all, &found))
        found.name = given_by_flags ? flag_of(g, for_all ? "store" : name)
                     : for_all      ? "store"
                                    : member_of(g, service, setting);
    else if (!read_variable(g, setting, variable, &found) &&
             look_in(g, &file, service, setting, &for_all, &found))
        found.name = for_all ? "store" : member_of(g, service, setting);
    if (!found.json.data) /* it can only be missing */
        found.name = given_by_flags ? flag_of(g, name) : member_of(g, service, setting);
    return found;
}

/* One service: its values under their names, to be checked, and as they are kept. */
static void gather(struct gathering *g, const mishap_service *service, mishap_buffer *values)
{
    mishap_json_open(values, '{');
    for (const mishap_param *setting = service->settings; setting->name; setting++) {
        struct source source = find_source(g, service, setting);
        g->params[g->count] = *setting;
        g->params[g->count++].name = source.name;
        if (source.json.data) {
            mishap_json_key(&g->checked, mishap_text_of(source.name));
            mishap_buffer_put_text(&g->checked, source.json);
        }
        mishap_text kept = source.json.data ? source.json : mishap_text_of(setting->initial);
        if (kept.data) {
            mishap_json_key(values, mishap_text_of(setting->name));
            mishap_buffer_put_text(values, kept);
        }
    }
    mishap_json_close(values, '}');
}

static mishap *check_values(struct gathering *g)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_json_close(&g->checked, '}');
    bool whole = !g->checked.failed && !g->no_memory &&
                 mishap_json_read(&reader, mishap_buffer_text(&g->checked));
    mishap *failure = whole ? take_findings(g, mishap_params_check(g->params, reader.root))
                            : mishap_out_of_memory();
    mishap_json_reader_release(&reader);
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

/* Those of the services that were not read yet. */
static mishap *read_services(struct gathering *g, const mishap_service *const *services,
                             size_t count)
{
    mishap_buffer values[MISHAP_MOST_SERVICES] = { 0 };
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += mishap_param_count(services[i]->settings);
    g->params = mishap_arena_take(&g->arena, (total + 1) * sizeof *g->params);
    if (!g->params)
        return mishap_out_of_memory();
    memset(g->params, 0, (total + 1) * sizeof *g->params);
    mishap_json_open(&g->checked, '{');
    for (size_t i = 0; i < count; i++)
        if (services[i]->settings && !find_entry(services[i])) {
            gather(g, services[i], &values[i]);
            g->no_memory = g->no_memory || values[i].failed;
        }
    mishap *failure = check_values(g);
    for (size_t i = 0; i < count; i++) {
        if (!failure && !g->found && values[i].length)
            failure = keep_values(g->app, services[i], mishap_buffer_text(&values[i]));
        mishap_buffer_release(&values[i]);
    }
    return failure;
}

static mishap *read_all(const mishap_app *app, const mishap_service *const *services, size_t count,
                        bool names)
{
    struct gathering g = { .app = app };
    mishap *failure = NULL;
    mishap_arena_init(&g.arena, NULL, 0);
    if (names && !given_by_flags)
        failure = check_names(&g, &given, false);
    if (names && !failure)
        failure = check_names(&g, &file, true);
    if (!failure)
        failure = read_services(&g, services, count);
    mishap_buffer_release(&g.checked);
    mishap_arena_release(&g.arena);
    if (failure || !g.found) {
        mishap_free(g.found);
        return failure;
    }
    word_message(g.found);
    return g.found;
}

mishap *mishap_settings_check(const mishap_app *app, const mishap_service *only)
{
    const mishap_service *services[MISHAP_MOST_SERVICES] = { only };
    size_t count = only ? 1 : mishap_services_of(app, services);
    return read_all(app, services, count, true);
}

/* -- for services and handlers ----------------------------------------------------------------- */

mishap *mishap_settings_open(const mishap_app *app, const mishap_service *service,
                             const mishap_call **settings, mishap_call **holder)
{
    *settings = NULL;
    *holder = NULL;
    if (!service->settings)
        return NULL;
    mishap *failure = find_entry(service) ? NULL : read_all(app, &service, 1, false);
    struct entry *entry = failure ? NULL : find_entry(service);
    if (entry) {
        *settings = (const mishap_call *)&entry->part;
        *holder = entry->holder;
    }
    return failure;
}

const mishap_call *mishap_settings(mishap_call *part)
{
    mishap_call *call = mishap_call_whole(part);
    const struct entry *entry = find_entry(call->operation->service);
    if (!entry)
        mishap_call_misuse(call, "it asked for settings, but its service declares none", "");
    mishap_call_part *settings = mishap_call_take(call, sizeof *settings);
    *settings = (mishap_call_part){ .call = call,
                                    .param = &entry->declared,
                                    .value = entry->values.reader.root };
    return (const mishap_call *)settings;
}
