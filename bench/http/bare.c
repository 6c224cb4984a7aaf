/*
 * The floor that the server is measured against: libuv and llhttp, one thread, and the same
 * constant answer to every request. It reads each request as the server must, to its last byte, and
 * then knows nothing: no route, no checks, no id. Written as well as it can be, for a slow floor
 * would flatter the house that stands on it.
 *
 *     bare [PORT]     on the loopback interface; without a port on any that is free
 */
#include <llhttp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define BODY                                                                                       \
    "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":["              \
    "{\"field\":\"name\",\"error\":\"field_required\"},"                                           \
    "{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,\"actual\":200},"   \
    "{\"field\":\"email\",\"error\":\"pattern_mismatch\",\"expected\":\".*@.*\\\\..*\"}]}"

enum {
    BODY_LENGTH = sizeof BODY - 1,
    READ_SIZE = 64 * 1024,
    AT_ONCE = 16, /* answers in one write, for requests that came in one read */
    BACKLOG = 1024,
};

/* The answer, with as many bytes and fields as the server's: made once, before the first request.
 */
static char answer[512];
static size_t answer_length;

/* Filled and parsed before anything else is read, so that all connections can share it. */
static char incoming[READ_SIZE];

static llhttp_settings_t parser_settings;

typedef struct connection {
    uv_tcp_t socket;
    llhttp_t parser;
    uv_write_t write; /* for what the kernel did not take at once */
    size_t unanswered;
    size_t written; /* bytes of the first unanswered one that have left */
    bool writing;
    bool last; /* the connection ends with its answers */
} connection;

/* -- writing ----------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_connection(connection *it)
{
    if (!uv_is_closing((uv_handle_t *)&it->socket))
        uv_close((uv_handle_t *)&it->socket, on_closed);
}

static unsigned next_answers(const connection *it, uv_buf_t buffers[AT_ONCE])
{
    unsigned count = 0;
    for (; count < it->unanswered && count < AT_ONCE; count++)
        buffers[count] = uv_buf_init(answer, (unsigned)answer_length);
    buffers[0].base += it->written;
    buffers[0].len -= it->written;
    return count;
}

static void count_written(connection *it, size_t bytes)
{
    it->written += bytes;
    while (it->written >= answer_length) {
        it->written -= answer_length;
        it->unanswered--;
    }
}

static void on_written(uv_write_t *write, int status);
static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);
static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer);

/* Sends what is owed. What the kernel does not take is left to libuv, and nothing is read
 * meanwhile. */
static void send_answers(connection *it)
{
    uv_stream_t *stream = (uv_stream_t *)&it->socket;
    uv_buf_t buffers[AT_ONCE];
    while (it->unanswered > 0) {
        unsigned count = next_answers(it, buffers);
        int sent = uv_try_write(stream, buffers, count);
        if (sent > 0) {
            count_written(it, (size_t)sent);
            continue;
        }
        if (sent != UV_EAGAIN || uv_write(&it->write, stream, buffers, count, on_written) != 0) {
            close_connection(it);
            return;
        }
        it->writing = true;
        uv_read_stop(stream);
        return;
    }
    if (it->last)
        close_connection(it);
}

static void on_written(uv_write_t *write, int status)
{
    connection *it = write->data;
    it->writing = false;
    if (status != 0) {
        close_connection(it);
        return;
    }
    uv_buf_t buffers[AT_ONCE];
    unsigned count = next_answers(it, buffers);
    count_written(it, count * answer_length - it->written);
    send_answers(it);
    if (!it->writing && !uv_is_closing((uv_handle_t *)&it->socket))
        uv_read_start((uv_stream_t *)&it->socket, on_room, on_read);
}

/* -- reading ----------------------------------------------------------------------------------- */

static int on_request(llhttp_t *parser)
{
    connection *it = parser->data;
    it->unanswered++;
    it->last = !llhttp_should_keep_alive(parser);
    return 0;
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)handle, (void)suggested;
    *buffer = uv_buf_init(incoming, sizeof incoming);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    connection *it = stream->data;
    if (count == 0)
        return;
    if (count < 0 || llhttp_execute(&it->parser, buffer->base, (size_t)count) != HPE_OK) {
        close_connection(it);
        return;
    }
    if (it->unanswered > 0)
        send_answers(it);
}

static void on_connection(uv_stream_t *listener, int status)
{
    connection *it = status == 0 ? calloc(1, sizeof *it) : NULL;
    if (!it)
        return;
    uv_tcp_init(listener->loop, &it->socket);
    it->socket.data = it;
    it->write.data = it;
    if (uv_accept(listener, (uv_stream_t *)&it->socket) != 0) {
        close_connection(it);
        return;
    }
    uv_tcp_nodelay(&it->socket, 1);
    llhttp_init(&it->parser, HTTP_REQUEST, &parser_settings);
    it->parser.data = it;
    uv_read_start((uv_stream_t *)&it->socket, on_room, on_read);
}

/* -- starting ---------------------------------------------------------------------------------- */

static void make_answer(void)
{
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 422 Unprocessable Entity\r\n"
                          "Content-Type: application/json\r\n"
                          "Content-Length: %d\r\n"
                          "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                          "X-Request-Id: 01890a5d-ac96-774b-bcce-b302099a8057\r\n"
                          "\r\n" BODY,
                          BODY_LENGTH);
    answer_length = (size_t)length;
}

static int bound_port(const uv_tcp_t *listener)
{
    struct sockaddr_in address;
    int length = sizeof address;
    if (uv_tcp_getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        return 0;
    return ntohs(address.sin_port);
}

int main(int argc, char **argv)
{
    int port = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    make_answer();
    llhttp_settings_init(&parser_settings);
    parser_settings.on_message_complete = on_request;

    uv_loop_t *loop = uv_default_loop();
    uv_tcp_t listener;
    struct sockaddr_in address;
    uv_tcp_init(loop, &listener);
    int error = uv_ip4_addr("127.0.0.1", port, &address);
    if (error == 0)
        error = uv_tcp_bind(&listener, (const struct sockaddr *)&address, 0);
    if (error == 0)
        error = uv_listen((uv_stream_t *)&listener, BACKLOG, on_connection);
    if (error != 0) {
        fprintf(stderr, "bare: %s\n", uv_strerror(error));
        return 1;
    }
    fprintf(stderr, "listening on http://127.0.0.1:%d\n", bound_port(&listener));
    return uv_run(loop, UV_RUN_DEFAULT);
}
