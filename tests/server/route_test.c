/* Which operation a path means, and which methods it has. */
#include <stdio.h>
#include <time.h>

#include "routes_of.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static void answer(struct mishap_http_server *server, const mishap_http_request *request,
                   const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)server, (void)request, (void)match, (void)reply;
}

static const mishap_operation operations[] = {
    { "home", .route = "GET /" },
    { "users.create", .route = "POST /users" },
    { "users.list", .route = "GET /users" },
    { "tool.only", .route = NULL }, /* for the command line alone */
    { "users.get", .route = "GET /users/:id" },
    { "users.me", .route = "GET /users/me" },
    { "users.remove", .route = "DELETE /users/:user" },
    { "users.todos", .route = "GET /users/:id/todos/:number" },
    { "me.badges", .route = "GET /users/me/badges" },
    { "users.name", .route = "PUT /users/:id/name" },
    { "chaos.crash", .route = "POST /chaos/crash", .chaos = true },
    { "me.change", .route = "PATCH /users/me" },
    { "maps.tile", .route = "GET /maps/:x/:y" },
    { "maps.named", .route = "GET /maps/world/:zoom" },
    { "files.get", .route = "GET /files/{path...}" },
    { "files.index", .route = "GET /files/index" },
    { "files.raw", .route = "GET /files/:name/raw" },
    { "files.put", .route = "PUT /files/:path..." },
    { "deep", .route = "GET /a/:a/:b/:c/:d/:e/:f/:g/:h" },
    { 0 }
};
static const mishap_app app = { .name = "sample", .operations = operations };
static const mishap_http_endpoint endpoints[] = {
    { "GET /health", "health", .open = true, .answer = answer },
    { "GET /codes/:code", "code", .open = true, .answer = answer },
    { 0 },
};

static mishap_http_routes *made(bool chaos)
{
    mishap_http_routes *routes = NULL;
    assert_null(routes_of(&app, chaos, endpoints, &routes));
    assert_non_null(routes);
    return routes;
}

/* The path leads to the route of this name; NULL: to none. */
static mishap_http_match lead(const mishap_http_routes *routes, mishap_http_method method,
                              const char *path, const char *name)
{
    mishap_http_match match;
    memset(&match, 0x5A, sizeof match); /* nothing is read that was not written */
    bool found = mishap_http_route_find(routes, method, mishap_text_of(path), &match);
    if (found != (name != NULL))
        fail_msg("%s: %s", path, found ? "is there" : "is not there");
    if (!found) {
        assert_null(match.endpoint);
        return match;
    }
    assert_string_equal(mishap_http_route_name(routes, match.route), name);
    assert_string_equal(match.endpoint->name, name);
    return match;
}

static void assert_param(const mishap_http_match *match, size_t i, const char *name,
                         const char *raw)
{
    assert_true(i < match->param_count);
    assert_string_equal(match->params[i].name, name);
    assert_int_equal(match->params[i].raw.length, strlen(raw));
    assert_memory_equal(match->params[i].raw.data, raw, strlen(raw));
}

static void assert_methods(unsigned allowed, const char *expected)
{
    mishap_buffer buffer = { 0 };
    mishap_http_put_methods(&buffer, allowed);
    mishap_buffer_put_char(&buffer, '\0');
    assert_string_equal(buffer.data, expected);
    mishap_buffer_release(&buffer);
}

/* -- what is there ----------------------------------------------------------------------------- */

static void routes_are_numbered_operations_first(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false), *all = made(true);
    assert_int_equal(mishap_http_route_count(routes), 19);
    assert_int_equal(mishap_http_route_count(all), 20);
    assert_string_equal(mishap_http_route_name(routes, 0), "home");
    assert_string_equal(mishap_http_route_name(routes, 3), "users.get");
    assert_string_equal(mishap_http_route_name(routes, 17), "health");
    assert_string_equal(mishap_http_route_name(all, 9), "chaos.crash");
    assert_int_equal(lead(routes, MISHAP_HTTP_GET, "/codes/x", "code").route, 18);
    mishap_http_routes_free(routes);
    mishap_http_routes_free(all);
    mishap_http_routes_free(NULL);
}

static void a_path_leads_to_its_operation(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false);
    assert_int_equal(lead(routes, MISHAP_HTTP_GET, "/", "home").param_count, 0);
    assert_int_equal(lead(routes, MISHAP_HTTP_POST, "/users", "users.create").param_count, 0);
    lead(routes, MISHAP_HTTP_GET, "/users", "users.list");
    mishap_http_match match = lead(routes, MISHAP_HTTP_GET, "/users/7", "users.get");
    assert_int_equal(match.param_count, 1);
    assert_param(&match, 0, "id", "7");
    assert_string_equal(((const mishap_operation *)match.endpoint->subject)->name, "users.get");
    match = lead(routes, MISHAP_HTTP_DELETE, "/users/a%20b", "users.remove");
    assert_param(&match, 0, "user", "a%20b");
    match = lead(routes, MISHAP_HTTP_GET, "/users/7/todos/%2F..", "users.todos");
    assert_int_equal(match.param_count, 2);
    assert_param(&match, 0, "id", "7");
    assert_param(&match, 1, "number", "%2F..");
    match = lead(routes, MISHAP_HTTP_GET, "/a/1/2/3/4/5/6/7/8", "deep");
    assert_int_equal(match.param_count, MISHAP_HTTP_PATH_PARAMS);
    assert_param(&match, 7, "h", "8");
    match = lead(routes, MISHAP_HTTP_GET, "/codes/NOT_FOUND", "code");
    assert_param(&match, 0, "code", "NOT_FOUND");
    assert_string_equal(match.endpoint->route, endpoints[1].route);
    mishap_http_routes_free(routes);
}

static void a_segment_that_is_spelled_out_comes_first(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false);
    assert_int_equal(lead(routes, MISHAP_HTTP_GET, "/users/me", "users.me").param_count, 0);
    lead(routes, MISHAP_HTTP_GET, "/users/me/badges", "me.badges");
    lead(routes, MISHAP_HTTP_GET, "/users/mer", "users.get");
    lead(routes, MISHAP_HTTP_GET, "/users/m", "users.get");
    lead(routes, MISHAP_HTTP_GET, "/users/Me", "users.get");
    mishap_http_routes_free(routes);
}

static void a_way_that_ends_nowhere_is_left_again(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false);
    mishap_http_match match = lead(routes, MISHAP_HTTP_GET, "/users/me/todos/3", "users.todos");
    assert_param(&match, 0, "id", "me");
    assert_param(&match, 1, "number", "3");
    match = lead(routes, MISHAP_HTTP_PUT, "/users/me/name", "users.name");
    assert_param(&match, 0, "id", "me");
    /* The spelled-out path has no DELETE, the other has: both are this path. */
    match = lead(routes, MISHAP_HTTP_DELETE, "/users/me", "users.remove");
    assert_param(&match, 0, "user", "me");
    assert_methods(match.allowed, "GET, PATCH, DELETE, HEAD, OPTIONS");
    /* What is found first stays, though the other way is looked at, too. */
    match = lead(routes, MISHAP_HTTP_GET, "/maps/world/3", "maps.named");
    assert_int_equal(match.param_count, 1);
    assert_param(&match, 0, "zoom", "3");
    mishap_http_routes_free(routes);
}

static void escapes_are_compared_by_what_they_stand_for(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false);
    lead(routes, MISHAP_HTTP_POST, "/%75sers", "users.create");
    lead(routes, MISHAP_HTTP_POST, "/user%73", "users.create");
    lead(routes, MISHAP_HTTP_POST, "/%75%73%65%72%73", "users.create");
    lead(routes, MISHAP_HTTP_GET, "/users/%6de", "users.me");
    lead(routes, MISHAP_HTTP_GET, "/users/%6De/badges", "me.badges");
    mishap_http_match match = lead(routes, MISHAP_HTTP_GET, "/users/%6Dy", "users.get");
    assert_param(&match, 0, "id", "%6Dy");
    static const char *const nowhere[] = { "/%55sers",    "/users%",    "/users%7", "/users%00",
                                           "/%2575sers",  "/users%2F7", "/%75ser",  "%2Fusers",
                                           "/%75sers%73", "/%zzsers" };
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        assert_int_equal(lead(routes, MISHAP_HTTP_POST, nowhere[i], NULL).allowed, 0);
    /* The reader of a parameter finds a broken escape in it. */
    lead(routes, MISHAP_HTTP_GET, "/users/%", "users.get");
    lead(routes, MISHAP_HTTP_GET, "/users/%4", "users.get");
    mishap_http_routes_free(routes);
}

static void half_an_escape_is_none(void **state)
{
    (void)state;
    static const char text[] = "%41%4";
    mishap_buffer buffer = { 0 };
    assert_int_equal(mishap_url_escape(text, text + 3), 'A');
    assert_int_equal(mishap_url_escape(text, text + 2), -1);
    assert_int_equal(mishap_url_escape(text, text + 1), -1);
    assert_int_equal(mishap_url_escape(text, text), -1);
    assert_int_equal(mishap_url_escape(text + 1, text + 5), -1);
    assert_true(mishap_url_spells((mishap_text){ text, 3 }, T("A")));
    assert_false(mishap_url_spells((mishap_text){ text, 2 }, T("A")));
    assert_false(mishap_url_spells(T("A"), T("AA")));
    assert_false(mishap_url_spells(T("AA"), T("A")));
    assert_true(mishap_url_spells((mishap_text){ NULL, 0 }, T("")));
    assert_false(mishap_url_spells((mishap_text){ NULL, 0 }, T("A")));
    assert_false(mishap_url_unescape(&buffer, (mishap_text){ text, 5 }, false));
    assert_int_equal(buffer.length, 0);
    assert_true(mishap_url_unescape(&buffer, T("%fF+%2b%00"), false));
    assert_true(mishap_url_unescape(&buffer, T("+"), true));
    assert_true(mishap_url_unescape(&buffer, (mishap_text){ NULL, 0 }, true));
    assert_int_equal(buffer.length, 5);
    assert_memory_equal(buffer.data, "\xFF++\0 ", 5);
    mishap_buffer_release(&buffer);
}

/* -- what is not there ------------------------------------------------------------------------- */

static void other_paths_are_not_there(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "",
        "users",
        "*",
        "//",
        "/users/",
        "//users",
        "/users//",
        "/users/7/",
        "/users//me",
        "/user",
        "/userss",
        "/USERS",
        "/.",
        "/..",
        "/users/.",
        "/users/..",
        "/users/%2e",
        "/users/%2E%2e",
        "/users/.%2e",
        "/users/me/..",
        "/a/../users",
        "/./users",
        "/chaos/crash",
        "/users/7/todos",
        "/users/7/todos/1/2",
        "/users?x=1",
        "/users;a=b",
        "/ users",
        "/a/1/2/3/4/5/6/7",
        "/a/1/2/3/4/5/6/7/8/9",
        "/users/7/name/",
        "\\users",
    };
    mishap_http_routes *routes = made(false);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int method = 0; method < MISHAP_HTTP_METHODS; method++)
            if (lead(routes, (mishap_http_method)method, paths[i], NULL).allowed)
                fail_msg("%s has methods", paths[i]);
    mishap_http_match match;
    assert_false(mishap_http_route_find(routes, MISHAP_HTTP_GET, (mishap_text){ NULL, 0 }, &match));
    lead(routes, MISHAP_HTTP_GET, "/users/...", "users.get"); /* three dots are a name */
    lead(routes, MISHAP_HTTP_GET, "/users/.hidden", "users.get");
    mishap_http_routes_free(routes);
}

static void a_nul_in_a_path_is_part_of_it(void **state)
{
    (void)state;
    mishap_http_match match;
    mishap_http_routes *routes = made(false);
    assert_false(mishap_http_route_find(routes, MISHAP_HTTP_POST, T("/users\0"), &match));
    assert_true(mishap_http_route_find(routes, MISHAP_HTTP_GET, T("/users/\0"), &match));
    mishap_http_routes_free(routes);
}

static void a_path_knows_its_methods(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(true);
    assert_methods(lead(routes, MISHAP_HTTP_PUT, "/users", NULL).allowed,
                   "GET, POST, HEAD, OPTIONS");
    assert_methods(lead(routes, MISHAP_HTTP_OPTIONS, "/users", NULL).allowed,
                   "GET, POST, HEAD, OPTIONS");
    assert_methods(lead(routes, MISHAP_HTTP_OTHER, "/users/7", NULL).allowed,
                   "GET, DELETE, HEAD, OPTIONS");
    assert_methods(lead(routes, MISHAP_HTTP_GET, "/users/7/name", NULL).allowed, "PUT, OPTIONS");
    assert_methods(lead(routes, MISHAP_HTTP_HEAD, "/chaos/crash", NULL).allowed, "POST, OPTIONS");
    assert_methods(lead(routes, MISHAP_HTTP_POST, "/users/me", NULL).allowed,
                   "GET, PATCH, DELETE, HEAD, OPTIONS");
    assert_methods(lead(routes, MISHAP_HTTP_GET, "/health", "health").allowed,
                   "GET, HEAD, OPTIONS");
    assert_methods(0, "");
    assert_methods(1u << MISHAP_HTTP_OTHER, "");
    mishap_http_routes_free(routes);
}

static void head_is_served_where_get_is(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(true);
    mishap_http_match match = lead(routes, MISHAP_HTTP_HEAD, "/users/7", "users.get");
    assert_param(&match, 0, "id", "7");
    lead(routes, MISHAP_HTTP_HEAD, "/health", "health");
    lead(routes, MISHAP_HTTP_OPTIONS, "/health", NULL);
    mishap_http_routes_free(routes);
}

static void chaos_is_there_only_if_asked_for(void **state)
{
    (void)state;
    mishap_http_routes *calm = made(false), *wild = made(true);
    assert_int_equal(lead(calm, MISHAP_HTTP_POST, "/chaos/crash", NULL).allowed, 0);
    lead(wild, MISHAP_HTTP_POST, "/chaos/crash", "chaos.crash");
    mishap_http_routes_free(calm);
    mishap_http_routes_free(wild);
}

static void methods_go_by_their_names(void **state)
{
    (void)state;
    static const char *const names[] = { "GET",    "POST", "PUT",     "PATCH",
                                         "DELETE", "HEAD", "OPTIONS", "OTHER" };
    for (size_t i = 0; i < MISHAP_HTTP_METHODS; i++) {
        assert_string_equal(mishap_http_method_names[i].data, names[i]);
        assert_int_equal(mishap_http_method_names[i].length, strlen(names[i]));
    }
}

/* -- hostile and broken ------------------------------------------------------------------------ */

static void long_paths_are_no_burden(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    mishap_http_routes *routes = made(true);
    mishap_http_match match;
    char *path = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        path[i] = i % 2 ? 'a' : '/';
    assert_false(
        mishap_http_route_find(routes, MISHAP_HTTP_GET, (mishap_text){ path, SIZE }, &match));
    assert_int_equal(match.allowed, 0);
    memset(path, '/', SIZE);
    assert_false(
        mishap_http_route_find(routes, MISHAP_HTTP_GET, (mishap_text){ path, SIZE }, &match));
    memset(path + 7, '%', SIZE - 7);
    memcpy(path, "/users/", 7);
    assert_true(
        mishap_http_route_find(routes, MISHAP_HTTP_GET, (mishap_text){ path, SIZE }, &match));
    assert_int_equal(match.params[0].raw.length, SIZE - 7);
    free(path);
    mishap_http_routes_free(routes);
}

static void assert_refused(const mishap_operation *list, const mishap_http_endpoint *more,
                           const char *why)
{
    mishap_http_routes *routes = NULL;
    mishap_app broken = { .name = "broken", .operations = list };
    mishap *m = routes_of(&broken, true, more, &routes);
    assert_non_null(m);
    assert_null(routes);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    if (!strstr(mishap_public_message(mishap_told(m)).data, why))
        fail_msg("%s", mishap_public_message(mishap_told(m)).data);
    mishap_free(m);
}

static void routes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const mishap_operation none[] = { { 0 } };
    const mishap_operation health[] = { { "own.health", .route = "GET /health" }, { 0 } };
    const mishap_operation nine[] = { { "nine", .route = "GET /:a/:b/:c/:d/:e/:f/:g/:h/:i" },
                                      { 0 } };
    assert_refused(health, endpoints,
                   "`GET /health` of `health` is also the route of another operation");
    assert_refused(nine, NULL, "too many parameters");
    static const char *const broken[] = { "GET",        "GET ",  "GET users", "BREW /x",
                                          "OPTIONS /x", "GET/x", "",          "get /x" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const mishap_http_endpoint list[] = { { broken[i], "x", .open = false, .answer = answer },
                                              { 0 } };
        assert_refused(none, list, "is not a method, a space and a path");
    }
    const mishap_http_endpoint empty[] = { { "GET /x//y", "x", .open = false, .answer = answer },
                                           { 0 } };
    assert_refused(none, empty, "an empty segment");
    const mishap_http_endpoint twice[] = { { "GET /x/:a", "x", .open = false, .answer = answer },
                                           { "GET /x/:b", "y", .open = false, .answer = answer },
                                           { 0 } };
    assert_refused(none, twice, "is also the route of another operation");
}

static void without_routes_nothing_is_found(void **state)
{
    (void)state;
    const mishap_operation none[] = { { 0 } };
    mishap_app bare = { .name = "bare", .operations = none };
    mishap_http_routes *routes = NULL;
    assert_null(routes_of(&bare, false, NULL, &routes));
    assert_int_equal(mishap_http_route_count(routes), 0);
    lead(routes, MISHAP_HTTP_GET, "/", NULL);
    lead(routes, MISHAP_HTTP_GET, "/users", NULL);
    mishap_http_routes_free(routes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    mishap_use_allocator(&failing_allocator);
    for (size_t at = 1; !done; at++) {
        mishap_http_routes *routes = NULL;
        calls = 0, blocks = 0, fail_at = at, fail_once = false;
        mishap *m = routes_of(&app, true, endpoints, &routes);
        done = m == NULL;
        assert_true(done == (routes != NULL));
        mishap_free(m);
        mishap_http_routes_free(routes);
        assert_int_equal(blocks, 0);
        assert_true(at < 100);
    }
    fail_at = 0;
    mishap_use_allocator(NULL);
}

/* -- many -------------------------------------------------------------------------------------- */

enum { MANY = 100, FEW = 4, ROUTE_ROOM = 64 };

static char names[MANY][ROUTE_ROOM], patterns[MANY][ROUTE_ROOM], addresses[MANY][ROUTE_ROOM];

/* What it costs to find one of `count` routes whose names are much alike, in nanoseconds of the
 * processor: the best of several tries, for what else the machine does only adds. */
static double cost_of_finding(size_t count)
{
    enum { FINDS = 40000, TRIES = 7 };
    static mishap_operation many[MANY + 1];
    mishap_http_routes *routes = NULL;
    double best = 0;
    memset(many, 0, sizeof many);
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], ROUTE_ROOM, "resource%zu", i);
        snprintf(patterns[i], ROUTE_ROOM, "GET /api/resource_%03zu_list/:id/items", i);
        snprintf(addresses[i], ROUTE_ROOM, "/api/resource_%03zu_list/%zu/items", i, i * 7919);
        many[i] = (mishap_operation){ .name = names[i], .route = patterns[i] };
    }
    mishap_app large = { .name = "large", .operations = many };
    assert_null(routes_of(&large, false, NULL, &routes));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(lead(routes, MISHAP_HTTP_GET, addresses[i], names[i]).route, i);
    for (int tries = 0; tries < TRIES; tries++) {
        struct timespec from, to;
        size_t found = 0;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        for (size_t i = 0; i < FINDS; i++) {
            mishap_http_match match;
            found += mishap_http_route_find(routes, MISHAP_HTTP_GET,
                                            mishap_text_of(addresses[i % count]), &match);
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        assert_int_equal(found, FINDS);
        double each = ((double)(to.tv_sec - from.tv_sec) * 1e9 +
                       (double)(to.tv_nsec - from.tv_nsec)) /
                      FINDS;
        best = tries == 0 || each < best ? each : best;
    }
    mishap_http_routes_free(routes);
    return best;
}

/* A list that is searched from its start would take MANY / FEW times as long. */
static void many_routes_are_found_as_quickly_as_few(void **state)
{
    (void)state;
    double few = cost_of_finding(FEW), many = cost_of_finding(MANY);
    print_message("# %d routes %.1f ns, %d routes %.1f ns\n", FEW, few, MANY, many);
    assert_true(many < few * MANY / FEW / 3);
}

static void a_tail_is_the_rest_of_the_path(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false);
    static const char *const tails[] = { "a",       "a/b",          "a/b/c.txt", "index/b",
                                         "a/raw/b", "a%20b/%C3%A4", "...",       ".a/b..",
                                         "a%252Fb", "a%2",          "..a/.b",    "%2e%2e%2e" };
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        char path[64];
        snprintf(path, sizeof path, "/files/%s", tails[i]);
        mishap_http_match match = lead(routes, MISHAP_HTTP_GET, path, "files.get");
        assert_int_equal(match.param_count, 1);
        assert_param(&match, 0, "path", tails[i]);
    }
    lead(routes, MISHAP_HTTP_HEAD, "/files/a/b", "files.get");
    mishap_http_match put = lead(routes, MISHAP_HTTP_PUT, "/files/a/b", "files.put");
    assert_param(&put, 0, "path", "a/b");
    assert_methods(put.allowed, "GET, PUT, HEAD, OPTIONS");
    mishap_http_routes_free(routes);
}

static void what_is_spelled_out_comes_before_a_tail(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false);
    lead(routes, MISHAP_HTTP_GET, "/files/index", "files.index");
    lead(routes, MISHAP_HTTP_GET, "/files/%69ndex", "files.index");
    mishap_http_match raw = lead(routes, MISHAP_HTTP_GET, "/files/a/raw", "files.raw");
    assert_param(&raw, 0, "name", "a");
    lead(routes, MISHAP_HTTP_PUT, "/files/index", "files.put");
    mishap_http_routes_free(routes);
}

static void a_tail_leads_nowhere_else(void **state)
{
    (void)state;
    mishap_http_routes *routes = made(false);
    static const char *const paths[] = {
        "/files",          "/files/",         "/files//",      "/files//a",       "/files/a//b",
        "/files/a/",       "/files/.",        "/files/..",     "/files/a/..",     "/files/../a",
        "/files/a/./b",    "/files/%2e%2e/a", "/files/a/.%2E", "/files/%2E/b",    "/files/a%2fb",
        "/files/a/b%2F..", "/files/%2F",      "/files/a%00",   "/files/a/b%00.c", "/files/a/%2e",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        lead(routes, MISHAP_HTTP_GET, paths[i], NULL);
    mishap_http_routes_free(routes);
}

/* So that the code which formats a failure of a request knows its endpoint. */
static void a_request_leads_to_an_operation_or_to_none(void **state)
{
    static const struct {
        mishap_http_method method;
        const char *path, *name;
    } asked[] = {
        { MISHAP_HTTP_POST, "/users", "users.create" },
        { MISHAP_HTTP_DELETE, "/users", NULL },
        { MISHAP_HTTP_POST, "/users/", NULL },
        { MISHAP_HTTP_GET, "/users/7/todos/1", "users.todos" },
        { MISHAP_HTTP_GET, "/users//todos/1", NULL },
        { MISHAP_HTTP_GET, "/files/a/b/c", "files.get" },
        { MISHAP_HTTP_GET, "/files/", NULL },
        { MISHAP_HTTP_GET, "/health", NULL },
        { MISHAP_HTTP_POST, "", NULL },
    };
    mishap_http_routes *routes = made(false);
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        mishap_http_match match = { 0 };
        bool found = mishap_http_route_find(routes, asked[i].method, mishap_text_of(asked[i].path),
                                            &match);
        mishap_http_request request = { .endpoint = found ? match.endpoint : NULL };
        const mishap_operation *operation = mishap_api_operation_of(&request);
        const char *name = operation ? operation->name : "none";
        if (strcmp(name, asked[i].name ? asked[i].name : "none") != 0)
            fail_msg("%s: %s", asked[i].path, name);
    }
    mishap_http_routes_free(routes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_leads_to_an_operation_or_to_none),
        TEST(routes_are_numbered_operations_first),
        TEST(a_path_leads_to_its_operation),
        TEST(a_segment_that_is_spelled_out_comes_first),
        TEST(a_way_that_ends_nowhere_is_left_again),
        TEST(escapes_are_compared_by_what_they_stand_for),
        TEST(half_an_escape_is_none),
        TEST(other_paths_are_not_there),
        TEST(a_nul_in_a_path_is_part_of_it),
        TEST(a_path_knows_its_methods),
        TEST(head_is_served_where_get_is),
        TEST(chaos_is_there_only_if_asked_for),
        TEST(methods_go_by_their_names),
        TEST(long_paths_are_no_burden),
        TEST(routes_that_cannot_be_are_refused),
        TEST(without_routes_nothing_is_found),
        TEST(every_allocation_may_fail),
        TEST(a_tail_is_the_rest_of_the_path),
        TEST(what_is_spelled_out_comes_before_a_tail),
        TEST(a_tail_leads_nowhere_else),
        TEST(many_routes_are_found_as_quickly_as_few),
    };
    return RUN(tests);
}
