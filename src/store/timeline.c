/* The file of the timelines. Its lines may be damaged: such a line says nothing. */
#include "store/timeline.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    CLUSTER_DIGITS = 20,
    TIMELINE_DIGITS = 10,
    RECORD = CLUSTER_DIGITS + 1 + TIMELINE_DIGITS + 1, /* a space, and the end of the line */
};

void mishap_timelines_open(store_timelines *t, const char *folder)
{
    static const char name[] = "/timelines";
    char path[4096];
    *t = (store_timelines){ .file = -1, .at = -1 };
    if (!folder || !*folder || strlen(folder) >= sizeof path - sizeof name)
        return;
    snprintf(path, sizeof path, "%s%s", folder, name);
    t->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void mishap_timelines_close(store_timelines *t)
{
    if (t->file >= 0)
        close(t->file);
    t->file = t->at = -1;
}

/* -- records ----------------------------------------------------------------------------------- */

static bool read_digits(const char *text, size_t count, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9 || *number > (UINT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return true;
}

/* False: there is no such line, or it is damaged. */
static bool read_record(const store_timelines *t, int64_t at, uint64_t *cluster, uint32_t *timeline)
{
    char line[RECORD];
    uint64_t number;
    if (pread(t->file, line, RECORD, at) != RECORD || line[CLUSTER_DIGITS] != ' ' ||
        line[RECORD - 1] != '\n' || !read_digits(line, CLUSTER_DIGITS, cluster) ||
        !read_digits(line + CLUSTER_DIGITS + 1, TIMELINE_DIGITS, &number) || number > UINT32_MAX)
        return false;
    *timeline = (uint32_t)number;
    return true;
}

static bool write_record(const store_timelines *t, int64_t at, uint64_t cluster, uint32_t timeline)
{
    char line[RECORD + 1];
    snprintf(line, sizeof line, "%0*" PRIu64 " %0*" PRIu32 "\n", CLUSTER_DIGITS, cluster,
             TIMELINE_DIGITS, timeline);
    return pwrite(t->file, line, RECORD, at) == RECORD && fdatasync(t->file) == 0;
}

/* Find the record of the cluster, or the place for a new one: the first line that is damaged, or
 * the end. The lock of the file is held. */
static uint32_t find_record(store_timelines *t, uint64_t cluster)
{
    off_t size = lseek(t->file, 0, SEEK_END);
    int64_t place = -1;
    for (int64_t i = 0; i < STORE_TIMELINES && i * RECORD < size; i++) {
        uint64_t found;
        uint32_t timeline;
        bool sound = read_record(t, i * RECORD, &found, &timeline);
        if (sound && found == cluster) {
            t->at = i * RECORD;
            return timeline;
        }
        if (!sound && place < 0)
            place = i * RECORD;
    }
    t->at = place >= 0 ? place : size < 0 ? 0 : size / RECORD * RECORD;
    return 0;
}

size_t mishap_timelines_list(const store_timelines *t, store_timeline *out, size_t most)
{
    off_t size = t->file >= 0 ? lseek(t->file, 0, SEEK_END) : 0;
    size_t count = 0;
    for (int64_t i = 0; i < STORE_TIMELINES && i * RECORD < size && count < most; i++)
        count += read_record(t, i * RECORD, &out[count].cluster, &out[count].timeline);
    return count;
}

void mishap_timelines_learn(store_timelines *t, store_timeline told)
{
    int64_t at = t->at;
    if (t->file < 0 || flock(t->file, LOCK_EX) != 0)
        return;
    if (told.cluster && find_record(t, told.cluster) < told.timeline)
        write_record(t, t->at, told.cluster, told.timeline);
    t->at = told.cluster == t->cluster ? t->at : at;
    flock(t->file, LOCK_UN);
}

/* -- using a primary --------------------------------------------------------------------------- */

bool mishap_timelines_admit(store_timelines *t, uint64_t cluster, uint32_t timeline,
                            uint32_t *highest)
{
    bool locked = t->file >= 0 && flock(t->file, LOCK_EX) == 0;
    if (cluster != t->cluster)
        *t = (store_timelines){ .file = t->file, .at = -1, .cluster = cluster };
    *highest = t->timeline;
    if (locked) {
        uint32_t kept = find_record(t, cluster);
        if (kept > *highest)
            *highest = kept;
        if (timeline >= *highest && kept != timeline && !write_record(t, t->at, cluster, timeline))
            t->at = -1; /* the disk is full: only this process knows it */
        flock(t->file, LOCK_UN);
    }
    t->timeline = timeline > *highest ? timeline : *highest;
    return timeline >= *highest;
}

bool mishap_timelines_overtaken(const store_timelines *t)
{
    uint64_t cluster;
    uint32_t timeline;
    return t->file >= 0 && t->at >= 0 && read_record(t, t->at, &cluster, &timeline) &&
           cluster == t->cluster && timeline > t->timeline;
}
