// The executions of a phase in order, on a canvas: thread time as stacked bars, clock time as a line. If there are more
// executions than bars, a bar shows the mean of several, and the line also shows their least and most.
import { prepareCanvas } from "./canvas.js";
import { h, once } from "./dom.js";
import { MICRO, count, plural } from "./format.js";
import { metricVariable } from "./palette.js";

const HEIGHT = 220,
    LEFT = 62,
    RIGHT = 14,
    RIGHT_SCALE = 62,
    TOP = 22,
    BOTTOM = 22,
    LEAST_BAR = 4,
    LEAST_WHISKER = 8,
    PAGE = 10;
const SUMS = ["instances", "executions", "seconds"];

// Returns the step between the lines of a scale: 1, 2 or 5 times a power of ten.
export function niceStep(most, steps) {
    const rough = most / steps,
        power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10);
}

export function scaleText(value, step) {
    if (step >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
    return step >= 1 ? count(value) : value.toFixed(Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)));
}

export class Series {
    constructor(model, phases, go, tip) {
        Object.assign(this, { model, phases, go, tip, phase: phases[0], cursor: -1, hovered: -1, bars: [] });
        this.parts = [...model.shownOwn, ...model.shownIdle];
        this.events = model.metric("work").unit === "events";
        this.select = h(
            "select",
            { "aria-label": "Phase of the series", "onchange": () => this.show(phases[this.select.selectedIndex]) },
            phases.map(({ name, instances }) => h("option", null, `${name}: ${plural(instances, "execution")}`)),
        );
        this.canvas = h("canvas.series-canvas", {
            "tabindex": "0",
            "role": "application",
            "aria-describedby": "series-says",
        });
        this.says = h("p.series-says", { "id": "series-says", "aria-live": "polite" });
        this.whisker = h("span.legend-item", { hidden: true }, h("span.swatch.whisker"), "error (95\u2009%) of where idleness starts");
        const swatch = (key) => h("span.swatch", { style: { background: `var(${metricVariable(key)})` } });
        this.element = h(
            "div.series",
            null,
            h(
                "div.bar",
                null,
                h("h3", null, "Execution by execution"),
                phases.length > 1 ? this.select : null,
                h("span.filler"),
                h(
                    "div.legend",
                    null,
                    this.parts.map((key) => h("span.legend-item", null, swatch(key), key)),
                    h("span.legend-item", null, h("span.swatch.line"), "exact seconds"),
                    this.whisker,
                ),
            ),
            h("div.series-frame", null, this.canvas),
            this.says,
        );
        this.redraw = once(() => this.draw());
        new ResizeObserver(this.redraw).observe(this.element);
        this.connect();
        this.show(phases[0]);
    }

    show(phase) {
        this.phase = phase;
        this.cursor = this.hovered = -1;
        this.barsFor = 0;
        this.canvas.setAttribute(
            "aria-label",
            `${phase.name}, ${plural(phase.instances, "execution")}: arrows move, s is the slowest, Enter shows one in the tree.`,
        );
        this.says.textContent = "";
        this.redraw();
    }

    // Makes as many bars as are wide enough to be visible.
    makeBars(width) {
        const { series } = this.phase,
            points = series.first.length,
            wanted = Math.max(1, Math.min(points, Math.floor(width / LEAST_BAR)));
        if (this.barsFor === wanted) return;
        this.barsFor = wanted;
        const sums = [...SUMS, ...this.parts];
        this.bars = Array.from({ length: wanted }, (_, at) => {
            const from = Math.floor((at * points) / wanted),
                end = Math.floor(((at + 1) * points) / wanted);
            const bar = { first: series.first[from], last: series.last[end - 1], min: Infinity, max: -1 };
            for (const key of sums) bar[key] = 0;
            for (let i = from; i < end; i++) {
                for (const key of sums) bar[key] += series[key][i];
                bar.min = Math.min(bar.min, series.min[i]);
                if (series.max[i] > bar.max)
                    Object.assign(bar, { max: series.max[i], slowest: series.slowest[i], row: series.row[i] });
            }
            bar.height = this.parts.reduce((sum, key) => sum + Math.max(0, bar[key]), 0) / bar.instances;
            return bar;
        });
        this.slowest = this.bars.reduce((best, bar, i) => (bar.max > this.bars[best].max ? i : best), 0);
        this.cursor = Math.min(this.cursor, this.bars.length - 1);
    }

    // Returns the tops of the scales. Events and seconds have a scale each; thread time and clock time share one.
    scales() {
        const highest = Math.max(...this.bars.map((bar) => bar.height), 1),
            longest = Math.max(...this.bars.map((bar) => bar.max), 1);
        if (this.events) return { stack: highest, line: longest };
        return { stack: Math.max(highest, longest), line: Math.max(highest, longest) };
    }

    prepare() {
        const width = this.canvas.parentElement.clientWidth,
            { context, colour } = prepareCanvas(this.canvas, width, HEIGHT);
        this.colour = colour;
        this.plot = { left: LEFT, width: width - LEFT - (this.events ? RIGHT_SCALE : RIGHT), bottom: HEIGHT - BOTTOM };
        return context;
    }

    draw() {
        if (this.element.clientWidth < LEFT + RIGHT_SCALE + LEAST_BAR) return;
        const context = this.prepare();
        this.makeBars(this.plot.width);
        this.top = this.scales();
        const unit = this.events ? "events" : "s";
        this.drawScale(context, this.top.stack, false, unit);
        if (this.events) this.drawScale(context, this.top.line, true, "s");
        this.drawNumbers(context);
        for (const [i, bar] of this.bars.entries()) this.drawBar(context, bar, i);
        this.drawErrors(context);
        this.drawLine(context);
        this.drawSlowest(context);
    }

    x(index) {
        return this.plot.left + (index * this.plot.width) / this.bars.length;
    }

    y(value, most) {
        return this.plot.bottom - (value / most) * (this.plot.bottom - TOP);
    }

    drawScale(context, most, right, unit) {
        const { left, width } = this.plot,
            step = niceStep(most * MICRO, 4);
        context.textBaseline = "middle";
        context.textAlign = right ? "left" : "right";
        const x = right ? left + width + 6 : left - 6;
        for (let i = 0; i * step <= most * MICRO * 1.0001; i++) {
            const value = i * step,
                y = this.y(value / MICRO, most);
            if (!right) {
                context.fillStyle = this.colour("--rule");
                context.fillRect(left, Math.round(y), width, 1);
            }
            context.fillStyle = this.colour("--muted");
            context.fillText(scaleText(value, step), x, y);
        }
        context.fillText(unit, x, 8);
    }

    drawNumbers(context) {
        const { bars } = this,
            marks = Math.max(1, Math.min(8, bars.length - 1));
        context.textBaseline = "top";
        context.fillStyle = this.colour("--muted");
        for (let i = 0; i <= marks; i++) {
            const at = Math.round((i * (bars.length - 1)) / marks);
            context.textAlign = i === 0 ? "left" : i === marks ? "right" : "center";
            context.fillText(
                `[${bars[at].first}]`,
                i === 0 ? this.x(0) : i === marks ? this.x(bars.length) : (this.x(at) + this.x(at + 1)) / 2,
                HEIGHT - BOTTOM + 6,
            );
        }
    }

    drawBar(context, bar, index) {
        const x = this.x(index),
            wide = this.x(index + 1) - x,
            inner = Math.max(1, wide - (wide > 6 ? 2 : 1));
        if (index === this.hovered || index === this.cursor) {
            context.fillStyle = this.colour("--selected");
            context.fillRect(x, TOP, wide, this.plot.bottom - TOP);
        }
        let below = 0;
        for (const key of this.parts) {
            const value = Math.max(0, bar[key]) / bar.instances,
                top = this.y(below + value, this.top.stack);
            context.fillStyle = this.colour(metricVariable(key));
            context.fillRect(x, top, inner, this.y(below, this.top.stack) - top);
            below += value;
        }
    }

    // Draws the error of the border between busy and idle time in each bar. The duration of an execution has no error:
    // it comes from the clock.
    drawErrors(context) {
        const { bars } = this,
            wide = this.plot.width / bars.length,
            cap = Math.min(4, wide / 4);
        this.whisker.hidden = wide < LEAST_WHISKER || !this.model.data.error || !this.model.shownIdle.length;
        if (this.whisker.hidden) return;
        context.strokeStyle = this.colour("--ink");
        context.lineWidth = 1;
        context.beginPath();
        bars.forEach((bar, i) => {
            if (!(bar.idleness > 0)) return;
            const error = this.model.error("idleness", bar.idleness);
            const busy = bar.height - bar.idleness / bar.instances,
                x = Math.round(this.x(i) + wide / 4) + 0.5;
            const [low, high] = [-error, error].map((by) =>
                this.y(Math.max(0, Math.min(bar.height, busy + by / bar.instances)), this.top.stack),
            );
            context.moveTo(x, low);
            context.lineTo(x, high);
            for (const y of [low, high]) {
                context.moveTo(x - cap, y);
                context.lineTo(x + cap, y);
            }
        });
        context.stroke();
    }

    // Draws the mean of each bar, and a line from its least to its most.
    drawLine(context) {
        const { bars } = this;
        context.strokeStyle = this.colour("--ink");
        context.lineWidth = 1;
        context.globalAlpha = 0.45;
        context.beginPath();
        bars.forEach((bar, i) => {
            if (bar.max <= bar.min) return;
            const x = (this.x(i) + this.x(i + 1)) / 2;
            context.moveTo(x, this.y(bar.min, this.top.line));
            context.lineTo(x, this.y(bar.max, this.top.line));
        });
        context.stroke();
        context.globalAlpha = 1;
        context.lineWidth = 1.5;
        context.beginPath();
        bars.forEach((bar, i) => {
            const x = (this.x(i) + this.x(i + 1)) / 2;
            context[i ? "lineTo" : "moveTo"](x, this.y(bar.seconds / bar.instances, this.top.line));
        });
        context.stroke();
    }

    drawSlowest(context) {
        const bar = this.bars[this.slowest],
            x = (this.x(this.slowest) + this.x(this.slowest + 1)) / 2,
            y = TOP - 5;
        context.fillStyle = this.colour("--accent");
        context.fillRect(Math.round(x), y, 1, this.y(bar.max, this.top.line) - y);
        context.beginPath();
        context.moveTo(x, y + 3);
        context.lineTo(x - 5, y - 5);
        context.lineTo(x + 5, y - 5);
        context.fill();
        const text = `slowest: [${bar.slowest}] ${this.seconds(bar.max)} s`,
            wide = context.measureText(text).width,
            before = x + 8 + wide > this.plot.left + this.plot.width;
        context.textBaseline = "middle";
        context.textAlign = before ? "right" : "left";
        context.fillStyle = this.colour("--ink");
        context.fillText(text, before ? x - 8 : x + 8, y - 3);
    }

    // Returns the number of decimals that gives the slowest execution four digits.
    get decimals() {
        return Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(1, this.phase.max) * MICRO))));
    }

    seconds(value) {
        return (value * MICRO).toFixed(this.decimals);
    }

    // Returns [name, value] for everything that a bar shows.
    facts(bar) {
        const each = bar.instances > 1 ? " (mean)" : "",
            { model } = this;
        const facts = [[`exact${each}`, `${this.seconds(bar.seconds / bar.instances)} s`]];
        if (bar.instances > 1)
            facts.push(
                ["fastest", `${this.seconds(bar.min)} s`],
                ["slowest", `[${bar.slowest}] ${this.seconds(bar.max)} s`],
            );
        for (const key of this.parts) {
            const value = Math.max(0, bar[key]),
                error = value && model.error(key, value) / bar.instances;
            facts.push([
                `${key}${each}`,
                model.stated(model.metric(key), value / bar.instances, error || null, this.decimals),
            ]);
        }
        return facts;
    }

    title(bar) {
        const numbers = bar.first === bar.last ? `[${bar.first}]` : `[${bar.first}] to [${bar.last}]`;
        const slowest = this.bars[this.slowest] === bar && bar.instances === 1 ? ", the slowest" : "";
        return `${this.phase.name} ${numbers}${slowest}`;
    }

    tell(index, x, y) {
        const bar = this.bars[index];
        this.tip.showContent(
            [
                h("div.tip-name", null, this.title(bar)),
                h(
                    "div.tip-facts",
                    null,
                    [
                        bar.instances > 1 && plural(bar.instances, "execution"),
                        bar.executions > bar.instances && `started ${count(bar.executions)} times`,
                        bar.row >= 0 && "click to show the row in the tree",
                    ]
                        .filter(Boolean)
                        .join(" · "),
                ),
                h(
                    "table",
                    null,
                    h(
                        "tbody",
                        null,
                        this.facts(bar).map(([name, text]) =>
                            h("tr", null, h("th", { scope: "row" }, name), h("td", null, text)),
                        ),
                    ),
                ),
            ],
            x,
            y,
        );
    }

    at(event) {
        const box = this.canvas.getBoundingClientRect(),
            part = (event.clientX - box.left - this.plot.left) / this.plot.width;
        return part >= 0 && part < 1 ? Math.floor(part * this.bars.length) : -1;
    }

    connect() {
        const { canvas, tip } = this;
        const hover = (index) => {
            if (index !== this.hovered) this.redraw();
            this.hovered = index;
            canvas.style.cursor = index >= 0 ? "pointer" : "default";
        };
        canvas.addEventListener("pointermove", (event) => {
            const index = this.at(event);
            hover(index);
            if (index >= 0) this.tell(index, event.clientX, event.clientY);
            else tip.hide();
        });
        const leave = () => {
            hover(-1);
            tip.hide();
        };
        canvas.addEventListener("pointerleave", leave);
        canvas.addEventListener("click", (event) => {
            const index = this.at(event);
            if (index >= 0) this.choose(index);
        });
        canvas.addEventListener("keydown", (event) => this.onKey(event));
        canvas.addEventListener("blur", () => {
            this.cursor = -1;
            leave();
            this.redraw();
        });
    }

    choose(index) {
        if (this.bars[index].row < 0) return;
        this.tip.hide();
        this.go(this.bars[index].row);
    }

    onKey(event) {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const last = this.bars.length - 1,
            begun = this.cursor >= 0;
        const moves = {
            ArrowLeft: this.cursor - 1,
            ArrowRight: this.cursor + 1,
            PageUp: this.cursor - PAGE,
            PageDown: this.cursor + PAGE,
            Home: 0,
            End: last,
            s: this.slowest,
        };
        if (event.key === "Enter" && begun) this.choose(this.cursor);
        else if (event.key in moves) {
            const first = !begun && event.key.startsWith("Arrow");
            this.cursor = first ? this.slowest : Math.max(0, Math.min(last, moves[event.key]));
            this.moved();
        } else return;
        event.preventDefault();
        event.stopPropagation();
    }

    moved() {
        const bar = this.bars[this.cursor];
        this.says.textContent = `${this.title(bar)}: ${this.facts(bar)
            .map(([name, text]) => `${name} ${text}`)
            .join(", ")}`;
        this.redraw();
    }
}
