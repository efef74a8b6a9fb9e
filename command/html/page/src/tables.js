// A flat table that can be sorted by each column. Only the visible rows exist as elements.
import { h } from "./dom.js";
import { VirtualList } from "./virtual.js";

const ROW = 25,
    MOST_HEIGHT = 430;

// Each column is { id, title, about, width, numeric, value(row), draw(cell, row) }.
export class Table {
    constructor(name, columns, rows) {
        Object.assign(this, { columns, rows, sorted: null, descending: true });
        this.head = h("div.tree-head", { role: "row" });
        this.body = h("div.tree-body", { role: "rowgroup" });
        this.element = h(
            "div.tree-scroller.table",
            { "role": "table", "tabindex": "0", "aria-label": name, "aria-rowcount": rows.length + 1 },
            h("div.tree-head-group", { role: "rowgroup" }, this.head),
            this.body,
        );
        this.element.style.setProperty("--columns", columns.map((column) => column.width ?? "6.5rem").join(" "));
        const least = columns.reduce((sum, { width }) => sum + Number(/[\d.]+/.exec(width ?? "6.5rem")[0]), 0);
        this.element.style.setProperty("--least", `${least + 1}rem`);
        this.element.style.height = `${Math.min(MOST_HEIGHT, (rows.length + 1) * ROW + 16)}px`;
        this.list = new VirtualList(
            this.element,
            this.body,
            ROW,
            () => this.makeRow(),
            (row, index) => this.fillRow(row, index),
        );
        this.element.addEventListener("keydown", (event) => {
            if (event.key === "Home" || event.key === "End") {
                this.list.show(event.key === "Home" ? 0 : rows.length - 1);
                event.preventDefault();
            }
        });
        this.drawHead();
        this.list.setCount(rows.length);
    }

    drawHead() {
        this.head.replaceChildren(
            ...this.columns.map((column) =>
                h(
                    "div",
                    {
                        "class": `tree-title${column.numeric ? "" : " name"}`,
                        "role": "columnheader",
                        "title": column.about,
                        "aria-sort": column !== this.sorted ? "none" : this.descending ? "descending" : "ascending",
                    },
                    column.value
                        ? h(
                              "button",
                              { "type": "button", "data-column": column.id, "onclick": () => this.sortBy(column) },
                              column.title,
                          )
                        : column.title,
                ),
            ),
        );
    }

    sortBy(column) {
        this.descending = this.sorted === column ? !this.descending : Boolean(column.numeric);
        this.sorted = column;
        const sign = this.descending ? -1 : 1;
        this.rows.sort((a, b) => {
            const left = column.value(a),
                right = column.value(b);
            return sign * (left < right ? -1 : left > right ? 1 : 0);
        });
        this.drawHead();
        this.list.draw();
    }

    makeRow() {
        const row = h("div.tree-row", { role: "row" });
        row.cells = this.columns.map((column) =>
            h("div", { class: `cell ${column.numeric ? "number" : "text"}`, role: "cell" }),
        );
        row.append(...row.cells);
        return row;
    }

    fillRow(element, index) {
        const row = this.rows[index];
        element.setAttribute("aria-rowindex", index + 2);
        this.columns.forEach((column, i) => {
            const cell = element.cells[i];
            cell.replaceChildren();
            cell.removeAttribute("title");
            column.draw(cell, row);
        });
    }
}
