/* needs: tests/fuzz/fake_symbols.c */
/* The finding about programs that touch much new memory. */
#include "tests/unit/findings_program.h"

static void make_faults(double kernel_s, uint64_t faults)
{
    make_program(THREADS, 10);
    made.profile.header.kernel_ns = (uint64_t)(kernel_s * S);
    made.profile.header.page_faults = faults;
    gather();
}

static bool is_found(void)
{
    for (size_t i = 0; i < program.findings->count; i++)
        if (strcmp(program.findings->finding[i].rule, "page-faults") == 0)
            return true;
    return false;
}

UNIT_TEST_WITH(much_time_for_page_faults_is_a_finding, NULL, destroy)
{
    make_faults(4, 4000000);
    assert_string_equal(found("page-faults")->title,
                        "4.00 s of processor time in the kernel, with 4000000 page faults");
    assert_string_equal(found("page-faults")->place, "");
}

UNIT_TEST_WITH(time_in_the_kernel_for_other_reasons_is_none, NULL, destroy)
{
    make_faults(4, 700000);
    assert_false(is_found());
    destroy(NULL);
    make_faults(4, 900000);
    assert_true(is_found());
}

UNIT_TEST_WITH(a_share_below_the_threshold_is_none, NULL, destroy)
{
    make_faults(0.1, 100000);
    assert_false(is_found());
}

UNIT_MAIN(NULL, NULL)
