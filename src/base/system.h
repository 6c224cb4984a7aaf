/* Calls to the operating system that several parts of the library need. */
#ifndef MISHAP_BASE_SYSTEM_H
#define MISHAP_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the system says of an error, as one line: "No such file or directory (ENOENT)". */
void mishap_system_error(int error, char *words, size_t size);

/* The folders above a file, and a folder with those above it, for this user only. The path is
 * written to meanwhile. False: the folder is not there, and errno says why. */
void mishap_system_make_above(char *path);
bool mishap_system_make_folder(char *path);

/* A folder alone. False: it is there, or it cannot be made, and errno says which. */
bool mishap_system_make_one(const char *path);

/*
 * A new file that root has made in the folder of another user is given to that user, whose programs
 * could not use it otherwise: `sudo NAME incidents` makes files that the server of the user needs.
 * Folders that the functions above make are, too. Does nothing for other users, for a file that has
 * more than one name, and for one of another owner.
 */
void mishap_system_give_to_owner(int file, const char *path);

/*
 * The user's own folder for one kind of files, as desktops lay them out: what the variable says
 * (XDG_DATA_HOME) if that is an absolute path, for anything else is to be ignored; else the folder
 * of that name (.local/share) in the home folder. False: there is none, or no room for its path.
 */
bool mishap_system_user_folder(const char *variable, const char *in_home, char *path, size_t size);

/* A small file, such as those of /proc: as much of it as there is room for, and a NUL. A relative
 * path begins at `folder`. False: it cannot be read, or is empty. */
bool mishap_system_read(int folder, const char *path, char *text, size_t size);

/* The file /proc/PID/NAME of a process, read in the same way. */
bool mishap_system_read_about(int process, const char *name, char *text, size_t size);

/* Write a text to a file that is there, such as those of /proc and of control groups, with one
 * write(): the system takes such a text as a whole. False: errno says why. */
bool mishap_system_write(const char *path, const char *text);

/* A file in memory that can neither shrink nor grow, closed by exec(); `seals` (fcntl(2)) forbid
 * more. -1: errno says why. */
int mishap_system_memory(const char *name, size_t size, int seals);

/* Where a field of the text of /proc/PID/stat begins, the third or a later one, counted from 1. The
 * second is a name in brackets, which may have anything in it. NULL: there is none. */
const char *mishap_system_stat_field(const char *text, int field);

/*
 * Write stars over an argument of this process, up to its end: every user of the machine can read
 * the arguments of all processes (/proc/PID/cmdline, ps). Processes that are forked later show the
 * stars, too. Text that is no argument is left alone: it may be a constant. So is everything where
 * /proc is not mounted.
 */
void mishap_system_hide_argument(const char *argument);

/* Lower a limit of this process (setrlimit): the soft one to `most`, the hard one to `most` and
 * `spare`. A limit that is lower already stays as it is. False: errno says why. */
bool mishap_system_limit(int resource, uint64_t most, uint64_t spare);

/* Random bytes that cannot be guessed. False: the system gives none. */
bool mishap_system_random(void *bytes, size_t count);

/* The environment variable of a program, NAME_SUFFIX for `name`: how it is called, and its value;
 * NULL if it is not set. Of a long name there is as much as has room. */
void mishap_system_variable(const char *program, const char *suffix, char *variable, size_t size);
const char *mishap_system_setting(const char *program, const char *suffix);

/* The same for a suffix that is not in capitals yet: NAME_LISP_FOLDER for `lisp-folder`. */
void mishap_system_variable_of(const char *program, const char *suffix, char *variable,
                               size_t size);

#endif
