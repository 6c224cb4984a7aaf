/* Settings of services: which there are, from where they come, and what was read of each. */
#include "operation/settings.h"

#include <stdatomic.h>
#include <stdio.h>

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

void mishap_setting_join(const mishap_service *service, const mishap_param *setting, char *name,
                         size_t size)
{
    size_t stem = strlen(service->name);
    stem -= stem > 1 && service->name[stem - 1] == 's';
    if (strncmp(setting->name, service->name, stem) == 0 && setting->name[stem] == '_')
        snprintf(name, size, "%s", setting->name);
    else
        snprintf(name, size, "%s_%s", service->name, setting->name);
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
    mishap_setting_join(service, setting, joined, length);
    mishap_system_variable_of(app->name, joined, capitals, size);
    *name = joined;
    *variable = capitals;
    return true;
}

bool mishap_setting_is_store(const mishap_param *setting)
{
    return setting->type == MISHAP_STRING && strcmp(setting->name, "store") == 0;
}

bool mishap_setting_is_address(const mishap_param *setting)
{
    static const char end[] = "_store";
    size_t length = strlen(setting->name);
    return mishap_setting_is_store(setting) ||
           (setting->type == MISHAP_STRING && length >= sizeof end - 1 &&
            strcmp(setting->name + length - (sizeof end - 1), end) == 0);
}

bool mishap_service_has_store(const mishap_service *service)
{
    for (const mishap_param *setting = service->settings; setting && setting->name; setting++)
        if (mishap_setting_is_store(setting))
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
static mishap_settings_sources sources;

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

static void forget_settings(void)
{
    for (size_t count = atomic_exchange(&known, 0); count; count--) {
        release_document(&entries[count - 1].values);
        mishap_call_end(entries[count - 1].holder);
    }
    release_document(&given);
    release_document(&file);
    sources = (mishap_settings_sources){ 0 };
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

mishap *mishap_settings_keep(const mishap_app *app, const mishap_service *service,
                             mishap_text values)
{
    static const mishap_operation reading = { .name = "settings" };
    size_t count = atomic_load_explicit(&known, memory_order_relaxed);
    struct entry *entry = &entries[count];
    if (count == MISHAP_MOST_SERVICES)
        return mishap_raise(INTERNAL_ERROR, "The program has more than %d services.",
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

/* -- from where -------------------------------------------------------------------------------- */

static mishap *read_document(const mishap_app *app, struct document *document, mishap_text text,
                             bool options)
{
    mishap_arena arena;
    if (!text.data)
        return NULL;
    mishap_arena_init(&arena, NULL, 0);
    const mishap_param *names = mishap_settings_names(app, &arena, options);
    mishap *failure = names && keep_text(document, text)
                          ? mishap_object_read(&document->reader,
                                               (mishap_text){ document->text, text.length }, names)
                          : mishap_out_of_memory();
    mishap_arena_release(&arena);
    return failure;
}

mishap *mishap_settings_use(const mishap_app *app, const mishap_settings_from *from)
{
    forget_settings();
    if (!from)
        return NULL;
    mishap *failure = read_document(app, &given, from->given, false);
    if (!failure)
        failure = read_document(app, &file, from->file, true);
    if (failure)
        forget_settings();
    else
        sources = (mishap_settings_sources){ given.reader.root, file.reader.root, from->flags };
    return failure;
}

const mishap_settings_sources *mishap_settings_in_use(void)
{
    return &sources;
}

yyjson_val *mishap_settings_in_file(const char *name)
{
    yyjson_val *value = yyjson_obj_get(file.reader.root, name);
    return yyjson_is_null(value) ? NULL : value;
}

mishap *mishap_settings_check(const mishap_app *app, const mishap_service *only)
{
    const mishap_service *services[MISHAP_MOST_SERVICES] = { only };
    size_t count = only ? 1 : mishap_services_of(app, services);
    return mishap_settings_read(app, services, count, true);
}

/* -- for services and handlers ----------------------------------------------------------------- */

mishap *mishap_settings_open(const mishap_app *app, const mishap_service *service,
                             const mishap_call **settings, mishap_call **holder)
{
    *settings = NULL;
    *holder = NULL;
    if (!service->settings)
        return NULL;
    mishap *failure = find_entry(service) ? NULL : mishap_settings_read(app, &service, 1, false);
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
        mishap_call_misuse(call, "the service asked for settings, but it declares none", "");
    mishap_call_part *settings = mishap_call_take(call, sizeof *settings);
    *settings = (mishap_call_part){ .call = call,
                                    .param = &entry->declared,
                                    .value = entry->values.reader.root };
    return (const mishap_call *)settings;
}
