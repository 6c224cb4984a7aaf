/* The `mishap` program: the list of its commands. What they have in common is mishap_main(). */
#include "mishap/cli.h"
#include "tool.h"

const char *tool_dialect_names[TOOL_MOST_DIALECTS + 1];

int main(int argc, char **argv)
{
    const mishap_operation operations[] = { tool_render,  tool_translate, tool_check, tool_catalog,
                                            tool_explain, tool_connect,   { 0 } };
    const mishap_dialect *const *dialects = mishap_dialects();
    for (size_t i = 0; dialects[i] && i < TOOL_MOST_DIALECTS; i++)
        tool_dialect_names[i] = mishap_dialect_name(dialects[i]);
    return mishap_main(
        argc, argv,
        &(mishap_app){ .name = "mishap",
                       .version = MISHAP_VERSION,
                       .summary = "One failure, told right to everyone who must hear of it",
                       .operations = operations });
}
