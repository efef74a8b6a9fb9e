/* Jacobi iteration for Laplace's equation on a square that is cut into blocks. Each rank has one block, and
 * exchanges the values at its edges with its four neighbours before each sweep. Each sweep is one region.
 * Between regions, MPI keeps the other threads of the rank idle. The result must be the same in every bit as
 * that of one thread that sweeps the whole square. */
#include "ranks.h"

/* The block of a rank: rows of `stride` values, with a border of one value on all sides. */
struct block {
    long rows, columns, stride;
    long first_row, first_column; /* position of the block in the square */
    double *now, *next;
};

struct neighbours {
    MPI_Comm grid;
    MPI_Datatype column;
    int up, down, left, right;
};

static struct block mpi_stencil_new_block(long first_row, long rows, long first_column, long columns)
{
    struct block block = {rows, columns, columns + 2, first_row, first_column, NULL, NULL};
    block.now = kernel_alloc((size_t)((rows + 2) * block.stride), sizeof(double));
    block.next = kernel_alloc((size_t)((rows + 2) * block.stride), sizeof(double));
    return block;
}

static void mpi_stencil_free_block(struct block *block)
{
    free(block->now);
    free(block->next);
}

/* Sets the inside of the block to zero, and each point on the border of the square to a different value. */
static void mpi_stencil_fill(const struct block *block, long size)
{
    for (long i = 0; i < block->rows + 2; i++)
        for (long j = 0; j < block->columns + 2; j++) {
            long row = block->first_row + i, column = block->first_column + j;
            bool border = row == 0 || column == 0 || row == size + 1 || column == size + 1;
            double value = border ? kernel_unit(kernel_hash((uint64_t)(row * (size + 2) + column))) : 0.0;
            block->now[i * block->stride + j] = block->next[i * block->stride + j] = value;
        }
}

static inline void mpi_stencil_sweep_row(const struct block *block, long row)
{
    const double *here = block->now + row * block->stride, *above = here - block->stride, *below = here + block->stride;
    double *to = block->next + row * block->stride;
    for (long j = 1; j <= block->columns; j++)
        to[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
}

static void turn(struct block *block)
{
    double *now = block->now;
    block->now = block->next;
    block->next = now;
}

static void mpi_stencil_sweep(struct block *block)
{
#pragma omp parallel for
    for (long i = 1; i <= block->rows; i++)
        mpi_stencil_sweep_row(block, i);
    turn(block);
}

static struct neighbours mpi_stencil_meet(struct ranks ranks, int *dims, int *place)
{
    struct neighbours n;
    MPI_Dims_create(ranks.count, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (const int[]){0, 0}, 0, &n.grid);
    MPI_Cart_coords(n.grid, ranks.rank, 2, place);
    MPI_Cart_shift(n.grid, 0, 1, &n.up, &n.down);
    MPI_Cart_shift(n.grid, 1, 1, &n.left, &n.right);
    return n;
}

static void mpi_stencil_exchange(const struct neighbours *n, const struct block *block)
{
    double *values = block->now, *last_row = values + block->rows * block->stride;
    const int columns = (int)block->columns;
    MPI_Request requests[8];
    MPI_Irecv(values + 1, columns, MPI_DOUBLE, n->up, 0, n->grid, &requests[0]);
    MPI_Irecv(last_row + block->stride + 1, columns, MPI_DOUBLE, n->down, 1, n->grid, &requests[1]);
    MPI_Irecv(values + block->stride, 1, n->column, n->left, 2, n->grid, &requests[2]);
    MPI_Irecv(values + block->stride + block->columns + 1, 1, n->column, n->right, 3, n->grid, &requests[3]);
    MPI_Isend(last_row + 1, columns, MPI_DOUBLE, n->down, 0, n->grid, &requests[4]);
    MPI_Isend(values + block->stride + 1, columns, MPI_DOUBLE, n->up, 1, n->grid, &requests[5]);
    MPI_Isend(values + block->stride + block->columns, 1, n->column, n->right, 2, n->grid, &requests[6]);
    MPI_Isend(values + block->stride + 1, 1, n->column, n->left, 3, n->grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static bool mpi_stencil_is_verified(const struct block *block, long size, long sweeps)
{
    struct block whole = mpi_stencil_new_block(0, size, 0, size);
    long wrong = 0;
    mpi_stencil_fill(&whole, size);
    for (long step = 0; step < sweeps; step++) {
        for (long i = 1; i <= size; i++)
            mpi_stencil_sweep_row(&whole, i);
        turn(&whole);
    }
    for (long i = 1; i <= block->rows; i++)
        for (long j = 1; j <= block->columns; j++)
            wrong += block->now[i * block->stride + j] !=
                     whole.now[(block->first_row + i) * whole.stride + block->first_column + j];
    mpi_stencil_free_block(&whole);
    if (wrong)
        fprintf(stderr, "stencil: %ld values are not those of one thread\n", wrong);
    return wrong == 0;
}

int main(int argc, char **argv)
{
    long size = 512, sweeps = 200;
    const struct kernel_arg args[] = {{"SIZE", &size, 16, 30000, "values along an edge of the square", NULL},
                                      {"--sweeps", &sweeps, 1, 100000, "how often each is made anew", NULL},
                                      {0}};
    struct ranks ranks = ranks_init(&argc, &argv);
    int dims[2] = {0, 0}, place[2];
    char text[32];
    kernel_parse_args(argc, argv, "stencil", args);
    struct neighbours n = mpi_stencil_meet(ranks, dims, place);
    long top = ranks_block(size, dims[0], place[0]), left = ranks_block(size, dims[1], place[1]);
    struct block block = mpi_stencil_new_block(top, ranks_block(size, dims[0], place[0] + 1) - top, left,
                                               ranks_block(size, dims[1], place[1] + 1) - left);
    MPI_Type_vector((int)block.rows, 1, (int)block.stride, MPI_DOUBLE, &n.column);
    MPI_Type_commit(&n.column);
    mpi_stencil_fill(&block, size);

    MPI_Barrier(n.grid);
    double begin_s = kernel_clock_s();
    for (long step = 0; step < sweeps; step++) {
        mpi_stencil_exchange(&n, &block);
        mpi_stencil_sweep(&block);
    }
    double seconds = kernel_clock_s() - begin_s;

    bool verified = mpi_stencil_is_verified(&block, size, sweeps);
    mpi_stencil_free_block(&block);
    MPI_Type_free(&n.column);
    MPI_Comm_free(&n.grid);
    return ranks_report(ranks, "stencil", kernel_size_text(text, sizeof text, size, "sweeps", sweeps), seconds,
                        verified);
}
