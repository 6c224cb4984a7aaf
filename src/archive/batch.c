/*
 * Lines of the journal as the columns of one statement: arrays, which PostgreSQL makes rows of. So
 * a batch of thousands of lines takes a few round trips.
 *
 * A line is read once, and a transaction may have to be repeated: so a batch is complete before the
 * transaction begins.
 */
#include "archive/archive.h"
#include "base/hex.h"

enum { BATCH_BYTES = 4 << 20, BATCH_ROWS = 20000 };

/* -- arrays ------------------------------------------------------------------------------------ */

static void begin_item(mishap_buffer *array)
{
    mishap_buffer_put_char(array, array->length ? ',' : '{');
}

void mishap_archive_put_null(mishap_buffer *array)
{
    begin_item(array);
    MISHAP_PUT(array, "NULL");
}

void mishap_archive_put_number(mishap_buffer *array, int64_t number)
{
    begin_item(array);
    if (number < 0)
        mishap_buffer_put_char(array, '-');
    mishap_buffer_put_uint(array, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void mishap_archive_put_text(mishap_buffer *array, mishap_text text)
{
    if (!text.data) {
        mishap_archive_put_null(array);
        return;
    }
    begin_item(array);
    mishap_buffer_put_char(array, '"');
    for (size_t i = 0, from = 0; i <= text.length; i++) {
        char c = i < text.length ? text.data[i] : '\0';
        if (i < text.length && c != '"' && c != '\\' && c != '\0')
            continue;
        mishap_buffer_put(array, text.data + from, i - from);
        if (c == '\0' && i < text.length)
            MISHAP_PUT(array, "\xef\xbf\xbd");
        else if (i < text.length) {
            mishap_buffer_put_char(array, '\\');
            mishap_buffer_put_char(array, c);
        }
        from = i + 1;
    }
    mishap_buffer_put_char(array, '"');
}

void mishap_archive_put_id(mishap_buffer *array, const unsigned char id[INDEX_ID])
{
    char text[MISHAP_ID_LENGTH + 1];
    mishap_index_id_write(id, text);
    begin_item(array);
    mishap_buffer_put(array, text, MISHAP_ID_LENGTH);
}

mishap_text mishap_archive_array(mishap_buffer *array)
{
    if (!array->length)
        mishap_buffer_put_char(array, '{');
    if (array->data && array->data[array->length - 1] != '}')
        mishap_buffer_put_char(array, '}');
    return mishap_buffer_text(array);
}

/* -- words ------------------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
}

/* The next word of a text, which is shortened; false: there is none. */
static bool next_word(mishap_text *text, mishap_text *word)
{
    while (text->length && !is_of_word(*text->data))
        text->data++, text->length--;
    *word = (mishap_text){ text->data, 0 };
    while (text->length && is_of_word(*text->data))
        text->data++, text->length--, word->length++;
    return word->length > 0;
}

/* Capitals of ASCII, Latin-1, Greek and Cyrillic as small letters: PostgreSQL knows capitals only
 * as far as the locale of its database does. */
static void put_folded(mishap_buffer *to, mishap_text word)
{
    for (size_t i = 0; i < word.length; i++) {
        unsigned char c = (unsigned char)word.data[i];
        unsigned char next = i + 1 < word.length ? (unsigned char)word.data[i + 1] : 0;
        unsigned code = (c & 31U) << 6 | (next & 63U);
        bool pair = c >> 5 == 6 && next >> 6 == 2;
        if (c >= 'A' && c <= 'Z')
            c |= 32;
        if (pair && ((code >= 0xc0 && code <= 0xde && code != 0xd7) ||
                     (code >= 0x391 && code <= 0x3a9) || (code >= 0x410 && code <= 0x42f)))
            code += 32;
        else if (pair && code >= 0x400 && code <= 0x40f)
            code += 80;
        mishap_buffer_put_char(to, pair ? (char)(0xc0 | code >> 6) : (char)c);
        if (pair) {
            mishap_buffer_put_char(to, (char)(0x80 | (code & 63)));
            i++;
        }
    }
}

void mishap_archive_put_words(mishap_buffer *to, mishap_text text)
{
    mishap_text word;
    while (next_word(&text, &word)) {
        if (to->length)
            mishap_buffer_put_char(to, ' ');
        put_folded(to, word);
    }
}

void mishap_archive_put_question(mishap_buffer *to, mishap_text text)
{
    mishap_text word;
    while (next_word(&text, &word)) {
        if (to->length)
            MISHAP_PUT(to, " & ");
        MISHAP_PUT(to, "'");
        put_folded(to, word);
        MISHAP_PUT(to, "'");
        if (text.length && *text.data == '*')
            MISHAP_PUT(to, ":*");
    }
}

/* -- kinds and groups -------------------------------------------------------------------------- */

static mishap_text keep(archive_batch *batch, mishap_text text)
{
    if (!text.data)
        return text;
    mishap_text copy = mishap_arena_copy(&batch->arena, text);
    batch->failed = batch->failed || !copy.data;
    return copy;
}

static uint64_t hash_name(uint64_t hash, mishap_text name)
{
    static const mishap_text there = MISHAP_TEXT("\x01"), absent = MISHAP_TEXT("\x02");
    return mishap_text_hash_on(mishap_text_hash_on(hash, name.data ? there : absent), name);
}

uint64_t mishap_archive_kind_hash(const archive_kind *kind, uint64_t group)
{
    char digits[17];
    mishap_index_group_write(group, digits);
    uint64_t hash = mishap_text_hash(mishap_text_of(digits));
    hash = hash_name(hash, kind->operation);
    hash = hash_name(hash, kind->code);
    hash = hash_name(hash, kind->category);
    hash = hash_name(hash, kind->service);
    return hash_name(hash, kind->boundary);
}

/* Its place, from 1; 0: no memory. */
static int64_t find_kind(archive_batch *batch, const index_record *r)
{
    archive_kind kind = { .operation = r->operation,
                          .code = r->code,
                          .category = r->category,
                          .service = r->service,
                          .boundary = r->boundary,
                          .group = r->group };
    int64_t last_ms = mishap_index_ms(r->items[r->count - 1].id);
    int64_t *at = mishap_index_map_at(&batch->kind_places,
                                      mishap_archive_kind_hash(&kind, r->group), true);
    batch->failed = batch->failed || !at;
    if (!at)
        return 0;
    if (!*at) {
        kind.operation = keep(batch, kind.operation);
        kind.code = keep(batch, kind.code);
        kind.category = keep(batch, kind.category);
        kind.service = keep(batch, kind.service);
        kind.boundary = keep(batch, kind.boundary);
        mishap_buffer_put(&batch->kinds, (const char *)&kind, sizeof kind);
        batch->failed = batch->failed || batch->kinds.failed;
        *at = batch->failed ? 0 : (int64_t)++batch->kind_count;
    }
    if (*at && mishap_archive_kinds(batch)[*at - 1].last_ms < last_ms)
        mishap_archive_kinds(batch)[*at - 1].last_ms = last_ms;
    return *at;
}

static archive_group *find_group(archive_batch *batch, const index_record *r)
{
    int64_t *at = mishap_index_map_at(&batch->group_places, r->group, true);
    batch->failed = batch->failed || !at;
    if (at && !*at) {
        archive_group group = { .key = r->group,
                                .operation = keep(batch, r->operation),
                                .code = keep(batch, r->code),
                                .category = keep(batch, r->category),
                                .service = keep(batch, r->service),
                                .first_ms = INT64_MAX };
        mishap_buffer_put(&batch->groups, (const char *)&group, sizeof group);
        batch->failed = batch->failed || batch->groups.failed;
        *at = batch->failed ? 0 : (int64_t)++batch->group_count;
    }
    return at && *at ? &mishap_archive_groups(batch)[*at - 1] : NULL;
}

static void note_group(archive_batch *batch, const index_record *r)
{
    archive_group *group = find_group(batch, r);
    int64_t first = mishap_index_ms(r->items[0].id);
    int64_t last = mishap_index_ms(r->items[r->count - 1].id);
    if (!group)
        return;
    group->first_ms = first < group->first_ms ? first : group->first_ms;
    group->last_ms = last > group->last_ms ? last : group->last_ms;
    if (!r->message.data)
        return;
    if (!group->message.data) {
        group->message = keep(batch, r->message);
        group->place = keep(batch, r->place);
    }
    memcpy(group->newest, r->items[0].id, INDEX_ID);
    group->has_newest = true;
}

/* -- rows -------------------------------------------------------------------------------------- */

/* Its place, from 1; 0: there is no room for another day. */
static int64_t find_day(archive_batch *batch, int64_t day)
{
    for (size_t i = 0; i < batch->day_count; i++)
        if (batch->days[i] == day)
            return (int64_t)i + 1;
    if (batch->day_count == ARCHIVE_DAYS)
        return 0;
    batch->days[batch->day_count++] = day;
    return (int64_t)batch->day_count;
}

static void put_message(archive_batch *batch, mishap_text message)
{
    mishap_buffer words = { 0 };
    mishap_archive_put_text(&batch->columns[COLUMN_MESSAGE], message);
    mishap_archive_put_words(&words, message);
    mishap_archive_put_text(&batch->columns[COLUMN_WORDS], mishap_buffer_text(&words));
    batch->failed = batch->failed || words.failed;
    mishap_buffer_release(&words);
}

static void put_row(archive_batch *batch, const index_record *r, const index_item *item,
                    int64_t day, int64_t kind, bool whole)
{
    mishap_buffer *columns = batch->columns;
    char trace[33] = "";
    mishap_archive_put_id(&columns[COLUMN_ID], item->id);
    int64_t sum = whole ? (int64_t)mishap_text_hash(r->line) : 0;
    mishap_archive_put_number(&columns[COLUMN_SUM], whole && !sum ? 1 : sum);
    mishap_archive_put_number(&columns[COLUMN_DAY], day);
    mishap_archive_put_number(&columns[COLUMN_KIND], kind);
    mishap_archive_put_text(&columns[COLUMN_CALLER], r->caller);
    if (r->status != INT64_MIN)
        mishap_archive_put_number(&columns[COLUMN_STATUS], r->status);
    else
        mishap_archive_put_null(&columns[COLUMN_STATUS]);
    if (r->has_us)
        mishap_archive_put_number(&columns[COLUMN_US], item->us);
    else
        mishap_archive_put_null(&columns[COLUMN_US]);
    if (r->has_like && !whole)
        mishap_archive_put_id(&columns[COLUMN_LIKE], r->like);
    else
        mishap_archive_put_null(&columns[COLUMN_LIKE]);
    if (r->has_trace)
        mishap_hex_write(trace, r->trace, sizeof r->trace);
    mishap_archive_put_text(&columns[COLUMN_TRACE], r->has_trace && whole
                                                        ? mishap_text_of(trace)
                                                        : (mishap_text){ NULL, 0 });
    if (whole) {
        put_message(batch, r->message);
        mishap_archive_put_text(&columns[COLUMN_RECORD], r->line);
    } else {
        mishap_archive_put_null(&columns[COLUMN_MESSAGE]);
        mishap_archive_put_null(&columns[COLUMN_WORDS]);
        mishap_archive_put_null(&columns[COLUMN_RECORD]);
    }
    batch->rows++;
}

/* False: there is no room for its days. Then it is the first of the next batch; one that has too
 * many days by itself was not written by us. */
static bool put_record(archive_batch *batch, const index_record *r, bool whole, int64_t oldest)
{
    size_t days = batch->day_count;
    for (size_t i = 0; i < r->count; i++) {
        int64_t day = mishap_index_ms(r->items[i].id) / INDEX_DAY_MS;
        if (day >= oldest && !find_day(batch, day)) {
            batch->day_count = days;
            return false;
        }
    }
    note_group(batch, r);
    int64_t kind = find_kind(batch, r);
    for (size_t i = 0; i < r->count && kind; i++) {
        int64_t day = mishap_index_ms(r->items[i].id) / INDEX_DAY_MS;
        if (day >= oldest)
            put_row(batch, r, &r->items[i], find_day(batch, day), kind, whole);
    }
    return true;
}

/* -- a batch ----------------------------------------------------------------------------------- */

void mishap_archive_batch_clear(archive_batch *batch)
{
    for (size_t i = 0; i < ARCHIVE_COLUMNS; i++)
        mishap_buffer_reset(&batch->columns[i]);
    mishap_buffer_reset(&batch->kinds);
    mishap_buffer_reset(&batch->groups);
    mishap_index_map_clear(&batch->kind_places);
    mishap_index_map_clear(&batch->group_places);
    mishap_arena_release(&batch->arena);
    mishap_arena_init(&batch->arena, NULL, 0);
    batch->lines = batch->bytes = batch->rows = batch->bad_lines = batch->day_count = 0;
    batch->kind_count = batch->group_count = 0;
    batch->failed = false;
}

void mishap_archive_batch_release(archive_batch *batch)
{
    for (size_t i = 0; i < ARCHIVE_COLUMNS; i++)
        mishap_buffer_release(&batch->columns[i]);
    mishap_buffer_release(&batch->kinds);
    mishap_buffer_release(&batch->groups);
    mishap_index_map_free(&batch->kind_places);
    mishap_index_map_free(&batch->group_places);
    mishap_arena_release(&batch->arena);
}

bool mishap_archive_batch_read(archive_batch *batch, mishap_follow *follow, index_reader *reader,
                               size_t most, int64_t oldest)
{
    mishap_text line;
    index_record record;
    bool fits = true;
    batch->from = batch->to = mishap_follow_at(follow);
    while (fits && !batch->failed && batch->lines < most && batch->bytes < BATCH_BYTES &&
           batch->rows < BATCH_ROWS && mishap_follow_next(follow, &line)) {
        index_line kind = mishap_index_line_read(reader, line, &record);
        batch->failed = batch->failed || kind == INDEX_LINE_NO_MEMORY;
        if (kind == INDEX_WHOLE || kind == INDEX_COMPACT)
            fits = put_record(batch, &record, kind == INDEX_WHOLE, oldest);
        if (!fits && batch->lines > 0)
            break;
        batch->bad_lines += kind == INDEX_LINE_BAD || !fits;
        batch->lines++;
        batch->bytes += line.length;
        batch->to = mishap_follow_at(follow);
    }
    for (size_t i = 0; i < ARCHIVE_COLUMNS; i++)
        batch->failed = batch->failed || batch->columns[i].failed;
    return batch->lines > 0;
}
