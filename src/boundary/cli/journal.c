/*
 * The private side of a failure, for the operator: always in the log file, with --verbose on stderr
 * too.
 *
 * The file is NAME.log in the state folder of the user, or whatever NAME_LOG says; an empty
 * NAME_LOG means none. What is only wrong with the caller's input has no private side and leaves no
 * trace on the disk.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boundary/cli/cli.h"

/* The path of the log file; false if there is to be none. */
static bool log_path(const mishap_app *app, char *path, size_t size)
{
    char variable[64], *to = variable;
    for (const char *c = app->name; *c && to < variable + sizeof variable - 5; c++)
        *to++ = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    snprintf(to, 5, "_LOG");
    const char *given = getenv(variable), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (given)
        length = snprintf(path, size, "%s", given);
    else if (state && *state)
        length = snprintf(path, size, "%s/%s/%s.log", state, app->name, app->name);
    else if (home && *home)
        length = snprintf(path, size, "%s/.local/state/%s/%s.log", home, app->name, app->name);
    return length > 0 && (size_t)length < size;
}

/* Make the folders above a file, for this user only. */
static void make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* Each line further in than the first of an entry, so that no text can pass itself off as one. */
static void put_indented(mishap_buffer *b, mishap_text text)
{
    while (text.length) {
        const char *end = memchr(text.data, '\n', text.length);
        size_t length = end ? (size_t)(end - text.data) + 1 : text.length;
        MISHAP_PUT(b, "  ");
        mishap_cli_put_safe(b, (mishap_text){ text.data, length });
        text.data += length;
        text.length -= length;
    }
}

static void put_entry(mishap_buffer *b, const mishap_cli *cli, const mishap *failure)
{
    mishap_clock_put_timestamp(b, mishap_clock_now_ms());
    MISHAP_PUT(b, " ");
    mishap_buffer_put_text(b, mishap_text_of(cli->request_id));
    MISHAP_PUT(b, " ");
    mishap_buffer_put_text(b, mishap_text_of(cli->app->name));
    if (cli->operation) {
        MISHAP_PUT(b, " ");
        mishap_cli_put_command(b, cli->operation->name);
    }
    MISHAP_PUT(b, "\n");
    /* It is read on a terminal, and what a caller sent may be quoted in it. */
    mishap_buffer account = { 0 };
    mishap_buffer hidden = { 0 };
    mishap_account(failure, &account);
    mishap_cli_put_hidden(&hidden, cli, mishap_buffer_text(&account));
    put_indented(b, mishap_buffer_text(&hidden));
    b->failed = b->failed || account.failed || hidden.failed;
    mishap_buffer_release(&account);
    mishap_buffer_release(&hidden);
}

static void write_all(int file, mishap_text text)
{
    while (text.length) {
        ssize_t count = write(file, text.data, text.length);
        if (count <= 0)
            return; /* a log that cannot be written must not keep the answer back */
        text.data += count;
        text.length -= (size_t)count;
    }
}

void mishap_cli_journal(const mishap_cli *cli, const mishap *failure)
{
    char path[4096];
    mishap_buffer entry = { 0 };
    bool internal = mishap_told(failure)->category != MISHAP_VALIDATION;
    if (!internal && !cli->verbose)
        return;
    put_entry(&entry, cli, failure);
    if (internal && log_path(cli->app, path, sizeof path)) {
        make_folders(path);
        int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0) {
            write_all(file, mishap_buffer_text(&entry));
            close(file);
        }
    }
    if (cli->verbose)
        write_all(STDERR_FILENO, mishap_buffer_text(&entry));
    mishap_buffer_release(&entry);
}
