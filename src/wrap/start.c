/* What keeps a command from starting, and programs whose name is similar. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/nearest.h"
#include "base/search.h"
#include "base/system.h"
#include "wrap/wrap.h"

enum { MOST_NAMES = 20000, NOT_THERE = 127, NOT_EXECUTABLE = 126 };

int mishap_wrap_start_status(int error)
{
    return error == ENOENT ? NOT_THERE : NOT_EXECUTABLE;
}

static void weigh_folder(const char *folder, mishap_guess *guess, mishap_arena *arena, size_t *left)
{
    DIR *names = opendir(folder);
    for (struct dirent *one; names && *left && (one = readdir(names)); (*left)--) {
        mishap_text before = guess->name;
        mishap_guess_weigh(guess, mishap_text_of(one->d_name));
        if (guess->name.data != before.data) /* the entry lives as long as the folder is open */
            guess->name = mishap_arena_copy(arena, guess->name);
    }
    if (names)
        closedir(names);
}

/* "Did you mean `git`?", or "" */
static void suggest_name(const char *name, char *words, size_t size)
{
    mishap_guess guess = { .word = mishap_text_of(name) };
    mishap_arena arena;
    const char *path = getenv("PATH");
    size_t left = MOST_NAMES;
    char folder[4096];
    mishap_arena_init(&arena, NULL, 0);
    while (!strchr(name, '/') && mishap_search_next(&path, folder, sizeof folder))
        weigh_folder(folder, &guess, &arena, &left);
    if (guess.name.data)
        snprintf(words, size, "Did you mean `%.*s`?", (int)guess.name.length, guess.name.data);
    else
        snprintf(words, size, "%s",
                 strchr(name, '/') ? "Check the path of the program."
                                   : "Check the spelling, or install the program.");
    mishap_arena_release(&arena);
}

/* The interpreter that a script names in its first line; "" if it is no script. */
static void read_interpreter(const char *file, char *interpreter, size_t size)
{
    char line[256];
    *interpreter = '\0';
    if (!mishap_system_read(AT_FDCWD, file, line, sizeof line) || strncmp(line, "#!", 2) != 0)
        return;
    const char *start = line + 2 + strspn(line + 2, " \t");
    snprintf(interpreter, size, "%.*s", (int)strcspn(start, " \t\r\n"), start);
}

static mishap *not_there(const char *name, int error)
{
    char file[4096], interpreter[256], words[320];
    if (!mishap_search_program(name, file, sizeof file) || access(file, F_OK) != 0) {
        suggest_name(name, words, sizeof words);
        return mishap_suggest(mishap_raise(NOT_FOUND, "There is no program `%s`.", name), words);
    }
    read_interpreter(file, interpreter, sizeof interpreter);
    if (*interpreter) {
        mishap *m = mishap_raise(NOT_FOUND, "The program `%s` needs `%s`, which is not there.",
                                 name, interpreter);
        return mishap_suggest(m, "Install it, or correct the first line of the program.");
    }
    mishap_system_error(error, words, sizeof words);
    return mishap_suggest(
        mishap_raise(NOT_FOUND, "The program `%s` cannot be started: %s.", name, words),
        "Check that it was made for this machine, and that its loader is there.");
}

mishap *mishap_wrap_not_started(const char *const *argv, int error)
{
    char words[128];
    mishap *m;
    if (error == ENOENT) {
        m = not_there(argv[0], error);
    } else if (error == EACCES || error == EPERM || error == ENOEXEC || error == EISDIR) {
        mishap_system_error(error, words, sizeof words);
        m = mishap_raise(NOT_AUTHORIZED, "The program `%s` cannot be executed: %s.", argv[0],
                         words);
        m = mishap_suggest(m, "Check the path and the permissions of the file (`chmod +x`).");
    } else {
        mishap_system_error(error, words, sizeof words);
        m = mishap_raise(UNAVAILABLE, "The program `%s` cannot be started: %s.", argv[0], words);
        if (error == E2BIG)
            m = mishap_retryable(mishap_suggest(m, "Give fewer or shorter arguments."), false);
    }
    return mishap_tell(m, "program", argv[0]);
}
