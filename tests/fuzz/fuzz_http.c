/*
 * From the bytes of a socket to the replies. For all input, each reply is sound HTTP/1.1 with sound
 * JSON, an error has seed 003's form, and it makes no difference in which pieces the bytes arrive.
 * The first byte says how many sizes of pieces follow it; the rest is what the client sends.
 */
#include "fuzz.h"

#include <strings.h>

#include "../support/memory_server.h"

static void ignore(void *state, const mishap_finding *finding)
{
    if (finding->severity != MISHAP_WARNING)
        *(const char **)state = finding->rule;
}

/* How long the body of a stream is: in chunks, or up to the end. One that is cut behind a chunk, at
 * the end of all, closes the connection. */
static size_t expect_stream(mishap_text text, bool chunked, bool *closes)
{
    size_t at = 0, size = 1;
    while (chunked && size) {
        if (at == text.length) {
            *closes = true;
            break;
        }
        const char *line = text.data + at;
        char *end;
        const char *found = memmem(line, text.length - at, "\r\n", 2);
        EXPECT(found, "no size of a chunk: %.*s", SHOWN(text));
        size = strtoul(line, &end, 16);
        EXPECT(end == found && end > line, "no size of a chunk: %.*s", SHOWN(text));
        at += (size_t)(found - line) + 2;
        EXPECT(text.length - at >= size + 2, "half a chunk: %.*s", SHOWN(text));
        EXPECT(memcmp(text.data + at + size, "\r\n", 2) == 0, "no end of a chunk");
        at += size + 2;
    }
    return chunked ? at : text.length;
}

/* One reply at the beginning of the text; returns its length. */
static size_t expect_reply(mishap_text text, bool *closes)
{
    const char *end = memmem(text.data, text.length, "\r\n\r\n", 4), *broken = NULL;
    int status = 0;
    EXPECT(end, "no end of the head: %.*s", SHOWN(text));
    size_t head = (size_t)(end - text.data) + 4, length = 0;
    EXPECT(text.length > 13 && memcmp(text.data, "HTTP/1.1 ", 9) == 0, "%.*s", SHOWN(text));
    status = (text.data[9] - '0') * 100 + (text.data[10] - '0') * 10 + text.data[11] - '0';
    if (status == 100)
        return head;
    EXPECT(status >= 200 && status <= 599, "status %d", status);
    const char *said = memmem(text.data, head, "Content-Length: ", 16);
    bool chunked = memmem(text.data, head, "Transfer-Encoding: chunked\r\n", 28);
    *closes = memmem(text.data, head, "Connection: close\r\n", 19);
    EXPECT(memmem(text.data, head, "X-Request-Id: ", 14), "no id");
    EXPECT((said || chunked || status == 204 || *closes) && !(said && chunked),
           "no length, or two: %.*s", SHOWN(text));
    if (said)
        length = strtoul(said + 16, NULL, 10);
    else if (status != 204)
        length = expect_stream((mishap_text){ text.data + head, text.length - head }, chunked,
                               closes);
    mishap_text body = { text.data + head, length };
    if (body.length > text.length - head)
        return text.length; /* of HEAD: there is none, and nothing after it can be told apart */
    const char *json = memmem(text.data, head, "Content-Type: application/json\r\n", 32);
    if (status >= 400 && json && body.length) {
        EXPECT(!mishap_verify(mishap_dialect_find("http-api"), body, false, ignore, &broken), "-");
        EXPECT(!broken, "%s: %.*s", broken, SHOWN(body));
    }
    return head + length;
}

/* HEAD is answered without a body, so replies cannot be told apart without the requests. */
static bool has_head(mishap_text bytes)
{
    for (size_t i = 0; i + 4 <= bytes.length; i++)
        if (strncasecmp(bytes.data + i, "HEAD", 4) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static memory_server server;
    static bool open;
    if (!open) {
        setenv("MEMORY_LOG", "", 1); /* a failure is no news here */
        memory_server_open(&server);
    }
    open = true;
    size_t pieces = size ? data[0] % 8 : 0;
    if (size < pieces + 1)
        return 0;
    mishap_text bytes = input_text(data + 1 + pieces, size - 1 - pieces);
    mishap_buffer whole = { 0 }, cut = { 0 };
    mishap_http_state state = memory_server_talk(&server, bytes, NULL, 0, &whole);
    mishap_http_state other = memory_server_talk(&server, bytes, data + 1, pieces, &cut);
    memory_server_steady(&whole);
    memory_server_steady(&cut);
    bool waits = memmem(bytes.data ? bytes.data : "", bytes.length, "00-", 3);
    if (!waits) { /* 100 Continue is sent only to who has not sent the body yet */
        EXPECT(state == other, "state %d in one piece, %d in several", (int)state, (int)other);
        EXPECT(mishap_text_equal(mishap_buffer_text(&whole), mishap_buffer_text(&cut)),
               "in one piece:\n%.*s\nin several:\n%.*s", SHOWN(mishap_buffer_text(&whole)),
               SHOWN(mishap_buffer_text(&cut)));
    }
    if (!has_head(bytes)) {
        mishap_text rest = mishap_buffer_text(&whole);
        bool closes = false;
        while (rest.length) {
            EXPECT(!closes, "more after the last reply");
            size_t length = expect_reply(rest, &closes);
            rest = (mishap_text){ rest.data + length, rest.length - length };
        }
        EXPECT(closes == (state == MISHAP_HTTP_ENDED), "closes %d, state %d", closes, (int)state);
    }
    mishap_buffer_release(&whole);
    mishap_buffer_release(&cut);
    return 0;
}
