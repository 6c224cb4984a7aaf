/* mishap/bind.h: the value, the catalog and the guard for bindings to other languages.
 * mishap_translate() is in src/dialect. */
#include "mishap/bind.h"

#include "base/base.h"
#include "mishap/hide.h"
#include "mishap/inside.h"
#include "mishap/restore.h"

static const mishap_text no_text;

const char *mishap_version(void)
{
    return MISHAP_VERSION;
}

int mishap_version_number(void)
{
    return MISHAP_VERSION_NUMBER;
}

/* -- codes ------------------------------------------------------------------------------------- */

const mishap_code *mishap_code_find(mishap_text name)
{
    return mishap_catalog_find(MISHAP_SPELLING_NAME, name);
}

mishap_text mishap_code_nearest(mishap_text name)
{
    mishap_guess guess = { .word = name };
    for (const mishap_catalog *table = mishap_catalog_first(); name.length && table;
         table = table->next)
        for (size_t i = 0; i < table->count; i++)
            mishap_guess_weigh(&guess, table->codes[i]->name);
    return guess.name;
}

/* -- raising and adding ------------------------------------------------------------------------ */

mishap *mishap_raise_text(const mishap_code *code, mishap_text message)
{
    mishap *m = mishap_make(code ? code : MISHAP_CODE_INTERNAL_ERROR);
    return message.data ? mishap_message(m, message) : m;
}

static mishap_value json_value(mishap_text text)
{
    mishap_value value = mishap_value_of_text(text);
    if (text.data)
        value.kind = MISHAP_KIND_JSON;
    return value;
}

mishap *mishap_tell_null(mishap *m, mishap_text key)
{
    return mishap_tell_value(m, key, mishap_value_of_text(no_text));
}

mishap *mishap_tell_bool(mishap *m, mishap_text key, bool value)
{
    return mishap_tell_value(m, key, mishap_value_of_bool(value));
}

mishap *mishap_tell_int(mishap *m, mishap_text key, int64_t value)
{
    return mishap_tell_value(m, key, mishap_value_of_int(value));
}

mishap *mishap_tell_uint(mishap *m, mishap_text key, uint64_t value)
{
    return mishap_tell_value(m, key, mishap_value_of_uint(value));
}

mishap *mishap_tell_real(mishap *m, mishap_text key, double value)
{
    return mishap_tell_value(m, key, mishap_value_of_real(value));
}

mishap *mishap_tell_text(mishap *m, mishap_text key, mishap_text value)
{
    return mishap_tell_value(m, key, mishap_value_of_text(value));
}

mishap *mishap_tell_json(mishap *m, mishap_text key, mishap_text value)
{
    return mishap_tell_value(m, key, json_value(value));
}

mishap *mishap_note_null(mishap *m, mishap_text key)
{
    return mishap_note_value(m, key, mishap_value_of_text(no_text));
}

mishap *mishap_note_bool(mishap *m, mishap_text key, bool value)
{
    return mishap_note_value(m, key, mishap_value_of_bool(value));
}

mishap *mishap_note_int(mishap *m, mishap_text key, int64_t value)
{
    return mishap_note_value(m, key, mishap_value_of_int(value));
}

mishap *mishap_note_uint(mishap *m, mishap_text key, uint64_t value)
{
    return mishap_note_value(m, key, mishap_value_of_uint(value));
}

mishap *mishap_note_real(mishap *m, mishap_text key, double value)
{
    return mishap_note_value(m, key, mishap_value_of_real(value));
}

mishap *mishap_note_text(mishap *m, mishap_text key, mishap_text value)
{
    return mishap_note_value(m, key, mishap_value_of_text(value));
}

mishap *mishap_note_json(mishap *m, mishap_text key, mishap_text value)
{
    return mishap_note_value(m, key, json_value(value));
}

mishap *mishap_put_cause(mishap *m, mishap_text cause)
{
    return mishap_restore_part(m, MISHAP_PART_CAUSE, cause);
}

mishap *mishap_put_suggestion(mishap *m, mishap_text suggestion)
{
    return mishap_restore_part(m, MISHAP_PART_SUGGESTION, suggestion);
}

mishap *mishap_put_docs(mishap *m, mishap_text url)
{
    return mishap_restore_part(m, MISHAP_PART_DOCS_URL, url);
}

mishap *mishap_put_incident(mishap *m, mishap_text id)
{
    return mishap_restore_part(m, MISHAP_PART_INCIDENT, id);
}

mishap *mishap_put_type(mishap *m, mishap_text type)
{
    return mishap_restore_part(m, MISHAP_PART_TYPE, type);
}

void mishap_stack_put(mishap *m, mishap_text text)
{
    if (mishap_fixed(m) || m->stack_count == MISHAP_STACK_MOST)
        return;
    mishap_frame *frame = mishap_arena_take(&m->arena, sizeof *frame);
    if (!frame) {
        m->incomplete = true;
        return;
    }
    *frame = (mishap_frame){ NULL, mishap_keep(m, text) };
    if (m->last_stack)
        m->last_stack->next = frame;
    else
        m->stack = frame;
    m->last_stack = frame;
    m->stack_count++;
}

mishap *mishap_stack_add(mishap *m, mishap_text function, mishap_text file, int64_t line)
{
    char storage[512];
    mishap_buffer frame;
    if (mishap_fixed(m) || m->stack_count == MISHAP_STACK_MOST)
        return m;
    mishap_buffer_init(&frame, storage, sizeof storage);
    mishap_buffer_put_text(&frame, function.length ? function : (mishap_text)MISHAP_TEXT("?"));
    if (file.length) {
        MISHAP_PUT(&frame, " (");
        mishap_buffer_put_text(&frame, file);
        if (line > 0) {
            MISHAP_PUT(&frame, ":");
            mishap_buffer_put_int(&frame, line);
        }
        MISHAP_PUT(&frame, ")");
    }
    if (frame.failed)
        m->incomplete = true;
    else
        mishap_stack_put(m, mishap_buffer_text(&frame));
    mishap_buffer_release(&frame);
    return m;
}

size_t mishap_new_incident(char *id)
{
    _Static_assert(MISHAP_INCIDENT_ID_SIZE == MISHAP_ID_LENGTH + 1, "the size of an id");
    mishap_id_make(id);
    return MISHAP_ID_LENGTH;
}

/* -- the leak guard ---------------------------------------------------------------------------- */

/* What a caller sent, as a binding hands it over. */
struct sent_texts {
    const mishap_text *list;
    size_t count;
};

static void collect_texts(mishap_leaks_values *values, const void *state)
{
    const struct sent_texts *sent = state;
    for (size_t i = 0; i < sent->count; i++)
        mishap_leaks_add_text(values, sent->list[i]);
}

static mishap_leaks_known known_texts(const struct sent_texts *sent, bool strict)
{
    return (mishap_leaks_known){ .collect = sent->list && sent->count ? collect_texts : NULL,
                                 .sent = sent,
                                 .strict = strict };
}

bool mishap_guard_text(mishap_text text, bool strict, const mishap_text *known, size_t known_count,
                       mishap_buffer *out)
{
    const struct sent_texts sent = { known, known_count };
    mishap_leaks_known judged = known_texts(&sent, strict);
    mishap_text clean = mishap_hide_known_text(text, &judged);
    mishap_leaks_known_release(&judged);
    mishap_buffer_put_text(out, clean);
    return clean.data != text.data;
}

mishap *mishap_guard_told(mishap *m, bool strict, const mishap_text *known, size_t known_count)
{
    const struct sent_texts sent = { known, known_count };
    mishap_leaks_known judged = known_texts(&sent, strict);
    mishap_hide_known_failure(m, &judged);
    mishap_leaks_known_release(&judged);
    return m;
}

mishap *mishap_guard_json(mishap_buffer *json, bool strict, const mishap_text *known,
                          size_t known_count)
{
    const struct sent_texts sent = { known, known_count };
    mishap_leaks_known judged = known_texts(&sent, strict);
    mishap *found = mishap_hide_known_json(json, NULL, &judged);
    mishap_leaks_known_release(&judged);
    return found;
}
