/*
 * Reports of an audit whose target is hostile: every text of a finding tries to leave its place.
 *
 *     hostile FORM [dry] [known] [plain] [address]
 *
 * With `plain` the findings are like those of an ordinary server, for pictures; with `address` no
 * file belongs to the target.
 */
#include <stdio.h>
#include <stdlib.h>

#include "audit/report/report.h"

static const mishap_audit_check checks[] = {
    { "http-500", "No request makes the server fail.", "RFC 9110, 15.6.1",
      "Answer malformed requests with 400.", false, "no response was seen" },
    { "http-leak", "No response shows the inside of the server.", "CWE-209",
      "Log the details and answer with an id.", false, "no response was seen" },
    { "http-405-allow", "A 405 response has the header field Allow.", "RFC 9110, 15.5.6",
      "Send Allow with the methods of the path.", false, "no response was seen" },
    { "http-coercion", "A value of a wrong type is refused.", "OpenAPI 3.1", "Validate strictly.",
      true, "no response was seen" },
    { "http-quiet", "Nothing was decided.", "none", "Nothing.", false, "no response was seen" },
    { "http-fine", "All is well.", "RFC 9110", "Nothing to do.", false, "no response was seen" },
    { 0 },
};

static const char trick[] =
    "\"'><script>window.planted=1;console.error('planted')</script><img src=x "
    "onerror=window.planted=1>]]>-->&amp;&#x41;\r\n::error "
    "file=a,line=1::planted\n%0A%0D,:|`*[x](y) "
    "\033[31mred\007\x01\x7f\xff\xfe\xc3( \xef\xbf\xbe\xef\xbf\xbf \xc2\x85 \xe2\x80\xa8 "
    "\xe2\x80\xae\xf0\x9f\x98\x80 \\u0000 {{7*7}} ${x} </pre></details></main></html>";

static void report_tricks(mishap_audit *audit)
{
    size_t length = 1 << 20;
    char *large = malloc(length);
    if (!large)
        exit(1);
    for (size_t i = 0; i < length; i++)
        large[i] = trick[i % (sizeof trick - 1)];
    mishap_audit_report(audit, &checks[0], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){ .place = trick,
                                              .key = trick,
                                              .detail = mishap_text_of(trick),
                                              .sent = mishap_text_of(trick),
                                              .got = mishap_text_of(trick),
                                              .line = 7 });
    mishap_audit_report(audit, &checks[0], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){ .place = "GET /large",
                                              .detail = { large, length },
                                              .sent = { large, length },
                                              .got = { large, length } });
    mishap_audit_report(audit, &checks[0], MISHAP_AUDIT_FAILED, &(mishap_audit_seen){ 0 });
    mishap_audit_report(audit, &checks[3], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){ .place = trick, .detail = mishap_text_of(trick) });
    mishap_audit_report(audit, &checks[4], MISHAP_AUDIT_UNDECIDED,
                        &(mishap_audit_seen){ .place = trick, .detail = mishap_text_of(trick) });
    mishap_audit_created(audit, trick, 201);
    mishap_audit_remark(audit, "%s", trick);
    free(large);
}

static void report_plainly(mishap_audit *audit)
{
    static const char answer[] =
        "HTTP/1.1 500 Internal Server Error\r\nContent-Type: "
        "text/html; charset=utf-8\r\n\r\n<pre>SyntaxError: Unexpected "
        "token<br> &nbsp; at JSON.parse (&lt;anonymous&gt;)<br> &nbsp; at "
        "parse (/srv/app/node_modules/body-parser/lib/json.js:92:19)</pre>";
    mishap_audit_report(
        audit, &checks[0], MISHAP_AUDIT_FAILED,
        &(mishap_audit_seen){ .place = "POST /users",
                              .detail = mishap_text_of("Malformed JSON is answered with 500."),
                              .sent = mishap_text_of("POST /users HTTP/1.1\r\nContent-Type: "
                                                     "application/json\r\n\r\n{\"name\":"),
                              .got = mishap_text_of(answer),
                              .line = 12 });
    mishap_audit_scan(audit, &checks[1], "GET /users/{id}",
                      mishap_text_of("Traceback (most recent call last):\n  File \"/srv/app.py\", "
                                     "line 7, in show\n    return rows[key]\nKeyError: 'id'\n"),
                      NULL);
    mishap_audit_report(
        audit, &checks[2], MISHAP_AUDIT_FAILED,
        &(mishap_audit_seen){ .place = "DELETE /users",
                              .detail = mishap_text_of("The response has no Allow."),
                              .sent = mishap_text_of("DELETE /users HTTP/1.1"),
                              .got = mishap_text_of("HTTP/1.1 405 Method Not Allowed") });
    mishap_audit_report(
        audit, &checks[3], MISHAP_AUDIT_FAILED,
        &(mishap_audit_seen){
            .place = "POST /users",
            .key = "age",
            .detail = mishap_text_of("\"5\" is accepted where a number is declared.") });
    mishap_audit_report(
        audit, &checks[4], MISHAP_AUDIT_UNDECIDED,
        &(mishap_audit_seen){ .place = "GET /",
                              .detail = mishap_text_of("No operation has required fields.") });
    mishap_audit_created(audit, "POST /users", 201);
}

int main(int count, char **words)
{
    bool dry = false, known = false, plain = false, address = false;
    const mishap_audit_form *form = mishap_audit_forms;
    for (int i = 2; i < count; i++) {
        dry = dry || strcmp(words[i], "dry") == 0;
        known = known || strcmp(words[i], "known") == 0;
        plain = plain || strcmp(words[i], "plain") == 0;
        address = address || strcmp(words[i], "address") == 0;
    }
    while (count > 1 && form->name && strcmp(form->name, words[1]) != 0)
        form++;
    const mishap_audit_results *results = NULL;
    mishap_audit *audit = mishap_audit_open(
        &(mishap_audit_settings){ .checks = checks,
                                  .target = plain ? "http://127.0.0.1:3000/api v1/?key=1" : trick,
                                  .file = address ? NULL
                                          : plain ? "openapi.json"
                                                  : "api/open api:<\"%>,\xc3\xa9.json",
                                  .rate = 10000,
                                  .dry_run = dry });
    if (!audit || !form->name)
        return 1;
    mishap_audit_next(
        audit, plain ? "POST /users" : trick,
        mishap_text_of(plain ? "POST /users HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n{" : trick));
    for (size_t i = 0; i < 9; i++)
        mishap_audit_pass(audit, &checks[5], "GET /");
    if (plain)
        report_plainly(audit);
    else
        report_tricks(audit);
    mishap_buffer baseline = { 0 }, out = { 0 };
    mishap *failure = mishap_audit_end(audit, &results);
    if (!failure && known) {
        mishap_audit_put_baseline(&baseline, results);
        failure = mishap_audit_forgive(audit, mishap_buffer_text(&baseline), NULL);
    }
    if (!failure)
        form->put(&out, results);
    bool written = !failure && !out.failed && fwrite(out.data, 1, out.length, stdout) == out.length;
    mishap_free(failure);
    mishap_buffer_release(&baseline);
    mishap_buffer_release(&out);
    mishap_audit_free(audit);
    return written ? 0 : 1;
}
