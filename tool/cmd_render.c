/* mishap render: canonical JSON in, one dialect out. */
#include "tool.h"

static const mishap_param params[] = {
    TOOL_DIALECT("dialect", "The dialect to tell it in"),
    TOOL_INPUT,
    { 0 },
};

static const mishap_example examples[] = {
    { "render --dialect problem mishap.json", "As application/problem+json" },
    { "render --dialect cli-envelope < mishap.json", "As a command would answer" },
    { 0 },
};

static mishap *run(mishap_call *call)
{
    return tool_retell(call, mishap_dialect_find("canonical"), tool_dialect(call, "dialect"));
}

const mishap_operation tool_render = {
    .name = "render",
    .summary = "Tell a mishap, given as canonical JSON, in a dialect",
    .description = "The input is one mishap in the canonical form: an object with a `code`, a "
                   "`message` and whatever else "
                   "is known of it. The answer is the document of that dialect and nothing else, "
                   "one line feed behind it. "
                   "Input that cannot be read as a mishap is refused with its line and column.",
    .params = params,
    .run = run,
    .local = true,
    .raises = MISHAP_RAISES(TOOL_READING),
    .examples = examples,
    .group = "Documents",
};
