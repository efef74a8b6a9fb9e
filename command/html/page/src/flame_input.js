// Pointer and keyboard input of the flame graph.

function onPointer(flame, select) {
    const { canvas, tip } = flame;
    const at = (event) => {
        const box = canvas.getBoundingClientRect();
        return flame.rowAt(event.clientX - box.left, event.clientY - box.top);
    };
    canvas.addEventListener("pointermove", (event) => {
        const row = at(event);
        if (row >= 0) tip.show(row, event.clientX, event.clientY);
        else tip.hide();
        canvas.style.cursor = row >= 0 ? "pointer" : "default";
        if (row !== flame.hovered) {
            flame.hovered = row;
            flame.redraw();
        }
    });
    canvas.addEventListener("pointerleave", () => {
        tip.hide();
        flame.hovered = -1;
        flame.redraw();
    });
    canvas.addEventListener("click", (event) => {
        const row = at(event);
        if (row < 0) return;
        select(row);
        flame.zoomTo(row === flame.zoom && row ? flame.model.parent[row] : row);
    });
}

function sibling(flame, row, step) {
    const { model } = flame,
        above = model.parent[row];
    if (above < 0) return row;
    const wide = [...model.children(above)].filter((child) => flame.width[child] > 0);
    return wide[wide.indexOf(row) + step] ?? row;
}

function widestChild(flame, row) {
    let best = -1;
    for (const child of flame.model.children(row)) if (best < 0 || flame.width[child] > flame.width[best]) best = child;
    return best >= 0 && flame.width[best] > 0 ? best : row;
}

function onKeys(flame, select) {
    const { canvas, model } = flame;
    const inside = (row) => row >= flame.zoom && row < model.end[flame.zoom];
    const out = () => flame.zoomTo(Math.max(0, model.parent[flame.zoom]));
    const moves = {
        ArrowDown: (row) => widestChild(flame, row),
        ArrowUp: (row) => Math.max(0, model.parent[row]),
        ArrowLeft: (row) => sibling(flame, row, -1),
        ArrowRight: (row) => sibling(flame, row, 1),
        Home: () => flame.zoom,
    };
    canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (!inside(flame.cursor)) flame.cursor = flame.zoom;
        if (moves[event.key]) {
            const row = moves[event.key](flame.cursor);
            if (!inside(row)) flame.zoomTo(row);
            flame.cursor = row;
            select(row);
        } else if (event.key === "Enter") flame.zoomTo(flame.cursor);
        else if (event.key === "Escape" || event.key === "Backspace") out();
        else return;
        flame.says.textContent = `${model.name(flame.cursor)}, ${flame.palette.describe(flame.cursor)}`;
        flame.redraw();
        event.preventDefault();
        event.stopPropagation();
    });
    canvas.addEventListener("focus", flame.redraw);
    canvas.addEventListener("blur", flame.redraw);
}

export function connectFlame(flame, select) {
    onPointer(flame, select);
    onKeys(flame, select);
}
