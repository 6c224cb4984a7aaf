/* The files of the index: names, sizes, and which are deleted. See inside.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "index/inside.h"

static const char *const beside[] = { "", "-wal", "-shm" };

void mishap_index_day_name(int64_t day, char name[16])
{
    time_t seconds = (time_t)(day * 86400);
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || !strftime(name, 16, "%Y-%m-%d", &tm))
        name[0] = '\0';
}

bool mishap_index_file_path(const char *folder, int64_t day, int part, bool damaged,
                            char path[INDEX_PATH])
{
    char name[16], number[16] = "";
    mishap_index_day_name(day, name);
    if (part > 1)
        snprintf(number, sizeof number, ".%d", part);
    int length = snprintf(path, INDEX_PATH, "%s/%s%s.sqlite%s", folder, name, number,
                          damaged ? ".damaged" : "");
    return name[0] && length > 0 && length < INDEX_PATH;
}

/* "2026-11-17.2.sqlite" → its day and part. */
static bool read_name(const char *name, index_file *file)
{
    struct tm tm = { 0 };
    int year, month, day, part = 1, end = -1;
    char again[INDEX_PATH];
    if (sscanf(name, "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || end != 10)
        return false;
    if (name[10] == '.' && name[11] >= '1' && name[11] <= '9')
        part = (int)strtol(name + 11, NULL, 10);
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    size_t length = strlen(name);
    *file = (index_file){ .day = (int64_t)timegm(&tm) / 86400,
                          .part = part,
                          .damaged = length > 8 && strcmp(name + length - 8, ".damaged") == 0 };
    /* Only the one spelling that is made here. */
    return file->day >= 0 && mishap_index_file_path("", file->day, part, file->damaged, again) &&
           strcmp(again + 1, name) == 0;
}

uint64_t mishap_index_file_bytes(const char *path)
{
    char name[INDEX_PATH + 8];
    struct stat status;
    uint64_t bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        if (stat(name, &status) == 0)
            bytes += (uint64_t)status.st_blocks * 512;
    }
    return bytes;
}

static int by_day(const void *a, const void *b)
{
    const index_file *x = a, *y = b;
    if (x->day != y->day)
        return x->day < y->day ? -1 : 1;
    return x->part != y->part ? (x->part < y->part ? -1 : 1) : x->damaged - y->damaged;
}

bool mishap_index_files_list(const char *folder, index_files *files)
{
    *files = (index_files){ 0 };
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    size_t room = 0;
    bool fits = true;
    while (entries && fits && (entry = readdir(entries))) {
        index_file file;
        char path[INDEX_PATH];
        if (files->count == INDEX_MOST_FILES || !read_name(entry->d_name, &file))
            continue;
        if (files->count == room) {
            room = room ? 2 * room : 64;
            index_file *all = mishap_resize(files->all, room * sizeof *all);
            fits = all != NULL;
            files->all = all ? all : files->all;
        }
        if (fits && mishap_index_file_path(folder, file.day, file.part, file.damaged, path)) {
            file.bytes = mishap_index_file_bytes(path);
            files->all[files->count++] = file;
        }
    }
    if (entries)
        closedir(entries);
    mishap_sort(files->all, files->count, sizeof *files->all, by_day);
    return entries && fits;
}

void mishap_index_files_free(index_files *files)
{
    mishap_release(files->all);
    *files = (index_files){ 0 };
}

static void remove_file(const char *folder, const index_file *file)
{
    char path[INDEX_PATH], name[INDEX_PATH + 8];
    if (!mishap_index_file_path(folder, file->day, file->part, file->damaged, path))
        return;
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        unlink(name);
    }
}

/* Which file goes first if there is no room: damaged ones, those of a clock that was wrong, then
 * the oldest. */
static int64_t worth(const index_file *file, int64_t today)
{
    if (file->damaged)
        return -2;
    return file->day > today + 1 ? -1 : file->day;
}

void mishap_index_files_retain(const char *folder, int64_t today, int days, uint64_t max_bytes)
{
    index_files files;
    uint64_t total = 0;
    size_t left = 0;
    mishap_index_files_list(folder, &files);
    for (size_t i = 0; i < files.count; i++) {
        const index_file *file = &files.all[i];
        if (days && file->day <= today - days) {
            remove_file(folder, file);
            continue;
        }
        total += file->bytes;
        files.all[left++] = *file;
    }
    while (max_bytes && total > max_bytes && left > 1) {
        size_t least = 0;
        for (size_t i = 1; i < left; i++)
            if (worth(&files.all[i], today) < worth(&files.all[least], today))
                least = i;
        remove_file(folder, &files.all[least]);
        total -= files.all[least].bytes;
        memmove(&files.all[least], &files.all[least + 1], (--left - least) * sizeof *files.all);
    }
    mishap_index_files_free(&files);
}

void mishap_index_file_set_aside(const char *path)
{
    char from[INDEX_PATH + 8], to[INDEX_PATH + 32];
    for (size_t i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "%s%s", path, beside[i]);
        snprintf(to, sizeof to, "%s.damaged%s", path, beside[i]);
        if (i < 2)
            rename(from, to);
        else
            unlink(from);
    }
}
