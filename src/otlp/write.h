/*
 * The words of OTLP/JSON: attributes, times, the resource and the scope.
 *
 * JSON of OTLP is that of protobuf with three differences: trace and span ids are hexadecimal,
 * enums are numbers, names are in lowerCamelCase. Numbers of 64 bits are strings.
 */
#ifndef MISHAP_OTLP_WRITE_H
#define MISHAP_OTLP_WRITE_H

#include "otlp/settings.h"

/* The longest value of a text attribute; longer ones are cut at a character. */
enum { MISHAP_OTLP_TEXT = 32 << 10 };

/* A member with a number of 64 bits: a string. */
void mishap_otlp_number(mishap_buffer *b, const char *key, uint64_t number);

/* An item of a list of attributes. Nothing is written for a text without data. */
void mishap_otlp_text(mishap_buffer *b, const char *key, mishap_text value);
void mishap_otlp_int(mishap_buffer *b, const char *key, int64_t value);

/* The beginning of an attribute whose value is an array, and its end. In between
 * `{"stringValue":…}` or `{"intValue":…}`. */
void mishap_otlp_array(mishap_buffer *b, const char *key);
void mishap_otlp_array_end(mishap_buffer *b);

/*
 * The beginning of a request:
 * `{"resourceLogs":[{"resource":…,"scopeLogs":[{"scope":…,"logRecords":[` for logs, and the same
 * for other signals. `instance` is the service.instance.id.
 */
void mishap_otlp_begin(mishap_buffer *b, mishap_otlp_kind kind,
                       const mishap_otlp_settings *settings, const char *instance);
/* … and its end. */
void mishap_otlp_end(mishap_buffer *b);

#endif
