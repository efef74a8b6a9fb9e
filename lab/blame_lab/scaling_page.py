"""The page of `blame scaling --format html`: plots and contexts, without scripts and network access."""

import html
import math

from .runs import METRICS, PARTS
from .text import clean, decimal

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 460.0, 280.0, 48.0, 14.0, 14.0, 38.0
SPARK, SPARK_HIGH, LABEL = 140.0, 34.0, 90  # size of a row's curve; columns of its name
LEAST_LOST, ENOUGH = 0.0005, 5              # as in scaling.py


def colours(theme):
    """Returns CSS variables for the colours of the page's bars and keys."""
    return "".join(f";--{part}:{METRICS[part][theme]}" for part in PARTS)


STYLE = (
    ":root{--paper:#faf9f6;--card:#fff;--ink:#1e2126;--muted:#636a75;--rule:#e5e2da;--accent:#0b5cad;--warn:#8a3b00"
    + colours("light") + "}"
    "@media(prefers-color-scheme:dark){:root{--paper:#14161a;--card:#1a1d22;--ink:#dcdad4;--muted:#969ca6;--rule:#2a2e36;--accent:#7db8ef;--warn:#f2b880"
    + colours("dark") + "}}"
    "body{margin:0 auto;max-width:1460px;padding:24px;background:var(--paper);color:var(--ink);font:14px/1.5 Inter,system-ui,sans-serif}"
    "h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:0 0 8px}p{margin:4px 0 12px;max-width:100ch}.muted{color:var(--muted)}"
    ".plots{display:flex;flex-wrap:wrap;gap:16px;margin:16px 0}.card{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:14px;"
    "overflow-x:auto}.plots .card{flex:1 1 400px}.plots svg{width:100%;height:auto;max-width:560px}"
    "svg text{fill:var(--muted);font-size:11px}.grid{stroke:var(--rule)}.ideal{stroke:var(--muted);stroke-dasharray:4 4;fill:none}"
    ".line{stroke:var(--accent);stroke-width:2;fill:none}.dot{fill:var(--accent)}.model{stroke:var(--muted);stroke-dasharray:3 3;fill:none}"
    "table{border-collapse:collapse;width:100%}th{text-align:left;color:var(--muted);font-weight:500;white-space:nowrap}"
    "td,th{padding:4px 10px 4px 0;border-bottom:1px solid var(--rule);vertical-align:middle}.w{white-space:nowrap}"
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}code{font:12px/1.4 ui-monospace,Menlo,\"DejaVu Sans Mono\",monospace;"
    "overflow-wrap:anywhere}.key{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 4px 0 12px}.key:first-child{margin-left:0}")


def escaped(text):
    return html.escape(clean(text), quote=True)


def y_of(part):
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


class Plot:
    """A plot whose horizontal axis shows numbers of threads on a logarithmic scale."""

    def __init__(self, scaling, title):
        self.scaling = scaling
        self.parts = [f'<div class=card><h2>{title}</h2><svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role=img aria-label="{title}">']

    def put(self, text):
        self.parts.append(text)

    def x_of(self, p):
        first, last = math.log2(self.scaling.numbers[0]), math.log2(self.scaling.numbers[-1])
        return LEFT + (math.log2(p) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def text(self, x, y, text, anchor="middle"):
        self.put(f"<text x={x:.1f} y={y:.1f} text-anchor={anchor}>{text}</text>")

    def across(self, most, unit, decimals):
        """Draws a horizontal line for each quarter of `most`."""
        for i in range(5):
            y = y_of(i / 4)
            self.put(f"<line class=grid x1={LEFT:.0f} x2={WIDTH - RIGHT:.0f} y1={y:.1f} y2={y:.1f} />")
            self.text(LEFT - 6, y + 4, decimal(most * i / 4, decimals) + unit, "end")

    def below(self, text):
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, text)

    def end(self, more=""):
        return "".join(self.parts) + f"</svg>{more}</div>"


def curve_plot(scaling, title, values, ideal, unit):
    plot, most = Plot(scaling, title), max(*values, *ideal)
    plot.across(most, unit, 1 if most < 4 else 0)
    for number in scaling.numbers:
        plot.text(plot.x_of(number), HEIGHT - BOTTOM + 16, decimal(number, 0))
    plot.below(scaling.by)
    for kind, along in (("ideal", ideal), ("line", values)):
        points = " ".join(f"{plot.x_of(number):.1f},{y_of(value / most):.1f}" for number, value in zip(scaling.numbers, along))
        plot.put(f'<polyline class={kind} points="{points}"/>')
    for number, value in zip(scaling.numbers, values):
        plot.put(f"<circle class=dot cx={plot.x_of(number):.1f} cy={y_of(value / most):.1f} r=4><title>{decimal(number, 0)} {scaling.by}: {decimal(value, 2)}{unit}"
                 "</title></circle>")
    return plot.end()


def parts_plot(scaling):
    """Plots the parts of the thread time for each number, next to the ideal derived from the first number."""
    count, most = len(scaling.numbers), float(scaling.effort.max())
    wide = min(46, (WIDTH - LEFT - RIGHT) / count * 0.6)
    plot = Plot(scaling, f"Thread time, {scaling.unit}")
    plot.across(most, "", 2 if most < 4 else 0)
    for i, number in enumerate(scaling.numbers):
        x, total = LEFT + (i + 0.5) / count * (WIDTH - LEFT - RIGHT), 0.0
        for part, word in enumerate(PARTS):
            value = float(scaling.contexts[0].values[0, part, i])
            if value > 0:
                plot.put(f'<rect x={x - wide / 2:.1f} width={wide:.1f} y={y_of((total + value) / most):.1f}'
                         f' height={y_of(total / most) - y_of((total + value) / most):.1f} fill="var(--{word})"><title>{decimal(number, 0)} {scaling.by}:'
                         f" {decimal(value, 3)} {scaling.unit} {word.replace('-', ' ')}</title></rect>")
                total += value
        ideal = y_of(scaling.ideal[i] / most)
        plot.put(f"<line class=ideal x1={x - wide / 2 - 4:.1f} x2={x + wide / 2 + 4:.1f} y1={ideal:.1f} y2={ideal:.1f} />")
        plot.text(x, HEIGHT - BOTTOM + 16, decimal(number, 0))
    plot.below(f"{scaling.by}; dashed: perfect scaling")
    keys = "".join(f'<span class=key style="background:var(--{PARTS[part]})"></span>{PARTS[part].replace("-", " ")}' for part in scaling.shown)
    return plot.end(f"<div class=muted>{keys}</div>")


def spark(scaling, row):
    """Returns a small plot of a context's effort for each number, with its model up to twice the last number."""
    effort = row.context.effort
    tells = scaling.design is not None and row.fit.tells()
    most = max(*effort, row.fit.at if tells else 0)
    if most <= 0:
        return ""
    first, last = math.log2(scaling.numbers[0]), math.log2(scaling.next)
    points = [(3 + (math.log2(number) - first) / (last - first) * (SPARK - 6), SPARK_HIGH - 3 - value / most * (SPARK_HIGH - 6))
              for number, value in zip(scaling.numbers, effort)]
    text = f'<svg width={SPARK:.0f} height={SPARK_HIGH:.0f}><polyline class=line points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
    if tells:  # otherwise the data do not determine the line
        x, y = points[-1]
        text += f"<line class=model x1={x:.1f} y1={y:.1f} x2={SPARK - 3:.1f} y2={SPARK_HIGH - 3 - max(row.fit.at, 0) / most * (SPARK_HIGH - 6):.1f} />"
    return text + "</svg>"


def rows_card(scaling, top, label, foretold):
    rows, decimals, last = scaling.rows(), scaling.decimals, decimal(scaling.numbers[-1], 0)
    more = float(scaling.effort[-1] - scaling.ideal[-1])
    text = (f"<div class=card><h2>What limits scaling</h2><p class=muted>With {last} {scaling.by} there are {decimal(more, decimals)} {scaling.unit} of thread time"
            f" more than there would be, {decimal(100 * more / scaling.effort[-1] if scaling.effort[-1] > 0 else 0, 1)} % of it. The code that causes the increase, with its own time and the idleness blamed on it:</p><table><tr><th class=n>lost<th class=n>from<th>most of it<th class=n>{scaling.unit} at"
            f" {decimal(scaling.numbers[0], 0)}<th class=n>at {last}<th>along {scaling.by}")
    if scaling.design:
        text += f"<th>grows as<th class=n>at {decimal(scaling.next, 0)}"
    text += "<th>context\n"
    for row in rows[:top]:
        if row.lost < LEAST_LOST:
            break
        word = PARTS[row.part]
        text += (f"<tr><td class=n>{decimal(100 * row.lost, 1)} %<td class=n>{decimal(row.first_p, 0) if row.first_p else '&ndash;'}<td class=w>"
                 f'<span class=key style="background:var(--{word})"></span>{word.replace("-", " ")}<td class=n>{decimal(row.context.effort[0], decimals)}'
                 f"<td class=n>{decimal(row.context.effort[-1], decimals)}<td>{spark(scaling, row)}")
        if scaling.design:
            text += f"<td><code>{escaped(row.fit.text())}</code><td class=n>{foretold(row.fit, decimals)}"
        text += f"<td><code>{escaped(label(scaling, row.context, LABEL, True))}</code>\n"
    return text + ("</table></div>" if rows and rows[0].lost >= LEAST_LOST else "</table><p>Nothing grows: the program scales.</p></div>")


def page_of(scaling, top, title, label, foretold):
    title = escaped(title)
    kind, work = ("Weak", "twice as much") if scaling.weak else ("Strong", "as much")
    guess = " Models based on fewer than five different numbers are guesses." if scaling.design and len(scaling.numbers) < ENOUGH else ""
    ideal = [float(value) for value in (scaling.numbers / scaling.numbers[0])]
    per_cent = [100 * float(value) for value in scaling.efficiency]
    return ("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{title}</title><style>{STYLE}</style>\n<h1>{title}</h1><p class=muted>Thread time for different numbers of {scaling.by}. {kind} scaling: with twice the"
            f" {scaling.by} there is {work} to do.{guess}</p><div class=plots>\n"
            + curve_plot(scaling, "Speed-up", [float(value) for value in scaling.speed_up], ideal, "")
            + curve_plot(scaling, "Efficiency", per_cent, [100.0] * len(per_cent), " %") + parts_plot(scaling) + "</div>\n"
            + rows_card(scaling, top, label, foretold) + "</html>\n")
