/* One request to a server behind a URL: its header fields, and the messages in its response. */
#include "mcp/gateway/process/post.h"

#include <stdio.h>
#include <strings.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "mcp/gateway/response.h"
#include "mcp/transport/lines.h"

enum {
    MOST_HEADERS = 32,
    KEPT_BYTES = 64 << 10, /* memory that a post keeps */
};

/* -- what comes back --------------------------------------------------------------------------- */

/* Line ends in JSON are white space. */
static void put_line(gateway_post *post, mishap_text text)
{
    char *line = (char *)(uintptr_t)text.data;
    for (size_t i = 0; i < text.length; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    mishap_mcp_gateway_remote_put(post->remote, text);
}

/* An error without an id answers this request: over HTTP that is certain. */
static bool put_error(gateway_post *post, yyjson_val *root)
{
    yyjson_val *id = yyjson_obj_get(root, "id"), *error = yyjson_obj_get(root, "error");
    if (!post->id.length || !yyjson_is_obj(error) || (id && !yyjson_is_null(id)))
        return false;
    mishap_buffer line = { 0 };
    MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&line, mishap_buffer_text(&post->id));
    MISHAP_PUT(&line, ",\"error\":");
    mishap_json_copy(&line, error);
    MISHAP_PUT(&line, "}");
    post->answered = !line.failed;
    if (post->answered)
        mishap_mcp_gateway_remote_put(post->remote, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
    return post->answered;
}

static void look_at_message(gateway_post *post, yyjson_val *root)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    yyjson_val *result = yyjson_obj_get(root, "result");
    if (yyjson_obj_get(root, "method") || (!result && !yyjson_obj_get(root, "error")) ||
        !mishap_mcp_id_read(yyjson_obj_get(root, "id"), room, &id) ||
        !mishap_text_equal(id, mishap_buffer_text(&post->id)))
        return;
    post->answered = true;
    if (post->kind == GATEWAY_POST_HELLO && result)
        mishap_mcp_gateway_remote_greeted(
            post->remote, post, mishap_json_text(yyjson_obj_get(result, "protocolVersion")));
}

/* A message, or a batch of them. The gateway reads it again, and judges it: here only the answer is
 * looked for. */
static void take_message(void *state, mishap_text text)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    gateway_post *post = state;
    bool put = false;
    if (post->id.length && !post->answered && mishap_json_read(&reader, text)) {
        size_t index, count;
        yyjson_val *item;
        if (yyjson_is_arr(reader.root))
            MISHAP_JSON_ITEMS (reader.root, index, count, item)
                look_at_message(post, item);
        else
            look_at_message(post, reader.root);
        put = !post->answered && put_error(post, reader.root);
    }
    mishap_json_reader_release(&reader);
    if (!put)
        put_line(post, text);
}

static bool type_is(const gateway_post *post, const char *name)
{
    mishap_text type = mishap_client_field(&post->flight.response, "Content-Type");
    size_t length = strlen(name);
    return type.length >= length && strncasecmp(type.data, name, length) == 0 &&
           (type.length == length || type.data[length] == ';' || type.data[length] == ' ');
}

static bool is_success(const gateway_post *post)
{
    return post->flight.response.status >= 200 && post->flight.response.status < 300;
}

/* False: the response is too large. */
static bool take_piece(void *state, mishap_text bytes)
{
    gateway_post *post = state;
    if (!post->begun) {
        post->begun = true;
        post->streams = is_success(post) && type_is(post, "text/event-stream");
    }
    if (post->streams) {
        size_t lost = mishap_mcp_gateway_events_feed(&post->events, bytes, MISHAP_MCP_LINE_LIMIT,
                                                     take_message, post);
        post->too_large = post->too_large || lost;
        return true;
    }
    size_t most = is_success(post) ? MISHAP_MCP_LINE_LIMIT : GATEWAY_MOST_RESPONSE;
    size_t room = most - post->body.length;
    post->too_large = bytes.length > room;
    mishap_buffer_put(&post->body, bytes.data, post->too_large ? room : bytes.length);
    return !post->too_large && !post->body.failed;
}

/* An error whose number is one for all kinds, such as -32000 of a server that limits rates: the
 * status says more. */
static bool says_less_than_status(const gateway_post *post, yyjson_val *root)
{
    int status = post->flight.response.status;
    yyjson_val *error = yyjson_obj_get(root, "error");
    return status > 400 && status != 500 && yyjson_is_obj(error) &&
           mishap_mcp_gateway_number_is_general(yyjson_get_sint(yyjson_obj_get(error, "code")));
}

bool mishap_mcp_gateway_post_end(gateway_post *post)
{
    if (!post->streams && post->body.length && type_is(post, "application/json")) {
        if (is_success(post))
            take_message(post, mishap_buffer_text(&post->body));
        else if (post->id.length) { /* it counts only if it is an answer */
            mishap_json_reader reader = MISHAP_JSON_READER;
            if (mishap_json_read(&reader, mishap_buffer_text(&post->body)) &&
                !says_less_than_status(post, reader.root)) {
                look_at_message(post, reader.root);
                if (post->answered)
                    put_line(post, mishap_buffer_text(&post->body));
                else
                    put_error(post, reader.root);
            }
            mishap_json_reader_release(&reader);
        }
    }
    return post->answered;
}

void mishap_mcp_gateway_post_tell(gateway_post *post, bool lost)
{
    const mishap_client_response *response = &post->flight.response;
    const mishap_text none = { NULL, 0 };
    mishap_buffer line = { 0 };
    if (post->answered || !response->status)
        return;
    mishap_mcp_gateway_response_put(
        &line, lost ? none : mishap_buffer_text(&post->id),
        &(gateway_response){
            .status = response->status,
            .retry_after_ms = mishap_client_retry_after(response, mishap_clock_now_ms()),
            .large = post->too_large,
            .lost = lost,
            .type = mishap_client_field(response, "Content-Type"),
            .body = post->streams ? none : mishap_buffer_text(&post->body) });
    post->answered = !line.failed && !lost;
    if (!line.failed)
        mishap_mcp_gateway_remote_put(post->remote, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
    if (!post->answered && !lost)
        mishap_mcp_gateway_post_fail(post, "There is no memory for the response of the server.");
}

void mishap_mcp_gateway_post_fail(gateway_post *post, const char *words)
{
    mishap_buffer line = { 0 };
    if (!post->id.length || post->answered)
        return;
    MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&line, mishap_buffer_text(&post->id));
    MISHAP_PUT(&line, ",\"error\":{\"code\":-32603,\"message\":");
    mishap_json_string(&line, mishap_text_of(words));
    MISHAP_PUT(&line, "}}");
    post->answered = !line.failed;
    if (post->answered)
        mishap_mcp_gateway_remote_put(post->remote, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

/* -- what is sent ------------------------------------------------------------------------------ */

struct headers {
    mishap_client_header list[MOST_HEADERS];
    size_t count;
    char version[64], method[256];
    mishap_buffer name;
};

static void add(struct headers *headers, const char *name, const char *value)
{
    if (headers->count < MOST_HEADERS && value[0])
        headers->list[headers->count++] = (mishap_client_header){ name, value };
}

/* A value that no header field can have is sent in base64. */
static void put_value(mishap_buffer *out, mishap_text value)
{
    bool plain = value.length > 0 && value.data[0] != ' ' && value.data[0] != '=' &&
                 value.data[value.length - 1] != ' ';
    for (size_t i = 0; i < value.length; i++)
        plain = plain && value.data[i] >= ' ' && value.data[i] <= '~';
    if (plain) {
        mishap_buffer_put_text(out, value);
    } else {
        MISHAP_PUT(out, "=?base64?");
        mishap_base64_put(out, value);
        MISHAP_PUT(out, "?=");
    }
    mishap_buffer_put_char(out, '\0');
}

/* A message of the stateless revision is repeated in header fields. */
static void add_stateless(struct headers *headers, const mishap_mcp_message *message)
{
    yyjson_val *name = yyjson_obj_get(message->params, "name");
    yyjson_val *uri = yyjson_obj_get(message->params, "uri");
    snprintf(headers->version, sizeof headers->version, "%.*s", (int)message->claimed.length,
             message->claimed.data);
    snprintf(headers->method, sizeof headers->method, "%.*s", (int)message->method.length,
             message->method.data);
    add(headers, "MCP-Protocol-Version", headers->version);
    add(headers, "Mcp-Method", headers->method);
    if (!yyjson_is_str(name) && !yyjson_is_str(uri))
        return;
    put_value(&headers->name, mishap_json_text(yyjson_is_str(name) ? name : uri));
    if (!headers->name.failed)
        add(headers, "Mcp-Name", headers->name.data);
}

static void fill_headers(struct headers *headers, const gateway_post *post,
                         const mishap_mcp_gateway_settings *settings,
                         const gateway_post_headers *known, const mishap_mcp_message *message)
{
    bool stream = post->kind == GATEWAY_POST_STREAM;
    if (post->line.length)
        add(headers, "Content-Type", "application/json");
    add(headers, "Accept", stream ? "text/event-stream" : "application/json, text/event-stream");
    if (message && message->claims) {
        add_stateless(headers, message);
    } else if (post->kind != GATEWAY_POST_HELLO) {
        add(headers, "MCP-Protocol-Version", known->version);
        add(headers, "Mcp-Session-Id", known->session);
    }
    for (size_t i = 0; i < settings->header_count; i++)
        add(headers, settings->headers[i].name, settings->headers[i].value);
}

static void clear_post(gateway_post *post)
{
    mishap_buffer_reset_within(&post->line, KEPT_BYTES);
    mishap_buffer_reset_within(&post->body, KEPT_BYTES);
    mishap_buffer_reset(&post->id);
    mishap_mcp_gateway_events_release(&post->events);
    post->events = (gateway_events){ 0 };
    post->begun = post->streams = post->answered = post->too_large = false;
}

mishap *mishap_mcp_gateway_post_begin(gateway_post *post, mishap_client_many *many,
                                      const mishap_mcp_gateway_settings *settings,
                                      const gateway_post_headers *known, mishap_text line,
                                      const mishap_mcp_message *message)
{
    struct headers headers = { 0 };
    clear_post(post);
    mishap_buffer_put_text(&post->line, line);
    if (message && message->kind == MISHAP_MCP_REQUEST)
        mishap_buffer_put_text(&post->id, message->id);
    fill_headers(&headers, post, settings, known, message);
    mishap_client_request request = {
        .url = settings->url,
        .method = post->kind == GATEWAY_POST_STREAM ? "GET"
                  : post->kind == GATEWAY_POST_BYE  ? "DELETE"
                                                    : "POST",
        .headers = headers.list,
        .header_count = headers.count,
        .body = mishap_buffer_text(&post->line),
        .decode = true,
        .total_ms = -1,
        .piece = take_piece,
        .state = post,
    };
    if (!post->line.length)
        request.body = (mishap_text){ NULL, 0 };
    mishap *failure = post->line.failed || post->id.failed || headers.name.failed
                          ? mishap_out_of_memory()
                          : mishap_client_many_begin(many, &post->flight, &request);
    mishap_buffer_release(&headers.name);
    return failure;
}

void mishap_mcp_gateway_post_release(gateway_post *post)
{
    mishap_client_close(post->flight.client);
    mishap_client_response_release(&post->flight.response);
    mishap_buffer_release(&post->line);
    mishap_buffer_release(&post->body);
    mishap_buffer_release(&post->id);
    mishap_mcp_gateway_events_release(&post->events);
    mishap_release(post);
}
