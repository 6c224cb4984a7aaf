/* The HTTP client: requests, responses, rules about addresses, header fields, redirects, proxies,
 * certificates, time and memory. */
#include <fcntl.h>
#include <sys/stat.h>

#include "client/libcurl.h"
#include "peer.h"

#if __has_include(<curl/curl.h>)
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), "as libcurl has it")
SAME(CURL_INIT_ALL, CURL_GLOBAL_ALL);
SAME(CURL_ERROR_TEXT, CURL_ERROR_SIZE);
SAME(CURL_PROTOCOL_HTTP_1_1, CURL_HTTP_VERSION_1_1);
SAME(CURL_TLS_1_2, CURL_SSLVERSION_TLSv1_2);
SAME(CURL_OPT_NO_PROGRESS, CURLOPT_NOPROGRESS);
SAME(CURL_OPT_NO_BODY, CURLOPT_NOBODY);
SAME(CURL_OPT_POST, CURLOPT_POST);
SAME(CURL_OPT_METHOD, CURLOPT_CUSTOMREQUEST);
SAME(CURL_OPT_DECODE, CURLOPT_ACCEPT_ENCODING);
SAME(CURL_OPT_TARGET, CURLOPT_REQUEST_TARGET);
SAME(CURL_OPT_FOLLOW, CURLOPT_FOLLOWLOCATION);
SAME(CURL_OPT_VERIFY_PEER, CURLOPT_SSL_VERIFYPEER);
SAME(CURL_OPT_GET, CURLOPT_HTTPGET);
SAME(CURL_OPT_VERIFY_HOST, CURLOPT_SSL_VERIFYHOST);
SAME(CURL_OPT_HTTP_VERSION, CURLOPT_HTTP_VERSION);
SAME(CURL_OPT_NO_SIGNAL, CURLOPT_NOSIGNAL);
SAME(CURL_OPT_TLS_VERSION, CURLOPT_SSLVERSION);
SAME(CURL_OPT_TOTAL_MS, CURLOPT_TIMEOUT_MS);
SAME(CURL_OPT_CONNECT_MS, CURLOPT_CONNECTTIMEOUT_MS);
SAME(CURL_OPT_WRITE_DATA, CURLOPT_WRITEDATA);
SAME(CURL_OPT_URL, CURLOPT_URL);
SAME(CURL_OPT_PROXY, CURLOPT_PROXY);
SAME(CURL_OPT_ERROR_TEXT, CURLOPT_ERRORBUFFER);
SAME(CURL_OPT_BODY, CURLOPT_POSTFIELDS);
SAME(CURL_OPT_AGENT, CURLOPT_USERAGENT);
SAME(CURL_OPT_HEADERS, CURLOPT_HTTPHEADER);
SAME(CURL_OPT_CERTIFICATE, CURLOPT_SSLCERT);
SAME(CURL_OPT_HEAD_DATA, CURLOPT_HEADERDATA);
SAME(CURL_OPT_PROGRESS_DATA, CURLOPT_XFERINFODATA);
SAME(CURL_OPT_AUTHORITIES, CURLOPT_CAINFO);
SAME(CURL_OPT_KEY, CURLOPT_SSLKEY);
SAME(CURL_OPT_NO_PROXY, CURLOPT_NOPROXY);
SAME(CURL_OPT_PROTOCOLS, CURLOPT_PROTOCOLS_STR);
SAME(CURL_OPT_WRITE, CURLOPT_WRITEFUNCTION);
SAME(CURL_OPT_HEAD, CURLOPT_HEADERFUNCTION);
SAME(CURL_OPT_PROGRESS, CURLOPT_XFERINFOFUNCTION);
SAME(CURL_OPT_BODY_SIZE, CURLOPT_POSTFIELDSIZE_LARGE);
SAME(CURL_GOT_REDIRECT, CURLINFO_REDIRECT_URL);
SAME(CURL_GOT_STATUS, CURLINFO_RESPONSE_CODE);
SAME(CURL_GOT_PRETRANSFER, CURLINFO_PRETRANSFER_TIME_T);
SAME(CURL_PART_URL, CURLUPART_URL);
SAME(CURL_PART_SCHEME, CURLUPART_SCHEME);
SAME(CURL_PART_USER, CURLUPART_USER);
SAME(CURL_PART_PASSWORD, CURLUPART_PASSWORD);
SAME(CURL_PART_HOST, CURLUPART_HOST);
SAME(CURL_PART_PORT, CURLUPART_PORT);
SAME(CURL_DEFAULT_PORT, CURLU_DEFAULT_PORT);
SAME(CURL_WAIT_IN, CURL_WAIT_POLLIN);
SAME(CURL_WAIT_OUT, CURL_WAIT_POLLOUT);
SAME(CURL_HAS_ENDED, CURLMSG_DONE);
SAME(sizeof(curl_waiting), sizeof(struct curl_waitfd));
SAME(sizeof(curl_message), sizeof(CURLMsg));
SAME(CURL_FINE, CURLE_OK);
SAME(CURL_NO_PROXY_FOUND, CURLE_COULDNT_RESOLVE_PROXY);
SAME(CURL_NO_HOST, CURLE_COULDNT_RESOLVE_HOST);
SAME(CURL_NO_CONNECTION, CURLE_COULDNT_CONNECT);
SAME(CURL_TIME_IS_OVER, CURLE_OPERATION_TIMEDOUT);
SAME(CURL_TLS_FAILED, CURLE_SSL_CONNECT_ERROR);
SAME(CURL_STOPPED, CURLE_ABORTED_BY_CALLBACK);
SAME(CURL_CERTIFICATE_PROBLEM, CURLE_SSL_CERTPROBLEM);
SAME(CURL_NOT_TRUSTED, CURLE_PEER_FAILED_VERIFICATION);
SAME(CURL_AUTHORITIES_UNREADABLE, CURLE_SSL_CACERT_BADFILE);
SAME(CURL_ISSUER_PROBLEM, CURLE_SSL_ISSUER_ERROR);
#endif

static mishap_client *client;
static mishap_client_response response;

static void open_client(const mishap_client_settings *settings)
{
    assert_null(mishap_client_open(settings, &client));
}

static int close_client(void **state)
{
    (void)state;
    mishap_client_response_release(&response);
    mishap_client_close(client);
    client = NULL;
    return 0;
}

static void assert_fails(mishap *m, const mishap_code *code)
{
    assert_non_null(m);
    assert_string_equal(mishap_told(m)->code->name.data, code->name.data);
    mishap_free(m);
}

static void assert_text(mishap_text text, const char *expected)
{
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

/* -- requests and responses -------------------------------------------------------------------- */

static const peer_text fine = {
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One:  a b \r\nx-one: c\r\n"
    "Retry-After: 7\r\n\r\nhello",
    true
};

static void a_post_is_sent_and_its_response_read(void **state)
{
    static const mishap_client_header headers[] = { { "Content-Type", "application/json" },
                                                    { "Authorization", "Bearer s3cret" },
                                                    { "X-Empty", "" } };
    (void)state;
    peer server = peer_begin(peer_says, &fine);
    open_client(&(mishap_client_settings){ .agent = "mishap/test" });
    for (int i = 0; i < 2; i++) {
        assert_null(mishap_client_send(client,
                                       &(mishap_client_request){ .url = server.url,
                                                                 .headers = headers,
                                                                 .header_count = 3,
                                                                 .method = "POST",
                                                                 .body = T("{\"a\":\0 1}") },
                                       &response));
        assert_int_equal(response.status, 200);
        assert_text(mishap_buffer_text(&response.body), "hello");
        assert_text(mishap_client_field(&response, "x-ONE"), "a b");
        assert_null(mishap_client_field(&response, "X-On").data);
        assert_null(mishap_client_field(&response, "HTTP/1.1 200 OK").data);
        assert_int_equal(mishap_client_retry_after(&response, 0), 7000);
    }
    const char *heard = server.notes->heard;
    assert_int_equal(server.notes->connections, 1); /* it was used again */
    assert_int_equal(server.notes->requests, 2);
    assert_non_null(strstr(heard, "POST / HTTP/1.1\r\n"));
    assert_non_null(strstr(heard, "\r\nContent-Type: application/json\r\n"));
    assert_non_null(strstr(heard, "\r\nAuthorization: Bearer s3cret\r\n"));
    assert_non_null(strstr(heard, "\r\nX-Empty:\r\n"));
    assert_non_null(strstr(heard, "\r\nUser-Agent: mishap/test\r\n"));
    assert_non_null(strstr(heard, "\r\nContent-Length: 9\r\n"));
    assert_null(strstr(heard, "Expect"));
    assert_null(strstr(heard, "Accept-Encoding"));
    assert_memory_equal(heard + server.notes->length - 9, "{\"a\":\0 1}", 9);
    peer_end(&server);
}

static void a_get_has_no_body_and_any_status_is_a_response(void **state)
{
    static const peer_text missing = { "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
                                       true };
    char url[100];
    (void)state;
    peer server = peer_begin(peer_says, &missing);
    open_client(&(mishap_client_settings){ 0 });
    snprintf(url, sizeof url, "%s/a/b?c=d#e", server.url);
    assert_null(mishap_client_send(client, &(mishap_client_request){ .url = url }, &response));
    assert_int_equal(response.status, 404);
    assert_int_equal(response.body.length, 0);
    assert_non_null(strstr(server.notes->heard, "GET /a/b?c=d HTTP/1.1\r\n"));
    assert_null(strstr(server.notes->heard, "Content-Length"));
    peer_end(&server);
}

/* The first line is sent as it is given. */
static void any_method_and_any_target(void **state)
{
    static const peer_text says = { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true };
    static const struct {
        mishap_client_request request;
        const char *begins, *has, *has_not;
    } rows[] = {
        { { .target = "/%zz?a=%" }, "GET /%zz?a=% HTTP/1.1\r\n", "\r\n", "Content-" },
        { { .method = "GET", .target = "/a/../b" },
          "GET /a/../b HTTP/1.1\r\n",
          "\r\n",
          "Content-" },
        { { .method = "PATCH", .body = { "{}", 2 } },
          "PATCH / ",
          "Content-Length: 2\r\n",
          "-Type" },
        { { .method = "POST", .body = { "", 0 } }, "POST / ", "Content-Length: 0\r\n", "-Type" },
        { { .method = "DELETE" }, "DELETE / ", "\r\n", "Content-" },
        { { .method = "OPTIONS" }, "OPTIONS / ", "\r\n", "Content-" },
        { { .method = "DELETE", .body = { "x", 1 } }, "DELETE / ", "\r\n\r\nx", "-Type" },
    };
    (void)state;
    peer server = peer_begin(peer_says, &says);
    open_client(&(mishap_client_settings){ 0 });
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_client_request request = rows[i].request;
        request.url = server.url;
        assert_null(mishap_client_send(client, &request, &response));
        assert_text(mishap_buffer_text(&response.body), "ok");
        const char *heard = server.notes->heard;
        assert_memory_equal(heard, rows[i].begins, strlen(rows[i].begins));
        assert_non_null(strstr(heard, rows[i].has));
        assert_null(strstr(heard, rows[i].has_not));
    }
    peer_end(&server);
    static const mishap_client_request wrong[] = {
        { .method = "" },     { .method = "GET /" },     { .method = "A\r\nB" },   { .target = "" },
        { .target = "/a b" }, { .target = "/\r\nX: y" }, { .target = "/\xc3\xa9" }
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mishap_client_request request = wrong[i];
        request.url = "http://127.0.0.1:1";
        assert_fails(mishap_client_check(&request), MISHAP_CODE_INVALID_ARGUMENT);
        assert_fails(mishap_client_send(client, &request, &response), MISHAP_CODE_INVALID_ARGUMENT);
    }
}

static void the_response_to_head_has_no_body(void **state)
{
    static const peer_text says = { "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nX-A: 1\r\n\r\n",
                                    true };
    (void)state;
    peer server = peer_begin(peer_says, &says);
    open_client(&(mishap_client_settings){ 0 });
    for (int i = 0; i < 2; i++) {
        assert_null(mishap_client_send(
            client, &(mishap_client_request){ .url = server.url, .method = "HEAD" }, &response));
        assert_int_equal(response.status, 200);
        assert_int_equal(response.body.length, 0);
        assert_text(mishap_client_field(&response, "Content-Length"), "5000");
    }
    assert_int_equal(server.notes->connections, 1);
    peer_end(&server);
}

/* Bytes with NULs in them. */
typedef struct peer_bytes {
    const char *encoding;
    mishap_text body;
} peer_bytes;

static bool says_bytes(int connection, const peer_notes *notes, const void *state)
{
    const peer_bytes *says = state;
    char head[200];
    (void)notes;
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %zu\r\n\r\n",
                          says->encoding, says->body.length);
    return peer_say(connection, head, (size_t)length) &&
           peer_say(connection, says->body.data, says->body.length);
}

static void content_is_decoded_if_asked_for(void **state)
{
    static const peer_bytes rows[] = {
        { "gzip", MISHAP_TEXT("\x1f\x8b\x08\0\0\0\0\0\x02\xff\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10"
                              "\x36\x05\0\0\0") },
        { "deflate", MISHAP_TEXT("\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15") },
        { "identity", MISHAP_TEXT("hello") },
    };
    (void)state;
    open_client(&(mishap_client_settings){ 0 });
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        peer server = peer_begin(says_bytes, &rows[i]);
        mishap_client_request request = { .url = server.url, .decode = true };
        assert_null(mishap_client_send(client, &request, &response));
        assert_text(mishap_buffer_text(&response.body), "hello");
        assert_non_null(strstr(server.notes->heard, "\r\nAccept-Encoding: gzip, deflate\r\n"));
        request.decode = false;
        assert_null(mishap_client_send(client, &request, &response));
        assert_int_equal(response.body.length, rows[i].body.length);
        assert_null(strstr(server.notes->heard, "Accept-Encoding"));
        peer_end(&server);
    }
}

static void only_the_last_head_counts(void **state)
{
    static const peer_text says = { "HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\n"
                                    "HTTP/1.1 103 Early Hints\r\nX-B: 2\r\n\r\n"
                                    "HTTP/1.1 204 No Content\r\nX-C: 3\r\n\r\n",
                                    true };
    (void)state;
    peer server = peer_begin(peer_says, &says);
    open_client(&(mishap_client_settings){ 0 });
    assert_null(
        mishap_client_send(client, &(mishap_client_request){ .url = server.url }, &response));
    assert_int_equal(response.status, 204);
    assert_null(mishap_client_field(&response, "X-A").data);
    assert_null(mishap_client_field(&response, "X-B").data);
    assert_text(mishap_client_field(&response, "X-C"), "3");
    peer_end(&server);
}

static void retry_after_has_seconds_or_a_date(void **state)
{
    static const struct {
        const char *line;
        int64_t now_ms, expected;
    } rows[] = {
        { "Retry-After: 0\r\n", 5, 0 },
        { "Retry-After: 120\r\n", 5, 120000 },
        { "retry-after:\t3 \r\n", 5, 3000 },
        { "Retry-After: 99999999999999999999999999\r\n", 5, INT32_MAX },
        { "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", INT64_C(784111767000), 10000 },
        { "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", INT64_C(784111778000), 0 },
        { "Retry-After: -1\r\n", 5, -1 },
        { "Retry-After: soon\r\n", 5, -1 },
        { "Retry-After:\r\n", 5, -1 },
        { "Retry-After: 1.5\r\n", 5, -1 },
        { "X: 1\r\n", 5, -1 },
        { "Retry-After: 4", 5, 4000 },
    };
    (void)state;
    open_client(&(mishap_client_settings){ 0 });
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_buffer_reset(&response.head);
        mishap_buffer_put_text(&response.head, mishap_text_of(rows[i].line));
        assert_int_equal(mishap_client_retry_after(&response, rows[i].now_ms), rows[i].expected);
    }
}

/* -- what is refused --------------------------------------------------------------------------- */

static void addresses_that_are_not_used(void **state)
{
    static const char *const wrong[] = { "",
                                         "127.0.0.1:4318",
                                         "file:///etc/passwd",
                                         "ftp://127.0.0.1/",
                                         "gopher://127.0.0.1/",
                                         "http://",
                                         "http:///path",
                                         "https://user:password@127.0.0.1/",
                                         "http://user@127.0.0.1/",
                                         "http://127.0.0.1/a b",
                                         "http://127.0.0.1/\r\nHost: other",
                                         "http://127.0.0.1:99999/",
                                         "http://127.0.0.1:-1/",
                                         "http://[::1",
                                         "http://\xc3\xa4.example/",
                                         "//127.0.0.1/" };
    (void)state;
    open_client(&(mishap_client_settings){ 0 });
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mishap *m = mishap_client_send(client, &(mishap_client_request){ .url = wrong[i] },
                                       &response);
        assert_null(strstr(mishap_told(m)->message.data, "password@"));
        assert_fails(m, MISHAP_CODE_INVALID_ARGUMENT);
        assert_fails(mishap_client_check(&(mishap_client_request){ .url = wrong[i] }),
                     MISHAP_CODE_INVALID_ARGUMENT);
    }
    assert_fails(mishap_client_check(&(mishap_client_request){ 0 }), MISHAP_CODE_INVALID_ARGUMENT);
    assert_null(mishap_client_check(
        &(mishap_client_request){ .url = "https://collector.example:4318/v1/logs?a=b" }));
    assert_null(mishap_client_check(&(mishap_client_request){ .url = "HTTP://[::1]:80" }));
}

static void header_fields_that_are_not_sent(void **state)
{
    static const mishap_client_header wrong[] = {
        { "X-A", "b\r\nX-C: d" },
        { "X-A", "b\nc" },
        { "X A", "b" },
        { "", "b" },
        { "X:", "b" },
        { "X\r\nY", "b" },
        { "X", "\x01" },
        { "X", "\x7f" },
        { NULL, "b" },
        { "X-Null", NULL },
    };
    (void)state;
    peer server = peer_begin(peer_says, &fine);
    open_client(&(mishap_client_settings){ 0 });
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mishap_client_request request = { .url = server.url,
                                          .headers = &wrong[i],
                                          .header_count = 1 };
        assert_fails(mishap_client_send(client, &request, &response), MISHAP_CODE_INVALID_ARGUMENT);
        assert_fails(mishap_client_check(&request), MISHAP_CODE_INVALID_ARGUMENT);
    }
    assert_int_equal(server.notes->connections, 0);
    peer_end(&server);
}

static void the_environment_names_no_proxy(void **state)
{
    (void)state;
    peer server = peer_begin(peer_says, &fine), proxy = peer_begin(peer_says, &fine);
    setenv("http_proxy", proxy.url, 1);
    setenv("all_proxy", proxy.url, 1);
    setenv("ALL_PROXY", proxy.url, 1);
    open_client(&(mishap_client_settings){ 0 });
    assert_null(
        mishap_client_send(client, &(mishap_client_request){ .url = server.url }, &response));
    assert_int_equal(proxy.notes->connections, 0);
    assert_int_equal(server.notes->requests, 1);
    close_client(NULL);

    /* One that the settings name is used, also where the environment excludes the host. */
    setenv("no_proxy", "*", 1);
    open_client(&(mishap_client_settings){ .proxy = proxy.url });
    assert_null(
        mishap_client_send(client, &(mishap_client_request){ .url = server.url }, &response));
    assert_int_equal(proxy.notes->requests, 1);
    assert_int_equal(server.notes->requests, 1);
    unsetenv("http_proxy"), unsetenv("all_proxy"), unsetenv("ALL_PROXY"), unsetenv("no_proxy");
    peer_end(&server);
    peer_end(&proxy);
}

/* -- redirects --------------------------------------------------------------------------------- */

typedef struct redirect {
    int status;
    char to[100];
} redirect;

static bool redirects(int connection, const peer_notes *notes, const void *state)
{
    const redirect *r = state;
    char text[300];
    if (strstr(notes->heard, " /end "))
        snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend");
    else
        snprintf(text, sizeof text,
                 "HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", r->status,
                 r->to);
    return peer_say(connection, text, strlen(text));
}

static int status_after(const redirect *r, bool post, int follow, int *requests)
{
    peer server = peer_begin(redirects, r);
    assert_null(mishap_client_send(
        client,
        &(mishap_client_request){ .url = server.url,
                                  .method = post ? "POST" : NULL,
                                  .body = post ? T("body") : (mishap_text){ NULL, 0 },
                                  .redirects = follow },
        &response));
    *requests = server.notes->requests;
    if (post && response.status == 200)
        assert_non_null(strstr(server.notes->heard, "\r\n\r\nbody"));
    peer_end(&server);
    return response.status;
}

static void redirects_stay_on_their_origin(void **state)
{
    int requests;
    (void)state;
    peer other = peer_begin(peer_says, &fine);
    open_client(&(mishap_client_settings){ 0 });
    static const int statuses[] = { 301, 302, 303, 307, 308 };
    for (size_t i = 0; i < 5; i++) {
        redirect r = { .status = statuses[i], .to = "/end" };
        assert_int_equal(status_after(&r, false, 1, &requests), 200);
        assert_int_equal(requests, 2);
        assert_int_equal(status_after(&r, false, 0, &requests), statuses[i]);
        assert_int_equal(requests, 1);
        assert_int_equal(status_after(&r, true, 3, &requests), i < 3 ? statuses[i] : 200);
        redirect endless = { .status = statuses[i], .to = "/again" };
        assert_int_equal(status_after(&endless, false, 4, &requests), statuses[i]);
        assert_int_equal(requests, 5);
        redirect away = { .status = statuses[i] };
        snprintf(away.to, sizeof away.to, "%s/end", other.url);
        assert_int_equal(status_after(&away, false, 4, &requests), statuses[i]);
        assert_int_equal(requests, 1);
    }
    static const char *const elsewhere[] = { "file:///etc/passwd", "//127.0.0.2/end",
                                             "https://127.0.0.1/end", "http://localhost/end" };
    for (size_t i = 0; i < 4; i++) {
        redirect r = { .status = 302 };
        snprintf(r.to, sizeof r.to, "%s", elsewhere[i]);
        assert_int_equal(status_after(&r, false, 4, &requests), 302);
        assert_int_equal(requests, 1);
    }
    assert_int_equal(other.notes->connections, 0);
    peer_end(&other);
}

/* -- servers that are not there ---------------------------------------------------------------- */

static void a_server_that_is_not_there(void **state)
{
    (void)state;
    peer server = peer_begin(peer_says, &fine);
    char url[64];
    memcpy(url, server.url, sizeof url);
    peer_end(&server);
    open_client(&(mishap_client_settings){ 0 });
    mishap *m = mishap_client_send(client, &(mishap_client_request){ .url = url }, &response);
    assert_non_null(strstr(mishap_told(m)->message.data, url)); /* the origin is named */
    assert_fails(m, MISHAP_CODE_CONNECTION_REFUSED);
    assert_int_equal(response.status, 0);
    assert_fails(
        mishap_client_send(
            client, &(mishap_client_request){ .url = "http://no-such-host.invalid/" }, &response),
        MISHAP_CODE_HOST_NOT_FOUND);
}

static void a_request_is_stopped(void **state)
{
    static const peer_text silent = { "", true };
    static volatile sig_atomic_t stop = 1;
    (void)state;
    peer server = peer_begin(peer_says, &silent);
    open_client(&(mishap_client_settings){ .stop = &stop });
    assert_fails(
        mishap_client_send(client, &(mishap_client_request){ .url = server.url }, &response),
        MISHAP_CODE_CANCELLED);
    peer_end(&server);
}

/* -- certificates ------------------------------------------------------------------------------ */

static void run_quietly(const char *command)
{
    assert_int_equal(system(command), 0);
}

static bool listens(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = connect(file, (struct sockaddr *)&at, sizeof at) == 0;
    close(file);
    return connected;
}

/* A server of openssl's, with a certificate for 127.0.0.1 that it has signed itself. */
static void only_trusted_certificates(void **state)
{
    char folder[] = "/tmp/client_test.XXXXXX", command[1000], url[64], other[64];
    char authority[100];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem "
             "-days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1 2>/dev/null",
             folder);
    run_quietly(command);
    pid_t pid = -1;
    bool up = false;
    for (int port = 20000 + getpid() % 20000; !up && port < 65000; port += 37) {
        if (listens(port))
            continue; /* a server of another test */
        pid = fork();
        if (pid == 0) {
            char accept[20];
            int nothing = open("/dev/null", O_RDWR);
            snprintf(accept, sizeof accept, "127.0.0.1:%d", port);
            dup2(nothing, 0), dup2(nothing, 1), dup2(nothing, 2);
            if (chdir(folder) == 0)
                execlp("openssl", "openssl", "s_server", "-accept", accept, "-cert", "cert.pem",
                       "-key", "key.pem", "-www", "-quiet", (char *)NULL);
            _exit(9);
        }
        snprintf(url, sizeof url, "https://127.0.0.1:%d", port);
        for (int i = 0; i < 600 && !up && waitpid(pid, NULL, WNOHANG) == 0; i++) {
            up = listens(port);
            poll(NULL, 0, up ? 0 : 100);
        }
    }
    assert_true(up);
    open_client(&(mishap_client_settings){ 0 });
    assert_fails(mishap_client_send(client, &(mishap_client_request){ .url = url }, &response),
                 MISHAP_CODE_UNAVAILABLE);
    close_client(NULL);
    snprintf(authority, sizeof authority, "%s/cert.pem", folder);
    open_client(&(mishap_client_settings){ .authorities = authority });
    assert_null(mishap_client_send(client, &(mishap_client_request){ .url = url }, &response));
    assert_int_equal(response.status, 200);
    /* Another name for the same server, which the certificate does not have. */
    snprintf(other, sizeof other, "https://localhost%s", strrchr(url, ':'));
    assert_fails(mishap_client_send(client, &(mishap_client_request){ .url = other }, &response),
                 MISHAP_CODE_UNAVAILABLE);
    close_client(NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    remove_tree(folder);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void send_without_memory(const void *input)
{
    static const mishap_client_header headers[] = { { "X-Long", NULL } };
    static char value[2000];
    mishap_client_header long_header = headers[0];
    mishap_client *one = NULL;
    mishap_client_response got = MISHAP_CLIENT_RESPONSE();
    memset(value, 'v', sizeof value - 1);
    long_header.value = value;
    mishap *m = mishap_client_open(&(mishap_client_settings){ .agent = "a", .authorities = "/x" },
                                   &one);
    if (!m)
        m = mishap_client_send(
            one,
            &(mishap_client_request){
                .url = input, .headers = &long_header, .header_count = 1, .redirects = 2 },
            &got);
    if (m)
        assert_true(calls >= fail_at);
    else
        assert_int_equal(got.status, 200);
    mishap_free(m);
    mishap_client_response_release(&got);
    mishap_client_close(one);
}

static void every_allocation_fails_once(void **state)
{
    static const redirect r = { .status = 302, .to = "/end" };
    (void)state;
    mishap_client *loaded; /* libcurl is loaded before */
    assert_null(mishap_client_open(&(mishap_client_settings){ 0 }, &loaded));
    mishap_client_close(loaded);
    peer server = peer_begin(redirects, &r);
    mishap_use_allocator(&failing_allocator);
    torture(send_without_memory, server.url);
    mishap_use_allocator(NULL);
    peer_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_post_is_sent_and_its_response_read, close_client),
        cmocka_unit_test_teardown(any_method_and_any_target, close_client),
        cmocka_unit_test_teardown(the_response_to_head_has_no_body, close_client),
        cmocka_unit_test_teardown(content_is_decoded_if_asked_for, close_client),
        cmocka_unit_test_teardown(a_get_has_no_body_and_any_status_is_a_response, close_client),
        cmocka_unit_test_teardown(only_the_last_head_counts, close_client),
        cmocka_unit_test_teardown(retry_after_has_seconds_or_a_date, close_client),
        cmocka_unit_test_teardown(addresses_that_are_not_used, close_client),
        cmocka_unit_test_teardown(header_fields_that_are_not_sent, close_client),
        cmocka_unit_test_teardown(the_environment_names_no_proxy, close_client),
        cmocka_unit_test_teardown(redirects_stay_on_their_origin, close_client),
        cmocka_unit_test_teardown(a_server_that_is_not_there, close_client),
        cmocka_unit_test_teardown(a_request_is_stopped, close_client),
        cmocka_unit_test_teardown(only_trusted_certificates, close_client),
        TEST(every_allocation_fails_once),
    };
    mishap *missing = mishap_libcurl_load();
    if (missing) {
        mishap_free(missing);
        printf("1..0 # SKIP libcurl is not installed\n");
        return 0;
    }
    return RUN(tests);
}
