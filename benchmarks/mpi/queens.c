/* Master and workers. Rank 0 hands out positions of the first two queens, one pair at a time. The rank that
 * gets a pair uses all its threads to count the ways to place the other queens. The number of ways is not
 * known before, so the pieces of work are unequal. Only the first thread of a rank calls MPI. A single rank
 * counts all pairs itself. The result is compared with the known numbers (OEIS A000170). */
#include "ranks.h"

#define MOST_QUEENS 16
#define DONE        (-1L)

enum { ASK = 1, TELL = 2 };

static const long known[MOST_QUEENS + 1] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                            352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

/* Counts the ways to place the queens of the remaining rows. The bits of `columns` are the free columns. The
 * bits of `down` and `up` are the columns that a diagonal attacks. */
static long mpi_queens_count_ways(unsigned columns, unsigned down, unsigned up)
{
    long ways = 0;
    if (columns == 0)
        return 1;
    for (unsigned open = columns & ~(down | up); open != 0; open &= open - 1) {
        unsigned place = open & -open;
        ways += mpi_queens_count_ways(columns & ~place, (down | place) << 1, (up | place) >> 1);
    }
    return ways;
}

/* Counts the ways for one piece of work, which is given by the columns of the first two queens. Each thread
 * takes some columns for the third queen. */
static long mpi_queens_count_piece(long queens, long piece)
{
    unsigned first = 1u << (piece / queens), second = 1u << (piece % queens), all = (1u << queens) - 1;
    unsigned columns = all & ~first & ~second;
    unsigned down = (first << 2) | (second << 1), up = (first >> 2) | (second >> 1);
    long ways = 0;
    if (second & (first | first << 1 | first >> 1))
        return 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : ways)
    for (long third = 0; third < queens; third++) {
        unsigned place = 1u << third;
        if (columns & ~(down | up) & place)
            ways += mpi_queens_count_ways(columns & ~place, (down | place) << 1, (up | place) >> 1);
    }
    return ways;
}

/* Hands out all pieces, as the master. Returns the number of ways that all workers have counted together. */
static long mpi_queens_hand_out(long pieces, int workers)
{
    long next = 0, counted, ways = 0;
    MPI_Status from;
    while (workers > 0) {
        MPI_Recv(&counted, 1, MPI_LONG, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &from);
        ways += counted;
        long piece = next < pieces ? next++ : DONE;
        MPI_Send(&piece, 1, MPI_LONG, from.MPI_SOURCE, TELL, MPI_COMM_WORLD);
        workers -= piece == DONE;
    }
    return ways;
}

static void mpi_queens_work(long queens)
{
    long piece = DONE, counted = 0;
    do {
        MPI_Send(&counted, 1, MPI_LONG, 0, ASK, MPI_COMM_WORLD);
        MPI_Recv(&piece, 1, MPI_LONG, 0, TELL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        counted = piece == DONE ? 0 : mpi_queens_count_piece(queens, piece);
    } while (piece != DONE);
}

int main(int argc, char **argv)
{
    long queens = 12, ways = 0;
    const struct kernel_arg args[] = {{"QUEENS", &queens, 4, MOST_QUEENS, "on a board of as many rows", NULL}, {0}};
    struct ranks ranks = ranks_init(&argc, &argv);
    char text[32];
    kernel_parse_args(argc, argv, "queens", args);

    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = kernel_clock_s();
    if (ranks.rank != 0)
        mpi_queens_work(queens);
    else if (ranks.count > 1)
        ways = mpi_queens_hand_out(queens * queens, ranks.count - 1);
    else
        for (long piece = 0; piece < queens * queens; piece++)
            ways += mpi_queens_count_piece(queens, piece);
    double seconds = kernel_clock_s() - begin_s;

    bool verified = ranks.rank != 0 || ways == known[queens];
    if (!verified)
        fprintf(stderr, "queens: %ld ways, expected %ld\n", ways, known[queens]);
    return ranks_report(ranks, "queens", kernel_size_text(text, sizeof text, queens, "", 0), seconds, verified);
}
