/* The end of a command that stands for another program, such as `wrap`. */
#include <stdio.h>
#include <unistd.h>

#include "base/signals.h"
#include "cli/run/run.h"
#include "operation/call.h"

int mishap_cli_tell_relayed(mishap_cli *cli, mishap_cli_answer *answer)
{
    const mishap_call *call = cli->ended;
    if (!call || !call->relayed.set)
        return mishap_cli_tell(cli, answer);
    int status = answer->exit_code = call->relayed.exit_code;
    cli->json = true;
    cli->dialect = NULL;
    cli->timeout_ms = 0;     /* the other program has none of ours */
    if (call->relayed.aside) /* standard output belongs to that program */
        cli->out = STDERR_FILENO;
    if (answer->failure || !call->relayed.aside) {
        int told = mishap_cli_tell(cli, answer);
        if (!status && !call->relayed.aside)
            status = told; /* the output of that program was lost, or is not complete */
    }
    fflush(NULL);
    if (call->relayed.signal)
        mishap_signal_die_of(call->relayed.signal);
    return call->relayed.signal ? 128 + call->relayed.signal : status;
}
