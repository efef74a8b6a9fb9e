// The table of a view: a tree of which only the visible rows exist as elements.
import { h } from "./dom.js";
import {count, percent} from "./format.js";
import { chooseColumns } from "./columns.js";
import { VirtualList } from "./virtual.js";
import { metricVariable } from "./palette.js";
import { explanation } from "./pseudo.js";

const ROW = 25,
    MOST_OPENED = 200000,
    HALF = 0.5,
    LEAST_FIRST = 0.05,
    MOST_FIRST = 24,
    LEAST_NAME = "min(16rem, 52vw)";

export class Tree {
    constructor(model, state, search) {
        Object.assign(this, {
            model,
            state,
            search,
            visible: [],
            selected: null,
            more: { all: false, counters: false, errors: false }, // optional columns that are shown
            begun: new Set(),
            chosen: () => {},
        });
        this.head = h("div.tree-head", { role: "row" });
        this.body = h("div.tree-body", { role: "rowgroup" });
        this.scroller = h(
            "div.tree-scroller",
            { "role": "treegrid", "tabindex": "0", "aria-label": "Contexts" },
            h("div.tree-head-group", { role: "rowgroup" }, this.head),
            this.body,
        );
        this.says = h("p.tree-says", { "aria-live": "polite" });
        this.element = h("div.tree", null, this.scroller, this.says);
        this.list = new VirtualList(
            this.scroller,
            this.body,
            ROW,
            () => this.makeRow(),
            (row, index) => this.fillRow(row, index),
        );
        this.body.addEventListener("click", (event) => this.onClick(event));
        this.body.addEventListener("dblclick", (event) => {
            const index = event.target.closest(".tree-row")?.index;
            if (index !== undefined && !event.target.closest(".twist")) this.toggle(index);
        });
    }

    // Shows a view after its metric or order has changed. Open rows stay open.
    show(view) {
        const { model, state } = this;
        if (this.view !== view) this.selected = null;
        this.view = view;
        view.root.open = true;
        this.columns = chooseColumns(model, view, state.metric, this.more);
        this.drawHead();
        this.flatten();
        if (!this.begun.has(view)) this.openFirst();
        this.begun.add(view);
        for (const row of this.list.pool.splice(0)) row.remove();
        this.list.setCount(this.visible.length);
    }

    get order() {
        const { sort } = this.state,
            at = sort.lastIndexOf(":"),
            [id, direction] = [sort.slice(0, Math.max(0, at)), sort.slice(at + 1)],
            given = this.columns.find((column) => column.id === id);
        return { column: given ?? this.columns[1], descending: given ? direction !== "up" : true };
    }

    // Opens the main causes, as many as fit into the table.
    openFirst() {
        const [, { metric, exclusive }] = this.columns,
            { view } = this,
            least = LEAST_FIRST * view.value(view.root, metric, false);
        if (view.root.children.some((node) => node.open)) return;
        let queue = [view.root],
            rows = 1;
        while (queue.length && rows < MOST_FIRST) {
            const next = [];
            for (const node of queue) {
                if (node.parent && view.byExclusive) continue;
                if (rows + node.children.length > MOST_FIRST && node.parent) continue;
                node.open = true;
                rows += node.children.length;
                next.push(
                    ...node.children.filter(
                        (child) =>
                            view.hasChildren(child) && view.value(child, metric, exclusive) >= least && least > 0,
                    ),
                );
            }
            queue = next;
        }
        this.flatten();
    }

    drawHead() {
        const { column: by, descending } = this.order;
        this.scroller.setAttribute("aria-colcount", this.columns.length);
        this.scroller.style.setProperty("--hue", `var(${metricVariable(this.state.metric)})`);
        const widths = this.columns
            .slice(1)
            .map((column) => (column.primary ? 7.4 : Math.max(4, 0.47 * column.title.length + 1.05)));
        this.scroller.style.setProperty(
            "--columns",
            `minmax(0, 1fr) ${widths.map((width) => `${width}rem`).join(" ")}`,
        );
        this.scroller.style.setProperty("--least", `calc(${LEAST_NAME} + ${widths.reduce((sum, width) => sum + width, 0.5)}rem)`);
        this.head.replaceChildren(
            ...this.columns.map((column) =>
                h(
                    "div.tree-title",
                    {
                        "role": "columnheader",
                        "title": column.error ? column.about : `Sort by ${column.about}`,
                        "class": column.metric === undefined ? "tree-title name" : "tree-title",
                        "aria-sort": column !== by ? "none" : descending ? "descending" : "ascending",
                    },
                    column.error
                        ? column.title
                        : h(
                              "button",
                              {
                                  "type": "button",
                                  "tabindex": "-1",
                                  "data-column": column.id,
                                  "onclick": () => this.sortBy(column),
                              },
                              column.title,
                          ),
                ),
            ),
        );
    }

    sortBy(column) {
        const { column: by, descending } = this.order;
        const down = column === by ? !descending : column.metric !== undefined;
        this.state.set({ sort: `${column.id}:${down ? "down" : "up"}` });
    }

    rowsBelow(node) {
        const { column, descending } = this.order,
            found = [],
            stack = [];
        const push = (of) => {
            const children = this.view.sort(of, column, descending);
            for (let i = children.length; i-- > 0;) stack.push(children[i]);
        };
        if (node.open) push(node);
        while (stack.length) {
            const next = stack.pop();
            found.push(next);
            if (next.open) push(next);
        }
        return found;
    }

    flatten() {
        this.visible = [this.view.root, ...this.rowsBelow(this.view.root)];
        this.scroller.setAttribute("aria-rowcount", this.visible.length + 1);
    }

    makeRow() {
        const row = h("div.tree-row", { role: "row" });
        row.twist = h("span.twist", { "aria-hidden": "true" });
        row.kind = h("span.kind", { "aria-hidden": "true" });
        row.call = h("span.call");
        row.name = h("span.row-name");
        row.note = h("span.note");
        row.place = h("span.place");
        row.first = h(
            "div.cell.name",
            { role: "rowheader" },
            row.twist,
            row.kind,
            row.call,
            row.name,
            h("span.rest", null, row.note, row.place),
        );
        row.numbers = this.columns.slice(1).map((column) =>
            h("div.cell.number", {
                role: "gridcell",
                class: `cell number${column.primary ? " primary" : column.error ? " off" : ""}`,
            }),
        );
        row.append(row.first, ...row.numbers);
        return row;
    }

    fillRow(row, index) {
        const { view } = this,
            node = this.visible[index],
            label = view.label(node),
            inside = view.hasChildren(node);
        row.index = index;
        row.id = `row-${index}`;
        row.className = `tree-row kind-${label.kind}${node === this.selected ? " selected" : ""}${this.search.matches(node.row) ? " match" : ""}`;
        row.setAttribute("aria-level", node.level + 1);
        row.setAttribute("aria-rowindex", index + 2);
        row.setAttribute("aria-selected", String(node === this.selected));
        if (inside) row.setAttribute("aria-expanded", String(node.open));
        else row.removeAttribute("aria-expanded");
        // Deep levels are indented less, so that names stay visible.
        row.first.style.setProperty(
            "--indent",
            `${Math.min(node.level, 16) * 13 + Math.max(0, Math.min(node.level - 16, 60)) * 3}px`,
        );
        row.twist.textContent = inside ? (node.open ? "▾" : "▸") : "";
        row.call.textContent = label.call ? `${label.call}:` : "";
        row.name.textContent = label.name;
        row.note.textContent = label.note ? `(${label.note})` : "";
        row.place.textContent = label.place;
        row.first.title = [label.name, this.model.file(node.row) || this.model.module(node.row), explanation(label.name)]
            .filter(Boolean)
            .join("\n");
        this.columns.slice(1).forEach((column, i) => this.fillNumber(row.numbers[i], column, node));
    }

    fillNumber(cell, column, node) {
        const { model, state } = this,
            value = this.view.value(node, column.metric, column.exclusive),
            error = this.view.error(node, column.metric, column.exclusive),
            shown = column.error ? error : value;
        const share = column.exact ? 0 : model.share(column.key, shown);
        let text = "";
        if (value !== 0) {
            if (state.unit === "percent" && !column.exact) text = percent(share, column.primary ? 2 : 1);
            else text = model.figure(column, shown);
        }
        cell.textContent = text;
        const more = error !== null || column.counter || column.unit === "events";
        cell.title = value !== 0 && more ? model.stated(column, value, error) : "";
        if (column.primary) {
            if (value !== 0 && state.unit !== "percent")
                cell.append(h("span.share-of", null, `${percent(share)}\u2009%`));
            this.drawBar(cell, value, error, this.view.value(this.view.root, column.metric, false));
        }
    }

    // Draws the bar, whose length is the value's share of the whole, and the whisker from the least to the most that
    // the value may be.
    drawBar(cell, value, error, all) {
        const part = (of) => (all > 0 ? Math.max(0, Math.min(1, of / all)) : 0);
        cell.style.setProperty("--share", part(value));
        cell.style.setProperty("--low", part(value - error));
        cell.style.setProperty("--high", part(value + error));
        cell.classList.toggle("whisker", error !== null && value !== 0);
    }

    onClick(event) {
        const row = event.target.closest(".tree-row");
        if (!row) return;
        if (event.target.closest(".twist")) this.toggle(row.index);
        else this.select(this.visible[row.index]);
    }

    toggle(index, open) {
        const node = this.visible[index],
            wanted = open ?? !node.open;
        if (wanted === node.open || !this.view.hasChildren(node)) return;
        const below = node.open ? this.rowsBelow(node).length : 0;
        node.open = wanted;
        const now = this.rowsBelow(node);
        this.visible = this.visible.slice(0, index + 1).concat(now, this.visible.slice(index + 1 + below));
        this.refresh();
    }

    refresh() {
        this.scroller.setAttribute("aria-rowcount", this.visible.length + 1);
        this.list.setCount(this.visible.length);
        this.showActive();
    }

    showActive() {
        const index = this.selected ? this.visible.indexOf(this.selected) : -1;
        if (index >= 0) this.scroller.setAttribute("aria-activedescendant", `row-${index}`);
        else this.scroller.removeAttribute("aria-activedescendant");
    }

    // Selects a node and opens all its ancestors.
    select(node, quietly = false) {
        let opened = false;
        for (let above = node.parent; above; above = above.parent) if (!above.open) above.open = opened = true;
        this.selected = node;
        if (opened || !this.visible.includes(node)) {
            this.flatten();
            this.list.setCount(this.visible.length);
        }
        this.list.show(this.visible.indexOf(node), true);
        this.showActive();
        if (!quietly) this.chosen(node);
    }

    // Opens everything below a node, up to MOST_OPENED rows.
    openAll(node) {
        const stack = [node];
        let opened = 0;
        while (stack.length && opened < MOST_OPENED) {
            const next = stack.pop();
            if (!this.view.hasChildren(next)) continue;
            next.open = true;
            opened += next.children.length;
            for (let i = next.children.length; i-- > 0;)
                if (this.view.hasChildren(next.children[i])) stack.push(next.children[i]);
        }
        this.says.textContent = stack.length ? `More than ${count(MOST_OPENED)} rows: the rest stays closed.` : "";
        this.flatten();
        this.refresh();
    }

    closeAll() {
        for (const node of this.visible) node.open = node === this.view.root;
        this.says.textContent = "";
        this.flatten();
        this.refresh();
    }

    // Follows the costliest child down from the selected row until no child has at least half of the cost.
    hotPath(quietly = false) {
        const [, { metric, exclusive }] = this.columns;
        let node = this.selected ?? this.view.root;
        if (!this.view.hasChildren(node)) node = this.view.root;
        const value = (of) => this.view.value(of, metric, exclusive);
        for (;;) {
            let best = null;
            for (const child of node.children) if (!best || value(child) > value(best)) best = child;
            // Below the whole program, the largest cause is taken even if it has less than half; when the page opens,
            // it must have at least LEAST_FIRST.
            const least = node.parent
                ? HALF * this.view.value(node, metric, exclusive)
                : quietly
                  ? LEAST_FIRST * this.view.value(node, metric, false)
                  : 0;
            if (!best || value(best) <= 0 || value(best) < least) break;
            node.open = true;
            node = best;
        }
        this.flatten();
        this.list.setCount(this.visible.length);
        this.select(node, quietly);
    }
}
