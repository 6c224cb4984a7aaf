/*
 * Finds the endpoint of a path.
 *
 * Routes are a tree of segments, made once. A node is reached from its parent by a segment that is
 * spelled out, by any segment at all (`:name`), or by all segments that are left (`{name...}`). The
 * spelled-out steps of the whole tree are in one table, by parent and text, so that a step costs
 * one lookup, independent of the number of routes.
 *
 * A lookup allocates no memory. Where several ways exist, all are tried, the spelled-out one first
 * and the tail last. It visits no node twice, so no path can make it slow.
 *
 * Endpoints that are used only where no other one has the path (`fallback`) are a second tree in
 * the same table, with a root of its own.
 *
 * A handler may use a tail as a path of the file system, which an attacker could exploit. So a tail
 * with an empty segment, `.` or `..`, an escaped slash or an escaped NUL matches nothing, in any
 * spelling: a handler gets the segments that the request had, and none that means another place.
 */
#include "server/server.h"

const mishap_text mishap_http_method_names[MISHAP_HTTP_METHODS] = {
    [MISHAP_HTTP_GET] = MISHAP_TEXT("GET"),         [MISHAP_HTTP_POST] = MISHAP_TEXT("POST"),
    [MISHAP_HTTP_PUT] = MISHAP_TEXT("PUT"),         [MISHAP_HTTP_PATCH] = MISHAP_TEXT("PATCH"),
    [MISHAP_HTTP_DELETE] = MISHAP_TEXT("DELETE"),   [MISHAP_HTTP_HEAD] = MISHAP_TEXT("HEAD"),
    [MISHAP_HTTP_OPTIONS] = MISHAP_TEXT("OPTIONS"), [MISHAP_HTTP_OTHER] = MISHAP_TEXT("OTHER"),
};

enum { ROUTED = MISHAP_HTTP_DELETE + 1 }; /* the methods that a route can have come first */

/* The roots of the two trees are the first nodes. */
enum root { ROOT, FALLBACK_ROOT, ROOTS };

struct route {
    mishap_http_endpoint endpoint;
    size_t extension;
    size_t param_count;
    const char *params[MISHAP_HTTP_PATH_PARAMS];
};

struct node {
    mishap_text segment; /* how it is reached; no data: by any segment, or it is the root */
    uint32_t parent;
    uint32_t any;            /* the node behind `:name`; 0: none */
    uint32_t tail;           /* the node behind `{name...}`; 0: none */
    uint32_t spelled;        /* how many nodes are reached by a spelled-out segment */
    unsigned allowed;        /* methods, one bit each; 0: no path ends here */
    bool for_operator;       /* one of its routes needs the scope `operator` */
    bool for_all;            /* … is `for_all` */
    uint32_t routes[ROUTED]; /* for each method, counted from 1; 0: none */
};

struct mishap_http_routes {
    mishap_arena arena;
    struct route *routes;
    size_t count;
    struct node *nodes; /* the first are the roots */
    uint32_t node_count;
    uint32_t *table; /* nodes by parent and segment; 0: free */
    size_t slots;    /* size of the table: a power of two … */
    int shift;       /* … and the shift that makes an index of a hash */
};

/* -- the table --------------------------------------------------------------------------------- */

/* The ends of a segment distinguish nearly all; a collision costs one more comparison. The highest
 * bits of the hash are the best ones, since every byte influences them. This is not
 * mishap_text_hash(): each request does it for each segment, and a long segment of an attacker
 * takes no longer here than a short one (5 ns instead of 13 for usual segments). */
static size_t slot_of(const mishap_http_routes *routes, uint32_t parent, mishap_text segment)
{
    uint64_t head = 0, tail = 0;
    size_t length = segment.length;
    if (length >= 8) {
        memcpy(&head, segment.data, 8);
        memcpy(&tail, segment.data + length - 8, 8);
    } else if (length >= 4) {
        memcpy(&head, segment.data, 4);
        memcpy(&tail, segment.data + length - 4, 4);
    } else {
        for (size_t i = 0; i < length; i++)
            head = head << 8 | (unsigned char)segment.data[i];
    }
    uint64_t sum = (head ^ (length << 56) ^ parent) * UINT64_C(0x9E3779B97F4A7C15);
    sum = (sum ^ (sum >> 32) ^ tail) * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (size_t)(sum >> routes->shift);
}

/* The node of a spelled-out segment; 0: none. */
static uint32_t find_spelled(const mishap_http_routes *routes, uint32_t parent, mishap_text segment)
{
    size_t slot = slot_of(routes, parent, segment);
    for (uint32_t i; (i = routes->table[slot]); slot = (slot + 1) & (routes->slots - 1))
        if (routes->nodes[i].parent == parent &&
            mishap_text_equal(routes->nodes[i].segment, segment))
            return i;
    return 0;
}

/* The same for a segment with escapes: `%75sers` is `users`. Rare enough to check all nodes. */
static uint32_t find_escaped(const mishap_http_routes *routes, uint32_t parent, mishap_text segment)
{
    for (uint32_t i = 1; i < routes->node_count; i++)
        if (routes->nodes[i].parent == parent && routes->nodes[i].segment.data &&
            mishap_url_spells(segment, routes->nodes[i].segment))
            return i;
    return 0;
}

/* -- making ------------------------------------------------------------------------------------ */

/* The node of a segment; it is created if there is none. */
static uint32_t step_into(mishap_http_routes *routes, uint32_t parent,
                          const mishap_route_part *part)
{
    struct node *from = &routes->nodes[parent];
    mishap_text segment = part->text;
    uint32_t known = part->tail    ? from->tail
                     : part->param ? from->any
                                   : find_spelled(routes, parent, segment);
    if (known)
        return known;
    uint32_t made = routes->node_count++;
    routes->nodes[made] = (struct node){ .parent = parent };
    if (part->param) {
        *(part->tail ? &from->tail : &from->any) = made;
        return made;
    }
    routes->nodes[made].segment = segment;
    routes->nodes[parent].spelled++;
    size_t slot = slot_of(routes, parent, segment);
    while (routes->table[slot])
        slot = (slot + 1) & (routes->slots - 1);
    routes->table[slot] = made;
    return made;
}

static mishap *refuse_route(const struct route *route, const char *why)
{
    return mishap_tell(mishap_raise(NOT_CONFIGURED, "The route `%s` of `%s` %s.",
                                    route->endpoint.route, route->endpoint.name, why),
                       "route", route->endpoint.route);
}

static const char *path_of(const char *route, mishap_http_method *method)
{
    for (size_t i = 0; i < ROUTED; i++) {
        mishap_text name = mishap_http_method_names[i];
        if (strncmp(route, name.data, name.length) == 0 && route[name.length] == ' ') {
            *method = (mishap_http_method)i;
            return route[name.length + 1] == '/' ? route + name.length + 1 : NULL;
        }
    }
    return NULL;
}

static mishap *add_param(mishap_http_routes *routes, struct route *route, mishap_text name)
{
    if (route->param_count == MISHAP_HTTP_PATH_PARAMS)
        return refuse_route(route, "has too many parameters in its path");
    mishap_text kept = mishap_arena_copy(&routes->arena, name);
    if (!kept.data)
        return mishap_out_of_memory();
    route->params[route->param_count++] = kept.data;
    return NULL;
}

static mishap *add_route(mishap_http_routes *routes, struct route *route)
{
    mishap_http_method method = MISHAP_HTTP_GET;
    const char *path = path_of(route->endpoint.route, &method);
    uint32_t at = route->endpoint.fallback ? FALLBACK_ROOT : ROOT;
    if (!path)
        return refuse_route(route, "is not a method, a space and a path");
    mishap_route_part part = { 0 };
    const char *next = path[1] ? path : path + 1;
    while (mishap_route_next(&next, &part)) {
        if (part.text.length == 0)
            return refuse_route(route, "has an empty segment");
        if (part.tail && *next)
            return refuse_route(route, "has a segment after its tail");
        mishap *m = part.param ? add_param(routes, route, part.text) : NULL;
        if (m)
            return m;
        at = step_into(routes, at, &part);
    }
    struct node *node = &routes->nodes[at];
    if (node->routes[method])
        return refuse_route(route, "is also the route of another operation");
    node->routes[method] = (uint32_t)(route - routes->routes) + 1;
    node->allowed |= 1u << method | 1u << MISHAP_HTTP_OPTIONS;
    node->for_operator = node->for_operator || route->endpoint.scope == MISHAP_SCOPE_OPERATOR;
    node->for_all = node->for_all || route->endpoint.for_all;
    if (method == MISHAP_HTTP_GET)
        node->allowed |= 1u << MISHAP_HTTP_HEAD;
    return NULL;
}

/* Room for the routes, and for as many nodes as they can have. */
static bool make_room(mishap_http_routes *routes, const mishap_http_endpoint *const *lists,
                      size_t list_count)
{
    size_t count = 0, nodes = ROOTS, slots = 8;
    int shift = 61;
    for (size_t i = 0; i < list_count; i++)
        for (const mishap_http_endpoint *e = lists[i]; e && e->route; e++) {
            count++;
            for (const char *c = e->route; *c; c++)
                nodes += *c == '/';
        }
    for (; slots < nodes * 2; slots *= 2)
        shift--;
    routes->slots = slots;
    routes->shift = shift;
    routes->routes = mishap_arena_take(&routes->arena, (count + 1) * sizeof *routes->routes);
    routes->nodes = mishap_arena_take(&routes->arena, nodes * sizeof *routes->nodes);
    routes->table = mishap_arena_take(&routes->arena, slots * sizeof *routes->table);
    if (!routes->routes || !routes->nodes || !routes->table)
        return false;
    memset(routes->table, 0, slots * sizeof *routes->table);
    for (size_t i = 0; i < ROOTS; i++)
        routes->nodes[routes->node_count++] = (struct node){ 0 };
    return true;
}

mishap *mishap_http_routes_make(const mishap_http_endpoint *const *lists, size_t count,
                                mishap_http_routes **out)
{
    mishap *failure = NULL;
    *out = NULL;
    mishap_http_routes *routes = mishap_allocate(sizeof *routes);
    if (!routes)
        return mishap_out_of_memory();
    *routes = (mishap_http_routes){ 0 };
    mishap_arena_init(&routes->arena, NULL, 0);
    if (!make_room(routes, lists, count)) {
        failure = mishap_out_of_memory();
        goto failed;
    }
    for (size_t i = 0; i < count; i++)
        for (const mishap_http_endpoint *e = lists[i]; e && e->route; e++) {
            struct route *route = &routes->routes[routes->count++];
            *route = (struct route){ .endpoint = *e, .extension = i };
            if ((failure = add_route(routes, route)))
                goto failed;
        }
    *out = routes;
    return NULL;

failed:
    mishap_http_routes_free(routes);
    return failure;
}

void mishap_http_routes_free(mishap_http_routes *routes)
{
    if (!routes)
        return;
    mishap_arena_release(&routes->arena);
    mishap_release(routes);
}

size_t mishap_http_route_count(const mishap_http_routes *routes)
{
    return routes->count;
}

const char *mishap_http_route_name(const mishap_http_routes *routes, size_t route)
{
    return routes->routes[route].endpoint.name;
}

bool mishap_http_route_is_call(const mishap_http_routes *routes, size_t route)
{
    const mishap_http_endpoint *endpoint = &routes->routes[route].endpoint;
    return endpoint->subject && !endpoint->fallback;
}

const char *mishap_http_route_text(const mishap_http_routes *routes, size_t route)
{
    return routes->routes[route].endpoint.route;
}

/* -- finding ----------------------------------------------------------------------------------- */

struct walk {
    const mishap_http_routes *routes;
    const char *end; /* of the path */
    mishap_http_method method;
    bool escaped; /* it contains a % */
    const struct route *found;
    mishap_http_match *match;
};

/* `.` and `..`, in any spelling, mean another path: they match nothing. */
static bool is_dots(mishap_text segment)
{
    return (segment.data[0] == '.' || segment.data[0] == '%') &&
           (mishap_url_spells(segment, (mishap_text)MISHAP_TEXT(".")) ||
            mishap_url_spells(segment, (mishap_text)MISHAP_TEXT("..")));
}

/* An escaped slash or NUL, which must not appear when the escape is decoded. */
static bool hides_slash(mishap_text tail)
{
    const char *end = tail.data + tail.length;
    for (const char *at = tail.data; (at = memchr(at, '%', (size_t)(end - at))); at++) {
        int c = mishap_url_escape(at, end);
        if (c == '/' || c == '\0')
            return true;
    }
    return false;
}

/* True if it is one segment or more, none of them empty or dots. */
static bool is_sound_tail(mishap_text tail)
{
    const char *end = tail.data + tail.length;
    for (const char *at = tail.data;; at++) {
        const char *slash = memchr(at, '/', (size_t)(end - at)), *stop = slash ? slash : end;
        mishap_text segment = { at, (size_t)(stop - at) };
        if (segment.length == 0 || is_dots(segment))
            return false;
        at = stop;
        if (!slash)
            return !hides_slash(tail);
    }
}

static void arrive(struct walk *walk, const struct node *node)
{
    walk->match->allowed |= node->allowed;
    walk->match->for_operator = walk->match->for_operator || node->for_operator;
    walk->match->for_all = walk->match->for_all || node->for_all;
    if (!walk->found && (int)walk->method < ROUTED && node->routes[walk->method])
        walk->found = &walk->routes->routes[node->routes[walk->method] - 1];
}

/* Go on from a node, with the slash at `at`. The recursion is never deeper than the tree, even for
 * a long path. */
static void walk_on(struct walk *walk, uint32_t from, const char *at, size_t params)
{
    const struct node *node = &walk->routes->nodes[from];
    if (at == walk->end) {
        arrive(walk, node);
        return;
    }
    if (!node->spelled && !node->any && !node->tail)
        return;
    const char *slash = memchr(at + 1, '/', (size_t)(walk->end - at - 1));
    const char *stop = slash ? slash : walk->end;
    mishap_text segment = { at + 1, (size_t)(stop - at - 1) };
    if (segment.length == 0)
        return;
    if (node->spelled) {
        bool escaped = walk->escaped && memchr(segment.data, '%', segment.length);
        uint32_t next = escaped ? find_escaped(walk->routes, from, segment)
                                : find_spelled(walk->routes, from, segment);
        if (next)
            walk_on(walk, next, stop, params);
    }
    if (node->any && !is_dots(segment)) {
        if (!walk->found)
            walk->match->params[params].raw = segment;
        walk_on(walk, node->any, stop, params + 1);
    }
    mishap_text tail = { at + 1, (size_t)(walk->end - at - 1) };
    if (node->tail && is_sound_tail(tail)) {
        if (!walk->found)
            walk->match->params[params].raw = tail;
        arrive(walk, &walk->routes->nodes[node->tail]);
    }
}

static bool find_below(const mishap_http_routes *routes, enum root root, mishap_http_method method,
                       mishap_text path, mishap_http_match *match)
{
    match->endpoint = NULL;
    match->allowed = 0;
    match->for_operator = match->for_all = false;
    match->route = match->param_count = 0;
    if (path.length == 0 || path.data[0] != '/')
        return false;
    struct walk walk = {
        .routes = routes,
        .end = path.data + path.length,
        .method = method == MISHAP_HTTP_HEAD ? MISHAP_HTTP_GET : method,
        .escaped = memchr(path.data, '%', path.length) != NULL,
        .match = match,
    };
    walk_on(&walk, root, path.length == 1 ? walk.end : path.data, 0);
    const struct route *found = walk.found;
    if (!found)
        return false;
    match->route = (size_t)(found - routes->routes);
    match->endpoint = &found->endpoint;
    match->extension = found->extension;
    match->param_count = found->param_count;
    for (size_t i = 0; i < found->param_count; i++)
        match->params[i].name = found->params[i];
    return true;
}

bool mishap_http_route_find(const mishap_http_routes *routes, mishap_http_method method,
                            mishap_text path, mishap_http_match *match)
{
    return find_below(routes, ROOT, method, path, match);
}

bool mishap_http_route_fall_back(const mishap_http_routes *routes, mishap_http_method method,
                                 mishap_text path, mishap_http_match *match)
{
    return find_below(routes, FALLBACK_ROOT, method, path, match);
}

void mishap_http_put_methods(mishap_buffer *buffer, unsigned allowed)
{
    bool first = true;
    for (size_t i = 0; i < MISHAP_HTTP_OTHER; i++) {
        if (!(allowed >> i & 1))
            continue;
        if (!first)
            MISHAP_PUT(buffer, ", ");
        mishap_buffer_put_text(buffer, mishap_http_method_names[i]);
        first = false;
    }
}
