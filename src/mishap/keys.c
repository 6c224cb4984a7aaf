#include "mishap/keys.h"

#include "base/base.h"

enum { FEW = 24 }; /* so many are compared one by one */

typedef struct mishap_key_node {
    const mishap_member *member;
    uint64_t priority;
    struct mishap_key_node *below[2]; /* smaller keys, larger keys */
} mishap_key_node;

/* Shorter keys first, then by bytes. */
static int compare_keys(mishap_text left, mishap_text right)
{
    if (left.length != right.length)
        return left.length < right.length ? -1 : 1;
    return left.length ? memcmp(left.data, right.data, left.length) : 0;
}

/* An address with its bits mixed (splitmix64). */
static uint64_t priority_of(const void *address)
{
    uint64_t mixed = (uint64_t)(uintptr_t)address + UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* Hang the nodes of a tree below `over`, those with smaller keys on one side, the others on the
 * other. */
static void split_keys(mishap_key_node *tree, mishap_key_node *over)
{
    mishap_key_node **smaller = &over->below[0], **larger = &over->below[1];
    while (tree) {
        bool is_smaller = compare_keys(tree->member->key, over->member->key) < 0;
        mishap_key_node ***side = is_smaller ? &smaller : &larger;
        **side = tree;
        *side = &tree->below[is_smaller];
        tree = **side;
    }
    *smaller = *larger = NULL;
}

static bool add_key(mishap_keys *keys, mishap_arena *arena, const mishap_member *member)
{
    mishap_key_node *node = mishap_arena_take(arena, sizeof *node);
    if (!node)
        return false;
    node->member = member;
    node->priority = priority_of(node);
    mishap_key_node **place = &keys->root;
    while (*place && (*place)->priority >= node->priority)
        place = &(*place)->below[compare_keys(member->key, (*place)->member->key) > 0];
    split_keys(*place, node);
    *place = node;
    keys->covered = member;
    return true;
}

static const mishap_member *find_key(const mishap_keys *keys, mishap_text key)
{
    const mishap_key_node *node = keys->root;
    while (node) {
        int order = compare_keys(key, node->member->key);
        if (order == 0)
            return node->member;
        node = node->below[order > 0];
    }
    return NULL;
}

static mishap_keys *keys_of(mishap_keys **both, size_t list, mishap_arena *arena)
{
    if (!*both) {
        *both = mishap_arena_take(arena, MISHAP_KEYS_LISTS * sizeof **both);
        for (size_t i = 0; *both && i < MISHAP_KEYS_LISTS; i++)
            (*both)[i] = (mishap_keys){ NULL, NULL };
    }
    return *both ? *both + list : NULL;
}

mishap_member *mishap_keys_find(mishap_keys **both, size_t list, mishap_arena *arena,
                                const mishap_member *first, mishap_text key, bool *failed)
{
    const mishap_member *member = first;
    for (size_t i = 0; member && i < FEW; i++, member = member->next)
        if (mishap_text_equal(member->key, key))
            return (mishap_member *)(uintptr_t)member;
    if (!member)
        return NULL;
    mishap_keys *keys = keys_of(both, list, arena);
    *failed = !keys;
    if (!keys)
        return NULL;
    for (member = keys->covered ? keys->covered->next : first; member; member = member->next) {
        if (!add_key(keys, arena, member)) {
            *failed = true;
            return NULL;
        }
    }
    return (mishap_member *)(uintptr_t)find_key(keys, key);
}
