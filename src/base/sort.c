/* Heap sort: the items form a tree in which no item is larger than the one above it. A few items
 * are sorted by insertion. */
#include "base/sort.h"

#include <string.h>

struct heap {
    char *items;
    size_t size;
    int (*compare)(const void *a, const void *b);
};

static void swap(const struct heap *heap, size_t a, size_t b)
{
    char kept[64];
    char *one = heap->items + a * heap->size, *other = heap->items + b * heap->size;
    for (size_t left = heap->size; left;) {
        size_t piece = left < sizeof kept ? left : sizeof kept;
        memcpy(kept, one, piece);
        memcpy(one, other, piece);
        memcpy(other, kept, piece);
        one += piece;
        other += piece;
        left -= piece;
    }
}

static int order(const struct heap *heap, size_t a, size_t b)
{
    return heap->compare(heap->items + a * heap->size, heap->items + b * heap->size);
}

/* Move the item at `at` down until nothing below it is larger. It mostly goes far, so the path of
 * the larger ones is followed to its end first, and then back to the right place: that takes half
 * as many comparisons. */
static void sink(const struct heap *heap, size_t top, size_t count)
{
    size_t at = top;
    while (2 * at + 2 < count)
        at = 2 * at + 1 + (order(heap, 2 * at + 1, 2 * at + 2) < 0);
    if (2 * at + 1 < count)
        at = 2 * at + 1;
    while (at > top && order(heap, top, at) > 0)
        at = (at - 1) / 2;
    for (; at > top; at = (at - 1) / 2) /* those on the way move up by one */
        swap(heap, top, at);
}

static void insert_each(const struct heap *heap, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t at = i; at && order(heap, at - 1, at) > 0; at--)
            swap(heap, at - 1, at);
}

void mishap_sort(void *items, size_t count, size_t size,
                 int (*compare)(const void *a, const void *b))
{
    enum { FEW = 12 };
    struct heap heap = { items, size, compare };
    if (count <= FEW) {
        insert_each(&heap, count);
        return;
    }
    for (size_t at = count / 2; at-- > 0;)
        sink(&heap, at, count);
    for (size_t last = count; last-- > 1;) {
        swap(&heap, 0, last);
        sink(&heap, 0, last);
    }
}
