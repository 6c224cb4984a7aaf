/* What can be read over MCP: the catalog, and operations that have an address. */
#include "mcp_runner.h"
#include "mcp_set_up.h"
#include "mcp/calls/flight.h"
#include "mcp/offers/address.h"
#include "operation/chosen.h"

/* -- a program --------------------------------------------------------------------------------- */

#define TRACE  "Traceback (most recent call last):\n  File \"x.py\", line 3, in f"
#define MARKER "PRIVATE-SIDE-MARKER"

static mishap *read_plain(mishap_call *call)
{
    return mishap_answer_document(call, T("plain"));
}

static void remark(mishap_call *call)
{
    mishap_warn(call, "It is \"%s\".", "late");
    mishap_answer_cut(call, 20, 100);
}

static mishap *read_thing(mishap_call *call)
{
    const char *id = mishap_string(call, "id");
    if (strcmp(id, "broken") == 0)
        return mishap_note(mishap_raise(INTERNAL_ERROR, "The private reason."), "at", MARKER);
    if (strcmp(id, "none") == 0)
        return mishap_raise(NOT_FOUND, "There is no such thing.");
    if (strcmp(id, "gone") == 0)
        return mishap_raise(GONE, "It is gone.");
    if (strcmp(id, "later") == 0)
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "Not now."), 1500);
    if (strcmp(id, "wrong") == 0)
        return mishap_raise(BAD_REQUEST, "This cannot be read.");
    if (strcmp(id, "undeclared") == 0)
        return mishap_raise(ALREADY_EXISTS, "The " MARKER " exists.");
    if (strcmp(id, "trace") == 0)
        return mishap_answer_member(call, "log", TRACE);
    if (strcmp(id, "nothing") == 0)
        return mishap_no_content(call);
    if (strcmp(id, "remarks") == 0)
        remark(call);
    return mishap_answer_member(call, "id", id);
}

static mishap *read_part(mishap_call *call)
{
    mishap_answer_member(call, "number", mishap_integer(call, "number"));
    mishap_answer_member(call, "exact", mishap_boolean(call, "exact"));
    mishap_answer_member(call, "kind", mishap_string(call, "kind"));
    return mishap_answer_member(call, "size", mishap_integer(call, "size"));
}

static mishap *read_picture(mishap_call *call)
{
    return mishap_answer_content(
        call, "[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\"},"
              "{\"type\":\"text\",\"text\":\"a caption\"},"
              "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://other\",\"text\":\"o\"}},"
              "{\"type\":\"strange\"}]");
}

static mishap *read_album(mishap_call *call)
{
    remark(call);
    return read_picture(call);
}

static mishap *crash(mishap_call *call)
{
    (void)call;
    raise(SIGSEGV);
    return NULL;
}

static mishap *who(mishap_call *call)
{
    return mishap_answer_member(call, "caller", mishap_caller(call));
}

static const mishap_param thing_params[] = {
    { "id", MISHAP_STRING, .required = true, .length = { 1, 10 } },
    { 0 },
};
static const char *const kinds[] = { "large", "little", "middling", NULL };
static const mishap_param part_params[] = {
    { "number", MISHAP_INTEGER, .required = true, .range = { 1, 9 } },
    { "kind", MISHAP_ENUM, .choices = kinds },
    { "exact", .type = MISHAP_BOOLEAN },
    { "size", MISHAP_INTEGER, .initial = "3" },
    { "colour", MISHAP_ENUM, .choices = kinds },
    { 0 },
};
static const mishap_param a_thing[] = { { "id", .type = MISHAP_STRING }, { 0 } };

static const mishap_service cellar = { .name = "cellar" };

static const mishap_operation operations[] = {
    { .name = "plain",
      .summary = "A plain text",
      .resource = "test://plain",
      .quick = true,
      .run = read_plain },
    { .name = "things.get",
      .summary = "A thing",
      .description = "Everything about it.",
      .params = thing_params,
      .answers = a_thing,
      .resource = "test://things/{id}/data",
      .raises = MISHAP_RAISES(NOT_FOUND, GONE, UNAVAILABLE),
      .quick = true,
      .run = read_thing },
    { .name = "things.one",
      .summary = "The one thing",
      .resource = "test://things/one/data",
      .quick = true,
      .run = read_plain },
    { .name = "things.part",
      .summary = "A part of a thing",
      .params = part_params,
      .resource = "test://parts/{number}/{kind}/{exact}",
      .quick = true,
      .run = read_part },
    { .name = "apart",
      .summary = "A thing, from a worker",
      .params = thing_params,
      .resource = "test://apart/{id}",
      .raises = MISHAP_RAISES(NOT_FOUND, GONE, UNAVAILABLE),
      .service = &cellar,
      .run = read_thing },
    { .name = "picture",
      .summary = "A picture",
      .resource = "test://picture",
      .quick = true,
      .run = read_picture },
    { .name = "album",
      .summary = "Pictures",
      .resource = "test://album",
      .quick = true,
      .run = read_album },
    { .name = "crash",
      .summary = "Crash",
      .resource = "test://crash",
      .quick = true,
      .run = crash },
    { .name = "who", .summary = "Who asks?", .resource = "test://who", .quick = true, .run = who },
    { .name = "drill",
      .summary = "Fail",
      .resource = "test://drill",
      .chaos = true,
      .run = read_plain },
    { 0 },
};
static const mishap_app app = { .name = "mcp-resources", .version = "1", .operations = operations };

static mishap *do_nothing(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_operation one_operation[] = {
    { .name = "nothing", .summary = "Do nothing", .run = do_nothing },
    { 0 },
};
static const mishap_app bare = { .name = "mcp-resources",
                                 .version = "1",
                                 .operations = one_operation };

static const mishap_mcp_revision revisions[] = { MISHAP_MCP_2024_11_05, MISHAP_MCP_2025_03_26,
                                                 MISHAP_MCP_2025_06_18, MISHAP_MCP_2025_11_25,
                                                 MISHAP_MCP_2026_07_28 };
enum { REVISIONS = sizeof revisions / sizeof *revisions };

static void read_uri(struct wire *w, const char *uri)
{
    char members[400];
    snprintf(members, sizeof members, "\"uri\":\"%s\"", uri);
    ask(w, "resources/read", members);
}

/* -- lists ------------------------------------------------------------------------------------- */

static void lists_the_catalog_in_every_revision(void **state)
{
    (void)state;
    for (int i = 0; i < REVISIONS; i++) {
        struct wire w;
        bool modern = mishap_mcp_is_modern(revisions[i]);
        open_wire(&w, &bare, revisions[i]);
        ask(&w, "resources/list", "");
        assert_int_equal(count_at(&w, "/result/resources"), 1);
        assert_string_equal(text_at(&w, "/result/resources/0/uri"), "catalog://codes");
        assert_string_equal(text_at(&w, "/result/resources/0/name"), "codes");
        assert_string_equal(text_at(&w, "/result/resources/0/mimeType"), "application/json");
        assert_int_equal(at(&w, "/result/resources/0/title") != NULL,
                         revisions[i] > MISHAP_MCP_2025_03_26);
        assert_null(at(&w, "/result/nextCursor"));
        assert_int_equal(at(&w, "/result/ttlMs") != NULL, modern);
        assert_int_equal(at(&w, "/result/cacheScope") != NULL, modern);
        ask(&w, "resources/templates/list", "");
        assert_int_equal(count_at(&w, "/result/resourceTemplates"), 1);
        assert_string_equal(text_at(&w, "/result/resourceTemplates/0/uriTemplate"),
                            "catalog://codes/{code}");
        assert_null(at(&w, "/result/resourceTemplates/0/uri"));
        assert_int_equal(at(&w, "/result/ttlMs") != NULL, modern);
        assert_int_equal(w.finished, 2);
        close_wire(&w);
    }
}

/* Where an item stands in a list, by its address; fails if it is not there. */
static yyjson_val *item_at(struct wire *w, const char *list, const char *key, const char *address)
{
    size_t index, count;
    yyjson_val *item;
    yyjson_arr_foreach(at(w, list), index, count, item)
    {
        if (yyjson_equals_str(yyjson_obj_get(item, key), address))
            return item;
    }
    fail_msg("%s is not listed", address);
    return NULL;
}

static void operations_with_an_address_are_listed(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "resources/list", "");
    assert_int_equal(count_at(&w, "/result/resources"), 7); /* no drill, and the catalog */
    yyjson_val *item = item_at(&w, "/result/resources", "uri", "test://plain");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(item, "name")), "plain");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(item, "title")), "A plain text");
    assert_null(yyjson_obj_get(item, "mimeType")); /* it does not say what it answers */
    ask(&w, "resources/templates/list", "");
    assert_int_equal(count_at(&w, "/result/resourceTemplates"), 4);
    item = item_at(&w, "/result/resourceTemplates", "uriTemplate", "test://things/{id}/data");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(item, "name")), "things.get");
    assert_string_equal(
        yyjson_get_str(yyjson_obj_get(item, "description")),
        "A thing. Everything about it. May fail with NOT_FOUND, GONE, UNAVAILABLE.");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(item, "mimeType")), "application/json");
    close_wire(&w);
}

static void lists_come_page_by_page(void **state)
{
    struct wire w;
    char members[300];
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.server.page_size = 1;
    ask(&w, "resources/list", "");
    assert_int_equal(count_at(&w, "/result/resources"), 1);
    snprintf(members, sizeof members, "\"cursor\":\"%s\"", text_at(&w, "/result/nextCursor"));
    ask(&w, "resources/list", members);
    assert_int_equal(count_at(&w, "/result/resources"), 1);
    assert_string_equal(text_at(&w, "/result/resources/0/uri"), "test://plain");
    w.server.page_size = 6;
    ask(&w, "resources/list", "");
    snprintf(members, sizeof members, "\"cursor\":\"%s\"", text_at(&w, "/result/nextCursor"));
    ask(&w, "resources/list", members);
    assert_int_equal(count_at(&w, "/result/resources"), 1);
    assert_null(at(&w, "/result/nextCursor"));
    ask(&w, "resources/list", "\"cursor\":\"nonsense\"");
    assert_error(&w, -32602);
    ask(&w, "resources/templates/list", "\"cursor\":5");
    assert_error(&w, -32602);
    close_wire(&w);
}

/* Only what is of the service, and what every server has. */
static void a_server_of_one_service_offers_that_and_the_catalog(void **state)
{
    mishap_app chosen;
    mishap_arena arena;
    mishap_mcp_server server = { .app = &chosen, .services = "cellar" };
    (void)state;
    mishap_arena_init(&arena, NULL, 0);
    assert_null(mishap_app_choose(&app, "cellar", &arena, &chosen));
    assert_null(mishap_mcp_server_make(&server, false));
    assert_int_equal(server.resource_count, 3);
    assert_true(server.resources[0].ours && server.resources[1].ours);
    assert_string_equal(server.resources[2].operation->resource, "test://apart/{id}");
    mishap_mcp_server_release(&server);
    mishap_arena_release(&arena);
    server = (mishap_mcp_server){ .app = &app };
    assert_null(mishap_mcp_server_make(&server, true));
    assert_non_null(mishap_mcp_resource_find(&server, T("test://drill")));
    mishap_mcp_server_release(&server);
}

static void the_addresses_of_codes_are_taken(void **state)
{
    static const mishap_operation thief[] = {
        { .name = "a", .summary = "A", .resource = "catalog://mine", .run = do_nothing },
        { 0 },
    };
    static const mishap_app theirs = { .name = "mcp-resources", .operations = thief };
    mishap_mcp_server server = { .app = &theirs };
    (void)state;
    mishap *failure = mishap_mcp_server_make(&server, false);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
    assert_null(server.tools);
    mishap_free(failure);
}

/* -- reading ----------------------------------------------------------------------------------- */

static void reads_all_codes(void **state)
{
    struct wire w;
    size_t count = 0;
    (void)state;
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next)
        count += catalog->count;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    ask(&w, "resources/read", "\"uri\":\"catalog://codes\"");
    assert_string_equal(text_at(&w, "/result/contents/0/uri"), "catalog://codes");
    assert_non_null(at(&w, "/result/ttlMs"));
    const char *text = text_at(&w, "/result/contents/0/text");
    yyjson_doc *document = yyjson_read(text, strlen(text), 0);
    assert_non_null(document);
    yyjson_val *codes = yyjson_obj_get(yyjson_doc_get_root(document), "codes");
    assert_int_equal(yyjson_arr_size(codes), count);
    yyjson_doc_free(document);
    close_wire(&w);
}

static void reads_a_code_in_any_spelling(void **state)
{
    static const char *const spellings[] = { "ALREADY_EXISTS", "already_exists", "ALREADY-EXISTS",
                                             "AlreadyExists", "already%5Fexists" };
    struct wire w;
    char members[200], expected[200];
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_06_18);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        snprintf(members, sizeof members, "\"uri\":\"catalog://codes/%s\"", spellings[i]);
        ask(&w, "resources/read", members);
        snprintf(expected, sizeof expected, "catalog://codes/%s", spellings[i]);
        assert_string_equal(text_at(&w, "/result/contents/0/uri"), expected);
        assert_non_null(
            strstr(text_at(&w, "/result/contents/0/text"), "\"code\":\"ALREADY_EXISTS\""));
    }
    ask(&w, "resources/read", "\"uri\":\"catalog://codes/404\"");
    assert_non_null(strstr(text_at(&w, "/result/contents/0/text"), "\"code\":\"NOT_FOUND\""));
    close_wire(&w);
}

static void reading_runs_the_operation(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    read_uri(&w, "test://plain");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "plain");
    assert_string_equal(text_at(&w, "/result/contents/0/mimeType"), "text/plain");
    assert_int_equal(number_at(&w, "/result/ttlMs"), 0); /* it may be another the next time */
    assert_string_equal(text_at(&w, "/result/cacheScope"), "private");
    assert_string_equal(text_at(&w, "/result/resultType"), "complete");
    read_uri(&w, "test://things/123/data");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "{\"id\":\"123\"}");
    assert_string_equal(text_at(&w, "/result/contents/0/uri"), "test://things/123/data");
    assert_string_equal(text_at(&w, "/result/contents/0/mimeType"), "application/json");
    assert_int_equal(count_at(&w, "/result/contents"), 1);
    read_uri(&w, "test://things/nothing/data");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "");
    assert_int_equal(w.finished, 3);
    close_wire(&w);
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    read_uri(&w, "test://plain");
    assert_null(at(&w, "/result/ttlMs"));
    close_wire(&w);
}

static void variables_become_what_their_parameters_are(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    read_uri(&w, "test://parts/7/little/true");
    assert_string_equal(text_at(&w, "/result/contents/0/text"),
                        "{\"number\":7,\"exact\":true,\"kind\":\"little\",\"size\":3}");
    read_uri(&w, "test://things/a%2Fb%20%C3%A9/data");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "{\"id\":\"a/b \u00e9\"}");
    read_uri(&w, "test://things/a+b/data");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "{\"id\":\"a+b\"}");
    close_wire(&w);
}

static void an_address_without_variables_comes_first(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    read_uri(&w, "test://things/one/data");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "plain");
    close_wire(&w);
}

static void blocks_are_parts_of_the_contents(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    read_uri(&w, "test://picture");
    assert_int_equal(count_at(&w, "/result/contents"), 4);
    assert_string_equal(text_at(&w, "/result/contents/0/uri"), "test://picture");
    assert_string_equal(text_at(&w, "/result/contents/0/mimeType"), "image/png");
    assert_string_equal(text_at(&w, "/result/contents/0/blob"), "AAAA");
    assert_null(at(&w, "/result/contents/0/text"));
    assert_string_equal(text_at(&w, "/result/contents/1/mimeType"), "text/plain");
    assert_string_equal(text_at(&w, "/result/contents/1/text"), "a caption");
    assert_string_equal(text_at(&w, "/result/contents/2/uri"), "test://other");
    assert_string_equal(text_at(&w, "/result/contents/3/text"), "{\"type\":\"strange\"}");
    close_wire(&w);
}

static void remarks_stand_beside_the_contents(void **state)
{
    static const char *const uris[] = { "test://things/remarks/data", "test://album" };
    (void)state;
    for (size_t i = 0; i < 2 * REVISIONS; i++) {
        struct wire w;
        open_wire(&w, &app, revisions[i / 2]);
        read_uri(&w, uris[i % 2]);
        assert_non_null(at(&w, "/result/contents/0"));
        yyjson_val *meta = at(&w, "/result/_meta");
        assert_string_equal(
            yyjson_get_str(yyjson_arr_get_first(yyjson_obj_get(meta, "dev.mishap/warnings"))),
            "It is \"late\".");
        assert_int_equal(yyjson_get_int(yyjson_obj_get(meta, "dev.mishap/listed")), 20);
        assert_int_equal(yyjson_get_int(yyjson_obj_get(meta, "dev.mishap/total")), 100);
        bool modern = mishap_mcp_is_modern(revisions[i / 2]);
        assert_int_equal(yyjson_obj_get(meta, "io.modelcontextprotocol/serverInfo") != NULL,
                         modern);
        assert_int_equal(at(&w, "/result/ttlMs") != NULL, modern);
        read_uri(&w, "test://plain"); /* of this nothing is remarked */
        assert_null(yyjson_obj_get(at(&w, "/result/_meta"), "dev.mishap/warnings"));
        close_wire(&w);
    }
}

static void the_handler_gets_to_know_who_reads(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.peer.caller = "ada";
    read_uri(&w, "test://who");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "{\"caller\":\"ada\"}");
    close_wire(&w);
}

/* -- failures ---------------------------------------------------------------------------------- */

static void what_is_not_there_is_said_as_the_revision_has_it(void **state)
{
    static const char *const uris[] = {
        "catalog://codes/NO_SUCH_CODE",
        "catalog://codes/",
        "catalog://codes/a/b",
        "catalog://codes/%",
        "catalog://codes/%FF",
        "catalog://codes/a%00",
        "catalog://codes/NOT_FOUND?x",
        "catalog://",
        "test://things//data",
        "test://things/1/2/data",
        "test://things/1/data/",
        "test://things/1/data#x",
        "test://things",
        "test://things/none/data",
        "test://parts/1/2",
        "test://drill",
        "CATALOG://codes",
    };
    (void)state;
    for (int i = 0; i < REVISIONS; i++) {
        struct wire w;
        open_wire(&w, &app, revisions[i]);
        for (size_t j = 0; j < sizeof uris / sizeof *uris; j++) {
            read_uri(&w, uris[j]);
            assert_error(&w, mishap_mcp_is_modern(revisions[i]) ? -32602 : -32002);
            assert_string_equal(text_at(&w, "/error/data/code"), "NOT_FOUND");
            assert_non_null(at(&w, "/error/data/uri"));
        }
        read_uri(&w, "test://things/gone/data");
        assert_error(&w, mishap_mcp_is_modern(revisions[i]) ? -32602 : -32002);
        assert_int_equal(w.finished, sizeof uris / sizeof *uris + 1);
        close_wire(&w);
    }
    assert_logged(NULL);
}

static void what_the_operation_says_is_told(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    read_uri(&w, "test://things/none/data");
    assert_string_equal(text_at(&w, "/error/message"), "There is no such thing.");
    assert_string_equal(text_at(&w, "/error/data/uri"), "test://things/none/data");
    assert_string_equal(text_at(&w, "/error/data/category"), "resource");
    read_uri(&w, "test://things/later/data");
    assert_error(&w, -32603);
    assert_string_equal(text_at(&w, "/error/data/code"), "UNAVAILABLE");
    assert_int_equal(number_at(&w, "/error/data/retry_after_ms"), 1500);
    assert_int_equal(strlen(text_at(&w, "/error/data/incident")), MISHAP_ID_LENGTH);
    read_uri(&w, "test://things/wrong/data");
    assert_error(&w, -32602);
    assert_string_equal(text_at(&w, "/error/data/code"), "BAD_REQUEST");
    close_wire(&w);
    assert_logged(NULL);
}

static void variables_are_checked(void **state)
{
    static const struct {
        const char *uri, *field;
    } wrong[] = {
        { "test://parts/seven/little/true", "number" }, { "test://parts/10/little/true", "number" },
        { "test://parts/07/little/true", "number" },    { "test://parts/1/huge/true", "kind" },
        { "test://parts/1/little/yes", "exact" },       { "test://things/12345678901/data", "id" },
        { "test://apart/12345678901", "id" },
    };
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        read_uri(&w, wrong[i].uri);
        assert_error(&w, -32602);
        assert_string_equal(text_at(&w, "/error/data/code"), "VALIDATION_ERROR");
        assert_string_equal(text_at(&w, "/error/data/fields/0/field"), wrong[i].field);
        assert_string_equal(text_at(&w, "/error/data/uri"), wrong[i].uri);
    }
    close_wire(&w);
    assert_logged(NULL);
}

/* The incident id that was told leads to what was noted. */
static void a_failure_inside_stays_there(void **state)
{
    static const char *const uris[] = { "test://things/broken/data",
                                        "test://things/undeclared/data" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct wire w;
        open_wire(&w, &app, MISHAP_MCP_2025_11_25);
        read_uri(&w, uris[i]);
        assert_error(&w, -32603);
        assert_string_equal(text_at(&w, "/error/message"), "An internal error occurred.");
        assert_null(memmem(w.out.data, w.out.length, "private reason", 14));
        assert_null(memmem(w.out.data, w.out.length, MARKER, strlen(MARKER)));
        assert_int_equal(strlen(text_at(&w, "/error/data/incident")), MISHAP_ID_LENGTH);
        char *text = logged();
        assert_non_null(strstr(text, text_at(&w, "/error/data/incident")));
        assert_non_null(strstr(text, MARKER));
        assert_non_null(strstr(text, "things.get"));
        free(text);
        close_wire(&w);
    }
}

static int deaths;

static void count_death(mishap_mcp_peer *peer)
{
    (void)peer;
    deaths++;
}

static void a_crash_is_contained(void **state)
{
    struct wire w;
    (void)state;
    contain_again();
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.peer.died = count_death;
    deaths = 0;
    read_uri(&w, "test://crash");
    assert_error(&w, -32603);
    assert_non_null(at(&w, "/error/data/incident"));
    assert_int_equal(deaths, 1);
    read_uri(&w, "test://plain");
    assert_non_null(at(&w, "/result"));
    close_wire(&w);
    free(logged());
}

/* It is the program's own, even if it looks like a trace, and it is not recorded in the log. */
static void contents_are_not_changed(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    read_uri(&w, "test://things/trace/data");
    assert_non_null(strstr(text_at(&w, "/result/contents/0/text"), "x.py"));
    assert_logged(NULL);
    close_wire(&w);
}

/* A transport without room for a call says so, and when to try again. */
static void what_is_not_quick_needs_a_worker(void **state)
{
    struct wire w;
    mishap_keeper_plan plan;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.server.runner = open_inside(&plan, &app, 0);
    read_uri(&w, "test://apart/1");
    assert_error(&w, -32603);
    assert_string_equal(text_at(&w, "/error/data/code"), "UNAVAILABLE");
    assert_non_null(at(&w, "/error/data/retry_after_ms"));
    assert_int_equal(w.finished, 1);
    assert_null(w.peer.flights);
    mishap_runner_close(w.server.runner);
    w.server.runner = open_inside(&plan, &app, 1);
    read_uri(&w, "test://apart/1");
    assert_int_equal(w.out.length, 0);
    mishap_runner_flush(w.server.runner);
    read_answer(&w);
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "{\"id\":\"1\"}");
    assert_int_equal(w.finished, 2);
    mishap_runner_close(w.server.runner);
    close_wire(&w);
}

/* -- does it exist? ---------------------------------------------------------------------------- */

static void what_may_be_read_is_known_without_waiting(void **state)
{
    static const struct {
        const char *uri;
        bool exists;
    } cases[] = {
        { "catalog://codes", true },
        { "catalog://codes/not_found", true },
        { "catalog://codes/NO_SUCH_CODE", false },
        { "test://plain", true },
        { "test://things/1/data", true },
        { "test://things/none/data", false },
        { "test://things/broken/data", true }, /* it was there, perhaps */
        { "test://apart/none", true },         /* no handler was called */
        { "test://apart/12345678901", false }, /* against the rules */
        { "test://parts/10/little/true", false },
        { "test://nowhere", false },
        { "", false },
    };
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (mishap_mcp_resource_exists(&w.peer, mishap_text_of(cases[i].uri)) != cases[i].exists)
            fail_msg("%s", cases[i].uri);
    close_wire(&w);
    free(logged());
}

static void what_is_asked_wrongly_names_the_field(void **state)
{
    static const char *const wrong[] = { "",
                                         "\"uri\":null",
                                         "\"uri\":\"\"",
                                         "\"uri\":5",
                                         "\"uri\":[\"catalog://codes\"]",
                                         "\"uri\":\"\\u0000\"",
                                         "\"uri\":\"catalog://codes\\u0000\"" };
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ask(&w, "resources/read", wrong[i]);
        assert_error(&w, -32602);
        assert_string_equal(text_at(&w, "/error/data/fields/0/field"), "uri");
    }
    send_text(&w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\"}");
    assert_error(&w, -32602);
    close_wire(&w);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* After any failure there is one answer, and it is complete. */
static void read_one(const void *input)
{
    static const char *const uris[] = {
        "catalog://codes/404",
        "catalog://codes/nothing",
        "test://things/1/data",
        "test://things/none/data",
        "test://things/broken/data",
        "test://things/remarks/data",
        "test://parts/7/little/true",
        "test://parts/8/none/x",
        "test://picture",
        "test://album",
    };
    struct wire w;
    open_small_wire(&w, input);
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        char text[300];
        mishap_buffer_reset(&w.out);
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":"
                 "{\"uri\":\"%s\"}}",
                 uris[i]);
        mishap_mcp_take_text(&w.peer, &w.channel, &w.reader, mishap_text_of(text));
        read_response(&w);
        assert_true(at(&w, "/error") || at(&w, "/result/contents/0/uri"));
        assert_null(memmem(w.out.data, w.out.length, MARKER, strlen(MARKER)));
    }
    assert_int_equal(w.finished, sizeof uris / sizeof *uris);
    close_small_wire(&w);
}

static void read_all(const void *input)
{
    mishap_mcp_server server = { .app = &app };
    mishap *failure = mishap_mcp_server_make(&server, false);
    (void)input;
    if (!failure) {
        mishap_mcp_peer peer;
        mishap_mcp_peer_init(&peer, &server);
        mishap_mcp_resource_exists(&peer, T("catalog://codes"));
        mishap_mcp_resource_exists(&peer, T("test://things/1/data"));
    }
    mishap_free(failure);
    mishap_mcp_server_release(&server);
}

static void every_allocation_may_fail(void **state)
{
    mishap_mcp_server server = { .app = &app };
    (void)state;
    assert_null(mishap_mcp_server_make(&server, false));
    mishap_use_allocator(&failing_allocator);
    torture(read_one, &server);
    torture(read_all, NULL);
    mishap_use_allocator(NULL);
    mishap_mcp_server_release(&server);
    free(logged());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lists_the_catalog_in_every_revision),
        TEST(operations_with_an_address_are_listed),
        TEST(lists_come_page_by_page),
        TEST(a_server_of_one_service_offers_that_and_the_catalog),
        TEST(the_addresses_of_codes_are_taken),
        TEST(reads_all_codes),
        TEST(reads_a_code_in_any_spelling),
        TEST(reading_runs_the_operation),
        TEST(variables_become_what_their_parameters_are),
        TEST(an_address_without_variables_comes_first),
        TEST(blocks_are_parts_of_the_contents),
        TEST(remarks_stand_beside_the_contents),
        TEST(the_handler_gets_to_know_who_reads),
        TEST(what_is_not_there_is_said_as_the_revision_has_it),
        TEST(what_the_operation_says_is_told),
        TEST(variables_are_checked),
        TEST(what_is_asked_wrongly_names_the_field),
        TEST(a_failure_inside_stays_there),
        TEST(a_crash_is_contained),
        TEST(contents_are_not_changed),
        TEST(what_is_not_quick_needs_a_worker),
        TEST(what_may_be_read_is_known_without_waiting),
        TEST(every_allocation_may_fail),
    };
    learn_containment(&app, &operations[0]);
    return RUN_WITH_LOG(tests, "MCP_RESOURCES_LOG");
}
