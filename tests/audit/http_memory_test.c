/* An audit of an HTTP server in which each allocation fails in turn: it ends, leaves nothing
 * behind, and either has all results or says that there was no memory. */
#include "audit/http/http.h"
#include "client/libcurl.h"
#include "../client/peer.h"

static const char schema[] =
    "{\"openapi\":\"3.0.3\",\"paths\":{\"/a/{n}\":{\"parameters\":[{\"name\":\"n\",\"in\":\"path\","
    "\"required\":true,\"schema\":{\"type\":\"integer\"}}],\"post\":{\"requestBody\":{\"content\":{"
    "\"application/"
    "json\":{\"schema\":{\"type\":\"object\",\"required\":[\"x\"],\"properties\":{\"x\":"
    "{\"type\":\"string\",\"maxLength\":9}}}}}},\"responses\":{\"422\":{}}}}}}";

/* The schema, and one problem for everything else. */
static bool answers(int connection, const peer_notes *notes, const void *state)
{
    static const char problem[] = "{\"type\":\"https://example.com/e\",\"title\":\"It is refused\","
                                  "\"status\":422,\"x\":1}";
    char text[2048];
    bool wants = strncmp(notes->heard, "GET /openapi.json ", 18) == 0;
    bool head = strncmp(notes->heard, "HEAD ", 5) == 0;
    const char *body = wants ? schema : problem;
    (void)state;
    int length = snprintf(
        text, sizeof text,
        "HTTP/1.1 %s\r\nContent-Type: application/%s\r\nContent-Length: %zu\r\n\r\n"
        "%s",
        wants ? "200 OK" : "422 No", wants ? "json" : "problem+json", strlen(body),
        head ? "" : body);
    return peer_say(connection, text, (size_t)length);
}

static void audit_peer(const void *input)
{
    const peer *server = input;
    const mishap_audit_results *results = NULL;
    mishap_audit *audit = mishap_audit_open(&(mishap_audit_settings){
        .area = MISHAP_AUDIT_HTTP,
        .checks = mishap_audit_http_checks,
        .target = server->url,
        .max_requests = 40,
        .rate = 1e6,
    });
    if (!audit)
        return;
    mishap *failure = mishap_audit_http(
        audit, &(mishap_audit_http_target){ .url = server->url, .allow_writes = true });
    mishap *unfinished = mishap_audit_end(audit, &results);
    if (!failure && !unfinished) {
        assert_non_null(results);
        assert_true(results->requests <= 40);
    }
    mishap_free(failure);
    mishap_free(unfinished);
    mishap_audit_free(audit);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    peer server = peer_begin(answers, NULL);
    mishap_use_allocator(&failing_allocator);
    audit_peer(&server);
    assert_true(server.notes->requests > 8);
    torture(audit_peer, &server);
    mishap_use_allocator(NULL);
    peer_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(every_allocation_may_fail) };
    mishap *missing = mishap_libcurl_load();
    if (missing) {
        mishap_free(missing);
        printf("1..0 # SKIP libcurl is not installed\n");
        return 0;
    }
    return RUN(tests);
}
