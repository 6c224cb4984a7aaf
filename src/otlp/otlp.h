/*
 * src/otlp: telemetry for a collector, in OTLP/HTTP with JSON (docs/otlp.md).
 *
 *     settings.c  --otlp and the variables OTEL_…, as one table of targets
 *     write.c     the words of OTLP: attributes, times, the resource
 *     time.c      the times of the journal, as OTLP has them
 *     names.c     what operations are called over HTTP and MCP
 *     records.c   lines of the journal into log records and spans
 *     metrics.c   what the server counts into metrics
 *     send.c      one signal: its requests, retries and pauses
 *     place.c     how far the journal was sent, in the data folder
 *     exporter.c  the process `mishap-otlp`: reads, sends, waits
 *     process.c   the extension of the server: starts that process, and starts it again
 *
 * Nothing that serves waits for a collector. The process `mishap-otlp` follows the journal
 * (incident/follow.h) and reads the counters that the loops share. It saves its place in the
 * journal after the collector has confirmed what was before it: a collector that is gone, or a
 * process that is killed, loses nothing that the journal still holds. What was sent just before a
 * crash may be sent twice.
 */
#ifndef MISHAP_OTLP_OTLP_H
#define MISHAP_OTLP_OTLP_H

#include "server/server.h"

/* Does nothing if neither --otlp nor a variable names a collector. */
extern const mishap_http_extension mishap_otlp_over_http;

#endif
