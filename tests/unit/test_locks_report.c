/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/made_profile.h"

#define KEY(line) PROFILE_KEY(1, 0x1000 + (line))
#define LOCK(id)  PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, id)

enum { IN_MAIN = 10, IN_MAKE = 20, IN_REMAKE = 30, IN_WAIT = 40, IN_HOLD = 50, NO_LINE = 60 };

static uint32_t add(uint32_t parent, uint8_t kind, uint64_t key, double here_s, double blame_s)
{
    struct profile_sums metric = {
        .lock_wait_here = here_s * S, .lock_wait = blame_s * S, .waits = here_s > 0, .inverse_busy = blame_s * S};
    return made_add(parent, kind, key, metric);
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
    made_start(state);
    made.modules[0] = (struct profile_module){.load_bias = 0x10000, .vaddr_low = 0x4000, .vaddr_high = 0x5000};
    fake_function(KEY(IN_MAIN), "main", "/s/a.c", 1, IN_MAIN);
    fake_function(KEY(IN_MAKE), "make", "/s/a.c", 1, IN_MAKE);
    fake_function(KEY(IN_MAKE), "main", "/s/a.c", 1, IN_MAIN);
    fake_function(KEY(IN_REMAKE), "remake", "/s/a.c", 1, IN_REMAKE);
    fake_function(KEY(IN_WAIT), "wait", "/s/a.c", 1, IN_WAIT);
    fake_function(KEY(IN_HOLD), "hold", "/s/a.c", 1, IN_HOLD);
    fake_function(KEY(NO_LINE), "bare", "/s/a.c", 1, 0);
    return 0;
}

/* The first lock of the table. */
static const struct lock_entry *gather(void)
{
    made_tables();
    assert_true(made.tables.locks && made.tables.locks->count > 0);
    return made.tables.locks->lock;
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, start, made_finish)

WITH_PROFILE(a_variable_goes_before_an_initialiser)
{
    add_lock(LOCK(0x14040), 2);
    add_waits(LOCK(0x14040), KEY(IN_MAKE), 2, 1);
    const struct lock_entry *lock = gather();
    assert_string_equal(lock->name, "the_lock");
    assert_string_equal(lock->initialiser, "make a.c:20"); /* the inlined function called it */
    assert_int_equal(lock->initialisers, 1);
}

WITH_PROFILE(of_several_initialisers_the_one_with_most_waiting_gives_the_name)
{
    add_lock(LOCK(0x99), 6);
    add_waits(LOCK(0x99), KEY(IN_REMAKE), 1, 1);
    add_waits(LOCK(0x99), KEY(IN_MAKE), 3, 0.5);
    add_waits(LOCK(0x99), KEY(NO_LINE), 2, 0.5);
    add_waits(LOCK(0x77), KEY(IN_MAKE), 3, 3); /* of a lock without blame: no row */
    const struct lock_entry *lock = gather();
    assert_int_equal(made.tables.locks->count, 1);
    assert_string_equal(lock->name, "lock of make a.c:20");
    assert_int_equal(lock->initialisers, 3);
    assert_true(lock->longest_ns == 1 * S);
}

WITH_PROFILE(an_initialiser_without_a_line_is_its_function)
{
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 0x99), 1);
    add_waits(PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 0x99), KEY(NO_LINE), 1, 1);
    const struct lock_entry *lock = gather();
    assert_string_equal(lock->name, "nest_lock of bare");
}

WITH_PROFILE(a_lock_of_which_nothing_is_known_is_its_address)
{
    add_lock(LOCK(0x7ffc10), 1);
    add_waits(LOCK(0x7ffc10), 0, 1, 1);
    const struct lock_entry *lock = gather();
    assert_string_equal(lock->name, "0x7ffc10");
    assert_string_equal(lock->initialiser, "");
    assert_int_equal(lock->initialisers, 0);
}

WITH_PROFILE(constructs_without_a_variable_are_their_waiters_line)
{
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_ORDERED, 0x91), 3);
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x92), 2);
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_ATOMIC, 0x93), 1);
    const struct lock_entry *lock = gather();
    assert_string_equal(lock->name, "ordered a.c:40");
    assert_string_equal(lock[1].name, "critical a.c:40");
    assert_string_equal(lock[2].name, "atomic a.c:40");
}

WITH_PROFILE(a_critical_section_is_its_variable_or_its_unnamed_entry)
{
    static const struct symbol_call call = {.key = KEY(IN_WAIT), .name = "GOMP_critical_start"};
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x91), 3);
    add_lock(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x92), 2);
    add_waits(PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x91), 0, 3, 3);
    made.locks[0].variable = PROFILE_KEY(1, 0x4040);
    fake_symbols_set_calls(KEY(IN_WAIT), KEY(IN_WAIT), &call, 1);
    const struct lock_entry *lock = gather();
    assert_string_equal(lock->name, "the_lock");
    assert_string_equal(lock[1].name, "critical (unnamed)");
}

WITH_PROFILE(top_holder_and_top_waiter_are_paths)
{
    add_lock(LOCK(0x99), 2);
    const struct lock_entry *lock = gather();
    char *waiter = lock_table_context_path(made.tables.rows, lock->waiter);
    char *holder = lock_table_context_path(made.tables.rows, made.tables.locks->context[lock->first_context].row);
    assert_string_equal(waiter, "main > wait a.c:40");
    assert_string_equal(holder, "main > hold a.c:50");
    assert_true(lock->waiter_ns == 2 * S);
    free(waiter);
    free(holder);
}

WITH_PROFILE(waiting_for_an_owner_without_a_core_is_a_part_of_its_own)
{
    add_lock(LOCK(0x99), 2);
    uint32_t no_core = add(3, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, 0, 0);
    add(no_core, PROFILE_NODE_LOCK, LOCK(0x99), 0, 0.5);
    const struct lock_entry *lock = gather();
    assert_true(lock->wait_ns == 2.5 * S && lock->no_core_ns == 0.5 * S);
    assert_int_equal(lock->context_count, 1);
    assert_true(made.tables.locks->context[lock->first_context].wait_ns == 2 * S);
}

WITH_PROFILE(of_a_deep_path_the_innermost_functions_are_shown)
{
    uint32_t at = 0;
    for (int i = 0; i < 200; i++)
        at = add(at, PROFILE_NODE_FRAME, i % 2 ? KEY(IN_MAIN) : KEY(IN_WAIT), 0, 0);
    add(at, PROFILE_NODE_LOCK, LOCK(0x99), 1, 0);
    const struct lock_entry *lock = gather();
    char *waiter = lock_table_context_path(made.tables.rows, lock->waiter);
    assert_memory_equal(waiter, "... > wait > main > wait > ", 27);
    assert_true(strlen(waiter) < 300);
    free(waiter);
}

UNIT_MAIN(NULL, NULL)
