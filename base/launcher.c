#include "base/launcher.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *rank, *ranks;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMIX_RANK", ""},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

static const char *launcher_variable(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value ? value : NULL;
}

const char *launcher_rank(void)
{
    const char *rank = NULL;
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && !rank; i++)
        rank = launcher_variable(launchers[i].rank);
    return rank;
}

const char *launcher_ranks(void)
{
    const char *ranks = NULL;
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && !ranks; i++)
        if (launcher_variable(launchers[i].rank))
            ranks = launcher_variable(launchers[i].ranks);
    return ranks;
}

bool launcher_starts_many(void)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *ranks = launcher_variable(launchers[i].ranks);
        /* SLURM also gives batch scripts a rank, although they belong to no job step */
        if (launcher_variable(launchers[i].rank))
            return ranks ? strcmp(ranks, "1") != 0 : strcmp(launchers[i].rank, "SLURM_PROCID") != 0;
    }
    return false;
}

uint32_t launcher_local_ranks(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                            "MV2_COMM_WORLD_LOCAL_SIZE"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (launcher_variable(variables[i]))
            return (uint32_t)strtoul(launcher_variable(variables[i]), NULL, 10);
    return 0;
}

/* Open MPI lists the numbers of ranks of the job's programs, in the order of ranks. */
bool launcher_speaks(void)
{
    unsigned long rank = launcher_rank() ? strtoul(launcher_rank(), NULL, 10) : 0, first = 0;
    char *at = (char *)launcher_variable("OMPI_APP_CTX_NUM_PROCS");
    while (at && *at && first < rank)
        first += strtoul(at, &at, 10);
    return !launcher_starts_many() || rank == first;
}
