// The threads over time. A row is one lane or several; each pixel shows the mean of the time and the lanes that it
// covers.
import { h } from "./dom.js";
import { MICRO } from "./format.js";
import { parse } from "./palette.js";
import { niceStep } from "./series.js";
import { clockText } from "./timeline_data.js";
import { prepareCanvas } from "./canvas.js";
import { drawSpan } from "./timeline_view.js";

export const AXIS = 22;
const MOST_HIGH = 26,
    LEAST_HIGH = 7,
    LEAST_APART = 9, // least height of rows that have a gap between them
    HIGH = 448,
    LABEL = 13,
    PHASE = 15,
    ALL = 255,
    TICK = 70;

export class LanePicture {
    constructor(timeline, view) {
        Object.assign(this, { timeline, view, phases: timeline.phases(), gaps: timeline.gaps(), hover: null, cursor: null, span: null, drawn: 0 });
        this.canvas = h("canvas.series-canvas.timeline-canvas", {
            "tabindex": "0",
            "role": "application",
            "aria-label": "Threads over time. Left and right pan, plus and minus zoom, up and down choose a thread, Enter chooses the visible time as the span, Home shows everything, Escape leaves the span.",
            "aria-describedby": "timeline-says",
        });
    }

    show(layer) {
        Object.assign(this, { layer, per: 0, sums: null });
    }

    // Computes the layout. If rows would be too low to be visible, each row shows several lanes.
    layout() {
        const [from, end] = this.view.lanes,
            per = 2 ** Math.max(0, Math.ceil(Math.log2(((end - from) * LEAST_HIGH) / HIGH))),
            first = Math.floor(from / per),
            rows = Math.ceil(end / per) - first;
        const high = Math.max(LEAST_HIGH, Math.min(MOST_HIGH, Math.floor(HIGH / rows)));
        if (per !== this.per) Object.assign(this, { per, sums: this.addUp(per) });
        Object.assign(this, { first, rows, high, bottom: AXIS + rows * high });
        this.height = this.bottom + this.phases.length * PHASE + (this.phases.length ? 4 : 1);
    }

    // Returns prefix sums of the shares for each row and part. The mean over any time is then a difference of two sums.
    addUp(per) {
        const { lanes, data } = this.timeline,
            { bins, parts, shares } = this.layer,
            rows = Math.ceil(lanes / per),
            made = new Float32Array(rows * parts.length * (bins + 1));
        for (let row = 0; row < rows; row++) {
            const end = Math.min(lanes, (row + 1) * per);
            let threads = 0;
            for (let lane = row * per; lane < end; lane++) threads += data.lanes.threads[lane];
            for (let part = 0; part < parts.length; part++) {
                const at = (row * parts.length + part) * (bins + 1);
                for (let bin = 0; bin < bins; bin++) {
                    let sum = 0;
                    for (let lane = row * per; lane < end; lane++) sum += shares[part][lane * bins + bin] * data.lanes.threads[lane];
                    made[at + bin + 1] = made[at + bin] + sum / Math.max(1, threads) / ALL;
                }
            }
        }
        return made;
    }

    // Returns the mean share of each part of a row between two times.
    shares(row, from, to) {
        const { bins, width, parts } = this.layer,
            { origin } = this.timeline;
        const place = (us) => Math.max(0, Math.min(bins, (us - origin) / width)),
            [a, b] = [place(from), Math.max(place(from) + 1e-6, place(to))];
        return parts.map((_, part) => {
            const at = (row * parts.length + part) * (bins + 1);
            const sum = (of) => {
                const bin = Math.min(bins - 1, Math.floor(of));
                return this.sums[at + bin] + (this.sums[at + bin + 1] - this.sums[at + bin]) * (of - bin);
            };
            return (sum(b) - sum(a)) / (b - a);
        });
    }

    draw() {
        const { view, canvas } = this;
        if (view.plot < 2 || !this.layer) return;
        this.layout();
        const { context, colour, ratio } = prepareCanvas(canvas, view.width, this.height);
        this.drawLanes(context, colour, ratio);
        this.drawAxis(context, colour);
        this.drawNames(context, colour);
        this.drawPhases(context, colour);
        this.drawGaps(context, colour);
        drawSpan(context, colour, view, [AXIS, this.height], this.span);
        this.drawMarks(context, colour);
        this.drawn++;
    }

    // Returns for each column of pixels its first bin, the fraction of that bin, and whether it lies in the same bin as
    // the column before.
    columns(wide) {
        const { view, timeline } = this,
            { bins, width } = this.layer,
            made = { bin: new Int32Array(wide + 1), part: new Float32Array(wide + 1), each: new Float32Array(wide), same: new Uint8Array(wide) };
        let before = 0;
        for (let x = 0; x <= wide; x++) {
            const us = view.from + (x / wide) * (view.to - view.from),
                at = Math.max(0, Math.min(bins, (us - timeline.origin) / width));
            made.bin[x] = Math.min(bins - 1, Math.floor(at));
            made.part[x] = at - made.bin[x];
            if (x) made.each[x - 1] = at > before ? 1 / (at - before) : 0;
            if (x > 1) made.same[x - 1] = made.bin[x] === made.bin[x - 2];
            before = at;
        }
        return made;
    }

    drawLanes(context, colour, ratio) {
        const { view, layer, high } = this,
            wide = Math.max(1, Math.round(view.plot * ratio)),
            tall = Math.max(1, Math.round(high * ratio)),
            gap = high >= LEAST_APART ? Math.round(ratio) : 0;
        const hues = layer.parts.map((part) => parse(colour(part.colour))),
            paper = parse(colour("--card")),
            columns = this.columns(wide),
            image = context.createImageData(wide, Math.round(this.rows * high * ratio)),
            pixels = new Uint32Array(image.data.buffer),
            words = hues.map((hue) => word(...hue)),
            none = word(...paper),
            shares = new Float32Array(hues.length * wide);
        for (let row = 0; row < this.rows; row++) {
            this.sharesOf(this.first + row, columns, wide, shares);
            stack(pixels, Math.round(row * high * ratio) * wide, wide, tall - gap, shares, columns.same, words, none);
        }
        context.putImageData(image, Math.round(view.left * ratio), Math.round(AXIS * ratio));
    }

    // Writes the share of each part into `shares`, for each column of pixels.
    sharesOf(row, { bin, part, each, same }, wide, shares) {
        const { sums } = this,
            { bins, parts } = this.layer,
            many = parts.length;
        for (let of = 0; of < many; of++) {
            const at = (row * many + of) * (bins + 1),
                sum = (x) => sums[at + bin[x]] + (sums[at + bin[x] + 1] - sums[at + bin[x]]) * part[x];
            for (let x = 0; x < wide; x++) if (!same[x]) shares[x * many + of] = (sum(x + 1) - sum(x)) * each[x];
        }
    }

    drawAxis(context, colour) {
        const { view } = this,
            step = niceStep((view.to - view.from) * MICRO, Math.max(1, view.plot / TICK)) / MICRO;
        this.step = step;
        context.textBaseline = "middle";
        context.textAlign = "left";
        for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
            const x = Math.round(view.x(i * step));
            context.fillStyle = colour("--faint");
            context.fillRect(x, AXIS - 6, 1, 6);
            context.fillStyle = colour("--muted");
            const text = `${clockText(i * step, step)} s`;
            if (x + 4 + context.measureText(text).width <= view.width) context.fillText(text, x + 4, AXIS - 10);
        }
        context.fillStyle = colour("--rule");
        context.fillRect(view.left, AXIS - 1, view.plot, 1);
    }

    drawNames(context, colour) {
        const { view, high, per, timeline } = this,
            whose = (lane) => timeline.names[lane].replace(/thread .*/, "");
        let free = 0;
        context.fillStyle = colour("--muted");
        context.textAlign = "right";
        context.textBaseline = "middle";
        for (let row = 0; row < this.rows; row++) {
            const lane = (this.first + row) * per,
                begins = lane === 0 || whose(lane) !== whose(lane - per),
                y = AXIS + row * high + high / 2;
            if (row && (y < free || (timeline.job && !begins && high < LABEL))) continue;
            const name = timeline.names[lane].replace(/, thread 0$/, "");
            context.fillText(row && !begins ? name.replace(/.*thread /, "") : name, view.left - 8, Math.max(y, AXIS + 6), view.left - 12);
            free = y + LABEL;
        }
    }

    drawPhases(context, colour) {
        const { view, timeline } = this;
        this.phases.forEach(({ name, marks }, i) => {
            const y = this.bottom + 3 + i * PHASE;
            context.textAlign = "right";
            context.fillStyle = colour("--muted");
            context.fillText(name, view.left - 8, y + PHASE / 2, view.left - 12);
            context.textAlign = "left";
            const place = ([first, end]) => [Math.max(view.left, view.x(timeline.time(first))), Math.min(view.left + view.plot, view.x(timeline.time(end)))];
            context.fillStyle = colour("--kind-phase");
            marks.forEach((mark, of) => {
                const [from, to] = place(mark);
                context.globalAlpha = of % 2 ? 0.45 : 0.75;
                if (to > from) context.fillRect(from, y + 1, to - from, PHASE - 3);
            });
            context.globalAlpha = 1;
            context.fillStyle = colour("--ink");
            let free = -Infinity;
            for (const mark of marks) {
                const [from, to] = place(mark),
                    text = mark[2] === null ? "" : String(mark[2]),
                    wide = context.measureText(text).width;
                if (!text || from < free || to - from <= wide + 4) continue;
                context.fillText(text, from + 2, y + PHASE / 2);
                free = from + wide + 8;
            }
        });
    }

    drawGaps(context, colour) {
        const { view } = this;
        context.textAlign = "center";
        for (const [begin, end, why] of this.gaps) {
            const from = Math.max(view.left, view.x(begin)),
                to = Math.min(view.left + view.plot, view.x(end)),
                wide = context.measureText(why).width + 10;
            if (to - from < wide) continue;
            const y = AXIS + Math.min(this.rows * this.high, 60) / 2;
            context.fillStyle = colour("--card");
            context.fillRect((from + to - wide) / 2, y - 8, wide, 16);
            context.fillStyle = colour("--ink");
            context.fillText(why, (from + to) / 2, y);
        }
    }

    drawMarks(context, colour) {
        const { view, hover, cursor, high } = this;
        context.strokeStyle = colour("--ink");
        context.lineWidth = 1;
        if (cursor !== null && cursor >= this.first && cursor < this.first + this.rows && document.activeElement === this.canvas)
            context.strokeRect(view.left - 0.5, AXIS + (cursor - this.first) * high - 0.5, view.plot + 1, Math.max(3, high));
        if (hover === null) return;
        context.fillStyle = colour("--ink");
        context.fillRect(Math.round(view.x(hover)), AXIS - 5, 1, this.height - AXIS + 5);
    }

    // Returns the row of lanes at a height, -1 if there is none.
    rowAt(y) {
        const row = Math.floor((y - AXIS) / this.high);
        return row >= 0 && row < this.rows ? this.first + row : -1;
    }

    lanesOf(row) {
        return [row * this.per, Math.min(this.timeline.lanes, (row + 1) * this.per)];
    }
}

const word = (r, g, b) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

// Fills each column of pixels with the parts' colours, from the bottom up.
function stack(pixels, at, wide, tall, shares, same, words, none) {
    const many = words.length,
        foot = at + (tall - 1) * wide;
    for (let x = 0; x < wide; x++) {
        let place = foot + x,
            y = 0,
            sum = 0;
        if (same[x]) {
            for (; y < tall; y++, place -= wide) pixels[place] = pixels[place - 1];
            continue;
        }
        for (let part = 0; part < many; part++) {
            const share = shares[x * many + part];
            if (share <= 0) continue;
            sum += share;
            for (const top = Math.min(tall, (sum * tall + 0.5) | 0); y < top; y++, place -= wide) pixels[place] = words[part];
        }
        for (; y < tall; y++, place -= wide) pixels[place] = none;
    }
}
