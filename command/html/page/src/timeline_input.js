// Pointer, wheel and keyboard input of the time pictures.
import { AXIS } from "./timeline_lanes.js";

const STEP = 1.25,
    PART = 0.1,
    CLICK = 4; // pixels; a shorter movement is a click

// The actions are hover(us, row or -1, event), leave(), select(fromUs, toUs, done), press(us), chooseVisible(),
// escape(), move(by).
function onPointer(canvas, view, lanes, actions) {
    let drag = null;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
        const [x, y] = place(event);
        if (event.button || x < view.left || x > view.left + view.plot) return;
        const selects = event.shiftKey || (lanes && y < AXIS) || view.isWhole;
        drag = { x, y, selects, from: view.from, to: view.to, lanes: [...view.lanes], us: view.us(x), moved: false };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
        const [x, y] = place(event);
        if (!drag) {
            const inside = x >= view.left && x <= view.left + view.plot;
            canvas.style.cursor = !inside ? "default" : (lanes && y < AXIS) || view.isWhole ? "col-resize" : "grab";
            return inside ? actions.hover(view.us(x), lanes ? lanes.rowAt(y) : -1, event) : actions.leave();
        }
        if (Math.hypot(x - drag.x, y - drag.y) >= CLICK) drag.moved = true;
        if (!drag.moved) return;
        actions.leave();
        if (drag.selects) return actions.select(drag.us, view.us(x), false);
        canvas.style.cursor = "grabbing";
        view.show(drag.from - (x - drag.x) * view.usEach, drag.to - (x - drag.x) * view.usEach);
        if (lanes?.high) view.showLanes(...drag.lanes.map((of) => of - Math.round(((y - drag.y) / lanes.high) * lanes.per)));
    });
    const end = (event) => {
        if (!drag) return;
        const { selects, moved, us } = drag;
        drag = null;
        if (!moved) actions.press(us, lanes ? lanes.rowAt(place(event)[1]) : -1);
        else if (selects && event.type === "pointerup") actions.select(us, view.us(place(event)[0]), true);
        else if (selects) actions.select(null);
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => !drag && actions.leave());
}

// Handles the wheel: sideways it pans. Otherwise it scrolls the page, unless the picture has the focus or Ctrl is held:
// then it zooms.
function onWheel(canvas, view, lanes) {
    canvas.addEventListener(
        "wheel",
        (event) => {
            const box = canvas.getBoundingClientRect(),
                sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey,
                by = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 30 : 1);
            if (sideways) view.pan(event.deltaX * view.usEach);
            else if (!event.ctrlKey && document.activeElement !== canvas) return;
            else if (event.shiftKey && lanes) {
                const row = (event.clientY - box.top - AXIS) / lanes.high;
                view.zoomLanes(2 ** (by / 240), (lanes.first + row) * lanes.per);
            } else view.zoom(2 ** (by / 240), view.us(event.clientX - box.left));
            event.preventDefault();
        },
        { passive: false },
    );
}

function onKeys(canvas, view, lanes, actions) {
    const part = () => (view.to - view.from) * PART,
        zoomed = (factor) => () => view.zoom(factor);
    const keys = {
        "ArrowLeft": () => view.pan(-part()),
        "ArrowRight": () => view.pan(part()),
        "PageUp": () => view.pan(part() - view.to + view.from),
        "PageDown": () => view.pan(view.to - view.from - part()),
        "+": zoomed(1 / STEP),
        "=": zoomed(1 / STEP),
        "-": zoomed(STEP),
        "Home": () => view.whole(),
        "Enter": () => actions.chooseVisible(),
        "Escape": () => actions.escape(),
    };
    const rows = { ArrowUp: -1, ArrowDown: 1 };
    canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (lanes && rows[event.key]) {
            if (event.shiftKey) view.zoomLanes(event.key === "ArrowUp" ? 1 / STEP : STEP);
            else actions.move(rows[event.key]);
        } else if (keys[event.key]) keys[event.key]();
        else return;
        actions.say();
        event.preventDefault();
        event.stopPropagation();
    });
}

export function connectTimeline(canvas, view, lanes, actions, redraw) {
    onPointer(canvas, view, lanes, actions);
    onWheel(canvas, view, lanes);
    onKeys(canvas, view, lanes, actions);
    canvas.addEventListener("focus", redraw);
    canvas.addEventListener("blur", redraw);
}
