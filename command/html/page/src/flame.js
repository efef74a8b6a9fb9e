// The calling contexts as a flame graph: a box is as wide as its inclusive share of the chosen metric. Drawing visits
// only boxes that are visible, so a large profile costs little more than a small one.
import { h, once } from "./dom.js";
import { Palette } from "./palette.js";
import { middle } from "./format.js";

const BOX = 20,
    GAP = 1,
    BORDERS = 2,
    LEAST = 0.5,
    MOST_HEIGHT = 460,
    TEXT_FROM = 26;

export class Flame {
    constructor(model, state, search, tip) {
        Object.assign(this, { model, state, search, tip, marked: new Set(), hovered: -1, cursor: 0 });
        this.canvas = h("canvas.flame-canvas", {
            "tabindex": "0",
            "role": "application",
            "aria-label": "Calling contexts as a flame graph. Arrows move, Enter zooms in, Escape zooms out.",
            "aria-describedby": "flame-says",
        });
        this.says = h("p.unseen", { "id": "flame-says", "aria-live": "polite" });
        this.sizer = h("div.flame-sizer", null, this.canvas);
        this.scroller = h("div.flame-scroller", null, this.sizer);
        this.crumbs = h("nav.crumbs", { "aria-label": "Zoom" });
        this.legend = h(
            "div.legend",
            { hidden: true },
            model.kindsShown().map((kind) =>
                h("span.legend-item", null, h("span.swatch", { style: { background: `var(--kind-${kind})` } }), kind),
            ),
        );
        this.element = h("div.flame", null, this.crumbs, this.scroller, this.legend, this.says);
        this.palette = new Palette(model);
        this.redraw = once(() => this.draw());
        this.scroller.addEventListener("scroll", this.redraw, { passive: true });
        new ResizeObserver(this.redraw).observe(this.scroller);
    }

    get zoom() {
        return Number(this.state.zoom);
    }

    // Computes the widths. A parent is at least as wide as its children together, even if a metric is negative.
    layout() {
        const { model } = this,
            metric = model.metricIndex.get(this.state.metric);
        if (this.laidOut === metric) return;
        const { count, parent } = model,
            values = model.inclusive[metric];
        const width = new Float64Array(count),
            below = new Float64Array(count),
            start = new Float64Array(count);
        for (let i = count - 1; i >= 0; i--) {
            width[i] = Math.max(0, values[i], below[i]);
            if (i) below[parent[i]] += width[i];
        }
        below.fill(0);
        for (let i = 1; i < count; i++) {
            const above = parent[i];
            start[i] = start[above] + below[above];
            below[above] += width[i];
        }
        Object.assign(this, { width, start, laidOut: metric });
    }

    levels(row) {
        const { model } = this,
            least = (this.width[row] / Math.max(1, this.scroller.clientWidth)) * LEAST;
        let deepest = model.depth[row];
        for (let i = row; i < model.end[row];) {
            if (this.width[i] <= least) i = model.end[i];
            else deepest = Math.max(deepest, model.depth[i++]);
        }
        return deepest - model.depth[row] + 1;
    }

    // Draws everything again after the metric, the zoom, the colours or the size has changed.
    update() {
        this.layout();
        this.palette.prepare(this.state.metric, this.state.colour);
        this.legend.hidden = this.state.colour !== "kind";
        if (this.shown !== `${this.zoom}/${this.laidOut}/${this.scroller.clientWidth}`) {
            this.shown = `${this.zoom}/${this.laidOut}/${this.scroller.clientWidth}`;
            const height = this.levels(this.zoom) * BOX;
            this.sizer.style.height = `${height}px`;
            this.scroller.style.height = `${Math.min(MOST_HEIGHT, Math.max(3 * BOX, height)) + BORDERS}px`;
            this.scroller.scrollTop = 0;
            this.drawCrumbs();
        }
        this.draw();
    }

    drawCrumbs() {
        const { model } = this,
            path = model.path(this.zoom),
            steps = [];
        const step = (row) =>
            h(
                "button.crumb",
                {
                    "type": "button",
                    "title": model.name(row),
                    "onclick": () => this.zoomTo(row),
                    "aria-current": row === this.zoom ? "location" : null,
                },
                row ? middle(model.name(row), 40) : "whole program",
            );
        path.forEach((row, i) => {
            const left = path.length > 8 && i > 1 && i < path.length - 5;
            if (left && i > 2) return;
            if (i) steps.push(h("span.crumb-mark", { "aria-hidden": "true" }, "›"));
            steps.push(left ? h("span.crumb-more", null, `${path.length - 7} more`) : step(row));
        });
        this.crumbs.replaceChildren(...steps);
    }

    resizeCanvas() {
        const width = this.scroller.clientWidth,
            height = this.scroller.clientHeight,
            ratio = devicePixelRatio || 1;
        const { canvas } = this;
        if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
            canvas.style.width = `${width}px`;
            canvas.style.height = `${height}px`;
        }
        const context = canvas.getContext("2d");
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        return { context, width, height };
    }

    draw() {
        if (!this.width || !this.scroller.clientWidth) return;
        if (!this.shown.endsWith(`/${this.scroller.clientWidth}`)) return this.update();
        const { context, width, height } = this.resizeCanvas();
        const { model, zoom } = this,
            top = this.scroller.scrollTop,
            origin = this.start[zoom];
        const scale = this.width[zoom] > 0 ? width / this.width[zoom] : 0;
        context.clearRect(0, 0, width, height);
        context.font = this.palette.font;
        context.textBaseline = "middle";
        const base = model.depth[zoom],
            lastPixel = new Int32Array(Math.ceil(height / BOX) + 3).fill(-1);
        for (let i = zoom; i < model.end[zoom];) {
            const y = (model.depth[i] - base) * BOX - top,
                wide = this.width[i] * scale;
            if (y > height || this.width[i] <= 0) i = model.end[i];
            else {
                const x = (this.start[i] - origin) * scale;
                if (wide < LEAST) {
                    this.drawSliver(context, i, x, y, lastPixel);
                    i = model.end[i];
                } else {
                    if (y > -BOX) this.drawBox(context, i, x, y, wide);
                    i++;
                }
            }
        }
        if (scale === 0) this.drawNothing(context, width);
    }

    // Draws one line for all the boxes at a place that are too narrow to be visible.
    drawSliver(context, row, x, y, lastPixel) {
        const level = Math.floor(y / BOX) + 1,
            pixel = Math.floor(x);
        if (level < 0 || lastPixel[level] === pixel) return;
        lastPixel[level] = pixel;
        context.fillStyle = this.search.matches(row) ? this.palette.match : this.palette.sliver;
        context.fillRect(pixel, y, 1, BOX - GAP);
    }

    drawBox(context, row, x, y, wide) {
        const { palette, search } = this,
            matched = search.matches(row);
        const fill = palette.fill(row),
            inner = Math.max(LEAST, wide - (wide > 3 ? GAP : 0));
        context.globalAlpha = search.flags && !matched ? 0.35 : 1;
        context.fillStyle = fill.colour;
        context.fillRect(x, y, inner, BOX - GAP);
        if (matched) {
            context.fillStyle = palette.match;
            context.fillRect(x, y + BOX - GAP - 3, inner, 3);
        }
        if (wide >= TEXT_FROM) this.drawText(context, row, x, y, wide, fill.text);
        context.globalAlpha = 1;
        if (
            row === this.hovered ||
            this.marked.has(row) ||
            (row === this.cursor && document.activeElement === this.canvas)
        ) {
            context.strokeStyle = palette.mark;
            context.lineWidth = row === this.hovered ? 1 : 2;
            context.strokeRect(x + 1, y + 1, Math.max(1, inner - 2), BOX - GAP - 2);
        }
    }

    drawText(context, row, x, y, wide, colour) {
        const left = Math.max(x, 0) + 5,
            room = Math.min(x + wide, this.scroller.clientWidth) - left - 4;
        const text = this.palette.shorten(context, row ? this.model.name(row) : "whole program", room);
        context.fillStyle = colour;
        context.fillText(text, left, y + (BOX - GAP) / 2 + 0.5);
    }

    drawNothing(context, width) {
        context.fillStyle = this.palette.muted;
        context.fillText(`No ${this.model.metric(this.state.metric).title} was measured here.`, 6, 1.5 * BOX, width);
    }

    // Returns the row whose box is at a point of the canvas, -1 if there is none.
    rowAt(x, y) {
        const { model, zoom } = this,
            scale = this.scroller.clientWidth / this.width[zoom];
        const level = Math.floor((y + this.scroller.scrollTop) / BOX),
            at = this.start[zoom] + x / scale;
        if (level < 0 || !(this.width[zoom] > 0)) return -1;
        let row = zoom;
        while (model.depth[row] - model.depth[zoom] < level) {
            let found = -1;
            for (const child of model.children(row))
                if (at >= this.start[child] && at < this.start[child] + this.width[child]) {
                    found = child;
                    break;
                }
            if (found < 0) return -1;
            row = found;
        }
        return row;
    }

    zoomTo(row) {
        this.cursor = row;
        this.state.set({ zoom: String(row) });
    }

    // Outlines the boxes that belong to the selected row.
    mark(rows) {
        this.marked = new Set(rows);
        this.redraw();
    }
}
