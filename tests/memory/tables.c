/* Tables that several threads fill: N1, A1, A2. */
#include "base/atomics.h"
#include "cct/arena.h"
#include "ompt_tool/locks/lock_names.h"
#include "tests/memory/scenarios.h"

/* ---- locks and the calls that have initialised them ---- */

#define LOCKS 4 /* in one line of the table */

static GHOST struct {
    uint64_t set[2][LOCKS], told[2][LOCKS];
    unsigned ended;
} ghost;

static uint64_t lock_address(unsigned thread, unsigned lock)
{
    return 0x10000 + 4 * (2 * lock + thread);
}

/* One call initialises locks of both threads. */
static uint64_t call_at(unsigned lock)
{
    return 0x400000 + 16 * (lock % 2);
}

static void name_locks(unsigned thread)
{
    for (unsigned round = 0; round < 3; round++)
        for (unsigned lock = 0; lock < LOCKS; lock++) {
            ghost.set[thread][lock] = call_at(lock);
            lock_names_initialised(lock_address(thread, lock), call_at(lock));
            ghost.told[thread][lock] = model_now();
            model_check(lock_names_initialiser(lock_address(thread, lock)) == call_at(lock),
                        "the thread's own lock has another name");
            if (round == 2 || model_random(2))
                continue;
            ghost.told[thread][lock] = 0;
            lock_names_destroyed(lock_address(thread, lock));
        }
    ghost.ended++;
}

static void name_first(void)
{
    name_locks(0);
}

static void name_second(void)
{
    name_locks(1);
}

static void read_names(void)
{
    for (unsigned i = 0; i < 20 || ghost.ended < 2; i++) {
        unsigned thread = (unsigned)model_random(2), lock = (unsigned)model_random(LOCKS);
        uint64_t told = ghost.told[thread][lock], from = model_now();
        uint64_t call = lock_names_initialiser(lock_address(thread, lock));
        bool stays = told && ghost.told[thread][lock] == told && told + model_staleness() < from;
        model_check(call == 0 || call == ghost.set[thread][lock], "lock %u of thread %u: call %llx", lock, thread,
                    (unsigned long long)call);
        model_check(!stays || call, "lock %u of thread %u: no name", lock, thread);
        model_pause();
    }
}

const struct scenario scenario_lock_names = {"lock-names", "N1", NULL, {name_first, name_second, read_names},
                                             NULL,         300};

/* ---- an array of locks, which is made again at other distances while its row is read ---- */

#define ROW_CALL  0x500000u
#define ROW_FIRST 0x100000u /* address of the first lock that is only in the row */
#define ROW_LEAD  1025u     /* locks before that one: they make an array of it */
#define ROW_LOCKS 6u        /* locks in the row */

static GHOST unsigned rows_made;

static void make_row(struct lock_streak *streak, uint64_t distance)
{
    for (uint64_t i = 0; i < ROW_LEAD + ROW_LOCKS; i++) {
        uint64_t address = ROW_FIRST + distance * i - distance * ROW_LEAD;
        if (lock_streak_continues(streak, address, ROW_CALL))
            continue;
        if (i == 0 || i + 4 > ROW_LEAD) /* the other ones would only take time */
            lock_names_initialised(address, ROW_CALL);
        lock_streak_add(streak, address, ROW_CALL, ROW_CALL);
    }
}

static void make_rows(void)
{
    for (unsigned round = 0; round < 6; round++) {
        struct lock_streak near = {0}, far = {0};
        make_row(&near, 8);
        make_row(&far, 16);
    }
    rows_made = 1;
}

/* At the distance 8 there are only the first locks of the row, and behind them locks at the distance 16. */
static void read_row(void)
{
    while (!rows_made) {
        uint64_t number = model_random(2 * ROW_LOCKS);
        uint64_t call = lock_names_initialiser(ROW_FIRST + 8 * number);
        model_check(call == 0 || call == ROW_CALL, "call %llx", (unsigned long long)call);
        model_check(!call || number < ROW_LOCKS || number % 2 == 0, "lock %u was never made", (unsigned)number);
        model_pause();
    }
}

const struct scenario scenario_lock_rows = {"lock-rows", "N1", NULL, {make_rows, read_row}, NULL, 300};

/* ---- chunks of the file ---- */

#define CHUNKS 4

static uint32_t given[2 * CHUNKS]; /* units: as a node's index is given to others */

static GHOST struct {
    unsigned ended;
} chunks;

static void begin_arena(void)
{
    model_check(arena_open("/model", 0666), "no file");
}

static void make_chunks(unsigned thread)
{
    for (uint32_t i = 0; i < CHUNKS; i++) {
        uint32_t number;
        struct profile_chunk *chunk = arena_chunk(PROFILE_CHUNK_NAME, 100 + thread, &number);
        model_check(chunk != NULL, "no chunk");
        uint64_t *unit = arena_unit(number * PROFILE_UNITS_PER_CHUNK + 1);
        model_check((char *)unit == (char *)chunk + PROFILE_UNIT_BYTES, "chunk %u is elsewhere", number);
        model_check(*unit == 0, "chunk %u was given out twice", number);
        *unit = 7000 + number;
        store_release(&given[thread * CHUNKS + i], number * PROFILE_UNITS_PER_CHUNK + 1);
    }
    chunks.ended++;
}

static void make_first(void)
{
    make_chunks(0);
}

static void make_second(void)
{
    make_chunks(1);
}

static void read_chunks(void)
{
    while (chunks.ended < 2) {
        uint32_t unit_idx = load_acquire(&given[model_random(2 * CHUNKS)]), number = unit_idx / PROFILE_UNITS_PER_CHUNK;
        const uint64_t *unit = unit_idx ? arena_unit(unit_idx) : NULL;
        model_check(!unit_idx || ((uintptr_t)unit > PROFILE_CHUNK_BYTES && *unit == 7000 + number),
                    "chunk %u: not there", number);
        uint32_t count = load_acquire(&arena_header()->chunk_count);
        for (uint32_t i = 0; i < count; i++) { /* as a reader of the file does */
            const struct profile_chunk *chunk =
                (const struct profile_chunk *)((const char *)arena_header() + PROFILE_HEADER_BYTES) +
                i * (size_t)PROFILE_UNITS_PER_CHUNK;
            uint32_t kind = load_acquire(&chunk->kind);
            model_check(!kind || (chunk->owner >= 100 && chunk->metric_unit == PROFILE_UNITS_PER_CHUNK),
                        "chunk %u: no header", i);
        }
        model_pause();
    }
}

const struct scenario scenario_arena = {"arena", "A1, A2", begin_arena, {make_first, make_second, read_chunks},
                                        NULL,    3000};
