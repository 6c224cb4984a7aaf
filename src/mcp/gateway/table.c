/* Entries by a text: see table.h. */
#include "mcp/gateway/table.h"

#include "base/hash.h"

static size_t place_of(const mishap_mcp_gateway_table *table, mishap_text key)
{
    return mishap_hash(table->secret, key) & (MISHAP_GATEWAY_PLACES - 1);
}

void mishap_mcp_gateway_table_init(mishap_mcp_gateway_table *table)
{
    *table = (mishap_mcp_gateway_table){ 0 };
    mishap_system_random(table->secret, sizeof table->secret);
}

mishap_mcp_gateway_entry *mishap_mcp_gateway_table_find(const mishap_mcp_gateway_table *table,
                                                        mishap_text key)
{
    mishap_mcp_gateway_entry *entry = table->places[place_of(table, key)];
    while (entry && !mishap_text_equal(entry->key, key))
        entry = entry->next;
    return entry;
}

void mishap_mcp_gateway_table_add(mishap_mcp_gateway_table *table, mishap_mcp_gateway_entry *entry)
{
    entry->place = place_of(table, entry->key);
    entry->next = table->places[entry->place];
    table->places[entry->place] = entry;
    table->count++;
}

void mishap_mcp_gateway_table_remove(mishap_mcp_gateway_table *table,
                                     mishap_mcp_gateway_entry *entry)
{
    mishap_mcp_gateway_entry **at = &table->places[entry->place];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    table->count--;
}

mishap_mcp_gateway_entry *mishap_mcp_gateway_table_any(const mishap_mcp_gateway_table *table)
{
    for (size_t i = 0; table->count && i < MISHAP_GATEWAY_PLACES; i++)
        if (table->places[i])
            return table->places[i];
    return NULL;
}
