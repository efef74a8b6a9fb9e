/* Functions whose frames look different: with and without a frame pointer, realigned, of variable size, with
 * arguments on the stack, left early, split in hot and cold parts; and what they call in the C library.
 * VARIANT names the way that this file is compiled. */
#include "tests/differential/code.h"

#include <alloca.h>
#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define ALIGNED __attribute__((aligned(64)))

/* A call that stays one, with all its arguments. */
#if defined(__clang__)
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

/* The memory is looked at. */
static inline void touch(void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

static volatile long sink;

static KEEP long recurse(int depth, long a)
{
    long local[4] = {a, a + 1, a + 2, depth};
    if (depth > 0)
        a = recurse(depth - 1, local[depth & 3]) + 1;
    return a + local[1];
}

static KEEP long odd(int n);

static KEEP long even(int n)
{
    return n == 0 ? 1 : odd(n - 1) + sink;
}

static KEEP long odd(int n)
{
    return n == 0 ? 0 : even(n - 1) + 1;
}

static void recursion(void)
{
    sink = recurse(40, 1) + even(30);
}

static KEEP void of_any_size(int bytes)
{
    char *memory = alloca((size_t)bytes);
    char more[bytes + 1];
    memset(memory, bytes, (size_t)bytes);
    touch(memory);
    memcpy(more, memory, (size_t)bytes);
    touch(more);
    sink = more[bytes / 2];
}

static void variable_frames(void)
{
    for (int bytes = 1; bytes < 3000; bytes += 333)
        of_any_size(bytes);
}

static KEEP long aligned_frame(long a)
{
    ALIGNED long values[16];
    for (int i = 0; i < 16; i++)
        values[i] = a * i;
    touch(values);
    return values[a & 15] + recurse(2, values[1]);
}

/* GCC keeps the address of the arguments in a register of its own, then in the frame. */
static KEEP long aligned_arguments(long a, long b, long c, long d, long e, long f, long g, long h, int bytes)
{
    ALIGNED long values[16];
    char *memory = alloca((size_t)bytes);
    memset(values, (int)h, sizeof(values));
    memset(memory, (int)g, (size_t)bytes);
    touch(values);
    touch(memory);
    return values[a & 15] + memory[bytes - 1] + b + c + d + e + f + g + h;
}

static KEEP long aligned_list(int count, ...)
{
    ALIGNED long values[8] = {0};
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        values[i & 7] += va_arg(list, long);
    va_end(list);
    touch(values);
    return values[3] + recurse(1, values[0]);
}

static void aligned_frames(void)
{
    for (long i = 1; i < 5; i++)
        sink = aligned_frame(i) + aligned_arguments(i, 2, 3, 4, 5, 6, 7, 8, (int)i * 100) +
               aligned_list(9, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, i);
}

struct large {
    long values[20];
};

static KEEP struct large by_value(struct large a, double x, long b, long c, long d, long e, long f, long g)
{
    a.values[b & 15] += (long)x + c + d + e + f + g;
    return a;
}

static void stack_arguments(void)
{
    struct large l = {{1, 2, 3}};
    for (int i = 0; i < 10; i++)
        l = by_value(l, i, i, 2, 3, 4, 5, 6);
    sink = l.values[3];
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void callbacks(void)
{
    int numbers[300];
    for (int i = 0; i < 300; i++)
        numbers[i] = (int)((unsigned)i * 2654435761u >> 8);
    qsort(numbers, 300, sizeof(int), compare);
    sink = *(int *)bsearch(&numbers[7], numbers, 300, sizeof(int), compare);
}

static void formats(void)
{
    char text[200];
    double x = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof(text), "%d %s %12.6f %lx %Lg %e", i, "text", i * 1.25, (long)i, 1.5L, 1e300 / (i + 1));
        sscanf(text, "%*d %*s %lf", &x);
        sink = atoi(text) + (long)strtod(text, NULL) + (long)x;
    }
}

static void short_calls(void)
{
    for (int i = 0; i < 100; i++)
        sink = abs(rand() >> 1) + toupper(97 + (i & 15)) + (long)labs(-i) + getppid();
}

static void strings(void)
{
    static char bytes[2][20000];
    for (size_t n = 1; n < sizeof(bytes[0]); n = n * 5 + 3) {
        memset(bytes[0], 'a', n);
        memcpy(bytes[1], bytes[0], n);
        memmove(bytes[1] + 1, bytes[1], n - 1);
        sink = memcmp(bytes[0], bytes[1], n) + (long)strlen(bytes[0]) + (strchr(bytes[0], 'b') != NULL) +
               (strstr(bytes[0], "aab") != NULL);
    }
}

static void allocations(void)
{
    void *blocks[40];
    for (size_t i = 0; i < 40; i++)
        blocks[i] = i % 3 ? malloc(i * 777) : calloc(i, 100);
    for (size_t i = 0; i < 40; i++)
        blocks[i] = realloc(blocks[i], i * 500 + 1);
    for (size_t i = 0; i < 40; i++)
        free(blocks[i]);
}

static void functions_of_numbers(void)
{
    double sum = 0;
    for (int i = 1; i < 30; i++)
        sum += sin(i * 1e5) + pow(i, 1.7) + exp(-i) + log(i) + fmod(i * 7.7, 3) + (double)sinf((float)i);
    sink = (long)sum;
}

static void clocks(void)
{
    struct timespec ts;
    for (int i = 0; i < 50; i++) {
        clock_gettime(CLOCK_MONOTONIC, &ts);
        sink += ts.tv_nsec + time(NULL) + (long)clock();
    }
}

/* Registers are saved only on the long way: the frame begins in the middle. */
static KEEP long shrink_wrapped(long *values, int count)
{
    if (!values)
        return 0;
    if (count < 3)
        return values[0];
    long a = values[0], b = values[1], c = values[2];
    for (int i = 0; i < count; i++) {
        a += recurse(1, b) ^ values[i];
        b += a * c + recurse(1, c);
        c ^= b + values[i];
    }
    return a + b + c;
}

static KEEP __attribute__((cold)) void complain(const char *what, long value)
{
    char text[100];
    snprintf(text, sizeof(text), "%s %ld", what, value);
    sink += text[0];
}

static KEEP long hot_and_cold(long a, long b)
{
    long values[10] = {a, b};
    for (int i = 2; i < 10; i++) {
        values[i] = values[i - 1] * a + values[i - 2];
        if (__builtin_expect(values[i] % 5 == 0, 0)) {
            complain("five", values[i]);
            complain("of", recurse(1, i));
            values[i]++;
        }
    }
    return values[9];
}

static void early_and_late(void)
{
    long values[8] = {5, 1, 4, 2, 3, 9, 8, 7};
    for (int i = 0; i < 10; i++)
        sink = shrink_wrapped(i % 3 ? values : NULL, i % 8) + hot_and_cold(i, 5);
}

static KEEP long tail(long n)
{
    return n <= 0 ? recurse(1, n) : tail(n - 1);
}

static jmp_buf jump;

static KEEP __attribute__((noreturn)) void jump_back(int depth)
{
    if (depth > 0)
        jump_back(depth - 1);
    longjmp(jump, 1);
}

static void jumps(void)
{
    for (volatile int i = 0; i < 5; i++)
        if (setjmp(jump) == 0)
            jump_back(i);
    sink = tail(20);
}

#ifndef SPLIT_STACK

static ucontext_t fiber, back;

static void run_fiber(void)
{
    callbacks();
    swapcontext(&fiber, &back);
    aligned_frames();
}

static void fibers(void)
{
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = code_stack[0];
    fiber.uc_stack.ss_size = CODE_STACK_BYTES;
    fiber.uc_link = &back;
    makecontext(&fiber, run_fiber, 0);
    swapcontext(&back, &fiber);
    swapcontext(&back, &fiber);
}

#endif

static void handle(int signal)
{
    (void)signal;
    code_in_handler();
    stack_arguments();
    aligned_frames();
    sink = recurse(10, 1);
}

static void handle_signals(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
}

static void own_handler(void)
{
    handle_signals(0);
}

#ifndef SPLIT_STACK
static void handler_on_another_stack(void)
{
    stack_t stack = {.ss_sp = code_stack[1], .ss_size = CODE_STACK_BYTES}, none = {.ss_flags = SS_DISABLE};
    sigaltstack(&stack, NULL);
    handle_signals(SA_ONSTACK);
    sigaltstack(&none, NULL);
}
#endif

static void loader(void)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    sink += dlsym(library, "cosf") != NULL;
    sink += dlsym(library, "no_such_function") != NULL;
    dlclose(library);
}

static void system_calls(void)
{
    for (int i = 0; i < 20; i++)
        sink = write(-1, "", 1) + getpid() + (long)getenv("PATH");
}

static const struct code_case cases[] = {
    {"recursion", recursion},
    {"variable frames", variable_frames},
    {"aligned frames", aligned_frames},
    {"stack arguments", stack_arguments},
    {"callbacks", callbacks},
    {"formats", formats},
    {"short calls", short_calls},
    {"strings", strings},
    {"allocations", allocations},
    {"numbers", functions_of_numbers},
    {"clocks", clocks},
    {"early and late", early_and_late},
    {"jumps", jumps},
#ifndef SPLIT_STACK
    {"fibers", fibers},
    {"handler on another stack", handler_on_another_stack},
#endif
    {"own handler", own_handler},
    {"loader", loader},
    {"system calls", system_calls},
    {NULL, NULL},
};

#ifdef SPLIT_STACK
const struct code_variant CODE_VARIANT = {CODE_NAME, cases, true};
#else
const struct code_variant CODE_VARIANT = {CODE_NAME, cases, false};
#endif
