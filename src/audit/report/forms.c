/* The list of the forms, and what several of them write. */
#include <stdarg.h>
#include <stdio.h>

#include "audit/report/report.h"

const mishap_audit_form mishap_audit_forms[] = {
    { "table", "text/plain; charset=utf-8", mishap_audit_put_table },
    { "json", "application/json", mishap_audit_put_json },
    { "sarif", "application/sarif+json", mishap_audit_put_sarif },
    { "junit", "application/xml", mishap_audit_put_junit },
    { "github", "text/plain; charset=utf-8", mishap_audit_put_github },
    { "html", "text/html; charset=utf-8", mishap_audit_put_html },
    { 0 },
};

void mishap_audit_print(mishap_buffer *buffer, const char *format, ...)
{
    char line[2000]; /* more than three texts of a check */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    mishap_buffer_put_text(buffer, mishap_text_of(line));
}

static const char *plural(size_t count, const char *one, const char *more)
{
    return count == 1 ? one : more;
}

static bool is_command(const mishap_audit_results *results)
{
    return results->settings->area == MISHAP_AUDIT_CLI;
}

static size_t count_known(const mishap_audit_results *results)
{
    size_t known = 0;
    for (size_t i = 0; i < results->check_count; i++)
        known += mishap_audit_is_known(&results->checks[i]);
    return known;
}

void mishap_audit_put_verdict(mishap_buffer *buffer, const mishap_audit_results *results)
{
    const size_t *count = results->outcomes;
    if (results->settings->dry_run) {
        mishap_audit_print(
            buffer, "Dry run: %zu %s.", results->planned_count,
            is_command(results)
                ? plural(results->planned_count, "run would be made", "runs would be made")
                : plural(results->planned_count, "request would be sent",
                         "requests would be sent"));
        return;
    }
    size_t known = results->compared ? count_known(results) : 0;
    if (results->compared)
        mishap_audit_print(buffer, "Findings: %zu new, %zu known. ", results->new_findings,
                           results->findings - results->new_findings);
    if (results->score < 0)
        MISHAP_PUT(buffer, "No score: no check could be decided.");
    else
        mishap_audit_print(buffer, "Score %d of 100", results->score);
    if (results->score >= 0)
        mishap_audit_print(buffer, ": %zu %s passed, %zu failed,", count[MISHAP_AUDIT_PASSED],
                           plural(count[MISHAP_AUDIT_PASSED], "check", "checks"),
                           count[MISHAP_AUDIT_FAILED] - known);
    if (known)
        mishap_audit_print(buffer, " %zu known,", known);
    mishap_audit_print(buffer, " %zu with advice, %zu undecided. %zu %s.",
                       count[MISHAP_AUDIT_ADVICE], count[MISHAP_AUDIT_UNDECIDED], results->requests,
                       is_command(results) ? plural(results->requests, "run", "runs")
                                           : plural(results->requests, "request", "requests"));
    if (results->leak)
        MISHAP_PUT(buffer, " A leak of high confidence makes the score 0.");
}

static void put_created(const mishap_audit_results *results,
                        void (*put)(mishap_buffer *buffer, mishap_text remark),
                        mishap_buffer *buffer)
{
    mishap_buffer line = { 0 };
    if (results->created_count)
        mishap_audit_print(
            &line, "%zu %s; something may have been created or changed:", results->created_count,
            plural(results->created_count, "request succeeded that was meant to be refused",
                   "requests succeeded that were meant to be refused"));
    for (size_t i = 0, same; i < results->created_count; i += same) {
        const mishap_audit_creation *one = &results->created[i];
        for (same = 1; i + same < results->created_count && one[same].status == one->status &&
                       mishap_text_equal(one[same].place, one->place);)
            same++;
        MISHAP_PUT(&line, " ");
        mishap_buffer_put_text(&line, one->place);
        mishap_audit_print(&line, " (%d", one->status);
        if (same > 1)
            mishap_audit_print(&line, ", %zu times", same);
        mishap_audit_print(&line, ")%s", i + same < results->created_count ? "," : ".");
    }
    if (line.length)
        put(buffer, mishap_buffer_text(&line));
    buffer->failed = buffer->failed || line.failed;
    mishap_buffer_release(&line);
}

void mishap_audit_each_remark(const mishap_audit_results *results,
                              void (*put)(mishap_buffer *buffer, mishap_text remark),
                              mishap_buffer *buffer)
{
    char line[200];
    if (results->used_up) {
        snprintf(line, sizeof line,
                 "The audit ended early: --max-requests %zu is used up. The rest is undecided.",
                 results->settings->max_requests);
        put(buffer, mishap_text_of(line));
    }
    if (results->cancelled)
        put(buffer, mishap_text_of("The audit ended early: its time was over, or it was "
                                   "cancelled. The rest is undecided."));
    if (results->cut) {
        snprintf(line, sizeof line, "%zu further %s not listed.", results->cut,
                 plural(results->cut, "finding is", "findings are"));
        put(buffer, mishap_text_of(line));
    }
    put_created(results, put, buffer);
    for (size_t i = 0; i < results->remark_count; i++)
        put(buffer, results->remarks[i]);
}
