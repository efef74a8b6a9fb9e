// The source around the selected row, with the cost of each line.
import { h } from "./dom.js";
import { baseName, percent, plural } from "./format.js";
import { metricVariable } from "./palette.js";

export class Source {
    constructor(model, state) {
        Object.assign(this, {
            model,
            state,
            snippets: new Map(),
            missing: new Map((model.data.sources_missing ?? []).map(({ file, why }) => [file, why])),
            totals: new Map(),
        });
        for (const source of model.data.sources ?? []) {
            if (!this.snippets.has(source.file)) this.snippets.set(source.file, []);
            this.snippets.get(source.file).push(source);
        }
        this.title = h("h3.source-title");
        this.body = h("div.source-body", { "tabindex": "0", "role": "region", "aria-label": "Source" });
        this.element = h("aside.source", { "aria-label": "Source of the selected row" }, this.title, this.body);
    }

    // Returns the cost of each line of a file in the whole program.
    fileTotals(file, metric) {
        const { model } = this;
        if (!this.totals.has(metric)) {
            const files = new Map();
            for (let row = 1; row < model.count; row++) {
                const value = model.exclusive[metric][row];
                if (!model.isStatement(row) || value === 0) continue;
                const of = model.fileOf[row];
                if (!files.has(of)) files.set(of, new Map());
                files.get(of).set(model.line[row], (files.get(of).get(model.line[row]) ?? 0) + value);
            }
            this.totals.set(metric, files);
        }
        return this.totals.get(metric).get(file) ?? new Map();
    }

    // Returns the cost of the lines in the row's own file: of the line itself, and of the calls in it.
    linesOf(node, file, metric) {
        const { model } = this,
            lines = new Map();
        const add = (line, own, called) => {
            const sum = lines.get(line) ?? { own: 0, called: 0 };
            lines.set(line, { own: sum.own + own, called: sum.called + called });
        };
        for (const row of node.view.rowsOf(node)) {
            if (model.isStatement(row)) add(model.line[row], model.exclusive[metric][row], 0);
            else
                for (const child of model.children(row)) {
                    if (model.isStatement(child)) {
                        if (model.fileOf[child] === file) add(model.line[child], model.exclusive[metric][child], 0);
                    } else if (model.callLine[child] > 0 && model.fileOf[row] === file)
                        add(model.callLine[child], 0, model.inclusive[metric][child]);
                }
        }
        return lines;
    }

    // Returns the file and line where most of a node's cost is. A row that is not code, such as <no core>, has the line
    // of the row above.
    target(node, metric) {
        const { model } = this,
            coded = (of) => (model.kindName(of) === "pseudo" && model.parent[of] > 0 ? model.parent[of] : of),
            row = coded(node.row);
        if (node.callLine > 0) return { file: model.fileOf[row], line: node.callLine };
        if (node.callLine === 0 || model.isStatement(row)) return { file: model.fileOf[row], line: model.line[row] };
        let best = null,
            most = 0;
        for (const of of node.view.rowsOf(node).map(coded))
            for (const child of model.children(of)) {
                const statement = model.isStatement(child);
                const value = statement ? model.exclusive[metric][child] : model.inclusive[metric][child];
                if (value > most && (statement || model.callLine[child] > 0)) {
                    most = value;
                    best = statement
                        ? { file: model.fileOf[child], line: model.line[child] }
                        : { file: model.fileOf[of], line: model.callLine[child] };
                }
            }
        if (best && model.strings[best.file]) return best;
        if (model.strings[model.fileOf[row]] || model.callLine[row] <= 0)
            return { file: model.fileOf[row], line: model.line[row] };
        return { file: model.fileOf[model.parent[row]], line: model.callLine[row] };
    }

    show(node) {
        this.node = node;
        const { model, state } = this;
        if (!node) return this.say("", "Select a row to see its source.");
        const metric = model.metricIndex.get(state.metric),
            { file, line } = this.target(node, metric),
            name = model.strings[file];
        if (!name)
            return this.say(
                model.name(node.row),
                node.parent
                    ? "No source line is known for this row. Code has source lines if it is compiled with -g."
                    : "The whole program. Select a row to see its source.",
            );
        const title = `${baseName(name)}${line > 0 ? `:${line}` : ""}`,
            snippets = this.snippets.get(file);
        if (!snippets) return this.say(title, this.absence(file, name));
        this.element.classList.remove("nothing");
        this.title.replaceChildren(
            h("span.source-file", { title: name }, title),
            h("span.source-metric", null, model.metrics[metric].title),
        );
        this.fill(snippets, file, line, metric);
    }

    absence(file, name) {
        if (this.model.data.sources_wanted === false) return "This report was made without sources (--no-source).";
        if (this.missing.has(file))
            return `${name} could not be shown: ${this.missing.get(file)}. blame html --source-dir DIR also looks in DIR.`;
        return `No line of ${name} cost enough to be in this report.`;
    }

    // Returns a warning about the lines shown, if there is one.
    remark(file) {
        if (!this.model.data.sources_changed?.includes(file)) return [];
        return [h("p.source-remark", null, "The file has changed since the program ran, so its lines may not match.")];
    }

    say(title, text) {
        this.title.textContent = title;
        this.element.classList.add("nothing");
        this.body.replaceChildren(h("p.source-none", null, text));
    }

    fill(snippets, file, line, metric) {
        const here = this.linesOf(this.node, file, metric),
            everywhere = this.fileTotals(file, metric);
        // A caller in the bottom-up view has the part of the callee's cost that comes from its call.
        if (this.node.callLine > 0) here.set(line, { own: 0, called: this.node.exclusive[metric] });
        const most = Math.max(
            0,
            ...[...here.values()].map((value) => value.own + value.called),
            ...everywhere.values(),
        );
        const lines = [
            h(
                "div.source-line.source-head",
                { "aria-hidden": "true" },
                h("span.source-number", null, "line"),
                h("span.source-value", { title: "Cost of the line and its callees in the selected row" }, "here"),
                h(
                    "span.source-value.all",
                    { title: "Cost of the line itself in the whole program" },
                    "all",
                ),
                h("span.source-bar"),
            ),
        ];
        let target = null,
            before = null;
        for (const snippet of snippets) {
            if (before !== null && snippet.first > before)
                lines.push(h("div.source-gap", null, `⋯ ${plural(snippet.first - before, "line")}`));
            snippet.lines.forEach((text, i) => {
                const element = this.makeLine(snippet.first + i, text, here, everywhere, most);
                if (snippet.first + i === line) target = element;
                lines.push(element);
            });
            before = snippet.first + snippet.lines.length;
        }
        target?.classList.add("target");
        this.setColumns(snippets, [here, everywhere]);
        this.body.style.setProperty("--hue", `var(${metricVariable(this.state.metric)})`);
        this.body.replaceChildren(...this.remark(file), ...lines);
        if (!target && line > 0)
            this.body.prepend(
                h("p.source-none", null, `This report does not contain line ${line} of the file.`),
            );
        else if (target) this.body.scrollTop = target.offsetTop - this.body.clientHeight / 2;
    }

    // Makes each column of numbers as wide as its longest number.
    setColumns(snippets, [here, everywhere]) {
        const last = snippets.at(-1),
            longest = (texts, least) => texts.reduce((most, text) => Math.max(most, text.length), least) + 1.5,
            values = (of) => [...of].map((value) => this.number(value));
        const widths = [
            longest([String(last.first + last.lines.length)], 4),
            longest(values([...here.values()].map(({ own, called }) => own + called)), 4),
            longest(values(everywhere.values()), 3),
        ];
        this.body.style.setProperty("--source-columns", `${widths.map((width) => `${width}ch`).join(" ")} 2.6rem`);
    }

    makeLine(number, text, here, everywhere, most) {
        const { own, called } = here.get(number) ?? { own: 0, called: 0 },
            all = everywhere.get(number) ?? 0;
        const part = (value) => (most > 0 ? Math.max(0, value / most) : 0);
        return h(
            "div.source-line",
            { style: { "--own": part(own), "--called": part(own + called), "--all": part(all) } },
            h("span.source-number", null, number),
            h("span.source-value", { title: this.stated(own + called) }, this.number(own + called)),
            h("span.source-value.all", { title: this.stated(all) }, this.number(all)),
            h("span.source-bar", { "aria-hidden": "true" }),
            h("code", null, text || " "),
        );
    }

    stated(value) {
        return value === 0 ? null : this.model.stated(this.model.metric(this.state.metric), value);
    }

    number(value) {
        if (value === 0) return "";
        const metric = this.model.metric(this.state.metric);
        if (this.state.unit === "percent") return percent(this.model.share(metric.key, value));
        return this.model.figure(metric, value);
    }
}
