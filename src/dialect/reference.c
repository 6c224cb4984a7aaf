/* Documentation of the catalog: a row as JSON, and the lookup of a row by any spelling. */
#include "dialect/reference.h"

#include "base/json_write.h"
#include "mishap/code.h"

static void put_text(mishap_buffer *b, const char *key, mishap_text text)
{
    mishap_json_key(b, mishap_text_of(key));
    if (text.length)
        mishap_json_string(b, text);
    else
        mishap_json_null(b);
}

static void put_number(mishap_buffer *b, const char *key, int64_t number)
{
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_int(b, number);
}

void mishap_code_put(mishap_buffer *b, const mishap_code *code)
{
    static const char *const retries[] = { "never", "fix", "yes" };
    put_text(b, "code", code->name);
    put_text(b, "category", mishap_text_of(mishap_category_name(code->category)));
    put_number(b, "http_status", code->http_status);
    put_number(b, "exit_code", code->exit_code);
    put_number(b, "rpc_code", code->rpc_code);
    put_text(b, "retry", mishap_text_of(retries[code->retry]));
    if (code->retry_after_ms >= 0)
        put_number(b, "retry_after_ms", code->retry_after_ms);
    put_text(b, "message", code->message);
    put_text(b, "suggestion", code->suggestion);
    if (code->docs_url.length)
        put_text(b, "docs_url", code->docs_url);
    MISHAP_JSON_KEY(b, "spellings");
    mishap_json_open(b, '{');
    put_text(b, "condition-report", code->condition);
    put_text(b, "cli-envelope", code->name);
    put_text(b, "artifact", code->snake);
    put_text(b, "http-api", code->http_name);
    put_text(b, "tool-result", code->tool_type);
    mishap_json_close(b, '}');
}

static const mishap_code *find_status(mishap_text digits)
{
    int status = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (i == 3 || digits.data[i] < '0' || digits.data[i] > '9')
            return NULL;
        status = status * 10 + (digits.data[i] - '0');
    }
    return mishap_catalog_for_status(status);
}

/* As any dialect spells it, with its words joined in any other way, or by the status that is named
 * like it. */
const mishap_code *mishap_code_meant(mishap_text name)
{
    char unspelled[128];
    const mishap_code *code = NULL;
    for (size_t i = 0; i < MISHAP_SPELLINGS && !code; i++)
        code = mishap_catalog_find((mishap_spelling)i, name);
    if (!code && mishap_code_unspell(name, unspelled, sizeof unspelled))
        code = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_text_of(unspelled));
    return code ? code : find_status(name);
}
