"""OpenMP programs of aarch64 under the tool, run by qemu: the rows, states and laws that they have by construction, as on the machine
itself (tests/behaviour/test_analytic.py). Only by `make test-aarch64`."""

import unittest

from harness import PASSIVE, RUNNER, BlameTest

AT_RELEASE = {"BLAME_LOCKS": "release"}


@unittest.skipUnless(RUNNER, "by make test-aarch64")
class Aarch64(BlameTest):
    def stated(self, name, env=None, at_least=2):
        run, profile = self.profile_of(name, env=env)
        self.assert_expectations(name, run, profile, at_least)
        return profile

    def whole(self, profile):
        """Hardly a path was cut: whose frames are left wrongly, or not at all, do not come to main."""
        self.assertLessEqual(50 * profile.run["truncated_paths"], profile.run["samples"]["recorded"])

    def test_idleness_beside_serial_code_is_the_serial_functions(self):
        self.whole(self.stated("serial_gap", at_least=6))

    def test_idleness_in_a_region_of_4_is_shared_by_those_still_busy(self):
        self.whole(self.stated("imbalance4", PASSIVE, at_least=9))

    def test_waiting_for_ones_turn_in_ordered_is_blamed_whole(self):
        self.whole(self.stated("ordered", at_least=4))

    def test_with_4_threads_idleness_inherited_by_a_waiter_goes_to_the_holder(self):
        self.whole(self.stated("integrated", PASSIVE, at_least=7))

    def test_waiting_for_short_sections_is_split_by_holder(self):
        self.stated("handoff", at_least=6)

    def test_waiting_for_a_nestable_lock_goes_to_the_release_that_frees_it(self):
        self.stated("nest_lock", AT_RELEASE, at_least=6)

    def test_waiting_for_a_lock_that_is_never_released_has_a_row_of_its_own(self):
        self.stated("unreleased", AT_RELEASE)

    def test_holders_are_told_from_others_who_hold_locks_and_from_their_own_waits(self):
        self.stated("holders", at_least=4)

    def test_functions_that_tail_jump_keep_their_rows(self):
        self.whole(self.stated("tail_call", at_least=3))

    def test_hard_leaves_are_found_below_main(self):
        self.stated("leaves", at_least=10)

    def test_work_in_tasks_stands_below_their_region(self):
        self.whole(self.stated("tasks"))

    def test_signed_return_addresses_lead_to_the_callers(self):
        self.whole(self.stated("serial_gap_signed", at_least=6))

    def test_code_without_call_frame_information_is_followed(self):
        profile = self.stated("imbalance4_no_tables", PASSIVE, at_least=9)
        self.whole(profile)
        unwinding = profile.run["unwinding"]
        self.assertGreater(unwinding["decoded_steps"], unwinding["frames"] / 4)

    def test_so_is_that_without_frame_records(self):
        self.whole(self.stated("imbalance4_no_records", PASSIVE, at_least=9))
