/* mishap translate: one dialect in, another out. */
#include "tool.h"

static const mishap_param params[] = {
    TOOL_DIALECT("from", "The dialect of the input"),
    TOOL_DIALECT("to", "The dialect to tell it in"),
    TOOL_INPUT,
    { 0 },
};

static const mishap_example examples[] = {
    { "translate --from http-api --to json-rpc answer.json",
      "An answer of the HTTP API as a JSON-RPC error" },
    { "translate --from condition-report --to canonical < report",
      "All that a report says, as JSON" },
    { 0 },
};

static mishap *run(mishap_call *call)
{
    return tool_retell(call, tool_dialect(call, "from"), tool_dialect(call, "to"));
}

const mishap_operation tool_translate = {
    .name = "translate",
    .summary = "Turn a document of one dialect into another",
    .description = "It takes what can be understood: a document that breaks a rule of its dialect "
                   "but still says what went "
                   "wrong is translated. What the other dialect has no place for is left out.",
    .params = params,
    .run = run,
    .local = true,
    .raises = MISHAP_RAISES(TOOL_READING),
    .examples = examples,
    .group = "Documents",
};
