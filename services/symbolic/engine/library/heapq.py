# The module heapq, as the engine runs it: the same comparisons in the same order, so that the list looks the same at each step.


def need_list(heap):
    if kind(heap) != "list":
        raise TypeError("heap argument must be a list")


def need_size(heap, size):
    if len(heap) != size:
        raise RuntimeError("list changed size during iteration")


def rise(heap, first, place):
    size = len(heap)
    if place >= size:
        raise IndexError("index out of range")
    while place > first:
        above = (place - 1) // 2
        less = bool(heap[place] < heap[above])
        need_size(heap, size)
        if not less:
            break
        heap[place], heap[above] = heap[above], heap[place]
        place = above


def sink(heap, place):
    first = place
    end = len(heap)
    if place >= end:
        raise IndexError("index out of range")
    below = 2 * place + 1
    while below < end:
        if below + 1 < end:
            less = bool(heap[below] < heap[below + 1])
            need_size(heap, end)
            if not less:
                below = below + 1
        heap[place], heap[below] = heap[below], heap[place]
        place = below
        below = 2 * place + 1
    rise(heap, first, place)


def heappush(heap, item, /):
    need_list(heap)
    settle(heap)
    heap.append(item)
    rise(heap, 0, len(heap) - 1)


def heappop(heap, /):
    need_list(heap)
    settle(heap)
    last = heap.pop()
    if not heap:
        return last
    least = heap[0]
    heap[0] = last
    sink(heap, 0)
    return least


def heapreplace(heap, item, /):
    need_list(heap)
    settle(heap)
    least = heap[0]
    heap[0] = item
    sink(heap, 0)
    return least


def heappushpop(heap, item, /):
    need_list(heap)
    settle(heap)
    if heap and heap[0] < item:
        if not heap:
            raise IndexError("index out of range")
        least = heap[0]
        heap[0] = item
        sink(heap, 0)
        return least
    return item


def heapify(heap, /):
    need_list(heap)
    settle(heap)
    if len(heap) > 2500:
        refuse("heapify() of a list with more than 2,500 items", "sort the list")
    for place in reversed(range(len(heap) // 2)):
        sink(heap, place)


def need_count(n):
    if not isinstance(n, int):
        refuse("a number of items that is no int", "use an int")


def nsmallest(n, iterable, key=None):
    need_count(n)
    items = iter(iterable)
    return [] if n <= 0 else sorted(items, key=key)[:n]


def nlargest(n, iterable, key=None):
    need_count(n)
    items = iter(iterable)
    return [] if n <= 0 else sorted(items, key=key, reverse=True)[:n]
