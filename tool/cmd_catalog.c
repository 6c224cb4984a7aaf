/* mishap catalog: every code, or those of one category or status. */
#include "tool.h"

#include "base/json_write.h"
#include "dialect/reference.h"

static const char *const categories[] = { "validation", "permission", "resource",
                                          "execution",  "system",     NULL };
_Static_assert(sizeof categories / sizeof *categories == MISHAP_CATEGORIES + 1,
               "one name a category");

static const mishap_param params[] = {
    { "category", MISHAP_ENUM, .choices = categories, .help = "List only codes of this category" },
    { "http_status", MISHAP_INTEGER, .range = { 400, 599 }, .placeholder = "N",
      .help = "List only codes of this HTTP status" },
    { 0 },
};

static const mishap_example examples[] = {
    { "catalog", "List all codes" },
    { "catalog --category resource --http-status 409", "List all codes for a conflict" },
    { 0 },
};

static bool wanted(const mishap_call *call, const mishap_code *code)
{
    const char *category = mishap_string(call, "category");
    if (category && strcmp(category, mishap_category_name(code->category)) != 0)
        return false;
    return !mishap_given(call, "http_status") ||
           mishap_integer(call, "http_status") == code->http_status;
}

static mishap *run_catalog(mishap_call *call)
{
    mishap_buffer json = { 0 };
    mishap_json_open(&json, '[');
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next) {
        for (size_t i = 0; i < catalog->count; i++) {
            if (wanted(call, catalog->codes[i])) {
                mishap_json_open(&json, '{');
                mishap_code_put(&json, catalog->codes[i]);
                mishap_json_close(&json, '}');
            }
        }
    }
    mishap_json_close(&json, ']');
    return tool_answer(call, &json);
}

const mishap_operation tool_catalog = {
    .name = "catalog",
    .summary = "List all error codes",
    .description =
        "Each code has its category, HTTP status, exit code, JSON-RPC code, default message and "
        "its name in each dialect. The member `retry` says whether a retry can succeed: `yes`, "
        "`fix` (after the caller has corrected the request) or `never`.",
    .params = params,
    .run = run_catalog,
    .examples = examples,
    .group = "Codes",
    .tool = "list_codes",
    .tool_example = "{\"category\":\"resource\",\"http_status\":409}",
    .quick = true,
};
