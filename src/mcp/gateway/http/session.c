/* A session: a gateway on standard input and output, as a process of its own. */
#include <stdio.h>
#include <unistd.h>

#include "base/system.h"
#include "mcp/gateway/http/inside.h"

/* -- the end ----------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    http_session *session = handle->data;
    if (--session->handles)
        return;
    mishap_buffer_release(&session->lines);
    mishap_buffer_release(&session->parked);
    mishap_mcp_http_questions_release(session);
    mishap_release(session);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

/* No request finds it any more. */
static void leave(http_session *session)
{
    http_front *front = session->front;
    if (session->ended)
        return;
    session->ended = true;
    mishap_mcp_http_exchanges_end(session);
    if (front->stateless == session) {
        front->stateless = NULL;
        return;
    }
    http_session **at = &front->sessions;
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    front->count--;
}

void mishap_mcp_http_session_kill(http_session *session)
{
    leave(session);
    close_handle((uv_handle_t *)&session->in);
    if (uv_is_active((uv_handle_t *)&session->process))
        uv_process_kill(&session->process, SIGTERM);
}

/* A gateway ends when its requests are answered: without a client nothing waits for that. */
void mishap_mcp_http_session_end(http_session *session)
{
    if (session->awaited.count) {
        mishap_mcp_http_session_kill(session);
        return;
    }
    leave(session);
    close_handle((uv_handle_t *)&session->in);
}

static void on_end(uv_process_t *process, int64_t status, int signal)
{
    http_session *session = process->data;
    (void)status, (void)signal;
    session->front->running--;
    close_handle((uv_handle_t *)process);
    mishap_mcp_http_session_end(session); /* its output may have lines left, which none awaits */
    close_handle((uv_handle_t *)&session->out);
}

/* -- lines ------------------------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t wished, uv_buf_t *room)
{
    http_session *session = handle->data;
    size_t size = wished < 65536 ? wished : 65536;
    bool fits = mishap_buffer_reserve(&session->lines, size);
    *room = uv_buf_init(fits ? session->lines.data + session->lines.length : NULL,
                        fits ? (unsigned)size : 0);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *room)
{
    http_session *session = stream->data;
    mishap_buffer *lines = &session->lines;
    size_t start = 0;
    (void)room;
    if (count < 0 || lines->length + (size_t)count > HTTP_MOST_LINE) {
        mishap_mcp_http_session_kill(session);
        uv_read_stop(stream);
        return;
    }
    lines->length += (size_t)count;
    for (size_t i = session->seen; i < lines->length; i++)
        if (lines->data[i] == '\n') {
            if (!session->ended && i > start)
                mishap_mcp_http_deliver(session, (mishap_text){ lines->data + start, i - start });
            start = i + 1;
        }
    memmove(lines->data, lines->data + start, lines->length - start);
    lines->length -= start;
    session->seen = lines->length;
    if (!lines->length)
        mishap_buffer_reset_within(lines, 1 << 20);
}

struct sent {
    uv_write_t write; /* the first member */
    char bytes[];
};

static void on_sent(uv_write_t *write, int status)
{
    (void)status; /* a gateway that is gone is noticed by its end */
    mishap_release(write);
}

bool mishap_mcp_http_session_send(http_session *session, mishap_text line)
{
    uv_stream_t *in = (uv_stream_t *)&session->in;
    if (session->ended || uv_stream_get_write_queue_size(in) + line.length > HTTP_MOST_UNSENT)
        return false;
    struct sent *sent = mishap_allocate(sizeof *sent + line.length + 1);
    if (!sent)
        return false;
    for (size_t i = 0; i < line.length; i++)
        sent->bytes[i] = line.data[i] == '\n' || line.data[i] == '\r' ? ' ' : line.data[i];
    sent->bytes[line.length] = '\n';
    uv_buf_t bytes = uv_buf_init(sent->bytes, (unsigned)line.length + 1);
    if (uv_write(&sent->write, in, &bytes, 1, on_sent) == 0)
        return true;
    mishap_release(sent);
    return false;
}

/* -- the beginning ----------------------------------------------------------------------------- */

static void close_ends(uv_file ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

/* A pipe of which this process keeps one end (0: for reading, 1: for writing), and the other end.
 */
static int open_pipe(uv_pipe_t *own, int side, uv_file *other)
{
    uv_file ends[2];
    int error = uv_pipe(ends, side ? 0 : UV_NONBLOCK_PIPE, side ? UV_NONBLOCK_PIPE : 0);
    if (error)
        return error;
    error = uv_pipe_open(own, ends[side]);
    if (error) {
        close_ends(ends);
        return error;
    }
    *other = ends[!side];
    return 0;
}

/* Through pipes: those that libuv would make are pairs of sockets, and each message would cost more
 * in both processes. */
static int spawn(http_session *session, uv_loop_t *loop)
{
    uv_file ends[2] = { -1, -1 };
    char **argv = (char **)(uintptr_t)session->front->settings->argv;
    int error = open_pipe(&session->in, 1, &ends[0]);
    if (!error)
        error = open_pipe(&session->out, 0, &ends[1]);
    uv_stdio_container_t files[3] = {
        { .flags = UV_INHERIT_FD, .data.fd = ends[0] },
        { .flags = UV_INHERIT_FD, .data.fd = ends[1] },
        { .flags = UV_INHERIT_FD, .data.fd = 2 },
    };
    if (!error)
        error = uv_spawn(loop, &session->process,
                         &(uv_process_options_t){ .exit_cb = on_end,
                                                  .file = "/proc/self/exe",
                                                  .args = argv,
                                                  .stdio_count = 3,
                                                  .stdio = files });
    close_ends(ends);
    return error;
}

static bool name_session(http_session *session)
{
    unsigned char bytes[HTTP_SESSION_ID / 2];
    if (!mishap_system_random(bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(session->id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

bool mishap_mcp_http_session_is_used(const http_session *session)
{
    const http_exchange *x = session->exchanges;
    while (x && !x->later)
        x = x->next;
    return x || session->stream;
}

/* Many clients leave without a DELETE: the session that was idle for longest makes room. */
static void make_place(http_front *front)
{
    http_session *oldest = NULL;
    for (http_session *at = front->sessions; at; at = at->next)
        if (!mishap_mcp_http_session_is_used(at) && (!oldest || at->used_ns < oldest->used_ns))
            oldest = at;
    if (oldest && mishap_clock_monotonic_ns() - oldest->used_ns > HTTP_IDLE_NS)
        mishap_mcp_http_session_end(oldest);
}

static mishap *too_many(void)
{
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "There are too many sessions."), 5000);
}

/* libuv knows the handle of the process only if it came so far as to start it. */
static mishap *not_started(http_session *session, int error)
{
    session->ended = true;
    if (uv_handle_get_type((uv_handle_t *)&session->process) == UV_UNKNOWN_HANDLE)
        session->handles--;
    else
        close_handle((uv_handle_t *)&session->process);
    close_handle((uv_handle_t *)&session->in);
    close_handle((uv_handle_t *)&session->out);
    return mishap_note(mishap_raise(UNAVAILABLE, "The gateway cannot start a process."), "reason",
                       uv_strerror(error));
}

mishap *mishap_mcp_http_session_start(http_front *front, bool stateless, http_session **out)
{
    uv_loop_t *loop = mishap_http_uv(front->http);
    if (!stateless && front->count >= HTTP_MOST_SESSIONS)
        make_place(front);
    if (!stateless && front->count >= HTTP_MOST_SESSIONS)
        return too_many();
    if (front->running >= HTTP_MOST_PROCESSES - (stateless ? 0 : HTTP_RESERVED_PROCESSES))
        return too_many();
    http_session *session = mishap_allocate(sizeof *session);
    if (!session)
        return mishap_out_of_memory();
    memset(session, 0, sizeof *session);
    session->front = front;
    mishap_mcp_gateway_table_init(&session->awaited);
    session->process.data = session->in.data = session->out.data = session;
    if (!stateless && !name_session(session)) {
        mishap_release(session);
        return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    }
    uv_pipe_init(loop, &session->in, 0);
    uv_pipe_init(loop, &session->out, 0);
    session->handles = 3;
    int error = spawn(session, loop);
    session->process.data = session->in.data = session->out.data = session;
    if (error)
        return not_started(session, error);
    front->running++;
    uv_read_start((uv_stream_t *)&session->out, on_room, on_read);
    session->used_ns = mishap_clock_monotonic_ns();
    if (stateless) {
        front->stateless = session;
    } else {
        session->next = front->sessions;
        front->sessions = session;
        front->count++;
    }
    *out = session;
    return NULL;
}

http_session *mishap_mcp_http_session_find(http_front *front, mishap_text id)
{
    http_session *session = front->sessions;
    while (session && !mishap_text_equal(mishap_text_of(session->id), id))
        session = session->next;
    return session;
}
