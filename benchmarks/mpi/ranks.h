/* What the MPI kernels share in addition to kernel.h: MPI_Init, the time of the timed part, and a single line
 * with the result of the whole job. */
#ifndef BENCHMARKS_MPI_RANKS_H
#define BENCHMARKS_MPI_RANKS_H

#include <mpi.h>

#include "../kernel.h"

struct ranks {
    int rank, count;
};

/* Starts MPI, in the mode in which only the first thread of a rank may call MPI. */
static inline struct ranks ranks_init(int *argc, char ***argv)
{
    struct ranks ranks;
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    if (level < MPI_THREAD_FUNNELED) {
        fprintf(stderr, "this MPI was built without threads\n");
        MPI_Abort(MPI_COMM_WORLD, KERNEL_FAILED);
    }
    return ranks;
}

/* Returns the first item of the block that rank `number` gets. The sizes of the blocks differ by at most one
 * item. */
static inline long ranks_block(long items, int count, int number)
{
    return items / count * number + (items % count < number ? items % count : number);
}

/* Ends the job. Its time is that of its slowest rank, and it is verified if every rank has verified its part. */
static inline int ranks_report(struct ranks ranks, const char *kernel, const char *size, double seconds, bool verified)
{
    char text[80];
    double slowest = 0;
    int own = verified, all = 0, status = KERNEL_VERIFIED;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%s,ranks=%d", size, ranks.count);
    if (ranks.rank == 0)
        status = kernel_report(kernel, text, slowest, all);
    MPI_Finalize();
    return all ? status : KERNEL_FAILED;
}

#endif
