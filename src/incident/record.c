/*
 * The whole record of a failure: see record.h.
 *
 * Everything that is text goes through redact.h. Members that are unknown are absent.
 */
#include "incident/record.h"

#include <endian.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hex.h"
#include "base/traceparent.h"
#include "incident/fit.h"
#include "incident/group.h"
#include "incident/redact.h"
#include "mishap/inside.h"

enum { MOST_CAUSES = 32 };

const char *mishap_record_boundary(mishap_incident_boundary boundary)
{
    static const char *const names[] = { "c", "cli", "http", "mcp" };
    return names[boundary];
}

/* The values of eight digits, a byte for each. *wrong is set if one of them is no digit: then the
 * digits of these values are not the ones that were read. */
static inline uint64_t values_of(uint64_t digits, uint64_t *wrong)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t values = (digits & each * 15) + (digits >> 6 & each) * 9;
    uint64_t letters = (values + each * (128 - 10)) >> 7 & each;
    *wrong |= (values & each * 0xF0) |
              (digits ^ (values + each * '0' + letters * ('a' - '0' - 10)));
    return values;
}

/* Four bytes of eight digits. */
static inline void read_digits(const char *digits, unsigned char *bytes, uint64_t *wrong)
{
    uint64_t word;
    memcpy(&word, digits, sizeof word);
    uint64_t values = values_of(le64toh(word), wrong);
    values = (values << 4 | values >> 8) & UINT64_C(0x00FF00FF00FF00FF);
    values = (values | values >> 8) & UINT64_C(0x0000FFFF0000FFFF);
    uint32_t four = htole32((uint32_t)(values | values >> 16));
    memcpy(bytes, &four, sizeof four);
}

/* This is done for each refused request, so eight digits are read at once. What stands between the
 * groups of digits is not looked at. */
bool mishap_record_read_id(const char *id, unsigned char bytes[16])
{
    char digits[32];
    uint64_t wrong = 0;
    if (!id || strnlen(id, MISHAP_ID_LENGTH + 1) != MISHAP_ID_LENGTH) {
        memset(bytes, 0, 16);
        return false;
    }
    memcpy(digits, id, 8);
    memcpy(digits + 8, id + 9, 4);
    memcpy(digits + 12, id + 14, 4);
    memcpy(digits + 16, id + 19, 4);
    memcpy(digits + 20, id + 24, 12);
    for (size_t i = 0; i < 4; i++)
        read_digits(digits + 8 * i, bytes + 4 * i, &wrong);
    if (wrong)
        memset(bytes, 0, 16);
    return !wrong;
}

void mishap_record_choose_id(const mishap *failure, char id[MISHAP_ID_LENGTH + 1])
{
    unsigned char bytes[16];
    mishap_text named = mishap_told(failure)->incident;
    if (named.length == MISHAP_ID_LENGTH) {
        memcpy(id, named.data, MISHAP_ID_LENGTH);
        id[MISHAP_ID_LENGTH] = '\0';
        if (mishap_record_read_id(id, bytes))
            return;
    }
    mishap_id_make(id);
}

/* -- parts ------------------------------------------------------------------------------------- */

/* A member with text; `name` needs no escape. */
static void put_text(mishap_buffer *b, const mishap_secrets *secrets, const char *name,
                     mishap_text text)
{
    if (!text.length)
        return;
    mishap_json_key(b, mishap_text_of(name));
    mishap_redact_string(b, secrets, text);
}

static void put_words(mishap_buffer *b, const char *name, const char *words)
{
    put_text(b, NULL, name, mishap_text_of(words ? words : ""));
}

/* The same with a word of our own, in which there is nothing to hide. */
static void put_own_word(mishap_buffer *b, const char *name, const char *word)
{
    mishap_json_key(b, mishap_text_of(name));
    mishap_json_string(b, mishap_text_of(word));
}

/* An id that was given as one is compared with the digits that make it one, and not searched. */
static void put_id(mishap_buffer *b, const char *id)
{
    unsigned char bytes[16];
    if (mishap_record_read_id(id, bytes))
        put_own_word(b, "id", id);
    else
        put_words(b, "id", id);
}

static void put_number(mishap_buffer *b, const char *name, int64_t number)
{
    mishap_json_key(b, mishap_text_of(name));
    mishap_json_int(b, number);
}

static void put_time(mishap_buffer *b, int64_t now_ms)
{
    MISHAP_JSON_KEY(b, "time");
    MISHAP_PUT(b, "\"");
    mishap_clock_put_timestamp(b, now_ms);
    MISHAP_PUT(b, "\"");
}

static void put_hex(mishap_buffer *b, const char *name, const unsigned char *bytes, size_t count)
{
    char digits[32];
    mishap_hex_write(digits, bytes, count);
    mishap_json_key(b, mishap_text_of(name));
    mishap_json_string(b, (mishap_text){ digits, 2 * count });
}

static void put_group(mishap_buffer *b, uint64_t group)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(group >> (56 - 8 * i));
    put_hex(b, "group", bytes, sizeof bytes);
}

static void put_members(mishap_buffer *b, const mishap_secrets *secrets, const char *name,
                        const mishap_member *member)
{
    if (!member)
        return;
    mishap_json_key(b, mishap_text_of(name));
    mishap_redact_members(b, secrets, member);
}

static void put_field_value(mishap_buffer *b, const mishap_secrets *secrets, const char *name,
                            const mishap_value *value)
{
    if (value->kind == MISHAP_KIND_NONE)
        return;
    mishap_json_key(b, mishap_text_of(name));
    mishap_redact_value(b, secrets, value);
}

static void put_fields(mishap_buffer *b, const mishap_secrets *secrets, const mishap_field *field)
{
    if (!field)
        return;
    MISHAP_JSON_KEY(b, "fields");
    mishap_json_open(b, '[');
    for (; field; field = field->next) {
        bool secret = mishap_guard_secret_name(field->field);
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "field");
        mishap_redact_string(b, secrets, field->field);
        MISHAP_JSON_KEY(b, "error");
        mishap_redact_string(b, secrets, field->error);
        put_field_value(b, secrets, "expected", &field->expected);
        if (!secret)
            put_field_value(b, secrets, "actual", &field->actual);
        put_field_value(b, secrets, "min", &field->min);
        put_field_value(b, secrets, "max", &field->max);
        put_text(b, secrets, "message", field->message);
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, ']');
}

static void put_place(mishap_buffer *b, const mishap_place *place)
{
    if (!place->file || place->line < 1)
        return;
    MISHAP_JSON_KEY(b, "place");
    mishap_json_open(b, '{');
    put_words(b, "file", mishap_incident_source(place->file));
    put_number(b, "line", place->line);
    put_words(b, "function", place->function);
    mishap_json_close(b, '}');
}

/* The frames of another language, and below them those of the program. */
static void put_stack(mishap_buffer *b, const mishap_incident_entry *entry, const mishap *m,
                      const mishap_record_facts *facts)
{
    const mishap_trace *trace = &m->trace;
    if ((!trace->count && !m->stack) || facts->stack == MISHAP_RECORD_NO_STACK)
        return;
    MISHAP_JSON_KEY(b, "stack");
    mishap_json_open(b, '[');
    for (const mishap_frame *frame = m->stack; frame; frame = frame->next)
        mishap_redact_string(b, entry->secrets, frame->text);
    if (trace->count && facts->stack == MISHAP_RECORD_MARKED)
        mishap_trace_put_marked(b, trace);
    else if (m == entry->failure && facts->symbols)
        mishap_symbols_put_json(b, facts->symbols, trace->count);
    else if (trace->count)
        mishap_trace_put_json(b, trace, facts->stack == MISHAP_RECORD_IN_DETAIL);
    mishap_json_close(b, ']');
}

static void put_frames(mishap_buffer *b, const mishap_secrets *secrets, const mishap_frame *frame)
{
    if (!frame)
        return;
    MISHAP_JSON_KEY(b, "backtrace");
    mishap_json_open(b, '[');
    for (; frame; frame = frame->next)
        mishap_redact_string(b, secrets, frame->text);
    mishap_json_close(b, ']');
}

/* What a failure and its causes have in common. */
static void put_private(mishap_buffer *b, const mishap_incident_entry *entry, const mishap *m,
                        const mishap_record_facts *facts)
{
    put_text(b, entry->secrets, "private_message", m->masked_message);
    put_text(b, entry->secrets, "type", m->told.type);
    put_members(b, entry->secrets, "told", m->told.context);
    put_members(b, entry->secrets, "noted", m->noted);
    put_place(b, &m->place);
    put_stack(b, entry, m, facts);
    if (m->incomplete)
        MISHAP_PUT(b, ",\"incomplete\":true");
}

static void put_cause(mishap_buffer *b, const mishap_incident_entry *entry, const mishap *m,
                      const mishap_record_facts *facts)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, m->told.code->name);
    MISHAP_JSON_KEY(b, "message");
    mishap_redact_string(b, entry->secrets, mishap_public_message(&m->told));
    put_text(b, entry->secrets, "suggestion", mishap_public_suggestion(&m->told));
    put_private(b, entry, m, facts);
    mishap_json_close(b, '}');
}

/* What was taken out of the response comes last. */
static void put_causes(mishap_buffer *b, const mishap_incident_entry *entry,
                       const mishap_record_facts *facts)
{
    const mishap *m = entry->failure->cause;
    if (!m && !entry->removed)
        return;
    MISHAP_JSON_KEY(b, "causes");
    mishap_json_open(b, '[');
    for (size_t i = 0; m && i < MOST_CAUSES; m = m->cause, i++)
        put_cause(b, entry, m, facts);
    if (entry->removed)
        put_cause(b, entry, entry->removed, facts);
    mishap_json_close(b, ']');
}

/* -- the call ---------------------------------------------------------------------------------- */

/* The span of a call is made of its id, which is random, and so is the trace of a call that came
 * without one. */
static void put_trace(mishap_buffer *b, const mishap_incident_entry *entry)
{
    unsigned char id[16];
    mishap_traceparent given;
    if (!mishap_record_read_id(entry->id, id))
        return;
    bool known = mishap_traceparent_read(entry->traceparent, &given);
    MISHAP_JSON_KEY(b, "trace");
    mishap_json_open(b, '{');
    put_hex(b, "id", known ? given.trace : id, 16);
    put_hex(b, "span", id + 8, 8);
    if (known)
        put_hex(b, "parent", given.span, 8);
    mishap_json_close(b, '}');
}

/* The process in which it failed: a loop records what a worker has failed at. The number of that
 * worker is not known here, and may belong to another process by now. */
static void put_process(mishap_buffer *b, const mishap *failure, const char *role)
{
    MISHAP_JSON_KEY(b, "process");
    mishap_json_open(b, '{');
    if (!failure->of_worker)
        put_number(b, "pid", getpid());
    put_words(b, "role", failure->of_worker ? "worker" : role);
    mishap_json_close(b, '}');
}

/* JSON that the boundary has made. */
static void put_made(mishap_buffer *b, const mishap_secrets *secrets, const char *name,
                     const mishap_buffer *json)
{
    if (!json->length || json->failed)
        return;
    mishap_json_key(b, mishap_text_of(name));
    mishap_redact_document(b, secrets, mishap_buffer_text(json));
}

static void put_response(mishap_buffer *b, const mishap_incident_entry *entry, mishap_text response)
{
    put_text(b, entry->secrets, "response", response);
    if (response.length)
        put_words(b, "response_type", entry->response_type);
}

static void put_more(mishap_buffer *b, const mishap_incident_entry *entry)
{
    mishap_incident_more more = { 0 };
    if (entry->more)
        entry->more(entry->context, &more);
    put_made(b, entry->secrets, "arguments", &more.arguments);
    put_made(b, entry->secrets, "headers", &more.headers);
    put_made(b, entry->secrets, "lines", &more.lines);
    if (!more.request.failed)
        put_text(b, entry->secrets, "request", mishap_buffer_text(&more.request));
    if (!entry->response.length && !more.response.failed)
        put_response(b, entry, mishap_buffer_text(&more.response));
    mishap_buffer_release(&more.request);
    mishap_buffer_release(&more.response);
    mishap_buffer_release(&more.arguments);
    mishap_buffer_release(&more.headers);
    mishap_buffer_release(&more.lines);
}

static void put_names(mishap_buffer *b, const mishap_incident_entry *entry)
{
    MISHAP_PUT(b, "{\"v\":1,\"kind\":\"whole\"");
    put_id(b, entry->id);
    put_time(b, mishap_clock_now_ms());
    put_words(b, "program", entry->program);
    put_words(b, "version", entry->version);
    put_words(b, "service", entry->service);
    put_text(b, entry->secrets, "operation",
             mishap_text_of(entry->operation ? entry->operation : ""));
    put_own_word(b, "boundary", mishap_record_boundary(entry->boundary));
    put_text(b, entry->secrets, "caller", mishap_text_of(entry->caller ? entry->caller : ""));
}

static void put_public(mishap_buffer *b, const mishap_incident_entry *entry)
{
    const mishap_public *told = mishap_told(entry->failure);
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->name);
    put_own_word(b, "category", mishap_category_name(told->category));
    if (entry->status)
        put_number(b, "status", entry->status);
    MISHAP_JSON_KEY(b, "message");
    mishap_redact_string(b, entry->secrets, mishap_public_message(told));
    put_text(b, entry->secrets, "suggestion", mishap_public_suggestion(told));
    put_text(b, entry->secrets, "cause", told->cause);
}

/* See MISHAP_RECORD_START. */
static void part_inner_starts(mishap_buffer *b)
{
    static const mishap_text start = MISHAP_TEXT(MISHAP_RECORD_START);
    static const size_t colon = sizeof "{\"v\":" - 1;
    mishap_buffer out = { 0 };
    const char *at = b->data, *end = b->data + b->length, *found;
    if (b->failed || b->length <= start.length ||
        !memmem(at + 1, b->length - 1, start.data, start.length))
        return;
    while ((found = memmem(at + 1, (size_t)(end - at) - 1, start.data, start.length)) != NULL) {
        mishap_buffer_put(&out, at, (size_t)(found - at) + colon);
        mishap_buffer_put_char(&out, ' ');
        at = found + colon;
    }
    mishap_buffer_put(&out, at, (size_t)(end - at));
    b->failed = out.failed;
    if (out.failed) {
        mishap_buffer_release(&out);
        return;
    }
    mishap_buffer_release(b);
    *b = out;
}

void mishap_record_put(mishap_buffer *b, const mishap_incident_entry *entry,
                       const mishap_record_facts *facts)
{
    const mishap_public *told = mishap_told(entry->failure);
    put_names(b, entry);
    put_public(b, entry);
    put_group(b, facts->group);
    put_response(b, entry, entry->response);
    put_private(b, entry, entry->failure, facts);
    put_fields(b, entry->secrets, told->fields);
    put_causes(b, entry, facts);
    put_text(b, entry->secrets, "stdout", told->output);
    put_frames(b, entry->secrets, told->frames);
    put_more(b, entry);
    if (facts->duration_ns >= 0)
        put_number(b, "duration_us", facts->duration_ns / 1000);
    put_process(b, entry->failure, facts->role);
    put_trace(b, entry);
    mishap_json_close(b, '}');
    part_inner_starts(b);
    mishap_incident_fit(b);
}

void mishap_record_put_least(mishap_buffer *b, const mishap_incident_entry *entry,
                             const mishap_record_facts *facts)
{
    const mishap_public *told = mishap_told(entry->failure);
    MISHAP_PUT(b, "{\"v\":1,\"kind\":\"whole\"");
    put_id(b, entry->id);
    put_time(b, mishap_clock_now_ms());
    put_words(b, "program", entry->program);
    put_own_word(b, "boundary", mishap_record_boundary(entry->boundary));
    MISHAP_JSON_KEY(b, "code");
    mishap_json_string(b, told->code->name);
    put_own_word(b, "category", mishap_category_name(told->category));
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, told->code->name); /* its own may have secrets in it */
    put_group(b, facts->group);
    put_process(b, entry->failure, facts->role);
    MISHAP_PUT(b, ",\"incomplete\":true}");
}

void mishap_record_name(mishap_buffer *named, mishap_text record)
{
    if (mishap_trace_is_marked(record))
        mishap_trace_unmark_json(named, record);
    else
        mishap_buffer_put_text(named, record);
    mishap_incident_fit(named);
}

/* -- other lines ------------------------------------------------------------------------------- */

static void put_line_head(mishap_buffer *b, const char *kind, const char *id, const char *program)
{
    unsigned char bytes[16];
    MISHAP_PUT(b, "{\"v\":1");
    put_words(b, "kind", kind);
    if (mishap_record_read_id(id, bytes))
        put_words(b, "id", id);
    put_time(b, mishap_clock_now_ms());
    put_words(b, "program", program);
}

void mishap_record_put_line(mishap_buffer *b, const char *program, const char *operation,
                            const char *id, mishap_text words)
{
    put_line_head(b, "line", id, program);
    put_words(b, "operation", operation);
    MISHAP_JSON_KEY(b, "text");
    mishap_redact_string(b, NULL, words);
    mishap_json_close(b, '}');
    mishap_incident_fit(b);
}

void mishap_record_put_reason(mishap_buffer *b, bool json, const char *program,
                              const char *operation, const char *id, mishap_text why)
{
    if (json) {
        mishap_record_put_line(b, program, operation, id, why);
    } else {
        MISHAP_PUT(b, "  ");
        mishap_buffer_put_text(b, why);
    }
    MISHAP_PUT(b, "\n");
}

void mishap_record_put_lost(mishap_buffer *b, const char *program, uint64_t count)
{
    put_line_head(b, "lost", NULL, program);
    put_number(b, "count", (int64_t)count);
    mishap_json_close(b, '}');
}
