/* Functions of the OpenMP API that concern tools. */
#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"

enum { CONTROL_NO_TOOL = -2, CONTROL_NO_CALLBACK = -1 };

/* libgomp up to GCC 15 has no such functions, and so a program has them only under the provider. */
static inline __attribute__((always_inline)) int control_tool(int64_t command, int64_t modifier, void *argument,
                                                              const void *code)
{
    struct thread *thread = provider_enter();
    ompt_callback_control_tool_t callback = load_relaxed(&callbacks.control_tool);
    if (!thread)
        return CONTROL_NO_TOOL;
    return callback ? callback((uint64_t)command, (uint64_t)modifier, argument, code) : CONTROL_NO_CALLBACK;
}

EXPORT int omp_control_tool(int command, int modifier, void *argument)
{
    return control_tool(command, modifier, argument, CODE);
}

/* Fortran's, with integers of 4 and of 8 bytes */
EXPORT int omp_control_tool_(const int32_t *command, const int32_t *modifier, void *argument)
{
    return control_tool(*command, *modifier, argument, CODE);
}

EXPORT int omp_control_tool_8_(const int64_t *command, const int64_t *modifier, void *argument)
{
    return control_tool(*command, *modifier, argument, CODE);
}

EXPORT int omp_get_max_threads(void)
{
    provider_enter();
    return real.omp_get_max_threads();
}
