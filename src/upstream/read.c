/* From a response to a mishap: what is told, and what is only noted. */
#include "base/media.h"
#include "base/printable.h"
#include "mishap/bind.h"
#include "mishap/code.h"
#include "mishap/restore.h"
#include "upstream/inside.h"

enum {
    LONGEST_MESSAGE = 500, /* bytes */
    MOST_MEMBERS = 16,     /* further members that are told */
    LONGEST_VALUE = 200,
};

/* -- text -------------------------------------------------------------------------------------- */

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

bool mishap_upstream_begins(mishap_text text, const char *phrase)
{
    for (size_t i = 0; phrase[i]; i++)
        if (i >= text.length || small(text.data[i]) != small(phrase[i]))
            return false;
    return true;
}

const char *mishap_upstream_find(mishap_text text, const char *phrase)
{
    for (size_t i = 0; i < text.length; i++)
        if (small(text.data[i]) == phrase[0] &&
            mishap_upstream_begins((mishap_text){ text.data + i, text.length - i }, phrase))
            return text.data + i;
    return NULL;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool mishap_upstream_readable(mishap_text text)
{
    if (mishap_utf8_valid_length(text) != text.length)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        const char *at = text.data + i, *end = text.data + text.length;
        const unsigned char *c = (const unsigned char *)at;
        if (c[0] >= ' ' && c[0] < 0x7F)
            continue;
        bool turns = c[0] == 0xE2 && ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) ||
                                      (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
        if ((c[0] < ' ' && !is_white(*at)) || c[0] == 0x7F || mishap_is_c1(at, end) || turns)
            return false;
    }
    return true;
}

int mishap_upstream_status_in(mishap_text text)
{
    text = mishap_upstream_trim(text);
    int status = 0;
    for (size_t i = 0; i < 3 && i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
        status = status * 10 + (text.data[i] - '0');
    }
    bool ends = text.length == 3 || (text.length > 3 && text.data[3] == ' ');
    return ends && status >= 400 && status <= 599 ? status : 0;
}

/* -- the message ------------------------------------------------------------------------------- */

/* "Not Found", "404 Not Found", "Not found.": no more than the status says. */
static bool is_phrase(mishap_text text, int status)
{
    const char *phrase = mishap_http_phrase(status);
    if (mishap_upstream_status_in(text)) {
        text = (mishap_text){ text.data + 3, text.length - 3 };
        text = mishap_upstream_trim(text);
    }
    if (text.length && text.data[text.length - 1] == '.')
        text.length--;
    return !text.length || (phrase && mishap_http_same_letters(text, mishap_text_of(phrase)));
}

/* `NotFoundError: There is no user 7.`: the sentence without the name of an exception. */
static mishap_text without_exception(mishap_text text)
{
    size_t end = 0;
    while (end < text.length && ((text.data[end] >= 'a' && text.data[end] <= 'z') ||
                                 (text.data[end] >= 'A' && text.data[end] <= 'Z') ||
                                 text.data[end] == '.' || text.data[end] == '_'))
        end++;
    mishap_text name = { text.data, end };
    if (end + 1 >= text.length || text.data[end] != ':' || text.data[end + 1] != ' ' ||
        !(mishap_upstream_find(name, "error") || mishap_upstream_find(name, "exception")))
        return text;
    return mishap_upstream_trim((mishap_text){ text.data + end + 1, text.length - end - 1 });
}

/* `UserNotFoundException`: a name of the inside, which says nothing to a caller. */
static bool is_exception(mishap_text text)
{
    static const char *const ends[] = { "exception", "error" };
    for (size_t i = 0; i < text.length; i++)
        if (is_white(text.data[i]))
            return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(ends[i]);
        if (text.length > length &&
            mishap_upstream_begins((mishap_text){ text.data + text.length - length, length },
                                   ends[i]))
            return true;
    }
    return false;
}

/* A tag of HTML, or a character by its number, which hides a text from the leak guard: &#x2F;srv */
static bool has_markup(mishap_text text)
{
    for (size_t i = 0; i + 1 < text.length; i++) {
        char next = small(text.data[i + 1]);
        if (text.data[i] == '&' && next == '#')
            return true;
        if (text.data[i] == '<' && ((next >= 'a' && next <= 'z') || next == '/' || next == '!'))
            return true;
    }
    return false;
}

static bool leaks(const mishap_upstream_response *response, mishap_text text)
{
    char storage[256];
    mishap_buffer judged;
    mishap_buffer_init(&judged, storage, sizeof storage);
    bool replaced = mishap_guard_text(text, true, response->known, response->known_count, &judged);
    mishap_buffer_release(&judged);
    return replaced;
}

/* The first line of what the other program says, if a caller may see it; else no text. All of it is
 * judged: a first line may be harmless, and the next ones a stack. */
static mishap_text safe_message(const mishap_upstream_response *response, mishap_text text,
                                int status)
{
    const mishap_text none = { NULL, 0 };
    text = mishap_upstream_trim(text);
    if (!text.length || !mishap_upstream_readable(text) || has_markup(text) ||
        leaks(response, text))
        return none;
    const char *feed = memchr(text.data, '\n', text.length);
    if (feed)
        text = mishap_upstream_trim((mishap_text){ text.data, (size_t)(feed - text.data) });
    text = without_exception(text);
    if (is_phrase(text, status) || is_exception(text))
        return none;
    text.length = mishap_utf8_cut(text, LONGEST_MESSAGE);
    return text;
}

/* -- the code ---------------------------------------------------------------------------------- */

/* What frameworks say of a body that is not JSON. */
static bool says_malformed(const mishap_upstream_reading *reading)
{
    static const char *const phrases[] = {
        "json parse error",    "malformed json",      "not valid json",    "json input",
        "in json at position", "invalid character '", "json decode error", "failed to decode json",
    };
    mishap_text message = reading->message;
    message.length = mishap_utf8_cut(message, LONGEST_MESSAGE);
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (mishap_upstream_find(message, phrases[i]))
            return true;
    return false;
}

static const mishap_code *code_of(const mishap_upstream_reading *reading, int status)
{
    char name[128];
    bool input = status == 0 || status == 400 || status == 422;
    if (input && (reading->malformed || (!reading->fields && says_malformed(reading))))
        return MISHAP_CODE_MALFORMED_INPUT;
    if (input && reading->fields)
        return MISHAP_CODE_VALIDATION_ERROR;
    if (reading->code.length && mishap_code_unspell(reading->code, name, sizeof name)) {
        const mishap_code *named = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_text_of(name));
        if (named && !named->masked && (named->http_status == status || status == 0))
            return named;
    }
    const mishap_code *code = mishap_code_by_status(status);
    return code ? code : MISHAP_CODE_GENERAL_ERROR;
}

/* -- telling ----------------------------------------------------------------------------------- */

/* Members that say something else, or that only an operator may know. */
static const char *const silent[] = {
    "message",  "detail", "error",      "errors",    "description", "error_description",
    "msg",      "reason", "title",      "status",    "statusCode",  "timestamp",
    "path",     "type",   "instance",   "name",      "success",     "ok",
    "stack",    "trace",  "traces",     "backtrace", "exception",   "file",
    "line",     "debug",  "traceId",    "trace_id",  "requestId",   "request_id",
    "sql",      "query",  "errno",      "syscall",   "config",      "details",
    "exposed",  "expose", "host",       "hostname",  "server",      "method",
    "cause",    "class",  "previous",   "className", "function",    "context",
    "fileName", "lineNo", "lineNumber",
};

/* … and all names with these words in them, such as StackTrace and debug_message. */
static const char *const silent_words[] = { "stack",     "trace",    "exception", "debug",
                                            "developer", "internal", "sql",       "hostname" };

static bool is_silent(mishap_text name)
{
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (mishap_http_same_letters(name, mishap_text_of(silent[i])))
            return true;
    for (size_t i = 0; i < sizeof silent_words / sizeof *silent_words; i++)
        if (mishap_upstream_find(name, silent_words[i]))
            return true;
    return false;
}

/* Names that frameworks and systems have for a failure say nothing to a caller: FST_ERR_VALIDATION,
 * ERR_HTTP_…, ENOENT, UserNotFoundException. */
static bool is_internal(mishap_text name)
{
    bool letters = name.length > 0 && name.data[0] == 'E';
    for (size_t i = 0; i < name.length; i++)
        letters = letters && name.data[i] >= 'A' && name.data[i] <= 'Z';
    return letters || is_exception(name) || mishap_upstream_begins(name, "FST_ERR_") ||
           mishap_upstream_begins(name, "ERR_");
}

/* Numbers, truth values and short texts beside the message. */
static void tell_members(mishap *m, const mishap_upstream_reading *reading, const mishap_code *code)
{
    size_t index, count, told = 0;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (reading->object, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        bool own = mishap_text_equal(name, (mishap_text)MISHAP_TEXT("code"));
        mishap_value scalar = mishap_json_scalar(value);
        /* The name of the failure, if our code does not say it, follows below. */
        if (own || is_silent(name) || !name.length || name.length > LONGEST_VALUE ||
            scalar.kind == MISHAP_KIND_NONE || scalar.kind == MISHAP_KIND_NULL ||
            mishap_json_text(value).length > LONGEST_VALUE || told == MOST_MEMBERS ||
            !mishap_upstream_readable(name) || !mishap_upstream_readable(mishap_json_text(value)))
            continue;
        mishap_tell_value(m, name, scalar);
        told++;
    }
    char name[128];
    mishap_text foreign = reading->code;
    bool same = foreign.length && mishap_code_unspell(foreign, name, sizeof name) &&
                (mishap_text_equal(mishap_text_of(name), code->name) ||
                 is_phrase(foreign, code->http_status));
    if (foreign.length && !same && !is_internal(foreign))
        mishap_tell_value(m, (mishap_text)MISHAP_TEXT("code"), mishap_value_of_text(foreign));
}

static void tell_fields(mishap *m, const mishap_upstream_reading *reading)
{
    for (const mishap_upstream_field *at = reading->fields; at; at = at->next)
        mishap_field_add(m, &at->field);
    if (reading->field_count > MISHAP_UPSTREAM_FIELDS)
        mishap_tell(m, "fields_left_out", reading->field_count - MISHAP_UPSTREAM_FIELDS);
}

/* A mishap of what was found. A field error is told by its field: the sentence beside it repeats
 * the first one in most frameworks. */
static mishap *make(const mishap_upstream_reading *reading, int status)
{
    const mishap_upstream_response *response = reading->response;
    const mishap_code *code = code_of(reading, status);
    const mishap_text none = { NULL, 0 };
    bool of_server = status >= 500 || code->masked; /* and not of the request */
    bool fields = code == MISHAP_CODE_VALIDATION_ERROR && reading->fields;
    bool plain = code != MISHAP_CODE_MALFORMED_INPUT && !fields && !of_server;
    mishap *m = mishap_raise_text(code,
                                  plain ? safe_message(response, reading->message, status) : none);
    if (of_server)
        return m;
    if (code != MISHAP_CODE_MALFORMED_INPUT)
        tell_fields(m, reading);
    if (status == 429 && reading->retry_seconds)
        mishap_retry_after(m, reading->retry_seconds * INT64_C(1000));
    tell_members(m, reading, code);
    return m;
}

/* What was read by a dialect. Under a masked code its message is not public, since the dialect
 * cannot know which program wrote it; one that leaks is replaced by the catalog's. */
static mishap *without_private(mishap *m, const mishap_upstream_response *response)
{
    const mishap_public *told = mishap_told(m);
    if (told->message.length && !told->code->masked && leaks(response, told->message))
        return mishap_message(m, told->code->message);
    if (!told->code->masked)
        return m;
    mishap *kept = mishap_raise_text(told->code, (mishap_text){ NULL, 0 });
    if (told->incident.length)
        mishap_put_incident(kept, told->incident);
    mishap_free(m);
    return kept;
}

/* Retry-After: a number of seconds, which is at most a year. */
static void advise(mishap *m, mishap_text retry_after)
{
    enum { LONGEST = 365 * 24 * 3600 };
    int64_t seconds = 0;
    retry_after = mishap_upstream_trim(retry_after);
    for (size_t i = 0; i < retry_after.length; i++) {
        if (retry_after.data[i] < '0' || retry_after.data[i] > '9' || seconds > LONGEST)
            return;
        seconds = seconds * 10 + (retry_after.data[i] - '0');
    }
    if (retry_after.length && seconds <= LONGEST)
        mishap_retry_after(m, seconds * 1000);
}

/* -- reading ----------------------------------------------------------------------------------- */

static mishap *note(mishap *m, const mishap_upstream_reading *reading)
{
    const mishap_upstream_response *response = reading->response;
    mishap_text body = response->body;
    if (response->status)
        mishap_note(m, "upstream_status", response->status);
    if (response->content_type.length)
        mishap_note(m, "upstream_type", response->content_type);
    mishap_note(m, "upstream_shape", reading->shape);
    body.length = mishap_utf8_cut(body, MISHAP_UPSTREAM_NOTED);
    if (body.length && reading->reader.root && body.length == response->body.length)
        mishap_note_json(m, (mishap_text)MISHAP_TEXT("upstream_body"), body);
    else if (body.length)
        mishap_note(m, "upstream_body", body);
    return m;
}

/* JSON without the flaws that make it two documents; NULL: it is none. */
static yyjson_val *json_of(mishap_upstream_reading *reading, mishap_text body)
{
    yyjson_val *at;
    mishap_text start = mishap_upstream_trim(body);
    if (!start.length || !memchr("{[\"", start.data[0], 3))
        return NULL;
    bool read = mishap_json_read(&reading->reader, body);
    mishap_json_flaw flaw = read ? mishap_json_first_flaw(&reading->reader, &at)
                                 : reading->reader.flaw;
    reading->no_memory = reading->no_memory || flaw == MISHAP_JSON_NO_MEMORY;
    return read && flaw == MISHAP_JSON_SOUND ? reading->reader.root : NULL;
}

static bool is_page(const mishap_upstream_response *response)
{
    mishap_text start = mishap_upstream_trim(response->body);
    return mishap_upstream_find(response->content_type, "html") ||
           mishap_upstream_begins(start, "<!doctype html") ||
           mishap_upstream_begins(start, "<html");
}

/* Of a type that is neither text nor HTML, or that is not named at all, only a text is read. JSON
 * that is broken, such as one that was cut off, is none. */
static bool is_text(const mishap_upstream_response *response)
{
    mishap_text start = mishap_upstream_trim(response->body);
    bool object = mishap_upstream_begins(start, "{");
    bool array = start.length > 1 && start.data[0] == '[' && memchr("[{\"", start.data[1], 3);
    return !object && !array &&
           (!response->content_type.length ||
            mishap_upstream_begins(response->content_type, "text/plain"));
}

static mishap *read_body(mishap_upstream_reading *reading, int status)
{
    const mishap_upstream_response *response = reading->response;
    mishap_text body = response->body;
    mishap *m = NULL;
    if (body.length <= MISHAP_UPSTREAM_LARGEST) {
        yyjson_val *root = json_of(reading, body);
        if (mishap_upstream_read_ours(reading, yyjson_is_obj(root) || !root ? root : NULL, &m))
            return without_private(m, response);
        if (root)
            mishap_upstream_read_json(reading, root);
        else if (is_page(response))
            mishap_upstream_read_page(reading, body);
        else if (is_text(response) && !reading->reader.root)
            mishap_upstream_read_text(reading, body);
    }
    return make(reading, status ? status : reading->status);
}

mishap *mishap_upstream_read(const mishap_upstream_response *response, mishap **out,
                             const char **shape)
{
    char storage[2048], json[MISHAP_JSON_STORAGE];
    mishap_upstream_response unmarked = *response;
    if (mishap_upstream_begins(response->body, "\xEF\xBB\xBF")) /* the byte order mark */
        unmarked.body = (mishap_text){ response->body.data + 3, response->body.length - 3 };
    mishap_upstream_reading reading = { .response = &unmarked,
                                        .reader = MISHAP_JSON_READER_IN(json) };
    mishap_arena_init(&reading.arena, storage, sizeof storage);
    int status = response->status >= 400 && response->status <= 599 ? response->status : 0;
    mishap *m = read_body(&reading, status);
    if (!reading.shape)
        reading.shape = "unknown";
    if (status == 429 || status == 503)
        advise(m, response->retry_after);
    if (!response->unnoted)
        m = note(m, &reading);
    m = mishap_guard_told(m, true, response->known, response->known_count);
    if (reading.no_memory) {
        mishap_free(m);
        m = NULL;
    }
    bool whole = m && mishap_restore_end(m, out);
    if (whole && shape)
        *shape = reading.shape;
    mishap_json_reader_release(&reading.inner);
    mishap_json_reader_release(&reading.reader);
    mishap_arena_release(&reading.arena);
    return whole ? NULL : mishap_out_of_memory();
}
