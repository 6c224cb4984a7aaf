/*
 * The requests for one key set. An address that metadata name must be as safe as that of the
 * issuer: https, or this machine for an issuer of this machine. Redirects are not followed.
 */
#include "http/tokens/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "http/keys/file.h"

enum { LONGEST_URL = 1000 };

/* -- age --------------------------------------------------------------------------------------- */

int64_t mishap_fetch_age(mishap_text cache_control)
{
    static const char name[] = "max-age=";
    const size_t length = sizeof name - 1;
    int64_t seconds = -1;
    for (size_t i = 0; seconds < 0 && i + length < cache_control.length; i++) {
        const char *at = cache_control.data + i, *end = cache_control.data + cache_control.length;
        bool begins = i == 0 || at[-1] == ' ' || at[-1] == ','; /* s-maxage= is another one */
        if (!begins || strncasecmp(at, name, length) != 0)
            continue;
        for (at += length; at < end && *at >= '0' && *at <= '9'; at++)
            if (seconds < MISHAP_FETCH_MOST_S)
                seconds = (seconds < 0 ? 0 : seconds) * 10 + (*at - '0');
    }
    if (seconds < 0)
        return MISHAP_FETCH_USUAL_S;
    return seconds < MISHAP_FETCH_LEAST_S  ? MISHAP_FETCH_LEAST_S
           : seconds > MISHAP_FETCH_MOST_S ? MISHAP_FETCH_MOST_S
                                           : seconds;
}

/* -- requests ---------------------------------------------------------------------------------- */

static mishap *get(mishap_client *client, const char *url, mishap_client_response *response)
{
    static const mishap_client_header accept = { "Accept", "application/json" };
    const mishap_client_request request = { .url = url,
                                            .headers = &accept,
                                            .header_count = 1,
                                            .connect_ms = MISHAP_FETCH_TIMEOUT_MS,
                                            .total_ms = MISHAP_FETCH_TIMEOUT_MS,
                                            .most_body = MISHAP_JWKS_LARGEST };
    mishap *failure = mishap_client_send(client, &request, response);
    if (!failure && response->status != 200)
        failure = mishap_raise(BAD_GATEWAY, "The issuer has answered with status %d.",
                               response->status);
    return failure ? mishap_note(failure, "url", url) : NULL;
}

static mishap *wrong_metadata(const char *problem)
{
    return mishap_raise(BAD_GATEWAY, "The metadata of the issuer %s.", problem);
}

static bool has_https(mishap_text url)
{
    return url.length > 8 && memcmp(url.data, "https://", 8) == 0;
}

/* Keys come with https, or from this machine if the issuer is on it. Metadata may name any host:
 * the operator who names the issuer trusts it with that. */
static bool is_safe(const struct mishap_http_issuer *issuer, mishap_text url)
{
    return url.length < LONGEST_URL && !memchr(url.data, 0, url.length) &&
           (has_https(url) || (!has_https(issuer->url) && mishap_http_issuer_is_safe(url)));
}

/* Two issuers may share a host: metadata of another one would name the keys of another one. */
static mishap *read_metadata(const struct mishap_http_issuer *issuer, mishap_text json,
                             char keys[LONGEST_URL])
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = NULL;
    yyjson_val *at;
    if (!mishap_json_read(&reader, json) || reader.flaw != MISHAP_JSON_SOUND ||
        mishap_json_first_flaw(&reader, &at) != MISHAP_JSON_SOUND || !yyjson_is_obj(reader.root)) {
        failure = wrong_metadata("are no JSON object");
    } else {
        mishap_text named = mishap_json_text(yyjson_obj_get(reader.root, "issuer"));
        mishap_text url = mishap_json_text(yyjson_obj_get(reader.root, "jwks_uri"));
        if (!mishap_text_equal(named, issuer->url))
            failure = wrong_metadata("are those of another issuer");
        else if (!url.length || !is_safe(issuer, url))
            failure = wrong_metadata("name no key set with https");
        else
            snprintf(keys, LONGEST_URL, "%.*s", (int)url.length, url.data);
    }
    mishap_json_reader_release(&reader);
    return failure;
}

/* https://host/path: the well-known part comes before the path (RFC 8414, 3), or behind it (OpenID
 * Connect Discovery, 4). */
static void put_metadata_url(mishap_text issuer, bool openid, char url[LONGEST_URL])
{
    const char *slashes = memmem(issuer.data, issuer.length, "://", 3);
    size_t host = slashes ? (size_t)(slashes - issuer.data) + 3 : 0;
    const char *path = memchr(issuer.data + host, '/', issuer.length - host);
    size_t origin = path ? (size_t)(path - issuer.data) : issuer.length;
    size_t rest = issuer.length - origin;
    while (rest && issuer.data[origin + rest - 1] == '/')
        rest--;
    if (openid)
        snprintf(url, LONGEST_URL, "%.*s/.well-known/openid-configuration", (int)(origin + rest),
                 issuer.data);
    else
        snprintf(url, LONGEST_URL, "%.*s/.well-known/oauth-authorization-server%.*s", (int)origin,
                 issuer.data, (int)rest, issuer.data + origin);
}

static mishap *find_keys(mishap_client *client, const struct mishap_http_issuer *issuer,
                         mishap_client_response *response, char keys[LONGEST_URL])
{
    mishap *failures[2] = { NULL, NULL };
    for (int openid = 0; openid < 2; openid++) {
        char url[LONGEST_URL];
        put_metadata_url(issuer->url, openid, url);
        failures[openid] = get(client, url, response);
        if (!failures[openid])
            failures[openid] = read_metadata(issuer, mishap_buffer_text(&response->body), keys);
        if (!failures[openid]) {
            mishap_free(failures[0]);
            return NULL;
        }
    }
    return mishap_because(failures[0], failures[1]);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* A server that is killed meanwhile has the old set or the new one. */
static mishap *replace(const char *path, mishap_text text)
{
    char next[4200];
    snprintf(next, sizeof next, "%s.new", path);
    unlink(next);
    int file = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = file < 0 ? errno : mishap_key_write(file, text);
    if (file >= 0)
        close(file);
    if (!error && rename(next, path) != 0)
        error = errno;
    return error ? mishap_key_blame(
                       mishap_raise(OUTPUT_FAILED, "The key set of an issuer cannot be written."),
                       error, path)
                 : NULL;
}

/* One byte more than the text, so that a longer file is noticed. */
static bool has_text(const char *path, mishap_text text)
{
    char *found = mishap_allocate(text.length + 1);
    size_t length = 0;
    ssize_t count = 1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    while (found && file >= 0 && length <= text.length &&
           (count = read(file, found + length, text.length + 1 - length)) > 0)
        length += (size_t)count;
    bool same = found && file >= 0 && count == 0 && length == text.length &&
                memcmp(found, text.data, length) == 0;
    if (file >= 0)
        close(file);
    mishap_release(found);
    return same;
}

/* The same set again gets a new time alone. */
static mishap *save(const char *path, mishap_text text)
{
    return has_text(path, text) && utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0
               ? NULL
               : replace(path, text);
}

mishap *mishap_fetch_keys(mishap_client *client, const struct mishap_http_issuer *issuer,
                          int64_t *for_s)
{
    mishap_client_response response = MISHAP_CLIENT_RESPONSE();
    char url[LONGEST_URL];
    mishap_jwks *keys = NULL;
    *for_s = MISHAP_FETCH_UNKNOWN_S;
    mishap *failure = find_keys(client, issuer, &response, url);
    if (!failure)
        failure = get(client, url, &response);
    if (!failure)
        failure = mishap_jwks_read(mishap_buffer_text(&response.body), &keys);
    if (!failure)
        failure = save(issuer->keys, mishap_buffer_text(&response.body));
    if (!failure)
        *for_s = mishap_fetch_age(mishap_client_field(&response, "Cache-Control"));
    mishap_jwks_free(keys);
    mishap_client_response_release(&response);
    return failure;
}
