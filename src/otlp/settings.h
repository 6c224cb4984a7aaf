/* Where telemetry goes: --otlp and the variables of OpenTelemetry (OTEL_…). */
#ifndef MISHAP_OTLP_SETTINGS_H
#define MISHAP_OTLP_SETTINGS_H

#include "base/base.h"
#include "client/client.h"

typedef enum mishap_otlp_kind {
    MISHAP_OTLP_LOGS,
    MISHAP_OTLP_METRICS,
    MISHAP_OTLP_TRACES,
    MISHAP_OTLP_KINDS,
} mishap_otlp_kind;

enum { MISHAP_OTLP_HEADERS = 32 };

/* Where the requests of one signal go. */
typedef struct mishap_otlp_target {
    const char *url; /* NULL: this signal is not sent */
    int timeout_ms;
    const char *authorities, *certificate, *key; /* PEM files; NULL: none */
    size_t header_count;
    mishap_client_header headers[MISHAP_OTLP_HEADERS]; /* Content-Type is the first */
} mishap_otlp_target;

typedef struct mishap_otlp_settings {
    mishap_otlp_target targets[MISHAP_OTLP_KINDS];
    int metrics_ms;      /* interval of metrics */
    const char *service; /* OTEL_SERVICE_NAME; may be NULL */
    const char *program, *version;
    mishap_text resource; /* OTEL_RESOURCE_ATTRIBUTES, as it stands there; may be empty */
    mishap_arena arena;   /* holds all of these, in `memory` */
    void *memory;         /* that child processes do not inherit; NULL: none */
} mishap_otlp_settings;

/* How a server was started. */
typedef struct mishap_otlp_wish {
    const char *url; /* --otlp; NULL: the variables decide */
    bool spans;      /* --otlp-spans */
    const char *program, *version;
} mishap_otlp_wish;

/*
 * Read the variables. NOT_CONFIGURED names the one that cannot be used, and never its value if that
 * may be secret. If no target has a URL, telemetry is not wanted.
 *
 * Variables with header fields are removed from the environment, and overwritten where they stood:
 * they may hold keys, and other processes inherit the environment.
 */
mishap *mishap_otlp_settings_read(const mishap_otlp_wish *wish, mishap_otlp_settings *settings);
void mishap_otlp_settings_release(mishap_otlp_settings *settings);
bool mishap_otlp_wanted(const mishap_otlp_settings *settings);

/*
 * Keys of the collector are for the process that sends, not for loops and workers, which run
 * handlers and read what callers send: children of this process do not have the memory that the
 * texts are in. To be called around the fork of a child that is to have it.
 */
void mishap_otlp_settings_pass_on(const mishap_otlp_settings *settings, bool pass_on);

/* The next `name=value` of a list with commas, as OTEL_RESOURCE_ATTRIBUTES has it, without white
 * space around both. *list moves behind it. False: there is none any more. A part without `=` has
 * an empty name. */
bool mishap_otlp_next_pair(mishap_text *list, mishap_text *name, mishap_text *value);

#endif
