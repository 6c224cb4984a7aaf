/* What several commands answer with. */
#include "tool.h"

#include "base/json_write.h"

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

/* -- codes ------------------------------------------------------------------------------------- */

static void put_text(mishap_buffer *json, const char *key, mishap_text text)
{
    mishap_json_key(json, mishap_text_of(key));
    if (text.length)
        mishap_json_string(json, text);
    else
        mishap_json_null(json);
}

static void put_number(mishap_buffer *json, const char *key, int64_t number)
{
    mishap_json_key(json, mishap_text_of(key));
    mishap_json_int(json, number);
}

void tool_put_code(mishap_buffer *json, const mishap_code *code)
{
    static const char *const retries[] = { "never", "fix", "yes" };
    put_text(json, "code", code->name);
    put_text(json, "category", mishap_text_of(mishap_category_name(code->category)));
    put_number(json, "http_status", code->http_status);
    put_number(json, "exit_code", code->exit_code);
    put_number(json, "rpc_code", code->rpc_code);
    put_text(json, "retry", mishap_text_of(retries[code->retry]));
    if (code->retry_after_ms >= 0)
        put_number(json, "retry_after_ms", code->retry_after_ms);
    put_text(json, "message", code->message);
    put_text(json, "suggestion", code->suggestion);
    if (code->docs_url.length)
        put_text(json, "docs_url", code->docs_url);
    MISHAP_JSON_KEY(json, "spellings");
    mishap_json_open(json, '{');
    put_text(json, "condition-report", code->condition);
    put_text(json, "cli-envelope", code->name);
    put_text(json, "artifact", code->snake);
    put_text(json, "http-api", code->http_name);
    put_text(json, "tool-result", code->tool_type);
    mishap_json_close(json, '}');
}
