/* needs: tests/differential/code_gcc_O0.c tests/differential/code_gcc_O2.c tests/differential/code_gcc_O2_frames.c
 * tests/differential/code_gcc_O3_avx2.c tests/differential/code_gcc_Os.c tests/differential/code_clang_O0.c
 * tests/differential/code_clang_O2.c tests/differential/code_clang_O2_frames.c
 * tests/differential/code_clang_O3_avx2.c tests/differential/code_clang_Os.c */
/* programs: $(DIFFERENTIAL_LIBRARIES) */
/* libs: -rdynamic */
/* Walks by recipes against walks by libunwind alone: a program is interrupted at random, and from there on
 * after every instruction for a while, and each time both walks must yield the same frames.
 *
 *     build/unit/test_walks [interrupts [seed [variant]]]        50,000, of all variants, unless given; millions take minutes */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>
#include <ucontext.h>

#include "base/clock.h"
#include "tests/differential/code.h"
#include "unwind/recipe.h"
#include "unwind/remote.h"
#include "unwind/unwind.h"

#define TIMER_SIGNAL (SIGRTMIN + 4)
#define TRAP_FLAG    0x100
#define MOST_FRAMES  300u
#define OUTERMOST    3u
#define MOST_STEPS   120u   /* from one interrupt on */
#define MOST_NS      80000u /* to the next one */

extern const struct code_variant code_gcc_O0, code_gcc_O2, code_gcc_O2_frames, code_gcc_O3_avx2, code_gcc_Os,
    code_clang_O0, code_clang_O2, code_clang_O2_frames, code_clang_O3_avx2, code_clang_Os;

/* Libraries with one each, made by tests/differential/differential.mk if there is a compiler. */
static const char *const libraries[] = {"gcc_lto_O2",  "gcc_lto_O3",  "gcc_split_O0", "gcc_split_O2", "clang_lto_O2",
                                        "gfortran_O0", "gfortran_O2", "gfortran_O3",  "flang_O0",     "flang_O2"};

#define LINKED    10u
#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

/* Behind those that are linked come those of libraries. */
static const struct code_variant *variants[LINKED + LIBRARIES] = {
    &code_gcc_O0,   &code_gcc_O2,   &code_gcc_O2_frames,   &code_gcc_O3_avx2,   &code_gcc_Os,
    &code_clang_O0, &code_clang_O2, &code_clang_O2_frames, &code_clang_O3_avx2, &code_clang_Os};
static size_t variant_count = LINKED;

char code_stack[2][CODE_STACK_BYTES];
void (*code_in_handler)(void);

struct walk {
    uint32_t count;
    enum unwind_result end;
    struct unwind_frame frames[MOST_FRAMES];
};

static struct unwinder by_recipes, by_libunwind, by_code;
static struct walk ours, theirs, decoded;
static uint64_t wanted_interrupts = 50000;
static const char *wanted_variant; /* NULL: all */

static struct {
    uint64_t interrupts, frames, broken, deepest;
    uint64_t different, by_cache, by_guess;        /* interrupts */
    uint64_t code_right, code_unknown, code_wrong; /* frames */
    uint64_t cfa[RECIPE_SLOW + 1];                 /* innermost frames by recipe */
    uint64_t rbp[RECIPE_RBP_AT_RBP + 1];
    const char *where; /* variant and case */
    const char *variant;
    char first[4000];
} result;

static struct {
    uint64_t random_state; /* not 0 */
    uint64_t until;        /* interrupts */
    uint32_t steps;        /* still to be taken */
    bool split_stack;      /* no single steps; and the code alone does not say where a stack goes on */
    timer_t timer;
} driver = {.random_state = 88172645463325252ull};

static void take(struct walk *walk, struct unwinder *unwinder, const ucontext_t *context)
{
    walk->count = 0;
    unwinder_start_at(unwinder, context);
    while (walk->count < MOST_FRAMES &&
           (walk->end = unwinder_next(unwinder, &walk->frames[walk->count])) == UNWIND_FRAME)
        walk->count++;
}

static bool same_frame(const struct unwind_frame *a, const struct unwind_frame *b)
{
    return a->ip == b->ip && a->stack == b->stack && a->cfa == b->cfa && a->range == b->range && a->module == b->module;
}

/* What the code alone says of the frames that call frame information has recipes for, as far as it leads. What
 * starts programs and threads calls what does not return: nothing can be said of the outermost. */
static void compare_code(const ucontext_t *context)
{
    take(&decoded, &by_code, context);
    for (size_t i = 0; i < decoded.count && i + OUTERMOST < ours.count; i++) {
        const struct unwind_frame *a = &ours.frames[i], *b = &decoded.frames[i];
        if (a->recipe.cfa > RECIPE_CFA_RBP)
            return;
        bool known = b->recipe.cfa <= RECIPE_CFA_RBP, right = known && a->cfa == b->cfa;
        result.code_unknown += !known;
        result.code_wrong += known && !right;
        result.code_right += right;
        if (!right)
            return;
    }
}

static void describe(size_t at)
{
    int used = snprintf(result.first, sizeof(result.first), "%s, %s: frame %zu of %u (%u)\n", result.variant,
                        result.where, at, ours.count, theirs.count);
    for (size_t i = 0;
         i < ours.count + 1 && i < theirs.count + 1 && i < 20 && (size_t)used < sizeof(result.first) - 300; i++) {
        const struct unwind_frame *a = &ours.frames[i], *b = &theirs.frames[i];
        used +=
            snprintf(result.first + used, sizeof(result.first) - (size_t)used,
                     "  %2zu ip %lx %lx stack %lx %lx cfa %lx %lx %s+%#lx\n", i, a->ip, b->ip, a->stack, b->stack,
                     a->cfa, b->cfa, a->module ? a->module->path : "?", a->ip - (a->range ? a->range->load_bias : 0));
    }
}

static bool same_walk(size_t *i)
{
    for (*i = 0; *i < ours.count && *i < theirs.count; ++*i)
        if (!same_frame(&ours.frames[*i], &theirs.frames[*i]))
            return false;
    return ours.count == theirs.count && ours.end == theirs.end;
}

/* Where call frame information says nothing libunwind guesses, and is no reference. */
static bool has_no_entry(const struct unwind_frame *frame)
{
    if (!frame->range)
        return false;
    struct recipe recipe = recipe_read(frame->module, frame->ip - frame->range->load_bias);
    return recipe.cfa == RECIPE_SLOW && (recipe.cfa_offset == RECIPE_NO_TABLE || recipe.cfa_offset == RECIPE_NO_ENTRY);
}

/* libunwind keeps rows by address alone, whether it was interrupted or is a return address. That makes a
 * difference where the address is a function's first, behind a call that does not return or in a fiber that
 * has not begun. With its cache empty, in our slow steps too, the walks must be the same; our recipes stay as
 * they are. */
static void compare(const ucontext_t *context)
{
    size_t i;
    if (same_walk(&i))
        return;
    remote_flush(&by_recipes);
    remote_flush(&by_libunwind);
    take(&ours, &by_recipes, context);
    take(&theirs, &by_libunwind, context);
    if (same_walk(&i))
        result.by_cache++;
    else if (i < ours.count && has_no_entry(&ours.frames[i]) && ours.end == UNWIND_END)
        result.by_guess++;
    else if (result.different++ == 0)
        describe(i);
}

static void count(void)
{
    const struct unwind_frame *leaf = &ours.frames[0];
    result.interrupts++;
    result.frames += ours.count;
    result.broken += ours.end == UNWIND_BROKEN;
    if (ours.count > result.deepest)
        result.deepest = ours.count;
    if (!ours.count || !leaf->range)
        return;
    struct recipe recipe = recipe_read(leaf->module, leaf->ip - leaf->range->load_bias);
    result.cfa[recipe.cfa]++;
    if (recipe.cfa < RECIPE_OUTERMOST)
        result.rbp[recipe.rbp]++;
}

/* Single steps for a while, then a timer that begins the next ones; one interrupt in four is alone. */
static void plan(ucontext_t *context, bool by_timer)
{
    bool over = result.interrupts >= driver.until;
    if (by_timer && !over && !driver.split_stack)
        driver.steps = unit_random(&driver.random_state) % 4 ? unit_random(&driver.random_state) % MOST_STEPS : 0;
    if (driver.steps > 0 && !over) {
        driver.steps--;
        context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
        return;
    }
    driver.steps = 0;
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    struct itimerspec next = {.it_value = {.tv_nsec = 1 + (long)(unit_random(&driver.random_state) % MOST_NS)}};
    if (!over)
        timer_settime(driver.timer, 0, &next, NULL);
}

static void interrupt(int signal, siginfo_t *info, void *argument)
{
    int saved_errno = errno;
    (void)info;
    take(&ours, &by_recipes, argument);
    take(&theirs, &by_libunwind, argument);
    count();
    compare(argument);
    if (!driver.split_stack)
        compare_code(argument);
    plan(argument, signal != SIGTRAP);
    errno = saved_errno;
}

static void trap(void)
{
    raise(SIGTRAP);
}

static bool is_wanted(const struct code_variant *variant)
{
    return !wanted_variant || strcmp(variant->name, wanted_variant) == 0;
}

static void run_variant(const struct code_variant *variant, uint64_t interrupts_each)
{
    result.variant = variant->name;
    for (const struct code_case *c = variant->cases; c->run; c++) {
        result.where = c->name;
        driver.until = result.interrupts + interrupts_each;
        driver.split_stack = variant->split_stack;
        driver.steps = driver.split_stack ? 0 : MOST_STEPS; /* the first ones from the begin on */
        raise(SIGTRAP);
        while (result.interrupts < driver.until)
            c->run();
    }
}

static void prepare(struct unwinder *unwinder, bool libunwind_only)
{
    if (!unwinder_init(unwinder))
        abort();
    unwinder_attach(unwinder, (uintptr_t)__builtin_frame_address(0));
    unwinder->libunwind_only = libunwind_only;
}

/* On the calling thread; in threads too: no assertion here. */
static void *run_all(void *unused)
{
    size_t cases = 0;
    memset(&result, 0, sizeof(result));
    prepare(&by_recipes, false);
    prepare(&by_libunwind, true);
    prepare(&by_code, false);
    by_code.code_only = true;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL};
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &driver.timer) != 0)
        abort();
    for (size_t i = 0; i < variant_count; i++)
        for (const struct code_case *c = variants[i]->cases; c->run; c++)
            cases += is_wanted(variants[i]); /* one is, as install() has seen */
    for (size_t i = 0; i < variant_count; i++)
        if (is_wanted(variants[i]))
            run_variant(variants[i], wanted_interrupts / 2 / cases + 1);
    timer_delete(driver.timer);
    return unused;
}

static void check(const char *name)
{
    uint64_t slow = 0;
    printf("%s: %lu interrupts, %lu frames (deepest %lu), %lu paths broken, %lu different, %lu by "
           "libunwind's cache, %lu by its guesses\n",
           name, result.interrupts, result.frames, result.deepest, result.broken, result.different, result.by_cache,
           result.by_guess);
    printf("  innermost: CFA by rsp %lu, rbp %lu, *rbp %lu, linkage table %lu, outermost %lu, slow %lu; rbp "
           "same %lu, "
           "at CFA %lu, at rbp %lu\n",
           result.cfa[0], result.cfa[1], result.cfa[2], result.cfa[3], result.cfa[4], result.cfa[5], result.rbp[0],
           result.rbp[1], result.rbp[2]);
    printf("  %lu recipes read, %lu steps again, %lu restarts, %lu disagreements, %lu slow reads; slow steps:",
           by_recipes.recipes_read, by_recipes.steps_again, by_recipes.restarts, by_recipes.disagreements,
           by_recipes.slow_reads);
    for (int cause = 0; cause < RECIPE_CAUSES; slow += by_recipes.slow_steps[cause++])
        if (by_recipes.slow_steps[cause])
            printf(" %s %lu", recipe_cause_name(cause), by_recipes.slow_steps[cause]);
    printf("\n%s", result.first);
    printf("  by the code alone: %lu right, %lu not known, %lu wrong\n", result.code_right, result.code_unknown,
           result.code_wrong);
    assert_true(result.interrupts >= wanted_interrupts / 2);
    assert_int_equal(result.different, 0);
    assert_true(result.by_guess <= 1 + result.interrupts / 10000);
    assert_int_equal(by_recipes.disagreements, 0);
    assert_true(by_recipes.restarts <= result.interrupts / 1000);
    assert_true(1000 * result.code_wrong <= result.code_right); /* fibers that change stacks, above all */
    assert_true(50 * result.code_unknown <= result.code_right);
    assert_true(slow < by_recipes.frames / 10); /* they are taken by recipe, not by libunwind after all */
    if (wanted_interrupts < 100000 || wanted_variant)
        return;
    for (int cfa = RECIPE_CFA_RSP; cfa <= RECIPE_CFA_PLT; cfa++)
        assert_true(result.cfa[cfa] > 0); /* every equation was tried */
    assert_true(result.cfa[RECIPE_SLOW] > 0 && result.rbp[RECIPE_RBP_AT_RBP] > 0);
    assert_true(by_recipes.slow_steps[RECIPE_TRAMPOLINE] > 0);
}

#if defined(__SANITIZE_THREAD__)
#define SKIP_IF_SIGNALS_ARE_DELAYED() skip()
#else
#define SKIP_IF_SIGNALS_ARE_DELAYED() ((void)0)
#endif

UNIT_TEST(on_the_first_threads_stack)
{
    SKIP_IF_SIGNALS_ARE_DELAYED();
    run_all(NULL);
    check("first thread");
}

UNIT_TEST(on_another_threads_stack)
{
    SKIP_IF_SIGNALS_ARE_DELAYED();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_all, NULL), 0);
    pthread_join(thread, NULL);
    check("another thread");
}

/* Before the unwinder looks for modules. */
static bool load_libraries(void)
{
    char path[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[bytes > 0 ? bytes : 0] = 0;
    for (size_t i = 0; i < LIBRARIES; i++) {
        char name[2 * PATH_MAX], symbol[100];
        snprintf(name, sizeof(name), "%.*s/differential/%s.so", (int)(strrchr(path, '/') - path), path, libraries[i]);
        snprintf(symbol, sizeof(symbol), "code_%s", libraries[i]);
        void *library = dlopen(name, RTLD_NOW);
        variants[variant_count] = library ? dlsym(library, symbol) : NULL;
        if (variants[variant_count])
            variant_count++;
        else if (access(name, F_OK) != 0)
            printf("NOT TESTED: %s, which has not been built\n", name);
        else
            return printf("%s\n", dlerror()), false;
    }
    return true;
}

static int install(void **unused)
{
    (void)unused;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = interrupt;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    code_in_handler = trap;
    size_t wanted = 0;
    if (!load_libraries() || !loadmap_init() || sigaction(TIMER_SIGNAL, &action, NULL) != 0 ||
        sigaction(SIGTRAP, &action, NULL) != 0)
        return -1;
    unwind_note_trampoline(TIMER_SIGNAL);
    for (size_t i = 0; i < variant_count; i++)
        wanted += is_wanted(variants[i]);
    if (!wanted)
        printf("%s: no such variant; expected those of tests/differential/differential.mk\n", wanted_variant);
    return wanted ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        wanted_interrupts = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        driver.random_state += strtoull(argv[2], NULL, 10);
    if (argc > 3)
        wanted_variant = argv[3];
    return unit_run(install, NULL);
}
