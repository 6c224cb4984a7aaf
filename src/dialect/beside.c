#include "dialect/beside.h"

#include "dialect/carried.h"

static const struct extra {
    mishap_text key;
    enum { CONTEXT, FIELDS, ADVICE, WORDS } kind;
    mishap_part part; /* of words */
} extras[] = {
    { MISHAP_TEXT("context"), CONTEXT, 0 },
    { MISHAP_TEXT("fields"), FIELDS, 0 },
    { MISHAP_TEXT("suggestion"), WORDS, MISHAP_PART_SUGGESTION },
    { MISHAP_TEXT("retry_after_ms"), ADVICE, 0 },
    { MISHAP_TEXT("cause"), WORDS, MISHAP_PART_CAUSE },
    { MISHAP_TEXT("docs_url"), WORDS, MISHAP_PART_DOCS_URL },
    { MISHAP_TEXT("incident"), WORDS, MISHAP_PART_INCIDENT },
};

static const struct extra *find_extra(mishap_text key)
{
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (mishap_text_equal(extras[i].key, key))
            return &extras[i];
    return NULL;
}

static bool is_fixed(mishap_text key, mishap_fixed_names fixed)
{
    for (size_t i = 0; fixed[i]; i++)
        if (mishap_text_equal(key, mishap_text_of(fixed[i])))
            return true;
    return false;
}

static bool is_taken(mishap_text key, mishap_fixed_names fixed)
{
    return find_extra(key) || is_fixed(key, fixed);
}

/* -- writing ----------------------------------------------------------------------------------- */

static void put_told(mishap_buffer *b, const mishap_public *told, mishap_fixed_names fixed,
                     const mishap_member *but, bool taken)
{
    for (const mishap_member *member = told->context; member; member = member->next) {
        if (member != but && is_taken(member->key, fixed) == taken) {
            mishap_json_key(b, member->key);
            mishap_json_value(b, &member->value);
        }
    }
}

static void put_context(mishap_buffer *b, const mishap_public *told, mishap_fixed_names fixed,
                        const mishap_member *but)
{
    const mishap_member *member = told->context;
    put_told(b, told, fixed, but, false);
    while (member && (member == but || !is_taken(member->key, fixed)))
        member = member->next;
    if (!member)
        return;
    MISHAP_JSON_KEY(b, "context");
    mishap_json_open(b, '{');
    put_told(b, told, fixed, but, true);
    mishap_json_close(b, '}');
}

/* What is the occurrence's own, and not what the reader has from the row anyway. */
static mishap_text own(mishap_text text, mishap_text known)
{
    return mishap_text_equal(text, known) ? (mishap_text){ NULL, 0 } : text;
}

static bool own_advice(const mishap_public *told)
{
    return told->retry_after_ms >= 0 && told->retry_after_ms != told->code->retry_after_ms;
}

bool mishap_has_beside(const mishap_public *told, const mishap_code *row)
{
    return told->context || told->fields || own_advice(told) || told->cause.length ||
           told->incident.length || own(told->suggestion, row->suggestion).length ||
           own(told->docs_url, row->docs_url).length;
}

void mishap_put_beside(mishap_buffer *b, const mishap_public *told, const mishap_code *row,
                       mishap_fixed_names fixed, const mishap_member *but)
{
    mishap_text suggestion = own(told->suggestion, row->suggestion),
                docs_url = own(told->docs_url, row->docs_url);
    put_context(b, told, fixed, but);
    if (told->fields) {
        MISHAP_JSON_KEY(b, "fields");
        mishap_put_fields(b, told);
    }
    MISHAP_JSON_TEXT_MEMBER(b, "suggestion", suggestion);
    if (own_advice(told)) {
        MISHAP_JSON_KEY(b, "retry_after_ms");
        mishap_json_int(b, told->retry_after_ms);
    }
    MISHAP_JSON_TEXT_MEMBER(b, "cause", told->cause);
    MISHAP_JSON_TEXT_MEMBER(b, "docs_url", docs_url);
    MISHAP_JSON_TEXT_MEMBER(b, "incident", told->incident);
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The object is open, so a name alone makes no extra of a member: it must also look like one. */
static bool is_extra(const struct extra *extra, yyjson_val *object, yyjson_val *value,
                     mishap_fixed_names fixed)
{
    size_t index, count;
    yyjson_val *key, *item;
    switch (extra->kind) {
    case FIELDS:
        return mishap_is_fields(value) && yyjson_arr_size(value) > 0;
    case ADVICE:
        return yyjson_is_uint(value) && yyjson_get_uint(value) <= INT64_MAX;
    case WORDS:
        return yyjson_is_str(value) && yyjson_get_len(value) > 0;
    case CONTEXT:
        break;
    }
    /* A `context` of ours has names that are taken, and of these none that is told beside it too.
     */
    MISHAP_JSON_MEMBERS (value, index, count, key, item) {
        mishap_text name = mishap_json_text(key);
        const struct extra *inner = find_extra(name);
        yyjson_val *outer = inner && inner->kind != CONTEXT
                                ? yyjson_obj_get(object, inner->key.data)
                                : NULL;
        if (!is_taken(name, fixed) || (outer && !is_extra(inner, object, outer, fixed)))
            return false;
    }
    return yyjson_obj_size(value) > 0;
}

void mishap_read_beside(mishap *m, yyjson_val *object, yyjson_val *retryable,
                        mishap_fixed_names fixed)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        const struct extra *extra = find_extra(name);
        if (is_fixed(name, fixed))
            continue;
        if (!extra || !is_extra(extra, object, value, fixed))
            mishap_read_member(m, name, value);
        else if (extra->kind == CONTEXT)
            mishap_read_context(m, value);
        else if (extra->kind == FIELDS)
            mishap_read_fields(m, value);
        else if (extra->kind == ADVICE)
            mishap_read_retry(m, retryable, value);
        else
            mishap_restore_part(m, extra->part, mishap_json_text(value));
    }
}
