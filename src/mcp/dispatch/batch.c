/*
 * Batches: several messages in one array, which only the two oldest revisions have. The answers go
 * back as one array, too, when the last of them is complete. If other clients wait for the same
 * loop, a batch is processed in parts (peer->pause).
 */
#include "mcp/dispatch/dispatch.h"

#include "base/memory.h"

/* A channel that collects the answers, and sends them as one array when the last one is
 * complete. */
struct mishap_mcp_batch {
    mishap_mcp_channel channel; /* the first member */
    mishap_mcp_channel *outer;
    size_t pending; /* messages that are not finished */
    mishap_buffer answers;
    bool lost; /* there was no memory for some answers */

    /* Messages that were not processed yet, if it was paused. */
    mishap_buffer text; /* the JSON of all messages that were left at the first pause */
    mishap_json_reader reader;
    yyjson_val *next;
    size_t left;
};

static void free_batch(struct mishap_mcp_batch *batch)
{
    mishap_json_reader_release(&batch->reader);
    mishap_buffer_release(&batch->text);
    mishap_buffer_release(&batch->answers);
    mishap_release(batch);
}

static struct mishap_mcp_batch *batch_of(mishap_mcp_channel *channel)
{
    return (struct mishap_mcp_batch *)(void *)channel;
}

static mishap_buffer *begin_in_batch(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    struct mishap_mcp_batch *batch = batch_of(channel);
    return kind == MISHAP_MCP_RESPONSE ? &batch->answers : batch->outer->begin(batch->outer, kind);
}

static void end_in_batch(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    struct mishap_mcp_batch *batch = batch_of(channel);
    mishap_buffer *b = &batch->answers;
    if (kind != MISHAP_MCP_RESPONSE) {
        batch->outer->end(batch->outer, kind);
        return;
    }
    if (!b->failed)
        mishap_buffer_put_char(b, ',');
    if (b->failed) {
        batch->lost = true;
        mishap_mcp_take_back(channel, b);
    }
}

/* Send an array or, if there is no memory for it, a single error that stands for all. */
static void send_batch(const struct mishap_mcp_batch *batch)
{
    mishap_mcp_channel *outer = batch->outer;
    mishap_text none = { NULL, 0 }, answers = mishap_buffer_text(&batch->answers);
    outer->status = 200;
    mishap_buffer *b = mishap_mcp_begin_message(outer, MISHAP_MCP_RESPONSE, none);
    size_t head = b->length - outer->start;
    if (!answers.length) {
        b->failed = true; /* all answers were lost */
    } else if (mishap_buffer_reserve(b, answers.length + 1)) {
        b->length -= head;
        MISHAP_PUT(b, "[");
        mishap_buffer_put(b, answers.data, answers.length - 1); /* each has a comma after it */
        MISHAP_PUT(b, "]");
    }
    mishap_mcp_end_message(outer, b, MISHAP_MCP_RESPONSE);
}

static void finish_in_batch(mishap_mcp_channel *channel)
{
    struct mishap_mcp_batch *batch = batch_of(channel);
    mishap_mcp_channel *outer = batch->outer;
    if (--batch->pending)
        return;
    if (batch->answers.length || batch->lost)
        send_batch(batch);
    free_batch(batch);
    outer->finish(outer);
}

static void refuse_in_batch(const mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                            mishap_text id, const char *why)
{
    mishap_mcp_flaw flaw = { -32600, 400, mishap_raise(BAD_REQUEST, "%s", why), id };
    mishap_mcp_refuse_flaw(peer, channel, &flaw);
}

static void take_item(mishap_mcp_peer *peer, mishap_mcp_channel *channel, yyjson_val *item)
{
    static const mishap_text initialize = MISHAP_TEXT("initialize");
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    if (!mishap_mcp_message_read(item, &message, &flaw))
        mishap_mcp_refuse_flaw(peer, channel, &flaw);
    else if (message.batch)
        refuse_in_batch(peer, channel, message.id, "A batch must not contain another batch.");
    else if (message.kind == MISHAP_MCP_REQUEST && message.claims)
        refuse_in_batch(peer, channel, message.id,
                        "This protocol revision does not support batches.");
    else if (message.kind == MISHAP_MCP_REQUEST && mishap_text_equal(message.method, initialize))
        refuse_in_batch(peer, channel, message.id, "initialize must not be sent in a batch.");
    else
        mishap_mcp_take(peer, channel, &message);
}

/* The rest belongs to the reader of the message, and is copied once. False: no memory. */
static bool keep_rest(struct mishap_mcp_batch *batch, yyjson_val *next, size_t left)
{
    mishap_buffer *text = &batch->text;
    if (!batch->left) {
        mishap_buffer_reset(text);
        mishap_json_open(text, '[');
        for (size_t i = 0; i < left; i++, next = unsafe_yyjson_get_next(next))
            mishap_json_copy(text, next);
        mishap_json_close(text, ']');
        if (text->failed || !mishap_json_read(&batch->reader, mishap_buffer_text(text)))
            return false;
        next = unsafe_yyjson_get_first(batch->reader.root);
    }
    batch->next = next;
    batch->left = left;
    return true;
}

/* Process all messages that are left, or as many as there is time for. */
static void take_items(mishap_mcp_peer *peer, struct mishap_mcp_batch *batch, yyjson_val *item,
                       size_t left)
{
    while (left) {
        take_item(peer, &batch->channel, item);
        item = unsafe_yyjson_get_next(item);
        left--;
        if (left && peer->pause && peer->pause(peer) && keep_rest(batch, item, left)) {
            peer->paused = batch;
            return;
        }
    }
    finish_in_batch(&batch->channel);
}

void mishap_mcp_go_on(mishap_mcp_peer *peer)
{
    struct mishap_mcp_batch *batch = peer->paused;
    peer->paused = NULL;
    if (batch)
        take_items(peer, batch, batch->next, batch->left);
}

void mishap_mcp_drop_paused(mishap_mcp_peer *peer)
{
    if (peer->paused)
        free_batch(peer->paused);
    peer->paused = NULL;
}

void mishap_mcp_take_batch(mishap_mcp_peer *peer, mishap_mcp_channel *channel, yyjson_val *items)
{
    mishap_mcp_flaw flaw = { .code = -32600, .status = 400 };
    size_t count = yyjson_arr_size(items);
    struct mishap_mcp_batch *batch = NULL;
    if (!mishap_mcp_has_batches(peer->revision))
        flaw.failure = mishap_raise(BAD_REQUEST,
                                    "This protocol revision does not support batches.");
    else if (!count)
        flaw.failure = mishap_raise(BAD_REQUEST, "The batch is empty.");
    else if (count > MISHAP_MCP_BATCH_LIMIT)
        flaw.failure = mishap_raise(BAD_REQUEST, "A batch can have at most %d messages.",
                                    MISHAP_MCP_BATCH_LIMIT);
    else if (!(batch = mishap_allocate(sizeof *batch)))
        flaw = (mishap_mcp_flaw){ .code = -32603,
                                  .status = 500,
                                  .failure = mishap_out_of_memory() };
    if (flaw.failure) {
        mishap_suggest(flaw.failure, "Send each message separately.");
        mishap_mcp_refuse_flaw(peer, channel, &flaw);
        return;
    }
    *batch = (struct mishap_mcp_batch){
        .channel = { .begin = begin_in_batch, .end = end_in_batch, .finish = finish_in_batch },
        .outer = channel,
        .pending = count + 1
    };
    take_items(peer, batch, unsafe_yyjson_get_first(items), count);
}
