"""Cube's archive by location: threads of a process, ranks of a job with their threads, against what reports say of each."""

import collections
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import cube_reader  # noqa: E402  (found through the path set above)
from blame_profile import Tree  # noqa: E402
from harness import BLAME, LIBRARY, BlameTest, clean_environment, execute, program  # noqa: E402


def by_path(tree, metrics):
    """Own values of a report's rows."""
    paths = collections.defaultdict(collections.Counter)
    for row in tree.rows:
        if row.kind != "statement":
            for metric in metrics:
                paths[tuple(row.path())][metric] += row[f"{metric} (E)"]
    return paths


def by_path_of(contexts, metrics, location):
    """The same of an archive's contexts."""
    paths, values = {}, collections.defaultdict(collections.Counter)
    for context in contexts:
        above = paths.get(context.parent)
        paths[context] = () if above is None else (*above, context.region.findtext("name"))
        for metric in metrics:
            if metric in context.located:
                values[paths[context]][metric] += context.located[metric][location]
    return values


class Cube(BlameTest):
    def archive(self, directory):
        path = os.path.join(self.new_folder(), "all.cubex")
        subprocess.run([BLAME, "export", directory, "--format", "cube", "-o", path], check=True, env=clean_environment())
        return path

    def assert_thread(self, contexts, location, directory, thread):
        tree = Tree(self.report(directory, "--format", "csv", "--thread", str(thread)).stdout)
        metrics = [column[:-4] for column in tree.rows[0].cells if column.endswith(" (E)")]
        wanted, found = by_path(tree, metrics), by_path_of(contexts, metrics, location)
        self.assertTrue(any(wanted.values()))
        for path in set(wanted) | set(found):
            for metric in metrics:
                self.assertLess(abs(wanted[path][metric] - found[path][metric]), 1e-5, (thread, path, metric))

    def test_each_threads_values_are_its_reports(self):
        path = self.archive(self.lock_profile())
        contexts, _parts, locations = cube_reader.read(path)
        self.assertGreater(len(locations), 1)
        for number, (_node, process, thread) in enumerate(locations):
            self.assertRegex(process, "^process [0-9]+$")
            self.assert_thread(contexts, number, self.lock_profile(), int(thread.removeprefix("thread ")))
        with open(os.path.join(self.lock_profile(), "profile.csv"), newline="", encoding="utf-8") as file:
            self.assertIsNone(cube_reader.difference(Tree(file.read()), path))

    def test_contexts_without_a_value_are_not_in_the_archive(self):
        contexts, _parts, _locations = cube_reader.read(self.archive(self.lock_profile()))
        for context in contexts[1:]:
            for metric, values in context.located.items():
                self.assertTrue(any(values), (context.number, metric))

    def test_a_jobs_ranks_have_their_threads(self):
        folder = self.new_folder()
        for rank in (0, 0, 1):
            env = self.tool_environment({"BLAME_OUT": None, "BLAME_SUMMARY": None, "BLAME_RATE": "2000", "OMPI_COMM_WORLD_RANK": str(rank),
                                         "OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": str(rank), "PMIX_NAMESPACE": "4711"})
            run = execute([program("quick"), "5"], env | {"OMP_TOOL_LIBRARIES": LIBRARY}, folder)
            self.assertEqual(run.status, 5, run)
        job = os.path.join(folder, "blame-quick-4711")
        path = self.archive(job)
        contexts, _parts, locations = cube_reader.read(path)
        self.assertIsNone(cube_reader.difference(Tree(self.report(job, "--format", "csv").stdout), path))
        self.assertEqual([process for _, process, _ in locations], sorted(process for _, process, _ in locations))
        self.assertEqual({process for _, process, _ in locations}, {"rank 0", "rank 0.1", "rank 1"})
        for number, (_node, process, thread) in enumerate(locations):
            rank, dot, of_rank = process.removeprefix("rank ").partition(".")
            rank = os.path.join(job, f"rank-{int(rank):06}{dot}{of_rank}.blame")
            self.assert_thread(contexts, number, rank, int(thread.removeprefix("thread ")))
