/* Played call paths: a simulated thread's stack is a list of addresses. The plugin's unwinder and load map
 * (unwind/unwind.h, unwind/loadmap.h) are answered from it. */
#ifndef BLAME_TESTS_SIMULATOR_STACK_H
#define BLAME_TESTS_SIMULATOR_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "tests/simulator/machine.h"

#define STACK_PROGRAM        0x555500000000ull
#define STACK_RUNTIME        0x7f1000000000ull
#define STACK_SYSTEM         0x7f2000000000ull
#define STACK_FUNCTION_BYTES 4096u
#define STACK_LINE_BYTES     16u

/* Functions of the runtime. */
enum stack_entry {
    ENTRY_LAUNCH,
    ENTRY_FORK,
    ENTRY_INVOKE,
    ENTRY_BARRIER,
    ENTRY_LOCK,
    ENTRY_TASK,
    ENTRY_TASKWAIT,
    ENTRY_RUNTIME,
};

/* An address in a line of a function of the program's; where a call in that line returns to. */
uintptr_t stack_line(uint32_t function, uint32_t line);
const void *stack_codeptr(uint32_t function, uint32_t line);

/* The function of an address as keys have it. */
uint32_t stack_function(uint64_t vaddr);

void stack_begin(struct sim_thread *thread); /* the system's frame that starts a thread */
void stack_push_user(struct sim_thread *thread, uint32_t function, uint32_t context);
void stack_push_runtime(struct sim_thread *thread, enum stack_entry entry);
void stack_pop(struct sim_thread *thread);
struct frame *stack_top(struct sim_thread *thread);

/* Calls a function of the plugin's with the innermost frame's stack pointer, which is what tells phases whose
 * they are. (x86-64; elsewhere with the real one.) */
void stack_call(const struct sim_thread *thread, uintptr_t function, const char *name, int kind);

/* What a task's exit address is when the innermost frame calls its code. */
void *stack_exit(const struct sim_thread *thread);

#endif
