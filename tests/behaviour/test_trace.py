"""BLAME_TRACE: what each sample found, in time's order. That the sums of a whole trace are the ledgers' is checked wherever a
profile is (run.json's law), that its contexts are the tree's in the simulator."""

from harness import BLAME, BlameTest, clean_environment, execute, program


class Trace(BlameTest):
    def trace(self, argv, env=None, **how):
        """Times of its samples in seconds since the program's start, by the log of stacks; and run.json."""
        run = self.attached(argv, env, **how)
        self.assertEqual(run.status, 0, run)
        self.assert_only_tool_lines(run)
        profile = self.load(run)
        log = execute([BLAME, "export", run.directories()[0], "--format", "stacks"], clean_environment(), self.new_folder())
        self.assertEqual(log.status, 0, log)
        return [float(line.split("\t")[0]) for line in log.stdout.splitlines()], profile.run, run

    def test_the_whole_run(self):
        times, about, _ = self.trace([program("control")], how="launcher", options=["--trace"])
        self.assertEqual(len(times), about["samples"]["recorded"])
        self.assertEqual((about["trace"]["samples"], about["trace"]["thinned"]), (len(times), 0))
        self.assertTrue(about["conservation"]["trace"]["ok"])
        self.assertLess(about["trace"]["bytes"], 3 * len(times) + 200)

    def test_a_window(self):
        """So long that its threads get a core in it, and ended before the program has."""
        words = [program("control"), *["flush"] * 5]  # for 1.2 s
        whole, about, _ = self.trace(words, {"TEST_PACE": "1", "BLAME_RATE": "1000"}, how="launcher", options=["--trace", "0.1:0.9"])
        self.assertTrue(0 < len(whole) < about["samples"]["recorded"])
        self.assertNotIn("trace", about["conservation"])

    def test_between_the_programs_calls(self):
        """Each part is 0.4 s long, in which a thread has a core beside whatever load."""
        words = [program("control"), "trace", "flush", "untrace", "flush", "trace", "flush"]
        times, about, _ = self.trace(words, {"TEST_PACE": "1", "BLAME_RATE": "1000"})
        self.assertTrue(0 < len(times) < about["samples"]["recorded"])
        self.assertGreater(max(after - before for before, after in zip(times, times[1:])), 0.5 * 0.4)
        run = self.attached(words, {"BLAME_TRACE": "0"})
        self.assertNotIn("trace", self.load(run).run)

    def test_threads_without_room_are_said(self):
        run = self.attached([program("many_threads")], {"BLAME_TRACE": "1", "BLAME_TRACE_LIMIT": "64K", "BLAME_SUMMARY": "1"})
        about = self.load(run).run
        self.assertGreater(about["trace"]["thinned"], 0)
        self.assertRegex(run.stderr, rf"trace: {about['trace']['samples']} samples, .*; {about['trace']['thinned']} more had no room "
                                     r"within the limit of 0\.06 MiB \(BLAME_TRACE_LIMIT\)")

    def test_a_forked_child_has_its_own(self):
        run = self.attached([program("forks"), "fork"], {"BLAME_TRACE": "1"})
        found = run.directories()
        self.assertEqual(len(found), 2, run)
        for directory in found:
            about = self.load(run, directory, elapsed=False).run
            self.assertEqual(about["trace"]["samples"], about["samples"]["recorded"])

    def test_there_is_none(self):
        run = self.attached([program("control")])
        log = execute([BLAME, "export", run.directories()[0], "--format", "stacks"], clean_environment(), self.new_folder())
        self.assertEqual(log.status, 1, log)
        run = self.plain([BLAME, "run", "--trace=60:50", program("control")])
        self.assertEqual((run.status, run.stderr.splitlines()),
                         (2, ["blame run: --trace 60:50: expected 0, 1 or FROM:TO in seconds since the start, for example 60:90"]))


if __name__ == "__main__":
    import unittest
    unittest.main()
