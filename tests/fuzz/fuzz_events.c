/*
 * Server-sent events of a server behind the gateway of MCP. The first byte of the input says how
 * long the pieces are in which it arrives. How it is cut makes no difference, and no event is
 * longer than the limit.
 */
#include "fuzz.h"
#include "mcp/gateway/process/events.h"

enum { MOST = 200 };

static void take(void *state, mishap_text data)
{
    mishap_buffer *all = state;
    EXPECT(data.length <= MOST, "an event beyond the limit");
    mishap_buffer_put_text(all, data);
    mishap_buffer_put_char(all, '\0');
}

static size_t feed(mishap_text input, size_t size, mishap_buffer *all)
{
    gateway_events events = { 0 };
    size_t lost = 0;
    while (input.length) {
        size_t length = input.length < size ? input.length : size;
        lost += mishap_mcp_gateway_events_feed(&events, (mishap_text){ input.data, length }, MOST,
                                               take, all);
        input = (mishap_text){ input.data + length, input.length - length };
    }
    mishap_mcp_gateway_events_release(&events);
    return lost;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_buffer whole = { 0 }, cut = { 0 };
    if (!size)
        return 0;
    mishap_text input = { (const char *)data + 1, size - 1 };
    size_t lost = feed(input, size, &whole);
    EXPECT(feed(input, (size_t)data[0] % 16 + 1, &cut) == lost, "another number of lost events");
    EXPECT(mishap_text_equal(mishap_buffer_text(&whole), mishap_buffer_text(&cut)),
           "other events when it is cut");
    mishap_buffer_release(&whole);
    mishap_buffer_release(&cut);
    return 0;
}
