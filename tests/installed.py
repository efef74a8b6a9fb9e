#!/usr/bin/env python3
"""Installed programs without OpenMP, without the tool and under `blame run`. By hand:

    make installed                              all that are installed
    make installed INSTALLED_ARGS='-k python'   those whose name has that text

Each program must end and print as without the tool: status, standard output, and standard error but for lines of the tool. A profile
must hold the laws that tests/behaviour/contract_checks.py checks without luck. What has none is told."""

import argparse
import os
import shutil
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "behaviour")]

import contract_checks  # noqa: E402
import harness  # noqa: E402
from blame_profile import NotAProfile, Profile  # noqa: E402

SOUND = contract_checks.TREE_CHECKS + [contract_checks.check_run, contract_checks.check_threads, contract_checks.check_exact_laws]
LIMIT_S = 300
FIB = "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\n"

# name -> command of a shell, in a folder that has `text`, 8 MB of this repository's sources. Its first word must be installed.
PROGRAMS = {
    "bash": "bash -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo $i'",
    "dash": "dash -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit 5'",
    "pipeline": "sh -c 'seq 500000 | sort -rn | awk \"{s += \\$1} END {print s}\"'",
    "make": "make -s -f Makefile.test",
    "git": f"git -C {harness.ROOT} grep -c include",
    "python": f"python3 -c '{FIB}print(f(25))'",
    "python, processes": "python3 -c 'import multiprocessing as m; p = m.Pool(3); print(sum(p.map(sum, [range(10**6)] * 6)))'",
    "python, threads": "python3 -c 'import threading as t\nl = [t.Thread(target=sum, args=(range(10**7),)) for _ in range(3)]\n"
                       "[x.start() for x in l]; [x.join() for x in l]; print(len(l))'",
    "R": "Rscript -e 's <- 0; for (i in 1:2000000) s <- s + i %% 7; cat(s, \"\\n\")'",
    "perl": "perl -e 'my $s = 0; $s += $_ % 7 for 1..4000000; print \"$s\\n\"; exit 6'",
    "perl, forks": "perl -e 'for (1..3) { if (!fork) { my $s = 0; $s += $_ % 7 for 1..900000; exit $_ } } my $t = 0; $t += $? >> 8 while wait() > 0; print $t'",
    "ruby": "ruby -e 'def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end; puts f(25)'",
    "php": "php -r 'function f($n) { return $n < 2 ? $n : f($n - 1) + f($n - 2); } echo f(27);'",
    "lua": "lua5.4 -e 'local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end print(f(30))'",
    "java": "java Threads.java",
    "node": "node -e 'const z = require(\"zlib\"); z.gzip(Buffer.alloc(1 << 23, \"abc\"), (e, r) => console.log(r.length))'",
    "go": "sh -c 'go run spin.go'",
    "rustc": "rustc -O -o spin spin.rs",
    "rust": "sh -c './spin'",
    "gcc": "gcc -O2 -S -o - spin.c",
    "clang": "clang-19 -O2 -S -o - spin.c",
    "static": "sh -c './spin_static'",
    "musl": "sh -c 'musl-gcc -O1 -o spin_musl spin.c && ./spin_musl'",
    "gzip": "sh -c 'gzip -c text | sha1sum'",
    "bzip2": "sh -c 'bzip2 -c text | sha1sum'",
    "pigz": "sh -c 'pigz -c -p 3 text | sha1sum'",
    "zstd": "sh -c 'zstd -q -c -T3 -9 text | sha1sum'",
    "xz": "sh -c 'xz -1 -T2 -c text | sha1sum'",
    "sort": "sh -c 'sort --parallel=2 text | sha1sum'",
    "grep": "grep -c 'a.*[0-9]*f' text",
    "find": "find /usr/share/doc -name 'copyright' -newer /bin/sh",
    "tar": "sh -c 'tar cf - /usr/share/doc 2>/dev/null | wc -c'",
    "sqlite": "sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 500000) select sum(x * x % 7) from c;'",
    "ffmpeg, x264": "ffmpeg -v error -f lavfi -i testsrc=duration=3:size=320x180:rate=25 -c:v libx264 -threads 3 -f null -",
    "ffmpeg, x265": "ffmpeg -v error -f lavfi -i testsrc=duration=2:size=320x180:rate=25 -c:v libx265 -x265-params log-level=0 -f null -",
    "openssl": "openssl dgst -sha512 text",
    "strace": "strace -f -o trace python3 -c 'print(sum(range(10**6)))'",
    "su": "su -s /bin/sh nobody -c 'id -un'",
    "timeout": "timeout 0.2 sh -c 'while :; do :; done'",
    "killed": "sh -c 'while :; do :; done & sleep 0.1; kill -9 $!; wait $!; echo $?'",
    "stopped": "sh -c 'sha1sum text & kill -STOP $!; sleep 0.2; kill -CONT $!; wait $!; echo $?'",
    "closed streams": "sh -c 'exec sha1sum text <&- >&- 2>&-'",
}

FILES = {
    "Makefile.test": "all:\n\t@gcc -O2 -c -o a.o spin.c\n\t@gcc -O2 -c -o b.o spin.c\n\t@echo made\n",
    "spin.c": "#include <stdio.h>\nint main(void) { volatile double x = 0; for (long i = 0; i < 50000000; i++) x += i; puts(\"done\"); return 3; }\n",
    "spin.go": "package main\nimport \"fmt\"\nfunc f(n int) int { if n < 2 { return n }; return f(n-1) + f(n-2) }\nfunc main() { c := make(chan int); "
               "for i := 0; i < 3; i++ { go func() { c <- f(30) }() }; fmt.Println(<-c + <-c + <-c) }\n",
    "spin.rs": "fn f(n: u64) -> u64 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }\nfn main() { let t: Vec<_> = (0..3).map(|i| std::thread::spawn(move || f(33 + i % 2)))"
               ".collect(); println!(\"{}\", t.into_iter().map(|x| x.join().unwrap()).sum::<u64>()); }\n",
    "Threads.java": "class Threads { static int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n  public static void main(String[] a) throws Exception {\n"
                    "    Thread[] t = new Thread[3]; for (int i = 0; i < 3; i++) { t[i] = new Thread(() -> f(32)); t[i].start(); }\n"
                    "    for (Thread x : t) x.join(); System.out.println(f(25)); System.exit(5); } }\n",
}


def prepare(folder):
    sources = b""
    for where, _, names in sorted(os.walk(os.path.join(harness.ROOT, "command"))):
        for name in sorted(names):
            with open(os.path.join(where, name), "rb") as file:
                sources += file.read()
    with open(os.path.join(folder, "text"), "wb") as file:
        file.write((sources * (1 + (8 << 20) // len(sources)))[:8 << 20])
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    harness.execute(["gcc", "-O1", "-static", "-o", "spin_static", "spin.c"], harness.clean_environment(), folder)


def differences(alone, run, folder):
    if (run.status, run.stdout) != (alone.status, alone.stdout):
        yield f"status {alone.status}, with the tool {run.status}; output {alone.stdout[-80:]!r}, with the tool {run.stdout[-80:]!r}"
    if run.other_lines() != alone.stderr.splitlines():
        yield f"stderr {alone.stderr[-80:]!r}, with the tool {run.stderr[-80:]!r}"
    for name in sorted(os.listdir(folder)):
        try:
            yield from (f"{name}: {text}" for text in contract_checks.violations(Profile(os.path.join(folder, name)), SOUND))
        except (NotAProfile, KeyError) as error:
            yield f"{name}: {error}"


def compare(name, command, folder):
    out = os.path.join(folder, f"profiles of {name}")
    os.mkdir(out)
    argv, env = ["sh", "-c", "exec " + command], harness.clean_environment()
    alone = harness.execute(argv, env, folder, LIMIT_S)
    run = harness.execute([harness.BLAME, "run", "--summary", "0", "--", *argv], env | {"BLAME_OUT": out + "/"}, folder, LIMIT_S)
    wrong = list(differences(alone, run, out))
    names = [name.removeprefix("blame-") for name in sorted(os.listdir(out))]
    print(f"{'DIFFERS' if wrong else 'as alone':9} {name:18} status {alone.status:3}  {', '.join(names) or 'no profile'}", flush=True)
    for text in [*wrong, *(line for line in run.tool_lines() if "no profile" not in line)]:
        print(f"          {text}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-k", default="", metavar="TEXT")
    wanted = parser.parse_args().k
    with tempfile.TemporaryDirectory(prefix="blame-installed-") as folder:
        prepare(folder)
        found = {name: command for name, command in PROGRAMS.items() if wanted in name}
        there = {name: command for name, command in found.items() if shutil.which(command.split()[0])}
        good = sum([compare(name, command, folder) for name, command in there.items()])
        print(f"{good} of {len(there)} as alone; not installed: {', '.join(sorted(set(found) - set(there))) or 'none'}")
    return good < len(there)


if __name__ == "__main__":
    sys.exit(main())
