// Reads the explanations of rows that are not code from docs/reading-a-report.md, so that the page has the same sentences.
import { readFileSync } from "node:fs";

const HEADING = "## Rows that are not code";

// Returns [name, explanation] for each row of the table below the heading, without Markdown's quotes.
export function readExplanations(path) {
    const [, section] = readFileSync(path, "utf8").split(`${HEADING}\n`);
    if (!section) throw new Error(`${path}: no "${HEADING}"`);
    const rows = [...section.split("\n## ")[0].matchAll(/^\| `(<.*?>)` \| (.*) \|$/gm)];
    if (!rows.length) throw new Error(`${path}: no rows below "${HEADING}"`);
    return rows.map(([, name, text]) => [name, text.replaceAll("`", "")]);
}
