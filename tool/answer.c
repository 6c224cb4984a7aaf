/* What several commands answer with. */
#include "tool.h"

#include "base/buffer.h"

mishap *tool_answer(mishap_call *call, mishap_buffer *json)
{
    mishap_buffer_put_char(json, '\0');
    mishap *failure = json->failed ? mishap_out_of_memory() : mishap_answer(call, json->data);
    mishap_buffer_release(json);
    return failure;
}

mishap *tool_retell(mishap_call *call, const mishap_dialect *from, const mishap_dialect *to)
{
    mishap *m = NULL, *failure;
    mishap_buffer input = { 0 }, out = { 0 };
    failure = tool_read_input(mishap_string(call, "input"), &input);
    if (!failure)
        failure = mishap_parse(from, mishap_buffer_text(&input), &m);
    if (!failure) {
        mishap_render(to, m, &out);
        if (out.length && out.data[out.length - 1] != '\n')
            MISHAP_PUT(&out, "\n");
        failure = out.failed ? mishap_out_of_memory()
                             : mishap_answer_document(call, mishap_buffer_text(&out));
    }
    mishap_free(m);
    mishap_buffer_release(&input);
    mishap_buffer_release(&out);
    return failure;
}
