/* `serve --stale-ms`: whether services have standbys at all. */
#include <stdio.h>
#include <unistd.h>

#include "http/serve/serve.h"
#include "operation/settings.h"

/* The address may have a password, so it is only looked at. libpq reads it when the service is
 * opened; here it is enough to find a list of hosts. */
static bool has_several_hosts(const char *address)
{
    static const char *const lists[] = { "?host=", "&host=", "?hostaddr=", "&hostaddr=" };
    const char *scheme = address ? strstr(address, "://") : NULL;
    if (!scheme || strncmp(address, "postgres", strlen("postgres")) != 0)
        return false;
    size_t length = strcspn(scheme + 3, "/?");
    const char *hosts = scheme + 3, *at = memchr(hosts, '@', length);
    size_t skipped = at ? (size_t)(at + 1 - hosts) : 0;
    if (memchr(hosts + skipped, ',', length - skipped))
        return true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = strstr(hosts, lists[i]);
        size_t size = list ? strcspn(list + 1, "&") : 0;
        if (list && (memchr(list + 1, ',', size) || memmem(list + 1, size, "%2C", 3) ||
                     memmem(list + 1, size, "%2c", 3)))
            return true;
    }
    return false;
}

static const char *address_of(const mishap_service *service)
{
    const mishap_param *declared;
    yyjson_val *values;
    return mishap_settings_find(service, &declared, &values)
               ? yyjson_get_str(yyjson_obj_get(values, "store"))
               : NULL;
}

void mishap_serve_read_stale(mishap_call *call, mishap_served *served)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    size_t count = mishap_services_of(served->app, services), declared = 0;
    served->setup.stale_ms = (int)mishap_integer(call, "stale_ms");
    if (!served->setup.stale_ms)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!mishap_service_is_stale(served->app, services[i]))
            continue;
        declared++;
        if (!has_several_hosts(address_of(services[i])))
            dprintf(STDERR_FILENO,
                    "%s: --stale-ms has no effect on the service %s: its store is not PostgreSQL "
                    "with several hosts.\n",
                    served->app->name, services[i]->name);
    }
    if (!declared)
        dprintf(STDERR_FILENO,
                "%s: --stale-ms has no effect: no operation may read from a standby.\n",
                served->app->name);
}
