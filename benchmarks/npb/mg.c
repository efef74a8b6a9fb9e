/* MG, modelled on the NAS Parallel Benchmarks: solves the Poisson equation on a periodic cube by V-cycles of
 * a multigrid method. Each operator on each level of the grid is a parallel region. A region takes
 * milliseconds on the finest grid and microseconds on the coarsest. */
#include <math.h>

#include "../kernel.h"
#include "npb_random.h"

#define SEED       UINT64_C(314159265)
#define ITERATIONS 4
#define LEVELS_MAX 8
#define CHARGES    10 /* number of positive charges, and of negative charges */
#define SIDE_MAX   ((1 << LEVELS_MAX) + 2)

struct problem {
    int levels; /* number of grids; the finest one has 2^levels cells on each side */
    double norm;
};

static const struct problem problems[] = {
    {5, 0.5307707005734e-04},
    {7, 0.6467329375339e-05},
    {8, 0.2433365309069e-05},
};

/* Coefficients of a stencil, by distance: those of the cell itself, and of its neighbours at a face, an edge
 * and a corner. */
static const double operator_a[] = {-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0};
static const double smoother_c[] = {-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0};

/* A cube of cells with a layer of ghost cells around it. In each direction, the cells 1 .. side - 2 are real. */
struct grid {
    int side;
    double *cell;
};

struct solver {
    int levels;
    struct grid v, u[LEVELS_MAX + 1], r[LEVELS_MAX + 1];
};

static inline double *mg_line(const struct grid *g, int k, int j)
{
    return g->cell + ((size_t)k * g->side + j) * g->side;
}

/* Fills the ghost cells of plane k, which are copies of cells in the same plane. */
static void mg_wrap_plane(const struct grid *g, int k)
{
    int last = g->side - 1;
    for (int j = 1; j < last; j++) {
        double *row = mg_line(g, k, j);
        row[0] = row[last - 1];
        row[last] = row[1];
    }
    memcpy(mg_line(g, k, 0), mg_line(g, k, last - 1), (size_t)g->side * sizeof(double));
    memcpy(mg_line(g, k, last), mg_line(g, k, 1), (size_t)g->side * sizeof(double));
}

/* Fills the two planes of ghost cells. All threads of a team must call it, after they have completed the
 * other planes. */
static void mg_wrap_ends(const struct grid *g)
{
    int last = g->side - 1;
#pragma omp for
    for (int j = 0; j < g->side; j++) {
        memcpy(mg_line(g, 0, j), mg_line(g, last - 1, j), (size_t)g->side * sizeof(double));
        memcpy(mg_line(g, last, j), mg_line(g, 1, j), (size_t)g->side * sizeof(double));
    }
}

/* Computes two sums for each cell of line (k, j): one over the four neighbouring lines at distance 1, one
 * over the four lines at distance sqrt 2. The two sums and the line itself cover all 27 points of the
 * stencil. */
static inline void mg_sum_around(const struct grid *g, int k, int j, double *restrict near, double *restrict far)
{
    const double *south = mg_line(g, k, j - 1), *north = mg_line(g, k, j + 1);
    const double *below = mg_line(g, k - 1, j), *above = mg_line(g, k + 1, j);
    const double *below_south = mg_line(g, k - 1, j - 1), *below_north = mg_line(g, k - 1, j + 1);
    const double *above_south = mg_line(g, k + 1, j - 1), *above_north = mg_line(g, k + 1, j + 1);
    for (int i = 0; i < g->side; i++) {
        near[i] = south[i] + north[i] + below[i] + above[i];
        far[i] = below_south[i] + below_north[i] + above_south[i] + above_north[i];
    }
}

/* Computes r = v - A u. `r` and `v` may be the same grid, because each cell is read before it is written. */
static void mg_compute_residual(const struct grid *u, const struct grid *v, const struct grid *r)
{
    int last = u->side - 1;
#pragma omp parallel
    {
        double near[SIDE_MAX], far[SIDE_MAX];
#pragma omp for
        for (int k = 1; k < last; k++) {
            for (int j = 1; j < last; j++) {
                const double *from = mg_line(u, k, j), *right = mg_line(v, k, j);
                double *to = mg_line(r, k, j);
                mg_sum_around(u, k, j, near, far);
                /* operator_a[1] is zero */
                for (int i = 1; i < last; i++)
                    to[i] = right[i] - operator_a[0] * from[i] - operator_a[2] * (far[i] + near[i - 1] + near[i + 1]) -
                            operator_a[3] * (far[i - 1] + far[i + 1]);
            }
            mg_wrap_plane(r, k);
        }
        mg_wrap_ends(r);
    }
}

/* Computes u = u + C r. */
static void mg_smooth(const struct grid *r, const struct grid *u)
{
    int last = u->side - 1;
#pragma omp parallel
    {
        double near[SIDE_MAX], far[SIDE_MAX];
#pragma omp for
        for (int k = 1; k < last; k++) {
            for (int j = 1; j < last; j++) {
                const double *from = mg_line(r, k, j);
                double *to = mg_line(u, k, j);
                mg_sum_around(r, k, j, near, far);
                /* smoother_c[3] is zero */
                for (int i = 1; i < last; i++)
                    to[i] += smoother_c[0] * from[i] + smoother_c[1] * (from[i - 1] + from[i + 1] + near[i]) +
                             smoother_c[2] * (far[i] + near[i - 1] + near[i + 1]);
            }
            mg_wrap_plane(u, k);
        }
        mg_wrap_ends(u);
    }
}

/* Restricts the fine grid to the coarse one by full weighting. Cell c of the coarse grid is at cell 2c of the
 * fine one. */
static void mg_restrict_to(const struct grid *fine, const struct grid *coarse)
{
    int last = coarse->side - 1;
#pragma omp parallel
    {
        double near[SIDE_MAX], far[SIDE_MAX];
#pragma omp for
        for (int k = 1; k < last; k++) {
            for (int j = 1; j < last; j++) {
                const double *from = mg_line(fine, 2 * k, 2 * j);
                double *to = mg_line(coarse, k, j);
                mg_sum_around(fine, 2 * k, 2 * j, near, far);
                for (int c = 1; c < last; c++) {
                    int i = 2 * c;
                    to[c] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1] + near[i]) +
                            0.125 * (far[i] + near[i - 1] + near[i + 1]) + 0.0625 * (far[i - 1] + far[i + 1]);
                }
            }
            mg_wrap_plane(coarse, k);
        }
        mg_wrap_ends(coarse);
    }
}

/* Adds a coarse line to a fine line. The coarse line is the mean of up to four lines. */
static inline void mg_add_line(const double *restrict mean, int coarse_side, double *restrict fine)
{
    for (int c = 0; c < coarse_side - 1; c++) {
        fine[2 * c] += mean[c];
        fine[2 * c + 1] += 0.5 * (mean[c] + mean[c + 1]);
    }
}

/* Adds the trilinear interpolation of the coarse grid to the fine grid and to its ghost cells. */
static void mg_interpolate_to(const struct grid *coarse, const struct grid *fine)
{
    int side = coarse->side;
#pragma omp parallel for
    for (int k = 0; k < side - 1; k++) {
        double mean[SIDE_MAX];
        for (int j = 0; j < side - 1; j++) {
            const double *here = mg_line(coarse, k, j), *north = mg_line(coarse, k, j + 1);
            const double *above = mg_line(coarse, k + 1, j), *above_north = mg_line(coarse, k + 1, j + 1);
            mg_add_line(here, side, mg_line(fine, 2 * k, 2 * j));
            for (int c = 0; c < side; c++)
                mean[c] = 0.5 * (here[c] + north[c]);
            mg_add_line(mean, side, mg_line(fine, 2 * k, 2 * j + 1));
            for (int c = 0; c < side; c++)
                mean[c] = 0.5 * (here[c] + above[c]);
            mg_add_line(mean, side, mg_line(fine, 2 * k + 1, 2 * j));
            for (int c = 0; c < side; c++)
                mean[c] = 0.25 * (here[c] + north[c] + above[c] + above_north[c]);
            mg_add_line(mean, side, mg_line(fine, 2 * k + 1, 2 * j + 1));
        }
    }
}

static void mg_set_zero(const struct grid *g)
{
#pragma omp parallel for
    for (int k = 0; k < g->side; k++)
        memset(mg_line(g, k, 0), 0, (size_t)g->side * g->side * sizeof(double));
}

static double mg_norm(const struct grid *g)
{
    int last = g->side - 1;
    double sum = 0.0, cells = pow(last - 1, 3);
#pragma omp parallel for reduction(+ : sum)
    for (int k = 1; k < last; k++)
        for (int j = 1; j < last; j++) {
            const double *row = mg_line(g, k, j);
            for (int i = 1; i < last; i++)
                sum += row[i] * row[i];
        }
    return sqrt(sum / cells);
}

static void mg_run_cycle(const struct solver *s)
{
    for (int level = s->levels; level > 1; level--)
        mg_restrict_to(&s->r[level], &s->r[level - 1]);
    mg_set_zero(&s->u[1]);
    mg_smooth(&s->r[1], &s->u[1]);
    for (int level = 2; level <= s->levels; level++) {
        bool finest = level == s->levels;
        if (!finest)
            mg_set_zero(&s->u[level]);
        mg_interpolate_to(&s->u[level - 1], &s->u[level]);
        mg_compute_residual(&s->u[level], finest ? &s->v : &s->r[level], &s->r[level]);
        mg_smooth(&s->r[level], &s->u[level]);
    }
}

/* The most extreme numbers found so far; the least extreme of them comes first. They are the largest numbers
 * if `sign` is +1, and the smallest if it is -1. */
struct extremes {
    double sign;
    double value[CHARGES];
    size_t at[CHARGES];
};

static inline void mg_note_extreme(struct extremes *e, double value, size_t at)
{
    value *= e->sign;
    if (value <= e->value[0])
        return;
    int place = 0;
    for (; place + 1 < CHARGES && e->value[place + 1] < value; place++) {
        e->value[place] = e->value[place + 1];
        e->at[place] = e->at[place + 1];
    }
    e->value[place] = value;
    e->at[place] = at;
}

static struct extremes mg_new_extremes(double sign)
{
    struct extremes e = {.sign = sign};
    for (int i = 0; i < CHARGES; i++)
        e.value[i] = -HUGE_VAL;
    return e;
}

static void mg_merge_extremes(struct extremes *into, const struct extremes *from)
{
    for (int i = 0; i < CHARGES; i++)
        mg_note_extreme(into, from->sign * from->value[i], from->at[i]);
}

/* Sets the right-hand side of the equation. It is +1 in the ten cells with the largest values of a random
 * field, and -1 in the ten with the smallest. */
static void mg_set_charges(const struct grid *v)
{
    int size = v->side - 2, last = v->side - 1;
    struct extremes high = mg_new_extremes(1.0), low = mg_new_extremes(-1.0);
    mg_set_zero(v);
#pragma omp parallel
    {
        struct extremes my_high = mg_new_extremes(1.0), my_low = mg_new_extremes(-1.0);
#pragma omp for
        for (int k = 1; k < last; k++) {
            uint64_t state = npb_random_skip(SEED, (uint64_t)(k - 1) * size * size);
            for (int j = 1; j < last; j++)
                for (int i = 1; i < last; i++) {
                    double value = npb_random_next(&state);
                    size_t at = (size_t)(mg_line(v, k, j) + i - v->cell);
                    mg_note_extreme(&my_high, value, at);
                    mg_note_extreme(&my_low, value, at);
                }
        }
#pragma omp critical(mg_extremes)
        {
            mg_merge_extremes(&high, &my_high);
            mg_merge_extremes(&low, &my_low);
        }
    }
    for (int i = 0; i < CHARGES; i++) {
        v->cell[high.at[i]] = 1.0;
        v->cell[low.at[i]] = -1.0;
    }
    for (int k = 1; k < last; k++)
        mg_wrap_plane(v, k);
#pragma omp parallel
    mg_wrap_ends(v);
}

/* Runs the timed part, which starts with u = 0. Returns the norm of the residual. */
static double mg_solve(const struct solver *s)
{
    const struct grid *u = &s->u[s->levels], *r = &s->r[s->levels];
    mg_compute_residual(u, &s->v, r);
    for (int i = 0; i < ITERATIONS; i++) {
        mg_run_cycle(s);
        mg_compute_residual(u, &s->v, r);
    }
    return mg_norm(r);
}

static bool mg_is_verified(const struct problem *problem, double result)
{
    if (fabs(result / problem->norm - 1.0) <= 1e-8)
        return true;
    fprintf(stderr, "mg: norm %.13e, expected %.13e\n", result, problem->norm);
    return false;
}

static struct grid mg_new_grid(int level)
{
    int side = (1 << level) + 2;
    return (struct grid){side, kernel_alloc((size_t)side * side * side, sizeof(double))};
}

int main(int argc, char **argv)
{
    struct kernel_class class = kernel_parse_class(argc, argv, "mg");
    const struct problem *problem = &problems[class.index];
    struct solver s = {.levels = problem->levels, .v = mg_new_grid(problem->levels)};
    for (int level = 1; level <= s.levels; level++) {
        s.u[level] = mg_new_grid(level);
        s.r[level] = mg_new_grid(level);
    }
    double seconds = 0.0;
    bool verified = true;
    mg_set_charges(&s.v);
    /* as the benchmark prescribes, one cycle that is not timed touches all data */
    mg_compute_residual(&s.u[s.levels], &s.v, &s.r[s.levels]);
    mg_run_cycle(&s);

    for (long i = 0; i < class.repeat; i++) {
        mg_set_zero(&s.u[s.levels]);
        double begin_s = kernel_clock_s();
        double result = mg_solve(&s);
        seconds += kernel_clock_s() - begin_s;
        verified = verified && mg_is_verified(problem, result);
    }

    free(s.v.cell);
    for (int level = 1; level <= s.levels; level++) {
        free(s.u[level].cell);
        free(s.r[level].cell);
    }
    return kernel_report("mg", class.text, seconds, verified);
}
