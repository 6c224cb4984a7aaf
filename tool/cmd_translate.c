/* mishap translate: one dialect in, another out; or the error response of another server in. */
#include "tool.h"

#include "base/buffer.h"
#include "upstream/upstream.h"

static const mishap_param params[] = {
    { .name = "from",
      .type = MISHAP_ENUM,
      .required = true,
      .choices = tool_source_names,
      .placeholder = "NAME",
      .help = "The dialect of the input; upstream: the error response of another server" },
    TOOL_DIALECT("to", "The dialect of the output"),
    { "status", MISHAP_INTEGER, .range = { 400, 599 }, .placeholder = "N",
      .help = "The HTTP status of the response, if it has no head" },
    { "content_type", MISHAP_STRING, .length = { 1, 200 }, .placeholder = "TYPE",
      .help = "The content type of the response, if it has no head" },
    TOOL_INPUT,
    { 0 },
};

static const mishap_example examples[] = {
    { "translate --from http-api --to json-rpc answer.json",
      "Convert an HTTP API error to a JSON-RPC error" },
    { "translate --from condition-report --to canonical < report",
      "Convert a condition report to JSON" },
    { "translate --from upstream --status 502 --content-type text/html --to problem page.html",
      "Convert the error page of a proxy to a problem document" },
    { 0 },
};

static mishap *refuse_success(int status)
{
    mishap *m = mishap_raise(MALFORMED_INPUT, "The response has status %d, which is no error.",
                             status);
    return mishap_suggest(m, "Give a response of 400 or above; --status replaces the status.");
}

/* The response of a server: any body is understood. */
static mishap *retell_response(mishap_call *call)
{
    mishap *m = NULL;
    mishap_buffer input = { 0 };
    mishap *failure = tool_read_input(mishap_string(call, "input"), &input);
    if (!failure) {
        mishap_upstream_response response = { .body = mishap_buffer_text(&input) };
        mishap_upstream_split(response.body, &response);
        bool success = response.status > 0 && response.status < 400;
        if (mishap_given(call, "status"))
            response.status = (int)mishap_integer(call, "status");
        if (mishap_given(call, "content_type"))
            response.content_type = mishap_text_of(mishap_string(call, "content_type"));
        failure = success && !mishap_given(call, "status")
                      ? refuse_success(response.status)
                      : mishap_upstream_read(&response, &m, NULL);
    }
    if (!failure)
        failure = tool_answer_mishap(call, m, tool_dialect(call, "to"));
    mishap_free(m);
    mishap_buffer_release(&input);
    return failure;
}

/* A document of a dialect says itself what it is. */
static mishap *refuse_head(mishap_call *call)
{
    static const char *const names[] = { "status", "content_type" };
    mishap *m = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!mishap_given(call, names[i]))
            continue;
        m = mishap_field_add(m ? m : mishap_raise(ARG_ERROR, NULL),
                             &(mishap_field){ .field = mishap_text_of(names[i]),
                                              .error = MISHAP_TEXT("unknown_field") });
        m = mishap_field_says(m, "--%s is for --from upstream only.",
                              i == 0 ? "status" : "content-type");
    }
    return m;
}

static mishap *run_translate(mishap_call *call)
{
    const mishap_dialect *from = tool_dialect(call, "from");
    if (!from)
        return retell_response(call);
    mishap *refused = refuse_head(call);
    if (refused)
        return refused;
    return tool_retell(call, from, tool_dialect(call, "to"));
}

const mishap_operation tool_translate = {
    .name = "translate",
    .summary = "Convert an error from one dialect to another",
    .description =
        "The command is tolerant: a document that breaks a rule of its dialect is still translated "
        "if it identifies the error. Information that the other dialect cannot express is "
        "omitted.\n\nWith --from upstream the input is an error response of a web framework or "
        "proxy in its own shape: with its head, as `curl -i` prints it, or its body alone. A body "
        "of an "
        "unknown shape becomes the code of its status. What shows the inside of the other program "
        "is left out.",
    .params = params,
    .run = run_translate,
    .local = true,
    .raises = MISHAP_RAISES(ARG_ERROR, TOOL_READING),
    .examples = examples,
    .group = "Documents",
};
