// Compares the selected row between the ranks of a job: mean, deviation, least, most, and the ranks with the least and
// the most.
import { h } from "./dom.js";
import { count, middle, oneLine } from "./format.js";
import { metricVariable } from "./palette.js";

const MEANING = {
    "time": "Thread time in any state except idle",
    "work": "Thread time in the program's code",
    "mpi wait": "Thread time in MPI, waiting for other ranks",
};

export class Spread {
    constructor(model) {
        const { spreads } = model.data;
        Object.assign(this, { model, spreads });
        this.place = new Map(spreads?.row.map((row, i) => [row, i]));
        this.element = h("section.spread", { "aria-label": "The selected row over the ranks", "aria-live": "polite", "hidden": true });
    }

    // Returns the row itself or its nearest ancestor for which the data compares ranks, -1 if there is none.
    rowOf(row) {
        for (let at = row; at >= 0; at = this.model.parent[at]) if (this.place.has(at)) return at;
        return -1;
    }

    // Shows a node. Nothing is shown for a node of several rows, because deviations cannot be added.
    show(node) {
        const rows = !node ? [] : node.parent ? node.view.rowsOf(node) : [0],
            row = this.spreads && rows.length === 1 ? this.rowOf(rows[0]) : -1;
        this.element.hidden = row < 0;
        if (row < 0) return;
        const at = this.place.get(row),
            metrics = this.spreads.metrics.filter(({ most }) => most[at] > 0),
            most = metrics.reduce((sum, of) => Math.max(sum, of.most[at]), 0);
        this.element.hidden = !metrics.length;
        this.element.replaceChildren(
            h("h3", null, h("span.row-name", null, middle(oneLine(this.model.name(row)), 80)), ` over ${count(this.spreads.of)} ranks`),
            h(
                "table.plain",
                null,
                h("thead", null, h("tr", null, ["", "ranks", "mean", "σ", "least", "rank", "most", "rank", ""].map((text) => h("th", { scope: "col" }, text)))),
                h("tbody", null, metrics.map((metric) => this.line(metric, at, most))),
            ),
        );
    }

    line(metric, at, most) {
        const text = (value) => this.model.figure({ unit: this.model.unit }, value),
            rank = (of) => this.model.strings[of] || "several",
            part = (value) => `${(100 * Math.max(0, Math.min(most, value))) / most}%`,
            [mean, deviation, least, top] = ["mean", "deviation", "least", "most"].map((name) => metric[name][at]);
        const bar = (name, from, to) =>
            h(`span.${name}`, { style: { left: part(from), width: `calc(${part(to)} - ${part(from)})` } });
        return h(
            "tr",
            null,
            h("th", { scope: "row", title: MEANING[metric.key] }, metric.key),
            [count(metric.ranks[at]), text(mean), text(deviation), text(least), rank(metric.least_rank[at]), text(top), rank(metric.most_rank[at])].map((of) =>
                h("td", null, of),
            ),
            h(
                "td.spread-cell",
                { "aria-hidden": "true" },
                h(
                    "span.spread-bar",
                    { style: { "--hue": `var(${metric.key === "time" ? "--muted" : metricVariable(metric.key)})` } },
                    bar("spread-all", least, top),
                    bar("spread-most", Math.max(least, mean - deviation), Math.min(top, mean + deviation)),
                    h("span.spread-mean", { style: { left: part(mean) } }),
                ),
            ),
        );
    }
}
