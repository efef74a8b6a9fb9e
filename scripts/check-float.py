#!/usr/bin/env python3
"""What the program calls in our libraries leaves its floating-point flags alone, and runs into none of its traps: no instruction that could
stands outside float_begin() and float_end() (base/float_state.h), or thread_enter_tool() and thread_leave_tool().

The machine code is walked as it may be executed, from each function that is exported or whose address is taken: so indirect calls
have their targets among the beginnings. ELSEWHERE names those that no callback reaches outside a guard.

    scripts/check-float.py LIBRARY ...   x86-64; of other machines it says that they are not read
    scripts/check-float.py --self-test"""

import os
import re
import subprocess
import sys
from collections import namedtuple

from check_common import ROOT, finish, output, self_test

ELSEWHERE = {
    "handle_sample": "the sampling signal's: the kernel gives a handler an environment of its own, and takes it back",
    "handle_fault": "another signal's",
    "run_option_trace": "variables_read() calls it, by the table of options, and ompt_start_tool() guards that",
}
ENTERS, LEAVES = "thread_enter_tool", "thread_leave_tool"  # the first answers whether it did
ARITHMETIC = re.compile(
    r"v?((add|sub|mul|div|sqrt|min|max|cmp\w*|u?comi|round|addsub|hadd|hsub|dp|rndscale|reduce|range|getexp|getmant|scalef|fixupimm)[sp][sdh]"
    r"|cvt\w+|fn?m(add|sub)\w+|fm(add|sub)\w+)$")
X87 = re.compile(r"f(?!xsave|xrstor|fence|nstcw|nstenv|nop)\w+$")
FOREIGN = re.compile(r"(strto(d|f|ld)|atof|a?(sin|cos|tan)h?|exp(2|10|m1)?|log(2|10|1p|b)?|pow|sqrt|cbrt|hypot|fmod|remainder|[tl]?gamma|erfc?"
                     r"|ceil|floor|trunc|l?l?r(int|ound)|nearbyint|ldexp|frexp|modf|scalbl?n|f(dim|ma|max|min))(f|l)?@plt$")
PREFIXES = {"lock", "rep", "repz", "repnz", "notrack", "bnd", "data16", "cs", "ds", "xacquire", "xrelease"}

Instruction = namedtuple("Instruction", "address function name operands target")  # target: (address, symbol) or None


class Code:
    """The functions of a library, by `objdump`."""

    def __init__(self, library):
        self.instructions, self.begins, self.taken = [], {}, set()
        function = None
        for line in output("objdump", "-d", "--no-show-raw-insn", library).splitlines():
            head = re.match(r"([0-9a-f]+) <(.+)>:$", line)
            if head:
                function = head[2]
                self.begins[int(head[1], 16)] = function
            elif function and re.match(r" +[0-9a-f]+:\t", line):
                self._add(function, line)
        self.at = {instruction.address: number for number, instruction in enumerate(self.instructions)}
        self.taken |= {int(value, 16) for value in re.findall(r"R_X86_64_RELATIVE\s+([0-9a-f]+)", output("readelf", "-rW", library))}
        self.taken |= {int(value, 16) for value in re.findall(r": ([0-9a-f]{16})\s+\d+ I?FUNC\s+(?:GLOBAL|WEAK)", output("readelf", "--dyn-syms", "-W", library))}

    def _add(self, function, line):
        address, text = line.strip().split(":", 1)
        words = text.split()
        while words and words[0].split(".")[0] in PREFIXES:
            words.pop(0)
        if not words:
            return
        found = re.search(r"\b([0-9a-f]+) <([^>]+)>", text)
        target = (int(found[1], 16), found[2]) if found else None
        self.instructions.append(Instruction(int(address, 16), function, words[0], " ".join(words[1:]), target))
        if target and not words[0].startswith(("call", "j")):
            self.taken.add(target[0])

    def roots(self):
        return sorted(address for address in self.taken & set(self.begins) if self.begins[address] not in ELSEWHERE)


State = namedtuple("State", "depth saved asked", defaults=(0, False, False))  # guards that are open; behind stmxcsr; behind ENTERS


def is_test_of_answer(code, number):
    before = code.instructions[number - 1]
    return before.name.startswith("test") and before.operands == "%al,%al"


def next_states(code, number, state):
    """(address, state, whether it is called) of what may follow."""
    instruction = code.instructions[number]
    name, target = instruction.name, instruction.target
    follows = code.instructions[number + 1].address if number + 1 < len(code.instructions) else None
    if name.startswith("ret") or name in ("ud2", "hlt"):
        return
    if name in ("stmxcsr", "vstmxcsr"):
        state = state._replace(saved=True)
    elif name in ("ldmxcsr", "vldmxcsr"):
        state = State(state.depth + 1) if state.saved else State(max(state.depth - 1, 0))
    elif name.startswith("call"):
        called = target[1].removesuffix("@plt") if target else None
        if called == ENTERS:
            state = State(state.depth + 1, False, True)
        elif called == LEAVES:
            state = State(max(state.depth - 1, 0))
        elif target and not state.depth:
            yield target[0], State(), True
    elif name.startswith("j"):
        if name == "jmp" and not target:  # a table of cases: anywhere in the function
            yield from ((other.address, state, False) for other in code.instructions if other.function == instruction.function)
        if state.asked and is_test_of_answer(code, number):
            inside, outside = State(state.depth), State(state.depth - 1)
            jumps, falls = (outside, inside) if name == "je" else (inside, outside)
        else:
            jumps = falls = state
        if target:
            yield target[0], jumps, target[0] in code.begins
        if name == "jmp":
            return
        state = falls
    yield follows, state, False


def check_library(library):
    """Complaints, and how many functions were walked."""
    code = Code(library)
    waiting = [(root, State(), code.begins[root]) for root in code.roots()]
    seen, complaints = set(), {}
    while waiting:
        address, state, way = waiting.pop()
        number = code.at.get(address)
        if number is None or (address, state) in seen:
            continue
        seen.add((address, state))
        instruction = code.instructions[number]
        if not state.depth and (ARITHMETIC.match(instruction.name) or X87.match(instruction.name)):
            complaints.setdefault(instruction.function, f"{instruction.function}: {instruction.name} {instruction.operands}, with the program's flags and traps: {way}")
        for follows, after, is_call in next_states(code, number, state):
            name = code.begins.get(follows, "") if is_call else ""
            if FOREIGN.match(name):
                complaints.setdefault(name, f"{name}, with the program's flags and traps: {way}")
            waiting.append((follows, after, f"{way} > {name}" if name and name != instruction.function else way))
    walked = {code.instructions[code.at[address]].function for address, _ in seen}
    if not walked:
        complaints[""] = f"{library}: no function that the program could call"
    return [os.path.basename(library) + ": " + text for _, text in sorted(complaints.items())], len(walked)


BODY = """
#include <stdint.h>
#include "base/float_state.h"
#define APART static __attribute__((noinline))
double sum; volatile int waits;
void thread_leave_tool(void) { __asm__ volatile(""); }
__attribute__((noinline)) _Bool thread_enter_tool(void) { __asm__ volatile(""); return waits != 3; }
APART void add(uint64_t ns) { sum += (double)ns; __asm__ volatile(""); }
%s
"""
GUARDED = "struct float_state floats = float_begin(); add(ns); float_end(floats);"
CASES = [
    ("a callback that adds up", "void callback(uint64_t ns) { sum += (double)ns; }", ["callback: cvtsi2sd"]),
    ("one that calls who does", "void callback(uint64_t ns) { if (waits) add(ns); __asm__ volatile(\"\"); }", ["add: ", "callback > add"]),
    ("guarded", "void callback(uint64_t ns) { %s }" % GUARDED, []),
    ("beside the guard", "void callback(uint64_t ns) { %s if (waits) add(ns); __asm__ volatile(\"\"); }" % GUARDED, ["add: "]),
    ("in the tool", "void callback(uint64_t ns) { if (!thread_enter_tool()) return; add(ns); thread_leave_tool(); }", []),
    ("where it was not entered", "void callback(uint64_t ns) { if (thread_enter_tool()) { waits = 1; thread_leave_tool(); } else add(ns); waits = 2; }", ["add: "]),
    ("behind it", "void callback(uint64_t ns) { if (!thread_enter_tool()) return; waits = 1; thread_leave_tool(); add(ns); waits = 2; }", ["add: "]),
    ("through a pointer", "APART void told(uint64_t ns) { add(ns); waits = 2; } void (*table[])(uint64_t) = {told};", ["told > add"]),
    ("in the handler", "APART void handle_sample(uint64_t ns) { add(ns); waits = 2; } void (*table[])(uint64_t) = {handle_sample};", []),
    ("moves alone", "double kept; void callback(uint64_t ns) { kept = sum; (void)ns; }", []),
    ("x87", "long double wide; void callback(uint64_t ns) { wide += (long double)ns; }", ["callback: f"]),
    ("libc's", "double strtod(const char *, char **); void callback(const char *text) { sum = strtod(text, 0); }", ["strtod@plt"]),
]


def check_case(root, body):
    source, library = os.path.join(root, "case.c"), os.path.join(root, "case.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(BODY % body)
    subprocess.run(["cc", "-w", "-O2", "-fPIC", "-shared", "-Wl,-z,lazy", "-I", ROOT, "-o", library, source], check=True)
    return check_library(library)[0]


def main(arguments):
    if os.uname().machine != "x86_64":
        print("float: only x86-64 code is read")
        return 0
    if arguments == ["--self-test"]:
        return self_test(CASES, check_case)
    complaints, walked = [], 0
    for library in arguments or sys.exit(__doc__):
        wrong, functions = check_library(library)
        complaints, walked = complaints + wrong, walked + functions
    return finish(complaints, f"float: no arithmetic outside guards in {walked} functions that the program's threads run")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
