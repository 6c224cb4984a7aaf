/* Take the secrets of a call out of its failure, before it is rendered or recorded. */
#include "mishap/inside.h"
#include "operation/hide.h"
#include "operation/secret.h"

struct hiding {
    mishap_arena *arena; /* memory for replaced texts */
    const mishap_param *params;
    const mishap_secrets *secrets;
};

/* -- texts and values -------------------------------------------------------------------------- */

static void hide_text(const struct hiding *h, mishap_text *text)
{
    char storage[512];
    mishap_buffer hidden;
    if (!mishap_secrets_stand_in(h->secrets, *text))
        return;
    mishap_buffer_init(&hidden, storage, sizeof storage);
    mishap_secrets_put_hidden(&hidden, h->secrets, *text);
    *text = hidden.failed ? (mishap_text){ NULL, 0 }
                          : mishap_arena_copy(h->arena, mishap_buffer_text(&hidden));
    if (!text->data)
        *text = mishap_guard_redacted;
    mishap_buffer_release(&hidden);
}

static bool is_secret_number(const struct hiding *h, const mishap_value *value)
{
    char storage[64];
    mishap_buffer spelled;
    mishap_buffer_init(&spelled, storage, sizeof storage);
    mishap_json_bare(&spelled, value);
    bool found = spelled.failed ||
                 mishap_secrets_have_number(h->secrets, mishap_buffer_text(&spelled));
    mishap_buffer_release(&spelled);
    return found;
}

/* Copy JSON; false if nothing in it was hidden. */
static bool copy_json(const struct hiding *h, mishap_buffer *to, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    bool changed = false;
    mishap_value scalar = mishap_json_scalar(value);
    if (yyjson_is_obj(value)) {
        mishap_json_open(to, '{');
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            mishap_text name = mishap_json_text(key);
            if (mishap_secrets_stand_in(h->secrets, name)) {
                changed = true; /* a replaced key could become the same as another */
                continue;
            }
            mishap_json_key(to, name);
            bool secret = mishap_path_names_secret(h->params, name);
            if (secret)
                mishap_json_string(to, mishap_guard_redacted);
            changed = secret || copy_json(h, to, item) || changed;
        }
        mishap_json_close(to, '}');
    } else if (yyjson_is_arr(value)) {
        mishap_json_open(to, '[');
        MISHAP_JSON_ITEMS (value, index, count, item)
            changed = copy_json(h, to, item) || changed;
        mishap_json_close(to, ']');
    } else if (yyjson_is_str(value)) {
        hide_text(h, &scalar.text);
        changed = scalar.text.data != mishap_json_text(value).data;
        mishap_json_string(to, scalar.text);
    } else if (yyjson_is_raw(value)
                   ? mishap_secrets_have_number(h->secrets, mishap_json_text(value))
                   : yyjson_is_num(value) && is_secret_number(h, &scalar)) {
        changed = true;
        mishap_json_string(to, mishap_guard_redacted);
    } else {
        mishap_json_copy(to, value);
    }
    return changed;
}

static void hide_json(const struct hiding *h, mishap_value *value)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer copy = { 0 };
    bool changed = !mishap_json_read(&reader, value->text) || copy_json(h, &copy, reader.root) ||
                   copy.failed;
    if (changed) {
        value->text = reader.root && !copy.failed
                          ? mishap_arena_copy(h->arena, mishap_buffer_text(&copy))
                          : (mishap_text){ NULL, 0 };
        if (!value->text.data)
            *value = mishap_value_of_text(mishap_guard_redacted);
    }
    mishap_buffer_release(&copy);
    mishap_json_reader_release(&reader);
}

void mishap_hide_data(mishap_buffer *json, const mishap_param *params,
                      const mishap_secrets *secrets)
{
    mishap_arena arena;
    if (!json->length || (!mishap_params_have_secret(params) && mishap_secrets_none(secrets)))
        return;
    mishap_arena_init(&arena, NULL, 0);
    mishap_value value = { .kind = MISHAP_KIND_JSON, .text = mishap_buffer_text(json) };
    hide_json(&(struct hiding){ &arena, params, secrets }, &value);
    if (value.kind != MISHAP_KIND_JSON) {
        mishap_buffer_release(json);
        json->failed = true;
    } else if (value.text.data != json->data) {
        mishap_buffer_reset(json);
        mishap_buffer_put_text(json, value.text);
    }
    mishap_arena_release(&arena);
}

static void hide_value(const struct hiding *h, mishap_value *value)
{
    if (value->kind == MISHAP_KIND_TEXT)
        hide_text(h, &value->text);
    else if (value->kind == MISHAP_KIND_JSON)
        hide_json(h, value);
    else if (value->kind >= MISHAP_KIND_INT && is_secret_number(h, value))
        *value = mishap_value_of_text(mishap_guard_redacted);
}

/* -- lists ------------------------------------------------------------------------------------- */

/* The parts of a mishap are const for its readers; here it may be changed, since it was not read
 * yet. */
#define CHANGING(type, pointer) ((type *)(uintptr_t)(pointer))

/* A member whose key contains a secret is left out: a replaced key could become the same as
 * another. */
static void hide_members(const struct hiding *h, const mishap_member **first, mishap_member **last)
{
    mishap_member *kept = NULL;
    for (mishap_member *at = CHANGING(mishap_member, *first), *next; at; at = next) {
        next = CHANGING(mishap_member, at->next);
        if (mishap_secrets_stand_in(h->secrets, at->key)) {
            if (kept)
                kept->next = next;
            else
                *first = next;
            continue;
        }
        if (mishap_path_names_secret(h->params, at->key))
            at->value = mishap_value_of_text(mishap_guard_redacted);
        else
            hide_value(h, &at->value);
        kept = at;
    }
    *last = kept;
}

/* A bound is a number, or absent. */
static void hide_bound(const struct hiding *h, mishap_value *bound)
{
    hide_value(h, bound);
    if (bound->kind == MISHAP_KIND_TEXT ||
        (bound->kind == MISHAP_KIND_JSON && bound->text.data[0] == '"'))
        *bound = mishap_value_none();
}

static void hide_fields(const struct hiding *h, const mishap_field *first)
{
    for (mishap_field *field = CHANGING(mishap_field, first); field;
         field = CHANGING(mishap_field, field->next)) {
        if (mishap_path_names_secret(h->params, field->field))
            field->actual = mishap_value_none();
        hide_value(h, &field->actual);
        hide_value(h, &field->expected);
        hide_bound(h, &field->min);
        hide_bound(h, &field->max);
        hide_text(h, &field->message);
        hide_text(h, &field->field);
    }
}

static void hide_one(const struct hiding *h, mishap *m)
{
    mishap_text *const texts[] = { &m->told.message,  &m->told.cause, &m->told.suggestion,
                                   &m->told.docs_url, &m->told.type,  &m->told.output,
                                   &m->masked_message };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hide_text(h, texts[i]);
    for (mishap_frame *frame = CHANGING(mishap_frame, m->told.frames); frame;
         frame = CHANGING(mishap_frame, frame->next))
        hide_text(h, &frame->text);
    for (mishap_frame *frame = CHANGING(mishap_frame, m->stack); frame;
         frame = CHANGING(mishap_frame, frame->next))
        hide_text(h, &frame->text);
    hide_members(h, &m->told.context, &m->last_told);
    hide_members(h, &m->noted, &m->last_noted);
    mishap_forget_keys(m);
    hide_fields(h, m->told.fields);
}

void mishap_hide_failure(mishap *failure, const mishap_param *params, const mishap_secrets *secrets)
{
    if (!mishap_params_have_secret(params) && mishap_secrets_none(secrets))
        return;
    for (; failure && !failure->constant; failure = failure->cause)
        hide_one(&(struct hiding){ &failure->arena, params, secrets }, failure);
}
