/* Regions' records: who follows a context, and when a record is used again: R1, R2, R3. */
#include "cct/deferred/region.h"
#include "tests/memory/scenarios.h"

#define LIVES   8
#define WORKERS 2

static struct region_pool pool;
static struct {
    struct region *region;
    uint32_t begun, arrived; /* what the runtime's fork and join are: they are ordered by it */
} team;
static uint64_t trie[LIVES + 1]; /* what a context names */

static GHOST struct {
    unsigned users[64]; /* of records that threads may follow, by place in the slab */
    unsigned ended;
} ghost;

static unsigned *users_of(const struct region *region)
{
    return &ghost.users[((uintptr_t)region >> 4) / (sizeof(struct region) / 16) % 64];
}

/* There are few, and no memory for more: all come back from those who release them. */
static struct region *begin_one(struct region *outer, uintptr_t codeptr)
{
    struct region *region;
    while (!(region = region_begin(&pool, outer, codeptr))) {
        region_close(&pool);
        model_pause();
    }
    return region;
}

/* A life's outer region is one of every second life, whose record is given up before the inner one's is. */
static void encounter(void)
{
    for (uint32_t life = 1; life <= LIVES; life++) {
        struct region *outer = begin_one(NULL, 1000 + life);
        model_check(*users_of(outer) == 0, "life %u: the outer record is in use", life);
        *users_of(outer) = 1;
        struct region *region = begin_one(outer, 2000 + life);
        model_check(*users_of(region) == 0, "life %u: the record is in use", life);
        *users_of(region) = 1;
        team.region = region;
        store_release(&team.begun, life);
        while (load_acquire(&team.arrived) < life * WORKERS)
            model_pause();
        trie[life] = life;
        bool own = model_random(4) == 0;
        if (own)
            region_reference(region); /* as a sample of this thread does */
        bool sampled = region_needs_context(region);
        model_check(sampled || *users_of(region) == 1, "life %u: nobody needs the context, and somebody does", life);
        if (sampled)
            region_publish(region, life);
        if (load_relaxed(&region->references) > 1 && model_random(2))
            region_note_end(region, life);
        --*users_of(region);
        region_close(&pool);
        region_end(region);
        if (own)
            region_release(region);
        region_close(&pool);
        --*users_of(outer);
        region_end(outer);
    }
    ghost.ended = 1;
}

static void follow(struct region *region, uint32_t life)
{
    uint32_t context;
    for (unsigned looks = 0; !(context = load_acquire(&region->context)) /* R2 */; looks++) {
        model_check(looks < 20000, "life %u: the context never comes", life);
        model_pause();
    }
    model_check(context == life && trie[context] == life, "life %u: its context is %u, which names %llu", life, context,
                (unsigned long long)trie[context]);
    model_check(region->codeptr == 2000 + life, "life %u: the record is another's: %lu", life,
                (unsigned long)region->codeptr);
    model_check(region->outer && region->outer->codeptr == 1000 + life, "life %u: its outer region is another", life);
}

static void work(void)
{
    for (uint32_t life = 1; life <= LIVES; life++) {
        while (load_acquire(&team.begun) < life)
            model_pause();
        struct region *region = team.region, *followed = NULL;
        if (model_random(2)) {
            region_reference(region); /* R1: without asking */
            ++*users_of(region);
            ++*users_of(region->outer);
            followed = region;
        }
        fetch_add_acq_rel(&team.arrived, 1);
        if (!followed)
            continue;
        if (model_random(3) == 0)
            model_pause();
        follow(followed, life);
        --*users_of(followed->outer);
        --*users_of(followed);
        region_release(followed);
    }
}

static void begin(void)
{
    pool = (struct region_pool){0};
    team.region = NULL;
    region_end(region_begin(&pool, NULL, 1));
    region_close(&pool);
    pool.free->next_free->next_free->next_free->next_free = NULL;
    model_has_memory = false;
}

const struct scenario scenario_regions = {"regions", "R1, R2, R3", begin, {encounter, work, work}, NULL, 3000};

/* ---- ends that are remembered ---- */

static void end_many(void)
{
    struct region *region = region_begin(&pool, NULL, 5001 + pool.free->instance);
    team.region = region;
    store_release(&team.begun, 1);
    for (uint32_t life = 1; life <= 4 * REGION_ENDS; life++) {
        ghost.ended = region->instance;
        region_note_end(region, 10000 + region->instance);
        region_close(&pool);
        region_end(region);
        struct region *next = region_begin(&pool, NULL, 5000 + region->instance + 1);
        model_check(next == region, "another record");
    }
}

static void ask_ends(void)
{
    while (!load_acquire(&team.begun))
        model_pause();
    for (unsigned i = 0; i < 15; i++) {
        while (ghost.ended < 3 + i * REGION_ENDS / 4)
            model_pause();
        unsigned back = model_random(3) ? REGION_ENDS / 3 + (unsigned)model_random(REGION_ENDS * 2 / 3) : 0;
        uint32_t instance = ghost.ended > back ? ghost.ended - back : 1;
        struct region_end is = region_end_of(team.region, instance);
        if (is.ticks)
            model_check(is.ticks == 10000 + instance && is.codeptr == 5000 + instance && is.region == team.region &&
                            is.instance == instance,
                        "end of life %u: words of others: %llu %lu", instance, (unsigned long long)is.ticks,
                        (unsigned long)is.codeptr);
    }
}

const struct scenario scenario_ends_ring = {"ends-ring", "S5", begin, {end_many, ask_ends, ask_ends}, NULL, 3000};
