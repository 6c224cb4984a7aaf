/* The process `mishap-otlp`. */
#ifndef MISHAP_OTLP_EXPORTER_H
#define MISHAP_OTLP_EXPORTER_H

#include "otlp/send.h"
#include "server/server.h"

/* What it sends, and where it has that from. */
typedef struct mishap_otlp_export {
    const mishap_otlp_settings *settings;
    const mishap_http_settings *server; /* the program, and what it counts */
    char journal[4096];                 /* the path of the log of incidents; empty: there is none */
    char place[4096];                   /* … and of the file that says how far it was sent */
    char instance[MISHAP_ID_LENGTH + 1];
    uint64_t begun_ns; /* when the server was started, since 1970 */
    int parent;
} mishap_otlp_export;

/*
 * Send until the parent asks it to end (SIGUSR2) or is gone; then send the records that wait once
 * more, for about two seconds, and exit. Other signals that are sent to the whole group do nothing.
 */
_Noreturn void mishap_otlp_export_run(const mishap_otlp_export *what);

/* Open the clients of all signals, in a process that ends after it: NULL if all can be used. */
mishap *mishap_otlp_export_try(const mishap_otlp_settings *settings);

#endif
