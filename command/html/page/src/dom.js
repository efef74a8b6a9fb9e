// Makes elements without markup: a text of the profile only ever becomes a text node.

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "style") for (const [key, of] of Object.entries(value)) element.style.setProperty(key, of);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(
        ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
    );
    return element;
}

export function h(tag, attributes, ...children) {
    const [name, ...classes] = tag.split(".");
    const element = document.createElement(name || "div");
    if (classes.length) element.className = classes.join(" ");
    return fill(element, attributes, children);
}

// Makes a group of buttons of which one is pressed. Each option is [value, text, title].
export function choice(label, options, onChoose) {
    const buttons = options.map(([value, text, title]) =>
        h(
            "button.choice-item",
            { "type": "button", "data-value": value, title, "aria-pressed": "false", "onclick": () => onChoose(value) },
            text,
        ),
    );
    const element = h("div.choice", { "role": "group", "aria-label": label }, buttons);
    const show = (value) =>
        buttons.forEach((button) =>
            button.setAttribute("aria-pressed", String(button.dataset.value === String(value))),
        );
    return { element, show };
}

export function once(callback) {
    let asked = 0;
    return () => {
        if (!asked)
            asked = requestAnimationFrame(() => {
                asked = 0;
                callback();
            });
    };
}
