/*
 * Forms as arguments: application/x-www-form-urlencoded and multipart/form-data, for operations
 * that declare `.forms` or have a parameter that is a file. The fields of a form become a JSON
 * object, as if that had been the body.
 */
#ifndef MISHAP_HTTP_WIRE_FORM_H
#define MISHAP_HTTP_WIRE_FORM_H

#include "http/wire/multipart.h"
#include "operation/operation.h"

typedef enum mishap_http_form {
    MISHAP_HTTP_NO_FORM,
    MISHAP_HTTP_URLENCODED,
    MISHAP_HTTP_MULTIPART,
} mishap_http_form;

/* True if the operation takes forms. */
bool mishap_http_takes_forms(const mishap_operation *operation);

/* What the media type of a body says, if the operation takes forms. */
mishap_http_form mishap_http_form_of(const mishap_operation *operation, mishap_text content_type);

/* Write the form as a JSON object. Names that are not declared are ignored; so is a field without a
 * value, unless its parameter is a string. BAD_REQUEST: it is no form, its text is not UTF-8, or a
 * name that is no array stands twice in it. */
mishap *mishap_http_form_read(const mishap_operation *operation, mishap_http_form form,
                              mishap_text content_type, mishap_text body, mishap_buffer *json);

/* -- piece by piece ---------------------------------------------------------------------------- */

enum { MISHAP_HTTP_FORM_FIELDS = 64 * 1024 }; /* bytes of all fields beside a streamed file */

/* The receiver of the streamed file of a form (mishap_param.streamed); a failure ends the reading.
 */
typedef struct mishap_http_form_stream {
    mishap *(*begin)(void *state);                   /* its head is known, and all fields are */
    mishap *(*data)(void *state, mishap_text bytes); /* never empty */
    void *state;
} mishap_http_form_stream;

/* A form that is being read. The value of each parameter is JSON; of an array, its items so far. */
typedef struct mishap_http_form_reader {
    const mishap_operation *operation;
    const mishap_http_form_stream *stream; /* NULL: all files are kept */
    mishap_buffer *values;                 /* one for each parameter */
    size_t count;
    mishap_arena arena;
    const mishap_param *at; /* the part that is being read; NULL: it is ignored */
    bool at_file;
    bool at_stream, streamed;       /* … it is the streamed file; that one has ended */
    size_t length, held;            /* … bytes of that file; of all fields */
    mishap_buffer name, type, text; /* … its name, its media type and its bytes */
    mishap_multipart parts;
    mishap_multipart_receiver receiver;
} mishap_http_form_reader;

/* Read multipart/form-data. NULL, or why that cannot be. To be released in any case. */
mishap *mishap_http_form_open(mishap_http_form_reader *reader, const mishap_operation *operation,
                              mishap_text content_type, const mishap_http_form_stream *stream);
void mishap_http_form_release(mishap_http_form_reader *reader);

/* Some of its bytes, of any length. False: it has failed; the end says why. */
bool mishap_http_form_feed(mishap_http_form_reader *reader, mishap_text bytes);

/* All bytes were fed. NULL, or what is wrong with the form. */
mishap *mishap_http_form_end(mishap_http_form_reader *reader);

/* Write what was read so far as a JSON object. A streamed file has its name and type, and no
 * bytes. */
void mishap_http_form_put(const mishap_http_form_reader *reader, mishap_buffer *json);

#endif
