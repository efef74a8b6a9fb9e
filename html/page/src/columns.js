// The number columns of the tree: the chosen metric first, in the view's sense (inclusive for top-down, exclusive for
// the others), then its other side, then the other metrics.

const SHORT = ["work", "idleness", "overhead", "lock wait", "samples"];

function column(model, key, exclusive, title, primary) {
    const metric = model.metricIndex.get(key),
        { unit } = model.metrics[metric];
    const what = model.metrics[metric].title;
    return {
        id: `${key}/${exclusive ? "e" : "i"}`,
        metric,
        key,
        exclusive,
        unit,
        title,
        primary,
        about: exclusive ? `${what} of the row itself` : `${what} of the row and what it calls`,
    };
}

export function chooseColumns(model, view, chosen, all) {
    const columns = [
        { id: "name", title: "Context", about: "name" },
        column(model, chosen, view.byExclusive, model.metric(chosen).title, true),
        column(model, chosen, !view.byExclusive, view.byExclusive ? "incl." : "itself", false),
    ];
    // Samples are of the least interest.
    const others = [...model.metrics].sort((a, b) => (a.key === "samples") - (b.key === "samples"));
    for (const { key, title } of others) {
        if (key === chosen || !(all || SHORT.includes(key))) continue;
        columns.push(column(model, key, view.byExclusive, title, false));
        if (all)
            columns.push(
                column(model, key, !view.byExclusive, `${title} ${view.byExclusive ? "incl." : "itself"}`, false),
            );
    }
    return columns;
}
