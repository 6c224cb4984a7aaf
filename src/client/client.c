/*
 * Requests over libcurl.
 *
 * One handle of libcurl serves all requests of a client, so a connection is used again. Redirects
 * are followed here and not by libcurl: it would follow them to any host. An address is taken apart
 * by libcurl itself, so that what is checked is what is connected to.
 */
#include "client/client.h"

#include <stdio.h>
#include <strings.h>

#include "client/libcurl.h"
#include "client/single.h"

enum {
    CONNECT_MS = 10000,
    TOTAL_MS = 30000,
    MOST_HEAD = 64 << 10,
    MOST_BODY = 1 << 20,
    MOST_HEADERS = 64,
    LONGEST_HEADER = 16 << 10,
    LONGEST_ORIGIN = 400,
};

struct mishap_client {
    curl_handle *handle;
    char *agent, *proxy, *authorities, *certificate, *key;
    const volatile sig_atomic_t *stop;

    /* Of the request that runs now: */
    mishap_client_response *response;
    bool (*piece)(void *state, mishap_text bytes); /* takes the body; NULL: the response does */
    void *state;
    size_t most_head, most_body;
    size_t head_bytes;    /* of all heads, also of those before the last one */
    bool head_ended;      /* the empty line behind the last head has arrived */
    const char *exceeded; /* which limit; NULL: none */
    char error[CURL_ERROR_TEXT];
    char origin[LONGEST_ORIGIN]; /* scheme, host and port, for messages */
};

/* -- opening ----------------------------------------------------------------------------------- */

static bool copy_string(const char *from, char **to)
{
    size_t size = from ? strlen(from) + 1 : 0;
    *to = from ? mishap_allocate(size) : NULL;
    if (*to)
        memcpy(*to, from, size);
    return *to || !from;
}

mishap *mishap_client_open(const mishap_client_settings *settings, mishap_client **out)
{
    *out = NULL;
    mishap *failure = mishap_libcurl_load();
    if (failure)
        return failure;
    mishap_client *client = mishap_allocate(sizeof *client);
    if (!client)
        return mishap_out_of_memory();
    memset(client, 0, sizeof *client);
    client->stop = settings->stop;
    bool copied = copy_string(settings->agent, &client->agent) &&
                  copy_string(settings->proxy, &client->proxy) &&
                  copy_string(settings->authorities, &client->authorities) &&
                  copy_string(settings->certificate, &client->certificate) &&
                  copy_string(settings->key, &client->key);
    client->handle = copied ? mishap_libcurl.curl_easy_init() : NULL;
    if (!client->handle) {
        mishap_client_close(client);
        return mishap_out_of_memory();
    }
    *out = client;
    return NULL;
}

void mishap_client_close(mishap_client *client)
{
    if (!client)
        return;
    if (client->handle)
        mishap_libcurl.curl_easy_cleanup(client->handle);
    mishap_release(client->agent);
    mishap_release(client->proxy);
    mishap_release(client->authorities);
    mishap_release(client->certificate);
    mishap_release(client->key);
    mishap_release(client);
}

void mishap_client_response_release(mishap_client_response *response)
{
    mishap_buffer_release(&response->head);
    mishap_buffer_release(&response->body);
    response->status = 0;
}

/* -- addresses --------------------------------------------------------------------------------- */

static mishap *bad_address(const char *why)
{
    return mishap_raise(INVALID_ARGUMENT, "The address %s.", why);
}

/* The scheme, host and port of an address, as text. */
static bool put_origin(const curl_address *address, char *origin, size_t size)
{
    char *parts[3] = { NULL, NULL, NULL };
    static const int which[3] = { CURL_PART_SCHEME, CURL_PART_HOST, CURL_PART_PORT };
    bool all = true;
    for (size_t i = 0; i < 3; i++)
        all = mishap_libcurl.curl_url_get(address, which[i], &parts[i], CURL_DEFAULT_PORT) == 0 &&
              all;
    int length = all ? snprintf(origin, size, "%s://%s:%s", parts[0], parts[1], parts[2]) : -1;
    for (size_t i = 0; i < 3; i++)
        mishap_libcurl.curl_free(parts[i]);
    return length > 0 && (size_t)length < size;
}

static bool address_has(const curl_address *address, int part)
{
    char *text = NULL;
    bool has = mishap_libcurl.curl_url_get(address, part, &text, 0) == 0;
    mishap_libcurl.curl_free(text);
    return has;
}

/* Only visible ASCII: what libcurl would make of other bytes does not matter then. */
static bool is_visible(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* The origin of an address that may be used. */
static mishap *read_address(const char *url, char *origin, size_t size)
{
    mishap *failure = NULL;
    if (!url || !is_visible(url))
        return bad_address("has a character that no URL has");
    curl_address *address = mishap_libcurl.curl_url();
    if (!address)
        return mishap_out_of_memory();
    /* libcurl would take the path of http:///path for a host. */
    if (mishap_libcurl.curl_url_set(address, CURL_PART_URL, url, 0) != 0 || strstr(url, ":///"))
        failure = bad_address("is not a URL, such as https://host:8080/path");
    else if (address_has(address, CURL_PART_USER) || address_has(address, CURL_PART_PASSWORD))
        failure = bad_address("has a user or a password in it; send a header field instead");
    else if (!put_origin(address, origin, size))
        failure = bad_address("has no host, or one whose name is too long");
    else if (strncmp(origin, "http://", 7) != 0 && strncmp(origin, "https://", 8) != 0)
        failure = bad_address("does not begin with http:// or https://");
    mishap_libcurl.curl_url_cleanup(address);
    return failure;
}

/* -- what arrives ------------------------------------------------------------------------------ */

static void note_status(mishap_client *client)
{
    long status = 0;
    mishap_libcurl.curl_easy_getinfo(client->handle, CURL_GOT_STATUS, &status);
    client->response->status = client->head_ended ? (int)status : 0;
}

/* Fewer bytes than there were: libcurl ends the request. */
static size_t on_body(char *data, size_t size, size_t count, void *state)
{
    mishap_client *client = state;
    mishap_buffer *body = &client->response->body;
    size_t length = size * count;
    if (client->piece) {
        note_status(client);
        return client->piece(client->state, (mishap_text){ data, length }) ? length : 0;
    }
    if (length > client->most_body - body->length) {
        client->exceeded = "body";
        return 0;
    }
    mishap_buffer_put(body, data, length);
    return body->failed ? 0 : length;
}

/* One line. A status line begins a head: of an informational response, of a proxy, or the last. */
static size_t on_head(char *data, size_t size, size_t count, void *state)
{
    mishap_client *client = state;
    mishap_buffer *head = &client->response->head;
    size_t length = size * count;
    if (length > client->most_head - client->head_bytes) {
        client->exceeded = "head";
        return 0;
    }
    client->head_bytes += length;
    if (length >= 5 && memcmp(data, "HTTP/", 5) == 0) {
        mishap_buffer_reset(head);
        client->head_ended = false;
    } else if (length && (data[0] == '\r' || data[0] == '\n')) {
        client->head_ended = true;
        if (client->piece) /* a body may never come */
            note_status(client);
    } else {
        mishap_buffer_put(head, data, length);
    }
    return head->failed ? 0 : length;
}

/* About once a second, and whenever something arrives: `arrived` counts the bytes of the body as
 * they were sent. Decoded, they may be none at all. */
static int on_progress(void *state, int64_t expected, int64_t arrived, int64_t to_send,
                       int64_t sent)
{
    mishap_client *client = state;
    (void)expected, (void)to_send, (void)sent;
    if (!client->piece && arrived > 0 && (uint64_t)arrived > client->most_body)
        client->exceeded = "body";
    return client->exceeded || (client->stop && *client->stop);
}

/* -- what is sent ------------------------------------------------------------------------------ */

/* A name is a token (RFC 9110, 5.6.2). */
static bool is_field_name(const char *name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    const char *at = name;
    for (; *at; at++)
        if (!((*at >= '0' && *at <= '9') || ((*at | 32) >= 'a' && (*at | 32) <= 'z')) &&
            !strchr(others, *at))
            return false;
    return at > name;
}

/* No control character: a line feed would begin another field. */
static bool is_field_value(const char *value)
{
    for (; *value; value++)
        if ((unsigned char)*value < ' ' ? *value != '\t' : *value == 127)
            return false;
    return true;
}

static bool add_line(curl_list **list, const char *line)
{
    curl_list *longer = mishap_libcurl.curl_slist_append(*list, line);
    if (longer)
        *list = longer;
    return longer;
}

/* libcurl sends a field without a value if a semicolon ends the line in place of the colon. */
static mishap *add_header(curl_list **list, const mishap_client_header *header)
{
    char storage[512];
    mishap_buffer line;
    if (!header->name || !header->value || !is_field_name(header->name) ||
        !is_field_value(header->value) || strlen(header->value) > LONGEST_HEADER)
        return mishap_raise(INVALID_ARGUMENT,
                            "A header field has a name or a value that cannot be sent.");
    mishap_buffer_init(&line, storage, sizeof storage);
    mishap_buffer_put_text(&line, mishap_text_of(header->name));
    mishap_buffer_put_text(&line, mishap_text_of(header->value[0] ? ": " : ";"));
    mishap_buffer_put_text(&line, mishap_text_of(header->value));
    mishap_buffer_put_char(&line, '\0');
    bool added = !line.failed && add_line(list, line.data);
    mishap_buffer_release(&line);
    return added ? NULL : mishap_out_of_memory();
}

/* Without the empty field Expect, libcurl waits for a second before it sends a larger body. Without
 * the empty Content-Type it says that any body is a form; a Content-Type of the request counts. */
static mishap *list_headers(const mishap_client_request *request, curl_list **list)
{
    mishap *failure = NULL;
    *list = NULL;
    if (request->header_count > MOST_HEADERS)
        return mishap_raise(INVALID_ARGUMENT, "There are more than %d header fields.",
                            MOST_HEADERS);
    for (size_t i = 0; i < request->header_count && !failure; i++)
        failure = add_header(list, &request->headers[i]);
    if (!failure && (!add_line(list, "Expect:") || !add_line(list, "Content-Type:")))
        failure = mishap_out_of_memory();
    if (failure) {
        mishap_libcurl.curl_slist_free_all(*list);
        *list = NULL;
    }
    return failure;
}

static const char *method_of(const mishap_client_request *request)
{
    return request->method ? request->method : "GET";
}

/* The address, the method and the target: what could begin another line, or end the first one
 * early, is not sent. */
static mishap *check_line(const mishap_client_request *request, char *origin, size_t size)
{
    if (!is_field_name(method_of(request)))
        return mishap_raise(INVALID_ARGUMENT, "The method cannot be sent.");
    if (request->target && (!request->target[0] || !is_visible(request->target)))
        return mishap_raise(INVALID_ARGUMENT, "The target of the request cannot be sent.");
    return read_address(request->url, origin, size);
}

mishap *mishap_client_check(const mishap_client_request *request)
{
    char origin[LONGEST_ORIGIN];
    curl_list *headers = NULL;
    mishap *failure = check_line(request, origin, sizeof origin);
    if (!failure)
        failure = list_headers(request, &headers);
    mishap_libcurl.curl_slist_free_all(headers);
    return failure;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* The options of every request. An option that this libcurl does not have is a failure: half of the
 * rules must not hold. Certificates are left to libcurl's defaults where none is named. */
static bool set_rules(mishap_client *client)
{
    curl_handle *handle = client->handle;
    int (*set)(curl_handle *, int, ...) = mishap_libcurl.curl_easy_setopt;
    bool fine = true;
    mishap_libcurl.curl_easy_reset(handle);
    fine = set(handle, CURL_OPT_PROTOCOLS, "http,https") == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_FOLLOW, 0L) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_VERIFY_PEER, 1L) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_VERIFY_HOST, 2L) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_TLS_VERSION, (long)CURL_TLS_1_2) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_HTTP_VERSION, (long)CURL_PROTOCOL_HTTP_1_1) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_NO_SIGNAL, 1L) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_PROXY, or_empty(client->proxy)) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_NO_PROXY, "") == CURL_FINE && fine;
    if (client->authorities)
        fine = set(handle, CURL_OPT_AUTHORITIES, client->authorities) == CURL_FINE && fine;
    if (client->certificate)
        fine = set(handle, CURL_OPT_CERTIFICATE, client->certificate) == CURL_FINE && fine;
    if (client->key)
        fine = set(handle, CURL_OPT_KEY, client->key) == CURL_FINE && fine;
    if (client->agent)
        fine = set(handle, CURL_OPT_AGENT, client->agent) == CURL_FINE && fine;
    return fine;
}

/* What is asked, and with which body. libcurl knows three kinds of requests: without a body, with
 * one, and those whose response has none; the name of the method is set beside the kind. */
static bool set_method(curl_handle *handle, const mishap_client_request *request)
{
    int (*set)(curl_handle *, int, ...) = mishap_libcurl.curl_easy_setopt;
    const char *method = method_of(request);
    bool fine = true;
    if (request->body.data) {
        fine = set(handle, CURL_OPT_POST, 1L) == CURL_FINE && fine;
        fine = set(handle, CURL_OPT_BODY_SIZE, (int64_t)request->body.length) == CURL_FINE && fine;
        fine = set(handle, CURL_OPT_BODY, request->body.data) == CURL_FINE && fine;
    } else if (strcmp(method, "HEAD") == 0) {
        fine = set(handle, CURL_OPT_NO_BODY, 1L) == CURL_FINE && fine;
    } else {
        fine = set(handle, CURL_OPT_GET, 1L) == CURL_FINE && fine;
    }
    fine = set(handle, CURL_OPT_METHOD, method) == CURL_FINE && fine;
    if (request->target)
        fine = set(handle, CURL_OPT_TARGET, request->target) == CURL_FINE && fine;
    if (request->decode)
        fine = set(handle, CURL_OPT_DECODE, "gzip, deflate") == CURL_FINE && fine;
    return fine;
}

static bool set_request(mishap_client *client, const mishap_client_request *request,
                        const char *url, curl_list *headers, int64_t left_ms)
{
    curl_handle *handle = client->handle;
    int (*set)(curl_handle *, int, ...) = mishap_libcurl.curl_easy_setopt;
    long connect_ms = request->connect_ms > 0 ? request->connect_ms : CONNECT_MS;
    bool fine = set_rules(client);
    fine = set(handle, CURL_OPT_URL, url) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_HEADERS, headers) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_TOTAL_MS, (long)left_ms) == CURL_FINE && fine;
    fine = set(handle, CURL_OPT_CONNECT_MS, connect_ms) == CURL_FINE && fine;
    fine = set_method(handle, request) && fine;
    set(handle, CURL_OPT_WRITE, on_body);
    set(handle, CURL_OPT_WRITE_DATA, client);
    set(handle, CURL_OPT_HEAD, on_head);
    set(handle, CURL_OPT_HEAD_DATA, client);
    set(handle, CURL_OPT_PROGRESS, on_progress);
    set(handle, CURL_OPT_PROGRESS_DATA, client);
    set(handle, CURL_OPT_NO_PROGRESS, 0L);
    set(handle, CURL_OPT_ERROR_TEXT, client->error);
    return fine;
}

/* -- results ----------------------------------------------------------------------------------- */

static bool connected(const mishap_client *client)
{
    int64_t time_us = 0;
    return mishap_libcurl.curl_easy_getinfo(client->handle, CURL_GOT_PRETRANSFER, &time_us) ==
               CURL_FINE &&
           time_us > 0;
}

static mishap *raise_result(const mishap_client *client, int result)
{
    const char *origin = client->origin;
    switch (result) {
    case CURL_NO_HOST:
    case CURL_NO_PROXY_FOUND:
        return mishap_raise(HOST_NOT_FOUND, "The host of %s cannot be resolved.", origin);
    case CURL_NO_CONNECTION:
        return mishap_raise(CONNECTION_REFUSED, "%s cannot be connected to.", origin);
    case CURL_TIME_IS_OVER:
        return connected(client)
                   ? mishap_raise(GATEWAY_TIMEOUT, "%s did not answer in time.", origin)
                   : mishap_raise(CONNECTION_TIMEOUT, "%s could not be connected to in time.",
                                  origin);
    case CURL_STOPPED:
        return mishap_raise(CANCELLED, "The request to %s was stopped.", origin);
    case CURL_TLS_FAILED:
    case CURL_CERTIFICATE_PROBLEM:
    case CURL_NOT_TRUSTED:
    case CURL_AUTHORITIES_UNREADABLE:
    case CURL_ISSUER_PROBLEM:
        return mishap_raise(UNAVAILABLE, "No secure connection to %s is possible.", origin);
    default:
        return mishap_raise(BAD_GATEWAY, "%s sent no valid HTTP response.", origin);
    }
}

/* The failure that a result of libcurl stands for; NULL: there is a response. (libcurl says that
 * there is no memory for a header field that is longer than it allows.) */
static mishap *judge_result(const mishap_client *client, int result)
{
    const mishap_client_response *response = client->response;
    if (response->body.failed || response->head.failed)
        return mishap_out_of_memory();
    if (client->exceeded)
        return mishap_raise(BAD_GATEWAY, "The %s of the response of %s is too large.",
                            client->exceeded, client->origin);
    if (result == CURL_FINE)
        return response->status ? NULL : raise_result(client, -1);
    mishap *m = raise_result(client, result);
    return mishap_note(
        m, "libcurl", client->error[0] ? client->error : mishap_libcurl.curl_easy_strerror(result));
}

static mishap *prepare_once(mishap_client *client, const mishap_client_request *request,
                            const char *url, curl_list *headers, int64_t left_ms)
{
    mishap_client_response *response = client->response;
    response->status = 0;
    mishap_buffer_reset(&response->head);
    mishap_buffer_reset(&response->body);
    client->error[0] = '\0';
    client->exceeded = NULL;
    client->head_bytes = 0;
    client->head_ended = false;
    if (!set_request(client, request, url, headers, left_ms))
        return mishap_raise(PRECONDITION, "This version of libcurl cannot be used.");
    return NULL;
}

/* Send it once. */
static mishap *send_once(mishap_client *client, const mishap_client_request *request,
                         const char *url, curl_list *headers, int64_t left_ms)
{
    mishap *failure = prepare_once(client, request, url, headers, left_ms);
    if (failure)
        return failure;
    int result = mishap_libcurl.curl_easy_perform(client->handle);
    note_status(client);
    return judge_result(client, result);
}

/* The address that a response redirects to, in libcurl's memory; NULL: it is not followed. */
static const char *redirect_of(const mishap_client *client, const mishap_client_request *request)
{
    char *to = NULL, origin[LONGEST_ORIGIN];
    int status = client->response->status;
    bool asks = status == 307 || status == 308 ||
                (!request->body.data && (status == 301 || status == 302 || status == 303));
    if (!asks || mishap_libcurl.curl_easy_getinfo(client->handle, CURL_GOT_REDIRECT, &to) != 0 ||
        !to)
        return NULL;
    mishap *failure = read_address(to, origin, sizeof origin);
    bool same = !failure && strcasecmp(origin, client->origin) == 0;
    mishap_free(failure);
    return same ? to : NULL;
}

static mishap *send_and_follow(mishap_client *client, const mishap_client_request *request,
                               curl_list *headers)
{
    int64_t begun_ns = mishap_clock_monotonic_ns();
    int64_t total_ms = request->total_ms > 0 ? request->total_ms : TOTAL_MS;
    char *copy = NULL;
    const char *url = request->url;
    mishap *failure = NULL;
    for (int follow = request->target ? 0 : request->redirects; url; follow--) {
        int64_t left_ms = total_ms - (mishap_clock_monotonic_ns() - begun_ns) / 1000000;
        failure = left_ms > 0 ? send_once(client, request, url, headers, left_ms)
                              : raise_result(client, CURL_TIME_IS_OVER);
        const char *next = !failure && follow > 0 ? redirect_of(client, request) : NULL;
        mishap_release(copy);
        copy = NULL;
        if (next && !copy_string(next, &copy))
            failure = mishap_out_of_memory();
        url = copy;
    }
    return failure;
}

static mishap *begin(mishap_client *client, const mishap_client_request *request,
                     mishap_client_response *response, curl_list **headers)
{
    response->status = 0;
    mishap_buffer_reset(&response->head);
    mishap_buffer_reset(&response->body);
    client->response = response;
    client->piece = request->piece;
    client->state = request->state;
    client->most_head = request->most_head ? request->most_head : MOST_HEAD;
    client->most_body = request->most_body ? request->most_body : MOST_BODY;
    *headers = NULL;
    mishap *failure = check_line(request, client->origin, sizeof client->origin);
    return failure ? failure : list_headers(request, headers);
}

mishap *mishap_client_send(mishap_client *client, const mishap_client_request *request,
                           mishap_client_response *response)
{
    curl_list *headers = NULL;
    mishap *failure = begin(client, request, response, &headers);
    if (!failure)
        failure = send_and_follow(client, request, headers);
    mishap_libcurl.curl_slist_free_all(headers);
    client->response = NULL;
    return failure;
}

/* -- one of many, see many.c ------------------------------------------------------------------- */

mishap *mishap_client_prepare(mishap_client *client, const mishap_client_request *request,
                              mishap_client_response *response, curl_list **headers)
{
    int64_t total_ms = request->total_ms < 0 ? 0 : request->total_ms ? request->total_ms : TOTAL_MS;
    mishap *failure = begin(client, request, response, headers);
    return failure ? failure : prepare_once(client, request, request->url, *headers, total_ms);
}

mishap *mishap_client_finish(mishap_client *client, int result)
{
    note_status(client);
    mishap *failure = judge_result(client, result);
    client->response = NULL;
    return failure;
}

curl_handle *mishap_client_handle(const mishap_client *client)
{
    return client->handle;
}
