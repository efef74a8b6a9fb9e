// A chart of one figure for all ranks, sorted from the largest value to the smallest.
import { prepareCanvas } from "./canvas.js";
import { h, once } from "./dom.js";
import { MICRO } from "./format.js";
import { metricVariable } from "./palette.js";
import { quantile } from "./ranks_data.js";
import { niceStep, scaleText } from "./series.js";

const HEIGHT = 150,
    LEFT = 62,
    RIGHT = 14,
    TOP = 12,
    BOTTOM = 20;

export class RankCurve {
    constructor(ranks) {
        Object.assign(this, { ranks, marked: -1 });
        this.canvas = h("canvas.series-canvas", { "aria-hidden": "true" });
        this.says = h("p.series-says");
        this.element = h("div.rank-curve", null, h("div.series-frame", null, this.canvas), this.says);
        this.redraw = once(() => this.draw());
        new ResizeObserver(this.redraw).observe(this.element);
    }

    show(key) {
        const { ranks } = this,
            state = ranks.state(key);
        this.key = key;
        this.columns = [...ranks.counting].sort((a, b) => ranks.value(state, b) - ranks.value(state, a) || a - b);
        this.values = this.columns.map((column) => ranks.value(state, column));
        this.place = new Map(this.columns.map((column, place) => [column, place]));
        this.marked = -1;
        this.tell();
        this.redraw();
    }

    // Shows the mean, deviation and quantiles as a sentence.
    tell() {
        const { ranks, values } = this,
            text = (value) => ranks.model.tableFigure(value * MICRO),
            sorted = [...values].reverse();
        if (!values.length) {
            this.says.textContent = "No rank was measured.";
            return;
        }
        this.mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - this.mean) ** 2, 0) / values.length);
        const [quarter, median, three] = [0.25, 0.5, 0.75].map((part) => text(quantile(sorted, part)));
        this.says.textContent =
            `${ranks.model.unit === "s" ? "Seconds" : "Events"} of a rank's threads: mean ${text(this.mean)}, σ ${text(deviation)}; ` +
            `least ${text(sorted[0])} (${ranks.title(this.columns.at(-1))}), quartiles ${quarter}, ${median}, ${three}, ` +
            `most ${text(values[0])} (${ranks.title(this.columns[0])}).`;
    }

    mark(column) {
        const place = this.place?.get(column) ?? -1;
        if (place !== this.marked) this.redraw();
        this.marked = place;
    }

    draw() {
        const { canvas, values } = this,
            width = canvas.parentElement.clientWidth;
        if (!this.key || !values.length || width < LEFT + RIGHT + 1) return;
        const { context, colour } = prepareCanvas(canvas, width, HEIGHT);
        this.plot = { width: width - LEFT - RIGHT, most: Math.max(values[0], 1) };
        this.drawScale(context, colour);
        this.drawValues(context, colour);
    }

    x(place) {
        return LEFT + (place * this.plot.width) / this.values.length;
    }

    y(value) {
        return HEIGHT - BOTTOM - (Math.max(0, value) / this.plot.most) * (HEIGHT - BOTTOM - TOP);
    }

    drawScale(context, colour) {
        const { most, width } = this.plot,
            step = niceStep(most * MICRO, 3);
        context.textBaseline = "middle";
        context.textAlign = "right";
        for (let i = 0; i * step <= most * MICRO * 1.0001; i++) {
            const y = this.y((i * step) / MICRO);
            context.fillStyle = colour("--rule");
            context.fillRect(LEFT, Math.round(y), width, 1);
            context.fillStyle = colour("--muted");
            context.fillText(scaleText(i * step, step), LEFT - 6, y);
        }
        context.textBaseline = "top";
        context.textAlign = "left";
        context.fillText("ranks, largest value first", LEFT, HEIGHT - BOTTOM + 5);
    }

    drawValues(context, colour) {
        const { values, marked } = this,
            foot = this.y(0);
        context.fillStyle = colour(metricVariable(this.key));
        values.forEach((value, place) => {
            const x = this.x(place),
                wide = this.x(place + 1) - x;
            context.fillRect(x, this.y(value), wide >= 4 ? wide - 1 : Math.max(1, wide), foot - this.y(value));
        });
        context.strokeStyle = context.fillStyle = colour("--ink");
        context.lineWidth = 1;
        context.setLineDash([4, 3]);
        context.beginPath();
        context.moveTo(LEFT, Math.round(this.y(this.mean)) + 0.5);
        context.lineTo(LEFT + this.plot.width, Math.round(this.y(this.mean)) + 0.5);
        context.stroke();
        context.setLineDash([]);
        context.textAlign = "right";
        context.textBaseline = "bottom";
        context.fillText("mean", LEFT + this.plot.width, this.y(this.mean) - 2);
        if (marked < 0) return;
        const x = (this.x(marked) + this.x(marked + 1)) / 2;
        context.fillStyle = colour("--accent");
        context.fillRect(Math.round(x) - 1, TOP - 8, 2, foot - TOP + 8);
    }
}
