/*
 * src/program: a program as a whole. The boundaries do not depend on each other; this file adds
 * them to a program as further commands, and the operations of the operator.
 */
#include "mishap/main.h"

#include "base/memory.h"
#include "cli/run/run.h"
#include "http/serve/serve.h"
#include "index/index.h"
#include "mcp/transport/http/over_http.h"
#include "operator/operator.h"
#include "pages/pages.h"
#include "otlp/otlp.h"
#include "task/commands/commands.h"
#include "task/task.h"

static bool has_route(const mishap_operation *operations)
{
    for (; operations && operations->name; operations++)
        if (operations->route)
            return true;
    return false;
}

static bool has_tool(const mishap_operation *operations)
{
    for (; operations && operations->name; operations++)
        if (!operations->local && !operations->resident && !operations->chaos)
            return true;
    return false;
}

/* A program that has an operation `incidents.…` of its own, or a route there, keeps it. */
static bool has_incidents(const mishap_operation *operations)
{
    static const char name[] = "incidents.";
    for (; operations && operations->name; operations++) {
        const char *path = operations->route ? strchr(operations->route, '/') : NULL;
        if (strncmp(operations->name, name, sizeof name - 1) == 0 ||
            (path && strncmp(path, "/incidents", 10) == 0))
            return true;
    }
    return false;
}

/* A program that has an operation `tasks…` of its own keeps it. */
static bool wants_task_commands(const mishap_operation *operations)
{
    bool any = mishap_http_has_tasks(operations);
    for (; any && operations->name; operations++)
        any = strncmp(operations->name, "tasks.", 6) != 0 && strcmp(operations->name, "tasks") != 0;
    return any;
}

/* The operations of a program, and behind them ours; NULL: no memory. */
static mishap_operation *put_together(const mishap_app *app)
{
    const mishap_operation *ours[] = { &mishap_serve,        &mishap_keys_add,
                                       &mishap_keys_list,    &mishap_keys_remove,
                                       &mishap_keys_disable, &mishap_keys_import,
                                       &mishap_keys_block,   &mishap_keys_unblock,
                                       &mishap_mcp_command };
    enum { OURS = sizeof ours / sizeof *ours, OF_HTTP = OURS - 1 };
    size_t count = 0, first = has_route(app->operations) ? 0 : OF_HTTP;
    size_t last = has_tool(app->operations) ? OURS : OF_HTTP;
    while (app->operations[count].name)
        count++;
    mishap_operation *all = mishap_allocate(
        (count + OURS + MISHAP_OPERATOR_COUNT + MISHAP_TASK_COMMANDS + 1) * sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, app->operations, count * sizeof *all);
    for (size_t i = first; i < last; i++)
        all[count++] = *ours[i];
    if (!has_incidents(app->operations))
        for (size_t i = 0; i < MISHAP_OPERATOR_COUNT; i++)
            all[count++] = mishap_operator_operations[i];
    if (wants_task_commands(app->operations))
        for (size_t i = 0; i < MISHAP_TASK_COMMANDS; i++)
            all[count++] = mishap_task_commands[i];
    all[count] = (mishap_operation){ 0 };
    return all;
}

/* As its author declared it, for declare_server(). */
static const mishap_app *declared;

/* What serves the program beside its operations, and whether that fits these: NULL, or
 * NOT_CONFIGURED. Only `serve` needs it. */
static mishap *declare_server(void)
{
    const mishap_operation *operations = declared->operations;
    if (has_route(operations))
        mishap_http_extend(&mishap_pages_over_http);
    if (has_tool(operations))
        mishap_http_extend(&mishap_mcp_over_http);
    mishap_http_extend(&mishap_otlp_over_http);
    if (mishap_http_has_tasks(operations))
        mishap_http_extend(&mishap_tasks_over_http);
    MISHAP_TRY(mishap_http_routes_declared(declared));
    return mishap_http_headers_declared(declared);
}

/* The build of a program may have checked that. */
static mishap *check_server(const mishap_app *app)
{
    declared = app;
    mishap_cli_check_more = app->checked ? declare_server : NULL;
    return app->checked ? NULL : declare_server();
}

int mishap_main(int argc, char **argv, const mishap_app *app)
{
    if (!app)
        return mishap_cli_main(argc, argv, app); /* that one has a way to say it */
    mishap_index_use(app->incident_store);
    if (mishap_http_has_tasks(app->operations))
        mishap_cli_detach = mishap_task_detach;
    mishap *broken = check_server(app);
    if (broken)
        return mishap_cli_refuse_program(broken);
    if (!app->operations || !app->operations[0].name)
        return mishap_cli_main(argc, argv, app); /* the same */
    mishap_operation *all = put_together(app);
    if (!all)
        return mishap_cli_main(argc, argv, app); /* as above */
    mishap_app whole = *app;
    whole.operations = all;
    int status = mishap_cli_main(argc, argv, &whole);
    mishap_service_close_all();
    mishap_release(all);
    return status;
}
