// The map of a job, on a canvas. Each column is a rank, each row a thread; the colour is the share of the thread's time
// in a state. Ranks that do not fit side by side continue in a band below.
import { prepareCanvas } from "./canvas.js";
import { h, once } from "./dom.js";
import { percent } from "./format.js";
import { shades } from "./palette.js";

const LEFT = 62,
    RIGHT = 14,
    LABEL = 17,
    GAP = 5,
    MOST_LABELLED = 2, // most bands that have labels above their columns; if there are more, each band only has the label of its first rank beside it
    LEAST_BAND = 13,
    LEAST_WIDE = 2,
    MOST_WIDE = 44,
    LEAST_HIGH = 2,
    MOST_HIGH = 16,
    HIGH = 380,
    STEPS = 32,
    PAGE = 10,
    TOPS = [0.05, 0.1, 0.2, 0.5, 1];

export class RankMap {
    constructor(ranks, tip, hovered) {
        Object.assign(this, { ranks, tip, told: hovered, by: "rank", cursor: null, hover: null });
        this.canvas = h("canvas.series-canvas", {
            "tabindex": "0",
            "role": "application",
            "aria-label": "Map of ranks and threads: arrows move, Home and End are the first and the last rank.",
            "aria-describedby": "map-says",
        });
        this.says = h("p.series-says", { "id": "map-says", "aria-live": "polite" });
        this.scale = h("span.map-scale");
        this.most = h("span");
        this.legend = h("div.legend", null, h("span.legend-item", null, "0\u2009% ", this.scale, " ", this.most, " of a thread's time"));
        this.element = h("div", null, h("div.series-frame", null, this.canvas), this.says);
        this.redraw = once(() => this.draw());
        new ResizeObserver(this.redraw).observe(this.element);
        this.connect();
    }

    show(key, by) {
        Object.assign(this, { key, by, order: this.ranks.order(by, key), cursor: null, hover: null });
        const most = this.ranks.state(key).shares.reduce((a, b) => Math.max(a, b), 0);
        this.top = TOPS.find((top) => most <= top * 1.0001) ?? 1;
        this.most.textContent = `${percent(this.top, 0)}\u2009%`;
        this.says.textContent = "";
        this.redraw();
    }

    // Computes the width of a rank, the height of a thread, and the number of ranks side by side.
    layout(width) {
        const { count, threads } = this.ranks,
            room = Math.max(LEAST_WIDE, width - LEFT - RIGHT);
        const wide = Math.max(LEAST_WIDE, Math.min(MOST_WIDE, Math.floor(room / count)));
        const across = Math.max(1, Math.min(count, Math.floor(room / wide))),
            bands = Math.ceil(count / across);
        const high = Math.max(LEAST_HIGH, Math.min(MOST_HIGH, Math.floor(HIGH / (bands * Math.max(1, threads)))));
        const above = bands > MOST_LABELLED ? GAP : LABEL,
            band = Math.max(LEAST_BAND, above + high * threads + (bands > MOST_LABELLED ? 0 : GAP));
        this.at = { wide, high, across, bands, above, band, width, height: bands * band + GAP };
    }

    prepare() {
        const { context, colour } = prepareCanvas(this.canvas, this.at.width, this.at.height);
        this.colour = colour;
        return context;
    }

    draw() {
        const width = this.canvas.parentElement.clientWidth;
        if (!this.key || width < LEFT + RIGHT + LEAST_WIDE) return;
        this.layout(width);
        const context = this.prepare(),
            colours = shades(this.key, STEPS);
        this.scale.style.setProperty("background", `linear-gradient(90deg, ${colours[0]}, ${colours[STEPS]})`);
        this.drawLabels(context);
        this.drawCells(context, colours);
        const marked = this.hover ?? this.cursor;
        if (marked) this.drawMark(context, marked);
    }

    x(place) {
        return LEFT + (place % this.at.across) * this.at.wide;
    }

    y(place, thread) {
        return Math.floor(place / this.at.across) * this.at.band + this.at.above + thread * this.at.high;
    }

    drawCells(context, colours) {
        const { wide, high } = this.at,
            { threads } = this.ranks,
            { shares } = this.ranks.state(this.key);
        const inner = wide >= 6 ? wide - 1 : wide,
            low = high >= 6 ? high - 1 : high;
        this.order.forEach((column, place) => {
            const x = this.x(place);
            for (let thread = 0; thread < threads; thread++) {
                const share = shares[column * threads + thread];
                if (share < 0) continue;
                context.fillStyle = colours[Math.min(STEPS, Math.round((share / this.top) * STEPS))];
                context.fillRect(x, this.y(place, thread), inner, low);
            }
        });
    }

    // Returns the label above a column: its rank. In the order of nodes it is the node, or "" if the column before has
    // the same one.
    label(place) {
        if (this.by !== "node") return this.ranks.name(this.order[place]);
        const node = this.ranks.text("node", this.order[place]);
        return place % this.at.across && this.ranks.text("node", this.order[place - 1]) === node ? "" : node;
    }

    drawLabels(context) {
        context.textBaseline = "middle";
        context.fillStyle = this.colour("--muted");
        for (let band = 0; band < this.at.bands; band++) {
            const first = band * this.at.across;
            if (this.at.above === LABEL) this.labelColumns(context, first);
            else {
                context.textAlign = "right";
                context.fillText(this.label(first), LEFT - 8, this.y(first, 0) + 4);
            }
        }
        if (this.at.above === LABEL) this.labelThreads(context);
    }

    labelColumns(context, first) {
        const end = Math.min(this.order.length, first + this.at.across);
        let free = 0;
        context.textAlign = "left";
        for (let place = first; place < end; place++) {
            const x = this.x(place),
                text = x < free ? "" : this.label(place);
            if (!text) continue;
            context.fillText(text, x, this.y(place, 0) - LABEL / 2 + 2);
            free = x + Math.max(context.measureText(text).width + 8, this.by === "node" ? 0 : 40);
        }
    }

    labelThreads(context) {
        const step = Math.ceil(12 / this.at.high);
        context.textAlign = "right";
        context.fillText(this.by === "node" ? "node" : "rank", LEFT - 8, LABEL / 2 + 2);
        for (let thread = 0; thread < this.ranks.threads; thread += step)
            context.fillText(thread ? String(thread) : "thread 0", LEFT - 8, this.y(0, thread) + Math.min(this.at.high, 12) / 2);
    }

    drawMark(context, { place, thread }) {
        const { wide, high } = this.at;
        context.strokeStyle = this.colour("--ink");
        context.lineWidth = 1;
        context.strokeRect(this.x(place) - 0.5, this.y(place, thread) - 0.5, Math.max(3, wide), Math.max(3, high));
    }

    find(event) {
        const box = this.canvas.getBoundingClientRect(),
            { wide, high, across, above, band } = this.at;
        const x = Math.floor((event.clientX - box.left - LEFT) / wide),
            y = event.clientY - box.top,
            thread = Math.floor(((y % band) - above) / high),
            place = Math.floor(y / band) * across + x;
        if (x < 0 || x >= across || thread < 0 || thread >= this.ranks.threads || place >= this.order.length) return null;
        return { place, thread };
    }

    // Returns [state, share of the thread's time, seconds of the rank, share of the rank's time] for each state.
    facts(column, thread) {
        const { ranks } = this;
        return ranks.states.map((state) => {
            const share = ranks.share(state.key, column, thread),
                value = ranks.value(state, column),
                whole = ranks.whole[column];
            return [
                state.key === "idleness" ? "idle" : state.key,
                share < 0 ? "" : `${percent(share)} %`,
                ranks.model.tableFigure(value * 1e-6),
                whole > 0 ? `${percent(state.us[column] / whole)} %` : "",
            ];
        });
    }

    tell({ place, thread }, x, y) {
        const { ranks } = this,
            column = this.order[place],
            alone = ranks.each === 1,
            wrong = ranks.text("why", column);
        this.tip.showContent(
            [
                h("div.tip-name", null, `${ranks.title(column)}, thread ${thread}`),
                h(
                    "div.tip-facts",
                    null,
                    [
                        ranks.text("node", column) && `on ${ranks.text("node", column)}`,
                        ranks.share(this.key, column, thread) < 0 && "no such thread",
                        wrong,
                    ]
                        .filter(Boolean)
                        .join(" · "),
                ),
                h(
                    "table",
                    null,
                    h(
                        "thead",
                        null,
                        h("tr", null, ["", alone ? "the thread" : "these threads", alone ? `the rank, ${ranks.model.unit}` : `each rank, ${ranks.model.unit}`, ""].map((text) => h("th", null, text))),
                    ),
                    h(
                        "tbody",
                        null,
                        this.facts(column, thread).map(([name, ...texts]) =>
                            h("tr", null, h("th", { scope: "row" }, name), texts.map((text) => h("td", null, text))),
                        ),
                    ),
                ),
            ],
            x,
            y,
        );
    }

    point(found) {
        if (found?.place !== this.hover?.place || found?.thread !== this.hover?.thread) this.redraw();
        this.hover = found;
        this.told(found ? this.order[found.place] : -1);
    }

    connect() {
        const { canvas } = this;
        canvas.addEventListener("pointermove", (event) => {
            const found = this.at && this.find(event);
            this.point(found);
            if (found) this.tell(found, event.clientX, event.clientY);
            else this.tip.hide();
        });
        canvas.addEventListener("pointerleave", () => {
            this.point(null);
            this.tip.hide();
        });
        canvas.addEventListener("keydown", (event) => this.onKey(event));
        canvas.addEventListener("blur", () => {
            this.cursor = null;
            this.redraw();
        });
    }

    onKey(event) {
        if (event.ctrlKey || event.altKey || event.metaKey || !this.at) return;
        const { place, thread } = this.cursor ?? { place: 0, thread: 0 },
            last = this.order.length - 1,
            begun = Boolean(this.cursor);
        const moves = {
            ArrowLeft: [place - 1, thread],
            ArrowRight: [begun ? place + 1 : 0, thread],
            ArrowUp: [place, thread - 1],
            ArrowDown: [place, begun ? thread + 1 : 0],
            PageUp: [place - PAGE, thread],
            PageDown: [place + PAGE, thread],
            Home: [0, thread],
            End: [last, thread],
        };
        if (!(event.key in moves)) return;
        const [to, row] = moves[event.key];
        this.cursor = { place: Math.max(0, Math.min(last, to)), thread: Math.max(0, Math.min(this.ranks.threads - 1, row)) };
        const column = this.order[this.cursor.place];
        this.says.textContent = `${this.ranks.title(column)}, thread ${this.cursor.thread}: ${this.facts(column, this.cursor.thread)
            .map(([name, share, value]) => `${name} ${share || "none"}, the rank ${value}`)
            .join("; ")}`;
        this.told(column);
        this.redraw();
        event.preventDefault();
        event.stopPropagation();
    }
}
