/*
 * Whose incidents the index of a data folder has: DATA/incidents/journal names the journal of the
 * server that writes it. A command that has another journal must not put that into the index of a
 * server, where its incidents would stand among those of the server.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "index/inside.h"

/* A path from the root: the processes that compare it may have other working folders. */
static bool make_absolute(const char *path, char to[INDEX_PATH])
{
    char folder[INDEX_PATH] = "";
    bool relative = path[0] != '/';
    if (relative && !getcwd(folder, sizeof folder))
        return false;
    int length = snprintf(to, INDEX_PATH, "%s%s%s", folder, relative ? "/" : "", path);
    return length > 0 && length < INDEX_PATH && !strchr(to, '\n');
}

static bool put_whole_file(const char *path, mishap_text text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = file >= 0 && write(file, text.data, text.length) == (ssize_t)text.length;
    if (file >= 0)
        written = close(file) == 0 && written;
    return written;
}

void mishap_index_own(const char *data, const char *journal)
{
    char path[INDEX_PATH + 32], beside[INDEX_PATH + 32], line[INDEX_PATH + 1];
    if (!make_absolute(journal, line))
        return;
    size_t length = strlen(line);
    line[length++] = '\n';
    snprintf(path, sizeof path, "%s/incidents/journal", data);
    snprintf(beside, sizeof beside, "%s/incidents/journal.new", data);
    if (put_whole_file(beside, (mishap_text){ line, length }))
        rename(beside, path);
}

static bool read_owner(const char *folder, char journal[INDEX_PATH])
{
    char path[INDEX_PATH + 16];
    snprintf(path, sizeof path, "%s/journal", folder);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    ssize_t length = read(file, journal, INDEX_PATH);
    close(file);
    if (length < 2 || journal[0] != '/' || journal[length - 1] != '\n')
        return false;
    journal[length - 1] = '\0';
    return strlen(journal) == (size_t)length - 1;
}

bool mishap_index_journal_of(const char *data, char *journal, size_t size)
{
    char folder[INDEX_PATH], found[INDEX_PATH];
    int length = snprintf(folder, sizeof folder, "%s/incidents", data);
    return length > 0 && (size_t)length < sizeof folder && read_owner(folder, found) &&
           (size_t)snprintf(journal, size, "%s", found) < size;
}

bool mishap_index_is_of_other(const char *folder, const char *journal)
{
    char owner[INDEX_PATH], own[INDEX_PATH];
    return read_owner(folder, owner) && make_absolute(journal, own) && strcmp(owner, own) != 0;
}
