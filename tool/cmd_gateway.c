/*
 * mishap gateway: nginx with the filter for errors, in front of servers that cannot be changed.
 * src/gateway does the work.
 */
#include "gateway/gateway.h"
#include "tool.h"

enum { MOST_SECONDS = 24 * 3600 };

/* The values of settings are checked by src/gateway, so that what is wrong with them is told
 * together with what nginx lacks. */
static const mishap_param params[] = {
    { "to", MISHAP_STRING, .required = true, .length = { 1, 8000 }, .placeholder = "URL,URL...",
      .help = "The servers behind: http://HOST:PORT, https://HOST or http://unix:/PATH" },
    { "listen", MISHAP_STRING, .initial = "\"127.0.0.1:8080\"", .length = { 1, 300 },
      .placeholder = "HOST:PORT",
      .help = "Address and port to listen on; port 0 selects a free port" },
    { "dialect", MISHAP_STRING, .initial = "\"http-api\"", .length = { 1, 100 },
      .placeholder = "NAME",
      .help = "The dialect of errors, if the request accepts no other: http-api, problem, "
              "json-api ..." },
    { "incident_log", MISHAP_STRING, .length = { 1, 4000 }, .file = true, .placeholder = "FILE",
      .help = "The log of incidents; off: none; by default gateway.log in the state folder of the "
              "user" },
    { "timeout", MISHAP_INTEGER, .range = { 1, MOST_SECONDS }, .initial = "60",
      .placeholder = "SECONDS", .help = "How long a server behind may be silent" },
    { "stop_timeout", MISHAP_INTEGER, .range = { 1, MOST_SECONDS }, .initial = "10",
      .placeholder = "SECONDS", .help = "Timeout for requests in progress when the gateway stops" },
    { "nginx", MISHAP_STRING, .length = { 1, 4000 }, .file = true, .placeholder = "FILE",
      .help = "The program nginx; by default it is looked for in PATH and in /usr/sbin" },
    { "module", MISHAP_STRING, .length = { 1, 4000 }, .file = true, .placeholder = "FILE",
      .help = "The file ngx_http_mishap_module.so; by default the one that is installed with this "
              "program" },
    { 0 },
};

static const mishap_example examples[] = {
    { "gateway --to http://127.0.0.1:3000", "Errors of one server, told at port 8080" },
    { "gateway --to http://10.0.0.11:3000,http://10.0.0.12:3000 --listen 0.0.0.0:80",
      "Two servers, for other machines" },
    { "gateway --to https://api.example.com --dialect problem", "As problem documents" },
    { 0 },
};

static mishap *run_gateway(mishap_call *call)
{
    mishap *failure = mishap_gateway_run(
        &(mishap_gateway_wish){ .program = "mishap",
                                .to = mishap_string(call, "to"),
                                .listen = mishap_string(call, "listen"),
                                .dialect = mishap_string(call, "dialect"),
                                .incidents = mishap_string(call, "incident_log"),
                                .nginx = mishap_string(call, "nginx"),
                                .module = mishap_string(call, "module"),
                                .timeout_s = (int)mishap_integer(call, "timeout"),
                                .stop_s = (int)mishap_integer(call, "stop_timeout") });
    return failure ? failure : mishap_answer_member(call, "stopped", (bool)true);
}

const mishap_operation tool_gateway = {
    .name = "gateway",
    .summary = "Run nginx in front of servers, and write all their errors in one format",
    .description =
        "A success passes untouched, with streams, ranges, WebSockets and bodies of any size. An "
        "error leaves in one dialect, with a code of the catalog and field errors in one form, and "
        "without what must not leak. The log of incidents keeps the original.\n\n"
        "nginx runs in the foreground, with a configuration that is written to a temporary folder "
        "and with the module ngx_http_mishap_module. Requests of safe methods are sent to another "
        "server if one fails; others are never sent twice.\n\n"
        "On SIGTERM or SIGINT the gateway refuses new connections, and exits after the requests in "
        "progress are answered; a second signal stops it at once. SIGHUP has nginx look up the "
        "names of servers again; connections stay open. SIGUSR1 opens the log again. If nginx, the "
        "module or a setting is not as it should be, the exit code is 78, and the error has all "
        "findings.",
    .params = params,
    .run = run_gateway,
    .raises = MISHAP_RAISES(UNAVAILABLE, NOT_CONFIGURED),
    .local = true,
    .resident = true,
    .danger = MISHAP_MUTATING,
    .examples = examples,
    .group = "Other programs",
};
