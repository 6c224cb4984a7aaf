/* An audit from inside: only for the files of this folder. */
#ifndef MISHAP_AUDIT_INSIDE_H
#define MISHAP_AUDIT_INSIDE_H

#include "audit/audit.h"

enum {
    MISHAP_AUDIT_REQUESTS = 300,       /* the default of --max-requests */
    MISHAP_AUDIT_RATE = 20,            /* … and of --rate */
    MISHAP_AUDIT_MOST_NAME = 300,      /* bytes of a place or a key */
    MISHAP_AUDIT_MOST_TEXT = 2000,     /* … of any other text of a finding */
    MISHAP_AUDIT_MOST_REQUEST = 16384, /* … of a request of a dry run */
    MISHAP_AUDIT_MOST_FINDINGS = 2000, /* of an audit; others are counted */
    MISHAP_AUDIT_MOST_REMARKS = 100,
};

struct mishap_audit_noted {
    mishap_audit_finding finding;
    struct mishap_audit_noted *next;
};

/* What the reports of one check came to. */
struct mishap_audit_joined {
    mishap_audit_outcome outcome;
    size_t passed, count;
    struct mishap_audit_noted *first, **last;
};

/* A list in the arena that grows at its end. */
struct mishap_audit_row {
    mishap_text place, text;
    int status;
    struct mishap_audit_row *next;
};
struct mishap_audit_rows {
    struct mishap_audit_row *first, **last;
    size_t count;
};

struct mishap_audit {
    mishap_audit_settings settings;
    mishap_arena arena;
    size_t check_count;
    struct mishap_audit_joined *joined; /* for each check of the table */
    struct mishap_audit_rows planned, created, remarks;
    size_t requests, findings, cut;
    int64_t last_ns; /* when the last request was allowed; 0: none was */
    bool leak, used_up, cancelled, no_memory;
    mishap_audit_results results;
};

/* The text as it stays in a finding: redacted, repaired, cut at `most` bytes; with a NUL behind it.
 * No data: there was none, or there is no memory, which the audit remembers. */
mishap_text mishap_audit_keep(mishap_audit *audit, mishap_text text, size_t most);

/* Add a row; `place` and `text` are kept as they are. */
void mishap_audit_add_row(mishap_audit *audit, struct mishap_audit_rows *rows, mishap_text place,
                          mishap_text text, int status);

#endif
