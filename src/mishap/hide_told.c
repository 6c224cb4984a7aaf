/* Replace the leaks in the public side of a failure, before it is rendered. */
#include "base/base.h"
#include "mishap/hide.h"
#include "mishap/inside.h"
#include "mishap/members.h"

/* The parts of a mishap are const for its readers; here it may be changed, since it was not read
 * yet. */
#define CHANGING(type, pointer) ((type *)(uintptr_t)(pointer))

static void replace_text(mishap *m, mishap_text *text, mishap_leaks_known *known)
{
    mishap_text was = *text;
    *text = mishap_hide_known_text(was, known);
    if (text->data != was.data)
        mishap_note(m, "removed", was);
}

/* What is no sentence, such as an address, is left out: the catalog's stands there then. */
static void remove_word(mishap *m, mishap_text *word, mishap_leaks_known *known)
{
    mishap_text was = *word;
    replace_text(m, word, known);
    if (word->data != was.data)
        *word = (mishap_text){ "", 0 };
}

/* White space of a type became hyphens, which hides a leak from the guard: what is no name of a
 * type is left out. */
static void remove_odd_type(mishap *m)
{
    enum { LONGEST_TYPE = 100 };
    mishap_text *type = &m->told.type;
    bool odd = type->length > LONGEST_TYPE;
    for (size_t i = 0; !odd && i < type->length; i++)
        odd = memchr("/\\\"'@=?", type->data[i], 8) != NULL;
    if (!odd)
        return;
    mishap_note(m, "removed", *type);
    *type = (mishap_text){ "", 0 };
}

static void replace_json(mishap *m, mishap_value *value, mishap_leaks_known *known)
{
    mishap_buffer json = { 0 };
    mishap_text was = value->text;
    mishap_buffer_put_text(&json, was);
    mishap *found = json.failed ? NULL : mishap_hide_known_json(&json, NULL, known);
    if (found || json.failed) {
        value->text = json.failed ? (mishap_text){ NULL, 0 }
                                  : mishap_arena_copy(&m->arena, mishap_buffer_text(&json));
        if (!value->text.data)
            *value = mishap_value_of_text(mishap_guard_redacted);
        if (found && mishap_told(found)->code == MISHAP_CODE_RUNTIME_ERROR)
            mishap_note(m, "removed", was);
    }
    mishap_free(found);
    mishap_buffer_release(&json);
}

static void replace_value(mishap *m, mishap_value *value, mishap_leaks_known *known)
{
    if (value->kind == MISHAP_KIND_TEXT)
        replace_text(m, &value->text, known);
    else if (value->kind == MISHAP_KIND_JSON)
        replace_json(m, value, known);
}

/* A member whose key has a leak is left out: a replaced key could become the same as another. */
static void replace_members(mishap *m, mishap_leaks_known *known)
{
    mishap_member *kept = NULL;
    for (mishap_member *at = CHANGING(mishap_member, m->told.context), *next; at; at = next) {
        mishap_text key = at->key;
        next = CHANGING(mishap_member, at->next);
        replace_text(m, &key, known);
        if (key.data == at->key.data) {
            replace_value(m, &at->value, known);
            kept = at;
        } else if (kept) {
            kept->next = next;
        } else {
            m->told.context = next;
        }
    }
    m->last_told = kept;
    mishap_forget_keys(m);
}

/* Take over what was replaced in a member: `clean` is its value in the document, NULL if it was
 * left out there. False: it goes. */
static bool take_clean(mishap *m, mishap_value *value, yyjson_val *clean)
{
    mishap_text text = mishap_json_text(clean);
    if (!clean)
        return false;
    if (yyjson_is_str(clean) && mishap_leaks_is_sentence(text)) {
        text = mishap_arena_copy(&m->arena, text);
        *value = mishap_value_of_text(text.data ? text : mishap_guard_redacted);
    } else if (value->kind == MISHAP_KIND_JSON) {
        mishap_buffer json = { 0 };
        mishap_json_copy(&json, clean);
        value->text = json.failed ? (mishap_text){ NULL, 0 }
                                  : mishap_arena_copy(&m->arena, mishap_buffer_text(&json));
        mishap_buffer_release(&json);
        if (!value->text.data)
            *value = mishap_value_of_text(mishap_guard_redacted);
    }
    return true;
}

/* The members as those of this document. One that cannot be read keeps none. */
static void take_members(mishap *m, mishap_text json)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_member *kept = NULL;
    bool read = mishap_json_read(&reader, json);
    for (mishap_member *at = CHANGING(mishap_member, m->told.context), *next; at; at = next) {
        next = CHANGING(mishap_member, at->next);
        if (read &&
            take_clean(m, &at->value, yyjson_obj_getn(reader.root, at->key.data, at->key.length)))
            kept = at;
        else if (kept)
            kept->next = next;
        else
            m->told.context = next;
    }
    m->last_told = kept;
    mishap_forget_keys(m);
    mishap_json_reader_release(&reader);
}

/* Some members say little alone and are a leak together: the variables of an environment, a
 * password and its name. */
static void replace_together(mishap *m, mishap_leaks_known *known)
{
    mishap_buffer json = { 0 };
    if (!m->told.context)
        return;
    mishap_members_put_object(&json, m->told.context);
    mishap_text was = json.failed ? (mishap_text){ NULL, 0 }
                                  : mishap_arena_copy(&m->arena, mishap_buffer_text(&json));
    mishap *found = json.failed ? NULL : mishap_hide_known_json(&json, NULL, known);
    if (json.failed || found)
        take_members(m, mishap_buffer_text(&json));
    if (found && mishap_told(found)->code == MISHAP_CODE_RUNTIME_ERROR)
        mishap_note(m, "removed", was);
    mishap_free(found);
    mishap_buffer_release(&json);
}

/* `its_own`: the message and the type stay, too. */
static void replace_all(mishap *failure, mishap_leaks_known *known, bool its_own)
{
    if (mishap_fixed(failure))
        return;
    if (!its_own) {
        replace_text(failure, &failure->told.message, known);
        remove_word(failure, &failure->told.type, known);
        remove_odd_type(failure);
    }
    replace_text(failure, &failure->told.cause, known);
    replace_text(failure, &failure->told.suggestion, known);
    remove_word(failure, &failure->told.docs_url, known);
    remove_word(failure, &failure->told.incident, known);
    replace_members(failure, known);
    replace_together(failure, known);
    for (mishap_field *field = CHANGING(mishap_field, failure->told.fields); field;
         field = CHANGING(mishap_field, field->next)) {
        replace_value(failure, &field->actual, known);
        replace_value(failure, &field->expected, known);
        replace_text(failure, &field->message, known);
        replace_text(failure, &field->field, known);
    }
}

void mishap_hide_known_failure(mishap *failure, mishap_leaks_known *known)
{
    replace_all(failure, known, false);
}

void mishap_hide_known_report(mishap *failure, mishap_leaks_known *known)
{
    const mishap_public *told = mishap_told(failure);
    replace_all(failure, known, told->type.length || told->output.length || told->frames);
}
