/* The threads of a scenario: one after the other, exchanged by chance at steps. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/memory/model.h"
#include "tests/unit/fake_clock.h"

#define STACK_BYTES (256u << 10)
#define MAX_STEPS   400000u
#define STALENESS   2000u

unsigned model_thread;
bool model_serial = true, model_has_memory = true;
const char *model_failure;
uint64_t model_steps, model_run;

extern char __start_ghosts[], __stop_ghosts[];

static struct {
    jmp_buf place;
    void (*body)(void);
    bool begun, runs;
} threads[MODEL_THREADS];

static char *stacks;
static jmp_buf out;  /* of the run */
static jmp_buf back; /* of a body that is alone */
static uint64_t chance_state;
static struct model_chances chances;
static uint64_t staleness;
static unsigned running;

uint64_t model_random(uint64_t below)
{
    chance_state = chance_state * 6364136223846793005ull + 1442695040888963407ull;
    uint64_t mixed = (chance_state ^ chance_state >> 29) * 0xbf58476d1ce4e5b9ull;
    return (uint64_t)((unsigned __int128)(mixed ^ mixed >> 32) * below >> 64);
}

uint64_t model_now(void)
{
    return model_steps;
}

uint64_t model_staleness(void)
{
    return staleness;
}

bool threads_is_stack(uintptr_t address)
{
    return address - (uintptr_t)stacks < MODEL_THREADS * (uintptr_t)STACK_BYTES;
}

void threads_leave(enum run_result result)
{
    _longjmp(out, (int)result + 1);
}

void model_fail(const char *format, ...)
{
    static char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    model_failure = text;
    threads_leave(RUN_FAILED);
}

static void go_on_with(unsigned number);

static unsigned any_that_runs(void)
{
    unsigned next = (unsigned)model_random(MODEL_THREADS);
    while (!threads[next].runs)
        next = (next + 1) % MODEL_THREADS;
    return next;
}

/* What a thread's context begins with. */
static void enter(void)
{
    unsigned self = model_thread;
    threads[self].body();
    if (model_serial)
        _longjmp(back, 1);
    memory_settle();
    threads[self].runs = false;
    if (--running == 0)
        threads_leave(RUN_PASSED);
    go_on_with(any_that_runs());
}

static void go_on_with(unsigned number)
{
    static ucontext_t fresh; /* getcontext() and setcontext() call the kernel: once a thread and run only */
    model_thread = number;
    if (threads[number].begun)
        _longjmp(threads[number].place, 1);
    threads[number].begun = true;
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = stacks + number * (size_t)STACK_BYTES;
    fresh.uc_stack.ss_size = STACK_BYTES;
    fresh.uc_link = NULL;
    makecontext(&fresh, enter, 0);
    setcontext(&fresh);
    abort();
}

static void exchange(void)
{
    static unsigned next; /* lives over _setjmp() */
    next = any_that_runs();
    if (next != model_thread && _setjmp(threads[model_thread].place) == 0)
        go_on_with(next);
}

void threads_step(void)
{
    if (model_serial)
        return;
    fake_now_ns = ++model_steps;
    if (model_steps > MAX_STEPS)
        model_fail("does not end");
    if (running > 1 && model_random(chances.switches) == 0)
        exchange();
}

void model_pause(void)
{
    memory_settle();
    fake_now_ns = model_steps += 10;
    if (model_steps > MAX_STEPS)
        model_fail("does not end");
    if (!model_serial && running > 1)
        exchange();
}

static void run_alone(void (*body)(void))
{
    model_serial = true;
    model_thread = 0;
    if (!body)
        return;
    threads[0].body = body;
    threads[0].begun = false;
    if (_setjmp(back) == 0)
        go_on_with(0);
}

static void run_threads(const struct scenario *scenario)
{
    running = 0;
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        threads[i].body = scenario->thread[i];
        threads[i].begun = false;
        threads[i].runs = threads[i].body != NULL;
        running += threads[i].runs;
    }
    model_serial = false;
    go_on_with(any_that_runs());
}

/* Of each run some others: what one kind of run seldom does another does often. */
static void choose_chances(void)
{
    static const unsigned switches[] = {2, 4, 12, 40, 150}, stale[] = {50, 200, 500, 900}, between[] = {0, 0, 100, 400};
    chances.switches = switches[model_random(5)];
    chances.stale = stale[model_random(4)];
    chances.between = between[model_random(4)];
    chances.sticky = model_random(4) == 0;
}

enum run_result run_scenario(const struct scenario *scenario, uint64_t seed)
{
    static volatile uint32_t begin_undos;
    if (!stacks)
        stacks =
            mmap(NULL, MODEL_THREADS * (size_t)STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    chance_state = seed * 0x9e3779b97f4a7c15ull + 1;
    model_random(2);
    memset(__start_ghosts, 0, (size_t)(__stop_ghosts - __start_ghosts));
    pool_reset();
    model_run++;
    model_has_memory = true;
    choose_chances();
    staleness = scenario->staleness ? scenario->staleness : STALENESS;
    memory_begin_run(staleness, &chances);
    fake_now_ns = model_steps = 1;
    begin_undos = 0;
    int left = _setjmp(out);
    if (left == 0) {
        run_alone(scenario->begin);
        begin_undos = undo_count();
        model_steps = 2 * staleness + 1000;
        run_threads(scenario);
    }
    if (left == RUN_PASSED + 1 && !model_serial) {
        run_alone(scenario->end);
    }
    model_serial = true;
    undo_all(begin_undos);
    memory_end_run();
    undo_all(0);
    return (enum run_result)(left - 1);
}
