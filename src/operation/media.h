/* Media types of answers and bodies that are not JSON. */
#ifndef MISHAP_OPERATION_MEDIA_H
#define MISHAP_OPERATION_MEDIA_H

#include "operation/operation.h"

/* The media type of unknown bytes: application/octet-stream. */
extern const char mishap_media_bytes[];

/*
 * The media type that a handler names, in a form that is safe in a header field: itself, or that of
 * bytes if it is missing, is no media type or has any character but printable ASCII. Otherwise a
 * line break in it would begin another field.
 */
const char *mishap_media_clean(const char *type);

/* The same for text without a terminating NUL; a copy is in the arena. */
const char *mishap_media_clean_text(mishap_arena *arena, mishap_text type);

/* Is it text, by its media type: text/…, application/json, …+json, …+xml or JavaScript? Whether its
 * bytes are UTF-8 is another question. */
bool mishap_media_is_text(const char *type);

/* Is it of this kind, as image/png is of `image`? Is it this type, with any parameters? */
bool mishap_media_is_kind(const char *type, const char *kind);
bool mishap_media_is(const char *type, const char *plain);

/* True if the operation takes a body of this Content-Type as bytes (`.takes`). */
bool mishap_media_taken(const mishap_operation *operation, mishap_text type);

/* The type of a body whose type is not given: the first that the operation accepts; if that has a
 * star, the type of plain bytes. */
mishap_text mishap_media_first_taken(const mishap_operation *operation);

/* UNSUPPORTED_MEDIA_TYPE, which names the types that the operation takes. */
mishap *mishap_media_refuse(const mishap_operation *operation);

/* One media type, without a star; a list of them, with stars and commas. */
bool mishap_media_is_type(const char *type);
bool mishap_media_is_list(const char *types);

#endif
