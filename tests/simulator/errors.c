#include "tests/simulator/errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulator/batch.h"
#include "tests/simulator/oracle.h"
#include "tests/simulator/stated.h"

/* One figure of one scenario. */
struct errors_figure {
    char name[FIGURE_NAME];
    enum figure_of of;
    uint32_t metric, runs, none, covered; /* none: number of runs in which no error is stated */
    double samples, stated, squares;      /* sums over the runs; squares: of the real errors */
};

struct errors_figures {
    struct errors_figure of[MAX_FIGURES];
    uint32_t count, failures;
};

/* Classes of figures by their number of samples. With few samples the share that is covered has steps. */
enum { ERRORS_MANY, ERRORS_SOME, ERRORS_FEW, ERRORS_CLASSES };

static const double least_samples[ERRORS_CLASSES] = {30, 5, 0};
static const char *const class_name[ERRORS_CLASSES] = {"30 samples or more", "5 to 30", "fewer"};

struct errors_line {
    char name[80];
    uint64_t none;
    struct {
        uint64_t runs, covered;
        double width, weight; /* stated error / (1.96 x real deviation), summed with weights, and their sum */
    } of[ERRORS_CLASSES];
};

#define ROUNDING_S   1e-6 /* a smaller error is none: the figure is exact in all runs */
#define ERRORS_LINES 2048u
static struct errors_line kinds[FIGURE_OF_COUNT][METRIC_COUNT], lines[ERRORS_LINES], detailed[ERRORS_LINES];
static uint32_t line_count, detailed_count;

static struct errors_figure *errors_figure_of(struct errors_figures *figures, const struct figure *figure)
{
    uint32_t number = 0;
    while (number < figures->count && strcmp(figures->of[number].name, figure->name) != 0)
        number++;
    struct errors_figure *found = &figures->of[number];
    if (number == figures->count && number < MAX_FIGURES - 1) {
        figures->count++;
        strcpy(found->name, figure->name);
        found->metric = figure->metric;
        found->of = figure->of;
    }
    return found;
}

void errors_take_run(uint64_t seed, const struct run *run, void *argument)
{
    struct errors_figures *figures = argument;
    (void)seed;
    figures->failures += run->failure[0] != '\0';
    for (uint32_t i = 0; i < run->figure_count; i++) {
        const struct figure *figure = &run->figures[i];
        struct errors_figure *sums = errors_figure_of(figures, figure);
        double error = figure->measured - figure->exact;
        sums->runs++;
        sums->samples += figure->samples;
        sums->none += !isfinite(figure->stated);
        sums->covered += isfinite(figure->stated) && fabs(error) <= figure->stated;
        sums->stated += figure->stated;
        sums->squares += error * error;
    }
}

static void add_to_line(struct errors_line *line, const struct errors_figure *figure)
{
    int class = ERRORS_MANY;
    while (figure->samples < least_samples[class] * figure->runs)
        class ++;
    line->none += figure->none;
    if (figure->none)
        return;
    line->of[class].runs += figure->runs;
    line->of[class].covered += figure->covered;
    double real = STATED_DEVIATIONS * sqrt(figure->squares / figure->runs);
    if (class == ERRORS_FEW || real < ROUNDING_S)
        return;
    line->of[class].width += figure->stated / real;
    line->of[class].weight += figure->runs;
}

static struct errors_line *detailed_of(const char *name)
{
    uint32_t number = 0;
    while (number < detailed_count && strcmp(detailed[number].name, name) != 0)
        number++;
    if (number == detailed_count && number < ERRORS_LINES - 1)
        snprintf(detailed[detailed_count++].name, sizeof(detailed->name), "%s", name);
    return &detailed[number];
}

static void name_kind(const struct errors_figure *figure, char *name, size_t bytes)
{
    static const char *const of_name[FIGURE_OF_COUNT] = {"total", "rows", "waiting places", "windows of time"};
    if (figure->of == FIGURE_WINDOW)
        snprintf(name, bytes, "all metrics, %s", of_name[figure->of]);
    else
        snprintf(name, bytes, "%s, %s", metric_name[figure->metric], of_name[figure->of]);
}

struct errors_figures *errors_begin(void)
{
    return calloc(1, sizeof(struct errors_figures));
}

bool errors_measure(const struct scenario *scenario, const struct claim_settings *settings)
{
    struct errors_figures *figures = errors_begin();
    struct batch batch = {.scenario = scenario,
                          .options = settings->options,
                          .first_seed = settings->first_seed,
                          .count = (settings->seeds * scenario->runs + 99) / 100,
                          .take = errors_take_run,
                          .argument = figures};
    batch_run(&batch);
    return errors_end(figures, scenario);
}

bool errors_end(struct errors_figures *figures, const struct scenario *scenario)
{
    struct errors_line *line = &lines[line_count < ERRORS_LINES - 1 ? line_count++ : line_count];
    snprintf(line->name, sizeof(line->name), "%s", scenario->name);
    for (uint32_t i = 0; i < figures->count; i++) {
        const struct errors_figure *figure = &figures->of[i];
        char name[64], both[80];
        name_kind(figure, name, sizeof(name));
        snprintf(both, sizeof(both), "%.24s: %.50s", scenario->name, name);
        struct errors_line *kind = &kinds[figure->of][figure->of == FIGURE_WINDOW ? 0 : figure->metric];
        snprintf(kind->name, sizeof(kind->name), "%s", name);
        add_to_line(kind, figure);
        add_to_line(line, figure);
        add_to_line(detailed_of(both), figure);
    }
    bool right = !figures->failures;
    if (!right)
        fprintf(stderr, "simulate: %s: %u runs are wrong\n", scenario->name, figures->failures);
    free(figures);
    return right;
}

static void errors_print_heading(const char *what)
{
    printf("\n| %s", what);
    for (int class = 0; class < ERRORS_CLASSES; class ++)
        printf(" | %s | covered%s", class_name[class], class == ERRORS_FEW ? "" : " | width");
    printf(" | none stated |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
}

static void errors_print_line(const struct errors_line *line)
{
    if (!line->name[0])
        return;
    printf("| %s |", line->name);
    for (int class = 0; class < ERRORS_CLASSES; class ++) {
        uint64_t runs = line->of[class].runs;
        if (runs)
            printf(" %lu | %.1f %% |", (unsigned long)runs, 100 * (double)line->of[class].covered / (double)runs);
        else
            printf(" | |");
        if (class != ERRORS_FEW && line->of[class].weight > 0)
            printf(" %.1f |", line->of[class].width / line->of[class].weight);
        else if (class != ERRORS_FEW)
            printf(" |");
    }
    printf(" %lu |\n", (unsigned long)line->none);
}

/* Of the figures of 30 samples or more in all scenarios: least and most share that is covered, in %, and the width at
 * most. errors.md says what these are. */
static const struct {
    enum figure_of of;
    uint32_t metric;
    double least, most, width;
} promised[] = {
    {FIGURE_TOTAL, METRIC_WORK, 95, 98.5, 1.4},        {FIGURE_TOTAL, METRIC_LOCK_HERE, 95, 99.5, 1.8},
    {FIGURE_TOTAL, METRIC_LOCK_WAIT, 95, 99.1, 1.4},   {FIGURE_TOTAL, METRIC_SHARED_IDLE, 95, 98.5, 1.4},
    {FIGURE_TOTAL, METRIC_THREAD_IDLE, 95, 98.5, 1.4}, {FIGURE_TOTAL, METRIC_CORE_IDLE, 95, 99.5, 1.9},
    {FIGURE_TOTAL, METRIC_NO_CORE, 95, 99.2, 1.5},     {FIGURE_TOTAL, METRIC_BLOCKED, 96, 99.9, 2.4},
    {FIGURE_TOTAL, METRIC_MPI_WAIT, 95, 99.4, 1.5},    {FIGURE_ROW, METRIC_WORK, 96, 99.2, 1.5},
    {FIGURE_ROW, METRIC_LOCK_HERE, 95, 99.5, 1.9},     {FIGURE_ROW, METRIC_LOCK_WAIT, 96, 99, 1.6},
    {FIGURE_ROW, METRIC_SHARED_IDLE, 95, 98.8, 1.4},   {FIGURE_ROW, METRIC_THREAD_IDLE, 96, 99.4, 2},
    {FIGURE_ROW, METRIC_CORE_IDLE, 97, 99.7, 2.6},     {FIGURE_ROW, METRIC_NO_CORE, 96, 99.3, 1.6},
    {FIGURE_ROW, METRIC_BLOCKED, 97, 99.9, 2.6},       {FIGURE_ROW, METRIC_MPI_WAIT, 95, 99.5, 1.5},
};

bool errors_claim(void)
{
    bool all = true;
    for (size_t i = 0; i < sizeof(promised) / sizeof(*promised); i++) {
        const struct errors_line *line = &kinds[promised[i].of][promised[i].metric];
        double runs = (double)line->of[ERRORS_MANY].runs, covered = 100 * (double)line->of[ERRORS_MANY].covered / runs;
        double width = line->of[ERRORS_MANY].width / line->of[ERRORS_MANY].weight;
        bool holds = covered >= promised[i].least && covered <= promised[i].most && width <= promised[i].width;
        printf("%s  stated errors, %s: %.1f %% of %.0f cover the real ones (%.1f to %.1f), width %.2f (at most %.2f)\n",
               holds ? "passed" : "FAILED", line->name, covered, runs, promised[i].least, promised[i].most, width,
               promised[i].width);
        all = all && holds;
    }
    return all;
}

void errors_print(bool figures, uint64_t seeds)
{
    printf("# Stated and real errors\n\n"
           "`make simulate-errors` writes this page. It runs each of the simulator's scenarios at 200 samples/s with "
           "%lu seeds, or\n"
           "fewer if the scenario is large.\n\n"
           "* *Covered* is the share of the figures whose stated error (±) is at least as large as the real error. 95 "
           "%% would be\n"
           "  ideal.\n"
           "* *Width* is the stated error divided by 1.96 standard deviations of the real error, on average over the "
           "figures. 1 would be\n"
           "  ideal.\n"
           "* The figures are grouped by their number of samples: the exact value divided by the most that a sample "
           "adds. With\n"
           "  few samples only some values are possible, so their share cannot be 95 %%.\n"
           "* *None stated* is the number of figures for which reports state no error.\n",
           (unsigned long)seeds);
    errors_print_heading("kind of figure");
    for (uint32_t i = 0; i < FIGURE_OF_COUNT * METRIC_COUNT; i++)
        errors_print_line(&kinds[i / METRIC_COUNT][i % METRIC_COUNT]);
    errors_print_heading("scenario");
    for (uint32_t i = 0; i < (figures ? detailed_count : line_count); i++)
        errors_print_line(figures ? &detailed[i] : &lines[i]);
}
