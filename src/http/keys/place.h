/* A file of the data folder that a command of `keys` changes: see place.c. */
#ifndef MISHAP_HTTP_KEYS_PLACE_H
#define MISHAP_HTTP_KEYS_PLACE_H

#include "http/keys/file.h"

/* The folder, the file and its lock. All text lives as long as the call. */
typedef struct mishap_key_place {
    const char *folder, *file, *lock;
    const char *name; /* of the file, for failures */
    char *fresh;      /* the new file, before it is renamed */
    bool named;       /* the caller has named the folder, so failures may show it */
} mishap_key_place;

/* Where the file of this name is, for a call with the parameter `data`. */
mishap *mishap_key_place_find(mishap_call *call, const char *name, mishap_key_place *place);

/* If the caller has named the folder, the failure says which file it was. */
mishap *mishap_key_place_tell(const mishap_key_place *place, mishap *failure);

/* Make the folder and those above it, for this user only. */
mishap *mishap_key_place_make(mishap_call *call, const mishap_key_place *place);

/* Wait for the lock, which is released when the file that is returned is closed. LOCKED,
 * OUTPUT_FAILED. */
mishap *mishap_key_place_lock(const mishap_key_place *place, int *out);

/* Replace the old file by a new one. OUTPUT_FAILED: the old one stays. */
mishap *mishap_key_place_replace(const mishap_key_place *place, const mishap_buffer *text);

#endif
