/* Media types of answers and bodies that are not JSON. */
#ifndef MISHAP_OPERATION_MEDIA_H
#define MISHAP_OPERATION_MEDIA_H

#include "operation/operation.h"

/* The media type of bytes of which nothing is known: application/octet-stream. */
extern const char mishap_media_bytes[];

/*
 * The media type that a handler names, as it may stand in a header field: itself, or that of bytes
 * if it is missing, is no media type or has any character but printable ASCII. A line break in it
 * would otherwise begin another field.
 */
const char *mishap_media_clean(const char *type);

/* The same for text that has no NUL behind it; a copy is the arena's. */
const char *mishap_media_clean_text(mishap_arena *arena, mishap_text type);

/* Is it text, by its media type: text/…, application/json, …+json, …+xml or JavaScript? Whether its
 * bytes are UTF-8 is another question. */
bool mishap_media_is_text(const char *type);

/* Is it of this kind, as image/png is of `image`? Is it this type, with any parameters? */
bool mishap_media_is_kind(const char *type, const char *kind);
bool mishap_media_is(const char *type, const char *plain);

/* Is a body of this Content-Type one that the operation takes as bytes (`.takes`)? */
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
