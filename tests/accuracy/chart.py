"""The chart of errors: an SVG written by hand, one row a number, its mean error with the confidence interval."""

import math
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, ROW, HEAD = 1080, 400, 150, 19, 58
PLOT = WIDTH - LEFT - RIGHT
LINES = [(0.5, "#2f855a"), (2.0, "#c05621")]
SMALLEST_AXIS, LARGEST_AXIS = 2.5, 6.0  # wider ones hide what is small
FONT = 'font-family="DejaVu Sans, Verdana, sans-serif"'
INK, FAINT, DOT = "#1a202c", "#a0aec0", "#2b6cb0"


class Bar:
    def __init__(self, label, mean, half):
        self.label, self.mean, self.half = label, mean, 0.0 if math.isnan(half) else half
        self.text = f"{mean:+.2f} %" if math.isnan(half) else f"{mean:+.2f} \N{PLUS-MINUS SIGN} {half:.2f} %"


class Panel:
    """Bars with a common axis, in percent, symmetric about 0 and no wider than `largest`."""

    def __init__(self, title, bars, largest=LARGEST_AXIS):
        self.title, self.bars = title, bars
        reach = max((abs(bar.mean) + bar.half for bar in bars), default=0.0)
        self.limit = min(largest, max(SMALLEST_AXIS, math.ceil(reach)))

    def height(self):
        return HEAD + ROW * len(self.bars) + 34

    def x(self, percent):
        """Clamped to the axis."""
        share = max(-1.0, min(1.0, percent / self.limit))
        return LEFT + PLOT / 2 * (1 + share)

    def ticks(self):
        step = 1.0 if self.limit <= 6 else 5.0
        return [step * i for i in range(-int(self.limit / step), int(self.limit / step) + 1)]


def text(x, y, content, anchor="start", size=12, colour=INK, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
            f'fill="{colour}" {FONT}>{escape(content)}</text>')


def line(x1, y1, x2, y2, colour, width=1.0, dash=""):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>')


def draw_frame(panel, top):
    """Title, axis, and the lines that the errors are held against."""
    first, last = top + HEAD - 12, top + HEAD + ROW * len(panel.bars)
    out = [text(16, top + 20, panel.title, size=14, weight="bold"), line(panel.x(0), first, panel.x(0), last, INK)]
    for value, colour in LINES:
        for side in (-value, value):
            out.append(line(panel.x(side), first, panel.x(side), last, colour, 1.2, "5 3"))
        if panel.limit <= 6:
            out.append(text(panel.x(value), first - 4, f"\N{PLUS-MINUS SIGN}{value:g} %", "middle", 10, colour))
    if panel.limit > 6:
        values = " and ".join(f"\N{PLUS-MINUS SIGN}{value:g} %" for value, _ in LINES)
        out.append(text(panel.x(0), first - 4, f"dashed: {values}", "middle", 10))
    out.append(line(LEFT, last, LEFT + PLOT, last, FAINT))
    for tick in panel.ticks():
        out.append(line(panel.x(tick), last, panel.x(tick), last + 4, FAINT))
        out.append(text(panel.x(tick), last + 16, f"{tick:+g} %" if tick else "0", "middle", 10))
    return out


def draw_bar(panel, bar, y, shaded):
    """A point with its interval; a triangle at the edge when the point is beyond the axis."""
    out = []
    if shaded:
        out.append(f'<rect x="0" y="{y - ROW / 2:.1f}" width="{WIDTH}" height="{ROW}" fill="#f2f5f9"/>')
    out.append(text(LEFT - 12, y + 4, bar.label, "end"))
    out.append(text(LEFT + PLOT + 12, y + 4, bar.text))
    ends = (bar.mean - bar.half, bar.mean + bar.half)
    out.append(line(panel.x(ends[0]), y, panel.x(ends[1]), y, DOT, 2))
    for end in ends:
        if abs(end) <= panel.limit:
            out.append(line(panel.x(end), y - 4, panel.x(end), y + 4, DOT, 1.5))
    x = panel.x(bar.mean)
    if abs(bar.mean) > panel.limit:
        back = -8 if bar.mean > 0 else 8
        corners = f"{x:.1f},{y:.1f} {x + back:.1f},{y - 5:.1f} {x + back:.1f},{y + 5:.1f}"
        out.append(f'<polygon class="beyond" points="{corners}" fill="{DOT}"/>')
    else:
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" fill="{DOT}"/>')
    return out


def draw(title, panels):
    """The whole chart as text. Panels without bars are left out."""
    panels = [panel for panel in panels if panel.bars]
    height = 44 + sum(panel.height() for panel in panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', text(16, 28, title, size=16, weight="bold")]
    top = 44
    for panel in panels:
        bars = []
        for number, bar in enumerate(panel.bars):
            bars += draw_bar(panel, bar, top + HEAD + ROW * (number + 0.5), number % 2 == 0)
        shades = [one for one in bars if one.startswith("<rect")]  # below the dashed lines
        out += shades + draw_frame(panel, top) + [one for one in bars if not one.startswith("<rect")]
        top += panel.height()
    return "\n".join(out + ["</svg>", ""])
