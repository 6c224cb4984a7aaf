/* `serve --cluster`: what this server shares with others, and where (http/cluster). */
#include <stdio.h>
#include <unistd.h>

#include "http/cluster/cluster.h"
#include "http/serve/serve.h"
#include "operation/call.h"

/* Keys that were used before would look as if they were lost. */
static void warn_of_file(mishap_call *call, const mishap_served *served)
{
    const char *file = mishap_call_print(call, "%s/keys", served->setup.data);
    if (access(file, F_OK) == 0)
        dprintf(STDERR_FILENO,
                "%s: the file %s is ignored: the API keys are those of the cluster. `%s keys "
                "import` adds those of the file.\n",
                served->app->name, file, served->app->name);
}

mishap *mishap_serve_read_cluster(mishap_call *call, mishap_http_settings *settings)
{
    const mishap_served *served = settings->served;
    const char *address = mishap_string(call, "cluster");
    if (!address)
        return NULL;
    const mishap_cluster_plan plan = { .engine = call->app->cluster,
                                       .program = served->app->name,
                                       .address = address,
                                       .data = served->setup.data,
                                       .keys_stale_ms = mishap_integer(call, "keys_stale_ms"),
                                       .rate = (int)mishap_integer(call, "rate") };
    warn_of_file(call, served);
    return mishap_http_cluster_begin(&plan, &settings->cluster, &settings->rates);
}
