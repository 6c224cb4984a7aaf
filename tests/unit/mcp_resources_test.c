/* What can be read over MCP: the catalog, and what a server adds. */
#include "mcp_wire.h"

#include "operation/operation.h"

static mishap *do_nothing(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_operation operations[] = {
    { .name = "nothing", .summary = "Do nothing", .run = do_nothing },
    { 0 },
};
static const mishap_app app = { .name = "sample", .version = "1", .operations = operations };

static const mishap_mcp_revision revisions[] = { MISHAP_MCP_2025_03_26, MISHAP_MCP_2025_06_18,
                                                 MISHAP_MCP_2025_11_25, MISHAP_MCP_2026_07_28 };
enum { REVISIONS = sizeof revisions / sizeof *revisions };

/* -- resources of a server's own --------------------------------------------------------------- */

static mishap *read_sample(mishap_text uri, mishap_text variable, mishap_buffer *contents)
{
    if (mishap_text_equal(variable, T("broken")))
        return mishap_raise(INTERNAL_ERROR, "The private reason.");
    if (mishap_text_equal(variable, T("none")))
        return mishap_raise(NOT_FOUND, "There is none.");
    mishap_json_open(contents, '{');
    MISHAP_JSON_KEY(contents, "uri");
    mishap_json_string(contents, uri);
    MISHAP_JSON_KEY(contents, "text");
    mishap_json_string(contents, variable.data ? variable : T("plain"));
    mishap_json_close(contents, '}');
    return NULL;
}

static const mishap_mcp_resource plain = { .uri = "test://plain",
                                           .name = "plain",
                                           .read = read_sample };
static const mishap_mcp_resource template = { .uri = "test://template/{id}/data",
                                              .name = "template",
                                              .read = read_sample };
static const mishap_mcp_resource *const further[] = { &plain, &template, NULL };

/* -- lists ------------------------------------------------------------------------------------- */

static void lists_the_catalog_in_every_revision(void **state)
{
    (void)state;
    for (int i = 0; i < REVISIONS; i++) {
        struct wire w;
        bool modern = mishap_mcp_is_modern(revisions[i]);
        open_wire(&w, &app, revisions[i]);
        ask(&w, "resources/list", "");
        assert_int_equal(count_at(&w, "/result/resources"), 1);
        assert_string_equal(text_at(&w, "/result/resources/0/uri"), "catalog://codes");
        assert_string_equal(text_at(&w, "/result/resources/0/name"), "codes");
        assert_string_equal(text_at(&w, "/result/resources/0/mimeType"), "application/json");
        assert_int_equal(at(&w, "/result/resources/0/title") != NULL,
                         revisions[i] != MISHAP_MCP_2025_03_26);
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

static void lists_what_a_server_adds_page_by_page(void **state)
{
    struct wire w;
    char members[300];
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.server.resources = further;
    ask(&w, "resources/list", "");
    assert_int_equal(count_at(&w, "/result/resources"), 2);
    ask(&w, "resources/templates/list", "");
    assert_int_equal(count_at(&w, "/result/resourceTemplates"), 2);
    w.server.page_size = 1;
    ask(&w, "resources/list", "");
    assert_int_equal(count_at(&w, "/result/resources"), 1);
    snprintf(members, sizeof members, "\"cursor\":\"%s\"", text_at(&w, "/result/nextCursor"));
    ask(&w, "resources/list", members);
    assert_int_equal(count_at(&w, "/result/resources"), 1);
    assert_string_equal(text_at(&w, "/result/resources/0/uri"), "test://plain");
    assert_null(at(&w, "/result/nextCursor"));
    ask(&w, "resources/list", "\"cursor\":\"nonsense\"");
    assert_error(&w, -32602);
    ask(&w, "resources/templates/list", "\"cursor\":5");
    assert_error(&w, -32602);
    close_wire(&w);
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

static void reads_what_a_server_adds(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.server.resources = further;
    ask(&w, "resources/read", "\"uri\":\"test://plain\"");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "plain");
    ask(&w, "resources/read", "\"uri\":\"test://template/123/data\"");
    assert_string_equal(text_at(&w, "/result/contents/0/text"), "123");
    assert_string_equal(text_at(&w, "/result/contents/0/uri"), "test://template/123/data");
    close_wire(&w);
}

static void what_is_not_there_is_said_as_the_revision_has_it(void **state)
{
    static const char *const uris[] = {
        "catalog://codes/NO_SUCH_CODE",
        "catalog://codes/",
        "catalog://codes/a/b",
        "catalog://codes/%",
        "catalog://",
        "test://template//data",
        "test://template/1/2/data",
        "test://template",
        "test://template/none/data",
        "CATALOG://codes",
        "\\u0000",
        "catalog://codes\\u0000",
    };
    (void)state;
    for (int i = 0; i < REVISIONS; i++) {
        struct wire w;
        char members[200];
        open_wire(&w, &app, revisions[i]);
        w.server.resources = further;
        for (size_t j = 0; j < sizeof uris / sizeof *uris; j++) {
            snprintf(members, sizeof members, "\"uri\":\"%s\"", uris[j]);
            ask(&w, "resources/read", members);
            assert_error(&w, mishap_mcp_is_modern(revisions[i]) ? -32602 : -32002);
            assert_string_equal(text_at(&w, "/error/data/code"), "NOT_FOUND");
            assert_non_null(at(&w, "/error/data/uri"));
        }
        assert_int_equal(w.finished, sizeof uris / sizeof *uris);
        close_wire(&w);
    }
}

static void what_is_asked_wrongly_names_the_field(void **state)
{
    static const char *const wrong[] = { "", "\"uri\":null", "\"uri\":\"\"", "\"uri\":5",
                                         "\"uri\":[\"catalog://codes\"]" };
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

static void a_failure_of_the_server_stays_private(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.server.resources = further;
    ask(&w, "resources/read", "\"uri\":\"test://template/broken/data\"");
    assert_error(&w, -32603);
    assert_null(memmem(w.out.data, w.out.length, "private reason", 14));
    close_wire(&w);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void read_without_memory(const void *input)
{
    struct wire w;
    (void)input;
    w = (struct wire){ .channel = { .begin = begin_line, .end = end_line, .finish = count_finish },
                       .server = { .app = &app, .message_limit = 1 << 20, .flight_limit = 8 } };
    mishap_mcp_peer_init(&w.peer, &w.server);
    mishap_mcp_message message = { .kind = MISHAP_MCP_REQUEST,
                                   .id = T("1"),
                                   .revision = MISHAP_MCP_2025_11_25 };
    mishap_mcp_request request = { .peer = &w.peer, .channel = &w.channel, .message = &message };
    static const char *const uris[] = { "{\"uri\":\"catalog://codes\"}",
                                        "{\"uri\":\"catalog://codes/404\"}",
                                        "{\"uri\":\"catalog://codes/nothing\"}" };
    for (int i = 0; i < 3; i++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        mishap_buffer result = { 0 };
        if (mishap_json_read(&reader, mishap_text_of(uris[i]))) {
            message.params = reader.root;
            mishap_free(mishap_mcp_resources_read(&request, &result));
        }
        mishap_buffer_release(&request.members);
        mishap_buffer_release(&result);
        mishap_json_reader_release(&reader);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(read_without_memory, NULL);
    mishap_use_allocator(NULL);
}

int main(void)
{
    setenv("SAMPLE_LOG", "", 1);
    const struct CMUnitTest tests[] = {
        TEST(lists_the_catalog_in_every_revision),
        TEST(lists_what_a_server_adds_page_by_page),
        TEST(reads_all_codes),
        TEST(reads_a_code_in_any_spelling),
        TEST(reads_what_a_server_adds),
        TEST(what_is_not_there_is_said_as_the_revision_has_it),
        TEST(what_is_asked_wrongly_names_the_field),
        TEST(a_failure_of_the_server_stays_private),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
