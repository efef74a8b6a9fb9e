/* Whether a program waits for dependences: this one refers to the function that does. */
#include "tests/unit/unit.h"

#include "ompt_tool/dependences.h"

extern void __kmpc_omp_taskwait_deps_51(void) __attribute__((weak)); /* no runtime is linked: it has no address */
static void (*volatile function)(void);

UNIT_TEST(who_refers_to_a_wait_for_dependences_is_known)
{
    function = __kmpc_omp_taskwait_deps_51;
    assert_null(function);
    assert_true(dependences_are_waited_for());
}

UNIT_MAIN(NULL, NULL)
