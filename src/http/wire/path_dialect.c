/* The dialect of failures below a path. */
#include "http/wire/wire.h"
#include "dialect/dialect.h"

const mishap_dialect *mishap_http_dialect_by(const mishap_service *service)
{
    const mishap_dialect *named = service ? mishap_dialect_find(service->http_dialect) : NULL;
    return named ? named : &mishap_http_api;
}

static bool any_declares(const mishap_app *app)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (o->service && o->service->http_dialect)
            return true;
    return false;
}

/* How many fixed segments of a route, from its beginning, the path has; 0: the path is not below
 * it. */
static int segments_below(const char *route, mishap_text path)
{
    const char *at = strchr(route, '/');
    mishap_route_part part;
    int count = 0;
    while (at && mishap_route_next(&at, &part) && !part.param && part.text.length) {
        if (path.length < part.text.length + 1 || path.data[0] != '/' ||
            memcmp(path.data + 1, part.text.data, part.text.length) != 0)
            return 0;
        path.data += part.text.length + 1;
        path.length -= part.text.length + 1;
        if (path.length && path.data[0] != '/')
            return 0;
        count++;
    }
    return count;
}

/* Most programs have no such service. This is called for each failure, so that result is cached. */
const mishap_dialect *mishap_http_dialect_of(const mishap_app *app, mishap_text path)
{
    static const mishap_app *known; /* a loop has one thread */
    static bool any;
    const mishap_service *found = NULL;
    int most = 0;
    if (known != app) {
        any = any_declares(app);
        known = app;
    }
    if (!any || !path.length)
        return &mishap_http_api;
    for (const mishap_operation *o = app->operations; o->name; o++) {
        int count = o->route ? segments_below(o->route, path) : 0;
        bool declares = o->service && o->service->http_dialect;
        if (count > most || (count && count == most && declares && !found)) {
            most = count;
            found = declares ? o->service : NULL;
        }
    }
    return mishap_http_dialect_by(found);
}
