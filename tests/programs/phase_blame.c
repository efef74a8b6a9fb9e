/* Two phases with the same work: in `unbalanced` one thread computes while the other waits for it, in
 * `balanced` both compute. Prints what it clocked of each phase, and what must be blamed inside it. */
#include "analytic.h"
#include "blame.h"

NAMED static void lonely(void)
{
    work_for("lonely", 0.2003);
}

NAMED static void shared(void)
{
    work_for("shared", 0.1009);
}

NAMED static void unbalanced(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        lonely();
}

NAMED static void balanced(void)
{
#pragma omp parallel num_threads(2)
    shared();
}

int main(void)
{
    double unbalanced_s = 0, balanced_s = 0;
    for (int repetition = 0; repetition < 4; repetition++) {
        blame_phase_begin("unbalanced");
        double begin_s = clock_s();
        unbalanced();
        unbalanced_s += clock_s() - begin_s;
        blame_phase_end("unbalanced");

        blame_phase_begin("balanced");
        begin_s = clock_s();
        balanced();
        balanced_s += clock_s() - begin_s;
        blame_phase_end("balanced");
    }
    print_expectations(2);
    expect("work", "phase unbalanced", recorded_work("lonely"));
    expect("idleness", "phase unbalanced", blamed_row("lonely")->idleness);
    expect("work", "phase balanced", recorded_work("shared"));
    expect("idleness", "phase balanced", blamed_row("shared")->idleness);
    printf("clocked unbalanced 4 %.6f\nclocked balanced 4 %.6f\n", unbalanced_s, balanced_s);
    return 0;
}
