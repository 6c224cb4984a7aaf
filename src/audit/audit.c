/* One audit: opening it, the budget and the rate of its requests, and the remarks. */
#include "audit/audit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "audit/inside.h"

const char *const mishap_audit_area_names[MISHAP_AUDIT_AREAS] = { "http", "mcp", "cli" };
const char *const mishap_audit_outcome_names[MISHAP_AUDIT_OUTCOMES] = { "undecided", "passed",
                                                                        "advice", "failed" };

/* -- opening ----------------------------------------------------------------------------------- */

static void begin_rows(struct mishap_audit_rows *rows)
{
    *rows = (struct mishap_audit_rows){ 0 };
    rows->last = &rows->first;
}

mishap_audit *mishap_audit_open(const mishap_audit_settings *settings)
{
    mishap_audit *audit = mishap_allocate(sizeof *audit);
    if (!audit)
        return NULL;
    *audit = (mishap_audit){ .settings = *settings };
    mishap_arena_init(&audit->arena, NULL, 0);
    if (!audit->settings.max_requests)
        audit->settings.max_requests = MISHAP_AUDIT_REQUESTS;
    if (!(audit->settings.rate > 0))
        audit->settings.rate = MISHAP_AUDIT_RATE;
    begin_rows(&audit->planned);
    begin_rows(&audit->created);
    begin_rows(&audit->remarks);
    while (settings->checks && settings->checks[audit->check_count].id)
        audit->check_count++;
    audit->joined = mishap_arena_take(&audit->arena,
                                      (audit->check_count + 1) * sizeof *audit->joined);
    if (audit->joined && settings->target)
        audit->settings.target =
            mishap_audit_keep(audit, mishap_text_of(settings->target), MISHAP_AUDIT_MOST_TEXT).data;
    if (!audit->joined || audit->no_memory) {
        mishap_audit_free(audit);
        return NULL;
    }
    for (size_t i = 0; i < audit->check_count; i++) {
        audit->joined[i] = (struct mishap_audit_joined){ 0 };
        audit->joined[i].last = &audit->joined[i].first;
    }
    return audit;
}

void mishap_audit_free(mishap_audit *audit)
{
    if (!audit)
        return;
    mishap_arena_release(&audit->arena);
    mishap_release(audit);
}

mishap_arena *mishap_audit_arena(mishap_audit *audit)
{
    return &audit->arena;
}

void mishap_audit_add_row(mishap_audit *audit, struct mishap_audit_rows *rows, mishap_text place,
                          mishap_text text, int status)
{
    struct mishap_audit_row *row = mishap_arena_take(&audit->arena, sizeof *row);
    if (!row) {
        audit->no_memory = true;
        return;
    }
    *row = (struct mishap_audit_row){ place, text, status, NULL };
    *rows->last = row;
    rows->last = &row->next;
    rows->count++;
}

/* -- requests ---------------------------------------------------------------------------------- */

static bool is_cancelled(mishap_audit *audit)
{
    if (!audit->cancelled && audit->settings.cancelled)
        audit->cancelled = audit->settings.cancelled(audit->settings.state);
    return audit->cancelled;
}

/* Wait until the next request may be sent. The wait is made of short pieces, so that the audit can
 * be cancelled at a low rate, too. */
static void wait_for_rate(mishap_audit *audit)
{
    const int64_t piece = 100 * 1000000;
    double period = 1e9 / audit->settings.rate;
    int64_t gap = period < 3600e9 ? (int64_t)period : (int64_t)3600e9;
    for (;;) {
        int64_t left = audit->last_ns ? audit->last_ns + gap - mishap_clock_monotonic_ns() : 0;
        if (left <= 0 || is_cancelled(audit))
            break;
        int64_t pause = left < piece ? left : piece;
        struct timespec time = { .tv_sec = 0, .tv_nsec = (long)pause };
        nanosleep(&time, NULL);
    }
    audit->last_ns = mishap_clock_monotonic_ns();
}

bool mishap_audit_next(mishap_audit *audit, const char *place, mishap_text request)
{
    if (audit->no_memory || is_cancelled(audit))
        return false;
    if (audit->requests + audit->planned.count >= audit->settings.max_requests) {
        audit->used_up = true;
        return false;
    }
    if (audit->settings.dry_run) {
        mishap_text where = mishap_audit_keep(audit, mishap_text_of(place), MISHAP_AUDIT_MOST_NAME);
        mishap_text what = mishap_audit_keep(audit, request, MISHAP_AUDIT_MOST_REQUEST);
        mishap_audit_add_row(audit, &audit->planned, where, what, 0);
        return false;
    }
    wait_for_rate(audit);
    if (audit->cancelled)
        return false;
    audit->requests++;
    if (audit->settings.progress)
        audit->settings.progress(
            audit->settings.state, audit->requests,
            mishap_audit_quote(audit, mishap_text_of(place), MISHAP_AUDIT_MOST_NAME));
    return true;
}

bool mishap_audit_stopped(const mishap_audit *audit)
{
    return audit->no_memory || audit->cancelled || audit->used_up ||
           (!audit->settings.dry_run && audit->requests >= audit->settings.max_requests);
}

bool mishap_audit_is_dry(const mishap_audit *audit)
{
    return audit->settings.dry_run;
}

void mishap_audit_created(mishap_audit *audit, const char *place, int status)
{
    mishap_text where = mishap_audit_keep(audit, mishap_text_of(place), MISHAP_AUDIT_MOST_NAME);
    mishap_audit_add_row(audit, &audit->created, where, (mishap_text){ NULL, 0 }, status);
}

void mishap_audit_remark(mishap_audit *audit, const char *format, ...)
{
    char line[MISHAP_AUDIT_MOST_TEXT + 1];
    va_list arguments;
    if (audit->remarks.count >= MISHAP_AUDIT_MOST_REMARKS)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    mishap_text text = mishap_audit_keep(audit, mishap_text_of(line), MISHAP_AUDIT_MOST_TEXT);
    mishap_audit_add_row(audit, &audit->remarks, (mishap_text){ NULL, 0 }, text, 0);
}
