/* Texts for readers with styles. */
#include "operation/styled.h"

#include "operation/call.h"

mishap *mishap_answer_styled(mishap_call *call, mishap_text text)
{
    mishap *failure = mishap_answer_text(call, text);
    call->styled = !failure;
    return failure;
}

size_t mishap_style_length(mishap_text text)
{
    static const mishap_text styles[] = {
        MISHAP_TEXT(MISHAP_STYLE_BOLD),   MISHAP_TEXT(MISHAP_STYLE_DIM),
        MISHAP_TEXT(MISHAP_STYLE_RED),    MISHAP_TEXT(MISHAP_STYLE_GREEN),
        MISHAP_TEXT(MISHAP_STYLE_YELLOW), MISHAP_TEXT(MISHAP_STYLE_END),
    };
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (text.length >= styles[i].length &&
            memcmp(text.data, styles[i].data, styles[i].length) == 0)
            return styles[i].length;
    return 0;
}
