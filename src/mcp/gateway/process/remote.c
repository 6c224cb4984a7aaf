/* A server behind a URL: see remote.h. */
#include "mcp/gateway/process/remote.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/json_read.h"
#include "mcp/gateway/process/post.h"
#include "mcp/transport/lines.h"

enum {
    MOST_POSTS = 512,       /* that run at a time … */
    MOST_DONE = 16,         /* … and of these, whose response goes on behind the answer */
    STREAM_PAUSE_MS = 1000, /* until the stream for messages of the server is opened again */
    BYE_MS = 1000,          /* for the answer to DELETE */
};

struct gateway_remote {
    const mishap_mcp_gateway_settings *settings;
    mishap_client_many *many;
    mishap_mcp_lines lines; /* only their input is used */
    gateway_post *posts;    /* that run … */
    gateway_post *spare;    /* … and that have ended */
    size_t count;
    gateway_post_headers known;
    bool first;        /* a greeting is under way: the next message waits */
    bool wants_stream; /* the server may send messages on its own */
    bool streams;
    int64_t stream_ns; /* when the stream is opened */
    bool over;
    int signals;     /* SIGTERM, SIGINT, SIGHUP: the session is ended, and then this process */
    const char *why; /* the server is lost; NULL: it is not */
};

/* -- the gateway ------------------------------------------------------------------------------- */

static void put_bytes(gateway_remote *r, const char *data, size_t length)
{
    while (length) {
        ssize_t count = write(STDOUT_FILENO, data, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            r->over = true;
            return;
        }
        data += count;
        length -= (size_t)count;
    }
}

void mishap_mcp_gateway_remote_put(gateway_remote *r, mishap_text line)
{
    put_bytes(r, line.data, line.length);
    put_bytes(r, "\n", 1);
}

void mishap_mcp_gateway_remote_greeted(gateway_remote *r, gateway_post *post, mishap_text version)
{
    mishap_text session = mishap_client_field(&post->flight.response, "Mcp-Session-Id");
    bool visible = session.length < sizeof r->known.session;
    for (size_t i = 0; i < session.length; i++)
        visible = visible && session.data[i] > ' ' && session.data[i] <= '~';
    snprintf(r->known.session, sizeof r->known.session, "%.*s", visible ? (int)session.length : 0,
             session.length ? session.data : "");
    mishap_mcp_revision revision = mishap_mcp_revision_find(version);
    snprintf(r->known.version, sizeof r->known.version, "%s",
             revision ? mishap_mcp_revision_name(revision) : "");
}

/* -- posts ------------------------------------------------------------------------------------- */

static gateway_post *new_post(gateway_remote *r)
{
    gateway_post *post = r->spare;
    if (post) {
        r->spare = post->next;
        return post;
    }
    post = mishap_allocate(sizeof *post);
    if (!post)
        return NULL;
    *post = (gateway_post){ .remote = r };
    mishap_client_settings about = { .agent = "mishap-mcp-gateway" };
    mishap *failure = mishap_client_open(&about, &post->flight.client);
    if (!failure)
        return post;
    mishap_free(failure);
    mishap_release(post);
    return NULL;
}

static void remove_post(gateway_remote *r, gateway_post *post)
{
    gateway_post **at = &r->posts;
    while (*at != post)
        at = &(*at)->next;
    *at = post->next;
    r->count--;
    if (post->kind == GATEWAY_POST_HELLO || post->kind == GATEWAY_POST_READY)
        r->first = false;
    if (post->kind == GATEWAY_POST_STREAM)
        r->streams = false;
    post->next = r->spare;
    r->spare = post;
}

static bool begin_post(gateway_remote *r, gateway_post_kind kind, mishap_text line,
                       const mishap_mcp_message *message)
{
    gateway_post *post = r->count < MOST_POSTS ? new_post(r) : NULL;
    mishap *failure;
    if (!post)
        return false;
    post->kind = kind;
    post->next = r->posts;
    r->posts = post;
    r->count++;
    failure = mishap_mcp_gateway_post_begin(post, r->many, r->settings, &r->known, line, message);
    if (!failure)
        return true;
    mishap_mcp_gateway_post_fail(post, "The request could not be sent.");
    remove_post(r, post);
    mishap_free(failure);
    return true;
}

/* A server that has been started again knows no session, and says so with 404; some say 400, and
 * why. */
static bool forgets_session(const gateway_remote *r, const gateway_post *post)
{
    int status = post->flight.response.status;
    mishap_text body = mishap_buffer_text(&post->body);
    if (!r->known.session[0] || post->kind == GATEWAY_POST_BYE)
        return false;
    return status == 404 || (status == 400 && (memmem(body.data, body.length, "session", 7) ||
                                               memmem(body.data, body.length, "Session", 7)));
}

static void end_stream(gateway_remote *r, const gateway_post *post)
{
    int status = post->flight.response.status;
    if (status && (status < 200 || status >= 300))
        r->wants_stream = false; /* 405: it has none */
    r->stream_ns = mishap_clock_monotonic_ns() + STREAM_PAUSE_MS * INT64_C(1000000);
}

static void end_post(gateway_remote *r, gateway_post *post, mishap *failure)
{
    int status = post->flight.response.status;
    if (post->kind == GATEWAY_POST_STREAM) {
        end_stream(r, post);
    } else if (post->too_large && !post->answered) {
        mishap_mcp_gateway_post_tell(post, false);
    } else if (failure && post->id.length && !post->answered) {
        r->why = status ? "has ended a response before its end" : "cannot be reached";
    } else if (!failure && forgets_session(r, post)) {
        r->why = "has forgotten the session";
    } else if (!failure && (post->id.length ? !mishap_mcp_gateway_post_end(post) : status >= 300)) {
        mishap_mcp_gateway_post_tell(post, false);
    }
    if (r->why)
        mishap_mcp_gateway_post_tell(post, true);
    if (post->kind == GATEWAY_POST_READY && !failure && r->known.version[0])
        r->wants_stream = true;
    remove_post(r, post);
    mishap_free(failure);
}

static void end_posts(gateway_remote *r)
{
    mishap *failure = NULL;
    mishap_client_flight *flight;
    while (!r->why && (flight = mishap_client_many_next(r->many, &failure)))
        end_post(r, (gateway_post *)(void *)flight, failure);
}

/* A server may leave a response open behind the answer, or send nothing but its head. */
static bool is_done(const gateway_post *post)
{
    int status = post->flight.response.status;
    if (post->kind == GATEWAY_POST_STREAM || post->kind == GATEWAY_POST_BYE)
        return false;
    return post->id.length ? post->answered : status >= 200 && status < 300;
}

/* Nothing waits for responses that say nothing any more, and the oldest of them are given up. */
static void look_at_done(gateway_remote *r)
{
    size_t done = 0;
    for (gateway_post *post = r->posts, *next; post; post = next) {
        next = post->next;
        if (!is_done(post))
            continue;
        if (post->kind == GATEWAY_POST_READY && r->known.version[0])
            r->wants_stream = true;
        if (post->kind != GATEWAY_POST_MESSAGE)
            r->first = false;
        post->kind = GATEWAY_POST_MESSAGE;
        if (++done > MOST_DONE) {
            mishap_client_many_drop(r->many, &post->flight);
            remove_post(r, post);
        }
    }
}

/* -- lines of the gateway ---------------------------------------------------------------------- */

/* A request that is cancelled need not be answered: its connection is closed. */
static void cancel_post(gateway_remote *r, const mishap_mcp_message *message)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    if (!mishap_mcp_id_read(yyjson_obj_get(message->params, "requestId"), room, &id))
        return;
    for (gateway_post *post = r->posts; post; post = post->next)
        if (post->id.length && mishap_text_equal(mishap_buffer_text(&post->id), id)) {
            mishap_client_many_drop(r->many, &post->flight);
            remove_post(r, post);
            return;
        }
}

static gateway_post_kind kind_of(const mishap_mcp_message *message)
{
    if (mishap_text_equal(message->method, (mishap_text)MISHAP_TEXT("initialize")))
        return GATEWAY_POST_HELLO;
    if (mishap_text_equal(message->method, (mishap_text)MISHAP_TEXT("notifications/initialized")))
        return GATEWAY_POST_READY;
    return GATEWAY_POST_MESSAGE;
}

static void refuse_line(gateway_remote *r, const mishap_mcp_message *message)
{
    mishap_buffer line = { 0 };
    if (message->kind != MISHAP_MCP_REQUEST)
        return;
    MISHAP_PUT(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_text(&line, message->id);
    MISHAP_PUT(&line, ",\"error\":{\"code\":-32603,\"message\":\"Too many requests are not "
                      "answered yet.\"}}");
    if (!line.failed)
        mishap_mcp_gateway_remote_put(r, mishap_buffer_text(&line));
    mishap_buffer_release(&line);
}

/* The gateway has read it before: it is a message. */
static void take_line(gateway_remote *r, mishap_text line)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw = { 0 };
    if (mishap_json_read(&reader, line) && mishap_mcp_message_read(reader.root, &message, &flaw)) {
        gateway_post_kind kind = kind_of(&message);
        r->first = kind != GATEWAY_POST_MESSAGE;
        if (!begin_post(r, kind, line, &message)) {
            r->first = false;
            refuse_line(r, &message);
        }
        if (mishap_text_equal(message.method, (mishap_text)MISHAP_TEXT("notifications/cancelled")))
            cancel_post(r, &message);
    }
    mishap_free(flaw.failure);
    mishap_json_reader_release(&reader);
}

static void take_lines(gateway_remote *r)
{
    mishap_text line;
    mishap_mcp_line kind;
    while (!r->first && (kind = mishap_mcp_lines_next(&r->lines, &line)) != MISHAP_MCP_NO_LINE)
        if (kind == MISHAP_MCP_LINE)
            take_line(r, line);
}

/* -- the loop ---------------------------------------------------------------------------------- */

static void open_stream(gateway_remote *r)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (r->wants_stream && !r->streams && now >= r->stream_ns)
        r->streams = begin_post(r, GATEWAY_POST_STREAM, (mishap_text){ NULL, 0 }, NULL);
}

/* Lines that were read wait for the end of a greeting, so they are looked at in each turn. */
static void serve(gateway_remote *r)
{
    while (!r->over && !r->why) {
        struct pollfd files[] = { { .fd = r->signals, .events = POLLIN },
                                  { .fd = r->first ? -1 : STDIN_FILENO, .events = POLLIN } };
        open_stream(r);
        bool waits = r->wants_stream && !r->streams;
        mishap_client_many_wait(r->many, files, 2, waits ? STREAM_PAUSE_MS : 60000);
        if (!r->first && files[1].revents)
            mishap_mcp_lines_read(&r->lines);
        end_posts(r);
        look_at_done(r);
        take_lines(r);
        r->over = r->over || files[0].revents || (r->lines.ended && !r->first);
    }
}

/* The session need not wait for its end. */
static void say_goodbye(gateway_remote *r)
{
    int64_t until = mishap_clock_monotonic_ns() + BYE_MS * INT64_C(1000000);
    if (r->why || !r->known.session[0] ||
        !begin_post(r, GATEWAY_POST_BYE, (mishap_text){ NULL, 0 }, NULL))
        return;
    const gateway_post *bye = r->posts;
    while (bye && bye->kind == GATEWAY_POST_BYE && bye->flight.runs &&
           mishap_clock_monotonic_ns() < until) {
        mishap *failure = NULL;
        mishap_client_many_wait(r->many, NULL, 0, 100);
        while (mishap_client_many_next(r->many, &failure))
            mishap_free(failure);
    }
}

static void release(gateway_remote *r)
{
    gateway_post *lists[] = { r->posts, r->spare };
    for (size_t i = 0; i < 2; i++)
        for (gateway_post *post = lists[i], *next; post; post = next) {
            next = post->next;
            if (r->many)
                mishap_client_many_drop(r->many, &post->flight);
            mishap_mcp_gateway_post_release(post);
        }
    mishap_client_many_close(r->many);
    mishap_mcp_lines_release(&r->lines);
}

static int watch_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int mishap_mcp_gateway_remote_run(const mishap_mcp_gateway_settings *settings)
{
    static gateway_remote remote;
    remote = (gateway_remote){ .settings = settings,
                               .signals = watch_signals(),
                               .lines = { .in = STDIN_FILENO, .out = -1 } };
    mishap *failure = mishap_client_many_open(&remote.many);
    if (!failure && mishap_mcp_lines_open(&remote.lines)) {
        serve(&remote);
        say_goodbye(&remote);
    }
    bool fine = !failure && !remote.why;
    if (remote.why)
        dprintf(STDERR_FILENO, "mishap: the server %s\n", remote.why);
    mishap_free(failure);
    release(&remote);
    return fine ? 0 : 1;
}

mishap *mishap_mcp_gateway_remote_check(const mishap_mcp_gateway_settings *settings)
{
    mishap_client_many *many = NULL;
    mishap *failure = mishap_client_many_open(&many); /* libcurl is loaded before the first fork */
    mishap_client_many_close(many);
    mishap_client_request request = { .url = settings->url,
                                      .headers = settings->headers,
                                      .header_count = settings->header_count };
    return failure ? failure : mishap_client_check(&request);
}
