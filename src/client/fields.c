/* The header fields of a response. */
#include <strings.h>

#include "client/client.h"
#include "client/libcurl.h"

enum { LONGEST_DATE = 64 };

mishap_text mishap_client_field(const mishap_client_response *response, const char *name)
{
    size_t length = strlen(name);
    const char *at = response->head.data, *end = at ? at + response->head.length : at;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = feed ? feed : end;
        if ((size_t)(line_end - at) > length && at[length] == ':' &&
            strncasecmp(at, name, length) == 0) {
            at += length + 1;
            while (at < line_end && (*at == ' ' || *at == '\t'))
                at++;
            while (line_end > at &&
                   (line_end[-1] == ' ' || line_end[-1] == '\t' || line_end[-1] == '\r'))
                line_end--;
            return (mishap_text){ at, (size_t)(line_end - at) };
        }
        at = feed ? feed + 1 : end;
    }
    return (mishap_text){ NULL, 0 };
}

int64_t mishap_client_retry_after(const mishap_client_response *response, int64_t now_ms)
{
    mishap_text value = mishap_client_field(response, "Retry-After");
    char date[LONGEST_DATE];
    int64_t seconds = 0, wait_ms;
    size_t digits = 0;
    while (digits < value.length && value.data[digits] >= '0' && value.data[digits] <= '9') {
        seconds = seconds * 10 + (value.data[digits] - '0');
        seconds = seconds > INT32_MAX ? INT32_MAX : seconds;
        digits++;
    }
    if (!value.length || value.length >= sizeof date || memchr(value.data, 0, value.length))
        return -1;
    if (digits == value.length) {
        wait_ms = seconds * 1000;
    } else {
        memcpy(date, value.data, value.length);
        date[value.length] = '\0';
        time_t then = mishap_libcurl.curl_getdate(date, NULL);
        if (then < 0)
            return -1;
        wait_ms = (int64_t)then * 1000 - now_ms;
    }
    return wait_ms < 0 ? 0 : wait_ms > INT32_MAX ? INT32_MAX : wait_ms;
}
