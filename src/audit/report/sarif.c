/*
 * SARIF 2.1.0 (OASIS). Code scanning of GitHub reads `ruleId`, the first location and
 * `partialFingerprints`; a result without a location is refused, so each result has one.
 */
#include "audit/report/report.h"
#include "mishap/version.h"

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

static void put_string(mishap_buffer *b, const char *key, const char *text)
{
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_string(b, mishap_text_of(text));
}

/* {"text":…} under this key. */
static void put_message(mishap_buffer *b, const char *key, mishap_text text)
{
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "text");
    mishap_json_string(b, text);
    mishap_json_close(b, '}');
}

/* The bytes of a path (RFC 3986); others are percent-encoded, and so is a colon, which would make
 * the first segment a scheme. */
static void put_path(mishap_buffer *uri, mishap_text path)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char plain[] = "-._~/!$&'()*+,;=@";
    for (size_t i = 0; i < path.length; i++) {
        unsigned char byte = (unsigned char)path.data[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                      (byte >= '0' && byte <= '9');
        if (letter || (byte && strchr(plain, byte))) {
            mishap_buffer_put_char(uri, path.data[i]);
        } else {
            char escape[3] = { '%', hex[byte >> 4], hex[byte & 15] };
            mishap_buffer_put(uri, escape, sizeof escape);
        }
    }
}

/* Host and path of an address, without its port: a location must be the same in each run. */
static void put_address(mishap_buffer *uri, const char *address)
{
    const char *scheme = strstr(address, "://"), *host = scheme ? scheme + 3 : address;
    size_t length = strcspn(host, "/?#"), port = length;
    while (port && host[port - 1] >= '0' && host[port - 1] <= '9')
        port--;
    bool has_port = port > 1 && port < length && host[port - 1] == ':';
    put_path(uri, (mishap_text){ host, has_port ? port - 1 : length });
    put_path(uri, (mishap_text){ host + length, strcspn(host + length, "?#") });
}

/*
 * Where a result is, as code scanning of GitHub takes it: a path below the root of the repository,
 * or a `file:` URI. It refuses the whole log if one location has another scheme. So a target
 * without a file is named by its host and path.
 */
static void put_uri(mishap_buffer *b, const mishap_audit_results *results)
{
    const char *file = results->settings->file, *target = results->settings->target;
    mishap_buffer uri = { 0 };
    if (file && file[0] == '/')
        MISHAP_PUT(&uri, "file://");
    if (file)
        put_path(&uri, mishap_text_of(strncmp(file, "./", 2) == 0 ? file + 2 : file));
    else if (target)
        put_address(&uri, target);
    if (!uri.length)
        MISHAP_PUT(&uri, "unknown");
    mishap_json_string(b, mishap_buffer_text(&uri));
    b->failed = b->failed || uri.failed;
    mishap_buffer_release(&uri);
}

static void put_rule(mishap_buffer *b, const mishap_audit_check *check)
{
    mishap_buffer help = { 0 };
    mishap_json_open(b, '{');
    put_string(b, "id", check->id);
    put_message(b, "shortDescription", mishap_text_of(check->sentence));
    size_t length = strlen(check->evidence);
    mishap_audit_print(&help, "%s Evidence: %s%s", check->sentence, check->evidence,
                       length && check->evidence[length - 1] == '.' ? "" : ".");
    put_message(b, "fullDescription", mishap_buffer_text(&help));
    mishap_audit_print(&help, " %s", check->fix);
    put_message(b, "help", mishap_buffer_text(&help));
    MISHAP_PUT(b, ",\"defaultConfiguration\":{");
    put_string(b, "level", check->advice ? "note" : "error");
    MISHAP_PUT(b, "},\"properties\":{\"tags\":[\"error-responses\"]}");
    mishap_json_close(b, '}');
    b->failed = b->failed || help.failed;
    mishap_buffer_release(&help);
}

/* Where it was found: the file, and the place as a name inside of the target. */
static void put_place(mishap_buffer *b, const mishap_audit_results *results,
                      const mishap_audit_finding *finding)
{
    MISHAP_PUT(b, ",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
    put_uri(b, results);
    MISHAP_PUT(b, "},\"region\":{\"startLine\":");
    mishap_buffer_put_uint(b, finding->line ? finding->line : 1);
    MISHAP_PUT(b, "}},\"logicalLocations\":[{");
    MISHAP_JSON_KEY(b, "fullyQualifiedName");
    mishap_json_string(b, finding->place);
    MISHAP_PUT(b, "}]}]");
}

static void put_result(mishap_buffer *b, const mishap_audit_results *results, size_t rule,
                       const mishap_audit_finding *finding)
{
    mishap_buffer words = { 0 };
    mishap_json_open(b, '{');
    put_string(b, "ruleId", finding->check->id);
    MISHAP_JSON_KEY(b, "ruleIndex");
    mishap_json_int(b, (int64_t)rule);
    put_string(b, "level", finding->outcome == MISHAP_AUDIT_FAILED ? "error" : "note");
    mishap_buffer_put_text(&words, finding->place);
    MISHAP_PUT(&words, ": ");
    mishap_buffer_put_text(&words, finding->detail.length
                                       ? finding->detail
                                       : mishap_text_of(finding->check->sentence));
    mishap_audit_print(&words, " %s", finding->check->fix);
    put_message(b, "message", mishap_buffer_text(&words));
    put_place(b, results, finding);
    MISHAP_PUT(b, ",\"partialFingerprints\":{");
    put_string(b, "mishapAudit/v1", finding->fingerprint);
    MISHAP_PUT(b, "}");
    if (finding->outcome == MISHAP_AUDIT_FAILED)
        put_string(b, "baselineState", finding->known ? "unchanged" : "new");
    if (finding->sent.length || finding->got.length) {
        MISHAP_PUT(b, ",\"properties\":{");
        MISHAP_JSON_TEXT_MEMBER(b, "sent", finding->sent);
        MISHAP_JSON_TEXT_MEMBER(b, "got", finding->got);
        MISHAP_PUT(b, "}");
    }
    mishap_json_close(b, '}');
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
}

static void put_notification(mishap_buffer *b, mishap_text remark)
{
    mishap_json_open(b, '{');
    put_string(b, "level", "note");
    put_message(b, "message", remark);
    mishap_json_close(b, '}');
}

/* Undecided checks are no results: each is a notification with the reason. */
static void put_undecided(mishap_buffer *b, const mishap_audit_results *results)
{
    for (size_t i = 0; i < results->check_count; i++) {
        const mishap_audit_result *result = &results->checks[i];
        mishap_buffer words = { 0 };
        if (result->outcome != MISHAP_AUDIT_UNDECIDED)
            continue;
        mishap_audit_print(&words, "%s is undecided: ", result->check->id);
        mishap_buffer_put_text(&words, mishap_audit_reason(result));
        mishap_json_open(b, '{');
        put_string(b, "level", "none");
        put_message(b, "message", mishap_buffer_text(&words));
        MISHAP_PUT(b, ",\"associatedRule\":{");
        put_string(b, "id", result->check->id);
        MISHAP_JSON_KEY(b, "index");
        mishap_json_int(b, (int64_t)i);
        MISHAP_PUT(b, "}");
        mishap_json_close(b, '}');
        b->failed = b->failed || words.failed;
        mishap_buffer_release(&words);
    }
}

void mishap_audit_put_sarif(mishap_buffer *b, const mishap_audit_results *results)
{
    MISHAP_PUT(b, "{\"$schema\":\"" SCHEMA "\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":{"
                  "\"driver\":{\"name\":\"mishap\",\"semanticVersion\":\"" MISHAP_VERSION
                  "\",\"rules\":[");
    for (size_t i = 0; i < results->check_count; i++)
        put_rule(b, results->checks[i].check);
    MISHAP_PUT(b, "]}},\"automationDetails\":{\"id\":\"mishap-audit/");
    mishap_buffer_put_text(b, mishap_text_of(mishap_audit_area_names[results->settings->area]));
    MISHAP_PUT(b, "/\"},\"columnKind\":\"utf16CodeUnits\",\"invocations\":[{"
                  "\"executionSuccessful\":true,\"toolExecutionNotifications\":[");
    mishap_audit_each_remark(results, put_notification, b);
    if (!results->settings->dry_run)
        put_undecided(b, results);
    MISHAP_PUT(b, "]}],\"results\":[");
    for (size_t i = 0; i < results->check_count; i++)
        for (size_t f = 0; f < results->checks[i].count; f++)
            if (results->checks[i].findings[f].outcome >= MISHAP_AUDIT_ADVICE)
                put_result(b, results, i, &results->checks[i].findings[f]);
    MISHAP_PUT(b, "]}]}\n");
}
