/*
 * Files as arguments (MISHAP_FILE). In the JSON object of arguments a file is a string: base64
 * text, or a data URL (RFC 2397) that has the media type and the name of the file, too:
 *
 *     data:image/png;name=a%20cat.png;base64,iVBORw0…
 *
 * So a file passes every boundary and every process as any other argument.
 */
#ifndef MISHAP_OPERATION_FILE_H
#define MISHAP_OPERATION_FILE_H

#include "base/base.h"
#include "mishap/call.h"
#include "mishap/operation.h"

typedef struct mishap_file_parts {
    mishap_text type, name; /* as they are spelled: name with escapes; no data: not given */
    mishap_text base64;
    size_t size; /* bytes of the file */
} mishap_file_parts;

/* False: the text is no file. */
bool mishap_file_split(mishap_text text, mishap_file_parts *file);

/* Write a file as such a text; name and type may have no data. */
void mishap_file_put(mishap_buffer *out, mishap_text name, mishap_text type, mishap_text bytes);

/* … only what comes before its bytes. */
void mishap_file_put_head(mishap_buffer *out, mishap_text name, mishap_text type);

/* The name of a file without folders and control characters; it may be empty. */
mishap_text mishap_file_bare_name(mishap_text name);

/* The value of a parameter that is a file; NULL: not given. *param is its declaration. arguments.c
 * has it. */
yyjson_val *mishap_call_file(const mishap_call *call, const char *path, const mishap_param **param);

#endif
