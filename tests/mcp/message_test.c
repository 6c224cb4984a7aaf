/*
 * Messages that are none: what is answered to each, to the byte. And how those that are some are
 * read.
 */
#include "mcp/dispatch/dispatch.h"
#include "testing.h"

/* -- a server in memory ------------------------------------------------------------------------ */

static mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

static const mishap_param echo_params[] = {
    { "text", MISHAP_STRING, .required = true, .help = "What to say" },
    { 0 },
};

static const mishap_operation operations[] = {
    { .name = "echo",
      .summary = "Say it again",
      .params = echo_params,
      .run = echo,
      .quick = true },
    { 0 },
};

static const mishap_app app = { .name = "sample", .version = "1.0", .operations = operations };

/* A channel whose messages stand one a line. */
struct line_channel {
    mishap_mcp_channel channel;
    mishap_buffer out;
    int finished;
};

static mishap_buffer *begin(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    (void)kind;
    return &((struct line_channel *)(void *)channel)->out;
}

static void end(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    (void)kind;
    mishap_buffer_put_char(&((struct line_channel *)(void *)channel)->out, '\n');
}

static void finish(mishap_mcp_channel *channel)
{
    ((struct line_channel *)(void *)channel)->finished++;
}

/* Say one thing to a peer that has agreed on a revision; what comes back has a NUL after it, and is
 * to be freed. */
static char *say(mishap_mcp_revision revision, mishap_text text, int *status)
{
    mishap_mcp_server server = { .app = &app };
    mishap_mcp_peer peer;
    mishap_json_reader reader = MISHAP_JSON_READER;
    struct line_channel lines = { .channel = { .begin = begin, .end = end, .finish = finish } };
    assert_null(mishap_mcp_server_make(&server, false));
    mishap_mcp_peer_init(&peer, &server);
    peer.revision = revision;
    mishap_mcp_take_text(&peer, &lines.channel, &reader, text);
    assert_int_equal(lines.finished, 1);
    assert_int_equal(peer.revision, revision);
    assert_false(lines.out.failed);
    if (status)
        *status = lines.channel.status;
    mishap_buffer_put_char(&lines.out, '\0');
    mishap_json_reader_release(&reader);
    mishap_mcp_peer_release(&peer);
    mishap_mcp_server_release(&server);
    return lines.out.data;
}

/* -- what is answered -------------------------------------------------------------------------- */

#define ERROR(id, number, name, message, suggestion, more)                                         \
    "{\"jsonrpc\":\"2.0\"" id ",\"error\":{\"code\":" number ",\"message\":\"" message             \
    "\",\"data\":{\"code\":\"" name "\",\"message\":\"" message                                    \
    "\",\"category\":\"validation\",\"retryable\":false,\"suggestion\":\"" suggestion "\"" more    \
    "}}}\n"
#define ID(id)  ",\"id\":" id
#define NO_ID   ""
#define OK(id)  "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}\n"
#define NOTHING ""

/* Where the text ends here, anything may follow: the words are those of the JSON reader. */
#define NOT_JSON                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"The message is not JSON: "
#define SHAPE(id, why)                                                                             \
    ERROR(id, "-32600", "BAD_REQUEST", why, "Send a JSON-RPC 2.0 request or notification.", "")
#define DOUBT(id, why, more)                                                                       \
    ERROR(id, "-32600", "BAD_REQUEST", why,                                                        \
          "Send JSON without duplicate keys, without NUL characters in keys and without broken "   \
          "surrogate pairs.",                                                                      \
          more)
#define AT(pointer) ",\"context\":{\"pointer\":\"" pointer "\"}"
#define FIELD(id, why, field, error, more)                                                         \
    ERROR(id, "-32602", "VALIDATION_ERROR", why,                                                   \
          "Correct the fields that are named and try again.",                                      \
          ",\"fields\":[{\"field\":\"" field "\",\"error\":\"" error "\"" more "}]")
#define WRONG(id, field, article, type)                                                            \
    FIELD(id, "`" field "` must be of type " type ".", field, "invalid_type",                      \
          ",\"expected\":\"" type "\",\"message\":\"" field " must be " article " " type ".\"")
#define MISSING(id, field)                                                                         \
    FIELD(id, "`" field "` is missing.", field, "field_required",                                  \
          ",\"message\":\"" field " is required.\"")
#define NO_METHOD(id, name)                                                                        \
    ERROR(id, "-32601", "METHOD_NOT_FOUND",                                                        \
          "The method " name " does not exist in revision 2025-11-25.",                            \
          "Check the name of the method.", "")
#define BATCH(why) ERROR(NO_ID, "-32600", "BAD_REQUEST", why, "Send each message separately.", "")
#define UNKNOWN(id, version)                                                                       \
    ERROR(                                                                                         \
        id, "-32022", "BAD_REQUEST",                                                               \
        "The protocol revision \\\"" version "\\\" is not supported.",                             \
        "Use one of the revisions in `supported`, or send initialize to negotiate an older one.",  \
        ",\"supported\":[\"2026-07-28\"],\"requested\":\"" version "\"")

#define VERSION      "io.modelcontextprotocol/protocolVersion"
#define CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define LEVEL        "io.modelcontextprotocol/logLevel"
#define LEVELS       "^(debug|info|notice|warning|error|critical|alert|emergency)$"
#define NO_LEVEL(id)                                                                               \
    FIELD(id, "`_meta." LEVEL "` must be the name of a log level.", "_meta." LEVEL,                \
          "pattern_mismatch",                                                                      \
          ",\"expected\":\"" LEVELS "\",\"message\":\"_meta." LEVEL " must match " LEVELS ".\"")
#define WITH_META(meta)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":" meta "}}"
#define MODERN(more) WITH_META("{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":{}" more "}")
#define PING(id)     "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define REMOVED(id)                                                                                \
    ERROR(id, "-32601", "METHOD_NOT_FOUND", "The method ping is not part of revision 2026-07-28.", \
          "Check the name of the method.", "")

#define BAD_ID   SHAPE(NO_ID, "The id must be a string or an integer.")
#define LONG_ID  SHAPE(NO_ID, "The id is too long, or not an integer.")
#define RESPONSE "{\"jsonrpc\":\"2.0\","

/* All in revision 2025-11-25. */
static const struct {
    mishap_text said;
    const char *answer;
    int status;
} cases[] = {
    /* Not JSON. */
    { MISHAP_TEXT(""), NOT_JSON, 400 },
    { MISHAP_TEXT(" "), NOT_JSON, 400 },
    { MISHAP_TEXT("{"), NOT_JSON, 400 },
    { MISHAP_TEXT("}"), NOT_JSON, 400 },
    { MISHAP_TEXT("["), NOT_JSON, 400 },
    { MISHAP_TEXT("\""), NOT_JSON, 400 },
    { MISHAP_TEXT("hello"), NOT_JSON, 400 },
    { MISHAP_TEXT("nul"), NOT_JSON, 400 },
    { MISHAP_TEXT("NaN"), NOT_JSON, 400 },
    { MISHAP_TEXT("{'jsonrpc':'2.0'}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"ping\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":+1,\"method\":\"ping\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT(PING("1") PING("2")), NOT_JSON, 400 },
    { MISHAP_TEXT(PING("1") "x"), NOT_JSON, 400 },
    { MISHAP_TEXT("\xEF\xBB\xBF" PING("1")), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}"), NOT_JSON, 400 },
    { MISHAP_TEXT(PING("1") "\0"), NOT_JSON, 400 },
    { MISHAP_TEXT("Content-Length: 40\r\n\r\n" PING("1")), NOT_JSON, 400 },
    { MISHAP_TEXT("POST /mcp HTTP/1.1"), NOT_JSON, 400 },
    { MISHAP_TEXT("/* a comment */" PING("1")), NOT_JSON, 400 },

    /* JSON, but not an object. */
    { MISHAP_TEXT("null"), SHAPE(NO_ID, "A message must be a JSON object."), 400 },
    { MISHAP_TEXT("true"), SHAPE(NO_ID, "A message must be a JSON object."), 400 },
    { MISHAP_TEXT("7"), SHAPE(NO_ID, "A message must be a JSON object."), 400 },
    { MISHAP_TEXT("1e999"), SHAPE(NO_ID, "A message must be a JSON object."), 400 },
    { MISHAP_TEXT("\"ping\""), SHAPE(NO_ID, "A message must be a JSON object."), 400 },
    { MISHAP_TEXT("[]"), BATCH("This protocol revision does not support batches."), 400 },
    { MISHAP_TEXT("[" PING("1") "]"), BATCH("This protocol revision does not support batches."),
      400 },
    { MISHAP_TEXT("[[]]"), BATCH("This protocol revision does not support batches."), 400 },

    /* The version of JSON-RPC. */
    { MISHAP_TEXT("{}"), SHAPE(NO_ID, "`jsonrpc` must be \\\"2.0\\\"."), 400 },
    { MISHAP_TEXT("{\"id\":1,\"method\":\"ping\"}"),
      SHAPE(ID("1"), "`jsonrpc` must be \\\"2.0\\\"."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}"),
      SHAPE(ID("1"), "`jsonrpc` must be \\\"2.0\\\"."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}"),
      SHAPE(ID("1"), "`jsonrpc` must be \\\"2.0\\\"."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0 \",\"id\":\"a\",\"method\":\"ping\"}"),
      SHAPE(ID("\"a\""), "`jsonrpc` must be \\\"2.0\\\"."), 400 },
    { MISHAP_TEXT("{\"JSONRPC\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
      SHAPE(ID("1"), "`jsonrpc` must be \\\"2.0\\\"."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"1.0\",\"method\":\"notifications/initialized\"}"),
      SHAPE(NO_ID, "`jsonrpc` must be \\\"2.0\\\"."), 400 },

    /* Ids. */
    { MISHAP_TEXT(PING("0")), OK("0"), 200 },
    { MISHAP_TEXT(PING("-7")), OK("-7"), 200 },
    { MISHAP_TEXT(PING("\"\"")), OK("\"\""), 200 },
    { MISHAP_TEXT(PING("\"1\"")), OK("\"1\""), 200 },
    { MISHAP_TEXT(PING("9007199254740993")), OK("9007199254740993"), 200 },
    { MISHAP_TEXT(PING("18446744073709551615")), OK("18446744073709551615"), 200 },
    { MISHAP_TEXT(PING("123456789012345678901234567890")), OK("123456789012345678901234567890"),
      200 },
    { MISHAP_TEXT(PING("-99999999999999999999")), OK("-99999999999999999999"), 200 },
    { MISHAP_TEXT(PING("\"\\u0061\\n\\u00e9\\ud83d\\ude00\\u0000\"")),
      OK("\"a\\n\xc3\xa9\xf0\x9f\x98\x80\\u0000\""), 200 },
    { MISHAP_TEXT(PING("null")), BAD_ID, 400 },
    { MISHAP_TEXT(PING("true")), BAD_ID, 400 },
    { MISHAP_TEXT(PING("{}")), BAD_ID, 400 },
    { MISHAP_TEXT(PING("[1]")), BAD_ID, 400 },
    { MISHAP_TEXT(PING("1.5")), BAD_ID, 400 },
    { MISHAP_TEXT(PING("1.0")), BAD_ID, 400 },
    { MISHAP_TEXT(PING("1e2")), BAD_ID, 400 },
    { MISHAP_TEXT(PING("1e999")), LONG_ID, 400 },

    /* Methods. */
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1}"),
      SHAPE(ID("1"), "The member `method` is missing."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\"}"), SHAPE(NO_ID, "The member `method` is missing."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"params\":{}}"),
      SHAPE(ID("1"), "The member `method` is missing."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}"),
      SHAPE(ID("1"), "`method` must be a string."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}"),
      SHAPE(ID("1"), "`method` must be a string."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":[\"ping\"]}"),
      SHAPE(NO_ID, "`method` must be a string."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}"), NO_METHOD(ID("1"), ""), 200 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"Ping\"}"), NO_METHOD(ID("1"), "Ping"),
      200 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\\u0000\"}"),
      NO_METHOD(ID("1"), "ping"), 200 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/list\"}"),
      NO_METHOD(ID("1"), "tasks/list"), 200 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"notifications/initialized\"}"),
      NO_METHOD(ID("1"), "notifications/initialized"), 200 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}"),
      NO_METHOD(ID("1"), "rpc.discover"), 200 },

    /* Parameters. */
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}"),
      WRONG(ID("1"), "params", "an", "object"), 200 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}"),
      SHAPE(ID("1"), "`params` must be an object."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":\"a\"}"),
      SHAPE(ID("1"), "`params` must be an object."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":1}"),
      SHAPE(ID("1"), "`params` must be an object."), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{},\"x\":[1]}"),
      OK("1"), 200 },

    /* `_meta`. */
    { MISHAP_TEXT(WITH_META("[]")), WRONG(ID("1"), "_meta", "an", "object"), 200 },
    { MISHAP_TEXT(WITH_META("null")), WRONG(ID("1"), "_meta", "an", "object"), 200 },
    { MISHAP_TEXT(WITH_META("{}")), OK("1"), 200 },
    { MISHAP_TEXT(WITH_META("{\"progressToken\":0}")), OK("1"), 200 },
    { MISHAP_TEXT(WITH_META("{\"progressToken\":\"\"}")), OK("1"), 200 },
    { MISHAP_TEXT(WITH_META("{\"progressToken\":{}}")),
      WRONG(ID("1"), "_meta.progressToken", "a", "string or integer"), 200 },
    { MISHAP_TEXT(WITH_META("{\"progressToken\":1.5}")),
      WRONG(ID("1"), "_meta.progressToken", "a", "string or integer"), 200 },
    { MISHAP_TEXT(WITH_META("{\"progressToken\":null}")),
      WRONG(ID("1"), "_meta.progressToken", "a", "string or integer"), 200 },
    { MISHAP_TEXT(MODERN("")), REMOVED(ID("1")), 404 },
    { MISHAP_TEXT(MODERN(",\"progressToken\":[]")),
      WRONG(ID("1"), "_meta.progressToken", "a", "string or integer"), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"2026-07-28\"}")),
      MISSING(ID("1"), "_meta." CAPABILITIES), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":[]}")),
      WRONG(ID("1"), "_meta." CAPABILITIES, "an", "object"), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":null}")),
      WRONG(ID("1"), "_meta." CAPABILITIES, "an", "object"), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":20260728,\"" CAPABILITIES "\":{}}")),
      WRONG(ID("1"), "_meta." VERSION, "a", "string"), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":null}")),
      WRONG(ID("1"), "_meta." VERSION, "a", "string"), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"v999.0.0\",\"" CAPABILITIES "\":{}}")),
      UNKNOWN(ID("1"), "v999.0.0"), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"2025-11-25\",\"" CAPABILITIES "\":{}}")),
      UNKNOWN(ID("1"), "2025-11-25"), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"\"}")), UNKNOWN(ID("1"), ""), 400 },
    { MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"none\"}")), UNKNOWN(ID("1"), "none"), 400 },
    { MISHAP_TEXT(MODERN(",\"" LEVEL "\":\"loud\"")), NO_LEVEL(ID("1")), 400 },
    { MISHAP_TEXT(MODERN(",\"" LEVEL "\":3")), NO_LEVEL(ID("1")), 400 },

    /* What two readers could see differently. */
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}"),
      DOUBT(NO_ID, "The message contains a duplicate key.", AT("/id")), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"x\"}"),
      DOUBT(ID("1"), "The message contains a duplicate key.", AT("/method")), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"\\u0069d\":2}"),
      DOUBT(NO_ID, "The message contains a duplicate key.", AT("/id")), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"b\":[{\"/\":1,"
                  "\"/\":2}]}}"),
      DOUBT(ID("1"), "The message contains a duplicate key.", AT("/params/b/0/~1")), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\\u0000\":1}}"),
      DOUBT(ID("1"), "The message contains a key with a NUL character.",
            AT("/params/a\xef\xbf\xbd")),
      400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}"),
      DOUBT(ID("1"), "The message contains half of a surrogate pair.", ""), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":\"\\udc00\",\"method\":\"ping\"}"),
      DOUBT(NO_ID, "The message contains half of a surrogate pair.", ""), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":\"\\udc00\",\"method\":\"tools/call\"}"),
      DOUBT(NO_ID, "The message contains half of a surrogate pair.", ""), 400 },
    { MISHAP_TEXT(
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"b\":1,\"b\":"
          "\"\\udc00\"}}"),
      DOUBT(ID("1"), "The message contains half of a surrogate pair.", ""), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"b\":\"\\udc00\"}}"),
      NOTHING, 0 },
    { MISHAP_TEXT("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"b\":"
                  "\"\\udc00\"}}]"),
      DOUBT(NO_ID, "The message contains half of a surrogate pair.", ""), 400 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"b\":1,\"b\":2}}"), NOTHING,
      0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"b\":1,\"b\":2}}"),
      DOUBT(NO_ID, "The message contains a duplicate key.", AT("/result/b")), 400 },

    /* Notifications are never answered. */
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}"), NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}"),
      NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"\"}"), NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\"}"), NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":[1]}"), NOTHING,
      0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":7}"), NOTHING,
      0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"_meta\":1}}"),
      NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"_meta\":{"
                  "\"" VERSION "\":\"v1\"}}}"),
      NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}"), NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                  "\"requestId\":null}}"),
      NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                  "\"requestId\":99,\"reason\":7}}"),
      NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}"),
      NOTHING, 0 },
    { MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}"), NOTHING,
      0 },

    /* Responses to what was never asked. */
    { MISHAP_TEXT(RESPONSE "\"id\":1,\"result\":{}}"), NOTHING, 0 },
    { MISHAP_TEXT(RESPONSE "\"id\":\"a\",\"error\":{\"code\":1,\"message\":\"m\"}}"), NOTHING, 0 },
    { MISHAP_TEXT(RESPONSE "\"id\":null,\"error\":{\"code\":1,\"message\":\"m\"}}"), NOTHING, 0 },
    { MISHAP_TEXT(RESPONSE "\"error\":{\"code\":1,\"message\":\"m\"}}"), NOTHING, 0 },
    { MISHAP_TEXT(RESPONSE "\"id\":1,\"result\":{},\"error\":{}}"),
      SHAPE(NO_ID, "A response has a `result` or an `error`, not both."), 400 },
    { MISHAP_TEXT(RESPONSE "\"result\":{}}"),
      SHAPE(NO_ID, "The id of a response must be the id of a request."), 400 },
    { MISHAP_TEXT(RESPONSE "\"id\":1.5,\"result\":{}}"),
      SHAPE(NO_ID, "The id of a response must be the id of a request."), 400 },
    { MISHAP_TEXT(RESPONSE "\"id\":[],\"error\":{}}"),
      SHAPE(NO_ID, "The id of a response must be the id of a request."), 400 },
    { MISHAP_TEXT("{\"id\":1,\"result\":{}}"), SHAPE(NO_ID, "`jsonrpc` must be \\\"2.0\\\"."),
      400 },
    { MISHAP_TEXT(RESPONSE "\"id\":1,\"method\":\"ping\",\"result\":{}}"),
      SHAPE(ID("1"), "A request has no `result` and no `error`."), 400 },
    { MISHAP_TEXT(RESPONSE "\"id\":1,\"method\":\"ping\",\"error\":null}"),
      SHAPE(ID("1"), "A request has no `result` and no `error`."), 400 },

    /* White space around it is not a matter. */
    { MISHAP_TEXT(" \t" PING("1") "\r\n "), OK("1"), 200 },
};

static void each_malformed_message_has_its_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        char *answer = say(MISHAP_MCP_2025_11_25, cases[i].said, &status);
        size_t length = strlen(cases[i].answer);
        bool whole = !length || cases[i].answer[length - 1] == '\n';
        if (whole ? strcmp(answer, cases[i].answer) : strncmp(answer, cases[i].answer, length))
            fail_msg("%.*s\nis answered  %s\ninstead of   %s", (int)cases[i].said.length,
                     cases[i].said.data, answer, cases[i].answer);
        if (status != cases[i].status)
            fail_msg("%.*s\nhas status %d", (int)cases[i].said.length, cases[i].said.data, status);
        free(answer);
    }
    assert_true(sizeof cases / sizeof *cases >= 80);
}

/* Each answer is a JSON-RPC error that the dialect of that name takes, with its own words inside.
 */
static void each_refusal_is_sound_json_rpc(void **state)
{
    (void)state;
    const mishap_dialect *dialect = mishap_dialect_find("json-rpc");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        char *answer = say(MISHAP_MCP_2025_11_25, cases[i].said, &status);
        if (strstr(answer, "\"error\":")) {
            mishap *read = parsed(dialect, answer, strlen(answer));
            assert_int_equal(mishap_told(read)->category, MISHAP_VALIDATION);
            assert_true(mishap_public_suggestion(mishap_told(read)).length > 0);
            assert_int_equal(mishap_told(read)->incident.length, 0); /* nothing is kept of it */
            mishap_free(read);
        }
        free(answer);
    }
}

/* -- sizes ------------------------------------------------------------------------------------- */

/* A text of `head`, `count` times `middle`, and `tail`; to be freed. */
static char *repeat(const char *head, const char *middle, size_t count, const char *tail)
{
    size_t one = strlen(middle), length = strlen(head);
    char *text = malloc(length + one * count + strlen(tail) + 1);
    assert_non_null(text);
    memcpy(text, head, length);
    for (size_t i = 0; i < count; i++, length += one)
        memcpy(text + length, middle, one);
    strcpy(text + length, tail);
    return text;
}

static void expect(mishap_mcp_revision revision, char *said, const char *start)
{
    char *answer = say(revision, mishap_text_of(said), NULL);
    if (strncmp(answer, start, strlen(start)))
        fail_msg("answered  %.300s\ninstead of   %s", answer, start);
    free(answer);
    free(said);
}

static void an_id_has_at_most_so_many_bytes(void **state)
{
    (void)state;
    expect(MISHAP_MCP_2025_11_25,
           repeat("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"", "x",
                  MISHAP_MCP_ID_LIMIT - 2, "\"}"),
           "{\"jsonrpc\":\"2.0\",\"id\":\"xxxxxxxx");
    expect(MISHAP_MCP_2025_11_25,
           repeat("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"", "x",
                  MISHAP_MCP_ID_LIMIT - 1, "\"}"),
           LONG_ID);
    /* As JSON it is longer than as text. */
    expect(MISHAP_MCP_2025_11_25,
           repeat("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"", "\\n",
                  MISHAP_MCP_ID_LIMIT - 3, "\"}"),
           LONG_ID);
    expect(MISHAP_MCP_2025_11_25,
           repeat("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":", "9", MISHAP_MCP_ID_LIMIT + 1,
                  "}"),
           LONG_ID);
    expect(MISHAP_MCP_2025_11_25,
           repeat("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":", "9", MISHAP_MCP_ID_LIMIT - 2,
                  "}"),
           "{\"jsonrpc\":\"2.0\",\"id\":9999");
}

static void nesting_has_an_end(void **state)
{
    (void)state;
    const char *head = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":";
    char *deep = repeat(head, "[", 126, "");
    char *closed = repeat(deep, "]", 126, "}}");
    expect(MISHAP_MCP_2025_11_25, closed, OK("1"));
    free(deep);
    deep = repeat(head, "[", 127, "");
    closed = repeat(deep, "]", 127, "}}");
    expect(MISHAP_MCP_2025_11_25, closed,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,\"message\":\"The message has "
           "too many nested levels.\"");
    free(deep);
    deep = repeat(head, "[{\"a\":", 100000, "1");
    closed = repeat(deep, "}]", 100000, "}}");
    expect(MISHAP_MCP_2025_11_25, closed,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,\"message\":\"The message has "
           "too many nested levels.\"");
    free(deep);
    expect(MISHAP_MCP_2025_11_25, repeat("", "[", 1000000, ""), NOT_JSON);
    expect(MISHAP_MCP_2025_11_25, repeat("", "{\"a\":", 100000, ""), NOT_JSON);
}

/* Of what was sent, however long, little is said again. */
static void long_words_are_cut(void **state)
{
    (void)state;
    char *said = repeat("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"", "\xc3\xa9", 1 << 20, "\"}");
    char *answer = say(MISHAP_MCP_2025_11_25, mishap_text_of(said), NULL);
    assert_true(strlen(answer) < 800);
    assert_non_null(strstr(answer, "\"code\":-32601"));
    free(answer);
    free(said);
    said = repeat("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"" VERSION
                  "\":\"",
                  "\\\"", 1 << 20, "\"}}}");
    answer = say(MISHAP_MCP_2025_11_25, mishap_text_of(said), NULL);
    assert_true(strlen(answer) < 1500);
    assert_non_null(strstr(answer, "\"code\":-32022"));
    free(answer);
    free(said);
}

/* -- reading ----------------------------------------------------------------------------------- */

static void revisions_go_by_their_names(void **state)
{
    (void)state;
    for (int r = MISHAP_MCP_2024_11_05; r < MISHAP_MCP_REVISIONS; r++) {
        mishap_mcp_revision revision = (mishap_mcp_revision)r;
        const char *name = mishap_mcp_revision_name(revision);
        assert_int_equal(mishap_mcp_revision_find(mishap_text_of(name)), r);
    }
    static const char *const others[] = { "",           "none",        "2024-10-07",
                                          "2026-07-2",  "2026-07-289", "2026-07-28 ",
                                          "2025-11-2\0" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(mishap_mcp_revision_find(mishap_text_of(others[i])), MISHAP_MCP_NONE);
    assert_int_equal(mishap_mcp_revision_find((mishap_text){ NULL, 0 }), MISHAP_MCP_NONE);
}

static void a_request_is_read(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    memset(&message, 0xff, sizeof message);
    assert_true(mishap_mcp_read(&reader, T(MODERN(",\"progressToken\":7")), &message, &flaw));
    assert_null(flaw.failure);
    assert_int_equal(message.kind, MISHAP_MCP_REQUEST);
    assert_true(mishap_text_equal(message.id, T("1")));
    assert_true(mishap_text_equal(message.method, T("ping")));
    assert_true(message.claims);
    assert_true(mishap_text_equal(message.claimed, T("2026-07-28")));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(message.meta, "progressToken")), 7);
    assert_null(message.batch);
    assert_int_equal(message.revision, MISHAP_MCP_NONE); /* as long as it was not processed */

    assert_true(
        mishap_mcp_read(&reader, T("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"), &message, &flaw));
    assert_int_equal(message.kind, MISHAP_MCP_NOTIFICATION);
    assert_null(message.id.data);
    assert_null(message.params);
    assert_null(message.meta);
    assert_false(message.claims);

    assert_true(mishap_mcp_read(&reader, T("[1]"), &message, &flaw));
    assert_int_equal(yyjson_arr_size(message.batch), 1);
    assert_false(message.mended);

    assert_true(
        mishap_mcp_read(&reader,
                        T("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                          "{\"name\":\"\\ud800\"}}"),
                        &message, &flaw));
    assert_true(message.mended);
    assert_null(flaw.failure);
    mishap_json_reader_release(&reader);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* After any failure the client gets one answer, and it is complete. */
static void talk_without_memory(const void *input)
{
    static char last_words[2048]; /* as a transport has it */
    const mishap_text *said = input;
    mishap_mcp_server server = { .app = &app };
    mishap_mcp_peer peer;
    mishap_json_reader reader = MISHAP_JSON_READER;
    struct line_channel lines = { .channel = { .begin = begin, .end = end, .finish = finish } };
    mishap_buffer_init(&lines.out, last_words, sizeof last_words);
    mishap_mcp_peer_init(&peer, &server);
    peer.revision = MISHAP_MCP_2025_03_26;
    mishap_mcp_take_text(&peer, &lines.channel, &reader, *said);
    assert_int_equal(lines.finished, 1);
    assert_false(lines.out.failed);
    mishap_json_reader_release(&reader);
    mishap_mcp_peer_release(&peer);

    size_t saved = fail_at;
    fail_at = 0; /* not while looking at it */
    yyjson_read_err error;
    yyjson_doc *document = yyjson_read_opts(lines.out.data, lines.out.length, 0, NULL, &error);
    assert_non_null(document);
    yyjson_doc_free(document);
    fail_at = saved;
    mishap_buffer_release(&lines.out);
}

static void each_lack_of_memory_is_survived(void **state)
{
    (void)state;
    static const mishap_text said[] = {
        MISHAP_TEXT(PING("1")),
        MISHAP_TEXT("{"),
        MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}"),
        MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":\"abc\",\"method\":\"no/such\"}"),
        MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":1,"
                    "\"a\":2}}"),
        MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}"),
        MISHAP_TEXT(MODERN("")),
        MISHAP_TEXT(WITH_META("{\"" VERSION "\":\"v999.0.0\",\"" CAPABILITIES "\":{}}")),
        MISHAP_TEXT(WITH_META("{\"progressToken\":{}}")),
        MISHAP_TEXT("[" PING("1") "," PING("\"b\"") ",{},7]"),
        MISHAP_TEXT("[]"),
    };
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        torture(talk_without_memory, &said[i]);
    mishap_use_allocator(NULL);
}

int main(void)
{
    setenv("SAMPLE_LOG", "", 1);
    const struct CMUnitTest tests[] = {
        TEST(each_malformed_message_has_its_answer),
        TEST(each_refusal_is_sound_json_rpc),
        TEST(an_id_has_at_most_so_many_bytes),
        TEST(nesting_has_an_end),
        TEST(long_words_are_cut),
        TEST(revisions_go_by_their_names),
        TEST(a_request_is_read),
        TEST(each_lack_of_memory_is_survived),
    };
    return RUN(tests);
}
