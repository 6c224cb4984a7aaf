/*
 * The head of a request: the callbacks of llhttp, the fields that are kept, the checks that llhttp
 * does not make, and the parsed result.
 */
#include "server/head.h"

#include <strings.h>

#include "server/origin.h"
#include "server/state.h"

enum { MOST_FIELDS = 100 };

/* -- callbacks of llhttp ----------------------------------------------------------------------- */

/* Add a piece to a span: the first one, or one that continues where the last ended. */
static void extend(const mishap_http_reader *reader, mishap_http_span *span, const char *at,
                   size_t length)
{
    if (!span->length)
        span->at = (uint32_t)(at - reader->window - (ptrdiff_t)reader->start);
    span->length += (uint32_t)length;
}

int mishap_http_head_on_url(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    extend(reader, &reader->target, at, length);
    if (reader->target.length > reader->settings->target_limit)
        return mishap_http_reject(reader, MISHAP_CODE_URI_TOO_LONG, "The request URL is too long.");
    return 0;
}

int mishap_http_head_on_name(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    if (!reader->head_done) /* trailers are skipped */
        extend(reader, &reader->name, at, length);
    return 0;
}

int mishap_http_head_on_value(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    if (!reader->head_done)
        extend(reader, &reader->value, at, length);
    return 0;
}

/* Join another line of a list field with the first one. In the memory of the head, the line changes
 * places with what stands between the two: `A: a␍␊X: x␍␊A: b` becomes `A: a,b␍␊X: x␍␊A:`. One byte
 * of its own name makes room for the comma. */
static void join(mishap_http_reader *reader, int field)
{
    mishap_http_span *list = &reader->fields[field], more = reader->value;
    char *head = reader->window + reader->start, piece[512];
    uint32_t end = list->at + list->length;
    if (!list->length || !more.length) {
        *list = more.length ? more : *list;
        return;
    }
    head[--more.at] = ',';
    more.length++;
    for (size_t i = 0; i < MISHAP_HTTP_MOST_FIELDS; i++)
        if (reader->known >> i & 1 && reader->fields[i].at >= end)
            reader->fields[i].at += more.length;
    list->length += more.length;
    while (more.length) {
        uint32_t size = more.length < sizeof piece ? more.length : sizeof piece;
        memcpy(piece, head + more.at, size);
        memmove(head + end + size, head + end, more.at - end);
        memcpy(head + end, piece, size);
        end += size;
        more.at += size;
        more.length -= size;
    }
}

int mishap_http_head_on_field(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    if (reader->head_done)
        return 0;
    mishap_text name = { reader->window + reader->start + reader->name.at, reader->name.length };
    const mishap_http_fields *fields = reader->settings->fields;
    int field = mishap_http_field_find(fields, name);
    /* Any client sends the fields before this one. */
    if (field < 0 || field >= MISHAP_HTTP_FORWARDED_FOR)
        reader->forwarded = reader->forwarded || mishap_http_is_of_proxy(name);
    if (++reader->field_count > MOST_FIELDS)
        return mishap_http_reject(reader, MISHAP_CODE_REQUEST_HEADER_FIELDS_TOO_LARGE,
                                  "The request has too many headers.");
    if (field >= 0 && !(reader->known >> field & 1)) {
        reader->known |= UINT32_C(1) << field;
        reader->fields[field] = reader->value;
    } else if (field >= 0) {
        if (fields->kept[field].repeats == MISHAP_HTTP_ONCE)
            return mishap_http_reject_as_bad(
                reader, "The request repeats a header that can be sent only once.");
        if (fields->kept[field].repeats == MISHAP_HTTP_LIST)
            join(reader, field);
    }
    reader->name = reader->value = (mishap_http_span){ 0, 0 };
    return 0;
}

/* -- checks of the whole head ------------------------------------------------------------------ */

static mishap_text field_text(const mishap_http_reader *reader, size_t field)
{
    if (!(reader->known >> field & 1))
        return (mishap_text){ NULL, 0 };
    mishap_text text = { reader->window + reader->start + reader->fields[field].at,
                         reader->fields[field].length };
    if (!text.length)
        return (mishap_text){ "", 0 };
    while (text.length && (text.data[text.length - 1] == ' ' || text.data[text.length - 1] == '\t'))
        text.length--;
    return text;
}

/* A host and a port as RFC 3986 spells them: `example.com:8080`, `[::1]`. */
static bool is_authority(mishap_text text)
{
    enum { NAME = 1, ADDRESS = 2 }; /* kinds of text that a byte may be part of */
    static const char parts[256] = {
        ['0' ... '9'] = NAME | ADDRESS,
        ['a' ... 'z'] = NAME | ADDRESS,
        ['A' ... 'Z'] = NAME | ADDRESS,
        ['.'] = NAME | ADDRESS,
        [':'] = ADDRESS,
        ['-'] = NAME,
        ['_'] = NAME,
        ['~'] = NAME,
        ['!'] = NAME,
        ['$'] = NAME,
        ['%' ... ','] = NAME,
        [';'] = NAME,
        ['='] = NAME,
    };
    bool brackets = text.length && text.data[0] == '[';
    size_t i = brackets;
    while (i < text.length && parts[(unsigned char)text.data[i]] & (brackets ? ADDRESS : NAME))
        i++;
    if (brackets && (i == text.length || text.data[i++] != ']' || i == 2))
        return false;
    if (i < text.length && text.data[i++] != ':')
        return false;
    while (i < text.length && text.data[i] >= '0' && text.data[i] <= '9')
        i++;
    return i == text.length;
}

/* RFC 9112, 3.2: exactly one Host field, which must be a host and a port. */
static int check_host(mishap_http_reader *reader)
{
    mishap_text host = field_text(reader, MISHAP_HTTP_HOST);
    if (!host.data && reader->parser.http_minor != 0)
        return mishap_http_reject_as_bad(reader, "The Host header is missing.");
    return is_authority(host) ? 0
                              : mishap_http_reject_as_bad(reader, "The Host header is malformed.");
}

/* RFC 9112, 6.1: only the one coding that is supported, named once. Other parsers read other values
 * differently than llhttp does (request smuggling). */
static int check_coding(mishap_http_reader *reader)
{
    mishap_text coding = field_text(reader, MISHAP_HTTP_TRANSFER_ENCODING);
    if (!coding.data)
        return 0;
    if (reader->parser.http_minor == 0)
        return mishap_http_reject_as_bad(reader, "HTTP/1.0 does not support Transfer-Encoding.");
    if (!coding.length)
        return mishap_http_reject_as_bad(reader, "The Transfer-Encoding header is empty.");
    if (coding.length != 7 || strncasecmp(coding.data, "chunked", 7) != 0)
        return mishap_http_reject(
            reader, MISHAP_CODE_NOT_IMPLEMENTED,
            "The transfer coding is not supported; only chunked is supported.");
    return reader->parser.flags & F_CHUNKED
               ? 0
               : mishap_http_reject_as_bad(reader, "The Transfer-Encoding header is malformed.");
}

/* llhttp also accepts some other protocols that look like HTTP. */
static bool is_http(const mishap_http_reader *reader)
{
    static const char name[] = " HTTP/1.";
    const char *behind = reader->window + reader->start + reader->target.at + reader->target.length;
    return memcmp(behind, name, sizeof name - 1) == 0;
}

static int check_expect(mishap_http_reader *reader)
{
    static const mishap_text known = MISHAP_TEXT("100-continue");
    mishap_text expect = field_text(reader, MISHAP_HTTP_EXPECT);
    if (!expect.data || reader->parser.http_minor == 0)
        return 0;
    if (expect.length != known.length || strncasecmp(expect.data, known.data, known.length) != 0)
        return mishap_http_reject(
            reader, MISHAP_CODE_EXPECTATION_FAILED,
            "The Expect header is not supported; only 100-continue is supported.");
    reader->wants_continue = true;
    return 0;
}

/* llhttp counts the length down, so it is read before the body is. */
static int64_t announced(const llhttp_t *parser)
{
    if (parser->flags & F_CHUNKED)
        return MISHAP_HTTP_CHUNKED;
    if (!(parser->flags & F_CONTENT_LENGTH))
        return 0;
    return parser->content_length > INT64_MAX ? INT64_MAX : (int64_t)parser->content_length;
}

int mishap_http_head_on_end(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    reader->head_done = true;
    parser->upgrade = 0; /* the server speaks no other protocol, so an upgrade is ignored */
    if (parser->http_major != 1)
        return mishap_http_reject(reader, MISHAP_CODE_HTTP_VERSION_NOT_SUPPORTED,
                                  "The HTTP version is not supported; use HTTP/1.1.");
    if (!is_http(reader))
        return mishap_http_reject_as_bad(reader, "The request line is malformed.");
    if (check_host(reader) || check_coding(reader) || check_expect(reader))
        return -1;
    reader->announced = announced(parser);
    if (!reader->announced)
        reader->wants_continue = false; /* there is no body to wait for */
    /* The head is processed before the body is read. From here on, only the bytes beside the pieces
     * of a body count against its limit. */
    return reader->announced ? HPE_PAUSED : 0;
}

/* -- the parsed head --------------------------------------------------------------------------- */

static mishap_http_method method_of(const llhttp_t *parser)
{
    switch (parser->method) {
    case HTTP_GET:
        return MISHAP_HTTP_GET;
    case HTTP_POST:
        return MISHAP_HTTP_POST;
    case HTTP_PUT:
        return MISHAP_HTTP_PUT;
    case HTTP_PATCH:
        return MISHAP_HTTP_PATCH;
    case HTTP_DELETE:
        return MISHAP_HTTP_DELETE;
    case HTTP_HEAD:
        return MISHAP_HTTP_HEAD;
    case HTTP_OPTIONS:
        return MISHAP_HTTP_OPTIONS;
    default:
        return MISHAP_HTTP_OTHER;
    }
}

void mishap_http_head_fill_in(const mishap_http_reader *reader, mishap_http_request *request)
{
    request->method = method_of(&reader->parser);
    request->target = (mishap_text){ reader->window + reader->start + reader->target.at,
                                     reader->target.length };
    request->query = (mishap_text){ NULL, 0 };
    /* by default nginx forwards requests as HTTP/1.0 and adds no field */
    request->forwarded = reader->forwarded || reader->parser.http_minor == 0;
    memset(request->fields, 0, sizeof request->fields);
    for (uint32_t left = reader->known; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctz(left);
        request->fields[i] = field_text(reader, i);
    }
}

/* RFC 9112, 3.2.2: a target may be an absolute URI; only what follows the authority counts. */
static mishap_text without_authority(mishap_text target)
{
    static const char *const schemes[] = { "http://", "https://" };
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(schemes[i]);
        if (target.length <= length || strncasecmp(target.data, schemes[i], length) != 0)
            continue;
        size_t end = length;
        while (end < target.length && target.data[end] != '/' && target.data[end] != '?')
            end++;
        mishap_text rest = { target.data + end, target.length - end };
        if (end == length || !is_authority((mishap_text){ target.data + length, end - length }))
            break; /* no host: not an absolute URI */
        return rest.length ? rest : (mishap_text)MISHAP_TEXT("/");
    }
    return target;
}

const char *mishap_http_head_split_target(mishap_http_request *request)
{
    mishap_text rest = request->target;
    for (size_t i = 0; i < rest.length; i++)
        if (rest.data[i] <= ' ' || rest.data[i] > '~' || rest.data[i] == '#')
            return "The request URL contains a character that must be percent-encoded.";
    if (rest.length && rest.data[0] != '/')
        rest = without_authority(rest);
    bool all = rest.length == 1 && rest.data[0] == '*' && request->method == MISHAP_HTTP_OPTIONS;
    bool whole = rest.data != request->target.data; /* then the path may be empty */
    if (!rest.length || (rest.data[0] != '/' && !(whole && rest.data[0] == '?') && !all))
        return "The path of the request must begin with a slash.";
    const char *mark = memchr(rest.data, '?', rest.length);
    request->path = rest;
    if (mark) {
        request->path.length = (size_t)(mark - rest.data);
        request->query = (mishap_text){ mark + 1, rest.length - request->path.length - 1 };
    }
    if (!request->path.length)
        request->path = (mishap_text)MISHAP_TEXT("/");
    return NULL;
}
