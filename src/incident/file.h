/* An open log file: it is created again when it was moved away, and rotated when it is too
 * large. */
#ifndef MISHAP_INCIDENT_FILE_H
#define MISHAP_INCIDENT_FILE_H

#include "base/base.h"

enum {
    MISHAP_LOG_PATH = 4096,
    MISHAP_LOG_OLDER = 2, /* rotated files that are kept: PATH.1 and PATH.2 */
};

/* MISHAP_LOG_FILE() makes one. */
typedef struct mishap_log_file {
    int file;            /* -1: none is open */
    int64_t looked_ns;   /* when the file at its path was last checked to be this one */
    uint64_t most_bytes; /* the size at which it is moved to PATH.1; 0: never */
    mode_t mode;         /* of a new file */
    bool waits;          /* writing to a full pipe blocks; otherwise it fails */
    int stuck;           /* the errno for which it could not be rotated; 0: none */
    bool torn;           /* the last line was written in part: it is ended before the next one */
    char path[MISHAP_LOG_PATH]; /* at the end: the rest stands in one page of memory */
} mishap_log_file;
#define MISHAP_LOG_FILE(...)                                                                       \
    {                                                                                              \
        .file = -1, .mode = 0600, __VA_ARGS__                                                      \
    }

/*
 * Open a log, or make it; -1: errno says why not. It does not wait for the reader of a pipe.
 *
 * A symbolic link in the place of the log is followed only if it belongs to root or to the user of
 * this process, or is one of /proc, as /dev/stderr leads to. Otherwise another user may have put it
 * there to have entries written into another file, or shown: then errno is ELOOP.
 */
int mishap_log_open(const char *path, mode_t mode);

/*
 * Make sure that the open file is the one at this path, which is checked once per second. `path` is
 * written to meanwhile. False: it cannot be opened, and errno says why.
 */
bool mishap_log_file_open(mishap_log_file *log, char *path);
void mishap_log_file_close(mishap_log_file *log);

/* Write all of it, in one write if possible, so that entries of several processes are not mixed.
 * False: not all of it was written, and errno says why. */
bool mishap_log_file_write(mishap_log_file *log, mishap_text text);

/*
 * If the file is a regular one and would become too large, rename it to PATH.1, and that one to
 * PATH.2, and begin an empty one. Several processes that write to one log agree on which of them
 * does this. False: there is no file at the path any more, and errno says why.
 */
bool mishap_log_file_rotate(mishap_log_file *log, size_t more);

#endif
