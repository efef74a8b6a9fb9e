// Builds the page from its parts, and updates them when the reader chooses something.
import { choice, h } from "./dom.js";
import { Flame } from "./flame.js";
import { connectFlame } from "./flame_input.js";
import { findings, notes, shareBar, titleLine } from "./header.js";
import { phasesSection } from "./phases.js";
import { ranksSection } from "./ranks.js";
import { runSection } from "./run.js";
import { Search } from "./search.js";
import { locksSection, sectionNotes, threadsSection, waitsSection, wakesSection } from "./sections.js";
import { Source } from "./source.js";
import { Spread } from "./spread.js";
import { State } from "./state.js";
import { timelineSection } from "./timeline.js";
import { Tip } from "./tip.js";
import { Toolbar } from "./toolbar.js";
import { Tree } from "./tree.js";
import { connectTreeKeys } from "./tree_keys.js";
import { VIEWS, makeView } from "./views.js";

const MOST_MARKED = 20000,
    PRINTED_ROWS = 150;

export class Report {
    constructor(model, page) {
        this.model = model;
        this.views = new Map();
        this.state = new State({
            view: "top-down",
            metric: model.data.default_metric,
            unit: "seconds",
            at: "",
            zoom: "0",
            q: "",
            sort: "",
            colour: "itself",
            span: "",
        });
        this.search = new Search(model);
        this.tree = new Tree(model, this.state, this.search);
        this.tip = new Tip(model);
        this.flame = new Flame(model, this.state, this.search, this.tip);
        this.source = new Source(model, this.state);
        this.spread = new Spread(model);
        this.build(page);
        this.connect();
        this.fromHash();
        this.begin();
    }

    view(name = this.state.view) {
        if (!this.views.has(name)) this.views.set(name, makeView(this.model, name));
        return this.views.get(name);
    }

    build(page) {
        const { model, state } = this,
            go = (row, metric) => this.go(row, metric),
            numbers = sectionNotes(model);
        this.findings = findings(model, go);
        this.time = timelineSection(model, this.tip, go, (span) => state.set({ span }));
        this.phases = phasesSection(model, go, this.tip);
        this.ranks = ranksSection(model, this.tip);
        this.threads = threadsSection(model);
        this.locks = locksSection(model, go);
        this.waits = waitsSection(model, go);
        this.wakes = wakesSection(model, go);
        this.shares = shareBar(model, state);
        const sections = [
            this.findings && ["findings", "Findings"],
            ["time", "Time"],
            ["contexts", "Contexts"],
            this.phases && ["phases", "Phases"],
            this.ranks && ["ranks", "Ranks"],
            ["threads", "Threads"],
            ["locks", "Locks"],
            ["waits", "Waits"],
            this.wakes && ["wakes", "Wakes"],
            ["run", "Run"],
        ].filter(Boolean);
        this.toolbar = new Toolbar(model, state, this.search, sections, {
            next: (step) => this.nextMatch(step),
            toTree: () => this.tree.scroller.focus(),
            themeChanged: () => this.themeChanged(),
        }, this.time.spanLine);
        const section = (id, title, more, part) =>
            h("section", { id }, h("h2", null, title, h("small", null, more)), part.element);
        page.append(
            h("header.top", null, titleLine(model), this.shares.element, notes(model)),
            this.toolbar.element,
            h(
                "main",
                null,
                this.findings?.element,
                section("time", "Time", this.time.note, this.time),
                this.contexts(),
                this.phases && section("phases", "Phases", this.phases.note, this.phases),
                this.ranks && section("ranks", "Ranks", this.ranks.note, this.ranks),
                section("threads", "Threads", numbers.threads, this.threads),
                section("locks", "Locks", numbers.locks, this.locks),
                section("waits", "Waits", "where threads waited, and what ran meanwhile", this.waits),
                this.wakes && section("wakes", "Wakes", "which code woke threads that slept", this.wakes),
                section("run", "Run", "", runSection(model)),
            ),
            h("footer", null, `blame ${model.data.header.version ?? ""}`),
        );
        document.title = `${model.data.title || model.data.header.command || "blame"} – blame`;
    }

    contexts() {
        const { state, tree } = this;
        this.viewChoice = choice("View", VIEWS, (view) => this.changeView(view));
        this.colourChoice = choice(
            "Colour",
            [
                ["itself", "own share", "Strong colour: cost of the row itself; pale: cost of its callees"],
                ["kind", "kind", "Kind of row: procedure, parallel region, task, line, runtime and others"],
            ],
            (colour) => state.set({ colour }),
        );
        const button = (text, title, onclick) => h("button.tool", { type: "button", title, onclick }, text);
        const columnsButton = (text, title, which) => {
            const made = button(text, title, () => {
                tree.more[which] = !tree.more[which];
                made.setAttribute("aria-pressed", String(tree.more[which]));
                tree.show(this.view());
            });
            made.setAttribute("aria-pressed", "false");
            return made;
        };
        const counted = this.model.metrics.some(({ counter }) => counter),
            { error } = this.model.data;
        return h(
            "section",
            { id: "contexts" },
            h(
                "div.bar",
                null,
                h("h2", null, "Contexts"),
                h("span.filler"),
                h("span.label", null, "colour"),
                this.colourChoice.element,
            ),
            this.flame.element,
            h(
                "div.bar",
                null,
                this.viewChoice.element,
                button("Hot path", "Follow the main cause down from the selected row (h)", () => tree.hotPath()),
                button("Open all", "Open everything below the selected row, or everything (*)", () =>
                    tree.openAll(tree.selected ?? this.view().root),
                ),
                button("Close all", "Close every row", () => tree.closeAll()),
                columnsButton("All columns", "Show both values of every metric: with callees, and of the row itself", "all"),
                counted && columnsButton("Counters", "Show both values of every counter: with callees, and of the row itself", "counters"),
                error && columnsButton("±\u2009errors", "Show the sampling error of each number: 95 % of measurements are closer to the true value", "errors"),
                h("span.filler"),
                h(
                    "span.hint",
                    null,
                    h("kbd", null, "↑↓←→"),
                    " move  ",
                    h("kbd", null, "Enter"),
                    " zoom  ",
                    h("kbd", null, "h"),
                    " hot path  ",
                    h("kbd", null, "/"),
                    " search  ",
                    h("kbd", null, "n"),
                    " next",
                ),
            ),
            h("div.split", null, tree.element, this.source.element),
            this.spread.element,
        );
    }

    connect() {
        const { state, tree, flame } = this;
        state.listen((changed) => this.changed(changed));
        tree.chosen = (node) => state.set({ at: node.address });
        connectFlame(flame, (row) => this.selectRow(row, true));
        const taken = { h: () => tree.hotPath(), n: () => this.nextMatch(1), N: () => this.nextMatch(-1) };
        connectTreeKeys(tree, { taken: (key) => key in taken, enter: (node) => flame.zoomTo(this.rowOf(node)) });
        document.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("input, select, textarea"))
                return;
            if (event.key === "/") this.toolbar.input.focus();
            else if (taken[event.key]) taken[event.key]();
            else return;
            event.preventDefault();
        });
        addEventListener("hashchange", () => this.fromHash());
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themeChanged());
        addEventListener("beforeprint", () => this.print(true));
        addEventListener("afterprint", () => this.print(false));
    }

    // Returns the row that stands for a node of any view: the one in which the node's function cost most.
    rowOf(node) {
        const own = this.model.exclusive[this.model.metricIndex.get(this.state.metric)];
        let best = -1;
        for (const row of node.view.rowsOf(node)) if (best < 0 || own[row] > own[best]) best = row;
        return Math.max(0, best);
    }

    selectRow(row, quietly) {
        const node = this.view().nodeOfRow(row);
        if (!node) return;
        this.tree.select(node, quietly);
        if (quietly) this.state.set({ at: node.address });
    }

    // Shows the target of a finding, a lock or a wait: the row in the top-down tree, with its source.
    go(row, metric) {
        const { state } = this;
        const changes = {
            view: "top-down",
            ...(metric && this.model.metricIndex.has(metric) ? { metric, sort: "" } : {}),
        };
        if (row >= this.flame.zoom && row < this.model.end[this.flame.zoom]) state.set(changes);
        else state.set({ ...changes, zoom: "0" });
        this.selectRow(Math.max(0, row), false);
        document.getElementById("contexts").scrollIntoView();
        this.tree.scroller.focus({ preventScroll: true });
    }

    changeView(view) {
        const from = this.tree.selected,
            row = from ? this.rowOf(from) : 0;
        const node = from?.parent ? this.view(view).nodeOfRow(row) : null;
        this.state.set({ view, sort: "", at: node ? node.address : "" });
    }

    fromHash() {
        const { model, state } = this,
            flag = /^\d{1,9}$/;
        const values = state.readHash({
            view: (value) => VIEWS.some(([name]) => name === value),
            metric: (value) => model.metricIndex.has(value),
            unit: (value) => ["seconds", "percent"].includes(value),
            at: () => true,
            q: () => true,
            zoom: (value) => flag.test(value) && Number(value) < model.count,
            sort: (value) => /^.+:(up|down)$/.test(value),
            colour: (value) => ["itself", "kind"].includes(value),
            span: (value) => this.time.accepts(value),
        });
        Object.assign(state, values);
        this.changed(new Set(Object.keys(values)));
    }

    // Selects the main cause when the report opens, unless the page's address selects a row.
    begin() {
        if (this.state.at) return;
        this.tree.hotPath(true);
        this.showSelected();
    }

    showSelected() {
        const { tree, flame } = this,
            node = tree.selected;
        this.source.show(node ?? this.view().root);
        this.spread.show(this.span ? null : (node ?? this.view().root));
        const rows = node?.parent ? this.view().rowsOf(node) : [];
        flame.mark(rows.length <= MOST_MARKED ? rows : []);
    }

    changed(changed) {
        const { state, tree, flame } = this,
            any = (...names) => names.some((name) => changed.has(name));
        if (any("q")) this.search.set(state.q);
        if (any("span")) this.changeSpan(changed);
        if (any("view", "metric", "unit", "sort")) tree.show(this.view());
        if (any("view", "at")) {
            const node = state.at ? this.view().atAddress(state.at) : null;
            if (node && node !== tree.selected) tree.select(node, true);
            else if (!node && tree.selected?.parent) tree.selected = null;
        }
        if (any("view", "at", "metric", "unit")) this.showSelected();
        if (any("metric", "zoom", "colour")) flame.update();
        if (any("q")) {
            if (changed.size === 1) this.showMatch();
            flame.redraw();
            tree.list.draw();
        }
        this.toolbar.show();
        this.shares.show(state.metric);
        this.viewChoice.show(state.view);
        this.colourChoice.show(state.colour);
    }

    // Replaces the values of all contexts by those of the chosen span, or by those of the whole run.
    changeSpan(changed) {
        const { state, model, flame } = this;
        if ((state.span || null) === this.span) return;
        this.span = state.span || null;
        this.time.setSpan(state.span);
        for (const view of this.views.values()) view.refresh();
        if (!model.knows(state.metric)) Object.assign(state, { metric: "blame", sort: "" });
        flame.laidOut = undefined;
        this.source.totals.clear();
        const shares = shareBar(model, state);
        this.shares.element.replaceWith(shares.element);
        this.shares = shares;
        this.findings?.show();
        for (const name of ["view", "metric"]) changed.add(name);
    }

    // Selects and shows the first row that matches the search text. The search starts at the row that was selected when
    // typing began.
    showMatch() {
        const { search, state, tree } = this;
        if (!search.text) this.searchFrom = null;
        else this.searchFrom ??= tree.selected;
        if (!search.count) return;
        if (state.view === "top-down") {
            const at = this.searchFrom?.row ?? 0;
            this.selectRow(search.rows.find((row) => row >= at) ?? search.rows[0], false);
        } else {
            const { visible } = tree,
                at = Math.max(0, visible.indexOf(this.searchFrom)),
                node = [...visible.slice(at), ...visible.slice(0, at)].find((of) => of.parent && search.matches(of.row));
            if (node) tree.select(node);
        }
        this.showTree();
    }

    // Scrolls the page to the table unless the whole table is visible. On narrow screens, the search field scrolls with
    // the page, so the page stays where it is while the reader types.
    showTree() {
        const { element } = this.toolbar;
        if (getComputedStyle(element).position !== "sticky" && element.contains(document.activeElement)) return;
        const box = this.tree.scroller.getBoundingClientRect();
        if (box.top < element.getBoundingClientRect().bottom || box.bottom > innerHeight) this.tree.scroller.scrollIntoView();
    }

    // Selects the next or previous match. In grouped views, a function is one row, whatever its callers.
    nextMatch(step) {
        const { rows } = this.search,
            { tree } = this;
        if (!rows.length) return;
        this.showTree();
        if (this.state.view === "top-down") {
            const at = tree.selected ? tree.selected.row : 0;
            const next =
                step > 0
                    ? (rows.find((row) => row > at) ?? rows[0])
                    : (rows.findLast((row) => row < at) ?? rows.at(-1));
            this.selectRow(next, false);
            return;
        }
        const { visible } = tree,
            at = tree.selected ? visible.indexOf(tree.selected) : 0;
        for (let i = 1; i <= visible.length; i++) {
            const node = visible[(at + step * i + visible.length * i) % visible.length];
            if (node.parent && this.search.matches(node.row)) return tree.select(node);
        }
    }

    themeChanged() {
        this.flame.update();
        this.time.redraw();
        this.phases?.redraw();
        this.ranks?.redraw();
    }

    print(begin) {
        const root = document.documentElement;
        if (begin) {
            this.themeBefore = root.getAttribute("data-theme");
            root.setAttribute("data-theme", "light");
        } else if (this.themeBefore) root.setAttribute("data-theme", this.themeBefore);
        else root.removeAttribute("data-theme");
        for (const list of [this.tree.list, this.phases?.table.list, this.ranks?.table.list, this.threads.table?.list, this.locks.table?.list, this.waits.table?.list, this.wakes?.table.list])
            if (begin) list?.showAll(PRINTED_ROWS);
            else list?.showSome();
        this.flame.update();
        this.time.draw?.();
        this.phases?.draw();
        this.ranks?.map.draw();
        this.ranks?.curve.draw();
    }
}
