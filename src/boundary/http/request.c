/* Bytes into requests: llhttp for the grammar, and the checks that it leaves to us. */
#include "boundary/http/request.h"

enum { MOST_FIELDS = 100 };

/* -- flaws ------------------------------------------------------------------------------------- */

static int refuse(mishap_http_reader *reader, const mishap_code *code, const char *problem)
{
    if (!reader->flaw) {
        reader->flaw = code;
        reader->problem = problem;
    }
    return -1;
}

static int refuse_as_bad(mishap_http_reader *reader, const char *problem)
{
    return refuse(reader, MISHAP_CODE_BAD_REQUEST, problem);
}

static int refuse_head(mishap_http_reader *reader)
{
    return refuse(reader, MISHAP_CODE_REQUEST_HEADER_FIELDS_TOO_LARGE,
                  "The header fields are too large.");
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Letters up to where llhttp gave up: a method that it does not know. What follows may not have
 * come yet, and must not matter. */
static bool looks_like_method(const char *data, const char *end)
{
    const char *at = data;
    while (at <= end && (is_letter(*at) || *at == '-' || *at == '_' || *at == ' '))
        at++;
    return at > end && *data != ' ';
}

static void refuse_grammar(mishap_http_reader *reader, llhttp_errno_t error)
{
    const char *data = reader->window + reader->start;
    size_t length = reader->window_length - reader->start;
    while (length && (*data == '\r' || *data == '\n'))
        data++, length--;
    bool ours = reader->parser.http_major == 1 && reader->parser.http_minor <= 1;
    if ((error == HPE_INVALID_VERSION && !ours) || error == HPE_PAUSED_H2_UPGRADE) {
        refuse(reader, MISHAP_CODE_HTTP_VERSION_NOT_SUPPORTED, "Only HTTP/1.1 is spoken here.");
    } else if (error == HPE_INVALID_METHOD &&
               looks_like_method(data, llhttp_get_error_pos(&reader->parser))) {
        refuse(reader, MISHAP_CODE_NOT_IMPLEMENTED, "The method of the request is not known here.");
    } else if (!reader->head_done && length && data[0] == 0x16) {
        refuse_as_bad(reader, "This is TLS, and plain HTTP is spoken here.");
    } else {
        /* llhttp's reasons are constant phrases. */
        refuse_as_bad(reader, llhttp_get_error_reason(&reader->parser));
    }
}

mishap *mishap_http_reader_flaw(const mishap_http_reader *reader)
{
    size_t length = strlen(reader->problem);
    if (length && reader->problem[length - 1] == '.')
        return mishap_raise_at(reader->flaw, MISHAP_HERE, "%s", reader->problem);
    return mishap_raise_at(reader->flaw, MISHAP_HERE, "The request is not sound: %s.",
                           reader->problem);
}

/* -- the fields that are read ------------------------------------------------------------------ */

static const struct {
    mishap_text name;
    bool repeats; /* it may stand there more than once; then the first counts */
} known_fields[MISHAP_HTTP_FIELDS] = {
    [MISHAP_HTTP_HOST] = { MISHAP_TEXT("host"), false },
    [MISHAP_HTTP_ACCEPT] = { MISHAP_TEXT("accept"), true },
    [MISHAP_HTTP_CONTENT_TYPE] = { MISHAP_TEXT("content-type"), false },
    [MISHAP_HTTP_AUTHORIZATION] = { MISHAP_TEXT("authorization"), false },
    [MISHAP_HTTP_API_KEY] = { MISHAP_TEXT("x-api-key"), false },
    [MISHAP_HTTP_ORIGIN] = { MISHAP_TEXT("origin"), false },
    [MISHAP_HTTP_EXPECT] = { MISHAP_TEXT("expect"), false },
    [MISHAP_HTTP_REQUEST_METHOD] = { MISHAP_TEXT("access-control-request-method"), false },
    [MISHAP_HTTP_REQUEST_HEADERS] = { MISHAP_TEXT("access-control-request-headers"), true },
    [MISHAP_HTTP_USER_AGENT] = { MISHAP_TEXT("user-agent"), true },
    [MISHAP_HTTP_TRANSFER_ENCODING] = { MISHAP_TEXT("transfer-encoding"), false },
    [MISHAP_HTTP_MCP_SESSION] = { MISHAP_TEXT("mcp-session-id"), false },
    [MISHAP_HTTP_MCP_VERSION] = { MISHAP_TEXT("mcp-protocol-version"), false },
    [MISHAP_HTTP_MCP_METHOD] = { MISHAP_TEXT("mcp-method"), false },
    [MISHAP_HTTP_MCP_NAME] = { MISHAP_TEXT("mcp-name"), false },
    [MISHAP_HTTP_LAST_EVENT] = { MISHAP_TEXT("last-event-id"), false },
};

/* The known field of this name, or MISHAP_HTTP_FIELDS. Length and first letter rule out nearly all.
 */
static mishap_http_field find_field(const char *name, size_t length)
{
    mishap_http_field i = 0;
    for (; i < MISHAP_HTTP_FIELDS; i++)
        if (known_fields[i].name.length == length && known_fields[i].name.data[0] == (*name | 32) &&
            strncasecmp(known_fields[i].name.data, name, length) == 0)
            break;
    return i;
}

/* -- what llhttp tells ------------------------------------------------------------------------- */

/* A piece of a span: the first, or one that goes on where the last ended. */
static void extend(const mishap_http_reader *reader, mishap_http_span *span, const char *at,
                   size_t length)
{
    if (!span->length)
        span->at = (uint32_t)(at - reader->window - (ptrdiff_t)reader->start);
    span->length += (uint32_t)length;
}

static size_t seen(const mishap_http_reader *reader, const char *end)
{
    return (size_t)(end - reader->window) - reader->start;
}

static int on_message_begin(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    reader->begun = true;
    return 0;
}

static int on_url(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    extend(reader, &reader->target, at, length);
    if (reader->target.length > reader->settings->target_limit)
        return refuse(reader, MISHAP_CODE_URI_TOO_LONG, "The address is too long.");
    return 0;
}

/* Trailers and chunk extensions are read past. */
static int pass(mishap_http_reader *reader, size_t length)
{
    reader->beside += length;
    return reader->beside > reader->settings->head_limit ? refuse_head(reader) : 0;
}

static int on_header_field(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    if (reader->head_done)
        return pass(reader, length);
    extend(reader, &reader->name, at, length);
    return seen(reader, at + length) > reader->settings->head_limit ? refuse_head(reader) : 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    if (reader->head_done)
        return pass(reader, length);
    extend(reader, &reader->value, at, length);
    return seen(reader, at + length) > reader->settings->head_limit ? refuse_head(reader) : 0;
}

static int on_header_value_complete(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    if (reader->head_done)
        return pass(reader, 4);
    const char *name = reader->window + reader->start + reader->name.at;
    mishap_http_field field = find_field(name, reader->name.length);
    if (++reader->field_count > MOST_FIELDS)
        return refuse(reader, MISHAP_CODE_REQUEST_HEADER_FIELDS_TOO_LARGE,
                      "There are too many header fields.");
    if (field != MISHAP_HTTP_FIELDS && !(reader->known >> field & 1)) {
        reader->known |= UINT32_C(1) << field;
        reader->fields[field] = reader->value;
    } else if (field != MISHAP_HTTP_FIELDS && !known_fields[field].repeats) {
        return refuse_as_bad(reader, "A header field that may stand once stands there twice.");
    }
    reader->name = reader->value = (mishap_http_span){ 0, 0 };
    return 0;
}

static mishap_text field_text(const mishap_http_reader *reader, mishap_http_field field)
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
    enum { NAME = 1, ADDRESS = 2 }; /* what a byte may be part of */
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

/* RFC 9112, 3.2: one Host, and nothing in it that is no host and port. */
static int check_host(mishap_http_reader *reader)
{
    mishap_text host = field_text(reader, MISHAP_HTTP_HOST);
    if (!host.data && reader->parser.http_minor != 0)
        return refuse_as_bad(reader, "The header field Host is missing.");
    return is_authority(host) ? 0 : refuse_as_bad(reader, "The header field Host is not sound.");
}

/* RFC 9112, 6.1: the one coding that is understood, said once. What llhttp makes of others is not
 * what other readers make of them. */
static int check_coding(mishap_http_reader *reader)
{
    mishap_text coding = field_text(reader, MISHAP_HTTP_TRANSFER_ENCODING);
    if (!coding.data)
        return 0;
    if (reader->parser.http_minor == 0)
        return refuse_as_bad(reader, "HTTP/1.0 knows no transfer coding.");
    if (!coding.length)
        return refuse_as_bad(reader, "The header field Transfer-Encoding is empty.");
    if (coding.length != 7 || strncasecmp(coding.data, "chunked", 7) != 0)
        return refuse(reader, MISHAP_CODE_NOT_IMPLEMENTED,
                      "Only the transfer coding chunked is understood.");
    return reader->parser.flags & F_CHUNKED
               ? 0
               : refuse_as_bad(reader, "The header field Transfer-Encoding is not sound.");
}

/* Some other protocols look alike, and llhttp lets them pass. */
static bool is_http(const mishap_http_reader *reader)
{
    static const char name[] = " HTTP/1.";
    const char *behind = reader->window + reader->start + reader->target.at + reader->target.length;
    return memcmp(behind, name, sizeof name - 1) == 0;
}

/* RFC 9112, 2.2: lines that are empty may stand before a request; a CR alone is no line. */
static bool begins_soundly(const mishap_http_reader *reader)
{
    const char *at = reader->window + reader->start;
    bool half = reader->half_line;
    for (; *at == '\r' || *at == '\n'; at++) {
        if (*at == '\r' && half)
            return false;
        half = *at == '\r';
    }
    return !half;
}

static int check_expect(mishap_http_reader *reader)
{
    static const mishap_text known = MISHAP_TEXT("100-continue");
    mishap_text expect = field_text(reader, MISHAP_HTTP_EXPECT);
    if (!expect.data || reader->parser.http_minor == 0)
        return 0;
    if (expect.length != known.length || strncasecmp(expect.data, known.data, known.length) != 0)
        return refuse(reader, MISHAP_CODE_EXPECTATION_FAILED,
                      "Only the expectation 100-continue can be met.");
    reader->wants_continue = true;
    return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    reader->head_done = true;
    parser->upgrade = 0; /* no other protocol is spoken here, so the request is taken as it is */
    if (parser->http_major != 1)
        return refuse(reader, MISHAP_CODE_HTTP_VERSION_NOT_SUPPORTED,
                      "Only HTTP/1.1 is spoken here.");
    if (!begins_soundly(reader) || !is_http(reader))
        return refuse_as_bad(reader, "The first line of the request is not sound.");
    if (check_host(reader) || check_coding(reader) || check_expect(reader))
        return -1;
    if (parser->flags & F_CONTENT_LENGTH && parser->content_length > reader->settings->body_limit)
        return refuse(reader, MISHAP_CODE_CONTENT_TOO_LARGE, "The content is too large.");
    if (!(parser->flags & F_CHUNKED) && !parser->content_length)
        reader->wants_continue = false; /* there is no body to wait for */
    return 0;
}

/* Pieces of a chunked body are moved together, over the sizes that stand between them. */
static int on_body(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    size_t offset = seen(reader, at);
    reader->wants_continue = false;
    if (!reader->body_length)
        reader->body_at = offset;
    if (length > reader->settings->body_limit - reader->body_length)
        return refuse(reader, MISHAP_CODE_CONTENT_TOO_LARGE, "The content is too large.");
    size_t end = reader->body_at + reader->body_length;
    if (end != offset)
        memmove(reader->window + reader->start + end, at, length);
    reader->body_length += length;
    return 0;
}

/* How long a piece will be is known before it comes. */
static int on_chunk_header(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    if (parser->content_length > reader->settings->body_limit - reader->body_length)
        return refuse(reader, MISHAP_CODE_CONTENT_TOO_LARGE, "The content is too large.");
    return 0;
}

static int on_chunk_extension(llhttp_t *parser, const char *at, size_t length)
{
    (void)at;
    return pass(parser->data, length + 1);
}

static int on_message_complete(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    reader->whole = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_message_begin = on_message_begin,
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_chunk_header = on_chunk_header,
    .on_chunk_extension_name = on_chunk_extension,
    .on_chunk_extension_value = on_chunk_extension,
    .on_message_complete = on_message_complete,
};

/* -- the request as a whole -------------------------------------------------------------------- */

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

/* RFC 9112, 3.2.2: a target may be a whole address; what counts is what follows the authority. */
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
            break; /* no host: not an address */
        return rest.length ? rest : (mishap_text)MISHAP_TEXT("/");
    }
    return target;
}

static bool read_target(mishap_http_reader *reader, mishap_http_request *request)
{
    mishap_text rest = request->target;
    for (size_t i = 0; i < rest.length; i++)
        if (rest.data[i] <= ' ' || rest.data[i] > '~' || rest.data[i] == '#')
            return refuse_as_bad(reader, "The address has a character that must be escaped.") == 0;
    if (rest.length && rest.data[0] != '/')
        rest = without_authority(rest);
    bool all = rest.length == 1 && rest.data[0] == '*' && request->method == MISHAP_HTTP_OPTIONS;
    if (reader->parser.method == HTTP_CONNECT)
        return refuse(reader, MISHAP_CODE_NOT_IMPLEMENTED, "This server is no proxy.") == 0;
    if (!rest.length || (rest.data[0] != '/' && rest.data[0] != '?' && !all))
        return refuse_as_bad(reader, "The address must begin with a slash.") == 0;
    const char *mark = memchr(rest.data, '?', rest.length);
    request->path = rest;
    request->query = (mishap_text){ NULL, 0 };
    if (mark) {
        request->path.length = (size_t)(mark - rest.data);
        request->query = (mishap_text){ mark + 1, rest.length - request->path.length - 1 };
    }
    return true;
}

/* The bytes before the request are done with; what belongs to one request is set back. */
static void begin_next(mishap_http_reader *reader)
{
    reader->start = reader->parsed;
    reader->target = reader->name = reader->value = (mishap_http_span){ 0, 0 };
    reader->known = reader->field_count = 0;
    reader->body_at = reader->body_length = reader->beside = 0;
    reader->begun = reader->head_done = reader->whole = reader->wants_continue = false;
    reader->half_line = false;
}

static mishap_http_progress hand_over(mishap_http_reader *reader, mishap_http_request *request)
{
    const char *first = reader->window + reader->start;
    request->method = method_of(&reader->parser);
    request->target = (mishap_text){ first + reader->target.at, reader->target.length };
    request->body = (mishap_text){ first + reader->body_at, reader->body_length };
    request->has_body = reader->body_length > 0;
    request->persists_by_default = reader->parser.http_minor >= 1;
    request->keep_alive = llhttp_should_keep_alive(&reader->parser);
    for (mishap_http_field i = 0; i < MISHAP_HTTP_FIELDS; i++)
        request->fields[i] = field_text(reader, i);
    return read_target(reader, request) ? MISHAP_HTTP_WHOLE : MISHAP_HTTP_FLAW;
}

mishap_http_progress mishap_http_reader_next(mishap_http_reader *reader,
                                             mishap_http_request *request)
{
    if (reader->flaw)
        return MISHAP_HTTP_FLAW;
    if (reader->whole) {
        begin_next(reader);
        llhttp_resume(&reader->parser);
    }
    if (reader->parsed == reader->window_length)
        return MISHAP_HTTP_MORE;
    const char *from = reader->window + reader->parsed;
    llhttp_errno_t error = llhttp_execute(&reader->parser, from,
                                          reader->window_length - reader->parsed);
    if (error == HPE_OK) {
        reader->parsed = reader->window_length;
        return MISHAP_HTTP_MORE;
    }
    if (error != HPE_PAUSED || !reader->whole) {
        if (!reader->flaw)
            refuse_grammar(reader, error);
        return MISHAP_HTTP_FLAW;
    }
    reader->parsed = (size_t)(llhttp_get_error_pos(&reader->parser) - reader->window);
    return hand_over(reader, request);
}

/* -- bytes ------------------------------------------------------------------------------------- */

void mishap_http_reader_init(mishap_http_reader *reader, const mishap_http_settings *settings)
{
    *reader = (mishap_http_reader){ .settings = settings };
    llhttp_init(&reader->parser, HTTP_REQUEST, &callbacks);
    reader->parser.data = reader;
}

void mishap_http_reader_release(mishap_http_reader *reader)
{
    mishap_buffer_release(&reader->kept);
}

bool mishap_http_reader_take(mishap_http_reader *reader, char *data, size_t length)
{
    if (!reader->kept.length) {
        reader->window = data;
        reader->window_length = length;
        reader->parsed = reader->start = 0;
        return true;
    }
    mishap_buffer_put(&reader->kept, data, length);
    if (reader->kept.failed)
        return false;
    reader->window = reader->kept.data;
    reader->window_length = reader->kept.length;
    return true;
}

bool mishap_http_reader_has_more(const mishap_http_reader *reader)
{
    return reader->parsed < reader->window_length;
}

/* A request that is whole is answered already, or copied by whoever answers it later. Of a chunked
 * body, what stands between the pieces is dropped. */
bool mishap_http_reader_keep(mishap_http_reader *reader)
{
    size_t from = reader->whole ? reader->parsed : reader->start, to = reader->parsed;
    bool chunked = reader->head_done && !reader->whole && reader->parser.flags & F_CHUNKED;
    if (chunked && reader->body_length)
        to = reader->start + reader->body_at + reader->body_length;
    size_t first = to - from, rest = reader->window_length - reader->parsed;
    if (!reader->begun && !reader->whole) { /* line ends before a request */
        if (to > from)
            reader->half_line = reader->window[to - 1] == '\r';
        from = to, first = 0;
    }
    if (first + rest == 0) {
        mishap_buffer_release(&reader->kept);
    } else if (reader->window != reader->kept.data) {
        mishap_buffer_put(&reader->kept, reader->window + from, first);
        mishap_buffer_put(&reader->kept, reader->window + reader->parsed, rest);
    } else {
        memmove(reader->window, reader->window + from, first);
        memmove(reader->window + first, reader->window + reader->parsed, rest);
        reader->kept.length = first + rest;
    }
    reader->window = reader->kept.data;
    reader->window_length = first + rest;
    reader->parsed = first;
    reader->start = 0;
    return !reader->kept.failed;
}
