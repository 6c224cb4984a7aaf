/*
 * mishap scan: look for leaks in any text, such as the answers or the log of another program. It
 * reads in constant memory; the answer lists the findings up to a fixed number, and counts all.
 */
#include "tool.h"

#include <stdio.h>

#include "base/json_write.h"
#include "cli/screen/width.h"
#include "guard/leak.h"
#include "operation/call.h"

enum { LISTED = 10000 };

static const char *const confidences[] = { "medium", "high", NULL };

static const mishap_param params[] = {
    { "least", MISHAP_ENUM, .choices = confidences, .initial = "\"medium\"",
      .placeholder = "CONFIDENCE", .help = "Lowest confidence of the findings that are reported" },
    TOOL_INPUT,
    { 0 },
};

static const mishap_example examples[] = {
    { "scan answer.json", "The leaks in a saved response" },
    { "scan --least high -", "Only findings of high confidence, from standard input" },
    { 0 },
};

struct findings {
    mishap_leak_confidence least;
    mishap_leak_stream *stream;
    mishap_buffer list;  /* as a JSON array */
    mishap_buffer lines; /* for a person: one of each finding */
    size_t columns;      /* of the terminal; 0: lines are not cut */
    size_t bytes, listed, count[2], kinds[MISHAP_LEAK_KINDS];
};

/* "high    credential   4:1       password=[redacted]" */
static void put_line(struct findings *findings, const mishap_leak *leak, const char *place)
{
    char head[128];
    size_t most = findings->columns, used;
    snprintf(head, sizeof head, "%-6s  %-11s  %-8s  ",
             mishap_leak_confidence_names[leak->confidence], mishap_leak_kind_names[leak->kind],
             place);
    used = strlen(head);
    mishap_buffer_put_text(&findings->lines, mishap_text_of(head));
    mishap_cli_put_shown(&findings->lines, leak->excerpt,
                         !most             ? MISHAP_CLI_ANY_WIDTH
                         : most > used + 1 ? most - used
                                           : 1,
                         MISHAP_CLI_ONE_LINE);
    MISHAP_PUT(&findings->lines, "\n");
}

static void list_leak(void *state, const mishap_leak *leak)
{
    struct findings *findings = state;
    mishap_buffer *to = &findings->list;
    char place[48];
    if (leak->confidence < findings->least)
        return;
    findings->count[leak->confidence]++;
    findings->kinds[leak->kind]++;
    if (findings->listed == LISTED)
        return;
    findings->listed++;
    snprintf(place, sizeof place, "%zu:%zu", leak->line, leak->column);
    put_line(findings, leak, place);
    mishap_json_open(to, '{');
    MISHAP_JSON_KEY(to, "kind");
    mishap_json_string(to, mishap_text_of(mishap_leak_kind_names[leak->kind]));
    MISHAP_JSON_KEY(to, "rule");
    mishap_json_string(to, mishap_text_of(leak->rule));
    MISHAP_JSON_KEY(to, "confidence");
    mishap_json_string(to, mishap_text_of(mishap_leak_confidence_names[leak->confidence]));
    MISHAP_JSON_KEY(to, "place");
    mishap_json_string(to, mishap_text_of(place));
    MISHAP_JSON_KEY(to, "byte");
    mishap_json_int(to, (int64_t)leak->start);
    MISHAP_JSON_KEY(to, "excerpt");
    mishap_json_string(to, leak->excerpt);
    if (strcmp(leak->view, "text") != 0) {
        MISHAP_JSON_KEY(to, "view");
        mishap_json_string(to, mishap_text_of(leak->view));
    }
    mishap_json_close(to, '}');
}

static void scan_piece(void *state, mishap_text text)
{
    struct findings *findings = state;
    findings->bytes += text.length;
    mishap_leak_feed(findings->stream, text);
}

static mishap *answer_findings(mishap_call *call, struct findings *findings)
{
    mishap_buffer json = { 0 };
    size_t all = findings->count[MISHAP_LEAK_HIGH] + findings->count[MISHAP_LEAK_MEDIUM];
    mishap_json_open(&json, '{');
    MISHAP_JSON_KEY(&json, "bytes");
    mishap_json_int(&json, (int64_t)findings->bytes);
    MISHAP_JSON_KEY(&json, "high");
    mishap_json_int(&json, (int64_t)findings->count[MISHAP_LEAK_HIGH]);
    MISHAP_JSON_KEY(&json, "medium");
    mishap_json_int(&json, (int64_t)findings->count[MISHAP_LEAK_MEDIUM]);
    if (findings->listed < all)
        mishap_answer_cut(call, findings->listed, all);
    MISHAP_JSON_KEY(&json, "findings");
    mishap_buffer_put_text(&json, mishap_buffer_text(&findings->list));
    mishap_json_close(&json, '}');
    json.failed = json.failed || findings->list.failed || findings->lines.failed;
    mishap *failure = tool_answer(call, &json);
    return failure || !findings->lines.length
               ? failure
               : mishap_answer_text(call, mishap_buffer_text(&findings->lines));
}

/* "The input has 3 leaks: trace, credential." */
static mishap *verdict(const struct findings *findings)
{
    char kinds[128] = "";
    size_t all = findings->count[MISHAP_LEAK_HIGH] + findings->count[MISHAP_LEAK_MEDIUM], used = 0;
    if (all == 0)
        return NULL;
    for (size_t i = 0; i < MISHAP_LEAK_KINDS; i++)
        if (findings->kinds[i] && used < sizeof kinds)
            used += (size_t)snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "",
                                     mishap_leak_kind_names[i]);
    mishap *m = mishap_raise(NONCONFORMING, "The input has %zu %s: %s.", all,
                             all == 1 ? "leak" : "leaks", kinds);
    bool secret = findings->kinds[MISHAP_LEAK_CREDENTIAL] ||
                  findings->kinds[MISHAP_LEAK_CONNECTION];
    m = mishap_suggest(m, secret ? "Keep these out of what callers get, and change each credential "
                                   "that was shown."
                                 : "Keep these out of what callers get.");
    return mishap_tell(m, "findings", all);
}

static mishap *run_scan(mishap_call *call)
{
    struct findings findings = { .columns = call->columns,
                                 .least = strcmp(mishap_string(call, "least"), "high") == 0
                                              ? MISHAP_LEAK_HIGH
                                              : MISHAP_LEAK_MEDIUM };
    findings.stream = mishap_leak_open(NULL, list_leak, &findings);
    if (!findings.stream)
        return mishap_out_of_memory();
    mishap_json_open(&findings.list, '[');
    mishap *failure = tool_read_pieces(mishap_string(call, "input"), scan_piece, &findings);
    mishap_leak_close(findings.stream);
    mishap_json_close(&findings.list, ']');
    if (!failure) {
        failure = verdict(&findings);
        mishap *no_memory = answer_findings(call, &findings);
        failure = no_memory ? mishap_because(no_memory, failure) : failure;
    }
    if (mishap_is(failure, INPUT_UNREADABLE))
        failure = mishap_suggest(failure, "Check that the file exists and can be read; to scan a "
                                          "text, pipe it.");
    mishap_buffer_release(&findings.list);
    mishap_buffer_release(&findings.lines);
    return failure;
}

const mishap_operation tool_scan = {
    .name = "scan",
    .summary = "Look for leaks in a text: traces, SQL, credentials, paths, hosts",
    .description =
        "Each finding has a kind, the rule that made it, its place (line:column, both from 1, and "
        "the byte from 0), a confidence and a redacted excerpt. The text is scanned unchanged, "
        "with JSON escapes decoded once and twice, and with HTML decoded; `view` names the form in "
        "which a finding was made, if that is not the unchanged text. The input may be anything: "
        "what is no UTF-8 is scanned as "
        "bytes.\n\nThe "
        "command fails with NONCONFORMING, exit code 79, if there is a finding, and with "
        "INPUT_UNREADABLE, exit code 66, if the file cannot be read. It needs the same memory for "
        "any input. The first 10000 findings are listed, and all findings are counted.",
    .params = params,
    .run = run_scan,
    .local = true,
    .judges = true,
    .quotes = true, /* excerpts of traces stay */
    .raises = MISHAP_RAISES(NONCONFORMING, TOOL_READING),
    .timeout_ms = 3600000, /* a terabyte */
    .examples = examples,
    .group = "Documents",
};
