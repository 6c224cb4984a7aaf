/*
 * What the two sides of google-rpc share: google_rpc.c writes and reads, google_rpc_check.c checks,
 * and both speak in the terms of google_rpc_terms.c.
 */
#ifndef MISHAP_DIALECT_GOOGLE_RPC_H
#define MISHAP_DIALECT_GOOGLE_RPC_H

#include "dialect/parts.h"

#define TYPE_PREFIX "type.googleapis.com/google.rpc."

/* The domain of our reasons. */
extern const mishap_text mishap_google_domain;

/* google.rpc.Code in the order of its numbers, with the HTTP status that it has there, and the code
 * that stands for it where a document says no more. */
struct mishap_google_code {
    mishap_text name;
    int http_status;
    const mishap_code *code;
};
enum { MISHAP_GOOGLE_CODES = 17 };
extern const struct mishap_google_code mishap_google_codes[MISHAP_GOOGLE_CODES];
const struct mishap_google_code *mishap_google_find_code(mishap_text name); /* OK is none */

/* The name for an HTTP status, and for that of a code. */
mishap_text mishap_google_status_name(int http_status);
mishap_text mishap_google_status_of(const mishap_code *code);

/* The HTTP status of an error that a number is, 0 if it is none. */
int mishap_google_http_status(yyjson_val *value);

/* The forms of a reason and of a key of the metadata. */
bool mishap_google_reason_valid(mishap_text name);
bool mishap_google_key_valid(mishap_text key);

/*
 * What a BadRequest cannot say of a field stands in the metadata as `fields-1-min`, counted from 0
 * in the order of the violations; the value is JSON, so that numbers stay numbers. `error` is there
 * only if the reason cannot spell it.
 */
enum mishap_google_bound {
    BOUND_ERROR,
    BOUND_EXPECTED,
    BOUND_MIN,
    BOUND_MAX,
    BOUND_ACTUAL,
    BOUNDS
};
extern const mishap_text mishap_google_bound_names[BOUNDS];
bool mishap_google_bound_key(mishap_text key, size_t *field, enum mishap_google_bound *bound);

/* Names in the metadata that are not the context's. */
bool mishap_google_reserved(mishap_text key);

/* True if a part of the context can stand in the metadata by itself; the others go together, as
 * JSON, by the name of `context`. */
bool mishap_google_stands_alone(mishap_text key);

enum mishap_google_detail {
    ERROR_INFO,
    BAD_REQUEST,
    RETRY_INFO,
    HELP,
    REQUEST_INFO,
    DEBUG_INFO,
    QUOTA_FAILURE,
    PRECONDITION_FAILURE,
    RESOURCE_INFO,
    LOCALIZED_MESSAGE,
    DETAILS, /* some other type */
};

extern const mishap_text mishap_google_detail_types[DETAILS];
enum mishap_google_detail mishap_google_detail_of(yyjson_val *item);

/* The first of each type. */
void mishap_google_find_details(yyjson_val *items, yyjson_val *found[DETAILS + 1]);

/* The metadata of an ErrorInfo of ours, in which reserved names mean what they say; else NULL. */
yyjson_val *mishap_google_own_metadata(yyjson_val *info);

/* A google.protobuf.Duration ends after ten thousand years, in seconds. */
#define MISHAP_GOOGLE_LONGEST_DELAY INT64_C(315576000000)

/* "1.500s" in milliseconds, rounded up; false if it is not a duration. */
bool mishap_google_read_delay(mishap_text text, int64_t *milliseconds);

/* The JSON inside a string: NULL, with the flaw, if it is not sound JSON. */
yyjson_val *mishap_google_json_inside(mishap_json_reader *reader, yyjson_val *string,
                                      mishap_json_flaw *flaw);

void mishap_google_check(mishap_check *check, yyjson_val *root);

#endif
