/*
 * mishap check: check documents against the rules of a dialect. The answer lists the findings up to
 * a fixed number, so that memory stays constant; all findings are counted.
 */
#include "tool.h"

#include <stdio.h>

#include "base/json_write.h"

enum { LISTED = 10000 };

static const mishap_param params[] = {
    TOOL_DIALECT("dialect", "The dialect to check against"),
    { "strict", MISHAP_BOOLEAN, .help = "Enforce the strict form of each rule" },
    { "lines", MISHAP_BOOLEAN, .help = "Treat each line of the input as a document" },
    TOOL_INPUT,
    { 0 },
};

static const mishap_example examples[] = {
    { "check --dialect http-api answer.json", "Check one response of another program" },
    { "check --dialect cli-envelope --strict --lines answers.jsonl",
      "Check a file of responses with strict rules" },
    { 0 },
};

struct tally {
    const mishap_dialect *dialect;
    bool strict;
    mishap_buffer findings; /* as a JSON array */
    size_t documents, listed;
    size_t count[MISHAP_FATAL + 1]; /* findings by severity */
    size_t line;                    /* of the document, 0 when there is only one */
    char first[256];                /* what the first fatal finding says, and where */
};

static const char *const severities[] = { "warning", "error", "error" };

/* -- findings ---------------------------------------------------------------------------------- */

static void list_finding(struct tally *tally, const mishap_finding *finding)
{
    mishap_buffer *to = &tally->findings;
    mishap_json_open(to, '{');
    MISHAP_JSON_KEY(to, "rule");
    mishap_json_string(to, mishap_text_of(finding->rule));
    MISHAP_JSON_KEY(to, "severity");
    mishap_json_string(to, mishap_text_of(severities[finding->severity]));
    if (tally->line) {
        MISHAP_JSON_KEY(to, "line");
        mishap_json_int(to, (int64_t)tally->line);
    }
    MISHAP_JSON_KEY(to, "place");
    mishap_json_string(to, finding->place);
    MISHAP_JSON_KEY(to, "message");
    mishap_json_string(to, finding->sentence);
    mishap_json_close(to, '}');
}

static void found(void *state, const mishap_finding *finding)
{
    struct tally *tally = state;
    if (tally->count[finding->severity]++ == 0 && finding->severity == MISHAP_FATAL) {
        if (tally->line)
            snprintf(tally->first, sizeof tally->first, "In the document at line %zu, at %s: %s",
                     tally->line, finding->place.data, finding->sentence.data);
        else
            snprintf(tally->first, sizeof tally->first, "At %s: %s", finding->place.data,
                     finding->sentence.data);
    }
    if (tally->listed < LISTED) {
        tally->listed++;
        list_finding(tally, finding);
    }
}

/* -- documents --------------------------------------------------------------------------------- */

static mishap *check_document(struct tally *tally, mishap_text text)
{
    tally->documents++;
    return mishap_verify(tally->dialect, text, tally->strict, found, tally);
}

static mishap *check_line(void *state, mishap_text text, size_t number)
{
    struct tally *tally = state;
    tally->line = number;
    if (text.length && text.data[text.length - 1] == '\r')
        text.length--;
    return text.length ? check_document(tally, text) : NULL;
}

static mishap *check_whole(struct tally *tally, const char *file)
{
    mishap_buffer input = { 0 };
    mishap *failure = tool_read_input(file, &input);
    if (!failure)
        failure = check_document(tally, mishap_buffer_text(&input));
    mishap_buffer_release(&input);
    return failure;
}

/* -- the answer -------------------------------------------------------------------------------- */

static void put_count(mishap_buffer *json, const char *key, size_t count)
{
    mishap_json_key(json, mishap_text_of(key));
    mishap_json_int(json, (int64_t)count);
}

static mishap *answer_tally(mishap_call *call, struct tally *tally)
{
    mishap_buffer json = { 0 };
    size_t errors = tally->count[MISHAP_ERROR] + tally->count[MISHAP_FATAL],
           warnings = tally->count[MISHAP_WARNING];
    mishap_json_open(&json, '{');
    MISHAP_JSON_KEY(&json, "dialect");
    mishap_json_string(&json, mishap_text_of(mishap_dialect_name(tally->dialect)));
    put_count(&json, "documents", tally->documents);
    put_count(&json, "errors", errors);
    put_count(&json, "warnings", warnings);
    if (tally->listed < errors + warnings)
        mishap_answer_cut(call, tally->listed, errors + warnings);
    MISHAP_JSON_KEY(&json, "findings");
    mishap_buffer_put_text(&json, mishap_buffer_text(&tally->findings));
    mishap_json_close(&json, '}');
    json.failed = json.failed || tally->findings.failed;
    return tool_answer(call, &json);
}

static mishap *verdict(const struct tally *tally)
{
    size_t errors = tally->count[MISHAP_ERROR];
    const char *dialect = mishap_dialect_name(tally->dialect);
    if (tally->count[MISHAP_FATAL])
        return mishap_tell(mishap_raise(MALFORMED_INPUT, "%s", tally->first), "dialect", dialect);
    if (tally->documents == 0)
        return mishap_raise(MALFORMED_INPUT, "At line 1, column 1: The input has no document.");
    if (errors == 0)
        return NULL;
    mishap *m = mishap_raise(NONCONFORMING, "The input does not conform to %s: %zu %s.", dialect,
                             errors, errors == 1 ? "finding" : "findings");
    return mishap_tell(mishap_tell(m, "dialect", dialect), "findings", errors);
}

static mishap *run_check(mishap_call *call)
{
    struct tally tally = { .dialect = tool_dialect(call, "dialect"),
                           .strict = mishap_boolean(call, "strict") };
    const char *file = mishap_string(call, "input");
    bool lines = mishap_boolean(call, "lines");
    mishap_json_open(&tally.findings, '[');
    mishap *failure = lines ? tool_read_lines(file, check_line, &tally) : check_whole(&tally, file);
    mishap_json_close(&tally.findings, ']');
    if (!failure) {
        failure = verdict(&tally);
        /* What cannot be read gets an error and nothing else; of lines, others may have been read.
         */
        if (!failure || mishap_told(failure)->code == MISHAP_CODE_NONCONFORMING || lines) {
            mishap *no_memory = answer_tally(call, &tally);
            failure = no_memory ? mishap_because(no_memory, failure) : failure;
        }
    }
    mishap_buffer_release(&tally.findings);
    return failure;
}

const mishap_operation tool_check = {
    .name = "check",
    .summary = "Check a document against the rules of a dialect",
    .description =
        "Each finding has a rule, a place in the document and a sentence. The command fails with "
        "NONCONFORMING, exit code 79, if at least one finding is an error; warnings alone are not "
        "a failure. Input that cannot be parsed fails with MALFORMED_INPUT, exit code 2, and the "
        "message names the place.\n\nWith --lines the input may have any size, and memory stays "
        "constant. The first 10000 findings are listed, and all findings are counted.",
    .params = params,
    .run = run_check,
    .local = true,
    .judges = true,
    .raises = MISHAP_RAISES(NONCONFORMING, TOOL_READING),
    .timeout_ms = 600000, /* some hundred gigabytes of lines */
    .examples = examples,
    .group = "Documents",
};
