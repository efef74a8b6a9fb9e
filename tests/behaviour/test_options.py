"""Variables of contract.md: what is refused and how, and what each does."""

import glob
import gzip
import os
import platform
import re
import shlex

from harness import BLAME, BlameTest, clean_environment, execute, program

# Variable: a value that is not accepted, and what the message must name as accepted.
REFUSED = {
    "BLAME_RATE": ("10001", ["1", "10000"]), "BLAME_CLOCK": ("sundial", ["wall", "cpu"]),
    "BLAME_ENVIRONMENT": ("office", ["dedicated", "shared"]), "BLAME_CONTEXT": ("lazy", ["deferred", "eager"]),
    "BLAME_TASKS": ("none", ["region", "creation"]), "BLAME_LOCKS": ("neither", ["section", "release"]),
    "BLAME_DEPTH": ("deep", ["1", "4096"]), "BLAME_PHASE_INSTANCES": ("many", ["1", "100000000"]),
    "BLAME_EVENTS_THROTTLE": ("often", ["calls@nanoseconds", "0"]), "BLAME_CSV": ("yes", ["0", "1"]),
    "BLAME_PRIVATE": ("o", ["0", "1"]), "BLAME_NO_COMMAND": ("all", ["0", "1"]), "BLAME_META": ("a b=1", ["KEY=VALUE"]), "BLAME_TIMELINE": ("2", ["0", "1"]), "BLAME_DISABLE": ("perhaps", ["0", "1"]),
    "BLAME_RUNTIME": ("libgomp", ["auto", "libomp", "own"]),
}
ACCEPTED = {
    "BLAME_RATE": ["1", "10000"], "BLAME_CLOCK": ["wall", "cpu"], "BLAME_ENVIRONMENT": ["dedicated", "shared"],
    "BLAME_CONTEXT": ["deferred", "eager"], "BLAME_TASKS": ["region"], "BLAME_DEPTH": ["1", "4096"],
    "BLAME_PHASE_INSTANCES": ["1", "100000000"], "BLAME_EVENTS_THROTTLE": ["0", "1@1"],
    "BLAME_EVENTS_INCLUDE": ["a*,b", ","], "BLAME_EVENTS_EXCLUDE": ["[", "*"],
}
DEFAULTS = {"rate": "200", "clock": "wall", "environment": "dedicated", "context": "deferred", "tasks": "region",
            "depth": "512", "phase_instances": "10000", "events_throttle": "100000@2000"}
OWN_LINE = "the program's own line"


def read_text(path):
    """What the system says there; "" if it says nothing."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


class Options(BlameTest):
    def quick(self, env=None, how="library", **options):
        run = self.attached([program("quick"), "5"], env, how, **options)
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        return run

    def test_a_refused_value_gives_one_line_with_name_value_and_what_is_accepted_and_the_default_is_used(self):
        run = self.quick({variable: value for variable, (value, _) in REFUSED.items()})
        self.assert_only_tool_lines(run, [OWN_LINE])
        self.assertEqual(len(run.tool_lines()), len(REFUSED), run)
        for variable, (value, accepted) in REFUSED.items():
            line, = [line for line in run.tool_lines() if f"{variable}={value}: " in line]
            rest = line.replace(value, "", 1)
            for word in accepted:
                self.assertRegex(rest, rf"(?<![\w.]){word}(?![\w.])", run)
        profile = self.load(run)
        for name, value in DEFAULTS.items():
            self.assertEqual(profile.option(name), value, name)

    def test_numbers_are_numbers_in_run_json(self):
        options = self.load(self.quick({"BLAME_EVENTS_THROTTLE": "0", "BLAME_EVENTS_INCLUDE": "7"})).run["options"]
        for name in ["rate", "depth", "csv", "summary", "phase_instances", "disable"]:
            self.assertIs(type(options[name]), int, options)
        for name in ["clock", "locks", "events_throttle", "events_include"]:
            self.assertIs(type(options[name]), str, options)

    def test_what_the_user_and_the_environment_say_of_a_run_is_in_run_json(self):
        env = {"BLAME_META": "size=512\nnote=a = b", "OMP_SCHEDULE": "dynamic,4", "KMP_BLOCKTIME": "0", "OMP_NUM_THREADS": "2"}
        run = self.load(self.quick(env, how="launcher", options=("--meta", "size=64", "--meta", "who=\u00fc;\"\x01'"))).run
        self.assertEqual(run["meta"], {"size": "64", "note": "a = b", "who": "\u00fc;\"\x01'"})
        self.assertEqual(run["environment"], {name: env[name] for name in ("OMP_SCHEDULE", "KMP_BLOCKTIME", "OMP_NUM_THREADS")})
        self.assertNotIn("meta", run["options"])
        self.assertEqual(run["cpu_model"].strip(), self.plain([program("processor")]).stdout.strip())

    def test_what_the_machine_is_is_in_run_json_as_the_system_says_it(self):
        machine = self.load(self.quick()).run["machine"]
        system = platform.uname()
        memory, = re.findall(r"^MemTotal:\s+(\d+) kB", read_text("/proc/meminfo"), re.M)
        expected = {"os": f"{system.system} {system.release}", "architecture": system.machine, "memory_bytes": int(memory) * 1024}
        names = re.findall(r"^PRETTY_NAME=(.*)", read_text("/etc/os-release"), re.M)
        expected |= {"distribution": shlex.split(name)[0] for name in names}
        nodes = glob.glob("/sys/devices/system/node/node[0-9]*")
        expected |= {"numa_nodes": len(nodes)} if nodes else {}
        for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*"):
            level, kind, size = (read_text(os.path.join(path, name)).strip() for name in ("level", "type", "size"))
            if kind != "Instruction" and int(level) < 4:
                expected["l1d_bytes" if level == "1" else f"l{level}_bytes"] = int(size[:-1]) * 1024
        speed = read_text("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
        speeds = re.findall(r"^cpu MHz\s*: (\d+)", read_text("/proc/cpuinfo"), re.M)
        told = machine.pop("cpu_mhz", None)
        self.assertEqual(machine, expected)
        if speed:
            self.assertEqual(told, int(speed) // 1000)
        elif told is not None:  # nor is it where asking would wake other cores
            self.assertTrue(speeds and 0 < told < 10000, (told, speeds))

    def test_a_run_has_an_id_of_its_own(self):
        ids = [self.load(self.quick({"BLAME_SEED": "1"})).run["id"] for _ in range(2)]
        self.assertNotEqual(*ids)
        for text in ids:
            self.assertRegex(text, r"^[0-9a-f]{16}$")

    def test_metadata_that_cannot_be_kept_does_not_change_the_program(self):
        for text in ("=1", "key", "a=1\n\nb=2", "k" * 64 + "=1", "a=" + "x" * 8000):
            run = self.quick({"BLAME_META": text})
            self.assertEqual(len([line for line in run.tool_lines() if "BLAME_META=" in line]), 1, run)
            self.assertEqual(self.load(run).run["meta"], {}, run)

    def test_a_misspelt_variable_is_named_with_the_one_that_was_meant(self):
        for name, said in (("BLAME_RATES", "did you mean BLAME_RATE?"), ("BLAME_SUMARY", "did you mean BLAME_SUMMARY?"),
                           ("BLAME_ZEBRA", "there is no such variable"), ("BLAME_", "there is no such variable, see man libblame"),
                           ("BLAME_" + "X" * 100, "there is no such variable")):
            with self.subTest(name=name):
                run = self.quick({name: "1"})
                self.assertEqual(len(run.tool_lines()), 1, run)
                self.assertIn(said, run.tool_lines()[0])

    def test_patterns_and_lists_with_nothing_in_them_are_told(self):
        for name, value, accepted in (("BLAME_OUT", "profile-%q", "e, p, h, r, j or %"), ("BLAME_OUT", "profile%", "e, p, h, r, j or %"),
                                      ("BLAME_COUNTERS", ",,,", "names of counters")):
            run = self.quick({name: value})
            line, = run.tool_lines()
            self.assertTrue(line.startswith(f"blame: {name}={value}: ") and accepted in line, line)

    def test_known_variables_are_taken_without_a_word(self):
        for how in ("library", "launcher"):
            run = self.quick({"BLAME_DB": "x", "BLAME_SEED": "1", "BLAME_SIGNAL": "50", "BLAMES": "1"}, how)
            self.assertEqual(run.tool_lines(), [], run)

    def test_a_private_profile_is_its_owners_alone(self):
        for env in ({}, {"BLAME_TEST_NETWORK": "1"}):  # there the measurement comes from elsewhere
            with self.subTest(env=env):
                directory, = self.quick({"BLAME_PRIVATE": "1"} | env).directories()
                self.assert_private(directory)
        directory, = self.attached([program("stack_sweep"), "0.3", "2"], {"BLAME_PRIVATE": "1"}, "launcher", ("--stacks",)).directories()
        self.assertTrue(glob.glob(os.path.join(directory, "*.stacks")))
        self.assert_private(directory)

    def test_told_to_keep_the_command_the_profile_has_no_argument(self):
        """Nor has anything that is made of it."""
        secret = "s3cr3t-4711"
        for how, env, options in (("library", {"BLAME_NO_COMMAND": "1"}, ()), ("launcher", {}, ("--no-command",))):
            with self.subTest(how=how):
                run = self.attached([program("quick"), "0", secret], env | {"BLAME_TRACE": "1", "BLAME_SUMMARY": "1"}, how, options)
                self.assertEqual(self.load(run).run["command"], "quick")
                for command in (["html", "profile", "-o", "page"], ["report", "profile", "-o", "text"], ["diff", "profile", "profile", "-o", "diff"],
                                ["db", "add", "profile", "--db", "runs.db"], ["db", "export", "--db", "runs.db", "-o", "table"],
                                *(["export", "profile", "--format", name, "-o", name]
                                  for name in ("folded", "speedscope", "pprof", "hatchet", "cube", "stacks", "trial", "perfetto", "firefox", "hpctoolkit", "tau"))):
                    made = execute([BLAME, *command], clean_environment(), run.folder)
                    self.assertEqual(made.status, 0, made)
                    self.assertNotIn(secret, made.stdout + made.stderr)
                self.assertNotIn(secret, run.stderr)
                for path in glob.glob(os.path.join(run.folder, "**"), recursive=True):
                    if os.path.isfile(path):
                        with open(path, "rb") as file:
                            content = file.read()
                        self.assertNotIn(secret.encode(), gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content, path)
        kept = self.attached([program("quick"), "0", secret])
        self.assertIn(secret, self.load(kept).run["command"])

    def test_accepted_values_are_taken_without_a_word(self):
        for values in ({name: values[0] for name, values in ACCEPTED.items()}, {name: values[-1] for name, values in ACCEPTED.items()}):
            run = self.quick(values)
            self.assertEqual(run.stderr.splitlines(), [OWN_LINE], run)
            profile = self.load(run)
            for name, value in values.items():
                self.assertEqual(profile.option(name.removeprefix("BLAME_").lower()), value)

    def test_an_unset_environment_gives_the_defaults(self):
        profile = self.load(self.quick({"BLAME_RATE": None}))
        for name, value in DEFAULTS.items():
            self.assertEqual(profile.option(name), value, name)

    def test_disabled_the_tool_leaves_no_trace(self):
        for how in ("library", "launcher"):
            with self.subTest(how=how):
                run = self.quick({"BLAME_DISABLE": "1"}, how)
                self.assertEqual(run.directories(), [])
                self.assert_only_tool_lines(run, [OWN_LINE])

    def test_without_csv_there_is_only_the_measurement_and_report_reads_it(self):
        run = self.attached([program("imbalance2")], {"BLAME_CSV": "0"})
        directory, = run.directories()
        names = os.listdir(directory)
        self.assertTrue(any(name.endswith(".blame") for name in names), names)
        self.assertFalse(any(name.endswith(".csv") for name in names), names)
        tree = self.reported_tree(directory)
        self.assert_expectations("imbalance2 (report)", run, tree, 6)

    def test_the_launchers_options_set_the_same(self):
        run = self.quick({"BLAME_RATE": None, "BLAME_OUT": None}, "launcher",
                         options=["--rate", "500", "--clock", "cpu", "--depth", "100", "--out", "profile"])
        profile = self.load(run)
        self.assertEqual([profile.option(name) for name in ("rate", "clock", "depth")], ["500", "cpu", "100"])

    def test_an_option_outweighs_the_environment(self):
        profile = self.load(self.quick({"BLAME_RATE": "300"}, "launcher", options=["--rate", "500"]))
        self.assertEqual(profile.rate(), 500)


class Summary(BlameTest):
    def summary(self, name, env=None):
        run = self.attached([program(name)], {"BLAME_SUMMARY": "1"} | (env or {}))
        self.assertEqual(run.status, 0, run)
        return run, run.stderr

    def test_it_names_times_threads_metrics_and_the_directory(self):
        run, text = self.summary("lock")
        for word in ("thread", "work", "idleness", "overhead", "lock wait", "%"):
            self.assertIn(word, text, run)
        self.assertIn(os.path.basename(run.directories()[0]), text)
        profile = self.load(run)
        seconds = [float(number) for number in re.findall(r"\d+\.\d+", text)]
        for measured in (profile.run["wall_s"], profile.root["lock wait (I)"]):
            self.assertTrue(any(abs(number - measured) < 0.06 for number in seconds), f"{measured} in\n{text}")

    def test_it_names_the_functions_to_blame_with_their_lines(self):
        _, text = self.summary("lock", {"TEST_LOADED": "1"})  # it works for so long by its own CPU time
        self.assertRegex(text, r"long_holder")
        self.assertRegex(text, r"(lock\.c|analytic\.h):\d+")
        _, text = self.summary("serial_gap", {"TEST_LOADED": "1"})
        self.assertRegex(text, r"serial_part")

    def test_a_run_of_some_milliseconds_has_no_books_to_complain_about(self):
        run = self.attached([program("quick")], {"BLAME_SUMMARY": "1", "BLAME_RATE": "20"})
        self.assertIn("too short for findings", run.stderr, run)
        self.assertNotIn("note:", run.stderr, run)

    def test_what_to_type_next_is_fit_for_a_shell(self):
        folder = os.path.join(self.new_folder(), "my runs' $1")
        run = self.attached([program("quick")], {"BLAME_SUMMARY": "1", "BLAME_OUT": folder})
        command = shlex.split(run.stderr.split("see more: ")[1].splitlines()[0])
        self.assertEqual(command[:2], ["blame", "report"], run)
        self.assertEqual(os.path.basename(command[2]), os.path.basename(folder), run)

    def test_a_program_without_line_numbers_is_told_once_how_to_get_them(self):
        advice = "compile it with -g to see source lines"
        bare = os.path.join(self.new_folder(), "imbalance2")
        self.assertEqual(execute(["strip", "--strip-debug", "-o", bare, program("imbalance2")], clean_environment(), self.folder).status, 0)
        for path, times in ((bare, 1), (program("imbalance2"), 0)):
            run = self.attached([path], {"BLAME_SUMMARY": "1"})
            self.assertEqual(run.stderr.count(advice), times, run)
            self.assertEqual(" ".join(self.report(run.directories()[0]).stdout.split()).count(advice), times)

    def test_shares_add_up_to_the_whole_that_the_heading_names(self):
        for name in ("lock", "serial_gap", "handoff"):
            run, text = self.summary(name)
            whole, = re.findall(r"(?m)^  Of ([0-9.]+) thread-seconds(?: measured)? \(2 threads, [0-9.]+ s\):$", text)
            shares = re.findall(r"(?m)^  [a-z][a-z ]* +([0-9.]+) s +([0-9.]+) %  \S", text)  # without the part of lock wait
            self.assertAlmostEqual(sum(float(seconds) for seconds, _ in shares), float(whole), delta=0.05, msg=run)
            self.assertAlmostEqual(sum(float(percent) for _, percent in shares), 100, delta=0.5, msg=run)

    def test_it_is_short(self):
        _, text = self.summary("imbalance2")
        self.assertLessEqual(len(text.splitlines()), 30, text)
        self.assertGreaterEqual(len(text.splitlines()), 5, text)
