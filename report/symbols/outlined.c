/* What the name of a function says of the OpenMP construct that it was outlined from. Compilers emit, with a number
 * appended for a further construct of the same kind:
 *   clang >= 17    solve.omp_outlined; with -g solve.omp_outlined_debug__, too: inlined in the first, at -O0 called by it
 *   clang < 17     .omp_outlined., .omp_outlined._debug__: no host's name
 *   clang, tasks   .omp_task_entry. with .omp_outlined. inlined: no host's name
 *   gcc            solve._omp_fn.0 for regions and tasks, as a child of its host's entry
 *   flang          _QMmPsolve..omp_par for regions and tasks
 * The outer function of clang's is declared on the line of the directive, the inner one on the first line of the body;
 * GCC puts the directive's line into the first row of the line table. */
#include "report/symbols/outlined.h"

#include <string.h>

static struct symbols_outlined outlined_clang(const char *raw, const char *mark)
{
    const char *last = mark, *next;
    while ((next = strstr(last + 1, CLANG_MARK)))
        last = next;
    struct symbols_outlined result = {.kind = SYMBOL_PARALLEL, .compiler = SYMBOLS_CLANG};
    result.stem = (size_t)(mark - raw);
    result.inner = strstr(last, "_debug__") != NULL;
    result.task_part = result.stem == 0 && !result.inner;
    return result;
}

struct symbols_outlined symbols_construct_parse(const char *raw)
{
    const char *mark;
    if (!strchr(raw, '.'))
        return (struct symbols_outlined){0};
    if (strncmp(raw, ".omp_task_entry.", 16) == 0)
        return (struct symbols_outlined){.kind = SYMBOL_TASK, .compiler = SYMBOLS_CLANG};
    if ((mark = strstr(raw, CLANG_MARK)))
        return outlined_clang(raw, mark);
    if ((mark = strstr(raw, "._omp_fn."))) {
        return (struct symbols_outlined){.kind = SYMBOL_PARALLEL,
                                         .compiler = SYMBOLS_GCC,
                                         .uncertain = true,
                                         .stem = (size_t)(mark - raw)};
    }
    if ((mark = strstr(raw, "..omp_par"))) {
        return (struct symbols_outlined){.kind = SYMBOL_PARALLEL,
                                         .compiler = SYMBOLS_FLANG,
                                         .uncertain = true,
                                         .stem = (size_t)(mark - raw)};
    }
    if ((mark = strstr(raw, ".DIR.OMP."))) {
        return (struct symbols_outlined){.kind = strstr(mark, "TASK") ? SYMBOL_TASK : SYMBOL_PARALLEL,
                                         .compiler = SYMBOLS_INTEL,
                                         .stem = (size_t)(mark - raw)};
    }
    return (struct symbols_outlined){0};
}

struct symbols_launch symbols_launch_by(const char *name)
{
    static const char parallel[] = "GOMP_parallel";
    if (strcmp(name, "__kmpc_fork_call") == 0 || strcmp(name, "__kmpc_fork_call_if") == 0 ||
        strcmp(name, "__kmpc_fork_teams") == 0)
        return (struct symbols_launch){2, true, SYMBOL_PARALLEL};
    if (strcmp(name, "__kmpc_omp_task_alloc") == 0 || strcmp(name, "__kmpc_omp_target_task_alloc") == 0)
        return (struct symbols_launch){5, false, SYMBOL_TASK};
    if (strncmp(name, parallel, sizeof parallel - 1) == 0 && strcmp(name, "GOMP_parallel_end") != 0)
        return (struct symbols_launch){0, true, SYMBOL_PARALLEL};
    if (strcmp(name, "GOMP_target") == 0 || strcmp(name, "GOMP_target_ext") == 0)
        return (struct symbols_launch){1, true, SYMBOL_PARALLEL};
    if (strcmp(name, "GOMP_teams_reg") == 0)
        return (struct symbols_launch){0, true, SYMBOL_PARALLEL};
    if (strcmp(name, "GOMP_task") == 0 || strcmp(name, "GOMP_taskloop") == 0 || strcmp(name, "GOMP_taskloop_ull") == 0)
        return (struct symbols_launch){0, true, SYMBOL_TASK};
    return (struct symbols_launch){.argument = -1};
}

bool symbols_launches(const char *name)
{
    return symbols_launch_by(name).argument >= 0;
}
