/* Writing and reading the frames between a loop and a worker: see frame.h. */
#include "worker/wire/frame.h"

#include "base/traceparent.h"
#include "mishap/carry.h"
#include "operation/asking.h"
#include "operation/fields.h"

enum {
    VERBOSE = 1, /* flags of a call */
    WANTS_PROGRESS = 2,
    WANTS_LOG = 4,
    HAS_CALLER = 8,
    HAS_BODY = 16,
    HAS_CURSOR = 32,
    WANTS_PIECES = 64,
    HAS_ID = 128,

    REPEATED = 1, /* more flags of a call */
    FREE_CALLER = 2,
    HAS_TRACE = 4,
    HAS_CONDITIONS = 8,
    HAS_UPLOAD = 16,
    HAS_REPLIES = 32,
    HAS_LOG_AFTER = 64,
    WANTS_MARKS = 128,

    CONTENT = 1, /* flags of an outcome */
    HAS_LOCATION = 2,
    HAS_TYPE = 4,
    HAS_CHANGES = 8,
    HAS_TEXT = 16,
    HAS_FIELDS = 32,
    HAS_VERSION = 64,
    ALL_OF_OUTCOME = 127,

    WORKED = 0, /* how a call came out */
    FAILED = 1,
    ENDED = 2, /* it failed: its handler was ended before it returned */
    LOST = 3,  /* it failed: what its service has opened is of no more use */
    ASKS = 4,  /* it failed: its handler has questions, which come before the failure */
    HAS_LOG_POSITION = 128, /* … and the position in the log of its store comes first */

    MOST_PARSED = 64 * 1024, /* bytes: the loop parses a longer answer no second time */
};

/* -- frames ------------------------------------------------------------------------------------ */

static uint32_t read_u32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void write_u32(char *at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(number >> (8 * i) & 0xFF);
}

mishap_frame_state mishap_frame_read(mishap_text bytes, mishap_framed *frame, size_t *size)
{
    *size = 0;
    if (bytes.length < MISHAP_FRAME_HEAD)
        return MISHAP_FRAME_MORE;
    uint32_t length = read_u32(bytes.data), kind = read_u32(bytes.data + 4);
    frame->type = (mishap_frame_type)(kind & 0xFF);
    frame->slot = kind >> 16;
    if (length > MISHAP_FRAME_LIMIT || (kind >> 8 & 0xFF) != 0 || frame->type < MISHAP_FRAME_CALL ||
        frame->type > MISHAP_FRAME_MARK)
        return MISHAP_FRAME_BAD;
    *size = MISHAP_FRAME_HEAD + (size_t)length;
    frame->payload = (mishap_text){ bytes.data + MISHAP_FRAME_HEAD, length };
    return bytes.length < *size ? MISHAP_FRAME_MORE : MISHAP_FRAME_WHOLE;
}

size_t mishap_frame_begin(mishap_buffer *out, mishap_frame_type type, unsigned slot)
{
    size_t begun = out->length;
    mishap_pack_u32(out, 0);
    mishap_pack_u32(out, (uint32_t)type | (uint32_t)slot << 16);
    return begun;
}

/* A frame for which there is no memory, or that is too long, is removed from the buffer. */
void mishap_frame_end(mishap_buffer *out, size_t begun)
{
    size_t length = out->length - begun;
    if (out->failed || length > MISHAP_FRAME_LIMIT + (size_t)MISHAP_FRAME_HEAD) {
        out->failed = true;
        out->length = begun;
        return;
    }
    write_u32(out->data + begun, (uint32_t)(length - MISHAP_FRAME_HEAD));
}

/* Text that becomes a C string must not contain NUL, which would cut it. */
static bool is_string(mishap_text text)
{
    return !text.data || !memchr(text.data, '\0', text.length);
}

/* -- calls ------------------------------------------------------------------------------------- */

static uint32_t number_of(const mishap_call *call)
{
    const mishap_service *service = call->operation->service;
    return service && service->trial && service->trial->operation == call->operation
               ? MISHAP_FRAME_TRIAL
               : (uint32_t)(call->operation - call->app->operations);
}

/* What is malformed is ignored: it must not make a malformed frame. A version after 00 may have
 * more behind what we read. */
static mishap_text usable_trace(const mishap_call *call)
{
    mishap_traceparent given;
    if (!mishap_traceparent_read(call->traceparent, &given))
        return (mishap_text){ NULL, 0 };
    return (mishap_text){ call->traceparent.data, MISHAP_TRACEPARENT_LENGTH };
}

/* With the NUL behind it, so that a worker needs no copy: a run without the mark would do again
 * what was done. */
static void put_mark(mishap_buffer *out, mishap_text mark)
{
    if (mark.length)
        mark.length++;
    mishap_pack_text(out, mark);
}

/* One that is not sound makes the frame fail. */
static mishap_text take_mark(mishap_unpack *in)
{
    mishap_text mark = mishap_unpack_text(in);
    if (!mark.length)
        return (mishap_text){ NULL, 0 };
    mark.length--;
    in->failed = in->failed || mark.data[mark.length] || !mishap_mark_is_sound(mark);
    return mark;
}

void mishap_frame_put_call(mishap_buffer *out, unsigned slot, uint32_t number,
                           const mishap_call *call, uint32_t limit_ms)
{
    size_t begun = mishap_frame_begin(out, MISHAP_FRAME_CALL, slot);
    bool body = call->body.data != NULL;
    bool conditions = call->if_match.data || call->if_none_match.data;
    bool marks = call->watcher && call->watcher->mark;
    mishap_text trace = usable_trace(call);
    mishap_pack_u32(out, number);
    mishap_pack_u32(out, number_of(call));
    mishap_pack_u32(out, limit_ms);
    mishap_pack_u8(out, (uint8_t)((call->verbose ? VERBOSE : 0) |
                                  (call->watcher && call->watcher->progress && !call->repeated
                                       ? WANTS_PROGRESS
                                       : 0) | /* after a repeat, progress would begin anew, and
                                                 clients expect it to grow */
                                  (call->watcher && call->watcher->log ? WANTS_LOG : 0) |
                                  (call->watcher && call->watcher->piece ? WANTS_PIECES : 0) |
                                  (call->caller ? HAS_CALLER : 0) | (body ? HAS_BODY : 0) |
                                  (call->cursor ? HAS_CURSOR : 0) | (call->id.data ? HAS_ID : 0)));
    mishap_pack_u8(
        out, (uint8_t)((call->repeated ? REPEATED : 0) | (call->caller_is_free ? FREE_CALLER : 0) |
                       (trace.length ? HAS_TRACE : 0) | (conditions ? HAS_CONDITIONS : 0) |
                       (call->upload ? HAS_UPLOAD : 0) | (call->replies.length ? HAS_REPLIES : 0) |
                       (call->log_after ? HAS_LOG_AFTER : 0) | (marks ? WANTS_MARKS : 0)));
    mishap_pack_u8(out, (uint8_t)call->boundary);
    mishap_pack_u32(out, call->scopes);
    mishap_pack_text(out, call->request_id);
    mishap_pack_text(out, call->remote);
    mishap_pack_text(out, call->headers);
    if (call->caller)
        mishap_pack_text(out, mishap_text_of(call->caller));
    if (body) {
        mishap_pack_text(out, mishap_text_of(call->body_type));
        mishap_pack_text(out, call->body);
    }
    if (call->cursor)
        mishap_pack_text(out, mishap_text_of(call->cursor));
    if (call->id.data)
        mishap_pack_text(out, call->id);
    if (trace.length)
        mishap_pack_text(out, trace);
    if (conditions) {
        mishap_pack_text(out, call->if_match);
        mishap_pack_text(out, call->if_none_match);
    }
    if (call->replies.length) {
        mishap_pack_u8(out, (uint8_t)call->rounds);
        mishap_pack_text(out, call->replies);
    }
    if (call->log_after)
        mishap_pack_u64(out, call->log_after);
    if (marks)
        put_mark(out, call->mark);
    /* The arguments follow to the end. The JSON writer puts no comma after the colon. */
    mishap_pack_u8(out, ':');
    mishap_json_copy(out, call->reader.root);
    mishap_frame_end(out, begun);
}

bool mishap_frame_take_call(mishap_text payload, mishap_frame_call *call)
{
    mishap_unpack in = mishap_unpack_of(payload);
    *call = (mishap_frame_call){ 0 };
    call->number = mishap_unpack_u32(&in);
    call->operation = mishap_unpack_u32(&in);
    call->limit_ms = mishap_unpack_u32(&in);
    uint8_t flags = mishap_unpack_u8(&in);
    uint8_t more = mishap_unpack_u8(&in);
    call->verbose = flags & VERBOSE;
    call->wants_progress = flags & WANTS_PROGRESS;
    call->wants_log = flags & WANTS_LOG;
    call->wants_pieces = flags & WANTS_PIECES;
    call->repeated = more & REPEATED;
    call->caller_is_free = more & FREE_CALLER;
    call->has_upload = more & HAS_UPLOAD;
    call->boundary = (mishap_boundary_kind)mishap_unpack_u8(&in);
    call->scopes = mishap_unpack_u32(&in);
    call->request_id = mishap_unpack_text(&in);
    call->remote = mishap_unpack_text(&in);
    call->headers = mishap_unpack_text(&in);
    if (flags & HAS_CALLER)
        call->caller = mishap_unpack_text(&in);
    if (flags & HAS_BODY) {
        call->body_type = mishap_unpack_text(&in);
        call->body = mishap_unpack_text(&in);
    }
    if (flags & HAS_CURSOR)
        call->cursor = mishap_unpack_text(&in);
    if (flags & HAS_ID)
        call->id = mishap_unpack_text(&in);
    if (more & HAS_TRACE)
        call->traceparent = mishap_unpack_text(&in);
    if (more & HAS_CONDITIONS) {
        call->if_match = mishap_unpack_text(&in);
        call->if_none_match = mishap_unpack_text(&in);
    }
    if (more & HAS_REPLIES) {
        call->rounds = mishap_unpack_u8(&in);
        call->replies = mishap_unpack_text(&in);
    }
    if (more & HAS_LOG_AFTER)
        call->log_after = mishap_unpack_u64(&in);
    call->wants_marks = more & WANTS_MARKS;
    if (call->wants_marks)
        call->mark = take_mark(&in);
    bool colon = mishap_unpack_u8(&in) == ':';
    call->arguments = (mishap_text){ in.data, in.left };
    return colon && !in.failed && call->boundary <= MISHAP_BY_MCP &&
           !(call->scopes & ~(unsigned)MISHAP_SCOPES_ALL) && is_string(call->request_id) &&
           is_string(call->remote) && is_string(call->headers) && is_string(call->caller) &&
           is_string(call->body_type) && is_string(call->cursor) && is_string(call->id) &&
           is_string(call->traceparent);
}

/* -- opening ----------------------------------------------------------------------------------- */

void mishap_frame_put_open(mishap_buffer *out, const char *identity)
{
    size_t begun = mishap_frame_begin(out, MISHAP_FRAME_OPEN, 0);
    mishap_pack_u8(out, identity != NULL);
    mishap_pack_text(out, mishap_text_of(identity ? identity : ""));
    mishap_frame_end(out, begun);
}

static bool take_identity(mishap_text text, char room[MISHAP_IDENTITY_LIMIT])
{
    room[0] = '\0';
    if (!is_string(text) || text.length >= MISHAP_IDENTITY_LIMIT)
        return false;
    if (text.length)
        memcpy(room, text.data, text.length);
    room[text.length] = '\0';
    return true;
}

bool mishap_frame_take_open(mishap_text payload, char room[MISHAP_IDENTITY_LIMIT],
                            const char **identity)
{
    mishap_unpack in = mishap_unpack_of(payload);
    uint8_t has = mishap_unpack_u8(&in);
    mishap_text text = mishap_unpack_text(&in);
    *identity = has ? room : NULL;
    return mishap_unpack_ended(&in) && has <= 1 && take_identity(text, room);
}

void mishap_frame_put_opened(mishap_buffer *out, const char *identity, const mishap *failure)
{
    size_t begun = mishap_frame_begin(out, MISHAP_FRAME_OPENED, 0);
    mishap_pack_text(out, mishap_text_of(identity ? identity : ""));
    mishap_carry_put(out, failure);
    mishap_frame_end(out, begun);
}

bool mishap_frame_take_opened(mishap_text payload, char identity[MISHAP_IDENTITY_LIMIT],
                              mishap **failure)
{
    mishap_unpack in = mishap_unpack_of(payload);
    mishap_text text = mishap_unpack_text(&in);
    *failure = NULL;
    return !in.failed && take_identity(text, identity) &&
           mishap_carry_take((mishap_text){ in.data, in.left }, failure);
}

/* -- outcomes ---------------------------------------------------------------------------------- */

/* The number of each question in its declaration, and its message. */
static void put_questions(mishap_buffer *out, const mishap_call *call)
{
    uint8_t count = 0;
    for (const mishap_asked *asked = call->questions; asked; asked = asked->next)
        count++;
    mishap_pack_u8(out, count);
    for (const mishap_asked *asked = call->questions; asked; asked = asked->next) {
        mishap_pack_u8(out, (uint8_t)(asked->question - call->operation->asks));
        mishap_pack_text(out, asked->message);
    }
}

void mishap_frame_put_outcome(mishap_buffer *out, unsigned slot, const mishap_call *call,
                              const mishap *failure)
{
    size_t begun = mishap_frame_begin(out, MISHAP_FRAME_DONE, slot);
    bool asks = mishap_asking_is(call, failure) && !call->ended && !call->lost;
    uint8_t how = !failure      ? WORKED
                  : call->ended ? ENDED
                  : call->lost  ? LOST
                  : asks        ? ASKS
                                : FAILED;
    mishap_pack_u8(out, (uint8_t)(how | (call->log_position ? HAS_LOG_POSITION : 0)));
    if (call->log_position)
        mishap_pack_u64(out, call->log_position);
    if (asks)
        put_questions(out, call);
    if (failure) {
        mishap_carry_put(out, failure);
        mishap_frame_end(out, begun);
        return;
    }
    mishap_pack_u8(out, (uint8_t)call->answer_kind);
    mishap_pack_u8(
        out, (uint8_t)((call->content ? CONTENT : 0) | (call->location ? HAS_LOCATION : 0) |
                       (call->answer_type ? HAS_TYPE : 0) | (call->resumed_by ? HAS_CHANGES : 0) |
                       (call->text.length ? HAS_TEXT : 0) | (call->fields.length ? HAS_FIELDS : 0) |
                       (call->version ? HAS_VERSION : 0)));
    mishap_pack_u32(out, (uint32_t)call->status);
    mishap_pack_u64(out, call->listed);
    mishap_pack_u64(out, call->total);
    if (call->location)
        mishap_pack_text(out, mishap_text_of(call->location));
    if (call->answer_type)
        mishap_pack_text(out, mishap_text_of(call->answer_type));
    if (call->resumed_by) {
        mishap_pack_text(out, mishap_text_of(call->resumed_by));
        mishap_pack_text(out, mishap_text_of(call->cursor));
    }
    if (call->text.length)
        mishap_pack_text(out, mishap_buffer_text(&call->text));
    if (call->fields.length)
        mishap_pack_text(out, mishap_buffer_text(&call->fields));
    if (call->version)
        mishap_pack_text(out, mishap_text_of(call->version));
    mishap_pack_text(out, mishap_buffer_text(&call->warnings));
    mishap_pack_text(out, mishap_buffer_text(&call->answer));
    mishap_frame_end(out, begun);
}

void mishap_frame_put_failure(mishap_buffer *out, unsigned slot, const mishap *failure)
{
    size_t begun = mishap_frame_begin(out, MISHAP_FRAME_DONE, slot);
    mishap_pack_u8(out, FAILED);
    mishap_carry_put(out, failure);
    mishap_frame_end(out, begun);
}

/* The worker writes JSON without any white space but spaces, so nothing in it can break out of the
 * line or the event that it is put into. A long answer is not parsed again: that would hold up the
 * loop. */
static bool is_sound_json(mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < ' ')
            return false;
    if (text.length > MOST_PARSED)
        return true;
    bool sound = mishap_json_read(&reader, text) && yyjson_is_ctn(reader.root);
    mishap_json_reader_release(&reader);
    return sound;
}

static bool are_sound_warnings(mishap_text warnings)
{
    mishap_buffer list = { 0 };
    if (!warnings.length)
        return true;
    MISHAP_PUT(&list, "[");
    mishap_buffer_put_text(&list, warnings);
    MISHAP_PUT(&list, "]");
    bool sound = !list.failed && is_sound_json(mishap_buffer_text(&list));
    mishap_buffer_release(&list);
    return sound;
}

/* What a handler may have answered, in the form in which the loop's call takes it. */
struct answer {
    uint8_t kind, flags;
    uint32_t status;
    uint64_t listed, total;
    mishap_text location, type, resumed_by, cursor, for_readers, fields, version, warnings, text;
};

static bool read_answer(mishap_unpack *in, struct answer *a)
{
    *a = (struct answer){ 0 };
    a->kind = mishap_unpack_u8(in);
    a->flags = mishap_unpack_u8(in);
    a->status = mishap_unpack_u32(in);
    a->listed = mishap_unpack_u64(in);
    a->total = mishap_unpack_u64(in);
    if (a->flags & HAS_LOCATION)
        a->location = mishap_unpack_text(in);
    if (a->flags & HAS_TYPE)
        a->type = mishap_unpack_text(in);
    if (a->flags & HAS_CHANGES) {
        a->resumed_by = mishap_unpack_text(in);
        a->cursor = mishap_unpack_text(in);
    }
    if (a->flags & HAS_TEXT)
        a->for_readers = mishap_unpack_text(in);
    if (a->flags & HAS_FIELDS)
        a->fields = mishap_unpack_text(in);
    if (a->flags & HAS_VERSION)
        a->version = mishap_unpack_text(in);
    a->warnings = mishap_unpack_text(in);
    a->text = mishap_unpack_text(in);
    if (!mishap_unpack_ended(in) || a->kind == MISHAP_ANSWER_WRITTEN ||
        a->kind > MISHAP_ANSWER_STREAM || a->flags > ALL_OF_OUTCOME ||
        (a->status && (a->status < 200 || a->status > 599)))
        return false;
    /* An answer that is not JSON must have a media type. */
    if ((a->kind == MISHAP_ANSWER_BYTES || a->kind == MISHAP_ANSWER_STREAM) && !a->type.data)
        return false;
    if (!is_string(a->location) || !is_string(a->type) || !is_string(a->resumed_by) ||
        !is_string(a->cursor))
        return false;
    /* What a damaged worker sends must not become other lines of the response. */
    if ((a->fields.data && !mishap_answer_fields_are_sound(a->fields)) ||
        (a->version.data && !mishap_version_is_sound(a->version)))
        return false;
    return (a->kind != MISHAP_ANSWER_JSON || is_sound_json(a->text)) &&
           are_sound_warnings(a->warnings);
}

static const char *keep_text(mishap_call *call, mishap_text text, bool *failed)
{
    mishap_text kept = { NULL, 0 };
    if (!text.data)
        return NULL;
    kept = mishap_arena_copy(&call->arena, text);
    *failed = *failed || !kept.data;
    return kept.data;
}

/* The message of a question is written to callers as it is: it must be what its declaration says.
 */
static bool is_sound_question(const mishap_question *question, mishap_text message)
{
    return question->method ? message.length && message.data[0] == '{' && is_sound_json(message)
                            : mishap_utf8_valid_length(message) == message.length &&
                                  is_string(message) && message.length <= MISHAP_ASKING_MESSAGE;
}

/* False: they are not what the operation declares. The list is in the order in which they were
 * asked. */
static bool take_questions(mishap_unpack *in, mishap_call *call)
{
    size_t known = 0, count = mishap_unpack_u8(in);
    const mishap_question *asks = call->operation->asks;
    mishap_asked **end = &call->questions;
    call->questions = NULL;
    while (asks && asks[known].name)
        known++;
    for (size_t i = 0; i < count; i++) {
        size_t which = mishap_unpack_u8(in);
        mishap_text message = mishap_unpack_text(in);
        if (in->failed || which >= known || !is_sound_question(&asks[which], message))
            return false;
        mishap_asked *asked = mishap_arena_take(&call->arena, sizeof *asked);
        message = mishap_arena_copy(&call->arena, message);
        if (!asked || !message.data)
            return false;
        *asked = (mishap_asked){ .question = &asks[which], .message = message };
        *end = asked;
        end = &asked->next;
    }
    return count && count <= known;
}

bool mishap_frame_take_outcome(mishap_text payload, mishap_call *call, mishap **failure)
{
    mishap_unpack in = mishap_unpack_of(payload);
    struct answer a;
    bool failed = false;
    *failure = NULL;
    uint8_t how = mishap_unpack_u8(&in);
    uint64_t position = how & HAS_LOG_POSITION ? mishap_unpack_u64(&in) : 0;
    how &= (uint8_t)~HAS_LOG_POSITION;
    if (how == ASKS && !take_questions(&in, call)) {
        call->questions = NULL;
        return false;
    }
    if (how) {
        bool sound = how <= ASKS && mishap_carry_take((mishap_text){ in.data, in.left }, failure) &&
                     *failure;
        call->ended = sound ? how == ENDED : call->ended;
        call->lost = sound ? how == LOST : call->lost;
        call->log_position = sound ? position : call->log_position;
        return sound;
    }
    if (!read_answer(&in, &a))
        return false;
    call->ended = call->lost = false;
    call->log_position = position;
    call->answer_kind = (mishap_answer_kind)a.kind;
    call->content = a.flags & CONTENT;
    call->status = (int)a.status;
    call->listed = (size_t)a.listed;
    call->total = (size_t)a.total;
    call->location = keep_text(call, a.location, &failed);
    call->answer_type = keep_text(call, a.type, &failed);
    call->resumed_by = keep_text(call, a.resumed_by, &failed);
    call->cursor = keep_text(call, a.cursor, &failed);
    mishap_buffer_reset(&call->answer);
    mishap_buffer_put_text(&call->answer, a.text);
    mishap_buffer_reset(&call->text);
    if (a.for_readers.length) {
        mishap_text clean = mishap_utf8_clean(&call->arena, a.for_readers);
        failed = failed || !clean.data;
        mishap_buffer_put_text(&call->text, clean);
        failed = failed || call->text.failed;
    }
    mishap_buffer_reset(&call->fields);
    mishap_buffer_put_text(&call->fields, a.fields);
    call->version = keep_text(call, a.version, &failed);
    mishap_buffer_reset(&call->warnings);
    mishap_buffer_put_text(&call->warnings, a.warnings);
    failed = failed || call->fields.failed;
    if (failed || call->answer.failed || call->warnings.failed)
        *failure = mishap_out_of_memory();
    return true;
}

/* -- messages of a running call ---------------------------------------------------------------- */

void mishap_frame_put_progress(mishap_buffer *out, unsigned slot, double done, double total,
                               mishap_text words)
{
    size_t begun = mishap_frame_begin(out, MISHAP_FRAME_PROGRESS, slot);
    mishap_pack_f64(out, done);
    mishap_pack_f64(out, total);
    mishap_pack_u8(out, words.data != NULL);
    if (words.data)
        mishap_pack_text(out, words);
    mishap_frame_end(out, begun);
}

bool mishap_frame_take_progress(mishap_text payload, double *done, double *total,
                                mishap_text *words)
{
    mishap_unpack in = mishap_unpack_of(payload);
    *done = mishap_unpack_f64(&in);
    *total = mishap_unpack_f64(&in);
    *words = (mishap_text){ NULL, 0 };
    uint8_t has_words = mishap_unpack_u8(&in);
    if (has_words)
        *words = mishap_unpack_text(&in);
    return mishap_unpack_ended(&in) && has_words <= 1;
}

void mishap_frame_put_log(mishap_buffer *out, unsigned slot, mishap_level level, mishap_text words)
{
    size_t begun = mishap_frame_begin(out, MISHAP_FRAME_LOG, slot);
    mishap_pack_u8(out, (uint8_t)level);
    mishap_pack_text(out, words);
    mishap_frame_end(out, begun);
}

bool mishap_frame_take_log(mishap_text payload, mishap_level *level, mishap_text *words)
{
    mishap_unpack in = mishap_unpack_of(payload);
    uint8_t number = mishap_unpack_u8(&in);
    *level = (mishap_level)number;
    *words = mishap_unpack_text(&in);
    return mishap_unpack_ended(&in) && number <= MISHAP_FOR_OPERATOR;
}
