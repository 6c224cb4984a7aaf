/*
 * src/audit/report: the results of an audit in six forms. All texts of the target are escaped as
 * the form demands; none can end a string, add a line or become markup.
 *
 *     forms.c   the list of the forms, and what several of them write
 *     table.c   for a person at a terminal
 *     json.c    one JSON object: `data` of the envelope
 *     sarif.c   SARIF 2.1.0 (OASIS), for code scanning
 *     junit.c   JUnit XML: each check is a test case
 *     github.c  workflow commands of GitHub Actions: annotations
 *     html.c    one page without scripts, for a browser
 *     xml.c     text inside of XML and HTML
 *
 * Without memory the buffer fails. The same results give the same bytes.
 */
#ifndef MISHAP_AUDIT_REPORT_REPORT_H
#define MISHAP_AUDIT_REPORT_REPORT_H

#include "audit/audit.h"

typedef struct mishap_audit_form {
    const char *name;       /* "sarif" */
    const char *media_type; /* "application/sarif+json" */
    void (*put)(mishap_buffer *buffer, const mishap_audit_results *results);
} mishap_audit_form;

/* All forms; the list ends with { 0 }. */
extern const mishap_audit_form mishap_audit_forms[];

void mishap_audit_put_table(mishap_buffer *buffer, const mishap_audit_results *results);
/* … for a terminal of so many columns, 0: lines are not broken; `styled`: with styles
 * (operation/styled.h). Texts of the target have none. */
void mishap_audit_put_table_for(mishap_buffer *buffer, const mishap_audit_results *results,
                                bool styled, size_t columns);
void mishap_audit_put_json(mishap_buffer *buffer, const mishap_audit_results *results);
void mishap_audit_put_sarif(mishap_buffer *buffer, const mishap_audit_results *results);
void mishap_audit_put_junit(mishap_buffer *buffer, const mishap_audit_results *results);
void mishap_audit_put_github(mishap_buffer *buffer, const mishap_audit_results *results);
void mishap_audit_put_html(mishap_buffer *buffer, const mishap_audit_results *results);

/* -- what several forms write ------------------------------------------------------------------ */

/* "Score 87 of 100: 20 checks passed, 3 failed, 2 with advice, 5 undecided. 90 requests." After a
 * comparison with a baseline "Findings: 0 new, 8 known." stands before it. */
void mishap_audit_put_verdict(mishap_buffer *buffer, const mishap_audit_results *results);

/* What else a reader has to know, each a sentence: what was created, an early end, findings that
 * are not listed, the remarks of the area. `put` gets one after the other. */
void mishap_audit_each_remark(const mishap_audit_results *results,
                              void (*put)(mishap_buffer *buffer, mishap_text remark),
                              mishap_buffer *buffer);

/* Printed text of a line or so, without texts of the target. */
__attribute__((format(printf, 2, 3))) void mishap_audit_print(mishap_buffer *buffer,
                                                              const char *format, ...);

/* Is this a character that a report shows as it is? Not control characters but tab and line feed,
 * characters that change the direction of writing, line separators of Unicode, and what XML 1.0
 * does not allow. */
bool mishap_audit_is_shown(uint32_t character);

/* Text between tags or in an attribute with double quotes, valid in XML 1.0 and in HTML: what is
 * not shown becomes U+FFFD. */
void mishap_audit_put_xml(mishap_buffer *buffer, mishap_text text);

#endif
