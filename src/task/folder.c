/*
 * A file of the data folder, `tasks-PROGRAM`: its lock belongs to the one process that runs the
 * tasks of this program in the folder, and it has the name by which that process knows its rows in
 * a store that others use, too. Each program has a file of its own: a server of another program
 * cannot run its tasks, and must not keep a process of this program from running them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/system.h"
#include "task/task.h"

enum { LOOKS = 200, PAUSE_US = 10000 };

static bool read_name(int file, char *name)
{
    unsigned char bytes[MISHAP_TASK_SERVER / 2];
    bool whole = pread(file, name, MISHAP_TASK_SERVER, 0) == MISHAP_TASK_SERVER &&
                 mishap_hex_read(name, bytes, sizeof bytes);
    name[whole ? MISHAP_TASK_SERVER : 0] = '\0';
    return whole;
}

static bool write_name(int file, char *name)
{
    unsigned char bytes[MISHAP_TASK_SERVER / 2];
    if (!mishap_system_random(bytes, sizeof bytes))
        return false;
    mishap_hex_write(name, bytes, sizeof bytes);
    name[MISHAP_TASK_SERVER] = '\0';
    return pwrite(file, name, MISHAP_TASK_SERVER, 0) == MISHAP_TASK_SERVER && fsync(file) == 0;
}

/* Only a process with the lock writes the name; another one waits until it is there. */
static bool find_name(int file, char *name, bool *locked)
{
    for (int i = 0; i < LOOKS; i++) {
        *locked = flock(file, LOCK_EX | LOCK_NB) == 0;
        if (read_name(file, name) || (*locked && write_name(file, name)))
            return true;
        usleep(PAUSE_US);
    }
    return false;
}

bool mishap_task_folder_file(const char *folder, const char *program, char *path, size_t size)
{
    return (size_t)snprintf(path, size, "%s/tasks-%s", folder, program) < size;
}

mishap *mishap_task_folder_name(const char *folder, const char *program,
                                char name[MISHAP_TASK_SERVER + 1], int *lock)
{
    char path[4200];
    bool locked = false, wanted = lock != NULL;
    int file = -1;
    name[0] = '\0';
    if (wanted)
        *lock = -1;
    if (mishap_task_folder_file(folder, program, path, sizeof path))
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool found = file >= 0 &&
                 ((!wanted && read_name(file, name)) || find_name(file, name, &locked));
    if (wanted && locked && found)
        *lock = file;
    else if (file >= 0)
        close(file);
    return found ? NULL
                 : mishap_raise(NOT_CONFIGURED, "The data folder %s cannot be used for tasks.",
                                folder);
}
