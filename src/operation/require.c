/*
 * The rules as a list of calls over a JSON object, in the order in which they are called.
 *
 * Only mishap_require_fields() reports a missing field. A rule that does not apply to the type of a
 * field reports invalid_type. A field that was reported as missing or of a wrong type gets no
 * further findings.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "operation/findings.h"
#include "operation/type.h"

struct mishap_requirements {
    mishap_json_reader reader;
    mishap_findings findings;
    mishap *refusal; /* the text is no JSON object */

    /* A search starts where the last one ended, since calls mostly follow the order of the fields.
     * When that took too many steps the keys are sorted. */
    yyjson_val *key; /* NULL: at the first one */
    size_t index, steps;
    yyjson_val **sorted;

    uint64_t *settled; /* one bit a value of the document: nothing more is to be said of it */
};

/* -- reading ----------------------------------------------------------------------------------- */

mishap_requirements *mishap_require_begin(const char *json, size_t length)
{
    mishap_requirements *v = mishap_allocate(sizeof *v);
    if (!v)
        return NULL; /* mishap_require_end() knows what that means */
    *v = (mishap_requirements){ .reader = MISHAP_JSON_READER };
    v->refusal = mishap_object_read(&v->reader,
                                    (mishap_text){ json ? json : "", json ? length : 0 }, NULL);
    return v;
}

mishap *mishap_require_end(mishap_requirements *v)
{
    if (!v)
        return mishap_out_of_memory();
    mishap *m = mishap_findings_end(&v->findings);
    if (v->refusal) {
        mishap_free(m);
        m = v->refusal;
    }
    mishap_release(v->sorted);
    mishap_release(v->settled);
    mishap_json_reader_release(&v->reader);
    mishap_release(v);
    return m;
}

/* -- fields ------------------------------------------------------------------------------------ */

static int order(mishap_text a, mishap_text b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    return memcmp(a.data, b.data, a.length);
}

static int by_key(const void *a, const void *b)
{
    return order(mishap_json_text(*(yyjson_val *const *)a),
                 mishap_json_text(*(yyjson_val *const *)b));
}

static void sort_keys(mishap_requirements *v)
{
    size_t index, count;
    yyjson_val *key, *value;
    v->sorted = mishap_allocate(unsafe_yyjson_get_len(v->reader.root) * sizeof *v->sorted);
    if (!v->sorted)
        return; /* it works without */
    MISHAP_JSON_MEMBERS (v->reader.root, index, count, key, value)
        v->sorted[index] = key;
    mishap_sort(v->sorted, count, sizeof *v->sorted, by_key);
}

static yyjson_val *look_up(const mishap_requirements *v, mishap_text name)
{
    size_t low = 0, high = unsafe_yyjson_get_len(v->reader.root);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int which = order(mishap_json_text(v->sorted[middle]), name);
        if (which == 0)
            return v->sorted[middle];
        if (which < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static yyjson_val *walk_to(mishap_requirements *v, mishap_text name)
{
    size_t count = unsafe_yyjson_get_len(v->reader.root);
    for (size_t i = 0; i < count; i++, v->steps++) {
        if (!v->key)
            v->key = unsafe_yyjson_get_first(v->reader.root);
        if (mishap_text_equal(mishap_json_text(v->key), name))
            return v->key;
        v->index = (v->index + 1) % count;
        v->key = v->index ? unsafe_yyjson_get_next(v->key + 1) : NULL;
    }
    return NULL;
}

static yyjson_val *find_key(mishap_requirements *v, mishap_text name)
{
    if (v->key && mishap_text_equal(mishap_json_text(v->key), name))
        return v->key;
    if (!v->sorted && v->steps > 4 * unsafe_yyjson_get_len(v->reader.root) + 64)
        sort_keys(v);
    if (!v->sorted)
        return walk_to(v, name);
    yyjson_val *key = look_up(v, name);
    if (key)
        v->key = key;
    return key;
}

/* The value of a field; NULL if it is not there, which null is not either. */
static yyjson_val *find_field(mishap_requirements *v, mishap_text name)
{
    yyjson_val *key = find_key(v, name);
    return key && !yyjson_is_null(key + 1) ? key + 1 : NULL; /* a value follows its key */
}

static bool is_settled(const mishap_requirements *v, yyjson_val *value)
{
    size_t i = (size_t)(value - v->reader.root);
    return v->settled && v->settled[i / 64] >> (i % 64) & 1;
}

static void mark_settled(mishap_requirements *v, yyjson_val *value)
{
    size_t i = (size_t)(value - v->reader.root);
    if (!v->settled) {
        size_t size = (yyjson_doc_get_val_count(v->reader.document) / 64 + 1) * sizeof *v->settled;
        v->settled = mishap_allocate(size);
        if (!v->settled) {
            v->findings.no_memory = true;
            return;
        }
        memset(v->settled, 0, size);
    }
    v->settled[i / 64] |= UINT64_C(1) << (i % 64);
}

/* The value of a field of which something is still to be said, and its spot; else NULL. */
static yyjson_val *open_field(mishap_requirements *v, const char *field, mishap_spot *spot)
{
    if (!v || v->refusal || v->findings.failure || !field)
        return NULL;
    *spot = (mishap_spot){ .name = mishap_text_of(field) };
    yyjson_val *value = find_field(v, spot->name);
    return value && !is_settled(v, value) ? value : NULL;
}

/* -- the calls --------------------------------------------------------------------------------- */

static void require_field(mishap_requirements *v, const char *field)
{
    mishap_spot spot = { .name = mishap_text_of(field) };
    yyjson_val *value = find_field(v, spot.name);
    if (value && (is_settled(v, value) || !yyjson_equals_str(value, "")))
        return;
    mishap_miss(&v->findings, &spot, NULL);
    if (value)
        mark_settled(v, value);
}

void mishap_require_fields(mishap_requirements *v, const char *field, ...)
{
    va_list fields;
    va_start(fields, field);
    for (; field && v && !v->refusal; field = va_arg(fields, const char *))
        require_field(v, field);
    va_end(fields);
}

void mishap_require_type(mishap_requirements *v, const char *field, mishap_type_of_param type)
{
    mishap_spot spot;
    yyjson_val *value = open_field(v, field, &spot);
    if (value && !mishap_expect_type(&v->findings, &spot, type, value))
        mark_settled(v, value);
    else if (value && (mishap_type_is_form(type) || type == MISHAP_DECIMAL_NUMBER))
        mishap_expect_form(&v->findings, &spot, &(mishap_param){ .type = type }, value);
}

void mishap_require_length(mishap_requirements *v, const char *field, size_t min, size_t max)
{
    mishap_spot spot;
    yyjson_val *value = open_field(v, field, &spot);
    if (value &&
        (yyjson_is_arr(value) || mishap_expect_type(&v->findings, &spot, MISHAP_STRING, value)))
        mishap_expect_length(&v->findings, &spot, min, max, value);
    else if (value)
        mark_settled(v, value);
}

void mishap_require_range(mishap_requirements *v, const char *field, double min, double max)
{
    mishap_spot spot;
    yyjson_val *value = open_field(v, field, &spot);
    if (value && mishap_expect_type(&v->findings, &spot, MISHAP_NUMBER, value))
        mishap_expect_range(&v->findings, &spot, min, max, 0, value);
    else if (value)
        mark_settled(v, value);
}

void mishap_require_pattern(mishap_requirements *v, const char *field, const char *pattern)
{
    mishap_spot spot;
    yyjson_val *value = pattern ? open_field(v, field, &spot) : NULL;
    if (value && mishap_expect_type(&v->findings, &spot, MISHAP_STRING, value))
        mishap_expect_pattern(&v->findings, &spot, pattern, NULL, false, value);
    else if (value)
        mark_settled(v, value);
}
