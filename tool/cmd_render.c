/* mishap render: canonical JSON in, one dialect out. */
#include "tool.h"

static const mishap_param params[] = {
    TOOL_DIALECT("dialect", "The dialect of the output"),
    TOOL_INPUT,
    { 0 },
};

static const mishap_example examples[] = {
    { "render --dialect problem mishap.json", "As application/problem+json" },
    { "render --dialect cli-envelope < mishap.json",
      "Write the error as a command would answer it" },
    { 0 },
};

static mishap *run_render(mishap_call *call)
{
    return tool_retell(call, mishap_dialect_find("canonical"), tool_dialect(call, "dialect"));
}

const mishap_operation tool_render = {
    .name = "render",
    .summary = "Write an error, given as canonical JSON, in a dialect",
    .description = "The input is one error in canonical JSON: an object with a `code`, a `message` "
                   "and other optional members. The output is only the document in the chosen "
                   "dialect, followed by one line feed. Input that is not a canonical error is "
                   "refused; the message names the line and column.",
    .params = params,
    .run = run_render,
    .local = true,
    .raises = MISHAP_RAISES(TOOL_READING),
    .examples = examples,
    .group = "Documents",
};
