#include "base/traceparent.h"

#include "base/hex.h"

static bool has_any(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return true;
    return false;
}

bool mishap_traceparent_read(mishap_text text, mishap_traceparent *out)
{
    unsigned char version;
    if (text.length < MISHAP_TRACEPARENT_LENGTH || text.data[2] != '-' || text.data[35] != '-' ||
        text.data[52] != '-' || !mishap_hex_read(text.data, &version, 1) || version == 0xFF ||
        !mishap_hex_read(text.data + 3, out->trace, sizeof out->trace) ||
        !mishap_hex_read(text.data + 36, out->span, sizeof out->span) ||
        !mishap_hex_read(text.data + 53, &out->flags, 1))
        return false;
    bool longer = text.length > MISHAP_TRACEPARENT_LENGTH;
    if (longer && (version == 0 || text.data[MISHAP_TRACEPARENT_LENGTH] != '-'))
        return false;
    return has_any(out->trace, sizeof out->trace) && has_any(out->span, sizeof out->span);
}
