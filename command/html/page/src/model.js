// The rows of the profile as columns, and questions about them.
import METRICS from "blame:metrics";
import { MICRO, baseName, count, decimalsFor, largest, oneLine, seconds, shortCount } from "./format.js";

const inGroup = (name) => METRICS.filter(({ group }) => group === name).map(({ key }) => key);
// Parts of the thread time that the data omits if the program had none of them. They are not shown if they round to 0.0
// %.
const RARE = inGroup("RARE");
const PARTS = [...new Set(["work", ...inGroup("ALWAYS"), ...RARE])]; // parts of the thread time
const ANOTHER_IDLENESS = ["core idleness", "shared idleness"];
const OF_OPENMP = ["idleness", "overhead", "lock wait", "shared idleness"]; // not shown if there was no OpenMP and nothing of them
export const CONSTRUCTS = new Set(["parallel", "task"]);

export class FormatError extends Error {}

function check(data) {
    if (data === null || typeof data !== "object") throw new FormatError("The data in this file is not a report.");
    if (data.format !== 1)
        throw new FormatError(`The data in this file has format ${data.format}; this page reads format 1.`);
    if (!(data.rows?.count >= 1)) throw new FormatError("The report has no rows, not even that of the whole program.");
    for (const name of ["parent", "kind", "name", "line", "function"])
        if (data.rows[name]?.length !== data.rows.count)
            throw new FormatError(
                `The report's column “${name}” has ${data.rows[name]?.length} values for ${data.rows.count} rows.`,
            );
}

// Returns a column of values for each metric. In the data, 0 stands for a column of zeros, and a text names the metric
// that has the same column.
function columns(data, part, keys) {
    const made = new Map(),
        { count } = data.rows;
    const column = (key) => {
        const values = data.rows[part][key];
        if (!made.has(key)) {
            if (values === 0) made.set(key, new Float64Array(count));
            else if (typeof values === "string" && values !== key) made.set(key, column(values));
            else if (values?.length === count) made.set(key, Float64Array.from(values));
            else throw new FormatError(`The report's metric “${key}” does not have a value for each row.`);
        }
        return made.get(key);
    };
    return keys.map(column);
}

// Blame is the sum of these metrics: the time that other threads lost because of a row.
const BLAMED = ["idleness", "overhead", "lock wait"];

function blame(values, index) {
    const parts = BLAMED.map((key) => values[index.get(key)]);
    return Float64Array.from(parts[0], (_, row) => parts.reduce((sum, part) => sum + part[row], 0));
}

export class Model {
    constructor(data) {
        check(data);
        const rows = data.rows;
        this.data = data;
        this.count = rows.count;
        this.strings = data.strings.map(oneLine);
        this.kinds = data.kinds;
        this.metrics = [...data.metrics];
        // The unit of a sample's weight: "s", or "events" if samples were taken when a counter overflowed.
        this.unit = data.metrics.find(({ unit }) => unit)?.unit ?? "s";
        this.metricIndex = new Map(data.metrics.map((metric, index) => [metric.key, index]));
        this.parts = PARTS.filter((key) => this.metricIndex.has(key));
        this.parent = Int32Array.from(rows.parent);
        this.kind = Uint8Array.from(rows.kind);
        this.line = Int32Array.from(rows.line);
        this.callLine = Int32Array.from(rows.call_line);
        this.fn = Int32Array.from(rows.function);
        for (const name of ["name", "module", "file", "note"]) this[`${name}Of`] = Int32Array.from(rows[name]);
        const keys = data.metrics.map(({ key }) => key);
        this.inclusive = columns(data, "i", keys);
        this.exclusive = columns(data, "e", keys);
        this.addBlame();
        this.statementKind = data.kinds.indexOf("statement");
        this.measureTree();
        this.absent = new Set(data.header.openmp === false ? OF_OPENMP.filter((key) => !this.inclusive[this.metricIndex.get(key)]?.[0]) : []);
        this.shown = this.parts.filter((key) => !this.absent.has(key) && (!RARE.includes(key) || this.shareOfAll(key) >= 0.0005));
        this.shownIdle = this.shown.filter((key) => key === "idleness");
        this.shownOwn = this.shown.filter((key) => key !== "idleness"); // parts that threads spend in the row itself
        this.addExact(rows.exact);
        this.addBasis(data);
        this.decimals = decimalsFor(this.effort() * MICRO);
        // Free the row data, which is in the columns above now.
        data.rows = null;
    }

    addBlame() {
        if (this.metricIndex.has("blame") || !BLAMED.every((key) => this.metricIndex.has(key))) return;
        for (const values of [this.inclusive, this.exclusive]) values.push(blame(values, this.metricIndex));
        this.metricIndex.set("blame", this.metrics.length);
        this.metrics.push({ key: "blame", title: "blame", unit: this.unit });
    }

    // Adds columns for calls and clock times, which few rows have, after the columns of the metrics.
    addExact(exact) {
        this.exact = [];
        if (!exact?.row?.length) return;
        const spread = (values) => {
            const made = new Float64Array(this.count);
            exact.row.forEach((row, i) => {
                made[row] = values[i];
            });
            return made;
        };
        const calls = spread(exact.calls),
            decimals = decimalsFor(largest(exact.i) * MICRO);
        this.exact = [
            { key: "exact", title: "exact", unit: "s", decimals, index: this.inclusive.length },
            { key: "calls", title: "calls", unit: "", index: this.inclusive.length + 1 },
        ];
        this.inclusive.push(spread(exact.i), calls);
        this.exclusive.push(spread(exact.e), calls);
    }

    // Adds the columns that errors are computed from: busy time, idleness while other threads were busy, the number of
    // the trees that had it, and for each metric what stays in one context take from the variance. A column that the data
    // lacks is null.
    addBasis(data) {
        const beyond = this.metrics.map(({ key }) => `beyond ${key}`);
        this.basis = ["own", "beside", "trees", ...beyond].map((name) => {
            if (!data.rows.i[name]) return null;
            this.exclusive.push(...columns(data, "e", [name]));
            return this.inclusive.push(...columns(data, "i", [name])) - 1;
        });
    }

    // Returns the values in the columns that errors are computed from. value(column) returns the value in a column.
    basisOf(value) {
        return this.basis.map((column) => (column === null ? undefined : value(column)));
    }

    measureTree() {
        const { count, parent } = this;
        this.end = new Int32Array(count);
        this.depth = new Int32Array(count);
        for (let i = 1; i < count; i++) {
            if (!(parent[i] >= 0 && parent[i] < i))
                throw new FormatError(`Row ${i} of the report is not below an earlier row.`);
            this.depth[i] = this.depth[parent[i]] + 1;
        }
        for (let i = count - 1; i >= 0; i--) {
            if (!this.end[i]) this.end[i] = i + 1;
            const above = parent[i];
            if (i && this.end[above] < this.end[i]) this.end[above] = this.end[i];
        }
    }

    isStatement(row) {
        return this.kind[row] === this.statementKind;
    }
    kindsShown() {
        const shown = new Set(this.kind);
        return this.kinds.filter((_, kind) => shown.has(kind));
    }
    kindName(row) {
        return this.kinds[this.kind[row]];
    }
    name(row) {
        return this.strings[this.nameOf[row]];
    }
    module(row) {
        return this.strings[this.moduleOf[row]];
    }
    file(row) {
        return this.strings[this.fileOf[row]];
    }
    note(row) {
        return this.strings[this.noteOf[row]];
    }

    *children(row) {
        for (let child = row + 1; child < this.end[row]; child = this.end[child]) yield child;
    }

    metric(key) {
        return this.metrics[this.metricIndex.get(key)];
    }

    // Tells whether a metric is known: for a span of time, some are not.
    knows(key) {
        return !this.knownMetrics || this.knownMetrics.has(key);
    }

    // Returns the thread time of the whole program, with the kind of idleness that the metric belongs to.
    effort(metric = "idleness") {
        const idleness = ANOTHER_IDLENESS.includes(metric) ? metric : "idleness";
        let sum = 0;
        for (const key of this.parts) sum += this.inclusive[this.metricIndex.get(key === "idleness" ? idleness : key)][0];
        return sum;
    }

    // Returns the time of threads while no thread was busy. No row contains it. In a span it is unknown, and 0 is
    // returned.
    nobody() {
        return this.span ? 0 : (this.data.header.nobody_busy_s ?? 0) / MICRO;
    }

    // Returns the time that the cores offered, or 0 if it is not shown how long they were idle.
    cores() {
        return this.span ? 0 : (this.data.header.cores_s ?? 0) / MICRO;
    }

    // Returns what a metric's percentages are of, as in blame report: all samples, or the whole program's effort.
    whole(metric) {
        if (metric === "core idleness" && this.cores()) return this.cores();
        const index = this.metricIndex.get(metric);
        return this.metrics[index].unit ? this.effort(metric) : this.inclusive[index][0];
    }

    // Returns a value as text that fits into a column.
    figure(metric, value, number = shortCount, decimals = metric.decimals ?? this.decimals) {
        if (metric.unit === "s") return seconds(value, decimals);
        if (metric.unit !== "events") return metric.counter ? number(value) : count(value);
        const events = value * MICRO;
        return this.effort() * MICRO >= 1000 ? number(events) : String(Number(events.toFixed(2)));
    }

    // Returns a value with all digits and its unit. Samples and counts have no unit.
    text(metric, value, decimals) {
        const figure = this.figure(metric, value, count, decimals);
        return metric.unit ? `${figure} ${metric.unit}` : figure;
    }

    // Returns the sampling error of a value: 95 % of measurements are closer to the true value. The formula and its
    // figures come from command/rows/error.c. Returns null if the error is unknown.
    error(key, value, [own = null, beside = 0, trees = 0, ...beyond] = []) {
        const { deviations, of, trees: narrower } = this.data.error ?? { of: {} };
        if (this.span || !Object.hasOwn(of, key) || (of[key].own && own === null)) return null;
        const form = of[key],
            [all, rains] = narrower?.[trees - 1]?.[key] ?? [form.all, form.rains],
            alone = Math.abs(form.each * value + form.own * own),
            rain = Math.max(0, alone - form.beside * beside),
            evenRain = rains > 0 ? rain ** 2 / rains : Infinity,
            evenValue = all > 0 ? value ** 2 / all : Infinity,
            even = all > 0 || rains > 0 ? Math.min(evenValue, evenRain) : 0,
            saved = Math.max(even, -(beyond[this.metricIndex.get(key)] ?? 0)),
            left = Math.min(rain, form.together * Math.max(0, rain - saved)),
            unseen = Math.max(left, rain * form.ends);
        return deviations * Math.sqrt(form.few * (alone > 0 ? unseen / alone : 1) + left);
    }

    rowError(row, metric, exclusive) {
        const values = exclusive ? this.exclusive : this.inclusive;
        const basis = this.basisOf((column) => values[column][row]);
        return this.error(this.metrics[metric].key, values[metric][row], basis);
    }

    // Returns a value and its error as text, such as "1.234 s ± 0.120 (95 %)", or only the value if the error is
    // unknown.
    stated(metric, value, error = this.error(metric.key, value), decimals = undefined) {
        const text = this.text(metric, value, decimals);
        return error === null ? text : `${text} ± ${this.figure(metric, error, count, decimals)} (95\u2009%)`;
    }

    // Returns a value of a table as text. Values of tables are seconds or events, not multiples of 1e-6.
    tableFigure(value) {
        return this.figure({ unit: this.unit }, value / MICRO);
    }

    share(metric, value) {
        const whole = this.whole(metric);
        return whole > 0 && value > 0 ? Math.min(1, value / whole) : 0;
    }

    shareOfAll(key) {
        return this.share(key, this.inclusive[this.metricIndex.get(key)][0]);
    }

    // Returns where a row's code is, such as "solve.c:40".
    place(row) {
        const file = this.file(row);
        if (file) return this.line[row] > 0 ? `${baseName(file)}:${this.line[row]}` : baseName(file);
        return this.module(row);
    }

    path(row) {
        const path = [];
        for (let at = row; at >= 0; at = this.parent[at]) path.push(at);
        return path.reverse();
    }
}

// Returns the object in the page's data script, or throws an error that says what is wrong with it.
export function readData() {
    const element = document.getElementById("blame-data");
    if (!element) throw new FormatError("This page contains no data: it is the template that blame html fills in.");
    let data;
    try {
        data = JSON.parse(element.textContent);
    } catch (error) {
        throw new FormatError(`The data in this file cannot be read (${error.message}); the file may be incomplete.`);
    }
    element.remove();
    return data;
}
