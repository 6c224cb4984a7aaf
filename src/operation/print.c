/* Values of the types of mishap/types.h as text, in the memory of a call. */
#include "base/base64.h"
#include "operation/call.h"

#define PRINTER(type)                                                                              \
    const char *mishap_##type##_print(mishap_call *call, mishap_##type value)                      \
    {                                                                                              \
        char text[MISHAP_WRITTEN];                                                                 \
        return mishap_call_print(call, "%s", mishap_##type##_write(value, text));                  \
    }
PRINTER(decimal)
PRINTER(money)
PRINTER(timestamp)
PRINTER(date)
PRINTER(duration)
PRINTER(uuid)
#undef PRINTER

/* A buffer as text with a NUL in the arena. */
static mishap_text keep_buffer(const mishap_call *part, mishap_buffer *buffer)
{
    mishap_call *call = mishap_call_whole(part);
    mishap_text kept = { NULL, 0 };
    if (!buffer->failed)
        kept = mishap_arena_copy(&call->arena, mishap_buffer_text(buffer));
    mishap_buffer_release(buffer);
    if (!kept.data)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, "");
    return kept;
}

const char *mishap_bytes_print(mishap_call *call, mishap_text bytes)
{
    mishap_buffer text = { 0 };
    mishap_base64_put(&text, bytes);
    return keep_buffer(call, &text).data;
}

mishap_text mishap_call_decode(const mishap_call *call, mishap_text base64)
{
    mishap_buffer bytes = { 0 };
    mishap_base64_read(&bytes, base64);
    return keep_buffer(call, &bytes);
}
