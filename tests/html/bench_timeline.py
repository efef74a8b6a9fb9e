"""How soon a page with a timeline opens, and at how many frames a second it pans: `make html-bench`.

    bench_timeline.py PAGE [MOST_BYTES MOST_SECONDS LEAST_FRAMES]

Prints the figures, and ends with 1 where one is worse than asked."""

import os
import sys
import time

from browser import start_browser

FRAMES = """
const [frames, done] = arguments, { time } = blame.report, { view } = time;
document.getElementById("time").scrollIntoView();
view.zoom(0.25);
const drawn = time.lanes.drawn, times = [];
let left = frames, step = (view.to - view.from) / 97;
function frame(now) {
    times.push(now);
    if (!left--) return done([frames / ((now - times[0]) / 1000), time.lanes.drawn - drawn, Math.max(...times.slice(1).map((of, i) => of - times[i]))]);
    if (view.to >= time.timeline.end || view.from <= time.timeline.origin) step = -step;
    view.pan(step);
    requestAnimationFrame(frame);
}
view.pan((view.to - view.from) / 2);
requestAnimationFrame(frame);
"""


def pan(browser, frames):
    """Frames a second, pictures that were drawn, the longest frame's milliseconds."""
    browser.execute_script("blame.report.time.view.whole()")
    return browser.execute_async_script(FRAMES, frames)


def draw(browser):
    """Milliseconds that the script takes for a picture, the least of 20: as it is on a machine that does nothing else."""
    return browser.execute_script(
        """const { time } = blame.report, took = [];
        for (let i = 0; i < 20; i++) { const begin = performance.now(); time.draw(); took.push(performance.now() - begin); }
        return Math.min(...took);"""
    )


def open_page(browser, path):
    """Seconds until the page is drawn."""
    browser.get("about:blank")
    begin = time.monotonic()
    browser.get(f"file://{os.path.abspath(path)}")
    browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")
    return time.monotonic() - begin


def main(path, most_bytes=8e6, most_seconds=2, least_frames=30):
    size, browser, good = os.path.getsize(path), start_browser(), True
    try:
        seconds = sorted(open_page(browser, path) for _ in range(5))
        figures = [("bytes", size, size <= float(most_bytes)), ("seconds to open, the slowest of 5", seconds[-1], seconds[-1] <= float(most_seconds))]
        for mode in ("state", "context"):
            browser.execute_script("blame.report.time.changeMode({ mode: arguments[0] })", mode)
            frames, drawn, longest = pan(browser, 120)
            figures += [(f"frames a second by {mode}", frames, frames >= float(least_frames)), (f"of 120 frames drawn by {mode}", drawn, drawn >= 119),
                        (f"the longest frame by {mode}, ms", longest, True), (f"script of a frame by {mode}, ms", draw(browser), True)]
        begin = time.monotonic()
        browser.execute_script("blame.report.state.set({ span: '10-40' })")
        figures.append(("seconds to choose a span", time.monotonic() - begin, True))
        for name, value, well in figures:
            print(f"{name:40} {value:12.2f}{'' if well else '   too bad'}")
            good &= well
    finally:
        browser.quit()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
