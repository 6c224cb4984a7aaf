/* What the server counts, as metrics of OTLP: totals since its start. */
#ifndef MISHAP_OTLP_METRICS_H
#define MISHAP_OTLP_METRICS_H

#include "otlp/exporter.h"
#include "otlp/records.h"

/* Write the whole request. Returns how many data points it has; 0: there is nothing to send yet. */
size_t mishap_otlp_put_metrics(mishap_buffer *b, const mishap_otlp_export *what);

#endif
