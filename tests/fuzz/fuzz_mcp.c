/*
 * From the lines that a client writes to those that it reads. For all input, each answer is one
 * line of sound JSON-RPC, there is at most one for each request and none for anything else, no id
 * is made up, and an error is one that the dialect json-rpc takes. The first byte says which
 * revision was agreed and when calls end that take a while.
 */
#include "fuzz.h"

#include "mcp/changes/subscribe.h"
#include "mcp/dispatch/dispatch.h"
#include "worker/loop/runner.h"
#include "mishap/dialect.h"

/* -- a program --------------------------------------------------------------------------------- */

static mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

static mishap *slow(mishap_call *call)
{
    mishap_progress(call, 1, 2, "half");
    mishap_tell_client(call, MISHAP_LEVEL_WARNING, "It takes a while.");
    if (mishap_given(call, "fails"))
        return mishap_raise(NOT_FOUND, "There is no such thing.");
    return mishap_answer_member(call, "done", true);
}

static const mishap_param echo_params[] = {
    { "text", MISHAP_STRING, .required = true, .length = { 1, 20 } },
    { 0 },
};
static const mishap_param slow_params[] = {
    { "fails", MISHAP_BOOLEAN, .help = "Whether to fail" },
    { 0 },
};
static const mishap_operation operations[] = {
    { .name = "echo",
      .summary = "Say it again",
      .params = echo_params,
      .resource = "sample://echo/{text}",
      .run = echo,
      .quick = true },
    { .name = "slow",
      .summary = "Take a while",
      .params = slow_params,
      .resource = "sample://slow/{fails}",
      .prompt = "slow",
      .tool = "slow",
      .run = slow,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { 0 },
};
static const mishap_app app = { .name = "sample", .version = "1.0", .operations = operations };

/* -- a client ---------------------------------------------------------------------------------- */

enum { FLIGHTS = 8 };

struct client {
    mishap_mcp_channel channel; /* the first */
    mishap_mcp_peer peer;
    mishap_buffer out;
    size_t finished;
};

static mishap_buffer *begin(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    struct client *client = (struct client *)(void *)channel;
    EXPECT(kind != MISHAP_MCP_REQUEST, "nothing is asked of a client");
    return &client->out;
}

static void end(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    struct client *client = (struct client *)(void *)channel;
    (void)kind;
    mishap_buffer_put_char(&client->out, '\n');
}

static void finish(mishap_mcp_channel *channel)
{
    ((struct client *)(void *)channel)->finished++;
}

/* Calls run in this process, and only now. */
static void land(struct client *client)
{
    mishap_runner_flush(client->peer.server->runner);
    EXPECT(!client->peer.flight_count, "%zu flights are left", client->peer.flight_count);
}

static void open_server(mishap_mcp_server *server)
{
    static mishap_keeper_plan plan = { .app = &app };
    setenv("SAMPLE_LOG", "", 1);
    *server = (mishap_mcp_server){ .app = &app, .page_size = 1 };
    mishap_free(mishap_mcp_server_make(server, false));
    mishap_free(mishap_worker_groups_make(&app, &plan.groups));
    mishap_free(mishap_runner_open(
        &(mishap_runner_settings){
            .plan = &plan, .keeper = -1, .handlers = 1, .most_waiting = FLIGHTS, .inside = true },
        &server->runner));
}

/* -- what must hold ---------------------------------------------------------------------------- */

static void expect_no_finding(void *state, const mishap_finding *finding)
{
    EXPECT(finding->severity == MISHAP_WARNING, "%s at %.*s: %.*s\n%s", finding->rule,
           SHOWN(finding->place), SHOWN(finding->sentence), (const char *)state);
}

static void expect_message(yyjson_val *root, bool *response)
{
    yyjson_val *id = yyjson_obj_get(root, "id"), *method = yyjson_obj_get(root, "method");
    yyjson_val *result = yyjson_obj_get(root, "result"), *error = yyjson_obj_get(root, "error");
    EXPECT(yyjson_equals_str(yyjson_obj_get(root, "jsonrpc"), "2.0"), "no version");
    EXPECT(!method + !result + !error == 2, "one of the three");
    EXPECT(!id || yyjson_is_str(id) || yyjson_is_int(id) || yyjson_is_raw(id), "an id");
    EXPECT(!method || !id, "nothing is asked of a client");
    EXPECT(!result || (id && yyjson_is_obj(result)), "a result");
    *response = !method;
    if (error) {
        char *text = yyjson_val_write(error, 0, NULL);
        mishap_free(mishap_verify(mishap_dialect_find("json-rpc"), mishap_text_of(text), false,
                                  expect_no_finding, text));
        free(text);
    }
}

/* All lines that came back; how many responses there are in them. */
static size_t expect_lines(mishap_text text)
{
    size_t responses = 0;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (text.length)
        expect_utf8(text);
    while (text.length) {
        const char *stop = memchr(text.data, '\n', text.length);
        EXPECT(stop, "no end of the line");
        mishap_text line = { text.data, (size_t)(stop - text.data) };
        EXPECT(mishap_json_read(&reader, line), "not JSON: %.*s", SHOWN(line));
        EXPECT(reader.flaw == MISHAP_JSON_SOUND, "not sound: %.*s", SHOWN(line));
        bool response = false;
        size_t index, count;
        yyjson_val *item;
        if (yyjson_is_obj(reader.root)) {
            expect_message(reader.root, &response);
            responses += response;
        }
        MISHAP_JSON_ITEMS (yyjson_is_arr(reader.root) ? reader.root : NULL, index, count, item) {
            expect_message(item, &response);
            EXPECT(response, "no response in a batch: %.*s", SHOWN(line));
            responses++;
        }
        text = (mishap_text){ stop + 1, text.length - line.length - 1 };
    }
    mishap_json_reader_release(&reader);
    return responses;
}

/* How many responses a line may have: one, or as many as a batch has messages. */
static size_t most_responses(mishap_text line)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t most = 1;
    if (mishap_json_read(&reader, line) && yyjson_is_arr(reader.root) &&
        yyjson_arr_size(reader.root))
        most = yyjson_arr_size(reader.root);
    mishap_json_reader_release(&reader);
    return most;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mishap_mcp_server server;
    struct client client = {
        .channel = { .begin = begin, .end = end, .finish = finish },
    };
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t messages = 0, most = 0;
    if (!size)
        return 0;
    if (!server.app)
        open_server(&server);
    mishap_mcp_peer_init(&client.peer, &server);
    client.peer.revision = (mishap_mcp_revision)(data[0] % MISHAP_MCP_2026_07_28);
    client.peer.aside = &client.channel;
    mishap_text rest = input_text(data + 1, size - 1);
    while (rest.length) {
        const char *stop = memchr(rest.data, '\n', rest.length);
        mishap_text line = { rest.data, stop ? (size_t)(stop - rest.data) : rest.length };
        mishap_mcp_take_text(&client.peer, &client.channel, &reader, line);
        if (data[0] & 64)
            land(&client);
        messages++;
        most += most_responses(line);
        size_t taken = line.length + (stop ? 1 : 0);
        rest = (mishap_text){ rest.data + taken, rest.length - taken };
    }
    if (data[0] & 128)
        mishap_mcp_peer_release(&client.peer); /* it leaves, and what waits does not run */
    mishap_mcp_tell_change(&client.peer, MISHAP_MCP_TOOLS_CHANGED, (mishap_text){ NULL, 0 });
    land(&client);
    mishap_mcp_listen_end(&client.peer);
    mishap_mcp_peer_release(&client.peer);
    EXPECT(!client.out.failed, "no memory");
    EXPECT(!mishap_runner_count(server.runner, true), "calls are left");
    size_t responses = expect_lines(mishap_buffer_text(&client.out));
    EXPECT(responses <= most, "%zu responses to at most %zu", responses, most);
    EXPECT(client.finished <= messages, "%zu of %zu finished", client.finished, messages);
    if (!(data[0] & 128))
        EXPECT(client.finished == messages, "%zu of %zu finished", client.finished, messages);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&client.out);
    return 0;
}
