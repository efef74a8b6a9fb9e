/* A serial program that spends two seconds in qsort's comparator: a callback through libc, without any
 * region. */
#include "analytic.h"

enum { COUNT = 2000 };

static long keys[COUNT];

NAMED static int compare_keys(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    for (int i = 0; i < 200; i++)
        __asm__ volatile("" : "+r"(x), "+r"(y));
    return (x > y) - (x < y);
}

NAMED static void sort_keys(void)
{
    unsigned long state = 88172645463325252ul;
    for (int i = 0; i < COUNT; i++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        keys[i] = (long)(state >> 20);
    }
    qsort(keys, COUNT, sizeof keys[0], compare_keys);
    __asm__ volatile("");
}

int main(void)
{
    int wrong = omp_get_max_threads() < 1; /* an OpenMP program, though a serial one */
    double begin_s = clock_s(), end_s = begin_s + 2.0;
    while (clock_s() < end_s) {
        sort_keys();
        for (int i = 1; i < COUNT; i++)
            wrong += keys[i - 1] > keys[i];
    }
    expect("work", "sort_keys", clock_s() - begin_s);
    printf("below compare_keys sort_keys\n");
    printf("below sort_keys main\n");
    return wrong != 0;
}
