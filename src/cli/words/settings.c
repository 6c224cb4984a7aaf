/*
 * Settings of services as flags, and the file that --config names. operation/settings.h defines
 * settings, and which value of a setting counts.
 */
#include "operation/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/words/command_line.h"

enum {
    LARGEST_CONFIG = 1 << 20, /* bytes */
    PATIENCE_MS = 5000,       /* for a pipe in place of a file */
};

bool mishap_cli_serves(const mishap_operation *operation)
{
    return operation->resident && mishap_cli_has_param(operation, "data");
}

/* -- which flags there are --------------------------------------------------------------------- */

static const mishap_param config_flag = {
    .name = "config",
    .type = MISHAP_STRING,
    .file = true,
    .placeholder = "FILE",
    .help = "A JSON file with options and with the settings of services",
};

static const mishap_param store_flag = {
    .name = "store",
    .type = MISHAP_STRING,
    .placeholder = "URL",
    .help = "The store of each service that has no store setting of its own",
};

/* A list of flags that is being made. */
struct listing {
    const mishap_app *app;
    const mishap_operation *operation;
    mishap_arena *arena;
    mishap_param *list;
    mishap_cli_flags_of *flags;
};

/* A parameter of the same name takes precedence. */
static size_t add_flag(struct listing *l, const mishap_param *flag)
{
    mishap_cli_flags_of *flags = l->flags;
    if (mishap_cli_has_param(l->operation, flag->name))
        return SIZE_MAX;
    l->list[flags->count] = *flag;
    flags->settings[flags->count - flags->own] = (struct mishap_cli_setting){ 0 };
    return flags->count++;
}

static bool add_config(struct listing *l)
{
    char *variable = mishap_arena_take(l->arena, strlen(l->app->name) + sizeof "_CONFIG");
    if (!variable)
        return false;
    mishap_system_variable(l->app->name, "CONFIG", variable,
                           strlen(l->app->name) + sizeof "_CONFIG");
    mishap_param flag = config_flag;
    flag.environment = variable;
    l->flags->config = add_flag(l, &flag);
    return true;
}

static bool add_settings(struct listing *l, const mishap_service *service)
{
    for (const mishap_param *setting = service->settings; setting && setting->name; setting++) {
        mishap_param flag = *setting;
        if (!mishap_setting_names(l->app, service, setting, l->arena, &flag.name,
                                  &flag.environment))
            return false;
        size_t at = add_flag(l, &flag);
        if (at != SIZE_MAX)
            l->flags->settings[at - l->flags->own] = (struct mishap_cli_setting){ service,
                                                                                  setting };
    }
    return true;
}

bool mishap_cli_list_flags(const mishap_app *app, const mishap_operation *operation,
                           mishap_arena *arena, mishap_cli_flags_of *flags)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    bool serves = mishap_cli_serves(operation);
    size_t own = mishap_param_count(operation->params), more = 2, count = 0;
    *flags = (mishap_cli_flags_of){
        .list = operation->params, .own = own, .count = own, .config = SIZE_MAX, .store = SIZE_MAX
    };
    if (serves)
        count = mishap_services_of(app, services);
    else if (operation->service && operation->service->settings)
        services[count++] = operation->service;
    else
        return true;
    for (size_t i = 0; i < count; i++)
        more += mishap_param_count(services[i]->settings);
    struct listing l = { app, operation, arena, NULL, flags };
    l.list = mishap_arena_take(arena, (own + more + 1) * sizeof *l.list);
    flags->settings = mishap_arena_take(arena, more * sizeof *flags->settings);
    if (!l.list || !flags->settings)
        return false;
    memset(l.list, 0, (own + more + 1) * sizeof *l.list);
    if (own)
        memcpy(l.list, operation->params, own * sizeof *l.list);
    flags->list = l.list;
    bool whole = add_config(&l);
    if (serves && mishap_app_has_store(app))
        flags->store = add_flag(&l, &store_flag);
    for (size_t i = 0; whole && i < count; i++)
        whole = add_settings(&l, services[i]);
    return whole;
}

bool mishap_cli_describe(const mishap_app *app, mishap_arena *arena, mishap_app *described)
{
    size_t count = 0;
    while (app->operations[count].name)
        count++;
    mishap_operation *operations = mishap_arena_take(arena, (count + 1) * sizeof *operations);
    if (!operations)
        return false;
    memcpy(operations, app->operations, (count + 1) * sizeof *operations);
    for (size_t i = 0; i < count; i++) {
        mishap_cli_flags_of flags;
        if (!mishap_cli_list_flags(app, &operations[i], arena, &flags))
            return false;
        operations[i].params = flags.list;
    }
    *described = *app;
    described->operations = operations;
    return true;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* More, the end (0), or an errno below zero. A pipe without a writer is not waited for long. */
static ssize_t read_more(int source, mishap_buffer *text)
{
    for (;;) {
        ssize_t got = read(source, text->data + text->length, text->capacity - text->length);
        if (got >= 0)
            return got;
        struct pollfd ready = { source, POLLIN, 0 };
        if (errno == EAGAIN && poll(&ready, 1, PATIENCE_MS) == 0)
            return -ETIMEDOUT;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
}

static bool read_config(const char *path, mishap_buffer *text, char *reason, size_t size)
{
    int source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t got = source < 0 ? -errno : 1;
    while (got > 0 && text->length <= LARGEST_CONFIG) {
        got = mishap_buffer_reserve(text, 65536) ? read_more(source, text) : -ENOMEM;
        text->length += got > 0 ? (size_t)got : 0;
    }
    if (source >= 0)
        close(source);
    if (got < 0)
        mishap_system_error((int)-got, reason, size);
    else if (text->length > LARGEST_CONFIG)
        snprintf(reason, size, "It is larger than %d MB", LARGEST_CONFIG >> 20);
    return got == 0 && text->length <= LARGEST_CONFIG;
}

/* -- using them -------------------------------------------------------------------------------- */

struct use {
    mishap_cli *cli;
    const mishap_cli_flags_of *flags;
    const mishap_buffer *values; /* the JSON of each flag; empty: not given */
    mishap *found;
};

/* The values of flags: {"store":"…","lisp":{"folder":"…"}}. Flags of one service are together. */
static void put_given(const struct use *u, mishap_buffer *given)
{
    const mishap_cli_flags_of *flags = u->flags;
    const mishap_service *open = NULL;
    mishap_json_open(given, '{');
    if (flags->store < flags->count && u->values[flags->store].length) {
        MISHAP_JSON_KEY(given, "store");
        mishap_buffer_put_text(given, mishap_buffer_text(&u->values[flags->store]));
    }
    for (size_t i = flags->own; i < flags->count; i++) {
        const struct mishap_cli_setting *at = &flags->settings[i - flags->own];
        if (!at->setting || !u->values[i].length)
            continue;
        if (open && open != at->service)
            mishap_json_close(given, '}');
        if (open != at->service) {
            mishap_json_key(given, mishap_text_of(at->service->name));
            mishap_buffer_put_char(given, '{');
        }
        open = at->service;
        mishap_json_key(given, mishap_text_of(at->setting->name));
        mishap_buffer_put_text(given, mishap_buffer_text(&u->values[i]));
    }
    if (open)
        mishap_json_close(given, '}');
    mishap_json_close(given, '}');
}

static void refuse_config(struct use *u, const char *path, bool malformed, mishap_text reason)
{
    char sentence[600];
    const mishap_param *flag = &u->flags->list[u->flags->config];
    const char *name = u->flags->config_by_variable ? flag->environment : "--config";
    bool ended = reason.length && reason.data[reason.length - 1] == '.';
    mishap_text shown = mishap_text_of(path);
    shown.length = mishap_utf8_cut(shown, shown.length < 200 ? shown.length : 200);
    snprintf(sentence, sizeof sentence, "The file %.*s of %s cannot be %s. %.*s%s",
             (int)shown.length, shown.data, name, malformed ? "used" : "read", (int)reason.length,
             reason.data, ended ? "" : ".");
    mishap_settings_add_finding(
        &u->found,
        &(mishap_field){ .field = mishap_text_of(name),
                         .error = malformed ? (mishap_text)MISHAP_TEXT("malformed_file")
                                            : (mishap_text)MISHAP_TEXT("unreadable_file"),
                         .message = mishap_text_of(sentence) });
}

/* Use the given values, and those of the file, if it is valid. */
static mishap *use_sources(struct use *u, const char *path, mishap_text given)
{
    char reason[128];
    mishap_buffer text = { 0 };
    mishap_settings_from from = { .given = given, .flags = true };
    if (path && read_config(path, &text, reason, sizeof reason))
        from.file = (mishap_text){ text.length ? text.data : "", text.length };
    else if (path)
        refuse_config(u, path, false, mishap_text_of(reason));
    mishap *failure = mishap_settings_use(u->cli->app, &from);
    mishap_buffer_release(&text);
    if (!failure || mishap_told(failure)->code != MISHAP_CODE_BAD_REQUEST)
        return failure;
    refuse_config(u, path, true, mishap_public_message(mishap_told(failure)));
    mishap_free(failure);
    from.file = (mishap_text){ NULL, 0 };
    return mishap_settings_use(u->cli->app, &from);
}

/* A command that opens a service looks for its data where a server with the same file has it. A
 * variable for the data folder comes first. */
static void use_data_folder(struct use *u)
{
    const char *variable = mishap_system_setting(u->cli->app->name, "DATA");
    mishap_text data = mishap_json_text(mishap_settings_in_file("data"));
    if (!mishap_settings_in_file("data") || (variable && *variable))
        return;
    if (!data.length || strlen(data.data) < data.length) {
        mishap_settings_add_finding(
            &u->found, &(mishap_field){ .field = MISHAP_TEXT("data"),
                                        .error = MISHAP_TEXT("invalid_value"),
                                        .expected = mishap_value_of_string("a folder") });
        return;
    }
    u->cli->setup.data = data.data;
    mishap_service_use(&u->cli->setup);
}

mishap *mishap_cli_use_settings(mishap_cli *cli, const mishap_cli_flags_of *flags,
                                const mishap_buffer *values, mishap **found)
{
    struct use u = { .cli = cli, .flags = flags, .values = values };
    mishap_buffer given = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    bool serves = mishap_cli_serves(cli->operation), whole = true;
    bool named = flags->config < flags->count && values[flags->config].length;
    if (named)
        whole = mishap_json_read(&reader, mishap_buffer_text(&values[flags->config]));
    put_given(&u, &given);
    mishap *failure = whole && !given.failed
                          ? use_sources(&u, named ? yyjson_get_str(reader.root) : NULL,
                                        mishap_buffer_text(&given))
                          : mishap_out_of_memory();
    if (!failure && !serves)
        use_data_folder(&u);
    if (!failure)
        failure = mishap_settings_take_findings(
            &u.found, mishap_settings_check(cli->app, serves ? NULL : cli->operation->service),
            MISHAP_CODE_NOT_CONFIGURED);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&given);
    *found = u.found;
    return failure;
}
