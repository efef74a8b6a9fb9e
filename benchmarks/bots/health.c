/* health, modelled on BOTS: simulates a health system day by day. Its villages form a tree. Each village has
 * a hospital, which sends difficult patients to the hospital of the village above. Each village has a task
 * for each day, and each hospital has a lock for its list of referred patients. The tasks are therefore very
 * small, and take locks too. */
#include "../kernel.h"

#define ILL_PROBABILITY        0.002
#define CONVALESCE_PROBABILITY 0.100
#define REFER_PROBABILITY      0.150
#define ASSESS_DAYS            2
#define CONVALESCE_DAYS        12
#define PEOPLE_PER_DOCTOR      10
#define LEVELS_MAX             8

struct patient {
    struct patient *next;
    /* state of the patient's own random numbers; they make the result independent of the schedule */
    uint64_t random;
    uint32_t id;
    int days_left, days_ill, hospitals;
};

struct list {
    struct patient *first, **last;
};

struct village {
    struct village *parent, *children; /* village above, and array of the villages below */
    int child_count, level, free_doctors;
    struct list healthy, waiting, assessed, convalescing;
    /* patients referred by the villages below, sorted by id; `lock` protects the list */
    struct patient *referred;
    omp_lock_t referred_lock;
    struct patient *people;
};

struct config {
    int levels, cities, days;
};

static void health_list_init(struct list *list)
{
    list->first = NULL;
    list->last = &list->first;
}

static void health_list_append(struct list *list, struct patient *patient)
{
    patient->next = NULL;
    *list->last = patient;
    list->last = &patient->next;
}

/* Empties the list and returns the patients that were in it. */
static struct patient *health_list_take(struct list *list)
{
    struct patient *first = list->first;
    health_list_init(list);
    return first;
}

static bool health_draw(struct patient *patient, double probability)
{
    patient->random = kernel_hash(patient->random);
    return kernel_unit(patient->random) < probability;
}

static void health_village_init(struct village *v, struct village *parent, const struct config *config, int level,
                                uint32_t *next_id)
{
    int people = (1 << level) * PEOPLE_PER_DOCTOR;
    *v = (struct village){.parent = parent, .level = level, .free_doctors = 1 << level};
    struct list *lists[] = {&v->healthy, &v->waiting, &v->assessed, &v->convalescing};
    for (int i = 0; i < 4; i++)
        health_list_init(lists[i]);
    omp_init_lock(&v->referred_lock);
    v->people = kernel_alloc(people, sizeof(struct patient));
    for (int i = 0; i < people; i++) {
        uint32_t id = (*next_id)++;
        v->people[i] = (struct patient){.id = id, .random = kernel_hash(id)};
        health_list_append(&v->healthy, &v->people[i]);
    }
    if (level == 1)
        return;
    v->child_count = config->cities;
    v->children = kernel_alloc(config->cities, sizeof(struct village));
    for (int i = 0; i < v->child_count; i++)
        health_village_init(&v->children[i], v, config, level - 1, next_id);
}

static void health_village_free(struct village *v)
{
    for (int i = 0; i < v->child_count; i++)
        health_village_free(&v->children[i]);
    omp_destroy_lock(&v->referred_lock);
    free(v->children);
    free(v->people);
}

/* Inserts a patient into the hospital's list, which is sorted. Patients arrive in any order, but they are
 * always treated in the same order. */
static void health_refer(struct village *to, struct patient *patient)
{
    omp_set_lock(&to->referred_lock);
    struct patient **place = &to->referred;
    while (*place != NULL && (*place)->id < patient->id)
        place = &(*place)->next;
    patient->next = *place;
    *place = patient;
    omp_unset_lock(&to->referred_lock);
}

static void health_admit(struct village *v, struct patient *patient)
{
    patient->hospitals++;
    if (v->free_doctors > 0) {
        v->free_doctors--;
        patient->days_left = ASSESS_DAYS;
        patient->days_ill += ASSESS_DAYS;
        health_list_append(&v->assessed, patient);
    } else {
        health_list_append(&v->waiting, patient);
    }
}

static void health_treat_convalescing(struct village *v)
{
    for (struct patient *next, *p = health_list_take(&v->convalescing); p != NULL; p = next) {
        next = p->next;
        if (--p->days_left > 0) {
            health_list_append(&v->convalescing, p);
            continue;
        }
        v->free_doctors++;
        health_list_append(&v->healthy, p);
    }
}

static void health_treat_assessed(struct village *v)
{
    for (struct patient *next, *p = health_list_take(&v->assessed); p != NULL; p = next) {
        next = p->next;
        if (--p->days_left > 0) {
            health_list_append(&v->assessed, p);
        } else if (!health_draw(p, CONVALESCE_PROBABILITY)) {
            v->free_doctors++;
            health_list_append(&v->healthy, p);
        } else if (v->parent != NULL && health_draw(p, REFER_PROBABILITY)) {
            v->free_doctors++;
            health_refer(v->parent, p);
        } else {
            p->days_left = CONVALESCE_DAYS;
            p->days_ill += CONVALESCE_DAYS;
            health_list_append(&v->convalescing, p);
        }
    }
}

static void health_treat_waiting(struct village *v)
{
    for (struct patient *next, *p = health_list_take(&v->waiting); p != NULL; p = next) {
        next = p->next;
        if (v->free_doctors > 0) {
            v->free_doctors--;
            p->days_left = ASSESS_DAYS;
            p->days_ill += ASSESS_DAYS;
            health_list_append(&v->assessed, p);
        } else {
            p->days_ill++;
            health_list_append(&v->waiting, p);
        }
    }
}

/* Treats the referred patients. The villages below must have finished the day, because they add patients to
 * the list. */
static void health_treat_referred(struct village *v)
{
    struct patient *p = v->referred;
    v->referred = NULL;
    for (struct patient *next; p != NULL; p = next) {
        next = p->next;
        health_admit(v, p);
    }
}

static void health_treat_healthy(struct village *v)
{
    for (struct patient *next, *p = health_list_take(&v->healthy); p != NULL; p = next) {
        next = p->next;
        if (health_draw(p, ILL_PROBABILITY))
            health_admit(v, p);
        else
            health_list_append(&v->healthy, p);
    }
}

/* Simulates one day of a village and of all villages below it. Villages up to the level `cutoff` create no
 * tasks for the villages below them. */
static void health_simulate_day(struct village *v, int cutoff)
{
    bool tasks = v->level > cutoff;
    for (int i = 0; i < v->child_count; i++) {
        struct village *child = &v->children[i];
        if (!tasks) {
            health_simulate_day(child, cutoff);
            continue;
        }
#pragma omp task firstprivate(child, cutoff)
        health_simulate_day(child, cutoff);
    }
    health_treat_convalescing(v);
    health_treat_assessed(v);
    health_treat_waiting(v);
    if (tasks) {
#pragma omp taskwait
    }
    health_treat_referred(v);
    health_treat_healthy(v);
}

/* Returns a hash of the final state of all people, and stores their number in *people. */
static uint64_t health_digest(const struct village *v, long *people)
{
    int count = (1 << v->level) * PEOPLE_PER_DOCTOR;
    uint64_t sum = kernel_hash((uint64_t)v->free_doctors);
    *people += count;
    for (int i = 0; i < count; i++) {
        const struct patient *p = &v->people[i];
        sum = kernel_hash(sum ^ p->random);
        sum = kernel_hash(sum ^ (uint64_t)p->days_left);
        sum = kernel_hash(sum ^ ((uint64_t)p->days_ill << 32 | (uint64_t)p->hospitals));
    }
    const struct list *lists[] = {&v->healthy, &v->waiting, &v->assessed, &v->convalescing};
    for (uint64_t i = 0; i < 4; i++)
        for (const struct patient *p = lists[i]->first; p != NULL; p = p->next)
            sum = kernel_hash(sum ^ (i << 32 | p->id));
    for (int i = 0; i < v->child_count; i++)
        sum = kernel_hash(sum ^ health_digest(&v->children[i], people));
    return sum;
}

/* Runs the whole simulation. If the cut-off is the top level, it runs sequentially. */
static uint64_t health_run(const struct config *config, int cutoff, double *seconds)
{
    struct village capital;
    uint32_t next_id = 0;
    long people = 0;
    health_village_init(&capital, NULL, config, config->levels, &next_id);
    double begin_s = kernel_clock_s();
    if (cutoff < config->levels) {
#pragma omp parallel
#pragma omp single
        for (int day = 0; day < config->days; day++)
            health_simulate_day(&capital, cutoff);
    } else {
        for (int day = 0; day < config->days; day++)
            health_simulate_day(&capital, cutoff);
    }
    *seconds = kernel_clock_s() - begin_s;
    uint64_t result = health_digest(&capital, &people);
    health_village_free(&capital);
    return people == next_id ? result : 0;
}

int main(int argc, char **argv)
{
    long levels = 4, cities = 10, days = 365, cutoff = 0;
    const struct kernel_arg args[] = {
        {"LEVELS", &levels, 2, LEVELS_MAX, "levels of the hierarchy", NULL},
        {"--cities", &cities, 1, 100, "villages below each village", NULL},
        {"--days", &days, 1, 100000, "days to simulate", NULL},
        {"--cutoff", &cutoff, 0, LEVELS_MAX - 1, "level (1: lowest) up to which villages make no tasks, 0: none", NULL},
        {0}};
    kernel_parse_args(argc, argv, "health", args);
    if (cutoff >= levels) {
        fprintf(stderr, "health: --cutoff %ld leaves no tasks with %ld levels\n", cutoff, levels);
        return KERNEL_USAGE;
    }
    struct config config = {(int)levels, (int)cities, (int)days};
    double seconds, sequential_s;
    uint64_t result = health_run(&config, (int)cutoff, &seconds);
    uint64_t expected = health_run(&config, (int)levels, &sequential_s);
    char size[32];
    return kernel_report("health", kernel_size_text(size, sizeof size, levels, "cutoff", cutoff), seconds,
                         result == expected);
}
