/* Functions of the OpenMP API that concern tools. */
#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"

enum { CONTROL_NO_TOOL = -2, CONTROL_NO_CALLBACK = -1 };

EXPORT int omp_control_tool(int command, int modifier, void *argument);

/* libgomp has no such function, and so a program has it only under the provider. */
EXPORT int omp_control_tool(int command, int modifier, void *argument)
{
    struct thread *thread = provider_enter();
    ompt_callback_control_tool_t callback = load_relaxed(&callbacks.control_tool);
    if (!thread)
        return CONTROL_NO_TOOL;
    return callback ? callback((uint64_t)command, (uint64_t)modifier, argument, CODE) : CONTROL_NO_CALLBACK;
}

EXPORT int omp_get_max_threads(void)
{
    provider_enter();
    return real.omp_get_max_threads();
}
