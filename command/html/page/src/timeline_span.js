// Replaces the model's values by those of a span of time, computed from the bins of the timeline.

// Each group of values in the bins, with the metrics that it sums up.
const GROUPS = {
    "own": ["work", "overhead", "no core", "blocked", "mpi wait"],
    "idleness": ["idleness"],
    "lock wait": ["lock wait"],
};
const BEFORE = "<before"; // rows whose time lies before the first bin
const LEAST = 1; // largest difference that rounding causes, in 1e-6 s

export class Weigher {
    constructor(model, timeline) {
        Object.assign(this, { model, timeline });
        this.whole = { inclusive: [...model.inclusive], exclusive: [...model.exclusive], exact: model.exact };
        this.groups = Object.entries(GROUPS).map(([key, metrics]) => this.prepare(key, metrics.map((metric) => model.metricIndex.get(metric)).filter((m) => m !== undefined)));
        this.known = new Set([...this.groups.flatMap(({ metrics }) => metrics.map((m) => model.metrics[m].key)), "blame"]);
    }

    // Returns each row's own values. For a function, its statements' values are subtracted.
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

    // Prepares a group of metrics. Some rows have no bins of their own: their time is in the bins of an ancestor, whose
    // bins then hold more than its own value. The bins of a statement with a call also hold the time of the callees.
    prepare(key, metrics) {
        const { model, timeline } = this,
            each = metrics.map((m) => this.direct([m])),
            own = each.reduce((sum, column) => sum.map((value, row) => value + column[row]), new Float64Array(model.count)),
            home = new Int32Array(model.count),
            without = new Float64Array(model.count), // by row, the own value that is not in the row's bins
            lent = new Float64Array(model.count), // by row, the share of its bins that belongs to other rows
            lends = new Uint8Array(model.count),
            room = new Float64Array(model.count), // by row, the sum of `without` over the rows whose home it is
            guests = new Map(); // by row, the rows whose home it is
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

    // Returns [row, share] for the owners of a row's bins: the row itself, and rows below without bins, in the
    // proportions of the whole run.
    owners(key, row) {
        const { without, lent, room, guests } = this.groups.find((of) => of.key === key),
            pool = this.timeline.codeRow(row);
        if (!lent[row] || !room[pool]) return [[row, 1]];
        return [[row, 1 - lent[row]]].concat(guests.get(pool).map((of) => [of, (lent[row] * without[of]) / room[pool]]));
    }

    // Returns each row's own value in the bins [from, end), and how much of the total is known only for ancestors.
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

    // Divides a row's value into work, overhead and so on in the proportions of the whole run. Most rows have only one
    // of them.
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

    // Computes the inclusive values from the rows' own, and adds the statements' values to their functions.
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
