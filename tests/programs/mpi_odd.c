/* What programs do with MPI beside the usual. mpi_odd WAY, which is
 *   spawn     the ranks start two more of this program, and all add up;
 *   session   no MPI_Init: a session of MPI 4's;
 *   errors    errors are returned, after a wait and at once;
 *   window    memory that others write to, in epochs of a fence and of a lock;
 *   file      one file of all ranks (`mpi_odd.out` where the job was started);
 *   foreign   a thread that is not OpenMP's receives, while a team works;
 *   fiber     an error handler leaves a wait on a fiber's stack, which is then no memory any more;
 *   after     much work of OpenMP's behind MPI_Finalize;
 *   exec      a region, and then this program once more as `after`. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "spin.h"

#define HOLD_S 0.3
#define TEAM   2
#define BORN   2
#define FIBER  (256 * 1024)

static int rank, ranks;

NAMED static int team_works(double seconds)
{
    int threads = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : threads)
    threads += spin(seconds) >= 0;
    return threads;
}

static void begin_mpi(int *argc, char ***argv, int wanted)
{
    int level;
    MPI_Init_thread(argc, argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (level < wanted)
        printf("no such level\n");
}

NAMED static long add_up(MPI_Comm comm, long own)
{
    long sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comm);
    return sum;
}

/* The last rank of all is late. */
NAMED static long meet(MPI_Comm comm, int is_last)
{
    long sum = add_up(comm, 1);
    if (is_last)
        spin(HOLD_S);
    return sum + add_up(comm, 1);
}

static long give_birth(char **argv)
{
    MPI_Comm parent, all;
    MPI_Comm_get_parent(&parent);
    int is_child = parent != MPI_COMM_NULL;
    if (!is_child)
        MPI_Comm_spawn(argv[0], argv + 1, BORN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(parent, is_child, &all);
    long sum = meet(all, is_child && rank == ranks - 1);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
    return sum;
}

static long in_session(void)
{
    long sum = 0;
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "mpi_odd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    sum = team_works(0.02) + meet(comm, rank == ranks - 1);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#endif
    return sum;
}

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}

NAMED static int receive_too_much(void)
{
    long word = 0;
    return class_of(MPI_Recv(&word, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static long with_errors(void)
{
    long words[4] = {0}, good = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        for (int from = 1; from < ranks; from++)
            MPI_Recv(words, 1, MPI_LONG, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        spin(HOLD_S);
        for (int to = 1; to < ranks; to++)
            MPI_Send(words, 4, MPI_LONG, to, 1, MPI_COMM_WORLD);
    } else {
        MPI_Send(words, 1, MPI_LONG, 0, 2, MPI_COMM_WORLD); /* it is about to wait */
        good += receive_too_much() == MPI_ERR_TRUNCATE;
    }
    good += class_of(MPI_Send(words, 1, MPI_LONG, ranks + 7, 1, MPI_COMM_WORLD)) == MPI_ERR_RANK;
    good += class_of(MPI_Bcast(words, -1, MPI_LONG, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT;
    return good;
}

static ucontext_t outside, inside;

static void leave(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    setcontext(&outside);
}

static void receive_from_nobody(void)
{
    long word;
    MPI_Recv(&word, 1, MPI_LONG, ranks + 7, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static long with_fiber(void)
{
    MPI_Errhandler handler;
    volatile int left = 0;
    void *stack = mmap(NULL, FIBER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    getcontext(&outside);
    if (!left) {
        left = 1;
        getcontext(&inside);
        inside.uc_stack = (stack_t){.ss_sp = stack, .ss_size = FIBER};
        makecontext(&inside, receive_from_nobody, 0);
        setcontext(&inside);
    }
    munmap(stack, FIBER);
    spin(HOLD_S);
    return meet(MPI_COMM_WORLD, rank == ranks - 1);
}

/* What all ranks added to the first one's number; the last one is late. */
NAMED static long in_window(void)
{
    long *number, own = rank + 1, sum = 0;
    MPI_Win window;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &number, &window);
    *number = 0;
    if (rank == ranks - 1)
        spin(HOLD_S);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&own, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    return sum;
}

/* Two numbers of each rank, read by the next one; the last one writes late. */
NAMED static long in_file(void)
{
    MPI_File file;
    long own[2] = {rank, 10 * rank}, other[2] = {-1, -1};
    MPI_File_open(MPI_COMM_WORLD, "mpi_odd.out", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    if (rank == ranks - 1)
        spin(HOLD_S);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof own, own, 2, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at_all(file, (rank + 1) % ranks * (MPI_Offset)sizeof own, other, 2, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return other[0] + other[1];
}

static void *receive(void *number)
{
    MPI_Recv(number, 1, MPI_LONG, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static long with_foreign_thread(void)
{
    long own = rank, others = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, receive, &others);
    int threads = team_works(HOLD_S);
    MPI_Send(&own, 1, MPI_LONG, (rank + 1) % ranks, 1, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    return threads + others;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    long sum = team_works(0.02);
    if (strcmp(way, "exec") == 0) {
        printf("before\n");
        fflush(stdout);
        execl(argv[0], argv[0], "after", NULL);
        return 7;
    } else if (strcmp(way, "session") == 0) {
        sum += in_session();
    } else {
        begin_mpi(&argc, &argv, strcmp(way, "foreign") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED);
        sum += strcmp(way, "spawn") == 0     ? give_birth(argv)
               : strcmp(way, "errors") == 0  ? with_errors()
               : strcmp(way, "fiber") == 0   ? with_fiber()
               : strcmp(way, "window") == 0  ? in_window()
               : strcmp(way, "file") == 0    ? in_file()
               : strcmp(way, "foreign") == 0 ? with_foreign_thread()
                                             : meet(MPI_COMM_WORLD, rank == ranks - 1);
        MPI_Finalize();
    }
    if (strcmp(way, "after") == 0)
        sum += team_works(HOLD_S);
    printf("rank %d of %d: %ld\n", rank, ranks, sum);
    return 0;
}
