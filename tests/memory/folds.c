/* Ends of a numbered phase's instances: F1, F2, F3. */
#include "cct/fold_phases.h"
#include "tests/memory/scenarios.h"

#define INSTANCES 8   /* of a thread */
#define APART     255 /* ends by others in between: the next one takes the same place again */

static struct profile_fold record;
static bool crowded;

static GHOST struct {
    struct ghost_instance {
        uint64_t begin_ns, end_ns;
        bool begun;
    } of[4 * INSTANCES];
    unsigned ended;
} ghost;

static void begin(void)
{
    fold_phases[0].name = 1;
    fold_phases[0].record = &record;
    fold_phase_count = 1;
    crowded = false;
}

static void begin_crowded(void)
{
    begin();
    crowded = true;
}

static void have_instances(unsigned thread)
{
    struct fold_phase *phase = &fold_phases[0];
    for (unsigned i = 0; i < INSTANCES; i++) {
        unsigned number = thread * INSTANCES + i;
        fold_phase_begin(0);
        struct fold_instance instance = {.begin_ns = model_now(), .number = number, .tree = 100 + thread};
        ghost.of[number].begin_ns = instance.begin_ns;
        ghost.of[number].begun = true;
        if (model_random(2))
            model_pause();
        ghost.of[number].end_ns = instance.end_ns = model_now() + 1;
        fold_phase_end(0, &instance);
        if (crowded)
            fetch_add_relaxed(&phase->published, APART);
        if (model_random(2))
            model_pause();
    }
    ghost.ended++;
}

static void first(void)
{
    have_instances(0);
}

static void second(void)
{
    have_instances(1);
}

static bool is_whole(const struct fold_instance *read)
{
    const struct ghost_instance *is = &ghost.of[read->number % (4 * INSTANCES)];
    return read->begin_ns == is->begin_ns && read->end_ns == is->end_ns &&
           read->tree == 100 + read->number / INSTANCES;
}

/* As fold.c does: when none was open, then what is published, then that. */
static void read_ends(void)
{
    const struct fold_phase *phase = &fold_phases[0];
    while (ghost.ended < 2) {
        bool found[4 * INSTANCES] = {false}, gone = false;
        uint64_t quiet_ns = load_acquire(&phase->quiet_ns),
                 published = load_acquire(&phase->published); /* F1: in this order */
        uint64_t from = crowded && published > 3 * (APART + 1) ? published - 3 * (APART + 1) : 0;
        for (uint64_t ticket = from; ticket < published; ticket += crowded ? APART + 1 : 1) {
            struct fold_instance read;
            enum fold_read how = fold_phase_read(phase, ticket, &read);
            gone |= how == FOLD_GONE;
            if (how != FOLD_READ)
                continue;
            model_check(is_whole(&read), "end %llu: words of different ends", (unsigned long long)ticket);
            found[read.number] = true;
        }
        for (unsigned i = 0; !crowded && i < 2 * INSTANCES; i++)
            model_check(!ghost.of[i].begun || ghost.of[i].begin_ns >= quiet_ns || found[i] || gone,
                        "instance %u began before %llu, when none was open, and its end is not published", i,
                        (unsigned long long)quiet_ns);
        model_pause();
    }
}

static void end(void)
{
    double counted = 0;
    fold_phases_finish();
    for (unsigned verdict = 0; verdict < 2; verdict++)
        counted += (double)record.instances[verdict];
    model_check(counted == 2 * INSTANCES, "%g of %u instances were counted", counted, 2 * INSTANCES);
}

const struct scenario scenario_folds = {"folds", "F1, F3", begin, {first, second, read_ends}, end, 3000};
const struct scenario scenario_folds_ring = {"folds-ring", "F2", begin_crowded, {first, second, read_ends},
                                             end,          3000};
