/* programs: $(UNIT_LIBRARIES) */
/* Walks where stacks are strange: other stacks, other threads, libraries that go away, registers that mean
 * nothing. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/os.h"
#include "tests/unit/unwind_walk.h"

#define SAMPLE_SIGNAL (SIGRTMIN + 4)

/* ---- from a callback ---- */

__attribute__((noinline)) static void inner(struct walk *walk)
{
    walk_here(walk);
    signal_fence();
}

__attribute__((noinline)) static void outer(struct walk *walk)
{
    inner(walk);
    signal_fence();
}

UNIT_TEST(a_walk_from_here_begins_with_the_caller)
{
    struct walk walk;
    outer(&walk);
    assert_int_equal(walk.end, UNWIND_END);
    assert_true(walk.ips[0] - (uintptr_t)walk_here < 256);
    assert_true(walk.ips[1] - (uintptr_t)inner < 128);
    assert_true(walk.ips[2] - (uintptr_t)outer < 128);
    assert_true(walk.ips[3] - (uintptr_t)a_walk_from_here_begins_with_the_caller < 512);
}

UNIT_TEST(frames_join_up)
{
    struct unwind_frame frame;
    uintptr_t last = 0;
    int count = 0;
    unwinder_start_here(&unwinder);
    while (unwinder_next(&unwinder, &frame) == UNWIND_FRAME) {
        assert_true(count == 0 || frame.stack == last); /* a frame ends where its caller's begins */
        assert_true(frame.cfa == 0 || frame.cfa > frame.stack);
        assert_non_null(frame.range);
        assert_true(frame.ip >= frame.range->start && frame.ip < frame.range->end);
        last = frame.cfa;
        count++;
    }
    assert_int_equal(last, 0); /* the outermost has no caller */
    assert_true(count > 3);
    assert_int_equal(unwinder_next(&unwinder, &frame), UNWIND_END);
}

/* ---- threads and foreign stacks ---- */

static void *walk_in_thread(void *argument)
{
    attach();
    outer(argument);
    return NULL;
}

UNIT_TEST(a_threads_path_ends_where_the_thread_began)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        struct walk walk;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, (size_t)128 << 10 << (4 * i));
        assert_int_equal(pthread_create(&thread, &attributes, walk_in_thread, &walk), 0);
        pthread_join(thread, NULL);
        assert_int_equal(walk.end, UNWIND_END);
        assert_true(meets(&walk, walk_in_thread, 128));
        assert_true(walk.count >= 5);
    }
}

static ucontext_t fiber, back;
static struct walk fiber_walk;

static void run_fiber(void)
{
    outer(&fiber_walk);
    signal_fence();
}

/* The fiber's stack lies between unmapped pages. */
static char *fiber_stack(size_t bytes)
{
    char *memory = mmap(NULL, bytes + 2 * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(memory + 65536, bytes, PROT_READ | PROT_WRITE), 0);
    return memory + 65536;
}

UNIT_TEST(a_walk_on_a_fibers_stack_reaches_its_start)
{
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = fiber_stack(65536);
    fiber.uc_stack.ss_size = 65536;
    fiber.uc_link = &back;
    makecontext(&fiber, run_fiber, 0);
    swapcontext(&back, &fiber);
    assert_true(fiber_walk.ips[1] - (uintptr_t)inner < 128);
    assert_true(fiber_walk.ips[2] - (uintptr_t)outer < 128);
    assert_true(fiber_walk.ips[3] - (uintptr_t)run_fiber < 128);
    assert_true(fiber_walk.count <= 6); /* and does not run off its end */
    struct walk walk;
    outer(&walk); /* the thread's own stack is walked as before */
    assert_int_equal(walk.end, UNWIND_END);
}

/* ---- signals ---- */

static struct walk signal_walk;
static const void *wanted_function;
static uint32_t samples, met;
static volatile sig_atomic_t burning; /* where else a sample may hit nobody was interrupted */

static void take_sample(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    if (!burning)
        return;
    walk_at(&signal_walk, context);
    samples++;
    met += signal_walk.end == UNWIND_END && meets(&signal_walk, wanted_function, 512);
}

/* Until some have come: in a time, few do where others have the core. */
static void burn(int signal)
{
    (void)signal;
    burning = 1;
    uint32_t enough = samples + 5;
    uint64_t end = clock_now_ns() + 20 * NS_PER_S;
    while (load_relaxed(&samples) < enough && clock_now_ns() < end)
        ;
    burning = 0;
}

__attribute__((noinline)) static void raise_often(void)
{
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
}

/* Samples inside a handler of the program's, which runs on `stack`; met: how many found who was interrupted. In
 * threads too: no assertion here. On the same stack, or one below it: test_unwind.c. */
static void sample_handler(char *stack, size_t bytes)
{
    struct sigaction action;
    stack_t alternate = {.ss_sp = stack, .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
    timer_t timer;
    memset(&action, 0, sizeof(action));
    action.sa_handler = burn;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    samples = met = 0;
    wanted_function = raise_often;
    if (sigaltstack(&alternate, NULL) != 0 ||
        !os_timer_start(&timer, SAMPLE_SIGNAL, false, clock_now_ns() + 1000000, 1000000))
        abort();
    raise_often();
    os_timer_stop(timer);
    sigaltstack(&none, NULL);
    printf("%u of %u samples in a handler found who was interrupted\n", met, samples);
}

static void *sample_on_alternate_stack(void *high)
{
    attach();
    sample_handler(high, 65536);
    return NULL;
}

UNIT_TEST(a_handler_on_a_stack_above_is_walked_through)
{
#if defined(__SANITIZE_THREAD__)
    skip(); /* signals are delayed */
#endif
    char *memory = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, 1 << 20);
    assert_int_equal(pthread_create(&thread, &attributes, sample_on_alternate_stack, memory + (1 << 20)), 0);
    pthread_join(thread, NULL);
    assert_true(samples > 20);
    assert_int_equal(met, samples);
}

/* ---- libraries that come and go ---- */

static char *library_path(const char *name)
{
    static char path[PATH_MAX], real[PATH_MAX];
    snprintf(path, sizeof(path), "%s/unit/%s", getenv("BUILD") ? getenv("BUILD") : "build", name);
    assert_non_null(realpath(path, real));
    return real;
}

typedef int loaded_function(int (*callback)(void *), void *argument);

static int walk_in_library(void *argument)
{
    walk_here(argument);
    return 1;
}

__attribute__((noinline)) static void call_loaded(loaded_function *loaded_call, struct walk *walk)
{
    assert_int_equal(loaded_call(walk_in_library, walk), 2);
}

/* Walks from inside the library until it is walked through: the load map is not read again at every miss. */
static bool walked_through(loaded_function *loaded_call)
{
    uint64_t end_ns = clock_now_ns() + 20 * NS_PER_S;
    struct walk walk;
    do {
        call_loaded(loaded_call, &walk);
        const struct loadmap_range *range = loadmap_find((uintptr_t)loaded_call);
        const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
        Dl_info info;
        if (walk.end == UNWIND_END && walk.ips[2] - (uintptr_t)loaded_call < 256 && meets(&walk, call_loaded, 256) &&
            module && walk.modules[2] == module && dladdr((void *)(uintptr_t)loaded_call, &info) &&
            strcmp(module->path, info.dli_fname) == 0)
            return true;
    } while (clock_now_ns() < end_ns);
    return false;
}

static void *load(const char *path, loaded_function **loaded_call)
{
    void *library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    *loaded_call = (loaded_function *)(uintptr_t)dlsym(library, "loaded_call");
    return library;
}

UNIT_TEST(a_library_loaded_later_is_walked_through)
{
    loaded_function *loaded_call;
    void *library = load(library_path("loaded.so"), &loaded_call);
    assert_true(walked_through(loaded_call));
    dlclose(library);
}

/* The loader likes to put the next library where the last one was: the old one's name (and tables) must not
 * be used. */
UNIT_TEST(a_library_in_the_place_of_another_is_told_apart)
{
    loaded_function *first, *second;
    const char *copy = unit_fresh_path();
    assert_true(os_copy_file(library_path("loaded.so"), copy));
    void *library = load(library_path("loaded.so"), &first);
    assert_true(walked_through(first));
    dlclose(library);
    library = load(copy, &second);
    assert_true(walked_through(second)); /* it may have gone elsewhere: then this is easy */
    dlclose(library);
    unit_clean();
}

UNIT_TEST(without_unwind_tables_a_path_ends_or_goes_on_but_never_hangs)
{
    void *library = dlopen(library_path("loaded_noheader.so"), RTLD_NOW);
    struct walk walk;
    assert_non_null(library);
    call_loaded((loaded_function *)(uintptr_t)dlsym(library, "loaded_call"), &walk);
    assert_true(walk.count >= 2 && walk.count < 64);
    assert_true(walk.ips[1] - (uintptr_t)walk_in_library < 128);
    dlclose(library);
}

/* Compiled at run time, without a frame pointer: sub rsp, 24; mov rax, rdi; mov rdi, rsi; call rax; add rsp, 24;
 * inc eax; ret. */
UNIT_TEST(code_that_is_no_files_is_walked_through)
{
    static const unsigned char bytes[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7,
                                          0xff, 0xd0, 0x48, 0x83, 0xc4, 0x18, 0xff, 0xc0, 0xc3};
    struct walk walk;
    char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, bytes, sizeof(bytes));
    loadmap_refresh();
    call_loaded((loaded_function *)(uintptr_t)code, &walk);
    assert_int_equal(walk.end, UNWIND_END);
    assert_true(walk.ips[2] - (uintptr_t)code < sizeof(bytes));
    assert_true(meets(&walk, call_loaded, 256));
    munmap(code, 4096);
    loadmap_refresh();
}

static uint32_t stop, walking;

static void *walk_all_the_time(void *argument)
{
    struct walk *walk = argument;
    uint32_t good = 0;
    attach();
    while (!load_acquire(&stop)) {
        outer(walk);
        if (walk->end != UNWIND_END)
            abort();
        if (good++ == 0)
            fetch_add_relaxed(&walking, 1u);
        loadmap_refresh();
    }
    return (void *)(uintptr_t)good;
}

UNIT_TEST(threads_walk_while_libraries_come_and_go)
{
    pthread_t threads[2];
    struct walk walks[2];
    stop = walking = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, walk_all_the_time, &walks[i]);
    while (load_acquire(&walking) < 2)
        sched_yield();
    for (int i = 0; i < 200; i++) {
        void *library = dlopen(library_path(i % 2 ? "loaded.so" : "loaded_joined.so"), RTLD_NOW);
        loaded_function *loaded_call = (loaded_function *)(uintptr_t)dlsym(library, "loaded_call");
        struct walk walk;
        call_loaded(loaded_call, &walk); /* may break when another thread is reading the map; must not crash */
        assert_true(walk.count >= 2);
        dlclose(library);
    }
    store_release(&stop, 1u);
    for (int i = 0; i < 2; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_true((uintptr_t)good > 0);
    }
}

/* Code that is looked at and never executed. */
__asm__(".text\n\t.skip 16, "
        "0xcc\nspin_test_pause:\n\tpause\nspin_test_paused:\n\tnop\n\tnop\nspin_test_other:\n\tnop\n\t.skip 16, 0xcc\n"
        "spin_test_yield:\n\tmov $24, %eax\n\tsyscall\nspin_test_yielded:\n\tret\n\t.skip 16, 0xcc\n"
        "\tmov $25, %eax\n\tsyscall\nspin_test_called:\n\tret\n\t.skip 16, 0xcc\n"
        "\t.byte 0x66, 0x0f, 0xae, 0xf1\nspin_test_tpaused:\n\t.skip 16, 0xcc\n"
        "\t.byte 0xf2, 0x41, 0x0f, 0xae, 0xf0\nspin_test_umwaited:\n\t.skip 16, "
        "0xcc\n\tmfence\nspin_test_fenced:\n\t.skip 16, 0xcc\n");
extern const char spin_test_pause[], spin_test_paused[], spin_test_other[], spin_test_yield[], spin_test_yielded[],
    spin_test_called[], spin_test_tpaused[], spin_test_umwaited[], spin_test_fenced[];

static bool spins_at(const char *code)
{
    ucontext_t context;
    memset(&context, 0, sizeof(context));
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)code;
    return unwind_is_spinning(&context);
}

UNIT_TEST(who_is_at_or_right_after_a_pause_or_yields_is_waiting)
{
    assert_true(spins_at(spin_test_pause));
    assert_true(spins_at(spin_test_paused));
    assert_false(
        spins_at(spin_test_other)); /* near a pause is not enough: a loop that works may follow one that waits */
    assert_true(spins_at(spin_test_yielded));
    assert_false(spins_at(spin_test_yield));
    assert_false(spins_at(spin_test_called));
    assert_true(spins_at(spin_test_tpaused));
    assert_true(spins_at(spin_test_umwaited));
    assert_false(spins_at(spin_test_fenced));
    assert_false(spins_at(NULL));
}

UNIT_TEST(code_that_is_not_from_a_file_is_found_spinning_and_may_be_unreadable)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *code = mmap(NULL, page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    memcpy(code + page - 2, "\xf3\x90\xf3\x90", 4);
    memcpy(code + page / 2, "\xf3\x90", 2);
    assert_true(spins_at((const char *)code + page));
    assert_true(spins_at((const char *)code + page / 2));
    assert_int_equal(mprotect(code, page, PROT_NONE), 0);
    assert_false(spins_at((const char *)code + page)); /* its begin is in the other page */
    assert_false(spins_at((const char *)code + page / 2));
    munmap(code, page * 2);
}

static int install(void **unused)
{
    (void)unused;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = take_sample;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    if (!loadmap_init() || sigaction(SAMPLE_SIGNAL, &action, NULL) != 0)
        return -1;
    unwind_note_trampoline(SAMPLE_SIGNAL);
    attach();
    return 0;
}

UNIT_MAIN(install, NULL)
