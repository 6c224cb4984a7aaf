/*
 * The members of a mishap by their keys.
 *
 * A key that is added again replaces the value it had, so each addition looks for the key. A few
 * members are compared one by one. Beyond that the list has an index, or else a context with as
 * many keys as a caller likes to send would take a time that grows with the square of their number.
 *
 * The index is a treap: a search tree by key, in which each node has a priority that is not smaller
 * than those below it. The priorities are made of addresses, which a caller does not know, so no
 * choice of keys makes the tree deep.
 */
#ifndef MISHAP_MISHAP_KEYS_H
#define MISHAP_MISHAP_KEYS_H

#include "base/arena.h"
#include "mishap/mishap.h"

/* The two lists of a mishap. */
enum { MISHAP_KEYS_TOLD, MISHAP_KEYS_NOTED, MISHAP_KEYS_LISTS };

/* One list, from its first member to `covered`. Zero is an empty index. */
typedef struct mishap_keys {
    struct mishap_key_node *root;
    const mishap_member *covered;
} mishap_keys;

/*
 * The member of this key, NULL if the list has none. If the list is long, its index is brought up
 * to the end of the list first: *both has the indexes of both lists, or is NULL and gets them. All
 * of that has its memory from the arena. Without memory `failed` is set.
 */
mishap_member *mishap_keys_find(mishap_keys **both, size_t list, mishap_arena *arena,
                                const mishap_member *first, mishap_text key, bool *failed);

#endif
