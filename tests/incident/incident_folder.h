/* What the tests of the log share: a folder for each test, records, and what stderr got. */
#ifndef MISHAP_TESTS_INCIDENT_FOLDER_H
#define MISHAP_TESTS_INCIDENT_FOLDER_H

#include "testing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "incident/incident.h"

#define ID "0192f7a0-0000-7000-8000-000000000000"

/* -- a folder for each test -------------------------------------------------------------------- */

static char folder[64], log_file[128];

static inline int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/mishap-incident-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(log_file, sizeof log_file, "%s/deep/er/sample.log", folder);
    setenv("SAMPLE_LOG", log_file, 1);
    return 0;
}

static inline int leave_folder(void **state)
{
    (void)state;
    unsetenv("SAMPLE_LOG");
    return remove_tree(folder);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

static inline void record(mishap *failure, const mishap_secrets *secrets)
{
    mishap_incident_record(&(mishap_incident_entry){ .program = "sample",
                                                     .operation = "users.create",
                                                     .id = ID,
                                                     .failure = failure,
                                                     .secrets = secrets });
    mishap_free(failure);
}

static inline bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The next line, ended where its line break was; NULL at the end. A log is long, and to a sanitizer
 * that looks at whole strings each search in it would be as long as the rest. */
static inline char *next_line(char **rest, char *end)
{
    char *line = *rest, *line_end = memchr(line, '\n', (size_t)(end - line));
    if (line == end)
        return NULL;
    assert_non_null(line_end);
    *line_end = '\0';
    *rest = line_end + 1;
    return line;
}

/* How many entries a log has; each line of it is the first of one, or further in. */
static inline size_t count_entries(const char *path)
{
    size_t length, entries = 0;
    char *text = read_file(path, &length), *rest = text;
    for (const char *line; (line = next_line(&rest, text + length));) {
        bool first = strlen(line) > 23 && strncmp(line, "20", 2) == 0 && line[10] == 'T' &&
                     line[23] == 'Z';
        entries += first;
        if (!first && strncmp(line, "  ", 2) != 0)
            fail_msg("neither the start of an entry nor further in: %s", line);
    }
    free(text);
    return entries;
}

/* How many records a log has; each line of it is one. */
static inline size_t count_records(const char *path)
{
    size_t length, records = 0;
    char *text = read_file(path, &length), *rest = text;
    for (char *line; (line = next_line(&rest, text + length)); records++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        if (!mishap_json_read(&reader, mishap_text_of(line)) ||
            strncmp(line, "{\"v\":1,\"kind\":\"whole\",\"id\":\"", 28) != 0 ||
            rest - line > 128 << 10)
            fail_msg("no record: %s", line);
        mishap_json_reader_release(&reader);
    }
    free(text);
    return records;
}

/* What stderr gets meanwhile goes to a file. */
static int real_stderr;
static char error_file[100];

static inline void catch_stderr(void)
{
    snprintf(error_file, sizeof error_file, "%s/stderr", folder);
    int file = open(error_file, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
    real_stderr = dup(STDERR_FILENO);
    assert_true(real_stderr >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    close(file);
}

static inline char *caught_stderr(size_t *length)
{
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    return read_file(error_file, length);
}

#endif
