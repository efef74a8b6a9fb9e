"""`blame fold --format svg`: the states of the threads with their confidence bands, and below them the functions that run."""

import html

from .fold_text import BINS, TITLES, counts_of
from .text import clean, decimal, fit, paragraph

WIDTH, LEFT, RIGHT, HIGH, FIRST, GAP = 900.0, 52.0, 28.0, 200.0, 82.0, 62.0
ROW, COLUMNS, NAME = 18.0, 3, 42  # layout of the legends
# The colours of the report page (command/html/page/src/style.css).
LIGHT = ("#3b82c4", "#e69f00", "#d55e00", "#b26a98", "#189a74", "#8d8778", "#6a63b8")
DARK = ("#4a90cf", "#d99a1c", "#d9692a", "#b5769f", "#2fae88", "#9c9586", "#8d86d6")
FUNCTIONS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#99aa44", "#7788cc", "#bb7755")
STYLE = (
    "svg{--paper:#faf9f6;--ink:#1e2126;--muted:#636a75;--rule:#e5e2da;" + "".join(f"--s{at}:{colour};" for at, colour in enumerate(LIGHT)) + "}"
    "@media(prefers-color-scheme:dark){svg{--paper:#14161a;--ink:#dcdad4;--muted:#969ca6;--rule:#2a2e36;"
    + "".join(f"--s{at}:{colour};" for at, colour in enumerate(DARK)) + "}}"
    ".paper{fill:var(--paper)}text{fill:var(--muted);font:12px Inter,system-ui,sans-serif}.title{fill:var(--ink);font-size:14px;font-weight:600}.name{fill:var(--ink)}"
    ".grid{stroke:var(--rule)}" + "".join(f".l{at}{{stroke:var(--s{at});stroke-width:2;fill:none}}.b{at}{{fill:var(--s{at});opacity:.25}}.k{at}{{fill:var(--s{at})}}"
                                          for at in range(len(LIGHT))))


def escaped(text):
    return html.escape(clean(text), quote=True)


def x_of(at):
    return LEFT + (at + 0.5) / BINS * (WIDTH - LEFT - RIGHT)


def points(values, top, most):
    return [f"{x_of(at):.1f},{top + HIGH * (1 - min(max(value / most, 0), 1)):.1f}" for at, value in enumerate(values)]


def area(kind, low, high, top, most, title):
    outline = " ".join(points(high, top, most) + points(low, top, most)[::-1])
    return f'<polygon {kind} points="{outline}"><title>{title}</title></polygon>'


def axes(title, top, most):
    parts = [f'<text class="title" x="{LEFT}" y="{top - 12:.0f}">{title}</text>']
    for i in range(5):
        y, x = top + HIGH * (1 - i / 4), LEFT + i / 4 * (WIDTH - LEFT - RIGHT)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                     f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{decimal(most * i / 4, 2 if most < 4 else 1)}</text>'
                     f'<text x="{x:.1f}" y="{top + HIGH + 17:.1f}" text-anchor="middle">{25 * i} %</text>')
    return parts


def legend(entries, top):
    """Returns the legend with a colour for each name, and its height."""
    parts, wide = [], (WIDTH - LEFT - RIGHT) / COLUMNS
    for at, (mark, name) in enumerate(entries):
        x, y = LEFT + at % COLUMNS * wide, top + at // COLUMNS * ROW
        parts.append(f'<rect {mark} x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10" rx="2"/><text class="name" x="{x + 15:.1f}" y="{y:.1f}">{escaped(fit(name, NAME, True))}</text>')
    return parts, ROW * -(-len(entries) // COLUMNS)


def draw(fold, top):
    there = [at for at in range(len(TITLES)) if fold.sum[:, at].any()]
    most = max(float(fold.band[1].max()), 1e-9)
    parts = axes("Threads, with a 95 % band for as many other executions", FIRST, most)
    for at in there:
        parts.append(area(f'class="b{at}"', fold.band[0][:, at], fold.band[1][:, at], FIRST, most, TITLES[at]))
    for at in there:
        parts.append(f'<polyline class="l{at}" points="{" ".join(points(fold.threads[:, at], FIRST, most))}"><title>{TITLES[at]}</title></polyline>')
    keys, high = legend([(f'class="k{at}"', TITLES[at]) for at in there], FIRST + HIGH + 42)
    parts += keys
    second = FIRST + HIGH + GAP + high + 16
    shown = sorted(fold.order, key=lambda at: -fold.own[at].sum())[:min(top, len(FUNCTIONS))]
    highest, below = max(float(fold.threads_of(fold.own.sum(axis=0)).max()), 1e-9), 0.0
    parts += axes("Threads that are not idle, by the function that runs", second, highest)
    for colour, at in zip(FUNCTIONS, shown):
        above = below + fold.threads_of(fold.own[at])
        parts.append(area(f'fill="{colour}"', above * 0 + below, above, second, highest, escaped(fold.label(at))))
        below = above
    keys, high = legend([(f'fill="{colour}"', fold.label(at)) for colour, at in zip(FUNCTIONS, shown)], second + HIGH + 42)
    height = second + HIGH + 48 + high
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height:.0f}" width="{WIDTH:.0f}" height="{height:.0f}" role="img"><style>{STYLE}</style>'
            f'<rect class="paper" width="100%" height="100%"/>'
            + "".join(f'<text x="{LEFT}" y="{24 + 17 * at}">{escaped(line)}</text>' for at, line in enumerate(paragraph(counts_of(fold), 120).splitlines()[:2]))
            + "".join(parts + keys) + "</svg>\n")
