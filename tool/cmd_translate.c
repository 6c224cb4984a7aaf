/* mishap translate: one dialect in, another out. */
#include "tool.h"

static const mishap_param params[] = {
    TOOL_DIALECT("from", "The dialect of the input"),
    TOOL_DIALECT("to", "The dialect of the output"),
    TOOL_INPUT,
    { 0 },
};

static const mishap_example examples[] = {
    { "translate --from http-api --to json-rpc answer.json",
      "Convert an HTTP API error to a JSON-RPC error" },
    { "translate --from condition-report --to canonical < report",
      "Convert a condition report to JSON" },
    { 0 },
};

static mishap *run_translate(mishap_call *call)
{
    return tool_retell(call, tool_dialect(call, "from"), tool_dialect(call, "to"));
}

const mishap_operation tool_translate = {
    .name = "translate",
    .summary = "Convert an error from one dialect to another",
    .description =
        "The command is tolerant: a document that breaks a rule of its dialect is still translated "
        "if it identifies the error. Information that the other dialect cannot express is omitted.",
    .params = params,
    .run = run_translate,
    .local = true,
    .raises = MISHAP_RAISES(TOOL_READING),
    .examples = examples,
    .group = "Documents",
};
