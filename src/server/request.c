/* Parses bytes into requests: llhttp for the grammar, and the limits that llhttp does not check. */
#include "server/request.h"

#include "server/head.h"

/* Bytes beside each piece of a chunked body: two line ends, and its size. */
enum { ORDINARY = 20 };

/* -- flaws ------------------------------------------------------------------------------------- */

static int refuse_head(mishap_http_reader *reader)
{
    return mishap_http_reject(reader, MISHAP_CODE_REQUEST_HEADER_FIELDS_TOO_LARGE,
                              "The request headers are too large.");
}

static int refuse_body(mishap_http_reader *reader)
{
    return mishap_http_reject(reader, MISHAP_CODE_CONTENT_TOO_LARGE,
                              "The request body is too large.");
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Only letters before the error position: a method that llhttp does not know. What follows may not
 * have arrived yet, and must not matter. */
static bool looks_like_method(const char *data, const char *end)
{
    const char *at = data;
    while (at <= end && (is_letter(*at) || *at == '-' || *at == '_' || *at == ' '))
        at++;
    return at > end && *data != ' ';
}

/* A target with an invalid character that was too long before that character. llhttp reports no
 * part of it if it came in one piece. */
static bool is_too_long_before(const mishap_http_reader *reader, const char *end)
{
    const char *data = reader->window + reader->start;
    const char *space = memchr(data, ' ', (size_t)(end - data));
    return space && (size_t)(end - space) - 1 > reader->settings->target_limit;
}

/* llhttp or one of its callbacks has found a flaw. */
static mishap_http_progress refuse_grammar(mishap_http_reader *reader, llhttp_errno_t error)
{
    const char *data = reader->window + reader->start;
    bool ours = reader->parser.http_major == 1 && reader->parser.http_minor <= 1;
    if ((error == HPE_INVALID_VERSION && !ours) || error == HPE_PAUSED_H2_UPGRADE) {
        mishap_http_reject(reader, MISHAP_CODE_HTTP_VERSION_NOT_SUPPORTED,
                           "The HTTP version is not supported; use HTTP/1.1.");
    } else if (error == HPE_INVALID_METHOD &&
               looks_like_method(data, llhttp_get_error_pos(&reader->parser))) {
        mishap_http_reject(reader, MISHAP_CODE_NOT_IMPLEMENTED,
                           "The request method is not supported.");
    } else if (error == HPE_INVALID_URL &&
               is_too_long_before(reader, llhttp_get_error_pos(&reader->parser))) {
        mishap_http_reject(reader, MISHAP_CODE_URI_TOO_LONG, "The request URL is too long.");
    } else if (!reader->head_done && data[0] == 0x16) {
        mishap_http_reject_as_bad(
            reader, "The client sent a TLS handshake, but this port expects plain HTTP.");
    } else {
        /* The reasons of llhttp are constant phrases. */
        mishap_http_reject_as_bad(reader, llhttp_get_error_reason(&reader->parser));
    }
    return MISHAP_HTTP_FLAW;
}

mishap *mishap_http_reader_flaw(const mishap_http_reader *reader)
{
    size_t length = strlen(reader->problem);
    if (reader->flaw == MISHAP_CODE_CONTENT_TOO_LARGE)
        return mishap_http_too_large(reader->body_limit);
    if (length && reader->problem[length - 1] == '.')
        return mishap_raise_at(reader->flaw, MISHAP_HERE, "%s", reader->problem);
    return mishap_raise_at(reader->flaw, MISHAP_HERE, "The request is malformed: %s.",
                           reader->problem);
}

/* -- callbacks of llhttp ----------------------------------------------------------------------- */

static int on_message_begin(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    reader->begun = true;
    return 0;
}

/* Bytes of the body so far. */
static size_t received(const mishap_http_reader *reader)
{
    return reader->passed + reader->body_length;
}

/* Move the pieces of a chunked body together, over the chunk sizes between them. */
static int on_body(llhttp_t *parser, const char *at, size_t length)
{
    mishap_http_reader *reader = parser->data;
    size_t offset = (size_t)(at - reader->window) - reader->start;
    reader->wants_continue = false;
    if (reader->dropping)
        return 0;
    if (!reader->body_length)
        reader->body_at = offset;
    if (length > reader->body_limit - received(reader))
        return refuse_body(reader);
    size_t end = reader->body_at + reader->body_length;
    if (end != offset)
        memmove(reader->window + reader->start + end, at, length);
    reader->body_length += length;
    return 0;
}

/* The length of a piece is known before the piece arrives. */
static int on_chunk_header(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    if (parser->content_length > reader->body_limit - received(reader))
        return refuse_body(reader);
    reader->chunk_begun = true;
    return HPE_PAUSED;
}

static int on_message_complete(llhttp_t *parser)
{
    mishap_http_reader *reader = parser->data;
    reader->whole = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_message_begin = on_message_begin,
    .on_url = mishap_http_head_on_url,
    .on_header_field = mishap_http_head_on_name,
    .on_header_value = mishap_http_head_on_value,
    .on_header_value_complete = mishap_http_head_on_field,
    .on_headers_complete = mishap_http_head_on_end,
    .on_body = on_body,
    .on_chunk_header = on_chunk_header,
    .on_message_complete = on_message_complete,
};

/* -- the request as a whole -------------------------------------------------------------------- */

static bool read_target(mishap_http_reader *reader, mishap_http_request *request)
{
    const char *problem = mishap_http_head_split_target(request);
    if (reader->parser.method == HTTP_CONNECT)
        return mishap_http_reject(reader, MISHAP_CODE_NOT_IMPLEMENTED,
                                  "This server is not a proxy.") == 0;
    return !problem || mishap_http_reject_as_bad(reader, problem) == 0;
}

/* Forget the bytes before the next request, and reset what belongs to one request. */
static void begin_next(mishap_http_reader *reader)
{
    reader->start = reader->parsed;
    reader->target = reader->name = reader->value = (mishap_http_span){ 0, 0 };
    reader->known = reader->field_count = 0;
    reader->body_at = reader->body_length = 0;
    reader->behind = reader->counted = reader->beside = 0;
    reader->begun = reader->head_done = reader->whole = reader->wants_continue = false;
    reader->forwarded = false;
    reader->half_line = reader->told = reader->dropping = reader->passing = false;
    reader->passed = 0;
    reader->body_limit = reader->settings->body_limit;
}

/* Fill in everything but the body. */
static bool hand_over_head(mishap_http_reader *reader, mishap_http_request *request)
{
    const llhttp_t *parser = &reader->parser;
    mishap_http_head_fill_in(reader, request);
    request->body = (mishap_text){ NULL, 0 };
    request->announced = reader->announced;
    request->persists_by_default = parser->http_minor >= 1;
    /* In HTTP/1.0 llhttp does not notice `close` beside `keep-alive`. */
    request->keep_alive = llhttp_should_keep_alive(parser) && !(parser->flags & F_CONNECTION_CLOSE);
    reader->told = read_target(reader, request);
    return reader->told;
}

static mishap_http_progress hand_over(mishap_http_reader *reader, mishap_http_request *request)
{
    if (reader->dropping || reader->passing)
        return MISHAP_HTTP_WHOLE;
    if (!reader->told && !hand_over_head(reader, request))
        return MISHAP_HTTP_FLAW;
    request->body = (mishap_text){ reader->window + reader->start + reader->body_at,
                                   reader->body_length };
    return MISHAP_HTTP_WHOLE;
}

void mishap_http_reader_drop(mishap_http_reader *reader)
{
    reader->dropping = true;
}

void mishap_http_reader_pass(mishap_http_reader *reader, bool pass)
{
    reader->passing = pass;
}

/* The bytes of the body that were parsed last. The end of the body may be known already: then WHOLE
 * comes next. */
static mishap_http_progress hand_over_piece(mishap_http_reader *reader,
                                            mishap_http_request *request)
{
    request->body = (mishap_text){ reader->window + reader->start + reader->body_at,
                                   reader->body_length };
    reader->passed += reader->body_length;
    reader->body_length = 0;
    return MISHAP_HTTP_PIECE;
}

/* True for HEAD: its reply must not have a body, even if the request has a flaw. */
static bool begins_with_head(const mishap_http_reader *reader)
{
    static const char head[] = "HEAD ";
    return reader->window_length - reader->start >= sizeof head - 1 &&
           memcmp(reader->window + reader->start, head, sizeof head - 1) == 0;
}

void mishap_http_reader_know(const mishap_http_reader *reader, mishap_http_request *request)
{
    if (reader->whole && !reader->flaw)
        return; /* the request was answered */
    if (!reader->begun || reader->dropping || reader->kept.failed)
        return;
    if (!reader->target.length) { /* llhttp reports only a target that is valid */
        if (begins_with_head(reader))
            request->method = MISHAP_HTTP_HEAD;
        return;
    }
    mishap_http_head_fill_in(reader, request);
    if (mishap_http_head_split_target(request))
        request->path = request->query = (mishap_text){ NULL, 0 };
}

/* RFC 9112, 2.2: empty lines may precede a request; a CR alone is no line. */
static bool skip_lines(mishap_http_reader *reader)
{
    for (; reader->parsed < reader->window_length; reader->parsed++) {
        char byte = reader->window[reader->parsed];
        if (reader->half_line && byte != '\n')
            return mishap_http_reject_as_bad(reader, "The request line is malformed.") == 0;
        if (byte != '\r' && byte != '\n')
            break;
        reader->half_line = byte == '\r';
    }
    reader->start = reader->parsed;
    return true;
}

/* -- limits ------------------------------------------------------------------------------------ */

/* How many of the bytes may be parsed now: a head that is not complete within its limit is too
 * long, no matter which fields it has. */
static size_t next_length(const mishap_http_reader *reader)
{
    size_t length = reader->window_length - reader->parsed;
    size_t left = reader->settings->head_limit - (reader->parsed - reader->start);
    return reader->head_done || length < left ? length : left;
}

/* Count sizes, extensions and trailers of a chunked body, as far as they exceed what a chunk needs,
 * each from the end of the data before it. False: there are too many such bytes. */
static bool count_beside(mishap_http_reader *reader, size_t length)
{
    reader->behind += length;
    size_t line = reader->behind - received(reader) - reader->counted;
    size_t more = line > ORDINARY ? line - ORDINARY : 0;
    if (reader->beside + more > reader->settings->head_limit)
        return false;
    if (reader->chunk_begun) {
        reader->beside += more;
        reader->counted += line;
    }
    return true;
}

/* Check the limits after some bytes were parsed without a flaw. */
static bool is_too_long(mishap_http_reader *reader, size_t length, bool was_head)
{
    bool chunked = reader->parser.flags & F_CHUNKED;
    if (!reader->head_done)
        return reader->parsed - reader->start >= reader->settings->head_limit;
    if (was_head && chunked)
        reader->body_at = reader->parsed - reader->start; /* until its first piece arrives */
    else if (chunked)
        return !count_beside(reader, length);
    return false;
}

/* -- one request after the other --------------------------------------------------------------- */

/* Parse as much as may be parsed at once. */
static mishap_http_progress parse(mishap_http_reader *reader)
{
    const char *from = reader->window + reader->parsed;
    size_t length = next_length(reader);
    bool was_head = !reader->head_done;
    reader->chunk_begun = false;
    llhttp_resume(&reader->parser);
    llhttp_errno_t error = llhttp_execute(&reader->parser, from, length);
    if (error == HPE_PAUSED)
        length = (size_t)(llhttp_get_error_pos(&reader->parser) - from);
    else if (error != HPE_OK)
        return refuse_grammar(reader, error);
    reader->parsed += length;
    if (is_too_long(reader, length, was_head)) {
        refuse_head(reader);
        return MISHAP_HTTP_FLAW;
    }
    return reader->whole                   ? MISHAP_HTTP_WHOLE
           : was_head && reader->head_done ? MISHAP_HTTP_HEADED
                                           : MISHAP_HTTP_MORE;
}

mishap_http_progress mishap_http_reader_next(mishap_http_reader *reader,
                                             mishap_http_request *request)
{
    mishap_http_progress progress = MISHAP_HTTP_MORE;
    if (reader->flaw)
        return MISHAP_HTTP_FLAW;
    if (reader->whole && reader->ends_later) {
        reader->ends_later = false;
        return MISHAP_HTTP_WHOLE;
    }
    if (reader->whole)
        begin_next(reader);
    if (!reader->begun && !skip_lines(reader))
        return MISHAP_HTTP_FLAW;
    while (reader->parsed < reader->window_length && progress == MISHAP_HTTP_MORE &&
           !(reader->passing && reader->body_length))
        progress = parse(reader);
    if (reader->passing && reader->body_length && progress != MISHAP_HTTP_FLAW) {
        reader->ends_later = progress == MISHAP_HTTP_WHOLE;
        return hand_over_piece(reader, request);
    }
    if (progress == MISHAP_HTTP_HEADED)
        return hand_over_head(reader, request) ? MISHAP_HTTP_HEADED : MISHAP_HTTP_FLAW;
    return progress == MISHAP_HTTP_WHOLE ? hand_over(reader, request) : progress;
}

/* -- bytes ------------------------------------------------------------------------------------- */

void mishap_http_reader_init(mishap_http_reader *reader, const mishap_http_settings *settings)
{
    *reader = (mishap_http_reader){ .settings = settings, .body_limit = settings->body_limit };
    llhttp_init(&reader->parser, HTTP_REQUEST, &callbacks);
    reader->parser.data = reader;
}

void mishap_http_reader_release(mishap_http_reader *reader)
{
    mishap_buffer_release(&reader->kept);
    reader->window = NULL;
    reader->window_length = reader->parsed = reader->start = 0;
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

uint64_t mishap_http_reader_left(const mishap_http_reader *reader)
{
    bool known = reader->head_done && !reader->whole && !(reader->parser.flags & F_CHUNKED) &&
                 !mishap_http_reader_has_more(reader);
    return known ? reader->parser.content_length : 0;
}

bool mishap_http_reader_has_more(const mishap_http_reader *reader)
{
    return reader->parsed < reader->window_length;
}

/* A complete request was answered already, or its endpoint has a copy. What stands between the
 * pieces of a chunked body is dropped. */
bool mishap_http_reader_keep(mishap_http_reader *reader)
{
    bool done = reader->whole || reader->dropping || reader->passing;
    size_t from = done ? reader->parsed : reader->start, to = reader->parsed;
    bool chunked = reader->head_done && !reader->whole && reader->parser.flags & F_CHUNKED;
    if (chunked && !done)
        to = reader->start + reader->body_at + reader->body_length;
    size_t first = to - from, rest = reader->window_length - reader->parsed;
    reader->told = false;
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
