// Reads the rows of command/rows/metric_table.h for the page.
import { readFileSync } from "node:fs";

const GROUPS = ["ALWAYS", "OTHERS", "RARE", "RANKS", "BLAME"];

// Returns { group, key, summary, light, dark, help } for each row. The literals of a row are word, title, unit, summary
// or NULL, light, dark, help; adjacent literals are joined.
export function readMetrics(path) {
    const text = readFileSync(path, "utf8").replace(/\\\n/g, " ");
    return GROUPS.flatMap((group) => {
        const [, rows] = text.match(new RegExp(`#define METRIC_TABLE_${group}\\(METRIC\\)(.*)`)) ?? [];
        if (!rows) throw new Error(`${path}: no METRIC_TABLE_${group}`);
        return rows.split(/\bMETRIC\(/).slice(1).map((row) => {
            const found = [...row.replace(/"\s+"/g, "").matchAll(/"([^"]*)"|\bNULL\b/g)].map(([, literal]) => literal ?? null);
            if (found.length !== 7) throw new Error(`${path}: ${found.length} literals, not 7: METRIC(${row}`);
            const [, key, , summary, light, dark, help] = found;
            return { group, key, summary, light, dark, help };
        });
    });
}

// Returns the style sheet with the metrics' colours in the places "--metrics: light;" and "--metrics: dark;".
export function colours(style, metrics) {
    return style.replace(/--metrics: (light|dark);/g, (_, theme) =>
        metrics.map((metric) => `--metric-${metric.key.replace(/ /g, "-")}: ${metric[theme]};`).join(" "),
    );
}
