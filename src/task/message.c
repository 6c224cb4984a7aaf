/* Messages between a loop and the process of tasks: see message.h. */
#include "task/message.h"

#include "mishap/carry.h"
#include "worker/wire/frame.h"

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

size_t mishap_task_message_read(mishap_text bytes, mishap_task_message *message)
{
    if (bytes.length < MISHAP_TASK_HEAD)
        return 0;
    uint32_t length = read_u32(bytes.data);
    message->kind = (mishap_task_message_kind)(unsigned char)bytes.data[4];
    message->number = read_u32(bytes.data + 5);
    if (length > MISHAP_TASK_MESSAGE_LIMIT || message->kind < MISHAP_TASK_HELLO ||
        message->kind >= MISHAP_TASK_MESSAGES)
        return SIZE_MAX;
    if (bytes.length - MISHAP_TASK_HEAD < length)
        return 0;
    message->body = (mishap_text){ bytes.data + MISHAP_TASK_HEAD, length };
    return MISHAP_TASK_HEAD + (size_t)length;
}

size_t mishap_task_message_begin(mishap_buffer *out, mishap_task_message_kind kind, uint32_t number)
{
    size_t begun = out->length;
    mishap_pack_u32(out, 0);
    mishap_pack_u8(out, (uint8_t)kind);
    mishap_pack_u32(out, number);
    return begun;
}

void mishap_task_message_end(mishap_buffer *out, size_t begun)
{
    size_t length = out->length - begun;
    if (out->failed || length > MISHAP_TASK_MESSAGE_LIMIT + (size_t)MISHAP_TASK_HEAD) {
        out->failed = true;
        out->length = begun;
        return;
    }
    write_u32(out->data + begun, (uint32_t)(length - MISHAP_TASK_HEAD));
}

/* -- from a loop ------------------------------------------------------------------------------- */

void mishap_task_put_start(mishap_buffer *out, uint32_t number, const mishap_call *call,
                           mishap_text owner, int after_ms)
{
    size_t begun = mishap_task_message_begin(out, MISHAP_TASK_START, number);
    mishap_pack_u32(out, (uint32_t)after_ms);
    mishap_pack_u64(out, call->holder);
    mishap_pack_text(out, owner);
    mishap_pack_text(out, call->request_id);
    mishap_frame_put_call(out, 0, 0, call, (uint32_t)call->limit_ms);
    mishap_task_message_end(out, begun);
}

static bool is_string(mishap_text text)
{
    return !memchr(text.data, '\0', text.length);
}

/* The call is a whole frame, to the end of the message. */
bool mishap_task_take_start(mishap_text body, mishap_task_started *started)
{
    mishap_unpack in = mishap_unpack_of(body);
    mishap_framed frame;
    size_t size;
    *started = (mishap_task_started){ .after_ms = (int32_t)mishap_unpack_u32(&in) };
    started->holder = mishap_unpack_u64(&in);
    started->owner = mishap_unpack_text(&in);
    started->incident = mishap_unpack_text(&in);
    if (in.failed || started->after_ms < -1 || !started->owner.length ||
        started->owner.length > MISHAP_TASK_OWNER || started->incident.length > MISHAP_ID_LENGTH ||
        !is_string(started->owner) || !is_string(started->incident) ||
        mishap_frame_read((mishap_text){ in.data, in.left }, &frame, &size) != MISHAP_FRAME_WHOLE ||
        size != in.left || frame.type != MISHAP_FRAME_CALL)
        return false;
    started->call = frame.payload;
    return true;
}

void mishap_task_put_ask(mishap_buffer *out, uint32_t number, mishap_task_wish wish,
                         mishap_text owner, mishap_text id)
{
    size_t begun = mishap_task_message_begin(out, MISHAP_TASK_ASK, number);
    mishap_pack_u8(out, (uint8_t)wish);
    mishap_pack_text(out, owner);
    mishap_pack_text(out, id);
    mishap_task_message_end(out, begun);
}

bool mishap_task_take_ask(mishap_text body, mishap_task_wish *wish, mishap_text *owner,
                          mishap_text *id)
{
    mishap_unpack in = mishap_unpack_of(body);
    uint8_t number = mishap_unpack_u8(&in);
    *wish = (mishap_task_wish)number;
    *owner = mishap_unpack_text(&in);
    *id = mishap_unpack_text(&in);
    return mishap_unpack_ended(&in) && number < MISHAP_TASK_WISHES && owner->length &&
           owner->length <= MISHAP_TASK_OWNER;
}

void mishap_task_put_give(mishap_buffer *out, uint32_t number, mishap_text owner, mishap_text id,
                          const mishap_task_given *given)
{
    size_t begun = mishap_task_message_begin(out, MISHAP_TASK_GIVE, number);
    mishap_pack_u8(out, (uint8_t)given->form);
    mishap_pack_u32(out, given->scopes);
    mishap_pack_text(out, owner);
    mishap_pack_text(out, id);
    mishap_pack_text(out, given->answers);
    mishap_task_message_end(out, begun);
}

bool mishap_task_take_give(mishap_text body, mishap_text *owner, mishap_text *id,
                           mishap_task_given *given)
{
    mishap_unpack in = mishap_unpack_of(body);
    uint8_t form = mishap_unpack_u8(&in);
    *given = (mishap_task_given){ .form = (mishap_answers_form)form };
    given->scopes = mishap_unpack_u32(&in);
    *owner = mishap_unpack_text(&in);
    *id = mishap_unpack_text(&in);
    given->answers = mishap_unpack_text(&in);
    return mishap_unpack_ended(&in) && form <= MISHAP_ANSWERS_OF_CLIENT && owner->length &&
           owner->length <= MISHAP_TASK_OWNER && is_string(*owner);
}

/* -- to a loop --------------------------------------------------------------------------------- */

static void put_told(mishap_buffer *out, const mishap_task_told *told)
{
    mishap_pack_text(out, told->id);
    mishap_pack_text(out, told->operation);
    mishap_pack_text(out, told->incident);
    mishap_pack_u8(out, (uint8_t)told->state);
    mishap_pack_u8(out, (uint8_t)(told->cancel | told->has_progress << 1));
    mishap_pack_u64(out, (uint64_t)told->made_ms);
    mishap_pack_u64(out, (uint64_t)told->changed_ms);
    mishap_pack_u64(out, (uint64_t)told->keep_ms);
    mishap_pack_f64(out, told->done);
    mishap_pack_f64(out, told->total);
    mishap_pack_text(out, told->words);
    mishap_pack_text(out, told->call);
    mishap_pack_text(out, told->outcome);
    mishap_pack_text(out, told->questions);
}

static bool take_told(mishap_unpack *in, mishap_task_told *told)
{
    told->id = mishap_unpack_text(in);
    told->operation = mishap_unpack_text(in);
    told->incident = mishap_unpack_text(in);
    uint8_t state = mishap_unpack_u8(in), flags = mishap_unpack_u8(in);
    told->state = (mishap_task_state)state;
    told->cancel = flags & 1;
    told->has_progress = flags & 2;
    told->made_ms = (int64_t)mishap_unpack_u64(in);
    told->changed_ms = (int64_t)mishap_unpack_u64(in);
    told->keep_ms = (int64_t)mishap_unpack_u64(in);
    told->done = mishap_unpack_f64(in);
    told->total = mishap_unpack_f64(in);
    told->words = mishap_unpack_text(in);
    told->call = mishap_unpack_text(in);
    told->outcome = mishap_unpack_text(in);
    told->questions = mishap_unpack_text(in);
    return mishap_unpack_ended(in) && state < MISHAP_TASK_STATES && flags < 4 &&
           told->id.length == MISHAP_TASK_ID && told->incident.length <= MISHAP_ID_LENGTH;
}

static bool is_too_long(const mishap_task_reply *reply)
{
    size_t most = MISHAP_TASK_MESSAGE_LIMIT;
    return reply->outcome.length > most || reply->told.call.length > most ||
           reply->told.outcome.length > most - reply->told.call.length;
}

void mishap_task_put_reply(mishap_buffer *out, uint32_t number, const mishap_task_reply *reply)
{
    size_t begun = mishap_task_message_begin(out, MISHAP_TASK_REPLY, number);
    if (is_too_long(reply)) { /* it is not copied first */
        out->failed = true;
        out->length = begun;
        return;
    }
    mishap_pack_u8(out, (uint8_t)reply->kind);
    if (reply->kind == MISHAP_TASK_DONE)
        mishap_pack_text(out, reply->outcome);
    else if (reply->kind == MISHAP_TASK_TOLD)
        put_told(out, &reply->told);
    else if (reply->kind == MISHAP_TASK_REFUSED)
        mishap_carry_put(out, reply->failure);
    mishap_task_message_end(out, begun);
}

bool mishap_task_take_reply(mishap_text body, mishap_task_reply *reply)
{
    mishap_unpack in = mishap_unpack_of(body);
    uint8_t kind = mishap_unpack_u8(&in);
    *reply = (mishap_task_reply){ .kind = (mishap_task_reply_kind)kind };
    switch (kind) {
    case MISHAP_TASK_DONE:
        reply->outcome = mishap_unpack_text(&in);
        return mishap_unpack_ended(&in);
    case MISHAP_TASK_TOLD:
        return take_told(&in, &reply->told);
    case MISHAP_TASK_REFUSED:
        return mishap_carry_take((mishap_text){ in.data, in.left }, &reply->failure) &&
               reply->failure;
    case MISHAP_TASK_REMOVED:
    case MISHAP_TASK_NONE:
    case MISHAP_TASK_DECLINED:
        return mishap_unpack_ended(&in);
    default:
        return false;
    }
}

/* -- outcomes ---------------------------------------------------------------------------------- */

void mishap_task_put_outcome(mishap_buffer *out, const mishap_call *call, const mishap *failure)
{
    size_t begun = out->length;
    if (call)
        mishap_frame_put_outcome(out, 0, call, failure);
    else
        mishap_frame_put_failure(out, 0, failure);
    if (out->failed || out->length < begun + MISHAP_FRAME_HEAD)
        return;
    out->length -= MISHAP_FRAME_HEAD;
    memmove(out->data + begun, out->data + begun + MISHAP_FRAME_HEAD, out->length - begun);
}

mishap *mishap_task_remake(const mishap_app *app, const mishap_operation *operation,
                           mishap_text bytes, mishap_text outcome, mishap_call **call,
                           mishap **failure)
{
    mishap_frame_call asked;
    mishap_text none = MISHAP_TEXT("{}");
    *failure = NULL;
    bool has_call = bytes.length && mishap_frame_take_call(bytes, &asked);
    mishap *m = mishap_call_remake(app, operation, has_call ? asked.arguments : none, call);
    if (m)
        return m;
    if (mishap_frame_take_outcome(outcome, *call, failure))
        return NULL;
    mishap_call_end(*call);
    *call = NULL;
    return mishap_raise(INTERNAL_ERROR, "The stored outcome of %s cannot be read.",
                        operation->name);
}
