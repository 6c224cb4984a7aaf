/*
 * Any bytes as a line of the journal: it is refused, or gives a record whose texts lie in known
 * limits and whose ids are in order and have a time.
 */
#include "fuzz.h"

#include "index/inside.h"

static void check_name(mishap_text name)
{
    EXPECT(name.length <= INDEX_NAME, "a name of %zu bytes", name.length);
    expect_utf8(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static index_reader reader;
    index_record record;
    char id[MISHAP_ID_LENGTH + 1];
    unsigned char again[INDEX_ID];
    mishap_text line = { (const char *)data, size };
    index_line kind = mishap_index_line_read(&reader, line, &record);
    mishap_index_id_read(line, again);
    if (kind != INDEX_WHOLE && kind != INDEX_COMPACT)
        return 0;
    EXPECT(kind == INDEX_COMPACT || record.count == 1, "%zu items", record.count);
    EXPECT(record.count > 0, "no items");
    check_name(record.operation);
    check_name(record.code);
    check_name(record.category);
    check_name(record.service);
    check_name(record.boundary);
    expect_utf8(record.caller);
    expect_utf8(record.message);
    expect_utf8(record.place);
    EXPECT(record.caller.length <= INDEX_CALLER, "a caller of %zu bytes", record.caller.length);
    EXPECT(record.message.length <= INDEX_MESSAGE, "a message of %zu bytes", record.message.length);
    for (size_t i = 0; i < record.count; i++) {
        EXPECT(mishap_index_id_is_sound(record.items[i].id), "item %zu has no time", i);
        EXPECT(mishap_index_key(record.items[i].id) >= 0, "item %zu has no key", i);
        EXPECT(!i || memcmp(record.items[i - 1].id, record.items[i].id, INDEX_ID) <= 0,
               "item %zu is out of order", i);
        mishap_index_id_write(record.items[i].id, id);
        EXPECT(mishap_index_id_read(mishap_text_of(id), again) &&
                   memcmp(again, record.items[i].id, INDEX_ID) == 0,
               "item %zu is not read back", i);
    }
    return 0;
}
