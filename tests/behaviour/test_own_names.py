"""The tool calls libc's own functions, whatever the program, its libraries and preloaded ones define by their names (docs/concurrency.md, "Names")."""

import os
import platform
import re
import subprocess
import unittest

from harness import LIBRARY, BlameTest, program

LAYER = os.path.join(os.path.dirname(LIBRARY), "libblame-mpi.so")
COME_ALONG = ("libunwind", "libZydis")
HANGS_S = 60
NOT_READ = "list of libraries"  # of the line that says so

# A library that ends the process when one of the tool's libraries calls a function in it. Others get the next one of that name.
REFUSES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>

static const struct { const char *name, *version; } names[] = {%(table)s};
static void *next[sizeof names / sizeof *names];

static long call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static void print(const char *text)
{
    size_t bytes = 0;
    while (text[bytes])
        bytes++;
    call(SYS_write, 2, (long)text, (long)bytes);
}

static int is_ours(const char *path)
{
    static const char *const ours[] = {"/libblame", "/libunwind", "/libZydis"};
    for (size_t i = 0; i < 3; i++)
        for (const char *at = path; *at; at++) {
            size_t same = 0;
            while (ours[i][same] && at[same] == ours[i][same])
                same++;
            if (!ours[i][same])
                return 1;
        }
    return 0;
}

__attribute__((used, visibility("hidden"))) void *choose(unsigned long number, char *caller)
{
    static int (*find)(void *, struct dl_find_object *); /* the program has one of that name */
    struct dl_find_object found;
    if (!find)
        find = (int (*)(void *, struct dl_find_object *))dlvsym(RTLD_NEXT, "_dl_find_object", "GLIBC_2.35");
    if (find(caller, &found) == 0 && is_ours(found.dlfo_link_map->l_name)) {
        print("REFUSED ");
        print(names[number].name);
        print("\n");
        call(SYS_exit_group, 97, 0, 0);
    }
    if (!next[number])
        next[number] = dlvsym(RTLD_NEXT, names[number].name, names[number].version);
    return next[number];
}

__asm__(".text\n"
        "pass_on:\n"
        "    push %%rdi; push %%rsi; push %%rdx; push %%rcx; push %%r8; push %%r9; push %%rax; push %%r10\n"
        "    sub $128, %%rsp\n"
        "    movups %%xmm0, (%%rsp); movups %%xmm1, 16(%%rsp); movups %%xmm2, 32(%%rsp); movups %%xmm3, 48(%%rsp)\n"
        "    movups %%xmm4, 64(%%rsp); movups %%xmm5, 80(%%rsp); movups %%xmm6, 96(%%rsp); movups %%xmm7, 112(%%rsp)\n"
        "    mov 192(%%rsp), %%rdi; mov 200(%%rsp), %%rsi\n"
        "    call choose\n"
        "    mov %%rax, %%r11\n"
        "    movups (%%rsp), %%xmm0; movups 16(%%rsp), %%xmm1; movups 32(%%rsp), %%xmm2; movups 48(%%rsp), %%xmm3\n"
        "    movups 64(%%rsp), %%xmm4; movups 80(%%rsp), %%xmm5; movups 96(%%rsp), %%xmm6; movups 112(%%rsp), %%xmm7\n"
        "    add $128, %%rsp\n"
        "    pop %%r10; pop %%rax; pop %%r9; pop %%r8; pop %%rcx; pop %%rdx; pop %%rsi; pop %%rdi\n"
        "    add $8, %%rsp\n"
        "    jmp *%%r11\n"
        %(stubs)s);
"""
STUB = '".globl {name}; .type {name}, @function; {name}: push ${number}; jmp pass_on\\n"\n'


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def libraries_of(path):
    return {name: place for name, place in re.findall(r"^\s*(\S+) => (\S+)", output("ldd", path), re.MULTILINE)}


def functions_of(path):
    """name@version of each function that a library exports"""
    return set(re.findall(r" [TWi] (\w+)@@?([\w.]+)", output("nm", "-D", path)))


def imports():
    """(name, version) of each function of libc's and libm's that the tool's libraries, libunwind and Zydis call, but for the heap's."""
    libraries = libraries_of(LIBRARY)
    callers = [LIBRARY, LAYER] + [place for name, place in libraries.items() if name.startswith(COME_ALONG)]
    functions = set().union(*(functions_of(place) for name, place in libraries.items() if name in ("libc.so.6", "libm.so.6")))
    called = {found for caller in callers for found in re.findall(r" [Uw] (\w+)@([\w.]+)", output("nm", "-D", caller))}
    return sorted((name, version) for name, version in called & functions
                  if name not in ("malloc", "calloc", "free", "malloc_usable_size"))


class OwnNames(BlameTest):
    def assert_measured(self, run, alone):
        self.assertEqual((run.status, run.stdout, run.stderr), (alone.status, alone.stdout, alone.stderr), f"without the tool: {alone}\nwith: {run}")
        self.assertGreater(self.load(run).run["samples"]["recorded"], 20, run)

    def test_a_programs_functions_of_libcs_names_are_its_own(self):
        for name, how in (("own_names", "library"), ("own_names", "launcher"), ("own_names_library", "library")):
            with self.subTest(name, how=how):
                alone = self.plain([program(name)])
                self.assertEqual(alone.stderr.count("\n"), name == "own_names_library", alone)
                self.assert_measured(self.attached([program(name)], how=how, timeout_s=HANGS_S), alone)

    def test_a_heap_that_cannot_be_asked_for_sizes(self):
        self.assert_measured(self.attached([program("own_heap")]), self.plain([program("own_heap")]))

    def test_a_preloaded_library_with_locks_and_a_clock_of_its_own(self):
        env = {"LD_PRELOAD": program("own_locks.so")}
        alone = self.plain([program("own_locks")], env)
        self.assertEqual((alone.status, alone.stdout, alone.stderr), (0, "20000 calls\n", ""), alone)
        self.assert_measured(self.attached([program("own_locks")], env, timeout_s=HANGS_S), alone)

    @unittest.skipUnless(platform.machine() == "x86_64", "the library has x86-64's code")
    def test_nothing_of_the_tools_goes_through_a_preloaded_library(self):
        names, library = imports(), os.path.join(self.folder, "refuses.so")
        self.assertGreater(len(names), 100)
        self.assertNotIn("dlvsym", [name for name, _ in names])
        source = REFUSES % {"table": ", ".join('{"%s", "%s"}' % pair for pair in names),
                            "stubs": "".join(STUB.format(name=name, number=number) for number, (name, _) in enumerate(names))}
        with open(os.path.join(self.folder, "refuses.c"), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run(["gcc", "-O1", "-w", "-fPIC", "-fno-builtin", "-fno-stack-protector", "-shared", "-o", library, file.name], check=True)
        for name, preloaded in (("own_names", [library]), ("forks", [library]), ("mpi_fake", [library, LAYER])):
            with self.subTest(name):
                argv, env = [program(name)], {"LD_PRELOAD": ":".join(preloaded), "BLAME_TRACE": "1"}
                alone = self.plain(argv, {"LD_PRELOAD": library})
                run = self.attached(argv, env, timeout_s=HANGS_S)
                self.assertNotIn("REFUSED", run.stderr, run)
                self.assertEqual(run.status, alone.status, f"without the tool: {alone}\nwith: {run}")
                for directory in run.directories():
                    self.load(run, directory)
                self.assertTrue(run.directories(), run)

    def test_where_the_loaders_list_cannot_be_read_a_line_says_so(self):
        run = self.attached([program("quick"), "5"], {"LD_PRELOAD": program("replaces.so")})
        self.assertEqual(sum(NOT_READ in line for line in run.tool_lines()), 1, run)
