#!/usr/bin/env python3
"""Tests that the gate reports what it should. `make gate` runs them."""

import contextlib
import os
import shutil
import sys
import tempfile
import unittest

import callgrind
import gate

PROFILE = """\
# callgrind format
desc: Trigger: Client Request: sample WORK:100
positions: line
events: Ir
summary: 12345

fn=(1) send_sample
10 500
cob=(2) libblame.so
cfn=(2) handle_sample
calls=100 24
* 40000
+3 200

fn=(3) walk.constprop.0
-1 100
cfn=(4) unwinder_next
calls=1000 7
+1 30000
cfn=(4)
calls=200 7
* 1000

fn=(5) send_once
12 1
cfn=(2)
calls=1 1
* 77
"""


def read(text):
    with tempfile.NamedTemporaryFile("w", suffix=".out", delete=False) as file:
        file.write(text)
    try:
        return callgrind.read(file.name)
    finally:
        os.remove(file.name)


class Counts(unittest.TestCase):
    def test_costs_are_those_of_calls_and_of_the_function_itself(self):
        profile = read(PROFILE)
        self.assertEqual(profile.trigger, "sample WORK:100")
        self.assertEqual(profile.out_of("send_sample"), (100, 40000))
        self.assertEqual(profile.into("unwinder_next"), (1200, 31000))
        self.assertEqual(profile.self_cost["send_sample"], 700)
        self.assertEqual(profile.self_cost["walk"], 100)

    def test_rows_are_per_repetition_and_leave_out_what_is_not_repeated(self):
        rows = gate.rows_of(read(PROFILE), "sample WORK", 100)
        self.assertEqual(rows, {"sample WORK: handler": 400, "sample WORK: unwinder in it": 310})

    def test_an_event_that_is_not_a_sample_has_its_own_name(self):
        rows = gate.rows_of(read(PROFILE.replace("send_sample", "send_wait_begin")), "barrier", 100)
        self.assertEqual(rows["barrier: wait begin"], 400)

    def test_what_is_not_a_profile_is_refused(self):
        for text in ("fn=(7)\n", "events: Ir Dr\n", "fn=(1) f\n12\n", "fn=(1) f\ncalls=x 1\n"):
            with self.assertRaises(callgrind.FormatError):
                read(text)


class Verdicts(unittest.TestCase):
    def test_more_than_the_slack_fails(self):
        self.assertFalse(gate.verdict(105, 100)[0])
        self.assertTrue(gate.verdict(106, 100)[0])
        self.assertTrue(gate.verdict(22, 20)[0])
        self.assertTrue(gate.verdict(1, 0)[0])

    def test_less_is_a_hint(self):
        self.assertEqual(gate.verdict(95, 100), (False, ""))
        failed, remark = gate.verdict(90, 100)
        self.assertFalse(failed)
        self.assertIn("less by 10.0 %", remark)

    def test_a_new_budget_leaves_those_of_other_conditions(self):
        kept, gate.BUDGET = gate.BUDGET, os.path.join(tempfile.mkdtemp(), "budget.csv")
        self.addCleanup(setattr, gate, "BUDGET", kept)
        for where, measured in (("gcc", {"a": 1, "b": 2}), ("clang", {"b": 3.4}), ("gcc", {"a": 4.6})):
            with contextlib.redirect_stdout(None):
                gate.accept(where, measured)
        self.assertEqual(gate.read_budget(), {"gcc": {"a": 5}, "clang": {"b": 3}})
        shutil.rmtree(os.path.dirname(gate.BUDGET))

    def test_rows_come_and_go_only_with_a_new_budget(self):
        self.assertTrue(gate.verdict(None, 100)[0])
        self.assertTrue(gate.verdict(100, None)[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
