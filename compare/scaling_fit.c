#include "compare/scaling_fit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "compare/statistics.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define TRIALS     2000 /* quantities that do not grow */
#define ONE_OF     20
#define SMALL      0.1
#define EXPONENTS  10
#define LOGARITHMS 3

static const struct {
    double value;
    const char *text;
} exponent[EXPONENTS] = {{0, ""},        {0.25, "^(1/4)"}, {1.0 / 3, "^(1/3)"}, {0.5, "^(1/2)"}, {2.0 / 3, "^(2/3)"},
                         {0.75, "^(3/4)"}, {1, ""},          {1.5, "^(3/2)"},     {2, "^2"},       {3, "^3"}};

static double term_of(size_t form, double p)
{
    double logarithm = log2(p);
    return pow(p, exponent[form / LOGARITHMS].value) * (form % LOGARITHMS == 0 ? 1 : form % LOGARITHMS == 1 ? logarithm : logarithm * logarithm);
}

static size_t count_distinct(const double *p, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known |= p[j] == p[i];
        distinct += !known;
    }
    return distinct;
}

/* The line through the values over a form's term. */
struct line {
    double slope, mean, squares; /* the latter two of the term */
    double explained;            /* of the squares of the values */
};

static double mean_of(const double *value, const double *weight, size_t count)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < count; i++) {
        sum += weight[i] * value[i];
        weights += weight[i];
    }
    return sum / weights;
}

static double squares_of(const double *value, const double *weight, size_t count, double mean)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += weight[i] * (value[i] - mean) * (value[i] - mean);
    return squares;
}

static struct line line_of(const struct scaling_design *design, const double *value, const double *weight, double mean, size_t form)
{
    const double *term = design->term[form];
    struct line line = {.mean = mean_of(term, weight, design->count)};
    double product = 0;
    line.squares = squares_of(term, weight, design->count, line.mean);
    for (size_t i = 0; i < design->count; i++)
        product += weight[i] * (term[i] - line.mean) * (value[i] - mean);
    line.slope = line.squares > 0 ? product / line.squares : 0;
    line.explained = line.slope * product;
    return line;
}

static size_t best_form(const struct scaling_design *design, const double *value, const double *weight, double mean, double *explained)
{
    size_t best = 0;
    *explained = 0;
    for (size_t form = 1; form < SCALING_FORMS; form++) {
        double by = line_of(design, value, weight, mean, form).explained;
        if (by > *explained) {
            *explained = by;
            best = form;
        }
    }
    return best;
}

/* Normal, by Box and Muller; the same numbers in each run of the command. */
static double next_noise(uint64_t *state)
{
    double uniform[2];
    for (int i = 0; i < 2; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        uniform[i] = ((double)(*state >> 33) + 0.5) / 2147483648.0;
    }
    return sqrt(-2 * log(uniform[0])) * cos(2 * M_PI * uniform[1]);
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* By trial: the forms resemble one another, no table has it. */
static double chance_of(const struct scaling_design *design)
{
    double *part = memory_array(TRIALS, sizeof *part), value[design->count], weight[design->count];
    uint64_t state = 1;
    for (size_t i = 0; i < design->count; i++)
        weight[i] = 1;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < design->count; i++)
            value[i] = next_noise(&state);
        double mean = mean_of(value, weight, design->count), explained;
        best_form(design, value, weight, mean, &explained);
        part[trial] = explained / squares_of(value, weight, design->count, mean);
    }
    qsort(part, TRIALS, sizeof *part, compare_numbers);
    double chance = part[TRIALS - TRIALS / ONE_OF];
    free(part);
    return chance;
}

bool scaling_design_begin(struct scaling_design *design, const double *p, size_t count)
{
    *design = (struct scaling_design){.count = count, .distinct = count_distinct(p, count)};
    if (design->distinct < 3)
        return false;
    for (size_t form = 1; form < SCALING_FORMS; form++) {
        design->term[form] = memory_array(count, sizeof **design->term);
        for (size_t i = 0; i < count; i++)
            design->term[form][i] = term_of(form, p[i]);
    }
    design->chance = chance_of(design);
    return true;
}

void scaling_design_end(struct scaling_design *design)
{
    for (size_t form = 1; form < SCALING_FORMS; form++)
        free(design->term[form]);
    *design = (struct scaling_design){0};
}

/* Of a, b and the choice among forms, which is a parameter as well. */
static size_t freedom_of(const struct scaling_design *design)
{
    return design->count > 3 ? design->count - 3 : 1;
}

/* Takes the form's value at that p, and the interval of its mean, into the limits. rest: the squares that the line leaves. */
static void widen(struct scaling_fit *fit, const struct scaling_design *design, const double *weight, double mean, const struct line *line, size_t form,
                  double rest, double at_p)
{
    size_t freedom = form ? freedom_of(design) : design->count - 1;
    double away = form ? term_of(form, at_p) - line->mean : 0, at = mean + line->slope * away, weights = 0;
    for (size_t i = 0; i < design->count; i++)
        weights += weight[i];
    double half = statistics_student(freedom) * sqrt(rest / (double)freedom * (1 / weights + (form ? away * away / line->squares : 0)));
    if (form == fit->form) {
        fit->a = mean - line->slope * line->mean;
        fit->b = line->slope;
        fit->at = at;
    }
    fit->low = fmin(fit->low, at - half);
    fit->high = fmax(fit->high, at + half);
}

/* Runs scatter by a part of their value rather than by seconds; what is small scatters as a part of the mean. */
static void weigh(const struct scaling_design *design, const double *value, double *weight)
{
    double sum = 0;
    for (size_t i = 0; i < design->count; i++)
        sum += fabs(value[i]);
    double mean = sum / (double)design->count;
    for (size_t i = 0; i < design->count; i++) {
        double scatter = mean > 0 ? fmax(fabs(value[i]), SMALL * mean) / mean : 1;
        weight[i] = 1 / (scatter * scatter);
    }
}

struct scaling_fit scaling_fit_of(const struct scaling_design *design, const double *value, double at_p)
{
    double weight[design->count], explained;
    weigh(design, value, weight);
    double mean = mean_of(value, weight, design->count), squares = squares_of(value, weight, design->count, mean);
    size_t best = best_form(design, value, weight, mean, &explained), freedom = freedom_of(design);
    struct scaling_fit fit = {.explained = squares > 0 ? explained / squares : 0, .low = INFINITY, .high = -INFINITY};
    double least = 1e-12 * (squares + mean * mean); /* what rounding leaves of values that lie on a curve */
    if (squares > least && fit.explained > design->chance)
        fit.form = best;
    double best_rest = fmax(squares - explained, least), t = statistics_student(freedom);
    double most_rest = best_rest * (1 + t * t / (double)freedom); /* F's 95 %, as between a form and one of a parameter more */
    for (size_t form = 0; form < SCALING_FORMS; form++) {
        struct line line = form ? line_of(design, value, weight, mean, form) : (struct line){0};
        double rest = fmax(squares - line.explained, least);
        if (form != fit.form && (rest > most_rest || (form && line.squares <= 0)))
            continue;
        fit.allowed++;
        widen(&fit, design, weight, mean, &line, form, rest, at_p);
    }
    return fit;
}

static char *coefficient(double value)
{
    char *text = memory_text("%.3g", value);
    for (char *point = text; *point; point++)
        if (*point == ',')
            *point = '.'; /* whatever the locale */
    return text;
}

char *scaling_fit_text(const struct scaling_fit *fit, const char *p)
{
    size_t power = fit->form / LOGARITHMS, logarithm = fit->form % LOGARITHMS;
    char *a = coefficient(fit->a), *b = coefficient(fabs(fit->b)), *text;
    if (!fit->form)
        text = memory_text("%s", a);
    else
        text = memory_text("%s %c %s%s%s%s%s%s", a, fit->b < 0 ? '-' : '+', b, power ? " " : "", power ? p : "", exponent[power].text,
                           logarithm == 0 ? "" : logarithm == 1 ? " log " : " log^2 ", logarithm ? p : "");
    free(a);
    free(b);
    return text;
}
