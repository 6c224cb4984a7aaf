/*
 * Callers that the operator has blocked: names, in the file `blocked` of the data folder.
 *
 *     # a comment
 *     oauth:mallory 2026-02-09T10:20:30.123Z
 *
 * One line a caller: its name, as mishap_caller() and the log have it, and when it was blocked. A
 * name is that of an API key, or that of a token. A loop reads the file again when it has changed.
 * With a cluster there is a second file, of what all servers block (http/cluster).
 *
 *     blocks.c    the file, and who is in it
 *     blocking.c  the commands keys block and keys unblock
 */
#ifndef MISHAP_HTTP_KEYS_BLOCKS_H
#define MISHAP_HTTP_KEYS_BLOCKS_H

#include "base/base.h"
#include "mishap/mishap.h"

#define MISHAP_BLOCKS_FILE "blocked"
enum { MISHAP_BLOCKED_LONGEST = 63 }; /* bytes of a name */

/* The names of a file, sorted. All text points into that of the file. */
typedef struct mishap_block_file {
    mishap_buffer text;
    struct mishap_blocked {
        mishap_text name, since, whole; /* … the line, with its line feed if it has one */
    } * lines;
    size_t count;
} mishap_block_file;

/* Read the file at a path. One that is not there has no names. INPUT_UNREADABLE; NOT_CONFIGURED,
 * with the number of the line, if a line is no name and time, or has the name of another. Release
 * the result in any case. */
mishap *mishap_block_file_read(const char *path, mishap_block_file *file);
void mishap_block_file_release(mishap_block_file *file);
const struct mishap_blocked *mishap_block_file_find(const mishap_block_file *file,
                                                    mishap_text name);

/* True if a text can be the name of a caller. */
bool mishap_blocked_is_name(mishap_text name);

/* Add a line. False, with nothing added: it is no name and time. */
bool mishap_block_put_line(mishap_buffer *text, mishap_text name, mishap_text since);

/* -- in a loop --------------------------------------------------------------------------------- */

typedef struct mishap_http_blocks mishap_http_blocks;

/* Without names yet: no caller with a name is admitted before mishap_http_blocks_refresh(). */
mishap *mishap_http_blocks_make(const char *data, mishap_http_blocks **out);
void mishap_http_blocks_free(mishap_http_blocks *blocks);

/* Read the file again if it has changed; called about once per second. `blocked` is called for each
 * name that is new. While the file cannot be read, no caller with a name is admitted. UNAVAILABLE,
 * for the log, once for each state of the file that cannot be read. */
mishap *mishap_http_blocks_refresh(mishap_http_blocks *blocks,
                                   void (*blocked)(void *context, const char *name), void *context);

/* FORBIDDEN if the caller of this name is blocked; UNAVAILABLE while that is not known. NULL: no
 * name. */
mishap *mishap_http_blocks_check(const mishap_http_blocks *blocks, const char *name);

#endif
