"""The statistics and the chart of `make accuracy`, held against known values. No program runs here."""

import math
import unittest
import xml.etree.ElementTree

import accuracy
import chart
import document
from cases import CASES, Case
from measure import Measurement, collect
from stats import Series, Summary, mean_interval

SVG = "{http://www.w3.org/2000/svg}"
TWO = Case("two threads", ["two"])
FOUR = Case("four threads", ["four"], 4, "what may be expected")


def series(case, expected, measured, metric="idleness", context="slow"):
    one = Series(case, metric, context)
    for pair in zip(expected, measured):
        one.add(*pair)
    return one


class Made(Measurement):
    """A measurement without a run."""

    def __init__(self, values, bounds=None):
        self.values, self.bounds, self.laws = values, bounds or {}, {"thread_time": 0.01, "shared_idle": -1.5}
        self.foreign_cores, self.runtime = 0.25, "some runtime"


class Statistics(unittest.TestCase):
    def test_an_interval_is_the_quantile_times_the_standard_error(self):
        mean, half = mean_interval([1.0, 2.0, 3.0, 4.0])
        self.assertAlmostEqual(mean, 2.5)
        self.assertAlmostEqual(half, 3.182 * math.sqrt(5 / 3) / 2)
        self.assertAlmostEqual(mean_interval([0.0, 2.0] * 16)[1], 1.96 * math.sqrt(32 / 31) / math.sqrt(32))

    def test_of_one_value_no_interval_is_known(self):
        self.assertTrue(math.isnan(mean_interval([1.0])[1]))


class Errors(unittest.TestCase):
    def test_above_100_ms_errors_are_percent_of_each_runs_own_expectation(self):
        one = series(TWO, [1.0, 2.0], [1.01, 1.96])
        self.assertTrue(one.relative())
        self.assertAlmostEqual(one.errors()[0], 1.0)
        self.assertAlmostEqual(one.errors()[1], -2.0)
        self.assertAlmostEqual(one.interval()[0], -0.5)
        self.assertAlmostEqual(one.worst(), -2.0)

    def test_below_errors_are_seconds(self):
        one = series(TWO, [0.0, 0.1], [0.02, 0.09])
        self.assertFalse(one.relative())
        self.assertAlmostEqual(one.interval()[0], 0.005)
        self.assertFalse(series(TWO, [0.5, 0.01], [0.5, 0.02]).relative(), "the smallest expectation decides")

    def test_median_and_worst_are_of_the_absolute_mean_errors(self):
        summary = Summary([series(TWO, [1.0] * 2, [1.0 + error] * 2) for error in (0.001, -0.03, 0.004)])
        self.assertAlmostEqual(summary.median, 0.4)
        self.assertAlmostEqual(summary.worst, 3.0)
        self.assertFalse(summary.target_met())

    def test_the_target_needs_both_median_and_worst(self):
        def met(*errors):
            return Summary([series(TWO, [1.0] * 2, [1.0 + error] * 2) for error in errors]).target_met()
        self.assertTrue(met(0.004, 0.001, -0.019))
        self.assertFalse(met(0.006, 0.006), "median")
        self.assertFalse(met(0.001, 0.001, -0.021), "worst")
        self.assertFalse(met(), "nothing measured meets nothing")

    def test_small_expectations_are_held_against_30_ms(self):
        summary = Summary([series(TWO, [0.0] * 2, [error] * 2) for error in (0.029, -0.031)])
        self.assertEqual([one.measured[0] for one in summary.beyond_limit()], [-0.031])
        self.assertAlmostEqual(summary.worst_s, 0.031)


class Collecting(unittest.TestCase):
    def test_repetitions_become_one_series_a_metric_and_context(self):
        runs = [Made({("work", "f"): (1.0, 1.1), ("idleness", "f"): (0.5, 0.6)}), Made({("work", "f"): (2.0, 2.1)})]
        found = collect(TWO, runs)
        self.assertEqual([(one.metric, one.expected, one.measured) for one in found],
                         [("work", [1.0, 2.0], [1.1, 2.1]), ("idleness", [0.5], [0.6])])

    def test_totals_do_not_see_the_division_among_contexts(self):
        run = Made({("idleness", "f"): (1.0, 1.4), ("idleness", "g"): (1.0, 0.6), ("work", "f"): (0.05, 0.05)})
        self.assertAlmostEqual(run.total_error_percent("idleness"), 0.0)
        self.assertIsNone(run.total_error_percent("work"), "too little to be a percentage")

    def test_shares_of_a_handoff_are_of_all_waiting(self):
        run = Made({("lock_wait", "holder"): (0.75, 0.6), ("lock_wait", "<lock handoff>"): (0.25, 0.4),
                    ("lock_wait_here", "holder"): (9, 9)})
        self.assertEqual(run.handoff_shares(), {"holder": (75.0, 60.0), "<lock handoff>": (25.0, 40.0)})
        self.assertEqual(Made({("lock_wait", "holder"): (0.75, 0.6)}).handoff_shares(), {})

    def test_cases_have_names_of_their_own_and_say_what_more_threads_than_cores_mean(self):
        self.assertEqual(len({case.name for case in CASES}), len(CASES))
        self.assertEqual([case.name for case in CASES if case.threads > 2 and not case.theory], [])

    def test_only_more_threads_than_cores_wait_passively(self):
        self.assertEqual(FOUR.environment(4), {})
        self.assertIn("KMP_BLOCKTIME", FOUR.environment(2))


class Chart(unittest.TestCase):
    def drawn(self, *bars, title="t"):
        self.panel = chart.Panel("panel", list(bars))
        return xml.etree.ElementTree.fromstring(chart.draw(title, [self.panel, chart.Panel("empty", [])]))

    def test_a_point_and_its_interval_are_where_the_axis_says(self):
        root = self.drawn(chart.Bar("a", 1.0, 0.5))
        point = root.find(f"{SVG}circle")
        self.assertAlmostEqual(float(point.get("cx")), self.panel.x(1.0), places=1)
        ends = {(one.get("x1"), one.get("x2")) for one in root.iter(f"{SVG}line")}
        self.assertIn((f"{self.panel.x(0.5):.1f}", f"{self.panel.x(1.5):.1f}"), ends)
        self.assertAlmostEqual(self.panel.x(1.0) - self.panel.x(0.0), chart.PLOT / 2 / self.panel.limit)

    def test_labels_with_angle_brackets_stay_text(self):
        texts = [one.text for one in self.drawn(chart.Bar("a < b: <lock handoff> & c", 0.0, 0.1)).iter(f"{SVG}text")]
        self.assertIn("a < b: <lock handoff> & c", texts)
        self.assertNotIn("empty", texts)

    def test_the_axis_grows_with_the_errors_up_to_a_limit_and_what_is_beyond_is_marked(self):
        self.drawn(chart.Bar("a", 0.1, 0.1))
        self.assertEqual(self.panel.limit, chart.SMALLEST_AXIS)
        self.drawn(chart.Bar("a", -3.0, 1.0))
        self.assertGreaterEqual(self.panel.limit, 4.0)
        root = self.drawn(chart.Bar("a", 95.0, 1.0), chart.Bar("b", 0.0, 0.1))
        self.assertEqual(self.panel.limit, chart.LARGEST_AXIS)
        self.assertEqual(len(root.findall(f"{SVG}polygon")), 1)
        self.assertEqual(len(root.findall(f"{SVG}circle")), 1)
        self.assertIn("+95.00 \N{PLUS-MINUS SIGN} 1.00 %", [one.text for one in root.iter(f"{SVG}text")])


class Document(unittest.TestCase):
    def test_only_what_is_between_the_markers_changes_and_again_gives_the_same(self):
        text = f"before\n{document.BEGIN}\nold\n{document.END}\nafter\n"
        changed = document.replace_generated(text, "new")
        self.assertEqual(changed, f"before\n{document.BEGIN}\nnew\n{document.END}\nafter\n")
        self.assertEqual(document.replace_generated(changed, "new"), changed)

    def test_a_document_without_markers_is_refused(self):
        for text in ("", document.BEGIN, document.END + document.BEGIN, 2 * (document.BEGIN + document.END)):
            self.assertRaises(ValueError, document.replace_generated, text, "new")

    def test_the_page_states_both_groups_and_the_target(self):
        values = {("idleness", "slow"): (1.0, 1.001), ("work", "slow"): (1.0, 1.0)}
        good = [Made(values, {"idle_share": (0.02, 0.005)})] * 2
        bad = [Made({("idleness", "slow"): (1.0, 1.5)})] * 2
        results = [(TWO, good), (FOUR, bad)]
        every = [one for case, runs in results for one in collect(case, runs)]
        page = document.generate_summary(results, every, 1000, 2) + document.generate_tables(results, every, 1000, 2)
        self.assertIn("threads <= cores: blame: median |error| 0.10 %, worst 0.10 %", page)
        self.assertIn("threads > cores: blame: median |error| 50.00 %, worst 50.00 %", page)
        target = "target for threads <= cores: median <= 0.5 %, worst <= 2 %: met; the machine was not quiet"
        self.assertIn(target, page)
        self.assertIn("| four threads |", page)
        self.assertIn("what may be expected |", page)
        self.assertIn("two threads: idle share 0.50", page)
        self.assertIn("other processes used 0.25 cores", page)

    def test_a_quiet_machine_is_not_called_otherwise(self):
        run = Made({("idleness", "slow"): (1.0, 1.001)})
        run.foreign_cores = 0.01
        group = document.groups(collect(TWO, [run]), 2)[0]
        self.assertTrue(document.target_line(group, [(TWO, [run])]).endswith("worst <= 2 %: met"))

    def test_the_real_page_has_the_markers(self):
        with open(accuracy.DOCUMENT, encoding="utf-8") as file:
            document.replace_generated(file.read(), "new")


if __name__ == "__main__":
    unittest.main()
