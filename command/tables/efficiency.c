#include "command/tables/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/tables/ranks.h"
#include "command/text/memory.h"

const char *const efficiency_key[EFFICIENCIES] = {
    [EFFICIENCY_PARALLEL] = "parallel",
    [EFFICIENCY_LOAD_BALANCE] = "load_balance",
    [EFFICIENCY_COMMUNICATION] = "communication",
    [EFFICIENCY_MPI] = "mpi",
    [EFFICIENCY_MPI_LOAD_BALANCE] = "mpi_load_balance",
    [EFFICIENCY_MPI_COMMUNICATION] = "mpi_communication",
    [EFFICIENCY_MPI_SERIALISATION] = "mpi_serialisation",
    [EFFICIENCY_MPI_TRANSFER] = "mpi_transfer",
    [EFFICIENCY_OPENMP] = "openmp",
    [EFFICIENCY_OPENMP_LOAD_BALANCE] = "openmp_load_balance",
    [EFFICIENCY_OPENMP_COMMUNICATION] = "openmp_communication",
};

/* Times of one process. */
struct process {
    uint64_t begin_ns, end_ns;            /* start of its first thread and end of its last, in ns */
    const struct profile_thread *initial; /* the process's first initial thread; NULL if it has none */
    uint32_t threads;                     /* number of its threads that may have been in OpenMP teams */
};

/* Sums and maxima over all processes. Times are in ns. */
struct job_sums {
    double runtime_ns;
    double useful, most_useful, no_core, blocked;
    double outside_mpi, most_outside_mpi;
    uint64_t processes, threads;
    bool threads_changed; /* whether a process had more threads in total than at any one time */
};

static bool efficiency_module_is_mpi_layer(const struct profile_module *module)
{
    const char *slash = strrchr(module->path, '/');
    return strncmp(slash ? slash + 1 : module->path, "libblame-mpi.", strlen("libblame-mpi.")) == 0;
}

/* Returns whether waiting in MPI was measured separately. If not, it is contained in work. */
static bool efficiency_mpi_wait_is_measured(const struct profile *profile)
{
    for (size_t i = 0; i < profile->rank_count; i++)
        if (profile->ranks[i].mpi_wait > 0)
            return true;
    for (size_t i = 0; i < profile->module_count; i++)
        if (efficiency_module_is_mpi_layer(&profile->modules[i]))
            return true;
    return false;
}

static const char *efficiency_why_unknown(const struct profile *profile)
{
    const struct profile_rank *ranks = profile->ranks;
    if (profile_text(profile, "sample"))
        return "samples count events instead of time";
    if (profile->header.clock != 0)
        return "samples are taken by CPU time (BLAME_CLOCK), so waiting threads are not sampled";
    if (!efficiency_mpi_wait_is_measured(profile))
        return "no waiting in MPI was measured: the program did not use MPI, or libblame-mpi.so was not loaded";
    for (size_t i = 1; i < profile->rank_count; i++)
        if (ranks[i].rank == ranks[i - 1].rank && rank_counts(&ranks[i]) && rank_counts(&ranks[i - 1]))
            return "a rank had several processes";
    return NULL;
}

static void efficiency_process_add_thread(struct process *process, struct job_sums *sums,
                                          const struct profile_thread *thread)
{
    uint64_t end_ns = profile_thread_end_ns(thread);
    double useful = thread->work + thread->no_core + thread->blocked;
    if (!process->threads || thread->begin_ns < process->begin_ns)
        process->begin_ns = thread->begin_ns;
    process->end_ns = end_ns > process->end_ns ? end_ns : process->end_ns;
    process->threads++;
    if (thread->kind == PROFILE_THREAD_INITIAL && (!process->initial || thread->begin_ns < process->initial->begin_ns))
        process->initial = thread;
    sums->useful += useful;
    sums->most_useful = fmax(sums->most_useful, useful);
    sums->no_core += thread->no_core;
    sums->blocked += thread->blocked;
}

static double efficiency_process_measured_ns(const struct process *process)
{
    return (double)(int64_t)(process->end_ns - process->begin_ns);
}

static double efficiency_process_outside_mpi_ns(const struct process *process)
{
    return fmax(0, efficiency_process_measured_ns(process) - (process->initial ? process->initial->mpi_wait : 0));
}

static void efficiency_add_process(struct job_sums *sums, const struct process *process,
                                   const struct profile_rank *rank)
{
    double outside_ns = efficiency_process_outside_mpi_ns(process);
    sums->processes++;
    sums->threads += rank->threads_max;
    sums->threads_changed |= process->threads > rank->threads_max;
    sums->runtime_ns = fmax(sums->runtime_ns, efficiency_process_measured_ns(process));
    sums->outside_mpi += outside_ns;
    sums->most_outside_mpi = fmax(sums->most_outside_mpi, outside_ns);
}

/* Returns the processes, one for each rank record. Adds the times of their threads to the sums. The caller
 * frees the array. */
static struct process *efficiency_gather_processes(const struct profile *profile, struct job_sums *sums)
{
    struct process *process = memory_array(profile->rank_count, sizeof *process);
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->rank_record && thread->rank_record <= profile->rank_count && profile_thread_counts(profile, thread))
            efficiency_process_add_thread(&process[thread->rank_record - 1], sums, thread);
    }
    return process;
}

static bool efficiency_process_is_measured(const struct process *process, const struct profile_rank *rank)
{
    return rank_counts(rank) && process->threads;
}

static struct job_sums efficiency_sum_processes(const struct profile *profile)
{
    struct job_sums sums = {0};
    struct process *process = efficiency_gather_processes(profile, &sums);
    for (size_t i = 0; i < profile->rank_count; i++)
        if (efficiency_process_is_measured(&process[i], &profile->ranks[i]))
            efficiency_add_process(&sums, &process[i], &profile->ranks[i]);
    free(process);
    return sums;
}

static double efficiency_quotient(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static void efficiency_divide(struct efficiencies *made, const struct job_sums *sums)
{
    double *of = made->of;
    of[EFFICIENCY_PARALLEL] = efficiency_quotient(sums->useful / (double)sums->threads, sums->runtime_ns);
    of[EFFICIENCY_MPI] = efficiency_quotient(sums->outside_mpi / (double)sums->processes, sums->runtime_ns);
    of[EFFICIENCY_MPI_COMMUNICATION] = efficiency_quotient(sums->most_outside_mpi, sums->runtime_ns);
    of[EFFICIENCY_MPI_LOAD_BALANCE] = efficiency_quotient(of[EFFICIENCY_MPI], of[EFFICIENCY_MPI_COMMUNICATION]);
    of[EFFICIENCY_OPENMP] = efficiency_quotient(of[EFFICIENCY_PARALLEL], of[EFFICIENCY_MPI]);
    made->no_core = efficiency_quotient(sums->no_core, sums->useful);
    made->blocked = efficiency_quotient(sums->blocked, sums->useful);
    if (sums->threads_changed) {
        made->why_balance = "the threads of a rank were not all alive at the same time";
        return;
    }
    of[EFFICIENCY_COMMUNICATION] = efficiency_quotient(sums->most_useful, sums->runtime_ns);
    of[EFFICIENCY_LOAD_BALANCE] = efficiency_quotient(of[EFFICIENCY_PARALLEL], of[EFFICIENCY_COMMUNICATION]);
    of[EFFICIENCY_OPENMP_COMMUNICATION] =
        efficiency_quotient(of[EFFICIENCY_COMMUNICATION], of[EFFICIENCY_MPI_COMMUNICATION]);
    of[EFFICIENCY_OPENMP_LOAD_BALANCE] =
        efficiency_quotient(of[EFFICIENCY_LOAD_BALANCE], of[EFFICIENCY_MPI_LOAD_BALANCE]);
}

struct efficiencies efficiencies_of(const struct profile *profile)
{
    struct efficiencies made = {.no_core = NAN, .blocked = NAN, .why = efficiency_why_unknown(profile)};
    struct job_sums sums = efficiency_sum_processes(profile);
    for (int i = 0; i < EFFICIENCIES; i++)
        made.of[i] = NAN;
    made.processes = sums.processes;
    made.threads = sums.threads;
    made.runtime_s = sums.runtime_ns * 1e-9;
    if (!made.why && !(sums.processes && sums.threads && sums.runtime_ns > 0))
        made.why = "nothing was measured";
    if (!made.why)
        efficiency_divide(&made, &sums);
    return made;
}

double *ranks_outside_mpi(const struct profile *profile)
{
    if (efficiency_why_unknown(profile))
        return NULL;
    struct job_sums sums = {0};
    struct process *process = efficiency_gather_processes(profile, &sums);
    double *outside_ns = memory_array(profile->rank_count, sizeof *outside_ns);
    for (size_t i = 0; i < profile->rank_count; i++)
        outside_ns[i] = efficiency_process_is_measured(&process[i], &profile->ranks[i])
                            ? efficiency_process_outside_mpi_ns(&process[i])
                            : NAN;
    free(process);
    return outside_ns;
}
