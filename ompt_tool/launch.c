#include "ompt_tool/launch.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launched.h"

__attribute__((visibility("default"))) struct launched blame_launched;

static int wants_gcc(struct dl_phdr_info *object, size_t bytes, void *unused)
{
    const char *strings = NULL;
    const ElfW(Dyn) *dynamic = NULL;
    (void)bytes, (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB &&
            entry->d_un.d_ptr >= object->dlpi_addr) /* the loader made it absolute */
            strings = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = dynamic; strings && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strncmp(strings + entry->d_un.d_val, "libgomp", 7) == 0)
            return 1;
    return 0;
}

bool launch_wants_region(void)
{
    const char *pid = getenv("BLAME_PROGRAM_PID");
    bool named = pid && strtol(pid, NULL, 10) == (long)getpid();
    return blame_launched.image_start_ns && !(blame_launched.before_main && named);
}

void launch_restore_environment(void)
{
    const char *set = secure_getenv("BLAME_FOR_GCC");
    if (!set || dl_iterate_phdr(wants_gcc, NULL))
        return;
    char name[64];
    for (const char *at = set; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
        unsetenv(name);
    }
    unsetenv("BLAME_FOR_GCC");
}

static const struct {
    const char *rank, *ranks;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMIX_RANK", ""},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

static const char *value_of(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value ? value : NULL;
}

const char *launch_notes(void)
{
    return value_of("BLAME_NOTES");
}

const char *launch_rank(void)
{
    const char *rank = NULL;
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && !rank; i++)
        rank = value_of(launchers[i].rank);
    return rank;
}

const char *launch_ranks(void)
{
    const char *ranks = NULL;
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && !ranks; i++)
        if (value_of(launchers[i].rank))
            ranks = value_of(launchers[i].ranks);
    return ranks;
}

bool launch_is_one_of_many(void)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *ranks = value_of(launchers[i].ranks);
        if (value_of(launchers[i].rank)) /* a batch script of SLURM's has a rank, too, but no step */
            return ranks ? strcmp(ranks, "1") != 0 : strcmp(launchers[i].rank, "SLURM_PROCID") != 0;
    }
    return false;
}

uint32_t launch_local_ranks(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (value_of(variables[i]))
            return (uint32_t)strtoul(value_of(variables[i]), NULL, 10);
    return 0;
}
