/* A row of the catalog as bytes, for a code that the reader may not have in a table. */
#include "mishap/carry_row.h"

#include <stddef.h>

#include "base/base.h"

/* The texts of a row of the catalog. */
static const size_t row_texts[] = {
    offsetof(mishap_code, name),       offsetof(mishap_code, condition),
    offsetof(mishap_code, snake),      offsetof(mishap_code, http_name),
    offsetof(mishap_code, tool_type),  offsetof(mishap_code, title),
    offsetof(mishap_code, message),    offsetof(mishap_code, http_message),
    offsetof(mishap_code, suggestion), offsetof(mishap_code, docs_url),
};
enum { ROW_TEXTS = sizeof row_texts / sizeof *row_texts };

static mishap_text text_at(const void *structure, size_t offset)
{
    mishap_text text;
    memcpy(&text, (const char *)structure + offset, sizeof text);
    return text;
}

void mishap_carry_put_row(mishap_buffer *out, const mishap_code *row)
{
    for (size_t i = 0; i < ROW_TEXTS; i++)
        mishap_pack_text(out, text_at(row, row_texts[i]));
    mishap_pack_u8(out, (uint8_t)row->category);
    mishap_pack_u8(out, (uint8_t)row->retry);
    mishap_pack_u8(out, (uint8_t)row->effects);
    mishap_pack_u8(out, row->masked);
    mishap_pack_u32(out, (uint32_t)row->http_status);
    mishap_pack_u32(out, (uint32_t)row->exit_code);
    mishap_pack_u32(out, (uint32_t)row->rpc_code);
    mishap_pack_u64(out, (uint64_t)row->retry_after_ms);
}

/* A row whose texts point into the bytes. The reader fails for what no row of any table has. */
static mishap_code take_row(mishap_unpack *in)
{
    mishap_code row = { 0 };
    for (size_t i = 0; i < ROW_TEXTS; i++) {
        mishap_text text = mishap_unpack_text(in);
        memcpy((char *)&row + row_texts[i], &text, sizeof text);
    }
    unsigned category = mishap_unpack_u8(in), retry = mishap_unpack_u8(in);
    unsigned effects = mishap_unpack_u8(in), masked = mishap_unpack_u8(in);
    row.category = (mishap_category)category;
    row.retry = (mishap_retry)retry;
    row.effects = (mishap_effects)effects;
    row.masked = masked;
    row.http_status = (int)mishap_unpack_u32(in);
    row.exit_code = (int)mishap_unpack_u32(in);
    row.rpc_code = (int)mishap_unpack_u32(in);
    row.retry_after_ms = (int64_t)mishap_unpack_u64(in);
    if (!mishap_code_name_valid(row.name) || category >= MISHAP_CATEGORIES ||
        retry > MISHAP_RETRY_YES || effects > MISHAP_EFFECTS_PARTIAL || masked > 1 ||
        row.http_status < 400 || row.http_status > 599 || row.exit_code < 1 ||
        row.exit_code > 255 || row.retry_after_ms < -1)
        mishap_unpack_fail(in);
    return row;
}

static bool same_row(const mishap_code *a, const mishap_code *b)
{
    for (size_t i = 0; i < ROW_TEXTS; i++)
        if (!mishap_text_equal(text_at(a, row_texts[i]), text_at(b, row_texts[i])))
            return false;
    return a->category == b->category && a->retry == b->retry && a->effects == b->effects &&
           a->masked == b->masked && a->http_status == b->http_status &&
           a->exit_code == b->exit_code && a->rpc_code == b->rpc_code &&
           a->retry_after_ms == b->retry_after_ms;
}

/* The row of this process that says the same, NULL if there is none. */
static const mishap_code *find_row(const mishap_code *row)
{
    const mishap_code *found = mishap_catalog_find(MISHAP_SPELLING_NAME, row->name);
    if (found && same_row(found, row))
        return found;
    for (const mishap_catalog *table = mishap_catalog_first(); table; table = table->next)
        for (size_t i = 0; i < table->count; i++)
            if (same_row(table->codes[i], row))
                return table->codes[i];
    return NULL;
}

/* A copy of the row in the arena of the mishap. Without memory, a row that keeps private what this
 * one keeps private. */
static const mishap_code *keep_row(mishap *m, const mishap_code *row)
{
    mishap_code *kept = mishap_arena_take(&m->arena, sizeof *kept);
    bool whole = kept != NULL;
    if (whole)
        *kept = *row;
    for (size_t i = 0; whole && i < ROW_TEXTS; i++) {
        mishap_text text = text_at(row, row_texts[i]), copy = mishap_keep(m, text);
        memcpy((char *)kept + row_texts[i], &copy, sizeof copy);
        whole = copy.length > 0 || text.length == 0;
    }
    if (whole)
        return kept;
    m->incomplete = true;
    return row->masked ? MISHAP_CODE_INTERNAL_ERROR : MISHAP_CODE_GENERAL_ERROR;
}

const mishap_code *mishap_carry_take_row(mishap_unpack *in, mishap *m)
{
    mishap_code row = take_row(in);
    if (in->failed)
        return NULL;
    const mishap_code *code = find_row(&row);
    return code ? code : keep_row(m, &row);
}
