/* The extension: the routes of the pages. All of them are fallbacks: an operation of the program
 * that has the same path is preferred. */
#include "pages/pages.h"

#include "dialect/reference.h"

static const mishap_http_wish fields[] = { { "If-None-Match", .first = true }, { 0 } };

/* The place of If-None-Match in the fields of a request, in this process. */
typedef struct pages_state {
    int known_field;
} pages_state;

/* -- files ------------------------------------------------------------------------------------- */

static void send_asset(const mishap_http_request *request, const mishap_http_match *match,
                       const mishap_page_asset *asset, int status, mishap_http_reply *reply)
{
    const pages_state *state = match->state;
    mishap_text known = { NULL, 0 };
    if (state && state->known_field >= 0)
        known = request->fields[state->known_field];
    mishap_page_asset_send(reply, asset, status, request->fields[MISHAP_HTTP_ACCEPT_ENCODING],
                           known);
}

static void refuse_request(mishap_http_server *server, const mishap_http_request *request,
                           mishap_http_reply *reply, mishap *failure)
{
    mishap_http_refuse(reply, mishap_http_settings_of(server), request, failure);
    mishap_free(failure);
}

/* The file that the endpoint names, or the one that the path names. */
static void answer_asset(mishap_http_server *server, const mishap_http_request *request,
                         const mishap_http_match *match, mishap_http_reply *reply)
{
    const char *page = match->endpoint->subject;
    const mishap_page_asset *asset = mishap_page_asset_find(page ? mishap_text_of(page)
                                                                 : match->params[0].raw);
    if (asset)
        send_asset(request, match, asset, 200, reply);
    else
        refuse_request(server, request, reply, mishap_raise(NOT_FOUND, "There is no such file."));
}

/* -- codes ------------------------------------------------------------------------------------- */

/* The code that a segment of a path means; NULL: none. */
static const mishap_code *code_in_path(mishap_text segment)
{
    char room[128];
    mishap_buffer plain;
    const mishap_code *code = NULL;
    mishap_buffer_init(&plain, room, sizeof room);
    if (segment.length <= sizeof room && mishap_url_unescape(&plain, segment, false))
        code = mishap_code_meant(mishap_buffer_text(&plain));
    mishap_buffer_release(&plain);
    return code;
}

/* The page is the same for every code; its status says whether there is such a code. */
static void answer_code_page(mishap_http_server *server, const mishap_http_request *request,
                             const mishap_http_match *match, mishap_http_reply *reply)
{
    const mishap_page_asset *asset = mishap_page_asset_find(
        (mishap_text)MISHAP_TEXT("errors.html"));
    (void)server;
    send_asset(request, match, asset, code_in_path(match->params[0].raw) ? 200 : 404, reply);
}

static void send_json(mishap_http_server *server, const mishap_http_request *request,
                      mishap *failure, mishap_http_reply *reply)
{
    if (!failure && reply->body.failed)
        failure = mishap_out_of_memory();
    if (failure) {
        refuse_request(server, request, reply, failure);
        return;
    }
    reply->status = 200;
    reply->media_type = "application/json";
    reply->content = mishap_buffer_text(&reply->body);
}

static void answer_dialects(mishap_http_server *server, const mishap_http_request *request,
                            const mishap_http_match *match, mishap_http_reply *reply)
{
    const mishap_code *code = code_in_path(match->params[0].raw);
    mishap *failure = NULL;
    if (code)
        mishap_playground_put_code(&reply->body, code);
    else
        failure = mishap_raise(NOT_FOUND, "The catalog has no such code.");
    send_json(server, request, failure, reply);
}

/* -- the playground ---------------------------------------------------------------------------- */

static size_t playground_limit(const mishap_http_settings *settings)
{
    return settings->body_limit < MISHAP_PLAYGROUND_LIMIT ? settings->body_limit
                                                          : (size_t)MISHAP_PLAYGROUND_LIMIT;
}

static void answer_playground(mishap_http_server *server, const mishap_http_request *request,
                              const mishap_http_match *match, mishap_http_reply *reply)
{
    (void)match;
    send_json(server, request, mishap_playground_put(&reply->body, request->body), reply);
}

/* -- the extension ----------------------------------------------------------------------------- */

static mishap *open_pages(mishap_http_server *server, void *shared, void **state)
{
    static pages_state pages; /* one in a process */
    (void)shared;
    pages.known_field = mishap_http_field_find(mishap_http_settings_of(server)->fields,
                                               mishap_text_of(fields[0].name));
    *state = &pages;
    return NULL;
}

/* A page, for requests that prefer HTML. Each has a name of its own, since metrics are counted by
 * name. The paths of files begin with an underscore, so that they are hardly ever those of a
 * program. */
#define PAGE(path, words, file, answers)                                                           \
    {                                                                                              \
        .route = "GET " path, .name = (words), .open = true, .fallback = true, .html = true,       \
        .answer = (answers), .subject = (file)                                                     \
    }

static const mishap_http_endpoint endpoints[] = {
    PAGE("/", "page.start", "index.html", answer_asset),
    PAGE("/docs", "page.docs", "docs.html", answer_asset),
    PAGE("/console", "page.console", "console.html", answer_asset),
    PAGE("/errors", "page.errors", "errors.html", answer_asset),
    PAGE("/errors/:code", "page.error", NULL, answer_code_page),
    { .route = "GET /_pages/:file",
      .name = "page.file",
      .open = true,
      .fallback = true,
      .answer = answer_asset },
    { .route = "GET /errors/:code/dialects",
      .name = "dialects",
      .open = true,
      .fallback = true,
      .answer = answer_dialects },
    { .route = "POST /playground",
      .name = "playground",
      .fallback = true,
      .answer = answer_playground,
      .body_limit = playground_limit },
    { 0 },
};

const mishap_http_extension mishap_pages_over_http = {
    .name = "pages",
    .endpoints = endpoints,
    .fields = fields,
    .open = open_pages,
};
