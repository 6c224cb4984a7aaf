/* The dialect of failures below a path. */
#include "http/wire/wire.h"
#include "dialect/dialect.h"

const mishap_dialect *mishap_http_dialect_by(const mishap_service *service)
{
    const mishap_dialect *named = service ? mishap_dialect_find(service->http_dialect) : NULL;
    return named ? named : &mishap_http_api;
}

/* The fixed segments at the beginning of a route, "/users" of "GET /users/{id}", and the first
 * service with a dialect of its own that has a route with this beginning; NULL: none has. */
struct beginning {
    mishap_text text;
    const mishap_service *declares;
};

/* The beginnings of the routes of a program: this is asked for each failure. A loop has one thread,
 * and serves one program. The routes of a program with more beginnings are read each time. */
enum { MOST_BEGINNINGS = 128 };
static struct {
    const mishap_app *app;
    struct beginning list[MOST_BEGINNINGS];
    size_t count;
    bool any;  /* some service has a dialect: most programs have none */
    bool more; /* there was no room for all */
} known;

static struct beginning beginning_of(const mishap_operation *o)
{
    const char *at = o->route ? strchr(o->route, '/') : NULL;
    struct beginning made = { { at, 0 }, NULL };
    mishap_route_part part;
    while (at && mishap_route_next(&at, &part) && !part.param && part.text.length)
        made.text.length = (size_t)(part.text.data + part.text.length - made.text.data);
    if (o->service && o->service->http_dialect)
        made.declares = o->service;
    return made;
}

static void learn_beginning(struct beginning learned)
{
    known.any = known.any || learned.declares;
    for (struct beginning *b = known.list; b < known.list + known.count; b++) {
        if (!mishap_text_equal(b->text, learned.text))
            continue;
        b->declares = b->declares ? b->declares : learned.declares;
        return;
    }
    known.more = known.more || known.count == MOST_BEGINNINGS;
    if (!known.more)
        known.list[known.count++] = learned;
}

static void learn_program(const mishap_app *app)
{
    known.app = app;
    known.count = 0;
    known.any = known.more = false;
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        learn_beginning(beginning_of(o));
}

static bool is_below(mishap_text path, mishap_text beginning)
{
    return beginning.length && path.length >= beginning.length &&
           memcmp(path.data, beginning.data, beginning.length) == 0 &&
           (path.length == beginning.length || path.data[beginning.length] == '/');
}

/* The longest beginning decides, and of equal ones the first that declares a dialect. */
static void take_longer(struct beginning *found, struct beginning other, mishap_text path)
{
    bool longer = other.text.length > found->text.length;
    bool declares = other.text.length == found->text.length && !found->declares;
    if ((longer || declares) && is_below(path, other.text))
        *found = other;
}

const mishap_dialect *mishap_http_dialect_of(const mishap_app *app, mishap_text path)
{
    struct beginning found = { { NULL, 0 }, NULL };
    if (known.app != app)
        learn_program(app);
    if (!known.any)
        return &mishap_http_api;
    for (size_t i = 0; i < known.count && !known.more; i++)
        take_longer(&found, known.list[i], path);
    for (const mishap_operation *o = app->operations; known.more && o->name; o++)
        take_longer(&found, beginning_of(o), path);
    return mishap_http_dialect_by(found.declares);
}
