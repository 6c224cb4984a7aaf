/* What several commands take and answer with. */
#include "tool.h"

#include "base/buffer.h"
#include "operation/call.h"

const mishap_param tool_word = { .name = "word", .type = MISHAP_STRING };

const char *const *tool_command(mishap_call *call)
{
    size_t count = mishap_count(call, "command"), at = 0;
    if (!count)
        return NULL;
    const char **words = mishap_call_take(call, (count + 1) * sizeof *words);
    for (const mishap_call *word = mishap_first(call, "command"); word; word = mishap_next(word))
        words[at++] = mishap_call_print(call, "%s", mishap_string(word, ""));
    words[at] = NULL;
    return words;
}

int64_t tool_timeout_ms(mishap_call *call)
{
    int64_t own = (int64_t)(mishap_number(call, "timeout") * 1000);
    int64_t common = call->timeout_ms;
    return !common || (own && own < common) ? own : common;
}

mishap *tool_answer(mishap_call *call, mishap_buffer *json)
{
    mishap_buffer_put_char(json, '\0');
    mishap *failure = json->failed ? mishap_out_of_memory() : mishap_answer(call, json->data);
    mishap_buffer_release(json);
    return failure;
}

mishap *tool_answer_mishap(mishap_call *call, const mishap *m, const mishap_dialect *to)
{
    mishap_buffer out = { 0 };
    mishap_render(to, m, &out);
    if (out.length && out.data[out.length - 1] != '\n')
        MISHAP_PUT(&out, "\n");
    mishap *failure = out.failed ? mishap_out_of_memory()
                                 : mishap_answer_document(call, mishap_buffer_text(&out));
    mishap_buffer_release(&out);
    return failure;
}

mishap *tool_retell(mishap_call *call, const mishap_dialect *from, const mishap_dialect *to)
{
    mishap *m = NULL, *failure;
    mishap_buffer input = { 0 };
    failure = tool_read_input(mishap_string(call, "input"), &input);
    if (!failure)
        failure = mishap_parse(from, mishap_buffer_text(&input), &m);
    if (!failure)
        failure = tool_answer_mishap(call, m, to);
    mishap_free(m);
    mishap_buffer_release(&input);
    return failure;
}
