/* needs: tests/fuzz/fake_symbols.c */
#include "report/rows/rows.h"
#include "report/tables/locks.h"

#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/unit.h"

#define S         1e9 /* metrics are in nanoseconds */
#define KEY(line) PROFILE_KEY(1, 0x1000 + (line))
#define LOCK(id)  PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, id)

enum { IN_MAIN = 10, IN_MAKE = 20, IN_REMAKE = 30, IN_WAIT = 40, IN_HOLD = 50, NO_LINE = 60 };

#define FRAME(n, l)                                                                                          \
    {                                                                                                        \
        .name = n, .host_name = "", .file = "/s/a.c", .line = 1, .at_file = "/s/a.c", .at_line = l,          \
        .task_name = ""                                                                                      \
    }
static const struct symbol_frame in_main[] = {FRAME("main", IN_MAIN)};
static const struct symbol_frame in_make[] = {FRAME("make", IN_MAKE), FRAME("main", IN_MAIN)};
static const struct symbol_frame in_remake[] = {FRAME("remake", IN_REMAKE)};
static const struct symbol_frame in_wait[] = {FRAME("wait", IN_WAIT)};
static const struct symbol_frame in_hold[] = {FRAME("hold", IN_HOLD)};
static const struct symbol_frame no_line[] = {FRAME("bare", 0)};

struct made {
    struct profile profile;
    struct merged_node nodes[300];
    struct profile_lock locks[8];
    struct profile_module modules[1];
    struct symbols *symbols;
    struct rows *rows;
    struct lock_table *table;
};

static struct made made;

static uint32_t add(uint32_t parent, uint8_t kind, uint64_t key, double here_s, double blame_s)
{
    struct merged_node *node = &made.nodes[made.profile.node_count];
    *node = (struct merged_node){.parent = parent, .kind = kind, .key = key};
    node->metric = (struct profile_metric){.lock_wait_here = here_s * S,
                                           .lock_wait = blame_s * S,
                                           .waits = here_s > 0,
                                           .inverse_busy = blame_s * S};
    return (uint32_t)made.profile.node_count++;
}

/* A lock waited for in wait() and held in hold(), both called by main. */
static void add_lock(uint64_t key, double wait_s)
{
    static uint32_t main_idx, wait_idx, hold_idx;
    if (made.profile.node_count == 1) {
        main_idx = add(0, PROFILE_NODE_FRAME, KEY(IN_MAIN), 0, 0);
        wait_idx = add(main_idx, PROFILE_NODE_FRAME, KEY(IN_WAIT), 0, 0);
        hold_idx = add(main_idx, PROFILE_NODE_FRAME, KEY(IN_HOLD), 0, 0);
    }
    add(wait_idx, PROFILE_NODE_LOCK, key, wait_s, 0);
    add(hold_idx, PROFILE_NODE_LOCK, key, 0, wait_s);
}

static void add_waits(uint64_t key, uint64_t initialiser, double sum_s, double longest_s)
{
    made.locks[made.profile.lock_count++] = (struct profile_lock){
        .key = key, .initialiser = initialiser, .sum_ns = sum_s * S, .longest_ns = longest_s * S, .waits = 1};
}

static int start(void **state)
{
    (void)state;
    made = (struct made){.profile = {.nodes = made.nodes,
                                     .node_count = 1,
                                     .modules = made.modules,
                                     .module_count = 1,
                                     .locks = made.locks,
                                     .text = "command\0x"}};
    made.profile.text_bytes = sizeof "command\0x";
    made.profile.header = (struct profile_header){.threads_max = 2, .cores = 2, .finished = 1, .rate = 200};
    made.nodes[0].kind = PROFILE_NODE_ROOT;
    made.modules[0] =
        (struct profile_module){.load_bias = 0x10000, .vaddr_low = 0x4000, .vaddr_high = 0x5000};
    fake_symbols_clear();
    fake_symbols_set(KEY(IN_MAIN), in_main, 1);
    fake_symbols_set(KEY(IN_MAKE), in_make, 2);
    fake_symbols_set(KEY(IN_REMAKE), in_remake, 1);
    fake_symbols_set(KEY(IN_WAIT), in_wait, 1);
    fake_symbols_set(KEY(IN_HOLD), in_hold, 1);
    fake_symbols_set(KEY(NO_LINE), no_line, 1);
    made.symbols = symbols_open(made.modules, 1);
    return made.symbols ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    locks_free(made.table);
    rows_free(made.rows);
    symbols_close(made.symbols);
    fake_symbols_clear();
    return 0;
}

static void gather(void)
{
    made.rows = rows_build(&made.profile, made.symbols);
    assert_non_null(made.rows);
    made.table = locks_gather(&made.profile, made.rows, made.symbols);
    assert_non_null(made.table);
}

static void a_variable_goes_before_an_initialiser(void **state)
{
    (void)state;
    add_lock(LOCK(0x14040), 2);
    add_waits(LOCK(0x14040), KEY(IN_MAKE), 2, 1);
    gather();
    assert_string_equal(made.table->lock[0].name, "the_lock");
    assert_string_equal(made.table->lock[0].initialiser, "make a.c:20"); /* the inlined function called it */
    assert_int_equal(made.table->lock[0].initialisers, 1);
}

static void of_several_initialisers_the_one_with_most_waiting_gives_the_name(void **state)
{
    (void)state;
    add_lock(LOCK(0x99), 6);
    add_waits(LOCK(0x99), KEY(IN_REMAKE), 1, 1);
    add_waits(LOCK(0x99), KEY(IN_MAKE), 3, 0.5);
    add_waits(LOCK(0x99), KEY(NO_LINE), 2, 0.5);
    add_waits(LOCK(0x77), KEY(IN_MAKE), 3, 3); /* of a lock without blame: no row */
    gather();
    assert_int_equal(made.table->count, 1);
    assert_string_equal(made.table->lock[0].name, "lock of make a.c:20");
    assert_int_equal(made.table->lock[0].initialisers, 3);
    assert_true(made.table->lock[0].longest_ns == 1 * S);
}

static void an_initialiser_without_a_line_is_its_function(void **state)
{
    (void)state;
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 0x99), 1);
    add_waits(PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 0x99), KEY(NO_LINE), 1, 1);
    gather();
    assert_string_equal(made.table->lock[0].name, "nest_lock of bare");
}

static void a_lock_of_which_nothing_is_known_is_its_address(void **state)
{
    (void)state;
    add_lock(LOCK(0x7ffc10), 1);
    add_waits(LOCK(0x7ffc10), 0, 1, 1);
    gather();
    assert_string_equal(made.table->lock[0].name, "0x7ffc10");
    assert_string_equal(made.table->lock[0].initialiser, "");
    assert_int_equal(made.table->lock[0].initialisers, 0);
}

static void constructs_without_a_variable_are_their_waiters_line(void **state)
{
    (void)state;
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_ORDERED, 0x91), 3);
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x92), 2);
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_ATOMIC, 0x93), 1);
    gather();
    assert_string_equal(made.table->lock[0].name, "ordered a.c:40");
    assert_string_equal(made.table->lock[1].name, "critical a.c:40");
    assert_string_equal(made.table->lock[2].name, "atomic a.c:40");
}

static void a_critical_section_is_its_variable_or_its_unnamed_entry(void **state)
{
    (void)state;
    static const struct symbol_call call = {.key = KEY(IN_WAIT), .name = "GOMP_critical_start"};
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x91), 3);
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x92), 2);
    add_waits(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x91), 0, 3, 3);
    made.locks[0].variable = PROFILE_KEY(1, 0x4040);
    fake_symbols_set_calls(KEY(IN_WAIT), KEY(IN_WAIT), &call, 1);
    gather();
    assert_string_equal(made.table->lock[0].name, "the_lock");
    assert_string_equal(made.table->lock[1].name, "critical (unnamed)");
}

static void top_holder_and_top_waiter_are_paths(void **state)
{
    (void)state;
    add_lock(LOCK(0x99), 2);
    gather();
    const struct lock_entry *lock = &made.table->lock[0];
    char *waiter = locks_context_path(made.rows, lock->waiter);
    char *holder = locks_context_path(made.rows, made.table->context[lock->first_context].row);
    assert_string_equal(waiter, "main > wait a.c:40");
    assert_string_equal(holder, "main > hold a.c:50");
    assert_true(lock->waiter_ns == 2 * S);
    free(waiter);
    free(holder);
}

static void of_a_deep_path_the_innermost_functions_are_shown(void **state)
{
    (void)state;
    uint32_t at = 0;
    for (int i = 0; i < 200; i++)
        at = add(at, PROFILE_NODE_FRAME, i % 2 ? KEY(IN_MAIN) : KEY(IN_WAIT), 0, 0);
    add(at, PROFILE_NODE_LOCK, LOCK(0x99), 1, 0);
    gather();
    char *waiter = locks_context_path(made.rows, made.table->lock[0].waiter);
    assert_memory_equal(waiter, "... > wait > main > wait > ", 27);
    assert_true(strlen(waiter) < 300);
    free(waiter);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_variable_goes_before_an_initialiser),
        TEST(of_several_initialisers_the_one_with_most_waiting_gives_the_name),
        TEST(an_initialiser_without_a_line_is_its_function),
        TEST(a_lock_of_which_nothing_is_known_is_its_address),
        TEST(constructs_without_a_variable_are_their_waiters_line),
        TEST(a_critical_section_is_its_variable_or_its_unnamed_entry),
        TEST(top_holder_and_top_waiter_are_paths),
        TEST(of_a_deep_path_the_innermost_functions_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
