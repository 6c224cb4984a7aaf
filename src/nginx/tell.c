/*
 * An error response, told in a dialect and recorded.
 *
 * src/upstream reads the response and judges what may be told. Here the dialect is chosen and the
 * incident gets its id, as the HTTP boundary of a program does it (src/http/wire/refuse.c).
 */
#include "nginx/tell.h"

#include <string.h>

#include "dialect/dialect.h"
#include "dialect/negotiate.h"
#include "incident/group.h"
#include "incident/record.h"
#include "mishap/json.h"
#include "upstream/upstream.h"

/* -- reading ----------------------------------------------------------------------------------- */

/* The response as a mishap. Without memory it is a mishap that says so. */
static mishap *read_decoded(const mishap_nginx_error *error, mishap_text body, bool recorded)
{
    const mishap_text known[] = { error->path, error->query };
    mishap *read = NULL;
    mishap *failure = mishap_upstream_read(
        &(mishap_upstream_response){ .status = error->status,
                                     .content_type = error->type,
                                     .retry_after = error->retry_after,
                                     .body = body,
                                     .known = known,
                                     .known_count = 2,
                                     .unnoted = !recorded },
        &read, NULL);
    return failure ? failure : read;
}

static mishap *read_error(const mishap_nginx_error *error, bool recorded)
{
    static const char note[] = "upstream_encoding";
    mishap_text identity = MISHAP_TEXT("identity");
    bool whole = true;
    if (!error->encoding.length || mishap_text_equal(error->encoding, identity))
        return read_decoded(error, error->body, recorded);

    char *room = mishap_allocate(MISHAP_NGINX_MOST);
    mishap_text body = { NULL, 0 };
    if (room)
        body = mishap_nginx_inflate(error->encoding, error->body, room, &whole);
    mishap *m = read_decoded(error, body, recorded);
    mishap_note(m, note, error->encoding);
    if (!whole || !room)
        mishap_note(m, "upstream_decoded", false);
    mishap_release(room);
    return m;
}

/* -- the answer -------------------------------------------------------------------------------- */

/* As in mishap_api_refuse(): dialects with a short form have the id only where it is of use. */
static bool names_incident(const mishap_dialect *dialect, const mishap *m)
{
    bool brief = dialect == &mishap_artifact || dialect == &mishap_tool_result;
    return brief ? mishap_incident_is_one(m)
                 : dialect != &mishap_http_api || mishap_told(m)->category != MISHAP_VALIDATION;
}

/* The status of the response stays as it is. Formats that repeat the status repeat this one, also
 * where the catalog has no code for it. */
static void render(const mishap_dialect *dialect, const mishap *m, int status,
                   mishap_nginx_answer *answer)
{
    mishap_public told = *mishap_told(m);
    mishap_code code = *told.code;
    if ((dialect == &mishap_problem || dialect == &mishap_json_api) && code.http_status != status &&
        status <= 599) {
        code.http_status = status;
        told.code = &code;
    }
    mishap_dialect_answer(dialect, &told, &answer->rendered);
    answer->body = answer->rendered.failed ? dialect->last_words
                                           : mishap_buffer_text(&answer->rendered);
    answer->media_type = mishap_dialect_media_type(dialect);
    answer->retry_after_ms = told.retry_after_ms;
}

/* -- the record -------------------------------------------------------------------------------- */

static void put_header(mishap_buffer *json, const char *name, mishap_text value)
{
    if (!value.length)
        return;
    mishap_json_key(json, mishap_text_of(name));
    mishap_json_put_value(json, (mishap_text){ NULL, 0 }, mishap_value_of_text(value));
}

static void put_more(const void *context, mishap_incident_more *more)
{
    const mishap_nginx_error *error = context;
    mishap_json_open(&more->headers, '{');
    put_header(&more->headers, "host", error->host);
    put_header(&more->headers, "accept", error->accept);
    put_header(&more->headers, "user-agent", error->agent);
    mishap_json_close(&more->headers, '}');
    mishap_buffer_put_text(&more->request, error->method);
    mishap_buffer_put_char(&more->request, ' ');
    mishap_buffer_put_text(&more->request, error->path);
}

static void put_record(const mishap_nginx_error *error, const mishap *m,
                       mishap_nginx_answer *answer)
{
    mishap_buffer *line = &answer->line;
    const mishap_incident_entry entry = {
        .program = "nginx",
        .id = answer->id,
        .failure = m,
        .operation = error->location,
        .caller = error->caller,
        .response = answer->body,
        .response_type = answer->media_type,
        .traceparent = error->traceparent,
        .status = error->status,
        .boundary = MISHAP_INCIDENT_HTTP,
        .more = put_more,
        .context = error,
    };
    const mishap_record_facts facts = {
        .group = mishap_incident_group(error->location, m),
        .duration_ns = error->duration_ns,
        .role = "loop",
        .stack = MISHAP_RECORD_NO_STACK,
    };
    mishap_buffer_init(line, answer->room, sizeof answer->room);
    mishap_record_put(line, &entry, &facts);
    mishap_buffer_put_char(line, '\n');
    if (line->failed) {
        mishap_buffer_release(line);
        mishap_buffer_init(line, answer->room, sizeof answer->room);
        mishap_record_put_least(line, &entry, &facts);
        mishap_buffer_put_char(line, '\n');
    }
}

/* -- both -------------------------------------------------------------------------------------- */

void mishap_nginx_tell(const mishap_nginx_error *error, const mishap_dialect *usual, bool recorded,
                       mishap_nginx_answer *answer)
{
    const mishap_dialect *dialect = mishap_dialect_negotiate(error->accept, usual);
    mishap *m = read_error(error, recorded);
    mishap_buffer_init(&answer->rendered, answer->short_body, sizeof answer->short_body);
    answer->line = (mishap_buffer){ 0 };
    answer->id[0] = '\0';
    answer->record = (mishap_text){ NULL, 0 };
    if (error->end)
        mishap_note(m, "upstream_end", mishap_text_of(error->end));
    if (error->removed.length)
        mishap_note(m, "upstream_fields", error->removed);
    if (recorded)
        mishap_record_choose_id(m, answer->id);
    if (recorded && names_incident(dialect, m))
        mishap_incident(m, answer->id);
    render(dialect, m, error->status, answer);
    if (recorded) {
        put_record(error, m, answer);
        if (!answer->line.failed)
            answer->record = mishap_buffer_text(&answer->line);
    }
    mishap_free(m);
}

void mishap_nginx_answer_release(mishap_nginx_answer *answer)
{
    mishap_buffer_release(&answer->rendered);
    mishap_buffer_release(&answer->line);
}
