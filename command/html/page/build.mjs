// Makes dist/page.html, or the file named by the argument, from src/. The page needs no other file and no network. The
// same sources give the same bytes on any machine, because package-lock.json fixes esbuild's version.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { readExplanations } from "./explanations.mjs";
import { colours, readMetrics } from "./metrics.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const command = join(here, "..", "..");
const metrics = readMetrics(join(command, "rows", "metric_table.h"));
const explanations = readExplanations(join(command, "..", "docs", "reading-a-report.md"));
// Provides the imports "blame:metrics" and "blame:explanations", and puts the metrics' colours into style.css.
const table = {
    name: "tables",
    setup({ onResolve, onLoad }) {
        onResolve({ filter: /^blame:/ }, ({ path }) => ({ path: path.slice("blame:".length), namespace: "table" }));
        onLoad({ filter: /^metrics$/, namespace: "table" }, () => ({ contents: JSON.stringify(metrics), loader: "json" }));
        onLoad({ filter: /^explanations$/, namespace: "table" }, () => ({ contents: JSON.stringify(explanations), loader: "json" }));
        onLoad({ filter: /style\.css$/ }, ({ path }) => ({ contents: colours(readFileSync(path, "utf8"), metrics), loader: "css" }));
    },
};
const target = process.argv[2] ?? join(here, "dist", "page.html");

async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, "src", entry)],
        absWorkingDir: here,
        bundle: true,
        minify: true,
        plugins: [table],
        write: false,
        format: "iife",
        target: ["chrome111", "firefox113", "safari16.4"],
        charset: "ascii",
        legalComments: "inline",
        logLevel: "warning",
    });
    return result.outputFiles[0].text.trim();
}

const script = await bundle("main.js");
const style = await bundle("style.css");
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
// The policy allows only this script and this style sheet, whatever names the data contains, and forbids all
// connections. style-src-attr is needed because the script sets widths and colours of elements.
const policy =
    `default-src 'none'; script-src ${hash(script)}; style-src-elem ${hash(style)}; ` +
    "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

let page = readFileSync(join(here, "src", "page.html"), "utf8");
for (const [place, text] of [
    ["POLICY", policy],
    ["STYLE", style],
    ["SCRIPT", script],
]) {
    const parts = page.split(`{{${place}}}`);
    if (parts.length !== 2)
        throw new Error(`src/page.html: {{${place}}} must be there once, is there ${parts.length - 1} times`);
    page = parts.join(text);
}
if (page.split("<!--BLAME-DATA-->").length !== 2)
    throw new Error("src/page.html: <!--BLAME-DATA--> must be there once");
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, page);
