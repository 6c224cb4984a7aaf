/* The call of a command: what it knows of the command, and one that goes on after the command. */
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/screen/terminal.h"
#include "incident/incident.h"
#include "operation/asking.h"
#include "operation/caller.h"

/* A user who can read the data folder could do anything anyway. But where there are keys, no
 * command acts for a caller by mistake. */
static mishap *set_caller(const mishap_cli *cli, mishap_call *call)
{
    char folder[4096];
    const char *data = cli->setup.data;
    if (!mishap_caller_may_name(call->operation))
        return NULL;
    if (!data && mishap_data_folder(cli->app->name, folder, sizeof folder))
        data = folder;
    mishap *failure = mishap_caller_check_flag(cli->caller, data);
    if (!failure)
        mishap_call_set_caller(call, NULL, mishap_text_of(cli->caller),
                               mishap_caller_keys_of(data) == MISHAP_CALLER_KEYS_UNUSED,
                               MISHAP_SCOPES_ALL);
    return failure;
}

mishap *mishap_cli_begin_call(mishap_cli *cli, mishap_text arguments, mishap_call **call)
{
    cli->arguments = arguments;
    mishap *failure = mishap_call_begin_closed(cli->app, cli->operation, arguments, call);
    if (failure)
        return failure;
    cli->secrets = mishap_call_secrets(*call); /* later the call belongs to the handler */
    return set_caller(cli, *call);
}

void mishap_cli_tell_call(mishap_cli *cli, mishap_call *call)
{
    const char *traceparent = getenv("TRACEPARENT");
    call->boundary = MISHAP_BY_COMMAND;
    call->request_id = mishap_text_of(cli->request_id);
    call->traceparent = mishap_text_of(traceparent ? traceparent : "");
    call->to_operator = mishap_incident_line;
    call->verbose = cli->verbose;
    call->columns = isatty(cli->out) ? mishap_cli_terminal_width(cli->out) : 0;
    call->read_data = cli->read_data;
    call->read_log = cli->read_log;
    call->timeout_ms = cli->timeout_given;
    call->upload = cli->has_upload ? &cli->upload : NULL;
    call->deadline_ns = cli->started_ns + (int64_t)cli->timeout_ms * 1000000;
}

int mishap_cli_run_detached(mishap_cli *cli, mishap_text arguments)
{
    mishap_call *call;
    mishap_buffer answer = { 0 };
    mishap *failure = mishap_cli_begin_call(cli, arguments, &call);
    if (!failure) {
        mishap_cli_tell_call(cli, call);
        if (cli->answers)
            failure = mishap_asking_answer_text(call, mishap_text_of(cli->answers),
                                                MISHAP_ANSWERS_OF_SCRIPT);
    }
    if (!failure) {
        failure = mishap_cli_detach(call, cli->setup.data, cli->task_store, &answer);
    }
    if (!failure && answer.failed)
        failure = mishap_out_of_memory();
    mishap_cli_claim_answer();
    int status = mishap_cli_tell(
        cli, &(mishap_cli_answer){ .failure = failure, .data = mishap_buffer_text(&answer) });
    mishap_free(failure);
    cli->arguments = (mishap_text){ NULL, 0 };
    mishap_call_end(call);
    mishap_buffer_release(&answer);
    return status;
}
