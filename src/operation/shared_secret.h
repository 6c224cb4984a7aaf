/*
 * The secret that several servers share: `serve --secret FILE`. What one server has authenticated,
 * such as the id of a session or the state of a call that asks, is then accepted by all of them.
 *
 * The file has a secret of 64 hexadecimal digits in its first line. During a rotation it has a
 * second one, in another line. The first signs; both verify.
 */
#ifndef MISHAP_OPERATION_SHARED_SECRET_H
#define MISHAP_OPERATION_SHARED_SECRET_H

#include "base/mac.h"
#include "mishap/mishap.h"

enum { MISHAP_SHARED_SECRETS = 2 };

typedef struct mishap_shared_secret {
    unsigned char keys[MISHAP_SHARED_SECRETS][MISHAP_MAC_KEY]; /* the first signs, all verify */
    size_t count;
} mishap_shared_secret;

/* Read the file. INPUT_UNREADABLE, or NOT_CONFIGURED if other users may read or change it, or if it
 * has no secret; what it contains is never told. */
mishap *mishap_shared_secret_read(const char *path, mishap_shared_secret *out);

/* The text of such a file; `path` is for failures. */
mishap *mishap_shared_secret_parse(const char *path, mishap_text text, mishap_shared_secret *out);

#endif
