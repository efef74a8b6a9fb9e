"""Time on the page: threads over time, who is to blame below them, zoom and pan, spans whose numbers everything else has."""

import bench_timeline
import page_data
from browser import PageTest
from selenium.webdriver.common.action_chains import ActionChains

SECOND = 1000000


def program(lanes=2, timeline=True, **more):
    """Four seconds, two threads: in the first two both work in solve (and a little in tiny, which has no bins), then one works in
    refine while the other idles, in the last quarter of a second for a lock."""
    rows = page_data.Rows()
    own = {"solve": {"work": 3800000}, "tiny": {"work": 200000},
           "refine": {"work": 1900000, "overhead": 100000, "idleness": 1750000, "lock wait": 250000}}
    whole = {metric: sum(of.get(metric, 0) for of in own.values()) for metric in ("work", "overhead", "idleness", "lock wait")}
    root = rows.add(-1, "root", "<program root>", inclusive=whole)
    main = rows.add(root, "procedure", "main", "a", "/s/a.c", 1, inclusive=whole)
    solve = rows.add(main, "procedure", "solve", "a", "/s/a.c", 10, 2, own["solve"], own["solve"])
    line = rows.add(solve, "statement", "a.c:11", "a", "/s/a.c", 11, 0, own["solve"], own["solve"])
    rows.add(main, "procedure", "tiny", "a", "/s/a.c", 20, 3, own["tiny"], own["tiny"])
    step = rows.add(main, "phase", "step [7]", inclusive=own["refine"])
    refine = rows.add(step, "procedure", "refine", "a", "/s/a.c", 30, 4, own["refine"], own["refine"])
    contexts = [(main, {0: (200000, 0, 0)}), (line, {0: (1800000, 0, 0), 1: (2 * SECOND, 0, 0)}),
                (refine, {2: (SECOND, SECOND, 0), 3: (SECOND, 750000, 250000)})]
    shares = {"work": lambda lane, at: float(lane == 0 or at < 8), "idleness": lambda lane, at: float(lane > 0 and 8 <= at < 15),
              "lock wait": lambda lane, at: float(lane > 0 and at == 15)}
    tops = lambda lane, at: [(1, 0.9), (0, 0.1)] if at == 0 else [(1, 1)] if at == 1 else [(2, 1)] if lane == 0 else []  # noqa: E731
    finding = {"rule": "cost", "error": 0, "gain_s": 0, "share": 20, "evidence": "", "advice": "", "place": ""}
    data = rows.data(timeline=page_data.timeline(lanes, 4, SECOND, shares, contexts, tops, **more) if timeline else None,
                     findings=[finding | {"row": refine, "metric": "idleness", "seconds": 1.75, "title": "refine keeps threads idle"},
                               finding | {"row": -1, "metric": "work", "seconds": 5.9, "title": "all of it is work"},
                               finding | {"row": refine, "metric": "idleness", "seconds": 0.4, "title": "a part of it"}])
    data["header"]["wall_s"] = 4.0
    return data


def stopped():
    """Of four seconds the second was stopped, half of the last not measured; nothing had begun in the first quarter of one."""
    rows = page_data.Rows()
    root = rows.add(-1, "root", "<program root>", inclusive={"work": 2 * SECOND})
    shares = {"work": lambda lane, at: float(1 <= at < 4 or 8 <= at < 12 or at >= 14), "stopped": lambda lane, at: float(4 <= at < 8)}
    data = rows.data(timeline=page_data.timeline(1, 4, SECOND, shares, [(root, {0: (SECOND, 0, 0), 2: (SECOND, 0, 0)})]))
    data["header"]["wall_s"] = 4.0
    return data


class TimeTest(PageTest):
    def of(self, expression, *arguments):
        return self.run_script(f"const {{ time }} = blame.report; return {expression}", *arguments)

    def sight(self):
        return [round(us / SECOND, 3) for us in self.of("[time.view.from, time.view.to]")]

    def value(self, name, metric, exclusive=False):
        row, = (row for row in self.run_script("return blame.rows('top-down')") if row["name"] == name)
        return round(row[f"{metric} ({'E' if exclusive else 'I'})"])

    def focus(self):
        self.run_script("document.getElementById('time').scrollIntoView(); blame.report.time.lanes.canvas.focus()")
        self.settle()

    def shares(self, row, begin, end):
        self.settle()
        return [round(share, 3) for share in self.of("time.lanes.shares(...arguments)", row, begin * SECOND, end * SECOND)]


class Time(TimeTest):
    page = program

    def test_a_pixel_has_the_colour_of_its_state(self):
        self.allowed_messages = ("willReadFrequently",)
        pixels, colours = self.of("""(() => { const { lanes } = time, context = lanes.canvas.getContext("2d"),
            style = getComputedStyle(document.documentElement);
            time.draw();
            return [[1, 3].map((second) => [...context.getImageData(time.view.x(second * 1e6), 22 + 1.5 * lanes.high, 1, 1).data].slice(0, 3)),
                ["work", "idleness"].map((key) => style.getPropertyValue(`--metric-${key}`).trim())]; })()""")
        self.assertEqual(pixels, [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours])

    def test_contexts_at_a_depth(self):
        self.one("[aria-label='Colours of the picture'] [data-value=context]").click()
        self.run_script("blame.report.time.changeMode({ depth: 2 })")
        self.assertEqual(self.of("time.lanes.layer.parts.map(({ title }) => title)"), ["solve a.c:10", "refine a.c:30", "main a.c:1", "other"])
        self.assertEqual(self.shares(0, 0, 4), [0.475, 0.5, 0.025, 0])
        self.run_script("blame.report.time.changeMode({ depth: 1 })")
        self.assertEqual(self.of("time.lanes.layer.parts.map(({ title }) => title)"), ["main a.c:1", "other"])
        self.assertEqual(self.shares(1, 0, 4), [0.5, 0])

    def test_keyboard(self):
        self.focus()
        self.assertEqual(self.sight(), [0, 4])
        self.keys("+", "+", "+")
        begin, end = self.sight()
        self.assertAlmostEqual(end - begin, 4 / 1.25**3, 2)
        self.keys("ARROW_RIGHT")
        self.assertAlmostEqual(self.sight()[0], begin + 0.1 * (end - begin), 2)
        self.keys("-", "HOME")
        self.assertEqual(self.sight(), [0, 4])
        self.keys("ARROW_DOWN", "ARROW_DOWN")
        self.assertEqual(self.one("#timeline-says").text, "thread 1, 0.00 to 4.00 s: work 50.0 %, lock wait 6.3 %, idle 43.8 %")
        self.run_script("blame.report.time.view.show(2e6, 3e6)")
        self.keys("ENTER")
        self.assertEqual(self.of("blame.report.state.span"), "2-3")
        self.keys("ESCAPE")
        self.assertEqual((self.of("blame.report.state.span"), self.sight()), ("", [2, 3]))
        self.keys("ESCAPE")
        self.assertEqual(self.sight(), [0, 4])

    def test_wheel_and_drag(self):
        canvas = self.one("#time canvas")
        self.run_script("document.getElementById('time').scrollIntoView()")
        self.settle()
        wheel = """blame.report.time.lanes.canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -240, ctrlKey: arguments[0], bubbles: true, cancelable: true,
            clientX: arguments[1], clientY: arguments[2] }))"""
        left, top, middle = self.of("(({ left, top }) => [left, top, left + time.view.x(2e6)])(time.lanes.canvas.getBoundingClientRect())")
        self.run_script(wheel, False, middle, top + 30)
        self.assertEqual(self.sight(), [0, 4])  # the page scrolls on
        self.run_script(wheel, True, middle, top + 30)
        for at, wanted in zip(self.sight(), (1, 3)):
            self.assertAlmostEqual(at, wanted, 2)
        plot = self.of("time.view.plot")
        ActionChains(self.browser).move_to_element_with_offset(canvas, 0, 0).click_and_hold().move_by_offset(int(-plot / 4), 0).release().perform()
        for at, wanted in zip(self.sight(), (1.5, 3.5)):
            self.assertAlmostEqual(at, wanted, 2)
        self.assertEqual(self.of("blame.report.state.span"), "")
        ActionChains(self.browser).move_to_element_with_offset(canvas, 0, int(10 - canvas.size["height"] / 2)).click_and_hold().move_by_offset(10, 0).release().perform()
        self.assertEqual(self.of("blame.report.state.span"), "2-3")

    def test_a_span_has_its_own_numbers(self):
        self.set(span="2-3")
        self.assertEqual([self.value("refine", metric) for metric in ("work", "overhead", "idleness", "lock wait", "blame")],
                         [950000, 50000, SECOND, 0, 1050000])
        self.assertEqual([self.value("<program root>", metric) for metric in ("work", "idleness")], [950000, SECOND])
        self.assertEqual(self.value("solve", "work"), 0)
        self.assertEqual([text.split("%")[0].strip() for text in self.texts(".share-number")], ["47.5", "50.0", "2.5", "0.0"])
        self.assertIn("Only 2.0 to 3.0 s of 0.0 to 4.0 s", self.one(".span-line").text)
        self.assertNotIn("only callers", self.one(".span-line").text)
        self.assertIn("span=2-3", self.run_script("return location.hash"))
        self.assertEqual(self.texts(".finding-span"), ["In this span: 1.000 s, 50.0 % of the span and 57 % of the finding.",
                                                       "In this span: 0.950 s, 47.5 % of the span and 16 % of the finding.",
                                                       "This finding is about the whole run. How much of it lies in this span is unknown."])
        self.assertEqual(self.run_script("return blame.report.flame.width[2]"), 0)
        self.assertTrue(self.run_script("return [...document.querySelectorAll('#metric option')].find((of) => of.value === 'samples').disabled"))
        self.assertEqual(self.texts("button").count("Whole run"), 1)
        self.one(".span-line .tool").click()
        self.settle()
        self.assertEqual([self.value("refine", "idleness"), self.value("solve", "work")], [1750000, 3800000])
        self.assertFalse(self.one(".span-line").is_displayed())
        self.assertFalse(self.one(".finding-span").is_displayed())

    def test_a_span_has_no_share_of_nobodys_and_says_it(self):
        data = program()
        data["header"]["nobody_busy_s"] = 2.0
        self.open(data)
        self.assertEqual(len(self.all(".nobody-legend")), 1)
        self.set(span="2-3")
        self.assertEqual(self.all(".nobody-legend"), [])
        self.assertIn("without time in which no thread was busy", self.one(".share-whole").text)

    def test_rows_without_bins_have_their_part_of_those_above(self):
        self.set(span="0-1", view="flat")
        self.assertEqual([self.value(name, "work") for name in ("<program root>", "main", "solve", "a.c:11", "tiny")],
                         [2000000, 2000000, 1800000, 1800000, 200000])
        self.assertEqual(self.value("main", "work", True), 0)
        self.assertIn("For 10.0 % of the span's time only callers are known", self.one(".span-line").text)
        self.set(span="1-2")
        self.assertEqual([self.value(name, "work") for name in ("solve", "tiny")], [2000000, 0])
        flat = self.run_script("return blame.rows('flat').filter(({ name }) => name === 'solve').map((row) => row['work (E)'])")
        self.assertEqual(flat, [2000000])

    def test_what_is_shown_is_the_mean_of_what_there_is_and_told_by_tip_and_table(self):
        self.assertEqual(self.shares(1, 0, 4), [0.5, 0.062, 0.438])
        self.assertEqual(self.shares(1, 3.5, 4), [0, 0.5, 0.5])
        self.assertEqual(self.shares(1, 1.9, 2.1), [0.5, 0, 0.5])
        self.run_script("blame.report.time.draw(); blame.report.time.tell(2.6e6, 1, 10, 10)")
        tip = self.one(".tip").text
        for text in ("thread 1", "2.50 to 2.75 s", "idle 100.0 %", "idle from 2.0 to 3.0 s in all threads, by the code to blame", "refine a.c:30 1.00 threads, 100.0 %"):
            self.assertIn(text, tip)
        self.run_script("document.querySelector('.timeline-table').open = true")
        self.settle()
        rows = self.texts(".timeline-table .tree-row")
        self.assertEqual(len(rows), 4)
        self.assertEqual(rows[3], "3.04.01.0000.2500.750refine a.c:300.750")
        self.run_script("blame.report.time.changeBlamed('lock wait')")
        self.assertEqual(self.texts(".timeline-table .tree-row")[3], "3.04.01.0000.2500.750refine a.c:300.250")

    def test_culprits_are_contexts(self):
        culprits = self.of("time.area.culprits.map(({ title, us }) => [title, [...us]])")
        self.assertEqual(culprits, [["refine a.c:30", [0, 0, SECOND, 750000]]])
        self.one("[aria-label='Who is blamed for'] [data-value='lock wait']").click()
        self.assertEqual(self.of("time.area.culprits.map(({ us }) => [...us])"), [[0, 0, 0, 250000]])
        self.assertEqual(self.of("time.area.most"), 0.25)

    def test_executions_of_phases_are_marked(self):
        self.assertEqual(self.of("time.lanes.phases"), [{"name": "step", "marks": [[2, 4, 7]]}])


class Times(TimeTest):
    def test_an_address_has_its_span_and_a_wrong_one_is_none(self):
        self.open(program(), "#span=0-2")
        self.assertEqual(self.value("solve", "work"), 3800000)
        self.assertEqual(self.value("refine", "work"), 0)
        self.assertEqual([self.of(f"time.accepts('{text}')") for text in ("0-4", "0-5", "2-2", "x")], [True, False, False, False])
        self.open(program(), "#span=0-5")
        self.assertEqual(self.value("refine", "work"), 1900000)

    def test_gaps_are_named(self):
        self.open(stopped())
        self.assertIn("Gaps: stopped from 1.0 to 2.0 s; not measured from 3.0 to 3.5 s.", self.one("#time").text)

    def test_lanes_of_a_job_are_named_by_their_ranks(self):
        self.open(program(4, rank=[0, 0, 1, 2], last_rank=[0, 0, 1, 9], thread=[0, 1, 2, -1]))
        self.assertEqual(self.of("time.timeline.names"), ["rank 0, thread 0", "rank 0, thread 1", "rank 1, thread 0", "ranks 2 to 9"])
        self.open(program(4, rank=[0, 0, 0, 1], last_rank=[0, 0, 0, 1], process=[0, 1, 1, 0]))
        self.assertEqual(self.of("time.timeline.names"), ["rank 0, thread 0", "rank 0.1, thread 0", "rank 0.1, thread 1", "rank 1, thread 0"])
        self.open(program(2, rank=[0, 0], last_rank=[0, 0], process=[0, 1], thread=[-1, -1]))
        self.assertEqual(self.of("time.timeline.names"), ["rank 0", "rank 0.1"])
        self.open(program(4, cells=[0, 0, 2, 2]))
        self.run_script("blame.report.time.changeMode({ mode: 'context', depth: 1 })")
        self.assertEqual([self.shares(lane, 0, 4)[0] for lane in range(4)], [1, 1, 0.5, 0.5])

    def test_without_a_timeline_a_line_says_so(self):
        self.open(program(timeline=False))
        self.assertIn("no timeline", self.one("#time").text)

    def test_many_threads_are_drawn_for_each_frame(self):
        """`make html-bench` in small, without its times."""
        self.open(program(200))
        self.settle()
        self.assertEqual(self.of("[time.lanes.rows, time.lanes.per]"), [50, 4])
        _, drawn, _ = bench_timeline.pan(self.browser, 20)
        self.assertGreaterEqual(drawn, 20)

    def test_of_many_culprits_the_rest_is_one(self):
        data = page_data.many_rows(300)
        rows = [row for row in range(1, 200) if page_data.KINDS[data["rows"]["kind"][row]] != "statement"]
        data["timeline"] = page_data.timeline(1, 2, SECOND, {"work": lambda lane, at: 1}, [(row, {row % 2: (9, 10 + row, 0)}) for row in rows])
        self.open(data)
        culprits = self.of("time.area.culprits.map(({ title, us }) => [title, us[0] + us[1]])")
        self.assertEqual(len(culprits), 8)
        self.assertRegex(culprits[-1][0], r"^\d+ others$")
        self.assertAlmostEqual(sum(us for _, us in culprits), sum(10 + row for row in rows), 3)

    def test_contexts_begin_where_they_differ(self):
        """Also where one of them has nearly all of the time."""
        for share, depth in ((0.5, 3), (0.9, 3), (1, 1)):
            rows = page_data.Rows()
            start = rows.add(rows.add(-1, "root", "<program root>"), "procedure", "start", "a", "/s/a.c", 1)
            main = rows.add(start, "procedure", "main", "a", "/s/a.c", 2, 1)
            one, other = (rows.add(main, "procedure", name, "a", "/s/a.c", line, line) for name, line in (("f", 3), ("g", 4)))
            contexts = [(one, {0: (share * SECOND, 0, 0)}), (other, {0: ((1 - share) * SECOND, 0, 0)})]
            self.open(rows.data(timeline=page_data.timeline(1, 1, SECOND, {"work": lambda lane, at: 1}, contexts)))
            self.assertEqual(self.of("time.depth"), depth, share)

    def test_contexts_are_told_apart_by_name_and_colour(self):
        """solve() is called in two lines, and in one of them work() is to blame; other contexts do not have its colour."""
        rows = page_data.Rows()
        main = rows.add(rows.add(-1, "root", "<program root>"), "procedure", "main", "a", "/s/a.c", 1)
        calls = [rows.add(main, "procedure", "solve", "a", "/s/a.c", 10, line) for line in (3, 4)]
        works = [rows.add(call, "procedure", "work", "a", "/s/a.c", 20, 11) for call in calls]
        contexts = [(work, {0: (SECOND, idle * SECOND, 0)}) for work, idle in zip(works, (1, 0.5))]
        self.open(rows.data(timeline=page_data.timeline(1, 1, SECOND, {"work": lambda lane, at: 1}, contexts)))
        layer = "time.timeline.contextLayer(2).parts.filter(({ row }) => row > 0)"
        self.assertEqual(self.of(f"{layer}.map(({{ title }}) => title)"), ["solve < main:3", "solve < main:4"])
        self.assertEqual(self.of("time.area.culprits.map(({ title }) => title)"), ["work < … < main:3", "work < … < main:4"])
        self.assertEqual(self.of(f"{layer}.map(({{ colour }}) => colour)"), self.of("time.area.culprits.map(({ colour }) => colour)"))
        self.assertEqual(self.of("time.timeline.colours(arguments[0])", [*works, main]), [1, 2, 3])

    def test_executions_are_one_context(self):
        rows, contexts = page_data.Rows(), []
        phase = rows.add(rows.add(-1, "root", "<program root>"), "phase", "phase step")
        for step in range(3):
            execution = rows.add(phase, "phase", f"step [{step}]")
            inner = rows.add(execution, "phase", "phase inner")
            contexts.append((rows.add(inner, "procedure", "f", "a", "/s/a.c", 3), {step // 2: (SECOND / 2, 100 * step, 0)}))
        self.open(rows.data(timeline=page_data.timeline(1, 2, SECOND, {"work": lambda lane, at: 1}, contexts)))
        self.assertEqual(self.of("time.lanes.phases"), [{"name": "step", "marks": [[0, 1, 0], [0, 1, 1], [1, 2, 2]]},
                                                        {"name": "inner", "marks": [[0, 2, None]]}])
        self.assertEqual(self.of("time.area.culprits.map(({ title, us }) => [title, [...us]])"), [["f a.c:3", [100, 200]]])
