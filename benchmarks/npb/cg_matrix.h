/* The problem that CG of the NAS Parallel Benchmarks solves: its classes, and its sparse random matrix. */
#ifndef BENCHMARKS_NPB_CG_MATRIX_H
#define BENCHMARKS_NPB_CG_MATRIX_H

#include <math.h>

#include "../kernel.h"
#include "npb_random.h"

#define SEED              UINT64_C(314159265)
#define CONDITION         0.1 /* reciprocal of the matrix's condition number */
#define SOLVER_ITERATIONS 25
#define OUTER_ITERATIONS  15

struct problem {
    int order, nonzeros;
    double shift, zeta;
};

static const struct problem problems[] = {
    {1400, 7, 10.0, 8.5971775078648},
    {7000, 8, 12.0, 10.362595087124},
    {14000, 11, 20.0, 17.130235054029},
};

/* The n sparse vectors x[i]. The matrix is the weighted sum of their outer products. Vector i is stored at i
 * * stride. */
struct sparse_vectors {
    int stride;
    int *count, *index;
    double *value;
};

/* Compressed rows. */
struct matrix {
    int order;
    int *row_begin, *column;
    double *value;
};

static bool cg_contains(const int *index, int count, int wanted)
{
    for (int i = 0; i < count; i++)
        if (index[i] == wanted)
            return true;
    return false;
}

static struct sparse_vectors cg_make_vectors(const struct problem *problem)
{
    int order = problem->order, stride = problem->nonzeros + 1, power = 1;
    struct sparse_vectors v = {stride, kernel_alloc(order, sizeof(int)),
                               kernel_alloc((size_t)order * stride, sizeof(int)),
                               kernel_alloc((size_t)order * stride, sizeof(double))};
    while (power < order)
        power *= 2;
    /* NPB's main program draws one number before it makes the matrix */
    uint64_t state = npb_random_skip(SEED, 1);
    for (int row = 0; row < order; row++) {
        int *index = v.index + (size_t)row * stride, count = 0;
        double *value = v.value + (size_t)row * stride;
        while (count < problem->nonzeros) {
            double element = npb_random_next(&state);
            int position = (int)(power * npb_random_next(&state));
            if (position >= order || cg_contains(index, count, position))
                continue;
            index[count] = position;
            value[count++] = element;
        }
        int diagonal = 0;
        while (diagonal < count && index[diagonal] != row)
            diagonal++;
        index[diagonal] = row;
        value[diagonal] = 0.5;
        v.count[row] = diagonal == count ? count + 1 : count;
    }
    return v;
}

/* For each row of the matrix, finds the vectors that have an element in it. The list for `row` starts at
 * users[begin[row]], and contains positions in v->index. */
static int *cg_make_users(const struct sparse_vectors *v, int order, int *begin)
{
    for (int i = 0; i < order; i++)
        for (int k = 0; k < v->count[i]; k++)
            begin[v->index[(size_t)i * v->stride + k] + 1]++;
    for (int row = 0; row < order; row++)
        begin[row + 1] += begin[row];
    int *users = kernel_alloc(begin[order], sizeof(int)), *next = kernel_alloc(order, sizeof(int));
    for (int i = 0; i < order; i++)
        for (int k = 0; k < v->count[i]; k++) {
            int row = v->index[(size_t)i * v->stride + k];
            users[begin[row] + next[row]++] = i * v->stride + k;
        }
    free(next);
    return users;
}

static int compare_ints(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

/* Computes one row of the matrix in the dense array `sum`, which contains zeros before and after the call.
 * Returns the number of columns in which the row has a value. */
static int cg_assemble_row(const struct problem *problem, const struct sparse_vectors *v, const int *users,
                           int user_count, int row, double *sum, bool *used, int *columns)
{
    int count = 0;
    for (int u = 0; u < user_count; u++) {
        int vector = users[u] / v->stride;
        double weight = pow(CONDITION, (double)vector / problem->order) * v->value[users[u]];
        for (int k = 0; k < v->count[vector]; k++) {
            int column = v->index[(size_t)vector * v->stride + k];
            if (!used[column]) {
                used[column] = true;
                columns[count++] = column;
            }
            sum[column] += weight * v->value[(size_t)vector * v->stride + k];
        }
    }
    /* every row has an element on the diagonal, because vector i has an element i */
    sum[row] += CONDITION - problem->shift;
    qsort(columns, count, sizeof(int), compare_ints);
    return count;
}

static struct matrix cg_make_matrix(const struct problem *problem)
{
    int order = problem->order;
    struct sparse_vectors v = cg_make_vectors(problem);
    int *user_begin = kernel_alloc(order + 1, sizeof(int));
    int *users = cg_make_users(&v, order, user_begin);
    size_t bound = (size_t)order * v.stride * v.stride;
    struct matrix a = {order, kernel_alloc(order + 1, sizeof(int)), kernel_alloc(bound, sizeof(int)),
                       kernel_alloc(bound, sizeof(double))};
    double *sum = kernel_alloc(order, sizeof(double));
    bool *used = kernel_alloc(order, sizeof(bool));
    for (int row = 0; row < order; row++) {
        int begin = a.row_begin[row];
        int count = cg_assemble_row(problem, &v, users + user_begin[row], user_begin[row + 1] - user_begin[row], row,
                                    sum, used, a.column + begin);
        for (int k = begin; k < begin + count; k++) {
            a.value[k] = sum[a.column[k]];
            sum[a.column[k]] = 0.0;
            used[a.column[k]] = false;
        }
        a.row_begin[row + 1] = begin + count;
    }
    free(v.count);
    free(v.index);
    free(v.value);
    free(user_begin);
    free(users);
    free(sum);
    free(used);
    return a;
}

static inline double cg_row_product(const struct matrix *a, int row, const double *x)
{
    double sum = 0.0;
    for (int k = a->row_begin[row]; k < a->row_begin[row + 1]; k++)
        sum += a->value[k] * x[a->column[k]];
    return sum;
}

static void cg_free_matrix(struct matrix *a)
{
    free(a->row_begin);
    free(a->column);
    free(a->value);
}

/* Checks zeta and the residual. Zeta alone would be right even after a fraction of the work. After a complete
 * solve, the residual is about 2e-15. */
static bool cg_is_verified(const struct problem *problem, double zeta, double residual)
{
    if (fabs(zeta / problem->zeta - 1.0) <= 1e-10 && residual <= 1e-13)
        return true;
    fprintf(stderr, "cg: zeta %.13f, expected %.13f, residual %.3e\n", zeta, problem->zeta, residual);
    return false;
}

#endif
