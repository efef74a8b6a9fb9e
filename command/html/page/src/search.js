// Finds rows whose name or place matches a regular expression. After "kind:phase ", it finds only rows of that kind.
import { baseName } from "./format.js";

export class Search {
    constructor(model) {
        this.model = model;
        this.clear();
    }

    clear() {
        Object.assign(this, { text: "", pattern: null, error: "", flags: null, count: 0, rows: [] });
    }

    // Sets the search text. Case matters only if the pattern contains a capital letter.
    set(text) {
        this.clear();
        this.text = text;
        if (!text) return;
        const [, kindName, rest] = /^kind:(\w*)\s*(.*)$/.exec(text) ?? [null, null, text];
        try {
            this.pattern = new RegExp(rest, /[A-Z]/.test(rest.replace(/\\./g, "")) ? "u" : "iu");
        } catch {
            this.error =
                "Not a regular expression. Close all brackets, or write \\ before ( [ * + ? . to search for the character itself.";
            return;
        }
        const { model, pattern } = this,
            known = new Map(),
            kind = kindName === null ? -1 : model.kinds.indexOf(kindName);
        this.flags = new Uint8Array(model.count);
        for (let row = 0; row < model.count; row++) {
            if (kindName !== null && model.kind[row] !== kind) continue;
            const key = `${model.nameOf[row]}/${model.fileOf[row]}/${model.line[row]}`;
            let matches = known.get(key);
            if (matches === undefined) {
                matches =
                    pattern.test(model.name(row)) ||
                    (model.file(row) !== "" && pattern.test(`${baseName(model.file(row))}:${model.line[row]}`));
                known.set(key, matches);
            }
            if (matches) {
                this.flags[row] = 1;
                this.rows.push(row);
            }
        }
        this.count = this.rows.length;
    }

    // Returns the sums over all matches. Inclusive: each part of the tree counts once. Exclusive: a function already
    // contains its statements.
    sums(metric) {
        const { model } = this,
            inclusive = model.inclusive[metric],
            exclusive = model.exclusive[metric];
        let end = 0,
            within = 0,
            own = 0;
        for (const row of this.rows) {
            if (row >= end) {
                within += inclusive[row];
                end = model.end[row];
            }
            if (!model.isStatement(row) || !this.flags[model.parent[row]]) own += exclusive[row];
        }
        return { inclusive: within, exclusive: own };
    }

    matches(row) {
        return this.flags !== null && this.flags[row] === 1;
    }
}
