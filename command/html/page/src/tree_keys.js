// The keyboard input of the tree, according to the ARIA practices for tree grids.

function parentIndex(tree, index) {
    const { parent } = tree.visible[index];
    return parent ? tree.visible.indexOf(parent) : index;
}

function nextStart(tree, index, letter) {
    const { visible, model } = tree;
    for (let step = 1; step <= visible.length; step++) {
        const at = (index + step) % visible.length;
        if (model.name(visible[at].row).toLowerCase().startsWith(letter)) return at;
    }
    return index;
}

export function connectTreeKeys(tree, commands) {
    const page = () => Math.max(1, Math.floor(tree.list.height / tree.list.rowHeight) - 1);
    const last = () => tree.visible.length - 1;
    const moves = {
        ArrowDown: (index) => Math.min(last(), index + 1),
        ArrowUp: (index) => Math.max(0, index - 1),
        PageDown: (index) => Math.min(last(), index + page()),
        PageUp: (index) => Math.max(0, index - page()),
        Home: () => 0,
        End: () => last(),
        ArrowRight(index) {
            const node = tree.visible[index];
            if (!tree.view.hasChildren(node)) return index;
            if (node.open) return index + 1;
            tree.toggle(index, true);
            return index;
        },
        ArrowLeft(index) {
            const node = tree.visible[index];
            if (!node.open || !tree.view.hasChildren(node)) return parentIndex(tree, index);
            tree.toggle(index, false);
            return index;
        },
    };
    tree.scroller.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const at = tree.selected ? tree.visible.indexOf(tree.selected) : -1,
            index = Math.max(0, at);
        if (moves[event.key])
            tree.select(tree.visible[at < 0 && event.key.startsWith("Arrow") ? 0 : moves[event.key](index)]);
        else if (event.key === "Enter") commands.enter(tree.visible[index]);
        else if (event.key === " ") tree.toggle(index);
        else if (event.key === "*") tree.openAll(tree.visible[index]);
        else if (event.key.length === 1 && /[\p{L}_<]/u.test(event.key) && !commands.taken(event.key))
            tree.select(tree.visible[nextStart(tree, index, event.key.toLowerCase())]);
        else return;
        event.preventDefault();
        event.stopPropagation();
    });
}
