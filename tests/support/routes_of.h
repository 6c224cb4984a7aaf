/* The routes of a program, and of some endpoints beside its operations. */
#ifndef MISHAP_ROUTES_OF_H
#define MISHAP_ROUTES_OF_H

#include "base/memory.h"
#include "http/serve/serve.h"
#include "http/wire/wire.h"

static inline mishap *routes_of(const mishap_app *app, bool chaos,
                                const mishap_http_endpoint *further, mishap_http_routes **routes)
{
    mishap_http_endpoint *list = NULL;
    mishap *failure = mishap_api_endpoints(app, chaos, further, &list);
    const mishap_http_endpoint *const lists[] = { list };
    if (!failure)
        failure = mishap_http_routes_make(lists, 1, routes);
    mishap_release(list);
    return failure;
}

#endif
