// What happens along an average execution of a phase: threads at work, idle or waiting for locks, by code, and how sure that is.
import { choice, h, once } from "./dom.js";
import { MICRO, baseName, middle, oneLine, percent, plural } from "./format.js";
import { niceStep, scaleText } from "./series.js";
import { prepareCanvas } from "./canvas.js";

const HEIGHT = 190,
    LEFT = 76,
    RIGHT = 14,
    TOP = 10,
    BOTTOM = 24,
    WIDTHS = [1, 2, 3, 4, 6, 10, 20], // of the data's bins, that are drawn as one
    LEAST_SAMPLES = 8,
    PAGE = 10,
    NAME = 40;
const TITLES = { "work": "at work", "idleness": "idle, by blame", "lock wait": "waiting for a lock" };

// Seconds as they suit executions of that length.
function unitOf(us) {
    return us >= 1e6 ? [1e6, "s"] : us >= 1e3 ? [1e3, "ms"] : [1, "µs"];
}

export class FoldPicture {
    constructor(model, folds, tip) {
        Object.assign(this, { model, folds, tip, fold: folds[0], hovered: -1, cursor: -1 });
        this.select = h(
            "select",
            { "aria-label": "Phase of the average execution", "onchange": () => this.show({ fold: folds[this.select.selectedIndex] }) },
            folds.map((fold) => h("option", null, `${this.text(fold.name)}: ${plural(fold.executions, "execution")}${fold.outliers ? " of unusual length" : ""}`)),
        );
        this.keys = choice(
            "What is shown along the execution",
            Object.entries(TITLES).filter(([key]) => folds.some((fold) => this.any(fold, key))).map(([key, title]) => [key, title, `Threads ${title}`]),
            (key) => this.show({ key }),
        );
        this.canvas = h("canvas.series-canvas", { "tabindex": "0", "role": "application", "aria-describedby": "fold-says" });
        this.says = h("p.series-says", { "id": "fold-says", "aria-live": "polite" });
        this.legend = h("div.legend");
        this.frame = h("div.series-frame", null, this.canvas);
        this.element = h(
            "div.fold",
            null,
            h("div.bar", null, h("h3", null, "Along an average execution"), folds.length > 1 ? this.select : null, this.keys.element, h("span.filler"), this.legend),
            this.frame,
            this.says,
        );
        this.redraw = once(() => this.draw());
        new ResizeObserver(this.redraw).observe(this.frame);
        this.connect();
        this.show({ key: "work" });
    }

    text(string) {
        return oneLine(this.model.strings[string] ?? "");
    }

    any(fold, key) {
        return fold.metrics.find((metric) => metric.key === key).us.some((us) => us > 0);
    }

    show(changes) {
        Object.assign(this, changes, { cursor: -1, hovered: -1 });
        const { fold, key } = this,
            metric = fold.metrics.find((of) => of.key === key);
        this.metric = metric;
        // So many bins that some samples are in each.
        const least = LEAST_SAMPLES * metric.us.length;
        this.each = WIDTHS.find((wide) => wide * fold.samples >= least) ?? WIDTHS.at(-1);
        const add = (values, square = false) =>
            Array.from({ length: values.length / this.each }, (_, bin) => {
                const of = values.slice(bin * this.each, (bin + 1) * this.each);
                return this.threads(square ? Math.hypot(...of) : of.reduce((sum, us) => sum + us, 0));
            });
        this.sums = add(metric.us);
        this.errors = add(metric.error, true);
        this.withoutCore = metric.no_core ? add(metric.no_core) : null;
        const titles = this.titles(metric.rows);
        this.parts = metric.rows.map((row, i) => ({ title: titles[i], colour: `--category-${i + 1}`, threads: add(row.us) }));
        const others = this.sums.map((sum, bin) => sum - this.parts.reduce((all, { threads }) => all + threads[bin], 0));
        if (others.some((of) => of > 0.001)) this.parts.push({ title: "other", colour: "--category-other", threads: others });
        this.most = this.sums.reduce((most, sum, bin) => Math.max(most, sum + this.errors[bin]), 1e-6);
        this.keys.show(key);
        this.canvas.setAttribute("aria-label", `Threads ${TITLES[key]} along an average execution of ${this.text(fold.name)}: arrows move.`);
        this.legend.replaceChildren(
            ...this.parts.map(({ title, colour }) => h("span.legend-item", { title }, h("span.swatch", { style: { background: `var(${colour})` } }), middle(title, NAME))),
            h("span.legend-item", null, h("span.swatch.whisker"), "95\u2009% of all"),
        );
        this.say();
        this.redraw();
    }

    // Those that are called alike, with their callers.
    titles(rows) {
        const short = rows.map(({ name, file, line }) => [this.text(name), file && `${baseName(this.text(file))}${line > 0 ? `:${line}` : ""}`].filter(Boolean).join(" "));
        return rows.map(({ callers }, i) => (short.indexOf(short[i]) === short.lastIndexOf(short[i]) ? short[i] : [short[i], ...callers.map((of) => this.text(of))].join(" < ")));
    }

    // So many on average, of the time of all executions in one of the drawn bins.
    threads(us) {
        const { executions, mean, metrics } = this.fold;
        return us / ((executions * mean * this.each) / metrics[0].us.length);
    }

    get unit() {
        return this.model.unit === "s" ? "threads" : "events/s";
    }

    x(bin) {
        return LEFT + (bin / this.sums.length) * (this.canvas.parentElement.clientWidth - LEFT - RIGHT);
    }

    y(threads) {
        return HEIGHT - BOTTOM - (Math.max(0, threads) / this.most) * (HEIGHT - BOTTOM - TOP);
    }

    draw() {
        const width = this.frame.clientWidth;
        if (width < LEFT + RIGHT + 20) return;
        const { context, colour } = prepareCanvas(this.canvas, width, HEIGHT);
        this.drawScales(context, colour, width);
        const foot = this.sums.map(() => 0);
        for (const { threads, colour: hue } of this.parts) {
            context.fillStyle = colour(hue);
            threads.forEach((of, bin) => {
                const top = this.y(foot[bin] + Math.max(0, of));
                context.fillRect(this.x(bin), top, this.x(bin + 1) - this.x(bin), this.y(foot[bin]) - top);
                foot[bin] += Math.max(0, of);
            });
        }
        context.fillStyle = colour("--ink");
        this.sums.forEach((sum, bin) => {
            const [high, low, middle] = [this.y(sum + this.errors[bin]), this.y(sum - this.errors[bin]), Math.round((this.x(bin) + this.x(bin + 1)) / 2)];
            if (!this.errors[bin]) return;
            context.globalAlpha = 0.55;
            context.fillRect(middle, high, 1, low - high);
            context.fillRect(middle - 1, high, 3, 1);
            context.fillRect(middle - 1, low, 3, 1);
            context.globalAlpha = 1;
        });
        const marked = this.hovered >= 0 ? this.hovered : this.cursor;
        if (marked < 0) return;
        context.strokeStyle = colour("--ink");
        context.strokeRect(this.x(marked) - 0.5, TOP - 4.5, this.x(marked + 1) - this.x(marked) + 1, HEIGHT - BOTTOM - TOP + 5);
    }

    drawScales(context, colour, width) {
        const step = niceStep(this.most, 3),
            [divisor, unit] = unitOf(this.fold.mean),
            length = this.fold.mean / divisor,
            along = niceStep(length, Math.max(1, (width - LEFT - RIGHT) / 100));
        context.textBaseline = "middle";
        context.textAlign = "right";
        for (let i = 0; i * step <= this.most * 1.0001; i++) {
            context.fillStyle = colour("--rule");
            context.fillRect(LEFT, Math.round(this.y(i * step)), width - LEFT - RIGHT, 1);
            context.fillStyle = colour("--muted");
            context.fillText(i ? scaleText(i * step, step) : `0 ${this.unit}`, LEFT - 8, this.y(i * step));
        }
        context.textAlign = "left";
        for (let i = 0; i * along <= length; i++) {
            const x = this.x(((i * along) / length) * this.sums.length),
                text = `${scaleText(i * along, along)} ${unit}`;
            context.fillStyle = colour("--faint");
            context.fillRect(Math.round(x), HEIGHT - BOTTOM, 1, 5);
            context.fillStyle = colour("--muted");
            if (x + 4 + context.measureText(text).width <= width) context.fillText(text, x + 4, HEIGHT - BOTTOM + 11);
        }
    }

    // [title, threads, colour] of what is in a bin, the most first.
    facts(bin) {
        return this.parts
            .map(({ title, threads, colour }) => [title, threads[bin], colour])
            .filter(([, threads]) => threads >= 0.005)
            .sort((a, b) => b[1] - a[1]);
    }

    place(bin) {
        const { mean } = this.fold,
            [divisor, unit] = unitOf(mean),
            part = (of) => ((of / this.sums.length) * mean) / divisor;
        return `${percent(bin / this.sums.length, 0)} to ${percent((bin + 1) / this.sums.length, 0)} % of the execution, ${part(bin).toFixed(2)} to ${part(bin + 1).toFixed(2)} ${unit}`;
    }

    total(bin) {
        const without = this.withoutCore?.[bin] >= 0.005 ? `, ${this.withoutCore[bin].toFixed(2)} of it without a core` : "";
        return `${this.sums[bin].toFixed(2)} ± ${this.errors[bin].toFixed(2)} ${this.unit} ${TITLES[this.key]}${without}`;
    }

    say() {
        const { fold, cursor } = this,
            kind = fold.outliers ? "executions of unusual length" : "executions";
        this.says.textContent =
            cursor < 0
                ? `${this.text(fold.name)}: ${plural(fold.executions, "execution")} of ${(fold.mean * MICRO).toPrecision(3)} s on average, laid over one another by their ${plural(fold.samples, "sample")}${fold.left_out ? `; ${fold.left_out} ${kind} with a pause in them or without an end are left out` : ""}.`
                : `${this.place(cursor)}: ${this.total(cursor)}: ${this.facts(cursor).map(([title, threads]) => `${title} ${threads.toFixed(2)}`).join(", ") || "none"}`;
    }

    tell(bin, x, y) {
        this.tip.showContent(
            [
                h("div.tip-name", null, this.total(bin)),
                h("div.tip-facts", null, this.place(bin)),
                h(
                    "table",
                    null,
                    h("tbody", null, this.facts(bin).map(([title, threads, colour]) => h("tr", null, h("th", { scope: "row" }, h("span.swatch", { style: { background: `var(${colour})` } }), middle(title, 60)), h("td", null, threads.toFixed(2))))),
                ),
            ],
            x,
            y,
        );
    }

    connect() {
        const { canvas } = this;
        canvas.addEventListener("pointermove", (event) => {
            const box = canvas.getBoundingClientRect(),
                bin = Math.floor(((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * this.sums.length);
            this.hovered = bin >= 0 && bin < this.sums.length ? bin : -1;
            if (this.hovered >= 0) this.tell(bin, event.clientX, event.clientY);
            else this.tip.hide();
            this.redraw();
        });
        canvas.addEventListener("pointerleave", () => {
            this.hovered = -1;
            this.tip.hide();
            this.redraw();
        });
        canvas.addEventListener("blur", () => {
            this.cursor = -1;
            this.say();
            this.redraw();
        });
        canvas.addEventListener("keydown", (event) => {
            const last = this.sums.length - 1,
                moves = { ArrowLeft: this.cursor - 1, ArrowRight: this.cursor + 1, PageUp: this.cursor - PAGE, PageDown: this.cursor + PAGE, Home: 0, End: last };
            if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in moves)) return;
            this.cursor = Math.max(0, Math.min(last, moves[event.key]));
            this.say();
            this.redraw();
            event.preventDefault();
            event.stopPropagation();
        });
    }
}
