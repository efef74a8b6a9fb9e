// Sets the size of a canvas and clears it. Returns its context, which draws in CSS pixels, and a reader of the style
// sheet's colours.
export function prepareCanvas(canvas, width, height) {
    const ratio = devicePixelRatio || 1,
        [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) {
        Object.assign(canvas, { width: wide, height: high });
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d"),
        style = getComputedStyle(document.documentElement),
        colour = (name) => style.getPropertyValue(name).trim();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `11px ${colour("--sans")}`;
    return { context, colour, ratio };
}
