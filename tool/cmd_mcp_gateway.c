/*
 * mishap mcp-gateway: an MCP server of another program, whose tools fail as ours do.
 * src/mcp/gateway does the work.
 */
#include <stdlib.h>

#include "audit.h"
#include "base/json_write.h"
#include "mcp/gateway/http/http.h"
#include "mcp/gateway/process/process.h"
#include "mcp/gateway/process/remote.h"
#include "mishap/version.h"
#include "operation/call.h"
#include "tool.h"
#include "wrap/wrap.h"

static const mishap_param tool_name = { "tool", MISHAP_STRING, .length = { 1, 256 } };

#define HEADER_VARIABLE "MISHAP_MCP_HEADER"
#define URL_VARIABLE    "MISHAP_MCP_URL"

static const mishap_param header_item = { "header", MISHAP_STRING, .secret = true,
                                          .length = { 3, 8000 } };

static const mishap_param params[] = {
    { "allow", MISHAP_ARRAY, .items = &tool_name, .length = { 0, 1000 }, .placeholder = "TOOL",
      .help = "Offer this tool; once for each. Without it all tools are offered" },
    { "timeout", MISHAP_NUMBER, .range = { 0.1, 86400 }, .initial = "300", .placeholder = "SECONDS",
      .help = "Time for the answer to a request; progress extends it, and --timeout-ms can shorten "
              "it" },
    { "start_timeout", MISHAP_NUMBER, .range = { 0.1, 86400 }, .initial = "60",
      .placeholder = "SECONDS",
      .help = "Time for a server that was started to answer `initialize`" },
    { "listen", MISHAP_STRING, .length = { 3, 300 }, .placeholder = "HOST:PORT",
      .pattern = "^(\\[[0-9a-fA-F:.%]+\\]|[^:\\s/\\[\\]]+):[0-9]{1,5}$",
      .looks = "HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080",
      .help = "Serve clients over HTTP at /mcp, in place of standard input and output; port 0 "
              "selects a free port" },
    { "to", MISHAP_STRING, .length = { 8, 8000 }, .environment = URL_VARIABLE, .placeholder = "URL",
      .help = "The server, in place of a command: its endpoint for Streamable HTTP" },
    { "header", MISHAP_ARRAY, .items = &header_item, .length = { 0, 20 },
      .environment = HEADER_VARIABLE, .placeholder = "@FILE",
      .help = "With --to: a header field for each request, such as Authorization: Bearer TOKEN" },
    { "command", MISHAP_ARRAY, .items = &tool_word, .rest = true, .placeholder = "COMMAND...",
      .help = "The command that starts the server, behind --" },
    { 0 },
};

static const mishap_example examples[] = {
    { "mcp-gateway -- npx -y @modelcontextprotocol/server-everything",
      "The command that an MCP client runs" },
    { "mcp-gateway --allow echo --allow get-sum -- npx -y @modelcontextprotocol/server-everything",
      "With two of its tools" },
    { "mcp-gateway --listen 127.0.0.1:8080 -- npx -y @modelcontextprotocol/server-everything",
      "For clients that speak over HTTP, each with a server of its own" },
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

/* -- over HTTP --------------------------------------------------------------------------------- */

struct words {
    const char **list;
    size_t count;
};

static void add_word(struct words *words, const char *word)
{
    words->list[words->count++] = word;
}

/* The command of a gateway for one session, with the same settings. */
static const char *const *gateway_command(mishap_call *call, const char *const *command)
{
    struct words words = { 0 };
    size_t size = 14 + 2 * mishap_count(call, "allow") + mishap_count(call, "command");
    words.list = mishap_call_take(call, size * sizeof *words.list);
    if (!words.list)
        return NULL;
    add_word(&words, call->app->name);
    add_word(&words, "mcp-gateway");
    add_word(&words, "--timeout");
    add_word(&words, mishap_call_print(call, "%g", mishap_number(call, "timeout")));
    add_word(&words, "--start-timeout");
    add_word(&words, mishap_call_print(call, "%g", mishap_number(call, "start_timeout")));
    if (call->timeout_ms) {
        add_word(&words, "--timeout-ms");
        add_word(&words, mishap_call_print(call, "%d", call->timeout_ms));
    }
    for (const mishap_call *t = mishap_first(call, "allow"); t; t = mishap_next(t)) {
        add_word(&words, "--allow");
        add_word(&words, mishap_call_print(call, "%s", mishap_string(t, "")));
    }
    if (command)
        add_word(&words, "--");
    for (size_t i = 0; command && command[i]; i++)
        add_word(&words, command[i]);
    add_word(&words, NULL);
    return words.list;
}

/* The address and the header fields reach the gateways in variables: arguments can be read by other
 * users. */
static mishap *pass_target(const char *url, const audit_headers *headers)
{
    mishap_buffer json = { 0 };
    mishap_json_open(&json, '[');
    for (size_t i = 0; i < headers->count; i++) {
        mishap_buffer line = { 0 };
        mishap_buffer_put_text(&line, mishap_text_of(headers->list[i].name));
        MISHAP_PUT(&line, ": ");
        mishap_buffer_put_text(&line, mishap_text_of(headers->list[i].value));
        json.failed = json.failed || line.failed;
        mishap_json_string(&json, mishap_buffer_text(&line));
        mishap_buffer_release(&line);
    }
    mishap_json_close(&json, ']');
    mishap_buffer_put_char(&json, '\0');
    bool set = !json.failed && setenv(URL_VARIABLE, url, 1) == 0 &&
               (!headers->count || setenv(HEADER_VARIABLE, json.data, 1) == 0);
    mishap_buffer_release(&json);
    return set ? NULL : mishap_out_of_memory();
}

static mishap *serve(mishap_call *call, const char *url, const char *const *command,
                     const audit_headers *headers)
{
    const char *listen = mishap_string(call, "listen"), *colon = strrchr(listen, ':');
    bool brackets = listen[0] == '[';
    long port = strtol(colon + 1, NULL, 10);
    if (port > 65535)
        return mishap_field_range(mishap_raise(VALIDATION_ERROR, NULL), "listen",
                                  mishap_value_of_int(0), mishap_value_of_int(65535),
                                  mishap_value_of_int(port));
    mishap *failure = url ? mishap_mcp_gateway_remote_check(
                                &(mishap_mcp_gateway_settings){ .url = url,
                                                                .headers = headers->list,
                                                                .header_count = headers->count })
                          : NULL;
    if (!failure && url)
        failure = pass_target(url, headers);
    const mishap_mcp_gateway_listen settings = {
        .program = call->app->name,
        .host = mishap_call_print(call, "%.*s", (int)(colon - listen) - 2 * brackets,
                                  listen + brackets),
        .port = (int)port,
        .argv = gateway_command(call, command),
    };
    if (!failure)
        failure = mishap_mcp_gateway_serve(&settings);
    return failure ? failure : mishap_answer_member(call, "stopped", (bool)true);
}

/* -- the command ------------------------------------------------------------------------------- */

static mishap *relay(mishap_call *call, const char *url, const char *const *command,
                     const audit_headers *headers)
{
    int error = 0;
    mishap_mcp_gateway_settings settings = {
        .program = call->app->name,
        .version = MISHAP_VERSION,
        .argv = command,
        .url = url,
        .headers = headers->list,
        .header_count = headers->count,
        .secrets = &headers->secrets,
        .start_ms = (int64_t)(mishap_number(call, "start_timeout") * 1000),
        .call_ms = tool_timeout_ms(call),
        .pipe_ignored = tool_origin.pipe_ignored,
        .size_ignored = tool_origin.size_ignored,
    };
    settings.allow = allowed(call, &settings.allow_count);
    call->relayed.set = call->relayed.aside = true;
    mishap *failure = mishap_mcp_gateway_run(&settings, &error);
    if (failure)
        call->relayed.exit_code = error && !url ? mishap_wrap_start_status(error)
                                                : mishap_told(failure)->code->exit_code;
    return failure;
}

static mishap *run_gateway(mishap_call *call)
{
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
    return mishap_string(call, "listen") ? serve(call, url, command, &headers)
                                         : relay(call, url, command, &headers);
}

const mishap_operation tool_mcp_gateway = {
    .name = "mcp-gateway",
    .summary = "Run an MCP server of any program, and add codes and advice to its failures",
    .description =
        "An MCP client starts this command in place of the server. Messages pass in both "
        "directions, in every revision of MCP. The gateway checks the arguments of each call "
        "against the inputSchema of the tool before the server gets the call: one answer lists "
        "all mistakes, and suggests names for misspelled ones. If a tool fails, the client gets "
        "the failure in the dialect tool-result: without stack traces, credentials and other "
        "internals of the server, and with an incident id. With this id the operator finds the "
        "original failure (`mishap incidents show ID`).\n\n"
        "If the server dies, the gateway answers each open call at once with a failure, starts "
        "the server again and repeats the `initialize` of the client. It repeats a call only if "
        "the tool is declared read-only or idempotent.\n\n"
        "With --to the gateway reaches the server over HTTP, and starts no command. With --listen "
        "clients reach the gateway over HTTP; each session of a client then has a server of its "
        "own.\n\n"
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
