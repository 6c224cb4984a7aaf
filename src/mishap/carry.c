/*
 * The bytes: a version, how many mishaps the chain has, and then each, from the outermost to its
 * last cause. A mishap is a byte of flags and then its parts in the order in which put_parts()
 * writes them; a list is its count and then its items. No memory is ever taken for a count alone.
 */
#include "mishap/carry.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/base.h"
#include "guard/guard.h"
#include "mishap/carry_row.h"
#include "mishap/code.h"
#include "mishap/inside.h"
#include "mishap/restore.h"

enum { VERSION = 1 };

enum flag {
    CONSTANT = 1, /* the mishap that stands for "no memory": nothing else is said of it */
    WHOLE_ROW = 2,
    RESTORED = 4,
    STATUS_KNOWN = 8,
    INCOMPLETE = 16,
    RETRYABLE = 32,
    RETRY_STATED = 64,
    PLACED = 128,
};

/* The texts of the public side that are set as a whole, in the order of the bytes. The message is
 * not among them, since there are two of it. */
static const struct part {
    mishap_part part;
    size_t offset; /* in mishap_public */
} parts[] = {
    { MISHAP_PART_CAUSE, offsetof(mishap_public, cause) },
    { MISHAP_PART_SUGGESTION, offsetof(mishap_public, suggestion) },
    { MISHAP_PART_DOCS_URL, offsetof(mishap_public, docs_url) },
    { MISHAP_PART_INCIDENT, offsetof(mishap_public, incident) },
    { MISHAP_PART_TYPE, offsetof(mishap_public, type) },
    { MISHAP_PART_OUTPUT, offsetof(mishap_public, output) },
};
enum { PARTS = sizeof parts / sizeof *parts };

static mishap_text text_at(const void *structure, size_t offset)
{
    mishap_text text;
    memcpy(&text, (const char *)structure + offset, sizeof text);
    return text;
}

/* -- codes ------------------------------------------------------------------------------------- */

/* A row of the built-in table is in every process; one of another table may have been added by a
 * service that only the worker opened. */
static bool built_in(const mishap_code *code)
{
    return mishap_catalog_has_row(&mishap_code_table, code);
}

static void put_code(mishap_buffer *out, const mishap_code *code, bool whole_row)
{
    if (whole_row)
        mishap_carry_put_row(out, code);
    else
        mishap_pack_text(out, code->name);
}

static const mishap_code *take_code(mishap_unpack *in, mishap *m, bool whole_row)
{
    const mishap_code *code;
    if (whole_row)
        code = mishap_carry_take_row(in, m);
    else
        code = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_unpack_text(in));
    if (!code)
        mishap_unpack_fail(in);
    return code ? code : m->told.code;
}

/* -- values and members ------------------------------------------------------------------------ */

static void put_value(mishap_buffer *out, const mishap_value *value)
{
    mishap_pack_u8(out, (uint8_t)value->kind);
    switch (value->kind) {
    case MISHAP_KIND_NONE:
    case MISHAP_KIND_NULL:
        break;
    case MISHAP_KIND_BOOL:
        mishap_pack_u8(out, value->boolean);
        break;
    case MISHAP_KIND_INT:
        mishap_pack_u64(out, (uint64_t)value->integer);
        break;
    case MISHAP_KIND_UINT:
        mishap_pack_u64(out, value->natural);
        break;
    case MISHAP_KIND_REAL:
        mishap_pack_f64(out, value->real);
        break;
    case MISHAP_KIND_TEXT:
    case MISHAP_KIND_JSON:
        mishap_pack_text(out, value->text);
        break;
    }
}

/* A value that points into the bytes. */
static mishap_value take_value(mishap_unpack *in)
{
    mishap_value value = mishap_value_none();
    unsigned kind = mishap_unpack_u8(in), truth;
    switch (kind) {
    case MISHAP_KIND_NONE:
        break;
    case MISHAP_KIND_NULL:
        value.kind = MISHAP_KIND_NULL;
        break;
    case MISHAP_KIND_BOOL:
        truth = mishap_unpack_u8(in);
        if (truth > 1)
            mishap_unpack_fail(in);
        value = mishap_value_of_bool(truth);
        break;
    case MISHAP_KIND_INT:
        value = mishap_value_of_int((int64_t)mishap_unpack_u64(in));
        break;
    case MISHAP_KIND_UINT:
        value = mishap_value_of_uint(mishap_unpack_u64(in));
        break;
    case MISHAP_KIND_REAL:
        value = mishap_value_of_real(mishap_unpack_f64(in));
        break;
    case MISHAP_KIND_TEXT:
    case MISHAP_KIND_JSON:
        value = mishap_value_of_text(mishap_unpack_text(in));
        value.kind = (mishap_kind)kind;
        break;
    default:
        mishap_unpack_fail(in);
    }
    return value;
}

static void put_members(mishap_buffer *out, const mishap_member *first)
{
    uint32_t count = 0;
    for (const mishap_member *member = first; member; member = member->next)
        count++;
    mishap_pack_u32(out, count);
    for (const mishap_member *member = first; member; member = member->next) {
        mishap_pack_text(out, member->key);
        put_value(out, &member->value);
    }
}

/* At the end of a list; true if there was memory for it. Whether the key is there already is not
 * asked: for many members that would take too long. */
static bool add_member(mishap *m, const mishap_member **first, mishap_member **last,
                       mishap_text key, mishap_value value)
{
    mishap_text kept = mishap_keep(m, key);
    mishap_member *member = mishap_arena_take(&m->arena, sizeof *member);
    if (!member || (key.length && !kept.length)) {
        m->incomplete = true;
        return false;
    }
    if (mishap_guard_secret_value(kept, &value))
        value = mishap_value_of_text(mishap_guard_redacted);
    mishap_keep_value(m, &value);
    *member = (mishap_member){ NULL, kept, value };
    if (*last)
        (*last)->next = member;
    else
        *first = member;
    *last = member;
    return true;
}

/* Returns how many there are in the list. */
static size_t take_members(mishap_unpack *in, mishap *m, const mishap_member **first,
                           mishap_member **last)
{
    size_t added = 0;
    for (uint32_t left = mishap_unpack_u32(in); left && !in->failed; left--) {
        mishap_text key = mishap_unpack_text(in);
        mishap_value value = take_value(in);
        if (!in->failed)
            added += add_member(m, first, last, key, value);
    }
    return added;
}

static int by_key(const void *a, const void *b)
{
    const mishap_member *left = *(const mishap_member *const *)a;
    const mishap_member *right = *(const mishap_member *const *)b;
    if (left->key.length != right->key.length)
        return left->key.length < right->key.length ? -1 : 1;
    return left->key.length ? memcmp(left->key.data, right->key.data, left->key.length) : 0;
}

/* Context becomes an object of JSON, where no key may stand twice. A mishap of ours has none. */
static void check_context(mishap_unpack *in, mishap *m, size_t count)
{
    enum { FEW = 16 };
    const mishap_member *few[FEW], **members = few;
    if (count > FEW)
        members = mishap_allocate(count * sizeof *members);
    if (!members) {
        m->told.context = m->last_told = NULL;
        m->incomplete = true;
        return;
    }
    size_t at = 0;
    for (const mishap_member *member = m->told.context; member; member = member->next)
        members[at++] = member;
    mishap_sort(members, count, sizeof *members, by_key);
    for (size_t i = 1; i < count; i++)
        if (by_key(&members[i - 1], &members[i]) == 0)
            mishap_unpack_fail(in);
    if (members != few)
        mishap_release(members);
}

/* -- fields, frames, the stack ----------------------------------------------------------------- */

static void put_fields(mishap_buffer *out, const mishap_public *told)
{
    mishap_pack_u32(out, (uint32_t)told->field_count);
    for (const mishap_field *field = told->fields; field; field = field->next) {
        mishap_pack_text(out, field->field);
        mishap_pack_text(out, field->error);
        put_value(out, &field->expected);
        put_value(out, &field->actual);
        put_value(out, &field->min);
        put_value(out, &field->max);
        mishap_pack_text(out, field->message);
    }
}

static void take_fields(mishap_unpack *in, mishap *m)
{
    for (uint32_t left = mishap_unpack_u32(in); left && !in->failed; left--) {
        mishap_field field = { .field = mishap_unpack_text(in) };
        field.error = mishap_unpack_text(in);
        field.expected = take_value(in);
        field.actual = take_value(in);
        field.min = take_value(in);
        field.max = take_value(in);
        field.message = mishap_unpack_text(in);
        if (!in->failed)
            mishap_field_add(m, &field);
    }
}

static void put_frames(mishap_buffer *out, const mishap_public *told)
{
    mishap_pack_u32(out, (uint32_t)told->frame_count);
    for (const mishap_frame *frame = told->frames; frame; frame = frame->next)
        mishap_pack_text(out, frame->text);
}

static void take_frames(mishap_unpack *in, mishap *m)
{
    for (uint32_t left = mishap_unpack_u32(in); left && !in->failed; left--) {
        mishap_text frame = mishap_unpack_text(in);
        if (!in->failed)
            mishap_frame_add(m, frame);
    }
}

static void put_stack(mishap_buffer *out, const mishap *m)
{
    mishap_pack_u32(out, (uint32_t)m->stack_count);
    for (const mishap_frame *frame = m->stack; frame; frame = frame->next)
        mishap_pack_text(out, frame->text);
}

static void take_stack(mishap_unpack *in, mishap *m)
{
    uint32_t left = mishap_unpack_u32(in);
    if (left > MISHAP_STACK_MOST)
        mishap_unpack_fail(in);
    for (; left && !in->failed; left--) {
        mishap_text frame = mishap_unpack_text(in);
        if (!in->failed)
            mishap_stack_put(m, frame);
    }
}

static void put_trace(mishap_buffer *out, const mishap_trace *trace)
{
    mishap_pack_u8(out, (uint8_t)trace->count);
    for (size_t i = 0; i < trace->count; i++)
        mishap_pack_u64(out, (uintptr_t)trace->addresses[i]);
}

static void take_trace(mishap_unpack *in, mishap_trace *trace)
{
    size_t count = mishap_unpack_u8(in);
    if (count > MISHAP_TRACE_MAX)
        mishap_unpack_fail(in);
    for (trace->count = 0; trace->count < count && !in->failed; trace->count++)
        trace->addresses[trace->count] = (void *)(uintptr_t)mishap_unpack_u64(in);
}

/* -- one mishap -------------------------------------------------------------------------------- */

static unsigned flags_of(const mishap *m)
{
    if (m->constant)
        return CONSTANT;
    return (built_in(m->told.code) ? 0 : WHOLE_ROW) | (m->restored ? RESTORED : 0) |
           (m->status_known ? STATUS_KNOWN : 0) | (m->incomplete ? INCOMPLETE : 0) |
           (m->told.retryable ? RETRYABLE : 0) | (m->told.retry_stated ? RETRY_STATED : 0) |
           (m->place.file ? PLACED : 0);
}

static void put_parts(mishap_buffer *out, const mishap *m, unsigned flags)
{
    put_code(out, m->told.code, flags & WHOLE_ROW);
    mishap_pack_u8(out, (uint8_t)m->told.category);
    mishap_pack_u64(out, (uint64_t)m->told.retry_after_ms);
    mishap_pack_text(out, m->told.message);
    mishap_pack_text(out, m->masked_message);
    for (size_t i = 0; i < PARTS; i++)
        mishap_pack_text(out, text_at(&m->told, parts[i].offset));
    if (flags & PLACED) {
        mishap_pack_text(out, mishap_text_of(m->place.file));
        mishap_pack_text(out, mishap_text_of(m->place.function));
        mishap_pack_u32(out, (uint32_t)m->place.line);
    }
    put_members(out, m->told.context);
    put_members(out, m->noted);
    put_fields(out, &m->told);
    put_frames(out, &m->told);
    put_stack(out, m);
    put_trace(out, &m->trace);
}

static void take_place(mishap_unpack *in, mishap *m)
{
    m->place.file = mishap_keep(m, mishap_unpack_text(in)).data;
    m->place.function = mishap_keep(m, mishap_unpack_text(in)).data;
    m->place.line = (int)mishap_unpack_u32(in);
}

/* Into a mishap that is empty. */
static void take_parts(mishap_unpack *in, mishap *m, unsigned flags)
{
    m->told.code = take_code(in, m, flags & WHOLE_ROW);
    unsigned category = mishap_unpack_u8(in);
    int64_t after = (int64_t)mishap_unpack_u64(in);
    if (category >= MISHAP_CATEGORIES || after < -1) {
        mishap_unpack_fail(in);
        return;
    }
    m->told.category = (mishap_category)category;
    m->told.retry_after_ms = after;
    m->told.retryable = flags & RETRYABLE;
    m->told.retry_stated = flags & RETRY_STATED;
    m->restored = flags & RESTORED;
    m->status_known = flags & STATUS_KNOWN;
    m->incomplete = m->incomplete || flags & INCOMPLETE;
    m->told.message = mishap_keep(m, mishap_unpack_text(in));
    m->masked_message = mishap_keep(m, mishap_unpack_text(in));
    if (m->told.message.length && m->told.code->masked && !m->restored)
        mishap_unpack_fail(in); /* what is said under a masked code is private */
    for (size_t i = 0; i < PARTS; i++)
        mishap_restore_part(m, parts[i].part, mishap_unpack_text(in));
    if (flags & PLACED)
        take_place(in, m);
    check_context(in, m, take_members(in, m, &m->told.context, &m->last_told));
    take_members(in, m, &m->noted, &m->last_noted);
    take_fields(in, m);
    take_frames(in, m);
    take_stack(in, m);
    take_trace(in, &m->trace);
}

/* The next mishap of a chain. If there is no memory for it, its bytes are read all the same, since
 * those behind them must be found. */
static mishap *take_one(mishap_unpack *in, bool last)
{
    unsigned flags = mishap_unpack_u8(in);
    if (flags & CONSTANT) {
        if (flags != CONSTANT || !last)
            mishap_unpack_fail(in);
        return mishap_out_of_memory();
    }
    mishap *m = mishap_make(MISHAP_CODE_GENERAL_ERROR);
    if (!m->constant) {
        take_parts(in, m, flags);
        return m;
    }
    mishap unused = { .told.code = MISHAP_CODE_GENERAL_ERROR };
    mishap_arena_init(&unused.arena, NULL, 0);
    take_parts(in, &unused, flags);
    mishap_arena_release(&unused.arena);
    return m;
}

/* -- the chain --------------------------------------------------------------------------------- */

void mishap_carry_put(mishap_buffer *out, const mishap *m)
{
    uint8_t count = 0;
    const mishap *end = m;
    for (; end && count < MISHAP_CARRY_CHAIN; end = end->cause)
        count++;
    mishap_pack_u8(out, VERSION);
    mishap_pack_u8(out, count);
    for (; m != end; m = m->cause) {
        bool cut = end && m->cause == end;
        unsigned flags = flags_of(m) | (cut ? INCOMPLETE : 0);
        mishap_pack_u8(out, (uint8_t)flags);
        if (!m->constant)
            put_parts(out, m, flags);
    }
}

bool mishap_carry_take(mishap_text bytes, mishap **out)
{
    mishap_unpack in = mishap_unpack_of(bytes);
    mishap *first = NULL, **next = &first;
    unsigned version = mishap_unpack_u8(&in), count = mishap_unpack_u8(&in);
    if (version != VERSION || count > MISHAP_CARRY_CHAIN)
        mishap_unpack_fail(&in);
    for (unsigned i = 0; i < count && !in.failed; i++) {
        mishap *m = take_one(&in, i + 1 == count);
        if (!next)
            mishap_free(m); /* there was no memory for the one that it is the cause of */
        else
            *next = m;
        if (next)
            next = m->constant ? NULL : &m->cause;
    }
    if (!mishap_unpack_ended(&in)) {
        mishap_free(first);
        first = NULL;
    }
    *out = first;
    return mishap_unpack_ended(&in);
}
