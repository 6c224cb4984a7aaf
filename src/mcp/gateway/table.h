/* Entries by a text. An entry is the first member of the struct that it belongs to. */
#ifndef MISHAP_MCP_GATEWAY_TABLE_H
#define MISHAP_MCP_GATEWAY_TABLE_H

#include "base/base.h"

typedef struct mishap_mcp_gateway_entry {
    struct mishap_mcp_gateway_entry *next;
    mishap_text key; /* in memory of the entry's owner */
    size_t place;    /* set by the table */
} mishap_mcp_gateway_entry;

enum { MISHAP_GATEWAY_PLACES = 1024 }; /* a power of two */

/* The other side chooses the keys, so their places depend on a secret. */
typedef struct mishap_mcp_gateway_table {
    uint64_t secret[2];
    size_t count;
    mishap_mcp_gateway_entry *places[MISHAP_GATEWAY_PLACES];
} mishap_mcp_gateway_table;

void mishap_mcp_gateway_table_init(mishap_mcp_gateway_table *table);

/* NULL: there is none. */
mishap_mcp_gateway_entry *mishap_mcp_gateway_table_find(const mishap_mcp_gateway_table *table,
                                                        mishap_text key);

/* The key is in the entry, and no other entry has it. */
void mishap_mcp_gateway_table_add(mishap_mcp_gateway_table *table, mishap_mcp_gateway_entry *entry);

/* The entry is in the table. */
void mishap_mcp_gateway_table_remove(mishap_mcp_gateway_table *table,
                                     mishap_mcp_gateway_entry *entry);

/* Any entry; NULL: the table is empty. */
mishap_mcp_gateway_entry *mishap_mcp_gateway_table_any(const mishap_mcp_gateway_table *table);

#endif
