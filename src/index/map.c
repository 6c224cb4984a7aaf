/* A table from numbers to numbers, with open addressing: see inside.h. */
#include "index/inside.h"

static uint64_t spread(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static struct index_map_entry *find_entry(const index_map *map, uint64_t key)
{
    size_t at = (size_t)spread(key) & (map->size - 1);
    while (map->entries[at].used && map->entries[at].key != key)
        at = (at + 1) & (map->size - 1);
    return &map->entries[at];
}

static bool grow_map(index_map *map)
{
    index_map larger = { .size = map->size ? map->size * 2 : 64, .count = map->count };
    larger.entries = mishap_allocate(larger.size * sizeof *larger.entries);
    if (!larger.entries)
        return false;
    memset(larger.entries, 0, larger.size * sizeof *larger.entries);
    for (size_t i = 0; i < map->size; i++)
        if (map->entries[i].used)
            *find_entry(&larger, map->entries[i].key) = map->entries[i];
    mishap_release(map->entries);
    *map = larger;
    return true;
}

int64_t *mishap_index_map_at(index_map *map, uint64_t key, bool add)
{
    struct index_map_entry *entry = map->size ? find_entry(map, key) : NULL;
    if (entry && entry->used)
        return &entry->value;
    if (!add || ((map->count + 1) * 2 > map->size && !grow_map(map)))
        return NULL;
    entry = find_entry(map, key);
    *entry = (struct index_map_entry){ .key = key, .used = true };
    map->count++;
    return &entry->value;
}

void mishap_index_map_clear(index_map *map)
{
    if (map->size > 4096) {
        mishap_index_map_free(map);
        return;
    }
    if (map->count)
        memset(map->entries, 0, map->size * sizeof *map->entries);
    map->count = 0;
}

void mishap_index_map_free(index_map *map)
{
    mishap_release(map->entries);
    *map = (index_map){ 0 };
}
