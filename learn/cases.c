#include "learn/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/statistics.h"
#include "learn/chance.h"
#include "report/text/memory.h"

#define NORMAL_OF_MEDIAN 1.4826   /* standard deviations in the median distance of normal values */
#define MEDIAN_VARIANCE  1.570796 /* of medians, against that of means: pi / 2 */
#define MEDIAN_FREEDOM   0.37     /* what a spread from medians knows of one from squares */

void facts_say(struct learn_facts *facts, const char *name, const char *text, double number)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->item[i].name, name) == 0) {
            facts->item[i].doubtful |= strcmp(facts->item[i].text, text) != 0;
            return;
        }
    memory_grow(&facts->item, &facts->room, facts->count, sizeof *facts->item);
    facts->item[facts->count++] = (struct learn_fact){memory_text("%s", name), memory_text("%s", text), number, false};
}

const struct learn_fact *facts_find(const struct learn_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->item[i].name, name) == 0)
            return facts->item[i].doubtful ? NULL : &facts->item[i];
    return NULL;
}

void facts_end(struct learn_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->item[i].name);
        free(facts->item[i].text);
    }
    free(facts->item);
    *facts = (struct learn_facts){0};
}

/* The last ones first: a search's trials follow each other. */
struct learn_case *cases_put(struct learn_cases *cases, const char *key, const char *application)
{
    for (size_t i = cases->count; i-- > 0;)
        if (strcmp(cases->item[i].key, key) == 0)
            return &cases->item[i];
    memory_grow(&cases->item, &cases->room, cases->count, sizeof *cases->item);
    struct learn_case *new = &cases->item[cases->count++];
    *new = (struct learn_case){.key = memory_text("%s", key), .application = memory_text("%s", application)};
    return new;
}

size_t cases_dimension(struct learn_cases *cases, const char *name)
{
    for (size_t i = 0; i < cases->dimensions; i++)
        if (strcmp(cases->dimension[i].name, name) == 0)
            return i;
    memory_grow(&cases->dimension, &cases->dimension_room, cases->dimensions, sizeof *cases->dimension);
    cases->dimension[cases->dimensions] = (struct learn_dimension){.name = memory_text("%s", name)};
    words_put(&cases->dimension[cases->dimensions].values, LEARN_DEFAULT);
    return cases->dimensions++;
}

static struct learn_setting *find_setting(const struct learn_case *of, const int *value, size_t dimensions)
{
    for (size_t i = 0; i < of->count; i++) {
        bool same = true;
        for (size_t j = 0; same && j < dimensions; j++)
            same = of->setting[i].value[j] == value[j];
        if (same)
            return &of->setting[i];
    }
    return NULL;
}

void case_add_run(struct learn_case *of, const int *value, size_t dimensions, double seconds, bool profiled)
{
    struct learn_setting *setting = find_setting(of, value, dimensions);
    if (!setting) {
        memory_grow(&of->setting, &of->room, of->count, sizeof *of->setting);
        setting = &of->setting[of->count++];
        *setting = (struct learn_setting){.value = memory_array(dimensions + 1, sizeof *setting->value), .profiled = profiled};
        memcpy(setting->value, value, dimensions * sizeof *value);
    }
    if (profiled && !setting->profiled)
        return;
    if (!profiled && setting->profiled)
        setting->runs = 0;
    setting->profiled = profiled;
    memory_grow(&setting->seconds, &setting->room, setting->runs, sizeof *setting->seconds);
    setting->seconds[setting->runs++] = seconds;
}

/* ---- which setting is best, beyond chance ---- */

/* Sorts them. */
static double median_of(double *value, size_t count)
{
    return count ? statistics_median(value, count) : 0;
}

/* By medians: a run that was disturbed takes twice as long, and one among few would decide. How far a setting's runs lie from their median tells the
 * spread, all settings' together; the one that is the median itself says nothing of it. */
static void measure(struct learn_case *of)
{
    size_t runs = 0, distances = 0;
    of->freedom = 0;
    for (size_t i = 0; i < of->count; i++)
        runs += of->setting[i].runs;
    double *distance = memory_array(runs + 1, sizeof *distance);
    for (size_t i = 0; i < of->count; i++) {
        struct learn_setting *setting = &of->setting[i];
        size_t first = distances, nearest = distances;
        setting->typical = median_of(setting->seconds, setting->runs);
        for (size_t j = 0; j < setting->runs; j++) {
            distance[distances++] = fabs(log(setting->seconds[j] / setting->typical));
            nearest = distance[distances - 1] < distance[nearest] ? distances - 1 : nearest;
        }
        if (distances > first)
            distance[nearest] = distance[--distances];
        of->freedom += setting->runs - 1;
    }
    of->spread = NORMAL_OF_MEDIAN * median_of(distance, distances);
    free(distance);
}

static double variance_of_median(const struct learn_setting *setting)
{
    return (setting->runs > 2 ? MEDIAN_VARIANCE : 1) / (double)setting->runs;
}

/* Comparisons with a control (Dunnett's), of logarithms, with the spread of all settings together, by Bonferroni's bound. Where nothing was run twice
 * nothing is known of chance. */
static bool is_better(const struct learn_case *of, const struct learn_setting *left, const struct learn_setting *right)
{
    double difference = log(right->typical / left->typical), error = of->spread * sqrt(variance_of_median(left) + variance_of_median(right));
    if (!of->freedom || difference <= 0 || of->count < 2)
        return false;
    return error <= 0 || chance_student_tail(difference / error, fmax(MEDIAN_FREEDOM * (double)of->freedom, 1)) <= LEARN_LEVEL / (double)(of->count - 1);
}

/* From the fastest one on, each value that is not there for a reason beyond chance goes, where the setting without it was tried. */
static struct learn_setting *simplify(const struct learn_case *of, struct learn_setting *best, size_t dimensions)
{
    int *without = memory_array(dimensions + 1, sizeof *without);
    for (size_t i = 0; i < dimensions; i++) {
        memcpy(without, best->value, dimensions * sizeof *without);
        without[i] = 0;
        struct learn_setting *twin = best->value[i] ? find_setting(of, without, dimensions) : NULL;
        best = twin && !is_better(of, best, twin) ? twin : best;
    }
    free(without);
    return best;
}

static void judge(struct learn_case *of, size_t dimensions)
{
    int *value = memory_array(dimensions + 1, sizeof *value);
    struct learn_setting *usual = find_setting(of, value, dimensions), *best = usual;
    measure(of);
    for (size_t i = 0; usual && i < of->count; i++)
        best = of->setting[i].typical < best->typical ? &of->setting[i] : best;
    if (usual && is_better(of, best, usual)) {
        best = simplify(of, best, dimensions);
        best = is_better(of, best, usual) ? best : usual;
    } else
        best = usual;
    of->chosen = best ? (size_t)(best - of->setting) : 0;
    of->best = best ? best->value : NULL;
    free(value);
}

void cases_judge(struct learn_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        judge(&cases->item[i], cases->dimensions);
}

double case_seconds(const struct learn_case *of, const int *value, size_t dimensions, bool *tried)
{
    size_t most = 0;
    double slowest = 0;
    for (size_t i = 0; i < of->count; i++) {
        size_t alike = 0;
        for (size_t j = 0; j < dimensions; j++)
            alike += of->setting[i].value[j] == value[j];
        if (alike > most || (alike == most && of->setting[i].typical > slowest)) {
            most = alike;
            slowest = of->setting[i].typical;
        }
    }
    *tried = most == dimensions;
    return slowest;
}

void cases_free(struct learn_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        struct learn_case *of = &cases->item[i];
        for (size_t j = 0; j < of->count; j++) {
            free(of->setting[j].value);
            free(of->setting[j].seconds);
        }
        facts_end(&of->facts);
        free(of->setting);
        free(of->key);
        free(of->application);
    }
    for (size_t i = 0; i < cases->dimensions; i++) {
        free(cases->dimension[i].name);
        words_free(&cases->dimension[i].values);
    }
    free(cases->item);
    free(cases->dimension);
    *cases = (struct learn_cases){0};
}
