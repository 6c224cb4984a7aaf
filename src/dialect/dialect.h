/*
 * src/dialect: one file a wire format. A dialect is one constant of this struct at the end of its
 * file, listed once in registry.c.
 *
 * A dialect sees mishap_public and documents, nothing else: neither the private side of a mishap
 * nor the boundary that asked.
 */
#ifndef MISHAP_DIALECT_DIALECT_H
#define MISHAP_DIALECT_DIALECT_H

#include "base/base.h"
#include "dialect/check.h"
#include "mishap/dialect.h"
#include "mishap/restore.h"

/* A JSON document that is being read. */
typedef struct mishap_source {
    mishap_text text;
    yyjson_val *root;
} mishap_source;

struct mishap_dialect {
    const char *name;
    const char *media_type;
    mishap_text last_words; /* a constant document for when there is no memory */
    void (*render)(const mishap_public *told, mishap_buffer *buffer);

    /* Documents are JSON, which was read and is free of the flaws of json_read.h. */
    mishap *(*read)(const mishap_source *source, mishap **out);
    void (*check)(mishap_check *check, yyjson_val *root);

    /* Documents are text: these instead. */
    mishap *(*read_text)(mishap_text document, mishap **out);
    void (*check_text)(mishap_check *check, mishap_text document);

    /* The format has a short list of codes that its readers know: the one of them that fits an
     * occurrence best, or else its own code. NULL: the format has no such list. */
    const mishap_code *(*nearest)(const mishap_public *told);

    bool carries_subject; /* `stdout` and `backtrace` at the top hold what the caller's own code
                             printed and did */
};

extern const mishap_dialect mishap_condition_report, mishap_cli_envelope, mishap_artifact,
    mishap_http_api, mishap_tool_result, mishap_problem, mishap_json_rpc, mishap_google_rpc,
    mishap_json_api, mishap_graphql, mishap_canonical;

/* Render the answer to a caller: as render(), but with the code of the list of the format that fits
 * best (`nearest`). What is to be read back, as in a translation, is rendered with its own code. */
void mishap_dialect_answer(const mishap_dialect *dialect, const mishap_public *told,
                           mishap_buffer *buffer);

/* What stands for the frames of a condition-report that has none. */
extern const mishap_text mishap_report_no_frame;

/* The failure to understand a document: MALFORMED_INPUT with the place of a value told. */
__attribute__((format(printf, 3, 4))) mishap *
mishap_refuse(const mishap_source *source, yyjson_val *value, const char *format, ...);

/* Hand over what was read, or say that there was no memory. */
mishap *mishap_finish(mishap *m, mishap **out);

#endif
