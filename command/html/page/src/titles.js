// Titles for rows, such that different rows have different titles.

const MOST_CALLERS = 32;

// Returns "caller:line" for each caller of a row, the innermost first. The line is that of the call.
function callersOf(model, row) {
    const callers = [];
    for (let at = model.isStatement(row) ? model.parent[row] : row; callers.length < MOST_CALLERS; at = model.parent[at]) {
        const above = model.parent[at];
        if (!(above > 0)) break;
        callers.push(model.callLine[at] > 0 ? `${model.name(above)}:${model.callLine[at]}` : model.name(above));
    }
    return callers;
}

// Returns the callers in which a row first differs from each of the others. "…" stands for the callers between them.
function differences(callers, others) {
    const at = new Set(others.map((other) => callers.findIndex((caller, i) => caller !== other[i])).filter((i) => i >= 0)),
        shown = [];
    callers.slice(0, Math.max(-1, ...at) + 1).forEach((caller, i) => {
        if (at.has(i)) shown.push(caller);
        else if (shown.at(-1) !== "…") shown.push("…");
    });
    return shown;
}

function nameAndPlace(model, row) {
    return row > 0 ? [model.name(row), model.place(row)].filter(Boolean).join(" ") : "whole program";
}

// Returns a title for each row, by default its name and place. In equal titles, the callers in which the rows differ
// replace the place: "f < g:12", "f < … < g:12".
export function distinctTitles(model, rows, title = nameAndPlace) {
    const short = rows.map((row) => title(model, row)),
        alike = new Map();
    rows.forEach((row, i) => {
        if (!alike.has(short[i])) alike.set(short[i], new Map());
        alike.get(short[i]).set(row, null);
    });
    for (const group of alike.values()) if (group.size > 1) for (const row of group.keys()) group.set(row, callersOf(model, row));
    return rows.map((row, i) => {
        const group = alike.get(short[i]),
            callers = group.get(row);
        if (!callers) return short[i];
        const others = [...group].filter(([of]) => of !== row).map(([, of]) => of),
            shown = differences(callers, others);
        return shown.length ? [model.isStatement(row) ? short[i] : model.name(row), ...shown].join(" < ") : short[i];
    });
}
