/* The value: raising a mishap, adding to both of its sides, freeing it. */
#include <errno.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/base.h"
#include "guard/guard.h"
#include "mishap/code.h"
#include "mishap/inside.h"
#include "mishap/restore.h"

/* -- making and freeing --------------------------------------------------------------------------------------- */

/* For failures that must be told when malloc has nothing left. Each block is taken and given back atomically. */
enum { RESERVE = 8 };
static struct {
    atomic_flag taken;
    alignas(max_align_t) char block[MISHAP_BLOCK];
} reserve[RESERVE] = { [0 ... RESERVE - 1] = { .taken = ATOMIC_FLAG_INIT } };

/* Stands for every mishap for which there was no memory at all. Never written to. */
static struct mishap last_resort = {
    .told = { .code = MISHAP_CODE_INTERNAL_ERROR, .category = MISHAP_SYSTEM, .retry_after_ms = -1 },
    .constant = true,
    .reserve = -1,
};

mishap *mishap_out_of_memory(void)
{
    return &last_resort;
}

static mishap *take_block(int *from)
{
    *from = -1;
    mishap *m = mishap_allocate(MISHAP_BLOCK);
    for (int i = 0; !m && i < RESERVE; i++) {
        if (!atomic_flag_test_and_set(&reserve[i].taken)) {
            m = (mishap *)(void *)reserve[i].block;
            *from = i;
        }
    }
    return m;
}

mishap *mishap_make(const mishap_code *code)
{
    int from;
    mishap *m = take_block(&from);
    if (!m)
        return &last_resort;
    /* The trace is left as it is: its count says how much of it counts. */
    memset(m, 0, offsetof(struct mishap, trace));
    m->trace.count = 0;
    m->restored = m->constant = false;
    m->incomplete = from >= 0;
    m->reserve = from;
    m->told.code = code;
    m->told.category = code->category;
    m->told.retryable = code->retry == MISHAP_RETRY_YES;
    m->told.retry_after_ms = code->retry_after_ms;
    mishap_arena_init(&m->arena, m + 1, MISHAP_BLOCK - sizeof *m);
    return m;
}

void mishap_free(mishap *m)
{
    while (m && !m->constant) {
        mishap *cause = m->cause;
        int from = m->reserve;
        mishap_arena_release(&m->arena);
        if (from >= 0)
            atomic_flag_clear(&reserve[from].taken);
        else
            mishap_release(m);
        m = cause;
    }
}

/* -- keeping text and values ---------------------------------------------------------------------------------- */

static bool fixed(const mishap *m)
{
    return !m || m->constant;
}

/* A clean copy without passwords. Without memory, no text and a mark. */
static mishap_text keep(mishap *m, mishap_text text)
{
    if (text.length == 0)
        return (mishap_text){ "", 0 };
    mishap_text kept = mishap_utf8_clean(&m->arena, text);
    if (kept.data)
        kept = mishap_guard_redact(&m->arena, kept);
    if (!kept.data) {
        m->incomplete = true;
        kept = (mishap_text){ "", 0 };
    }
    return kept;
}

static void refuse_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    (void)flaw, (void)path;
    *(bool *)state = false;
}

/* JSON is read and written anew, so that what is kept is sound, compact and free of secrets. */
static mishap_value keep_json(mishap *m, mishap_text json)
{
    mishap_value kept = mishap_value_none();
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer compact;
    bool sound = true;
    mishap_buffer_init(&compact, NULL, 0);
    if (mishap_json_read(&reader, json))
        mishap_json_inspect(reader.root, &(mishap_json_visitor){ refuse_flaw, NULL, &sound });
    else
        sound = false;
    if (!sound) {
        kept = mishap_value_of_text(keep(m, json));
    } else {
        mishap_guard_copy_json(&compact, reader.root);
        kept.text = compact.failed ? (mishap_text){ NULL, 0 }
                                   : mishap_utf8_clean(&m->arena, mishap_buffer_text(&compact));
        if (kept.text.data)
            kept.kind = MISHAP_KIND_JSON;
        else
            m->incomplete = true;
    }
    mishap_buffer_release(&compact);
    mishap_json_reader_release(&reader);
    return kept;
}

static mishap_value keep_value(mishap *m, mishap_value value)
{
    if (value.kind == MISHAP_KIND_TEXT)
        value.text = keep(m, value.text);
    else if (value.kind == MISHAP_KIND_JSON)
        value = keep_json(m, value.text);
    return value;
}

/* -- raising -------------------------------------------------------------------------------------------------- */

static void set_message(mishap *m, mishap_text kept)
{
    if (m->told.code->masked && !m->restored)
        m->masked_message = kept;
    else
        m->told.message = kept;
}

static mishap_text format_text(mishap *m, const char *format, va_list arguments)
{
    char printed[512];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(printed, sizeof printed, format, arguments);
    mishap_text text = { printed, length > 0 ? (size_t)length : 0 };
    if (text.length >= sizeof printed) {
        char *longer = mishap_arena_take(&m->arena, text.length + 1);
        if (longer) {
            vsnprintf(longer, text.length + 1, format, again);
            text.data = longer;
        } else {
            m->incomplete = true;
            text.length = sizeof printed - 1;
        }
    }
    va_end(again);
    return keep(m, text);
}

mishap *mishap_raise_at(const mishap_code *code, mishap_place place, const char *format, ...)
{
    int error = errno;
    mishap *m = mishap_make(code);
    if (!m->constant) {
        m->place = place;
        mishap_trace_take(&m->trace);
        if (format && !strchr(format, '%')) {
            set_message(m, keep(m, mishap_text_of(format)));
        } else if (format) {
            va_list arguments;
            va_start(arguments, format);
            set_message(m, format_text(m, format, arguments));
            va_end(arguments);
        }
    }
    errno = error;
    return m;
}

/* -- telling -------------------------------------------------------------------------------------------------- */

const mishap_public *mishap_told(const mishap *m)
{
    return m ? &m->told : NULL;
}

/* A member at the end of a list, or the one of this key that is there already. NULL without memory. */
static mishap_member *member_for(mishap *m, const mishap_member **first, mishap_member **last, mishap_text key)
{
    /* In a document that was read no key stands twice, and there may be very many. */
    for (const mishap_member *old = m->restored ? NULL : *first; old; old = old->next)
        if (mishap_text_equal(old->key, key))
            return (mishap_member *)(uintptr_t)old;
    mishap_member *member = mishap_arena_take(&m->arena, sizeof *member);
    if (!member) {
        m->incomplete = true;
        return NULL;
    }
    *member = (mishap_member){ NULL, keep(m, key), mishap_value_none() };
    if (*last)
        (*last)->next = member;
    else
        *first = member;
    *last = member;
    return member;
}

static void add_member(mishap *m, const mishap_member **first, mishap_member **last, mishap_text key,
                       mishap_value value)
{
    if (value.kind == MISHAP_KIND_TEXT && mishap_guard_secret_name(key))
        value.text = mishap_guard_redacted;
    mishap_member *member = member_for(m, first, last, key);
    if (member)
        member->value = keep_value(m, value);
}

mishap *mishap_tell_value(mishap *m, mishap_text key, mishap_value value)
{
    if (!fixed(m) && key.data && value.kind != MISHAP_KIND_NONE)
        add_member(m, &m->told.context, &m->last_told, key, value);
    return m;
}

mishap *mishap_message(mishap *m, mishap_text message)
{
    if (!fixed(m))
        set_message(m, keep(m, message));
    return m;
}

mishap *mishap_tell_cause(mishap *m, const char *summary)
{
    return mishap_restore_part(m, MISHAP_PART_CAUSE, mishap_text_of(summary));
}

mishap *mishap_suggest(mishap *m, const char *suggestion)
{
    return mishap_restore_part(m, MISHAP_PART_SUGGESTION, mishap_text_of(suggestion));
}

mishap *mishap_docs(mishap *m, const char *url)
{
    return mishap_restore_part(m, MISHAP_PART_DOCS_URL, mishap_text_of(url));
}

mishap *mishap_incident(mishap *m, const char *id)
{
    return mishap_restore_part(m, MISHAP_PART_INCIDENT, mishap_text_of(id));
}

mishap *mishap_type(mishap *m, const char *type)
{
    return mishap_restore_part(m, MISHAP_PART_TYPE, mishap_text_of(type));
}

mishap *mishap_output(mishap *m, mishap_text output)
{
    return mishap_restore_part(m, MISHAP_PART_OUTPUT, output);
}

mishap *mishap_retryable(mishap *m, bool retryable)
{
    if (!fixed(m)) {
        m->told.retryable = retryable;
        m->told.retry_stated = true;
        if (!retryable)
            m->told.retry_after_ms = -1;
    }
    return m;
}

mishap *mishap_retry_after(mishap *m, int64_t milliseconds)
{
    if (!fixed(m) && milliseconds >= 0) {
        mishap_retryable(m, true);
        m->told.retry_after_ms = milliseconds;
    }
    return m;
}

mishap *mishap_file_under(mishap *m, mishap_category category)
{
    if (!fixed(m)) {
        m->told.category = category;
        mishap_retryable(m, false);
    }
    return m;
}

mishap *mishap_frame_add(mishap *m, mishap_text text)
{
    if (fixed(m))
        return m;
    mishap_frame *frame = mishap_arena_take(&m->arena, sizeof *frame);
    if (!frame) {
        m->incomplete = true;
        return m;
    }
    *frame = (mishap_frame){ NULL, keep(m, text) };
    if (m->last_frame)
        m->last_frame->next = frame;
    else
        m->told.frames = frame;
    m->last_frame = frame;
    m->told.frame_count++;
    return m;
}

/* -- fields --------------------------------------------------------------------------------------------------- */

mishap *mishap_field_add(mishap *m, const mishap_field *wrong)
{
    if (fixed(m))
        return m;
    mishap_field *field = mishap_arena_take(&m->arena, sizeof *field);
    if (!field) {
        m->incomplete = true;
        return m;
    }
    *field = (mishap_field){
        .field = keep(m, wrong->field),
        .error = keep(m, wrong->error),
        .expected = keep_value(m, wrong->expected),
        .actual = keep_value(m, wrong->actual),
        .min = keep_value(m, wrong->min),
        .max = keep_value(m, wrong->max),
    };
    if (field->actual.kind == MISHAP_KIND_TEXT && mishap_guard_secret_name(field->field))
        field->actual.text = mishap_guard_redacted;
    if (m->last_field)
        m->last_field->next = field;
    else
        m->told.fields = field;
    m->last_field = field;
    m->told.field_count++;
    return m;
}

mishap *mishap_field_required(mishap *m, const char *field)
{
    return mishap_field_add(
        m, &(mishap_field){ .field = mishap_text_of(field), .error = MISHAP_TEXT("field_required") });
}

mishap *mishap_field_type(mishap *m, const char *field, const char *expected, const char *actual)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("invalid_type"),
                                                .expected = mishap_value_of_string(expected),
                                                .actual = mishap_value_of_string(actual) });
}

mishap *mishap_field_length(mishap *m, const char *field, mishap_value min, mishap_value max, size_t actual)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("invalid_length"),
                                                .min = min,
                                                .max = max,
                                                .actual = mishap_value_of_uint(actual) });
}

mishap *mishap_field_range(mishap *m, const char *field, mishap_value min, mishap_value max,
                           mishap_value actual)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("value_out_of_range"),
                                                .min = min,
                                                .max = max,
                                                .actual = actual });
}

mishap *mishap_field_pattern(mishap *m, const char *field, const char *pattern)
{
    return mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                .error = MISHAP_TEXT("pattern_mismatch"),
                                                .expected = mishap_value_of_string(pattern) });
}

/* -- noting --------------------------------------------------------------------------------------------------- */

mishap *mishap_note_value(mishap *m, mishap_text key, mishap_value value)
{
    if (!fixed(m) && key.data && value.kind != MISHAP_KIND_NONE)
        add_member(m, &m->noted, &m->last_noted, key, value);
    return m;
}

mishap *mishap_because(mishap *m, mishap *cause)
{
    if (!m || !cause || m == cause)
        return m ? m : cause;
    if (m->constant) {
        mishap_free(cause);
        return m;
    }
    mishap *last = m;
    while (last->cause && !last->cause->constant)
        last = last->cause;
    last->cause = cause;
    return m;
}

const mishap *mishap_cause(const mishap *m)
{
    return m ? m->cause : NULL;
}

/* -- what is said in the end ---------------------------------------------------------------------------------- */

mishap_text mishap_public_message(const mishap_public *told)
{
    return told->message.length ? told->message : told->code->message;
}

mishap_text mishap_public_suggestion(const mishap_public *told)
{
    return told->suggestion.length ? told->suggestion : told->code->suggestion;
}

mishap_text mishap_public_docs_url(const mishap_public *told)
{
    return told->docs_url.length ? told->docs_url : told->code->docs_url;
}

bool mishap_public_recoverable(const mishap_public *told)
{
    return told->retryable || told->code->retry != MISHAP_RETRY_NEVER;
}

/* -- restoring ------------------------------------------------------------------------------------------------ */

mishap *mishap_restore_code(const mishap_code *code)
{
    mishap *m = mishap_make(code);
    if (!m->constant)
        m->restored = true;
    return m;
}

mishap *mishap_restore(mishap_spelling spelling, mishap_text text, mishap_category category, int http_status,
                       const mishap_code *otherwise)
{
    char name[128];
    const mishap_code *code = mishap_catalog_find(spelling, text);
    if (code)
        return mishap_restore_code(code);
    mishap *m = mishap_restore_code(otherwise);
    if (m->constant || !mishap_code_unspell(text, name, sizeof name))
        return m;
    code = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_text_of(name));
    if (!code)
        code = mishap_code_derive(&m->arena, mishap_text_of(name), category, http_status);
    if (!code) {
        m->incomplete = true;
        return m;
    }
    m->told.code = code;
    m->told.category = code->category;
    m->told.retryable = code->retry == MISHAP_RETRY_YES;
    m->told.retry_after_ms = code->retry_after_ms;
    return m;
}

mishap *mishap_restore_part(mishap *m, mishap_part part, mishap_text text)
{
    if (fixed(m))
        return m;
    const mishap_code *code = m->told.code;
    switch (part) {
    case MISHAP_PART_MESSAGE:
        return mishap_message(m, text);
    case MISHAP_PART_CAUSE:
        m->told.cause = keep(m, text);
        break;
    case MISHAP_PART_SUGGESTION:
        m->told.suggestion = mishap_text_equal(text, code->suggestion) ? (mishap_text){ "", 0 } : keep(m, text);
        break;
    case MISHAP_PART_DOCS_URL:
        m->told.docs_url = mishap_text_equal(text, code->docs_url) ? (mishap_text){ "", 0 } : keep(m, text);
        break;
    case MISHAP_PART_INCIDENT:
        m->told.incident = keep(m, text);
        break;
    case MISHAP_PART_TYPE:
        m->told.type = mishap_text_equal(text, code->condition) ? (mishap_text){ "", 0 } : keep(m, text);
        break;
    case MISHAP_PART_OUTPUT:
        m->told.output = keep(m, text);
        break;
    }
    return m;
}

void mishap_restore_category(mishap *m, mishap_category category)
{
    if (!fixed(m))
        m->told.category = category;
}

void mishap_restore_failed(mishap *m)
{
    if (!fixed(m))
        m->incomplete = true;
}

bool mishap_restore_end(mishap *m, mishap **out)
{
    if (fixed(m) || m->incomplete) {
        mishap_free(m);
        return false;
    }
    *out = m;
    return true;
}
