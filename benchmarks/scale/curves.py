"""Curves on logarithmic axes, as SVG written by hand: what grows how fast with what."""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "accuracy"))

from chart import FAINT, INK, line, text  # pylint: disable=wrong-import-position

COLUMNS, WIDTH, HEIGHT = 2, 560, 330
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 50, 45
COLOURS = ["#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b7791f"]


class Panel:
    """series: name -> [(x, y)]; bounds: [(y, what)] as dashed lines. All numbers above 0."""

    def __init__(self, title, x_label, y_label, series, bounds=()):
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.series = {name: sorted(points) for name, points in series.items() if points}
        self.bounds = list(bounds)
        points = [point for points in self.series.values() for point in points]
        if points:
            self.x_range = decades([x for x, _ in points])
            self.y_range = decades([y for _, y in points] + [y for y, _ in self.bounds])


def decades(values):
    """Logarithms of the axis' ends: whole powers of ten around all values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def label_of(exponent):
    """1, 10, 100 ... in a short form."""
    if exponent < 0:
        return f"{10 ** exponent:g}"
    return f"{10 ** (exponent % 3)}" + ["", " k", " M", " G"][exponent // 3] if exponent < 12 else f"1e{exponent}"


class Frame:
    """Where a panel's values lie on the page."""

    def __init__(self, panel, left, top):
        self.panel = panel
        self.left, self.right = left + LEFT, left + WIDTH - RIGHT
        self.top, self.bottom = top + TOP, top + HEIGHT - BOTTOM

    def x(self, value):
        low, high = self.panel.x_range
        return self.left + (self.right - self.left) * (math.log10(value) - low) / (high - low)

    def y(self, value):
        low, high = self.panel.y_range
        return self.bottom - (self.bottom - self.top) * (math.log10(value) - low) / (high - low)


def draw_axes(frame):
    panel = frame.panel
    out = [text(frame.left - LEFT + 12, frame.top - 28, panel.title, size=14, weight="bold"),
           text((frame.left + frame.right) / 2, frame.bottom + 34, panel.x_label, "middle", 11),
           text(frame.left - LEFT + 12, frame.top - 10, panel.y_label, size=11)]
    for exponent in range(panel.x_range[0], panel.x_range[1] + 1):
        x = frame.x(10 ** exponent)
        out += [line(x, frame.top, x, frame.bottom, FAINT, 0.5),
                text(x, frame.bottom + 16, label_of(exponent), "middle", 10)]
    for exponent in range(panel.y_range[0], panel.y_range[1] + 1):
        y = frame.y(10 ** exponent)
        out += [line(frame.left, y, frame.right, y, FAINT, 0.5),
                text(frame.left - 6, y + 4, label_of(exponent), "end", 10)]
    for value, what in panel.bounds:
        out += [line(frame.left, frame.y(value), frame.right, frame.y(value), INK, 1.2, "5 3"),
                text(frame.left + 4, frame.y(value) - 4, what, size=10)]
    return out


def draw_series(frame, number, name, points):
    colour = COLOURS[number % len(COLOURS)]
    corners = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in points)
    out = [f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="1.8"/>']
    out += [f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
    y = frame.top + 16 * number + 8
    out.append(line(frame.right + 10, y - 4, frame.right + 26, y - 4, colour, 2.5))
    out.append(text(frame.right + 30, y, name, size=11))
    return out


def draw(title, panels):
    """The whole page as text. Panels without points are left out."""
    panels = [panel for panel in panels if panel.series]
    width, height = COLUMNS * WIDTH, 40 + HEIGHT * math.ceil(len(panels) / COLUMNS)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>', text(16, 26, title, size=16, weight="bold")]
    for number, panel in enumerate(panels):
        frame = Frame(panel, number % COLUMNS * WIDTH, 40 + number // COLUMNS * HEIGHT)
        out += draw_axes(frame)
        for place, (name, points) in enumerate(panel.series.items()):
            out += draw_series(frame, place, name, points)
    return "\n".join(out + ["</svg>", ""])
