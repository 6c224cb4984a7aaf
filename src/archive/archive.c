/* The archive as an engine of the index: opening, closing, and which journal this is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/hex.h"

enum { LONGEST_PATH = 4096 };

/* -- which journal this is --------------------------------------------------------------------- */

static bool read_identity(const char *path, char identity[ARCHIVE_IDENTITY])
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t count = file < 0 ? -1 : read(file, identity, ARCHIVE_IDENTITY - 1);
    if (file >= 0)
        close(file);
    identity[ARCHIVE_IDENTITY - 1] = '\0';
    return count == ARCHIVE_IDENTITY - 1 &&
           strspn(identity, "0123456789abcdef") == ARCHIVE_IDENTITY - 1;
}

/* A random number in the data folder: two servers may have the same host name and the same path of
 * the journal, as in containers. A folder that cannot be written has none. */
static void find_identity(archive *a, const char *data)
{
    char path[LONGEST_PATH], made[LONGEST_PATH + 16];
    unsigned char bytes[(ARCHIVE_IDENTITY - 1) / 2];
    int length = snprintf(path, sizeof path, "%s/incidents", data);
    a->identity[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof path - 16 || !mishap_system_make_folder(path))
        return;
    snprintf(path + length, sizeof path - (size_t)length, "/server");
    snprintf(made, sizeof made, "%s.%ld", path, (long)getpid());
    if (read_identity(path, a->identity))
        return;
    int file = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && mishap_system_random(bytes, sizeof bytes)) {
        mishap_hex_write(a->identity, bytes, sizeof bytes);
        mishap_system_give_to_owner(file, made);
        bool whole = write(file, a->identity, ARCHIVE_IDENTITY - 1) == ARCHIVE_IDENTITY - 1;
        if (!whole || (link(made, path) != 0 && errno != EEXIST))
            a->identity[0] = '\0';
    }
    if (file >= 0) {
        close(file);
        unlink(made);
    }
    if (!read_identity(path, a->identity)) /* another process may have been first */
        a->identity[0] = '\0';
}

/* -- opening and closing ----------------------------------------------------------------------- */

static char *copy_behind(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

static mishap *open_archive(const mishap_index_plan *plan, mishap_index **out)
{
    const char *program = plan->program ? plan->program : "";
    size_t size = strlen(plan->store) + strlen(program) + 2 +
                  (plan->journal ? strlen(plan->journal) + 1 : 0);
    archive *a = mishap_allocate(sizeof *a + size);
    if (!a)
        return mishap_out_of_memory();
    *a = (archive){ .base = { .engine = &mishap_incidents_in_postgresql, .now_ms = plan->now_ms },
                    .days = plan->days,
                    .max_bytes = plan->max_bytes,
                    .state = MISHAP_READER_FOLLOWS };
    char *behind = (char *)(a + 1);
    a->address = copy_behind(&behind, plan->store);
    a->program = copy_behind(&behind, program);
    if (plan->journal)
        a->journal = copy_behind(&behind, plan->journal);
    if (gethostname(a->host, sizeof a->host - 1) != 0)
        a->host[0] = '\0';
    find_identity(a, plan->data);
    *out = (mishap_index *)(void *)a;
    return NULL;
}

/* A batch may make partitions and analyze one, and a list may have to read a whole day. */
enum { LONGEST_ANSWER_MS = 60000 };

mishap *mishap_archive_connect(archive *a)
{
    if (a->store)
        return NULL;
    MISHAP_TRY(mishap_store_open(a->address, NULL, &mishap_archive_schema, &a->store));
    mishap_store_limit_answers(a->store, LONGEST_ANSWER_MS);
    return NULL;
}

static void close_archive(mishap_index *index)
{
    archive *a = (archive *)(void *)index;
    mishap_store_close(a->store);
    mishap_follow_close(a->follow);
    mishap_index_reader_release(&a->reader);
    mishap_archive_batch_release(&a->batch);
    explicit_bzero(a->address, strlen(a->address));
    mishap_release(a);
}

static void report_archive(mishap_index *index, index_report *report)
{
    const archive *a = (archive *)(void *)index;
    *report = (index_report){
        .state = a->state,
        .lag = a->follow ? mishap_follow_behind(a->follow) : 0,
        .records = a->records,
        .bad_lines = a->bad_lines + (a->follow ? mishap_follow_lost(a->follow) : 0),
        .has_groups = a->has_groups,
        .fresh = a->fresh,
        .regressed = a->regressed,
    };
}

const mishap_index_engine mishap_incidents_in_postgresql = {
    .open = open_archive,
    .close = close_archive,
    .catch_up = mishap_archive_catch_up,
    .report = report_archive,
    .rows = mishap_archive_rows,
    .find = mishap_archive_find,
    .groups = mishap_archive_groups_page,
    .group = mishap_archive_group_one,
    .group_set = mishap_archive_group_set,
    .group_undo = mishap_archive_group_undo,
    .stats = mishap_archive_stats,
};
