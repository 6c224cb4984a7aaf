/* Requests with a streamed file: see uploads.h. */
#include "http/calls/uploads.h"

#include <poll.h>
#include <unistd.h>

#include "base/memory.h"
#include "http/wire/form.h"
#include "http/wire/wire.h"
#include "operation/file.h"

enum {
    BESIDE = 2 * 64 * 1024, /* bytes of a form beside its file: fields, heads and boundaries */
};

/* The side of a channel that is written to. Bytes of a connection are received into its memory, and
 * a part of them may follow the file: it is freed when they were read, too. */
struct way {
    mishap_channel channel;
    uv_poll_t poll; /* for room in the channel */
};

struct mishap_api_upload {
    mishap_upload upload; /* for the runner; `file` -1: there is no channel */
    mishap_api *api;
    mishap_http_later *later; /* NULL: it was answered, or its peer is gone */
    mishap_api_call *call;    /* NULL: it has not begun */
    const mishap_operation *operation;
    bool is_form;
    mishap_http_form_reader form;
    mishap_http_form_stream stream;
    struct way *way;       /* NULL: there is none yet, or it has ended */
    mishap_buffer pending; /* bytes that the channel did not take */
    bool whole;            /* all bytes have arrived */
    mishap *failure;       /* why they have not; NULL: they may yet */
    bool busy, dead; /* it is being used further up the stack; and is to be freed after that */
};

/* -- the end ----------------------------------------------------------------------------------- */

static void free_way(struct way *way)
{
    mishap_channel_close(&way->channel);
    mishap_release(way);
}

static void on_way_closed(uv_handle_t *handle)
{
    free_way(handle->data);
}

/* libuv must have forgotten the file before it is closed. */
static void close_channel(mishap_api_upload *u)
{
    if (u->way) {
        u->way->poll.data = u->way;
        uv_close((uv_handle_t *)&u->way->poll, on_way_closed);
        mishap_channel_end(&u->way->channel);
    }
    u->way = NULL;
    mishap_buffer_release(&u->pending);
    u->upload.full = false;
}

/* The handler reads what is in the channel, and then this end. */
static void end_channel(mishap_api_upload *u, mishap_upload_end end)
{
    if (!u->way)
        return;
    mishap_runner_upload_ended(u->call ? &u->call->run : NULL, &u->upload, end);
    close_channel(u);
}

void mishap_api_upload_free(mishap_api_upload *u)
{
    if (!u)
        return;
    u->later = NULL;
    u->call = NULL;
    if (u->busy) {
        u->dead = true;
        return;
    }
    close_channel(u);
    if (u->upload.file >= 0)
        close(u->upload.file);
    u->api->uploads--;
    if (u->is_form)
        mishap_http_form_release(&u->form);
    mishap_free(u->failure);
    mishap_release(u);
}

void mishap_api_upload_cut(mishap_api_upload *u)
{
    if (u)
        end_channel(u, MISHAP_UPLOAD_CUT);
}

mishap *mishap_api_upload_failure(mishap_api_upload *u)
{
    mishap *failure = u ? u->failure : NULL;
    if (u)
        u->failure = NULL;
    return failure;
}

static mishap_upload_end end_of(const mishap_api_upload *u, const mishap *failure)
{
    const mishap_code *code = mishap_told(failure)->code;
    return code == MISHAP_CODE_CONTENT_TOO_LARGE                 ? MISHAP_UPLOAD_TOO_LARGE
           : code == MISHAP_CODE_REQUEST_TIMEOUT                 ? MISHAP_UPLOAD_TOO_SLOW
           : u->later && mishap_http_later_half_closed(u->later) ? MISHAP_UPLOAD_CUT
                                                                 : MISHAP_UPLOAD_MALFORMED;
}

/* The call has not begun: answer the request in its place. */
static void refuse_request(mishap_api_upload *u, mishap *failure)
{
    const mishap_http_settings *settings = mishap_http_settings_of(u->api->server);
    mishap_http_later *later = u->later;
    mishap_http_reply reply = { 0 };
    mishap_api_refuse(&reply, settings, &later->request, failure);
    mishap_http_match match;
    bool found = mishap_http_find(u->api->server, &later->request, &match);
    mishap_api_record(&(mishap_api_failed){ .settings = settings,
                                            .request = &later->request,
                                            .reply = &reply,
                                            .failure = failure,
                                            .match = found ? &match : NULL });
    mishap_free(failure);
    later->closed = NULL;
    mishap_http_later_answer(later, &reply);
    mishap_http_reply_release(&reply);
    mishap_api_upload_free(u);
}

/* The file will not arrive as a whole. A handler that runs learns that when it has read what has
 * arrived; the request is answered when it returns. */
static void fail_upload(mishap_api_upload *u, mishap *failure)
{
    if (!u->call) {
        refuse_request(u, failure);
        return;
    }
    u->later->full = true; /* what still comes of the body is of no use */
    if (u->failure) {
        mishap_free(failure);
        return;
    }
    mishap_upload_end end = end_of(u, failure);
    u->failure = failure;
    end_channel(u, end);
}

static mishap_api_upload *upload_of(const mishap_http_later *later);

/* -- bytes ------------------------------------------------------------------------------------- */

static void on_woken(uv_poll_t *poll, int status, int events);

/* No more is read before the channel has room. */
static mishap *wait_for_room(mishap_api_upload *u)
{
    struct way *way = u->way;
    int events = mishap_channel_events(&way->channel) == POLLIN ? UV_READABLE : UV_WRITABLE;
    if (u->pending.failed || uv_poll_start(&way->poll, events, on_woken) != 0)
        return mishap_out_of_memory();
    u->upload.full = true;
    return NULL;
}

static bool put_pending(mishap_api_upload *u)
{
    mishap_text bytes = mishap_buffer_text(&u->pending);
    size_t written = mishap_channel_write(&u->way->channel, bytes);
    if (written)
        memmove(u->pending.data, bytes.data + written, bytes.length - written);
    u->pending.length -= written;
    return !u->pending.length && (u->whole || !mishap_channel_is_full(&u->way->channel));
}

static void on_woken(uv_poll_t *poll, int status, int events)
{
    mishap_api_upload *u = poll->data;
    (void)status, (void)events;
    if (!u->way)
        return;
    mishap_channel_woken(&u->way->channel);
    if (!put_pending(u)) {
        mishap *failure = wait_for_room(u); /* the channel may use memory now */
        if (failure && u->later)
            fail_upload(u, failure);
        else
            mishap_free(failure);
        return;
    }
    uv_poll_stop(poll);
    u->upload.full = false;
    if (u->whole)
        end_channel(u, MISHAP_UPLOAD_WHOLE);
    else if (u->later)
        mishap_http_later_resume(u->later);
}

/* Bytes that the channel does not take are kept. */
static mishap *put_bytes(void *state, mishap_text bytes)
{
    mishap_api_upload *u = state;
    if (u->dead || !u->way)
        return NULL;
    size_t written = u->pending.length ? 0 : mishap_channel_write(&u->way->channel, bytes);
    if (written == bytes.length && !mishap_channel_is_full(&u->way->channel))
        return NULL;
    mishap_buffer_put(&u->pending, bytes.data + written, bytes.length - written);
    mishap *failure = wait_for_room(u);
    u->later->full = u->upload.full;
    return failure;
}

/* Memory of the channel for bytes of the connection. In a form, bytes that may begin a boundary
 * come before them, and are kept elsewhere. */
static char *on_room(mishap_http_later *later, size_t *size)
{
    const mishap_api_upload *u = upload_of(later);
    bool ready = u->way && !u->failure && !u->pending.length &&
                 !(u->is_form && u->form.parts.kept.length);
    return ready ? mishap_channel_lend(&u->way->channel, size) : NULL;
}

/* -- the call ---------------------------------------------------------------------------------- */

static mishap *open_channel(mishap_api_upload *u)
{
    struct way *way = mishap_allocate(sizeof *way);
    if (!way || !mishap_channel_open(&way->channel, &u->upload.file)) {
        mishap_release(way);
        return mishap_http_busy();
    }
    if (uv_poll_init(mishap_http_uv(u->api->server), &way->poll, way->channel.socket) != 0) {
        free_way(way);
        return mishap_http_busy();
    }
    way->poll.data = u;
    u->way = way;
    return NULL;
}

/* The fields of the form, or the file alone, as a JSON object. */
static mishap *put_fields(const mishap_api_upload *u, mishap_buffer *fields)
{
    mishap_buffer file = { 0 };
    if (u->is_form) {
        mishap_http_form_put(&u->form, fields);
    } else {
        mishap_file_put_head(&file, (mishap_text){ NULL, 0 },
                             u->later->request.fields[MISHAP_HTTP_CONTENT_TYPE]);
        mishap_json_open(fields, '{');
        mishap_json_key(fields, mishap_text_of(mishap_streamed_param(u->operation)->name));
        mishap_json_string(fields, mishap_buffer_text(&file));
        mishap_json_close(fields, '}');
    }
    bool failed = fields->failed || file.failed;
    mishap_buffer_release(&file);
    return failed ? mishap_out_of_memory() : NULL;
}

/* Check the arguments. */
static mishap *make_call(mishap_api_upload *u, mishap_call **call)
{
    const mishap_served *served = u->api->served;
    mishap_buffer fields = { 0 }, object = { 0 };
    mishap_text arguments;
    mishap_http_match match;
    mishap_http_request *request = &u->later->request;
    mishap *m = put_fields(u, &fields);
    if (!m && !mishap_http_find(u->api->server, request, &match))
        m = mishap_http_busy(); /* it was found before */
    if (!m)
        m = mishap_http_combine(u->operation, &match, request, mishap_buffer_text(&fields), &object,
                                &arguments);
    if (!m)
        m = mishap_call_begin(served->app, u->operation, arguments, call);
    mishap_buffer_release(&fields);
    mishap_buffer_release(&object);
    return m;
}

/* Hand over the call. NULL, or a failure, which answers the request. */
static mishap *start_call(mishap_api_upload *u, bool with_file)
{
    mishap_call *call = NULL;
    mishap *m = make_call(u, &call);
    if (m)
        return m;
    if (u->operation->headers)
        m = mishap_api_keep_headers(call, mishap_http_settings_of(u->api->server),
                                    &u->later->request);
    if (!m && with_file)
        m = open_channel(u);
    if (m) {
        mishap_call_end(call);
        return m;
    }
    mishap_call_limit(call, u->api->served->call_ms);
    call->verbose = u->api->served->verbose;
    call->upload = with_file ? &u->upload : NULL;
    return mishap_api_call_begin_upload(u->api, u->later, call, u, &u->call);
}

static mishap *begin_file(void *state)
{
    return start_call(state, true);
}

/* -- what comes from the connection ------------------------------------------------------------ */

/* It was used, and may have been answered meanwhile. */
static void after_use(mishap_api_upload *u, mishap *failure)
{
    u->busy = false;
    if (u->dead) {
        mishap_free(failure);
        mishap_api_upload_free(u);
    } else if (failure) {
        fail_upload(u, failure);
    }
}

static void on_piece(mishap_http_later *later, mishap_text bytes)
{
    mishap_api_upload *u = upload_of(later);
    mishap *failure = NULL;
    if (u->failure)
        return;
    u->busy = true;
    if (!u->is_form)
        failure = put_bytes(u, bytes);
    else if (!mishap_http_form_feed(&u->form, bytes))
        failure = mishap_http_form_end(&u->form);
    after_use(u, failure);
}

/* A form without its file is complete only now. */
static void on_whole(mishap_http_later *later)
{
    mishap_api_upload *u = upload_of(later);
    if (u->failure)
        return;
    u->busy = true;
    mishap *failure = u->is_form ? mishap_http_form_end(&u->form) : NULL;
    if (!failure && !u->call)
        failure = start_call(u, false);
    u->whole = !failure;
    if (u->whole && !u->dead && !u->pending.length)
        end_channel(u, MISHAP_UPLOAD_WHOLE);
    after_use(u, failure);
}

static void on_broken(mishap_http_later *later, mishap *failure)
{
    mishap_api_upload *u = upload_of(later);
    fail_upload(u, failure);
}

/* The peer is gone before the call began. */
static void on_closed(mishap_http_later *later)
{
    mishap_api_upload_free(later->owner);
}

/* The owner of a deferred request is its call, once there is one. */
static mishap_api_upload *upload_of(const mishap_http_later *later)
{
    if (later->closed == on_closed)
        return later->owner;
    const mishap_api_call *call = later->owner;
    return call->upload;
}

/* -- the beginning ----------------------------------------------------------------------------- */

size_t mishap_api_passes(const mishap_http_server *server, const mishap_http_request *request,
                         const mishap_http_match *match)
{
    const mishap_operation *operation = match->endpoint->subject;
    const mishap_param *param = mishap_streamed_param(operation);
    mishap_text type = request->fields[MISHAP_HTTP_CONTENT_TYPE];
    if (!param || !request->announced || !mishap_http_settings_of(server)->served->handlers)
        return 0;
    if (mishap_http_is_file(operation, type))
        return param->length.max;
    bool is_form = mishap_http_form_of(operation, type) == MISHAP_HTTP_MULTIPART;
    return !is_form                                ? 0
           : param->length.max > SIZE_MAX - BESIDE ? SIZE_MAX
                                                   : param->length.max + BESIDE;
}

mishap *mishap_api_upload_begin(mishap_http_server *server, const mishap_http_request *request,
                                const mishap_http_match *match)
{
    mishap_api *api = match->state;
    if (api->uploads >= MISHAP_API_UPLOADS)
        return mishap_http_busy();
    mishap_api_upload *u = mishap_allocate(sizeof *u);
    if (!u)
        return mishap_out_of_memory();
    *u = (mishap_api_upload){ .upload = { .file = -1 },
                              .api = api,
                              .operation = match->endpoint->subject };
    mishap_text type = request->fields[MISHAP_HTTP_CONTENT_TYPE];
    mishap *m = NULL;
    api->uploads++;
    u->is_form = !mishap_http_is_file(u->operation, type);
    u->stream = (mishap_http_form_stream){ begin_file, put_bytes, u };
    if (u->is_form)
        m = mishap_http_form_open(&u->form, u->operation, type, &u->stream);
    mishap_http_later *later = m ? NULL : mishap_http_defer(server, request);
    if (!later) {
        mishap_api_upload_free(u);
        return m ? m : mishap_out_of_memory();
    }
    u->later = later;
    later->owner = u;
    later->closed = on_closed;
    later->half_close = true;
    later->piece = on_piece;
    later->whole = on_whole;
    later->broken = on_broken;
    later->room = on_room;
    if (!u->is_form) {
        u->busy = true;
        after_use(u, start_call(u, true));
    }
    return NULL;
}
