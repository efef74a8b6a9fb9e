// The numbers of a span of time in place of the whole run's: what contexts have in its bins.

// What a bin knows together, as the columns that it consists of.
const GROUPS = {
    "own": ["work", "overhead", "no core", "blocked", "mpi wait"],
    "idleness": ["idleness"],
    "lock wait": ["lock wait"],
};
const BEFORE = "<before"; // what was before the first bin
const LEAST = 1; // 1e-6 s: what rounding makes

export class Weigher {
    constructor(model, timeline) {
        Object.assign(this, { model, timeline });
        this.whole = { inclusive: [...model.inclusive], exclusive: [...model.exclusive], exact: model.exact };
        this.groups = Object.entries(GROUPS).map(([key, metrics]) => this.prepare(key, metrics.map((metric) => model.metricIndex.get(metric)).filter((m) => m !== undefined)));
        this.known = new Set([...this.groups.flatMap(({ metrics }) => metrics.map((m) => model.metrics[m].key)), "blame"]);
    }

    // A row's own value, for a function without its statements'.
    direct(metrics) {
        const { model } = this,
            made = new Float64Array(model.count);
        for (const m of metrics)
            for (let row = 0; row < model.count; row++) {
                const value = this.whole.exclusive[m][row];
                made[row] += value;
                if (model.isStatement(row)) made[model.parent[row]] -= value;
            }
        return made;
    }

    // Rows without bins of their own are in those of a row above: what that has more than its own is theirs. Statements' are those of a call,
    // with all that it calls.
    prepare(key, metrics) {
        const { model, timeline } = this,
            each = metrics.map((m) => this.direct([m])),
            own = each.reduce((sum, column) => sum.map((value, row) => value + column[row]), new Float64Array(model.count)),
            home = new Int32Array(model.count),
            without = new Float64Array(model.count), // of each row what has no bins
            lent = new Float64Array(model.count), // of a row's bins the part that is not its own
            lends = new Uint8Array(model.count),
            room = new Float64Array(model.count), // by row, the sum of `without` that it is the home of
            guests = new Map(); // and which rows these are
        for (let row = 0; row < model.count; row++) {
            const context = timeline.of.get(row),
                inBins = context === undefined ? 0 : timeline.sum(key, context);
            without[row] = model.name(row).startsWith(BEFORE) ? 0 : Math.max(0, own[row] - Math.max(0, inBins));
            lent[row] = inBins > own[row] + LEAST ? Math.min(1, (inBins - Math.max(0, own[row])) / inBins) : 0;
            if (lent[row]) lends[this.timeline.codeRow(row)] = 1;
        }
        for (let row = 0; row < model.count; row++) {
            home[row] = lends[row] || row === 0 ? row : home[model.parent[row]];
            room[home[row]] += without[row];
            if (!without[row] || !lends[home[row]]) continue;
            if (guests.has(home[row])) guests.get(home[row]).push(row);
            else guests.set(home[row], [row]);
        }
        return { key, metrics, each, home, without, lent, room, guests };
    }

    // [row, part]: whose a row's bins are; that of rows below which have none of their own, as in the whole run.
    owners(key, row) {
        const { without, lent, room, guests } = this.groups.find((of) => of.key === key),
            pool = this.timeline.codeRow(row);
        if (!lent[row] || !room[pool]) return [[row, 1]];
        return [[row, 1 - lent[row]]].concat(guests.get(pool).map((of) => [of, (lent[row] * without[of]) / room[pool]]));
    }

    // In the bins [from, end): each row's own values, and how much of their sum is known only of rows above.
    spread({ key, home, without, lent, room }, from, end) {
        const { model, timeline } = this,
            made = new Float64Array(model.count),
            given = new Float64Array(model.count);
        let spread = 0;
        timeline.rows.forEach((row, context) => {
            const value = timeline.sum(key, context, from, end),
                pool = this.timeline.codeRow(row),
                part = room[pool] > 0 ? value * lent[row] : 0;
            made[row] += value - part;
            if (part) given[pool] += part / room[pool];
            spread += Math.abs(part);
        });
        for (let row = 0; row < model.count; row++) if (without[row] > 0 && given[home[row]]) made[row] += without[row] * given[home[row]];
        return { made, spread };
    }

    set(from, end) {
        const { model, whole } = this,
            inclusive = whole.inclusive.map(() => new Float64Array(model.count)),
            exclusive = whole.exclusive.map(() => new Float64Array(model.count));
        let spread = 0,
            all = 0;
        for (const group of this.groups) {
            const found = this.spread(group, from, end);
            spread += found.spread;
            for (let row = 0; row < model.count; row++) all += Math.abs(found.made[row]);
            this.split(group, found.made, exclusive);
        }
        for (const { metrics } of this.groups) for (const m of metrics) this.addUp(inclusive[m], exclusive[m]);
        const blame = model.metricIndex.get("blame");
        for (const values of [inclusive, exclusive])
            for (const key of ["idleness", "overhead", "lock wait"])
                values[model.metricIndex.get(key)].forEach((value, row) => {
                    values[blame][row] += value;
                });
        this.use({ inclusive, exclusive, exact: [] }, { from, end, spread: all > 0 ? spread / all : 0 });
    }

    // A row's work, overhead and so on are as they are in the whole run: most rows have one of them only.
    split({ metrics, each: own }, values, exclusive) {
        const { model } = this,
            around = metrics.map((m) => this.whole.inclusive[m]);
        for (let row = 0; row < model.count; row++) {
            if (!values[row]) continue;
            const of = own.some((column) => column[row] > LEAST) ? own : around,
                sum = of.reduce((total, column) => total + Math.max(0, column[row]), 0);
            metrics.forEach((m, i) => {
                exclusive[m][row] = sum > 0 ? (values[row] * Math.max(0, of[i][row])) / sum : i ? 0 : values[row];
            });
        }
    }

    // From each row's own values the inclusive ones, and functions with their statements'.
    addUp(inclusive, exclusive) {
        const { model } = this;
        inclusive.set(exclusive);
        for (let row = model.count - 1; row > 0; row--) inclusive[model.parent[row]] += inclusive[row];
        for (let row = 1; row < model.count; row++) if (model.isStatement(row)) exclusive[model.parent[row]] += exclusive[row];
    }

    clear() {
        this.use(this.whole, null);
    }

    use({ inclusive, exclusive, exact }, span) {
        const { model } = this;
        inclusive.forEach((values, m) => {
            model.inclusive[m] = values;
            model.exclusive[m] = exclusive[m];
        });
        Object.assign(model, { exact, span, knownMetrics: span ? this.known : null });
    }
}
