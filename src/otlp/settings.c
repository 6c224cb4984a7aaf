/* The variables of OpenTelemetry. One for a single signal (OTEL_EXPORTER_OTLP_LOGS_HEADERS) counts
 * before the one for all signals (OTEL_EXPORTER_OTLP_HEADERS). An empty variable is none. */
#include "otlp/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/trim.h"

enum {
    LONGEST_VARIABLE = 100,
    TIMEOUT_MS = 10000,
    LONGEST_TIMEOUT_MS = 600000,
    METRICS_MS = 60000,
    LONGEST_HEADERS = 32 << 10,
    MEMORY = 1 << 20, /* for all of them */
};

static const struct signal_words {
    const char *variable; /* OTEL_EXPORTER_OTLP_LOGS_…, OTEL_LOGS_EXPORTER */
    const char *path;     /* behind the base URL */
} words[MISHAP_OTLP_KINDS] = {
    [MISHAP_OTLP_LOGS] = { "LOGS", "v1/logs" },
    [MISHAP_OTLP_METRICS] = { "METRICS", "v1/metrics" },
    [MISHAP_OTLP_TRACES] = { "TRACES", "v1/traces" },
};

/* -- variables --------------------------------------------------------------------------------- */

static const char *read_variable(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* The variable of a signal, or the one of all; `name` is set to the one that is used. */
static const char *read_setting(mishap_otlp_kind kind, const char *suffix, char *name)
{
    snprintf(name, LONGEST_VARIABLE, "OTEL_EXPORTER_OTLP_%s_%s", words[kind].variable, suffix);
    const char *value = read_variable(name);
    if (value)
        return value;
    snprintf(name, LONGEST_VARIABLE, "OTEL_EXPORTER_OTLP_%s", suffix);
    return read_variable(name);
}

static mishap *bad_variable(const char *name, const char *what)
{
    mishap *m = mishap_raise(NOT_CONFIGURED, "The variable %s %s.", name, what);
    return mishap_suggest(m, "Correct the variable, or remove it. docs/otlp.md lists what it may "
                             "have.");
}

static mishap *read_milliseconds(const char *name, const char *value, int *out)
{
    char *end = NULL;
    long number = value && isdigit((unsigned char)*value) ? strtol(value, &end, 10) : -1;
    if (!value)
        return NULL;
    if (number < 1 || number > LONGEST_TIMEOUT_MS || *end)
        return bad_variable(name, "is not a number of milliseconds from 1 to 600000");
    *out = (int)number;
    return NULL;
}

/* -- lists of pairs ---------------------------------------------------------------------------- */

bool mishap_otlp_next_pair(mishap_text *list, mishap_text *name, mishap_text *value)
{
    while (list->length) {
        const char *comma = memchr(list->data, ',', list->length);
        mishap_text part = { list->data, comma ? (size_t)(comma - list->data) : list->length };
        size_t taken = part.length + (comma != NULL);
        list->data += taken;
        list->length -= taken;
        part = mishap_trim(part, " \t");
        if (!part.length)
            continue;
        const char *equals = memchr(part.data, '=', part.length);
        size_t length = equals ? (size_t)(equals - part.data) : 0;
        *name = mishap_trim((mishap_text){ part.data, length }, " \t");
        *value = equals ? mishap_trim((mishap_text){ equals + 1, part.length - length - 1 }, " \t")
                        : (mishap_text){ part.data + part.length, 0 };
        return true;
    }
    return false;
}

/* Percent escapes replaced, as a string in the arena; NULL: it is none, or there is no memory. */
static const char *unescape_into(mishap_arena *arena, mishap_text text)
{
    char storage[1024];
    mishap_buffer plain;
    mishap_buffer_init(&plain, storage, sizeof storage);
    mishap_buffer_reserve(&plain, text.length); /* it never moves, and leaves no copy */
    bool fine = mishap_url_unescape(&plain, text, false) && !plain.failed;
    mishap_text found = mishap_buffer_text(&plain);
    if (fine && found.length && memchr(found.data, '\0', found.length))
        fine = false;
    const char *copy =
        fine ? mishap_arena_copy(arena, found.length ? found : (mishap_text){ "", 0 }).data : NULL;
    if (plain.length)
        explicit_bzero(plain.data, plain.length);
    mishap_buffer_release(&plain);
    return copy;
}

static bool may_be_sent(const char *name)
{
    static const char *const own[] = { "Content-Type",      "Content-Length", "Host",
                                       "Transfer-Encoding", "Connection",     "Expect" };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcasecmp(own[i], name) == 0)
            return false;
    return true;
}

static mishap *read_headers(mishap_otlp_settings *settings, mishap_otlp_kind kind)
{
    char variable[LONGEST_VARIABLE];
    mishap_otlp_target *target = &settings->targets[kind];
    mishap_text list = mishap_text_of(read_setting(kind, "HEADERS", variable)), name, value;
    target->headers[0] = (mishap_client_header){ "Content-Type", "application/json" };
    target->header_count = 1;
    if (list.length > LONGEST_HEADERS)
        return bad_variable(variable, "is too long");
    while (mishap_otlp_next_pair(&list, &name, &value)) {
        mishap_client_header header = { unescape_into(&settings->arena, name),
                                        unescape_into(&settings->arena, value) };
        if (!name.length || !header.name || !header.value)
            return bad_variable(variable, "is not a list such as `name=value,name=value`");
        if (target->header_count == MISHAP_OTLP_HEADERS)
            return bad_variable(variable, "has too many header fields");
        if (!may_be_sent(header.name))
            return bad_variable(variable, "has a header field that the exporter sets itself");
        target->headers[target->header_count++] = header;
    }
    return NULL;
}

/* -- targets ----------------------------------------------------------------------------------- */

static bool is_switched_off(mishap_otlp_kind kind)
{
    char name[LONGEST_VARIABLE];
    snprintf(name, sizeof name, "OTEL_%s_EXPORTER", words[kind].variable);
    const char *exporter = read_variable(name), *disabled = read_variable("OTEL_SDK_DISABLED");
    return (exporter && strcmp(exporter, "none") == 0) ||
           (disabled && strcasecmp(disabled, "true") == 0);
}

static const char *copy_into(mishap_arena *arena, const char *text)
{
    return text ? mishap_arena_copy(arena, mishap_text_of(text)).data : NULL;
}

/* The base URL and the path of a signal. */
static const char *join_url(mishap_arena *arena, const char *base, const char *path)
{
    size_t length = strlen(base), size = length + strlen(path) + 2;
    char *url = mishap_arena_take(arena, size);
    if (url)
        snprintf(url, size, "%s%s%s", base, base[length - 1] == '/' ? "" : "/", path);
    return url;
}

/* The URL of a signal; NULL: it is not sent. */
static mishap *read_url(mishap_otlp_settings *settings, const mishap_otlp_wish *wish,
                        mishap_otlp_kind kind)
{
    char own[LONGEST_VARIABLE], used[LONGEST_VARIABLE];
    mishap_otlp_target *target = &settings->targets[kind];
    snprintf(own, sizeof own, "OTEL_EXPORTER_OTLP_%s_ENDPOINT", words[kind].variable);
    const char *single = read_variable(own);
    const char *base = wish->url ? wish->url : read_variable("OTEL_EXPORTER_OTLP_ENDPOINT");
    target->url = NULL;
    if ((!single && !base) || is_switched_off(kind) || (kind == MISHAP_OTLP_TRACES && !wish->spans))
        return NULL;
    const char *protocol = wish->url ? NULL : read_setting(kind, "PROTOCOL", used);
    if (protocol && strcmp(protocol, "grpc") == 0)
        return bad_variable(used, "asks for grpc; telemetry is sent as http/json");
    target->url = single ? copy_into(&settings->arena, single)
                         : join_url(&settings->arena, base, words[kind].path);
    return target->url ? NULL : mishap_out_of_memory();
}

static mishap *read_target(mishap_otlp_settings *settings, const mishap_otlp_wish *wish,
                           mishap_otlp_kind kind)
{
    char name[LONGEST_VARIABLE];
    mishap_otlp_target *target = &settings->targets[kind];
    mishap *failure = read_url(settings, wish, kind);
    if (failure || !target->url)
        return failure;
    target->timeout_ms = TIMEOUT_MS;
    const char *timeout = read_setting(kind, "TIMEOUT", name);
    failure = read_milliseconds(name, timeout, &target->timeout_ms);
    target->authorities = copy_into(&settings->arena, read_setting(kind, "CERTIFICATE", name));
    target->certificate = copy_into(&settings->arena,
                                    read_setting(kind, "CLIENT_CERTIFICATE", name));
    target->key = copy_into(&settings->arena, read_setting(kind, "CLIENT_KEY", name));
    return failure ? failure : read_headers(settings, kind);
}

/* Overwrite it where it stands: /proc/PID/environ shows that place. */
static void forget_variable(const char *name)
{
    char *value = getenv(name);
    if (value)
        explicit_bzero(value, strlen(value));
    unsetenv(name);
}

static void forget_headers(void)
{
    char name[LONGEST_VARIABLE];
    forget_variable("OTEL_EXPORTER_OTLP_HEADERS");
    for (size_t i = 0; i < MISHAP_OTLP_KINDS; i++) {
        snprintf(name, sizeof name, "OTEL_EXPORTER_OTLP_%s_HEADERS", words[i].variable);
        forget_variable(name);
    }
}

static mishap *read_resource(mishap_otlp_settings *settings, const mishap_otlp_wish *wish)
{
    const char *service = read_variable("OTEL_SERVICE_NAME");
    const char *attributes = read_variable("OTEL_RESOURCE_ATTRIBUTES");
    const char *interval = read_variable("OTEL_METRIC_EXPORT_INTERVAL");
    settings->service = copy_into(&settings->arena, service);
    settings->program = copy_into(&settings->arena, wish->program);
    settings->version = copy_into(&settings->arena, wish->version);
    settings->resource = mishap_text_of(copy_into(&settings->arena, attributes));
    settings->metrics_ms = METRICS_MS;
    return read_milliseconds("OTEL_METRIC_EXPORT_INTERVAL", interval, &settings->metrics_ms);
}

mishap *mishap_otlp_settings_read(const mishap_otlp_wish *wish, mishap_otlp_settings *settings)
{
    mishap *failure = NULL;
    memset(settings, 0, sizeof *settings);
    void *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return mishap_out_of_memory();
    settings->memory = memory;
    madvise(memory, MEMORY, MADV_DONTDUMP);
    mishap_otlp_settings_pass_on(settings, false);
    mishap_arena_init(&settings->arena, memory, MEMORY);
    for (size_t i = 0; i < MISHAP_OTLP_KINDS && !failure; i++)
        failure = read_target(settings, wish, (mishap_otlp_kind)i);
    if (!failure)
        failure = read_resource(settings, wish);
    if (!failure && settings->arena.blocks) /* beyond its memory, where other processes have it */
        failure = bad_variable("OTEL_EXPORTER_OTLP_ENDPOINT", "or another one is too long");
    forget_headers();
    if (failure)
        mishap_otlp_settings_release(settings);
    return failure;
}

void mishap_otlp_settings_release(mishap_otlp_settings *settings)
{
    mishap_arena_release(&settings->arena);
    if (settings->memory)
        munmap(settings->memory, MEMORY);
    memset(settings, 0, sizeof *settings);
}

void mishap_otlp_settings_pass_on(const mishap_otlp_settings *settings, bool pass_on)
{
    if (settings->memory)
        madvise(settings->memory, MEMORY, pass_on ? MADV_DOFORK : MADV_DONTFORK);
}

bool mishap_otlp_wanted(const mishap_otlp_settings *settings)
{
    for (size_t i = 0; i < MISHAP_OTLP_KINDS; i++)
        if (settings->targets[i].url)
            return true;
    return false;
}
