"""A curve as SVG: both axes are logarithmic, and each measurement is a dot with its figure."""
import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 76, 24, 44, 48
LINES = ("#1155cc", "#b45f06", "#38761d")


def power(number):
    """A power of ten for people: 1, 10, 100, 1 k, … 100 M."""
    if number < 0:
        return f"{10.0 ** number:g}"
    step = min(number // 3, 3)
    return f"{10 ** (number - 3 * step)}{('', ' k', ' M', ' G')[step]}"


def scale_of(values, first, last):
    """From a value to a place, and the powers of ten on the way."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = max(low + 1, math.ceil(math.log10(max(values)) - 1e-9))
    return lambda value: first + (math.log10(value) - low) / (high - low) * (last - first), range(low, high + 1)


def draw(title, across, upwards, curves):
    """The text of the SVG. curves: {name: [(x, y), …]}"""
    points = [point for curve in curves.values() for point in curve]
    if not points or min(min(point) for point in points) <= 0:
        raise ValueError(f"{title}: there is nothing to draw")
    x, x_powers = scale_of([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y, y_powers = scale_of([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="DejaVu Sans, sans-serif" font-size="11">',
             f"<title>{html.escape(title)}</title>", '<rect width="100%" height="100%" fill="#ffffff"/>',
             f'<text x="{LEFT}" y="18" font-size="13">{html.escape(title)}</text>']
    for number in x_powers:
        at = x(10.0 ** number)
        parts.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#dddddd"/>'
                     f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{power(number)}</text>')
    for number in y_powers:
        at = y(10.0 ** number)
        parts.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#dddddd"/>'
                     f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{power(number)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{html.escape(across)}</text>'
                 f'<text x="14" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
                 f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2})">{html.escape(upwards)}</text>')
    for number, (name, curve) in enumerate(curves.items()):
        colour = LINES[number % len(LINES)]
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3.5" fill="{colour}"><title>{a:,}: {b:,.3g}</title></circle>' for a, b in curve]
        if len(curves) > 1:
            parts.append(f'<rect x="{LEFT + 150 * number}" y="26" width="10" height="10" fill="{colour}"/>'
                         f'<text x="{LEFT + 150 * number + 15}" y="35">{html.escape(name)}</text>')
    return "".join(parts) + "</svg>\n"
