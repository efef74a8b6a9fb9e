// The number columns of the tree. First come the two values of the chosen metric: in top-down the inclusive one is
// first, in the other views the exclusive one. The other metrics follow.

function column(model, key, exclusive, title, primary) {
    const metric = model.metricIndex.get(key),
        { unit, counter } = model.metrics[metric];
    const what = model.metrics[metric].title;
    return {
        id: `${key}/${exclusive ? "e" : "i"}`,
        metric,
        key,
        exclusive,
        unit,
        counter,
        title,
        primary,
        about: exclusive ? `${what} of the row itself` : `${what} of the row and its callees`,
    };
}

// Returns the columns of phases and events, whose values come from the clock instead of samples.
function exactColumns(model, all) {
    return model.exact.flatMap(({ key, title, unit, index, decimals }) => {
        const made = (exclusive, heading, about) => ({
            id: `${key}/${exclusive ? "e" : "i"}`,
            metric: index,
            key,
            exclusive,
            unit,
            decimals,
            title: heading,
            about,
            exact: true,
        });
        if (!unit) return [made(true, title, "calls of phases, events and parameters")];
        const columns = [made(false, title, "seconds by the clock, from start to end")];
        if (all) columns.push(made(true, `${title} itself`, "seconds by the clock, without inner phases and events"));
        return columns;
    });
}

// Returns the column that shows the error of another column.
function errorColumn(of) {
    return { ...of, id: `${of.id}/error`, title: "±", primary: false, error: true, about: `Sampling error: 95 % of measurements are closer to the true ${of.about}` };
}

export function chooseColumns(model, view, chosen, { all, counters, errors }) {
    const columns = [
        { id: "name", title: "Context", about: "name" },
        column(model, chosen, view.byExclusive, model.metric(chosen).title, true),
        column(model, chosen, !view.byExclusive, view.byExclusive ? "incl." : "itself", false),
    ];
    columns.push(...exactColumns(model, all));
    // The number of samples is the last column: it matters least.
    const others = [...model.metrics].sort((a, b) => (a.key === "samples") - (b.key === "samples"));
    for (const { key, title, counter } of others) {
        if (key === chosen || !model.knows(key) || model.absent.has(key) || !(all || (counter ? counters : key === "samples" || model.shown.includes(key) || (key === "core idleness" && model.cores())))) continue;
        columns.push(column(model, key, view.byExclusive, title, false));
        if (all || counter)
            columns.push(
                column(model, key, !view.byExclusive, `${title} ${view.byExclusive ? "incl." : "itself"}`, false),
            );
    }
    if (!errors) return columns;
    return columns.flatMap((of) => (model.error(of.key, 0, [0]) === null ? [of] : [of, errorColumn(of)]));
}
