#!/usr/bin/env python3
"""Programs under limits and refusals of every kind, without the tool and with it. By hand:

    make limits                            all
    make limits LIMITS_ARGS='-k NOFILE'    those whose name has that text; -v: a line each

Each case is one of LIMITS and one of PROGRAMS. With the tool the program must print, return and end as without it under the same limit. Of
what could not be measured the tool must say so in a line on stderr, or the reports must; a profile must be readable, and hold
the laws of tests/behaviour/contract_checks.py. What is known to be otherwise stands in KNOWN, with its reason; it is counted apart.

    as alone       output and status as without the tool
    whole, part    of those: the profile has all that was to be measured, or says what it lacks
    unmeasured     there is no profile; a line says why
    cannot run     the program ends otherwise than with its own status, also without the tool"""

import argparse
import concurrent.futures
import fnmatch
import itertools
import os
import shutil
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "behaviour")]

import contract_checks  # noqa: E402
import harness  # noqa: E402
from blame_profile import NotAProfile, Profile  # noqa: E402

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ROOT = os.geteuid() == 0
USER = 54321
NOBODY_ELSE = itertools.count(USER + 1)  # users who have no other processes
LIMIT_S = 300

# name -> how it comes to the tool, argv
PROGRAMS = {
    "quick": ("library", ["quick", "5"]),
    "quick, blame run": ("launcher", ["quick", "5"]),
    "GCC's, blame run": ("launcher", ["quick_gcc", "5"]),
    "crowd": ("library", ["crowd", "16", "5"]),
    "exceptions": ("library", ["exceptions"]),
    "forks": ("library", ["forks", "exec"]),
}
STATUS = {"quick": 5, "quick_gcc": 5, "crowd": 5, "exceptions": 0, "forks": 0}

# Of prlimit's names, the values; None: no limit.
RLIMITS = {
    "as": (0, 4 * MIB, 16 * MIB, 64 * MIB, 100 * MIB, 128 * MIB, 200 * MIB, 400 * MIB, GIB),
    "data": (0, 64 * KIB, MIB, 4 * MIB, 16 * MIB, 24 * MIB, 32 * MIB, 64 * MIB, 256 * MIB),
    "stack": (0, 64 * KIB, 128 * KIB, 256 * KIB, MIB, 64 * MIB, None),
    "nofile": (0, 1, 3, 4, 5, 6, 7, 8, 10, 15, 16, 20, 64, 100, 1000),
    "fsize": (0, 1, KIB, 4 * KIB, 64 * KIB, 300 * KIB, MIB, 16 * MIB),
    "cpu": (1, 60),
    "memlock": (0, 1, 64 * KIB),
    "sigpending": (0, 1, 2, 8),
    "msgqueue": (0, 1),
    "core": (0, 1, None),
    "rttime": (0, 1, 1000),
    "locks": (0, 1),
    "nice": (0, 1, 20),
    "rtprio": (0, 1),
    "rss": (0, 1, 64 * KIB),
}
# Others take 64 MB each, of glibc's malloc in threads that come into each other's way: by chance.
ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}
PROCESSES = (0, 1, 2, 3, 4, 18, 20, 40)  # of a user's own: root has no such limit

# What the tool, `blame run` or the finisher calls, and a program may do without (strace -f tells); and some that programs need, too.
CALLS = ("access", "clone.process", "close_range", "dup2", "faccessat2", "fallocate", "fchmod", "fcntl", "ftruncate", "getcwd", "getrusage", "gettid",
         "kill", "lseek", "madvise", "memfd_create", "mincore", "mkdir", "mmap.shared", "mremap", "newfstatat", "openat.write", "perf_event_open", "pipe2",
         "poll", "prctl", "prlimit64", "process_vm_readv", "pwritev2", "readlink", "rename", "rmdir", "rt_sigpending", "rt_sigtimedwait",
         "sched_getaffinity", "sched_setaffinity", "sendfile", "statfs", "sysinfo", "timer_create", "timer_delete", "timer_settime", "uname", "unlink",
         "wait4", "writev")
ACTIONS = {"": "EPERM", "nosys:": "ENOSYS", "kill:": "killed"}

# (pattern of the limit's name, part of the program's) -> why the program is not as alone, or nothing is told
KNOWN = {
    ("RLIMIT_AS 16777216", ""): "the tool takes 20 MB of address space",
    ("RLIMIT_AS 134217728", "crowd"): "the tool takes 20 MB of address space",
    ("RLIMIT_DATA 16777216", ""): "the tool takes 14 MB of data",
    ("RLIMIT_STACK 65536", "blame run"): "blame run needs more stack for itself",
    ("RLIMIT_NPROC 2", "blame run"): "blame run is a process, too",
    ("wait4 E*", "blame run"): "blame run cannot know how the program ended",
    ("* killed", "blame run"): "the filter ends blame run",
    ("clone.process killed", ""): "the filter ends who starts the process that makes the reports",
    ("wait4 killed", ""): "the filter ends who waits for the process that makes the reports",
    ("poll killed", ""): "the tool says nothing where that would end the program",
    ("pwritev2 killed", ""): "the tool says nothing where that would end the program",
    ("rt_sig* killed", ""): "the tool says nothing where that would end the program",
}


class Bad(Exception):
    pass


class Limit:
    """`wrap` makes of a program's argv what runs it under the limit, in `folder`; `env`: beside the tool's; `out`: where the profile
    is, seen from there; programs: the only ones that it is for."""

    def __init__(self, group, name, wrap=None, env=None, out="profile", programs=None, prepare=None, root=False):
        self.group, self.name, self.env, self.out, self.programs, self.root = group, name, env or {}, out, programs, root
        self.wrap = wrap or (lambda argv, folder: argv)
        self.prepare = prepare or (lambda folder: None)


def prefixed(*words):
    return lambda argv, folder: [*words, *argv]


def mounted(script):
    """A mount namespace of its own; $PWD is the folder."""
    return prefixed("unshare", "-m", "sh", "-c", f'{script} && exec "$@"', "sh")


def small_disk(size):
    """Which is gone with the namespace: what is there stays in `kept`."""
    return prefixed("unshare", "-m", "sh", "-c", f'mkdir disk kept && mount -t tmpfs -o size={size} tmpfs disk && {{ "$@"; status=$?; }}; cp -a disk/. kept; exit $status', "sh")


def chrooted(more=""):
    """Into a root that has libraries, the test programs, and the tool without the command."""
    script = (f'R=$PWD/root; mkdir -p $R/usr $R/bin $R/lib $R/lib64 $R/tmp $R{harness.BUILD}/tests $R{harness.BUILD}/lib $R$PWD && mount --bind /usr $R/usr && mount --bind /bin $R/bin && '
              f'mount --bind /lib $R/lib && mount --bind /lib64 $R/lib64 && mount --bind {harness.BUILD}/tests $R{harness.BUILD}/tests && '
              f'mount --bind {harness.BUILD}/lib $R{harness.BUILD}/lib && mount --bind $PWD $R$PWD{more} && exec chroot $R sh -c \'cd "$0" && exec "$@"\' "$PWD" "$@"')
    return prefixed("unshare", "-m", "sh", "-c", script, "sh")


def rlimits():
    for name, values in RLIMITS.items():
        for value in values:
            text = "unlimited" if value is None else value
            yield Limit("RLIMIT_" + name.upper(), f"RLIMIT_{name.upper()} {text}", prefixed("prlimit", f"--{name}={text}"),
                        ONE_ARENA if name in ("as", "data") else None)
    for count in PROCESSES:
        yield Limit("RLIMIT_NPROC", f"RLIMIT_NPROC {count}", lambda argv, folder, count=count: [
            "prlimit", f"--nproc={count}", "setpriv", f"--reuid={os.stat(folder).st_uid}", f"--regid={USER}", "--clear-groups", *argv],
                    prepare=lambda folder: os.chown(folder, next(NOBODY_ELSE), USER), root=True)


def seccomp():
    for action, title in ACTIONS.items():
        for call in CALLS:
            yield Limit(f"seccomp, {title}", f"{call} {title}", lambda argv, folder, calls=action + call: [harness.program("denies"), calls, *argv])


def file_systems():
    for place in ("/proc", "/dev/shm", "/sys", "/dev", "/tmp"):
        if place != "/tmp" or not harness.BUILD.startswith("/tmp/"):
            yield Limit("file systems", f"{place} empty", mounted(f"mount -t tmpfs tmpfs {place}"), root=True)
    yield Limit("file systems", "/dev/shm read-only", mounted("mount -t tmpfs -o ro tmpfs /dev/shm"), root=True)
    yield Limit("file systems", "/dev/shm full", mounted("mount -t tmpfs -o size=4k tmpfs /dev/shm && head -c 4096 /dev/zero >/dev/shm/full"), root=True)
    yield Limit("file systems", "/proc of no process", mounted("mount -t proc -o hidepid=2 proc /proc"), root=True)
    yield Limit("file systems", "all read-only", mounted("mount -o remount,bind,ro / && mount -t tmpfs -o ro tmpfs /dev/shm"), root=True)
    yield Limit("file systems", "all read-only but the output", mounted(
        'mount --bind "$PWD" "$PWD" && cd "$PWD" && mount -o remount,bind,ro / && mount -t tmpfs -o ro tmpfs /dev/shm'), root=True)
    for size in ("1", "4k", "8k", "40k", "400k"):
        yield Limit("file systems", f"a disk of {size}", small_disk(size), {"BLAME_OUT": "disk/profile"}, "kept/profile", root=True)
    yield Limit("file systems", "a root without the command, /proc, /dev", chrooted(), programs=("quick", "exceptions", "crowd"), root=True)
    yield Limit("file systems", "TMPDIR missing", env={"TMPDIR": "/nonexistent"})
    yield Limit("file systems", "TMPDIR not for writing", env={"TMPDIR": "/proc"})
    yield Limit("file systems", "TMPDIR empty", env={"TMPDIR": ""})


def shell(redirection):
    return prefixed("sh", "-c", f'exec "$@" {redirection}', "sh")


def descriptors():
    for which in ("0<&-", "1>&-", "2>&-", "0<&- 1>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"):
        yield Limit("standard streams", f"closed: {which}", shell(which))
    yield Limit("standard streams", "stdout and stderr full", shell(">/dev/full 2>&1"))
    yield Limit("standard streams", "stderr for reading only", shell("2</dev/null"))


def stacks():
    for size in ("1", "16k", "64k", "100k", "1G", "64G", "x"):
        yield Limit("stacks", f"OMP_STACKSIZE={size}", env={"OMP_STACKSIZE": size})


def make_link(folder, target, make=True):
    if make:
        os.mkdir(os.path.join(folder, target))
    os.symlink(target, os.path.join(folder, "link"))


def folders():
    def made(mode, owner=0):
        def prepare(folder):
            path = os.path.join(folder, "place")
            os.mkdir(path)
            os.chmod(path, mode)
            if owner:
                os.chown(path, owner, owner)
                os.chown(folder, USER, USER)
        return prepare

    user = prefixed("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
    group = "output folders"
    yield Limit(group, "in a linked folder", env={"BLAME_OUT": "link/profile"}, out="target/profile", prepare=lambda folder: make_link(folder, "target"))
    yield Limit(group, "a link to a folder", env={"BLAME_OUT": "link"}, out="link.1", prepare=lambda folder: make_link(folder, "target"))
    yield Limit(group, "a link to nothing", env={"BLAME_OUT": "link"}, out="link.1", prepare=lambda folder: make_link(folder, "nothing", False))
    yield Limit(group, "in a link to nothing", env={"BLAME_OUT": "link/profile"}, prepare=lambda folder: make_link(folder, "nothing", False))
    yield Limit(group, "a link to itself", env={"BLAME_OUT": "link/profile"}, prepare=lambda folder: make_link(folder, "link", False))
    yield Limit(group, "sticky, another's", user, {"BLAME_OUT": "place/profile"}, "place/profile", prepare=made(0o1777, USER + 1), root=True)
    yield Limit(group, "another's", user, {"BLAME_OUT": "place/profile"}, prepare=made(0o755, USER + 1), root=True)
    yield Limit(group, "own, not for writing", user, {"BLAME_OUT": "place/profile"}, prepare=made(0o555, USER), root=True)
    yield Limit(group, "own, not for reading", user, {"BLAME_OUT": "place/profile"}, "place/profile", prepare=made(0o333, USER), root=True)
    yield Limit(group, "own, not for entering", user, {"BLAME_OUT": "place/profile"}, prepare=made(0o666, USER), root=True)
    yield Limit(group, "umask 777", prefixed("sh", "-c", 'umask 777; exec "$@"', "sh"))
    yield Limit(group, "umask 777, a user's", prefixed("sh", "-c", 'umask 777; exec "$@"', "sh", *user([], "")), prepare=made(0o777, USER), root=True)
    yield Limit(group, "a file", env={"BLAME_OUT": "file"}, out="file.1", prepare=lambda folder: open(os.path.join(folder, "file"), "w", encoding="ascii").close())
    yield Limit(group, "/dev/null", env={"BLAME_OUT": "/dev/null"})
    yield Limit(group, "a name of 300 letters", env={"BLAME_OUT": "n" * 300})
    yield Limit(group, "a path of 5,000 letters", env={"BLAME_OUT": "/".join(["n" * 250] * 20)})
    yield Limit(group, "the folder is removed", prefixed("sh", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "sh"))


def crowds():
    for threads in (1, 64, 512, 1500, 4096):
        yield Limit("threads", f"{threads} threads", lambda argv, folder, threads=threads: [argv[0], str(threads), "5"], programs=("crowd",))


def all_limits():
    for make in (rlimits, seccomp, file_systems, descriptors, stacks, folders, crowds):
        yield from make()


def environment(limit, how, folder):
    env = harness.clean_environment() | {"TEST_PACE": "5", "KMP_BLOCKTIME": "0", "OMP_WAIT_POLICY": "passive"}
    if how:
        env |= {"BLAME_RATE": "5000", "BLAME_SUMMARY": "0", "BLAME_OUT": "profile"}
    if how == "library":
        env["OMP_TOOL_LIBRARIES"] = harness.LIBRARY
    return env | {name: value for name, value in limit.env.items() if how or not name.startswith("BLAME_")}


def execute(limit, argv, how, folder):
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    limit.prepare(folder)
    command = [harness.program(argv[0]), *argv[1:]]
    if how == "launcher":
        command = [harness.BLAME, "run", "--", *command]
    return harness.execute(limit.wrap(command, folder), environment(limit, how, folder), folder, LIMIT_S)


def told_lacks(directory):
    """What `blame report` says first of a profile that lacks something."""
    return [line for line in harness.execute([harness.BLAME, "report", directory, "--view", "threads"], harness.clean_environment(),
                                             directory).stderr.splitlines() if line]


def read_profile(directory, run):
    """`whole` or `part`; who made no reports is asked for them."""
    lacks = told_lacks(directory)
    if not os.path.exists(os.path.join(directory, "run.json")):
        made = harness.execute([harness.BLAME, "finish", directory], harness.clean_environment(), directory)
        if made.status:
            raise Bad(f"blame finish: {made.stderr.strip()}")
    profile = Profile(directory)
    checks = [check for check in contract_checks.PROFILE_CHECKS if check is not contract_checks.check_resolved]
    unmeasured = profile.run["unmeasured"] if profile.run["unmeasured"]["seconds"] > 0 else None
    if unmeasured:
        checks.remove(contract_checks.check_thread_time)
    if not profile.threads and unmeasured:  # no room for one
        checks = contract_checks.TREE_CHECKS
    broken = sorted(set(contract_checks.violations(profile, checks)))
    if broken:
        raise Bad("; ".join(broken[:3]))
    if unmeasured and not unmeasured["causes"]:
        raise Bad(f"lacks {unmeasured}, no cause")
    return "part" if unmeasured or lacks or run.tool_lines() else "whole"


def judge(limit, how, alone, run, expected):
    if alone.status != expected and how == "launcher" and run.status:
        return "cannot run"  # nor may blame run, or another runtime
    if how == "launcher" and run.status == 2 and run.stderr.startswith("blame run: BLAME_OUT=") and not os.path.isdir(os.path.join(run.folder, limit.out)):
        return "unmeasured"  # and refused for it
    if (run.status, run.stdout) != (alone.status, alone.stdout):
        raise Bad(f"alone status {alone.status} {alone.stdout!r} {alone.stderr.strip()[-200:]!r}, with the tool {run.status} {run.stdout!r} {run.stderr.strip()[-300:]!r}")
    if alone.status != expected:
        return "cannot run"
    if run.other_lines() != alone.stderr.splitlines():
        raise Bad(f"lines of others: alone {alone.stderr!r}, with the tool {run.stderr!r}")
    directory = os.path.join(run.folder, limit.out)
    if any(name.endswith(".blame") for name in (os.listdir(directory) if os.path.isdir(directory) else [])):
        return read_profile(directory, run)
    if not run.tool_lines() and "2>&" not in limit.name and "stderr" not in limit.name:
        raise Bad("there is no profile, and no line says why")
    return "unmeasured"


def one(number, limit, title, scratch):
    how, argv = PROGRAMS[title]
    folder = os.path.join(scratch, str(number))
    result = {"limit": limit, "program": title, "lines": []}
    try:
        alone = execute(limit, argv, None, folder + "-alone")
        run = execute(limit, argv, how, folder)
        result["lines"] = run.tool_lines()
        result["verdict"] = judge(limit, how, alone, run, STATUS[argv[0]])
    except (Bad, NotAProfile, KeyError, AssertionError) as error:
        result["bad"] = " ".join(f"{type(error).__name__} {error}".split())
        result["known"] = next((why for (name, program), why in KNOWN.items() if fnmatch.fnmatch(limit.name, name) and program in title), None)
        result["verdict"] = "known" if result["known"] else "bad"
    if result["verdict"] != "bad":
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder + "-alone", ignore_errors=True)
    return result


VERDICTS = ("whole", "part", "unmeasured", "cannot run", "known", "bad")


def print_table(results):
    groups = {}
    for result in results:
        groups.setdefault(result["limit"].group, []).append(result)
    print(f"{'':22}{'cases':>8}{'as alone':>10}" + "".join(f"{verdict:>12}" for verdict in VERDICTS))
    for group, members in [*groups.items(), ("all", results)]:
        counts = Counter(result["verdict"] for result in members)
        same = len(members) - counts["bad"] - counts["known"]
        print(f"{group:22}{len(members):8}{same:10}" + "".join(f"{counts[verdict]:12}" for verdict in VERDICTS))


def cases(limits, names, programs):
    for limit in limits:
        if limit.root and not ROOT:
            continue
        for title in limit.programs or [title for title in PROGRAMS if title in programs]:
            if any(name in f"{limit.group} {limit.name} {title}" for name in names or [""]):
                yield limit, title


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", action="append", default=[], metavar="TEXT", help="only cases whose name has it")
    parser.add_argument("-j", type=int, default=2, help="at once")
    parser.add_argument("-v", action="store_true", help="a line for each case")
    args = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="blame-limits-")
    os.chmod(scratch, 0o755)
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        chosen = list(enumerate(cases(all_limits(), args.k, PROGRAMS)))
        for result in pool.map(lambda case: one(case[0], *case[1], scratch), chosen):
            results.append(result)
            if args.v or result["verdict"] == "bad":
                what = result.get("known") or result.get("bad") or " | ".join(result["lines"])
                print(f"{result['verdict']:11} {result['limit'].name}, {result['program']}: {what}", flush=True)
    print_table(results)
    bad = sum(result["verdict"] == "bad" for result in results)
    if bad:
        print(f"kept: {scratch}")
    else:
        shutil.rmtree(scratch)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
