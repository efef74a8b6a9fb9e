/* needs: tests/differential/code_gcc_O2.c */
/* Our walk against libunwind's own, frame by frame, from a signal handler at whatever point a timer hits. */
#define UNW_LOCAL_ONLY
#include "base/module_flags.h"
#include "tests/unit/unit.h"

#include <libunwind.h>

#include <sys/auxv.h>

#include "base/clock.h"
#include "base/os.h"
#include "tests/differential/code.h"
#include "unwind/unwind.h"

#if defined(__SANITIZE_THREAD__)
#define SIGNALS_COME_WHERE_THEY_HIT false /* ThreadSanitizer delivers them later, elsewhere */
#else
#define SIGNALS_COME_WHERE_THEY_HIT true
#endif

#define SAMPLE_SIGNAL (SIGRTMIN + 4)
#define MOST_FRAMES   4000
#define SHOWN         1
#define SAMPLES       300
#define PERIOD_NS     300000

extern const struct code_variant code_gcc_O2;

struct frame {
    uintptr_t ip, stack;
};

struct path {
    size_t count;
    enum unwind_result end; /* BROKEN or END */
    struct frame frames[MOST_FRAMES];
};

static struct unwinder unwinder;
static struct path ours, theirs;
static struct {
    uint64_t samples, frames, broken, in_vdso, reach_main;
    uint64_t addresses, stacks, lengths, ends; /* samples that differ in this, first */
    struct path shown[SHOWN][2];
} result;
static uintptr_t main_low, main_high; /* the range of run_workload(), which every path must reach */

static void walk_ours(struct path *path, const ucontext_t *context)
{
    struct unwind_frame frame;
    path->count = 0;
    unwinder_start_at(&unwinder, context);
    while (path->count < MOST_FRAMES && (path->end = unwinder_next(&unwinder, &frame)) == UNWIND_FRAME)
        path->frames[path->count++] = (struct frame){frame.ip, frame.stack};
}

/* Addresses as ours are: a return address is looked up inside its call, an interrupted one where it is.
 * libunwind says "signal frame" of the frame that was interrupted, behind which there is the trampoline. */
static void walk_theirs(struct path *path, ucontext_t *context)
{
    unw_cursor_t cursor;
    int step = 1;
    path->count = 0;
    unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME);
    while (step > 0 && path->count < MOST_FRAMES) {
        unw_word_t ip = 0, stack = 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        unw_get_reg(&cursor, UNW_REG_SP, &stack);
        if (ip == 0)
            break;
        bool interrupted = path->count == 0 || unw_is_signal_frame(&cursor) > 0;
        if (interrupted && path->count > 1) /* the leaf is as it was interrupted */
            path->frames[path->count - 1].ip++;
        path->frames[path->count++] = (struct frame){interrupted ? ip : ip - 1, stack};
        step = unw_step(&cursor);
    }
    path->end = step < 0 ? UNWIND_BROKEN : UNWIND_END;
}

static void show(void)
{
    uint64_t number = result.addresses + result.stacks + result.lengths + result.ends - 1;
    if (number < SHOWN) {
        result.shown[number][0] = ours;
        result.shown[number][1] = theirs;
    }
}

static void compare(void)
{
    size_t both = ours.count < theirs.count ? ours.count : theirs.count;
    for (size_t i = 0; i < both; i++) {
        bool address = ours.frames[i].ip != theirs.frames[i].ip;
        if (!address && ours.frames[i].stack == theirs.frames[i].stack)
            continue;
        result.addresses += address;
        result.stacks += !address;
        show();
        return;
    }
    result.lengths += ours.count != theirs.count;
    result.ends += ours.count == theirs.count && ours.end != theirs.end;
    if (ours.count != theirs.count || ours.end != theirs.end)
        show();
}

static void sample(int signal, siginfo_t *info, void *argument)
{
    (void)signal, (void)info;
    walk_ours(&ours, argument);
    walk_theirs(&theirs, argument);
    result.samples++;
    result.frames += ours.count;
    result.broken += ours.end == UNWIND_BROKEN;
    const struct loadmap_range *range = loadmap_find(ours.frames[0].ip);
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    result.in_vdso += module && (module->flags & PROFILE_MODULE_VDSO);
    for (size_t i = 0; i < ours.count; i++)
        if (ours.frames[i].ip >= main_low && ours.frames[i].ip < main_high) {
            result.reach_main++;
            break;
        }
    compare();
}

static void print_path(const char *name, const struct path *path)
{
    printf("  %s: %zu frames, %s\n", name, path->count, path->end == UNWIND_BROKEN ? "broken" : "whole");
    for (size_t i = 0; i < path->count && i < 30; i++) {
        const struct loadmap_range *range = loadmap_find(path->frames[i].ip);
        const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
        printf("    %2zu %016lx sp %016lx %s+%#lx\n", i, path->frames[i].ip, path->frames[i].stack,
               module ? module->path : "?", path->frames[i].ip - (range ? range->load_bias : 0));
    }
}

/* Runs work under the timer until enough samples were compared. */
__attribute__((noinline)) static void run_workload(void (*work)(void))
{
    timer_t timer;
    memset(&result, 0, sizeof(result));
    assert_true(os_timer_start(&timer, SAMPLE_SIGNAL, false, clock_now_ns() + PERIOD_NS, PERIOD_NS));
    uint64_t end_ns = clock_now_ns() + 5 * NS_PER_S;
    while (result.samples < SAMPLES && clock_now_ns() < end_ns)
        work();
    os_timer_stop(timer);
}

static void check_workload(const char *name, void (*work)(void))
{
    if (!SIGNALS_COME_WHERE_THEY_HIT)
        skip();
    run_workload(work);
    uint64_t different = result.addresses + result.stacks + result.lengths + result.ends;
    printf("%-12s %6lu samples, %5.1f frames a sample, %lu broken, different: %lu addresses, %lu stacks, %lu "
           "lengths, "
           "%lu ends\n",
           name, result.samples, (double)result.frames / (double)result.samples, result.broken, result.addresses,
           result.stacks, result.lengths, result.ends);
    for (uint64_t i = 0; i < different && i < SHOWN; i++) {
        print_path("ours", &result.shown[i][0]);
        print_path("libunwind's", &result.shown[i][1]);
    }
    assert_true(result.samples > SAMPLES / 10);
    assert_int_equal(different, 0);
    assert_int_equal(result.broken, 0);
    assert_int_equal(result.reach_main, result.samples);
}

char code_stack[2][CODE_STACK_BYTES];

static void in_handler(void)
{
}

void (*code_in_handler)(void) = in_handler;

/* Fibers end elsewhere; of a place behind a call that does not return libunwind's cache may say something else; and the C
 * library's arithmetic of many digits has no call frame information. test_walks.c has these. */
static bool is_left_out(const char *name)
{
    return strcmp(name, "fibers") == 0 || strcmp(name, "jumps") == 0 || strcmp(name, "formats") == 0;
}

UNIT_TEST(paths_are_those_of_libunwind)
{
    for (const struct code_case *c = code_gcc_O2.cases; c->run; c++) {
        if (is_left_out(c->name))
            continue;
        check_workload(c->name, c->run);
        if (getauxval(AT_SYSINFO_EHDR) && strcmp(c->name, "clocks") == 0)
            assert_true(result.in_vdso > 0);
    }
}

static int install(void **unused)
{
    (void)unused;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = sample;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    if (!loadmap_init() || !unwinder_init(&unwinder) || sigaction(SAMPLE_SIGNAL, &action, NULL) != 0)
        return -1;
    unwind_note_trampoline(SAMPLE_SIGNAL);
    unwinder_attach(&unwinder, (uintptr_t)__builtin_frame_address(0));
    unw_proc_info_t info;
    if (unw_get_proc_info_by_ip(unw_local_addr_space, (unw_word_t)run_workload, &info, NULL) != 0)
        return -1;
    main_low = info.start_ip;
    main_high = info.end_ip;
    return 0;
}

UNIT_MAIN(install, NULL)
