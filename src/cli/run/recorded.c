/* The record of a failing command. */
#include <stdlib.h>

#include "cli/run/run.h"
#include "incident/incident.h"
#include "operation/call.h"

/* What was taken out of the one answer, for its record; NULL: nothing. */
static mishap *removed;

void mishap_cli_keep_removed(mishap *found)
{
    /* What was replaced is worth more than what was only seen. */
    if (found && (!removed || (mishap_told(removed)->code != MISHAP_CODE_RUNTIME_ERROR &&
                               mishap_told(found)->code == MISHAP_CODE_RUNTIME_ERROR))) {
        mishap_free(removed);
        removed = found;
    } else {
        mishap_free(found);
    }
}

mishap_sent mishap_cli_sent(const mishap_cli *cli)
{
    return (mishap_sent){ .call = cli->ended,
                          .words = cli->words,
                          .word_count = cli->word_count,
                          .text = cli->arguments };
}

static void put_more(const void *context, mishap_incident_more *more)
{
    const mishap_cli *cli = context;
    if (cli->ended)
        mishap_call_put_arguments(cli->ended, &more->arguments);
    else if (cli->operation)
        mishap_operation_put_arguments(cli->operation, cli->arguments, &more->arguments);
    if (cli->ended)
        mishap_call_put_words(cli->ended, &more->lines);
}

int mishap_cli_exit_code(const mishap_cli_answer *answer)
{
    return answer->exit_code ? answer->exit_code : mishap_told(answer->failure)->code->exit_code;
}

bool mishap_cli_record(const mishap_cli *cli, const mishap_cli_answer *answer, mishap_text response,
                       const char *type)
{
    mishap_buffer command = { 0 };
    const mishap_operation *operation = cli->operation;
    const char *traceparent = getenv("TRACEPARENT");
    if (mishap_operation_judged(operation, answer->failure)) {
        mishap_free(removed);
        removed = NULL;
        return false;
    }
    if (operation)
        mishap_cli_put_command(&command, operation->name);
    mishap_buffer_put_char(&command, '\0');
    bool kept = mishap_incident_record(&(mishap_incident_entry){
        .program = cli->app->name,
        .version = cli->app->version,
        .id = cli->request_id,
        .failure = answer->failure,
        .removed = removed,
        .operation = operation ? operation->name : NULL,
        .shown = operation && !command.failed ? command.data : NULL,
        .service = operation && operation->service ? operation->service->name : NULL,
        .caller = cli->caller,
        .response = response,
        .response_type = type,
        .traceparent = mishap_text_of(traceparent ? traceparent : ""),
        .started_ns = cli->started_ns,
        .status = mishap_cli_exit_code(answer),
        .boundary = MISHAP_INCIDENT_CLI,
        .secrets = cli->secrets,
        .more = put_more,
        .context = cli,
        .to_stderr = cli->verbose,
    });
    mishap_buffer_release(&command);
    mishap_free(removed);
    removed = NULL;
    return kept;
}
