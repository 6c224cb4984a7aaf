/*
 * mishap wrap: run a command of another program as if it were started directly, and tell its
 * failure as one of ours. src/wrap does the work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/json_read.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/utf8.h"
#include "operation/call.h"
#include "tool.h"
#include "wrap/wrap.h"

mishap_wrap_origin tool_origin;

static const mishap_param params[] = {
    { "json", MISHAP_BOOLEAN,
      .help = "Standard output is one envelope, which has the output of the command as `data`" },
    { "timeout", MISHAP_NUMBER, .range = { 0.001, 86400 * 365 }, .placeholder = "SECONDS",
      .help = "End the command and its process group after so many seconds; --timeout-ms does the "
              "same" },
    { "limit", MISHAP_INTEGER, .range = { 1, 1 << 30 }, .initial = "1048576",
      .placeholder = "BYTES",
      .help = "With --json: a longer output is kept in a file, and `data` names the file" },
    { "rules", MISHAP_STRING, .length = { 1, 4000 }, .file = true, .placeholder = "FILE",
      .help = "Rules of your own, which come before those that are compiled in" },
    { "explain", MISHAP_BOOLEAN, .help = "Name the rule that decided the code" },
    { "command", MISHAP_ARRAY, .items = &tool_word, .rest = true, .required = true,
      .placeholder = "COMMAND...", .help = "The command and its arguments, behind --" },
    { 0 },
};

static const mishap_example examples[] = {
    { "wrap -- git pull", "The output is that of git; a failure adds one line to stderr" },
    { "wrap --json --timeout 30 -- npm test", "The output and the failure in one envelope" },
    { "wrap --explain --rules my.rules -- ./deploy.sh", "With rules of your own" },
    { 0 },
};

/* -- rules ------------------------------------------------------------------------------------- */

static mishap *read_rules(const char *file, mishap_wrap_rules **rules, mishap_buffer *own)
{
    mishap *failure = mishap_wrap_rules_read_builtin(rules);
    if (failure || !file)
        return failure;
    failure = tool_read_input(file, own);
    return failure ? failure : mishap_wrap_rules_read(rules, file, mishap_buffer_text(own));
}

/* -- the answer -------------------------------------------------------------------------------- */

/* The output as it is if it is JSON, else as a string; a large one as the file that has it. */
static void put_output(mishap_buffer *json, mishap_call *call, const mishap_wrap_end *end)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_text text = mishap_buffer_text(&end->captured);
    if (*end->file) {
        mishap_json_open(json, '{');
        MISHAP_JSON_KEY(json, "file");
        mishap_json_string(json, mishap_text_of(end->file));
        MISHAP_JSON_KEY(json, "bytes");
        mishap_json_int(json, (int64_t)end->bytes);
        mishap_json_close(json, '}');
    } else if (!text.length) {
        mishap_json_null(json);
    } else if (mishap_json_read(&reader, text)) {
        mishap_json_copy(json, reader.root);
    } else {
        mishap_json_string(json, mishap_utf8_clean(&call->arena, text));
    }
    mishap_json_reader_release(&reader);
}

static mishap *answer_output(mishap_call *call, const mishap_wrap_end *end)
{
    mishap_buffer json = { 0 };
    if (end->captured.failed)
        mishap_warn(call, "The output of the command is not complete: there was no room for it.");
    put_output(&json, call, end);
    return tool_answer(call, &json);
}

/* The command has not learned that its output could not be written, and ended well. */
static mishap *lost_output(int error)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    return mishap_raise(OUTPUT_FAILED, "Some output of the command could not be written: %s.",
                        cause);
}

/* The exit code, or the signal, of this process is that of the command. */
static mishap *tell_end(mishap_call *call, const mishap_wrap_rules *rules, const char *const *argv,
                        const mishap_wrap_end *end)
{
    char rule[MISHAP_WRAP_LONGEST_RULE];
    mishap *failure;
    call->relayed.set = true;
    call->relayed.aside = !mishap_boolean(call, "json");
    if (end->error) {
        call->relayed.exit_code = mishap_wrap_start_status(end->error);
        return mishap_wrap_not_started(argv, end->error);
    }
    failure = mishap_wrap_judge(rules, argv, end, rule, sizeof rule);
    if (end->timed_out)
        call->relayed.exit_code = MISHAP_CODE_TIMEOUT->exit_code;
    else if (WIFSIGNALED(end->status))
        call->relayed.signal = WTERMSIG(end->status);
    else
        call->relayed.exit_code = WEXITSTATUS(end->status);
    if (!failure && end->lost && end->status == 0) {
        call->relayed.exit_code = MISHAP_CODE_OUTPUT_FAILED->exit_code;
        return lost_output(end->lost);
    }
    if (mishap_boolean(call, "explain") && *rule && failure)
        failure = mishap_tell(failure, "rule", rule);
    return failure;
}

static mishap *run_wrap(mishap_call *call)
{
    const char *const *argv = tool_command(call);
    mishap_wrap_rules *rules = NULL;
    mishap_buffer own = { 0 };
    mishap_wrap_end end = { 0 };
    mishap *failure = NULL;
    bool json = mishap_boolean(call, "json");
    /* Rules of the user are checked first: a mistake in them must not be found only when a command
     * has failed. */
    const char *file = mishap_string(call, "rules");
    if (file)
        failure = read_rules(file, &rules, &own);
    if (failure)
        goto done;
    failure = mishap_wrap_run(
        &(mishap_wrap_command){ .argv = argv,
                                .origin = tool_origin,
                                .timeout_ms = tool_timeout_ms(call),
                                .capture = json,
                                .limit = (size_t)mishap_integer(call, "limit") },
        &end);
    if (!failure && !rules && (end.error || end.status || end.timed_out))
        failure = read_rules(NULL, &rules, &own);
    if (!failure)
        failure = tell_end(call, rules, argv, &end);
    if (json && !end.error && call->relayed.set) {
        mishap *no_memory = answer_output(call, &end);
        failure = no_memory ? mishap_because(no_memory, failure) : failure;
    }
done:
    mishap_wrap_end_release(&end);
    mishap_wrap_rules_free(rules);
    mishap_buffer_release(&own);
    return failure;
}

const mishap_operation tool_wrap = {
    .name = "wrap",
    .summary = "Run a command of any program, and add a code and advice to its failure",
    .description =
        "Output, the order of it, exit code and death by a signal are those of the command. If it "
        "fails, one line is added to the end of stderr: the envelope, with a code, the line of the "
        "command that says why, what to do, and whether a retry can help. Secrets in it are "
        "redacted.\n\n"
        "An exit code that is an answer, such as that of `grep` without a match, is no failure. "
        "If the program does not exist, the exit code is 127; if it cannot be executed, 126; if "
        "the time was over, 10.\n\n"
        "The code comes from rules: of the program, of its exit codes, and of texts that many "
        "programs print. In a file of your own a line such as `[deploy.sh]` names one program or "
        "several. A line such as `3 CONFLICT is deployed already` is a rule: an exit code, a code "
        "of the catalog and a pattern. Indented lines below a rule belong to it: `suggest Choose "
        "another version.` is its advice, and `retry yes` or `retry no` says whether a retry can "
        "help.\n\n"
        "A pattern is a part of one line; capitals do not matter, a star stands for any "
        "characters, "
        "and \" | \" separates alternatives.",
    .params = params,
    .run = run_wrap,
    .local = true,
    .resident = true,
    .quotes = true,
    .relays = true,
    .danger = MISHAP_MUTATING, /* what the command does is not known */
    .examples = examples,
    .group = "Other programs",
};
