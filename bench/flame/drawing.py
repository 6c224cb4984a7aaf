"""A flame graph as SVG: a box for each function in a stack, as wide as the share of samples that have it there."""
import collections
import html

WIDTH, ROW, TEXT, MARGIN, NARROWEST = 1200, 17, 11, 10, 1.5
# By the kind of part, readable on white: ours, libraries, the kernel.
COLOURS = {"ours": "#f6b26b", "library": "#9fc5e8", "kernel": "#d9d9d9"}


class Node:
    def __init__(self):
        self.count, self.kind, self.below = 0, "ours", collections.OrderedDict()


def tree_of(stacks):
    """stacks: {((name, kind), … from the root to the leaf): samples}"""
    root = Node()
    for stack, count in sorted(stacks.items()):
        at = root
        at.count += count
        for name, kind in stack:
            at = at.below.setdefault(name, Node())
            at.kind = kind
            at.count += count
    return root


def depth_of(node):
    return 1 + max(map(depth_of, node.below.values()), default=0)


def draw(stacks, title):
    """The text of the SVG."""
    root = tree_of(stacks)
    if not root.count:
        raise ValueError("there are no samples")
    scale = (WIDTH - 2 * MARGIN) / root.count
    rows = visible_rows(root, scale, 1) + 1
    height = rows * ROW + 3 * ROW
    boxes = []

    def put(node, left, level):
        for name, child in node.below.items():
            width = child.count * scale
            if width >= NARROWEST:
                boxes.append(box(name, child, left, height - (level + 1) * ROW - ROW // 2, width, root.count))
                put(child, left, level + 1)
            left += width

    put(root, MARGIN, 0)
    legend = "".join(f'<rect x="{WIDTH - 330 + 110 * n}" y="6" width="10" height="10" fill="{colour}"/>'
                     f'<text x="{WIDTH - 315 + 110 * n}" y="15">{kind}</text>' for n, (kind, colour) in enumerate(COLOURS.items()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="DejaVu Sans Mono, monospace" font-size="{TEXT}">'
            f'<title>{html.escape(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>'
            f'<text x="{MARGIN}" y="15" font-size="13">{html.escape(title)}</text>{legend}{"".join(boxes)}</svg>\n')


def visible_rows(node, scale, level):
    return max([level] + [visible_rows(child, scale, level + 1) for child in node.below.values() if child.count * scale >= NARROWEST])


def box(name, node, left, top, width, total):
    room = int((width - 4) / (TEXT * 0.61))
    shown = name if len(name) <= room else name[:room - 1] + "…" if room > 3 else ""
    text = f'<text x="{left + 2:.1f}" y="{top + 12}">{html.escape(shown)}</text>' if shown else ""
    return (f'<g><title>{html.escape(name)}: {100 * node.count / total:.1f} %</title><rect x="{left:.1f}" y="{top}" width="{max(width - 0.4, 0.3):.1f}" '
            f'height="{ROW - 1}" fill="{COLOURS[node.kind]}"/>{text}</g>')
