"""Lists, dicts, sets, and the modules that people use with them."""


#: check most_common = verified
#: from texts("abc", 1, 5)
from collections import Counter


def most_common(text: str) -> str:
    """
    pre: 1 <= len(text) <= 4
    post: all(text.count(_) >= text.count(c) for c in text)
    """
    return Counter(text).most_common(1)[0][0]


#: check top_letter = counterexample IndexError
#: from texts("abc", 0, 4)
#: shown by ""
from collections import Counter


def top_letter(text: str) -> str:
    counts = Counter(c for c in text if c.isalpha())
    return counts.most_common(1)[0][0]


#: check group_by_parity = verified
#: from lists(ints(-5, 9), 0, 5)
from collections import defaultdict


def group_by_parity(numbers: list[int]) -> dict[int, list[int]]:
    """
    pre: len(numbers) <= 4
    post: sum(len(group) for group in _.values()) == len(numbers)
    """
    groups = defaultdict(list)
    for n in numbers:
        groups[n % 2].append(n)
    return dict(groups)


#: check word_counts = verified
#: from lists(pick(["a", "b", "ab"]), 0, 4)
def word_counts(words: list[str]) -> dict[str, int]:
    """
    pre: len(words) <= 4
    post: sum(_.values()) == len(words)
    """
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


#: check letter_counts = counterexample
#: from lists(pick(["a", "b", "ab"]), 0, 4)
#: shown by ["a", "a"]
def letter_counts(words: list[str]) -> dict[str, int]:
    """
    pre: len(words) <= 3
    post: sum(_.values()) == len(words)
    """
    counts = {}
    for word in words:
        if word in counts:
            counts[word] + 1
        else:
            counts[word] = 1
    return counts


#: check invert = counterexample
#: from dicts(pick(["a", "b", "c"]), ints(0, 2), 0, 3)
#: shown by {"a": 1, "b": 1}
def invert(mapping: dict[str, int]) -> dict[int, str]:
    """
    pre: len(mapping) <= 3
    post: len(_) == len(mapping)
    """
    return {value: key for key, value in mapping.items()}


#: check dedupe = verified
#: from lists(ints(0, 3), 0, 5)
def dedupe(items: list[int]) -> list[int]:
    """
    pre: len(items) <= 4
    post: len(_) == len(set(items))
    """
    seen = set()
    result = []
    for item in items:
        if item not in seen:
            seen.add(item)
            result.append(item)
    return result


#: compare unique unique_dict = equivalent
#: from lists(ints(0, 3), 0, 5)
def unique(items: list[int]) -> list[int]:
    """
    pre: len(items) <= 4
    """
    result = []
    for item in items:
        if item not in result:
            result.append(item)
    return result


def unique_dict(items: list[int]) -> list[int]:
    return list(dict.fromkeys(items))


#: check chunks = verified
#: from lists(ints(0, 3), 0, 6), ints(1, 4)
def chunks(items: list[int], size: int) -> list[list[int]]:
    """
    pre: len(items) <= 4 and 1 <= size <= 4
    post: sum(map(len, _)) == len(items)
    """
    return [items[i:i + size] for i in range(0, len(items), size)]


#: check batches = counterexample
#: from lists(ints(0, 3), 0, 6), ints(1, 4)
#: shown by [1, 2, 3], 2
def batches(items: list[int], size: int) -> list[list[int]]:
    """
    pre: len(items) <= 4 and 1 <= size <= 4
    post: sum(map(len, _)) == len(items)
    """
    return [items[i * size:(i + 1) * size] for i in range(len(items) // size)]


#: check flatten = verified
#: from lists(lists(ints(0, 3), 0, 3), 0, 3)
def flatten(rows: list[list[int]]) -> list[int]:
    """
    pre: len(rows) <= 3 and all(len(row) <= 2 for row in rows)
    post: len(_) == sum(len(row) for row in rows)
    """
    return [cell for row in rows for cell in row]


#: check merge_sorted = verified
#: from ordered(ints(0, 5), 0, 3), ordered(ints(0, 5), 0, 3)
def merge_sorted(a: list[int], b: list[int]) -> list[int]:
    """
    pre: len(a) <= 2 and len(b) <= 2
    pre: a == sorted(a) and b == sorted(b)
    post: _ == sorted(a + b)
    """
    result, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            result.append(a[i])
            i += 1
        else:
            result.append(b[j])
            j += 1
    return result + a[i:] + b[j:]


#: check merge_lists = counterexample
#: from ordered(ints(0, 5), 0, 3), ordered(ints(0, 5), 0, 3)
#: shown by [1], [2, 3]
def merge_lists(a: list[int], b: list[int]) -> list[int]:
    """
    pre: len(a) <= 2 and len(b) <= 2
    post: len(_) == len(a) + len(b)
    """
    result = []
    for x, y in zip(a, b):
        result += [x, y] if x <= y else [y, x]
    return result


#: check merge_intervals = verified
#: from ordered(tuples(ints(0, 5), ints(6, 9)), 0, 3)
def merge_intervals(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    pre: len(intervals) <= 3
    pre: all(low <= high for low, high in intervals)
    post: len(_) <= len(intervals)
    post: all(left[1] < right[0] for left, right in zip(_, _[1:]))
    """
    merged = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


#: check join_intervals = counterexample
#: from ordered(tuples(ints(0, 5), ints(3, 9)), 0, 3)
#: shown by [(0, 9), (1, 2)]
def join_intervals(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    pre: len(intervals) <= 3
    pre: all(low <= high for low, high in intervals)
    post: not intervals or max(high for low, high in _) == max(high for low, high in intervals)
    """
    merged = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged


#: check two_sum = verified
#: from lists(ints(-5, 9), 0, 5), ints(-5, 15)
def two_sum(numbers: list[int], target: int) -> tuple[int, int] | None:
    """
    pre: len(numbers) <= 4
    post: _ is None or (numbers[_[0]] + numbers[_[1]] == target and _[0] != _[1])
    """
    places = {}
    for i, n in enumerate(numbers):
        if target - n in places:
            return places[target - n], i
        places[n] = i
    return None


#: check pair_with_sum = counterexample
#: from lists(ints(-5, 9), 0, 5), ints(-5, 15)
#: shown by [2], 4
def pair_with_sum(numbers: list[int], target: int) -> bool:
    """
    pre: len(numbers) <= 3
    post: not _ or len(numbers) >= 2
    """
    known = set(numbers)
    return any(target - n in known for n in numbers)


#: check rotate = verified
#: from lists(ints(0, 3), 0, 5), ints(-9, 9)
def rotate(items: list[int], places: int) -> list[int]:
    """
    pre: len(items) <= 4
    post: sorted(_) == sorted(items)
    """
    if not items:
        return items
    k = places % len(items)
    return items[-k:] + items[:-k] if k else items[:]


#: check rotate_right = counterexample ZeroDivisionError
#: from lists(ints(0, 3), 0, 5), ints(-9, 9)
#: shown by [], 1
def rotate_right(items: list[int], places: int) -> list[int]:
    """
    pre: len(items) <= 4
    """
    k = places % len(items)
    return items[-k:] + items[:-k]


#: check transpose = verified
#: from lists(lists(ints(0, 3), 2, 2), 0, 3)
def transpose(matrix: list[list[int]]) -> list[list[int]]:
    """
    pre: 1 <= len(matrix) <= 3 and all(len(row) == 2 for row in matrix)
    post: len(_) == 2 and all(len(row) == len(matrix) for row in _)
    """
    return [list(column) for column in zip(*matrix)]


#: check running_max = verified
#: from lists(ints(-5, 5), 0, 5)
def running_max(numbers: list[int]) -> list[int]:
    """
    pre: len(numbers) <= 4
    post: len(_) == len(numbers) and (not _ or _[-1] == max(numbers))
    """
    result = []
    for n in numbers:
        result.append(n if not result or n > result[-1] else result[-1])
    return result


#: check highest = counterexample
#: from lists(ints(-5, 5), 1, 5)
#: shown by [-1]
def highest(numbers: list[int]) -> int:
    """
    pre: 1 <= len(numbers) <= 4
    post: _ in numbers
    """
    best = 0
    for n in numbers:
        if n > best:
            best = n
    return best


#: check majority = verified
#: from lists(ints(0, 2), 0, 5)
def majority(votes: list[int]) -> int | None:
    """
    pre: len(votes) <= 4
    post: _ is None or votes.count(_) * 2 > len(votes)
    """
    candidate, count = None, 0
    for vote in votes:
        if count == 0:
            candidate, count = vote, 1
        elif vote == candidate:
            count += 1
        else:
            count -= 1
    if candidate is not None and votes.count(candidate) * 2 > len(votes):
        return candidate
    return None


#: check winner = counterexample
#: from lists(pick("ab"), 1, 4)
#: shown by ["a", "b"]
from collections import Counter


def winner(votes: list[str]) -> str:
    """
    pre: 1 <= len(votes) <= 3
    post: votes.count(_) * 2 > len(votes)
    """
    return max(Counter(votes).items(), key=lambda pair: pair[1])[0]


#: check insert_sorted = verified
#: from ordered(ints(0, 9), 0, 4), ints(0, 9)
from bisect import bisect_left


def insert_sorted(items: list[int], item: int) -> list[int]:
    """
    pre: len(items) <= 3
    pre: items == sorted(items)
    post: _ == sorted(_)
    """
    place = bisect_left(items, item)
    return items[:place] + [item] + items[place:]


#: check grade = verified
#: from ints(0, 100)
import bisect


def grade(score: int) -> str:
    """
    pre: 0 <= score <= 100
    post: _ != "A" or score >= 90
    """
    return "FDCBA"[bisect.bisect([60, 70, 80, 90], score)]


#: check letter_grade = counterexample
#: from ints(0, 100)
#: shown by 90
from bisect import bisect_left


def letter_grade(score: int) -> str:
    """
    pre: 0 <= score <= 100
    post: score < 90 or _ == "A"
    """
    return "FDCBA"[bisect_left([60, 70, 80, 90], score)]


#: check binary_search = verified
#: from ordered(ints(0, 9), 0, 4), ints(0, 9)
def binary_search(items: list[int], wanted: int) -> int:
    """
    pre: len(items) <= 4
    pre: all(left < right for left, right in zip(items, items[1:]))
    post: (_ == -1 and wanted not in items) or items[_] == wanted
    """
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


#: check search = counterexample
#: from ordered(ints(0, 9), 0, 4), ints(0, 9)
#: shown by [1], 1
def search(items: list[int], wanted: int) -> int:
    """
    pre: len(items) <= 4
    pre: items == sorted(items)
    post: _ != -1 or wanted not in items
    """
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return -1


#: check moving_sum = verified
#: from lists(ints(-5, 5), 0, 5)
def moving_sum(numbers: list[int]) -> list[int]:
    """
    pre: 2 <= len(numbers) <= 5
    post: len(_) == len(numbers) - 1
    """
    return [a + b for a, b in zip(numbers, numbers[1:])]


#: check prefix_sums = counterexample
#: from lists(ints(-5, 5), 0, 5)
#: shown by [1]
def prefix_sums(numbers: list[int]) -> list[int]:
    """
    pre: len(numbers) <= 4
    post: _[-1] == sum(numbers)
    """
    sums = [0]
    for i in range(1, len(numbers)):
        sums.append(sums[-1] + numbers[i - 1])
    return sums


#: check run_length = verified
#: from texts("ab", 0, 5)
from itertools import groupby


def run_length(text: str) -> list[tuple[str, int]]:
    """
    pre: len(text) <= 4
    post: "".join(c * n for c, n in _) == text
    """
    return [(c, len(list(group))) for c, group in groupby(text)]


#: check compress = counterexample
#: from texts("ab", 0, 5)
#: shown by "a"
def compress(text: str) -> list[tuple[str, int]]:
    """
    pre: len(text) <= 4
    post: sum(count for c, count in _) == len(text)
    """
    runs, count = [], 1
    for left, right in zip(text, text[1:]):
        if left == right:
            count += 1
        else:
            runs.append((left, count))
            count = 1
    return runs


#: check paginate = verified
#: from lists(ints(0, 9), 0, 6), ints(1, 4), ints(1, 3)
def paginate(items: list[int], page: int, size: int) -> list[int]:
    """
    pre: len(items) <= 5 and page >= 1 and 1 <= size <= 3
    post: len(_) <= size
    """
    start = (page - 1) * size
    return items[start:start + size]


#: check page_count = verified
#: from ints(0, 100), ints(1, 20)
def page_count(total: int, size: int) -> int:
    """
    pre: total >= 0 and 1 <= size <= 100
    post: (_ - 1) * size < total <= _ * size
    """
    return -(-total // size)


#: check pages = counterexample
#: from ints(0, 100), ints(1, 20)
#: shown by 10, 10
def pages(total: int, size: int) -> int:
    """
    pre: 0 <= total <= 1000 and 1 <= size <= 100
    post: _ * size - total < size
    """
    return total // size + 1


#: check page_links = verified
#: from ints(1, 12), ints(1, 12)
def page_links(current: int, last: int) -> list[int]:
    """
    pre: 1 <= current <= last <= 12
    post: current in _ and _[0] >= 1 and _[-1] <= last
    """
    first = max(1, current - 2)
    return list(range(first, min(last, current + 2) + 1))


#: check apply_defaults = verified
#: from dicts(pick(["color", "size"]), ints(0, 3), 0, 2)
def apply_defaults(options: dict[str, int]) -> dict[str, int]:
    """
    pre: len(options) <= 2
    post: "color" in _ and "size" in _
    post: all(_[key] == value for key, value in options.items())
    """
    return {"color": 0, "size": 10, **options}


#: check with_defaults = counterexample
#: from dicts(pick(["color", "size"]), ints(0, 3), 0, 2)
#: shown by {"size": 1}
def with_defaults(options: dict[str, int]) -> dict[str, int]:
    """
    pre: len(options) <= 2
    post: all(_[key] == value for key, value in options.items())
    """
    return options | {"color": 0, "size": 10}


#: check top_three = verified
#: from lists(ints(0, 9), 0, 5)
import heapq


def top_three(scores: list[int]) -> list[int]:
    """
    pre: len(scores) <= 4
    post: len(_) == min(3, len(scores))
    """
    return heapq.nlargest(3, scores)


#: check common_items = verified
#: from lists(ints(0, 4), 0, 4), lists(ints(0, 4), 0, 4)
def common_items(a: list[int], b: list[int]) -> list[int]:
    """
    pre: len(a) <= 3 and len(b) <= 3
    post: all(x in a and x in b for x in _)
    """
    return sorted(set(a) & set(b))


#: check product = verified
#: from lists(ints(-3, 3), 0, 4)
from functools import reduce


def product(numbers: list[int]) -> int:
    """
    pre: len(numbers) <= 4
    post: 0 not in numbers or _ == 0
    """
    return reduce(lambda a, b: a * b, numbers, 1)


#: find largest TypeError = found
#: from lists(ints(-3, 3), 0, 4)
#: shown by []
from functools import reduce


def largest(numbers: list[int]) -> int:
    """
    pre: len(numbers) <= 3
    """
    return reduce(lambda a, b: a if a > b else b, numbers)


#: find remove_negative ValueError = unreachable
#: from lists(ints(-3, 3), 0, 4)
def remove_negative(numbers: list[int]) -> list[int]:
    """
    pre: len(numbers) <= 3
    """
    for n in list(numbers):
        if n < 0:
            numbers.remove(n)
    return numbers


#: check drop_negative = counterexample
#: from lists(ints(-3, 3), 0, 4)
#: shown by [-1, -2]
def drop_negative(numbers: list[int]) -> list[int]:
    """
    pre: len(numbers) <= 3
    post: all(n >= 0 for n in _)
    """
    for n in numbers:
        if n < 0:
            numbers.remove(n)
    return numbers
