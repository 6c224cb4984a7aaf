/*
 * Compact records: see compact.h.
 *
 * In the ring a record has a part of its own (id, duration) and a part that is the same for all of
 * its kind: the latter is one run of bytes, so kinds are compared with memcmp(). The reader copies
 * both into tables of a fixed size: gathering needs no memory.
 */
#include "incident/compact.h"

#include "base/base.h"
#include "base/hash.h"
#include "base/hex.h"
#include "incident/record.h"
#include "incident/redact.h"

enum {
    KINDS = 1024,      /* at once; a table of twice the size */
    RECORDS = 1 << 15, /* at once */
    MOST_IDS = 3000,   /* of one line: 64,000 characters, and as many of durations at most */
    MOST_CALLER = 200, /* bytes of a caller that are kept … */
    MOST_NAME = 120,   /* … and of the name of an operation or a service */
    TEXTS = 4,
};

struct compact {
    unsigned char id[16];
    uint32_t us;
    uint32_t padding;
    struct compact_kind {
        uint64_t group;
        unsigned char like[16]; /* zeros: none */
        int32_t status;
        uint8_t category, boundary;
        uint8_t lengths[TEXTS]; /* of operation, service, code, caller */
        uint8_t padding[6];
    } kind;
    /* The texts follow. */
};

/* -- in a process that serves ------------------------------------------------------------------ */

static mishap_text shortened(const char *words, size_t most)
{
    mishap_text text = words ? mishap_text_of(words) : (mishap_text){ "", 0 };
    if (text.length > most)
        text.length = mishap_utf8_cut(text, most);
    return text;
}

static uint32_t microseconds(int64_t ns)
{
    int64_t us = ns < 0 ? 0 : ns / 1000;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

bool mishap_compact_put(mishap_ring *ring, const mishap_incident_entry *entry, uint64_t group,
                        const unsigned char id[16], const unsigned char like[16],
                        int64_t duration_ns)
{
    const mishap_public *told = mishap_told(entry->failure);
    mishap_text code = told->code->name;
    const mishap_text texts[TEXTS] = { shortened(entry->operation, MOST_NAME),
                                       shortened(entry->service, MOST_NAME),
                                       { code.data, code.length < 255 ? code.length : 255 },
                                       shortened(entry->caller, MOST_CALLER) };
    size_t length = 0;
    for (size_t i = 0; i < TEXTS; i++)
        length += texts[i].length;
    struct compact *to = mishap_ring_reserve(ring, MISHAP_RING_COMPACT, sizeof *to + length);
    if (!to)
        return false;
    memcpy(to->id, id, sizeof to->id);
    to->us = microseconds(duration_ns);
    to->padding = 0;
    to->kind = (struct compact_kind){ .group = group,
                                      .status = entry->status,
                                      .category = (uint8_t)told->category,
                                      .boundary = (uint8_t)entry->boundary };
    memcpy(to->kind.like, like, sizeof to->kind.like);
    char *at = (char *)(to + 1);
    for (size_t i = 0; i < TEXTS; i++) {
        to->kind.lengths[i] = (uint8_t)texts[i].length;
        if (texts[i].length)
            memcpy(at, texts[i].data, texts[i].length);
        at += texts[i].length;
    }
    mishap_ring_publish(ring);
    return true;
}

/* -- gathering --------------------------------------------------------------------------------- */

enum { LONGEST = 4 * 255 }; /* texts of a kind */

/* A record that was taken out of the ring, and is whole. */
struct taken {
    struct compact record;
    char texts[LONGEST]; /* that follow it */
};

/* What is gathered. Records of one kind are a chain, by their numbers from 1. */
struct gathered_record {
    unsigned char id[16];
    uint32_t us, next; /* 0: it is the last one */
};

struct gathered_kind {
    struct compact_kind kind;
    char texts[LONGEST];
    size_t length;        /* of the texts */
    uint32_t first, last; /* records */
};

/* Of the process that writes. */
static struct {
    size_t kinds, put; /* kinds; kinds whose lines are put */
    uint32_t records;
    uint16_t table[2 * KINDS]; /* the number of a kind, from 1; 0: none */
    struct gathered_kind kind[KINDS];
    struct gathered_record record[RECORDS + 1];
} gathered;

/* Copy it, and check the copy. */
static bool take_record(struct taken *taken, const void *record, size_t size, size_t *length)
{
    const struct compact *c = &taken->record;
    if (size < sizeof *c || size > sizeof *c + LONGEST)
        return false;
    memcpy(&taken->record, record, sizeof *c);
    memcpy(taken->texts, (const char *)record + sizeof *c, size - sizeof *c);
    *length = 0;
    for (size_t i = 0; i < TEXTS; i++)
        *length += c->kind.lengths[i];
    return size == sizeof *c + *length && c->kind.category < MISHAP_CATEGORIES &&
           c->kind.boundary <= MISHAP_INCIDENT_MCP;
}

static bool is_of_kind(const struct gathered_kind *kind, const struct taken *taken, size_t length)
{
    return kind->length == length &&
           memcmp(&kind->kind, &taken->record.kind, sizeof kind->kind) == 0 &&
           memcmp(kind->texts, taken->texts, length) == 0;
}

static uint64_t hash_of_kind(const struct taken *taken, size_t length)
{
    static const uint64_t key[2] = { 1, 2 };
    const struct compact_kind *kind = &taken->record.kind;
    return mishap_hash(key, (mishap_text){ (const char *)kind, sizeof *kind }) ^
           mishap_hash(key, (mishap_text){ taken->texts, length });
}

/* NULL: there are too many. */
static struct gathered_kind *find_kind(const struct taken *taken, size_t length)
{
    size_t at = hash_of_kind(taken, length) % (2 * KINDS);
    for (; gathered.table[at]; at = (at + 1) % (2 * KINDS)) {
        struct gathered_kind *kind = &gathered.kind[gathered.table[at] - 1u];
        if (is_of_kind(kind, taken, length))
            return kind;
    }
    if (gathered.kinds == KINDS)
        return NULL;
    struct gathered_kind *kind = &gathered.kind[gathered.kinds];
    kind->kind = taken->record.kind;
    memcpy(kind->texts, taken->texts, length);
    kind->length = length;
    kind->first = kind->last = 0;
    gathered.table[at] = (uint16_t)++gathered.kinds;
    return kind;
}

mishap_gathered mishap_compact_gather(const void *record, size_t size)
{
    struct taken taken;
    size_t length;
    if (!take_record(&taken, record, size, &length))
        return MISHAP_GATHERED_WRONG;
    struct gathered_kind *kind = gathered.records < RECORDS ? find_kind(&taken, length) : NULL;
    if (!kind)
        return MISHAP_GATHERED_FULL;
    uint32_t number = ++gathered.records;
    gathered.record[number] = (struct gathered_record){ .us = taken.record.us };
    memcpy(gathered.record[number].id, taken.record.id, sizeof taken.record.id);
    if (kind->last)
        gathered.record[kind->last].next = number;
    else
        kind->first = number;
    kind->last = number;
    return MISHAP_GATHERED;
}

/* -- lines ------------------------------------------------------------------------------------- */

static void put_kind_text(mishap_buffer *b, const char *name, const char **at, uint8_t length)
{
    mishap_text text = { *at, length };
    *at += length;
    if (!length)
        return;
    mishap_json_key(b, mishap_text_of(name));
    mishap_redact_string(b, NULL, text);
}

static void put_id(mishap_buffer *b, const unsigned char id[16])
{
    static const unsigned char counts[] = { 4, 2, 2, 2, 6 };
    char text[MISHAP_ID_LENGTH], *to = text;
    for (size_t i = 0; i < sizeof counts; i++) {
        if (i)
            *to++ = '-';
        mishap_hex_write(to, id, counts[i]);
        to += 2 * counts[i];
        id += counts[i];
    }
    mishap_json_string(b, (mishap_text){ text, sizeof text });
}

static void put_kind(mishap_buffer *b, const struct gathered_kind *c, const char *program,
                     int64_t now_ms)
{
    static const unsigned char none[16];
    char group[20];
    const char *at = c->texts;
    MISHAP_PUT(b, "{\"v\":1,\"kind\":\"compact\",\"time\":\"");
    mishap_clock_put_timestamp(b, now_ms);
    snprintf(group, sizeof group, "%016llx", (unsigned long long)c->kind.group);
    MISHAP_PUT(b, "\",\"group\":");
    mishap_json_string(b, mishap_text_of(group));
    MISHAP_JSON_KEY(b, "program");
    mishap_json_string(b, mishap_text_of(program));
    put_kind_text(b, "operation", &at, c->kind.lengths[0]);
    put_kind_text(b, "service", &at, c->kind.lengths[1]);
    put_kind_text(b, "code", &at, c->kind.lengths[2]);
    put_kind_text(b, "caller", &at, c->kind.lengths[3]);
    MISHAP_JSON_KEY(b, "boundary");
    mishap_json_string(
        b, mishap_text_of(mishap_record_boundary((mishap_incident_boundary)c->kind.boundary)));
    MISHAP_JSON_KEY(b, "category");
    mishap_json_string(b, mishap_text_of(mishap_category_name((mishap_category)c->kind.category)));
    if (c->kind.status) {
        MISHAP_JSON_KEY(b, "status");
        mishap_json_int(b, c->kind.status);
    }
    if (memcmp(c->kind.like, none, sizeof none) != 0) {
        MISHAP_JSON_KEY(b, "like");
        put_id(b, c->kind.like);
    }
}

/* Three ids are 48 bytes, which are 64 characters without padding. */
static void put_ids(mishap_buffer *b, uint32_t number, size_t count)
{
    enum { TOGETHER = 3 };
    unsigned char ids[TOGETHER][16];
    MISHAP_JSON_KEY(b, "ids");
    MISHAP_PUT(b, "\"");
    for (size_t i = 0; i < count; number = gathered.record[number].next) {
        memcpy(ids[i % TOGETHER], gathered.record[number].id, 16);
        i++;
        size_t some = i % TOGETHER ? i % TOGETHER : TOGETHER;
        if (some == TOGETHER || i == count)
            mishap_base64_put(b, (mishap_text){ (const char *)ids, some * 16 });
    }
    MISHAP_PUT(b, "\"");
}

static void put_durations(mishap_buffer *b, uint32_t number, size_t count)
{
    MISHAP_JSON_KEY(b, "us");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < count; i++, number = gathered.record[number].next)
        mishap_json_int(b, gathered.record[number].us);
    mishap_json_close(b, ']');
}

/* How many of a chain stand in one line, and the number of the one behind them. */
static size_t count_some(uint32_t number, uint32_t *behind)
{
    size_t count = 0;
    for (; number && count < MOST_IDS; number = gathered.record[number].next)
        count++;
    *behind = number;
    return count;
}

static void forget_gathered(void)
{
    gathered.kinds = gathered.put = gathered.records = 0;
    memset(gathered.table, 0, sizeof gathered.table);
}

bool mishap_compact_put_line(mishap_buffer *out, const char *program, int64_t now_ms, size_t *count)
{
    if (gathered.put == gathered.kinds) {
        forget_gathered();
        return false;
    }
    struct gathered_kind *kind = &gathered.kind[gathered.put];
    uint32_t first = kind->first;
    *count = count_some(first, &kind->first);
    put_kind(out, kind, program, now_ms);
    MISHAP_JSON_KEY(out, "count");
    mishap_json_int(out, (int64_t)*count);
    put_ids(out, first, *count);
    put_durations(out, first, *count);
    MISHAP_PUT(out, "}\n");
    gathered.put += kind->first == 0;
    return true;
}
