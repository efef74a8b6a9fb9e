// The three views of the rows. Their nodes are made when their parent is opened. Top-down is the tree of the rows.
// Bottom-up and flat group all rows of a function, its instances. A group's exclusive value is the sum over its
// instances; its inclusive value ignores instances that lie in another instance, so recursion counts once.
import { CONSTRUCTS } from "./model.js";
import { baseName } from "./format.js";

export const VIEWS = [
    ["top-down", "Top-down", "Callers with their callees below, from main on"],
    ["bottom-up", "Bottom-up", "Functions by their own cost, with their callers below"],
    ["flat", "Flat", "Functions by their own cost, with their source lines below"],
];
const CALLERS_DEPTH = 128;

class Node {
    constructor(view, parent, row, key) {
        this.view = view;
        this.parent = parent;
        this.row = row; // a row of the group, or in top-down the row itself
        this.key = key; // distinguishes the node from its siblings
        this.level = parent ? parent.level + 1 : 0;
        this.open = false;
        this.list = null;
        this.sortedBy = "";
    }

    get children() {
        return (this.list ??= this.view.makeChildren(this));
    }

    // Returns the node's name in the page's address, "" for the root.
    get address() {
        return this.view.addressOf(this);
    }
}

class View {
    constructor(model, name) {
        this.model = model;
        this.name = name;
        this.byExclusive = name !== "top-down";
    }

    addressOf(node) {
        const keys = [];
        for (let at = node; at.parent; at = at.parent) keys.push(at.key);
        return keys.reverse().join(".");
    }

    atAddress(text) {
        return this.find(text.split("."));
    }

    find(path) {
        let node = this.root;
        for (const key of path) {
            node = node.children.find((child) => child.key === key);
            if (!node) return null;
        }
        return node;
    }

    // Sorts the children by value or by name. Equal children keep their order in the profile.
    sort(node, column, descending) {
        const by = `${column.id}/${descending}`;
        if (node.sortedBy === by) return node.children;
        const sign = descending ? -1 : 1,
            list = node.children;
        const name = (child) => this.model.name(child.row);
        if (column.metric === undefined)
            list.sort((a, b) => sign * (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0) || a.order - b.order);
        else
            list.sort(
                (a, b) =>
                    sign *
                        (this.value(a, column.metric, column.exclusive) -
                            this.value(b, column.metric, column.exclusive)) || a.order - b.order,
            );
        node.sortedBy = by;
        return list;
    }

    // Takes over new values of the rows. Open nodes stay open.
    refresh() {
        const stack = [this.root];
        while (stack.length) {
            const node = stack.pop();
            node.sortedBy = "";
            this.sum?.(node);
            if (node.list) stack.push(...node.list);
        }
    }

    error(node, metric, exclusive) {
        const { model } = this,
            basis = model.basisOf((column) => this.value(node, column, exclusive));
        if (this.name !== "top-down") basis[2] = undefined; // sums of rows
        return model.error(model.metrics[metric]?.key, this.value(node, metric, exclusive), basis);
    }

    label(node) {
        const { model } = this,
            row = node.row,
            kind = this.kindName(node);
        const label = { call: "", name: model.name(row), note: "", place: "", kind };
        if (kind === "statement" || kind === "root") return label;
        const caller = this.name === "bottom-up" && node.level > 1;
        const line = caller ? node.callLine : model.line[row];
        if (this.name === "top-down" && model.callLine[row] > 0 && !CONSTRUCTS.has(kind))
            label.call = `${model.callLine[row]}`;
        const notes = kind === "inlined" ? ["inlined"] : [];
        if ((this.name === "top-down" || caller) && model.note(row)) notes.push(model.note(row));
        label.note = notes.join(", ");
        if (model.file(row)) {
            if (line > 0 && (caller || !CONSTRUCTS.has(kind))) label.place = `${baseName(model.file(row))}:${line}`;
        } else if (model.module(row) && !model.name(row).includes("+")) label.place = model.module(row);
        return label;
    }
}

class TopDown extends View {
    constructor(model) {
        super(model, "top-down");
        this.root = new Node(this, null, 0, "0");
        this.root.order = 0;
    }

    makeChildren(node) {
        const list = [];
        for (const row of this.model.children(node.row)) {
            const child = new Node(this, node, row, String(row));
            child.order = row;
            list.push(child);
        }
        return list;
    }

    hasChildren(node) {
        return this.model.end[node.row] > node.row + 1;
    }
    kindName(node) {
        return this.model.kindName(node.row);
    }
    rowsOf(node) {
        return [node.row];
    }

    value(node, metric, exclusive) {
        return (exclusive ? this.model.exclusive : this.model.inclusive)[metric][node.row];
    }

    nodeOfRow(row) {
        return this.find(this.model.path(row).slice(1).map(String));
    }

    // In top-down, the row's number is enough.
    addressOf(node) {
        return node.parent ? node.key : "";
    }

    atAddress(text) {
        const row = /^\d{1,9}$/.test(text) ? Number(text) : -1;
        return row >= 0 && row < this.model.count ? this.nodeOfRow(row) : null;
    }
}

class Grouped extends View {
    constructor(model, name) {
        super(model, name);
        this.root = new Node(this, null, 0, "");
        this.root.kind = 0;
    }

    value(node, metric, exclusive) {
        if (!node.parent) return (exclusive ? this.model.exclusive : this.model.inclusive)[metric][0];
        return (exclusive ? node.exclusive : node.inclusive)[metric];
    }

    kindName(node) {
        return this.model.kinds[node.kind];
    }
    rowsOf(node) {
        return node.parent ? node.instances : [0];
    }

    // Groups instances by key, leaving out those with the key null. Groups and their instances stay in the order of the
    // rows.
    group(parent, instances, callers, keyOf) {
        const { model } = this,
            groups = new Map();
        instances.forEach((row, i) => {
            const key = keyOf(row, i);
            if (key === null) return;
            let node = groups.get(key);
            if (!node) {
                node = new Node(this, parent, callers[i], key);
                Object.assign(node, { kind: model.kind[callers[i]], order: groups.size, instances: [], callers: [] });
                groups.set(key, node);
            }
            node.kind = Math.min(node.kind, model.kind[callers[i]]); // inlined in one place and called in another: a procedure
            node.instances.push(row);
            node.callers.push(callers[i]);
        });
        for (const node of groups.values()) this.sum(node);
        return [...groups.values()];
    }

    sum(node) {
        if (!node.parent) return;
        const { model } = this,
            metrics = model.inclusive.length;
        node.inclusive = new Float64Array(metrics);
        node.exclusive = new Float64Array(metrics);
        let end = 0;
        for (const row of node.instances) {
            const outermost = row >= end;
            if (outermost) end = model.end[row];
            for (let m = 0; m < metrics; m++) {
                node.exclusive[m] += model.exclusive[m][row];
                if (outermost) node.inclusive[m] += model.inclusive[m][row];
            }
        }
    }

    functions() {
        const rows = [];
        for (let row = 1; row < this.model.count; row++) if (!this.model.isStatement(row)) rows.push(row);
        const { fn } = this.model;
        return this.group(this.root, rows, rows, (row) => (fn[row] < 0 ? null : String(fn[row])));
    }

    nodeOfRow(row) {
        const of = this.model.isStatement(row) ? this.model.parent[row] : row;
        return of > 0 ? this.find([String(this.model.fn[of])]) : this.root;
    }
}

class BottomUp extends Grouped {
    constructor(model) {
        super(model, "bottom-up");
    }

    hasChildren(node) {
        if (!node.parent) return this.model.count > 1;
        return (node.inside ??= node.level < CALLERS_DEPTH && node.callers.some((row) => this.model.parent[row] > 0));
    }

    makeChildren(node) {
        if (!node.parent) return this.functions();
        if (!this.hasChildren(node)) return [];
        const { parent, callLine, fn } = this.model;
        const outer = node.callers.map((row) => parent[row]);
        const list = this.group(node, node.instances, outer, (_, i) =>
            outer[i] > 0 && fn[outer[i]] >= 0 ? `${fn[outer[i]]}-${callLine[node.callers[i]]}` : null,
        );
        for (const child of list) child.callLine = Number(child.key.slice(child.key.indexOf("-") + 1));
        return list;
    }
}

class Flat extends Grouped {
    constructor(model) {
        super(model, "flat");
    }

    statements(node) {
        const rows = [];
        for (const instance of node.instances)
            for (const child of this.model.children(instance)) if (this.model.isStatement(child)) rows.push(child);
        return rows.sort((a, b) => a - b); // the later lines of a recursive function come after its calls
    }

    hasChildren(node) {
        if (!node.parent) return this.model.count > 1;
        return (node.inside ??= node.level === 1 && this.statements(node).length > 0);
    }

    makeChildren(node) {
        if (!node.parent) return this.functions();
        if (node.level > 1) return [];
        const { fn, line } = this.model,
            rows = this.statements(node);
        return this.group(node, rows, rows, (row) => `${fn[row]}-${line[row]}`);
    }
}

export function makeView(model, name) {
    return name === "bottom-up" ? new BottomUp(model) : name === "flat" ? new Flat(model) : new TopDown(model);
}

// Returns all nodes in preorder, with siblings in their current order.
export function allNodes(view) {
    const list = [],
        stack = [view.root];
    while (stack.length) {
        const node = stack.pop();
        list.push(node);
        const children = node.children;
        for (let i = children.length; i-- > 0;) stack.push(children[i]);
    }
    return list;
}
