/* One audit: its settings, the baseline, the reports and the exit code. */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/report/report.h"
#include "base/system.h"
#include "operation/call.h"
#include "operation/styled.h"

/* The audit ends this long before the time of the call, so that there is a report. */
enum { LEAST_LEFT_MS = 3000 };

/* -- while it runs ----------------------------------------------------------------------------- */

static bool is_over(void *state)
{
    int64_t left = mishap_call_time_left(state);
    return mishap_cancelled(state) || (left >= 0 && left < LEAST_LEFT_MS);
}

static void show_progress(void *state, size_t requests, const char *place)
{
    mishap_buffer words = { 0 };
    mishap_put_printable_line(&words, mishap_text_of(place ? place : ""));
    mishap_buffer_put_char(&words, '\0');
    mishap_progress(state, (double)requests, 0, words.failed ? NULL : words.data);
    mishap_buffer_release(&words);
}

/* -- files ------------------------------------------------------------------------------------- */

static mishap *refuse_output(const char *path, int error)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    mishap *m = mishap_raise(OUTPUT_FAILED, "Cannot write the file %s.", path);
    if (error == ENOENT || error == ENOTDIR)
        m = mishap_suggest(m, "The folder of the file does not exist: create it first.");
    return mishap_tell_cause(mishap_tell(m, "file", path), cause);
}

/* 0 if the file can be written, else errno. A file that exists stays as it is, and none is left. */
static int why_unwritable(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) ? EISDIR : access(path, W_OK) == 0 ? 0 : errno;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return errno == EEXIST ? 0 : errno; /* a link to a file that does not exist yet */
    close(file);
    unlink(path);
    return 0;
}

/* Before anything is sent: a wrong name must not cost an audit. */
static mishap *try_file(mishap_call *call, const char *param)
{
    const char *path = mishap_string(call, param);
    int error = path ? why_unwritable(path) : 0;
    return error ? refuse_output(path, error) : NULL;
}

static mishap *write_file(const char *path, mishap_text text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return refuse_output(path, errno);
    int error = 0;
    while (text.length && !error) {
        ssize_t count = write(file, text.data, text.length);
        if (count < 0 && errno != EINTR)
            error = errno;
        if (count > 0) {
            text.data += count;
            text.length -= (size_t)count;
        }
    }
    if (close(file) != 0 && !error)
        error = errno;
    return error ? refuse_output(path, error) : NULL;
}

/* -- the baseline ------------------------------------------------------------------------------ */

static void release_buffer(void *buffer)
{
    mishap_buffer_release(buffer);
}

/* Read it before anything is sent: a mistake in it must not cost an audit. It lives as long as the
 * call; without --baseline it is empty. */
static mishap *read_baseline(mishap_call *call, mishap_buffer **text)
{
    const char *path = mishap_string(call, "baseline");
    *text = mishap_call_take(call, sizeof **text);
    **text = (mishap_buffer){ 0 };
    mishap_call_defer(call, release_buffer, *text);
    if (!path)
        return NULL;
    mishap *failure = tool_read_input(path, *text);
    if (failure)
        return failure;
    failure = mishap_audit_check_baseline(mishap_buffer_text(*text));
    return failure ? mishap_tell(failure, "file", path) : NULL;
}

static mishap *use_baseline(mishap_call *call, mishap_audit *audit, const mishap_buffer *text)
{
    size_t stale = 0;
    if (!mishap_given(call, "baseline"))
        return NULL;
    mishap *failure = mishap_audit_forgive(audit, mishap_buffer_text(text), &stale);
    if (!failure && stale)
        mishap_warn(call, "The baseline has %zu %s that this audit did not find.", stale,
                    stale == 1 ? "finding" : "findings");
    return failure;
}

static mishap *write_baseline(mishap_call *call, const mishap_audit_results *results)
{
    const char *path = mishap_string(call, "write_baseline");
    mishap_buffer text = { 0 };
    if (!path)
        return NULL;
    mishap_audit_put_baseline(&text, results);
    mishap *failure = text.failed ? mishap_out_of_memory()
                                  : write_file(path, mishap_buffer_text(&text));
    if (!failure)
        mishap_warn(call, "%zu %s written into the baseline %s.", results->findings,
                    results->findings == 1 ? "finding was" : "findings were", path);
    mishap_buffer_release(&text);
    return failure;
}

/* -- reports ----------------------------------------------------------------------------------- */

static const mishap_audit_form *find_form(const char *name)
{
    const mishap_audit_form *form = mishap_audit_forms;
    while (form->name && strcmp(form->name, name) != 0)
        form++;
    return form;
}

/* A form that was asked for, into the file or to standard output. */
static mishap *write_form(mishap_call *call, const mishap_audit_results *results, const char *name)
{
    const char *path = mishap_string(call, "report");
    const mishap_audit_form *form = find_form(name);
    mishap_buffer text = { 0 };
    mishap *failure = NULL;
    if (form->put == mishap_audit_put_table && !path)
        mishap_audit_put_table_for(&text, results, false, call->columns);
    else
        form->put(&text, results);
    if (text.length && text.data[text.length - 1] != '\n')
        MISHAP_PUT(&text, "\n");
    if (text.failed)
        failure = mishap_out_of_memory();
    else if (path)
        failure = write_file(path, mishap_buffer_text(&text));
    else if (mishap_stream(call, form->media_type))
        mishap_stream_write(call, mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return failure;
}

/* Code scanning shows a finding beside a file of the repository, and leaves out others. */
static void warn_of_location(mishap_call *call, const mishap_audit_results *results)
{
    const char *format = mishap_string(call, "format"), *file = results->settings->file;
    struct stat found;
    if (!format || (strcmp(format, "sarif") != 0 && strcmp(format, "github") != 0) ||
        mishap_given(call, "location"))
        return;
    if (!file || stat(file, &found) != 0)
        mishap_warn(call, "The report points at no file of a repository, as code scanning needs: "
                          "name one with --location FILE.");
}

/* The envelope in a pipe, the table on a terminal. */
static mishap *answer_results(mishap_call *call, const mishap_audit_results *results)
{
    mishap_buffer json = { 0 }, table = { 0 };
    mishap_audit_put_json(&json, results);
    mishap_audit_put_table_for(&table, results, true, call->columns);
    mishap *failure = table.failed ? mishap_out_of_memory() : NULL;
    mishap *unanswered = tool_answer(call, &json);
    if (!failure && !unanswered)
        failure = mishap_answer_styled(call, mishap_buffer_text(&table));
    mishap_buffer_release(&table);
    return unanswered ? mishap_because(unanswered, failure) : failure;
}

static mishap *put_reports(mishap_call *call, const mishap_audit_results *results)
{
    const char *format = mishap_string(call, "format"), *path = mishap_string(call, "report");
    mishap *failure = NULL;
    warn_of_location(call, results);
    if (format || path)
        failure = write_form(call, results, format ? format : "json");
    if (!failure && (path || !format))
        failure = answer_results(call, results);
    return failure ? failure : write_baseline(call, results);
}

/* -- the exit code ----------------------------------------------------------------------------- */

static mishap *tell_score(mishap *m, const mishap_audit_results *results)
{
    m = mishap_suggest(m, "Correct what failed and audit again, or accept it with --write-baseline "
                          "FILE and --baseline FILE.");
    m = mishap_tell(m, "failed", results->outcomes[MISHAP_AUDIT_FAILED]);
    m = mishap_tell(m, "findings", results->findings);
    return results->score < 0 ? m : mishap_tell(m, "score", results->score);
}

static mishap *judge_results(mishap_call *call, const mishap_audit_results *results)
{
    bool limited = mishap_given(call, "fail_under"), known = mishap_given(call, "baseline");
    int limit = limited ? (int)mishap_integer(call, "fail_under") : 0;
    if (results->settings->dry_run || mishap_given(call, "write_baseline"))
        return NULL;
    if (results->score < 0 && !(limited && limit == 0))
        return mishap_suggest(
            mishap_raise(PRECONDITION, "No check could be decided."),
            results->settings->area == MISHAP_AUDIT_CLI
                ? "Read the remarks of the report; --dry-run lists the runs."
                : "Read the remarks of the report; --dry-run lists the requests.");
    if (known && results->new_findings)
        return tell_score(mishap_raise(NONCONFORMING, "%zu %s not in the baseline.",
                                       results->new_findings,
                                       results->new_findings == 1 ? "finding is" : "findings are"),
                          results);
    if (limited && results->score >= 0 && results->score < limit)
        return tell_score(
            mishap_raise(NONCONFORMING, "The score %d is below %d.", results->score, limit),
            results);
    size_t failed = results->outcomes[MISHAP_AUDIT_FAILED];
    if (!limited && !known && failed)
        return tell_score(
            mishap_raise(NONCONFORMING, "%zu %s failed.", failed, failed == 1 ? "check" : "checks"),
            results);
    return NULL;
}

/* -- all of it --------------------------------------------------------------------------------- */

/* A file below the current folder by its relative path: reports are read in a repository. */
static const char *name_below_here(mishap_call *call, const char *file)
{
    char here[4096];
    if (!file || file[0] != '/' || !getcwd(here, sizeof here) || !here[1])
        return file;
    size_t length = strlen(here);
    bool below = strncmp(file, here, length) == 0 && file[length] == '/' && file[length + 1];
    return below ? mishap_call_print(call, "%s", file + length + 1) : file;
}

static void free_audit(void *audit)
{
    mishap_audit_free(audit);
}

mishap *audit_run(mishap_call *call, const audit_task *task)
{
    const char *location = mishap_string(call, "location");
    mishap_buffer *baseline;
    mishap *failure = read_baseline(call, &baseline);
    if (!failure)
        failure = try_file(call, "report");
    if (!failure)
        failure = try_file(call, "write_baseline");
    if (failure)
        return failure;
    mishap_audit *audit = mishap_audit_open(
        &(mishap_audit_settings){ .area = task->area,
                                  .checks = task->checks,
                                  .target = task->target,
                                  .file = name_below_here(call, location ? location : task->file),
                                  .max_requests = (size_t)mishap_integer(call, "max_requests"),
                                  .rate = mishap_number(call, "rate"),
                                  .dry_run = mishap_boolean(call, "dry_run"),
                                  .secrets = task->secrets,
                                  .cancelled = is_over,
                                  .progress = show_progress,
                                  .state = call });
    const mishap_audit_results *results = NULL;
    if (!audit)
        return mishap_out_of_memory();
    mishap_call_defer(call, free_audit, audit);
    failure = task->run(audit, task->area_target);
    if (!failure)
        failure = mishap_audit_end(audit, &results);
    if (!failure)
        failure = use_baseline(call, audit, baseline);
    if (!failure)
        failure = put_reports(call, results);
    return failure ? failure : judge_results(call, results);
}
