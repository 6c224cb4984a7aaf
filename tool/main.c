/* The `mishap` program: the list of its commands and services. What they have in common is
 * mishap_main(). */
#include <stdio.h>

#include "artifacts/artifacts.h"
#include "audit.h"
#include "audit/report/report.h"
#include "base/memory.h"
#include "lisp/lisp.h"
#include "mishap/main.h"
#include "mishap/store.h"
#include "mishap/version.h"
#include "symbolic/symbolic.h"
#include "todo/todo.h"
#include "tool.h"
#include "wrap/wrap.h"

const char *tool_dialect_names[TOOL_MOST_DIALECTS + 1];
const char *tool_source_names[TOOL_MOST_DIALECTS + 2];

/* False if there are more than the parameters have room for. */
static bool name_dialects(void)
{
    const mishap_dialect *const *dialects = mishap_dialects();
    size_t count = 0;
    for (; dialects[count] && count < TOOL_MOST_DIALECTS; count++)
        tool_dialect_names[count] = tool_source_names[count] = mishap_dialect_name(dialects[count]);
    tool_source_names[count] = "upstream";
    return !dialects[count];
}

/* The same for the forms of reports. */
static bool name_forms(void)
{
    size_t count = 0;
    for (; mishap_audit_forms[count].name && count < AUDIT_MOST_FORMS; count++)
        audit_form_names[count] = mishap_audit_forms[count].name;
    return !mishap_audit_forms[count].name;
}

/* The commands and the operations of the services in one list, which ends with { 0 }; NULL without
 * memory. */
static mishap_operation *list_operations(void)
{
    const mishap_operation *const commands[] = {
        &tool_render,    &tool_translate, &tool_check,  &tool_scan,    &tool_catalog,
        &tool_explain,   &tool_connect,   &tool_doctor, &tool_health,  &tool_audit_http,
        &tool_audit_mcp, &tool_audit_cli, &tool_wrap,   &tool_gateway, &tool_mcp_gateway
    };
    enum { COMMANDS = sizeof commands / sizeof *commands };
    static const mishap_operation *const services[] = { todo_operations, lisp_operations,
                                                        artifacts_operations, symbolic_operations };
    enum { SERVICES = sizeof services / sizeof *services };
    size_t count = COMMANDS;
    for (size_t i = 0; i < SERVICES; i++)
        for (const mishap_operation *o = services[i]; o->name; o++)
            count++;
    mishap_operation *all = mishap_allocate((count + 1) * sizeof *all), *next = all;
    for (size_t i = 0; all && i < COMMANDS; i++)
        *next++ = *commands[i];
    for (size_t i = 0; all && i < SERVICES; i++)
        for (const mishap_operation *o = services[i]; o->name; o++)
            *next++ = *o;
    if (all)
        *next = (mishap_operation){ 0 };
    return all;
}

/* A mistake of the build: there is no program yet that could report it in an envelope. */
static int refuse_start(const char *why)
{
    fprintf(stderr, "mishap: %s\n", why);
    return MISHAP_CODE_INTERNAL_ERROR->exit_code;
}

int main(int argc, char **argv)
{
    mishap_wrap_look(&tool_origin);
    if (!name_dialects() || !name_forms())
        return refuse_start(
            "This build has more dialects or forms of reports than tool/tool.h has room for.");
    mishap_operation *operations = list_operations();
    if (!operations)
        return refuse_start("Not enough memory for the list of commands.");
    int status = mishap_main(
        argc, argv,
        &(mishap_app){ .name = "mishap",
                       .version = MISHAP_VERSION,
                       .summary = "Tell one failure to people, programs, HTTP clients and agents, "
                                  "each in its own format",
                       .license = "MIT",
                       .operations = operations,
                       .services = MISHAP_SERVICES(&todo_service, &lisp_service, &artifacts_service,
                                                   &symbolic_service),
                       .incident_store = &mishap_incidents_in_postgresql,
                       .scopes = todo_scopes,
                       .cluster = &mishap_cluster_in_postgresql,
                       .task_store = &mishap_tasks_in_store,
                       .checked = true }); /* the manual page is built (tool/meson.build) */
    mishap_release(operations);
    return status;
}
