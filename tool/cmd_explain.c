/* mishap explain: one code, and how it is told in each dialect. */
#include "tool.h"

#include <stdio.h>

#include "base/json_write.h"
#include "cli/words/command.h"
#include "dialect/reference.h"
#include "mishap/code.h"

static const mishap_param params[] = {
    { "code", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 100 },
      .placeholder = "CODE", .help = "A code in any spelling, or an HTTP status" },
    { 0 },
};

static const mishap_example examples[] = {
    { "explain NOT_FOUND", "Explain one code" },
    { "explain already_exists", "Explain a code in any spelling" },
    { "explain 409", "Explain the code of an HTTP status" },
    { 0 },
};

static const mishap_param answers[] = {
    { "code", MISHAP_STRING, .required = true, .help = "The name of the code in the catalog" },
    { "page", MISHAP_STRING, .required = true,
      .help = "The path of the page about the code, on any server of the program (`serve`)" },
    { "dialects", MISHAP_OBJECT, .required = true, .help = "The error as each dialect writes it" },
    { 0 },
};

/* -- which one is meant ------------------------------------------------------------------------ */

static mishap *not_found(mishap_call *call, const char *word)
{
    char name[256] = "";
    size_t count = 0;
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next)
        count += catalog->count;
    const char **names = mishap_call_take(call, (count + 1) * sizeof *names);
    count = 0;
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next)
        for (size_t i = 0; i < catalog->count; i++)
            names[count++] = catalog->codes[i]->name.data;
    names[count] = NULL;
    mishap_code_unspell(mishap_text_of(word), name, sizeof name);
    const char *nearest = mishap_cli_nearest(name, names);
    mishap *m = mishap_tell(mishap_raise(NOT_FOUND, "The catalog has no such code."), "asked",
                            word); /* `code` is the name of what failed, in tool results */
    return mishap_suggest(
        m, nearest ? mishap_call_print(call, "Did you mean %s?", nearest)
                   : "`mishap catalog`, the tool list_codes and catalog://codes list all codes.");
}

/* -- the answer -------------------------------------------------------------------------------- */

/* A mishap that has only its code, in every dialect: JSON as it is, text as a string. */
static void put_dialects(mishap_buffer *json, const mishap_code *code)
{
    mishap *m = mishap_raise_at(code, MISHAP_HERE, NULL);
    mishap_buffer document = { 0 };
    MISHAP_JSON_KEY(json, "dialects");
    mishap_json_open(json, '{');
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        mishap_buffer_reset(&document);
        mishap_text text = mishap_render(*dialect, m, &document);
        mishap_json_key(json, mishap_text_of(mishap_dialect_name(*dialect)));
        if (strncmp(mishap_dialect_media_type(*dialect), "text/", 5) == 0)
            mishap_json_string(json, text);
        else
            mishap_buffer_put_text(json, text);
    }
    mishap_json_close(json, '}');
    mishap_buffer_release(&document);
    mishap_free(m);
}

static mishap *run_explain(mishap_call *call)
{
    const char *word = mishap_string(call, "code");
    const mishap_code *code = mishap_code_meant(mishap_text_of(word));
    if (!code)
        return not_found(call, word);
    mishap_buffer json = { 0 };
    mishap_json_open(&json, '{');
    mishap_code_put(&json, code);
    MISHAP_JSON_KEY(&json, "page");
    mishap_json_string(&json,
                       mishap_text_of(mishap_call_print(call, "/errors/%s", code->name.data)));
    put_dialects(&json, code);
    mishap_json_close(&json, '}');
    return tool_answer(call, &json);
}

const mishap_operation tool_explain = {
    .name = "explain",
    .summary = "Explain a code and show it in each dialect",
    .description = "The code can be written in the spelling of any dialect (NOT_FOUND, NOT-FOUND, "
                   "not_found, NotFound), as an error type of a tool result, or as an HTTP status.",
    .params = params,
    .run = run_explain,
    .raises = MISHAP_RAISES(NOT_FOUND),
    .examples = examples,
    .group = "Codes",
    .tool = "explain_code",
    .tool_example = "{\"code\":\"NOT_FOUND\"}",
    .answers = answers,
    .quick = true,
};
