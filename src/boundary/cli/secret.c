/*
 * The values of parameters that are declared secret, found again wherever a handler put them: in a
 * message, in its answer, in what it noted. They are replaced on the way out, whoever reads:
 * caller, terminal or log.
 */
#include "boundary/cli/cli.h"
#include "guard/guard.h"
#include "operation/call.h"

enum { SHORTEST = 4 }; /* less is no secret, and stands in many a word by chance */

void mishap_cli_learn_secrets(mishap_cli *cli, const mishap_call *call)
{
    const mishap_param *params = call->operation->params;
    for (size_t i = 0; i < call->param_count && cli->secret_count < MISHAP_CLI_SECRETS; i++) {
        mishap_text value = mishap_json_text(call->values[i]);
        if (params[i].secret && value.length >= SHORTEST)
            cli->secrets[cli->secret_count++] = value;
    }
}

/* The first secret at or after `at`, and where; NULL if there is none. */
static const mishap_text *next_secret(const mishap_cli *cli, const char *at, const char *end,
                                      const char **where)
{
    const mishap_text *first = NULL;
    *where = end;
    for (size_t i = 0; i < cli->secret_count; i++) {
        const char *found = memmem(at, (size_t)(end - at), cli->secrets[i].data,
                                   cli->secrets[i].length);
        if (found && found < *where) {
            first = &cli->secrets[i];
            *where = found;
        }
    }
    return first;
}

bool mishap_cli_has_secret(const mishap_cli *cli, mishap_text text)
{
    const char *where;
    return text.length && next_secret(cli, text.data, text.data + text.length, &where);
}

void mishap_cli_put_hidden(mishap_buffer *b, const mishap_cli *cli, mishap_text text)
{
    const char *at = text.data, *end = text.data + text.length, *where;
    const mishap_text *secret;
    while (at < end && (secret = next_secret(cli, at, end, &where))) {
        mishap_buffer_put(b, at, (size_t)(where - at));
        mishap_buffer_put_text(b, mishap_guard_redacted);
        at = where + secret->length;
    }
    mishap_buffer_put(b, at, (size_t)(end - at));
}
