#include "tests/simulator/stack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/module_flags.h"
#include "include/blame.h"
#include "tests/simulator/played.h"
#include "unwind/modules.h"
#include "unwind/unwind.h"

#define FRAME_BYTES  64u
#define STACKS       0x7e0000000000ull
#define STACK_BYTES  0x1000000ull
#define MODULE_BYTES 0x10000000ull

static struct loadmap_module modules[] = {
    {.load_bias = STACK_PROGRAM, .path = "/played/program", .flags = PROFILE_MODULE_EXECUTABLE},
    {.load_bias = STACK_RUNTIME, .path = "/played/libomp.so", .flags = PROFILE_MODULE_RUNTIME},
    {.load_bias = STACK_SYSTEM, .path = "/played/libc.so", .flags = PROFILE_MODULE_SYSTEM},
};
#define MODULES (sizeof(modules) / sizeof(*modules))

static const struct loadmap_range ranges[MODULES] = {
    {STACK_PROGRAM, STACK_PROGRAM + MODULE_BYTES, STACK_PROGRAM, 1, 1, {0}},
    {STACK_RUNTIME, STACK_RUNTIME + MODULE_BYTES, STACK_RUNTIME, 2, 1, {0}},
    {STACK_SYSTEM, STACK_SYSTEM + MODULE_BYTES, STACK_SYSTEM, 3, 1, {0}},
};

uintptr_t stack_line(uint32_t function, uint32_t line)
{
    return STACK_PROGRAM + (uintptr_t)function * STACK_FUNCTION_BYTES + line * STACK_LINE_BYTES;
}

const void *stack_codeptr(uint32_t function, uint32_t line)
{
    return (const void *)(stack_line(function, line) + 1);
}

uint32_t stack_function(uint64_t vaddr)
{
    return (uint32_t)(vaddr / STACK_FUNCTION_BYTES);
}

static void push(struct sim_thread *thread, uintptr_t ip, uint32_t context)
{
    if (thread->frame_count == thread->frame_room) {
        thread->frame_room = thread->frame_room ? 2 * thread->frame_room : 16;
        thread->frames = realloc(thread->frames, thread->frame_room * sizeof(*thread->frames));
    }
    thread->frames[thread->frame_count++] = (struct frame){ip, context};
}

void stack_begin(struct sim_thread *thread)
{
    push(thread, STACK_SYSTEM, 0);
}

void stack_push_user(struct sim_thread *thread, uint32_t function, uint32_t context)
{
    push(thread, stack_line(function, 0), context);
}

void stack_push_runtime(struct sim_thread *thread, enum stack_entry entry)
{
    push(thread, STACK_RUNTIME + entry * STACK_FUNCTION_BYTES, stack_top(thread)->context);
}

void stack_pop(struct sim_thread *thread)
{
    thread->frame_count--;
}

struct frame *stack_top(struct sim_thread *thread)
{
    return &thread->frames[thread->frame_count - 1];
}

static uintptr_t stack_high(const struct sim_thread *thread)
{
    return STACKS + (thread->number + 1) * STACK_BYTES;
}

static uintptr_t cfa_of(const struct sim_thread *thread, uint32_t frame)
{
    return stack_high(thread) - (uintptr_t)frame * FRAME_BYTES;
}

void *stack_exit(const struct sim_thread *thread)
{
    return (void *)(cfa_of(thread, thread->frame_count - 1) - 16);
}

void stack_call(const struct sim_thread *thread, uintptr_t function, const char *name, int kind)
{
    size_t bytes = strlen(name);
    int64_t number = kind == BLAME_ITERATION ? BLAME_NEXT : 0;
#if defined(__x86_64__)
    mmap((void *)(stack_high(thread) - STACK_BYTES), STACK_BYTES, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0); /* unless it is there already */
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %[stack], %%rsp\n\tcall *%[function]\n\tmov %%rbx, %%rsp"
                     : "+D"(name), "+S"(bytes), "+d"(kind), "+c"(number)
                     : [stack] "r"(cfa_of(thread, thread->frame_count)), [function] "r"(function)
                     : "rax", "rbx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                       "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#else
    (void)thread;
    ((void (*)(const char *, size_t, int, int64_t))function)(name, bytes, kind, number);
#endif
}

/* unwind/unwind.h */

void unwind_note_trampoline(int signal)
{
    (void)signal;
}

bool unwinder_init(struct unwinder *unwinder)
{
    memset(unwinder, 0, sizeof(*unwinder));
    return true;
}

void unwinder_attach(struct unwinder *unwinder, uintptr_t here)
{
    (void)here;
    unwinder->stack_high = stack_high(machine.current);
}

/* cursor_frame counts the frames that are left. */
void unwinder_start_here(struct unwinder *unwinder)
{
    unwinder->cursor_frame = machine.current->frame_count;
    unwinder->stack_begin = cfa_of(machine.current, machine.current->frame_count);
}

void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context)
{
    (void)context;
    unwinder_start_here(unwinder);
}

/* Its function is the library's, and not among the frames. */
void unwinder_start_above(struct unwinder *unwinder, const uintptr_t *frame)
{
    (void)frame;
    unwinder_start_here(unwinder);
}

bool unwind_is_spinning(const ucontext_t *context)
{
    (void)context;
    return machine.current->spins;
}

enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame)
{
    if (!unwinder->cursor_frame)
        return UNWIND_END;
    uint32_t number = (uint32_t)--unwinder->cursor_frame;
    memset(frame, 0, sizeof(*frame));
    frame->ip = machine.current->frames[number].ip;
    frame->cfa = number ? cfa_of(machine.current, number) : 0;
    frame->stack = cfa_of(machine.current, number + 1);
    frame->range = loadmap_find(frame->ip);
    frame->module = frame->range ? loadmap_module(frame->range->module_id) : NULL;
    frame->recipe.cfa = RECIPE_SLOW;
    unwinder->frames++;
    return UNWIND_FRAME;
}

/* unwind/loadmap.h */

bool loadmap_init(void)
{
    return true;
}

bool loadmap_refresh(void)
{
    return false;
}

bool loadmap_refresh_at_end(void)
{
    return false;
}

void loadmap_forked(void)
{
}

/* A program of constructs, and not of modules. */
bool __wrap_dependences_are_waited_for(void);

bool __wrap_dependences_are_waited_for(void)
{
    return true;
}

uint32_t loadmap_generations = 1;

const struct loadmap_range *loadmap_find(uintptr_t address)
{
    if (address == (uintptr_t)played_lookup)
        return &ranges[1];
    for (size_t i = 0; i < MODULES; i++)
        if (address - ranges[i].start < MODULE_BYTES)
            return &ranges[i];
    return NULL;
}

const struct loadmap_range *loadmap_learn(uintptr_t address)
{
    return loadmap_find(address);
}

bool loadmap_is_callers(const struct loadmap_range *range)
{
    return range != NULL;
}

void loadmap_flag(uintptr_t address, uint32_t flags)
{
    (void)address, (void)flags;
}

const struct loadmap_module *loadmap_module(uint32_t module_id)
{
    return module_id - 1 < MODULES ? &modules[module_id - 1] : NULL;
}

uint32_t loadmap_module_count(void)
{
    return MODULES;
}

/* No scripts are played. */
uint32_t module_function(const struct module_function *function)
{
    (void)function;
    return 0;
}

/* No launcher. */
void modules_launched(struct launched *launched)
{
    (void)launched;
}
