"""Options that change what is measured: eager against deferred contexts, environments, clocks, depth."""

from expectations import tolerance
from harness import PASSIVE, BlameTest


def significant_paths(profile, share=0.02):
    """Path to (work, idleness, lock wait) for every row with more than a share of the program's effort."""
    least = share * profile.root.effort()
    found = {}
    for row in profile.rows:
        if row.kind not in ("root", "statement") and row.effort() > least:
            sums = found.setdefault(tuple(row.path()), [0.0, 0.0, 0.0])
            for index, metric in enumerate(("work", "idleness", "lock wait")):
                sums[index] += row[f"{metric} (I)"]
    return found


class EagerIsTheOracle(BlameTest):
    def assert_same_tree(self, name, env=None):
        trees = {}
        for mode in ("deferred", "eager"):
            run, profile = self.profile_of(name, env=(env or {}) | {"BLAME_CONTEXT": mode})
            self.assert_expectations(f"{name} ({mode})", run, profile)
            self.assertEqual(profile.option("context"), mode)
            trees[mode] = profile
        deferred, eager = (significant_paths(trees[mode], 0) for mode in ("deferred", "eager"))
        for mine, other in ((significant_paths(trees["deferred"]), eager), (significant_paths(trees["eager"]), deferred)):
            self.assertGreater(len(mine), 3)
            for path, sums in mine.items():
                if path[-1].startswith(("__kmp", "GOMP_", "<region end>")):
                    continue  # forking takes as long as it takes: who waits then is the machine's doing
                self.assertIn(path, other, f"{name}: only one mode has {' > '.join(path)}")
                for metric, left, right in zip(("work", "idleness", "lock wait"), sums, other[path]):
                    # Each is within tolerance of what its own execution clocked; the executions differ by more than
                    # that where there are more threads than cores.
                    self.assertLessEqual(abs(left - right), 4 * tolerance(max(left, right)),
                                         f"{name}: {metric} of {' > '.join(path)}: {left:.3f} and {right:.3f}")

    def test_in_a_flat_region(self):
        self.assert_same_tree("imbalance2")

    def test_in_nested_regions(self):
        self.assert_same_tree("nested", PASSIVE | {"OMP_MAX_ACTIVE_LEVELS": "2"})

    def test_with_tasks(self):
        self.assert_same_tree("tasks")

    def test_with_locks(self):
        self.assert_same_tree("lock")

    def test_with_two_primary_threads(self):
        self.assert_same_tree("two_pthreads", PASSIVE)

    def test_with_tail_calls(self):
        self.assert_same_tree("tail_call")


class Environments(BlameTest):
    def test_in_a_shared_environment_idleness_is_shared_idleness_and_serial_code_costs_nothing(self):
        _, profile = self.profile_of("serial_gap", env={"BLAME_ENVIRONMENT": "shared"})
        self.assertLess(profile.total("idleness", "serial_part"), 0.03)
        for row in profile.rows:
            self.assertEqual(row["idleness (I)"], row["shared idleness (I)"], row.name)

    def test_in_a_shared_environment_imbalance_still_costs(self):
        run, profile = self.profile_of("imbalance2", env={"BLAME_ENVIRONMENT": "shared"})
        self.assert_expectations("imbalance2 (shared)", run, profile, 6)


class Clocks(BlameTest):
    def test_the_cpu_clock_does_not_count_sleep_but_counts_computing(self):
        run, profile = self.profile_of("leaves", env={"BLAME_CLOCK": "cpu"})
        self.assertLess(profile.total("work", "sleep_heavy"), 0.1)
        # Computing takes no more processor time than wall time, and nearly as much on a quiet machine.
        for name in ("alloca_heavy", "vdso_heavy", "longjmp_heavy"):
            self.assertGreater(profile.total("work", name), 0.3, run)
            self.assertLess(profile.total("work", name), 0.55, run)


class Rates(BlameTest):
    def samples(self, rate):
        _, profile = self.profile_of("imbalance2", env={"BLAME_RATE": rate})
        self.assertEqual(profile.rate(), float(rate or 200))
        return profile

    def test_the_rate_sets_the_number_of_samples_and_not_the_seconds(self):
        slow, fast = self.samples("100"), self.samples("4000")
        for profile, rate in ((slow, 100), (fast, 4000)):
            due = rate * profile.root["work (I)"]
            self.assertAlmostEqual(profile.root["samples (I)"] / due, 1, delta=0.25, msg=f"at {rate}/s")
        self.assertAlmostEqual(slow.total("work", "slow"), fast.total("work", "slow"), delta=0.15)

    def test_the_rate_is_200_by_default(self):
        self.samples(None)


class Depth(BlameTest):
    def frames(self, profile):
        return max(row.depth for row in profile.rows if row.name == "descend")

    def test_paths_deeper_than_the_limit_are_cut_and_say_so(self):
        run, profile = self.profile_of("deep", "1000", env={"BLAME_DEPTH": "64"})
        self.assert_expectations("deep, cut at 64", run, profile, 2)
        self.assertGreater(profile.total("work", "<truncated>"), 0.95 * profile.total("work", "descend"))
        self.assertLess(self.frames(profile), 64 + 16)
        self.assertGreater(self.frames(profile), 64 - 16)

    def test_the_default_limit_is_512(self):
        _, profile = self.profile_of("deep", "1000")
        self.assertGreater(profile.total("work", "<truncated>"), 0.95 * profile.total("work", "descend"))
        self.assertLess(self.frames(profile), 512 + 16)
        self.assertGreater(self.frames(profile), 512 - 16)

    def test_paths_within_the_limit_are_whole(self):
        run, profile = self.profile_of("deep", "3000", env={"BLAME_DEPTH": "4096", "BLAME_RATE": "200"})
        self.assert_expectations("deep, whole", run, profile, 2)
        self.assertEqual(profile.named("<truncated>"), [])
        self.assertGreater(self.frames(profile), 3000)
