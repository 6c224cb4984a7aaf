/*
 * Any bytes as a row of a cluster: the addresses of a notice, and a key. Addresses are UTF-8 of the
 * allowed length and lie in the row. A key is one line, which is read again as the same key. A
 * position, which a client sends, is read as it was written.
 */
#include "fuzz.h"
#include "http/cluster/inside.h"
#include "http/keys/in_cluster.h"
#include "mcp/sessions/session.h"

static void read_notice(mishap_text row)
{
    mishap_text address;
    bool sound;
    size_t length = row.length;
    while (mishap_cluster_next_address(&row, &address, &sound)) {
        EXPECT(sound && address.length && address.length <= MISHAP_ADDRESS_LIMIT, "%zu bytes",
               address.length);
        EXPECT(row.length + address.length < length, "an address that is not in the row");
        expect_utf8(address);
        length = row.length;
    }
}

/* The name ends with a NUL, then come the hash and the time; the scopes are the rest. */
static void read_key(mishap_text row)
{
    const char *end = row.length ? memchr(row.data, 0, row.length) : NULL;
    size_t left = end ? row.length - (size_t)(end - row.data) - 1 : 0;
    if (left < MISHAP_KEY_HASH + MISHAP_KEY_CREATED)
        return;
    mishap_buffer text = { 0 };
    mishap_cluster_key key = { .name = { row.data, (size_t)(end - row.data) },
                               .hash = { end + 1, MISHAP_KEY_HASH },
                               .created = { end + 1 + MISHAP_KEY_HASH, MISHAP_KEY_CREATED },
                               .scopes = { end + 1 + MISHAP_KEY_HASH + MISHAP_KEY_CREATED,
                                           left - MISHAP_KEY_HASH - MISHAP_KEY_CREATED } };
    bool is_key = mishap_key_put_row(&text, &key);
    mishap_key_file file = { .text = text };
    EXPECT(is_key || !text.length, "a part of a line");
    mishap *failure = mishap_key_file_parse("keys", NULL, &file);
    EXPECT(!failure && file.count == is_key, "%zu keys in the file", file.count);
    if (is_key)
        EXPECT(memcmp(file.lines[0].hash, key.hash.data, MISHAP_KEY_HASH) == 0, "another key");
    mishap_free(failure);
    mishap_key_file_release(&file);
}

static void read_position(mishap_text text)
{
    mishap_position position, again;
    mishap_buffer spelled = { 0 };
    if (!mishap_position_read(text, &position))
        return;
    mishap_position_put(&spelled, &position);
    EXPECT(mishap_position_read(mishap_buffer_text(&spelled), &again) &&
               again.count == position.count,
           "%zu servers", position.count);
    for (size_t i = 0; i < position.count; i++)
        EXPECT(again.marks[i].server == position.marks[i].server &&
                   again.marks[i].change == position.marks[i].change,
               "server %zu", i);
    mishap_buffer_release(&spelled);
}

static void read_watched(mishap_text row)
{
    mishap_text uri;
    while (mishap_mcp_next_watched(&row, &uri)) {
        EXPECT(uri.length && uri.length <= MISHAP_ADDRESS_LIMIT, "%zu bytes", uri.length);
        expect_utf8(uri);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_notice(input_text(data, size));
    read_key(input_text(data, size));
    read_position(input_text(data, size));
    read_watched(input_text(data, size));
    return 0;
}
