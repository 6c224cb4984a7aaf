/*
 * Reading the journal: the log of incidents, line by line, from a saved place on.
 *
 * Other processes append to the log and rotate it (file.h) meanwhile: PATH becomes PATH.1, and that
 * one PATH.2. A reader goes on in the file that it had begun, wherever that is now, and then in the
 * next newer one. It saves its place together with what it has stored, so its outage loses nothing
 * that the files still hold. A line may be read twice after a crash of the reader or of a writer:
 * the id of a record is its key.
 *
 * A line that ends in a line feed is complete; one that does not may still be written, and is left
 * for later. Lines that were torn (power loss, a full disk, a killed process) are skipped and
 * counted; a whole line that stands behind a torn one, on the same line of the file, is read.
 */
#ifndef MISHAP_INCIDENT_FOLLOW_H
#define MISHAP_INCIDENT_FOLLOW_H

#include "mishap/mishap.h"

typedef struct mishap_follow mishap_follow;

/* A place in the journal; { 0 } is the start of the oldest file. */
typedef struct mishap_follow_place {
    uint64_t device, inode;
    uint64_t mark; /* a hash of the first bytes of the file, as systems use inodes again; 0: none */
    uint64_t offset;
} mishap_follow_place;

/* The longest line without its line feed. Longer ones are skipped and counted. */
enum { MISHAP_FOLLOW_LINE = 128 << 10 };

/* Begin at this place. A log that does not exist yet is waited for. Fails without memory. */
mishap *mishap_follow_open(const char *path, mishap_follow_place from, mishap_follow **out);

/* The next complete line without its line feed: text that begins with `{` and ends with `}`, valid
 * until the next call. False: there is none now. Whether it is JSON is for the caller to find. */
bool mishap_follow_next(mishap_follow *f, mishap_text *line);

/* The place behind the last line that was read. */
mishap_follow_place mishap_follow_at(const mishap_follow *f);

/* How many bytes there are behind that place: the lag of the reader. */
uint64_t mishap_follow_behind(const mishap_follow *f);

/* How many lines were torn, and how many times files had been rotated away unread. */
uint64_t mishap_follow_lost(const mishap_follow *f);

void mishap_follow_close(mishap_follow *f); /* NULL is fine */

#endif
