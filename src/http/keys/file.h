/*
 * The file of API keys, for the server that looks keys up and the commands that change them.
 *
 *     # a comment
 *     deploy 1f3c…(64 digits) 2026-02-09T10:20:30.123Z
 *     grafana 77ab…(64 digits) 2026-11-17T10:20:30.123Z metrics
 *
 * One line a key: its name, the SHA-256 of the key, when it was made, and its scopes, separated by
 * commas. A line without scopes has all but `operator`: such a key may be older than scopes, or
 * than those of the program. A scope that the program does not declare (any more) allows nothing.
 * Without any key, the line `disabled` says that keys are not used any more; a file that has
 * neither is taken for a mistake (operation/caller.h). The key itself is stored nowhere. It is 32
 * random bytes, so a brute-force search is impossible even with a fast hash. A slow hash, as for
 * passwords, would only make every request slower.
 */
#ifndef MISHAP_HTTP_KEYS_FILE_H
#define MISHAP_HTTP_KEYS_FILE_H

#include <sys/stat.h>

#include "http/keys/keys.h"
#include "operation/caller.h"

enum {
    MISHAP_KEY_RANDOM = 32,  /* bytes */
    MISHAP_KEY_LENGTH = 46,  /* "mk_" and those bytes in base64url */
    MISHAP_KEY_HASH = 32,    /* bytes */
    MISHAP_KEY_CREATED = 24, /* characters of a time */
    MISHAP_KEY_LONGEST_NAME = MISHAP_CALLER_LONGEST,
};

/* What names look like, for people and for the checks. */
#define MISHAP_KEY_NAME_PATTERN MISHAP_CALLER_PATTERN
#define MISHAP_KEY_NAME_LOOKS   MISHAP_CALLER_LOOKS

/* One key as the file has it. All text points into that of the file. */
typedef struct mishap_key_line {
    mishap_text whole; /* the line, with its line feed if it has one */
    mishap_text name;
    mishap_text created;
    unsigned char hash[MISHAP_KEY_HASH];
    unsigned scopes; /* base/scope.h; without those that they imply */
    size_t number;   /* of the line, from 1 */
} mishap_key_line;

/* Identifies a state of the file; all zero: there is no file. */
typedef struct mishap_key_stamp {
    ino_t inode;
    off_t size;
    int64_t seconds, nanoseconds; /* of its last change */
} mishap_key_stamp;

typedef struct mishap_key_file {
    mishap_buffer text;
    mishap_key_line *lines;    /* sorted by name */
    mishap_key_line **by_hash; /* the same, sorted by hash */
    size_t count;
    bool is_there;
    mishap_text disabled; /* the line `disabled`, with its line feed; no data: there is none */
    mishap_key_stamp stamp;
} mishap_key_file;

/*
 * Read the file at a path. One that is not there has no keys. INPUT_UNREADABLE if it cannot be
 * read; NOT_CONFIGURED, with the number of the line and never what stands in it, if a line is no
 * key or has a name or a key that an earlier line has. `declared` are the scopes of the program.
 * Release the result in any case.
 */
mishap *mishap_key_file_read(const char *path, const mishap_scope *declared, mishap_key_file *file);

/* … the text of a file that was read already: file->text. The rest of the file is empty. */
mishap *mishap_key_file_parse(const char *path, const mishap_scope *declared,
                              mishap_key_file *file);

/* Read one line, without its line feed. False: it is no key. */
bool mishap_key_line_read(mishap_text line, const mishap_scope *declared, mishap_key_line *key);
void mishap_key_file_release(mishap_key_file *file);

/* The state in which the file is now. */
mishap_key_stamp mishap_key_file_stamp(const char *path);

/* The key of this name, NULL if there is none. */
const mishap_key_line *mishap_key_file_find(const mishap_key_file *file, mishap_text name);

/*
 * Is the file safe from other users? If not, write a line that says what to do and return true. It
 * is not if its mode lets others read or write it, or if it belongs to another user. Without a file
 * there is nothing to say. `name` is what the line calls it.
 */
bool mishap_key_file_advise(const char *folder, const char *path, const char *name, char *line,
                            size_t size);

/* Make a new key: "mk_" and random bytes. False: the system has no random bytes. */
bool mishap_key_make(char key[MISHAP_KEY_LENGTH + 1]);

/* Write all of a text to the disk: 0 or an errno. */
int mishap_key_write(int file, mishap_text text);

/* The server runs as the owner of the folder and must be able to read what root creates there. Only
 * for files that were just created, and that cannot be another user's file under another name. */
void mishap_key_give_to_owner(int file, const char *folder);

/* The new name of a file is on the disk only when its folder was synchronized. */
void mishap_key_keep_folder(const char *folder);

/* The order of names: negative, 0 or positive, as of memcmp(). */
int mishap_key_order(mishap_text a, mishap_text b);

/* True if a text looks like a key that mishap_key_make() has made. */
bool mishap_key_is_one(mishap_text key);

/* The SHA-256 of a key. */
void mishap_key_hash(mishap_text key, unsigned char hash[MISHAP_KEY_HASH]);

/* Add what the system says to a mishap: the reason for the caller, the path for the operator. */
mishap *mishap_key_blame(mishap *m, int error, const char *path);

/* -- the key of the operator (operator.c) ------------------------------------------------------ */

/*
 * The file `operator.key` of the data folder has a key with all scopes, as a line of text. `serve`
 * makes it; it is not in the file of keys, and does not count as a key there: with it alone,
 * callers may still name themselves. It has the name `operator`.
 */
#define MISHAP_KEY_OPERATOR      "operator"
#define MISHAP_KEY_OPERATOR_FILE "operator.key"
enum { MISHAP_KEY_OPERATOR_SCOPES = MISHAP_SCOPES_ALL };

/* Read it. An empty key: there is none. INPUT_UNREADABLE or NOT_CONFIGURED: the file is there, but
 * cannot be used. */
mishap *mishap_key_operator_read(const char *folder, char key[MISHAP_KEY_LENGTH + 1]);

/* Read it, or make it if there is none. OUTPUT_FAILED: it cannot be written. */
mishap *mishap_key_operator_make(const char *folder, char key[MISHAP_KEY_LENGTH + 1]);

/* Remove it. False: there was none. */
bool mishap_key_operator_remove(const char *folder);

/* The key as a line of `keys list`: it was made when its file was last changed. The text is in
 * `created`. False: there is none. */
bool mishap_key_operator_line(const char *folder, mishap_key_line *line,
                              char created[MISHAP_KEY_CREATED + 1]);

/* The state of the file; all zero: there is none. */
mishap_key_stamp mishap_key_operator_stamp(const char *folder);

#endif
