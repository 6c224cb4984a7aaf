/*
 * src/audit: judge the error responses of a program that another team wrote, in any language.
 *
 *     audit.c    one audit: its settings, its budget of requests, what its checks reported
 *     seen.c     what was seen: texts are redacted, repaired and bounded
 *     scan.c     leaks in what a target said
 *     results.c  the results in their order, the score
 *     baseline.c findings that are known already, in a file
 *     http/      `mishap audit http`: the checks of an HTTP server, and the requests
 *     mcp/       `mishap audit mcp`: … of an MCP server
 *     cli/       `mishap audit cli`: … of a command
 *     report/    the results as a table, JSON, SARIF, JUnit, annotations and HTML
 *
 * An area has a table of checks (mishap_audit_check) and one function that sends requests and
 * reports what each check found at each place. The core joins the reports of a check, redacts and
 * bounds every text, counts requests and keeps their rate. It depends neither on the areas nor on
 * the reports.
 *
 * The same target gives the same findings: an area sends its requests in a fixed order, and a
 * finding is known by its check, its place and its key alone. No time, no id and no port belongs
 * into one of these three.
 *
 * An audit belongs to one thread. No function fails for a lack of memory at once: the audit
 * remembers it, mishap_audit_next() returns false from then on, and mishap_audit_end() reports it.
 */
#ifndef MISHAP_AUDIT_AUDIT_H
#define MISHAP_AUDIT_AUDIT_H

#include "base/base.h"
#include "guard/guard.h"
#include "guard/leak.h"
#include "mishap/mishap.h"

/* -- checks ------------------------------------------------------------------------------------ */

typedef enum mishap_audit_area {
    MISHAP_AUDIT_HTTP,
    MISHAP_AUDIT_MCP,
    MISHAP_AUDIT_CLI
} mishap_audit_area;
enum { MISHAP_AUDIT_AREAS = 3 };
extern const char *const mishap_audit_area_names[MISHAP_AUDIT_AREAS]; /* "http", "mcp", "cli" */

/* In the order of their weight: the outcome of a check is the largest of its reports. */
typedef enum mishap_audit_outcome {
    MISHAP_AUDIT_UNDECIDED,
    MISHAP_AUDIT_PASSED,
    MISHAP_AUDIT_ADVICE,
    MISHAP_AUDIT_FAILED,
} mishap_audit_outcome;
enum { MISHAP_AUDIT_OUTCOMES = 4 };
extern const char *const mishap_audit_outcome_names[MISHAP_AUDIT_OUTCOMES]; /* "undecided", … */

/*
 * One check. An area has one table of them, which ends with { 0 }: src/audit/http/checks.c,
 * mcp/checks.c, cli/checks.c. docs/audit.md shows all tables, and a test holds it against them.
 * All texts are literals: printable ASCII on one line, without `|` and without a backquote.
 */
typedef struct mishap_audit_check {
    const char *id;       /* stable, in reports and baselines: "http-405-allow"; begins with the
                             area, then lower case letters, digits and hyphens */
    const char *sentence; /* what is demanded: "A 405 response has the header field Allow." */
    const char *evidence; /* why its absence is a fault: "RFC 9110, 15.5.6" */
    const char *fix;      /* what to do, a sentence: "Send Allow with the methods of the path." */
    bool advice;          /* never a failure: a report of MISHAP_AUDIT_FAILED becomes advice */
    const char *needs;    /* why it is undecided if the area reports nothing, without a point:
                             "no 405 response was seen", "needs an OpenAPI document" */
} mishap_audit_check;

/* -- an audit ---------------------------------------------------------------------------------- */

typedef struct mishap_audit mishap_audit;

/* A member that is 0 or NULL has its default. Texts and lists stay the caller's until the audit is
 * freed. */
typedef struct mishap_audit_settings {
    mishap_audit_area area;
    const mishap_audit_check *checks; /* the table of the area */
    const char *target;               /* the URL or the command line, for reports */
    const char *file;                 /* a file for locations in reports: the OpenAPI file;
                                         NULL: none */
    size_t max_requests;              /* --max-requests; 0: 300 */
    double rate;                      /* --rate, requests a second; 0: 20 */
    bool dry_run;                     /* --dry-run: list each request, send none */
    const mishap_secrets *secrets;    /* values that stand in no report: those of --header */

    /* Called before each request; may be NULL. */
    bool (*cancelled)(void *state); /* true: no further request is sent */
    void (*progress)(void *state, size_t requests, const char *place); /* redacted as findings */
    void *state;
} mishap_audit_settings;

/* NULL: there is no memory. */
mishap_audit *mishap_audit_open(const mishap_audit_settings *settings);
void mishap_audit_free(mishap_audit *audit); /* may be NULL */

/* -- for areas: requests ----------------------------------------------------------------------- */

/*
 * Call it before each request (HTTP request, JSON-RPC message, start of a command) and send the
 * request only if the result is true. `request` is the request as it would be sent, for --dry-run:
 * "POST /users HTTP/1.1\r\n…"; a JSON line; a command line.
 *
 * It waits so that --rate holds. False: --max-requests is used up, the audit was cancelled, or this
 * is a dry run. After false an area goes on without the response: what it could not decide is
 * reported as undecided or not at all. In a dry run an area that needs a response to know what to
 * send next (a list of tools) leaves the rest out.
 */
bool mishap_audit_next(mishap_audit *audit, const char *place, mishap_text request);

/* True if no further request is sent: see above. In a dry run it is false until it was cancelled.
 */
bool mishap_audit_stopped(const mishap_audit *audit);
bool mishap_audit_is_dry(const mishap_audit *audit);

/* A write has succeeded although it was meant to be refused: something may have been created. */
void mishap_audit_created(mishap_audit *audit, const char *place, int status);

/* A sentence about the audit as a whole, for every report: "/openapi.json is no OpenAPI document:
 * only the URL itself is probed." */
__attribute__((format(printf, 2, 3))) void mishap_audit_remark(mishap_audit *audit,
                                                               const char *format, ...);

/* An arena that lives as long as the audit. */
mishap_arena *mishap_audit_arena(mishap_audit *audit);

/* -- for areas: what was found ----------------------------------------------------------------- */

/*
 * What a check saw at one place. All texts are copied, redacted (secrets of the settings, passwords
 * in addresses, and what the leak detector surely takes for a credential, a connection string or
 * environment variables) and repaired to valid UTF-8. Then they are cut: place and key at 300
 * bytes, the others at 2000.
 */
typedef struct mishap_audit_seen {
    const char *place;  /* "POST /users", the name of a tool, "--no-such-flag" */
    const char *key;    /* tells two findings of a check at one place apart: the name of a field,
                           the rule of a leak; NULL: "" */
    mishap_text detail; /* a sentence: what is wrong here. "The status is 500." */
    mishap_text sent;   /* what was sent; no data: not told */
    mishap_text got;    /* what came back; no data: not told */
    size_t line;        /* of settings.file, that the place belongs to; 0: not known */
} mishap_audit_seen;

/*
 * Report what a check found at a place. Passed places are counted, all others are findings. The
 * first report with the same check, place, key and outcome stays. A check fails if it failed at one
 * place. A check that reports nothing is undecided.
 */
void mishap_audit_report(mishap_audit *audit, const mishap_audit_check *check,
                         mishap_audit_outcome outcome, const mishap_audit_seen *seen);

/* The two most frequent forms. */
static inline void mishap_audit_pass(mishap_audit *audit, const mishap_audit_check *check,
                                     const char *place)
{
    mishap_audit_report(audit, check, MISHAP_AUDIT_PASSED, &(mishap_audit_seen){ .place = place });
}
/* Passed if `holds`, else failed with what was seen. */
static inline void mishap_audit_judge(mishap_audit *audit, const mishap_audit_check *check,
                                      bool holds, const mishap_audit_seen *seen)
{
    mishap_audit_report(audit, check, holds ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, seen);
}

/*
 * Look for leaks in what a target said. Each is a finding of this check, with the rule as its key
 * and the redacted excerpt; without any the check has passed at the place. A leak of high
 * confidence is a failure and makes the score of the area 0; one of medium confidence is advice.
 * What was `sent` (may be NULL) is no leak where it is echoed.
 */
void mishap_audit_scan(mishap_audit *audit, const mishap_audit_check *check, const char *place,
                       mishap_text said, const mishap_leak_known *sent);

/* A value of the target for a sentence: redacted and repaired, then cut at `most` bytes. It is
 * never NULL, and lives as long as the audit. */
const char *mishap_audit_quote(mishap_audit *audit, mishap_text value, size_t most);

/* -- results ----------------------------------------------------------------------------------- */

typedef struct mishap_audit_finding {
    const mishap_audit_check *check;
    mishap_audit_outcome outcome;  /* never passed */
    mishap_text place, key;        /* with a NUL behind them, as all these texts */
    mishap_text detail, sent, got; /* no data: not told */
    size_t line;                   /* 0: not known */
    char fingerprint[17];          /* of check, place and key: 16 hexadecimal digits */
    bool known;                    /* a baseline has it (mishap_audit_forgive()) */
} mishap_audit_finding;

typedef struct mishap_audit_result {
    const mishap_audit_check *check;
    mishap_audit_outcome outcome;
    size_t passed;                  /* places where it passed */
    mishap_audit_finding *findings; /* by outcome (failed first), place and key */
    size_t count;
} mishap_audit_result;

typedef struct mishap_audit_request {
    mishap_text place, text;
} mishap_audit_request;

typedef struct mishap_audit_creation {
    mishap_text place;
    int status;
} mishap_audit_creation;

typedef struct mishap_audit_results {
    const mishap_audit_settings *settings;
    mishap_audit_result *checks; /* one for each check of the table, in its order */
    size_t check_count;
    size_t outcomes[MISHAP_AUDIT_OUTCOMES]; /* checks by outcome */
    size_t findings;                        /* failed findings */
    size_t new_findings;                    /* … that no baseline has */
    bool compared;                          /* mishap_audit_forgive() was called */
    size_t cut;                             /* findings beyond the limit, which are not listed */
    int score;       /* passed of decided in percent, rounded down; 0 after a leak of high
                        confidence; -1: no check was decided. Advice does not count. */
    bool leak;       /* there was a leak of high confidence */
    size_t requests; /* that were sent */
    bool used_up;    /* --max-requests ended the audit early */
    bool cancelled;  /* … or settings.cancelled() */
    const mishap_audit_request *planned; /* of a dry run */
    size_t planned_count;
    const mishap_audit_creation *created;
    size_t created_count;
    const mishap_text *remarks;
    size_t remark_count;
} mishap_audit_results;

/* The results, after the last report. They belong to the audit. */
mishap *mishap_audit_end(mishap_audit *audit, const mishap_audit_results **results);

/* A failed check of which a baseline has every failed finding. */
bool mishap_audit_is_known(const mishap_audit_result *result);

/* Why a check is undecided: the detail of its first finding, else `needs` of its table. */
mishap_text mishap_audit_reason(const mishap_audit_result *result);

/* -- baseline ---------------------------------------------------------------------------------- */

/*
 * A baseline is a JSON document with findings that are known already:
 *
 *     {"mishap_audit_baseline":1,"findings":[{"fingerprint":"…","check":"…","place":"…"},…]}
 *
 * mishap_audit_forgive() marks each failed finding that it has as known, and counts again.
 * MALFORMED_INPUT: `text` is no baseline; the message names line and column. `stale` is set to the
 * number of entries that no finding has any more; may be NULL.
 */
mishap *mishap_audit_forgive(mishap_audit *audit, mishap_text text, size_t *stale);

/* Check a baseline before the audit begins: NULL, or the same MALFORMED_INPUT. */
mishap *mishap_audit_check_baseline(mishap_text text);

/* Write the failed findings as a baseline. */
void mishap_audit_put_baseline(mishap_buffer *buffer, const mishap_audit_results *results);

#endif
