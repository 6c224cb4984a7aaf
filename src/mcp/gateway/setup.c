/*
 * What a client has set up in the server, beside its greeting: the level of log messages and
 * subscriptions to resources. The next server gets it, too.
 */
#include "mcp/gateway/inside.h"

static const char level[] = "logging/setLevel", subscribe[] = "resources/subscribe",
                  unsubscribe[] = "resources/unsubscribe";

/* `key` is the name of the method, and the address if it has one. */
typedef struct gateway_setup {
    mishap_mcp_gateway_entry entry;
    const char *method;
    mishap_text params; /* JSON, in the memory of the entry */
} gateway_setup;

bool mishap_mcp_gateway_is_setup(mishap_text method)
{
    return mishap_text_equal(method, mishap_text_of(level)) ||
           mishap_text_equal(method, mishap_text_of(subscribe)) ||
           mishap_text_equal(method, mishap_text_of(unsubscribe));
}

static void forget(gateway *g, mishap_text key)
{
    gateway_setup *setup = (gateway_setup *)(void *)mishap_mcp_gateway_table_find(&g->setups, key);
    if (!setup)
        return;
    g->setup_bytes -= setup->params.length;
    mishap_mcp_gateway_table_remove(&g->setups, &setup->entry);
    mishap_release(setup);
}

static void keep(gateway *g, const char *method, mishap_text key, mishap_text params)
{
    forget(g, key);
    if (g->setups.count >= GATEWAY_MOST_SETUPS ||
        g->setup_bytes + params.length > GATEWAY_MOST_SETUP_BYTES)
        return;
    gateway_setup *setup = mishap_allocate(sizeof *setup + key.length + params.length);
    if (!setup)
        return;
    char *room = (char *)(setup + 1);
    *setup = (gateway_setup){ .entry.key = { room, key.length },
                              .method = method,
                              .params = { room + key.length, params.length } };
    memcpy(room, key.data, key.length);
    memcpy(room + key.length, params.data, params.length);
    mishap_mcp_gateway_table_add(&g->setups, &setup->entry);
    g->setup_bytes += params.length;
}

void mishap_mcp_gateway_setup_learn(gateway *g, mishap_text line)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer key = { 0 }, json = { 0 };
    if (mishap_json_read(&reader, line)) {
        mishap_text method = mishap_json_text(yyjson_obj_get(reader.root, "method"));
        yyjson_val *params = yyjson_obj_get(reader.root, "params");
        bool is_level = mishap_text_equal(method, mishap_text_of(level));
        mishap_buffer_put_text(&key, mishap_text_of(is_level ? level : subscribe));
        mishap_buffer_put_text(&key, mishap_json_text(yyjson_obj_get(params, "uri")));
        mishap_json_copy(&json, params);
        bool whole = yyjson_is_obj(params) && !key.failed && !json.failed;
        if (whole && mishap_text_equal(method, mishap_text_of(unsubscribe)))
            forget(g, mishap_buffer_text(&key));
        else if (whole)
            keep(g, is_level ? level : subscribe, mishap_buffer_text(&key),
                 mishap_buffer_text(&json));
    }
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&key);
    mishap_buffer_release(&json);
}

void mishap_mcp_gateway_setup_repeat(gateway *g)
{
    for (size_t i = 0; g->setups.count && i < MISHAP_GATEWAY_PLACES; i++)
        for (mishap_mcp_gateway_entry *at = g->setups.places[i]; at; at = at->next) {
            const gateway_setup *setup = (const gateway_setup *)(const void *)at;
            mishap_mcp_gateway_send_own(g, GATEWAY_OWN_SETUP, setup->method, setup->params);
        }
}

void mishap_mcp_gateway_setup_release(gateway *g)
{
    mishap_mcp_gateway_entry *entry;
    while ((entry = mishap_mcp_gateway_table_any(&g->setups)))
        forget(g, entry->key);
}
