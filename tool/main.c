/* The `mishap` program: the list of its commands and services. What they have in common is
 * mishap_main(). */
#include "mishap/main.h"
#include "todo/todo.h"
#include "tool.h"

const char *tool_dialect_names[TOOL_MOST_DIALECTS + 1];

int main(int argc, char **argv)
{
    mishap_operation operations[64] = { tool_render,  tool_translate, tool_check,
                                        tool_catalog, tool_explain,   tool_connect };
    size_t count = 6;
    for (const mishap_operation *o = todo_operations; o->name && count < 63; o++)
        operations[count++] = *o;
    const mishap_dialect *const *dialects = mishap_dialects();
    for (size_t i = 0; dialects[i] && i < TOOL_MOST_DIALECTS; i++)
        tool_dialect_names[i] = mishap_dialect_name(dialects[i]);
    return mishap_main(
        argc, argv,
        &(mishap_app){ .name = "mishap",
                       .version = MISHAP_VERSION,
                       .summary = "One failure, told right to everyone who must hear of it",
                       .license = "MIT",
                       .operations = operations });
}
