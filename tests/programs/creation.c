/* With BLAME_TASKS=creation a task hangs below the context that created it. leaf() runs in tasks made by
 * left() and right(), in a task of a task, in a region inside a task, and at the bottom of a recursion that
 * is folded: the contexts below are known by construction. STAY keeps calls at a function's end from becoming
 * jumps. */
#include "analytic.h"

#define STAY __asm__ volatile("")

static int region_line, left_line, right_line, child_line, recursion_line, nest_line, inner_line;

NAMED static void leaf(const char *name, double seconds)
{
    work_for(name, seconds);
}

NAMED static void left(void)
{
    left_line = __LINE__ + 1;
#pragma omp task
    {
        leaf("left leaf", 0.0203);
        STAY;
    }
    STAY;
}

NAMED static void right(void)
{
    right_line = __LINE__ + 1;
#pragma omp task
    {
        child_line = __LINE__ + 1;
#pragma omp task
        {
            leaf("grandchild leaf", 0.0307);
            STAY;
        }
#pragma omp taskwait
        STAY;
    }
    STAY;
}

NAMED static void recurse(int depth)
{
    if (depth == 0) {
        leaf("recursive leaf", 0.0411);
        STAY;
        return;
    }
    recursion_line = __LINE__ + 1;
#pragma omp task firstprivate(depth)
    {
        recurse(depth - 1);
        STAY;
    }
#pragma omp taskwait
    STAY;
}

NAMED static void nest(void)
{
    inner_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
    {
        leaf("inner leaf", 0.0509);
        STAY;
    }
    STAY;
}

NAMED static void all(void)
{
    left();
    right();
    recurse(20);
    nest_line = __LINE__ + 1;
#pragma omp task
    {
        nest();
        STAY;
    }
#pragma omp taskwait
    STAY;
}

int main(void)
{
    for (int repetition = 0; repetition < 6; repetition++) {
        region_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            all();
            STAY;
        }
    }
    sweep(3);
    const char *const region = "main > main [parallel creation.c";
    printf("path %.6f %s:%d] > all > left > left [task creation.c:%d] > leaf\n", recorded_work("left leaf"), region,
           region_line, left_line);
    printf("path %.6f %s:%d] > all > right > right [task creation.c:%d] > right [task creation.c:%d] > leaf\n",
           recorded_work("grandchild leaf"), region, region_line, right_line, child_line);
    printf("path %.6f %s:%d] > all > recurse > recurse [task creation.c:%d] > recurse > leaf\n",
           recorded_work("recursive leaf"), region, region_line, recursion_line);
    printf("path %.6f %s:%d] > all > all [task creation.c:%d] > nest > nest [parallel creation.c:%d] > leaf\n",
           recorded_work("inner leaf"), region, region_line, nest_line, inner_line);
    return 0;
}
