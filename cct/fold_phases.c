#include "cct/fold_phases.h"

#include <string.h>

#include "cct/arena.h"

#define BEING_WRITTEN     UINT64_MAX
#define CLASSES_AN_OCTAVE 16u
#define LEAST_APART       6u    /* classes, 1.3 times: what a part of the length says is true of all that differ by less */
#define FEW               4u    /* of fewer none is called long or short */
#define FORGET            1024u /* instances after which what was before counts half */

struct fold_phase fold_phases[FOLD_PHASES];
uint32_t fold_phase_count;

static struct profile_chunk *records;

static struct profile_fold *new_record(uint32_t phase, uint32_t name)
{
    uint32_t unused;
    if (!records && !(records = arena_chunk(PROFILE_CHUNK_FOLD, 0, &unused)))
        return NULL;
    struct profile_fold *record = (struct profile_fold *)records + 1 + phase;
    record->name = name;
    store_release(&records->used, phase + 1);
    return record;
}

uint32_t fold_phase_find(uint32_t name)
{
    uint32_t phase = fold_phase_known(name), count = fold_phase_count;
    if (phase != FOLD_NONE || count == FOLD_PHASES || !(fold_phases[count].record = new_record(count, name)))
        return phase;
    fold_phases[count].name = name;
    store_release(&fold_phase_count, count + 1);
    return count;
}

/* Of a duration: its logarithm, in sixteenths of an octave; their edges lie evenly in the octave. */
static uint32_t class_of(uint64_t ns)
{
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(ns | CLASSES_AN_OCTAVE);
    return octave * CLASSES_AN_OCTAVE + (uint32_t)(ns >> (octave - 4) & (CLASSES_AN_OCTAVE - 1));
}

/* The least duration of a class. */
static uint64_t class_begin(uint32_t class)
{
    uint32_t octave = class / CLASSES_AN_OCTAVE;
    return octave < 4 ? 0 : (uint64_t)(CLASSES_AN_OCTAVE + class % CLASSES_AN_OCTAVE) << (octave - 4);
}

static uint32_t median_class(const struct fold_phase *phase, uint32_t total)
{
    uint32_t class = 0, below = 0;
    while (class < FOLD_CLASSES - 1 && 2 * (below += load_relaxed(&phase->durations[class])) < total)
        class++;
    return class;
}

/* How far half of all lie from the median, at most. */
static uint32_t median_distance(const struct fold_phase *phase, uint32_t median, uint32_t total)
{
    uint32_t distance = 0, within = load_relaxed(&phase->durations[median]);
    while (2 * within < total && distance++ < FOLD_CLASSES) {
        within += median >= distance ? load_relaxed(&phase->durations[median - distance]) : 0;
        within += median + distance < FOLD_CLASSES ? load_relaxed(&phase->durations[median + distance]) : 0;
    }
    return distance;
}

/* As far as three standard deviations if the durations' logarithms were normally distributed: their median distance is 0.67 of one. */
static void decide(struct fold_phase *phase)
{
    uint32_t total = 0;
    for (uint32_t class = 0; class < FOLD_CLASSES; class++)
        total += load_relaxed(&phase->durations[class]);
    uint32_t median = median_class(phase, total), apart = median_distance(phase, median, total) * 9 / 2;
    apart = apart > LEAST_APART ? apart : LEAST_APART;
    uint32_t last = median + apart < FOLD_CLASSES - 1 ? median + apart : FOLD_CLASSES - 2;
    uint64_t low_ns = median > apart ? class_begin(median - apart) : 0, high_ns = class_begin(last + 1) - 1;
    store_relaxed(&phase->low_ns, low_ns);
    store_release(&phase->high_ns, high_ns);
    store_relaxed(&phase->record->low_ns, low_ns);
    store_relaxed(&phase->record->high_ns, high_ns);
    if (total < FORGET)
        return;
    for (uint32_t class = 0; class < FOLD_CLASSES; class++)
        store_relaxed(&phase->durations[class], load_relaxed(&phase->durations[class]) / 2);
}

static void count(const struct fold_phase *phase, uint64_t ns, enum fold_verdict verdict)
{
    fetch_add_relaxed(&phase->record->instances[verdict], 1);
    atomic_add_double((uint64_t *)(void *)&phase->record->duration_ns[verdict], (double)ns);
}

static enum fold_verdict verdict_of(uint64_t ns, uint64_t low_ns, uint64_t high_ns)
{
    return ns < low_ns || ns > high_ns ? FOLD_OUTLIER : FOLD_USUAL;
}

/* One of the first that has been decided about, and that nobody else counts (F3). */
static void count_first(struct fold_phase *phase, uint32_t number)
{
    uint64_t ns = exchange_seq_cst(&phase->first_ns[number], 0);
    if (ns)
        count(phase, ns, verdict_of(ns, phase->first_low_ns, phase->first_high_ns));
}

static void decide_first(struct fold_phase *phase, uint32_t number)
{
    if (number >= FEW)
        decide(phase);
    else
        store_relaxed(&phase->high_ns, UINT64_MAX);
    store_relaxed(&phase->first_low_ns, phase->low_ns);
    store_seq_cst(&phase->first_high_ns, phase->high_ns);
    for (uint32_t number = 0; number < FOLD_FIRST; number++)
        count_first(phase, number);
}

static enum fold_verdict end_first(struct fold_phase *phase, uint64_t ns, uint32_t number)
{
    store_seq_cst(&phase->first_ns[number], ns);
    if (number == FOLD_FIRST - 1)
        decide_first(phase, FOLD_FIRST);
    else if (load_seq_cst(&phase->first_high_ns))
        count_first(phase, number);
    return FOLD_UNDECIDED;
}

static enum fold_verdict judge(struct fold_phase *phase, uint64_t ns)
{
    uint32_t *class = &phase->durations[class_of(ns)], number = load_relaxed(&phase->finished);
    ns = ns ? ns : 1;
    store_relaxed(class, load_relaxed(class) + 1); /* that one of two at once may be forgotten changes no median */
    if (unlikely(number < FOLD_FIRST) && (number = fetch_add_relaxed(&phase->finished, 1)) < FOLD_FIRST)
        return end_first(phase, ns, number);
    uint32_t since = fetch_add_relaxed(&phase->since, 1) + 1;
    bool soon = since < FORGET / 2 && (since & (since - 1)) == 0;
    if (unlikely(soon || since % (FORGET / 2) == 0))
        decide(phase);
    uint64_t high_ns = load_acquire(&phase->high_ns);
    if (unlikely(!high_ns)) /* the last of the first ones is being judged */
        high_ns = UINT64_MAX;
    enum fold_verdict verdict = verdict_of(ns, load_relaxed(&phase->low_ns), high_ns);
    count(phase, ns, verdict);
    return verdict;
}

static void publish(struct fold_phase *phase, const struct fold_instance *instance)
{
    uint64_t ticket = fetch_add_acq_rel(&phase->published, 1);
    struct fold_ended *ended = &phase->ended[ticket % FOLD_ENDED];
    uint64_t stamp = load_relaxed(&ended->stamp);
    if (stamp == BEING_WRITTEN || !compare_exchange(&ended->stamp, &stamp, BEING_WRITTEN))
        return; /* by one that so many others have overtaken: this end is lost, and its samples are counted so */
    release_fence(); /* F2, pairs with the fence in fold_phase_read() */
    store_relaxed(&ended->instance.begin_ns, instance->begin_ns);
    store_relaxed(&ended->instance.end_ns, instance->end_ns);
    store_relaxed(&ended->instance.number, instance->number);
    store_relaxed(&ended->instance.tree, instance->tree);
    store_relaxed(&ended->instance.verdict, instance->verdict);
    store_release(&ended->stamp, ticket + 1);
}

void fold_phase_end(uint32_t number, struct fold_instance *instance)
{
    struct fold_phase *phase = &fold_phases[number];
    if (instance->verdict == FOLD_LEFT_OUT)
        fetch_add_relaxed(&phase->record->left_out, 1);
    else
        instance->verdict = judge(phase, instance->end_ns - instance->begin_ns);
    if (load_relaxed(&phase->sampled_ns) + FOLD_AWRY_NS >= instance->begin_ns)
        publish(phase, instance);
    if (fetch_add_acq_rel(&phase->open, -1u) == 1)
        store_release(&phase->quiet_ns, instance->end_ns); /* F1, pairs with fold_deposit() */
}

enum fold_read fold_phase_read(const struct fold_phase *phase, uint64_t ticket, struct fold_instance *instance)
{
    const struct fold_ended *ended = &phase->ended[ticket % FOLD_ENDED];
    uint64_t stamp = load_acquire(&ended->stamp);
    if (stamp != ticket + 1)
        return stamp > ticket && stamp != BEING_WRITTEN ? FOLD_GONE : FOLD_NOT_YET;
    *instance = (struct fold_instance){load_relaxed(&ended->instance.begin_ns), load_relaxed(&ended->instance.end_ns),
                                       load_relaxed(&ended->instance.number), load_relaxed(&ended->instance.tree),
                                       load_relaxed(&ended->instance.verdict)};
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* F2 */
    if (load_relaxed(&ended->stamp) != stamp)
        return FOLD_GONE;
    uint64_t first_high_ns = load_acquire(&phase->first_high_ns);
    if (instance->verdict == FOLD_UNDECIDED && first_high_ns)
        instance->verdict = verdict_of(instance->end_ns - instance->begin_ns, load_relaxed(&phase->first_low_ns), first_high_ns);
    return FOLD_READ;
}

void fold_phases_finish(void)
{
    for (uint32_t i = 0; i < fold_phase_count; i++)
        if (!fold_phases[i].first_high_ns && fold_phases[i].finished)
            decide_first(&fold_phases[i], fold_phases[i].finished);
}

void fold_phases_reset(void)
{
    uint32_t touched = fold_phase_count < FOLD_PHASES ? fold_phase_count + 1 : FOLD_PHASES; /* one may have been on its way */
    memset(fold_phases, 0, touched * sizeof(*fold_phases));
    fold_phase_count = 0;
    records = NULL;
}
