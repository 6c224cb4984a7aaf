/*
 * mishap mcp-gateway: an MCP server of another program, whose tools fail as ours do.
 * src/mcp/gateway does the work.
 */
#include "audit.h"
#include "mcp/gateway/gateway.h"
#include "mishap/version.h"
#include "operation/call.h"
#include "tool.h"
#include "wrap/wrap.h"

static const mishap_param tool_name = { "tool", MISHAP_STRING, .length = { 1, 256 } };

static const mishap_param header_item = { "header", MISHAP_STRING, .secret = true,
                                          .length = { 3, 8000 } };

static const mishap_param params[] = {
    { "allow", MISHAP_ARRAY, .items = &tool_name, .length = { 0, 1000 }, .placeholder = "TOOL",
      .help = "Offer this tool; once for each. Without it all tools are offered" },
    { "timeout", MISHAP_NUMBER, .range = { 0.1, 86400 }, .initial = "300", .placeholder = "SECONDS",
      .help = "Time for the answer to a request; progress extends it" },
    { "start_timeout", MISHAP_NUMBER, .range = { 0.1, 86400 }, .initial = "60",
      .placeholder = "SECONDS",
      .help = "Time for a server that was started to answer `initialize`" },
    { "to", MISHAP_STRING, .length = { 8, 8000 }, .placeholder = "URL",
      .help = "The server, in place of a command: its endpoint for Streamable HTTP" },
    { "header", MISHAP_ARRAY, .items = &header_item, .length = { 0, 20 },
      .environment = "MISHAP_MCP_HEADER", .placeholder = "@FILE",
      .help = "With --to: a header field for each request, such as Authorization: Bearer TOKEN" },
    { "command", MISHAP_ARRAY, .items = &tool_word, .rest = true,
      .placeholder = "COMMAND...", .help = "The command that starts the server, behind --" },
    { 0 },
};

static const mishap_example examples[] = {
    { "mcp-gateway -- npx -y @modelcontextprotocol/server-everything",
      "The command that an MCP client runs" },
    { "mcp-gateway --allow echo --allow get-sum -- npx -y @modelcontextprotocol/server-everything",
      "With two of its tools" },
    { "mcp-gateway --to https://example.com/mcp --header @token.txt",
      "A server behind HTTP, for a client that speaks over standard input and output" },
    { 0 },
};

static mishap_text *allowed(mishap_call *call, size_t *count)
{
    *count = mishap_count(call, "allow");
    mishap_text *list = *count ? mishap_call_take(call, *count * sizeof *list) : NULL;
    size_t i = 0;
    for (const mishap_call *t = mishap_first(call, "allow"); list && t; t = mishap_next(t))
        list[i++] = (mishap_text){ mishap_string(t, ""), mishap_string_length(t, "") };
    return list;
}

static mishap *run_gateway(mishap_call *call)
{
    int error = 0;
    audit_headers headers;
    const char *url = mishap_string(call, "to");
    const char *const *command = tool_command(call);
    if (!url == !command)
        return mishap_suggest(mishap_raise(INVALID_ARGUMENT, "Give either --to URL or a command."),
                              "Run `mishap mcp-gateway -- COMMAND...` or `mishap mcp-gateway "
                              "--to URL`.");
    mishap *failure = audit_read_headers(call, &headers);
    if (failure)
        return failure;
    mishap_mcp_gateway_settings settings = {
        .program = call->app->name,
        .version = MISHAP_VERSION,
        .argv = command,
        .url = url,
        .headers = headers.list,
        .header_count = headers.count,
        .start_ms = (int64_t)(mishap_number(call, "start_timeout") * 1000),
        .call_ms = (int64_t)(mishap_number(call, "timeout") * 1000),
        .pipe_ignored = tool_origin.pipe_ignored,
        .size_ignored = tool_origin.size_ignored,
    };
    settings.allow = allowed(call, &settings.allow_count);
    call->relayed.set = call->relayed.aside = true;
    failure = mishap_mcp_gateway_run(&settings, &error);
    if (failure)
        call->relayed.exit_code = error ? mishap_wrap_start_status(error)
                                        : mishap_told(failure)->code->exit_code;
    return failure;
}

const mishap_operation tool_mcp_gateway = {
    .name = "mcp-gateway",
    .summary = "Run an MCP server of any program, and tell the failures of its tools as ours",
    .description =
        "An MCP client starts this command in place of the server. Messages pass in both "
        "directions, in every revision. The arguments of a call are held against the inputSchema "
        "of its tool first: all findings are told at once, with the names that may be meant. A "
        "tool that fails is told in the dialect tool-result, without stack traces, credentials and "
        "other insides of the server, and with an incident id under which the operator has the "
        "original (`mishap incidents show`).\n\n"
        "If the server dies, each call in flight is answered at once, and the server is started "
        "again and greeted as the client did. A call is repeated only if its tool is declared "
        "read-only or idempotent.\n\n"
        "The command exits at the end of its input, when all requests are answered, or on SIGTERM "
        "or SIGINT. No process of the server is left.",
    .params = params,
    .run = run_gateway,
    .local = true,
    .resident = true,
    .quotes = true,
    .relays = true,
    .danger = MISHAP_MUTATING, /* what the server does is not known */
    .examples = examples,
    .group = "Other programs",
};
