/* Incidents as they come into the journal: see index.h. */
#include <sys/stat.h>

#include "base/hex.h"
#include "index/inside.h"

struct mishap_index_tail {
    mishap_follow *follow;
    index_reader reader;
    index_record record;
    size_t next; /* the item that comes next */
    bool whole;
    mishap_index_filter filter; /* its texts are in the arena */
    uint64_t group;
    unsigned char trace[16];
    mishap_arena arena;
    char storage[512];
};

static mishap *copy_filter(mishap_index_tail *tail, const mishap_index_filter *filter)
{
    mishap_text *texts[] = { &tail->filter.code,      &tail->filter.category,
                             &tail->filter.operation, &tail->filter.caller,
                             &tail->filter.group,     &tail->filter.trace,
                             &tail->filter.text,      &tail->filter.boundary,
                             &tail->filter.service,   &tail->filter.not_operation };
    tail->filter = *filter;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i]->length)
            continue;
        *texts[i] = mishap_arena_copy(&tail->arena, *texts[i]);
        if (!texts[i]->data)
            return mishap_out_of_memory();
    }
    if (filter->group.length && !mishap_index_group_read(filter->group, &tail->group))
        return mishap_index_refuse("group", "16 hexadecimal digits");
    if (filter->trace.length &&
        (filter->trace.length != 32 || !mishap_hex_read(filter->trace.data, tail->trace, 16)))
        return mishap_index_refuse("trace", "32 hexadecimal digits");
    return NULL;
}

/* The end of the journal as it is now. */
static mishap_follow_place end_of(const char *journal)
{
    struct stat status;
    if (stat(journal, &status) != 0)
        return (mishap_follow_place){ 0 };
    return (mishap_follow_place){ .device = status.st_dev,
                                  .inode = status.st_ino,
                                  .offset = (uint64_t)status.st_size };
}

mishap *mishap_index_tail_open_at(const char *journal, const mishap_follow_place *from,
                                  const mishap_index_filter *filter, mishap_index_tail **out)
{
    *out = NULL;
    mishap_index_tail *tail = mishap_allocate(sizeof *tail);
    if (!tail)
        return mishap_out_of_memory();
    memset(tail, 0, sizeof *tail);
    mishap_arena_init(&tail->arena, tail->storage, sizeof tail->storage);
    mishap *failure = copy_filter(tail, filter);
    if (!failure)
        failure = mishap_follow_open(journal, from ? *from : end_of(journal), &tail->follow);
    if (failure) {
        mishap_index_tail_close(tail);
        return failure;
    }
    *out = tail;
    return NULL;
}

mishap *mishap_index_tail_open(const char *journal, const mishap_index_filter *filter,
                               mishap_index_tail **out)
{
    return mishap_index_tail_open_at(journal, NULL, filter, out);
}

mishap_follow_place mishap_index_tail_at(const mishap_index_tail *tail)
{
    return mishap_follow_at(tail->follow);
}

bool mishap_index_tail_is_inside(const mishap_index_tail *tail)
{
    return tail->next < tail->record.count;
}

void mishap_index_tail_close(mishap_index_tail *tail)
{
    if (!tail)
        return;
    mishap_follow_close(tail->follow);
    mishap_index_reader_release(&tail->reader);
    mishap_arena_release(&tail->arena);
    mishap_release(tail);
}

static bool fits(mishap_text wanted, mishap_text value)
{
    return !wanted.length || mishap_text_equal(wanted, value);
}

static bool fits_record(const mishap_index_tail *tail)
{
    const mishap_index_filter *f = &tail->filter;
    const index_record *r = &tail->record;
    return !mishap_index_leaves_out(f->not_operation, r->operation) &&
           fits(f->boundary, r->boundary) && fits(f->service, r->service) &&
           (!f->status || f->status == r->status) && fits(f->code, r->code) &&
           fits(f->category, r->category) && fits(f->operation, r->operation) &&
           fits(f->caller, r->caller) && (!f->group.length || r->group == tail->group) &&
           (!f->trace.length || (r->has_trace && memcmp(r->trace, tail->trace, 16) == 0)) &&
           (!f->text.length || (r->message.length && memmem(r->message.data, r->message.length,
                                                            f->text.data, f->text.length)));
}

bool mishap_index_tail_next(mishap_index_tail *tail, mishap_buffer *json)
{
    mishap_text line;
    index_record *r = &tail->record;
    while (tail->next >= r->count) {
        if (!mishap_follow_next(tail->follow, &line))
            return false;
        index_line kind = mishap_index_line_read(&tail->reader, line, r);
        tail->whole = kind == INDEX_WHOLE;
        tail->next = 0;
        if ((kind != INDEX_WHOLE && kind != INDEX_COMPACT) || !fits_record(tail))
            r->count = 0;
    }
    const index_item *item = &r->items[tail->next++];
    index_row row = { .operation = r->operation,
                      .boundary = r->boundary,
                      .service = r->service,
                      .caller = r->caller,
                      .code = r->code,
                      .category = r->category,
                      .message = r->message,
                      .group = r->group,
                      .status = r->status,
                      .us = r->has_us ? (int64_t)item->us : -1,
                      .whole = tail->whole,
                      .has_like = r->has_like };
    memcpy(row.id, item->id, INDEX_ID);
    memcpy(row.like, r->like, INDEX_ID);
    mishap_index_put_row(&row, json);
    return true;
}
