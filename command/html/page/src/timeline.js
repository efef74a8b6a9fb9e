// The section Time: the threads over time, the contexts blamed meanwhile, and the choice of the span for which the page
// shows values.
import { choice, h, once } from "./dom.js";
import { middle, oneLine, percent, plural, shortCount } from "./format.js";
import { numberColumn, textColumn } from "./sections.js";
import { Table } from "./tables.js";
import { AreaPicture } from "./timeline_area.js";
import { Timeline, clockText } from "./timeline_data.js";
import { connectTimeline } from "./timeline_input.js";
import { LanePicture } from "./timeline_lanes.js";
import { Weigher } from "./timeline_span.js";
import { TimelineView } from "./timeline_view.js";

const LEAST_TOLD = 0.0005,
    MOST_TOLD = 4,
    MOST_DEPTHS = 40,
    MOST = 0.8,
    NEARLY_ALL = 0.98,
    NAME = 60,
    LEGEND = 40;
const BLAMED = [
    ["idleness", "idleness", "Number of threads without work, by the code that ran at that time"],
    ["lock wait", "lock wait", "Number of threads that waited for a lock, by the code that held it"],
];

const titleOf = (key) => (key === "idleness" ? "idle" : key);

class TimelineSection {
    // changeSpan(text) stores a span in the page's address; go(row, metric) shows a row.
    constructor(model, tip, go, changeSpan) {
        const timeline = new Timeline(model, model.data.timeline);
        Object.assign(this, { model, tip, go, changeSpan, timeline, view: new TimelineView(timeline), weigher: new Weigher(model, timeline) });
        timeline.owners = (key, row) => this.weigher.owners(key, row);
        Object.assign(this, { mode: "state", depth: 1, blamed: "idleness" });
        this.lanes = new LanePicture(timeline, this.view);
        this.area = new AreaPicture(timeline, this.view);
        this.says = h("p.series-says", { "id": "timeline-says", "aria-live": "polite" });
        this.redraw = once(() => this.draw());
        this.build();
        this.connect();
        this.changeMode({});
        this.changeBlamed(this.blamedKeys[0]?.[0] ?? "idleness");
    }

    build() {
        const { model, timeline } = this;
        this.modes = choice(
            "Colours of the picture",
            [
                ["state", "state", "What threads did"],
                ["context", "context", "Which code threads executed"],
            ],
            (mode) => this.changeMode({ mode }),
        );
        const deepest = Math.min(MOST_DEPTHS, timeline.deepest);
        this.depth = Math.max(1, Math.min(deepest, this.fork()));
        this.depths = h(
            "select",
            { "aria-label": "Depth of contexts", "title": "Number of calls below the whole program", "onchange": () => this.changeMode({ depth: Number(this.depths.value) }) },
            Array.from({ length: deepest }, (_, i) => h("option", { value: i + 1 }, `depth ${i + 1}`)),
        );
        this.blamedKeys = BLAMED.filter(([key]) => timeline.culprits(key).length);
        this.blameds = choice("Who is blamed for", this.blamedKeys, (key) => this.changeBlamed(key));
        this.legend = h("div.legend");
        this.culpritLegend = h("div.legend");
        this.frame = h("div.series-frame", null, this.lanes.canvas);
        const button = (text, title, onclick) => h("button.tool", { type: "button", title, onclick }, text);
        this.whole = button("Fit", "Show the time axis from its start to its end (Home)", () => this.view.whole());
        this.element = h(
            "div.timeline",
            null,
            h("div.bar", null, this.modes.element, this.depths, button("+", "Zoom in (+)", () => this.view.zoom(0.5)), button("−", "Zoom out (-)", () => this.view.zoom(2)), this.whole, h("span.filler"), this.legend),
            this.frame,
            ...(model.shownIdle.length || this.blamedKeys.length ? [
                h("div.bar", null, h("span.label", null, "waiting threads, by the code to blame:"), this.blamedKeys.length > 1 ? this.blameds.element : null, h("span.filler"), this.culpritLegend),
                h("div.series-frame", null, this.area.canvas),
            ] : []),
            this.says,
            this.gapsLine(),
            h("p.hint.timeline-hint", null, "Drag over the axis, or drag with Shift, to choose a span. Drag to move the zoomed picture. ", h("kbd", null, "Ctrl"), " and the wheel zoom the time, together with ", h("kbd", null, "Shift"), " the threads. Keys: ", h("kbd", null, "+ − ← → ↑ ↓ Home Enter Esc")),
            h("details.timeline-table", { ontoggle: () => this.fillTable() }, h("summary", null, `As a table of ${plural(timeline.bins, "bin")}`)),
        );
        this.note = `${plural(timeline.lanes, timeline.job ? "lane" : "thread")}; bins of ${clockText(timeline.laneBin, timeline.laneBin / 10)} s, of contexts ${clockText(timeline.bin, timeline.bin / 10)} s`;
        this.spanLine = h("div.span-line", { "role": "status", "hidden": true });
    }

    // Returns the least depth at which no context has most of the time. If there is none, returns the least depth at
    // which contexts differ.
    fork() {
        const { timeline } = this,
            largest = [];
        for (let depth = 1; depth <= MOST_DEPTHS; depth++) {
            const sums = new Map();
            timeline.rows.forEach((row, i) => {
                const at = timeline.rowAt(row, depth);
                sums.set(at, (sums.get(at) ?? 0) + Math.max(0, timeline.sum("own", i)));
            });
            const own = [...sums.values()];
            largest.push(Math.max(...own) / own.reduce((sum, of) => sum + of, 0));
        }
        const depthBelow = (most) => largest.findIndex((share) => share < most) + 1;
        return depthBelow(MOST) || depthBelow(NEARLY_ALL) || 1;
    }

    gapsLine() {
        const { gaps } = this.lanes;
        if (!gaps.length) return null;
        const { laneBin } = this.timeline,
            text = gaps.slice(0, MOST_TOLD).map(([begin, end, why]) => `${why} from ${clockText(begin, laneBin)} to ${clockText(end, laneBin)} s`);
        const more = gaps.length > MOST_TOLD ? `; and ${gaps.length - MOST_TOLD} more` : "",
            stopped = gaps.some(([, , why]) => why === "stopped");
        return h("p.phases-remark", null, `Gaps: ${text.join("; ")}${more}.${stopped ? " “stopped” means that the whole process was stopped (SIGSTOP, a debugger, a suspended machine)." : ""}`);
    }

    changeMode(changes) {
        Object.assign(this, changes);
        const layer = this.mode === "state" ? this.timeline.stateLayer() : this.timeline.contextLayer(this.depth);
        this.lanes.show(layer);
        this.modes.show(this.mode);
        this.depths.hidden = this.mode === "state";
        this.depths.value = this.depth;
        this.legend.replaceChildren(...layer.parts.map((part) => this.legendItem(part)));
        this.redraw();
    }

    legendItem({ colour, title, row = -1 }) {
        const inside = [h("span.swatch", { style: { background: `var(${colour})` } }), middle(oneLine(title), LEGEND)];
        if (row < 0) return h("span.legend-item", { title }, inside);
        return h("button.legend-item.link", { "type": "button", "title": `Show ${title} in the tree`, "onclick": () => this.go(row) }, inside);
    }

    changeBlamed(blamed) {
        this.blamed = blamed;
        const culprits = this.timeline.culprits(blamed),
            colours = this.timeline.colours(culprits.map(({ row }) => row));
        culprits.forEach((culprit, i) => {
            culprit.colour = culprit.row < 0 ? "--category-other" : `--category-${colours[i]}`;
        });
        this.area.show(culprits);
        this.blameds.show(blamed);
        this.culpritLegend.replaceChildren(...culprits.map((culprit) => this.legendItem(culprit)));
        if (!culprits.length) this.culpritLegend.textContent = "no thread waited";
        this.table?.element.remove();
        this.table = null;
        this.fillTable();
        this.redraw();
    }

    draw() {
        const width = this.frame.clientWidth;
        if (width < 200) return;
        this.view.width = width;
        this.lanes.draw();
        this.area.draw();
        this.whole.disabled = this.view.isWhole;
    }

    connect() {
        const { view, lanes, area, tip } = this;
        view.listen(this.redraw);
        new ResizeObserver(this.redraw).observe(this.frame);
        const actions = {
            hover: (us, row, event) => {
                lanes.hover = area.hover = us;
                this.tell(us, row, event.clientX, event.clientY);
                this.redraw();
            },
            leave: () => {
                lanes.hover = area.hover = null;
                tip.hide();
                this.redraw();
            },
            select: (from, to, done) => this.drag(from, to, done),
            press: (us, row) => {
                lanes.cursor = row >= 0 ? row : lanes.cursor;
                this.say();
                this.redraw();
            },
            chooseVisible: () => this.choose(view.from, view.to),
            escape: () => (this.span ? this.changeSpan("") : view.whole()),
            move: (by) => this.moveCursor(by),
            say: () => this.say(),
        };
        connectTimeline(lanes.canvas, view, lanes, actions, this.redraw);
        connectTimeline(area.canvas, view, null, actions, this.redraw);
    }

    // Chooses the span between two times. A span consists of whole bins.
    choose(from, to) {
        const { timeline } = this,
            first = timeline.binAt(Math.min(from, to) + timeline.bin * 0.01),
            last = timeline.binAt(Math.max(from, to) - timeline.bin * 0.01);
        const all = first === 0 && last === timeline.bins - 1;
        this.changeSpan(all ? "" : `${first}-${Math.max(first, last) + 1}`);
    }

    drag(from, to, done) {
        if (from === null) return this.showSpan();
        if (done) {
            this.choose(from, to);
            return this.showSpan();
        }
        this.lanes.span = this.area.span = [from, to].sort((a, b) => a - b);
        this.redraw();
    }

    moveCursor(by) {
        const { lanes, view } = this,
            last = Math.ceil(this.timeline.lanes / lanes.per) - 1;
        lanes.cursor = lanes.cursor === null ? lanes.first : Math.max(0, Math.min(last, lanes.cursor + by));
        if (lanes.cursor < lanes.first) view.panLanes((lanes.cursor - lanes.first) * lanes.per);
        else if (lanes.cursor >= lanes.first + lanes.rows) view.panLanes((lanes.cursor - lanes.first - lanes.rows + 1) * lanes.per);
        this.redraw();
    }

    // Returns [title, share, colour] for each part of a row of lanes that is large enough to be mentioned.
    facts(row, from, to) {
        const { parts } = this.lanes.layer;
        return this.lanes
            .shares(row, from, to)
            .map((share, i) => [parts[i].title, share, parts[i].colour])
            .filter(([, share]) => share >= LEAST_TOLD);
    }

    say() {
        const { view, lanes, timeline } = this,
            step = view.usEach * 10,
            when = `${clockText(view.from, step)} to ${clockText(view.to, step)} s`;
        if (lanes.cursor === null) {
            this.says.textContent = `Visible: ${when}, ${timeline.laneName(...view.lanes)}`;
            return;
        }
        const facts = this.facts(lanes.cursor, view.from, view.to).map(([title, share]) => `${title} ${percent(share)} %`);
        this.says.textContent = `${timeline.laneName(...lanes.lanesOf(lanes.cursor))}, ${when}: ${facts.join(", ") || "nothing was measured"}`;
    }

    // Shows the tooltip for a pixel. It covers the pixel's bin, or the pixel's own time if that is longer.
    tell(us, row, x, y) {
        const { timeline, view, lanes } = this,
            wide = Math.max(lanes.layer.width, view.usEach),
            from = timeline.origin + Math.floor((us - timeline.origin) / wide) * wide,
            to = Math.min(timeline.end, from + wide),
            step = Math.min(wide, timeline.bin) / 10;
        const many = row >= 0 ? lanes.lanesOf(row) : [0, timeline.lanes],
            title = row >= 0 ? `${timeline.laneName(...many)}${many[1] - many[0] > 1 ? " (mean)" : ""}` : "code to blame";
        const bin = timeline.binAt(us),
            [binFrom, binTo] = [timeline.time(bin), timeline.time(bin + 1)].map((of) => clockText(of, timeline.bin / 10));
        const line = ([name, value, colour]) =>
            h("tr", null, h("th", { scope: "row" }, h("span.swatch", { style: { background: `var(${colour})` } }), middle(oneLine(name), NAME)), h("td", null, value));
        const gap = lanes.gaps.find(([begin, end]) => us >= begin && us < end),
            facts = row >= 0 ? this.facts(row, from, to).map(([name, share, colour]) => [name, `${percent(share)} %`, colour]) : [];
        this.tip.showContent(
            [
                h("div.tip-name", null, title),
                h("div.tip-facts", null, row >= 0 ? `${clockText(from, step)} to ${clockText(to, step)} s${gap ? ` · ${gap[2]}` : ""}` : `${binFrom} to ${binTo} s`),
                row >= 0 && !facts.length ? h("div.tip-facts", null, "no thread was measured here") : h("table", null, h("tbody", null, facts.map(line))),
                h("div.tip-facts.tip-more", null, row >= 0 ? `${titleOf(this.blamed)} from ${binFrom} to ${binTo} s in all threads, by the code to blame` : `${titleOf(this.blamed)} because of`),
                h("table", null, h("tbody", null, this.culpritsAt(bin).map(line))),
            ].filter(Boolean),
            x,
            y,
        );
    }

    culpritsAt(bin) {
        const { culprits } = this.area,
            all = culprits.reduce((sum, { us }) => sum + Math.max(0, us[bin]), 0);
        const found = culprits.filter(({ us }) => us[bin] > 0 && us[bin] >= LEAST_TOLD * all).sort((a, b) => b.us[bin] - a.us[bin]).slice(0, MOST_TOLD);
        if (!found.length) return [["nobody", "", "--rule"]];
        return found.map(({ title, us, colour }) => [
            title,
            `${this.model.unit === "s" ? (us[bin] / this.timeline.width(bin)).toFixed(2) : shortCount(us[bin] / this.timeline.width(bin))} ${this.timeline.unit}, ${percent(us[bin] / all)} %`,
            colour,
        ]);
    }

    accepts(text) {
        const [, from, end] = /^(\d{1,4})-(\d{1,4})$/.exec(text) ?? [];
        return text === "" || (from !== undefined && Number(from) < Number(end) && Number(end) <= this.timeline.bins);
    }

    // Sets the span: "first-end" in bins, or "" for the whole run.
    setSpan(text) {
        this.span = text ? text.split("-").map(Number) : null;
        if (this.span) this.weigher.set(...this.span);
        else this.weigher.clear();
        this.showSpan();
    }

    showSpan() {
        const { timeline, span, model } = this,
            times = span?.map((bin) => timeline.time(bin)) ?? null;
        this.lanes.span = this.area.span = times;
        this.spanLine.hidden = !span;
        this.redraw();
        if (!span) return this.spanLine.replaceChildren();
        const [from, to, begin, end] = [...times, timeline.origin, timeline.end].map((us) => clockText(us, timeline.bin / 10)),
            { spread } = model.span;
        this.spanLine.replaceChildren(
            h("strong", null, `Only ${from} to ${to} s`),
            ` of ${begin} to ${end} s `,
            h("button.tool", { "type": "button", "onclick": () => this.changeSpan("") }, "Whole run"),
            " Shares, findings, contexts and source show this span, everything else the whole run.",
            spread >= LEAST_TOLD ? ` For ${percent(spread)} % of the span's time only callers are known: it is divided as in the whole run.` : "",
        );
    }

    fillTable() {
        const details = this.element.querySelector(".timeline-table");
        if (!details.open || this.table) return;
        this.table = timeTable(this.timeline, this.area.culprits, this.blamed, this.model);
        details.append(this.table.element);
    }
}

// Makes a table with a row for each bin: thread seconds by state, and the context blamed most.
function timeTable(timeline, culprits, blamed, model) {
    const sums = timeline.states.map(({ us }) => timeline.inBins(us));
    const first = (bin) => culprits.reduce((best, of) => (of.us[bin] > (best?.us[bin] ?? 0) ? of : best), null);
    const time = (id, title, of) => ({
        ...numberColumn(id, title, of, null),
        draw: (cell, bin) => {
            cell.textContent = clockText(of(bin), timeline.bin / 10);
        },
    });
    const amount = (id, title, of) => ({
        ...numberColumn(id, title, of, null),
        draw: (cell, bin) => {
            cell.textContent = of(bin) ? model.figure({ unit: model.unit }, of(bin)) : "";
        },
    });
    return new Table(
        "Time",
        [
            time("begin", "from s", (bin) => timeline.time(bin)),
            time("end", "to s", (bin) => timeline.time(bin + 1)),
            ...timeline.states.map(({ key }, i) => amount(key, titleOf(key), (bin) => sums[i][bin])),
            textColumn("culprit", `blamed for most ${blamed}`, "minmax(10rem, 1fr)", (bin) => oneLine(first(bin)?.title ?? "")),
            amount("blamed", "its part", (bin) => first(bin)?.us[bin] ?? 0),
        ],
        Array.from({ length: timeline.bins }, (_, bin) => bin),
    );
}

// Returns the section, or one line if the measurement has no timeline.
export function timelineSection(model, tip, go, changeSpan) {
    if (model.data.timeline) return new TimelineSection(model, tip, go, changeSpan);
    return {
        element: h("p.empty", null, "This measurement has no timeline: BLAME_TIMELINE was 0, or an older version of blame made it."),
        note: "",
        spanLine: null,
        accepts: () => false,
        setSpan: () => {},
        redraw: () => {},
    };
}
