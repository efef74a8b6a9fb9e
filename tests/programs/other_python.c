/* An interpreter of a version that is not known, as far as a tool can see: what it exports. */
#include "analytic.h"

extern const unsigned long Py_Version;
extern char _PyRuntime[4096];

const unsigned long Py_Version = 0x030801f0; /* 3.8.1 */
char _PyRuntime[4096];

NAMED void _PyEval_EvalFrameDefault(void);

NAMED void _PyEval_EvalFrameDefault(void)
{
#pragma omp parallel num_threads(2)
    spin_until(clock_s() + 0.3);
}

int main(void)
{
    _PyEval_EvalFrameDefault();
    return 0;
}
