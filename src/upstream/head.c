/* A response as it is on the wire, or as `curl -i` prints it: status line, header fields, body. */
#include "base/media.h"
#include "upstream/inside.h"

/* The next line of a head without its end, and what follows. */
static mishap_text next_line(mishap_text *rest)
{
    const char *feed = rest->length ? memchr(rest->data, '\n', rest->length) : NULL;
    size_t length = feed ? (size_t)(feed - rest->data) : rest->length;
    bool ends_with_return = length && rest->data[length - 1] == '\r';
    mishap_text line = { rest->data, ends_with_return ? length - 1 : length };
    size_t used = length + (feed != NULL);
    if (used)
        *rest = (mishap_text){ rest->data + used, rest->length - used };
    return line;
}

static void read_field(mishap_upstream_response *response, mishap_text line)
{
    const char *colon = line.length ? memchr(line.data, ':', line.length) : NULL;
    if (!colon)
        return;
    size_t length = (size_t)(colon - line.data);
    mishap_text name = { line.data, length };
    mishap_text value = mishap_upstream_trim((mishap_text){ colon + 1, line.length - length - 1 });
    if (mishap_http_same_letters(name, (mishap_text)MISHAP_TEXT("content-type")))
        response->content_type = value;
    else if (mishap_http_same_letters(name, (mishap_text)MISHAP_TEXT("retry-after")))
        response->retry_after = value;
}

/* The status of a line "HTTP/1.1 404 Not Found"; -1: it is none. */
static int status_of_line(mishap_text line)
{
    const char *blank = line.length ? memchr(line.data, ' ', line.length) : NULL;
    int status = 0;
    if (!blank || !mishap_upstream_begins(line, "http/"))
        return -1;
    const char *at = blank + 1, *end = line.data + line.length;
    if (end - at < 3 || (end - at > 3 && at[3] != ' '))
        return -1;
    for (int i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '9')
            return -1;
        status = status * 10 + (at[i] - '0');
    }
    return status;
}

bool mishap_upstream_split(mishap_text whole, mishap_upstream_response *response)
{
    mishap_text rest = whole;
    int status = status_of_line(next_line(&rest));
    if (status < 0)
        return false;
    for (;;) {
        response->status = status;
        response->content_type = response->retry_after = (mishap_text){ NULL, 0 };
        for (mishap_text line = next_line(&rest); line.length; line = next_line(&rest))
            read_field(response, line);
        /* A head of 1xx, or of a proxy, a redirect or a login that was followed, has another one
         * behind. Behind that of an error the body follows, which may look like a head. */
        mishap_text next = rest;
        if (status >= 400 && status != 401 && status != 407)
            break;
        status = status_of_line(next_line(&next));
        if (status < 0)
            break;
        rest = next;
    }
    response->body = rest;
    return true;
}
