/* sparselu, modelled on BOTS: LU factorisation of a sparse matrix that consists of dense blocks, without
 * pivoting. One thread creates the tasks of each step, with a taskwait between the phases. The tasks are
 * therefore few, large and unequal. */
#include <math.h>

#include "../kernel.h"

struct matrix {
    /* number of blocks on each side of the matrix, and number of elements on each side of a block */
    int blocks, block;
    float **at; /* for each block, its elements; NULL: all elements are zero */
};

static float **sparselu_block_at(const struct matrix *m, int row, int column)
{
    return &m->at[row * m->blocks + column];
}

/* Returns whether a block has nonzero elements. These are the blocks in the band around the diagonal, and the
 * blocks whose row and column are even and whose smaller index is divisible by 3. */
static bool sparselu_is_present(int row, int column)
{
    int first = row < column ? row : column;
    return abs(row - column) <= 1 || (row % 2 == 0 && column % 2 == 0 && first % 3 == 0);
}

static float *sparselu_new_block(const struct matrix *m)
{
    return kernel_alloc((size_t)m->block * m->block, sizeof(float));
}

static struct matrix sparselu_new_matrix(int blocks, int block)
{
    struct matrix m = {blocks, block, kernel_alloc((size_t)blocks * blocks, sizeof(float *))};
    for (int row = 0; row < blocks; row++)
        for (int column = 0; column < blocks; column++) {
            if (!sparselu_is_present(row, column))
                continue;
            float *cell = *sparselu_block_at(&m, row, column) = sparselu_new_block(&m);
            uint64_t seed = kernel_hash((uint64_t)row * blocks + column);
            for (int i = 0; i < block * block; i++)
                cell[i] = (float)(2.0 * kernel_unit(kernel_hash(seed + i)) - 1.0);
            /* makes the matrix diagonally dominant, so that it needs no pivoting */
            for (int i = 0; row == column && i < block; i++)
                cell[i * block + i] += (float)blocks * block;
        }
    return m;
}

static void sparselu_free_matrix(struct matrix *m)
{
    for (int i = 0; i < m->blocks * m->blocks; i++)
        free(m->at[i]);
    free(m->at);
}

/* Replaces the block `diagonal` by its factors L and U, where L has a unit diagonal. */
static void sparselu_factorise(float *diagonal, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            float factor = diagonal[i * n + k] /= diagonal[k * n + k];
            for (int j = k + 1; j < n; j++)
                diagonal[i * n + j] -= factor * diagonal[k * n + j];
        }
}

/* Computes right = L^-1 right. */
static void sparselu_solve_lower(const float *diagonal, float *right, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            float factor = diagonal[i * n + k];
            for (int j = 0; j < n; j++)
                right[i * n + j] -= factor * right[k * n + j];
        }
}

/* Computes below = below U^-1. */
static void sparselu_solve_upper(const float *diagonal, float *below, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            float factor = below[i * n + k] /= diagonal[k * n + k];
            for (int j = k + 1; j < n; j++)
                below[i * n + j] -= factor * diagonal[k * n + j];
        }
}

/* Computes inner = inner - below right. */
static void sparselu_update(const float *below, const float *right, float *inner, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            float factor = below[i * n + k];
            for (int j = 0; j < n; j++)
                inner[i * n + j] -= factor * right[k * n + j];
        }
}

/* Runs all steps of the factorisation. If `tasks` is false, no tasks are created, and their code runs
 * sequentially. */
static void sparselu_run(const struct matrix *m, bool tasks)
{
    int n = m->block;
    for (int k = 0; k < m->blocks; k++) {
        const float *diagonal = *sparselu_block_at(m, k, k);
        sparselu_factorise(*sparselu_block_at(m, k, k), n);
        for (int i = k + 1; i < m->blocks; i++) {
            float *right = *sparselu_block_at(m, k, i), *below = *sparselu_block_at(m, i, k);
            if (right != NULL) {
#pragma omp task if (tasks) firstprivate(diagonal, right, n)
                sparselu_solve_lower(diagonal, right, n);
            }
            if (below != NULL) {
#pragma omp task if (tasks) firstprivate(diagonal, below, n)
                sparselu_solve_upper(diagonal, below, n);
            }
        }
#pragma omp taskwait
        for (int i = k + 1; i < m->blocks; i++)
            for (int j = k + 1; j < m->blocks; j++) {
                const float *below = *sparselu_block_at(m, i, k), *right = *sparselu_block_at(m, k, j);
                if (below == NULL || right == NULL)
                    continue;
                float **inner = sparselu_block_at(m, i, j);
#pragma omp task if (tasks) firstprivate(below, right, inner, n)
                {
                    if (*inner == NULL)
                        *inner = sparselu_new_block(m);
                    sparselu_update(below, right, *inner, n);
                }
            }
#pragma omp taskwait
    }
}

/* Returns whether two results are equal. They must be equal exactly, because both runs do the same operations
 * on every block in the same order. */
static bool sparselu_is_equal(const struct matrix *left, const struct matrix *right)
{
    int n = left->block;
    for (int b = 0; b < left->blocks * left->blocks; b++) {
        if ((left->at[b] == NULL) != (right->at[b] == NULL))
            return false;
        for (int i = 0; left->at[b] != NULL && i < n * n; i++)
            if (!(fabsf(left->at[b][i] - right->at[b][i]) <= 1e-6f * fabsf(right->at[b][i])))
                return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    long blocks = 40, block = 80;
    const struct kernel_arg args[] = {{"BLOCKS", &blocks, 2, 500, "blocks a side of the matrix", NULL},
                                      {"--block", &block, 2, 1000, "elements a side of a block", NULL},
                                      {0}};
    kernel_parse_args(argc, argv, "sparselu", args);
    struct matrix m = sparselu_new_matrix((int)blocks, (int)block),
                  expected = sparselu_new_matrix((int)blocks, (int)block);

    double begin_s = kernel_clock_s();
#pragma omp parallel
#pragma omp single
    sparselu_run(&m, true);
    double seconds = kernel_clock_s() - begin_s;

    sparselu_run(&expected, false);
    bool verified = sparselu_is_equal(&m, &expected);
    sparselu_free_matrix(&m);
    sparselu_free_matrix(&expected);
    char size[32];
    return kernel_report("sparselu", kernel_size_text(size, sizeof size, blocks, "block", block), seconds, verified);
}
