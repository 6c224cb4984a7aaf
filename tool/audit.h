/*
 * What `mishap audit` is made of:
 *
 *     cmd_audit.c     the three commands: their parameters, their targets
 *     audit_run.c     one audit: its settings, the baseline, the reports, the exit code
 */
#ifndef MISHAP_TOOL_AUDIT_H
#define MISHAP_TOOL_AUDIT_H

#include "audit/audit.h"
#include "client/client.h"
#include "tool.h"

/* The header fields of --header. The values are secret. */
typedef struct audit_headers {
    mishap_client_header *list;
    size_t count;
    mishap_secrets secrets; /* their values */
} audit_headers;

/* Read --header, into memory of the call. INVALID_ARGUMENT: one is not "Name: value". */
mishap *audit_read_headers(mishap_call *call, audit_headers *headers);

/* What an audit is run with, beside the parameters that all three commands have. */
typedef struct audit_task {
    mishap_audit_area area;
    const mishap_audit_check *checks;
    const char *target, *file;
    const mishap_secrets *secrets;
    mishap *(*run)(mishap_audit *audit, const void *area_target);
    const void *area_target;
} audit_task;

/* Run it, write the reports, answer, and fail as the exit code demands. */
mishap *audit_run(mishap_call *call, const audit_task *task);

/* The names of all forms of reports, for --format; main() fills it. */
enum { AUDIT_MOST_FORMS = 15 };
extern const char *audit_form_names[AUDIT_MOST_FORMS + 1];

/* What an audit can fail with; the list ends with NULL. */
extern const mishap_code *const audit_raises[];

#endif
