// The timeline in the page's data. Times are integers of 1e-6 s since the program's start.
import { MICRO, oneLine } from "./format.js";
import { distinctTitles } from "./titles.js";

const NO_CORE = "<no core>",
    OTHERS = 65535,
    ALL = 255,
    MOST_CULPRITS = 7,
    MOST_PHASES = 3,
    EXECUTION = /^(?:phase )?(.*) \[(\d+)\]$/;
const CATEGORIES = 10; // number of colours for contexts

function bytes(text) {
    const raw = atob(text),
        made = new Uint8Array(raw.length);
    for (let i = 0; i < made.length; i++) made[i] = raw.charCodeAt(i);
    return made;
}

// Returns a time with enough decimals to distinguish two times that differ by a step.
export function clockText(us, step) {
    return `${(us * MICRO).toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(step * MICRO)))))}`;
}

export class Timeline {
    constructor(model, data) {
        Object.assign(this, { model, data, bins: data.bins, bin: data.bin_us, laneBins: data.lane_bins, laneBin: data.lane_bin_us, origin: data.origin_us });
        const wall = Number(model.data.header.wall_s) / MICRO;
        this.end = this.origin + this.bins * this.bin;
        if (wall > this.origin && wall < this.end) this.end = wall;
        this.lanes = data.lanes.count;
        this.unit = model.unit === "s" ? "threads" : "events/s"; // thread-seconds per second are threads
        this.threads = data.lanes.threads.reduce((sum, of) => sum + of, 0);
        this.states = [...data.states] // idleness is drawn on top
            .sort((a, b) => (a.key === "idleness") - (b.key === "idleness"))
            .map(({ key, us, shares }) => ({ key, us, shares: bytes(shares) }));
        this.readContexts(data.contexts);
        this.nameLanes();
        this.findContexts();
    }

    // Finds for each row the first row of the same context, ignoring which execution of a phase it is in, and the
    // context's depth.
    findContexts() {
        const { model } = this,
            { count, parent, fn, callLine } = model,
            phase = model.kinds.indexOf("phase"),
            known = new Map();
        this.context = new Int32Array(count);
        this.level = new Int32Array(count);
        for (let row = 1; row < count; row++) {
            const above = this.context[parent[row]];
            if (model.kind[row] === phase && EXECUTION.test(model.name(row))) {
                this.context[row] = above;
                this.level[row] = this.level[above];
                continue;
            }
            const key = `${above}/${fn[row]}/${callLine[row]}`;
            if (!known.has(key)) known.set(key, row);
            this.context[row] = known.get(key);
            this.level[row] = this.level[above] + 1;
        }
    }

    readContexts({ row, first, end, ...values }) {
        this.rows = Int32Array.from(row);
        this.of = new Map(row.map((of, i) => [of, i]));
        this.values = {};
        for (const [key, text] of Object.entries(values)) {
            const made = row.map(() => null);
            this.values[key] = made;
            if (!text) continue;
            const raw = new Float32Array(bytes(text).buffer);
            let at = 0;
            for (let i = 0; i < row.length; i++) {
                const sums = new Float64Array(this.bins + 1);
                for (let bin = 0; bin < this.bins; bin++) sums[bin + 1] = sums[bin] + (bin >= first[i] && bin < end[i] ? raw[at++] : 0);
                made[i] = sums;
            }
        }
    }

    // Returns the value of a context between two bins.
    sum(key, context, from = 0, end = this.bins) {
        const sums = this.values[key]?.[context];
        return sums ? sums[end] - sums[from] : 0;
    }

    nameLanes() {
        const { thread, rank, process, last_rank: last } = this.data.lanes,
            of = new Map();
        this.names = thread.map((number, lane) => {
            if (rank[lane] < 0) return number < 0 ? "several threads" : `thread ${number}`;
            if (last[lane] > rank[lane] && number < 0) return `ranks ${rank[lane]} to ${last[lane]}`;
            const name = process[lane] ? `rank ${rank[lane]}.${process[lane]}` : `rank ${rank[lane]}`,
                before = of.get(name) ?? 0;
            if (number < 0) return name;
            of.set(name, before + 1);
            return `${name}, thread ${before}`;
        });
        this.job = rank.some((number) => number >= 0);
    }

    // Returns the name of one or several lanes that are drawn as one row.
    laneName(from, end) {
        if (end - from === 1) return this.names[from];
        const short = this.names[end - 1].replace(/^(thread|rank|ranks) /, "");
        return `${this.names[from].replace(/^(thread|rank) /, "$1s ")} to ${short}`;
    }

    binAt(us) {
        return Math.max(0, Math.min(this.bins - 1, Math.floor((us - this.origin) / this.bin)));
    }

    time(bin) {
        return Math.min(this.end, this.origin + bin * this.bin);
    }

    // Returns the width of a bin. The last bin ends with the run.
    width(bin) {
        return Math.max(1, Math.min(this.bin, this.end - this.origin - bin * this.bin));
    }

    // Sums values of lanes' bins into contexts' bins, which may be several times as wide.
    inBins(us) {
        const made = new Float64Array(this.bins),
            narrow = Math.min(this.bin, this.laneBin);
        for (let at = 0; at * narrow < this.bins * this.bin; at++) {
            const lane = Math.floor(((at + 0.5) * narrow) / this.laneBin);
            made[Math.floor(((at + 0.5) * narrow) / this.bin)] += ((us[lane] ?? 0) * narrow) / this.laneBin;
        }
        return made;
    }

    stateLayer() {
        return {
            bins: this.laneBins,
            width: this.laneBin,
            parts: this.states.map(({ key }) => ({ key, title: key === "idleness" ? "idle" : key, colour: stateColour(key) })),
            shares: this.states.map(({ shares }) => shares),
        };
    }

    // Returns the function of a row. A statement belongs to its function, and so does the row <no core>, except directly
    // below the whole program, where no function is known.
    codeRow(row) {
        const { model } = this,
            above = row > 0 ? model.parent[row] : 0;
        return model.isStatement(row) || (above > 0 && model.name(row) === NO_CORE) ? above : row;
    }

    // Returns the ancestor of a row at a depth, or the row itself if it is not that deep.
    rowAt(row, depth) {
        let at = this.codeRow(row);
        while (this.level[at] > depth) at = this.model.parent[at];
        return this.context[at];
    }

    get deepest() {
        return this.rows.reduce((most, row) => Math.max(most, this.level[this.codeRow(row)]), 1);
    }

    // Returns the layer of contexts at a depth. The contexts with the most time have a colour each.
    contextLayer(depth) {
        const sums = new Map();
        this.rows.forEach((row, i) => {
            const at = this.rowAt(row, depth);
            sums.set(at, (sums.get(at) ?? 0) + this.sum("own", i));
        });
        const shown = [...sums].sort((a, b) => b[1] - a[1]).filter(([, own]) => own > 0).slice(0, CATEGORIES).map(([row]) => row);
        const colours = this.colours(shown),
            titles = this.titles(shown),
            parts = shown.map((row, i) => ({ row, title: titles[i], colour: `--category-${colours[i]}` }));
        parts.push({ row: -1, title: "other", colour: "--category-other" });
        const part = Uint8Array.from(this.rows, (row) => {
            const found = shown.indexOf(this.rowAt(row, depth));
            return found < 0 ? parts.length - 1 : found;
        });
        return { bins: this.bins, width: this.bin, parts, shares: this.topShares(part, parts.length) };
    }

    // Returns the shares of each part. In tops, each bin of a lane has the number of contexts that follow; each is its
    // number (two bytes) and its share (one byte).
    topShares(part, parts) {
        this.tops ??= bytes(this.data.tops);
        const { tops, bins, lanes } = this,
            made = Array.from({ length: parts }, () => new Uint8Array(lanes * bins));
        for (let place = 0, at = 0; place < lanes * bins; place++)
            for (let left = tops[at++]; left > 0; left--, at += 3) {
                const context = tops[at] + 256 * tops[at + 1],
                    shares = made[context === OTHERS ? parts - 1 : part[context]];
                shares[place] = Math.min(ALL, shares[place] + tops[at + 2]);
            }
        this.data.lanes.cells.forEach((other, lane) => {
            if (other !== lane) for (const shares of made) shares.copyWithin(lane * bins, other * bins, (other + 1) * bins);
        });
        return made;
    }

    // Returns the colour of each row, from 1 to CATEGORIES. The contexts that are blamed most have the same colour in
    // all pictures. A context that contains one of them, or lies in it, shares its colour. Other contexts get other
    // colours until none are left.
    colours(rows) {
        this.coloured ??= new Map(this.culprits("idleness").filter(({ row }) => row >= 0).map(({ row }, i) => [row, i + 1]));
        const { coloured } = this,
            given = new Map(),
            taken = new Set(),
            give = (row, colour) => {
                if (!colour || given.has(row) || taken.has(colour)) return;
                given.set(row, colour);
                taken.add(colour);
            };
        for (const row of rows) give(row, coloured.get(row));
        for (const row of rows) for (const [culprit, colour] of coloured) if (this.isInside(culprit, row) || this.isInside(row, culprit)) give(row, colour);
        const all = Array.from({ length: CATEGORIES }, (_, i) => i + 1),
            ofCulprits = new Set(coloured.values()),
            free = [...all.filter((colour) => !ofCulprits.has(colour)), ...ofCulprits];
        for (const row of rows) give(row, free.find((colour) => !taken.has(colour)));
        return rows.map((row) => given.get(row) ?? 1);
    }

    // Tells whether a context lies in another or is the same.
    isInside(row, outer) {
        for (let at = row; at > 0; at = this.model.parent[at]) if (this.context[at] === outer) return true;
        return false;
    }

    titles(rows) {
        return distinctTitles(this.model, rows);
    }

    // Returns the contexts that idleness or lock wait of other threads is blamed on, the largest first. The last
    // element sums up the rest.
    culprits(key) {
        this.foundCulprits ??= {};
        return (this.foundCulprits[key] ??= this.findCulprits(key));
    }

    findCulprits(key) {
        const contexts = Array.from(this.rows, (_, i) => i).filter((i) => this.values[key]?.[i]),
            sums = new Map();
        const each = (tell) => {
            for (const i of contexts) for (const [of, part] of this.owners(key, this.rows[i])) tell(this.context[this.codeRow(of)], part, i);
        };
        each((row, part, i) => sums.set(row, (sums.get(row) ?? 0) + part * this.sum(key, i)));
        const sorted = [...sums].filter(([, all]) => all > 0).sort((a, b) => b[1] - a[1]),
            shown = sorted.slice(0, MOST_CULPRITS).map(([row, all]) => ({ row, all, us: new Float64Array(this.bins) })),
            titles = this.titles(shown.map(({ row }) => row)),
            of = new Map(shown.map((culprit, i) => [culprit.row, Object.assign(culprit, { title: titles[i] })])),
            rest = { row: -1, title: `${sorted.length - shown.length} others`, all: 0, us: new Float64Array(this.bins) };
        for (const i of contexts) for (let bin = 0; bin < this.bins; bin++) rest.us[bin] += this.sum(key, i, bin, bin + 1);
        each((row, part, i) => {
            const culprit = of.get(row);
            for (let bin = 0; culprit && bin < this.bins; bin++) {
                const us = part * this.sum(key, i, bin, bin + 1);
                culprit.us[bin] += us;
                rest.us[bin] -= us;
            }
        });
        rest.all = rest.us.reduce((sum, us) => sum + us, 0);
        return sorted.length > shown.length ? [...shown, rest] : shown;
    }

    // Returns the spans in which nothing ran between others, as [begin, end, reason].
    gaps() {
        const found = [],
            stopped = this.states.find(({ key }) => key === "stopped");
        let first = 0;
        const kind = (bin) => {
            const all = this.states.reduce((sum, { us }) => sum + us[bin], 0);
            return all <= 0 ? "not measured" : stopped && stopped.us[bin] > all / 2 ? "stopped" : "";
        };
        for (let bin = 1; bin <= this.laneBins; bin++) {
            const before = kind(first);
            if (bin < this.laneBins && kind(bin) === before) continue;
            const [begin, end] = [first, bin].map((of) => Math.min(this.end, this.origin + of * this.laneBin));
            const between = first > 0 && bin < this.laneBins;
            if (before && (between || before === "stopped") && end - begin > 0.99 * this.laneBin) found.push([begin, end, before]);
            first = bin;
        }
        return found;
    }

    // Returns the outermost phases as { name, marks }. A mark is [first bin, end bin, number of the execution or null].
    phases() {
        const { model } = this,
            kind = model.kinds.indexOf("phase"),
            found = new Map();
        this.rows.forEach((row, i) => {
            if (this.sum("own", i) <= 0) return;
            for (let at = row; at > 0; at = model.parent[at]) if (model.kind[at] === kind) this.notePhase(found, at, i);
        });
        return [...found.values()]
            .sort((a, b) => a.depth - b.depth)
            .slice(0, MOST_PHASES)
            .map(({ name, executions, seen }) => ({ name, marks: executions.size ? [...executions.values()].sort((a, b) => a[0] - b[0] || a[2] - b[2]) : runs(seen) }));
    }

    notePhase(found, row, context) {
        const [, name, number] = EXECUTION.exec(this.model.name(row)) ?? [null, this.model.name(row).replace(/^phase /, ""), null];
        if (!found.has(name)) found.set(name, { name: oneLine(name), depth: Infinity, executions: new Map(), seen: new Uint8Array(this.bins) });
        const phase = found.get(name);
        phase.depth = Math.min(phase.depth, this.model.depth[row]);
        const mark = phase.executions.get(number) ?? [Infinity, 0, Number(number)];
        for (let bin = 0; bin < this.bins; bin++) {
            if (this.sum("own", context, bin, bin + 1) <= 0) continue;
            phase.seen[bin] = 1;
            mark[0] = Math.min(mark[0], bin);
            mark[1] = Math.max(mark[1], bin + 1);
        }
        if (number !== null && mark[1]) phase.executions.set(number, mark);
    }
}

// Returns the runs of consecutive bins as [first bin, end bin, null].
function runs(seen) {
    const found = [];
    seen.forEach((of, bin) => {
        if (!of) return;
        if (found.at(-1)?.[1] === bin) found.at(-1)[1]++;
        else found.push([bin, bin + 1, null]);
    });
    return found;
}

function stateColour(key) {
    return `--metric-${key.replace(" ", "-")}`;
}
