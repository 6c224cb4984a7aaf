/*
 * src/program: a program as a whole. The boundaries do not depend on each other; this file adds
 * them to a program as further commands.
 */
#include "mishap/main.h"

#include "base/memory.h"
#include "cli/run/run.h"
#include "http/serve/serve.h"
#include "mcp/transport/http/over_http.h"

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

int mishap_main(int argc, char **argv, const mishap_app *app)
{
    const mishap_operation *ours[] = { &mishap_serve,        &mishap_keys_add,
                                       &mishap_keys_list,    &mishap_keys_remove,
                                       &mishap_keys_disable, &mishap_mcp_command };
    enum { OURS = sizeof ours / sizeof *ours, OF_HTTP = OURS - 1 };
    if (!app)
        return mishap_cli_main(argc, argv, app); /* that one has a way to say it */
    size_t count = 0, first = has_route(app->operations) ? 0 : OF_HTTP;
    size_t last = has_tool(app->operations) ? OURS : OF_HTTP;
    if (last == OURS)
        mishap_http_extend(&mishap_mcp_over_http);
    mishap *broken = mishap_http_routes_declared(app);
    if (!broken)
        broken = mishap_http_headers_declared(app);
    if (broken)
        return mishap_cli_refuse_program(broken);
    if (first == last)
        return mishap_cli_main(argc, argv, app);
    while (app->operations[count].name)
        count++;
    mishap_operation *all = mishap_allocate((count + OURS + 1) * sizeof *all);
    if (!all)
        return mishap_cli_main(argc, argv, app); /* as above */
    memcpy(all, app->operations, count * sizeof *all);
    for (size_t i = first; i < last; i++)
        all[count++] = *ours[i];
    all[count] = (mishap_operation){ 0 };
    mishap_app whole = *app;
    whole.operations = all;
    int status = mishap_cli_main(argc, argv, &whole);
    mishap_service_close_all();
    mishap_release(all);
    return status;
}
