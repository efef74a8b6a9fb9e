// The chart below the threads: the number of threads that idled or waited for locks, stacked by the context that is to
// blame.
import { h } from "./dom.js";
import { niceStep, scaleText } from "./series.js";
import { prepareCanvas } from "./canvas.js";
import { drawSpan } from "./timeline_view.js";

const HEIGHT = 150,
    TOP = 8,
    BOTTOM = 8;

export class AreaPicture {
    constructor(timeline, view) {
        Object.assign(this, { timeline, view, hover: null, span: null, culprits: [] });
        this.canvas = h("canvas.series-canvas.timeline-canvas", {
            "tabindex": "0",
            "role": "application",
            "aria-label": "Idle threads over time by who is to blame. Keys as in the picture above.",
            "aria-describedby": "timeline-says",
        });
    }

    show(culprits) {
        const { timeline } = this;
        this.culprits = culprits;
        this.most = 0;
        for (let bin = 0; bin < timeline.bins; bin++) {
            const sum = culprits.reduce((all, { us }) => all + Math.max(0, us[bin]), 0);
            this.most = Math.max(this.most, sum / timeline.width(bin));
        }
    }

    draw() {
        const { view, canvas } = this;
        if (view.plot < 2) return;
        const { context, colour } = prepareCanvas(canvas, view.width, HEIGHT);
        this.drawScale(context, colour);
        this.drawAreas(context, colour);
        drawSpan(context, colour, view, [TOP, HEIGHT - BOTTOM], this.span);
        if (this.hover === null) return;
        context.fillStyle = colour("--ink");
        context.fillRect(Math.round(view.x(this.hover)), TOP, 1, HEIGHT - BOTTOM - TOP);
    }

    y(threads) {
        return HEIGHT - BOTTOM - (threads / Math.max(this.most, 1e-9)) * (HEIGHT - BOTTOM - TOP);
    }

    drawScale(context, colour) {
        const { view, timeline } = this,
            step = niceStep(Math.max(this.most, 1e-3), 3);
        context.textBaseline = "middle";
        context.textAlign = "right";
        for (let i = 0; i * step <= this.most * 1.0001; i++) {
            const y = Math.round(this.y(i * step));
            context.fillStyle = colour("--rule");
            context.fillRect(view.left, y, view.plot, 1);
            context.fillStyle = colour("--muted");
            const text = scaleText(i * step, step);
            context.fillText(i ? text : `0 ${timeline.unit}`, view.left - 8, y, view.left - 10);
        }
    }

    // Draws each bin as a block of its full width, because values within a bin are unknown.
    drawAreas(context, colour) {
        const { view, timeline, culprits } = this,
            first = timeline.binAt(view.from),
            last = timeline.binAt(view.to),
            foot = new Float64Array(timeline.bins);
        for (const { us, colour: hue } of culprits) {
            context.fillStyle = colour(hue);
            context.beginPath();
            for (let bin = first; bin <= last; bin++) {
                const threads = Math.max(0, us[bin]) / timeline.width(bin);
                if (threads > 0) {
                    const from = Math.max(view.left, view.x(timeline.time(bin))),
                        to = Math.min(view.left + view.plot, view.x(timeline.time(bin + 1))),
                        top = this.y(foot[bin] + threads);
                    context.rect(from, top, to - from, this.y(foot[bin]) - top);
                }
                foot[bin] += threads;
            }
            context.fill();
        }
    }
}
