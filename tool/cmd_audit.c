/*
 * mishap audit: judge the error responses of an HTTP server, an MCP server or a command. Each of
 * the three commands starts programs or sends requests, so they are for the command line only.
 */
#include "audit.h"

#include <sys/stat.h>

#include "audit/cli/cli.h"
#include "audit/http/http.h"
#include "audit/mcp/mcp.h"

const char *audit_form_names[AUDIT_MOST_FORMS + 1];

/* -- parameters -------------------------------------------------------------------------------- */

static const mishap_param header_item = { "header", MISHAP_STRING, .secret = true,
                                          .length = { 3, 8000 } };

#define HEADER                                                                                     \
    {                                                                                              \
        .name = "header", .type = MISHAP_ARRAY, .items = &header_item, .length = { 0, 20 },        \
        .environment = "MISHAP_AUDIT_HEADER", .placeholder = "@FILE",                              \
        .help = "A header field for each request, such as Authorization: Bearer TOKEN; its value " \
                "is in no report"                                                                  \
    }

/* What all three commands take; the words are for requests, or for runs of a command. */
#define COMMON(DRY, MOST, RATE)                                                                    \
    { "fail_under", MISHAP_INTEGER, .range = { 0, 100 }, .placeholder = "N",                       \
      .help = "Fail if the score is below N, instead of at each failed check; 0: never fail" },    \
        { "baseline", MISHAP_STRING, .file = true, .placeholder = "FILE",                          \
          .help = "Fail only for findings that this file does not have" },                         \
        { "write_baseline", MISHAP_STRING, .file = true, .placeholder = "FILE",                    \
          .help = "Write all findings into this file, and do not fail for them" },                 \
        { "format", MISHAP_ENUM, .choices = audit_form_names, .placeholder = "FORMAT",             \
          .help = "Print this form of the report, or write it into the file of --report" },        \
        { "report", MISHAP_STRING, .file = true, .placeholder = "FILE",                            \
          .help = "Write the report into this file; without --format as JSON" },                   \
        { "location", MISHAP_STRING, .file = true, .placeholder = "FILE",                          \
          .help = "The source file that SARIF and GitHub reports point at" },                      \
        { "dry_run", MISHAP_BOOLEAN, .help = DRY },                                                \
        { "max_requests",   MISHAP_INTEGER,     .range = { 1, 100000 },                            \
          .initial = "300", .placeholder = "N", .help = MOST },                                    \
        { "rate",          MISHAP_NUMBER,      .range = { 0.1, 10000 },                            \
          .initial = "20", .placeholder = "N", .help = RATE },                                     \
    {                                                                                              \
        "time_limit", MISHAP_INTEGER, .range = { 1, 600 }, .initial = "10",                        \
                                      .placeholder = "SECONDS",                                    \
                                      .help = "Time for each request or run"                       \
    }

#define REQUESTS                                                                                   \
    COMMON("Show each request, and send none", "Requests at most", "Requests a second at most")
#define RUNS COMMON("Show each run, and start none", "Runs at most", "Runs a second at most")

static const mishap_param http_params[] = {
    { "url", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 2000 },
      .help = "The server: http:// or https://" },
    { "openapi", MISHAP_STRING, .file = true, .placeholder = "FILE",
      .help = "The OpenAPI document in JSON; by default /openapi.json of the server" },
    { "allow_writes", MISHAP_BOOLEAN,
      .help = "Send POST, PUT, PATCH and DELETE, too; the server may carry them out" },
    HEADER,
    REQUESTS,
    { 0 },
};

static const mishap_param mcp_params[] = {
    { "url", MISHAP_STRING, .positional = true, .length = { 1, 2000 },
      .help = "The endpoint of the server: http:// or https://" },
    { "command", MISHAP_ARRAY, .rest = true, .items = &tool_word, .placeholder = "COMMAND...",
      .help = "A server that speaks over standard input and output" },
    { "allow_destructive", MISHAP_BOOLEAN, .help = "Call tools that may destroy data, too" },
    HEADER,
    REQUESTS,
    { 0 },
};

static const mishap_param cli_params[] = {
    { "command", MISHAP_ARRAY, .rest = true, .required = true, .items = &tool_word,
      .length = { 1, 0 }, .placeholder = "COMMAND...",
      .help = "The command, and words that every run begins with" },
    RUNS,
    { 0 },
};

/* The command as one line, for reports. */
static const char *command_line(mishap_call *call, const char *const *words)
{
    const char *line = "";
    for (size_t i = 0; words && words[i]; i++)
        line = mishap_call_print(call, "%s%s%s", line, i ? " " : "", words[i]);
    return line;
}

/* The file that reports point at: the first word that names a file below this folder, such as the
 * script in `node server.mjs`; else the command. */
static const char *command_file(const char *const *words)
{
    struct stat found;
    for (size_t i = 0; words && words[i]; i++)
        if (words[i][0] != '/' && stat(words[i], &found) == 0 && S_ISREG(found.st_mode))
            return words[i];
    return words ? words[0] : NULL;
}

/* -- header fields ----------------------------------------------------------------------------- */

/* A token of RFC 9110. */
static bool is_token(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (!c || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return length > 0;
}

/* The value as a whole, and what follows its first word: the token behind `Bearer`. */
static void hide_value(mishap_secrets *secrets, const char *value)
{
    const char *space = strchr(value, ' ');
    mishap_secrets_add_text(secrets, mishap_text_of(value));
    if (space)
        mishap_secrets_add_text(secrets, mishap_text_of(space + 1));
}

mishap *audit_read_headers(mishap_call *call, audit_headers *headers)
{
    size_t count = mishap_count(call, "header");
    *headers = (audit_headers){ 0 };
    if (!count)
        return NULL;
    headers->list = mishap_call_take(call, count * sizeof *headers->list);
    headers->secrets.texts = mishap_call_take(call, 2 * count * sizeof *headers->secrets.texts);
    for (const mishap_call *h = mishap_first(call, "header"); h; h = mishap_next(h)) {
        const char *line = mishap_string(h, ""), *colon = strchr(line, ':');
        const char *value = colon ? colon + 1 + strspn(colon + 1, " \t") : "";
        if (!colon || !is_token(line, (size_t)(colon - line)) || !*value ||
            value[strcspn(value, "\r\n")] || strlen(line) != mishap_string_length(h, ""))
            return mishap_suggest(
                mishap_raise(INVALID_ARGUMENT,
                             "Value %zu of --header is not a header field of the form `Name: "
                             "value`.",
                             headers->count + 1),
                "Write a name, a colon and a value on one line, such as `Authorization: Bearer "
                "TOKEN`.");
        mishap_client_header *header = &headers->list[headers->count++];
        header->name = mishap_call_print(call, "%.*s", (int)(colon - line), line);
        header->value = mishap_call_print(call, "%s", value);
        hide_value(&headers->secrets, header->value);
    }
    headers->secrets.any_case = true; /* a server may repeat them in small letters */
    mishap_secrets_sort(&headers->secrets);
    return NULL;
}

static int limit_ms(mishap_call *call)
{
    return (int)mishap_integer(call, "time_limit") * 1000;
}

/* "localhost:8080" alone is no address of a server. One with a password is not repeated. */
static mishap *require_scheme(const char *url)
{
    if (strstr(url, "://") || strchr(url, '@') || strlen(url) > 200)
        return NULL;
    return mishap_suggest(
        mishap_raise(INVALID_ARGUMENT, "The URL `%s` has no scheme: write http://%s.", url, url),
        "Give an address that begins with http:// or https://.");
}

/* -- the three commands ------------------------------------------------------------------------ */

static mishap *audit_http(mishap_audit *audit, const void *target)
{
    return mishap_audit_http(audit, target);
}

static mishap *run_http(mishap_call *call)
{
    audit_headers headers;
    mishap *failure = require_scheme(mishap_string(call, "url"));
    if (!failure)
        failure = audit_read_headers(call, &headers);
    if (failure)
        return failure;
    const mishap_audit_http_target target = { .url = mishap_string(call, "url"),
                                              .openapi = mishap_string(call, "openapi"),
                                              .allow_writes = mishap_boolean(call, "allow_writes"),
                                              .headers = headers.list,
                                              .header_count = headers.count,
                                              .request_ms = limit_ms(call) };
    return audit_run(call, &(audit_task){ MISHAP_AUDIT_HTTP, mishap_audit_http_checks, target.url,
                                          target.openapi, &headers.secrets, audit_http, &target });
}

static mishap *audit_mcp(mishap_audit *audit, const void *target)
{
    return mishap_audit_mcp(audit, target);
}

static mishap *run_mcp(mishap_call *call)
{
    audit_headers headers;
    const char *url = mishap_string(call, "url");
    const char *const *command = tool_command(call);
    if (!url == !command)
        return mishap_suggest(mishap_raise(INVALID_ARGUMENT, "Give either a URL or a command."),
                              "Run `mishap audit mcp URL` or `mishap audit mcp -- COMMAND...`.");
    mishap *failure = url ? require_scheme(url) : NULL;
    if (!failure)
        failure = audit_read_headers(call, &headers);
    if (failure)
        return failure;
    const mishap_audit_mcp_target target = { .url = url,
                                             .argv = command,
                                             .allow_destructive = mishap_boolean(
                                                 call, "allow_destructive"),
                                             .headers = headers.list,
                                             .header_count = headers.count,
                                             .request_ms = limit_ms(call) };
    return audit_run(call,
                     &(audit_task){ MISHAP_AUDIT_MCP, mishap_audit_mcp_checks,
                                    url ? url : command_line(call, command), command_file(command),
                                    &headers.secrets, audit_mcp, &target });
}

static mishap *audit_cli(mishap_audit *audit, const void *target)
{
    return mishap_audit_cli(audit, target);
}

static mishap *run_cli(mishap_call *call)
{
    const mishap_audit_cli_target target = { .argv = tool_command(call), .run_ms = limit_ms(call) };
    return audit_run(call, &(audit_task){ MISHAP_AUDIT_CLI, mishap_audit_cli_checks,
                                          command_line(call, target.argv),
                                          command_file(target.argv), NULL, audit_cli, &target });
}

/* -- declarations ------------------------------------------------------------------------------ */

/* Reading and writing files, reaching a server, starting a command. */
const mishap_code *const audit_raises[] = {
    MISHAP_CODE_NONCONFORMING,
    MISHAP_CODE_PRECONDITION,
    MISHAP_CODE_INVALID_ARGUMENT,
    MISHAP_CODE_MALFORMED_INPUT,
    MISHAP_CODE_INPUT_UNREADABLE,
    MISHAP_CODE_CONTENT_TOO_LARGE,
    MISHAP_CODE_OUTPUT_FAILED,
    MISHAP_CODE_NOT_CONFIGURED,
    MISHAP_CODE_CONNECTION_REFUSED,
    MISHAP_CODE_CONNECTION_TIMEOUT,
    MISHAP_CODE_HOST_NOT_FOUND,
    MISHAP_CODE_GATEWAY_TIMEOUT,
    MISHAP_CODE_UNAVAILABLE,
    MISHAP_CODE_BAD_GATEWAY,
    MISHAP_CODE_NOT_FOUND,
    MISHAP_CODE_NOT_AUTHORIZED,
    NULL,
};

#define JUDGEMENT                                                                                  \
    "\n\nEach check is passed, failed, advice or undecided. The score is the part of the decided " \
    "checks that passed, in percent; advice and undecided checks do not count. A leak of high "    \
    "confidence makes the score 0.\n\nThe exit code is 79 (NONCONFORMING) if a check failed; "     \
    "with "                                                                                        \
    "--fail-under N only if the score is below N; with --baseline FILE only if there is a "        \
    "finding "                                                                                     \
    "that the file does not have. It is 4 (PRECONDITION) if no check could be decided. "           \
    "--write-baseline and --dry-run do not fail. docs/audit.md lists the checks."

enum { LONGEST_MS = 3600 * 1000 };

static const mishap_example http_examples[] = {
    { "audit http http://127.0.0.1:8080 --dry-run", "Show what would be sent" },
    { "audit http http://127.0.0.1:8080 --openapi openapi.json --allow-writes",
      "Judge all operations of an API" },
    { "audit http http://127.0.0.1:8080 --format sarif --report audit.sarif", "For code scanning" },
    { 0 },
};

const mishap_operation tool_audit_http = {
    .name = "audit.http",
    .summary = "Judge the error responses of an HTTP server",
    .description =
        "Sends malformed, incomplete and unknown requests to a server and judges its error "
        "responses: their status, shape, words and header fields, and whether they leak. "
        "Methods that write are sent only with --allow-writes; what was created is "
        "listed." JUDGEMENT,
    .params = http_params,
    .run = run_http,
    .danger = MISHAP_MUTATING,
    .local = true,
    .quotes = true,
    .judges = true,
    .raises = audit_raises,
    .timeout_ms = LONGEST_MS,
    .examples = http_examples,
    .group = "Audit",
};

static const mishap_example mcp_examples[] = {
    { "audit mcp http://127.0.0.1:8080/mcp", "Judge a server over HTTP" },
    { "audit mcp -- node server.mjs", "Judge a server that is a command" },
    { 0 },
};

const mishap_operation tool_audit_mcp = {
    .name = "audit.mcp",
    .summary = "Judge the errors of an MCP server",
    .description =
        "Calls tools with arguments that their schema refuses, sends unknown methods and malformed "
        "messages, and judges the errors. A tool that does not declare readOnlyHint is called only "
        "with arguments that its schema refuses, a destructive one only with "
        "--allow-destructive." JUDGEMENT,
    .params = mcp_params,
    .run = run_mcp,
    .danger = MISHAP_MUTATING,
    .local = true,
    .quotes = true,
    .judges = true,
    .raises = audit_raises,
    .timeout_ms = LONGEST_MS,
    .examples = mcp_examples,
    .group = "Audit",
};

static const mishap_example cli_examples[] = {
    { "audit cli -- git", "Judge a command" },
    { "audit cli --format junit --report audit.xml -- ./mytool", "For a build server" },
    { 0 },
};

const mishap_operation tool_audit_cli = {
    .name = "audit.cli",
    .summary = "Judge the errors of a command",
    .description =
        "Runs a command with an unknown flag, for its help, with a closed output and others, each "
        "time with an empty home, folder and standard input and a time limit, and judges what it "
        "prints and how it exits. The command must be one that does no harm without "
        "arguments." JUDGEMENT,
    .params = cli_params,
    .run = run_cli,
    .danger = MISHAP_MUTATING,
    .local = true,
    .quotes = true,
    .judges = true,
    .raises = audit_raises,
    .timeout_ms = LONGEST_MS,
    .examples = cli_examples,
    .group = "Audit",
};
